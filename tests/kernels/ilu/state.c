/*
   The state that an object reports: whether it has values after a failure, the flops of its solves, and that the host
   factors because predicted times are shorter.
*/
#include "square.h"

enum { ROWS = 300 };

static TrsvIlu *MakeIluWith(const Square *A, TrsvPlace place, const TrsvAlgorithm *l, const TrsvAlgorithm *u)
{
  const TrsvIluRequest request = {.kind      = TRSV_ILU,
                                  .precision = TRSV_DOUBLE,
                                  .memory    = TRSV_DEVICE,
                                  .place     = place,
                                  .algorithm = {l, u},
                                  .timeout   = TRSV_TIMEOUT};
  const TrsvCSR csr = {A->rows, A->offsets, A->columns, NULL};
  TrsvIlu      *ilu = NULL;

  ExpectError(TrsvIluCreate(&request, A->rows, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate");
  return ilu;
}

static TrsvIlu *MakeIlu(const Square *A, TrsvPlace place) { return MakeIluWith(A, place, NULL, NULL); }

/* L and U are described each by its own plan. */
static void CheckDescription(void)
{
  Square               A = MakeSquare(GRID_2D, 256, 1, TRSV_DOUBLE, 9);
  const TrsvAlgorithm *l = TrsvAlgorithmFind("level"), *u = TrsvAlgorithmFind("sell");
  TrsvIlu             *ilu = MakeIluWith(&A, TRSV_PLACE_DEVICE, l, u);
  TrsvIluInfo          info;

  Begin("ilu: the descriptions of L and U");
  ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
  TrsvIluDescribe(ilu, &info);
  Expect(info.L.algorithm == l && info.U.algorithm == u, "by %s and %s", TrsvAlgorithmName(info.L.algorithm),
         TrsvAlgorithmName(info.U.algorithm));
  Expect(strstr(info.U.settings, "slices") && !strstr(info.L.settings, "slices"), "'%s' and '%s'", info.L.settings,
         info.U.settings);
  TrsvIluDestroy(&ilu);
  FreeSquare(&A);
  End();
}

/* After success a solve has values. */
static void CheckReadiness(void)
{
  Square      A = MakeSquare(GRID_2D, 256, 1, TRSV_DOUBLE, 9);
  TrsvOutcome o;
  int         errors = 0;

  Begin("ilu: after a failure it is not ready, after success it is");
  for (long k = 1, failed = 1; failed; k++) {
    TrsvIlu  *ilu = MakeIlu(&A, TRSV_PLACE_DEVICE);
    TrsvError error;

    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    SimtFailAt(k, 1);
    error  = TrsvIluSetValues(ilu, A.values, &Plain, &o, NULL);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    errors += error != TRSV_SUCCESS;
    Expect((error == TRSV_SUCCESS) == TrsvIluIsReady(ilu, TRSV_DEVICE, 0), "call %ld: error %d, and ready is %d", k,
           (int)error, TrsvIluIsReady(ilu, TRSV_DEVICE, 0));
    TrsvIluDestroy(&ilu);
  }
  Expect(errors > 3, "%d errors", errors);
  FreeSquare(&A);
  End();
}

/* A plan has no values if new values did not arrive. */
static void CheckPlans(void)
{
  Triangle  T      = MakeTriangle(RANDOM, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 4);
  void     *values = MakeValues(&T.view, 4);
  TrsvPlan *plan   = MakePlan(&T.view, NULL, T.offsets[ROWS], FindTested("thread"));
  int       errors = 0;

  Begin("a plan without its new values");
  for (long k = 1, failed = 1; plan && failed; k++) {
    TrsvError error;

    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    Expect(plan->filled, "it has values, and says that it has none");
    SimtFailAt(k, 1);
    error  = TrsvPlanSetValues(plan, values, TRSV_HOST, NULL);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    errors += error != TRSV_SUCCESS;
    Expect(!error || !plan->filled, "call %ld: error %d, and it says that it has values", k, (int)error);
  }
  Expect(errors > 0, "no errors");
  TrsvPlanDestroy(&plan);
  free(values);
  FreeTriangle(&T);
  End();
}

/* For a chain: 2 (n - 1) for L, and n divisions more for U. */
static void CheckFlops(void)
{
  Square       A   = MakeSquare(CHAIN, ROWS, 1, TRSV_DOUBLE, 9);
  TrsvIlu     *ilu = MakeIlu(&A, TRSV_PLACE_DEVICE);
  TrsvOutcome  o;
  const double half = 2. * (ROWS - 1);

  Begin("ilu: flops of solves");
  ExpectError(TrsvIluSetValues(ilu, A.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
  for (int transposed = 0; transposed < 2; transposed++) {
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, transposed, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    const double forward  = TrsvIluFlops(ilu, TRSV_DEVICE, transposed, TRSV_FORWARD),
                 backward = TrsvIluFlops(ilu, TRSV_DEVICE, transposed, TRSV_BACKWARD);
    Expect(forward == half + (transposed ? ROWS : 0) && backward == half + (transposed ? 0 : ROWS),
           "transposed %d: %g and %g", transposed, forward, backward);
    Expect(TrsvIluFlops(ilu, TRSV_DEVICE, transposed, TRSV_SOLVE) == 2 * half + ROWS, "transposed %d: in all %g",
           transposed, TrsvIluFlops(ilu, TRSV_DEVICE, transposed, TRSV_SOLVE));
  }
  TrsvIluDestroy(&ilu);
  FreeSquare(&A);
  End();
}

/* The host factors a long chain faster. */
static void CheckPredictedTimes(void)
{
  Square      A   = MakeSquare(CHAIN, 5000, 1, TRSV_DOUBLE, 9);
  TrsvIlu    *ilu = MakeIlu(&A, TRSV_PLACE_AUTO);
  TrsvIluInfo info;

  Begin("ilu: the host is predicted to be faster");
  TrsvIluDescribe(ilu, &info);
  Expect(!info.on_device && strstr(info.host_reason, "predicted"), "on the device %d: '%s'", info.on_device,
         info.host_reason);
  TrsvIluDestroy(&ilu);
  FreeSquare(&A);
  End();
}

/* A factor cannot be read before it has values, nor where a call of the device fails. The plan of
   chunk finds pivots. */
static void CheckUnread(void)
{
  Square        A = MakeSquare(GRID_2D, 256, 1, TRSV_DOUBLE, 9);
  TrsvTriangles t;
  TrsvOutcome   o;

  Begin("ilu: a factor without values is not read");
  for (int i = 0; i < 3; i++) {
    const TrsvAlgorithm *both = i == 2 ? FindTested("chunk") : NULL;
    TrsvIlu             *ilu  = MakeIluWith(&A, TRSV_PLACE_DEVICE, both, both);

    if (i) ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    if (i < 2) {
      ExpectError(TrsvIluDownload(ilu, &t, NULL), TRSV_ERR_ARGUMENT, "TrsvIluDownload before values");
      Expect(!t.memory, "memory is left");
    }
    ExpectError(TrsvIluSetValues(ilu, A.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
    for (long k = 1, failed = 1; failed; k++) {
      SimtFailAt(k, 0);
      const TrsvError error = TrsvIluDownload(ilu, &t, NULL);
      failed                = SimtFailed();
      SimtFailAt(0, 0);
      Expect(!error == !failed && !error == !!t.memory, "call %ld: error %d, memory %p", k, (int)error, t.memory);
      TrsvTrianglesDestroy(&t);
    }
    TrsvIluDestroy(&ilu);
  }
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* The order of a matrix on the device: every call of the device fails once, in turn. */
static void CheckOrderFailures(void)
{
  Square        A    = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 9);
  const TrsvCSR csr  = {A.rows, A.offsets, A.columns, A.values};
  const size_t  live = SimtLive();
  int           errors = 0;

  Begin("ilu: calls of the device fail while it finds an order");
  for (long k = 1, failed = 1; failed; k++) {
    TrsvOrdering *made;

    SimtFailAt(k, 0);
    const TrsvError error = TrsvDeviceOrderValues(&csr, TRSV_DOUBLE, &made);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    errors += error != TRSV_SUCCESS;
    Expect(!error == !failed && !error == !!made, "call %ld: error %d, order %p", k, (int)error, (void *)made);
    TrsvOrderingDestroy(&made);
    Expect(SimtLive() == live, "call %ld: %zu device allocations are left", k, SimtLive() - live);
  }
  Expect(errors > 3, "%d errors", errors);
  FreeSquare(&A);
  End();
}

/* A call of the device fails while algorithms are timed: plans that were lost are not ready, and can be made again. */
static void CheckFailuresOfTuning(void)
{
  Square      A   = MakeSquare(GRID_2D, 64, 1, TRSV_DOUBLE, 9);
  TrsvIlu    *ilu = MakeIlu(&A, TRSV_PLACE_DEVICE);
  TrsvOutcome o;
  int         errors = 0;

  Begin("ilu: calls of the device fail while it is tuned");
  for (long k = 1, failed = 1; failed; k += 1 + k / 8) {
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    ExpectError(TrsvIluSetValues(ilu, A.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
    SimtFailAt(k, 0);
    const TrsvError error = TrsvIluTune(ilu, TRSV_DEVICE, 0, NULL, 0, NULL);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    errors += error != TRSV_SUCCESS;
    Expect(error || TrsvIluIsReady(ilu, TRSV_DEVICE, 0), "call %ld: tuned, but not ready", k);
  }
  Expect(errors > 0, "no errors");
  TrsvIluDestroy(&ilu);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Triangles of the host that are missing, incomplete or invalid: an error in each memory, transposed or not. */
static void CheckInvalidTriangles(void)
{
  static const int     l_offsets[] = {0, 0, 1, 2}, u_offsets[] = {0, 1, 2, 3}, right[] = {0, 1}, wrong[] = {0, 2},
                       diagonal[] = {0, 1, 2};
  static const double  values[]   = {1, 2, 4};
  const TrsvTriangles  valid      = {
    {3, l_offsets, right, values, 0}, {3, u_offsets, diagonal, values, 0}, NULL, NULL, NULL};
  const TrsvIluRequest request    = {.precision = TRSV_DOUBLE, .memory = TRSV_DEVICE, .place = TRSV_PLACE_HOST};

  Begin("ilu: invalid triangles of the host");
  for (int pair = 0; pair < 4; pair++) {
    const TrsvMemory memory     = (TrsvMemory)(pair / 2);
    const int        transposed = pair % 2;
    TrsvTriangles    invalid = valid, empty = valid;
    TrsvIlu         *ilu;

    invalid.L.columns = wrong;
    empty.U.values    = NULL;
    ExpectError(TrsvIluCreate(&request, 3, NULL, &ilu), TRSV_SUCCESS, "TrsvIluCreate");
    ExpectError(TrsvIluPrepare(ilu, memory, transposed, &invalid, NULL), TRSV_ERR_STRUCTURE, "TrsvIluPrepare");
    ExpectError(TrsvIluPrepare(ilu, memory, transposed, &valid, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    ExpectError(TrsvIluTune(ilu, memory, transposed, &invalid, 0, NULL),
                memory == TRSV_DEVICE ? TRSV_ERR_STRUCTURE : TRSV_SUCCESS, "TrsvIluTune");
    ExpectError(TrsvIluPrepare(ilu, memory, transposed, &valid, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    ExpectError(TrsvIluTune(ilu, memory, transposed, &empty, 0, NULL), TRSV_ERR_ARGUMENT,
                "TrsvIluTune without values of U");
    Expect(TrsvIluIsReady(ilu, memory, transposed), "TrsvIluTune without values has lost a plan");
    ExpectError(TrsvIluSetFactor(ilu, &empty, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSetFactor without values of U");
    empty.U.values = values;
    empty.L.values = NULL;
    ExpectError(TrsvIluSetFactor(ilu, &empty, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSetFactor without values of L");
    ExpectError(TrsvIluSetFactor(ilu, NULL, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSetFactor without triangles");
    Expect(!TrsvIluIsReady(ilu, memory, transposed), "ready after an error");
    ExpectError(TrsvIluPrepare(ilu, memory, transposed, &valid, NULL), TRSV_SUCCESS, "TrsvIluPrepare after errors");
    Expect(TrsvIluIsReady(ilu, memory, transposed), "not ready");
    TrsvIluDestroy(&ilu);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* The triangles of a diagonal matrix: an L without entries needs no values. */
static void CheckDiagonal(void)
{
  static const int     none[] = {0, 0, 0, 0}, all[] = {0, 1, 2, 3}, diagonal[] = {0, 1, 2};
  static const double  values[2][3] = {{1, 2, 4}, {8, 1, 2}}, b[] = {8, 8, 8};
  const TrsvIluRequest request      = {.precision = TRSV_DOUBLE, .memory = TRSV_DEVICE, .place = TRSV_PLACE_HOST};

  Begin("ilu: triangles of a diagonal matrix, without values of L");
  for (int pair = 0; pair < 4; pair++) {
    const TrsvMemory memory     = (TrsvMemory)(pair / 2);
    const int        transposed = pair % 2;
    TrsvTriangles    t          = {{3, none, diagonal, NULL, 0}, {3, all, diagonal, values[0], 0}, NULL, NULL, NULL};
    TrsvIlu         *ilu;
    double           x[3] = {0}; /* memory of the executor's device is that of the host */

    ExpectError(TrsvIluCreate(&request, 3, NULL, &ilu), TRSV_SUCCESS, "TrsvIluCreate");
    ExpectError(TrsvIluPrepare(ilu, memory, transposed, &t, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    Expect(TrsvIluIsReady(ilu, memory, transposed), "not ready");
    ExpectError(TrsvIluTune(ilu, memory, transposed, &t, 0, NULL), TRSV_SUCCESS, "TrsvIluTune");
    for (int set = 0; set < 2; set++) {
      t.U.values = values[set];
      ExpectError(TrsvIluSetFactor(ilu, &t, NULL), TRSV_SUCCESS, "TrsvIluSetFactor");
      ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_SOLVE, b, x, NULL), TRSV_SUCCESS, "TrsvIluSolve");
      for (int i = 0; i < 3; i++) Expect(x[i] == b[i] / values[set][i], "x[%d] = %g", i, x[i]);
    }
    TrsvIluDestroy(&ilu);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestState(void)
{
  CheckDescription();
  CheckReadiness();
  CheckPlans();
  CheckFlops();
  CheckPredictedTimes();
  CheckUnread();
  CheckOrderFailures();
  CheckFailuresOfTuning();
  CheckInvalidTriangles();
  CheckDiagonal();
}
