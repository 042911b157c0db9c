/*
   trsv.h: sparse triangular solves T x = b on a host or on a GPU.

   A matrix view is analysed once; the analysis gives statistics, from which an algorithm is chosen, and a topological
   order, from which a plan, one algorithm's prepared data, is made. A plan takes values as often as they change and
   solves as often as asked:

     TrsvAnalyse -> TrsvSelect -> TrsvPlanCreate -> TrsvPlanSetValues -> TrsvPlanSolve ... -> TrsvPlanDestroy

   A pair holds the plans of the two factors L and U of one matrix, and of their transposes once they are asked for.
   A factor makes L and U: ILU(0) or IC(0) of a matrix on the device.

   Every function returns a TrsvError; TrsvErrorMessage() says in words what the last failure of this thread was.
   Nothing here prints, exits or aborts. Indices are 32 bits, 0-based.
*/
#ifndef TRSV_H
#define TRSV_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TRSV_SUCCESS = 0,
  TRSV_ERR_ARGUMENT,    /* an argument outside its range */
  TRSV_ERR_STRUCTURE,   /* not a sorted triangle with a full diagonal; the message names the row */
  TRSV_ERR_UNSUPPORTED, /* the algorithm cannot do this here */
  TRSV_ERR_MEMORY,      /* out of host or device memory */
  TRSV_ERR_DEVICE,      /* the CUDA runtime or cuSPARSE reported an error */
  TRSV_ERR_TIMEOUT      /* an earlier solve gave up waiting; its x holds NaN */
} TrsvError;

typedef enum {
  TRSV_LOWER,
  TRSV_UPPER
} TrsvTriangle;

typedef enum {
  TRSV_DIAGONAL_UNIT,  /* ones, not stored */
  TRSV_DIAGONAL_STORED /* in every row: last in a lower triangle, first in an upper one */
} TrsvDiagonal;

typedef enum {
  TRSV_FLOAT,
  TRSV_DOUBLE
} TrsvPrecision;

typedef enum {
  TRSV_HOST,
  TRSV_DEVICE
} TrsvMemory;

typedef struct CUstream_st *TrsvStream; /* a cudaStream_t; NULL is the default stream, and what the host takes */

typedef struct TrsvAnalysis TrsvAnalysis;

/* A square triangular matrix in compressed sparse rows that belong to the caller, columns rising in every row. */
typedef struct {
  int           rows;
  const int    *offsets; /* [rows + 1], offsets[0] = 0 */
  const int    *columns; /* [offsets[rows]] */
  TrsvTriangle  triangle;
  TrsvDiagonal  diagonal;
  TrsvPrecision precision; /* of the values, of b and of x */
  TrsvMemory    memory;    /* where offsets and columns live */

  const TrsvAnalysis *analysis; /* by TrsvAnalyse of this very triangle, where it has been made: TrsvPairCreate spares itself another; else NULL */
} TrsvMatrix;

/* What the selection knows of a triangle. A unit diagonal counts as an entry in each row. */
typedef struct {
  int    rows;
  long   nnz;
  double row_mean, row_variation; /* entries in a row: mean, and standard deviation over mean */
  int    row_max;
  int    levels;      /* level sets: 1 + the longest chain of dependencies */
  int    level_max;   /* rows in the largest level set */
  double level_mean;  /* rows / levels */
  double distance;    /* mean |row - column| over the entries off the diagonal */
  int    bandwidth;   /* |row - column| at most */
  double row_bandwidth; /* |row - column| of a row's farthest dependency, 0 where it has none: mean over the rows, the profile over their number */
  double span;        /* rows between the first and the last of a level set, a tenth of it at either end left out: mean over the rows */
  double late;        /* of products of `inverse`: dependencies of a row that get ready right before it, mean; 0: not known */
  double chained;     /* rows that depend on the one solved right before them, over all rows; 0: not known of products of `inverse` */
  double granularity; /* parallel granularity, CapelliniSpTRSV (ICPP 2020) Equation 1, bases 10, biases 0.01 */
  double shared;      /* dependencies on rows that more than 120 others depend on, but for 120 of each: over all, from a sample of 4,096; of products that of T, or 0 */
} TrsvStatistics;

/* The result of TrsvAnalyse: statistics, and the rows in an order in which each follows all it depends on. */
struct TrsvAnalysis {
  TrsvStatistics statistics;
  TrsvMemory     memory; /* where order and levels live: with the matrix */
  int           *order;  /* [rows] rows by level set, rising within a set; holds levels too */
  int           *levels; /* [statistics.levels + 1] where each level set starts in order */
  double         seconds;

  const TrsvAnalysis *across; /* where it is known: that of the matrix's other triangle, whose levels are the lengths of the chains of dependents here; else NULL */
};

/* Checks that a matrix is a triangle that can be solved, and finds its level sets, O(rows + nnz), where the matrix lives.
   On an error *analysis is left NULL. */
TrsvError TrsvAnalyse(const TrsvMatrix *, TrsvAnalysis **analysis);

/* Both triangles of a matrix, on the device at the same time. Each analysis may then lead across to the other. On an error both are left NULL. */
TrsvError TrsvAnalyseBoth(const TrsvMatrix *L, const TrsvMatrix *U, TrsvAnalysis **lower, TrsvAnalysis **upper);
void      TrsvAnalysisDestroy(TrsvAnalysis **);

/* Makes the transpose T^T of a triangle: its offsets [rows + 1] and columns [nnz], and source [nnz], which says where in T each
   of its entries comes from, all where T lives. The caller gives offsets, which holds all three, to TrsvFree(). */
TrsvError TrsvTranspose(const TrsvMatrix *, TrsvMatrix *transpose, int **offsets, const int **source);
void      TrsvFree(TrsvMemory, void *);

/* An ordering of the rows of a square matrix by colour: rows of one colour touch, that is, the matrix has an entry that joins them, only
   in small blocks: nodes of at most 5 rows that follow each other with the same columns, runs of 4 in a grid, or blocks of the size asked for. */
typedef struct {
  int        rows, colours;
  TrsvMemory memory;  /* where order and colour live: with the matrix */
  int       *order;   /* [rows] the row that stands in each place; rising inside a colour */
  int       *colour;  /* [colours + 1] where each colour starts in order */
  int        grid[3]; /* the points along each side, where the matrix was seen to be a regular grid; 0 elsewhere */
  double     seconds;
} TrsvOrdering;

/* Multicolour, for a factorisation without fill: few level sets at few more iterations. O(rows + entries), the same result every
   time and in either memory. The matrix is in compressed sparse rows there; its pattern need not be symmetric, its diagonal not complete.
   Where its values are given, not NULL, strong entries decide. size: 0, or that of blocks in rows, for the block multicolour ordering
   (made on the host). On an error *ordering is left NULL. */
TrsvError TrsvOrderBMC(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory, int size, TrsvOrdering **ordering);
void      TrsvOrderingDestroy(TrsvOrdering **);

/* One way to solve; the table of all of them is in algorithms.c. */
typedef struct TrsvAlgorithm TrsvAlgorithm;

const TrsvAlgorithm *TrsvAlgorithmFind(const char *name);         /* NULL where there is none of that name in this build */
const TrsvAlgorithm *TrsvAlgorithmGet(int i);                     /* the i-th row of the table, NULL past its end */
const char          *TrsvAlgorithmName(const TrsvAlgorithm *);
const char          *TrsvAlgorithmSource(const TrsvAlgorithm *);  /* the paper it is from */
TrsvMemory           TrsvAlgorithmMemory(const TrsvAlgorithm *);  /* where its plans, b and x live */
int                  TrsvAlgorithmBitsVary(const TrsvAlgorithm *); /* may equal solves give different bits? Those of all others never do */

/* Settings of an algorithm are words "name=value" with spaces between them; what they leave open, and all where they are NULL, the algorithm
   chooses. rank=N is known to all: the algorithm's own choice N by predicted time. */
const char *TrsvAlgorithmSetting(const TrsvAlgorithm *, int i, const char **values); /* the name of the i-th other one, NULL past the last; what it may be */
TrsvError   TrsvAlgorithmCheck(const TrsvAlgorithm *, const char *settings);         /* could they be given? The message says what could */

typedef enum {
  TRSV_SELECT_MODEL,       /* the shortest predicted time */
  TRSV_SELECT_GRANULARITY, /* thread-level where parallel granularity exceeds 0.7, else warp-level: CapelliniSpTRSV (ICPP 2020) */
  TRSV_SELECT_TUNE         /* the shortest predicted time, until TrsvPairTune has measured */
} TrsvSelection;

/* What things take on a device, over what they take on the H200 on which the constants of the predictions were fitted. */
typedef struct {
  double hop;      /* of a value through L2 to another block */
  double push;     /* of a value to another block of the cluster */
  double step;     /* through shared memory and arithmetic, within a warp */
  double byte;     /* of device memory */
  int    measured; /* 0: nothing could be measured here, all are 1 */
} TrsvCosts;

/* Of the current device: measured when first asked for, in some ms, then kept; see costs.c. For predictions only. */
TrsvCosts TrsvGetCosts(void);

/* Chooses an algorithm for a triangle that lives in the given memory; on a host there is one. why, a string of at most size characters,
   says what decided. */
const TrsvAlgorithm *TrsvSelect(const TrsvStatistics *, TrsvMemory, TrsvPrecision, TrsvSelection, char *why, size_t size);

/* Seconds that a solve is expected to take on the current device, or 0 where there is no prediction. */
double TrsvPredict(const TrsvAlgorithm *, const TrsvStatistics *, TrsvPrecision);

typedef struct TrsvPlan TrsvPlan;

/* Prepares the solves of one triangle. Nothing of the matrix, the analysis or source is kept; all three live in one memory, and what the
   algorithm wants in another is copied there. source [nnz], where not NULL, says where in the caller's values each entry of the matrix stands (as TrsvTranspose gives it); values counts those values.
   settings: as TrsvAlgorithmCheck takes them; TRSV_ERR_UNSUPPORTED where there are not so many ranks. */
TrsvError TrsvPlanCreate(const TrsvMatrix *, const TrsvAnalysis *, const int *source, int values, const TrsvAlgorithm *, const char *settings, TrsvPlan **plan);

/* Takes new values, in the order of the matrix's columns (or of source), from memory of the given kind. */
TrsvError TrsvPlanSetValues(TrsvPlan *, const void *values, TrsvMemory, TrsvStream);

/* Solves T x = b for b and x [rows] in the algorithm's memory, x != b; returns at once, the work goes on in the stream.
   Solves of one plan must not overlap: they belong to one stream. A wait that outlasts the limit puts NaN into x and makes
   the next call return TRSV_ERR_TIMEOUT. */
TrsvError TrsvPlanSolve(TrsvPlan *, const void *b, void *x, TrsvStream);

const TrsvAlgorithm *TrsvPlanAlgorithm(const TrsvPlan *);
void                 TrsvPlanDescribe(const TrsvPlan *, char *line, size_t size); /* its settings, "" where there are none; words where they can be given */
size_t               TrsvPlanBytes(const TrsvPlan *); /* memory that the plan holds, where its algorithm lives */
void                 TrsvPlanDestroy(TrsvPlan **);

enum {
  TRSV_SETTINGS = 96 /* characters of settings in words */
};

/* A triangle that is wholly dense, on the device: dense.cu. */
typedef enum {
  TRSV_DENSE_BLOCKS,   /* diagonal blocks are inverted; block after block is solved by multiplication */
  TRSV_DENSE_DOUBLING, /* blocks of twice the size in each step */
  TRSV_DENSE_SIMPLE,   /* column after column */
  TRSV_DENSE_PAIRS     /* two columns at a time */
} TrsvDenseForm;

typedef struct {
  TrsvDenseForm form;
  int           block;    /* TRSV_DENSE_BLOCKS: rows of a diagonal block, rounded up to 32 times a power of two; 0 for what suits the size */
  int           launches; /* a launch for each step, all of them one graph, in place of one launch in which values wait for values */
} TrsvDenseSettings;

typedef struct TrsvDense TrsvDense;

/* settings: NULL for those expected to be the best. */
TrsvError TrsvDenseCreate(int rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision, const TrsvDenseSettings *, TrsvDense **dense);

/* Takes values from an array on the device, column after column, `leading` apart; the other triangle, and a unit diagonal, are not read. Inverses
   that grow are not used: these values are then solved column after column. */
TrsvError TrsvDenseSetValues(TrsvDense *, const void *values, int leading, TrsvStream);

/* As TrsvPlanSolve. */
TrsvError TrsvDenseSolve(TrsvDense *, const void *b, void *x, TrsvStream);

TrsvDenseForm TrsvDenseSolves(const TrsvDense *); /* how the present values are solved */
int           TrsvDenseBlock(const TrsvDense *);  /* rows of an inverted diagonal block, 1 where none is */
size_t        TrsvDenseBytes(const TrsvDense *);
void          TrsvDenseDestroy(TrsvDense **);

/* What TrsvPairTune found of one candidate. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  char                 settings[TRSV_SETTINGS]; /* "" where the algorithm has none */
  double               seconds;      /* of a solve: the median */
  double               error;        /* of a solve: the largest componentwise backward error */
  int                  wrong;        /* rejected: its error is beyond rounding, another's is not */
} TrsvTried;

enum {
  TRSV_TRIES = 64
};

/* What is asked for a factor: an algorithm, NULL for TrsvSelect's choice, and settings of it or NULL. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  const char          *settings;
} TrsvAsked;

/* The plans of the two factors of one matrix A = L U, or, transposed, of A^T = U^T L^T: first is solved before second. */
typedef struct {
  TrsvStatistics       statistics;
  const TrsvAlgorithm *algorithm;
  char                 why[128];  /* what decided for the algorithm */
  double               predicted; /* seconds of a solve, 0 where none was asked for */
  double               seconds;   /* analysis and plan, on the host's clock, maybe beside those of the other; and tuning */
  TrsvTried            tried[TRSV_TRIES]; /* by TrsvPairTune, in the order in which they were measured */
  int                  tries, chosen;     /* how many, and which of them is the plan */
  TrsvPlan            *plan;
} TrsvPairMember;

typedef struct TrsvThreadPair TrsvThreadPair;

typedef struct {
  TrsvMemory      memory;
  TrsvPrecision   precision;
  int             rows, transposed;
  TrsvPairMember  first, second;
  void           *between;  /* [rows] for the solution of the first solve; and for TrsvFactorNumeric */
  TrsvThreadPair *together; /* where one launch does both; else NULL */
} TrsvPair;

/* Makes the pair of L and U, or of their transposes. lower and upper say what is asked for L and for U (transposed or not); NULL
   is nothing. An algorithm of another memory is an error. Where row and column, each [rows] or NULL, are given, L U is A
   with its rows and columns in that order: row i of L U is row row[i] of A, column j is column column[j]. They live where L and U do. */
TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed, TrsvMemory, TrsvSelection, const TrsvAsked *lower, const TrsvAsked *upper, TrsvPair **pair);

/* Takes new values of L and U, each in the order of its matrix's columns. L may be NULL where TrsvFactorNumeric has left its values in the plan for it. */
TrsvError TrsvPairSetValues(TrsvPair *, const void *L, const void *U, TrsvMemory, TrsvStream);

/* Measures solves with a pair on a device that has values: its own plans first, then, as long as it has not taken so many seconds, those of other
   algorithms and settings that are predicted to be the next best; keeps the fastest of those that are right. What TrsvPairCreate and
   TrsvPairSetValues were given is given again, values in memory of the given kind; where lower or upper ask for an algorithm, only its settings
   are tried, and where they ask for settings, nothing else. A host has nothing to choose from. */
TrsvError TrsvPairTune(TrsvPair *, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, const void *l, const void *u, TrsvMemory, const TrsvAsked *lower, const TrsvAsked *upper, double seconds, TrsvStream);

/* Solves L U x = b, or the transposes; x is not b. */
TrsvError TrsvPairSolve(TrsvPair *, const void *b, void *x, TrsvStream);

/* The two halves of a solve: b, in the order of A, to y, and y to x, in the order of A; y may be pair->between, unless pair->together has that, not b or x. */
TrsvError TrsvPairFirst(TrsvPair *, const void *b, void *y, TrsvStream);
TrsvError TrsvPairSecond(TrsvPair *, const void *y, void *x, TrsvStream);

size_t TrsvPairBytes(const TrsvPair *); /* memory that the pair holds */
void   TrsvPairDestroy(TrsvPair **);

/* ILU(0) or IC(0) of a matrix A on the device, in its natural order or another: the patterns once, the values as often as they change. */
typedef enum {
  TRSV_ILU, /* A = L U on the pattern of A */
  TRSV_ICC  /* of the upper triangle alone, as the order has it: A = U^T D U, given as L = U^T and D U */
} TrsvFactorKind;

/* What happens to a pivot that counts as zero; PETSc's MatFactorShiftType in all that follows from it. */
typedef enum {
  TRSV_SHIFT_NONE,              /* it is told */
  TRSV_SHIFT_NONZERO,           /* A + s I is factored, s doubled until no pivot is zero against its row */
  TRSV_SHIFT_POSITIVE_DEFINITE, /* the same until all pivots are positive, s by bisection */
  TRSV_SHIFT_INBLOCKS           /* it gets the amount added to it */
} TrsvShift;

typedef struct {
  TrsvShift shift;
  double    amount, zero; /* of the shift; a pivot up to this is zero (times its row's sum, for the two shifts of A); both finite, the amount not below 0; below a zero that is negative there is no magnitude */
} TrsvPivots;

typedef struct {
  int    row;      /* of A, of the first zero pivot, or -1 */
  double pivot;    /* its magnitude */
  int    attempts; /* how often A was factored */
  double shift;    /* what was added to its diagonal in the end */
} TrsvOutcome;

typedef struct TrsvFactor TrsvFactor;

/* Splits a square pattern, compressed sparse rows on the device, into those of L and U, and sorts the rows by level set. A row without a
   diagonal, with columns that do not rise or lie outside, is TRSV_ERR_STRUCTURE; the message names it, and *row is that row, else -1.
   order [rows], in memory of the given kind, says which row of A, and which column, stands in each place of what is factored; NULL: A as it is.
   Works in the default stream. Nothing of the caller's is kept. */
TrsvError TrsvFactorCreate(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory, TrsvFactorKind, TrsvPrecision, TrsvFactor **factor, int *row);

/* Seconds predicted of the solves of L and of U, and of what a first set-up has to do once there is a pattern. */
typedef struct {
  double solves, setup;
} TrsvOrderCost;

/* Which order TrsvFactorCreateOrdered has chosen, and why. */
typedef struct {
  int           bmc;
  TrsvOrderCost natural, ordered; /* in either; 0 where that was not asked for */
  double        rest;             /* of an iteration but for the solves */
  char          why[160];
} TrsvOrderChoice;

/* TrsvFactorCreate in the natural order, or in that of TrsvOrderBMC with blocks of that size, where that promises a shorter time to solution: see
   factor_order.c. lower and upper as TrsvPairCreate has them. values of A, on the device. */
TrsvError TrsvFactorCreateOrdered(int rows, const int *offsets, const int *columns, const void *values, TrsvFactorKind, TrsvPrecision, int size, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvFactor **factor, int *row, TrsvOrderChoice *choice);

/* Why values of A, on the device, are unsuitable for the order of TrsvOrderBMC; "" where they are not, or some are no numbers. Works in the default
   stream, and waits for it. */
TrsvError TrsvOrderAgainst(int rows, const int *offsets, const int *columns, TrsvPrecision, const void *values, char why[], size_t size);

/* Makes values of L and U from those of A, on the device in the order of its columns. Waits for the outcome, a small read, and so for the
   stream. What a zero pivot leaves in L and U is of no use. pair, NULL for none, is one of that L and U, not transposed, whose vector and whose plan for L may be
   made use of to find them, and which has to be given values after that before it solves: where TrsvFactorTriangles then shows none of L, those of U. */
TrsvError TrsvFactorNumeric(TrsvFactor *, TrsvPair *pair, const void *values, const TrsvPivots *, TrsvOutcome *, TrsvStream);

/* Has in the factor, too, now and whenever there are new values, what a pair alone has once it has been trimmed: the columns of U, and, lower not being NULL,
   the values of L, of which that is a plan. Waits for the default stream. */
TrsvError TrsvFactorRestore(TrsvFactor *, const TrsvPlan *lower, TrsvStream);

/* The same by cuSPARSE, for comparison: ILU in double precision, without shifts. The pattern is given again, and must live until the factor is
   destroyed. */
TrsvError TrsvFactorCusparse(TrsvFactor *, const int *offsets, const int *columns, const void *values, TrsvOutcome *, TrsvStream);

/* L with a unit diagonal and U with a stored one; they and their values, NULL until values have been made, belong to the factor. Once it has been trimmed, the
   columns of U, and the values of L, may be NULL: TrsvFactorRestore. */
void TrsvFactorTriangles(const TrsvFactor *, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues);

/* The same on the host, and TrsvFactorOrder; values NULL where those of L are missing. All is in *memory, which the caller gives to TrsvFree(TRSV_HOST). */
TrsvError TrsvFactorDownload(TrsvFactor *, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues, const int **order, void **memory, TrsvStream);

const int            *TrsvFactorOrder(const TrsvFactor *);      /* [rows] on the device, or NULL: a copy of what TrsvFactorCreate was given */
void                  TrsvFactorEntries(const TrsvFactor *, int *L, int *U);
int                   TrsvFactorLanes(const TrsvFactor *);      /* threads for a row; 1 where only the pivots depend on each other */
size_t                TrsvFactorBytes(const TrsvFactor *);      /* device memory that it holds */
double                TrsvFactorPredict(const TrsvFactor *, const TrsvCosts *); /* seconds that values are expected to take on a device of such costs */
double                TrsvFactorPredictHost(const TrsvFactor *); /* and all of PETSc's factorisation on the host, with the ways to it and back */
void                  TrsvFactorTrim(TrsvFactor *, const TrsvPlan *lower); /* gives up the analyses, which TrsvFactorTriangles shows, once a pair has been made, that of L unless values, with its plan for L, will still need it; and what else values do not need with that plan */
void                  TrsvFactorDestroy(TrsvFactor **);

/* Bytes of device memory in use by plans, factors and set-ups under way, of all of the process; and the most since the last TrsvDeviceMark(). */
size_t TrsvDeviceHeld(void);
size_t TrsvDevicePeak(void);
void   TrsvDeviceMark(void);

/* For tools that watch each allocation: from now on each is one of the driver's, not a piece of a larger one. */
void TrsvDeviceApart(void);

/* How long a thread of a device kernel waits for one value before it gives up; 10 s unless set. For all plans, from the next
   solve on. */
void TrsvSetPatience(double seconds);

const char *TrsvErrorMessage(void); /* of the last failure in this thread */

#ifdef __cplusplus
}
#endif
#endif
