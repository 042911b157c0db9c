/*
   thread_solve.cuh: the kernel for one plan of `thread`. Mapping, memory order, why it ends, same bits, source:
   thread_rows.cuh.
*/
#ifndef TRSV_THREAD_SOLVE_CUH
#define TRSV_THREAD_SOLVE_CUH

#include "solve/rows/thread_rows.cuh"

enum {
  LEVELS_AHEAD            = 8, /* level sets whose rows are on the device at a time */
  LEVELS_AHEAD_RECOMPUTED = 16 /* the same with recomputation: as many hops */
};

template <class T, class Term> static __global__ void __launch_bounds__(BLOCK)
  thread_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, &start[1]);
  __syncthreads();
  thread_rows<T, Term, ALONE>(A, A.sync, start[0], &start[1], false, (T *)NULL, b, x);
}

/* The kernel of a plan. */
template <class T> static auto thread_solve_of(const TrsvLevelCSR *o)
{
  return o->recomputes ? thread_solve<T, Recomputed<T>> : thread_solve<T, Awaited<T>>;
}

template <class T> const void *ThreadKernel(const TrsvLevelCSR *o) { return (const void *)thread_solve_of<T>(o); }

template <class T> TrsvError ThreadLaunch(const TrsvLevelCSR *o, bool early, const void *b, void *x, TrsvStream stream)
{
  return TrsvLaunchEarly(thread_solve_of<T>(o), early, 1, TrsvBlocks(o->rows, BLOCK), BLOCK, o->shared_bytes, stream,
                         LevelCSRView<T>(o), (const T *)b, (T *)x);
}

#endif
