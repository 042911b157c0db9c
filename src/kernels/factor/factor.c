/*
   Creates, downloads and frees a factor; computes its values, with PETSc's shifts if a pivot is zero; predicts times.
*/
#include <math.h>
#include <string.h>
#include "factor/factor.h"
#include "solve/model/model.h"

void TrsvFactorTriangles(const TrsvFactor *f, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues)
{
  *L = (TrsvMatrix){f->rows,      f->l_offsets, f->l_columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT,
                    f->precision, TRSV_DEVICE,  f->analysis};
  *U = (TrsvMatrix){f->rows,      f->u_offsets, f->u_columns,     TRSV_UPPER, TRSV_DIAGONAL_STORED,
                    f->precision, TRSV_DEVICE,  f->upper_analysis};
  if (lvalues) *lvalues = f->l;
  if (uvalues) *uvalues = f->u;
}

static TrsvError MakePatterns(TrsvFactor *f, const TrsvCSR *A, const int *order, TrsvMemory memory)
{
  TrsvMatrix L, U;

  TrsvCall(TrsvDeviceAlloc(sizeof(*f->status), &f->status));
  TrsvCall(TrsvFactorSplit(f, A, order, memory));
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvAnalyzeBoth(&L, &U, &f->analysis, &f->upper_analysis));
  f->statistics = f->analysis->statistics;
  return TrsvFactorCheckPattern(f);
}

TrsvError TrsvFactorBegin(const TrsvCSR *A, const int *order, TrsvMemory memory, TrsvFactorKind kind,
                          TrsvPrecision precision, TrsvFactor **factor)
{
  TrsvFactor *f;
  TrsvError   error;

  *factor = NULL;
  if (A->rows < 1) return TrsvFail(TRSV_ERR_ARGUMENT, "the number of rows is %d; it must be at least 1", A->rows);
  TrsvCall(TrsvAlloc(sizeof(*f), &f));
  f->kind      = kind == TRSV_ICC_HERMITIAN ? TRSV_ICC : kind;
  f->precision = precision;
  f->hermitian = kind == TRSV_ICC_HERMITIAN && TrsvIsComplex(precision);
  f->rows      = A->rows;
  error        = MakePatterns(f, A, order, memory);
  if (error) TrsvFactorDestroy(&f);
  *factor = f;
  return error;
}

TrsvError TrsvFactorEnd(TrsvFactor **factor)
{
  TrsvFactor *f = *factor;
  TrsvMatrix  L, U;
  TrsvError   error;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  error = TrsvHeightsFromTranspose(&L, f->analysis, &U, f->upper_analysis);
  if (!error && !f->pivots) error = TrsvFactorAssignGroups(f, f->analysis->order);
  if (!error) error = TrsvSyncCreate(&f->sync);
  if (!error) error = TrsvDeviceWait(NULL);
  if (error) TrsvFactorDestroy(factor);
  return error;
}

TrsvError TrsvFactorCreate(const TrsvCSR *A, const int *order, TrsvMemory memory, TrsvFactorKind kind,
                           TrsvPrecision precision, TrsvFactor **factor)
{
  TrsvCall(TrsvFactorBegin(A, order, memory, kind, precision, factor));
  return TrsvFactorEnd(factor);
}

TrsvError TrsvFactorAlloc(TrsvFactor *f, size_t size, int count, void *array)
{
  if (*(void **)array) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(size * (size_t)count, array));
  f->bytes += size * (size_t)count;
  return TRSV_SUCCESS;
}

void TrsvFactorFree(TrsvFactor *f, size_t size, int count, void *array)
{
  if (!*(void **)array) return;
  TrsvDeviceFree(*(void **)array);
  *(void **)array = NULL;
  f->bytes -= size * (size_t)count;
}

/* The order in which pivots are found without a plan: the level sets of L. Made when it is first needed. */
static TrsvError MakePivotOrder(TrsvFactor *f)
{
  TrsvAnalysis *made = NULL;
  TrsvMatrix    L, U;
  TrsvError     error;

  if (f->row_of_group) return TRSV_SUCCESS;
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  if (!f->analysis) TrsvCall(TrsvAnalyze(&L, &made));
  error = TrsvFactorAssignGroups(f, (made ? made : f->analysis)->order);
  if (!error) error = TrsvDeviceWait(NULL);
  if (error) TrsvFactorFree(f, sizeof(int), f->rows, &f->row_of_group); /* it may be incomplete */
  TrsvAnalysisDestroy(&made);
  return error;
}

/* Factors A + shift I once. *row: the first row with a zero pivot, or UINT_MAX. */
static TrsvError FactorOnce(TrsvFactor *f, TrsvPlan *lower, const void *values, const TrsvPivots *p, double shift,
                            unsigned *row, TrsvStream stream)
{
  for (int by_plan = !!lower;; by_plan = 0) {
    if (!by_plan) TrsvCall(TrsvFactorAlloc(f, TrsvValueSize(f->precision), f->lower, &f->l));
    if (f->pivots && !by_plan) TrsvCall(MakePivotOrder(f));
    TrsvCall(TrsvSyncStart(&f->sync, stream));
    TrsvCall(TrsvFactorCompute(f, by_plan ? lower : NULL, values, p, shift, stream));
    TrsvCall(TrsvDeviceDownload(row, &f->status->row, sizeof(*row), stream));
    if (!by_plan || *row == UINT_MAX) return TrsvSyncStart(&f->sync, stream); /* reports a wait that timed out */
    lower->filled = 0; /* the plan's values and words come from invalid pivots */
    TrsvCall(lower->algorithm->pivots->check(lower, stream));
  }
}

/* PETSc's MatPivotCheck_pd() and MatPivotRefine(): a shift is a fraction of one that makes A diagonally dominant. */
typedef struct {
  int    tries;
  double largest, low, high, fraction;
} Bisection;

enum {
  BISECTIONS = 5,  /* then the bisection takes a shift that is known to be enough */
  DOUBLINGS  = 200 /* of a shift: 60 orders of magnitude; for a matrix that needs more (Inf, say) no shift works */
};

/* The next shift, after one that failed or that may be larger than needed; the same one if there is no other. */
static TrsvError NextShift(TrsvFactor *f, const void *values, const TrsvPivots *p, int failed, Bisection *b,
                           double *shift, TrsvStream stream)
{
  const int icc    = f->kind == TRSV_ICC, /* PETSc's ICC never decreases a shift */
            change = failed || (!icc && b->fraction > 0 && b->tries < BISECTIONS);

  if (p->shift == TRSV_SHIFT_NONZERO && failed && b->tries <= DOUBLINGS) *shift = b->tries++ ? 2 * *shift : p->amount;
  if (p->shift != TRSV_SHIFT_POSITIVE_DEFINITE || !change) return TRSV_SUCCESS;
  if (!b->tries) {
    TrsvCall(TrsvFactorFindLargestSum(f, values, &b->largest, stream));
    b->largest = 1.1 * fmax(b->largest, p->zero);
  }
  if (failed && b->tries == BISECTIONS) b->fraction = b->high;
  else {
    *(failed ? &b->low : &b->high) = b->fraction;
    b->fraction                    = (b->high + b->low) / 2;
  }
  b->tries++;
  *shift = b->fraction * b->largest;
  return TRSV_SUCCESS;
}

static TrsvError ReadPivotMagnitude(const TrsvFactor *f, int row, double *pivot, TrsvStream stream)
{
  const size_t size = TrsvValueSize(f->precision);
  int          at;
  double       d[2] = {0, 0};
  float        s[2] = {0, 0};

  TrsvCall(TrsvDeviceDownload(&at, f->u_offsets + row, sizeof(at), stream));
  const int single = TrsvRealPrecision(f->precision) == TRSV_FLOAT;
  TrsvCall(TrsvDeviceDownload(single ? (void *)s : (void *)d, (const char *)f->u + size * (size_t)at, size, stream));
  *pivot = single ? hypot(s[0], s[1]) : hypot(d[0], d[1]);
  return TRSV_SUCCESS;
}

/* A shift of NaN would make the loop over shifts endless, because NaN differs from itself. */
static TrsvError CheckPivots(const TrsvPivots *p)
{
  if (!isfinite(p->zero)) return TrsvFail(TRSV_ERR_ARGUMENT, "the zero pivot is %g; it must be finite", p->zero);
  if ((p->shift == TRSV_SHIFT_NONZERO || p->shift == TRSV_SHIFT_INBLOCKS) && !(p->amount >= 0 && isfinite(p->amount)))
    return TrsvFail(TRSV_ERR_ARGUMENT, "the shift amount is %g; it must be finite and not negative", p->amount);
  return TRSV_SUCCESS;
}

TrsvError TrsvFactorSetValues(TrsvFactor *f, TrsvPlan *plan, void *vector, const void *values, const TrsvPivots *p,
                              TrsvOutcome *outcome, TrsvStream stream)
{
  const size_t size  = TrsvValueSize(f->precision);
  const int    both  = f->rows + f->lower;
  TrsvPlan    *lower = f->pivots && TrsvPlanFindsPivots(plan) ? plan : NULL;
  Bisection    b     = {0, 0, 0, 1, 0};
  unsigned     row;
  double       shift;

  *outcome = (TrsvOutcome){-1, 0, 0, 0};
  TrsvCall(CheckPivots(p));
  if (!f->l_in_plan || !lower) TrsvCall(TrsvFactorAlloc(f, size, f->lower, &f->l));
  TrsvCall(TrsvFactorAlloc(f, size, f->l_in_plan && both > f->upper ? both : f->upper, &f->u));
  if (!vector) TrsvCall(TrsvFactorAlloc(f, size, f->rows, &f->reciprocals));
  f->inverse = vector ? vector : f->reciprocals;
  if (f->order) {
    TrsvCall(TrsvFactorAlloc(f, size, f->entries, &f->a));
    TrsvCall(TrsvDevicePermute(f->entries, f->source, 0, f->precision, values, f->a, stream));
    values = f->a;
  }
  do {
    shift = outcome->shift;
    TrsvCall(FactorOnce(f, lower, values, p, shift, &row, stream));
    outcome->attempts++;
    TrsvCall(NextShift(f, values, p, row != UINT_MAX, &b, &outcome->shift, stream));
  } while (outcome->shift != shift);
  if (row == UINT_MAX) return TRSV_SUCCESS;
  outcome->row = (int)row;
  if (f->order) TrsvCall(TrsvDeviceDownload(&outcome->row, f->order + row, sizeof(int), stream));
  return ReadPivotMagnitude(f, (int)row, &outcome->pivot, stream);
}

TrsvError TrsvFactorMaterialize(TrsvFactor *f, const TrsvPlan *lower, TrsvStream stream)
{
  const size_t size = TrsvValueSize(f->precision);
  TrsvError    error;

  TrsvCall(TrsvFactorMirrorColumns(f));
  if (f->l || !f->u || !lower) return TRSV_SUCCESS;
  if (!TrsvPlanFindsPivots(lower) || !lower->filled)
    return TrsvFail(TRSV_ERR_ARGUMENT, "L has no values: the plan that held them has none");
  TrsvCall(TrsvFactorAlloc(f, size, f->lower, &f->l));
  error = lower->algorithm->pivots->get_values(lower, f->l, stream);
  if (error) TrsvFactorFree(f, size, f->lower, &f->l);
  return error;
}

/* Downloads an array to *to and advances *to past it. Returns the address of the copy, or NULL if there is no array. */
static const void *DownloadArray(char **to, const void *from, size_t bytes, TrsvError *error, TrsvStream stream)
{
  const void *at = *to;

  if (!from || *error) return NULL;
  *error = TrsvDeviceDownload(*to, from, bytes, stream);
  *to += bytes;
  return at;
}

TrsvError TrsvFactorDownload(TrsvFactor *f, TrsvTriangles *t, TrsvStream stream)
{
  const size_t rows = (size_t)f->rows, lower = (size_t)f->lower, upper = (size_t)f->upper,
               size = f->l ? TrsvValueSize(f->precision) : 0, index = sizeof(int);
  TrsvError    error = TRSV_SUCCESS;
  char        *to;

  memset(t, 0, sizeof(*t));
  TrsvCall(TrsvFactorMirrorColumns(f));
  TrsvCall(TrsvAlloc(size * (lower + upper) + index * (2 * (rows + 1) + lower + upper + rows), &t->memory));
  to           = t->memory;
  t->L.rows    = t->U.rows = f->rows;
  t->L.values  = DownloadArray(&to, f->l, size * lower, &error, stream);
  t->U.values  = DownloadArray(&to, f->l ? f->u : NULL, size * upper, &error, stream);
  t->L.offsets = DownloadArray(&to, f->l_offsets, index * (rows + 1), &error, stream);
  t->U.offsets = DownloadArray(&to, f->u_offsets, index * (rows + 1), &error, stream);
  t->L.columns = DownloadArray(&to, f->l_columns, index * lower, &error, stream);
  t->U.columns = DownloadArray(&to, f->u_columns, index * upper, &error, stream);
  t->row = t->column = DownloadArray(&to, f->order, index * rows, &error, stream);
  if (!error) return TRSV_SUCCESS;
  TrsvFree(TRSV_HOST, t->memory);
  memset(t, 0, sizeof(*t));
  return error;
}

/* The sum of a launch and a download, a step for each level set, memory traffic, the longest row of a whole warp. */
double TrsvFactorPredict(const TrsvFactor *f)
{
  return TrsvModel.factor_launch + (f->pivots ? TrsvModel.factor_pivot : TrsvModel.factor_row) * f->statistics.levels +
         TrsvModel.factor_entry * ((double)f->lower + f->upper) + TrsvModel.factor_step * f->longest_warp_row;
}

/* A time for each entry, or for each multiply-add if that is more, as it is if many rows depend on long ones. With an
   order, PETSc's symbolic phase of ILU also traverses a list of the row's entries for each entry. */
double TrsvFactorPredictHost(const TrsvFactor *f)
{
  const FactorHostWork *const w = &f->host_work;

  return fmax(TrsvModel.host_entry * ((double)f->lower + f->upper), TrsvModel.host_operation * (double)w->operations) +
         (f->order && f->kind == TRSV_ILU ? TrsvModel.host_walk * (double)w->squares : 0);
}

void TrsvFactorReleaseWorkspace(TrsvFactor *f, const TrsvPlan *lower)
{
  if (!f->l_in_plan && f->pivots && !f->l && TrsvPlanFindsPivots(lower)) {
    f->l_in_plan = 1;
    if (f->kind == TRSV_ICC || f->mirror_offset) TrsvFactorFree(f, sizeof(int), f->upper, &f->u_columns);
  }
  if (f->analysis) f->analysis->heights = NULL;
  TrsvAnalysisDestroy(&f->upper_analysis);
  if (!f->pivots || f->row_of_group || TrsvPlanFindsPivots(lower)) TrsvAnalysisDestroy(&f->analysis);
}

void TrsvFactorDestroy(TrsvFactor **factor)
{
  TrsvFactor *f = *factor;

  if (!f) return;
  void *const arrays[] = {f->order,         f->source,   f->a,           f->l_offsets,    f->l_columns,   f->u_offsets,
                          f->u_columns,     f->l_source, f->a_row_start, f->row_of_group, f->work_offset, f->work,
                          f->mirror_offset, f->l,        f->u,           f->reciprocals,  f->status};
  TrsvAnalysisDestroy(&f->analysis);
  TrsvAnalysisDestroy(&f->upper_analysis);
  TrsvDeviceFreeAll(sizeof(arrays) / sizeof(*arrays), arrays);
  TrsvSyncDestroy(&f->sync);
  free(f);
  *factor = NULL;
}
