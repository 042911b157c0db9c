/*
   What threads share: words by relaxed loads, stores and atomics, and shared memory.

   With weak stores, a store is first seen by its own thread only. It reaches memory at some later time, after earlier ones to
   the same word and in any order with others; at the latest where the thread passes a barrier, or where nobody could go on
   without it. So two words that need an order, such as a value and a separate flag, come apart.
*/
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include "engine.h"

namespace simt {

struct Pending {
  Thread  *thread; /* NULL once it has ended */
  void    *address;
  uint64_t bits;
  unsigned size;
  uint64_t (*combine)(uint64_t, uint64_t); /* with what is there by then; NULL for a store */
};

static std::deque<Pending> pending;
static long                stores; /* of this launch */

void begin_memory()
{
  pending.clear();
  stores = 0;
}

static uint64_t read(const void *p, unsigned size)
{
  uint64_t bits = 0;

  if (size == 8) memcpy(&bits, p, 8);
  else memcpy(&bits, p, size);
  return bits;
}

void write(void *p, uint64_t bits, unsigned size)
{
  if (read(p, size) == bits) return; /* nobody can tell */
  memcpy(p, &bits, size);
  if (running) running->idle = 0;
  events++;
  wake(p);
}

/* The first of those to the same address as the i-th. */
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

void disown(Thread *t)
{
  for (size_t i = 0; t->pending && i < pending.size(); i++)
    if (pending[i].thread == t) {
      pending[i].thread = nullptr;
      t->pending--;
    }
}

void forget_shared(const Block *b)
{
  const auto inside = [&](const Pending &p) {
    return std::any_of(b->shared.begin(), b->shared.end(), [&](const Variable &v) { return (const char *)p.address >= v.memory && (const char *)p.address < v.memory + v.bytes; });
  };

  pending.erase(std::remove_if(pending.begin(), pending.end(), inside), pending.end());
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

uint64_t load(const void *p, unsigned size)
{
  may_yield();
  Thread *t = running;

  for (size_t i = pending.size(); t->pending && i-- > 0;)
    if (pending[i].thread == t && pending[i].address == p) {
      if (!pending[i].combine) return pending[i].bits;
      commit_of(t, p);
      break;
    }
  const uint64_t bits = read(p, size);
  watch(t, p, bits, size);
  return bits;
}

/* Does the word lie in the shared memory of the running thread's block? */
static bool own_shared(const void *p)
{
  for (const Variable &v : running->block->shared)
    if ((const char *)p >= v.memory && (const char *)p < v.memory + v.bytes) return true;
  return false;
}

/* All that the thread has stored is seen before what it stores next. */
void release() { commit_of(running, nullptr); }

/* Is this the store that never arrives? */
static bool lost(const void *p) { return SimtSettings.lose && (!SimtSettings.loser || strstr(kernel_name, SimtSettings.loser)) && !own_shared(p) && ++stores == SimtSettings.lose; }

void store(void *p, uint64_t bits, unsigned size)
{
  may_yield();
  if (lost(p)) return;
  if (!SimtSettings.weak) {
    write(p, bits, size);
    return;
  }
  if (pending.size() >= 64) commit_one();
  pending.push_back({running, p, bits, size, nullptr});
  running->pending++;
  if (read(p, size) != bits) running->idle = 0;
}

/* An atomic operation whose result nobody asks for may be as late as a store. */
void reduce(void *p, uint64_t (*combine)(uint64_t, uint64_t), uint64_t operand, unsigned size)
{
  may_yield();
  if (lost(p)) return;
  if (!SimtSettings.weak) {
    write(p, combine(read(p, size), operand), size);
    return;
  }
  if (pending.size() >= 64) commit_one();
  pending.push_back({running, p, operand, size, combine});
  running->pending++;
  running->idle = 0;
}

uint64_t atomic(Atomic what, void *p, uint64_t (*combine)(uint64_t, uint64_t), uint64_t operand, uint64_t compare, unsigned size)
{
  may_yield();
  commit_of(running, p);
  const uint64_t old = read(p, size);

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

void *shared_variable(const void *key, size_t bytes, size_t align) { return find_variable(running->block, key, bytes, align).memory; }

void *dynamic_shared()
{
  static const char key = 0;

  return find_variable(running->block, &key, dynamic_bytes, 128).memory;
}

}
