/*
   The memory, streams and pools of the CUDA runtime for src/kernels/device, over malloc.
   Memory starts as junk, is counted, and returns to malloc when it is freed, so that a later use is found. Only its
   bytes stay in its pool: bytes that are freed in the order of a stream are for that stream until a wait for it,
   other bytes for all streams; so a device can be full of memory that one stream has freed, as with CUDA. Calls that
   may fail can be made to fail; calls that free do not. cudaFree() of a pool's memory without a wait, or
   cudaFreeAsync() in a stream without work, ends the program.
*/
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include "cuda_runtime.h"
#include "engine.h"
#include "trsv.h"

struct CUmemPoolHandler_st {
  size_t                         used, most;       /* bytes */
  size_t                         settled;          /* freed, for all */
  std::map<cudaStream_t, size_t> pending;          /* freed, for that stream */
  int                            device, internal; /* internal: does a stream wait for memory that another has freed? */
  bool                           destroyed;

  size_t reserved() const
  {
    size_t sum = used + settled;

    for (const auto &p : pending) sum += p.second;
    return sum;
  }
};

size_t SimtPieceBytes = (size_t)2 << 20;

struct Piece {
  size_t        bytes;
  cudaMemPool_t pool; /* NULL: cudaMalloc's */
  int           device;
  cudaStream_t  stream; /* the stream of its allocation: no other may use it until a wait for this one; */
  bool          ready;  /* was there a wait? */
};

enum {
  HOST = -1 /* the device of pinned words */
};

static std::map<char *, Piece> live;
static std::set<cudaMemPool_t> pools;
static size_t                  streams;      /* existing streams */
static unsigned                drains;       /* waits for a device */
static size_t                  alone, limit; /* bytes of cudaMalloc(); bytes of the device, 0: any */
static long                    until;
static int                     for_ever, has_failed, again, device, captures, no_pools;
static std::set<const void *>  used;       /* streams with work */
static std::set<const void *>  unfinished; /* streams with work since the last wait for them */
static unsigned                beside;     /* launches in streams that are not the default one */
static std::set<int>           busy;       /* devices with work since the last wait */

namespace simt {

bool fails()
{
  if (until == 1) {
    has_failed = 1;
    if (!for_ever) until = 0;
    return true;
  }
  if (until > 1) until--;
  return false;
}

void each_memory(void (*f)(char *, size_t bytes))
{
  for (const auto &p : live)
    if (p.second.device != HOST) f(p.first, p.second.bytes);
}

bool holds(const void *p, size_t bytes, TrsvStream stream)
{
  auto after = live.upper_bound((char *)p);

  if (after == live.begin()) return false;
  --after;
  return (char *)p + bytes <= after->first + after->second.bytes &&
         (after->second.ready || after->second.stream == stream);
}

void mark_used(const void *stream)
{
  used.insert(stream);
  unfinished.insert(stream);
  beside += stream != nullptr;
  busy.insert(device);
}

bool is_captured() { return captures; }

[[noreturn]] void fault(const char *what)
{
  fprintf(stderr, "simt: ERROR: %s\n", what);
  abort();
}

} // namespace simt

using simt::fails;
using simt::fault;

static size_t reserved()
{
  size_t sum = alone;

  for (const cudaMemPool_t p : pools) sum += p->reserved();
  return sum;
}

static cudaError_t full()
{
  has_failed = 1;
  return cudaErrorMemoryAllocation;
}

static cudaError_t give(size_t bytes, cudaMemPool_t pool, cudaStream_t stream, void **memory)
{
  char *const p = (char *)std::aligned_alloc(256, (bytes + 255) / 256 * 256);

  if (!p) return full();
  memset(p, simt::JUNK, bytes);
  simt::fence(p + bytes, p + (bytes + 255) / 256 * 256);
  live[p] = {bytes, pool, device, stream, !pool};
  *memory = p;
  return cudaSuccess;
}

/* A destroyed pool is deleted with the last of its memory. */
static void drop(cudaMemPool_t pool)
{
  if (!pool->destroyed || pool->used) return;
  pools.erase(pool);
  delete pool;
}

static Piece take(void *memory)
{
  (void)simt::finish();
  const auto at = live.find((char *)memory);

  if (at == live.end()) fault("not device memory, or freed twice");
  const Piece piece = at->second;
  live.erase(at);
  simt::check_fences((char *)memory, (piece.bytes + 255) / 256 * 256);
  free(memory);
  if (piece.pool) piece.pool->used -= piece.bytes;
  else if (piece.device != HOST) alone -= piece.bytes;
  return piece;
}

static void settle(cudaMemPool_t pool, cudaStream_t stream)
{
  pool->settled += pool->pending[stream];
  pool->pending.erase(stream);
  for (auto &p : live) p.second.ready |= p.second.pool == pool && p.second.stream == stream;
}

static void settle_all(int of)
{
  for (const cudaMemPool_t p : pools)
    while (p->device == of && !p->pending.empty()) settle(p, p->pending.begin()->first);
  for (auto &p : live) p.second.ready |= p.second.device == of;
}

extern "C" {

void SimtFailAt(long call, int forever)
{
  until      = call;
  for_ever   = forever;
  has_failed = again = 0;
}

void     SimtLimit(size_t bytes) { limit = bytes; }
int      SimtFailed(void) { return has_failed; }
size_t   SimtLive(void) { return live.size(); }
size_t   SimtReserved(void) { return reserved(); }
size_t   SimtObjects(void) { return streams + pools.size() + simt::event_count(); }
unsigned SimtDrains(void) { return drains; }
int      SimtUnfinished(const void *stream) { return unfinished.count(stream) != 0; }
unsigned SimtBeside(void) { return beside; }
void     SimtCapture(int on) { captures = on; }
void     SimtWithoutPools(int without) { no_pools = without; }

cudaError_t cudaGetDevice(int *now)
{
  *now = device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int now)
{
  device = now;
  return cudaSuccess;
}

void SimtUseDevice(int now) { device = now; }

cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "made to fail"; }

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
  *value = !no_pools;
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory)
{
  const auto at = live.find((char *)memory);

  if (at == live.end()) fault("not device memory, or freed twice");
  attributes->device = at->second.device;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties)
{
  if (fails()) return cudaErrorUnknown;
  *pool = new CUmemPoolHandler_st{0, 0, 0, {}, properties->location.id, 1, false};
  pools.insert(*pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  pool->destroyed = true;
  drop(pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
  if (attribute == cudaMemPoolReuseAllowInternalDependencies) pool->internal = *(int *)value;
  if (attribute != cudaMemPoolAttrUsedMemHigh) return fails() ? cudaErrorUnknown : cudaSuccess;
  if (*(uint64_t *)value) return cudaErrorUnknown; /* CUDA's counter can only be set to 0 */
  pool->most = pool->used;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
  *(uint64_t *)value = attribute == cudaMemPoolAttrUsedMemCurrent ? pool->used
                     : attribute == cudaMemPoolAttrUsedMemHigh    ? pool->most
                                                                  : pool->reserved();
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
  const size_t now = pool->reserved(), over = now > keep ? now - keep : 0;

  pool->settled -= over < pool->settled ? over : pool->settled;
  return cudaSuccess;
}

/* A call that fails once fails again in the next attempt. */
cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
  const bool   failed = again || fails();
  const size_t mine   = pool->pending.count(stream) ? pool->pending[stream] : 0;

  again = failed && !again;
  if (pool->device != device) fault("memory of another device's pool");
  if (pool->internal) fault("a pool whose memory is not there for all streams");
  if (failed) return full();
  const size_t more = bytes > mine + pool->settled ? bytes - mine - pool->settled : 0;
  if (limit && reserved() + more > limit) return full();
  const cudaError_t e = give(bytes, pool, stream, memory);
  if (e) return e;
  const size_t from_mine = bytes < mine ? bytes : mine, rest = bytes - from_mine;
  if (mine) pool->pending[stream] -= from_mine;
  pool->settled -= rest < pool->settled ? rest : pool->settled;
  pool->used += bytes;
  if (pool->used > pool->most) pool->most = pool->used;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
  if (fails() || (limit && reserved() + bytes > limit)) return full();
  alone += bytes;
  return give(bytes, nullptr, nullptr, memory);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
  const auto at = live.find((char *)memory);

  if (captures || (at != live.end() && !at->second.pool)) return cudaErrorUnknown;
  const Piece piece = take(memory);
  if (piece.ready && !used.count(stream) && busy.count(piece.device))
    fault("memory is freed that the device may use"); /* the stream has no work that needs a wait */
  if (used.count(stream)) piece.pool->pending[stream] += piece.bytes;
  else piece.pool->settled += piece.bytes; /* done immediately if no work runs */
  drop(piece.pool);
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
  const Piece piece = take(memory);

  if (busy.count(piece.device)) fault("memory is freed that the device may use");
  if (!piece.pool) return cudaSuccess;
  piece.pool->settled += piece.bytes;
  drop(piece.pool);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
  if (captures) return cudaErrorUnknown;
  (void)simt::finish();
  drains++;
  busy.erase(device);
  unfinished.clear();
  settle_all(device);
  return cudaSuccess;
}

int TrsvDeviceDrain(void) { return cudaDeviceSynchronize() == cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  *stream = fails() ? nullptr : (cudaStream_t) new char;
  streams += *stream != nullptr;
  return *stream ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  used.erase(stream);
  if (unfinished.erase(stream)) fault("a stream is destroyed without a wait for it");
  for (const cudaMemPool_t p : pools) settle(p, stream);
  streams--;
  delete (char *)stream;
  return cudaSuccess;
}

/* A wait that fails has waited: the device has no more work. */
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  const bool good = simt::finish();

  unfinished.erase(stream);
  for (const cudaMemPool_t p : pools) settle(p, stream);
  return fails() || !good ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
  const bool failed = fails();

  (void)simt::finish();
  unfinished.erase(stream);
  return failed ? cudaErrorUnknown : cudaSuccess;
}

/* All streams count as captured during a capture. */
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
  *status = captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return fails() ? cudaErrorUnknown : cudaSuccess;
}

/* Pinned words count as memory, so that a lost one is found. */
TrsvError TrsvPinnedAlloc(int n, unsigned **words)
{
  const size_t bytes = sizeof(**words) * (size_t)n;

  *words = nullptr;
  if (fails() || give(bytes, nullptr, nullptr, (void **)words))
    return TrsvFail(TRSV_ERR_MEMORY, "no memory for %d words", n);
  live[(char *)*words].device = HOST;
  memset(*words, 0, bytes);
  return TRSV_SUCCESS;
}

void TrsvPinnedFree(int, unsigned *words)
{
  if (words) (void)take(words);
}
}

void TrsvPinnedFinalize() {}
