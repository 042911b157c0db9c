/*
   Factors in another order of the rows: long rows, what is no order, how far from symmetric values are, and the order
   that is chosen.
*/
#include "market.h"
#include "square.h"

/* Orders: rows too long to count, and what is no order */
static void Orders(void)
{
  Square      A;
  TrsvFactor *f;
  int        *order, row;

  Begin("factor in another order: long rows");
  A     = MakeSquare(DENSE_ROW, 300, 1, TRSV_DOUBLE, 3);
  order = MakeOrder(300, 4);
  for (int kind = 0; kind < 2; kind++) {
    f = MakeFactor(&A, order, (TrsvFactorKind)kind, 0);
    if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, kind ? "icc" : "ilu");
    TrsvFactorDestroy(&f);
  }
  End();

  Begin("factor in another order: what is none is refused");
  for (int wrong = 0; wrong < 3; wrong++) {
    const int kept = order[7];

    order[7] = wrong == 0 ? -1 : wrong == 1 ? 300 : order[8];
    ExpectError(TrsvFactorCreate(A.rows, A.offsets, A.columns, order, TRSV_DEVICE, TRSV_ILU, TRSV_DOUBLE, &f, &row),
                TRSV_ERR_ARGUMENT, "TrsvFactorCreate");
    Expect(!f && row == -1, "row %d", row);
    order[7] = kept;
  }
  TrsvDeviceFree(order);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

static double Asymmetry(const Square *A)
{
  double skew = 0, all = 0;

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int    j     = A->columns[k];
      const double v     = Get(A->values, A->precision, k);
      double       other = 0;

      for (int t = A->offsets[j]; t < A->offsets[j + 1]; t++)
        if (A->columns[t] == i) other = Get(A->values, A->precision, t);
      if (j == i) continue;
      skew += (v - other) * (v - other) * (other == 0 ? 1 : 0.5);
      all += v * v;
    }
  return all > 0 ? sqrt(skew / all) : 0;
}

static void Asymmetries(void)
{
  Begin("how far from symmetric values are");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 6; variant++) {
      Square A = MakeSquare((Shape)shape,
                            variant > 3      ? 1
                            : shape == CHAIN ? 70000
                                             : 300,
                            variant % 2, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE, 5);
      double got, wanted = Asymmetry(&A);
      char   why[80];

      ExpectError(TrsvDeviceAsymmetry(A.rows, A.offsets, A.columns, A.precision, A.values, &got), TRSV_SUCCESS,
                  "TrsvDeviceAsymmetry");
      Expect(fabs(got - wanted) <= 1e-6 && (!(variant % 2) || got < 1e-7), "%s: %g, not %g", ShapeName[shape], got,
             wanted);
      ExpectError(
        TrsvCheckNearlySymmetric(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, A.precision, why, sizeof(why)),
        TRSV_SUCCESS, "TrsvCheckNearlySymmetric");
      Expect(!!why[0] == (wanted > 0.1), "%s, %g: %s", ShapeName[shape], wanted, why);
      FreeSquare(&A);
    }
  End();

  Begin("values that are no numbers are as far from symmetric as NaN says, and refuse no order");
  for (int precision = 0; precision < 2; precision++) {
    Square A = MakeSquare(GRID_2D, 300, 1, (TrsvPrecision)precision, 5);
    double got;
    char   why[80];

    Set(A.values, A.precision, A.offsets[100] + (A.columns[A.offsets[100]] == 100), NAN);
    ExpectError(TrsvDeviceAsymmetry(A.rows, A.offsets, A.columns, A.precision, A.values, &got), TRSV_SUCCESS,
                "TrsvDeviceAsymmetry");
    Expect(isnan(got), "%g", got);
    ExpectError(
      TrsvCheckNearlySymmetric(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, A.precision, why, sizeof(why)),
      TRSV_SUCCESS, "TrsvCheckNearlySymmetric");
    Expect(!why[0], "%s", why);
    FreeSquare(&A);
  }
  End();
}

/* The estimate of the discarded fill as its definition has it, of all rows: few enough that all are in the sample. */
static void DiscardedFill(const Square *A, const int *place, double fill[2])
{
  double *d = (double *)calloc((size_t)A->rows, sizeof(double));

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] == i) d[i] = fabs(Get(A->values, A->precision, k));
  fill[0] = fill[1] = 0;
  for (int i = 0; i < A->rows; i++)
    for (int e = A->offsets[i]; e < A->offsets[i + 1]; e++)
      for (int k = A->columns[e], t = A->offsets[k]; t < A->offsets[k + 1]; t++) {
        const int j     = A->columns[t];
        int       there = k == i || j == k || j == i || A->offsets[i + 1] - A->offsets[i] > TRSV_FILL_LONGEST ||
                    A->offsets[k + 1] - A->offsets[k] > TRSV_FILL_LONGEST;
        double v = Get(A->values, A->precision, e) * Get(A->values, A->precision, t);

        for (int f = A->offsets[i]; f < A->offsets[i + 1] && !there; f++) there = A->columns[f] == j;
        v *= v / (d[k] * d[k] * d[i] * d[j]);
        if (!there && k < i && k < j) fill[0] += v;
        if (!there && place[k] < place[i] && place[k] < place[j]) fill[1] += v;
      }
  for (int o = 0; o < 2; o++) fill[o] = sqrt(fill[o]);
  free(d);
}

static void Fills(void)
{
  Begin("the fill that an order leaves out");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 4; variant++) {
      Square A =
        MakeSquare((Shape)shape, variant == 3 ? 1 : 300, variant % 2, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE, 5);
      int   *order = (int *)malloc(2 * sizeof(int) * (size_t)A.rows), *place = order + A.rows;
      double got[2], wanted[2];

      for (int i = 0; i < A.rows; i++) order[i] = A.rows % 7 ? (int)(7L * i % A.rows) : i;
      for (int i = 0; i < A.rows; i++) place[order[i]] = i;
      DiscardedFill(&A, place, wanted);
      ExpectError(TrsvDeviceDiscardedFill(A.rows, A.offsets, A.columns, order, A.precision, A.values, got),
                  TRSV_SUCCESS, "TrsvDeviceDiscardedFill");
      for (int o = 0; o < 2; o++)
        Expect(fabs(got[o] - wanted[o]) <= 1e-12 * wanted[o], "%s, order %d: %g, not %g", ShapeName[shape], o, got[o],
               wanted[o]);
      free(order);
      FreeSquare(&A);
    }
  End();
}

/* The order that is chosen, and that it is what it is said to be */
static void Choices(void)
{
  static const struct {
    const char *what, *why, *algorithm;
    Shape       shape;
    int         rows, symmetric, multicolor;
  } cases[] = {
    {"a grid", "in the natural order 159", "thread", GRID_2D, 6400, 1, 1},
    {"a grid of unsymmetric values", "unsymmetric", "thread", GRID_2D, 6400, 0, 0},
    {"a diagonal", "too little to gain", "thread", DIAGONAL, 1600, 1, 0},
    {"a chain, whose factors are complete", "no fill to leave out", "thread", CHAIN, 1600, 1, 0},
    {"a grid that a schedule solves in no time", "too little to gain", NULL, GRID_3D, 4096, 1, 0},
    {"a grid too small to look at another order", "too little to gain", NULL, GRID_2D, 400, 1, 0},
  };
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
    for (int kind = 0; kind < 2; kind++) {
      const TrsvAlgorithm *asked = cases[c].algorithm ? TrsvAlgorithmFind(cases[c].algorithm) : NULL;
      Square               A;
      TrsvFactor          *f;
      TrsvOrderChoice      choice;
      TrsvOrdering        *multicolor;
      int                  row;

      Begin("the order of %s for %s", cases[c].what, kind ? "icc" : "ilu");
      A = MakeSquare(cases[c].shape, cases[c].rows, cases[c].symmetric, TRSV_DOUBLE, 7);
      if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, (TrsvFactorKind)kind,
                                              TRSV_DOUBLE, asked, asked, &f, &row, &choice),
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

  Begin("the order: fails anywhere");
  for (long k = 1, failed = 1, natural = 0; failed; k += 3) {
    Square          A = MakeSquare(GRID_2D, 6400, 1, TRSV_DOUBLE, 7);
    TrsvFactor     *f;
    TrsvOrderChoice choice;
    const size_t    live = SimtLive();
    int             row;
    TrsvError       error;

    SimtFailAt(k, 0);
    error  = TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE, thread,
                                     thread, &f, &row, &choice);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!f, "place %ld: error %d, factor %p", k, (int)error, (void *)f);
    if (failed && !error) { /* without memory for multicolor, it is the natural order */
      natural++;
      Expect(!choice.multicolor && !f->order && strstr(choice.reason, "no memory"), "place %ld: multicolor %d: %s", k,
             choice.multicolor, choice.reason);
      CheckNumeric(f, &A, TRSV_ILU, &Plain, 1, "the natural order");
    }
    TrsvFactorDestroy(&f);
    Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
    Expect(failed || natural > 2, "%ld times the natural order", natural);
    FreeSquare(&A);
  }
  End();
}

/* Where the multicolor order leaves out several times the fill, the natural one stays. */
static void Strong(void)
{
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");
  const int            side   = 80;
  Square               A      = MakeSquare(GRID_2D, side * side, 1, TRSV_DOUBLE, 7);
  TrsvFactor          *f;
  TrsvOrderChoice      choice;
  int                  row;

  Begin("the order: cells that get thinner toward a wall");
  for (int i = 0; i < A.rows; i++) {
    double sum      = 0;
    int    diagonal = 0;

    for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) {
      const int    j = A.columns[k], line = (i < j ? i : j) / side;
      const double v = abs(i - j) == 1 ? pow(1.1, line) : pow(1.1, -line) * 100;

      if (j == i) diagonal = k;
      else {
        Set(A.values, A.precision, k, -v);
        sum += v;
      }
    }
    Set(A.values, A.precision, diagonal, 1.001 * sum);
  }
  if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                          thread, thread, &f, &row, &choice),
                  TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
    Expect(!choice.multicolor && !f->order && choice.growth > 1.5 && strstr(choice.reason, "leaves out more fill"),
           "multicolor %d, growth %g: %s", choice.multicolor, choice.growth, choice.reason);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* Each row is coupled to all others but one: there are as many colors as level sets, more than was estimated. */
static void Pairs(void)
{
  enum { ROWS = 300 };
  const TrsvAlgorithm *thread  = TrsvAlgorithmFind("thread");
  int                 *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * ROWS * (ROWS - 1));
  Square               A;
  TrsvFactor          *f;
  TrsvOrderChoice      choice;
  int                  row;

  Begin("the order: as many colors as level sets");
  for (int i = 0, n = offsets[0] = 0; i < ROWS; offsets[++i] = n)
    for (int j = 0; j < ROWS; j++)
      if (j != (i ^ 1)) columns[n++] = j;
  A = MakeSquareFrom(ROWS, offsets, columns);
  FillSquare(&A, 1, 1.1, 3);
  if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                          thread, thread, &f, &row, &choice),
                  TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
    Expect(!choice.multicolor && !f->order && choice.ordered.solves > 0 && strstr(choice.reason, "; multicolor 150,"),
           "multicolor %d: %s", choice.multicolor, choice.reason);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  free(offsets);
  free(columns);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* Values of every type with the same magnitudes give the same multicolor order, which is another one without values. */
static void EveryType(void)
{
  Square        A = MakeSquare(BAND, 600, 1, TRSV_DOUBLE, 7);
  const int     n = A.offsets[A.rows];
  const size_t  rows = (size_t)A.rows, bytes = sizeof(int) * (rows + 1);
  int          *offsets, *columns, *order = malloc(bytes);
  TrsvOrdering *with, *without;

  Begin("the order: values of every type");
  for (int k = 0; k < n; k++) Set(A.values, TRSV_DOUBLE, k, k % 3 ? 1 : 64);
  ExpectError(TrsvOrderMulticolor(A.rows, A.offsets, A.columns, A.values, TRSV_HOST, &with), TRSV_SUCCESS, "values");
  ExpectError(TrsvOrderMulticolor(A.rows, A.offsets, A.columns, NULL, TRSV_HOST, &without), TRSV_SUCCESS, "none");
  Expect(memcmp(with->order, without->order, sizeof(int) * rows) != 0, "values change nothing");
  ExpectError(TrsvScratchUpload(A.offsets, bytes, &offsets, NULL), TRSV_SUCCESS, "offsets");
  ExpectError(TrsvScratchUpload(A.columns, sizeof(int) * (size_t)n, &columns, NULL), TRSV_SUCCESS, "columns");
  for (int variant = 0; variant < 8; variant++) {
    const TrsvPrecision p      = (TrsvPrecision)(variant >> 1);
    void               *values = MakeArray(p, n), *there;
    TrsvOrdering       *made;

    for (int k = 0; k < n; k++)
      Set(values, p, Reals(p, k) + TrsvIsComplex(p), (k & 1 ? -1 : 1) * Get(A.values, TRSV_DOUBLE, k));
    ExpectError(TrsvScratchUpload(values, TrsvValueSize(p) * (size_t)n, &there, NULL), TRSV_SUCCESS, "values");
    if (ExpectError(TrsvIluOrderMulticolor(&(TrsvCSR){A.rows, offsets, columns, there}, p, variant & 1, &made),
                    TRSV_SUCCESS, "TrsvIluOrderMulticolor")) {
      ExpectError(TrsvDeviceDownload(order, made->order, sizeof(int) * rows, NULL), TRSV_SUCCESS, "order");
      Expect(!memcmp(order, with->order, sizeof(int) * rows), "another order with %s, %s", PrecisionName(p),
             variant & 1 ? "by the host" : "on the device");
    }
    TrsvOrderingDestroy(&made);
    TrsvScratchFree(there, NULL);
    free(values);
  }
  TrsvScratchFree(offsets, NULL);
  TrsvScratchFree(columns, NULL);
  TrsvOrderingDestroy(&with);
  TrsvOrderingDestroy(&without);
  FreeSquare(&A);
  free(order);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* What is chosen on an H200 for real patterns of which results/solutions.jsonl tells which order is the quicker, set-up
 * included */
static void Real(void)
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
    int             row;

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
                                            NULL, NULL, &f, &row, &choice),
                    TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
      Expect(choice.multicolor == cases[c].multicolor, "multicolor %d: %s", choice.multicolor, choice.reason);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    FreePattern(&p);
    End();
  }
}

/* Where the natural order is kept, as for a chain, and `chunk` solves, U has been looked at; without the memory for
 * that it is kept all the same. */
static void Upper(void)
{
  const TrsvAlgorithm *chunk = FindTested("chunk"), *thread = TrsvAlgorithmFind("thread");
  Square               A = MakeSquare(CHAIN, 400, 1, TRSV_DOUBLE, 5);
  int                  row, kept = 0;

  Begin("the order: a look at U");
  for (long k = 0, failed = 1; failed; k++) { /* 0: nothing fails */
    const TrsvAlgorithm *asked = k == 1 ? thread : chunk;
    const size_t         live  = SimtLive();
    TrsvFactor          *f;
    TrsvOrderChoice      choice;

    SimtFailAt(k < 2 ? 0 : k - 1, 0);
    const TrsvError error = TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU,
                                                    TRSV_DOUBLE, asked, asked, &f, &row, &choice);
    failed                = k < 2 || SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!f && (k > 1 || f), "place %ld: error %d, factor %p", k - 1, (int)error, (void *)f);
    if (f && k < 2)
      Expect(!choice.multicolor && (!f->upper_analysis) == (k == 1) && (!f->analysis->heights) == (k == 1), "%s: %s",
             TrsvAlgorithmName(asked), choice.reason);
    if (f && k > 1 && failed && !choice.multicolor) kept += !f->analysis->heights;
    TrsvFactorDestroy(&f);
    Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k - 1, SimtLive(), live);
  }
  Expect(kept > 1, "%d times it was kept without", kept);
  FreeSquare(&A);
  End();
}

/* Orders are compared by algorithms that can run on the device, as the pair will have them. For an algorithm without a
   prediction the natural order is kept. */
static void Lacking(void)
{
  Square A         = MakeSquare(CHAIN, 400, 1, TRSV_DOUBLE, 5);
  double solves[3] = {0, 0, 0};

  Begin("the order: predicted of what can run");
  for (int i = 0; i < 3; i++) {
    const TrsvAlgorithm *const named = i == 2 ? FindTested("level") : NULL;
    TrsvFactor                *f;
    TrsvOrderChoice            choice;
    int                        row;

    SimtSettings.old = i == 1;
    if (ExpectError(TrsvFactorCreateOrdered(&(TrsvCSR){A.rows, A.offsets, A.columns, A.values}, TRSV_ILU, TRSV_DOUBLE,
                                            named, named, &f, &row, &choice),
                    TRSV_SUCCESS, "TrsvFactorCreateOrdered"))
      solves[i] = choice.natural.solves;
    Expect(!choice.multicolor && !!strstr(choice.reason, "no prediction") == (i == 2), "%d: %s", i, choice.reason);
    TrsvFactorDestroy(&f);
    SimtDefaults();
  }
  Expect(solves[0] > 0 && solves[1] > solves[0] && !solves[2], "%g s in the natural order, %g without clusters", solves[0],
         solves[1]);
  FreeSquare(&A);
  End();
}

void TestFactorOrder(void)
{
  Orders();
  Asymmetries();
  Fills();
  Choices();
  Strong();
  Pairs();
  EveryType();
  Upper();
  Lacking();
  Real();
}
