/*
   chunk_place.cuh: the warp of chunk_place.cu that places positions, in rounds of positions none of which depends on
   another. The time of a position with one record depends on its latest dependency. With several records, each takes
   the K least keys of dependencies and partial sums, which are in two queues. Each record takes the first step from its
   time on that is not full. together() is the fast way to find such steps; it gives up if one is full. Then, and in the
   rounds after a full step, in_turn() finds them. If no step is full, both find the same times.
*/
#ifndef TRSV_CHUNK_PLACE_CUH
#define TRSV_CHUNK_PLACE_CUH

#include "solve/schedule/chunk_graph.cuh"

#ifndef PLACE_WINDOW /* tests/simt/sizes.h has smaller sizes */
  #define PLACE_WINDOW 4096  /* the number of consecutive times whose steps accept records */
  #define PLACE_TIMES  40000 /* positions whose time is in shared memory, at most */
#endif

enum {
  BATCH_SLOTS = 8,                                     /* batches that are fetched ahead */
  FETCHERS    = 7,                                     /* warps that fetch batches */
  TIME_MAX    = 0x7fffffff / (2 * CHUNK_ITEMS) - 1000, /* a key and the number of a dependency share a word */
  QUEUE_END   = 0x7fffffff                             /* the key after the last one of a queue */
};

static const unsigned UNPLACED = 0xffffffffu; /* the word of a position that has no time yet */
static const unsigned NO_KEY   = 0xffffffffu; /* greater than all keys */

/* The position of a lane. */
struct PlacePosition {
  int position, n;    /* n: dependencies */
  int first, records; /* its first record; the number of its records, 0: the lane places nothing in this round */
  int begin, round;   /* its first entry; its round in the batch */
};

struct PlaceShared {
  unsigned long long empty[BATCH_SLOTS]; /* barriers */
  unsigned           ready[BATCH_SLOTS]; /* 64 * batch + the rounds of it that can be placed */
  unsigned           chunk, lost;
  int step[PLACE_WINDOW]; /* by time modulo PLACE_WINDOW: INT_MIN + records; or, only of a full step, a later time such
                             that all steps between are full */
  PlacePosition at[BATCH_SLOTS][32];
  int item[BATCH_SLOTS][CHUNK_ITEMS][32]; /* of another chunk: its key; of this chunk: -1 - its place in the chunk */
  int sum[CHUNK_ITEMS][32];
  alignas(16) unsigned key[CHUNK_ITEMS / 4][4]; /* of one position; aligned for loads of four */
  int      time[1];          /* [v.near] */
};

struct PlaceView : ChunkSchedule {
  ChunkGraph G;
  TrsvSync   sync;
  int        near; /* positions whose time is in shared memory */
  const int *list, *height;
  unsigned  *finish;
};

/* The greatest key, and the number of keys that are equal to it. */
struct PlaceLatest {
  int key = 0, count = 0;

  TRSV_INLINE void add(int k)
  {
    count = k > key ? 1 : count + (k == key);
    key   = k > key ? k : key;
  }
  /* adds a key that is not less than the earlier ones */
  TRSV_INLINE void rise(int k)
  {
    count = k > key ? 1 : count + 1;
    key   = k;
  }
  /* the first time of a record with these keys: one step later if too many are late */
  TRSV_INLINE int time() const { return key / 2 + (key % 2 && count > CHUNK_LATE); }
};

/* --- queues of keys --- */

/* Sorts N keys with numbers in registers: Batcher's odd-even merge sort, unrolled step by step. */
template <int N, int P = 1, int K = 1> static TRSV_INLINE void place_network(unsigned (&key)[N])
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

/* Sorted keys, 32 words apart. The first two are in registers. */
struct PlaceQueue {
  int  left, first, second; /* QUEUE_END: there is none */
  int *third; /* in shared memory */

  /* Takes the first key if asked. The load is needed two keys later, so nothing waits for it. */
  TRSV_INLINE void take(bool asked)
  {
    first  = asked ? second : first;
    second = asked ? (int)QUEUE_END : second;
    if (asked && left > 2) second = *third;
    third += asked ? 32 : 0;
    left -= asked;
  }
  TRSV_INLINE void add(int key)
  {
    third[32 * (left - 2)] = key;
    if (left == 0) first = key;
    if (left == 1) second = key;
    left++;
  }
};

/* The dependencies and the partial sums of a position with several records. */
struct PlaceItems {
  PlaceQueue keys, sums;

  /* Takes the least keys for the next record, at most K; there are at least two. Of equal keys, those of dependencies
     come first. *taken gets the number of dependencies, of n, in earlier records. */
  TRSV_INLINE PlaceLatest take(int K, int n, int *taken)
  {
    PlaceLatest needs;
    int         left = min(K, keys.left + sums.left);

    *taken = n - keys.left;
#pragma unroll 1
    do {
      const bool sum = sums.first < keys.first;
      needs.rise(min(keys.first, sums.first));
      keys.take(!sum);
      sums.take(sum);
    } while (--left > 0);
    return needs;
  }
};

/* The warp that places the positions of a chunk. SHARED: all their times are in shared memory, so no lane checks
   that. */
struct PlaceWarp {
  const PlaceView &v;
  PlaceShared     &s;
  int              from; /* the first position of the chunk */
  unsigned         lane;
  int              start = 0, most = -1; /* the window's first time; the last time of any of the lane's records */
  bool             crowded = false;      /* a step was full in the last round with several records of a position */

  /* For each lane that asks: takes the first step from time t on that is not full, and returns its time. Steps before
     start take no more. If a step cannot take all lanes that ask for it, it takes them in the order of lanes. */
  TRSV_INLINE int take_step(bool asks, int t)
  {
    if (t < start) t = start;
    for (;;) {
      int n = s.step[(unsigned)t % PLACE_WINDOW]; /* the word of step t */

      for (;;) {
        const bool moves = asks && n >= 0 && t < start + PLACE_WINDOW;

        if (!trsv_warp_any(moves)) break;
        const int further = s.step[(unsigned)n % PLACE_WINDOW]; /* not used if step n is outside the window */
        if (moves && n < start + PLACE_WINDOW && further >= 0) s.step[(unsigned)t % PLACE_WINDOW] = further;
        t = moves ? n : t;
        n = moves ? further : n;
      }
      const bool     inside = asks && t < start + PLACE_WINDOW;
      const unsigned same   = trsv_warp_match(inside ? (unsigned)t : NO_KEY);
      const int      rank = __popc(same & ((1u << lane) - 1)), records = n & INT_MAX, all = records + __popc(same);

      if (inside && rank == 0) s.step[(unsigned)t % PLACE_WINDOW] = all < v.settings.width ? INT_MIN + all : t + 1;
      if (inside && records + rank < v.settings.width) asks = false;
      trsv_warp_sync();
      if (!trsv_warp_any(asks)) return t;
      if (trsv_warp_any(asks && t >= start + PLACE_WINDOW)) {
        const int from = start + PLACE_WINDOW;

        start = (int)trsv_warp_max(asks ? (unsigned)t : 0) - PLACE_WINDOW / 2;
        for (int x = max(from, start) + (int)lane; x < start + PLACE_WINDOW; x += 32)
          s.step[(unsigned)x % PLACE_WINDOW] = INT_MIN;
        if (asks && t < start) t = start;
        trsv_warp_sync();
      }
    }
  }

  /* The key of a dependency: twice the first time at which it can be used, plus one if it is in this chunk: used at
     that time, such a dependency is late. */
  template <bool SHARED> TRSV_INLINE int key(int item)
  {
    const int i    = item < 0 ? -1 - item : 0,
              time = SHARED || i < v.near ? s.time[i] : (int)trsv_load(v.finish + from + i);

    return item < 0 ? 2 * time + 3 : item;
  }

  TRSV_INLINE PlaceItems items_of(int slot, int n)
  {
    return {
      {n, s.item[slot][0][lane], s.item[slot][1][lane], &s.item[slot][2][lane]},
      {0, QUEUE_END,             QUEUE_END,             &s.sum[2][lane]       }
    };
  }

  /* Sorts a lane's dependencies, at most N, in registers: replaces the items by keys, and stores their order. */
  template <bool SHARED, int N> TRSV_INLINE void sort(int slot, int n)
  {
    unsigned keys[N];

#pragma unroll
    for (int j = 0; j < N; j++)
      keys[j] = (unsigned)key<SHARED>(j < n ? s.item[slot][j][lane] : 0) * CHUNK_ITEMS + (unsigned)j;
#pragma unroll
    for (int j = 0; j < N; j++) keys[j] = j < n ? keys[j] : NO_KEY;
    place_network<N>(keys);
#pragma unroll
    for (int j = 0; j < N; j++)
      if (j < n) {
        s.item[slot][j][lane]             = (int)(keys[j] / CHUNK_ITEMS);
        v.sorted[s.at[slot][lane].begin + j] = (unsigned char)(keys[j] % CHUNK_ITEMS);
      }
  }

  /* The same for the positions of a few lanes, one after the other, by the whole warp: the place of a key is the number
     of smaller keys. For few lanes it is faster than the unrolled sort, which misses the instruction cache. widest: the
     most dependencies of a position. */
  template <bool SHARED> TRSV_INLINE void rank(int slot, unsigned lanes, int n, int widest)
  {
    for (; lanes; lanes &= lanes - 1) {
      const int      of = __ffs((int)lanes) - 1, count = __shfl_sync(0xffffffffu, n, of);
      const unsigned mine =
        (int)lane < count ? (unsigned)key<SHARED>(s.item[slot][lane][of]) * CHUNK_ITEMS + lane : NO_KEY;
      int            place = 0;

      s.key[lane / 4][lane % 4] = mine;
      trsv_warp_sync();
      for (int j = 0; 4 * j < widest; j++)
#pragma unroll
        for (int u = 0; u < 4; u++) place += s.key[j][u] < mine;
      if ((int)lane < count) {
        s.item[slot][place][of]             = (int)(mine / CHUNK_ITEMS);
        v.sorted[s.at[slot][of].begin + place] = (unsigned char)lane;
      }
      trsv_warp_sync();
    }
  }

  /* Sorts the dependencies of the lanes' positions with several records. widest: most dependencies of a position. */
  template <bool SHARED> TRSV_INLINE void sort_all(int slot, const PlacePosition &p, int widest)
  {
    const unsigned several = __ballot_sync(0xffffffffu, p.records > 1);

    if (__popc(several) <= widest / 2) rank<SHARED>(slot, several, p.n, widest);
    else if (p.records > 1) {
      if (widest <= 4) sort<SHARED, 4>(slot, p.n);
      else if (widest <= 8) sort<SHARED, 8>(slot, p.n);
      else if (widest <= 16) sort<SHARED, 16>(slot, p.n);
      else sort<SHARED, CHUNK_ITEMS>(slot, p.n);
    }
  }

  /* Finds the times of the records of the lanes' positions as if no step were full, each lane on its own, and takes
     their steps. *last: the time of a lane's last record. If a step cannot take all records that ask for it, or is
     outside the window, takes none and returns false. needs: the latest dependencies of a position with one record. */
  TRSV_INLINE bool together(int slot, const PlacePosition &p, PlaceLatest needs, int *last)
  {
    const bool several = p.records > 1;
    PlaceItems items = items_of(slot, p.n);
    int        before = INT_MIN, most = INT_MIN, t = 0; /* words of steps before a record took them: last, most */

    for (int r = 0; r < p.records; r++) {
      if (several) needs = items.take(v.settings.length, p.n, v.taken + p.first + r);
      t    = max(needs.time(), start);
      most = max(most, before); /* of the record before, so that nothing waits for the atomic */
      before              = atomicAdd(&s.step[(unsigned)t % PLACE_WINDOW], 1);
      v.time[p.first + r] = t;
      items.sums.add(2 * t + 3);
    }
    *last = t;
    const bool fits = !trsv_warp_any(max(most, before) >= INT_MIN + v.settings.width || t >= start + PLACE_WINDOW);
    for (int r = 0; !fits && r < p.records; r++)
      atomicAdd(&s.step[(unsigned)((s.sum[r][lane] - 3) / 2) % PLACE_WINDOW], -1);
    trsv_warp_sync();
    return fits;
  }

  /* The same, one record of each lane after the other, each of which takes the first step that is not full. Sets
     crowded. longest: the largest number of records of a lane. Returns the time of a lane's last record. */
  TRSV_INLINE int in_turn(int slot, const PlacePosition &p, int longest, PlaceLatest needs)
  {
    const bool several = p.records > 1;
    PlaceItems items = items_of(slot, p.n);
    int        last  = 0;
    bool       moved = false;

    for (int r = 0; r < longest; r++) {
      const bool any = r < p.records;

      if (several && any) needs = items.take(v.settings.length, p.n, v.taken + p.first + r);
      const int t = max(needs.time(), start), step = take_step(any, t);

      if (any) v.time[p.first + r] = last = step;
      if (r < p.records - 1) items.sums.add(2 * step + 3);
      moved = moved || (any && step > t);
    }
    if (longest > 1) crowded = trsv_warp_any(moved);
    return last;
  }

  /* Places a round: at most one position of each lane, none of which depends on another. */
  template <bool SHARED> TRSV_INLINE void round(int slot, const PlacePosition &p)
  {
    enum { LOOKUPS = 4 }; /* dependencies that are looked up together */
    const unsigned all    = v.first ? trsv_warp_max(p.records ? (unsigned)(64 * p.n + p.records) : 0)
                                    : 1; /* most dependencies means most records */
    const int      widest = (int)(all / 64), longest = (int)(all % 64), i = p.position - from;
    PlaceLatest    needs;
    int            t = 0;

    if (p.records == 1) {
      for (int x = 0; x < p.n; x += LOOKUPS) {
        int item[LOOKUPS];

#pragma unroll
        for (int u = 0; u < LOOKUPS; u++) item[u] = x + u < p.n ? s.item[slot][x + u][lane] : 0;
#pragma unroll
        for (int u = 0; u < LOOKUPS; u++) item[u] = key<SHARED>(item[u]);
#pragma unroll
        for (int u = 0; u < LOOKUPS; u++) needs.add(item[u]);
      }
    }
    if (longest > 1) sort_all<SHARED>(slot, p, widest);
    if (longest == 1 || crowded || !together(slot, p, needs, &t)) t = in_turn(slot, p, longest, needs);
    if (p.records) {
      trsv_store(v.finish + p.position, (unsigned)t);
      if (i < v.near) s.time[i] = t;
      most = max(most, t);
    }
    trsv_warp_sync();
  }
};

#endif
