/*
   The block multicolour ordering (Iwashita, Nakashima, Takahashi: Algebraic block multi-color ordering method for parallel multi-threaded
   sparse triangular solver in ICCG method, IPDPS 2012): rows are gathered into blocks of neighbours, blocks that touch get different
   colours, and the rows are ordered by colour, block, and inside a block as they were. Blocks of one colour do not depend on one another,
   so that a triangular factor without fill has no more level sets than colours times rows of a block, whatever its size.

   Differences from the paper: where the matrix is a regular grid the blocks are boxes of it (bmc_grid.c); elsewhere they come from matching
   (bmc_blocks.c), which a device can do as well, not from a search that goes row by row; the colours are balanced.
*/
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "bmc.h"

static const int default_size = 8;

static double Seconds(void)
{
  struct timespec t;

  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static TrsvError Room(TrsvMemory memory, size_t n, int **array)
{
  return (memory == TRSV_HOST ? TrsvAlloc : TrsvDeviceAlloc)(sizeof(int) * n, array);
}

TrsvError TrsvOrderingCreate(int rows, int blocks, int colours, TrsvMemory memory, TrsvOrdering **ordering)
{
  TrsvOrdering *o = calloc(1, sizeof(*o));
  TrsvError     error;

  *ordering = NULL;
  if (!o) return TrsvFail(TRSV_ERR_MEMORY, "no memory for an ordering");
  o->rows    = rows;
  o->blocks  = blocks;
  o->colours = colours;
  o->memory  = memory;
  error      = Room(memory, (size_t)rows, &o->order);
  if (!error) error = Room(memory, (size_t)blocks + 1, &o->block);
  if (!error) error = Room(memory, (size_t)colours + 1, &o->colour);
  if (error) TrsvOrderingDestroy(&o);
  *ordering = o;
  return error;
}

void TrsvOrderingDestroy(TrsvOrdering **ordering)
{
  TrsvOrdering *o = *ordering;

  if (!o) return;
  TrsvFree(o->memory, o->order);
  TrsvFree(o->memory, o->block);
  TrsvFree(o->memory, o->colour);
  free(o);
  *ordering = NULL;
}

/* The smallest colour that no neighbour has, block by block. used [n + 1] is for work; returns how many colours there are. */
static int Colour(const TrsvGraph *g, int *colour, int *used)
{
  int colours = 0;

  for (int b = 0; b <= g->n; b++) used[b] = -1;
  for (int b = 0; b < g->n; b++) {
    int c = 0;

    for (int k = g->offsets[b]; k < g->offsets[b + 1]; k++)
      if (g->columns[k] < b) used[colour[g->columns[k]]] = b;
    while (used[c] == b) c++;
    colour[b] = c;
    if (c >= colours) colours = c + 1;
  }
  return colours;
}

/* Moves rows from colours that have more than their share to those that have less. */
static void Balance(const TrsvGraph *g, int colours, int *colour, long *rows, int *used)
{
  long share = 0;

  memset(rows, 0, sizeof(long) * (size_t)colours);
  for (int b = 0; b < g->n; b++) rows[colour[b]] += g->sizes ? g->sizes[b] : 1;
  for (int c = 0; c < colours; c++) share += rows[c];
  share /= colours;
  for (int b = 0; b <= g->n; b++) used[b] = -1;
  for (int b = 0; b < g->n; b++) {
    const int size = g->sizes ? g->sizes[b] : 1, from = colour[b];
    int       to   = from;

    if (rows[from] - size < share) continue;
    for (int k = g->offsets[b]; k < g->offsets[b + 1]; k++) used[colour[g->columns[k]]] = b;
    for (int c = 0; c < colours; c++)
      if (used[c] != b && rows[c] + size <= share && rows[c] < rows[to]) to = c;
    rows[from] -= size;
    rows[to] += size;
    colour[b] = to;
  }
}

/* By colour, block, row: two counting sorts. at [blocks] is for work. */
static void Fill(int rows, const TrsvGraph *g, const int *block, const int *colour, int *at, TrsvOrdering *o)
{
  memset(o->colour, 0, sizeof(int) * ((size_t)o->colours + 1));
  for (int b = 0; b < g->n; b++) o->colour[colour[b] + 1]++;
  for (int c = 0; c < o->colours; c++) o->colour[c + 1] += o->colour[c];
  for (int b = 0; b < g->n; b++) { /* at: the place of block b; colour c is full when o->colour[c] has become its end */
    at[b]               = o->colour[colour[b]]++;
    o->block[at[b] + 1] = g->sizes ? g->sizes[b] : 1;
  }
  for (int c = o->colours; c > 0; c--) o->colour[c] = o->colour[c - 1];
  o->colour[0] = o->block[0] = 0;
  for (int b = 0; b < g->n; b++) o->block[b + 1] += o->block[b];
  for (int b = 0; b < g->n; b++) at[b] = o->block[at[b]];
  for (int i = 0; i < rows; i++) o->order[at[block[i]]++] = i;
}

static TrsvError OrderBlocks(int rows, const int *block, const TrsvGraph *g, int *colour, int *used, TrsvOrdering **ordering)
{
  const int colours = Colour(g, colour, used);
  long     *share;

  TrsvCall(TrsvAlloc(sizeof(long) * (size_t)colours, &share));
  if (colours) Balance(g, colours, colour, share, used);
  free(share);
  TrsvCall(TrsvOrderingCreate(rows, g->n, colours, TRSV_HOST, ordering));
  Fill(rows, g, block, colour, used, *ordering);
  return TRSV_SUCCESS;
}

/* TrsvOrderBMC of a matrix on the host. */
static TrsvError Order(int rows, const int *offsets, const int *columns, const double *values, int size, TrsvOrdering **ordering)
{
  TrsvGraph g    = {0};
  int      *work = NULL;
  TrsvError error;

  TrsvCall(TrsvOrderGrid(rows, offsets, columns, size, ordering));
  if (*ordering) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(int) * (3 * (size_t)rows + 1), &work));
  error = TrsvBlocksCreate(rows, offsets, columns, values, size ? size : default_size, work, &g);
  if (!error) error = OrderBlocks(rows, work, &g, work + rows, work + 2 * rows, ordering);
  free(work);
  TrsvGraphFree(&g);
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

  error = TrsvOrderingCreate(host->rows, host->blocks, host->colours, TRSV_DEVICE, ordering);
  if (!error) error = TrsvDeviceUpload((*ordering)->order, host->order, sizeof(int) * (size_t)host->rows, NULL);
  if (!error) error = TrsvDeviceUpload((*ordering)->block, host->block, sizeof(int) * ((size_t)host->blocks + 1), NULL);
  if (!error) error = TrsvDeviceUpload((*ordering)->colour, host->colour, sizeof(int) * ((size_t)host->colours + 1), NULL);
  if (!error) memcpy((*ordering)->grid, host->grid, sizeof(host->grid));
  TrsvOrderingDestroy(&host);
  return error;
}

/* The same of one on the device, by way of the host. */
static TrsvError OrderDevice(int rows, const int *offsets, const int *columns, const double *values, int size, TrsvOrdering **ordering)
{
  int      *o = NULL, *c = NULL, entries = 0;
  double   *v = NULL;
  TrsvError error;

  TrsvCall(TrsvDeviceDownload(&entries, offsets + rows, sizeof(entries), NULL));
  if (entries < 0) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets end at %d", entries);
  error = Download(sizeof(int) * ((size_t)rows + 1), offsets, &o);
  if (!error) error = Download(sizeof(int) * (size_t)entries, columns, &c);
  if (!error) error = Download(sizeof(double) * (size_t)entries, values, &v);
  if (!error) error = Order(rows, o, c, v, size, ordering);
  if (!error) error = Move(ordering);
  free(o);
  free(c);
  free(v);
  return error;
}

TrsvError TrsvOrderBMC(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory memory, int size, TrsvOrdering **ordering)
{
  const double start = Seconds();
  TrsvError    error;

  *ordering = NULL;
  if (rows < 0 || size < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows, blocks of %d", rows, size);
  error = (memory == TRSV_HOST ? Order : OrderDevice)(rows, offsets, columns, values, size, ordering);
  if (error) TrsvOrderingDestroy(ordering);
  else (*ordering)->seconds = Seconds() - start;
  return error;
}
