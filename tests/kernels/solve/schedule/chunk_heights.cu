/*
   The heights from which schedules of `chunk` start: by a search, compared with a serial reference, if many rows
   depend on a row, in each order of their arrival; and from the level sets of the other triangle, compared with a
   search.
*/
#include <algorithm>
#include <vector>
#include "square.h"
#include "solve/schedule/chunk_graph.cuh"

/* Rows that depend on one of the first rows, in turn, and on a few more earlier rows. */
static Triangle MakeHubs(int rows, int hubs, TrsvTriangle triangle, TrsvDiagonal diagonal)
{
  std::vector<int> offsets(1, 0), columns;
  Random           r = (Random)rows;

  for (int i = 0; i < rows; i++) {
    const int p = triangle == TRSV_LOWER ? i : rows - 1 - i;

    for (int q = 0; q < p; q++)
      if (q == p % hubs || q == p - 1 - (int)RandomBelow(&r, 40))
        columns.push_back(triangle == TRSV_LOWER ? q : rows - 1 - q);
    if (triangle == TRSV_UPPER) std::reverse(columns.begin() + offsets.back(), columns.end());
    offsets.push_back((int)columns.size());
  }
  return MakeFrom(rows, offsets.data(), columns.data(), triangle, diagonal, TRSV_DOUBLE);
}

/* Rows with more than CHUNK_ITEMS dependencies are cut: then there are more positions than rows, and only a search
   finds their heights. */
static void CheckCutRows(void)
{
  static const struct {
    Shape shape;
    int   rows;
    bool  cut;
  } cases[] = {{CHAIN, 300, false}, {GRID_2D, 900, false}, {BAND, 300, false}, {DENSE, 70, true}};

  Begin("chunk's heights from the other triangle's level sets");
  for (const auto &c : cases) {
    Square       A = MakeSquare(c.shape, c.rows, 1, TRSV_DOUBLE, 1);
    TrsvFactor  *f = MakeFactor(&A, NULL, TRSV_ILU, 0);
    TrsvMatrix   T[2];
    ChunkHeights o[2];

    if (f) TrsvFactorTriangles(f, &T[0], &T[1], NULL, NULL);
    for (int t = 0; f && t < 2; t++) {
      TrsvAnalysis alone = *T[t].analysis;

      Expect(!!alone.heights, "%s: there are no heights from the other triangle", ShapeName[c.shape]);
      alone.heights = NULL;
      for (int by_search = 0; by_search < 2; by_search++)
        ExpectError(TrsvChunkFindHeights(&T[t], by_search ? &alone : T[t].analysis, NULL, &o[by_search]), TRSV_SUCCESS,
                    "TrsvChunkFindHeights");
      Expect(!!o[0].graph.owner == c.cut && o[0].graph.rows == o[1].graph.rows, "%s: %d positions, and %d, of %d rows",
             ShapeName[c.shape], o[0].graph.rows, o[1].graph.rows, c.rows);
      for (int p = 0; p < o[1].graph.rows; p++)
        if (!Expect(o[0].height[p] == o[1].height[p], "%s, %s: the height of %d is %d, not %d", ShapeName[c.shape],
                    t ? "upper" : "lower", p, o[0].height[p], o[1].height[p]))
          break;
      for (ChunkHeights &each : o) TrsvChunkHeightsFree(&each);
    }
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestChunkHeights(void)
{
  static const int hubs[] = {1, 3, 4, 5}; /* of 640 rows: 129 dependents of each are many, and of 256 two lots */

  Begin("chunk's heights where many depend on a row");
  for (int variant = 0; variant < 4; variant++)
    for (int h : hubs) {
      Triangle         T = MakeHubs(640 + 8 * h, h, variant & 1 ? TRSV_UPPER : TRSV_LOWER,
                            variant & 2 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT);
      TrsvMatrix       D = ToDevice(&T.view);
      const int        n = T.view.rows;
      std::vector<int> height((size_t)n, 0);
      TrsvAnalysis    *analysis;
      ChunkHeights     o;

      ExpectError(TrsvAnalyze(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
      for (int p = n - 1; p >= 0; p--) {
        const int i = T.view.triangle == TRSV_LOWER ? p : n - 1 - p;

        for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++) {
          const int q = T.view.triangle == TRSV_LOWER ? T.columns[k] : n - 1 - T.columns[k];

          if (q != p && height[(size_t)q] <= height[(size_t)p]) height[(size_t)q] = height[(size_t)p] + 1;
        }
      }
      for (unsigned schedule = 0; analysis && schedule < (Reduced() ? 2u : 6u); schedule++) {
        SimtSchedule(schedule);
        if (!SimtSettings.preempt)
          SimtSettings.preempt = 32; /* votes of its own warp also wake a thread that polls more words than the executor
                                        watches: without pre-emption other warps might never run */
        const int found =
          ExpectError(TrsvChunkFindHeights(&D, analysis, NULL, &o), TRSV_SUCCESS, "TrsvChunkFindHeights");
        for (int p = 0; found && p < n; p++) /* the executor's device memory is the host's */
          if (!Expect(o.height[p] == height[(size_t)p], "%d hubs, schedule %u: the height of %d is %d, not %d", h,
                      schedule, p, o.height[p], height[(size_t)p]))
            break;
        TrsvChunkHeightsFree(&o);
      }
      SimtDefaults();
      TrsvAnalysisDestroy(&analysis);
      FromDevice(&D);
      FreeTriangle(&T);
    }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
  CheckCutRows();
}
