/*
   Costs of a device, and tuning: the choice is the fastest of what was measured, wrong candidates are rejected, failures leave a
   pair that solves.
*/
#include "papers/ag/ag_model.h"
#include "check.h"

static void Costs(void)
{
  TrsvMeasured m = TrsvH200;
  TrsvCosts    c = TrsvCostsFrom(&m);

  Begin("costs: an H200 is the unit, whatever chance does to its measurement");
  Expect(c.measured && c.hop == 1 && c.push == 1 && c.step == 1 && c.byte == 1, "its own costs are not 1");
  for (double by = 0.94; by < 1.065; by += 0.01) {
    m.hop  = by * TrsvH200.hop;
    m.byte = TrsvH200.byte / by;
    c      = TrsvCostsFrom(&m);
    Expect(c.hop == 1 && c.byte == 1, "%g and %g of an H200's give %g and %g", by, 1 / by, c.hop, c.byte);
  }
  End();

  Begin("costs: a slower device is slower, in steps");
  for (double by = 0.2; by < 5; by *= 1.01) {
    m.step = by * TrsvH200.step;
    m.push = 0;
    c      = TrsvCostsFrom(&m);
    Expect(c.step > by / 1.08 && c.step < by * 1.08, "%g times an H200's give %g", by, c.step);
    Expect(c.push == 1, "what was not measured gives %g", c.push);
    Expect(fabs(log(c.step) / log(1.15) - round(log(c.step) / log(1.15))) < 1e-9, "%g is not a step", c.step);
  }
  End();

  Begin("costs: none are measured under the executor");
  c = TrsvGetCosts();
  Expect(!c.measured && c.hop == 1 && c.push == 1 && c.step == 1 && c.byte == 1, "they are");
  End();
}

static void Calibration(void)
{
  TrsvMeasured m;

  Begin("calibration ends and measures");
  for (unsigned k = 0; k < (Reduced() ? 2 : 12); k++) {
    SimtSchedule(k);
    if (SimtSettings.resident < 2) SimtSettings.resident = 2;
    const unsigned long long before = SimtSwitches(); /* each a ns */
    ExpectError(TrsvCalibrate(4096, &m), TRSV_SUCCESS, "TrsvCalibrate");
    const double all = 1e-9 * (double)(SimtSwitches() - before), most = all / 100; /* there are hundreds of each */
    Expect(m.hop > 0 && m.push > 0 && m.step > 0 && m.hop < most && m.push < most && m.step < all, "schedule %u: hop %g, push %g, step %g, of %g in all", k, m.hop, m.push, m.step, all);
    Expect(fabs(m.byte - 0.5e-9) < 1e-15, "schedule %u: byte %g, should be half a ns", k, m.byte);
  }
  SimtDefaults();
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();

  Begin("calibration ends where a block never answers");
  SimtSettings.bounded = 1;
  SimtSettings.lose    = 7;
  ExpectError(TrsvCalibrate(4096, &m), TRSV_SUCCESS, "TrsvCalibrate");
  Expect(!(m.hop > 0) && !(m.push > 0), "it measured hop %g, push %g all the same", m.hop, m.push);
  SimtDefaults();
  End();

  Begin("calibration fails anywhere");
  for (long k = 1, struck = 1; struck; k++) {
    TrsvError error;

    SimtFailAt(k, 0);
    error  = TrsvCalibrate(4096, &m);
    struck = SimtFailed();
    SimtFailAt(0, 0);
    if (!Expect(!SimtLive(), "place %ld: %zu device allocations are left", k, SimtLive())) break;
    Expect(struck || !error, "error %d where nothing fails", (int)error);
  }
  End();
}

/* A pair and all that belongs to it */
typedef struct {
  Triangle  L, U;
  void     *l, *u, *b, *x, *y, *want;
  int      *row, *column; /* orderings */
  TrsvPair *pair;
} Setting;

static void Make(Setting *s, Shape shape, int rows, TrsvPrecision precision, int transposed, const TrsvAlgorithm *asked)
{
  TrsvPair *host;

  memset(s, 0, sizeof(*s));
  s->L    = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, 3);
  s->U    = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, 4);
  s->l    = MakeValues(&s->L.view, 3);
  s->u    = MakeValues(&s->U.view, 4);
  s->b    = MakeVector(precision, rows, 5);
  s->x    = MakeArray(precision, rows);
  s->y    = MakeArray(precision, rows);
  s->want = MakeArray(precision, rows);
  s->row    = malloc(sizeof(int) * (size_t)rows);
  s->column = malloc(sizeof(int) * (size_t)rows);
  for (int i = 0; i < rows; i++) {
    s->row[i]    = rows - 1 - i;
    s->column[i] = (i + rows / 3) % rows;
  }
  if (ExpectError(TrsvPairCreate(&s->L.view, &s->U.view, s->row, s->column, transposed, TRSV_HOST, TRSV_SELECT_TUNE, NULL, NULL, &host), TRSV_SUCCESS, "TrsvPairCreate")) {
    ExpectError(TrsvPairSetValues(host, s->l, s->u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
    ExpectError(TrsvPairTune(host, &s->L.view, &s->U.view, s->row, s->column, s->l, s->u, TRSV_HOST, NULL, NULL, 1, NULL), TRSV_SUCCESS, "TrsvPairTune on a host");
    Expect(!host->forward.trial_count, "a host was tuned");
    (void)TrsvPairForward(host, s->b, s->y, NULL);
    (void)TrsvPairBackward(host, s->y, s->want, NULL);
    TrsvPairDestroy(&host);
  }
  if (ExpectError(TrsvPairCreate(&s->L.view, &s->U.view, s->row, s->column, transposed, TRSV_DEVICE, TRSV_SELECT_TUNE, &(TrsvRequest){asked, NULL}, &(TrsvRequest){asked, NULL}, &s->pair), TRSV_SUCCESS, "TrsvPairCreate")) ExpectError(TrsvPairSetValues(s->pair, s->l, s->u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
}

static void CheckSolve(Setting *s, const char *where)
{
  memset(s->x, 0xcd, TrsvValueSize(s->pair->precision) * (size_t)s->pair->rows);
  ExpectError(TrsvPairSolve(s->pair, s->b, s->x, NULL), TRSV_SUCCESS, where);
  ExpectClose(s->pair->precision, s->pair->rows, s->x, s->want, where);
}

static void Free(Setting *s)
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

static TrsvError Tune(Setting *s, const TrsvAlgorithm *asked, double seconds) { return TrsvPairTune(s->pair, &s->L.view, &s->U.view, s->row, s->column, s->l, s->u, TRSV_HOST, &(TrsvRequest){asked, NULL}, &(TrsvRequest){asked, NULL}, seconds, NULL); }

/* Nobody who was right is faster than the choice by more than the margin; the plan is the one that was chosen. */
static void CheckMember(const TrsvPairMember *m, const char *where)
{
  const TrsvTrial *best = &m->trials[m->chosen];
  char             settings[TRSV_SETTINGS];

  Expect(m->algorithm == best->algorithm && TrsvPlanAlgorithm(m->plan) == best->algorithm, "%s: the plan is not by what was chosen", where);
  TrsvPlanDescribe(m->plan, settings, sizeof(settings));
  Expect(!strcmp(settings, best->settings), "%s: the plan has settings '%s', chosen was '%s'", where, settings, best->settings);
  for (int i = 0; i < m->trial_count; i++) {
    const TrsvTrial *t = &m->trials[i];

    Expect(!t->wrong && t->seconds > 0 && t->error < 1e-4, "%s: %s %s: %g s, error %g", where, TrsvAlgorithmName(t->algorithm), t->settings, t->seconds, t->error);
    Expect(best->seconds <= t->seconds / 0.97, "%s: %s takes %g s, %s takes %g", where, TrsvAlgorithmName(best->algorithm), best->seconds, TrsvAlgorithmName(t->algorithm), t->seconds);
    for (int k = 0; k < i; k++) Expect(t->algorithm != m->trials[k].algorithm || strcmp(t->settings, m->trials[k].settings), "%s: %s %s was tried twice", where, TrsvAlgorithmName(t->algorithm), t->settings);
  }
}

static void Choices(void)
{
  static const Shape shapes[] = {RANDOM, BAND, GRID_2D, DIAGONAL};
  int                most     = 0;

  for (int n = 0; n < (Reduced() ? 2 : 8); n++) {
    const Shape shape = shapes[n % 4];
    Setting     s;

    Begin("tune %s%s, %s", ShapeName[shape], n / 2 % 2 ? ", transposed" : "", n / 4 ? "float" : "double");
    Make(&s, shape, shape == BAND ? 150 : 900, n / 4 ? TRSV_FLOAT : TRSV_DOUBLE, n / 2 % 2, NULL);
    ExpectError(Tune(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
    CheckMember(&s.pair->forward, "first");
    CheckMember(&s.pair->backward, "second");
    if (s.pair->forward.trial_count > most) most = s.pair->forward.trial_count;
    Expect(s.pair->forward.trial_count >= 2, "%d tries", s.pair->forward.trial_count);
    CheckSolve(&s, "after tuning");
    Free(&s);
    End();
  }
  Begin("tune tries settings, too");
  Expect(most > 2, "never more than %d candidates", most);
  End();
}

/* A device that cannot run chunk: it is neither taken nor tried. */
static void Lacking(void)
{
  static const char *const never[] = {"chunk", "inverse"};
  Setting                  s;

  Begin("tune tries nothing that cannot run");
  SimtSettings.old = 1;
  Make(&s, CHAIN, 300, TRSV_DOUBLE, 0, NULL); /* by inverse, where that runs */
  ExpectError(Tune(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trial_count > 1, "%d tries", s.pair->forward.trial_count);
  for (int i = 0; i < s.pair->forward.trial_count; i++)
    for (int n = 0; n < 2; n++) Expect(strcmp(TrsvAlgorithmName(s.pair->forward.trials[i].algorithm), never[n]), "%s was tried", never[n]);
  CheckSolve(&s, "after tuning");
  Free(&s);
  SimtDefaults();
  End();
}

static void Limits(void)
{
  const TrsvAlgorithm *warp = TrsvAlgorithmFind("warp"), *chunk = TrsvAlgorithmFind("chunk"), *ag = TrsvAlgorithmFind("ag");
  Setting              s;

  Begin("tune without time keeps the model's choice");
  Make(&s, GRID_2D, 400, TRSV_DOUBLE, 0, NULL);
  ExpectError(Tune(&s, NULL, 0), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trial_count == 1 && s.pair->backward.trial_count == 1 && !s.pair->forward.chosen, "%d and %d tries", s.pair->forward.trial_count, s.pair->backward.trial_count);
  CheckSolve(&s, "after tuning");
  Free(&s);
  End();

  Begin("tune keeps to an algorithm that was asked for");
  for (int n = 0; n < 2; n++) {
    const TrsvAlgorithm *asked = n ? chunk : warp;

    Make(&s, GRID_3D, 1000, TRSV_DOUBLE, 0, asked);
    ExpectError(Tune(&s, asked, 1e9), TRSV_SUCCESS, "TrsvPairTune");
    for (int i = 0; i < s.pair->forward.trial_count; i++) Expect(s.pair->forward.trials[i].algorithm == asked, "%s was tried", TrsvAlgorithmName(s.pair->forward.trials[i].algorithm));
    Expect(n ? s.pair->forward.trial_count > 1 : s.pair->forward.trial_count == 1, "%s: %d tries", TrsvAlgorithmName(asked), s.pair->forward.trial_count);
    CheckSolve(&s, "after tuning");
    Free(&s);
  }
  End();

  Begin("tune of ag tries every scheme of the reduced space, the learned model's first");
  Make(&s, GRID_2D, Reduced() ? 64 : 225, TRSV_DOUBLE, 0, ag);
  ExpectError(Tune(&s, ag, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  for (int n = 0; n < 2; n++) {
    const TrsvPairMember *m = n ? &s.pair->backward : &s.pair->forward;
    TrsvAnalysis         *analysis;
    char                  words[TRSV_SETTINGS] = "scheme=";
    AgScheme              scheme;

    Expect(m->trial_count == AG_REDUCED, "%d tries", m->trial_count);
    CheckMember(m, n ? "second" : "first");
    if (!ExpectError(TrsvAnalyse(n ? &s.U.view : &s.L.view, &analysis), TRSV_SUCCESS, "TrsvAnalyse")) continue;
    ExpectError(TrsvAgChoose(n ? &s.U.view : &s.L.view, analysis, 0, &scheme), TRSV_SUCCESS, "TrsvAgChoose");
    TrsvAgPrint(&scheme, words + strlen(words), sizeof(words) - strlen(words));
    Expect(!strcmp(words, m->trials[0].settings), "%s was tried first, not %s", m->trials[0].settings, words);
    TrsvAnalysisDestroy(&analysis);
  }
  CheckSolve(&s, "after tuning");
  Free(&s);
  End();

  Begin("tune of nothing");
  Make(&s, DIAGONAL, 0, TRSV_DOUBLE, 0, NULL);
  ExpectError(Tune(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  Free(&s);
  End();
}

static void Wrong(void)
{
  Setting s;
  int     wrong = 0;

  Begin("tune replaces a plan that is wrong");
  Make(&s, BAND, 100, TRSV_DOUBLE, 0, NULL);
  for (int k = 0; k < s.L.offsets[100]; k++) Set(s.l, TRSV_DOUBLE, k, 0.5 * Get(s.l, TRSV_DOUBLE, k)); /* the plan has other values */
  ExpectError(Tune(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  Expect(s.pair->forward.trials[0].wrong && s.pair->forward.chosen > 0, "it is not noticed: error %g", s.pair->forward.trials[0].error);
  Expect(!s.pair->backward.trials[0].wrong, "U's plan was right");
  Free(&s);
  End();

  /* a chain, with its blocks inverted, in one chunk stores nothing for other blocks but what it exports, thread stores every row */
  Begin("tune rejects a candidate that is wrong");
  Make(&s, CHAIN, 300, TRSV_DOUBLE, 0, NULL);
  Expect(s.pair->forward.algorithm == TrsvAlgorithmFind("inverse"), "the model's choice is %s", TrsvAlgorithmName(s.pair->forward.algorithm));
  SimtSettings.bounded = 1;
  SimtSettings.lose    = 251; /* of a level set that is not recomputed */
  SimtSettings.loser   = "thread_solve";
  ExpectError(Tune(&s, NULL, 1e9), TRSV_SUCCESS, "TrsvPairTune");
  for (int i = 0; i < s.pair->forward.trial_count; i++) {
    const TrsvTrial *t = &s.pair->forward.trials[i];

    if (t->algorithm == TrsvAlgorithmFind("thread")) wrong += Expect(t->wrong && isinf(t->error), "thread: error %g", t->error);
  }
  Expect(wrong == 2 && /* both forms */ !s.pair->forward.trials[s.pair->forward.chosen].wrong, "%d wrong ones", wrong);
  SimtDefaults();
  CheckSolve(&s, "after tuning");
  Free(&s);
  End();
}

static void FailsAnywhere(int on)
{
  Setting s;

  Begin("tune fails anywhere: %s", on ? "for good" : "once");
  for (long k = 1, struck = 1; struck; k += k < (Reduced() ? 10 : 70) ? 1 : 37) {
    TrsvError error;

    Make(&s, CHAIN, 40, TRSV_DOUBLE, 0, NULL);
    SimtFailAt(k, on);
    error  = Tune(&s, NULL, 1e9);
    struck = SimtFailed();
    SimtFailAt(0, 0);
    Expect(struck || !error, "error %d where nothing fails", (int)error);
    Expect(!error || error == TRSV_ERR_DEVICE, "place %ld: error %d", k, (int)error); /* without memory to measure in, it is the plan that there is */
    CheckSolve(&s, "after a failure");
    Free(&s);
  }
  End();
}

void TestTune(void)
{
  Costs();
  Calibration();
  Choices();
  Limits();
  Lacking();
  Wrong();
  FailsAnywhere(0);
  FailsAnywhere(1);
}
