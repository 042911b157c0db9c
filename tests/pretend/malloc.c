/*
   malloc() and the like of src/kernels, by the linker's --wrap: they are counted, and one of them can be made to
   fail. Only the executor calls aligned_alloc(), which does not fail.
*/
#include <stddef.h>
#include <stdatomic.h>
#include "failures.h"

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
void  __real_free(void *);

static long        until;
static int         failed;
static atomic_long live;

void PretendFailMalloc(long call)
{
  until  = call;
  failed = 0;
}

int  PretendMallocFailed(void) { return failed; }
long PretendMallocLive(void) { return live; }

static int Fails(void)
{
  if (until && !--until) failed = 1;
  else return 0;
  return 1;
}

static void *Count(void *p)
{
  if (p) live++;
  return p;
}

void *__wrap_malloc(size_t bytes) { return Fails() ? NULL : Count(__real_malloc(bytes)); }
void *__wrap_calloc(size_t n, size_t bytes) { return Fails() ? NULL : Count(__real_calloc(n, bytes)); }
void *__wrap_aligned_alloc(size_t align, size_t bytes) { return Count(__real_aligned_alloc(align, bytes)); }

void *__wrap_realloc(void *old, size_t bytes)
{
  void *const p = Fails() ? NULL : __real_realloc(old, bytes);

  return old ? p : Count(p);
}

void __wrap_free(void *p)
{
  if (p) live--;
  __real_free(p);
}
