/*
   Settings of the published algorithms as text: accepted ones, refused ones with their messages; ranks.
*/
#include "check.h"

static int ParseDigit(const char *value, void *to)
{
  if (to) *(int *)to = value[0] - '0';
  return value[0] >= '0' && value[0] <= '9' && !value[1];
}

static const TrsvSetting list[] = {
  {"depth", "a digit", ParseDigit},
  {"dep", "a digit, too", ParseDigit},
  {NULL, NULL, NULL},
};

static void CheckAccepted(void)
{
  static const struct {
    const char *settings;
    int         depth, dep; /* -1: not given */
  } cases[] = {
    {NULL, -1, -1},   {"", -1, -1},          {"   ", -1, -1},         {"depth=3", 3, -1},
    {"dep=3", -1, 3}, {"  depth=3 ", 3, -1}, {"depth=3 dep=4", 3, 4}, {"depth=3 depth=4", 4, -1},
  };

  Begin("settings in words");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    int depth = -1, dep = -1;

    TrsvSettingsRequest(cases[i].settings);
    ExpectError(TrsvSettingsCheck("fake", list), TRSV_SUCCESS, "TrsvSettingsCheck");
    Expect(TrsvSettingsGet(list, "depth", &depth) == (cases[i].depth >= 0), "%s: depth found or not",
           cases[i].settings);
    Expect(TrsvSettingsGet(list, "dep", &dep) == (cases[i].dep >= 0), "%s: dep found or not", cases[i].settings);
    Expect(depth == cases[i].depth && dep == cases[i].dep, "%s: %d %d", cases[i].settings, depth, dep);
  }
  End();
}

static void CheckRefused(void)
{
  static const char *const cases[][3] = {
    {"depth=x", "fake: depth cannot be 'x'", "a digit"},
    {"depth=", "depth cannot be ''", "a digit"},
    {"depth", "depth cannot be ''", "a digit"},
    {"depth=3=4", "depth cannot be '3=4'", "a digit"},
    {"dep=3  width=12", "no setting 'width'", "depth, dep"},
    {"=3", "no setting ''", "depth, dep"},
    {"de=3", "no setting 'de'", "depth, dep"},
    {"rank=1", "no setting 'rank'", "depth, dep"},
  };
  char many[300];

  Begin("settings that there are not");
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    TrsvSettingsRequest(cases[i][0]);
    ExpectError(TrsvSettingsCheck("fake", list), TRSV_ERR_ARGUMENT, cases[i][0]);
    for (int k = 1; k < 3; k++)
      Expect(strstr(TrsvErrorMessage(), cases[i][k]) != NULL, "%s: the message is '%s'", cases[i][0],
             TrsvErrorMessage());
  }
  memset(many, '1', sizeof(many) - 1);
  many[sizeof(many) - 1] = 0;
  memcpy(many, "depth=", 6);
  TrsvSettingsRequest(many);
  ExpectError(TrsvSettingsCheck("fake", list), TRSV_ERR_ARGUMENT, "a long value");
  TrsvSettingsRequest(NULL);
  End();
}

static void CheckPlans(void)
{
  Triangle      T    = MakeTriangle(CHAIN, 20, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
  TrsvPlan     *plan = (TrsvPlan *)&T;
  TrsvAnalysis *analysis;

  Begin("a plan refuses settings and ranks that there are not");
  ExpectRefused("ag", "depth=3", "ag has no setting 'depth'");
  ExpectRefused("recblock", "depth=x", "recblock: depth cannot be 'x'");
  ExpectRefused("dense", "block=0", "dense: block cannot be '0'; use the number of rows of an inverted diagonal block");
  ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[20], NULL, TrsvAlgorithmFind("thread"), 2, &plan),
              TRSV_ERR_UNSUPPORTED, "TrsvPlanCreate");
  Expect(!plan, "a plan in spite of the error");
  TrsvAnalysisDestroy(&analysis);
  FreeTriangle(&T);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestSettings(void)
{
  CheckAccepted();
  CheckRefused();
  CheckPlans();
}
