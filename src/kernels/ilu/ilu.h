/*
   ilu.h: the object TrsvIlu: its life and its values (ilu.c), its plans (solves.c), the choice of an order (order.c).

   Ownership: the factor owns the patterns and values of L and U. A pair of plans owns all that its solves need. The
   factor uses two parts of the pair for solves with A on the device: the vector between the two solves, for reciprocals
   of pivots; and the plan for L, which may find the pivots. With such a plan the factor has neither the values of L nor
   the columns of U (TrsvFactorReleaseWorkspace). TrsvFactorMaterialize rebuilds them for other plans.

   Errors, units and threads: see trsv.h.
*/
#ifndef TRSV_ILU_H
#define TRSV_ILU_H

#include "factor/factor.h"
#include "ordering/multicolor.h"
#include "solve/solve.h"
#include "trsv.h"

TRSV_C_BEGIN

/* Predicted seconds: of one solve with L and one with U; of a first set-up after the pattern is split. */
typedef struct {
  double solves, setup;
} TrsvOrderCost;

typedef struct {
  int           multicolor;       /* the chosen order */
  TrsvOrderCost natural, ordered; /* in the natural and in the multicolor order; 0: not predicted */
  double        rest;             /* seconds of an iteration without the solves */
  double        growth;           /* iterations in the multicolor order over the natural one; 0: not estimated */
  char          reason[224];
} TrsvOrderChoice;

/* TrsvFactorCreate in the natural or the multicolor order, the one with the shorter predicted time to solution. A is on
   the device, with values. lower and upper: the named algorithms, or NULL. Works in the default stream. */
TrsvError TrsvFactorCreateOrdered(const TrsvCSR *A, TrsvFactorKind, TrsvPrecision, const TrsvAlgorithm *lower,
                                  const TrsvAlgorithm *upper, TrsvFactor **factor, TrsvOrderChoice *choice);

struct TrsvIlu {
  TrsvIluRequest  request; /* its row and column are not kept */
  int             rows;
  TrsvFactor     *factor;      /* NULL if the host factors */
  TrsvPair       *pair[2][2];  /* [memory][transposed], made by TrsvIluPrepare */
  int             ready[2][2]; /* 1: that pair has values */
  int             tuning;      /* 1: TrsvIluTune will be called, so the analyses are kept */
  int             factored;    /* 1: the factor has values: the last factorization has succeeded */
  TrsvOrderChoice order;
  char            host_reason[96];
  size_t          bytes_before; /* device memory in use before the first set-up */
  size_t          bytes_peak;   /* its peak during the first set-up, or 0 */
  unsigned        setup;        /* the number of this set-up in the process */
  TrsvWorkOrder   work;         /* on the device */
};

/* The algorithm that the request names for a triangle (0: L, 1: U) in a memory; NULL: choose one. */
const TrsvAlgorithm *TrsvIluNamed(const TrsvIlu *, TrsvMemory, int triangle);

/* narrow.cu: returns A, or, if A is wide, A with indices of 32 bits in scratch of the default stream; one that does not
   fit becomes -1. */
TrsvError TrsvNarrowCreate(const TrsvCSR *A, TrsvCSR *narrowed);
void      TrsvNarrowDestroy(const TrsvCSR *A, TrsvCSR *narrowed);

/* Before and after work with plans in this memory. TrsvIluEnd returns that error, or its own. */
TrsvError TrsvIluBegin(TrsvIlu *, TrsvMemory, TrsvStream);
TrsvError TrsvIluEnd(TrsvIlu *, TrsvMemory, TrsvError, TrsvStream);

/* The plan for L of solves with A on the device, or NULL. */
TrsvPlan *TrsvIluLower(const TrsvIlu *);

/* The end of a set-up: releases what it needed, and records the peak of device memory of the first one. */
void TrsvIluComplete(TrsvIlu *);

/* 1: the triangles have values of U, and of L if L has entries. */
int TrsvTrianglesHaveValues(const TrsvTriangles *);

/* Fills all pairs from the factor, or from triangles on the host. */
TrsvError TrsvIluFill(TrsvIlu *, const TrsvTriangles *, TrsvStream);

TRSV_C_END
#endif
