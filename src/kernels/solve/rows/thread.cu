/*
   thread: one thread for each row, with recomputation if level sets are narrow. Mapping, memory order, why it ends,
   same bits, source: thread_solve.cuh. A pair of plans without recomputation has one launch.

   With recomputation, rows of every second level set recompute their dependencies in the previous level set.
   TrsvModelRecompute tells for which triangles.
*/
#include <math.h>
#include <stdio.h>
#include "device/setup.cuh"
#include "solve/model/model.h"
#include "solve/rows/thread_solve.cuh"

THREAD_INSTANCES(extern, TrsvComplex<float>)
THREAD_INSTANCES(extern, TrsvComplex<double>)

/* Marks the columns that the rows of level sets 3, 5, 7, ... recompute: dependencies in level sets 2, 4, 6, ... Rows of
   level set 1 wait for nothing, so recomputing them would save no hop. One thread for each position. */
static __global__ void thread_mark(int rows, const unsigned *level, int *columns)
{
  const int p = trsv_index();

  if (p >= rows || level[p] % 2 == 0) return; /* levels count from 1 */
  for (int k = QUAD * p; k < QUAD * (p + 1); k++)
    if (columns[k] >= 0 && level[columns[k]] + 1 == level[p]) columns[k] = -2 - columns[k];
}

/* Limits the blocks on a multiprocessor to those of so many level sets, and to 4. So many hide the loads before a wait;
   polls of more rows would saturate L2. */
static TrsvError LimitBlocks(TrsvLevelCSR *o, const void *kernel, double level_mean)
{
  const int blocks_max = 4, ahead = o->recomputes ? LEVELS_AHEAD_RECOMPUTED : LEVELS_AHEAD;
  int       multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = ahead * level_mean / ((double)BLOCK * multiprocessors);
  return TrsvDeviceLimitBlocks(kernel, blocks < 1 ? 1 : blocks > blocks_max ? blocks_max : (int)blocks,
                               &o->shared_bytes);
}

TrsvError TrsvThreadAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                            int recomputes)
{
  unsigned       *level = NULL;
  const TrsvError error = TrsvLevelCSRAnalyze(plan, A, analysis, source, QUAD, 1, recomputes ? &level : NULL);
  TrsvLevelCSR   *o     = (TrsvLevelCSR *)plan->data;
  TrsvScratch     scratch;

  scratch.memory = level;
  TrsvCall(error);
  if (recomputes) TrsvCall(TrsvLaunchEach(thread_mark, (size_t)o->rows, o->rows, (const unsigned *)level, o->columns));
  o->recomputes = recomputes;
  return LimitBlocks(o, TRSV_BY_PRECISION(plan->precision, ThreadKernel)(o), analysis->statistics.level_mean);
}

static TrsvError ThreadSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  TrsvCall(TrsvSyncStart(&o->sync, stream));
  return TRSV_BY_PRECISION(plan->precision, ThreadLaunch)(o, plan->early, b, x, stream);
}

static void ThreadDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  if (((const TrsvLevelCSR *)plan->data)->recomputes) (void)snprintf(line, size, "every second level set recomputed");
}

int TrsvThreadRecomputes(const TrsvStatistics *s, TrsvPrecision precision)
{
  return isfinite(TrsvModelRecompute(s, precision));
}

static double ThreadPredict(const TrsvStatistics *s, TrsvPrecision precision)
{
  return TrsvThreadRecomputes(s, precision) ? TrsvModelRecompute(s, precision) : TrsvModelThread(s, precision);
}

/* Rank 0 is the form for this triangle, rank 1 the other. */
static TrsvError ThreadAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int faster = TrsvThreadRecomputes(&analysis->statistics, plan->precision);

  return TrsvThreadAnalyze(plan, A, analysis, source, plan->rank ? !faster : faster);
}

static TrsvError ClearForwardSolution(TrsvFused *pair, TrsvStream stream)
{
  TrsvThreadPair *p = (TrsvThreadPair *)pair;

  return TrsvClearWords(p->precision, (size_t)p->rows, p->forward_solution, NULL, stream);
}

static TrsvError PreparePair(TrsvThreadPair *p)
{
  TrsvCall(TrsvSyncCreate(&p->sync));
  TrsvCall(ClearForwardSolution((TrsvFused *)p, NULL));
  TrsvCall(TrsvDeviceSetMaxShared(TRSV_BY_PRECISION(p->precision, ThreadKernel)(NULL)));
  return TrsvDeviceSynchronize();
}

static void DestroyPair(TrsvFused **pair)
{
  TrsvThreadPair *p = (TrsvThreadPair *)*pair;

  if (!p) return;
  TrsvSyncDestroy(&p->sync);
  free(p);
  *pair = NULL;
}

/* Creates no pair if a plan recomputes: one launch would not be faster. */
static TrsvError CreatePair(const TrsvPlan *forward, const TrsvPlan *backward, void *forward_solution, TrsvFused **pair)
{
  const TrsvLevelCSR *const f = (const TrsvLevelCSR *)forward->data, *const g = (const TrsvLevelCSR *)backward->data;
  TrsvThreadPair *p;
  TrsvError       error;

  *pair = NULL;
  if (f->recomputes || g->recomputes) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(*p), &p));
  *pair               = (TrsvFused *)p;
  p->precision        = forward->precision;
  p->rows             = forward->rows;
  p->forward_solution = forward_solution;
  p->forward          = f;
  p->backward         = g;
  p->shared_bytes     = min(f->shared_bytes, g->shared_bytes);
  error               = PreparePair(p);
  if (error) DestroyPair(pair);
  return error;
}

static TrsvError SolvePair(TrsvFused *pair, const void *b, void *x, TrsvStream stream)
{
  TrsvThreadPair *p     = (TrsvThreadPair *)pair;
  const TrsvError error = TrsvSyncStart(&p->sync, stream);

  if (!error) return TRSV_BY_PRECISION(p->precision, ThreadLaunchPair)(p, b, x, stream);
  /* The launch that gave up may have left values in words. If these are not cleared now, the next call does it. */
  if (!*p->sync.abort_host && ClearForwardSolution(pair, stream)) *p->sync.abort_host = 1;
  return error;
}

static const TrsvPairLaunch pair_launch = {CreatePair, ClearForwardSolution, SolvePair, DestroyPair};

TRSV_ALGORITHM(TrsvThread) = {
  .name       = "thread",
  .summary    = "a thread for each row, in the order of level sets; narrow level sets are recomputed",
  .source     = "CapelliniSpTRSV (ICPP 2020), Algorithm 5",
  .citation   = TRSV_CITE_CAPELLINI,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = ThreadAnalyze,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = ThreadSolve,
  .destroy    = TrsvLevelCSRDestroy,
  .predict    = ThreadPredict,
  .choices    = 2,
  .describe   = ThreadDescribe,
  .pair       = &pair_launch,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_THREAD_LEVEL | TRSV_TAKES_COMPLEX,
};
