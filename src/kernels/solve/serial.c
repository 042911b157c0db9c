/*
   serial: substitution row by row on one core of the host, the reference for every other algorithm.

   Source: CapelliniSpTRSV (ICPP 2020), Algorithm 1, with reciprocals of the diagonal computed when values arrive, so
   that no division is on the critical path. Entries off the diagonal are stored apart from it.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/plan/plan.h"

typedef struct {
  TrsvTriangle triangle;
  int         *offsets, *columns; /* [rows + 1], [entries off the diagonal] */
  int         *source; /* [nnz] the index of each entry in the caller's values; NULL: the same order */
  void        *values, *inverse;  /* inverse [rows], NULL with a unit diagonal */
} Serial;

static void SerialDestroy(TrsvPlan *plan)
{
  Serial *s = plan->data;

  if (!s) return;
  free(s->offsets);
  free(s->columns);
  free(s->source);
  free(s->values);
  free(s->inverse);
  free(s);
}

static TrsvError SerialAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int    stored = A->diagonal == TRSV_DIAGONAL_STORED, rows = A->rows;
  const size_t size = TrsvValueSize(A->precision), all = (size_t)A->offsets[rows],
               off = all - (stored ? (size_t)rows : 0), map = source ? sizeof(int) * all : 0;
  Serial      *s;

  (void)analysis;
  TrsvCall(TrsvAlloc(sizeof(*s), &plan->data));
  s = memset(plan->data, 0, sizeof(*s));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)rows + 1), &s->offsets));
  TrsvCall(TrsvAlloc(sizeof(int) * off, &s->columns));
  if (source) TrsvCall(TrsvAlloc(map, &s->source));
  TrsvCall(TrsvAlloc(size * off, &s->values));
  if (stored) TrsvCall(TrsvAlloc(size * (size_t)rows, &s->inverse));
  plan->bytes   = sizeof(*s) + sizeof(int) * ((size_t)rows + 1 + off) + map + size * all;
  s->triangle   = A->triangle;
  s->offsets[0] = 0;
  for (int i = 0, to = 0; i < rows; i++) {
    int begin, end, diagonal;

    TrsvRow(A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++, to++) s->columns[to] = A->columns[k];
    s->offsets[i + 1] = to;
  }
  if (source) memcpy(s->source, source, map);
  return TRSV_SUCCESS;
}

/* One body for both real precisions. The order of each sum is that of the columns, as PETSc's ILU has it: where pivots
   are tiny, another one gives other residuals. */
#define SERIAL(Real, SetValues, Solve) \
  static void SetValues(const Serial *s, int rows, const Real *from) \
  { \
    const int  lower  = s->triangle == TRSV_LOWER; \
    const int *source = s->source; \
    Real      *values = s->values, *inverse = s->inverse; \
\
    for (int i = 0; i < rows; i++) { \
      const int begin = s->offsets[i], end = s->offsets[i + 1]; \
      const int before = inverse ? i + !lower : 0; /* diagonals before this row's other entries */ \
      const int diagonal = lower ? end + i : begin + i; \
\
      for (int k = begin; k < end; k++) values[k] = from[source ? source[k + before] : k + before]; \
      if (inverse) inverse[i] = 1 / from[source ? source[diagonal] : diagonal]; \
    } \
  } \
\
  static void Solve(const Serial *s, int rows, const Real *b, Real *x) \
  { \
    const int *offsets = s->offsets, *columns = s->columns; \
    const Real *values = s->values, *inverse = s->inverse; \
\
    for (int r = 0; r < rows; r++) { \
      const int i   = s->triangle == TRSV_LOWER ? r : rows - 1 - r; \
      Real      sum = b[i]; \
\
      for (int k = offsets[i]; k < offsets[i + 1]; k++) sum -= values[k] * x[columns[k]]; \
      x[i] = inverse ? sum * inverse[i] : sum; \
    } \
  }

SERIAL(float, SetValuesFloat, SolveFloat)
SERIAL(double, SetValuesDouble, SolveDouble)

/* The same for complex values. A product is two products and a sum in each part: Inf times a finite value may be NaN,
   as in Fortran. A reciprocal is Smith's (Algorithm 116, CACM 1962), which does not square the magnitude. */
#define SERIAL_COMPLEX(Real, Complex, SetValues, Solve) \
  typedef struct { \
    Real re, im; \
  } Complex; \
\
  static void SetValues(const Serial *s, int rows, const Complex *from) \
  { \
    const int  lower  = s->triangle == TRSV_LOWER; \
    const int *source = s->source; \
    Complex   *values = s->values, *inverse = s->inverse; \
\
    for (int i = 0; i < rows; i++) { \
      const int begin = s->offsets[i], end = s->offsets[i + 1]; \
      const int before = inverse ? i + !lower : 0; /* diagonals before this row's other entries */ \
      const int diagonal = lower ? end + i : begin + i; \
\
      for (int k = begin; k < end; k++) values[k] = from[source ? source[k + before] : k + before]; \
      if (inverse) { \
        const Complex d = from[source ? source[diagonal] : diagonal]; \
        const int     wide = (d.re < 0 ? -d.re : d.re) >= (d.im < 0 ? -d.im : d.im); \
        const Real    ratio = wide ? d.im / d.re : d.re / d.im; \
        const Real    part  = 1 / (wide ? d.re + d.im * ratio : d.im + d.re * ratio); \
\
        inverse[i].re = wide ? part : ratio * part; \
        inverse[i].im = wide ? -(ratio * part) : -part; \
      } \
    } \
  } \
\
  static void Solve(const Serial *s, int rows, const Complex *b, Complex *x) \
  { \
    const int     *offsets = s->offsets, *columns = s->columns; \
    const Complex *values = s->values, *inverse = s->inverse; \
\
    for (int r = 0; r < rows; r++) { \
      const int i   = s->triangle == TRSV_LOWER ? r : rows - 1 - r; \
      Complex   sum = b[i]; \
\
      for (int k = offsets[i]; k < offsets[i + 1]; k++) { \
        const Complex a = values[k], y = x[columns[k]]; \
\
        sum.re -= a.re * y.re - a.im * y.im; \
        sum.im -= a.re * y.im + a.im * y.re; \
      } \
      x[i] = sum; \
      if (inverse) { \
        x[i].re = sum.re * inverse[i].re - sum.im * inverse[i].im; \
        x[i].im = sum.re * inverse[i].im + sum.im * inverse[i].re; \
      } \
    } \
  }

SERIAL_COMPLEX(float, ComplexFloat, SetValuesComplexFloat, SolveComplexFloat)
SERIAL_COMPLEX(double, ComplexDouble, SetValuesComplexDouble, SolveComplexDouble)

static TrsvError SerialSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  (void)stream;
  switch (plan->precision) {
  case TRSV_FLOAT: SetValuesFloat(plan->data, plan->rows, values); break;
  case TRSV_DOUBLE: SetValuesDouble(plan->data, plan->rows, values); break;
  case TRSV_COMPLEX_FLOAT: SetValuesComplexFloat(plan->data, plan->rows, values); break;
  case TRSV_COMPLEX_DOUBLE: SetValuesComplexDouble(plan->data, plan->rows, values); break;
  }
  return TRSV_SUCCESS;
}

static TrsvError SerialSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  (void)stream;
  switch (plan->precision) {
  case TRSV_FLOAT: SolveFloat(plan->data, plan->rows, b, x); break;
  case TRSV_DOUBLE: SolveDouble(plan->data, plan->rows, b, x); break;
  case TRSV_COMPLEX_FLOAT: SolveComplexFloat(plan->data, plan->rows, b, x); break;
  case TRSV_COMPLEX_DOUBLE: SolveComplexDouble(plan->data, plan->rows, b, x); break;
  }
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
