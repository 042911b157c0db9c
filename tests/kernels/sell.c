/*
   sell on what it is for: grids in the order of colours, with and without blocks. Where there are blocks, slices have fewer level sets than their rows.
*/
#include "check.h"

/* The 5-point plane of n^2 in the order of colours; the caller frees both arrays. */
static void Grid(int n, int size, int **offsets, int **columns)
{
  const int     rows = n * n;
  int          *o = malloc(sizeof(int) * ((size_t)rows + 1)), *c = malloc(sizeof(int) * 5 * (size_t)rows), *place = malloc(sizeof(int) * (size_t)rows), k = 0;
  TrsvOrdering *ordering;

  for (int i = 0; i < rows; i++) {
    o[i] = k;
    if (i >= n) c[k++] = i - n;
    if (i % n) c[k++] = i - 1;
    c[k++] = i;
    if (i % n < n - 1) c[k++] = i + 1;
    if (i + n < rows) c[k++] = i + n;
  }
  o[rows]  = k;
  *offsets = calloc((size_t)rows + 1, sizeof(int));
  *columns = malloc(sizeof(int) * (size_t)k);
  k        = 0;
  if (ExpectError(TrsvOrderBMC(rows, o, c, NULL, TRSV_HOST, size, &ordering), TRSV_SUCCESS, "TrsvOrderBMC")) {
    for (int p = 0; p < rows; p++) place[ordering->order[p]] = p;
    for (int p = 0; p < rows; p++) {
      const int i = ordering->order[p];

      for (int e = o[i]; e < o[i + 1]; e++) { /* rising, by insertion */
        int to = k + e - o[i];

        for (; to > k && (*columns)[to - 1] > place[c[e]]; to--) (*columns)[to] = (*columns)[to - 1];
        (*columns)[to] = place[c[e]];
      }
      (*offsets)[p + 1] = k += o[i + 1] - o[i];
    }
    TrsvOrderingDestroy(&ordering);
  }
  free(o);
  free(c);
  free(place);
}

static void Solves(const Triangle *T, int blocks)
{
  const TrsvMatrix   *A      = &T->view;
  const int           rows = A->rows, entries = T->offsets[rows];
  const size_t        bytes  = TrsvValueSize(A->precision) * (size_t)rows;
  const TrsvMatrix    D      = ToDevice(A);
  void               *values = MakeValues(A, 3), *b = MakeVector(A->precision, rows, 4), *x = MakeArray(A->precision, rows), *kept = MakeArray(A->precision, rows), *want;
  int                 slices = 0, levels = 0;
  char                line[TRSV_SETTINGS];
  TrsvAnalysis       *analysis;
  TrsvPlan           *plan;

  want = Reference(A, NULL, entries, values, b);
  if (ExpectError(TrsvAnalyse(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyse")) {
    if (ExpectError(TrsvPlanCreate(&D, analysis, NULL, entries, TrsvAlgorithmFind("sell"), NULL, &plan), TRSV_SUCCESS, "TrsvPlanCreate")) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      Expect(sscanf(line, "%d slices, %d level sets", &slices, &levels) == 2, "described as \"%s\"", line);
      Expect(slices >= (rows + 31) / 32 && slices <= rows / 12, "%d slices of %d rows", slices, rows);
      Expect(blocks ? levels < analysis->statistics.levels / 2 : levels <= analysis->statistics.levels + 1, "%s, where the rows have %d", line, analysis->statistics.levels);
      ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
      for (unsigned s = 0; s < (Reduced() ? 3 : 9); s++) {
        SimtSchedule(s);
        memset(x, 0xcd, bytes);
        ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
        ExpectClose(A->precision, rows, x, want, line);
        Expect(!s || !memcmp(x, kept, bytes), "other bits under schedule %u", s);
        memcpy(kept, x, bytes);
      }
      SimtDefaults();
      TrsvPlanDestroy(&plan);
    }
    TrsvAnalysisDestroy(&analysis);
  }
  FromDevice((TrsvMatrix *)&D);
  free(values);
  free(b);
  free(x);
  free(kept);
  free(want);
}

void TestSell(void)
{
  for (int size = 0; size <= 16; size += 8) {
    int *offsets, *columns;

    Begin("sell, a plane in the order of colours, blocks of %d", size);
    Grid(Reduced() ? 29 : 47, size, &offsets, &columns);
    for (int variant = 0; variant < 4; variant++) {
      const int n = Reduced() ? 29 : 47;
      Triangle  T = MakeFrom(n * n, offsets, columns, variant & 1 ? TRSV_UPPER : TRSV_LOWER, variant & 1 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE);

      Solves(&T, size > 0);
      FreeTriangle(&T);
    }
    free(offsets);
    free(columns);
    End();
  }
}
