/*
   Slices of the rows of a triangle in their own order, on the device (sell.h).

   In a block multicolor ordering the rows of a block depend on each other and on far blocks of other colors, but on no
   other near row. So a position counts as the end of a block if no later row depends on one of the 31 rows before it. A
   slice takes as many whole blocks as fit; otherwise slices of one color would wait for each other in sequence. If
   there is no such position within 32 rows, a slice has 32 rows.

   Mapping: one thread for each row; one thread for each stretch of STRETCH rows, which cuts slices from the first such
     position of its stretch to that of the next stretch; for the level sets a warp for each slice, a lane for each row.
   Memory order: a slice's level set is one word that is its own flag, 0 until it is known.
   Why it ends: a slice waits only for smaller slices; those of other blocks have smaller tickets. Warps of a block meet
     at no barrier after they have the ticket. The spin limit bounds a wait if memory fails, and the search ends when
     one level set exceeds the limit.
   Same bits: results are integers.
*/
#include "device/setup.cuh"
#include "solve/rows/sell.h"

enum {
  STRETCH = 1024
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

/* Counts the slices of a stretch or, if first is not NULL, writes their starts, and clears their level sets. One thread
   for each stretch. */
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

/* level[i] = 1 + the level set of slice i; *most: the largest of them; *stop: 1 if one exceeds the limit, and no warp
   waits any more. */
static __global__ void __launch_bounds__(BLOCK)
  slices_depth(const TriangleView A, const TrsvSplit s, int slices, const int *first, int limit, unsigned *level,
               unsigned *most, unsigned *stop, TrsvSync sync)
{
  TRSV_SHARED(unsigned, start, 2);

  if (threadIdx.x == 0) start[0] = trsv_ticket(sync, &start[1]);
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

static TrsvError FindDepth(const TrsvMatrix *A, const TrsvSplit *s, int slices, const int *first, int limit,
                           unsigned *level, int *depth)
{
  enum {
    MOST = TRSV_STATES,
    STOP,
    STATES
  };
  unsigned    state[STATES], *room;
  TrsvScratch scratch;

  TrsvCall(scratch.zeros(STATES, room));
  TrsvCall(TrsvLaunch(slices_depth, TrsvBlocks(slices, WARPS), BLOCK, 0, NULL, TriangleView(A), *s, slices, first,
                      limit, level, room + MOST, room + STOP, TrsvSyncScratch(room)));
  TrsvCall(TrsvDeviceDownload(state, room, sizeof(state), NULL));
  *depth = state[STOP] ? limit + 1 : (int)state[MOST];
  return TrsvSyncCheck(state, "the search for level sets of slices");
}

TrsvError TrsvSlicesFind(const TrsvMatrix *A, const TrsvSplit *s, int limit, int **first, int *slices, int *depth)
{
  const int    stretches = (s->rows + STRETCH - 1) / STRETCH;
  const size_t rows = (size_t)s->rows, parts = (size_t)stretches;
  TrsvScratch  scratch, result;
  unsigned    *clean, *level;
  int         *reach, *count, *before;

  TrsvCall(scratch.take(rows, reach, (rows + LANES - 1) / LANES, clean, parts, count, parts + 1, before));
  TrsvCall(TrsvLaunchEach(slices_reach, rows, TriangleView(A), *s, reach));
  TrsvCall(TrsvLaunchEach(slices_clean, rows, s->rows, reach, clean));
  TrsvCall(TrsvLaunchEach(slices_cut, parts, s->rows, stretches, clean, count, (const int *)NULL, (int *)NULL,
                          (unsigned *)NULL));
  TrsvCall(TrsvDeviceScan(stretches, count, before));
  TrsvCall(TrsvDeviceDownload(slices, before + stretches, sizeof(int), NULL));
  TrsvCall(result.take((size_t)*slices + 1, *first, (size_t)*slices, level));
  TrsvCall(
    TrsvLaunchEach(slices_cut, (size_t)stretches, s->rows, stretches, clean, (int *)NULL, before, *first, level));
  TrsvCall(FindDepth(A, s, *slices, *first, limit, level, depth));
  result.memory = NULL; /* the caller frees *first */
  return TRSV_SUCCESS;
}
