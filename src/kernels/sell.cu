/*
   sell: a warp for each slice of 32 rows, for factors of few and wide level sets, as an ordering by colours leaves them.

   Source: block multicolour solves, Iwashita, Nakashima, Takahashi (IPDPS 2012), Section IV; the entries of a slice side by side as in their
   hierarchical successor, Iwashita, Li, Fukaya (CCF Transactions on High Performance Computing, 2020), which took that from SELL-C (Kreutzer,
   Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput., 2014). What is ours: no barrier between colours, but the value as its own flag, and
   only for rows that another slice waits for; blocks and colours are not told but found (sell_slices.cu), several blocks to a slice, which
   pass their values on inside a warp, so that only colours are hops through L2. Where slices of the matrix's own order have no fewer
   level sets than its rows, rows are taken in the order of these, as `thread` does. Rows of more than WIDE entries are cut (ordered.h).
   Columns take 16 bits where all fit: the n-th entries of a slice beside the least of them, its base. They do in grids in the order of colours.

   Mapping: the block of ticket t solves slices t * WARPS onwards, a warp each, a lane for each row. Slices whose longest rows have 2, 3, 4 or more
   entries have code of their own each, which asks about no entry that may not be there: 155 instructions in place of 260 for three entries.
   Memory order: a solution is handed over to another warp in one word that is its own flag; inside a warp by shuffles where each row waits for the
   one before it at most, else through shared memory, a __syncwarp between store and load.
   Why it ends: a slice waits for smaller slices only. Those of other blocks have smaller tickets, so their blocks have started; warps share
   no barrier once they have the ticket. All that comes from other slices is there before the slice's own rows are solved, in as many turns
   as its longest chain is long, 32 at most. By induction on the slice every wait ends; patience bounds it if memory fails.
   Same bits: each row is one lane's sum, over other slices first, in the order of its entries; in a chain it is made again in every turn, the last time
   of what does not change any more.
*/
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "pattern.cuh"
#include "sell.h"

enum {
  BLOCK    = 256,
  LANES    = TRSV_LANES,
  WARPS    = BLOCK / LANES,
  NARROW   = 4, /* entries of a row that a lane has in registers */
  WIDE     = 6,
  TURNS    = 3,   /* in which chains are solved without a branch between them: those of runs of a grid */
  FEW      = 512, /* level sets up to which slices are looked for */
  NONE     = SHRT_MIN /* where an entry's position, less its base, would stand: >= 0 of another slice's row, ~lane of this slice's, or none */
};

/* The data of a plan. */
typedef struct {
  TrsvOrdered rows;
  TrsvSlice  *slice;
  int        *base;    /* of the n-th entries of each slice, from its start on; NULL where columns are of 32 bits */
  void       *columns; /* [off] what a lane is told of each entry */
  int         slices, levels; /* levels: level sets of the slices, or of the rows where these are in their order */
  int         width;                /* NARROW or WIDE */
  bool        straight_from, straight_to; /* are places not listed, as a SellView has them? */
  int         turn;
  void       *memory;
} Sell;

/* Blocks on a multiprocessor: no more than have registers enough. */
static constexpr int resident(int width) { return width == NARROW ? 6 : 5; }

/* C: short or int, of columns. */
template <class T, class C> struct SellView {
  int              slices;
  const TrsvSlice *slice;
  const int       *base;
  const C         *columns;
  OrderedView<T>   A;
  int              stored;   /* is there a diagonal? */
  int              from, to; /* are these places listed? If not, a row's place is start + step * position */
  int              start, step;

  SellView(const Sell *s) : slices(s->slices), slice(s->slice), base(s->base), columns((const C *)s->columns), A(&s->rows), stored(A.inverse != NULL), from(!s->straight_from), to(!s->straight_to), start(s->turn < 0 ? 0 : s->turn), step(s->turn < 0 ? 1 : -1) { }
};

/* Does a solution seem not to be there yet? */
template <class T> static __device__ __forceinline__ bool is_missing(T solution) { return trsv_mark_of(solution) == trsv_mark<T>(); }

/* Waits for what is not ready yet. All lanes poll one and the same word, that of the last position, which is likely the last to be ready; so a
   warp that is early troubles nobody. NaN in place of what never comes. */
template <class T, int WIDTH> static __device__ __forceinline__ void wait_for_all(const OrderedView<T> &A, const T *now, int *from, T *solution)
{
  TrsvPatience patience;
  bool         more = true;

  for (;;) {
    int last = -1;

#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (is_missing(solution[n])) last = max(last, from[n]);
    const unsigned found = trsv_warp_max((unsigned)(last + 1));
    if (!found) return;
    while (more && is_missing(trsv_load(now + found - 1))) more = patience.more(A.sync);
#pragma unroll
    for (int n = 0; n < WIDTH; n++) trsv_keep(from[n]); /* in place of addresses */
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (is_missing(solution[n])) solution[n] = trsv_load(now + from[n]);
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (!more && is_missing(solution[n])) solution[n] = trsv_nan<T>();
  }
}

/* Does an entry of a row of this slice stand there? */
static __device__ __forceinline__ bool is_own(int from) { return (unsigned)from > (unsigned)NONE; }

/* The rows of a slice of which some wait for the row before them, with their first entry. In each turn all these are solved again: the n-th of a
   chain for the last time in turn n, from what the one before it has had since turn n - 1. */
template <class T> static __device__ __forceinline__ T solve_chains(unsigned turns, int from, T value, T sum, T inverse)
{
  const bool follows = is_own(from);
  T          solved  = sum * inverse;

#pragma unroll 1
  for (int left = (int)turns; left > 0; left -= TURNS)
#pragma unroll
    for (int n = 0; n < TURNS; n++) { /* beyond the last nothing changes */
      const T before = __shfl_up_sync(~0u, solved, 1);

      if (follows) solved = fma(-value, before, sum) * inverse;
    }
  return solved;
}

/* The rows of a slice that wait for each other in any other way. */
template <class T, int WIDTH> static __device__ __forceinline__ T solve_own(const int *from, const T *value, T sum, T inverse)
{
  const unsigned near = trsv_shared_address() + (unsigned)sizeof(T) * (threadIdx.x & ~(unsigned)(LANES - 1)), own = trsv_shared_address() + (unsigned)sizeof(T) * threadIdx.x;
  unsigned       waits = 0; /* lanes that this one waits for */

#pragma unroll
  for (int n = 0; n < WIDTH; n++)
    if (is_own(from[n])) waits |= 1u << ~from[n];
  T        solved = sum * inverse;
  unsigned done   = __ballot_sync(~0u, !waits);
  trsv_shared_store(own, solved);
  for (int turn = 1; done != ~0u && turn < LANES; turn++) {
    trsv_warp_sync();
    if (waits && !(waits & ~done)) {
#pragma unroll
      for (int n = 0; n < WIDTH; n++)
        if (is_own(from[n])) sum = fma(-value[n], trsv_shared_load<T>(near + (unsigned)sizeof(T) * (unsigned)~from[n]), sum);
      solved = sum * inverse;
      waits  = 0;
      trsv_shared_store(own, solved);
    }
    done = __ballot_sync(~0u, !waits);
  }
  return solved;
}

/* A slice whose longest row has LEAST to WIDTH entries; now: where among the words this launch's are. */
template <class T, class C, int LEAST, int WIDTH> static __device__ __forceinline__ void solve_slice(const SellView<T, C> &S, const TrsvSlice &slice, int lane, unsigned now, const T *b, T *x)
{
  const OrderedView<T> &A = S.A;
  const unsigned        p = (unsigned)(slice.first + lane), at = (unsigned)(slice.start * LANES + lane);
  const int             width = (int)(slice.shape >> TRSV_SHAPE_WIDTH & 255);
  const C              *columns = S.columns + at;
  const bool            mine = lane < (int)(slice.shape & 255), exported = slice.exported >> lane & 1;
  const T              *words = A.words + now, *values = A.values + at;
  int                   from[WIDTH], base[WIDTH], source = mine ? S.start + S.step * (int)p : -1, target = source;
  T                     value[WIDTH], solution[WIDTH], inverse = 1;
  bool                  ready = true;

  trsv_keep(words);
  /* the matrix is read once and leaves its place in L2 to solutions (__ldcs) */
#pragma unroll
  for (int n = 0; n < WIDTH; n++) from[n] = n < LEAST || n < width ? (int)__ldcs(columns + n * LANES) : NONE;
#pragma unroll
  for (int n = 0; n < WIDTH; n++) base[n] = sizeof(C) < sizeof(int) && (n < LEAST || n < width) ? __ldg(S.base + slice.start + n) : 0;
  if (S.from && mine) source = __ldcs(A.from + p);
  if (S.to && mine) target = __ldcs(A.to + p);
#pragma unroll
  for (int n = 0; n < WIDTH; n++) value[n] = n < LEAST || n < width ? __ldcs(values + n * LANES) : 0;
  if (S.stored && mine) inverse = __ldcs(A.inverse + p);
  trsv_wait_for_previous(); /* all before this, no launch changes */
  trsv_let_next_start();
  T sum = source >= 0 ? b[source] : 0;
#pragma unroll
  for (int n = 0; n < WIDTH; n++)
    if (from[n] >= 0) from[n] += base[n];
#pragma unroll
  for (int n = 0; n < WIDTH; n++) solution[n] = from[n] >= 0 ? trsv_load(words + from[n]) : 0;
  if (exported) A.words[p + (A.rows - now)] = trsv_not_ready<T>();
#pragma unroll
  for (int n = 0; n < WIDTH; n++) ready = ready && !is_missing(solution[n]);
  if (!__all_sync(~0u, ready)) wait_for_all<T, WIDTH>(A, words, from, solution);

  T solved;
  if (slice.shape & TRSV_SHAPE_OWN) {
#pragma unroll
    for (int n = 0; n < WIDTH; n++) trsv_keep(from[n]); /* that nothing is kept for this branch */
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (from[n] >= 0) sum = fma(-value[n], solution[n], sum);
    solved = solve_own<T, WIDTH>(from, value, sum, inverse);
  } else {
    if (from[0] >= 0) sum = fma(-value[0], solution[0], sum);
#pragma unroll
    for (int n = 1; n < WIDTH; n++) sum = fma(-value[n], solution[n], sum); /* where there is no entry a finite number times 0 */
    solved = solve_chains(slice.shape >> TRSV_SHAPE_TURNS, from[0], value[0], sum, inverse);
  }
  if (is_missing(solved)) solved = trsv_nan<T>();
  if (exported) trsv_store(A.words + now + p, solved);
  if (target >= 0) x[target] = solved;
}

template <class T, class C, int MOST> static __global__ void __launch_bounds__(BLOCK, resident(MOST)) sell_solve(const SellView<T, C> S, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) {
    start[0] = trsv_ticket(S.A.sync, &start[1]);
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

/* One thread for each slice: its rows and its longest. */
static __global__ void sell_shapes(int slices, int rows, const int *first, const int *length, TrsvSlice *slice, int *width)
{
  const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (s >= slices) return;
  const int begin = first ? first[s] : LANES * s, end = first ? first[s + 1] : min(begin + LANES, rows);
  int       most = 0;
  for (int p = begin; p < end; p++) most = max(most, length[p]);
  slice[s] = {begin, 0, (unsigned)(end - begin) + ((unsigned)most << TRSV_SHAPE_WIDTH), 0};
  width[s] = most;
}

static __global__ void sell_starts(int slices, const int *start, TrsvSlice *slice)
{
  const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (s < slices) slice[s].start = start[s];
}

static __global__ void sell_none(int n, int *columns, int *source)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k >= n) return;
  columns[k] = NONE;
  source[k]  = -1;
}

/* length[p]: entries of the row at position p */
static __global__ void sell_lengths(const TrsvCut s, const int *position, int *length)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r < s.rows) length[position ? position[r] : r] = s.offsets[r + 1] - s.offsets[r];
}

/* One thread for each row of the sequence. */
static __global__ void sell_place(const Pattern A, const TrsvCut c, const int *position, const int *first, const int *source, int slices, const TrsvPlaces places, TrsvSlice *slice, int *columns, TrsvOrdered o)
{
  const int r = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (r >= c.rows) return;
  const int p = position ? position[r] : r, s = first ? segment(first, slices, p) : p / LANES, begin = slice[s].first;
  const int row = c.row[r], diagonal = row >= 0 && A.stored ? A.diagonal(row) : -1;
  int       to = slice[s].start * LANES + p - begin;

  for (int own = 1; own >= 0; own--) /* the slice's own first */
    for (int k = c.offsets[r], end = c.offsets[r + 1]; k < end; k++) {
      const int item = c.items[k], d = item < 0 ? ~item : c.last[A.columns[item]], q = position ? position[d] : d;

      if ((q >= begin) != own) continue;
      columns[to]  = own ? ~(q - begin) : q;
      o.source[to] = item < 0 ? -1 : source ? source[item] : item;
      to += LANES;
      if (own) continue;
      const int t = first ? segment(first, slices, q) : q / LANES;
      atomicOr(&slice[t].exported, 1u << (q - slice[t].first));
    }
  o.to[p] = row >= 0 && places.to ? places.to[row] : row;
  if (o.from != o.to) o.from[p] = row >= 0 && places.from ? places.from[row] : row;
  o.source[o.off + p] = diagonal < 0 ? -1 : source ? source[diagonal] : diagonal;
}

/* One warp for each slice: whether its rows follow each other in chains, and the longest of these; the base of its n-th entries, and *far where one is too
   far from it for 16 bits. */
static __global__ void sell_shape(int slices, const int *columns, TrsvSlice *slice, int *base, int *far)
{
  const int s = (int)(blockIdx.x * WARPS + threadIdx.x / LANES), lane = (int)(threadIdx.x % LANES);

  if (s >= slices) return;
  const unsigned shape = slice[s].shape;
  const int      start = slice[s].start, *entry = columns + start * LANES + lane;
  bool           other = false, follows = false;
  for (int n = 0; n < (int)(shape >> TRSV_SHAPE_WIDTH & 255); n++) {
    const int      from = entry[n * LANES], least = INT_MAX - (int)trsv_warp_max(from < 0 ? 0u : (unsigned)(INT_MAX - from));
    const unsigned most = trsv_warp_max(from < 0 ? 0u : (unsigned)from);

    if (n) other = other || is_own(from);
    else follows = is_own(from), other = follows && ~from != lane - 1;
    if (lane) continue;
    base[start + n] = least;
    if (most > (unsigned)least && most - (unsigned)least > SHRT_MAX) *far = 1;
  }
  unsigned chains = __ballot_sync(~0u, follows), turns = 0;
  other = __any_sync(~0u, other);
  for (; chains; chains &= chains << 1) turns++;
  if (lane == 0) slice[s].shape = shape | (other ? (unsigned)TRSV_SHAPE_OWN : turns << TRSV_SHAPE_TURNS);
}

/* One thread for each entry; base: as the plan will have it, or NULL. */
template <class C> static __global__ void sell_columns(int off, const int *from, const int *base, int *plan_base, C *columns)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k >= off) return;
  columns[k] = (C)(base && from[k] >= 0 ? from[k] - base[k / LANES] : from[k]);
  if (base && k % LANES == 0) plan_base[k / LANES] = base[k / LANES];
}

/* The columns of a plan, from those with positions, of `wide` slots; base [wide + 1]: of each slot, and whether one is too far from it. */
static TrsvError MakeColumns(TrsvPlan *plan, int wide, const int *from, const int *base)
{
  Sell *const  s   = (Sell *)plan->data;
  const int    off = s->rows.off;
  int          far;

  TrsvCall(TrsvDeviceDownload(&far, base + wide, sizeof(far), NULL));
  const size_t bytes = far ? sizeof(int) * (size_t)off : sizeof(short) * (size_t)off + sizeof(int) * (size_t)wide;
  TrsvCall(TrsvDeviceAlloc(bytes, &s->columns));
  plan->bytes += bytes;
  if (far) {
    TRSV_LAUNCH((sell_columns<int>), TrsvBlocks(off, BLOCK), BLOCK, 0, (TrsvStream)NULL, off, from, (const int *)NULL, (int *)NULL, (int *)s->columns);
  } else {
    s->base = (int *)((short *)s->columns + off);
    TRSV_LAUNCH((sell_columns<short>), TrsvBlocks(off, BLOCK), BLOCK, 0, (TrsvStream)NULL, off, from, base, s->base, (short *)s->columns);
  }
  return TrsvDeviceLaunched("sell_columns");
}

/* room [33 * wide + 1]: columns with positions, bases and whether they do. */
static TrsvError Place(TrsvPlan *plan, const TrsvMatrix *A, const TrsvCut *c, const int *source, const int *position, const int *first, int wide, int *room)
{
  Sell *const        s       = (Sell *)plan->data;
  TrsvOrdered *const o       = &s->rows;
  int *const         columns = room, *const base = columns + o->off;

  TrsvCall(TrsvDeviceClear(base + wide, sizeof(int), NULL));
  if (wide) {
    TRSV_LAUNCH(sell_none, TrsvBlocks(o->off, BLOCK), BLOCK, 0, (TrsvStream)NULL, o->off, columns, o->source);
    TrsvCall(TrsvDeviceLaunched("sell_none"));
  }
  TRSV_LAUNCH(sell_place, TrsvBlocks(c->rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, Pattern(A), *c, position, first, source, s->slices, plan->places, s->slice, columns, *o);
  TrsvCall(TrsvDeviceLaunched("sell_place"));
  TRSV_LAUNCH(sell_shape, TrsvBlocks(s->slices * LANES, BLOCK), BLOCK, 0, (TrsvStream)NULL, s->slices, columns, s->slice, base, base + wide);
  TrsvCall(TrsvDeviceLaunched("sell_shape"));
  return wide ? MakeColumns(plan, wide, columns, base) : TRSV_SUCCESS;
}

/* room [rows + 2 * slices + 1]: lengths of rows, widths of slices and their scan */
static TrsvError Make(TrsvPlan *plan, const TrsvMatrix *A, const TrsvCut *c, const int *source, const int *position, const int *first, int *room)
{
  Sell *const        s     = (Sell *)plan->data;
  TrsvOrdered *const o     = &s->rows;
  int *const         width = room + c->rows, *const start = width + s->slices;
  int                wide, *columns;
  TrsvError          error;

  TrsvCall(TrsvDeviceAlloc(sizeof(TrsvSlice) * (size_t)s->slices, &s->memory));
  s->slice = (TrsvSlice *)s->memory;
  TRSV_LAUNCH(sell_lengths, TrsvBlocks(c->rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, *c, position, room);
  TrsvCall(TrsvDeviceLaunched("sell_lengths"));
  TRSV_LAUNCH(sell_shapes, TrsvBlocks(s->slices, BLOCK), BLOCK, 0, (TrsvStream)NULL, s->slices, c->rows, first, room, s->slice, width);
  TrsvCall(TrsvDeviceLaunched("sell_shapes"));
  TrsvCall(TrsvDeviceScan(s->slices, width, start));
  TrsvCall(TrsvDeviceDownload(&wide, start + s->slices, sizeof(int), NULL));
  if (wide > INT_MAX / LANES) return TrsvFail(TRSV_ERR_UNSUPPORTED, "slices of %d entries are too many for 32-bit indices", wide);
  TRSV_LAUNCH(sell_starts, TrsvBlocks(s->slices, BLOCK), BLOCK, 0, (TrsvStream)NULL, s->slices, start, s->slice);
  TrsvCall(TrsvDeviceLaunched("sell_starts"));
  TrsvCall(TrsvOrderedAlloc(plan, o, c->rows, wide * LANES, 0, A->diagonal == TRSV_DIAGONAL_STORED, 1));
  plan->bytes += sizeof(TrsvSlice) * (size_t)s->slices;
  TrsvCall(TrsvDeviceRoom(sizeof(int) * ((LANES + 1) * (size_t)wide + 1), &columns, NULL));
  error = Place(plan, A, c, source, position, first, wide, columns);
  TrsvDeviceRelease(columns, NULL);
  return error;
}

/* In the matrix's own order where its slices have fewer level sets than its rows, else in that of the rows' level sets. */
static TrsvError MakeOrdered(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const TrsvCut *c, const int *source)
{
  Sell *const s      = (Sell *)plan->data;
  const int   levels = analysis->statistics.levels;
  int        *first = NULL, *room = NULL;
  TrsvError   error;

  if (levels <= FEW) {
    TrsvCall(TrsvSlicesFind(A, c, levels, &first, &s->slices, &s->levels));
    if (s->levels > levels) {
      TrsvDeviceRelease(first, NULL);
      first = NULL;
    }
  }
  if (first) {
    s->turn          = A->triangle == TRSV_LOWER ? -1 : A->rows - 1;
    s->straight_from = c->rows == A->rows && !plan->places.from;
    s->straight_to   = c->rows == A->rows && !plan->places.to;
  } else {
    s->slices = (c->rows + LANES - 1) / LANES;
    s->levels = levels;
  }
  error = TrsvDeviceRoom(sizeof(int) * (2 * (size_t)c->rows + 2 * (size_t)s->slices + 1), &room, NULL);
  if (!error) {
    int *const position = first ? NULL : room + c->rows + 2 * s->slices + 1;

    if (position) error = TrsvOrderedPositions(A, analysis, c, position, NULL);
    if (!error) error = Make(plan, A, c, source, position, first, room);
    TrsvDeviceRelease(room, NULL);
  }
  if (first) TrsvDeviceRelease(first, NULL);
  return error;
}

static TrsvError SellAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int longest = analysis->statistics.row_max - 1;
  Sell     *s;
  TrsvCut   c;
  TrsvError error;

  TrsvCall(TrsvAlloc(sizeof(*s), &plan->data));
  s        = (Sell *)memset(plan->data, 0, sizeof(*s));
  s->width = longest > NARROW && longest <= WIDE ? WIDE : NARROW;
  error    = TrsvCutRows(A, analysis, s->width, &c);
  if (!error && c.rows) error = MakeOrdered(plan, A, analysis, &c, source);
  TrsvCutFree(&c);
  return error;
}

template <class T, class C> static void Launch(const Sell *s, bool early, const void *b, void *x, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(s->slices, WARPS);

  if (s->width == NARROW) TRSV_LAUNCH_EARLY((sell_solve<T, C, NARROW>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T, C>(s), (const T *)b, (T *)x);
  else TRSV_LAUNCH_EARLY((sell_solve<T, C, WIDE>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T, C>(s), (const T *)b, (T *)x);
}

static TrsvError SellSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Sell *s = (Sell *)plan->data;

  TrsvCall(TrsvSyncStart(&s->rows.sync, stream));
  if (plan->precision == TRSV_FLOAT) (s->base ? Launch<float, short> : Launch<float, int>)(s, plan->early, b, x, stream);
  else (s->base ? Launch<double, short> : Launch<double, int>)(s, plan->early, b, x, stream);
  return TrsvDeviceLaunched("sell_solve");
}

static void SellDestroy(TrsvPlan *plan)
{
  if (plan->data) {
    TrsvDeviceFree(((Sell *)plan->data)->columns);
    TrsvDeviceFree(((Sell *)plan->data)->memory);
  }
  TrsvOrderedDestroy(plan);
}

static void SellDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Sell *s = (const Sell *)plan->data;

  (void)snprintf(line, size, "%d slices, %d level sets%s", s->slices, s->levels, s->base ? ", columns of 16 bits" : "");
}

/* Level sets of slices, where rows stand in chains that a slice holds several of: a chain takes as many level sets of rows as it is long, and one of
   slices. In a grid in the order bmc the longest way through rows passes two chains, in all level sets of a slice's length at most. */
static double Levels(const TrsvStatistics *s)
{
  const double chain = s->chained < 1 ? 1 / (1 - s->chained) : s->rows;

  return chain > LANES / 2 ? s->levels : fmax(s->levels / chain, s->levels - 2 * (chain - 1));
}

/* A launch, a hop for each level set, as a warp waits for all its rows; what crosses the memory, or what one line of L2 gives out where all want
   the same. The constants are those by which the choice between this and the others costs least, 0.2% (geometric mean over 190 triangles on an H200);
   where there are up to 30 level sets they say 17% too much in the mean. */
static double SellPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 4.0e-6, hop = 0.8e-6 * c->hop, same = 2e-11 * c->hop, scattered = 0.65e-12 * TrsvScattered(s) * fmin(s->row_mean - 1, 10);
  const double entry = ((precision == TRSV_FLOAT ? 3.6e-12 : 5.2e-12) + scattered) * c->byte;
  const double levels = s->row_mean > (double)WIDE ? s->levels : Levels(s); /* partial sums part a chain's rows */

  return launch + levels * hop + fmax(entry * (double)s->nnz, same * s->shared * (double)(s->nnz - s->rows));
}

const TrsvAlgorithm TrsvSell = {
  .name       = "sell",
  .source     = "block multicolour solves, slices of 32 rows (SELL): Iwashita et al. (IPDPS 2012, CCF THPC 2020)",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyse    = SellAnalyse,
  .set_values = TrsvOrderedSetValues,
  .solve      = SellSolve,
  .destroy    = SellDestroy,
  .predict    = SellPredict,
  .describe   = SellDescribe,
  .traits     = TRSV_TAKES_PLACES,
};
