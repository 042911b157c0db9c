/*
   Plans: what is the same for every algorithm.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/plan/plan.h"

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

/* analyze, with copies of everything in the memory where the algorithm wants it. */
static TrsvError AnalyzeMoved(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvMemory to       = plan->algorithm->pattern;
  const TrsvPermutation given    = plan->places;
  int             *copy[7]  = {NULL, NULL, NULL, NULL, NULL, NULL, NULL}, entries = TrsvStored(A, analysis);
  TrsvMatrix       M        = *A;
  TrsvAnalysis     moved    = *analysis;
  TrsvError        error;

  error = Move(to, (size_t)A->rows + 1, A->offsets, &copy[0]);
  if (!error) error = Move(to, (size_t)entries, A->columns, &copy[1]);
  if (!error) error = Move(to, (size_t)A->rows, analysis->order, &copy[2]);
  if (!error) error = Move(to, (size_t)analysis->statistics.levels + 1, analysis->levels, &copy[3]);
  if (!error && source) error = Move(to, (size_t)entries, source, &copy[4]);
  if (!error && given.b_index) error = Move(to, (size_t)A->rows, given.b_index, &copy[5]);
  if (!error && given.x_index) error = Move(to, (size_t)A->rows, given.x_index, &copy[6]);
  plan->places = (TrsvPermutation){copy[5], copy[6]};
  M.memory = moved.memory = to;
  M.offsets    = copy[0];
  M.columns    = copy[1];
  moved.heights = NULL;
  moved.order  = copy[2];
  moved.levels = copy[3];
  if (!error) error = plan->algorithm->analyze(plan, &M, &moved, copy[4]);
  for (int i = 0; i < 7; i++) TrsvFree(to, copy[i]);
  plan->places = given;
  return error;
}

/* A copy of places for the passes before or after a solve, and room for what they make. */
static TrsvError Keep(TrsvPlan *plan, TrsvMemory there, const int *given, const int **kept, void **permuted)
{
  const TrsvMemory memory = plan->algorithm->memory;
  const size_t index = sizeof(int) * (size_t)plan->rows, vector = TrsvValueSize(plan->precision) * (size_t)plan->rows;
  int             *copy  = NULL;
  TrsvError        error;

  *kept = NULL;
  if (!given) return TRSV_SUCCESS;
  if (memory != there) error = Move(memory, (size_t)plan->rows, given, &copy);
  else {
    error = TrsvAllocIn(memory, index, &copy);
    if (!error && memory == TRSV_HOST) memcpy(copy, given, index);
    else if (!error) error = TrsvDeviceCopy(copy, given, index, NULL);
  }
  *kept = copy;
  TrsvCall(error);
  plan->bytes += index + vector;
  return TrsvAllocIn(memory, vector, permuted);
}

static TrsvError KeepPlaces(TrsvPlan *plan, TrsvMemory there)
{
  const TrsvPermutation given = plan->places;

  plan->places = (TrsvPermutation){NULL, NULL};
  if (plan->algorithm->traits & TRSV_PERMUTES_IN_KERNEL) return TRSV_SUCCESS;
  TrsvCall(Keep(plan, there, given.b_index, &plan->places.b_index, &plan->permuted[0]));
  return Keep(plan, there, given.x_index, &plan->places.x_index, &plan->permuted[1]);
}

const char *TrsvAlgorithmName(const TrsvAlgorithm *a) { return a->name; }
const char *TrsvAlgorithmCitation(const TrsvAlgorithm *a) { return a->citation; }
TrsvMemory  TrsvAlgorithmMemory(const TrsvAlgorithm *a) { return a->memory; }
int         TrsvAlgorithmBitsVary(const TrsvAlgorithm *a) { return (a->traits & TRSV_BITS_VARY) != 0; }

int TrsvAlgorithmRuns(const TrsvAlgorithm *a)
{
  return !a->shared_bytes || TrsvDeviceSupportsClusters(a->shared_bytes);
}

TrsvError TrsvPlanCreate(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                         const TrsvAlgorithm *algorithm, TrsvPlan **plan)
{
  return TrsvPlanCreatePlaced(A, analysis, source, values, NULL, algorithm, 0, plan);
}

TrsvError TrsvPlanCreatePlaced(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                               const TrsvPermutation *places, const TrsvAlgorithm *algorithm, int rank, TrsvPlan **plan)
{
  TrsvPlan *p;
  TrsvError error;

  *plan = NULL;
  if (rank && rank >= algorithm->choices)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "%s: there are no settings of rank %d", algorithm->name, rank);
  p = calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a plan");
  p->algorithm = algorithm;
  p->precision = A->precision;
  p->rows      = A->rows;
  p->values    = values;
  p->rank      = rank;
  if (places) p->places = *places;
  error        = (A->memory == algorithm->pattern ? algorithm->analyze : AnalyzeMoved)(p, A, analysis, source);
  if (!error) error = KeepPlaces(p, A->memory);
  else p->places = (TrsvPermutation){NULL, NULL};
  /* what analyze asked of the default stream must be done before another stream solves */
  if (!error && algorithm->memory == TRSV_DEVICE) error = TrsvDeviceSynchronize();
  if (error) TrsvPlanDestroy(&p);
  *plan = p;
  return error;
}

static TrsvError Fill(TrsvPlan *plan, const void *values, TrsvMemory memory, TrsvStream stream)
{
  const TrsvAlgorithm *a = plan->algorithm;
  void                *staged;
  TrsvError            error;

  plan->fresh  = 1;
  plan->filled = 0; /* until all of them are there */
  if (memory == a->memory) error = a->set_values(plan, values, stream);
  else {
    TrsvCall(TrsvScratchUpload(values, TrsvValueSize(plan->precision) * (size_t)plan->values, &staged, stream));
    error = a->set_values(plan, staged, stream);
    TrsvScratchFree(staged, stream);
  }
  plan->filled = !error;
  return error;
}

TrsvError TrsvPlanSetValues(TrsvPlan *plan, const void *values, TrsvMemory memory, TrsvStream stream)
{
  const TrsvAlgorithm *a = plan->algorithm;

  if (!plan->rows) return TRSV_SUCCESS;
  if (memory == TRSV_DEVICE && a->memory == TRSV_HOST)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on the host and takes no values from a device", a->name);
  return Fill(plan, values, memory, stream);
}

/* to[i] = from[index[i]], or to[index[i]] = from[i] where scatter */
static TrsvError Permute(const TrsvPlan *plan, const int *index, int scatter, const void *from, void *to,
                         TrsvStream stream)
{
  if (plan->algorithm->memory == TRSV_DEVICE)
    return TrsvDevicePermute(plan->rows, index, scatter, plan->precision, from, to, stream);
  for (int i = 0; i < plan->rows; i++) {
    const int at = scatter ? i : index[i], into = scatter ? index[i] : i;

    if (plan->precision == TRSV_FLOAT) ((float *)to)[into] = ((const float *)from)[at];
    else ((double *)to)[into] = ((const double *)from)[at];
  }
  return TRSV_SUCCESS;
}

static TrsvError Solve(TrsvPlan *plan, const void *b, void *x, int early, TrsvStream stream)
{
  const TrsvPermutation places = plan->places;

  if (!plan->rows) return TRSV_SUCCESS;
  if (places.b_index) TrsvCall(Permute(plan, places.b_index, 0, b, plan->permuted[0], stream));
  plan->early = early && !places.b_index;
  TrsvCall(plan->algorithm->solve(plan, places.b_index ? plan->permuted[0] : b, places.x_index ? plan->permuted[1] : x,
                                  stream));
  plan->fresh = 0;
  return places.x_index ? Permute(plan, places.x_index, 1, plan->permuted[1], x, stream) : TRSV_SUCCESS;
}

TrsvError TrsvPlanSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  return Solve(plan, b, x, 0, stream);
}

TrsvError TrsvPlanSolveNext(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  return Solve(plan, b, x, !plan->fresh, stream);
}

int TrsvPlanFindsPivots(const TrsvPlan *plan)
{
  return plan && plan->rows && plan->algorithm->pivots && plan->algorithm->pivots->can(plan);
}

TrsvError TrsvPlanReciprocals(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  return plan->algorithm->pivots->reciprocals(plan, b, x, stream);
}

TrsvError TrsvPlanReciprocalsOver(TrsvPlan *plan, TrsvStream stream)
{
  return plan->algorithm->pivots->over(plan, stream);
}

TrsvError TrsvPlanGetValues(const TrsvPlan *plan, void *values, TrsvStream stream)
{
  return plan->algorithm->pivots->get_values(plan, values, stream);
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
  TrsvFree((*plan)->algorithm->memory, (void *)(*plan)->places.b_index);
  TrsvFree((*plan)->algorithm->memory, (void *)(*plan)->places.x_index);
  for (int i = 0; i < 2; i++) TrsvFree((*plan)->algorithm->memory, (*plan)->permuted[i]);
  free(*plan);
  *plan = NULL;
}
