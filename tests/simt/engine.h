/*
   engine.h: what the files of the executor share and kernels do not see: threads, warps, blocks, and the calls by which
   a thread leaves the processor.
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
  READY,      /* can go on */
  POLLED,     /* looked for something and did not find it */
  COLLECTIVE, /* waits for lanes of its warp */
  BARRIER,    /* waits for its block */
  CLUSTER,    /* waits for its cluster */
  PREVIOUS,   /* waits for the launch before its own */
  ENDED
};

struct Block;

/* A launch that is asked for, runs, or is recorded. */
struct Launch {
  const char           *kernel;
  bool                  early; /* may begin before the one before it is over */
  unsigned              cluster;
  Shape                 shape;
  size_t                shared; /* bytes of dynamic shared memory */
  void                (*run)(void *);
  std::shared_ptr<void> arguments;

  std::vector<unsigned> order; /* clusters, in the order in which they start */
  unsigned              started = 0, capacity = 0; /* clusters that have; blocks resident at a time, at most */
  unsigned              ended = 0, gone = 0, let = 0; /* blocks: those gone are resident no more; let the next start */
  bool                  over = false; /* and all that it has stored is seen */
  Launch               *previous = nullptr;
  long                  stores = 0; /* to other than a block's own shared memory */

  unsigned blocks() const { return cluster * (unsigned)order.size(); }
};

struct Thread : Place { /* Place first: simt.h sees a thread as its place */
  enum { watched = 24, remembered = 4 };

  Fiber    fiber;
  Block   *block = nullptr;
  unsigned warp = 0, lane = 0;
  State    state    = READY;
  int64_t  priority = 0, serial = 0;

  /* what it has loaded since it last waited: a poll that would find the same again need not run */
  const void *address[watched];
  uint64_t    bits[watched];
  uint8_t     size[watched];
  unsigned    loads  = 0; /* beyond watched: any event may matter to it */
  bool        asleep = false; /* until one of them changes */

  /* what it loads now is no older than after so many writes of anybody; and of some addresses */
  uint64_t    floor = 0, known_since[remembered];
  const void *known[remembered];
  unsigned    knows = 0;

  unsigned    idle    = 0;  /* shared accesses since it last changed anything */
  unsigned    votes   = 0;  /* collectives since anybody last did */
  uint64_t    voted   = 0;  /* events by then */
  unsigned    pending = 0;  /* its stores that nobody else sees yet */
  const char *doing   = ""; /* the collective or barrier it stands at, for the report */
  unsigned    line    = 0;  /* and where */
  Line        looked;       /* where it last looked for something */
  uint64_t    result  = 0;  /* of a collective */
  unsigned    awaits  = 0;  /* the phase of the cluster's barrier at which it has arrived; 0: none */
};

struct Collective {
  unsigned    mask, arrived;
  const char *name;
  uint64_t    value[32];
  unsigned    from[32]; /* the lane whose value each gets; 32: a ballot; 33: who has the same */
};

struct Warp {
  std::vector<Collective> open;
  unsigned                ended    = 0; /* lanes that have, or never were */
  int64_t                 priority = 0;
};

struct Variable { /* in shared memory */
  const void *key;
  char       *memory;
  size_t      bytes;
};

struct Mbarrier {
  const void *address;
  unsigned    count, arrived; /* arrivals that end a phase; of this phase so far */
  long        bytes;          /* expected less arrived */
  unsigned    phase;
  bool        asked; /* has anyone tested it since the last copy arrived? */
};

struct Copy { /* of pieces of size bytes, stride bytes apart, before the end */
  Block      *block;
  char       *to;
  const char *from;
  unsigned    size, stride, end;
  const void *barrier;
  bool        arrives; /* it is an arrival when it is done; else the barrier expects its bytes */
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
  std::vector<Mbarrier>     mbarrier;
  std::vector<Block *>      cluster; /* its members by rank, itself among them */
  int64_t                   priority = 0, serial = 0;
  bool                      let = false; /* has it let the next launch start? */

  ~Block();
};

extern Thread               *running; /* NULL in the scheduler */
extern std::vector<Block *>  resident;
extern uint64_t              events; /* how often something changed that a waiting thread might see */
extern uint64_t              clock_ns;
extern const char           *kernel_name;
extern bool                  failed, quiet; /* quiet: all poll once more, nobody is pre-empted */

void     seed(unsigned launch);
uint64_t random_bits();
unsigned random_below(unsigned n);

void run_all(); /* the launches that launch.cc has begun */
void body();    /* of a thread */

void yield(
    State); /* leaves the processor; returns when the thread runs again, which under READY and POLLED is any time */
void may_yield();  /* what every shared access does first */

[[noreturn]] void misuse(const char *format, ...)
    __attribute__((format(printf, 1, 2))); /* by the running thread; ends the launch */
void              fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool take_failure(); /* did the last launch fail? Asked once, as cudaGetLastError is */

/* launch.cc: launches that are asked for, and the blocks of those that run */
struct Graph;
bool     finish(); /* all launches that were asked for; false where one failed */
Graph   *record(); /* launches from now on go there, until */
void     recorded();
void     replay(const Graph *);
void     drop(Graph *);
bool     start_cluster(); /* false where none can start */
void     retire();        /* blocks that have ended */
bool     show();          /* what a launch has stored and the next need not have seen; false where there is nothing */
bool     all_over();
void     block_ended(Block *);
unsigned blocks_started(), blocks_asked();
void     crosses(const void *word, unsigned size); /* a thread hands it over to others */

/* queue.cc */
void    begin_queue();
void    make_ready(Thread *);
void    sleep(Thread *);
void    rouse_to_poll(Thread *);
void    wake(const void *address); /* a word has changed */
void    drop_priority(Thread *, bool certain);
int64_t any_priority();
Thread *next(); /* NULL where nobody can run */

/* memory.cc */
void write(void *, uint64_t bits, unsigned size);                 /* a word that threads may wait for */
void watch(Thread *, const void *, uint64_t bits, unsigned size); /* the thread has found this */
Variable &find_variable(Block *, const void *key, size_t bytes, size_t align);
void begin_memory();
bool      commit_one(); /* makes one store that nobody sees yet visible; false where there is none */
void commit_of(Thread *, const void *address); /* all of a thread's, or, where not NULL, those to one address */
void commit_launch(const Launch *);
void disown(Thread *);             /* it has ended; its stores may still be on their way */
void forget_shared(const Block *); /* it has ended: nobody sees what is still on its way to its shared memory */

/* runtime.cc */
bool fails();                              /* is this call of the device one that fails? */
void each_memory(void (*)(char *, size_t bytes)); /* of the device */
bool holds(const void *p, size_t bytes, TrsvStream); /* is all of it memory of the device that the stream may use? */
void mark_used(const void *stream);        /* the device and the stream have work */
bool is_captured();                        /* is a stream captured? */
[[noreturn]] void fault(const char *what); /* ends the program */

/* events.cc */
size_t event_count(); /* events that exist */

/* turns.cc */
bool turn_ends(); /* of two coroutines of the host: is what this one waits for not there yet? */
void launched();
void waited(const void *stream);
void stream_ends();

/* what exits and copies mean to others: warp.cc, async.cc */
void thread_ended(Thread *);
bool deliver_one(bool only_asked);
void begin_async();
void cluster_leave(Thread *); /* a thread of it has ended or arrived */
bool copies_to(const Block *);  /* are any under way? */

}
#endif
