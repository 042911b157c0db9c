/*
   csc: one warp for one column, which adds its products to the sums of other rows by atomic operations.

   Mapping: the block of ticket t solves WARPS components, from t * WARPS on, one for each warp, counted from the last
     one if the triangle is upper; lane l takes entries l, l + 32, ... of the column.
   Memory order: an addition to a sum comes before the count-down of its row, which releases. Lane 0, which finds the
     counter at 0, acquires all additions (each count-down continues the release of the earlier ones), then reads the
     sum.
   Why it ends: a component waits only for earlier ones, each of another warp. Those of other blocks have smaller
     tickets, so their blocks have started; the warps of a block meet at no barrier after they have the ticket. The spin
     limit bounds the wait if memory fails.
   Bits: they may differ from run to run, because the order of a sum is that in which products arrive.
   Source: SyncFree, Liu, Li, Hogg, Duff and Vinter (Euro-Par 2016); CapelliniSpTRSV (ICPP 2020), Section 2.3. As
     published: the in-degree of a component is counted down by the columns that it depends on; at 0 it is solved, and
     the products of its column are added to the sums of the other rows. (The value cannot be its own flag, because a
     sum has many writers.) Changes: tickets instead of block numbers; two halves of sums and counters, of which a
     launch clears that of the next launch; in-degrees are the row lengths, not counted on the device; no copy of the
     counters in shared memory for the columns of one block. */
#include <stdlib.h>
#include "papers/capellini/csr_plan.h"

enum {
  WARPS = 4,
  BLOCK = 32 * WARPS
};

typedef struct {
  TrsvCSRPlan columns; /* the transpose: its rows are the columns */
  unsigned   *degree;  /* [rows] dependencies of each component */
  unsigned   *counts;  /* [2 * rows] dependencies that are missing; launches alternate the halves */
  void       *sums;    /* [2 * rows] sums of products so far; the same */
  TrsvSync    sync;
} Csc;

template <class T> struct CscView {
  CSRView<T>      A;
  const unsigned *degree;
  unsigned       *counts;
  T              *sums;
  TrsvSync        sync;

  CscView(const Csc *c) : A(&c->columns), degree(c->degree), counts(c->counts), sums((T *)c->sums), sync(c->sync) {}
};

template <class T> static __global__ void __launch_bounds__(BLOCK) csc_solve(const CscView<T> C, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(C.sync, gridDim.x, &start[1]);
  __syncthreads();
  const int rows = C.A.rows, p = (int)(start[0] * WARPS + threadIdx.x / 32), lane = (int)(threadIdx.x % 32);
  if (p >= rows) return;

  /* the transpose of a lower triangle is upper: its row() counts from the end */
  const int       i = rows - 1 - C.A.row(p);
  const int       now = start[1] ? rows : 0, then = rows - now;
  const int        stored = C.A.stored, begin = C.A.offsets[i] + (C.A.lower ? 0 : stored),
                   end      = C.A.offsets[i + 1] - (C.A.lower ? stored : 0);
  const T         inverse = C.A.inverse ? C.A.inverse[i] : 1;
  T               solution = 0;
  TrsvSpinLimit    spin;

  if (lane == 0) {
    bool more = true;

    C.counts[then + i] = C.degree[i];
    C.sums[then + i]   = 0;
    solution           = b[i];
    while (trsv_load_acquire(C.counts + now + i) && more) more = spin.more(C.sync);
    solution = more ? trsv_canonical((solution - trsv_load(C.sums + now + i)) * inverse) : trsv_nan<T>();
    x[i]     = solution;
  }
  solution = __shfl_sync(0xffffffffu, solution, 0);
  for (int k = begin + lane; k < end; k += 32) {
    const int row = C.A.columns[k];

    trsv_add(C.sums + now + row, C.A.values[k] * solution);
    trsv_count_down(C.counts + now + row);
  }
}

/* Sets up both halves. One thread for each row. */
template <class T> static __global__ void csc_fill(int rows, const unsigned *degree, unsigned *counts, T *sums)
{
  const int i = trsv_index();

  if (i >= rows) return;
  counts[i] = counts[rows + i] = degree[i];
  sums[i] = sums[rows + i] = 0;
}

template <class T> static TrsvError Launch(const Csc *c, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid   = TrsvBlocks(c->columns.rows, WARPS);

  return TrsvLaunch(csc_solve<T>, grid, BLOCK, 0, stream, CscView<T>(c), (const T *)b, (T *)x);
}

/* Makes the transpose, with the index of each entry in the caller's values. */
static TrsvError MakeColumns(TrsvPlan *plan, Csc *c, const TrsvMatrix *A, const int *source)
{
  TrsvMatrix T;
  int       *made, *composed = NULL;
  const int *from;
  TrsvError  error;

  TrsvCall(TrsvTranspose(A, &T, &made, &from));
  error = source ? TrsvAlloc(sizeof(int) * (size_t)A->offsets[A->rows], &composed) : TRSV_SUCCESS;
  for (int k = 0; composed && k < A->offsets[A->rows]; k++) composed[k] = source[from[k]];
  if (!error) error = TrsvCSRPlanMake(plan, &c->columns, &T, composed ? composed : from, 0);
  free(composed);
  TrsvFree(TRSV_HOST, made);
  return error;
}

static TrsvError MakeCounters(TrsvPlan *plan, Csc *c, const TrsvMatrix *A)
{
  const size_t rows = (size_t)A->rows, size = TrsvValueSize(A->precision);
  unsigned    *degree;
  TrsvError    error;

  TrsvCall(TrsvDeviceAlloc(sizeof(unsigned) * rows, &c->degree));
  TrsvCall(TrsvDeviceAlloc(2 * sizeof(unsigned) * rows, &c->counts));
  TrsvCall(TrsvDeviceAlloc(2 * size * rows, &c->sums));
  plan->bytes += (3 * sizeof(unsigned) + 2 * size) * rows;
  TrsvCall(TrsvAlloc(sizeof(unsigned) * rows, &degree));
  for (int i = 0; i < A->rows; i++)
    degree[i] = (unsigned)(A->offsets[i + 1] - A->offsets[i] - (A->diagonal == TRSV_DIAGONAL_STORED));
  error = TrsvDeviceUpload(c->degree, degree, sizeof(unsigned) * rows, NULL);
  free(degree);
  return error;
}

template <class T> static TrsvError ClearSums(Csc *c, int rows)
{
  return TrsvLaunch(csc_fill<T>, TrsvBlocks(rows, 256), 256, 0, NULL, rows, (const unsigned *)c->degree, c->counts,
                    (T *)c->sums);
}

static TrsvError CscAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  Csc *c;

  (void)analysis;
  TrsvCall(TrsvAlloc(sizeof(*c), &plan->data));
  c = (Csc *)plan->data;
  TrsvCall(MakeColumns(plan, c, A, source));
  TrsvCall(MakeCounters(plan, c, A));
  TrsvCall(TrsvSyncCreate(&c->sync));
  if (!A->rows) return TRSV_SUCCESS;
  return TRSV_BY_REAL_PRECISION(plan->precision, ClearSums)(c, A->rows);
}

static TrsvError CscSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Csc *c = (Csc *)plan->data;

  TrsvCall(TrsvSyncStart(&c->sync, stream));
  return TRSV_BY_REAL_PRECISION(plan->precision, Launch)(c, b, x, stream);
}

static void CscDestroy(TrsvPlan *plan)
{
  Csc *c = (Csc *)plan->data;

  if (!c) return;
  TrsvDeviceFree(c->degree);
  TrsvDeviceFree(c->counts);
  TrsvDeviceFree(c->sums);
  TrsvSyncDestroy(&c->sync);
  TrsvCSRPlanFree(&c->columns);
  free(c);
}

TRSV_ALGORITHM(TrsvCsc) = {
  .name       = "csc",
  .summary    = "by columns: a solved row adds to the rows that depend on it, with atomic operations",
  .source     = "SyncFree (Liu et al., Euro-Par 2016)",
  .citation   =
    "@inproceedings{SyncFreeSpTRSV,\n"
    "  author    = {Weifeng Liu and Ang Li and Jonathan Hogg and Iain S. Duff and Brian Vinter},\n"
    "  title     = {A Synchronization-Free Algorithm for Parallel Sparse Triangular Solves},\n"
    "  booktitle = {Euro-Par 2016: Parallel Processing},\n"
    "  series    = {LNCS},\n"
    "  volume    = {9833},\n"
    "  year      = {2016}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_HOST,
  .analyze    = CscAnalyze,
  .set_values = TrsvCSRPlanSetValues,
  .solve      = CscSolve,
  .destroy    = CscDestroy,
  .traits     = TRSV_BITS_VARY,
};
