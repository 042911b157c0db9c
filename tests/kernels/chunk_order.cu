/*
   The heights that the schedules of `chunk` start from, against a serial reference: rows on which many depend, in each order of their arrival.
*/
#include <algorithm>
#include <vector>
#include "check.h"
#include "chunk_graph.cuh"

/* Rows that depend on one of some first ones, on which all others do by turns, and on a few more before them. */
static Triangle Hubs(int rows, int hubs, TrsvTriangle triangle, TrsvDiagonal diagonal)
{
  std::vector<int> offsets(1, 0), columns;
  Random           r = (Random)rows;

  for (int i = 0; i < rows; i++) {
    const int p = triangle == TRSV_LOWER ? i : rows - 1 - i;

    for (int q = 0; q < p; q++)
      if (q == p % hubs || q == p - 1 - (int)RandomBelow(&r, 40)) columns.push_back(triangle == TRSV_LOWER ? q : rows - 1 - q);
    if (triangle == TRSV_UPPER) std::reverse(columns.begin() + offsets.back(), columns.end());
    offsets.push_back((int)columns.size());
  }
  return MakeFrom(rows, offsets.data(), columns.data(), triangle, diagonal, TRSV_DOUBLE);
}

void TestChunkHeights(void)
{
  static const int hubs[] = {1, 3, 4, 5}; /* of 640 rows: 129 dependents of each are many, and of 256 two lots */

  Begin("chunk's heights where many depend on a row");
  for (int variant = 0; variant < 4; variant++)
    for (int h : hubs) {
      Triangle         T = Hubs(640 + 8 * h, h, variant & 1 ? TRSV_UPPER : TRSV_LOWER, variant & 2 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT);
      TrsvMatrix       D = ToDevice(&T.view);
      const int        n = T.view.rows;
      std::vector<int> height((size_t)n, 0);
      TrsvAnalysis    *analysis;
      ChunkOrder       o;

      ExpectError(TrsvAnalyse(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyse");
      for (int p = n - 1; p >= 0; p--) {
        const int i = T.view.triangle == TRSV_LOWER ? p : n - 1 - p;

        for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++) {
          const int q = T.view.triangle == TRSV_LOWER ? T.columns[k] : n - 1 - T.columns[k];

          if (q != p && height[(size_t)q] <= height[(size_t)p]) height[(size_t)q] = height[(size_t)p] + 1;
        }
      }
      for (unsigned schedule = 0; analysis && schedule < (Reduced() ? 2u : 6u); schedule++) {
        SimtSchedule(schedule);
        if (!SimtSettings.preempt) SimtSettings.preempt = 32; /* who polls more words than the executor watches is woken by votes of its own warp, too: without pre-emption others might never run */
        if (!ExpectError(TrsvChunkOrder(&D, analysis, NULL, &o), TRSV_SUCCESS, "TrsvChunkOrder")) break;
        for (int p = 0; p < n; p++) /* the executor's device memory is the host's */
          if (!Expect(o.height[p] == height[(size_t)p], "%d hubs, schedule %u: the height of %d is %d, not %d", h, schedule, p, o.height[p], height[(size_t)p])) break;
        TrsvChunkOrderFree(&o);
      }
      SimtDefaults();
      TrsvAnalysisDestroy(&analysis);
      FromDevice(&D);
      FreeTriangle(&T);
    }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}
