/*
   BiCGStab between the products.

   Source: H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of
   nonsymmetric linear systems, 1992. Breakdowns are those that PETSc's KSPBCGS finds.

   Mapping: thread i has rows i, i + n, i + 2 n, ... of n threads in the launch. Memory order: scalars cross launches;
   partial sums cross blocks in krylov_sum(). Why it ends: no block waits for another. Same bits: the order of a sum
   depends only on the numbers of rows and of multiprocessors.
*/
#include "krylov/krylov.cuh"

static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_residual(const KrylovView K, const double *r, const double *r0)
{
  const TrsvStopping never  = {};
  double             sum[2] = {0, 0};

  krylov_each(K.rows, [&](int i) {
    sum[0] = fma(r[i], r0[i], sum[0]);
    sum[1] = fma(r[i], r[i], sum[1]);
  });
  if (!krylov_sum(K, sum)) return;
  K.scalars->rho = sum[0];
  krylov_finish(K, 0, K.norm == TRSV_NORM_NONE ? 0 : sqrt(sum[1]), TRSV_RUNS, never);
}

/* p = r + beta (p - omega v) */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_direction(const KrylovView K, int k, const double *r, const double *v, double *p)
{
  const KrylovScalars *const s = K.scalars;

  if (k > s->last) return;
  if (k == 1) krylov_each(K.rows, [&](int i) { p[i] = r[i]; });
  else {
    const double beta = s->rho / s->rho_before * (s->alpha / s->omega), omega = s->omega;
    krylov_each(K.rows, [&](int i) { p[i] = fma(beta, fma(-omega, v[i], p[i]), r[i]); });
  }
}

/* alpha = rho / v.r0 */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_alpha(const KrylovView K, int k, const double *v, const double *r0)
{
  KrylovScalars *const s = K.scalars;
  double               sum[1] = {0};

  if (k > s->last) return;
  krylov_each(K.rows, [&](int i) { sum[0] = fma(v[i], r0[i], sum[0]); });
  if (!krylov_sum(K, sum)) return;
  s->alpha = s->rho / sum[0];
  if (!krylov_is_finite(sum[0])) krylov_break(K, k, TRSV_NOT_A_NUMBER);
  else if (sum[0] == 0) krylov_break(K, k, TRSV_BREAKDOWN);
}

/* s = r - alpha v */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_half(const KrylovView K, int k, const double *v, const double *r, double *half)
{
  if (k > K.scalars->last) return;
  const double alpha = K.scalars->alpha;
  krylov_each(K.rows, [&](int i) { half[i] = fma(-alpha, v[i], r[i]); });
}

/* omega = s.t / t.t */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  bcgs_omega(const KrylovView K, int k, const double *half, const double *t)
{
  KrylovScalars *const s = K.scalars;
  double               sum[3] = {0, 0, 0};

  if (k > s->last) return;
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

  if (k > s->last) return;
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

extern "C" TrsvError TrsvBCGSResidual(TrsvKrylov *c, const double *r, const double *r0)
{
  return KRYLOV_LAUNCH(c, bcgs_residual, r, r0);
}

extern "C" TrsvError TrsvBCGSDirection(TrsvKrylov *c, int k, const double *r, const double *v, double *p)
{
  return KRYLOV_LAUNCH(c, bcgs_direction, k, r, v, p);
}

extern "C" TrsvError TrsvBCGSHalf(TrsvKrylov *c, int k, const double *v, const double *r0, const double *r, double *s)
{
  c->launched = k;
  TrsvCall(KRYLOV_LAUNCH(c, bcgs_alpha, k, v, r0));
  return KRYLOV_LAUNCH(c, bcgs_half, k, v, r, s);
}

extern "C" TrsvError TrsvBCGSUpdate(TrsvKrylov *c, int k, const double *p, const double *s, const double *t,
                                    const double *r0, double *x, double *r, const TrsvStopping *stopping)
{
  TrsvCall(KRYLOV_LAUNCH(c, bcgs_omega, k, s, t));
  return KRYLOV_LAUNCH(c, bcgs_update, k, p, s, t, r0, x, r, *stopping);
}
