/*
   What an attempt at the values of ILU(0) or IC(0) starts with: nothing is ready, and what a shift needs to know of A;
   and which way it takes, by rows (factor_rows.cu) or by pivots alone (factor_pivots.cu).

   Mapping: a thread for each word, or row, whose long ones all of a warp sum up. None waits for another.
*/
#include "factor/factor_rows.cuh"

template <class T> static __global__ void factor_fill(long upper, int rows, T *u, T *inverse, FactorStatus *status)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < upper) u[k] = trsv_not_ready<T>();
  else if (k < upper + rows) inverse[k - upper] = trsv_not_ready<T>();
  if (k) return;
  status->row     = UINT_MAX;
  status->shifted = 0;
  status->largest = 0;
}

/* Sums |a_ij| off the diagonal, less the diagonal, where that is positive: what its row lacks for dominance. As PETSc
   has it, of A's whole row; positive numbers compare as their bits do. */
template <class T> static __global__ void factor_sums(int n, bool icc, const int *l_offsets, const int *u_offsets,
                                                      const int *start, const T *a, FactorStatus *status)
{
  const int    i        = trsv_index();
  const bool   some     = i < n; /* the others help with long rows */
  const int    diagonal = !some ? 0
                          : icc ? start[i]
                                : l_offsets[i + 1] + u_offsets[i],
               end      = some ? diagonal + u_offsets[i + 1] - u_offsets[i] : 0;
  const int    begin    = !some  ? 0
                          : !icc ? l_offsets[i] + u_offsets[i]
                          : i    ? start[i - 1] + u_offsets[i] - u_offsets[i - 1]
                                 : 0;
  const double sum = factor_magnitudes(a, begin, end, some ? -fabs((double)a[diagonal]) - (double)a[diagonal] : 0.0);

  if (sum > 0) atomicMax(&status->largest, trsv_bits(sum));
}

extern "C" TrsvError TrsvFactorFill(TrsvFactor *f, TrsvStream stream)
{
  const long     upper = f->pivots ? 0 : f->upper; /* nobody polls U there */
  const int      rows  = f->pivots && !f->row_of_group ? 0 : f->rows;
  const unsigned grid  = (unsigned)((upper + rows + 255) / 256 + !rows);

  if (f->precision == TRSV_FLOAT)
    TRSV_LAUNCH((factor_fill<float>), grid, 256, 0, stream, upper, rows, (float *)f->u, (float *)f->inverse, f->status);
  else
    TRSV_LAUNCH((factor_fill<double>), grid, 256, 0, stream, upper, rows, (double *)f->u, (double *)f->inverse,
                f->status);
  return TrsvDeviceCheckLaunch("factor_fill");
}

extern "C" TrsvError TrsvFactorSums(TrsvFactor *f, const void *values, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(f->rows, 256);
  const bool     icc  = f->kind == TRSV_ICC;

  if (f->precision == TRSV_FLOAT)
    TRSV_LAUNCH((factor_sums<float>), grid, 256, 0, stream, f->rows, icc, (const int *)f->l_offsets,
                (const int *)f->u_offsets, (const int *)f->a_row_start, (const float *)values, f->status);
  else
    TRSV_LAUNCH((factor_sums<double>), grid, 256, 0, stream, f->rows, icc, (const int *)f->l_offsets,
                (const int *)f->u_offsets, (const int *)f->a_row_start, (const double *)values, f->status);
  return TrsvDeviceCheckLaunch("factor_sums");
}

extern "C" TrsvError TrsvFactorRows(TrsvFactor *f, const void *values, const FactorShift *shift, TrsvStream stream)
{
  if (f->pivots) return TrsvFactorPivots(f, NULL, values, shift, stream);
  return (f->precision == TRSV_FLOAT ? FactorRows<float> : FactorRows<double>)(f, values, shift, stream);
}
