/*
   bench: times and checks every device algorithm on a list of matrices.

     bench [-a NAMES|ours] [-p double|float|complex|complex-float] [-o FILE.jsonl] [-m MS] [-r RANKS] [-pairs SECONDS]
       [-limits BYTES,...] MATRIX...

   For each matrix: the lower and the upper triangle of its pattern with seeded values; and, checked but not timed,
   those of its own values if it has values and a complete diagonal. Each algorithm solves as often as MS milliseconds
   allow (5 to 200 times), directly and in a graph; measure.cuh says how. With -m 0 nothing is timed, and each
   allocation is one of the driver, for tools that watch them.

   -a: names with commas between them; a name may have settings, name:setting=value:setting=value; ours: all but
   cuSPARSE. -r: so many settings of each algorithm that has several, by predicted time. -pairs: also L and then U, as
   in PCApply, by the selected algorithms, by the fastest ones after so many seconds of tuning, and by cuSPARSE.
   -limits: without clusters, and with at most so many bytes of shared memory for a block, once for each number.

   Each result is a JSON object, a line of FILE, and a line of a table on standard output. RESULT_FIELDS in the
   environment are fields of each line of FILE. The exit status is 1 if an error is over the bound or bits differ.
*/
#include <cusparse.h>
#include "papers/settings.h"
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "result_line.cuh"

extern "C" void TrsvDeviceLimitsOverride(const TrsvDeviceLimits *); /* device.cu */

#define BY_SCALAR(p, f) \
  ((p) == TRSV_FLOAT           ? f<float> \
   : (p) == TRSV_DOUBLE        ? f<double> \
   : (p) == TRSV_COMPLEX_FLOAT ? f<std::complex<float>> \
                               : f<std::complex<double>>)

/* Measures a candidate with one of its settings; returns false if it has fewer settings. */
template <class T> static bool MeasureCandidate(const Case<T> &c, const std::vector<T> &b, const Candidate &candidate,
                                                int rank, double budget, const Options &o, Result *r, char *setting,
                                                size_t size)
{
  DeviceArray<T> db(b.data(), b.size()), dx(b.size());
  TrsvAnalysis  *analysis = nullptr;
  TrsvPlan      *plan     = nullptr;
  const bool     cusparse = !strcmp(TrsvAlgorithmName(candidate.algorithm), "cusparse");

  *setting    = 0;
  auto unmake = [&] {
    TrsvPlanDestroy(&plan);
    if (!cusparse) TrsvAnalysisDestroy(&analysis);
  };
  TrsvSettingsRequest(candidate.settings.c_str());
  /* cuSPARSE does not use our analysis, whose time must not count */
  if (cusparse && TrsvAnalyze(&c.device, &analysis)) return false;
  const TrsvError e = MeasureAnalysis(
    &r->analysis_ms, budget > 0,
    [&] {
      if (!cusparse) TrsvCall(TrsvAnalyze(&c.device, &analysis));
      TrsvCall(TrsvPlanCreate(&c.device, analysis, nullptr, (int)c.values.size(), nullptr, candidate.algorithm,
                              rank, &plan));
      return TrsvPlanSetValues(plan, c.device_values.p, TRSV_DEVICE, nullptr);
    },
    unmake);
  TrsvSettingsRequest(nullptr);
  if (cusparse) r->analysis_ms -= o.handle;
  r->refused = e == TRSV_ERR_UNSUPPORTED;
  if (e) snprintf(r->failure, sizeof(r->failure), "%s", TrsvErrorMessage());
  else {
    r->bytes = plan->bytes;
    TrsvPlanDescribe(plan, setting, size);
    MeasureSolves(
      *r, dx, budget, [&](cudaStream_t s) { return TrsvPlanSolve(plan, db.p, dx.p, s); },
      [&](const std::vector<T> &x) { return c.Error(b, x); });
  }
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  return e != TRSV_ERR_UNSUPPORTED;
}

/* Measures all candidates on one triangle; base: cuSPARSE. */
template <class T> static void MeasureCandidates(const Case<T> &c, const std::vector<T> &b, const TrsvStatistics &s,
                                                 const Subject &subject, double budget, const Result &base, Options &o)
{
  const TrsvAlgorithm *selected =
                        o.budget > 0 ? TrsvSelect(&s, TRSV_DEVICE, o.precision, TRSV_SELECT_MODEL).algorithm : nullptr,
                      *cusparse = TrsvAlgorithmFind("cusparse");
  char setting[TRSV_SETTINGS];

  for (const Candidate &candidate : o.candidates)
    for (int rank = 0; rank < (budget > 0 && candidate.algorithm->predict && candidate.settings.empty() ? o.ranks : 1);
         rank++) { /* for algorithms that auto may choose */
      const TrsvAlgorithm *a = candidate.algorithm;
      Result               r;

      if (a == cusparse && budget > 0) r = base;
      else if (!MeasureCandidate(c, b, candidate, rank, budget, o, &r, setting, sizeof(setting)) && rank) break;
      WriteResult(subject, TrsvAlgorithmName(a), a == cusparse ? "" : setting, rank,
                  a == selected && !rank && candidate.settings.empty(),
                  selected ? 1e3 * TrsvPredict(a, &s, o.precision) : 0, r, o);
      if (a == cusparse) break;
    }
}

/* Returns the ms of cuSPARSE's analysis. */
template <class T> static double MeasureTriangle(const char *name, bool real, const Triangle &t, bool own, Options &o)
{
  const Case<T>        c(t);
  const std::vector<T> b = RightHandSide<T>(t.matrix.rows);
  std::vector<T>       x(b.size());
  TrsvAnalysis        *analysis;
  char                 setting[TRSV_SETTINGS];

  if (TrsvAnalyze(&c.host, &analysis)) {
    printf("%s: %s\n", name, TrsvErrorMessage());
    o.bad++;
    return 0;
  }
  const TrsvStatistics s = analysis->statistics;
  TrsvAnalysisDestroy(&analysis);
  const double budget = own ? 0 : o.budget, cpu = c.Serial(b, x);
  Result       base;
  Subject      subject = {name,
                     t.matrix.triangle == TRSV_LOWER ? "lower" : "upper",
                     own ? "own" : "seeded",
                          real,
                          s.rows,
                          s.levels,
                          s.nnz,
                          s.granularity,
                          s.mean_offset,
                          CsrBytes(s, o),
                          cpu,
                          Floor(s, o),
                          -1,
                          -1,
                          Bound(s, o),
                          0,
                          std::all_of(x.begin(), x.end(), Scalar<T>::Finite)};

  if (budget > 0)
    (void)MeasureCandidate(c, b, {TrsvAlgorithmFind("cusparse"), ""}, 0, budget, o, &base, setting, sizeof(setting));
  subject.cusparse_ms          = base.ms;
  subject.cusparse_analysis_ms = base.analysis_ms;
  if (o.limits.empty()) MeasureCandidates(c, b, s, subject, budget, base, o);
  for (size_t bytes : o.limits) {
    const TrsvDeviceLimits limits = {0, bytes};

    subject.limit = bytes;
    TrsvDeviceLimitsOverride(&limits);
    MeasureCandidates(c, b, s, subject, budget, base, o);
  }
  TrsvDeviceLimitsOverride(nullptr);
  return base.analysis_ms;
}

/* L and then U by a pair, made as in PCSetUp: both are analyzed first. how: NULL for the selected algorithm. */
template <class T> static Result MeasurePair(const Case<T> &L, const Case<T> &U, const std::vector<T> &b,
                                             const TrsvAlgorithm *how, double tune, const Options &o, char *setting,
                                             size_t size, double *predicted_ms)
{
  DeviceArray<T> db(b.data(), b.size()), dy(b.size()), dx(b.size());
  TrsvMatrix     lower = L.device, upper = U.device;
  TrsvAnalysis  *first = nullptr, *second = nullptr;
  TrsvPair      *pair  = nullptr;
  Result         r;

  const TrsvError e = MeasureAnalysis(
    &r.analysis_ms, tune < 0,
    [&] {
      TrsvCall(TrsvAnalyzeBoth(&L.device, &U.device, &first, &second));
      TrsvCall(TrsvHeightsFromTranspose(&L.device, first, &U.device, second));
      lower.analysis = first;
      upper.analysis = second;
      TrsvCall(TrsvPairCreate(&lower, &upper, nullptr, nullptr, 0, TRSV_DEVICE,
                              tune < 0 ? TRSV_SELECT_MODEL : TRSV_SELECT_TUNE, how, how, &pair));
      TrsvCall(TrsvPairSetValues(pair, L.device_values.p, U.device_values.p, TRSV_DEVICE, nullptr));
      return tune < 0 ? TRSV_SUCCESS
                      : TrsvPairTune(pair, &lower, &upper, nullptr, nullptr, L.device_values.p, U.device_values.p,
                                     TRSV_DEVICE, how, how, tune, nullptr);
    },
    [&] {
      TrsvPairDestroy(&pair);
      TrsvAnalysisDestroy(&first);
      TrsvAnalysisDestroy(&second);
    });
  TrsvAnalysisDestroy(&first); /* plans do not use them */
  TrsvAnalysisDestroy(&second);
  *setting = 0;
  if (e) {
    snprintf(r.failure, sizeof(r.failure), "%s", TrsvErrorMessage());
    return r;
  }
  const TrsvPairMember *members[2] = {&pair->forward, &pair->backward};
  for (int k = 0; k < 2; k++) {
    char   line[TRSV_SETTINGS];
    size_t at = strlen(setting);

    TrsvPlanDescribe(members[k]->plan, line, sizeof(line));
    snprintf(setting + at, size - at, "%s%s%s%s", k ? " + " : "", TrsvAlgorithmName(members[k]->choice.algorithm),
             *line ? " " : "", line);
    for (int i = 0; i < members[k]->trial_count; i++) {
      const TrsvTrial *m = &members[k]->trials[i];

      printf("  %c: %.4f ms %s %s, error %.0e%s%s\n", k ? 'U' : 'L', 1e3 * m->seconds, TrsvAlgorithmName(m->algorithm),
             m->settings, m->error, m->wrong ? " WRONG" : "", i == members[k]->chosen ? " *" : "");
      if (m->wrong) snprintf(r.failure, sizeof(r.failure), "tuning found %s wrong", TrsvAlgorithmName(m->algorithm));
    }
  }
  *predicted_ms = 1e3 * (pair->forward.choice.predicted + pair->backward.choice.predicted);
  r.bytes       = pair->forward.plan->bytes + pair->backward.plan->bytes;
  MeasureSolves(
    r, dx, o.budget, [&](cudaStream_t s) { return TrsvPairSolve(pair, db.p, dx.p, s); },
    [&](const std::vector<T> &x) -> double {
      if (TrsvPlanSolve(pair->forward.plan, db.p, dy.p, nullptr)) return INFINITY; /* y, which the second solve reads */
      const std::vector<T> y = dy.Fetch("a solve");

      return std::max(L.Error(b, y), U.Error(y, x));
    });
  TrsvPairDestroy(&pair);
  return r;
}

template <class T> static void MeasurePairs(const char *name, bool real, const Triangle &l, const Triangle &u,
                                            double cusparse_analysis_ms, Options &o)
{
  const Case<T>        L(l), U(u);
  const std::vector<T> b = RightHandSide<T>(l.matrix.rows);
  std::vector<T>       y(b.size()), x(b.size());
  TrsvAnalysis        *analysis[2];
  char                 setting[2 * TRSV_SETTINGS + 32];
  double               predicted_ms = 0;

  if (TrsvAnalyze(&L.host, &analysis[0]) || TrsvAnalyze(&U.host, &analysis[1])) exit(2);
  const TrsvStatistics s[2] = {analysis[0]->statistics, analysis[1]->statistics};
  TrsvAnalysisDestroy(&analysis[0]);
  TrsvAnalysisDestroy(&analysis[1]);
  const double cpu     = L.Serial(b, y) + U.Serial(y, x);
  Subject      subject = {name,
                          "pair",
                          "seeded",
                          real,
                          s[0].rows,
                          s[0].levels + s[1].levels,
                          s[0].nnz + s[1].nnz,
                          s[0].granularity,
                          s[0].mean_offset,
                          CsrBytes(s[0], o) + CsrBytes(s[1], o),
                          cpu,
                          Floor(s[0], o) + Floor(s[1], o),
                          -1,
                          -1,
                          std::max(Bound(s[0], o), Bound(s[1], o)),
                          0,
                          std::all_of(x.begin(), x.end(), Scalar<T>::Finite)};
  Result base = MeasurePair(L, U, b, TrsvAlgorithmFind("cusparse"), -1, o, setting, sizeof(setting), &predicted_ms);

  subject.cusparse_ms          = base.ms;
  subject.cusparse_analysis_ms = base.analysis_ms =
    cusparse_analysis_ms; /* a pair also makes our analysis, which cuSPARSE does not need */
  WriteResult(subject, "cusparse", "", 0, false, 0, base, o);
  const Result model = MeasurePair<T>(L, U, b, nullptr, -1, o, setting, sizeof(setting), &predicted_ms);
  WriteResult(subject, "model", setting, 0, true, predicted_ms, model, o);
  const Result tuned = MeasurePair<T>(L, U, b, nullptr, o.tune, o, setting, sizeof(setting), &predicted_ms);
  WriteResult(subject, "tune", setting, 0, false, predicted_ms, tuned, o);
}

template <class T> static void MeasureMatrix(const char *name, bool real, const Matrix *M, Options &o)
{
  for (int own = 0; own < 2; own++) {
    Triangle t[2];
    int      made     = 0;
    double   analysis = 0;

    for (int upper = 0; upper < 2; upper++) {
      if (TriangleMake(M, upper ? TRSV_UPPER : TRSV_LOWER, own, &t[made])) continue;
      analysis += MeasureTriangle<T>(name, real, t[made++], own, o);
    }
    if (made == 2 && !own && o.tune >= 0 && o.budget > 0) MeasurePairs<T>(name, real, t[0], t[1], analysis, o);
    while (made) TriangleFree(&t[--made]);
  }
}

/* Runs every algorithm once, so that the first use of a kernel or a library is not part of a measured analysis. */
template <class T> static void WarmUp(Options &o)
{
  Matrix   M;
  Triangle t;
  Result   r;
  char     setting[TRSV_SETTINGS];

  if (MatrixMake("g2d5:50", &M) || TriangleMake(&M, TRSV_LOWER, 0, &t)) exit(2);
  {
    const Case<T> c(t);

    for (const Candidate &candidate : o.candidates)
      (void)MeasureCandidate(c, RightHandSide<T>(t.matrix.rows), candidate, 0, 0, o, &r, setting, sizeof(setting));
    if (o.budget > 0)
      (void)MeasureCandidate(c, RightHandSide<T>(t.matrix.rows), {TrsvAlgorithmFind("cusparse"), ""}, 0, 0, o, &r,
                             setting, sizeof(setting));
  }
  TriangleFree(&t);
  MatrixFree(&M);
  cusparseHandle_t handle = nullptr;
  if (o.budget <= 0) return;
  if (MeasureAnalysis(
        &o.handle, true, [&] { return cusparseCreate(&handle) ? TRSV_ERR_DEVICE : TRSV_SUCCESS; },
        [&] { (void)cusparseDestroy(handle); }))
    exit(2);
  (void)cusparseDestroy(handle);
}

static void Usage(const char *what)
{
  fprintf(stderr,
          "%s\nbench [-a NAMES|ours] [-p double|float|complex|complex-float] [-o FILE.jsonl] [-m MS] [-r RANKS] "
          "[-pairs SECONDS] [-limits BYTES,...] MATRIX...\n",
          what);
  exit(2);
}

static TrsvPrecision ParsePrecision(const char *name)
{
  for (int p = TRSV_FLOAT; p <= TRSV_COMPLEX_DOUBLE; p++)
    if (!strcmp(name, PrecisionName((TrsvPrecision)p))) return (TrsvPrecision)p;
  Usage("-p takes double, float, complex or complex-float");
  return TRSV_DOUBLE;
}

static void ParseAlgorithms(char *names, Options &o)
{
  const TrsvAlgorithm *every;

  if (!strcmp(names, "ours")) {
    for (int k = 0; (every = TrsvAlgorithmGet(k)); k++)
      if (TrsvAlgorithmMemory(every) == TRSV_DEVICE && strcmp(TrsvAlgorithmName(every), "cusparse"))
        o.candidates.push_back({every, ""});
    return;
  }
  for (char *n = strtok(names, ","); n; n = strtok(nullptr, ",")) {
    char *const          settings = strchr(n, ':');
    const TrsvAlgorithm *a;

    if (settings) *settings = 0;
    for (char *colon = settings ? settings + 1 : nullptr; colon && (colon = strchr(colon, ':'));) *colon = ' ';
    a = TrsvAlgorithmFind(n);
    if (!a || TrsvAlgorithmMemory(a) != TRSV_DEVICE) Usage("-a takes device algorithms, separated by commas");
    o.candidates.push_back({a, settings ? settings + 1 : ""});
  }
}

int main(int count, char **args)
{
  Options              o;
  const TrsvAlgorithm *a;
  int                  i = 1;

  for (; i + 1 < count && args[i][0] == '-'; i += 2) {
    if (!strcmp(args[i], "-a")) ParseAlgorithms(args[i + 1], o);
    else if (!strcmp(args[i], "-p")) o.precision = ParsePrecision(args[i + 1]);
    else if (!strcmp(args[i], "-m")) o.budget = atof(args[i + 1]);
    else if (!strcmp(args[i], "-r")) o.ranks = atoi(args[i + 1]);
    else if (!strcmp(args[i], "-pairs")) o.tune = atof(args[i + 1]);
    else if (!strcmp(args[i], "-limits"))
      for (char *n = strtok(args[i + 1], ","); n; n = strtok(nullptr, ",")) o.limits.push_back((size_t)atol(n));
    else if (!strcmp(args[i], "-o")) o.json = fopen(args[i + 1], "a");
    else Usage(args[i]);
  }
  if (o.candidates.empty())
    for (int k = 0; (a = TrsvAlgorithmGet(k)); k++)
      if (TrsvAlgorithmMemory(a) == TRSV_DEVICE) o.candidates.push_back({a, ""});
  o.code      = TrsvDeviceGetLimits().clusters ? 90 : 80;
  o.bandwidth = MeasureBandwidth();
  printf("copy bandwidth %.2f TB/s; code for compute capability %.1f; * marks what auto selects\n", 1e-9 * o.bandwidth,
         0.1 * o.code);
  BY_SCALAR(o.precision, WarmUp)(o);
  profiled = true;
  for (; i < count; i++) {
    const char *slash = strrchr(args[i], '/'), *file = slash ? slash + 1 : args[i],
               *ordered = slash && !strncmp(args[i], "multicolor", 10) ? strchr(args[i], ':') : nullptr;
    char   name[256];
    Matrix M;

    snprintf(name, sizeof(name), "%.*s%s", ordered ? (int)(ordered + 1 - args[i]) : 0, args[i], file);
    if (char *dot = strstr(name, ".mtx")) *dot = 0;
    if (MatrixMake(args[i], &M)) {
      o.bad++;
      continue;
    }
    const bool real = strstr(args[i], ".mtx") != nullptr;
    BY_SCALAR(o.precision, MeasureMatrix)(name, real, &M, o);
    MatrixFree(&M);
  }
  if (o.json) fclose(o.json);
  printf("%d wrong\n", o.bad);
  return o.bad > 0;
}
