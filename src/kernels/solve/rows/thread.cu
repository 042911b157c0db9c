/*
   thread: one thread for each row. The rows of every second level set recompute their dependencies in the level set
   before if TrsvModelRecompute returns a finite time. Mapping, memory order, why it ends, same bits, source:
   thread_solve.cuh. A pair of plans without recomputation has one launch.
*/
#include <math.h>
#include <stdio.h>
#include "device/setup.cuh"
#include "solve/model/model.h"
#include "solve/rows/thread_solve.cuh"

THREAD_INSTANCES(extern, TrsvComplex<float>)
THREAD_INSTANCES(extern, TrsvComplex<double>)

static double ThreadPredict(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double recomputed = TrsvModelRecompute(s, precision);

  return isfinite(recomputed) ? recomputed : TrsvModelThread(s, precision);
}

/* Rank 0 is the form for this triangle, rank 1 the other. The blocks on a multiprocessor are at most those of so many
   level sets, and 4. So many hide the loads before a wait; polls of more rows would saturate L2. */
static TrsvError ThreadAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int faster     = isfinite(TrsvModelRecompute(&analysis->statistics, plan->precision)),
            recomputes = plan->rank ? !faster : faster, ahead = recomputes ? LEVELS_AHEAD_RECOMPUTED : LEVELS_AHEAD;
  int multiprocessors;

  TrsvCall(TrsvLevelCSRAnalyze(plan, A, analysis, source, QUAD, 1, recomputes));
  TrsvLevelCSR *const o = (TrsvLevelCSR *)plan->data;
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = ahead * analysis->statistics.level_mean / ((double)BLOCK * multiprocessors);
  return TrsvDeviceLimitBlocks(TRSV_BY_PRECISION(plan->precision, ThreadKernel)(o), (int)fmax(1, fmin(blocks, 4)),
                               &o->shared_bytes);
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

static TrsvError ClearForwardSolution(TrsvFused *pair, TrsvStream stream)
{
  TrsvThreadPair *p = (TrsvThreadPair *)pair;

  return TrsvClearWords(p->forward->precision, (size_t)p->forward->rows, p->forward_solution, NULL, stream);
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
  TrsvThreadPair *p;

  *pair = NULL;
  if (((const TrsvLevelCSR *)forward->data)->recomputes || ((const TrsvLevelCSR *)backward->data)->recomputes)
    return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(*p), &p));
  *pair               = (TrsvFused *)p;
  p->forward          = forward;
  p->backward         = backward;
  p->forward_solution = forward_solution;
  TrsvError error     = TrsvSyncCreate(&p->sync);
  if (!error) error = ClearForwardSolution(*pair, NULL);
  if (!error) error = TrsvDeviceSetMaxShared(TRSV_BY_PRECISION(forward->precision, ThreadKernel)(NULL));
  if (!error) error = TrsvDeviceWait(NULL);
  if (error) DestroyPair(pair);
  return error;
}

static TrsvError SolvePair(TrsvFused *pair, const void *b, void *x, TrsvStream stream)
{
  TrsvThreadPair *p     = (TrsvThreadPair *)pair;
  const TrsvError error = TrsvSyncStart(&p->sync, stream);

  if (!error) return TRSV_BY_PRECISION(p->forward->precision, ThreadLaunchPair)(p, b, x, stream);
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
