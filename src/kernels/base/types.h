/*
   types.h: the types that cross the door, and the errors.
*/
#ifndef TRSV_TYPES_H
#define TRSV_TYPES_H

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

/* Seconds that a wait on a device may take unless something else is asked for. Other programs on the GPU and tools that
   slow it down are part of a wait, so this is far beyond the milliseconds of a right one. */
#define TRSV_TIMEOUT 30.0

const char *TrsvErrorMessage(void); /* of the last failure in this thread; valid until the thread's next one */

typedef enum {
  TRSV_FLOAT,
  TRSV_DOUBLE
} TrsvPrecision;

typedef enum {
  TRSV_HOST,
  TRSV_DEVICE
} TrsvMemory;

typedef struct CUstream_st *TrsvStream; /* a cudaStream_t; NULL is the default stream, and what the host takes */

/* A square matrix in compressed sparse rows: offsets [rows + 1], columns and values [offsets[rows]]. */
typedef struct {
  int         rows;
  const int  *offsets, *columns;
  const void *values; /* double or float, as a precision beside it says; NULL where a pattern is enough */
} TrsvCSR;

/* A factorization on the host: L without its unit diagonal, U with each row's diagonal first, columns rising. Row i of
   L U is row row[i] of A, column j is column column[j]; NULL for the natural order. */
typedef struct {
  TrsvCSR    L, U;
  const int *row, *column; /* [rows] */
  void      *memory;       /* what holds all of it where TrsvIluDownload made it: for TrsvTrianglesDestroy */
} TrsvTriangles;

/* Statistics of a triangle. A unit diagonal counts as an entry in each row. */
typedef struct {
  int    rows;
  long   nnz;
  double row_mean, row_variation; /* entries in a row: mean, and standard deviation over mean */
  int    row_max;
  int    levels;         /* level sets: 1 + the longest chain of dependencies */
  int    level_max;      /* rows in the largest level set */
  double level_mean;     /* rows / levels */
  double mean_offset;    /* mean |row - column| over the entries off the diagonal */
  int    bandwidth;      /* |row - column| at most */
  double row_bandwidth;  /* |row - column| of a row's farthest dependency, 0 where it has none: mean over the rows, the
                            profile over their number */
  double level_span;     /* rows between the first and the last of a level set, a tenth of it at either end left out:
                            mean over the rows */
  double late_per_row;   /* dependencies of a row that are solved in the step just before it: mean; 0: unknown (known of
                            products with inverted blocks alone) */
  double chain_fraction; /* rows that depend on the one solved right before them, over all rows; 0: unknown (of
                            products with inverted blocks) */
  double granularity;    /* parallel granularity, CapelliniSpTRSV (ICPP 2020) Equation 1, bases 10, biases 0.01 */
  double hub_fraction; /* dependencies on rows that more than 120 others depend on, but for 120 of each: over all, from
                          a sample of 4,096; of products that of T, or 0 */
} TrsvStatistics;

/* ILU(0) or IC(0). */
typedef enum {
  TRSV_ILU, /* A = L U on the pattern of A */
  TRSV_ICC  /* of the upper triangle alone, as the order has it: A = U^T D U, given as L = U^T and D U */
} TrsvFactorKind;

/* What happens to a pivot that counts as zero: PETSc's MatFactorShiftType, with the same values. */
typedef enum {
  TRSV_SHIFT_NONE,              /* it is reported */
  TRSV_SHIFT_NONZERO,           /* A + s I is factored, s doubled until no pivot is zero against its row */
  TRSV_SHIFT_POSITIVE_DEFINITE, /* the same until all pivots are positive, s by bisection */
  TRSV_SHIFT_INBLOCKS           /* it gets the amount added to it */
} TrsvShift;

typedef struct {
  TrsvShift shift;
  double    amount; /* of the shift; finite, not negative */
  double    zero;   /* a pivot of at most this magnitude is zero (times its row's sum, for the two shifts of A); finite;
                       below 0: none is */
} TrsvPivots;

typedef struct {
  int    row;      /* of A, of the first zero pivot, or -1 */
  double pivot;    /* its magnitude */
  int    attempts; /* how often A was factored */
  double shift;    /* what was added to its diagonal in the end */
} TrsvOutcome;

/* What chooses the algorithm of a triangle for which none is named. */
typedef enum {
  TRSV_SELECT_MODEL,       /* the shortest predicted time */
  TRSV_SELECT_GRANULARITY, /* thread-level where parallel granularity exceeds 0.7, else warp-level: CapelliniSpTRSV
                              (ICPP 2020) */
  TRSV_SELECT_TUNE         /* the shortest measured time, of what is predicted to be short */
} TrsvSelection;

#ifdef __cplusplus
}
#endif
#endif
