/*
   The order that is chosen for a factorization: natural or multicolor, by predicted times and by the fill that each
   leaves out.
*/
#include "market.h"
#include "square.h"

/* The chosen order, its reason, and that the factor has this order */
static void CheckChoices(void)
{
  static const struct {
    const char *what, *why, *algorithm;
    Shape       shape;
    int         rows, symmetric, multicolor;
  } cases[] = {
    {"a grid", "in the natural order 167", "thread", GRID_2D, 7056, 1, 1},
    {"a grid of unsymmetric values", "in the natural order 167", "thread", GRID_2D, 7056, 0, 1},
    {"a diagonal", "too little to gain", "thread", DIAGONAL, 1600, 1, 0},
    {"a chain, whose factors are complete", "discards no fill", "thread", CHAIN, 1600, 1, 0},
    {"a grid that a schedule solves in no time", "too little to gain", NULL, GRID_3D, 4096, 1, 0},
    {"a grid too small to look at another order", "too little to gain", NULL, GRID_2D, 400, 1, 0},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
    for (int kind = 0; kind < 2; kind++) {
      const TrsvAlgorithm *asked = cases[c].algorithm ? TrsvAlgorithmFind(cases[c].algorithm) : NULL;
      Square               A;
      TrsvFactor          *f;
      TrsvOrderChoice      choice;
      TrsvOrdering        *multicolor;

      Begin("the order of %s for %s", cases[c].what, kind ? "icc" : "ilu");
      A = MakeSquare(cases[c].shape, cases[c].rows, cases[c].symmetric, TRSV_DOUBLE, 7);
      if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, (TrsvFactorKind)kind,
                                              TRSV_DOUBLE, asked, asked, &f, &choice),
                      TRSV_SUCCESS, "TrsvFactorCreateOrdered")) {
        Expect(choice.multicolor == cases[c].multicolor && !!f->order == choice.multicolor &&
                 strstr(choice.reason, cases[c].why),
               "multicolor %d: %s", choice.multicolor, choice.reason);
        Expect(choice.natural.solves > 0 && choice.natural.setup > 0 && choice.rest > 0 &&
                 (choice.ordered.solves > 0) == choice.multicolor,
               "predicted %g and %g, the rest %g", choice.natural.solves, choice.ordered.solves, choice.rest);
        if (choice.multicolor &&
            ExpectError(TrsvOrderMulticolor(A.rows, A.offsets, A.columns, A.values, TRSV_DEVICE, &multicolor),
                        TRSV_SUCCESS, "TrsvOrderMulticolor")) {
          Expect(!memcmp(multicolor->order, f->order, sizeof(int) * (size_t)A.rows),
                 "another order than TrsvOrderMulticolor's");
          TrsvOrderingDestroy(&multicolor);
        }
        if (!kind) CheckNumeric(f, &A, TRSV_ILU, &Plain, 1, cases[c].what);
      }
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      Expect(!SimtLive(), "%zu allocations left", SimtLive());
      End();
    }
}

/* Without memory for the multicolor order the natural one is taken. Heights and blocks of scratch are optional: without
   them the choice and the order are those of an undisturbed call. */
static void CheckFailures(void)
{
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");
  Square               A      = MakeSquare(GRID_2D, 7056, 1, TRSV_DOUBLE, 7);
  const size_t         live   = SimtLive();
  TrsvFactor          *wanted = NULL;
  TrsvOrderChoice      known;

  Begin("the order: fails anywhere");
  for (long k = 0, failed = 1, natural = 0; failed; k += k ? 3 : 1) { /* 0: nothing fails */
    const size_t    before = SimtLive();
    TrsvFactor     *f;
    TrsvOrderChoice choice;
    TrsvError       error;

    SimtFailAt(k, 0);
    error  = TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE, thread,
                                     thread, &f, &choice);
    failed = !k || SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!f && (k || f), "place %ld: error %d, factor %p", k, (int)error, (void *)f);
    if (!k) {
      Expect(choice.multicolor && f && f->order, "undisturbed: %s", choice.reason);
      known  = choice;
      wanted = f;
      continue;
    }
    if (failed && !error) {
      natural += !choice.multicolor;
      if (choice.multicolor)
        Expect(wanted && !strcmp(known.reason, choice.reason) && f->order &&
                 !memcmp(wanted->order, f->order, sizeof(int) * (size_t)A.rows),
               "place %ld: another choice or order than without a failure: %s", k, choice.reason);
      else Expect(!f->order && strstr(choice.reason, "no memory"), "place %ld: %s", k, choice.reason);
      CheckNumeric(f, &A, TRSV_ILU, &Plain, 1, choice.multicolor ? "the multicolor order" : "the natural order");
    }
    TrsvFactorDestroy(&f);
    Expect(SimtLive() == before, "place %ld: %zu allocations instead of %zu", k, SimtLive(), before);
    Expect(failed || natural > 2, "%ld times the natural order", natural);
  }
  TrsvFactorDestroy(&wanted);
  Expect(SimtLive() == live, "%zu allocations instead of %zu", SimtLive(), live);
  FreeSquare(&A);
  End();
}

/* Values of a grid of cells that get thinner toward a wall: the multicolor order discards several times the fill. */
static void FillThinning(Square *A, int side)
{
  for (int i = 0; i < A->rows; i++) {
    double sum      = 0;
    int    diagonal = 0;

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int    j = A->columns[k], line = (i < j ? i : j) / side;
      const double v = abs(i - j) == 1 ? pow(1.1, line) : pow(1.1, -line) * 100;

      if (j == i) diagonal = k;
      else {
        Set(A->values, A->precision, k, -v);
        sum += v;
      }
    }
    Set(A->values, A->precision, diagonal, 1.001 * sum);
  }
}

/* Values of a flow along the natural order. */
static void FillFlow(Square *A, int side)
{
  (void)side;
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      Set(A->values, A->precision, k, A->columns[k] == i ? 3 : A->columns[k] < i ? -1 : -0.1);
}

/* If the multicolor order discards several times the fill, the natural order is taken. */
static void CheckStrongFill(const char *what, void (*fill)(Square *, int side))
{
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");
  const int            side   = 84;
  Square               A      = MakeSquare(GRID_2D, side * side, 1, TRSV_DOUBLE, 7);
  TrsvFactor          *f;
  TrsvOrderChoice      choice;

  Begin("the order: %s", what);
  fill(&A, side);
  if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                          thread, thread, &f, &choice),
                  TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
    Expect(!choice.multicolor && !f->order && choice.growth > 1.5 && strstr(choice.reason, "discards more fill"),
           "multicolor %d, growth %g: %s", choice.multicolor, choice.growth, choice.reason);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* New values may no longer suit the multicolor order; values that are no numbers change nothing. */
static void CheckNewValues(void)
{
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");
  const int            side   = 84;

  Begin("the order: new values");
  for (int precision = 0; precision < 2; precision++) {
    Square               A       = MakeSquare(GRID_2D, side * side, 1, (TrsvPrecision)precision, 7);
    const TrsvCSR        csr     = {A.rows, A.offsets, A.columns, A.values};
    const TrsvIluRequest request = {.kind      = TRSV_ILU,
                                    .precision = A.precision,
                                    .memory    = TRSV_DEVICE,
                                    .place     = TRSV_PLACE_DEVICE,
                                    .order     = TRSV_ORDER_AUTO,
                                    .algorithm = {thread, thread},
                                    .timeout   = TRSV_TIMEOUT};
    TrsvIlu             *ilu     = NULL;
    TrsvIluInfo          info;
    char                 why[100];

    if (ExpectError(TrsvIluCreate(&request, A.rows, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
      TrsvIluDescribe(ilu, &info);
      Expect(info.multicolor, "%s", info.order_reason);
      ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_SUCCESS, "the same values");
      Expect(!why[0], "the same values: %s", why);
      FillThinning(&A, side);
      ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_SUCCESS, "other values");
      Expect(strstr(why, "more fill") != NULL, "other values: '%s'", why);
      for (int i = 0; i < A.rows; i++)
        for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++)
          if (A.columns[k] != i) Set(A.values, A.precision, k, NAN);
      ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_SUCCESS, "no numbers");
      Expect(!why[0], "no numbers: %s", why);
      SimtUseDevice(1);
      ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_ERR_ARGUMENT, "another device");
      SimtUseDevice(0);
      TrsvIluDestroy(&ilu);
    }
    FillThinning(&A, side);
    for (int k = 0; k < 3; k++) {
      TrsvIluRequest other = request;

      other.order = k == 2 ? TRSV_ORDER_MULTICOLOR : TRSV_ORDER_AUTO;
      other.place = k == 0 ? TRSV_PLACE_HOST : TRSV_PLACE_DEVICE;
      if (!ExpectError(TrsvIluCreate(&other, A.rows, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) continue;
      ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_SUCCESS, "nothing to check");
      Expect(!why[0], "nothing to check, %d: %s", k, why);
      TrsvIluDestroy(&ilu);
    }
    FreeSquare(&A);
  }
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* A narrow grid whose last row and column have 500 more entries: auto chooses the multicolor order, and then the host,
   which is predicted to factor in less time. No values can be unsuitable for an order that the device does not have. */
static void CheckFactorOnHost(void)
{
  enum { WIDTH = 3, ROWS = 1200 * WIDTH + 1, LONG = 500 };
  Square               A       = MakeSquare(DIAGONAL, ROWS, 1, TRSV_DOUBLE, 7);
  int                 *columns = malloc(sizeof(int) * (5 * ROWS + 2 * LONG)), n = 0;
  double              *values  = malloc(sizeof(double) * (5 * ROWS + 2 * LONG));
  const TrsvIluRequest request = {.kind      = TRSV_ILU,
                                  .precision = A.precision,
                                  .memory    = TRSV_DEVICE,
                                  .order     = TRSV_ORDER_AUTO,
                                  .timeout   = TRSV_TIMEOUT};
  TrsvIlu             *ilu     = NULL;
  TrsvIluInfo          info;
  char                 why[100];

  Begin("the order: the host factors in the multicolor order");
  for (int i = 0; i < ROWS; i++) {
    const int last = ROWS - 1, x = i % WIDTH,
              near[5] = {i - WIDTH, x ? i - 1 : -1, i, x + 1 < WIDTH ? i + 1 : -1, i + WIDTH};

    A.offsets[i] = n;
    for (int j = last - LONG; i == last && j < last; j++) columns[n] = j, values[n++] = 1e-3;
    for (int k = 0; k < 5; k++)
      if (i == last ? k == 2 : near[k] >= 0 && near[k] < last) columns[n] = near[k], values[n++] = k == 2 ? 5 : -1;
    if (i < last && i >= last - LONG) columns[n] = last, values[n++] = 1e-3;
  }
  A.offsets[ROWS]   = n;
  const TrsvCSR csr = {ROWS, A.offsets, columns, values};

  if (ExpectError(TrsvIluCreate(&request, ROWS, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
    TrsvIluDescribe(ilu, &info);
    Expect(info.multicolor && !info.on_device, "%s; %s", info.order_reason, ilu->host_reason);
    ExpectError(TrsvIluCheckOrder(ilu, &csr, why, sizeof(why)), TRSV_SUCCESS, "TrsvIluCheckOrder");
    Expect(!why[0], "%s", why);
  }
  TrsvIluDestroy(&ilu);
  FreeSquare(&A);
  free(columns);
  free(values);
  End();
}

/* The choice on an H200 for real patterns; results/solutions.jsonl has the faster order, set-up included */
static void CheckRealMatrices(void)
{
  static const struct {
    const char *name;
    int         multicolor;
  } cases[] = {
    {"delaunay_n16", 1},
    {"bcspwr10", 0},
  };
  const char *folder = getenv("SPTRSV_MATRICES");

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]) && !Reduced(); c++) {
    char            path[1200], name[64];
    Pattern         p;
    Square          A;
    TrsvFactor     *f;
    TrsvOrderChoice choice;

    (void)snprintf(path, sizeof(path), "%s/%s.mtx.gz", folder ? folder : "../shared/matrices", cases[c].name);
    (void)snprintf(name, sizeof(name), "the order of %s", cases[c].name);
    if (ReadPattern(path, &p)) {
      Skip(name, "it is not there; SPTRSV_MATRICES names the folder of matrices");
      continue;
    }
    Begin("%s", name);
    A = MakeSquareFrom(p.rows, p.offsets, p.columns);
    FillSquare(&A, 1, 1.1, 3);
    if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                            NULL, NULL, &f, &choice),
                    TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
      Expect(choice.multicolor == cases[c].multicolor, "multicolor %d: %s", choice.multicolor, choice.reason);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    FreePattern(&p);
    End();
  }
}

/* Where auto keeps the natural order, as for a chain, each analysis has the heights from the other; without memory for
   heights the order is still kept. */
static void CheckAnalysisOfU(void)
{
  const TrsvAlgorithm *chunk = FindTested("chunk");
  Square               A = MakeSquare(CHAIN, 400, 1, TRSV_DOUBLE, 5);
  int                  kept = 0;

  Begin("the order: a look at U");
  for (long k = 0, failed = 1; failed; k++) { /* 0: nothing fails */
    const size_t    live = SimtLive();
    TrsvFactor     *f;
    TrsvOrderChoice choice;

    SimtFailAt(k, 0);
    const TrsvError error = TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU,
                                                    TRSV_DOUBLE, chunk, chunk, &f, &choice);
    failed                = !k || SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!f && (k || f), "place %ld: error %d, factor %p", k, (int)error, (void *)f);
    if (f && !k)
      Expect(!choice.multicolor && f->upper_analysis && f->analysis->heights, "multicolor %d: %s", choice.multicolor,
             choice.reason);
    if (f && k && failed && !choice.multicolor) kept += !f->analysis->heights;
    TrsvFactorDestroy(&f);
    Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
  }
  Expect(kept == 1, "%d times it was kept without", kept);
  FreeSquare(&A);
  End();
}

/* Each row is coupled to all others but one: there are as many colors as level sets, more than was estimated. */
static void CheckManyColors(void)
{
  enum { ROWS = 400 };
  const TrsvAlgorithm *thread  = TrsvAlgorithmFind("thread");
  int                 *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * ROWS * (ROWS - 1));
  Square               A;
  TrsvFactor          *f;
  TrsvOrderChoice      choice;

  Begin("the order: as many colors as level sets");
  for (int i = 0, n = offsets[0] = 0; i < ROWS; offsets[++i] = n)
    for (int j = 0; j < ROWS; j++)
      if (j != (i ^ 1)) columns[n++] = j;
  A = MakeSquareFrom(ROWS, offsets, columns);
  FillSquare(&A, 1, 1.1, 3);
  if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                          thread, thread, &f, &choice),
                  TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
    Expect(!choice.multicolor && !f->order && choice.ordered.solves > 0 &&
             strstr(choice.reason, "; in multicolor 200,"),
           "multicolor %d: %s", choice.multicolor, choice.reason);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  free(offsets);
  free(columns);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* Orders are compared by algorithms that can run on the device, as the pair chooses them. For an algorithm without a
   prediction the natural order is kept. */
static void CheckAlgorithmsOfOrders(void)
{
  Square A         = MakeSquare(GRID_2D, 6400, 1, TRSV_DOUBLE, 5); /* chunk solves it in clusters */
  double solves[3] = {0, 0, 0};

  Begin("the order: predicted of what can run");
  for (int i = 0; i < 3; i++) {
    const TrsvAlgorithm *const named = i == 2 ? FindTested("level") : NULL;
    TrsvFactor                *f;
    TrsvOrderChoice            choice;

    SimtSettings.old = i == 1;
    if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                            named, named, &f, &choice),
                    TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
      solves[i] = choice.natural.solves;
    Expect(!choice.multicolor && !!strstr(choice.reason, "no prediction") == (i == 2), "%d: %s", i, choice.reason);
    TrsvFactorDestroy(&f);
    SimtDefaults();
  }
  Expect(solves[0] > 0 && solves[1] > solves[0] && !solves[2], "%g s in the natural order, %g without clusters",
         solves[0], solves[1]);
  FreeSquare(&A);
  End();
}

void TestOrderChoice(void)
{
  CheckChoices();
  CheckFailures();
  CheckStrongFill("cells that get thinner toward a wall", FillThinning);
  CheckStrongFill("a flow", FillFlow);
  CheckNewValues();
  CheckFactorOnHost();
  CheckManyColors();
  CheckAnalysisOfU();
  CheckAlgorithmsOfOrders();
  CheckRealMatrices();
}
