/*
   chunk: scheduled chunks, solved in shared memory: what a plan does, and how long it is expected to take. Set-up:
   chunk_plan.cu; the solve itself: chunk_solve.cu; the layout: chunk.h.
*/
#include <math.h>
#include "solve/chunk/chunk.cuh"

static const void *Kernel(TrsvPrecision precision, const TrsvChunkSettings *s, bool reciprocals)
{
  return (precision == TRSV_FLOAT ? ChunkKernelOf<float> : ChunkKernelOf<double>)(s, reciprocals);
}

TrsvError TrsvChunkReady(TrsvPrecision precision, TrsvChunkSettings *s)
{
  const void *const kernel   = Kernel(precision, s, false);
  int               clusters = 0;

  if (!kernel)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no kernel for records of %d, steps of %d", s->length, s->width);
  TrsvCall(TrsvDeviceSetMaxShared(kernel));
  while (s->cluster > 1) {
    TrsvCall(TrsvDeviceClusters(kernel, s->cluster, WARPS * 32, CHUNK_SHARED, &clusters));
    if (clusters > 0) break;
    s->cluster = s->cluster > 8 ? 8 : 1; /* 8 is the most that every device with clusters has, as a whole */
  }
  return TRSV_SUCCESS;
}

static TrsvError ChunkSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  ChunkPlan *c = (ChunkPlan *)plan->data;

  TrsvCall(TrsvSyncStart(&c->sync, stream));
  return (plan->precision == TRSV_FLOAT ? ChunkSolveBy<float> : ChunkSolveBy<double>)(c, false, c->from, c->to,
                                                                                      plan->early, b, x, stream);
}

static const void *Reciprocals(const TrsvPlan *plan)
{
  return Kernel(plan->precision, &((const ChunkPlan *)plan->data)->schedule.settings, true);
}

static int HasReciprocals(const TrsvPlan *plan) { return !!Reciprocals(plan); }

static TrsvError ChunkReciprocals(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  ChunkPlan *c = (ChunkPlan *)plan->data;

  TrsvCall(TrsvDeviceSetMaxShared(Reciprocals(plan)));
  TrsvCall(TrsvSyncStart(&c->sync, stream));
  return (plan->precision == TRSV_FLOAT ? ChunkSolveBy<float> : ChunkSolveBy<double>)(c, true, c->rows, c->rows, false,
                                                                                      b, x, stream);
}

static TrsvError ChunkOver(TrsvPlan *plan, TrsvStream stream)
{
  return TrsvSyncStart(&((ChunkPlan *)plan->data)->sync, stream);
}

static const TrsvPivotSolve by_reciprocals = {HasReciprocals, ChunkReciprocals, ChunkOver, TrsvChunkGetValues};

static void ChunkDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  TrsvChunkSettingsPrint(&TrsvChunkPlanSummary(plan)->settings, line, size);
}

/* What does not hang on how long the chain is: hops through L2 until chunks work side by side, where dependencies are
   far; what crosses the memory; and what each of so many chunks takes from others: where rows are a grid's, no more
   than with 7 points, as a value is taken once for all neighbours that want it. */
double TrsvChunkThroughputSeconds(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double hop = 0.22e-6 * c->hop, far = 2200, entry = (precision == TRSV_FLOAT ? 0.2e-11 : 0.3e-11) * c->byte,
               take = 3.4e-9 * c->hop, size = s->rows / 120.0;
  const double off = TrsvRegular(s) ? fmin(s->row_mean - 1, 3) : s->row_mean - 1;

  return hop * fmin(s->levels, 20) * fmin(1, s->mean_offset / far) + entry * (double)s->nnz +
         take * off * (1 - s->hub_fraction) * fmin(size, s->mean_offset);
}

/* Where next to no row depends on the one solved right before it, as in an order by colors, no chain stays inside a
   chunk: each level set waits for values of other chunks, more so the more chunks its rows fill; less where a few level
   sets hold most rows, or where each is spread over all chunks. */
double TrsvChunkColorPenalty(const TrsvCosts *c, const TrsvStatistics *s)
{
  const double crossing = 0.8e-6 * c->hop, few = 0.01, chunks = fmin(120, s->rows / 1000.0);

  if (!s->rows || s->chain_fraction > few) return 0;
  return crossing * s->rows / s->level_max * sqrt(fmin(2, chunks / s->levels)) * (1 - s->level_span / s->rows);
}

/* What the steps of few chunks take longer than the chain through all, where each level set lies in few: these have all
   the work of the time. */
static double LoadImbalance(const TrsvCosts *c, const TrsvStatistics *s, double chain)
{
  const double power = 2.5, step = 0.07e-6 * c->step,
               chunks  = s->rows ? fmin(120, 1 + 2 * s->level_span * 120 / s->rows) : 1,
               records = 1 + fmax(s->row_mean - 4, 0) / 3;

  return pow(pow(chain, power) + pow(0.6 * s->rows / 32 * records / chunks * step, power), 1 / power) - chain;
}

/* The start of a launch; a step for each level set, and some more where rows are cut into partial sums. Constants are
   those that fit times (20%, root mean square; 25% in multicolor order) among those by which the choice between this,
   `inverse`, `thread` and `sell` costs least: over 170 real triangles 0.7% (geometric mean), over 78 in
   multicolor order 0.9%; where every dependency of long rows is another chunk's, twofold at worst. */
static double ChunkPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double start = 7.2e-6, step = 0.0508e-6 * c->step, sum = 0.0078e-6 * c->step;
  const double chain = s->levels * (step + sum * fmin(fmax(s->row_mean - 3, 0), 3));

  return start + chain + LoadImbalance(c, s, chain) + TrsvChunkColorPenalty(c, s) +
         TrsvChunkThroughputSeconds(c, s, precision);
}

TRSV_ALGORITHM(TrsvChunk) = {
  .name       = "chunk",
  .source     = "this project: scheduled chunks, solved in shared memory",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyse    = TrsvChunkAnalyse,
  .set_values = TrsvChunkSetValues,
  .solve      = ChunkSolve,
  .destroy    = TrsvChunkDestroy,
  .predict    = ChunkPredict,
  .choices    = CHUNK_CHOICES,
  .describe   = ChunkDescribe,
  .shared_bytes = CHUNK_SHARED,
  .pivots     = &by_reciprocals,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_SCHEDULED | TRSV_BOTH_ANALYSES,
};
