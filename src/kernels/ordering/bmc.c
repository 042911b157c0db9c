/*
   The multicolour ordering: rows by colour, and inside a colour as they were. Rows of one colour do not depend on one another, or only within
   small blocks, so that a triangular factor without fill has few level sets, whatever its size.

   Its model is the algebraic block multicolour ordering (Iwashita, Nakashima, Takahashi: Algebraic block multi-color ordering method for
   parallel multi-threaded sparse triangular solver in ICCG method, IPDPS 2012). It differs in what decides over the iterations: not how near
   the rows of a block are, but how often a row comes before all its neighbours, for each such row leaves out the fill between all of them. So
   colours follow the matrix's own order for a long way, up and down in turn, and few rows are the first of their neighbours: in a regular grid
   along every side (bmc_grid.c), elsewhere along the strong entries (bmc_waves.c). (That long runs of colours save iterations: Doi, Washio: Ordering strategies and related techniques to
   overcome the trade-off between parallelism and convergence in incomplete factorizations, Parallel Computing 25, 1999.)
*/
#include <stdlib.h>
#include <string.h>
#include "ordering/bmc.h"

TrsvError TrsvOrderingCreate(int rows, int colours, TrsvMemory memory, TrsvOrdering **ordering)
{
  TrsvOrdering *o = calloc(1, sizeof(*o));
  TrsvError (*const room)(size_t, void *) = memory == TRSV_HOST ? TrsvAlloc : TrsvDeviceAlloc;
  TrsvError error;

  *ordering = NULL;
  if (!o) return TrsvFail(TRSV_ERR_MEMORY, "no memory for an ordering");
  o->rows    = rows;
  o->colours = colours;
  o->memory  = memory;
  error      = room(sizeof(int) * (size_t)rows, &o->order);
  if (!error) error = room(sizeof(int) * ((size_t)colours + 1), &o->colour);
  if (error) TrsvOrderingDestroy(&o);
  *ordering = o;
  return error;
}

void TrsvOrderingDestroy(TrsvOrdering **ordering)
{
  TrsvOrdering *o = *ordering;

  if (!o) return;
  TrsvFree(o->memory, o->order);
  TrsvFree(o->memory, o->colour);
  free(o);
  *ordering = NULL;
}

TrsvError TrsvOrderCheckRow(int rows, int i, int begin, int end, const int *columns)
{
  if (end < begin) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, begin, end);
  for (int k = 0; k < end - begin; k++)
    if (columns[k] < 0 || columns[k] >= rows) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: column %d of %d", i, columns[k], rows);
  return TRSV_SUCCESS;
}

int TrsvColoursPack(int colours, int *starts)
{
  int n = 0;

  for (int c = 0; c < colours; c++)
    if (starts[c + 1] > starts[c]) starts[++n] = starts[c + 1];
  return n;
}

/* The rows by their colours, a counting sort. */
static TrsvError Sort(int rows, const int *colour, int colours, TrsvOrdering **ordering)
{
  TrsvOrdering *o;
  int          *at;
  TrsvError     error;

  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colours + 1), &at));
  error     = TrsvOrderingCreate(rows, colours, TRSV_HOST, ordering);
  o         = *ordering;
  if (!error) {
    memset(o->colour, 0, sizeof(int) * ((size_t)colours + 1));
    for (int i = 0; i < rows; i++) o->colour[colour[i] + 1]++;
    for (int c = 0; c < colours; c++) o->colour[c + 1] += o->colour[c];
    memcpy(at, o->colour, sizeof(int) * ((size_t)colours + 1));
    for (int i = 0; i < rows; i++) o->order[at[colour[i]]++] = i;
    o->colours = TrsvColoursPack(colours, o->colour);
  }
  free(at);
  return error;
}

static TrsvError Holds(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int rows = g->side[0] * g->side[1] * g->side[2];

  *yes = 1;
  for (int i = 0; *yes && i < rows; i++) *yes = TrsvGridHolds(g, offsets, columns, i);
  return TRSV_SUCCESS;
}

/* Of a matrix on the host; colour [rows] is for work. */
static TrsvError Colour(int rows, const int *offsets, const int *columns, const double *values, int *colour, TrsvOrdering **ordering)
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid = 0, colours;

  samples.entries = offsets[rows];
  for (int s = 0; rows && s < TRSV_GRID_SAMPLES; s++) TrsvGridSample(rows, samples.entries, offsets, columns, values, s, &samples);
  if (rows) TrsvCall(TrsvGridFind(rows, &samples, Holds, offsets, columns, &g, &grid));
  if (grid) {
    for (int i = 0; i < rows; i++) colour[i] = TrsvGridColour(&g, i);
    colours = TrsvGridColours(&g);
  } else TrsvCall(TrsvColourWaves(rows, offsets, columns, values, colour, &colours));
  TrsvCall(Sort(rows, colour, colours, ordering));
  if (grid) memcpy((*ordering)->grid, g.side, sizeof(g.side));
  return TRSV_SUCCESS;
}

static TrsvError HostOrder(int rows, const int *offsets, const int *columns, const double *values, TrsvOrdering **ordering)
{
  int      *colour;
  TrsvError error;

  for (int i = 0; i < rows; i++) {
    if (offsets[i] < 0 || offsets[i + 1] > offsets[rows]) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i, offsets[i], offsets[i + 1], offsets[rows]);
    TrsvCall(TrsvOrderCheckRow(rows, i, offsets[i], offsets[i + 1], columns + offsets[i]));
  }
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)rows, &colour));
  error = Colour(rows, offsets, columns, values, colour, ordering);
  free(colour);
  return error;
}

/* A copy of device memory on the host, for the caller to free; *host stays NULL where there is nothing. */
static TrsvError Download(size_t bytes, const void *device, void *host)
{
  TrsvError error;

  if (!device) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(bytes, host));
  error = TrsvDeviceDownload(*(void **)host, device, bytes, NULL);
  if (!error) return TRSV_SUCCESS;
  free(*(void **)host);
  *(void **)host = NULL;
  return error;
}

/* Replaces an ordering on the host by its copy on the device. */
static TrsvError Move(TrsvOrdering **ordering)
{
  TrsvOrdering *host = *ordering;
  TrsvError     error;

  error = TrsvOrderingCreate(host->rows, host->colours, TRSV_DEVICE, ordering);
  if (!error) error = TrsvDeviceUpload((*ordering)->order, host->order, sizeof(int) * (size_t)host->rows, NULL);
  if (!error) error = TrsvDeviceUpload((*ordering)->colour, host->colour, sizeof(int) * ((size_t)host->colours + 1), NULL);
  if (!error) memcpy((*ordering)->grid, host->grid, sizeof(host->grid));
  TrsvOrderingDestroy(&host);
  return error;
}

TrsvError TrsvOrderByHost(int rows, const int *offsets, const int *columns, const double *values, TrsvOrdering **ordering)
{
  int      *o = NULL, *c = NULL, entries = 0;
  double   *v = NULL;
  TrsvError error;

  *ordering = NULL;
  TrsvCall(TrsvDeviceDownload(&entries, offsets + rows, sizeof(entries), NULL));
  if (entries < 0) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", entries);
  error = Download(sizeof(int) * ((size_t)rows + 1), offsets, &o);
  if (!error) error = Download(sizeof(int) * (size_t)entries, columns, &c);
  if (!error) error = Download(sizeof(double) * (size_t)entries, values, &v);
  if (!error) error = HostOrder(rows, o, c, v, ordering);
  if (!error) error = Move(ordering);
  if (error) TrsvOrderingDestroy(ordering);
  free(o);
  free(c);
  free(v);
  return error;
}

TrsvError TrsvOrderBMC(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory memory, TrsvOrdering **ordering)
{
  const double start = TrsvSeconds();
  TrsvError    error;

  *ordering = NULL;
  if (rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", rows);
  if (memory == TRSV_HOST) error = HostOrder(rows, offsets, columns, values, ordering);
  else error = TrsvDeviceOrder(rows, offsets, columns, values, ordering);
  if (error) TrsvOrderingDestroy(ordering);
  else (*ordering)->seconds = TrsvSeconds() - start;
  return error;
}
