/*
   krylov.cuh: the scalars of a Krylov method on the device, sums over all rows, and reports to the host.
*/
#ifndef TRSV_KRYLOV_CUH
#define TRSV_KRYLOV_CUH

#include <limits.h>
#include "device/sync.cuh"
#include "krylov/krylov.h"

enum {
  KRYLOV_BLOCK      = 256, /* threads */
  KRYLOV_PER_SM     = 4,   /* blocks of a launch for each multiprocessor */
  KRYLOV_SUMS       = 3,   /* of a launch, at most */
  KRYLOV_REPORTS    = 4,   /* reports that are kept: the host reads one of the last two iterations */
  KRYLOV_REPORT     = 4    /* words of a report: two of the norm, the state, and its number, which is written last */
};

/* On the device. rho is r.z of CG, r.r0 of BiCGStab. */
struct KrylovScalars {
  double   rho, rho_before, curvature, alpha, beta, omega;
  int      last;    /* the last iteration that may change vectors; INT_MAX until one stops */
  int      pending; /* BiCGStab: the state of an iteration that is known before its report */
  unsigned arrived; /* blocks of a launch that have stored their sums */
};

/* The common argument of all kernels. */
struct KrylovView {
  int            rows;
  TrsvNorm       norm;
  KrylovScalars *scalars;
  double        *partial; /* [KRYLOV_SUMS * blocks] */
  unsigned      *reports; /* [KRYLOV_REPORTS * KRYLOV_REPORT], pinned */
  unsigned       first;   /* the number of iteration 0's report; each report of an object has another number */
};

struct TrsvKrylov {
  KrylovView view;
  void      *memory; /* of the scalars and the partial sums */
  unsigned   blocks, most_blocks;
  int        launched; /* the last iteration of this solve of which at least a part was launched */
  TrsvStream stream;
};

#define KRYLOV_LAUNCH(k, kernel, ...) \
  TrsvLaunch(kernel, (k)->blocks, KRYLOV_BLOCK, 0, (k)->stream, (k)->view, __VA_ARGS__)

/* Calls f(i) for each row of this thread. */
template <class F> static __device__ __forceinline__ void krylov_each(int rows, F f)
{
  const int stride = (int)(gridDim.x * blockDim.x);

#pragma unroll 4
  for (int i = trsv_index(); i < rows; i += stride) f(i);
}

/* Adds up each sum over all threads of the launch. Returns true in one thread, which gets the totals. The block that
   arrives last adds up the partial sums of all blocks, in the order of the blocks: the same bits every run. An arrival
   releases the block's partial sums and acquires those of earlier arrivals. No block waits for another. */
template <int N> static __device__ __forceinline__ bool krylov_sum(const KrylovView &K, double (&sum)[N])
{
  TRSV_SHARED(unsigned, last, 1);

  trsv_block_sum<KRYLOV_BLOCK>(sum);
  if (threadIdx.x == 0) {
    for (int n = 0; n < N; n++) trsv_store(K.partial + n * (int)gridDim.x + (int)blockIdx.x, sum[n]);
    last[0] = trsv_arrive(&K.scalars->arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last[0]) return false;
  for (int n = 0; n < N; n++) {
    sum[n] = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += KRYLOV_BLOCK)
      sum[n] += trsv_load(K.partial + n * (int)gridDim.x + (int)i);
  }
  trsv_block_sum<KRYLOV_BLOCK>(sum);
  return threadIdx.x == 0;
}

static __device__ __forceinline__ bool krylov_is_finite(double v) { return v - v == 0; }

/* Reports iteration k to the host. */
static __device__ __forceinline__ void krylov_report(const KrylovView &K, int k, double norm, TrsvKrylovState state)
{
  unsigned *const          report = K.reports + k % KRYLOV_REPORTS * KRYLOV_REPORT;
  const unsigned long long bits   = trsv_bits(norm);

  trsv_store_host(report, (unsigned)bits);
  trsv_store_host(report + 1, (unsigned)(bits >> 32));
  trsv_store_host(report + 2, (unsigned)state);
  trsv_release_host(report + 3, K.first + (unsigned)k);
}

/* Applies the stopping rule to iteration k, which has changed x, and reports it. */
static __device__ __forceinline__ void krylov_finish(const KrylovView &K, int k, double norm, TrsvKrylovState state,
                                                     const TrsvStopping &stopping)
{
  const bool counts = k >= stopping.min_iterations && K.norm != TRSV_NORM_NONE;

  if (state == TRSV_RUNS && stopping.enabled && k > 0 &&
      (!krylov_is_finite(norm) || k >= stopping.iterations ||
       (counts && (norm <= stopping.convergence || norm >= stopping.divergence))))
    state = TRSV_STOPPED;
  if (state != TRSV_RUNS) K.scalars->last = k;
  krylov_report(K, k, norm, state);
}

/* Reports that iteration k breaks down before it changes x. */
static __device__ __forceinline__ void krylov_break(const KrylovView &K, int k, TrsvKrylovState state)
{
  K.scalars->last = k - 1;
  krylov_report(K, k, 0, state);
}

#endif
