/*
   The backward error of a solution. It distinguishes a wrong solution from rounding.

   Mapping: one thread for each row, which writes its error; the host takes the largest.
   Memory order: no thread reads what another writes.
*/
#include <math.h>
#include <stdlib.h>
#include "device/sync.cuh"
#include "solve/solve.h"

enum {
  BLOCK = 256
};

template <class T> static __global__ void residual_rows(int rows, const int *offsets, const int *columns, bool unit,
                                                        const int *source, const T *values, const T *b, const T *x,
                                                        double *errors)
{
  const int i = trsv_index();

  if (i >= rows) return;
  double r = (double)b[i], scale = fabs(r);
  if (unit) {
    r -= (double)x[i];
    scale += fabs((double)x[i]);
  }
  for (int k = offsets[i]; k < offsets[i + 1]; k++) {
    const double product = (double)values[source ? source[k] : k] * (double)x[columns[k]];

    r -= product;
    scale += fabs(product);
  }
  errors[i] = scale > 0 ? fabs(r) / scale : scale; /* passes on NaN */
}

extern "C" TrsvError TrsvDeviceError(const TrsvMatrix *A, const int *source, const void *values, const void *b,
                                     const void *x, double *error, TrsvStream stream)
{
  const size_t   bytes = sizeof(double) * (size_t)A->rows;
  const unsigned grid  = TrsvBlocks(A->rows, BLOCK);
  const bool     unit  = A->diagonal == TRSV_DIAGONAL_UNIT;
  double        *errors, *host;
  TrsvError      failed;

  *error = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(bytes, &host));
  failed = TrsvDeviceAlloc(bytes, &errors);
  if (failed) {
    free(host);
    return failed;
  }
  if (A->precision == TRSV_FLOAT)
    TRSV_LAUNCH((residual_rows<float>), grid, BLOCK, 0, stream, A->rows, A->offsets, A->columns, unit, source,
                (const float *)values, (const float *)b, (const float *)x, errors);
  else
    TRSV_LAUNCH((residual_rows<double>), grid, BLOCK, 0, stream, A->rows, A->offsets, A->columns, unit, source,
                (const double *)values, (const double *)b, (const double *)x, errors);
  failed = TrsvDeviceCheckLaunch("residual_rows");
  if (!failed) failed = TrsvDeviceDownload(host, errors, bytes, stream);
  for (int i = 0; i < A->rows && !failed; i++) {
    if (isnan(host[i])) *error = INFINITY;
    else if (host[i] > *error) *error = host[i];
  }
  TrsvDeviceFree(errors);
  free(host);
  return failed;
}
