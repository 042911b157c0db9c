/*
   thread_pair.cuh: the kernel for a pair of plans of `thread`. Memory order, why it ends, same bits, source:
   thread_rows.cuh.

   Mapping: the blocks with the first tickets solve the forward triangle. The others solve the backward triangle, and
     wait for each value of its right-hand side. Each triangle uses the tickets and words of its own plan, so solves of
     the pair and of one plan may follow each other in any order. The values between the triangles have words of the
     pair; one thread waits for each word and clears it.
*/
#ifndef TRSV_THREAD_PAIR_CUH
#define TRSV_THREAD_PAIR_CUH

#include "solve/rows/thread_rows.cuh"

/* A launch that gave up may leave values in forward_solution. Launches that are enqueued before the host detects that
   must not use them: their backward triangle uses NaN for its whole right-hand side. */
template <class T> static __global__ void __launch_bounds__(BLOCK)
  thread_pair(const LevelCSRView<T> forward, const LevelCSRView<T> backward, const TrsvSync sync, T *forward_solution,
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
    thread_rows<T, Awaited<T>, FORWARD>(forward, sync, start[0], &start[2], false, forward_solution, b, (T *)NULL);
  else
    thread_rows<T, Awaited<T>, BACKWARD>(backward, sync, start[0] - blocks, &start[2], start[1] != 0, forward_solution,
                                         (const T *)NULL, x);
}

template <class T> TrsvError ThreadPreparePair(void)
{
  auto kernel = thread_pair<T>;

  return TrsvDeviceSetMaxShared((const void *)kernel);
}

template <class T> TrsvError ThreadLaunchPair(const TrsvThreadPair *p, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(p->forward->rows, BLOCK) + TrsvBlocks(p->backward->rows, BLOCK);

  return TrsvLaunch(thread_pair<T>, grid, BLOCK, p->shared_bytes, stream, LevelCSRView<T>(p->forward),
                    LevelCSRView<T>(p->backward), p->sync, (T *)p->forward_solution, (const T *)b, (T *)x);
}

#endif
