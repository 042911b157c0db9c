/*
   Plans of `chunk` for narrow factors: the rows of a triangle are multiplied by the inverses of its small diagonal
   blocks, and the product is solved in chunks.

   A factor of a few rows a level set is a chain of hops, with most lanes idle. Cut into blocks of m <= 32 consecutive
   rows, with D its block diagonal, T x = b has the solution of (D^-1 T) x = D^-1 b: within a block nobody waits for
   anybody any more, so that the chain is up to m times shorter, and the entries that the product adds fill lanes that
   had nothing to do. D^-1 b is one multiplication, side by side for all rows.

   Source: partial inverses are those of Alvarado and Schreiber (SIAM J. Sci. Comput. 14, 1993), here of one factor,
   block-diagonal, with the rest of the matrix multiplied in.

   Stability: substitution is backward stable row by row; multiplying by an inverse is so up to the growth || |D^-1| |D|
   ||, the condition of the worst block (Higham, Accuracy and Stability of Numerical Algorithms, Section 14.2). It is
   computed with every set of values; where any block exceeds the limit, or is not finite, those values are solved
   without inverses. A NaN or an Inf outside of the blocks reaches all rows of its block that have an entry in
   its column, also those before its own: zeros of the inverse times it.

   Mapping: positions in order of solution (row, or from the last row) in groups of 32, a warp each, a lane for each
   row; blocks never cross groups. Nobody waits here: the order between launches is all that is needed. Same bits: every
   sum has one order.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/inverse.cuh"
#include "solve/model/model.h"

enum {
  GROUPS = 4, /* of a block of threads in the multiplication */
  AHEAD  = 8  /* entries of a row that it has on their way */
};

static const float growth_limit = 100;

/* How many lanes before this one have something. */
static __device__ __forceinline__ int inverse_rank(unsigned have, int lane)
{
  return __popc(have & ((1u << lane) - 1));
}

/* A warp for each group: D, its inverse, the growth of both, the product. */
template <class T> static __global__ void inverse_values(const InverseView A, const T *from, float limit, T *inverse,
                                                         T *values, unsigned *beyond)
{
  TRSV_SHARED(T, D, INVERSE_GROUP * (INVERSE_GROUP + 1));
  TRSV_SHARED(T, X, INVERSE_GROUP * (INVERSE_GROUP + 1));
  const int      lane = (int)threadIdx.x, group = (int)blockIdx.x, p = group * INVERSE_GROUP + lane, i = A.row_of(p),
                 stride = INVERSE_GROUP + 1;
  const unsigned reach = p < A.rows ? A.reach[p] : 0;

  const auto value = [&](int k) { return from[A.source ? A.source[k] : k]; };

  for (int s = 0; s < INVERSE_GROUP; s++) D[lane * stride + s] = s == lane;
  if (p < A.rows && A.stored) D[lane * stride + lane] = value(A.diagonal(i));
  const InverseRow row = inverse_row(A, p, [&](int q, int k) { D[lane * stride + q % INVERSE_GROUP] = value(k); });
  __syncwarp();

  /* column by column of the inverse, a lane each: D x = e */
  const int top = lane / A.block * A.block;
  for (int r = 0; r < INVERSE_GROUP; r++) {
    T x = r == lane;
    if (r >= lane && r < top + A.block) {
      for (int k = lane; k < r; k++) x = fma(-D[r * stride + k], X[k * stride + lane], x);
      x /= D[r * stride + r];
    } else x = 0;
    X[r * stride + lane] = x;
  }
  T sum = 0, growth = 0;
  for (int s = 0; s < INVERSE_GROUP; s++) sum += fabs(D[lane * stride + s]);
  __syncwarp();
  for (int s = 0; s < INVERSE_GROUP; s++) growth = fma(fabs(X[lane * stride + s]), __shfl_sync(~0u, sum, s), growth);
  const unsigned bad = __ballot_sync(~0u, !(growth <= limit));
  if (lane == 0 && bad) (void)atomicAdd(beyond, (unsigned)__popc(bad));

  T       *to   = inverse + A.start[group];
  unsigned left = reach;
  for (unsigned have; (have = __ballot_sync(~0u, left != 0)); to += __popc(have), left &= left - 1)
    if (left) to[inverse_rank(have, lane)] = X[lane * stride + __ffs((int)left) - 1];

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
                         [&](int k) { to_r[k - begin] = fma(x, value(k), (T)0); }); /* as above: a zero's sign, too */
      });
      if (reach >> s & 1) out += end - begin;
    });
}

/* right = D^-1 b; a warp for each group. */
template <class T> static __global__ void __launch_bounds__(GROUPS * 32)
  inverse_multiply(const InverseView A, int groups, const T *inverse, const T *b, T *right)
{
  const int lane = (int)(threadIdx.x % 32), group = (int)(blockIdx.x * GROUPS + threadIdx.x / 32),
            p = group * INVERSE_GROUP + lane;

  if (group >= groups) return;
  trsv_wait_for_previous();
  trsv_let_next_start();
  const T *from = inverse + A.start[group], mine = p < A.rows ? b[A.place_of(p)] : 0;
  unsigned left = p < A.rows ? A.reach[p] : 0;
  T        sum  = 0;

  /* where entries stand does not hang on their values: so many are on their way at a time */
  while (__any_sync(~0u, left != 0)) {
    T   entry[AHEAD];
    int other[AHEAD];

#pragma unroll
    for (int n = 0; n < AHEAD; n++, left &= left - 1) {
      const unsigned have = __ballot_sync(~0u, left != 0);

      entry[n] = left ? from[inverse_rank(have, lane)] : 0;
      other[n] = left ? __ffs((int)left) - 1 : -1;
      from += __popc(have);
    }
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      const T value = __shfl_sync(~0u, mine, other[n] < 0 ? lane : other[n]);
      if (other[n] >= 0) sum = fma(entry[n], value, sum);
    }
  }
  if (p < A.rows) right[A.row_of(p)] = sum;
}

/* A plan of T itself. */
static TrsvError MakePlain(TrsvPlan *plan, Inverse *v)
{
  const TrsvPermutation places = {v->from, v->to};
  TrsvAnalysis         *analysis;
  TrsvError             error;

  TrsvCall(TrsvAnalyze(&v->T, &analysis));
  error = TrsvPlanCreatePlaced(&v->T, analysis, v->source, plan->values, &places, &TrsvChunkPlain, 0, &v->plain);
  TrsvAnalysisDestroy(&analysis);
  TrsvCall(error);
  plan->bytes += TrsvPlanBytes(v->plain);
  return TRSV_SUCCESS;
}

int TrsvInverseIsPossible(const TrsvStatistics *s)
{
  return s->nnz > s->rows && s->level_mean <= TrsvModel.inverse_level_rows;
}

TrsvError TrsvInverseAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                             Inverse **inverse)
{
  Inverse  *v;
  TrsvError error;

  if (!TrsvInverseIsPossible(&analysis->statistics)) return TRSV_SUCCESS;
  TrsvCall(TrsvAlloc(sizeof(*v), &v));
  *v            = Inverse();
  v->T          = *A;
  v->T.analysis = NULL;
  v->entries    = TrsvStored(A, analysis);
  v->groups     = (A->rows + INVERSE_GROUP - 1) / INVERSE_GROUP;
  error         = TrsvInversePattern(plan, v, &analysis->statistics, source);
  if (error || !v->product) TrsvInverseDestroy(v);
  else *inverse = v;
  return error;
}

template <class T> static TrsvError Multiply(Inverse *v, bool early, const void *b, TrsvStream stream)
{
  TRSV_LAUNCH_EARLY(inverse_multiply<T>, early, 1, TrsvBlocks(v->groups, GROUPS), GROUPS * 32, 0, stream,
                    InverseView(v), v->groups, (const T *)v->inverse, (const T *)b, (T *)v->right);
  return TrsvDeviceCheckLaunch("inverse_multiply");
}

template <class T> static TrsvError MakeProduct(Inverse *v, const void *values, void *product, TrsvStream stream)
{
  TRSV_LAUNCH(inverse_values<T>, (unsigned)v->groups, 32, 0, stream, InverseView(v), (const T *)values, growth_limit,
              (T *)v->inverse, (T *)product, v->beyond);
  return TrsvDeviceCheckLaunch("inverse_values");
}

TrsvError TrsvInverseSetValues(TrsvPlan *plan, Inverse *v, const void *values, TrsvStream stream)
{
  unsigned  beyond = 0;
  void     *product; /* its values: they are gathered at once */
  TrsvError error;

  TrsvCall(TrsvScratchAlloc(TrsvValueSize(plan->precision) * (size_t)v->product->values, &product, stream));
  error = TrsvDeviceClear(v->beyond, sizeof(*v->beyond), stream);
  if (!error)
    error = (plan->precision == TRSV_FLOAT ? MakeProduct<float> : MakeProduct<double>)(v, values, product, stream);
  if (!error) error = TrsvDeviceDownload(&beyond, v->beyond, sizeof(beyond), stream);
  if (!error && !beyond) error = TrsvPlanSetValues(v->product, product, TRSV_DEVICE, stream);
  TrsvScratchFree(product, stream);
  TrsvCall(error);
  if (beyond) {
    if (!v->plain) TrsvCall(MakePlain(plan, v));
    TrsvCall(TrsvPlanSetValues(v->plain, values, TRSV_DEVICE, stream));
  }
  v->use_plain = beyond > 0;
  return TRSV_SUCCESS;
}

TrsvError TrsvInverseSolve(TrsvPlan *plan, Inverse *v, const void *b, void *x, TrsvStream stream)
{
  if (v->use_plain) return (plan->early ? TrsvPlanSolveNext : TrsvPlanSolve)(v->plain, b, x, stream);
  TrsvCall((plan->precision == TRSV_FLOAT ? Multiply<float> : Multiply<double>)(v, plan->early, b, stream));
  return TrsvPlanSolveNext(v->product, v->right, x, stream);
}

void TrsvInverseDestroy(Inverse *v)
{
  if (!v) return;
  TrsvPlanDestroy(&v->product);
  TrsvPlanDestroy(&v->plain);
  TrsvDeviceFree(v->memory);
  free(v);
}

void TrsvInverseDescribe(const Inverse *v, char *line, size_t size)
{
  const int n = snprintf(line, size, "blocks=%d ", v->use_plain ? 1 : v->block);

  if (n > 0 && (size_t)n < size) TrsvPlanDescribe(v->use_plain ? v->plain : v->product, line + n, size - (size_t)n);
}
