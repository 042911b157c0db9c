/*
   serial: substitution row by row on one core of the host, the reference for every other algorithm.

   Source: CapelliniSpTRSV (ICPP 2020), Algorithm 1. Reciprocals of the diagonal are computed when values are set, so
   that no division is on the critical path. The entries off the diagonal are stored without the diagonal.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/plan/plan.h"

/* The data of a plan: one allocation, which also holds the arrays. */
typedef struct {
  TrsvTriangle triangle;
  int         *offsets, *columns; /* [rows + 1], [entries off the diagonal] */
  int         *source; /* [nnz] the index of each entry in the caller's values; NULL: the same order */
  void        *values, *inverse;  /* inverse [rows], NULL with a unit diagonal */
} Serial;

static void SerialDestroy(TrsvPlan *plan) { free(plan->data); }

static TrsvError SerialAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int    stored = A->diagonal == TRSV_DIAGONAL_STORED, rows = A->rows;
  const size_t size = TrsvValueSize(A->precision), all = (size_t)A->offsets[rows],
               off = all - (stored ? (size_t)rows : 0), map = source ? sizeof(int) * all : 0;
  Serial      *s;

  (void)analysis;
  plan->bytes = sizeof(*s) + sizeof(int) * ((size_t)rows + 1 + off) + map + size * all;
  TrsvCall(TrsvAlloc(plan->bytes, &plan->data));
  s           = plan->data;
  s->triangle = A->triangle;
  s->values   = s + 1;
  s->inverse  = stored ? (char *)s->values + size * off : NULL;
  s->offsets  = (int *)((char *)s->values + size * all);
  s->columns  = s->offsets + rows + 1;
  s->source   = source ? s->columns + off : NULL;
  for (int i = 0, to = 0; i < rows; i++) {
    int begin, end, diagonal;

    TrsvRowRange(A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++, to++) s->columns[to] = A->columns[k];
    s->offsets[i + 1] = to;
  }
  if (source) memcpy(s->source, source, map);
  return TRSV_SUCCESS;
}

/* Arithmetic of real values, and of complex ones. Each part of a complex product is two products and a sum: Inf times a
   finite value may be NaN, as in Fortran. A complex reciprocal is computed by Smith's method (Algorithm 116, CACM
   1962), which does not square the magnitude. */
#define REAL(T, Name) \
  static inline T MinusProduct##Name(T sum, T a, T b) { return sum - a * b; } \
  static inline T Product##Name(T a, T b) { return a * b; } \
  static inline T Reciprocal##Name(T a) { return 1 / a; }

#define COMPLEX(Real, T) \
  typedef struct { \
    Real re, im; \
  } T; \
\
  static inline T MinusProduct##T(T sum, T a, T b) \
  { \
    return (T){sum.re - (a.re * b.re - a.im * b.im), sum.im - (a.re * b.im + a.im * b.re)}; \
  } \
\
  static inline T Product##T(T a, T b) { return (T){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; } \
\
  static inline T Reciprocal##T(T a) \
  { \
    const int  wide  = (a.re < 0 ? -a.re : a.re) >= (a.im < 0 ? -a.im : a.im); \
    const Real ratio = wide ? a.im / a.re : a.re / a.im; \
    const Real part  = 1 / (wide ? a.re + a.im * ratio : a.im + a.re * ratio); \
\
    return (T){wide ? part : ratio * part, wide ? -(ratio * part) : -part}; \
  }

/* Each sum is in the order of the columns, as in PETSc's ILU: with tiny pivots another order gives other residuals. */
#define SERIAL(T, Name) \
  static void SetValues##Name(const Serial *s, int rows, const void *caller) \
  { \
    const int  lower  = s->triangle == TRSV_LOWER; \
    const int *source = s->source; \
    const T   *from   = caller; \
    T         *values = s->values, *inverse = s->inverse; \
\
    for (int i = 0; i < rows; i++) { \
      const int begin = s->offsets[i], end = s->offsets[i + 1]; \
      const int before = inverse ? i + !lower : 0; /* diagonals before this row's other entries */ \
      const int diagonal = lower ? end + i : begin + i; \
\
      for (int k = begin; k < end; k++) values[k] = from[source ? source[k + before] : k + before]; \
      if (inverse) inverse[i] = Reciprocal##Name(from[source ? source[diagonal] : diagonal]); \
    } \
  } \
\
  static void Solve##Name(const Serial *s, int rows, const void *right, void *solution) \
  { \
    const int *offsets = s->offsets, *columns = s->columns; \
    const T   *values = s->values, *inverse = s->inverse, *b = right; \
    T         *x = solution; \
\
    for (int r = 0; r < rows; r++) { \
      const int i   = s->triangle == TRSV_LOWER ? r : rows - 1 - r; \
      T         sum = b[i]; \
\
      for (int k = offsets[i]; k < offsets[i + 1]; k++) sum = MinusProduct##Name(sum, values[k], x[columns[k]]); \
      x[i] = inverse ? Product##Name(sum, inverse[i]) : sum; \
    } \
  }

REAL(float, Float)
REAL(double, Double)
COMPLEX(float, ComplexFloat)
COMPLEX(double, ComplexDouble)
SERIAL(float, Float)
SERIAL(double, Double)
SERIAL(ComplexFloat, ComplexFloat)
SERIAL(ComplexDouble, ComplexDouble)

static const struct {
  void (*set_values)(const Serial *s, int rows, const void *values);
  void (*solve)(const Serial *s, int rows, const void *b, void *x);
} serial[] = {
  [TRSV_FLOAT]          = {SetValuesFloat,         SolveFloat        },
  [TRSV_DOUBLE]         = {SetValuesDouble,        SolveDouble       },
  [TRSV_COMPLEX_FLOAT]  = {SetValuesComplexFloat,  SolveComplexFloat },
  [TRSV_COMPLEX_DOUBLE] = {SetValuesComplexDouble, SolveComplexDouble},
};

static TrsvError SerialSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  (void)stream;
  serial[plan->precision].set_values(plan->data, plan->rows, values);
  return TRSV_SUCCESS;
}

static TrsvError SerialSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  (void)stream;
  serial[plan->precision].solve(plan->data, plan->rows, b, x);
  return TRSV_SUCCESS;
}

TRSV_ALGORITHM(TrsvSerial) = {
  .name       = "serial",
  .summary    = "substitution row by row",
  .source     = "CapelliniSpTRSV (ICPP 2020), Algorithm 1",
  .memory     = TRSV_HOST,
  .analyze    = SerialAnalyze,
  .set_values = SerialSetValues,
  .solve      = SerialSolve,
  .destroy    = SerialDestroy,
  .traits     = TRSV_TAKES_COMPLEX,
};
