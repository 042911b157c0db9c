/*
   Triangles whose diagonal blocks have large inverses: graded, nearly singular, and such that the inverse grows by a
   factor from row to row. Algorithms that invert blocks must not lose digits.
*/
#include "check.h"

typedef enum {
  GRADED,          /* rows fall from 1 to 1e-24; some entries in blocks are as large as their column's diagonal */
  NEARLY_SINGULAR, /* single pivots of 1e-9 among entries of 1; with small factors of 0.3 */
  GROWING,         /* all entries of a row are -factor: the inverse of a block grows like (1 + factor)^31 */
  KAHAN,           /* -c off the diagonal, powers of s on it */
  KINDS
} Kind;

static const char *const names[] = {"graded", "nearly singular", "growing", "Kahan's"};

static double DiagonalEntry(Kind kind, int i, int rows, double factor)
{
  switch (kind) {
  case GRADED: return pow(10, -24. * i / rows);
  case NEARLY_SINGULAR: return i % 11 != 5 ? 1 : factor < 0.2 ? 0.3 : 1e-9;
  case GROWING: return 1;
  default: return pow(sqrt(1 - factor * factor / 4), i % 64);
  }
}

static double OffDiagonalEntry(Kind kind, int i, int j, int rows, double factor, Random *r)
{
  if (i / 32 != j / 32) return 0.01 * RandomReal(r) * (kind == GRADED ? DiagonalEntry(kind, i, rows, factor) : 1);
  switch (kind) {
  case GRADED: return RandomReal(r) * DiagonalEntry(kind, RandomBelow(r, 8) ? i : j, rows, factor) * factor;
  case NEARLY_SINGULAR: return factor * RandomReal(r);
  case GROWING: return -factor * (1 + 0.01 * RandomReal(r));
  default: return -factor / 2 * DiagonalEntry(kind, i, rows, factor);
  }
}

static void *FillValues(const TrsvMatrix *T, Kind kind, double factor)
{
  Random r      = 31;
  void  *values = MakeArray(T->precision, T->offsets[T->rows]);

  for (int p = 0; p < T->rows; p++) {
    const int i = T->triangle == TRSV_LOWER ? p : T->rows - 1 - p;

    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const int c = T->columns[k], q = T->triangle == TRSV_LOWER ? c : T->rows - 1 - c;

      Set(values, T->precision, k,
          p == q ? DiagonalEntry(kind, p, T->rows, factor) : OffDiagonalEntry(kind, p, q, T->rows, factor, &r));
    }
  }
  return values;
}

/* b = T x for an x of ordinary size, so that large inverses lead to cancellation. */
static void Multiply(const TrsvMatrix *T, const void *values, const void *x, void *b)
{
  for (int i = 0; i < T->rows; i++) {
    double sum = 0;

    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++)
      sum += Get(values, T->precision, k) * Get(x, T->precision, T->columns[k]);
    Set(b, T->precision, i, sum);
  }
}

/* |b - T x| by rows, relative to |T| |x| + |b| */
static double BackwardError(const TrsvMatrix *T, const void *values, const void *b, const void *x)
{
  double worst = 0;

  for (int i = 0; i < T->rows; i++) {
    double r = Get(b, T->precision, i), size = fabs(r);

    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const double product = Get(values, T->precision, k) * Get(x, T->precision, T->columns[k]);

      r -= product;
      size += fabs(product);
    }
    if (!(fabs(r) <= worst * size)) worst = fabs(r) / size;
  }
  return worst;
}

/* Does the plan invert blocks with its present values? */
static int IsInverted(const TrsvPlan *plan)
{
  char line[TRSV_SETTINGS];

  TrsvPlanDescribe(plan, line, sizeof(line));
  return !strncmp(line, "blocks=", 7) && strncmp(line, "blocks=1 ", 9);
}

/* Counts the cases with inverted blocks and those without. */
static void CheckSweep(const TrsvAlgorithm *a, Shape shape, Kind kind, TrsvTriangle triangle, TrsvPrecision precision,
                       int inverted[2])
{
  static const double factors[] = {0.03, 0.1, 0.3, 0.5, 0.8, 1, 1.3};
  const int           rows      = 160;
  const double        bound     = precision == TRSV_FLOAT ? 1e-5 : 1e-12;
  Triangle            T         = MakeTriangle(shape, rows, triangle, TRSV_DIAGONAL_STORED, precision, 3);
  TrsvPlan           *plan      = MakePlan(&T.view, NULL, T.offsets[rows], a);
  void               *b = MakeArray(precision, rows), *x = MakeArray(precision, rows);
  void               *meant = MakeVector(precision, rows, 8);

  for (size_t f = 0; plan && f < sizeof(factors) / sizeof(factors[0]); f++) {
    void  *values = FillValues(&T.view, kind, factors[f]);
    void  *reference;
    double error, serial;
    int    finite;

    Multiply(&T.view, values, meant, b);
    reference = Reference(&T.view, NULL, T.offsets[rows], values, b);
    finite    = reference != NULL;
    for (int i = 0; finite && i < rows; i++) finite = isfinite(Get(reference, precision, i)) != 0;
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    if (finite) {
      error  = BackwardError(&T.view, values, b, x);
      serial = BackwardError(&T.view, values, b, reference);
      inverted[IsInverted(plan)]++;
      Expect(serial <= bound, "%s, factor %g: serial has an error of %g", ShapeName[shape], factors[f], serial);
      Expect(error <= bound, "%s, factor %g, %s: an error of %g, serial's is %g", ShapeName[shape], factors[f],
             IsInverted(plan) ? "inverted" : "not inverted", error, serial);
    }
    free(values);
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  free(b);
  free(x);
  free(meant);
  FreeTriangle(&T);
}

void TestGrowth(void)
{
  static const Shape   shapes[] = {BAND, CHAIN, DENSE};
  const TrsvAlgorithm *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));) {
    if (a != FindTested("chunk, inverted") && a != FindTested("dense")) continue; /* other algorithms invert nothing */
    for (int kind = 0; kind < KINDS; kind++) {
      int inverted[2] = {0, 0};

      Begin("%s triangles, backward error, %s", names[kind], TrsvAlgorithmName(a));
      for (int variant = 0; variant < (Reduced() ? 2 : 4); variant++)
        for (int s = 0; s < 3; s++)
          CheckSweep(a, shapes[s], (Kind)kind, (TrsvTriangle)(variant & 1), (TrsvPrecision)(variant >> 1), inverted);
      if (a == FindTested("chunk, inverted")) /* both kinds of plans occurred */
        Expect(inverted[0] && inverted[1], "blocks were inverted %d times, and %d times not", inverted[1], inverted[0]);
      End();
    }
  }
}
