/*
   Device memory (src/kernels/device/memory.cu) over the executor's runtime: which stream may use which memory when, a
   full device, waits that fail, memory that the pool keeps, and memory that TrsvDeviceFinalize() frees.
*/
#include <string.h>
#include "check.h"
#include "cuda_runtime.h"

static const size_t MB = (size_t)1 << 20, SPARE = 128 * MB; /* the most that the pool keeps */

static void *Allocate(size_t bytes)
{
  void *memory;

  ExpectError(TrsvDeviceAlloc(bytes, &memory), TRSV_SUCCESS, "TrsvDeviceAlloc");
  Expect(memory != NULL, "nothing");
  return memory;
}

static void *AllocateScratch(size_t bytes)
{
  void *memory;

  ExpectError(TrsvScratchAlloc(bytes, &memory, NULL), TRSV_SUCCESS, "TrsvScratchAlloc");
  Expect(memory != NULL, "nothing");
  return memory;
}

static void StartKernel(const char *name)
{
  Begin("pool: %s", name);
  TrsvDeviceFinalize();
  Expect(!SimtLive() && !SimtObjects() && !SimtReserved(),
         "%zu allocations, %zu objects and %zu bytes of others are left", SimtLive(), SimtObjects(), SimtReserved());
}

static void FinishKernel(void)
{
  Expect(!SimtLive() && !TrsvDeviceHeld(), "%zu allocations are left, %zu bytes", SimtLive(), TrsvDeviceHeld());
  TrsvDeviceFinalize();
  Expect(!SimtObjects() && !SimtReserved(), "%zu objects and %zu bytes are left", SimtObjects(), SimtReserved());
  End();
}

static void CheckRules(void)
{
  const TrsvStream other = (TrsvStream)(void *)"a stream";
  void            *a, *b;

  StartKernel("who may have what at once");
  a = AllocateScratch(MB);
  ExpectError(TrsvDeviceClear(a, MB, NULL), TRSV_SUCCESS, "scratch in its stream");
  ExpectError(TrsvDeviceClear(a, MB, other), TRSV_ERR_DEVICE, "scratch in another stream");
  ExpectError(TrsvDeviceWait(NULL), TRSV_SUCCESS, "TrsvDeviceWait");
  TrsvDeviceFree(a);
  a = Allocate(MB);
  ExpectError(TrsvDeviceClear(a, MB, other), TRSV_SUCCESS, "any stream");
  TrsvDeviceFree(a);
  a = Allocate(MB);
  Expect(SimtReserved() == MB, "what has been waited for is free for all: %zu bytes", SimtReserved());
  TrsvDeviceFree(a);
  a = AllocateScratch(MB);
  Expect(SimtReserved() == MB, "for scratch, too: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  b = Allocate(MB);
  Expect(SimtReserved() == 2 * MB, "what the stream may use goes to that alone: %zu bytes", SimtReserved());
  a = AllocateScratch(MB);
  Expect(SimtReserved() == 2 * MB, "and goes to that at once: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  ExpectError(TrsvDeviceWait(NULL), TRSV_SUCCESS, "TrsvDeviceWait");
  a = Allocate(MB);
  Expect(SimtReserved() == 2 * MB, "for all streams after a wait for the stream: %zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  TrsvDeviceFree(a);
  TrsvDeviceFree(NULL);
  TrsvScratchFree(NULL, NULL);
  a = Allocate(0);
  b = AllocateScratch(0);
  Expect(a != b, "no bytes are no memory");
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  FinishKernel();
}

/* The runtime ends the program if cudaFree() gets memory that the device may still use, or if a pool is used while
   another device is current. */
static void CheckDevices(void)
{
  void *a, *b;
  int   now;

  StartKernel("several devices");
  a = Allocate(MB);
  (void)cudaSetDevice(1);
  b = Allocate(2 * MB);
  ExpectError(TrsvDeviceClear(b, MB, NULL), TRSV_SUCCESS, "TrsvDeviceClear");
  (void)cudaSetDevice(0);
  Expect(TrsvDeviceHeld() == 3 * MB && TrsvDevicePeak() == 3 * MB, "%zu bytes in use, %zu at most", TrsvDeviceHeld(),
         TrsvDevicePeak());
  TrsvDeviceFree(b);
  (void)cudaGetDevice(&now);
  Expect(now == 0 && TrsvDeviceHeld() == MB, "device %d, %zu bytes in use", now, TrsvDeviceHeld());
  TrsvDeviceMark();
  Expect(TrsvDevicePeak() == MB, "%zu bytes at most", TrsvDevicePeak());
  TrsvDeviceFree(a);
  Expect(TrsvDevicePeak() == MB, "%zu bytes at most", TrsvDevicePeak());
  (void)cudaSetDevice(1 << 20); /* more devices than have a pool */
  a = Allocate(MB);
  b = AllocateScratch(MB);
  Expect(!TrsvDeviceHeld() && SimtLive() == 2, "%zu bytes are counted", TrsvDeviceHeld());
  TrsvDeviceFree(a);
  TrsvScratchFree(b, NULL);
  (void)cudaSetDevice(0);
  FinishKernel();
}

/* During the capture of a stream no call may wait for the device. */
static void CheckCaptured(void)
{
  void *a, *b, *c;

  StartKernel("what cannot be waited for is freed later");
  a = Allocate(MB);
  b = AllocateScratch(MB);
  SimtCapture(1);
  TrsvDeviceFree(a);
  TrsvScratchFree(b, NULL);
  Expect(SimtLive() == 2, "it is freed while the device may use it");
  c = Allocate(MB);
  SimtCapture(0);
  TrsvDeviceFree(c);
  Expect(!SimtLive(), "%zu allocations stay", SimtLive());
  a = Allocate(MB);
  (void)cudaSetDevice(1);
  b = Allocate(MB);
  SimtCapture(1);
  TrsvDeviceFree(a);
  TrsvDeviceFree(b);
  SimtCapture(0);
  TrsvDeviceFree(Allocate(1));
  Expect(SimtLive() == 1, "%zu allocations, though one device alone has been waited for", SimtLive());
  (void)cudaSetDevice(0);
  TrsvDeviceFinalize();
  Expect(!SimtLive(), "%zu allocations stay", SimtLive());
  FinishKernel();
}

static void CheckFullDevice(void)
{
  void *a, *b, *c;

  StartKernel("a device that is full");
  SimtLimit(4 * MB);
  a = Allocate(MB);
  b = AllocateScratch(2 * MB);
  TrsvScratchFree(b, NULL);
  b = Allocate(2 * MB);
  Expect(b && SimtReserved() <= 4 * MB, "what a stream has freed is waited for: %zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  b = AllocateScratch(2 * MB);
  TrsvScratchFree(b, NULL);
  SimtCapture(1);
  ExpectError(TrsvDeviceAlloc(2 * MB, &c), TRSV_ERR_MEMORY, "what cannot be waited for");
  SimtCapture(0);
  ExpectError(TrsvDeviceAlloc(3 * MB + 1, &c), TRSV_ERR_MEMORY, "more than there is");
  Expect(!c && strstr(TrsvErrorMessage(), "3145729 bytes"), "%p, %s", c, TrsvErrorMessage());
  ExpectError(TrsvScratchAlloc(3 * MB + 1, &c, NULL), TRSV_ERR_MEMORY, "more than there is");
  Expect(!c, "and something for it");
  Expect(SimtReserved() == MB, "%zu bytes are kept, of which one MB is in use", SimtReserved());
  c = Allocate(3 * MB);
  TrsvDeviceFree(c);
  TrsvDeviceFree(a);
  SimtLimit(0);
  FinishKernel();
}

static void CheckIdle(void)
{
  void *a, *b;

  StartKernel("unused memory that stays");
  a = Allocate(1000);
  b = Allocate(300 * MB);
  Expect(SimtReserved() == 300 * MB + 1000, "%zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  Expect(SimtReserved() == SPARE + 1000, "%zu bytes for 1,000", SimtReserved());
  b = AllocateScratch(200 * MB);
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  Expect(SimtReserved() == SPARE, "%zu bytes for none", SimtReserved());
  FinishKernel();
}

static void CheckWithoutPools(void)
{
  void *a, *b;

  SimtWithoutPools(1);
  StartKernel("a device without pools");
  a = Allocate(MB);
  b = AllocateScratch(MB);
  ExpectError(TrsvDeviceClear(b, MB, NULL), TRSV_SUCCESS, "TrsvDeviceClear");
  Expect(!TrsvDeviceHeld() && !TrsvDevicePeak(), "%zu bytes are counted", TrsvDeviceHeld());
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  Expect(!SimtReserved(), "%zu bytes stay", SimtReserved());
  SimtLimit(MB);
  ExpectError(TrsvDeviceAlloc(2 * MB, &a), TRSV_ERR_MEMORY, "more than there is");
  SimtLimit(0);
  FinishKernel();
  SimtWithoutPools(0);
}

static void CheckFinalize(void)
{
  double *a, *b, host = 1;

  StartKernel("what is in use when all is given back");
  for (int again = 0; again < 3; again++) {
    a = (double *)Allocate(sizeof(*a));
    ExpectError(TrsvDeviceUpload(a, &host, sizeof(host), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
    b = (double *)Allocate(MB);
    TrsvDeviceFree(b);
    TrsvDeviceFinalize();
    Expect(SimtLive() == 1 && *a == 1, "it is gone");
    Expect(SimtObjects() == 3 && TrsvDeviceHeld() == SimtReserved() && SimtReserved() < MB,
           "%zu objects, %zu bytes in use of %zu", SimtObjects(), TrsvDeviceHeld(), SimtReserved());
    if (again) { /* the pool serves other users, too */
      b = (double *)Allocate(MB);
      Expect(SimtObjects() == 3 && TrsvDeviceHeld() > MB, "%zu objects, %zu bytes in use", SimtObjects(),
             TrsvDeviceHeld());
      TrsvDeviceFree(b);
    }
    TrsvDeviceFree(a);
    TrsvDeviceFinalize();
    Expect(!SimtObjects() && !SimtReserved(), "%zu objects and %zu bytes are left", SimtObjects(), SimtReserved());
  }
  FinishKernel();
}

/* Small pieces of scratch memory share a block; each stream has its own. */
static void CheckSharedMemory(void)
{
  const TrsvStream other = (TrsvStream)(void *)"a stream";
  const size_t     K = 1024, BLOCK = 8 * MB;
  char            *a, *b, *c, *last;
  void            *d;

  StartKernel("small pieces of scratch");
  SimtPieceBytes = 2 * MB;
  a              = (char *)AllocateScratch(1);
  b              = (char *)AllocateScratch(300);
  c              = (char *)AllocateScratch(0);
  Expect(b - a == 256 && c - b == 512, "pieces at %td and %td", b - a, c - a);
  Expect(SimtLive() == 1 && SimtReserved() == BLOCK, "%zu allocations, %zu bytes", SimtLive(), SimtReserved());
  ExpectError(TrsvScratchAlloc(K, &d, other), TRSV_SUCCESS, "TrsvScratchAlloc");
  Expect(SimtLive() == 2, "another stream's piece is in the same block");
  TrsvScratchFree(d, other);
  d = AllocateScratch(4 * MB);
  Expect(SimtLive() == 2 && ((char *)d < a || (char *)d >= a + BLOCK), "a large piece is in the block");
  TrsvScratchFree(d, NULL);
  TrsvScratchFree(a, NULL);
  TrsvScratchFree(c, NULL);
  Expect(SimtLive() == 1, "a block in use is freed");
  for (int i = 0; i < 3; i++) TrsvScratchFree(AllocateScratch(2 * MB), NULL);
  Expect(SimtLive() == 1, "%zu allocations", SimtLive());
  last = (char *)AllocateScratch(2 * MB);
  Expect(SimtLive() == 2 && (last < a || last >= a + BLOCK), "more than a block has");
  TrsvScratchFree(b, NULL);
  TrsvScratchFree(last, NULL);
  Expect(!SimtLive(), "%zu allocations", SimtLive());
  SimtLimit(MB);
  a = (char *)AllocateScratch(K);
  Expect(SimtReserved() == K, "without room for a block: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  SimtLimit(0);
  SimtPieceBytes = 0;
  FinishKernel();
}

static void CheckFailures(void)
{
  StartKernel("each call that makes a pool fails");
  for (int scratch = 0; scratch < 2; scratch++)
    for (long k = 1, failed = 1; failed; k++) {
      void     *a;
      TrsvError error;

      SimtFailAt(k, 0);
      error  = scratch ? TrsvScratchAlloc(MB, &a, NULL) : TrsvDeviceAlloc(MB, &a);
      failed = SimtFailed();
      SimtFailAt(0, 0);
      Expect(!error == !failed && !error == !!a && (!error || *TrsvErrorMessage()), "place %ld: error %d, %p", k,
             (int)error, a);
      Expect(failed || k > 5, "%ld places", k);
      if (scratch) TrsvScratchFree(a, NULL);
      else TrsvDeviceFree(a);
      TrsvDeviceFinalize();
      Expect(!SimtLive() && !SimtObjects(), "place %ld: %zu allocations and %zu objects are left", k, SimtLive(),
             SimtObjects());
    }
  FinishKernel();
}

extern "C" void TestPool(void)
{
  CheckRules();
  CheckDevices();
  CheckCaptured();
  CheckFullDevice();
  CheckIdle();
  CheckWithoutPools();
  CheckFinalize();
  CheckSharedMemory();
  CheckFailures();
}
