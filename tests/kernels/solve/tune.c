/*
   Tuning: the choice is the fastest measured candidate, wrong candidates are rejected, after failures the pair still
   solves.
*/
#include "papers/ag/ag_model.h"
#include "check.h"

/* A pair and its input */
typedef struct {
  Triangle  L, U;
  void     *l, *u, *b, *x, *y, *want;
  int      *row, *column; /* orderings */
  TrsvPair *pair;
} Setting;

static void MakeInput(Setting *s, Shape shape, int rows, TrsvPrecision precision, int transposed,
                      const TrsvAlgorithm *asked)
{
  TrsvPair *host;

  memset(s, 0, sizeof(*s));
  s->L      = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, 3);
  s->U      = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, 4);
  s->l      = MakeValues(&s->L.view, 3);
  s->u      = MakeValues(&s->U.view, 4);
  s->b      = MakeVector(precision, rows, 5);
  s->x      = MakeArray(precision, rows);
  s->y      = MakeArray(precision, rows);
  s->want   = MakeArray(precision, rows);
  s->row    = malloc(sizeof(int) * (size_t)rows);
  s->column = malloc(sizeof(int) * (size_t)rows);
  for (int i = 0; i < rows; i++) {
    s->row[i]    = rows - 1 - i;
    s->column[i] = (i + rows / 3) % rows;
  }
  if (ExpectError(TrsvPairCreate(&s->L.view, &s->U.view, s->row, s->column, transposed, TRSV_HOST, TRSV_SELECT_TUNE,
                                 NULL, NULL, &host),
                  TRSV_SUCCESS, "TrsvPairCreate")) {
    ExpectError(TrsvPairSetValues(host, s->l, s->u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
    ExpectError(
      TrsvPairTune(host, &s->L.view, &s->U.view, s->row, s->column, s->l, s->u, TRSV_HOST, NULL, NULL, 1, NULL),
      TRSV_SUCCESS, "TrsvPairTune on a host");
    Expect(!host->forward.trial_count, "a host was tuned");
    (void)TrsvPlanSolve(host->forward.plan, s->b, s->y, NULL);
    (void)TrsvPlanSolveNext(host->backward.plan, s->y, s->want, NULL);
    TrsvPairDestroy(&host);
  }
  if (ExpectError(TrsvPairCreate(&s->L.view, &s->U.view, s->row, s->column, transposed, TRSV_DEVICE, TRSV_SELECT_TUNE,
                                 asked, asked, &s->pair),
                  TRSV_SUCCESS, "TrsvPairCreate"))
    ExpectError(TrsvPairSetValues(s->pair, s->l, s->u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
}

static void CheckSolve(Setting *s, const char *where)
{
  memset(s->x, 0xcd, TrsvValueSize(s->pair->precision) * (size_t)s->pair->rows);
  ExpectError(TrsvPairSolve(s->pair, s->b, s->x, NULL), TRSV_SUCCESS, where);
  ExpectClose(s->pair->precision, s->pair->rows, s->x, s->want, where);
}

static void FreeInput(Setting *s)
{
  TrsvPairDestroy(&s->pair);
  free(s->l);
  free(s->u);
  free(s->b);
  free(s->x);
  free(s->y);
  free(s->want);
  free(s->row);
  free(s->column);
  FreeTriangle(&s->L);
  FreeTriangle(&s->U);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
}

static TrsvError TunePair(Setting *s, const TrsvAlgorithm *asked, double seconds)
{
  return TrsvPairTune(s->pair, &s->L.view, &s->U.view, s->row, s->column, s->l, s->u, TRSV_HOST, asked, asked, seconds,
                      NULL);
}

/* No correct candidate is faster than the choice by more than the margin; the plan is that of the choice. */
static void CheckMember(const TrsvPairMember *m, const char *where)
{
  const TrsvTrial *best = &m->trials[m->chosen];
  char             settings[TRSV_SETTINGS];

  Expect(m->choice.algorithm == best->algorithm && m->plan->algorithm == best->algorithm,
         "%s: the plan is not by what was chosen", where);
  TrsvPlanDescribe(m->plan, settings, sizeof(settings));
  Expect(!strcmp(settings, best->settings), "%s: the plan has settings '%s', chosen was '%s'", where, settings,
         best->settings);
  for (int i = 0; i < m->trial_count; i++) {
    const TrsvTrial *t = &m->trials[i];

    Expect(!t->wrong && t->seconds > 0 && t->error < 1e-4, "%s: %s %s: %g s, error %g", where,
           TrsvAlgorithmName(t->algorithm), t->settings, t->seconds, t->error);
    Expect(best->seconds <= t->seconds / 0.97, "%s: %s takes %g s, %s takes %g", where,
           TrsvAlgorithmName(best->algorithm), best->seconds, TrsvAlgorithmName(t->algorithm), t->seconds);
    for (int k = 0; k < i; k++)
      Expect(t->algorithm != m->trials[k].algorithm || strcmp(t->settings, m->trials[k].settings),
             "%s: %s %s was tried twice", where, TrsvAlgorithmName(t->algorithm), t->settings);
  }
}

static void CheckChoices(void)
{
  static const Shape shapes[] = {RANDOM, BAND, GRID_2D, DIAGONAL};
  int                most     = 0;

  for (int n = 0; n < (Reduced() ? 2 : 8); n++) {
    const Shape shape = shapes[n % 4];
    Setting     s;

    Begin("tune %s%s, %s", ShapeName[shape], n / 2 % 2 ? ", transposed" : "", n / 4 ? "float" : "double");
    MakeInput(&s, shape, shape == BAND ? 150 : 900, n / 4 ? TRSV_FLOAT : TRSV_DOUBLE, n / 2 % 2, NULL);
    ExpectError(TunePair(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
    CheckMember(&s.pair->forward, "first");
    CheckMember(&s.pair->backward, "second");
    if (s.pair->forward.trial_count > most) most = s.pair->forward.trial_count;
    Expect(s.pair->forward.trial_count >= 2, "%d tries", s.pair->forward.trial_count);
    CheckSolve(&s, "after tuning");
    FreeInput(&s);
    End();
  }
  Begin("tune tries settings, too");
  Expect(most > 2, "never more than %d candidates", most);
  End();
}

/* On a device that cannot run chunk, it is neither tried nor chosen. */
static void CheckScarceMemory(void)
{
  Setting s;

  Begin("tune tries nothing that cannot run");
  SimtSettings.shared = 98 << 10;
  MakeInput(&s, CHAIN, 300, TRSV_DOUBLE, 0, NULL); /* by chunk, if the device can run it */
  ExpectError(TunePair(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trial_count > 1, "%d tries", s.pair->forward.trial_count);
  for (int i = 0; i < s.pair->forward.trial_count; i++)
    Expect(s.pair->forward.trials[i].algorithm != TrsvAlgorithmFind("chunk"), "chunk was tried");
  CheckSolve(&s, "after tuning");
  FreeInput(&s);
  SimtDefaults();
  End();
}

static void CheckLimits(void)
{
  const TrsvAlgorithm *warp = TrsvAlgorithmFind("warp"), *chunk = TrsvAlgorithmFind("chunk"),
                      *ag = TrsvAlgorithmFind("ag");
  Setting s;

  Begin("tune without time keeps the model's choice");
  MakeInput(&s, GRID_2D, 400, TRSV_DOUBLE, 0, NULL);
  ExpectError(TunePair(&s, NULL, 0), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trial_count == 1 && s.pair->backward.trial_count == 1 && !s.pair->forward.chosen,
         "%d and %d tries", s.pair->forward.trial_count, s.pair->backward.trial_count);
  CheckSolve(&s, "after tuning");
  FreeInput(&s);
  End();

  Begin("tune keeps to an algorithm that was asked for");
  for (int n = 0; n < 2; n++) {
    const TrsvAlgorithm *asked = n ? chunk : warp;

    MakeInput(&s, GRID_3D, 1000, TRSV_DOUBLE, 0, asked);
    ExpectError(TunePair(&s, asked, 1e9), TRSV_SUCCESS, "TrsvPairTune");
    for (int i = 0; i < s.pair->forward.trial_count; i++)
      Expect(s.pair->forward.trials[i].algorithm == asked, "%s was tried",
             TrsvAlgorithmName(s.pair->forward.trials[i].algorithm));
    Expect(n ? s.pair->forward.trial_count > 1 : s.pair->forward.trial_count == 1, "%s: %d tries",
           TrsvAlgorithmName(asked), s.pair->forward.trial_count);
    CheckSolve(&s, "after tuning");
    FreeInput(&s);
  }
  End();

  Begin("tune of a published algorithm measures its own choice, nothing else");
  MakeInput(&s, GRID_2D, Reduced() ? 64 : 225, TRSV_DOUBLE, 0, ag);
  ExpectError(TunePair(&s, ag, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  for (int n = 0; n < 2; n++) {
    const TrsvPairMember *m = n ? &s.pair->backward : &s.pair->forward;
    TrsvAnalysis         *analysis;
    char                  words[TRSV_SETTINGS] = "scheme=";
    AgScheme              scheme;

    Expect(m->trial_count == 1, "%d tries", m->trial_count);
    CheckMember(m, n ? "second" : "first");
    if (!ExpectError(TrsvAnalyze(n ? &s.U.view : &s.L.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) continue;
    ExpectError(TrsvAgChoose(n ? &s.U.view : &s.L.view, analysis, 0, &scheme), TRSV_SUCCESS, "TrsvAgChoose");
    TrsvAgPrint(&scheme, words + strlen(words), sizeof(words) - strlen(words));
    Expect(!strcmp(words, m->trials[0].settings), "%s was tried first, not %s", m->trials[0].settings, words);
    TrsvAnalysisDestroy(&analysis);
  }
  CheckSolve(&s, "after tuning");
  FreeInput(&s);
  End();

  Begin("tune of nothing");
  MakeInput(&s, DIAGONAL, 0, TRSV_DOUBLE, 0, NULL);
  ExpectError(TunePair(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  FreeInput(&s);
  End();
}

static void CheckWrongResults(void)
{
  Setting s;
  int     wrong = 0;
  double  kept;
  char    line[TRSV_SETTINGS];

  Begin("tune replaces a plan that is wrong");
  MakeInput(&s, BAND, 100, TRSV_DOUBLE, 0, NULL);
  for (int k = 0; k < s.L.offsets[100]; k++)
    Set(s.l, TRSV_DOUBLE, k, 0.5 * Get(s.l, TRSV_DOUBLE, k)); /* the plan has other values */
  kept = Get(s.u, TRSV_DOUBLE, 0);
  Set(s.u, TRSV_DOUBLE, 0, NAN);
  ExpectError(TrsvPlanSetValues(s.pair->backward.plan, s.u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
  Set(s.u, TRSV_DOUBLE, 0, kept);
  ExpectError(TunePair(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trials[0].wrong && s.pair->forward.chosen > 0, "it is not noticed: error %g",
         s.pair->forward.trials[0].error);
  Expect(s.pair->backward.trials[0].wrong && isinf(s.pair->backward.trials[0].error), "a NaN is not noticed: error %g",
         s.pair->backward.trials[0].error);
  FreeInput(&s);
  End();

  /* a chain, with its blocks inverted, in one chunk stores nothing for other blocks but what it exports, thread stores
   * every row */
  Begin("tune rejects a candidate that is wrong");
  MakeInput(&s, CHAIN, 300, TRSV_DOUBLE, 0, NULL);
  TrsvPlanDescribe(s.pair->forward.plan, line, sizeof(line));
  Expect(s.pair->forward.choice.algorithm == TrsvAlgorithmFind("chunk") && !strncmp(line, "blocks=32 ", 10),
         "the model's choice is %s %s", TrsvAlgorithmName(s.pair->forward.choice.algorithm), line);
  SimtSettings.bounded = 1;
  SimtSettings.lose    = 251; /* in a level set that is not recomputed */
  SimtSettings.loser   = "thread_solve";
  ExpectError(TunePair(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  for (int i = 0; i < s.pair->forward.trial_count; i++) {
    const TrsvTrial *t = &s.pair->forward.trials[i];

    if (t->algorithm == TrsvAlgorithmFind("thread"))
      wrong += Expect(t->wrong && isinf(t->error), "thread: error %g", t->error);
  }
  Expect(wrong == 2 && /* both forms */ !s.pair->forward.trials[s.pair->forward.chosen].wrong, "%d wrong ones", wrong);
  SimtDefaults();
  CheckSolve(&s, "after tuning");
  FreeInput(&s);
  End();
}

static void CheckFailures(int on)
{
  Setting s;

  Begin("tune fails anywhere: %s", on ? "for good" : "once");
  for (long k = 1, struck = 1; struck; k += k < (Reduced() ? 10 : 70) ? 1 : Reduced() ? 101 : 37) {
    TrsvError error;

    MakeInput(&s, CHAIN, 40, TRSV_DOUBLE, 0, NULL);
    SimtFailAt(k, on);
    error  = TunePair(&s, NULL, 1e9);
    struck = SimtFailed();
    SimtFailAt(0, 0);
    Expect(struck || !error, "error %d where nothing fails", (int)error);
    Expect(!error || error == TRSV_ERR_DEVICE, "place %ld: error %d", k,
           (int)error); /* without memory for measurements, the existing plan is kept */
    CheckSolve(&s, "after a failure");
    FreeInput(&s);
  }
  End();
}

/* The joint launch uses both plans: it ends before one of them may be replaced. */
static void CheckJointLaunch(void)
{
  const TrsvAlgorithm *thread = FindTested("thread");
  Setting              s;
  int                  failed = 0;

  Begin("tune that fails leaves no joint launch");
  for (long k = 1, struck = 1; struck; k *= 2) {
    TrsvError error;

    MakeInput(&s, CHAIN, 40, TRSV_DOUBLE, 0, thread);
    Expect(s.pair->fused != NULL, "there is no joint launch");
    SimtFailAt(k, 0);
    error  = TunePair(&s, thread, 1e9);
    struck = SimtFailed();
    SimtFailAt(0, 0);
    failed += !!error;
    Expect(!error == !!s.pair->fused, "place %ld: error %d, %s joint launch", k, (int)error,
           s.pair->fused ? "a" : "no");
    CheckSolve(&s, "after a failure");
    FreeInput(&s);
  }
  Expect(failed > 2, "%d calls failed", failed);
  End();
}

void TestTune(void)
{
  CheckChoices();
  CheckLimits();
  CheckScarceMemory();
  CheckWrongResults();
  CheckJointLaunch();
  CheckFailures(0);
  CheckFailures(1);
}
