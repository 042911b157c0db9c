/*
   solve.h: the table of algorithms, the choice among them, pairs of plans and their tuning.
*/
#ifndef TRSV_SOLVE_H
#define TRSV_SOLVE_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

/* The first algorithm of the table for this memory that has all of these traits, or NULL. */
const TrsvAlgorithm *TrsvAlgorithmByTraits(TrsvMemory, unsigned traits);

typedef struct {
  const TrsvAlgorithm *algorithm;   /* NULL: none */
  double               predicted;   /* seconds of a solve; 0: not predicted */
  char                 reason[128]; /* why it was chosen */
} TrsvChoice;

/* Chooses an algorithm for a triangle in this memory; for the host there is only one. */
TrsvChoice TrsvSelect(const TrsvStatistics *, TrsvMemory, TrsvPrecision, TrsvSelection);

/* The predicted seconds of a solve on the current device; 0: the algorithm has no prediction. */
double TrsvPredict(const TrsvAlgorithm *, const TrsvStatistics *, TrsvPrecision);

/* The algorithm that replaces one that was chosen, not named, after this error of its plan: the thread-level algorithm,
   which runs on every device in little memory; NULL: none. If memory is full, there is one only if `alone`: of two
   plans at a time the other may have the memory. */
const TrsvAlgorithm *TrsvAlgorithmFallback(const TrsvAlgorithm *chosen, TrsvError, int alone);

enum { TRSV_TRIALS = 64 };

/* The plans of the two factors of A = L U, or, transposed, of A^T = U^T L^T: forward is solved before backward. */
typedef struct {
  TrsvStatistics       statistics;
  TrsvChoice           choice;    /* the algorithm, and the reason */
  double               seconds;   /* wall-clock time of analysis, plan and tuning; the other plan may be made in this
                                     time */
  TrsvTrial            trials[TRSV_TRIALS]; /* of TrsvPairTune, in the order of measurement */
  int                  trial_count, chosen; /* the number of trials; the trial of the plan */
  TrsvPlan            *plan;
} TrsvPairMember;

typedef struct {
  TrsvMemory      memory;
  TrsvPrecision   precision;
  int             rows, transposed;
  TrsvPairMember  forward, backward;
  void           *work;     /* [rows] the solution of the first solve; TrsvFactorSetValues also uses it */
  TrsvFused      *fused;    /* does both solves in one launch; NULL: two launches */
} TrsvPair;

/* A member that is made or tuned. */
typedef struct {
  TrsvPair            *pair;
  TrsvPairMember      *member;
  const TrsvMatrix    *A;      /* L or U */
  TrsvPermutation      places; /* of b and x */
  const TrsvAlgorithm *named;
  TrsvSelection        selection;
  int                  alone;  /* 1: the other member is not made at the same time */
  double               start;

  /* from TrsvTaskAnalyze to TrsvTaskFree */
  TrsvMatrix          T;        /* A, or its transpose */
  int                *offsets;  /* of the transpose */
  const int          *source;
  const TrsvAnalysis *analysis; /* of T */
  TrsvAnalysis       *made;     /* the same if it is not A's */
  int                 entries;  /* that T stores */
} TrsvMemberTask;

/* pair.c: the task of the first or second member, with the arguments of TrsvPairCreate; the analysis of its triangle.
   TrsvTaskFree may be called twice, and after an error. */
TrsvMemberTask TrsvPairTask(TrsvPair *, int second, const TrsvMatrix *L, const TrsvMatrix *U, const int *row,
                            const int *column, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper);
TrsvError      TrsvTaskAnalyze(TrsvMemberTask *);
void           TrsvTaskFree(TrsvMemberTask *);

/* Makes the pair of L and U, or of their transposes. lower and upper: the algorithms for L and U, transposed or not;
   NULL: TrsvSelect chooses. TRSV_ERR_UNSUPPORTED: an algorithm is for the other memory. row and column [rows] are in
   the memory of L and U: row i of L U is row row[i] of A, and column j is column column[j]; NULL: the natural order. */
TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed,
                         TrsvMemory, TrsvSelection, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper,
                         TrsvPair **pair);

/* Sets new values of L and U, each in the order of its matrix's columns. L may be NULL if TrsvFactorSetValues has left
   its values in the plan. */
TrsvError TrsvPairSetValues(TrsvPair *, const void *L, const void *U, TrsvMemory, TrsvStream);

/* Measures solves of a pair on a device that has values: first by its plans, then, for at most `seconds`, by other
   algorithms and settings in the order of their predictions. Keeps the fastest plan whose solution is right. Pass the
   arguments of TrsvPairCreate and TrsvPairSetValues again. If lower or upper name an algorithm, only its settings are
   tried. On a host it does nothing. */
TrsvError TrsvPairTune(TrsvPair *, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                       const void *l, const void *u, TrsvMemory, const TrsvAlgorithm *lower,
                       const TrsvAlgorithm *upper, double seconds, TrsvStream);

/* Solves L U x = b, or the transposes; x is not b. Either plan alone does half of that, from b to y or from y to x; y
   is neither b nor x, and may be pair->work if pair->fused is NULL. */
TrsvError TrsvPairSolve(TrsvPair *, const void *b, void *x, TrsvStream);
void      TrsvPairDestroy(TrsvPair **);

/* TrsvPairFuse makes pair->fused, if one launch can do both solves; call it after plans were made or replaced. Call
   TrsvPairUnfuse before plans change. */
TrsvError TrsvPairFuse(TrsvPair *);
void      TrsvPairUnfuse(TrsvPair *);

/* The largest componentwise backward error |b - T x| / (|T| |x| + |b|) of a solution; Inf if there is a NaN. All
   arrays are on the device. The places of b and x may be NULL. */
TrsvError TrsvDeviceError(const TrsvMatrix *, const int *source, const void *values, const TrsvPermutation *,
                          const void *b, const void *x, double *error, TrsvStream);

TRSV_C_END
#endif
