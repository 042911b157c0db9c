/*
   serial: substitution row by row on one core of the host, the reference for every other algorithm.

   Source: CapelliniSpTRSV (ICPP 2020), Algorithm 1, with the diagonal's reciprocal taken when values arrive, so that a chain
   of rows waits for no division. The entries off the diagonal are kept apart from it, in the caller's order of rows.
*/
#include <stdlib.h>
#include <string.h>
#include "impl.h"

typedef struct {
  TrsvTriangle triangle;
  int         *offsets, *columns; /* [rows + 1], [entries off the diagonal] */
  int         *source;            /* where each of them, and then each row's diagonal, stands in the caller's values */
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

static TrsvError SerialAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int    stored = A->diagonal == TRSV_DIAGONAL_STORED, rows = A->rows;
  const size_t size = TrsvValueSize(A->precision), off = (size_t)(A->offsets[rows] - (stored ? rows : 0)), all = (size_t)A->offsets[rows];
  Serial      *s;
  int          to = 0;

  (void)analysis;
  TrsvCall(TrsvAlloc(sizeof(*s), &plan->data));
  s = memset(plan->data, 0, sizeof(*s));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)rows + 1), &s->offsets));
  TrsvCall(TrsvAlloc(sizeof(int) * off, &s->columns));
  TrsvCall(TrsvAlloc(sizeof(int) * all, &s->source));
  TrsvCall(TrsvAlloc(size * off, &s->values));
  if (stored) TrsvCall(TrsvAlloc(size * (size_t)rows, &s->inverse));
  plan->bytes   = sizeof(*s) + sizeof(int) * ((size_t)rows + 1 + off + all) + size * all;
  s->triangle   = A->triangle;
  s->offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    int begin, end, diagonal;

    TrsvRow(A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++, to++) {
      s->columns[to] = A->columns[k];
      s->source[to]  = source ? source[k] : k;
    }
    s->offsets[i + 1] = to;
    if (stored) s->source[off + (size_t)i] = source ? source[diagonal] : diagonal;
  }
  return TRSV_SUCCESS;
}

/* One body for both precisions. The order of each sum is that of the columns. */
#define SERIAL(Real, SetValues, Solve) \
  static void SetValues(const Serial *s, int rows, const Real *from) \
  { \
    const int off    = s->offsets[rows]; \
    Real     *values = s->values, *inverse = s->inverse; \
\
    for (int k = 0; k < off; k++) values[k] = from[s->source[k]]; \
    for (int i = 0; inverse && i < rows; i++) inverse[i] = 1 / from[s->source[off + i]]; \
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

static TrsvError SerialSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  (void)stream;
  if (plan->precision == TRSV_FLOAT) SetValuesFloat(plan->data, plan->rows, values);
  else SetValuesDouble(plan->data, plan->rows, values);
  return TRSV_SUCCESS;
}

static TrsvError SerialSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  (void)stream;
  if (plan->precision == TRSV_FLOAT) SolveFloat(plan->data, plan->rows, b, x);
  else SolveDouble(plan->data, plan->rows, b, x);
  return TRSV_SUCCESS;
}

const TrsvAlgorithm TrsvSerial = {
  .name       = "serial",
  .source     = "substitution by rows (CapelliniSpTRSV, ICPP 2020, Algorithm 1)",
  .memory     = TRSV_HOST,
  .analyse    = SerialAnalyse,
  .set_values = SerialSetValues,
  .solve      = SerialSolve,
  .destroy    = SerialDestroy,
};
