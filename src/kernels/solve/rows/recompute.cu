/*
   recompute: level sets two at a time. One thread for one row, as in thread.cu; a row of every second level set
   computes what it needs of the one before for itself, from the values that those rows wait for, so that a solve takes
   half as many hops through L2. For shallow factors, whose level sets are narrow enough for that work to cost less than
   a hop.

   Source: this project; redundant work in place of communication is that of the matrix powers kernel (Demmel, Hoemmen,
   Mohiyuddin, Yelick: Avoiding Communication in Sparse Matrix Computations, IPDPS 2008). Rows could be rewritten in
   terms of earlier ones instead, as in `inverse`, which changes values and may let them grow. Here a value that is
   computed again is made of the same numbers in the same order.

   Layout: that of `thread` (level_csr.h), rows of up to four dependencies and partial sums. A column -2 - q in place of
   q marks a dependency that the row computes again. Marks are where the level sets say; a solve is right with any.
   Mapping: the block of ticket t solves positions t * blockDim.x onwards of the level order, thread by thread.
   Memory order: a solution is handed over in one word that is its own flag; nothing else crosses threads (sync.cuh).
   Why it ends: as in thread.cu. What a row computes again waits for smaller positions than its own, and so does the
   row. Same bits: those of `thread`, each sum in the order of its row's entries.
*/
#include <math.h>
#include "device/sync.cuh"
#include "solve/rows/level_csr.h"

enum {
  BLOCK = 128,
  WIDTH = QUAD, /* dependencies of a row */
  AHEAD = 16    /* level sets whose rows are in flight: as many hops as thread has */
};

/* What a row needs of another: its sum without what it waits for. An entry that is not computed again is a row of its
   own one dependency. */
template <class T> struct Term {
  Quad<int> column;
  Quad<T>   value;
  T         inverse, sum, solution[WIDTH];
  int       from;
};

template <class T> static __global__ void __launch_bounds__(BLOCK)
  recompute_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, &start[1]);
  __syncthreads();
  const int p    = (int)(start[0] * BLOCK + threadIdx.x);
  bool      done = p >= A.rows;

  T *const        now     = A.words + (start[1] ? A.rows : 0);
  T *const        then    = A.words + (start[1] ? 0 : A.rows);
  const int       row     = done ? -1 : A.from[p], to = done ? -1 : A.to[p];
  const Quad<int> column  = done ? Quad<int>{{-1, -1, -1, -1}} : ((const Quad<int> *)A.columns)[p];
  const Quad<T>   value   = done ? Quad<T>() : ((const Quad<T> *)A.values)[p];
  const T         inverse = done || !A.inverse ? 1 : A.inverse[p];
  Term<T>         term[WIDTH];

#pragma unroll
  for (int n = 0; n < WIDTH; n++) {
    const int q = -2 - column.v[n];

    term[n].from    = q < 0 ? -1 : A.from[q];
    term[n].inverse = q < 0 || !A.inverse ? 1 : A.inverse[q];
    term[n].value   = q < 0 ? Quad<T>() : ((const Quad<T> *)A.values)[q];
    term[n].column  = q < 0 ? Quad<int>{{column.v[n], -1, -1, -1}} : ((const Quad<int> *)A.columns)[q];
#pragma unroll
    for (int m = 0; m < WIDTH; m++) /* marks of that row are its own affair */
      if (term[n].column.v[m] < -1) term[n].column.v[m] = -2 - term[n].column.v[m];
  }
  trsv_wait_for_previous(); /* all before this, no launch changes */
  trsv_let_next_start();
  T            sum = row < 0 ? 0 : b[row];
  TrsvSpinLimit spin;

  if (!done) then[p] = trsv_not_ready<T>();
#pragma unroll
  for (int n = 0; n < WIDTH; n++) {
    term[n].sum = term[n].from < 0 ? 0 : b[term[n].from];
#pragma unroll
    for (int m = 0; m < WIDTH; m++) term[n].solution[m] = term[n].column.v[m] < 0 ? 0 : trsv_not_ready<T>();
  }
  do {
    if (!done) {
      done = true;
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
#pragma unroll
        for (int m = 0; m < WIDTH; m++)
          if (!trsv_is_ready(term[n].solution[m])) term[n].solution[m] = trsv_load(now + term[n].column.v[m]);
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
#pragma unroll
        for (int m = 0; m < WIDTH; m++) done = done && trsv_is_ready(term[n].solution[m]);
      if (done) {
#pragma unroll
        for (int n = 0; n < WIDTH; n++) {
          T one = term[n].solution[0];

          if (column.v[n] < -1) {
            one = term[n].sum;
#pragma unroll
            for (int m = 0; m < WIDTH; m++) one = fma(-term[n].value.v[m], term[n].solution[m], one);
            one *= term[n].inverse;
          }
          sum = fma(-value.v[n], one, sum);
        }
      } else if (!spin.more(A.sync)) {
        sum  = trsv_nan<T>();
        done = true;
      }
      if (done) {
        sum = trsv_publish(now + p, sum * inverse);
        if (to >= 0) x[to] = sum;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

/* A thread for each position. Pairs start with the second level set: rows of the first wait for nothing, so that there
   is nothing to save by computing them again, and two loads in a row to lose. */
static __global__ void recompute_mark(int rows, const unsigned *level, int *columns)
{
  const int p = trsv_index();

  if (p >= rows || level[p] % 2 == 0) return; /* levels count from 1 */
  for (int k = WIDTH * p; k < WIDTH * (p + 1); k++)
    if (columns[k] >= 0 && level[columns[k]] + 1 == level[p]) columns[k] = -2 - columns[k];
}

static TrsvError Mark(const TrsvLevelCSR *o, const unsigned *level)
{
  if (!o->rows) return TRSV_SUCCESS;
  TRSV_LAUNCH(recompute_mark, TrsvBlocks(o->rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, o->rows, level, o->columns);
  return TrsvDeviceCheckLaunch("recompute_mark");
}

static TrsvError RecomputeAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  auto      single = recompute_solve<float>;
  auto      twice = recompute_solve<double>;
  unsigned *level = NULL;
  TrsvError error = TrsvLevelCSRAnalyse(plan, A, analysis, source, WIDTH, 1, &level);

  if (!error) error = Mark((const TrsvLevelCSR *)plan->data, level);
  TrsvScratchFree(level, NULL);
  TrsvCall(error);
  return TrsvLevelCSRLimit((TrsvLevelCSR *)plan->data,
                           plan->precision == TRSV_FLOAT ? (const void *)single : (const void *)twice, BLOCK, AHEAD);
}

template <class T> static TrsvError Launch(const TrsvLevelCSR *o, bool early, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(o->rows, BLOCK);

  TRSV_LAUNCH_EARLY(recompute_solve<T>, early, 1, grid, BLOCK, o->shared_bytes, stream, LevelCSRView<T>(o),
                    (const T *)b, (T *)x);
  return TrsvDeviceCheckLaunch("recompute_solve");
}

static TrsvError RecomputeSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  TrsvCall(TrsvSyncStart(&o->sync, stream));
  return plan->precision == TRSV_FLOAT ? Launch<float>(o, plan->early, b, x, stream)
                                       : Launch<double>(o, plan->early, b, x, stream);
}

/* A launch; a hop through L2 for two level sets, dearer where many rows poll, where they are long, and where their
   values are all over memory; what crosses the memory, which rows of wide level sets load twice. Never for the widest,
   where that is most of it. The constants fit the solves of 104 real triangles of 150 level sets or fewer on an H200 to
   11% (root mean square), but scattered, which is from larger ones. */
static double RecomputePredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 3.7e-6, hop = 0.42e-6 * c->hop, crowd = 0.05e-6 * c->hop, dependency = 0.013e-6 * c->hop,
               scattered = 0.5e-12 * c->hop, entry = (precision == TRSV_FLOAT ? 1.2e-11 : 1.7e-11) * c->byte,
               wide = 12000;

  if (s->level_mean > wide) return 1;
  return launch +
         (1 + s->levels / 2) * (hop + crowd * log10(s->level_mean + 1) + dependency * fmin(s->row_mean - 1, 24) +
                                scattered * TrsvCacheMissFactor(s) * s->rows) +
         entry * (double)s->nnz;
}

TRSV_ALGORITHM(TrsvRecompute) = {
  .name       = "recompute",
  .summary    = "thread-level; rows of every second level set recompute what they depend on instead of waiting",
  .source     = "this project; after CapelliniSpTRSV (ICPP 2020)",
  .citation   = TRSV_CITE_CAPELLINI,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyse    = RecomputeAnalyse,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = RecomputeSolve,
  .destroy    = TrsvLevelCSRDestroy,
  .predict    = RecomputePredict,
  .traits     = TRSV_PERMUTES_IN_KERNEL,
};
