/*
   The forms of an algorithm that chooses between two: see forms.h. This file has no kernel.
*/
#include <math.h>
#include "forms.h"
#include "solve/chunk/inverse.cuh"
#include "solve/model/model.h"

/* Rank 0 of `thread` is the form that is predicted to be faster, rank 1 the other. */
static TrsvError AnalyzeThread(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                               bool recomputes)
{
  plan->rank = isfinite(TrsvModelRecompute(&analysis->statistics, plan->precision)) != recomputes;
  return TrsvAlgorithmFind("thread")->analyze(plan, A, analysis, source);
}

TrsvError AnalyzeAwaited(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  return AnalyzeThread(plan, A, analysis, source, false);
}

TrsvError AnalyzeRecomputed(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  return AnalyzeThread(plan, A, analysis, source, true);
}

TrsvError AnalyzeInverted(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  if (!TrsvAlgorithmRuns(&TrsvChunk, plan->precision))
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk needs %d KB of shared memory for a block", CHUNK_SHARED / 1024);
  TrsvCall(TrsvAlloc(sizeof(ChunkPlan), &plan->data));
  Inverse *&inverse = ((ChunkPlan *)plan->data)->inverse;
  if (analysis->statistics.nnz > A->rows) TrsvCall(TrsvInverseBegin(plan, A, analysis, source, 0, 1, &inverse));
  return inverse ? TRSV_SUCCESS : TrsvChunkScheduleBegin(plan, A, analysis, source, 0);
}
