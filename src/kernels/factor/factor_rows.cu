/*
   The values of ILU(0) or IC(0), row by row (IKJ), in one launch for all level sets.

   Source: elimination by rows (Saad, Iterative Methods for Sparse Linear Systems, 2003, Algorithm 10.4). Rows wait for
   each other as in synchronization-free triangular solves (CapelliniSpTRSV, ICPP 2020). ICC does the same in the upper
   triangle: with L = U^T, the multipliers of a row are the entries of U in its column. Zero pivots: as in PETSc.

   Mapping: rows in the order of L's level sets. A group is 4, 8, 16 or 32 lanes, with at most two entries of its row in
   each lane; the block of ticket t has the groups from t * FACTOR_BLOCK / lanes on. A longer row takes a whole warp.
   The columns of a dependency's row of U are matched with the row's own before the wait; in a long row of U each lane
   searches for its own columns. A group waits for four dependencies at once.
   Memory order: a row reads words of U and reciprocals of pivots from other rows. Each word is its own flag (sync.cuh);
   factor_pivots.cu marks them as not ready in an earlier launch. Only the row itself reads its L, its pivot, its work.
   Why it ends: a row waits only for rows of earlier groups. Their blocks have smaller tickets, so they have started. In
   each turn of the loop every group of a warp polls once, and stores its row if it can, before the warp votes. A warp
   with a long row has no other row. By induction on the group every wait ends; the spin limit bounds it.
   Same bits: dependencies are eliminated in the order of their columns, in whatever order they get ready. Stars of a
   very long row are added up lane by lane, then over the lanes.
*/
#include "factor/factor_rows.cuh"

enum {
  BLOCKS_PER_SM = 6, /* the compiler limits registers to those of so many blocks */
  GROUP_POLLS   = 2  /* times that a group whose values are ready polls again, to continue with others of its warp */
};

/* The number of the entry of a long row in that column, or -1. Most columns are the diagonal's, or after all others. */
template <class T, bool ICC>
static TRSV_INLINE int factor_find(const FactorView<T> &F, const FactorRow<T, ICC> &r, int column)
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
   warp goes through the shorter of two lists, of `count` entries: that row of U, or (own) the warp's row from `first`
   on. at, target, got: of its first 32 * STEP_CHUNKS entries, the entry of U, that of the row, the value as loaded. */
template <class T> struct LongStep {
  int  begin, end, owner, first, count;
  bool own;
  int  at[STEP_CHUNKS], target[STEP_CHUNKS];
  T    got[STEP_CHUNKS], inverse, source;
};

/* Entry n of that list: returns the entry of the row, and in *at the entry of U; a missing one is -1. */
template <class T, bool ICC> static TRSV_INLINE int
long_match(const FactorView<T> &F, const FactorRow<T, ICC> &r, const LongStep<T> &s, int n, int *at)
{
  *at = s.own ? factor_search(F.u_columns, s.begin, s.end, r.column(F, s.first + n)) : s.begin + n;
  if (s.own) return *at < 0 ? -1 : s.first + n;
  return factor_find(F, r, F.u_columns[*at]);
}

/* Loads the values of a step without waiting for them. */
template <class T, bool ICC> static TRSV_INLINE void
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
template <class T, bool ICC> static TRSV_INLINE T
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
   star) and so to no other dependency; else returns false. Each lane adds to its part of the diagonal. */
template <class T, bool ICC> static TRSV_INLINE bool
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

template <class T, int S, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK, BLOCKS_PER_SM)
  factor_rows(const FactorView<T> F)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int s    = (int)(start[0] * (FACTOR_BLOCK / S) + threadIdx.x / S),
            mine = s < F.groups ? F.row_of_group[s] : FACTOR_NO_ROW;

  if (__any_sync(0xffffffffu, mine < 0 && mine != FACTOR_NO_ROW)) { /* the same for all groups of the warp */
    long_row<T, ICC>(F, ~mine, F.work + F.work_offset[s]);
    return;
  }
  ShortRow<T, S, ICC> row;
  TrsvSpinLimit       spin;
  bool                done = mine == FACTOR_NO_ROW;

  row.lane = (int)(threadIdx.x % S);
  row.mask = S == 32 ? 0xffffffffu : ((1u << (S % 32)) - 1) << (threadIdx.x % 32 / S * S);
  if (!done) row.load(F, mine);
  for (int tries = 0; !__all_sync(0xffffffffu, done);) {
    if (!done && !row.waiting && row.base < row.r.dependencies) row.prepare(F);
    const bool     can  = !done && (!row.waiting || __all_sync(row.mask, row.poll(F, spin)));
    const unsigned some = __ballot_sync(0xffffffffu, can);

    /* groups that continue together share instructions: a group that can continue first polls again for the others */
    if (some != __ballot_sync(0xffffffffu, !done) && (!some || tries++ < GROUP_POLLS)) continue;
    tries = 0;
    if (!can) continue;
    if (row.waiting) {
      row.eliminate(F);
      spin = TrsvSpinLimit();
    }
    if (row.base >= row.r.dependencies) {
      row.store(F);
      done = true;
    }
  }
}

template <class T> TrsvError FactorRows(const TrsvFactor *f, const FactorView<T> &F, TrsvStream stream)
{
  static void (*const kernels[2][FACTOR_LANE_CHOICES])(FactorView<T>) = {
    {factor_rows<T, 4, false>, factor_rows<T, 8, false>, factor_rows<T, 16, false>, factor_rows<T, 32, false>},
    {factor_rows<T, 4, true>,  factor_rows<T, 8, true>,  factor_rows<T, 16, true>,  factor_rows<T, 32, true> },
  };
  const unsigned grid       = TrsvBlocks((long)f->groups * f->lanes_per_row, FACTOR_BLOCK);
  const double   level_sets = 24;
  size_t         shared;

  const auto factor_rows_of = kernels[f->kind == TRSV_ICC][TrsvBits(f->lanes_per_row / 4) - 1];
  TrsvCall(FactorLimitBlocks(f, level_sets, (const void *)factor_rows_of, &shared));
  return TrsvLaunch(factor_rows_of, grid, FACTOR_BLOCK, shared, stream, F);
}

template TrsvError FactorRows(const TrsvFactor *, const FactorView<TRSV_REAL> &, TrsvStream);
