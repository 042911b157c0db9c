/*
   The plan of sell: the slices and their entries.

   Rows stay in the matrix's own order (sell_slices.cu) if its slices have no more level sets than the rows, and the
   rows have at most SEARCHED_LEVELS; else they are in the order of their level sets. Columns have 16 bits if all fit:
   the n-th entries of a slice are stored relative to the least of them, the base. In grids in multicolor order they
   fit.

   Mapping: one thread for each slice, row or entry; sell_shape: one warp for each slice.
   Memory order: atomics set the bit of each row that another slice depends on; other data cross launches in sequence.
   Why it ends: no thread waits.
   Same bits: integers, each written by one thread, or bits that do not depend on the order of atomics.
*/
#include <limits.h>
#include "device/setup.cuh"
#include "solve/rows/sell.h"

enum {
  SEARCHED_LEVELS = 512 /* with more level sets, slices of the matrix's own order are not tried */
};

/* The rows and the longest row of each slice. */
static __global__ void sell_shapes(int slices, int rows, const int *first, const int *length, TrsvSlice *slice,
                                   int *width)
{
  const int s = trsv_index();

  if (s >= slices) return;
  const int begin = first ? first[s] : LANES * s, end = first ? first[s + 1] : min(begin + LANES, rows);
  int       most = 0;
  for (int p = begin; p < end; p++) most = max(most, length[p]);
  slice[s] = {begin, 0, (unsigned)(end - begin) + ((unsigned)most << TRSV_SHAPE_WIDTH), 0};
  width[s] = most;
}

static __global__ void sell_clear(int n, int *columns, int *source)
{
  const int k = trsv_index();

  if (k >= n) return;
  columns[k] = NONE;
  source[k]  = -1;
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

/* Completes the shape of each slice, and finds the bases. *far becomes 1 if a column is too far from its base for 16
   bits. One warp for each slice. */
static __global__ void sell_shape(int slices, const int *starts, const int *columns, TrsvSlice *slice, int *base,
                                  int *far)
{
  const int s = trsv_index() / LANES, lane = (int)(threadIdx.x % LANES);

  if (s >= slices) return;
  const unsigned shape = slice[s].shape;
  const int      start = starts[s], *entry = columns + start * LANES + lane;
  bool           other = false, follows = false;
  for (int n = 0; n < (int)(shape >> TRSV_SHAPE_WIDTH & 255); n++) {
    const int from = entry[n * LANES], least = INT_MAX - (int)trsv_warp_max(from < 0 ? 0u : (unsigned)(INT_MAX - from));
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

static TrsvError PlaceEntries(TrsvPlan *plan, const TrsvMatrix *A, const TrsvSplit *c, const int *source,
                              const int *position, const int *first, const int *start, int wide)
{
  Sell *const         s = (Sell *)plan->data;
  TrsvLevelCSR *const o = &s->rows;
  TrsvScratch         scratch;
  int                *columns, *base; /* with positions; see MakeColumns */

  TrsvCall(scratch.take(LANES * (size_t)wide, columns, (size_t)wide + 1, base));
  TrsvCall(TrsvDeviceClear(base + wide, sizeof(int), NULL));
  TrsvCall(TrsvLaunchEach(sell_clear, (size_t)o->off, o->off, columns, o->source));
  TrsvCall(TrsvLaunchEach(sell_place, (size_t)c->rows, TriangleView(A), *c, position, first, start, source, s->slices,
                          plan->given, s->slice, columns, *o));
  TrsvCall(
    TrsvLaunchEach(sell_shape, (size_t)s->slices * LANES, s->slices, start, columns, s->slice, base, base + wide));
  return wide ? MakeColumns(plan, wide, columns, base) : TRSV_SUCCESS;
}

static TrsvError MakeSlices(TrsvPlan *plan, const TrsvMatrix *A, const TrsvSplit *c, const int *source,
                            const int *position, const int *first)
{
  Sell *const  s      = (Sell *)plan->data;
  const size_t slices = (size_t)s->slices;
  TrsvScratch  scratch;
  int         *length, *width, *start, wide;

  TrsvCall(scratch.take((size_t)c->rows, length, slices, width, slices + 1, start));
  TrsvCall(TrsvDeviceAlloc(sizeof(TrsvSlice) * slices, &s->slice));
  TrsvCall(TrsvLevelCSRLengths(c, position, length));
  TrsvCall(TrsvLaunchEach(sell_shapes, slices, s->slices, c->rows, first, length, s->slice, width));
  TrsvCall(TrsvDeviceScan(s->slices, width, start));
  TrsvCall(TrsvDeviceDownload(&wide, start + s->slices, sizeof(int), NULL));
  if (wide > INT_MAX / LANES)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "slices of %d columns exceed 32-bit indices", wide);
  TrsvCall(TrsvLevelCSRAlloc(plan, &s->rows, c->rows, wide * LANES, 0, A->diagonal == TRSV_DIAGONAL_STORED, 1));
  plan->bytes += sizeof(TrsvSlice) * slices;
  return PlaceEntries(plan, A, c, source, position, first, start, wide);
}

/* Chooses the order of the rows, and makes their slices. */
static TrsvError OrderRows(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const TrsvSplit *c,
                           const int *source)
{
  Sell *const s      = (Sell *)plan->data;
  const int   levels = analysis->statistics.levels;
  TrsvScratch scratch, slices;
  int        *first = NULL, *position = NULL;

  if (levels <= SEARCHED_LEVELS) {
    TrsvCall(TrsvSlicesFind(A, c, levels, &first, &s->slices, &s->levels));
    slices.memory = first;
    if (s->levels > levels) first = NULL;
  }
  if (first) {
    s->turn          = A->triangle == TRSV_LOWER ? -1 : A->rows - 1;
    s->straight_from = c->rows == A->rows && !plan->given.b_index;
    s->straight_to   = c->rows == A->rows && !plan->given.x_index;
  } else {
    s->slices = (c->rows + LANES - 1) / LANES;
    s->levels = levels;
    TrsvCall(scratch.take((size_t)c->rows, position));
    TrsvCall(TrsvLevelCSRPositions(A, analysis, c, position, NULL));
  }
  return MakeSlices(plan, A, c, source, position, first);
}

TrsvError TrsvSellAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const int   longest = analysis->statistics.row_max - 1;
  Sell       *s;
  TrsvSplit   c;
  TrsvScratch sequence;

  TrsvCall(TrsvAlloc(sizeof(*s), &plan->data));
  s        = (Sell *)plan->data;
  s->width = longest > NARROW && longest <= WIDE ? WIDE : NARROW;
  TrsvCall(TrsvSplitRows(A, analysis, s->width, &c, &sequence.memory));
  return c.rows ? OrderRows(plan, A, analysis, &c, source) : TRSV_SUCCESS;
}
