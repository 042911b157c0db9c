/*
   ILU(0) and IC(0) on the device: patterns once, values again and again, with PETSc's ways of dealing with zero pivots.
*/
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "factor/factor.h"

int TrsvFactorForcedLanes;

void TrsvFactorSetLanes(int lanes) { TrsvFactorForcedLanes = lanes; }

static TrsvError Make(TrsvFactor *f, const int *offsets, const int *columns, const int *order, TrsvMemory there,
                      int both, int *row)
{
  const size_t rows = (size_t)f->rows;
  TrsvMatrix   L, U;

  TrsvCall(TrsvDeviceAlloc(sizeof(*f->status), &f->status));
  TrsvCall(TrsvFactorSplit(f, offsets, columns, order, there, row));
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(both ? TrsvAnalyzeBoth(&L, &U, &f->analysis, &f->upper_analysis) : TrsvAnalyze(&L, &f->analysis));
  f->statistics = f->analysis->statistics;
  TrsvCall(TrsvFactorPivotsCheck(f));
  if (!f->pivots) TrsvCall(TrsvFactorSlots(f, f->analysis->order));
  TrsvCall(TrsvSyncCreate(&f->sync));
  f->bytes += sizeof(int) * (2 * (rows + 1) + (size_t)f->lower + (size_t)f->upper) +
              (f->kind == TRSV_ICC ? sizeof(int) * (rows + (size_t)f->lower) : 0);
  return TrsvDeviceSynchronize();
}

static TrsvError Create(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory there,
                        TrsvFactorKind kind, TrsvPrecision precision, int both, TrsvFactor **factor, int *row)
{
  TrsvFactor *f;
  TrsvError   error;

  *factor = NULL;
  *row    = -1;
  if (rows < 1) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", rows);
  f = calloc(1, sizeof(*f));
  if (!f) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a factor");
  f->kind      = kind;
  f->precision = precision;
  f->rows      = rows;
  error        = Make(f, offsets, columns, order, there, both, row);
  if (error) TrsvFactorDestroy(&f);
  *factor = f;
  return error;
}

/* In another order level sets are mostly few, and there is little to gain from finding L's and U's at the same time. */
TrsvError TrsvFactorCreate(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory there,
                           TrsvFactorKind kind, TrsvPrecision precision, TrsvFactor **factor, int *row)
{
  return Create(rows, offsets, columns, order, there, kind, precision, !order, factor, row);
}

TrsvError TrsvFactorCreateLower(int rows, const int *offsets, const int *columns, const int *order, TrsvMemory there,
                                TrsvFactorKind kind, TrsvPrecision precision, TrsvFactor **factor, int *row)
{
  return Create(rows, offsets, columns, order, there, kind, precision, 0, factor, row);
}

TrsvError TrsvFactorAnalyzeUpper(TrsvFactor *f)
{
  TrsvMatrix L, U;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  const TrsvError error = TrsvAnalyze(&U, &f->upper_analysis);
  if (error) return error == TRSV_ERR_MEMORY ? TRSV_SUCCESS : error; /* who makes the plan looks again */
  return TrsvHeightsFromTranspose(&L, f->analysis, &U, f->upper_analysis);
}

static TrsvError Room(TrsvFactor *f, int count, void **values)
{
  const size_t bytes = TrsvValueSize(f->precision) * (size_t)count;

  if (*values) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(bytes, values));
  f->bytes += bytes;
  return TRSV_SUCCESS;
}

static void Drop(TrsvFactor *f, size_t bytes, void **array)
{
  TrsvDeviceFree(*array);
  *array = NULL;
  f->bytes -= bytes;
}

/* The plan for L, where it can find the pivots */
static TrsvPlan *Lower(const TrsvFactor *f, TrsvPlan *lower)
{
  return f->pivots && TrsvPlanFindsPivots(lower) ? lower : NULL;
}

/* Only with the first values: plans, which need more memory while they are made than when they are there, are best made
   before. */
TrsvError TrsvFactorRoom(TrsvFactor *f, TrsvPlan *lower, void *vector)
{
  const int l_in_plan = f->l_in_plan && Lower(f, lower), both = f->rows + f->lower;

  if (f->order) TrsvCall(Room(f, f->entries, &f->a));
  if (!l_in_plan) TrsvCall(Room(f, f->lower, &f->l));
  TrsvCall(Room(f, f->l_in_plan && both > f->upper ? both : f->upper, &f->u));
  f->inverse = vector;
  if (f->inverse) return TRSV_SUCCESS;
  TrsvCall(Room(f, f->rows, &f->reciprocals));
  f->inverse = f->reciprocals;
  return TRSV_SUCCESS;
}

/* The order in which pivots are found without a plan, that of L's level sets; taken when it is first needed */
static TrsvError Slots(TrsvFactor *f)
{
  const size_t        bytes    = sizeof(int) * (size_t)f->rows;
  const TrsvAnalysis *analysis = f->analysis;
  TrsvAnalysis       *made     = NULL;
  TrsvMatrix          L, U;
  int                *slot;
  TrsvError           error;

  if (f->row_of_group) return TRSV_SUCCESS;
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvDeviceAlloc(bytes, &slot));
  error = analysis ? TRSV_SUCCESS : TrsvAnalyze(&L, &made);
  if (!error) error = TrsvDeviceCopy(slot, (analysis ? analysis : made)->order, bytes, NULL);
  if (!error) error = TrsvDeviceSynchronize();
  TrsvAnalysisDestroy(&made);
  if (error) TrsvDeviceFree(slot);
  else {
    f->row_of_group = slot;
    f->bytes += bytes;
  }
  return error;
}

/* One factorization of A + shift I: the first row of a zero pivot, or UINT_MAX */
static TrsvError Attempt(TrsvFactor *f, TrsvPlan *lower, const void *values, const TrsvPivots *p, double shift,
                         unsigned *row, TrsvStream stream)
{
  const FactorShift s = {p->shift, p->amount, p->zero, shift};
  FactorStatus      status;

  for (int by_plan = !!lower;; by_plan = 0) {
    if (!by_plan) TrsvCall(Room(f, f->lower, &f->l));
    if (f->pivots && !by_plan) TrsvCall(Slots(f));
    TrsvCall(TrsvSyncStart(&f->sync, stream));
    TrsvCall(TrsvFactorFill(f, stream));
    TrsvCall(by_plan ? TrsvFactorPivots(f, lower, values, &s, stream) : TrsvFactorRows(f, values, &s, stream));
    TrsvCall(TrsvDeviceDownload(&status, f->status, sizeof(status), stream));
    *row = status.row;
    if (!by_plan || *row == UINT_MAX) return TrsvSyncStart(&f->sync, stream); /* has a wait been given up? */
    lower->filled = 0; /* what came of such pivots is no L */
    TrsvCall(TrsvPlanReciprocalsOver(lower, stream)); /* likewise */
  }
}

/* The bisection of PETSc's MatPivotCheck_pd() and MatPivotRefine(): shifts are fractions of what makes A dominant. */
typedef struct {
  int    tries;
  double top, low, high, fraction;
} Bisection;

enum {
  MOST_TRIES = 5 /* before the bisection settles for what is known to do */
};

static TrsvError FindTop(TrsvFactor *f, const void *values, double least, double *top, TrsvStream stream)
{
  FactorStatus status;
  double       largest;

  TrsvCall(TrsvFactorFill(f, stream));
  TrsvCall(TrsvFactorSums(f, values, stream));
  TrsvCall(TrsvDeviceDownload(&status, f->status, sizeof(status), stream));
  memcpy(&largest, &status.largest, sizeof(largest));
  *top = 1.1 * (largest > least ? largest : least);
  return TRSV_SUCCESS;
}

static void Fail(Bisection *b)
{
  if (b->tries == MOST_TRIES) b->fraction = b->high;
  else {
    b->low      = b->fraction;
    b->fraction = (b->high + b->low) / 2;
  }
  b->tries++;
}

/* Is a smaller shift worth a try? PETSc's ICC never does. */
static int Refine(Bisection *b)
{
  if (!(b->fraction > 0 && b->tries < MOST_TRIES)) return 0;
  b->high     = b->fraction;
  b->fraction = (b->high + b->low) / 2;
  b->tries++;
  return 1;
}

enum {
  DOUBLINGS = 200 /* of a shift: 60 orders of magnitude; where that does not do, as with an infinite value, none will */
};

/* The next shift of A after one that failed, or that did and may be more than is needed; *again says whether there is
   one. */
static TrsvError NextShift(TrsvFactor *f, const void *values, const TrsvPivots *p, int failed, Bisection *b,
                           double *shift, int *again, TrsvStream stream)
{
  const double now = *shift;

  *again = 0;
  if (p->shift == TRSV_SHIFT_NONZERO && failed) {
    if (b->tries > DOUBLINGS) return TRSV_SUCCESS;
    *shift = b->tries++ ? 2 * now : p->amount;
    *again = *shift != now;
  } else if (p->shift == TRSV_SHIFT_POSITIVE_DEFINITE) {
    if (failed && !b->tries) TrsvCall(FindTop(f, values, p->zero, &b->top, stream));
    if (failed) Fail(b);
    else if (f->kind == TRSV_ICC || !Refine(b)) return TRSV_SUCCESS;
    *shift = b->fraction * b->top;
    *again = *shift != now; /* where the largest does not do, none will */
  }
  return TRSV_SUCCESS;
}

static TrsvError Magnitude(const TrsvFactor *f, int row, double *pivot, TrsvStream stream)
{
  const size_t size = TrsvValueSize(f->precision);
  int          at;
  double       d;
  float        s;

  TrsvCall(TrsvDeviceDownload(&at, f->u_offsets + row, sizeof(at), stream));
  TrsvCall(TrsvDeviceDownload(f->precision == TRSV_FLOAT ? (void *)&s : (void *)&d,
                              (const char *)f->u + size * (size_t)at, size, stream));
  *pivot = f->precision == TRSV_FLOAT ? (double)s : d;
  if (*pivot < 0) *pivot = -*pivot;
  return TRSV_SUCCESS;
}

static int Bad(double v) { return !(v >= 0 && isfinite(v)); }

/* A shift that is NaN would differ from the last for ever. */
static TrsvError CheckPivots(const TrsvPivots *p)
{
  if (!isfinite(p->zero))
    return TrsvFail(TRSV_ERR_ARGUMENT, "pivots up to %g cannot count as zero: it must be a finite number", p->zero);
  if ((p->shift == TRSV_SHIFT_NONZERO || p->shift == TRSV_SHIFT_INBLOCKS) && Bad(p->amount))
    return TrsvFail(TRSV_ERR_ARGUMENT, "a shift of %g: it must be a number, and none below 0", p->amount);
  return TRSV_SUCCESS;
}

TrsvError TrsvFactorMake(TrsvFactor *f, TrsvPlan *plan, void *vector, const void *values, const TrsvPivots *p,
                         TrsvOutcome *outcome, TrsvStream stream)
{
  TrsvPlan *lower = Lower(f, plan);
  Bisection b = {0, 0, 0, 1, 0};
  unsigned  row;
  int       again;

  *outcome = (TrsvOutcome){-1, 0, 0, 0};
  TrsvCall(CheckPivots(p));
  TrsvCall(TrsvFactorRoom(f, plan, vector));
  if (f->order) {
    TrsvCall(TrsvFactorGather(f, values, stream));
    values = f->a;
  }
  do {
    TrsvCall(Attempt(f, lower, values, p, outcome->shift, &row, stream));
    outcome->attempts++;
    TrsvCall(NextShift(f, values, p, row != UINT_MAX, &b, &outcome->shift, &again, stream));
  } while (again);
  if (row == UINT_MAX) return TRSV_SUCCESS;
  outcome->row = (int)row;
  if (f->order) TrsvCall(TrsvDeviceDownload(&outcome->row, f->order + row, sizeof(int), stream));
  return Magnitude(f, (int)row, &outcome->pivot, stream);
}

TrsvError TrsvFactorMaterialize(TrsvFactor *f, const TrsvPlan *lower, TrsvStream stream)
{
  TrsvError error;

  TrsvCall(TrsvFactorMirrorColumns(f));
  if (f->l || !f->u || !lower) return TRSV_SUCCESS;
  if (!TrsvPlanFindsPivots(lower) || !lower->filled)
    return TrsvFail(TRSV_ERR_ARGUMENT, "L's values are gone, with the plan that had them");
  TrsvCall(Room(f, f->lower, &f->l));
  error = TrsvPlanGetValues(lower, f->l, stream);
  if (!error) return TRSV_SUCCESS;
  Drop(f, TrsvValueSize(f->precision) * (size_t)f->lower, &f->l);
  return error;
}

void TrsvFactorReleaseWorkspace(TrsvFactor *f, const TrsvPlan *lower)
{
  if (!f->l_in_plan && f->pivots && !f->l && TrsvPlanFindsPivots(lower)) {
    f->l_in_plan = 1;
    if (f->kind == TRSV_ICC || f->mirror_offset) Drop(f, sizeof(int) * (size_t)f->upper, (void **)&f->u_columns);
  }
  if (f->analysis) f->analysis->heights = NULL;
  TrsvAnalysisDestroy(&f->upper_analysis);
  if (!f->pivots || f->row_of_group || TrsvPlanFindsPivots(lower)) TrsvAnalysisDestroy(&f->analysis);
}

void TrsvFactorDestroy(TrsvFactor **factor)
{
  TrsvFactor *f = *factor;

  if (!f) return;
  TrsvAnalysisDestroy(&f->analysis);
  TrsvAnalysisDestroy(&f->upper_analysis);
  TrsvDeviceFree(f->order);
  TrsvDeviceFree(f->source);
  TrsvDeviceFree(f->a);
  TrsvDeviceFree(f->l_offsets);
  TrsvDeviceFree(f->l_columns);
  TrsvDeviceFree(f->u_offsets);
  TrsvDeviceFree(f->u_columns);
  TrsvDeviceFree(f->mirror_offset);
  TrsvDeviceFree(f->l_source);
  TrsvDeviceFree(f->a_row_start);
  TrsvDeviceFree(f->row_of_group);
  TrsvDeviceFree(f->work_offset);
  TrsvDeviceFree(f->l);
  TrsvDeviceFree(f->u);
  TrsvDeviceFree(f->reciprocals);
  TrsvDeviceFree(f->work);
  TrsvDeviceFree(f->status);
  TrsvSyncDestroy(&f->sync);
  free(f);
  *factor = NULL;
}
