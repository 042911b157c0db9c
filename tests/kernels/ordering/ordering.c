/*
   The multicolor ordering of awkward patterns, with values and without: it passes the checks of ordering_check.c, and
   does not depend on the order of columns. Grids are in grids.c.
*/
#include <limits.h>
#include "entry_list.h"

/* Values of every size, and some that are no numbers. */
static void FillValues(int n, uint64_t seed, double *values)
{
  static const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 1e-320, 1e308};
  Random              r     = seed;

  for (int k = 0; k < n; k++)
    values[k] = RandomBelow(&r, 8) ? (RandomBelow(&r, 2000) - 1000) / 100.0
                                   : odd[RandomBelow(&r, (int)(sizeof(odd) / sizeof(odd[0])))];
}

/* Without values and with them; also with the columns of each row reversed, on which the order must not depend. */
static void CheckPattern(const Entries *e)
{
  Entries       reversed = {.rows = e->rows};
  TrsvOrdering *one = NULL, *other = NULL;
  int          *offsets, *columns, *backwards, *same;
  double       *values = malloc(sizeof(double) * ((size_t)e->count + 1));

  MakeRowsOfEntries(e, &offsets, &columns);
  FillValues(e->count, (uint64_t)e->count, values);
  for (int k = e->count - 1; k >= 0; k--) AppendEntry(&reversed, e->row[k], e->column[k]);
  MakeRowsOfEntries(&reversed, &same, &backwards);
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
  FreeEntries(&reversed);
}

static void CheckShapes(void)
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
        if (shape && shape != 9 && shape < 14) AppendEntry(&e, i, i);
        for (int k = 0; k < 7 && shape == 15; k++)
          AppendEntry(&e, i,
                      (k < 2 ? n + (i + 1) / 2 * 2 - k : (i + 1) / 2 * 7 + k * k + (k == 6 && i % 10 == 8)) %
                        n); /* 1 and 2, 3 and 4, ... */
        for (int k = 0; k < 3; k++) {
          const int j = RandomBelow(&r, n);

          if (shape == 2 || shape == 12 || (shape == 9 && i % 3)) AppendEntry(&e, i, j);
          if (shape == 12) AppendEntry(&e, i, j);
          if (shape == 3) AppendEntry(&e, i, j), AppendEntry(&e, j, i);
          if (shape == 4 && j > i) AppendEntry(&e, i, j);
          if (shape == 8 && (i < n / 2) == (j < n / 2)) AppendEntry(&e, i, j);
        }
        if (shape == 5 && i != n / 2) AppendEntry(&e, n / 2, i);
        if (shape == 6 && i != n / 2) AppendEntry(&e, i, n / 2);
        if (shape == 7 && i) AppendEntry(&e, 0, i), AppendEntry(&e, i, 0);
        if (shape == 10)
          for (int j = 0; j < n; j++) AppendEntry(&e, i, j);
        for (int j = 0; j < n; j++)
          if ((shape == 13 && j < i && i - j < 40) || (shape == 14 && i != j)) AppendEntry(&e, i, j);
        if (shape == 11) AppendEntry(&e, i, (i + 1) % n), AppendEntry(&e, i, (i + n - 1) % n);
      }
      CheckPattern(&e);
      FreeEntries(&e);
    }
    End();
  }
}

/* The time must not grow faster than the entries: many hubs with many common leaves. */
static void CheckDenseRows(void)
{
  const int n = 20000, hubs = 20;
  Entries   e = {.rows = n};
  int      *offsets, *columns;

  Begin("multicolor: dense rows");
  for (int h = 0; h < hubs; h++)
    for (int i = hubs; i < n; i++) AppendEntry(&e, h, i);
  MakeRowsOfEntries(&e, &offsets, &columns);
  CheckOrdering(n, offsets, columns, NULL, NULL);
  free(offsets);
  free(columns);
  FreeEntries(&e);
  End();
}

static void CheckErrors(void)
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

    ExpectError(UploadNew(e < 2 ? offsets : falling, sizeof(offsets), &device), TRSV_SUCCESS, "offsets");
    ExpectError(UploadNew((const int *[]){above, below, good}[e], sizeof(good), &d), TRSV_SUCCESS,
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

/* Small patterns in which up to two numbers are replaced: host and device refuse the same patterns, and make the same
   order of the others. */
static void CheckRandomFaults(void)
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
    ExpectError(UploadNew(offsets, sizeof(int) * ((size_t)rows + 1), &o), TRSV_SUCCESS, "offsets");
    ExpectError(UploadNew(columns, sizeof(int) * (size_t)stored, &c), TRSV_SUCCESS, "columns");
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

/* The order does not depend on the schedule: rows with many entries, which wait for near and for far rows. */
static void CheckSchedules(void)
{
  const int n = 700;

  for (unsigned k = 0; k < (Reduced() ? 3 : 12); k++) {
    Entries e = {.rows = n};
    Random  r = k;
    int    *offsets, *columns;
    double *values;

    Begin("multicolor: schedule %u", k);
    for (int i = 0; i < n; i++) {
      AppendEntry(&e, i, i);
      if (i && i % 50) AppendEntry(&e, i, i - 1);
      for (int d = 0; d < 3; d++) AppendEntry(&e, i, RandomBelow(&r, n));
      for (int j = 0; j < i && i % 97 == 0; j += 2) AppendEntry(&e, i, j);
    }
    MakeRowsOfEntries(&e, &offsets, &columns);
    values = malloc(sizeof(double) * (size_t)e.count);
    FillValues(e.count, k, values);
    SimtSchedule(k);
    CheckOrdering(n, offsets, columns, values, NULL);
    SimtDefaults();
    free(values);
    free(offsets);
    free(columns);
    FreeEntries(&e);
    End();
  }
}

/* A lost word ends the search with an error. */
static void CheckGivesUp(void)
{
  enum { HALF = 256 };
  int offsets[2 * HALF + 1], columns[HALF], *o, *c;

  Begin("multicolor: a word is lost");
  for (int i = 0; i <= 2 * HALF; i++) offsets[i] = i < HALF ? 0 : i - HALF;
  for (int i = 0; i < HALF; i++) columns[i] = i;
  ExpectError(UploadNew(offsets, sizeof(offsets), &o), TRSV_SUCCESS, "offsets");
  ExpectError(UploadNew(columns, sizeof(columns), &c), TRSV_SUCCESS, "columns");
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
  CheckShapes();
  TestGrids();
  CheckDenseRows();
  CheckSchedules();
  CheckGivesUp();
  CheckErrors();
  CheckRandomFaults();
}
