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
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "ordering/bmc_graph.h"

enum {
  ROUNDS = 8
};

/* splitmix64's finaliser: the same on every machine */
static uint32_t Hash(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* How much two vertices belong together; the same from both sides. Many and strong entries for the sizes make compact blocks. */
static uint64_t Key(const TrsvGraph *g, int v, int u, int k)
{
  const float weight = g->weights ? (float)g->weights[k] : 1, sizes = g->sizes ? (float)g->sizes[v] * (float)g->sizes[u] : 1;
  const float rating = weight * weight / sizes; /* positive: its bits are in the order of its values */
  uint32_t    bits;

  memcpy(&bits, &rating, sizeof(bits));
  return (uint64_t)bits << 32 | Hash(((uint64_t)(uint32_t)(v < u ? v : u) << 32 | (uint32_t)(v < u ? u : v)) + 0x9e3779b97f4a7c15ull);
}

/* The free neighbour of v with the highest key that a block has room for; -1 if there is none. */
static int Best(const TrsvGraph *g, int size, const int *partner, int v)
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
static void Match(const TrsvGraph *g, int size, int *partner, int *want, int *list)
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

/* Rows of one node stay together: blocks and graph become those of the nodes, where there are any. next and mark [rows] are for work. */
static TrsvError GroupNodes(TrsvGraph *g, const int *offsets, const int *columns, int *block, int *next, int *mark)
{
  const int nodes = TrsvFindNodes(g->n, offsets, columns, block);

  for (int i = 0; i < g->n; i++) {
    next[i] = -1;
    if (i && block[i] == block[i - 1]) next[i - 1] = i;
  }
  return nodes < g->n ? TrsvGraphContract(g, nodes, block, next, mark) : TRSV_SUCCESS;
}

/* One pass: matches, contracts, and carries the blocks of the rows on. */
static TrsvError Pass(TrsvGraph *g, int size, int rows, int *block, int *partner, int *id, int *work)
{
  const int n = g->n;
  int       pairs = 0;

  Match(g, size, partner, id, work);
  for (int v = 0; v < n; v++) id[v] = partner[v] >= 0 && partner[v] < v ? id[partner[v]] : pairs++;
  for (int v = 0; v < n; v++)
    if (partner[v] < v) partner[v] = -1; /* now: the next of the pair */
  TrsvCall(TrsvGraphContract(g, pairs, id, partner, work));
  for (int i = 0; i < rows; i++) block[i] = id[block[i]];
  return TRSV_SUCCESS;
}

/* Gathers rows into blocks of no more than size rows: block[i] is the block of row i. Blocks are numbered by their lowest rows. A vertex
   of the graph is a block; two touch if the pattern, or its transpose, joins their rows. Rows that follow each other with the same columns
   stay in one block, whatever its size. */
static TrsvError MakeBlocks(int rows, const int *offsets, const int *columns, const double *values, int size, int *block, TrsvGraph *g)
{
  long      reach = 1; /* it comes to more than the largest size */
  int      *work;
  TrsvError error;

  *g = (TrsvGraph){0};
  TrsvCall(TrsvAlloc(3 * sizeof(int) * (size_t)rows, &work));
  error = TrsvGraphCreate(rows, offsets, columns, values, g);
  if (!error) error = GroupNodes(g, offsets, columns, block, work, work + rows);
  /* pairs of pairs make 2, 4, ... rows; two passes more are for what stayed alone */
  for (int more = 2; !error && size > 1 && (reach < size || more--); reach *= 2) {
    const int before = g->n;

    error = Pass(g, size, rows, block, work, work + rows, work + 2 * rows);
    if (g->n == before) break;
  }
  free(work);
  if (error) TrsvGraphFree(g);
  return error;
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

/* As TrsvColourWaves. */
TrsvError TrsvColourBlocks(int rows, const int *offsets, const int *columns, const double *values, int size, int *colour, int *colours)
{
  const size_t r     = (size_t)rows;
  TrsvGraph        g     = {0};
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
  TrsvGraphFree(&g);
  return error;
}
