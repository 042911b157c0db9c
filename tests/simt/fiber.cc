/*
   Fibers: the switch of fiber.h on x86-64, the C library's contexts elsewhere. Stacks are pooled, each above a page
   that faults.
*/
#include <sys/mman.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "fiber.h"

#if !defined(__x86_64__)
  #include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
  #include <sanitizer/asan_interface.h>
#endif

namespace simt {

extern const size_t stack_size = 64 << 10;
static const size_t guard      = 4 << 10;

static std::vector<void *> pool;

static void *take_stack()
{
  if (pool.empty()) {
    void *p =
      mmap(nullptr, guard + stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || mprotect(p, guard, PROT_NONE)) {
      perror("simt: no memory for a stack");
      exit(2);
    }
    return (char *)p + guard;
  }
  void *p = pool.back();
  pool.pop_back();
  return p;
}

/* Stacks that begin at the same offset in a page would share a few sets of the cache. */
static size_t color()
{
  static unsigned n;
  return 64 * (n++ % 61);
}

#if defined(__x86_64__)
void *scheduler_top;

static void prepare(Fiber &f, void (*entry)())
{
  void **p = (void **)((char *)f.stack + stack_size - 64 - color());

  *--p = nullptr; /* where entry would return to; keeps the stack aligned as at a call */
  *--p = (void *)entry;
  f.top = p;
}

static void release(Fiber &) {}
[[maybe_unused]] static void *bottom(const Fiber &f) { return f.top; } /* of what the fiber has on its stack */
#else
static ucontext_t scheduler;

static void prepare(Fiber &f, void (*entry)())
{
  ucontext_t *c = new ucontext_t;

  getcontext(c);
  c->uc_stack.ss_sp   = f.stack;
  c->uc_stack.ss_size = stack_size - color();
  c->uc_link          = nullptr;
  makecontext(c, entry, 0);
  f.top = c;
}

void fiber_run(Fiber &f) { swapcontext(&scheduler, (ucontext_t *)f.top); }
void fiber_leave(Fiber &f) { swapcontext((ucontext_t *)f.top, &scheduler); }
static void release(Fiber &f) { delete (ucontext_t *)f.top; }
[[maybe_unused]] static void *bottom(const Fiber &f) { return f.stack; }
#endif

static void (*entry_of)();

static void first()
{
  entry_of();
  abort();
}

void fiber_start(Fiber &f, void (*entry)())
{
  entry_of = entry;
  f.stack  = take_stack();
  prepare(f, first);
}

void fiber_end(Fiber &f)
{
  if (!f.stack) return;
#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
  /* functions that will not return */
  __asan_unpoison_memory_region(bottom(f), (size_t)((char *)f.stack + stack_size - (char *)bottom(f)));
#endif
  release(f);
  pool.push_back(f.stack);
  f.stack = nullptr;
}

} // namespace simt
