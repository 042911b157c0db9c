/*
   The multicolor ordering: rows by color, and within a color in their natural order. Rows of one color depend on each
   other only within small blocks. So a triangular factor without fill has few level sets, whatever its size.

   Source: the algebraic block multicolor ordering (Iwashita, Nakashima, Takahashi: Algebraic block multi-color ordering
   method for parallel multi-threaded sparse triangular solver in ICCG method, IPDPS 2012), with another rule for
   colors. If a row comes before all its neighbors, ILU(0) discards the fill between all of them, which costs
   iterations. To have few such rows, colors alternately rise and fall along the order of the matrix: in a regular grid
   along every side (multicolor_grid.c), elsewhere along strong entries (multicolor_waves.c). Doi and Washio (Ordering
   strategies and related techniques to overcome the trade-off between parallelism and convergence in incomplete
   factorizations, Parallel Computing 25, 1999) show that many colors save iterations.
*/
#include <stdlib.h>
#include <string.h>
#include "ordering/multicolor.h"

TrsvError TrsvOrderingCreate(int rows, TrsvMemory memory, TrsvOrdering **ordering)
{
  TrsvOrdering *o = calloc(1, sizeof(*o));
  TrsvError error;

  *ordering = NULL;
  if (!o) return TrsvFail(TRSV_ERR_MEMORY, "no memory for an ordering");
  o->rows   = rows;
  o->memory = memory;
  error     = TrsvAllocIn(memory, sizeof(int) * (size_t)rows, &o->order);
  if (error) TrsvOrderingDestroy(&o);
  *ordering = o;
  return error;
}

void TrsvOrderingDestroy(TrsvOrdering **ordering)
{
  TrsvOrdering *o = *ordering;

  if (!o) return;
  TrsvFree(o->memory, o->order);
  free(o->color);
  free(o);
  *ordering = NULL;
}

/* Color c has rows [starts[c], starts[c + 1]). Removes colors without rows; returns the number of those that remain. */
static int PackColors(int colors, int *starts)
{
  int n = 0;

  for (int c = 0; c < colors; c++)
    if (starts[c + 1] > starts[c]) starts[++n] = starts[c + 1];
  return n;
}

/* A counting sort of the rows by color. */
static TrsvError SortByColor(int rows, const int *color, int colors, TrsvOrdering **ordering)
{
  TrsvOrdering *o;
  int          *at;
  TrsvError     error;

  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colors + 1), &at));
  error = TrsvOrderingCreate(rows, TRSV_HOST, ordering);
  o     = *ordering;
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)colors + 1), &o->color);
  if (!error) {
    memset(o->color, 0, sizeof(int) * ((size_t)colors + 1));
    for (int i = 0; i < rows; i++) o->color[color[i] + 1]++;
    for (int c = 0; c < colors; c++) o->color[c + 1] += o->color[c];
    memcpy(at, o->color, sizeof(int) * ((size_t)colors + 1));
    for (int i = 0; i < rows; i++) o->order[at[color[i]]++] = i;
    o->colors = PackColors(colors, o->color);
  }
  free(at);
  return error;
}

static TrsvError CheckGrid(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int rows = g->side[0] * g->side[1] * g->side[2];

  *yes = 1;
  for (int i = 0; *yes && i < rows; i++) *yes = TrsvGridHolds(g, offsets, columns, i);
  return TRSV_SUCCESS;
}

/* The ordering of a valid matrix on the host; color [rows] is workspace. */
static TrsvError ColorRows(int rows, const int *offsets, const int *columns, const double *values, int *color,
                       TrsvOrdering **ordering)
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid = 0, colors;

  samples.entries = offsets[rows];
  for (int s = 0; rows && s < TRSV_GRID_SAMPLES; s++)
    TrsvGridSample(rows, samples.entries, offsets, columns, values, s, &samples);
  if (rows) TrsvCall(TrsvGridFind(rows, &samples, CheckGrid, offsets, columns, &g, &grid));
  if (grid) {
    for (int i = 0; i < rows; i++) color[i] = TrsvGridColor(&g, i);
    colors = TrsvGridColors(&g);
  } else TrsvCall(TrsvColorWaves(rows, offsets, columns, values, color, &colors));
  TrsvCall(SortByColor(rows, color, colors, ordering));
  if (grid) memcpy((*ordering)->grid, g.side, sizeof(g.side));
  return TRSV_SUCCESS;
}

static TrsvError OrderOnHost(int rows, const int *offsets, const int *columns, const double *values,
                           TrsvOrdering **ordering)
{
  int      *color;
  TrsvError error;

  for (int i = 0; i < rows; i++)
    TrsvCall(TrsvCheckMatrixRow(TRSV_HOST, rows, offsets[rows], offsets, columns, i, 0));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)rows, &color));
  error = ColorRows(rows, offsets, columns, values, color, ordering);
  free(color);
  return error;
}

TrsvError TrsvOrderMulticolor(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory memory,
                              TrsvOrdering **ordering)
{
  const double start = TrsvSeconds();
  TrsvError    error;

  *ordering = NULL;
  if (rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", rows);
  if (memory == TRSV_HOST) error = OrderOnHost(rows, offsets, columns, values, ordering);
  else error = TrsvDeviceOrder(rows, offsets, columns, values, ordering);
  if (error) TrsvOrderingDestroy(ordering);
  else (*ordering)->seconds = TrsvSeconds() - start;
  return error;
}
