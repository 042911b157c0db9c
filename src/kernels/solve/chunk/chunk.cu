/*
   chunk: scheduled chunks, solved in shared memory: what a plan does, and how long it is expected to take. Set-up:
   chunk_plan.cu; the solve itself: chunk_solve.cu; the layout: chunk.h.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/inverse.cuh"

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

static ChunkPlan *Data(const TrsvPlan *plan) { return (ChunkPlan *)plan->data; }

static TrsvError Launch(TrsvPlan *plan, bool reciprocals, const int *from, const int *to, bool early, const void *b,
                        void *x, TrsvStream stream)
{
  ChunkPlan *c = Data(plan);

  TrsvCall(TrsvSyncStart(&c->sync, stream));
  return (plan->precision == TRSV_FLOAT ? ChunkSolveBy<float> : ChunkSolveBy<double>)(c, reciprocals, from, to, early,
                                                                                      b, x, stream);
}

static TrsvError Solve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  const ChunkPlan *c = Data(plan);

  if (c->inverse) return TrsvInverseSolve(plan, c->inverse, b, x, stream);
  return Launch(plan, false, c->from, c->to, plan->early, b, x, stream);
}

static TrsvError SetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  ChunkPlan *c = Data(plan);

  if (c->inverse) return TrsvInverseSetValues(plan, c->inverse, values, stream);
  return (plan->precision == TRSV_FLOAT ? ChunkGather<float> : ChunkGather<double>)(c, values, stream);
}

static const void *ReciprocalKernel(const TrsvPlan *plan)
{
  return Kernel(plan->precision, &Data(plan)->schedule.settings, true);
}

static int FindsPivots(const TrsvPlan *plan) { return Data(plan)->finds_pivots && ReciprocalKernel(plan); }

static TrsvError FindReciprocals(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  const ChunkPlan *c = Data(plan);

  TrsvCall(TrsvDeviceSetMaxShared(ReciprocalKernel(plan)));
  return Launch(plan, true, c->rows, c->rows, false, b, x, stream);
}

static TrsvError CheckReciprocals(TrsvPlan *plan, TrsvStream stream)
{
  return TrsvSyncStart(&Data(plan)->sync, stream);
}

static TrsvError GetValues(const TrsvPlan *plan, void *values, TrsvStream stream)
{
  return (plan->precision == TRSV_FLOAT ? ChunkGive<float> : ChunkGive<double>)(Data(plan), values, stream);
}

static const TrsvPivotSolve by_reciprocals = {FindsPivots, FindReciprocals, CheckReciprocals, GetValues};

static void Describe(const TrsvPlan *plan, char *line, size_t size)
{
  const ChunkPlan *c = Data(plan);

  if (c->inverse) TrsvInverseDescribe(c->inverse, line, size);
  else TrsvChunkSettingsPrint(&c->schedule.settings, line, size);
}

extern "C" const ChunkSummary *TrsvChunkPlanSummary(const TrsvPlan *plan)
{
  return Data(plan)->inverse ? NULL : &Data(plan)->schedule;
}

static void Destroy(TrsvPlan *plan)
{
  ChunkPlan *c = Data(plan);

  if (!c) return;
  TrsvInverseDestroy(c->inverse);
  TrsvChunkFreeSchedule(c);
  free(c);
}

/* What does not hang on how long the chain is: hops through L2 until chunks work side by side, where dependencies are
   far; what crosses the memory; and what each of so many chunks takes from others: where rows are a grid's, no more
   than with 7 points, as a value is taken once for all neighbours that want it. */
static double ThroughputSeconds(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
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
static double ColorPenalty(const TrsvCosts *c, const TrsvStatistics *s)
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
   inverted blocks, `thread`, `recompute` and `sell` costs least: over 170 real triangles 0.7% (geometric mean), over 78
   in multicolor order 0.9%; where every dependency of long rows is another chunk's, twofold at worst. */
static double PlainSeconds(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double start = 7.2e-6, step = 0.0508e-6 * c->step, sum = 0.0078e-6 * c->step;
  const double chain = s->levels * (step + sum * fmin(fmax(s->row_mean - 3, 0), 3));

  return start + chain + LoadImbalance(c, s, chain) + ColorPenalty(c, s) +
         ThroughputSeconds(c, s, precision);
}

/* With inverted blocks: two launches; a chain that is the shorter the narrower level sets are, at a price a level set
   that grows with the rows, whose product is longer. Never for wide factors, nor where what rows depend on is not in
   their block. Fitted as above (36%). */
static double InvertedSeconds(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 2e-6, start = 7.2e-6 /* as above */, step = 0.046e-6 * c->step, sum = 0.043e-6 * c->step;

  if (s->level_mean > (double)INVERSE_LEVEL_MAX || s->chain_fraction < 0.2) return INFINITY;
  return launch + start +
         (s->levels * (step + sum * fmin(fmax(s->row_mean - 2, 0), 5)) + ThroughputSeconds(c, s, precision)) /
           (1 + 16.3 * pow(s->level_mean, -0.52)) +
         ColorPenalty(c, s);
}

static int IsInverted(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  return InvertedSeconds(c, s, precision) < PlainSeconds(c, s, precision);
}

static double Predict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  return fmin(PlainSeconds(c, s, precision), InvertedSeconds(c, s, precision));
}

static int UsesHeights(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  return !IsInverted(c, s, precision);
}

static int AlwaysUsesHeights(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision) { return 1; }

static TrsvError Start(TrsvPlan *plan)
{
  if (!TrsvAlgorithmRuns(&TrsvChunk))
    return TrsvFail(TRSV_ERR_UNSUPPORTED,
                    "chunk: needs a device of compute capability 9.0 or more with %d KB of shared memory for a block",
                    CHUNK_SHARED / 1024);
  TrsvCall(TrsvAlloc(sizeof(ChunkPlan), &plan->data));
  memset(plan->data, 0, sizeof(ChunkPlan));
  return TRSV_SUCCESS;
}

static TrsvError AnalysePlain(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                              int rank)
{
  TrsvCall(Start(plan));
  Data(plan)->finds_pivots = 1;
  return A->rows ? TrsvChunkMakeSchedule(plan, A, analysis, source, rank) : TRSV_SUCCESS;
}

static TrsvError AnalyseRank(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  return AnalysePlain(plan, A, analysis, source, plan->rank);
}

extern "C" TrsvError TrsvChunkAnalyseInverted(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis,
                                              const int *source)
{
  TrsvCall(Start(plan));
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvInverseAnalyse(plan, A, analysis, source, &Data(plan)->inverse));
  return Data(plan)->inverse ? TRSV_SUCCESS : TrsvChunkMakeSchedule(plan, A, analysis, source, 0);
}

/* Rank 0 is with inverted blocks or without, by prediction; rank 1 the other way, where both are possible; the further
   ranks are those of plans without. */
static TrsvError Analyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvCosts costs    = TrsvGetCosts();
  const int       inverted = IsInverted(&costs, &analysis->statistics, plan->precision) ? 0 : 1, /* its rank */
                  both     = !inverted || TrsvInverseIsPossible(&analysis->statistics);

  if (both && plan->rank == inverted) return TrsvChunkAnalyseInverted(plan, A, analysis, source);
  return AnalysePlain(plan, A, analysis, source, plan->rank - (both && plan->rank > inverted));
}

TRSV_ALGORITHM(TrsvChunk) = {
  .name         = "chunk",
  .source       = "this project: scheduled chunks in shared memory; inverted blocks: Alvarado and Schreiber (1993)",
  .memory       = TRSV_DEVICE,
  .pattern      = TRSV_DEVICE,
  .analyse      = Analyse,
  .set_values   = SetValues,
  .solve        = Solve,
  .destroy      = Destroy,
  .predict      = Predict,
  .uses_heights = UsesHeights,
  .choices      = CHUNK_CHOICES + 1,
  .describe     = Describe,
  .shared_bytes = CHUNK_SHARED,
  .pivots       = &by_reciprocals,
  .traits       = TRSV_PERMUTES_IN_KERNEL | TRSV_SCHEDULED,
};

const TrsvAlgorithm TrsvChunkPlain = {
  .name         = "chunk",
  .source       = "as TrsvChunk",
  .memory       = TRSV_DEVICE,
  .pattern      = TRSV_DEVICE,
  .analyse      = AnalyseRank,
  .set_values   = SetValues,
  .solve        = Solve,
  .destroy      = Destroy,
  .predict      = PlainSeconds,
  .uses_heights = AlwaysUsesHeights,
  .choices      = CHUNK_CHOICES,
  .describe     = Describe,
  .shared_bytes = CHUNK_SHARED,
  .pivots       = &by_reciprocals,
  .traits       = TRSV_PERMUTES_IN_KERNEL | TRSV_SCHEDULED,
};
