/*
   The multicolor ordering by values of any type; the fill that ILU(0) discards, by which an order is chosen.

   Discarded fill: the Frobenius norm of the entries that ILU(0) discards in an order, estimated without a
   factorization. Each row k before rows i and j adds a_ik a_kj / a_kk to an entry (i,j) that is not in the matrix. The
   estimate adds up the squares of these terms, scaled by the diagonal. Iterations of CG grow with this norm: I. S.
   Duff, G. A. Meurant, "The effect of ordering on preconditioned conjugate gradients", BIT 29, 1989; E. F. D'Azevedo,
   P. A. Forsyth, W.-P. Tang, "Ordering methods for preconditioned conjugate gradient methods applied to unstructured
   grid problems", SIAM J. Matrix Anal. Appl. 13, 1992.

   Mapping: a thread for each value or row; for the fill a block for each row i of a sample, whose warps share its
   entries k; the lanes of a warp share row k. Memory order: sums cross threads at barriers, and blocks at the end of a
   launch; a second launch, of one block, adds them up. Why it ends: no thread waits. Same bits: sums in a fixed
   order of threads, and a fixed sample.
*/
#include <math.h>
#include "device/setup.cuh"
#include "ordering/multicolor.h"

/* Adds up pairs of sums, by one block. */
static __global__ void __launch_bounds__(TRSV_FILL_BLOCK) add_sums(int pairs, const double *sums, double *both)
{
  double sum[2] = {0, 0};

  for (size_t n = threadIdx.x; n < (size_t)pairs; n += TRSV_FILL_BLOCK)
    for (int o = 0; o < 2; o++) sum[o] += sums[2 * n + (size_t)o];
  trsv_block_sum<TRSV_FILL_BLOCK>(sum);
  if (threadIdx.x == 0) both[0] = sum[0], both[1] = sum[1];
}

/* The position of each row in the order, and the absolute value of its diagonal entry. */
template <class T> static __global__ void fill_prepare(const TrsvCSR A, const int *order, int *place, double *diagonal)
{
  const int i = trsv_index();

  if (i >= A.rows) return;
  const int k = trsv_first(A.offsets[i], A.offsets[i + 1], [&](int e) { return A.columns[e] >= i; });

  place[order[i]] = i;
  diagonal[i] = k < A.offsets[i + 1] && A.columns[k] == i ? trsv_magnitude<double>(((const T *)A.values)[k]) : 0;
}

template <class T> static __global__ void __launch_bounds__(TRSV_FILL_BLOCK)
  fill_rows(const TrsvCSR A, int stride, const int *place, const double *diagonal, double *sums)
{
  const int  i = TrsvFillRow((int)blockIdx.x, stride), warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  const int *offsets = A.offsets, *columns = A.columns;
  const T   *values = (const T *)A.values;
  double     sum[2] = {0, 0}; /* in the natural order, in the given one */

  if (i < A.rows && diagonal[i] > 0 && offsets[i + 1] - offsets[i] <= TRSV_FILL_LONGEST)
    for (int e = offsets[i] + warp; e < offsets[i + 1]; e += TRSV_FILL_BLOCK / 32) {
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
  trsv_block_sum<TRSV_FILL_BLOCK>(sum);
  if (threadIdx.x == 0) sums[2 * (size_t)blockIdx.x] = sum[0], sums[2 * (size_t)blockIdx.x + 1] = sum[1];
}

extern "C" TrsvError TrsvDeviceDiscardedFill(const TrsvCSR *A, const int *order, TrsvPrecision precision,
                                             double fill[2])
{
  const size_t   rows   = (size_t)A->rows;
  const int      stride = TrsvFillStride(A->rows);
  const unsigned grid   = rows ? TrsvBlocks(A->rows, stride) : 0;
  TrsvScratch    scratch;
  double        *sums, *diagonal;
  int           *place;

  fill[0] = fill[1] = 0;
  if (!rows) return TRSV_SUCCESS;
  TrsvCall(scratch.take(2 * ((size_t)grid + 1), sums, rows, diagonal, rows, place));
  TrsvCall(TrsvByType(precision, [&](auto value) {
    typedef decltype(value) T;
    TrsvCall(TrsvLaunchEach(fill_prepare<T>, rows, *A, order, place, diagonal));
    return TrsvLaunch(fill_rows<T>, grid, TRSV_FILL_BLOCK, 0, NULL, *A, stride, place, diagonal, sums + 2);
  }));
  TrsvCall(TrsvLaunch(add_sums, 1, TRSV_FILL_BLOCK, 0, NULL, (int)grid, sums + 2, sums)); /* the first two: totals */
  TrsvCall(TrsvDeviceDownload(fill, sums, 2 * sizeof(*fill), NULL));
  for (int o = 0; o < 2; o++) fill[o] = sqrt(fill[o]);
  return TRSV_SUCCESS;
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

extern "C" TrsvError TrsvDeviceOrderValues(const TrsvCSR *A, TrsvPrecision precision, TrsvOrdering **multicolor)
{
  const double *values = (const double *)A->values;
  TrsvScratch   scratch;
  double       *sizes;
  int           entries;

  *multicolor = NULL;
  if (values && precision != TRSV_DOUBLE) {
    TrsvCall(TrsvDeviceDownload(&entries, A->offsets + A->rows, sizeof(entries), NULL));
    const size_t all = entries > 0 ? (size_t)entries : 0; /* not checked yet */
    TrsvCall(scratch.take(all, sizes));
    TrsvCall(TrsvByType(precision, [&](auto value) {
      typedef decltype(value) T;
      return TrsvLaunchEach(magnitudes_each<T>, all, entries, (const T *)A->values, sizes);
    }));
    values = sizes;
  }
  return TrsvOrderMulticolor(A->rows, A->offsets, A->columns, values, TRSV_DEVICE, multicolor);
}
