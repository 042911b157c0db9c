/*
   How far values, or the magnitudes of complex values, are from symmetric: sqrt(2) times the Frobenius norm of the skew
   part over that of the entries off the diagonal. It is 0 for a symmetric matrix and 1 for a triangular one.

   Mapping: a block has BLOCK rows, and its threads share their entries; each thread searches for the mirror image of
   its entry. Memory order: sums cross threads at barriers of a block, and blocks at the end of a launch. Why it ends:
   no thread waits. Same bits: a tree adds up the sums of a block, and a second launch, of one block, those of all
   blocks.
*/
#include <math.h>
#include "analysis/triangle_view.cuh"
#include "ordering/ordering.h"

enum {
  BLOCK = 256
};

/* Adds up s and a over the block; its first thread stores both sums. */
static __device__ void block_sums(double *skew, double *all, double s, double a, double *both)
{
  const int t = (int)threadIdx.x;

  skew[t] = s;
  all[t]  = a;
  for (int half = BLOCK / 2; half; half /= 2) {
    __syncthreads();
    if (t < half) {
      skew[t] += skew[t + half];
      all[t] += all[t + half];
    }
  }
  if (t) return;
  both[0] = skew[0];
  both[1] = all[0];
}

static __device__ __forceinline__ double asymmetry_size(double v) { return v; }
template <class R> static __device__ __forceinline__ double asymmetry_size(TrsvComplex<R> v)
{
  return trsv_magnitude<double>(v);
}

template <class T> static __global__ void __launch_bounds__(BLOCK)
  asymmetry_rows(int rows, const int *offsets, const int *columns, const T *values, double *sums)
{
  TRSV_SHARED(double, skew, BLOCK);
  TRSV_SHARED(double, all, BLOCK);
  TRSV_SHARED(int, start, BLOCK + 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, count = min((int)BLOCK, rows - first);
  double    s = 0, a = 0;

  for (int n = t; n <= count; n += BLOCK) start[n] = offsets[first + n];
  __syncthreads();
  entries_each<BLOCK>(start[0], start[count], [&](int k) {
    const int    i = first + segment(start, count, k), j = columns[k];
    const double v = asymmetry_size(values[k]);

    if (j == i) return;
    const int    mirror = trsv_first(offsets[j], offsets[j + 1], [&](int e) { return columns[e] >= i; });
    const bool   there  = mirror < offsets[j + 1] && columns[mirror] == i;
    const double d      = there ? v - asymmetry_size(values[mirror]) : v;

    s += there ? d * d / 2 : d * d; /* an entry without a mirror image counts for both */
    a += v * v;
  });
  block_sums(skew, all, s, a, sums + 2 * (size_t)blockIdx.x);
}

/* Adds up pairs of sums, by one block. */
static __global__ void __launch_bounds__(BLOCK) asymmetry_sum(int pairs, const double *sums, double *both)
{
  TRSV_SHARED(double, skew, BLOCK);
  TRSV_SHARED(double, all, BLOCK);
  double s = 0, a = 0;

  for (size_t n = threadIdx.x; n < (size_t)pairs; n += BLOCK) {
    s += sums[2 * n];
    a += sums[2 * n + 1];
  }
  block_sums(skew, all, s, a, both);
}

template <class T>
static TrsvError SumRows(int rows, const int *offsets, const int *columns, const void *values, double *sums)
{
  TRSV_LAUNCH(asymmetry_rows<T>, TrsvBlocks(rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, rows, offsets, columns,
              (const T *)values, sums);
  return TrsvDeviceCheckLaunch("asymmetry_rows");
}

extern "C" TrsvError TrsvDeviceAsymmetry(int rows, const int *offsets, const int *columns, TrsvPrecision precision,
                                         const void *values, double *asymmetry)
{
  const unsigned grid = TrsvBlocks(rows, BLOCK);
  double        *sums, both[2];
  TrsvError      error;

  TrsvCall(TrsvScratchAlloc(2 * sizeof(double) * ((size_t)grid + 1), &sums, NULL));
  error = TRSV_BY_PRECISION(precision, SumRows)(rows, offsets, columns, values, sums + 2);
  if (!error) {
    TRSV_LAUNCH(asymmetry_sum, 1, BLOCK, 0, (TrsvStream)NULL, (int)grid, sums + 2, sums);
    error = TrsvDeviceCheckLaunch("asymmetry_sum");
  }
  if (!error) error = TrsvDeviceDownload(both, sums, sizeof(both), NULL);
  TrsvScratchFree(sums, NULL);
  if (!error) *asymmetry = both[1] > 0 ? sqrt(both[0] / both[1]) : both[1]; /* NaN stays NaN */
  return error;
}
