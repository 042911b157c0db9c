/*
   Transforms the values of a dense triangle for the forms of dense.cu, once for every set.

   Stability: a form that multiplies by inverses is stable up to a factor, their growth || |D^-1| |D| || (Higham,
   Accuracy and Stability of Numerical Algorithms, Section 14.2); for doubling || |M_k| ... |M_1| |D^-1| |L| ||, with
   the factors M of its steps. The growth is computed for every set of values. If it exceeds the limit for any row, or
   is not finite, the values are loaded again and solved by substitution. (Pairs count as blocks of two.)

   Mapping: one thread block for each tile that changes; lane l has row l of four columns.
   Memory order: no block of a launch reads a tile that another block changes.
   Why it ends: no block waits for another. Same bits: every sum has one order.
   Source: the course report "Dense Lower Triangular Solver": the triangle solver of GPU Complex 1 (pairs), and the
     second step of GPU Complex 2, tiled in shared memory (doubling). Changes: the first step is the inverse of the
     diagonal tile of 32 x 32 and a multiplication by it, where the publication has steps of 2, 4, 8 and 16 rows. For
     blocks, this project's form, the row multipliers M = D2^-1 L21 of a step become entries of the inverse, -M D1^-1,
     so that one multiplication solves a block.
*/
#include <math.h>
#include <stdlib.h>
#include "papers/dense/dense.cuh"

enum {
  TILE         = DENSE_TILE * DENSE_TILE,
  WARP_COLUMNS = DENSE_TILE / DENSE_WARPS, /* columns of a tile for each warp */
  ROWS         = 128
};

static const float growth_limit = 100;

/* The strip and column of tile k; tiles are numbered by strips. */
static __device__ __forceinline__ void dense_tile_at(int k, int *s, int *t)
{
  int row = (int)((sqrt(8. * k + 1) - 1) / 2);

  while (row * (row + 1) / 2 > k) row--;
  while ((row + 1) * (row + 2) / 2 <= k) row++;
  *s = row;
  *t = k - row * (row + 1) / 2;
}

/* Loads tiles from a square array, or zeros; pads with the identity; sets a unit diagonal. One block for each tile. */
template <class T> static __global__ void dense_load(const DenseView<T> D, const T *values, int leading)
{
  int s, t;

  dense_tile_at((int)blockIdx.x, &s, &t);
  for (int e = (int)threadIdx.x; e < TILE; e += DENSE_BLOCK) {
    const int  p = s * DENSE_TILE + e % DENSE_TILE, q = t * DENSE_TILE + e / DENSE_TILE;
    const bool one = p == q && (p >= D.rows || D.unit), none = q > p || p >= D.rows || !values;

    D.tile(s, t)[e] = one ? 1 : none ? 0 : values[D.row_of(p) + (size_t)leading * D.row_of(q)];
  }
}

template <class T> static __global__ void dense_scatter(const DenseView<T> D, int entries, const int *place,
                                                        const int *source, const T *values)
{
  const int k = trsv_index();

  if (k < entries) D.tiles[place[k]] = values[source[k]];
}

/* The side of simple and pairs. One thread for each row. */
template <class T> static __global__ void dense_side(const DenseView<T> D)
{
  const int p = (int)(blockIdx.x * ROWS + threadIdx.x), s = p / DENSE_TILE, r = p % DENSE_TILE;

  if (p >= D.padded()) return;
  const T *const tile = D.tile(s, s) + r;
  const T        own  = 1 / tile[r * DENSE_TILE];
  if (D.form == TRSV_DENSE_SIMPLE || !(r & 1)) D.side[p] = own;
  else {
    D.side[p]              = -tile[(r - 1) * DENSE_TILE] / tile[(r - 1) * DENSE_TILE - 1] * own;
    D.side[D.padded() + p] = own;
  }
}

/* The growth of the pairs' inverses: 1 for even rows. One thread for each row. */
template <class T> static __global__ void dense_pair_growth(const DenseView<T> D, T *growth)
{
  const int p = (int)(blockIdx.x * ROWS + threadIdx.x), r = p % DENSE_TILE;

  if (p >= D.padded()) return;
  const T *const tile = D.tile(p / DENSE_TILE, p / DENSE_TILE) + r;
  growth[p] = r & 1 ? fabs(D.side[p] * tile[(r - 1) * DENSE_TILE - 1]) +
                        fabs(D.side[D.padded() + p]) * (fabs(tile[(r - 1) * DENSE_TILE]) + fabs(tile[r * DENSE_TILE]))
                    : 1 + 0 * D.side[p];
}

/* Multiplies rows by the pairs' inverses. The resulting diagonal blocks are never read. */
template <class T> static __global__ void dense_pairs(const DenseView<T> D)
{
  int s, t;

  dense_tile_at((int)blockIdx.x, &s, &t);
  for (int e = (int)threadIdx.x; e < TILE; e += DENSE_BLOCK) { /* a warp has whole columns */
    const int r = e % DENSE_TILE, p = s * DENSE_TILE + r;
    const T   own = D.tile(s, t)[e], even = __shfl_sync(0xffffffffu, own, r & ~1);
    D.tile(s, t)[e] = r & 1 ? fma(D.side[p], even, D.side[D.padded() + p] * own) : D.side[p] * own;
  }
}

/* Sums |row| over the tiles that are inverted, or that doubling multiplies. One thread for each row. */
template <class T> static __global__ void dense_weights(const DenseView<T> D, T *weight)
{
  const int p = (int)(blockIdx.x * ROWS + threadIdx.x), s = p / DENSE_TILE;

  if (p >= D.padded()) return;
  T sum = 0;
  for (int t = D.form == TRSV_DENSE_DOUBLING ? 0 : D.known(s); t <= s; t++)
    for (int c = 0; c < DENSE_TILE; c++) sum += fabs(D.tile(s, t)[c * DENSE_TILE + p % DENSE_TILE]);
  weight[p] = sum;
}

template <class T> static __global__ void dense_count(int rows, const T *growth, float limit, unsigned *exceeding)
{
  const int p = (int)(blockIdx.x * ROWS + threadIdx.x);

  if (p < rows && !(growth[p] <= limit)) (void)atomicAdd(exceeding, 1u);
}

/* Inverts the diagonal tile of each strip. One warp for each strip, a lane for each column. */
template <class T> static __global__ void dense_invert(const DenseView<T> D)
{
  TRSV_SHARED(T, A, TILE);
  TRSV_SHARED(T, X, TILE);
  const int lane = (int)threadIdx.x, s = (int)blockIdx.x;

  for (int c = 0; c < DENSE_TILE; c++) A[c * DENSE_TILE + lane] = D.tile(s, s)[c * DENSE_TILE + lane];
  __syncwarp();
  for (int r = 0; r < DENSE_TILE; r++) { /* X by rows, A by columns */
    T x = r == lane;

    for (int k = 0; k < r; k++)
      if (k >= lane) x = fma(-A[k * DENSE_TILE + r], X[k * DENSE_TILE + lane], x);
    X[r * DENSE_TILE + lane] = r < lane ? 0 : x / A[r * DENSE_TILE + r];
  }
  for (int r = 0; r < DENSE_TILE; r++) D.tile(s, s)[lane * DENSE_TILE + r] = X[r * DENSE_TILE + lane];
}

/* A product of tiles, by all threads of a block: lane l has row l, warp w has WARP_COLUMNS columns from
   w * WARP_COLUMNS on. last: the last column of a row of a; later columns must not be multiplied, as b may have NaN. */
template <class T> struct DenseProduct {
  T sum[WARP_COLUMNS] = {};

  __device__ __forceinline__ void add(T *A, T *B, const T *a, const T *b, int last = DENSE_TILE)
  {
    const int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * WARP_COLUMNS;

    __syncthreads();
    for (int e = (int)threadIdx.x; e < TILE; e += DENSE_BLOCK) {
      A[e] = a[e];
      B[e] = b[e];
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < DENSE_TILE; k++) {
      const T left = A[k * DENSE_TILE + lane];

#pragma unroll
      for (int j = 0; j < WARP_COLUMNS; j++)
        if (k <= last) sum[j] = fma(left, B[(first + j) * DENSE_TILE + k], sum[j]);
    }
  }

  /* the index of sum[j] in a tile */
  static __device__ __forceinline__ int place(int j)
  { return ((int)threadIdx.x / 32 * WARP_COLUMNS + j) * DENSE_TILE + (int)threadIdx.x % 32; }
};

/* Multiplies rows by the inverses of the diagonal tiles. One block for each off-diagonal tile. */
template <class T> static __global__ void __launch_bounds__(DENSE_BLOCK) dense_scale(const DenseView<T> D)
{
  TRSV_SHARED(T, A, TILE);
  TRSV_SHARED(T, B, TILE);
  int             s, t;
  DenseProduct<T> product;

  dense_tile_at((int)blockIdx.x, &s, &t);
  s++; /* off-diagonal tiles are a triangle without the first strip */
  product.add(A, B, D.tile(s, s), D.tile(s, t), (int)threadIdx.x % 32);
  for (int j = 0; j < WARP_COLUMNS; j++) D.tile(s, t)[product.place(j)] = product.sum[j];
}

/* The step of a level: subtracts the multipliers of the rows times the rows of the block before. */
template <class T> static __global__ void __launch_bounds__(DENSE_BLOCK)
  dense_double(const DenseView<T> D, int level, int columns)
{
  TRSV_SHARED(T, A, TILE);
  TRSV_SHARED(T, B, TILE);
  const int s = dense_odd((int)blockIdx.x / columns, level), t = (int)blockIdx.x % columns, from = D.before(s, level);
  DenseProduct<T> product;

  if (t >= from) return;
  for (int d = from; d < from + (1 << level); d++) product.add(A, B, D.tile(s, d), D.tile(d, t));
  for (int j = 0; j < WARP_COLUMNS; j++) D.tile(s, t)[product.place(j)] -= product.sum[j];
}

/* Turns the multipliers of a level into entries of the inverse, from left to right. One block for each strip; no other
   block reads what it changes. */
template <class T> static __global__ void __launch_bounds__(DENSE_BLOCK) dense_explicit(const DenseView<T> D, int level)
{
  TRSV_SHARED(T, A, TILE);
  TRSV_SHARED(T, B, TILE);
  const int s = dense_odd((int)blockIdx.x, level), from = D.before(s, level);

  for (int t = from; t < from + (1 << level); t++) {
    DenseProduct<T> product;

    for (int d = t; d < from + (1 << level); d++) product.add(A, B, D.tile(s, d), D.tile(d, t));
    for (int j = 0; j < WARP_COLUMNS; j++) D.tile(s, t)[product.place(j)] = -product.sum[j];
  }
}

template <class T> static TrsvError LoadTiles(const TrsvDense *d, const DenseValues *from, TrsvStream stream)
{
  const DenseView<T> D(d);

  TrsvCall(TrsvLaunch(dense_load<T>, (unsigned)(d->strips * (d->strips + 1) / 2), DENSE_BLOCK, 0, stream, D,
                      from->entries ? (const T *)NULL : (const T *)from->values, from->leading));
  if (!from->entries) return TRSV_SUCCESS;
  return TrsvLaunch(dense_scatter<T>, TrsvBlocks(from->entries, 256), 256, 0, stream, D, from->entries, from->place,
                    from->source, (const T *)from->values);
}

/* Counts the rows whose growth exceeds the limit. */
template <class T>
static TrsvError CountExceeding(const TrsvDense *d, const T *growth, unsigned *rows, TrsvStream stream)
{
  TrsvCall(TrsvDeviceClear(d->exceeding, sizeof(*d->exceeding), stream));
  TrsvCall(TrsvLaunch(dense_count<T>, TrsvBlocks(d->rows, ROWS), ROWS, 0, stream, d->rows, growth, growth_limit,
                      d->exceeding));
  return TrsvDeviceDownload(rows, d->exceeding, sizeof(*rows), stream);
}

template <class T> static TrsvError PrepareSubstitution(const TrsvDense *d, unsigned *exceeding, TrsvStream stream)
{
  const DenseView<T> D(d);
  const unsigned     grid   = TrsvBlocks(d->strips * DENSE_TILE, ROWS);
  T *const           growth = (T *)d->right;

  TrsvCall(TrsvLaunch(dense_side<T>, grid, ROWS, 0, stream, D));
  if (d->solves == TRSV_DENSE_SIMPLE) return TRSV_SUCCESS;
  TrsvCall(TrsvLaunch(dense_pair_growth<T>, grid, ROWS, 0, stream, D, growth));
  TrsvCall(TrsvLaunch(dense_pairs<T>, (unsigned)(d->strips * (d->strips + 1) / 2), DENSE_BLOCK, 0, stream, D));
  return CountExceeding<T>(d, growth, exceeding, stream);
}

template <class T> static TrsvError PrepareInverses(const TrsvDense *d, unsigned *exceeding, TrsvStream stream)
{
  const DenseView<T> D(d);
  const int strips = d->strips, doubling = d->solves == TRSV_DENSE_DOUBLING, limit = doubling ? strips : d->block;
  const unsigned     grid   = TrsvBlocks(strips * DENSE_TILE, ROWS);
  T *const           weight = (T *)d->right, *const growth = weight + strips * DENSE_TILE;

  TrsvCall(TrsvLaunch(dense_weights<T>, grid, ROWS, 0, stream, D, weight));
  TrsvCall(TrsvLaunch(dense_invert<T>, (unsigned)strips, 32, 0, stream, D));
  if (strips > 1) TRSV_LAUNCH(dense_scale<T>, (unsigned)(strips * (strips - 1) / 2), DENSE_BLOCK, 0, stream, D);
  TrsvCall(TrsvDeviceCheckLaunch("dense_scale"));
  for (int level = 0; 1 << level < limit && 1 << level < strips; level++) {
    const int odds = DenseOdds(strips, level), columns = dense_odd(odds - 1, level) >> (level + 1) << (level + 1);

    if (columns) TRSV_LAUNCH(dense_double<T>, (unsigned)(odds * columns), DENSE_BLOCK, 0, stream, D, level, columns);
    TrsvCall(TrsvDeviceCheckLaunch("dense_double"));
    if (doubling) continue;
    TrsvCall(TrsvLaunch(dense_explicit<T>, (unsigned)odds, DENSE_BLOCK, 0, stream, D, level));
  }
  TrsvCall(TrsvLaunch((dense_start<T, true>), grid, ROWS, 0, stream, D, weight, growth));
  for (int level = 0; doubling && 1 << level < strips; level++) {
    TrsvCall(TrsvLaunch((dense_level<T, true>), TrsvBlocks(DenseOdds(strips, level) * DENSE_TILE, ROWS), ROWS, 0,
                        stream, D, level, growth));
  }
  return CountExceeding<T>(d, growth, exceeding, stream);
}

template <class T> static TrsvError TransformValues(TrsvDense *d, const DenseValues *from, TrsvStream stream)
{
  unsigned exceeding = 0;

  d->solves = d->settings.form;
  TrsvCall(LoadTiles<T>(d, from, stream));
  TrsvCall(d->solves == TRSV_DENSE_SIMPLE || d->solves == TRSV_DENSE_PAIRS
             ? PrepareSubstitution<T>(d, &exceeding, stream)
             : PrepareInverses<T>(d, &exceeding, stream));
  if (!exceeding) return TRSV_SUCCESS;
  d->solves = TRSV_DENSE_SIMPLE;
  TrsvCall(LoadTiles<T>(d, from, stream));
  return PrepareSubstitution<T>(d, &exceeding, stream);
}

TrsvError DenseSetValues(TrsvDense *d, const DenseValues *from, TrsvStream stream)
{
  if (!d->rows) return TRSV_SUCCESS;
  return TRSV_BY_REAL_PRECISION(d->precision, TransformValues)(d, from, stream);
}
