/*
   Analyses of two triangles at the same time, also with memory for one at a time; analyses of transposes.
*/
#include "check.h"

static void FreeBoth(Triangle *L, Triangle *U, TrsvMatrix *l, TrsvMatrix *u)
{
  SimtDefaults();
  FromDevice(l);
  FromDevice(u);
  FreeTriangle(L);
  FreeTriangle(U);
}

/* Expects the analysis of a triangle that it has alone. */
static void ExpectSame(const TrsvMatrix *A, const TrsvAnalysis *found, const char *what)
{
  const size_t  levels = (size_t)found->statistics.levels;
  TrsvAnalysis *alone;

  if (!ExpectError(TrsvAnalyze(A, &alone), TRSV_SUCCESS, "TrsvAnalyze")) return;
  Expect(!memcmp(&alone->statistics, &found->statistics, sizeof(alone->statistics)), "%s has other statistics", what);
  if (Expect(alone->statistics.levels == (int)levels, "%s has %zu level sets", what, levels)) {
    Expect(!memcmp(alone->levels, found->levels, sizeof(int) * (levels + 1)), "%s: its level sets differ", what);
    Expect(!memcmp(alone->order, found->order, sizeof(int) * (size_t)A->rows), "%s: the order of its rows differs",
           what);
  }
  TrsvAnalysisDestroy(&alone);
}

/* The executor's device memory is the host's. */
static void CheckSame(void)
{
  static const Shape shapes[] = {DIAGONAL, CHAIN, BAND, RANDOM, GRID_2D};
  static const int   rows[]   = {0, 1, 2, 256, 600};
  enum { KINDS = sizeof(shapes) / sizeof(*shapes), SIZES = sizeof(rows) / sizeof(*rows) };

  Begin("analyses of L and U at the same time: as alone, and errors of either");
  for (int n = 0; n < KINDS * KINDS * SIZES; n++) {
    const int     size = rows[n % SIZES];
    Triangle      L = MakeTriangle(shapes[n / SIZES % KINDS], size, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 3),
                  U = MakeTriangle(shapes[n / SIZES / KINDS], size, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 4);
    TrsvMatrix    l = ToDevice(&L.view), u = ToDevice(&U.view);
    TrsvAnalysis *lower, *upper;
    const size_t  live = SimtLive();

    SimtSchedule((unsigned)n);
    if (ExpectError(TrsvAnalyzeBoth(&l, &u, &lower, &upper), TRSV_SUCCESS, "TrsvAnalyzeBoth")) {
      ExpectSame(&l, lower, "L");
      ExpectSame(&u, upper, "U");
    }
    TrsvAnalysisDestroy(&lower);
    TrsvAnalysisDestroy(&upper);
    for (int t = 0; t < 2 && l.offsets[size] && size > 1; t++) { /* an entry is in the wrong triangle */
      int *const column = t ? (int *)u.columns : (int *)l.columns, kept = *column;

      *column = t ? -1 : size;
      ExpectError(TrsvAnalyzeBoth(&l, &u, &lower, &upper), TRSV_ERR_STRUCTURE, "an invalid row");
      Expect(!lower && !upper, "there are analyses after an error");
      *column = kept;
    }
    Expect(SimtLive() == live, "%ld allocations are left", (long)(SimtLive() - live));
    FreeBoth(&L, &U, &l, &u);
  }
  End();
}

/* A store of a level of U is lost, for which another row of U waits. L has no dependencies. */
static void CheckGivesUp(void)
{
  enum { HALF = 256, ROWS = 2 * HALF };
  static int    none[ROWS + 1];
  int           offsets[ROWS + 1], columns[HALF];
  TrsvMatrix    L = {ROWS, none, columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL},
                U = {ROWS, offsets, columns, TRSV_UPPER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL};
  TrsvAnalysis *lower, *upper;

  Begin("analyses of L and U at the same time: a level of U is lost");
  for (int i = 0; i <= ROWS; i++) offsets[i] = i < HALF ? i : HALF;
  for (int i = 0; i < HALF; i++) columns[i] = HALF + i;
  TrsvMatrix l = ToDevice(&L), u = ToDevice(&U);
  SimtSettings.resident = 1; /* a block ends before the next one starts: all stores of L are before those of U */
  SimtSettings.bounded  = 1;
  SimtSettings.loser    = "levels_find";
  for (long k = ROWS + 1; k <= ROWS + HALF; k += 50) {
    SimtSettings.lose = k;
    ExpectError(TrsvAnalyzeBoth(&l, &u, &lower, &upper), TRSV_ERR_TIMEOUT, "TrsvAnalyzeBoth");
    Expect(!lower && !upper, "an analysis in spite of the error");
    TrsvAnalysisDestroy(&lower);
    TrsvAnalysisDestroy(&upper);
  }
  SimtDefaults();
  FromDevice(&l);
  FromDevice(&u);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

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
  FreeBoth(&L, &U, &l, &u);
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
  CheckSame();
  CheckGivesUp();
  CheckScarceMemory();
  CheckTransposed();
}
