/*
   Words of the host that a device can write. They come from one page, because pinning memory takes longer than a small
   analysis. If the page is full, words are pinned separately.
*/
#include <pthread.h>
#include <string.h>
#include "device/runtime.cuh"

enum { PAGE_WORDS = 1024 };

static unsigned       *page;
static unsigned char   used[PAGE_WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static TrsvError AllocatePinned(unsigned **words, int n)
{
  return CheckCall(cudaHostAlloc, (void **)words, sizeof(**words) * (size_t)n,
                   cudaHostAllocMapped | cudaHostAllocPortable);
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
  if (!page) error = AllocatePinned(&page, PAGE_WORDS);
  if (!error) first = FindWords(n);
  if (first >= 0) {
    memset(used + first, 1, (size_t)n);
    *words = page + first;
  }
  (void)pthread_mutex_unlock(&lock);
  if (!error && first < 0) error = AllocatePinned(words, n);
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
    (void)cudaFreeHost(page);
    page = NULL;
  }
  (void)pthread_mutex_unlock(&lock);
}
