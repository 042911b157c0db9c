/*
   sell: a warp for each slice of 32 rows, whose own dependencies are shuffled; for factors of few level sets, those of a block multicolour
   ordering above all.

   Source: block multicolour ordering, and its storage by slices: Iwashita, Nakashima, Takahashi (IPDPS 2012), Section IV, and its
   hierarchical successor, Iwashita, Li, Fukaya (ICPP 2020), which has the entries of a slice side by side (SELL: Kreutzer et al., SIAM J.
   Sci. Comput. 2014). What is ours: no barrier between colours, but the value as its own flag, and only for rows that another slice waits
   for; blocks are not told but found (sell_slices.cu), several to a slice, and solved by shuffles. So of the level sets of a block
   multicolour ordering, colours times what a block has, only the colours are hops through L2. Where slices of the matrix's own order have
   no fewer level sets than its rows, the rows are taken in the order of these, as `thread` does; long rows are cut as there (ordered.h).

   Mapping: the block of ticket t solves slices t * WARPS onwards, a warp each, a lane for each row.
   Memory order: a solution is handed over to another warp in one word that is its own flag; nothing else crosses warps.
   Why it ends: a slice waits for smaller slices only. Those of other blocks have smaller tickets, so their blocks have started; warps of a
   block share no barrier once they have the ticket. All that comes from other slices is there before the slice's own rows are solved,
   in as many turns as its longest chain is long, 32 at most. Patience bounds a wait if memory fails.
   Same bits: each row is one lane's sum, over other slices first, in the order of its entries.
*/
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pattern.cuh"
#include "sell.h"

enum {
  BLOCK  = 256,
  LANES  = TRSV_LANES,
  WARPS  = BLOCK / LANES,
  NARROW = 4, /* entries of a row that a lane has in registers */
  WIDE   = 6,
  FEW    = 512, /* level sets up to which slices are looked for */
  NONE   = INT_MIN /* where an entry's position would stand: >= 0 of another slice's row, ~lane of this slice's, or none */
};

/* The data of a plan. */
typedef struct {
  TrsvOrdered rows; /* columns is what a lane is told of each entry */
  TrsvSlice  *slice;
  int         slices, width, depth, levels; /* depth: level sets of the slices, 0 where rows are in the order of their level sets */
  int         straight_from, straight_to, turn; /* as a SellView has it */
  void       *memory;
  int rank;
} Sell;

template <class T> struct SellView {
  int              slices;
  const TrsvSlice *slice;
  OrderedView<T>   A;
  const int       *from, *to; /* NULL where every row's place is its position, or that counted from the end */
  int              turn;      /* -1, or the last place where it is counted from the end */

  SellView(const Sell *s) : slices(s->slices), slice(s->slice), A(&s->rows), from(s->straight_from ? NULL : A.from), to(s->straight_to ? NULL : A.to), turn(s->turn) { }

  __device__ __forceinline__ int place(const int *places, int p) const { return places ? places[p] : turn < 0 ? p : turn - p; }
};

/* Waits for what is not ready yet. All lanes poll one and the same word, that of the last position, which is likely the last to be ready; so a
   warp that is early troubles nobody. NaN in place of what never comes. */
template <class T, int WIDTH> static __device__ __forceinline__ void wait_for_all(const OrderedView<T> &A, const T *now, const int *from, T *solution)
{
  TrsvPatience patience;
  bool         more = true;

  for (;;) {
    int last = -1;

#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (from[n] >= 0 && !trsv_is_ready(solution[n])) {
        if (!more) solution[n] = trsv_nan<T>();
        else last = max(last, from[n]);
      }
    const unsigned found = trsv_warp_max((unsigned)(last + 1));
    if (!found) return;
    while (more && !trsv_is_ready(trsv_load(now + found - 1))) more = patience.more(A.sync);
#pragma unroll
    for (int n = 0; n < WIDTH; n++)
      if (from[n] >= 0 && !trsv_is_ready(solution[n])) solution[n] = trsv_load(now + from[n]);
  }
}

/* What is known of a slice's row before anything is solved. */
template <int WIDTH> struct Row {
  int      p, from[WIDTH], source; /* its position; where its entries come from; where its b is, -1 for none */
  int      start;
  unsigned shape;
  bool     exported;

  template <class T, int STREAM> __device__ __forceinline__ void fetch(const SellView<T> &S, const TrsvSlice &slice, int lane)
  {
    p        = slice.first + lane;
    shape    = slice.shape;
    start    = slice.start * LANES + lane;
    exported = slice.exported >> lane & 1;
    source   = lane < rows() ? S.place(S.from, p) : -1;
#pragma unroll
    for (int n = 0; n < WIDTH; n++) from[n] = n < width() ? (STREAM ? __ldcs(S.A.columns + start + n * LANES) : S.A.columns[start + n * LANES]) : NONE;
  }
  __device__ __forceinline__ int  rows() const { return (int)(shape & 255); }
  __device__ __forceinline__ int  width() const { return (int)(shape >> 8 & 255); }
  __device__ __forceinline__ bool own(int n) const { return shape >> (16 + n) & 1; }
};

template <class T, int WIDTH, int STREAM> static __global__ void __launch_bounds__(BLOCK, 4) sell_solve(const SellView<T> S, int each, const T *b, T *x)
{
  TRSV_SHARED(unsigned, start, 2);
  const OrderedView<T> &A = S.A;

  if (threadIdx.x == 0) start[0] = trsv_ticket(A.sync, &start[1]);
  __syncthreads();
  const int      lane = (int)(threadIdx.x % LANES), end = min(((int)start[0] + 1) * WARPS * each, S.slices);
  const unsigned near = trsv_shared_address() + (unsigned)sizeof(T) * (threadIdx.x - (unsigned)lane), own = near + (unsigned)sizeof(T) * (unsigned)lane; /* the warp's solutions */
  T             *now = A.words + (start[1] ? A.rows : 0), *then = A.words + (start[1] ? 0 : A.rows);
  int            s = (int)start[0] * WARPS * each + (int)(threadIdx.x / LANES);
  if (s >= end) return;
  TrsvSlice      slice = S.slice[s];
  Row<WIDTH>     row, next;

  trsv_keep(now);
  trsv_keep(then);
  next.template fetch<T, STREAM>(S, slice, lane);
  if (s + WARPS < end) slice = S.slice[s + WARPS];
  trsv_wait_for_previous(); /* all before this, no launch changes */
  trsv_let_next_start();
  for (; s < end; s += WARPS) {
    T value[WIDTH], solution[WIDTH];

    row = next;
#pragma unroll
    for (int n = 0; n < WIDTH; n++) solution[n] = row.from[n] >= 0 ? trsv_load(now + row.from[n]) : 0;
    T       sum     = row.source >= 0 ? b[row.source] : 0;
    const T inverse = A.inverse && lane < row.rows() ? A.inverse[row.p] : 1;
#pragma unroll
    for (int n = 0; n < WIDTH; n++) value[n] = n < row.width() ? (STREAM ? __ldcs(A.values + row.start + n * LANES) : A.values[row.start + n * LANES]) : 0;
    if (s + WARPS < end) next.template fetch<T, STREAM>(S, slice, lane);
    if (s + 2 * WARPS < end) slice = S.slice[s + 2 * WARPS];
    if (row.exported) then[row.p] = trsv_not_ready<T>();

    bool maybe = true; /* are they all ready? */
#pragma unroll
    for (int n = 0; n < WIDTH; n++) maybe = maybe && trsv_mark_of(solution[n]) != trsv_mark<T>();
    if (!__all_sync(~0u, maybe)) wait_for_all<T, WIDTH>(A, now, row.from, solution);

    unsigned waits = 0; /* lanes that this one waits for */
#pragma unroll
    for (int n = 0; n < WIDTH; n++) {
      if (row.from[n] >= 0) sum = fma(-value[n], solution[n], sum);
      waits |= row.from[n] < 0 && row.from[n] != NONE ? 1u << (~row.from[n] & (LANES - 1)) : 0;
    }
    T        solved = sum * inverse;
    unsigned ready  = __ballot_sync(~0u, !waits);
    if (ready != ~0u) {
      const bool many = row.own(3);

      trsv_shared_store(own, solved);
      for (int turn = 1; ready != ~0u && turn < LANES; turn++) {
        trsv_warp_sync();
        if (waits && !(waits & ~ready)) {
#pragma unroll
          for (int n = 0; n < WIDTH; n++)
            if ((n < 3 || many) && row.from[n] < 0 && row.from[n] != NONE) sum = fma(-value[n], trsv_shared_load<T>(near + (unsigned)sizeof(T) * (unsigned)~row.from[n]), sum);
          solved = sum * inverse;
          waits  = 0;
          trsv_shared_store(own, solved);
        }
        ready = __ballot_sync(~0u, !waits);
      }
    }
    if (!trsv_is_ready(solved)) solved = trsv_nan<T>();
    if (row.exported) trsv_store(now + row.p, solved);
    const int target = S.to == S.from ? row.source : lane < row.rows() ? S.place(S.to, row.p) : -1;
    if (target >= 0) x[target] = solved;
  }
}

/* One thread for each slice: its rows and its longest. */
static __global__ void sell_shapes(int slices, int rows, const int *first, const int *length, TrsvSlice *slice, int *width)
{
  const int s = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (s >= slices) return;
  const int begin = first ? first[s] : LANES * s, end = first ? first[s + 1] : min(begin + LANES, rows);
  int       most = 0;
  for (int p = begin; p < end; p++) most = max(most, length[p]);
  slice[s] = {begin, 0, (unsigned)(end - begin) + 256u * (unsigned)most, 0};
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
static __global__ void sell_place(const Pattern A, const TrsvCut c, const int *position, const int *first, const int *source, int slices, const TrsvPlaces places, TrsvSlice *slice, TrsvOrdered o)
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
      o.columns[to] = own ? ~(q - begin) : q;
      o.source[to]  = item < 0 ? -1 : source ? source[item] : item;
      if (own) atomicOr(&slice[s].shape, 1u << (16 + (to / LANES - slice[s].start)));
      to += LANES;
      if (own) continue;
      const int t = first ? segment(first, slices, q) : q / LANES;
      atomicOr(&slice[t].exported, 1u << (q - slice[t].first));
    }
  o.to[p] = row >= 0 && places.to ? places.to[row] : row;
  if (o.from != o.to) o.from[p] = row >= 0 && places.from ? places.from[row] : row;
  o.source[o.off + p] = diagonal < 0 ? -1 : source ? source[diagonal] : diagonal;
}

static unsigned Blocks(int n) { return ((unsigned)n + BLOCK - 1) / BLOCK; }

/* room [rows + 2 * slices + 1]: lengths of rows, widths of slices and their scan */
static TrsvError Make(TrsvPlan *plan, const TrsvMatrix *A, const TrsvCut *c, const int *source, const int *position, const int *first, int *room)
{
  Sell *const        s     = (Sell *)plan->data;
  TrsvOrdered *const o     = &s->rows;
  int *const         width = room + c->rows, *const start = width + s->slices;
  int                columns;

  TrsvCall(TrsvDeviceAlloc(sizeof(TrsvSlice) * (size_t)s->slices, &s->memory));
  s->slice = (TrsvSlice *)s->memory;
  TRSV_LAUNCH(sell_lengths, Blocks(c->rows), BLOCK, 0, (TrsvStream)NULL, *c, position, room);
  TrsvCall(TrsvDeviceLaunched("sell_lengths"));
  TRSV_LAUNCH(sell_shapes, Blocks(s->slices), BLOCK, 0, (TrsvStream)NULL, s->slices, c->rows, first, room, s->slice, width);
  TrsvCall(TrsvDeviceLaunched("sell_shapes"));
  TrsvCall(TrsvDeviceScan(s->slices, width, start));
  TrsvCall(TrsvDeviceDownload(&columns, start + s->slices, sizeof(int), NULL));
  if (columns > INT_MAX / LANES) return TrsvFail(TRSV_ERR_UNSUPPORTED, "slices of %d entries are too many for 32-bit indices", columns);
  TRSV_LAUNCH(sell_starts, Blocks(s->slices), BLOCK, 0, (TrsvStream)NULL, s->slices, start, s->slice);
  TrsvCall(TrsvDeviceLaunched("sell_starts"));
  TrsvCall(TrsvOrderedAlloc(plan, o, c->rows, columns * LANES, A->diagonal == TRSV_DIAGONAL_STORED, 1));
  plan->bytes += sizeof(TrsvSlice) * (size_t)s->slices;
  if (o->off) {
    TRSV_LAUNCH(sell_none, Blocks(o->off), BLOCK, 0, (TrsvStream)NULL, o->off, o->columns, o->source);
    TrsvCall(TrsvDeviceLaunched("sell_none"));
  }
  TRSV_LAUNCH(sell_place, Blocks(c->rows), BLOCK, 0, (TrsvStream)NULL, Pattern(A), *c, position, first, source, s->slices, plan->places, s->slice, *o);
  return TrsvDeviceLaunched("sell_place");
}

/* In the matrix's own order where its slices have fewer level sets than its rows, else in that of the rows' level sets. */
static TrsvError MakeOrdered(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const TrsvCut *c, const int *source)
{
  Sell *const s = (Sell *)plan->data;
  const int   levels = analysis->statistics.levels, most = levels < FEW ? levels : 0;
  int        *first = NULL, *room = NULL;
  TrsvError   error;

  if (most) {
    TrsvCall(TrsvSlicesFind(A, c, most, &first, &s->slices, &s->depth));
    if (s->depth > most) {
      TrsvDeviceUnstage(first, NULL);
      first = NULL;
    }
  }
  if (first) {
    s->turn          = A->triangle == TRSV_LOWER ? -1 : A->rows - 1;
    s->straight_from = c->rows == A->rows && !plan->places.from;
    s->straight_to   = c->rows == A->rows && !plan->places.to;
  } else {
    s->slices = (c->rows + LANES - 1) / LANES;
    s->depth  = 0;
  }
  if (s->depth) s->levels = s->depth;
  error = TrsvDeviceRoom(sizeof(int) * (2 * (size_t)c->rows + 2 * (size_t)s->slices + 1), &room, NULL);
  if (!error) {
    int *const position = first ? NULL : room + c->rows + 2 * s->slices + 1;

    if (position) error = TrsvOrderedPositions(A, analysis, c, position);
    if (!error) error = Make(plan, A, c, source, position, first, room);
    TrsvDeviceUnstage(room, NULL);
  }
  if (first) TrsvDeviceUnstage(first, NULL);
  return error;
}

static TrsvError SellAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  Sell     *s;
  TrsvCut   c;
  TrsvError error;

  TrsvCall(TrsvAlloc(sizeof(*s), &plan->data));
  s        = (Sell *)memset(plan->data, 0, sizeof(*s));
  s->width = analysis->statistics.row_max <= 1 + NARROW || analysis->statistics.row_max > 1 + WIDE ? NARROW : WIDE;
  s->levels = analysis->statistics.levels;
  if (getenv("SELL_RANK")) plan->rank = atoi(getenv("SELL_RANK"));
  if (plan->rank == 2) s->width = 4;
  if (plan->rank == 3) s->width = 6;
  s->rank = plan->rank;
  error    = TrsvCutRows(A, analysis, s->width, &c);
  if (!error && c.rows) error = MakeOrdered(plan, A, analysis, &c, source);
  TrsvCutFree(&c);
  return error;
}

/* How many slices a warp solves one after the other, loading the next while it works: several where level sets are so wide that nobody waits for them. */
static const int many = 20000, wide = 4096;

template <class T> static void Launch(const Sell *s, bool early, const void *b, void *x, TrsvStream stream)
{
  const int      each = s->rank == 4 ? 1 : s->slices >= many && s->slices >= wide * s->levels ? 3 : 1;
  const unsigned grid = (unsigned)((s->slices + WARPS * each - 1) / (WARPS * each));

  if (s->rank == 1) {
    if (s->width == NARROW) TRSV_LAUNCH_EARLY((sell_solve<T, NARROW, 1>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T>(s), each, (const T *)b, (T *)x);
    else TRSV_LAUNCH_EARLY((sell_solve<T, WIDE, 1>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T>(s), each, (const T *)b, (T *)x);
  } else {
    if (s->width == NARROW) TRSV_LAUNCH_EARLY((sell_solve<T, NARROW, 0>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T>(s), each, (const T *)b, (T *)x);
    else TRSV_LAUNCH_EARLY((sell_solve<T, WIDE, 0>), early, 1, grid, BLOCK, sizeof(T) * BLOCK, stream, SellView<T>(s), each, (const T *)b, (T *)x);
  }
}

static TrsvError SellSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Sell *s = (Sell *)plan->data;

  TrsvCall(TrsvSyncStart(&s->rows.sync, stream));
  if (plan->precision == TRSV_FLOAT) Launch<float>(s, plan->early, b, x, stream);
  else Launch<double>(s, plan->early, b, x, stream);
  return TrsvDeviceLaunched("sell_solve");
}

static void SellDestroy(TrsvPlan *plan)
{
  if (plan->data) TrsvDeviceFree(((Sell *)plan->data)->memory);
  TrsvOrderedDestroy(plan);
}

static void SellDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Sell *s = (const Sell *)plan->data;

  (void)snprintf(line, size, "r%d w%d %d slices in %d level sets", s->rank, s->width, s->slices, s->depth);
}

static double SellPredict(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double launch = 4.0e-6, hop = 0.30e-6 * c->hop, crowd = 0.04e-6 * c->hop, entry = (precision == TRSV_FLOAT ? 0.7e-11 : 1e-11) * c->byte;

  return launch + s->levels * (hop + crowd * log10(s->level_mean + 1)) + entry * (double)s->nnz;
}

const TrsvAlgorithm TrsvSell = {"sell", "slices of 32 rows (SELL) of a block multicolour ordering, Iwashita et al. (IPDPS 2012, ICPP 2020)", TRSV_DEVICE, TRSV_DEVICE, SellAnalyse, TrsvOrderedSetValues, SellSolve, SellDestroy, SellPredict, 5, SellDescribe, TRSV_TAKES_PLACES, NULL};
