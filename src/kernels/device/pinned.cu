/*
   Words of the host that a device can write, out of one page that the driver knows: to pin memory takes longer than
   many an analysis. What the page has no room for is pinned by itself.
*/
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "device/runtime.cuh"

enum {
  WORDS = 1024 /* of the page */
};

static unsigned       *page;
static bool            mapped; /* by mmap(), or else the runtime's */
static unsigned char   used[WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static TrsvError Pin(unsigned **words, size_t bytes)
{
  return Check(cudaHostAlloc((void **)words, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
}

/* To register a page takes a sixth of what cudaHostAlloc() takes. It is shared, so that a program that forks keeps it.
   Where the device knows registered memory by another address, or registering fails, cudaHostAlloc() makes the page. */
static TrsvError MakePage(void)
{
  const size_t bytes = sizeof(*page) * WORDS;
  int          device, same;

  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  TrsvCall(Check(cudaDeviceGetAttribute(&same, cudaDevAttrCanUseHostPointerForRegisteredMem, device),
                 "cudaDeviceGetAttribute"));
  void *const memory = same ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return Pin(&page, bytes);
  mapped = cudaHostRegister(memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable) == cudaSuccess;
  if (mapped) {
    page = (unsigned *)memory;
    return TRSV_SUCCESS;
  }
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  (void)munmap(memory, bytes);
  return Pin(&page, bytes);
}

/* The first of n consecutive free words of the page; -1 if there are none. */
static int FindWords(int n)
{
  for (int i = 0, run = 0; i < WORDS; i++) {
    run = used[i] ? 0 : run + 1;
    if (run == n) return i + 1 - n;
  }
  return -1;
}

extern "C" TrsvError TrsvPinnedAlloc(int n, unsigned **words)
{
  TrsvError error = TRSV_SUCCESS;
  int       first = -1;

  *words = NULL;
  (void)pthread_mutex_lock(&lock);
  if (!page) error = MakePage();
  if (!error) first = FindWords(n);
  if (first >= 0) {
    memset(used + first, 1, (size_t)n);
    *words = page + first;
  }
  (void)pthread_mutex_unlock(&lock);
  if (!error && first < 0) error = Pin(words, sizeof(**words) * (size_t)n);
  if (!error) memset(*words, 0, sizeof(**words) * (size_t)n);
  return error;
}

extern "C" void TrsvPinnedFree(int n, unsigned *words)
{
  if (!words) return;
  (void)pthread_mutex_lock(&lock);
  const bool ours = page && words >= page && words < page + WORDS;
  if (ours) memset(used + (words - page), 0, (size_t)n);
  (void)pthread_mutex_unlock(&lock);
  if (!ours && cudaFreeHost(words) != cudaSuccess) (void)cudaGetLastError();
}

void TrsvPinnedFinalize(void)
{
  (void)pthread_mutex_lock(&lock);
  if (page && FindWords(WORDS) == 0) {
    if (!mapped) (void)cudaFreeHost(page);
    else if (cudaHostUnregister(page) == cudaSuccess) (void)munmap(page, sizeof(*page) * WORDS);
    page = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
}
