/*
   factor_long_row.cuh: a row of any length, computed by a warp.
*/
#ifndef TRSV_FACTOR_LONG_ROW_CUH
#define TRSV_FACTOR_LONG_ROW_CUH

#include "factor/factor_rows.cuh"

/* The number of the entry of a long row in that column, or -1. Most columns are the diagonal's, or after all others. */
template <class T, bool ICC>
static __device__ __forceinline__ int factor_find(const FactorView<T> &F, const FactorRow<T, ICC> &r, int column)
{
  const bool lower   = column < r.row;
  const int *columns = lower ? F.l_columns + r.l : F.u_columns + r.u,
            entries  = lower ? r.diagonal : r.length - r.diagonal;

  if (column == r.row) return r.diagonal;
  if (!entries || column > columns[entries - 1]) return -1;
  const int n = factor_search(columns, 0, entries, column);
  return n < 0 || lower ? n : r.diagonal + n;
}

/* The elimination of one dependency, row `owner`, by the whole warp: its row of U has many entries, [begin, end). The
   warp goes through the shorter of two lists: that row of U, or (own) the entries of the warp's row from `first` on.
   The list has `count` entries. at, target, got: for its first 32 * STEP_CHUNKS entries, of each lane, the entry of U,
   the entry of the row, and the value when it was loaded. */
template <class T> struct LongStep {
  int  begin, end, owner, first, count;
  bool own;
  int  at[STEP_CHUNKS], target[STEP_CHUNKS];
  T    got[STEP_CHUNKS], inverse, source;
};

/* Entry n of that list: returns the entry of the row, and in *at the entry of U; a missing one is -1. */
template <class T, bool ICC> static __device__ __forceinline__ int
long_match(const FactorView<T> &F, const FactorRow<T, ICC> &r, const LongStep<T> &s, int n, int *at)
{
  *at = s.own ? factor_search(F.u_columns, s.begin, s.end, r.column(F, s.first + n)) : s.begin + n;
  if (s.own) return *at < 0 ? -1 : s.first + n;
  return factor_find(F, r, F.u_columns[*at]);
}

/* Loads the values of a step without waiting for them. */
template <class T, bool ICC> static __device__ __forceinline__ void
long_prepare(const FactorView<T> &F, const FactorRow<T, ICC> &r, int lane, LongStep<T> &s)
{
#pragma unroll
  for (int c = 0; c < STEP_CHUNKS; c++) {
    const int n = 32 * c + lane;

    s.target[c] = n < s.count ? long_match(F, r, s, n, &s.at[c]) : -1;
    s.got[c]    = s.target[c] < 0 ? 0 : trsv_load(F.u + s.at[c]);
  }
  s.inverse = trsv_load(F.inverse + s.owner);
  s.source  = ICC ? trsv_load(F.u + s.begin) : 0;
}

/* Eliminates dependency d; returns the multiplier. */
template <class T, bool ICC> static __device__ __forceinline__ T
long_eliminate(const FactorView<T> &F, const FactorRow<T, ICC> &r, T *work, int lane, int d, const LongStep<T> &s)
{
  const T factor     = ICC ? F.conjugate(factor_wait(F, F.u + s.begin, s.source)) : work[d],
          multiplier = factor * factor_wait(F, F.inverse + s.owner, s.inverse);

  if (!ICC && factor == 0) return factor;
#pragma unroll
  for (int c = 0; c < STEP_CHUNKS; c++)
    if (s.target[c] >= 0)
      work[s.target[c]] = fma(-multiplier, factor_wait(F, F.u + s.at[c], s.got[c]), work[s.target[c]]);
  for (int n = 32 * STEP_CHUNKS + lane; n < s.count; n += 32) {
    int       at;
    const int target = long_match(F, r, s, n, &at);

    if (target >= 0) work[target] = fma(-multiplier, factor_wait(F, F.u + at), work[target]);
  }
  return multiplier;
}

/* Eliminates 32 dependencies at the same time, d by this lane, if each contributes only to the diagonal of this row (a
   star): then they do not depend on each other. Each lane adds to its part of the diagonal. If one contributes to
   another entry, does nothing and returns false. */
template <class T, bool ICC> static __device__ __forceinline__ bool
long_eliminate_stars(const FactorView<T> &F, const FactorRow<T, ICC> &r, T *work, int d, T *diagonal)
{
  const int owner = F.l_columns[r.l + d], to = F.u_offsets[owner + 1],
            from   = ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
  int       at = -1;
  bool      others = to - from > LANE_SEARCH_MAX;

  for (int k = from; k < to && !others; k++) {
    const int entry = factor_find(F, r, F.u_columns[k]);

    if (entry == r.diagonal) at = k;
    else others = entry >= 0;
  }
  if (__any_sync(0xffffffffu, others)) return false;
  const T factor     = ICC ? F.conjugate(factor_wait(F, F.u + from)) : work[d],
          multiplier = factor * factor_wait(F, F.inverse + owner);

  if (!ICC && factor == 0) return true;
  if (at >= 0) *diagonal = fma(-multiplier, factor_wait(F, F.u + at), *diagonal);
  (ICC ? F.l + r.l : work)[d] = multiplier;
  return true;
}

/* Computes a row of any length by a warp. The row is in work, device memory of this warp; __syncwarp orders its lanes.
   Each lane prepares one of 32 dependencies. They are eliminated in the order of their columns, each when it is ready:
   by its lane if its row of U is short, else by all lanes, which load the next such row before they wait for this one.
   With at least STAR_ROW dependencies, stars are eliminated 32 at a time: arrow matrices have no other parallelism. */
template <class T, bool ICC> static __device__ void long_row(const FactorView<T> &F, int row, T *work)
{
  const FactorRow<T, ICC> r(F, row);
  const bool              relative = F.relative();
  const int               lane     = (int)(threadIdx.x % 32);
  T                       diagonal = 0;
  TrsvReal<T>             sum      = 0;
  int stars = r.dependencies < STAR_ROW ? r.dependencies : 0; /* the first dependency to check for stars */

  for (int n = lane; n < r.length; n += 32 * AHEAD) { /* AHEAD loads in flight */
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = n + 32 * m < r.length ? r.value(F, n + 32 * m) : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++)
      if (n + 32 * m < r.length) work[n + 32 * m] = v[m];
  }
  __syncwarp();
  for (int base = 0; base < r.dependencies; base += 32) {
    if (base >= stars && r.dependencies - base >= 32) {
      if (long_eliminate_stars(F, r, work, base + lane, &diagonal)) continue;
      stars = base + STAR_ROW;
    }
    const int   d = base + lane, count = min(32, r.dependencies - base);
    const bool  mine  = d < r.dependencies;
    const int   owner = mine ? F.l_columns[r.l + d] : 0, to = mine ? F.u_offsets[owner + 1] : 0;
    const int   from  = !mine ? 0 : ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
    const bool  alone = to - from <= LANE_APPLY_MAX;
    int         target[LANE_APPLY_MAX];
    T           got[LANE_APPLY_MAX], inverse = mine ? trsv_load(F.inverse + owner) : 0,
                            source = mine && ICC ? trsv_load(F.u + from) : 0;
    LongStep<T> next = {};

#pragma unroll
    for (int n = 0; n < LANE_APPLY_MAX; n++) {
      target[n] = alone && from + n < to ? factor_find(F, r, F.u_columns[from + n]) : -1;
      got[n]    = target[n] < 0 ? 0 : trsv_load(F.u + from + n);
    }
    unsigned many = __ballot_sync(0xffffffffu, !alone);

    for (int n = -1; n < count; n++) {
      const LongStep<T> now     = next;
      const bool        by_all  = n >= 0 && (many >> n & 1);
      const unsigned    behind  = many & ~0u << (n + 1) % 32;

      if ((n < 0 || by_all) && n < 31 && behind) { /* load the next long row */
        const int l = __ffs((int)behind) - 1;

        next.begin = __shfl_sync(0xffffffffu, from, l);
        next.end   = __shfl_sync(0xffffffffu, to, l);
        next.owner = __shfl_sync(0xffffffffu, owner, l);
        next.first = ICC ? 0 : base + l + 1;
        next.own   = r.length - next.first < next.end - next.begin;
        next.count = next.own ? r.length - next.first : next.end - next.begin;
        long_prepare(F, r, lane, next);
      }
      if (by_all) {
        const T multiplier = long_eliminate(F, r, work, lane, base + n, now);

        __syncwarp();
        if (lane == 0) (ICC ? F.l + r.l : work)[base + n] = multiplier;
      } else if (lane == n) {
        const T factor     = ICC ? F.conjugate(factor_wait(F, F.u + from, source)) : work[d],
                multiplier = factor * factor_wait(F, F.inverse + owner, inverse);

        if (ICC || factor != 0) {
#pragma unroll
          for (int m = 0; m < LANE_APPLY_MAX; m++)
            if (target[m] >= 0)
              work[target[m]] = fma(-multiplier, factor_wait(F, F.u + from + m, got[m]), work[target[m]]);
          (ICC ? F.l + r.l : work)[d] = multiplier;
        }
      }
      __syncwarp();
    }
  }
  __syncwarp();
  diagonal = warp_sum(diagonal);
  if (lane == r.diagonal % 32) work[r.diagonal] += diagonal;
  __syncwarp();
  if (!relative && lane == 0) factor_pivot(F, r.row, r.u, work[r.diagonal], sum);
  for (int first = lane; first < r.length; first += 32 * AHEAD) {
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = first + 32 * m < r.length ? work[first + 32 * m] : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++) {
      const int n = first + 32 * m;

      if (n < r.diagonal) F.l[r.l + n] = v[m];
      if (n > r.diagonal && n < r.length) trsv_publish(F.u + r.u + n - r.diagonal, v[m]);
      if (n != r.diagonal) sum += trsv_magnitude<TrsvReal<T>>(v[m]);
    }
  }
  if (!relative) return;
  sum = warp_sum(sum);
  if (lane == 0) factor_pivot(F, r.row, r.u, work[r.diagonal], sum);
}

#endif
