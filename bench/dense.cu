/*
   dense: times and checks dense triangular solves: every form of ours, cuBLAS's trsv, and one core of the host.

     dense [-o FILE.jsonl] [-m MS] [-p double|float] [N...]

   For each size (default: 32, 64, ... 16384): a lower triangle of seeded values with a dominant diagonal, stored by
   columns on the device. Times and errors are those of measure.cuh: medians of as many solves as fit into MS
   milliseconds (5 to 200), and the largest componentwise backward error. "values" is the time from an array on the
   device until a solve could start. cuBLAS solves in place: b is copied to x before the time starts.

   Each result is a JSON object, a line of FILE. The exit status is 1 if an error of ours is over the bound or bits
   differ.
*/
#include <cublas_v2.h>
#include "papers/dense/dense.h"
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "solve/model/model.h"
#include "measure.cuh"

/* in [0, 1), by position */
static __host__ __device__ double Uniform(unsigned long long seed)
{
  unsigned long long z = seed * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull;

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

template <class T> static __global__ void Fill(int n, T *L)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  for (int j = 0; i < n && j < n; j++) {
    const double u = Uniform((unsigned long long)i * n + j);

    L[i + (size_t)n * j] = (T)(j == i ? 1 + 0.5 * u : j > i ? NAN : (2 * u - 1) / (i + 1)); /* must not be read */
  }
}

template <class T> static __global__ void Backward(int n, const T *L, const T *b, const T *x, double *errors)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i >= n) return;
  double r = b[i], scale = fabs((double)b[i]);
  for (int j = 0; j <= i; j++) {
    const double p = (double)L[i + (size_t)n * j] * x[j];

    r -= p;
    scale += fabs(p);
  }
  errors[i] = scale > 0 ? fabs(r) / scale : scale;
}

struct Options {
  FILE  *json   = nullptr;
  double budget = 60;
  int    bad    = 0;
};

template <class T> struct Problem {
  int                 n;
  DeviceArray<T>      L, b, x;
  DeviceArray<double> errors;
  double              cpu_ms = -1, cublas_ms = -1;

  explicit Problem(int n_)
      : n(n_), L((size_t)n_ * n_), b(RightHandSide<T>(n_).data(), (size_t)n_), x((size_t)n_), errors((size_t)n_)
  {
    Fill<<<(n + 127) / 128, 128>>>(n, L.p);
    CheckCuda(cudaDeviceSynchronize(), "values");
  }

  double Error(const std::vector<T> &solution)
  {
    DeviceArray<T> y(solution.data(), solution.size());

    Backward<<<(n + 127) / 128, 128>>>(n, L.p, b.p, y.p, errors.p);
    const std::vector<double> e     = errors.Fetch("errors");
    double                    worst = 0;
    for (double v : e) worst = v <= worst ? worst : v; /* a NaN stays */
    return worst;
  }

  /* Column by column, as the array is stored; the best of three. */
  void Serial()
  {
    const std::vector<T> A = L.Fetch("the matrix"), right = b.Fetch("b");

    for (int r = 0; r < 3; r++) {
      std::vector<T> y     = right;
      const double   start = Milliseconds();
      for (int j = 0; j < n; j++) {
        const T *const a = A.data() + (size_t)n * j, v = y[j] /= a[j];
        for (int i = j + 1; i < n; i++) y[i] -= a[i] * v;
      }
      const double ms = Milliseconds() - start;
      cpu_ms          = cpu_ms < 0 || ms < cpu_ms ? ms : cpu_ms;
      if (!(Error(y) < 1)) exit(2);
    }
  }
};

template <class T> static void WriteResult(const Problem<T> &p, const char *name, int block, int launches,
                                           const char *solved, const Result &r, Options &o)
{
  const double bound = (sizeof(T) == 4 ? 1e-6 : 1e-15) * (4 + p.n / 16.);
  const bool   ours = strcmp(name, "cublas") != 0, ok = !r.failure[0] && r.error <= bound && (r.same_bits || !ours);

  if (ours && !ok) o.bad++;
  printf("%6d %-9s block %5d%s %9.4f ms (graph %.4f) %7.2fx cuBLAS %7.2fx CPU, values %9.4f ms, error %.1e%s%s%s %s\n",
         p.n, name, block, launches ? " launches" : "         ", r.ms, r.graph_ms, p.cublas_ms / r.ms, p.cpu_ms / r.ms,
         r.analysis_ms, r.error, r.same_bits ? "" : " BITS DIFFER", ok || !ours ? "" : " WRONG",
         *solved && strcmp(solved, name) ? " solved as simple" : "", r.failure);
  fflush(stdout);
  if (!o.json) return;
  fprintf(o.json,
          "{\"rows\": %d, \"precision\": \"%s\", \"form\": \"%s\", \"block\": %d, \"launches\": %s, \"solved\": "
          "\"%s\", \"ms\": %.6g, \"graph_ms\": %.6g, \"solves\": %d, \"values_ms\": %.6g, \"cublas_ms\": %.6g, "
          "\"cpu_ms\": %.6g, \"bytes\": %zu, \"error\": %.3g, \"same_bits\": %s, \"failure\": \"%s\", \"ok\": %s}\n",
          p.n, sizeof(T) == 4 ? "float" : "double", name, block, launches ? "true" : "false", solved, r.ms, r.graph_ms,
          r.solves, r.analysis_ms, p.cublas_ms, p.cpu_ms, r.bytes, std::isfinite(r.error) ? r.error : -1,
          r.same_bits ? "true" : "false", r.failure, ok ? "true" : "false");
  fflush(o.json);
}

static cublasStatus_t Trsv(cublasHandle_t h, int n, const double *L, double *x)
{
  return cublasDtrsv(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, L, n, x, 1);
}
static cublasStatus_t Trsv(cublasHandle_t h, int n, const float *L, float *x)
{
  return cublasStrsv(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, L, n, x, 1);
}

template <class T> static void MeasureCublas(Problem<T> &p, cublasHandle_t handle, Options &o)
{
  Result r;

  MeasureSolves(
    r, p.x, o.budget,
    [&](cudaStream_t s) {
      if (cublasSetStream(handle, s) || Trsv(handle, p.n, p.L.p, p.x.p)) return TrsvFail(TRSV_ERR_DEVICE, "cublasTrsv");
      return TRSV_SUCCESS;
    },
    [&](const std::vector<T> &x) { return p.Error(x); },
    [&](cudaStream_t s) {
      CheckCuda(cudaMemcpyAsync(p.x.p, p.b.p, sizeof(T) * p.n, cudaMemcpyDeviceToDevice, s), "cudaMemcpyAsync");
    });
  r.analysis_ms = 0;
  p.cublas_ms   = r.ms;
  WriteResult(p, "cublas", 0, 0, "", r, o);
}

template <class T> static void MeasureOurs(Problem<T> &p, TrsvDenseForm form, int block, int launches, Options &o)
{
  static const char *const names[]  = {"blocks", "doubling", "simple", "pairs"};
  const TrsvDenseSettings  settings = {form, block, launches};
  TrsvDense               *dense    = nullptr;
  Result                   r;
  const TrsvPrecision      precision = sizeof(T) == 4 ? TRSV_FLOAT : TRSV_DOUBLE;

  TrsvError e = TrsvDenseCreate(p.n, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision, &settings, &dense);
  if (!e)
    e = MeasureAnalysis(
      &r.analysis_ms, true, [&] { return TrsvDenseSetValues(dense, p.L.p, p.n, nullptr); }, [] {});
  if (e) snprintf(r.failure, sizeof(r.failure), "%s", TrsvErrorMessage());
  else {
    r.bytes = TrsvDenseBytes(dense);
    MeasureSolves(
      r, p.x, o.budget, [&](cudaStream_t s) { return TrsvDenseSolve(dense, p.b.p, p.x.p, s); },
      [&](const std::vector<T> &x) { return p.Error(x); });
  }
  WriteResult(p, names[form], dense ? TrsvDenseBlock(dense) : 0, launches, dense ? names[TrsvDenseSolves(dense)] : "",
              r, o);
  TrsvDenseDestroy(&dense);
}

template <class T> static void MeasureSize(int n, cublasHandle_t handle, Options &o, bool counts)
{
  Problem<T> p(n);
  FILE      *json = o.json;

  if (!counts) o.json = nullptr;
  p.Serial();
  MeasureCublas(p, handle, o);
  MeasureOurs(p, TRSV_DENSE_BLOCKS, 0, 0, o);
  for (int block = 32; block < 2 * n && block <= 4096; block *= 2) MeasureOurs(p, TRSV_DENSE_BLOCKS, block, 0, o);
  for (int launches = 0; launches < 2; launches++) {
    MeasureOurs(p, TRSV_DENSE_DOUBLING, 0, launches, o);
    MeasureOurs(p, TRSV_DENSE_PAIRS, 0, launches, o);
    MeasureOurs(p, TRSV_DENSE_SIMPLE, 0, launches, o);
  }
  o.json = json;
}

int main(int count, char **args)
{
  Options          o;
  bool             single = false;
  std::vector<int> sizes;
  cublasHandle_t   handle;
  int              i = 1;

  for (; i + 1 < count && args[i][0] == '-'; i += 2) {
    if (!strcmp(args[i], "-o")) o.json = fopen(args[i + 1], "a");
    else if (!strcmp(args[i], "-m")) o.budget = atof(args[i + 1]);
    else if (!strcmp(args[i], "-p")) single = !strcmp(args[i + 1], "float");
    else break;
  }
  for (; i < count; i++) sizes.push_back(atoi(args[i]));
  if (sizes.empty())
    for (int n = 32; n <= 16384; n *= 2) sizes.push_back(n);
  if (*std::min_element(sizes.begin(), sizes.end()) < 1 || cublasCreate(&handle)) {
    fprintf(stderr, "dense [-o FILE.jsonl] [-m MS] [-p double|float] [N...]\n");
    return 2;
  }
  /* once, so that the first use of a kernel or a library is not measured */
  if (single) MeasureSize<float>(96, handle, o, false);
  else MeasureSize<double>(96, handle, o, false);
  printf("--\n");
  for (int n : sizes) {
    if (single) MeasureSize<float>(n, handle, o, true);
    else MeasureSize<double>(n, handle, o, true);
  }
  cublasDestroy(handle);
  if (o.json) fclose(o.json);
  printf("%d wrong\n", o.bad);
  return o.bad > 0;
}
