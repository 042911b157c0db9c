/*
   plan.h: algorithms, and their plans. A plan holds all data of one algorithm for solves with one triangle.
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

/* Both solves of a pair of plans of one algorithm in one launch, with the bits of two launches. The plans must outlive
   it. create sets the pointer to NULL, without an error, if one launch is not faster. between [rows] then belongs to
   the fused solve; whoever has written it calls ready before the next solve. */
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
  const char *source;   /* its origin, in a line */
  const char *citation; /* the origin in BibTeX (base/citations.h); NULL: nothing to cite */
  TrsvMemory  memory;
  TrsvMemory  pattern; /* where analyze expects the matrix, its analysis and source */

  /* analyze gets a plan without data, and allocates plan->data; destroy must free it after a failed analyze too. */
  TrsvError (*analyze)(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
  TrsvError (*set_values)(TrsvPlan *, const void *values, TrsvStream); /* values in the algorithm's memory */
  TrsvError (*solve)(TrsvPlan *, const void *b, void *x, TrsvStream);
  void (*destroy)(TrsvPlan *);

  /* Predicts the seconds of a solve; NULL: TRSV_SELECT_MODEL never selects the algorithm. */
  double (*predict)(const TrsvStatistics *, TrsvPrecision);

  /* Does analyze use the heights of rows (TrsvAnalysis)? NULL: never. */
  int (*uses_heights)(const TrsvStatistics *, TrsvPrecision);

  /* Settings that analyze ranks by predicted time: their number, at most, 0: none; prints those of a plan in words,
     NULL: none. */
  int choices;
  void (*describe)(const TrsvPlan *, char *line, size_t size);

  size_t                shared_bytes; /* of shared memory that a block needs at least; 0: runs on all devices */
  const TrsvPairLaunch *pair;         /* NULL: a pair of its plans takes two launches */
  const TrsvPivotSolve *pivots;       /* NULL: its plans find no pivots */
  unsigned              traits;
};

enum {
  TRSV_BITS_VARY          = 1,  /* sums in no fixed order: equal solves may give different bits */
  TRSV_NEVER_WAITS        = 2,  /* no thread waits for another, so that no solve can time out */
  TRSV_PERMUTES_IN_KERNEL = 4,  /* uses plan->places; for others, passes before and after a solve permute b and x */
  TRSV_SCHEDULED          = 8,  /* analyze makes a schedule, whose time depends on the longest chain of rows */
  TRSV_TAKES_COMPLEX      = 16, /* solves with complex values, too */
  TRSV_THREAD_LEVEL       = 32, /* a thread for each row; runs on every device, in little memory */
  TRSV_WARP_LEVEL         = 64  /* a warp for each row */
};

/* Permutations of b and x: row i takes b[b_index[i]], and its solution goes to x[x_index[i]]. Each is [rows] without
   repetitions, or NULL for row order. */
typedef struct {
  const int *b_index, *x_index;
} TrsvPermutation;

struct TrsvPlan {
  const TrsvAlgorithm *algorithm;
  TrsvPrecision        precision;
  int                  rows, values; /* values: of the caller's array in TrsvPlanSetValues */
  int                  fresh;        /* no solve since the values were set: the stream may still be copying them */
  int                  filled;       /* the plan has the values of its triangle */
  int                  early;        /* the current solve may be an early launch */
  int                  rank;         /* of its settings by predicted time, 0: the best */
  TrsvPermutation      places;       /* during analyze the caller's; then copies for the passes around a solve */
  void                *permuted[2];  /* [rows] b and x in row order, for these passes */
  size_t               bytes;
  void                *data; /* the algorithm's own */
};

int TrsvAlgorithmBitsVary(const TrsvAlgorithm *); /* may equal solves give different bits? */
int TrsvAlgorithmRuns(const TrsvAlgorithm *, TrsvPrecision); /* can the current device run it, with such values? */

/* Makes a plan for solves with one triangle; it keeps no pointer to its inputs. Matrix, analysis and source live in one
   memory. source [nnz], if not NULL, is the index of each entry in the caller's values (as TrsvTranspose gives it);
   values is the number of the caller's values. */
TrsvError TrsvPlanCreate(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, const TrsvAlgorithm *,
                         TrsvPlan **plan);

/* Sets new values, in the order of the matrix's columns, or of source. */
TrsvError TrsvPlanSetValues(TrsvPlan *, const void *values, TrsvMemory, TrsvStream);

/* Solves T x = b in the stream, for b and x [rows] in the algorithm's memory, x != b; does not wait for the stream.
   Solves of one plan must not overlap. A wait that exceeds the limit puts NaN into x, and makes the next call return
   TRSV_ERR_TIMEOUT. */
TrsvError TrsvPlanSolve(TrsvPlan *, const void *b, void *x, TrsvStream);

const TrsvAlgorithm *TrsvPlanAlgorithm(const TrsvPlan *);
void                 TrsvPlanDescribe(const TrsvPlan *, char *line, size_t size); /* settings in words, "": none */
size_t               TrsvPlanBytes(const TrsvPlan *);                             /* in the algorithm's memory */
void                 TrsvPlanDestroy(TrsvPlan **);

/* TrsvPlanCreate with permutations of b and x, in the matrix's memory (NULL: none), and with the settings of this rank
   by predicted time; TRSV_ERR_UNSUPPORTED if there are not so many. */
TrsvError TrsvPlanCreatePlaced(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values,
                               const TrsvPermutation *, const TrsvAlgorithm *, int rank, TrsvPlan **plan);

/* Pivots of an incomplete factorization by a plan with a unit diagonal: x_i = 1 / (b_i - sum of a_ik x_k), with the
   plan's values a. The pivots obey this recurrence if no two rows of U that are subtracted from one row share a column
   (factor_pivots.cu). b and x are in row order and may be the same; a row with b_i = 0 gets no reciprocal.
   TrsvPlanFindsPivots: can the plan (or NULL) do this? TrsvPlanReciprocalsOver, after the stream was waited for:
   TRSV_ERR_TIMEOUT if the launch gave up a wait; without this call the plan's next launch reports it. */
int       TrsvPlanFindsPivots(const TrsvPlan *);
TrsvError TrsvPlanReciprocals(TrsvPlan *, const void *b, void *x, TrsvStream);
TrsvError TrsvPlanReciprocalsOver(TrsvPlan *, TrsvStream);

/* The values of such a plan, as given to TrsvPlanSetValues. */
TrsvError TrsvPlanGetValues(const TrsvPlan *, void *values, TrsvStream);

/* TrsvPlanSolve directly after another solve of this library in the same stream: an early launch, which overlaps with
   the end of that solve. After any other work an early launch only costs a microsecond. */
TrsvError TrsvPlanSolveNext(TrsvPlan *, const void *b, void *x, TrsvStream);

/* permute.cu: to[i] = from[index[i]], or with scatter to[index[i]] = from[i], for n values on the device. */
TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision, const void *from, void *to,
                            TrsvStream);

/* Defines a row of the table. */
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
