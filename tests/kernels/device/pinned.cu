/*
   Words of the host that a device can write (src/kernels/device/pinned.cu), over a simulated CUDA driver.
*/
#include <stdlib.h>
#include <string.h>
#include "check.h"

namespace {
typedef enum { cudaSuccess, cudaErrorMemoryAllocation } cudaError_t;
enum { cudaHostAllocMapped, cudaHostAllocPortable = 0 };

struct Driver {
  size_t      most; /* bytes of a piece */
  int         allocated;
  cudaError_t pending;
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

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned)
{
  *memory = bytes <= driver.most ? malloc(bytes) : NULL;
  if (!*memory) return result(cudaErrorMemoryAllocation);
  memset(*memory, 0xcd, bytes);
  driver.allocated++;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
  free(memory);
  driver.allocated--;
  return cudaSuccess;
}

TrsvError Check(cudaError_t e, const char *what)
{
  (void)cudaGetLastError();
  return e ? TrsvFail(TRSV_ERR_MEMORY, "%s", what) : TRSV_SUCCESS;
}
} // namespace

/* The tested file with renamed functions: the executor defines the original names. */
#define TRSV_RUNTIME_CUH
#define CheckCall(function, ...) Check(function(__VA_ARGS__), #function)
#define TrsvPinnedAlloc    tested_alloc
#define TrsvPinnedFree     tested_free
#define TrsvPinnedFinalize tested_finalize
#include "../../../src/kernels/device/pinned.cu"

static unsigned *AllocateWords(int n)
{
  unsigned *words;

  if (!ExpectError(tested_alloc(n, &words), TRSV_SUCCESS, "TrsvPinnedAlloc")) return NULL;
  for (int i = 0; i < n; i++) Expect(!words[i], "word %d is not 0", i);
  memset(words, 0xcd, sizeof(*words) * (size_t)n);
  return words;
}

static void CheckPage(void)
{
  unsigned *a, *b, *c;

  Begin("pinned words: a page");
  driver = Driver{1 << 20, 0, cudaSuccess};
  for (int again = 0; again < 2; again++) {
    a = AllocateWords(64);
    b = AllocateWords(1);
    Expect(driver.allocated == 1, "%d pages allocated", driver.allocated);
    Expect(b == a + 64, "not the next word");
    tested_free(64, a);
    c = AllocateWords(63);
    Expect(c == a, "not the first that fit");
    tested_free(63, c);
    c = AllocateWords(PAGE_WORDS - 64);
    Expect(driver.allocated == 2, "words of a page that is full, or too short a run of them");
    tested_free(PAGE_WORDS - 64, c);
    tested_finalize();
    Expect(driver.allocated == 1, "the page is gone, though a word is in use, or other words are not");
    b[0] = 1;
    tested_free(1, b);
    c = AllocateWords(PAGE_WORDS);
    Expect(c == a && driver.allocated == 1, "the whole page");
    b = AllocateWords(2);
    Expect(driver.allocated == 2, "there is no page for them");
    tested_free(2, b);
    tested_free(PAGE_WORDS, c);
    tested_free(1, NULL);
    tested_finalize();
    Expect(!driver.allocated && !driver.pending, "%d pages are left, or an error", driver.allocated);
  }
  End();
}

static void CheckNoMemory(void)
{
  const size_t bytes = sizeof(unsigned) * PAGE_WORDS;
  unsigned    *words = (unsigned *)&driver;

  Begin("pinned words: none to be had");
  driver = Driver{0, 0, cudaSuccess};
  ExpectError(tested_alloc(1, &words), TRSV_ERR_MEMORY, "TrsvPinnedAlloc");
  Expect(!words && !driver.pending, "words, or an error for the next launch, in spite of the error");
  driver.most = bytes;
  words       = AllocateWords(PAGE_WORDS);
  driver.most = 0;
  unsigned *more;
  ExpectError(tested_alloc(1, &more), TRSV_ERR_MEMORY, "TrsvPinnedAlloc");
  Expect(!more, "words in spite of the error");
  tested_free(PAGE_WORDS, words);
  tested_finalize();
  Expect(!driver.allocated, "something is left");
  End();
}

extern "C" void TestPinned(void)
{
  CheckPage();
  CheckNoMemory();
}
