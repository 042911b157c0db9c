/*
   Colors of any pattern for the multicolor ordering, on the host. multicolor_waves.cu finds the same colors on a
   device.

   Rows get times in their natural order. The time of a row is the first after the times of its earlier neighbors by
   strong entries, like the number of a level set. The colors of consecutive times rise from 0 to TRSV_WAVE_TOP - 1 and
   fall again. If a neighbor, by any entry, has the color of that time, the row takes the next time whose color no
   neighbor has, or, if there is none, an extra color above those of waves. So along strong entries the order
   alternately runs forward and backward, and a row comes before all its neighbors only where a wave begins. Two
   neighbors never have the same color.

   Dense rows can have neighbors of all colors of a wave. Extra colors are then searched TRSV_WAVE_TOP at a time; each
   search reads the entries of the row again.

   Consecutive rows with the same columns, such as the unknowns of a mesh point, are a node, which gets one color. A
   node has at most TRSV_NODE rows, and nodes are used only if there are much fewer nodes than rows. This is PETSc's
   rule for inodes, whose rows its factorizations need next to each other.
*/
#include <stdlib.h>
#include "ordering/multicolor.h"

/* node[i]: the node of row i. Returns the number of nodes, rows if nodes are not used. */
static int FindNodes(int rows, const int *offsets, const int *columns, int *node)
{
  int nodes = 0, length = 0;

  for (int i = 0; i < rows; i++) {
    const int same = length && length < TRSV_NODE && TrsvSameColumns(offsets, columns, i);

    length  = same ? length + 1 : 1;
    nodes += !same;
    node[i] = nodes - 1;
  }
  if (!TrsvUseNodes(nodes, rows)) {
    for (int i = 0; i < rows; i++) node[i] = i;
    nodes = rows;
  }
  return nodes;
}

/* scale [rows], and strongest [rows]: the strength of the strongest entry of each row off the diagonal. */
static void FindStrength(int rows, const int *offsets, const int *columns, const double *values, double *scale,
                         double *strongest)
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
    strongest[i] = 0;
    for (int k = offsets[i]; k < offsets[i + 1]; k++)
      if (columns[k] != i) strongest[i] = fmax(strongest[i], TrsvStrength(values[k], scale[i], scale[columns[k]]));
  }
}

/* The edges of node n to earlier nodes: edge[starts[n]] to edge[starts[n + 1] - 1]. An entry and its mirror image are
   two edges. starts [nodes + 2]: zeros before. */
static void FindEdges(int rows, const int *offsets, const int *columns, const double *values, const double *scale,
                      const double *strongest, int nodes, const int *node, int *starts, int *edge)
{
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
          !values || TrsvStrong(values[k], scale[i], scale[j], strongest[i], strongest[j]) ? other : ~other;
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

TrsvError TrsvColorWaves(int rows, const int *offsets, const int *columns, const double *values, int *color,
                         int *colors)
{
  const size_t r = (size_t)rows;
  double      *scale = NULL;
  int         *node = NULL, *edge = NULL, *starts;
  unsigned    *word;
  TrsvError    error;

  *colors = 0;
  error   = TrsvAlloc(sizeof(int) * (3 * r + 2), &node); /* and starts, words */
  if (!error && values) error = TrsvAlloc(2 * sizeof(double) * r, &scale);
  if (!error) error = TrsvAlloc(sizeof(int) * (size_t)offsets[rows], &edge);
  if (!error) {
    const int nodes = FindNodes(rows, offsets, columns, node);

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
