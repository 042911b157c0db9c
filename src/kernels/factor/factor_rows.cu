/*
   The values of ILU(0) or IC(0), row by row (IKJ), in one launch for all level sets.

   Source: elimination by rows (Saad, Iterative Methods for Sparse Linear Systems, 2003, Algorithm 10.4). Rows wait for
   each other as in synchronization-free triangular solves (CapelliniSpTRSV, ICPP 2020); a value is its own flag. ICC
   does the same in the upper triangle: with L = U^T, the multipliers of a row are the entries of U in its column. Zero
   pivots are defined as in PETSc.

   Mapping: rows in the order of L's level sets. A group is 4, 8, 16 or 32 lanes, with at most two entries of its row in
   each lane; the block of ticket t has the groups from t * FACTOR_BLOCK / lanes on. A longer row takes a whole warp.
   The columns of a dependency's row of U are matched with the row's own before the wait; in a long row of U each lane
   searches for its own columns. A group waits for four dependencies at once.
   Memory order: a row reads words of U and reciprocals of pivots from other rows. Each word is its own flag (sync.cuh);
   factor_pivots.cu marks them as not ready in an earlier launch. Only the row itself reads its entries of L, its pivot
   and its work.
   Why it ends: a row waits only for rows of earlier groups. Their blocks have smaller tickets, so they have started. In
   each turn of the loop every group of a warp polls once, and stores its row if it can, before the warp votes. A warp
   with a long row has no other row. By induction on the group every wait ends; the spin limit bounds it.
   Same bits: dependencies are eliminated in the order of their columns, in whatever order they get ready. Stars of a
   very long row are added up lane by lane, then over the lanes.
*/
#include "factor/factor_long_row.cuh"

enum {
  BLOCKS_PER_SM = 6, /* the compiler limits registers to those of so many blocks */
  GROUP_POLLS   = 2  /* times that a group whose values are ready polls again, to continue with others of its warp */
};

template <class T, int S, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK, BLOCKS_PER_SM)
  factor_rows(const FactorView<T> F)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, &start[1]);
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

template <class T>
TrsvError FactorRows(const TrsvFactor *f, const void *values, const TrsvPivots *p, double shift, TrsvStream stream)
{
  static void (*const kernels[2][FACTOR_LANE_CHOICES])(FactorView<T>) = {
    {factor_rows<T, 4, false>, factor_rows<T, 8, false>, factor_rows<T, 16, false>, factor_rows<T, 32, false>},
    {factor_rows<T, 4, true>,  factor_rows<T, 8, true>,  factor_rows<T, 16, true>,  factor_rows<T, 32, true> },
  };
  const FactorView<T> F(f, values, p, shift);
  const unsigned      grid       = TrsvBlocks((long)f->groups * f->lanes_per_row, FACTOR_BLOCK);
  const double        level_sets = 24;
  size_t              shared;

  const auto factor_rows_of = kernels[f->kind == TRSV_ICC][TrsvBits(f->lanes_per_row / 4) - 1];
  TrsvCall(FactorLimitBlocks(f, level_sets, (const void *)factor_rows_of, &shared));
  return TrsvLaunch(factor_rows_of, grid, FACTOR_BLOCK, shared, stream, F);
}

template TrsvError FactorRows<TRSV_REAL>(const TrsvFactor *, const void *, const TrsvPivots *, double, TrsvStream);
