/*
   The plans of a factorization: those in the memory of A are made in the symbolic phase, others before a first solve.
*/
#include <string.h>
#include "ilu/ilu.h"

/* The two triangles in one memory, the input of plans. */
typedef struct {
  TrsvMatrix    L, U;
  const void   *l, *u; /* values; NULL: there are none, or only a plan has those of L */
  const int    *row, *column;
  TrsvTriangles copy; /* owns the arrays if they were downloaded */
} Triangles;

static int HasEntries(const TrsvCSR *T) { return T->rows > 0 && T->offsets && T->offsets[T->rows] > 0; }

int TrsvTrianglesHaveValues(const TrsvTriangles *t)
{
  return t->U.values && (t->L.values || !HasEntries(&t->L));
}

static void ViewHostTriangles(const TrsvTriangles *t, TrsvPrecision precision, Triangles *v)
{
  v->L = (TrsvMatrix){
    t->L.rows, t->L.offsets, t->L.columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, TRSV_HOST, NULL};
  v->U = (TrsvMatrix){
    t->U.rows, t->U.offsets, t->U.columns, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, TRSV_HOST, NULL};
  v->l      = HasEntries(&t->L) ? t->L.values : t->U.values; /* without entries nothing is read */
  v->u      = t->U.values;
  v->row    = t->row;
  v->column = t->column;
}

/* Gets the triangles for plans in this memory. whole: 1: first rebuilds the arrays that the factor has released. */
static TrsvError GetTriangles(TrsvIlu *ilu, const TrsvTriangles *factor, TrsvMemory memory, int whole, Triangles *v,
                              TrsvStream stream)
{
  memset(v, 0, sizeof(*v));
  if (factor) {
    ViewHostTriangles(factor, ilu->request.precision, v);
    return TRSV_SUCCESS;
  }
  if (!ilu->factor) return TrsvFail(TRSV_ERR_ARGUMENT, "the host has factored; pass its triangles");
  if (whole) TrsvCall(TrsvFactorMaterialize(ilu->factor, ilu->factored ? TrsvIluLower(ilu) : NULL, stream));
  if (memory == TRSV_HOST) {
    TrsvCall(TrsvFactorDownload(ilu->factor, &v->copy, stream));
    ViewHostTriangles(&v->copy, ilu->request.precision, v);
  } else {
    TrsvFactorTriangles(ilu->factor, &v->L, &v->U, &v->l, &v->u);
    v->row = v->column = ilu->factor->order;
  }
  if (!ilu->factored) v->l = v->u = NULL; /* of a factorization that has failed */
  return TRSV_SUCCESS;
}

static TrsvError FillPair(TrsvIlu *ilu, const Triangles *v, TrsvMemory memory, int transposed, TrsvStream stream)
{
  TrsvPair      **pair  = &ilu->pair[memory][transposed];
  const TrsvError error = TrsvPairSetValues(*pair, v->l, v->u, v->L.memory, memory == TRSV_DEVICE ? stream : NULL);

  ilu->ready[memory][transposed] = !error;
  if (error) TrsvPairDestroy(pair); /* a pair without values would be solved with */
  return error;
}

TrsvError TrsvIluFill(TrsvIlu *ilu, const TrsvTriangles *factor, TrsvStream stream)
{
  for (int m = 0; m < 2; m++) {
    const TrsvMemory memory = (TrsvMemory)m;
    Triangles        v;
    TrsvError        error = TRSV_SUCCESS;

    if (!ilu->pair[m][0] && !ilu->pair[m][1]) continue;
    TrsvCall(GetTriangles(ilu, factor, memory, memory == TRSV_HOST || ilu->pair[m][1] || ilu->tuning, &v, stream));
    for (int t = 0; t < 2 && !error; t++)
      if (ilu->pair[m][t]) error = FillPair(ilu, &v, memory, t, stream);
    TrsvTrianglesDestroy(&v.copy);
    TrsvCall(error);
  }
  TrsvIluComplete(ilu);
  return TRSV_SUCCESS;
}

TrsvError TrsvIluPrepare(TrsvIlu *ilu, TrsvMemory memory, int transposed, const TrsvTriangles *factor,
                         TrsvStream stream)
{
  TrsvPair **pair = &ilu->pair[memory][transposed];
  Triangles  v;
  TrsvError  error;

  if (ilu->ready[memory][transposed]) return TRSV_SUCCESS;
  TrsvCall(TrsvIluBegin(ilu, memory, stream));
  error = GetTriangles(ilu, factor, memory, 1, &v, stream);
  if (!error && !*pair)
    error = TrsvPairCreate(&v.L, &v.U, v.row, v.column, transposed, memory, ilu->request.selection,
                           TrsvIluNamed(ilu, memory, 0), TrsvIluNamed(ilu, memory, 1), pair);
  if (!error && ((v.l && v.u) || !ilu->rows)) error = FillPair(ilu, &v, memory, transposed, stream);
  TrsvTrianglesDestroy(&v.copy);
  if (!error) TrsvIluComplete(ilu);
  return TrsvIluEnd(ilu, memory, error, stream);
}

TrsvError TrsvIluTune(TrsvIlu *ilu, TrsvMemory memory, int transposed, const TrsvTriangles *factor, double seconds,
                      TrsvStream stream)
{
  TrsvPair **pair = &ilu->pair[memory][transposed];
  Triangles  v;
  TrsvError  error;

  if (!ilu->ready[memory][transposed]) return TrsvFail(TRSV_ERR_ARGUMENT, "there are no plans with values to tune");
  if (factor && ilu->rows && !TrsvTrianglesHaveValues(factor))
    return TrsvFail(TRSV_ERR_ARGUMENT, "there are no values of L and U");
  TrsvCall(TrsvIluBegin(ilu, memory, stream));
  error = GetTriangles(ilu, factor, memory, 1, &v, stream);
  if (error) return TrsvIluEnd(ilu, memory, error, stream);
  error = TrsvPairTune(*pair, &v.L, &v.U, v.row, v.column, v.l, v.u, v.L.memory, TrsvIluNamed(ilu, memory, 0),
                       TrsvIluNamed(ilu, memory, 1), seconds, stream);
  TrsvTrianglesDestroy(&v.copy);
  if (error) TrsvPairDestroy(pair);
  ilu->ready[memory][transposed] = !error;
  ilu->tuning                    = 0;
  TrsvIluComplete(ilu);
  return TrsvIluEnd(ilu, memory, error, stream);
}

int TrsvIluIsReady(const TrsvIlu *ilu, TrsvMemory memory, int transposed) { return ilu->ready[memory][transposed]; }

TrsvError TrsvIluSolve(TrsvIlu *ilu, TrsvMemory memory, int transposed, TrsvPart part, const void *b, void *x,
                       TrsvStream stream)
{
  TrsvPair *pair = ilu->pair[memory][transposed];
  TrsvError error;

  if (!ilu->ready[memory][transposed])
    return TrsvFail(TRSV_ERR_ARGUMENT, "there are no values to solve with; set values first");
  if (pair->fused && (part == TRSV_FORWARD ? !x : part == TRSV_BACKWARD && !b))
    return TrsvFail(TRSV_ERR_ARGUMENT, "one launch does both solves; the solution between them is not stored here");
  if (memory == TRSV_DEVICE) TrsvCall(TrsvIluBegin(ilu, memory, stream));
  if (part == TRSV_SOLVE) error = TrsvPairSolve(pair, b, x, stream);
  else if (part == TRSV_FORWARD) error = TrsvPlanSolve(pair->forward.plan, b, x ? x : pair->work, stream);
  else error = TrsvPlanSolveNext(pair->backward.plan, b ? b : pair->work, x, stream);
  return memory == TRSV_DEVICE ? TrsvIluEnd(ilu, memory, error, stream) : error;
}

int TrsvIluIsOneLaunch(const TrsvIlu *ilu, TrsvMemory memory, int transposed)
{
  return ilu->pair[memory][transposed] && ilu->pair[memory][transposed]->fused;
}

/* A multiplication and a subtraction for each entry off the diagonal, and a division for each row of U. */
double TrsvIluFlops(const TrsvIlu *ilu, TrsvMemory memory, int transposed, TrsvPart part)
{
  const TrsvPair *pair  = ilu->pair[memory][transposed];
  double          flops = 0;

  if (!pair) return 0;
  const TrsvStatistics *first = &pair->forward.statistics, *second = &pair->backward.statistics;
  if (part & TRSV_FORWARD) flops += 2 * (double)(first->nnz - first->rows) + (transposed ? first->rows : 0);
  if (part & TRSV_BACKWARD) flops += 2 * (double)(second->nnz - second->rows) + (transposed ? 0 : second->rows);
  return flops;
}

TrsvError TrsvIluDownload(TrsvIlu *ilu, TrsvTriangles *t, TrsvStream stream)
{
  Triangles v;
  TrsvError error;

  memset(t, 0, sizeof(*t));
  if (!ilu->factor) return TrsvFail(TRSV_ERR_ARGUMENT, "the factor is not on the device");
  if (!ilu->factored) return TrsvFail(TRSV_ERR_ARGUMENT, "there are no values in the factor");
  TrsvCall(TrsvIluBegin(ilu, TRSV_DEVICE, stream));
  error = TrsvIluEnd(ilu, TRSV_DEVICE, GetTriangles(ilu, NULL, TRSV_HOST, 1, &v, stream), stream);
  if (!error && !v.l) error = TrsvFail(TRSV_ERR_ARGUMENT, "there are no values in the factor");
  if (error) TrsvTrianglesDestroy(&v.copy);
  else *t = v.copy;
  return error;
}

void TrsvTrianglesDestroy(TrsvTriangles *t)
{
  TrsvFree(TRSV_HOST, t->memory);
  t->memory = NULL;
}

TrsvError TrsvTrianglesAnalyze(const TrsvTriangles *t, TrsvPrecision precision, TrsvStatistics *L, TrsvStatistics *U)
{
  TrsvAnalysis *lower, *upper;
  Triangles     v;

  ViewHostTriangles(t, precision, &v);
  TrsvCall(TrsvAnalyzeBoth(&v.L, &v.U, &lower, &upper));
  *L = lower->statistics;
  *U = upper->statistics;
  TrsvAnalysisDestroy(&lower);
  TrsvAnalysisDestroy(&upper);
  return TRSV_SUCCESS;
}
