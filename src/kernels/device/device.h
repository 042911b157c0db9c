/*
   device.h: memory, copies, scans, sorts, streams and launches on a device, and the words that the blocks of a launch
   share.
*/
#ifndef TRSV_DEVICE_H
#define TRSV_DEVICE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory, copies and launches: memory.cu and device.cu; over malloc and memcpy in the SIMT executor;
   without_cuda.c in builds without CUDA. pointer is the address of a pointer. */
TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer);
void      TrsvDeviceFree(void *);
TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes,
                           TrsvStream);                                         /* host may change after the return */
TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream); /* both on the device */
TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream); /* to zeros */
TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream); /* returns when it is there */
TrsvError TrsvDeviceAllocWord(unsigned **); /* 0, on the host, where the device can write it */
void      TrsvDeviceFreeWord(unsigned *);

/* Device memory, and a copy of host memory on the device, until it is released in stream order: used in the stream that
   it is asked for, before what follows there. */
TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream);
TrsvError TrsvScratchUpload(const void *host, size_t bytes, void *pointer, TrsvStream);
void      TrsvScratchFree(void *device, TrsvStream);

/* to[i] = from[index[i]], or to[index[i]] = from[i] where scatter; index and values on the device */
TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision, const void *from, void *to,
                            TrsvStream);

/* Arrays in memory of the given kind. */
TrsvError TrsvAllocIn(TrsvMemory, size_t bytes, void *pointer);
void      TrsvFree(TrsvMemory, void *);

/* Bytes of device memory in use by plans, factors and set-ups under way, of all of the process; and the most since the
   last TrsvDeviceMark(). */
size_t TrsvDeviceHeld(void);
size_t TrsvDevicePeak(void);
void   TrsvDeviceMark(void);

/* For tools that watch each allocation: from now on each is one of the driver's, not a piece of a larger one. */
void TrsvDisablePool(void);

/* How long a thread of a device kernel waits for one value before it gives up; 10 s unless set. For all plans, from the
   next solve on. */
void TrsvSetTimeout(double seconds);

/* Scans and sorts on the device, in the default stream: primitives.cu. */
TrsvError TrsvDeviceScan(
  int n, const int *counts,
  int *offsets); /* offsets [n + 1]: sums of the counts before each, and of all; counts may be offsets + 1 */

/* Stable, by the low so many bits of keys; none of the arrays [n] overlap. values and sorted_values may be NULL. */
TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values);

/* What NULL stands for where a stream is asked for: CUDA's default stream, or for the second of TrsvRunInterleaved one
   of its own. */
TrsvStream TrsvDeviceDefault(void);

static inline TrsvStream TrsvDeviceStream(TrsvStream stream) { return stream ? stream : TrsvDeviceDefault(); }

/* Runs a function with two data at the same time, in turns: where the one waits for the device the other goes on, with
   a default stream that does not wait for the first's. What the default stream was asked for before is there for both.
   The first's error, or else the second's. No lock is to be held where a turn may end. */
TrsvError TrsvRunInterleaved(TrsvError (*run)(void *data), void *first, void *second);

int TrsvDeviceSharing(
  void); /* into how many parts the device is then to be divided; 1 where there is no second, or none any more */

TrsvError TrsvDeviceWait(TrsvStream); /* until the stream has done what it was asked for: where turns end */

TrsvError TrsvDeviceSynchronize(void); /* waits for what was asked of the default stream */
TrsvError TrsvDeviceMultiprocessors(int *count);

/* Times what a stream does between start and stop; read waits for it. */
typedef struct TrsvTimer TrsvTimer;
TrsvError TrsvDeviceTimerCreate(TrsvTimer **);
TrsvError TrsvDeviceTimerStart(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerStop(TrsvTimer *, TrsvStream);
TrsvError TrsvDeviceTimerRead(TrsvTimer *, double *seconds);
void      TrsvDeviceTimerDestroy(TrsvTimer **);

/* Allows a kernel the dynamic shared memory that leaves room for no more than this many of its blocks on a
   multiprocessor; says how much. */
TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes);

/* How many clusters of so many such blocks the device can hold at a time. */
TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes, int *clusters);

TrsvError TrsvDeviceHasClusters(int *); /* of blocks, and bulk copies into shared memory */

/* Has the current device these, and so much shared memory for a block (compute capability 12 has less than 9)? Yes
   where it does not say: then nothing else that is asked of it works, and tells why. */
int TrsvDeviceSupportsClusters(size_t shared_bytes);

/* Allows a kernel all the shared memory there is, as plans of the same kernel differ in what they need, and clusters of
   any size where there are clusters. */
TrsvError TrsvDeviceSetMaxShared(const void *kernel);
TrsvError TrsvDeviceCheckLaunch(const char *kernel); /* did the launch just made succeed? */

/* Launches that are recorded once, by a function that makes them in the stream it is given, and replayed as one. data
   must stay as it is. launch asks for no device memory, and gives none back: that may wait for the end of the
   recording. */
typedef struct TrsvDeviceGraph TrsvDeviceGraph;
TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *data, TrsvStream), void *data, TrsvDeviceGraph **);
TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *, TrsvStream);
void      TrsvDeviceGraphDestroy(TrsvDeviceGraph **);

/* The words that the blocks of one plan's launches share; see sync.cuh. */
typedef struct {
  unsigned          *ticket;   /* in device memory: how many blocks have started, modulo two launches */
  unsigned          *abort_device;  /* behind it: has a wait gone over its limit? */
  unsigned          *abort_host;     /* in pinned host memory: the same, for the host */
  unsigned long long timeout; /* ns that a wait may take */
} TrsvSync;

enum {
  TRSV_SYNC_WORDS = 2 /* in device memory */
};

unsigned long long TrsvTimeoutLimit(void); /* what TrsvSetTimeout has set, ns */

TrsvError TrsvSyncCreate(TrsvSync *);
TrsvError TrsvSyncIn(
  unsigned *words,
  TrsvSync *); /* the same in words [TRSV_SYNC_WORDS] of the caller, who clears and frees them, and frees told */
TrsvError TrsvSyncStart(TrsvSync *,
                        TrsvStream); /* before a launch: TRSV_ERR_TIMEOUT, once, if an earlier one gave up */
void      TrsvSyncDestroy(TrsvSync *);

#ifdef __cplusplus
}
#endif
#endif
