/*
   device.h: memory, copies, scans, sorts, streams and launches on a device, and the words that the blocks of a launch
   share. The files of this room implement it with CUDA, tests/simt for the executor, without_cuda.c without CUDA.

   Functions work on the current device. A NULL stream stands for TrsvCurrentStream(). Sizes are in bytes. Each function
   that returns TrsvError may return TRSV_ERR_DEVICE, and each that allocates TRSV_ERR_MEMORY; after an error nothing is
   allocated. Several threads may call them at the same time, with different objects.
*/
#ifndef TRSV_DEVICE_H
#define TRSV_DEVICE_H

#include <stdlib.h>
#include "base/base.h"

TRSV_C_BEGIN

/* memory.cu: device memory that any stream may use at once. pointer is the address of a pointer. TrsvDeviceFree waits
   until the device is idle; TrsvDeviceFreeAll waits once for n pieces of memory of one device. What is freed may be
   NULL. */
TrsvError TrsvDeviceAlloc(size_t bytes, void *pointer);
void      TrsvDeviceFree(void *);
void      TrsvDeviceFreeAll(int n, void *const memory[]);

/* Scratch memory: only work submitted to the stream between allocation and free may use it. */
TrsvError TrsvScratchAlloc(size_t bytes, void *pointer, TrsvStream);
void      TrsvScratchFree(void *, TrsvStream);

/* Device memory in use by all objects and running set-ups of the process; its peak since the last TrsvDeviceMark(). */
size_t TrsvDeviceHeld(void);
size_t TrsvDevicePeak(void);
void   TrsvDeviceMark(void);

/* Releases what this room keeps for reuse: unused memory, streams, pinned memory. Waits for the devices. Memory in use
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

/* either.c: copies data in one memory to new memory of either kind, in the default stream. copy is the address of a
   pointer, which becomes NULL if data is NULL. */
TrsvError TrsvCopyNew(TrsvMemory to, TrsvMemory from, const void *data, size_t bytes, void *copy);

/* either.c: TRSV_ERR_STRUCTURE if the offsets or columns of row i are invalid, in a matrix in either memory. entries:
   its last offset. first, last: the valid columns of the row. rises: offsets start at 0, and columns rise. stored: the
   diagonal is stored. */
TrsvError TrsvCheckMatrixRow(TrsvMemory, const int *offsets, const int *columns, int entries, int i, int first,
                             int last, int rises, int stored);

/* primitives.cu: scans and sorts in the default stream. offsets [n + 1]: the exclusive sums of the counts, then their
   total; counts may be offsets + 1. ScanAll: several scans, of which the short ones take one launch.
   No scan reads what another one writes. */
enum { TRSV_SCANS = 3 }; /* of one call, at most */
typedef struct {
  int        n;
  const int *counts;
  int       *offsets;
} TrsvScan;
TrsvError TrsvDeviceScan(int n, const int *counts, int *offsets);
TrsvError TrsvDeviceScanAll(int scans, const TrsvScan scan[]);

/* Sorts stably by the low `bits` of the keys. The arrays [n] do not overlap. */
TrsvError TrsvDeviceSort(int n, int bits, const unsigned *keys, unsigned *sorted_keys, const int *values,
                         int *sorted_values);

/* stream.cu: the stream that a NULL argument stands for in this thread: CUDA's default stream; in the second of two
   tasks in lock step a stream of its own. */
TrsvStream TrsvCurrentStream(void);

static inline TrsvStream TrsvDeviceStream(TrsvStream stream) { return stream ? stream : TrsvCurrentStream(); }

TrsvError TrsvDeviceWait(TrsvStream); /* until the stream is idle */
int       TrsvDeviceSharing(void);    /* 2 in a task in lock step, else 1 */

/* stream.cu: waits until a kernel of the stream has stored value in a word of pinned memory. Words that it stored
   before are then there, too. TRSV_ERR_DEVICE: the stream has failed, or is idle without it. */
TrsvError TrsvDeviceAwait(const unsigned *word, unsigned value, TrsvStream);

/* stream.cu: downloads n words of the current device by a kernel. DownloadEach: one word from each of n addresses, in
   the default stream. */
enum { TRSV_ADDRESSES = 3 }; /* of one call, at most */
TrsvError TrsvDeviceDownloadWords(unsigned *host, const unsigned *device, int n, TrsvStream);
TrsvError TrsvDeviceDownloadEach(int *host, const int *const device[], int n);

/* stream.cu: calls begin(first), begin(second), end(first), end(second), so that what begin launches for both runs at
   the same time: the second task has a second stream. Waits for the current stream first and for the second stream at
   the end. Calls end for each task whose begin has succeeded, and returns the first error. The two run one after the
   other where there is no second stream, and within a second task. */
TrsvError TrsvRunInLockStep(TrsvError (*begin)(void *task), TrsvError (*end)(void *task), void *first, void *second);

/* stream.cu: orders the work of one object in several streams. All members start as zeros. Between Begin and End the
   caller launches work in the stream; the object's earlier work in another stream is done first. The first change of
   the stream waits for the device, and later each End records an event. Streams under capture are not ordered. Begin
   and TrsvWorkDevice return TRSV_ERR_ARGUMENT if the current device is not that of the first call. */
typedef struct {
  int                device; /* 1 + the device of the object; 0: not known yet */
  int                begun;  /* 1: there has been work */
  unsigned long long last;   /* the id of its stream: a new stream may have the handle of a destroyed one */
  void              *done;   /* an event after the last work; NULL: the stream has never changed */
} TrsvWorkOrder;
TrsvError TrsvDeviceIsCaptured(TrsvStream, int *captured);
TrsvError TrsvWorkDevice(TrsvWorkOrder *);
TrsvError TrsvWorkBegin(TrsvWorkOrder *, TrsvStream);
TrsvError TrsvWorkEnd(TrsvWorkOrder *, TrsvStream);
void      TrsvWorkDestroy(TrsvWorkOrder *);

TrsvError TrsvDeviceMultiprocessors(int *count);

/* Measures on the device how long the work takes that run(data, stream) launches, and waits for it. */
TrsvError TrsvDeviceTime(TrsvError (*run)(void *data, TrsvStream), void *data, TrsvStream, double *seconds);

/* The dynamic shared memory with which at most `blocks` blocks of a kernel fit on a multiprocessor; 0: any number fits.
   Allows the kernel to use it. */
TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes);

/* The number of clusters of `cluster` blocks that run on the device at the same time; 0: that size is not possible. */
TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes, int *clusters);

/* What kernels may use on the current device. If the query fails, these are the values of an H200, and the next call
   that uses the device returns the error. */
typedef struct {
  int    clusters;     /* 1: the device and its code have clusters of blocks, bulk copies and early launches; else 0 */
  size_t shared_bytes; /* the largest shared memory of a block */
} TrsvDeviceLimits;
TrsvDeviceLimits TrsvDeviceGetLimits(void);

/* shared_bytes of an H200, which has clusters; predictions were fitted on one. */
enum { TRSV_H200_SHARED = 227 * 1024 };

/* Allows a kernel the largest shared memory of a block, as plans need different amounts, and clusters of any size. */
TrsvError TrsvDeviceSetMaxShared(const void *kernel);
TrsvError TrsvDeviceCheckLaunch(const char *kernel); /* the error of the last launch; kernel: its name in messages */

/* The words that the blocks of a plan's launches share; see sync.cuh. */
typedef struct {
  unsigned          *ticket;       /* in device memory: the number of tickets taken, modulo those of two launches */
  unsigned          *abort_device; /* [2]: 1 after a wait has exceeded its limit; the time of the last progress, if a
                                      launch notes it */
  unsigned          *abort_host;   /* the first word again, in pinned memory of the host */
  unsigned long long timeout;      /* ns that a wait may take; ULLONG_MAX: no limit */
} TrsvSync;

enum { TRSV_SYNC_WORDS = 3 }; /* in device memory */

/* Sets how long a thread of a kernel may wait for one value, in all later launches of this host thread; 0: no limit.
   The default is TRSV_TIMEOUT. */
void TrsvSetTimeout(double seconds);

TrsvError TrsvSyncCreate(TrsvSync *);
void      TrsvSyncDestroy(TrsvSync *);

/* TrsvSyncCreate in words [TRSV_SYNC_WORDS] of the caller, who sets them to 0, and frees them and abort_host. */
TrsvError TrsvSyncIn(unsigned *words, TrsvSync *);

/* stream.cu: marks n values as not ready (sync.cuh). launch, unless NULL: the words of TrsvSyncIn, which become 0. */
TrsvError TrsvClearWords(TrsvPrecision, size_t n, void *words, unsigned *launch, TrsvStream);

/* The same in scratch: state [TRSV_STATES], zeros before the launch; a caller may add words after them. After the
   launch the host downloads them and calls TrsvSyncCheck: TRSV_ERR_TIMEOUT if a wait exceeded its limit. what: who
   waited. */
enum {
  TRSV_TICKET,
  TRSV_ABORT_DEVICE,
  TRSV_ABORT_HOST, /* in device memory, too */
  TRSV_STATES
};
TrsvSync  TrsvSyncScratch(unsigned *state);
TrsvError TrsvSyncCheck(const unsigned *state, const char *what);

/* Call this before each launch. After a launch whose wait exceeded its limit it returns TRSV_ERR_TIMEOUT, once. */
TrsvError TrsvSyncStart(TrsvSync *, TrsvStream);

TRSV_C_END
#endif
