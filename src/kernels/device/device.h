/*
   device.h: memory, copies, scans, sorts, streams and launches on a device, and the words that the blocks of a launch
   share. CUDA: the files of this room; SIMT executor: tests/simt; builds without CUDA: without_cuda.c.

   Functions work on the current device. A stream that is NULL means TrsvCurrentStream(). Sizes are in bytes. All
   TrsvError functions may return TRSV_ERR_DEVICE, and those that allocate TRSV_ERR_MEMORY; then they allocate nothing.
   Several threads may call them at the same time, with different objects.
*/
#ifndef TRSV_DEVICE_H
#define TRSV_DEVICE_H

#include <stdlib.h>
#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* memory.cu: device memory that any stream may use at once. pointer is the address of a pointer. TrsvDeviceFree waits
   until the device is idle. */
TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer);
void      TrsvDeviceFree(void *);

/* Scratch: only work that the stream gets between allocation and free may use it. TrsvScratchUpload also copies host
   memory to it. */
TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream);
TrsvError TrsvScratchUpload(const void *host, size_t bytes, void *pointer, TrsvStream);
void      TrsvScratchFree(void *, TrsvStream);

/* Device memory in use by all objects of the process and set-ups that run; its peak since the last TrsvDeviceMark(). */
size_t TrsvDeviceHeld(void);
size_t TrsvDevicePeak(void);
void   TrsvDeviceMark(void);

/* Releases what this room keeps for later: unused memory, streams, pinned memory. Waits for the devices. Memory in use
   stays valid and may be freed later. No other call may run at the same time; later calls allocate again. */
void TrsvDeviceFinalize(void);

/* pinned.cu: words of the host that the device can write, all 0. */
TrsvError TrsvPinnedAlloc(int words, unsigned **);
void      TrsvPinnedFree(int words, unsigned *);

/* Copies in a stream. After an upload returns, host may change; a download returns when the data is there. */
TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream);
TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream);
TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream); /* on the device */
TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream);              /* to zeros */

/* Memory of the given kind. */
static inline TrsvError TrsvAllocIn(TrsvMemory memory, size_t bytes, void *pointer)
{
  return memory == TRSV_HOST ? TrsvAlloc(bytes, pointer) : TrsvDeviceAlloc(bytes, pointer);
}

static inline void TrsvFree(TrsvMemory memory, void *pointer)
{
  if (memory == TRSV_HOST) free(pointer);
  else TrsvDeviceFree(pointer);
}

/* primitives.cu: scans and sorts in the default stream. offsets [n + 1]: the sum of the counts before each, and of all;
   counts may be offsets + 1. */
TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets);

/* A stable sort by the low `bits` of the keys. The arrays [n] do not overlap. Both values may be NULL. */
TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values);

/* stream.cu: the stream that NULL means in this thread: CUDA's default stream, or in the second of two interleaved
   functions its own. */
TrsvStream TrsvCurrentStream(void);

static inline TrsvStream TrsvDeviceStream(TrsvStream stream) { return stream ? stream : TrsvCurrentStream(); }

TrsvError TrsvDeviceWait(TrsvStream);  /* until the stream is idle */
TrsvError TrsvDeviceIsIdle(TrsvStream, int *idle); /* has the stream done all its work? Does not wait */
TrsvError TrsvDeviceSynchronize(void); /* until the current stream is idle */
int       TrsvDeviceSharing(void);     /* how many interleaved functions share the device in this thread: 1 or 2 */

/* interleave.cu: calls run(first) and run(second) in one thread: while one waits for the device, the other continues.
   Waits for the default stream before. Returns the error of the first, or else of the second. Neither may hold a lock
   while it waits for the device. */
TrsvError TrsvRunInterleaved(TrsvError (*run)(void *data), void *first, void *second);

/* stream.cu: orders the work of one object in several streams. Zeros at first. Between Begin and End the caller
   launches work in the stream; the object's earlier work in another stream is done first. An object that stays in one
   stream pays nothing: the first change of the stream waits for the device, and from then on an event is recorded after
   each work. A stream that is being captured neither waits nor is waited for. Begin and TrsvWorkDevice return
   TRSV_ERR_ARGUMENT if another device is current than at the first call. */
typedef struct {
  int        device; /* 1 + the device of the object; 0: not known yet */
  int        begun;  /* has there been work? */
  TrsvStream last;
  void      *done;   /* an event after the last work; NULL: the stream has never changed */
} TrsvWorkOrder;
TrsvError TrsvWorkDevice(TrsvWorkOrder *);
TrsvError TrsvWorkBegin(TrsvWorkOrder *, TrsvStream);
TrsvError TrsvWorkEnd(TrsvWorkOrder *, TrsvStream);
void      TrsvWorkDestroy(TrsvWorkOrder *);

TrsvError TrsvDeviceMultiprocessors(int *count);

/* Measures the time of a stream from start to stop. Reading waits for the stream. */
typedef struct TrsvTimer TrsvTimer;
TrsvError TrsvDeviceTimerCreate(TrsvTimer **);
TrsvError TrsvDeviceTimerStart(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerStop(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerRead(TrsvTimer *, double *seconds);
void      TrsvDeviceTimerDestroy(TrsvTimer **);

/* The dynamic shared memory with which at most so many blocks of a kernel fit on a multiprocessor. Allows the kernel to
   use it. */
TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes);

/* How many clusters of such blocks run on the device at the same time; 0: none of that size. */
TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes, int *clusters);

/* What kernels may use on the current device. The values of an H200 if the device cannot be asked: the next call of it
   reports why. */
typedef struct {
  int    clusters;     /* 1: it has clusters of blocks, bulk copies, early launches, and so has the code for it; or 0 */
  size_t shared_bytes; /* of shared memory, a block */
} TrsvDeviceLimits;
TrsvDeviceLimits TrsvDeviceGetLimits(void);

enum {
  TRSV_H200_SHARED = 227 * 1024 /* shared_bytes of an H200, which has clusters; predictions were fitted on one */
};

/* Allows a kernel all shared memory of a block, as plans need different amounts, and clusters of any size. */
TrsvError TrsvDeviceSetMaxShared(const void *kernel);
TrsvError TrsvDeviceCheckLaunch(const char *kernel); /* the error of the launch just made */

/* A graph: launches made by launch(data, stream), recorded once and replayed as one. data must not change. launch
   neither allocates nor frees device memory. */
typedef struct TrsvDeviceGraph TrsvDeviceGraph;
TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *data, TrsvStream), void *data, TrsvDeviceGraph **);
TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *, TrsvStream);
void      TrsvDeviceGraphDestroy(TrsvDeviceGraph **);

/* The words that the blocks of a plan's launches share; see sync.cuh. */
typedef struct {
  unsigned          *ticket;       /* in device memory: blocks that have started, modulo two launches */
  unsigned          *abort_device; /* the next word: 1 after a wait has exceeded its limit. The word after that: the
                                      time of the last progress, if a launch notes it */
  unsigned          *abort_host;   /* the same in pinned memory of the host */
  unsigned long long timeout;      /* ns that a wait may take */
} TrsvSync;

enum {
  TRSV_SYNC_WORDS = 3 /* in device memory */
};

/* The time that a thread of a kernel waits for one value: TRSV_TIMEOUT, or what is set; 0: no limit. For all launches
   of this thread of the host from now on. And the same in ns; the largest number: no limit. */
void               TrsvSetTimeout(double seconds);
unsigned long long TrsvTimeoutLimit(void);

TrsvError TrsvSyncCreate(TrsvSync *);
void      TrsvSyncDestroy(TrsvSync *);

/* TrsvSyncCreate in words [TRSV_SYNC_WORDS] of the caller, which are 0. The caller frees them and abort_host. */
TrsvError TrsvSyncIn(unsigned *words, TrsvSync *);

/* To be called before each launch. TRSV_ERR_TIMEOUT, once, after a launch whose wait exceeded its limit. */
TrsvError TrsvSyncStart(TrsvSync *, TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
