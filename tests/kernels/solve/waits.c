/*
   Waits that would never end: x has NaN where values are missing, the next call returns the error once, then solves
   are correct. A right solve may take longer in all than the limit of one wait.
*/
#include "check.h"
#include "sizes.h"
#include "solve/chunk/chunk.h"
#include "solve/rows/level_csr.h"

enum { ROWS = 200 };

static TrsvPrecision precision;
static int           cluster = 1; /* chunks of a cluster */

/* The i-th real number of an array */
static double At(const void *x, int i) { return Get(x, TrsvRealPrecision(precision), i); }

static int CountNaNs(const void *x)
{
  int n = 0;

  for (int i = 0; i < Reals(precision, ROWS); i++) n += isnan(At(x, i));
  return n;
}

typedef struct {
  Triangle  T;
  void     *values, *b, *x, *reference;
  TrsvPlan *plan;
} Problem;

/* Owns the triangle from now on, and resets the forced settings of chunk. */
static Problem MakeProblem(const TrsvAlgorithm *a, Triangle T)
{
  const int           rows   = T.view.rows, nnz = T.offsets[rows];
  const TrsvPrecision values = T.view.precision;
  Problem             p      = {T};

  p.values    = MakeValues(&p.T.view, 5);
  p.b         = MakeVector(values, rows, 5);
  p.x         = MakeArray(values, rows);
  p.reference = Reference(&p.T.view, NULL, nnz, p.values, p.b);
  p.plan      = MakePlanWith(&p.T.view, NULL, nnz, a,
                        a == TrsvAlgorithmFind("recblock") ? "triangle=syncfree depth=1" : NULL); /* it waits */
  TrsvChunkSettingsOverride(NULL);
  if (p.plan) ExpectError(TrsvPlanSetValues(p.plan, p.values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
  return p;
}

static Problem MakeInput(const TrsvAlgorithm *a, Shape shape)
{
  /* so few rows would be one chunk, which waits for no other */
  ForceChunkSettings(cluster > 1 ? cluster : 6, 3, cluster);
  return MakeProblem(a, MakeTriangle(shape, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision, 5));
}

static void DropInput(Problem *p)
{
  TrsvPlanDestroy(&p->plan);
  free(p->values);
  free(p->b);
  free(p->x);
  free(p->reference);
  FreeTriangle(&p->T);
}

static void CheckGoodSolve(Problem *p, const char *when)
{
  memset(p->x, 0xcd, TrsvValueSize(precision) * ROWS);
  ExpectError(TrsvPlanSolve(p->plan, p->b, p->x, NULL), TRSV_SUCCESS, when);
  ExpectClose(precision, ROWS, p->x, p->reference, when);
}

/* After a solve that gave up: x has NaN, and only the next call returns the error. */
static void CheckTimeoutReported(Problem *p, Problem *other, const char *how)
{
  const double tolerance = TrsvRealPrecision(precision) == TRSV_FLOAT ? 1e-4 : 1e-10;

  Expect(CountNaNs(p->x) > 0, "%s: no NaN in x", how);
  for (int i = 0; i < Reals(precision, ROWS); i++)
    Expect(isnan(At(p->x, i)) || fabs(At(p->x, i) - At(p->reference, i)) <= tolerance,
           "%s: x[%d] is %g, neither right nor NaN", how, i, At(p->x, i));
  CheckGoodSolve(other, "another plan before the error is returned");
  memset(p->x, 'x', TrsvValueSize(precision) * ROWS);
  ExpectError(TrsvPlanSolve(p->plan, p->b, p->x, NULL), TRSV_ERR_TIMEOUT, "the next call");
  Expect(At(p->x, 0) == At(p->x, 1), "%s: the call that returns the error also solves", how);
}

/* A lost value: the k-th store of a launch. */
static void CheckLostStores(const TrsvAlgorithm *a, Shape shape)
{
  Problem p = MakeInput(a, shape), other = MakeInput(a, RANDOM);
  int     waited = 0;
  /* the first stores of a cluster, one to each of its blocks, are not values */
  const int  products = a == TrsvAlgorithmFind("recblock"); /* they read values that no triangle waits for */
  const long first = cluster > 1 ? 2 + 2 * cluster : 1, last = first + (products ? 2 * ROWS : Reduced() ? 11 : 59);

  for (long k = first; k <= last && p.plan && other.plan; k += products ? 5 : (k - first) / 2 + 1) {
    SimtSchedule((unsigned)k);
    SimtSettings.bounded = 1;
    SimtSettings.lose    = k;
    memset(p.x, 0xcd, TrsvValueSize(precision) * ROWS);
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_SUCCESS, "the solve that loses a value");
    SimtSettings.lose    = 0;
    SimtSettings.bounded = 0;
    if (CountNaNs(p.x)) { /* a row waited for it */
      waited++;
      CheckTimeoutReported(&p, &other, "lost");
    }
    for (int s = 0; s < 3; s++) CheckGoodSolve(&p, "afterwards");
  }
  Expect(waited >= 2, "only %d lost values were waited for", waited);
  DropInput(&p);
  DropInput(&other);
}

/* The place of the single dependency of a row of a chain, in the layout that these algorithms share. */
static int *FindDependency(const TrsvLevelCSR *o, int row)
{
  const int width = o->off / o->rows; /* of padded rows */
  int       k     = o->offsets ? o->offsets[row] : row * width;

  while (o->columns[k] < 0) k++;
  return o->columns + k;
}

/* A row that waits for itself, or for a later one. */
static void CheckCycle(const TrsvAlgorithm *a)
{
  Problem p = MakeInput(a, CHAIN), other = MakeInput(a, GRID_2D);

  for (int kind = 0; kind < (Reduced() ? 1 : 3) && p.plan && other.plan; kind++) {
    TrsvLevelCSR *o      = p.plan->data;
    const int     row    = kind < 2 ? 101 : ROWS - 1; /* which also waits for the one before with recomputation */
    int *const    column = FindDependency(o, row), kept = *column;

    SimtSchedule((unsigned)(3 * kind));
    SimtSettings.bounded = 1;
    *column              = kind == 0 ? row : ROWS - 1;
    memset(p.x, 0xcd, TrsvValueSize(precision) * ROWS);
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_SUCCESS, "a solve of a corrupted plan");
    Expect(CountNaNs(p.x) == ROWS - row, "kind %d: %d NaNs in x, not %d", kind, CountNaNs(p.x), ROWS - row);
    *column = kept;
    CheckTimeoutReported(&p, &other, "corrupted");
    SimtSettings.bounded = 0;
    for (int s = 0; s < 3; s++) CheckGoodSolve(&p, "repaired");
  }
  DropInput(&p);
  DropInput(&other);
}

/* The time depends on the limit that was set. */
static void CheckTimeLimit(const TrsvAlgorithm *a)
{
  static const double seconds[] = {1e-3, 1, 10, 100};
  Problem             p         = MakeInput(a, CHAIN);

  for (int i = 0; i < (Reduced() ? 2 : 4) && p.plan; i++) {
    const uint64_t start = SimtNanoseconds();
    double         took;

    SimtSettings.bounded = 1;
    SimtSettings.lose    = a->choices || a == TrsvAlgorithmFind("dense") || a == TrsvAlgorithmFind("sell") ||
                            a == FindTested("thread, recomputing")
                           ? 1
                           : 32; /* in a chain: a value for which another block or another warp waits */
    TrsvSetTimeout(seconds[i]);
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_SUCCESS, "a solve that loses a value");
    took = 1e-9 * (double)(SimtNanoseconds() - start);
    /* the clock is read at every TRSV_POLLS-th poll, and a poll takes 10 ms */
    Expect(CountNaNs(p.x) > 0 && took >= seconds[i] && took < seconds[i] + 0.035 * TRSV_POLLS,
           "%d NaNs after %g s instead of %g s", CountNaNs(p.x), took, seconds[i]);
    SimtSettings.lose = 0;
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_ERR_TIMEOUT, "the next call");
    CheckGoodSolve(&p, "afterwards");
  }
  TrsvSetTimeout(10);
  DropInput(&p);
}

/* Without a limit a wait that cannot end is a deadlock. */
static void CheckNoLimit(const TrsvAlgorithm *a)
{
  Problem p = MakeInput(a, CHAIN);

  SimtSettings.bounded = 1;
  SimtSettings.lose    = 32;
  TrsvSetTimeout(0);
  if (p.plan)
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_ERR_DEVICE, "a solve that loses a value, without a limit");
  Expect(strstr(SimtReport(), "deadlock") != NULL, "the report is '%s'", SimtReport());
  TrsvSetTimeout(10);
  SimtDefaults();
  DropInput(&p);
}

/* A chain in two halves; a row of the second half also depends on one of the first half. */
static Triangle MakeLadder(int half)
{
  const size_t rows    = 2 * (size_t)half;
  int         *offsets = malloc(sizeof(int) * (rows + 1)), *columns = malloc(sizeof(int) * 3 * rows), k = 0;
  Triangle     T;

  for (int i = 0; i < 2 * half; i++) {
    offsets[i] = k;
    if (i >= half) columns[k++] = i - half;
    if (i % half) columns[k++] = i - 1;
    columns[k++] = i;
  }
  offsets[rows] = k;
  T             = MakeFrom((int)rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
  free(offsets);
  free(columns);
  return T;
}

/* Two chunks: a warp polls more than 2 * TRSV_POLLS times in all without success, so it reads the clock twice, but only
   a few times for each value. More than the limit passes between two turns of a thread. */
static void CheckLongSolve(int in_cluster)
{
  const TrsvChunkSettings settings = {2, 3, 32, in_cluster, 1024, 4, -1, 8, 4};
  const int               half     = 64 * TRSV_POLLS;

  TrsvChunkSettingsOverride(&settings);
  Problem p = MakeProblem(FindTested("chunk"), MakeLadder(half));

  if (p.plan) {
    SimtSettings.policy  = SIMT_WARP_FIRST;
    SimtSettings.role    = 1; /* it imports */
    SimtSettings.preempt = 1;
    SimtSettings.tick    = 1 << 24;
    TrsvSetTimeout(1e-3);
    ExpectError(TrsvPlanSolve(p.plan, p.b, p.x, NULL), TRSV_SUCCESS, "a long solve");
    TrsvSetTimeout(10);
    SimtDefaults();
    ExpectClose(TRSV_DOUBLE, 2 * half, p.x, p.reference, "a long solve");
  }
  DropInput(&p);
}

void TestWaits(void)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));) {
    if (a->traits & TRSV_NEVER_WAITS) continue;
    if (a->traits & TRSV_TAKES_COMPLEX) {
      precision = TRSV_COMPLEX_DOUBLE;
      Begin("half of a value is lost, chain, %s", TrsvAlgorithmName(a));
      CheckLostStores(a, CHAIN);
      End();
      precision = TRSV_COMPLEX_FLOAT;
      Begin("half of a value is lost, chain, %s, float", TrsvAlgorithmName(a));
      CheckLostStores(a, CHAIN);
      End();
    }
    precision = TRSV_DOUBLE;
    Begin("a value is lost, chain, %s", TrsvAlgorithmName(a));
    CheckLostStores(a, CHAIN);
    End();
    if (Reduced() && a->destroy == TrsvLevelCSRDestroy) continue;
    Begin("a value is lost, grid, %s", TrsvAlgorithmName(a));
    CheckLostStores(a, GRID_2D);
    End();
    Begin("time limit, %s", TrsvAlgorithmName(a));
    CheckTimeLimit(a);
    End();
    if (a == FindTested("chunk")) {
      cluster = 8;
      Begin("a value is lost, grid, chunks of a cluster");
      CheckLostStores(a, GRID_2D);
      End();
      cluster = 1;
    }
    for (int c = 1; a == FindTested("chunk") && c <= 2 && !Reduced(); c++) {
      Begin("a solve longer than the limit of a wait, chunks%s", c > 1 ? " of a cluster" : "");
      CheckLongSolve(c);
      End();
    }
    if (a == FindTested("twophase") && !Reduced()) {
      Begin("no limit, %s", TrsvAlgorithmName(a));
      CheckNoLimit(a);
      End();
    }
    if (a->destroy != TrsvLevelCSRDestroy) continue; /* another layout */
    Begin("corrupted plan, %s", TrsvAlgorithmName(a));
    CheckCycle(a);
    End();
  }
}
