/*
   Pairs: L and U, or their transposes, with and without orderings, undo the multiplication by A.
*/
#include "check.h"
#include "solve/chunk/chunk.h"
#include "solve/rows/level_csr.h"

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

static int *Shuffled(int n, Random *r)
{
  int *order = malloc(sizeof(int) * ((size_t)n + 1));

  Shuffle(r, n, order);
  return order;
}

/* A copy of an array in the memory where the matrices are. */
static int *Placed(TrsvMemory memory, const int *a, int n)
{
  int *copy;

  if (!a || memory == TRSV_HOST) return (int *)a;
  ExpectError(TrsvDeviceAlloc(sizeof(int) * (size_t)n, &copy), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(copy, a, sizeof(int) * (size_t)n, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  return copy;
}

/* ordered: 1 has an order of rows, 2 of columns; from: where the matrices are */
static void One(Shape shape, int rows, TrsvPrecision precision, int transposed, int ordered, TrsvMemory from,
                TrsvMemory memory, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, unsigned seed)
{
  Random   r = seed;
  Triangle L = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, seed),
           U = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, seed + 1);
  void *l = MakeValues(&L.view, seed), *u = MakeValues(&U.view, seed + 1), *b = MakeArray(precision, rows),
       *x = MakeArray(precision, rows), *want = MakeArray(precision, rows), *before = MakeArray(precision, rows),
       *y      = MakeArray(precision, rows);
  double    *v = MakeArray(TRSV_DOUBLE, rows), *w = MakeArray(TRSV_DOUBLE, rows);
  int       *row = ordered & 1 ? Shuffled(rows, &r) : NULL, *column = ordered & 2 ? Shuffled(rows, &r) : NULL;
  const int *in = transposed ? row : column, *out = transposed ? column : row;
  int       *placed_row = Placed(from, row, rows), *placed_column = Placed(from, column, rows);
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
                                    seed & 1 ? TRSV_SELECT_MODEL : TRSV_SELECT_GRANULARITY, lower, upper, NULL, &pair),
                     TRSV_SUCCESS, "TrsvPairCreate"))
      break;
    ExpectError(TrsvPairSetValues(pair, rows ? l : NULL, rows ? u : NULL, pass ? memory : TRSV_HOST, NULL),
                TRSV_SUCCESS, "TrsvPairSetValues"); /* of no rows there are none */
    for (unsigned s = 0; s < 3; s++) {              /* both kinds of solves, in any order */
      const size_t bytes   = TrsvValueSize(precision) * (size_t)rows;
      double       largest = 0;

      SimtSchedule(seed + s);
      memset(x, 0xcd, bytes);
      if (seed >> s & 1) {
        ExpectError(TrsvPairForward(pair, b, y, NULL), TRSV_SUCCESS, "TrsvPairForward");
        ExpectError(TrsvPairBackward(pair, y, x, NULL), TRSV_SUCCESS, "TrsvPairBackward");
      } else ExpectError(TrsvPairSolve(pair, b, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
      if (!s) memcpy(before, x, bytes);
      Expect(!memcmp(before, x, bytes) || TrsvAlgorithmBitsVary(pair->forward.choice.algorithm) ||
               TrsvAlgorithmBitsVary(pair->backward.choice.algorithm),
             "solve %u has other bits", s);
      for (int i = 0; i < rows; i++) largest = fmax(largest, fabs(Get(x, precision, i) - Get(want, precision, i)));
      Expect(largest <= (precision == TRSV_FLOAT ? 2e-3 : 1e-11), "%s %d, %s, orderings %d: x is off by %g",
             ShapeName[shape], rows, precision ? "double" : "float", ordered, largest);
    }
    if (!pass) {
      const TrsvAlgorithm *first = transposed ? upper : lower, *second = transposed ? lower : upper;

      Expect(!first || (pair->forward.choice.algorithm == first && !strcmp(pair->forward.choice.reason, "asked for")),
             "the first solve is not by what was asked for");
      Expect(!second ||
               (pair->backward.choice.algorithm == second && !strcmp(pair->backward.choice.reason, "asked for")),
             "the second solve is not by what was asked for");
      Expect(*pair->forward.choice.reason && *pair->backward.choice.reason &&
               TrsvPairBytes(pair) >= TrsvPlanBytes(pair->forward.plan) + TrsvPlanBytes(pair->backward.plan),
             "not all is filled in");
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

static void All(int transposed, TrsvMemory memory, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper)
{
  static const Shape shapes[] = {RANDOM, DIAGONAL, BAND, GRID_2D, GAPS};
  unsigned           n        = 0;

  Begin("pair%s on the %s, %s and %s", transposed ? ", transposed," : "", memory == TRSV_HOST ? "host" : "device",
        lower ? TrsvAlgorithmName(lower) : "the one chosen", upper ? TrsvAlgorithmName(upper) : "the one chosen");
  for (int s = 0; s < 5; s += Reduced() ? 4 : 1)
    for (int rows = 0; rows < (Reduced() ? 30 : 300); rows += 1 + 3 * rows, n++)
      One(shapes[s], rows, (TrsvPrecision)(n / 2 % 2), transposed, (int)(n % 4), (TrsvMemory)(n / 3 % 2), memory, lower,
          upper, 100 + n);
  for (int ordered = 0; ordered < 4; ordered++)
    One(RANDOM, 200, TRSV_DOUBLE, transposed, ordered, (TrsvMemory)(ordered > 1), memory, lower, upper, 500);
  End();
}

static void Mismatch(void)
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
                               n & 2 ? NULL : wrong, NULL, &pair),
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

typedef struct {
  Triangle  L, U;
  double   *l, *u, *b, *scaled, *x, *want, times;
  TrsvPair *pair;
} Both;

/* A pair that is solved in one launch, and what two launches make of it. */
static Both MakeBoth(Shape shape, int rows)
{
  const TrsvAlgorithm *const thread = FindTested("thread");
  Both                       t      = {MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
                                       MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 2),
                                       NULL,
                                       NULL,
                                       MakeVector(TRSV_DOUBLE, rows, 3),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       MakeArray(TRSV_DOUBLE, rows),
                                       1,
                                       NULL};

  t.l = MakeValues(&t.L.view, 1);
  t.u = MakeValues(&t.U.view, 2);
  ExpectError(
    TrsvPairCreate(&t.L.view, &t.U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, NULL, &t.pair),
    TRSV_SUCCESS, "TrsvPairCreate");
  ExpectError(TrsvPairSetValues(t.pair, t.l, t.u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
  ExpectError(TrsvPairForward(t.pair, t.b, t.x, NULL), TRSV_SUCCESS, "TrsvPairForward");
  ExpectError(TrsvPairBackward(t.pair, t.x, t.want, NULL), TRSV_SUCCESS, "TrsvPairBackward");
  ExpectError(TrsvPairForward(t.pair, t.b, t.pair->work, NULL), TRSV_ERR_ARGUMENT,
              "TrsvPairForward to a vector in use");
  ExpectError(TrsvPairBackward(t.pair, t.pair->work, t.x, NULL), TRSV_ERR_ARGUMENT,
              "TrsvPairBackward of a vector in use");
  return t;
}

static void FreeBoth(Both *t)
{
  TrsvPairDestroy(&t->pair);
  free(t->l);
  free(t->u);
  free(t->b);
  free(t->scaled);
  free(t->x);
  free(t->want);
  FreeTriangle(&t->L);
  FreeTriangle(&t->U);
}

/* With b times a power of two that the last two solves did not have, so that none of their values would do. */
static void SolveBoth(Both *t, const char *when)
{
  const int rows = t->L.view.rows;

  t->times = t->times == 4 ? 1 : 2 * t->times;
  for (int i = 0; i < rows; i++) {
    t->scaled[i] = t->times * t->b[i];
    t->x[i]      = -1e300;
  }
  ExpectError(TrsvPairSolve(t->pair, t->scaled, t->x, NULL), TRSV_SUCCESS, when);
  for (int i = 0; i < rows; i++) t->x[i] /= t->times;
}

static void Same(const Both *t, const char *when)
{
  Expect(!memcmp(t->x, t->want, sizeof(double) * (size_t)t->L.view.rows), "%s: other bits than two launches have",
         when);
}

static void OneLaunch(void)
{
  static const Shape shapes[] = {DIAGONAL, RANDOM, BAND, ARROW, CHAIN};

  Begin("L and U by thread, in one launch");
  for (int s = 0; s < 5; s++) {
    Both t = MakeBoth(shapes[s], Reduced() ? 150 : 700);

    for (unsigned k = 0; k < 12; k++) {
      const unsigned launches = SimtLaunches();

      SimtSchedule(k);
      SolveBoth(&t, "TrsvPairSolve");
      Expect(SimtLaunches() == launches + 1, "%u launches", SimtLaunches() - launches);
      Same(&t, ShapeName[shapes[s]]);
      if (k % 5 == 4)
        ExpectError(TrsvPairForward(t.pair, t.b, t.x, NULL), TRSV_SUCCESS,
                    "TrsvPairForward"); /* L's words take another turn than U's */
    }
    FreeBoth(&t);
  }
  End();

  Begin("a value that never arrives, in one launch for L and U");
  {
    Both t      = MakeBoth(BAND, 200);
    int  waited = 0;

    for (long k = 1; k <= (Reduced() ? 40 : 400); k += (k + 3) / 4) {
      int nans = 0;

      SimtSchedule((unsigned)k);
      SimtSettings.bounded = 1;
      SimtSettings.lose    = k;
      SolveBoth(&t, "the solve that loses a value");
      SimtSettings.lose = SimtSettings.bounded = 0;
      for (int i = 0; i < 200; i++) {
        nans += isnan(t.x[i]);
        Expect(isnan(t.x[i]) || t.x[i] == t.want[i], "store %ld: x[%d] is %g, neither right nor NaN", k, i, t.x[i]);
      }
      if (nans) {
        unsigned *const told = ((TrsvThreadPair *)t.pair->fused)->sync.abort_host;

        waited++;
        for (int queued = 0; queued < 3; queued++) { /* solves asked for before the host has heard of it: none takes
                                                        what that one has left for its own */
          *told = 0;
          SolveBoth(&t, "a solve behind it");
          for (int i = 0; i < 200; i++)
            Expect(isnan(t.x[i]), "store %ld, %d. solve behind it: x[%d] is %g, where that right is %g", k, queued + 1,
                   i, t.x[i], t.want[i]);
        }
        *told = 1;
        ExpectError(TrsvPairSolve(t.pair, t.b, t.x, NULL), TRSV_ERR_TIMEOUT, "the next call");
      }
      for (int again = 0; again < 2; again++) {
        SolveBoth(&t, "afterwards");
        Same(&t, "afterwards");
      }
    }
    Expect(waited >= 3, "only %d lost values were waited for", waited);
    FreeBoth(&t);
  }
  End();
}

/* Where `thread` recomputes in either triangle there are two launches; where in neither, one. */
static void Launches(void)
{
  const TrsvAlgorithm *const thread = TrsvAlgorithmFind("thread");

  Begin("L and U by thread, in one launch where neither recomputes");
  for (int mix = 0; mix < 4; mix++) { /* a level set too wide to be recomputed, or narrow ones */
    Triangle L     = MakeTriangle(mix & 1 ? RANDOM : DIAGONAL, 13000, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
             U     = MakeTriangle(mix & 2 ? RANDOM : DIAGONAL, 13000, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 2);
    TrsvPair *pair = NULL;

    if (ExpectError(
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, NULL, &pair),
          TRSV_SUCCESS, "TrsvPairCreate")) {
      const TrsvLevelCSR *l = pair->forward.plan->data, *u = pair->backward.plan->data;

      Expect(l->recomputes == (mix & 1) && u->recomputes == mix >> 1, "L recomputes %d, U %d, narrow are %d and %d",
             l->recomputes, u->recomputes, mix & 1, mix >> 1);
      Expect(!pair->fused == (mix > 0), "L narrow %d, U %d: %s", mix & 1, mix >> 1,
             pair->fused ? "one launch" : "two launches");
    }
    TrsvPairDestroy(&pair);
    FreeTriangle(&L);
    FreeTriangle(&U);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* What is chosen may take more memory than is left; thread takes little. */
static void Scarce(TrsvMemory from)
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
    error  = TrsvPairCreate(&A, &B, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, NULL, &pair);
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

/* Values that could not all be taken are none. */
static void Unfilled(void)
{
  const TrsvAlgorithm *a;
  Triangle             L = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1),
           U             = MakeTriangle(GRID_2D, 100, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  void *l = MakeValues(&L.view, 1), *u = MakeValues(&U.view, 2);

  Begin("a pair whose values could not be taken");
  for (int i = 0; (a = DeviceAlgorithm(&i));)
    for (int again = 0; again < 2; again++) { /* again: where there were others before */
      TrsvPair *pair;

      if (!ExpectError(
            TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, a, a, NULL, &pair),
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
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
  free(l);
  free(u);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

/* On a device that cannot run what would be the best, the best of what it can, by prediction, not thread as after a
 * failure. */
static void Lacking(void)
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
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, NULL, &pair),
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
          TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, NULL, NULL, NULL, &pair),
          TRSV_SUCCESS, "TrsvPairCreate"))
      Expect(pair->forward.choice.algorithm == thread && strstr(pair->forward.choice.reason, "cannot run here") &&
               pair->forward.choice.predicted == TrsvPredict(thread, &pair->forward.statistics, TRSV_DOUBLE),
             "by %s: %s", TrsvAlgorithmName(pair->forward.choice.algorithm), pair->forward.choice.reason);
    TrsvPairDestroy(&pair);
    ExpectError(
      TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, chunk, NULL, NULL, &pair),
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

    All(transposed, TRSV_HOST, NULL, NULL);
    All(transposed, TRSV_DEVICE, NULL, NULL);
    for (int i = 0; (a = DeviceAlgorithm(&i)); previous = a) All(transposed, TRSV_DEVICE, a, previous ? previous : a);
  }
  OneLaunch();
  Launches();
  Mismatch();
  Unfilled();
  Lacking();
  Scarce(TRSV_HOST);
  Scarce(TRSV_DEVICE);
}
