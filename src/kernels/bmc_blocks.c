/*
   Blocks of any pattern, coloured so that those that touch differ: the algebraic block multicolour ordering, for who asks for a size of blocks.

   Source: Iwashita, Nakashima, Takahashi: Algebraic block multi-color ordering method for parallel multi-threaded sparse triangular solver
   in ICCG method, IPDPS 2012. Differences: blocks come from matching, not from a search that goes row by row, and colours are balanced. Pairs of
   vertices are merged, pass by pass, along the edges that stand for the most and the strongest entries, so that a block is a compact piece of the
   matrix's own neighbourhood and what it cuts is weak.

   Each pass is a matching in rounds: every free vertex proposes to the free neighbour with the highest key, and two that propose to each
   other are a pair. A bounded number of rounds and passes, each over no more entries than the
   matrix has, keeps the time proportional to them whatever the pattern.
*/
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "bmc.h"

/* An undirected graph: the neighbours of v are columns[offsets[v] .. offsets[v + 1]), never v itself, in no order. */
typedef struct {
  int  n;
  int *offsets, *columns;
  int *weights; /* what the entries that an edge stands for count; NULL: one each */
  int *sizes;   /* rows that a vertex stands for; NULL: one each */
} Graph;

/* splitmix64's finaliser: the same on every machine */
static uint32_t Hash(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

enum {
  ROUNDS = 8,
  STRONG = 1 << 16 /* what an entry as large as its diagonals counts; one of no size counts 1 */
};

static void FreeGraph(Graph *g)
{
  free(g->offsets);
  free(g->columns);
  free(g->weights);
  free(g->sizes);
  *g = (Graph){0};
}

/* Do the columns rise, and is every entry's mirror image there? */
static int IsSymmetric(int rows, const int *offsets, const int *columns, int *at)
{
  int symmetric = 1;

  for (int i = 0; i < rows; i++)
    for (int k = offsets[i] + 1; k < offsets[i + 1]; k++)
      if (columns[k] <= columns[k - 1]) return 0;
  /* at[j]: the first entry of row j that has met none of its mirror images; rows come in order, and so must these */
  for (int i = 0; i < rows; i++) {
    int k = offsets[i];

    for (; k < offsets[i + 1] && columns[k] < i; k++) {
      const int j = columns[k];

      if (at[j] == offsets[j + 1] || columns[at[j]] != i) return 0;
      at[j]++;
    }
    if (k < offsets[i + 1] && columns[k] == i) k++;
    at[i] = k;
  }
  for (int i = 0; i < rows; i++) symmetric = symmetric && at[i] == offsets[i + 1];
  return symmetric;
}

/* 1 / sqrt(|diagonal|), or of the largest entry of a row without one. */
static void FindScale(int rows, const int *offsets, const int *columns, const double *values, double *scale)
{
  for (int i = 0; i < rows; i++) {
    double diagonal = 0, most = 0;

    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (columns[k] == i) diagonal = fabs(values[k]);
      else if (fabs(values[k]) > most) most = fabs(values[k]);
    if (!diagonal) diagonal = most;
    scale[i] = diagonal > 0 && isfinite(diagonal) ? 1 / sqrt(diagonal) : 0;
  }
}

/* What an entry counts: as a whole number, so that sums are the same in any order. */
static int Weight(const double *values, const double *scale, int i, int j, int k)
{
  const double strength = values ? fabs(values[k]) * scale[i] * scale[j] : 0;

  return 1 + (strength < 1 ? (int)(strength * STRONG) : strength >= 1 ? STRONG : 0); /* NaN counts 1 */
}

static int Add(int one, int other) { return one < INT_MAX - other ? one + other : INT_MAX; }

/* A pattern that is symmetric: without its diagonal. at [rows] is for work. */
static TrsvError Symmetric(int rows, const int *offsets, const int *columns, const double *values, const double *scale, int *at, Graph *g)
{
  int n = 0;

  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)offsets[rows], &g->columns));
  if (values) TrsvCall(TrsvAlloc(sizeof(int) * (size_t)offsets[rows], &g->weights));
  for (int i = 0; i < rows; i++) {
    g->offsets[i] = n;
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      if (columns[k] == i) continue;
      if (values) g->weights[n] = Weight(values, scale, i, columns[k], k);
      g->columns[n++] = columns[k];
    }
  }
  g->offsets[rows] = n;
  for (int i = 0; values && i < rows; i++) { /* both directions together; at[j]: the mirror image of the next entry in column j */
    int k = g->offsets[i];

    for (; k < g->offsets[i + 1] && g->columns[k] < i; k++) {
      const int mirror = at[g->columns[k]]++;

      g->weights[k] = g->weights[mirror] = Add(g->weights[k], g->weights[mirror]);
    }
    at[i] = k;
  }
  return TRSV_SUCCESS;
}

/* Any pattern and its transpose together; at [rows] tells what a row holds already. */
static TrsvError Symmetrise(int rows, const int *offsets, const int *columns, const double *values, const double *scale, int *at, Graph *g)
{
  const int nnz = offsets[rows];
  int      *to, *from, n = 0;

  if (nnz > INT_MAX / 2) return TrsvFail(TRSV_ERR_UNSUPPORTED, "%d entries, too many for 32-bit indices once the pattern is made symmetric", nnz);
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * (size_t)nnz, &g->columns));
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * (size_t)nnz, &g->weights));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)rows + 2 + 2 * (size_t)nnz), &to));
  from = to + rows + 2;
  /* as in TrsvTranspose: to[j + 1] runs through row j of the transpose while it is filled with row and place of each entry */
  memset(to, 0, sizeof(int) * ((size_t)rows + 2));
  for (int k = 0; k < nnz; k++) to[columns[k] + 2]++;
  for (int j = 1; j <= rows; j++) to[j + 1] += to[j];
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      const int t = to[columns[k] + 1]++;

      from[2 * t]     = i;
      from[2 * t + 1] = k;
    }
  memset(at, -1, sizeof(int) * (size_t)rows);
  for (int i = 0; i < rows; i++) {
    const int start = n, own = offsets[i + 1] - offsets[i], all = own + to[i + 1] - to[i];

    g->offsets[i] = n;
    for (int e = 0; e < all; e++) {
      const int t = to[i] + e - own, k = e < own ? offsets[i] + e : from[2 * t + 1], j = e < own ? columns[k] : from[2 * t];
      const int weight = Weight(values, scale, i, j, k);

      if (j == i) continue;
      if (at[j] >= start) g->weights[at[j]] = Add(g->weights[at[j]], weight);
      else {
        at[j]           = n;
        g->weights[n]   = weight;
        g->columns[n++] = j;
      }
    }
  }
  g->offsets[rows] = n;
  free(to);
  return TRSV_SUCCESS;
}

static TrsvError CreateGraph(int rows, const int *offsets, const int *columns, const double *values, Graph *g)
{
  int      *at = NULL, symmetric = 0;
  double   *scale = NULL;
  TrsvError error;

  *g    = (Graph){.n = rows};
  error = TrsvAlloc(sizeof(int) * (size_t)rows, &at);
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)rows + 1), &g->offsets);
  if (!error && values) error = TrsvAlloc(sizeof(double) * (size_t)rows, &scale);
  if (!error) symmetric = IsSymmetric(rows, offsets, columns, at);
  if (!error && values) FindScale(rows, offsets, columns, values, scale);
  if (!error) error = symmetric ? Symmetric(rows, offsets, columns, values, scale, at, g) : Symmetrise(rows, offsets, columns, values, scale, at, g);
  free(scale);
  free(at);
  if (error) FreeGraph(g);
  return error;
}

/* How much two vertices belong together; the same from both sides. Many and strong entries for the sizes make compact blocks. */
static uint64_t Key(const Graph *g, int v, int u, int k)
{
  const float weight = g->weights ? (float)g->weights[k] : 1, sizes = g->sizes ? (float)g->sizes[v] * (float)g->sizes[u] : 1;
  const float rating = weight * weight / sizes; /* positive: its bits are in the order of its values */
  uint32_t    bits;

  memcpy(&bits, &rating, sizeof(bits));
  return (uint64_t)bits << 32 | Hash(((uint64_t)(uint32_t)(v < u ? v : u) << 32 | (uint32_t)(v < u ? u : v)) + 0x9e3779b97f4a7c15ull);
}

/* The free neighbour of v with the highest key that a block has room for; -1 if there is none. */
static int Best(const Graph *g, int size, const int *partner, int v)
{
  const int room = size - (g->sizes ? g->sizes[v] : 1);
  uint64_t  best = 0;
  int       u    = -1;

  for (int k = g->offsets[v]; k < g->offsets[v + 1]; k++) {
    const int c = g->columns[k];
    uint64_t  key;

    if (partner[c] >= 0 || (g->sizes ? g->sizes[c] : 1) > room) continue;
    key = Key(g, v, c, k);
    if (u >= 0 && (key < best || (key == best && c > u))) continue;
    best = key;
    u    = c;
  }
  return u;
}

/* partner[v]: whom v is paired with, -1 where it stays alone. want and list [n] are for work. */
static void Match(const Graph *g, int size, int *partner, int *want, int *list)
{
  int n = g->n;

  for (int v = 0; v < n; v++) partner[v] = -1, want[v] = -1, list[v] = v;
  for (int r = 0; r < ROUNDS && n; r++) {
    int left = 0;

    for (int l = 0; l < n; l++) {
      const int v = list[l];

      if (want[v] < 0 || partner[want[v]] >= 0) want[v] = Best(g, size, partner, v);
      if (want[v] >= 0) list[left++] = v;
    }
    n    = left;
    left = 0;
    for (int l = 0; l < n; l++) {
      const int v = list[l];

      if (want[want[v]] == v) partner[v] = want[v];
      else list[left++] = v;
    }
    n = left;
  }
}

/* The graph of groups of vertices: id[v] is the group of v, numbered by their first vertices, next[v] the next vertex of its group or -1.
   mark [groups] is for work. */
static TrsvError Contract(Graph *g, int groups, const int *id, const int *next, int *mark)
{
  Graph coarse = {.n = groups};
  TrsvError error;
  int       c = 0, n = 0;

  error = TrsvAlloc(sizeof(int) * ((size_t)groups + 1), &coarse.offsets);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)groups, &coarse.sizes);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse.columns);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse.weights);
  if (error) {
    FreeGraph(&coarse);
    return error;
  }
  memset(mark, -1, sizeof(int) * (size_t)groups);
  for (int v = 0; v < g->n; v++) {
    const int start = n;

    if (id[v] != c) continue; /* seen with the first of its group */
    coarse.offsets[c] = n;
    coarse.sizes[c]   = 0;
    for (int u = v; u >= 0; u = next[u]) {
      coarse.sizes[c] += g->sizes ? g->sizes[u] : 1;
      for (int k = g->offsets[u]; k < g->offsets[u + 1]; k++) {
        const int d = id[g->columns[k]], weight = g->weights ? g->weights[k] : 1;

        if (d == c) continue;
        if (mark[d] >= start) coarse.weights[mark[d]] = Add(coarse.weights[mark[d]], weight);
        else {
          mark[d]             = n;
          coarse.columns[n]   = d;
          coarse.weights[n++] = weight;
        }
      }
    }
    c++;
  }
  coarse.offsets[c] = n;
  FreeGraph(g);
  *g = coarse;
  return TRSV_SUCCESS;
}

/* Rows that follow each other and have the same columns, as those of one point of a mesh with several unknowns, stay together: at most NODE
   of them, and only where they are many. This is PETSc's rule for its inodes, and what its factorisations of them need of an ordering. */
static TrsvError GroupNodes(Graph *g, const int *offsets, const int *columns, int *block, int *next, int *mark)
{
  int nodes = 0, length = 0;

  for (int i = 0; i < g->n; i++) {
    const int entries = offsets[i + 1] - offsets[i];
    const int same = entries && i && length < TRSV_NODE && offsets[i] - offsets[i - 1] == entries && !memcmp(columns + offsets[i - 1], columns + offsets[i], sizeof(int) * (size_t)entries);

    length   = same ? length + 1 : 1;
    nodes   += !same;
    block[i] = nodes - 1;
    next[i]  = -1;
    if (same) next[i - 1] = i;
  }
  if (nodes > 0.8 * g->n) {
    for (int i = 0; i < g->n; i++) block[i] = i;
    return TRSV_SUCCESS;
  }
  return Contract(g, nodes, block, next, mark);
}

/* One pass: matches, contracts, and carries the blocks of the rows on. */
static TrsvError Pass(Graph *g, int size, int rows, int *block, int *partner, int *id, int *work)
{
  const int n = g->n;
  int       pairs = 0;

  Match(g, size, partner, id, work);
  for (int v = 0; v < n; v++) id[v] = partner[v] >= 0 && partner[v] < v ? id[partner[v]] : pairs++;
  for (int v = 0; v < n; v++)
    if (partner[v] < v) partner[v] = -1; /* now: the next of the pair */
  TrsvCall(Contract(g, pairs, id, partner, work));
  for (int i = 0; i < rows; i++) block[i] = id[block[i]];
  return TRSV_SUCCESS;
}

/* Gathers rows into blocks of no more than size rows: block[i] is the block of row i. Blocks are numbered by their lowest rows. A vertex
   of the graph is a block; two touch if the pattern, or its transpose, joins their rows. Rows that follow each other with the same columns
   stay in one block, whatever its size. */
static TrsvError MakeBlocks(int rows, const int *offsets, const int *columns, const double *values, int size, int *block, Graph *g)
{
  long      reach = 1; /* it comes to more than the largest size */
  int      *work;
  TrsvError error;

  *g = (Graph){0};
  TrsvCall(TrsvAlloc(3 * sizeof(int) * (size_t)rows, &work));
  error = CreateGraph(rows, offsets, columns, values, g);
  if (!error) error = GroupNodes(g, offsets, columns, block, work, work + rows);
  /* pairs of pairs make 2, 4, ... rows; two passes more are for what stayed alone */
  for (int more = 2; !error && size > 1 && (reach < size || more--); reach *= 2) {
    const int before = g->n;

    error = Pass(g, size, rows, block, work, work + rows, work + 2 * rows);
    if (g->n == before) break;
  }
  free(work);
  if (error) FreeGraph(g);
  return error;
}

/* The smallest colour that no neighbour has, block by block. used [n + 1] is for work; returns how many colours there are. */
static int Colour(const Graph *g, int *colour, int *used)
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
static void Balance(const Graph *g, int colours, int *colour, long *rows, int *used)
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

/* As TrsvColourWaves. */
TrsvError TrsvColourBlocks(int rows, const int *offsets, const int *columns, const double *values, int size, int *colour, int *colours)
{
  const size_t r     = (size_t)rows;
  Graph        g     = {0};
  long        *share = NULL;
  int         *block = NULL; /* of each row; and of each block, its colour and room for work */
  TrsvError    error;

  error = TrsvAlloc(sizeof(int) * (3 * r + 1), &block);
  if (!error) error = MakeBlocks(rows, offsets, columns, values, size, block, &g);
  if (!error) {
    *colours = Colour(&g, block + r, block + 2 * r);
    error    = TrsvAlloc(sizeof(long) * (size_t)*colours, &share);
  }
  if (!error) {
    if (*colours) Balance(&g, *colours, block + r, share, block + 2 * r);
    for (int i = 0; i < rows; i++) colour[i] = block[r + (size_t)block[i]];
  }
  free(share);
  free(block);
  FreeGraph(&g);
  return error;
}
