/*
   Device memory: a private pool of the CUDA runtime for each device.

   Scratch is allocated and freed in the order of one stream. Other memory may be used in any stream: it is allocated in
   an idle stream of the pool, and freed in that stream after a wait for the whole device. Reuse with internal
   dependencies is off: it would make that stream wait for the last user of a piece. Each call of the pool takes
   microseconds, so small pieces of scratch share a block.

   A pool keeps freed memory, because new memory from the driver takes a third of the time of a small set-up.
   TrsvDeviceFree() returns unused memory to the driver except SPARE_BYTES. On a device without pools cudaMalloc()
   allocates, and TrsvDeviceHeld() does not count that memory.
*/
#include <stdlib.h>
#include "device/runtime.cuh"

static const uint64_t SPARE_BYTES = (uint64_t)128 << 20;

enum { DEVICES = 64 }; /* with a pool, at most */

struct Pool {
  bool          known;  /* CreatePool() has succeeded */
  cudaMemPool_t memory; /* NULL: the device has no pools */
  cudaStream_t  stream; /* idle */
  cudaStream_t  second; /* TrsvSecondStream() */
};

/* Memory that could not be freed yet, because a wait for the device failed during a capture. */
struct Deferred {
  void     *memory;
  int       device;
  Deferred *next;
};

static Pool            pools[DEVICES];
static Deferred       *deferred;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of pools and deferred; never held during a wait */

static TrsvError CreatePool(int device, Pool *p)
{
  cudaMemPoolProps properties = {};
  uint64_t         all        = UINT64_MAX;
  int              none = 0, supported;

  TrsvCall(CheckCall(cudaDeviceGetAttribute, &supported, cudaDevAttrMemoryPoolsSupported, device));
  if (!supported) return TRSV_SUCCESS;
  properties.allocType     = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id   = device;
  TrsvCall(CheckCall(cudaMemPoolCreate, &p->memory, &properties));
  TrsvCall(CheckCall(cudaMemPoolSetAttribute, p->memory, cudaMemPoolAttrReleaseThreshold, &all));
  TrsvCall(CheckCall(cudaMemPoolSetAttribute, p->memory, cudaMemPoolReuseAllowInternalDependencies, &none));
  TrsvCall(CheckCall(cudaStreamCreateWithFlags, &p->second, cudaStreamNonBlocking));
  return CheckCall(cudaStreamCreateWithFlags, &p->stream, cudaStreamNonBlocking);
}

static void DestroyPool(Pool *p)
{
  if (p->stream) (void)cudaStreamDestroy(p->stream);
  if (p->second) (void)cudaStreamDestroy(p->second);
  if (p->memory) (void)cudaMemPoolDestroy(p->memory);
  *p = Pool();
}

/* The pool of the current device. */
static TrsvError GetPool(Pool *pool)
{
  TrsvError error = TRSV_SUCCESS;
  int       device;

  *pool = Pool();
  TrsvCall(CheckCall(cudaGetDevice, &device));
  if (device >= DEVICES) return TRSV_SUCCESS;
  (void)pthread_mutex_lock(&lock);
  Pool *const p = &pools[device];
  if (!p->known) error = CreatePool(device, p);
  p->known = !error;
  if (error) DestroyPool(p);
  *pool = *p;
  (void)pthread_mutex_unlock(&lock);
  return error;
}

TrsvError TrsvSecondStream(cudaStream_t *stream)
{
  Pool p;

  TrsvCall(GetPool(&p));
  *stream = p.second;
  return TRSV_SUCCESS;
}

static uint64_t GetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
  uint64_t value = 0;

  if (pool && cudaMemPoolGetAttribute(pool, attribute, &value) != cudaSuccess) (void)cudaGetLastError();
  return value;
}

/* Returns unused memory to the driver, except spare bytes. */
static void TrimPool(const Pool *p, uint64_t spare)
{
  const uint64_t keep = GetAttribute(p->memory, cudaMemPoolAttrUsedMemCurrent) + spare;

  if (GetAttribute(p->memory, cudaMemPoolAttrReservedMemCurrent) <= keep) return;
  if (cudaStreamSynchronize(p->stream) != cudaSuccess || cudaMemPoolTrimTo(p->memory, keep) != cudaSuccess)
    (void)cudaGetLastError();
}

/* *memory becomes NULL after an error. */
static TrsvError AllocateFromPool(const Pool *p, size_t bytes, cudaStream_t stream, void **memory)
{
  const size_t    size = bytes ? bytes : 1;
  const TrsvError error =
    Check(p->memory ? cudaMallocFromPoolAsync(memory, size, p->memory, stream) : cudaMalloc(memory, size),
          "cudaMallocFromPoolAsync");

  if (error) *memory = NULL;
  return error == TRSV_ERR_MEMORY ? TrsvFail(error, "no memory for %zu bytes on the device", bytes) : error;
}

/* If the device is full, waits for it, returns all unused memory to the driver, and tries again. */
static TrsvError AllocateOrTrim(const Pool *p, size_t bytes, cudaStream_t stream, void **memory)
{
  const TrsvError error = AllocateFromPool(p, bytes, stream, memory);

  if (error != TRSV_ERR_MEMORY || !TrsvDeviceDrain()) return error;
  TrimPool(p, 0);
  return AllocateFromPool(p, bytes, stream, memory);
}

TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer)
{
  void **memory = (void **)pointer;
  Pool   p;

  *memory = NULL;
  TrsvCall(GetPool(&p));
  TrsvError error = AllocateOrTrim(&p, bytes, p.stream, memory);
  if (!error && p.memory) error = CheckCall(cudaStreamSynchronize, p.stream);
  if (!error) return TRSV_SUCCESS;
  TrsvDeviceFree(*memory);
  *memory = NULL;
  return error;
}

static void DeferFree(Deferred *d)
{
  (void)pthread_mutex_lock(&lock);
  d->next  = deferred;
  deferred = d;
  (void)pthread_mutex_unlock(&lock);
}

/* Frees memory that no stream uses; for memory of a pool cudaFree() would take several times as long. */
static void FreeIdle(const Pool *p, void *memory)
{
  (void)(p->memory ? cudaFreeAsync(memory, p->stream) : cudaFree(memory));
}

/* Frees n pieces of memory of the current device, and memory deferred before. Pointers may be NULL. */
static void FreeOnDevice(int device, const Pool *p, int n, void *const memory[])
{
  (void)pthread_mutex_lock(&lock);
  Deferred *d = deferred; /* what other threads defer during the wait is not in this list */
  deferred    = NULL;
  (void)pthread_mutex_unlock(&lock);
  const bool idle = TrsvDeviceDrain();
  for (Deferred *next; d; d = next) {
    next = d->next;
    if (idle && d->device == device) {
      FreeIdle(p, d->memory);
      free(d);
    } else DeferFree(d);
  }
  for (int i = 0; i < n; i++) {
    if (!memory[i]) continue;
    if (idle) FreeIdle(p, memory[i]);
    else if ((d = (Deferred *)malloc(sizeof(*d)))) {
      *d = {memory[i], device, NULL};
      DeferFree(d);
    }
  }
}

void TrsvDeviceFreeAll(int n, void *const memory[])
{
  cudaPointerAttributes there = {};
  int                   device;
  Pool                  p;

  while (n > 0 && !*memory) memory++, n--;
  if (n <= 0 || cudaGetDevice(&device) != cudaSuccess) return;
  if (cudaPointerGetAttributes(&there, *memory) != cudaSuccess) there.device = device;
  if (there.device != device) (void)cudaSetDevice(there.device);
  (void)GetPool(&p);
  FreeOnDevice(there.device, &p, n, memory);
  TrimPool(&p, SPARE_BYTES);
  if (there.device != device) (void)cudaSetDevice(device);
  (void)cudaGetLastError(); /* else the next launch would report it */
}

void TrsvDeviceFree(void *memory) { TrsvDeviceFreeAll(1, &memory); }

/* Scratch memory of one stream. It is given out in pieces, and freed with the last piece in use. */
struct Block {
  cudaMemPool_t pool;
  cudaStream_t  stream;
  char         *memory;
  size_t        used;   /* bytes given out */
  int           pieces; /* in use; 0: there is no block */
};

enum {
  BLOCKS      = 3, /* of a thread: the default stream, the second stream (lock step), and one given by the caller */
  BLOCK_BYTES = 8 << 20
};
#ifndef PIECE_BYTES
  #define PIECE_BYTES ((size_t)2 << 20) /* a larger piece is allocated by itself */
#endif

static thread_local Block blocks[BLOCKS];

/* A block of this stream with enough free bytes, or an entry without a block; NULL: neither. */
static Block *FindBlock(const Pool *p, cudaStream_t stream, size_t bytes)
{
  Block *unused = NULL;

  for (Block &b : blocks) {
    if (!b.pieces) unused = &b;
    else if (b.pool == p->memory && b.stream == stream && b.used + bytes <= BLOCK_BYTES) return &b;
  }
  return unused;
}

/* Takes a piece of a block; NULL: the piece is too large, or there is no memory for a block. */
static void *TakePiece(const Pool *p, size_t size, cudaStream_t stream)
{
  const size_t bytes = (size ? size + 255 : 256) / 256 * 256;
  Block *const b     = p->memory && bytes <= PIECE_BYTES ? FindBlock(p, stream, bytes) : NULL;
  void        *memory;

  if (!b) return NULL;
  if (!b->pieces) {
    if (AllocateFromPool(p, BLOCK_BYTES, stream, &memory)) return NULL;
    *b = {p->memory, stream, (char *)memory, 0, 0};
  }
  b->pieces++;
  b->used += bytes;
  return b->memory + b->used - bytes;
}

TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream stream)
{
  const cudaStream_t s      = TrsvDeviceStream(stream);
  void             **memory = (void **)pointer;
  Pool               p;

  *memory = NULL;
  TrsvCall(GetPool(&p));
  *memory = TakePiece(&p, bytes, s);
  return *memory ? TRSV_SUCCESS : AllocateOrTrim(&p, bytes, s, memory);
}

/* Frees the piece itself, if it is in no block, or its block, if it is the last piece in use. */
void TrsvScratchFree(void *piece, TrsvStream stream)
{
  void *memory = piece;

  for (Block &b : blocks) {
    if (!b.pieces || (char *)piece < b.memory || (char *)piece >= b.memory + BLOCK_BYTES) continue;
    memory = --b.pieces ? NULL : b.memory;
  }
  if (!memory || cudaFreeAsync(memory, TrsvDeviceStream(stream)) == cudaSuccess) return;
  (void)cudaGetLastError();
  TrsvDeviceFree(memory);
}

/* The sum of an attribute of all pools; sets it to 0 if asked, which makes the peak the memory in use. */
static uint64_t SumAttribute(cudaMemPoolAttr attribute, bool resets)
{
  uint64_t sum = 0, zero = 0;

  (void)pthread_mutex_lock(&lock);
  for (const Pool &p : pools) {
    sum += GetAttribute(p.memory, attribute);
    if (resets && p.memory && cudaMemPoolSetAttribute(p.memory, attribute, &zero) != cudaSuccess)
      (void)cudaGetLastError();
  }
  (void)pthread_mutex_unlock(&lock);
  return sum;
}

size_t TrsvDeviceHeld(void) { return SumAttribute(cudaMemPoolAttrUsedMemCurrent, false); }
size_t TrsvDevicePeak(void) { return SumAttribute(cudaMemPoolAttrUsedMemHigh, false); }
void   TrsvDeviceMark(void) { (void)SumAttribute(cudaMemPoolAttrUsedMemHigh, true); }

void TrsvDeviceFinalize(void)
{
  int device;

  if (cudaGetDevice(&device) != cudaSuccess) return;
  for (int d = 0; d < DEVICES; d++) {
    if (!pools[d].known) continue;
    (void)cudaSetDevice(d);
    FreeOnDevice(d, &pools[d], 0, NULL);
    TrimPool(&pools[d], 0);
    (void)pthread_mutex_lock(&lock);
    if (!GetAttribute(pools[d].memory, cudaMemPoolAttrUsedMemCurrent)) DestroyPool(&pools[d]); /* no object uses it */
    (void)pthread_mutex_unlock(&lock);
  }
  (void)cudaSetDevice(device);
  TrsvPinnedFinalize();
  (void)cudaGetLastError();
}
