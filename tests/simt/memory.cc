/*
   Memory that threads share: words by relaxed loads, stores and atomics, and shared memory.
   With weak stores, only its own thread sees a store at first. The store reaches memory at some later time, after
   earlier stores to the same word and in any order with others; at the latest when the thread passes a barrier, or
   when no thread could continue without it. So two words that need an order, such as a value and a separate flag,
   become visible in either order. A load may return an earlier value of a word, unless its thread has seen the later
   value, or has acquired the present one, as by barriers.
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include "engine.h"

namespace simt {

struct Pending {
  Thread  *thread; /* NULL once it has ended */
  Launch  *launch;
  void    *address;
  uint64_t bits;
  unsigned size;
  uint64_t (*combine)(uint64_t, uint64_t); /* acquires the present values; NULL for a store */
};

/* An earlier value of a word. */
struct Past {
  const void *address;
  uint64_t    bits;
  unsigned    size;
  uint64_t    until; /* changes so far, this one among them */
};

enum {
  PASTS = 32
};

static std::deque<Pending> pending;
static Past                past[PASTS]; /* in turn */
static uint64_t            changes;
static uint8_t             has_past[256]; /* how many earlier values, by address */

static uint8_t &pasts_of(const void *p) { return has_past[((uintptr_t)p >> 2) & 255]; }

/* Words that tell the host of other words, in the running launches. */
static std::vector<std::pair<Launch *, const unsigned *>> flags;

void begin_memory()
{
  pending.clear();
  memset(past, 0, sizeof(past));
  memset(has_past, 0, sizeof(has_past));
  flags.clear();
}

void acquire() { running->floor = changes; }

/* The thread has seen the word's value since so many changes. */
static void know(Thread *t, const void *p, uint64_t since)
{
  for (unsigned i = 0; i < t->knows; i++)
    if (t->known[i] == p) {
      t->known_since[i] = std::max(t->known_since[i], since);
      return;
    }
  if (t->knows == Thread::remembered) t->floor = changes, t->knows = 0; /* less is found */
  t->known[t->knows]         = p;
  t->known_since[t->knows++] = since;
}

static uint64_t known(const Thread *t, const void *p)
{
  for (unsigned i = 0; i < t->knows; i++)
    if (t->known[i] == p) return std::max(t->floor, t->known_since[i]);
  return t->floor;
}

static void keep_past(const void *p, uint64_t bits, unsigned size)
{
  Past &oldest = past[++changes % PASTS];

  if (oldest.address) pasts_of(oldest.address)--;
  oldest = {p, bits, size, changes};
  pasts_of(p)++;
}

/* The value that a load returns: one time in four an earlier one, if it may. */
static uint64_t find(Thread *t, const void *p, uint64_t bits, unsigned size)
{
  if (quiet || !pasts_of(p)) return bits;
  for (uint64_t k = changes > PASTS ? changes - PASTS + 1 : 1; k <= changes; k++) {
    const Past &was = past[k % PASTS];

    if (was.address != p || was.size != size || was.until <= known(t, p) || random_below(4)) continue;
    know(t, p, was.until - 1);
    return was.bits;
  }
  know(t, p, changes);
  return bits;
}

void write(void *p, uint64_t bits, unsigned size)
{
  const uint64_t was = read(p, size);

  if (was == bits) return; /* no thread can tell */
  if (SimtSettings.weak) keep_past(p, was, size);
  if (size == 8) memcpy(p, &bits, 8);
  else if (size == 4) memcpy(p, &bits, 4);
  else memcpy(p, &bits, size);
  crosses(p, size);
  if (running) running->idle = 0;
  events++;
  wake(p);
}

/* The first pending store to the same address as the i-th. */
static void commit(size_t i)
{
  for (size_t k = 0; k < i; k++)
    if (pending[k].address == pending[i].address) {
      i = k;
      break;
    }
  const Pending p = pending[i];

  pending.erase(pending.begin() + (long)i);
  if (p.thread) p.thread->pending--;
  if (p.thread) know(p.thread, p.address, changes + 1);
  write(p.address, p.combine ? p.combine(read(p.address, p.size), p.bits) : p.bits, p.size);
}

bool commit_one()
{
  if (pending.empty()) return false;
  commit(random_below((unsigned)pending.size()));
  return true;
}

void commit_of(Thread *t, const void *address)
{
  for (size_t i = 0; t->pending && i < pending.size();) {
    if (pending[i].thread == t && (!address || pending[i].address == address)) {
      commit(i); /* perhaps another thread's to the same address: look here again */
      i = 0;
    } else i++;
  }
}

void commit_launch(const Launch *l)
{
  for (size_t i = 0; i < pending.size();)
    if (pending[i].launch == l) commit(i), i = 0;
    else i++;
}

void disown(Thread *t)
{
  for (size_t i = 0; t->pending && i < pending.size(); i++)
    if (pending[i].thread == t) {
      pending[i].thread = nullptr;
      t->pending--;
    }
}

void watch(Thread *t, const void *p, uint64_t bits, unsigned size)
{
  if (t->loads < Thread::watched) {
    t->address[t->loads] = p;
    t->bits[t->loads]    = bits;
    t->size[t->loads]    = (uint8_t)size;
  }
  if (t->loads <= Thread::watched) t->loads++;
}

uint64_t load(const void *p, unsigned size, Line at)
{
  may_yield();
  Thread *t = running;

  t->looked = at;

  for (size_t i = pending.size(); t->pending && i-- > 0;)
    if (pending[i].thread == t && pending[i].address == p) {
      if (!pending[i].combine) return pending[i].bits;
      commit_of(t, p);
      break;
    }
  uint64_t bits = read(p, size);
  if (SimtSettings.weak) bits = find(t, p, bits, size);
  watch(t, p, bits, size);
  return bits;
}

static bool inside(const Block *b, const void *p)
{
  for (const Variable &v : b->shared)
    if ((const char *)p >= v.memory && (const char *)p < v.memory + v.bytes) return true;
  return false;
}

void release() { commit_of(running, nullptr); }

/* Is this the store that is lost? */
static bool lost(const void *p)
{
  return SimtSettings.lose && !inside(running->block, p) && ++running->block->launch->stores == SimtSettings.lose &&
         (!SimtSettings.loser || strstr(kernel_name, SimtSettings.loser));
}

void store(void *p, uint64_t bits, unsigned size)
{
  may_yield();
  if (lost(p)) return;
  if (!SimtSettings.weak) {
    write(p, bits, size);
    return;
  }
  if (pending.size() >= 64) commit_one();
  pending.push_back({running, running->block->launch, p, bits, size, nullptr});
  running->pending++;
  if (read(p, size) != bits) running->idle = 0;
}

/* The host does not run beside a launch, so a store that it might miss is found here. */
void store_host(unsigned *p, unsigned v)
{
  for (const auto &f : flags)
    if (f.first == running->block->launch && p < f.second && (uintptr_t)p / 256 == (uintptr_t)f.second / 256)
      misuse("a word for the host is stored after the flag behind it");
  store(p, v, sizeof(v));
}

void release_host(unsigned *p, unsigned v)
{
  release();
  store(p, v, sizeof(v));
  flags.push_back({running->block->launch, p});
}

/* An atomic operation without a used result may be as late as a store. */
void reduce(void *p, uint64_t (*combine)(uint64_t, uint64_t), uint64_t operand, unsigned size)
{
  may_yield();
  if (lost(p)) return;
  if (!SimtSettings.weak) {
    write(p, combine(read(p, size), operand), size);
    return;
  }
  if (pending.size() >= 64) commit_one();
  pending.push_back({running, running->block->launch, p, operand, size, combine});
  running->pending++;
  running->idle = 0;
}

uint64_t atomic(Atomic what, void *p, uint64_t (*combine)(uint64_t, uint64_t), uint64_t operand, uint64_t compare,
                unsigned size)
{
  may_yield();
  commit_of(running, p);
  const uint64_t old = read(p, size);

  if (SimtSettings.weak) know(running, p, changes + 1);
  switch (what) {
  case COMBINE: write(p, combine(old, operand), size); break;
  case INCREMENT: write(p, old >= operand ? 0 : old + 1, size); break;
  case EXCHANGE: write(p, operand, size); break;
  case COMPARE:
    if (old == compare) write(p, operand, size);
    break;
  }
  return old;
}

void forget_shared(const Block *b)
{
  const auto ours = [&](const Pending &p) { return inside(b, p.address); };

  pending.erase(std::remove_if(pending.begin(), pending.end(), ours), pending.end());
}

/* Shared memory */

Variable &find_variable(Block *b, const void *key, size_t bytes, size_t align)
{
  for (Variable &v : b->shared)
    if (v.key == key) return v;
  const size_t line  = align > 128 ? align : 128, whole = (bytes + line - 1) / line * line;
  char        *memory = (char *)aligned_alloc(line, whole ? whole : line);

  if (!memory) {
    perror("simt: no memory for shared memory");
    exit(2);
  }
  memset(memory, 0xcd, whole);
  b->shared.push_back({key, memory, bytes});
  return b->shared.back();
}

void *shared_variable(const void *key, size_t bytes, size_t align)
{
  return find_variable(running->block, key, bytes, align).memory;
}

void *dynamic_shared()
{
  static const char key = 0;
  Block *const      b   = running->block;

  if (!b->dynamic) b->dynamic = find_variable(b, &key, b->launch->shared, 128).memory;
  return b->dynamic;
}

}
