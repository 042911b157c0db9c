/*
   The properties of a multicolor ordering: it is a permutation; rows of one color depend on each other in small
   blocks only; the result is the same every time and in either memory; there are few level sets.
*/
#include "check.h"

/* The number of level sets of L in an order */
static int CountLevels(int rows, const int *offsets, const int *columns, const int *order, const int *place)
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

/* The order on the device, with values or without, equals that of the host. */
static void CheckDevice(int rows, const int *offsets, const int *columns, const double *values,
                        const TrsvOrdering *host)
{
  int          *o = NULL, *c = NULL, *order = malloc(sizeof(int) * ((size_t)rows + 1));
  double       *v      = NULL;
  TrsvOrdering *device = NULL;

  if (!ExpectError(UploadNew(offsets, sizeof(int) * ((size_t)rows + 1), &o), TRSV_SUCCESS, "offsets"))
    goto done;
  if (!ExpectError(UploadNew(columns, sizeof(int) * (size_t)offsets[rows], &c), TRSV_SUCCESS, "columns"))
    goto done;
  if (values &&
      !ExpectError(UploadNew(values, sizeof(double) * (size_t)offsets[rows], &v), TRSV_SUCCESS, "values"))
    goto done;
  if (!ExpectError(TrsvOrderMulticolor(rows, o, c, v, TRSV_DEVICE, &device), TRSV_SUCCESS,
                   "TrsvOrderMulticolor on the device"))
    goto done;
  if (!Expect(device->rows == rows && device->memory == TRSV_DEVICE && !device->colors,
              "on the device %d rows, %d colors", device->rows, device->colors))
    goto done;
  ExpectError(TrsvDeviceDownload(order, device->order, sizeof(int) * (size_t)rows, NULL), TRSV_SUCCESS, "order");
  Expect(!memcmp(order, host->order, sizeof(int) * (size_t)rows), "another order on the device");
  Expect(!memcmp(device->grid, host->grid, sizeof(host->grid)), "another grid on the device");
done:
  TrsvOrderingDestroy(&device);
  TrsvDeviceFree(o);
  TrsvDeviceFree(c);
  TrsvDeviceFree(v);
  free(order);
}

/* The representative of the rows with which row i is joined. */
static int FindRoot(int *with, int i)
{
  while (with[i] != i) i = with[i] = with[with[i]];
  return i;
}

/* Expects a permutation by colors; returns the largest number of rows of one color that entries join. */
static int CheckColors(const TrsvOrdering *o, const int *offsets, const int *columns, const double *values, int *place,
                       int *with)
{
  const int rows  = o->rows;
  int      *color = malloc(sizeof(int) * ((size_t)rows + 1)), *size = calloc((size_t)rows + 1, sizeof(int)), most = 0,
      colors = 0, grid[3] = {0, 0, 0}, found = 0;
  TrsvColorMatrix A = {rows, offsets[rows], offsets, columns, values, NULL, NULL, NULL};

  if (rows) ExpectError(TrsvColorRows(&A, color, &colors, grid), TRSV_SUCCESS, "colors");
  Expect(!memcmp(grid, o->grid, sizeof(grid)), "another grid");
  for (int i = 0; i < rows; i++) place[i] = -1, with[i] = i;
  for (int p = 0; p < rows; p++) {
    const int i = o->order[p], before = p ? o->order[p - 1] : -1;

    if (!Expect(i >= 0 && i < rows && place[i] < 0, "row %d in place %d", i, p)) goto done;
    Expect(color[i] >= 0 && color[i] < colors, "row %d has color %d of %d", i, color[i], colors);
    Expect(!p || color[i] > color[before] || (color[i] == color[before] && i > before),
           "row %d of color %d in place %d", i, color[i], p);
    found += !p || color[i] != color[before];
    place[i] = p;
  }
  Expect(found == o->colors, "%d colors, not %d", o->colors, found);
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (color[i] == color[columns[k]]) with[FindRoot(with, i)] = FindRoot(with, columns[k]);
  for (int i = 0; i < rows; i++)
    if (++size[FindRoot(with, i)] > most) most = size[FindRoot(with, i)];
done:
  free(color);
  free(size);
  return most;
}

int CheckOrdering(int rows, const int *offsets, const int *columns, const double *values, int grid[3])
{
  int *place = malloc(sizeof(int) * ((size_t)rows + 1)), *with = malloc(sizeof(int) * ((size_t)rows + 1)), levels = 0,
      most;
  TrsvOrdering *o, *again;

  if (!ExpectError(TrsvOrderMulticolor(rows, offsets, columns, values, TRSV_HOST, &o), TRSV_SUCCESS,
                   "TrsvOrderMulticolor"))
    goto done;
  most = CheckColors(o, offsets, columns, values, place, with);
  if (!Expect(o->rows == rows && (!rows || most > 0), "%d rows", o->rows)) goto destroy;
  Expect(most <= 5, "%d rows of one color are joined", most); /* rows with the same columns stay together */
  levels = CountLevels(rows, offsets, columns, o->order, place);
  Expect(levels <= o->colors * most, "%d level sets of %d colors and blocks of %d", levels, o->colors, most);
  if (grid) memcpy(grid, o->grid, sizeof(o->grid));
  if (ExpectError(TrsvOrderMulticolor(rows, offsets, columns, values, TRSV_HOST, &again), TRSV_SUCCESS,
                  "TrsvOrderMulticolor again")) {
    Expect(again->colors == o->colors && !memcmp(again->order, o->order, sizeof(int) * (size_t)rows),
           "another order the second time");
    TrsvOrderingDestroy(&again);
  }
  CheckDevice(rows, offsets, columns, values, o);
destroy:
  TrsvOrderingDestroy(&o);
  Expect(o == NULL, "TrsvOrderingDestroy leaves the pointer");
done:
  free(place);
  free(with);
  return levels;
}
