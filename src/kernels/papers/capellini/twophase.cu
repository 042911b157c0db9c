/*
   twophase: one thread for one row, entries of other warps first.

   Mapping: the block of ticket t solves blockDim.x rows, from t * blockDim.x on, one for each thread, counted from the
     last one if the triangle is upper.
   Memory order: a solution is one word that is its own flag (sync.cuh); within the warp __syncwarp orders turns.
   Why it ends: the first phase waits only for rows of earlier warps: of this block, whose warps meet at no barrier
     after they have the ticket, or of blocks with smaller tickets, which have started. The spin limit bounds it. In
     each turn of the second phase at least the first unsolved row of the warp finds all its values, so 32 turns solve
     all rows. If memory fails and a row is left, it becomes NaN and the failure is reported.
   Same bits: each row is one thread's sum in the order of its entries.
   Source: CapelliniSpTRSV (ICPP 2020), Section 4.2, Algorithm 4. As published: rows in the caller's order, a thread for
     each; a row first waits, one entry after the other, for rows of other warps, then, in at most 32 turns, for rows of
     its own warp. Changes: the value is its own flag (no get_value, no fence, no reset); tickets instead of block
     numbers; a turn ends with a __syncwarp, where the publication relies on lanes in lock step; turns end with the last
     row of the warp; the diagonal's reciprocal is computed when values are set. */
#include "papers/capellini/csr_plan.h"

enum {
  BLOCK = 128
};

template <class T> static __global__ void __launch_bounds__(BLOCK) twophase_solve(const CSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int p = (int)(start[0] * BLOCK + threadIdx.x), row = A.row(p < A.rows ? p : 0), warp_begin = A.row(p / 32 * 32);
  bool         done = p >= A.rows;
  T *const     now = A.words + (start[1] ? A.rows : 0), *const then = A.words + (start[1] ? 0 : A.rows);
  const T      inverse = A.inverse ? A.inverse[row] : 1;
  CSRRow   r(A, row);
  T            sum = b[row], solution;

  if (!done) then[row] = trsv_not_ready<T>();
  for (; !done && r.left; r.next()) {
    const int     column = A.columns[r.at];
    TrsvSpinLimit spin;

    if (A.lower ? column >= warp_begin : column <= warp_begin) break;
    while (!trsv_is_ready(solution = trsv_load(now + column)))
      if (!spin.more(A.sync)) {
        solution = trsv_nan<T>();
        break;
      }
    sum = fma(-A.values[r.at], solution, sum);
  }
  for (int turn = 0; turn < 32; turn++) {
    for (; !done && r.left && trsv_is_ready(solution = trsv_load(now + A.columns[r.at])); r.next())
      sum = fma(-A.values[r.at], solution, sum);
    if (!done && !r.left) {
      x[row] = trsv_publish(now + row, sum * inverse);
      done   = true;
    }
    __syncwarp();
    if (__all_sync(0xffffffffu, done)) break;
  }
  if (!done) {
    trsv_give_up(A.sync);
    x[row] = trsv_publish(now + row, trsv_nan<T>());
  }
}

template <class T> static TrsvError Launch(const TrsvCSRPlan *n, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid   = TrsvBlocks(n->rows, BLOCK);

  return TrsvLaunch(twophase_solve<T>, grid, BLOCK, 0, stream, CSRView<T>(n), (const T *)b, (T *)x);
}

static TrsvError TwoPhaseAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  (void)analysis;
  TrsvCall(TrsvAlloc(sizeof(TrsvCSRPlan), &plan->data));
  return TrsvCSRPlanMake(plan, (TrsvCSRPlan *)plan->data, A, source, 1);
}

static TrsvError TwoPhaseSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvCSRPlan *n = (TrsvCSRPlan *)plan->data;

  TrsvCall(TrsvSyncStart(&n->sync, stream));
  return TRSV_BY_REAL_PRECISION(plan->precision, Launch)(n, b, x, stream);
}

TRSV_ALGORITHM(TrsvTwoPhase) = {
  .name       = "twophase",
  .summary    = "a thread for each row, which waits first for rows of other warps, then for those of its own",
  .source     = "CapelliniSpTRSV (ICPP 2020), Algorithm 4",
  .citation   = TRSV_CITE_CAPELLINI,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = TwoPhaseAnalyze,
  .set_values = TrsvCSRPlanSetValues,
  .solve      = TwoPhaseSolve,
  .destroy    = TrsvCSRPlanDestroy,
};
