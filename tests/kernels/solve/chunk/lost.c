/*
   A lost store in the search for the schedule of chunk, or for the slices of sell: an error, and no plan. Without
   heights no position is placed.
*/
#include "check.h"

void TestLost(void)
{
  static const char *const kernels[] = {"chunk_heights", "chunk_place", "slices_depth"};
  enum { ROWS = 600 };

  for (int i = 0; i < 3; i++) {
    Triangle      T = MakeTriangle(i < 2 ? BAND : GRID_2D, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 3);
    TrsvAnalysis *analysis;
    int           reported = 0;

    Begin("%s: a store of %s is lost", i < 2 ? "chunk" : "sell", kernels[i]);
    TrsvMatrix D = ToDevice(&T.view);
    ExpectError(TrsvAnalyze(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
    ForceChunkSettings(6, 3, 1);
    for (long k = 1; k <= 1000 && reported < 2; k += i < 2 ? 13 : 1) {
      const size_t live = SimtLive();
      TrsvPlan    *plan;
      TrsvError    error;

      SimtSettings.bounded = 1;
      SimtSettings.loser   = kernels[i];
      SimtSettings.lose    = k;
      error = TrsvPlanCreate(&D, analysis, NULL, T.offsets[ROWS], NULL, FindTested(i < 2 ? "chunk" : "sell"), 0,
                             &plan);
      SimtDefaults();
      Expect(i || error != TRSV_ERR_TIMEOUT || !SimtStores(), "store %ld: %ld stores place by heights that are missing",
             k, SimtStores());
      reported += error == TRSV_ERR_TIMEOUT;
      Expect(!error || error == TRSV_ERR_TIMEOUT, "store %ld: error %d: %s", k, (int)error, TrsvErrorMessage());
      Expect(!error == !!plan, "store %ld: error %d, plan %p", k, (int)error, (void *)plan);
      TrsvPlanDestroy(&plan);
      Expect(SimtLive() == live, "store %ld: %ld allocations are left", k, (long)(SimtLive() - live));
    }
    Expect(reported > 1, "%d lost stores were reported", reported);
    TrsvChunkSettingsOverride(NULL);
    TrsvAnalysisDestroy(&analysis);
    FromDevice(&D);
    FreeTriangle(&T);
    End();
  }
}
