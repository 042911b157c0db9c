/*
   The plans of L and U are made at the same time, in lock step: the results equal those of one after the other, after
   any failure, and with too little memory for both.
*/
#include "check.h"

enum { ROWS = 96 }; /* the model takes inverted blocks for a band of so many rows */

typedef struct {
  Triangle      L, U;
  TrsvMatrix    A, B;         /* on the device; with analysis they are made at the same time */
  TrsvAnalysis *a, *b, *host; /* host: of L there */
  void         *l, *u, *right, *x, *y;
} Factors;

static Factors MakeInput(Shape shape, unsigned seed)
{
  Factors f;

  f.L     = MakeTriangle(shape, ROWS, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, seed);
  f.U     = MakeTriangle(shape, ROWS, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, seed + 1);
  f.A     = ToDevice(&f.L.view);
  f.B     = ToDevice(&f.U.view);
  f.l     = MakeValues(&f.L.view, seed);
  f.u     = MakeValues(&f.U.view, seed + 1);
  f.right = MakeVector(TRSV_DOUBLE, ROWS, seed);
  f.x     = MakeArray(TRSV_DOUBLE, ROWS);
  f.y     = MakeArray(TRSV_DOUBLE, ROWS);
  ExpectError(TrsvAnalyze(&f.A, &f.a), TRSV_SUCCESS, "TrsvAnalyze");
  ExpectError(TrsvAnalyze(&f.B, &f.b), TRSV_SUCCESS, "TrsvAnalyze");
  ExpectError(TrsvAnalyze(&f.L.view, &f.host), TRSV_SUCCESS, "TrsvAnalyze on the host");
  Expect(f.a && f.a->statistics.levels > 32, "too few level sets to be made at the same time");
  return f;
}

static void FreeInput(Factors *f)
{
  TrsvAnalysisDestroy(&f->a);
  TrsvAnalysisDestroy(&f->b);
  TrsvAnalysisDestroy(&f->host);
  FromDevice(&f->A);
  FromDevice(&f->B);
  FreeTriangle(&f->L);
  FreeTriangle(&f->U);
  free(f->l);
  free(f->u);
  free(f->right);
  free(f->x);
  free(f->y);
}

static void Schedule(unsigned k)
{
  SimtSchedule(k);
  if (!SimtSettings.preempt)
    SimtSettings.preempt = 32; /* kernels of a set-up need it in the executor, as in chunk_heights.cu */
}

/* Makes pairs at the same time (which = 1: with the analysis of L, 2: of both, 3: of L, matrices on the host) or (0)
   one after the other. */
static TrsvError CreatePairs(Factors *f, int which, int transposed, const TrsvAlgorithm *lower,
                             const TrsvAlgorithm *upper, TrsvPair **pair)
{
  f->A.analysis = which ? f->a : NULL;
  f->B.analysis = which > 1 ? f->b : NULL;
  if (which == 3) {
    TrsvMatrix L = f->L.view;

    L.analysis = f->host;
    return TrsvPairCreate(&L, &f->U.view, NULL, NULL, transposed, TRSV_DEVICE, TRSV_SELECT_MODEL, lower, upper,
                          pair);
  }
  return TrsvPairCreate(&f->A, &f->B, NULL, NULL, transposed, TRSV_DEVICE, TRSV_SELECT_MODEL, lower, upper, pair);
}

static void SolvePairs(TrsvPair *pair, const Factors *f, void *x)
{
  memset(x, 0xcd, sizeof(double) * ROWS);
  ExpectError(TrsvPairSetValues(pair, f->l, f->u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
  ExpectError(TrsvPairSolve(pair, f->right, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
}

static void ExpectSame(const TrsvPairMember *m, const TrsvPairMember *alone, const char *where)
{
  char settings[TRSV_SETTINGS], wanted[TRSV_SETTINGS];

  TrsvPlanDescribe(m->plan, settings, sizeof(settings));
  TrsvPlanDescribe(alone->plan, wanted, sizeof(wanted));
  Expect(m->choice.algorithm == alone->choice.algorithm && !strcmp(settings, wanted) &&
           !strcmp(m->choice.reason, alone->choice.reason),
         "%s: %s %s (%s), not %s %s (%s)", where, TrsvAlgorithmName(m->choice.algorithm), settings, m->choice.reason,
         TrsvAlgorithmName(alone->choice.algorithm), wanted, alone->choice.reason);
  Expect(!memcmp(&m->statistics, &alone->statistics, sizeof(m->statistics)) &&
           m->plan->bytes == alone->plan->bytes && m->choice.predicted == alone->choice.predicted,
         "%s: not the same statistics, memory or prediction", where);
}

static void CheckPairs(const TrsvAlgorithm *a)
{
  static const Shape shapes[] = {CHAIN, BAND, DENSE};

  Begin("L and U made at the same time, by %s: as one after the other", a ? TrsvAlgorithmName(a) : "the one chosen");
  for (int s = 0; s < (Reduced() ? 1 : 3); s++)
    for (int transposed = 0; transposed < 2; transposed++) {
      Factors   f = MakeInput(shapes[s], 3);
      TrsvPair *alone, *pair;

      SimtDefaults();
      if (ExpectError(CreatePairs(&f, 0, transposed, a, a, &alone), TRSV_SUCCESS, "one after the other")) {
        SolvePairs(alone, &f, f.y);
        for (unsigned k = 0; k < (Reduced() ? 3 : 6); k++) {
          const unsigned before = SimtBeside();

          Schedule(k);
          if (!ExpectError(CreatePairs(&f, 1 + (int)k % 3, transposed, a, a, &pair), TRSV_SUCCESS, "at the same time"))
            continue;
          Expect((SimtBeside() > before) == (k % 3 < 2), "pair %u: %u launches in a second stream", k,
                 SimtBeside() - before);
          ExpectSame(&pair->forward, &alone->forward, "the first");
          ExpectSame(&pair->backward, &alone->backward, "the second");
          SolvePairs(pair, &f, f.x);
          if ((pair->forward.choice.algorithm->traits & TRSV_BITS_VARY) ||
              (pair->backward.choice.algorithm->traits & TRSV_BITS_VARY))
            ExpectClose(TRSV_DOUBLE, ROWS, f.x, f.y, "solved");
          else Expect(!memcmp(f.x, f.y, sizeof(double) * ROWS), "other bits");
          TrsvPairDestroy(&pair);
        }
      }
      TrsvPairDestroy(&alone);
      FreeInput(&f);
    }
  SimtDefaults();
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* An error in L, in U, in both: the message is that of L if L has one. */
static void CheckErrors(void)
{
  static const struct {
    int lower, broken; /* is an algorithm of the host asked for L? Has U a column that is none? */
  } cases[] = {
    {1, 0},
    {0, 1},
    {1, 1},
  };
  const TrsvAlgorithm *const serial = TrsvAlgorithmFind("serial");

  Begin("L and U made at the same time: an error in either, or in both");
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
    for (int transposed = 0; transposed < 2; transposed++)
      for (unsigned k = 0; k < 4; k++) {
        Factors      f     = MakeInput(CHAIN, 3);
        const size_t live  = SimtLive();
        const int    none  = ROWS + 5;
        TrsvPair    *pair  = (TrsvPair *)&f;
        const int    upper = cases[c].broken && (transposed || !cases[c].lower); /* U is the first of the transposes */

        Schedule(k);
        if (cases[c].broken)
          ExpectError(TrsvDeviceUpload((int *)f.B.columns + f.U.offsets[8] - 1, &none, sizeof(none), NULL),
                      TRSV_SUCCESS, "TrsvDeviceUpload");
        ExpectError(CreatePairs(&f, 1, transposed, cases[c].lower ? serial : NULL, NULL, &pair),
                    upper ? TRSV_ERR_STRUCTURE : TRSV_ERR_UNSUPPORTED, "TrsvPairCreate");
        Expect(strstr(TrsvErrorMessage(), upper ? "row 7" : "serial") != NULL, "the message is another's: %s",
               TrsvErrorMessage());
        Expect(!pair && SimtLive() == live, "a pair, or %ld device allocations, in spite of the error",
               (long)(SimtLive() - live));
        FreeInput(&f);
      }
  SimtDefaults();
  End();
}

/* One call of the device fails, or all calls from it on. A pair that is made in spite of it must be right: without
   memory another plan may be chosen. */
static void CheckFailures(int for_ever)
{
  TrsvPair *alone, *pair;
  int       again = 0, failed = 0, last = 0;

  Begin("L and U made at the same time: the device fails %s", for_ever ? "from a call on" : "once");
  Factors      f    = MakeInput(BAND, 3);
  const size_t live = SimtLive();
  if (ExpectError(CreatePairs(&f, 0, 0, NULL, NULL, &alone), TRSV_SUCCESS, "one after the other")) {
    TrsvDeviceFinalize(); /* so that pools and streams, too, are made and may fail */
    const size_t with = SimtLive(), objects = SimtObjects();

    SolvePairs(alone, &f, f.y);
    for (long k = 1, struck = 1; struck; k += Reduced() ? 17 : 1 + k / 150) {
      TrsvError error;

      Schedule((unsigned)k);
      SimtFailAt(k, for_ever);
      error  = CreatePairs(&f, 1, 0, NULL, NULL, &pair);
      struck = SimtFailed();
      SimtFailAt(0, 0);
      Expect(!error == !!pair && (struck || !error), "place %ld: error %d, pair %p", k, (int)error, (void *)pair);
      last += error == TRSV_ERR_MEMORY; /* the vector between the solves is necessary, and is allocated once */
      Expect(!error || error == TRSV_ERR_DEVICE || for_ever || last == 1, "place %ld: error %d, %s", k, (int)error,
             TrsvErrorMessage());
      Expect(!error || *TrsvErrorMessage(), "place %ld: no message", k);
      failed += error != TRSV_SUCCESS;
      if (pair) {
        again += struck != 0;
        ExpectSame(&pair->forward, &alone->forward, "the first");
        ExpectSame(&pair->backward, &alone->backward, "the second");
        SolvePairs(pair, &f, f.x);
        Expect(!memcmp(f.x, f.y, sizeof(double) * ROWS), "place %ld: other bits", k);
      }
      TrsvPairDestroy(&pair);
      TrsvDeviceFinalize();
      if (!Expect(SimtLive() == with && SimtObjects() == objects,
                  "place %ld: %ld device allocations and %ld streams or pools are left", k, (long)(SimtLive() - with),
                  (long)(SimtObjects() - objects)))
        break;
    }
    Expect(failed > 3 && (for_ever || again > (Reduced() ? 0 : 3)), "%d errors, %d times made again", failed, again);
  }
  TrsvPairDestroy(&alone);
  SimtDefaults();
  Expect(SimtLive() == live, "%ld device allocations are left", (long)(SimtLive() - live));
  FreeInput(&f);
  End();
}

/* Memory for one analysis, but not for two: they are made one after the other with the same result. With less memory
   the plans are those of thread, or there is an error. */
static void CheckScarceMemory(void)
{
  TrsvPair *alone, *pair;
  int       short_of = 0, poor = 0, none = 0;
  char      line[TRSV_SETTINGS];

  Begin("L and U made at the same time: memory for one after the other only");
  Factors      f      = MakeInput(BAND, 3);
  const size_t before = TrsvDeviceHeld();
  TrsvDeviceMark();
  if (ExpectError(CreatePairs(&f, 0, 0, NULL, NULL, &alone), TRSV_SUCCESS, "one after the other")) {
    const size_t enough = TrsvDevicePeak() - before, live = SimtLive();

    TrsvPlanDescribe(alone->forward.plan, line, sizeof(line));
    Expect(!strncmp(line, "blocks=", 7), "the plan of L is %s", line);
    SolvePairs(alone, &f, f.y);
    for (unsigned k = 0; k < 24; k++) {
      const size_t bytes = k < 12 ? enough : enough * (24 - k) / 14;
      TrsvError    error;

      Schedule(k);
      SimtFailAt(0, 0);
      SimtLimit(TrsvDeviceHeld() + bytes);
      error = CreatePairs(&f, 1, 0, NULL, NULL, &pair);
      SimtLimit(0);
      Expect(!error || (error == TRSV_ERR_MEMORY && bytes < enough), "%zu of %zu bytes: error %d, %s", bytes, enough,
             (int)error, TrsvErrorMessage());
      none += error != TRSV_SUCCESS;
      if (pair && bytes == enough) {
        short_of += SimtFailed();
        ExpectSame(&pair->forward, &alone->forward, "the first");
        ExpectSame(&pair->backward, &alone->backward, "the second");
      }
      if (pair) {
        poor += strstr(pair->forward.choice.reason, "no memory") || strstr(pair->backward.choice.reason, "no memory");
        SolvePairs(pair, &f, f.x);
        ExpectClose(TRSV_DOUBLE, ROWS, f.x, f.y, "solved");
      }
      TrsvPairDestroy(&pair);
      Expect(SimtLive() == live, "%zu of %zu bytes: %ld device allocations are left", bytes, enough,
             (long)(SimtLive() - live));
    }
    Expect(short_of > 3 && poor && none, "memory was short %d times, %d pairs were for want of it, and %d were none",
           short_of, poor, none);
  }
  TrsvPairDestroy(&alone);
  SimtDefaults();
  FreeInput(&f);
  End();
}

void TestTogether(void)
{
  const TrsvAlgorithm *a;

  CheckPairs(NULL);
  for (int i = 0; (a = DeviceAlgorithm(&i));) CheckPairs(a);
  CheckErrors();
  CheckFailures(0);
  CheckFailures(1);
  CheckScarceMemory();
}
