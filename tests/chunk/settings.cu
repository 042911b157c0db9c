/*
   settings: times plans of `chunk` under given settings, beside the other algorithms of the table, in one run.

     settings [options] matrix ...       matrices as triangles.h names them

     -u            also the transposed triangle (an upper one)      -f   in single precision
     -a names      only these algorithms, with commas               -t   seconds for each measurement (0.15)
     -w            only see that a solve whose waits may last no time ends, is told, and leaves the next one sound
     -s settings   of chunk, in place of its own choice: P,K,W,N,R,S[,L]; repeatable, forgotten after -s 0

   Each line is a JSON object. ms is the median over launches timed by events, each with all that a solve needs; x is poisoned before and
   compared with a serial solve after. floor_ms is the largest of a launch, the bytes over the memory's bandwidth, and 22 ns a level.
*/
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>
#include <cuda_runtime.h>
#include "chunk.h"
#include "triangles.h"

static const double launch_ms = 0.0039, bandwidth = 4.26e9 /* bytes a ms */, level_ms = 22e-6;

static double seconds_each = 0.15;

struct Problem {
  std::string         name;
  TrsvMatrix          A;
  const int          *source;
  const double       *values;
  std::vector<double> b, x;
  TrsvAnalysis       *analysis;
  double              cpu_ms, cusparse_ms;
};

static double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

#define Call(...) \
  do { \
    if (__VA_ARGS__) { \
      printf("{\"matrix\": \"%s\", \"failed\": \"%s\"}\n", p.name.c_str(), TrsvErrorMessage()); \
      return; \
    } \
  } while (0)

static void Serial(Problem &p)
{
  const TrsvMatrix &A = p.A;

  p.cpu_ms = 1e30;
  for (int repeat = 0; repeat < 3; repeat++) {
    const double start = Now();

    for (int n = 0; n < A.rows; n++) {
      const int i = A.triangle == TRSV_LOWER ? n : A.rows - 1 - n;
      int       begin, end, diagonal;
      double    sum = p.b[i];

      TrsvRow(&A, i, &begin, &end, &diagonal);
      for (int k = begin; k < end; k++) sum -= p.values[k] * p.x[A.columns[k]];
      p.x[i] = sum / p.values[diagonal];
    }
    p.cpu_ms = std::min(p.cpu_ms, 1e3 * (Now() - start));
  }
}

/* As JSON has it, which knows no NaN. */
static std::string Number(double v)
{
  char text[40];

  (void)snprintf(text, sizeof(text), std::isfinite(v) ? "%.6g" : "null", v);
  return text;
}

template <class T> static double Error(const Problem &p, const T *dx)
{
  std::vector<T> x(p.x.size());
  double         error = 0, norm = 1e-300;

  if (cudaMemcpy(x.data(), dx, sizeof(T) * x.size(), cudaMemcpyDeviceToHost) != cudaSuccess) return NAN;
  for (size_t i = 0; i < x.size(); i++) error += (x[i] - p.x[i]) * (x[i] - p.x[i]), norm += p.x[i] * p.x[i];
  return std::sqrt(error / norm);
}

template <class T> static void Time(Problem &p, const TrsvAlgorithm *algorithm)
{
  const size_t       bytes = sizeof(T) * p.b.size();
  std::vector<T>     values(p.values, p.values + p.A.offsets[p.A.rows]), b(p.b.begin(), p.b.end());
  std::vector<float> times;
  TrsvPlan          *plan;
  T                 *db, *dx;
  cudaEvent_t        start, stop;
  double             error = 0, analysis_ms, total = 0;
  char               setting[160] = "";

  cudaDeviceSynchronize();
  analysis_ms = Now();
  Call(TrsvPlanCreate(&p.A, p.analysis, NULL, p.A.offsets[p.A.rows], algorithm, &plan));
  Call(TrsvPlanSetValues(plan, values.data(), TRSV_HOST, NULL));
  cudaDeviceSynchronize();
  analysis_ms = 1e3 * (Now() - analysis_ms);
  if (TrsvChunkPlanSchedule(plan)) TrsvChunkSettingsPrint(&TrsvChunkPlanSchedule(plan)->settings, setting, sizeof(setting));

  cudaMalloc(&db, bytes);
  cudaMalloc(&dx, bytes);
  cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice);
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  for (int round = 0; round < 2; round++) {
    cudaMemset(dx, 0xaa, bytes);
    Call(TrsvPlanSolve(plan, db, dx, NULL));
    cudaDeviceSynchronize();
    const double e = Error(p, dx);
    error          = !(e <= error) ? e : error;
    if (!(error < (sizeof(T) == 4 ? 1e-3 : 1e-10))) break;
    for (int i = 0; !round && i < 300 && total < 1e3 * seconds_each; i++) {
      float ms;

      cudaEventRecord(start);
      Call(TrsvPlanSolve(plan, db, dx, NULL));
      cudaEventRecord(stop);
      cudaEventSynchronize(stop);
      cudaEventElapsedTime(&ms, start, stop);
      times.push_back(ms);
      total += ms + 0.01;
    }
  }
  if (times.empty()) times.push_back(NAN);
  std::sort(times.begin(), times.end());
  const double ms = times[times.size() / 2], nnz = (double)p.A.offsets[p.A.rows], rows = p.A.rows;
  const double csr = nnz * (sizeof(T) + 4) + 4 * rows, floor_ms = std::max({launch_ms, (csr + 2 * sizeof(T) * rows) / bandwidth, level_ms * p.analysis->statistics.levels});
  const bool   cusparse = !strcmp(TrsvAlgorithmName(algorithm), "cusparse");

  if (cusparse) p.cusparse_ms = ms;
  const cudaError_t failed = cudaGetLastError();
  printf("{\"matrix\": \"%s\", \"rows\": %d, \"nnz\": %.0f, \"levels\": %d, \"triangle\": \"%s\", \"precision\": \"%s\", \"algorithm\": \"%s\", \"setting\": \"%s\", \"ms\": %s, \"cusparse_ms\": %s, "
         "\"ratio\": %s, \"cpu_ms\": %.4f, \"floor_ms\": %.5f, \"analysis_ms\": %.1f, \"plan_bytes\": %zu, \"csr_bytes\": %.0f, \"error\": %s%s%s}\n",
         p.name.c_str(), p.A.rows, nnz, p.analysis->statistics.levels, p.A.triangle == TRSV_LOWER ? "L" : "U", sizeof(T) == 4 ? "float" : "double", TrsvAlgorithmName(algorithm), setting, Number(ms).c_str(), Number(p.cusparse_ms).c_str(),
         Number(p.cusparse_ms / ms).c_str(), p.cpu_ms, floor_ms, analysis_ms, TrsvPlanBytes(plan), csr, Number(error).c_str(), error < (sizeof(T) == 4 ? 1e-3 : 1e-10) ? "" : ", \"BAD\": true", failed ? cudaGetErrorString(failed) : "");
  fflush(stdout);
  TrsvPlanDestroy(&plan);
  cudaFree(db);
  cudaFree(dx);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
}

/* A solve that gives up, and the two after it. */
static void Stall(Problem &p, const TrsvAlgorithm *algorithm)
{
  const size_t bytes = sizeof(double) * p.b.size();
  TrsvPlan    *plan;
  double      *db, *dx;

  Call(TrsvPlanCreate(&p.A, p.analysis, NULL, p.A.offsets[p.A.rows], algorithm, &plan));
  Call(TrsvPlanSetValues(plan, p.values, TRSV_HOST, NULL));
  cudaMalloc(&db, bytes);
  cudaMalloc(&dx, bytes);
  cudaMemcpy(db, p.b.data(), bytes, cudaMemcpyHostToDevice);
  TrsvSetPatience(0);
  Call(TrsvPlanSolve(plan, db, dx, NULL));
  cudaDeviceSynchronize();
  const double gave_up = Error(p, dx);
  TrsvSetPatience(10);
  const TrsvError told = TrsvPlanSolve(plan, db, dx, NULL);
  if (told) Call(TrsvPlanSolve(plan, db, dx, NULL));
  cudaDeviceSynchronize();
  printf("{\"matrix\": \"%s\", \"algorithm\": \"%s\", \"stalled\": {\"nan\": %s, \"told\": %s, \"error_after\": %.1e}, \"cuda\": \"%s\"}\n", p.name.c_str(), TrsvAlgorithmName(algorithm), std::isnan(gave_up) ? "true" : "false", told == TRSV_ERR_TIMEOUT ? "true" : "false", Error(p, dx), cudaGetErrorString(cudaGetLastError()));
  TrsvPlanDestroy(&plan);
  cudaFree(db);
  cudaFree(dx);
}

static bool stall;

static void Run(Problem &p, bool single, const char *only, const std::vector<TrsvChunkSettings> &settings)
{
  const TrsvAlgorithm *a;
  std::string          wanted = std::string(",") + only + ",";
  unsigned long long   seed = 3;

  p.b.resize((size_t)p.A.rows);
  p.x.resize((size_t)p.A.rows);
  for (double &v : p.b) v = 2 * MatrixRandom(&seed) - 1;
  p.cusparse_ms = NAN;
  Call(TrsvAnalyse(&p.A, &p.analysis));
  Serial(p);
  for (int last = 0; last < 2; last++) /* cuSPARSE first */
    for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
      const std::string name = TrsvAlgorithmName(a);

      if (TrsvAlgorithmMemory(a) != TRSV_DEVICE || (name == "cusparse") == last) continue;
      if (*only && wanted.find("," + name + ",") == std::string::npos) continue;
      for (size_t s = 0; s < (name == "chunk" && !settings.empty() ? settings.size() : 1); s++) {
        if (name == "chunk") TrsvChunkSettingsOverride(settings.empty() ? NULL : &settings[s]);
        if (stall) Stall(p, a);
        else single ? Time<float>(p, a) : Time<double>(p, a);
      }
    }
  TrsvAnalysisDestroy(&p.analysis);
}

int main(int argc, char **argv)
{
  bool                           upper = false, single = false;
  const char                    *only = "";
  std::vector<TrsvChunkSettings> settings;

  for (int i = 1; i < argc; i++) {
    const std::string o = argv[i];

    if (o == "-u") upper = !upper;
    else if (o == "-f") single = !single;
    else if (o == "-w") stall = !stall;
    else if (o == "-a") only = argv[++i];
    else if (o == "-t") seconds_each = atof(argv[++i]);
    else if (o == "-s") {
      TrsvChunkSettings s = {0, 3, 32, 1, 2048, 8, -1, 8, 4};

      if (sscanf(argv[++i], "%d,%d,%d,%d,%d,%d,%d", &s.chunks, &s.length, &s.width, &s.cluster, &s.ring, &s.stages, &s.life) < 2) settings.clear();
      else settings.push_back(s);
    } else {
      Triangle T = MatrixMake(argv[i]);
      Problem  p;

      if (T.rows < 0) {
        printf("{\"matrix\": \"%s\", \"failed\": \"cannot be read\"}\n", argv[i]);
        continue;
      }
      const size_t slash = o.rfind('/');
      p.name             = slash == std::string::npos ? o : o.substr(slash + 1, o.find(".mtx") - slash - 1);
      p.A                = {T.rows, T.offsets, T.columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, single ? TRSV_FLOAT : TRSV_DOUBLE};
      p.values           = T.values;
      Run(p, single, only, settings);
      if (upper) {
        TrsvMatrix          L = p.A;
        int                *offsets;
        const int          *source;
        std::vector<double> values((size_t)L.offsets[L.rows]);

        if (TrsvTranspose(&L, &p.A, &offsets, &source)) return 1;
        for (size_t k = 0; k < values.size(); k++) values[k] = T.values[source[k]];
        p.values = values.data();
        Run(p, single, only, settings);
        free(offsets);
      }
      MatrixFree(&T);
    }
  }
  return 0;
}
