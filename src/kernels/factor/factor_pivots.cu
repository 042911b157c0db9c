/*
   The values of ILU(0) or IC(0), by factor_rows.cu, or here if only the pivots depend on each other: for stencils of 5
   or 7 points, trees, and all graphs without triangles, with at most six dependencies in a row. Also the row sums from
   which a shift is found.

   Source: elimination by rows (Saad, Iterative Methods for Sparse Linear Systems, 2003, Algorithm 10.4) for a pattern
   in which a row shares no column but its diagonal with the rows of U that it depends on. Then U is the upper triangle
   of A except for the pivots d_i = a_ii - sum over k of (a_ik / d_k) a_ki, and the pivots determine L. A sum has at
   most six terms, so one thread computes a pivot. If a plan for L can find the pivots, its launch does that, in a third
   of the time for many level sets; pivots_find repeats it if a pivot is zero, or a product is not a normal number.

   Mapping: the block of ticket t finds the pivots of blockDim.x positions of L's level order, from position
   t * blockDim.x on, a thread for each. A second launch fills L and U, a block for ROWS_BLOCK rows. Other kernels have
   a thread for each word or row. Memory order: the reciprocal of a pivot is one word, its own flag (sync.cuh), marked
   as not ready by an earlier launch. Offsets cross threads at barriers of a block, sums of long rows by shuffles; the
   largest of all sums is an atomic maximum that the host reads.
   Why it ends: a row waits only for smaller positions. Their blocks have started. In each turn every thread of a warp
   polls once and stores its pivot if it can. By induction on the position every wait ends; the spin limit bounds it.
   Same bits: terms are subtracted in the order of their columns, or in the order of the plan's records.
*/
#include <float.h>
#include "analysis/triangle_view.cuh"
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
  const auto   diagonal = [&](int k) { return icc ? start[k] : l_offsets[k + 1] + u_offsets[k]; };
  const auto   end_of   = [&](int k) { return k < 0 ? 0 : diagonal(k) + u_offsets[k + 1] - u_offsets[k]; };
  const double lack     = some ? -trsv_magnitude<double>(a[diagonal(i)]) - (double)trsv_real(a[diagonal(i)]) : 0.0,
               sum      = factor_magnitudes(a, some ? end_of(i - 1) : 0, some ? end_of(i) : 0, lack);

  if (sum > 0) atomicMax(&status->largest, trsv_bits(sum));
}

/* Row i depends on row j by entry k of L. Returns the index in A of the entry of row j in column i, or -1. */
template <class T, bool ICC> static TRSV_INLINE int pivots_mirror_entry(const FactorView<T> &F, int i, int j, int k)
{
  if (ICC) return F.a_row_start[j] + F.l_source[k] - F.u_offsets[j];
  if (F.mirror_offset) return F.l_offsets[j + 1] + F.u_offsets[j] + F.mirror_offset[k];
  const int at = factor_search(F.u_columns, F.u_offsets[j] + 1, F.u_offsets[j + 1], i);
  return at < 0 ? -1 : at + F.l_offsets[j + 1];
}

template <class T, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK) pivots_find(const FactorView<T> F)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int     p    = (int)(start[0] * FACTOR_BLOCK + threadIdx.x);
  bool          done = p >= F.rows;
  const int     i = done ? 0 : F.row_of_group[p], begin = F.l_offsets[i], end = done ? begin : F.l_offsets[i + 1],
                u = F.u_offsets[i], diagonal = F.template diagonal_at<ICC>(i);
  int           needs[FACTOR_TERMS];
  unsigned      mirrored = 0; /* a bit for each dependency that has an entry in column i */
  T             mine[FACTOR_TERMS], theirs[FACTOR_TERMS], inverse[FACTOR_TERMS];
  T             pivot = F.a[diagonal] + F.diagonal;
  TrsvReal<T>   sum   = 0;
  TrsvSpinLimit spin;

#pragma unroll
  for (int t = 0; t < FACTOR_TERMS; t++) needs[t] = begin + t < end ? F.l_columns[begin + t] : -1;
#pragma unroll
  for (int t = 0; t < FACTOR_TERMS; t++) {
    const int at = needs[t] < 0 ? -1 : pivots_mirror_entry<T, ICC>(F, i, needs[t], begin + t);

    if (at >= 0) mirrored |= 1u << t;
    theirs[t]  = at < 0 ? 0 : F.a[at];
    mine[t]    = needs[t] < 0 ? 0 : ICC ? F.conjugate(theirs[t]) : F.a[u + begin + t];
    inverse[t] = needs[t] < 0 ? 0 : trsv_not_ready<T>();
  }
  if (F.relative()) sum = factor_magnitudes(F.a, diagonal + 1, done ? 0 : diagonal + F.u_offsets[i + 1] - u, sum);
  do {
    if (!done) {
#pragma unroll
      for (int t = 0; t < FACTOR_TERMS; t++)
        if (!trsv_is_ready(inverse[t])) inverse[t] = trsv_load(F.inverse + needs[t]);
      done = true;
#pragma unroll
      for (int t = 0; t < FACTOR_TERMS; t++) done = done && trsv_is_ready(inverse[t]);
      if (!done && !spin.more(F.sync)) {
        pivot = trsv_nan<T>();
        done  = true;
      }
      if (done) {
#pragma unroll
        for (int t = 0; t < FACTOR_TERMS; t++) {
          const T multiplier = ICC || mine[t] != 0 ? mine[t] * inverse[t] : 0;

          if (mirrored >> t & 1 && (ICC || mine[t] != 0)) pivot = fma(-multiplier, theirs[t], pivot);
          if (!ICC) sum += trsv_magnitude<TrsvReal<T>>(multiplier);
        }
        factor_pivot(F, i, u, pivot, sum);
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

/* The reciprocals y of the pivots obey y_i = 1 / (a_ii - sum over k of (a_ik a_ki) y_k), a recurrence with L's pattern,
   so a plan for L can find them. This kernel computes its values a_ik a_ki, stored in L, and its right-hand side a_ii,
   stored at the start of U. A thread for each row. Reports a row with a product that is not a normal number. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK) pivots_terms(const FactorView<T> F)
{
  typedef TrsvReal<T> R;

  const R     least = (R)(sizeof(R) == sizeof(float) ? FLT_MIN : DBL_MIN),
              most  = (R)(sizeof(R) == sizeof(float) ? FLT_MAX : DBL_MAX);
  const int   i     = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  bool        fit   = true;

  if (i >= F.rows) return;
  const int begin = F.l_offsets[i], end = F.l_offsets[i + 1], u = F.u_offsets[i];
  F.u[i] = F.diagonal_of(F.a[F.template diagonal_at<ICC>(i)] + F.diagonal); /* F.l may follow in the memory of U */
  for (int k = begin; k < end; k++) {
    const int j = F.l_columns[k], at = pivots_mirror_entry<T, ICC>(F, i, j, k);
    const T   theirs = at < 0 ? 0 : F.a[at], mine = ICC ? F.conjugate(theirs) : F.a[u + k];
    const T   term   = mine == 0 || theirs == 0 ? 0 : ICC ? F.diagonal_of(mine * theirs) : mine * theirs;

    fit    = fit && (mine == 0 || theirs == 0 || (trsv_magnitude<R>(term) >= least && trsv_magnitude<R>(term) <= most));
    F.l[k] = term;
  }
  if (!fit) atomicMin(&F.status->row, (unsigned)i);
}

/* Checks the reciprocals that the plan found, a thread for each row. Computes each pivot again, and reports a row whose
   pivot differs from 1 / reciprocal by more than the rounding of its terms, or counts as zero, or is not finite;
   pivots_find then repeats the work. U gets 1 / reciprocal, not the pivot of this kernel: if terms cancel, the two may
   differ by much of the pivot. On the diagonal L U then differs from A only by the rounding of the terms. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK) pivots_check(const FactorView<T> F)
{
  typedef TrsvReal<T> R;

  const R    tolerance = 32 * (R)(sizeof(R) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON);
  const int  i         = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  const bool there     = i < F.rows;
  const int  begin = there ? F.l_offsets[i] : 0, end = there ? F.l_offsets[i + 1] : 0, u = there ? F.u_offsets[i] : 0,
             length   = there ? F.u_offsets[i + 1] - u : 1;
  const int  diagonal = there ? F.template diagonal_at<ICC>(i) : 0;
  T          pivot = there ? F.diagonal_of(F.a[diagonal] + F.diagonal) : 1;
  R          size = trsv_magnitude<R>(pivot), sum = 0;

  if (F.relative()) sum = factor_magnitudes(F.a, diagonal + 1, diagonal + length, sum);
  if (!there) return;
  for (int k = begin; k < end; k++) {
    const T inverse = F.inverse[F.l_columns[k]], part = F.l[k] * inverse;

    pivot -= part;
    size += trsv_magnitude<R>(part);
    if (!ICC) sum += trsv_magnitude<R>(F.a[u + k] * inverse);
  }
  const T found   = 1 / F.inverse[i];
  const R counted = F.shift == TRSV_SHIFT_POSITIVE_DEFINITE ? trsv_real(found) : trsv_magnitude<R>(found);
  if (!(trsv_magnitude<R>(pivot - found) < tolerance * size) ||
      (double)counted <= (F.relative() ? F.zero * (double)sum : F.zero))
    atomicMin(&F.status->row, (unsigned)i);
}

/* What pivots_fill fills: L; U without its pivots; with FILL_UPPER, also the pivots from their reciprocals. */
enum { FILL_LOWER = 1, FILL_UPPER = 2, FILL_PIVOTS = 4 };

/* A block has ROWS_BLOCK rows: a thread for each row of L, which is short; all share the entries of U. None waits. */
template <class T, bool ICC> static __global__ void __launch_bounds__(ROWS_BLOCK)
  pivots_fill(const FactorView<T> F, int what)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, from, ROWS_BLOCK); /* the index in A of each row of U, minus its index in U */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK,
            count = rows_load(F.u_offsets, F.rows, first, start), i = first + t;

  if (t < count) {
    const int l_end = F.l_offsets[i + 1];

    from[t] = ICC ? F.a_row_start[i] - start[t] : l_end;
    for (int k = what & FILL_LOWER ? F.l_offsets[i] : l_end; k < l_end; k++) {
      const int j = F.l_columns[k];
      const T   a = F.a[ICC ? F.a_row_start[j] + F.l_source[k] - F.u_offsets[j] : start[t] + k];

      F.l[k] = ICC ? F.conjugate(a) * F.inverse[j] : a != 0 ? a * F.inverse[j] : a;
    }
  }
  if (!(what & FILL_UPPER)) return;
  __syncthreads();
  rows_each(start, count, [&](int m, int k) {
    if (k > start[m]) F.u[k] = F.a[k + from[m]];
    else if (what & FILL_PIVOTS) F.u[k] = 1 / F.inverse[first + m];
  });
}

template <class T, bool ICC>
static TrsvError FindInLevelOrder(const TrsvFactor *f, const FactorView<T> &F, TrsvStream stream)
{
  const double level_sets = 16;
  auto         pivots_find_of = pivots_find<T, ICC>;
  size_t       shared;

  TrsvCall(FactorLimitBlocks(f, level_sets, (const void *)pivots_find_of, &shared));
  TrsvCall(TrsvLaunch(pivots_find_of, TrsvBlocks(f->rows, FACTOR_BLOCK), FACTOR_BLOCK, shared, stream, F));
  return TrsvLaunchEachIn(stream, (pivots_fill<T, ICC>), f->rows, F, FILL_LOWER | FILL_UPPER);
}

/* The plan finds the pivots. If the factor has memory for L, it keeps the values of L; if not, L is computed in the
   memory of U, and the plan gets the values before U overwrites them. */
template <class T, bool ICC>
static TrsvError FindByPlan(TrsvFactor *f, TrsvPlan *lower, FactorView<T> F, TrsvStream stream)
{
  if (!f->l) F.l = F.u + f->rows;
  TrsvCall(TrsvLaunchEachIn(stream, (pivots_terms<T, ICC>), f->rows, F));
  TrsvCall(TrsvPlanSetValues(lower, F.l, TRSV_DEVICE, stream));
  lower->filled = 0; /* with terms of the recurrence, not with L */
  TrsvCall(lower->algorithm->pivots->reciprocals(lower, f->u, f->inverse, stream));
  TrsvCall(TrsvLaunchEachIn(stream, (pivots_check<T, ICC>), f->rows, F));
  if (f->l) return TrsvLaunchEachIn(stream, (pivots_fill<T, ICC>), f->rows, F, FILL_LOWER | FILL_UPPER | FILL_PIVOTS);
  TrsvCall(TrsvLaunchEachIn(stream, (pivots_fill<T, ICC>), f->rows, F, FILL_LOWER));
  TrsvCall(TrsvPlanSetValues(lower, F.l, TRSV_DEVICE, stream));
  return TrsvLaunchEachIn(stream, (pivots_fill<T, ICC>), f->rows, F, FILL_UPPER | FILL_PIVOTS);
}

extern "C" TrsvError TrsvFactorFindLargestSum(TrsvFactor *f, const void *values, double *largest, TrsvStream stream)
{
  TrsvCall(TrsvByType(f->precision, [&](auto value) {
    typedef decltype(value) T;
    return TrsvLaunchEachIn(stream, factor_sums<T>, f->rows, f->rows, f->kind == TRSV_ICC, f->l_offsets, f->u_offsets,
                            f->a_row_start, (const T *)values, f->status);
  }));
  return TrsvDeviceDownload(largest, &f->status->largest, sizeof(*largest), stream);
}

extern "C" TrsvError TrsvFactorCompute(TrsvFactor *f, TrsvPlan *lower, const void *values, const TrsvPivots *p,
                                       double shift, TrsvStream stream)
{
  const bool icc   = f->kind == TRSV_ICC;
  const long upper = f->pivots ? 0 : f->upper; /* with pivots nothing waits for U */
  const int  rows  = f->pivots && !f->row_of_group ? 0 : f->rows;

  return TrsvByType(f->precision, [&](auto value) {
    typedef decltype(value) T;
    const FactorView<T> F(f, values, p, shift);
    TrsvCall(TrsvLaunchEachIn(stream, factor_start<T>, (size_t)(upper + rows + !rows), upper, rows, F.u, F.inverse,
                              f->status));
    if (!f->pivots) return FactorRows(f, F, stream);
    if (lower) return (icc ? FindByPlan<T, true> : FindByPlan<T, false>)(f, lower, F, stream);
    return (icc ? FindInLevelOrder<T, true> : FindInLevelOrder<T, false>)(f, F, stream);
  });
}
