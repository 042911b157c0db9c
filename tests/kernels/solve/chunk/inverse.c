/*
   The algorithm `inverse`: that it takes its inverses where they are harmless and leaves them where they are not.
*/
#include "check.h"

static void Fill(const TrsvMatrix *A, void *values, double off)
{
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) Set(values, A->precision, k, A->columns[k] == i ? 1 + 0.001 * (i % 7) : off * (1 + 0.01 * (k % 5)));
}

/* Off the diagonal 0.3 the inverse of a block stays small, with 3 it grows like 3^31; the same plan takes both, in turn. Where it grows, the
   solution is chunk's to the bit; where it does not, the sums are others. */
static void Growth(TrsvTriangle triangle, TrsvPrecision precision)
{
  const int rows   = 200;
  Triangle  T      = MakeTriangle(CHAIN, rows, triangle, TRSV_DIAGONAL_STORED, precision, 1);
  void     *values = MakeArray(precision, T.offsets[rows]), *b = MakeVector(precision, rows, 5), *x = MakeArray(precision, rows), *y = MakeArray(precision, rows);
  TrsvPlan *plan = MakePlan(&T.view, NULL, T.offsets[rows], TrsvAlgorithmFind("inverse")), *chunk = MakePlan(&T.view, NULL, T.offsets[rows], TrsvAlgorithmFind("chunk"));

  for (int pass = 0; plan && chunk && pass < 4; pass++) {
    const int grows = pass % 2;
    void     *reference;

    Fill(&T.view, values, grows ? -1.5 : 0.3);
    for (int k = 0; grows && k < T.offsets[rows]; k++) /* every fourth row starts afresh, or x would overflow */
      if (k / 2 % 40 == 0 && Get(values, precision, k) < 0) Set(values, precision, k, 1e-9);
    reference = Reference(&T.view, NULL, T.offsets[rows], values, b);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSetValues(chunk, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    ExpectError(TrsvPlanSolve(chunk, b, y, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    ExpectClose(precision, rows, x, reference, grows ? "growing" : "bounded");
    Expect((memcmp(x, y, TrsvValueSize(precision) * (size_t)rows) == 0) == grows, "pass %d: the solution has %s bits", pass, grows ? "not chunk's" : "chunk's");
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  TrsvPlanDestroy(&chunk);
  free(values);
  free(b);
  free(x);
  free(y);
  FreeTriangle(&T);
}

void TestInverse(void)
{
  for (int variant = 0; variant < 4; variant++) {
    Begin("inverse leaves blocks alone that grow, %s, %s", variant & 1 ? "upper" : "lower", variant & 2 ? "double" : "float");
    Growth((TrsvTriangle)(variant & 1), (TrsvPrecision)(variant >> 1));
    End();
  }
  TestInversePattern();
}
