/*
   sell: a warp for each slice of 32 rows. sell_solve.cuh has the kernel and the layout; this file makes the plan: the
   order of the rows, their slices and entries.

   Rows stay in the matrix's own order if its slices have no more level sets than the rows, and the rows have at most
   SEARCHED_LEVELS; else they are in the order of their level sets. Columns have 16 bits if all fit: the n-th entries of
   a slice are stored relative to the least of them, the base. In grids in multicolor order they fit.

   Slices of the own order: in a block multicolor ordering the rows of a block depend on each other and on far blocks of
   other colors, but on no other near row. So a position counts as the end of a block if no later row depends on one of
   the 31 rows before it. A slice takes as many whole blocks as fit; otherwise slices of one color would wait for each
   other in sequence. If there is no such position within 32 rows, a slice has 32 rows.

   Mapping: one thread for each slice, row or entry; sell_shape: one warp for each slice; slices_cut: one thread for
     each stretch of STRETCH rows, which cuts slices from its first such position to that of the next stretch;
     slices_depth: a warp for each slice, a lane for each row. Memory order: atomics set the bit of each row that
     another slice depends on. A slice's level set is one word that is its own flag, 0 until it is known. Other data
     cross launches in sequence. Why it ends: only slices_depth waits. A slice waits only for smaller slices; those of
     other blocks have smaller tickets. Warps of a block meet at no barrier after they have the ticket. The spin limit
     bounds a wait if memory fails, and the search ends when one level set exceeds the limit. Same bits: integers, each
     written by one thread, or bits that do not depend on the order of atomics.
*/
#include <stdio.h>
#include "device/setup.cuh"
#include "solve/rows/sell_solve.cuh"

extern template TrsvError SellLaunch<TrsvComplex<float>>(const Sell *, bool, const void *, void *, TrsvStream);
extern template TrsvError SellLaunch<TrsvComplex<double>>(const Sell *, bool, const void *, void *, TrsvStream);

enum {
  STRETCH         = 1024,
  SEARCHED_LEVELS = 512 /* with more level sets, slices of the matrix's own order are not tried */
};

/* reach[r]: the distance of the farthest dependency of row r among the LANES - 1 rows before it. */
static __global__ void slices_reach(const TriangleView A, const TrsvSplit s, int *reach)
{
  const int r    = trsv_index();
  int       most = 0;

  if (r >= s.rows) return;
  for (int k = s.offsets[r], end = s.offsets[r + 1]; k < end; k++) {
    const int d = r - split_dependency(s, A.columns, k);

    if (d < LANES) most = max(most, d);
  }
  reach[r] = most;
}

/* clean: a bit for each row; set: a slice may end before the row. */
static __global__ void slices_clean(int rows, const int *reach, unsigned *clean)
{
  const int r  = trsv_index();
  bool      is = r < rows;

  for (int k = 0; k < LANES - 1 && r + k < rows; k++) is = is && reach[r + k] <= k;
  const unsigned word = __ballot_sync(~0u, is);
  if (r % LANES == 0 && r < rows) clean[r / LANES] = word;
}

/* The first cut of a stretch; the number of rows after the last stretch. */
static __device__ int stretch_begin(int rows, const unsigned *clean, int n)
{
  const int from = n * STRETCH;

  for (int w = from / LANES; w < (from + STRETCH) / LANES && w * LANES < rows; w++)
    if (clean[w]) return w * LANES + __ffs((int)clean[w]) - 1;
  return min(from, rows);
}

/* Counts the slices of a stretch or, if first is not NULL, writes their starts and clears their level sets. */
static __global__ void slices_cut(int rows, int stretches, const unsigned *clean, int *count, const int *before,
                                  int *first, unsigned *level)
{
  const int n = trsv_index();

  if (n >= stretches) return;
  const int end = stretch_begin(rows, clean, n + 1);
  int       at = n ? stretch_begin(rows, clean, n) : 0, slices = 0;
  while (at < end) {
    if (first) {
      first[before[n] + slices] = at;
      level[before[n] + slices] = 0;
    }
    slices++;
    if (end - at <= LANES) break;
    /* bit k is set: the slice may end before row at + 1 + k */
    const int      w = (at + 1) / LANES, bit = (at + 1) % LANES;
    const unsigned ends = clean[w] >> bit | (bit ? clean[w + 1] << (LANES - bit) : 0);
    at += ends ? LANES - __clz((int)ends) : (int)LANES;
  }
  if (!first) count[n] = slices;
  else if (n == stretches - 1) first[before[n] + slices] = rows;
}

/* level[i] = 1 + the level set of slice i; *most: the largest of them; *stop: 1 if one exceeds the limit; then no warp
   waits. */
static __global__ void __launch_bounds__(BLOCK)
  slices_depth(const TriangleView A, const TrsvSplit s, int slices, const int *first, int limit, unsigned *level,
               unsigned *most, unsigned *stop, TrsvSync sync)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(sync, gridDim.x, &start[1]);
  __syncthreads();
  const int i = (int)(start[0] * WARPS + threadIdx.x / LANES), lane = (int)(threadIdx.x % LANES);
  if (i >= slices) return;
  const int begin = first[i], r = begin + lane;
  unsigned  largest = 0;
  bool      on      = true;

  if (r < first[i + 1])
    for (int k = s.offsets[r], end = s.offsets[r + 1]; k < end && on; k++) {
      const int q = split_dependency(s, A.columns, k);

      if (q >= begin) continue;
      const unsigned *const word = level + segment(first, slices, q);
      unsigned              found;
      TrsvSpinLimit         spin;
      while (!(found = trsv_load(word)) && (on = !trsv_load(stop) && spin.more(sync))) { }
      largest = max(largest, found);
    }
  largest = trsv_warp_max(largest);
  if (!__all_sync(~0u, on)) largest = (unsigned)limit;
  if (lane) return;
  if (largest >= (unsigned)limit) trsv_store(stop, 1u);
  trsv_store(level + i, largest + 1);
  atomicMax(most, largest + 1);
}

/* Cuts the rows of a sequence that is not empty into slices, in their own order, preferably where no row depends on a
   near row across the cut. first [slices + 1], in memory: the start of each slice. depth: the number of level sets of
   the slices, limit + 1 if it exceeds limit. */
static TrsvError FindSlices(const TrsvMatrix *A, const TrsvSplit *s, int limit, TrsvScratch *memory, int **first,
                            int *slices, int *depth)
{
  enum { MOST = TRSV_STATES, STOP, STATES };
  const int    stretches = (s->rows + STRETCH - 1) / STRETCH;
  const size_t rows = (size_t)s->rows, parts = (size_t)stretches;
  TrsvScratch  scratch;
  unsigned    *clean, *level, state[STATES], *room;
  int         *reach, *count, *before;

  TrsvCall(scratch.take(rows, reach, (rows + LANES - 1) / LANES, clean, parts, count, parts + 1, before,
                        (size_t)STATES, room));
  TrsvCall(TrsvLaunchEach(slices_reach, rows, TriangleView(A), *s, reach));
  TrsvCall(TrsvLaunchEach(slices_clean, rows, s->rows, reach, clean));
  TrsvCall(TrsvLaunchEach(slices_cut, parts, s->rows, stretches, clean, count, (const int *)NULL, (int *)NULL,
                          (unsigned *)NULL));
  TrsvCall(TrsvDeviceScan(stretches, count, before));
  TrsvCall(TrsvDeviceDownload(slices, before + stretches, sizeof(int), NULL));
  TrsvCall(memory->take((size_t)*slices + 1, *first, (size_t)*slices, level));
  TrsvCall(TrsvLaunchEach(slices_cut, parts, s->rows, stretches, clean, (int *)NULL, before, *first, level));
  TrsvCall(TrsvDeviceClear(room, sizeof(state), NULL));
  TrsvCall(TrsvLaunch(slices_depth, TrsvBlocks(*slices, WARPS), BLOCK, 0, NULL, TriangleView(A), *s, *slices, *first,
                      limit, level, room + MOST, room + STOP, TrsvSyncScratch(room)));
  TrsvCall(TrsvDeviceDownload(state, room, sizeof(state), NULL));
  *depth = state[STOP] ? limit + 1 : (int)state[MOST];
  return TrsvSyncCheck(state, "the search for level sets of slices");
}

/* The entries of the row at position p. length NULL: rows are in their own order. */
static __device__ int length_at(const TrsvSplit &c, const int *length, int p)
{
  return length ? length[p] : c.offsets[p + 1] - c.offsets[p];
}

/* The rows and the longest row of each slice. */
static __global__ void sell_shapes(int slices, const TrsvSplit c, const int *first, const int *length, TrsvSlice *slice,
                                   int *width)
{
  const int s = trsv_index();

  if (s >= slices) return;
  const int begin = first ? first[s] : LANES * s, end = first ? first[s + 1] : min(begin + LANES, c.rows);
  int       most = 0;
  for (int p = begin; p < end; p++) most = max(most, length_at(c, length, p));
  slice[s] = {begin, 0, (unsigned)(end - begin) + ((unsigned)most << TRSV_SHAPE_WIDTH), 0};
  width[s] = most;
}

/* Writes the entries of each row of the sequence, and marks the rows on which other slices depend. */
static __global__ void sell_place(const TriangleView A, const TrsvSplit c, const int *position, const int *first,
                                  const int *start, const int *source, int slices, const TrsvPermutation places,
                                  TrsvSlice *slice, int *columns, TrsvLevelCSR o)
{
  const int r = trsv_index();

  if (r >= c.rows) return;
  const int p = position ? position[r] : r, s = first ? segment(first, slices, p) : p / LANES, begin = slice[s].first;
  int       to = start[s] * LANES + p - begin;

  for (int own = 1; own >= 0; own--) /* the slice's own first */
    for (int k = c.offsets[r], end = c.offsets[r + 1]; k < end; k++) {
      const int d = split_dependency(c, A.columns, k), q = position ? position[d] : d;

      if ((q >= begin) != own) continue;
      columns[to]  = own ? ~(q - begin) : q;
      o.source[to] = split_source(source, c.items[k]);
      to += LANES;
      if (own) continue;
      const int t = first ? segment(first, slices, q) : q / LANES;
      atomicOr(&slice[t].exported, 1u << (q - slice[t].first));
    }
  level_csr_row(A, c.row[r], source, places, p, o);
}

/* Completes the entries and the shape of each slice, and finds the bases. *far becomes 1 if a column is too far from
   its base for 16 bits. One warp for each slice. */
static __global__ void sell_shape(int slices, const TrsvSplit c, const int *length, const int *starts, TrsvSlice *slice,
                                  int *columns, int *source, int *base, int *far)
{
  const int s = trsv_index() / LANES, lane = (int)(threadIdx.x % LANES);

  if (s >= slices) return;
  const unsigned shape = slice[s].shape;
  const int      start = starts[s], own = lane < (int)(shape & 255) ? length_at(c, length, slice[s].first + lane) : 0;
  bool           other = false, follows = false;
  for (int n = 0; n < (int)(shape >> TRSV_SHAPE_WIDTH & 255); n++) {
    const int at = (start + n) * LANES + lane;

    if (n >= own) columns[at] = NONE, source[at] = -1;
    const int from = columns[at], least = INT_MAX - (int)trsv_warp_max(from < 0 ? 0u : (unsigned)(INT_MAX - from));
    const unsigned most = trsv_warp_max(from < 0 ? 0u : (unsigned)from);

    if (n) other = other || sell_own(from);
    else follows = sell_own(from), other = follows && ~from != lane - 1;
    if (lane) continue;
    base[start + n] = least;
    if (most > (unsigned)least && most - (unsigned)least > SHRT_MAX) *far = 1;
  }
  unsigned chains = __ballot_sync(~0u, follows), turns = 0;
  other = __any_sync(~0u, other);
  for (; chains; chains &= chains << 1) turns++;
  if (lane) return;
  slice[s].start = start;
  slice[s].shape = shape | (other ? (unsigned)TRSV_SHAPE_OWN : turns << TRSV_SHAPE_TURNS);
}

/* Columns and bases of a plan, from columns with positions; base NULL: columns of 32 bits. */
template <class C> static __global__ void sell_columns(int off, const int *from, const int *base, int *plan_base,
                                                       C *columns)
{
  const int k = trsv_index();

  if (k >= off) return;
  columns[k] = (C)(base && from[k] >= 0 ? from[k] - base[k / LANES] : from[k]);
  if (base && k % LANES == 0) plan_base[k / LANES] = base[k / LANES];
}

/* Allocates and writes the columns of a plan. base [wide + 1]: the bases, then 1 if columns do not fit into 16 bits. */
static TrsvError MakeColumns(TrsvPlan *plan, int wide, const int *from, const int *base)
{
  Sell *const  s   = (Sell *)plan->data;
  const size_t off = (size_t)s->rows.off;
  int          far;

  TrsvCall(TrsvDeviceDownload(&far, base + wide, sizeof(far), NULL));
  const size_t bytes = far ? sizeof(int) * off : sizeof(short) * off + sizeof(int) * (size_t)wide;
  TrsvCall(TrsvDeviceAlloc(bytes, &s->columns));
  plan->bytes += bytes;
  if (far)
    return TrsvLaunchEach(sell_columns<int>, off, s->rows.off, from, (const int *)NULL, (int *)NULL, (int *)s->columns);
  s->base = (int *)((short *)s->columns + off);
  return TrsvLaunchEach(sell_columns<short>, off, s->rows.off, from, base, s->base, (short *)s->columns);
}

static TrsvError MakeSlices(TrsvPlan *plan, const TrsvMatrix *A, const TrsvSplit *c, const int *source,
                            const int *position, const int *length, const int *first)
{
  Sell *const         s      = (Sell *)plan->data;
  TrsvLevelCSR *const o      = &s->rows;
  const size_t        slices = (size_t)s->slices;
  TrsvScratch         shapes, entries;
  int                *width, *start, wide, *columns, *base; /* columns with positions; see MakeColumns */

  TrsvCall(shapes.take(slices, width, slices + 1, start));
  TrsvCall(TrsvDeviceAlloc(sizeof(TrsvSlice) * slices, &s->slice));
  TrsvCall(TrsvLaunchEach(sell_shapes, slices, s->slices, *c, first, length, s->slice, width));
  TrsvCall(TrsvDeviceScan(s->slices, width, start));
  TrsvCall(TrsvDeviceDownload(&wide, start + s->slices, sizeof(int), NULL));
  if (wide > INT_MAX / LANES) return TrsvFail(TRSV_ERR_UNSUPPORTED, "slices of %d columns exceed 32-bit indices", wide);
  TrsvCall(TrsvLevelCSRAlloc(plan, c->rows, wide * LANES, 0, A->diagonal == TRSV_DIAGONAL_STORED, 1));
  plan->bytes += sizeof(TrsvSlice) * slices;
  TrsvCall(entries.take(LANES * (size_t)wide, columns, (size_t)wide + 1, base));
  TrsvCall(TrsvDeviceClear(base + wide, sizeof(int), NULL));
  TrsvCall(TrsvLaunchEach(sell_place, (size_t)c->rows, TriangleView(A), *c, position, first, start, source, s->slices,
                          plan->given, s->slice, columns, *o));
  TrsvCall(TrsvLaunchEach(sell_shape, slices * LANES, s->slices, *c, length, start, s->slice, columns, o->source, base,
                          base + wide));
  return wide ? MakeColumns(plan, wide, columns, base) : TRSV_SUCCESS;
}

/* Splits long rows, chooses the order of the rows, and makes their slices. */
static TrsvError SellAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int   longest = analysis->statistics.row_max - 1, levels = analysis->statistics.levels;
  TrsvSplit   c;
  TrsvScratch sequence, slices, positions;
  int        *first = NULL, *position = NULL, *length = NULL;

  TrsvCall(TrsvAlloc(sizeof(Sell), &plan->data));
  Sell *const s = (Sell *)plan->data;
  s->width      = longest > NARROW && longest <= WIDE ? WIDE : NARROW;
  TrsvCall(TrsvSplitRows(A, analysis, s->width, &c, &sequence.memory));
  if (!c.rows) return TRSV_SUCCESS;
  if (levels <= SEARCHED_LEVELS) {
    TrsvCall(FindSlices(A, &c, levels, &slices, &first, &s->slices, &s->levels));
    if (s->levels > levels) first = NULL;
  }
  if (first) {
    s->turn          = A->triangle == TRSV_LOWER ? -1 : A->rows - 1;
    s->straight_from = c.rows == A->rows && !plan->given.b_index;
    s->straight_to   = c.rows == A->rows && !plan->given.x_index;
  } else {
    s->slices = (c.rows + LANES - 1) / LANES;
    s->levels = levels;
    TrsvCall(positions.take((size_t)c.rows, position, (size_t)c.rows, length));
    TrsvCall(TrsvLevelCSRPositions(A, analysis, &c, position, length, NULL));
  }
  return MakeSlices(plan, A, &c, source, position, length, first);
}

static TrsvError SellSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Sell *s = (Sell *)plan->data;

  TrsvCall(TrsvSyncStart(&s->rows.sync, stream));
  return TRSV_BY_PRECISION(plan->precision, SellLaunch)(s, plan->early, b, x, stream);
}

static void SellDestroy(TrsvPlan *plan)
{
  if (plan->data) {
    TrsvDeviceFree(((Sell *)plan->data)->columns);
    TrsvDeviceFree(((Sell *)plan->data)->slice);
  }
  TrsvLevelCSRDestroy(plan);
}

static void SellDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Sell *s = (const Sell *)plan->data;

  (void)snprintf(line, size, "%d slices, %d level sets%s", s->slices, s->levels, s->base ? ", columns of 16 bits" : "");
}

TRSV_ALGORITHM(TrsvSell) = {
  .name       = "sell",
  .summary    = "a warp for each slice of 32 rows (SELL)",
  .source     = "block multicolor solves: Iwashita et al. (IPDPS 2012, CCF THPC 2020)",
  .citation   = TRSV_CITE_BLOCK_MULTICOLOR,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = SellAnalyze,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = SellSolve,
  .destroy    = SellDestroy,
  .predict    = TrsvModelSell,
  .describe   = SellDescribe,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_TAKES_COMPLEX,
};
