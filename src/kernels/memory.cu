/*
   Device memory over the CUDA runtime: what plans and factors hold, what a set-up needs for a while, and how much of it there is.

   What is needed for a while is kept and handed to the next who asks in the same default stream, in whose order it is used. The pools of the runtime
   do the same, but take 6.6 ms for their first allocation, a third of a small set-up.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "runtime.cuh"

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

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
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER; /* not that of blocks, whose owner may wait for the device */

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

enum {
  SPARE = 1 << 20 /* bytes that a block may be larger than asked for, or as much again as that */
};

/* What is kept for the next set-up, at most. */
static const size_t most_kept = (size_t)256 << 20;

/* What has been allocated: the last first. */
struct Block {
  char      *memory;
  size_t     bytes;
  int        device;
  bool       used, done; /* done: no stream has anything left to do with it */
  TrsvStream stream;     /* not used: where it was last */
  size_t     turn;       /* likewise: which release it was */
  Block     *next;
};

static Block *blocks;
static size_t in_use, most_in_use, kept; /* bytes */
static size_t releases;                  /* of what is kept */

static void Use(Block *b)
{
  b->used = true;
  b->done = false;
  in_use += b->bytes;
  if (in_use > most_in_use) most_in_use = in_use;
}

static void Release(Block **at)
{
  Block *const b = *at;

  if (b->used) in_use -= b->bytes;
  else kept -= b->bytes;
  *at = b->next;
  (void)cudaFree(b->memory);
  free(b);
}

/* Gives back all that is kept. */
static void Trim(void)
{
  for (Block **at = &blocks; *at;)
    if ((*at)->used) at = &(*at)->next;
    else Release(at);
}

static TrsvError NewBlock(size_t bytes, int device, void **pointer)
{
  Block      *b = (Block *)malloc(sizeof(*b));
  cudaError_t e;

  if (!b) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a note of %zu bytes on the device", bytes);
  e = cudaMalloc((void **)&b->memory, bytes);
  if (e == cudaErrorMemoryAllocation && kept) {
    (void)cudaGetLastError();
    Trim();
    e = cudaMalloc((void **)&b->memory, bytes);
  }
  if (e != cudaSuccess) {
    free(b);
    if (e != cudaErrorMemoryAllocation) return Check(e, "cudaMalloc");
    (void)cudaGetLastError();
    return TrsvFail(TRSV_ERR_MEMORY, "no memory for %zu bytes on the device", bytes);
  }
  b->bytes  = bytes;
  b->device = device;
  b->next   = blocks;
  blocks    = b;
  Use(b);
  *pointer = b->memory;
  return TRSV_SUCCESS;
}

static Block **Find(const void *memory)
{
  Block **at = &blocks;

  while (*at && (*at)->memory != memory) at = &(*at)->next;
  return at;
}

extern "C" TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer)
{
  int       device;
  TrsvError error;

  *(void **)pointer = NULL;
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  (void)pthread_mutex_lock(&one_at_a_time);
  error = NewBlock(bytes ? bytes : 1, device, (void **)pointer);
  (void)pthread_mutex_unlock(&one_at_a_time);
  return error;
}

extern "C" void TrsvDeviceFree(void *pointer)
{
  if (!pointer) return;
  (void)pthread_mutex_lock(&one_at_a_time);
  Block **const at = Find(pointer);
  if (*at) Release(at);
  (void)pthread_mutex_unlock(&one_at_a_time);
}

/* Only work in the default stream, behind what used it before there, may be given what is kept, or what is done with. */
extern "C" TrsvError TrsvDeviceRoom(size_t bytes, void *pointer, TrsvStream stream)
{
  Block    *best = NULL;
  int       device;
  TrsvError error = TRSV_SUCCESS;

  *(void **)pointer = NULL;
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  if (!bytes) bytes = 1;
  (void)pthread_mutex_lock(&one_at_a_time);
  for (Block *b = stream ? NULL : blocks; b; b = b->next)
    if (!b->used && (b->done || b->stream == TrsvDeviceDefault()) && b->device == device && b->bytes >= bytes && b->bytes <= 2 * bytes + SPARE && (!best || b->bytes < best->bytes)) best = b;
  if (best) {
    kept -= best->bytes;
    Use(best);
    *(void **)pointer = best->memory;
  } else error = NewBlock(bytes, device, (void **)pointer);
  (void)pthread_mutex_unlock(&one_at_a_time);
  return error;
}

extern "C" void TrsvDeviceUnstage(void *pointer, TrsvStream stream)
{
  if (!pointer) return;
  (void)pthread_mutex_lock(&one_at_a_time);
  Block **const at = Find(pointer);
  if (*at && (stream || kept + (*at)->bytes > most_kept)) Release(at); /* which waits for what is under way */
  else if (*at) {
    (*at)->used   = false;
    (*at)->stream = TrsvDeviceDefault();
    (*at)->turn   = releases++;
    in_use -= (*at)->bytes;
    kept += (*at)->bytes;
  }
  (void)pthread_mutex_unlock(&one_at_a_time);
}

/* What another thread releases during the wait may still be under way. */
extern "C" TrsvError TrsvDeviceSettle(void)
{
  size_t before;
  int    device;

  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  (void)pthread_mutex_lock(&one_at_a_time);
  before = releases;
  (void)pthread_mutex_unlock(&one_at_a_time);
  TrsvCall(TrsvDeviceFinish());
  (void)pthread_mutex_lock(&one_at_a_time);
  for (Block *b = blocks; b; b = b->next) b->done = b->done || (!b->used && b->device == device && b->stream == TrsvDeviceDefault() && b->turn < before);
  (void)pthread_mutex_unlock(&one_at_a_time);
  return TRSV_SUCCESS;
}

extern "C" size_t TrsvDeviceHeld(void) { return in_use; }

extern "C" size_t TrsvDevicePeak(void) { return most_in_use; }

extern "C" void TrsvDeviceMark(void)
{
  (void)pthread_mutex_lock(&one_at_a_time);
  most_in_use = in_use;
  (void)pthread_mutex_unlock(&one_at_a_time);
}
