/*
   thread: one thread for one row, with recomputation where level sets are narrow. The kernel is thread_rows.cuh, whose
   head comment has mapping, memory order, why it ends, same bits and source.

   Whether rows of every second level set recompute what they need of the level set before is decided by the predicted
   times of both forms.
*/
#include <math.h>
#include <stdio.h>
#include "solve/rows/thread_rows.cuh"

enum {
  LEVELS_AHEAD            = 8, /* level sets whose rows are in flight */
  LEVELS_AHEAD_RECOMPUTED = 16 /* as many hops */
};

template <class T, class Term> static __global__ void __launch_bounds__(BLOCK)
  thread_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, &start[1]);
  __syncthreads();
  thread_rows<T, Term, ALONE>(A, A.sync, start[0], &start[1], false, (T *)NULL, b, x);
}

/* One thread for each position. Rows of the first level set wait for nothing, so recomputing them would save no hop and
   cost two loads in a row: the marked rows are those of level sets 3, 5, 7, ... */
static __global__ void thread_mark(int rows, const unsigned *level, int *columns)
{
  const int p = trsv_index();

  if (p >= rows || level[p] % 2 == 0) return; /* levels count from 1 */
  for (int k = QUAD * p; k < QUAD * (p + 1); k++)
    if (columns[k] >= 0 && level[columns[k]] + 1 == level[p]) columns[k] = -2 - columns[k];
}

static TrsvError MarkColumns(const TrsvLevelCSR *o, const unsigned *level)
{
  if (!o->rows) return TRSV_SUCCESS;
  TRSV_LAUNCH(thread_mark, TrsvBlocks(o->rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, o->rows, level, o->columns);
  return TrsvDeviceCheckLaunch("thread_mark");
}

template <class T> static TrsvError LimitBlocks(TrsvLevelCSR *o)
{
  auto awaited    = thread_solve<T, Awaited<T>>;
  auto recomputed = thread_solve<T, Recomputed<T>>;

  return TrsvLevelCSRLimit(o, o->recomputes ? (const void *)recomputed : (const void *)awaited, BLOCK,
                           o->recomputes ? LEVELS_AHEAD_RECOMPUTED : LEVELS_AHEAD);
}

extern "C" TrsvError TrsvThreadAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis,
                                       const int *source, int recomputes)
{
  unsigned     *level = NULL;
  TrsvError     error = TrsvLevelCSRAnalyse(plan, A, analysis, source, QUAD, 1, recomputes ? &level : NULL);
  TrsvLevelCSR *o     = (TrsvLevelCSR *)plan->data;

  if (!error && recomputes) error = MarkColumns(o, level);
  TrsvScratchFree(level, NULL);
  TrsvCall(error);
  o->recomputes = recomputes;
  return TRSV_BY_PRECISION(plan->precision, LimitBlocks)(o);
}

template <class T> static TrsvError Launch(const TrsvLevelCSR *o, bool early, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(o->rows, BLOCK);

  if (o->recomputes)
    TRSV_LAUNCH_EARLY((thread_solve<T, Recomputed<T>>), early, 1, grid, BLOCK, o->shared_bytes, stream,
                      LevelCSRView<T>(o), (const T *)b, (T *)x);
  else
    TRSV_LAUNCH_EARLY((thread_solve<T, Awaited<T>>), early, 1, grid, BLOCK, o->shared_bytes, stream,
                      LevelCSRView<T>(o), (const T *)b, (T *)x);
  return TrsvDeviceCheckLaunch("thread_solve");
}

static TrsvError ThreadSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  TrsvCall(TrsvSyncStart(&o->sync, stream));
  return TRSV_BY_PRECISION(plan->precision, Launch)(o, plan->early, b, x, stream);
}

static void ThreadDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  if (((const TrsvLevelCSR *)plan->data)->recomputes)
    (void)snprintf(line, size, "every second level set recomputed");
}

/* Without recomputation: a launch; a hop through L2 for each level set, dearer where many rows poll, and where their
   values are all over a memory that no cache holds; what crosses the memory, and the waits of a warp for long rows that
   hold a chain. Launch, hop, crowd and entry fit the solves of 93 matrices, both triangles, on an H200 to 10% (root
   mean square), and are within 45% of each; the others are from 27 matrices of up to 17 million rows. */
static double PredictAwaited(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 4.0e-6, hop = 0.30e-6 * c->hop, crowd = 0.04e-6 * c->hop, scattered = 0.33e-12 * c->hop,
               entry = (precision == TRSV_FLOAT ? 0.7e-11 : 1e-11) * c->byte, long_entry = 1.2e-11 * c->hop;
  const double chains = s->chain_fraction * fmin(fmax((s->row_mean - 4) / 8, 0), 1); /* of rows that are long */

  return launch + s->levels * (hop + crowd * log10(s->level_mean + 1) + scattered * TrsvCacheMissFactor(s) * s->rows) +
         (entry + long_entry * chains) * (double)s->nnz;
}

/* With recomputation: a launch; a hop through L2 for two level sets, dearer where many rows poll, where they are long,
   and where their values are all over memory; what crosses the memory, which rows of wide level sets load twice. Never
   for the widest, where that is most of it. The constants fit the solves of 104 real triangles of 150 level sets or
   fewer on an H200 to 11% (root mean square), but scattered, which is from larger ones. */
static double PredictRecomputed(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 3.7e-6, hop = 0.42e-6 * c->hop, crowd = 0.05e-6 * c->hop, dependency = 0.013e-6 * c->hop,
               scattered = 0.5e-12 * c->hop, entry = (precision == TRSV_FLOAT ? 1.2e-11 : 1.7e-11) * c->byte,
               wide = 12000;

  if (s->level_mean > wide) return INFINITY;
  return launch +
         (1 + s->levels / 2) * (hop + crowd * log10(s->level_mean + 1) + dependency * fmin(s->row_mean - 1, 24) +
                                scattered * TrsvCacheMissFactor(s) * s->rows) +
         entry * (double)s->nnz;
}

extern "C" double TrsvThreadPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision,
                                    int recomputes)
{
  return recomputes ? PredictRecomputed(c, s, precision) : PredictAwaited(c, s, precision);
}

static double ThreadPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  return fmin(PredictAwaited(c, s, precision), PredictRecomputed(c, s, precision));
}

extern "C" int TrsvThreadRecomputes(const TrsvStatistics *s, TrsvPrecision precision)
{
  const TrsvCosts c = TrsvGetCosts();

  return PredictRecomputed(&c, s, precision) < PredictAwaited(&c, s, precision);
}

/* Rank 0 is the form that is predicted to be faster, rank 1 the other. */
static TrsvError ThreadAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int faster = TrsvThreadRecomputes(&analysis->statistics, plan->precision);

  return TrsvThreadAnalyse(plan, A, analysis, source, plan->rank ? !faster : faster);
}

TRSV_ALGORITHM(TrsvThread) = {
  .name       = "thread",
  .source     = "CapelliniSpTRSV (ICPP 2020), Algorithm 5, writing-first; narrow level sets recomputed (this project)",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyse    = ThreadAnalyse,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = ThreadSolve,
  .destroy    = TrsvLevelCSRDestroy,
  .predict    = ThreadPredict,
  .choices    = 2,
  .describe   = ThreadDescribe,
  .pair       = &TrsvThreadPairLaunch,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_THREAD_LEVEL,
};
