/*
   How far values are from symmetric: sqrt(2) times the Frobenius norm of the skew part over that of the entries off the diagonal: 0 of a symmetric
   matrix, 1 of a triangular one.

   Mapping: a block of threads for so many rows, whose entries, one after the other, the threads take in turn, so that a long row has all of them; each
   looks for the other of its entry. Sums of a block by a tree, those of blocks on the host, so that the result is the same every time.
   Memory order: within a block sums cross threads at its barriers; nothing else does.
*/
#include <math.h>
#include <stdlib.h>
#include "pattern.cuh"

enum {
  BLOCK = 256
};

template <class T> static __global__ void __launch_bounds__(BLOCK) asymmetry_rows(int rows, const int *offsets, const int *columns, const T *values, double *sums)
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
    const double v = values[k];
    int          low = offsets[j], high = offsets[j + 1];

    if (j == i) return;
    while (low < high) {
      const int middle = low + (high - low) / 2;

      if (columns[middle] < i) low = middle + 1;
      else high = middle;
    }
    const bool   there = low < offsets[j + 1] && columns[low] == i;
    const double d = there ? v - (double)values[low] : v;

    s += there ? d * d / 2 : d * d; /* an entry without another stands for both */
    a += v * v;
  });
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
  sums[2 * blockIdx.x]     = skew[0];
  sums[2 * blockIdx.x + 1] = all[0];
}

extern "C" TrsvError TrsvDeviceAsymmetry(int rows, const int *offsets, const int *columns, TrsvPrecision precision, const void *values, double *asymmetry)
{
  const unsigned grid  = TrsvBlocks(rows, BLOCK);
  const size_t   bytes = 2 * sizeof(double) * grid;
  double        *sums, *host, skew = 0, all = 0;
  TrsvError      error;

  TrsvCall(TrsvAlloc(bytes, &host));
  error = TrsvDeviceRoom(bytes, &sums, NULL);
  if (!error) {
    if (precision == TRSV_FLOAT) TRSV_LAUNCH(asymmetry_rows<float>, grid, BLOCK, 0, (TrsvStream)NULL, rows, offsets, columns, (const float *)values, sums);
    else TRSV_LAUNCH(asymmetry_rows<double>, grid, BLOCK, 0, (TrsvStream)NULL, rows, offsets, columns, (const double *)values, sums);
    error = TrsvDeviceLaunched("asymmetry_rows");
    if (!error) error = TrsvDeviceDownload(host, sums, bytes, NULL);
    TrsvDeviceRelease(sums, NULL);
  }
  for (unsigned b = 0; b < grid && !error; b++) {
    skew += host[2 * b];
    all += host[2 * b + 1];
  }
  free(host);
  *asymmetry = all > 0 ? sqrt(skew / all) : all; /* NaN stays */
  return error;
}
