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

static int MayInvert(const TrsvPlan *plan, const TrsvStatistics *s)
{
  return plan->algorithm == &TrsvChunk && s->nnz > s->rows && s->level_mean <= TrsvModel.inverse_level_rows;
}

/* Returns 1 if statistics predict that inverted blocks are faster. */
static int AreLikely(const TrsvPlan *plan, const TrsvStatistics *s)
{
  return TrsvModelInverse(s, plan->precision) < TrsvModelChunk(s, plan->precision);
}

/* Begins the plan with inverted blocks if its rank has them. Rank 0 has them if the time predicted from counts is below
   a limit; the limit is lower for short rows, for which that prediction is too low. Rank 1 has them if rank 0 does not.
   used_below_limit is 1 if rank 0 has them below that limit, 0 if it never has. */
static TrsvError BeginInverted(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                               int used_below_limit)
{
  const double limit = analysis->statistics.row_mean > TrsvModel.inverse_long_row ? 1 : TrsvModel.inverse_faster;

  return TrsvInverseBegin(plan, A, analysis, source, plan->rank && used_below_limit ? limit : 0, plan->rank ? 1 : limit,
                          &Data(plan)->inverse);
}

/* Rank 0 has inverted blocks if statistics, or the schedule without them, predict that they are faster, and so do
   counts of the entries of their product. Rank 1 is the other form, if its product is predicted to be faster than the
   triangle at all. Further ranks have no inverted blocks. */
static TrsvError Analyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvStatistics *s    = &analysis->statistics;
  const int             rank = plan->rank - MayInvert(plan, s); /* without inverted blocks */

  if (!TrsvAlgorithmRuns(&TrsvChunk, plan->precision))
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk needs %d KB of shared memory for a block", CHUNK_SHARED / 1024);
  TrsvCall(TrsvAlloc(sizeof(ChunkPlan), &plan->data));
  if (MayInvert(plan, s) && plan->rank <= 1 && AreLikely(plan, s))
    TrsvCall(BeginInverted(plan, A, analysis, source, 1));
  return Data(plan)->inverse ? TRSV_SUCCESS : TrsvChunkScheduleBegin(plan, A, analysis, source, rank > 0 ? rank : 0);
}

/* Statistics do not tell how many dependencies of a row are solved just before it. If there are many, the schedule
   without inverted blocks takes much longer than predicted. Without memory or settings for the blocks, rank 0 keeps
   that schedule; but while another plan is made at the same time, missing memory is an error. */
static TrsvError Finish(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const TrsvStatistics *s = &analysis->statistics;
  ChunkPlan *const      c = Data(plan);

  if (MayInvert(plan, s) && plan->rank <= 1 && !AreLikely(plan, s)) {
    double seconds;

    TrsvCall(TrsvChunkScheduleWait(plan, &seconds));
    const double slowdown = TrsvChunkSettingsSlowdown(s, TrsvDeviceGetLimits(), TRSV_DOUBLE);
    const int    slow     = TrsvModelInverse(s, TRSV_DOUBLE) * slowdown < seconds / TrsvModel.inverse_instead;
    if (slow || plan->rank) {
      const TrsvError error = BeginInverted(plan, A, analysis, source, slow);
      const bool      alone = TrsvDeviceSharing() == 1,
                      keeps = error == TRSV_ERR_UNSUPPORTED || (error == TRSV_ERR_MEMORY && alone);
      if (error && (plan->rank || !keeps)) return error;
    }
    if (c->inverse) TrsvChunkFreeSchedule(c);
  }
  return c->inverse ? TrsvInverseEnd(plan, c->inverse) : TrsvChunkScheduleEnd(plan);
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

  plain.predict = TrsvModelChunk;
  plain.choices = CHUNK_CHOICES;
  return plain;
}();
