/*
   thread: one thread for one row, the writing-first solve of CapelliniSpTRSV.

   Source: CapelliniSpTRSV (ICPP 2020), Section 4.3, Algorithm 5. What changed since: the value is its own flag (no
   get_value, no fence, no reset); rows are taken in the order of their level sets, so that threads wait for what is
   nearly there; rows of more than four dependencies are cut into partial sums, a row each (level_csr.h), so that all a
   thread waits for is polled at once; whatever does not depend on another row is loaded before the wait.

   Mapping: the block of ticket t solves positions t * blockDim.x onwards of the level order, thread by thread.
   thread_pair solves both triangles of a pair: blocks of the first tickets those of the first, the others those of the
   second, whose right-hand side they wait for value by value. Memory order: a solution is handed over in one word that
   is its own flag; nothing else crosses threads (sync.cuh). Each triangle of a pair keeps the tickets and words that it
   has for solves of its own, so that both kinds of solves can follow each other as they like. What crosses from one to
   the other has words of the pair; one thread waits for each, and clears it. Why it ends: a row waits for smaller
   positions only, or for the triangle before. Those of other blocks have smaller tickets, so their blocks have started;
   those of the same warp are solved because all its threads take turns together: in each turn of the loop every thread
   polls once, and writes if it can, before the vote brings them together again. (Left to the hardware's scheduling of
   parted threads, those that poll have been seen to starve those that could write, under compute-sanitizer.) By
   induction on the position every wait ends; spin bounds it if memory fails. Same bits: each row is one thread's sum in
   the order of its entries, whatever order they arrive in.
*/
#include <math.h>
#include <stdlib.h>
#include "device/sync.cuh"
#include "solve/rows/level_csr.h"

enum {
  BLOCK = 128,
  WIDTH = QUAD, /* dependencies of a row; a quad of columns and of values is loaded at once */
  AHEAD = 8     /* level sets whose rows are in flight */
};

/* What solves a block of rows: a launch for them alone, or one for both triangles of a pair. */
enum Part {
  ALONE,
  FIRST, /* its solution goes to between, word by word */
  SECOND /* its right-hand side comes from there: read once, and made ready for the next launch by who has read it;
            over: nothing comes any more */
};

template <class T, Part PART> static __device__ __forceinline__ void thread_rows(const LevelCSRView<T> &A,
                                                                                 const TrsvSync &sync, unsigned block,
                                                                                 unsigned *turn, bool over, T *between,
                                                                                 const T *b, T *x)
{
  const int p    = (int)(block * BLOCK + threadIdx.x);
  bool      done = p >= A.rows;
  unsigned  mine = 0;

  if (PART != ALONE && threadIdx.x == 0) (void)trsv_ticket_of(A.sync, ((unsigned)A.rows + BLOCK - 1) / BLOCK, &mine);
  const int       row     = done ? -1 : A.from[p], to = done ? -1 : A.to[p];
  const Quad<int> column  = done ? Quad<int>() : ((const Quad<int> *)A.columns)[p];
  const Quad<T>   value   = done ? Quad<T>() : ((const Quad<T> *)A.values)[p];
  const T         inverse = done || !A.inverse ? 1 : A.inverse[p];
  if (PART == ALONE) {
    trsv_wait_for_previous(); /* all before this, no launch changes */
    trsv_let_next_start();
  } else {
    if (threadIdx.x == 0) *turn = mine; /* not before the loads, which need not wait for it */
    __syncthreads();
  }
  T *const     now  = A.words + (*turn ? A.rows : 0);
  T *const     then = A.words + (*turn ? 0 : A.rows);
  T            sum = 0, solution[WIDTH];
  TrsvSpinLimit spin;

  if (!done) then[p] = trsv_not_ready<T>();
#pragma unroll
  for (int n = 0; n < WIDTH; n++) solution[n] = column.v[n] < 0 ? 0 : trsv_not_ready<T>();
  if (row >= 0 && PART != SECOND) sum = b[row];
  if (row >= 0 && PART == SECOND && over) sum = trsv_nan<T>();
  else if (row >= 0 && PART == SECOND) {
    while (!trsv_is_ready(sum = trsv_load(between + row)))
      if (!spin.more(sync)) {
        sum = trsv_nan<T>();
        break;
      }
    between[row] = trsv_not_ready<T>();
  }
  do {
    if (!done) {
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
        if (!trsv_is_ready(solution[n])) solution[n] = trsv_load(now + column.v[n]);
      done = true;
#pragma unroll
      for (int n = 0; n < WIDTH; n++) done = done && trsv_is_ready(solution[n]);
      if (done) {
#pragma unroll
        for (int n = 0; n < WIDTH; n++) sum = fma(-value.v[n], solution[n], sum);
      } else if (!spin.more(sync)) {
        sum  = trsv_nan<T>();
        done = true;
      }
      if (done) {
        sum = trsv_publish(now + p, sum * inverse);
        if (to >= 0 && PART == FIRST) trsv_store(between + to, sum);
        if (to >= 0 && PART != FIRST) x[to] = sum;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

template <class T> static __global__ void __launch_bounds__(BLOCK)
  thread_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, &start[1]);
  __syncthreads();
  thread_rows<T, ALONE>(A, A.sync, start[0], &start[1], false, (T *)NULL, b, x);
}

/* The blocks of the first tickets solve the first triangle. Once a launch has given up, words between the triangles may
   be left from it, and no launch that was asked for before the host knows may take them for its own: all that it finds
   is NaN. */
template <class T> static __global__ void __launch_bounds__(BLOCK)
  thread_pair(const LevelCSRView<T> first, const LevelCSRView<T> second, const TrsvSync sync, T *between, const T *b,
              T *x)
{
  const unsigned blocks = ((unsigned)first.rows + BLOCK - 1) / BLOCK;
  TRSV_SHARED(unsigned, start, 3);

  if (threadIdx.x == 0) {
    const unsigned over = trsv_load(sync.abort_device);
    unsigned       turn;

    start[0] = trsv_ticket(sync, &turn);
    start[1] = over;
  }
  __syncthreads();
  if (start[0] < blocks) thread_rows<T, FIRST>(first, sync, start[0], &start[2], false, between, b, (T *)NULL);
  else thread_rows<T, SECOND>(second, sync, start[0] - blocks, &start[2], start[1] != 0, between, (const T *)NULL, x);
}

template <class T> static TrsvError Launch(const TrsvLevelCSR *o, bool early, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(o->rows, BLOCK);

  TRSV_LAUNCH_EARLY(thread_solve<T>, early, 1, grid, BLOCK, o->shared_bytes, stream, LevelCSRView<T>(o), (const T *)b,
                    (T *)x);
  return TrsvDeviceCheckLaunch("thread_solve");
}

static TrsvError ThreadAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  auto single = thread_solve<float>;
  auto twice = thread_solve<double>;

  TrsvCall(TrsvLevelCSRAnalyse(plan, A, analysis, source, WIDTH, 1, NULL));
  return TrsvLevelCSRLimit((TrsvLevelCSR *)plan->data,
                           plan->precision == TRSV_FLOAT ? (const void *)single : (const void *)twice, BLOCK, AHEAD);
}

static TrsvError ThreadSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvLevelCSR *o = (TrsvLevelCSR *)plan->data;

  TrsvCall(TrsvSyncStart(&o->sync, stream));
  return plan->precision == TRSV_FLOAT ? Launch<float>(o, plan->early, b, x, stream)
                                       : Launch<double>(o, plan->early, b, x, stream);
}

static TrsvError PairReady(TrsvFused *pair, TrsvStream stream)
{
  TrsvThreadPair *p = (TrsvThreadPair *)pair;

  return TrsvLevelCSRReady(p->precision, p->rows, p->between, stream);
}

template <class T> static TrsvError MakePair(TrsvThreadPair *p)
{
  auto kernel = thread_pair<T>;

  TrsvCall(TrsvSyncCreate(&p->sync));
  TrsvCall(PairReady(&p->fused, NULL));
  TrsvCall(TrsvDeviceSetMaxShared((const void *)kernel));
  return TrsvDeviceSynchronize();
}

static void PairDestroy(TrsvFused **pair)
{
  TrsvThreadPair *p = (TrsvThreadPair *)*pair;

  if (!p) return;
  TrsvSyncDestroy(&p->sync);
  free(p);
  *pair = NULL;
}

static TrsvError PairCreate(const TrsvPlan *first, const TrsvPlan *second, void *between, TrsvFused **pair)
{
  TrsvThreadPair *p;
  TrsvError       error;

  *pair = NULL;
  p     = (TrsvThreadPair *)calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a pair of plans");
  *pair           = &p->fused;
  p->fused.launch = first->algorithm->pair;
  p->precision    = first->precision;
  p->rows         = first->rows;
  p->between      = between;
  p->first        = (const TrsvLevelCSR *)first->data;
  p->second       = (const TrsvLevelCSR *)second->data;
  p->shared_bytes = min(p->first->shared_bytes, p->second->shared_bytes);
  error           = p->precision == TRSV_FLOAT ? MakePair<float>(p) : MakePair<double>(p);
  if (error) PairDestroy(pair);
  return error;
}

template <class T> static TrsvError LaunchPair(const TrsvThreadPair *p, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(p->first->rows, BLOCK) + TrsvBlocks(p->second->rows, BLOCK);

  TRSV_LAUNCH(thread_pair<T>, grid, BLOCK, p->shared_bytes, stream, LevelCSRView<T>(p->first),
              LevelCSRView<T>(p->second), p->sync, (T *)p->between, (const T *)b, (T *)x);
  return TrsvDeviceCheckLaunch("thread_pair");
}

static TrsvError PairSolve(TrsvFused *pair, const void *b, void *x, TrsvStream stream)
{
  TrsvThreadPair *p     = (TrsvThreadPair *)pair;
  const TrsvError error = TrsvSyncStart(&p->sync, stream);

  if (error) { /* who gave up has not read what came */
    (void)PairReady(pair, stream);
    return error;
  }
  return p->precision == TRSV_FLOAT ? LaunchPair<float>(p, b, x, stream) : LaunchPair<double>(p, b, x, stream);
}

static const TrsvPairLaunch in_one_launch = {PairCreate, PairReady, PairSolve, PairDestroy};

/* A launch; a hop through L2 for each level set, dearer where many rows poll, and where their values are all over a
   memory that no cache holds; what crosses the memory, and what long rows keep a warp waiting for that holds a chain of
   them. Launch, hop, crowd and entry fit the solves of 93 matrices, both triangles, on an H200 to 10% (root mean
   square), and are within 45% of each; the others are from 27 of up to 17 million rows. */
static double ThreadPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 4.0e-6, hop = 0.30e-6 * c->hop, crowd = 0.04e-6 * c->hop, scattered = 0.33e-12 * c->hop,
               entry = (precision == TRSV_FLOAT ? 0.7e-11 : 1e-11) * c->byte, long_entry = 1.2e-11 * c->hop;
  const double chains = s->chain_fraction * fmin(fmax((s->row_mean - 4) / 8, 0), 1); /* of rows that are long */

  return launch + s->levels * (hop + crowd * log10(s->level_mean + 1) + scattered * TrsvCacheMissFactor(s) * s->rows) +
         (entry + long_entry * chains) * (double)s->nnz;
}

TRSV_ALGORITHM(TrsvThread) = {
  .name       = "thread",
  .summary    = "a thread for each row, in the order of level sets; values are their own flags",
  .source     = "CapelliniSpTRSV (ICPP 2020), Algorithm 5",
  .citation   = TRSV_CITE_CAPELLINI,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyse    = ThreadAnalyse,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = ThreadSolve,
  .destroy    = TrsvLevelCSRDestroy,
  .predict    = ThreadPredict,
  .pair       = &in_one_launch,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_THREAD_LEVEL,
};
