/*
   What a factorization shares with the pair of plans that solves with it: the analyses of L and U, values of L that
   only a plan has, the vector between the two solves.
*/
#include "solve/chunk/chunk.h"
#include "square.h"

/* A factorization has the analysis of L, and a pair uses it; its memory can be released before and after. Memory in use
   is counted. */
static void CheckAnalyses(void)
{
  enum { ROWS = 91 }; /* odd: MakeFactor takes the order from the host */
  const size_t before = TrsvDeviceHeld();

  Begin("factor: analyses are made once");
  for (int n = 0; n < 4; n++) {
    const int                  trim = n % 2;
    int                        order[ROWS]; /* the rows in reverse */
    Square                     A    = MakeSquare(RANDOM, ROWS, 0, TRSV_DOUBLE, 7);

    for (int i = 0; i < ROWS; i++) order[i] = ROWS - 1 - i;
    TrsvFactor *f = MakeFactor(&A, n / 2 ? order : NULL, TRSV_ILU, 0);
    TrsvPair                  *pair = NULL;
    TrsvAnalysis              *again, *upper, wrong;
    const TrsvAlgorithm *const thread = TrsvAlgorithmFind("thread");
    TrsvMatrix                 L, U;

    if (!f) break;
    if (trim) TrsvFactorReleaseWorkspace(f, NULL);
    TrsvFactorTriangles(f, &L, &U, NULL, NULL);
    Expect((!L.analysis) == trim && (!U.analysis) == trim, "L %s an analysis, U %s", L.analysis ? "has" : "has not",
           U.analysis ? "has" : "has not");
    ExpectError(TrsvAnalyze(&L, &again), TRSV_SUCCESS, "TrsvAnalyze");
    ExpectError(TrsvAnalyze(&U, &upper), TRSV_SUCCESS, "TrsvAnalyze");
    if (U.analysis)
      Expect(!memcmp(upper->order, U.analysis->order, sizeof(int) * ROWS) &&
               !memcmp(&upper->statistics, &U.analysis->statistics, sizeof(upper->statistics)),
             "another analysis of U than TrsvAnalyze's");
    TrsvAnalysisDestroy(&upper);
    if (L.analysis) {
      Expect(!memcmp(again->order, L.analysis->order, sizeof(int) * ROWS) &&
               !memcmp(&again->statistics, &L.analysis->statistics, sizeof(again->statistics)),
             "another analysis than TrsvAnalyze's");
      /* a pair uses this analysis: shown by a number that no layout depends on */
      wrong                        = *L.analysis;
      wrong.statistics.granularity = 90;
      L.analysis                   = &wrong;
    }
    ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, &pair),
                TRSV_SUCCESS, "TrsvPairCreate");
    if (pair)
      Expect(pair->forward.statistics.granularity == (trim ? again->statistics.granularity : 90), "granularity %g",
             pair->forward.statistics.granularity);
    Expect(TrsvDeviceHeld() >= before + f->bytes && TrsvDevicePeak() >= TrsvDeviceHeld(),
           "%zu bytes in use, %zu at most", TrsvDeviceHeld() - before, TrsvDevicePeak() - before);
    TrsvAnalysisDestroy(&again);
    TrsvPairDestroy(&pair);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    TrsvDeviceMark();
    Expect(TrsvDeviceHeld() == before && TrsvDevicePeak() == before, "%zu bytes left, %zu at most",
           TrsvDeviceHeld() - before, TrsvDevicePeak() - before);
  }
  End();
}

/* The analysis is kept if its order will be needed. */
static void CheckReleasedWorkspace(void)
{
  Square      A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
  TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, 0);
  TrsvOutcome o;

  Begin("factor: an analysis that values will need is not given up");
  if (f) {
    TrsvFactorReleaseWorkspace(f, NULL);
    Expect(!!f->analysis, "it is gone");
    ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvFactorSetValues");
    TrsvFactorReleaseWorkspace(f, NULL);
    Expect(!f->analysis, "it is still there");
  }
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

/* x of L U x = b, by a pair */
static void *SolvePair(TrsvPair *pair, const void *b)
{
  void *x = malloc(sizeof(double) * (size_t)pair->rows);

  memset(x, 0xa5, sizeof(double) * (size_t)pair->rows);
  ExpectError(TrsvPlanSolve(pair->forward.plan, b, pair->work, NULL), TRSV_SUCCESS, "the solve with L");
  ExpectError(TrsvPlanSolveNext(pair->backward.plan, pair->work, x, NULL), TRSV_SUCCESS, "the solve with U");
  return x;
}

/* Values that only a plan has: the same solutions; the factorization gets the same values back, but not from a plan
   without them. */
static void CheckValuesInPlan(TrsvFactorKind kind)
{
  const TrsvAlgorithm *const chunk   = FindTested("chunk");
  Square                     A       = MakeSquare(GRID_3D, 343, 1, TRSV_DOUBLE, 5);
  TrsvFactor                *f[2]    = {MakeFactor(&A, NULL, kind, 0),
                                        MakeFactor(&A, NULL, kind, 0)}; /* the second keeps its workspace */
  TrsvPair                  *pair[3] = {NULL, NULL, NULL};
  TrsvMatrix                 L, U;
  TrsvOutcome                o;
  const void                *l[2], *u[2];

  Begin("factor %s by a plan: values that the plan alone has", kind == TRSV_ICC ? "icc" : "ilu");
  for (int i = 0; f[0] && f[1] && i < 2; i++) {
    void *x[2];

    TrsvFactorTriangles(f[0], &L, &U, NULL, NULL);
    if (!i)
      ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, &pair[2]),
                  TRSV_SUCCESS, "TrsvPairCreate");
    for (int k = 0; !i && k < 2; k++) {
      TrsvFactorTriangles(f[k], &L, &U, NULL, NULL);
      ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, chunk, chunk, &pair[k]),
                  TRSV_SUCCESS, "TrsvPairCreate");
    }
    if (!pair[0] || !pair[1] || !pair[2]) break;
    if (!i)
      ExpectError(TrsvPairSetValues(pair[0], NULL, A.values, TRSV_DEVICE, NULL), TRSV_ERR_ARGUMENT,
                  "a plan without values");
    TrsvFactorReleaseWorkspace(f[0], pair[0]->forward.plan);
    Expect(!f[0]->u_columns == !i, "U's columns are %sthere", f[0]->u_columns ? "" : "not ");
    for (int k = 0; k < 2; k++) {
      ExpectError(TrsvFactorSetValues(f[k], pair[k] ? pair[k]->forward.plan : NULL, pair[k] ? pair[k]->work : NULL,
                                      A.values, &Plain, &o, NULL),
                  TRSV_SUCCESS, "TrsvFactorSetValues");
      TrsvFactorTriangles(f[k], &L, &U, &l[k], &u[k]);
      Expect(!f[k]->reciprocals, "a vector of its own");
      if (l[k])
        ExpectError(TrsvPairSetValues(pair[k], NULL, u[k], TRSV_DEVICE, NULL), TRSV_ERR_ARGUMENT,
                    "a plan with what the pivots are made of");
      ExpectError(TrsvPairSetValues(pair[k], l[k], u[k], TRSV_DEVICE, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      x[k] = SolvePair(pair[k], A.values);
    }
    Expect(!memcmp(x[0], x[1], sizeof(double) * (size_t)A.rows), "another solution");
    Expect(!l[0] == !i && l[1], "L's values are %sin the factor", l[0] ? "" : "not ");
    ExpectError(TrsvFactorMaterialize(f[0], pair[2]->forward.plan, NULL), i ? TRSV_SUCCESS : TRSV_ERR_ARGUMENT,
                "TrsvFactorMaterialize by another plan");
    for (long k = 1, failed = 1; failed && k < 50; k++) {
      SimtFailAt(k, 0);
      const TrsvError error = TrsvFactorMaterialize(f[0], pair[0]->forward.plan, NULL);

      failed = SimtFailed();
      SimtFailAt(0, 0);
      Expect(!failed == !error && !error == (f[0]->l && f[0]->u_columns), "place %ld: error %d", k, (int)error);
    }
    TrsvFactorTriangles(f[0], &L, &U, &l[0], &u[0]);
    Expect(l[0] && !memcmp(l[0], l[1], sizeof(double) * (size_t)f[0]->lower) &&
             !memcmp(u[0], u[1], sizeof(double) * (size_t)f[0]->upper),
           "other values");
    Expect(f[0]->u_columns && !memcmp(f[0]->u_columns, f[1]->u_columns, sizeof(int) * (size_t)f[0]->upper),
           "other columns");
    for (int k = 0; k < 2; k++) free(x[k]);
    FillSquare(&A, 1, 1.5, 9);
  }
  for (int k = 0; k < 3; k++) TrsvPairDestroy(&pair[k]);
  for (int k = 0; k < 2; k++) TrsvFactorDestroy(&f[k]);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* The factorization also uses the vector through which one launch for L and U passes values. */
static void CheckSharedVector(TrsvFactorKind kind)
{
  const TrsvAlgorithm *const thread = FindTested("thread");
  Square                     A      = MakeSquare(GRID_2D, 400, 1, TRSV_DOUBLE, 5);
  TrsvFactor                *f      = MakeFactor(&A, NULL, kind, 0);
  TrsvPair                  *pair   = NULL;
  TrsvMatrix                 L, U;
  TrsvOutcome                o;
  const void                *l, *u;
  double                    *x = MakeArray(TRSV_DOUBLE, A.rows), *y = MakeArray(TRSV_DOUBLE, A.rows),
         *want = MakeArray(TRSV_DOUBLE, A.rows);

  Begin("factor %s, between solves in one launch", kind == TRSV_ICC ? "icc" : "ilu");
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  if (ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, &pair),
                  TRSV_SUCCESS, "TrsvPairCreate")) {
    Expect(!!pair->fused, "it has two launches");
    for (int round = 0; round < 4; round++) {
      FillSquare(&A, 1, 1.5, 9 + (unsigned)round);
      ExpectError(
        TrsvFactorSetValues(f, pair ? pair->forward.plan : NULL, pair ? pair->work : NULL, A.values, &Plain, &o, NULL),
        TRSV_SUCCESS, "TrsvFactorSetValues");
      TrsvFactorTriangles(f, &L, &U, &l, &u);
      ExpectError(TrsvPairSetValues(pair, l, u, TRSV_DEVICE, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      ExpectError(TrsvPlanSolve(pair->forward.plan, A.values, y, NULL), TRSV_SUCCESS, "the solve with L");
      ExpectError(TrsvPlanSolveNext(pair->backward.plan, y, want, NULL), TRSV_SUCCESS, "the solve with U");
      ExpectError(TrsvPairSolve(pair, A.values, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
      Expect(!memcmp(x, want, sizeof(double) * (size_t)A.rows), "round %d: other bits than two launches have", round);
    }
  }
  TrsvPairDestroy(&pair);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  free(x);
  free(y);
  free(want);
  End();
}

void TestFactorPair(void)
{
  for (int kind = 0; kind < 2; kind++)
    if (Mine()) CheckValuesInPlan((TrsvFactorKind)kind);
  for (int kind = 0; kind < 2; kind++)
    if (Mine()) CheckSharedVector((TrsvFactorKind)kind);
  if (Mine()) CheckAnalyses();
  if (Mine()) CheckReleasedWorkspace();
}
