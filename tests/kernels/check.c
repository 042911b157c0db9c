/*
   Reports of tests, seeded numbers, arrays, plans.
*/
#include <stdarg.h>
#include "check.h"
#include "forms.h"
#include "solve/chunk/chunk.h"
#include "solve/model/model.h"

static char test[128], reason[1200];
static int  failures, failed;

void Begin(const char *name, ...)
{
  va_list a;

  va_start(a, name);
  (void)vsnprintf(test, sizeof(test), name, a);
  va_end(a);
  failed = 0;
  SimtDefaults();
  SimtForget();
  SimtFailAt(0, 0);
  TrsvSetTimeout(10);
}

int Expect(int ok, const char *why, ...)
{
  va_list a;

  if (ok || failed) return ok;
  failed = 1;
  va_start(a, why);
  (void)vsnprintf(reason, sizeof(reason), why, a);
  va_end(a);
  return 0;
}

int ExpectError(TrsvError got, TrsvError wanted, const char *doing)
{
  return Expect(got == wanted, "%s: error %d instead of %d%s%s", doing, (int)got, (int)wanted, got ? ": " : "",
                got ? TrsvErrorMessage() : "");
}

void End(void)
{
  if (failed) printf("not ok %s: %s\n", test, reason);
  else printf("ok %s\n", test);
  failures += failed;
  (void)fflush(stdout);
}

void Skip(const char *name, const char *why) { printf("skip %s: %s\n", name, why); }

int Failures(void) { return failures; }

int Reduced(void)
{
  const char *r = getenv("TRSV_TEST_REDUCED");

  return r && *r == '1';
}

int ScheduleCount(int reduced, int usual)
{
  const char *times = getenv("TRSV_TEST_SCHEDULES");

  return (Reduced() ? reduced : usual) * (times ? atoi(times) : 1);
}

static int shard = 1, shards = 1, cases;

void Shard(int k, int n)
{
  shard  = k;
  shards = n;
  cases  = 0;
}

int Mine(void) { return cases++ % shards == shard - 1; }

uint64_t RandomBits(Random *r)
{
  uint64_t z = *r += 0x9e3779b97f4a7c15ull;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

int    RandomBelow(Random *r, int n) { return (int)(RandomBits(r) % (uint64_t)n); }
double RandomReal(Random *r) { return (double)(int64_t)RandomBits(r) * 0x1p-63; }

void Shuffle(Random *r, int n, int *order)
{
  for (int i = 0; i < n; i++) {
    const int j = RandomBelow(r, i + 1);

    order[i] = order[j];
    order[j] = i;
  }
}

TrsvMatrix ToDevice(const TrsvMatrix *A)
{
  const size_t rows = sizeof(int) * ((size_t)A->rows + 1), nnz = sizeof(int) * (size_t)A->offsets[A->rows];
  int         *offsets, *columns;
  TrsvMatrix   D = *A;

  (void)ExpectError(TrsvDeviceAlloc(rows, &offsets), TRSV_SUCCESS, "TrsvDeviceAlloc");
  (void)ExpectError(TrsvDeviceAlloc(nnz, &columns), TRSV_SUCCESS, "TrsvDeviceAlloc");
  (void)ExpectError(TrsvDeviceUpload(offsets, A->offsets, rows, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  (void)ExpectError(TrsvDeviceUpload(columns, A->columns, nnz, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  D.offsets = offsets;
  D.columns = columns;
  D.memory  = TRSV_DEVICE;
  return D;
}

void FromDevice(TrsvMatrix *A)
{
  TrsvDeviceFree((void *)A->offsets);
  TrsvDeviceFree((void *)A->columns);
}

void *MakeArray(TrsvPrecision p, int n) { return calloc((size_t)n + 1, TrsvValueSize(p)); }

int Reals(TrsvPrecision p, int n) { return TrsvIsComplex(p) ? 2 * n : n; }

double Get(const void *a, TrsvPrecision p, int i)
{
  return TrsvRealPrecision(p) == TRSV_FLOAT ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

void Set(void *a, TrsvPrecision p, int i, double v)
{
  if (TrsvRealPrecision(p) == TRSV_FLOAT) ((float *)a)[i] = (float)v;
  else ((double *)a)[i] = v;
}

const char *PrecisionName(TrsvPrecision p)
{
  static const char *const name[] = {"float", "double", "complex float", "complex double"};

  return name[p];
}

void *MakeValues(const TrsvMatrix *A, unsigned seed)
{
  Random r      = 77 + seed;
  void  *values = MakeArray(A->precision, A->offsets[A->rows]);

  for (int i = 0; i < A->rows; i++) {
    const double scale = 1. / (1 + A->offsets[i + 1] - A->offsets[i]);

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const double v  = RandomReal(&r);
      const int    at = Reals(A->precision, k);

      Set(values, A->precision, at, A->columns[k] == i ? (v < 0 ? -1 : 1) + v : v * scale);
      if (TrsvIsComplex(A->precision))
        Set(values, A->precision, at + 1, RandomReal(&r) * (A->columns[k] == i ? 1 : scale));
    }
  }
  return values;
}

void *MakeVector(TrsvPrecision p, int n, unsigned seed)
{
  Random r = 991 + seed;
  void  *v = MakeArray(p, n);

  for (int i = 0; i < Reals(p, n); i++) Set(v, p, i, RandomReal(&r));
  return v;
}

TrsvPlan *MakePlan(const TrsvMatrix *A, const int *source, int values, const TrsvAlgorithm *algorithm)
{
  return MakePlanWith(A, source, values, algorithm, NULL);
}

TrsvPlan *MakePlanWith(const TrsvMatrix *A, const int *source, int values, const TrsvAlgorithm *algorithm,
                       const char *settings)
{
  TrsvAnalysis *analysis;
  TrsvPlan     *plan = NULL;

  if (!ExpectError(TrsvAnalyze(A, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) return NULL;
  TrsvSettingsRequest(settings);
  (void)ExpectError(TrsvPlanCreate(A, analysis, source, values, NULL, algorithm, 0, &plan), TRSV_SUCCESS,
                    "TrsvPlanCreate");
  TrsvSettingsRequest(NULL);
  TrsvAnalysisDestroy(&analysis);
  return plan;
}

void ExpectRefused(const char *algorithm, const char *settings, const char *why)
{
  Triangle      T    = MakeTriangle(CHAIN, 20, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
  TrsvPlan     *plan = (TrsvPlan *)&T;
  TrsvAnalysis *analysis;

  ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  TrsvSettingsRequest(settings);
  ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[20], NULL, TrsvAlgorithmFind(algorithm), 0,
                             &plan),
              TRSV_ERR_ARGUMENT, settings);
  TrsvSettingsRequest(NULL);
  Expect(!plan, "%s %s: a plan in spite of the error", algorithm, settings);
  Expect(strstr(TrsvErrorMessage(), why) != NULL, "%s %s: the message is '%s'", algorithm, settings,
         TrsvErrorMessage());
  TrsvAnalysisDestroy(&analysis);
  FreeTriangle(&T);
}

void *Reference(const TrsvMatrix *A, const int *source, int nvalues, const void *values, const void *b)
{
  TrsvPlan *plan = MakePlan(A, source, nvalues, TrsvAlgorithmFind("serial"));
  void     *x;

  if (!plan) return NULL;
  x = MakeArray(A->precision, A->rows);
  (void)ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "serial, TrsvPlanSetValues");
  (void)ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "serial, TrsvPlanSolve");
  TrsvPlanDestroy(&plan);
  return x;
}

int ExpectClose(TrsvPrecision p, int n, const void *x, const void *reference, const char *where)
{
  const double bound   = TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-5 : 1e-13;
  double       largest = 0;

  n = Reals(p, n);
  for (int i = 0; i < n; i++) {
    const double r = Get(reference, p, i);

    if (isfinite(r) && fabs(r) > largest) largest = fabs(r);
  }
  for (int i = 0; i < n; i++) {
    const double v = Get(x, p, i), r = Get(reference, p, i);
    const int    ok = isnan(r) ? isnan(v) : isinf(r) ? v == r : fabs(v - r) <= bound * largest;

    if (!Expect(ok, "%s: x[%d] of %d is %.17g, not %.17g", where, i, n, v, r)) return 0;
  }
  return 1;
}

int ExpectSolves(TrsvPlan *plan, const void *b, const void *reference, unsigned schedule, unsigned solves,
                 const char *where)
{
  const size_t bytes = TrsvValueSize(plan->precision) * (size_t)plan->rows;
  void        *x = MakeArray(plan->precision, plan->rows), *kept = MakeArray(plan->precision, plan->rows);
  int          good = 1;

  for (unsigned s = 0; good && s < solves; s++) {
    SimtSchedule(schedule + s);
    memset(x, 0xcd, bytes); /* the memory must not keep old contents */
    good = ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, where) &&
           ExpectClose(plan->precision, plan->rows, x, reference, where);
    if (good && s && !(plan->algorithm->traits & TRSV_BITS_VARY))
      good = Expect(!memcmp(x, kept, bytes), "%s: other bits under schedule %u than under %u", where, schedule + s,
                    schedule + s - 1);
    memcpy(kept, x, bytes);
  }
  SimtDefaults();
  free(x);
  free(kept);
  return good;
}

/* `thread` in one of its forms, independent of predicted times */
static const TrsvAlgorithm *ThreadForm(int recomputes)
{
  static TrsvAlgorithm form[2];
  TrsvAlgorithm *const f = &form[recomputes];

  if (!f->name) {
    *f         = *TrsvAlgorithmFind("thread");
    f->name    = recomputes ? "thread, recomputing" : "thread";
    f->analyze = recomputes ? AnalyzeRecomputed : AnalyzeAwaited;
    f->predict = recomputes ? TrsvModelRecompute : TrsvModelThread;
    f->choices = 0;
  }
  return f;
}

/* `chunk` with inverted blocks, independent of predicted times */
static const TrsvAlgorithm *ChunkInverted(void)
{
  static TrsvAlgorithm inverted;

  if (!inverted.name) {
    inverted         = TrsvChunk;
    inverted.name    = "chunk, inverted";
    inverted.analyze = AnalyzeInverted;
    inverted.finish  = TrsvChunkPlain.finish;
    inverted.choices = 1;
  }
  return &inverted;
}

const TrsvAlgorithm *TestedAlgorithm(int i)
{
  const TrsvAlgorithm *a = TrsvAlgorithmGet(i);

  if (a) return a == TrsvAlgorithmFind("thread") ? ThreadForm(0) : a == &TrsvChunk ? &TrsvChunkPlain : a;
  if (i > 0 && TrsvAlgorithmGet(i - 1)) return ThreadForm(1);
  return i > 1 && TrsvAlgorithmGet(i - 2) ? ChunkInverted() : NULL;
}

const TrsvAlgorithm *FindTested(const char *name)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = TestedAlgorithm(i)); i++)
    if (!strcmp(a->name, name)) return a;
  return NULL;
}

const TrsvAlgorithm *DeviceAlgorithm(int *i)
{
  const char          *only = getenv("TRSV_TEST_ALGORITHM");
  const TrsvAlgorithm *a;

  while ((a = TestedAlgorithm((*i)++)))
    if (TrsvAlgorithmMemory(a) == TRSV_DEVICE && (!only || !strcmp(only, TrsvAlgorithmName(a)))) return a;
  return NULL;
}
