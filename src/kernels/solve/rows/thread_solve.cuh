/*
   thread_solve.cuh: the kernels of the algorithm `thread`, one thread for each row: for one triangle, and for both
   triangles of a pair of plans.

   Recomputation: a column -2 - q instead of q marks a dependency that the row computes itself, from the values that
   row q depends on. If every second level set is marked, a solve takes half as many hops through L2. It changes no
   value: the same numbers are summed in the same order. A solve is right with any marks.

   Mapping: the block with ticket t solves blockDim.x positions of the level order, from t * blockDim.x on, one thread
     for each. In the launch of a pair, the blocks with the first tickets solve the forward triangle. The others solve
     the backward triangle, and wait for each value of its right-hand side. Each triangle uses the tickets and words of
     its own plan, so solves of the pair and of one plan may follow each other in any order. The values between the
     triangles have words of the pair; one thread waits for each word and clears it.
   Memory order: a solution is one word that is its own flag; nothing else crosses threads (sync.cuh).
   Why it ends: a row waits only for smaller positions, also for a row that it recomputes, or for the forward triangle.
     Rows of other blocks have smaller tickets, so their blocks have started. In each turn of the loop every thread of a
     warp polls once, and writes if it can; then the warp votes, which makes its threads converge. (Under
     compute-sanitizer, without the vote, polling threads have starved those that could write.) By induction on the
     position every wait ends. The spin limit bounds it if memory fails.
   Same bits: each row is one thread's sum in the order of its entries, with or without marks.
   Source: CapelliniSpTRSV (ICPP 2020), Section 4.3, Algorithm 5, the writing-first solve. Changes: the value is its own
     flag (no get_value, no fence, no reset); rows are in the order of their level sets, so that threads wait for values
     that are nearly ready; rows of more than four dependencies are split into partial sums (level_csr.h), so that a
     thread polls all its values together; loads that depend on no other row precede the wait.
     Recomputation is this project's: redundant work instead of communication, as in the matrix powers kernel (Demmel,
     Hoemmen, Mohiyuddin, Yelick: Avoiding Communication in Sparse Matrix Computations, IPDPS 2008).
*/
#ifndef TRSV_THREAD_SOLVE_CUH
#define TRSV_THREAD_SOLVE_CUH

#include "device/sync.cuh"
#include "solve/rows/level_csr.h"

enum {
  BLOCK                   = 128,
  LEVELS_AHEAD            = 8, /* level sets whose rows are on the device at a time */
  LEVELS_AHEAD_RECOMPUTED = 16 /* the same with recomputation: as many hops */
};

/* The triangle of a block: the only one of its launch, or one of a pair. */
enum Role {
  ONLY,
  FORWARD, /* stores its solution in the words of forward_solution */
  BACKWARD /* reads its right-hand side from forward_solution; the one reader of a word clears it for the next launch */
};

/* A dependency whose solution the row waits for. */
template <class T> struct Awaited {
  static constexpr int words = 1;
  int                  column[words];
  T                    solution[words];

  TRSV_INLINE void load(const LevelCSRView<T> &, int c) { column[0] = c; }
  TRSV_INLINE void start(const T *) { solution[0] = column[0] < 0 ? 0 : trsv_not_ready<T>(); }
  TRSV_INLINE T    value(int) const { return solution[0]; }
};

/* A dependency that the row recomputes if its column is marked. If not, the row waits for it. */
template <class T> struct Recomputed {
  static constexpr int words = QUAD;
  int                  column[words], from;
  Quad<T>              factor;
  T                    inverse, sum, solution[words];

  TRSV_INLINE void load(const LevelCSRView<T> &A, int c)
  {
    const int       q      = -2 - c;
    const Quad<int> source = q < 0 ? Quad<int>{{c, -1, -1, -1}} : ((const Quad<int> *)A.columns)[q];

    from    = q < 0 ? -1 : A.from[q];
    inverse = q < 0 || !A.inverse ? 1 : A.inverse[q];
    factor  = q < 0 ? Quad<T>() : ((const Quad<T> *)A.values)[q];
#pragma unroll
    for (int m = 0; m < words; m++) /* the marks of row q itself are ignored */
      column[m] = source.v[m] < -1 ? -2 - source.v[m] : source.v[m];
  }
  TRSV_INLINE void start(const T *b)
  {
    sum = from < 0 ? 0 : b[from];
#pragma unroll
    for (int m = 0; m < words; m++) solution[m] = column[m] < 0 ? 0 : trsv_not_ready<T>();
  }
  TRSV_INLINE T value(int c) const
  {
    T one = solution[0];

    if (c < -1) {
      one = sum;
#pragma unroll
      for (int m = 0; m < words; m++) one = fma(-factor.v[m], solution[m], one);
      one *= inverse;
    }
    return one;
  }
};

/* Solves the rows of a block. Term: Awaited or Recomputed. *turn, in shared memory: 0 or 1 in alternate launches; the
   caller sets it if ROLE is ONLY. aborted: the forward triangle delivers no more values. */
template <class T, class Term, Role ROLE>
static TRSV_INLINE void thread_rows(const LevelCSRView<T> &A, const TrsvSync &sync, unsigned block, unsigned *turn,
                                    bool aborted, T *forward_solution, const T *b, T *x)
{
  const int p    = (int)(block * BLOCK + threadIdx.x);
  bool      done = p >= A.rows;
  unsigned  mine = 0;

  if (ROLE != ONLY && threadIdx.x == 0) (void)trsv_ticket(A.sync, ((unsigned)A.rows + BLOCK - 1) / BLOCK, &mine);
  const int       row     = done ? -1 : A.from[p], to = done ? -1 : A.to[p];
  const Quad<int> column  = done ? Quad<int>() : ((const Quad<int> *)A.columns)[p];
  const Quad<T>   factor  = done ? Quad<T>() : ((const Quad<T> *)A.values)[p];
  const T         inverse = done || !A.inverse ? 1 : A.inverse[p];
  Term            term[QUAD];

#pragma unroll
  for (int n = 0; n < QUAD; n++) term[n].load(A, column.v[n]);
  if (ROLE == ONLY) {
    trsv_wait_for_previous(); /* no launch writes what was loaded so far */
    trsv_let_next_start();
  } else {
    if (threadIdx.x == 0) *turn = mine; /* after the loads: they need not wait for the ticket */
    __syncthreads();
  }
  T *const      now  = A.words + (*turn ? A.rows : 0);
  T *const      then = A.words + (*turn ? 0 : A.rows);
  T             sum  = 0;
  TrsvSpinLimit spin;

  if (!done) then[p] = trsv_not_ready<T>();
#pragma unroll
  for (int n = 0; n < QUAD; n++) term[n].start(b);
  if (row >= 0 && ROLE != BACKWARD) sum = b[row];
  if (row >= 0 && ROLE == BACKWARD && aborted) sum = trsv_nan<T>();
  else if (row >= 0 && ROLE == BACKWARD) {
    TrsvSpinLimit spin;

    while (!trsv_is_ready(sum = trsv_load(forward_solution + row)))
      if (!spin.more(sync)) {
        sum = trsv_nan<T>();
        break;
      }
    forward_solution[row] = trsv_not_ready<T>();
  }
  do {
    if (!done) {
#pragma unroll
      for (int n = 0; n < QUAD; n++)
#pragma unroll
        for (int m = 0; m < Term::words; m++)
          if (!trsv_is_ready(term[n].solution[m])) term[n].solution[m] = trsv_load(now + term[n].column[m]);
      done = true;
#pragma unroll
      for (int n = 0; n < QUAD; n++)
#pragma unroll
        for (int m = 0; m < Term::words; m++) done = done && trsv_is_ready(term[n].solution[m]);
      if (done) {
#pragma unroll
        for (int n = 0; n < QUAD; n++) sum = fma(-factor.v[n], term[n].value(column.v[n]), sum);
      } else if (!spin.more(sync)) {
        sum  = trsv_nan<T>();
        done = true;
      }
      if (done) {
        sum = trsv_publish(now + p, sum * inverse);
        if (to >= 0 && ROLE == FORWARD) trsv_store(forward_solution + to, sum);
        if (to >= 0 && ROLE != FORWARD) x[to] = sum;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

template <class T, class Term> static __global__ void __launch_bounds__(BLOCK)
  thread_solve(const LevelCSRView<T> A, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, gridDim.x, &start[1]);
  __syncthreads();
  thread_rows<T, Term, ONLY>(A, A.sync, start[0], &start[1], false, (T *)NULL, b, x);
}

template <class T> static auto thread_solve_of(const TrsvLevelCSR *o)
{
  return o->recomputes ? thread_solve<T, Recomputed<T>> : thread_solve<T, Awaited<T>>;
}

template <class T> TrsvError ThreadLaunch(const TrsvLevelCSR *o, bool early, const void *b, void *x, TrsvStream stream)
{
  return TrsvLaunchEarly(thread_solve_of<T>(o), early, 1, TrsvBlocks(o->rows, BLOCK), BLOCK, o->shared_bytes, stream,
                         LevelCSRView<T>(o), (const T *)b, (T *)x);
}

/* A launch that gave up may leave values in forward_solution. Launches that are enqueued before the host detects that
   must not use them: their backward triangle uses NaN for its whole right-hand side. */
template <class T> static __global__ void __launch_bounds__(BLOCK)
  thread_pair(const LevelCSRView<T> forward, const LevelCSRView<T> backward, const TrsvSync sync, T *forward_solution,
              const T *b, T *x)
{
  const unsigned blocks = ((unsigned)forward.rows + BLOCK - 1) / BLOCK;
  TRSV_SHARED(unsigned, start, 3);

  if (threadIdx.x == 0) {
    const unsigned aborted = trsv_load(sync.abort_device);
    unsigned       turn;

    start[0] = trsv_ticket(sync, gridDim.x, &turn);
    start[1] = aborted;
  }
  __syncthreads();
  if (start[0] < blocks)
    thread_rows<T, Awaited<T>, FORWARD>(forward, sync, start[0], &start[2], false, forward_solution, b, (T *)NULL);
  else
    thread_rows<T, Awaited<T>, BACKWARD>(backward, sync, start[0] - blocks, &start[2], start[1] != 0, forward_solution,
                                         (const T *)NULL, x);
}

/* The kernel of a plan; NULL: that of pairs. */
template <class T> const void *ThreadKernel(const TrsvLevelCSR *o)
{
  const auto pair = thread_pair<T>;

  return o ? (const void *)thread_solve_of<T>(o) : (const void *)pair;
}

template <class T> TrsvError ThreadLaunchPair(const TrsvThreadPair *p, const void *b, void *x, TrsvStream stream)
{
  const auto *f = (const TrsvLevelCSR *)p->forward->data, *g = (const TrsvLevelCSR *)p->backward->data;

  return TrsvLaunch(thread_pair<T>, TrsvBlocks(f->rows, BLOCK) + TrsvBlocks(g->rows, BLOCK), BLOCK,
                    min(f->shared_bytes, g->shared_bytes), stream, LevelCSRView<T>(f), LevelCSRView<T>(g), p->sync,
                    (T *)p->forward_solution, (const T *)b, (T *)x);
}

/* how: extern, or nothing in the file that has the code. */
#define THREAD_INSTANCES(how, T) \
  how template const void *ThreadKernel<T>(const TrsvLevelCSR *); \
  how template TrsvError   ThreadLaunch<T>(const TrsvLevelCSR *, bool, const void *, void *, TrsvStream); \
  how template TrsvError   ThreadLaunchPair<T>(const TrsvThreadPair *, const void *, void *, TrsvStream);

#endif
