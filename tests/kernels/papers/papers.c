/*
   Properties of single algorithms: level refuses very many level sets; fusion mixes threads and warps.
*/
#include "check.h"

static void CheckRefused(void)
{
  const TrsvAlgorithm *level = TrsvAlgorithmFind("level");

  Begin("level refuses more than 65536 level sets, and says so");
  for (int rows = 65536; rows <= 65537; rows++) {
    Triangle      T = MakeFrom(0, (int[]){0}, NULL, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE);
    TrsvAnalysis *analysis;
    TrsvPlan     *plan;

    FreeTriangle(&T);
    T.offsets = malloc(sizeof(int) * ((size_t)rows + 1));
    T.columns = malloc(sizeof(int) * (size_t)rows);
    for (int i = 0; i <= rows; i++) T.offsets[i] = i ? i - 1 : 0;
    for (int i = 0; i < rows; i++) T.columns[i] = i;
    T.view = (TrsvMatrix){rows, T.offsets, T.columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL};
    if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
      Expect(analysis->statistics.levels == rows, "a chain of %d rows has %d level sets", rows,
             analysis->statistics.levels);
      ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, rows - 1, NULL, level, 0, &plan),
                  rows > 65536 ? TRSV_ERR_UNSUPPORTED : TRSV_SUCCESS, "TrsvPlanCreate");
      if (rows > 65536)
        Expect(!plan && strstr(TrsvErrorMessage(), "65537") && strstr(TrsvErrorMessage(), "65536"),
               "the message does not say how many: %s", TrsvErrorMessage());
      TrsvPlanDestroy(&plan);
      TrsvAnalysisDestroy(&analysis);
    }
    FreeTriangle(&T);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Rows of 11 entries in a band, or of one entry, alternating every 32 rows or more: blocks of either kind, and mixed
   ones. */
static void MakeMixture(void)
{
  enum { ROWS = 330 };
  int *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * ROWS * 14), n = 0;

  offsets[0] = 0;
  for (int i = 0; i < ROWS; i++) {
    for (int j = i > 13 ? i - 13 : 0; j < i; j++)
      if (i / 45 % 2 || j == i - 1) columns[n++] = j;
    for (int j = i + 1; j <= i + 13 && j < ROWS; j++)
      if (i / 45 % 2 || j == i + 1) {
        columns      = realloc(columns, sizeof(int) * ((size_t)n + 64));
        columns[n++] = j;
      }
    offsets[i + 1] = n;
  }
  for (int variant = 0; variant < 8; variant++) {
    const TrsvPrecision precision = variant & 4 ? TRSV_FLOAT : TRSV_DOUBLE;
    Triangle            T         = MakeFrom(ROWS, offsets, columns, variant & 1 ? TRSV_UPPER : TRSV_LOWER,
                          variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, precision);
    void               *values = MakeValues(&T.view, 3), *b = MakeVector(precision, ROWS, 3), *reference;
    TrsvPlan           *plan;

    Begin("fusion of threads and warps, %s, %s diagonal, %s", variant & 1 ? "upper" : "lower",
          variant & 2 ? "unit" : "stored", precision ? "double" : "float");
    reference = Reference(&T.view, NULL, T.offsets[ROWS], values, b);
    plan      = MakePlan(&T.view, NULL, T.offsets[ROWS], TrsvAlgorithmFind("fusion"));
    if (plan && ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues"))
      ExpectSolves(plan, b, reference, 0, Reduced() ? 4 : 24, "TrsvPlanSolve");
    TrsvPlanDestroy(&plan);
    free(values);
    free(b);
    free(reference);
    FreeTriangle(&T);
    End();
  }
  free(offsets);
  free(columns);
}

void TestPapers(void)
{
  CheckRefused();
  MakeMixture();
}
