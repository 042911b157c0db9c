/*
   Colors of any pattern for the multicolor ordering, on the host; multicolor.cu does the same on a device, to the bit.

   Rows come in their natural order. Each gets a time: the one after the latest of the rows before it to which a strong
   entry joins it, as its level set would be; and the color of its time, which rises from 0 to TOP - 1 and falls again,
   and so on. Where a row that it touches, by any entry, has that color it takes the next time whose color is free, and
   one above all waves' if none is. So strong entries join rows whose order is that of a sweep, forward and backward in
   turn; a row that comes before all it touches is only where a wave begins. Two rows of one color never touch.

   Many dense rows can use up all colors of a wave; then colors above are looked for in turns, so that a row costs its
   entries for every TOP of them.

   Rows that follow each other and have the same columns, as those of one point of a mesh with several unknowns, are one
   node, which gets one color: at most NODE of them, and only where they are many. This is PETSc's rule for its inodes,
   and what its factorizations of them need of an ordering.
*/
#include <stdlib.h>
#include <string.h>
#include "ordering/multicolor.h"

int TrsvFindNodes(int rows, const int *offsets, const int *columns, int *node)
{
  int nodes = 0, length = 0;

  for (int i = 0; i < rows; i++) {
    const int same = length && length < TRSV_NODE && TrsvSameColumns(offsets, columns, i);

    length  = same ? length + 1 : 1;
    nodes  += !same;
    node[i] = nodes - 1;
  }
  if (!TrsvFewNodes(nodes, rows)) {
    for (int i = 0; i < rows; i++) node[i] = i;
    nodes = rows;
  }
  return nodes;
}

/* scale [rows], and most [rows]: the strength of the strongest entry of each row */
static void FindStrength(int rows, const int *offsets, const int *columns, const double *values, double *scale,
                         double *most)
{
  for (int i = 0; i < rows; i++) {
    double diagonal = 0, largest = 0;

    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      double *const which = columns[k] == i ? &diagonal : &largest;

      if (fabs(values[k]) > *which) *which = fabs(values[k]);
    }
    scale[i] = TrsvScale(diagonal, largest);
  }
  for (int i = 0; i < rows; i++) {
    most[i] = 0;
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (columns[k] != i) most[i] = fmax(most[i], TrsvStrength(values[k], scale[i], scale[columns[k]]));
  }
}

/* edge: of each node to those before it, from starts on; an entry and its mirror image are two. starts has room for
   nodes + 2. */
static void FindEdges(int rows, const int *offsets, const int *columns, const double *values, const double *scale,
                      const double *most, int nodes, const int *node, int *starts, int *edge)
{
  memset(starts, 0, sizeof(int) * ((size_t)nodes + 2));
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      const int n = node[i], m = node[columns[k]];

      if (n != m) starts[(n > m ? n : m) + 2]++;
    }
  for (int n = 1; n <= nodes; n++) starts[n + 1] += starts[n];
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
      const int j = columns[k], n = node[i], m = node[j], other = n < m ? n : m;

      if (n != m)
        edge[starts[(n > m ? n : m) + 1]++] =
          !values || TrsvStrong(values[k], scale[i], scale[j], most[i], most[j]) ? other : ~other;
    }
}

/* The word of a node that touches all colors of a wave and the first above: the colors from base on in their turn. */
static unsigned FarWord(const int *edge, int edges, const unsigned *word)
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
    if (!word[n]) word[n] = FarWord(edge + starts[n], starts[n + 1] - starts[n], word);
  }
}

TrsvError TrsvColorWaves(int rows, const int *offsets, const int *columns, const double *values, int *color,
                         int *colors)
{
  const size_t r = (size_t)rows;
  double      *scale = NULL;
  int         *node = NULL, *edge = NULL, *starts;
  unsigned    *word;
  TrsvError    error;

  *colors = 0;
  error    = TrsvAlloc(sizeof(int) * (3 * r + 2), &node); /* and starts, words */
  if (!error && values) error = TrsvAlloc(2 * sizeof(double) * r, &scale);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)offsets[rows], &edge);
  if (!error) {
    const int nodes = TrsvFindNodes(rows, offsets, columns, node);

    starts = node + r;
    word   = (unsigned *)starts + r + 2;
    if (values) FindStrength(rows, offsets, columns, values, scale, scale + r);
    FindEdges(rows, offsets, columns, values, scale, scale + (values ? r : 0), nodes, node, starts, edge);
    FindWords(nodes, starts, edge, word);
    for (int i = 0; i < rows; i++) {
      color[i] = TrsvWaveColor(word[node[i]]);
      if (color[i] >= *colors) *colors = color[i] + 1;
    }
  }
  free(edge);
  free(scale);
  free(node);
  return error;
}
