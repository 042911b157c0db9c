/*
   Pivots by a plan for L (src/kernels/factor/factor_pivots.cu): if the plan finds them, nothing else is made for
   them; if it cannot, the launch without a plan has the same outcome.
*/
#include "solve/chunk/chunk.h"
#include "square.h"

/* chunks, length, width, cluster, ring, stages, import_lifetime, steps_l2, steps_cluster */
static const TrsvChunkSettings forced[] = {
  {1, 2, 32, 1, 2048, 8, -1, 8, 4}, /* rows of three are cut: partial sums */
  {5, 3, 32, 2, 2048, 6, -1, 8, 4},
  {6, 5, 32, 1, 2048, 8, 1, 8, 4},
};

enum { FORCED = sizeof(forced) / sizeof(forced[0]) };

/* Sets L's values and solves L x = b. */
static void SolveByPlan(TrsvPlan *plan, const void *l, int rows, TrsvPrecision precision, const void *b, void *x)
{
  memset(x, 0xa5, TrsvValueSize(precision) * (size_t)rows);
  ExpectError(TrsvPlanSetValues(plan, l, TRSV_DEVICE, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
  ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
}

/* A without every third entry off the diagonal: an unsymmetric pattern, in which a row may depend on another that has
   no entry for it */
static Square RemoveEntries(const Square *A)
{
  Square B = NewSquare(A->rows, A->nnz, A->precision);
  int    n = 0;

  B.offsets[0] = 0;
  for (int i = 0; i < A->rows; i++) {
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      if (A->columns[k] != i && (7 * i + 5 * A->columns[k]) % 3 == 0) continue;
      B.columns[n] = A->columns[k];
      Set(B.values, B.precision, n++, Get(A->values, A->precision, k));
    }
    B.offsets[i + 1] = n;
  }
  B.nnz = n;
  return B;
}

/* The values by the plan are right, and the plan then solves as one that has found no pivots. */
static void CheckFound(Shape shape, TrsvFactorKind kind, TrsvPrecision precision, int thin)
{
  Begin("factor %s, %s by a plan: %s%s", kind == TRSV_ICC ? "icc" : "ilu", precision == TRSV_FLOAT ? "float" : "double",
        thin ? "unsymmetric " : "", ShapeName[shape]);
  for (int s = shape == CHAIN ? 0 : -1; s < (int)FORCED;
       s++) { /* a chain's own settings have narrow steps, for which there is no such launch */
    Square whole       = MakeSquare(shape, 700, kind == TRSV_ICC || s % 2, precision, 11),
           A           = thin ? RemoveEntries(&whole) : Permuted(&whole, NULL);
    int        *order  = s == 1 ? MakeOrder(A.rows, 3) : NULL;
    TrsvFactor *f      = MakeFactor(&A, order, kind, 0);
    const int   pivots = f && f->pivots;
    TrsvMatrix  L, U;
    const void *l, *u;
    TrsvPlan   *plan, *other;
    void       *x[2];

    TrsvDeviceFree(order);
    FreeSquare(&whole);
    if (!Expect(pivots, "not a pattern where only pivots depend on each other")) {
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      continue;
    }
    if (s >= 0) TrsvChunkSettingsOverride(&forced[s]);
    plan  = MakeLower(f);
    other = MakeLower(f);
    TrsvChunkSettingsOverride(NULL);
    Expect(TrsvPlanFindsPivots(plan), "the plan finds no pivots");
    TrsvFactorReleaseWorkspace(f, plan);
    Expect(!f->analysis, "the analysis is still there");
    CheckNumericBy(f, plan, &A, kind, &Plain, 3, "by a plan");
    Expect(!f->row_of_group, "they were found without it");
    TrsvFactorTriangles(f, &L, &U, &l, &u);
    for (int i = 0; i < 2; i++) {
      x[i] = malloc(TrsvValueSize(precision) * (size_t)A.rows);
      SolveByPlan(i ? other : plan, l, A.rows, precision, u,
                  x[i]); /* u serves as b: it has at least as many values as there are rows */
    }
    Expect(!memcmp(x[0], x[1], TrsvValueSize(precision) * (size_t)A.rows),
           "the plan solves otherwise than one that has found no pivots");
    for (int i = 0; i < 2; i++) free(x[i]);
    TrsvPlanDestroy(&plan);
    TrsvPlanDestroy(&other);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* Pivots that are small by cancellation: L U still equals A up to rounding of the terms, entry by entry, because L is
   computed from the reciprocals of the pivots in U. */
static void CheckSmallPivots(TrsvFactorKind kind)
{
  const TrsvPivots p = {TRSV_SHIFT_NONE, 0, 0};
  Square           A = MakeSquare(GRID_2D, 400, 1, TRSV_DOUBLE, 7);
  TrsvFactor      *f = MakeFactor(&A, NULL, kind, 0);
  TrsvPlan        *plan;
  TrsvMatrix       L, U;
  TrsvOutcome      o;
  const void      *l, *u;

  Begin("factor %s by a plan: pivots of which little is left", kind == TRSV_ICC ? "icc" : "ilu");
  if (f) {
    plan = MakeLower(f);
    for (int small = 0; small <= 2; small++) { /* rows whose pivots have been made small */
      const int row  = 150 + 60 * small;
      double    most = 0, own = 0;

      ExpectError(TrsvFactorSetValues(f, plan, NULL, A.values, &p, &o, NULL), TRSV_SUCCESS, "TrsvFactorSetValues");
      TrsvFactorTriangles(f, &L, &U, &l, &u);
      for (int i = 0; i < A.rows; i++) {
        double sum = 0, size = 0;

        for (int k = L.offsets[i]; k < L.offsets[i + 1]; k++) {
          const int j  = L.columns[k];
          int       at = A.offsets[i];

          while (A.columns[at] != j) at++;
          const double a = Get(A.values, TRSV_DOUBLE, at),
                       ratio =
                         ((const double *)l)[k] * ((const double *)u)[U.offsets[j]] / a; /* its values are symmetric */

          most = fmax(most, fabs(ratio - 1));
          sum += ((const double *)l)[k] * a;
          size += fabs(((const double *)l)[k] * a);
        }
        for (int at = A.offsets[i]; at < A.offsets[i + 1]; at++)
          if (A.columns[at] == i)
            own = fmax(own, fabs(sum + ((const double *)u)[U.offsets[i]] - Get(A.values, TRSV_DOUBLE, at)) /
                              (size + fabs(Get(A.values, TRSV_DOUBLE, at))));
      }
      Expect(o.row < 0 && !f->row_of_group, "row %d, found %s", o.row, f->row_of_group ? "without the plan" : "by it");
      Expect(most < 1e-15 && own < 1e-14, "%d small pivots: L U is off by %g of an entry, %g of a diagonal's terms",
             small, most, own);
      for (int at = A.offsets[row]; at < A.offsets[row + 1]; at++)
        if (A.columns[at] == row)
          Set(A.values, TRSV_DOUBLE, at,
              Get(A.values, TRSV_DOUBLE, at) - (1 - 1e-11) * ((const double *)u)[U.offsets[row]]);
    }
    TrsvPlanDestroy(&plan);
  }
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

/* Matrices whose pivots a plan cannot find: this is detected, and the launch without a plan finds them. */
static void CheckNotFound(TrsvFactorKind kind)
{
  static const struct {
    const char *what;
    int         exponent; /* the matrix is multiplied by two to this power */
    int         zero;     /* the first row of a zero diagonal, -1: none */
    double      small;    /* a factor for another diagonal */
    TrsvShift   shift;
    int         without; /* are they found without the plan? */
  } cases[] = {
    {"products below the range", -600, -1, 1, TRSV_SHIFT_NONE, 1},
    {"products above the range", 600, -1, 1, TRSV_SHIFT_NONE, 1},
    {"a zero diagonal that fills", 0, 40, 1, TRSV_SHIFT_NONE, 1},
    {"a zero pivot", 0, 0, 1, TRSV_SHIFT_NONE, 1},
    {"a zero pivot, shifted", 0, 0, 1, TRSV_SHIFT_NONZERO, 1},
    {"a zero pivot in blocks", 0, 0, 1, TRSV_SHIFT_INBLOCKS, 1},
    {"a negative pivot", 0, -1, -1, TRSV_SHIFT_POSITIVE_DEFINITE, 1},
    {"a negative pivot that may be", 0, -1, -1, TRSV_SHIFT_NONE, 0},
    {"a small pivot", 0, -1, 0.02, TRSV_SHIFT_NONZERO, 0},
    {"shifts that are not needed", 0, -1, 1, TRSV_SHIFT_POSITIVE_DEFINITE, 0},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    const TrsvPivots p = {cases[c].shift, cases[c].shift == TRSV_SHIFT_INBLOCKS ? 0.25 : 1e-3,
                          cases[c].exponent ? 0 : 1e-10};
    Square           A = MakeSquare(GRID_2D, 200, 1, TRSV_DOUBLE, 5);
    TrsvFactor      *f;
    TrsvPlan        *plan;

    Begin("factor %s by a plan: %s", kind == TRSV_ICC ? "icc" : "ilu", cases[c].what);
    for (int i = 0; i < A.rows; i++)
      for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) {
        const double v = ldexp(Get(A.values, TRSV_DOUBLE, k), cases[c].exponent);

        Set(A.values, TRSV_DOUBLE, k,
            A.columns[k] != i    ? v
            : i == cases[c].zero ? 0
            : i == 30            ? cases[c].small * v
                                 : v);
      }
    f = MakeFactor(&A, NULL, kind, 0);
    if (f) {
      plan = MakeLower(f);
      TrsvFactorReleaseWorkspace(f, plan);
      CheckNumericBy(f, plan, &A, kind, &p, 2, cases[c].what);
      Expect(!f->row_of_group == !cases[c].without, "found %s", f->row_of_group ? "without the plan" : "by it");
      TrsvPlanDestroy(&plan);
    }
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* Any call fails while a matrix is factored whose pivots the plan cannot find: an error, and the next call succeeds. */
static void CheckFailures(void)
{
  Square     A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3), B = Permuted(&A, NULL);
  TrsvPivots shifted = {TRSV_SHIFT_NONZERO, 1e-3, 1e-10};

  Begin("factor by a plan: fails anywhere");
  for (int k = B.offsets[0]; k < B.offsets[1]; k++)
    if (B.columns[k] == 0) Set(B.values, TRSV_DOUBLE, k, 0);
  for (long k = 1, failed = 1; failed && k < 200; k++) {
    TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, 0);
    TrsvPlan   *plan;
    TrsvOutcome o;
    TrsvError   error;

    if (!f) break;
    plan = MakeLower(f);
    TrsvFactorReleaseWorkspace(f, plan);
    SimtFailAt(k, 0);
    error  = TrsvFactorSetValues(f, plan, NULL, B.values, &shifted, &o, NULL);
    failed = SimtFailed();
    Expect(!failed == !error, "place %ld: error %d", k, (int)error);
    SimtFailAt(0, 0);
    Expect(!plan->filled, "place %ld: L's values are said to be in a plan that could not find them", k);
    CheckNumericBy(f, plan, &B, TRSV_ILU, &shifted, 1, "afterwards");
    CheckNumericBy(f, plan, &A, TRSV_ILU, &Plain, 1, "with better values");
    TrsvPlanDestroy(&plan);
    TrsvFactorDestroy(&f);
    Expect(k > 20 || failed, "it could fail nowhere");
  }
  FreeSquare(&B);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* A lost store: the factorization returns the error, not the next call of the plan. */
static void CheckLostStore(void)
{
  int timeouts = 0;

  Begin("factor by a plan: a lost store is reported");
  for (int lose = 1; lose < 40; lose += 3) {
    Square      A = MakeSquare(GRID_2D, 400, 1, TRSV_DOUBLE, 3);
    TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, 0);
    TrsvPlan   *plan;
    TrsvOutcome o;
    TrsvError   error;

    if (!f) break;
    TrsvChunkSettingsOverride(&forced[2]);
    plan = MakeLower(f);
    TrsvChunkSettingsOverride(NULL);
    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    error                = TrsvFactorSetValues(f, plan, NULL, A.values, &Plain, &o, NULL);
    SimtDefaults();
    timeouts += error == TRSV_ERR_TIMEOUT;
    Expect(!error || error == TRSV_ERR_TIMEOUT, "error %d: %s", (int)error, TrsvErrorMessage());
    CheckNumericBy(f, plan, &A, TRSV_ILU, &Plain, 1, "afterwards");
    TrsvPlanDestroy(&plan);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(timeouts > 3, "%d timeouts", timeouts);
  End();
}

void TestFactorPlan(void)
{
  static const Shape shapes[] = {CHAIN, GRID_2D, GRID_3D};

  for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
    for (int variant = 0; variant < 4; variant++)
      if ((!Reduced() || !variant) && Mine())
        CheckFound(shapes[s], variant & 1 ? TRSV_ICC : TRSV_ILU, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE, 0);
  for (int kind = 0; kind < 2; kind++)
    if (Mine()) CheckFound(GRID_2D, (TrsvFactorKind)kind, TRSV_DOUBLE, 1);
  for (int kind = 0; kind < 2; kind++)
    if (Mine()) CheckSmallPivots((TrsvFactorKind)kind);
  for (int kind = 0; kind < 2; kind++)
    if (Mine()) CheckNotFound((TrsvFactorKind)kind);
  if (Mine()) CheckLostStore();
  if (Mine()) CheckFailures();
}
