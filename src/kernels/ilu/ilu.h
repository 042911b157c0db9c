/*
   ilu.h: the ordering of a factorisation, and what a factor and a pair of plans do for each other.
*/
#ifndef TRSV_ILU_H
#define TRSV_ILU_H

#include "factor/factor.h"
#include "solve/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds predicted of the solves of L and of U, and of what a first set-up has to do once there is a pattern. */
typedef struct {
  double solves, setup;
} TrsvOrderCost;

/* Which order TrsvFactorCreateOrdered has chosen, and why. */
typedef struct {
  int           multicolor;
  TrsvOrderCost natural, ordered; /* in either; 0 where that was not asked for */
  double        rest;             /* of an iteration but for the solves */
  char          why[160];
} TrsvOrderChoice;

/* TrsvFactorCreate in the natural order, or in that of TrsvOrderMulticolor, where that promises a shorter time to
   solution: see factor_order.c. lower and upper as TrsvPairCreate has them. values of A, on the device. */
TrsvError TrsvFactorCreateOrdered(int rows, const int *offsets, const int *columns, const void *values, TrsvFactorKind,
                                  TrsvPrecision, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper,
                                  TrsvFactor **factor, int *row, TrsvOrderChoice *choice);

/* Why values of A, on the device, are unsuitable for the order of TrsvOrderMulticolor; "" where they are not, or some
   are no numbers. Works in the default stream, and waits for it. */
TrsvError TrsvCheckNearlySymmetric(int rows, const int *offsets, const int *columns, TrsvPrecision, const void *values,
                                   char why[], size_t size);

/* Makes values of L and U from those of A, on the device in the order of its columns. Waits for the outcome, a small
   read, and so for the stream. What a zero pivot leaves in L and U is of no use. pair, NULL for none, is one of that L
   and U, not transposed, whose vector and whose plan for L may be made use of to find them, and which has to be given
   values after that before it solves: where TrsvFactorTriangles then shows none of L, those of U. */
TrsvError TrsvFactorNumeric(TrsvFactor *, TrsvPair *pair, const void *values, const TrsvPivots *, TrsvOutcome *,
                            TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
