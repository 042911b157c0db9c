/*
   Device memory (src/kernels/device/memory.cu) over a driver that stands for CUDA's: a device that is full, waits that fail, what goes back to the driver.
*/
#include <stddef.h>
#include <stdlib.h>
#include "check.h"

namespace
{
typedef enum { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorStreamCaptureUnsupported } cudaError_t;
enum { cudaDevAttrCanUseHostPointerForRegisteredMem, cudaHostRegisterMapped = 0, cudaHostRegisterPortable = 0, cudaHostAllocMapped = 0, cudaHostAllocPortable = 0, MOST = 64 };

struct Driver {
  size_t      capacity, given, last; /* bytes; of the last slab */
  int         device, drained;       /* the current one, and the last that was waited for */
  bool        captures;              /* so that waits fail */
  cudaError_t pending;
  struct {
    void  *memory;
    size_t bytes;
  } slab[MOST];
} driver;

cudaError_t result(cudaError_t e)
{
  if (e) driver.pending = e;
  return e;
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t e = driver.pending;

  driver.pending = cudaSuccess;
  return e;
}

/* Addresses alone: nobody writes there. */
cudaError_t cudaMalloc(void **memory, size_t bytes)
{
  static char *next = (char *)0x100000000;
  int          i    = 0;

  while (i < MOST && driver.slab[i].memory) i++;
  if (i == MOST || driver.given + bytes > driver.capacity) return result(cudaErrorMemoryAllocation);
  *memory        = next;
  next += (bytes / 4096 + 2) * 4096;
  driver.slab[i] = {*memory, bytes};
  driver.given += bytes;
  driver.last = bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
  for (int i = 0; i < MOST; i++)
    if (driver.slab[i].memory == memory) {
      driver.given -= driver.slab[i].bytes;
      driver.slab[i] = {NULL, 0};
      return cudaSuccess;
    }
  Expect(0, "the driver has not given that");
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) { return *device = driver.device, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return driver.device = device, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, int, int) { return *value = 0, cudaSuccess; }
cudaError_t cudaHostRegister(void *, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostAlloc(void **, size_t, unsigned) { return result(cudaErrorMemoryAllocation); }

int drain(void)
{
  if (driver.captures) return 0;
  driver.drained = driver.device;
  return 1;
}

TrsvError Check(cudaError_t e, const char *what) { return e ? TrsvFail(TRSV_ERR_DEVICE, "%s", what) : TRSV_SUCCESS; }
}

/* The file itself, under names of its own: those that it has are the executor's here. */
#define TRSV_RUNTIME_CUH
#define TrsvDeviceDrain      drain
#define TrsvDeviceAllocWords tested_alloc_words
#define TrsvDeviceFreeWords  tested_free_words
#define TrsvDeviceAllocWord  tested_alloc_word
#define TrsvDeviceFreeWord   tested_free_word
#define TrsvDeviceAlloc      tested_alloc
#define TrsvDeviceFree       tested_free
#define TrsvScratchAlloc       tested_room
#define TrsvScratchFree    tested_release
#define TrsvScratchFrees   tested_releases
#define TrsvDeviceSettle     tested_settle
#define TrsvDisablePool      tested_apart
#define TrsvDeviceHeld       tested_held
#define TrsvDevicePeak       tested_peak
#define TrsvDeviceMark       tested_mark
static TrsvError tested_alloc_words(int, unsigned **);
#include "device/memory.cu"

static const size_t MB = (size_t)1 << 20;

static void *Alloc(size_t bytes)
{
  void *memory;

  ExpectError(tested_alloc(bytes, &memory), TRSV_SUCCESS, "TrsvDeviceAlloc");
  return memory;
}

static void *Room(size_t bytes)
{
  void *memory;

  ExpectError(tested_room(bytes, &memory, NULL), TRSV_SUCCESS, "TrsvScratchAlloc");
  return memory;
}

static void Start(const char *name, size_t capacity)
{
  Begin("pool: %s", name);
  driver = Driver{capacity, 0, 0, 0, -1, false, cudaSuccess, {}};
}

/* All of a test has been freed: nothing is left. */
static void Finish(void)
{
  GiveBack(0);
  Expect(!driver.given && !pool.pieces && !pool.in_use && !driver.pending, "%zu bytes are left, %zu in use", driver.given, pool.in_use);
  End();
}

static void Rules(void)
{
  void *a, *b;

  Start("who may have what at once", 4096 * MB);
  a = Alloc(MB / 2);
  tested_free(a);
  Expect(Alloc(MB / 2) == a, "what has been waited for is free for all");
  tested_free(a);
  a = Room(MB / 2);
  tested_release(a, NULL);
  b = Alloc(MB / 2);
  Expect(b != a && Room(MB / 2) == a, "what the default stream may use goes to that alone");
  tested_release(a, NULL);
  tested_settle(NULL, tested_releases());
  Expect(Alloc(MB / 2) == a, "who has waited for the stream settles it");
  tested_free(b);
  tested_free(a);
  ExpectError(tested_alloc((size_t)-4, &b), TRSV_ERR_MEMORY, "too much");
  Expect(!b, "and something for it");
  driver.device = 1;
  a             = Alloc(1);
  driver.device = 0;
  tested_free(a);
  Expect(driver.drained == 1 && driver.device == 0, "not its device was waited for, or not this one left");
  Finish();
}

/* While a graph is recorded somewhere, the device cannot be waited for. */
static void Captured(void)
{
  void *a, *b, *c;

  Start("what cannot be waited for goes to nobody", 4096 * MB);
  a               = Alloc(MB / 2);
  driver.captures = true;
  tested_free(a);
  driver.captures = false;
  b               = Room(MB / 2);
  tested_settle(NULL, tested_releases());
  c = Alloc(MB / 2);
  Expect(b != a && c != a, "it did");
  tested_free(b);
  b = Alloc(MB / 2);
  Expect(b == a, "but to all, once somebody has");
  tested_release(b, NULL);
  tested_free(c);
  Finish();
}

static void Full(void)
{
  void *a, *b, *c;

  Start("a device that is full", 256 * MB);
  a = Alloc(200 * MB);
  tested_free(a);
  a = Alloc(2 * MB);
  b = Room(150 * MB);
  tested_release(b, NULL);
  c = Alloc(150 * MB);
  Expect(c == b && driver.given <= driver.capacity, "a hole that is waited for");
  ExpectError(tested_alloc(100 * MB, &b), TRSV_ERR_MEMORY, "more than there is");
  Expect(!driver.pending, "an error is left for the next launch");
  b = Alloc(40 * MB);
  tested_free(b);
  tested_free(c);
  driver.capacity = driver.given;
  b               = Alloc(1); /* there is no slab for small ones */
  Expect(b != NULL, "any slab will do then");
  tested_free(b);
  tested_free(a);
  Finish();
}

static void Idle(void)
{
  void *a, *b;

  Start("what stays when nobody uses it", 4096 * MB);
  a = Alloc(256 * MB);
  tested_free(a);
  a = Alloc(1000);
  for (int i = 0; i < 3; i++) {
    b = Alloc((300 + 100 * (size_t)i) * MB);
    tested_free(b);
  }
  Expect(driver.given <= most_spare + least, "%zu MB for 1,000 bytes", driver.given / MB);
  tested_free(a);
  Finish();
  Start("each apart", 4096 * MB);
  const size_t kept[2] = {least, most_spare};
  tested_apart();
  a = Alloc(404);
  Expect(driver.last == 404 && driver.given == 404, "more than was asked for: overruns would not be seen");
  tested_free(a);
  Expect(!driver.given, "kept");
  least      = kept[0];
  most_spare = kept[1];
  Finish();
}

extern "C" void TestPoolMemory(void)
{
  Rules();
  Captured();
  Full();
  Idle();
}
