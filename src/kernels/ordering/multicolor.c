/*
   The multicolor ordering: rows by color, and within a color in their natural order. Rows of one color depend on each
   other only within small blocks. So a triangular factor without fill has few level sets, whatever its size.

   Source: the algebraic block multicolor ordering (Iwashita, Nakashima, Takahashi: Algebraic block multi-color ordering
   method for parallel multi-threaded sparse triangular solver in ICCG method, IPDPS 2012), with another rule for
   colors. If a row comes before all its neighbors, ILU(0) discards the fill between all of them, which costs
   iterations. To have few such rows, colors alternately rise and fall along the order of the matrix: in a regular grid
   along every side, elsewhere along strong entries (waves). Doi and Washio (Ordering strategies and related techniques
   to overcome the trade-off between parallelism and convergence in incomplete factorizations, Parallel Computing 25,
   1999) show that many colors save iterations.

   Grids: every entry of the matrix joins two nearby points of a grid whose points are numbered along x, then y, then z.
   The grid is guessed from the offsets column - row of a few rows, and checked against every entry. Along every side
   colors rise and fall: 0 1 2 3 2 1 0 and so on. The color of a point is the sum over the sides. Neighbors along a side
   differ by one; with weights 1, 2, 4 neighbors across corners differ, too. If a step goes over two points, the color
   is that of a box of two points, combined with the place in the box. Only points with color 0 along every side come
   before all their neighbors. Colors rise longer along a side with far larger entries: its order matters most.

   Runs: in large grids with a star stencil (no corners) a color has runs of 4 points along x, which share a memory
   sector in b, x and the neighbors' solutions. The points of a run are a chain: rows have more level sets (12, not
   7, in a plane; 16, not 10, in space), but groups of rows that a warp solves together have fewer (6; 10). Along x
   colors then rise for two runs, along the other sides for one more point. There are no runs if the entries along x are
   far larger: at the ends of runs many points would come before all their neighbors. Nor in small grids, whose time
   depends on the level sets of rows. Nor with corners in the stencil: there would be three times as many level sets.

   Waves: rows get times in their natural order. The time of a row is the first after the times of its earlier neighbors
   by strong entries, like the number of a level set. The colors of consecutive times rise from 0 to TRSV_WAVE_TOP - 1
   and fall again. If a neighbor, by any entry, has the color of that time, the row takes the next time whose color no
   neighbor has; if there is none, as in dense rows, an extra color above those of waves. So along strong entries the
   order alternately runs forward and backward, a row comes before all its neighbors only where a wave begins, and two
   neighbors never have the same color. The first TRSV_WAVE_TOP extra colors are found with the time; each search of
   more reads the entries of the row again. Consecutive rows with the same columns, such as the unknowns of a mesh
   point, are a node, which gets one color. A node has at most TRSV_NODE rows, and nodes are used only if there are much
   fewer nodes than rows: PETSc's rule for inodes, whose rows its factorizations need next to each other.
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
    const int z = xy == rows ? 0 : (int)lround((double)g->offset[k] / xy), /* rounded: a step along x may be negative */
              y = (int)lround((double)(g->offset[k] - z * xy) / x);
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
TrsvError TrsvGridFind(const TrsvColorMatrix *A, const TrsvGridSamples *samples,
                       TrsvError (*holds)(const TrsvColorMatrix *, const TrsvGrid *, int *), TrsvGrid *g, int *found)
{
  const int rows  = A->rows;
  int       first = 0, last;

  *found = 0;
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
    if (SplitOffsets(rows, x, rows, g)) TrsvCall(holds(A, g, found));
    while (beyond < g->count && g->offset[beyond] <= TRSV_GRID_REACH * x + TRSV_GRID_REACH) beyond++;
    for (int m = beyond; m < g->count && !*found; m++) /* the check finds the right one */
      if (g->offset[m] % x == 0 && SplitOffsets(rows, x, g->offset[m], g)) TrsvCall(holds(A, g, found));
  }
  if (*found) SetTops(samples, g);
  return TRSV_SUCCESS;
}

/* A->node: the node of each row. Returns the number of nodes, rows if nodes are not used. */
static int FindNodes(const TrsvColorMatrix *A)
{
  const int *o = A->offsets;
  int        nodes = 0, length = 0;

  for (int i = 0; i < A->rows; i++) {
    const int n    = o[i + 1] - o[i];
    const int same = length && length < TRSV_NODE && n && n == o[i] - o[i - 1] &&
                     !memcmp(A->columns + o[i], A->columns + o[i - 1], sizeof(int) * (size_t)n);

    length     = same ? length + 1 : 1;
    nodes     += !same;
    A->node[i] = nodes - 1;
  }
  if (TrsvUseNodes(nodes, A->rows)) return nodes;
  for (int i = 0; i < A->rows; i++) A->node[i] = i;
  return A->rows;
}

static void FindStrength(const TrsvColorMatrix *A)
{
  for (int i = 0; i < A->rows; i++) {
    double diagonal = 0, largest = 0;

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      largest = fmax(largest, fabs(A->values[k]));
      if (A->columns[k] == i) diagonal = fmax(diagonal, fabs(A->values[k]));
    }
    A->scale[i] = TrsvScale(diagonal, largest);
  }
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] != i) A->strongest[i] = fmax(A->strongest[i], TrsvStrength(A, k, i));
}

/* The edges of node n to earlier nodes: edge[starts[n]] to edge[starts[n + 1] - 1]. An entry and its mirror image are
   two edges. starts [nodes + 2]: zeros before. */
static void FindEdges(const TrsvColorMatrix *A, int nodes, int *starts, int *edge)
{
  const int *node = A->node;

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int n = node[i], m = node[A->columns[k]];

      if (n != m) starts[(n > m ? n : m) + 2]++;
    }
  for (int n = 1; n <= nodes; n++) starts[n + 1] += starts[n];
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int n = node[i], m = node[A->columns[k]], other = n < m ? n : m;

      if (n != m) edge[starts[(n > m ? n : m) + 1]++] = !A->values || TrsvStrong(A, k, i) ? other : ~other;
    }
}

/* The word of a node whose neighbors have all colors of a wave and the first 32 extra colors. */
static unsigned FindExtraColor(const int *edge, int edges, const unsigned *word)
{
  for (unsigned base = 2 * TRSV_WAVE_TOP;; base += TRSV_WAVE_TOP) {
    unsigned used = 0;

    for (int e = 0; e < edges; e++) used |= TrsvWaveBit(word[TrsvWaveOther(edge[e])], base);
    if (~used) return TrsvWaveFree(used, base);
  }
}

static void FindWords(int nodes, const int *starts, const int *edge, unsigned *word)
{
  for (int n = 0; n < nodes; n++) {
    TrsvWaveNode node = {0};

    for (int e = starts[n]; e < starts[n + 1]; e++) TrsvWaveMeet(&node, edge[e], word[TrsvWaveOther(edge[e])]);
    word[n] = TrsvWaveWord(&node);
    if (!word[n]) word[n] = FindExtraColor(edge + starts[n], starts[n + 1] - starts[n], word);
  }
}

/* Colors of any pattern. The arrays in A are valid until it returns. */
static TrsvError ColorWaves(TrsvColorMatrix *A, int *color, int *colors)
{
  const size_t r = (size_t)A->rows, some = A->values ? r : 0;
  int         *starts, *edge, nodes;
  unsigned    *word;

  TrsvCall(TrsvAlloc(2 * sizeof(double) * some + sizeof(int) * (3 * r + 2 + (size_t)A->entries), &A->scale));
  A->strongest = A->scale + some;
  A->node      = (int *)(A->strongest + some);
  starts       = A->node + r;
  word         = (unsigned *)starts + r + 2;
  edge         = (int *)word + r;
  nodes        = FindNodes(A);
  if (A->values) FindStrength(A);
  FindEdges(A, nodes, starts, edge);
  FindWords(nodes, starts, edge, word);
  *colors = 0;
  for (int i = 0; i < A->rows; i++) {
    color[i] = TrsvWaveColor(word[A->node[i]]);
    if (color[i] >= *colors) *colors = color[i] + 1;
  }
  free(A->scale);
  return TRSV_SUCCESS;
}

static TrsvError CheckGrid(const TrsvColorMatrix *A, const TrsvGrid *g, int *yes)
{
  *yes = 1;
  for (int i = 0; *yes && i < A->rows; i++) *yes = TrsvGridHolds(A, g, i);
  return TRSV_SUCCESS;
}

TrsvError TrsvColorRows(TrsvColorMatrix *A, int *color, int *colors, int side[3])
{
  TrsvGridSamples samples;
  TrsvGrid        g;
  int             grid;

  for (int s = 0; s < TRSV_GRID_SAMPLES; s++) TrsvGridSample(A, s, &samples);
  TrsvCall(TrsvGridFind(A, &samples, CheckGrid, &g, &grid));
  if (!grid) return ColorWaves(A, color, colors);
  for (int i = 0; i < A->rows; i++) color[i] = TrsvGridColor(&g, i);
  *colors = TrsvGridColors(&g);
  memcpy(side, g.side, sizeof(g.side));
  return TRSV_SUCCESS;
}

static TrsvError OrderOnHost(TrsvColorMatrix *A, TrsvOrdering *o)
{
  int      *color, colors;
  TrsvError error;

  A->entries = A->offsets[A->rows];
  for (int i = 0; i < A->rows; i++)
    TrsvCall(TrsvCheckMatrixRow(TRSV_HOST, A->offsets, A->columns, A->entries, i, 0, A->rows - 1, 0, 0));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)A->rows, &color));
  error = TrsvColorRows(A, color, &colors, o->grid);
  if (!error) error = SortByColor(color, colors, o);
  free(color);
  return error;
}

TrsvError TrsvOrderMulticolor(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory memory,
                              TrsvOrdering **ordering)
{
  const double    start = TrsvSeconds();
  TrsvColorMatrix A     = {rows, 0, offsets, columns, values, NULL, NULL, NULL};
  TrsvOrdering   *o;
  TrsvError       error;

  *ordering = NULL;
  if (rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "the number of rows is %d; it must not be negative", rows);
  TrsvCall(TrsvAlloc(sizeof(*o), &o));
  o->rows   = rows;
  o->memory = memory;
  error     = TrsvAllocIn(memory, sizeof(int) * (size_t)rows, &o->order);
  if (!error && rows) error = (memory == TRSV_HOST ? OrderOnHost : TrsvDeviceOrder)(&A, o);
  o->seconds = TrsvSeconds() - start;
  if (error) TrsvOrderingDestroy(&o);
  *ordering = o;
  return error;
}
