/*
   The stream that NULL stands for, waits for the device, small downloads, words that are not ready, the order of work
   in several streams, and two tasks in lock step.
*/
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "device/runtime.cuh"
#include "device/setup.cuh"

/* The stream that NULL stands for in this thread. shared: another stream has work of this thread, too. */
struct ThreadState {
  cudaStream_t stream;
  bool         shared;
};
static thread_local ThreadState this_thread;

TrsvStream TrsvCurrentStream(void) { return this_thread.stream; }

int TrsvDeviceSharing(void) { return this_thread.shared ? 2 : 1; }

TrsvError TrsvDeviceWait(TrsvStream stream) { return CheckCall(cudaStreamSynchronize, TrsvDeviceStream(stream)); }

TrsvError TrsvDeviceAwait(const unsigned *word, unsigned value, TrsvStream stream)
{
  cudaError_t state = cudaErrorNotReady;

  for (unsigned polls = 1; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; polls++) {
    if (state == cudaSuccess)
      return TrsvFail(TRSV_ERR_DEVICE, "the stream is idle, but has not written a word that the host awaits");
    if (polls % (1 << 16)) continue;
    state = cudaStreamQuery(TrsvDeviceStream(stream)); /* seldom: it takes a lock of the driver */
    if (state == cudaErrorNotReady) (void)cudaGetLastError(); /* else the next launch would report it */
    else TrsvCall(Check(state, "cudaStreamQuery"));
    (void)sched_yield(); /* other processes may need this core */
  }
  return TRSV_SUCCESS;
}

/* The words of a download: one at each address, or all from the first address on. */
struct Addresses {
  const int *word[TRSV_ADDRESSES];
  bool       each;
};

/* Stores n words in pinned memory, and then a 1 after them. One warp. */
static __global__ void stream_download(int n, const __grid_constant__ Addresses from, unsigned *to)
{
  for (int i = (int)threadIdx.x; i < n; i += 32)
    trsv_store_host(to + i, (unsigned)(from.each ? *from.word[i] : from.word[0][i]));
  trsv_warp_sync();
  if (threadIdx.x == 0) trsv_release_host(to + n, 1);
}

/* Copies n words to the host by a kernel. Needs no copy and no wait in the driver. After an error the kernel may still
   write the pinned words: they are not reused before the device is idle. */
static TrsvError Download(void *host, int n, const Addresses &from, TrsvStream stream)
{
  unsigned *words;

  TrsvCall(TrsvPinnedAlloc(n + 1, &words));
  TrsvError error = TrsvLaunch(stream_download, 1, 32, 0, stream, n, from, words);
  if (!error) error = TrsvDeviceAwait(words + n, 1, stream);
  if (!error) memcpy(host, words, sizeof(*words) * (size_t)n);
  if (!error || TrsvDeviceDrain()) TrsvPinnedFree(n + 1, words);
  return error;
}

TrsvError TrsvDeviceDownloadWords(unsigned *host, const unsigned *device, int n, TrsvStream stream)
{
  return Download(host, n, {{(const int *)device}, false}, stream);
}

TrsvError TrsvDeviceDownloadEach(int *host, const int *const device[], int n)
{
  Addresses from = {{}, true};

  for (int i = 0; i < n; i++) from.word[i] = device[i];
  return Download(host, n, from, NULL);
}

/* Fills words with `even` and `odd` in turn; launch, unless NULL, becomes 0. */
static __global__ void stream_clear(size_t n, unsigned even, unsigned odd, unsigned *words, unsigned *launch)
{
  const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = k % 2 ? odd : even;
  if (launch && k < TRSV_SYNC_WORDS) launch[k] = 0;
}

TrsvError TrsvClearWords(TrsvPrecision precision, size_t n, void *words, unsigned *launch, TrsvStream stream)
{
  const bool               single = TrsvRealPrecision(precision) == TRSV_FLOAT;
  const unsigned long long bits   = single ? TrsvWord<float>::not_ready * 0x100000001ull : TrsvWord<double>::not_ready;
  const size_t             count  = n * (TrsvValueSize(precision) / sizeof(unsigned)),
               threads            = launch && count < TRSV_SYNC_WORDS ? (size_t)TRSV_SYNC_WORDS : count;

  return TrsvLaunchEachIn(stream, stream_clear, threads, count, (unsigned)bits, (unsigned)(bits >> 32),
                          (unsigned *)words, launch);
}

TrsvError TrsvDeviceIsCaptured(TrsvStream stream, int *captured)
{
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

  TrsvCall(CheckCall(cudaStreamIsCapturing, TrsvDeviceStream(stream), &status));
  *captured = status != cudaStreamCaptureStatusNone;
  return TRSV_SUCCESS;
}

/* The first change of the stream. The last stream may not exist any more, so this waits for the whole device. */
static TrsvError StartEvents(TrsvWorkOrder *order)
{
  cudaEvent_t event;

  if (!TrsvDeviceDrain())
    return TrsvFail(TRSV_ERR_DEVICE, "the device did not finish earlier work before a change of the stream; is another "
                                     "stream captured?");
  TrsvCall(CheckCall(cudaEventCreateWithFlags, &event, cudaEventDisableTiming));
  order->done = event;
  return TRSV_SUCCESS;
}

TrsvError TrsvWorkDevice(TrsvWorkOrder *order)
{
  int device;

  TrsvCall(CheckCall(cudaGetDevice, &device));
  if (order->device && order->device != 1 + device)
    return TrsvFail(TRSV_ERR_ARGUMENT, "device %d is current, but the plans are on device %d; call cudaSetDevice(%d)",
                    device, order->device - 1, order->device - 1);
  order->device = 1 + device;
  return TRSV_SUCCESS;
}

TrsvError TrsvWorkBegin(TrsvWorkOrder *order, TrsvStream stream)
{
  const cudaStream_t now = TrsvDeviceStream(stream);
  unsigned long long id;
  int                captured;

  TrsvCall(TrsvWorkDevice(order));
  TrsvCall(TrsvDeviceIsCaptured(stream, &captured));
  if (captured) return TRSV_SUCCESS; /* a query of its id would end the capture */
  TrsvCall(CheckCall(cudaStreamGetId, now, &id));
  if (order->begun && id == order->last) return TRSV_SUCCESS;
  if (order->done) TrsvCall(CheckCall(cudaStreamWaitEvent, now, (cudaEvent_t)order->done, 0));
  else if (order->begun) TrsvCall(StartEvents(order));
  order->begun = 1;
  order->last  = id;
  return TRSV_SUCCESS;
}

TrsvError TrsvWorkEnd(TrsvWorkOrder *order, TrsvStream stream)
{
  int captured;

  if (!order->done) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceIsCaptured(stream, &captured));
  if (captured) return TRSV_SUCCESS;
  return CheckCall(cudaEventRecord, (cudaEvent_t)order->done, TrsvDeviceStream(stream));
}

void TrsvWorkDestroy(TrsvWorkOrder *order)
{
  if (order->done && cudaEventDestroy((cudaEvent_t)order->done) != cudaSuccess) (void)cudaGetLastError();
  *order = TrsvWorkOrder();
}

/* Two tasks in lock step. The set-up of a triangle follows chains of dependencies and leaves most of the device idle,
   so the device works for two at the same time. The first half of a task launches its longest kernel last and does not
   wait for it; the second half waits and reads the results. Why it ends: blocks wait only for blocks of their own
   launch that have started (tickets). */

/* Calls run(task) with this stream as the current one. */
static TrsvError RunIn(cudaStream_t stream, TrsvError (*run)(void *), void *task)
{
  const ThreadState before = this_thread;

  this_thread           = {stream, true};
  const TrsvError error = run(task);
  this_thread           = before;
  return error;
}

TrsvError TrsvRunInLockStep(TrsvError (*begin)(void *), TrsvError (*end)(void *), void *first, void *second)
{
  const cudaStream_t own   = this_thread.stream;
  TrsvError          found = TRSV_SUCCESS; /* the first error, and its message */
  char               message[512];
  cudaStream_t       other;
  const auto         note = [&](TrsvError error) {
    if (error && !found) (void)snprintf(message, sizeof(message), "%s", TrsvErrorMessage());
    if (!found) found = error;
    return !error;
  };

  TrsvCall(TrsvSecondStream(&other));
  if (!other || other == own) {
    TrsvCall(begin(first));
    TrsvCall(end(first));
    TrsvCall(begin(second));
    return end(second);
  }
  TrsvCall(TrsvDeviceWait(NULL)); /* the second stream does not wait for earlier work in this one */
  TrsvCall(RunIn(own, begin, first));
  const bool begun = note(RunIn(other, begin, second));
  (void)note(RunIn(own, end, first)); /* also after an error: it frees what begin has allocated */
  if (begun) (void)note(RunIn(other, end, second));
  (void)note(TrsvDeviceWait(other)); /* the caller's stream may use the results */
  return found ? TrsvFail(found, "%s", message) : TRSV_SUCCESS;
}
