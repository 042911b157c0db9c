/*
   types.h: the types of trsv.h, and its error codes.
*/
#ifndef TRSV_TYPES_H
#define TRSV_TYPES_H

#include <stddef.h>

/* Around the declarations of headers that C and C++ files include. */
#ifdef __cplusplus
  #define TRSV_C_BEGIN extern "C" {
  #define TRSV_C_END   }
#else
  #define TRSV_C_BEGIN
  #define TRSV_C_END
#endif

TRSV_C_BEGIN

typedef enum {
  TRSV_SUCCESS = 0,
  TRSV_ERR_ARGUMENT,    /* an argument outside its range */
  TRSV_ERR_STRUCTURE,   /* not a sorted triangle with a full diagonal; the message names the row */
  TRSV_ERR_UNSUPPORTED, /* the algorithm cannot do this here */
  TRSV_ERR_MEMORY,      /* out of host or device memory */
  TRSV_ERR_DEVICE,      /* the CUDA runtime or cuSPARSE reported an error */
  TRSV_ERR_TIMEOUT      /* a wait on the device exceeded its limit: of this set-up, or of a solve, whose x has NaN */
} TrsvError;

/* Seconds that a wait on a device may take by default. Correct waits take milliseconds; other programs on the GPU, and
   tools that slow it down, make them longer. */
#define TRSV_TIMEOUT 30.0

const char *TrsvErrorMessage(void); /* of the last failure of this thread; valid until the next one */

/* The type of values, and of b and x. A complex value is two reals, the real part first, as in C11's _Complex. */
typedef enum { TRSV_FLOAT, TRSV_DOUBLE, TRSV_COMPLEX_FLOAT, TRSV_COMPLEX_DOUBLE } TrsvPrecision;

typedef enum { TRSV_HOST, TRSV_DEVICE } TrsvMemory;

typedef struct CUstream_st *TrsvStream; /* a cudaStream_t; NULL: the default stream; ignored on the host */

/* A square matrix in compressed sparse rows: offsets [rows + 1], columns and values [offsets[rows]]. */
typedef struct {
  int         rows;
  const int  *offsets, *columns;
  const void *values; /* a separate TrsvPrecision gives their type; NULL: a pattern only */
  int         wide;   /* 1: offsets and columns are int64_t, each less than 2^31; only where a function allows it */
} TrsvCSR;

/* A factor on the host: L without its unit diagonal, U with the diagonal first in each row, columns rising. Row i of L
   U is row row[i] of A, and column j is column column[j]; NULL: the natural order. */
typedef struct {
  TrsvCSR    L, U;
  const int *row, *column; /* [rows] */
  void      *memory;       /* of all arrays, if TrsvIluDownload allocated it: TrsvTrianglesDestroy */
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
  double row_bandwidth;  /* mean over the rows of |row - column| of the farthest dependency; 0 for a row without one */
  double level_span;     /* mean over the rows of the distance between the first and the last row of their level set,
                            without the outer tenth at either end */
  double late_per_row;   /* mean number of a row's dependencies solved in the step just before it; 0: unknown (it is
                            known only for products with inverted blocks) */
  double chain_fraction; /* share of the rows that depend on the row solved just before them; 0: unknown (for products
                            with inverted blocks) */
  double granularity;    /* parallel granularity, CapelliniSpTRSV (ICPP 2020) Equation 1, bases 10, biases 0.01 */
  double hub_fraction;   /* share of the dependencies on rows that more than 120 rows depend on, less 120 for each row;
                            from a sample of 4,096 entries; with inverted blocks that of the triangle, or 0 */
} TrsvStatistics;

/* ILU(0) or IC(0). */
typedef enum {
  TRSV_ILU,          /* A = L U on the pattern of A */
  TRSV_ICC,          /* of a symmetric A, real or complex: A = U^T D U, stored as L = U^T and D U; reads only the upper
                        triangle of A in the factor's order */
  TRSV_ICC_HERMITIAN /* of a Hermitian A: A = U^H D U, stored as L = U^H and D U; D is real, and imaginary parts of the
                        diagonal of A are taken as zero; with real values the same as TRSV_ICC */
} TrsvFactorKind;

/* What happens to a pivot that counts as zero: PETSc's MatFactorShiftType, with the same values. */
typedef enum {
  TRSV_SHIFT_NONE,              /* report it */
  TRSV_SHIFT_NONZERO,           /* factor A + s I, doubling s until no pivot is zero relative to its row */
  TRSV_SHIFT_POSITIVE_DEFINITE, /* factor A + s I, with s by bisection, until all pivots are positive */
  TRSV_SHIFT_INBLOCKS,          /* add the amount to it */
  TRSV_SHIFT_EXPECT_POSITIVE    /* report it, and the first pivot that is not positive */
} TrsvShift;

typedef struct {
  TrsvShift shift;
  double    amount; /* of the shift; finite, not negative */
  double    zero;   /* a pivot of at most this magnitude is zero; times the sum of its row for the two shifts of A, and
                       where positive ones are expected; finite; negative: no pivot is zero */
} TrsvPivots;

typedef struct {
  int    row;      /* the row of A with the first zero pivot, or -1 */
  double pivot;    /* its magnitude */
  int    attempts; /* factorizations of A, with different shifts */
  double shift;    /* the last one, added to the diagonal of A */
} TrsvOutcome;

/* How to choose the algorithm of a triangle if none is named. */
typedef enum {
  TRSV_SELECT_MODEL,       /* the shortest predicted time */
  TRSV_SELECT_GRANULARITY, /* thread-level where parallel granularity exceeds 0.7, else warp-level: CapelliniSpTRSV
                              (ICPP 2020) */
  TRSV_SELECT_TUNE         /* the shortest measured time, of those with short predictions */
} TrsvSelection;

TRSV_C_END
#endif
