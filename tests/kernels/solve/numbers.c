/*
   Bad numbers: NaN, Inf, zero diagonals and words with the bits of NOT_READY pass through as they do in serial, and nothing hangs.
*/
#include "check.h"
#include "solve/rows/level_csr.h"

static void SetBits(void *a, TrsvPrecision p, int i, uint64_t wide, uint32_t narrow)
{
  if (p == TRSV_FLOAT) memcpy((float *)a + i, &narrow, sizeof(narrow));
  else memcpy((double *)a + i, &wide, sizeof(wide));
}

static void SetNotReady(void *a, TrsvPrecision p, int i) { SetBits(a, p, i, 0xfff8deadbeef0001ull, 0xffc0dead); } /* sync.cuh */

static int IsNotReady(const void *a, TrsvPrecision p, int i)
{
  const uint64_t wide   = 0xfff8deadbeef0001ull;
  const uint32_t narrow = 0xffc0dead;

  return p == TRSV_FLOAT ? !memcmp((const float *)a + i, &narrow, sizeof(narrow)) : !memcmp((const double *)a + i, &wide, sizeof(wide));
}

typedef enum {
  IN_B,
  IN_VALUES,
  IN_DIAGONAL
} Where;

typedef enum {
  A_NAN,
  AN_INF,
  BOTH_INFS, /* whose sum is NaN */
  NOT_READY,
  A_ZERO,
  LARGEST, /* overflows on the way */
  TINIEST  /* a denormal number */
} What;

static void Spoil(void *a, TrsvPrecision p, int at, What what, int n)
{
  switch (what) {
  case A_NAN: Set(a, p, at, NAN); break;
  case AN_INF: Set(a, p, at, INFINITY); break;
  case BOTH_INFS: Set(a, p, at, n & 1 ? INFINITY : -INFINITY); break;
  case NOT_READY: SetNotReady(a, p, at); break;
  case A_ZERO: Set(a, p, at, 0); break;
  case LARGEST: Set(a, p, at, p == TRSV_FLOAT ? 3e38 : 1e308); break;
  case TINIEST: Set(a, p, at, p == TRSV_FLOAT ? 1e-44 : 4e-324); break;
  }
}

/* As serial has it; where the order of operations is another one, an overflow may come out as NaN in place of Inf, or not happen. */
static void Same(const TrsvAlgorithm *a, What what, TrsvPrecision precision, int rows, const void *x, void *reference, const char *text)
{
  if (a->destroy != TrsvLevelCSRDestroy && (what == A_ZERO || what == TINIEST))
    for (int i = 0; i < rows; i++)
      if (isinf(Get(reference, precision, i)) && isnan(Get(x, precision, i))) Set(reference, precision, i, NAN);
  if (what == LARGEST)
    for (int i = 0; i < rows; i++)
      if (!isfinite(Get(reference, precision, i)) || !isfinite(Get(x, precision, i))) Set(reference, precision, i, Get(x, precision, i));
  if (!strcmp(TrsvAlgorithmName(a), "chunk, inverted") || !strcmp(TrsvAlgorithmName(a), "dense")) /* sums within a block have another form: Inf may be NaN and the other way round */
    for (int i = 0; i < rows; i++)
      if (!isfinite(Get(reference, precision, i)) && !isfinite(Get(x, precision, i))) Set(reference, precision, i, Get(x, precision, i));
  ExpectClose(precision, rows, x, reference, text);
}

static void One(const TrsvAlgorithm *a, Shape shape, TrsvTriangle triangle, TrsvPrecision precision, Where where, What what, unsigned seed)
{
  const int rows   = shape == CHAIN ? 40 : 150;
  Triangle  T      = MakeTriangle(shape, rows, triangle, TRSV_DIAGONAL_STORED, precision, seed);
  void     *values = MakeValues(&T.view, seed), *b = MakeVector(precision, rows, seed), *x = MakeArray(precision, rows), *reference;
  Random    r      = seed;
  TrsvPlan *plan   = MakePlan(&T.view, NULL, T.offsets[rows], a);
  char      text[80];

  for (int n = 0; n < 4; n++) {
    const int i = RandomBelow(&r, rows), k = T.offsets[i] + RandomBelow(&r, T.offsets[i + 1] - T.offsets[i]);

    if (where == IN_B) Spoil(b, precision, i, what, n);
    if (where == IN_VALUES) Spoil(values, precision, k, what, n);
    if (where == IN_DIAGONAL) Spoil(values, precision, triangle == TRSV_LOWER ? T.offsets[i + 1] - 1 : T.offsets[i], what, n);
  }
  (void)snprintf(text, sizeof(text), "%s, %s, %s", ShapeName[shape], triangle ? "upper" : "lower", precision ? "double" : "float");
  reference = Reference(&T.view, NULL, T.offsets[rows], values, b);
  for (unsigned s = 0; plan && reference && s < (Reduced() ? 1 : 3); s++) {
    SimtSchedule(seed + s);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, text);
    Same(a, what, precision, rows, x, reference, text);
    for (int i = 0; i < rows; i++) Expect(!IsNotReady(x, precision, i), "%s: x[%d] has the bits of NOT_READY", text, i);
  }
  TrsvPlanDestroy(&plan);
  free(values);
  free(b);
  free(x);
  free(reference);
  FreeTriangle(&T);
}

void TestNumbers(void)
{
  static const char *const whats[] = {"NaN", "Inf", "Inf and -Inf", "the bits of NOT_READY", "zero", "overflow", "denormal numbers"};
  static const char *const places[] = {"b", "values", "the diagonal"};
  const TrsvAlgorithm     *a;

  for (int i = 0; (a = DeviceAlgorithm(&i));)
    for (int what = A_NAN; what <= TINIEST; what++)
      for (int where = IN_B; where <= IN_DIAGONAL; where++) {
        Begin("%s in %s, %s", whats[what], places[where], TrsvAlgorithmName(a));
        for (unsigned variant = 0; variant < 8; variant += Reduced() ? 5 : 3) One(a, variant < 4 ? RANDOM : CHAIN, (TrsvTriangle)(variant & 1), (TrsvPrecision)(variant >> 1 & 1), (Where)where, (What)what, 8u * (unsigned)what + variant);
        End();
      }
}
