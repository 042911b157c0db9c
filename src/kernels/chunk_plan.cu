/*
   Plans of the algorithm `chunk`: settings, schedule, memory, and values gathered into records.
*/
#include <stdlib.h>
#include <string.h>
#include "chunk.cuh"
#include "chunk_graph.cuh"

/* A thread's record, with a thread for each place of a stage: where its values come from. */
struct ChunkOwn {
  int  count;    /* its values, the diagonal's among them; 0: there is no record */
  bool part;     /* a partial sum */
  int  diagonal, value, near; /* a source; where its own start, in c.wide, and those off the diagonal in c.apart */

  __device__ __forceinline__ ChunkOwn(const ChunkSources &c, unsigned rows, int *sums)
  {
    const unsigned place = threadIdx.x, lane = place % 32;
    const int      all = c.counts[(size_t)blockIdx.x * rows + place];
    int            own, sum; /* in the low half values, in the high one records */

    count = all % CHUNK_PART;
    part  = all >= CHUNK_PART;
    sum = own = count ? 65536 + count : 0;
    for (unsigned d = 1; d < 32; d *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += before;
    }
    if (lane == 31) sums[place / 32] = sum;
    __syncthreads();
    for (unsigned w = 0; w < place / 32; w++) sum += sums[w];
    sum -= own;

    const int record = c.starts[2 * blockIdx.x] + (sum >> 16);
    value    = c.starts[2 * blockIdx.x + 1] + (sum & 65535);
    near     = value - record;
    diagonal = !count ? 0 : c.wide ? c.wide[value] : c.diagonal[record];
  }

  /* Of its j-th dependency, from 1: 1 for a one, 2 + where else */
  __device__ __forceinline__ int source(const ChunkSources &c, int j) const
  {
    if (c.wide) return c.wide[value + j];
    const int apart = c.apart[near + j - 1];
    return apart ? diagonal + c.toward * apart : 1;
  }
};

/* Its values, each divided by the row's diagonal, and the diagonal's reciprocal. */
template <class T, int K, int W> static __global__ void __launch_bounds__(CHUNK_ROWS(K)) chunk_gather(const ChunkSources c, const T *from, unsigned char *records)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(int, sums, Layout::rows / 32);
  unsigned char *const stage = records + (size_t)blockIdx.x * Layout::stage;
  const unsigned       place = threadIdx.x;
  const ChunkOwn       own(c, Layout::rows, sums);
  const T              inverse = own.count && c.stored ? trsv_canonical(1 / from[own.diagonal - 2]) : 1;

#pragma unroll
  for (int k = 0; k < K; k++) {
    const int j = k - K + own.count, s = j >= 1 ? own.source(c, j) : 0; /* the last dependencies of a record are its own */
    *(T *)(stage + Layout::at(place, (unsigned)k * (unsigned)sizeof(T))) = s >= 2 ? trsv_canonical(-from[s - 2] * inverse) : (T)s;
  }
  *(T *)(stage + Layout::at(place, K * (unsigned)sizeof(T))) = own.count && !own.part ? inverse : 0;
}

/* The other way round, where the diagonal is one: then the values are there as they came. */
template <class T, int K, int W> static __global__ void __launch_bounds__(CHUNK_ROWS(K)) chunk_give(const ChunkSources c, const unsigned char *records, T *to)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(int, sums, Layout::rows / 32);
  const unsigned char *const stage = records + (size_t)blockIdx.x * Layout::stage;
  const ChunkOwn             own(c, Layout::rows, sums);

#pragma unroll
  for (int k = 0; k < K; k++) {
    const int j = k - K + own.count, s = j >= 1 ? own.source(c, j) : 0;
    if (s >= 2) to[s - 2] = -*(const T *)(stage + Layout::at(threadIdx.x, (unsigned)k * (unsigned)sizeof(T)));
  }
}

/* --- one table of kernels for each precision --- */

template <class T> struct ChunkKernels {
  int length, width;
  void (*gather)(const ChunkSources, const T *, unsigned char *);
  void (*give)(const ChunkSources, const unsigned char *, T *);
};

#define CHUNK_KERNELS(K, W) {K, W, chunk_gather<T, K, W>, chunk_give<T, K, W>}

template <class T> static const ChunkKernels<T> *Kernels(const TrsvChunkSettings *s)
{
  static const ChunkKernels<T> table[] = {CHUNK_KERNELS(2, 8), CHUNK_KERNELS(2, 16), CHUNK_KERNELS(2, 32), CHUNK_KERNELS(3, 8), CHUNK_KERNELS(3, 16), CHUNK_KERNELS(3, 32), CHUNK_KERNELS(5, 16), CHUNK_KERNELS(5, 32), CHUNK_KERNELS(8, 32), CHUNK_KERNELS(13, 32)};

  for (const ChunkKernels<T> &k : table)
    if (k.length == s->length && k.width == s->width) return &k;
  return NULL;
}

/* A thread for each place; rows and places are 1 + what they say, 0 stays. */
static __global__ void chunk_places(size_t places, const int *rows, const int *map, int *to)
{
  const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (at < places) to[at] = rows[at] > 0 ? 1 + map[rows[at] - 1] : 0;
}

/* What of a plan belongs to one attempt. */
static void Clear(Chunk *c)
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
  ChunkArena a = {NULL, 0};

  layout(a);
  plan->bytes += a.used;
  return ChunkAllocate(TrsvDeviceAlloc, layout, memory);
}

/* Rows as places of b or of x. */
static TrsvError Place(TrsvPlan *plan, const Chunk *c, const int *map, int **places)
{
  int *made;

  if (!map) return TRSV_SUCCESS;
  TrsvCall(Keep(plan, sizeof(int) * c->places, &made));
  *places = made;
  TRSV_LAUNCH(chunk_places, (unsigned)((c->places + 255) / 256), 256, 0, (TrsvStream)NULL, c->places, (const int *)c->rows, map, made);
  return TrsvDeviceLaunched("chunk_places");
}

static void Leave(void **memory)
{
  ChunkLeave(*memory);
  *memory = NULL;
}

/* What an emission borrows: EARLY until imports have cells that fit, DRAFT until records are written, the others until there is a draft of them. */
enum {
  NUMBERED,
  CELLS,
  EARLY = CELLS + 2,
  DRAFT = EARLY + 2,
  BORROWED
};

/* Emits what was placed, with cells for imports that live so long. Once they fit, nothing is placed again. */
static TrsvError Emit(TrsvPlan *plan, ChunkOrder *order, ChunkTimes *times, int life, void *memory[], int *fits)
{
  Chunk                   *c = (Chunk *)plan->data;
  ChunkSchedule           *s = &c->schedule;
  const TrsvChunkSettings *settings = &times->settings;
  const int                size = (int)TrsvValueSize(plan->precision), capacity = ChunkCapacity(settings, CHUNK_LEAST, size);
  ChunkEmission            e = ChunkEmission();

  *s          = ChunkSchedule();
  s->settings = *settings;
  s->settings.life = life;
  s->chunks   = settings->chunks;
  s->records  = times->nodes;
  s->steps    = times->times;
  c->blocks   = (unsigned)((s->chunks + settings->cluster - 1) / settings->cluster * settings->cluster);
  plan->bytes = 0;
  e.capacity  = capacity;
  TrsvCall(TrsvChunkNumber(order, times, &e, &memory[NUMBERED]));
  e.life = life;
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
  while (s->settings.stages > CHUNK_LEAST && ChunkCapacity(settings, s->settings.stages, size) < s->cells) s->settings.stages--;

  const size_t stage = CHUNK_STAGE((size_t)settings->length, (size_t)size);
  /* each record has a diagonal; each entry is a dependency of one, and so is each partial sum */
  const size_t records = (size_t)times->nodes, dependencies = (size_t)(order->entries - (order->graph.stored ? order->graph.n : 0)) + (size_t)(times->nodes - order->graph.n);
  ChunkDraft   draft = ChunkDraft();
  c->places       = (size_t)s->stages * CHUNK_ROWS(settings->length);
  c->shared_bytes = CHUNK_FRONT + (size_t)size * (size_t)(settings->ring + s->cells) + (size_t)s->settings.stages * stage;
  TrsvCall(Pieces(plan, [&](ChunkArena &a) {
    if (e.wide) a.take(records + dependencies, c->sources.wide);
    else a.take(records, c->sources.diagonal), a.take(dependencies, c->sources.apart);
    a.take(2 * (size_t)s->stages, c->sources.starts), a.take(c->places, c->sources.counts), a.take(c->places, c->rows), a.take(c->places, c->places_in), a.take((size_t)s->imports, c->imports);
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
  TrsvCall(Pieces(plan, [&](ChunkArena &a) { a.take(stage * (size_t)s->stages, c->records), a.take(2 * (size_t)size * (size_t)s->exports, *(char **)&c->words); }, (void **)&c->records));
  TrsvCall(TrsvChunkRecords(s, plan->precision, &draft, c));
  TrsvCall(Place(plan, c, plan->places.from, &c->from));
  return Place(plan, c, plan->places.to, &c->to);
}

/* If imports do not fit: a cell for some stages only, and no neighbour pushes into cells that change hands. With a life of 0 cells
   a stage needs no more than its records have places, which always fits. */
static TrsvError Schedule(TrsvPlan *plan, ChunkOrder *order, ChunkTimes *times)
{
  static const int  lives[] = {-1, 16, 4, 1, 0};
  TrsvChunkSettings settings = times->settings;
  const int         wanted = settings.life;
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
    for (void *m : memory) ChunkLeave(m);
    TrsvCall(error);
    if (fits) return TRSV_SUCCESS;
    Clear((Chunk *)plan->data);
  }
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no settings fit %d rows", plan->rows);
}

TrsvError TrsvChunkAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  ChunkOrder order;
  ChunkTimes times = ChunkTimes();
  TrsvCosts  costs;
  TrsvError  error;
  int        multiprocessors, clusters;

  TrsvCall(TrsvAlloc(sizeof(Chunk), &plan->data));
  memset(plan->data, 0, sizeof(Chunk));
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceHasClusters(&clusters));
  if (!clusters) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: needs a device of compute capability 9.0 or more");
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvSyncCreate(&((Chunk *)plan->data)->sync));
  TrsvCall(TrsvChunkOrder(A, analysis, source, &order));
  costs = TrsvGetCosts();
  error = TrsvChunkSettingsChoose(&order, &analysis->statistics, &costs, multiprocessors, plan->rank, &times);
  if (!error) error = Schedule(plan, &order, &times);
  TrsvChunkTimesFree(&times);
  TrsvChunkOrderFree(&order);
  return error;
}

template <class T> static TrsvError SetValues(Chunk *c, const void *values, TrsvStream stream)
{
  TRSV_LAUNCH((Kernels<T>(&c->schedule.settings)->gather), (unsigned)c->schedule.stages, (unsigned)CHUNK_ROWS(c->schedule.settings.length), 0, stream, c->sources, (const T *)values, c->records);
  return TrsvDeviceLaunched("chunk_gather");
}

TrsvError TrsvChunkSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Chunk *c = (Chunk *)plan->data;

  return plan->precision == TRSV_FLOAT ? SetValues<float>(c, values, stream) : SetValues<double>(c, values, stream);
}

template <class T> static TrsvError GetValues(const Chunk *c, void *values, TrsvStream stream)
{
  TRSV_LAUNCH((Kernels<T>(&c->schedule.settings)->give), (unsigned)c->schedule.stages, (unsigned)CHUNK_ROWS(c->schedule.settings.length), 0, stream, c->sources, c->records, (T *)values);
  return TrsvDeviceLaunched("chunk_give");
}

extern "C" TrsvError TrsvChunkGetValues(const TrsvPlan *plan, void *values, TrsvStream stream)
{
  const Chunk *c = (const Chunk *)plan->data;

  return plan->precision == TRSV_FLOAT ? GetValues<float>(c, values, stream) : GetValues<double>(c, values, stream);
}

void TrsvChunkDestroy(TrsvPlan *plan)
{
  Chunk *c = (Chunk *)plan->data;

  if (!c) return;
  Clear(c);
  TrsvSyncDestroy(&c->sync);
  free(c);
}

/* For benchmarks: the settings that a plan runs with. */
extern "C" const ChunkSchedule *TrsvChunkPlanSchedule(const TrsvPlan *plan) { return plan->algorithm == &TrsvChunk && plan->data ? &((const Chunk *)plan->data)->schedule : NULL; }
