/*
   warp: one warp for one row.

   Mapping: the block of ticket t solves WARPS positions of the level order, from t * WARPS on, one for each warp; lane
     l has entries l, l + 32, ... of the row.
   Memory order: a solution is one word that is its own flag; nothing else crosses warps (sync.cuh).
   Why it ends: a row waits only for smaller positions, each the row of another warp. Those of other blocks have smaller
     tickets, so their blocks have started; the warps of a block meet at no barrier after they have the ticket. Lanes of
     one warp wait for each other only after their polls. By induction on the position every wait ends. The spin limit
     bounds it if memory fails.
   Same bits: each lane sums in the order of its entries, and a fixed tree adds the sums of the lanes.
   Source: the synchronization-free solve in CSR, CapelliniSpTRSV (ICPP 2020), Section 2.3, Algorithm 3. Changes: the
     value is its own flag (no get_value, no fence, no reset); rows are in the order of their level sets; long rows are
     split into partial sums (level_csr.h); shuffles instead of shared memory; the diagonal's reciprocal and the
     right-hand side are loaded before the wait. */
#include "papers/papers.cuh"
#include "solve/rows/level_csr.h"

enum {
  WARPS   = 4,
  BLOCK   = 32 * WARPS,
  LONGEST = 256 /* dependencies of a row that is not split, at most */
};

template <class T> static __global__ void __launch_bounds__(BLOCK) warp_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int p = (int)(start[0] * WARPS + threadIdx.x / 32), lane = (int)(threadIdx.x % 32);
  if (p >= A.rows) return;

  T *const     now  = A.words + (start[1] ? A.rows : 0);
  T *const     then = A.words + (start[1] ? 0 : A.rows);
  const int    row = A.from[p], to = A.to[p], end = A.offsets[p + 1];
  const T      inverse = A.inverse ? A.inverse[p] : 1, right = row < 0 ? 0 : b[row];
  T            sum = 0;

  if (lane == 0) then[p] = trsv_not_ready<T>();
  for (int k = A.offsets[p] + lane; k < end; k += 32) {
    const T *const word  = now + A.columns[k];
    const T        value = A.values[k];
    T              solution;
    TrsvSpinLimit  spin;

    while (!trsv_is_ready(solution = trsv_load(word)))
      if (!spin.more(A.sync)) {
        solution = trsv_nan<T>();
        break;
      }
    sum = fma(value, solution, sum);
  }
  __syncwarp();
  sum = warp_sum(sum);
  if (lane == 0) {
    sum = trsv_publish(now + p, (right - sum) * inverse);
    if (row >= 0) x[to] = sum;
  }
}

template <class T> static TrsvError Launch(const TrsvLevelCSR *o, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid   = TrsvBlocks(o->rows, WARPS);

  return TrsvLaunch(warp_solve<T>, grid, BLOCK, 0, stream, LevelCSRView<T>(o), (const T *)b, (T *)x);
}

static TrsvError WarpAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  return TrsvLevelCSRAnalyze(plan, A, analysis, source, LONGEST, 0, 0);
}

static TrsvError WarpSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  TrsvCall(TrsvSyncStart(&o->sync, stream));
  return TRSV_BY_REAL_PRECISION(plan->precision, Launch)(o, b, x, stream);
}

TRSV_ALGORITHM(TrsvWarp) = {
  .name       = "warp",
  .summary    = "a warp for each row, in the order of level sets",
  .source     = "Dufrechou and Ezzatti (PDP 2018); CapelliniSpTRSV (ICPP 2020), Algorithm 3",
  .citation   =
    "@inproceedings{DufrechouEzzatti2018,\n"
    "  author    = {Ernesto Dufrechou and Pablo Ezzatti},\n"
    "  title     = {Solving Sparse Triangular Linear Systems in Modern {GPU}s: A Synchronization-Free "
    "Algorithm},\n"
    "  booktitle = {26th Euromicro International Conference on Parallel, Distributed and Network-based "
    "Processing (PDP)},\n"
    "  year      = {2018}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = WarpAnalyze,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = WarpSolve,
  .destroy    = TrsvLevelCSRDestroy,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_WARP_LEVEL,
};
