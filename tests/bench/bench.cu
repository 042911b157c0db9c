/*
   bench: times and checks every device algorithm on a list of matrices.

     bench [-a NAMES|ours] [-p double|float] [-o FILE.jsonl] [-m MS] MATRIX...

   For each matrix: the lower and the upper triangle of its pattern with seeded values, and, checked but not timed, of its own values
   where it has them and a complete diagonal. For each algorithm: median of the solves that fit into MS milliseconds (at most 200, at least
   5), each with all the resets it needs, into an x that was poisoned; the largest componentwise backward error
   |b - T x| / (|T| |x| + |b|) of two solves; whether all solves gave the same bits. cuSPARSE SpSV and one core of the host are timed in the same
   run. With -m 0 nothing is timed. ours: all but cuSPARSE. One JSON object a line goes to FILE; a table to standard output. Exit status 1 where an error is over the bound or bits differ.
*/
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "matrices.h"

static double Milliseconds()
{
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void Cuda(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  exit(2);
}

struct Options {
  std::vector<const TrsvAlgorithm *> algorithms;
  TrsvPrecision                      precision = TRSV_DOUBLE;
  FILE                              *json      = nullptr;
  double                             budget    = 60;
  double                             bandwidth = 0; /* bytes a ms, of a copy, read and written */
  int                                bad       = 0;
};

struct Result {
  double ms = -1, analysis_ms = 0, error = NAN;
  size_t bytes     = 0;
  bool   same_bits = true;
  char   failure[256] = "";
};

/* The bytes that a solve must move, over bandwidth; a launch; 22 ns a level, by shuffle. */
static double Floor(const TrsvStatistics &s, const Options &o)
{
  const size_t size  = o.precision == TRSV_FLOAT ? 4 : 8;
  const double bytes = (double)s.nnz * (4 + size) + (double)s.rows * (4 + 2 * size);

  return std::max({0.0039, bytes / o.bandwidth, 22e-6 * s.levels});
}

template <class T> static double BackwardError(const Triangle &t, const std::vector<T> &values, const std::vector<T> &b, const std::vector<T> &x)
{
  double worst = 0;

  for (int i = 0; i < t.matrix.rows; i++) {
    double r = b[i], scale = std::fabs((double)b[i]);

    for (int k = t.offsets[i]; k < t.offsets[i + 1]; k++) {
      r -= (double)values[k] * x[t.columns[k]];
      scale += std::fabs((double)values[k] * x[t.columns[k]]);
    }
    if (scale > 0 && !(std::fabs(r) / scale <= worst)) worst = std::fabs(r) / scale;
  }
  return worst;
}

template <class T> struct Case {
  const Triangle     &t;
  const TrsvAnalysis *analysis;
  std::vector<T>      values, b, x;
  T                  *db, *dx;

  Case(const Triangle &t_, const TrsvAnalysis *a) : t(t_), analysis(a), values(t_.values, t_.values + t_.offsets[t_.matrix.rows]), b(t_.matrix.rows), x(t_.matrix.rows)
  {
    unsigned long long seed = 3;

    for (T &v : b) v = (T)(RandomUniform(&seed) - 0.5);
    Cuda(cudaMalloc(&db, sizeof(T) * (b.size() + 1)), "cudaMalloc");
    Cuda(cudaMalloc(&dx, sizeof(T) * (b.size() + 1)), "cudaMalloc");
    Cuda(cudaMemcpy(db, b.data(), sizeof(T) * b.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~Case()
  {
    cudaFree(db);
    cudaFree(dx);
  }

  TrsvError Plan(const TrsvAlgorithm *a, TrsvPlan **plan)
  {
    TrsvMatrix m = t.matrix;
    TrsvError  e;

    m.precision = sizeof(T) == 4 ? TRSV_FLOAT : TRSV_DOUBLE;
    e           = TrsvPlanCreate(&m, analysis, nullptr, (int)values.size(), a, plan);
    if (!e) e = TrsvPlanSetValues(*plan, values.data(), TRSV_HOST, nullptr);
    return e;
  }

  void Poison() { Cuda(cudaMemset(dx, 0xee, sizeof(T) * x.size()), "cudaMemset"); }

  std::vector<T> Fetch()
  {
    std::vector<T> y(x.size());

    Cuda(cudaMemcpy(y.data(), dx, sizeof(T) * y.size(), cudaMemcpyDeviceToHost), "a solve");
    return y;
  }

  double Serial()
  {
    TrsvPlan *plan = nullptr;
    double    best = INFINITY;

    if (Plan(TrsvAlgorithmFind("serial"), &plan)) exit(2);
    for (int r = 0; r < 3; r++) {
      const double start = Milliseconds();

      (void)TrsvPlanSolve(plan, b.data(), x.data(), nullptr);
      best = std::min(best, Milliseconds() - start);
    }
    TrsvPlanDestroy(&plan);
    return best;
  }

  Result Device(const TrsvAlgorithm *a, double budget)
  {
    Result             r;
    TrsvPlan          *plan = nullptr;
    cudaEvent_t        start, end;
    std::vector<float> times;
    float              total = 0;
    double             begin = Milliseconds();

    TrsvError e = Plan(a, &plan);
    Cuda(cudaDeviceSynchronize(), TrsvAlgorithmName(a));
    r.analysis_ms = Milliseconds() - begin;
    if (plan) r.bytes = TrsvPlanBytes(plan);
    Poison();
    if (!e) e = TrsvPlanSolve(plan, db, dx, nullptr);
    if (e) {
      snprintf(r.failure, sizeof(r.failure), "%s", TrsvErrorMessage());
      TrsvPlanDestroy(&plan);
      return r;
    }
    const std::vector<T> first = Fetch();
    r.error                    = BackwardError(t, values, b, first);
    Cuda(cudaEventCreate(&start), "cudaEventCreate");
    Cuda(cudaEventCreate(&end), "cudaEventCreate");
    for (int n = 0; budget > 0 && n < 200 && (n < 5 || total < budget); n++) {
      float ms;

      Poison();
      cudaEventRecord(start);
      e = TrsvPlanSolve(plan, db, dx, nullptr);
      cudaEventRecord(end);
      Cuda(cudaEventSynchronize(end), TrsvAlgorithmName(a));
      cudaEventElapsedTime(&ms, start, end);
      times.push_back(ms);
      total += ms;
      if (n % 50 == 0) r.same_bits = r.same_bits && !memcmp(Fetch().data(), first.data(), sizeof(T) * first.size());
    }
    Poison();
    if (!e) e = TrsvPlanSolve(plan, db, dx, nullptr);
    const std::vector<T> last = Fetch();
    r.same_bits               = r.same_bits && !memcmp(last.data(), first.data(), sizeof(T) * first.size());
    r.error                   = std::max(r.error, BackwardError(t, values, b, last));
    if (e) snprintf(r.failure, sizeof(r.failure), "%s", TrsvErrorMessage());
    if (!times.empty()) {
      std::sort(times.begin(), times.end());
      r.ms = times[times.size() / 2];
    }
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    TrsvPlanDestroy(&plan);
    return r;
  }
};

template <class T> static void Run(const char *name, const Triangle &t, bool own, Options &o)
{
  TrsvAnalysis *analysis;
  char          why[128];

  if (TrsvAnalyse(&t.matrix, &analysis)) {
    printf("%s: %s\n", name, TrsvErrorMessage());
    o.bad++;
    return;
  }
  const TrsvStatistics &s        = analysis->statistics;
  const TrsvAlgorithm  *selected = TrsvSelect(&s, TRSV_DEVICE, o.precision, TRSV_SELECT_MODEL, why, sizeof(why)), *cusparse = TrsvAlgorithmFind("cusparse");
  Case<T>               c(t, analysis);
  const double          cpu = c.Serial(), floor_ms = Floor(s, o), bound = (sizeof(T) == 4 ? 1e-6 : 1e-15) * (4 + s.row_max / 16);
  const bool            finite = std::all_of(c.x.begin(), c.x.end(), [](T v) { return std::isfinite(v); });
  const double          budget = own ? 0 : o.budget;
  const Result          base   = budget > 0 ? c.Device(cusparse, budget) : Result();

  for (const TrsvAlgorithm *a : o.algorithms) {
    const Result r  = a == cusparse && budget > 0 ? base : c.Device(a, budget);
    /* where the solution overflows on the host too, only an end is asked for */
    const bool   ok = !r.failure[0] && (r.error <= bound || !finite) && (r.same_bits || !finite);

    if (!ok && a != cusparse) o.bad++;
    printf("%-28s %c%-4s %8d %9ld %7d %-9s%c", name, t.matrix.triangle == TRSV_LOWER ? 'L' : 'U', own ? " own" : "", s.rows, s.nnz, s.levels, TrsvAlgorithmName(a), a == selected ? '*' : ' ');
    if (budget <= 0) printf(" %s error %.0e%s%s\n", r.failure, r.error, finite ? "" : " (the solution overflows)", ok ? "" : " WRONG");
    else printf(" %9.4f ms %6.2fx cuSPARSE %6.2fx CPU %6.1fx floor, analysis %7.1f ms, %6.1f MB, error %.0e%s%s%s\n", r.ms, base.ms / r.ms, cpu / r.ms, r.ms / floor_ms, r.analysis_ms, 1e-6 * (double)r.bytes, r.error, r.same_bits ? "" : " BITS DIFFER", ok ? "" : " WRONG ", r.failure);
    fflush(stdout);
    if (o.json)
      fprintf(o.json, "{\"matrix\": \"%s\", \"rows\": %d, \"nnz\": %ld, \"levels\": %d, \"granularity\": %.4f, \"triangle\": \"%s\", \"precision\": \"%s\", \"values\": \"%s\", \"algorithm\": \"%s\", \"selected\": %s, \"ms\": %.6g, \"predicted_ms\": %.6g, \"cusparse_ms\": %.6g, \"cpu_ms\": %.6g, \"floor_ms\": %.6g, \"analysis_ms\": %.6g, \"cusparse_analysis_ms\": %.6g, \"plan_bytes\": %zu, \"error\": %.3g, \"same_bits\": %s, \"ok\": %s}\n",
              name, s.rows, s.nnz, s.levels, s.granularity, t.matrix.triangle == TRSV_LOWER ? "lower" : "upper", sizeof(T) == 4 ? "float" : "double", own ? "own" : "seeded", TrsvAlgorithmName(a), a == selected ? "true" : "false", r.ms, 1e3 * TrsvPredict(a, &s, o.precision), base.ms, cpu, floor_ms, analysis->seconds * 1e3 + r.analysis_ms, analysis->seconds * 1e3 + base.analysis_ms, r.bytes,
              std::isfinite(r.error) ? r.error : -1, r.same_bits ? "true" : "false", ok ? "true" : "false");
  }
  TrsvAnalysisDestroy(&analysis);
}

static double MeasureBandwidth()
{
  const size_t bytes = (size_t)1 << 30;
  void        *a, *b;
  cudaEvent_t  start, end;
  float        ms, best = INFINITY;

  Cuda(cudaMalloc(&a, bytes), "cudaMalloc");
  Cuda(cudaMalloc(&b, bytes), "cudaMalloc");
  Cuda(cudaMemset(a, 1, bytes), "cudaMemset");
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

static void Usage(const char *what)
{
  fprintf(stderr, "%s\nbench [-a NAMES|ours] [-p double|float] [-o FILE.jsonl] [-m MS] MATRIX...\n", what);
  exit(2);
}

static void ParseAlgorithms(char *names, Options &o)
{
  const TrsvAlgorithm *every;

  if (!strcmp(names, "ours")) {
    for (int k = 0; (every = TrsvAlgorithmGet(k)); k++)
      if (TrsvAlgorithmMemory(every) == TRSV_DEVICE && strcmp(TrsvAlgorithmName(every), "cusparse")) o.algorithms.push_back(every);
    return;
  }
  for (char *n = strtok(names, ","); n; n = strtok(nullptr, ",")) {
    const TrsvAlgorithm *a = TrsvAlgorithmFind(n);

    if (!a || TrsvAlgorithmMemory(a) != TRSV_DEVICE) Usage("-a takes device algorithms, separated by commas");
    o.algorithms.push_back(a);
  }
}

int main(int count, char **args)
{
  Options              o;
  const TrsvAlgorithm *a;
  int                  i = 1;

  for (; i + 1 < count && args[i][0] == '-'; i += 2) {
    if (!strcmp(args[i], "-a")) ParseAlgorithms(args[i + 1], o);
    else if (!strcmp(args[i], "-p")) o.precision = strcmp(args[i + 1], "float") ? TRSV_DOUBLE : TRSV_FLOAT;
    else if (!strcmp(args[i], "-m")) o.budget = atof(args[i + 1]);
    else if (!strcmp(args[i], "-o")) o.json = fopen(args[i + 1], "a");
    else Usage(args[i]);
  }
  if (o.algorithms.empty())
    for (int k = 0; (a = TrsvAlgorithmGet(k)); k++)
      if (TrsvAlgorithmMemory(a) == TRSV_DEVICE) o.algorithms.push_back(a);
  o.bandwidth = MeasureBandwidth();
  printf("copy bandwidth %.2f TB/s; * marks what auto selects\n", 1e-9 * o.bandwidth);
  for (; i < count; i++) {
    const char *slash = strrchr(args[i], '/');
    char        name[256];
    Matrix      M;

    snprintf(name, sizeof(name), "%s", slash ? slash + 1 : args[i]);
    if (char *dot = strstr(name, ".mtx")) *dot = 0;
    if (MatrixMake(args[i], &M)) {
      o.bad++;
      continue;
    }
    for (int own = 0; own < 2; own++)
      for (int upper = 0; upper < 2; upper++) {
        Triangle t;

        if (TriangleMake(&M, upper ? TRSV_UPPER : TRSV_LOWER, own, &t)) continue;
        if (o.precision == TRSV_FLOAT) Run<float>(name, t, own, o);
        else Run<double>(name, t, own, o);
        TriangleFree(&t);
      }
    MatrixFree(&M);
  }
  if (o.json) fclose(o.json);
  printf("%d wrong\n", o.bad);
  return o.bad > 0;
}
