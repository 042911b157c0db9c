/*
   The algorithm `chunk` under the SIMT executor: settings that reach every path, under many schedules, against a serial solve; the same
   bits every time; solves that lose a store must end, say so, and leave the next ones sound.

     simt [first schedule [schedules]]
*/
#include <math.h>
#include "chunk.h"
#include "executor.h"
#include "triangles.h"

static int bad, solves, stalls;

#define Check(ok, ...) \
  do { \
    if (!(ok)) { \
      printf("not ok chunk: " __VA_ARGS__); \
      printf(" %s %s\n", TrsvErrorMessage(), SimtReport()); \
      bad++; \
      SimtForget(); \
    } \
  } while (0)

static void Run(const char *name, const Triangle *T, const TrsvChunkSettings *s, unsigned first, unsigned count)
{
  const TrsvMatrix    A = {T->rows, T->offsets, T->columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE};
  const size_t        n = sizeof(double) * ((size_t)T->rows + 1);
  unsigned long long  seed = 3;
  double             *b = malloc(n), *x = malloc(n), *y = malloc(n), *once = malloc(n), *db, *dx;
  char                line[160];
  TrsvAnalysis       *analysis;
  TrsvPlan           *plan;

  for (int i = 0; i < T->rows; i++) {
    b[i] = 2 * MatrixRandom(&seed) - 1;
    y[i] = b[i];
    for (int k = T->offsets[i]; k < T->offsets[i + 1] - 1; k++) y[i] -= T->values[k] * y[T->columns[k]];
    y[i] /= T->values[T->offsets[i + 1] - 1];
  }
  SimtDefaults();
  TrsvChunkSettingsOverride(s);
  if (TrsvAnalyse(&A, &analysis) || TrsvPlanCreate(&A, analysis, NULL, A.offsets[A.rows], TrsvAlgorithmFind("chunk"), &plan) || TrsvPlanSetValues(plan, T->values, TRSV_HOST, NULL)) {
    Check(0, "%s", name);
    return;
  }
  TrsvChunkSettingsPrint(&TrsvChunkPlanSchedule(plan)->settings, line, sizeof(line));
  (void)(TrsvDeviceAlloc(n, &db) || TrsvDeviceAlloc(n, &dx) || TrsvDeviceUpload(db, b, n, NULL));
  for (unsigned k = first; k < first + count; k++) {
    double error = 0, norm = 1e-300;

    SimtSchedule(k);
    for (int i = 0; i < T->rows; i++) dx[i] = 1e300;
    Check(!TrsvPlanSolve(plan, db, dx, NULL), "%s %s schedule %u", name, line, k);
    solves++;
    for (int i = 0; i < T->rows; i++) error += (dx[i] - y[i]) * (dx[i] - y[i]), norm += y[i] * y[i];
    Check(sqrt(error / norm) < 1e-13, "%s %s schedule %u: error %g", name, line, k, sqrt(error / norm));
    Check(k == first || !memcmp(once, dx, sizeof(double) * (size_t)T->rows), "%s %s schedule %u: other bits", name, line, k);
    memcpy(once, dx, sizeof(double) * (size_t)T->rows);
  }
  /* a store that is lost: the solve ends, with NaN and a message if it was one that somebody waited for */
  for (long lose = 1000; lose < 20000; lose = lose * 2 + 111) {
    int nan = 0, told;

    SimtSchedule(first);
    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    TrsvSetPatience(1e-3);
    Check(!TrsvPlanSolve(plan, db, dx, NULL), "%s %s losing store %ld", name, line, lose);
    for (int i = 0; i < T->rows; i++) nan += isnan(dx[i]);
    SimtSettings.lose = 0;
    told              = TrsvPlanSolve(plan, db, dx, NULL) == TRSV_ERR_TIMEOUT;
    stalls += told;
    TrsvSetPatience(10);
    Check(!TrsvPlanSolve(plan, db, dx, NULL), "%s %s after losing store %ld", name, line, lose);
    Check(!TrsvPlanSolve(plan, db, dx, NULL) && !memcmp(once, dx, sizeof(double) * (size_t)T->rows), "%s %s after losing store %ld: other bits (%d NaN, told %d)", name, line, lose, nan, told);
  }
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceFree(db);
  TrsvDeviceFree(dx);
  free(b), free(x), free(y), free(once);
}

int main(int argc, char **argv)
{
  static const TrsvChunkSettings all[] = {
    {3, 2, 32, 1, 2048, 4, -1, 8, 4}, {5, 3, 32, 2, 2048, 5, -1, 8, 4}, {4, 2, 8, 4, 1024, 4, -1, 8, 4}, {3, 5, 16, 1, 1024, 4, 4, 8, 4}, {4, 3, 32, 1, 1024, 4, 0, 8, 4}, {2, 13, 32, 2, 2048, 4, -1, 8, 4}, {2, 8, 32, 1, 2048, 4, 1, 8, 4},
  };
  const char *const matrices[] = {"g2d5:20", "g3d27:6", "rand:600:4", "arrow:1200", "band:60:3", "dense:30", "diag:300", "diag:1"};
  const unsigned    first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, count = argc > 2 ? (unsigned)atoi(argv[2]) : 6;

  for (size_t m = 0; m < sizeof(matrices) / sizeof(matrices[0]); m++) {
    Triangle T = MatrixMake(matrices[m]);

    for (size_t s = 0; s < sizeof(all) / sizeof(all[0]); s++) Run(matrices[m], &T, &all[s], first, count);
    printf("# %s: %d solves, %d told of a stall, %d bad\n", matrices[m], solves, stalls, bad);
    fflush(stdout);
    MatrixFree(&T);
  }
  printf("%s chunk: %d solves under %u schedules, %d stalls told\n", bad ? "not ok" : "ok", solves, count, stalls);
  return bad != 0;
}
