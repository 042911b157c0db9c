/*
   ag: times every scheme of ag's reduced space on a list of matrices. The learned model is trained on these times; a
   search among the schemes can be timed, too.

     ag [-o FILE.jsonl] [-search SECONDS] MATRIX...

   For each triangle of the pattern, with seeded values in double precision: the features of Table 3, and for each
   scheme the seconds for its plan, several of which are made in parallel, and the median time of some solves, the first
   of which is checked. -search: instead the schemes in the order of the learned model, for so many seconds a triangle.
   The exit status is 1 if a solve is wrong.
*/
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>
#include "papers/ag/ag_model.h"
#include "papers/settings.h"
#include "measure.cuh"

static FILE *json;
static int   wrong;

enum {
  MOST  = 15, /* solves */
  LEAST = 3
};

static double Median(TrsvPlan *plan, const double *b, double *x, size_t bytes, cudaStream_t stream, bool *failed)
{
  std::vector<double> times;
  double              total = 0;
  cudaEvent_t         start, stop;

  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  while (times.size() < MOST && (times.size() < LEAST || total < 5)) {
    float ms;

    Delay<<<1, 1, 0, stream>>>();
    cudaMemsetAsync(x, 0xee, bytes, stream);
    cudaEventRecord(start, stream);
    *failed = *failed || TrsvPlanSolve(plan, b, x, stream);
    cudaEventRecord(stop, stream);
    CheckCuda(cudaEventSynchronize(stop), "a solve");
    cudaEventElapsedTime(&ms, start, stop);
    times.push_back(ms);
    total += ms;
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return Median(times);
}

static void MeasureSchemes(const char *name, bool real, const Triangle &t)
{
  const Case<double>       c(t);
  const auto               b = RightHandSide<double>(t.matrix.rows);
  DeviceArray<double>      db(b.data(), b.size()), dx(b.size());
  const TrsvAlgorithm     *ag = TrsvAlgorithmFind("ag");
  std::vector<TrsvPlan *>  plans(AG_REDUCED, nullptr);
  std::vector<double>      seconds(AG_REDUCED, -1), ms(AG_REDUCED, -1);
  std::vector<std::thread> threads;
  std::atomic<int>         next(0);
  TrsvAnalysis            *analysis;
  double                   features[AG_FEATURES], worst = 0;
  cudaStream_t             stream;

  if (TrsvAnalyze(&c.host, &analysis)) {
    fprintf(stderr, "%s: %s\n", name, TrsvErrorMessage());
    exit(2);
  }
  TrsvAgFeatures(&c.host, analysis, features);
  for (int k = 0; k < 12; k++)
    threads.emplace_back([&] {
      for (int i; (i = next++) < AG_REDUCED;) {
        const double start                   = Milliseconds();
        char         settings[TRSV_SETTINGS] = "scheme=";
        AgScheme     s;

        TrsvAgReduced(i, &s);
        TrsvAgPrint(&s, settings + 7, sizeof(settings) - 7);
        TrsvSettingsRequest(settings);
        if (!TrsvPlanCreate(&c.host, analysis, nullptr, (int)c.values.size(), nullptr, ag, 0, &plans[i]) &&
            !TrsvPlanSetValues(plans[i], c.device_values.p, TRSV_DEVICE, nullptr))
          seconds[i] = 1e-3 * (Milliseconds() - start);
      }
    });
  for (auto &thread : threads) thread.join();
  CheckCuda(cudaDeviceSynchronize(), "plans");
  CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  for (int i = 0; i < AG_REDUCED; i++) {
    double error  = INFINITY;
    bool   failed = false;

    if (!plans[i] || seconds[i] < 0) continue; /* refused */
    dx.Poison(stream);
    if (TrsvPlanSolve(plans[i], db.p, dx.p, stream) ||
        TrsvDeviceError(&c.device, nullptr, c.device_values.p, nullptr, db.p, dx.p, &error, stream) ||
        !(error < 1e-13)) {
      printf("%s, scheme %d: error %.1e WRONG %s\n", name, i, error, TrsvErrorMessage());
      wrong++;
      continue;
    }
    worst = std::max(worst, error);
    ms[i] = Median(plans[i], db.p, dx.p, sizeof(double) * dx.n, stream, &failed);
    if (failed) ms[i] = -1, wrong++;
  }
  for (auto &p : plans) TrsvPlanDestroy(&p);
  cudaStreamDestroy(stream);
  TrsvAnalysisDestroy(&analysis);

  const auto list = [&](const char *what, const double *v, int n) {
    fprintf(json, "\"%s\": [", what);
    for (int i = 0; i < n; i++) fprintf(json, "%s%.6g", i ? ", " : "", v[i]);
    fprintf(json, "], ");
  };
  const char *upper = t.matrix.triangle == TRSV_LOWER ? "lower" : "upper";
  printf("%-28s %s best %.4f ms, scheme %d, error %.0e\n", name, upper,
         *std::min_element(ms.begin(), ms.end(),
                           [](double p, double q) { return (p < 0 ? INFINITY : p) < (q < 0 ? INFINITY : q); }),
         (int)(std::min_element(ms.begin(), ms.end(),
                                [](double p, double q) { return (p < 0 ? INFINITY : p) < (q < 0 ? INFINITY : q); }) -
               ms.begin()),
         worst);
  fflush(stdout);
  if (!json) return;
  fprintf(json, "{\"matrix\": \"%s\", \"real\": %s, \"triangle\": \"%s\", ", name, real ? "true" : "false", upper);
  list("features", features, AG_FEATURES);
  list("plan_s", seconds.data(), AG_REDUCED);
  list("ms", ms.data(), AG_REDUCED);
  fprintf(json, "\"error\": %.3g}\n", worst);
  fflush(json);
}

static void SearchSchemes(const char *name, const Triangle &t, double seconds)
{
  const double         start = Milliseconds();
  const Case<double>   c(t);
  const auto           b = RightHandSide<double>(t.matrix.rows);
  DeviceArray<double>  db(b.data(), b.size()), dx(b.size());
  const TrsvAlgorithm *ag = TrsvAlgorithmFind("ag");
  TrsvAnalysis        *analysis;
  cudaStream_t         stream;
  double               first = INFINITY, least = INFINITY;
  std::string          chosen, best;
  int                  trials = 0;

  if (TrsvAnalyze(&c.host, &analysis)) {
    fprintf(stderr, "%s: %s\n", name, TrsvErrorMessage());
    exit(2);
  }
  CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  for (int rank = 0; rank < AG_REDUCED && (!trials || Milliseconds() - start < 1e3 * seconds); rank++) {
    char      settings[TRSV_SETTINGS] = "scheme=";
    double    error                   = INFINITY, ms;
    bool      failed                  = false;
    TrsvPlan *plan                    = nullptr;
    AgScheme  s;

    if (TrsvAgChoose(&c.host, analysis, rank, &s)) exit(2);
    TrsvAgPrint(&s, settings + 7, sizeof(settings) - 7);
    TrsvSettingsRequest(settings);
    if (!TrsvPlanCreate(&c.host, analysis, nullptr, (int)c.values.size(), nullptr, ag, 0,
                        &plan)) { /* else refused */
      dx.Poison(stream);
      failed = TrsvPlanSetValues(plan, c.device_values.p, TRSV_DEVICE, stream) ||
               TrsvPlanSolve(plan, db.p, dx.p, stream) ||
               TrsvDeviceError(&c.device, nullptr, c.device_values.p, nullptr, db.p, dx.p, &error, stream);
      ms = Median(plan, db.p, dx.p, sizeof(double) * dx.n, stream, &failed);
      wrong += failed || !(error < 1e-13);
      if (!trials++) first = ms, chosen = settings + 7;
      if (ms < least) least = ms, best = settings + 7;
    }
    TrsvPlanDestroy(&plan);
  }
  TrsvSettingsRequest(nullptr);
  cudaStreamDestroy(stream);
  TrsvAnalysisDestroy(&analysis);

  const double took  = 1e-3 * (Milliseconds() - start);
  const char  *which = t.matrix.triangle == TRSV_LOWER ? "lower" : "upper";
  printf("%-28s %s %d trials, first %.4f ms, best %.4f ms %s\n", name, which, trials, first, least, best.c_str());
  if (json)
    fprintf(json,
            "{\"matrix\": \"%s\", \"triangle\": \"%s\", \"search_s\": %g, \"took_s\": %.4g, \"trials\": %d, "
            "\"first_ms\": %.6g, \"best_ms\": %.6g, \"scheme\": \"%s\", \"first\": \"%s\"}\n",
            name, which, seconds, took, trials, first, least, best.c_str(), chosen.c_str());
  fflush(stdout);
  if (json) fflush(json);
}

int main(int count, char **args)
{
  double search = 0;
  int    i      = 1;

  for (; i + 1 < count && args[i][0] == '-'; i += 2) {
    if (!strcmp(args[i], "-o")) json = fopen(args[i + 1], "a");
    else if (!strcmp(args[i], "-search")) search = atof(args[i + 1]);
    else {
      fprintf(stderr, "ag [-o FILE.jsonl] [-search SECONDS] MATRIX...\n");
      return 2;
    }
  }
  for (; i < count; i++) {
    const char *slash = strrchr(args[i], '/');
    char        name[256];
    Matrix      M;
    Triangle    t[2];

    snprintf(name, sizeof(name), "%s", slash ? slash + 1 : args[i]);
    if (char *dot = strstr(name, ".mtx")) *dot = 0;
    if (MatrixMake(args[i], &M) || M.rows != M.cols) continue;
    if (TriangleMake(&M, TRSV_LOWER, 0, &t[0]) || TriangleMake(&M, TRSV_UPPER, 0, &t[1])) exit(2);
    for (const Triangle &one : t) {
      if (search > 0) SearchSchemes(name, one, search / 2);
      else MeasureSchemes(name, strstr(args[i], ".mtx") != nullptr, one);
    }
    for (Triangle &one : t) TriangleFree(&one);
    MatrixFree(&M);
  }
  if (json) fclose(json);
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
