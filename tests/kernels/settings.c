/*
   Settings as words: what is found of them, what is refused and how that is told.
*/
#include "check.h"

static int ParseDigit(const char *value, void *to)
{
  if (to) *(int *)to = value[0] - '0';
  return value[0] >= '0' && value[0] <= '9' && !value[1];
}

static const TrsvSetting   words[] = {{"depth", "a digit", ParseDigit}, {"dep", "a digit, too", ParseDigit}, {NULL, NULL, NULL}};
static const TrsvAlgorithm fake    = {.name = "fake", .settings = words}, bare = {.name = "bare"};

void TestSettings(void)
{
  static const struct {
    const char *settings;
    int         depth, dep, rank; /* -1: not given */
  } good[] = {
    {NULL,                    -1, -1, -1},
    {"",                      -1, -1, -1},
    {"   ",                   -1, -1, -1},
    {"depth=3",               3,  -1, -1},
    {"dep=3",                 -1, 3,  -1},
    {"  depth=3 ",            3,  -1, -1},
    {"depth=3 dep=4 rank=12", 3,  4,  12},
    {"depth=3 depth=4",       4,  -1, -1},
  };
  static const struct {
    const TrsvAlgorithm *algorithm;
    const char          *settings, *told[2];
  } bad[] = {
    {&fake, "depth=x",         {"fake: depth cannot be 'x'", "a digit"}       },
    {&fake, "depth=",          {"depth cannot be ''", "a digit"}              },
    {&fake, "depth",           {"depth cannot be ''", "a digit"}              },
    {&fake, "depth=3=4",       {"depth cannot be '3=4'", "a digit"}           },
    {&fake, "dep=3  width=12", {"no setting 'width'", "depth, dep"}           },
    {&fake, "=3",              {"no setting ''", "depth, dep"}                },
    {&fake, "de=3",            {"no setting 'de'", "depth, dep"}              },
    {&fake, "rank=-1",         {"rank cannot be '-1'", "a number"}            },
    {&fake, "rank=1x",         {"rank cannot be '1x'", "a number"}            },
    {&bare, "depth=3",         {"bare: there is no setting 'depth'", "none"}  },
  };
  const char *values;
  char        many[300];

  Begin("settings in words");
  for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
    int depth = -1, dep = -1, rank = -1;

    ExpectError(TrsvAlgorithmCheck(&fake, good[i].settings), TRSV_SUCCESS, "TrsvAlgorithmCheck");
    Expect(TrsvSettingGet(&fake, good[i].settings, "depth", &depth) == (good[i].depth >= 0), "%s: depth found or not", good[i].settings);
    (void)TrsvSettingGet(&fake, good[i].settings, "dep", &dep);
    (void)TrsvSettingGet(&fake, good[i].settings, "rank", &rank);
    Expect(depth == good[i].depth && dep == good[i].dep && rank == good[i].rank, "%s: %d %d %d", good[i].settings, depth, dep, rank);
  }
  Expect(!strcmp(TrsvAlgorithmSetting(&fake, 1, &values), "dep") && !strcmp(values, "a digit, too") && !TrsvAlgorithmSetting(&fake, 2, NULL) && !TrsvAlgorithmSetting(&bare, 0, NULL), "the list of settings");
  End();

  Begin("settings that there are not");
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    ExpectError(TrsvAlgorithmCheck(bad[i].algorithm, bad[i].settings), TRSV_ERR_ARGUMENT, bad[i].settings);
    for (int k = 0; k < 2; k++) Expect(strstr(TrsvErrorMessage(), bad[i].told[k]) != NULL, "%s: the message is '%s'", bad[i].settings, TrsvErrorMessage());
  }
  memset(many, '1', sizeof(many) - 1);
  many[sizeof(many) - 1] = 0;
  memcpy(many, "depth=", 6);
  ExpectError(TrsvAlgorithmCheck(&fake, many), TRSV_ERR_ARGUMENT, "a long value");
  End();

  Begin("a plan refuses settings and ranks that there are not");
  {
    Triangle      T = MakeTriangle(CHAIN, 20, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
    TrsvAnalysis *analysis;
    TrsvPlan     *plan = (TrsvPlan *)&T;

    ExpectError(TrsvAnalyse(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyse");
    ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[20], TrsvAlgorithmFind("thread"), "depth=3", &plan), TRSV_ERR_ARGUMENT, "TrsvPlanCreate");
    Expect(!plan, "a plan in spite of the error");
    ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[20], TrsvAlgorithmFind("thread"), "rank=2", &plan), TRSV_ERR_UNSUPPORTED, "TrsvPlanCreate");
    Expect(!plan, "a plan in spite of the error");
    TrsvAnalysisDestroy(&analysis);
    FreeTriangle(&T);
  }
  End();
}
