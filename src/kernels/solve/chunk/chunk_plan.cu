/*
   Set-up of plans of the algorithm `chunk`: settings, schedule, and memory.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_emission.cuh"

/* Applies a permutation to rows: to[i] = 1 + map[row] for an entry 1 + row, 0 for 0. One thread for each place. */
static __global__ void chunk_permute(size_t places, const int *rows, const int *map, int *to)
{
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (at < places) to[at] = rows[at] > 0 ? 1 + map[rows[at] - 1] : 0;
}

/* Frees the memory of an attempt. */
static void FreeAttempt(ChunkPlan *c)
{
  void *const arrays[] = {c->from != c->rows ? c->from : NULL, c->to != c->rows ? c->to : NULL, c->records, c->memory,
                          c->heads, c->batch_of, c->after};

  TrsvDeviceFreeAll(sizeof(arrays) / sizeof(*arrays), arrays);
  c->records = NULL;
  c->memory  = NULL;
  c->sources = ChunkSources();
  c->heads   = NULL;
  c->rows = c->from = c->to = NULL;
  c->batch_of = c->after = NULL;
}

/* Allocates device memory and counts its bytes. */
static TrsvError AllocateCounted(TrsvPlan *plan, size_t bytes, void *pointer)
{
  plan->bytes += bytes;
  return TrsvDeviceAlloc(bytes, pointer);
}

/* Makes the indices into b, or into x, from rows. */
static TrsvError PermuteRows(TrsvPlan *plan, const ChunkPlan *c, const int *map, int **index)
{
  if (!map) return TRSV_SUCCESS;
  TrsvCall(AllocateCounted(plan, sizeof(int) * c->places, index));
  return TrsvLaunchEach(chunk_permute, c->places, c->places, (const int *)c->rows, map, *index);
}

static void FreeScratch(void **memory)
{
  TrsvScratchFree(*memory, NULL);
  *memory = NULL;
}

static void StartSummary(ChunkPlan *c, const ChunkSchedule *schedule, int lifetime)
{
  const int     chunks = schedule->settings.chunks, cluster = schedule->settings.cluster;
  ChunkSummary *s = &c->schedule;

  *s                          = ChunkSummary();
  s->settings                 = schedule->settings;
  s->settings.import_lifetime = lifetime;
  s->steps                    = schedule->times;
  c->blocks                   = (unsigned)((chunks + cluster - 1) / cluster * cluster);
}

/* Assigns cells to the imports; with a limited lifetime also batches of imports. *fits: 1 if the cells fit into shared
   memory. */
static TrsvError AssignCells(TrsvPlan *plan, ChunkEmission *e, ChunkScratch *scratch, int *fits)
{
  ChunkPlan    *c = (ChunkPlan *)plan->data;
  ChunkSummary *s = &c->schedule;

  TrsvCall(AllocateCounted(plan, sizeof(ChunkHead) * c->blocks, &c->heads));
  TrsvCall(TrsvChunkCells(e, (int)c->blocks, c->heads, s, scratch));
  *fits = s->cells <= e->capacity;
  if (!*fits || e->import_lifetime < 0) return TRSV_SUCCESS;
  TrsvCall(AllocateCounted(plan, sizeof(int) * (size_t)s->stages, &c->batch_of));
  TrsvCall(AllocateCounted(plan, sizeof(int) * (size_t)s->batches, &c->after));
  return TrsvChunkBatches(e, s, c->heads, c->batch_of, c->after, fits);
}

/* Sets the number of stages in shared memory, and its bytes. Allocates the sources of the values, the rows of the
   places, and the imports. */
static TrsvError AllocateSources(TrsvPlan *plan, const ChunkEmission *e, const TrsvChunkSettings *settings,
                                 size_t records, size_t dependencies)
{
  ChunkPlan    *c      = (ChunkPlan *)plan->data;
  ChunkSummary *s      = &c->schedule;
  const int     size   = (int)TrsvValueSize(plan->precision);
  int          &stages = s->settings.stages;
  size_t        bytes;

  while (stages > CHUNK_LEAST && ChunkCapacity(settings, stages, size) < s->cells) stages--;
  c->places       = (size_t)s->stages * CHUNK_ROWS(settings->length, size);
  c->shared_bytes = CHUNK_FRONT + (size_t)size * (size_t)(settings->ring + s->cells) +
                    (size_t)stages * CHUNK_STAGE((size_t)settings->length, (size_t)size);
  TrsvCall(TrsvArenaAllocate(TrsvDeviceAlloc, [&](TrsvArena &a) {
    if (e->wide) a.take(records + dependencies, c->sources.wide);
    else a.take(records, c->sources.diagonal, dependencies, c->sources.apart);
    a.take(2 * (size_t)s->stages, c->sources.starts, c->places, c->sources.counts, c->places, c->rows);
    a.take(c->places, c->places_in, (size_t)s->imports, c->imports);
  }, &c->memory, &bytes));
  plan->bytes += bytes;
  c->from = c->to = c->rows;
  c->sources.toward = e->toward;
  c->sources.stored = e->stored;
  return TRSV_SUCCESS;
}

/* Allocates the records, the words of the exports and those of launches, and writes them. */
static TrsvError WriteRecords(TrsvPlan *plan, ChunkDraft *draft)
{
  ChunkPlan          *c    = (ChunkPlan *)plan->data;
  const ChunkSummary *s    = &c->schedule;
  const size_t        size = TrsvValueSize(plan->precision), stage = CHUNK_STAGE((size_t)s->settings.length, size);
  const size_t        records = (stage * (size_t)s->stages + 255) / 256 * 256; /* words start on a line of their own */
  const size_t        words   = 2 * size * (size_t)s->exports;

  TrsvCall(AllocateCounted(plan, records + words + sizeof(unsigned) * TRSV_SYNC_WORDS, &c->records));
  c->words = c->records + records;
  TrsvCall(TrsvSyncIn((unsigned *)((char *)c->words + words), &c->sync));
  TrsvCall(TrsvChunkRecords(s, plan->precision, draft, c));
  TrsvCall(PermuteRows(plan, c, plan->given.b_index, &c->from));
  return PermuteRows(plan, c, plan->given.x_index, &c->to);
}

/* Writes the plan of a schedule, with this lifetime of imports. *fits: 1 if the cells fit into shared memory; the
   schedule, which is then not needed any more, is freed. */
static TrsvError EmitPlan(TrsvPlan *plan, ChunkHeights *heights, ChunkSchedule *schedule, int lifetime, int *fits)
{
  ChunkPlan *c = (ChunkPlan *)plan->data;
  /* each off-diagonal entry and each partial sum is a dependency */
  const size_t  records      = (size_t)schedule->nodes,
                dependencies = (size_t)(heights->entries - (heights->graph.stored ? heights->graph.n : 0)) +
                               (size_t)(schedule->nodes - heights->graph.n);
  ChunkEmission e = ChunkEmission();
  ChunkScratch  scratch;
  ChunkDraft    draft;

  TrsvCall(ChunkCount(records + dependencies, "records and dependencies"));
  StartSummary(c, schedule, lifetime);
  plan->bytes = 0;
  e.size      = (int)TrsvValueSize(plan->precision);
  e.capacity  = ChunkCapacity(&schedule->settings, CHUNK_LEAST, e.size);
  TrsvCall(TrsvChunkNumber(heights, schedule, &e, &scratch));
  e.import_lifetime = lifetime;
  TrsvCall(AssignCells(plan, &e, &scratch, fits));
  if (!*fits) return TRSV_SUCCESS;
  for (TrsvScratch &s : scratch.early) s.release();
  FreeScratch(&schedule->early);
  FreeScratch(&heights->memory);

  TrsvCall(AllocateSources(plan, &e, &schedule->settings, records, dependencies));
  TrsvCall(TrsvChunkWrite(&e, &c->schedule, records + dependencies, c, &draft, &scratch));
  scratch.numbered.release();
  for (TrsvScratch &s : scratch.cells) s.release();
  FreeScratch(&schedule->memory);
  FreeScratch(&heights->extended);
  return WriteRecords(plan, &draft);
}

/* The size of the smallest ring. */
static int LeastRing(const TrsvChunkSettings *s, size_t size) { return CHUNK_LEAST * CHUNK_ROWS(s->length, size); }

/* Writes the plan with the longest lifetime of imports with which their cells fit; if none fits, tries again with the
   smallest ring. Cells are reused if the lifetime is limited; neighbors do not push into such cells, so there are no
   clusters. With a lifetime of 0 two stages need a cell for each dependency of their records, and cells for a batch.
   These always fit into CHUNK_SHARED bytes, except with records of 13 in double precision. *fits: there is a plan. */
static TrsvError EmitFitting(TrsvPlan *plan, ChunkHeights *heights, ChunkSchedule *schedule, int *fits)
{
  static const int  lifetimes[] = {-1, 16, 4, 1, 0};
  const size_t      size        = TrsvValueSize(plan->precision);
  TrsvChunkSettings settings    = schedule->settings;
  const int         wanted      = settings.import_lifetime;
  int               placed;

  *fits = 0;
  TrsvCall(TrsvChunkPrepareKernel(plan->precision, &settings));
  placed = !memcmp(&schedule->settings, &settings, sizeof(settings));

  for (;;) {
    for (int lifetime : lifetimes) {
      if (wanted >= 0 && (lifetime < 0 || lifetime > wanted)) continue;
      if (lifetime >= 0 && settings.cluster > 1) settings.cluster = 1, placed = 0;
      if (!placed) TrsvCall(TrsvChunkPlace(heights, &settings, schedule));
      placed = 1;
      TrsvCall(EmitPlan(plan, heights, schedule, lifetime, fits));
      if (*fits) return TRSV_SUCCESS;
      FreeAttempt((ChunkPlan *)plan->data);
    }
    if (settings.ring <= LeastRing(&settings, size)) return TRSV_SUCCESS;
    settings.ring = schedule->settings.ring = LeastRing(&settings, size); /* the times do not depend on the ring */
  }
}

/* Writes the plan of a schedule; with shorter records if the imports of long ones do not fit. */
static TrsvError Emit(TrsvPlan *plan, ChunkHeights *heights, ChunkSchedule *schedule)
{
  enum { SHORTER = 5 };
  TrsvChunkSettings settings = schedule->settings;
  int               fits;

  TrsvCall(EmitFitting(plan, heights, schedule, &fits));
  if (!fits && settings.length > SHORTER) {
    settings.length = SHORTER;
    TrsvCall(TrsvChunkPlace(heights, &settings, schedule));
    TrsvCall(EmitFitting(plan, heights, schedule, &fits));
  }
  return fits ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no settings fit %d rows", plan->rows);
}

static const TrsvChunkSettings *override_settings;

/* For tests (tests/kernels/check.h): fixes the settings of later plans; NULL: they are chosen. */
extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  static TrsvChunkSettings kept;

  if (s) kept = *s;
  override_settings = s ? &kept : NULL;
}

/* A schedule that is being made. */
struct ChunkSetup {
  ChunkHeights   heights;
  ChunkSchedule  schedule;
  TrsvStatistics statistics;
  int            rank, choices, next; /* choices: settings; next: the rank of those that are tried after these */
};

/* Launches the schedule with the next settings that are possible. */
static TrsvError PlaceNext(TrsvPrecision precision, ChunkSetup *p)
{
  TrsvChunkSettings choice[CHUNK_CHOICES];
  double            time[CHUNK_CHOICES];
  int               multiprocessors;
  TrsvError         error;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  if (override_settings) choice[0] = *override_settings, p->choices = 1;
  else
    p->choices =
      TrsvChunkSettingsRank(&p->statistics, multiprocessors, TrsvDeviceGetLimits(), precision, choice, time);
  if (p->next >= p->choices)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk has only %d settings for this matrix", p->choices);
  do error = TrsvChunkPlaceBegin(&p->heights, &choice[p->next++], &p->schedule);
  while (error == TRSV_ERR_UNSUPPORTED && !p->rank && p->next < p->choices);
  return error;
}

static void FreeSetup(ChunkSetup **setup)
{
  if (!*setup) return;
  TrsvChunkScheduleFree(&(*setup)->schedule);
  TrsvChunkHeightsFree(&(*setup)->heights);
  free(*setup);
  *setup = NULL;
}

TrsvError TrsvChunkScheduleBegin(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                                 int rank)
{
  ChunkPlan *c = (ChunkPlan *)plan->data;

  TrsvCall(TrsvAlloc(sizeof(*c->setup), &c->setup));
  c->setup->statistics = analysis->statistics;
  c->setup->rank = c->setup->next = override_settings ? 0 : rank;
  TrsvCall(TrsvChunkFindHeights(A, analysis, source, &c->setup->heights));
  return PlaceNext(plan->precision, c->setup);
}

/* With rank 0, if the schedule is too long for the best settings, tries the next ones. */
TrsvError TrsvChunkScheduleWait(TrsvPlan *plan)
{
  ChunkPlan *const  c     = (ChunkPlan *)plan->data;
  ChunkSetup *const p     = c->setup;
  TrsvError         error = TrsvChunkPlaceEnd(&p->schedule);

  while (error == TRSV_ERR_UNSUPPORTED && !p->rank && p->next < p->choices) {
    error = PlaceNext(plan->precision, p);
    if (!error) error = TrsvChunkPlaceEnd(&p->schedule);
  }
  c->schedule.settings = p->schedule.settings;
  c->schedule.steps    = p->schedule.times;
  return error;
}

TrsvError TrsvChunkScheduleEnd(TrsvPlan *plan)
{
  ChunkPlan *const  c     = (ChunkPlan *)plan->data;
  ChunkSetup *const p     = c->setup;
  TrsvError         error = p->schedule.placing ? TrsvChunkScheduleWait(plan) : TRSV_SUCCESS;

  if (!error) error = Emit(plan, &p->heights, &p->schedule);
  FreeSetup(&c->setup);
  return error;
}

void TrsvChunkFreeSchedule(ChunkPlan *c)
{
  FreeSetup(&c->setup);
  FreeAttempt(c);
  TrsvPinnedFree(1, c->sync.abort_host);
}
