/*
   The SIMT executor: who runs when, which blocks are there, what counts as stuck.

   Threads are fibers. One runs until it waits, ends, or is pre-empted at a shared access; then the policy says who is next. A
   thread that polled in vain runs again only once one of the words that it looked at has changed. If nobody is left to run, all poll
   once more, a few times over, in case they look at different words in turn; when that changes nothing, nothing ever will.

   A poll may be less than all that the thread does before it comes back to it: others of its warp may wait for it in a collective, with work
   of their own behind that, on which the word depends. As long as threads elsewhere keep each other awake, "nobody is left" is never
   the case; so now and then everybody polls once more.
*/
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include "device/device.h"
#include "engine.h"

SimtOptions SimtSettings = {1, SIMT_ROUNDS_SHUFFLED, SIMT_BLOCKS_FORWARD, 4, 2, 4, 0, 0, 0, 0, 0, 0, nullptr};

namespace simt {

Place                *here;
Thread               *running;
dim3                  grid_size, block_size;
std::vector<Block *>  resident;
uint64_t              events, clock_ns = 1;
bool                  failed, quiet;
size_t                dynamic_bytes;

static const size_t shared_of_multiprocessor = 228 << 10;

static uint64_t    random_state, switches;
static unsigned    launches;
static int64_t     serial;
static char        report[1024], kept[1024];
const char *kernel_name;
static void      (*kernel_run)(void *);
static void       *kernel_arguments;

static std::vector<unsigned> order;   /* clusters, in the order in which they start */
static unsigned              started, cluster, capacity;
static bool                  emptied; /* has a block ended? */

uint64_t random_bits()
{
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545f4914f6cdd1dull;
}

unsigned random_below(unsigned n) { return (unsigned)((random_bits() >> 32) * n >> 32); }

template <class T> static void shuffle(std::vector<T> &v)
{
  for (size_t i = v.size(); i > 1; i--) std::swap(v[i - 1], v[random_below((unsigned)i)]);
}

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
  for (;;) fiber_leave(running->fiber, false);
}

const dim3 &block_index() { return running->block->index; }

unsigned lane() { return running->lane; }

Block::~Block()
{
  for (unsigned i = 0; i < threads; i++) fiber_end(thread[i].fiber);
  for (Variable &v : shared) free(v.memory);
}

/* The processor changes hands */

void yield(State s)
{
  running->state = s;
  fiber_leave(running->fiber, s == ENDED);
}

void may_yield()
{
  if (++running->idle > 1024) { /* a spin that never pauses */
    running->loads = Thread::watched + 1;
    pause();
  } else if (SimtSettings.preempt && !quiet && !random_below((unsigned)SimtSettings.preempt)) {
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

static void body()
{
  kernel_run(kernel_arguments);
  yield(ENDED);
}

static void resume(Thread *t)
{
  running  = t;
  here     = t;
  t->state = READY;
  t->block->begun = true;
  switches++;
  clock_ns += 10;
  fiber_run(t->fiber);
  running = nullptr;
  if (t->state == READY && !failed) make_ready(t);
  if (t->state == POLLED) sleep(t);
  if (t->state != ENDED) return;
  fiber_end(t->fiber);
  events++;
  if (!--t->block->live) emptied = true;
  thread_ended(t);
}

/* Blocks come and go */

static Block *make_block(unsigned index, unsigned rank)
{
  Block *b = new Block;

  b->index    = dim3(index % grid_size.x, index / grid_size.x % grid_size.y, index / grid_size.x / grid_size.y);
  b->rank     = rank;
  b->threads  = b->live = block_size.x * block_size.y * block_size.z;
  b->priority = (int64_t)(random_bits() >> 2);
  b->thread.reset(new Thread[b->threads]);
  b->warp.resize((b->threads + 31) / 32);
  for (Warp &w : b->warp) w.priority = (int64_t)(random_bits() >> 2);
  if (b->threads % 32) b->warp.back().ended = ~0u << b->threads % 32;
  for (unsigned i = 0; i < b->threads; i++) {
    Thread &t = b->thread[i];

    t.index    = dim3(i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y);
    t.block    = b;
    t.warp     = i / 32;
    t.lane     = i % 32;
    t.priority = (int64_t)(random_bits() >> 2);
    t.serial   = ++serial;
    fiber_start(t.fiber, body);
  }
  return b;
}

static bool start_cluster()
{
  if (started == order.size() || resident.size() + cluster > std::max(capacity, cluster)) return false;

  std::vector<Block *> members;
  for (unsigned r = 0; r < cluster; r++) members.push_back(make_block(order[started] * cluster + r, r));
  for (Block *b : members) b->cluster = members;
  resident.insert(resident.end(), members.begin(), members.end());
  for (Block *b : members)
    for (unsigned i = 0; i < b->threads; i++) make_ready(&b->thread[i]);
  started++;
  return true;
}

static void retire()
{
  auto ended = [](Block *b) { return std::all_of(b->cluster.begin(), b->cluster.end(), [](Block *m) { return !m->live; }); };

  if (!emptied) return;
  emptied = false;
  auto gone = std::stable_partition(resident.begin(), resident.end(), [&](Block *b) { return !ended(b); });

  std::vector<Block *> dead(gone, resident.end());
  resident.erase(gone, resident.end());
  for (Block *b : dead) {
    forget_shared(b); /* its threads disowned what they have not seen stored */
    delete b;
  }
}

template <class F> static void each_thread(F f)
{
  for (Block *b : resident)
    for (unsigned i = 0; i < b->threads; i++) f(&b->thread[i]);
}

static void report_deadlock()
{
  unsigned    count[ENDED + 1] = {0};
  char        text[400]        = "";
  size_t      length           = 0;
  const char *last             = "";

  each_thread([&](Thread *t) {
    const char *doing = t->state == POLLED ? "polls" : t->doing;

    count[t->state]++;
    if (t->state == ENDED || length > sizeof(text) - 100 || doing == last) return;
    last = doing;
    length += (size_t)snprintf(text + length, sizeof(text) - length, "; block %u thread %u %s", t->block->index.x, t->index.x, doing);
    if (t->state != POLLED) length += (size_t)snprintf(text + length, sizeof(text) - length, " (line %u)", t->line);
  });
  fail("deadlock: %u threads poll, %u wait in a collective, %u at a barrier of the block, %u of the cluster; %zu of %zu blocks have started%s", count[POLLED], count[COLLECTIVE], count[BARRIER], count[CLUSTER], (size_t)started * cluster, order.size() * cluster, text);
}

/* Nobody can go on: all poll again, in case they look at different words in turn. Under a bound, time passes meanwhile. */
static void all_poll()
{
  const unsigned rounds = SimtSettings.bounded ? 1u << 17 : 64;

  quiet = true;
  for (unsigned r = 0; r < rounds; r++) {
    const uint64_t before = events;
    bool           polled = false, moved = false;

    if (SimtSettings.bounded) clock_ns += 10000000;
    each_thread([&](Thread *t) {
      if (t->state != POLLED || failed) return;
      polled = true;
      rouse_to_poll(t);
      resume(t);
      moved = moved || t->state != POLLED;
    });
    if (moved || failed || events != before) {
      quiet = false;
      return;
    }
    if (!polled) break;
  }
  quiet = false;
  report_deadlock();
}

static void run_all()
{
  enum { TURNS = 8192 }; /* between two polls of those whom no word has woken */
  uint64_t after = switches + TURNS;

  while (!failed) {
    if (switches > after) {
      after = switches + TURNS;
      each_thread([](Thread *t) {
        if (t->state != POLLED) return;
        rouse_to_poll(t);
        make_ready(t);
      });
    }
    retire();
    if (resident.empty() && started == order.size()) break;
    /* a block may start late */
    if (SimtSettings.order == SIMT_BLOCKS_FORWARD || !random_below(8)) start_cluster();
    if (SimtSettings.weak && !random_below(8)) commit_one();
    if (!random_below(8)) deliver_one(true);
    Thread *t = next();
    if (t) {
      resume(t);
      if (switches > after) drop_priority(t, true); /* whoever polls in vain, woken by what it does itself, is not to starve the others for ever */
    } else if (!start_cluster() && !commit_one() && !deliver_one(true)) all_poll();
  }
}

void launch(const char *kernel, unsigned cluster_blocks, dim3 grid, dim3 block, size_t shared, void (*run)(void *), void *arguments)
{
  const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, threads = (uint64_t)block.x * block.y * block.z;

  if (running) misuse("a launch inside a kernel");
  failed      = false;
  kernel_name = kernel;
  launches++;
  if (!blocks || !threads || threads > 1024 || blocks > 0x7fffffff || grid.y > 65535 || grid.z > 65535) fail("a grid of %u x %u x %u blocks of %u x %u x %u threads cannot be launched", grid.x, grid.y, grid.z, block.x, block.y, block.z);
  if (!cluster_blocks || cluster_blocks > 16 || blocks % (cluster_blocks ? cluster_blocks : 1)) fail("%llu blocks in clusters of %u cannot be launched", (unsigned long long)blocks, cluster_blocks);
  if (shared > TrsvDeviceGetLimits().shared_bytes) fail("%zu bytes of shared memory are more than a block may have", shared);
  if (!failed) {
    const size_t fit = shared ? shared_of_multiprocessor / (shared + 1024) : 32;

    grid_size        = grid;
    block_size       = block;
    cluster          = cluster_blocks;
    dynamic_bytes    = shared;
    kernel_run       = run;
    kernel_arguments = arguments;
    random_state     = (SimtSettings.seed + launches) * 0x9e3779b97f4a7c15ull | 1;
    capacity         = (unsigned)std::max<size_t>(1, std::min((size_t)SimtSettings.resident, fit * (size_t)SimtSettings.multiprocessors));
    started          = 0;
    serial           = 0;
    emptied          = false;
    order.resize(blocks / cluster);
    for (unsigned i = 0; i < order.size(); i++) order[i] = SimtSettings.order == SIMT_BLOCKS_BACKWARD ? (unsigned)order.size() - 1 - i : i;
    if (SimtSettings.order == SIMT_BLOCKS_SHUFFLED) shuffle(order);
    begin_queue();
    begin_memory();
    begin_async();
    run_all();
    while (commit_one()) { }
  }
  for (Block *b : resident) delete b;
  resident.clear();
  if (failed) memcpy(kept, report, sizeof(kept));
}

bool take_failure() { return std::exchange(failed, false); }

}

extern "C" {

static int device_old, device_shared;

void SimtDefaults(void)
{
  SimtSettings        = {1, SIMT_ROUNDS_SHUFFLED, SIMT_BLOCKS_FORWARD, 4, 2, 4, 0, 0, 0, 0, 0, 0, nullptr};
  SimtSettings.old    = device_old;
  SimtSettings.shared = device_shared;
}

void SimtDevice(int old, int shared)
{
  device_old    = old;
  device_shared = shared;
  SimtDefaults();
}

void SimtSchedule(unsigned k)
{
  static const int resident[] = {4, 1, 8, 2, 3}, preempt[] = {4, 0, 32, 1};

  SimtDefaults();
  SimtSettings.seed     = 1 + 1000003ull * k;
  SimtSettings.policy   = (SimtPolicy)((k + 2) % SIMT_POLICIES);
  SimtSettings.order    = (SimtOrder)((k + k / SIMT_POLICIES + 1) % SIMT_ORDERS);
  SimtSettings.resident = resident[k % 5];
  SimtSettings.preempt  = preempt[(k + k / 4) % 4];
  SimtSettings.weak     = (k + k / 2) % 2;
}

const char *SimtReport(void) { return simt::kept; }
void        SimtForget(void) { simt::kept[0] = 0; }
unsigned    SimtLaunches(void) { return simt::launches; }
uint64_t    SimtSwitches(void) { return simt::switches; }
uint64_t    SimtNanoseconds(void) { return simt::clock_ns; }

}
