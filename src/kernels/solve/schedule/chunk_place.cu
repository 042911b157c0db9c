/*
   The schedule of the algorithm `chunk`: cuts a triangle into chunks of equally many records, and schedules the
   positions of each chunk in the order of falling height. A position gets the earliest time at which its dependencies
   are ready and whose step is not full; one in another chunk is ready steps_l2 or steps_cluster after its time. A
   position with more than K dependencies gets partial sums: while more than K items are left, the K that are ready
   first become one sum, which is ready a step after its own time. No other tree of sums is ready earlier.

   Mapping: one block for each chunk, in the order of tickets. One warp places batches of 32 positions, one in each
     lane. The positions of a batch with the same height, which do not depend on each other, are a round and are placed
     together. The other warps fetch the positions of the next batches, and the times of their dependencies in other
     chunks. A round is placed after all its dependencies are fetched.
   Memory order: the time of a position is its own flag. Within a block, barriers and counters pass batches.
   Why it ends: a chunk waits only for smaller chunks, whose blocks have smaller tickets and so have started. Within a
     block, a fetching warp waits for other blocks, or, BATCH_SLOTS batches ahead, for the placing warp; the placing
     warp waits only for fetching warps, and for batches that do not wait for it.
   Same bits: the times of other chunks do not depend on when they are read; lanes take steps in the order of lanes.
   Source: this project; list scheduling by height.
*/
#include <stddef.h>
#include "solve/schedule/chunk_place.cuh"

/* Fetches the batches me, me + FETCHERS, ... */
static TRSV_INLINE void place_fetch(const PlaceView &v, PlaceShared &s, unsigned base, int from, int previous_from,
                                    int count, int me, unsigned lane)
{
  enum {
    LOADS = 8, /* dependencies that are loaded together */
    POLLS = 4  /* the same of those that are waited for */
  };
  bool lost = false;

  for (int batch = me; batch * 32 < count; batch += FETCHERS) {
    const int      slot = batch % BATCH_SLOTS, i = batch * 32 + (int)lane, p = i < count ? v.list[from + i] : -1,
                   h       = p < 0 ? 0 : v.height[p];
    const ChunkRow row = p < 0 ? ChunkRow{0, 0} : chunk_row(v.G, p);
    unsigned       missing = 0; /* dependencies whose item is still a position, not a time */

    if (batch >= BATCH_SLOTS)
      trsv_barrier_wait(base + offsetof(PlaceShared, empty) + 8 * (unsigned)slot,
                        (unsigned)(batch / BATCH_SLOTS - 1) & 1);
    const int      before  = __shfl_up_sync(0xffffffffu, h, 1);
    const unsigned changes = __ballot_sync(0xffffffffu, lane && p >= 0 && h != before);
    const int      mine    = __popc(changes & ((2u << lane) - 1));
    const auto     set     = [&](int j, int c, unsigned t) {
      s.item[slot][j][lane] = 2 * ((int)t + (c >= previous_from ? v.settings.steps_cluster : v.settings.steps_l2));
    };

    const int first = v.first && p >= 0 ? v.first[p] : p, records = v.first && p >= 0 ? v.first[p + 1] - first : 1;

    s.at[slot][lane] = {p, row.n, first, records, row.begin, mine};
    for (int j = 0; j < row.n; j += LOADS) {
      int      c[LOADS];
      unsigned t[LOADS];

#pragma unroll
      for (int u = 0; u < LOADS; u++) c[u] = j + u < row.n ? v.G.position(row.begin + j + u) : from;
#pragma unroll
      for (int u = 0; u < LOADS; u++) t[u] = c[u] < from ? trsv_load(v.finish + c[u]) : 0;
#pragma unroll
      for (int u = 0; u < LOADS; u++) {
        if (j + u >= row.n) continue;
        if (c[u] >= from) s.item[slot][j + u][lane] = -1 - (c[u] - from);
        else if (t[u] != UNPLACED) set(j + u, c[u], t[u]);
        else s.item[slot][j + u][lane] = c[u], missing |= 1u << (j + u);
      }
    }
    if (lane == 0 && batch % 64 == 0) trsv_note_progress(v.sync);
    for (int round = 0; round <= __popc(changes); round++) {
      TrsvSpinLimit spin;

      while (trsv_warp_any(mine == round && missing)) {
        unsigned left = mine == round ? missing : 0, t[POLLS];
        int      j[POLLS], c[POLLS]; /* j: -1: nothing to poll */

        /* no branch depends on the lane, so the warp stays together */
#pragma unroll
        for (int u = 0; u < POLLS; u++) j[u] = __ffs((int)left) - 1, left &= left - 1;
#pragma unroll
        for (int u = 0; u < POLLS; u++) c[u] = s.item[slot][max(j[u], 0)][lane];
#pragma unroll
        for (int u = 0; u < POLLS; u++) t[u] = trsv_load_if(v.finish + c[u], j[u] >= 0, UNPLACED);
#pragma unroll
        for (int u = 0; u < POLLS; u++)
          if (j[u] >= 0 && (lost || t[u] != UNPLACED)) {
            set(j[u], c[u], lost ? 0 : t[u]);
            missing &= ~(1u << j[u]);
          }
        lost = trsv_warp_any(!spin.more(v.sync, true)) || lost;
      }
      trsv_warp_sync();
      if (lane == 0)
        trsv_shared_release(base + offsetof(PlaceShared, ready) + 4 * (unsigned)slot,
                            64 * (unsigned)batch + (unsigned)round + 1);
    }
  }
}

/* Places the positions of a chunk. */
template <bool SHARED> static TRSV_INLINE void place_all(PlaceWarp w, unsigned base, int count)
{
  PlaceShared   &s    = w.s;
  const unsigned lane = w.lane;

  for (int x = (int)lane; x < PLACE_WINDOW; x += 32) s.step[x] = INT_MIN;
  trsv_warp_sync();
  for (int batch = 0; batch * 32 < count; batch++) {
    const int slot  = batch % BATCH_SLOTS;
    unsigned  ready = 0; /* 64 * batch + the rounds of it that are known to be fetched */

    const auto wait = [&](int round) {
      for (const unsigned enough = 64 * (unsigned)batch + (unsigned)round + 1; ready < enough; trsv_pause())
        ready = trsv_shared_acquire(base + offsetof(PlaceShared, ready) + 4 * (unsigned)slot);
      trsv_warp_sync();
    };

    wait(0);
    PlacePosition p       = s.at[slot][lane];
    const int     records = p.position < 0 ? 0 : p.records, rounds = (int)trsv_warp_max((unsigned)p.round) + 1;
    for (int round = 0; round < rounds; round++) {
      if (round) wait(round);
      p.records = round == p.round ? records : 0;
      w.round<SHARED>(slot, p);
    }
    trsv_barrier_arrive_if(base + offsetof(PlaceShared, empty) + 8 * (unsigned)slot, lane == 0);
  }
  const int most = (int)trsv_warp_max((unsigned)(w.most + 1));
  if (lane == 0) atomicMax(w.v.words + CHUNK_MAXIMUM, (unsigned)most);
}

static __global__ void __launch_bounds__((1 + FETCHERS) * 32) chunk_place(const PlaceView v)
{
  TRSV_SHARED_DYNAMIC(memory);
  PlaceShared   &s    = *(PlaceShared *)memory;
  const unsigned warp = trsv_warp_uniform(threadIdx.x / 32), lane = threadIdx.x % 32, base = trsv_shared_address();

  if (threadIdx.x == 0) {
    s.chunk = atomicAdd(v.sync.ticket, 1u);
    s.lost  = trsv_load(v.sync.abort_device); /* 1: heights are missing, so the order of the positions is wrong */
    for (unsigned i = 0; i < BATCH_SLOTS; i++) {
      s.ready[i] = 0;
      trsv_barrier_init(base + offsetof(PlaceShared, empty) + 8 * i, 1);
    }
    trsv_bulk_fence();
  }
  __syncthreads();
  if (s.lost) return;
  const int q = (int)s.chunk, from = v.cuts[q], count = v.cuts[q + 1] - from,
            previous_from = q % v.settings.cluster ? v.cuts[q - 1] : from;

  if (warp == 0 && count <= v.near) place_all<true>({v, s, from, lane}, base, count);
  else if (warp == 0) place_all<false>({v, s, from, lane}, base, count);
  else place_fetch(v, s, base, from, previous_from, count, (int)warp - 1, lane);
}

/* --- the cut --- */

/* The records of each position, K dependencies to a record: all but the last are partial sums. */
static __global__ void chunk_lengths(const ChunkGraph G, int K, int *records)
{
  const int p = trsv_index(), n = p < G.rows ? chunk_row(G, p).n : 0;

  if (p < G.rows) records[p] = n <= K ? 1 : 1 + (n - 2) / (K - 1);
}

/* keys: chunk, then falling height. */
static __global__ void chunk_cut(int n, const int *first, int chunks, int bits, const int *height,
                                 const unsigned *before, int *cuts, unsigned *keys, int *positions, unsigned *finish,
                                 unsigned *words)
{
  const int p = trsv_index();

  if (p < CHUNK_WORDS)
    words[p] = p == CHUNK_NODES ? (unsigned)chunk_first(first, n) : p == TRSV_ABORT_DEVICE ? before[p] : 0;
  if (p >= n) return;
  const int q = chunk_of(p, n, first, chunks);
  for (int x = p ? chunk_of(p - 1, n, first, chunks) + 1 : 0; x <= q; x++) cuts[x] = p;
  for (int x = q + 1; p == n - 1 && x <= chunks; x++) cuts[x] = n;
  keys[p]      = (unsigned)q << bits | ((1u << bits) - 1 - (unsigned)height[p]);
  positions[p] = p;
  finish[p]    = UNPLACED;
}

TrsvError TrsvChunkPlaceBegin(const ChunkHeights *o, const TrsvChunkSettings *settings, ChunkSchedule *t)
{
  const ChunkGraph &G      = o->graph;
  const int         chunks = min(settings->chunks, G.rows), bits = o->bits + TrsvBits(chunks - 1), K = settings->length;
  const size_t      n = (size_t)G.rows, entries = (size_t)o->entries, longest = (size_t)o->longest;
  const bool        sums = o->longest > K; /* some position has more dependencies than a record */
  int              *list;   /* [n] positions by chunk, then falling height */
  unsigned         *finish; /* [n] the time of each position, its own flag */

  if (bits > 32)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: %d chunks and heights of %d bits exceed a 32-bit key", chunks,
                    o->bits);
  /* an upper bound of the records: the longest position has the most partial sums for each dependency */
  const size_t nodes = n + (sums ? (entries - (G.stored ? n : 0)) * (longest - 2) / ((size_t)(K - 1) * longest) : 0);
  TrsvChunkScheduleFree(t);
  TrsvCall(ChunkCount(nodes, "records"));
  TrsvCall(TrsvScratchArrays(&t->memory, n + 1, t->cuts, sums ? n + 1 : 0, t->first, sums ? nodes : 0, t->taken,
                             sums ? entries : 0, t->sorted));
  if (!sums) t->first = t->taken = NULL, t->sorted = NULL;
  TrsvCall(TrsvScratchArrays(&t->early, nodes, t->time, nodes, t->spare[0], nodes, t->spare[1]));
  TrsvCall(TrsvScratchArrays(&t->placing, n, list, n, finish, (size_t)CHUNK_WORDS, t->words));
  unsigned *const keys = t->spare[0], *const sorted = t->spare[1];
  int *const positions = t->time; /* times are written after the sort */

  t->settings        = *settings;
  t->settings.chunks = chunks;
  if (sums) {
    TrsvCall(TrsvLaunchEach(chunk_lengths, n, G, K, t->first + 1));
    TrsvCall(TrsvDeviceScan(G.rows, t->first + 1, t->first));
  }
  TrsvCall(TrsvLaunchEach(chunk_cut, n, G.rows, t->first, chunks, o->bits, o->height, o->words, t->cuts, keys,
                          positions, finish, t->words));
  TrsvCall(TrsvDeviceSort(G.rows, bits, keys, sorted, positions, list));

  /* no more than a chunk needs, so that another launch fits beside this one (lock step) */
  const size_t room = (TrsvDeviceGetLimits().shared_bytes - sizeof(PlaceShared)) / sizeof(int),
               near = min(nodes / (size_t)chunks + 1, min(room, (size_t)PLACE_TIMES));
  const PlaceView v = {*t, G, TrsvSyncScratch(t->words), (int)near, list, o->height, finish};

  TrsvCall(TrsvDeviceSetMaxShared((const void *)chunk_place));
  return TrsvLaunch(chunk_place, (unsigned)chunks, (1 + FETCHERS) * 32, sizeof(PlaceShared) + sizeof(int) * near, NULL,
                    v);
}

TrsvError TrsvChunkPlaceEnd(ChunkSchedule *t)
{
  unsigned now[CHUNK_WORDS];

  TrsvCall(TrsvDeviceDownload(now, t->words, sizeof(now), NULL));
  TrsvCall(TrsvSyncCheck(now, "the schedule of chunk"));
  TrsvScratchRelease(t->placing);
  t->times   = (int)now[CHUNK_MAXIMUM];
  t->nodes   = (int)now[CHUNK_NODES];
  return t->times > TIME_MAX ? TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: a schedule of %d steps exceeds %d", t->times,
                                       (int)TIME_MAX)
                             : TRSV_SUCCESS;
}

void TrsvChunkScheduleFree(ChunkSchedule *t)
{
  TrsvScratchRelease(t->memory);
  TrsvScratchRelease(t->early);
  TrsvScratchRelease(t->placing);
  *t = ChunkSchedule();
}
