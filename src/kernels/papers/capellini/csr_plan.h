/*
   csr_plan.h: what the solves of the papers share that take a triangle as it comes: compressed sparse rows in the
   caller's order, copied to the device; no row is moved, nothing is sorted. An upper triangle is solved from its last
   row on.
*/
#ifndef TRSV_CSR_PLAN_H
#define TRSV_CSR_PLAN_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* On the device: the data of a plan, or what they start with. */
typedef struct {
  int      rows, entries, lower, stored;
  int     *offsets, *columns;
  int     *source; /* [entries] where each entry stands in the caller's values; NULL where it stands as columns does */
  void    *values, *inverse; /* [entries]; [rows] reciprocals of the diagonal, NULL where it is unit */
  void *words; /* [2 * rows] solutions by row, each its own flag, two launches take turns; NULL where an algorithm has
                  no use for them */
  TrsvSync sync;
} TrsvCSRPlan;

/* Copies a matrix and source, of either memory, into zeroed data; then, where asked, makes the words and what goes with
   waits for them. */
TrsvError TrsvCSRPlanMake(TrsvPlan *, TrsvCSRPlan *, const TrsvMatrix *, const int *source, int words);
TrsvError TrsvCSRPlanSetValues(TrsvPlan *, const void *values, TrsvStream); /* plan->data starts with a TrsvCSRPlan */
void      TrsvCSRPlanFree(TrsvCSRPlan *);
void      TrsvCSRPlanDestroy(TrsvPlan *); /* where plan->data is a TrsvCSRPlan and nothing else */

#ifdef __cplusplus
}

/* What a kernel sees of it. */
template <class T> struct CSRView {
  int        rows, lower, stored;
  const int *offsets, *columns;
  const T   *values, *inverse;
  T         *words;
  TrsvSync   sync;

  CSRView(const TrsvCSRPlan *n)
      : rows(n->rows), lower(n->lower), stored(n->stored), offsets(n->offsets), columns(n->columns),
        values((const T *)n->values), inverse((const T *)n->inverse), words((T *)n->words), sync(n->sync)
  {
  }

  /* The row that is solved p-th, and the place of a row in that order. */
  __device__ __forceinline__ int row(int p) const { return lower ? p : rows - 1 - p; }
};

/* The entries of a row off its diagonal, the one to be solved first first: at first, first + step, ... */
struct CSRRow {
  int at, step, left; /* left: how many there still are */

  template <class T> __device__ __forceinline__ CSRRow(const CSRView<T> &A, int row)
      : at(0), step(A.lower ? 1 : -1), left(0)
  {
    const int begin = A.offsets[row], end = A.offsets[row + 1];

    left = end - begin - A.stored;
    at   = A.lower ? begin : end - 1;
  }

  __device__ __forceinline__ void next(int n = 1)
  {
    at += n * step;
    left -= n;
  }
};
#endif
#endif
