/*
   Dense triangles in all forms, and the algorithm `dense` on sparse ones that have dense parts.
*/
#include "check.h"
#include "papers/dense/dense.h"
#include "solve/chunk/chunk.h"

static const char *const form_name[] = {"blocks", "doubling", "simple", "pairs"};

/* The values of a triangle as a square array with the given leading dimension; the other triangle has junk. */
static void *MakeDenseMatrix(const TrsvMatrix *A, const void *values, int leading)
{
  void *square = MakeArray(A->precision, leading * (A->rows + 1));

  for (int k = 0; k < leading * A->rows; k++) Set(square, A->precision, k, NAN);
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      Set(square, A->precision, i + leading * A->columns[k], Get(values, A->precision, k));
  return square;
}

/* The executor's device memory is the host's. */
static void CheckForms(const TrsvDenseSettings *settings, int rows, TrsvTriangle triangle, TrsvDiagonal diagonal,
                       TrsvPrecision precision)
{
  const size_t bytes = TrsvValueSize(precision) * (size_t)rows;
  Triangle     T     = MakeTriangle(DENSE, rows, triangle, diagonal, precision, (unsigned)rows);
  void        *b = MakeVector(precision, rows, 7), *x = MakeArray(precision, rows), *kept = MakeArray(precision, rows);
  TrsvDense   *dense;

  if (ExpectError(TrsvDenseCreate(rows, triangle, diagonal, precision, settings, &dense), TRSV_SUCCESS,
                  "TrsvDenseCreate"))
    for (unsigned pass = 0; pass < 2; pass++) {
      void *values = MakeValues(&T.view, pass), *square = MakeDenseMatrix(&T.view, values, rows + 3),
           *reference = Reference(&T.view, NULL, T.offsets[rows], values, b);

      ExpectError(TrsvDenseSetValues(dense, square, rows + 3, NULL), TRSV_SUCCESS, "TrsvDenseSetValues");
      Expect(TrsvDenseSolves(dense) == settings->form, "solved as %s", form_name[TrsvDenseSolves(dense)]);
      for (unsigned s = 0; s < (Reduced() ? 2 : 4); s++) {
        SimtSchedule(5 * (unsigned)rows + s);
        memset(x, 0xcd, bytes);
        ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "TrsvDenseSolve");
        ExpectClose(precision, rows, x, reference, "solution");
        Expect(!s || !memcmp(x, kept, bytes), "%d rows: other bits under another schedule", rows);
        memcpy(kept, x, bytes);
      }
      SimtDefaults();
      free(values);
      free(square);
      free(reference);
    }
  TrsvDenseDestroy(&dense);
  free(b);
  free(x);
  free(kept);
  FreeTriangle(&T);
}

/* Values with large inverses, or with an Inf, are solved by substitution; other values are solved by inverses again. */
static void CheckGrowth(TrsvDenseForm form, TrsvPrecision precision)
{
  enum { ROWS = 100 };
  const TrsvDenseSettings settings = {form, 0, 0};
  Triangle                T        = MakeTriangle(DENSE, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision, 1);
  void                   *values = MakeArray(precision, T.offsets[ROWS]), *b = MakeVector(precision, ROWS, 5),
       *x = MakeArray(precision, ROWS);
  TrsvDense *dense;

  if (ExpectError(TrsvDenseCreate(ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision, &settings, &dense), TRSV_SUCCESS,
                  "TrsvDenseCreate"))
    for (int pass = 0; pass < 4; pass++) {
      const int infinite = pass == 3, grows = pass == 1;
      void     *square, *reference;

      for (int i = 0; i < ROWS;
           i++) /* a chain; if the inverse grows, every 20th row starts anew, because x would overflow */
        for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++)
          Set(values, precision, k,
              T.columns[k] == i       ? 1
              : T.columns[k] != i - 1 ? 0
              : infinite              ? 0
              : !grows                ? 0.3
              : i % 20 ? (form == TRSV_DENSE_PAIRS ? -200 : -1.5) * (form == TRSV_DENSE_PAIRS && i % 2 == 0 ? 0 : 1)
                       : 1e-9);
      if (infinite) Set(values, precision, T.offsets[ROWS] - 2, INFINITY); /* Inf x 0 in the inverse: growth of NaN */
      square    = MakeDenseMatrix(&T.view, values, ROWS);
      reference = Reference(&T.view, NULL, T.offsets[ROWS], values, b);
      ExpectError(TrsvDenseSetValues(dense, square, ROWS, NULL), TRSV_SUCCESS, "TrsvDenseSetValues");
      Expect(TrsvDenseSolves(dense) == (grows || infinite ? TRSV_DENSE_SIMPLE : form), "pass %d: solved as %s", pass,
             form_name[TrsvDenseSolves(dense)]);
      ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "TrsvDenseSolve");
      ExpectClose(precision, ROWS, x, reference, infinite ? "an Inf" : grows ? "growing" : "bounded");
      free(square);
      free(reference);
    }
  TrsvDenseDestroy(&dense);
  free(values);
  free(b);
  free(x);
  FreeTriangle(&T);
}

/* A lost value: NaN, an error once, then correct solves. NaN in b reaches all rows from its row on. */
static void CheckWaits(TrsvDenseForm form)
{
  enum { ROWS = 230 };
  const TrsvDenseSettings settings = {form, 32, 0};
  Triangle                T        = MakeTriangle(DENSE, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  void                   *values = MakeValues(&T.view, 1), *square = MakeDenseMatrix(&T.view, values, ROWS);
  double                 *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS),
         *reference = Reference(&T.view, NULL, T.offsets[ROWS], values, b);
  TrsvDense *dense;
  int        waited = 0;

  if (ExpectError(TrsvDenseCreate(ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, &settings, &dense), TRSV_SUCCESS,
                  "TrsvDenseCreate") &&
      ExpectError(TrsvDenseSetValues(dense, square, ROWS, NULL), TRSV_SUCCESS, "TrsvDenseSetValues")) {
    for (long k = 1; k <= 200; k += Reduced() ? 90 : 37) {
      int nans = 0;

      SimtSchedule((unsigned)k);
      SimtSettings.bounded = 1;
      SimtSettings.lose    = k;
      ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "the solve that loses a value");
      SimtSettings.lose = SimtSettings.bounded = 0;
      for (int i = 0; i < ROWS; i++) nans += isnan(x[i]);
      if (nans) {
        waited++;
        ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_ERR_TIMEOUT, "the next call");
      }
      for (int s = 0; s < 3; s++) {
        ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "afterwards");
        ExpectClose(TRSV_DOUBLE, ROWS, x, reference, "afterwards");
      }
    }
    Expect(waited >= 2, "only %d lost values were waited for", waited);
    SimtDefaults();
    b[70] = NAN;
    ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "NaN in b");
    for (int i = 0; i < ROWS; i++) Expect(isnan(x[i]) == (i >= 70), "x[%d] is %g where b[70] is NaN", i, x[i]);
    Set(values, TRSV_DOUBLE, T.offsets[100], NAN); /* in the first column of row 100 */
    free(square);
    square = MakeDenseMatrix(&T.view, values, ROWS);
    b[70]  = 1;
    ExpectError(TrsvDenseSetValues(dense, square, ROWS, NULL), TRSV_SUCCESS, "TrsvDenseSetValues");
    ExpectError(TrsvDenseSolve(dense, b, x, NULL), TRSV_SUCCESS, "NaN in the matrix");
    for (int i = 0; i < ROWS; i++) Expect(isnan(x[i]) == (i >= 100), "x[%d] is %g where row 100 has a NaN", i, x[i]);
  }
  TrsvDenseDestroy(&dense);
  free(values);
  free(square);
  free(b);
  free(x);
  free(reference);
  FreeTriangle(&T);
}

typedef enum {
  TRAILING, /* sparse rows, then a dense block that lacks a third of its entries */
  INNER,    /* sparse, dense, sparse, dense */
  BORDER,   /* diagonal, and three long rows at the end */
  STRIPE,   /* a full band: many possible dense blocks that overlap */
  LAYOUTS
} Layout;

static const char *const layout_name[] = {"trailing block", "inner blocks", "long rows", "band"};

/* Does the strict lower triangle have this entry? */
static int HasEntry(Layout layout, int rows, int i, int j)
{
  if (j == i - 3 || (j == 0 && i % 7 == 0)) return 1;
  switch (layout) {
  case TRAILING: return i >= rows - 150 && (j >= rows - 150 ? (i + j) % 3 != 0 : (i + j) % 40 == 0);
  case INNER: return (i >= 50 && i < 190 && j >= 50) || (i >= 260 && i < 400 && j >= 260) || (i + j) % 60 == 0;
  case BORDER: return i >= rows - 3;
  default: return j >= i - 150;
  }
}

static const int         least[] = {150, 280, 3, 960}; /* rows of dense blocks */
static const char *const in[]    = {"in 1,", "in 2,", "in 1,", "in 4,"};

/* Of the dense blocks that are found, all but a trailing one are full. */
static void CheckFull(const TrsvMatrix *A, Layout layout)
{
  const int   rows = A->rows;
  int *const  room = calloc(3 * (size_t)rows, sizeof(int));
  DenseRange  blocks[DENSE_BLOCKS_MAX + 1];

  DenseMeasure(A, room, room + rows, room + 2 * rows);
  for (int found = DenseFind(rows, room, room + rows, room + 2 * rows, blocks); found--;)
    for (int p = blocks[found].begin; p < blocks[found].end && blocks[found].end < rows; p++)
      for (int q = blocks[found].begin; q < p; q++)
        Expect(HasEntry(layout, rows, p, q), "row %d of the block from %d on lacks %d", p, blocks[found].begin, q);
  free(room);
}

static void CheckSparse(Layout layout, int rank, TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision)
{
  const int rows  = layout == TRAILING ? 300
                  : layout == INNER    ? 430
                  : layout == BORDER   ? 1100
                                       : 1000,
            lower = triangle == TRSV_LOWER;
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * (size_t)rows * (size_t)rows),
      n = 0;
  Triangle  T;
  void     *values, *b = MakeVector(precision, rows, 3), *x = MakeArray(precision, rows), *reference;
  char      line[TRSV_SETTINGS];
  TrsvPlan *plan = NULL;

  offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = lower ? 0 : i + 1; j < (lower ? i : rows); j++)
      if (lower ? HasEntry(layout, rows, i, j) : HasEntry(layout, rows, rows - 1 - i, rows - 1 - j)) columns[n++] = j;
    offsets[i + 1] = n;
  }
  T         = MakeFrom(rows, offsets, columns, triangle, diagonal, precision);
  values    = MakeValues(&T.view, 3);
  reference = Reference(&T.view, NULL, T.offsets[rows], values, b);
  (void)snprintf(line, sizeof(line), rank % 2 ? "form=%s block=64 steps=launches" : "form=%s block=32",
                 form_name[rank]);
  CheckFull(&T.view, layout);
  plan = MakePlanWith(&T.view, NULL, T.offsets[rows], TrsvAlgorithmFind("dense"), line);
  if (plan) {
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    TrsvPlanDescribe(plan, line, sizeof(line));
    /* the trailing block is as large as possible, half full */
    Expect(atoi(line) >= least[layout] && atoi(line) <= least[layout] * 5 / 4 && strstr(line, in[layout]) &&
             strstr(line, form_name[rank]) && (rank || strstr(line, "block=32")) &&
             !!strstr(line, "steps=launches") == rank % 2,
           "described as '%s'", line);
    for (unsigned s = 0; s < 3; s++) {
      SimtSchedule(s);
      memset(x, 0xcd, TrsvValueSize(precision) * (size_t)rows);
      ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
      ExpectClose(precision, rows, x, reference, layout_name[layout]);
    }
    SimtDefaults();
  }
  TrsvPlanDestroy(&plan);
  free(offsets);
  free(columns);
  free(values);
  free(b);
  free(x);
  free(reference);
  FreeTriangle(&T);
}

/* Every call of the device fails once, in turn. */
static void CheckFailures(void)
{
  enum { ROWS = 70 };
  static const char *const settings[] = {"form=blocks", "form=doubling", "form=simple", "form=pairs steps=launches"};
  Triangle                 T          = MakeTriangle(DENSE, ROWS, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  void *values = MakeValues(&T.view, 1), *b = MakeVector(TRSV_DOUBLE, ROWS, 5), *x = MakeArray(TRSV_DOUBLE, ROWS);
  TrsvAnalysis *analysis;

  if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze"))
    for (int n = 0; n < 4; n++)
      for (long k = 1, struck = 1; struck; k++) {
        const size_t live = SimtLive();
        TrsvPlan    *plan;
        TrsvError    error;

        TrsvSettingsRequest(settings[n]);
        SimtFailAt(k, 0);
        error = TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[ROWS], NULL, TrsvAlgorithmFind("dense"), 0,
                               &plan);
        if (!error) error = TrsvPlanSetValues(plan, values, TRSV_HOST, NULL);
        if (!error) error = TrsvPlanSolve(plan, b, x, NULL);
        struck = SimtFailed();
        SimtFailAt(0, 0);
        TrsvPlanDestroy(&plan);
        Expect(SimtLive() == live, "place %ld: device memory is left", k);
        if (!Expect(!error == !struck, "place %ld: error %d", k, (int)error)) break;
      }
  TrsvSettingsRequest(NULL);
  TrsvAnalysisDestroy(&analysis);
  free(values);
  free(b);
  free(x);
  FreeTriangle(&T);
}

/* If the best algorithm for the remainder cannot be made, thread solves it. */
static void CheckFallback(void)
{
  const TrsvAlgorithm *dense = TrsvAlgorithmFind("dense");
  char                 line[TRSV_SETTINGS];

  for (int possible = 0; possible < 2; possible++) {
    Triangle  T = MakeTriangle(CHAIN, 300, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    TrsvPlan *plan;

    if (!possible) ForceChunkSettings(2, 4, 1);
    plan = MakePlan(&T.view, NULL, T.offsets[300], dense);
    if (plan) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      Expect(strstr(line, possible ? "chunk" : "thread") != NULL, "%s", line);
    }
    TrsvPlanDestroy(&plan);
    if (!possible) CheckSolves(CHAIN, 300, dense, 0, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    TrsvChunkSettingsOverride(NULL);
    FreeTriangle(&T);
  }
}

/* Wrong sizes, and columns that overlap */
static void CheckArguments(void)
{
  static const struct {
    int               rows;
    TrsvDenseSettings settings;
    TrsvError         expected;
  } wrong[] = {{2, {TRSV_DENSE_BLOCKS, -1, 0}, TRSV_ERR_ARGUMENT},
               {-1, {TRSV_DENSE_BLOCKS, 0, 0}, TRSV_ERR_ARGUMENT},
               {INT32_MAX, {TRSV_DENSE_BLOCKS, 0, 0}, TRSV_ERR_UNSUPPORTED}};
  double     values[4] = {1, 1, 1, 1};
  TrsvDense *dense;

  for (int i = 0; i < 3; i++) {
    const TrsvError error =
      TrsvDenseCreate(wrong[i].rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, &wrong[i].settings, &dense);

    ExpectError(error, wrong[i].expected, "TrsvDenseCreate");
    Expect(!dense, "case %d: an error, and a triangle", i);
  }
  if (ExpectError(TrsvDenseCreate(2, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, NULL, &dense), TRSV_SUCCESS,
                  "TrsvDenseCreate"))
    ExpectError(TrsvDenseSetValues(dense, values, 1, NULL), TRSV_ERR_ARGUMENT, "TrsvDenseSetValues");
  TrsvDenseDestroy(&dense);
}

void TestDense(void)
{
  static const int sizes[] = {0, 1, 2, 31, 32, 33, 65, 129, 200, 290};

  for (int form = 0; form < 4; form++)
    for (int variant = 0; variant < 16; variant++) {
      const TrsvDenseSettings settings = {(TrsvDenseForm)form, variant % 3 == 0 ? 0 : 32 * (variant % 3), variant >> 3};

      if (Reduced() && variant % 5) continue;
      Begin("dense triangle, %s%s, %s, %s diagonal, %s", form_name[form], settings.launches ? " in launches" : "",
            variant & 1 ? "upper" : "lower", variant & 2 ? "unit" : "stored", variant & 4 ? "float" : "double");
      for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        if (!Reduced() || sizes[s] < 100)
          CheckForms(&settings, sizes[s], (TrsvTriangle)(variant & 1),
                     variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, variant & 4 ? TRSV_FLOAT : TRSV_DOUBLE);
      End();
    }
  for (int form = 0; form < 4; form++) {
    if (form == TRSV_DENSE_SIMPLE) continue;
    for (int precision = 0; precision < 2; precision++) {
      Begin("dense triangle, %s leaves values alone that grow, %s", form_name[form], precision ? "double" : "float");
      CheckGrowth((TrsvDenseForm)form, (TrsvPrecision)precision);
      End();
    }
  }
  for (int form = 0; form < 4; form++) {
    Begin("dense triangle, %s: a value is lost; NaN", form_name[form]);
    CheckWaits((TrsvDenseForm)form);
    End();
  }
  for (int layout = 0; layout < LAYOUTS; layout++)
    for (int variant = 0; variant < (Reduced() ? 1 : 8); variant++) {
      Begin("dense, %s, %s, %s diagonal, %s", layout_name[layout], variant & 1 ? "upper" : "lower",
            variant & 2 ? "unit" : "stored", variant & 4 ? "float" : "double");
      for (int rank = variant % 2; rank < 4; rank += 2)
        CheckSparse((Layout)layout, rank, (TrsvTriangle)(variant & 1),
                    variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, variant & 4 ? TRSV_FLOAT : TRSV_DOUBLE);
      End();
    }
  Begin("dense: the rest's best algorithm is not possible");
  CheckFallback();
  End();
  Begin("dense: what is no triangle");
  CheckArguments();
  End();
  Begin("dense: calls of the device fail");
  CheckFailures();
  End();
}
