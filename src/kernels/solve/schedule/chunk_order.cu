/*
   A triangle made ready for schedules of the algorithm `chunk`: the height of its positions, the length of the longest
   chain of dependents behind each. Where the matrix's other triangle is known to have them as its level sets
   (heights.cu) they are taken from there, else searched for as below. Heights know nothing of chunks, so they serve
   every setting that is tried; on 47 real matrices crossings counted in heights would have gained less than 2%, and
   lost as often. Level sets in their place, which are known already, make the schedules of 13 irregular matrices up to
   twice as long, 18% in the mean.

   Mapping: a thread for each position, from the last level set to the first, with its warp's help where that has many
   dependents. There are as many warps as keep enough positions in flight, and no more, so that another launch finds
   room (interleave.cu); each takes ticket after ticket, of 32 positions. Each entry has a word of its own, in which the
   dependent leaves its height; the words of a position's dependents are next to each other. Memory order: such a word
   is its own flag. Why it ends: a position waits for those of later level sets, which are done or with warps that have
   started; those of its own warp take turns with it (thread.cu). Same result: the order of a position's words depends
   on the run, their maximum does not.
*/
#include "solve/schedule/chunk_graph.cuh"

static const unsigned EMPTY = 0xffffffffu;

/* counts [n + 1], words [entries] */
static __global__ void chunk_clear(int n, int entries, int *counts, unsigned *words)
{
  const int i = trsv_index();

  if (i <= n) counts[i] = 0;
  if (i < entries) words[i] = EMPTY;
}

/* mail [entries] which of its column's dependents each entry is */
static __global__ void chunk_count(const ChunkGraph G, int *count, int *mail)
{
  const int p = trsv_index();

  if (p >= G.n) return;
  const ChunkRow row = chunk_row(G, p);
  for (int k = row.begin; k < row.begin + row.n; k++) mail[k] = atomicAdd(count + chunk_position(G, k), 1);
}

/* The heights of a warp's positions; p: this thread's, -1 where it has none. */
static __device__ __forceinline__ void height_find(const ChunkGraph &G, const TrsvSync &sync, int p, int lane,
                                                   const int *starts, const int *mail, unsigned *words, int *height)
{
  enum {
    AHEAD = 8,   /* dependencies, */
    MANY  = 16,  /* dependents that are looked at together */
    LONG  = 128, /* dependents that a thread takes on alone; of more, each of its warp's at a time: */
    SHARE = 8
  };
  bool           done = p < 0;
  const ChunkRow row  = done ? ChunkRow{0, 0} : chunk_row(G, p);
  int            next = done ? 0 : starts[p], to[AHEAD];
  const int      end  = done ? 0 : starts[p + 1];
  unsigned       h    = 0;
  TrsvSpinLimit   spin;

  const auto address = [&](int from) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      to[u] = from + u < row.n ? starts[chunk_position(G, row.begin + from + u)] + mail[row.begin + from + u] : 0;
  };
  const auto send = [&](int from) {
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      if (from + u < row.n) trsv_store(words + to[u], h);
  };
  address(0);
  do {
    /* those that have many left have the whole warp look at them */
    for (unsigned asking = __ballot_sync(0xffffffffu, !done && end - next > LONG); asking; asking &= asking - 1) {
      const int l = __ffs((int)asking) - 1, from = __shfl_sync(0xffffffffu, next, l),
                n = min(__shfl_sync(0xffffffffu, end, l) - from, 32 * SHARE);
      unsigned  word[SHARE], most = 0;
      bool      there = true;

#pragma unroll
      for (int u = 0; u < SHARE; u++)
        word[u] = 32 * u + lane < n ? trsv_load(words + from + 32 * u + lane) : 0; /* no more than any */
#pragma unroll
      for (int u = 0; u < SHARE; u++) {
        there = there && word[u] != EMPTY;
        most  = max(most, word[u] + 1);
      }
      most = trsv_warp_max(most);
      if (__all_sync(0xffffffffu, there) && lane == l) {
        h = max(h, most);
        next += n;
      }
    }
    if (!done) {
      unsigned word[MANY];
      bool     all = true;

#pragma unroll
      for (int u = 0; u < MANY; u++) word[u] = next + u < end ? trsv_load(words + next + u) : 0;
#pragma unroll
      for (int u = 0; u < MANY; u++) {
        if (next + u >= end) continue;
        all = all && word[u] != EMPTY;
        if (word[u] != EMPTY) h = max(h, word[u] + 1);
      }
      if (all) next += MANY;
      done = next >= end;
      if (all) spin = TrsvSpinLimit();
      if (!done && !all && !spin.more(sync)) done = true;
      if (done) {
        send(0);
        for (int from = AHEAD; from < row.n; from += AHEAD) {
          address(from);
          send(from);
        }
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
    height_find(G, sync,
                i < 0 || !levels ? i
                : G.lower        ? levels[i]
                                 : G.n - 1 - levels[i],
                lane, starts, mail, words, height);
  }
}

/* How many positions are in flight: as in thread.cu. */
static const double level_sets_ahead = 16;
static const int    blocks_at_most   = 2;

/* Searches for heights; o->words are 0. */
static TrsvError Search(const TrsvAnalysis *analysis, const ChunkHeights *o)
{
  const ChunkGraph &G      = o->graph;
  const int *levels = G.owner ? NULL : analysis->order; /* where rows were cut: from the last position to the first */
  unsigned         *words;
  int              *starts, *mail, multiprocessors;
  void             *memory;
  TrsvError         error;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double   wanted = level_sets_ahead * analysis->statistics.level_mean / ((double)CHUNK_BLOCK * multiprocessors);
  const unsigned blocks = (unsigned)(multiprocessors * (wanted < 1                ? 1
                                                        : wanted > blocks_at_most ? blocks_at_most
                                                                                  : (int)wanted));
  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) {
      a.take((size_t)G.n + 1, starts), a.take((size_t)o->entries, mail), a.take((size_t)o->entries, words);
    },
    &memory));
  error = TrsvLaunchEach("chunk_clear", chunk_clear, (size_t)max(G.n + 1, o->entries), G.n, o->entries, starts, words);
  if (!error) error = TrsvLaunchEach("chunk_count", chunk_count, (size_t)G.n, G, starts + 1, mail);
  if (!error) error = TrsvDeviceScan(G.n, starts + 1, starts);
  if (!error) {
    TRSV_LAUNCH(chunk_heights, min(TrsvBlocks((size_t)G.n, CHUNK_BLOCK), blocks), CHUNK_BLOCK, 0, (TrsvStream)NULL, G,
                ChunkSync(o->words), levels, starts, mail, words, o->height);
    error = TrsvDeviceCheckLaunch("chunk_heights");
  }
  TrsvScratchFree(memory, NULL);
  return error;
}

static TrsvError Make(const TrsvAnalysis *analysis, ChunkHeights *o)
{
  const ChunkGraph &G = o->graph;

  /* cutting rows makes chains longer, by as many partial sums as follow each other */
  o->bits = TrsvBits((long)analysis->statistics.levels * (G.owner ? 8 : 1));
  TrsvCall(
    TrsvArenaScratch([&](TrsvArena &a) { a.take((size_t)G.n, o->height), a.take(CHUNK_WORDS, o->words); }, &o->memory));
  TrsvCall(TrsvDeviceClear(o->words, sizeof(*o->words) * CHUNK_WORDS, NULL));
  return analysis->heights && !G.owner ? TrsvDeviceLevels(analysis->heights, !G.lower, o->height) : Search(analysis, o);
}

TrsvError TrsvChunkFindHeights(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, ChunkHeights *o)
{
  TrsvError error;

  *o         = ChunkHeights();
  o->longest = analysis->statistics.row_max - 1;
  o->stored  = A->diagonal == TRSV_DIAGONAL_STORED;
  o->toward  = o->stored && A->triangle == TRSV_LOWER ? -1 : 1;
  o->graph   = {
    A->rows, A->triangle == TRSV_LOWER, A->diagonal == TRSV_DIAGONAL_STORED, A->offsets, A->columns, source, NULL,
    NULL};
  o->entries = TrsvStored(A, analysis);
  error      = o->longest > CHUNK_ITEMS ? TrsvChunkSplitRows(o) : TRSV_SUCCESS;
  if (!error) error = Make(analysis, o);
  if (error) TrsvChunkHeightsFree(o);
  return error;
}

void TrsvChunkHeightsFree(ChunkHeights *o)
{
  TrsvScratchFree(o->memory, NULL);
  TrsvScratchFree(o->extended, NULL);
  *o = ChunkHeights();
}
