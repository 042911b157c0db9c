/*
   Copies, clocks and launches over the CUDA runtime; memory: memory.cu.
*/
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <atomic>
#include "device/runtime.cuh"

extern "C" TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream stream)
{
  /* from pageable memory: returns once the source has been read */
  return Check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, TrsvDeviceStream(stream)),
               "copy to the device");
}

extern "C" TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream stream)
{
  return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, TrsvDeviceStream(stream)),
               "copy on the device");
}

extern "C" TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream stream)
{
  return Check(cudaMemsetAsync(device, 0, bytes, TrsvDeviceStream(stream)), "clearing on the device");
}

enum {
  PINNED_WORDS = 64 /* of a small download */
};

/* A small download goes through pinned words, so that one wait is enough. */
static TrsvError DownloadPinned(void *host, const void *device, size_t bytes, unsigned *words, TrsvStream stream)
{
  TrsvCall(
    Check(cudaMemcpyAsync(words, device, bytes, cudaMemcpyDeviceToHost, TrsvDeviceStream(stream)), "copy to the host"));
  TrsvCall(TrsvDeviceWait(stream));
  memcpy(host, words, bytes);
  return TRSV_SUCCESS;
}

/* A copy to pageable memory would wait inside the driver for the work before it, while no other function of the thread
   could continue: so TrsvDeviceWait() does. After an error a copy into pinned words may be under way; they are lost. */
extern "C" TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream stream)
{
  unsigned *words;

  if (bytes <= sizeof(*words) * PINNED_WORDS) {
    TrsvCall(TrsvPinnedAlloc(PINNED_WORDS, &words));
    TrsvCall(DownloadPinned(host, device, bytes, words, stream));
    TrsvPinnedFree(PINNED_WORDS, words);
    return TRSV_SUCCESS;
  }
  TrsvCall(TrsvDeviceWait(stream));
  TrsvCall(
    Check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, TrsvDeviceStream(stream)), "copy to the host"));
  return Check(cudaStreamSynchronize(TrsvDeviceStream(stream)), "cudaStreamSynchronize");
}

extern "C" TrsvError TrsvScratchUpload(const void *host, size_t bytes, void *pointer, TrsvStream stream)
{
  TrsvError error;

  TrsvCall(TrsvScratchAlloc(bytes, pointer, stream));
  error = TrsvDeviceUpload(*(void **)pointer, host, bytes, stream);
  if (error) TrsvScratchFree(*(void **)pointer, stream);
  return error;
}


struct TrsvTimer {
  cudaEvent_t start, stop;
};

extern "C" TrsvError TrsvDeviceTimerCreate(TrsvTimer **timer)
{
  *timer = (TrsvTimer *)calloc(1, sizeof(**timer));
  if (!*timer) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a timer");
  TrsvError error = Check(cudaEventCreate(&(*timer)->start), "cudaEventCreate");
  if (!error) error = Check(cudaEventCreate(&(*timer)->stop), "cudaEventCreate");
  if (error) TrsvDeviceTimerDestroy(timer);
  return error;
}

extern "C" TrsvError TrsvDeviceTimerStart(TrsvTimer *timer, TrsvStream stream)
{
  return Check(cudaEventRecord(timer->start, TrsvDeviceStream(stream)), "cudaEventRecord");
}

extern "C" TrsvError TrsvDeviceTimerStop(TrsvTimer *timer, TrsvStream stream)
{
  return Check(cudaEventRecord(timer->stop, TrsvDeviceStream(stream)), "cudaEventRecord");
}

extern "C" TrsvError TrsvDeviceTimerRead(TrsvTimer *timer, double *seconds)
{
  float ms;

  TrsvCall(Check(cudaEventSynchronize(timer->stop), "cudaEventSynchronize"));
  TrsvCall(Check(cudaEventElapsedTime(&ms, timer->start, timer->stop), "cudaEventElapsedTime"));
  *seconds = 1e-3 * ms;
  return TRSV_SUCCESS;
}

extern "C" void TrsvDeviceTimerDestroy(TrsvTimer **timer)
{
  if (!*timer) return;
  if ((*timer)->start) (void)cudaEventDestroy((*timer)->start);
  if ((*timer)->stop) (void)cudaEventDestroy((*timer)->stop);
  free(*timer);
  *timer = NULL;
}

extern "C" TrsvError TrsvDeviceMultiprocessors(int *count)
{
  int device;

  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  return Check(cudaDeviceGetAttribute(count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
}

extern "C" TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes)
{
  const int most = (int)TrsvDeviceGetLimits().shared_bytes;
  int       device, all, reserved;

  *shared_bytes = 0;
  TrsvCall(Check(cudaGetDevice(&device), "cudaGetDevice"));
  TrsvCall(
    Check(cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device), "cudaDeviceGetAttribute"));
  TrsvCall(Check(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device),
                 "cudaDeviceGetAttribute"));
  if (blocks >= 32) return TRSV_SUCCESS; /* what the hardware allows anyhow */
  int bytes = all / (blocks + 1) - reserved + 1024; /* too much for one block more */
  if (bytes > most - 1024) bytes = most - 1024;     /* the kernel's own static shared memory */
  TrsvCall(TrsvDeviceSetMaxShared(kernel)); /* not these alone: the kernel has other launches */
  *shared_bytes = (size_t)bytes;
  return TRSV_SUCCESS;
}

extern "C" TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes,
                                        int *clusters)
{
  cudaLaunchConfig_t  c         = {};
  cudaLaunchAttribute dimension = {};
  cudaError_t         e;

  dimension.id               = cudaLaunchAttributeClusterDimension;
  dimension.val.clusterDim.x = (unsigned)cluster;
  dimension.val.clusterDim.y = dimension.val.clusterDim.z = 1;
  c.gridDim          = dim3((unsigned)cluster);
  c.blockDim         = dim3((unsigned)threads);
  c.dynamicSmemBytes = shared_bytes;
  c.attrs            = &dimension;
  c.numAttrs         = 1;
  *clusters          = 0;
  e                  = cudaOccupancyMaxActiveClusters(clusters, kernel, &c);
  if (e != cudaErrorInvalidClusterSize) return Check(e, "cudaOccupancyMaxActiveClusters");
  (void)cudaGetLastError(); /* none, then */
  return TRSV_SUCCESS;
}

/* Its code is what the driver has chosen for this device from all code of the library. */
static __global__ void device_code() { }

/* Clusters need compute capability 9.0 of both the device and the code. PTX of 8.0 has the other copies, whichever
   device runs it (threads.cuh). */
static TrsvError AskLimits(int device, TrsvDeviceLimits *limits)
{
  cudaFuncAttributes code;
  int                most, clusters;

  TrsvCall(
    Check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "cudaDeviceGetAttribute"));
  TrsvCall(Check(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device), "cudaDeviceGetAttribute"));
  TrsvCall(Check(cudaFuncGetAttributes(&code, (const void *)device_code), "cudaFuncGetAttributes"));
  limits->clusters     = clusters && code.ptxVersion >= 90;
  limits->shared_bytes = (size_t)most;
  return TRSV_SUCCESS;
}

static const TrsvDeviceLimits *override_limits;

/* For benchmarks: lower limits than the device's, for plans made from now on; NULL: the device's. */
extern "C" void TrsvDeviceLimitsOverride(const TrsvDeviceLimits *limits)
{
  static TrsvDeviceLimits kept;

  if (limits) kept = *limits;
  override_limits = limits ? &kept : NULL;
}

/* Every choice of an algorithm depends on them, so each device is asked once. */
extern "C" TrsvDeviceLimits TrsvDeviceGetLimits(void)
{
  enum { DEVICES = 64 };
  static std::atomic<unsigned> known[DEVICES]; /* 2 * shared_bytes + clusters; 0: not asked yet */
  TrsvDeviceLimits             limits = {1, TRSV_H200_SHARED};
  int                          device;

  if (override_limits) return *override_limits;
  if (Check(cudaGetDevice(&device), "cudaGetDevice")) return limits;
  const unsigned held = device < DEVICES ? known[device].load() : 0;
  if (held) return {(int)(held % 2), held / 2};
  if (!AskLimits(device, &limits) && device < DEVICES)
    known[device].store(2 * (unsigned)limits.shared_bytes + (unsigned)limits.clusters);
  return limits;
}

extern "C" TrsvError TrsvDeviceSetMaxShared(const void *kernel)
{
  const TrsvDeviceLimits limits = TrsvDeviceGetLimits();
  cudaFuncAttributes     now;

  TrsvCall(Check(cudaFuncGetAttributes(&now, kernel), "cudaFuncGetAttributes"));
  TrsvCall(Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)(limits.shared_bytes - now.sharedSizeBytes)),
                 "cudaFuncSetAttribute"));
  return limits.clusters ? Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                                 "cudaFuncSetAttribute")
                         : TRSV_SUCCESS;
}

struct TrsvDeviceGraph {
  TrsvError (*launch)(void *, TrsvStream);
  void           *data;
  cudaGraphExec_t exec;
};

/* A wait for all of the device fails, and breaks a capture, while there is one, be it another thread's; others' are not
   known here. */
static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;

extern "C" int TrsvDeviceDrain(void)
{
  (void)pthread_mutex_lock(&recording);
  const cudaError_t e = cudaDeviceSynchronize();
  (void)pthread_mutex_unlock(&recording);
  if (e == cudaSuccess) return 1;
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  return 0;
}

/* Captured in a stream that nobody else knows, so that other streams of the process may do what they like meanwhile. */
static TrsvError Capture(TrsvError (*launch)(void *, TrsvStream), void *data, cudaStream_t stream, cudaGraph_t *graph)
{
  TrsvCall(Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture"));
  const TrsvError   error = launch(data, stream);
  const cudaError_t end   = cudaStreamEndCapture(stream, graph);

  return error ? error : Check(end, "cudaStreamEndCapture");
}

extern "C" TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *, TrsvStream), void *data, TrsvDeviceGraph **graph)
{
  cudaStream_t stream;
  cudaGraph_t  recorded = NULL;
  TrsvError    error;

  *graph = (TrsvDeviceGraph *)calloc(1, sizeof(**graph));
  if (!*graph) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a graph");
  (*graph)->launch = launch;
  (*graph)->data   = data;
  error            = Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  if (!error) {
    (void)pthread_mutex_lock(&recording);
    error = Capture(launch, data, stream, &recorded);
    (void)pthread_mutex_unlock(&recording);
    (void)cudaStreamDestroy(stream);
  }
  if (!error) error = Check(cudaGraphInstantiate(&(*graph)->exec, recorded, 0), "cudaGraphInstantiate");
  if (recorded) (void)cudaGraphDestroy(recorded);
  if (error) TrsvDeviceGraphDestroy(graph);
  return error;
}

extern "C" TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *graph, TrsvStream stream)
{
  cudaStreamCaptureStatus status;

  TrsvCall(Check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing"));
  if (status != cudaStreamCaptureStatusNone) return graph->launch(graph->data, stream); /* into somebody else's graph */
  return Check(cudaGraphLaunch(graph->exec, stream), "cudaGraphLaunch");
}

extern "C" void TrsvDeviceGraphDestroy(TrsvDeviceGraph **graph)
{
  if (!*graph) return;
  if ((*graph)->exec) (void)cudaGraphExecDestroy((*graph)->exec);
  free(*graph);
  *graph = NULL;
}

extern "C" TrsvError TrsvDeviceCheckLaunch(const char *kernel) { return Check(cudaGetLastError(), kernel); }
