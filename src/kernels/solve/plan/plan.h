/*
   plan.h: algorithms, and their plans. A plan holds all data of one algorithm for solves with one triangle.
*/
#ifndef TRSV_PLAN_H
#define TRSV_PLAN_H

#include "analysis/analysis.h"
#include "solve/plan/table.h"

TRSV_C_BEGIN

typedef struct TrsvPlan TrsvPlan;

/* Both solves of a pair of plans of one algorithm in one launch, with the same bits as two launches. The plans must
   outlive it. create sets the pointer to NULL, without an error, if one launch is not faster. The fused solve uses
   work [rows]; a caller that has written to it calls reset before the next solve. */
typedef struct TrsvFused TrsvFused;
typedef struct {
  TrsvError (*create)(const TrsvPlan *forward, const TrsvPlan *backward, void *work, TrsvFused **);
  TrsvError (*reset)(TrsvFused *, TrsvStream);
  TrsvError (*solve)(TrsvFused *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvFused **);
} TrsvPairLaunch;

/* The functions by which a plan with a unit diagonal finds the pivots of an incomplete factorization. reciprocals
   computes x_i = 1 / (b_i - sum of a_ik x_k), with the plan's values a: the reciprocals of the pivots obey this
   recurrence if only pivots depend on each other (factor_pivots.cu). b and x are in row order and may be the same; a
   row with b_i = 0 gets no reciprocal. Call check after a wait for the stream: it returns TRSV_ERR_TIMEOUT if a wait in
   the launch exceeded its limit; without that call the plan's next launch returns the error. get_values reads the
   plan's values in the order of TrsvPlanSetValues. */
typedef struct {
  int (*is_possible)(const TrsvPlan *);
  TrsvError (*reciprocals)(TrsvPlan *, const void *b, void *x, TrsvStream);
  TrsvError (*check)(TrsvPlan *, TrsvStream);
  TrsvError (*get_values)(const TrsvPlan *, void *values, TrsvStream);
} TrsvPivotSolve;

struct TrsvAlgorithm {
  const char *name;
  const char *summary;  /* what it does, in a line */
  const char *source;   /* its origin, in a line */
  const char *citation; /* the origin in BibTeX; NULL: nothing to cite */
  TrsvMemory  memory;
  TrsvMemory  pattern; /* the memory in which analyze expects the matrix, its analysis and source */

  /* analyze gets a plan without data, and allocates plan->data; destroy must free it, even after analyze has failed.
     finish gets the same arguments after it, and completes what analyze has only launched; NULL: nothing. Another plan
     may be analyzed in between, in another stream. */
  TrsvError (*analyze)(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
  TrsvError (*finish)(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
  TrsvError (*set_values)(TrsvPlan *, const void *values, TrsvStream); /* values in the algorithm's memory */
  TrsvError (*solve)(TrsvPlan *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvPlan *);

  /* Predicts the seconds of a solve; NULL: TRSV_SELECT_MODEL never selects the algorithm. */
  double (*predict)(const TrsvStatistics *, TrsvPrecision);

  /* choices: the largest number of settings that analyze ranks by predicted time; 0: there are none. describe prints
     the settings of a plan; NULL: there are none. */
  int choices;
  void (*describe)(const TrsvPlan *, char *line, size_t size);

  size_t                shared_bytes; /* the shared memory that a block needs at least; 0: runs on all devices */
  const TrsvPairLaunch *pair;         /* NULL: a pair of its plans takes two launches */
  const TrsvPivotSolve *pivots;       /* NULL: its plans find no pivots */
  unsigned              traits;
};

enum {
  TRSV_BITS_VARY          = 1,  /* equal solves may give different bits; only tests and benchmarks read it */
  TRSV_NEVER_WAITS        = 2,  /* no thread waits for another, so no solve can time out; only tests read it */
  TRSV_PERMUTES_IN_KERNEL = 4,  /* uses plan->given; for others plan.c permutes b before and x after a solve */
  TRSV_SCHEDULED          = 8,  /* analyze makes a schedule, in a time that depends on the longest chain of rows */
  TRSV_TAKES_COMPLEX      = 16, /* also solves with complex values */
  TRSV_THREAD_LEVEL       = 32, /* a thread for each row; runs on every device, in little memory */
  TRSV_WARP_LEVEL         = 64  /* a warp for each row */
};

/* Permutations of b and x: row i reads b[b_index[i]], and its solution is x[x_index[i]]. Each is a permutation [rows],
   or NULL: in row order. */
typedef struct {
  const int *b_index, *x_index;
} TrsvPermutation;

struct TrsvPlan {
  const TrsvAlgorithm *algorithm;
  TrsvPrecision        precision;
  int                  rows, values; /* values: the length of the caller's array in TrsvPlanSetValues */
  int                  fresh;        /* 1: no solve since the values were set; the stream may still be copying them */
  int                  filled;       /* 1: the plan has the values of its triangle */
  int                  early;        /* 1: the current solve may be an early launch */
  int                  rank;         /* of its settings by predicted time; 0: the best */
  TrsvPermutation      given;        /* the caller's, while the plan is made */
  TrsvPermutation      kept;         /* copies, if plan.c permutes b and x */
  void                *permuted[2];  /* [rows] b and x in row order, if plan.c permutes them */
  size_t               bytes;
  void                *data; /* the algorithm's own */
};

int TrsvAlgorithmRuns(const TrsvAlgorithm *, TrsvPrecision); /* 1: the current device can run it, with such values */

/* Makes a plan for solves with one triangle, with the settings of this rank by predicted time. Matrix, analysis, source
   and permutations are in the same memory; the plan keeps no pointer to them. source [nnz]: the index of each entry in
   the caller's values (see TrsvTranspose); values: the number of the caller's values. source and the permutations may
   be NULL. Waits for the default stream. TRSV_ERR_UNSUPPORTED: there are not so many settings. */
TrsvError TrsvPlanCreate(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values,
                         const TrsvPermutation *, const TrsvAlgorithm *, int rank, TrsvPlan **plan);

/* TrsvPlanCreate in two halves. Begin runs the algorithm's analyze, and End its finish and a wait for the current
   stream. End needs the matrix, analysis and source of Begin. These and the permutations must live until then. A plan
   may be destroyed instead of End. After an error *plan is NULL. */
TrsvError TrsvPlanBegin(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values,
                        const TrsvPermutation *, const TrsvAlgorithm *, int rank, TrsvPlan **plan);
TrsvError TrsvPlanEnd(const TrsvMatrix *, const TrsvAnalysis *, const int *source, TrsvPlan **plan);

/* Sets new values, given in the order of the matrix's columns, or at the indices in source. */
TrsvError TrsvPlanSetValues(TrsvPlan *, const void *values, TrsvMemory, TrsvStream);

/* Solves T x = b in the stream, for b and x [rows] in the algorithm's memory, x != b; does not wait for the stream.
   Solves of one plan must not overlap. After a wait that exceeds the limit, x has NaN, and the next call returns
   TRSV_ERR_TIMEOUT. */
TrsvError TrsvPlanSolve(TrsvPlan *, const void *b, void *x, TrsvStream);

void TrsvPlanDescribe(const TrsvPlan *, char *line, size_t size); /* settings in words, "": none */
void TrsvPlanDestroy(TrsvPlan **);

/* 1 if the plan, which may be NULL, can find pivots (TrsvPivotSolve). */
int TrsvPlanFindsPivots(const TrsvPlan *);

/* TrsvPlanSolve directly after another solve of this library in the same stream, as an early launch, which overlaps
   with the end of that solve. After any other work an early launch is right, but a microsecond slower. */
TrsvError TrsvPlanSolveNext(TrsvPlan *, const void *b, void *x, TrsvStream);

/* permute.cu: to[i] = from[index[i]], or with scatter to[index[i]] = from[i], for n values on the device. */
TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision, const void *from, void *to,
                            TrsvStream);

/* Defines a row of the table. */
#define TRSV_ALGORITHM(name) \
  TRSV_C_BEGIN \
  extern const TrsvAlgorithm name; \
  TRSV_C_END \
  const TrsvAlgorithm name

TRSV_C_END
#endif
