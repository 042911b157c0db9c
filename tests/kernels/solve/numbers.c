/*
   Special numbers: NaN, Inf, zeros of either sign, denormal and huge numbers, and words with the bits of NOT_READY,
   or with half of them, have the same effect as in serial, and no wait is endless: single triangles, their
   transposes, and pairs in one launch.
*/
#include "check.h"
#include "solve/rows/level_csr.h"

static void SetBits(void *a, TrsvPrecision p, int i, uint64_t wide, uint32_t narrow)
{
  if (TrsvRealPrecision(p) == TRSV_FLOAT) memcpy((float *)a + i, &narrow, sizeof(narrow));
  else memcpy((double *)a + i, &wide, sizeof(wide));
}

/* sync.cuh */
static void SetNotReady(void *a, TrsvPrecision p, int i) { SetBits(a, p, i, 0xfff8deadbeef0001ull, 0xffc0dead); }

/* NaNs that share half a word, or all bits but one, with NOT_READY, and one of either sign */
static void SetSimilar(void *a, TrsvPrecision p, int i, int n)
{
  static const uint64_t wide[]   = {0xfff8deadbeef0002ull, 0xfff8dead00000000ull, 0x7ff8deadbeef0001ull,
                                    0xfff8000000000000ull};
  static const uint32_t narrow[] = {0xffc0deac, 0xffc0deaf, 0x7fc0dead, 0xffc00000};

  SetBits(a, p, i, wide[n % 4], narrow[n % 4]);
}

static int IsNotReady(const void *a, TrsvPrecision p, int i)
{
  const uint64_t wide   = 0xfff8deadbeef0001ull;
  const uint32_t narrow = 0xffc0dead;

  return TrsvRealPrecision(p) == TRSV_FLOAT ? !memcmp((const float *)a + i, &narrow, sizeof(narrow))
                                            : !memcmp((const double *)a + i, &wide, sizeof(wide));
}

typedef enum { IN_B, IN_VALUES, IN_DIAGONAL } Where;

typedef enum {
  A_NAN,
  AN_INF,
  BOTH_INFS, /* whose sum is NaN */
  NOT_READY,
  A_ZERO,
  LARGEST, /* overflows in between */
  TINIEST, /* a denormal number */
  SIMILAR, /* to NOT_READY */
  MINUS_ZERO,
  HUGE_ONES, /* does not overflow by itself */
  DENORMALS,
  WHATS
} What;

/* A value; of a complex one either half, or both. */
static void SpoilValue(void *a, TrsvPrecision precision, int value, What what, int n)
{
  const TrsvPrecision p  = TrsvRealPrecision(precision);
  const int           at = Reals(precision, value) + (TrsvIsComplex(precision) && n & 1);

  if (TrsvIsComplex(precision) && n == 2) SpoilValue(a, p, at + 1, what, n);
  switch (what) {
  case A_NAN: Set(a, p, at, NAN); break;
  case AN_INF: Set(a, p, at, INFINITY); break;
  case BOTH_INFS: Set(a, p, at, n & 1 ? INFINITY : -INFINITY); break;
  case NOT_READY: SetNotReady(a, p, at); break;
  case A_ZERO: Set(a, p, at, 0); break;
  case LARGEST: Set(a, p, at, p == TRSV_FLOAT ? 3e38 : 1e308); break;
  case TINIEST: Set(a, p, at, p == TRSV_FLOAT ? 1e-44 : 4e-324); break;
  case SIMILAR: SetSimilar(a, p, at, n); break;
  case MINUS_ZERO: Set(a, p, at, -0.0); break;
  case HUGE_ONES: Set(a, p, at, (n & 1 ? -1 : 1) * (p == TRSV_FLOAT ? 1e30 : 1e300)); break;
  default: Set(a, p, at, (n & 1 ? -1 : 1) * (p == TRSV_FLOAT ? 5e-39 : 1e-308)); break;
  }
}

/* Expects the result of serial; with another order of operations an overflow may give NaN instead of Inf, or not
   happen. */
static void CompareWithSerial(const TrsvAlgorithm *a, What what, TrsvPrecision precision, int rows, const void *x,
                              void *reference, const char *text)
{
  const int complex = TrsvIsComplex(precision);
  const int zero    = what == A_ZERO || what == MINUS_ZERO || what == TINIEST || what == DENORMALS;

  /* a product with Inf or NaN in either part may have either in both */
  for (int i = 0; complex && i < 2 * rows; i += 2)
    if (!(isfinite(Get(reference, precision, i)) && isfinite(Get(reference, precision, i + 1))) &&
        !(isfinite(Get(x, precision, i)) && isfinite(Get(x, precision, i + 1))))
      for (int half = i; half < i + 2; half++) Set(reference, precision, half, Get(x, precision, half));
  if (complex) rows *= 2;
  if (a->destroy != TrsvLevelCSRDestroy && zero)
    for (int i = 0; i < rows; i++)
      if (isinf(Get(reference, precision, i)) && isnan(Get(x, precision, i))) Set(reference, precision, i, NAN);
  if (what == LARGEST || what == HUGE_ONES || what == DENORMALS)
    for (int i = 0; i < rows; i++)
      if (!isfinite(Get(reference, precision, i)) || !isfinite(Get(x, precision, i)))
        Set(reference, precision, i, Get(x, precision, i));
  /* sums within a block have another form: Inf may be NaN, and NaN Inf */
  if (!strcmp(TrsvAlgorithmName(a), "chunk, inverted") || !strcmp(TrsvAlgorithmName(a), "dense"))
    for (int i = 0; i < rows; i++)
      if (!isfinite(Get(reference, precision, i)) && !isfinite(Get(x, precision, i)))
        Set(reference, precision, i, Get(x, precision, i));
  ExpectClose(TrsvRealPrecision(precision), rows, x, reference, text);
  for (int i = 0; i < rows; i++) Expect(!IsNotReady(x, precision, i), "%s: x[%d] has the bits of NOT_READY", text, i);
}

/* Replaces some numbers of a triangle, its diagonal, or b; all of b if they are denormal, so that x is denormal, too.
 */
static void SpoilSome(const Triangle *T, void *values, void *b, Where where, What what, Random *r)
{
  const TrsvPrecision p = T->view.precision;

  for (int i = 0; where == IN_B && what == DENORMALS && i < Reals(p, T->view.rows); i++)
    Set(b, p, i, Get(b, p, i) * (TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-38 : 1e-307));
  for (int n = 0; n < 4; n++) {
    const int i = RandomBelow(r, T->view.rows), first = T->offsets[i], end = T->offsets[i + 1];

    if (where == IN_B) SpoilValue(b, p, i, what, n);
    if (where == IN_VALUES && end > first) SpoilValue(values, p, first + RandomBelow(r, end - first), what, n);
    if (where == IN_DIAGONAL) SpoilValue(values, p, T->view.triangle == TRSV_LOWER ? end - 1 : first, what, n);
  }
}

/* A solve with the triangle, or with its transpose. */
static void CheckPlan(const TrsvAlgorithm *a, Shape shape, TrsvTriangle triangle, TrsvPrecision precision,
                      int transposed, Where where, What what, unsigned seed)
{
  const int  rows   = shape == CHAIN ? 40 : shape == DENSE ? 34 : 100;
  Triangle   T      = MakeTriangle(shape, rows, triangle, TRSV_DIAGONAL_STORED, precision, seed);
  void      *values = MakeValues(&T.view, seed), *b = MakeVector(precision, rows, seed);
  void      *x = MakeArray(precision, rows), *reference = NULL;
  Random     r      = seed;
  TrsvMatrix A      = T.view;
  int       *made   = NULL;
  const int *source = NULL;
  TrsvPlan  *plan;
  char       text[80];

  SpoilSome(&T, values, b, where, what, &r);
  (void)snprintf(text, sizeof(text), "%s, %s%s, %s", ShapeName[shape], triangle ? "upper" : "lower",
                 transposed ? ", transposed" : "", PrecisionName(precision));
  if (transposed) ExpectError(TrsvTranspose(&T.view, &A, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
  SimtSchedule(seed);
  plan = MakePlan(&A, source, T.offsets[rows], a);
  for (unsigned s = 0; plan && s < (Reduced() ? 1 : 2); s++) {
    reference = Reference(&A, source, T.offsets[rows], values, b);
    SimtSchedule(seed + s);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, text);
    CompareWithSerial(a, what, precision, rows, x, reference, text);
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  free(made);
  free(values);
  free(b);
  free(x);
  FreeTriangle(&T);
}

/* L with a unit diagonal, then U; the replaced numbers of U do not occur in L. */
static void CheckPair(const TrsvAlgorithm *a, TrsvPrecision precision, Where where, What what, unsigned seed)
{
  const int rows = 70;
  Triangle  L    = MakeTriangle(RANDOM, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, seed);
  Triangle  U    = MakeTriangle(BAND, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision, seed);
  void     *l = MakeValues(&L.view, seed), *u = MakeValues(&U.view, seed + 1), *b = MakeVector(precision, rows, seed);
  void     *x    = MakeArray(precision, rows), *y, *reference;
  Random    r    = seed;
  TrsvPair *pair = NULL;

  if (where == IN_DIAGONAL) SpoilSome(&U, u, b, where, what, &r);
  else SpoilSome(&L, l, b, where, what, &r);
  y         = Reference(&L.view, NULL, L.offsets[rows], l, b);
  reference = Reference(&U.view, NULL, U.offsets[rows], u, y);
  SimtSchedule(seed);
  if (ExpectError(TrsvPairCreate(&L.view, &U.view, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, a, a, &pair),
                  TRSV_SUCCESS, "TrsvPairCreate") &&
      ExpectError(TrsvPairSetValues(pair, l, u, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPairSetValues") &&
      ExpectError(TrsvPairSolve(pair, b, x, NULL), TRSV_SUCCESS, "TrsvPairSolve"))
    CompareWithSerial(a, what, precision, rows, x, reference, "pair");
  TrsvPairDestroy(&pair);
  free(l);
  free(u);
  free(b);
  free(x);
  free(y);
  free(reference);
  FreeTriangle(&L);
  FreeTriangle(&U);
}

void TestNumbers(void)
{
  static const char *const whats[]     = {"NaN",
                                          "Inf",
                                          "Inf and -Inf",
                                          "the bits of NOT_READY",
                                          "zero",
                                          "overflow",
                                          "the least denormal number",
                                          "nearly the bits of NOT_READY",
                                          "-0.0",
                                          "1e300",
                                          "denormal numbers"};
  static const char *const places[]    = {"b", "values", "the diagonal"};
  static const Shape       shapes[][2] = {{RANDOM, CHAIN}, {DENSE, BAND}};
  const TrsvAlgorithm     *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));)
    for (int what = A_NAN; what < WHATS; what++)
      for (int where = IN_B; where <= IN_DIAGONAL; where++) {
        Begin("%s in %s, %s", whats[what], places[where], TrsvAlgorithmName(a));
        for (unsigned variant = 0; variant < 8; variant += Reduced() ? 5 : 3) {
          const unsigned      seed      = 8u * (unsigned)what + variant;
          const TrsvPrecision precision = (TrsvPrecision)(variant >> 1 & 1);

          CheckPlan(a, shapes[(what + where) & 1][variant >> 2], (TrsvTriangle)(variant & 1), precision, variant == 3,
                    (Where)where, (What)what, seed);
          if (variant != 6 && a->pair) CheckPair(a, precision, (Where)where, (What)what, seed);
        }
        for (unsigned variant = 0; variant < 4 && a->traits & TRSV_TAKES_COMPLEX; variant += Reduced() ? 3 : 1) {
          const unsigned      seed      = 800 + 8u * (unsigned)what + variant;
          const TrsvPrecision precision = variant & 1 ? TRSV_COMPLEX_FLOAT : TRSV_COMPLEX_DOUBLE;

          CheckPlan(a, shapes[(what + where) & 1][variant & 1], (TrsvTriangle)(variant >> 1), precision, variant == 3,
                    (Where)where, (What)what, seed);
          if (variant == 0 && a->pair) CheckPair(a, precision, (Where)where, (What)what, seed);
        }
        End();
      }
}
