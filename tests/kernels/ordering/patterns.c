/*
   Orderings of patterns with one peculiarity each: colors without rows between others, rows after a grid, more rows
   with the same columns than a node can hold, nodes of every size with entries of every strength.
*/
#include "check.h"

/* Three planes of a grid with 9 points, each of which reaches one plane further: half the colors have no rows in the
   last plane. */
static int HasPlanes(int i, int j)
{
  const int dx = abs(i % 6 - j % 6), dy = abs(i / 6 % 6 - j / 6 % 6), dz = abs(i / 36 - j / 36);

  return dz ? !dx && !dy && dz <= 2 : dx <= 1 && dy <= 1;
}

/* A grid of 8^3 with 7 points, and a line of rows that depend on no row. */
static int HasTail(int i, int j)
{
  const int dx = abs(i % 8 - j % 8), dy = abs(i / 8 % 8 - j / 8 % 8), dz = abs(i / 64 - j / 64);

  return i == j || (i < 512 && j < 512 && dx + dy + dz == 1);
}

/* The same without any entry in that line. */
static int HasEmptyTail(int i, int j) { return i < 512 && HasTail(i, j); }

/* Seven rows have the same columns: their own and those of the next seven. */
static int HasSevens(int i, int j) { return j / 7 == i / 7 || j / 7 == i / 7 + 1; }

static void CheckPattern(const char *name, int rows, int (*has)(int, int), int points)
{
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * 32 * (size_t)rows), n = 0,
      grid[3];

  Begin("ordering: %s", name);
  offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < rows; j++)
      if (has(i, j)) columns[n++] = j;
    offsets[i + 1] = n;
  }
  (void)CheckOrdering(rows, offsets, columns, NULL, grid);
  Expect(grid[0] * grid[1] * grid[2] == points, "a grid of %d x %d x %d", grid[0], grid[1], grid[2]);
  End();
  free(offsets);
  free(columns);
}

/* Nodes of 1 to 5 rows, 240 rows in all. A node has entries in all or some columns of a few others, which have entries
   in its columns or not. Few entries are strong. The arrays begin with entries of no row, whose columns are invalid. */
static void CheckNodes(unsigned seed)
{
  enum {
    ROWS   = 240,
    BEFORE = 3
  };
  Random  random = seed;
  int     offsets[ROWS + 1], *columns = malloc(sizeof(int) * ROWS * ROWS + sizeof(int) * BEFORE), n = BEFORE;
  double *values = malloc(sizeof(double) * ROWS * ROWS + sizeof(double) * BEFORE);

  Begin("ordering: nodes of every size, seed %u", seed);
  for (int k = 0; k < BEFORE; k++) columns[k] = INT_MAX, values[k] = 1;
  offsets[0] = n;
  for (int i = 0, size; i < ROWS; i += size) {
    const int begin = n;

    size = 1 + RandomBelow(&random, 5);
    if (size > ROWS - i) size = ROWS - i;
    for (int j = 0; j < ROWS; j++)
      if ((j >= i && j < i + size) || !RandomBelow(&random, 25)) columns[n++] = j;
    offsets[i + 1] = n;
    for (int r = 1; r < size; r++, offsets[i + r] = n)
      for (int k = begin; k < offsets[i + 1]; k++) columns[n++] = columns[k];
    for (int r = 0; r < size; r++)
      for (int k = offsets[i + r]; k < offsets[i + r + 1]; k++)
        values[k] = columns[k] == i + r ? 9 : !RandomBelow(&random, 5) ? 1 : 0.1;
  }
  (void)CheckOrdering(ROWS, offsets, columns, values, NULL);
  End();
  free(columns);
  free(values);
}

void TestPatterns(void)
{
  for (unsigned seed = 1; seed <= 8; seed++) CheckNodes(seed);
  CheckPattern("three planes that reach over one", 108, HasPlanes, 108);
  CheckPattern("a grid and rows beyond it", 520, HasTail, 0);
  CheckPattern("a grid and empty rows beyond it", 520, HasEmptyTail, 0);
  CheckPattern("seven rows with the same columns", 210, HasSevens, 0);
}
