/*
   Places of records: the steps of each chunk of the algorithm `chunk`, the stages that they fill, and the dependencies
   that go through cells for imports.

   Times without a record are left out, except one of each gap: it keeps dependencies from before the gap from being
   late.

   Mapping: one thread for each record. Nothing crosses threads within a launch.
*/
#include <limits.h>
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_emission.cuh"

static __global__ void emit_keys(const ChunkEmission e, unsigned *keys, int *nodes)
{
  const int p = trsv_index();

  if (p >= e.G.n) return;
  const unsigned chunk = (unsigned)chunk_of(p, e.G.n, e.first, e.chunks) << e.bits;
  for (int u = e.first ? e.first[p] : p, end = e.first ? e.first[p + 1] : p + 1; u < end; u++) {
    keys[u]  = chunk | (unsigned)e.time[u];
    nodes[u] = u;
    if (e.owner) e.owner[u] = p;
  }
}

static __global__ void emit_steps(const ChunkEmission e, int *fresh)
{
  const int i = trsv_index();

  if (i == 0) e.totals[2] = 0;
  if (i >= e.nodes) return;
  const int      q = emit_chunk(e, i), before = i ? emit_chunk(e, i - 1) : -1;
  const unsigned gap = before == q ? e.key[i] - e.key[i - 1] : 0;

  fresh[i] = gap < 2 ? (int)gap : 2;
  for (int x = before + 1; x <= q; x++) e.begin[x] = i;
  for (int x = q + 1; i == e.nodes - 1 && x <= e.chunks; x++) e.begin[x] = e.nodes;
}

static __global__ void emit_places(const ChunkEmission e, int *stages)
{
  const int i = trsv_index();

  if (i < e.chunks && e.begin[i] == e.begin[i + 1]) stages[i] = 0;
  if (i >= e.nodes) return;
  const int q = emit_chunk(e, i), begin = e.begin[q], u = e.node[i], step = e.step[i + 1] - e.step[begin + 1];
  int       lane = 0;

  while (i - lane > begin && e.step[i - lane] == e.step[i + 1]) lane++;
  e.at[u]    = step * e.W + lane;
  e.index[u] = i;
  if (i + 1 == e.begin[q + 1]) stages[q] = step * e.W / emit_rows(e) + 1;
}

static __global__ void emit_count(const ChunkEmission e, int *uses, int *values)
{
  const int i = trsv_index();
  int       n = 0, all = 1, first = INT_MAX, last = 0;

  if (i >= e.nodes) return;
  const int node = e.node[i];
  emit_uses(e, i, [&](int) { n++; });
  emit_dependencies(e, node, [&](int, int s) {
    all++;
    if (s >= 2) first = min(first, s), last = max(last, s);
  });
  uses[i]   = n;
  values[i] = all;
  if (!last) return;
  const int d = emit_diagonal(e, e.owner ? e.owner[node] : node, first), a = e.toward * (first - d),
            b = e.toward * (last - d);
  if (min(a, b) < 1 || max(a, b) > CHUNK_APART_MAX) atomicMax(e.totals + 2, 1);
}

/* Copies the ends of two scans next to the result of emit_count. */
static __global__ void emit_totals(const ChunkEmission e)
{
  if (threadIdx.x == 0) e.totals[0] = e.stage[e.chunks];
  if (threadIdx.x == 1) e.totals[1] = e.use[e.nodes];
}

TrsvError TrsvChunkNumber(const ChunkHeights *o, const ChunkSchedule *t, ChunkEmission *e, void **memory)
{
  const TrsvChunkSettings *s = &t->settings;
  const size_t             n = (size_t)t->nodes, chunks = (size_t)s->chunks;
  unsigned *const          keys = t->spare[1];
  const int                bits = TrsvBits(t->times - 1), chunk_bits = TrsvBits(s->chunks - 1);
  int                      totals[3];

  e->G = o->graph, e->K = s->length, e->W = s->width, e->chunks = s->chunks, e->cluster = s->cluster, e->ring = s->ring,
  e->import_lifetime = s->import_lifetime;
  e->nodes           = t->nodes;
  e->stored = o->stored, e->toward = o->toward;
  e->cuts = t->cuts, e->first = t->first, e->time = t->time, e->taken = t->taken, e->sorted = t->sorted;
  if (bits + chunk_bits > 32)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: a schedule of %d steps in %d chunks is too long", t->times,
                    s->chunks);
  e->bits = bits;
  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) {
      a.take(t->first ? n : 0, e->owner), a.take(n, e->at), a.take(n, e->push), a.take(n, e->node),
        a.take(n + 1, e->step), a.take(n + 1, e->use), a.take(n + 1, e->source);
      a.take(chunks + 1, e->begin), a.take(chunks + 1, e->stage), a.take(chunks + 1, e->batch), a.take(3, e->totals);
    },
    memory));
  e->key     = t->spare[0];
  e->index   = (int *)keys; /* free after the sort */
  e->export_ = e->step;
  if (!t->first) e->owner = NULL;
  TrsvCall(TrsvLaunchEach("emit_keys", emit_keys, (size_t)e->G.n, *e, keys, e->at));
  TrsvCall(TrsvDeviceSort(t->nodes, bits + chunk_bits, keys, e->key, e->at, e->node));
  TrsvCall(TrsvLaunchEach("emit_steps", emit_steps, n, *e, e->step + 1));
  TrsvCall(TrsvDeviceScan(t->nodes, e->step + 1, e->step));
  TrsvCall(TrsvLaunchEach("emit_places", emit_places, n > chunks ? n : chunks, *e, e->stage + 1));
  TrsvCall(TrsvDeviceScan(e->chunks, e->stage + 1, e->stage));
  TrsvCall(TrsvLaunchEach("emit_count", emit_count, n, *e, e->use + 1, e->source + 1));
  TrsvCall(TrsvDeviceScan(t->nodes, e->use + 1, e->use));
  TrsvCall(TrsvDeviceScan(t->nodes, e->source + 1, e->source));
  TrsvCall(TrsvLaunchEach("emit_totals", emit_totals, 2, *e));
  TrsvCall(TrsvDeviceDownload(totals, e->totals, sizeof(totals), NULL));
  e->stages = totals[0], e->uses = totals[1], e->wide = totals[2];
  return TRSV_SUCCESS;
}
