/*
   executor.h: how a test steers the SIMT executor, which runs the device kernels on a CPU, one fiber for each thread.

   Every launch runs at once and to its end under SimtSettings, but for early ones (SimtOptions). Equal settings give
   equal runs. A launch that deadlocks or misuses something ends with a report, which TrsvDeviceCheckLaunch returns as
   TRSV_ERR_DEVICE and SimtReport keeps.
*/
#ifndef SIMT_EXECUTOR_H
#define SIMT_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* for programs that steer it in a library */

/* Who runs next. Under a priority, the first that can run does, until it waits or is pre-empted and falls to the last
   place: some run long while others stall. Of threads, of warps, of blocks; the last starves whole blocks. The last two
   starve a role, which is a warp of every block: it runs before all others, or when no other can. */
typedef enum {
  SIMT_ROUNDS_FORWARD,
  SIMT_ROUNDS_BACKWARD,
  SIMT_ROUNDS_SHUFFLED,
  SIMT_PRIORITY_THREAD,
  SIMT_PRIORITY_WARP,
  SIMT_PRIORITY_BLOCK,
  SIMT_WARP_FIRST,
  SIMT_WARP_LAST,
  SIMT_POLICIES
} SimtPolicy;

/* In which order blocks start. */
typedef enum { SIMT_BLOCKS_FORWARD, SIMT_BLOCKS_BACKWARD, SIMT_BLOCKS_SHUFFLED, SIMT_ORDERS } SimtOrder;

/* Which blocks run first where a role is starved: all take turns, or a block runs only when those that started before
   it cannot, or those after it. */
typedef enum { SIMT_TOGETHER, SIMT_FIRST_FIRST, SIMT_LAST_FIRST, SIMT_BLOCKS } SimtBlocks;

typedef struct {
  uint64_t   seed;
  SimtPolicy policy;
  SimtOrder  order;
  int        resident;        /* blocks that have started and not ended, at most; a cluster counts as a whole */
  int        multiprocessors; /* what the device claims to have */
  int        preempt;         /* one shared access in so many lets others run before it; 0: none does */
  int        weak;            /* 1: stores become visible late and in any order, as relaxed ones may, and loads may find
                                 what was there before; 2: stores and copies as late as nearly nobody can go on without
                                 them */
  int  bounded;               /* where nobody can go on, let time pass until waits give up, instead of a report */
  int  cluster;               /* blocks of the largest cluster that the device claims to hold; 0: any */
  int  old;                   /* the device claims to have no clusters, nor bulk copies */
  int  shared;                /* bytes of shared memory that it claims to have for a block; 0: an H200's */
  long lose; /* the store of a launch, to other than the block's own shared memory, that never arrives, from 1; 0: all
                do */
  const char *loser; /* and in whose launches: those of kernels whose name has this in it; NULL: of any */
  unsigned    role;  /* which warp, modulo the warps of a block */
  SimtBlocks  blocks;
  int         early; /* early launches begin before the one before them is over; SimtFinish() ends what is asked for */
} SimtOptions;

extern SimtOptions SimtSettings;

void SimtDefaults(void);
void SimtSchedule(unsigned k); /* the k-th of an endless list of settings; the first dozen differ in all that matters;
                                  bounded and lose are off */
void SimtDevice(int old, int shared); /* from now on, also after the two above: what the device claims to have */

const char *SimtReport(void); /* of the last launch that failed since SimtForget; "" if none did */
void        SimtForget(void);
int         SimtFinish(void);      /* ends what is asked for; 0 where it failed */
unsigned    SimtLaunches(void);    /* so far */
unsigned    SimtEarlyBlocks(void); /* that have started before all of the launch before had ended, so far */
uint64_t    SimtSwitches(void);    /* how often a fiber was resumed so far */
uint64_t    SimtNanoseconds(void); /* the virtual clock */

/* Device memory. Calls that may fail (allocate, copy, stage, ask, launch) are counted. */
void SimtFailAt(long call, int forever); /* the so-manieth call from now fails, and all after it if forever; 0: none */
int  SimtFailed(void);                   /* has one failed since? */
size_t   SimtLive(void);                 /* device allocations not yet freed */
size_t   SimtReserved(void);             /* bytes of the device that they take, and that pools keep */
size_t   SimtObjects(void);              /* streams, pools and events that there are */
unsigned SimtRecords(void);              /* of events, so far; */
unsigned SimtEventWaits(void);           /* waits of streams for events; */
unsigned SimtDrains(void);               /* and of the host for a device */
void     SimtLimit(size_t bytes);        /* that the device has, from now on; 0: as many as are asked for */
void     SimtCapture(int on);            /* somebody captures a stream: no wait for the device succeeds */
void     SimtWithoutPools(int without);  /* the device has no memory pools; asked when one is made */

unsigned SimtTurns(void); /* how often one of two coroutines of the host went on while the other stood still */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
