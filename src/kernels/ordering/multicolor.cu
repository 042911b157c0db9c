/*
   The multicolor ordering on the device: regular grids, and the order that follows from colors; the colors of any other
   pattern are found in multicolor_waves.cu. What is computed is in multicolor.h, for the host, too: both give the same
   result. To the host come the samples of which a grid is guessed, a word that says whether a guess holds, and where
   the colors start.

   Mapping: a thread for each row. A stable sort by color makes the order.
*/
#include "ordering/multicolor_device.cuh"

static __global__ void multicolor_sample(int rows, const int *offsets, const int *columns, const double *values,
                                         TrsvGridSamples *samples)
{
  const int entries = offsets[rows];

  if (threadIdx.x == 0) samples->entries = entries;
  TrsvGridSample(rows, entries, offsets, columns, values, (int)threadIdx.x, samples);
}

static __global__ void multicolor_holds(const TrsvGrid g, int rows, const int *offsets, const int *columns,
                                        unsigned *wrong)
{
  const int i = trsv_index();

  if (i < rows && !TrsvGridHolds(&g, offsets, columns, i)) atomicMax(wrong, 1u);
}

static __global__ void multicolor_grid_colors(const TrsvGrid g, int rows, unsigned *color)
{
  const int i = trsv_index();

  if (i < rows) color[i] = (unsigned)TrsvGridColor(&g, i);
}

static __global__ void multicolor_natural(int rows, int *order)
{
  const int i = trsv_index();

  if (i < rows) order[i] = i;
}

/* Where each color starts, from the colors of all rows in order; all start behind what is before them, those that have
   no rows, too. */
static __global__ void multicolor_starts(int rows, int colors, const unsigned *sorted, int *start)
{
  const int p = trsv_index();

  if (p > rows) return;
  const int last = p < rows ? (int)sorted[p] : colors;
  for (int c = p ? (int)sorted[p - 1] + 1 : 0; c <= last; c++) start[c] = p;
}

static TrsvError Holds(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int rows  = g->side[0] * g->side[1] * g->side[2];
  unsigned  wrong = 0, *word;
  TrsvError error;

  TrsvCall(TrsvScratchUpload(&wrong, sizeof(wrong), &word, NULL));
  TRSV_LAUNCH(multicolor_holds, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, *g, rows, offsets, columns, word);
  error = TrsvDeviceCheckLaunch("multicolor_holds");
  if (!error) error = TrsvDeviceDownload(&wrong, word, sizeof(wrong), NULL);
  TrsvScratchFree(word, NULL);
  *yes = !wrong;
  return error;
}

/* Rows by color. work [2 rows] is overwritten. */
static TrsvError Sort(int rows, const unsigned *color, int colors, unsigned *work, TrsvOrdering *o)
{
  int *const natural = (int *)work + rows, *starts;
  TrsvError  error;

  TRSV_LAUNCH(multicolor_natural, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, rows, natural);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_natural"));
  TrsvCall(TrsvDeviceSort(rows, TrsvBits(colors - 1), color, work, natural, o->order));
  TRSV_LAUNCH(multicolor_starts, TrsvBlocks(rows + 1, BLOCK), BLOCK, 0, (TrsvStream)NULL, rows, colors, work, o->color);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_starts"));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colors + 1), &starts));
  error = TrsvDeviceDownload(starts, o->color, sizeof(int) * ((size_t)colors + 1), NULL);
  if (!error) {
    o->colors = TrsvColorsPack(colors, starts);
    if (o->colors < colors) error = TrsvDeviceUpload(o->color, starts, sizeof(int) * ((size_t)o->colors + 1), NULL);
  }
  free(starts);
  return error;
}

static TrsvError Samples(int rows, const int *offsets, const int *columns, const double *values,
                         TrsvGridSamples *samples)
{
  TrsvGridSamples *room;
  TrsvError        error;

  TrsvCall(TrsvScratchAlloc(sizeof(*room), &room, NULL));
  TRSV_LAUNCH(multicolor_sample, 1, TRSV_GRID_SAMPLES, 0, (TrsvStream)NULL, rows, offsets, columns, values, room);
  error = TrsvDeviceCheckLaunch("multicolor_sample");
  if (!error) error = TrsvDeviceDownload(samples, room, sizeof(*samples), NULL);
  TrsvScratchFree(room, NULL);
  if (!error && samples->entries < 0) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", samples->entries);
  return error;
}

/* color [3 rows]: and room for the sort */
static TrsvError Order(int rows, const int *offsets, const int *columns, const double *values, unsigned *color,
                       TrsvOrdering **ordering)
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid, colors;

  TrsvCall(Samples(rows, offsets, columns, values, &samples));
  TrsvCall(TrsvGridFind(rows, &samples, Holds, offsets, columns, &g, &grid));
  if (grid) {
    colors = TrsvGridColors(&g);
    TRSV_LAUNCH(multicolor_grid_colors, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, g, rows, color);
    TrsvCall(TrsvDeviceCheckLaunch("multicolor_grid_colors"));
  } else TrsvCall(TrsvDeviceColorWaves(rows, samples.entries, offsets, columns, values, color, &colors));
  TrsvCall(TrsvOrderingCreate(rows, colors, TRSV_DEVICE, ordering));
  if (grid)
    for (int s = 0; s < 3; s++) (*ordering)->grid[s] = g.side[s];
  return Sort(rows, color, colors, color + rows, *ordering);
}

extern "C" TrsvError TrsvDeviceOrder(int rows, const int *offsets, const int *columns, const double *values,
                                     TrsvOrdering **ordering)
{
  const int none = 0;
  unsigned *color;
  TrsvError error;

  if (!rows) {
    TrsvCall(TrsvOrderingCreate(rows, 0, TRSV_DEVICE, ordering));
    return TrsvDeviceUpload((*ordering)->color, &none, sizeof(none), NULL);
  }
  TrsvCall(TrsvScratchAlloc(3 * sizeof(unsigned) * (size_t)rows, &color, NULL));
  error = Order(rows, offsets, columns, values, color, ordering);
  TrsvScratchFree(color, NULL);
  return error;
}
