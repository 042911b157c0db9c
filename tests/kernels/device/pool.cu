/*
   Device memory (src/kernels/device/memory.cu) over the executor's runtime: who may have what when, a device that is
   full, waits that fail, what stays, and what TrsvDeviceFinalize() gives back.
*/
#include <string.h>
#include "check.h"
#include "cuda_runtime.h"

static const size_t MB = (size_t)1 << 20, SPARE = 128 * MB; /* what stays at most */

static void *Alloc(size_t bytes)
{
  void *memory;

  ExpectError(TrsvDeviceAlloc(bytes, &memory), TRSV_SUCCESS, "TrsvDeviceAlloc");
  Expect(memory != NULL, "nothing");
  return memory;
}

static void *Scratch(size_t bytes)
{
  void *memory;

  ExpectError(TrsvScratchAlloc(bytes, &memory, NULL), TRSV_SUCCESS, "TrsvScratchAlloc");
  Expect(memory != NULL, "nothing");
  return memory;
}

static void Start(const char *name)
{
  Begin("pool: %s", name);
  TrsvDeviceFinalize();
  Expect(!SimtLive() && !SimtObjects() && !SimtReserved(),
         "%zu allocations, %zu objects and %zu bytes of others are left", SimtLive(), SimtObjects(), SimtReserved());
}

static void Finish(void)
{
  Expect(!SimtLive() && !TrsvDeviceHeld(), "%zu allocations are left, %zu bytes", SimtLive(), TrsvDeviceHeld());
  TrsvDeviceFinalize();
  Expect(!SimtObjects() && !SimtReserved(), "%zu objects and %zu bytes are left", SimtObjects(), SimtReserved());
  End();
}

static void Rules(void)
{
  const TrsvStream other = (TrsvStream)(void *)"a stream";
  void            *a, *b;

  Start("who may have what at once");
  a = Scratch(MB);
  ExpectError(TrsvDeviceClear(a, MB, NULL), TRSV_SUCCESS, "scratch in its stream");
  ExpectError(TrsvDeviceClear(a, MB, other), TRSV_ERR_DEVICE, "scratch in another stream");
  ExpectError(TrsvDeviceWait(NULL), TRSV_SUCCESS, "TrsvDeviceWait");
  TrsvDeviceFree(a);
  a = Alloc(MB);
  ExpectError(TrsvDeviceClear(a, MB, other), TRSV_SUCCESS, "any stream");
  TrsvDeviceFree(a);
  a = Alloc(MB);
  Expect(SimtReserved() == MB, "what has been waited for is free for all: %zu bytes", SimtReserved());
  TrsvDeviceFree(a);
  a = Scratch(MB);
  Expect(SimtReserved() == MB, "for scratch, too: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  b = Alloc(MB);
  Expect(SimtReserved() == 2 * MB, "what the stream may use goes to that alone: %zu bytes", SimtReserved());
  a = Scratch(MB);
  Expect(SimtReserved() == 2 * MB, "and goes to that at once: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  ExpectError(TrsvDeviceWait(NULL), TRSV_SUCCESS, "TrsvDeviceWait");
  a = Alloc(MB);
  Expect(SimtReserved() == 2 * MB, "to all, once somebody has waited for the stream: %zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  TrsvDeviceFree(a);
  TrsvDeviceFree(NULL);
  TrsvScratchFree(NULL, NULL);
  a = Alloc(0);
  b = Scratch(0);
  Expect(a != b, "no bytes are no memory");
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  Finish();
}

/* The runtime ends the program where cudaFree() gets what its device may still use, or a pool is asked while another
 * device is the current one. */
static void Devices(void)
{
  void *a, *b;
  int   now;

  Start("several devices");
  a = Alloc(MB);
  (void)cudaSetDevice(1);
  b = Alloc(2 * MB);
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
  a = Alloc(MB);
  b = Scratch(MB);
  Expect(!TrsvDeviceHeld() && SimtLive() == 2, "%zu bytes are counted", TrsvDeviceHeld());
  TrsvDeviceFree(a);
  TrsvScratchFree(b, NULL);
  (void)cudaSetDevice(0);
  Finish();
}

/* While a stream is captured, the device cannot be waited for. */
static void Captured(void)
{
  void *a, *b, *c;

  Start("what cannot be waited for is freed later");
  a = Alloc(MB);
  b = Scratch(MB);
  SimtCapture(1);
  TrsvDeviceFree(a);
  TrsvScratchFree(b, NULL);
  Expect(SimtLive() == 2, "it is freed while somebody may use it");
  c = Alloc(MB);
  SimtCapture(0);
  TrsvDeviceFree(c);
  Expect(!SimtLive(), "%zu allocations stay", SimtLive());
  a = Alloc(MB);
  (void)cudaSetDevice(1);
  b = Alloc(MB);
  SimtCapture(1);
  TrsvDeviceFree(a);
  TrsvDeviceFree(b);
  SimtCapture(0);
  TrsvDeviceFree(Alloc(1));
  Expect(SimtLive() == 1, "%zu allocations, though one device alone has been waited for", SimtLive());
  (void)cudaSetDevice(0);
  TrsvDeviceFinalize();
  Expect(!SimtLive(), "%zu allocations stay", SimtLive());
  Finish();
}

static void Full(void)
{
  void *a, *b, *c;

  Start("a device that is full");
  SimtLimit(4 * MB);
  a = Alloc(MB);
  b = Scratch(2 * MB);
  TrsvScratchFree(b, NULL);
  b = Alloc(2 * MB);
  Expect(b && SimtReserved() <= 4 * MB, "what a stream has freed is waited for: %zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  b = Scratch(2 * MB);
  TrsvScratchFree(b, NULL);
  SimtCapture(1);
  ExpectError(TrsvDeviceAlloc(2 * MB, &c), TRSV_ERR_MEMORY, "what cannot be waited for");
  SimtCapture(0);
  ExpectError(TrsvDeviceAlloc(3 * MB + 1, &c), TRSV_ERR_MEMORY, "more than there is");
  Expect(!c && strstr(TrsvErrorMessage(), "3145729 bytes"), "%p, %s", c, TrsvErrorMessage());
  ExpectError(TrsvScratchAlloc(3 * MB + 1, &c, NULL), TRSV_ERR_MEMORY, "more than there is");
  Expect(!c, "and something for it");
  Expect(SimtReserved() == MB, "%zu bytes, of which nobody uses all but one MB, are kept", SimtReserved());
  c = Alloc(3 * MB);
  TrsvDeviceFree(c);
  TrsvDeviceFree(a);
  SimtLimit(0);
  Finish();
}

static void Idle(void)
{
  void *a, *b;

  Start("what stays when nobody uses it");
  a = Alloc(1000);
  b = Alloc(300 * MB);
  Expect(SimtReserved() == 300 * MB + 1000, "%zu bytes", SimtReserved());
  TrsvDeviceFree(b);
  Expect(SimtReserved() == SPARE + 1000, "%zu bytes for 1,000", SimtReserved());
  b = Scratch(200 * MB);
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  Expect(SimtReserved() == SPARE, "%zu bytes for none", SimtReserved());
  Finish();
}

static void WithoutPools(void)
{
  void *a, *b;

  SimtWithoutPools(1);
  Start("a device without pools");
  a = Alloc(MB);
  b = Scratch(MB);
  ExpectError(TrsvDeviceClear(b, MB, NULL), TRSV_SUCCESS, "TrsvDeviceClear");
  Expect(!TrsvDeviceHeld() && !TrsvDevicePeak(), "%zu bytes are counted", TrsvDeviceHeld());
  TrsvScratchFree(b, NULL);
  TrsvDeviceFree(a);
  Expect(!SimtReserved(), "%zu bytes stay", SimtReserved());
  SimtLimit(MB);
  ExpectError(TrsvDeviceAlloc(2 * MB, &a), TRSV_ERR_MEMORY, "more than there is");
  SimtLimit(0);
  Finish();
  SimtWithoutPools(0);
}

static void Finalized(void)
{
  double *a, *b, host = 1;

  Start("what is in use when all is given back");
  for (int again = 0; again < 3; again++) {
    a = (double *)Alloc(sizeof(*a));
    ExpectError(TrsvDeviceUpload(a, &host, sizeof(host), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
    b = (double *)Alloc(MB);
    TrsvDeviceFree(b);
    TrsvDeviceFinalize();
    Expect(SimtLive() == 1 && *a == 1, "it is gone");
    Expect(SimtObjects() == 2 && TrsvDeviceHeld() == SimtReserved() && SimtReserved() < MB,
           "%zu objects, %zu bytes in use of %zu", SimtObjects(), TrsvDeviceHeld(), SimtReserved());
    if (again) { /* the pool that has it serves others, too */
      b = (double *)Alloc(MB);
      Expect(SimtObjects() == 2 && TrsvDeviceHeld() > MB, "%zu objects, %zu bytes in use", SimtObjects(),
             TrsvDeviceHeld());
      TrsvDeviceFree(b);
    }
    TrsvDeviceFree(a);
    TrsvDeviceFinalize();
    Expect(!SimtObjects() && !SimtReserved(), "%zu objects and %zu bytes are left", SimtObjects(), SimtReserved());
  }
  Finish();
}

/* Small pieces of scratch share a block, each stream its own. */
static void Shared(void)
{
  const TrsvStream other = (TrsvStream)(void *)"a stream";
  const size_t     K = 1024, BLOCK = 8 * MB;
  char            *a, *b, *c, *last;
  void            *d;

  Start("small pieces of scratch");
  SimtPieceBytes = 2 * MB;
  a              = (char *)Scratch(1);
  b              = (char *)Scratch(300);
  c              = (char *)Scratch(0);
  Expect(b - a == 256 && c - b == 512, "pieces at %td and %td", b - a, c - a);
  Expect(SimtLive() == 1 && SimtReserved() == BLOCK, "%zu allocations, %zu bytes", SimtLive(), SimtReserved());
  ExpectError(TrsvScratchAlloc(K, &d, other), TRSV_SUCCESS, "TrsvScratchAlloc");
  Expect(SimtLive() == 2, "another stream's piece is in the same block");
  TrsvScratchFree(d, other);
  d = Scratch(4 * MB);
  Expect(SimtLive() == 2 && ((char *)d < a || (char *)d >= a + BLOCK), "a large piece is in the block");
  TrsvScratchFree(d, NULL);
  TrsvScratchFree(a, NULL);
  TrsvScratchFree(c, NULL);
  Expect(SimtLive() == 1, "a block in use is freed");
  for (int i = 0; i < 3; i++) TrsvScratchFree(Scratch(2 * MB), NULL);
  Expect(SimtLive() == 1, "%zu allocations", SimtLive());
  last = (char *)Scratch(2 * MB);
  Expect(SimtLive() == 2 && (last < a || last >= a + BLOCK), "more than a block has");
  TrsvScratchFree(b, NULL);
  TrsvScratchFree(last, NULL);
  Expect(!SimtLive(), "%zu allocations", SimtLive());
  SimtLimit(MB);
  a = (char *)Scratch(K);
  Expect(SimtReserved() == K, "without room for a block: %zu bytes", SimtReserved());
  TrsvScratchFree(a, NULL);
  SimtLimit(0);
  SimtPieceBytes = 0;
  Finish();
}

static void Fails(void)
{
  Start("each call that makes a pool fails");
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
  Finish();
}

extern "C" void TestPool(void)
{
  Rules();
  Devices();
  Captured();
  Full();
  Idle();
  WithoutPools();
  Finalized();
  Shared();
  Fails();
}
