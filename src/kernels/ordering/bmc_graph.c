/*
   The graph of a matrix, for blocks of its rows: which rows an entry or its mirror image joins, and how strongly; and graphs of groups of vertices.
   Every function takes time proportional to rows and entries.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "ordering/bmc_graph.h"

enum {
  STRONG = 1 << 16 /* what an entry as large as its diagonals counts; one of no size counts 1 */
};

void TrsvGraphFree(TrsvGraph *g)
{
  free(g->offsets);
  free(g->columns);
  free(g->weights);
  free(g->sizes);
  *g = (TrsvGraph){0};
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
static TrsvError Symmetric(int rows, const int *offsets, const int *columns, const double *values, const double *scale, int *at, TrsvGraph *g)
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
static TrsvError Symmetrise(int rows, const int *offsets, const int *columns, const double *values, const double *scale, int *at, TrsvGraph *g)
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

TrsvError TrsvGraphCreate(int rows, const int *offsets, const int *columns, const double *values, TrsvGraph *g)
{
  int      *at = NULL, symmetric = 0;
  double   *scale = NULL;
  TrsvError error;

  *g    = (TrsvGraph){.n = rows};
  error = TrsvAlloc(sizeof(int) * (size_t)rows, &at);
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)rows + 1), &g->offsets);
  if (!error && values) error = TrsvAlloc(sizeof(double) * (size_t)rows, &scale);
  if (!error) symmetric = IsSymmetric(rows, offsets, columns, at);
  if (!error && values) FindScale(rows, offsets, columns, values, scale);
  if (!error) error = symmetric ? Symmetric(rows, offsets, columns, values, scale, at, g) : Symmetrise(rows, offsets, columns, values, scale, at, g);
  free(scale);
  free(at);
  if (error) TrsvGraphFree(g);
  return error;
}

TrsvError TrsvGraphContract(TrsvGraph *g, int groups, const int *id, const int *next, int *mark)
{
  TrsvGraph coarse = {.n = groups};
  TrsvError error;
  int       c = 0, n = 0;

  error = TrsvAlloc(sizeof(int) * ((size_t)groups + 1), &coarse.offsets);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)groups, &coarse.sizes);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse.columns);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)g->offsets[g->n], &coarse.weights);
  if (error) {
    TrsvGraphFree(&coarse);
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
  TrsvGraphFree(g);
  *g = coarse;
  return TRSV_SUCCESS;
}
