/*
   Conjugate gradients between the products.

   Source: M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952. Breakdowns
   are those that PETSc's KSPCG finds.

   Mapping: thread i has rows i, i + n, i + 2 n, ... of n threads in the launch. Memory order: scalars cross launches;
   partial sums cross blocks in krylov_sum(). Why it ends: no block waits for another. Same bits: the order of a sum
   depends only on the numbers of rows and of multiprocessors.
*/
#include "krylov/krylov.cuh"

/* alpha = rho / p.w */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  cg_curvature(const KrylovView K, int k, const double *p, const double *w)
{
  KrylovScalars *const s = K.scalars;
  double               sum[1] = {0};

  if (k > s->last) return;
  krylov_each(K.rows, [&](int i) { sum[0] = fma(p[i], w[i], sum[0]); });
  if (!krylov_sum(K, sum)) return;
  const double before = s->curvature;
  s->curvature        = sum[0];
  s->alpha            = s->rho / sum[0];
  if (!krylov_is_finite(sum[0])) krylov_break(K, k, TRSV_NOT_A_NUMBER);
  else if (sum[0] == 0 || (k > 1 && (sum[0] < 0) != (before < 0))) krylov_break(K, k, TRSV_INDEFINITE_MATRIX);
}

static __global__ void __launch_bounds__(KRYLOV_BLOCK) cg_step(const KrylovView K, int k, const double *w, double *r)
{
  if (k > K.scalars->last) return;
  const double alpha = K.scalars->alpha;
  krylov_each(K.rows, [&](int i) { r[i] = fma(-alpha, w[i], r[i]); });
}

/* rho = r.z, beta = rho / the previous rho, and the norm. */
static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  cg_residual(const KrylovView K, int k, const double *r, const double *z, const TrsvStopping stopping)
{
  KrylovScalars *const s = K.scalars;
  const double *const  v = K.norm == TRSV_NORM_UNPRECONDITIONED ? r : z;
  double               sum[2] = {0, 0};

  if (k > s->last) return;
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
                !krylov_is_finite(rho)           ? TRSV_NEXT_NOT_A_NUMBER
                : rho == 0                       ? TRSV_NEXT_ZERO
                : k > 0 && rho * before < 0      ? TRSV_NEXT_INDEFINITE_PC
                                                 : TRSV_RUNS,
                stopping);
}

static __global__ void __launch_bounds__(KRYLOV_BLOCK)
  cg_advance(const KrylovView K, int k, const double *z, double *p, double *x)
{
  if (k > K.scalars->last) return;
  const double alpha = K.scalars->alpha, beta = K.scalars->beta;
  krylov_each(K.rows, [&](int i) {
    const double direction = p[i];
    x[i]                   = fma(alpha, direction, x[i]);
    p[i]                   = fma(beta, direction, z[i]);
  });
}

extern "C" TrsvError TrsvCGStep(TrsvKrylov *c, int k, const double *p, const double *w, double *r)
{
  c->launched = k;
  TrsvCall(KRYLOV_LAUNCH(c, cg_curvature, k, p, w));
  return KRYLOV_LAUNCH(c, cg_step, k, w, r);
}

extern "C" TrsvError TrsvCGResidual(TrsvKrylov *c, int k, const double *r, const double *z,
                                    const TrsvStopping *stopping)
{
  c->launched = k;
  return KRYLOV_LAUNCH(c, cg_residual, k, r, z, *stopping);
}

extern "C" TrsvError TrsvCGAdvance(TrsvKrylov *c, int k, const double *z, double *p, double *x)
{
  return KRYLOV_LAUNCH(c, cg_advance, k, z, p, x);
}
