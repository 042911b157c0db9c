/*
   The graph of a triangle and the heights of its positions, for schedules of the algorithm `chunk`.

   Rows with more than CHUNK_ITEMS dependencies are split into trees of partial sums of CHUNK_ITEMS neighboring
   dependencies. A sum is a position of its own, directly after the last dependency in it. So the sums of a long row are
   spread over the chunks of its dependencies, and a chunk exports one sum instead of many results. Level 0 of the tree
   has the dependencies of the row in the order of their positions. If a level has more than CHUNK_ITEMS items, items
   from its front become sums: as few sums as leave at most CHUNK_ITEMS items, or all full sums if these are fewer. The
   next level has the sums, then the items that are left. The row keeps the last level. (The sums of split_rows.cu come
   directly before their row: there a late dependency costs a wait, here it costs an import.)

   The height of a position is the length of the longest chain of dependents after it. The levels of the matrix's other
   triangle are copied if they are the heights (levels.cu); otherwise the kernel below finds the heights. They do not
   depend on chunks, so all settings share them. (Levels instead of heights make longer schedules of irregular
   matrices.)

   Mapping: one thread for each position or partial sum; for heights from the last level set to the first, and a whole
     warp polls for a thread with many dependents. Each warp takes one ticket after another, of 32 positions. The grid
     has no more warps than keep enough positions in flight, so that another launch runs beside it (lock step). Each
     entry has a word, to which the dependent writes its height; the words of a position's dependents are contiguous.
   Memory order: such a word is its own flag; otherwise only counters cross threads within a launch.
   Why it ends: a position waits for positions of later level sets. They are done, or belong to warps that have started.
     In each turn of the loop every lane of a warp polls and stores if it can, before the warp votes.
   Same bits: the order of a position's words depends on the run, their maximum does not; the stable sort fixes the
     order of sums that follow the same position.
   Source: this project.
*/
#include "analysis/triangle_view.cuh"
#include "solve/schedule/chunk_graph.cuh"

/* --- long rows --- */

enum {
  TREE_LEVELS = 8 /* enough for 2^31 dependencies */
};

struct LongRow {
  int levels;
  int sums[TREE_LEVELS], first[TREE_LEVELS]; /* of each level: the number of its sums, and the index of the first */
  int all, kept;                             /* sums of the row; items that the row keeps */
};

static TRSV_INLINE LongRow long_row(int n)
{
  LongRow t;

  t.levels = t.all = 0;
  for (; n > CHUNK_ITEMS; t.levels++) {
    const int sums = min(n / CHUNK_ITEMS, (n - 2) / (CHUNK_ITEMS - 1));

    t.sums[t.levels] = sums, t.first[t.levels] = t.all;
    t.all += sums;
    n -= sums * (CHUNK_ITEMS - 1);
  }
  t.kept = n;
  return t;
}

/* The i-th item of a level: a dependency of the row, or -1 - a sum. */
static TRSV_INLINE int long_item(const LongRow &t, int level, int i)
{
  for (; level > 0; level--) {
    if (i < t.sums[level - 1]) return -1 - (t.first[level - 1] + i);
    i += t.sums[level - 1] * (CHUNK_ITEMS - 1);
  }
  return i;
}

/* The level of a sum; *sum becomes its index in the level. */
static TRSV_INLINE int long_level(const LongRow &t, int *sum)
{
  int level = t.levels - 1;

  while (t.first[level] > *sum) level--;
  *sum -= t.first[level];
  return level;
}

struct LongView {
  ChunkGraph G;
  int        sums;
  int       *first; /* [n + 1] by position: its first sum */
  int       *place; /* [sums] by sum: its new position */
  int       *shift; /* [n + 1] by position: the number of sums before it */
  int       *lengths, *offsets, *columns, *source, *owner, *diagonal; /* of the new graph */
};

static __global__ void long_count(const ChunkGraph G, int *count, int *behind)
{
  const int p = trsv_index();

  if (p >= G.rows) return;
  count[p]  = long_row(chunk_row(G, p).n).all;
  behind[p] = 0;
}

/* keys: the position of the last dependency in each sum; behind: the number of sums with that key. */
static __global__ void long_follow(const LongView v, int *behind, unsigned *keys, int *numbers)
{
  const int s = trsv_index();

  if (s >= v.sums) return;
  const int      p = segment(v.first, v.G.rows, s), row = v.G.row_of(p);
  const LongRow  t = long_row(v.G.entries(row));
  int            i = s - v.first[p], level = long_level(t, &i), last;

  while ((last = long_item(t, level, i * CHUNK_ITEMS + CHUNK_ITEMS - 1)) < 0) {
    i     = -1 - last;
    level = long_level(t, &i);
  }
  const int c = v.G.position(v.G.entry(row, last));
  keys[s]     = (unsigned)c;
  numbers[s]  = s;
  atomicAdd(behind + c, 1);
}

/* The places of the sums, and the lengths of all positions. */
static __global__ void long_place(const LongView v, const unsigned *keys, const int *numbers)
{
  const int x = trsv_index();

  if (x < v.G.rows) v.lengths[x + v.shift[x]] = long_row(chunk_row(v.G, x).n).kept;
  if (x >= v.sums) return;
  const int place     = (int)keys[x] + 1 + x;
  v.place[numbers[x]] = place;
  v.lengths[place]    = CHUNK_ITEMS;
}

/* Writes position `to` of the new graph: row p, or its sum of this number if that is not negative. */
static TRSV_INLINE void long_write(const LongView &v, int to, int p, int sum)
{
  const bool    whole = sum < 0;
  const int     own = chunk_own_row(v.G, p), row = v.G.row_of(p);
  const LongRow t     = long_row(v.G.entries(row));
  const int     level = whole ? t.levels : long_level(t, &sum), first = whole ? 0 : sum * CHUNK_ITEMS,
            count = whole ? t.kept : CHUNK_ITEMS;

  v.owner[to]    = whole ? own : -1 - own;
  v.diagonal[to] = chunk_diagonal(v.G, p);
  for (int j = 0, at = v.offsets[to]; j < count; j++, at++) {
    const int item = long_item(t, level, first + j);

    if (item < 0) {
      v.columns[at] = v.place[v.first[p] - 1 - item];
      v.source[at]  = 1;
    } else {
      const int k = v.G.entry(row, item), c = v.G.position(k);
      v.columns[at] = c + v.shift[c];
      v.source[at]  = chunk_source(v.G, k);
    }
  }
}

/* The rows, and the sums, of the new graph. */
static __global__ void long_graph(const LongView v)
{
  const int x = trsv_index();

  if (x < v.G.rows) long_write(v, x + v.shift[x], x, -1);
  if (x >= v.sums) return;
  const int p = segment(v.first, v.G.rows, x);
  long_write(v, v.place[x], p, x - v.first[p]);
}

/* Replaces the graph by one whose long rows are split. */
static TrsvError SplitRows(ChunkHeights *o)
{
  const size_t n = (size_t)o->graph.rows;
  TrsvScratch  counted, numbered;
  LongView     v;
  unsigned    *keys, *sorted;
  int         *count, *behind, *numbers, *order;

  v.G = o->graph;
  TrsvCall(counted.take(n, count, n, behind, n + 1, v.first, n + 1, v.shift));
  TrsvCall(TrsvLaunchEach(long_count, n, v.G, count, behind));
  TrsvCall(TrsvDeviceScan(v.G.rows, count, v.first));
  TrsvCall(TrsvDeviceDownload(&v.sums, v.first + n, sizeof(int), NULL));

  /* each sum is an additional dependency */
  const size_t sums = (size_t)v.sums, all = n + sums, entries = (size_t)o->entries - (v.G.stored ? n : 0) + sums;
  TrsvCall(ChunkCount(all, "rows and partial sums"));
  TrsvCall(ChunkCount(entries, "dependencies"));
  TrsvCall(numbered.take(sums, keys, sums, sorted, sums, numbers, sums, order, sums, v.place, all, v.lengths));
  TrsvCall(TrsvLaunchEach(long_follow, sums, v, behind, keys, numbers));
  TrsvCall(TrsvDeviceScan(v.G.rows, behind, v.shift));
  TrsvCall(TrsvDeviceSort(v.sums, TrsvBits(v.G.rows - 1), keys, sorted, numbers, order));
  TrsvCall(TrsvLaunchEach(long_place, max(n, sums), v, sorted, order));
  TrsvCall(TrsvScratchArrays(&o->extended, all + 1, v.offsets, entries, v.columns, entries, v.source, all, v.owner, all,
                             v.diagonal));
  TrsvCall(TrsvDeviceScan((int)all, v.lengths, v.offsets));
  TrsvCall(TrsvLaunchEach(long_graph, max(n, sums), v));
  const TrsvMatrix positions = {(int)all, v.offsets, v.columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT};
  o->graph   = {TriangleView(&positions), v.source, v.owner, v.diagonal};
  o->entries = (int)entries;
  o->longest = CHUNK_ITEMS;
  return TrsvDeviceWait(NULL);
}

/* --- heights --- */

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

  if (p >= G.rows) return;
  const ChunkRow row = chunk_row(G, p);
  for (int k = row.begin; k < row.begin + row.n; k++) mail[k] = atomicAdd(count + G.position(k), 1);
}

/* Finds the heights of a warp's positions; p: this thread's position, or -1. */
static TRSV_INLINE void height_find(const ChunkGraph &G, const TrsvSync &sync, int p, int lane, const int *starts,
                                    const int *mail, unsigned *words, int *height)
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
    to[u] = u < row.n ? starts[G.position(row.begin + u)] + mail[row.begin + u] : 0;
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
    const int      i      = G.rows - 1 - (int)(ticket * 32) - lane;

    if (ticket * 32 >= (unsigned)G.rows) return;
    const int p = i < 0 || !levels ? i : G.lower ? levels[i] : G.rows - 1 - levels[i];
    height_find(G, sync, p, lane, starts, mail, words, height);
  }
}

/* Launches the search for heights, with so many level sets in flight, as in thread_solve.cuh. */
static TrsvError SearchHeights(const TrsvAnalysis *analysis, const ChunkHeights *o)
{
  const int         levels_ahead = 16, blocks_max = 2;
  const ChunkGraph &G      = o->graph;
  const int *levels = G.owner ? NULL : analysis->order; /* NULL after a split: from the last position to the first */
  unsigned         *words;
  int              *starts, *mail, multiprocessors;
  TrsvScratch       scratch;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const double   wanted = levels_ahead * analysis->statistics.level_mean / ((double)CHUNK_BLOCK * multiprocessors);
  const unsigned blocks = (unsigned)(multiprocessors * max(1, (int)min(wanted, (double)blocks_max)));
  TrsvCall(scratch.take((size_t)G.rows + 1, starts, (size_t)o->entries, mail, (size_t)o->entries, words));
  TrsvCall(TrsvLaunchEach(chunk_clear, (size_t)max(max(G.rows + 1, o->entries), (int)CHUNK_WORDS), G.rows, o->entries,
                          o->words, starts, words));
  TrsvCall(TrsvLaunchEach(chunk_count, (size_t)G.rows, G, starts + 1, mail));
  TrsvCall(TrsvDeviceScan(G.rows, starts + 1, starts));
  return TrsvLaunch(chunk_heights, min(TrsvBlocks((size_t)G.rows, CHUNK_BLOCK), blocks), CHUNK_BLOCK, 0, NULL, G,
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
  o->graph   = {TriangleView(A), source, NULL, NULL};
  o->entries = TrsvStoredEntries(A, analysis);
  if (o->longest > CHUNK_ITEMS) TrsvCall(SplitRows(o));
  /* after a split a chain also has sums: up to TREE_LEVELS for each row */
  o->bits = TrsvBits((long)analysis->statistics.levels * (G.owner ? TREE_LEVELS : 1));
  TrsvCall(TrsvScratchArrays(&o->memory, (size_t)G.rows, o->height, (size_t)CHUNK_WORDS, o->words));
  if (!analysis->heights || G.owner) return SearchHeights(analysis, o);
  TrsvCall(TrsvDeviceClear(o->words, sizeof(*o->words) * CHUNK_WORDS, NULL));
  return TrsvDeviceLevels(analysis->heights, !G.lower, o->height);
}

void TrsvChunkHeightsFree(ChunkHeights *o)
{
  TrsvScratchRelease(o->memory);
  TrsvScratchRelease(o->extended);
  *o = ChunkHeights();
}
