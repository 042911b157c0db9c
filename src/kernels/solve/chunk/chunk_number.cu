/*
   Numbers of an emission: places of records, and cells for imports.

   Times without a record get no step, except one in each gap: so dependencies from before the gap are not late. The
   uses of one result by one chunk are a group, an import; if cells are reused, only uses within import_lifetime + 1
   stages are in one group. Imports get cells in the order of their first use, exports get words in the order of their
   records. Uses are sorted by result. The sort keeps the order of chunks and times, so the uses of a group are
   contiguous. All numbers are computed from sums over uses.

   Mapping: one thread for each record, use, import, stage or chunk. Memory order: within a launch only maxima, and
   flags for which all writers store the same value, cross threads. Why it ends: no thread waits. Same bits: integers.
*/
#include <limits.h>
#include "solve/chunk/chunk_emission.cuh"

/* --- places --- */

static __global__ void emit_keys(const ChunkEmission e, unsigned *keys, int *nodes)
{
  const int p = trsv_index();

  if (p >= e.G.rows) return;
  const unsigned chunk = (unsigned)chunk_of(p, e.G.rows, e.first, e.settings.chunks) << e.bits;
  for (int u = chunk_first(e.first, p); u < chunk_first(e.first, p + 1); u++) {
    keys[u]  = chunk | (unsigned)e.time[u];
    nodes[u] = u;
    if (e.owner) e.owner[u] = p;
  }
}

static __global__ void emit_steps(const ChunkEmission e, int *fresh)
{
  const int i = trsv_index();

  if (i < CHUNK_WORDS) e.words[i] = 0;
  if (i >= e.nodes) return;
  const int      q = emit_chunk(e, i), before = i ? emit_chunk(e, i - 1) : -1;
  const unsigned gap = before == q ? e.key[i] - e.key[i - 1] : 0;

  fresh[i] = gap < 2 ? (int)gap : 2;
  for (int x = before + 1; x <= q; x++) e.begin[x] = i;
  for (int x = q + 1; i == e.nodes - 1 && x <= e.settings.chunks; x++) e.begin[x] = e.nodes;
}

static __global__ void emit_places(const ChunkEmission e, int *stages)
{
  const int i = trsv_index();

  if (i < e.settings.chunks && e.begin[i] == e.begin[i + 1]) stages[i] = 0;
  if (i >= e.nodes) return;
  const int q = emit_chunk(e, i), begin = e.begin[q], u = e.node[i], step = e.step[i + 1] - e.step[begin + 1];
  int       lane = 0;

  while (i - lane > begin && e.step[i - lane] == e.step[i + 1]) lane++;
  e.at[u]    = step * e.settings.width + lane;
  e.index[u] = i;
  if (i + 1 == e.begin[q + 1]) stages[q] = step * e.settings.width / e.rows + 1;
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
  const int d = e.stored ? chunk_diagonal(e.G, e.owner ? e.owner[node] : node) : first - 1,
            a = e.toward * (first - d), b = e.toward * (last - d);
  if (min(a, b) < 1 || max(a, b) > CHUNK_APART_MAX) atomicMax(e.words + CHUNK_WIDE, 1u);
}

TrsvError TrsvChunkNumber(TrsvPrecision precision, const ChunkHeights *o, const ChunkSchedule *t, int lifetime,
                          ChunkEmission *e, ChunkScratch *scratch)
{
  const size_t    n = (size_t)t->nodes, chunks = (size_t)t->settings.chunks;
  unsigned *const keys = t->spare[1];
  int             totals[3];

  /* each off-diagonal entry and each partial sum is a dependency */
  e->dependencies = (size_t)(o->entries - (o->graph.stored ? o->graph.rows : 0)) + n - (size_t)o->graph.rows;
  TrsvCall(ChunkCount(n + e->dependencies, "records and dependencies"));
  (ChunkSchedule &)*e         = *t;
  e->settings.import_lifetime = lifetime;
  e->size                     = (int)TrsvValueSize(precision);
  e->rows                     = CHUNK_ROWS(e->settings.length, e->size);
  e->capacity                 = ChunkCapacity(&e->settings, CHUNK_LEAST, e->size);
  e->G = o->graph, e->stored = o->stored, e->toward = o->toward;
  e->bits = TrsvBits(t->times - 1);
  const int key_bits = e->bits + TrsvBits(t->settings.chunks - 1);
  if (key_bits > 32)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: a schedule of %d steps in %d chunks is too long", t->times,
                    t->settings.chunks);
  TrsvCall(scratch->numbered[0].take(n, e->at, n, e->push, n, e->node, n + 1, e->step, n + 1, e->use, n + 1, e->source,
                                     chunks + 1, e->begin, chunks + 1, e->stage, (size_t)CHUNK_WORDS, e->words,
                                     t->first ? n : 0, e->owner));
  if (!t->first) e->owner = NULL;
  e->key     = t->spare[0];
  e->index   = (int *)keys; /* free after the sort */
  e->export_ = e->step;
  TrsvCall(TrsvLaunchEach(emit_keys, (size_t)e->G.rows, *e, keys, e->at));
  TrsvCall(TrsvDeviceSort(t->nodes, key_bits, keys, e->key, e->at, e->node));
  TrsvCall(TrsvLaunchEach(emit_steps, n, *e, e->step + 1));
  TrsvCall(TrsvDeviceScan(t->nodes, e->step + 1, e->step));
  TrsvCall(TrsvLaunchEach(emit_places, n > chunks ? n : chunks, *e, e->stage + 1));
  TrsvCall(TrsvLaunchEach(emit_count, n, *e, e->use + 1, e->source + 1));
  const TrsvScan scan[] = {
    {e->settings.chunks, e->stage + 1, e->stage}, {e->nodes, e->use + 1, e->use}, {e->nodes, e->source + 1, e->source}};
  const int *const ends[] = {e->stage + chunks, e->use + n, (const int *)e->words + CHUNK_WIDE};
  TrsvCall(TrsvDeviceScanAll(3, scan));
  TrsvCall(TrsvDeviceDownloadEach(totals, ends, 3));
  e->stages = totals[0], e->uses = totals[1], e->wide = totals[2];
  return TRSV_SUCCESS;
}

/* --- cells --- */

static __global__ void cells_uses(const ChunkEmission e, unsigned *used, int *numbers)
{
  const int i = trsv_index();

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
static TRSV_INLINE bool cells_head(const ChunkEmission &e, int j)
{
  if (!j || e.used[j] != e.used[j - 1]) return true;
  const int i = e.user[e.sorted_use[j]], h = e.user[e.sorted_use[j - 1]];
  if (emit_chunk(e, i) != emit_chunk(e, h)) return true;
  const int stages = e.settings.import_lifetime + 1;
  return e.settings.import_lifetime >= 0 && emit_stage(e, i) / stages != emit_stage(e, h) / stages;
}

/* True if the previous chunk of the same cluster pushes the result to chunk q. */
static TRSV_INLINE bool cells_pushed(const ChunkEmission &e, int q, int node)
{
  if (q % e.settings.cluster == 0) return false;
  return node >= chunk_first(e.first, e.cuts[q - 1]) && node < chunk_first(e.first, e.cuts[q]);
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
            cell   = CHUNK_CELL + e.settings.ring + (e.settings.import_lifetime < 0 ? number : number % e.capacity);

  e.group_cell[g] = (unsigned short)cell; /* if it exceeds 16 bits, cells do not fit anyway */
  if (cells_pushed(e, q, node)) e.push[node] = (unsigned short)cell;
  else {
    const int m = e.import_[u], i = e.index[node];
    e.imports[m]     = {i, cell - CHUNK_CELL - e.settings.ring};
    e.export_[i + 1] = 1;
    if (e.settings.import_lifetime >= 0) e.import_head[m] = j, e.group_import[g] = m;
  }
}

/* Gives the uses their cells, and writes the heads. A thread for each use, and for each block. */
static __global__ void cells_heads(const ChunkEmission e, int blocks, ChunkHead *heads)
{
  const int q = trsv_index(), j = q;

  if (j < e.uses) { /* of the sorted list */
    const int u = e.sorted_use[j], g = e.group[j + 1] - 1;

    e.cell[u] = e.group_cell[g];
    if (e.settings.import_lifetime >= 0 && (j + 1 == e.uses || cells_head(e, j + 1)))
      e.import_last[e.group_import[g]] = emit_stage(e, e.user[u]);
  }
  if (q >= e.settings.chunks && q < blocks) heads[q] = ChunkHead(); /* blocks without a chunk have no stages */
  if (q >= e.settings.chunks) return;
  const int begin = e.use[e.begin[q]], end = e.use[e.begin[q + 1]], cells = e.fresh[end] - e.fresh[begin];
  ChunkHead h;

  h.stage   = e.stage[q];
  h.stages  = e.stage[q + 1] - e.stage[q];
  h.import_ = e.import_[begin];
  h.imports = e.import_[end] - e.import_[begin];
  h.export_ = e.export_[e.begin[q]];
  h.exports = e.export_[e.begin[q + 1]] - h.export_;
  h.batch   = h.import_ / CHUNK_BATCH + q;
  heads[q]  = h;
  atomicMax(e.words + CHUNK_MAXIMUM, (unsigned)(e.settings.import_lifetime < 0 ? cells : min(cells, e.capacity)));
}

/* --- cells that are reused --- */

/* Without check: finds the batches that each stage needs, and the stages that must end before a batch gets its cells;
   after has zeros before. With check, in a later launch: does each batch get its cells two stages before the first
   stage that needs it? A stage is ready only after its imports have cells, and the stage before it ends only after
   that. A thread for each stage, and for each import. */
static __global__ void cells_batches(const ChunkEmission e, const ChunkHead *heads, int *batch_of, int *after,
                                     int count, bool check)
{
  const int m = trsv_index();

  if (m < e.stages && !check) {
    const int imports = e.import_[e.use[e.stage_first[m + 1]]] - e.import_[e.use[e.begin[e.stage_chunk[m]]]];
    batch_of[m]       = (imports + CHUNK_BATCH - 1) / CHUNK_BATCH;
  }
  if (m >= count) return;
  const int        i = e.user[e.sorted_use[e.import_head[m]]];
  const ChunkHead &h = heads[emit_chunk(e, i)];
  const int        n = m - h.import_;
  int *const       stages = after + h.batch + n / CHUNK_BATCH;
  if (!check && n >= e.capacity) atomicMax(stages, e.import_last[m - e.capacity] + 1);
  if (check && n % CHUNK_BATCH == 0 && *stages && *stages + 1 > emit_stage(e, i))
    atomicMax(e.words + CHUNK_TOO_LATE, 1u);
}

/* Makes the batches of imports whose cells are reused. */
static TrsvError MakeBatches(TrsvPlan *plan, const ChunkEmission *e, int *fits)
{
  ChunkPlan   *c       = (ChunkPlan *)plan->data;
  const int    imports = c->schedule.imports;
  const size_t bytes   = sizeof(int) * (size_t)(e->stages + imports / CHUNK_BATCH + e->settings.chunks),
               threads = (size_t)max(e->stages, imports);
  unsigned     late;

  TrsvCall(ChunkAllocate(plan, bytes, &c->batch_of));
  c->after = c->batch_of + e->stages;
  TrsvCall(TrsvDeviceClear(c->batch_of, bytes, NULL));
  for (int check = 0; check < 2; check++)
    TrsvCall(TrsvLaunchEach(cells_batches, threads, *e, c->heads, c->batch_of, c->after, imports, check != 0));
  TrsvCall(TrsvDeviceDownload(&late, e->words + CHUNK_TOO_LATE, sizeof(late), NULL));
  *fits = !late;
  return TRSV_SUCCESS;
}

TrsvError TrsvChunkCells(TrsvPlan *plan, ChunkEmission *e, ChunkScratch *scratch, int *fits)
{
  ChunkPlan    *c       = (ChunkPlan *)plan->data;
  ChunkSummary *s       = &c->schedule;
  const int     cluster = e->settings.cluster;
  const size_t  uses = (size_t)e->uses, moved = e->settings.import_lifetime < 0 ? 0 : uses;
  int           totals[3];

  c->blocks = (unsigned)((e->settings.chunks + cluster - 1) / cluster * cluster);
  TrsvCall(ChunkAllocate(plan, sizeof(ChunkHead) * c->blocks, &c->heads));
  TrsvCall(scratch->numbered[1].take((size_t)e->stages + 1, e->stage_first, (size_t)e->stages, e->stage_chunk));
  TrsvCall(scratch->early[0].take(uses, e->user, uses + 1, e->fresh, uses, e->used, uses, e->sorted_use, uses + 1,
                                  e->group));
  unsigned *const unsorted = (unsigned *)e->fresh; /* this and group are free until the sort is done */
  TrsvCall(TrsvLaunchEach(cells_uses, (size_t)e->nodes, *e, unsorted, e->group));
  TrsvCall(TrsvDeviceSort(e->uses, TrsvBits(e->nodes - 1), unsorted, e->used, e->group, e->sorted_use));
  /* the sort's scratch is freed before this */
  TrsvCall(scratch->numbered[2].take(uses, e->cell, uses, e->imports));
  TrsvCall(scratch->early[1].take(uses, e->group_cell, moved, e->group_import, moved, e->import_head, moved,
                                  e->import_last, cluster > 1 ? uses + 1 : 0, e->import_));
  if (cluster == 1) e->import_ = e->fresh;
  TrsvCall(TrsvLaunchEach(cells_groups, (size_t)e->uses, *e));
  const TrsvScan scan[] = {{e->uses, e->group + 1, e->group},
                           {e->uses, e->fresh + 1, e->fresh},
                           {e->uses, e->import_ + 1, e->import_}}; /* without clusters fresh */
  TrsvCall(TrsvDeviceScanAll(cluster > 1 ? 3 : 2, scan));
  TrsvCall(TrsvLaunchEach(cells_imports, (size_t)e->uses, *e));
  TrsvCall(TrsvDeviceScan(e->nodes, e->export_ + 1, e->export_));
  TrsvCall(TrsvLaunchEach(cells_heads, max(uses, (size_t)c->blocks), *e, (int)c->blocks, c->heads));
  const int *const ends[] = {e->import_ + uses, e->export_ + e->nodes, (const int *)e->words + CHUNK_MAXIMUM};
  TrsvCall(TrsvDeviceDownloadEach(totals, ends, 3));
  s->settings = e->settings;
  s->steps    = e->times;
  s->imports  = totals[0];
  s->exports  = totals[1];
  s->stages   = e->stages;
  s->cells    = (totals[2] + 15) / 16 * 16; /* the records after them are aligned to 16 bytes */
  *fits       = s->cells <= e->capacity;
  return *fits && e->settings.import_lifetime >= 0 ? MakeBatches(plan, e, fits) : TRSV_SUCCESS;
}
