/*
   chunk: scheduled chunks of rows, solved in shared memory. This file has the row of the table; chunk_plan.cu has the
   set-up, chunk_solve.cu the solve and the copies of values, chunk.cuh the layout, inverse.cu inverted blocks.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "solve/chunk/inverse.cuh"
#include "solve/model/model.h"

static ChunkPlan *Data(const TrsvPlan *plan) { return (ChunkPlan *)plan->data; }

static TrsvError Launch(ChunkPlan *c, ChunkKernel chunk_kernel, int *from, int *to, bool early, const void *b, void *x,
                        TrsvStream stream)
{
  TrsvCall(TrsvSyncStart(&c->sync, stream));
  ChunkView A = *c;
  A.from      = from;
  A.to        = to;
  return TrsvLaunchEarly(chunk_kernel, early, A.cluster, c->blocks, WARPS * 32, c->shared_bytes, stream, A, b, x);
}

static TrsvError Solve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  ChunkPlan *c = Data(plan);

  if (c->inverse) return TrsvInverseSolve(plan, c->inverse, b, x, stream);
  return Launch(c, c->kernels->solve, c->from, c->to, plan->early, b, x, stream);
}

static TrsvError CopyValues(const TrsvPlan *plan, ChunkCopy chunk_values, const void *from, void *to, TrsvStream stream)
{
  const ChunkSummary *s = &Data(plan)->schedule;

  return TrsvLaunch(chunk_values, (unsigned)s->stages,
                    (unsigned)CHUNK_ROWS(s->settings.length, TrsvValueSize(plan->precision)), 0, stream,
                    Data(plan)->sources, from, to);
}

static TrsvError SetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  ChunkPlan *c = Data(plan);

  if (c->inverse) return TrsvInverseSetValues(plan, c->inverse, values, stream);
  return CopyValues(plan, c->kernels->gather, values, c->records, stream);
}

static int FindsPivots(const TrsvPlan *plan) { return !Data(plan)->inverse && Data(plan)->kernels->reciprocals; }

static TrsvError FindReciprocals(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  ChunkPlan *c = Data(plan);

  TrsvCall(TrsvDeviceSetMaxShared((const void *)c->kernels->reciprocals));
  return Launch(c, c->kernels->reciprocals, c->rows, c->rows, false, b, x, stream);
}

static TrsvError CheckReciprocals(TrsvPlan *plan, TrsvStream stream)
{
  return TrsvSyncStart(&Data(plan)->sync, stream);
}

static TrsvError GetValues(const TrsvPlan *plan, void *values, TrsvStream stream)
{
  return CopyValues(plan, Data(plan)->kernels->scatter, Data(plan)->records, values, stream);
}

static const TrsvPivotSolve pivot_solve = {FindsPivots, FindReciprocals, CheckReciprocals, GetValues};

static void Describe(const TrsvPlan *plan, char *line, size_t size)
{
  const Inverse *v = Data(plan)->inverse;

  if (!v) return TrsvChunkSettingsPrint(&Data(plan)->schedule.settings, line, size);
  const int n = snprintf(line, size, "blocks=%d ", v->use_plain ? 1 : v->block);
  if (n > 0 && (size_t)n < size) TrsvPlanDescribe(v->use_plain ? v->plain : v->product, line + n, size - (size_t)n);
}

extern "C" const ChunkSummary *TrsvChunkPlanSummary(const TrsvPlan *plan)
{
  const ChunkPlan *c = Data(plan);

  return c->inverse ? TrsvChunkPlanSummary(c->inverse->product) : &c->schedule;
}

static void Destroy(TrsvPlan *plan)
{
  ChunkPlan *c = Data(plan);

  if (!c) return;
  TrsvInverseDestroy(&c->inverse);
  TrsvChunkFreeSchedule(c);
  free(c);
}

static double Predict(const TrsvStatistics *s, TrsvPrecision precision)
{
  return fmin(TrsvModelChunk(s, precision), TrsvModelInverse(s, precision)) *
         TrsvChunkSettingsSlowdown(s, TrsvDeviceGetLimits(), precision);
}

static TrsvError AllocatePlan(TrsvPlan *plan)
{
  if (!TrsvAlgorithmRuns(&TrsvChunk, plan->precision))
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk needs %d KB of shared memory for a block", CHUNK_SHARED / 1024);
  return TrsvAlloc(sizeof(ChunkPlan), &plan->data);
}

static TrsvError FinishPlain(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  return TrsvChunkScheduleEnd(plan);
}

static TrsvError AnalyzeRank(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  TrsvCall(AllocatePlan(plan));
  return TrsvChunkScheduleBegin(plan, A, analysis, source, plan->rank);
}

static double ProductSeconds(const TrsvPlan *inverted)
{
  const ChunkSummary *product = TrsvChunkPlanSummary(inverted);

  return TrsvInverseSeconds(&product->settings, product->steps);
}

/* Rank 0 is the form that schedules and statistics predict to be faster, with inverted blocks or without. Rank 1 is the
   other form, if both are possible. Further ranks have no inverted blocks. */
static TrsvError Analyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvStatistics *s    = &analysis->statistics;
  const int             rank = plan->rank - TrsvInverseIsPossible(s); /* without inverted blocks */

  TrsvCall(AllocatePlan(plan));
  if (plan->rank <= 1 && TrsvModelInverse(s, plan->precision) < TrsvModelChunk(s, plan->precision))
    TrsvCall(TrsvInverseBegin(plan, A, analysis, source, &Data(plan)->inverse));
  return Data(plan)->inverse ? TRSV_SUCCESS : TrsvChunkScheduleBegin(plan, A, analysis, source, rank > 0 ? rank : 0);
}

/* Begins the product with inverted blocks and waits for its schedule. The plan has no inverted blocks if there is no
   schedule, or no memory for it; but while another plan is made at the same time, missing memory is an error. */
static TrsvError BeginInverted(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  Inverse **inverse = &Data(plan)->inverse;
  TrsvError error   = TrsvInverseBegin(plan, A, analysis, source, inverse);

  if (!error && *inverse) error = TrsvChunkScheduleWait((*inverse)->product);
  if (!error) return TRSV_SUCCESS;
  TrsvInverseDestroy(inverse);
  return error == TRSV_ERR_UNSUPPORTED || (error == TRSV_ERR_MEMORY && TrsvDeviceSharing() == 1) ? TRSV_SUCCESS : error;
}

/* Completes the plan with inverted blocks, if it is not complete. Frees the schedule without them. */
static TrsvError EndInverted(TrsvPlan *plan)
{
  TrsvChunkFreeSchedule(Data(plan));
  return TrsvInverseEnd(plan, Data(plan)->inverse);
}

/* Makes the schedules that decide between both forms. Inverted blocks are faster if the plan has them and their product
   takes less than `without` seconds: the predicted time without them, or, if the product takes longer than that, a
   share of the time by the schedule without them. Statistics do not tell how many dependencies of a row are solved just
   before it; if there are many, that schedule takes much longer than predicted. All times are for real values. */
static TrsvError Finish(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvStatistics *s = &analysis->statistics;
  ChunkPlan            *c = Data(plan);

  if (plan->rank > 1 || !TrsvInverseIsPossible(s)) return TrsvChunkScheduleEnd(plan);
  const double slowdown = TrsvChunkSettingsSlowdown(s, TrsvDeviceGetLimits(), TRSV_DOUBLE);
  double without = TrsvModelChunk(s, TRSV_DOUBLE) * slowdown, with = TrsvModelInverse(s, TRSV_DOUBLE) * slowdown;
  if (c->inverse) {
    TrsvCall(TrsvChunkScheduleWait(c->inverse->product));
    with = ProductSeconds(plan);
    if (with >= without) {
      TrsvInverseDestroy(&c->inverse);
      TrsvCall(TrsvChunkScheduleBegin(plan, A, analysis, source, 0));
    }
  }
  if (!c->inverse) {
    TrsvCall(TrsvChunkScheduleWait(plan));
    without = TrsvChunkScheduleSeconds(&c->schedule.settings, c->schedule.steps) / TrsvModel.inverse_instead;
    if (with < without) TrsvCall(BeginInverted(plan, A, analysis, source));
  }
  if (c->inverse && ProductSeconds(plan) < without) TrsvCall(EndInverted(plan));
  /* now the records of the product may need other settings, with which it takes longer */
  const int inverts = (c->inverse && ProductSeconds(plan) < without) == (plan->rank == 0);
  if (inverts && !c->inverse) TrsvCall(BeginInverted(plan, A, analysis, source));
  if (inverts && c->inverse) return EndInverted(plan);
  TrsvInverseDestroy(&c->inverse);
  if (!c->setup) TrsvCall(TrsvChunkScheduleBegin(plan, A, analysis, source, 0));
  return TrsvChunkScheduleEnd(plan);
}

TRSV_ALGORITHM(TrsvChunk) = {
  .name         = "chunk",
  .summary      = "scheduled chunks of rows, solved in shared memory; diagonal blocks inverted for narrow level sets",
  .source       = "this project; inverted blocks after Alvarado and Schreiber (1993)",
  .citation     = "@article{AlvaradoSchreiber1993,\n"
                  "  author  = {Fernando L. Alvarado and Robert Schreiber},\n"
                  "  title   = {Optimal Parallel Solution of Sparse Triangular Systems},\n"
                  "  journal = {SIAM Journal on Scientific Computing},\n"
                  "  volume  = {14},\n"
                  "  number  = {2},\n"
                  "  year    = {1993}\n"
                  "}\n",
  .memory       = TRSV_DEVICE,
  .pattern      = TRSV_DEVICE,
  .analyze      = Analyze,
  .finish       = Finish,
  .set_values   = SetValues,
  .solve        = Solve,
  .destroy      = Destroy,
  .predict      = Predict,
  .choices      = CHUNK_CHOICES + 1,
  .describe     = Describe,
  .shared_bytes = CHUNK_SHARED,
  .pivots       = &pivot_solve,
  .traits       = TRSV_PERMUTES_IN_KERNEL | TRSV_SCHEDULED | TRSV_TAKES_COMPLEX,
};

const TrsvAlgorithm TrsvChunkPlain = [] {
  TrsvAlgorithm plain = TrsvChunk;

  plain.analyze = AnalyzeRank;
  plain.finish  = FinishPlain;
  plain.predict = TrsvModelChunk;
  plain.choices = CHUNK_CHOICES;
  return plain;
}();
