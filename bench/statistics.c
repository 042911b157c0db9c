/*
   statistics: the statistics of triangles of matrices (matrices.h) on which predicted times depend: a line of JSON
   each, on standard output. Needs no GPU.

     statistics MATRIX...
*/
#include <stdio.h>
#include <string.h>
#include "matrices.h"

static void PrintStatistics(const char *name, const char *triangle, const TrsvStatistics *s)
{
  printf(
    "{\"matrix\": \"%s\", \"triangle\": \"%s\", \"rows\": %d, \"nnz\": %ld, \"row_mean\": %.17g, \"row_variation\": "
    "%.8g, \"row_max\": %d, \"levels\": %d, \"level_max\": %d, \"level_mean\": %.17g, \"mean_offset\": %.17g, ",
    name, triangle, s->rows, s->nnz, s->row_mean, s->row_variation, s->row_max, s->levels, s->level_max, s->level_mean,
    s->mean_offset);
  printf("\"bandwidth\": %d, \"row_bandwidth\": %.17g, \"level_span\": %.17g, \"late_per_row\": %.17g, "
         "\"chain_fraction\": %.17g, \"granularity\": %.8g, \"hub_fraction\": %.17g}\n",
         s->bandwidth, s->row_bandwidth, s->level_span, s->late_per_row, s->chain_fraction, s->granularity,
         s->hub_fraction);
  fflush(stdout);
}

int main(int count, char **args)
{
  int bad = 0;

  for (int i = 1; i < count; i++) {
    const char *slash = strrchr(args[i], '/'),
               *order = slash && !strncmp(args[i], "multicolor:", 11) ? "multicolor:" : "";
    char        name[256];
    Matrix      M;
    Triangle    T;

    snprintf(name, sizeof(name), "%s%s", order, slash ? slash + 1 : args[i]);
    if (strstr(name, ".mtx")) *strstr(name, ".mtx") = 0;
    if (MatrixMake(args[i], &M)) {
      bad = 1;
      continue;
    }
    for (int upper = 0; upper < 2; upper++) {
      TrsvAnalysis *a;

      if (TriangleMake(&M, upper ? TRSV_UPPER : TRSV_LOWER, 0, &T)) continue;
      if (TrsvAnalyze(&T.matrix, &a)) {
        fprintf(stderr, "%s: %s\n", name, TrsvErrorMessage());
        bad = 1;
      } else {
        PrintStatistics(name, upper ? "upper" : "lower", &a->statistics);
        TrsvAnalysisDestroy(&a);
      }
      TriangleFree(&T);
    }
    MatrixFree(&M);
  }
  return bad;
}
