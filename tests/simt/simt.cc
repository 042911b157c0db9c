/*
   The SIMT executor: the choice of the running thread, and the detection of deadlocks.
   Threads are fibers. A thread runs until it waits, ends, or is pre-empted at a shared access; then the policy
   chooses the next. A thread that polled without success runs again only after one of the words that it read has
   changed. If no thread can run, all poll once more, several times, in case they poll different words in turn; if
   that changes nothing, it is a deadlock. Votes of a warp between two polls change nothing, nor does time.
   A poll may be a part of what the thread does before it polls again: other lanes of its warp may wait for it in a
   collective, with later work on which the word depends. As long as other threads keep waking each other, there is
   always a thread that can run; so at intervals all threads poll once more.
*/
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include "engine.h"

#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
  #include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

Place               *here;
Thread              *running;
std::vector<Block *> resident;
uint64_t             events, clock_ns = (1ull << 51) + 1; /* the highest bit of those in which progress is noted */
bool                 failed, quiet;
const char          *kernel_name;

uint64_t        random_now;
static uint64_t switches;
static char     report[1024];

void seed(unsigned launch) { random_now = (SimtSettings.seed + launch) * 0x9e3779b97f4a7c15ull | 1; }

void fail(const char *format, ...)
{
  va_list a;

  if (failed) return;
  failed      = true;
  const int n = snprintf(report, sizeof(report), "%s: ", kernel_name);
  va_start(a, format);
  (void)vsnprintf(report + n, sizeof(report) - (size_t)n, format, a);
  va_end(a);
}

void misuse(const char *format, ...)
{
  char    text[512];
  va_list a;

  va_start(a, format);
  (void)vsnprintf(text, sizeof(text), format, a);
  va_end(a);
  fail("%s; block %u, thread %u", text, running->block->index.x, running->index.x);
  for (;;) fiber_leave(running->fiber);
}

const dim3 &block_index() { return running->block->index; }

unsigned lane() { return running->lane; }

/* Switches of the processor */

void give_way()
{
  if (running->idle > 1024) { /* a spin without a pause */
    running->loads = Thread::watched + 1;
    pause();
  } else {
    drop_priority(running, false);
    yield(READY);
  }
}

void pause()
{
  running->idle = 0;
  yield(POLLED);
  running->loads = 0;
}

uint64_t nanoseconds() { return clock_ns; }

void body()
{
  Launch *const l = running->block->launch;

  l->run(l->arguments.get());
  yield(ENDED);
}

static void resume(Thread *t)
{
  running         = t;
  here            = t;
  kernel_name     = t->block->launch->kernel;
  t->state        = READY;
  t->block->begun = true;
  switches++;
  clock_ns += SimtSettings.tick;
  fiber_run(t->fiber);
  running = nullptr;
  if (t->state == READY && !failed) make_ready(t);
  if (t->state == POLLED) sleep(t);
  if (t->state != ENDED) return;
  fiber_end(t->fiber);
  events++;
  t->block->live--;
  thread_ended(t);
  if (!t->block->live) block_ended(t->block);
}

template <class F> static void each_thread(F f)
{
  for (Block *b : resident)
    for (unsigned i = 0; i < b->threads; i++) f(&b->thread[i]);
}

static const char *file_of(const Line &at)
{
  const char *slash = strrchr(at.file_name(), '/');

  return slash ? slash + 1 : at.file_name();
}

static void report_deadlock()
{
  unsigned    count[ENDED + 1] = {0};
  char        text[500]        = "";
  size_t      length           = 0;
  const char *last             = "";
  unsigned    last_line        = 0;

  each_thread([&](Thread *t) {
    const bool     polls = t->state == POLLED;
    const char    *doing = polls ? file_of(t->looked) : t->doing;
    const unsigned line  = polls ? t->looked.line() : t->line;

    count[t->state]++;
    if (t->state == ENDED || t->state == READY || length > sizeof(text) - 100 || (doing == last && line == last_line))
      return;
    last      = doing;
    last_line = line;
    length += (size_t)snprintf(text + length, sizeof(text) - length, "; block %u thread %u %s%s%sline %u)",
                               t->block->index.x, t->index.x, polls ? "polls (" : "", doing, polls ? ", " : " (", line);
  });
  fail(
    "deadlock: %u threads poll, %u wait in a collective, %u at a barrier of the block, %u of the cluster, %u for the "
    "launch before; %u of %u blocks have started%s",
    count[POLLED], count[COLLECTIVE], count[BARRIER], count[CLUSTER], count[PREVIOUS], blocks_started(), blocks_asked(),
    text);
}

/* No thread can continue: all poll again, in case they poll different words in turn. If waits are bounded, time passes
   meanwhile. */
static void all_poll()
{
  static uint64_t since; /* events at the last successful round */
  static unsigned vain;  /* rounds */
  const unsigned  rounds = SimtSettings.bounded ? 1u << 17 : 64;
  bool            polled = true, moved = false;

  if (since != events) vain = 0;
  quiet = true;
  while (polled && !moved && !failed && vain < rounds) {
    const uint64_t before = events;

    vain++;
    polled = false;
    if (SimtSettings.bounded) clock_ns += 10000000;
    each_thread([&](Thread *t) {
      if (t->state != POLLED || failed) return;
      polled = true;
      rouse_to_poll(t);
      resume(t);
      moved = moved || t->state != POLLED;
    });
    moved = moved || events != before || commit_one(); /* their stores in the meantime */
  }
  quiet = false;
  since = events;
  if (!moved || vain == rounds) report_deadlock();
}

/* An endless vote: no thread of it pauses. */
static void await_event(Thread *t)
{
  enum { MOST = 50000 };

  if (t->voted != events) t->voted = events, t->votes = 0;
  if (++t->votes > MOST) report_deadlock();
}

void run_all()
{
  enum { TURNS = 8192, TURNS_OF_EACH = 16 };                  /* between two polls of threads that no word has woken */
  const unsigned late        = SimtSettings.weak > 1 ? 8 : 3; /* 8: when almost no thread can continue without it */
  uint64_t       after       = switches + TURNS, random;
  const auto     one_in_2_to = [&](unsigned bits) {
    const bool hit = !(random << (64 - bits));

    random >>= bits;
    return hit;
  };

  while (!failed) {
    if (switches > after) {
      after = switches + TURNS;
      each_thread([&](Thread *t) {
        after += TURNS_OF_EACH; /* so that a poll of all threads lets the last ones run */
        if (t->state != POLLED) return;
        rouse_to_poll(t);
        make_ready(t);
      });
    }
    retire();
    if (all_over()) break;
    random = random_bits() >> 32;
    /* a block may start late */
    if (one_in_2_to(3) || SimtSettings.order == SIMT_BLOCKS_FORWARD) start_cluster();
    if (one_in_2_to(late) && SimtSettings.weak) commit_one();
    if (one_in_2_to(late)) deliver_one(true);
    if (one_in_2_to(8)) show();
    Thread *t = next();
    if (t) {
      resume(t);
      if (t->state == COLLECTIVE) await_event(t);
      if (switches > after) drop_priority(t, true); /* a thread that polls without success must not starve others */
    } else if (!start_cluster() && !commit_one() && !deliver_one(true) && !show()) all_poll();
  }
}

bool take_failure() { return std::exchange(failed, false); }

} // namespace simt

extern "C" {

const char *SimtReport(void) { return simt::report; }
void        SimtForget(void) { simt::report[0] = 0; }
uint64_t    SimtSwitches(void) { return simt::switches; }
uint64_t    SimtNanoseconds(void) { return simt::clock_ns; }

#if defined(__SANITIZE_ADDRESS__) || defined(SIMT_SANITIZED)
/* The address sanitizer gets the bounds of a fiber's stack when it reports an error: it needs them for the trace. A
   call at every switch would take 15 % of the time. Its warning about __asan_handle_no_return, from misuse(), means
   nothing: fiber_end() cleans the stack. */
__attribute__((visibility("default"))) void __asan_on_error(void)
{
  if (!simt::running) return;
  __sanitizer_start_switch_fiber(nullptr, simt::running->fiber.stack, simt::stack_size);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
}
#endif
}
