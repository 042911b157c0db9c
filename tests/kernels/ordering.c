/*
   The block multicolour ordering, on patterns of every awkward kind and on grids: a permutation, blocks that do not touch inside a colour,
   no larger than asked, the same result every time and for columns in any order; and few level sets where a matrix is a grid.
*/
#include "check.h"

/* Entries by row and column, any number of times, in any order; a diagonal or none. */
typedef struct {
  int  rows, count, room;
  int *row, *column;
} Entries;

static void Put(Entries *e, int row, int column)
{
  if (e->count == e->room) {
    e->room   = 2 * e->room + 16;
    e->row    = realloc(e->row, sizeof(int) * (size_t)e->room);
    e->column = realloc(e->column, sizeof(int) * (size_t)e->room);
  }
  e->row[e->count]      = row;
  e->column[e->count++] = column;
}

/* Rows in the order in which the entries were put; duplicates stay. */
static void Rows(const Entries *e, int **offsets, int **columns)
{
  *offsets = calloc((size_t)e->rows + 2, sizeof(int));
  *columns = malloc(sizeof(int) * ((size_t)e->count + 1));
  for (int k = 0; k < e->count; k++) (*offsets)[e->row[k] + 2 > e->rows + 1 ? e->rows + 1 : e->row[k] + 2]++;
  for (int i = 1; i <= e->rows; i++) (*offsets)[i + 1] += (*offsets)[i];
  for (int k = 0; k < e->count; k++) (*columns)[(*offsets)[e->row[k] + 1]++] = e->column[k];
}

/* Level sets of L in an order */
static int Levels(int rows, const int *offsets, const int *columns, const int *order, const int *place)
{
  int *level = calloc((size_t)rows + 1, sizeof(int)), levels = 0;

  for (int p = 0; p < rows; p++) {
    const int i = order[p];

    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (place[columns[k]] < p && level[p] <= level[place[columns[k]]]) level[p] = level[place[columns[k]]] + 1;
    if (level[p] >= levels) levels = level[p] + 1;
  }
  free(level);
  return levels;
}

/* The same on the device. */
static void CheckDevice(int rows, const int *offsets, const int *columns, int size, const TrsvOrdering *host)
{
  int          *o = NULL, *c = NULL, *order = malloc(sizeof(int) * ((size_t)rows + 1)), *block = malloc(sizeof(int) * ((size_t)host->blocks + 1)), *colour = malloc(sizeof(int) * ((size_t)host->colours + 1));
  TrsvOrdering *device = NULL;

  if (!ExpectError(TrsvDeviceStage(offsets, sizeof(int) * ((size_t)rows + 1), &o, NULL), TRSV_SUCCESS, "offsets")) goto done;
  if (!ExpectError(TrsvDeviceStage(columns, sizeof(int) * (size_t)offsets[rows], &c, NULL), TRSV_SUCCESS, "columns")) goto done;
  if (!ExpectError(TrsvOrderBMC(rows, o, c, NULL, TRSV_DEVICE, size, &device), TRSV_SUCCESS, "TrsvOrderBMC on the device")) goto done;
  if (!Expect(device->rows == rows && device->blocks == host->blocks && device->colours == host->colours && device->memory == TRSV_DEVICE, "on the device %d blocks, %d colours, not %d, %d", device->blocks, device->colours, host->blocks, host->colours)) goto done;
  ExpectError(TrsvDeviceDownload(order, device->order, sizeof(int) * (size_t)rows, NULL), TRSV_SUCCESS, "order");
  ExpectError(TrsvDeviceDownload(block, device->block, sizeof(int) * ((size_t)host->blocks + 1), NULL), TRSV_SUCCESS, "block");
  ExpectError(TrsvDeviceDownload(colour, device->colour, sizeof(int) * ((size_t)host->colours + 1), NULL), TRSV_SUCCESS, "colour");
  Expect(!memcmp(order, host->order, sizeof(int) * (size_t)rows), "another order on the device");
  Expect(!memcmp(block, host->block, sizeof(int) * ((size_t)host->blocks + 1)), "other blocks on the device");
  Expect(!memcmp(colour, host->colour, sizeof(int) * ((size_t)host->colours + 1)), "other colours on the device");
  Expect(!memcmp(device->grid, host->grid, sizeof(host->grid)), "another grid on the device");
done:
  TrsvOrderingDestroy(&device);
  TrsvDeviceFree(o);
  TrsvDeviceFree(c);
  free(order);
  free(block);
  free(colour);
}

int CheckOrdering(int rows, const int *offsets, const int *columns, int size, int grid[3])
{
  int          *place = malloc(sizeof(int) * ((size_t)rows + 1)), *block = malloc(sizeof(int) * ((size_t)rows + 1)), *colour = malloc(sizeof(int) * ((size_t)rows + 1));
  int           levels = 0, most = 0;
  TrsvOrdering *o, *again;

  if (!ExpectError(TrsvOrderBMC(rows, offsets, columns, NULL, TRSV_HOST, size, &o), TRSV_SUCCESS, "TrsvOrderBMC")) goto done;
  Expect(o->rows == rows && o->block[0] == 0 && o->block[o->blocks] == rows && o->colour[0] == 0 && o->colour[o->colours] == o->blocks, "%d rows, %d blocks, %d colours", o->rows, o->blocks, o->colours);
  for (int i = 0; i < rows; i++) place[i] = -1;
  for (int c = 0; c < o->colours; c++) {
    Expect(o->colour[c + 1] > o->colour[c], "colour %d has no blocks", c);
    for (int b = o->colour[c]; b < o->colour[c + 1]; b++) {
      Expect(o->block[b + 1] > o->block[b], "block %d has no rows", b);
      if (o->block[b + 1] - o->block[b] > most) most = o->block[b + 1] - o->block[b];
      for (int p = o->block[b]; p < o->block[b + 1]; p++) {
        const int i = o->order[p];

        if (!Expect(i >= 0 && i < rows && place[i] < 0, "row %d in place %d", i, p)) goto destroy;
        Expect(p == o->block[b] || i > o->order[p - 1], "block %d does not rise", b);
        place[i]  = p;
        block[i]  = b;
        colour[i] = c;
      }
    }
  }
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (!Expect(colour[i] != colour[columns[k]] || block[i] == block[columns[k]], "rows %d and %d of colour %d touch", i, columns[k], colour[i])) goto destroy;
  Expect(o->grid[0] || most <= (size ? size : 8) || most <= 5, "a block of %d rows", most); /* 5: rows with the same columns stay together */
  levels = Levels(rows, offsets, columns, o->order, place);
  Expect(levels <= o->colours * most, "%d level sets of %d colours and blocks of %d", levels, o->colours, most);
  if (grid) memcpy(grid, o->grid, sizeof(o->grid));
  if (ExpectError(TrsvOrderBMC(rows, offsets, columns, NULL, TRSV_HOST, size, &again), TRSV_SUCCESS, "TrsvOrderBMC again")) {
    Expect(again->blocks == o->blocks && again->colours == o->colours && !memcmp(again->order, o->order, sizeof(int) * (size_t)rows), "another order the second time");
    TrsvOrderingDestroy(&again);
  }
  CheckDevice(rows, offsets, columns, size, o);
destroy:
  TrsvOrderingDestroy(&o);
  Expect(o == NULL, "TrsvOrderingDestroy leaves the pointer");
done:
  free(place);
  free(block);
  free(colour);
  return levels;
}

/* With blocks of several sizes; and, since the order of columns in a row means nothing, with the rows reversed. */
static void Check(const Entries *e)
{
  static const int sizes[] = {0, 1, 2, 5, 8, 32};
  Entries          reversed = {.rows = e->rows};
  int             *offsets, *columns, *backwards, *same;
  TrsvOrdering    *one = NULL, *other = NULL;

  Rows(e, &offsets, &columns);
  for (int k = e->count - 1; k >= 0; k--) Put(&reversed, e->row[k], e->column[k]);
  Rows(&reversed, &same, &backwards);
  for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) CheckOrdering(e->rows, offsets, columns, sizes[s], NULL);
  if (!TrsvOrderBMC(e->rows, offsets, columns, NULL, TRSV_HOST, 7, &one) && !one->grid[0] && ExpectError(TrsvOrderBMC(e->rows, offsets, backwards, NULL, TRSV_HOST, 7, &other), TRSV_SUCCESS, "reversed rows"))
    Expect(!memcmp(one->order, other->order, sizeof(int) * (size_t)e->rows), "the order of columns decides");
  TrsvOrderingDestroy(&one);
  TrsvOrderingDestroy(&other);
  free(offsets);
  free(columns);
  free(backwards);
  free(same);
  free(reversed.row);
  free(reversed.column);
}

static void Shapes(void)
{
  static const int         sizes[] = {0, 1, 2, 3, 9, 16, 33, 400};
  static const char *const names[] = {"no entries", "diagonal", "random", "random, symmetric", "upper triangle", "one dense row", "one dense column", "star", "two pieces", "empty rows", "full", "ring", "duplicates"};

  for (size_t shape = 0; shape < sizeof(names) / sizeof(names[0]); shape++) {
    Begin("bmc: %s", names[shape]);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
      const int n = sizes[s];
      Entries   e = {.rows = n};
      Random    r = shape * 100 + s;

      if (shape == 10 && n > 40) continue;
      for (int i = 0; i < n; i++) {
        if (shape && shape != 9) Put(&e, i, i);
        for (int k = 0; k < 3; k++) {
          const int j = RandomBelow(&r, n);

          if (shape == 2 || shape == 12 || (shape == 9 && i % 3)) Put(&e, i, j);
          if (shape == 12) Put(&e, i, j);
          if (shape == 3) Put(&e, i, j), Put(&e, j, i);
          if (shape == 4 && j > i) Put(&e, i, j);
          if (shape == 8 && (i < n / 2) == (j < n / 2)) Put(&e, i, j);
        }
        if (shape == 5 && i != n / 2) Put(&e, n / 2, i);
        if (shape == 6 && i != n / 2) Put(&e, i, n / 2);
        if (shape == 7 && i) Put(&e, 0, i), Put(&e, i, 0);
        if (shape == 10)
          for (int j = 0; j < n; j++) Put(&e, i, j);
        if (shape == 11) Put(&e, i, (i + 1) % n), Put(&e, i, (i + n - 1) % n);
      }
      Check(&e);
      free(e.row);
      free(e.column);
    }
    End();
  }
}

typedef enum {
  WHOLE,
  BOUNDARY, /* the rows of the boundary keep their diagonal only */
  PERIODIC, /* along x */
  SHORTCUT, /* one entry between points far from each other */
  SHUFFLED  /* the points in any order */
} Kind;

/* A grid; full: all neighbours across corners, too. Columns rise. */
static void Grid(const int side[3], int full, Kind kind, int **offsets, int **columns)
{
  const int n    = side[0] * side[1] * side[2];
  int      *name = malloc(sizeof(int) * (size_t)n);
  Entries   e    = {.rows = n};
  Random    r    = 5;

  for (int i = 0; i < n; i++) name[i] = i;
  for (int i = n - 1; kind == SHUFFLED && i > 0; i--) {
    const int j = RandomBelow(&r, i + 1), t = name[i];

    name[i] = name[j], name[j] = t;
  }
  for (int i = 0; i < n; i++) {
    const int x = i % side[0], y = i / side[0] % side[1], z = i / side[0] / side[1];

    if (kind == PERIODIC && x == side[0] - 1) Put(&e, name[i], name[i - x]);
    for (int d = 0; d < 27; d++) {
      const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, steps = abs(dx) + abs(dy) + abs(dz);

      if ((!full && steps > 1) || (kind == BOUNDARY && steps && (!x || !y || x == side[0] - 1 || y == side[1] - 1))) continue;
      if (x + dx < 0 || x + dx >= side[0] || y + dy < 0 || y + dy >= side[1] || z + dz < 0 || z + dz >= side[2]) continue;
      Put(&e, name[i], name[i + dx + side[0] * (dy + side[1] * dz)]);
    }
    if (kind == PERIODIC && !x) Put(&e, name[i], name[i + side[0] - 1]);
    if (kind == SHORTCUT && i == n / 2 + 1) Put(&e, name[i], name[n - 1]);
  }
  Rows(&e, offsets, columns);
  free(e.row);
  free(e.column);
  free(name);
}

static void Grids(void)
{
  static const struct {
    int  side[3], full;
    Kind kind;
    int  levels; /* no more than these, blocks of the default size */
  } grids[] = {
    {{40, 40, 1},  0, WHOLE,    15},
    {{37, 23, 1},  0, WHOLE,    15},
    {{4, 200, 1},  0, WHOLE,    15},
    {{40, 40, 1},  1, WHOLE,    40},
    {{37, 23, 1},  1, BOUNDARY, 40},
    {{16, 16, 16}, 0, WHOLE,    8 },
    {{7, 11, 13},  0, WHOLE,    8 },
    {{12, 9, 10},  1, WHOLE,    64},
    {{12, 9, 10},  0, BOUNDARY, 8 },
    {{40, 40, 1},  0, PERIODIC, 0 },
    {{40, 40, 1},  0, SHORTCUT, 0 },
    {{40, 40, 1},  0, SHUFFLED, 0 },
    {{9, 9, 9},    0, SHUFFLED, 0 },
  };

  for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++) {
    int *offsets, *columns, found[3] = {-1, -1, -1}, levels;

    Begin("bmc: grid %d x %d x %d%s%s", grids[g].side[0], grids[g].side[1], grids[g].side[2], grids[g].full ? ", full" : "", (const char *[]){"", ", boundary", ", periodic", ", shortcut", ", shuffled"}[grids[g].kind]);
    Grid(grids[g].side, grids[g].full, grids[g].kind, &offsets, &columns);
    levels = CheckOrdering(grids[g].side[0] * grids[g].side[1] * grids[g].side[2], offsets, columns, 0, found);
    if (grids[g].levels) {
      Expect(!memcmp(found, grids[g].side, sizeof(found)), "taken for %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= grids[g].levels, "%d level sets, more than %d", levels, grids[g].levels);
    } else {
      Expect(!found[0], "taken for a grid of %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= 60, "%d level sets", levels);
    }
    free(offsets);
    free(columns);
    End();
  }
}

/* No pattern takes time that grows faster than its entries: many hubs with many leaves in common. */
static void Hubs(void)
{
  const int n = 20000, hubs = 20;
  Entries   e = {.rows = n};
  int      *offsets, *columns;

  Begin("bmc: dense rows");
  for (int h = 0; h < hubs; h++)
    for (int i = hubs; i < n; i++) Put(&e, h, i);
  Rows(&e, &offsets, &columns);
  CheckOrdering(n, offsets, columns, 0, NULL);
  free(offsets);
  free(columns);
  free(e.row);
  free(e.column);
  End();
}

static void Errors(void)
{
  const int     offsets[] = {0, 1, 2}, falling[] = {0, 2, 1}, good[] = {1, 0}, above[] = {1, 2}, below[] = {-1, 0};
  TrsvOrdering *o;

  Begin("bmc: errors");
  ExpectError(TrsvOrderBMC(-1, offsets, good, NULL, TRSV_HOST, 0, &o), TRSV_ERR_ARGUMENT, "rows below zero");
  ExpectError(TrsvOrderBMC(2, offsets, good, NULL, TRSV_HOST, -1, &o), TRSV_ERR_ARGUMENT, "a size below zero");
  ExpectError(TrsvOrderBMC(2, offsets, above, NULL, TRSV_HOST, 0, &o), TRSV_ERR_STRUCTURE, "a column past the last");
  ExpectError(TrsvOrderBMC(2, offsets, below, NULL, TRSV_HOST, 0, &o), TRSV_ERR_STRUCTURE, "a column below zero");
  ExpectError(TrsvOrderBMC(2, falling, good, NULL, TRSV_HOST, 0, &o), TRSV_ERR_STRUCTURE, "falling offsets");
  Expect(o == NULL, "an ordering comes with an error");
  End();
}

void TestOrdering(void)
{
  Shapes();
  Grids();
  Hubs();
  Errors();
}
