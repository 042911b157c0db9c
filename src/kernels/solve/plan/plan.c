/*
   plan.c: the functions that are common to the plans of all algorithms.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/plan/plan.h"

/* Runs the algorithm's analyze and finish on copies of their inputs, in the memory that the algorithm expects. */
static TrsvError AnalyzeCopies(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvMemory      to     = plan->algorithm->pattern;
  const TrsvPermutation given  = plan->given;
  const size_t          rows   = (size_t)A->rows, entries = (size_t)TrsvStoredEntries(A, analysis);
  const struct {
    const int *from;
    size_t     count;
  } input[] = {
    {A->offsets, rows + 1}, {A->columns, entries}, {analysis->order, rows},
    {analysis->levels, (size_t)analysis->statistics.levels + 1},
    {source, entries}, {given.b_index, rows}, {given.x_index, rows},
  };
  int         *copy[7] = {NULL};
  TrsvMatrix   M       = *A;
  TrsvAnalysis copied  = *analysis;
  TrsvError    error   = TRSV_SUCCESS;

  for (int i = 0; i < 7 && !error; i++)
    error = TrsvCopyNew(to, A->memory, input[i].from, sizeof(int) * input[i].count, &copy[i]);
  plan->given = (TrsvPermutation){copy[5], copy[6]};
  M.memory = copied.memory = to;
  M.offsets      = copy[0];
  M.columns      = copy[1];
  copied.heights = NULL;
  copied.order   = copy[2];
  copied.levels  = copy[3];
  if (!error) error = plan->algorithm->analyze(plan, &M, &copied, copy[4]);
  if (!error && plan->algorithm->finish) error = plan->algorithm->finish(plan, &M, &copied, copy[4]);
  for (int i = 0; i < 7; i++) TrsvFree(to, copy[i]);
  plan->given = given;
  return error;
}

/* Copies an index of b or x into the algorithm's memory and allocates the permuted vector. */
static TrsvError CopyIndex(TrsvPlan *plan, TrsvMemory from, const int *index, const int **kept, void **permuted)
{
  const TrsvMemory memory = plan->algorithm->memory;
  const size_t bytes = sizeof(int) * (size_t)plan->rows, vector = TrsvValueSize(plan->precision) * (size_t)plan->rows;

  if (!index) return TRSV_SUCCESS;
  TrsvCall(TrsvCopyNew(memory, from, index, bytes, kept));
  plan->bytes += bytes + vector;
  return TrsvAllocIn(memory, vector, permuted);
}

/* Keeps a copy of the permutation for Solve(), if the algorithm's kernels do not permute. */
static TrsvError KeepPermutation(TrsvPlan *plan, TrsvMemory from)
{
  const TrsvPermutation given = plan->given;

  plan->given = (TrsvPermutation){NULL, NULL};
  if (plan->algorithm->traits & TRSV_PERMUTES_IN_KERNEL) return TRSV_SUCCESS;
  TrsvCall(CopyIndex(plan, from, given.b_index, &plan->kept.b_index, &plan->permuted[0]));
  return CopyIndex(plan, from, given.x_index, &plan->kept.x_index, &plan->permuted[1]);
}

const char *TrsvAlgorithmName(const TrsvAlgorithm *a) { return a->name; }
TrsvMemory  TrsvAlgorithmMemory(const TrsvAlgorithm *a) { return a->memory; }

TrsvAlgorithmTexts TrsvAlgorithmDescribe(const TrsvAlgorithm *a)
{
  return (TrsvAlgorithmTexts){.summary = a->summary, .citation = a->citation};
}

static int TakesValues(const TrsvAlgorithm *a, TrsvPrecision precision)
{
  return !TrsvIsComplex(precision) || (a->traits & TRSV_TAKES_COMPLEX);
}

int TrsvAlgorithmRuns(const TrsvAlgorithm *a, TrsvPrecision precision)
{
  return TakesValues(a, precision) && a->shared_bytes <= TrsvDeviceGetLimits().shared_bytes;
}

TrsvError TrsvPlanBegin(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                        const TrsvPermutation *places, const TrsvAlgorithm *algorithm, int rank, TrsvPlan **plan)
{
  TrsvPlan *p;
  TrsvError error;

  *plan = NULL;
  if (rank && rank >= algorithm->choices)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "%s has no settings of rank %d", algorithm->name, rank);
  if (!TakesValues(algorithm, A->precision))
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s does not take complex values; name another, or auto",
                    algorithm->name);
  TrsvCall(TrsvAlloc(sizeof(*p), &p));
  p->algorithm = algorithm;
  p->precision = A->precision;
  p->rows      = A->rows;
  p->values    = values;
  p->rank      = rank;
  if (places) p->given = *places;
  error = (A->memory == algorithm->pattern ? algorithm->analyze : AnalyzeCopies)(p, A, analysis, source);
  if (error) TrsvPlanDestroy(&p);
  *plan = p;
  return error;
}

TrsvError TrsvPlanEnd(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, TrsvPlan **plan)
{
  const TrsvAlgorithm *algorithm = (*plan)->algorithm;
  TrsvError            error     = TRSV_SUCCESS;

  if (A->memory == algorithm->pattern && algorithm->finish) error = algorithm->finish(*plan, A, analysis, source);
  if (!error) error = KeepPermutation(*plan, A->memory);
  /* the set-up works in the current stream; another stream may solve */
  if (!error && algorithm->memory == TRSV_DEVICE) error = TrsvDeviceWait(NULL);
  if (error) TrsvPlanDestroy(plan);
  return error;
}

TrsvError TrsvPlanCreate(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values,
                         const TrsvPermutation *places, const TrsvAlgorithm *algorithm, int rank, TrsvPlan **plan)
{
  TrsvCall(TrsvPlanBegin(A, analysis, source, values, places, algorithm, rank, plan));
  return TrsvPlanEnd(A, analysis, source, plan);
}

TrsvError TrsvPlanSetValues(TrsvPlan *plan, const void *values, TrsvMemory memory, TrsvStream stream)
{
  const TrsvAlgorithm *a      = plan->algorithm;
  const size_t         bytes  = TrsvValueSize(plan->precision) * (size_t)plan->values;
  void                *staged = NULL;
  TrsvError            error  = TRSV_SUCCESS;

  if (!plan->rows) return TRSV_SUCCESS;
  if (memory == TRSV_DEVICE && a->memory == TRSV_HOST)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on the host and takes no values from a device", a->name);
  plan->fresh  = 1;
  plan->filled = 0;
  if (memory != a->memory) {
    TrsvCall(TrsvScratchAlloc(bytes, &staged, stream));
    error = TrsvDeviceUpload(staged, values, bytes, stream);
  }
  if (!error) error = a->set_values(plan, staged ? staged : values, stream);
  if (staged) TrsvScratchFree(staged, stream);
  plan->filled = !error;
  return error;
}

/* Gathers, to[i] = from[index[i]], or scatters, to[index[i]] = from[i]. */
static TrsvError PermuteVector(const TrsvPlan *plan, const int *index, int scatter, const void *from, void *to,
                               TrsvStream stream)
{
  if (plan->algorithm->memory == TRSV_DEVICE)
    return TrsvDevicePermute(plan->rows, index, scatter, plan->precision, from, to, stream);
  for (int i = 0; i < plan->rows; i++) {
    const size_t size = TrsvValueSize(plan->precision), at = (size_t)(scatter ? i : index[i]),
                 into = (size_t)(scatter ? index[i] : i);

    memcpy((char *)to + size * into, (const char *)from + size * at, size);
  }
  return TRSV_SUCCESS;
}

static TrsvError Solve(TrsvPlan *plan, const void *b, void *x, int early, TrsvStream stream)
{
  const TrsvPermutation kept = plan->kept;

  if (!plan->rows) return TRSV_SUCCESS;
  if (kept.b_index) TrsvCall(PermuteVector(plan, kept.b_index, 0, b, plan->permuted[0], stream));
  plan->early = early && !kept.b_index;
  TrsvCall(plan->algorithm->solve(plan, kept.b_index ? plan->permuted[0] : b, kept.x_index ? plan->permuted[1] : x,
                                  stream));
  plan->fresh = 0;
  return kept.x_index ? PermuteVector(plan, kept.x_index, 1, plan->permuted[1], x, stream) : TRSV_SUCCESS;
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
  return plan && plan->rows && plan->algorithm->pivots && plan->algorithm->pivots->is_possible(plan);
}

void TrsvPlanDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  if (size) *line = 0;
  if (plan->algorithm->describe && plan->rows) plan->algorithm->describe(plan, line, size);
}

void TrsvPlanDestroy(TrsvPlan **plan)
{
  if (!*plan) return;
  (*plan)->algorithm->destroy(*plan);
  TrsvFree((*plan)->algorithm->memory, (void *)(*plan)->kept.b_index);
  TrsvFree((*plan)->algorithm->memory, (void *)(*plan)->kept.x_index);
  for (int i = 0; i < 2; i++) TrsvFree((*plan)->algorithm->memory, (*plan)->permuted[i]);
  free(*plan);
  *plan = NULL;
}
