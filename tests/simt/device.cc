/*
   The device functions of impl.h over malloc and memcpy, for the executor. Device memory is counted, starts as junk, and is told from
   host memory where copies are made. Any call that may fail can be made to.
*/
#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>
#include "cuda_runtime.h"
#include "engine.h"
#include "factor/factor.h"
#include "trsv.h"

static std::map<char *, size_t> live; /* what is allocated: where, and how many bytes */
static long                     until;
static int                      for_ever, has_failed;
static size_t                   in_use, most_in_use, limit; /* bytes of it */

extern "C" {

void SimtFailAt(long call, int forever)
{
  until      = call;
  for_ever   = forever;
  has_failed = 0;
}

void   SimtLimit(size_t bytes) { limit = bytes; }
int    SimtFailed(void) { return has_failed; }
size_t SimtLive(void) { return live.size(); }

static bool fails(void)
{
  if (until == 1) {
    has_failed = 1;
    if (!for_ever) until = 0;
    return true;
  }
  if (until > 1) until--;
  return false;
}

static TrsvError take(size_t bytes, int junk, void **pointer)
{
  const size_t whole = (bytes ? bytes : 1);
  const bool   none  = fails() || (limit && in_use + whole > limit);
  char        *p     = none ? nullptr : (char *)std::aligned_alloc(256, (whole + 255) / 256 * 256);

  has_failed |= none;
  *pointer = p;
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the device", bytes);
  memset(p, junk, whole);
  live[p] = whole;
  in_use += whole;
  most_in_use = std::max(most_in_use, in_use);
  return TRSV_SUCCESS;
}

static bool holds(const void *p, size_t bytes)
{
  auto after = live.upper_bound((char *)p);

  if (after == live.begin()) return false;
  --after;
  return (char *)p + bytes <= after->first + after->second;
}

TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer) { return take(bytes, 0xcd, (void **)pointer); }

void TrsvDeviceFree(void *pointer)
{
  if (!pointer) return;
  const auto at = live.find((char *)pointer);
  if (at == live.end()) abort(); /* not device memory, or freed twice */
  in_use -= at->second;
  live.erase(at);
  free(pointer);
}

size_t TrsvDeviceHeld(void) { return in_use; }
size_t TrsvDevicePeak(void) { return most_in_use; }
void   TrsvDeviceMark(void) { most_in_use = in_use; }
void   TrsvDisablePool(void) { } /* they are */

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream)
{
  if (fails() || (bytes && !holds(device, bytes))) return TrsvFail(TRSV_ERR_DEVICE, "copy to the device: invalid argument");
  if (bytes) memcpy(device, host, bytes);
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream stream)
{
  if (fails() || (bytes && !holds(device, bytes))) return TrsvFail(TRSV_ERR_DEVICE, "copy to the host: invalid argument");
  TrsvCall(TrsvDeviceWait(stream));
  if (bytes) memcpy(host, device, bytes);
  return TRSV_SUCCESS;
}

static uint64_t copied; /* bytes, on the device */

TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream)
{
  if (fails() || (bytes && (!holds(to, bytes) || !holds(from, bytes)))) return TrsvFail(TRSV_ERR_DEVICE, "copy on the device: invalid argument");
  if (bytes) memcpy(to, from, bytes);
  copied += bytes;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream)
{
  if (fails() || (bytes && !holds(device, bytes))) return TrsvFail(TRSV_ERR_DEVICE, "clearing on the device: invalid argument");
  if (bytes) memset(device, 0, bytes);
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets)
{
  if (fails() || (n && !holds(counts, sizeof(int) * (size_t)n)) || !holds(offsets, sizeof(int) * ((size_t)n + 1))) return TrsvFail(TRSV_ERR_DEVICE, "scan: invalid argument");
  for (int i = 0, sum = 0; i <= n; sum += i < n ? counts[i] : 0, i++) offsets[i] = sum;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values, int *sorted_values)
{
  const size_t   bytes = sizeof(int) * (size_t)n;
  const unsigned mask  = bits < 32 ? (1u << bits) - 1 : ~0u;

  if (fails() || (n && (!holds(keys, bytes) || !holds(sorted_keys, bytes) || (values && (!holds(values, bytes) || !holds(sorted_values, bytes)))))) return TrsvFail(TRSV_ERR_DEVICE, "sort: invalid argument");
  if (bits > 8) most_in_use = std::max(most_in_use, in_use + bytes * (values ? 2 : 1)); /* CUB's sort asks for that much where one pass is not enough */
  std::vector<int> order((size_t)n);
  for (int i = 0; i < n; i++) order[(size_t)i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (keys[a] & mask) < (keys[b] & mask); });
  for (size_t i = 0; i < (size_t)n; i++) {
    sorted_keys[i] = keys[order[i]];
    if (values) sorted_values[i] = values[order[i]];
  }
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceAllocWord(unsigned **word) { return take(sizeof(**word), 0, (void **)word); }
void      TrsvDeviceFreeWord(unsigned *word) { TrsvDeviceFree(word); }

TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream) { return take(bytes, 0xcd, (void **)pointer); }

TrsvError TrsvScratchUpload(const void *host, size_t bytes, void *pointer, TrsvStream stream)
{
  TrsvCall(TrsvDeviceAlloc(bytes, pointer));
  const TrsvError error = TrsvDeviceUpload(*(void **)pointer, host, bytes, stream);
  if (error) TrsvDeviceFree(*(void **)pointer);
  return error;
}

void TrsvScratchFree(void *device, TrsvStream) { TrsvDeviceFree(device); }

TrsvError TrsvDeviceSynchronize(void) { return TrsvDeviceWait(TrsvDeviceDefault()); }

/* What is released goes to nobody else here. */
size_t TrsvScratchFrees(void) { return 0; }
void   TrsvDeviceSettle(TrsvStream, size_t) { }

/* What the device stands for where two use it: see cuda_runtime.h. Streams are counted as memory is. */
cudaError_t cudaGetDevice(int *device)
{
  *device = 1 << 20; /* no number under which a stream is kept: each is made, and may fail to be */
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "made to fail"; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) { return take(1, 0, (void **)stream) ? cudaErrorMemoryAllocation : cudaSuccess; }

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  simt::stream_ends();
  TrsvDeviceFree(stream);
  return cudaSuccess;
}

void *SimtMap(size_t bytes, int protection, int flags) { return fails() ? MAP_FAILED : (mmap)(nullptr, bytes, protection, flags, -1, 0); }

/* One that fails has tried: of a device that does, nothing is to be waited for. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  simt::waited(stream);
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
  const bool failed = fails();

  if (!failed && simt::turn_ends()) return cudaErrorNotReady;
  simt::waited(stream);
  return failed ? cudaErrorUnknown : cudaSuccess;
}

/* A switch of the processor is a ns, and so is a byte that is copied. */
struct TrsvTimer {
  uint64_t start, stop;
};

TrsvError TrsvDeviceTimerCreate(TrsvTimer **timer)
{
  *timer = (TrsvTimer *)(fails() ? nullptr : calloc(1, sizeof(**timer)));
  return *timer ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_MEMORY, "cudaEventCreate: made to fail");
}

TrsvError TrsvDeviceTimerStart(TrsvTimer *timer, TrsvStream)
{
  timer->start = SimtSwitches() + copied;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaEventRecord: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceTimerStop(TrsvTimer *timer, TrsvStream)
{
  timer->stop = SimtSwitches() + copied;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaEventRecord: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceTimerRead(TrsvTimer *timer, double *seconds)
{
  *seconds = 1e-9 * (double)(timer->stop - timer->start);
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaEventSynchronize: made to fail") : TRSV_SUCCESS;
}

void TrsvDeviceTimerDestroy(TrsvTimer **timer)
{
  free(*timer);
  *timer = nullptr;
}

TrsvError TrsvDeviceMultiprocessors(int *count)
{
  *count = SimtSettings.multiprocessors;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaGetDevice: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes)
{
  *shared_bytes = 0;
  if (!kernel || blocks < 1 || fails()) return TrsvFail(TRSV_ERR_DEVICE, "cudaFuncSetAttribute: invalid argument");
  if (blocks >= 32) return TRSV_SUCCESS;
  const size_t bytes = ((size_t)228 << 10) / (size_t)(blocks + 1), most = (size_t)226 << 10;
  *shared_bytes      = bytes < most ? bytes : most;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int, size_t, int *clusters)
{
  *clusters = SimtSettings.old ? 0 : !SimtSettings.cluster || cluster <= SimtSettings.cluster;
  return !kernel || fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaOccupancyMaxActiveClusters: made to fail") : TRSV_SUCCESS;
}

TrsvError TrsvDeviceHasClusters(int *has)
{
  *has = !SimtSettings.old;
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaGetDevice: made to fail") : TRSV_SUCCESS;
}

int TrsvDeviceSupportsClusters(size_t shared_bytes) { return !SimtSettings.old && shared_bytes <= (SimtSettings.shared ? (size_t)SimtSettings.shared : (size_t)227 << 10); }

TrsvError TrsvDeviceSetMaxShared(const void *kernel)
{
  return !kernel || fails() ? TrsvFail(TRSV_ERR_DEVICE, "cudaFuncSetAttribute: invalid argument") : TRSV_SUCCESS;
}

/* Nothing is recorded: the launches are made again. */
struct TrsvDeviceGraph {
  TrsvError (*launch)(void *, TrsvStream);
  void *data;
};

TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *, TrsvStream), void *data, TrsvDeviceGraph **graph)
{
  *graph = (TrsvDeviceGraph *)(fails() ? nullptr : malloc(sizeof(**graph)));
  if (!*graph) return TrsvFail(TRSV_ERR_MEMORY, "cudaGraphInstantiate: made to fail");
  **graph = {launch, data};
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *graph, TrsvStream stream) { return graph->launch(graph->data, stream); }

void TrsvDeviceGraphDestroy(TrsvDeviceGraph **graph)
{
  free(*graph);
  *graph = nullptr;
}

TrsvError TrsvDeviceCheckLaunch(const char *kernel)
{
  simt::launched();
  if (simt::take_failure()) return TrsvFail(TRSV_ERR_DEVICE, "%s: %s", kernel, SimtReport());
  return fails() ? TrsvFail(TRSV_ERR_DEVICE, "%s: made to fail", kernel) : TRSV_SUCCESS;
}

}
