/*
   Triangles of awkward shapes.
*/
#include "check.h"

const char *const ShapeName[SHAPES] = {"random", "diagonal", "chain", "dense",   "dense row", "dense column",
                                       "band",   "arrow",    "gaps",  "2D grid", "3D grid"};

/* The columns of row i of the strict lower triangle, marked; the row has i of them at most. */
static void MarkRow(Shape shape, int rows, int i, Random *r, char mark[])
{
  const int side = shape == GRID_3D ? (int)lround(cbrt(rows)) : (int)lround(sqrt(rows));

  switch (shape) {
  case RANDOM:
    for (int n = RandomBelow(r, 9) * (RandomBelow(r, 20) ? 1 : 12); n > 0; n--) mark[RandomBelow(r, i)] = 1;
    break;
  case CHAIN: mark[i - 1] = 1; break;
  case DENSE: memset(mark, 1, (size_t)i); break;
  case DENSE_ROW:
    if (i == rows - 1) memset(mark, 1, (size_t)i);
    break;
  case ARROW:
    if (i == rows - 1) memset(mark, 1, (size_t)i);
    mark[0] = 1;
    break;
  case DENSE_COLUMN: mark[0] = 1; break;
  case BAND:
    for (int d = 1; d <= 5 && d <= i; d++) mark[i - d] = d != 3;
    break;
  case GAPS:
    for (int n = i % 3 ? 0 : 4; n > 0; n--) mark[RandomBelow(r, i)] = 1;
    break;
  case GRID_3D:
    if (i >= side * side) mark[i - side * side] = 1;
    if (i / side % side) mark[i - side] = 1;
    if (i % side) mark[i - 1] = 1;
    break;
  case GRID_2D:
    if (i >= side) mark[i - side] = 1;
    if (i % side) mark[i - 1] = 1;
    break;
  default: break;
  }
}

static Triangle Allocate(int rows, int nnz, TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision)
{
  Triangle T;

  T.offsets = malloc(sizeof(int) * ((size_t)rows + 1));
  T.columns = malloc(sizeof(int) * ((size_t)nnz + 1));
  T.view    = (TrsvMatrix){rows, T.offsets, T.columns, triangle, diagonal, precision, TRSV_HOST, NULL};
  return T;
}

Triangle MakeFrom(int rows, const int *offsets, const int *columns, TrsvTriangle triangle, TrsvDiagonal diagonal,
                  TrsvPrecision precision)
{
  const int lower = triangle == TRSV_LOWER, stored = diagonal == TRSV_DIAGONAL_STORED;
  Triangle  T = Allocate(rows, offsets[rows] + rows, triangle, diagonal, precision);
  int       n = 0;

  T.offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    if (!lower && stored) T.columns[n++] = i;
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (lower ? columns[k] < i : columns[k] > i) T.columns[n++] = columns[k];
    if (lower && stored) T.columns[n++] = i;
    T.offsets[i + 1] = n;
  }
  return T;
}

Triangle MakeTriangle(Shape shape, int rows, TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision,
                      unsigned seed)
{
  Random   r       = 12345 + 97 * seed;
  char    *mark    = calloc((size_t)rows + 1, 1);
  int     *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = NULL, n = 0, room = 0;
  Triangle T;

  offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    if (i) MarkRow(shape, rows, i, &r, mark);
    if (n + i > room) columns = realloc(columns, sizeof(int) * (size_t)(room = 2 * (n + i)));
    for (char *m = mark; (m = memchr(m, 1, (size_t)(mark + i - m))); m++) columns[n++] = (int)(m - mark);
    memset(mark, 0, (size_t)i);
    offsets[i + 1] = n;
  }
  if (triangle == TRSV_UPPER) { /* row i becomes row rows - 1 - i, columns alike */
    int *o = malloc(sizeof(int) * ((size_t)rows + 1)), *c = malloc(sizeof(int) * ((size_t)n + 1));

    for (int i = 0; i <= rows; i++) o[i] = n - offsets[rows - i];
    for (int k = 0; k < n; k++) c[k] = rows - 1 - columns[n - 1 - k];
    free(offsets);
    free(columns);
    offsets = o;
    columns = c;
  }
  T = MakeFrom(rows, offsets, columns, triangle, diagonal, precision);
  free(mark);
  free(offsets);
  free(columns);
  return T;
}

void FreeTriangle(Triangle *T)
{
  free(T->offsets);
  free(T->columns);
}
