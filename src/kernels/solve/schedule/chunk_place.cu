/*
   When each row of a triangle is worked on: the cut into chunks and the list scheduling of the algorithm `chunk`.

   The positions are cut into chunks of equally many records. Each chunk then takes its positions in falling height:
   each at the earliest time that its dependencies allow and whose step has room; a dependency in another chunk counts
   with its crossing. A position with more than K dependencies gets partial sums: as long as there are more than K, the
   K readiest become one, ready a step after the time it gets (chunk_place.cuh). Of all trees of sums this one is ready
   first.

   Mapping: a block for each chunk, in order of tickets. One warp places, 32 positions at a time, lane by lane; of
   these, those of one height do not depend on each other and are placed together, height after height. The other warps
   fetch the positions of the batches after this one, and when their dependencies in other chunks are done; a height can
   be placed when those of its positions are. Memory order: the time of a position is a word that is its own flag;
   within the block batches change hands by barriers and counters. Why it ends: a chunk waits for smaller chunks only,
   whose blocks have smaller tickets and so have started; within a block the warps that fetch wait for other blocks, or,
   some batches ahead, for the warp that places, and that one for them. Same result: the times of other chunks do not
   depend on when they are seen, and lanes get what room there is by number.
*/
#include <stddef.h>
#include "solve/schedule/chunk_place.cuh"

static __device__ __forceinline__ void place_fetch(const PlaceView &v, PlaceShared &s, unsigned base, int from,
                                                   int near_from, int count, int me, unsigned lane)
{
  enum { AHEAD = 8 };
  bool lost = false;

  for (int batch = me; batch * 32 < count; batch += FETCHERS) {
    const int      slot = batch % SLOTS, i = batch * 32 + (int)lane, p = i < count ? v.list[from + i] : -1,
                   h       = p < 0 ? 0 : v.height[p];
    const ChunkRow row = p < 0 ? ChunkRow{0, 0} : chunk_row(v.G, p);
    unsigned       missing = 0; /* dependencies whose position is in place of their time */

    if (batch >= SLOTS)
      trsv_barrier_wait(base + offsetof(PlaceShared, empty) + 8 * (unsigned)slot, (unsigned)(batch / SLOTS - 1) & 1);
    const int      before  = __shfl_up_sync(0xffffffffu, h, 1);
    const unsigned changes = __ballot_sync(0xffffffffu, lane && p >= 0 && h != before);
    const int      mine    = __popc(changes & ((2u << lane) - 1));
    const auto     set     = [&](int j, int c, unsigned t) {
      s.item[slot][j][lane] = 2 * ((int)t + (c >= near_from ? v.near : v.far));
    };

    s.position[slot][lane] = p;
    s.begin[slot][lane]    = row.begin;
    s.count[slot][lane]    = row.n;
    s.round[slot][lane]    = mine;
    s.first[slot][lane]    = v.first && p >= 0 ? v.first[p] : p;
    s.records[slot][lane]  = v.first && p >= 0 ? v.first[p + 1] - v.first[p] : 1;
    for (int j = 0; j < row.n; j += AHEAD) {
      int      c[AHEAD];
      unsigned t[AHEAD];

#pragma unroll
      for (int u = 0; u < AHEAD; u++) c[u] = j + u < row.n ? chunk_position(v.G, row.begin + j + u) : from;
#pragma unroll
      for (int u = 0; u < AHEAD; u++) t[u] = c[u] < from ? trsv_load(v.finish + c[u]) : 0;
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        if (j + u >= row.n) continue;
        if (c[u] >= from) s.item[slot][j + u][lane] = -1 - (c[u] - from);
        else if (t[u] != EMPTY) set(j + u, c[u], t[u]);
        else s.item[slot][j + u][lane] = c[u], missing |= 1u << (j + u);
      }
    }
    if (lane == 0 && batch % 64 == 0) trsv_note_progress(v.sync);
    for (int round = 0; round <= __popc(changes); round++) {
      TrsvSpinLimit spin;

      while (trsv_warp_any(mine == round && missing)) {
        for (unsigned left = mine == round ? missing : 0; left;) {
          int      c[AHEAD];
          unsigned t[AHEAD], one[AHEAD];

#pragma unroll
          for (int u = 0; u < AHEAD; u++)
            one[u] = left & (0 - left), left -= one[u], c[u] = one[u] ? s.item[slot][__ffs((int)one[u]) - 1][lane] : 0;
#pragma unroll
          for (int u = 0; u < AHEAD; u++) t[u] = !one[u] ? EMPTY : lost ? 0 : trsv_load(v.finish + c[u]);
#pragma unroll
          for (int u = 0; u < AHEAD; u++)
            if (t[u] != EMPTY) {
              set(__ffs((int)one[u]) - 1, c[u], t[u]);
              missing -= one[u];
            }
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

template <bool SHARED> static __device__ __forceinline__ void place_all(const PlaceView &v, PlaceShared &s,
                                                                        unsigned base, int from, int count,
                                                                        unsigned lane)
{
  PlaceWarp w = {from, lane, 0, -1};

  for (int x = (int)lane; x < WINDOW; x += 32) s.step[x] = ~0;
  s.nowhere[lane] = 0;
  trsv_warp_sync();
  for (int batch = 0; batch * 32 < count; batch++) {
    const int slot   = batch % SLOTS;
    unsigned  ready = 0; /* what its fetching warp was last heard to say */

    const auto wait = [&](int round) {
      for (const unsigned enough = 64 * (unsigned)batch + (unsigned)round + 1; ready < enough; trsv_pause())
        ready = trsv_shared_acquire(base + offsetof(PlaceShared, ready) + 4 * (unsigned)slot);
      trsv_warp_sync();
    };

    wait(0);
    const int     mine = s.round[slot][lane], rounds = (int)trsv_warp_max((unsigned)mine) + 1;
    PlacePosition p    = {s.position[slot][lane], s.count[slot][lane], s.first[slot][lane], 0};
    for (int round = 0; round < rounds; round++) {
      if (round) wait(round);
      p.records = p.position >= 0 && round == mine ? s.records[slot][lane] : 0;
      place_round<SHARED>(v, s, w, slot, p);
    }
    trsv_barrier_arrive_if(base + offsetof(PlaceShared, empty) + 8 * (unsigned)slot, lane == 0);
  }
  const int most = (int)trsv_warp_max((unsigned)(w.most + 1));
  if (lane == 0) atomicMax(v.words + CHUNK_LAST, (unsigned)most);
}

static __global__ void __launch_bounds__((1 + FETCHERS) * 32) chunk_place(const PlaceView v)
{
  TRSV_SHARED_DYNAMIC(memory);
  PlaceShared &s = *(PlaceShared *)memory;
  const unsigned warp = trsv_warp_uniform(threadIdx.x / 32), lane = threadIdx.x % 32, base = trsv_shared_address();

  if (threadIdx.x == 0) {
    s.chunk = atomicAdd(v.sync.ticket, 1u);
    s.lost  = trsv_load(v.sync.abort_device); /* the heights were: with some that are not true rows would be placed
                                                 before those they depend on */
    for (unsigned i = 0; i < SLOTS; i++) {
      s.ready[i] = 0;
      trsv_barrier_init(base + offsetof(PlaceShared, empty) + 8 * i, 1);
    }
    trsv_bulk_fence();
  }
  trsv_block_sync();
  if (s.lost) return;
  const int q = (int)s.chunk, from = v.cuts[q], count = v.cuts[q + 1] - from,
            near_from = q % v.cluster ? v.cuts[q - 1] : from;

  if (warp == 0 && count <= v.times) place_all<true>(v, s, base, from, count, lane);
  else if (warp == 0) place_all<false>(v, s, base, from, count, lane);
  else place_fetch(v, s, base, from, near_from, count, (int)warp - 1, lane);
}

/* --- the cut --- */

static __global__ void chunk_lengths(const ChunkGraph G, int K, int *records)
{
  const int p = trsv_index();

  if (p < G.n) records[p] = chunk_records(chunk_row(G, p).n, K);
}

/* keys: chunks and, within, falling heights */
static __global__ void chunk_cut(int n, const int *first, int chunks, int bits, const int *height,
                                 const unsigned *before, int *cuts, unsigned *keys, int *positions, unsigned *finish,
                                 unsigned *words)
{
  const int p = trsv_index();

  if (p < CHUNK_WORDS)
    words[p] = p == CHUNK_NODES ? (unsigned)(first ? first[n] : n) : p == CHUNK_ABORT_DEVICE ? before[p] : 0;
  if (p >= n) return;
  const int q = chunk_of(p, n, first, chunks);
  for (int x = p ? chunk_of(p - 1, n, first, chunks) + 1 : 0; x <= q; x++) cuts[x] = p;
  for (int x = q + 1; p == n - 1 && x <= chunks; x++) cuts[x] = n;
  keys[p]      = (unsigned)q << bits | ((1u << bits) - 1 - (unsigned)height[p]);
  positions[p] = p;
  finish[p]    = EMPTY;
}

/* --- all of it --- */

/* What is needed while positions are placed, and not after. */
struct PlaceRoom {
  int      *list;   /* [n] positions by chunk and, within, falling height */
  unsigned *finish; /* [n] when each is placed: its own flag */
  unsigned *words;
  void     *memory; /* that holds them */
};

/* Is any position longer than a record? */
static bool Several(const ChunkHeights *o, const TrsvChunkSettings *s) { return o->longest > s->length; }

/* How many records there are at most: no dependency has more partial sums than those of the longest position. */
static size_t Nodes(const ChunkHeights *o, const TrsvChunkSettings *s)
{
  const size_t n = (size_t)o->graph.n, off = (size_t)o->entries - (o->graph.stored ? n : 0),
               longest = (size_t)o->longest;

  return n + (Several(o, s) ? off * (longest - 2) / ((size_t)(s->length - 1) * longest) : 0);
}

static TrsvError Allocate(const ChunkHeights *o, const TrsvChunkSettings *s, ChunkSchedule *t, PlaceRoom *r)
{
  const bool   several = Several(o, s);
  const size_t n = (size_t)o->graph.n, nodes = Nodes(o, s);

  TrsvChunkScheduleFree(t);
  TrsvCall(ChunkCount(nodes, "records"));
  TrsvCall(TrsvArenaScratch([&](TrsvArena &a) {
    a.take(n + 1, t->cuts);
    if (several) a.take(n + 1, t->first), a.take(nodes, t->taken), a.take((size_t)o->entries, t->sorted);
  }, &t->memory));
  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) { a.take(nodes, t->time), a.take(nodes, t->spare[0]), a.take(nodes, t->spare[1]); }, &t->early));
  return TrsvArenaScratch(
    [&](TrsvArena &a) { a.take(n, r->list), a.take(n, r->finish), a.take(CHUNK_WORDS, r->words); }, &r->memory);
}

static TrsvError Place(const ChunkHeights *o, const TrsvChunkSettings *settings, int chunks, int bits, ChunkSchedule *t,
                       PlaceRoom *r)
{
  const ChunkGraph &G = o->graph;
  unsigned          now[CHUNK_WORDS];

  TrsvCall(Allocate(o, settings, t, r));
  unsigned *const keys = t->spare[0], *const sorted = t->spare[1];
  int *const      positions = t->time; /* before there are any */

  t->settings        = *settings;
  t->settings.chunks = chunks;
  if (t->first) {
    TrsvCall(TrsvLaunchEach("chunk_lengths", chunk_lengths, (size_t)G.n, G, settings->length, t->first + 1));
    TrsvCall(TrsvDeviceScan(G.n, t->first + 1, t->first));
  }
  TrsvCall(TrsvLaunchEach("chunk_cut", chunk_cut, (size_t)G.n, G.n, t->first, chunks, o->bits, o->height, o->words,
                       t->cuts, keys, positions, r->finish, r->words));
  TrsvCall(TrsvDeviceSort(G.n, bits, keys, sorted, positions, r->list));

  /* no more than the chunks need, so that another launch finds room (interleave.cu) */
  const size_t times = min(Nodes(o, settings) / (size_t)chunks + 1, (size_t)TIMES);
  PlaceView    v     = {G,
                        ChunkSync(r->words),
                        settings->length,
                        settings->width,
                        settings->far,
                        settings->near,
                        settings->cluster,
                        (int)times,
                        t->cuts,
                        r->list,
                        o->height,
                        t->first,
                        r->finish,
                        t->time,
                        t->taken,
                        t->sorted,
                        r->words};
  TrsvCall(TrsvDeviceSetMaxShared((const void *)chunk_place));
  TRSV_LAUNCH(chunk_place, (unsigned)chunks, (1 + FETCHERS) * 32, sizeof(PlaceShared) + sizeof(int) * times,
              (TrsvStream)NULL, v);
  TrsvCall(TrsvDeviceCheckLaunch("chunk_place"));
  TrsvCall(ChunkWordsRead(r->words, now));
  t->times = (int)now[CHUNK_LAST];
  t->nodes = (int)now[CHUNK_NODES];
  return t->times > LAST ? TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: a schedule of %d steps is too long", t->times)
                         : TRSV_SUCCESS;
}

TrsvError TrsvChunkPlace(const ChunkHeights *o, const TrsvChunkSettings *settings, ChunkSchedule *t)
{
  const int chunks = settings->chunks < o->graph.n ? settings->chunks : o->graph.n;
  PlaceRoom r = PlaceRoom();
  int       bits = 0;

  while (1 << bits < chunks) bits++;
  bits += o->bits;
  if (bits > 32)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: %d chunks are too many where chains are so long", chunks);
  const TrsvError error = Place(o, settings, chunks, bits, t, &r);
  TrsvScratchFree(r.memory, NULL);
  return error;
}

void TrsvChunkScheduleFree(ChunkSchedule *t)
{
  TrsvScratchFree(t->memory, NULL);
  TrsvScratchFree(t->early, NULL);
  *t = ChunkSchedule();
}
