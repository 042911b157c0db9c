/*
   Device memory over the CUDA runtime: what plans and factors hold, what a set-up needs for a while, and how much of it there is.

   It comes out of a pool (pool.h). What is needed for a while goes to the next who asks in the same default stream, in whose order it is used. The pools of the
   runtime do the same, but take 6.6 ms for their first allocation, a third of a small set-up.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "pool.h"
#include "runtime.cuh"

enum {
  WORDS = 1024
};

/* Pinning memory takes longer than many an analysis, so words are dealt out of pages, which are kept. To register a page takes a sixth of what the
   runtime takes to make one; shared, so that a program that forks keeps it. */
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
  TrsvCall(Check(cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, device), "cudaDeviceGetAttribute"));
  void *const page = same ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (page != MAP_FAILED) {
    *words = (unsigned *)page;
    if (cudaHostRegister(page, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable) == cudaSuccess) return TRSV_SUCCESS;
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

/* Bytes of a slab, at least; and of slabs that nobody uses, at most, which are kept for the next set-up: what calibration has taken, and a little more. */
static size_t least = (size_t)32 << 20, most_spare = (size_t)320 << 20;

static TrsvPool        pool;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

/* Slabs that nobody uses, but for so many bytes, go back to the driver, which waits for what is under way. */
static void GiveBack(size_t most)
{
  for (void *memory = TrsvPoolSpare(&pool, most); memory; memory = TrsvPoolSpare(&pool, most)) (void)cudaFree(memory);
}

static TrsvError NewSlab(int device, size_t bytes)
{
  size_t      all = bytes > least ? bytes : least;
  void       *memory;
  cudaError_t e = cudaMalloc(&memory, all);

  if (e == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); /* or it would be taken for the next launch's */
    GiveBack(0);
    all = bytes;
    e   = cudaMalloc(&memory, all);
  }
  if (e == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the device", bytes);
  }
  TrsvCall(Check(e, "cudaMalloc"));
  if (TrsvPoolAdd(&pool, device, memory, all)) return TRSV_SUCCESS;
  (void)cudaFree(memory);
  return TrsvFail(TRSV_ERR_MEMORY, "no memory for a note of %zu bytes on the device", all);
}

/* mine: what was used in the default stream will do. */
static TrsvError Take(size_t bytes, int mine, void **memory)
{
  const size_t whole = TRSV_POOL_SIZE(bytes);
  int          device;
  TrsvError    error = TRSV_SUCCESS;

  *memory = NULL;
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  (void)pthread_mutex_lock(&pool_lock);
  *memory = TrsvPoolTake(&pool, device, whole, mine, TrsvDeviceDefault());
  if (!*memory) error = NewSlab(device, whole);
  if (!*memory && !error) *memory = TrsvPoolTake(&pool, device, whole, mine, TrsvDeviceDefault());
  (void)pthread_mutex_unlock(&pool_lock);
  return error;
}

static void Give(void *memory, int settled)
{
  (void)pthread_mutex_lock(&pool_lock);
  TrsvPoolGive(&pool, memory, settled, TrsvDeviceDefault());
  GiveBack(most_spare);
  (void)pthread_mutex_unlock(&pool_lock);
}

/* Any stream may use it at once; and who frees it need not have waited for those that use it: that is done here, as cudaFree does it. */
extern "C" TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer) { return Take(bytes, 0, (void **)pointer); }

extern "C" void TrsvDeviceFree(void *memory)
{
  int now;

  (void)pthread_mutex_lock(&pool_lock);
  const int device = TrsvPoolDevice(&pool, memory);
  (void)pthread_mutex_unlock(&pool_lock);
  if (device < 0) return;
  const bool elsewhere = cudaGetDevice(&now) == cudaSuccess && now != device;
  if (elsewhere) (void)cudaSetDevice(device);
  const bool settled = cudaDeviceSynchronize() == cudaSuccess;
  if (elsewhere) (void)cudaSetDevice(now);
  Give(memory, settled);
}

/* Only work in the default stream, behind what used it before there, may be given what has not been waited for. */
extern "C" TrsvError TrsvDeviceRoom(size_t bytes, void *pointer, TrsvStream stream) { return Take(bytes, !stream, (void **)pointer); }

extern "C" void TrsvDeviceRelease(void *memory, TrsvStream stream)
{
  if (stream) TrsvDeviceFree(memory);
  else if (memory) Give(memory, 0);
}

extern "C" size_t TrsvDeviceReleases(void)
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

extern "C" void TrsvDeviceApart(void)
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
