/*
   The multicolor ordering on the device: the colors of regular grids, and the order of the rows from their colors.
   multicolor_waves.cu finds the colors of other patterns. The formulas are in multicolor.h; host and device give the
   same result. The host downloads the sample from which it guesses a grid, the result of each check of a guess, and
   the starts of the colors.

   Mapping: a thread for each row; a stable sort by color. Memory order: launches in sequence. Why it ends: no thread
   waits. Same bits: results are integers.
*/
#include <stdlib.h>
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "ordering/multicolor.h"

static __global__ void multicolor_sample(int rows, const int *offsets, const int *columns, const double *values,
                                         TrsvGridSamples *samples)
{
  const int entries = offsets[rows];

  if (threadIdx.x == 0) samples->entries = entries;
  TrsvGridSample(rows, entries, offsets, columns, values, (int)threadIdx.x, samples);
}

static __global__ void multicolor_check_grid(const TrsvGrid g, int rows, const int *offsets, const int *columns,
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

/* Where each color starts, from the sorted colors of all rows. A color without rows starts where the next one does. */
static __global__ void multicolor_starts(int rows, int colors, const unsigned *sorted, int *start)
{
  const int p = trsv_index();

  if (p > rows) return;
  const int last = p < rows ? (int)sorted[p] : colors;
  for (int c = p ? (int)sorted[p - 1] + 1 : 0; c <= last; c++) start[c] = p;
}

static TrsvError CheckGrid(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int   rows  = g->side[0] * g->side[1] * g->side[2];
  unsigned    wrong = 0, *word;
  TrsvScratch scratch;

  TrsvCall(scratch.upload(1, &wrong, word));
  TrsvCall(TrsvLaunchEach("multicolor_check_grid", multicolor_check_grid, rows, *g, rows, offsets, columns, word));
  TrsvCall(TrsvDeviceDownload(&wrong, word, sizeof(wrong), NULL));
  *yes = !wrong;
  return TRSV_SUCCESS;
}

/* work [2 rows] */
static TrsvError SortByColor(int rows, const unsigned *color, int colors, unsigned *work, TrsvOrdering *o)
{
  int *const natural = (int *)work + rows, *starts;
  TrsvError  error;

  TrsvCall(TrsvLaunchEach("multicolor_natural", multicolor_natural, rows, rows, natural));
  TrsvCall(TrsvDeviceSort(rows, TrsvBits(colors - 1), color, work, natural, o->order));
  TrsvCall(TrsvLaunchEach("multicolor_starts", multicolor_starts, (size_t)rows + 1, rows, colors, work, o->color));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colors + 1), &starts));
  error = TrsvDeviceDownload(starts, o->color, sizeof(int) * ((size_t)colors + 1), NULL);
  if (!error) {
    o->colors = TrsvColorsPack(colors, starts);
    if (o->colors < colors) error = TrsvDeviceUpload(o->color, starts, sizeof(int) * ((size_t)o->colors + 1), NULL);
  }
  free(starts);
  return error;
}

static TrsvError SampleRows(int rows, const int *offsets, const int *columns, const double *values,
                            TrsvGridSamples *samples)
{
  TrsvScratch      scratch;
  TrsvGridSamples *sampled;

  TrsvCall(scratch.take(1, sampled));
  TRSV_LAUNCH(multicolor_sample, 1, TRSV_GRID_SAMPLES, 0, (TrsvStream)NULL, rows, offsets, columns, values, sampled);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_sample"));
  TrsvCall(TrsvDeviceDownload(samples, sampled, sizeof(*samples), NULL));
  return samples->entries < 0 ? TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", samples->entries) : TRSV_SUCCESS;
}

extern "C" TrsvError TrsvDeviceOrder(int rows, const int *offsets, const int *columns, const double *values,
                                     TrsvOrdering **ordering)
{
  const int       none = 0;
  TrsvScratch     scratch;
  TrsvGridSamples samples;
  TrsvGrid        g;
  unsigned       *color;
  int             grid, colors;

  if (!rows) {
    TrsvCall(TrsvOrderingCreate(rows, 0, TRSV_DEVICE, ordering));
    return TrsvDeviceUpload((*ordering)->color, &none, sizeof(none), NULL);
  }
  TrsvCall(scratch.take(3 * (size_t)rows, color)); /* and workspace of the sort */
  TrsvCall(SampleRows(rows, offsets, columns, values, &samples));
  TrsvCall(TrsvGridFind(rows, &samples, CheckGrid, offsets, columns, &g, &grid));
  if (grid) {
    colors = TrsvGridColors(&g);
    TrsvCall(TrsvLaunchEach("multicolor_grid_colors", multicolor_grid_colors, rows, g, rows, color));
  } else TrsvCall(TrsvDeviceColorWaves(rows, samples.entries, offsets, columns, values, color, &colors));
  TrsvCall(TrsvOrderingCreate(rows, colors, TRSV_DEVICE, ordering));
  if (grid)
    for (int s = 0; s < 3; s++) (*ordering)->grid[s] = g.side[s];
  return SortByColor(rows, color, colors, color + rows, *ordering);
}
