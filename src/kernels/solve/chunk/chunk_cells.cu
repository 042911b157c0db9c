/*
   Cells for imports, and the exports that imports need. The uses of one result by one chunk are a group, an import; if
   cells are reused, only uses within import_lifetime + 1 stages share one. Imports get cells in order of their first
   use, exports get words in order of production.

   Uses are sorted by result. The sort keeps the order of chunks and times, so the uses of a group are contiguous. All
   numbers follow from sums over uses.

   Mapping: one thread for each use, record, import or chunk.
   Memory order: within a launch only maxima, and flags that all writers set alike, cross threads.
*/
#include "solve/chunk/chunk_emission.cuh"

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

/* Is the j-th use of the sorted list the first of its group? */
static __device__ __forceinline__ bool cells_head(const ChunkEmission &e, int j)
{
  if (!j || e.used[j] != e.used[j - 1]) return true;
  const int i = e.user[e.sorted_use[j]], h = e.user[e.sorted_use[j - 1]];
  if (emit_chunk(e, i) != emit_chunk(e, h)) return true;
  const int stages = e.import_lifetime + 1;
  return e.import_lifetime >= 0 && emit_stage(e, i) / stages != emit_stage(e, h) / stages;
}

/* Does the previous chunk of the same cluster push the result? */
static __device__ __forceinline__ bool cells_pushed(const ChunkEmission &e, int q, int node)
{
  if (q % e.cluster == 0) return false;
  const int before = e.cuts[q - 1], own = e.cuts[q];
  return node >= (e.first ? e.first[before] : before) && node < (e.first ? e.first[own] : own);
}

/* Writes the ones and zeros that are then summed up in place. */
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

/* The number of an import in its chunk, from sums over uses. */
static __device__ __forceinline__ int cells_count(const ChunkEmission &e, const int *sums, int q, int u)
{
  return sums[u] - sums[e.use[e.begin[q]]];
}

static __global__ void cells_imports(const ChunkEmission e)
{
  const int j = trsv_index();

  if (j >= e.uses || !cells_head(e, j)) return;
  const int u = e.sorted_use[j], q = emit_chunk(e, e.user[u]), node = (int)e.used[j], g = e.group[j],
            number = cells_count(e, e.fresh, q, u),
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

static __global__ void cells_spread(const ChunkEmission e)
{
  const int j = trsv_index();

  if (j >= e.uses) return;
  const int u = e.sorted_use[j], g = e.group[j + 1] - 1;

  e.cell[u] = e.group_cell[g];
  if (e.import_lifetime >= 0 && (j + 1 == e.uses || cells_head(e, j + 1)))
    e.import_last[e.group_import[g]] = emit_stage(e, e.user[u]);
}

static __global__ void cells_heads(const ChunkEmission e, int blocks, ChunkHead *heads, int *batches)
{
  const int q = trsv_index();

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
  h.cells   = e.import_lifetime >= 0 && cells > e.capacity ? e.capacity : cells;
  heads[q]   = h;
  batches[q] = e.import_lifetime < 0 ? 0 : (h.imports + CHUNK_BATCH - 1) / CHUNK_BATCH;
  atomicMax(e.words + CHUNK_MAXIMUM, (unsigned)h.cells);
  atomicAdd(e.words + CHUNK_BATCHES, (unsigned)batches[q]);
  if (q == 0) {
    e.words[CHUNK_IMPORTS] = (unsigned)e.import_[e.uses];
    e.words[CHUNK_EXPORTS] = (unsigned)e.export_[e.nodes];
  }
}

TrsvError TrsvChunkCells(ChunkEmission *e, int blocks, ChunkHead *heads, ChunkSummary *schedule, void *memory[2],
                         void *early[2])
{
  const size_t uses = (size_t)e->uses, moved = e->import_lifetime < 0 ? 0 : uses;
  unsigned    *unsorted, now[CHUNK_WORDS];
  int         *numbers;

  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) { a.take((size_t)e->stages + 1, e->stage_first), a.take((size_t)e->stages, e->stage_chunk); },
    &memory[0]));
  TrsvCall(TrsvArenaScratch(
    [&](TrsvArena &a) {
      a.take(CHUNK_WORDS, e->words), a.take(uses, e->user), a.take(uses + 1, e->fresh), a.take(uses, e->used),
        a.take(uses, e->sorted_use), a.take(uses + 1, e->group);
    },
    &early[0]));
  unsorted = (unsigned *)e->fresh; /* free until the sort is done */
  numbers  = e->group;
  TrsvCall(TrsvLaunchEach("cells_uses", cells_uses, (size_t)e->nodes, *e, unsorted, numbers));
  TrsvCall(TrsvDeviceSort(e->uses, TrsvBits(e->nodes - 1), unsorted, e->used, numbers, e->sorted_use));
  /* the sort's scratch is free from here on */
  TrsvCall(TrsvArenaScratch([&](TrsvArena &a) { a.take(uses, e->cell), a.take(uses, e->imports); }, &memory[1]));
  TrsvCall(TrsvArenaScratch([&](TrsvArena &a) {
    if (e->cluster > 1) a.take(uses + 1, e->import_);
    else e->import_ = e->fresh;
    a.take(uses, e->group_cell), a.take(moved, e->group_import), a.take(moved, e->import_head),
      a.take(moved, e->import_last);
  }, &early[1]));
  TrsvCall(TrsvLaunchEach("cells_groups", cells_groups, (size_t)e->uses, *e));
  TrsvCall(TrsvDeviceScan(e->uses, e->group + 1, e->group));
  TrsvCall(TrsvDeviceScan(e->uses, e->fresh + 1, e->fresh));
  if (e->cluster > 1) TrsvCall(TrsvDeviceScan(e->uses, e->import_ + 1, e->import_));
  TrsvCall(TrsvLaunchEach("cells_imports", cells_imports, (size_t)e->uses, *e));
  TrsvCall(TrsvLaunchEach("cells_spread", cells_spread, (size_t)e->uses, *e));
  TrsvCall(TrsvDeviceScan(e->nodes, e->export_ + 1, e->export_));
  TrsvCall(TrsvLaunchEach("cells_heads", cells_heads, (size_t)blocks, *e, blocks, heads, e->batch + 1));
  if (e->import_lifetime >= 0) TrsvCall(TrsvDeviceScan(e->chunks, e->batch + 1, e->batch));
  TrsvCall(ChunkWordsRead(e->words, now));
  schedule->imports = (int)now[CHUNK_IMPORTS];
  schedule->exports = (int)now[CHUNK_EXPORTS];
  schedule->batches = (int)now[CHUNK_BATCHES];
  schedule->stages  = e->stages;
  schedule->cells   = ((int)now[CHUNK_MAXIMUM] + 15) / 16 * 16; /* the records after them are aligned to 16 bytes */
  return TRSV_SUCCESS;
}
