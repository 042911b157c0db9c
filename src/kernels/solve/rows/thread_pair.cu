/*
   A pair of plans of `thread` in one launch. Memory order, why it ends, same bits, source: thread_rows.cuh.

   Mapping: the blocks with the first tickets solve the forward triangle, the others the backward triangle, whose
     right-hand side they await value by value. Each triangle uses the tickets and words of its own plan, so that solves
     of the pair and of one plan may follow each other in any order. The values between the triangles have words of the
     pair; one thread waits for each word and clears it.
*/
#include <stdlib.h>
#include "device/setup.cuh"
#include "solve/rows/thread_rows.cuh"

/* A launch that gave up may leave words between the triangles. Launches that are enqueued before the host knows must
   not use them: their backward triangle takes NaN for all of b. */
template <class T> static __global__ void __launch_bounds__(BLOCK)
  thread_pair(const LevelCSRView<T> forward, const LevelCSRView<T> backward, const TrsvSync sync, T *between,
              const T *b, T *x)
{
  const unsigned blocks = ((unsigned)forward.rows + BLOCK - 1) / BLOCK;
  TRSV_SHARED(unsigned, start, 3);

  if (threadIdx.x == 0) {
    const unsigned aborted = trsv_load(sync.abort_device);
    unsigned       turn;

    start[0] = trsv_ticket(sync, &turn);
    start[1] = aborted;
  }
  __syncthreads();
  if (start[0] < blocks)
    thread_rows<T, Awaited<T>, FORWARD>(forward, sync, start[0], &start[2], false, between, b, (T *)NULL);
  else
    thread_rows<T, Awaited<T>, BACKWARD>(backward, sync, start[0] - blocks, &start[2], start[1] != 0, between,
                                         (const T *)NULL, x);
}

static TrsvError ClearBetween(TrsvFused *pair, TrsvStream stream)
{
  TrsvThreadPair *p = (TrsvThreadPair *)pair;

  return TRSV_BY_PRECISION(p->precision, TrsvClearWords)((size_t)p->rows, p->between, stream);
}

template <class T> static TrsvError PreparePair(TrsvThreadPair *p)
{
  auto kernel = thread_pair<T>;

  TrsvCall(TrsvSyncCreate(&p->sync));
  TrsvCall(ClearBetween(&p->fused, NULL));
  TrsvCall(TrsvDeviceSetMaxShared((const void *)kernel));
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
static TrsvError CreatePair(const TrsvPlan *forward, const TrsvPlan *backward, void *between, TrsvFused **pair)
{
  const TrsvLevelCSR *const f = (const TrsvLevelCSR *)forward->data, *const g = (const TrsvLevelCSR *)backward->data;
  TrsvThreadPair *p;
  TrsvError       error;

  *pair = NULL;
  if (f->recomputes || g->recomputes) return TRSV_SUCCESS;
  p = (TrsvThreadPair *)calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a pair of plans");
  *pair           = &p->fused;
  p->fused.launch = &TrsvThreadPairLaunch;
  p->precision    = forward->precision;
  p->rows         = forward->rows;
  p->between      = between;
  p->forward      = f;
  p->backward     = g;
  p->shared_bytes = min(f->shared_bytes, g->shared_bytes);
  error           = TRSV_BY_PRECISION(p->precision, PreparePair)(p);
  if (error) DestroyPair(pair);
  return error;
}

template <class T> static TrsvError LaunchPair(const TrsvThreadPair *p, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(p->forward->rows, BLOCK) + TrsvBlocks(p->backward->rows, BLOCK);

  TRSV_LAUNCH(thread_pair<T>, grid, BLOCK, p->shared_bytes, stream, LevelCSRView<T>(p->forward),
              LevelCSRView<T>(p->backward), p->sync, (T *)p->between, (const T *)b, (T *)x);
  return TrsvDeviceCheckLaunch("thread_pair");
}

static TrsvError SolvePair(TrsvFused *pair, const void *b, void *x, TrsvStream stream)
{
  TrsvThreadPair *p     = (TrsvThreadPair *)pair;
  const TrsvError error = TrsvSyncStart(&p->sync, stream);

  if (error) { /* the launch that gave up may have left words */
    (void)ClearBetween(pair, stream);
    return error;
  }
  return TRSV_BY_PRECISION(p->precision, LaunchPair)(p, b, x, stream);
}

const TrsvPairLaunch TrsvThreadPairLaunch = {CreatePair, ClearBetween, SolvePair, DestroyPair};
