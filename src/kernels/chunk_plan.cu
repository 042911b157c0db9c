/*
   Plans of the algorithm `chunk`: schedule and records brought to the device, values gathered into records.
*/
#include <stdlib.h>
#include <string.h>
#include "chunk.cuh"

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
  void (*install)(size_t, const unsigned *, const int *, unsigned char *);
  void (*gather)(size_t, const int *, const T *, unsigned char *);
};

#define CHUNK_KERNELS(K, W) {K, W, chunk_install<T, K, W>, chunk_gather<T, K, W>}

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

TrsvError TrsvChunkAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  TrsvChunkSettings settings;
  ChunkSchedule     schedule;
  TrsvCosts         costs;
  TrsvError         error;
  int               multiprocessors, clusters;

  TrsvCall(TrsvAlloc(sizeof(Chunk), &plan->data));
  memset(plan->data, 0, sizeof(Chunk));
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceHasClusters(&clusters));
  if (!clusters) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: needs a device of compute capability 9.0 or more");
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  costs = TrsvGetCosts();
  TrsvCall(TrsvChunkSettingsChoose(A, analysis, &costs, multiprocessors, plan->rank, &settings));
  TrsvCall(TrsvChunkReady(A->precision, &settings));
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

TrsvError TrsvChunkSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Chunk *c = (Chunk *)plan->data;

  return plan->precision == TRSV_FLOAT ? SetValues<float>(c, values, stream) : SetValues<double>(c, values, stream);
}

void TrsvChunkDestroy(TrsvPlan *plan)
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
