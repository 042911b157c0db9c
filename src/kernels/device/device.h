/*
   device.h: memory, copies, scans, sorts, streams and launches on a device, and the words that the blocks of a launch
   share. Over CUDA: the files of this room; over the SIMT executor: tests/simt; in builds without CUDA: without_cuda.c.
   A stream that is NULL is TrsvCurrentStream().
*/
#ifndef TRSV_DEVICE_H
#define TRSV_DEVICE_H

#include <stdlib.h>
#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory: memory.cu. pointer is the address of a pointer. TRSV_ERR_MEMORY where the device is full. Several
   threads may call these. */
TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer); /* any stream may use it at once */
void      TrsvDeviceFree(void *); /* waits until the device is idle */

/* Scratch: only work that the stream gets between these two calls may use it. */
TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream);
TrsvError TrsvScratchUpload(const void *host, size_t bytes, void *pointer, TrsvStream); /* a copy of host memory */
void      TrsvScratchFree(void *, TrsvStream);

/* Bytes of device memory in use by plans, factors and set-ups under way, of all of the process; and the most since the
   last TrsvDeviceMark(). */
size_t TrsvDeviceHeld(void);
size_t TrsvDevicePeak(void);
void   TrsvDeviceMark(void);

/* Gives back what this room keeps for later: memory that nobody uses, streams, pinned memory. It waits for the devices.
   What is still in use stays valid and may be freed later; no other call may be under way. The next call of any
   function gets anew what it needs. */
void TrsvDeviceFinalize(void);

/* Words of the host that the device can write, all 0: pinned.cu. */
TrsvError TrsvPinnedAlloc(int words, unsigned **);
void      TrsvPinnedFree(int words, unsigned *);

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes,
                           TrsvStream);                                         /* host may change after the return */
TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream); /* both on the device */
TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream); /* to zeros */
TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream); /* returns when it is there */

/* to[i] = from[index[i]], or to[index[i]] = from[i] where scatter; index and values on the device */
TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision, const void *from, void *to,
                            TrsvStream);

/* Arrays in memory of the given kind. */
static inline TrsvError TrsvAllocIn(TrsvMemory memory, size_t bytes, void *pointer)
{
  return memory == TRSV_HOST ? TrsvAlloc(bytes, pointer) : TrsvDeviceAlloc(bytes, pointer);
}

static inline void TrsvFree(TrsvMemory memory, void *pointer)
{
  if (memory == TRSV_HOST) free(pointer);
  else TrsvDeviceFree(pointer);
}

/* How many seconds a thread of a device kernel waits for one value before it gives up; 0: no limit. For all that this
   thread of the host launches from now on. */
void TrsvSetTimeout(double seconds);

/* Scans and sorts on the device, in the default stream: primitives.cu. */
TrsvError TrsvDeviceScan(
  int n, const int *counts,
  int *offsets); /* offsets [n + 1]: sums of the counts before each, and of all; counts may be offsets + 1 */

/* Stable, by the low so many bits of keys; none of the arrays [n] overlap. values and sorted_values may be NULL. */
TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values);

/* The stream that NULL stands for in this thread: CUDA's default stream, but in the second function that
   TrsvRunInterleaved() runs one of its own. stream.cu. */
TrsvStream TrsvCurrentStream(void);

static inline TrsvStream TrsvDeviceStream(TrsvStream stream) { return stream ? stream : TrsvCurrentStream(); }

TrsvError TrsvDeviceWait(TrsvStream);  /* until the stream is idle */
TrsvError TrsvDeviceIsIdle(TrsvStream, int *idle); /* has it done all its work? Does not wait */
TrsvError TrsvDeviceSynchronize(void); /* until the current stream is */
int       TrsvDeviceSharing(void);     /* how many functions share the device in this thread: 1 or 2 */

/* Calls run(first) and run(second) in turns, in one thread: while one waits for the device, the other continues. Work
   that the default stream got before is done before both begin. Returns the error of the first, or else that of the
   second. Neither may hold a lock while it waits for the device. interleave.cu. */
TrsvError TrsvRunInterleaved(TrsvError (*run)(void *data), void *first, void *second);

/* Work of one object in one stream after another: stream.cu. Zeros at first. Between Begin and End the caller asks for
   work in the stream; work that the object asked for before, in another stream, is done first. An object that stays in
   one stream pays nothing: the first change of the stream waits for the device, and only from then on an event is
   recorded after each work. A stream that is being captured is neither waited for nor made to wait. */
typedef struct {
  int        device; /* 1 + that of the object; 0: not known yet */
  int        begun;  /* has there been work? */
  TrsvStream last;
  void      *done;   /* an event after the last work; NULL: the stream has never changed */
} TrsvWorkOrder;
TrsvError TrsvWorkDevice(TrsvWorkOrder *); /* TRSV_ERR_ARGUMENT: another device is current than at the first call */
TrsvError TrsvWorkBegin(TrsvWorkOrder *, TrsvStream); /* the same */
TrsvError TrsvWorkEnd(TrsvWorkOrder *, TrsvStream);
void      TrsvWorkDestroy(TrsvWorkOrder *);

TrsvError TrsvDeviceMultiprocessors(int *count);

/* The time that a stream takes from start to stop; reading it waits for the stream. */
typedef struct TrsvTimer TrsvTimer;
TrsvError TrsvDeviceTimerCreate(TrsvTimer **);
TrsvError TrsvDeviceTimerStart(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerStop(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerRead(TrsvTimer *, double *seconds);
void      TrsvDeviceTimerDestroy(TrsvTimer **);

/* The dynamic shared memory with which at most so many blocks of a kernel fit on a multiprocessor; the kernel may use
   it from then on. */
TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes);

/* How many clusters of such blocks the device holds at a time; 0 where it has none of that size. */
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

/* Allows a kernel all the shared memory there is, because plans of one kernel need different amounts, and clusters of
   any size. */
TrsvError TrsvDeviceSetMaxShared(const void *kernel);
TrsvError TrsvDeviceCheckLaunch(const char *kernel); /* did the launch just made succeed? */

/* A graph: launch(data, stream) makes launches, which are recorded once and replayed as one. data must stay as it is.
   launch neither allocates nor frees device memory. */
typedef struct TrsvDeviceGraph TrsvDeviceGraph;
TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *data, TrsvStream), void *data, TrsvDeviceGraph **);
TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *, TrsvStream);
void      TrsvDeviceGraphDestroy(TrsvDeviceGraph **);

/* The words that the blocks of a plan's launches share; see sync.cuh. */
typedef struct {
  unsigned          *ticket;       /* in device memory: how many blocks have started, modulo two launches */
  unsigned          *abort_device; /* the next word: 1 after a wait has exceeded its limit. The word after that: the
                                      time of the last progress, where a launch notes it */
  unsigned          *abort_host;   /* the same in pinned memory of the host */
  unsigned long long timeout;      /* ns that a wait may take */
} TrsvSync;

enum {
  TRSV_SYNC_WORDS = 3 /* in device memory */
};

unsigned long long TrsvTimeoutLimit(void); /* what TrsvSetTimeout has set, ns; the largest number: no limit */

TrsvError TrsvSyncCreate(TrsvSync *);

/* The same in words [TRSV_SYNC_WORDS] of the caller, who clears them before, and frees them and abort_host after. */
TrsvError TrsvSyncIn(unsigned *words, TrsvSync *);
TrsvError TrsvSyncStart(TrsvSync *, TrsvStream); /* before a launch; TRSV_ERR_TIMEOUT once after one gave up */
void      TrsvSyncDestroy(TrsvSync *);

#ifdef __cplusplus
}
#endif
#endif
