/*
   executor.h: settings and counters of the SIMT executor, which runs device kernels on a CPU, one fiber for each
   thread.
   A launch runs immediately and to its end under SimtSettings, unless it is early (SimtOptions). Equal settings give
   equal runs. A launch that deadlocks or misuses something ends with a report, which TrsvDeviceCheckLaunch() returns
   as TRSV_ERR_DEVICE and SimtReport() keeps.
*/
#ifndef SIMT_EXECUTOR_H
#define SIMT_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* for programs that use it in a library */

/* The next thread. With priorities, the first thread that can run runs until it waits or is pre-empted, and then gets
   the last priority, so some run long while others stall. There are priorities of threads, of warps and of blocks; the
   last starves whole blocks. The last two policies starve a role, which is a warp of every block: it runs before all
   others, or only if no other can. */
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

/* The order in which blocks start. */
typedef enum { SIMT_BLOCKS_FORWARD, SIMT_BLOCKS_BACKWARD, SIMT_BLOCKS_SHUFFLED, SIMT_ORDERS } SimtOrder;

/* The blocks that run first if a role is starved: all take turns, or a block runs only if no earlier block can, or no
   later one. */
typedef enum { SIMT_TOGETHER, SIMT_FIRST_FIRST, SIMT_LAST_FIRST, SIMT_BLOCKS } SimtBlocks;

typedef struct {
  uint64_t   seed;
  SimtPolicy policy;
  SimtOrder  order;
  int        resident;        /* the most blocks that have started and not ended; a cluster counts as a whole */
  int        multiprocessors; /* of the device */
  int        preempt;         /* one shared access in so many lets other threads run before it; 0: none does */
  int        weak;            /* 1: stores become visible late and in any order, as relaxed stores may, and loads may
                                 return earlier values; 2: stores and copies arrive only when almost no thread can
                                 continue without them */
  int  bounded;               /* if no thread can continue, time passes until waits give up, instead of a report */
  int  cluster;               /* blocks of the largest cluster that the device reports; 0: any */
  int  old;                   /* the device reports no clusters and has no bulk copies */
  int  shared;                /* bytes of shared memory for a block that it reports; 0: those of an H200 */
  long lose; /* the number, from 1, of the store of a launch that is lost; stores to the block's own shared memory do
                not count; 0: none */
  const char *loser; /* the kernels to which `lose` applies: those whose name contains this; NULL: all */
  unsigned    role;  /* which warp, modulo the warps of a block */
  SimtBlocks  blocks;
  int         early; /* early launches begin before the previous one has ended; see SimtFinish() */
  unsigned    tick;  /* nanoseconds of the virtual clock for each time that a thread is resumed */
} SimtOptions;

extern SimtOptions SimtSettings;

void SimtDefaults(void);
void SimtSchedule(unsigned k); /* the k-th of an endless list of settings, without bounded and lose; the first dozen
                                  differ in all important ways */
void SimtDevice(int old, int shared); /* the reported properties from now on; the calls above keep them */

const char *SimtReport(void); /* the report of the last failed launch since SimtForget(); "": none failed */
void        SimtForget(void);
int         SimtFinish(void);      /* runs all requested launches; 0 if one failed */
unsigned    SimtLaunches(void);    /* so far */
long        SimtStores(void);      /* of the last launch, if `lose` was set; counted as for it */
unsigned    SimtEarlyBlocks(void); /* blocks that started before the previous launch had ended, so far */
uint64_t    SimtSwitches(void);    /* how many times a fiber was resumed so far */
uint64_t    SimtNanoseconds(void); /* the virtual clock */

/* Device memory. Calls that may fail (allocate, copy, stage, query, launch) are counted. */
void SimtFailAt(long call, int forever); /* the call with this number fails, and all later ones if forever; 0: none */
int  SimtFailed(void);                   /* has one failed since? */
size_t   SimtLive(void);                 /* device allocations not yet freed */
size_t   SimtReserved(void);             /* bytes of the device that they take, and that pools keep */
size_t   SimtObjects(void);              /* existing streams, pools and events */
unsigned SimtRecords(void);              /* of events, so far; */
unsigned SimtEventWaits(void);           /* waits of streams for events; */
unsigned SimtDrains(void);               /* and of the host for a device */
void     SimtLimit(size_t bytes);        /* the memory of the device from now on; 0: unlimited */
void     SimtUseDevice(int);             /* cudaSetDevice() */
void     SimtRenewStream(const void *stream); /* it is destroyed, and a new stream gets its handle */
void     SimtCapture(int on);            /* a stream is captured: no wait for the device succeeds */
void     SimtWithoutPools(int without);  /* the device has no memory pools; asked when one is made */

int      SimtUnfinished(const void *stream); /* has the stream had work since the last wait for it? */
unsigned SimtBeside(void);                   /* launches so far while a stream other than the default one was current */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
