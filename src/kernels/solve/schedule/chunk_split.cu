/*
   Splits rows with more than CHUNK_ITEMS dependencies before the algorithm `chunk` places them. Each becomes a tree of
   partial sums of CHUNK_ITEMS neighboring dependencies. A sum is a position of its own, directly after the last
   dependency in it. So the sums of a long row are spread over the chunks of its dependencies, and a chunk exports one
   sum instead of many results.

   Level 0 of the tree has the dependencies of the row in the order of their positions. If a level has more than
   CHUNK_ITEMS items, items from its front become sums: as few sums as leave at most CHUNK_ITEMS items, or all full
   sums if these are fewer. The next level has the sums, then the items that are left. The row keeps the last level.

   split_rows.cu builds other trees: its sums take items in the order in which they get ready, and come directly before
   their row. There a late dependency costs a wait, here it costs an import.

   Mapping: one thread for each position or partial sum. Memory order: within a launch only counters cross threads. Why
   it ends: no thread waits. Same bits: integers; the stable sort fixes the order of sums that follow the same position.
   Source: this project.
*/
#include "solve/schedule/chunk_graph.cuh"

enum {
  TREE_LEVELS = 8 /* enough for 2^31 dependencies */
};

struct LongRow {
  int levels;
  int sums[TREE_LEVELS], first[TREE_LEVELS]; /* of each level: the number of its sums, and the index of the first */
  int all, kept;                             /* sums of the row; items that the row keeps */
};

static __device__ __forceinline__ LongRow long_row(int n)
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
static __device__ __forceinline__ int long_item(const LongRow &t, int level, int i)
{
  for (; level > 0; level--) {
    if (i < t.sums[level - 1]) return -1 - (t.first[level - 1] + i);
    i += t.sums[level - 1] * (CHUNK_ITEMS - 1);
  }
  return i;
}

/* The level of a sum; *sum becomes its index in the level. */
static __device__ __forceinline__ int long_level(const LongRow &t, int *sum)
{
  int level = t.levels - 1;

  while (t.first[level] > *sum) level--;
  *sum -= t.first[level];
  return level;
}

static __device__ __forceinline__ int long_entry(const ChunkGraph &G, ChunkRow row, int i)
{
  return G.lower ? row.begin + i : row.begin + row.n - 1 - i;
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

  if (p >= G.n) return;
  count[p]  = long_row(chunk_row(G, p).n).all;
  behind[p] = 0;
}

/* The position of the row of a sum. */
static __device__ __forceinline__ int long_owner(const LongView &v, int sum)
{
  return trsv_first(0, v.G.n - 1, [&](int p) { return v.first[p + 1] > sum; });
}

/* keys: the position of the last dependency in each sum; behind: the number of sums with that key. */
static __global__ void long_follow(const LongView v, int *behind, unsigned *keys, int *numbers)
{
  const int s = trsv_index();

  if (s >= v.sums) return;
  const int      p   = long_owner(v, s);
  const ChunkRow row = chunk_row(v.G, p);
  const LongRow  t   = long_row(row.n);
  int            i = s - v.first[p], level = long_level(t, &i), last;

  while ((last = long_item(t, level, i * CHUNK_ITEMS + CHUNK_ITEMS - 1)) < 0) {
    i     = -1 - last;
    level = long_level(t, &i);
  }
  const int c = chunk_position(v.G, long_entry(v.G, row, last));
  keys[s]     = (unsigned)c;
  numbers[s]  = s;
  atomicAdd(behind + c, 1);
}

/* The places of the sums, and the lengths of all positions. */
static __global__ void long_place(const LongView v, const unsigned *keys, const int *numbers)
{
  const int x = trsv_index();

  if (x < v.G.n) v.lengths[x + v.shift[x]] = long_row(chunk_row(v.G, x).n).kept;
  if (x >= v.sums) return;
  const int place     = (int)keys[x] + 1 + x;
  v.place[numbers[x]] = place;
  v.lengths[place]    = CHUNK_ITEMS;
}

/* Writes position `to` of the new graph: row p, or its sum of this number if that is not negative. */
static __device__ __forceinline__ void long_write(const LongView &v, int to, int p, int sum)
{
  const bool     whole = sum < 0;
  const int      own   = chunk_own_row(v.G, p);
  const ChunkRow row   = chunk_row(v.G, p);
  const LongRow  t     = long_row(row.n);
  const int      level = whole ? t.levels : long_level(t, &sum), first = whole ? 0 : sum * CHUNK_ITEMS,
            count = whole ? t.kept : CHUNK_ITEMS;

  v.owner[to]    = whole ? own : -1 - own;
  v.diagonal[to] = chunk_diagonal(v.G, p);
  for (int j = 0, at = v.offsets[to]; j < count; j++, at++) {
    const int item = long_item(t, level, first + j);

    if (item < 0) {
      v.columns[at] = v.place[v.first[p] - 1 - item];
      v.source[at]  = 1;
    } else {
      const int k = long_entry(v.G, row, item), c = chunk_position(v.G, k);
      v.columns[at] = c + v.shift[c];
      v.source[at]  = chunk_source(v.G, k);
    }
  }
}

/* The rows, and the sums, of the new graph. */
static __global__ void long_graph(const LongView v)
{
  const int x = trsv_index();

  if (x < v.G.n) long_write(v, x + v.shift[x], x, -1);
  if (x >= v.sums) return;
  const int p = long_owner(v, x);
  long_write(v, v.place[x], p, x - v.first[p]);
}

TrsvError TrsvChunkSplitRows(ChunkHeights *o)
{
  const size_t n = (size_t)o->graph.n;
  TrsvScratch  counted, numbered;
  LongView     v;
  unsigned    *keys, *sorted;
  int         *count, *behind, *numbers, *order;

  v.G = o->graph;
  TrsvCall(counted.take(n, count, n, behind, n + 1, v.first, n + 1, v.shift));
  TrsvCall(TrsvLaunchEach(long_count, n, v.G, count, behind));
  TrsvCall(TrsvDeviceScan(v.G.n, count, v.first));
  TrsvCall(TrsvDeviceDownload(&v.sums, v.first + n, sizeof(int), NULL));

  /* each sum is an additional dependency */
  const size_t sums = (size_t)v.sums, all = n + sums, entries = (size_t)o->entries - (v.G.stored ? n : 0) + sums;
  TrsvCall(ChunkCount(all, "rows and partial sums"));
  TrsvCall(ChunkCount(entries, "dependencies"));
  TrsvCall(numbered.take(sums, keys, sums, sorted, sums, numbers, sums, order, sums, v.place, all, v.lengths));
  TrsvCall(TrsvLaunchEach(long_follow, sums, v, behind, keys, numbers));
  TrsvCall(TrsvDeviceScan(v.G.n, behind, v.shift));
  TrsvCall(TrsvDeviceSort(v.sums, TrsvBits(v.G.n - 1), keys, sorted, numbers, order));
  TrsvCall(TrsvLaunchEach(long_place, max(n, sums), v, sorted, order));
  TrsvCall(TrsvScratchArrays(&o->extended, all + 1, v.offsets, entries, v.columns, entries, v.source, all, v.owner, all,
                             v.diagonal));
  TrsvCall(TrsvDeviceScan((int)all, v.lengths, v.offsets));
  TrsvCall(TrsvLaunchEach(long_graph, max(n, sums), v));
  o->graph   = {(int)all, 1, 0, v.offsets, v.columns, v.source, v.owner, v.diagonal};
  o->entries = (int)entries;
  o->longest = CHUNK_ITEMS;
  return TrsvDeviceSynchronize();
}
