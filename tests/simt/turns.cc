/*
   A second stack of the host, as in TrsvRunInterleaved(), whose two coroutines take turns. A wait for the device,
   which in the executor has always finished its work, ends a turn or does not, depending on the seed. So equal
   settings give equal runs, and the work between waits is done in many orders. The switches are the C library's; the
   sanitizer is informed of them, as in fiber.cc.
   A launch must be in the default stream of its coroutine, and a stream must have been waited for before it is
   destroyed.
*/
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include "cuda_runtime.h"
#include "engine.h"
#include "device/device.h"

#if defined(__SANITIZE_ADDRESS__)
  #include <sanitizer/asan_interface.h>
  #include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

static uint64_t random_state;
static unsigned changes; /* of the turn */
static void (*entry)(void);
static bool in_second, under_way; /* does the second coroutine run? Does its stream have work? */

#if defined(__SANITIZE_ADDRESS__)
static void       *fake[2];
static const void *stack[2];
static size_t      size[2];

static void tell(bool for_good)
{
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake[in_second], stack[!in_second], size[!in_second]);
}

static void there()
{
  __sanitizer_finish_switch_fiber(fake[in_second], in_second ? &stack[0] : nullptr, in_second ? &size[0] : nullptr);
}

static void made(const ucontext_t *c)
{
  __asan_unpoison_memory_region(c->uc_stack.ss_sp, c->uc_stack.ss_size);
  stack[1] = c->uc_stack.ss_sp;
  size[1]  = c->uc_stack.ss_size;
  fake[1]  = nullptr;
}
#else
static void tell(bool) {}
static void there() {}
static void made(const ucontext_t *) {}
#endif

static void leaving(bool for_good)
{
  tell(for_good);
  in_second = !in_second;
}

static void second()
{
  there();
  entry();
  changes++;
  leaving(true);
}

void launched()
{
  if (in_second != (TrsvCurrentStream() != nullptr)) fault("a launch in the default stream of the other coroutine");
  under_way |= in_second;
}

void waited(const void *stream)
{
  if (stream) under_way = false;
}

void stream_ends()
{
  if (under_way) fault("a stream is destroyed without a wait for it");
}

bool turn_ends()
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state >> 63;
}

} // namespace simt

extern "C" {

void SimtMakeContext(ucontext_t *context, void (*run)(void), int)
{
  static uint64_t begun;

  simt::random_state = (SimtSettings.seed + ++begun) * 0x9e3779b97f4a7c15ull | 1;
  simt::entry        = run;
  simt::made(context);
  (makecontext)(context, simt::second, 0);
}

int SimtSwapContext(ucontext_t *from, const ucontext_t *to)
{
  simt::changes++;
  simt::leaving(false);
  const int error = (swapcontext)(from, to);
  simt::there();
  return error;
}

unsigned SimtTurns(void) { return simt::changes; }
}
