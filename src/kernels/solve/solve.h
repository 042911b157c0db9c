/*
   solve.h: the table of algorithms, the choice among them, pairs of plans and their tuning.
*/
#ifndef TRSV_SOLVE_H
#define TRSV_SOLVE_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

const TrsvAlgorithm *TrsvAlgorithmFind(const char *name); /* NULL where there is none of that name in this build */
const TrsvAlgorithm *TrsvAlgorithmGet(int i);                     /* the i-th row of the table, NULL past its end */

typedef enum {
  TRSV_SELECT_MODEL,       /* the shortest predicted time */
  TRSV_SELECT_GRANULARITY, /* thread-level where parallel granularity exceeds 0.7, else warp-level: CapelliniSpTRSV
                              (ICPP 2020) */
  TRSV_SELECT_TUNE         /* the shortest predicted time, until TrsvPairTune has measured */
} TrsvSelection;

/* Chooses an algorithm for a triangle that lives in the given memory; on a host there is one. why, a string of at most
   size characters, says what decided. */
const TrsvAlgorithm *TrsvSelect(const TrsvStatistics *, TrsvMemory, TrsvPrecision, TrsvSelection, char *why,
                                size_t size);

/* Seconds that a solve is expected to take on the current device, or 0 where there is no prediction. */
double TrsvPredict(const TrsvAlgorithm *, const TrsvStatistics *, TrsvPrecision);

/* TrsvPlanCreatePlaced for an algorithm that was chosen, not asked for. Falls back to the thread-level algorithm, which
   runs on every device in little memory, if the chosen one is unsupported here or, when `alone`, out of memory; *instead
   is then that error, else TRSV_SUCCESS. (When two plans are built at the same time, an out-of-memory result would depend
   on timing: it is returned.) */
TrsvError TrsvPlanCreateChosen(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values,
                               const TrsvPermutation *, const TrsvAlgorithm *, int alone, TrsvError *instead,
                               TrsvPlan **plan);

/* What TrsvPairTune found of one candidate. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  char                 settings[TRSV_SETTINGS]; /* "" where the algorithm has none */
  double               seconds;      /* of a solve: the median */
  double               error;        /* of a solve: the largest componentwise backward error */
  int                  wrong;        /* rejected: its error is beyond rounding, another's is not */
} TrsvTrial;

enum {
  TRSV_TRIALS = 64
};

/* The plans of the two factors of one matrix A = L U, or, transposed, of A^T = U^T L^T: forward is solved before
   backward. */
typedef struct {
  TrsvStatistics       statistics;
  const TrsvAlgorithm *algorithm;
  char                 selection_reason[128];  /* what decided for the algorithm */
  double               predicted; /* seconds of a solve, 0 where none was asked for */
  double seconds; /* analysis and plan, on the host's clock, maybe beside those of the other; and tuning */
  TrsvTrial            trials[TRSV_TRIALS]; /* by TrsvPairTune, in the order in which they were measured */
  int                  trial_count, chosen;     /* how many, and which of them is the plan */
  TrsvPlan            *plan;
} TrsvPairMember;

typedef struct {
  TrsvMemory      memory;
  TrsvPrecision   precision;
  int             rows, transposed;
  TrsvPairMember  forward, backward;
  void           *work;     /* [rows] for the solution of the first solve; and for TrsvFactorNumeric */
  TrsvFused      *fused;    /* where one launch does both; else NULL */
} TrsvPair;

/* Makes the pair of L and U, or of their transposes. lower and upper are the algorithms for L and for U (transposed or
   not), NULL for TrsvSelect's choice. An algorithm of another memory is an error. Where row and column, each [rows] or
   NULL, are given, L U is A with its rows and columns in that order: row i of L U is row row[i] of A, column j is
   column column[j]. They live where L and U do. */
TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed,
                         TrsvMemory, TrsvSelection, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper,
                         TrsvPair **pair);

/* Takes new values of L and U, each in the order of its matrix's columns. L may be NULL where TrsvFactorNumeric has
   left its values in the plan for it. */
TrsvError TrsvPairSetValues(TrsvPair *, const void *L, const void *U, TrsvMemory, TrsvStream);

/* Measures solves with a pair on a device that has values: its own plans first, then, as long as it has not taken so
   many seconds, those of other algorithms and settings that are predicted to be the next best; keeps the fastest of
   those that are right. What TrsvPairCreate and TrsvPairSetValues were given is given again, values in memory of the
   given kind. Where lower or upper name an algorithm, only the settings that it ranks are tried. A host has nothing to
   choose from. */
TrsvError TrsvPairTune(TrsvPair *, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                       const void *l, const void *u, TrsvMemory, const TrsvAlgorithm *lower,
                       const TrsvAlgorithm *upper, double seconds, TrsvStream);

/* Solves L U x = b, or the transposes; x is not b. */
TrsvError TrsvPairSolve(TrsvPair *, const void *b, void *x, TrsvStream);

/* The two halves of a solve: b, in the order of A, to y, and y to x, in the order of A; y may be pair->work, unless
   pair->fused has that, not b or x. */
TrsvError TrsvPairForward(TrsvPair *, const void *b, void *y, TrsvStream);
TrsvError TrsvPairBackward(TrsvPair *, const void *y, void *x, TrsvStream);

size_t TrsvPairBytes(const TrsvPair *); /* memory that the pair holds */
void   TrsvPairDestroy(TrsvPair **);

/* For plans of a pair that are there, or have become others. */
TrsvError TrsvPairJoin(TrsvPair *);
void      TrsvPairPart(TrsvPair *); /* and before they do: two launches again */

/* The largest componentwise backward error |b - T x| / (|T| |x| + |b|) of a solution, everything on the device; Inf
   where there is a NaN. */
TrsvError TrsvDeviceError(const TrsvMatrix *, const int *source, const void *values, const void *b, const void *x,
                          double *error, TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
