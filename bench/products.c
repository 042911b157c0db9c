/*
   products: the schedules of `chunk` with inverted blocks of matrices (matrices.h), over the SIMT executor: for each
   triangle that gets such blocks a line of JSON on standard output, with the settings as a plan prints them, and the
   steps of the schedule. bench/selections.py computes the choice from them. Needs no GPU.

     products MATRIX...
*/
#include <stdio.h>
#include <string.h>
#include "executor.h"
#include "matrices.h"
#include "solve/chunk/chunk.h"

/* chunk.cu */
TrsvError TrsvChunkAnalyzeInverted(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);

/* The name by which results know a matrix: without folder and ending. */
static void PrintName(const char *matrix)
{
  const char *slash = strrchr(matrix, '/'), *name = slash ? slash + 1 : matrix;

  printf("{\"matrix\": \"%s%.*s\", ", slash && !strncmp(matrix, "multicolor:", 11) ? "multicolor:" : "",
         (int)(strstr(name, ".mtx") ? strstr(name, ".mtx") - name : (long)strlen(name)), name);
}

/* 0: no blocks are inverted. Found on the host, which is faster than the executor. */
static int MayBeInverted(const Triangle *T)
{
  TrsvAnalysis *analysis;

  if (TrsvAnalyze(&T->matrix, &analysis)) return 1; /* PrintSchedule reports the error */
  const int possible = TrsvInverseIsPossible(&analysis->statistics);
  TrsvAnalysisDestroy(&analysis);
  return possible;
}

static TrsvError PrintSchedule(const char *matrix, const Triangle *T)
{
  TrsvAlgorithm inverted = TrsvChunk;
  TrsvMatrix    A        = T->matrix;
  TrsvAnalysis *analysis = NULL;
  TrsvPlan     *plan     = NULL;
  const size_t  offsets = sizeof(int) * ((size_t)A.rows + 1), columns = sizeof(int) * (size_t)A.offsets[A.rows];
  int          *to;
  char          line[TRSV_SETTINGS];

  inverted.analyze = TrsvChunkAnalyzeInverted;
  TrsvCall(TrsvDeviceAlloc(offsets + columns, &to));
  TrsvCall(TrsvDeviceUpload(to, A.offsets, offsets, NULL));
  TrsvCall(TrsvDeviceUpload(to + A.rows + 1, A.columns, columns, NULL));
  A.offsets       = to;
  A.columns       = to + A.rows + 1;
  A.memory        = TRSV_DEVICE;
  TrsvError error = TrsvAnalyze(&A, &analysis);
  if (!error) error = TrsvPlanCreate(&A, analysis, NULL, T->matrix.offsets[A.rows], NULL, &inverted, 0, &plan);
  if (!error) {
    TrsvPlanDescribe(plan, line, sizeof(line));
    if (!strncmp(line, "blocks=", 7)) {
      PrintName(matrix);
      printf("\"triangle\": \"%s\", \"setting\": \"%s\", \"steps\": %d}\n",
             A.triangle == TRSV_UPPER ? "upper" : "lower", line, TrsvChunkPlanSummary(plan)->steps);
      fflush(stdout);
    }
  }
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceFree(to);
  return error;
}

int main(int count, char **args)
{
  enum { MULTIPROCESSORS = 132 }; /* of an H200 */
  int bad = 0;

  SimtDefaults();
  SimtSettings.multiprocessors = MULTIPROCESSORS;
  for (int i = 1; i < count; i++) {
    Matrix   M;
    Triangle T;

    if (MatrixMake(args[i], &M)) {
      bad = 1;
      continue;
    }
    for (int upper = 0; upper < 2; upper++) {
      if (TriangleMake(&M, upper ? TRSV_UPPER : TRSV_LOWER, 0, &T)) continue;
      if (MayBeInverted(&T) && PrintSchedule(args[i], &T)) {
        fprintf(stderr, "%s: %s\n", args[i], TrsvErrorMessage());
        bad = 1;
      }
      TriangleFree(&T);
    }
    MatrixFree(&M);
  }
  return bad;
}
