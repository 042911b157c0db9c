/*
   Regular grids for the block multicolour ordering: where every entry of the matrix joins points of a lexicographic grid that are near each
   other, the blocks are boxes of the grid.

   The grid is guessed from the distances column - row of a few rows and then checked against every entry, so that nothing but a true grid
   passes. Where the stencil is a star, boxes are coloured x + y + z modulo 3: two colours would do, but the third costs few level sets (7-point
   space of 48^3: 8 instead of 6) and saves iterations (57 instead of 59; in the natural order 52). Elsewhere by the parities of x, y and z: four
   colours in a plane and eight in space. Every phase works row by row or block by block.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bmc.h"

enum {
  RADIUS  = 2,                                  /* the largest distance along a side */
  OFFSETS = (2 * RADIUS + 1) * (2 * RADIUS + 1) * (2 * RADIUS + 1),
  SAMPLES = 64 /* rows that are looked at for the guess */
};

typedef struct {
  int side[3];             /* points along x, y, z; z is 1 in a plane */
  int count;               /* of the stencil's offsets, rising */
  int offset[OFFSETS];     /* column - row */
  int step[OFFSETS][3];    /* the same along x, y, z */
  int reach[3];            /* the largest step along each */
  int star;                /* no step goes along two sides at once */
} Grid;

/* Adds an offset to the sorted stencil; 0 when there is no room. */
static int AddOffset(Grid *g, int offset)
{
  int k = g->count;

  while (k > 0 && g->offset[k - 1] >= offset) k--;
  if (k < g->count && g->offset[k] == offset) return 1;
  if (g->count == OFFSETS) return 0;
  memmove(&g->offset[k + 1], &g->offset[k], sizeof(int) * (size_t)(g->count - k));
  g->offset[k] = offset;
  g->count++;
  return 1;
}

/* The offsets of some rows all over the matrix, and their opposites. */
static int Sample(int rows, const int *offsets, const int *columns, Grid *g)
{
  g->count = 0;
  for (int s = 0; s < SAMPLES; s++) {
    const int i = (int)((double)rows * (s + 0.5) / SAMPLES);

    if (offsets[i + 1] - offsets[i] > OFFSETS) return 0;
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (!AddOffset(g, columns[k] - i) || !AddOffset(g, i - columns[k])) return 0;
  }
  return 1;
}

/* Splits every offset into steps along the sides of the grid; 0 where that does not work. */
static int Split(int rows, int x, int xy, Grid *g)
{
  g->side[0] = x;
  g->side[1] = xy / x;
  g->side[2] = rows / xy;
  g->star    = 1;
  memset(g->reach, 0, sizeof(g->reach));
  if (rows % xy || xy % x) return 0;
  for (int k = 0; k < g->count; k++) {
    int *step = g->step[k], rest, sides = 0;

    step[2] = (int)floor((double)g->offset[k] / xy + 0.5);
    if (xy == rows) step[2] = 0;
    rest    = g->offset[k] - step[2] * xy;
    step[1] = (int)floor((double)rest / x + 0.5);
    step[0] = rest - step[1] * x;
    for (int d = 0; d < 3; d++) {
      if (abs(step[d]) > RADIUS || abs(step[d]) >= g->side[d]) return 0;
      if (abs(step[d]) > g->reach[d]) g->reach[d] = abs(step[d]);
      sides += step[d] != 0;
    }
    g->star = g->star && sides < 2;
  }
  return g->reach[0] && g->reach[1];
}

/* Does every entry belong to the stencil, and stay inside the grid? */
static int Holds(const int *offsets, const int *columns, const Grid *g)
{
  int i = 0, at[3];

  for (at[2] = 0; at[2] < g->side[2]; at[2]++)
    for (at[1] = 0; at[1] < g->side[1]; at[1]++)
      for (at[0] = 0; at[0] < g->side[0]; at[0]++, i++) {
        int o = 0;

        for (int k = offsets[i]; k < offsets[i + 1]; k++, o++) {
          const int d = columns[k] - i;

          while (o < g->count && g->offset[o] < d) o++;
          if (o == g->count || g->offset[o] != d) return 0;
          for (int s = 0; s < 3; s++)
            if (at[s] + g->step[o][s] < 0 || at[s] + g->step[o][s] >= g->side[s]) return 0;
        }
      }
  return 1;
}

/* Where the run of consecutive offsets that starts at the k-th ends. */
static int RunEnd(const Grid *g, int k)
{
  while (k + 1 < g->count && g->offset[k + 1] == g->offset[k] + 1) k++;
  return k;
}

/* The first run of positive offsets steps along x; any of the next may be a step along y, and the middle run of those that no plane
   explains a step along z. */
static int Find(int rows, const int *offsets, const int *columns, Grid *g)
{
  int first = 0, last;

  if (rows < 16 || !Sample(rows, offsets, columns, g)) return 0;
  while (first < g->count && g->offset[first] <= 0) first++;
  if (first == g->count || g->offset[first] != 1) return 0;
  first = RunEnd(g, first) + 1;
  if (first == g->count) return 0;
  last = RunEnd(g, first);
  for (int k = first; k <= last; k++) {
    const int x = g->offset[k];
    int       beyond = last + 1;

    if (rows % x) continue;
    if (Split(rows, x, rows, g) && Holds(offsets, columns, g)) return 1;
    while (beyond < g->count && g->offset[beyond] <= RADIUS * x + RADIUS) beyond++;
    for (int m = beyond; m < g->count; m++) /* the middle one is among them; the check tells */
      if (g->offset[m] % x == 0 && Split(rows, x, g->offset[m], g) && Holds(offsets, columns, g)) return 1;
  }
  return 0;
}

/* Doubles the sides of a box in turn while it has no more than so many points. */
static void Box(const Grid *g, int size, int box[3])
{
  const int sides = g->side[2] > 1 ? 3 : 2;
  int       points = 1;

  if (!size) size = sides == 3 ? 8 : 16;
  box[0] = box[1] = box[2] = 1;
  for (int d = 0; 2 * points <= size; d = (d + 1) % sides, points *= 2) box[d] *= 2;
  for (int d = 0; d < 3; d++)
    if (box[d] < g->reach[d]) box[d] = g->reach[d]; /* or a step would jump over a box of another colour */
}

typedef struct {
  int box[3], boxes[3], count; /* points of a box and boxes, along each side; boxes in all */
  int colours, star;
} Boxes;

static int BoxColour(const Boxes *b, int n)
{
  const int x = n % b->boxes[0], y = n / b->boxes[0] % b->boxes[1], z = n / b->boxes[0] / b->boxes[1];

  return b->star ? (x + y + z) % b->colours : (x & 1) | (y & 1) << 1 | (z & 1) << 2;
}

/* Writes the rows of a box from place on; returns the next place. */
static int FillBox(const Grid *g, const Boxes *b, int n, int place, int *order)
{
  int begin[3], end[3], at = n;

  for (int d = 0; d < 3; d++) {
    begin[d] = at % b->boxes[d] * b->box[d];
    end[d]   = begin[d] + b->box[d] < g->side[d] ? begin[d] + b->box[d] : g->side[d];
    at /= b->boxes[d];
  }
  for (int z = begin[2]; z < end[2]; z++)
    for (int y = begin[1]; y < end[1]; y++)
      for (int x = begin[0]; x < end[0]; x++) order[place++] = x + g->side[0] * (y + g->side[1] * z);
  return place;
}

TrsvError TrsvOrderGrid(int rows, const int *offsets, const int *columns, int size, TrsvOrdering **ordering)
{
  Grid          g;
  Boxes         b;
  TrsvOrdering *o;
  int           place = 0, n = 0;

  *ordering = NULL;
  if (!Find(rows, offsets, columns, &g)) return TRSV_SUCCESS;
  Box(&g, size, b.box);
  for (int d = 0; d < 3; d++) b.boxes[d] = (g.side[d] + b.box[d] - 1) / b.box[d];
  b.count   = b.boxes[0] * b.boxes[1] * b.boxes[2];
  b.star    = g.star;
  b.colours = g.star ? 3 : 8;
  TrsvCall(TrsvOrderingCreate(rows, b.count, b.colours, TRSV_HOST, &o));
  memcpy(o->grid, g.side, sizeof(o->grid));
  o->colours   = 0;
  o->colour[0] = 0;
  for (int c = 0; c < b.colours; c++) {
    const int start = n;

    for (int k = 0; k < b.count; k++)
      if (BoxColour(&b, k) == c) {
        o->block[n++] = place;
        place         = FillBox(&g, &b, k, place, o->order);
      }
    if (n > start) o->colour[++o->colours] = n;
  }
  o->block[n] = place;
  *ordering   = o;
  return TRSV_SUCCESS;
}
