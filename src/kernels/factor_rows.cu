/*
   The values of ILU(0) or IC(0), row by row (IKJ), without a launch for each level set.

   Source: the elimination by rows of Saad, Iterative Methods for Sparse Linear Systems (2003), Algorithm 10.4, with the waiting of the
   synchronisation-free triangular solves (CapelliniSpTRSV, ICPP 2020), a value its own flag. ICC is the same for the upper triangle: with
   L = U^T its multipliers are the entries of U that stand in the row's column. What counts as a zero pivot is PETSc's.

   Mapping: rows in the order of L's level sets; the block of ticket t takes slots t * groups onwards, each a group of 4, 8, 16 or
   32 lanes with at most two entries of its row each. A row that is too long for that has the whole warp. Sorted columns of a
   dependency's row of U are matched with the row's own before the wait; four dependencies are waited for at once.
   Memory order: what a row takes from another are words of U and the reciprocal of a pivot, each of them its own flag (vocabulary.cuh);
   TrsvFactorFill makes them not ready in a launch before. L, the pivots and the row under work are read by nobody else.
   Why it ends: a row waits for rows of earlier slots only. Those of other blocks have smaller tickets, so their blocks have started; groups
   of one warp take turns: in each turn of the loop every group polls once, and writes if it can, before the vote brings them together. A row that has
   its warp to itself waits where it stands: nobody else is in the warp. By induction on the slot every wait ends; patience bounds it.
   Same bits: dependencies are taken off in the order of their columns, whatever order they arrive in.
*/
#include "factor_rows.cuh"

template <class T, int S, bool ICC> static __global__ void __launch_bounds__(FACTOR_BLOCK) factor_rows(const FactorView<T> F)
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
  TrsvPatience        patience;
  bool                done = mine == FACTOR_EMPTY;

  row.lane = (int)(threadIdx.x % S);
  row.mask = S == 32 ? 0xffffffffu : ((1u << (S % 32)) - 1) << (threadIdx.x % 32 / S * S);
  if (!done) row.start(F, mine);
  do {
    if (!done) {
      if (!row.waiting && row.base < row.r.dependencies) row.look(F);
      if (row.waiting && __all_sync(row.mask, row.poll(F, patience))) row.eliminate(F);
      if (!row.waiting && row.base >= row.r.dependencies) {
        row.finish(F);
        done = true;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

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

/* Sums |a_ij| off the diagonal, less the diagonal, where that is positive: what its row lacks for dominance. As PETSc has it, of A's whole row;
   positive numbers compare as their bits do. */
template <class T> static __global__ void factor_sums(int n, bool icc, const int *l_offsets, const int *u_offsets, const int *start, const T *a, FactorStatus *status)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i >= n) return;
  const int diagonal = icc ? start[i] : l_offsets[i + 1] + u_offsets[i], end = diagonal + u_offsets[i + 1] - u_offsets[i];
  int       k = !icc ? l_offsets[i] + u_offsets[i] : i ? start[i - 1] + u_offsets[i] - u_offsets[i - 1] : 0;
  double    sum = -fabs((double)a[diagonal]) - (double)a[diagonal];

  for (; k < end; k++) sum += fabs((double)a[k]);
  if (sum > 0) atomicMax(&status->largest, trsv_bits(sum));
}

template <class T> static TrsvError Rows(const TrsvFactor *f, const void *values, TrsvShift shift, double amount, double zero, double added, TrsvStream stream)
{
  static const double level_sets_ahead = 16, blocks_at_most = 8; /* rows far from ready do not poll; see thread.cu */
  const FactorView<T> F = {f->slots, f->slot, f->working, f->l_offsets, f->l_columns, f->u_offsets, f->u_columns, f->l_source, f->start, (const T *)values, (T *)f->l, (T *)f->u, (T *)f->inverse, (T *)f->work, f->status, shift, amount, zero, (T)added, f->sync};
  const unsigned      grid = (unsigned)(((long)f->slots * f->lanes + FACTOR_BLOCK - 1) / FACTOR_BLOCK);
  size_t              shared;
  int                 multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double blocks = level_sets_ahead * f->statistics.level_mean * f->lanes / ((double)FACTOR_BLOCK * multiprocessors);
  const int    limit  = blocks < 1 ? 1 : blocks > blocks_at_most ? (int)blocks_at_most : (int)blocks;
#define LAUNCH(S, ICC) \
  do { \
    auto kernel = factor_rows<T, S, ICC>; \
    TrsvCall(TrsvDeviceLimitBlocks((const void *)kernel, limit, &shared)); \
    TRSV_LAUNCH(kernel, grid, FACTOR_BLOCK, shared, stream, F); \
  } while (0)
#define LAUNCH_LANES(ICC) \
  do { \
    if (f->lanes == 4) LAUNCH(4, ICC); \
    else if (f->lanes == 8) LAUNCH(8, ICC); \
    else if (f->lanes == 16) LAUNCH(16, ICC); \
    else LAUNCH(32, ICC); \
  } while (0)
  if (f->kind == TRSV_ICC) LAUNCH_LANES(true);
  else LAUNCH_LANES(false);
  return TrsvDeviceLaunched("factor_rows");
}

extern "C" TrsvError TrsvFactorFill(TrsvFactor *f, TrsvStream stream)
{
  const long     n    = (long)f->upper + f->rows;
  const unsigned grid = (unsigned)((n + 255) / 256);

  if (f->precision == TRSV_FLOAT) TRSV_LAUNCH((factor_fill<float>), grid, 256, 0, stream, (long)f->upper, f->rows, (float *)f->u, (float *)f->inverse, f->status);
  else TRSV_LAUNCH((factor_fill<double>), grid, 256, 0, stream, (long)f->upper, f->rows, (double *)f->u, (double *)f->inverse, f->status);
  return TrsvDeviceLaunched("factor_fill");
}

extern "C" TrsvError TrsvFactorRows(TrsvFactor *f, const void *values, TrsvShift shift, double amount, double zero, double added, TrsvStream stream)
{
  return f->precision == TRSV_FLOAT ? Rows<float>(f, values, shift, amount, zero, added, stream) : Rows<double>(f, values, shift, amount, zero, added, stream);
}

extern "C" TrsvError TrsvFactorSums(TrsvFactor *f, const void *values, TrsvStream stream)
{
  const unsigned grid = (unsigned)((f->rows + 255) / 256);
  const bool     icc  = f->kind == TRSV_ICC;

  if (f->precision == TRSV_FLOAT) TRSV_LAUNCH((factor_sums<float>), grid, 256, 0, stream, f->rows, icc, (const int *)f->l_offsets, (const int *)f->u_offsets, (const int *)f->start, (const float *)values, f->status);
  else TRSV_LAUNCH((factor_sums<double>), grid, 256, 0, stream, f->rows, icc, (const int *)f->l_offsets, (const int *)f->u_offsets, (const int *)f->start, (const double *)values, f->status);
  return TrsvDeviceLaunched("factor_sums");
}
