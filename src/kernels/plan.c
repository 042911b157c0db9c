/*
   Plans: what is the same for every algorithm.
*/
#include <stdlib.h>
#include "impl.h"

TrsvError TrsvEntries(const TrsvMatrix *A, int *entries)
{
  if (A->memory == TRSV_DEVICE) return TrsvDeviceDownload(entries, A->offsets + A->rows, sizeof(int), NULL);
  *entries = A->offsets[A->rows];
  return TRSV_SUCCESS;
}

void TrsvFree(TrsvMemory memory, void *pointer)
{
  if (memory == TRSV_HOST) free(pointer);
  else TrsvDeviceFree(pointer);
}

/* A copy of an array in the other memory. */
static TrsvError Move(TrsvMemory to, size_t count, const int *from, int **copy)
{
  const size_t bytes = sizeof(int) * count;

  if (to == TRSV_HOST) {
    TrsvCall(TrsvAlloc(bytes, copy));
    return TrsvDeviceDownload(*copy, from, bytes, NULL);
  }
  TrsvCall(TrsvDeviceAlloc(bytes, copy));
  return TrsvDeviceUpload(*copy, from, bytes, NULL);
}

/* analyse, with copies of everything in the memory where the algorithm wants it. */
static TrsvError AnalyseMoved(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvMemory to       = plan->algorithm->pattern;
  int             *copy[5]  = {NULL, NULL, NULL, NULL, NULL}, entries;
  TrsvMatrix       M        = *A;
  TrsvAnalysis     moved    = *analysis;
  TrsvError        error;

  TrsvCall(TrsvEntries(A, &entries));
  error = Move(to, (size_t)A->rows + 1, A->offsets, &copy[0]);
  if (!error) error = Move(to, (size_t)entries, A->columns, &copy[1]);
  if (!error) error = Move(to, (size_t)A->rows, analysis->order, &copy[2]);
  if (!error) error = Move(to, (size_t)analysis->statistics.levels + 1, analysis->levels, &copy[3]);
  if (!error && source) error = Move(to, (size_t)entries, source, &copy[4]);
  M.memory = moved.memory = to;
  M.offsets    = copy[0];
  M.columns    = copy[1];
  moved.order  = copy[2];
  moved.levels = copy[3];
  if (!error) error = plan->algorithm->analyse(plan, &M, &moved, copy[4]);
  for (int i = 0; i < 5; i++) TrsvFree(to, copy[i]);
  return error;
}

TrsvError TrsvPlanCreate(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values, const TrsvAlgorithm *algorithm, const char *settings, TrsvPlan **plan)
{
  TrsvPlan *p;
  TrsvError error;
  int       rank = 0;

  *plan = NULL;
  TrsvCall(TrsvAlgorithmCheck(algorithm, settings));
  (void)TrsvSettingGet(algorithm, settings, "rank", &rank);
  if (rank && rank >= algorithm->settings) return TrsvFail(TRSV_ERR_UNSUPPORTED, "%s: there are no settings of rank %d", algorithm->name, rank);
  p = calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a plan");
  p->algorithm = algorithm;
  p->precision = A->precision;
  p->rows      = A->rows;
  p->values    = values;
  p->rank      = rank;
  p->settings  = settings;
  error        = (A->memory == algorithm->pattern ? algorithm->analyse : AnalyseMoved)(p, A, analysis, source);
  p->settings = NULL;
  /* what analyse asked of the default stream must be done before another stream solves */
  if (!error && algorithm->memory == TRSV_DEVICE) error = TrsvDeviceFinish();
  if (error) TrsvPlanDestroy(&p);
  *plan = p;
  return error;
}

TrsvError TrsvPlanSetValues(TrsvPlan *plan, const void *values, TrsvMemory memory, TrsvStream stream)
{
  const TrsvAlgorithm *a = plan->algorithm;
  void                *staged;
  TrsvError            error;

  if (!plan->rows) return TRSV_SUCCESS;
  plan->fresh = 1;
  if (memory == a->memory) return a->set_values(plan, values, stream);
  if (memory == TRSV_DEVICE) return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on the host and takes no values from a device", a->name);
  TrsvCall(TrsvDeviceStage(values, TrsvValueSize(plan->precision) * (size_t)plan->values, &staged, stream));
  error = a->set_values(plan, staged, stream);
  TrsvDeviceUnstage(staged, stream);
  return error;
}

TrsvError TrsvPlanSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  if (!plan->rows) return TRSV_SUCCESS;
  plan->early = 0;
  TrsvCall(plan->algorithm->solve(plan, b, x, stream));
  plan->fresh = 0;
  return TRSV_SUCCESS;
}

TrsvError TrsvPlanSolveNext(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  if (!plan->rows) return TRSV_SUCCESS;
  plan->early = !plan->fresh;
  TrsvCall(plan->algorithm->solve(plan, b, x, stream));
  plan->fresh = 0;
  return TRSV_SUCCESS;
}

const TrsvAlgorithm *TrsvPlanAlgorithm(const TrsvPlan *plan) { return plan->algorithm; }

void TrsvPlanDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  if (size) *line = 0;
  if (plan->algorithm->describe && plan->rows) plan->algorithm->describe(plan, line, size);
}

size_t TrsvPlanBytes(const TrsvPlan *plan) { return plan->bytes; }

void TrsvPlanDestroy(TrsvPlan **plan)
{
  if (!*plan) return;
  (*plan)->algorithm->destroy(*plan);
  free(*plan);
  *plan = NULL;
}
