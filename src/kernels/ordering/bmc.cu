/*
   The multicolour ordering on the device: regular grids, and the order that follows from colours; the colours of any other pattern are found in
   bmc_waves.cu. What is computed is in bmc.h, for the host, too: both give the same result. To the host come the samples of which a grid is
   guessed, a word that says whether a guess holds, and where the colours start.

   Mapping: a thread for each row. A stable sort by colour makes the order.
*/
#include "ordering/bmc_device.cuh"

static __global__ void bmc_sample(int rows, const int *offsets, const int *columns, const double *values, TrsvGridSamples *samples)
{
  const int entries = offsets[rows];

  if (threadIdx.x == 0) samples->entries = entries;
  TrsvGridSample(rows, entries, offsets, columns, values, (int)threadIdx.x, samples);
}

static __global__ void bmc_holds(const TrsvGrid g, int rows, const int *offsets, const int *columns, unsigned *wrong)
{
  const int i = trsv_index();

  if (i < rows && !TrsvGridHolds(&g, offsets, columns, i)) atomicMax(wrong, 1u);
}

static __global__ void bmc_grid_colours(const TrsvGrid g, int rows, unsigned *colour)
{
  const int i = trsv_index();

  if (i < rows) colour[i] = (unsigned)TrsvGridColour(&g, i);
}

static __global__ void bmc_natural(int rows, int *order)
{
  const int i = trsv_index();

  if (i < rows) order[i] = i;
}

/* Where each colour starts, from the colours of all rows in order; all start behind what is before them, those that have no rows, too. */
static __global__ void bmc_starts(int rows, int colours, const unsigned *sorted, int *start)
{
  const int p = trsv_index();

  if (p > rows) return;
  const int last = p < rows ? (int)sorted[p] : colours;
  for (int c = p ? (int)sorted[p - 1] + 1 : 0; c <= last; c++) start[c] = p;
}

static TrsvError Holds(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int rows  = g->side[0] * g->side[1] * g->side[2];
  unsigned  wrong = 0, *word;
  TrsvError error;

  TrsvCall(TrsvScratchUpload(&wrong, sizeof(wrong), &word, NULL));
  TRSV_LAUNCH(bmc_holds, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, *g, rows, offsets, columns, word);
  error = TrsvDeviceCheckLaunch("bmc_holds");
  if (!error) error = TrsvDeviceDownload(&wrong, word, sizeof(wrong), NULL);
  TrsvScratchFree(word, NULL);
  *yes = !wrong;
  return error;
}

/* Rows by colour. work [2 rows] is overwritten. */
static TrsvError Sort(int rows, const unsigned *colour, int colours, unsigned *work, TrsvOrdering *o)
{
  int *const natural = (int *)work + rows, *starts;
  TrsvError  error;

  TRSV_LAUNCH(bmc_natural, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, rows, natural);
  TrsvCall(TrsvDeviceCheckLaunch("bmc_natural"));
  TrsvCall(TrsvDeviceSort(rows, TrsvBits(colours - 1), colour, work, natural, o->order));
  TRSV_LAUNCH(bmc_starts, TrsvBlocks(rows + 1, BLOCK), BLOCK, 0, (TrsvStream)NULL, rows, colours, work, o->colour);
  TrsvCall(TrsvDeviceCheckLaunch("bmc_starts"));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colours + 1), &starts));
  error = TrsvDeviceDownload(starts, o->colour, sizeof(int) * ((size_t)colours + 1), NULL);
  if (!error) {
    o->colours = TrsvColoursPack(colours, starts);
    if (o->colours < colours) error = TrsvDeviceUpload(o->colour, starts, sizeof(int) * ((size_t)o->colours + 1), NULL);
  }
  free(starts);
  return error;
}

static TrsvError Samples(int rows, const int *offsets, const int *columns, const double *values, TrsvGridSamples *samples)
{
  TrsvGridSamples *room;
  TrsvError        error;

  TrsvCall(TrsvScratchAlloc(sizeof(*room), &room, NULL));
  TRSV_LAUNCH(bmc_sample, 1, TRSV_GRID_SAMPLES, 0, (TrsvStream)NULL, rows, offsets, columns, values, room);
  error = TrsvDeviceCheckLaunch("bmc_sample");
  if (!error) error = TrsvDeviceDownload(samples, room, sizeof(*samples), NULL);
  TrsvScratchFree(room, NULL);
  if (!error && samples->entries < 0) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", samples->entries);
  return error;
}

/* colour [3 rows]: and room for the sort */
static TrsvError Order(int rows, const int *offsets, const int *columns, const double *values, unsigned *colour, TrsvOrdering **ordering)
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid, colours;

  TrsvCall(Samples(rows, offsets, columns, values, &samples));
  TrsvCall(TrsvGridFind(rows, &samples, Holds, offsets, columns, &g, &grid));
  if (grid) {
    colours = TrsvGridColours(&g);
    TRSV_LAUNCH(bmc_grid_colours, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, g, rows, colour);
    TrsvCall(TrsvDeviceCheckLaunch("bmc_grid_colours"));
  } else TrsvCall(TrsvDeviceColourWaves(rows, samples.entries, offsets, columns, values, colour, &colours));
  TrsvCall(TrsvOrderingCreate(rows, colours, TRSV_DEVICE, ordering));
  if (grid)
    for (int s = 0; s < 3; s++) (*ordering)->grid[s] = g.side[s];
  return Sort(rows, colour, colours, colour + rows, *ordering);
}

extern "C" TrsvError TrsvDeviceOrder(int rows, const int *offsets, const int *columns, const double *values, TrsvOrdering **ordering)
{
  const int none = 0;
  unsigned *colour;
  TrsvError error;

  if (!rows) {
    TrsvCall(TrsvOrderingCreate(rows, 0, TRSV_DEVICE, ordering));
    return TrsvDeviceUpload((*ordering)->colour, &none, sizeof(none), NULL);
  }
  TrsvCall(TrsvScratchAlloc(3 * sizeof(unsigned) * (size_t)rows, &colour, NULL));
  error = Order(rows, offsets, columns, values, colour, ordering);
  TrsvScratchFree(colour, NULL);
  return error;
}
