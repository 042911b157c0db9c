/*
   Regular grids for the multicolor ordering: where every entry of the matrix joins points of a lexicographic grid that
   are near each other.

   The grid is guessed from the distances column - row of a few rows and then checked against every entry, so that
   nothing but a true grid passes.

   Colors rise and fall along every side, 0 1 2 3 2 1 0 and so on, and the color of a point is their sum over the sides:
   neighbors along a side differ by one, and with the weights 1, 2, 4 those across corners differ, too. (Where a step
   goes over two points, a color is that of a box of so many, and the place in the box.) As in an elimination that
   starts in all corners of a rectangle and meets in its middle, no point but the corners of such rectangles is before
   all its neighbors. 5-point plane of 300^2, PETSc's ILU(0) and CG: 7 colors and 182 iterations, 201 in the natural
   order, 269 red and black; 7-point space of 48^3: 10 colors and 49 iterations, 52, 59. Where the entries along one
   side are far larger than all others, the order along it decides, and colors rise for longer there: a plane of 200^2,
   100 times as large along x: 91 iterations in the natural order, 287 with tops of 4 along both sides, 131 with 32
   along x.

   In large grids with no corners in their stencil, a color belongs to runs of 4 points along x. Every second or third
   point along x of a color means a memory sector of its own for each of b, x and the solutions of the neighbors; a run
   is one sector. Its points are a chain, so rows have more level sets (12 in place of 7 in a plane, 16 in place of 10
   in space), but what a warp solves at once has no more (6, 10). Colors rise for two runs only along x, and
   for a point more along the other sides. Iterations, PETSc's ILU(0) and CG, natural order, without runs, with: planes
   of 500^2 299, 342, 339; of 1000^2 562, 586, 564; spaces of 65^3 67, 67, 61; 80^3 81, 82, 77; 128^3 124, 123, 120.
   Insulated walls, 200^2: 212, 241, 268. A flow along x and half of it along y, 200^2 and GMRES: 144, 210, 179. None
   where the entries along x are far larger: along them a run ends where colors fall, so that points before all their
   neighbors are many (200^2, 100 times along x: 244 iterations and more); nor in small grids, which take as long as
   their level sets of rows. With corners in the stencil all points of neighboring runs touch: level sets of rows are
   three times as many, and solves slower.
*/
#include <stdlib.h>
#include <string.h>
#include "ordering/multicolor.h"

enum {
  TOP      = 4,
  TOP_RUNS = 2, /* along x where there are runs; of these colors the other sides get one more */
};

/* Adds an offset to the sorted stencil; 0 when there is no room. */
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

/* The offsets of all samples, and their opposites. */
static int Stencil(const TrsvGridSamples *samples, TrsvGrid *g)
{
  g->count = 0;
  for (int s = 0; s < TRSV_GRID_SAMPLES; s++) {
    if (samples->count[s] < 0) return 0;
    for (int k = 0; k < samples->count[s]; k++)
      if (!AddOffset(g, samples->offset[s][k]) || !AddOffset(g, -samples->offset[s][k])) return 0;
  }
  return 1;
}

/* n / side, rounded to the nearest */
static int Nearest(int n, int side)
{
  return n >= 0 ? (int)((2 * (long)n + side) / (2 * (long)side)) : -(int)((2 * -(long)n + side) / (2 * (long)side));
}

/* Splits every offset into steps along the sides of the grid; 0 where that does not work. */
static int Split(int rows, int x, int xy, TrsvGrid *g)
{
  g->side[0] = x;
  g->side[1] = xy / x;
  g->side[2] = rows / xy;
  g->star    = 1;
  memset(g->reach, 0, sizeof(g->reach));
  if (rows % xy || xy % x) return 0;
  for (int k = 0; k < g->count; k++) {
    const int z = xy == rows ? 0 : Nearest(g->offset[k], xy), y = Nearest(g->offset[k] - z * xy, x);
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

/* By the size of the entries along each side, in the samples. */
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
  if (points < TRSV_GRID_LARGE || !g->star || g->reach[0] > 1 || g->reach[1] > 1 || g->reach[2] > 1 || g->top[0] > TOP)
    return;
  g->block[0] = TRSV_GRID_RUN;
  g->top[0]   = TOP_RUNS;
  for (int d = 1; d < 3; d++)
    if (g->top[d] == TOP) g->top[d]++;
}

/* Where the run of consecutive offsets that starts at the k-th ends. */
static int RunEnd(const TrsvGrid *g, int k)
{
  while (k + 1 < g->count && g->offset[k + 1] == g->offset[k] + 1) k++;
  return k;
}

/* The first run of positive offsets steps along x; any of the next may be a step along y, and the middle run of those
   that no plane explains a step along z. */
static TrsvError Find(int rows, const TrsvGridSamples                                                  *samples,
                      TrsvError (*holds)(const TrsvGrid *, const int *, const int *, int *), const int *offsets,
                      const int *columns, TrsvGrid *g, int *found)
{
  int first = 0, last;

  *found     = 0;
  g->entries = samples->entries;
  if (rows < 16 || !Stencil(samples, g)) return TRSV_SUCCESS;
  while (first < g->count && g->offset[first] <= 0) first++;
  if (first == g->count || g->offset[first] != 1) return TRSV_SUCCESS;
  first = RunEnd(g, first) + 1;
  if (first == g->count) return TRSV_SUCCESS;
  last = RunEnd(g, first);
  for (int k = first; k <= last && !*found; k++) {
    const int x = g->offset[k];
    int       beyond = last + 1;

    if (rows % x) continue;
    if (Split(rows, x, rows, g)) TrsvCall(holds(g, offsets, columns, found));
    while (beyond < g->count && g->offset[beyond] <= TRSV_GRID_REACH * x + TRSV_GRID_REACH) beyond++;
    for (int m = beyond; m < g->count && !*found; m++) /* the middle one is among them; the check tells */
      if (g->offset[m] % x == 0 && Split(rows, x, g->offset[m], g)) TrsvCall(holds(g, offsets, columns, found));
  }
  return TRSV_SUCCESS;
}

TrsvError TrsvGridFind(int rows, const TrsvGridSamples                                                  *samples,
                       TrsvError (*holds)(const TrsvGrid *, const int *, const int *, int *), const int *offsets,
                       const int *columns, TrsvGrid *g, int *found)
{
  TrsvCall(Find(rows, samples, holds, offsets, columns, g, found));
  if (*found) SetTops(samples, g);
  return TRSV_SUCCESS;
}
