/*
   Plans of `chunk` for narrow level sets: the rows of a triangle are multiplied by the inverses of its small diagonal
   blocks, and the product is solved in chunks.

   A triangle with few rows in a level set is a chain of hops, and most lanes have no work. Let D be its block diagonal,
   with blocks of m <= 32 consecutive rows. T x = b has the same solution as (D^-1 T) x = D^-1 b. In the product no row
   depends on a row of its own block, so the chain is up to m times shorter; idle lanes take the entries that the
   product adds. D^-1 b is one multiplication, in parallel for all rows.

   Stability: substitution is backward stable row by row, multiplication by an inverse up to a factor || |D^-1| |D| ||
   of the worst block, the growth (Higham, Accuracy and Stability of Numerical Algorithms, Section 14.2). It is computed
   for every set of values. If it exceeds the limit in any block, or is not finite, these values are solved without
   inverses. A NaN or an Inf outside of the blocks reaches all rows of its block that have an entry in its column, also
   rows before its own, because zeros of the inverse multiply it.

   Mapping: positions in solve order (row, or rows - 1 - row) in groups of 32: one warp for each group, one lane for
     each row. A block is inside one group.
   Memory order: launches in sequence; within a warp shared memory and shuffles. Why it ends: no thread waits.
   Same bits: every sum has one order.
   Source: partial inverses, Alvarado and Schreiber (SIAM J. Sci. Comput. 14, 1993); here of one factor, block-diagonal,
     and multiplied into the rest of the matrix.
*/
#include <math.h>
#include <stdlib.h>
#include "solve/chunk/inverse.cuh"

enum {
  GROUPS  = 4, /* groups of a thread block in the multiplication */
  ENTRIES = 8  /* entries of a row that the multiplication loads together */
};

static const float growth_limit = 100;

/* Computes the inverse of D, its growth, and the product. One warp for each group. */
template <class T> static __global__ void inverse_values(const InverseView A, const T *from, float limit, T *inverse,
                                                         T *values, unsigned *exceeding)
{
  TRSV_SHARED(T, D, INVERSE_GROUP * (INVERSE_GROUP + 1));
  TRSV_SHARED(T, X, INVERSE_GROUP * (INVERSE_GROUP + 1));
  const int lane = (int)threadIdx.x, group = (int)blockIdx.x, p = group * INVERSE_GROUP + lane, i = A.row_of(p),
            stride     = INVERSE_GROUP + 1;
  const unsigned reach = p < A.rows ? A.reach[p] : 0;

  const auto value = [&](int k) { return from[A.source ? A.source[k] : k]; };

  for (int s = 0; s < INVERSE_GROUP; s++) D[lane * stride + s] = (TrsvReal<T>)(s == lane);
  if (p < A.rows && A.stored) D[lane * stride + lane] = value(A.diagonal(i));
  const InverseRow row = inverse_row(A, p, [&](int q, int k) { D[lane * stride + q % INVERSE_GROUP] = value(k); });
  __syncwarp();

  /* solves D x = e: a lane for each column of the inverse */
  const int top = lane / A.block * A.block;
  for (int r = 0; r < INVERSE_GROUP; r++) {
    T x = (TrsvReal<T>)(r == lane);
    if (r >= lane && r < top + A.block) {
      for (int k = lane; k < r; k++) x = fma(-D[r * stride + k], X[k * stride + lane], x);
      if constexpr (sizeof(T) > sizeof(TrsvReal<T>)) x = x * ((TrsvReal<T>)1 / D[r * stride + r]);
      else x = x / D[r * stride + r];
    } else x = 0;
    X[r * stride + lane] = x;
  }
  TrsvReal<T> sum = 0, growth = 0;
  for (int s = 0; s < INVERSE_GROUP; s++) sum += trsv_magnitude<TrsvReal<T>>(D[lane * stride + s]);
  __syncwarp();
  for (int s = 0; s < INVERSE_GROUP; s++)
    growth = fma(trsv_magnitude<TrsvReal<T>>(X[lane * stride + s]), __shfl_sync(~0u, sum, s), growth);
  const unsigned bad = __ballot_sync(~0u, !(growth <= limit));
  if (lane == 0 && bad) (void)atomicAdd(exceeding, (unsigned)__popc(bad));

  T       *to   = inverse + A.start[group];
  unsigned left = reach;
  for (unsigned have; (have = __ballot_sync(~0u, left != 0)); to += __popc(have), left &= left - 1)
    if (left) to[__popc(have & ((1u << lane) - 1))] = X[lane * stride + __ffs((int)left) - 1];

  T  mine = 0;
  T *out  = p < A.rows ? values + A.begin[i] : NULL;
  inverse_columns(
    A, row, [&](int k) { mine = value(k); },
    [&](int, unsigned rows) {
      T entry = 0;

      for (unsigned more = rows; more;) { /* in the order of the rows */
        const int s = A.lower ? __ffs((int)more) - 1 : 31 - __clz((int)more);

        entry = fma(X[lane * stride + s], __shfl_sync(~0u, mine, s), entry);
        more &= ~(1u << s);
      }
      if (rows & reach) *out++ = entry;
    },
    [&](int s, int begin, int end) {
      inverse_each(reach >> s & 1, out, [&](int r, T *to_r) {
        const T x = X[r * stride + s];

        entries_each<32>(begin, end,
                         [&](int k) { to_r[k - begin] = fma(x, value(k), (T)0); }); /* fma: signs of zeros as above */
      });
      if (reach >> s & 1) out += end - begin;
    });
}

/* right = D^-1 b. One warp for each group. */
template <class T> static __global__ void __launch_bounds__(GROUPS * 32)
  inverse_multiply(const InverseView A, int groups, const T *inverse, const T *b, T *right)
{
  const int lane = (int)(threadIdx.x % 32), group = (int)(blockIdx.x * GROUPS + threadIdx.x / 32),
            p = group * INVERSE_GROUP + lane;

  if (group >= groups) return;
  trsv_wait_for_previous();
  trsv_let_next_start();
  const T *from = inverse + A.start[group], mine = p < A.rows ? b[A.from ? A.from[A.row_of(p)] : A.row_of(p)] : 0;
  unsigned left = p < A.rows ? A.reach[p] : 0;
  T        sum  = 0;

  /* addresses do not depend on values, so several loads are in flight */
  while (__any_sync(~0u, left != 0)) {
    T   entry[ENTRIES];
    int other[ENTRIES];

#pragma unroll
    for (int n = 0; n < ENTRIES; n++, left &= left - 1) {
      const unsigned have = __ballot_sync(~0u, left != 0);

      entry[n] = left ? from[__popc(have & ((1u << lane) - 1))] : 0;
      other[n] = left ? __ffs((int)left) - 1 : -1;
      from += __popc(have);
    }
#pragma unroll
    for (int n = 0; n < ENTRIES; n++) {
      const T value = __shfl_sync(~0u, mine, other[n] < 0 ? lane : other[n]);
      if (other[n] >= 0) sum = fma(entry[n], value, sum);
    }
  }
  if (p < A.rows) right[A.row_of(p)] = sum;
}

/* Makes the plan of T without inverted blocks. */
static TrsvError MakePlainPlan(TrsvPlan *plan, Inverse *v)
{
  const TrsvPermutation places = {v->from, v->to};
  TrsvAnalysis         *analysis;
  TrsvError             error;

  TrsvCall(TrsvAnalyze(&v->T, &analysis));
  error = TrsvPlanCreate(&v->T, analysis, v->source, plan->values, &places, &TrsvChunkPlain, 0, &v->plain);
  TrsvAnalysisDestroy(&analysis);
  TrsvCall(error);
  plan->bytes += v->plain->bytes;
  return TRSV_SUCCESS;
}

TrsvError TrsvInverseSetValues(TrsvPlan *plan, Inverse *v, const void *values, TrsvStream stream)
{
  unsigned  exceeding = 0;
  void     *product; /* its values */
  TrsvError error;

  TrsvCall(TrsvScratchAlloc(TrsvValueSize(plan->precision) * (size_t)v->product->values, &product, stream));
  error = TrsvDeviceClear(v->exceeding, sizeof(*v->exceeding), stream);
  if (!error)
    error = TrsvByType(plan->precision, [&](auto value) {
      typedef decltype(value) T;
      return TrsvLaunch(inverse_values<T>, (unsigned)v->groups, 32, 0, stream, InverseView(v), (const T *)values,
                        growth_limit, (T *)v->inverse, (T *)product, v->exceeding);
    });
  if (!error) error = TrsvDeviceDownload(&exceeding, v->exceeding, sizeof(exceeding), stream);
  if (!error && !exceeding) error = TrsvPlanSetValues(v->product, product, TRSV_DEVICE, stream);
  TrsvScratchFree(product, stream);
  TrsvCall(error);
  if (exceeding) {
    if (!v->plain) TrsvCall(MakePlainPlan(plan, v));
    TrsvCall(TrsvPlanSetValues(v->plain, values, TRSV_DEVICE, stream));
  }
  v->use_plain = exceeding > 0;
  return TRSV_SUCCESS;
}

TrsvError TrsvInverseSolve(TrsvPlan *plan, Inverse *v, const void *b, void *x, TrsvStream stream)
{
  if (v->use_plain) return (plan->early ? TrsvPlanSolveNext : TrsvPlanSolve)(v->plain, b, x, stream);
  TrsvCall(TrsvByType(plan->precision, [&](auto value) {
    typedef decltype(value) T;
    return TrsvLaunchEarly(inverse_multiply<T>, plan->early, 1, TrsvBlocks(v->groups, GROUPS), GROUPS * 32, 0, stream,
                           InverseView(v), v->groups, (const T *)v->inverse, (const T *)b, (T *)v->right);
  }));
  return TrsvPlanSolveNext(v->product, v->right, x, stream);
}

TrsvError TrsvInverseEnd(TrsvPlan *plan, Inverse *v)
{
  InverseProduct *const P     = &v->unfinished;
  const TrsvError       error = TrsvPlanEnd(&P->matrix, &P->analysis, NULL, &v->product);

  TrsvScratchRelease(P->memory);
  if (!error) plan->bytes += v->product->bytes;
  return error;
}

void TrsvInverseDestroy(Inverse **inverse)
{
  Inverse *v = *inverse;

  if (!v) return;
  TrsvScratchFree(v->unfinished.memory, NULL);
  TrsvPlanDestroy(&v->product);
  TrsvPlanDestroy(&v->plain);
  TrsvDeviceFree(v->memory);
  free(v);
  *inverse = NULL;
}
