/*
   Failed allocations: every allocation of the host and every call of the device fails, once or from then on, at each
   place in turn. There must be an error, no lost memory, and success once there is memory again. And the peak: a set-
   up takes little more memory of the device than it keeps. The linker wraps malloc and the like; see the makefile.
*/
#include "solve/chunk/chunk.h"
#include "square.h"

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void  __real_free(void *);

static long until, held; /* allocations until one fails, 0: none fails; allocations that are held */
static int  forever, has_failed;

long HeldOnHost(void) { return held; }

static int IsToFail(void)
{
  if (until == 1) {
    has_failed = 1;
    if (!forever) until = 0;
    return 1;
  }
  if (until > 1) until--;
  return 0;
}

static void *CountHeld(void *p)
{
  held += p != NULL;
  return p;
}

void *__wrap_malloc(size_t n) { return IsToFail() ? NULL : CountHeld(__real_malloc(n)); }
void *__wrap_calloc(size_t n, size_t size) { return IsToFail() ? NULL : CountHeld(__real_calloc(n, size)); }
void *__wrap_aligned_alloc(size_t align, size_t n)
{
  return CountHeld(__real_aligned_alloc(align, n));
} /* the executor's allocations fail in their own way */

void *__wrap_realloc(void *old, size_t n)
{
  void *p;

  if (IsToFail()) return NULL;
  p = __real_realloc(old, n);
  held += p && !old;
  return p;
}

void __wrap_free(void *p)
{
  held -= p != NULL;
  __real_free(p);
}

enum { ROWS = 40 };

/* The operations */
typedef struct {
  Triangle             L, U, D;            /* D has many level sets */
  TrsvMatrix           on_device[2], deep; /* copies of them; deep with its analysis */
  const TrsvAlgorithm *algorithm;
  TrsvAnalysis        *analysis, *of_deep;
  TrsvPlan            *plan;
  void                *values, *b, *x;
  int                  order[ROWS], *order_on_device;
} Setting;

static TrsvError AnalyzeOne(const TrsvMatrix *A)
{
  TrsvAnalysis   *analysis;
  const TrsvError error = TrsvAnalyze(A, &analysis);

  Expect(!error == !!analysis, "TrsvAnalyze: error %d, analysis %p", (int)error, (void *)analysis);
  TrsvAnalysisDestroy(&analysis);
  return error;
}

static TrsvError TransposeOne(const TrsvMatrix *A)
{
  TrsvMatrix      T;
  int            *made;
  const int      *source;
  const TrsvError error = TrsvTranspose(A, &T, &made, &source);

  Expect(!error == !!made, "TrsvTranspose: error %d, result %p", (int)error, (void *)made);
  TrsvFree(A->memory, made);
  return error;
}

static TrsvError OrderOne(const TrsvMatrix *A)
{
  TrsvOrdering   *ordering;
  const TrsvError error = TrsvOrderMulticolor(A->rows, A->offsets, A->columns, NULL, A->memory, &ordering);

  Expect(!error == !!ordering, "TrsvOrderMulticolor: error %d, ordering %p", (int)error, (void *)ordering);
  TrsvOrderingDestroy(&ordering);
  return error;
}

static TrsvError PlanOne(Setting *s, const TrsvMatrix *A, const TrsvAnalysis *analysis)
{
  TrsvPlan       *plan;
  const TrsvError error =
    TrsvPlanCreate(A, analysis, NULL, s->L.offsets[s->L.view.rows], NULL, s->algorithm, 0, &plan);

  Expect(!error == !!plan, "TrsvPlanCreate: error %d, plan %p", (int)error, (void *)plan);
  TrsvPlanDestroy(&plan);
  return error;
}

/* The first half of a plan, which is destroyed without the second. */
static TrsvError BeginPlan(Setting *s)
{
  const TrsvPermutation places = {s->order_on_device, s->order_on_device};
  TrsvPlan             *plan;
  const TrsvError       error =
    TrsvPlanBegin(&s->deep, s->of_deep, NULL, TrsvStoredEntries(&s->deep, s->of_deep), &places, s->algorithm, 0, &plan);

  Expect(!error == !!plan, "TrsvPlanBegin: error %d, plan %p", (int)error, (void *)plan);
  TrsvPlanDestroy(&plan);
  return error;
}

static TrsvError MakePair(Setting *s, const TrsvMatrix *L, const TrsvMatrix *U, const int *order, int transposed)
{
  TrsvPair       *pair;
  const TrsvError error =
    TrsvPairCreate(L, U, transposed ? order : NULL, order, transposed, TrsvAlgorithmMemory(s->algorithm),
                   TRSV_SELECT_MODEL, s->algorithm, s->algorithm, &pair);
  Expect(!error == !!pair, "TrsvPairCreate: error %d, pair %p", (int)error, (void *)pair);
  TrsvPairDestroy(&pair);
  return error;
}

static TrsvError Analyze(Setting *s) { return AnalyzeOne(&s->L.view); }
static TrsvError Transpose(Setting *s) { return TransposeOne(&s->L.view); }
static TrsvError Order(Setting *s) { return OrderOne(&s->L.view); }
static TrsvError OrderDevice(Setting *s) { return OrderOne(&s->on_device[0]); }
static TrsvError AnalyzeDevice(Setting *s) { return AnalyzeOne(&s->on_device[0]); }
static TrsvError TransposeDevice(Setting *s) { return TransposeOne(&s->on_device[0]); }
static TrsvError Plan(Setting *s) { return PlanOne(s, &s->L.view, s->analysis); }
static TrsvError Pair(Setting *s) { return MakePair(s, &s->L.view, &s->U.view, s->order, 0); }
static TrsvError PairTransposed(Setting *s) { return MakePair(s, &s->L.view, &s->U.view, s->order, 1); }
static TrsvError PairDevice(Setting *s)
{
  return MakePair(s, &s->on_device[0], &s->on_device[1], s->order_on_device, 1);
}
static TrsvError PairTogether(Setting *s) { return MakePair(s, &s->deep, &s->on_device[1], s->order_on_device, 0); }
static TrsvError SetValues(Setting *s) { return TrsvPlanSetValues(s->plan, s->values, TRSV_HOST, NULL); }
static TrsvError Solve(Setting *s) { return TrsvPlanSolve(s->plan, s->b, s->x, NULL); }

static const struct {
  const char *name;
  TrsvError (*run)(Setting *);
  int own, device; /* does the operation depend on the algorithm? does it always call the device? */
} operations[] = {
  {"TrsvAnalyze", Analyze, 0, 0},
  {"TrsvTranspose", Transpose, 0, 0},
  {"TrsvOrderMulticolor", Order, 0, 0},
  {"TrsvAnalyze on the device", AnalyzeDevice, 0, 1},
  {"TrsvTranspose on the device", TransposeDevice, 0, 1},
  {"TrsvOrderMulticolor on the device", OrderDevice, 0, 1},
  {"TrsvPlanCreate", Plan, 1, 0},
  {"TrsvPlanBegin, with permutations on the device", BeginPlan, 1, 1},
  {"TrsvPairCreate", Pair, 1, 0},
  {"TrsvPairCreate, transposed", PairTransposed, 1, 0},
  {"TrsvPairCreate on the device, transposed", PairDevice, 1, 1},
  {"TrsvPairCreate, L and U at the same time", PairTogether, 1, 1},
  {"TrsvPlanSetValues", SetValues, 1, 0},
  {"TrsvPlanSolve", Solve, 1, 0},
};

/* again: after one failed allocation run may still succeed. Returns the number of places that can fail. If there are
   many, only some of the later ones are tried. */
static long FailEachAllocation(Setting *s, TrsvError (*run)(Setting *), int on_device, int all_after, int again)
{
  for (long k = 1;; k += k < (Reduced() ? 8 : 24) ? 1 : 23) {
    TrsvDeviceFinalize(); /* so that pools and streams, too, are made and may fail */
    const long   before = held;
    const size_t live = SimtLive(), objects = SimtObjects();
    TrsvError    error;
    int          struck;

    forever    = all_after;
    has_failed = 0;
    until      = on_device ? 0 : k;
    SimtFailAt(on_device ? k : 0, all_after);
    error  = run(s);
    struck = on_device ? SimtFailed() : has_failed;
    until  = 0;
    SimtFailAt(0, 0);
    TrsvDeviceFinalize();
    if (!Expect(held == before && SimtLive() == live && SimtObjects() == objects,
                "place %ld: %ld host and %ld device allocations and %ld streams or pools are left", k, held - before,
                (long)(SimtLive() - live), (long)(SimtObjects() - objects)))
      return k;
    if (!struck) {
      ExpectError(error, TRSV_SUCCESS, "where nothing fails");
      return k - 1;
    }
    if (!Expect(error == TRSV_ERR_MEMORY || (again && !all_after && !error) || (on_device && error == TRSV_ERR_DEVICE),
                "place %ld: error %d", k, (int)error))
      return k;
    Expect(!error || *TrsvErrorMessage(), "place %ld: no message", k);
    /* else the operation went on without what failed, to an error that this led to */
    Expect(error != TRSV_ERR_DEVICE || strstr(TrsvErrorMessage(), "made to fail"), "place %ld: the error is %s", k,
           TrsvErrorMessage());
    if (!ExpectError(run(s), TRSV_SUCCESS, "once there is memory again")) return k;
  }
}

static void CheckAlgorithm(const TrsvAlgorithm *a)
{
  Setting s;

  memset(&s, 0, sizeof(s));
  s.algorithm = a;
  s.L         = MakeTriangle(RANDOM, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 4);
  s.U         = MakeTriangle(DENSE, ROWS, TRSV_UPPER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 4);
  s.D         = MakeTriangle(DENSE, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 4);
  s.values    = MakeValues(&s.L.view, 4);
  s.b         = MakeVector(TRSV_DOUBLE, ROWS, 4);
  s.x         = MakeArray(TRSV_DOUBLE, ROWS);
  for (int i = 0; i < ROWS; i++) s.order[i] = (i * 5 + 3) % ROWS;
  Begin("fails anywhere: copies for %s", TrsvAlgorithmName(a));
  s.on_device[0] = ToDevice(&s.L.view);
  s.on_device[1] = ToDevice(&s.U.view);
  s.deep         = ToDevice(&s.D.view);
  ExpectError(TrsvAnalyze(&s.deep, &s.of_deep), TRSV_SUCCESS, "TrsvAnalyze");
  s.deep.analysis = s.of_deep;
  ExpectError(TrsvDeviceAlloc(sizeof(s.order), &s.order_on_device), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(s.order_on_device, s.order, sizeof(s.order), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  End();
  for (size_t o = 0; o < sizeof(operations) / sizeof(operations[0]); o++) {
    const int own = operations[o].own, device = operations[o].device || (own && TrsvAlgorithmMemory(a) == TRSV_DEVICE);
    long      places = 0;

    if (!own && a != TrsvAlgorithmGet(0)) continue;
    if (operations[o].run == PairTogether && a != FindTested("chunk") && a != FindTested("thread"))
      continue; /* an algorithm with many calls, and one without */
    if (operations[o].run == PairDevice && a != TrsvAlgorithmGet(0) && a != FindTested("thread"))
      continue; /* an algorithm that copies, and one that does not */
    Begin("fails anywhere: %s%s%s", operations[o].name, own ? ", " : "", own ? TrsvAlgorithmName(a) : "");
    if (!s.analysis) ExpectError(TrsvAnalyze(&s.L.view, &s.analysis), TRSV_SUCCESS, "TrsvAnalyze");
    if (!s.plan && s.analysis) {
      ExpectError(TrsvPlanCreate(&s.L.view, s.analysis, NULL, s.L.offsets[ROWS], NULL, a, 0, &s.plan),
                  TRSV_SUCCESS,
                  "TrsvPlanCreate");
      if (s.plan) ExpectError(SetValues(&s), TRSV_SUCCESS, "TrsvPlanSetValues");
    }
    for (int on_device = 0; s.plan && on_device <= device; on_device++)
      for (int all_after = 0; all_after < 2; all_after++)
        places += FailEachAllocation(&s, operations[o].run, on_device, all_after, operations[o].run == PairTogether);
    Expect(places > 0 || operations[o].run == SetValues || operations[o].run == Solve, "it could fail nowhere");
    if (s.plan && operations[o].run == Solve) {
      until = forever = 1; /* a solve allocates nothing on the host, so no failure reaches it */
      ExpectError(Solve(&s), TRSV_SUCCESS, "a solve without memory");
      until = 0;
    }
    End();
  }
  TrsvPlanDestroy(&s.plan);
  TrsvAnalysisDestroy(&s.analysis);
  FromDevice(&s.on_device[0]);
  FromDevice(&s.on_device[1]);
  TrsvAnalysisDestroy(&s.of_deep);
  FromDevice(&s.deep);
  TrsvDeviceFree(s.order_on_device);
  FreeTriangle(&s.L);
  FreeTriangle(&s.U);
  FreeTriangle(&s.D);
  free(s.values);
  free(s.b);
  free(s.x);
}

/* The settings of chunk for L that are number rank by predicted time. */
static TrsvChunkSettings RankedSettings(const Square *A, int rank)
{
  TrsvChunkSettings settings = {0};
  TrsvFactor       *f        = MakeFactor(A, NULL, TRSV_ILU, 0);
  TrsvPlan         *plan     = NULL;
  TrsvMatrix        L, U;

  if (f) {
    TrsvFactorTriangles(f, &L, &U, NULL, NULL);
    if (ExpectError(TrsvPlanCreate(&L, L.analysis, NULL, TrsvStoredEntries(&L, L.analysis), NULL, FindTested("chunk"),
                                   rank, &plan),
                    TRSV_SUCCESS, "TrsvPlanCreate"))
      settings = TrsvChunkPlanSummary(plan)->settings;
  }
  TrsvPlanDestroy(&plan);
  TrsvFactorDestroy(&f);
  return settings;
}

/* A first set-up as src/mat makes it: a pair for a factor without values, then the values. While plans are made, it has
   at most so many times the memory of the matrix; at its peak it has at most so much more than it keeps. The first
   bound is a little above the largest of several seeds, because the peak depends on timing. */
static void CheckPeak(Shape shape, int rows, const char *algorithm, int rank, double making, double most, double beyond)
{
  const TrsvAlgorithm *a    = FindTested(algorithm);
  TrsvFactor          *f    = NULL;
  TrsvPair            *pair = NULL;
  TrsvChunkSettings    settings;
  TrsvOutcome          o;
  TrsvMatrix           L, U;
  const void          *l, *u;

  Begin("peak of a set-up: %s, %d rows, %s, choice %d", ShapeName[shape], rows, algorithm, rank);
  Square       A      = MakeSquare(shape, rows, 1, TRSV_DOUBLE, 5);
  const size_t before = TrsvDeviceHeld();
  const double matrix = (double)sizeof(int) * (rows + 1) + (double)(sizeof(int) + sizeof(double)) * A.nnz;

  if (rank) {
    settings = RankedSettings(&A, rank);
    TrsvChunkSettingsOverride(&settings);
  }
  TrsvDeviceMark();
  f = MakeFactor(&A, NULL, TRSV_ILU, 0);
  if (f) {
    TrsvFactorTriangles(f, &L, &U, &l, &u);
    Expect(!l && !u, "there is memory for values before there are any");
    if (ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, a, a, &pair),
                    TRSV_SUCCESS, "TrsvPairCreate")) {
      const double plans = (double)(TrsvDeviceHeld() - before) / matrix,
                   made  = (double)(TrsvDevicePeak() - before) / matrix;
      Expect(made <= making, "%.3f times the matrix while plans are made, %.3f with them", made, plans);
      TrsvFactorReleaseWorkspace(f, pair->forward.plan);
      ExpectError(
        TrsvFactorSetValues(f, pair ? pair->forward.plan : NULL, pair ? pair->work : NULL, A.values, &Plain, &o, NULL),
        TRSV_SUCCESS, "TrsvFactorSetValues");
      TrsvFactorTriangles(f, &L, &U, &l, &u);
      ExpectError(TrsvPairSetValues(pair, l, u, TRSV_DEVICE, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      const double stays = (double)(TrsvDeviceHeld() - before) / matrix,
                   peak  = (double)(TrsvDevicePeak() - before) / matrix;
      Expect(peak <= most, "%.3f times the matrix", peak);
      Expect(peak <= stays + beyond, "%.2f times the matrix, of which %.2f stay", peak, stays);
    }
  }
  TrsvChunkSettingsOverride(NULL);
  TrsvPairDestroy(&pair);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

void TestMemory(void)
{
  const char          *only = getenv("TRSV_TEST_ALGORITHM");
  const TrsvAlgorithm *a;

  CheckPeak(GRID_2D, 1600, "chunk", 0, 3.07, 3.14, 0);
  CheckPeak(GRID_3D, 1728, "chunk", 0, 2.59, 2.68, 0);
  CheckPeak(RANDOM, 1500, "chunk", 0, 4.05, 4.05,
            0.25); /* rows are cut into many partial sums; the plan keeps so little that the set-up has the peak */
  CheckPeak(RANDOM, 1500, "chunk", 3, 3.54, 3.95, 0);           /* rows are cut into few */
  CheckPeak(BAND, 1500, "chunk, inverted", 0, 7.15, 7.60, 0.5); /* the values of the product while they are copied */
  CheckPeak(GRID_2D, 1600, "thread", 0, 4.46, 5.10, 0);
  CheckPeak(GRID_2D, 1600, "thread, recomputing", 0, 4.46, 5.10, 0);
  for (int i = 0; (a = TestedAlgorithm(i)); i++)
    if (!only || !strcmp(only, TrsvAlgorithmName(a))) CheckAlgorithm(a);
}
