/*
   The backward error of a solution. It distinguishes a wrong solution from rounding.

   Mapping: one thread for each row, which writes its error; the host takes the largest. Memory order: no thread reads
   what another writes. Why it ends: no thread waits. Same bits: a row is one thread's sum.
*/
#include <math.h>
#include <stdlib.h>
#include "device/sync.cuh"
#include "solve/solve.h"

enum {
  BLOCK = 256
};

static __device__ __forceinline__ double wide(double v) { return v; }
template <class R> static __device__ __forceinline__ TrsvComplex<double> wide(TrsvComplex<R> v)
{
  return {(double)v.re, (double)v.im};
}

template <class T> static __global__ void residual_rows(int rows, const int *offsets, const int *columns, bool unit,
                                                        const int *source, const T *values, const T *b, const T *x,
                                                        double *errors)
{
  const int i = trsv_index();

  if (i >= rows) return;
  auto   r     = wide(b[i]);
  double scale = trsv_magnitude<double>(r);
  if (unit) {
    r -= wide(x[i]);
    scale += trsv_magnitude<double>(x[i]);
  }
  for (int k = offsets[i]; k < offsets[i + 1]; k++) {
    const auto product = wide(values[source ? source[k] : k]) * wide(x[columns[k]]);

    r -= product;
    scale += trsv_magnitude<double>(product);
  }
  errors[i] = scale > 0 ? trsv_magnitude<double>(r) / scale : scale; /* passes on NaN */
}

template <class T>
static TrsvError FindErrors(const TrsvMatrix *A, const int *source, const void *values, const void *b, const void *x,
                            double *errors, TrsvStream stream)
{
  TRSV_LAUNCH(residual_rows<T>, TrsvBlocks(A->rows, BLOCK), BLOCK, 0, stream, A->rows, A->offsets, A->columns,
              A->diagonal == TRSV_DIAGONAL_UNIT, source, (const T *)values, (const T *)b, (const T *)x, errors);
  return TrsvDeviceCheckLaunch("residual_rows");
}

extern "C" TrsvError TrsvDeviceError(const TrsvMatrix *A, const int *source, const void *values, const void *b,
                                     const void *x, double *error, TrsvStream stream)
{
  const size_t bytes = sizeof(double) * (size_t)A->rows;
  double      *errors, *host;
  TrsvError    failed;

  *error = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(bytes, &host));
  failed = TrsvDeviceAlloc(bytes, &errors);
  if (failed) {
    free(host);
    return failed;
  }
  failed = TRSV_BY_PRECISION(A->precision, FindErrors)(A, source, values, b, x, errors, stream);
  if (!failed) failed = TrsvDeviceDownload(host, errors, bytes, stream);
  for (int i = 0; i < A->rows && !failed; i++) {
    if (isnan(host[i])) *error = INFINITY;
    else if (host[i] > *error) *error = host[i];
  }
  TrsvDeviceFree(errors);
  free(host);
  return failed;
}
