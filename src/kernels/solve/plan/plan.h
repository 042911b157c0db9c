/*
   plan.h: an algorithm, a plan of one, and what all plans have in common.
*/
#ifndef TRSV_PLAN_H
#define TRSV_PLAN_H

#include "analysis/analysis.h"
#include "base/citations.h"
#include "solve/plan/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TrsvPlan TrsvPlan;

/* Both solves of a pair of plans of one algorithm, which must outlive it, in one launch; the bits are those of two.
   create makes none, without an error, for two plans that do not gain by it. between [rows] belongs to it from then on;
   whoever has used it for anything else calls ready. */
typedef struct TrsvFused TrsvFused;
typedef struct {
  TrsvError (*create)(const TrsvPlan *first, const TrsvPlan *second, void *between, TrsvFused **);
  TrsvError (*ready)(TrsvFused *, TrsvStream);
  TrsvError (*solve)(TrsvFused *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvFused **);
} TrsvPairLaunch;

struct TrsvFused {
  const TrsvPairLaunch *launch;
};

/* How a plan finds pivots: see TrsvPlanReciprocals. */
typedef struct {
  int (*can)(const TrsvPlan *);
  TrsvError (*reciprocals)(TrsvPlan *, const void *b, void *x, TrsvStream);
  TrsvError (*over)(TrsvPlan *, TrsvStream);
  TrsvError (*get_values)(const TrsvPlan *, void *values, TrsvStream);
} TrsvPivotSolve;

struct TrsvAlgorithm {
  const char *name;
  const char *summary;  /* what it does, in a line */
  const char *source;   /* where it is from, in a line */
  const char *citation; /* that in BibTeX (base/citations.h); NULL where nothing is cited */
  TrsvMemory  memory;
  TrsvMemory  pattern; /* where analyze takes the matrix, its analysis and source */

  /* Each gets a plan whose shape is filled in. analyze allocates plan->data; destroy must cope with a half-made one. */
  TrsvError (*analyze)(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
  TrsvError (*set_values)(TrsvPlan *, const void *values, TrsvStream); /* values in the algorithm's memory */
  TrsvError (*solve)(TrsvPlan *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvPlan *);

  /* Seconds that a solve is expected to take; NULL where TRSV_SELECT_MODEL is never to pick it. */
  double (*predict)(const TrsvStatistics *, TrsvPrecision);

  /* Does its analyze use the heights of rows, which the analysis of the other triangle gives? NULL: never. */
  int (*uses_heights)(const TrsvStatistics *, TrsvPrecision);

  /* Where analyze chooses among settings: how many of them it can rank by predicted time, at most; and the settings of
     a plan, in words. 0 and NULL where there are none. */
  int  choices;
  void (*describe)(const TrsvPlan *, char *line, size_t size);

  size_t
    shared_bytes; /* of shared memory that its blocks take, in clusters: not every device has them. 0: it runs on all */
  const TrsvPairLaunch *pair;         /* NULL where a pair of its plans takes two launches */
  const TrsvPivotSolve *pivots;       /* NULL where its plans find none */

  unsigned traits; /* what it does not have in common with the others */
};

enum {
  TRSV_BITS_VARY   = 1, /* sums in no fixed order: the bits of a solution may differ from solve to solve */
  TRSV_NEVER_WAITS = 2, /* no thread waits for another, so no wait can be given up */
  TRSV_PERMUTES_IN_KERNEL =
    4, /* its analyze heeds plan->places; for the others b and x are permuted before and after a solve */
  TRSV_SCHEDULED     = 8,  /* its analyze makes a schedule, which follows the chains of rows */
  TRSV_THREAD_LEVEL  = 32, /* a thread for each row; runs on every device, in little memory */
  TRSV_WARP_LEVEL    = 64  /* a warp for each row */
};

/* Where the values of b and x stand, if not as the rows do: row i of a triangle takes b[from[i]], and its solution goes
   to x[to[i]]. Each is [rows], no place twice, or NULL for where b or x are in the order of the rows. */
typedef struct {
  const int *b_index, *x_index;
} TrsvPermutation;

struct TrsvPlan {
  const TrsvAlgorithm *algorithm;
  TrsvPrecision        precision;
  int                  rows, values; /* values: how many the caller hands to TrsvPlanSetValues */
  int                  fresh; /* no solve since the values were set: they may still be on their way in the stream */
  int                  filled; /* does it have the values of its triangle? */
  int                  early; /* may the solve now asked for be an early launch? */
  int                  rank;         /* which of the settings by predicted time: 0 the best */
  TrsvPermutation      places; /* where analyze takes the pattern; after it only where the algorithm does not take them:
                                  copies in its memory */
  void                *permuted[2];  /* [rows] b and x in the order of the rows, where there are such copies */
  size_t               bytes;
  void                *data; /* the algorithm's own */
};

int                  TrsvAlgorithmBitsVary(
  const TrsvAlgorithm *); /* may equal solves give different bits? Those of all others never do */

/* Can the current device run it? Where it cannot there is no plan, so that nothing is to be predicted of it. */
int TrsvAlgorithmRuns(const TrsvAlgorithm *);

/* Prepares the solves of one triangle. Nothing of the matrix, the analysis or source is kept; all three live in one
   memory, and what the algorithm wants in another is copied there. source [nnz], where not NULL, says where in the
   caller's values each entry of the matrix stands (as TrsvTranspose gives it); values counts those values. */
TrsvError TrsvPlanCreate(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, const TrsvAlgorithm *,
                         TrsvPlan **plan);

/* Takes new values, in the order of the matrix's columns (or of source), from memory of the given kind. */
TrsvError TrsvPlanSetValues(TrsvPlan *, const void *values, TrsvMemory, TrsvStream);

/* Solves T x = b for b and x [rows] in the algorithm's memory, x != b; returns at once, the work goes on in the stream.
   Solves of one plan must not overlap: they belong to one stream. A wait that outlasts the limit puts NaN into x and
   makes the next call return TRSV_ERR_TIMEOUT. */
TrsvError TrsvPlanSolve(TrsvPlan *, const void *b, void *x, TrsvStream);

const TrsvAlgorithm *TrsvPlanAlgorithm(const TrsvPlan *);
void TrsvPlanDescribe(const TrsvPlan *, char *line,
                      size_t size); /* its settings in words, "" where there are none */
size_t               TrsvPlanBytes(const TrsvPlan *); /* memory that the plan holds, where its algorithm lives */
void                 TrsvPlanDestroy(TrsvPlan **);

/* TrsvPlanCreate for vectors in another order, their places being where the matrix is (NULL: none), and for the
   algorithm's choice number rank by predicted time, 0 the best; TRSV_ERR_UNSUPPORTED where there are not so many. */
TrsvError TrsvPlanCreatePlaced(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values,
                               const TrsvPermutation *, const TrsvAlgorithm *, int rank, TrsvPlan **plan);

/* x_i = 1 / (b_i - sum of a_ik x_k) for the values a of a plan with a unit diagonal, instead of the solution: a
   recurrence that the pivots of an incomplete factorization obey where no two rows of U that are taken off one row meet
   (factor_pivots.cu). b and x in the order of the rows; they may be the same. A row without a right-hand side, b_i = 0,
   does not get its reciprocal. Has the plan (or NULL) such a launch? And when the stream has waited for it: has it
   given up a wait? Else the plan's next launch says so, which may be a solve. */
int       TrsvPlanFindsPivots(const TrsvPlan *);
TrsvError TrsvPlanReciprocals(TrsvPlan *, const void *b, void *x, TrsvStream);
TrsvError TrsvPlanReciprocalsOver(TrsvPlan *, TrsvStream);

/* The values of such a plan, as TrsvPlanSetValues was given them. */
TrsvError TrsvPlanGetValues(const TrsvPlan *, void *values, TrsvStream);

/* TrsvPlanSolve right behind another solve of this library in the same stream, beside whose end it starts. (An early
   launch behind anything else gains nothing and costs a microsecond.) */
TrsvError TrsvPlanSolveNext(TrsvPlan *, const void *b, void *x, TrsvStream);

/* How a file defines its row of the table. */
#ifdef __cplusplus
  #define TRSV_ALGORITHM(name) \
    extern "C" { \
    extern const TrsvAlgorithm name; \
    } \
    const TrsvAlgorithm name
#else
  #define TRSV_ALGORITHM(name) \
    extern const TrsvAlgorithm name; \
    const TrsvAlgorithm        name
#endif

#ifdef __cplusplus
}
#endif
#endif
