/*
   Pairs: L and U, or their transposes, with and without orderings, undo the multiplication by A.
*/
#include "check.h"
#include "solve/chunk/chunk.h"

/* y = T x, or T^T x */
static void Multiply(const TrsvMatrix *T, const void *values, int transposed, const double *x, double *y)
{
  for (int i = 0; i < T->rows; i++) y[i] = T->diagonal == TRSV_DIAGONAL_UNIT ? x[i] : 0;
  for (int i = 0; i < T->rows; i++)
    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const int j = T->columns[k];

      if (transposed) y[j] += Get(values, T->precision, k) * x[i];
      else y[i] += Get(values, T->precision, k) * x[j];
    }
}

static int *ShuffledOrder(int n, Random *r)
{
  int *order = malloc(sizeof(int) * ((size_t)n + 1));

  Shuffle(r, n, order);
  return order;
}

/* A copy of an array, in the memory of the matrices. */
static int *CopyTo(TrsvMemory memory, const int *a, int n)
{
  int *copy;

  if (!a || memory == TRSV_HOST) return (int *)a;
  ExpectError(TrsvDeviceAlloc(sizeof(int) * (size_t)n, &copy), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(copy, a, sizeof(int) * (size_t)n, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  return copy;
}

/* ordered: 1, an order of rows; 2, an order of columns; from: the memory of the matrices */
static void CheckPair(Shape shape, int rows, TrsvPrecision precision, int transposed, int ordered, TrsvMemory from,
                      TrsvMemory memory, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, unsigned seed)
{
  Random   r = seed;
  Triangle L = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, seed),
           U = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, seed + 1);
  void *l = MakeValues(&L.view, seed), *u = MakeValues(&U.view, seed + 1), *b = MakeArray(precision, rows),
       *x = MakeArray(precision, rows), *want = MakeArray(precision, rows), *before = MakeArray(precision, rows),
       *y      = MakeArray(precision, rows);
  double    *v = MakeArray(TRSV_DOUBLE, rows), *w = MakeArray(TRSV_DOUBLE, rows);
  int       *row = ordered & 1 ? ShuffledOrder(rows, &r) : NULL, *column = ordered & 2 ? ShuffledOrder(rows, &r) : NULL;
  const int *in = transposed ? row : column, *out = transposed ? column : row;
  int       *placed_row = CopyTo(from, row, rows), *placed_column = CopyTo(from, column, rows);
  TrsvMatrix A = from == TRSV_HOST ? L.view : ToDevice(&L.view), B = from == TRSV_HOST ? U.view : ToDevice(&U.view);
  TrsvPair  *pair;

  for (int i = 0; i < rows; i++) Set(want, precision, i, RandomReal(&r));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; pass && k < U.offsets[rows]; k++) Set(u, precision, k, 0.75 * Get(u, precision, k));
    for (int i = 0; i < rows; i++) v[i] = Get(want, precision, in ? in[i] : i);
    Multiply(transposed ? &L.view : &U.view, transposed ? l : u, transposed, v, w);
    Multiply(transposed ? &U.view : &L.view, transposed ? u : l, transposed, w, v);
    for (int i = 0; i < rows; i++) Set(b, precision, out ? out[i] : i, v[i]);
    if (!pass &&
        !ExpectError(TrsvPairCreate(&A, &B, placed_row, placed_column, transposed, memory,
                                    seed & 1 ? TRSV_SELECT_MODEL : TRSV_SELECT_GRANULARITY, lower, upper, &pair),
                     TRSV_SUCCESS, "TrsvPairCreate"))
      break;
    ExpectError(TrsvPairSetValues(pair, rows ? l : NULL, rows ? u : NULL, pass ? memory : TRSV_HOST, NULL),
                TRSV_SUCCESS, "TrsvPairSetValues"); /* without rows there are no values */
    for (unsigned s = 0; s < 3; s++) {              /* solves with the pair and by halves, in any order */
      const size_t bytes   = TrsvValueSize(precision) * (size_t)rows;
      double       largest = 0;

      SimtSchedule(seed + s);
      memset(x, 0xcd, bytes);
      if (seed >> s & 1) {
        ExpectError(TrsvPlanSolve(pair->forward.plan, b, y, NULL), TRSV_SUCCESS, "the solve with L");
        ExpectError(TrsvPlanSolveNext(pair->backward.plan, y, x, NULL), TRSV_SUCCESS, "the solve with U");
      } else ExpectError(TrsvPairSolve(pair, b, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
      if (!s) memcpy(before, x, bytes);
      Expect(!memcmp(before, x, bytes) || (pair->forward.choice.algorithm->traits & TRSV_BITS_VARY) ||
               (pair->backward.choice.algorithm->traits & TRSV_BITS_VARY),
             "solve %u has other bits", s);
      for (int i = 0; i < rows; i++) largest = fmax(largest, fabs(Get(x, precision, i) - Get(want, precision, i)));
      Expect(largest <= (precision == TRSV_FLOAT ? 2e-3 : 1e-11), "%s %d, %s, orderings %d: x is off by %g",
             ShapeName[shape], rows, precision ? "double" : "float", ordered, largest);
    }
    if (!pass) {
      const TrsvAlgorithm *first = transposed ? upper : lower, *second = transposed ? lower : upper;

      Expect(!first || (pair->forward.choice.algorithm == first && !strcmp(pair->forward.choice.reason, "requested")),
             "the first solve is not by what was asked for");
      Expect(!second ||
               (pair->backward.choice.algorithm == second && !strcmp(pair->backward.choice.reason, "requested")),
             "the second solve is not by what was asked for");
      Expect(*pair->forward.choice.reason && *pair->backward.choice.reason, "not all is filled in");
    } else {
      TrsvPairDestroy(&pair);
      Expect(!pair, "TrsvPairDestroy leaves the pointer");
    }
  }
  if (from == TRSV_DEVICE) {
    FromDevice(&A);
    FromDevice(&B);
    TrsvDeviceFree(placed_row);
    TrsvDeviceFree(placed_column);
  }
  free(row);
  free(column);
  free(l);
  free(u);
  free(b);
  free(x);
  free(want);
  free(before);
  free(y);
  free(v);
  free(w);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

static void CheckPairs(int transposed, TrsvMemory memory, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper)
{
  static const Shape shapes[] = {RANDOM, DIAGONAL, BAND, GRID_2D, GAPS};
  unsigned           n        = 0;

  Begin("pair%s on the %s, %s and %s", transposed ? ", transposed," : "", memory == TRSV_HOST ? "host" : "device",
        lower ? TrsvAlgorithmName(lower) : "the one chosen", upper ? TrsvAlgorithmName(upper) : "the one chosen");
  for (int s = 0; s < 5; s += Reduced() ? 4 : 1)
    for (int rows = 0; rows < (Reduced() ? 30 : 300); rows += 1 + 3 * rows, n++)
      CheckPair(shapes[s], rows, (TrsvPrecision)(n / 2 % 2), transposed, (int)(n % 4), (TrsvMemory)(n / 3 % 2), memory,
                lower, upper, 100 + n);
  for (int ordered = 0; ordered < 4; ordered++)
    CheckPair(RANDOM, 200, TRSV_DOUBLE, transposed, ordered, (TrsvMemory)(ordered > 1), memory, lower, upper, 500);
  End();
}

static void CheckMismatch(void)
{
  Triangle L                  = MakeTriangle(CHAIN, 5, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
           U                  = MakeTriangle(CHAIN, 5, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  const TrsvAlgorithm *serial = TrsvAlgorithmFind("serial"), *device;
  int                  i      = 0;

  device = DeviceAlgorithm(&i);
  Begin("an algorithm of the other memory is refused");
  for (int n = 0; n < 4; n++) {
    const TrsvMemory     memory = n & 1 ? TRSV_DEVICE : TRSV_HOST;
    const TrsvAlgorithm *wrong  = n & 1 ? serial : device;
    TrsvPair            *pair   = (TrsvPair *)&L;

    ExpectError(TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, memory, TRSV_SELECT_MODEL, n & 2 ? wrong : NULL,
                               n & 2 ? NULL : wrong, &pair),
                TRSV_ERR_UNSUPPORTED, "TrsvPairCreate");
    Expect(!pair, "a pair in spite of the error");
    Expect(strstr(TrsvErrorMessage(), TrsvAlgorithmName(wrong)) != NULL, "the message does not name the algorithm: %s",
           TrsvErrorMessage());
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();

  Begin("values on the device are refused by a host algorithm");
  {
    TrsvPlan *plan = MakePlan(&L.view, NULL, L.offsets[5], serial);

    if (plan)
      ExpectError(TrsvPlanSetValues(plan, L.columns, TRSV_DEVICE, NULL), TRSV_ERR_UNSUPPORTED, "TrsvPlanSetValues");
    TrsvPlanDestroy(&plan);
  }
  End();
  FreeTriangle(&L);
  FreeTriangle(&U);
}

/* The chosen algorithm may need more memory than is left; thread needs little. */
static void CheckScarceMemory(TrsvMemory from)
{
  Triangle L                  = MakeTriangle(CHAIN, 200, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
           U                  = MakeTriangle(CHAIN, 200, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");
  void                *l = MakeValues(&L.view, 1), *u = MakeValues(&U.view, 2), *b = MakeVector(TRSV_DOUBLE, 200, 3),
       *x = MakeArray(TRSV_DOUBLE, 200), *y = MakeArray(TRSV_DOUBLE, 200);
  TrsvMatrix   A = from == TRSV_HOST ? L.view : ToDevice(&L.view), B = from == TRSV_HOST ? U.view : ToDevice(&U.view);
  const size_t live = SimtLive();
  int          fell = 0;

  Begin("without memory for the plan that is chosen, thread's, of matrices on the %s",
        from == TRSV_HOST ? "host" : "device");
  for (long k = 1, struck = 1; struck; k++) {
    TrsvPair *pair;
    TrsvError error;

    SimtFailAt(k, 0);
    error  = TrsvPairCreate(&A, &B, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, &pair);
    struck = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!pair && (struck || !error), "place %ld: error %d, pair %p", k, (int)error, (void *)pair);
    if (pair) {
      const int poor =
        !!strstr(pair->forward.choice.reason, "no memory") + !!strstr(pair->backward.choice.reason, "no memory");

      Expect((pair->forward.choice.algorithm == thread) + (pair->backward.choice.algorithm == thread) == poor,
             "place %ld: %s and %s", k, TrsvAlgorithmName(pair->forward.choice.algorithm),
             TrsvAlgorithmName(pair->backward.choice.algorithm));
      fell += poor;
      ExpectError(TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      ExpectError(TrsvPairSolve(pair, b, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
      Multiply(&U.view, u, 0, x, y);
      memcpy(x, y, sizeof(double) * 200);
      Multiply(&L.view, l, 0, x, y);
      for (int i = 0; i < 200; i++)
        Expect(fabs(Get(y, TRSV_DOUBLE, i) - Get(b, TRSV_DOUBLE, i)) < 1e-11, "place %ld: row %d is off", k, i);
    }
    TrsvPairDestroy(&pair);
    Expect(SimtLive() == live, "place %ld: %zu device allocations instead of %zu", k, SimtLive(), live);
  }
  Expect(fell > 10, "only %d times", fell);
  End();
  if (from == TRSV_DEVICE) {
    FromDevice(&A);
    FromDevice(&B);
  }
  free(l);
  free(u);
  free(b);
  free(x);
  free(y);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

/* Values that did not all arrive do not count as values. */
static void CheckUnfilled(void)
{
  const TrsvAlgorithm *a;
  Triangle             L = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
           U             = MakeTriangle(GRID_2D, 100, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  void     *l = MakeValues(&L.view, 1), *u = MakeValues(&U.view, 2);
  TrsvPair *transposed;

  Begin("a pair whose values could not be taken");
  for (int i = 0; (a = DeviceAlgorithm(&i));)
    for (int again = 0; again < 2; again++) { /* again: after other values */
      TrsvPair *pair;

      if (!ExpectError(
            TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, a, a, &pair),
            TRSV_SUCCESS, "TrsvPairCreate"))
        continue;
      if (again) ExpectError(TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      for (long k = 1; k < 3; k++) {
        SimtFailAt(k, 0);
        Expect(!!TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), "%s: place %ld: no error", TrsvAlgorithmName(a), k);
        SimtFailAt(0, 0);
        ExpectError(TrsvPairSetValues(pair, NULL, u, TRSV_HOST, NULL), TRSV_ERR_ARGUMENT, TrsvAlgorithmName(a));
      }
      ExpectError(TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      ExpectError(TrsvPairSetValues(pair, NULL, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
      TrsvPairDestroy(&pair);
    }
  if (ExpectError(
        TrsvPairCreate(&L.view, &U.view, NULL, NULL, 1, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, &transposed),
        TRSV_SUCCESS, "TrsvPairCreate")) { /* L^T is solved last: no factorization leaves values in its plan */
    ExpectError(TrsvPairSetValues(transposed, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
    ExpectError(TrsvPairSetValues(transposed, NULL, u, TRSV_HOST, NULL), TRSV_ERR_ARGUMENT, "transposed, without L");
    TrsvPairDestroy(&transposed);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
  free(l);
  free(u);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

/* On a device that cannot run the best algorithm, the pair has the best of the others by predicted times, not thread as
   after a failure. */
static void CheckLacking(void)
{
  const TrsvAlgorithm *chunk = TrsvAlgorithmFind("chunk"), *thread = TrsvAlgorithmFind("thread");
  Triangle             L = MakeTriangle(RANDOM, 4000, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
           U             = MakeTriangle(RANDOM, 4000, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);

  Begin("a pair on a device that cannot run the best");
  for (int old = 0; old < 2; old++) {
    TrsvPair *pair;

    SimtSettings.old    = old;
    SimtSettings.shared = old ? 64 << 10 : 0; /* too little for chunk */
    if (ExpectError(
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, &pair),
          TRSV_SUCCESS, "TrsvPairCreate")) {
      const TrsvPairMember *m = &pair->forward;

      if (!old)
        Expect(m->choice.algorithm == chunk, "by %s: this is no test: %s", TrsvAlgorithmName(m->choice.algorithm),
               m->choice.reason);
      else
        Expect(m->choice.algorithm != chunk && strstr(m->choice.reason, "predicted") == m->choice.reason &&
                 m->choice.predicted == TrsvPredict(m->choice.algorithm, &m->statistics, TRSV_DOUBLE),
               "by %s: %s", TrsvAlgorithmName(m->choice.algorithm), m->choice.reason);
    }
    TrsvPairDestroy(&pair);
    SimtDefaults();
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();

  Begin("a pair by thread where what is chosen turns out not to be possible");
  {
    TrsvPair *pair;

    ForceChunkSettings(2, 4, 1);
    if (ExpectError(
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, &pair),
          TRSV_SUCCESS, "TrsvPairCreate"))
      Expect(pair->forward.choice.algorithm == thread && strstr(pair->forward.choice.reason, "cannot run here") &&
               pair->forward.choice.predicted == TrsvPredict(thread, &pair->forward.statistics, TRSV_DOUBLE),
             "by %s: %s", TrsvAlgorithmName(pair->forward.choice.algorithm), pair->forward.choice.reason);
    TrsvPairDestroy(&pair);
    ExpectError(
      TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, chunk, NULL, &pair),
      TRSV_ERR_UNSUPPORTED, "TrsvPairCreate of what is asked for");
    TrsvChunkSettingsOverride(NULL);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
  FreeTriangle(&L);
  FreeTriangle(&U);
}

void TestPairs(void)
{
  for (int transposed = 0; transposed < 2; transposed++) {
    const TrsvAlgorithm *a, *previous = NULL;

    CheckPairs(transposed, TRSV_HOST, NULL, NULL);
    CheckPairs(transposed, TRSV_DEVICE, NULL, NULL);
    for (int i = 0; (a = DeviceAlgorithm(&i)); previous = a)
      CheckPairs(transposed, TRSV_DEVICE, a, previous ? previous : a);
  }
  TestPairLaunches();
  CheckMismatch();
  CheckUnfilled();
  CheckLacking();
  CheckScarceMemory(TRSV_HOST);
  CheckScarceMemory(TRSV_DEVICE);
}
