/*
   Device memory (src/kernels/device/memory.cu, pinned.cu) on a GPU: with several streams, threads and captures no
   memory has two users; the counters are right; a full device gives an error and works again afterwards; freed memory
   returns to the device but for the part that memory.cu states, and all of it after TrsvDeviceFinalize().

     memory            all tests; exit status 1 if anything failed
     memory small      fewer tests, without a full device: for compute-sanitizer
     memory overrun    writes one word beyond 1,000 bytes: compute-sanitizer must report it
*/
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>
#include "device/device.h"
#include "papers/graph.h"
#include "expect.cuh"

static bool         small;
static const size_t MB = (size_t)1 << 20, SPARE = 128 * MB,
                    SLACK = 96 * MB; /* what memory.cu keeps; how much the driver's memory may vary */

/* Waits before it writes: it overwrites the data of a user that gets the memory too early. */
static __global__ void fill(unsigned *p, size_t n, unsigned value, long long cycles)
{
  const long long start = clock64();

  while (clock64() - start < cycles) {
  }
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = value;
}

static __global__ void check(const unsigned *p, size_t n, unsigned value, unsigned *wrong)
{
  unsigned mine = 0;

  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    mine += p[i] != value;
  if (mine) atomicAdd(wrong, mine);
}

static void Fill(void *p, size_t bytes, unsigned value, long long cycles, cudaStream_t s)
{
  fill<<<8, 128, 0, s>>>((unsigned *)p, bytes / 4, value, cycles);
}

/* wrong: a pinned word */
static void Check(const void *p, size_t bytes, unsigned value, unsigned *wrong, cudaStream_t s)
{
  check<<<8, 128, 0, s>>>((const unsigned *)p, bytes / 4, value, wrong);
}

static size_t FreeBytes(void)
{
  size_t now = 0, all;

  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaMemGetInfo(&now, &all));
  return now;
}

static void TestCounters(void)
{
  const size_t before = TrsvDeviceHeld();
  void        *a, *b;

  TrsvDeviceMark();
  EXPECT(TrsvDevicePeak() == before, "a mark: %zu bytes at most, %zu in use", TrsvDevicePeak(), before);
  EXPECT_SUCCESS(TrsvDeviceAlloc(10 * MB, &a));
  EXPECT_SUCCESS(TrsvScratchAlloc(20 * MB, &b, NULL));
  EXPECT(TrsvDeviceHeld() == before + 30 * MB, "%zu bytes for %zu", TrsvDeviceHeld() - before, 30 * MB);
  TrsvScratchFree(b, NULL);
  const size_t at_once = TrsvDeviceHeld() - before;
  EXPECT_SUCCESS(TrsvDeviceWait(NULL));
  const size_t later = TrsvDeviceHeld() - before;
  EXPECT(at_once == 10 * MB && later == 10 * MB, "%zu bytes after scratch is freed, %zu after a wait", at_once, later);
  TrsvDeviceFree(a);
  EXPECT(TrsvDeviceHeld() == before && TrsvDevicePeak() == before + 30 * MB, "%zu bytes are left, %zu were the most",
         TrsvDeviceHeld() - before, TrsvDevicePeak() - before);
}

/* A stream frees memory while its kernel still writes; another stream gets the memory, and its data must stay. */
static void TestStreams(unsigned *wrong)
{
  cudaStream_t s;

  EXPECT_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int k = 0; k < (small ? 2 : 20); k++) {
    const size_t bytes = (size_t)(k + 1) * MB;
    void        *a, *b, *c;

    EXPECT_SUCCESS(TrsvScratchAlloc(bytes, &a, NULL)); /* freed in stream order, allocated for any stream */
    Fill(a, bytes, 1, 2000000, NULL);
    TrsvScratchFree(a, NULL);
    EXPECT_SUCCESS(TrsvDeviceAlloc(bytes, &b));
    Fill(b, bytes, 2, 0, s);
    EXPECT_SUCCESS(TrsvScratchAlloc(bytes, &c, s)); /* and in the order of another stream */
    Fill(c, bytes, 3, 0, s);
    EXPECT_CUDA(cudaDeviceSynchronize());
    Check(b, bytes, 2, wrong, s);
    Check(c, bytes, 3, wrong, s);
    TrsvScratchFree(c, s);
    Fill(b, bytes, 4, 2000000, s); /* freed while another stream writes */
    TrsvDeviceFree(b);
    EXPECT_SUCCESS(TrsvDeviceAlloc(bytes, &b));
    Fill(b, bytes, 5, 0, NULL);
    EXPECT_CUDA(cudaDeviceSynchronize());
    Check(b, bytes, 5, wrong, NULL);
    TrsvDeviceFree(b);
  }
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT(!*wrong, "streams: %u words are another's", *wrong);
  EXPECT_CUDA(cudaStreamDestroy(s));
}

/* A set-up: scratch memory in the current stream, some memory that stays, waits in between. */
struct Work {
  unsigned seed, *wrong, random;
  void    *kept[8];
};

enum {
  KEPT = 3 << 20 /* bytes */
};

/* A half of the allocations. */
static TrsvError SetUpHalf(Work *w, unsigned half)
{
  for (unsigned k = 4 * half; k < 4 * half + 4; k++) {
    TrsvCall(TrsvDeviceAlloc(KEPT, &w->kept[k]));
    Fill(w->kept[k], KEPT, w->seed + k, 0, TrsvCurrentStream());
    for (int i = 0; i < 4; i++) {
      void *room;
      w->random            = w->random * 1664525u + 1013904223u;
      const unsigned r     = w->random;
      const size_t   bytes = 4096 + r % (8 * MB) / 4 * 4;

      TrsvCall(TrsvScratchAlloc(bytes, &room, NULL));
      Fill(room, bytes, r, 20000, TrsvCurrentStream());
      Check(room, bytes, r, w->wrong, TrsvCurrentStream());
      if (i % 2) TrsvCall(TrsvDeviceWait(NULL));
      TrsvScratchFree(room, NULL);
    }
  }
  return TRSV_SUCCESS;
}

static TrsvError BeginSetUp(void *data)
{
  Work *const w = (Work *)data;

  w->random = w->seed;
  return SetUpHalf(w, 0);
}

static TrsvError EndSetUp(void *data)
{
  Work *const w = (Work *)data;

  TrsvCall(SetUpHalf(w, 1));
  for (unsigned k = 0; k < 8; k++) Check(w->kept[k], KEPT, w->seed + k, w->wrong, TrsvCurrentStream());
  TrsvCall(TrsvDeviceWait(NULL));
  for (unsigned k = 0; k < 8; k++) TrsvDeviceFree(w->kept[k]);
  return TRSV_SUCCESS;
}

static void TestSetUps(unsigned *wrong)
{
  for (unsigned k = 0; k < (small ? 1 : 10); k++) {
    Work first = {1000 + k, wrong}, second = {2000 + k, wrong};

    EXPECT_SUCCESS(TrsvRunInLockStep(BeginSetUp, EndSetUp, &first, &second));
  }
  EXPECT(!*wrong, "set-ups in lock step: %u words are another's", *wrong);
  std::vector<std::thread> threads;
  std::atomic<bool>        over(false);
  for (unsigned t = 0; t < 4; t++)
    threads.emplace_back([=] {
      for (unsigned k = 0; k < (small ? 1 : 5); k++) {
        Work w = {10000 * t + k, wrong};

        EXPECT_SUCCESS(BeginSetUp(&w));
        EXPECT_SUCCESS(EndSetUp(&w));
      }
    });
  std::thread reader([&] {
    while (!over) (void)(TrsvDevicePeak() + TrsvDeviceHeld()); /* races are seen under a sanitizer of threads */
  });
  for (std::thread &t : threads) t.join();
  over = true;
  reader.join();
  EXPECT(!*wrong, "set-ups in four threads: %u words are another's", *wrong);
}

static TrsvError Launch(void *p, TrsvStream s)
{
  Fill(p, MB, 7, 0, s);
  return TrsvDeviceCheckLaunch("fill");
}

/* One thread records graphs while another allocates and frees; and a capture that the library does not know of. */
static void TestCaptures(unsigned *wrong)
{
  const size_t      before = TrsvDeviceHeld();
  std::atomic<bool> over(false);
  void             *a, *b;

  EXPECT_SUCCESS(TrsvDeviceAlloc(MB, &a));
  std::thread other([&] {
    for (unsigned k = 0; !over; k++) {
      Work w = {k, wrong};

      EXPECT_SUCCESS(BeginSetUp(&w));
      EXPECT_SUCCESS(EndSetUp(&w));
    }
  });
  for (int k = 0; k < (small ? 5 : 200); k++) {
    TrsvDeviceGraph *graph = NULL;

    EXPECT_SUCCESS(TrsvDeviceGraphCreate(Launch, a, &graph));
    if (!graph) break;
    EXPECT_SUCCESS(TrsvDeviceGraphLaunch(graph, NULL));
    Check(a, MB, 7, wrong, NULL);
    EXPECT_SUCCESS(TrsvDeviceWait(NULL));
    TrsvDeviceGraphDestroy(&graph);
  }
  over = true;
  other.join();
  EXPECT(!*wrong, "captures: %u words are another's", *wrong);
  cudaStream_t s;
  cudaGraph_t  recorded = NULL;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  EXPECT_CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  Fill(a, MB, 8, 0, s);
  const TrsvError allowed = TrsvDeviceAlloc(MB, &b);
  const size_t    with    = TrsvDeviceHeld();
  TrsvDeviceFree(b);
  const size_t      after = TrsvDeviceHeld();
  const cudaError_t end   = cudaStreamEndCapture(s, &recorded);
  printf("during a capture of the caller's: to allocate is %s, memory is freed %s, the capture ends with: %s\n",
         allowed ? TrsvErrorMessage() : "no error", after < with ? "at once" : "later", cudaGetErrorString(end));
  (void)cudaGetLastError();
  if (recorded) EXPECT_CUDA(cudaGraphDestroy(recorded));
  EXPECT_CUDA(cudaStreamDestroy(s));
  TrsvDeviceFree(a);
  EXPECT(TrsvDeviceHeld() == before, "%zu bytes are left", TrsvDeviceHeld() - before);
}

static void TestFullDevice(void)
{
  const size_t        before = TrsvDeviceHeld(), piece = 1024 * MB, start = FreeBytes();
  std::vector<void *> all;
  void               *p;
  TrsvError           error;

  while (!(error = TrsvDeviceAlloc(piece, &p))) all.push_back(p);
  EXPECT(error == TRSV_ERR_MEMORY && !p && strstr(TrsvErrorMessage(), "1073741824 bytes"),
         "a full device: error %d, %s", (int)error, TrsvErrorMessage());
  EXPECT_CUDA(cudaGetLastError());
  EXPECT(TrsvScratchAlloc(piece, &p, NULL) == TRSV_ERR_MEMORY && !p, "scratch of a full device");
  EXPECT_CUDA(cudaGetLastError());
  EXPECT(TrsvDeviceHeld() == before + all.size() * piece, "%zu bytes in use", TrsvDeviceHeld());
  printf("%zu GB of a device with %.1f free\n", all.size(), (double)start / (double)piece);
  for (void *q : all) TrsvDeviceFree(q);
  EXPECT(TrsvDeviceHeld() == before, "%zu bytes are left", TrsvDeviceHeld() - before);
  EXPECT(FreeBytes() + SPARE + SLACK >= start, "%zu MB stay", (start - FreeBytes()) / MB);
  const size_t most =
    FreeBytes() / 10 * 6; /* twice this is more than the device has: memory that a stream has freed must be reused */
  EXPECT_SUCCESS(TrsvScratchAlloc(most, &p, NULL));
  Fill(p, most, 1, 0, NULL);
  TrsvScratchFree(p, NULL);
  EXPECT_SUCCESS(TrsvDeviceAlloc(most, &p));
  TrsvDeviceFree(p);
  EXPECT_SUCCESS(TrsvDeviceAlloc(most, &p));
  TrsvDeviceFree(p);
  EXPECT(FreeBytes() + SPARE + SLACK >= start, "%zu MB stay", (start - FreeBytes()) / MB);
}

static void TestFinalize(unsigned *wrong)
{
  size_t start = 0;

  for (int k = 0; k < 20; k++) {
    unsigned *word;
    void     *a, *b;

    EXPECT_SUCCESS(TrsvPinnedAlloc(1, &word));
    EXPECT_SUCCESS(TrsvDeviceAlloc(MB, &a));
    EXPECT_SUCCESS(TrsvScratchAlloc(64 * MB, &b, NULL));
    Fill(a, MB, 9, 0, NULL);
    TrsvScratchFree(b, NULL);
    TrsvDeviceFinalize();
    Check(a, MB, 9, wrong, NULL);
    fill<<<1, 1>>>(word, 1, 11, 0);
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT(*(volatile unsigned *)word == 11, "a pinned word is gone");
    TrsvDeviceFree(a);
    TrsvPinnedFree(1, word);
    TrsvDeviceFinalize();
    if (!k) start = FreeBytes();
  }
  EXPECT(small || FreeBytes() + SLACK >= start, "%zu MB are lost", (start - FreeBytes()) / MB);
  EXPECT(!*wrong, "after all was given back: %u words are another's", *wrong);
}

static void TestDevices(unsigned *wrong)
{
  int   count, now;
  void *a, *b;

  EXPECT_CUDA(cudaGetDeviceCount(&count));
  if (count < 2) {
    printf("one device: several are not tested\n");
    return;
  }
  const size_t before = TrsvDeviceHeld();
  EXPECT_CUDA(cudaSetDevice(1));
  EXPECT_SUCCESS(TrsvDeviceAlloc(64 * MB, &a));
  Fill(a, 64 * MB, 1, 5000000, NULL);
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT(TrsvDeviceHeld() == before + 64 * MB, "%zu bytes", TrsvDeviceHeld() - before);
  TrsvDeviceFree(a); /* waits for device 1 */
  EXPECT_CUDA(cudaGetDevice(&now));
  EXPECT(now == 0 && TrsvDeviceHeld() == before, "device %d, %zu bytes are left", now, TrsvDeviceHeld() - before);
  EXPECT_CUDA(cudaSetDevice(1));
  EXPECT_SUCCESS(TrsvDeviceAlloc(64 * MB, &b));
  Fill(b, 64 * MB, 2, 0, NULL);
  EXPECT_CUDA(cudaDeviceSynchronize());
  Check(b, 64 * MB, 2, wrong, NULL);
  EXPECT_CUDA(cudaDeviceSynchronize());
  TrsvDeviceFree(b);
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT(!*wrong, "two devices: %u words are another's", *wrong);
}

/* The ms for as many allocations as a set-up makes. */
static void MeasureTimes(const char *when)
{
  enum { COUNT = 37 };
  void  *p[COUNT];
  double ms[2];

  for (int part = 0; part < 2; part++) {
    EXPECT_CUDA(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < COUNT; i++) {
      if (part) TrsvDeviceFree(p[i]);
      else EXPECT_SUCCESS(TrsvDeviceAlloc((size_t)(i % 8 + 1) * MB / 2, &p[i]));
    }
    ms[part] = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  printf("%d allocations %s: %.3f ms; to free them %.3f ms\n", COUNT, when, ms[0], ms[1]);
}

int main(int count, char **args)
{
  unsigned *wrong;

  setvbuf(stdout, NULL, _IOLBF, 0); /* the output must be visible after a crash */
  small = count > 1 && !strcmp(args[1], "small");
  EXPECT_CUDA(cudaFree(NULL));
  if (failures) return 1;
  if (count > 1 && !strcmp(args[1], "overrun")) {
    void *p;

    EXPECT_SUCCESS(TrsvDeviceAlloc(1000, &p));
    fill<<<1, 1>>>((unsigned *)p + 250, 1, 0, 0);
    EXPECT_CUDA(cudaDeviceSynchronize());
    TrsvDeviceFree(p);
    return failures > 0;
  }
  MeasureTimes("at first");
  MeasureTimes("later");
  EXPECT_SUCCESS(TrsvPinnedAlloc(1, &wrong));
  TestCounters();
  puts("counters done");
  TestStreams(wrong);
  puts("streams done");
  TestSetUps(wrong);
  puts("set-ups done");
  TestCaptures(wrong);
  puts("captures done");
  TestDevices(wrong);
  if (!small) TestFullDevice();
  puts("a full device done");
  TrsvPinnedFree(1, wrong);
  TrsvDeviceFinalize();
  EXPECT_SUCCESS(TrsvPinnedAlloc(1, &wrong));
  TestFinalize(wrong);
  TrsvPinnedFree(1, wrong);
  TrsvDeviceFinalize();
  MeasureTimes("after all was given back");
  EXPECT_CUDA(cudaGetLastError());
  printf(failures ? "%d FAILED\n" : "memory: all right\n", (int)failures);
  return failures > 0;
}
