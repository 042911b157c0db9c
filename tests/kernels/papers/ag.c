/*
   ag: schemes as text, and solves by schemes of all kinds compared with serial, under different schedules.
*/
#include "ag_cases.h"
#include "papers/ag/ag_model.h"
#include "check.h"

static void CheckWords(void)
{
  static const char *const bad[] = {
    "",          "nw:3",          "nw:1",          "nw:64",     "nw:",    "nw:4x",   "ng:0",     "ng:inf",
    "sw_rnnz:3", "merge_fixed:0", "merge_avg:inf", "ws",        "ws_rrr", "alpha:1", "alpha:16", "nw:4,",
    ",nw:4",     "nw:4;ng:8",     "nw:4294967300", "reordered", "rg_"};
  AgScheme s, t;
  char     words[TRSV_SETTINGS], longest[TRSV_SETTINGS], long_one[160];

  Begin("ag's schemes in words");
  for (int i = 0; i < AG_REDUCED; i++) {
    TrsvAgReduced(i, &s);
    TrsvAgPrint(&s, words, sizeof(words));
    memset(&t, 0xcd, sizeof(t));
    Expect(TrsvAgParse(words, &t) && !memcmp(&s, &t, sizeof(s)), "%s is not what was printed", words);
    for (int k = 0; k < i; k++) {
      TrsvAgReduced(k, &t);
      Expect(memcmp(&s, &t, sizeof(s)) != 0, "schemes %d and %d are the same", k, i);
    }
  }
  (void)snprintf(longest, sizeof(longest),
                 "scheme=nw:32,ng:32,sw_rnnz:inf,natural,merge_thresh:32,rg_sequential,ws_hardware,alpha:inf");
  Expect(TrsvAgParse(longest + 7, &s), "the longest words");
  TrsvAgPrint(&s, words, sizeof(words));
  Expect(!strcmp(words, longest + 7) && strlen(longest) + 1 < TRSV_SETTINGS, "the longest words come out as %s", words);
  Expect(TrsvAgParse("alpha:0,ws_rr", &s) && s.alpha == 0 && s.ws == AG_RR, "words in another order");
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
    Expect(!TrsvAgParse(bad[i], NULL), "'%s' is no scheme", bad[i]);
  ExpectRefused("ag", "scheme=nw:3", "scheme cannot be 'nw:3'; use words joined by commas");
  (void)snprintf(long_one, sizeof(long_one),
                 "scheme=nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:16,nw:"
                 "16,nw:16,bad"); /* wrong after the last number of the array */
  ExpectRefused("ag", long_one, "merge_thresh:1..32");
  End();
}

/* Expects of a plan on the host: every row once; tasks in an order in which no task waits for a later one outside of
   its node. */
static void CheckPlan(const TrsvMatrix *A, const AgScheme *s, const char *words)
{
  TrsvAnalysis *analysis;
  AgPlan        h;

  if (!ExpectError(TrsvAnalyze(A, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) return;
  if (ExpectError(TrsvAgPlan(A, analysis, NULL, s, 2, &h), TRSV_SUCCESS, "TrsvAgPlan")) {
    int *launch = malloc(sizeof(int) * ((size_t)h.rows + 1)), solved = 0;

    for (int p = 0; p <= h.rows; p++) launch[p] = -1;
    for (int l = 0; l < h.launches; l++)
      for (int i = h.launch[l].task * s->ng; i < (h.launch[l].task + h.launch[l].tasks) * s->ng; i++) {
        const int n = h.task[i] < 0 ? -1 : h.task[i] & ~AG_COLLECT;

        for (int p = n < 0 ? 0 : h.node[n]; n >= 0 && p < h.node[n + 1]; p++, solved++) {
          Expect(launch[p] < 0, "%s: place %d is solved twice", words, p);
          launch[p] = l;
        }
      }
    Expect(solved == h.rows, "%s: %d of %d rows are solved", words, solved, h.rows);
    for (int p = 0; p < h.rows; p++)
      for (int k = h.offsets[p]; k < h.offsets[p + 1]; k++) {
        Expect(h.columns[k] < p && (k == h.offsets[p] || h.columns[k - 1] < h.columns[k]), "%s: place %d depends on %d",
               words, p, h.columns[k]);
        Expect(launch[h.columns[k]] < launch[p] || (launch[h.columns[k]] == launch[p] && h.launch[launch[p]].wait),
               "%s: launch %d waits for %d", words, launch[p], launch[h.columns[k]]);
        Expect(h.order[h.columns[k]] >= 0, "%s: place %d has no word", words, h.columns[k]);
      }
    free(launch);
    TrsvAgPlanFree(&h);
  }
  TrsvAnalysisDestroy(&analysis);
}

/* The least loaded of the workers, the first of several */
static int FindLeast(const long *load, int workers)
{
  int least = 0;

  for (int k = 1; k < workers; k++)
    if (load[k] < load[least]) least = k;
  return least;
}

/* Expects of lists by ws_balance: each task, in their order without lists, is in that of the worker that has the fewest
   entries so far. */
static void CheckBalance(const TrsvMatrix *A, const AgScheme *s, const char *words)
{
  AgScheme      alike = *s;
  TrsvAnalysis *analysis;
  AgPlan        h, in;

  alike.ws = AG_HARDWARE;
  ExpectError(TrsvAnalyze(A, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  ExpectError(TrsvAgPlan(A, analysis, NULL, s, 2, &h), TRSV_SUCCESS, "TrsvAgPlan");
  ExpectError(TrsvAgPlan(A, analysis, NULL, &alike, 2, &in), TRSV_SUCCESS, "TrsvAgPlan in order");
  for (int l = 0; l < h.launches; l++) {
    const int  workers = h.launch[l].workers, first = h.launch[l].task, end = first + h.launch[l].tasks;
    long *const load   = calloc((size_t)workers, sizeof(long));
    int *const  taken  = calloc((size_t)workers, sizeof(int));

    for (int t = first; t < end; t++) {
      const int  to  = FindLeast(load, workers), at = h.begin[h.launch[l].begin + to] + taken[to]++;
      const int *own = in.task + t * s->ng;

      Expect(at < h.begin[h.launch[l].begin + to + 1] && !memcmp(h.task + at * s->ng, own, sizeof(int) * (size_t)s->ng),
             "%s: launch %d: task %d is not in the list of worker %d", words, l, t, to);
      for (int k = 0; k < s->ng; k++) {
        const int n = own[k] < 0 ? -1 : own[k] & ~AG_COLLECT, p = n < 0 ? 0 : h.node[n], q = n < 0 ? 0 : h.node[n + 1];

        load[to] += h.offsets[q] - h.offsets[p] + q - p;
      }
    }
    free(load);
    free(taken);
  }
  TrsvAgPlanFree(&h);
  TrsvAgPlanFree(&in);
  TrsvAnalysisDestroy(&analysis);
}

static void CheckSchemes(Shape shape, int rows, const char *scheme, int variant, unsigned schedule)
{
  const TrsvPrecision precision = variant & 4 ? TRSV_FLOAT : TRSV_DOUBLE;
  Triangle            T         = MakeTriangle(shape, rows, variant & 1 ? TRSV_UPPER : TRSV_LOWER,
                            variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, precision, (unsigned)rows);
  void               *values = MakeValues(&T.view, 3), *b = MakeVector(precision, rows, 4),
       *reference = Reference(&T.view, NULL, T.offsets[rows], values, b);
  TrsvPlan *plan;
  AgScheme  s;
  char      settings[TRSV_SETTINGS + 8], described[TRSV_SETTINGS], where[96];

  (void)snprintf(settings, sizeof(settings), "scheme=%s", scheme);
  (void)snprintf(where, sizeof(where), "%s %d, variant %d", ShapeName[shape], rows, variant);
  if (Expect(TrsvAgParse(scheme, &s), "%s is no scheme", scheme)) {
    CheckPlan(&T.view, &s, where);
    if (s.ws == AG_BALANCE) CheckBalance(&T.view, &s, where);
  }
  plan = MakePlanWith(&T.view, NULL, T.offsets[rows], TrsvAlgorithmFind("ag"), settings);
  if (plan) {
    TrsvPlanDescribe(plan, described, sizeof(described));
    Expect(!strcmp(described, settings), "%s is described as %s", settings, described);
    if (ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues"))
      ExpectSolves(plan, b, reference, schedule, 3, where);
  }
  TrsvPlanDestroy(&plan);
  free(values);
  free(b);
  free(reference);
  FreeTriangle(&T);
}

/* After a launch that fails halfway through a solve the plan still solves. */
static void CheckTornModel(void)
{
  Triangle T      = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  void    *values = MakeValues(&T.view, 3), *b = MakeVector(TRSV_DOUBLE, 100, 4), *x = MakeArray(TRSV_DOUBLE, 100),
       *reference = Reference(&T.view, NULL, T.offsets[100], values, b);
  TrsvPlan *plan;

  Begin("ag after launches that failed");
  plan = MakePlanWith(&T.view, NULL, T.offsets[100], TrsvAlgorithmFind("ag"), "scheme=alpha:0");
  if (plan) ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
  for (long k = 1; plan && k < 40; k += 3) {
    TrsvError error;

    SimtFailAt(k, 0);
    error = TrsvPlanSolve(plan, b, x, NULL);
    Expect(!SimtFailed() == !error, "place %ld: error %d", k, (int)error);
    SimtFailAt(0, 0);
    for (int n = 0; n < 2; n++) {
      memset(x, 0xcd, sizeof(double) * 100);
      ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "a solve after that");
      ExpectClose(TRSV_DOUBLE, 100, x, reference, "after a failure");
    }
  }
  TrsvPlanDestroy(&plan);
  free(values);
  free(b);
  free(x);
  free(reference);
  FreeTriangle(&T);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* The model in C equals that in Python; its ranks are all schemes. */
static void CheckModel(void)
{
  Triangle      T = MakeTriangle(GRID_2D, 400, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  TrsvAnalysis *analysis;
  double        features[AG_FEATURES];
  int           seen[AG_REDUCED] = {0};

  Begin("ag's learned model");
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    double outputs[AG_REDUCED];
    int    best = 0;

    TrsvAgOutputs(cases[c].features, outputs);
    for (int i = 1; i < AG_REDUCED; i++) best = outputs[i] > outputs[best] ? i : best;
    Expect(best == cases[c].best && fabs(outputs[best] - cases[c].output) < 1e-4,
           "case %zu: scheme %d at %g, not %d at %g", c, best, outputs[best], cases[c].best, cases[c].output);
  }
  if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
    TrsvAgFeatures(&T.view, analysis, features);
    /* 20 by 20 points: 39 level sets, the longest of 20 rows; all rows but the corner's depend on their neighbor */
    Expect(features[0] == 400 && features[1] == 1160 && features[3] == 3 && features[8] == 39 &&
             fabs(features[6] - 58) < 1e-9,
           "features %g %g %g %g %g", features[0], features[1], features[3], features[8], features[6]);
    Expect(fabs(features[9] - (380 + 19 / 20.) / 400) < 1e-9, "distance of dependencies %g", features[9]);
    for (int r = 0; r < AG_REDUCED; r++) {
      AgScheme s, t;

      ExpectError(TrsvAgChoose(&T.view, analysis, r, &s), TRSV_SUCCESS, "TrsvAgChoose");
      for (int i = 0; i < AG_REDUCED; i++) {
        TrsvAgReduced(i, &t);
        seen[i] += !memcmp(&s, &t, sizeof(s));
      }
    }
    for (int i = 0; i < AG_REDUCED; i++) Expect(seen[i] == 1, "scheme %d has %d ranks", i, seen[i]);
    TrsvAnalysisDestroy(&analysis);
  }
  FreeTriangle(&T);
  End();
}

void TestAg(void)
{
  static const char *const more[]   = {"nw:2,ng:2,sw_rnnz:4,natural,merge_thresh:8,rg_balance,ws_locality,alpha:0",
                                       "nw:2,ng:4,sw_rnnz:2,reorder,merge_avg:4,ws_balance,alpha:2",
                                       "nw:2,ng:32,sw_rnnz:inf,natural,merge_fixed:4,ws_rr",
                                       "nw:2,ng:1,sw_rnnz:0,natural,merge_fixed:32,alpha:0"};
  static const Shape       shapes[] = {RANDOM, CHAIN, DENSE, GRID_2D, ARROW, BAND};

  CheckWords();
  CheckModel();
  for (int i = 0; i < AG_REDUCED + 4; i++) {
    char     words[TRSV_SETTINGS];
    AgScheme s;

    if (Reduced() && i % 4) continue;
    if (i < AG_REDUCED) TrsvAgReduced(i, &s);
    else (void)TrsvAgParse(more[i - AG_REDUCED], &s);
    TrsvAgPrint(&s, words, sizeof(words));
    Begin("ag %s", words);
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
      CheckSchemes(shapes[k], shapes[k] == DENSE ? 70 : 130 + (int)k, words, (i + (int)k) % 8,
                   3 * (unsigned)((i + (int)k) % 8));
    End();
  }
  if (!Reduced()) {
    Begin("ag, one warp ahead of all others");
    CheckSchemes(RANDOM, 1000, "nw:16,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_sequential,ws_hardware,alpha:inf", 0,
                 782);
    End();
  }
  CheckTornModel();
}
