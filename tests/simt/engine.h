/*
   engine.h: the executor's internal interface: threads, warps, blocks, and the calls by which a thread yields the
   processor.
*/
#ifndef SIMT_ENGINE_H
#define SIMT_ENGINE_H

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>
#include "base/base.h"
#include "executor.h"
#include "fiber.h"
#include "simt.h"

namespace simt {

enum State {
  READY,      /* can continue */
  POLLED,     /* polled without success */
  COLLECTIVE, /* waits for lanes of its warp */
  BARRIER,    /* waits for its block */
  CLUSTER,    /* waits for its cluster */
  PREVIOUS,   /* waits for the previous launch */
  ENDED
};

struct Block;

/* A launch that is requested, runs, or is recorded. */
struct Launch {
  const char           *kernel;
  bool                  early; /* may begin before the previous launch has ended */
  unsigned              cluster;
  Shape                 shape;
  size_t                shared; /* bytes of dynamic shared memory */
  void                (*run)(void *);
  std::shared_ptr<void> arguments;

  std::vector<unsigned> order; /* clusters, in the order in which they start */
  unsigned              started = 0, capacity = 0; /* clusters that have started; the most resident blocks */
  unsigned              ended = 0, gone = 0, let = 0; /* blocks: those gone are resident no more; let the next start */
  bool                  over = false; /* and all its stores are visible */
  Launch               *previous = nullptr;
  long                  stores = 0; /* to other than a block's own shared memory */

  unsigned blocks() const { return cluster * (unsigned)order.size(); }
};

struct Thread : Place { /* Place comes first: simt.h uses a thread as its Place */
  enum { watched = 24, remembered = 4 };

  Fiber    fiber;
  Block   *block = nullptr;
  unsigned warp = 0, lane = 0;
  State    state    = READY;
  int32_t  priority = 0;
  uint32_t serial   = 0;
  uint64_t turn;  /* in a shuffled round; */
  Thread  *after; /* the next one with the same turn */

  /* its loads since its last wait: a poll that would load the same values need not run */
  const void *address[watched];
  uint64_t    bits[watched];
  uint8_t     size[watched];
  unsigned    loads  = 0; /* more than `watched`: any event may matter to it */
  bool        asleep = false; /* until one of them changes */

  /* its loads return values no older than after so many writes of all threads; and those of some addresses */
  uint64_t    floor = 0, known_since[remembered];
  const void *known[remembered];
  unsigned    knows = 0;

  unsigned    idle    = 0;  /* shared accesses since it last changed anything */
  unsigned    votes   = 0;  /* collectives since any thread last changed anything */
  uint64_t    voted   = 0;  /* events by then */
  unsigned    pending = 0;  /* its stores that no other thread sees yet */
  const char *doing   = ""; /* the collective or barrier it stands at, for the report */
  unsigned    line    = 0;  /* and where */
  Line        looked;       /* where it last polled */
  uint64_t    result  = 0;  /* of a collective */
  unsigned    awaits  = 0;  /* the phase of the cluster's barrier at which it has arrived; 0: none */
};

struct Collective {
  unsigned    mask, arrived = 0, ballot = 0; /* ballot: the lanes whose value is not 0 */
  const char *name;
  uint64_t    value[32]; /* of the lanes that have arrived */
  unsigned    from[32];  /* the lane whose value each lane gets, or BALLOT, SAME_VALUE, MEMORY */

  Collective(unsigned m, const char *n) : mask(m), name(n) { }
};

struct Warp {
  std::vector<Collective> open;
  unsigned                ended    = 0; /* lanes that have arrived or do not exist */
  int32_t                 priority = 0;
};

struct Variable { /* in shared memory */
  const void *key;
  char       *memory;
  size_t      bytes;
};

struct Mbarrier {
  const void *address;
  unsigned    count, arrived; /* arrivals that end a phase; of this phase so far */
  long        bytes;          /* expected bytes minus arrived bytes */
  unsigned    phase;
  bool        asked; /* has any thread tested it since the last copy arrived? */
};

struct Copy { /* of pieces of size bytes, stride bytes apart, before the end */
  Block      *block;
  char       *to;
  const char *from;
  unsigned    size, stride, end;
  const void *barrier;
  bool        arrives; /* when done, it counts as an arrival; otherwise the barrier expects its bytes */
};

struct Block {
  Launch                   *launch;
  dim3                      index;
  unsigned                  rank = 0; /* in its cluster */
  unsigned                  threads = 0, live = 0, waiting = 0;
  unsigned arrived = 0, phase = 0; /* of the cluster's barrier, in its first block: arrivals, phases over */
  bool                      begun = false;          /* has a thread of it run? */
  std::unique_ptr<Thread[]> thread;
  std::vector<Warp>         warp;
  std::vector<Variable>     shared;
  char                     *dynamic = nullptr; /* the variable with the size of the launch, once a thread uses it */
  std::vector<Mbarrier>     mbarrier;
  std::vector<Block *>      cluster; /* its members by rank, itself among them */
  int32_t                   priority = 0;
  uint32_t                  serial   = 0;
  bool                      let = false; /* has it allowed the next launch to start? */

  ~Block();
};

extern Thread               *running; /* NULL in the scheduler */
extern std::vector<Block *>  resident;
extern uint64_t              events; /* changes that a waiting thread might see */
extern uint64_t              clock_ns;
extern const char           *kernel_name;
extern bool                  failed, quiet; /* quiet: all threads poll once more, without pre-emption */

extern uint64_t random_now;
void            seed(unsigned launch);

static inline uint64_t random_bits()
{
  random_now ^= random_now >> 12;
  random_now ^= random_now << 25;
  random_now ^= random_now >> 27;
  return random_now * 0x2545f4914f6cdd1dull;
}

static inline unsigned random_below(unsigned n) { return (unsigned)((random_bits() >> 32) * n >> 32); }

void run_all(); /* the launches that launch.cc has begun */
void body();    /* of a thread */

/* Yields the processor; returns when the thread runs again, at any time if READY or POLLED. */
static inline void yield(State s)
{
  running->state = s;
  fiber_leave(running->fiber);
}

void give_way(); /* is called by: */

/* Precedes every shared access. */
static inline void may_yield()
{
  const bool spins = ++running->idle > 1024; /* without a pause */

  if (spins || (SimtSettings.preempt && !quiet && !random_below((unsigned)SimtSettings.preempt))) give_way();
}

[[noreturn]] void misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* by the running thread; ends the launch */
void              fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool take_failure(); /* did the last launch fail? Resets it, as cudaGetLastError() does */

/* launch.cc: requested launches, and the blocks of running ones */
struct Graph;
bool     finish(); /* runs all requested launches; false if one failed */
Graph   *record(); /* records launches from now on */
void     recorded();
void     replay(const Graph *);
void     drop(Graph *);
bool     start_cluster(); /* false if none can start */
void     retire();        /* blocks that have ended */
bool     show();          /* stores of a launch that the next one may not see yet; false if there are none */
bool     all_over();
void     block_ended(Block *);
unsigned blocks_started(), blocks_asked();
void     crosses(const void *word, unsigned size); /* a thread stores it for other threads */

/* queue.cc */
void    begin_queue();
void    make_ready(Thread *);
void    sleep(Thread *);
void    rouse_to_poll(Thread *);
void    wake(const void *address); /* a word has changed */
void    drop_priority(Thread *, bool certain);
int32_t any_priority();
Thread *next(); /* NULL if no thread can run */

/* memory.cc */
static inline uint64_t read(const void *p, unsigned size) /* without a call for the usual sizes */
{
  uint64_t bits = 0;

  if (size == 8) memcpy(&bits, p, 8);
  else if (size == 4) memcpy(&bits, p, 4);
  else memcpy(&bits, p, size);
  return bits;
}

void write(void *, uint64_t bits, unsigned size);                 /* stores a word for which threads may wait */
void watch(Thread *, const void *, uint64_t bits, unsigned size); /* the thread has loaded this value */
Variable &find_variable(Block *, const void *key, size_t bytes, size_t align);
void begin_memory();
bool      commit_one(); /* makes one pending store visible; false if there is none */
void commit_of(Thread *, const void *address); /* makes a thread's stores visible; address: NULL for all */
void commit_launch(const Launch *);
void disown(Thread *);             /* it has ended; its stores may still be pending */
void forget_shared(const Block *); /* it has ended: no thread sees pending stores to its shared memory */

/* runtime.cc */
bool fails();                              /* shall this call of the device fail? */
void each_memory(void (*)(char *, size_t bytes)); /* of the device */

/* fence.cc: bytes that belong to no array. check_fences() removes those of memory that is freed. */
enum {
  JUNK = 0xcd /* every byte of new memory */
};
void fence(char *from, char *to);
void check_fences(char *memory, size_t bytes);
bool holds(const void *p, size_t bytes, TrsvStream); /* may the stream use all of this device memory? */
void mark_used(const void *stream);        /* the device and the stream have work */
bool is_captured();                        /* is a stream captured? */
[[noreturn]] void fault(const char *what); /* ends the program */

/* events.cc */
size_t event_count(); /* events that exist */

/* effects of ended threads and of copies on others: warp.cc, async.cc */
void thread_ended(Thread *);
bool deliver_one(bool only_asked);
void begin_async();
void cluster_leave(Thread *); /* a thread of the cluster has ended or arrived */
bool copies_to(const Block *);  /* are copies under way? */

}
#endif
