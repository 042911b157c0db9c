/*
   multicolor.h: what the files of the multicolor ordering share, and what host and device compute alike.

   multicolor.c        the ordering, from the colors of the rows
   multicolor_grid.c   colors of a regular grid, from the coordinates of its points
   multicolor_waves.c  colors of any pattern, from how its rows follow each other; on the host
   multicolor.cu       the ordering of a matrix on the device, and the colors of a grid; multicolor_waves.cu: those of
   any pattern
*/
#ifndef TRSV_MULTICOLOR_H
#define TRSV_MULTICOLOR_H

#include <math.h>
#include "analysis/analysis.h"
#include "ordering/ordering.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Up from 0 to top - 1 and down again, and so on: neighbors in t always differ by one. */
TRSV_BOTH int TrsvZigzag(int t, int top)
{
  t %= 2 * top - 2;
  return t < top ? t : 2 * top - 2 - t;
}

/* Regular grids */
enum {
  TRSV_GRID_REACH   = 2, /* the largest distance along a side */
  TRSV_GRID_RUN     = 4,       /* points of a run, see multicolor_grid.c */
  TRSV_GRID_LARGE   = 1 << 17, /* points of a grid from which on there are runs */
  TRSV_GRID_OFFSETS = 125,
  TRSV_GRID_SAMPLES = 64 /* rows that are looked at for a guess */
};

typedef struct {
  int         side[3];                    /* points along x, y, z; z is 1 in a plane */
  int         reach[3];                   /* the largest step along each, at least 1 */
  int         block[3];                   /* points along each of a box: reach, or along x those of a run */
  int         top[3];                     /* boxes along each from where colors rise to where they fall */
  int         star;                       /* no step goes along two sides at once */
  int         entries;                    /* of the matrix */
  int         count;                      /* of the stencil's offsets, rising */
  int         offset[TRSV_GRID_OFFSETS];  /* column - row */
  signed char step[TRSV_GRID_OFFSETS][3]; /* the same along x, y, z */
} TrsvGrid;

/* Of the matrix how many entries it has; of some rows all over it column - row and value, 1 where there are none, of
   each entry; count is -1 where they are too many. */
typedef struct {
  int    entries, count[TRSV_GRID_SAMPLES], offset[TRSV_GRID_SAMPLES][TRSV_GRID_OFFSETS];
  double value[TRSV_GRID_SAMPLES][TRSV_GRID_OFFSETS];
} TrsvGridSamples;

TRSV_BOTH void TrsvGridSample(int rows, int entries, const int *offsets, const int *columns, const double *values,
                              int s, TrsvGridSamples *samples)
{
  const int i     = (int)(((2 * (long long)s + 1) * rows / (2 * TRSV_GRID_SAMPLES) + 3 * s + 1) %
                          rows); /* not all on one boundary, where a side is 128 */
  const int begin = offsets[i], end = offsets[i + 1];
  const int sound = begin >= 0 && begin <= end && end <= entries && end - begin <= TRSV_GRID_OFFSETS;

  samples->count[s] = sound ? end - begin : -1;
  for (int k = begin; sound && k < end; k++) {
    if (columns[k] < 0 || columns[k] >= rows) {
      samples->count[s] = -1;
      return;
    }
    samples->offset[s][k - begin] = columns[k] - i;
    samples->value[s][k - begin]  = values ? values[k] : 1;
  }
}

/* Does every entry of row i belong to the stencil, and stay inside the grid? */
TRSV_BOTH int TrsvGridHolds(const TrsvGrid *g, const int *offsets, const int *columns, int i)
{
  const int begin = offsets[i], end = offsets[i + 1];
  const int at[3] = {i % g->side[0], i / g->side[0] % g->side[1], i / g->side[0] / g->side[1]};

  if (begin < 0 || end > g->entries) return 0;
  for (int k = begin, o = 0; k < end; k++, o++) {
    const int d = (int)((unsigned)columns[k] - (unsigned)i); /* nobody has looked whether it is a column */

    while (o < g->count && g->offset[o] < d) o++;
    if (o == g->count || g->offset[o] != d) return 0;
    for (int s = 0; s < 3; s++)
      if (at[s] + g->step[o][s] < 0 || at[s] + g->step[o][s] >= g->side[s]) return 0;
  }
  return begin <= end;
}

/* See multicolor_grid.c. */
TRSV_BOTH int TrsvGridColor(const TrsvGrid *g, int i)
{
  int at[3] = {i % g->side[0], i / g->side[0] % g->side[1], i / g->side[0] / g->side[1]}, color = 0, inside = 0,
      points = 1;

  for (int s = 0; s < 3; s++) {
    color += TrsvZigzag(at[s] / g->block[s], g->top[s]) << (g->star ? 0 : s);
    inside += at[s] % g->reach[s] * points;
    points *= g->reach[s];
  }
  return color * points + inside;
}

/* More than the colors of any grid */
TRSV_BOTH int TrsvGridColors(const TrsvGrid *g)
{
  int colors = 1, points = 1;

  for (int s = 0; s < 3; s++) {
    colors += (g->top[s] - 1) << (g->star ? 0 : s);
    points *= g->reach[s];
  }
  return colors * points;
}

/* Is the matrix a regular grid? holds says it of a guess, where the matrix lives. */
TrsvError TrsvGridFind(int rows, const TrsvGridSamples *,
                       TrsvError (*holds)(const TrsvGrid *, const int *offsets, const int *columns, int *yes),
                       const int *offsets, const int *columns, TrsvGrid *, int *found);

/* Colors of any pattern, by waves: see multicolor_waves.c. A node's time is a wave, counted from 0, and its place
   there: TRSV_WAVE_LENGTH places, whose colors rise from 0 to the middle one's and fall again. A word is 1 +
   TRSV_WAVE_STEP wave + place, or a color above those of waves. */
enum {
  TRSV_WAVE_LENGTH = 62, /* as many as a mask of 64 bits has room for */
  TRSV_WAVE_STEP   = 64,
  TRSV_WAVE_TOP    = 32, /* colors of a wave */
  TRSV_NODE        = 5   /* rows of a node, at most */
};

#define TRSV_WAVE_EXTRA 0x80000000u /* in a word that is a color */
#define TRSV_STRONG     0.5         /* of the largest entry of both rows */

/* What a node knows of those before it that it touches. */
typedef struct {
  unsigned           latest; /* word of a node that it follows */
  unsigned           extra;  /* colors above, as many as there are bits, that it cannot have */
  unsigned long long used;   /* places whose colors it cannot have */
} TrsvWaveNode;

/* An edge is the other node, or ~ of it where the entry is weak. */
TRSV_BOTH int TrsvWaveOther(int edge) { return edge < 0 ? ~edge : edge; }

TRSV_BOTH int TrsvWaveColor(unsigned word)
{
  const int place = (int)((word - 1) % TRSV_WAVE_STEP);

  return word & TRSV_WAVE_EXTRA  ? (int)(word & ~TRSV_WAVE_EXTRA)
         : place < TRSV_WAVE_TOP ? place
                                 : TRSV_WAVE_LENGTH - place;
}

TRSV_BOTH void TrsvWaveMeet(TrsvWaveNode *node, int edge, unsigned word)
{
  if (word & TRSV_WAVE_EXTRA) {
    const unsigned color = (word & ~TRSV_WAVE_EXTRA) - TRSV_WAVE_TOP;

    if (color < 32) node->extra |= 1u << color;
  } else {
    const unsigned place = (word - 1) % TRSV_WAVE_STEP;

    node->used |= 1ull << place | 1ull << (TRSV_WAVE_LENGTH - place); /* the same color, rising and falling */
    if (edge >= 0 && word > node->latest) node->latest = word;
  }
}

/* The lowest bit of a mask that is not 0 */
TRSV_BOTH unsigned TrsvLowest(unsigned long long mask)
{
#ifdef __CUDA_ARCH__
  return (unsigned)__ffsll((long long)mask) - 1;
#else
  return (unsigned)__builtin_ctzll(mask);
#endif
}

/* Its own word: the first time behind that of all it follows whose color is free; or the first color above that is. 0
   where that is not known yet. */
TRSV_BOTH unsigned TrsvWaveWord(const TrsvWaveNode *node)
{
  const unsigned long long unused = ~node->used & ~0ull >> (64 - TRSV_WAVE_LENGTH);
  const unsigned           time =
    node->latest < 1u << 30 ? node->latest : node->latest % TRSV_WAVE_STEP; /* they start again before a number ends */
  const unsigned           wave = time / TRSV_WAVE_STEP, place = time % TRSV_WAVE_STEP;

  if (unused >> place) return 1 + wave * TRSV_WAVE_STEP + place + TrsvLowest(unused >> place);
  if (unused) return 1 + (wave + 1) * TRSV_WAVE_STEP + TrsvLowest(unused);
  if (~node->extra) return TRSV_WAVE_EXTRA | (TRSV_WAVE_TOP + TrsvLowest((unsigned)~node->extra));
  return 0;
}

/* How strong an entry is: by the size of both diagonals. */
TRSV_BOTH double TrsvStrength(double value, double scale_i, double scale_j)
{
  const double strength = (value < 0 ? -value : value) * scale_i * scale_j;

  return strength > 0 ? strength : 0; /* no NaN */
}

/* The factor of a row for that: from its diagonal, or where it has none from its largest entry. */
TRSV_BOTH double TrsvScale(double diagonal, double largest)
{
  const double of = diagonal > 0 ? diagonal : largest, scale = of > 0 ? 1 / sqrt(of) : 0;

  return scale > 0 ? scale : 0;
}

/* Is an entry strong, for both its rows? */
TRSV_BOTH int TrsvStrong(double value, double scale_i, double scale_j, double most_i, double most_j)
{
  const double strength = TrsvStrength(value, scale_i, scale_j);

  return strength >= TRSV_STRONG * most_i && strength >= TRSV_STRONG * most_j;
}

/* The same from base on: the bit of a word's color, where it is one of these; and the word of the first that is free.
 */
TRSV_BOTH unsigned TrsvWaveBit(unsigned word, unsigned base)
{
  const unsigned c = (word & ~TRSV_WAVE_EXTRA) - base;

  return word & TRSV_WAVE_EXTRA && c < TRSV_WAVE_TOP ? 1u << c : 0;
}

TRSV_BOTH unsigned TrsvWaveFree(unsigned used, unsigned base) { return TRSV_WAVE_EXTRA | (base + TrsvLowest(~used)); }

/* Has row i the columns of the row before it? */
TRSV_BOTH int TrsvSameColumns(const int *offsets, const int *columns, int i)
{
  const int n = offsets[i + 1] - offsets[i], before = offsets[i] - offsets[i - 1];
  int       k = 0;

  if (!n || n != before) return 0;
  while (k < n && columns[offsets[i] + k] == columns[offsets[i - 1] + k]) k++;
  return k == n;
}

TRSV_BOTH int TrsvFewNodes(int nodes, int rows) { return nodes <= 0.8 * rows; }

/* node[i]: the node of row i, as multicolor_waves.c explains them; returns how many there are, rows where they are not
   few. */
int TrsvFindNodes(int rows, const int *offsets, const int *columns, int *node);

/* Rows of color c are [starts[c], starts[c + 1]); drops colors that have none, returns how many are left. */
int TrsvColorsPack(int colors, int *starts);

/* The colors of the rows of a matrix on the host, of any pattern, below *colors. */
TrsvError TrsvColorWaves(int rows, const int *offsets, const int *columns, const double *values, int *color,
                         int *colors);

/* Is row i, [begin, end) of the matrix, in order? columns: its own */
TrsvError TrsvOrderCheckRow(int rows, int i, int begin, int end, const int *columns);

/* TrsvOrderMulticolor of a matrix on the device: multicolor.cu. */
TrsvError TrsvDeviceOrder(int rows, const int *offsets, const int *columns, const double *values,
                          TrsvOrdering **ordering);

/* The same ordering, made on the host: quicker where chains are long. */
TrsvError TrsvOrderByHost(int rows, const int *offsets, const int *columns, const double *values,
                          TrsvOrdering **ordering);

/* An ordering with room for its arrays. */
TrsvError TrsvOrderingCreate(int rows, int colors, TrsvMemory, TrsvOrdering **);

/* How far a matrix on the device is from symmetric, 0 to 1, with columns rising in every row; in the default stream:
   asymmetry.cu. */
TrsvError TrsvDeviceAsymmetry(int rows, const int *offsets, const int *columns, TrsvPrecision, const void *values,
                              double *asymmetry);

#ifdef __cplusplus
}
#endif
#endif
