/*
   recblock_kernels.cuh: the kernels of `recblock`. A launch is one block, or one level set of a block.

   Mapping: a thread for each place; in the sync-free solve LANES lanes share a row, in the vector product a warp does.
   Memory order: y has the solution of each place, NOT_READY until it is known; right has b minus products so far.
     Launches run in sequence: an early launch (threads.cuh) accesses neither before the previous launch is over. Within
     a launch nothing crosses threads, except in the sync-free solve, where a solution is one word that is its own flag.
   Why it ends: only the sync-free solve waits, for smaller places of its block. Those of other thread blocks have
     smaller tickets, so these have started. Those of the same warp get solved: in each turn of the loop every lane
     polls, rows that have all values are finished, and then the warp votes. By induction on the place every wait ends.
     The spin limit bounds it if memory fails. A product that finds NOT_READY, which only failing memory explains, uses
     NaN instead and reports a timeout.
   Same bits: each row is summed by the same lanes in the order of its entries, and a fixed tree adds the lanes' sums.
   Source: recblock.cu.
*/
#ifndef TRSV_RECBLOCK_KERNELS_CUH
#define TRSV_RECBLOCK_KERNELS_CUH

#include "papers/papers.cuh"
#include "solve/plan/plan.h"

enum {
  RECBLOCK_BLOCK = 128
};

/* The arguments that change from solve to solve, in device memory: launches are recorded once. */
struct RecblockCall {
  void              *x;
  unsigned long long timeout;
};

/* The arguments of a kernel: a block, and the data that all blocks share. */
template <class T> struct RecblockView {
  int           first, count, stored; /* stored: the diagonal is among the entries */
  const int    *offsets, *index, *columns;
  const T      *values;
  const int    *order; /* by place of the whole triangle, like the next three */
  const T      *inverse;
  T            *right, *y;
  RecblockCall *call;
  TrsvSync      sync;

  __device__ __forceinline__ T    scale(int p) const { return inverse ? inverse[p] : 1; }
  __device__ __forceinline__ void finish(int p, int row, T solution) const { ((T *)call->x)[row] = solution; }
  __device__ __forceinline__ TrsvSync patient() const
  {
    TrsvSync s = sync;

    s.timeout = call->timeout;
    return s;
  }
};

/* One thread for each value and each diagonal. */
template <class T> static __global__ void recblock_gather(long entries, int rows, const int *source,
                                                          const int *diagonal, const T *from, T *values, T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < entries) values[k] = from[source[k]];
  else if (inverse && k < entries + rows) inverse[k - entries] = 1 / from[diagonal[k - entries]];
}

/* Permutes b into the order of places, and marks all of y as not ready. */
template <class T> static __global__ void recblock_start(const RecblockView<T> A, const T *b, T *x,
                                                         unsigned long long timeout)
{
  const int p = trsv_index();

  if (p == 0) {
    A.call->x       = x;
    A.call->timeout = timeout;
  }
  if (p >= A.count) return;
  A.right[p] = trsv_canonical(b[A.order[p]]);
  A.y[p]     = trsv_not_ready<T>();
}

/* A block without dependencies: "completely parallel". */
template <class T> static __global__ void __launch_bounds__(RECBLOCK_BLOCK) recblock_parallel(const RecblockView<T> A)
{
  const int  k = (int)(blockIdx.x * RECBLOCK_BLOCK + threadIdx.x), p = A.first + k;
  const bool some    = k < A.count;
  const int  row     = some ? A.order[p] : 0;
  const T    inverse = some ? A.scale(p) : 1;

  trsv_wait_for_previous();
  trsv_let_next_start();
  if (some) A.finish(p, row, A.y[p] = trsv_canonical(A.right[p] * inverse));
}

/* One level set of a block: places [begin, end). */
template <class T> static __global__ void __launch_bounds__(RECBLOCK_BLOCK)
  recblock_level(const RecblockView<T> A, int begin, int end)
{
  const int  p    = begin + (int)(blockIdx.x * RECBLOCK_BLOCK + threadIdx.x);
  const bool some = p < end;
  const int  row = some ? A.order[p] : 0, at = some ? A.offsets[p - A.first] : 0,
             stop    = some ? A.offsets[p - A.first + 1] : 0;
  const T    inverse = some ? A.scale(p) : 1;

  trsv_wait_for_previous();
  trsv_let_next_start();
  if (!some) return;
  T sum = A.right[p];
  for (int k = at; k < stop; k++) sum = fma(-A.values[k], A.y[A.columns[k]], sum);
  A.finish(p, row, A.y[p] = trsv_canonical(sum * inverse));
}

template <class T, int LANES> static __global__ void __launch_bounds__(RECBLOCK_BLOCK)
  recblock_syncfree(const RecblockView<T> A)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int k = (int)(start[0] * (RECBLOCK_BLOCK / LANES) + threadIdx.x / LANES), lane = (int)(threadIdx.x % LANES),
            p            = A.first + k;
  const unsigned mine    = (LANES == 32 ? ~0u : (1u << LANES) - 1) << (threadIdx.x % 32 / LANES * LANES);
  bool           done    = k >= A.count; /* the same in all lanes of a row */
  const int      row     = done ? 0 : A.order[p], stop = done ? 0 : A.offsets[k + 1];
  int            at      = done ? 0 : A.offsets[k] + lane;
  int            column  = at < stop ? A.columns[at] : 0;
  T              value   = at < stop ? A.values[at] : 0, sum = 0;
  const T        inverse = done ? 1 : A.scale(p);

  trsv_wait_for_previous();
  trsv_let_next_start();
  const T        right = done || lane ? 0 : A.right[p];
  const TrsvSync sync  = A.patient();
  TrsvSpinLimit  spin;

  do {
    bool moved = false;

    while (at < stop) {
      T solution = trsv_load(A.y + column);

      if (!trsv_is_ready(solution)) {
        if (moved) spin = TrsvSpinLimit();
        if (moved || spin.more(sync)) break;
        solution = trsv_nan<T>();
      }
      sum   = fma(value, solution, sum);
      moved = true;
      at += LANES;
      if (at < stop) {
        column = A.columns[at];
        value  = A.values[at];
      }
    }
    const bool all = (__ballot_sync(~0u, at >= stop) & mine) == mine;
    if (__any_sync(~0u, all && !done)) {
      T total = sum;

      for (int half = LANES / 2; half; half /= 2) total += __shfl_down_sync(~0u, total, half, LANES);
      if (all && !done && !lane) A.finish(p, row, trsv_publish(A.y + p, (right - total) * inverse));
      done = done || all;
    }
  } while (!__all_sync(~0u, done));
}

/* A component of y for a product. If it is not ready, reports a timeout and returns NaN. */
template <class T> static __device__ __forceinline__ T recblock_known(const RecblockView<T> &A, int column)
{
  const T solution = A.y[column];

  if (trsv_is_ready(solution)) return solution;
  trsv_give_up(A.sync);
  return trsv_nan<T>();
}

/* right -= block * y. One thread for each stored row. */
template <class T> static __global__ void __launch_bounds__(RECBLOCK_BLOCK) recblock_scalar(const RecblockView<T> A)
{
  const int  r    = (int)(blockIdx.x * RECBLOCK_BLOCK + threadIdx.x);
  const bool some = r < A.count;
  const int  p    = !some     ? 0
                    : A.index ? A.index[r]
                              : A.first + r,
             at = some ? A.offsets[r] : 0, stop = some ? A.offsets[r + 1] : 0;

  trsv_wait_for_previous();
  trsv_let_next_start();
  if (at == stop) return;
  T sum = A.right[p];
  for (int k = at; k < stop; k++) sum = fma(-A.values[k], recblock_known(A, A.columns[k]), sum);
  A.right[p] = sum;
}

/* The same. One warp for each stored row. */
template <class T> static __global__ void __launch_bounds__(RECBLOCK_BLOCK) recblock_vector(const RecblockView<T> A)
{
  const int  r = (int)(blockIdx.x * (RECBLOCK_BLOCK / 32) + threadIdx.x / 32), lane = (int)(threadIdx.x % 32);
  const bool some = r < A.count;
  const int  p    = !some     ? 0
                    : A.index ? A.index[r]
                              : A.first + r,
             at = some ? A.offsets[r] : 0, stop = some ? A.offsets[r + 1] : 0;
  T          sum  = 0;

  trsv_wait_for_previous();
  trsv_let_next_start();
  if (at == stop) return; /* the whole warp */
  for (int k = at + lane; k < stop; k += 32) sum = fma(A.values[k], recblock_known(A, A.columns[k]), sum);
  __syncwarp();
  sum = warp_sum(sum);
  if (!lane) A.right[p] -= sum;
}

/* Copies a solution by cuSPARSE to x, and makes y canonical. */
template <class T> static __global__ void __launch_bounds__(RECBLOCK_BLOCK) recblock_finish(const RecblockView<T> A)
{
  const int k = (int)(blockIdx.x * RECBLOCK_BLOCK + threadIdx.x), p = A.first + k;

  if (k < A.count) A.finish(p, A.order[p], A.y[p] = trsv_canonical(A.y[p]));
}

#endif
