/*
   multicolor.h: the multicolor ordering, and the formulas that host and device share. multicolor.c explains the colors.
*/
#ifndef TRSV_MULTICOLOR_H
#define TRSV_MULTICOLOR_H

#include <math.h>
#include "analysis/analysis.h"
#include "ordering/ordering.h"

TRSV_C_BEGIN

/* A square matrix in compressed sparse rows, and arrays [rows] of the search for waves. */
typedef struct {
  int           rows, entries;
  const int    *offsets, *columns;
  const double *values; /* NULL: all entries are strong */
  double       *scale, *strongest; /* of TrsvStrength; the strength of the strongest entry off the diagonal */
  int          *node;
} TrsvColorMatrix;

/* Regular grids */
enum {
  TRSV_GRID_REACH      = 2,       /* the largest step along a side */
  TRSV_GRID_RUN        = 4,       /* points of a run, see multicolor.c */
  TRSV_GRID_RUN_POINTS = 1 << 17, /* grids of at least so many points have runs */
  TRSV_GRID_OFFSETS    = 125,     /* of a stencil, at most */
  TRSV_GRID_SAMPLES    = 64       /* rows from which a grid is guessed */
};

typedef struct {
  int         side[3];                    /* points along x, y, z; 1 along z in a plane */
  int         reach[3];                   /* the largest step along each side, at least 1 */
  int         block[3];                   /* points of a box along each side: reach, or along x those of a run */
  int         top[3];                     /* boxes along each side while colors rise */
  int         star;                       /* 1: each step is along one side only */
  int         count;                      /* of the stencil's offsets */
  int         offset[TRSV_GRID_OFFSETS];  /* column - row, rising */
  signed char step[TRSV_GRID_OFFSETS][3]; /* each offset as steps along x, y, z */
} TrsvGrid;

/* Of rows spread over a matrix: the number of entries, -1 for an invalid row or one with too many; and column - row and
   value (1 without values) of each. entries: those of the matrix; only set on a device. */
typedef struct {
  int    entries;
  int    count[TRSV_GRID_SAMPLES], offset[TRSV_GRID_SAMPLES][TRSV_GRID_OFFSETS];
  double value[TRSV_GRID_SAMPLES][TRSV_GRID_OFFSETS];
} TrsvGridSamples;

TRSV_HOST_DEVICE void TrsvGridSample(const TrsvColorMatrix *A, int s, TrsvGridSamples *samples)
{
  /* 3 s: without it all rows may be on one boundary of a grid with sides of 128 */
  const int i = (int)(((2 * (long long)s + 1) * A->rows / (2 * TRSV_GRID_SAMPLES) + 3 * s + 1) % A->rows);
  const int begin = A->offsets[i], end = A->offsets[i + 1];
  const int sound = begin >= 0 && begin <= end && end <= A->entries && end - begin <= TRSV_GRID_OFFSETS;

  samples->count[s] = sound ? end - begin : -1;
  for (int k = begin; sound && k < end; k++) {
    if (A->columns[k] < 0 || A->columns[k] >= A->rows) samples->count[s] = -1;
    samples->offset[s][k - begin] = (int)((unsigned)A->columns[k] - (unsigned)i);
    samples->value[s][k - begin]  = A->values ? A->values[k] : 1;
  }
}

/* Returns 1 if every entry of row i belongs to the stencil and stays inside the grid. */
TRSV_HOST_DEVICE int TrsvGridHolds(const TrsvColorMatrix *A, const TrsvGrid *g, int i)
{
  const int begin = A->offsets[i], end = A->offsets[i + 1];
  const int at[3] = {i % g->side[0], i / g->side[0] % g->side[1], i / g->side[0] / g->side[1]};

  if (begin < 0 || end > A->entries) return 0;
  for (int k = begin, o = 0; k < end; k++, o++) {
    const int d = (int)((unsigned)A->columns[k] - (unsigned)i); /* columns are not checked yet */

    while (o < g->count && g->offset[o] < d) o++;
    if (o == g->count || g->offset[o] != d) return 0;
    for (int s = 0; s < 3; s++)
      if (at[s] + g->step[o][s] < 0 || at[s] + g->step[o][s] >= g->side[s]) return 0;
  }
  return begin <= end;
}

/* The color of a point: multicolor.c. */
TRSV_HOST_DEVICE int TrsvGridColor(const TrsvGrid *g, int i)
{
  int at[3] = {i % g->side[0], i / g->side[0] % g->side[1], i / g->side[0] / g->side[1]}, color = 0, inside = 0,
      points = 1;

  for (int s = 0; s < 3; s++) {
    const int turn = 2 * g->top[s] - 2, box = at[s] / g->block[s] % turn; /* in a turn colors rise and fall once */

    color += (box < g->top[s] ? box : turn - box) << (g->star ? 0 : s);
    inside += at[s] % g->reach[s] * points;
    points *= g->reach[s];
  }
  return color * points + inside;
}

/* An upper bound of the number of colors. */
TRSV_HOST_DEVICE int TrsvGridColors(const TrsvGrid *g)
{
  int colors = 1, points = 1;

  for (int s = 0; s < 3; s++) {
    colors += (g->top[s] - 1) << (g->star ? 0 : s);
    points *= g->reach[s];
  }
  return colors * points;
}

/* Checks whether the matrix is a regular grid. holds() checks a guess, in the memory of the matrix. */
TrsvError TrsvGridFind(const TrsvColorMatrix *, const TrsvGridSamples *,
                       TrsvError (*holds)(const TrsvColorMatrix *, const TrsvGrid *, int *yes), TrsvGrid *, int *found);

/* Colors of any pattern: multicolor.c. The time of a node is the number of a wave, from 0, and one of its
   TRSV_WAVE_LENGTH places. The colors of the places rise from 0 to TRSV_WAVE_TOP - 1 and fall to 1. The word of a node
   is 1 + TRSV_WAVE_STEP wave + place, or an extra color of at least TRSV_WAVE_TOP with the bit TRSV_WAVE_EXTRA. */
enum {
  TRSV_WAVE_LENGTH = 62, /* places */
  TRSV_WAVE_STEP   = 64,
  TRSV_WAVE_TOP    = 32, /* colors of a wave */
  TRSV_NODE        = 5   /* rows of a node, at most */
};

#define TRSV_WAVE_EXTRA 0x80000000u /* marks an extra color */
#define TRSV_STRONG     0.5         /* the strength of a strong entry, at least, over the largest in each of its rows */

/* The state of a node, from the words of its earlier neighbors. */
typedef struct {
  unsigned latest; /* the largest word of neighbors by strong entries */
  unsigned used;   /* the colors of waves that are used */
  unsigned extra;  /* the first 32 extra colors that are used */
} TrsvWaveNode;

/* An edge is the other node, or ~node if the entry is weak. */
TRSV_HOST_DEVICE int TrsvWaveOther(int edge) { return edge < 0 ? ~edge : edge; }

/* The color of the place of a word without the bit TRSV_WAVE_EXTRA. */
TRSV_HOST_DEVICE unsigned TrsvPlaceColor(unsigned word)
{
  const unsigned place = (word - 1) % TRSV_WAVE_STEP;

  return place < TRSV_WAVE_LENGTH - place ? place : TRSV_WAVE_LENGTH - place;
}

TRSV_HOST_DEVICE int TrsvWaveColor(unsigned word)
{
  return (int)(word & TRSV_WAVE_EXTRA ? word & ~TRSV_WAVE_EXTRA : TrsvPlaceColor(word));
}

/* The index of the lowest bit of a mask that is set; the mask is not 0. */
TRSV_HOST_DEVICE unsigned TrsvLowest(unsigned long long mask)
{
#ifdef __CUDA_ARCH__
  return (unsigned)__ffsll((long long)mask) - 1;
#else
  return (unsigned)__builtin_ctzll(mask);
#endif
}

/* For extra colors base ... base + TRSV_WAVE_TOP - 1. TrsvWaveBit: the bit of a word's color, 0 if it is another.
   TrsvWaveFree: the word of the first color whose bit is not in `used`. */
TRSV_HOST_DEVICE unsigned TrsvWaveBit(unsigned word, unsigned base)
{
  const unsigned c = (word & ~TRSV_WAVE_EXTRA) - base;

  return word & TRSV_WAVE_EXTRA && c < TRSV_WAVE_TOP ? 1u << c : 0;
}

TRSV_HOST_DEVICE unsigned TrsvWaveFree(unsigned used, unsigned base)
{
  return TRSV_WAVE_EXTRA | (base + TrsvLowest(~used));
}

/* Adds a neighbor; word 0 adds nothing. It has few branches, because chains of nodes wait for it. */
TRSV_HOST_DEVICE void TrsvWaveMeet(TrsvWaveNode *node, int edge, unsigned word)
{
  const int of_wave = (int)word > 0; /* TRSV_WAVE_EXTRA is the sign bit */

  node->used |= of_wave ? 1u << TrsvPlaceColor(word) % 32 : 0; /* % 32: the shift is valid for all words */
  node->latest = of_wave && edge >= 0 ? (word > node->latest ? word : node->latest) : node->latest;
  node->extra |= TrsvWaveBit(word, TRSV_WAVE_TOP);
}

/* Bit i of the mask becomes bit 31 - i of the result, which has 64 bits because it is then shifted. */
TRSV_HOST_DEVICE unsigned long long TrsvReverseBits(unsigned mask)
{
#ifdef __CUDA_ARCH__
  return __brev(mask);
#else
  unsigned reversed = 0;

  for (int i = 0; i < 32; i++) reversed |= (mask >> i & 1) << (31 - i);
  return reversed;
#endif
}

/* The word of a node: the first time after `latest` whose color no neighbor has, or else the first such extra color; 0
   if all 32 extra colors in `extra` are used. */
TRSV_HOST_DEVICE unsigned TrsvWaveWord(const TrsvWaveNode *node)
{
  /* color c has the places c and TRSV_WAVE_LENGTH - c */
  const unsigned long long used   = node->used | TrsvReverseBits(node->used) << (TRSV_WAVE_LENGTH - 31),
                           unused = ~used & ~0ull >> (64 - TRSV_WAVE_LENGTH);
  const unsigned           time =
    node->latest < 1u << 30 ? node->latest : node->latest % TRSV_WAVE_STEP; /* waves restart after 30 bits */
  const unsigned           wave = time / TRSV_WAVE_STEP, place = time % TRSV_WAVE_STEP;

  if (unused >> place) return 1 + wave * TRSV_WAVE_STEP + place + TrsvLowest(unused >> place);
  if (unused) return 1 + (wave + 1) * TRSV_WAVE_STEP + TrsvLowest(unused);
  return ~node->extra ? TrsvWaveFree(node->extra, TRSV_WAVE_TOP) : 0;
}

/* The strength of entry k of row i, relative to the diagonals of its row and column; 0 for NaN. */
TRSV_HOST_DEVICE double TrsvStrength(const TrsvColorMatrix *A, int k, int i)
{
  return fmax(fabs(A->values[k]) * A->scale[i] * A->scale[A->columns[k]], 0.0);
}

/* The scale of a row in TrsvStrength: from its diagonal, or its largest entry if the diagonal is 0. */
TRSV_HOST_DEVICE double TrsvScale(double diagonal, double largest)
{
  const double of = diagonal > 0 ? diagonal : largest;

  return of > 0 ? 1 / sqrt(of) : 0;
}

/* Returns 1 if entry k of row i is strong in its row and in that of its column. */
TRSV_HOST_DEVICE int TrsvStrong(const TrsvColorMatrix *A, int k, int i)
{
  const double strength = TrsvStrength(A, k, i);

  return strength >= TRSV_STRONG * A->strongest[i] && strength >= TRSV_STRONG * A->strongest[A->columns[k]];
}

/* Nodes are used only if there are much fewer nodes than rows. */
TRSV_HOST_DEVICE int TrsvUseNodes(int nodes, int rows) { return nodes <= 0.8 * rows; }

/* Colors of the rows of a valid matrix on the host, less than *colors; of a regular grid, also its sides. rows > 0. */
TrsvError TrsvColorRows(TrsvColorMatrix *, int *color, int *colors, int side[3]);

/* multicolor.cu: TrsvOrderMulticolor on a device. Sets the order and the grid; rows > 0. */
TrsvError TrsvDeviceOrder(TrsvColorMatrix *, TrsvOrdering *);

/* order_values.cu: TrsvOrderMulticolor on the device, by magnitudes of values of any type, |re| + |im| if complex. */
TrsvError TrsvDeviceOrderValues(const TrsvCSR *A, TrsvPrecision, TrsvOrdering **multicolor);

enum {
  TRSV_FILL_LONGEST = 256,  /* the estimate of the discarded fill leaves out rows with more entries */
  TRSV_FILL_SAMPLE  = 2048, /* rows of the estimate, at most */
  TRSV_FILL_BLOCK   = 128   /* threads for a row of the estimate */
};

TRSV_HOST_DEVICE int TrsvFillStride(int rows) { return (rows + TRSV_FILL_SAMPLE - 1) / TRSV_FILL_SAMPLE; }

/* The row of a sample: one of every `stride` rows, in a place that varies, because a fixed place may always be at the
   side of a grid. The last one may be beyond the matrix. */
TRSV_HOST_DEVICE int TrsvFillRow(int sample, int stride)
{
  unsigned hash = (unsigned)sample * 2654435761u;

  hash = (hash ^ (hash >> 15)) * 2246822519u;
  hash ^= hash >> 13;
  return sample * stride + (int)(hash % (unsigned)stride);
}

/* order_values.cu: estimates from a sample of the rows the fill that ILU(0) discards: fill[0] in the natural order,
   fill[1] in order [rows], on the device: the row in each position. Works in the default stream and waits for it. */
TrsvError TrsvDeviceDiscardedFill(const TrsvCSR *A, const int *order, TrsvPrecision, double fill[2]);

TRSV_C_END
#endif
