/*
   ilu.h: the object TrsvIlu. ilu.c has its life and values, solves.c its plans, order.c the choice of an order,
   describe.c its description.

   Ownership: the factor owns the patterns of L and U, and their values until the plans have copies. A pair of plans
   owns all that its solves need. The pair for solves with A on the device lends the factor two things: the vector
   between its two solves, for reciprocals of pivots; and its plan for L, which may find the pivots. With such a plan
   the factor keeps neither the values of L nor the columns of U (TrsvFactorReleaseWorkspace). TrsvFactorMaterialize
   rebuilds them for other plans.

   Errors, units and threads: see trsv.h.
*/
#ifndef TRSV_ILU_H
#define TRSV_ILU_H

#include <stdint.h>
#include "factor/factor.h"
#include "ordering/ordering.h"
#include "solve/solve.h"
#include "trsv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Predicted seconds: of the solves with L and U; of the rest of a first set-up, once the pattern is split. */
typedef struct {
  double solves, setup;
} TrsvOrderCost;

typedef struct {
  int           multicolor;       /* the chosen order */
  TrsvOrderCost natural, ordered; /* in the natural and in the multicolor order; 0: not predicted */
  double        rest;             /* seconds of an iteration without the solves */
  double        growth;           /* iterations in the multicolor order over the natural one; 0: not estimated */
  TrsvChoice    lower;            /* the algorithm for L in the chosen order; empty if one is named */
  char          reason[160];
} TrsvOrderChoice;

/* TrsvFactorCreate in the natural or the multicolor order, the one with the shorter predicted time to solution. A is on
   the device, with values. lower and upper: the named algorithms, or NULL. Works in the default stream. */
TrsvError TrsvFactorCreateOrdered(const TrsvCSR *A, TrsvFactorKind, TrsvPrecision, const TrsvAlgorithm *lower,
                                  const TrsvAlgorithm *upper, TrsvFactor **factor, int *row, TrsvOrderChoice *choice);

/* The multicolor ordering of a matrix on the device, with values, found there or by the host. */
TrsvError TrsvIluOrderMulticolor(const TrsvCSR *A, TrsvPrecision, int on_host, TrsvOrdering **multicolor);

struct TrsvIlu {
  TrsvIluRequest  request; /* its row and column are not kept */
  int             rows;
  TrsvFactor     *factor;      /* NULL where the host factors */
  TrsvPair       *pair[2][2];  /* [memory][transposed], made by TrsvIluPrepare */
  int             ready[2][2]; /* does that pair have values? */
  int             tuning;      /* will TrsvIluTune be called? It needs the analyses */
  TrsvOrderChoice order;
  char            host_reason[96];
  size_t          bytes_before; /* device memory in use before the first set-up */
  size_t          bytes_peak;   /* its peak during the first set-up, or 0 */
  unsigned        setup;        /* the number of this set-up in the process */
  TrsvWorkOrder   work;         /* on the device */
};

/* The algorithm that the request names for a triangle (0: L, 1: U) in a memory; NULL: choose one. */
const TrsvAlgorithm *TrsvIluNamed(const TrsvIlu *, TrsvMemory, int triangle);

/* narrow.cu: n 64-bit indices in 32 bits, in new memory; and A, or, if it is wide, a copy of it with such indices. All
   on the device, in the default stream, which is waited for. */
TrsvError TrsvDeviceNarrow(int n, const int64_t *from, int **to);
TrsvError TrsvNarrowCreate(const TrsvCSR *A, TrsvCSR *narrowed);
void      TrsvNarrowDestroy(const TrsvCSR *A, TrsvCSR *narrowed);

/* Functions of trsv.h call these before and after work on the device. TrsvIluEnd returns the given error, or its own.
   */
TrsvError TrsvIluBegin(TrsvIlu *, TrsvStream);
TrsvError TrsvIluEnd(TrsvIlu *, TrsvError, TrsvStream);

/* Records the peak of device memory at the end of the first set-up. */
void TrsvIluRecordPeak(TrsvIlu *);

/* Fills all pairs from the factor, or from triangles on the host. */
TrsvError TrsvIluFill(TrsvIlu *, const TrsvTriangles *, TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
