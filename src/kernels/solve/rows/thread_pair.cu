/*
   A pair of plans of `thread` in one launch. Mapping: thread_pair.cuh.
*/
#include <stdlib.h>
#include "device/setup.cuh"
#include "solve/rows/thread_pair.cuh"

#define ELSEWHERE(T) \
  extern template TrsvError ThreadPreparePair<T>(void); \
  extern template TrsvError ThreadLaunchPair<T>(const TrsvThreadPair *, const void *, void *, TrsvStream);
ELSEWHERE(TrsvComplex<float>)
ELSEWHERE(TrsvComplex<double>)

static TrsvError ClearForwardSolution(TrsvFused *pair, TrsvStream stream)
{
  TrsvThreadPair *p = (TrsvThreadPair *)pair;

  return TrsvClearWords(p->precision, (size_t)p->rows, p->forward_solution, NULL, stream);
}

static TrsvError PreparePair(TrsvThreadPair *p)
{
  TrsvCall(TrsvSyncCreate(&p->sync));
  TrsvCall(ClearForwardSolution(&p->fused, NULL));
  TrsvCall(TRSV_BY_PRECISION(p->precision, ThreadPreparePair)());
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
  *pair               = &p->fused;
  p->fused.launch     = &TrsvThreadPairLaunch;
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

const TrsvPairLaunch TrsvThreadPairLaunch = {CreatePair, ClearForwardSolution, SolvePair, DestroyPair};
