/*
   Plans of the algorithm `chunk`: settings, schedule, and memory.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_emission.cuh"

/* A thread for each place; rows and places are 1 + what they say, 0 stays. */
static __global__ void chunk_places(size_t places, const int *rows, const int *map, int *to)
{
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (at < places) to[at] = rows[at] > 0 ? 1 + map[rows[at] - 1] : 0;
}

/* What of a plan belongs to one attempt. */
static void Clear(ChunkPlan *c)
{
  if (c->from != c->rows) TrsvDeviceFree(c->from);
  if (c->to != c->rows) TrsvDeviceFree(c->to);
  TrsvDeviceFree(c->records);
  TrsvDeviceFree(c->memory);
  TrsvDeviceFree(c->heads);
  TrsvDeviceFree(c->batch_of);
  TrsvDeviceFree(c->after);
  c->records  = NULL;
  c->memory   = NULL;
  c->sources  = ChunkSources();
  c->rows = c->from = c->to = NULL;
  c->heads    = NULL;
  c->batch_of = c->after = NULL;
}

/* Device memory, counted. */
static TrsvError Keep(TrsvPlan *plan, size_t bytes, void *pointer)
{
  plan->bytes += bytes;
  return TrsvDeviceAlloc(bytes, pointer);
}

template <class F> static TrsvError Pieces(TrsvPlan *plan, F layout, void **memory)
{
  size_t bytes;

  TrsvCall(TrsvArenaAllocate(TrsvDeviceAlloc, layout, memory, &bytes));
  plan->bytes += bytes;
  return TRSV_SUCCESS;
}

/* Rows as places of b or of x. */
static TrsvError Place(TrsvPlan *plan, const ChunkPlan *c, const int *map, int **places)
{
  int *made;

  if (!map) return TRSV_SUCCESS;
  TrsvCall(Keep(plan, sizeof(int) * c->places, &made));
  *places = made;
  TRSV_LAUNCH(chunk_places, TrsvBlocks((long)c->places, 256), 256, 0, (TrsvStream)NULL, c->places, (const int *)c->rows,
              map, made);
  return TrsvDeviceCheckLaunch("chunk_places");
}

static void Leave(void **memory)
{
  TrsvScratchFree(*memory, NULL);
  *memory = NULL;
}

/* What an emission borrows: EARLY until imports have cells that fit, DRAFT until records are written, the others until
   there is a draft of them. */
enum {
  NUMBERED,
  CELLS,
  EARLY = CELLS + 2,
  DRAFT = EARLY + 2,
  BORROWED
};

/* Emits what was placed, with cells for imports that live so long. Once they fit, nothing is placed again. */
static TrsvError Emit(TrsvPlan *plan, ChunkHeights *order, ChunkSchedule *times, int life, void *memory[], int *fits)
{
  ChunkPlan                   *c = (ChunkPlan *)plan->data;
  ChunkSummary           *s = &c->schedule;
  const TrsvChunkSettings *settings = &times->settings;
  const int size = (int)TrsvValueSize(plan->precision), capacity = ChunkCapacity(settings, CHUNK_LEAST, size);
  /* each record has a diagonal; each entry is a dependency of one, and so is each partial sum */
  const size_t  records      = (size_t)times->nodes,
                dependencies = (size_t)(order->entries - (order->graph.stored ? order->graph.n : 0)) +
                               (size_t)(times->nodes - order->graph.n);
  ChunkEmission e = ChunkEmission();

  TrsvCall(ChunkCount(records + dependencies, "records and dependencies"));
  *s          = ChunkSummary();
  s->settings = *settings;
  s->settings.import_lifetime = life;
  s->chunks   = settings->chunks;
  s->records  = times->nodes;
  s->steps    = times->times;
  c->blocks   = (unsigned)((s->chunks + settings->cluster - 1) / settings->cluster * settings->cluster);
  plan->bytes = 0;
  e.capacity  = capacity;
  TrsvCall(TrsvChunkNumber(order, times, &e, &memory[NUMBERED]));
  e.import_lifetime = life;
  TrsvCall(Keep(plan, sizeof(ChunkHead) * c->blocks, &c->heads));
  TrsvCall(TrsvChunkCells(&e, (int)c->blocks, c->heads, s, &memory[CELLS], &memory[EARLY]));
  *fits = s->cells <= capacity;
  if (!*fits) return TRSV_SUCCESS;
  if (life >= 0) {
    TrsvCall(Keep(plan, sizeof(int) * (size_t)s->stages, &c->batch_of));
    TrsvCall(Keep(plan, sizeof(int) * (size_t)s->batches, &c->after));
    TrsvCall(TrsvChunkBatches(&e, s, c->heads, c->batch_of, c->after, fits));
    if (!*fits) return TRSV_SUCCESS;
  }
  for (int m = EARLY; m < DRAFT; m++) Leave(&memory[m]);
  Leave(&times->early);
  Leave(&order->memory);
  while (s->settings.stages > CHUNK_LEAST && ChunkCapacity(settings, s->settings.stages, size) < s->cells)
    s->settings.stages--;

  const size_t stage = CHUNK_STAGE((size_t)settings->length, (size_t)size);
  ChunkDraft   draft = ChunkDraft();
  c->places       = (size_t)s->stages * CHUNK_ROWS(settings->length);
  c->shared_bytes =
    CHUNK_FRONT + (size_t)size * (size_t)(settings->ring + s->cells) + (size_t)s->settings.stages * stage;
  TrsvCall(Pieces(plan, [&](TrsvArena &a) {
    if (e.wide) a.take(records + dependencies, c->sources.wide);
    else a.take(records, c->sources.diagonal), a.take(dependencies, c->sources.apart);
    a.take(2 * (size_t)s->stages, c->sources.starts), a.take(c->places, c->sources.counts), a.take(c->places, c->rows),
      a.take(c->places, c->places_in), a.take((size_t)s->imports, c->imports);
  }, &c->memory));
  c->from = c->to = c->rows;
  c->sources.toward = e.toward;
  c->sources.stored = e.stored;
  const TrsvError error = TrsvChunkWrite(&e, s, records + dependencies, c, &draft);
  memory[DRAFT] = draft.memory;
  TrsvCall(error);
  for (int m = NUMBERED; m < EARLY; m++) Leave(&memory[m]);
  Leave(&times->memory);
  Leave(&order->extended);
  TrsvCall(Pieces(
    plan,
    [&](TrsvArena &a) {
      a.take(stage * (size_t)s->stages, c->records), a.take(2 * (size_t)size * (size_t)s->exports, *(char **)&c->words);
    },
    (void **)&c->records));
  TrsvCall(TrsvChunkRecords(s, plan->precision, &draft, c));
  TrsvCall(Place(plan, c, plan->places.b_index, &c->from));
  return Place(plan, c, plan->places.x_index, &c->to);
}

/* If imports do not fit: a cell for some stages only, and no neighbor pushes into cells that change hands. With a life
   of 0 cells a stage needs no more than its records have places, which always fits. */
static TrsvError Schedule(TrsvPlan *plan, ChunkHeights *order, ChunkSchedule *times)
{
  static const int  lives[] = {-1, 16, 4, 1, 0};
  TrsvChunkSettings settings = times->settings;
  const int         wanted = settings.import_lifetime;
  int               fits = 0, placed;

  TrsvCall(TrsvChunkReady(plan->precision, &settings));
  placed = !memcmp(&times->settings, &settings, sizeof(settings));

  for (int life : lives) {
    void     *memory[BORROWED] = {NULL};
    TrsvError error     = TRSV_SUCCESS;

    if (wanted >= 0 && (life < 0 || life > wanted)) continue;
    if (life >= 0 && settings.cluster > 1) settings.cluster = 1, placed = 0;
    if (!placed) error = TrsvChunkPlace(order, &settings, times);
    placed = 1;
    if (!error) error = Emit(plan, order, times, life, memory, &fits);
    for (void *m : memory) TrsvScratchFree(m, NULL);
    TrsvCall(error);
    if (fits) return TRSV_SUCCESS;
    Clear((ChunkPlan *)plan->data);
  }
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no settings fit %d rows", plan->rows);
}

static const TrsvChunkSettings *settings_for_all;

/* For tests (tests/kernels/check.h): settings of the plans made next; NULL: chosen again. */
extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  static TrsvChunkSettings kept;

  if (s) kept = *s;
  settings_for_all = s ? &kept : NULL;
}

/* Places a triangle with the settings of that rank, or, where the best have too many chunks for chains so long, with
   the next. */
static TrsvError PlaceRanked(const ChunkHeights *order, const TrsvStatistics *t, int rank, ChunkSchedule *times)
{
  TrsvChunkSettings choice[CHUNK_CHOICES];
  double            time[CHUNK_CHOICES];
  int               multiprocessors;

  if (settings_for_all) return TrsvChunkPlace(order, settings_for_all, times);
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const int choices = TrsvChunkSettingsRank(t, multiprocessors, choice, time);
  if (rank >= choices)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: only %d settings are considered for this matrix", choices);
  TrsvError error = TrsvChunkPlace(order, &choice[rank], times);
  for (int n = 1; !rank && error == TRSV_ERR_UNSUPPORTED && n < choices; n++)
    error = TrsvChunkPlace(order, &choice[n], times);
  return error;
}

TrsvError TrsvChunkMakeSchedule(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source,
                                int rank)
{
  ChunkHeights  order;
  ChunkSchedule times = ChunkSchedule();
  TrsvError     error;

  TrsvCall(TrsvSyncCreate(&((ChunkPlan *)plan->data)->sync));
  TrsvCall(TrsvChunkFindHeights(A, analysis, source, &order));
  error = PlaceRanked(&order, &analysis->statistics, rank, &times);
  if (!error) error = Schedule(plan, &order, &times);
  TrsvChunkScheduleFree(&times);
  TrsvChunkHeightsFree(&order);
  return error;
}

void TrsvChunkFreeSchedule(ChunkPlan *c)
{
  Clear(c);
  TrsvSyncDestroy(&c->sync);
}
