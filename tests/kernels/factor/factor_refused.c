/*
   What the factorization refuses, and what it tells of it: shifts that are no numbers, small pivots, matrices that
   cannot be factored, orders that are no permutations, random faults.
*/
#include <limits.h>
#include "square.h"

/* Shifts that are negative or no numbers, zero limits that are no numbers; a negative zero limit, which no pivot is
   below; and a matrix that no shift helps: the attempts end soon. */
static void CheckBadShifts(void)
{
  static const double bad[] = {NAN, INFINITY, -INFINITY, -1e-3};
  Square              A     = MakeSquare(GRID_2D, 64, 1, TRSV_DOUBLE, 3);
  TrsvFactor         *f     = MakeFactor(&A, NULL, TRSV_ILU, 0);
  TrsvOutcome         o;

  Begin("factor: shifts that are none");
  for (int shift = 0; f && shift < 4; shift++)
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
      const int amount =
        shift == TRSV_SHIFT_NONZERO || shift == TRSV_SHIFT_INBLOCKS; /* the other types do not read it */
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
    Set(A.values, TRSV_DOUBLE, k, A.columns[k] == 0 ? 0 : INFINITY); /* relative to it all numbers are zero */
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

/* The outcome for small pivots in the first row of (pivot 1; 1 5), whose other entry is 1; lanes 0: pivots come first,
   else rows are factored */
static void CheckSmallPivots(int lanes)
{
  static const struct {
    const char *what;
    double      pivot;
    TrsvPivots  by;
    TrsvOutcome expected;
  } cases[] = {
    {"a negative one", -1e-3, {TRSV_SHIFT_NONE, 0, 1e-2}, {.row = 0, .attempts = 1, .pivot = 1e-3}},
    {"as large as the limit", 1e-2, {TRSV_SHIFT_NONE, 0, 1e-2}, {.row = 0, .attempts = 1, .pivot = 1e-2}},
    {"the limit times the sum with the pivot", 0.5, {TRSV_SHIFT_NONZERO, 1e-3, 0.4}, {.row = -1, .attempts = 1}},
    {"shifts that double", 0, {TRSV_SHIFT_NONZERO, 1e-3, 1e-2}, {.row = -1, .attempts = 6, .shift = 16e-3}},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Square      A = NewSquare(2, 4, TRSV_DOUBLE);
    TrsvFactor *f;
    TrsvOutcome o, expected = cases[c].expected;

    Begin("factor, %d lanes: small pivots: %s", lanes, cases[c].what);
    memcpy(A.offsets, (int[]){0, 2, 4}, 3 * sizeof(int));
    memcpy(A.columns, (int[]){0, 1, 0, 1}, 4 * sizeof(int));
    memcpy(A.values, (double[]){cases[c].pivot, 1, 1, 5}, 4 * sizeof(double));
    f = MakeFactor(&A, NULL, TRSV_ILU, lanes);
    if (f && ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &cases[c].by, &o, NULL), TRSV_SUCCESS,
                         "TrsvFactorSetValues"))
      Expect(o.row == expected.row && o.attempts == expected.attempts && fabs(o.shift - expected.shift) < 1e-15 &&
               o.pivot == expected.pivot,
             "row %d, %d attempts, shift %g, pivot %g; not %d, %d, %g, %g", o.row, o.attempts, o.shift, o.pivot,
             expected.row, expected.attempts, expected.shift, expected.pivot);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* Orders that name a row twice, or a row that there is not */
static void CheckBadOrders(void)
{
  static const int orders[][4] = {{2, 0, 2, 1}, {2, 0, 4, 1}, {2, 0, -1, 1}};
  Square           A           = MakeSquare(DENSE, 4, 1, TRSV_DOUBLE, 3);

  Begin("factor refuses orders that are no permutations");
  for (int n = 0; n < 3; n++) {
    TrsvFactor *f;

    ExpectError(TrsvFactorCreate(&(TrsvCSR){4, A.offsets, A.columns}, orders[n], TRSV_HOST, TRSV_ILU, TRSV_DOUBLE, &f),
                TRSV_ERR_ARGUMENT, "TrsvFactorCreate");
    TrsvFactorDestroy(&f);
  }
  FreeSquare(&A);
  End();
}

/* Matrices that cannot be factored, and the row that the error names */
static void CheckBadMatrices(void)
{
  static const struct {
    const char *what;
    int         entry, column, row;
  } spoils[] = {
    {"has no diagonal entry", 4, 2, 1},
    {"columns must rise", 6, 0, 2},
    {"has column 9, not in 0 to 3", 8, 9, 2},
    {"has column -1, not in 0 to 3", 0, -1, 0},
  };
  const int offsets[5] = {0, 3, 5, 9, 10}, columns[10] = {0, 1, 3, 0, 1, 0, 1, 2, 3, 3};

  for (size_t s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
    Begin("factor refuses: %s", spoils[s].what);
    for (int variant = 0; variant < 4; variant++) {
      const int   kind = variant & 1, ordered = variant & 2, order[4] = {2, 0, 3, 1};
      Square      A = NewSquare(4, 10, TRSV_DOUBLE);
      TrsvFactor *f;
      int         row = -1;

      memcpy(A.offsets, offsets, sizeof(offsets));
      memcpy(A.columns, columns, sizeof(columns));
      A.columns[spoils[s].entry] = spoils[s].column;
      ExpectError(TrsvFactorCreate(&(TrsvCSR){4, A.offsets, A.columns}, ordered ? order : NULL, TRSV_DEVICE,
                                   (TrsvFactorKind)kind, TRSV_DOUBLE, &f),
                  TRSV_ERR_STRUCTURE, "TrsvFactorCreate");
      (void)sscanf(TrsvErrorMessage(), "row %d ", &row);
      Expect(!f && row == spoils[s].row && strstr(TrsvErrorMessage(), spoils[s].what), "row %d: %s", row,
             TrsvErrorMessage());
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
    }
    End();
  }
}

/* Do offsets start at 0 and never fall or exceed the last; do the columns of each row ascend, with the diagonal among
   them? */
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

/* Small matrices in which up to two numbers are replaced, in the natural order and in another one */
static void CheckRandomFaults(void)
{
  enum { ROWS = 8 };
  Random rng     = 11;
  int    refused = 0, taken = 0;

  Begin("factor: random faults");
  for (int n = 0; n < (Reduced() ? 200 : 1000); n++) {
    const int rows     = 1 + RandomBelow(&rng, ROWS),
              values[] = {-1, INT_MIN, INT_MAX, rows, RandomBelow(&rng, ROWS), RandomBelow(&rng, ROWS * ROWS)};
    Square      A      = NewSquare(rows, ROWS * ROWS, TRSV_DOUBLE);
    int         stored = 0, order[ROWS], sound;
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
    error = TrsvFactorCreate(&(TrsvCSR){rows, A.offsets, A.columns}, n & 2 ? order : NULL, TRSV_HOST,
                             (TrsvFactorKind)(n & 1), TRSV_DOUBLE, &f);
    Expect(sound ? !error : error == TRSV_ERR_STRUCTURE, "matrix %d, %s: error %d: %s", n,
           sound ? "sound" : "not sound", (int)error, error ? TrsvErrorMessage() : "");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(taken > 50 && refused > 50, "%d taken, %d refused", taken, refused);
  End();
}

void TestFactorRefused(void)
{
  CheckBadMatrices();
  CheckBadOrders();
  CheckBadShifts();
  for (int lanes = 0; lanes < 8; lanes += 4) CheckSmallPivots(lanes);
  CheckRandomFaults();
}
