/*
   Creates a factor, computes its values, with PETSc's shifts if a pivot is zero, and frees it.
*/
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "factor/factor.h"

static TrsvError BeginPatterns(TrsvFactor *f, const int *offsets, const int *columns, const int *order,
                               TrsvMemory memory)
{
  const size_t rows = (size_t)f->rows;
  TrsvMatrix   L, U;

  TrsvCall(TrsvDeviceAlloc(sizeof(*f->status), &f->status));
  TrsvCall(TrsvFactorSplit(f, offsets, columns, order, memory));
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvAnalyzeBoth(&L, &U, &f->analysis, &f->upper_analysis));
  f->statistics = f->analysis->statistics;
  f->bytes += sizeof(int) * (2 * (rows + 1) + (size_t)f->lower + (size_t)f->upper) +
              (f->kind == TRSV_ICC ? sizeof(int) * (rows + (size_t)f->lower) : 0);
  return TrsvFactorCheckPattern(f);
}

TrsvError TrsvFactorBegin(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory memory,
                          TrsvFactorKind kind, TrsvPrecision precision, TrsvFactor **factor)
{
  TrsvFactor *f;
  TrsvError   error;

  *factor = NULL;
  if (rows < 1) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", rows);
  TrsvCall(TrsvAlloc(sizeof(*f), &f));
  f->kind      = kind == TRSV_ICC_HERMITIAN ? TRSV_ICC : kind;
  f->precision = precision;
  f->hermitian = kind == TRSV_ICC_HERMITIAN && TrsvIsComplex(precision);
  f->rows      = rows;
  error        = BeginPatterns(f, offsets, columns, order, memory);
  if (error) TrsvFactorDestroy(&f);
  *factor = f;
  return error;
}

static TrsvError EndPatterns(TrsvFactor *f)
{
  TrsvMatrix L, U;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvHeightsFromTranspose(&L, f->analysis, &U, f->upper_analysis));
  if (!f->pivots) TrsvCall(TrsvFactorAssignGroups(f, f->analysis->order, 0));
  TrsvCall(TrsvSyncCreate(&f->sync));
  return TrsvDeviceSynchronize();
}

TrsvError TrsvFactorEnd(TrsvFactor **factor)
{
  const TrsvError error = EndPatterns(*factor);

  if (error) TrsvFactorDestroy(factor);
  return error;
}

TrsvError TrsvFactorCreate(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory memory,
                           TrsvFactorKind kind, TrsvPrecision precision, TrsvFactor **factor)
{
  TrsvCall(TrsvFactorBegin(rows, offsets, columns, order, memory, kind, precision, factor));
  return TrsvFactorEnd(factor);
}

static TrsvError AllocateArray(TrsvFactor *f, int count, void **values)
{
  const size_t bytes = TrsvValueSize(f->precision) * (size_t)count;

  if (*values) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(bytes, values));
  f->bytes += bytes;
  return TRSV_SUCCESS;
}

static void FreeArray(TrsvFactor *f, size_t bytes, void **array)
{
  TrsvDeviceFree(*array);
  *array = NULL;
  f->bytes -= bytes;
}

/* The plan for L if it can find the pivots, else NULL. */
static TrsvPlan *GetPivotPlan(const TrsvFactor *f, TrsvPlan *lower)
{
  return f->pivots && TrsvPlanFindsPivots(lower) ? lower : NULL;
}

TrsvError TrsvFactorAllocateValues(TrsvFactor *f, TrsvPlan *lower, void *vector)
{
  const int l_in_plan = f->l_in_plan && GetPivotPlan(f, lower), both = f->rows + f->lower;

  if (f->order) TrsvCall(AllocateArray(f, f->entries, &f->a));
  if (!l_in_plan) TrsvCall(AllocateArray(f, f->lower, &f->l));
  TrsvCall(AllocateArray(f, f->l_in_plan && both > f->upper ? both : f->upper, &f->u));
  f->inverse = vector;
  if (f->inverse) return TRSV_SUCCESS;
  TrsvCall(AllocateArray(f, f->rows, &f->reciprocals));
  f->inverse = f->reciprocals;
  return TRSV_SUCCESS;
}

/* The order in which pivots are found without a plan: the level sets of L. Made when it is first needed. */
static TrsvError MakePivotOrder(TrsvFactor *f)
{
  const size_t        bytes = sizeof(int) * (size_t)f->rows;
  const TrsvAnalysis *analysis;
  TrsvAnalysis       *made;
  TrsvMatrix          L, U;
  int                *order = NULL;
  TrsvError           error;

  if (f->row_of_group) return TRSV_SUCCESS;
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  error = TrsvAnalysisGet(&L, &analysis, &made);
  if (!error) error = TrsvCopyNew(TRSV_DEVICE, TRSV_DEVICE, analysis->order, bytes, &order);
  if (!error) error = TrsvDeviceSynchronize();
  TrsvAnalysisDestroy(&made);
  if (error) TrsvDeviceFree(order);
  else {
    f->row_of_group = order;
    f->bytes += bytes;
  }
  return error;
}

/* Factors A + shift I once. *row: the first row with a zero pivot, or UINT_MAX. */
static TrsvError FactorOnce(TrsvFactor *f, TrsvPlan *lower, const void *values, const TrsvPivots *p, double shift,
                            unsigned *row, TrsvStream stream)
{
  const TrsvShift   test = p->shift == TRSV_SHIFT_EXPECT_POSITIVE ? TRSV_SHIFT_POSITIVE_DEFINITE : p->shift;
  const FactorShift s    = {test, p->amount, p->zero, shift};
  FactorStatus      status;

  for (int by_plan = !!lower;; by_plan = 0) {
    if (!by_plan) TrsvCall(AllocateArray(f, f->lower, &f->l));
    if (f->pivots && !by_plan) TrsvCall(MakePivotOrder(f));
    TrsvCall(TrsvSyncStart(&f->sync, stream));
    TrsvCall(TrsvFactorCompute(f, by_plan ? lower : NULL, values, &s, stream));
    TrsvCall(TrsvDeviceDownload(&status, f->status, sizeof(status), stream));
    *row = status.row;
    if (!by_plan || *row == UINT_MAX) return TrsvSyncStart(&f->sync, stream); /* reports a wait that timed out */
    lower->filled = 0; /* the plan's values and words come from invalid pivots */
    TrsvCall(lower->algorithm->pivots->check(lower, stream));
  }
}

/* The bisection of PETSc's MatPivotCheck_pd() and MatPivotRefine(): a shift is a fraction of the largest shift, which
   makes A diagonally dominant. */
typedef struct {
  int    tries;
  double largest, low, high, fraction;
} Bisection;

enum {
  BISECTIONS = 5,  /* then the bisection takes a shift that is known to be enough */
  DOUBLINGS  = 200 /* of a shift: 60 orders of magnitude; for a matrix that needs more (Inf, say) no shift works */
};

static TrsvError FindLargestShift(TrsvFactor *f, const void *values, double least, double *shift, TrsvStream stream)
{
  FactorStatus status;
  double       largest;

  TrsvCall(TrsvFactorFindLargestSum(f, values, stream));
  TrsvCall(TrsvDeviceDownload(&status, f->status, sizeof(status), stream));
  memcpy(&largest, &status.largest, sizeof(largest));
  *shift = 1.1 * (largest > least ? largest : least);
  return TRSV_SUCCESS;
}

static void IncreaseShift(Bisection *b)
{
  if (b->tries == BISECTIONS) b->fraction = b->high;
  else {
    b->low      = b->fraction;
    b->fraction = (b->high + b->low) / 2;
  }
  b->tries++;
}

/* Returns whether to try a smaller shift. */
static int DecreaseShift(Bisection *b)
{
  if (!(b->fraction > 0 && b->tries < BISECTIONS)) return 0;
  b->high     = b->fraction;
  b->fraction = (b->high + b->low) / 2;
  b->tries++;
  return 1;
}

/* The next shift, after one that failed or that may be larger than needed. *again: 1 if there is one. PETSc's ICC never
   decreases a shift. */
static TrsvError NextShift(TrsvFactor *f, const void *values, const TrsvPivots *p, int failed, Bisection *b,
                           double *shift, int *again, TrsvStream stream)
{
  const double last = *shift;

  *again = 0;
  if (p->shift == TRSV_SHIFT_NONZERO && failed) {
    if (b->tries > DOUBLINGS) return TRSV_SUCCESS;
    *shift = b->tries++ ? 2 * last : p->amount;
    *again = *shift != last;
  } else if (p->shift == TRSV_SHIFT_POSITIVE_DEFINITE) {
    if (failed && !b->tries) TrsvCall(FindLargestShift(f, values, p->zero, &b->largest, stream));
    if (failed) IncreaseShift(b);
    else if (f->kind == TRSV_ICC || !DecreaseShift(b)) return TRSV_SUCCESS;
    *shift = b->fraction * b->largest;
    *again = *shift != last; /* the same shift again: even the largest failed */
  }
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
  TrsvCall(TrsvDeviceDownload(single ? (void *)s : (void *)d,
                              (const char *)f->u + size * (size_t)at, size, stream));
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
  TrsvPlan *lower = GetPivotPlan(f, plan);
  Bisection b = {0, 0, 0, 1, 0};
  unsigned  row;
  int       again;

  *outcome = (TrsvOutcome){-1, 0, 0, 0};
  TrsvCall(CheckPivots(p));
  TrsvCall(TrsvFactorAllocateValues(f, plan, vector));
  if (f->order) {
    TrsvCall(TrsvDevicePermute(f->entries, f->source, 0, f->precision, values, f->a, stream));
    values = f->a;
  }
  do {
    TrsvCall(FactorOnce(f, lower, values, p, outcome->shift, &row, stream));
    outcome->attempts++;
    TrsvCall(NextShift(f, values, p, row != UINT_MAX, &b, &outcome->shift, &again, stream));
  } while (again);
  if (row == UINT_MAX) return TRSV_SUCCESS;
  outcome->row = (int)row;
  if (f->order) TrsvCall(TrsvDeviceDownload(&outcome->row, f->order + row, sizeof(int), stream));
  return ReadPivotMagnitude(f, (int)row, &outcome->pivot, stream);
}

TrsvError TrsvFactorMaterialize(TrsvFactor *f, const TrsvPlan *lower, TrsvStream stream)
{
  TrsvError error;

  TrsvCall(TrsvFactorMirrorColumns(f));
  if (f->l || !f->u || !lower) return TRSV_SUCCESS;
  if (!TrsvPlanFindsPivots(lower) || !lower->filled)
    return TrsvFail(TRSV_ERR_ARGUMENT, "L has no values: the plan that held them has none");
  TrsvCall(AllocateArray(f, f->lower, &f->l));
  error = lower->algorithm->pivots->get_values(lower, f->l, stream);
  if (!error) return TRSV_SUCCESS;
  FreeArray(f, TrsvValueSize(f->precision) * (size_t)f->lower, &f->l);
  return error;
}

void TrsvFactorReleaseWorkspace(TrsvFactor *f, const TrsvPlan *lower)
{
  if (!f->l_in_plan && f->pivots && !f->l && TrsvPlanFindsPivots(lower)) {
    f->l_in_plan = 1;
    if (f->kind == TRSV_ICC || f->mirror_offset) FreeArray(f, sizeof(int) * (size_t)f->upper, (void **)&f->u_columns);
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
