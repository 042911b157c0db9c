/*
   sell_solve.cuh: the kernel of the algorithm `sell`: a warp for each slice of 32 rows, for triangles with few and wide
   level sets, like those of an ordering by colors. sell.cu chooses between slices of the matrix's own order and slices
   of the level order; split_rows.cu splits longer rows.

   The rows are in an order in which each row comes after its dependencies. A slice is up to 32 consecutive rows; a warp
   solves it, a lane for each row. The n-th entries of all rows of a slice are stored side by side (SELL-32); the first
   entries of a row are those in columns of its own slice. A slice solves its rows after all values from other slices
   are ready. So slices have level sets, like rows; sell.cu counts them.

   Mapping: the block of ticket t solves WARPS slices, from t * WARPS on: a warp for each slice, a lane for each row.
     There is separate code for slices whose longest row has at most 2, 3, 4, or more entries, which does not test
     whether an entry exists: 155 instructions instead of 260 for three entries.
   Memory order: a solution for another warp is one word that is its own flag. Inside a warp it is passed by shuffles if
     rows depend only on the row before them, else through shared memory with a __syncwarp between store and load.
   Why it ends: a slice waits only for smaller slices. Those of other blocks have smaller tickets, so their blocks have
     started; warps meet at no barrier after they have the ticket. After all values from other slices are ready, the
     rows of the slice take as many turns as its longest chain has rows, at most 32. By induction on the slice every
     wait ends. The spin limit bounds it if memory fails.
   Same bits: each row is one lane's sum, over other slices first, in the order of its entries. In a chain each turn
     computes the sum again, the last time from final values.
   Source: block multicolor solves, Iwashita, Nakashima, Takahashi (IPDPS 2012), Section IV. The layout of the entries
     is that of the hierarchical version, Iwashita, Li, Fukaya (CCF Transactions on High Performance Computing, 2020),
     which took it from SELL-C (Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput., 2014). Changes: no
     barrier between colors; the value is its own flag, and is stored only if another slice depends on it; blocks and
     colors are found from the pattern (sell.cu); a slice has several blocks, whose rows pass values inside the warp, so
     that only colors are hops through L2. */
#ifndef TRSV_SELL_SOLVE_CUH
#define TRSV_SELL_SOLVE_CUH

#include <limits.h>
#include "solve/model/model.h"
#include "solve/rows/level_csr.h"

enum {
  BLOCK  = 256,
  LANES  = TRSV_SELL_SLICE,
  WARPS  = BLOCK / LANES,
  NARROW = 4,              /* entries of a row, which its lane has in registers, at most */
  WIDE   = TRSV_SELL_WIDE, /* the same if the longest row has 5 or 6 entries */
  TURNS  = 3,              /* turns of a chain without a branch between them: enough for a grid in multicolor order */
  NONE   = SHRT_MIN,       /* a column without an entry. Other columns: position - base, >= 0, of a row of another
                              slice; ~lane, < 0, of a row of this slice */

  /* fields of a slice's shape; bits 0 to 7: the number of its rows */
  TRSV_SHAPE_WIDTH = 8,       /* from this bit on: entries of the longest row */
  TRSV_SHAPE_OWN   = 1 << 16, /* set: some row depends on a row of the slice that is not the one before it */
  TRSV_SHAPE_TURNS = 24       /* if not set, from this bit on: dependencies in the longest chain of the slice */
};

/* 16 bytes, which kernels load in one access. */
struct alignas(16) TrsvSlice {
  int      first; /* the position of the first row */
  int      start; /* the first entry is LANES * start */
  unsigned shape;
  unsigned exported; /* a bit for each row that another slice depends on */
};

/* The data of a plan. */
typedef struct {
  TrsvLevelCSR rows;
  TrsvSlice   *slice;
  int         *base;           /* of the n-th entries of each slice, from its start on; NULL: columns have 32 bits */
  void        *columns;        /* [off] of short with base, else of int */
  int          slices, levels; /* levels: level sets of the slices, or of the rows if these are in level order */
  int          width;          /* NARROW or WIDE */
  bool         straight_from, straight_to; /* the index into b, into x, is computed from the position: see SellView */
  int          turn;                       /* rows - 1 if position p is row turn - p, -1 if it is row p */
} Sell;

/* True for an entry in a column of the row's own slice. */
static TRSV_INLINE bool sell_own(int from) { return (unsigned)from > (unsigned)NONE; }

/* Blocks on a multiprocessor, limited by registers. */
static constexpr int resident_blocks(int width, size_t size)
{
  return size > sizeof(double) ? (width == NARROW ? 4 : 3) : width == NARROW ? 6 : 5;
}

/* C: the type of columns, short or int. */
template <class T, class C> struct SellView {
  int              slices;
  const TrsvSlice *slice;
  const int       *base;
  const C         *columns;
  LevelCSRView<T>  A;
  int              stored;   /* the diagonal is stored */
  int              from, to; /* A.from, A.to list the indices into b, x; if not, an index is start + step * position */
  int              start, step;

  SellView(const Sell *s)
      : slices(s->slices), slice(s->slice), base(s->base), columns((const C *)s->columns), A(&s->rows),
        stored(A.inverse != NULL), from(!s->straight_from), to(!s->straight_to), start(s->turn < 0 ? 0 : s->turn),
        step(s->turn < 0 ? 1 : -1)
  {
  }
};

/* Waits for the missing solutions, which have the mark of NOT_READY; after the wait none has that mark. All lanes poll
   one word, that of the last position, which is likely to be ready last, so a warp that waits long causes little
   traffic. NaN replaces values that are not ready within the limit. */
template <class T, int WIDTH>
static TRSV_INLINE void wait_for_all(const LevelCSRView<T> &A, const T *now, int *from, T *solution)
{
  bool more = true;

  for (;;) {
    TrsvSpinLimit spin;
    int           last = -1;

#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (trsv_is_marked(solution[n])) last = max(last, from[n]);
    const unsigned found = trsv_warp_max((unsigned)(last + 1));
    if (!found) return;
    while (more && trsv_is_marked(trsv_load(now + found - 1))) more = spin.more(A.sync);
#pragma unroll
    for (int n = 0; n < WIDTH; n++) trsv_keep(from[n]); /* keeps indices, not addresses, in registers */
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (trsv_is_marked(solution[n])) solution[n] = trsv_load(now + from[n]);
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (!more && trsv_is_marked(solution[n])) solution[n] = trsv_nan<T>();
  }
}

/* Solves a slice whose rows depend only on the row before them, by their first entry, if on any row of the slice. Each
   turn solves all these rows again. Row n of a chain is final after turn n: row n - 1 is final after turn n - 1. */
template <class T> static TRSV_INLINE T solve_chains(unsigned turns, int from, T value, T sum, T inverse)
{
  const bool follows = sell_own(from);
  T          solved  = sum * inverse;

#pragma unroll 1
  for (int left = (int)turns; left > 0; left -= TURNS)
#pragma unroll
    for (int n = 0; n < TURNS; n++) { /* turns after the last change nothing */
      const T before = __shfl_up_sync(~0u, solved, 1);

      if (follows) solved = fma(-value, before, sum) * inverse;
    }
  return solved;
}

/* Solves a slice whose rows may depend on any rows of the slice. */
template <class T, int WIDTH> static TRSV_INLINE T solve_own(const int *from, const T *value, T sum, T inverse)
{
  const unsigned near = trsv_shared_address() + (unsigned)sizeof(T) * (threadIdx.x & ~(unsigned)(LANES - 1)),
                 own  = trsv_shared_address() + (unsigned)sizeof(T) * threadIdx.x;
  unsigned waits      = 0; /* lanes that this one waits for */

#pragma unroll
  for (int n = 0; n < WIDTH; n++)
    if (sell_own(from[n])) waits |= 1u << ~from[n];
  T        solved = sum * inverse;
  unsigned done   = __ballot_sync(~0u, !waits);
  trsv_shared_store(own, solved);
  for (int turn = 1; done != ~0u && turn < LANES; turn++) {
    trsv_warp_sync();
    if (waits && !(waits & ~done)) {
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
        if (sell_own(from[n]))
          sum = fma(-value[n], trsv_shared_load<T>(near + (unsigned)sizeof(T) * (unsigned)~from[n]), sum);
      solved = sum * inverse;
      waits  = 0;
      trsv_shared_store(own, solved);
    }
    done = __ballot_sync(~0u, !waits);
  }
  return solved;
}

/* Solves a slice whose longest row has LEAST to WIDTH entries; now: the offset of this launch's half of the words. */
template <class T, class C, int LEAST, int WIDTH> static TRSV_INLINE void
solve_slice(const SellView<T, C> &S, const TrsvSlice &slice, int lane, unsigned now, const T *b, T *x)
{
  const LevelCSRView<T> &A = S.A;
  const unsigned        p = (unsigned)(slice.first + lane), at = (unsigned)(slice.start * LANES + lane);
  const int             width = (int)(slice.shape >> TRSV_SHAPE_WIDTH & 255);
  const C              *columns = S.columns + at;
  const bool            mine = lane < (int)(slice.shape & 255), exported = slice.exported >> lane & 1;
  const T              *words = A.words + now, *values = A.values + at;
  int                   from[WIDTH], base[WIDTH], source = mine ? S.start + S.step * (int)p : -1, target = source;
  T                     value[WIDTH], solution[WIDTH], inverse = 1;
  bool                  ready = true;

  trsv_keep(words);
  /* the matrix is read once: __ldcs keeps it from displacing solutions in L2 */
#pragma unroll
  for (int n = 0; n < WIDTH; n++) from[n] = n < LEAST || n < width ? (int)__ldcs(columns + n * LANES) : NONE;
#pragma unroll
  for (int n = 0; n < WIDTH; n++)
    base[n] = sizeof(C) < sizeof(int) && (n < LEAST || n < width) ? __ldg(S.base + slice.start + n) : 0;
  if (S.from && mine) source = __ldcs(A.from + p);
  if (S.to && mine) target = __ldcs(A.to + p);
#pragma unroll
  for (int n = 0; n < WIDTH; n++) value[n] = n < LEAST || n < width ? __ldcs(values + n * LANES) : 0;
  if (S.stored && mine) inverse = __ldcs(A.inverse + p);
  trsv_wait_for_previous(); /* no launch writes what was loaded so far */
  trsv_let_next_start();
  T sum = source >= 0 ? b[source] : 0;
#pragma unroll
  for (int n = 0; n < WIDTH; n++)
    if (from[n] >= 0) from[n] += base[n];
#pragma unroll
  for (int n = 0; n < WIDTH; n++) solution[n] = from[n] >= 0 ? trsv_load(words + from[n]) : 0;
  if (exported) A.words[p + (A.rows - now)] = trsv_not_ready<T>();
#pragma unroll
  for (int n = 0; n < WIDTH; n++) ready = ready && !trsv_is_marked(solution[n]);
  if (!__all_sync(~0u, ready)) wait_for_all<T, WIDTH>(A, words, from, solution);

  T solved;
  if (slice.shape & TRSV_SHAPE_OWN) {
#pragma unroll
    for (int n = 0; n < WIDTH; n++) trsv_keep(from[n]); /* saves registers: the compiler precomputes nothing from it */
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (from[n] >= 0) sum = fma(-value[n], solution[n], sum);
    solved = solve_own<T, WIDTH>(from, value, sum, inverse);
  } else {
    if (from[0] >= 0) sum = fma(-value[0], solution[0], sum);
#pragma unroll
    for (int n = 1; n < WIDTH; n++)
      sum = fma(-value[n], solution[n], sum); /* an absent entry adds a finite number times 0 */
    solved = solve_chains(slice.shape >> TRSV_SHAPE_TURNS, from[0], value[0], sum, inverse);
  }
  solved = trsv_unmarked(solved);
  if (exported) trsv_store(A.words + now + p, solved);
  if (target >= 0) x[target] = solved;
}

template <class T, class C, int MOST> static __global__ void __launch_bounds__(BLOCK, resident_blocks(MOST, sizeof(T)))
  sell_solve(const SellView<T, C> S, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) {
    start[0] = trsv_ticket(S.A.sync, gridDim.x, &start[1]);
    start[1] = start[1] ? S.A.rows : 0;
  }
  __syncthreads();
  const int      s = (int)(start[0] * WARPS + threadIdx.x / LANES), lane = (int)(threadIdx.x % LANES);
  const unsigned now = start[1];
  if (s >= S.slices) return;
  TrsvSlice slice = S.slice[s];
  slice.shape     = trsv_warp_uniform(slice.shape);
  const int width = (int)(slice.shape >> TRSV_SHAPE_WIDTH & 255);
  if (width == 3) solve_slice<T, C, 3, 3>(S, slice, lane, now, b, x);
  else if (width < 3) solve_slice<T, C, 0, 2>(S, slice, lane, now, b, x);
  else if (width == 4 || MOST == 4) solve_slice<T, C, 4, 4>(S, slice, lane, now, b, x);
  else solve_slice<T, C, 5, MOST>(S, slice, lane, now, b, x);
}

template <class T, class C>
static TrsvError LaunchColumns(const Sell *s, bool early, const void *b, void *x, TrsvStream stream)
{
  const auto sell_solve_of = s->width == NARROW ? sell_solve<T, C, NARROW> : sell_solve<T, C, WIDE>;

  return TrsvLaunchEarly(sell_solve_of, early, 1, TrsvBlocks(s->slices, WARPS), BLOCK, sizeof(T) * BLOCK, stream,
                         SellView<T, C>(s), (const T *)b, (T *)x);
}

template <class T> TrsvError SellLaunch(const Sell *s, bool early, const void *b, void *x, TrsvStream stream)
{
  return (s->base ? LaunchColumns<T, short> : LaunchColumns<T, int>)(s, early, b, x, stream);
}

#endif
