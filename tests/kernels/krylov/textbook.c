/*
   CG and BiCGStab as in textbooks.
*/
#include "krylov/textbook.h"

System MakeSystem(int rows, int symmetric, unsigned seed)
{
  Random r = seed;
  System S = {rows, -1, symmetric ? -1 : -0.25, malloc(sizeof(double) * (size_t)rows),
              malloc(sizeof(double) * (size_t)rows)};

  for (int i = 0; i < rows; i++) {
    S.diagonal[i] = 3.2 + RandomReal(&r);
    S.scale[i]    = 0.7 + 0.5 * RandomReal(&r);
  }
  return S;
}

void FreeSystem(System *S)
{
  free(S->diagonal);
  free(S->scale);
}

void Multiply(const System *S, const double *x, double *y)
{
  for (int i = 0; i < S->rows; i++)
    y[i] = (i ? S->lower * x[i - 1] : 0) + S->diagonal[i] * x[i] + (i + 1 < S->rows ? S->upper * x[i + 1] : 0);
}

void Precondition(const System *S, const double *x, double *y)
{
  for (int i = 0; i < S->rows; i++) y[i] = S->scale[i] * x[i];
}

void Operate(const System *S, const double *x, double *y)
{
  Multiply(S, x, y);
  Precondition(S, y, y);
}

static double Dot(int n, const double *x, const double *y)
{
  long double sum = 0;

  for (int i = 0; i < n; i++) sum += (long double)x[i] * y[i];
  return (double)sum;
}

double *HostCG(const System *S, const double *b, TrsvNorm norm, double *norms)
{
  const int n = S->rows;
  double   *x = calloc((size_t)n, sizeof(*x)), *r = malloc(sizeof(*x) * (size_t)n), *z = malloc(sizeof(*x) * (size_t)n),
         *p = malloc(sizeof(*x) * (size_t)n), *w = malloc(sizeof(*x) * (size_t)n), rho = 1;

  memcpy(r, b, sizeof(*r) * (size_t)n);
  for (int k = 0; k <= ITERATIONS; k++) {
    if (k) {
      Multiply(S, p, w);
      const double alpha = rho / Dot(n, p, w);
      for (int i = 0; i < n; i++) x[i] += alpha * p[i], r[i] -= alpha * w[i];
    }
    Precondition(S, r, z);
    const double next = Dot(n, r, z);
    for (int i = 0; i < n; i++) p[i] = z[i] + (k ? next / rho * p[i] : 0);
    rho      = next;
    norms[k] = norm == TRSV_NORM_NONE             ? 0
             : norm == TRSV_NORM_PRECONDITIONED   ? sqrt(Dot(n, z, z))
             : norm == TRSV_NORM_UNPRECONDITIONED ? sqrt(Dot(n, r, r))
                                                  : sqrt(fabs(rho));
  }
  free(r);
  free(z);
  free(p);
  free(w);
  return x;
}

double *HostBCGS(const System *S, const double *b, double *norms)
{
  const int n = S->rows;
  double   *x = calloc((size_t)n, sizeof(*x)), *v[6], rho = 1, alpha = 1, omega = 1;

  for (int i = 0; i < 6; i++) v[i] = calloc((size_t)n, sizeof(*x));
  double *const r = v[0], *const r0 = v[1], *const p = v[2], *const q = v[3], *const s = v[4], *const t = v[5];
  Precondition(S, b, r);
  memcpy(r0, r, sizeof(*r) * (size_t)n);
  norms[0] = sqrt(Dot(n, r, r));
  for (int k = 1; k <= ITERATIONS; k++) {
    const double next = Dot(n, r, r0), beta = next / rho * (alpha / omega);
    for (int i = 0; i < n; i++) p[i] = r[i] + beta * (p[i] - omega * q[i]);
    rho = next;
    Operate(S, p, q);
    alpha = rho / Dot(n, q, r0);
    for (int i = 0; i < n; i++) s[i] = r[i] - alpha * q[i];
    Operate(S, s, t);
    omega = Dot(n, s, t) / Dot(n, t, t);
    for (int i = 0; i < n; i++) x[i] += alpha * p[i] + omega * s[i], r[i] = s[i] - omega * t[i];
    norms[k] = sqrt(Dot(n, r, r));
  }
  for (int i = 0; i < 6; i++) free(v[i]);
  return x;
}
