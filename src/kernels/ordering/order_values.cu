/*
   Magnitudes of values, and the number by which an order is chosen: the fill that ILU(0) discards.

   Discarded fill: the Frobenius norm of the entries that ILU(0) discards in an order, estimated without a
   factorization. Each row k before rows i and j adds a_ik a_kj / a_kk to an entry (i,j) that is not in the matrix. The
   estimate adds up the squares of these terms, scaled by the diagonal. Iterations of CG grow with this norm: I. S.
   Duff, G. A. Meurant, "The effect of ordering on preconditioned conjugate gradients", BIT 29, 1989; E. F. D'Azevedo,
   P. A. Forsyth, W.-P. Tang, "Ordering methods for preconditioned conjugate gradient methods applied to unstructured
   grid problems", SIAM J. Matrix Anal. Appl. 13, 1992.

   Mapping: magnitudes: a thread for each value. Discarded fill: a block for each row i of a sample, whose warps share
   its entries k; the lanes of a warp share row k. Memory order: sums cross threads at barriers of a block, and blocks
   at the end of a launch. Why it ends: no thread waits. Same bits: sums in a fixed order of threads; a second launch,
   of one block, adds up those of all blocks; the sample is fixed.
*/
#include <math.h>
#include "device/setup.cuh"
#include "ordering/multicolor.h"

enum {
  BLOCK = 128
};

/* Adds up pairs of sums over the block and stores the totals. */
static __device__ void block_sums(double (&sum)[2], double *both)
{
  trsv_block_sum<BLOCK>(sum);
  if (threadIdx.x == 0) both[0] = sum[0], both[1] = sum[1];
}

/* Adds up pairs of sums, by one block. */
static __global__ void __launch_bounds__(BLOCK) add_sums(int pairs, const double *sums, double *both)
{
  double sum[2] = {0, 0};

  for (size_t n = threadIdx.x; n < (size_t)pairs; n += BLOCK)
    for (int o = 0; o < 2; o++) sum[o] += sums[2 * n + (size_t)o];
  block_sums(sum, both);
}

/* The position of each row in the order, and the absolute value of its diagonal entry. */
template <class T> static __global__ void __launch_bounds__(BLOCK)
  fill_prepare(int rows, const int *offsets, const int *columns, const T *values, const int *order, int *place,
               double *diagonal)
{
  const int i = (int)(blockIdx.x * BLOCK + threadIdx.x);

  if (i >= rows) return;
  const int k = trsv_first(offsets[i], offsets[i + 1], [&](int e) { return columns[e] >= i; });

  place[order[i]] = i;
  diagonal[i]     = k < offsets[i + 1] && columns[k] == i ? trsv_magnitude<double>(values[k]) : 0;
}

template <class T> static __global__ void __launch_bounds__(BLOCK)
  fill_rows(int rows, int stride, const int *offsets, const int *columns, const T *values, const int *place,
            const double *diagonal, double *sums)
{
  const int i = TrsvFillRow((int)blockIdx.x, stride), warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  double    sum[2] = {0, 0}; /* in the natural order, in the given one */

  if (i < rows && diagonal[i] > 0 && offsets[i + 1] - offsets[i] <= TRSV_FILL_LONGEST)
    for (int e = offsets[i] + warp; e < offsets[i + 1]; e += BLOCK / 32) {
      const int  k    = columns[e], begin = offsets[k], end = offsets[k + 1];
      const bool here = k < i, there = place[k] < place[i];

      if (k == i || (!here && !there) || !(diagonal[k] > 0) || end - begin > TRSV_FILL_LONGEST) continue;
      for (int t = begin + lane; t < end; t += 32) {
        const int  j     = columns[t];
        const bool drops = here && k < j, moves = there && place[k] < place[j];

        if (j == i || (!drops && !moves) || !(diagonal[j] > 0)) continue;
        const int at = trsv_first(offsets[i], offsets[i + 1], [&](int f) { return columns[f] >= j; });

        if (at < offsets[i + 1] && columns[at] == j) continue;
        const double fill   = trsv_magnitude<double>(values[e]) * trsv_magnitude<double>(values[t]) / diagonal[k];
        const double square = fill * fill / (diagonal[i] * diagonal[j]);

        if (drops) sum[0] += square;
        if (moves) sum[1] += square;
      }
    }
  block_sums(sum, sums + 2 * (size_t)blockIdx.x);
}

template <class T>
static TrsvError EstimateDiscardedFill(int rows, const int *offsets, const int *columns, const int *order,
                                       const void *values, double fill[2])
{
  const int      stride = TrsvFillStride(rows);
  const unsigned grid   = (unsigned)((rows + stride - 1) / stride);
  TrsvScratch    scratch;
  double        *sums, *diagonal;
  int           *place;

  TrsvCall(scratch.take(2 * ((size_t)grid + 1), sums, (size_t)rows, diagonal, (size_t)rows, place));
  TrsvCall(TrsvLaunch(fill_prepare<T>, TrsvBlocks(rows, BLOCK), BLOCK, 0, NULL, rows, offsets, columns,
                      (const T *)values, order, place, diagonal));
  TrsvCall(TrsvLaunch(fill_rows<T>, grid, BLOCK, 0, NULL, rows, stride, offsets, columns, (const T *)values,
                      (const int *)place, (const double *)diagonal, sums + 2));
  TrsvCall(TrsvLaunch(add_sums, 1, BLOCK, 0, NULL, (int)grid, sums + 2, sums)); /* the first two get the totals */
  TrsvCall(TrsvDeviceDownload(fill, sums, 2 * sizeof(*fill), NULL));
  for (int o = 0; o < 2; o++) fill[o] = sqrt(fill[o]);
  return TRSV_SUCCESS;
}

extern "C" TrsvError TrsvDeviceDiscardedFill(int rows, const int *offsets, const int *columns, const int *order,
                                             TrsvPrecision precision, const void *values, double fill[2])
{
  fill[0] = fill[1] = 0;
  if (!rows) return TRSV_SUCCESS;
  return TRSV_BY_PRECISION(precision, EstimateDiscardedFill)(rows, offsets, columns, order, values, fill);
}

/* |re| + |im| of a complex value: unlike hypot(), it has the same bits on the host and on any device. */
template <class R> static __device__ double magnitude(R v) { return fabs((double)v); }
template <class R> static __device__ double magnitude(TrsvComplex<R> v)
{
  return fabs((double)v.re) + fabs((double)v.im);
}

template <class T> static __global__ void magnitudes_each(int entries, const T *values, double *magnitudes)
{
  const int k = trsv_index();

  if (k < entries) magnitudes[k] = magnitude(values[k]);
}

extern "C" TrsvError TrsvDeviceMagnitudes(int entries, TrsvPrecision precision, const void *values, double *magnitudes)
{
  return TrsvByType(precision, [&](auto value) {
    typedef decltype(value) T;
    return TrsvLaunchEach(magnitudes_each<T>, (size_t)entries, entries, (const T *)values, magnitudes);
  });
}
