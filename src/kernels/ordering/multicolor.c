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

void TrsvOrderingDestroy(TrsvOrdering **ordering)
{
  TrsvOrdering *o = *ordering;

  if (!o) return;
  TrsvFree(o->memory, o->order);
  free(o);
  *ordering = NULL;
}

/* A counting sort of the rows by color. */
static TrsvError SortByColor(const int *color, int colors, TrsvOrdering *o)
{
  int *at; /* [colors + 1] where each color starts, then where it ends */

  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)colors + 1), &at));
  for (int i = 0; i < o->rows; i++) at[color[i] + 1]++;
  for (int c = 0; c < colors; c++) {
    o->colors += at[c + 1] > 0;
    at[c + 1] += at[c];
  }
  for (int i = 0; i < o->rows; i++) o->order[at[color[i]]++] = i;
  free(at);
  return TRSV_SUCCESS;
}

static TrsvError CheckGrid(const TrsvGrid *g, const int *offsets, const int *columns, int *yes)
{
  const int rows = g->side[0] * g->side[1] * g->side[2];

  *yes = 1;
  for (int i = 0; *yes && i < rows; i++) *yes = TrsvGridHolds(g, offsets, columns, i);
  return TRSV_SUCCESS;
}

TrsvError TrsvColorRows(int rows, const int *offsets, const int *columns, const double *values, int *color, int *colors,
                        int side[3])
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid;

  samples.entries = offsets[rows];
  for (int s = 0; s < TRSV_GRID_SAMPLES; s++)
    TrsvGridSample(rows, samples.entries, offsets, columns, values, s, &samples);
  TrsvCall(TrsvGridFind(rows, &samples, CheckGrid, offsets, columns, &g, &grid));
  if (!grid) return TrsvColorWaves(rows, offsets, columns, values, color, colors);
  for (int i = 0; i < rows; i++) color[i] = TrsvGridColor(&g, i);
  *colors = TrsvGridColors(&g);
  memcpy(side, g.side, sizeof(g.side));
  return TRSV_SUCCESS;
}

static TrsvError OrderOnHost(const int *offsets, const int *columns, const double *values, TrsvOrdering *o)
{
  int      *color, colors;
  TrsvError error;

  for (int i = 0; i < o->rows; i++)
    TrsvCall(TrsvCheckMatrixRow(TRSV_HOST, offsets, columns, offsets[o->rows], i, 0, o->rows - 1, 0, 0));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)o->rows, &color));
  error = TrsvColorRows(o->rows, offsets, columns, values, color, &colors, o->grid);
  if (!error) error = SortByColor(color, colors, o);
  free(color);
  return error;
}

TrsvError TrsvOrderMulticolor(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory memory,
                              TrsvOrdering **ordering)
{
  const double  start = TrsvSeconds();
  TrsvOrdering *o;
  TrsvError     error;

  *ordering = NULL;
  if (rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", rows);
  TrsvCall(TrsvAlloc(sizeof(*o), &o));
  o->rows   = rows;
  o->memory = memory;
  error     = TrsvAllocIn(memory, sizeof(int) * (size_t)rows, &o->order);
  if (!error && rows) error = (memory == TRSV_HOST ? OrderOnHost : TrsvDeviceOrder)(offsets, columns, values, o);
  o->seconds = TrsvSeconds() - start;
  if (error) TrsvOrderingDestroy(&o);
  *ordering = o;
  return error;
}
