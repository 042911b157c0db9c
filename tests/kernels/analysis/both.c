/*
   Analyses of two triangles with memory for one at a time; analyses of transposes.
*/
#include "check.h"

static void CheckScarceMemory(void)
{
  enum { ROWS = 600 };
  Triangle L = MakeTriangle(BAND, ROWS, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 3),
           U = MakeTriangle(BAND, ROWS, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 3);
  TrsvAnalysis *first, *second;
  int           short_of = 0;

  Begin("analyses of L and U at the same time: memory for one after the other only");
  TrsvMatrix   l = ToDevice(&L.view), u = ToDevice(&U.view);
  const size_t before = TrsvDeviceHeld(), live = SimtLive();

  TrsvDeviceMark();
  ExpectError(TrsvAnalyze(&l, &first), TRSV_SUCCESS, "TrsvAnalyze of L");
  ExpectError(TrsvAnalyze(&u, &second), TRSV_SUCCESS, "TrsvAnalyze of U");
  const size_t enough = TrsvDevicePeak() - before;
  TrsvAnalysisDestroy(&first);
  TrsvAnalysisDestroy(&second);
  for (unsigned k = 0; k < 12; k++) {
    SimtSchedule(k);
    SimtFailAt(0, 0);
    SimtLimit(TrsvDeviceHeld() + enough);
    ExpectError(TrsvAnalyzeBoth(&l, &u, &first, &second), TRSV_SUCCESS, "TrsvAnalyzeBoth");
    SimtLimit(0);
    short_of += SimtFailed();
    TrsvAnalysisDestroy(&first);
    TrsvAnalysisDestroy(&second);
    Expect(SimtLive() == live, "schedule %u: %ld allocations are left", k, (long)(SimtLive() - live));
  }
  Expect(short_of > 3, "memory was short %d times", short_of);
  SimtDefaults();
  FromDevice(&l);
  FromDevice(&u);
  FreeTriangle(&L);
  FreeTriangle(&U);
  End();
}

static void CheckTransposed(void)
{
  Triangle      L = MakeTriangle(RANDOM, 50, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 3);
  TrsvAnalysis *analysis;
  TrsvMatrix    T;
  int          *made;
  const int    *source;

  Begin("a transpose has no analysis");
  ExpectError(TrsvAnalyze(&L.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  L.view.analysis = analysis;
  if (ExpectError(TrsvTranspose(&L.view, &T, &made, &source), TRSV_SUCCESS, "TrsvTranspose")) {
    Expect(!T.analysis, "it has that of the matrix");
    TrsvFree(TRSV_HOST, made);
  }
  TrsvAnalysisDestroy(&analysis);
  FreeTriangle(&L);
  End();
}

void TestBoth(void)
{
  CheckScarceMemory();
  CheckTransposed();
}
