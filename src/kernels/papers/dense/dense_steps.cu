/*
   The steps of a dense triangle, a launch for each, as published. All launches are in one graph.

   Mapping: one thread for each row that a step changes. Memory order: launches of one stream run in sequence. Why it
   ends: no thread waits. Same bits: one thread changes a row, step by step. Source: dense.cu.
*/
#include "papers/dense/dense.cuh"

/* The steps of simple and of pairs. One thread for each row from the first that changes. */
template <class T> static __global__ void dense_column(const DenseView<T> D, int column, T *y)
{
  const int p = column + (int)(blockIdx.x * DENSE_ROWS + threadIdx.x), c = column - 1;

  if (p >= D.rows) return;
  if (c >= 0)
    y[p] = fma(-D.tile(p / DENSE_TILE, c / DENSE_TILE)[c % DENSE_TILE * DENSE_TILE + p % DENSE_TILE], y[c], y[p]);
  if (p == column) y[p] *= D.side[p];
}

template <class T> static __global__ void dense_pair(const DenseView<T> D, int column, T *y)
{
  const int p = column + 2 + (int)(blockIdx.x * DENSE_ROWS + threadIdx.x);

  if (p >= D.rows) return;
  const T *const a = D.tile(p / DENSE_TILE, column / DENSE_TILE) + column % DENSE_TILE * DENSE_TILE + p % DENSE_TILE;
  y[p]             = fma(-a[DENSE_TILE], y[column + 1], fma(-a[0], y[column], y[p]));
}

/* A step of blocks: subtracts the columns of the block that starts with strip `from`, times its components, from all
   rows below the block. */
template <class T> static __global__ void dense_column_block(const DenseView<T> D, int from, T *y)
{
  const int p = (from + D.block) * DENSE_TILE + (int)(blockIdx.x * DENSE_ROWS + threadIdx.x), s = p / DENSE_TILE,
            r = p % DENSE_TILE;

  if (s >= D.strips) return;
  T sum = y[p];
  for (int t = from; t < from + D.block; t++)
    for (int c = 0; c < DENSE_TILE; c++) sum = fma(-D.tile(s, t)[c * DENSE_TILE + r], y[t * DENSE_TILE + c], sum);
  y[p] = sum;
}

/* y = b, or b times the inverses of the pairs. */
template <class T> static __global__ void dense_first(const DenseView<T> D, const T *b, T *y)
{
  const int p = (int)(blockIdx.x * DENSE_ROWS + threadIdx.x);

  if (p < D.padded()) y[p] = dense_right(D, p, p % 32, b[p]);
}

template <class T> static TrsvError LaunchSteps(const TrsvDense *d, TrsvStream stream)
{
  const DenseView<T> D(d);
  const int          padded = d->strips * DENSE_TILE;
  const T           *b      = (const T *)d->right;
  T                 *y      = (T *)d->right + padded;

  if (d->settings.form == TRSV_DENSE_SIMPLE || d->settings.form == TRSV_DENSE_PAIRS)
    TRSV_LAUNCH((dense_first<T>), TrsvBlocks(padded, DENSE_ROWS), DENSE_ROWS, 0, stream, D, b, y);
  else TRSV_LAUNCH((dense_start<T, false>), TrsvBlocks(padded, DENSE_ROWS), DENSE_ROWS, 0, stream, D, b, y);
  TrsvCall(TrsvDeviceCheckLaunch("dense_start"));
  switch (d->settings.form) {
  case TRSV_DENSE_SIMPLE:
    for (int c = 0; c < d->rows; c++)
      TRSV_LAUNCH(dense_column<T>, TrsvBlocks(d->rows - c, DENSE_ROWS), DENSE_ROWS, 0, stream, D, c, y);
    break;
  case TRSV_DENSE_PAIRS:
    for (int c = 0; c + 2 < d->rows; c += 2)
      TRSV_LAUNCH(dense_pair<T>, TrsvBlocks(d->rows - c - 2, DENSE_ROWS), DENSE_ROWS, 0, stream, D, c, y);
    break;
  case TRSV_DENSE_DOUBLING:
    for (int level = 0; 1 << level < d->strips; level++)
      TRSV_LAUNCH((dense_level<T, false>), TrsvBlocks(DenseOdds(d->strips, level) * DENSE_TILE, DENSE_ROWS), DENSE_ROWS,
                  0, stream, D, level, y);
    break;
  case TRSV_DENSE_BLOCKS:
    for (int s = 0; s + d->block < d->strips; s += d->block)
      TRSV_LAUNCH(dense_column_block<T>, TrsvBlocks((d->strips - s - d->block) * DENSE_TILE, DENSE_ROWS), DENSE_ROWS,
                  0, stream, D, s, y);
    break;
  }
  return TrsvDeviceCheckLaunch("dense_column, dense_pair, dense_level or dense_column_block");
}

TrsvError DenseLaunchSteps(void *data, TrsvStream stream)
{
  const TrsvDense *d = (const TrsvDense *)data;

  return TRSV_BY_REAL_PRECISION(d->precision, LaunchSteps)(d, stream);
}
