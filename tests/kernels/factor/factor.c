/*
   ILU(0) and IC(0) on the device against PETSc's elimination written out on the host: shapes, sizes, lanes, precisions,
   schedules, values after values; zero pivots and every shift; matrices that cannot be factored. Long rows are in
   factor_long.c.
*/
#include <limits.h>
#include "square.h"

static void Shapes(TrsvFactorKind kind, TrsvPrecision precision, int lanes)
{
  static const int sizes[] = {1, 2, 33, 70};

  for (int shape = 0; shape < SHAPES; shape++) {
    if (!Mine()) continue;
    Begin("factor %s, %s, %d lanes: %s", kind == TRSV_ICC ? "icc" : "ilu", precision == TRSV_FLOAT ? "float" : "double",
          lanes, ShapeName[shape]);
    for (size_t i = Reduced() ? (size_t)(shape + kind) % 2 : 0; i < sizeof(sizes) / sizeof(sizes[0]);
         i += Reduced() ? 2 : 1) {
      const int   symmetric = kind == TRSV_ICC || sizes[i] % 2;
      Square      A         = MakeSquare((Shape)shape, sizes[i], symmetric, precision, (unsigned)sizes[i]);
      int        *order     = (shape + lanes) % 3 && shape != GRID_3D ? NULL : MakeOrder(sizes[i], (unsigned)shape);
      TrsvFactor *f         = MakeFactor(&A, order, kind, lanes);
      char        where[40];

      (void)snprintf(where, sizeof(where), "%d rows", sizes[i]);
      if (f && !lanes && sizes[i] > 2 && (shape == CHAIN || shape == GRID_2D || shape == GRID_3D || shape == DENSE))
        Expect((f->lanes_per_row == 1) == (shape != DENSE), "%d lanes", f->lanes_per_row);
      if (f) CheckNumeric(f, &A, kind, &Plain, Reduced() ? 2 : 3, where);
      FillSquare(&A, symmetric, 1, 55);
      if (f) CheckNumeric(f, &A, kind, &Plain, 1, "new values");
      TrsvFactorDestroy(&f);
      TrsvDeviceFree(order);
      FreeSquare(&A);
    }
    Expect(!SimtLive(), "%zu allocations left", SimtLive());
    End();
  }
}

/* Zeros, or too little, on some diagonals */
static void Shifts(TrsvFactorKind kind, TrsvPrecision precision)
{
  static const Shape       shapes[] = {RANDOM, DENSE, BAND, ARROW, GRID_2D};
  static const char *const names[]  = {"none", "nonzero", "positive_definite", "inblocks"};

  for (int shift = 0; shift < 4; shift++)
    for (int spoil = 0; spoil < 3; spoil++) {
      const TrsvPivots p = {(TrsvShift)shift, shift == TRSV_SHIFT_INBLOCKS ? 0.25 : 1e-3,
                            precision == TRSV_FLOAT ? 1e-5 : 1e-10};

      if (!Mine()) continue;
      Begin("factor %s, %s, shift %s, %s", kind == TRSV_ICC ? "icc" : "ilu",
            precision == TRSV_FLOAT ? "float" : "double", names[shift],
            spoil == 0   ? "sound"
            : spoil == 1 ? "zero pivots"
                         : "small pivots");
      for (size_t i = Reduced() ? (size_t)(shift + spoil + kind) % 3 : 0; i < sizeof(shapes) / sizeof(shapes[0]);
           i += Reduced() ? 3 : 1)
        for (int lanes = 0; lanes <= 16; lanes = lanes ? 4 * lanes : 4) {
          const Shape shape = shapes[i];
          Square      A     = MakeSquare(shape, 40, kind == TRSV_ICC, precision, (unsigned)(shape + lanes));
          int        *order = spoil != 1 || i % 2 ? MakeOrder(A.rows, (unsigned)i) : NULL;
          TrsvFactor *f     = MakeFactor(&A, order, kind, lanes);
          Random      r     = (unsigned)i + 3;

          for (int i = 0; i < A.rows && spoil; i++)
            for (int k = A.offsets[i]; k < A.offsets[i + 1];
                 k++) /* the first row's is sure to be the pivot, and exact */
              if (A.columns[k] == i && (i == (spoil == 1 ? 0 : 20) || RandomBelow(&r, 9) == 0))
                Set(A.values, precision, k, spoil == 1 ? 0 : 0.02 * Get(A.values, precision, k));
          for (int k = A.offsets[order ? order[0] : 0]; order && spoil == 1 && k < A.offsets[order[0] + 1]; k++)
            if (A.columns[k] == order[0]) Set(A.values, precision, k, 0);
          if (f) CheckNumeric(f, &A, kind, &p, 1, ShapeName[shape]);
          TrsvFactorDestroy(&f);
          TrsvDeviceFree(order);
          FreeSquare(&A);
        }
      End();
    }
}

/* Shifts that are no numbers or below 0, zeros that are no numbers; a zero below 0, up to which there is no pivot; and
 * a matrix that no shift helps: an end, and soon. */
static void BadShifts(void)
{
  static const double bad[] = {NAN, INFINITY, -INFINITY, -1e-3};
  Square              A     = MakeSquare(GRID_2D, 64, 1, TRSV_DOUBLE, 3);
  TrsvFactor         *f     = MakeFactor(&A, NULL, TRSV_ILU, 0);
  TrsvOutcome         o;

  Begin("factor: shifts that are none");
  for (int shift = 0; f && shift < 4; shift++)
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
      const int amount =
        shift == TRSV_SHIFT_NONZERO || shift == TRSV_SHIFT_INBLOCKS; /* which the others do not ask for */
      const TrsvPivots zero = {(TrsvShift)shift, 1e-3, bad[i]}, by = {(TrsvShift)shift, bad[i], 1e-10};

      ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &zero, &o, NULL),
                  isfinite(bad[i]) ? TRSV_SUCCESS : TRSV_ERR_ARGUMENT, "TrsvFactorSetValues");
      if (isfinite(bad[i]))
        Expect(o.attempts == 1 && o.row < 0, "zero %g: %d attempts, row %d", bad[i], o.attempts, o.row);
      else
        Expect(strstr(TrsvErrorMessage(), "zero") != NULL && !o.attempts, "%d attempts: %s", o.attempts,
               TrsvErrorMessage());
      ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &by, &o, NULL),
                  amount ? TRSV_ERR_ARGUMENT : TRSV_SUCCESS, "TrsvFactorSetValues");
      if (amount)
        Expect(strstr(TrsvErrorMessage(), "shift") != NULL && !o.attempts, "%d attempts: %s", o.attempts,
               TrsvErrorMessage());
    }
  End();

  Begin("factor: a pivot that no shift makes large");
  for (int k = A.offsets[0]; k < A.offsets[1]; k++)
    Set(A.values, TRSV_DOUBLE, k, A.columns[k] == 0 ? 0 : INFINITY); /* next to which all is zero */
  for (int tiny = 0; f && tiny < 2; tiny++) {
    const TrsvPivots p = {TRSV_SHIFT_NONZERO, tiny ? 1e-300 : 1e-3, 1e-10};

    ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &p, &o, NULL), TRSV_SUCCESS, "TrsvFactorSetValues");
    Expect(o.row == 0 && o.attempts > 100 && o.attempts < 250 && isfinite(o.shift),
           "row %d, %d attempts, a shift of %g", o.row, o.attempts, o.shift);
  }
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

/* Matrices that cannot be factored, with the row to be named */
static void Refused(void)
{
  static const struct {
    const char *what;
    int         entry, column, row;
  } spoils[] = {
    {"has no diagonal entry", 4, 2, 1},
    {"columns must rise", 6, 0, 2},
    {"has column 9 of 4", 8, 9, 2},
    {"has column -1 of 4", 0, -1, 0},
  };
  const int offsets[5] = {0, 3, 5, 9, 10}, columns[10] = {0, 1, 3, 0, 1, 0, 1, 2, 3, 3};

  for (size_t s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
    Begin("factor refuses: %s", spoils[s].what);
    for (int variant = 0; variant < 4; variant++) {
      const int   kind = variant & 1, ordered = variant & 2, order[4] = {2, 0, 3, 1};
      Square      A = NewSquare(4, 10, TRSV_DOUBLE);
      TrsvFactor *f;
      int         row;

      memcpy(A.offsets, offsets, sizeof(offsets));
      memcpy(A.columns, columns, sizeof(columns));
      A.columns[spoils[s].entry] = spoils[s].column;
      ExpectError(TrsvFactorCreate(4, A.offsets, A.columns, ordered ? order : NULL, TRSV_DEVICE, (TrsvFactorKind)kind,
                                   TRSV_DOUBLE, &f, &row),
                  TRSV_ERR_STRUCTURE, "TrsvFactorCreate");
      Expect(!f && row == spoils[s].row && strstr(TrsvErrorMessage(), spoils[s].what), "row %d: %s", row,
             TrsvErrorMessage());
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
    }
    End();
  }
}

/* Offsets from 0 on, none of them falling or beyond the last; in each row columns that rise, and its diagonal */
static int CanBeFactored(const Square *A)
{
  int sound = !A->offsets[0];

  for (int i = 0; i < A->rows && sound; i++) {
    int diagonal = 0;

    sound = A->offsets[i] <= A->offsets[i + 1] && A->offsets[i + 1] <= A->offsets[A->rows];
    for (int k = A->offsets[i]; k < A->offsets[i + 1] && sound; k++) {
      const int j = A->columns[k];

      sound = j >= 0 && j < A->rows && (k == A->offsets[i] || j > A->columns[k - 1]);
      diagonal |= j == i;
    }
    sound = sound && diagonal;
  }
  return sound;
}

/* Small matrices, with up to two numbers of them replaced, in their own order and in another one */
static void RandomFaults(void)
{
  enum { ROWS = 8 };
  Random rng     = 11;
  int    refused = 0, taken = 0;

  Begin("factor: random faults");
  for (int n = 0; n < (Reduced() ? 200 : 1000); n++) {
    const int rows     = 1 + RandomBelow(&rng, ROWS),
              values[] = {-1, INT_MIN, INT_MAX, rows, RandomBelow(&rng, ROWS), RandomBelow(&rng, ROWS * ROWS)};
    Square      A      = NewSquare(rows, ROWS * ROWS, TRSV_DOUBLE);
    int         stored = 0, order[ROWS], row, sound;
    TrsvFactor *f;
    TrsvError   error;

    A.offsets[0] = 0;
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < rows; j++)
        if (i == j || !RandomBelow(&rng, 3)) A.columns[stored++] = j;
      A.offsets[i + 1] = stored;
    }
    for (int faults = RandomBelow(&rng, 3); faults > 0; faults--) {
      const int value = values[RandomBelow(&rng, 6)];

      if (RandomBelow(&rng, 2)) A.columns[RandomBelow(&rng, stored)] = value;
      else A.offsets[RandomBelow(&rng, rows)] = value;
    }
    Shuffle(&rng, rows, order);
    sound = CanBeFactored(&A);
    *(sound ? &taken : &refused) += 1;
    error = TrsvFactorCreate(rows, A.offsets, A.columns, n & 2 ? order : NULL, TRSV_HOST, (TrsvFactorKind)(n & 1),
                             TRSV_DOUBLE, &f, &row);
    Expect(sound ? !error : error == TRSV_ERR_STRUCTURE, "matrix %d, %s: error %d: %s", n,
           sound ? "sound" : "not sound", (int)error, error ? TrsvErrorMessage() : "");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(taken > 50 && refused > 50, "%d taken, %d refused", taken, refused);
  End();
}

static void Numbers(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square      A;
    TrsvFactor *f;
    TrsvOutcome o;
    TrsvMatrix  L, U;
    const void *l, *u;

    Begin("factor %s: bad numbers pass through", kind ? "icc" : "ilu");
    A                                       = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
    f                                       = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 4);
    ((double *)A.values)[A.offsets[40]]     = NAN;
    ((double *)A.values)[A.offsets[41] - 1] = NAN;
    if (f && ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL), TRSV_SUCCESS,
                         "TrsvFactorSetValues")) {
      TrsvFactorTriangles(f, &L, &U, &l, &u);
      Expect(o.row == -1, "zero pivot in row %d", o.row);
      Expect(isnan(((const double *)u)[U.offsets[99]]) && isfinite(((const double *)u)[0]), "the last pivot is %g",
             ((const double *)u)[U.offsets[99]]);
    }
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* The analysis of L comes with it, a pair takes it, and it can be given up before and after. What is in use is counted.
 */
static void Analyzed(void)
{
  const size_t before = TrsvDeviceHeld();

  Begin("factor: analyses are made once");
  for (int trim = 0; trim < 2; trim++) {
    Square                     A    = MakeSquare(RANDOM, 90, 0, TRSV_DOUBLE, 7);
    TrsvFactor                *f    = MakeFactor(&A, NULL, TRSV_ILU, 0);
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
      Expect(!memcmp(upper->order, U.analysis->order, sizeof(int) * 90) &&
               !memcmp(&upper->statistics, &U.analysis->statistics, sizeof(upper->statistics)),
             "another analysis of U than TrsvAnalyze's");
    TrsvAnalysisDestroy(&upper);
    if (L.analysis) {
      Expect(!memcmp(again->order, L.analysis->order, sizeof(int) * 90) &&
               !memcmp(&again->statistics, &L.analysis->statistics, sizeof(again->statistics)),
             "another analysis than TrsvAnalyze's");
      /* it is what a pair believes: told by a number that nothing is laid out by */
      wrong                        = *L.analysis;
      wrong.statistics.granularity = 90;
      L.analysis                   = &wrong;
    }
    ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, thread, thread, NULL, &pair),
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

/* A store that never arrives: the wait ends, and is told. */
static void Lost(void)
{
  int told = 0;

  Begin("factor: a lost store is told");
  for (int lose = 1; lose < 200; lose += 7) {
    Square      A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
    TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, lose % 2 ? 4 : 0);
    TrsvOutcome o;
    TrsvError   error;

    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    error                = TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL);
    told += error == TRSV_ERR_TIMEOUT;
    Expect(!error || error == TRSV_ERR_TIMEOUT, "error %d: %s", (int)error, TrsvErrorMessage());
    SimtDefaults();
    CheckNumeric(f, &A, TRSV_ILU, &Plain, 1, "afterwards");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(told > 5, "told %d times", told);
  End();
}

/* Any call of the device fails: an error, nothing left behind, and it works the next time. */
static void Fails(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square A;
    size_t live;
    int   *order;

    Begin("factor %s: fails anywhere", kind ? "icc" : "ilu");
    A     = MakeSquare(DENSE_ROW, kind ? 90 : 300, 1, TRSV_DOUBLE, 3);
    order = MakeOrder(A.rows, 3);
    live  = SimtLive();
    for (long k = 1, failed = 1; failed && k < 200; k++) {
      TrsvFactor *f;
      TrsvOutcome o;
      int         row;
      TrsvError   error;

      SimtFailAt(k, 0);
      error =
        TrsvFactorCreate(A.rows, A.offsets, A.columns, order, TRSV_DEVICE, (TrsvFactorKind)kind, TRSV_DOUBLE, &f, &row);
      Expect(!error == !!f, "place %ld: error %d, factor %p", k, (int)error, (void *)f);
      if (!error) error = TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL);
      failed = SimtFailed();
      Expect(!failed == !error, "place %ld: error %d", k, (int)error);
      SimtFailAt(0, 0);
      if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, "afterwards");
      TrsvFactorDestroy(&f);
      Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
      Expect(k > 10 || failed, "it could fail nowhere");
    }
    TrsvDeviceFree(order);
    FreeSquare(&A);
    End();
  }
}

void CheckFactors(int rows, const int *offsets, const int *columns, unsigned seed)
{
  Square A = MakeSquareFrom(rows, offsets, columns);

  FillSquare(&A, 0, 2, seed);
  for (int kind = 0; kind < 2; kind++) {
    TrsvFactor *f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 0);

    if (f && (rows <= 400 || kind == TRSV_ILU))
      CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, kind ? "icc" : "ilu"); /* the reference of ICC is slow */
    TrsvFactorDestroy(&f);
  }
  FreeSquare(&A);
}

void TestFactor(void)
{
  if (Mine()) Refused();
  if (Mine()) BadShifts();
  if (Mine()) RandomFaults();
  for (int kind = 0; kind < 2; kind++) {
    for (int lanes = 0; lanes <= 32; lanes = lanes ? (Reduced() ? 8 : 2) * lanes : 4)
      Shapes((TrsvFactorKind)kind, lanes == 8 ? TRSV_FLOAT : TRSV_DOUBLE, lanes);
    Shifts((TrsvFactorKind)kind, TRSV_DOUBLE);
  }
  if (!Reduced()) Shifts(TRSV_ILU, TRSV_FLOAT);
  if (Mine()) Numbers();
  LongRows();
  ByPlan();
  if (Mine()) Analyzed();
  if (Mine()) Lost();
  if (Mine()) Fails();
}
