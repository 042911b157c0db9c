/*
   Launches: requested, running and recorded ones; and the blocks of running launches.
   Without SimtSettings.early, each launch runs to its end when it is requested. With it, launches wait until the host
   requests something else, or a launch that is not early. Then they run together, as far as threads.cuh allows: an
   early launch starts once all blocks of the previous one have allowed it or have ended, and its threads pass
   trsv_wait_for_previous() when the previous launch has ended. Until then it may see device memory as it was before
   the previous launch began, except for words that cross threads: if the previous launch ends first, its plain stores
   are undone until no thread can continue without them.
*/
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_set>
#include "device/device.h"
#include "engine.h"

namespace simt {

static const size_t shared_of_multiprocessor = 228 << 10;

struct Graph {
  std::vector<Launch> launches;
};

struct Saved { /* memory of the device, or a word of it */
  char             *at;
  std::vector<char> bytes;
};

typedef std::vector<std::unique_ptr<Launch>> Launches;

static Launches asked_for, now; /* requested; running */
static size_t   starting;       /* the running launch with blocks that have not started */
static Graph   *recording;
static unsigned launches, early_blocks; /* so far */
static long     stores;                 /* of the last launch */
static bool     emptied;                /* has a block ended? */
static uint32_t serial;

static std::vector<Saved>               before; /* the running launch began */
static std::vector<std::pair<unsigned *, std::pair<unsigned, unsigned>>>
                                        hidden;   /* words: earlier and later contents */
static std::unordered_set<const void *> crossing; /* words that threads have stored for others since then */
static bool                             saves;

void crosses(const void *word, unsigned size)
{
  if (!saves) return;
  crossing.insert(word);
  if (size == 8) crossing.insert((const char *)word + 4);
}

static void save()
{
  before.clear();
  crossing.clear();
  each_memory([](char *p, size_t bytes) {
    Saved s = {p, std::vector<char>(bytes)};

    for (size_t i = 0; i + 4 <= bytes; i += 4) { /* not memcpy(), which the sanitizer checks: there are fences */
      const unsigned is = *(const volatile unsigned *)(p + i);

      memcpy(&s.bytes[i], &is, 4);
    }
    before.push_back(std::move(s));
  });
}

static void hide()
{
  for (const Saved &s : before)
    for (size_t i = 0; i + 4 <= s.bytes.size(); i += 4) {
      unsigned *const word = (unsigned *)(s.at + i), is = *word;
      unsigned        was;

      memcpy(&was, &s.bytes[i], 4);
      if (was == is || crossing.count(word)) continue;
      *word = was;
      hidden.push_back({word, {was, is}});
    }
}

static void end_launch(Launch *l)
{
  l->over = true;
  events++;
  for (Block *b : resident)
    for (unsigned i = 0; i < b->threads; i++)
      if (b->thread[i].state == PREVIOUS && b->launch->previous == l) make_ready(&b->thread[i]);
  if (saves) save();
}

bool show()
{
  if (hidden.empty()) return false;
  for (const auto &h : hidden)
    if (*h.first == h.second.first) *h.first = h.second.second;
  hidden.clear();
  for (const auto &l : now)
    if (!l->over && l->ended == l->blocks()) end_launch(l.get());
  return true;
}

void block_ended(Block *b)
{
  Launch *const l = b->launch;

  emptied = true;
  if (!b->let) l->let++;
  if (++l->ended < l->blocks()) return;
  commit_launch(l);
  for (const auto &next : now)
    if (saves && next->previous == l && !next->started && (!l->previous || l->previous->over)) hide();
  if (hidden.empty()) end_launch(l);
}

/* Start and end of blocks */

Block::~Block()
{
  for (unsigned i = 0; i < threads; i++) fiber_end(thread[i].fiber);
  for (Variable &v : shared) free(v.memory);
}

static Block *make_block(Launch *l, unsigned index, unsigned rank)
{
  const dim3 grid = l->shape.grid, size = l->shape.block;
  Block     *b = new Block;

  b->launch   = l;
  b->index    = dim3(index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y);
  b->rank     = rank;
  b->threads  = b->live = size.x * size.y * size.z;
  b->priority = any_priority();
  b->serial   = serial;
  b->thread.reset(new Thread[b->threads]);
  b->warp.resize((b->threads + 31) / 32);
  for (Warp &w : b->warp) w.priority = any_priority();
  if (b->threads % 32) b->warp.back().ended = ~0u << b->threads % 32;
  for (unsigned i = 0; i < b->threads; i++) {
    Thread &t = b->thread[i];

    t.index    = dim3(i % size.x, i / size.x % size.y, i / size.x / size.y);
    t.shape    = &l->shape;
    t.block    = b;
    t.warp     = i / 32;
    t.lane     = i % 32;
    t.priority = any_priority();
    t.serial   = ++serial;
    fiber_start(t.fiber, body);
  }
  return b;
}

static bool may_start(const Launch *l)
{
  const Launch *const p = l->previous;

  return !p || p->over || p->let == p->blocks();
}

bool start_cluster()
{
  if (starting == now.size()) return false;
  Launch *const l = now[starting].get();
  if (!may_start(l) || l->started * l->cluster - l->gone + l->cluster > std::max(l->capacity, l->cluster)) return false;

  std::vector<Block *> members;
  const unsigned       first = l->order[l->started] * l->cluster;
  for (unsigned r = 0; r < l->cluster; r++) members.push_back(make_block(l, first + r, r));
  for (Block *b : members) b->cluster = members;
  resident.insert(resident.end(), members.begin(), members.end());
  for (Block *b : members)
    for (unsigned i = 0; i < b->threads; i++) make_ready(&b->thread[i]);
  if (l->previous && l->previous->ended < l->previous->blocks()) early_blocks += l->cluster;
  if (++l->started == l->order.size()) starting++;
  events++;
  return true;
}

void retire()
{
  const auto stays = [](Block *b) {
    return std::any_of(b->cluster.begin(), b->cluster.end(), [](Block *m) { return m->live; });
  };

  if (!emptied) return;
  emptied         = false;
  const auto gone = std::stable_partition(resident.begin(), resident.end(), stays);
  const std::vector<Block *> dead(gone, resident.end());

  resident.erase(gone, resident.end());
  for (Block *b : dead) {
    b->launch->gone++;
    forget_shared(b); /* stores of its threads are still pending */
    delete b;
  }
}

bool all_over() { return starting == now.size() && resident.empty() && now.back()->over; }

unsigned blocks_started()
{
  unsigned n = 0;

  for (const auto &l : now) n += l->started * l->cluster;
  return n;
}

unsigned blocks_asked()
{
  unsigned n = 0;

  for (const auto &l : now) n += l->blocks();
  return n;
}

/* Calls of a kernel to the launches before and after it */

void wait_for_previous(Line at)
{
  const Launch *const p = running->block->launch->previous;

  may_yield();
  if (p && !p->over) {
    running->doing = "trsv_wait_for_previous";
    running->line  = at.line();
    yield(PREVIOUS);
  }
  acquire();
}

void let_next_start()
{
  Block *const b = running->block;

  may_yield();
  if (!b->let) b->launch->let++;
  b->let = true;
}

/* Launches */

static void prepare(Launch *l)
{
  const unsigned clusters = (unsigned)(l->shape.grid.x * l->shape.grid.y * l->shape.grid.z / l->cluster);
  const size_t   fit      = l->shared ? shared_of_multiprocessor / (l->shared + 1024) : 32;

  l->capacity = (unsigned)std::max<size_t>(
    1, std::min((size_t)SimtSettings.resident, fit * (size_t)SimtSettings.multiprocessors));
  l->order.resize(clusters);
  for (unsigned i = 0; i < clusters; i++)
    l->order[i] = SimtSettings.order == SIMT_BLOCKS_BACKWARD ? clusters - 1 - i : i;
  for (unsigned i = clusters; SimtSettings.order == SIMT_BLOCKS_SHUFFLED && i > 1; i--)
    std::swap(l->order[i - 1], l->order[random_below(i)]);
}

bool finish()
{
  if (running || asked_for.empty()) return !failed;
  now      = std::move(asked_for);
  starting = 0;
  serial   = 0;
  emptied  = false;
  saves    = now.size() > 1;
  asked_for.clear();
  seed(launches - (unsigned)now.size() + 1);
  for (size_t i = 0; i < now.size(); i++) {
    now[i]->previous = i ? now[i - 1].get() : nullptr;
    prepare(now[i].get());
  }
  begin_queue();
  begin_memory();
  begin_async();
  if (saves) save();
  run_all();
  (void)show();
  while (commit_one()) { }
  for (Block *b : resident) delete b;
  resident.clear();
  stores = now.back()->stores;
  now.clear();
  before.clear();
  return !failed;
}

static void ask(const Launch &l)
{
  if (!l.early) (void)finish();
  launches++;
  asked_for.push_back(std::make_unique<Launch>(l));
  if (!SimtSettings.early) (void)finish();
}

void launch(const char *kernel, bool early, unsigned cluster, Shape s, size_t shared, void (*run)(void *),
            void (*free_arguments)(void *), void *arguments)
{
  const bool     may_be_early = early && TrsvDeviceGetLimits().clusters; /* as threads.cuh has it */
  const Launch   l = {kernel, may_be_early, cluster, s, shared, run, std::shared_ptr<void>(arguments, free_arguments)};
  const uint64_t blocks  = (uint64_t)s.grid.x * s.grid.y * s.grid.z,
                 threads = (uint64_t)s.block.x * s.block.y * s.block.z;

  if (running) misuse("a launch inside a kernel");
  kernel_name = kernel;
  if (!blocks || !threads || threads > 1024 || blocks > 0x7fffffff || s.grid.y > 65535 || s.grid.z > 65535)
    fail("a grid of %u x %u x %u blocks of %u x %u x %u threads cannot be launched", s.grid.x, s.grid.y, s.grid.z,
         s.block.x, s.block.y, s.block.z);
  else if (!cluster || cluster > 16 || blocks % cluster)
    fail("%llu blocks in clusters of %u cannot be launched", (unsigned long long)blocks, cluster);
  else if (shared > TrsvDeviceGetLimits().shared_bytes)
    fail("%zu bytes of shared memory are more than a block may have", shared);
  else if (recording) recording->launches.push_back(l);
  else ask(l);
}

Graph *record() { return recording = new Graph; }
void   recorded() { recording = nullptr; }

void replay(const Graph *g)
{
  for (const Launch &l : g->launches) ask(l);
}

void drop(Graph *g) { delete g; }

}

extern "C" {

int SimtFinish(void)
{
  const bool good = simt::finish();

  return !simt::take_failure() && good;
}

unsigned SimtLaunches(void) { return simt::launches; }
long     SimtStores(void) { return simt::stores; }
unsigned SimtEarlyBlocks(void) { return simt::early_blocks; }

}
