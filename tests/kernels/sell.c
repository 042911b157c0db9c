/*
   sell on what it is for: a plane in the order of colours, with and without blocks. Where there are blocks, slices have fewer level sets than
   their rows.
*/
#include "check.h"

/* The row in each place: by the ordering of the library or, where `high` is not 0, by blocks of 4 x high rows, red and black. */
static void Order(int n, int high, const int *offsets, const int *columns, int *order)
{
  TrsvOrdering *ordering;
  int           p = 0;

  if (!high) {
    if (!ExpectError(TrsvOrderBMC(n * n, offsets, columns, NULL, TRSV_HOST, 0, &ordering), TRSV_SUCCESS, "TrsvOrderBMC")) exit(2);
    memcpy(order, ordering->order, sizeof(int) * (size_t)(n * n));
    TrsvOrderingDestroy(&ordering);
    return;
  }
  for (int colour = 0; colour < 2; colour++)
    for (int y = 0; y < n; y += high)
      for (int x = (y / high + colour) % 2 * 4; x < n; x += 8)
        for (int v = y; v < n && v < y + high; v++)
          for (int u = x; u < n && u < x + 4; u++) order[p++] = v * n + u;
}

/* The 5-point plane of n^2 in such an order; the caller frees both arrays. */
static void Grid(int n, int high, int **offsets, int **columns)
{
  const int rows = n * n;
  int      *o = malloc(sizeof(int) * ((size_t)rows + 1)), *c = malloc(sizeof(int) * 5 * (size_t)rows), *place = malloc(sizeof(int) * (size_t)rows), *order = malloc(sizeof(int) * (size_t)rows), k = 0;

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
  Order(n, high, o, c, order);
  for (int p = 0; p < rows; p++) place[order[p]] = p;
  for (int p = k = 0; p < rows; p++) {
    const int i = order[p];

    for (int e = o[i]; e < o[i + 1]; e++) { /* rising, by insertion */
      int to = k + e - o[i];

      for (; to > k && (*columns)[to - 1] > place[c[e]]; to--) (*columns)[to] = (*columns)[to - 1];
      (*columns)[to] = place[c[e]];
    }
    (*offsets)[p + 1] = k += o[i + 1] - o[i];
  }
  free(o);
  free(c);
  free(place);
  free(order);
}

static void Solves(const Triangle *T, int blocks)
{
  const TrsvMatrix   *A      = &T->view;
  const int           rows = A->rows, entries = T->offsets[rows];
  const TrsvMatrix    D      = ToDevice(A);
  void               *values = MakeValues(A, 3), *b = MakeVector(A->precision, rows, 4), *want;
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
      if (ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues")) ExpectSolves(plan, b, want, 0, Reduced() ? 3 : 9, line);
      TrsvPlanDestroy(&plan);
    }
    TrsvAnalysisDestroy(&analysis);
  }
  FromDevice((TrsvMatrix *)&D);
  free(values);
  free(b);
  free(want);
}

void TestSell(void)
{
  const int n = Reduced() ? 29 : 47;

  for (int high = 0; high <= 4; high += 2) {
    int *offsets, *columns;

    Begin("sell, a plane in the order of colours, blocks of %d", 4 * high);
    Grid(n, high, &offsets, &columns);
    for (int variant = 0; variant < 4; variant++) {
      Triangle T = MakeFrom(n * n, offsets, columns, variant & 1 ? TRSV_UPPER : TRSV_LOWER, variant & 1 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE);

      Solves(&T, high > 0);
      FreeTriangle(&T);
    }
    free(offsets);
    free(columns);
    End();
  }
}
