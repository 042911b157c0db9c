/*
   sell on grids in the order of colors, with and without blocks. With blocks a slice has fewer level sets than its
   rows. In blocks that are one row high, rows form chains. Columns take 16 bits there, unless a slice's entries are
   too far from each other.
*/
#include "check.h"

/* The row in each place: by the library's ordering, or if `high` is not 0, by blocks of 4 x high rows, red and black.
 */
static void MakeLevelOrder(const int side[3], int high, const int *offsets, const int *columns, int *order)
{
  const int     rows = side[0] * side[1] * side[2];
  TrsvOrdering *ordering;
  int           p = 0;

  if (!high) {
    if (!ExpectError(TrsvOrderMulticolor(rows, offsets, columns, NULL, TRSV_HOST, &ordering), TRSV_SUCCESS,
                     "TrsvOrderMulticolor"))
      exit(2);
    memcpy(order, ordering->order, sizeof(int) * (size_t)rows);
    TrsvOrderingDestroy(&ordering);
    return;
  }
  for (int color = 0; color < 2; color++)
    for (int z = 0; z < side[2]; z++)
      for (int y = 0; y < side[1]; y += high)
        for (int x = (y / high + z + color) % 2 * 4; x < side[0]; x += 8)
          for (int v = y; v < side[1] && v < y + high; v++)
            for (int u = x; u < side[0] && u < x + 4; u++) order[p++] = (z * side[1] + v) * side[0] + u;
}

/* A grid of 5 points in a plane or 7 in space, in such an order; the caller frees both arrays. */
static void MakeGrid(const int side[3], int high, int **offsets, int **columns)
{
  const int plane = side[0] * side[1], rows = plane * side[2];
  int      *o = malloc(sizeof(int) * ((size_t)rows + 1)), *c = malloc(sizeof(int) * 7 * (size_t)rows),
      *place = malloc(sizeof(int) * (size_t)rows), *order = malloc(sizeof(int) * (size_t)rows), k = 0;

  for (int i = 0; i < rows; i++) {
    const int x = i % side[0], y = i / side[0] % side[1];

    o[i] = k;
    if (i >= plane) c[k++] = i - plane;
    if (y) c[k++] = i - side[0];
    if (x) c[k++] = i - 1;
    c[k++] = i;
    if (x < side[0] - 1) c[k++] = i + 1;
    if (y < side[1] - 1) c[k++] = i + side[0];
    if (i + plane < rows) c[k++] = i + plane;
  }
  o[rows]  = k;
  *offsets = calloc((size_t)rows + 1, sizeof(int));
  *columns = malloc(sizeof(int) * (size_t)k);
  MakeLevelOrder(side, high, o, c, order);
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

enum {
  ROWS,   /* in the order of colors, row by row */
  BLOCKS, /* of rows */
  FAR     /* columns too far apart for 16 bits */
};

static void CheckTriangle(const Triangle *T, int kind)
{
  const TrsvMatrix *A    = &T->view;
  const int         rows = A->rows, entries = T->offsets[rows];
  const TrsvMatrix  D      = ToDevice(A);
  void             *values = MakeValues(A, 3), *b = MakeVector(A->precision, rows, 4), *want;
  int               slices = 0, levels = 0;
  char              line[TRSV_SETTINGS];
  TrsvAnalysis     *analysis;
  TrsvPlan         *plan;

  want = Reference(A, NULL, entries, values, b);
  if (ExpectError(TrsvAnalyze(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
    if (ExpectError(TrsvPlanCreate(&D, analysis, NULL, entries, NULL, TrsvAlgorithmFind("sell"), 0, &plan),
                    TRSV_SUCCESS,
                    "TrsvPlanCreate")) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      Expect(sscanf(line, "%d slices, %d level sets", &slices, &levels) == 2, "described as \"%s\"", line);
      Expect(slices >= (rows + 31) / 32 && slices <= rows / 12, "%d slices of %d rows", slices, rows);
      Expect(!strstr(line, "16 bits") == (kind == FAR), "%s", line);
      Expect(kind == BLOCKS ? levels < analysis->statistics.levels / 2 : levels <= analysis->statistics.levels + 1,
             "%s, where the rows have %d", line, analysis->statistics.levels);
      if (ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues"))
        ExpectSolves(plan, b, want, 0, Reduced() ? 3 : 9, line);
      TrsvPlanDestroy(&plan);
    }
    TrsvAnalysisDestroy(&analysis);
  }
  FromDevice((TrsvMatrix *)&D);
  free(values);
  free(b);
  free(want);
}

/* The lower triangle of a pattern, whose arrays it frees. */
static void CheckPattern(int rows, int *offsets, int *columns, int kind)
{
  Triangle T = MakeFrom(rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);

  CheckTriangle(&T, kind);
  FreeTriangle(&T);
  free(offsets);
  free(columns);
}

/* Rows of the last slice of a lower triangle depend on rows `apart` from each other; no other row depends on any. */
static void CheckColumnsApart(int apart, int kind)
{
  const int rows = 32 * (apart / 32 + 3);
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * ((size_t)rows + 64)), k = 0;

  Begin("sell, columns %d apart", apart);
  for (int i = 0; i < rows; i++) {
    offsets[i] = k;
    if (i >= rows - 32) columns[k++] = 5 + (i % 3 == 1 ? apart : i % 3);
    columns[k++] = i;
  }
  offsets[rows] = k;
  CheckPattern(rows, offsets, columns, kind);
  End();
}

/* Parallel chains of so many rows, and as many rows again, each of which depends on one of these: a slice takes as many
   turns as its chains are long, and there are two level sets of slices. */
static void CheckChains(int length)
{
  const int half = (Reduced() ? 4 : 12) * (32 / length * length), rows = 2 * half;
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * 3 * (size_t)rows), k = 0;

  for (int i = 0; i < rows; i++) {
    offsets[i] = k;
    if (i >= half) columns[k++] = i - half;
    if (i % length) columns[k++] = i - 1;
    columns[k++] = i;
  }
  offsets[rows] = k;
  CheckPattern(rows, offsets, columns, BLOCKS);
}

void TestSell(void)
{
  static const struct {
    int side[3], high;
  } grids[] = {
    {{47, 47, 1}, 0},  {{47, 47, 1}, 1},  {{47, 47, 1}, 2}, {{47, 47, 1}, 4},
    {{13, 11, 10}, 0}, {{13, 11, 10}, 1}, {{16, 8, 7}, 1},  {{13, 11, 10}, 2},
  };

  for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
    const int side[3] = {grids[g].side[0], Reduced() ? (grids[g].side[1] + 1) / 2 : grids[g].side[1], grids[g].side[2]};
    int      *offsets, *columns;

    Begin("sell, a grid of %d x %d x %d in the order of colors, blocks of %d", side[0], side[1], side[2],
          4 * grids[g].high);
    MakeGrid(side, grids[g].high, &offsets, &columns);
    for (int variant = 0; variant < 4; variant++) {
      Triangle T =
        MakeFrom(side[0] * side[1] * side[2], offsets, columns, variant & 1 ? TRSV_UPPER : TRSV_LOWER,
                 variant & 1 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE);

      CheckTriangle(&T, grids[g].high > 0 ? BLOCKS : ROWS);
      FreeTriangle(&T);
    }
    free(offsets);
    free(columns);
    End();
  }
  Begin("sell, chains of 2 to 32 rows");
  for (int length = 5; length <= 32; length++) CheckChains(length);
  End();
  CheckColumnsApart(INT16_MAX, ROWS);
  CheckColumnsApart(INT16_MAX + 1, FAR);
}
