/*
   Writes the schedule of the algorithm `chunk` into a plan: imports, their batches, and records without values.

   Records take more memory than the schedule and the scratch of the emission. So a draft, without gaps, first gets
   their cells. Then the schedule is freed, and the records are allocated.

   Mapping: one block for each stage, one thread for each of its records or places; otherwise one thread for each
   import, stage or chunk. Memory order: within a block, values cross threads by barriers and shuffles. Why it ends: no
   thread waits for another block. Same bits: integers.
*/
#include <limits.h>
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_emission.cuh"

/* --- cells that are reused --- */

/* batch_of: the batches that each stage needs. Also sets the first batch of each chunk. */
static __global__ void write_batches(const ChunkEmission e, ChunkHead *heads, int *batch_of)
{
  const int s = trsv_index();

  if (s < e.chunks) heads[s].batch = e.batch[s];
  if (s >= e.stages) return;
  const int q       = emit_chunk(e, e.stage_first[s]),
            imports = e.import_[e.use[e.stage_first[s + 1]]] - e.import_[e.use[e.begin[q]]];
  batch_of[s]       = (imports + CHUNK_BATCH - 1) / CHUNK_BATCH;
}

/* after, zeros before: the number of stages that must end before a batch gets its cells. */
static __global__ void write_after(const ChunkEmission e, const ChunkHead *heads, int *after, int count)
{
  const int m = trsv_index();

  if (m >= count) return;
  const ChunkHead &h = heads[emit_chunk(e, e.user[e.sorted_use[e.import_head[m]]])];
  const int        n = m - h.import_;
  if (n >= e.capacity) atomicMax(after + h.batch + n / CHUNK_BATCH, e.import_last[m - e.capacity] + 1);
}

/* Checks that each batch gets its cells two stages before the first stage that needs it: a stage is ready only after
   its imports have cells, and the stage before it ends only after that. */
static __global__ void write_check(const ChunkEmission e, const ChunkHead *heads, const int *after, int count,
                                   unsigned *late)
{
  const int m = trsv_index();

  if (m >= count) return;
  const int        i = e.user[e.sorted_use[e.import_head[m]]];
  const ChunkHead &h = heads[emit_chunk(e, i)];
  const int        n = m - h.import_, stages = after[h.batch + n / CHUNK_BATCH];
  if (n % CHUNK_BATCH == 0 && stages && stages + 1 > emit_stage(e, i)) atomicMax(late, 1u);
}

/* --- records --- */

/* The exports in the draft of a stage: the number of the first, then a bit for each record. */
static __device__ __forceinline__ unsigned *write_exports(const ChunkDraft &d, int stage, int rows)
{
  return d.exports + (size_t)stage * (size_t)CHUNK_EXPORTS_OF(rows);
}

/* Writes the draft of a stage, and a share of all imports. */
static __global__ void __launch_bounds__(256) write_stages(const ChunkEmission e, const ChunkPlan w, const ChunkDraft d)
{
  TRSV_SHARED(int, row, 256);
  const int      stage = (int)blockIdx.x, t = (int)threadIdx.x, rows = emit_rows(e), first = e.stage_first[stage],
                 m    = e.stage_first[stage + 1] - first;
  const int node = t < m ? e.node[first + t] : -1, p = node < 0 ? -1 : e.owner ? e.owner[node] : node;
  const bool     whole    = node >= 0 && (!e.first || node == e.first[p + 1] - 1);
  const unsigned exported = __ballot_sync(0xffffffffu, node >= 0 && e.export_[first + t + 1] != e.export_[first + t]);

  /* an import names its record so far; the number of the export replaces it */
  for (size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x; n < (size_t)w.schedule.imports;
       n += (size_t)gridDim.x * blockDim.x)
    w.imports[n] = {e.export_[e.imports[n].word], e.imports[n].cell};

  const int own = whole ? chunk_own_row(e.G, p) : -1;
  row[t] = own < 0 ? 0 : 1 + own;
  w.sources.counts[(size_t)stage * (size_t)rows + (size_t)t] = 0;
  if (t % 32 == 0) write_exports(d, stage, rows)[1 + t / 32] = exported;
  if (t == 0) {
    write_exports(d, stage, rows)[0] = (unsigned)e.export_[first];
    w.sources.starts[2 * stage]      = first;
    w.sources.starts[2 * stage + 1]  = e.source[first];
  }
  __syncthreads();

  /* sorts the rows: b is read and x is written in rising order */
  int rank = 0, count = 0;
  for (int x = 0; x < m; x++) rank += row[x] && row[x] < row[t], count += row[x] != 0;
  const int place = node < 0 ? 0 : e.at[node] % rows;
  if (row[t]) {
    w.rows[(size_t)stage * (size_t)rows + (size_t)rank]      = row[t];
    w.places_in[(size_t)stage * (size_t)rows + (size_t)rank] = (unsigned char)place;
  }
  if (t >= count)
    w.rows[(size_t)stage * (size_t)rows + (size_t)t] = w.places_in[(size_t)stage * (size_t)rows + (size_t)t] = 0;
  if (node < 0) return;

  /* sorts the dependencies by step, the latest last; imports count as two steps old */
  const int from = e.cuts[e.stage_chunk[stage]], chunk_first = e.first ? e.first[from] : from, step = e.at[node] / e.W;
  int       n = 0, u = e.use[first + t], least = INT_MAX, when[13] = {0}, cell[13], source[13];

  emit_dependencies(e, node, [&](int d, int s) {
    const int  before = d < chunk_first ? step - 2 : e.at[d] / e.W;
    const bool far = d < chunk_first || (step - before) * e.W > e.ring - 2 * e.W;
    const int  c = far ? e.cell[u++] : CHUNK_CELL + (e.at[d] & (e.ring - 1));
    int        j = n++;

    for (; j > 0 && when[j - 1] > before; j--) when[j] = when[j - 1], cell[j] = cell[j - 1], source[j] = source[j - 1];
    when[j] = before, cell[j] = c, source[j] = s;
    if (s >= 2) least = min(least, s);
  });
  const int             record = first + t,
                        value = e.source[record]; /* in a stage, the order of time is the order of places */
  unsigned short *const cells = d.cells + value;
  const int             diagonal = emit_diagonal(e, p, least);

  cells[0] = e.push[node];
  for (int i = 0; i < n; i++) cells[1 + i] = (unsigned short)cell[i];
  if (w.sources.wide) {
    w.sources.wide[value] = diagonal;
    for (int i = 0; i < n; i++) w.sources.wide[value + 1 + i] = source[i];
  } else {
    w.sources.diagonal[record] = diagonal;
    for (int i = 0; i < n; i++)
      w.sources.apart[value - record + i] = (unsigned char)(source[i] >= 2 ? e.toward * (source[i] - diagonal) : 0);
  }
  w.sources.counts[(size_t)stage * (size_t)rows + (size_t)place] = (unsigned char)(1 + n + (own < 0 ? CHUNK_PART : 0));
}

/* Writes the records of a stage from the draft. */
static __global__ void __launch_bounds__(256)
  write_records(int K, int W, int size, const ChunkPlan w, const ChunkDraft d)
{
  TRSV_SHARED(unsigned, sums, 8);
  const int stage = (int)blockIdx.x, t = (int)threadIdx.x, rows = CHUNK_ROWS(K, size),
            step_bytes        = CHUNK_QUADS(K, size) * W * 16;
  const int             count = w.sources.counts[(size_t)stage * (size_t)rows + (size_t)t] % CHUNK_PART, n = count - 1;
  const unsigned *const exports = write_exports(d, stage, rows);
  unsigned char *const  record  = w.records + (size_t)stage * (size_t)CHUNK_STAGE(K, size);
  const auto            word    = [&](int i) {
    const int byte = (K + 1) * size + 4 * i;
    return (unsigned *)(record + CHUNK_HEADER + t / W * step_bytes + (byte / 16 * W + t % W) * 16 + byte % 16);
  };

  if (t < CHUNK_HEADER / 4) ((int *)record)[t] = t ? 0 : (int)exports[0];
  const unsigned              sum     = chunk_sums((unsigned)count, sums);
  const int                   rank    = (int)(sum >> 16);
  const unsigned short *const cells   = d.cells + w.sources.starts[2 * stage + 1] + (sum & 65535u);
  unsigned                    export_ = count ? exports[1 + rank / 32] >> rank % 32 & 1 : 0;

  if (export_) {
    export_ += (unsigned)__popc(exports[1 + rank / 32] & ((1u << rank % 32) - 1));
    for (int x = 0; x < rank / 32; x++) export_ += (unsigned)__popc(exports[1 + x]);
  }
  *word(0) = count ? cells[0] | export_ << 16 : 0;
  for (int i = 1; i < (CHUNK_QUADS(K, size) * 16 - (K + 1) * size) / 4; i++) { /* up to the end of the last quad */
    unsigned v = 0;
    for (int h = 0; h < 2; h++) {
      const int x = 2 * (i - 1) + h - (K - n); /* unused fields come first */
      if (x >= 0 && x < n) v |= (unsigned)cells[1 + x] << (16 * h);
    }
    *word(i) = v;
  }
}

TrsvError TrsvChunkBatches(const ChunkEmission *e, const ChunkSummary *s, ChunkHead *heads, int *batch_of, int *after,
                           int *fits)
{
  unsigned now[CHUNK_WORDS];

  TrsvCall(TrsvDeviceClear(e->words, sizeof(now), NULL));
  TrsvCall(TrsvLaunchEach(write_batches, (size_t)(e->stages > e->chunks ? e->stages : e->chunks), *e, heads, batch_of));
  TrsvCall(TrsvDeviceClear(after, sizeof(int) * (size_t)s->batches, NULL));
  TrsvCall(TrsvLaunchEach(write_after, (size_t)s->imports, *e, heads, after, s->imports));
  TrsvCall(TrsvLaunchEach(write_check, (size_t)s->imports, *e, heads, after, s->imports, e->words + CHUNK_MAXIMUM));
  TrsvCall(ChunkWordsRead(e->words, now));
  *fits = !now[CHUNK_MAXIMUM];
  return TRSV_SUCCESS;
}

TrsvError TrsvChunkWrite(const ChunkEmission *e, const ChunkSummary *s, size_t sources, ChunkPlan *c, ChunkDraft *d,
                         ChunkScratch *scratch)
{
  TrsvCall(scratch->draft.take(sources, d->cells, (size_t)s->stages * CHUNK_EXPORTS_OF(emit_rows(*e)), d->exports));
  return TrsvLaunch(write_stages, (unsigned)e->stages, (unsigned)emit_rows(*e), 0, NULL, *e, *c, *d);
}

TrsvError TrsvChunkRecords(const ChunkSummary *s, TrsvPrecision precision, const ChunkDraft *d, ChunkPlan *c)
{
  const int size = (int)TrsvValueSize(precision);

  TrsvCall(TrsvClearWords(precision, 2 * (size_t)s->exports, c->words, c->sync.ticket, NULL));
  return TrsvLaunch(write_records, (unsigned)s->stages, (unsigned)CHUNK_ROWS(s->settings.length, size), 0, NULL,
                    s->settings.length, s->settings.width, size, *c, *d);
}
