/*
   ILU(0) and IC(0) on the device against PETSc's elimination written out on the host: shapes, sizes, lanes, precisions,
   schedules, values after values; zero pivots and every shift. Long rows are in factor_long.c, pivots by a plan in
   factor_plan.c, pairs of plans in factor_pair.c, input that is refused in factor_refused.c.
*/
#include "square.h"

static void CheckShapes(TrsvFactorKind kind, TrsvPrecision precision, int lanes)
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

/* Zeros or small numbers on some diagonals */
static void CheckShifts(TrsvFactorKind kind, TrsvPrecision precision)
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
            for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) /* the first row's diagonal is exactly the pivot */
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

static void CheckBadNumbers(void)
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

/* A lost store: the wait ends with an error. */
static void CheckLostStore(void)
{
  int timeouts = 0;

  Begin("factor: a lost store is reported");
  for (int lose = 1; lose < 200; lose += 7) {
    Square      A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
    TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, lose % 2 ? 4 : 0);
    TrsvOutcome o;
    TrsvError   error;

    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    error                = TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL);
    timeouts += error == TRSV_ERR_TIMEOUT;
    Expect(!error || error == TRSV_ERR_TIMEOUT, "error %d: %s", (int)error, TrsvErrorMessage());
    SimtDefaults();
    CheckNumeric(f, &A, TRSV_ILU, &Plain, 1, "afterwards");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(timeouts > 5, "%d timeouts", timeouts);
  End();
}

/* Any call of the device fails: an error, or a factor where less memory is enough; no memory is lost, and the next call
   succeeds. */
static void CheckFailures(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square A;
    size_t live;
    int   *order, worked = 0;

    Begin("factor %s: fails anywhere", kind ? "icc" : "ilu");
    A     = MakeSquare(DENSE_ROW, kind ? 90 : 300, 1, TRSV_DOUBLE, 3);
    order = MakeOrder(A.rows, 3);
    live  = SimtLive();
    for (long k = 1, failed = 1; failed && k < 200; k++) {
      TrsvFactor *f;
      TrsvOutcome o;
      TrsvError   error;

      SimtFailAt(k, 0);
      error = TrsvFactorCreate(&(TrsvCSR){A.rows, A.offsets, A.columns}, order, TRSV_DEVICE, (TrsvFactorKind)kind,
                               TRSV_DOUBLE, &f);
      Expect(!error == !!f, "place %ld: error %d, factor %p", k, (int)error, (void *)f);
      if (!error) error = TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL);
      failed = SimtFailed();
      Expect(failed || !error, "place %ld: error %d", k, (int)error);
      worked += failed && !error;
      SimtFailAt(0, 0);
      if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, "afterwards");
      TrsvFactorDestroy(&f);
      Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
      Expect(k > 10 || failed, "it could fail nowhere");
    }
    Expect(worked > 0 && worked < 6, "%d times it worked without memory for both analyses, or for heights", worked);
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
  for (int kind = 0; kind < 2; kind++) {
    for (int lanes = 0; lanes <= 32; lanes = lanes ? (Reduced() ? 8 : 2) * lanes : 4)
      CheckShapes((TrsvFactorKind)kind, lanes == 8 ? TRSV_FLOAT : TRSV_DOUBLE, lanes);
    CheckShifts((TrsvFactorKind)kind, TRSV_DOUBLE);
  }
  if (!Reduced()) CheckShifts(TRSV_ILU, TRSV_FLOAT);
  if (Mine()) CheckBadNumbers();
  TestFactorLong();
  TestFactorPlan();
  TestFactorPair();
  if (Mine()) CheckLostStore();
  if (Mine()) CheckFailures();
}
