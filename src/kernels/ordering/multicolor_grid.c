/*
   Regular grids for the multicolor ordering: every entry of the matrix joins two nearby points of a grid whose points
   are numbered along x, then y, then z.

   The grid is guessed from the offsets column - row of a few rows, and checked against every entry.

   Colors rise and fall along every side: 0 1 2 3 2 1 0 and so on. The color of a point is the sum over the sides.
   Neighbors along a side differ by one; with weights 1, 2, 4 neighbors across corners differ, too. If a step goes over
   two points, the color is that of a box of two points, combined with the place in the box. Only points with color 0
   along every side come before all their neighbors. If the entries along one side are far larger than all others, the
   order along that side matters most, so colors rise for longer there.

   In large grids with a star stencil (no corners), a color has runs of 4 points along x. Without runs, each point of a
   color needs its own memory sector in b, in x and in the neighbors' solutions; a run needs one sector. The points of
   a run are a chain, so rows have more level sets (12 instead of 7 in a plane, 16 instead of 10 in space), but groups
   of rows that a warp solves together have fewer (6, 10). Along x, colors rise for two runs only; along the other sides
   they rise for one more point. If the entries along x are far larger, there are no runs: a run ends where colors fall,
   so many points would come before all their neighbors. Small grids have no runs, because their time depends on the
   level sets of rows. With corners in the stencil, all points of adjacent runs are neighbors: there would be three
   times as many level sets of rows, and slower solves.
*/
#include <stdlib.h>
#include <string.h>
#include "ordering/multicolor.h"

enum {
  TOP     = 4,
  RUN_TOP = 2 /* the top along x with runs; those along the other sides are then TOP + 1 */
};

/* Adds an offset to the sorted stencil; returns 0 if the stencil is full. */
static int AddOffset(TrsvGrid *g, int offset)
{
  int k = g->count;

  while (k > 0 && g->offset[k - 1] >= offset) k--;
  if (k < g->count && g->offset[k] == offset) return 1;
  if (g->count == TRSV_GRID_OFFSETS) return 0;
  memmove(&g->offset[k + 1], &g->offset[k], sizeof(int) * (size_t)(g->count - k));
  g->offset[k] = offset;
  g->count++;
  return 1;
}

/* The stencil: the offsets of all samples, and their negatives. Returns 0 if it is too large. */
static int CollectStencil(const TrsvGridSamples *samples, TrsvGrid *g)
{
  g->count = 0;
  for (int s = 0; s < TRSV_GRID_SAMPLES; s++) {
    if (samples->count[s] < 0) return 0;
    for (int k = 0; k < samples->count[s]; k++)
      if (!AddOffset(g, samples->offset[s][k]) || !AddOffset(g, -samples->offset[s][k])) return 0;
  }
  return 1;
}

/* n / side, rounded to the nearest integer. */
static int DivideRounded(int n, int side)
{
  return n >= 0 ? (int)((2 * (long)n + side) / (2 * (long)side)) : -(int)((2 * -(long)n + side) / (2 * (long)side));
}

/* Splits every offset into steps along the sides of the grid; returns 0 if that fails. */
static int SplitOffsets(int rows, int x, int xy, TrsvGrid *g)
{
  g->side[0] = x;
  g->side[1] = xy / x;
  g->side[2] = rows / xy;
  g->star    = 1;
  memset(g->reach, 0, sizeof(g->reach));
  if (rows % xy || xy % x) return 0;
  for (int k = 0; k < g->count; k++) {
    const int z = xy == rows ? 0 : DivideRounded(g->offset[k], xy), y = DivideRounded(g->offset[k] - z * xy, x);
    const int step[3] = {g->offset[k] - z * xy - y * x, y, z};
    int       sides = 0;

    for (int d = 0; d < 3; d++) {
      if (abs(step[d]) > TRSV_GRID_REACH || abs(step[d]) >= g->side[d]) return 0;
      if (abs(step[d]) > g->reach[d]) g->reach[d] = abs(step[d]);
      sides += step[d] != 0;
      g->step[k][d] = (signed char)step[d];
    }
    g->star = g->star && sides < 2;
  }
  if (!g->reach[0] || !g->reach[1]) return 0;
  if (!g->reach[2]) g->reach[2] = 1;
  return 1;
}

/* Sets top and block from the magnitudes of the sampled entries along each side. */
static void SetTops(const TrsvGridSamples *samples, TrsvGrid *g)
{
  const long points = (long)g->side[0] * g->side[1] * g->side[2];
  double     sum[3] = {0}, count[3] = {0};

  for (int s = 0; s < TRSV_GRID_SAMPLES; s++)
    for (int k = 0; k < samples->count[s]; k++) {
      int o = 0, side = -1, sides = 0;

      while (g->offset[o] != samples->offset[s][k]) o++;
      for (int d = 0; d < 3; d++)
        if (g->step[o][d]) side = d, sides++;
      if (sides != 1) continue;
      sum[side] += fabs(samples->value[s][k]);
      count[side]++;
    }
  for (int d = 0; d < 3; d++) {
    const double own    = count[d] > 0 ? sum[d] / count[d] : 0;
    double       others = 0;

    for (int e = 0; e < 3; e++)
      if (e != d && count[e] > 0) others = fmax(others, sum[e] / count[e]);
    g->top[d]   = own > 30 * others ? 8 * TOP : own > 6 * others ? 4 * TOP : TOP;
    g->block[d] = g->reach[d];
  }
  if (points < TRSV_GRID_RUN_POINTS || !g->star || g->top[0] > TOP) return;
  if (g->reach[0] > 1 || g->reach[1] > 1 || g->reach[2] > 1) return;
  g->block[0] = TRSV_GRID_RUN;
  g->top[0]   = RUN_TOP;
  for (int d = 1; d < 3; d++)
    if (g->top[d] == TOP) g->top[d]++;
}

/* The last of the consecutive offsets that start at number k. */
static int RunEnd(const TrsvGrid *g, int k)
{
  while (k + 1 < g->count && g->offset[k + 1] == g->offset[k] + 1) k++;
  return k;
}

/* Guesses sides and checks each guess. The first consecutive positive offsets are steps along x. Any offset of the next
   consecutive ones may be one step along y, and any offset beyond the steps of a plane one step along z. */
TrsvError TrsvGridFind(int rows, const TrsvGridSamples *samples,
                       TrsvError (*holds)(const TrsvGrid *, const int *, const int *, int *), const int *offsets,
                       const int *columns, TrsvGrid *g, int *found)
{
  int first = 0, last;

  *found     = 0;
  g->entries = samples->entries;
  if (rows < 16 || !CollectStencil(samples, g)) return TRSV_SUCCESS;
  while (first < g->count && g->offset[first] <= 0) first++;
  if (first == g->count || g->offset[first] != 1) return TRSV_SUCCESS;
  first = RunEnd(g, first) + 1;
  if (first == g->count) return TRSV_SUCCESS;
  last = RunEnd(g, first);
  for (int k = first; k <= last && !*found; k++) {
    const int x = g->offset[k];
    int       beyond = last + 1;

    if (rows % x) continue;
    if (SplitOffsets(rows, x, rows, g)) TrsvCall(holds(g, offsets, columns, found));
    while (beyond < g->count && g->offset[beyond] <= TRSV_GRID_REACH * x + TRSV_GRID_REACH) beyond++;
    for (int m = beyond; m < g->count && !*found; m++) /* the check finds the right one */
      if (g->offset[m] % x == 0 && SplitOffsets(rows, x, g->offset[m], g)) TrsvCall(holds(g, offsets, columns, found));
  }
  if (*found) SetTops(samples, g);
  return TRSV_SUCCESS;
}
