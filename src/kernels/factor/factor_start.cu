/*
   One attempt at the values of ILU(0) or IC(0): marks values as not ready, and dispatches to factor_rows.cu or
   factor_pivots.cu. Also the row sums from which a shift is found.

   Mapping: a thread for each word or row; all lanes of a warp add up a long row. Memory order: shuffles, and an atomic
   maximum that the host reads. Why it ends: no thread waits. Same bits: each sum has a fixed order, and the largest of
   all sums does not depend on theirs.
*/
#include "device/setup.cuh"
#include "factor/factor_rows.cuh"

template <class T> static __global__ void factor_start(long upper, int rows, T *u, T *inverse, FactorStatus *status)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < upper) u[k] = trsv_not_ready<T>();
  else if (k < upper + rows) inverse[k - upper] = trsv_not_ready<T>();
  if (k) return;
  status->row     = UINT_MAX;
  status->largest = 0;
}

/* The largest sum over the rows of |a_ij| off the diagonal, minus a_ii: the shift that makes A diagonally dominant. As
   in PETSc, ICC also uses whole rows of A. The bits of positive numbers compare as the numbers do. */
template <class T> static __global__ void factor_sums(int n, bool icc, const int *l_offsets, const int *u_offsets,
                                                      const int *start, const T *a, FactorStatus *status)
{
  const int    i        = trsv_index();
  const bool   some     = i < n; /* false: this thread only helps with long rows of its warp */
  const int    diagonal = !some ? 0
                          : icc ? start[i]
                                : l_offsets[i + 1] + u_offsets[i],
               end      = some ? diagonal + u_offsets[i + 1] - u_offsets[i] : 0;
  const int    begin    = !some  ? 0
                          : !icc ? l_offsets[i] + u_offsets[i]
                          : i    ? start[i - 1] + u_offsets[i] - u_offsets[i - 1]
                                 : 0;
  const double lack = some ? -trsv_magnitude<double>(a[diagonal]) - (double)trsv_real(a[diagonal]) : 0.0,
               sum  = factor_magnitudes(a, begin, end, lack);

  if (sum > 0) atomicMax(&status->largest, trsv_bits(sum));
}

template <class T> static TrsvError StartAttempt(TrsvFactor *f, TrsvStream stream)
{
  const long upper = f->pivots ? 0 : f->upper; /* with pivots nothing waits for U */
  const int  rows  = f->pivots && !f->row_of_group ? 0 : f->rows;

  return TrsvLaunchEachIn(stream, factor_start<T>, (size_t)(upper + rows + !rows), upper, rows, (T *)f->u,
                          (T *)f->inverse, f->status);
}

extern "C" TrsvError TrsvFactorFindLargestSum(TrsvFactor *f, const void *values, TrsvStream stream)
{
  return TrsvByType(f->precision, [&](auto value) {
    typedef decltype(value) T;
    TrsvCall(StartAttempt<T>(f, stream));
    return TrsvLaunchEachIn(stream, factor_sums<T>, f->rows, f->rows, f->kind == TRSV_ICC, f->l_offsets, f->u_offsets,
                            f->a_row_start, (const T *)values, f->status);
  });
}

extern "C" TrsvError TrsvFactorCompute(TrsvFactor *f, TrsvPlan *lower, const void *values, const FactorShift *shift,
                                       TrsvStream stream)
{
  return TrsvByType(f->precision, [&](auto value) {
    typedef decltype(value) T;
    TrsvCall(StartAttempt<T>(f, stream));
    return f->pivots ? FactorPivots<T>(f, lower, values, shift, stream) : FactorRows<T>(f, values, shift, stream);
  });
}
