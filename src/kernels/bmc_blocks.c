/*
   Blocks of any pattern for the block multicolour ordering: pairs of vertices are merged, pass by pass, along the edges that stand for most
   entries, so that a block is a compact piece of the matrix's own neighbourhood.

   Each pass is a matching in rounds: every free vertex proposes to the free neighbour with the highest key, and two that propose to each
   other are a pair. Rounds look only at the state before them, so that the result depends on no order of work: what a device does with a
   thread for each vertex is, to the bit, what is done here. A bounded number of rounds and passes, each over no more entries than the
   matrix has, keeps the time proportional to them whatever the pattern.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "bmc.h"

static const int rounds = 8;

void TrsvGraphFree(TrsvGraph *g)
{
  free(g->offsets);
  free(g->columns);
  free(g->weights);
  free(g->sizes);
  *g = (TrsvGraph){0};
}

/* Are the columns of every row in range; and do they rise, with every entry's mirror image there? */
static TrsvError Check(int rows, const int *offsets, const int *columns, int *at, int *symmetric)
{
  *symmetric = 1;
  for (int i = 0; i < rows; i++) {
    if (offsets[i + 1] < offsets[i]) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, offsets[i], offsets[i + 1]);
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      if (columns[k] < 0 || columns[k] >= rows) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: column %d of %d", i, columns[k], rows);
      if (k > offsets[i] && columns[k] <= columns[k - 1]) *symmetric = 0;
    }
  }
  if (!*symmetric) return TRSV_SUCCESS;
  /* at[j]: the first entry of row j that has met none of its mirror images; rows come in order, and so must these */
  for (int i = 0; i < rows; i++) {
    int k = offsets[i];

    for (; k < offsets[i + 1] && columns[k] < i; k++) {
      const int j = columns[k];

      if (at[j] == offsets[j + 1] || columns[at[j]] != i) break;
      at[j]++;
    }
    if (k < offsets[i + 1] && columns[k] == i) k++;
    else if (k < offsets[i + 1] && columns[k] < i) {
      *symmetric = 0;
      return TRSV_SUCCESS;
    }
    at[i] = k;
  }
  for (int i = 0; i < rows; i++) *symmetric = *symmetric && at[i] == offsets[i + 1];
  return TRSV_SUCCESS;
}

static TrsvError Symmetric(int rows, const int *offsets, const int *columns, TrsvGraph *g)
{
  int n = 0;

  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)offsets[rows], &g->columns));
  for (int i = 0; i < rows; i++) {
    g->offsets[i] = n;
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (columns[k] != i) g->columns[n++] = columns[k];
  }
  g->offsets[rows] = n;
  return TRSV_SUCCESS;
}

/* The pattern and its transpose together; mark [rows] tells what a row holds already. */
static TrsvError Symmetrise(int rows, const int *offsets, const int *columns, int *mark, TrsvGraph *g)
{
  const int nnz = offsets[rows];
  int      *to, *from, n = 0;

  if (nnz > INT_MAX / 2) return TrsvFail(TRSV_ERR_UNSUPPORTED, "%d entries, too many for 32-bit indices once the pattern is made symmetric", nnz);
  TrsvCall(TrsvAlloc(sizeof(int) * 2 * (size_t)nnz, &g->columns));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)rows + 2 + (size_t)nnz), &to));
  from = to + rows + 2;
  /* as in TrsvTranspose: to[j + 1] runs through row j of the transpose while it is filled */
  memset(to, 0, sizeof(int) * ((size_t)rows + 2));
  for (int k = 0; k < nnz; k++) to[columns[k] + 2]++;
  for (int j = 1; j <= rows; j++) to[j + 1] += to[j];
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) from[to[columns[k] + 1]++] = i;
  memset(mark, -1, sizeof(int) * (size_t)rows);
  for (int i = 0; i < rows; i++) {
    g->offsets[i] = n;
    mark[i]       = i;
    for (int half = 0; half < 2; half++) {
      const int *list = half ? from : columns, end = half ? to[i + 1] : offsets[i + 1];

      for (int k = half ? to[i] : offsets[i]; k < end; k++) {
        if (mark[list[k]] == i) continue;
        mark[list[k]]   = i;
        g->columns[n++] = list[k];
      }
    }
  }
  g->offsets[rows] = n;
  free(to);
  return TRSV_SUCCESS;
}

TrsvError TrsvGraphCreate(int rows, const int *offsets, const int *columns, TrsvGraph *g)
{
  int      *work = NULL, symmetric;
  TrsvError error;

  *g    = (TrsvGraph){.n = rows};
  error = TrsvAlloc(sizeof(int) * (size_t)rows, &work);
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)rows + 1), &g->offsets);
  if (!error) error = Check(rows, offsets, columns, work, &symmetric);
  if (!error) error = symmetric ? Symmetric(rows, offsets, columns, g) : Symmetrise(rows, offsets, columns, work, g);
  free(work);
  if (error) TrsvGraphFree(g);
  return error;
}

/* How much two vertices belong together; the same from both sides. More shared entries for their size make compact blocks. */
static uint64_t Key(const TrsvGraph *g, int v, int u, int k)
{
  const float weight = g->weights ? (float)g->weights[k] : 1, sizes = g->sizes ? (float)g->sizes[v] * (float)g->sizes[u] : 1;
  const float rating = weight * weight / sizes; /* positive: its bits are in the order of its values */
  uint32_t    bits;

  memcpy(&bits, &rating, sizeof(bits));
  return (uint64_t)bits << 32 | TrsvHash(((uint64_t)(uint32_t)(v < u ? v : u) << 32 | (uint32_t)(v < u ? u : v)) + 0x9e3779b97f4a7c15ull);
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
  for (int r = 0; r < rounds && n; r++) {
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

/* The graph of the pairs; id[v] is the pair of v. mark [pairs] is for work. */
static TrsvError Contract(const TrsvGraph *g, const int *partner, int pairs, const int *id, int *mark, TrsvGraph *coarse)
{
  int c = 0, n = 0;

  *coarse = (TrsvGraph){.n = pairs};
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)pairs + 1), &coarse->offsets));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)pairs, &coarse->sizes));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse->columns));
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse->weights));
  memset(mark, -1, sizeof(int) * (size_t)pairs);
  for (int v = 0; v < g->n; v++) {
    const int members[2] = {v, partner[v]}, start = n;

    if (partner[v] >= 0 && partner[v] < v) continue; /* seen with its partner */
    coarse->offsets[c] = n;
    coarse->sizes[c]   = 0;
    for (int m = 0; m < 2 && members[m] >= 0; m++) {
      const int u = members[m];

      coarse->sizes[c] += g->sizes ? g->sizes[u] : 1;
      for (int k = g->offsets[u]; k < g->offsets[u + 1]; k++) {
        const int d = id[g->columns[k]], weight = g->weights ? g->weights[k] : 1;

        if (d == c) continue;
        if (mark[d] >= start) coarse->weights[mark[d]] += weight;
        else {
          mark[d]              = n;
          coarse->columns[n]   = d;
          coarse->weights[n++] = weight;
        }
      }
    }
    c++;
  }
  coarse->offsets[c] = n;
  return TRSV_SUCCESS;
}

/* One pass: matches, contracts, and carries the blocks of the rows on. */
static TrsvError Pass(TrsvGraph *g, int size, int rows, int *block, int *partner, int *id, int *work)
{
  TrsvGraph coarse;
  TrsvError error;
  int       pairs = 0;

  Match(g, size, partner, id, work);
  for (int v = 0; v < g->n; v++) id[v] = partner[v] >= 0 && partner[v] < v ? id[partner[v]] : pairs++;
  error = Contract(g, partner, pairs, id, work, &coarse);
  if (error) TrsvGraphFree(&coarse);
  else {
    for (int i = 0; i < rows; i++) block[i] = id[block[i]];
    TrsvGraphFree(g);
    *g = coarse;
  }
  return error;
}

TrsvError TrsvBlocksMatch(TrsvGraph *g, int size, int *block)
{
  const int rows = g->n;
  int      *work;
  TrsvError error = TRSV_SUCCESS;

  for (int i = 0; i < rows; i++) block[i] = i;
  TrsvCall(TrsvAlloc(3 * sizeof(int) * (size_t)rows, &work));
  /* pairs of pairs make 2, 4, ... rows; two passes more are for what stayed alone */
  for (int reach = 1, more = 2; !error && size > 1 && (reach < size || more--); reach *= 2) {
    const int before = g->n;

    error = Pass(g, size, rows, block, work, work + rows, work + 2 * rows);
    if (g->n == before) break;
  }
  free(work);
  return error;
}
