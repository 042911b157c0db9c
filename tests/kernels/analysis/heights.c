/*
   The level sets of one triangle can be the heights of the other: compared with heights that are computed row by row,
   for patterns that are symmetric, unsymmetric, and symmetric but for one entry. Then all heights, position by
   position. solve/schedule/chunk_heights.cu tests that schedules use these heights.
*/
#include <stdlib.h>
#include <string.h>
#include "executor.h"
#include "square.h"

/* The longest chain of dependents after each row. The executor's device memory is the host's. */
static void ComputeHeights(const TrsvMatrix *A, int *height)
{
  memset(height, 0, sizeof(int) * (size_t)A->rows);
  for (int p = A->rows - 1; p >= 0; p--) {
    const int i = A->triangle == TRSV_LOWER ? p : A->rows - 1 - p;

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] != i && height[A->columns[k]] <= height[i]) height[A->columns[k]] = height[i] + 1;
  }
}

static void ComputeLevels(const TrsvAnalysis *a, int *level)
{
  for (int l = 0; l < a->statistics.levels; l++)
    for (int n = a->levels[l]; n < a->levels[l + 1]; n++) level[a->order[n]] = l;
}

/* Expects that the analyses use the level sets of the other triangle if, and only if, these are its heights; returns
   how many do. */
static int CheckHeights(const Square *A, const char *what)
{
  const size_t bytes = sizeof(int) * (size_t)A->rows;
  int *const height = malloc(bytes + 1), *const level = malloc(bytes + 1), same = 0;
  TrsvFactor   *f = MakeFactor(A, NULL, TRSV_ILU, 0);
  TrsvMatrix    T[2];
  TrsvAnalysis *a[2];

  if (f) {
    TrsvFactorTriangles(f, &T[0], &T[1], NULL, NULL);
    if (ExpectError(TrsvAnalyzeBoth(&T[0], &T[1], &a[0], &a[1]), TRSV_SUCCESS, "TrsvAnalyzeBoth") &&
        ExpectError(TrsvHeightsFromTranspose(&T[0], a[0], &T[1], a[1]), TRSV_SUCCESS, "TrsvHeightsFromTranspose")) {
      const int many = a[0]->statistics.levels > TRSV_FEW_LEVELS && a[1]->statistics.levels > TRSV_FEW_LEVELS;

      for (int t = 0; t < 2; t++) {
        ComputeHeights(&T[t], height);
        ComputeLevels(a[!t], level);
        const int serves = many && !memcmp(height, level, bytes);

        same += serves;
        Expect(a[t]->heights == (serves ? a[!t] : NULL), "%s, %s: %s", what, t ? "upper" : "lower",
               serves ? "the other's levels would do" : "they are not its heights");
        if (!serves) continue;
        memset(level, -1, bytes);
        ExpectError(TrsvDeviceLevels(a[t]->heights, t, level), TRSV_SUCCESS, "TrsvDeviceLevels");
        for (int p = 0; p < A->rows; p++)
          if (!Expect(level[p] == height[t ? A->rows - 1 - p : p], "%s, %s: position %d has %d", what,
                      t ? "upper" : "lower", p, level[p]))
            break;
      }
    }
    TrsvAnalysisDestroy(&a[0]);
    TrsvAnalysisDestroy(&a[1]);
  }
  TrsvFactorDestroy(&f);
  free(height);
  free(level);
  return same;
}

/* A without its k-th entry */
static Square RemoveEntry(const Square *A, int k)
{
  Square B = NewSquare(A->rows, A->nnz - 1, A->precision);

  for (int i = 0; i <= A->rows; i++) B.offsets[i] = A->offsets[i] - (A->offsets[i] > k);
  memcpy(B.columns, A->columns, sizeof(int) * (size_t)k);
  memcpy(B.columns + k, A->columns + k + 1, sizeof(int) * (size_t)(A->nnz - 1 - k));
  FillSquare(&B, 0, 1, 1);
  return B;
}

static void CheckShapes(void)
{
  static const int rows[] = {1, 40, 257, 600};
  int              both = 0, none = 0;

  Begin("heights: symmetric patterns and others");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int n = 0; n < (Reduced() ? 3 : 4); n++)
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        Square    A    = MakeSquare((Shape)shape, shape == DENSE ? rows[n] / 3 + 1 : rows[n], symmetric, TRSV_DOUBLE,
                                    (unsigned)(shape + n));
        const int same = CheckHeights(&A, ShapeName[shape]);

        both += same == 2;
        none += !same;
        FreeSquare(&A);
      }
  Expect(both > 4 && none > 4, "%d patterns have levels that are heights, %d have none", both, none);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Without one entry, the heights of a chain change; those of a grid may not; in a band two rows that depend on each
   other may get the same height. */
static void CheckMissingEntry(void)
{
  int lost = 0;

  Begin("heights: one entry is missing");
  for (int n = 0; n < 3; n++) {
    static const Shape shapes[] = {CHAIN, GRID_2D, BAND};
    Square             A        = MakeSquare(shapes[n], 400, 1, TRSV_DOUBLE, 1);

    Expect(CheckHeights(&A, "whole") == 2, "symmetric, and the levels do not serve");
    for (int i = 7; i < A.rows; i += Reduced() ? 90 : 30)
      for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) {
        if (A.columns[k] == i) continue;
        Square B = RemoveEntry(&A, k);

        lost += CheckHeights(&B, "one less") < 2;
        FreeSquare(&B);
      }
    FreeSquare(&A);
  }
  Expect(lost > 4, "only %d times was anything lost", lost);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* TrsvAnalyzeBoth fails anywhere: if there is no memory for both analyses, there may be for one. Then
   TrsvHeightsFromTranspose fails anywhere: it needs no memory to succeed. */
static void CheckFailures(void)
{
  Square        A = MakeSquare(GRID_2D, 900, 1, TRSV_DOUBLE, 1);
  TrsvFactor   *f = MakeFactor(&A, NULL, TRSV_ILU, 0);
  TrsvMatrix    T[2];
  TrsvAnalysis *a[2]   = {NULL, NULL};
  int           worked = 0, failures = 0, apart = 0;

  Begin("heights: fails anywhere");
  if (f) TrsvFactorTriangles(f, &T[0], &T[1], NULL, NULL);
  for (long k = 1, failed = 1; f && failed; k++) {
    const size_t live = SimtLive();

    SimtFailAt(k, 0);
    const TrsvError error = TrsvAnalyzeBoth(&T[0], &T[1], &a[0], &a[1]);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!a[0] && !error == !!a[1] && (failed || !error), "place %ld: error %d, analyses %p and %p", k,
           (int)error, (void *)a[0], (void *)a[1]);
    if (!error && a[0] && a[1])
      Expect(a[0]->statistics.levels == 59 && a[1]->statistics.levels == 59 && !a[0]->heights && !a[1]->heights,
             "place %ld: %d and %d level sets", k, a[0]->statistics.levels, a[1]->statistics.levels);
    worked += failed && !error;
    failures += !!error;
    if (failed) {
      TrsvAnalysisDestroy(&a[0]);
      TrsvAnalysisDestroy(&a[1]);
    }
    Expect(!failed || SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
  }
  for (long k = 1, failed = 1; f && a[0] && a[1] && failed; k++) {
    a[0]->heights = a[1]->heights = NULL;
    SimtFailAt(k, 0);
    const TrsvError error = TrsvHeightsFromTranspose(&T[0], a[0], &T[1], a[1]);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!a[0]->heights == !!failed && !a[1]->heights == !!failed && (failed || !error), "place %ld: error %d", k,
           (int)error);
    apart += failed && !error;
    failures += !!error;
  }
  Expect(worked > 2 && apart == 1 && failures > 9, "%d times it worked, %d times by themselves, %d times not at all",
         worked, apart, failures);
  TrsvAnalysisDestroy(&a[0]);
  TrsvAnalysisDestroy(&a[1]);
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

void TestHeights(void)
{
  CheckShapes();
  CheckMissingEntry();
  CheckFailures();
}
