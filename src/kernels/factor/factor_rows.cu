/*
   The values of ILU(0) or IC(0), row by row (IKJ), without a launch for each level set.

   Source: the elimination by rows of Saad, Iterative Methods for Sparse Linear Systems (2003), Algorithm 10.4, with the
   waiting of the synchronization-free triangular solves (CapelliniSpTRSV, ICPP 2020), a value its own flag. ICC is the
   same for the upper triangle: with L = U^T its multipliers are the entries of U that stand in the row's column. What
   counts as a zero pivot is PETSc's.

   Mapping: rows in the order of L's level sets; the block of ticket t takes slots t * groups onwards, each a group of
   4, 8, 16 or 32 lanes with at most two entries of its row each. A row that is too long for that has the whole warp.
   Sorted columns of a dependency's row of U are matched with the row's own before the wait, or, of a long one, the
   row's own looked for in it; four dependencies are waited for at once. Memory order: what a row takes from another are
   words of U and the reciprocal of a pivot, each of them its own flag (sync.cuh); TrsvFactorFill makes them not ready
   in a launch before. L, the pivots and the row under work are read by nobody else. Why it ends: a row waits for rows
   of earlier slots only. Those of other blocks have smaller tickets, so their blocks have started; groups of one warp
   take turns: in each turn of the loop every group polls once, and writes if it can, before the vote brings them
   together. A row that has its warp to itself waits where it stands: nobody else is in the warp. By induction on the
   slot every wait ends; spin bounds it. Same bits: dependencies are taken off in the order of their columns, whatever
   order they arrive in; what very many take off the diagonal of a long row alone is summed up lane by lane, then over
   the lanes.
*/
#include "factor/factor_long_row.cuh"

enum {
  HELD     = 6, /* blocks of a multiprocessor */
  TOGETHER = 2  /* polls */
};

template <class T, int S, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK, HELD)
  factor_rows(const FactorView<T> F)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(F.sync, &start[1]);
  __syncthreads();
  const int s = (int)(start[0] * (FACTOR_BLOCK / S) + threadIdx.x / S), mine = s < F.slots ? F.slot[s] : FACTOR_EMPTY;

  if (__any_sync(0xffffffffu, mine < 0 && mine != FACTOR_EMPTY)) { /* then it is so for all of the warp */
    long_row<T, ICC>(F, ~mine, F.work + F.working[s]);
    return;
  }
  ShortRow<T, S, ICC> row;
  TrsvSpinLimit        spin;
  bool                done = mine == FACTOR_EMPTY;

  row.lane = (int)(threadIdx.x % S);
  row.mask = S == 32 ? 0xffffffffu : ((1u << (S % 32)) - 1) << (threadIdx.x % 32 / S * S);
  if (!done) row.start(F, mine);
  for (int tries = 0; !__all_sync(0xffffffffu, done);) {
    if (!done && !row.waiting && row.base < row.r.dependencies) row.look(F);
    const bool     can  = !done && (!row.waiting || __all_sync(row.mask, row.poll(F, spin)));
    const unsigned some = __ballot_sync(0xffffffffu, can);

    /* groups that go on together share their instructions: who can waits a little for who may be about to */
    if (some != __ballot_sync(0xffffffffu, !done) && (!some || tries++ < TOGETHER)) continue;
    tries = 0;
    if (!can) continue;
    if (row.waiting) {
      row.eliminate(F);
      spin = TrsvSpinLimit();
    }
    if (row.base >= row.r.dependencies) {
      row.finish(F);
      done = true;
    }
  }
}

/* How many blocks of so many rows may be on a multiprocessor: enough level sets in flight to hide the loads before a
   wait; rows that are far from ready do not poll. */
static TrsvError Blocks(const TrsvFactor *f, int *limit)
{
  static const double level_sets_ahead = 24, blocks_at_most = 8;
  int                 multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks =
    level_sets_ahead * f->statistics.level_mean * f->lanes_per_row / ((double)FACTOR_BLOCK * multiprocessors);
  *limit              = blocks < 1 ? 1 : blocks > blocks_at_most ? (int)blocks_at_most : (int)ceil(blocks);
  return TRSV_SUCCESS;
}

template <class T> TrsvError FactorRows(const TrsvFactor *f, const void *values, const FactorShift *shift,
                                        TrsvStream stream)
{
  const FactorView<T> F(f, values, shift);
  const unsigned      grid = TrsvBlocks((long)f->groups * f->lanes_per_row, FACTOR_BLOCK);
  int                 limit;
  size_t              shared;

  TrsvCall(Blocks(f, &limit));

#define LAUNCH(S, ICC) \
  do { \
    auto kernel = factor_rows<T, S, ICC>; \
    TrsvCall(TrsvDeviceLimitBlocks((const void *)kernel, limit, &shared)); \
    TRSV_LAUNCH(kernel, grid, FACTOR_BLOCK, shared, stream, F); \
  } while (0)
#define LAUNCH_LANES(ICC) \
  do { \
    if (f->lanes_per_row == 4) LAUNCH(4, ICC); \
    else if (f->lanes_per_row == 8) LAUNCH(8, ICC); \
    else if (f->lanes_per_row == 16) LAUNCH(16, ICC); \
    else LAUNCH(32, ICC); \
  } while (0)
  if (f->kind == TRSV_ICC) LAUNCH_LANES(true);
  else LAUNCH_LANES(false);
  return TrsvDeviceCheckLaunch("factor_rows");
}

template TrsvError FactorRows<TRSV_REAL>(const TrsvFactor *, const void *, const FactorShift *, TrsvStream);
