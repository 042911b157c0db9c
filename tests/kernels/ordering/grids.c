/*
   The multicolor ordering of grids: sides that it must find, level sets, runs of one color; grids that are none.
*/
#include "entry_list.h"

typedef enum {
  WHOLE,
  BOUNDARY, /* the rows of the boundary keep their diagonal only */
  PERIODIC, /* along x */
  SHORTCUT, /* one entry between points far from each other */
  SHUFFLED  /* the points in any order */
} Kind;

/* A grid. full: 0, 5 or 7 points; 1, all neighbors, across corners, too; 2, two steps along each side. Columns ascend.
 */
static void MakeGrid(const int side[3], int full, Kind kind, int **offsets, int **columns)
{
  const int n    = side[0] * side[1] * side[2];
  int      *name = malloc(sizeof(int) * (size_t)n);
  Entries   e    = {.rows = n};
  Random    r    = 5;

  for (int i = 0; i < n; i++) name[i] = i;
  if (kind == SHUFFLED) Shuffle(&r, n, name);
  for (int i = 0; i < n; i++) {
    const int x = i % side[0], y = i / side[0] % side[1], z = i / side[0] / side[1];

    if (kind == PERIODIC && x == side[0] - 1) AppendEntry(&e, name[i], name[i - x]);
    for (int d = 0; d < 125; d++) {
      const int dx = d % 5 - 2, dy = d / 5 % 5 - 2, dz = d / 25 - 2, steps = abs(dx) + abs(dy) + abs(dz);

      if ((full < 2 && (abs(dx) > 1 || abs(dy) > 1 || abs(dz) > 1)) ||
          (full == 2 && (dx != 0) + (dy != 0) + (dz != 0) > 1))
        continue;
      if ((!full && steps > 1) || (kind == BOUNDARY && steps && (!x || !y || x == side[0] - 1 || y == side[1] - 1)))
        continue;
      if (x + dx < 0 || x + dx >= side[0] || y + dy < 0 || y + dy >= side[1] || z + dz < 0 || z + dz >= side[2])
        continue;
      AppendEntry(&e, name[i], name[i + dx + side[0] * (dy + side[1] * dz)]);
    }
    if (kind == PERIODIC && !x) AppendEntry(&e, name[i], name[i + side[0] - 1]);
    if (kind == SHORTCUT && i == n / 2 + 1) AppendEntry(&e, name[i], name[n - 1]);
  }
  MakeRowsOfEntries(&e, offsets, columns);
  FreeEntries(&e);
  free(name);
}

/* Rows of one color that depend on each other form runs of so many points along x. */
static void CheckRuns(const int side[3], int run, const int *offsets, const int *columns, const double *values)
{
  const int rows  = side[0] * side[1] * side[2];
  int      *color = malloc(sizeof(int) * (size_t)rows), joined = 0, colors, grid[3];
  TrsvColorMatrix A = {rows, offsets[rows], offsets, columns, values, NULL, NULL, NULL};

  if (ExpectError(TrsvColorRows(&A, color, &colors, grid), TRSV_SUCCESS, "colors")) {
    for (int i = 0; i < rows; i++)
      for (int k = offsets[i]; k < offsets[i + 1]; k++) {
        const int j = columns[k];

        if (j == i || color[j] != color[i]) continue;
        joined++;
        if (!Expect(j / side[0] == i / side[0] && j % side[0] / run == i % side[0] / run,
                    "rows %d and %d have one color", i, j))
          i = rows - 1;
      }
    Expect((joined > 0) == (run > 1), "%d entries between rows of one color", joined);
  }
  free(color);
}

static void CheckGrids(void)
{
  static const struct {
    int  side[3], full;
    Kind kind;
    int  levels, run; /* at most so many level sets; points of a run */
  } grids[] = {
    {{40, 40, 1}, 0, WHOLE, 7, 1},        {{37, 23, 1}, 0, WHOLE, 7, 1},     {{4, 200, 1}, 0, WHOLE, 7, 1},
    {{40, 40, 1}, 1, WHOLE, 10, 1},       {{37, 23, 1}, 1, BOUNDARY, 10, 1}, {{16, 16, 16}, 0, WHOLE, 10, 1},
    {{7, 11, 13}, 0, WHOLE, 10, 1},       {{12, 9, 10}, 1, WHOLE, 22, 1},    {{12, 9, 10}, 0, BOUNDARY, 10, 1},
    {{30, 20, 1}, 2, WHOLE, 28, 1},       {{9, 12, 10}, 2, WHOLE, 80, 1},    {{363, 362, 1}, 0, WHOLE, 12, 4},
    {{1025, 128, 1}, 0, BOUNDARY, 12, 4}, {{50, 51, 53}, 0, WHOLE, 16, 4},   {{365, 360, 1}, 1, WHOLE, 10, 1},
    {{366, 361, 1}, 2, WHOLE, 28, 1},     {{362, 362, 1}, 0, WHOLE, 7, 1},   {{40, 40, 1}, 0, PERIODIC, 0, 1},
    {{40, 40, 1}, 0, SHORTCUT, 0, 1},     {{40, 40, 1}, 0, SHUFFLED, 0, 1},  {{9, 9, 9}, 0, SHUFFLED, 0, 1},
  };

  for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
    int *offsets, *columns, found[3] = {-1, -1, -1}, levels;

    Begin("multicolor: grid %d x %d x %d%s%s", grids[g].side[0], grids[g].side[1], grids[g].side[2],
          (const char *[]){"", ", full", ", wide"}[grids[g].full],
          (const char *[]){"", ", boundary", ", periodic", ", shortcut", ", shuffled"}[grids[g].kind]);
    MakeGrid(grids[g].side, grids[g].full, grids[g].kind, &offsets, &columns);
    levels = CheckOrdering(grids[g].side[0] * grids[g].side[1] * grids[g].side[2], offsets, columns, NULL, found);
    if (grids[g].levels) {
      Expect(!memcmp(found, grids[g].side, sizeof(found)), "taken for %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= grids[g].levels, "%d level sets, more than %d", levels, grids[g].levels);
      CheckRuns(grids[g].side, grids[g].run, offsets, columns, NULL);
    } else {
      Expect(!found[0], "taken for a grid of %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= 60, "%d level sets", levels);
    }
    free(offsets);
    free(columns);
    End();
  }
}

/* If the entries along a side are far larger, colors rise along it for longer, and no runs lie along it. */
static void CheckAnisotropicGrids(void)
{
  static const struct {
    int    side[3];
    double x, y;
    int    levels, run;
  } sizes[] = {
    {{70, 40, 1}, 1, 2, 7, 1},    {{70, 40, 1}, 10, 1, 19, 1},    {{70, 40, 1}, 1, 100, 35, 1},
    {{70, 40, 1}, 1, NAN, 35, 1}, {{70, 40, 1}, 0, 0, 7, 1},      {{362, 363, 1}, 5, 1, 12, 4},
    {{362, 363, 1}, 7, 1, 19, 1}, {{362, 363, 1}, 1, 100, 39, 4}, {{362, 363, 1}, NAN, 1, 39, 4},
  };

  for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
    const int *side = sizes[s].side, rows = side[0] * side[1];
    int       *offsets, *columns, found[3], levels;
    double    *values;

    Begin("multicolor: grid %d x %d, entries of %g along x, %g along y", side[0], side[1], sizes[s].x, sizes[s].y);
    MakeGrid(side, 0, WHOLE, &offsets, &columns);
    values = malloc(sizeof(double) * (size_t)offsets[rows]);
    for (int i = 0; i < rows; i++)
      for (int k = offsets[i]; k < offsets[i + 1]; k++)
        values[k] = columns[k] == i ? 4 : abs(columns[k] - i) == 1 ? -sizes[s].x : -sizes[s].y;
    levels = CheckOrdering(rows, offsets, columns, values, found);
    Expect(found[0] == side[0] && levels == sizes[s].levels, "%d level sets, not %d", levels, sizes[s].levels);
    CheckRuns(side, sizes[s].run, offsets, columns, values);
    free(offsets);
    free(columns);
    free(values);
    End();
  }
}

void TestGrids(void)
{
  CheckGrids();
  CheckAnisotropicGrids();
}
