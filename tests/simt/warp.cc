/*
   Collectives of a warp and barriers of a block: threads that have arrived, that are missing, and that must not be
   there.
*/
#include <cstring>
#include "engine.h"

namespace simt {

static void wait_at(State s, const char *name, unsigned line)
{
  running->idle  = 0;
  running->doing = name;
  running->line  = line;
  yield(s);
}

/* All lanes of the mask have arrived. */
static void complete(Block *b, unsigned warp, const Collective &c)
{
  for (unsigned rest = c.mask; rest; rest &= rest - 1) {
    const unsigned l = (unsigned)__builtin_ctz(rest);
    Thread        &t = b->thread[32 * warp + l];

    t.result = c.from[l] < 32 ? c.value[c.from[l]] : c.ballot;
    if (c.from[l] == SAME_VALUE) {
      t.result = 0;
      for (unsigned k = 0; k < 32; k++)
        if (c.mask >> k & 1 && c.value[k] == c.value[l]) t.result |= 1ull << k;
    }
    if (t.state == COLLECTIVE) make_ready(&t);
  }
}

uint64_t collective(const char *name, unsigned line, unsigned mask, uint64_t value, unsigned from)
{
  may_yield();
  Thread        *t   = running;
  Warp          &w   = t->block->warp[t->warp];
  const unsigned bit = 1u << t->lane;
  size_t         i   = 0;

  const bool orders = from == MEMORY;

  if (!(mask & bit)) misuse("%s (line %u): the calling lane %u is not in the mask %08x", name, line, t->lane, mask);
  if (mask & w.ended)
    misuse("%s (line %u): the mask %08x names lanes %08x, which have ended", name, line, mask, mask & w.ended);
  if (from < 32 && !(mask >> from & 1))
    misuse("%s (line %u): lane %u reads lane %u, which is not in the mask %08x", name, line, t->lane, from, mask);
  if (t->pending && orders) commit_of(t, nullptr);
  while (i < w.open.size() && w.open[i].mask != mask) i++;
  if (i == w.open.size()) {
    w.open.emplace_back(mask, name);
  } else if (w.open[i].name != name)
    misuse("lane %u calls %s (line %u) while other lanes of the mask %08x wait in %s", t->lane, name, line, mask,
           w.open[i].name);
  Collective &c = w.open[i];

  c.arrived |= bit;
  c.value[t->lane] = value;
  c.from[t->lane]  = from;
  if (value) c.ballot |= bit;
  if (c.arrived == mask) {
    complete(t->block, t->warp, c);
    w.open.erase(w.open.begin() + (long)i);
  } else wait_at(COLLECTIVE, name, line);
  if (orders) acquire();
  return t->result;
}

/* The barrier opens when all threads of the block that have not ended have arrived. */
static void open_if_complete(Block *b)
{
  unsigned line = 0;

  if (!b->waiting || b->waiting < b->live) return;
  for (unsigned i = 0; i < b->threads; i++) {
    Thread &t = b->thread[i];

    if (t.state != BARRIER) continue;
    if (line && t.line != line)
      fail("the threads of block %u stand at two barriers, of line %u and of line %u", b->index.x, line, t.line);
    line = t.line;
    if (&t == running) t.state = READY; /* queued when it yields */
    else make_ready(&t);
  }
  b->waiting = 0;
  events++;
}

void block_barrier(const char *name, unsigned line)
{
  may_yield();
  commit_of(running, nullptr);
  running->block->waiting++;
  running->idle  = 0;
  running->state = BARRIER;
  running->doing = name;
  running->line  = line;
  open_if_complete(running->block);
  yield(running->state);
  acquire();
}

void thread_ended(Thread *t)
{
  Warp &w = t->block->warp[t->warp];

  w.ended |= 1u << t->lane;
  disown(t);
  for (const Collective &c : w.open)
    if (c.mask & w.ended)
      fail("%s: the mask %08x names lane %u, which has ended; block %u, warp %u", c.name, c.mask, t->lane,
           t->block->index.x, t->warp);
  if (!t->block->live && copies_to(t->block))
    fail("block %u ends while bulk copies to its shared memory are under way", t->block->index.x);
  open_if_complete(t->block);
  cluster_leave(t);
}

}
