/*
   The next thread: a queue of the threads that can run, ordered by the policy, and the words for which the others
   wait. A thread that polled without success sleeps until one of the words that it read changes, because until then
   it would read the same values.
*/
#include <algorithm>
#include <utility>
#include "engine.h"

SimtOptions SimtSettings = {
    1, SIMT_ROUNDS_SHUFFLED, SIMT_BLOCKS_FORWARD, 4, 2, 4, 0, 0, 0, 0, 0, 0, nullptr, 0, SIMT_TOGETHER, 0, 10};

namespace simt {

struct Ready {
  uint64_t key; /* the smallest comes first */
  Thread  *thread;
};

struct Sleeper {
  const void *address;
  Thread     *thread;
};

/* With SIMT_ROUNDS_SHUFFLED a thread gets a turn, and waits in the list of its turn. The lists are a ring. */
static std::vector<Thread *> turns(1024);
static uint64_t              turn;     /* lists of earlier turns are empty */
static size_t                shuffled; /* threads in all lists */

static std::vector<Ready>    queue; /* otherwise; a heap: none comes before its parent, (i - 1) / 2 */
static std::vector<Sleeper>  bucket[1024];
static std::vector<Thread *> sleepers; /* that any event may wake */
static uint64_t              slept;    /* events at the start of their sleep */
static uint32_t              round_now, last;
static uint64_t              sequence;
static int32_t               lowest;

void begin_queue()
{
  if (shuffled) std::fill(turns.begin(), turns.end(), nullptr);
  shuffled = turn = 0;
  queue.clear();
  sleepers.clear();
  for (auto &b : bucket) b.clear();
  round_now = last = sequence = lowest = 0;
}

static std::vector<Sleeper> &bucket_of(const void *address)
{
  return bucket[((uintptr_t)address >> 2) * 0x9e3779b97f4a7c15ull >> 54];
}

int32_t any_priority() { return (int32_t)(random_bits() >> 33); }

/* The warp of the role comes first, or last; so may the blocks that started first. */
static int32_t role_priority(const Thread *t)
{
  const bool    is_role = t->warp == SimtSettings.role % t->block->warp.size();
  const int32_t warp = is_role == (SimtSettings.policy == SIMT_WARP_FIRST), block = 2 * (int32_t)t->block->serial;

  if (SimtSettings.blocks == SIMT_TOGETHER) return warp;
  return SimtSettings.blocks == SIMT_FIRST_FIRST ? warp - block : warp + block;
}

static int32_t priority(const Thread *t)
{
  switch (SimtSettings.policy) {
  case SIMT_PRIORITY_THREAD: return t->priority;
  case SIMT_PRIORITY_WARP: return t->block->warp[t->warp].priority;
  case SIMT_PRIORITY_BLOCK: return t->block->priority;
  default: return role_priority(t);
  }
}

/* A thread is pre-empted and gets the last priority; its warp or its block does, too, always or sometimes. */
void drop_priority(Thread *t, bool certain)
{
  if (SimtSettings.policy == SIMT_PRIORITY_THREAD) t->priority = --lowest;
  if (SimtSettings.policy == SIMT_PRIORITY_WARP && (certain || !random_below(16)))
    t->block->warp[t->warp].priority = --lowest;
  if (SimtSettings.policy == SIMT_PRIORITY_BLOCK && (certain || !random_below(64))) t->block->priority = --lowest;
}

static void rise(size_t i, const Ready &r)
{
  for (; i && r.key < queue[(i - 1) / 2].key; i = (i - 1) / 2) queue[i] = queue[(i - 1) / 2];
  queue[i] = r;
}

/* Takes the first one. The place that it leaves goes down to the end of the heap; no branch depends on the keys. */
static Ready pop()
{
  const Ready  top = queue.front(), last_one = queue.back();
  const size_t n = queue.size() - 1;
  Ready *const q = queue.data();
  size_t       i = 0;

  queue.pop_back();
  if (!n) return top;
  for (size_t c; (c = 2 * i + 1) + 1 < n; i = c) {
    c += q[c + 1].key < q[c].key;
    q[i] = q[c];
  }
  if (2 * i + 1 < n) q[i] = q[2 * i + 1], i = 2 * i + 1;
  rise(i, last_one);
  return top;
}

static Thread *&list_of(uint64_t t) { return turns[t & (turns.size() - 1)]; }

static void put(Thread *t)
{
  t->after         = list_of(t->turn);
  list_of(t->turn) = t;
}

/* A thread waits for at most twice as many turns as there are threads that can run. Turns that have come follow the
   first thread's turn by at most the number of threads, as a thread that has come since still waits. So all turns are
   fewer than four for each thread. */
static void shuffle(Thread *t)
{
  if (turns.size() < 4 * (shuffled + 1)) {
    const std::vector<Thread *> before = std::exchange(turns, std::vector<Thread *>(2 * turns.size()));

    for (Thread *first : before) /* the threads of a list have one turn */
      if (first) list_of(first->turn) = first;
  }
  t->turn = ++sequence + random_below(2 * (unsigned)shuffled++ + 1);
  turn    = std::min(turn, t->turn);
  put(t);
}

static Thread *next_shuffled()
{
  if (!shuffled) return nullptr;
  while (!list_of(turn)) turn++;
  Thread *const t = list_of(turn);

  list_of(turn) = t->after;
  shuffled--;
  return t;
}

/* The larger the priority, the smaller its rank */
static uint32_t rank(const Thread *t) { return INT32_MAX - (uint32_t)priority(t); }

static void push(Thread *t)
{
  uint32_t first, second;

  if (SimtSettings.policy >= SIMT_PRIORITY_THREAD) {
    first  = rank(t);
    second = (uint32_t)++sequence; /* equal priorities take turns */
  } else {
    second = SimtSettings.policy == SIMT_ROUNDS_FORWARD ? t->serial : ~t->serial;
    first  = second > last ? round_now : round_now + 1;
  }
  queue.push_back({});
  rise(queue.size() - 1, {(uint64_t)first << 32 | second, t});
}

void make_ready(Thread *t)
{
  t->state = READY;
  if (SimtSettings.policy == SIMT_ROUNDS_SHUFFLED) shuffle(t);
  else push(t);
}

Thread *next()
{
  if (!sleepers.empty() && slept != events) {
    for (Thread *t : std::exchange(sleepers, {})) make_ready(t);
  }
  if (SimtSettings.policy == SIMT_ROUNDS_SHUFFLED) return next_shuffled();
  while (!queue.empty()) {
    const Ready r = pop();

    round_now = (uint32_t)(r.key >> 32);
    last      = (uint32_t)r.key;
    if (SimtSettings.policy < SIMT_PRIORITY_THREAD || round_now == rank(r.thread)) return r.thread;
    push(r.thread); /* its priority has changed since */
  }
  return nullptr;
}

/* A thread has polled without success. */
void sleep(Thread *t)
{
  if (t->loads > Thread::watched || !t->loads) {
    sleepers.push_back(t);
    slept = sleepers.size() == 1 ? events : std::min(slept, events);
    return;
  }
  for (unsigned i = 0; i < t->loads; i++)
    if (read(t->address[i], t->size[i]) != t->bits[i]) {
      make_ready(t);
      return;
    }
  for (unsigned i = 0; i < t->loads; i++) bucket_of(t->address[i]).push_back({t->address[i], t});
  t->asleep = true;
}

/* Takes it off all lists. */
static void rouse(Thread *t)
{
  for (unsigned i = 0; i < t->loads; i++) {
    auto &b = bucket_of(t->address[i]);

    b.erase(std::remove_if(b.begin(), b.end(), [&](const Sleeper &s) { return s.thread == t; }), b.end());
  }
  t->asleep = false;
}

void rouse_to_poll(Thread *t)
{
  if (t->asleep) rouse(t);
  else sleepers.erase(std::remove(sleepers.begin(), sleepers.end(), t), sleepers.end());
}

void wake(const void *address)
{
  auto &b = bucket_of(address);

  if (b.empty()) return;
  static std::vector<Thread *> woken;
  auto gone = std::stable_partition(b.begin(), b.end(), [&](const Sleeper &s) { return s.address != address; });

  woken.clear();
  for (auto s = gone; s != b.end(); ++s) woken.push_back(s->thread);
  b.erase(gone, b.end());
  for (Thread *t : woken) {
    if (!t->asleep) continue; /* it was listed twice */
    if (t->loads > 1) rouse(t);
    t->asleep = false;
    make_ready(t);
  }
}

}

extern "C" {

static int device_old, device_shared;

void SimtDefaults(void)
{
  SimtSettings = {1, SIMT_ROUNDS_SHUFFLED, SIMT_BLOCKS_FORWARD, 4, 2, 4, 0, 0, 0, 0, 0, 0, nullptr, 0, SIMT_TOGETHER,
                  0, 10};
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
  const unsigned   turn = k / SIMT_POLICIES; /* how many times each policy has been used */

  SimtDefaults();
  SimtSettings.seed     = 1 + 1000003ull * k;
  SimtSettings.policy   = (SimtPolicy)((k + 2) % SIMT_POLICIES);
  SimtSettings.order    = (SimtOrder)((k + turn * 2 + 1) % SIMT_ORDERS);
  SimtSettings.resident = resident[k % 5];
  SimtSettings.preempt  = preempt[(k + k / 4 + turn) % 4];
  SimtSettings.weak     = (int)((k + k / 4 + turn / 3) % 3);
  SimtSettings.role     = turn;
  SimtSettings.blocks   = (SimtBlocks)((k + turn / 12) % SIMT_BLOCKS);
}

}
