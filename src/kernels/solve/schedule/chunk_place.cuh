/*
   chunk_place.cuh: the times of the positions of one chunk that do not depend on each other, for the warp that places
   them (chunk_place.cu).

   A position with one record needs the last of its dependencies. The records of another take the K least of its keys,
   dependencies and partial sums; the keys of few are in registers; those of many in two queues, of dependencies and of
   sums, so that the least is at one of two heads. Then each record takes a place in a step.
*/
#ifndef TRSV_CHUNK_PLACE_CUH
#define TRSV_CHUNK_PLACE_CUH

#include "solve/schedule/chunk_graph.cuh"

enum {
  SLOTS    = 8, /* batches that are fetched ahead */
  FETCHERS = 7, /* warps that fetch them */
  LAST     = 0x7fffffff / (2 * CHUNK_ITEMS) - 1000, /* time: keys and numbers share a word */
  NEVER    = 0x7fffffff, /* a key beyond them */
#ifdef TRSV_SIMT
  WINDOW = 64, TIMES = 24 /* so small that tests see what happens beyond */
#else
  WINDOW = 4096, /* times whose steps can still get records */
  TIMES  = 40000 /* positions whose time is kept in shared memory */
#endif
};

static const unsigned EMPTY = 0xffffffffu;

struct PlaceShared {
  unsigned long long empty[SLOTS];              /* barriers */
  unsigned           ready[SLOTS];              /* 64 times the batch, and how many rounds of it can be placed */
  unsigned           chunk, lost;
  int step[WINDOW]; /* by time modulo WINDOW: ~ its records, while it has room; then a later time, before which none has
                     */
  int position[SLOTS][32], begin[SLOTS][32], count[SLOTS][32], round[SLOTS][32], first[SLOTS][32], records[SLOTS][32];
  int item[SLOTS][CHUNK_ITEMS][32]; /* twice the time at which it is ready, or -1 - its place in the chunk */
  int                sum[CHUNK_ITEMS][32];
  unsigned           key[CHUNK_ITEMS];          /* of one position */
  int                nowhere[32];               /* for lanes that want no step */
  int                time[1];                   /* and more of them */
};

struct PlaceView {
  ChunkGraph     G;
  TrsvSync       sync;
  int            K, W, far, near, cluster, times; /* times: of positions, that fit */
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

/* A lane's. */
struct PlacePosition {
  int position, n, first,
    records; /* n: dependencies; its records are first, first + 1, ...; none: it has no part in this */
};

/* The first time from t on, of those lanes that ask, whose step has room, and takes it; times before start are over.
   Where there is not room for all who want a step, lanes get it by number. Without branches for single lanes where
   there is room, as there mostly is: chains of chunks wait for this. */
static __device__ __forceinline__ int place_room(PlaceShared &s, bool asks, int t, int W, int &start, unsigned lane)
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
    const int found = ~*step, all = inside ? found : asks ? INT_MAX : 0; /* with those of the other lanes */
    if (!trsv_warp_any(all > W)) { /* each has its word by now, or could not vote */
      if (all == W) *step = t + 1;
      trsv_warp_sync();
      return t;
    }
    if (trsv_warp_any(inside && all > W)) {
      (void)atomicAdd(step, 1);
      trsv_warp_sync();
      const unsigned same = trsv_warp_match(inside ? (unsigned)t : EMPTY);
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

/* A key: twice the time at which a dependency can be used, and one more where it is of this chunk: used a step after
   its own, it is late. SHARED: all times of the chunk are in shared memory, where looking one up costs less than asking
   whether there is one. */
template <bool SHARED> static __device__ __forceinline__ int place_key(const PlaceView &v, PlaceShared &s, int from,
                                                                       int item)
{
  const int i    = item < 0 ? -1 - item : 0,
            time = SHARED || i < v.times ? s.time[i] : (int)trsv_load(v.finish + from + i);

  return item < 0 ? 2 * time + 3 : item;
}

/* The greatest of keys, and how often it is among them. */
struct PlaceMost {
  int key = 0, count = 0;

  __device__ __forceinline__ void add(int k)
  {
    count = k > key ? 1 : count + (k == key);
    key   = k > key ? k : key;
  }
  /* one that is not less than those before */
  __device__ __forceinline__ void rise(int k)
  {
    count = k > key ? 1 : count + 1;
    key   = k;
  }
  /* when whoever needs them can be placed: one step later, if too many were late */
  __device__ __forceinline__ int time() const { return key / 2 + (key % 2 && count > CHUNK_LATE); }
};

/* --- few keys --- */

/* Sorts a lane's N keys with numbers, in registers: Batcher's odd-even merge sort, whose steps are unrolled one by one.
 */
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

/* A lane's dependencies, at most N, as keys with their numbers, by readiness; then EMPTY. */
template <bool SHARED, int N> static __device__ __forceinline__ void place_keys(const PlaceView &v, PlaceShared &s,
                                                                                int from, int slot, int n,
                                                                                unsigned lane, unsigned (&key)[N])
{
#pragma unroll
  for (int j = 0; j < N; j++)
    key[j] = (unsigned)place_key<SHARED>(v, s, from, j < n ? s.item[slot][j][lane] : 0) * CHUNK_ITEMS + (unsigned)j;
#pragma unroll
  for (int j = 0; j < N; j++) key[j] = j < n ? key[j] : EMPTY;
  place_network<N>(key);
}

/* Keys of one lane, at most N, that rise. The lowest bit tells a sum, so that of equals a dependency is before it. */
template <int N> struct PlaceFew {
  unsigned key[N];
  int      rest = 0, gone = 0; /* gone: dependencies */

  __device__ __forceinline__ int left() const { return rest; }
  __device__ __forceinline__ int taken() const { return gone; }
  template <bool SHARED> __device__ __forceinline__ void fill(const PlaceView &v, PlaceShared &s, int from, int slot,
                                                              int n, unsigned lane)
  {
    unsigned char *const sorted = v.sorted + s.begin[slot][lane];

    place_keys<SHARED, N>(v, s, from, slot, n, lane, key);
#pragma unroll
    for (int j = 0; j < N; j++) {
      if (j < n) sorted[j] = (unsigned char)(key[j] % CHUNK_ITEMS);
      key[j] = j < n ? key[j] / CHUNK_ITEMS * 2 : EMPTY;
    }
    rest = n;
  }
  __device__ __forceinline__ int take()
  {
    const unsigned least = key[0];

#pragma unroll
    for (int j = 0; j < N - 1; j++) key[j] = key[j + 1];
    key[N - 1] = EMPTY;
    gone += !(least % 2);
    rest--;
    return (int)(least / 2);
  }
  __device__ __forceinline__ void add(bool any, int k)
  {
    const unsigned sum = any ? 2 * (unsigned)k + 1 : EMPTY;

#pragma unroll
    for (int j = N - 1; j > 0; j--) key[j] = max(key[j - 1], min(key[j], sum));
    key[0] = min(key[0], sum);
    rest += any;
  }
};

/* --- many --- */

/* Keys that rise, 32 words apart; the first two in registers, so that taking one waits for no memory. */
struct PlaceQueue {
  int taken = 0, size = 0, first = NEVER, second = NEVER;

  __device__ __forceinline__ int  left() const { return size - taken; }
  __device__ __forceinline__ void fill(const int *keys, int n)
  {
    size   = n;
    first  = keys[0];
    second = keys[32]; /* who has partial sums has two dependencies */
  }
  __device__ __forceinline__ void add(int *keys, int key)
  {
    keys[32 * size] = key;
    if (left() == 0) first = key;
    if (left() == 1) second = key;
    size++;
  }
};

/* Takes the least of two queues; of equals that of the first. */
static __device__ __forceinline__ int place_least(PlaceQueue &a, const int *in_a, PlaceQueue &b, const int *in_b)
{
  const bool from_b = b.first < a.first;
  const int  least = from_b ? b.first : a.first, next = (from_b ? b.taken : a.taken) + 2;
  const int  third = next < (from_b ? b.size : a.size) ? (from_b ? in_b : in_a)[32 * next] : (int)NEVER;

  if (from_b) b.taken++, b.first = b.second, b.second = third;
  else a.taken++, a.first = a.second, a.second = third;
  return least;
}

/* Sorts a lane's dependencies, at most N, in place of the items; notes their order. */
template <bool SHARED, int N> static __device__ __forceinline__ void place_sort(const PlaceView &v, PlaceShared &s,
                                                                                int from, int slot, int n,
                                                                                unsigned lane)
{
  unsigned key[N];

  place_keys<SHARED, N>(v, s, from, slot, n, lane, key);
#pragma unroll
  for (int j = 0; j < N; j++)
    if (j < n) {
      s.item[slot][j][lane] = (int)(key[j] / CHUNK_ITEMS);
      v.sorted[s.begin[slot][lane] + j] = (unsigned char)(key[j] % CHUNK_ITEMS);
    }
}

/* The same for few lanes, one after the other, by all: how many keys are less than its own is a key's place. Quicker
   than instructions that are unrolled, of which each has to come from far. */
template <bool SHARED> static __device__ __forceinline__ void place_count(const PlaceView &v, PlaceShared &s, int from,
                                                                          int slot, unsigned lanes, int n,
                                                                          unsigned lane)
{
  for (; lanes; lanes &= lanes - 1) {
    const int      of = __ffs((int)lanes) - 1, count = __shfl_sync(0xffffffffu, n, of);
    const unsigned key =
      (int)lane < count ? (unsigned)place_key<SHARED>(v, s, from, s.item[slot][lane][of]) * CHUNK_ITEMS + lane : EMPTY;
    int            place = 0;

    s.key[lane] = key;
    trsv_warp_sync();
#pragma unroll
    for (int j = 0; j < CHUNK_ITEMS; j++) place += s.key[j] < key;
    if ((int)lane < count) {
      s.item[slot][place][of] = (int)(key / CHUNK_ITEMS);
      v.sorted[s.begin[slot][of] + place] = (unsigned char)lane;
    }
    trsv_warp_sync();
  }
}

struct PlaceMany {
  PlaceQueue dependencies, sums;
  int       *items, *in_sums;

  __device__ __forceinline__ PlaceMany(int *in_dependencies, int *in_sums) : items(in_dependencies), in_sums(in_sums) {}
  __device__ __forceinline__ int  left() const { return dependencies.left() + sums.left(); }
  __device__ __forceinline__ int  taken() const { return dependencies.taken; }
  __device__ __forceinline__ void fill(int n) { dependencies.fill(items, n); }
  __device__ __forceinline__ int  take() { return place_least(dependencies, items, sums, in_sums); }
  __device__ __forceinline__ void add(bool any, int k)
  {
    if (any) sums.add(in_sums, k);
  }
};

/* --- records --- */

/* Places those of the lane's position, of so many at most in any lane, one after the other; needs: of one that is the
   only one. */
template <class Keys> static __device__ __forceinline__ void place_records(const PlaceView &v, PlaceShared &s,
                                                                           PlaceWarp &w, const PlacePosition &p,
                                                                           int longest, Keys &keys, PlaceMost needs)
{
  const int i = p.position - w.from;

  for (int r = 0; r < longest; r++) {
    const bool any = r < p.records, last = r == p.records - 1;

    if (p.records > 1 && any) {
      v.taken[p.first + r] = keys.taken();
      needs                = PlaceMost();
      for (int x = last ? keys.left() : v.K; x > 0; x--) needs.rise(keys.take());
    }
    const int t = place_room(s, any, needs.time(), v.W, w.start, w.lane);
    if (any) v.time[p.first + r] = t;
    if (last) trsv_store(v.finish + p.position, (unsigned)t);
    if (last && i < v.times) s.time[i] = t;
    w.most = max(w.most, any ? t : -1);
    keys.add(any && !last, 2 * t + 3);
  }
}

template <bool SHARED, int N> static __device__ __forceinline__ void place_few(const PlaceView &v, PlaceShared &s,
                                                                               PlaceWarp &w, int slot,
                                                                               const PlacePosition &p, int longest,
                                                                               const PlaceMost &needs)
{
  PlaceFew<N> keys;

  if (p.records > 1) keys.template fill<SHARED>(v, s, w.from, slot, p.n, w.lane);
  place_records(v, s, w, p, longest, keys, needs);
}

template <bool SHARED> static __device__ __forceinline__ void place_many(const PlaceView &v, PlaceShared &s,
                                                                         PlaceWarp &w, int slot, const PlacePosition &p,
                                                                         int longest, int widest,
                                                                         const PlaceMost &needs)
{
  PlaceMany      keys(&s.item[slot][0][w.lane], &s.sum[0][w.lane]);
  const unsigned several = __ballot_sync(0xffffffffu, p.records > 1);

  if (__popc(several) <= widest / 2) place_count<SHARED>(v, s, w.from, slot, several, p.n, w.lane);
  else if (p.records > 1) {
    if (widest <= 16) place_sort<SHARED, 16>(v, s, w.from, slot, p.n, w.lane);
    else place_sort<SHARED, CHUNK_ITEMS>(v, s, w.from, slot, p.n, w.lane);
  }
  if (p.records > 1) keys.fill(p.n);
  place_records(v, s, w, p, longest, keys, needs);
}

/* Positions of which none depends on another: one of each lane that has any. */
template <bool SHARED> static __device__ __forceinline__ void place_round(const PlaceView &v, PlaceShared &s,
                                                                          PlaceWarp &w, int slot,
                                                                          const PlacePosition &p)
{
  enum { QUICK = 4 }; /* dependencies that are looked up at once */
  const unsigned all    = v.first ? trsv_warp_max(p.records ? (unsigned)(64 * p.n + p.records) : 0)
                                  : 1; /* who has most dependencies has most records */
  const int      widest = (int)(all / 64), longest = (int)(all % 64);
  PlaceMost      needs;

  if (p.records == 1) {
    for (int x = 0; x < p.n; x += QUICK) {
      int item[QUICK];

#pragma unroll
      for (int u = 0; u < QUICK; u++) item[u] = x + u < p.n ? s.item[slot][x + u][w.lane] : 0;
#pragma unroll
      for (int u = 0; u < QUICK; u++) item[u] = place_key<SHARED>(v, s, w.from, item[u]);
#pragma unroll
      for (int u = 0; u < QUICK; u++) needs.add(item[u]);
    }
  }
  if (longest == 1 || widest <= 4) place_few<SHARED, 4>(v, s, w, slot, p, longest, needs);
  else if (widest <= 8) place_few<SHARED, 8>(v, s, w, slot, p, longest, needs);
  else place_many<SHARED>(v, s, w, slot, p, longest, widest, needs);
  trsv_warp_sync();
}

#endif
