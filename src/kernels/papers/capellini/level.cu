/*
   level: level set after level set, one launch for each.

   Mapping: thread k of the launch of a set solves row k of the set.
   Memory order: launches and nodes of the graph run in sequence; within one, nothing crosses threads.
   Why it ends: no thread waits. Same bits: each row is one thread's sum in the order of its entries.
   Source: CapelliniSpTRSV (ICPP 2020), Section 2.2, Algorithm 2; Anderson and Saad (1989), Saltz (1990). As published:
     rows in the order of level sets, a thread for each, the end of a launch as the barrier between sets. Changes: all
     launches are one CUDA graph, made with the plan and replayed; the diagonal's reciprocal is computed when values are
     set. The graph solves in a vector of the plan, so that it is the same for every b and x; that costs two copies of a
     vector.

   Limit: a launch in a graph takes more than 1 us, and its node takes time and memory to make. A plan with more than
   LEVELS_MAX level sets is refused.
*/
#include <stdlib.h>
#include "papers/capellini/csr_plan.h"
#include "papers/graph.h"

enum {
  BLOCK      = 128,
  LEVELS_MAX = 65536 /* a solve then takes about 0.1 s, and so does making the graph */
};

typedef struct {
  TrsvCSRPlan      csr;
  TrsvPrecision    precision;
  int              sets;
  int             *levels; /* [sets + 1] the start of each set in order; on the host */
  int             *order;  /* [rows] rows by level set */
  void            *y;      /* [rows] b before the launches, x after them */
  TrsvDeviceGraph *launches;
} Level;

template <class T> static __global__ void __launch_bounds__(BLOCK)
  level_solve(const CSRView<T> A, int first, int last, const int *order, T *y)
{
  const int k = first + (int)(blockIdx.x * BLOCK + threadIdx.x);
  if (k >= last) return;

  const int row = order[k];
  T         sum = y[row];
  CSRRow    r(A, row);

  for (; r.left; r.next()) sum = fma(-A.values[r.at], y[A.columns[r.at]], sum);
  y[row] = trsv_canonical(A.inverse ? sum * A.inverse[row] : sum);
}

/* One thread for each value. */
template <class T> static __global__ void level_copy(int n, const T *from, T *to)
{
  const int k = trsv_index();

  if (k < n) to[k] = from[k];
}

template <class T> static TrsvError LaunchSets(const Level *l, TrsvStream stream)
{

  for (int s = 0; s < l->sets; s++) {
    const int      first = l->levels[s], last = l->levels[s + 1];
    const unsigned grid = TrsvBlocks(last - first, BLOCK);

    TrsvCall(TrsvLaunch(level_solve<T>, grid, BLOCK, 0, stream, CSRView<T>(&l->csr), first, last, (const int *)l->order,
                        (T *)l->y));
  }
  return TRSV_SUCCESS;
}

static TrsvError RecordSets(void *data, TrsvStream stream)
{
  const Level *l = (const Level *)data;

  return TRSV_BY_REAL_PRECISION(l->precision, LaunchSets)(l, stream);
}

template <class T> static TrsvError CopyVector(int rows, const void *from, void *to, TrsvStream stream)
{
  return TrsvLaunch(level_copy<T>, TrsvBlocks(rows, 256), 256, 0, stream, rows, (const T *)from, (T *)to);
}

static TrsvError LevelAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const size_t rows = (size_t)A->rows, size = TrsvValueSize(A->precision);
  const int    sets = analysis->statistics.levels;
  Level       *l;

  if (sets > LEVELS_MAX)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "level: %d level sets need as many launches for each solve; the limit is %d",
                    sets, LEVELS_MAX);
  TrsvCall(TrsvAlloc(sizeof(*l), &plan->data));
  l            = (Level *)plan->data;
  l->precision = A->precision;
  l->sets      = sets;
  TrsvCall(TrsvCSRPlanMake(plan, &l->csr, A, source, 0));
  TrsvCall(TrsvAlloc(sizeof(int) * ((size_t)sets + 1), &l->levels));
  TrsvCall(TrsvDeviceDownload(l->levels, analysis->levels, sizeof(int) * ((size_t)sets + 1), NULL));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &l->order));
  TrsvCall(TrsvDeviceCopy(l->order, analysis->order, sizeof(int) * rows, NULL));
  TrsvCall(TrsvDeviceAlloc(size * rows, &l->y));
  plan->bytes += (sizeof(int) + size) * rows;
  return sets ? TrsvDeviceGraphCreate(RecordSets, l, &l->launches) : TRSV_SUCCESS;
}

static TrsvError LevelSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Level *l = (Level *)plan->data;

  TrsvCall(TRSV_BY_REAL_PRECISION(l->precision, CopyVector)(plan->rows, b, l->y, stream));
  TrsvCall(TrsvDeviceGraphLaunch(l->launches, stream));
  return TRSV_BY_REAL_PRECISION(l->precision, CopyVector)(plan->rows, l->y, x, stream);
}

static void LevelDestroy(TrsvPlan *plan)
{
  Level *l = (Level *)plan->data;

  if (!l) return;
  TrsvDeviceGraphDestroy(&l->launches);
  free(l->levels);
  TrsvDeviceFree(l->order);
  TrsvDeviceFree(l->y);
  TrsvCSRPlanFree(&l->csr);
  free(l);
}

TRSV_ALGORITHM(TrsvLevel) = {
  .name       = "level",
  .summary    = "a launch for each level set, all of them in one CUDA graph",
  .source     = "Anderson and Saad (1989); CapelliniSpTRSV (ICPP 2020), Algorithm 2",
  .citation   =
    "@article{AndersonSaad1989,\n"
    "  author  = {Edward Anderson and Yousef Saad},\n"
    "  title   = {Solving Sparse Triangular Linear Systems on Parallel Computers},\n"
    "  journal = {International Journal of High Speed Computing},\n"
    "  year    = {1989}\n"
    "}\n",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = LevelAnalyze,
  .set_values = TrsvCSRPlanSetValues,
  .solve      = LevelSolve,
  .destroy    = LevelDestroy,
  .traits     = TRSV_NEVER_WAITS,
};
