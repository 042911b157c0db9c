/*
   factor_long_row.cuh: a row of any length, made by a warp.
*/
#ifndef TRSV_FACTOR_LONG_ROW_CUH
#define TRSV_FACTOR_LONG_ROW_CUH

#include "factor/factor_rows.cuh"

/* Where among the entries of a long row a column stands, -1 where it does not. Mostly it is the row's own, or beyond
   all others. */
template <class T> static __device__ __forceinline__ int factor_find(const FactorView<T> &F, const FactorRow &r,
                                                                     int column)
{
  const bool lower = column < r.row;
  const int *columns = lower ? F.l_columns + r.l : F.u_columns + r.u,
            entries  = lower ? r.diagonal : r.length - r.diagonal;

  if (column == r.row) return r.diagonal;
  if (!entries || column > columns[entries - 1]) return -1;
  const int n = factor_search(columns, 0, entries, column);
  return n < 0 || lower ? n : r.diagonal + n;
}

/* Waits for a word that has been looked at. */
template <class T> static __device__ __forceinline__ T factor_wait(const FactorView<T> &F, const T *word, T seen)
{
  return trsv_is_ready(seen) ? seen : factor_wait(F, word);
}

/* What the whole warp takes off a long row: a row of U of many entries, [begin, end). Where the first of them belong,
   and what was there of them when they were last looked at. What is gone through is the shorter one: the row of U, or
   the row's own entries from `first` on. */
template <class T> struct LongStep {
  int  begin, end, owner, first, count;
  bool own;
  int  at[CHUNKS], target[CHUNKS];
  T    got[CHUNKS], inverse, source;
};

/* Number n of what is gone through: the row's own entry, and where it stands in U; -1 where one has none in the other.
 */
template <class T> static __device__ __forceinline__ int long_pair(const FactorView<T> &F, const FactorRow &r,
                                                                   const LongStep<T> &s, int n, int *at)
{
  *at = s.own ? factor_search(F.u_columns, s.begin, s.end, factor_column(F, r, s.first + n)) : s.begin + n;
  if (s.own) return *at < 0 ? -1 : s.first + n;
  return factor_find(F, r, F.u_columns[*at]);
}

/* Asks for nothing that it waits for. */
template <class T, bool ICC> static __device__ __forceinline__ void long_look(const FactorView<T> &F,
                                                                              const FactorRow &r, int lane,
                                                                              LongStep<T> &s)
{
#pragma unroll
  for (int c = 0; c < CHUNKS; c++) {
    const int n = 32 * c + lane;

    s.target[c] = n < s.count ? long_pair(F, r, s, n, &s.at[c]) : -1;
    s.got[c]    = s.target[c] < 0 ? 0 : trsv_load(F.u + s.at[c]);
  }
  s.inverse = trsv_load(F.inverse + s.owner);
  s.source  = ICC ? trsv_load(F.u + s.begin) : 0;
}

/* Takes dependency d off the row; the multiplier. */
template <class T, bool ICC> static __device__ __forceinline__ T long_take(const FactorView<T> &F, const FactorRow &r,
                                                                           T *work, int lane, int d,
                                                                           const LongStep<T> &s)
{
  const T factor     = ICC ? factor_wait(F, F.u + s.begin, s.source) : work[d],
          multiplier = factor * factor_wait(F, F.inverse + s.owner, s.inverse);

  if (!ICC && factor == 0) return factor;
#pragma unroll
  for (int c = 0; c < CHUNKS; c++)
    if (s.target[c] >= 0)
      work[s.target[c]] = fma(-multiplier, factor_wait(F, F.u + s.at[c], s.got[c]), work[s.target[c]]);
  for (int n = 32 * CHUNKS + lane; n < s.count; n += 32) {
    int       at;
    const int target = long_pair(F, r, s, n, &at);

    if (target >= 0) work[target] = fma(-multiplier, factor_wait(F, F.u + at), work[target]);
  }
  return multiplier;
}

/* 32 dependencies, d the lane's, whose rows of U have no entry for this row but the diagonal's: they do not depend on
   each other, and are taken off side by side, the diagonal from what each lane has of it. False, and nothing has been
   done, where there are others. */
template <class T, bool ICC> static __device__ __forceinline__ bool long_stars(const FactorView<T> &F,
                                                                               const FactorRow &r, T *work, int d,
                                                                               T *diagonal)
{
  const int owner = F.l_columns[r.l + d], to = F.u_offsets[owner + 1],
            from   = ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
  int       at = -1;
  bool      others = to - from > STAR;

  for (int k = from; k < to && !others; k++) {
    const int entry = factor_find(F, r, F.u_columns[k]);

    if (entry == r.diagonal) at = k;
    else others = entry >= 0;
  }
  if (__any_sync(0xffffffffu, others)) return false;
  const T factor     = ICC ? factor_wait(F, F.u + from) : work[d],
          multiplier = factor * factor_wait(F, F.inverse + owner);

  if (!ICC && factor == 0) return true;
  if (at >= 0) *diagonal = fma(-multiplier, factor_wait(F, F.u + at), *diagonal);
  (ICC ? F.l + r.l : work)[d] = multiplier;
  return true;
}

/* A row of any length by a warp. The row under work is in device memory, for this warp alone; __syncwarp orders its
   lanes. 32 dependencies at a time are looked up, a lane each, and taken off in turn, each once it is there: by that
   lane where there is little to do, else by all, who look up the next such dependency before they wait for one. Of very
   long rows, of which there may be one in a factor that has no other chain, many that touch nothing but the diagonal
   are taken off side by side. */
template <class T, bool ICC> static __device__ void long_row(const FactorView<T> &F, int row, T *work)
{
  const FactorRow r        = factor_row<T, ICC>(F, row);
  const bool      relative = F.shift == TRSV_SHIFT_NONZERO || F.shift == TRSV_SHIFT_POSITIVE_DEFINITE;
  const int       lane     = (int)(threadIdx.x % 32);
  T               sum = 0, diagonal = 0;
  int             hope = r.dependencies < MANY ? r.dependencies : 0; /* from where on such are looked for */

  for (int n = lane; n < r.length; n += 32 * AHEAD) { /* rows of U may be the longest, and have nothing else to do */
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = n + 32 * m < r.length ? factor_value<T, ICC>(F, r, n + 32 * m) : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++)
      if (n + 32 * m < r.length) work[n + 32 * m] = v[m];
  }
  __syncwarp();
  for (int base = 0; base < r.dependencies; base += 32) {
    if (base >= hope && r.dependencies - base >= 32) {
      if (long_stars<T, ICC>(F, r, work, base + lane, &diagonal)) continue;
      hope = base + MANY;
    }
    const int   d = base + lane, count = min(32, r.dependencies - base);
    const bool  mine  = d < r.dependencies;
    const int   owner = mine ? F.l_columns[r.l + d] : 0, to = mine ? F.u_offsets[owner + 1] : 0;
    const int   from  = !mine ? 0 : ICC ? F.l_source[r.l + d] : F.u_offsets[owner] + 1;
    const bool  alone = to - from <= FEW;
    int         target[FEW];
    T got[FEW], inverse = mine ? trsv_load(F.inverse + owner) : 0, source = mine && ICC ? trsv_load(F.u + from) : 0;
    LongStep<T> next = {};

#pragma unroll
    for (int n = 0; n < FEW; n++) {
      target[n] = alone && from + n < to ? factor_find(F, r, F.u_columns[from + n]) : -1;
      got[n]    = target[n] < 0 ? 0 : trsv_load(F.u + from + n);
    }
    unsigned many = __ballot_sync(0xffffffffu, !alone);

    for (int n = -1; n < count; n++) {
      const LongStep<T> now     = next;
      const bool        by_all  = n >= 0 && (many >> n & 1);
      const unsigned    behind  = many & ~0u << (n + 1) % 32;

      if ((n < 0 || by_all) && n < 31 && behind) { /* the next */
        const int l = __ffs((int)behind) - 1;

        next.begin = __shfl_sync(0xffffffffu, from, l);
        next.end   = __shfl_sync(0xffffffffu, to, l);
        next.owner = __shfl_sync(0xffffffffu, owner, l);
        next.first = ICC ? 0 : base + l + 1;
        next.own   = r.length - next.first < next.end - next.begin;
        next.count = next.own ? r.length - next.first : next.end - next.begin;
        long_look<T, ICC>(F, r, lane, next);
      }
      if (by_all) {
        const T multiplier = long_take<T, ICC>(F, r, work, lane, base + n, now);

        __syncwarp();
        if (lane == 0) (ICC ? F.l + r.l : work)[base + n] = multiplier;
      } else if (lane == n) {
        const T factor     = ICC ? factor_wait(F, F.u + from, source) : work[d],
                multiplier = factor * factor_wait(F, F.inverse + owner, inverse);

        if (ICC || factor != 0) {
#pragma unroll
          for (int m = 0; m < FEW; m++)
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
  if (!relative && lane == 0) (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, work[r.diagonal], sum);
  for (int first = lane; first < r.length; first += 32 * AHEAD) {
    T v[AHEAD];

#pragma unroll
    for (int m = 0; m < AHEAD; m++) v[m] = first + 32 * m < r.length ? work[first + 32 * m] : 0;
#pragma unroll
    for (int m = 0; m < AHEAD; m++) {
      const int n = first + 32 * m;

      if (n < r.diagonal) F.l[r.l + n] = v[m];
      if (n > r.diagonal && n < r.length) trsv_publish(F.u + r.u + n - r.diagonal, v[m]);
      if (n != r.diagonal) sum += fabs(v[m]);
    }
  }
  if (!relative) return;
  sum = warp_sum(sum);
  if (lane == 0) (void)factor_pivot(F, r.row, r.u, F.inverse + r.row, work[r.diagonal], sum);
}

#endif
