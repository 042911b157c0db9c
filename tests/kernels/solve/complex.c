/*
   Complex values: serial, the reference for all others, compared with C's own arithmetic; the other algorithms
   compared with serial; pairs; algorithms that refuse complex values. numbers.c and waits.c have cases of complex
   values, too.
*/
#include <complex.h>
#include "check.h"

static double complex EntryAt(const void *a, TrsvPrecision p, int i)
{
  return CMPLX(Get(a, p, 2 * i), Get(a, p, 2 * i + 1));
}

/* Is the residual of T x = b, or of its transpose, at the level of rounding? */
static void CheckResiduals(const TrsvMatrix *T, int transposed, const void *values, const void *b, const void *x,
                           const char *where)
{
  const TrsvPrecision p     = T->precision;
  double complex     *r     = calloc((size_t)T->rows + 1, sizeof(*r));
  double             *scale = calloc((size_t)T->rows + 1, sizeof(*scale));

  for (int i = 0; i < T->rows; i++) {
    r[i] += EntryAt(b, p, i);
    if (T->diagonal == TRSV_DIAGONAL_UNIT) r[i] -= EntryAt(x, p, i);
    scale[i] += cabs(EntryAt(b, p, i)) + cabs(EntryAt(x, p, i));
    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const int            to = transposed ? T->columns[k] : i, from = transposed ? i : T->columns[k];
      const double complex term = EntryAt(values, p, k) * EntryAt(x, p, from);

      r[to] -= term;
      scale[to] += cabs(term);
    }
  }
  for (int i = 0; i < T->rows; i++)
    Expect(cabs(r[i]) <= (TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-5 : 1e-14) * scale[i],
           "%s: the residual of row %d is %g of %g", where, i, cabs(r[i]), scale[i]);
  free(r);
  free(scale);
}

static void CheckSerial(TrsvPrecision p, Shape shape, int variant)
{
  const int  transposed = variant >> 2;
  Triangle   T          = MakeTriangle(shape, 100, (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1 & 1), p, 3);
  void      *values = MakeValues(&T.view, 5), *b = MakeVector(p, 100, 6), *x;
  TrsvMatrix A      = T.view;
  int       *made   = NULL;
  const int *source = NULL;

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
static void CheckExtremes(TrsvPrecision p)
{
  static const double factor[]  = {1, 1e-30, 1e30, 1e-300, 1e300};
  const int           offsets[] = {0, 1};
  const int           columns[] = {0};
  Triangle            T         = MakeFrom(1, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, p);

  for (int k = 0; k < (TrsvRealPrecision(p) == TRSV_FLOAT ? 3 : 5); k++)
    for (int n = 0; n < 8; n++) {
      const double re = (n & 1 ? -3 : 3) * (n & 4 ? 4. / 3 : 1) * factor[k],
                   im = (n & 2 ? -4 : 4) * (n & 4 ? .75 : 1) * factor[k];
      void *d = MakeArray(p, 1), *b = MakeArray(p, 1), *x;

      Set(d, p, 0, re), Set(d, p, 1, im), Set(b, p, 0, 1);
      x = Reference(&T.view, NULL, 1, d, b);
      if (x) {
        const double complex quotient = EntryAt(x, p, 0),
                             right    = CMPLX(re / factor[k] / 25, -im / factor[k] / 25) / factor[k];

        Expect(cabs(quotient - right) <= 1e-6 * cabs(right), "1 / (%g + %g i) is %g + %g i", re, im, creal(quotient),
               cimag(quotient));
      }
      free(d);
      free(b);
      free(x);
    }
  FreeTriangle(&T);
}

/* Shapes, sizes, triangles, diagonals, transposes, schedules. */
static void CheckComplexSolves(const TrsvAlgorithm *a, TrsvPrecision p)
{
  static const int sizes[]    = {0, 1, 2, 31, 33, 129, 257};
  static const int variants[] = {0, 3, 5, 6};

  for (int v = 0; v < (Reduced() ? 2 : 4); v++) {
    const int          transposed = variants[v] >> 2;
    const TrsvTriangle triangle   = variants[v] & 1 ? TRSV_UPPER : TRSV_LOWER;
    const TrsvDiagonal diagonal   = v & 1 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED;

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
      if (!Reduced() || sizes[s] < 100) CheckSolves(RANDOM, sizes[s], a, transposed, triangle, diagonal, p, 2);
    for (int shape = DIAGONAL; shape < SHAPES; shape++)
      CheckSolves((Shape)shape,
                  shape == DENSE     ? 70
                  : shape == GRID_3D ? 216
                                     : 121,
                  a, transposed, triangle, diagonal, p, 2);
  }
}

static void CheckSchedules(const TrsvAlgorithm *a, TrsvPrecision p)
{
  static const Shape shapes[] = {RANDOM, CHAIN, GRID_2D};

  for (int s = 0; s < 3; s++)
    CheckSolves(shapes[s], 100, a, s & 1, TRSV_LOWER, TRSV_DIAGONAL_STORED, p, ScheduleCount(4, 32));
}

/* The solution by serial with T or its transpose. Row i is row b_index[i] of b and row x_index[i] of x. */
static void *CheckPlaced(const Triangle *T, int transposed, const int *b_index, const int *x_index, const void *values,
                         const void *b)
{
  const TrsvPrecision p    = T->view.precision;
  const int           rows = T->view.rows;
  const size_t        size = TrsvValueSize(p);
  char               *own = MakeArray(p, rows), *x = MakeArray(p, rows), *solved;
  TrsvMatrix          A      = T->view;
  int                *made   = NULL;
  const int          *source = NULL;

  if (transposed) ExpectError(TrsvTranspose(&T->view, &A, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
  for (int i = 0; i < rows; i++)
    memcpy(own + size * (size_t)i, (const char *)b + size * (size_t)(b_index ? b_index[i] : i), size);
  solved = Reference(&A, source, T->offsets[rows], values, own);
  for (int i = 0; solved && i < rows; i++)
    memcpy(x + size * (size_t)(x_index ? x_index[i] : i), solved + size * (size_t)i, size);
  free(made);
  free(own);
  free(solved);
  return x;
}

/* L and U, or their transposes, with orders of rows and of columns: by one algorithm, or by the chosen one. */
static void CheckPair(const TrsvAlgorithm *a, TrsvPrecision p, int transposed, int ordered, unsigned seed)
{
  const int rows = 120;
  Random    r    = seed;
  Triangle  L    = MakeTriangle(RANDOM, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, p, seed),
           U     = MakeTriangle(GRID_2D, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, p, seed);
  void *l = MakeValues(&L.view, seed), *u = MakeValues(&U.view, seed + 1), *b = MakeVector(p, rows, seed),
       *x = MakeArray(p, rows), *kept = MakeArray(p, rows);
  int       row[120], column[120];
  TrsvPair *pair;

  Shuffle(&r, rows, row);
  Shuffle(&r, rows, column);
  const int *const        first     = !ordered   ? NULL
                                    : transposed ? column
                                                 : row,
                   *const last      = !ordered   ? NULL
                                    : transposed ? row
                                                 : column;
  void *const             y         = CheckPlaced(transposed ? &U : &L, transposed, first, NULL, transposed ? u : l, b),
              *const      reference = CheckPlaced(transposed ? &L : &U, transposed, NULL, last, transposed ? l : u, y);
  if (ExpectError(TrsvPairCreate(&L.view, &U.view, ordered ? row : NULL, ordered ? column : NULL, transposed,
                                 TRSV_DEVICE, TRSV_SELECT_MODEL, a, a, &pair),
                  TRSV_SUCCESS, "TrsvPairCreate"))
    ExpectError(TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues");
  for (unsigned s = 0; pair && s < 4; s++) {
    SimtSchedule(seed + s);
    memset(x, 0xcd, TrsvValueSize(p) * (size_t)rows);
    if (s < 3) ExpectError(TrsvPairSolve(pair, b, x, NULL), TRSV_SUCCESS, "TrsvPairSolve");
    else {
      ExpectError(TrsvPlanSolve(pair->forward.plan, b, kept, NULL), TRSV_SUCCESS, "the solve with L");
      ExpectError(TrsvPlanSolveNext(pair->backward.plan, kept, x, NULL), TRSV_SUCCESS, "the solve with U");
    }
    ExpectClose(p, rows, x, reference, transposed ? "transposed" : "as it is");
    Expect(!s || s == 3 || !memcmp(x, kept, TrsvValueSize(p) * (size_t)rows), "solve %u has other bits", s);
    if (s < 2) memcpy(kept, x, TrsvValueSize(p) * (size_t)rows);
  }
  TrsvPairDestroy(&pair);
  free(l);
  free(u);
  free(b);
  free(x);
  free(kept);
  free(y);
  free(reference);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

/* The backward error of a solution is at the level of rounding; with another imaginary part it is not. */
static void CheckErrors(TrsvPrecision p)
{
  Triangle T      = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_STORED, p, 3);
  void    *values = MakeValues(&T.view, 5), *b = MakeVector(p, 100, 6),
       *x = Reference(&T.view, NULL, T.offsets[100], values, b);
  double error;

  for (int wrong = 0; x && wrong < 2; wrong++) {
    if (wrong) Set(x, p, 101, 1.1 * Get(x, p, 101) + 0.1);
    ExpectError(TrsvDeviceError(&T.view, NULL, values, NULL, b, x, &error, NULL), TRSV_SUCCESS, "TrsvDeviceError");
    Expect(wrong ? error > 1e-3 : error < (TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-6 : 1e-15),
           "the error of %s solution is %g", wrong ? "another" : "the", error);
  }
  free(values);
  free(b);
  free(x);
  FreeTriangle(&T);
}

/* An algorithm without complex values returns an error with its name, and auto does not choose it. */
static void CheckRefusals(TrsvPrecision p)
{
  Triangle             T = MakeTriangle(GRID_2D, 100, TRSV_LOWER, TRSV_DIAGONAL_STORED, p, 3);
  TrsvAnalysis        *analysis;
  const TrsvAlgorithm *a;

  if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
    for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
      TrsvPlan *plan;

      if (TrsvAlgorithmRuns(a, p)) continue;
      ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[100], NULL, a, 0, &plan),
                  TRSV_ERR_UNSUPPORTED,
                  TrsvAlgorithmName(a));
      Expect(strstr(TrsvErrorMessage(), TrsvAlgorithmName(a)) && strstr(TrsvErrorMessage(), "complex"),
             "%s: the message is '%s'", TrsvAlgorithmName(a), TrsvErrorMessage());
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
  const TrsvAlgorithm *a;

  for (int precision = TRSV_COMPLEX_FLOAT; precision <= TRSV_COMPLEX_DOUBLE; precision++) {
    const TrsvPrecision p = (TrsvPrecision)precision;

    Begin("complex, serial, %s", PrecisionName(p));
    for (int variant = 0; variant < 8; variant++)
      for (int shape = 0; shape < SHAPES; shape++) CheckSerial(p, (Shape)shape, variant);
    CheckExtremes(p);
    End();
    for (int i = 0; (a = DeviceAlgorithm(&i));) {
      if (!(a->traits & TRSV_TAKES_COMPLEX)) continue;
      Begin("complex, %s, %s", TrsvAlgorithmName(a), PrecisionName(p));
      CheckComplexSolves(a, p);
      End();
      Begin("complex, schedules, %s, %s", TrsvAlgorithmName(a), PrecisionName(p));
      CheckSchedules(a, p);
      End();
    }
    for (int i = 0, more = 1; more;) {
      more = (a = DeviceAlgorithm(&i)) != NULL; /* the last case has no algorithm: auto chooses */
      if (a && !(a->traits & TRSV_TAKES_COMPLEX)) continue;
      Begin("complex, pairs, %s, %s", a ? TrsvAlgorithmName(a) : "auto", PrecisionName(p));
      for (int variant = 0; variant < 4; variant++) CheckPair(a, p, variant & 1, variant >> 1, (unsigned)variant);
      End();
    }
    Begin("complex, errors, %s", PrecisionName(p));
    CheckErrors(p);
    End();
    Begin("complex, refused, %s", PrecisionName(p));
    CheckRefusals(p);
    End();
  }
}
