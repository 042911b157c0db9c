/*
   chunk_place.cuh: the warp that places positions (chunk_place.cu) finds the times of one round of positions, none of
   which depends on another.

   The time of a position with one record depends on its latest dependency. With several records, each record takes the
   K least keys of dependencies and partial sums. Up to 8 keys of a position are in registers (PlaceRegisters). More are
   in two queues, one of dependencies and one of sums, so that the least key is the first of one queue (PlaceQueues).
   Then each record takes a step.
*/
#ifndef TRSV_CHUNK_PLACE_CUH
#define TRSV_CHUNK_PLACE_CUH

#include "solve/schedule/chunk_graph.cuh"

enum {
  BATCH_SLOTS = 8,                                     /* batches that are fetched ahead */
  FETCHERS    = 7,                                     /* warps that fetch batches */
  TIME_MAX    = 0x7fffffff / (2 * CHUNK_ITEMS) - 1000, /* a key and the number of a dependency share a word */
  QUEUE_END   = 0x7fffffff,                            /* the key after the last one of a queue */
#ifdef TRSV_SIMT
  WINDOW = 64, TIMES = 24 /* small, so that tests exceed them */
#else
  WINDOW = 4096, /* the number of consecutive times whose steps accept records */
  TIMES  = 40000 /* positions whose time is in shared memory, at most */
#endif
};

static const unsigned UNPLACED = 0xffffffffu; /* the word of a position that has no time yet */
static const unsigned NO_KEY   = 0xffffffffu; /* greater than all keys */

struct PlaceShared {
  unsigned long long empty[BATCH_SLOTS]; /* barriers */
  unsigned           ready[BATCH_SLOTS]; /* 64 * batch + the rounds of it that can be placed */
  unsigned           chunk, lost;
  int step[WINDOW]; /* by time modulo WINDOW: ~records of a step that is not full; of a full step, a later time such
                       that all steps between are full */
  int position[BATCH_SLOTS][32], begin[BATCH_SLOTS][32], count[BATCH_SLOTS][32], round[BATCH_SLOTS][32],
    first[BATCH_SLOTS][32], records[BATCH_SLOTS][32];
  int item[BATCH_SLOTS][CHUNK_ITEMS][32]; /* of another chunk: its key; of this chunk: -1 - its place in the chunk */
  int sum[CHUNK_ITEMS][32];
  unsigned key[CHUNK_ITEMS]; /* of one position */
  int      nowhere[32];      /* written by lanes that take no step */
  int      time[1];          /* [v.times] */
};

struct PlaceView {
  ChunkGraph     G;
  TrsvSync       sync;
  int            K, W, far, near, cluster, times; /* times: positions whose time is in shared memory */
  const int     *cuts, *list, *height, *first;
  unsigned      *finish;
  int           *time, *taken;
  unsigned char *sorted;
  unsigned      *words;
};

struct PlaceWarp {
  int      from; /* the first position of the chunk */
  unsigned lane;
  int      start, most; /* the window's first time; the last time of any of the lane's records */
};

/* The position of a lane. */
struct PlacePosition {
  int position, n;    /* n: dependencies */
  int first, records; /* its first record; the number of its records, 0: the lane places nothing in this round */
};

/* For each lane that asks: takes the first step from time t on that is not full, and returns its time. Steps before
   start take no more records. If a step cannot take all lanes that ask for it, it takes them in the order of lanes. In
   the common case it takes all, and no lane branches on its own: chains of chunks wait for this function. */
static __device__ __forceinline__ int place_take_step(PlaceShared &s, bool asks, int t, int W, int &start,
                                                      unsigned lane)
{
  if (t < start) t = start;
  for (;;) {
    for (;;) {
      const int  n     = s.step[(unsigned)t % WINDOW];
      const bool moves = asks && n >= 0 && t < start + WINDOW;

      if (!trsv_warp_any(moves)) break;
      if (moves && n < start + WINDOW) {
        const int further = s.step[(unsigned)n % WINDOW];
        if (further >= 0) s.step[(unsigned)t % WINDOW] = further;
      }
      if (moves) t = n;
    }
    const bool inside = asks && t < start + WINDOW;
    int *const step   = inside ? s.step + (unsigned)t % WINDOW : s.nowhere + lane;

    (void)atomicAdd(step, -1);
    trsv_warp_sync();
    const int found = ~*step, all = inside ? found : asks ? INT_MAX : 0; /* records, with those of other lanes */
    if (!trsv_warp_any(all > W)) { /* all lanes have read their word before they vote */
      if (all == W) *step = t + 1;
      trsv_warp_sync();
      return t;
    }
    if (trsv_warp_any(inside && all > W)) {
      (void)atomicAdd(step, 1);
      trsv_warp_sync();
      const unsigned same = trsv_warp_match(inside ? (unsigned)t : NO_KEY);
      const int      rank = __popc(same & ((1u << lane) - 1)), records = inside ? ~*step : W,
                filled = min(records + __popc(same), W);

      trsv_warp_sync();
      if (inside && rank == 0) *step = filled == W ? t + 1 : ~filled;
      if (records + rank < W) asks = false;
    } else if (inside) {
      if (all == W) *step = t + 1;
      asks = false;
    }
    trsv_warp_sync();
    if (!trsv_warp_any(asks)) return t;
    if (trsv_warp_any(asks && t >= start + WINDOW)) {
      const int from = start + WINDOW;

      start = (int)trsv_warp_max(asks ? (unsigned)t : 0) - WINDOW / 2;
      for (int x = max(from, start) + (int)lane; x < start + WINDOW; x += 32) s.step[(unsigned)x % WINDOW] = ~0;
      if (asks && t < start) t = start;
      trsv_warp_sync();
    }
  }
}

/* The key of a dependency: twice the first time at which it can be used, plus one if it is in this chunk: used at that
   time, such a dependency is late. SHARED: all times of the chunk are in shared memory, so no lane checks that. */
template <bool SHARED> static __device__ __forceinline__ int place_key(const PlaceView &v, PlaceShared &s, int from,
                                                                       int item)
{
  const int i    = item < 0 ? -1 - item : 0,
            time = SHARED || i < v.times ? s.time[i] : (int)trsv_load(v.finish + from + i);

  return item < 0 ? 2 * time + 3 : item;
}

/* The greatest key, and the number of keys that are equal to it. */
struct PlaceLatest {
  int key = 0, count = 0;

  __device__ __forceinline__ void add(int k)
  {
    count = k > key ? 1 : count + (k == key);
    key   = k > key ? k : key;
  }
  /* adds a key that is not less than the earlier ones */
  __device__ __forceinline__ void rise(int k)
  {
    count = k > key ? 1 : count + 1;
    key   = k;
  }
  /* the first time of a record with these keys: one step later if too many are late */
  __device__ __forceinline__ int time() const { return key / 2 + (key % 2 && count > CHUNK_LATE); }
};

/* --- up to 8 keys: in registers --- */

/* Sorts N keys with numbers in registers: Batcher's odd-even merge sort, unrolled step by step. */
template <int N, int P = 1, int K = 1> static __device__ __forceinline__ void place_network(unsigned (&key)[N])
{
#pragma unroll
  for (int i = 0; i < N - K; i++)
    if (i >= K % P && (i - K % P) % (2 * K) < K && i / (2 * P) == (i + K) / (2 * P)) {
      const unsigned a = key[i], b = key[i + K];
      key[i]     = min(a, b);
      key[i + K] = max(a, b);
    }
  if constexpr (K > 1) place_network<N, P, K / 2>(key);
  else if constexpr (2 * P < N) place_network<N, 2 * P, 2 * P>(key);
}

/* The sorted keys of the dependencies of a lane's position, at most N, with their numbers; then NO_KEY. */
template <bool SHARED, int N> static __device__ __forceinline__ void place_keys(const PlaceView &v, PlaceShared &s,
                                                                                int from, int slot, int n,
                                                                                unsigned lane, unsigned (&key)[N])
{
#pragma unroll
  for (int j = 0; j < N; j++)
    key[j] = (unsigned)place_key<SHARED>(v, s, from, j < n ? s.item[slot][j][lane] : 0) * CHUNK_ITEMS + (unsigned)j;
#pragma unroll
  for (int j = 0; j < N; j++) key[j] = j < n ? key[j] : NO_KEY;
  place_network<N>(key);
}

/* At most N keys of a lane, sorted. The lowest bit marks a sum, so that a dependency with an equal key precedes it. */
template <int N> struct PlaceRegisters {
  unsigned key[N];
  int      keys = 0, dependencies = 0; /* keys that are left; dependencies that are taken */

  __device__ __forceinline__ int left() const { return keys; }
  __device__ __forceinline__ int taken() const { return dependencies; }
  template <bool SHARED> __device__ __forceinline__ void fill(const PlaceView &v, PlaceShared &s, int from, int slot,
                                                              int n, unsigned lane)
  {
    unsigned char *const sorted = v.sorted + s.begin[slot][lane];

    place_keys<SHARED, N>(v, s, from, slot, n, lane, key);
#pragma unroll
    for (int j = 0; j < N; j++) {
      if (j < n) sorted[j] = (unsigned char)(key[j] % CHUNK_ITEMS);
      key[j] = j < n ? key[j] / CHUNK_ITEMS * 2 : NO_KEY;
    }
    keys = n;
  }
  __device__ __forceinline__ int take()
  {
    const unsigned least = key[0];

#pragma unroll
    for (int j = 0; j < N - 1; j++) key[j] = key[j + 1];
    key[N - 1] = NO_KEY;
    dependencies += !(least % 2);
    keys--;
    return (int)(least / 2);
  }
  __device__ __forceinline__ void add(bool any, int k)
  {
    const unsigned sum = any ? 2 * (unsigned)k + 1 : NO_KEY;

#pragma unroll
    for (int j = N - 1; j > 0; j--) key[j] = max(key[j - 1], min(key[j], sum));
    key[0] = min(key[0], sum);
    keys += any;
  }
};

/* --- more keys: in queues --- */

/* Sorted keys, 32 words apart. The first two are in registers, so taking a key does not wait for memory. */
struct PlaceQueue {
  int taken = 0, size = 0, first = QUEUE_END, second = QUEUE_END;

  __device__ __forceinline__ int  left() const { return size - taken; }
  __device__ __forceinline__ void fill(const int *keys, int n)
  {
    size   = n;
    first  = keys[0];
    second = keys[32]; /* a position with partial sums has at least two */
  }
  __device__ __forceinline__ void add(int *keys, int key)
  {
    keys[32 * size] = key;
    if (left() == 0) first = key;
    if (left() == 1) second = key;
    size++;
  }
};

/* Takes the least key of two queues; of equal keys, that of the first queue. */
static __device__ __forceinline__ int place_take_least(PlaceQueue &a, const int *in_a, PlaceQueue &b, const int *in_b)
{
  const bool from_b = b.first < a.first;
  const int  least = from_b ? b.first : a.first, next = (from_b ? b.taken : a.taken) + 2;
  const int  third = next < (from_b ? b.size : a.size) ? (from_b ? in_b : in_a)[32 * next] : (int)QUEUE_END;

  if (from_b) b.taken++, b.first = b.second, b.second = third;
  else a.taken++, a.first = a.second, a.second = third;
  return least;
}

/* Sorts a lane's dependencies, at most N, in registers: replaces the items by keys, and stores their order. */
template <bool SHARED, int N> static __device__ __forceinline__ void place_sort(const PlaceView &v, PlaceShared &s,
                                                                                int from, int slot, int n,
                                                                                unsigned lane)
{
  unsigned key[N];

  place_keys<SHARED, N>(v, s, from, slot, n, lane, key);
#pragma unroll
  for (int j = 0; j < N; j++)
    if (j < n) {
      s.item[slot][j][lane]             = (int)(key[j] / CHUNK_ITEMS);
      v.sorted[s.begin[slot][lane] + j] = (unsigned char)(key[j] % CHUNK_ITEMS);
    }
}

/* The same for the positions of a few lanes, one after the other, by the whole warp: the place of a key is the number
   of smaller keys. For few lanes it is faster than the unrolled sort, which misses the instruction cache. */
template <bool SHARED> static __device__ __forceinline__ void place_rank(const PlaceView &v, PlaceShared &s, int from,
                                                                         int slot, unsigned lanes, int n, unsigned lane)
{
  for (; lanes; lanes &= lanes - 1) {
    const int      of = __ffs((int)lanes) - 1, count = __shfl_sync(0xffffffffu, n, of);
    const unsigned key =
      (int)lane < count ? (unsigned)place_key<SHARED>(v, s, from, s.item[slot][lane][of]) * CHUNK_ITEMS + lane : NO_KEY;
    int place = 0;

    s.key[lane] = key;
    trsv_warp_sync();
#pragma unroll
    for (int j = 0; j < CHUNK_ITEMS; j++) place += s.key[j] < key;
    if ((int)lane < count) {
      s.item[slot][place][of]             = (int)(key / CHUNK_ITEMS);
      v.sorted[s.begin[slot][of] + place] = (unsigned char)lane;
    }
    trsv_warp_sync();
  }
}

struct PlaceQueues {
  PlaceQueue dependencies, sums;
  int       *items, *in_sums;

  __device__ __forceinline__      PlaceQueues(int *dependencies, int *sums) : items(dependencies), in_sums(sums) {}
  __device__ __forceinline__ int  left() const { return dependencies.left() + sums.left(); }
  __device__ __forceinline__ int  taken() const { return dependencies.taken; }
  __device__ __forceinline__ void fill(int n) { dependencies.fill(items, n); }
  __device__ __forceinline__ int  take() { return place_take_least(dependencies, items, sums, in_sums); }
  __device__ __forceinline__ void add(bool any, int k)
  {
    if (any) sums.add(in_sums, k);
  }
};

/* --- records --- */

/* Places the records of the lanes' positions, one after the other. longest: the largest number of records of a lane;
   needs: the latest dependencies of a position with one record. */
template <class Keys> static __device__ __forceinline__ void place_records(const PlaceView &v, PlaceShared &s,
                                                                           PlaceWarp &w, const PlacePosition &p,
                                                                           int longest, Keys &keys, PlaceLatest needs)
{
  const int i = p.position - w.from;

  for (int r = 0; r < longest; r++) {
    const bool any = r < p.records, last = r == p.records - 1;

    if (p.records > 1 && any) {
      v.taken[p.first + r] = keys.taken();
      needs                = PlaceLatest();
      for (int x = last ? keys.left() : v.K; x > 0; x--) needs.rise(keys.take());
    }
    const int t = place_take_step(s, any, needs.time(), v.W, w.start, w.lane);
    if (any) v.time[p.first + r] = t;
    if (last) trsv_store(v.finish + p.position, (unsigned)t);
    if (last && i < v.times) s.time[i] = t;
    w.most = max(w.most, any ? t : -1);
    keys.add(any && !last, 2 * t + 3);
  }
}

template <bool SHARED, int N> static __device__ __forceinline__ void place_in_registers(
  const PlaceView &v, PlaceShared &s, PlaceWarp &w, int slot, const PlacePosition &p, int longest,
  const PlaceLatest &needs)
{
  PlaceRegisters<N> keys;

  if (p.records > 1) keys.template fill<SHARED>(v, s, w.from, slot, p.n, w.lane);
  place_records(v, s, w, p, longest, keys, needs);
}

template <bool SHARED> static __device__ __forceinline__ void place_in_queues(
  const PlaceView &v, PlaceShared &s, PlaceWarp &w, int slot, const PlacePosition &p, int longest, int widest,
  const PlaceLatest &needs)
{
  PlaceQueues    keys(&s.item[slot][0][w.lane], &s.sum[0][w.lane]);
  const unsigned several = __ballot_sync(0xffffffffu, p.records > 1);

  if (__popc(several) <= widest / 2) place_rank<SHARED>(v, s, w.from, slot, several, p.n, w.lane);
  else if (p.records > 1) {
    if (widest <= 16) place_sort<SHARED, 16>(v, s, w.from, slot, p.n, w.lane);
    else place_sort<SHARED, CHUNK_ITEMS>(v, s, w.from, slot, p.n, w.lane);
  }
  if (p.records > 1) keys.fill(p.n);
  place_records(v, s, w, p, longest, keys, needs);
}

/* Places a round: at most one position of each lane, none of which depends on another. */
template <bool SHARED> static __device__ __forceinline__ void place_round(const PlaceView &v, PlaceShared &s,
                                                                          PlaceWarp &w, int slot,
                                                                          const PlacePosition &p)
{
  enum { LOOKUPS = 4 }; /* dependencies that are looked up together */
  const unsigned all    = v.first ? trsv_warp_max(p.records ? (unsigned)(64 * p.n + p.records) : 0)
                                  : 1; /* most dependencies means most records */
  const int      widest = (int)(all / 64), longest = (int)(all % 64);
  PlaceLatest    needs;

  if (p.records == 1) {
    for (int x = 0; x < p.n; x += LOOKUPS) {
      int item[LOOKUPS];

#pragma unroll
      for (int u = 0; u < LOOKUPS; u++) item[u] = x + u < p.n ? s.item[slot][x + u][w.lane] : 0;
#pragma unroll
      for (int u = 0; u < LOOKUPS; u++) item[u] = place_key<SHARED>(v, s, w.from, item[u]);
#pragma unroll
      for (int u = 0; u < LOOKUPS; u++) needs.add(item[u]);
    }
  }
  if (longest == 1 || widest <= 4) place_in_registers<SHARED, 4>(v, s, w, slot, p, longest, needs);
  else if (widest <= 8) place_in_registers<SHARED, 8>(v, s, w, slot, p, longest, needs);
  else place_in_queues<SHARED>(v, s, w, slot, p, longest, widest, needs);
  trsv_warp_sync();
}

#endif
