/*
   Complex values: serial, which is the reference for all others, against C's own arithmetic; and who refuses them.
*/
#include <complex.h>
#include "check.h"

static double complex At(const void *a, TrsvPrecision p, int i) { return CMPLX(Get(a, p, 2 * i), Get(a, p, 2 * i + 1)); }

/* Are the residuals of T x = b, or of its transpose, rounding? */
static void CheckResiduals(const TrsvMatrix *T, int transposed, const void *values, const void *b, const void *x, const char *where)
{
  const TrsvPrecision p     = T->precision;
  double complex     *r     = calloc((size_t)T->rows + 1, sizeof(*r));
  double             *scale = calloc((size_t)T->rows + 1, sizeof(*scale));

  for (int i = 0; i < T->rows; i++) {
    r[i] += At(b, p, i);
    if (T->diagonal == TRSV_DIAGONAL_UNIT) r[i] -= At(x, p, i);
    scale[i] += cabs(At(b, p, i)) + cabs(At(x, p, i));
    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const int            to = transposed ? T->columns[k] : i, from = transposed ? i : T->columns[k];
      const double complex term = At(values, p, k) * At(x, p, from);

      r[to] -= term;
      scale[to] += cabs(term);
    }
  }
  for (int i = 0; i < T->rows; i++)
    Expect(cabs(r[i]) <= (TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-5 : 1e-14) * scale[i], "%s: the residual of row %d is %g of %g", where, i, cabs(r[i]), scale[i]);
  free(r);
  free(scale);
}

static void Serial(TrsvPrecision p, Shape shape, int variant)
{
  const int   transposed = variant >> 2;
  Triangle    T = MakeTriangle(shape, 100, (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1 & 1), p, 3);
  void       *values = MakeValues(&T.view, 5), *b = MakeVector(p, 100, 6), *x;
  TrsvMatrix  A      = T.view;
  int        *made   = NULL;
  const int  *source = NULL;

  if (transposed) ExpectError(TrsvTranspose(&T.view, &A, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
  x = Reference(&A, source, T.offsets[100], values, b);
  if (x) CheckResiduals(&T.view, transposed, values, b, x, ShapeName[shape]);
  free(x);
  free(made);
  free(values);
  free(b);
  FreeTriangle(&T);
}

/* The reciprocals of diagonals whose squared magnitudes overflow or vanish. */
static void Extremes(TrsvPrecision p)
{
  static const double factor[] = {1, 1e-30, 1e30, 1e-300, 1e300};
  const int           offsets[] = {0, 1};
  const int           columns[] = {0};
  Triangle            T = MakeFrom(1, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, p);

  for (int k = 0; k < (TrsvRealPrecision(p) == TRSV_FLOAT ? 3 : 5); k++)
    for (int n = 0; n < 8; n++) {
      const double re = (n & 1 ? -3 : 3) * (n & 4 ? 4. / 3 : 1) * factor[k], im = (n & 2 ? -4 : 4) * (n & 4 ? .75 : 1) * factor[k];
      void        *d = MakeArray(p, 1), *b = MakeArray(p, 1), *x;

      Set(d, p, 0, re), Set(d, p, 1, im), Set(b, p, 0, 1);
      x = Reference(&T.view, NULL, 1, d, b);
      if (x) {
        const double complex quotient = At(x, p, 0), right = CMPLX(re / factor[k] / 25, -im / factor[k] / 25) / factor[k];

        Expect(cabs(quotient - right) <= 1e-6 * cabs(right), "1 / (%g + %g i) is %g + %g i", re, im, creal(quotient), cimag(quotient));
      }
      free(d);
      free(b);
      free(x);
    }
  FreeTriangle(&T);
}

/* An algorithm that takes no complex values says so, by name, and auto chooses none of them. */
static void Refusals(TrsvPrecision p)
{
  Triangle             T = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_STORED, p, 3);
  TrsvAnalysis        *analysis;
  const TrsvAlgorithm *a;

  if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
    for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
      TrsvPlan *plan;

      if (TrsvAlgorithmRuns(a, p)) continue;
      ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[100], a, &plan), TRSV_ERR_UNSUPPORTED, TrsvAlgorithmName(a));
      Expect(strstr(TrsvErrorMessage(), TrsvAlgorithmName(a)) && strstr(TrsvErrorMessage(), "complex"), "%s: the message is '%s'", TrsvAlgorithmName(a), TrsvErrorMessage());
    }
    for (int s = TRSV_SELECT_MODEL; s <= TRSV_SELECT_GRANULARITY; s++) {
      a = TrsvSelect(&analysis->statistics, TRSV_DEVICE, p, (TrsvSelection)s).algorithm;
      Expect(!a || TrsvAlgorithmRuns(a, p), "%s is chosen", a ? TrsvAlgorithmName(a) : "");
    }
  }
  TrsvAnalysisDestroy(&analysis);
  FreeTriangle(&T);
}

void TestComplex(void)
{
  for (int precision = TRSV_COMPLEX_FLOAT; precision <= TRSV_COMPLEX_DOUBLE; precision++) {
    const TrsvPrecision p = (TrsvPrecision)precision;

    Begin("complex, serial, %s", PrecisionName(p));
    for (int variant = 0; variant < 8; variant++)
      for (int shape = 0; shape < SHAPES; shape++) Serial(p, (Shape)shape, variant);
    Extremes(p);
    End();
    Begin("complex, refused, %s", PrecisionName(p));
    Refusals(p);
    End();
  }
}
