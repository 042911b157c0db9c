/*
   The analysis: transposes, the table of algorithms and the selection. Statistics are in statistics.c, wrong structures
   in structure.c.
*/
#include "check.h"

static void TestTranspose(void)
{
  Begin("transposed twice");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 4; variant++) {
      Triangle   A   = MakeTriangle((Shape)shape, shape == DIAGONAL ? variant : 64, (TrsvTriangle)(variant & 1),
                                    (TrsvDiagonal)(variant >> 1), TRSV_FLOAT, 3);
      const int  nnz = A.offsets[A.view.rows];
      TrsvMatrix T, back;
      int       *made[2] = {NULL, NULL};
      const int *source[2];

      if (ExpectError(TrsvTranspose(&A.view, &T, &made[0], &source[0]), TRSV_SUCCESS, "TrsvTranspose") &&
          ExpectError(TrsvTranspose(&T, &back, &made[1], &source[1]), TRSV_SUCCESS, "TrsvTranspose")) {
        Expect(T.triangle != A.view.triangle && T.diagonal == A.view.diagonal && T.precision == A.view.precision,
               "the transpose is of another kind");
        Expect(back.rows == A.view.rows && back.triangle == A.view.triangle &&
                 !memcmp(back.offsets, A.offsets, sizeof(int) * (size_t)(back.rows + 1)) &&
                 !memcmp(back.columns, A.columns, sizeof(int) * (size_t)nnz),
               "%s is not the same", ShapeName[shape]);
        for (int k = 0; k < nnz; k++)
          Expect(source[0][source[1][k]] == k, "entry %d comes from entry %d", k, source[0][source[1][k]]);
        for (int i = 0; i < T.rows; i++)
          for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++)
            Expect(A.columns[source[0][k]] == i, "entry %d is from another column", k);
      }
      TrsvFree(TRSV_HOST, made[0]);
      TrsvFree(TRSV_HOST, made[1]);
      FreeTriangle(&A);
    }
  End();
}

static void TestTable(void)
{
  const TrsvAlgorithm *a;
  int                  n = 0;

  Begin("table of algorithms");
  for (; (a = TrsvAlgorithmGet(n)); n++) {
    Expect(TrsvAlgorithmFind(TrsvAlgorithmName(a)) == a, "%s is not found, or is there twice", TrsvAlgorithmName(a));
    const TrsvAlgorithmTexts texts = TrsvAlgorithmDescribe(a);

    Expect(*texts.summary && *a->source, "%s has no summary or no source", TrsvAlgorithmName(a));
    Expect(!texts.citation || *texts.citation == '@', "%s: the citation is no BibTeX", TrsvAlgorithmName(a));
  }
  Expect(n >= 3, "%d algorithms", n);
  Expect(!TrsvAlgorithmGet(-1) && !TrsvAlgorithmGet(n + 1) && !TrsvAlgorithmFind("") && !TrsvAlgorithmFind("none"),
         "there is what should not be");
  End();

  Begin("selection");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int rows = 0; rows < 200; rows += 1 + 3 * rows) {
      Triangle      T = MakeTriangle((Shape)shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
      TrsvAnalysis *analysis;
      TrsvChoice    c;

      if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
        for (int s = TRSV_SELECT_MODEL; s <= TRSV_SELECT_GRANULARITY; s++) {
          c = TrsvSelect(&analysis->statistics, TRSV_HOST, TRSV_DOUBLE, (TrsvSelection)s);
          Expect(c.algorithm && TrsvAlgorithmMemory(c.algorithm) == TRSV_HOST && *c.reason, "on the host, %s %d",
                 ShapeName[shape], rows);
          c = TrsvSelect(&analysis->statistics, TRSV_DEVICE, TRSV_FLOAT, (TrsvSelection)s);
          Expect(c.algorithm && TrsvAlgorithmMemory(c.algorithm) == TRSV_DEVICE && *c.reason, "on the device, %s %d",
                 ShapeName[shape], rows);
          Expect((c.predicted > 0) == (s == TRSV_SELECT_MODEL) && memchr(c.reason, 0, sizeof(c.reason)),
                 "predicted %g, %s %d", c.predicted, ShapeName[shape], rows);
        }
        TrsvAnalysisDestroy(&analysis);
      }
      FreeTriangle(&T);
    }
  End();
}

void TestAnalysis(void)
{
  TestTable();
  TestStatistics();
  TestStructure();
  TestTranspose();
}
