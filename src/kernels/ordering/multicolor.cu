/*
   The multicolor ordering on the device: the colors of regular grids, and the order of the rows from their colors.
   multicolor_waves.cu finds the colors of other patterns. The formulas are in multicolor.h; host and device give the
   same order. The host downloads the sample from which it guesses a grid, and the result of each check of a guess.

   Mapping: a thread for each row; a stable sort by color. Memory order: launches in sequence. Why it ends: no thread
   waits. Same bits: results are integers.
*/
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

static TrsvError CheckGrid(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int   rows  = g->side[0] * g->side[1] * g->side[2];
  unsigned    wrong, *word;
  TrsvScratch scratch;

  TrsvCall(scratch.zeros(1, word));
  TrsvCall(TrsvLaunchEach(multicolor_check_grid, rows, *g, rows, offsets, columns, word));
  TrsvCall(TrsvDeviceDownload(&wrong, word, sizeof(wrong), NULL));
  *yes = !wrong;
  return TRSV_SUCCESS;
}

static TrsvError SampleRows(int rows, const int *offsets, const int *columns, const double *values,
                            TrsvGridSamples *samples)
{
  TrsvScratch      scratch;
  TrsvGridSamples *sampled;

  TrsvCall(scratch.take(1, sampled));
  TrsvCall(TrsvLaunch(multicolor_sample, 1, TRSV_GRID_SAMPLES, 0, NULL, rows, offsets, columns, values, sampled));
  TrsvCall(TrsvDeviceDownload(samples, sampled, sizeof(*samples), NULL));
  return samples->entries < 0 ? TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", samples->entries) : TRSV_SUCCESS;
}

extern "C" TrsvError TrsvDeviceOrder(const int *offsets, const int *columns, const double *values, TrsvOrdering *o)
{
  const int       rows = o->rows;
  TrsvScratch     scratch;
  TrsvGridSamples samples;
  TrsvGrid        g;
  unsigned       *color, *sorted;
  int            *natural, grid, colors;

  TrsvCall(scratch.take((size_t)rows, color, (size_t)rows, sorted, (size_t)rows, natural));
  TrsvCall(SampleRows(rows, offsets, columns, values, &samples));
  TrsvCall(TrsvGridFind(rows, &samples, CheckGrid, offsets, columns, &g, &grid));
  if (grid) {
    colors = TrsvGridColors(&g);
    for (int s = 0; s < 3; s++) o->grid[s] = g.side[s];
    TrsvCall(TrsvLaunchEach(multicolor_grid_colors, rows, g, rows, color));
  } else TrsvCall(TrsvDeviceColorWaves(rows, samples.entries, offsets, columns, values, color, &colors));
  TrsvCall(TrsvLaunchEach(multicolor_natural, rows, rows, natural));
  return TrsvDeviceSort(rows, TrsvBits(colors - 1), color, sorted, natural, o->order);
}
