/*
   Writes the schedule of the algorithm `chunk` into a plan: imports, and records without values. Records take more
   memory than the schedule and the scratch of the emission. So a draft, without gaps, first gets their cells. Then the
   schedule is freed, and the records are allocated.

   Mapping: one block for each stage, one thread for each of its records or places. Memory order: within a block, values
   cross threads by barriers and shuffles. Why it ends: no thread waits for another block. Same bits: integers.
*/
#include <limits.h>
#include "solve/chunk/chunk_emission.cuh"

/* Writes the draft of a stage, and a share of all imports. */
static __global__ void __launch_bounds__(256)
  write_stages(const ChunkEmission e, const ChunkPlan w, const TrsvPermutation given)
{
  TRSV_SHARED(int, row, 256);
  const int stage = (int)blockIdx.x, t = (int)threadIdx.x, rows = e.rows, first = e.stage_first[stage],
            m       = e.stage_first[stage + 1] - first;
  const int    node = t < m ? e.node[first + t] : -1, p = node < 0 ? -1 : e.owner ? e.owner[node] : node;
  const bool   whole  = node >= 0 && node == chunk_first(e.first, p + 1) - 1;
  const size_t places = (size_t)stage * (size_t)rows;

  /* an import names its record so far; the number of the export replaces it */
  for (size_t n = (size_t)blockIdx.x * blockDim.x + threadIdx.x; n < (size_t)w.schedule.imports;
       n += (size_t)gridDim.x * blockDim.x)
    w.imports[n] = {e.export_[e.imports[n].word], e.imports[n].cell};

  const int own = whole ? chunk_own_row(e.G, p) : -1;
  row[t] = own < 0 ? 0 : 1 + own;
  w.sources.counts[places + (size_t)t] = 0;
  if (t == 0) {
    e.first_export[stage]           = e.export_[first];
    w.sources.starts[2 * stage]     = first;
    w.sources.starts[2 * stage + 1] = e.source[first];
  }
  __syncthreads();

  /* sorts the rows: b is read and x is written in rising order */
  int rank = 0, count = 0;
  for (int x = 0; x < m; x++) rank += row[x] && row[x] < row[t], count += row[x] != 0;
  const int  place = node < 0 ? 0 : e.at[node] % rows;
  const auto put   = [&](int i, int r, int place_of_r) {
    const size_t at = places + (size_t)i;

    w.rows[at]      = r;
    w.places_in[at] = (unsigned char)place_of_r;
    if (given.b_index) w.from[at] = r ? 1 + given.b_index[r - 1] : 0;
    if (given.x_index) w.to[at] = r ? 1 + given.x_index[r - 1] : 0;
  };
  if (row[t]) put(rank, row[t], place);
  if (t >= count) put(t, 0, 0);
  if (node < 0) return;

  /* sorts the dependencies by step, the latest last; imports count as two steps old */
  const int W = e.settings.width, own_first = chunk_first(e.first, e.cuts[e.stage_chunk[stage]]), step = e.at[node] / W;
  int       n = 0, u = e.use[first + t], least = INT_MAX, when[13] = {0}, cell[13], source[13];

  emit_dependencies(e, node, [&](int d, int s) {
    const int  before = d < own_first ? step - 2 : e.at[d] / W;
    const bool far = d < own_first || (step - before) * W > e.settings.ring - 2 * W;
    const int  c = far ? e.cell[u++] : CHUNK_CELL + (e.at[d] & (e.settings.ring - 1));
    int        j = n++;

    for (; j > 0 && when[j - 1] > before; j--) when[j] = when[j - 1], cell[j] = cell[j - 1], source[j] = source[j - 1];
    when[j] = before, cell[j] = c, source[j] = s;
    if (s >= 2) least = min(least, s);
  });
  const int record = first + t, value = e.source[record]; /* in a stage, the order of time is the order of places */
  unsigned short *const cells    = e.draft + value;
  const int             diagonal = e.stored ? chunk_diagonal(e.G, p) : least - 1,
                        exported = e.export_[record + 1] != e.export_[record] ? CHUNK_EXPORTED : 0;

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
  w.sources.counts[places + (size_t)place] = (unsigned char)(1 + n + (own < 0 ? CHUNK_PART : 0) + exported);
}

/* Writes the records of a stage from the draft. */
static __global__ void __launch_bounds__(256) write_records(const ChunkEmission e, const ChunkPlan w)
{
  TRSV_SHARED(unsigned, sums, 8);
  TRSV_SHARED(unsigned, export_sums, 8);
  const int K = e.settings.length, W = e.settings.width, size = e.size, stage = (int)blockIdx.x, t = (int)threadIdx.x,
            step_bytes = CHUNK_QUADS(K, size) * W * 16;
  const unsigned       all     = w.sources.counts[blockIdx.x * (size_t)e.rows + threadIdx.x];
  const int            count   = (int)(all % CHUNK_EXPORTED), n = count - 1;
  const bool           exports = all & CHUNK_EXPORTED;
  unsigned char *const record  = w.records + (size_t)stage * (size_t)CHUNK_STAGE(K, size);
  const auto           word    = [&](int i) {
    const int byte = (K + 1) * size + 4 * i;
    return (unsigned *)(record + CHUNK_HEADER + t / W * step_bytes + (byte / 16 * W + t % W) * 16 + byte % 16);
  };

  if (t < CHUNK_HEADER / 4) ((int *)record)[t] = t ? 0 : e.first_export[stage];
  const unsigned before = chunk_sums((unsigned)count, sums), exports_before = chunk_sums(exports, export_sums) >> 16;
  const unsigned short *const cells = e.draft + w.sources.starts[2 * stage + 1] + (before & 65535u);

  *word(0) = count ? cells[0] | (exports ? exports_before + 1 : 0) << 16 : 0;
  for (int i = 1; i < (CHUNK_QUADS(K, size) * 16 - (K + 1) * size) / 4; i++) { /* up to the end of the last quad */
    unsigned v = 0;
    for (int h = 0; h < 2; h++) {
      const int x = 2 * (i - 1) + h - (K - n); /* unused fields come first */
      if (x >= 0 && x < n) v |= (unsigned)cells[1 + x] << (16 * h);
    }
    *word(i) = v;
  }
}

TrsvError TrsvChunkWrite(TrsvPlan *plan, ChunkEmission *e, ChunkScratch *scratch)
{
  ChunkPlan    *c       = (ChunkPlan *)plan->data;
  ChunkSummary *s       = &c->schedule;
  int          &stages  = s->settings.stages; /* in shared memory */
  const size_t  records = (size_t)e->nodes, dependencies = e->dependencies,
               places = (size_t)s->stages * (size_t)e->rows;
  size_t        bytes;

  while (stages > CHUNK_LEAST && ChunkCapacity(&s->settings, stages, e->size) < s->cells) stages--;
  c->shared_bytes = CHUNK_FRONT + (size_t)e->size * (size_t)(s->settings.ring + s->cells) +
                    (size_t)stages * CHUNK_STAGE((size_t)s->settings.length, (size_t)e->size);
  TrsvCall(TrsvArenaAllocate(TrsvDeviceAlloc, [&](TrsvArena &a) {
    if (e->wide) a.take(records + dependencies, c->sources.wide);
    else a.take(records, c->sources.diagonal, dependencies, c->sources.apart);
    a.take(2 * (size_t)s->stages, c->sources.starts, places, c->sources.counts, places, c->rows);
    a.take(places, c->places_in, (size_t)s->imports, c->imports);
    if (plan->given.b_index) a.take(places, c->from);
    if (plan->given.x_index) a.take(places, c->to);
  }, &c->memory, &bytes));
  plan->bytes += bytes;
  if (!plan->given.b_index) c->from = c->rows;
  if (!plan->given.x_index) c->to = c->rows;
  c->sources.toward = e->toward;
  c->sources.stored = e->stored;
  TrsvCall(scratch->draft.take(records + dependencies, e->draft, (size_t)s->stages, e->first_export));
  return TrsvLaunch(write_stages, (unsigned)s->stages, (unsigned)e->rows, 0, NULL, *e, *c, plan->given);
}

TrsvError TrsvChunkRecords(TrsvPlan *plan, const ChunkEmission *e)
{
  ChunkPlan          *c    = (ChunkPlan *)plan->data;
  const ChunkSummary *s    = &c->schedule;
  const size_t size = (size_t)e->size, words = 2 * (size_t)s->exports, /* they start on a line of their own */
               records = (CHUNK_STAGE((size_t)s->settings.length, size) * (size_t)s->stages + 255) / 256 * 256;

  TrsvCall(ChunkAllocate(plan, records + size * words + sizeof(unsigned) * TRSV_SYNC_WORDS, &c->records));
  c->words    = c->records + records;
  c->cluster  = (unsigned)s->settings.cluster;
  c->clusters = c->blocks / c->cluster;
  c->ring     = (unsigned)s->settings.ring;
  c->cells    = (unsigned)s->cells;
  c->stages   = (unsigned)s->settings.stages;
  c->exports  = (unsigned)s->exports;
  c->bounded  = s->settings.import_lifetime >= 0;
  TrsvCall(TrsvSyncIn((unsigned *)((char *)c->words + size * words), &c->sync));
  TrsvCall(TrsvClearWords(plan->precision, words, c->words, c->sync.ticket, NULL));
  return TrsvLaunch(write_records, (unsigned)s->stages, (unsigned)e->rows, 0, NULL, *e, *c);
}
