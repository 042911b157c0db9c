/*
   Numbers of an emission: places of records, and cells for imports.

   Places: the steps of each chunk, the stages that they fill, and the dependencies that are read from cells for
   imports. Times without a record get no step, except one in each gap: so dependencies from before the gap are not
   late.

   Cells: the uses of one result by one chunk are a group, an import; if cells are reused, only uses within
   import_lifetime + 1 stages are in one group. Imports get cells in the order of their first use, exports get words in
   the order of their records. Uses are sorted by result. The sort keeps the order of chunks and times, so the uses of a
   group are contiguous. All numbers are computed from sums over uses.

   Mapping: one thread for each record, use, import or chunk. Memory order: within a launch only maxima, and flags for
   which all writers store the same value, cross threads. Why it ends: no thread waits. Same bits: integers.
*/
#include <limits.h>
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_emission.cuh"

/* --- places --- */

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

  if (i == 0) *e.wide_word = 0;
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
  if (min(a, b) < 1 || max(a, b) > CHUNK_APART_MAX) atomicMax(e.wide_word, 1);
}

TrsvError TrsvChunkNumber(const ChunkHeights *o, const ChunkSchedule *t, ChunkEmission *e, ChunkScratch *scratch)
{
  const TrsvChunkSettings *s = &t->settings;
  const size_t             n = (size_t)t->nodes, chunks = (size_t)s->chunks;
  unsigned *const          keys = t->spare[1];
  const int                bits = TrsvBits(t->times - 1), chunk_bits = TrsvBits(s->chunks - 1);
  int                      totals[3];

  e->G = o->graph, e->K = s->length, e->W = s->width, e->chunks = s->chunks, e->cluster = s->cluster, e->ring = s->ring;
  e->nodes = t->nodes;
  e->stored = o->stored, e->toward = o->toward;
  e->cuts = t->cuts, e->first = t->first, e->time = t->time, e->taken = t->taken, e->sorted = t->sorted;
  if (bits + chunk_bits > 32)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: a schedule of %d steps in %d chunks is too long", t->times,
                    s->chunks);
  e->bits = bits;
  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) {
      if (t->first) a.take(n, e->owner);
      a.take(n, e->at, n, e->push, n, e->node, n + 1, e->step, n + 1, e->use, n + 1, e->source);
      a.take(chunks + 1, e->begin, chunks + 1, e->stage, chunks + 1, e->batch, 1, e->wide_word);
    },
    &scratch->numbered.memory));
  e->key     = t->spare[0];
  e->index   = (int *)keys; /* free after the sort */
  e->export_ = e->step;
  TrsvCall(TrsvLaunchEach(emit_keys, (size_t)e->G.n, *e, keys, e->at));
  TrsvCall(TrsvDeviceSort(t->nodes, bits + chunk_bits, keys, e->key, e->at, e->node));
  TrsvCall(TrsvLaunchEach(emit_steps, n, *e, e->step + 1));
  TrsvCall(TrsvDeviceScan(t->nodes, e->step + 1, e->step));
  TrsvCall(TrsvLaunchEach(emit_places, n > chunks ? n : chunks, *e, e->stage + 1));
  TrsvCall(TrsvLaunchEach(emit_count, n, *e, e->use + 1, e->source + 1));
  const TrsvScan   scan[] = {{e->chunks, e->stage + 1, e->stage},
                             {e->nodes, e->use + 1, e->use},
                             {e->nodes, e->source + 1, e->source}};
  const int *const ends[] = {e->stage + chunks, e->use + n, e->wide_word};
  TrsvCall(TrsvDeviceScanAll(3, scan));
  TrsvCall(TrsvDeviceDownloadEach(totals, ends, 3));
  e->stages = totals[0], e->uses = totals[1], e->wide = totals[2];
  return TRSV_SUCCESS;
}

/* --- cells --- */

static __global__ void cells_uses(const ChunkEmission e, unsigned *used, int *numbers)
{
  const int i = trsv_index();

  if (i < CHUNK_WORDS) e.words[i] = 0;
  if (i >= e.nodes) return;
  const int q = emit_chunk(e, i), stage = emit_stage(e, i);
  int       u = e.use[i];

  if (i == e.begin[q] || emit_stage(e, i - 1) != stage) {
    e.stage_first[e.stage[q] + stage] = i;
    e.stage_chunk[e.stage[q] + stage] = q;
  }
  if (i == e.nodes - 1) e.stage_first[e.stages] = e.nodes;
  e.export_[i + 1]  = 0;
  e.push[e.node[i]] = 0;
  emit_uses(e, i, [&](int d) {
    used[u]     = (unsigned)d;
    numbers[u]  = u;
    e.user[u++] = i;
  });
}

/* True if the j-th use of the sorted list is the first of its group. */
static __device__ __forceinline__ bool cells_head(const ChunkEmission &e, int j)
{
  if (!j || e.used[j] != e.used[j - 1]) return true;
  const int i = e.user[e.sorted_use[j]], h = e.user[e.sorted_use[j - 1]];
  if (emit_chunk(e, i) != emit_chunk(e, h)) return true;
  const int stages = e.import_lifetime + 1;
  return e.import_lifetime >= 0 && emit_stage(e, i) / stages != emit_stage(e, h) / stages;
}

/* True if the previous chunk of the same cluster pushes the result to chunk q. */
static __device__ __forceinline__ bool cells_pushed(const ChunkEmission &e, int q, int node)
{
  if (q % e.cluster == 0) return false;
  const int before = e.cuts[q - 1], own = e.cuts[q];
  return node >= (e.first ? e.first[before] : before) && node < (e.first ? e.first[own] : own);
}

/* Writes the ones and zeros over which sums then run in place. */
static __global__ void cells_groups(const ChunkEmission e)
{
  const int j = trsv_index();

  if (j >= e.uses) return;
  const int  u    = e.sorted_use[j];
  const bool head = cells_head(e, j);

  e.group[j + 1] = head;
  e.fresh[u + 1] = head;
  e.import_[u + 1] =
    head && !cells_pushed(e, emit_chunk(e, e.user[u]), (int)e.used[j]); /* without clusters: the array of fresh */
}

static __global__ void cells_imports(const ChunkEmission e)
{
  const int j = trsv_index();

  if (j >= e.uses || !cells_head(e, j)) return;
  const int u = e.sorted_use[j], q = emit_chunk(e, e.user[u]), node = (int)e.used[j], g = e.group[j],
            number = e.fresh[u] - e.fresh[e.use[e.begin[q]]], /* of the import in its chunk */
            cell   = CHUNK_CELL + e.ring + (e.import_lifetime < 0 ? number : number % e.capacity);

  e.group_cell[g] = (unsigned short)cell; /* if it exceeds 16 bits, cells do not fit anyway */
  if (cells_pushed(e, q, node)) e.push[node] = (unsigned short)cell;
  else {
    const int m = e.import_[u], i = e.index[node];
    e.imports[m]     = {i, cell - CHUNK_CELL - e.ring};
    e.export_[i + 1] = 1;
    if (e.import_lifetime >= 0) e.import_head[m] = j, e.group_import[g] = m;
  }
}

/* Gives the j-th use of the sorted list the cell of its group. */
static __device__ __forceinline__ void cells_spread(const ChunkEmission &e, int j)
{
  const int u = e.sorted_use[j], g = e.group[j + 1] - 1;

  e.cell[u] = e.group_cell[g];
  if (e.import_lifetime >= 0 && (j + 1 == e.uses || cells_head(e, j + 1)))
    e.import_last[e.group_import[g]] = emit_stage(e, e.user[u]);
}

/* Gives the uses their cells, and writes the heads. A thread for each use, and for each block. */
static __global__ void cells_heads(const ChunkEmission e, int blocks, ChunkHead *heads, int *batches)
{
  const int q = trsv_index();

  if (q < e.uses) cells_spread(e, q);
  if (q >= e.chunks && q < blocks) heads[q] = ChunkHead(); /* blocks without a chunk have no stages */
  if (q >= e.chunks) return;
  const int begin = e.use[e.begin[q]], end = e.use[e.begin[q + 1]], cells = e.fresh[end] - e.fresh[begin];
  ChunkHead h;

  h.stage   = e.stage[q];
  h.stages  = e.stage[q + 1] - e.stage[q];
  h.import_ = e.import_[begin];
  h.imports = e.import_[end] - e.import_[begin];
  h.export_ = e.export_[e.begin[q]];
  h.exports = e.export_[e.begin[q + 1]] - h.export_;
  h.batch   = 0;
  heads[q]   = h;
  batches[q] = e.import_lifetime < 0 ? 0 : (h.imports + CHUNK_BATCH - 1) / CHUNK_BATCH;
  atomicMax(e.words + CHUNK_MAXIMUM, (unsigned)(e.import_lifetime < 0 ? cells : min(cells, e.capacity)));
  atomicAdd(e.words + CHUNK_BATCHES, (unsigned)batches[q]);
  if (q == 0) {
    e.words[CHUNK_IMPORTS] = (unsigned)e.import_[e.uses];
    e.words[CHUNK_EXPORTS] = (unsigned)e.export_[e.nodes];
  }
}

TrsvError TrsvChunkCells(ChunkEmission *e, int blocks, ChunkHead *heads, ChunkSummary *schedule, ChunkScratch *scratch)
{
  const size_t uses = (size_t)e->uses, moved = e->import_lifetime < 0 ? 0 : uses;
  unsigned    *unsorted, now[CHUNK_WORDS];
  int         *numbers;

  TrsvCall(scratch->cells[0].take((size_t)e->stages + 1, e->stage_first, (size_t)e->stages, e->stage_chunk));
  TrsvCall(scratch->early[0].take((size_t)CHUNK_WORDS, e->words, uses, e->user, uses + 1, e->fresh, uses, e->used, uses,
                                  e->sorted_use, uses + 1, e->group));
  unsorted = (unsigned *)e->fresh; /* free until the sort is done */
  numbers  = e->group;
  TrsvCall(TrsvLaunchEach(cells_uses, (size_t)e->nodes, *e, unsorted, numbers));
  TrsvCall(TrsvDeviceSort(e->uses, TrsvBits(e->nodes - 1), unsorted, e->used, numbers, e->sorted_use));
  /* the sort's scratch is freed before this */
  TrsvCall(scratch->cells[1].take(uses, e->cell, uses, e->imports));
  TrsvCall(TrsvArenaScratch([&](TrsvArena &a) {
    if (e->cluster > 1) a.take(uses + 1, e->import_);
    else e->import_ = e->fresh;
    a.take(uses, e->group_cell, moved, e->group_import, moved, e->import_head, moved, e->import_last);
  }, &scratch->early[1].memory));
  TrsvCall(TrsvLaunchEach(cells_groups, (size_t)e->uses, *e));
  const TrsvScan scan[] = {{e->uses, e->group + 1, e->group},
                           {e->uses, e->fresh + 1, e->fresh},
                           {e->uses, e->import_ + 1, e->import_}}; /* without clusters fresh */
  TrsvCall(TrsvDeviceScanAll(e->cluster > 1 ? 3 : 2, scan));
  TrsvCall(TrsvLaunchEach(cells_imports, (size_t)e->uses, *e));
  TrsvCall(TrsvDeviceScan(e->nodes, e->export_ + 1, e->export_));
  TrsvCall(TrsvLaunchEach(cells_heads, (size_t)max(e->uses, blocks), *e, blocks, heads, e->batch + 1));
  if (e->import_lifetime >= 0) TrsvCall(TrsvDeviceScan(e->chunks, e->batch + 1, e->batch));
  TrsvCall(ChunkWordsRead(e->words, now));
  schedule->imports = (int)now[CHUNK_IMPORTS];
  schedule->exports = (int)now[CHUNK_EXPORTS];
  schedule->batches = (int)now[CHUNK_BATCHES];
  schedule->stages  = e->stages;
  schedule->cells   = ((int)now[CHUNK_MAXIMUM] + 15) / 16 * 16; /* the records after them are aligned to 16 bytes */
  return TRSV_SUCCESS;
}
