/*
   Device memory over the CUDA runtime: what plans and factors hold, what a set-up needs for a while, and how much of it
   there is.

   It comes out of a pool (pool.h). What is needed for a while goes to the next who asks in the same default stream, in
   whose order it is used. The pools of the runtime do the same, but take 6.6 ms for their first allocation, a third of
   a small set-up.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "device/pool.h"
#include "device/runtime.cuh"

enum {
  WORDS = 1024
};

/* Pinning memory takes longer than many an analysis, so words are dealt out of pages, which are kept. To register a
   page takes a sixth of what the runtime takes to make one; shared, so that a program that forks keeps it. */
struct Page {
  unsigned     *word;
  unsigned char used[WORDS];
  Page         *next;
};

static Page           *pages;
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER; /* not the pool's, whose owner may wait for the device */

/* Where registering does not work, or the device knows what is registered by another address, the runtime makes one. */
static TrsvError Pin(unsigned **words)
{
  static const size_t bytes = sizeof(**words) * WORDS;
  int                 device, same;

  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  TrsvCall(Check(cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, device),
                 "cudaDeviceGetAttribute"));
  void *const page = same ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (page != MAP_FAILED) {
    *words = (unsigned *)page;
    if (cudaHostRegister(page, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable) == cudaSuccess)
      return TRSV_SUCCESS;
    (void)cudaGetLastError(); /* or it would be taken for the next launch's */
    (void)munmap(page, bytes);
  }
  return Check(cudaHostAlloc((void **)words, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
}

static TrsvError AddPage(void)
{
  Page     *p = (Page *)calloc(1, sizeof(*p));
  TrsvError error;

  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a page of words");
  error = Pin(&p->word);
  if (error) {
    free(p);
    return error;
  }
  p->next = pages;
  pages   = p;
  return TRSV_SUCCESS;
}

/* So many that follow each other, all 0; NULL where no page has them. */
static unsigned *TakeWords(int n)
{
  for (Page *p = pages; p; p = p->next)
    for (int i = 0, run = 0; i < WORDS; i++) {
      run = p->used[i] ? 0 : run + 1;
      if (run < n) continue;
      unsigned *const words = p->word + i + 1 - n;

      memset(p->used + i + 1 - n, 1, (size_t)n);
      memset(words, 0, sizeof(*words) * (size_t)n);
      return words;
    }
  return NULL;
}

TrsvError TrsvDeviceAllocWords(int n, unsigned **words)
{
  TrsvError error = TRSV_SUCCESS;

  *words = NULL;
  if (n > WORDS) return TrsvFail(TRSV_ERR_ARGUMENT, "%d words are more than a page has", n);
  (void)pthread_mutex_lock(&pages_lock);
  *words = TakeWords(n);
  if (!*words) error = AddPage();
  if (!*words && !error) *words = TakeWords(n);
  (void)pthread_mutex_unlock(&pages_lock);
  return error;
}

void TrsvDeviceFreeWords(int n, unsigned *words)
{
  (void)pthread_mutex_lock(&pages_lock);
  for (Page *p = pages; p && words; p = p->next)
    if (words >= p->word && words < p->word + WORDS) memset(p->used + (words - p->word), 0, (size_t)n);
  (void)pthread_mutex_unlock(&pages_lock);
}

extern "C" TrsvError TrsvDeviceAllocWord(unsigned **word) { return TrsvDeviceAllocWords(1, word); }

extern "C" void TrsvDeviceFreeWord(unsigned *word) { TrsvDeviceFreeWords(1, word); }

/* Bytes of a slab, at least; and of slabs that nobody uses, at most, which are kept for the next set-up: what
   calibration has taken, and a little more. 0: each piece is a slab. */
static size_t least = (size_t)32 << 20, most_spare = (size_t)320 << 20;

static const size_t large = (size_t)1 << 20, alignment = 256; /* of pieces, as the driver has it */

static TrsvPool        pool;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* Slabs that nobody uses, but for so many bytes, go back to the driver, which waits for what is under way. */
static void GiveBack(size_t most)
{
  for (void *memory = TrsvPoolSpare(&pool, most); memory; memory = TrsvPoolSpare(&pool, most))
    if (cudaFree(memory) != cudaSuccess) (void)cudaGetLastError(); /* or it would be taken for the next launch's */
}

/* memory: NULL where the device has none left */
static TrsvError NewSlab(int device, TrsvPoolKind kind, size_t bytes, void **memory)
{
  const cudaError_t e = cudaMalloc(memory, bytes);

  if (e == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    *memory = NULL;
    return TRSV_SUCCESS;
  }
  TrsvCall(Check(e, "cudaMalloc"));
  if (TrsvPoolAdd(&pool, device, kind, *memory, bytes)) return TRSV_SUCCESS;
  (void)cudaFree(*memory);
  *memory = NULL;
  return TrsvFail(TRSV_ERR_MEMORY, "no memory for a note of %zu bytes on the device", bytes);
}

/* Where the device is full, what is under way is waited for, and then any piece will do; whole slabs that nobody uses
   go back, too. */
static TrsvError Last(int device, TrsvPoolKind kind, size_t bytes, void **memory)
{
  void *slab;

  if (TrsvDeviceDrain()) TrsvPoolSettleDevice(&pool, device, pool.turns);
  *memory = TrsvPoolTake(&pool, device, TRSV_POOL_ANY, bytes, 0, NULL);
  if (*memory) return TRSV_SUCCESS;
  GiveBack(0);
  TrsvCall(NewSlab(device, kind, bytes, &slab));
  *memory = slab ? TrsvPoolTake(&pool, device, kind, bytes, 0, NULL) : NULL;
  return *memory ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the device", bytes);
}

static TrsvError Find(int device, TrsvPoolKind kind, size_t bytes, int mine, void **memory)
{
  void *slab;

  *memory = TrsvPoolTake(&pool, device, kind, bytes, mine, TrsvDeviceDefault());
  if (*memory) return TRSV_SUCCESS;
  TrsvCall(NewSlab(device, kind, bytes > least ? bytes : least, &slab));
  if (!slab) return Last(device, kind, bytes, memory);
  *memory = TrsvPoolTake(&pool, device, kind, bytes, mine, TrsvDeviceDefault());
  return TRSV_SUCCESS;
}

/* mine: what was used in the default stream will do. */
static TrsvError Take(size_t bytes, int mine, void **memory)
{
  const size_t asked = bytes ? bytes : 1, size = least ? (asked + alignment - 1) / alignment * alignment : asked;
  int          device;
  TrsvError    error;

  *memory = NULL;
  if (size < asked) return TrsvFail(TRSV_ERR_MEMORY, "%zu bytes are more than a device can have", bytes);
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  (void)pthread_mutex_lock(&pool_lock);
  error = Find(device, size < large ? TRSV_POOL_SMALL : TRSV_POOL_LARGE, size, mine, memory);
  (void)pthread_mutex_unlock(&pool_lock);
  return error;
}

/* Any stream may use it at once; and who frees it need not have waited for those that use it: that is done here, as
   cudaFree does it. */
extern "C" TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer) { return Take(bytes, 0, (void **)pointer); }

extern "C" void TrsvDeviceFree(void *memory)
{
  int now;

  if (!memory) return;
  (void)pthread_mutex_lock(&pool_lock);
  const int    device = TrsvPoolDevice(&pool, memory);
  const size_t turns  = pool.turns;
  (void)pthread_mutex_unlock(&pool_lock);
  if (device < 0) return;
  const bool elsewhere = cudaGetDevice(&now) == cudaSuccess && now != device;
  if (elsewhere) (void)cudaSetDevice(device);
  const bool settled = TrsvDeviceDrain();
  if (elsewhere) (void)cudaSetDevice(now);
  (void)cudaGetLastError();
  (void)pthread_mutex_lock(&pool_lock);
  if (settled) TrsvPoolSettleDevice(&pool, device, turns);
  TrsvPoolGive(&pool, memory, settled,
               (TrsvStream)&pool); /* else it stays until somebody has waited for the device: that is no stream */
  GiveBack(most_spare);
  (void)pthread_mutex_unlock(&pool_lock);
}

/* Only work in the default stream, behind what used it before there, may be given what has not been waited for. */
extern "C" TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream stream)
{
  return Take(bytes, !stream, (void **)pointer);
}

extern "C" void TrsvScratchFree(void *memory, TrsvStream stream)
{
  if (stream) return TrsvDeviceFree(memory);
  (void)pthread_mutex_lock(&pool_lock);
  TrsvPoolGive(&pool, memory, 0, TrsvDeviceDefault());
  GiveBack(most_spare);
  (void)pthread_mutex_unlock(&pool_lock);
}

extern "C" size_t TrsvScratchFrees(void)
{
  (void)pthread_mutex_lock(&pool_lock);
  const size_t releases = pool.turns;
  (void)pthread_mutex_unlock(&pool_lock);
  return releases;
}

extern "C" void TrsvDeviceSettle(TrsvStream stream, size_t releases)
{
  int device;

  if (cudaGetDevice(&device) != cudaSuccess) return;
  (void)pthread_mutex_lock(&pool_lock);
  TrsvPoolSettle(&pool, device, stream, releases);
  (void)pthread_mutex_unlock(&pool_lock);
}

extern "C" void TrsvDisablePool(void)
{
  (void)pthread_mutex_lock(&pool_lock);
  least = most_spare = 0;
  GiveBack(0);
  (void)pthread_mutex_unlock(&pool_lock);
}

extern "C" size_t TrsvDeviceHeld(void) { return pool.in_use; }

extern "C" size_t TrsvDevicePeak(void) { return pool.most_in_use; }

extern "C" void TrsvDeviceMark(void)
{
  (void)pthread_mutex_lock(&pool_lock);
  pool.most_in_use = pool.in_use;
  (void)pthread_mutex_unlock(&pool_lock);
}
