/*
   Words of the host that a device can write. They come from one registered page, because pinning memory takes longer
   than a small analysis. If the page is full, words are pinned separately.
*/
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "device/runtime.cuh"

enum { PAGE_WORDS = 1024 };

static unsigned       *page;
static bool            mapped; /* by mmap(); else allocated by the runtime */
static unsigned char   used[PAGE_WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static TrsvError AllocatePinned(unsigned **words, size_t bytes)
{
  return CheckCall(cudaHostAlloc, (void **)words, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
}

/* Registering a page takes a sixth of the time of cudaHostAlloc(). With MAP_SHARED the page stays valid after a fork.
   If the device needs another address for registered memory, or if registering fails, cudaHostAlloc() is used. */
static TrsvError CreatePage(void)
{
  const size_t bytes = sizeof(*page) * PAGE_WORDS;
  int          device, same;

  TrsvCall(CheckCall(cudaGetDevice, &device));
  TrsvCall(CheckCall(cudaDeviceGetAttribute, &same, cudaDevAttrCanUseHostPointerForRegisteredMem, device));
  void *const memory = same ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) return AllocatePinned(&page, bytes);
  mapped = !CheckCall(cudaHostRegister, memory, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
  if (mapped) page = (unsigned *)memory;
  else (void)munmap(memory, bytes);
  return mapped ? TRSV_SUCCESS : AllocatePinned(&page, bytes);
}

/* The first of n consecutive free words of the page; -1 if there are none. */
static int FindWords(int n)
{
  for (int i = 0, run = 0; i < PAGE_WORDS; i++) {
    run = used[i] ? 0 : run + 1;
    if (run == n) return i + 1 - n;
  }
  return -1;
}

TrsvError TrsvPinnedAlloc(int n, unsigned **words)
{
  TrsvError error = TRSV_SUCCESS;
  int       first = -1;

  *words = NULL;
  (void)pthread_mutex_lock(&lock);
  if (!page) error = CreatePage();
  if (!error) first = FindWords(n);
  if (first >= 0) {
    memset(used + first, 1, (size_t)n);
    *words = page + first;
  }
  (void)pthread_mutex_unlock(&lock);
  if (!error && first < 0) error = AllocatePinned(words, sizeof(**words) * (size_t)n);
  if (!error) memset(*words, 0, sizeof(**words) * (size_t)n);
  return error;
}

void TrsvPinnedFree(int n, unsigned *words)
{
  if (!words) return;
  (void)pthread_mutex_lock(&lock);
  const bool ours = page && words >= page && words < page + PAGE_WORDS;
  if (ours) memset(used + (words - page), 0, (size_t)n);
  (void)pthread_mutex_unlock(&lock);
  if (!ours && cudaFreeHost(words) != cudaSuccess) (void)cudaGetLastError();
}

void TrsvPinnedFinalize(void)
{
  (void)pthread_mutex_lock(&lock);
  if (page && FindWords(PAGE_WORDS) == 0) {
    if (!mapped) (void)cudaFreeHost(page);
    else if (cudaHostUnregister(page) == cudaSuccess) (void)munmap(page, sizeof(*page) * PAGE_WORDS);
    page = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
}
