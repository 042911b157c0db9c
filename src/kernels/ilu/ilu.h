/*
   ilu.h: what the files of the object TrsvIlu share: ilu.c its life and its values, solves.c its plans, order.c the
   choice of an order, describe.c what it shows.

   Who owns what. The factor has the patterns of L and U, and their values until the plans have them. A pair of plans
   has all that its solves need. One pair, that of solves with A on the device, lends the factor two things: its vector
   between the solves, for reciprocals of pivots, and its plan for L, which can find pivots. With such a plan the factor
   keeps neither L's values nor U's columns (TrsvFactorReleaseWorkspace); TrsvFactorMaterialize rebuilds both where
   another plan needs them.
*/
#ifndef TRSV_ILU_H
#define TRSV_ILU_H

#include "factor/factor.h"
#include "ordering/ordering.h"
#include "solve/solve.h"
#include "trsv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Predicted seconds: of the solves of L and of U; of what a first set-up has to do once there is a pattern. */
typedef struct {
  double solves, setup;
} TrsvOrderCost;

/* Which order was chosen, and why. */
typedef struct {
  int           multicolor;
  TrsvOrderCost natural, ordered; /* in either; 0 where that was not asked for */
  double        rest;             /* of an iteration but for the solves */
  TrsvChoice    lower;            /* the algorithm for L in that order; none where one is named */
  char          why[160];
} TrsvOrderChoice;

/* TrsvFactorCreate in the natural order, or in that of TrsvOrderMulticolor where that promises a shorter time to
   solution. A on the device, with values; lower and upper: the algorithms that are named, or NULL. */
TrsvError TrsvFactorCreateOrdered(const TrsvCSR *A, TrsvFactorKind, TrsvPrecision, const TrsvAlgorithm *lower,
                                  const TrsvAlgorithm *upper, TrsvFactor **factor, int *row, TrsvOrderChoice *choice);

struct TrsvIlu {
  TrsvIluRequest  request; /* its row and column are not kept */
  int             rows;
  TrsvFactor     *factor;      /* NULL where the host factors */
  TrsvPair       *pair[2][2];  /* [memory][transposed], made by TrsvIluPrepare */
  int             ready[2][2]; /* does that pair have values? */
  int             tuning;      /* is TrsvIluTune still to come? It needs the analyses again */
  TrsvOrderChoice order;
  char            host_reason[96];
  size_t          held, peak; /* device memory: of others when this was made; the most during the first set-up, or 0 */
  unsigned        mark;       /* which set-up of the process this is */
  TrsvWorkOrder   work;       /* on the device */
};

/* The algorithm that is asked for a triangle, 0: L, 1: U, in a memory; NULL where it is to be chosen. */
const TrsvAlgorithm *TrsvIluNamed(const TrsvIlu *, TrsvMemory, int triangle);

/* Every function of the door that works on the device is between these; End returns the error it is given, if any. */
TrsvError TrsvIluBegin(TrsvIlu *, TrsvStream);
TrsvError TrsvIluEnd(TrsvIlu *, TrsvError, TrsvStream);

/* At the end of the first set-up */
void TrsvIluNotePeak(TrsvIlu *);

/* Fills all pairs that are there from the factor, or from triangles of the host. */
TrsvError TrsvIluFill(TrsvIlu *, const TrsvTriangles *, TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
