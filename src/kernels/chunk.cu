/*
   chunk: chunks of consecutive rows, a block each, solved step by step out of shared memory.

   Source: this project; the schedule is in chunk_schedule.c, the layout in chunk.h, the computing warp in chunk_compute.cuh.

   Mapping: the cluster of ticket t takes chunks t * cluster onwards, block by block. In a block one warp computes, lane by lane a row or
   a partial sum; others copy records into shared memory many steps ahead, multiply the right-hand side in, fetch results of other
   chunks in order of need, write x, and ready the words of the launch after this one.
   Memory order: between chunks, and from importers to the computing warp, a result is a word that is its own flag (vocabulary.cuh),
   through L2 or into a cell of a neighbour's shared memory. From step to step of the warp it is ordered by trsv_warp_sync. Stages
   of records and of results change hands by barriers and counters that release and acquire. No result has the bits of NOT_READY:
   values and right-hand sides are made canonical before anything is computed with them.
   Why it ends: a chunk waits for smaller chunks only, and their clusters have smaller tickets or are its own, so they have started; by
   induction all of them end. Within a block, everybody waits for the computing warp, or it for them, stage by stage; a batch of
   imports gets its cells two stages before its first use, which the schedule has checked. If memory fails, patience bounds the
   waits for imports, NaN takes the place of what did not come, and all other waits follow.
   Same bits: each sum has one order, fixed by the schedule.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "chunk.cuh"
#include "chunk_compute.cuh"

typedef struct {
  ChunkSchedule  schedule; /* without its arrays */
  size_t         places;
  unsigned       blocks;
  size_t         shared_bytes;
  unsigned char *records;
  ChunkHead     *heads;
  int           *sources, *rows, *batch_of, *after;
  unsigned char *places_in;
  ChunkImport   *imports;
  void          *words;
  TrsvSync       sync;
} Chunk;

/* --- the warps that help --- */

template <class T, int K, int W> static __device__ __forceinline__ void chunk_copy(const ChunkView<T> &A, const ChunkHead &h, unsigned base, unsigned first_stage)
{
  const unsigned       bytes = ChunkLayout<T, K, W>::stage;
  const unsigned char *from = A.records + (size_t)h.stage * bytes;

  for (unsigned i = 0, slot = 0, parity = 1; i < (unsigned)h.stages; i++) {
    if (i >= A.stages) {
      trsv_barrier_wait(base + EMPTY + slot * 8, parity);
      trsv_bulk_fence();
    }
    trsv_bulk_copy(first_stage + slot * bytes, from + (size_t)i * bytes, bytes, base + ARRIVED + slot * 8);
    if (++slot == A.stages) slot = 0, parity ^= 1;
  }
}

/* Turns 1/d into b/d in every stage me, me + RIGHTERS, ... */
template <class T, int K, int W> static __device__ __forceinline__ void chunk_right(const ChunkView<T> &A, const ChunkHead &h, const T *b, unsigned base, unsigned first_stage, int me, unsigned lane)
{
  typedef ChunkLayout<T, K, W> Layout;
  constexpr int                N = Layout::rows / 32;
  int                          row[N];
  unsigned                     place[N], used_place[N];
  T                            right[N];
  bool                         used[N];

  const auto load_rows = [&](int stage) {
#pragma unroll
    for (int j = 0; j < N; j++) {
      const size_t at = (size_t)(h.stage + stage) * Layout::rows + (unsigned)j * 32 + lane;
      row[j]          = stage < h.stages ? A.rows[at] : 0;
      place[j]        = stage < h.stages ? A.places[at] : 0;
    }
  };
  const auto load_right = [&] {
#pragma unroll
    for (int j = 0; j < N; j++) {
      used[j]       = row[j] > 0;
      used_place[j] = place[j];
      right[j]      = used[j] ? b[row[j] - 1] : 0;
    }
  };

  load_rows(me);
  load_right();
  load_rows(me + RIGHTERS);
  for (int stage = me; stage < h.stages; stage += RIGHTERS) {
    const unsigned slot = (unsigned)stage % A.stages, parity = (unsigned)stage / A.stages & 1, at = first_stage + slot * Layout::stage;

    /* not for the copy alone: this warp may be a whole turn behind, and parity cannot tell two turns apart */
    trsv_barrier_wait(base + EMPTY + slot * 8, parity ^ 1);
    trsv_barrier_wait(base + ARRIVED + slot * 8, parity);
#pragma unroll
    for (int j = 0; j < N; j++) {
      const unsigned a = at + Layout::at(used_place[j], K * (unsigned)sizeof(T));
      if (used[j]) trsv_shared_store(a, trsv_canonical(trsv_shared_load<T>(a) * right[j]));
    }
    if (A.bounded) { /* and its imports have cells */
      const unsigned batches = (unsigned)A.batch_of[h.stage + stage];
      for (unsigned i = 0; i < IMPORTERS; i++)
        while (trsv_shared_acquire(base + MARKED + i * 4) * IMPORTERS + i < batches) trsv_pause();
    }
    trsv_warp_sync();
    trsv_barrier_arrive_if(base + READY + slot * 8, lane == 0);
    load_right();
    load_rows(stage + 2 * RIGHTERS);
  }
}

/* Fetches batches me, me + IMPORTERS, ... through L2. All words of a batch are asked for at once; while nothing comes, only the first
   32 that are missing are. */
template <class T> static __device__ __forceinline__ void chunk_import(const ChunkView<T> &A, const ChunkHead &h, const T *now, unsigned base, unsigned cells, int me, unsigned lane)
{
  constexpr int N = CHUNK_BATCH / 32;
  ChunkImport   wanted[N], next[N];
  TrsvPatience  patience;
  bool          lost = false;

  const auto load = [&](int batch) {
#pragma unroll
    for (int j = 0; j < N; j++) {
      const int i = batch * CHUNK_BATCH + j * 32 + (int)lane;
      next[j].word = -1;
      if (i < h.imports) next[j] = A.imports[h.import_ + i];
    }
  };

  load(me);
  for (int batch = me; batch * CHUNK_BATCH < h.imports; batch += IMPORTERS) {
#pragma unroll
    for (int j = 0; j < N; j++) wanted[j] = next[j];
    load(batch + IMPORTERS);
    if (A.bounded) { /* until the cells' last users are done; then nobody takes what is in them for an import */
      const unsigned after = (unsigned)A.after[h.batch + batch];
      for (unsigned i = 0; i < WRITERS; i++)
        while (trsv_shared_acquire(base + WRITTEN + i * 4) < after) trsv_pause();
#pragma unroll
      for (int j = 0; j < N; j++)
        if (wanted[j].word >= 0) trsv_shared_store(cells + (unsigned)wanted[j].cell * (unsigned)sizeof(T), trsv_not_ready<T>());
      trsv_warp_sync();
      if (lane == 0) trsv_shared_release(base + MARKED + (unsigned)me * 4, (unsigned)batch / IMPORTERS + 1);
    }
    for (int first = 0, all = 1; first < N;) {
      T   value[N];
      int over = first;

#pragma unroll
      for (int j = 0; j < N; j++)
        if (wanted[j].word >= 0 && j >= first && (all || j == first)) value[j] = trsv_load(now + wanted[j].word);
#pragma unroll
      for (int j = 0; j < N; j++) {
        if (wanted[j].word >= 0 && j >= first && (all || j == first)) {
          if (lost && !trsv_is_ready(value[j])) value[j] = trsv_nan<T>();
          if (trsv_is_ready(value[j])) {
            trsv_shared_store(cells + (unsigned)wanted[j].cell * (unsigned)sizeof(T), value[j]);
            wanted[j].word = -1;
          }
        }
        if (!trsv_warp_any(wanted[j].word >= 0) && over == j) over = j + 1;
      }
      all = over != first;
      if (!all) lost = trsv_warp_any(!patience.more(A.sync)) || lost;
      first = over;
    }
  }
}

/* What neighbours push has nobody here who fetches it. If the chunk stands still over the limit, or a wait elsewhere was over it, NaN
   takes the place of what has not come. */
template <class T> static __device__ __forceinline__ void chunk_watch(const ChunkView<T> &A, const ChunkHead &h, unsigned base, unsigned cells, unsigned lane)
{
  TrsvPatience patience;

  for (unsigned seen = 0;;) {
    const unsigned now = min(trsv_shared_acquire(base + WRITTEN), trsv_shared_acquire(base + WRITTEN + 4));

    if (!trsv_warp_any(now < (unsigned)h.stages)) break;
    if (now != seen) seen = now, patience = TrsvPatience();
    trsv_sleep();
    if (!trsv_warp_any(!patience.more(A.sync))) continue;
    for (unsigned i = lane; i < A.cells; i += 32)
      if (!trsv_is_ready(trsv_shared_load<T>(cells + i * (unsigned)sizeof(T)))) trsv_shared_store(cells + i * (unsigned)sizeof(T), trsv_nan<T>());
  }
}

/* Writes x of stages me, me + WRITERS, ... */
template <class T, int K, int W> static __device__ __forceinline__ void chunk_write(const ChunkView<T> &A, const ChunkHead &h, T *x, unsigned base, int me, unsigned lane)
{
  constexpr unsigned ROWS = CHUNK_ROWS(K);
  constexpr int      N = ROWS / 32;
  const unsigned     slots = min(A.ring / ROWS, (unsigned)SLOTS);

  for (int stage = me; stage < h.stages; stage += WRITERS) {
    int      row[N];
    unsigned place[N];
    T        value[N];

#pragma unroll
    for (int j = 0; j < N; j++) {
      const size_t at = (size_t)(h.stage + stage) * ROWS + (unsigned)j * 32 + lane;
      row[j]          = A.rows[at];
      place[j]        = A.places[at];
    }
    /* the computing warp is never so far ahead that this slot is in its next phase but one */
    trsv_barrier_wait(base + DONE + (unsigned)stage % slots * 8, (unsigned)stage / slots & 1);
#pragma unroll
    for (int j = 0; j < N; j++) value[j] = trsv_shared_load<T>(base + CHUNK_FRONT + (((unsigned)stage * ROWS + place[j]) & (A.ring - 1)) * (unsigned)sizeof(T));
#pragma unroll
    for (int j = 0; j < N; j++)
      if (row[j] > 0) x[row[j] - 1] = value[j];
    trsv_warp_sync();
    if (lane == 0) trsv_shared_release(base + WRITTEN + (unsigned)me * 4, (unsigned)stage + WRITERS);
  }
}

template <class T, int K, int W> static __global__ void __launch_bounds__(WARPS * 32) chunk_solve(const ChunkView<T> A, const T *b, T *x)
{
  const unsigned thread = threadIdx.x, warp = trsv_warp_uniform(thread / 32), lane = thread % 32, base = trsv_shared_address();
  const unsigned cells = base + CHUNK_FRONT + A.ring * (unsigned)sizeof(T), first_stage = cells + A.cells * (unsigned)sizeof(T);
  const unsigned rank = A.cluster > 1 ? trsv_cluster_rank() : 0;

  if (thread == 0 && rank == 0) {
    unsigned       turn;
    const unsigned ticket = trsv_cluster_ticket(A.sync, A.clusters, &turn);

    if (A.cluster == 1) {
      trsv_shared_store(base + START, ticket);
      trsv_shared_store(base + START + 4, turn);
    } else
      for (unsigned r = 0; r < A.cluster; r++) {
        const TrsvPeer peer = trsv_peer(r);
        trsv_push(peer, base + START, ticket);
        trsv_push(peer, base + START + 4, turn);
      }
  }
  if (thread == COPIER * 32) {
    for (unsigned i = 0; i < SLOTS; i++) {
      trsv_barrier_init(base + ARRIVED + i * 8, 1);
      trsv_barrier_init(base + READY + i * 8, 1);
      trsv_barrier_init(base + EMPTY + i * 8, 1);
      trsv_barrier_init(base + DONE + i * 8, 1);
    }
    trsv_bulk_fence();
    for (unsigned i = 0; i < WRITERS; i++) trsv_shared_store(base + WRITTEN + i * 4, i);
    for (unsigned i = 0; i < IMPORTERS; i++) trsv_shared_store(base + MARKED + i * 4, 0u);
    trsv_shared_store(base + CHUNK_FRONT - CHUNK_CELL * (unsigned)sizeof(T), (T)0);
  }
  for (unsigned i = thread; i < A.cells; i += WARPS * 32) trsv_shared_store(cells + i * (unsigned)sizeof(T), trsv_not_ready<T>());
  if (A.cluster > 1) trsv_cluster_sync();
  else trsv_block_sync();

  const unsigned  chunk = trsv_warp_uniform(trsv_shared_load<unsigned>(base + START)) * A.cluster + rank, turn = trsv_warp_uniform(trsv_shared_load<unsigned>(base + START + 4));
  const ChunkHead h    = A.heads[chunk];
  T *const        now  = A.words + (turn ? A.exports : 0);
  T *const        then = A.words + (turn ? 0 : A.exports);

  if (warp != COPIER) trsv_wait_for_previous(); /* what the copier reads, no launch changes */
  if (thread == 0) trsv_let_next_start();
  if (h.stages) switch (warp) {
    case COMPUTER: chunk_compute<T, K, W>(A, h, base, now, lane); break;
    case COPIER:
      if (lane == 0) chunk_copy<T, K, W>(A, h, base, first_stage);
      break;
    case RESETTER:
      for (int i = h.export_ + (int)lane; i < h.export_ + h.exports; i += 32) then[i] = trsv_not_ready<T>();
      if (A.cluster > 1) chunk_watch(A, h, base, cells, lane);
      break;
    case 1:
    case 2:
    case 3:
    case 5: chunk_import(A, h, now, base, cells, warp == 5 ? 3 : (int)warp - 1, lane); break;
    case 6:
    case 7:
    case 10: chunk_right<T, K, W>(A, h, b, base, first_stage, warp == 10 ? 2 : (int)warp - 6, lane); break;
    default: chunk_write<T, K, W>(A, h, x, base, warp == 11, lane);
    }
  trsv_warp_sync();
  if (A.cluster > 1) trsv_cluster_sync(); /* nobody leaves while another block may store into its memory */
}

/* --- set-up --- */

/* One thread for each place: all of its record but values. */
template <class T, int K, int W> static __global__ void chunk_install(size_t places, const unsigned *tails, const int *starts, unsigned char *records)
{
  typedef ChunkLayout<T, K, W> Layout;
  const size_t                 p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (p >= places) return;
  unsigned char *const stage = records + p / Layout::rows * Layout::stage;
  const unsigned       place = (unsigned)(p % Layout::rows);

  for (unsigned i = 0; i < CHUNK_TAIL(K); i++) *(unsigned *)(stage + Layout::at(place, (K + 1) * (unsigned)sizeof(T) + 4 * i)) = tails[p * CHUNK_TAIL(K) + i];
  if (!place) *(int *)stage = starts[p / Layout::rows];
}

/* One thread for each place: its values, each divided by the row's diagonal, and the diagonal's reciprocal. */
template <class T, int K, int W> static __global__ void chunk_gather(size_t places, const int *sources, const T *from, unsigned char *records)
{
  typedef ChunkLayout<T, K, W> Layout;
  const size_t                 p = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (p >= places) return;
  unsigned char *const stage = records + p / Layout::rows * Layout::stage;
  const unsigned       place = (unsigned)(p % Layout::rows);
  const int           *source = sources + p * (1 + K);
  const int            diagonal = source[0] < 0 ? -source[0] : source[0];
  const T              inverse = diagonal >= 2 ? trsv_canonical(1 / from[diagonal - 2]) : 1;

  for (unsigned k = 0; k < K; k++) {
    const int s = source[1 + k];
    *(T *)(stage + Layout::at(place, k * (unsigned)sizeof(T))) = s >= 2 ? trsv_canonical(-from[s - 2] * inverse) : (T)s;
  }
  *(T *)(stage + Layout::at(place, K * (unsigned)sizeof(T))) = source[0] > 0 ? inverse : 0;
}

template <class T> static __global__ void chunk_fill(size_t n, T *words)
{
  const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = trsv_not_ready<T>();
}

/* --- one table of kernels for each precision --- */

template <class T> struct ChunkKernels {
  int length, width;
  void (*solve)(const ChunkView<T>, const T *, T *);
  void (*install)(size_t, const unsigned *, const int *, unsigned char *);
  void (*gather)(size_t, const int *, const T *, unsigned char *);
};

#define CHUNK_KERNELS(K, W) {K, W, chunk_solve<T, K, W>, chunk_install<T, K, W>, chunk_gather<T, K, W>}

template <class T> static const ChunkKernels<T> *Kernels(const TrsvChunkSettings *s)
{
  static const ChunkKernels<T> table[] = {CHUNK_KERNELS(2, 8), CHUNK_KERNELS(2, 16), CHUNK_KERNELS(2, 32), CHUNK_KERNELS(3, 8), CHUNK_KERNELS(3, 16), CHUNK_KERNELS(3, 32), CHUNK_KERNELS(5, 16), CHUNK_KERNELS(5, 32), CHUNK_KERNELS(8, 32), CHUNK_KERNELS(13, 32)};

  for (const ChunkKernels<T> &k : table)
    if (k.length == s->length && k.width == s->width) return &k;
  return NULL;
}

static unsigned Blocks(size_t n, size_t size) { return (unsigned)((n + size - 1) / size); }

template <class T> static TrsvError Install(Chunk *c, const ChunkSchedule *s)
{
  const ChunkKernels<T> *k = Kernels<T>(&s->settings);
  unsigned              *tails;
  int                   *starts;
  TrsvError              error;

  TrsvCall(TrsvDeviceAllow((const void *)k->solve));
  TrsvCall(TrsvDeviceStage(s->tails, sizeof(unsigned) * CHUNK_TAIL((size_t)s->settings.length) * c->places, &tails, NULL));
  error = TrsvDeviceStage(s->starts, sizeof(int) * (size_t)s->stages, &starts, NULL);
  if (!error) {
    TRSV_LAUNCH(k->install, Blocks(c->places, 256), 256, 0, (TrsvStream)NULL, c->places, tails, starts, c->records);
    error = TrsvDeviceLaunched("chunk_install");
    if (!error && s->exports) {
      TRSV_LAUNCH((chunk_fill<T>), Blocks(2 * (size_t)s->exports, 256), 256, 0, (TrsvStream)NULL, 2 * (size_t)s->exports, (T *)c->words);
      error = TrsvDeviceLaunched("chunk_fill");
    }
    TrsvDeviceUnstage(starts, NULL);
  }
  TrsvDeviceUnstage(tails, NULL);
  return error;
}

/* Device memory with a copy of host memory, counted. */
static TrsvError Keep(TrsvPlan *plan, const void *host, size_t bytes, void *pointer)
{
  TrsvCall(TrsvDeviceAlloc(bytes, pointer));
  plan->bytes += bytes;
  return bytes ? TrsvDeviceUpload(*(void **)pointer, host, bytes, NULL) : TRSV_SUCCESS;
}

static TrsvError Upload(TrsvPlan *plan, const ChunkSchedule *s)
{
  Chunk       *c = (Chunk *)plan->data;
  const size_t size = TrsvValueSize(plan->precision), stage = CHUNK_STAGE((size_t)s->settings.length, size);
  ChunkHead   *heads;
  TrsvError    error;

  c->schedule     = *s;
  c->places       = (size_t)s->stages * CHUNK_ROWS(s->settings.length);
  c->blocks       = (unsigned)((s->chunks + s->settings.cluster - 1) / s->settings.cluster * s->settings.cluster);
  c->shared_bytes = CHUNK_FRONT + size * (size_t)(s->settings.ring + s->cells) + (size_t)s->settings.stages * stage;
  TrsvCall(TrsvDeviceAlloc(stage * (size_t)s->stages, &c->records));
  TrsvCall(TrsvDeviceAlloc(2 * size * (size_t)s->exports, &c->words));
  plan->bytes = stage * (size_t)s->stages + 2 * size * (size_t)s->exports;
  TrsvCall(Keep(plan, s->sources, sizeof(int) * (1 + (size_t)s->settings.length) * c->places, &c->sources));
  TrsvCall(Keep(plan, s->rows, sizeof(int) * c->places, &c->rows));
  TrsvCall(Keep(plan, s->places, c->places, &c->places_in));
  TrsvCall(Keep(plan, s->list, sizeof(ChunkImport) * (size_t)s->imports, &c->imports));
  if (s->settings.life >= 0) {
    TrsvCall(Keep(plan, s->batch_of, sizeof(int) * (size_t)s->stages, &c->batch_of));
    TrsvCall(Keep(plan, s->after, sizeof(int) * (size_t)s->batches, &c->after));
  }
  TrsvCall(TrsvAlloc(sizeof(ChunkHead) * c->blocks, &heads)); /* blocks without a chunk have no stages */
  memset(heads, 0, sizeof(ChunkHead) * c->blocks);
  memcpy(heads, s->heads, sizeof(ChunkHead) * (size_t)s->chunks);
  error = Keep(plan, heads, sizeof(ChunkHead) * c->blocks, &c->heads);
  free(heads);
  TrsvCall(error);
  TrsvCall(TrsvSyncCreate(&c->sync));
  return plan->precision == TRSV_FLOAT ? Install<float>(c, s) : Install<double>(c, s);
}

static TrsvError ChunkAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  TrsvChunkSettings settings;
  ChunkSchedule     schedule;
  TrsvError         error;
  int               multiprocessors, clusters;

  TrsvCall(TrsvAlloc(sizeof(Chunk), &plan->data));
  memset(plan->data, 0, sizeof(Chunk));
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceHasClusters(&clusters));
  if (!clusters) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: needs a device of compute capability 9.0 or more");
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvChunkSettingsChoose(A, analysis, multiprocessors, &settings));
  if (A->precision == TRSV_FLOAT ? !Kernels<float>(&settings) : !Kernels<double>(&settings)) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: no kernel for records of %d, steps of %d", settings.length, settings.width);
  TrsvCall(TrsvChunkSchedule(A, source, &settings, &schedule));
  error = Upload(plan, &schedule);
  TrsvChunkScheduleFree(&schedule);
  return error;
}

template <class T> static TrsvError SetValues(Chunk *c, const void *values, TrsvStream stream)
{
  TRSV_LAUNCH((Kernels<T>(&c->schedule.settings)->gather), Blocks(c->places, 256), 256, 0, stream, c->places, c->sources, (const T *)values, c->records);
  return TrsvDeviceLaunched("chunk_gather");
}

static TrsvError ChunkSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Chunk *c = (Chunk *)plan->data;

  return plan->precision == TRSV_FLOAT ? SetValues<float>(c, values, stream) : SetValues<double>(c, values, stream);
}

template <class T> static TrsvError Solve(Chunk *c, bool early, const void *b, void *x, TrsvStream stream)
{
  const ChunkSchedule *s = &c->schedule;
  ChunkView<T>         A;

  A.chunks   = (unsigned)s->chunks;
  A.cluster  = (unsigned)s->settings.cluster;
  A.clusters = c->blocks / A.cluster;
  A.ring     = (unsigned)s->settings.ring;
  A.cells    = (unsigned)s->cells;
  A.stages   = (unsigned)s->settings.stages;
  A.exports  = (unsigned)s->exports;
  A.bounded  = s->settings.life >= 0;
  A.records  = c->records;
  A.heads    = c->heads;
  A.rows     = c->rows;
  A.places   = c->places_in;
  A.imports  = c->imports;
  A.batch_of = c->batch_of;
  A.after    = c->after;
  A.words    = (T *)c->words;
  A.sync     = c->sync;
  TRSV_LAUNCH_EARLY(Kernels<T>(&s->settings)->solve, early, A.cluster, c->blocks, WARPS * 32, c->shared_bytes, stream, A, (const T *)b, (T *)x);
  return TrsvDeviceLaunched("chunk_solve");
}

static TrsvError ChunkSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Chunk *c = (Chunk *)plan->data;

  TrsvCall(TrsvSyncStart(&c->sync, stream));
  return plan->precision == TRSV_FLOAT ? Solve<float>(c, !plan->fresh, b, x, stream) : Solve<double>(c, !plan->fresh, b, x, stream);
}

static void ChunkDestroy(TrsvPlan *plan)
{
  Chunk *c = (Chunk *)plan->data;

  if (!c) return;
  TrsvDeviceFree(c->records);
  TrsvDeviceFree(c->heads);
  TrsvDeviceFree(c->sources);
  TrsvDeviceFree(c->rows);
  TrsvDeviceFree(c->places_in);
  TrsvDeviceFree(c->batch_of);
  TrsvDeviceFree(c->after);
  TrsvDeviceFree(c->imports);
  TrsvDeviceFree(c->words);
  TrsvSyncDestroy(&c->sync);
  free(c);
}

/* For benchmarks: the settings that a plan runs with. */
extern "C" const ChunkSchedule *TrsvChunkPlanSchedule(const TrsvPlan *plan) { return plan->algorithm == &TrsvChunk && plan->data ? &((const Chunk *)plan->data)->schedule : NULL; }

/* The start of a launch; the steps that a level set takes; what crosses the memory. The constants fit the best of 32 settings each on 51 matrices
   on an H200 to 20% (root mean square). */
static double ChunkPredict(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double start = 10e-6, step = 0.07e-6, crowd = 0.01e-6, entry = precision == TRSV_FLOAT ? 0.7e-11 : 1e-11;

  return start + s->levels * (step + crowd * log10(s->level_mean + 1)) + entry * (double)s->nnz;
}

const TrsvAlgorithm TrsvChunk = {"chunk", "this project: scheduled chunks, solved in shared memory", TRSV_DEVICE, TRSV_HOST, ChunkAnalyse, ChunkSetValues, ChunkSolve, ChunkDestroy, ChunkPredict};
