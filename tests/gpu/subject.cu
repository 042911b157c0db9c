/*
   Solves and comparisons.

   Mapping: a thread for each number or row. Memory order: no thread reads what another writes; atomicAdd() counts the
   differences. Why it ends: no thread waits.
*/
#include <complex>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/sync.cuh"
#include "subject.h"

enum { BLOCK = 256 };

long failures;

extern "C" void ReportFailure(const char *where, const char *what, ...)
{
  va_list a;

  failures++;
  printf("WRONG %s: ", where);
  va_start(a, what);
  vprintf(what, a);
  va_end(a);
  putchar('\n');
  fflush(stdout);
}

extern "C" double ErrorBound(TrsvPrecision p) { return TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-5 : 1e-12; }

/* Counts words that differ, and poisons x for the next solve. */
template <class W> static __global__ void compare_words(size_t n, const W *first, W *x, W poison, unsigned *differ)
{
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= n) return;
  if (x[i] != first[i]) atomicAdd(differ, 1u);
  x[i] = poison;
}

/* Counts rows whose backward error is over the bound, of SIDES solutions. */
template <class T> static __global__ void compare_residuals(int rows, const int *offsets, const int *columns, bool unit,
                                                            const T *values, const T *b, const T *x, double bound,
                                                            unsigned *differ)
{
  const int at = trsv_index(), side = at / rows, i = at % rows;

  if (side >= SIDES) return;
  const T *const mine = x + (size_t)side * rows;
  double         r = (double)b[at], scale = fabs(r);
  if (unit) r -= (double)mine[i], scale += fabs((double)mine[i]);
  for (int k = offsets[i]; k < offsets[i + 1]; k++) {
    const double product = (double)values[k] * (double)mine[columns[k]];

    r -= product;
    scale += fabs(product);
  }
  if (!(fabs(r) <= bound * scale)) atomicAdd(differ, 1u);
}

static void *CheckMemory(void *p)
{
  if (p) return p;
  fprintf(stderr, "no memory\n");
  exit(2);
}

static size_t Bytes(TrsvPrecision p, size_t n) { return TrsvValueSize(p) * n; }

typedef std::complex<double> Number; /* of any precision */

static Number Get(const void *a, TrsvPrecision p, size_t i)
{
  switch (p) {
  case TRSV_FLOAT: return ((const float *)a)[i];
  case TRSV_DOUBLE: return ((const double *)a)[i];
  case TRSV_COMPLEX_FLOAT: return ((const std::complex<float> *)a)[i];
  default: return ((const Number *)a)[i];
  }
}

static void Set(void *a, TrsvPrecision p, size_t i, Number v)
{
  switch (p) {
  case TRSV_FLOAT: ((float *)a)[i] = (float)v.real(); break;
  case TRSV_DOUBLE: ((double *)a)[i] = v.real(); break;
  case TRSV_COMPLEX_FLOAT: ((std::complex<float> *)a)[i] = std::complex<float>(v); break;
  default: ((Number *)a)[i] = v;
  }
}

/* v; if p is complex, a number of its magnitude and of a random direction. */
static Number WithRandomDirection(double v, TrsvPrecision p, Seed *seed)
{
  return TrsvIsComplex(p) ? std::polar(fabs(v), 4 * RandomReal(seed)) : v;
}

static void CheckError(TrsvError e)
{
  if (!e) return;
  fprintf(stderr, "%s\n", TrsvErrorMessage());
  exit(2);
}

extern "C" void *Upload(const void *from, size_t bytes)
{
  void *p;

  CheckError(TrsvDeviceAlloc(bytes, &p));
  CheckError(TrsvDeviceUpload(p, from, bytes, NULL));
  return p;
}

extern "C" size_t DeviceBytesLeft(void)
{
#ifdef TRSV_SIMT
  return 0;
#else
  size_t left = 0, all;

  CheckError(TrsvDeviceWait(NULL));
  (void)cudaMemGetInfo(&left, &all);
  return left;
#endif
}

/* Solves all right-hand sides by serial. */
static void SolveSerially(Case *c)
{
  const TrsvMatrix *A        = &c->dag->view;
  TrsvAnalysis     *analysis = NULL;
  TrsvPlan         *plan     = NULL;

  CheckError(TrsvAnalyze(A, &analysis));
  CheckError(TrsvPlanCreate(A, analysis, NULL, A->offsets[A->rows], NULL, TrsvAlgorithmFind("serial"), 0, &plan));
  CheckError(TrsvPlanSetValues(plan, c->values, TRSV_HOST, NULL));
  for (int s = 0; s < SIDES; s++) {
    const size_t at = Bytes(A->precision, (size_t)s * (size_t)A->rows);

    CheckError(TrsvPlanSolve(plan, (char *)c->b + at, (char *)c->x + at, NULL));
  }
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
}

extern "C" void CaseMake(Case *c, Dag *d, const void *b)
{
  const TrsvMatrix   *A = &d->view;
  const TrsvPrecision p = A->precision;
  const size_t        n = (size_t)A->rows, nnz = (size_t)A->offsets[n];
  Seed                seed = 1234 + (Seed)nnz;

  c->dag    = d;
  c->values = CheckMemory(malloc(Bytes(p, nnz + 1)));
  c->b      = CheckMemory(malloc(Bytes(p, SIDES * n + 1)));
  c->x      = CheckMemory(malloc(Bytes(p, SIDES * n + 1)));
  for (size_t k = 0; k < nnz; k++) Set(c->values, p, k, WithRandomDirection(d->values[k], p, &seed));
  if (b) memcpy(c->b, b, Bytes(p, SIDES * n));
  else
    for (size_t i = 0; i < SIDES * n; i++) Set(c->b, p, i, WithRandomDirection(RandomReal(&seed), p, &seed));
  SolveSerially(c);
  c->device         = *A;
  c->device.offsets = (int *)Upload(A->offsets, sizeof(int) * (n + 1));
  c->device.columns = (int *)Upload(A->columns, sizeof(int) * nnz);
  c->device.memory  = TRSV_DEVICE;
  c->device_values  = Upload(c->values, Bytes(p, nnz));
}

extern "C" void CaseFree(Case *c)
{
  free(c->values);
  free(c->b);
  free(c->x);
  TrsvDeviceFree((void *)c->device.offsets);
  TrsvDeviceFree((void *)c->device.columns);
  TrsvDeviceFree(c->device_values);
}

static double BackwardError(const Case *c, const void *b, const void *x)
{
  const TrsvMatrix   *A     = &c->dag->view;
  const TrsvPrecision p     = A->precision;
  double              worst = 0;

  for (int i = 0; i < A->rows; i++) {
    Number r     = Get(b, p, (size_t)i);
    double scale = std::abs(r);

    if (A->diagonal == TRSV_DIAGONAL_UNIT) r -= Get(x, p, (size_t)i), scale += std::abs(Get(x, p, (size_t)i));
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const Number product = Get(c->values, p, (size_t)k) * Get(x, p, (size_t)A->columns[k]);

      r -= product;
      scale += std::abs(product);
    }
    if (!(std::abs(r) <= worst * scale)) worst = std::abs(r) / scale;
    if (worst != worst) return INFINITY;
  }
  return worst;
}

/* The largest difference, relative to the largest number of the reference. */
static double Difference(TrsvPrecision p, size_t n, const void *x, const void *reference)
{
  double most = 0, largest = 0;

  for (size_t i = 0; i < n; i++) {
    const double d = std::abs(Get(x, p, i) - Get(reference, p, i));

    largest = fmax(largest, std::abs(Get(reference, p, i)));
    if (!(d <= most)) most = d;
  }
  return most > 0 ? most / largest : most;
}

static int CheckNear(const Case *c, const void *x, const char *where)
{
  const TrsvPrecision p    = c->dag->view.precision;
  const size_t        rows = (size_t)c->dag->view.rows;

  for (size_t s = 0; s < SIDES; s++) {
    const size_t at    = Bytes(p, s * rows);
    const double other = Difference(p, rows, (const char *)x + at, (const char *)c->x + at);

    if (other <= 10 * ErrorBound(p)) continue;
    ReportFailure(where, "right-hand side %zu: %g from serial, relative to its largest number", s, other);
    return 0;
  }
  return 1;
}

static int CheckSolutions(const Case *c, const void *x, const char *where)
{
  const TrsvMatrix *A = &c->dag->view;

  for (int s = 0; s < SIDES; s++) {
    const size_t at    = Bytes(A->precision, (size_t)s * (size_t)A->rows);
    const double error = BackwardError(c, (const char *)c->b + at, (const char *)x + at);

    if (error <= ErrorBound(A->precision)) continue;
    ReportFailure(where, "right-hand side %d: backward error %g", s, error);
    return 0;
  }
  return CheckNear(c, x, where);
}

static void *SideOf(const Subject *s, void *a, unsigned side)
{
  return (char *)a + Bytes(s->precision, (size_t)side * (size_t)s->rows);
}

static void AllocateVectors(Subject *s, const void *b)
{
  const size_t n      = Bytes(s->precision, SIDES * (size_t)s->rows);
  void        *poison = CheckMemory(malloc(n + 1));

  memset(poison, 0xee, n);
  s->b     = Upload(b, n);
  s->x     = Upload(poison, n);
  s->first = Upload(poison, n);
  CheckError(TrsvDeviceAlloc(sizeof(unsigned), &s->differ));
  CheckError(TrsvDeviceClear(s->differ, sizeof(unsigned), NULL));
  free(poison);
}

static TrsvError SolveOne(Subject *s, const void *b, void *x, int next)
{
  if (s->pair) return TrsvPairSolve(s->pair, b, x, s->stream);
  return next ? TrsvPlanSolveNext(s->plan, b, x, s->stream) : TrsvPlanSolve(s->plan, b, x, s->stream);
}

/* The first solution of each right-hand side; copies them to the host. */
static int SolveFirst(Subject *s, void *x, const char *where)
{
  TrsvError error = TRSV_SUCCESS;

  for (unsigned side = 0; !error && side < SIDES; side++)
    error = SolveOne(s, SideOf(s, s->b, side), SideOf(s, s->first, side), 0);
  if (!error) error = TrsvDeviceDownload(x, s->first, Bytes(s->precision, SIDES * (size_t)s->rows), NULL);
  if (error) ReportFailure(where, "%s", TrsvErrorMessage());
  return !error;
}

extern "C" int SubjectMake(Subject *s, const Case *c, TrsvPlan *plan, const char *where)
{
  void *x = CheckMemory(malloc(Bytes(c->dag->view.precision, SIDES * (size_t)c->dag->view.rows + 1)));
  int   ok;

  *s = {plan, NULL, c->dag->view.precision, c->dag->view.rows, (plan->algorithm->traits & TRSV_BITS_VARY) != 0, c};
  AllocateVectors(s, c->b);
  ok = SolveFirst(s, x, where) && CheckSolutions(c, x, where);
  free(x);
  return ok;
}

/* to[i] = from[order[i]] for each right-hand side, or to[order[i]] = from[i]; order NULL: a copy. */
static void Permute(const int *order, int rows, size_t size, const void *from, void *to, int scatter)
{
  for (int k = 0; k < SIDES * rows; k++) {
    const int    place = order ? k - k % rows + order[k % rows] : k;
    const size_t f = size * (size_t)(scatter ? k : place), t = size * (size_t)(scatter ? place : k);

    memcpy((char *)to + t, (const char *)from + f, size);
  }
}

extern "C" int SubjectMakePair(Subject *s, TrsvPair *pair, const Case *U, const void *b, const int *order,
                               const char *where)
{
  const TrsvPrecision p      = U->dag->view.precision;
  const int           rows   = U->dag->view.rows;
  void               *x      = CheckMemory(malloc(Bytes(p, SIDES * (size_t)rows + 1)));
  void               *placed = CheckMemory(calloc(SIDES * (size_t)rows + 1, TrsvValueSize(p)));
  int                 ok;

  *s = {NULL, pair, p, rows};
  Permute(order, rows, TrsvValueSize(p), b, placed, 1);
  AllocateVectors(s, placed);
  ok = SolveFirst(s, placed, where);
  Permute(order, rows, TrsvValueSize(p), placed, x, 0);
  ok = ok && CheckNear(U, x, where);
  free(x);
  free(placed);
  return ok;
}

template <class T> static TrsvError CompareResiduals(Subject *s)
{
  const TrsvMatrix *A = &s->c->device;

  TRSV_LAUNCH(compare_residuals<T>, TrsvBlocks((long)SIDES * s->rows, BLOCK), BLOCK, 0, s->stream, s->rows, A->offsets,
              A->columns, A->diagonal == TRSV_DIAGONAL_UNIT, (const T *)s->c->device_values, (const T *)s->b,
              (const T *)s->x, ErrorBound(s->precision), s->differ);
  return TrsvDeviceCheckLaunch("compare_residuals");
}

template <class W> static TrsvError CompareWords(Subject *s)
{
  const size_t n = SIDES * (size_t)s->rows * (TrsvIsComplex(s->precision) ? 2 : 1);

  TRSV_LAUNCH(compare_words<W>, TrsvBlocks((long)n, BLOCK), BLOCK, 0, s->stream, n, (const W *)s->first, (W *)s->x,
              (W)0xeeeeeeeeeeeeeeeeull, s->differ);
  return TrsvDeviceCheckLaunch("compare_words");
}

extern "C" TrsvError SubjectSolve(Subject *s, Seed *seed)
{
  const unsigned start = RandomBelow(seed, SIDES), early = RandomBelow(seed, 2);

  for (unsigned n = 0; n < SIDES; n++) {
    const unsigned side = (start + n) % SIDES;

    TrsvCall(SolveOne(s, SideOf(s, s->b, side), SideOf(s, s->x, side), early && n));
  }
  if (!s->rows) return TRSV_SUCCESS;
  if (s->vary) {
    TrsvCall(s->precision == TRSV_FLOAT ? CompareResiduals<float>(s) : CompareResiduals<double>(s));
    return TrsvDeviceClear(s->x, Bytes(s->precision, SIDES * (size_t)s->rows), s->stream);
  }
  return TrsvRealPrecision(s->precision) == TRSV_FLOAT ? CompareWords<unsigned>(s)
                                                       : CompareWords<unsigned long long>(s);
}

extern "C" int SubjectCheck(Subject *s, const char *where)
{
  unsigned        differ = 0;
  const TrsvError error  = TrsvDeviceDownload(&differ, s->differ, sizeof(differ), s->stream);

  if (error) ReportFailure(where, "%s", TrsvErrorMessage());
  else if (differ) ReportFailure(where, "%u numbers differ from the first solution's", differ);
  if (differ) CheckError(TrsvDeviceClear(s->differ, sizeof(unsigned), NULL));
  return !error && !differ;
}

extern "C" void SubjectFree(Subject *s)
{
  TrsvPlanDestroy(&s->plan);
  TrsvPairDestroy(&s->pair);
  TrsvDeviceFree(s->b);
  TrsvDeviceFree(s->x);
  TrsvDeviceFree(s->first);
  TrsvDeviceFree(s->differ);
}
