/*
   Heights of the positions of a triangle, for schedules of the algorithm `chunk`. The height of a position is the
   length of the longest chain of dependents after it.

   If the levels of the matrix's other triangle are the heights, they are copied (heights.cu); otherwise the kernel
   below finds the heights. They do not depend on chunks, so all settings share them. (Levels of this triangle instead
   of heights make schedules of irregular matrices longer.)

   Mapping: one thread for each position, from the last level set to the first; a whole warp polls for a thread with
     many dependents. Each warp takes one ticket after another, of 32 positions. The grid has no more warps than keep
     enough positions in flight, so that another launch runs beside it (lockstep.cu). Each entry has a word, to which
     the dependent writes its height; the words of a position's dependents are contiguous.
   Memory order: such a word is its own flag.
   Why it ends: a position waits for positions of later level sets. They are done, or belong to warps that have started.
     In each turn of the loop every lane of a warp polls and stores if it can, before the warp votes.
   Same bits: the order of a position's words depends on the run, their maximum does not.
   Source: this project.
*/
#include "solve/schedule/chunk_graph.cuh"

static const unsigned UNKNOWN = 0xffffffffu; /* a height that no thread has written yet */

/* Clears the words of the launch, counts [n + 1] and words [entries]. */
static __global__ void chunk_clear(int n, int entries, unsigned *launch, int *counts, unsigned *words)
{
  const int i = trsv_index();

  if (i < CHUNK_WORDS) launch[i] = 0;
  if (i <= n) counts[i] = 0;
  if (i < entries) words[i] = UNKNOWN;
}

/* count: the dependents of each position; mail [entries]: the number of each entry among those of its column. */
static __global__ void chunk_count(const ChunkGraph G, int *count, int *mail)
{
  const int p = trsv_index();

  if (p >= G.n) return;
  const ChunkRow row = chunk_row(G, p);
  for (int k = row.begin; k < row.begin + row.n; k++) mail[k] = atomicAdd(count + chunk_position(G, k), 1);
}

/* Finds the heights of a warp's positions; p: this thread's position, or -1. */
static __device__ __forceinline__ void height_find(const ChunkGraph &G, const TrsvSync &sync, int p, int lane,
                                                   const int *starts, const int *mail, unsigned *words, int *height)
{
  enum {
    POLLS      = 8,   /* dependents that a thread polls together */
    ALONE_MAX  = 128, /* remaining dependents that a thread polls without the rest of its warp, at most */
    LANE_POLLS = 8    /* dependents that each lane polls together if the whole warp polls */
  };
  bool           done = p < 0;
  const ChunkRow row  = done ? ChunkRow{0, 0} : chunk_row(G, p);
  int            next = done ? 0 : starts[p], to[CHUNK_ITEMS]; /* to: the words that wait for the height */
  const int      end  = done ? 0 : starts[p + 1];
  unsigned       h    = 0;
  TrsvSpinLimit  spin;

#pragma unroll
  for (int u = 0; u < CHUNK_ITEMS; u++)
    to[u] = u < row.n ? starts[chunk_position(G, row.begin + u)] + mail[row.begin + u] : 0;
  do {
    /* the whole warp polls for threads with many remaining dependents, one after the other */
    for (unsigned asking = __ballot_sync(0xffffffffu, !done && end - next > ALONE_MAX); asking; asking &= asking - 1) {
      const int l = __ffs((int)asking) - 1, from = __shfl_sync(0xffffffffu, next, l),
                n = min(__shfl_sync(0xffffffffu, end, l) - from, 32 * LANE_POLLS);
      unsigned word[LANE_POLLS], most = 0;
      bool     there = true;

#pragma unroll
      for (int u = 0; u < LANE_POLLS; u++)
        word[u] = 32 * u + lane < n ? trsv_load(words + from + 32 * u + lane) : 0; /* 0 does not change the maximum */
#pragma unroll
      for (int u = 0; u < LANE_POLLS; u++) {
        there = there && word[u] != UNKNOWN;
        most  = max(most, word[u] + 1);
      }
      most = trsv_warp_max(most);
      if (__all_sync(0xffffffffu, there) && lane == l) {
        h = max(h, most);
        next += n;
      }
    }
    unsigned word[POLLS];
    bool     all = true;

    /* no branch depends on the lane, so the warp stays together */
#pragma unroll
    for (int u = 0; u < POLLS; u++) word[u] = trsv_load_if(words + next + u, next + u < end && !done, UNKNOWN);
#pragma unroll
    for (int u = 0; u < POLLS; u++) {
      all = all && (next + u >= end || word[u] != UNKNOWN);
      h   = max(h, word[u] + 1); /* 0 of an unknown word */
    }
    if (!done) {
      if (all) next += POLLS, spin = TrsvSpinLimit();
      done = next >= end || (!all && !spin.more(sync));
      if (done) {
#pragma unroll
        for (int u = 0; u < CHUNK_ITEMS; u++)
          if (u < row.n) trsv_store(words + to[u], h);
        height[p] = (int)h;
      }
    }
  } while (!__all_sync(0xffffffffu, done));
}

static __global__ void __launch_bounds__(CHUNK_BLOCK)
  chunk_heights(const ChunkGraph G, const TrsvSync sync, const int *levels, const int *starts, const int *mail,
                unsigned *words, int *height)
{
  const int lane = (int)(threadIdx.x % 32);

  for (;;) {
    const unsigned ticket = __shfl_sync(0xffffffffu, lane ? 0 : atomicAdd(sync.ticket, 1u), 0);
    const int      i      = G.n - 1 - (int)(ticket * 32) - lane;

    if (ticket * 32 >= (unsigned)G.n) return;
    const int p = i < 0 || !levels ? i : G.lower ? levels[i] : G.n - 1 - levels[i];
    height_find(G, sync, p, lane, starts, mail, words, height);
  }
}

/* Positions in flight, as in thread_solve.cuh. */
static const double level_sets_ahead = 16;
static const double blocks_at_most   = 2;

/* Launches the search for heights. */
static TrsvError SearchHeights(const TrsvAnalysis *analysis, const ChunkHeights *o)
{
  const ChunkGraph &G      = o->graph;
  const int *levels = G.owner ? NULL : analysis->order; /* NULL after a split: from the last position to the first */
  unsigned         *words;
  int              *starts, *mail, multiprocessors;
  TrsvScratch       scratch;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double   wanted = level_sets_ahead * analysis->statistics.level_mean / ((double)CHUNK_BLOCK * multiprocessors);
  const unsigned blocks = (unsigned)(multiprocessors * max(1, (int)min(wanted, blocks_at_most)));
  TrsvCall(scratch.take((size_t)G.n + 1, starts, (size_t)o->entries, mail, (size_t)o->entries, words));
  TrsvCall(TrsvLaunchEach(chunk_clear, (size_t)max(max(G.n + 1, o->entries), (int)CHUNK_WORDS), G.n, o->entries,
                          o->words, starts, words));
  TrsvCall(TrsvLaunchEach(chunk_count, (size_t)G.n, G, starts + 1, mail));
  TrsvCall(TrsvDeviceScan(G.n, starts + 1, starts));
  return TrsvLaunch(chunk_heights, min(TrsvBlocks((size_t)G.n, CHUNK_BLOCK), blocks), CHUNK_BLOCK, 0, NULL, G,
                    TrsvSyncScratch(o->words), levels, starts, mail, words, o->height);
}

TrsvError TrsvChunkFindHeights(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, ChunkHeights *o)
{
  const ChunkGraph &G     = o->graph;
  const int         lower = A->triangle == TRSV_LOWER;

  *o         = ChunkHeights();
  o->longest = analysis->statistics.row_max - 1;
  o->stored  = A->diagonal == TRSV_DIAGONAL_STORED;
  o->toward  = o->stored && lower ? -1 : 1;
  o->graph   = {A->rows, lower, o->stored, A->offsets, A->columns, source, NULL, NULL};
  o->entries = TrsvStoredEntries(A, analysis);
  if (o->longest > CHUNK_ITEMS) TrsvCall(TrsvChunkSplitRows(o));
  /* after a split a chain also has sums: up to TREE_LEVELS (chunk_split.cu) for each row */
  o->bits = TrsvBits((long)analysis->statistics.levels * (G.owner ? 8 : 1));
  TrsvCall(TrsvScratchArrays(&o->memory, (size_t)G.n, o->height, (size_t)CHUNK_WORDS, o->words));
  if (!analysis->heights || G.owner) return SearchHeights(analysis, o);
  TrsvCall(TrsvDeviceClear(o->words, sizeof(*o->words) * CHUNK_WORDS, NULL));
  return TrsvDeviceLevels(analysis->heights, !G.lower, o->height);
}

void TrsvChunkHeightsFree(ChunkHeights *o)
{
  TrsvScratchFree(o->memory, NULL);
  TrsvScratchFree(o->extended, NULL);
  *o = ChunkHeights();
}
