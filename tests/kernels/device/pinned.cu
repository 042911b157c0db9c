/*
   Words of the host that a device can write (src/kernels/device/pinned.cu), over a simulated CUDA driver.
*/
#include <stdlib.h>
#include <string.h>
#include "check.h"

namespace {
typedef enum { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorUnknown } cudaError_t;
enum {
  cudaDevAttrCanUseHostPointerForRegisteredMem,
  cudaHostRegisterMapped   = 0,
  cudaHostRegisterPortable = 0,
  cudaHostAllocMapped      = 0,
  cudaHostAllocPortable    = 0
};

struct Driver {
  int         same, registers; /* does registered memory have one address? Can memory be registered? */
  size_t      most;            /* pinned bytes */
  int         registered, allocated;
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

cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, int, int) { return *value = driver.same, cudaSuccess; }

cudaError_t cudaHostRegister(void *, size_t, unsigned)
{
  driver.registered += driver.registers;
  return result(driver.registers ? cudaSuccess : cudaErrorUnknown);
}

cudaError_t cudaHostUnregister(void *) { return driver.registered--, cudaSuccess; }

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

static void CheckPage(const char *name, int same, int registers)
{
  unsigned *a, *b, *c;

  Begin("pinned words: %s", name);
  driver           = Driver{same, registers, 1 << 20, 0, 0, cudaSuccess};
  const int mapped = same && registers;
  for (int again = 0; again < 2; again++) {
    a = AllocateWords(64);
    b = AllocateWords(1);
    Expect(driver.registered == mapped && driver.allocated == !mapped, "%d pages registered, %d allocated",
           driver.registered, driver.allocated);
    Expect(b == a + 64, "not the next word");
    tested_free(64, a);
    c = AllocateWords(63);
    Expect(c == a, "not the first that fit");
    tested_free(63, c);
    c = AllocateWords(PAGE_WORDS - 64);
    Expect(driver.allocated == 1 + !mapped, "words of a page that is full, or too short a run of them");
    tested_free(PAGE_WORDS - 64, c);
    tested_finalize();
    Expect(driver.registered == mapped && driver.allocated == !mapped,
           "the page is gone, though a word is in use, or other words are not");
    b[0] = 1;
    tested_free(1, b);
    c = AllocateWords(PAGE_WORDS);
    Expect(c == a && driver.allocated == !mapped, "the whole page");
    b = AllocateWords(2);
    Expect(driver.allocated == 1 + !mapped, "there is no page for them");
    tested_free(2, b);
    tested_free(PAGE_WORDS, c);
    tested_free(1, NULL);
    tested_finalize();
    Expect(!driver.registered && !driver.allocated && !driver.pending,
           "%d pages registered, %d allocated are left, or an error", driver.registered, driver.allocated);
  }
  End();
}

static void CheckNoMemory(void)
{
  unsigned *words = (unsigned *)&driver;

  Begin("pinned words: none to be had");
  driver = Driver{1, 0, 0, 0, 0, cudaSuccess};
  ExpectError(tested_alloc(1, &words), TRSV_ERR_MEMORY, "TrsvPinnedAlloc");
  Expect(!words && !driver.pending, "words, or an error for the next launch, in spite of the error");
  driver.registers = 1;
  words            = AllocateWords(PAGE_WORDS);
  unsigned *more;
  ExpectError(tested_alloc(1, &more), TRSV_ERR_MEMORY, "TrsvPinnedAlloc");
  Expect(!more, "words in spite of the error");
  tested_free(PAGE_WORDS, words);
  tested_finalize();
  Expect(!driver.registered && !driver.allocated, "something is left");
  End();
}

extern "C" void TestPinned(void)
{
  CheckPage("a page that is registered", 1, 1);
  CheckPage("a page that cannot be registered", 1, 0);
  CheckPage("a device that knows it by another address", 0, 1);
  CheckNoMemory();
}
