/*
   csr_plan.h: the data of published solves that keep the caller's order: compressed sparse rows, copied to the device.
   An upper triangle is solved from its last row on.
*/
#ifndef TRSV_CSR_PLAN_H
#define TRSV_CSR_PLAN_H

#include "papers/papers.cuh"
#include "solve/plan/plan.h"

TRSV_C_BEGIN

/* The data of a plan, or the first member of its data. The arrays are on the device. */
typedef struct {
  int      rows, entries, lower, stored;
  int     *offsets, *columns;
  int     *source;           /* [entries] the index of each entry in the caller's values; NULL: in order of columns */
  void    *values, *inverse; /* [entries]; [rows] reciprocals of the diagonal, NULL: unit */
  void    *words; /* [2 * rows] solutions by row, each its own flag; launches alternate the halves; or NULL */
  TrsvSync sync;
} TrsvCSRPlan;

/* Copies a matrix and source, from either memory, into data that is zero before; with `words`, makes words and sync. */
TrsvError TrsvCSRPlanMake(TrsvPlan *, TrsvCSRPlan *, const TrsvMatrix *, const int *source, int words);
TrsvError TrsvCSRPlanSetValues(TrsvPlan *, const void *values, TrsvStream); /* plan->data starts with a TrsvCSRPlan */
void      TrsvCSRPlanFree(TrsvCSRPlan *);
void      TrsvCSRPlanDestroy(TrsvPlan *); /* plan->data is a TrsvCSRPlan */

TRSV_C_END

#ifdef __cplusplus
/* The arguments of a kernel from a plan. */
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

  /* The row that is solved p-th; also the place of row p in that order. */
  __device__ __forceinline__ int row(int p) const { return lower ? p : rows - 1 - p; }
};

/* The off-diagonal entries of a row, in order of solution: at, at + step, ... */
struct CSRRow {
  int at, step, left; /* left: entries from `at` on */

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
