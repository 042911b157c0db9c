/*
   The multicolor ordering, on patterns of every awkward kind and on grids, with values and without: it is what it has
   to be (ordering_check.c), for columns in any order, too.
*/
#include <limits.h>
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

/* Of every size, and some that are no numbers. */
static void Values(int n, uint64_t seed, double *values)
{
  static const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 1e-320, 1e308};
  Random              r     = seed;

  for (int k = 0; k < n; k++)
    values[k] = RandomBelow(&r, 8) ? (RandomBelow(&r, 2000) - 1000) / 100.0
                                   : odd[RandomBelow(&r, (int)(sizeof(odd) / sizeof(odd[0])))];
}

/* Without values and with; and, since the order of columns in a row means nothing, with the rows reversed. */
static void Check(const Entries *e)
{
  Entries       reversed = {.rows = e->rows};
  TrsvOrdering *one = NULL, *other = NULL;
  int          *offsets, *columns, *backwards, *same;
  double       *values = malloc(sizeof(double) * ((size_t)e->count + 1));

  Rows(e, &offsets, &columns);
  Values(e->count, (uint64_t)e->count, values);
  for (int k = e->count - 1; k >= 0; k--) Put(&reversed, e->row[k], e->column[k]);
  Rows(&reversed, &same, &backwards);
  CheckOrdering(e->rows, offsets, columns, NULL, NULL);
  CheckOrdering(e->rows, offsets, columns, values, NULL);
  if (!TrsvOrderMulticolor(e->rows, offsets, columns, NULL, TRSV_HOST, &one) && !one->grid[0] &&
      ExpectError(TrsvOrderMulticolor(e->rows, offsets, backwards, NULL, TRSV_HOST, &other), TRSV_SUCCESS,
                  "reversed rows"))
    Expect(!memcmp(one->order, other->order, sizeof(int) * (size_t)e->rows), "the order of columns decides");
  TrsvOrderingDestroy(&one);
  TrsvOrderingDestroy(&other);
  free(values);
  free(offsets);
  free(columns);
  free(backwards);
  free(same);
  free(reversed.row);
  free(reversed.column);
}

static void Shapes(void)
{
  static const int         sizes[] = {0, 1, 2, 3, 9, 16, 33, 150, 400};
  static const char *const names[] = {"no entries",
                                      "diagonal",
                                      "random",
                                      "random, symmetric",
                                      "upper triangle",
                                      "one dense row",
                                      "one dense column",
                                      "star",
                                      "two pieces",
                                      "empty rows",
                                      "full",
                                      "ring",
                                      "duplicates",
                                      "band",
                                      "full but for the diagonal",
                                      "pairs of rows alike, but for some"};

  for (size_t shape = 0; shape < sizeof(names) / sizeof(names[0]); shape++) {
    Begin("multicolor: %s", names[shape]);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
      const int n = sizes[s];
      Entries   e = {.rows = n};
      Random    r = shape * 100 + s;

      if ((shape == 10 && n > 40) || (shape == 14 && n > 150)) continue;
      for (int i = 0; i < n; i++) {
        if (shape && shape != 9 && shape < 14) Put(&e, i, i);
        for (int k = 0; k < 7 && shape == 15; k++)
          Put(&e, i,
              (k < 2 ? n + (i + 1) / 2 * 2 - k : (i + 1) / 2 * 7 + k * k + (k == 6 && i % 10 == 8)) %
                n); /* 1 and 2, 3 and 4, ... */
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
        for (int j = 0; j < n; j++)
          if ((shape == 13 && j < i && i - j < 40) || (shape == 14 && i != j)) Put(&e, i, j);
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

/* A grid; full: 1, all neighbors across corners, too; 2, no corners but two steps along each side. Columns rise. */
static void Grid(const int side[3], int full, Kind kind, int **offsets, int **columns)
{
  const int n    = side[0] * side[1] * side[2];
  int      *name = malloc(sizeof(int) * (size_t)n);
  Entries   e    = {.rows = n};
  Random    r    = 5;

  for (int i = 0; i < n; i++) name[i] = i;
  if (kind == SHUFFLED) Shuffle(&r, n, name);
  for (int i = 0; i < n; i++) {
    const int x = i % side[0], y = i / side[0] % side[1], z = i / side[0] / side[1];

    if (kind == PERIODIC && x == side[0] - 1) Put(&e, name[i], name[i - x]);
    for (int d = 0; d < 125; d++) {
      const int dx = d % 5 - 2, dy = d / 5 % 5 - 2, dz = d / 25 - 2, steps = abs(dx) + abs(dy) + abs(dz);

      if ((full < 2 && (abs(dx) > 1 || abs(dy) > 1 || abs(dz) > 1)) ||
          (full == 2 && (dx != 0) + (dy != 0) + (dz != 0) > 1))
        continue;
      if ((!full && steps > 1) || (kind == BOUNDARY && steps && (!x || !y || x == side[0] - 1 || y == side[1] - 1)))
        continue;
      if (x + dx < 0 || x + dx >= side[0] || y + dy < 0 || y + dy >= side[1] || z + dz < 0 || z + dz >= side[2])
        continue;
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

/* Rows of one color that touch are of the same so many in turn along x. */
static void Runs(const int side[3], int run, const int *offsets, const int *columns, const double *values)
{
  const int     rows  = side[0] * side[1] * side[2];
  int          *color = malloc(sizeof(int) * (size_t)rows), joined = 0;
  TrsvOrdering *o;

  if (ExpectError(TrsvOrderMulticolor(rows, offsets, columns, values, TRSV_HOST, &o), TRSV_SUCCESS,
                  "TrsvOrderMulticolor")) {
    for (int c = 0; c < o->colors; c++)
      for (int p = o->color[c]; p < o->color[c + 1]; p++) color[o->order[p]] = c;
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
    TrsvOrderingDestroy(&o);
  }
  free(color);
}

static void Grids(void)
{
  static const struct {
    int  side[3], full;
    Kind kind;
    int  levels, run; /* no more than these; points of a run */
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
    Grid(grids[g].side, grids[g].full, grids[g].kind, &offsets, &columns);
    levels = CheckOrdering(grids[g].side[0] * grids[g].side[1] * grids[g].side[2], offsets, columns, NULL, found);
    if (grids[g].levels) {
      Expect(!memcmp(found, grids[g].side, sizeof(found)), "taken for %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= grids[g].levels, "%d level sets, more than %d", levels, grids[g].levels);
      Runs(grids[g].side, grids[g].run, offsets, columns, NULL);
    } else {
      Expect(!found[0], "taken for a grid of %d x %d x %d", found[0], found[1], found[2]);
      Expect(levels <= 60, "%d level sets", levels);
    }
    free(offsets);
    free(columns);
    End();
  }
}

/* Colors rise for longer along the side whose entries are far larger, and there are no runs along that. */
static void Anisotropic(void)
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
    Grid(side, 0, WHOLE, &offsets, &columns);
    values = malloc(sizeof(double) * (size_t)offsets[rows]);
    for (int i = 0; i < rows; i++)
      for (int k = offsets[i]; k < offsets[i + 1]; k++)
        values[k] = columns[k] == i ? 4 : abs(columns[k] - i) == 1 ? -sizes[s].x : -sizes[s].y;
    levels = CheckOrdering(rows, offsets, columns, values, found);
    Expect(found[0] == side[0] && levels == sizes[s].levels, "%d level sets, not %d", levels, sizes[s].levels);
    Runs(side, sizes[s].run, offsets, columns, values);
    free(offsets);
    free(columns);
    free(values);
    End();
  }
}

/* No pattern takes time that grows faster than its entries: many hubs with many leaves in common. */
static void Hubs(void)
{
  const int n = 20000, hubs = 20;
  Entries   e = {.rows = n};
  int      *offsets, *columns;

  Begin("multicolor: dense rows");
  for (int h = 0; h < hubs; h++)
    for (int i = hubs; i < n; i++) Put(&e, h, i);
  Rows(&e, &offsets, &columns);
  CheckOrdering(n, offsets, columns, NULL, NULL);
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

  Begin("multicolor: errors");
  ExpectError(TrsvOrderMulticolor(-1, offsets, good, NULL, TRSV_HOST, &o), TRSV_ERR_ARGUMENT, "rows below zero");
  ExpectError(TrsvOrderMulticolor(2, offsets, above, NULL, TRSV_HOST, &o), TRSV_ERR_STRUCTURE,
              "a column past the last");
  ExpectError(TrsvOrderMulticolor(2, offsets, below, NULL, TRSV_HOST, &o), TRSV_ERR_STRUCTURE, "a column below zero");
  ExpectError(TrsvOrderMulticolor(2, falling, good, NULL, TRSV_HOST, &o), TRSV_ERR_STRUCTURE, "falling offsets");
  for (int e = 0; e < 3; e++) {
    int *device, *d;

    ExpectError(TrsvScratchUpload(e < 2 ? offsets : falling, sizeof(offsets), &device, NULL), TRSV_SUCCESS, "offsets");
    ExpectError(TrsvScratchUpload((const int *[]){above, below, good}[e], sizeof(good), &d, NULL), TRSV_SUCCESS,
                "columns");
    ExpectError(
      TrsvOrderMulticolor(2, device, d, NULL, TRSV_DEVICE, &o), TRSV_ERR_STRUCTURE,
      (const char *[]){"a column past the last, on the device", "below zero, there", "falling offsets, there"}[e]);
    TrsvDeviceFree(device);
    TrsvDeviceFree(d);
  }
  Expect(o == NULL, "an ordering comes with an error");
  End();
}

/* Small patterns, with up to two numbers of them replaced: the host and the device refuse the same, and make the same
 * order of the others. */
static void RandomFaults(void)
{
  enum { ROWS = 12 };
  Random rng     = 5;
  int    refused = 0, made = 0;

  Begin("multicolor: random faults");
  for (int n = 0; n < (Reduced() ? 200 : 1000); n++) {
    const int rows     = 1 + RandomBelow(&rng, ROWS),
              values[] = {-1, INT_MIN, INT_MAX, rows, RandomBelow(&rng, ROWS), RandomBelow(&rng, ROWS * ROWS)};
    int           offsets[ROWS + 1] = {0}, columns[ROWS * ROWS + 1], stored = 0, order[ROWS], *o = NULL, *c = NULL;
    TrsvOrdering *host, *device;
    TrsvError     error, there;

    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < rows; j++)
        if (i == j || !RandomBelow(&rng, 3)) columns[stored++] = j;
      offsets[i + 1] = stored;
    }
    for (int faults = RandomBelow(&rng, 3); faults > 0; faults--) {
      const int value = values[RandomBelow(&rng, 6)];

      if (RandomBelow(&rng, 2)) columns[RandomBelow(&rng, stored)] = value;
      else offsets[RandomBelow(&rng, rows)] = value;
    }
    ExpectError(TrsvScratchUpload(offsets, sizeof(int) * ((size_t)rows + 1), &o, NULL), TRSV_SUCCESS, "offsets");
    ExpectError(TrsvScratchUpload(columns, sizeof(int) * (size_t)stored, &c, NULL), TRSV_SUCCESS, "columns");
    error = TrsvOrderMulticolor(rows, offsets, columns, NULL, TRSV_HOST, &host);
    there = TrsvOrderMulticolor(rows, o, c, NULL, TRSV_DEVICE, &device);
    *(error ? &refused : &made) += 1;
    Expect(!error || error == TRSV_ERR_STRUCTURE, "pattern %d: error %d", n, (int)error);
    Expect(there == error, "pattern %d: error %d on the device, %d on the host: %s", n, (int)there, (int)error,
           TrsvErrorMessage());
    if (!error && !there) {
      ExpectError(TrsvDeviceDownload(order, device->order, sizeof(int) * (size_t)rows, NULL), TRSV_SUCCESS, "order");
      Expect(!memcmp(order, host->order, sizeof(int) * (size_t)rows), "pattern %d: another order on the device", n);
    }
    TrsvOrderingDestroy(&host);
    TrsvOrderingDestroy(&device);
    TrsvDeviceFree(o);
    TrsvDeviceFree(c);
  }
  Expect(refused > 50 && made > 50, "%d refused, %d made", refused, made);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* The same on the device whatever its threads' order: rows with many entries, that wait for near and for far ones. */
static void Schedules(void)
{
  const int n = 700;

  for (unsigned k = 0; k < (Reduced() ? 3 : 12); k++) {
    Entries e = {.rows = n};
    Random  r = k;
    int    *offsets, *columns;
    double *values;

    Begin("multicolor: schedule %u", k);
    for (int i = 0; i < n; i++) {
      Put(&e, i, i);
      if (i && i % 50) Put(&e, i, i - 1);
      for (int d = 0; d < 3; d++) Put(&e, i, RandomBelow(&r, n));
      for (int j = 0; j < i && i % 97 == 0; j += 2) Put(&e, i, j);
    }
    Rows(&e, &offsets, &columns);
    values = malloc(sizeof(double) * (size_t)e.count);
    Values(e.count, k, values);
    SimtSchedule(k);
    CheckOrdering(n, offsets, columns, values, NULL);
    SimtDefaults();
    free(values);
    free(offsets);
    free(columns);
    free(e.row);
    free(e.column);
    End();
  }
}

/* A word that never arrives ends the search, with an error. */
static void GivesUp(void)
{
  enum { HALF = 256 };
  int offsets[2 * HALF + 1], columns[HALF], *o, *c;

  Begin("multicolor: a word is lost");
  for (int i = 0; i <= 2 * HALF; i++) offsets[i] = i < HALF ? 0 : i - HALF;
  for (int i = 0; i < HALF; i++) columns[i] = i;
  ExpectError(TrsvScratchUpload(offsets, sizeof(offsets), &o, NULL), TRSV_SUCCESS, "offsets");
  ExpectError(TrsvScratchUpload(columns, sizeof(columns), &c, NULL), TRSV_SUCCESS, "columns");
  SimtSettings.resident = 1; /* the first block ends before the second starts */
  SimtSettings.bounded  = 1;
  SimtSettings.loser    = "multicolor_words";
  for (long k = 1; k <= HALF; k += Reduced() ? 100 : 11) {
    TrsvOrdering *ordering;

    SimtSettings.lose = k;
    ExpectError(TrsvOrderMulticolor(2 * HALF, o, c, NULL, TRSV_DEVICE, &ordering), TRSV_ERR_TIMEOUT,
                "TrsvOrderMulticolor");
    Expect(!ordering, "an ordering in spite of the error");
    TrsvOrderingDestroy(&ordering);
  }
  SimtDefaults();
  TrsvDeviceFree(o);
  TrsvDeviceFree(c);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestOrdering(void)
{
  Shapes();
  Grids();
  Anisotropic();
  Hubs();
  Schedules();
  GivesUp();
  Errors();
  RandomFaults();
}
