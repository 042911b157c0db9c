/*
   The backward error of a solution. It distinguishes a wrong solution from rounding.

   Mapping: one thread for each row. Memory order: an atomic maximum that the host reads. Why it ends: no thread waits.
   Same bits: a row is one thread's sum, and the largest does not depend on the order of the rows.
*/
#include <math.h>
#include <string.h>
#include "device/setup.cuh"
#include "solve/solve.h"

static TRSV_INLINE double             wide(double v) { return v; }
template <class R> static TRSV_INLINE TrsvComplex<double> wide(TrsvComplex<R> v)
{
  return {(double)v.re, (double)v.im};
}

template <class T> static __global__ void residual_rows(int rows, const int *offsets, const int *columns, bool unit,
                                                        const int *source, const T *values,
                                                        const TrsvPermutation places, const T *b, const T *x,
                                                        unsigned long long *largest)
{
  const auto of_row = [](const int *index, const T *vector, int i) { return wide(vector[index ? index[i] : i]); };
  const int  i      = trsv_index();

  if (i >= rows) return;
  auto   r     = of_row(places.b_index, b, i);
  double scale = trsv_magnitude<double>(r);
  if (unit) {
    r -= of_row(places.x_index, x, i);
    scale += trsv_magnitude<double>(of_row(places.x_index, x, i));
  }
  for (int k = offsets[i]; k < offsets[i + 1]; k++) {
    const auto product = of_row(source, values, k) * of_row(places.x_index, x, columns[k]);

    r -= product;
    scale += trsv_magnitude<double>(product);
  }
  /* the bits of positive numbers compare as the numbers do; those of NaN are larger */
  atomicMax(largest, trsv_bits(scale > 0 ? trsv_magnitude<double>(r) / scale : scale));
}

TrsvError TrsvDeviceError(const TrsvMatrix *A, const int *source, const void *values, const TrsvPermutation *places,
                          const void *b, const void *x, double *error, TrsvStream stream)
{
  unsigned long long bits = 0, *largest;
  TrsvError          failed;

  TrsvCall(TrsvScratchAlloc(sizeof(bits), &largest, stream));
  failed = TrsvByType(A->precision, [&](auto value) {
    typedef decltype(value) T;
    TrsvCall(TrsvDeviceClear(largest, sizeof(bits), stream));
    return TrsvLaunchEachIn(stream, residual_rows<T>, (size_t)A->rows, A->rows, A->offsets, A->columns,
                            A->diagonal == TRSV_DIAGONAL_UNIT, source, (const T *)values,
                            places ? *places : TrsvPermutation(), (const T *)b, (const T *)x, largest);
  });
  if (!failed) failed = TrsvDeviceDownload(&bits, largest, sizeof(bits), stream);
  TrsvScratchFree(largest, stream);
  memcpy(error, &bits, sizeof(bits));
  if (isnan(*error)) *error = INFINITY;
  return failed;
}
