/*
   ag: one kernel family that runs any scheme of AG-SpTRSV.

   Mapping: a warp is ng subwarps, each with a node: consecutive rows. If a node's rows have more than sw_rnnz entries
     in the mean, all lanes of a subwarp solve one row after another, of which lane l has entries l, l + size, ...; else
     lane l solves rows l, l + size, ... If a task has enough entries, and they fit, all lanes first read them into the
     warp's shared memory.
   Memory order: a solution is one word that is its own flag; nothing else crosses warps (sync.cuh). __syncwarp orders
     what lanes read together. A launch without waits reads what earlier launches have written.
   Why it ends: rows depend on rows of smaller tasks, or on earlier rows of their own node. Tasks that the hardware
     schedules: smaller tasks have smaller tickets, or their warp is in the same block, so they have started. Tasks in
     lists: all blocks are resident, and the smallest task that is not done is the next of its list. In each turn every
     lane of a warp polls and stores if it can, and the smallest unsolved row has all its values. By induction every
     wait ends. The spin limit bounds it if memory fails.
   Same bits: a row is always summed in the same way: by one lane in the order of its entries; or by lanes, each in the
     order of its entries, and a fixed tree.
   Source: Hu, Sun, Li, Sun: AG-SpTRSV: An Automatic Framework to Optimize Sparse Triangular Solve on GPUs (ACM TACO
     21(4), 2024): the code template of Section 4.2 here, transformation and scheduling (4.3, 4.4) in ag_plan.c, schemes
     in ag_scheme.c, the choice among them (4.5) in ag_model.c. Changes: the value is its own flag, in two halves that
     launches alternate (no flag array, no fence, no reset), and rows without dependents have no flag; the diagonal's
     reciprocal is computed when values are set, earlier than the paper's early division; four entries of a row are
     polled together; lists of tasks run in a cooperative launch, which guarantees that all blocks are resident;
     otherwise tickets. */
#include <stdlib.h>
#include <string.h>
#include "device/setup.cuh"
#include "papers/ag/ag_model.h"
#include "papers/ag/ag_task.cuh"
#include "papers/settings.h"

template <class T, bool WAIT> static __global__ void __launch_bounds__(1024)
  ag_solve(const AgView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, turn, 2);
  TRSV_SHARED_DYNAMIC(buffer);

  if (threadIdx.x == 0) turn[0] = trsv_ticket(A.sync, gridDim.x, &turn[1]);
  __syncthreads();
  const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, warps = (int)blockDim.x / 32,
            worker = (int)turn[0] * warps + warp;
  if (worker >= A.workers) return;

  T *const  now = A.words + (turn[1] ? A.rows : 0), *const then = A.words + (turn[1] ? 0 : A.rows);
  T *const  values = (T *)buffer + warp * AG_BUFFER;
  int *const columns = (int *)((T *)buffer + warps * AG_BUFFER) + warp * AG_BUFFER;
  const int end = A.begin ? A.begin[worker + 1] : worker + 1;

  for (int t = A.begin ? A.begin[worker] : worker; t < end; t++) {
    if (A.begin && lane == 0 && t % 16 == 0) trsv_note_progress(A.sync);
    ag_task<T, WAIT>(A, A.task + ((size_t)t << A.log), lane, now, then, b, x, columns, values);
  }
}

/* One thread for each value and each diagonal. */
template <class T> static __global__ void ag_gather(long off, int rows, const int *source, const T *from, T *values,
                                                    T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < off) values[k] = from[source[k]];
  else if (inverse && k < off + rows) inverse[k - off] = 1 / from[source[k]];
}

/* Resets words and tickets to their state before the first solve. */
static TrsvError ResetWords(const TrsvPlan *plan, Ag *a, TrsvStream stream)
{
  TrsvCall(TrsvDeviceClear(a->tickets, sizeof(unsigned) * (size_t)a->launches, stream));
  return TrsvClearWords(plan->precision, 2 * (size_t)a->rows, a->words, NULL, stream);
}

static TrsvError UploadPlan(TrsvPlan *plan, Ag *a, AgPlan *h, bool stored)
{
  const size_t rows = (size_t)h->rows, off = (size_t)h->off, size = TrsvValueSize(plan->precision), word = sizeof(int);

  TrsvCall(TrsvArenaAllocate(
    TrsvDeviceAlloc,
    [&](TrsvArena &arena) {
      arena.take(rows + 1, a->offsets), arena.take(off, a->columns), arena.take(rows, a->order);
      arena.take(off + rows, a->source), arena.take((size_t)h->nodes + 1, a->node);
      arena.take((size_t)h->tasks * (size_t)a->scheme.ng, a->task), arena.take((size_t)h->begins, a->begin);
      arena.take(off, a->values, size), arena.take(2 * rows, a->words, size);
      arena.take((size_t)h->launches, a->tickets);
      if (stored) arena.take(rows, a->inverse, size);
    },
    &a->memory, &plan->bytes));
  TrsvCall(TrsvSyncCreate(&a->sync));
  a->rows      = h->rows;
  a->off       = h->off;
  a->launches  = h->launches;
  a->collected = h->collected;
  a->launch    = h->launch;
  h->launch    = NULL;
  if (!h->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceUpload(a->offsets, h->offsets, word * (rows + 1), NULL));
  TrsvCall(TrsvDeviceUpload(a->columns, h->columns, word * (size_t)h->off, NULL));
  TrsvCall(TrsvDeviceUpload(a->order, h->order, word * rows, NULL));
  TrsvCall(TrsvDeviceUpload(a->source, h->source, word * ((size_t)h->off + rows), NULL));
  TrsvCall(TrsvDeviceUpload(a->node, h->node, word * ((size_t)h->nodes + 1), NULL));
  TrsvCall(TrsvDeviceUpload(a->task, h->task, word * (size_t)h->tasks * (size_t)a->scheme.ng, NULL));
  if (h->begins) TrsvCall(TrsvDeviceUpload(a->begin, h->begin, word * (size_t)h->begins, NULL));
  return ResetWords(plan, a, NULL);
}

enum {
  LAUNCHES_MAX = 65536 /* a solve then takes about 0.1 s */
};

static const TrsvSetting settings[] = {{"scheme", TrsvAgWords, TrsvAgParse}, {NULL, NULL, NULL}};

static TrsvError AgAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  auto      w32 = ag_solve<float, true>, n32 = ag_solve<float, false>;
  auto      w64 = ag_solve<double, true>, n64 = ag_solve<double, false>;
  Ag       *a;
  AgPlan    h;
  TrsvError error;
  int       multiprocessors;

  TrsvCall(TrsvAlloc(sizeof(*a), &plan->data));
  a = (Ag *)plan->data;
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvSettingsCheck(plan->algorithm->name, settings));
  if (!TrsvSettingsGet(settings, "scheme", &a->scheme)) TrsvCall(TrsvAgChoose(A, analysis, 0, &a->scheme));
  TrsvCall(TrsvAgPlan(A, analysis, source, &a->scheme, multiprocessors, &h));
  error = h.launches > LAUNCHES_MAX
            ? TrsvFail(TRSV_ERR_UNSUPPORTED, "ag: the scheme needs %d launches for each solve; the limit is %d",
                       h.launches, LAUNCHES_MAX)
            : UploadPlan(plan, a, &h, A->diagonal == TRSV_DIAGONAL_STORED);
  TrsvAgPlanFree(&h);
  if (!error) error = TrsvDeviceSetMaxShared(plan->precision == TRSV_FLOAT ? (const void *)w32 : (const void *)w64);
  return error ? error : TrsvDeviceSetMaxShared(plan->precision == TRSV_FLOAT ? (const void *)n32 : (const void *)n64);
}

template <class T> static TrsvError GatherValues(const Ag *a, const void *values, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks((long)a->off + (a->inverse ? a->rows : 0), 256);

  if (!grid) return TRSV_SUCCESS;
  return TrsvLaunch(ag_gather<T>, grid, 256, 0, stream, (long)a->off, a->rows, a->source, (const T *)values,
                    (T *)a->values, (T *)a->inverse);
}

static TrsvError AgSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  return TRSV_BY_REAL_PRECISION(plan->precision, GatherValues)((const Ag *)plan->data, values, stream);
}

template <class T> static TrsvError Launch(const Ag *a, const void *b, void *x, TrsvStream stream)
{
  auto           wait = ag_solve<T, true>, go = ag_solve<T, false>;
  const unsigned block  = 32 * (unsigned)a->scheme.nw;
  const size_t   shared = a->collected ? (sizeof(T) + sizeof(int)) * AG_BUFFER * (size_t)a->scheme.nw : 0;

  for (int l = 0; l < a->launches; l++) {
    const AgView<T> view(a, &a->launch[l], l);
    const unsigned  grid = ((unsigned)view.workers * 32 + block - 1) / block;

    if (!a->launch[l].wait) TRSV_LAUNCH(go, grid, block, shared, stream, view, (const T *)b, (T *)x);
    else if (view.begin) TRSV_LAUNCH_TOGETHER(wait, grid, block, shared, stream, view, (const T *)b, (T *)x);
    else TRSV_LAUNCH(wait, grid, block, shared, stream, view, (const T *)b, (T *)x);
    TrsvCall(TrsvDeviceCheckLaunch("ag_solve"));
  }
  return TRSV_SUCCESS;
}

static TrsvError AgSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Ag *a = (Ag *)plan->data;

  TrsvCall(TrsvSyncStart(&a->sync, stream));
  if (a->torn) TrsvCall(ResetWords(plan, a, stream));
  a->torn = 1;
  TrsvCall(TRSV_BY_REAL_PRECISION(plan->precision, Launch)(a, b, x, stream));
  a->torn = 0;
  return TRSV_SUCCESS;
}

static void AgDestroy(TrsvPlan *plan)
{
  Ag *a = (Ag *)plan->data;

  if (!a) return;
  TrsvDeviceFree(a->memory);
  TrsvSyncDestroy(&a->sync);
  free(a->launch);
  free(a);
}

static void AgDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const size_t n = strlen("scheme=");

  if (size <= n) return;
  memcpy(line, "scheme=", n);
  TrsvAgPrint(&((const Ag *)plan->data)->scheme, line + n, size - n);
}

TRSV_ALGORITHM(TrsvAg) = {
  .name       = "ag",
  .summary    = "any scheme of the space that AG-SpTRSV searches",
  .source     = "AG-SpTRSV (ACM TACO 21(4), 2024)",
  .citation   =
    "@article{AGSpTRSV,\n"
    "  author  = {Zhengding Hu and Jingwei Sun and Zhongyang Li and Guangzhong Sun},\n"
    "  title   = {{AG-SpTRSV}: An Automatic Framework to Optimize Sparse Triangular Solve on {GPU}s},\n"
    "  journal = {ACM Transactions on Architecture and Code Optimization},\n"
    "  volume  = {21},\n"
    "  number  = {4},\n"
    "  year    = {2024}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = AgAnalyze,
  .set_values = AgSetValues,
  .solve      = AgSolve,
  .destroy    = AgDestroy,
  .describe   = AgDescribe,
};
