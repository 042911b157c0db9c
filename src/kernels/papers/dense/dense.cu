/*
   Dense triangles: the forms Simple, Complex 1 and Complex 2 of "Dense Lower Triangular Solver" (a course report whose
   authors are not named), and this project's inverted diagonal blocks.

     simple: one column after another (GPU Simple). A known component is multiplied by its column, and the product is
       subtracted from all rows below.
     pairs: rows are multiplied by the inverses of 2 x 2 diagonal blocks ("triangle solver"); then two columns are taken
       at a time (GPU Complex 1).
     doubling: rows are multiplied so that diagonal blocks of 2, 4, 8, ... rows become the identity (GPU Complex 2). A
       step subtracts from the second half of each block its row multipliers times the first half. Each of log2(rows)
       steps waits for the one before.
     blocks: rows are multiplied by the inverses D^-1 of diagonal blocks: x = D^-1 b - (D^-1 T - I) x, one block after
       another.

   Stability: dense_values.cu. Zeros are multiplied like other entries: if there is a NaN or an Inf, rows that do not
   depend on it may become NaN, too.

   Mapping: the block of ticket t solves strip t of 32 positions; lane l has row l. Its warps take the tiles of the
     strip in turn, in the order in which they get ready. A tile is in registers before the wait for its components.
   Memory order: a component is one word that is its own flag (sync.cuh); partial sums go through shared memory, between
     barriers of the block. In doubling a component has a word for each step that changes it.
   Why it ends: a strip waits only for strips of smaller tickets, whose blocks have started and do not wait for later
     ones. By induction all end. The spin limit bounds each wait.
   Same bits: strip and tile determine the warp of a tile and the order of all sums.
   Source: the course report. As published a step is a launch, and every solve changes the matrix. Changes: the matrix
     is multiplied once, when values are set, and a solve changes only b; lanes of 8 warps share the columns of a row
     instead of one thread; in one launch instead of one for each step, components are their own flags, so that a row
     waits only for the components it needs; steps of doubling within 32 rows are one multiplication by the inverse of
     the 32 x 32 block. With settings.launches steps are launches in one graph, a thread for each row, as published. */
#include <stdlib.h>
#include <string.h>
#include "device/setup.cuh"
#include "papers/dense/dense.cuh"

enum {
  NEAR_STRIPS = 6,    /* strips that are farther away are polled less often */
  BLOCK_ROWS  = 512,  /* default rows of a block: on an H200 larger ones are not faster, but take longer to invert */
  ROWS_MAX    = 65504 /* so that an int counts the tiles */
};

/* Waits for components of another strip; all lanes call it. */
template <class T> static __device__ __forceinline__ T dense_wait(const T *word, bool far, const TrsvSync &sync)
{
  T             v     = trsv_load(word);
  bool          ready = trsv_is_ready(v);
  TrsvSpinLimit spin;

  while (!__all_sync(0xffffffffu, ready))
    if (!ready) {
      if (far) trsv_sleep();
      v     = trsv_load(word);
      ready = trsv_is_ready(v);
      if (!ready && !spin.more(sync)) {
        v     = trsv_nan<T>();
        ready = true;
      }
    }
  return v;
}

/* The sum of a warp for a strip, in four parts, so that an addition does not wait for the one before. */
template <class T> struct DenseSum {
  T v[4] = {0, 0, 0, 0};

  /* Adds a tile times vector(), which returns a component for each lane, after the loads of the tile are issued. Row l
     has at most last + 1 columns. */
  template <class Vector> __device__ __forceinline__ void add(const T *tile, int last, Vector vector)
  {
    T a[DENSE_TILE];

#pragma unroll
    for (int c = 0; c < DENSE_TILE; c++) a[c] = tile[c * DENSE_TILE];
    const T mine = vector();
#pragma unroll
    for (int c = 0; c < DENSE_TILE; c++) {
      const T other = __shfl_sync(0xffffffffu, mine, c);

      if (c <= last) v[c % 4] = fma(a[c], other, v[c % 4]);
    }
  }
  __device__ __forceinline__ T total() const { return (v[0] + v[1]) + (v[2] + v[3]); }
};

/* Adds up the sums of all warps, in every thread. Calls alternate the halves of partial. */
template <class T> static __device__ __forceinline__ T dense_gather(T (&partial)[2 * DENSE_BLOCK], int half, T mine)
{
  T sum = 0;

  partial[half * DENSE_BLOCK + threadIdx.x] = mine;
  __syncthreads();
  for (int w = 0; w < DENSE_WARPS; w++) sum += partial[half * DENSE_BLOCK + w * 32 + (int)(threadIdx.x % 32)];
  return sum;
}

/* The substitution within a strip, by one warp: column after column, or two at a time. The diagonal tile is in
   registers before the last component arrives, for simple each row times the reciprocal of its diagonal, so that a
   column takes a shuffle and one multiplication. */
template <class T> struct DenseWithin {
  T d[DENSE_TILE];

  __device__ __forceinline__ void load(const T *diagonal, int lane, T scale)
  {
#pragma unroll
    for (int k = 0; k < DENSE_TILE; k++) d[k] = lane > k ? -scale * diagonal[k * DENSE_TILE + lane] : 0;
  }

  /* v: (b - the sums of other strips) * scale */
  __device__ __forceinline__ T solve(int lane, bool pairs, T v) const
  {
    if (pairs) {
#pragma unroll
      for (int k = 0; k < DENSE_TILE; k += 2) {
        const T first = __shfl_sync(0xffffffffu, v, k), second = __shfl_sync(0xffffffffu, v, k + 1);

        if (lane > k + 1) v = fma(d[k + 1], second, fma(d[k], first, v));
      }
    } else {
#pragma unroll
      for (int k = 0; k < DENSE_TILE; k++) {
        const T x = __shfl_sync(0xffffffffu, v, k);

        if (lane > k) v = fma(d[k], x, v);
      }
    }
    return v;
  }
};

template <class T> static __global__ void __launch_bounds__(DENSE_BLOCK)
  dense_solve(const DenseView<T> D, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);
  TRSV_SHARED(T, partial, 2 * DENSE_BLOCK);
  TRSV_SHARED(T, diagonal, DENSE_TILE * DENSE_TILE);

  if (threadIdx.x == 0) start[0] = trsv_ticket(D.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int    s = (int)start[0], warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, p = s * DENSE_TILE + lane;
  const size_t half = (size_t)D.slots * D.padded();
  T *const     now = D.words + (start[1] ? half : 0), *const then = D.words + (start[1] ? 0 : half);
  const int    known = D.known(s), within = known > s; /* within: the strip's own block is not inverted */
  DenseSum<T>  sum;

  for (int slot = warp; slot < D.slots; slot += DENSE_WARPS) then[(size_t)slot * D.padded() + p] = trsv_not_ready<T>();
  if (within) {
    for (int k = (int)threadIdx.x; k < DENSE_TILE * DENSE_TILE; k += DENSE_BLOCK) diagonal[k] = D.tile(s, s)[k];
    __syncthreads();
  }

  const auto given = [&](int q) { return q < D.rows ? b[D.row_of(q)] : 0; };

  for (int t = known + warp; t <= s; t += DENSE_WARPS)
    sum.add(D.tile(s, t) + lane, t == s ? lane : DENSE_TILE, [&] { return given(t * DENSE_TILE + lane); });
  if (D.form != TRSV_DENSE_DOUBLING)
    for (int t = warp; t < known && t < s; t += DENSE_WARPS)
      sum.add(D.tile(s, t) + lane, DENSE_TILE,
              [&] { return -dense_wait(now + t * DENSE_TILE + lane, s - t > NEAR_STRIPS, D.sync); });
  T v;
  if (within) {
    const bool     pairs = D.form == TRSV_DENSE_PAIRS;
    const T        scale = pairs ? 1 : D.side[p], right = warp == 0 ? dense_right(D, p, lane, given(p)) : 0;
    DenseWithin<T> own;

    if (warp == 0) own.load(diagonal, lane, scale);
    v = dense_gather(partial, 0, sum.total());
    if (warp == 0) v = own.solve(lane, pairs, (v + right) * scale);
  } else v = dense_gather(partial, 0, sum.total());
  if (warp == 0) v = trsv_publish(now + p, v);
  if (D.form == TRSV_DENSE_DOUBLING)
    for (int level = 0, turn = 1; s >> level; level++)
      if (s >> level & 1) {
        const int   from = D.before(s, level);
        DenseSum<T> more;

        for (int t = from + warp; t < from + (1 << level); t += DENSE_WARPS) {
          const int changed =
            t & ((1 << level) - 1); /* its highest bit is the last step that changed strip t */
          const T  *word    = now + (size_t)(32 - __clz(changed)) * D.padded() + t * DENSE_TILE + lane;

          more.add(D.tile(s, t) + lane, DENSE_TILE,
                   [&] { return -dense_wait(word, s - t > NEAR_STRIPS, D.sync); });
        }
        v += dense_gather(partial, turn, more.total());
        turn ^= 1;
        if (warp == 0) v = trsv_publish(now + (size_t)(level + 1) * D.padded() + p, v);
      }
  if (warp == 0 && p < D.rows) x[D.row_of(p)] = trsv_canonical(v);
}

/* Copies b into the order of positions; the second kernel copies x into the order of rows. */
template <class T> static __global__ void dense_by_position(const DenseView<T> D, const T *b, T *right)
{
  const int p = (int)(blockIdx.x * DENSE_ROWS + threadIdx.x);

  if (p < D.padded()) right[p] = p < D.rows ? b[D.row_of(p)] : 0;
}

template <class T> static __global__ void dense_by_row(const DenseView<T> D, const T *y, T *x)
{
  const int p = (int)(blockIdx.x * DENSE_ROWS + threadIdx.x);

  if (p < D.rows) x[D.row_of(p)] = y[p];
}

static TrsvError AllocateCounted(TrsvDense *d, size_t bytes, void **to)
{
  TrsvCall(TrsvDeviceAlloc(bytes, to));
  d->bytes += bytes;
  return TRSV_SUCCESS;
}

static TrsvError AllocateDense(TrsvDense *d)
{
  const size_t size = TrsvValueSize(d->precision), padded = (size_t)d->strips * DENSE_TILE,
               words = 2 * (size_t)d->slots * padded;

  TrsvCall(
    AllocateCounted(d, size * DENSE_TILE * DENSE_TILE * (size_t)d->strips * ((size_t)d->strips + 1) / 2, &d->tiles));
  TrsvCall(AllocateCounted(d, 2 * size * padded, &d->side));
  TrsvCall(AllocateCounted(d, 2 * size * padded, &d->right));
  TrsvCall(TrsvDeviceAlloc(sizeof(*d->exceeding), &d->exceeding));
  TrsvCall(AllocateCounted(d, size * words, &d->words));
  TrsvCall(TrsvSyncCreate(&d->sync));
  TrsvCall(TrsvClearWords(d->precision, words, d->words, NULL, NULL));
  if (d->settings.launches) TrsvCall(TrsvDeviceGraphCreate(DenseLaunchSteps, d, &d->recording));
  return TrsvDeviceWait(NULL);
}

/* The strips of a block: the smallest power of two that covers the rows or the triangle. */
static int CountStrips(int rows, int strips)
{
  int block = 1;

  while (block * DENSE_TILE < rows && block < strips) block *= 2;
  return block;
}

extern "C" TrsvError TrsvDenseCreate(int rows, TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision,
                                     const TrsvDenseSettings *settings, TrsvDense **dense)
{
  TrsvDense *d;
  TrsvError  error;

  *dense = NULL;
  if (rows < 0 || (settings && settings->block < 0))
    return TrsvFail(TRSV_ERR_ARGUMENT, "dense: %d rows in blocks of %d: neither may be negative", rows,
                    settings ? settings->block : 0);
  if (rows > ROWS_MAX)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "dense: a triangle of %d rows; the limit is %d", rows, ROWS_MAX);
  TrsvCall(TrsvAlloc(sizeof(*d), &d));
  memset(d, 0, sizeof(*d));
  if (settings) d->settings = *settings;
  d->rows      = rows;
  d->strips    = (rows + DENSE_TILE - 1) / DENSE_TILE;
  d->lower     = triangle == TRSV_LOWER;
  d->unit      = diagonal == TRSV_DIAGONAL_UNIT;
  d->precision = precision;
  d->solves    = d->settings.form;
  d->block     = d->settings.form != TRSV_DENSE_BLOCKS
                 ? 1
                 : CountStrips(d->settings.block ? d->settings.block : BLOCK_ROWS, d->strips);
  d->slots     = 1;
  while (d->settings.form == TRSV_DENSE_DOUBLING && d->strips > 1 << (d->slots - 1)) d->slots++;
  error = rows ? AllocateDense(d) : TRSV_SUCCESS;
  if (error) TrsvDenseDestroy(&d);
  *dense = d;
  return error;
}

extern "C" TrsvError TrsvDenseSetValues(TrsvDense *d, const void *values, int leading, TrsvStream stream)
{
  const DenseValues from = {values, leading, 0, NULL, NULL};

  if (leading < d->rows)
    return TrsvFail(TRSV_ERR_ARGUMENT, "dense: the columns have %d values, but the leading dimension is %d",
                    d->rows, leading);
  return DenseSetValues(d, &from, stream);
}

template <class T> static TrsvError SolveDense(TrsvDense *d, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(d->strips * DENSE_TILE, DENSE_ROWS);

  if (!d->settings.launches || d->solves != d->settings.form) {
    TrsvCall(TrsvSyncStart(&d->sync, stream));
    return TrsvLaunch(dense_solve<T>, (unsigned)d->strips, DENSE_BLOCK, 0, stream, DenseView<T>(d), (const T *)b,
                      (T *)x);
  }
  TrsvCall(TrsvLaunch(dense_by_position<T>, grid, DENSE_ROWS, 0, stream, DenseView<T>(d), (const T *)b, (T *)d->right));
  TrsvCall(TrsvDeviceGraphLaunch(d->recording, stream));
  return TrsvLaunch(dense_by_row<T>, grid, DENSE_ROWS, 0, stream, DenseView<T>(d),
                    (const T *)d->right + d->strips * DENSE_TILE, (T *)x);
}

extern "C" TrsvError TrsvDenseSolve(TrsvDense *d, const void *b, void *x, TrsvStream stream)
{
  if (!d->rows) return TRSV_SUCCESS;
  return TRSV_BY_REAL_PRECISION(d->precision, SolveDense)(d, b, x, stream);
}

extern "C" TrsvDenseForm TrsvDenseSolves(const TrsvDense *d) { return d->solves; }

extern "C" int TrsvDenseBlock(const TrsvDense *d)
{
  return d->solves == TRSV_DENSE_SIMPLE ? 1 : d->solves == TRSV_DENSE_PAIRS ? 2 : DENSE_TILE * d->block;
}

extern "C" size_t TrsvDenseBytes(const TrsvDense *d) { return d->bytes; }

extern "C" void TrsvDenseDestroy(TrsvDense **dense)
{
  TrsvDense *d = *dense;

  if (!d) return;
  TrsvDeviceGraphDestroy(&d->recording);
  TrsvDeviceFree(d->tiles);
  TrsvDeviceFree(d->side);
  TrsvDeviceFree(d->right);
  TrsvDeviceFree(d->words);
  TrsvDeviceFree(d->exceeding);
  TrsvSyncDestroy(&d->sync);
  free(d);
  *dense = NULL;
}
