/*
   fusion: blocks of 32 consecutive rows, each solved by one warp, a thread for each row, or by 32 warps, a warp for
   each row.

   Mapping: the block of ticket t takes WARPS tasks, from t * WARPS on, one for each warp. A task is 32 rows (fewer at
     the end), one for each lane, or one row, of which lane l has entries l, l + 32, ... Tasks are in the order of
     solution: the caller's rows, from the last one if the triangle is upper.
   Memory order: a solution is one word that is its own flag; nothing else crosses threads (sync.cuh).
   Why it ends: a row waits for earlier tasks, or for rows of its own warp. The warps of earlier tasks have started:
     their tickets are smaller, or they are in the same block, whose warps meet at no barrier after they have the
     ticket. In each turn of the loop every lane polls, and writes if it can. By induction on the row every wait ends.
     The spin limit bounds it if memory fails.
   Same bits: a row is always summed in the same way: by one thread in the order of its entries; or by lanes, each in
     the order of its entries, and a fixed tree.
   Source: CapelliniSpTRSV (ICPP 2020), Section 4.4, describes it as later work; YuenyeungSpTRSV (IEEE TPDS 2021).
     Blocks with more than WARP_LEVEL_MEAN entries in the mean row are solved at warp level: 10, as in the authors'
     code; the paper gives no value. Changes: the value is its own flag (no get_value, no fence, no reset); tickets of
     thread blocks instead of one atomic for each thread; a vote in each turn of the thread-level loop, where the
     publication relies on the hardware; the diagonal's reciprocal is computed when values are set. */
#include <stdlib.h>
#include "papers/capellini/csr_plan.h"

enum {
  WARPS           = 4,
  BLOCK           = 32 * WARPS,
  WARP_LEVEL_MEAN = 10 /* entries of the mean row, with the diagonal, above which a block is solved at warp level */
};

typedef struct {
  TrsvCSRPlan csr;
  int         tasks;
  int        *first; /* [tasks + 1] the start of each task in the order of solution */
} Fusion;

/* Solves a row by all lanes. */
template <class T> static __device__ __forceinline__ void fusion_warp(const CSRView<T> &A, int row, int lane, T *now,
                                                                      T *then, const T *b, T *x)
{
  const T      inverse = A.inverse ? A.inverse[row] : 1, right = b[row];
  CSRRow   r(A, row);
  T            sum = 0, solution;

  if (lane == 0) then[row] = trsv_not_ready<T>();
  for (r.next(lane); r.left > 0; r.next(32)) {
    const T *const word  = now + A.columns[r.at];
    const T        value = A.values[r.at];
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
  if (lane == 0) x[row] = trsv_publish(now + row, (right - sum) * inverse);
}

/* Solves a row for each lane that has one. */
template <class T> static __device__ __forceinline__ void fusion_thread(const CSRView<T> &A, int row, bool done, T *now,
                                                                        T *then, const T *b, T *x)
{
  const T      inverse = A.inverse ? A.inverse[row] : 1;
  CSRRow   r(A, row);
  T            sum = b[row], solution;
  TrsvSpinLimit spin;

  if (!done) then[row] = trsv_not_ready<T>();
  do {
    if (!done) {
      for (; r.left && trsv_is_ready(solution = trsv_load(now + A.columns[r.at])); r.next(), spin = TrsvSpinLimit())
        sum = fma(-A.values[r.at], solution, sum);
      if (r.left && !spin.more(A.sync)) {
        sum    = trsv_nan<T>();
        r.left = 0;
      }
      if (!r.left) {
        x[row] = trsv_publish(now + row, sum * inverse);
        done   = true;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

template <class T> static __global__ void __launch_bounds__(BLOCK)
  fusion_solve(const CSRView<T> A, int tasks, const int *first, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int task = (int)(start[0] * WARPS + threadIdx.x / 32), lane = (int)(threadIdx.x % 32);
  if (task >= tasks) return;

  const int begin = first[task], rows = first[task + 1] - begin;
  T *const  now = A.words + (start[1] ? A.rows : 0), *const then = A.words + (start[1] ? 0 : A.rows);

  if (rows == 1) fusion_warp(A, A.row(begin), lane, now, then, b, x);
  else fusion_thread(A, A.row(lane < rows ? begin + lane : begin), lane >= rows, now, then, b, x);
}

template <class T> static TrsvError Launch(const Fusion *f, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid   = TrsvBlocks(f->tasks, WARPS);

  return TrsvLaunch(fusion_solve<T>, grid, BLOCK, 0, stream, CSRView<T>(&f->csr), f->tasks, (const int *)f->first,
                    (const T *)b, (T *)x);
}

/* Fills first [rows + 1], on the host; returns the number of tasks. */
static int MakeTasks(const TrsvMatrix *A, int *first)
{
  const bool lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT;
  int        tasks = 0;

  for (int p = 0; p < A->rows; p += 32) {
    const int  end     = p + 32 < A->rows ? p + 32 : A->rows;
    const long entries =
      (lower ? A->offsets[end] - A->offsets[p] : A->offsets[A->rows - p] - A->offsets[A->rows - end]) +
      (unit ? end - p : 0);

    if (entries > (long)WARP_LEVEL_MEAN * (end - p))
      for (int k = p; k < end; k++) first[tasks++] = k;
    else first[tasks++] = p;
  }
  first[tasks] = A->rows;
  return tasks;
}

static TrsvError FusionAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  Fusion   *f;
  int      *first;
  TrsvError error;

  (void)analysis;
  TrsvCall(TrsvAlloc(sizeof(*f), &plan->data));
  f = (Fusion *)plan->data;
  TrsvCall(TrsvCSRPlanMake(plan, &f->csr, A, source, 1));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)A->rows + 1), &first));
  f->tasks = MakeTasks(A, first);
  error    = TrsvDeviceAlloc(sizeof(int) * ((size_t)f->tasks + 1), &f->first);
  if (!error) error = TrsvDeviceUpload(f->first, first, sizeof(int) * ((size_t)f->tasks + 1), NULL);
  free(first);
  plan->bytes += sizeof(int) * ((size_t)f->tasks + 1);
  return error;
}

static TrsvError FusionSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Fusion *f = (Fusion *)plan->data;

  TrsvCall(TrsvSyncStart(&f->csr.sync, stream));
  return TRSV_BY_REAL_PRECISION(plan->precision, Launch)(f, b, x, stream);
}

static void FusionDestroy(TrsvPlan *plan)
{
  Fusion *f = (Fusion *)plan->data;

  if (!f) return;
  TrsvDeviceFree(f->first);
  TrsvCSRPlanFree(&f->csr);
  free(f);
}

TRSV_ALGORITHM(TrsvFusion) = {
  .name       = "fusion",
  .summary    = "rows to threads or to warps, 32 rows at a time",
  .source     = "CapelliniSpTRSV (ICPP 2020), Section 4.4, and YuenyeungSpTRSV (TPDS 2021)",
  .citation   =
    "@article{YuenyeungSpTRSV,\n"
    "  author  = {Feng Zhang and Jiya Su and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and "
    "Rujia Wang},\n"
    "  title   = {{YuenyeungSpTRSV}: A Thread-Level and Warp-Level Fusion Synchronization-Free Sparse "
    "Triangular Solve},\n"
    "  journal = {IEEE Transactions on Parallel and Distributed Systems},\n"
    "  year    = {2021}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = FusionAnalyze,
  .set_values = TrsvCSRPlanSetValues,
  .solve      = FusionSolve,
  .destroy    = FusionDestroy,
};
