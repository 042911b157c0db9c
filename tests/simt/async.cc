/*
   Copies into shared memory, mbarriers and clusters (async.h). A copy arrives at a random time after a thread has
   first polled its mbarrier without success; copies of one barrier arrive in any order. A device without clusters
   (SimtSettings.old) has no bulk copies: 32 lanes copy, and each arrives when its copies are done.
*/
#include <cstring>
#include "engine.h"

namespace simt {

static std::vector<Copy> copies;     /* under way */

void begin_async()
{
  copies.clear();
}

/* The block of the cluster that has this address of shared memory, and the variable; NULL if none has. */
static Block *owner(const void *p, Variable **variable)
{
  for (Block *b : running->block->cluster)
    for (Variable &v : b->shared)
      if ((const char *)p >= v.memory && (const char *)p < v.memory + v.bytes) {
        *variable = &v;
        return b;
      }
  return nullptr;
}

static Mbarrier &find_mbarrier(const void *p)
{
  Variable *v;
  Block    *b = owner(p, &v);

  if (!b) misuse("an mbarrier outside the shared memory of the cluster");
  if (!b->live) misuse("an mbarrier of a block that has ended");
  for (Mbarrier &m : b->mbarrier)
    if (m.address == p) return m;
  misuse("an mbarrier that was not initialized");
}

static void end_phase(Mbarrier &m)
{
  if (m.arrived < m.count || m.bytes) return;
  m.arrived = 0;
  write((void *)m.address, ++m.phase, sizeof(TrsvMbarrier)); /* for threads that watch it */
}

void mbarrier_init(TrsvMbarrier *p, unsigned count)
{
  Variable *v;
  Block    *b = owner(p, &v);

  if (b != running->block) misuse("an mbarrier outside the block's shared memory is initialized");
  if ((uintptr_t)p % 8 || !count) misuse("an mbarrier off its 8 bytes, or for no arrivals");
  for (Mbarrier &m : b->mbarrier)
    if (m.address == p) misuse("an mbarrier is initialized twice");
  *p = 0;
  b->mbarrier.push_back({p, count, 0, 0, 0, false});
}

void mbarrier_arrive(TrsvMbarrier *p, unsigned bytes)
{
  may_yield();
  commit_of(running, nullptr);
  Mbarrier &m = find_mbarrier(p);

  m.bytes += bytes;
  if (++m.arrived > m.count) misuse("more than %u arrivals in one phase of an mbarrier", m.count);
  end_phase(m);
}

unsigned copy_lanes() { return SimtSettings.old ? 32 : 1; }

bool mbarrier_test(TrsvMbarrier *p, unsigned parity, Line at)
{
  may_yield();
  running->looked = at;
  Mbarrier &m = find_mbarrier(p);

  if (parity > 1) misuse("an mbarrier is asked for parity %u", parity);
  if ((m.phase & 1) != parity) {
    acquire();
    return true;
  }
  m.asked = true;
  watch(running, p, m.phase, sizeof(*p));
  return false;
}

/* Calls f(offset) for each piece of a copy. */
template <class F> static void each_piece(const Copy &c, F f)
{
  for (unsigned at = 0; at < c.end; at += c.stride) f(at);
}

static void start_copy(Copy c, unsigned bytes)
{
  may_yield();
  Variable *v;

  c.block = owner(c.to, &v);
  if (!c.block) misuse("a copy to other than shared memory");
  if (c.to + c.end > v->memory + v->bytes) misuse("a copy of %u bytes beyond the end of shared memory", bytes);
  if (((uintptr_t)c.to | (uintptr_t)c.from | bytes) % 16) misuse("a copy of %u bytes off its 16", bytes);
  (void)find_mbarrier(c.barrier);
  each_piece(c, [&](unsigned at) { memset(c.to + at, 0xcd, c.size); });
  copies.push_back(c);
}

void bulk_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *barrier)
{
  start_copy({nullptr, (char *)to, (const char *)from, bytes, bytes, bytes, barrier, false}, bytes);
}

void lane_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *barrier, unsigned lane)
{
  enum { PIECE = 16 };
  const unsigned at = lane * PIECE;

  start_copy({nullptr, (char *)to + at, (const char *)from + at, PIECE, 32 * PIECE, bytes > at ? bytes - at : 0,
              barrier, true},
             bytes);
}

bool deliver_one(bool only_asked)
{
  const size_t n = copies.size(), first = n ? random_below((unsigned)n) : 0;

  for (size_t k = 0; k < n; k++) {
    const size_t i = (first + k) % n;
    const Copy   c = copies[i];

    for (Block *b : c.block->cluster)
      for (Mbarrier &m : b->mbarrier) {
        if (m.address != c.barrier || (only_asked && !m.asked)) continue;
        copies.erase(copies.begin() + (long)i);
        each_piece(c, [&](unsigned at) { memcpy(c.to + at, c.from + at, c.size); });
        if (!c.arrives) m.bytes -= c.end;
        else if (++m.arrived > m.count) fail("more than %u arrivals in one phase of an mbarrier", m.count);
        events++;
        end_phase(m);
        return true;
      }
  }
  return false;
}

/* Clusters */

unsigned cluster_rank() { return running->block->rank; }
unsigned cluster_size() { return (unsigned)running->block->cluster.size(); }

void *cluster_peer(const void *p, unsigned rank)
{
  Variable *v;
  Block    *b = owner(p, &v);

  if (b != running->block) misuse("a peer's address is asked for what is not this block's own");
  if (rank >= b->cluster.size()) misuse("block %u of a cluster of %zu", rank, b->cluster.size());
  Block *peer = b->cluster[rank];
  if (!peer->live) misuse("the shared memory of a block that has ended is asked for");
  const long at = (const char *)p - v->memory;
  return find_variable(peer, v->key, v->bytes, 128).memory + at; /* of the same launch, so of the same bytes */
}

/* The barrier opens once all threads of the cluster that have not ended have arrived. */
static void may_open(Block *b)
{
  Block   *leader = b->cluster[0];
  unsigned live   = 0;

  if (!leader->arrived) return;
  for (const Block *m : b->cluster) live += m->live;
  if (leader->arrived < live) return;
  leader->arrived = 0;
  leader->phase++;
  for (Block *m : b->cluster)
    for (unsigned i = 0; i < m->threads; i++)
      if (m->thread[i].state == CLUSTER) make_ready(&m->thread[i]);
  events++;
}

void cluster_leave(Thread *t)
{
  Block *leader = t->block->cluster[0];

  if (t->awaits > leader->phase) leader->arrived--;
  may_open(t->block);
}

void cluster_arrive()
{
  may_yield();
  if (SimtSettings.old) misuse("a barrier of a cluster on a device without clusters");
  Block *leader = running->block->cluster[0];

  if (running->awaits) misuse("a thread arrives twice at the barrier of the cluster without a wait");
  running->awaits = leader->phase + 1;
  leader->arrived++;
  may_open(running->block);
}

void cluster_wait(const char *name, unsigned line)
{
  may_yield();
  Block *leader = running->block->cluster[0];

  if (!running->awaits) misuse("a thread waits at the barrier of the cluster without having arrived");
  if (leader->phase < running->awaits) {
    running->doing = name;
    running->line  = line;
    yield(CLUSTER);
  }
  running->awaits = 0;
}

void cluster_barrier(unsigned line)
{
  may_yield();
  commit_of(running, nullptr);
  cluster_arrive();
  cluster_wait("trsv_cluster_sync", line);
  acquire();
}

/* A store into the shared memory of another block. */
void push(void *p, uint64_t bits, unsigned size)
{
  Variable *v;
  Block    *b = owner(p, &v);

  if (!b) misuse("a push outside the shared memory of the cluster");
  if (!b->begun) misuse("a push to block %u of the cluster, which has not started", b->rank);
  if (!b->live) misuse("a push to block %u of the cluster, which has ended", b->rank);
  store(p, bits, size);
}

bool copies_to(const Block *b)
{
  for (const Copy &c : copies)
    if (c.block == b) return true;
  return false;
}

}
