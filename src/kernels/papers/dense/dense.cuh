/*
   dense.cuh: the data of a dense triangle. dense.cu describes the forms.

   Position p is row p of a lower triangle, row rows - 1 - p of an upper one. A strip is 32 positions; the last strip is
   padded with rows of the identity. Strip s has tiles 0 .. s of 32 x 32 values, each stored by columns. A form
   transforms the triangle in place.
*/
#ifndef TRSV_DENSE_CUH
#define TRSV_DENSE_CUH

#include "papers/dense/dense.h"
#include "papers/graph.h"
#include "papers/papers.cuh"

enum {
  DENSE_ROWS  = 128, /* threads of a block with a thread for each row */
  DENSE_TILE  = 32,
  DENSE_WARPS = 8,
  DENSE_BLOCK = 32 * DENSE_WARPS
};

struct TrsvDense {
  int               rows, strips, lower, unit;
  TrsvPrecision     precision;
  TrsvDenseSettings settings;
  TrsvDenseForm     solves; /* settings.form, or TRSV_DENSE_SIMPLE if the growth exceeds the limit */
  int               block;  /* strips of an inverted diagonal block, at least 1; TRSV_DENSE_DOUBLING: 1 */
  int               slots;  /* words of a component, one for each step that changes it */
  size_t            bytes;
  void             *tiles;     /* [strips (strips + 1) / 2 tiles] */
  void             *side;      /* [2 * padded rows] reciprocals of the diagonal, or the rows of the pairs' inverses */
  void             *right;     /* [2 * padded rows] by position: growth; with launches: b, x */
  void             *words;     /* [2 * slots * padded rows] components, each its own flag; launches alternate halves */
  unsigned         *exceeding; /* the number of rows whose growth exceeds the limit */
  TrsvDeviceGraph  *recording;
  TrsvSync          sync;
};

/* The arguments of a kernel from a triangle. */
template <class T> struct DenseView {
  int      rows, strips, lower, unit, form, block, slots;
  T       *tiles, *side, *words;
  TrsvSync sync;

  DenseView(const TrsvDense *d)
      : rows(d->rows), strips(d->strips), lower(d->lower), unit(d->unit), form(d->solves), block(d->block),
        slots(d->slots), tiles((T *)d->tiles), side((T *)d->side), words((T *)d->words), sync(d->sync)
  {
  }

  __device__ __forceinline__ int row_of(int p) const
  { return lower ? p : rows - 1 - p; } /* the row of a position; also the position of a row */
  __device__ __forceinline__ T *tile(int s, int t) const
  { return tiles + ((size_t)s * (s + 1) / 2 + t) * (DENSE_TILE * DENSE_TILE); }
  __device__ __forceinline__ int padded() const { return strips * DENSE_TILE; }

  /* The first tile of strip s that is part of an inverse and multiplies b; s + 1: none. */
  __device__ __forceinline__ int known(int s) const
  { return form == TRSV_DENSE_SIMPLE || form == TRSV_DENSE_PAIRS ? s + 1 : s - s % block; }

  /* In the step that joins diagonal blocks of 2^level strips: the first strip of the block before that of s. */
  __device__ __forceinline__ int before(int s, int level) const { return s >> (level + 1) << (level + 1); }
};

/* The k-th strip that the step of a level changes; the number of such strips. */
static __host__ __device__ __forceinline__ int dense_odd(int k, int level)
{
  return (k >> level << (level + 1)) | 1 << level | (k & ((1 << level) - 1));
}

static inline int DenseOdds(int strips, int level)
{
  const int rest = strips % (2 << level) - (1 << level);

  return (strips >> (level + 1) << level) + (rest > 0 ? rest : 0);
}

/* y = D^-1 b, or |D^-1| b, by the tiles of inverses. One thread for each position. */
template <class T, bool ABSOLUTE> static __global__ void dense_start(const DenseView<T> D, const T *b, T *y)
{
  const int p = trsv_index(), s = p / DENSE_TILE, r = p % DENSE_TILE;

  if (s >= D.strips) return;
  T sum = 0;
  for (int t = D.known(s); t <= s; t++)
    for (int c = 0; c < (t == s ? r + 1 : DENSE_TILE); c++) {
      const T a = D.tile(s, t)[c * DENSE_TILE + r];

      sum = fma(ABSOLUTE ? fabs(a) : a, b[t * DENSE_TILE + c], sum);
    }
  y[p] = sum;
}

/* The step of a level: y -= M y, or y += |M| y, with y of the block before. One thread for each row that it changes. */
template <class T, bool ABSOLUTE> static __global__ void dense_level(const DenseView<T> D, int level, T *y)
{
  const int k = trsv_index(), s = dense_odd(k / DENSE_TILE, level), r = k % DENSE_TILE, p = s * DENSE_TILE + r;

  if (s >= D.strips) return;
  const int from = D.before(s, level);
  T         sum  = y[p];
  for (int t = from; t < from + (1 << level); t++)
    for (int c = 0; c < DENSE_TILE; c++) {
      const T a = D.tile(s, t)[c * DENSE_TILE + r];

      sum = fma(ABSOLUTE ? fabs(a) : -a, y[t * DENSE_TILE + c], sum);
    }
  y[p] = sum;
}

/* The right-hand side of a substitution: b, or b times the inverses of the pairs. */
template <class T> static __device__ __forceinline__ T dense_right(const DenseView<T> &D, int p, int lane, T b)
{
  const T first = __shfl_sync(0xffffffffu, b, lane & ~1);

  if (D.form == TRSV_DENSE_SIMPLE) return b;
  return lane & 1 ? fma(D.side[p], first, D.side[D.padded() + p] * b) : D.side[p] * b;
}

/* Values on the device: a square array, or [entries] with the place of each among the tiles. */
struct DenseValues {
  const void *values;
  int         leading;
  int         entries; /* 0: a square array */
  const int  *place, *source;
};

/* Sets values and transforms them for d->settings.form: dense_values.cu. */
TrsvError DenseSetValues(TrsvDense *, const DenseValues *, TrsvStream);

/* Launches all steps of a TrsvDense, from right to right + padded rows: dense_steps.cu. */
TrsvError DenseLaunchSteps(void *dense, TrsvStream);

/* The index of an entry among the tiles. */
static inline int DensePlace(const TrsvDense *d, int row, int column)
{
  const int p = d->lower ? row : d->rows - 1 - row, q = d->lower ? column : d->rows - 1 - column, s = p / DENSE_TILE,
            t = q / DENSE_TILE;

  return (s * (s + 1) / 2 + t) * DENSE_TILE * DENSE_TILE + q % DENSE_TILE * DENSE_TILE + p % DENSE_TILE;
}

#endif
