/*
   measure.cuh: how a solve is timed and checked, for bench.cu.

   The time of a solve is the median of many, each between two events. Its x is poisoned immediately before in the same
   stream, so that the device is busy when the solve is launched, as in a Krylov method. The time includes what a solve
   resets. Its error is the largest componentwise backward error |b - T x| / (|T| |x| + |b|) of the first and the last
   solve. An analysis starts from a pattern and values on the device, and ends when a solve could start; its time is the
   median of three by the host's clock.
*/
#ifndef MEASURE_CUH
#define MEASURE_CUH

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include "matrices.h"

static inline double Milliseconds()
{
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static inline void CheckCuda(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  exit(2);
}

static inline double Median(std::vector<double> v)
{
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

template <class T> struct DeviceArray {
  T     *p = nullptr;
  size_t n;

  explicit DeviceArray(size_t n_) : n(n_) { CheckCuda(cudaMalloc(&p, sizeof(T) * (n + 1)), "cudaMalloc"); }
  DeviceArray(const T *from, size_t n_) : DeviceArray(n_)
  {
    CheckCuda(cudaMemcpy(p, from, sizeof(T) * n, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  DeviceArray(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(p); }
  void Poison(cudaStream_t stream) { CheckCuda(cudaMemsetAsync(p, 0xee, sizeof(T) * n, stream), "cudaMemsetAsync"); }
  std::vector<T> Fetch(const char *what) const
  {
    std::vector<T> v(n);

    CheckCuda(cudaMemcpy(v.data(), p, sizeof(T) * n, cudaMemcpyDeviceToHost), what);
    return v;
  }
};

/* Conversion to double, float, or std::complex of either. A complex number is the real one times a random phase. */
template <class T> struct Scalar {
  typedef double                 wide;
  static constexpr TrsvPrecision precision = sizeof(T) == 4 ? TRSV_FLOAT : TRSV_DOUBLE;

  static T    Make(double v, unsigned long long *) { return (T)v; }
  static bool Finite(T v) { return std::isfinite(v); }
};
template <class R> struct Scalar<std::complex<R>> {
  typedef std::complex<double>   wide;
  static constexpr TrsvPrecision precision = sizeof(R) == 4 ? TRSV_COMPLEX_FLOAT : TRSV_COMPLEX_DOUBLE;

  static std::complex<R> Make(double v, unsigned long long *seed)
  {
    return std::complex<R>(std::polar(1.0, 6.283185307179586 * RandomUniform(seed)) * v);
  }
  static bool Finite(std::complex<R> v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }
};

template <class T> static std::vector<T> ConvertValues(const double *from, size_t n)
{
  std::vector<T>     v(n);
  unsigned long long seed = 5;

  for (size_t k = 0; k < n; k++) v[k] = Scalar<T>::Make(from[k], &seed);
  return v;
}

/* A triangle on the host and on the device. */
template <class T> struct Case {
  const Triangle  &t;
  TrsvMatrix       host, device;
  std::vector<T>   values;
  DeviceArray<int> offsets, columns;
  DeviceArray<T>   device_values;

  explicit Case(const Triangle &t_)
      : t(t_), host(t.matrix), device(t.matrix), values(ConvertValues<T>(t.values, (size_t)t.offsets[t.matrix.rows])),
        offsets(t.offsets, (size_t)t.matrix.rows + 1), columns(t.columns, values.size()),
        device_values(values.data(), values.size())
  {
    host.precision = device.precision = Scalar<T>::precision;
    device.offsets                    = offsets.p;
    device.columns                    = columns.p;
    device.memory                     = TRSV_DEVICE;
  }

  double Error(const std::vector<T> &b, const std::vector<T> &x) const
  {
    typedef typename Scalar<T>::wide Wide;
    double                           worst = 0;

    for (int i = 0; i < host.rows; i++) {
      Wide   r     = (Wide)b[i];
      double scale = std::abs(r);

      for (int k = t.offsets[i]; k < t.offsets[i + 1]; k++) {
        const Wide term = (Wide)values[k] * (Wide)x[t.columns[k]];

        r -= term;
        scale += std::abs(term);
      }
      if (scale > 0 && !(std::abs(r) / scale <= worst)) worst = std::abs(r) / scale;
    }
    return worst;
  }

  /* One core of the host: the best of three solves. */
  double Serial(const std::vector<T> &b, std::vector<T> &x) const
  {
    TrsvAnalysis *analysis;
    TrsvPlan     *plan = nullptr;
    double        best = INFINITY;

    if (TrsvAnalyze(&host, &analysis) ||
        TrsvPlanCreate(&host, analysis, nullptr, (int)values.size(), nullptr, TrsvAlgorithmFind("serial"), 0,
                       &plan) ||
        TrsvPlanSetValues(plan, values.data(), TRSV_HOST, nullptr)) {
      fprintf(stderr, "serial: %s\n", TrsvErrorMessage());
      exit(2);
    }
    for (int r = 0; r < 3; r++) {
      const double start = Milliseconds();

      (void)TrsvPlanSolve(plan, b.data(), x.data(), nullptr);
      best = std::min(best, Milliseconds() - start);
    }
    TrsvPlanDestroy(&plan);
    TrsvAnalysisDestroy(&analysis);
    return best;
  }
};

template <class T> static std::vector<T> RightHandSide(int rows)
{
  std::vector<T>     b(rows);
  unsigned long long seed = 3;

  for (T &v : b) {
    const double size = RandomUniform(&seed) - 0.5;

    v = Scalar<T>::Make(size, &seed);
  }
  return b;
}

struct Result {
  unsigned long long hash = 0; /* of the first solution */
  double             ms = -1, graph_ms = -1, analysis_ms = -1, error = NAN;
  size_t             bytes        = 0;
  int                solves       = 0; /* timed */
  bool               same_bits    = true;
  bool               refused      = false; /* the algorithm refuses this matrix; failure says why */
  char               failure[256] = "";
};

/* Keeps a stream busy for the time that queuing a solve takes. */
static __global__ void Delay()
{
  unsigned long long start, now;

  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < 30000);
}

/* Shall a profiler that waits (ncu --profile-from-start off) see the first solve of each algorithm? Not during the
   warm-up. */
static bool profiled;

/* FNV-1a of the bytes of a solution, to compare builds */
template <class T> static unsigned long long Hash(const std::vector<T> &x)
{
  unsigned long long h = 14695981039346656037ull;

  for (size_t i = 0; i < x.size() * sizeof(T); i++) h = (h ^ ((const unsigned char *)x.data())[i]) * 1099511628211ull;
  return h;
}

/* Times and checks solve(stream), which writes x; check(x) returns its error; prepare(stream) runs before each solve,
   untimed. */
template <class T, class Solve, class Check, class Prepare>
static void MeasureSolves(Result &r, DeviceArray<T> &x, double budget, Solve solve, Check check, Prepare prepare)
{
  std::vector<double> times, replays;
  cudaEvent_t         start, end;
  cudaStream_t        stream;
  cudaGraph_t         graph;
  cudaGraphExec_t     exec;
  double              total = 0;

  CheckCuda(cudaDeviceSynchronize(), "before solves");
  CheckCuda(cudaStreamCreate(&stream), "cudaStreamCreate");
  CheckCuda(cudaEventCreate(&start), "cudaEventCreate");
  CheckCuda(cudaEventCreate(&end), "cudaEventCreate");
  auto failed = [&](TrsvError e) {
    if (e) snprintf(r.failure, sizeof(r.failure), "%s", TrsvErrorMessage());
    return e != TRSV_SUCCESS;
  };
  auto once = [&](auto &&run, std::vector<double> &list) {
    float ms;

    prepare(stream);
    Delay<<<1, 1, 0, stream>>>(); /* the stream is busy, as in a Krylov method: the time is that of the solve, without
                                     the launch on the host */
    cudaEventRecord(start, stream);
    const bool bad = run();
    cudaEventRecord(end, stream);
    CheckCuda(cudaEventSynchronize(end), "a solve");
    cudaEventElapsedTime(&ms, start, end);
    list.push_back(ms);
    total += ms;
    return !bad;
  };
  auto plain = [&] { return failed(solve(stream)); };

  if (profiled) cudaProfilerStart();
  const bool solved = once(plain, times);
  if (profiled) cudaProfilerStop();
  if (!solved) return;
  const std::vector<T> first = x.Fetch("a solve");
  auto same = [&] { return !memcmp(x.Fetch("a solve").data(), first.data(), sizeof(T) * first.size()); };

  r.error = check(first);
  r.hash  = Hash(first);
  times.clear();
  total = 0;
  for (int n = 0; budget > 0 && n < 200 && (n < 5 || total < budget); n++) {
    if (!once(plain, times)) return;
    if (n % 50 == 0) r.same_bits = r.same_bits && same();
  }
  if (!times.empty()) r.ms = Median(times);
  r.solves = (int)times.size();

  /* the same solves in a graph */
  CheckCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  const bool        bad      = plain();
  const cudaError_t captured = cudaStreamEndCapture(stream, &graph);
  if (bad || captured != cudaSuccess) {
    (void)cudaGetLastError();
    if (!bad) snprintf(r.failure, sizeof(r.failure), "cannot be captured in a graph: %s", cudaGetErrorString(captured));
  } else {
    CheckCuda(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    total = 0;
    for (int n = 0; n < (budget > 0 ? 50 : 3) && (n < 5 || total < budget); n++) {
      (void)once([&] { return cudaGraphLaunch(exec, stream) != cudaSuccess; }, replays);
      if (n < 3) r.same_bits = r.same_bits && same(); /* plans alternate between two halves of a buffer */
    }
    if (budget > 0) r.graph_ms = Median(replays);
    CheckCuda(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
    CheckCuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
  }

  if (once(plain, times)) {
    r.same_bits = r.same_bits && same();
    r.error     = std::max(r.error, check(x.Fetch("a solve")));
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  cudaStreamDestroy(stream);
}

/* The same for a solve that does not read x: x is poisoned. */
template <class T, class Solve, class Check>
static void MeasureSolves(Result &r, DeviceArray<T> &x, double budget, Solve solve, Check check)
{
  MeasureSolves(r, x, budget, solve, check, [&](cudaStream_t stream) { x.Poison(stream); });
}

/* The median time of make() over three calls, or one if it is long; each result is destroyed. */
template <class Make, class Unmake> static TrsvError MeasureAnalysis(double *ms, bool timed, Make make, Unmake unmake)
{
  std::vector<double> times;

  for (int n = 0; n < (timed ? 3 : 1); n++) {
    if (n) unmake();
    CheckCuda(cudaDeviceSynchronize(), "before an analysis");
    const double    start = Milliseconds();
    const TrsvError e     = make();

    CheckCuda(cudaDeviceSynchronize(), "an analysis");
    if (e) return e;
    times.push_back(Milliseconds() - start);
    if (times[n] > 500) break;
  }
  *ms = Median(times);
  return TRSV_SUCCESS;
}

/* Bytes read and written per ms by the fastest of ten copies. */
static inline double MeasureBandwidth()
{
  const size_t bytes = (size_t)1 << 30;
  void        *a, *b;
  cudaEvent_t  start, end;
  float        ms, best = INFINITY;

  CheckCuda(cudaMalloc(&a, bytes), "cudaMalloc");
  CheckCuda(cudaMalloc(&b, bytes), "cudaMalloc");
  CheckCuda(cudaMemset(a, 1, bytes), "cudaMemset");
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  for (int n = 0; n < 10; n++) {
    cudaEventRecord(start);
    cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, start, end);
    best = std::min(best, ms);
  }
  cudaFree(a);
  cudaFree(b);
  return 2.0 * (double)bytes / best;
}

#endif
