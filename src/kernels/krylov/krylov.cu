/*
   CG and BiCGStab between the products: the scalars on the device, sums over all rows, reports to the host.

   Sources: M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952;
   H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
   linear systems, 1992. Breakdowns are those that PETSc's KSPCG and KSPBCGS find.

   Mapping: thread i has rows i, i + n, i + 2 n, ... of n threads in the launch. Memory order: scalars cross launches;
   partial sums cross blocks in krylov_sum(). Why it ends: no block waits for another. Same bits: the order of a sum
   depends only on the numbers of rows and of multiprocessors.
*/
#include <string.h>
#include "device/setup.cuh"
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
  int      end;     /* the first iteration that changes no vector; 0 until one stops */
  int      pending; /* BiCGStab: the state of an iteration that is known before its report */
  unsigned arrived; /* blocks of a launch that have stored their sums */
};

/* The common argument of all kernels. */
struct KrylovView {
  int            rows;
  TrsvKrylovType type;
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

/* Calls f(i) for each row of this thread. */
template <class F> static TRSV_INLINE void krylov_each(int rows, F f)
{
  const int stride = (int)(gridDim.x * blockDim.x);

#pragma unroll 4
  for (int i = trsv_index(); i < rows; i += stride) f(i);
}

/* Adds up each sum over all threads of the launch. Returns true in one thread, which gets the totals. The block that
   arrives last adds up the partial sums of all blocks, in the order of the blocks: the same bits every run. An arrival
   releases the block's partial sums and acquires those of earlier arrivals. No block waits for another. */
template <int N> static TRSV_INLINE bool krylov_sum(const KrylovView &K, double (&sum)[N])
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

static TRSV_INLINE bool krylov_is_finite(double v) { return v - v == 0; }
static TRSV_INLINE bool krylov_is_over(const KrylovScalars *s, int k) { return s->end && k >= s->end; }

/* Reports iteration k to the host. */
static TRSV_INLINE void krylov_report(const KrylovView &K, int k, double norm, TrsvKrylovState state)
{
  unsigned *const          report = K.reports + k % KRYLOV_REPORTS * KRYLOV_REPORT;
  const unsigned long long bits   = trsv_bits(norm);

  trsv_store_host(report, (unsigned)bits);
  trsv_store_host(report + 1, (unsigned)(bits >> 32));
  trsv_store_host(report + 2, (unsigned)state);
  trsv_release_host(report + 3, K.first + (unsigned)k);
}

/* Applies the stopping rule to iteration k, which has changed x, and reports it. */
static TRSV_INLINE void krylov_finish(const KrylovView &K, int k, double norm, TrsvKrylovState state,
                                      const TrsvStopping &stopping)
{
  const bool counts = k >= stopping.min_iterations && K.norm != TRSV_NORM_NONE;

  if (state == TRSV_RUNS && stopping.enabled && k > 0 &&
      (!krylov_is_finite(norm) || k >= stopping.iterations ||
       (counts && (norm <= stopping.convergence || norm >= stopping.divergence))))
    state = TRSV_STOPPED;
  if (state != TRSV_RUNS) K.scalars->end = k + 1;
  krylov_report(K, k, norm, state);
}

/* Reports that iteration k breaks down before it changes x. */
static TRSV_INLINE void krylov_break(const KrylovView &K, int k, TrsvKrylovState state)
{
  K.scalars->end = k;
  krylov_report(K, k, 0, state);
}

TrsvError TrsvKrylovCreate(TrsvKrylov **created)
{
  TrsvKrylov *k;
  int         multiprocessors;

  *created = NULL;
  TrsvCall(TrsvAlloc(sizeof(*k), &k));
  TrsvError error = TrsvDeviceMultiprocessors(&multiprocessors);
  if (!error) {
    k->most_blocks = KRYLOV_PER_SM * (unsigned)multiprocessors;
    error          = TrsvArenaAllocate(TrsvDeviceAlloc, [&](TrsvArena &a) {
      a.take(1, k->view.scalars, (size_t)KRYLOV_SUMS * k->most_blocks, k->view.partial);
    }, &k->memory);
  }
  if (!error) error = TrsvPinnedAlloc(KRYLOV_REPORTS * KRYLOV_REPORT, &k->view.reports);
  if (error) TrsvKrylovDestroy(&k);
  *created = k;
  return error;
}

void TrsvKrylovDestroy(TrsvKrylov **destroyed)
{
  TrsvKrylov *const k = *destroyed;

  if (!k) return;
  TrsvDeviceFree(k->memory); /* waits for the device, which may still write reports */
  TrsvPinnedFree(KRYLOV_REPORTS * KRYLOV_REPORT, k->view.reports);
  free(k);
  *destroyed = NULL;
}

TrsvError TrsvKrylovStart(TrsvKrylov *k, int rows, TrsvKrylovType type, TrsvNorm norm, TrsvStream stream)
{
  const unsigned blocks = TrsvBlocks(rows, 2 * KRYLOV_BLOCK);

  k->view.rows = rows;
  k->view.type = type;
  k->view.norm = norm;
  k->view.first += (unsigned)k->launched + 1;
  k->launched = 0;
  k->stream = stream;
  k->blocks = blocks < 1 ? 1 : blocks < k->most_blocks ? blocks : k->most_blocks;
  return TrsvDeviceClear(k->view.scalars, sizeof(*k->view.scalars), stream);
}

TrsvError TrsvKrylovAwait(TrsvKrylov *k, int iteration, TrsvIteration *result)
{
  const unsigned *const report = k->view.reports + iteration % KRYLOV_REPORTS * KRYLOV_REPORT;
  const unsigned        number = k->view.first + (unsigned)iteration;

  TrsvCall(TrsvDeviceAwait(report + 3, number, k->stream));
  const unsigned long long bits = (unsigned long long)report[1] << 32 | report[0];
  memcpy(&result->norm, &bits, sizeof(bits));
  result->state = (TrsvKrylovState)report[2];
  return TRSV_SUCCESS;
}

/* alpha = rho / p.w. p is r0 of BiCGStab. */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  krylov_alpha(const KrylovView K, int k, const double *p, const double *w)
{
  KrylovScalars *const s = K.scalars;
  const bool           cg = K.type == TRSV_CG;
  double               sum[1] = {0};

  if (krylov_is_over(s, k)) return;
  krylov_each(K.rows, [&](int i) { sum[0] = fma(p[i], w[i], sum[0]); });
  if (!krylov_sum(K, sum)) return;
  const double before = s->curvature;
  s->curvature        = sum[0];
  s->alpha            = s->rho / sum[0];
  if (!krylov_is_finite(sum[0])) krylov_break(K, k, TRSV_NOT_A_NUMBER);
  else if (sum[0] == 0 || (cg && k > 1 && (sum[0] < 0) != (before < 0)))
    krylov_break(K, k, cg ? TRSV_INDEFINITE_MATRIX : TRSV_BREAKDOWN);
}

/* half = r - alpha w; CG: half is r. */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  krylov_half(const KrylovView K, int k, const double *w, const double *r, double *half)
{
  if (krylov_is_over(K.scalars, k)) return;
  const double alpha = K.scalars->alpha;
  krylov_each(K.rows, [&](int i) { half[i] = fma(-alpha, w[i], r[i]); });
}

/* rho = r.z, beta = rho / the previous rho, and the norm. z is r0 of BiCGStab, which does not use this beta. */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  krylov_residual(const KrylovView K, int k, const double *r, const double *z, const TrsvStopping stopping)
{
  KrylovScalars *const s  = K.scalars;
  const bool           cg = K.type == TRSV_CG;
  const double *const  v  = cg && K.norm != TRSV_NORM_UNPRECONDITIONED ? z : r;
  double               sum[2] = {0, 0};

  if (krylov_is_over(s, k)) return;
  krylov_each(K.rows, [&](int i) {
    sum[0] = fma(r[i], z[i], sum[0]);
    sum[1] = fma(v[i], v[i], sum[1]);
  });
  if (!krylov_sum(K, sum)) return;
  const double rho = sum[0], before = s->rho,
               norm = K.norm == TRSV_NORM_NONE ? 0 : sqrt(K.norm == TRSV_NORM_NATURAL ? fabs(rho) : sum[1]);
  s->rho  = rho;
  s->beta = rho / before;
  krylov_finish(K, k, norm,
                !cg                         ? TRSV_RUNS
                : !krylov_is_finite(rho)    ? TRSV_NEXT_NOT_A_NUMBER
                : rho == 0                  ? TRSV_NEXT_ZERO
                : k > 0 && rho * before < 0 ? TRSV_NEXT_INDEFINITE_PC
                                            : TRSV_RUNS,
                stopping);
}

static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  cg_advance(const KrylovView K, int k, const double *z, double *p, double *x)
{
  if (krylov_is_over(K.scalars, k)) return;
  const double alpha = K.scalars->alpha, beta = K.scalars->beta;
  krylov_each(K.rows, [&](int i) {
    const double direction = p[i];
    x[i]                   = fma(alpha, direction, x[i]);
    p[i]                   = fma(beta, direction, z[i]);
  });
}

/* p = r + beta (p - omega v) */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_direction(const KrylovView K, int k, const double *r, const double *v, double *p)
{
  const KrylovScalars *const s = K.scalars;

  if (krylov_is_over(s, k)) return;
  if (k == 1) krylov_each(K.rows, [&](int i) { p[i] = r[i]; });
  else {
    const double beta = s->rho / s->rho_before * (s->alpha / s->omega), omega = s->omega;
    krylov_each(K.rows, [&](int i) { p[i] = fma(beta, fma(-omega, v[i], p[i]), r[i]); });
  }
}

/* omega = s.t / t.t */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_omega(const KrylovView K, int k, const double *half, const double *t)
{
  KrylovScalars *const s = K.scalars;
  double               sum[3] = {0, 0, 0};

  if (krylov_is_over(s, k)) return;
  krylov_each(K.rows, [&](int i) {
    sum[0] = fma(half[i], t[i], sum[0]);
    sum[1] = fma(t[i], t[i], sum[1]);
    sum[2] = fma(half[i], half[i], sum[2]);
  });
  if (!krylov_sum(K, sum)) return;
  s->omega   = sum[1] == 0 ? 0 : sum[0] / sum[1];
  s->pending = sum[1] == 0 ? TRSV_EXACT : TRSV_RUNS;
  if (sum[1] == 0 && sum[2] != 0) krylov_break(K, k, TRSV_BREAKDOWN);
}

/* x += alpha p + omega s; r = s - omega t; the norm, and rho of the next iteration */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_update(const KrylovView K, int k, const double *p, const double *half, const double *t, const double *r0,
              double *x, double *r, const TrsvStopping stopping)
{
  KrylovScalars *const s = K.scalars;
  double               sum[2] = {0, 0};

  if (krylov_is_over(s, k)) return;
  const double alpha = s->alpha, omega = s->omega;
  krylov_each(K.rows, [&](int i) {
    const double residual = fma(-omega, t[i], half[i]);
    x[i]                  = fma(alpha, p[i], fma(omega, half[i], x[i]));
    r[i]                  = residual;
    sum[0]                = fma(residual, r0[i], sum[0]);
    sum[1]                = fma(residual, residual, sum[1]);
  });
  if (!krylov_sum(K, sum)) return;
  s->rho_before = s->rho;
  s->rho        = sum[0];
  krylov_finish(K, k, K.norm == TRSV_NORM_NONE ? 0 : sqrt(sum[1]),
                s->pending           ? (TrsvKrylovState)s->pending
                : s->rho_before == 0 ? TRSV_NEXT_BREAKDOWN
                                     : TRSV_RUNS,
                stopping);
}

#define KRYLOV_LAUNCH(k, kernel, ...) \
  TrsvLaunch(kernel, (k)->blocks, KRYLOV_BLOCK, 0, (k)->stream, (k)->view, __VA_ARGS__)

TrsvError TrsvKrylovResidual(TrsvKrylov *c, int k, const double *r, const double *z, const TrsvStopping *stopping)
{
  return KRYLOV_LAUNCH(c, krylov_residual, k, r, z, *stopping);
}

TrsvError TrsvKrylovHalf(TrsvKrylov *c, int k, const double *p, const double *w, const double *r, double *half)
{
  c->launched = k;
  TrsvCall(KRYLOV_LAUNCH(c, krylov_alpha, k, p, w));
  return KRYLOV_LAUNCH(c, krylov_half, k, w, r, half);
}

TrsvError TrsvCGAdvance(TrsvKrylov *c, int k, const double *z, double *p, double *x)
{
  return KRYLOV_LAUNCH(c, cg_advance, k, z, p, x);
}

TrsvError TrsvBCGSDirection(TrsvKrylov *c, int k, const double *r, const double *v, double *p)
{
  return KRYLOV_LAUNCH(c, bcgs_direction, k, r, v, p);
}

TrsvError TrsvBCGSUpdate(TrsvKrylov *c, int k, const double *p, const double *s, const double *t, const double *r0,
                         double *x, double *r, const TrsvStopping *stopping)
{
  TrsvCall(KRYLOV_LAUNCH(c, bcgs_omega, k, s, t));
  return KRYLOV_LAUNCH(c, bcgs_update, k, p, s, t, r0, x, r, *stopping);
}
