/*
   Copies, timers and kernel attributes over the CUDA runtime. Memory: memory.cu.
*/
#include <stdlib.h>
#include <string.h>
#include <atomic>
#include "device/runtime.cuh"

TrsvError TrsvDeviceUpload(void *device, const void *host, size_t bytes, TrsvStream stream)
{
  TrsvCall(Check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, TrsvDeviceStream(stream)),
                 "copy to the device"));
  return TrsvDeviceWait(stream); /* else a copy from pinned memory could still read the source */
}

TrsvError TrsvDeviceCopy(void *to, const void *from, size_t bytes, TrsvStream stream)
{
  return Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, TrsvDeviceStream(stream)),
               "copy on the device");
}

TrsvError TrsvDeviceClear(void *device, size_t bytes, TrsvStream stream)
{
  return Check(cudaMemsetAsync(device, 0, bytes, TrsvDeviceStream(stream)), "clearing on the device");
}

TrsvError TrsvDeviceDownload(void *host, const void *device, size_t bytes, TrsvStream stream)
{
  const size_t few = 64 * sizeof(unsigned);

  if (bytes <= few && bytes % sizeof(unsigned) == 0)
    return TrsvDeviceDownloadWords((unsigned *)host, (const unsigned *)device, (int)(bytes / sizeof(unsigned)), stream);
  TrsvCall(
    Check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, TrsvDeviceStream(stream)), "copy to the host"));
  return CheckCall(cudaStreamSynchronize, TrsvDeviceStream(stream));
}

TrsvError TrsvDeviceTime(TrsvError (*run)(void *, TrsvStream), void *data, TrsvStream stream, double *seconds)
{
  const cudaStream_t in = TrsvDeviceStream(stream);
  cudaEvent_t        start = NULL, stop = NULL;
  float              ms    = 0;
  TrsvError          error = CheckCall(cudaEventCreate, &start);

  if (!error) error = CheckCall(cudaEventCreate, &stop);
  if (!error) error = CheckCall(cudaEventRecord, start, in);
  if (!error) error = run(data, stream);
  if (!error) error = CheckCall(cudaEventRecord, stop, in);
  if (!error) error = CheckCall(cudaEventSynchronize, stop);
  if (!error) error = CheckCall(cudaEventElapsedTime, &ms, start, stop);
  if (!error) *seconds = 1e-3 * ms;
  if (start) (void)cudaEventDestroy(start);
  if (stop) (void)cudaEventDestroy(stop);
  return error;
}

/* An attribute of the current device. */
static TrsvError GetAttribute(cudaDeviceAttr attribute, int *value)
{
  int device;

  TrsvCall(CheckCall(cudaGetDevice, &device));
  return CheckCall(cudaDeviceGetAttribute, value, attribute, device);
}

TrsvError TrsvDeviceMultiprocessors(int *count) { return GetAttribute(cudaDevAttrMultiProcessorCount, count); }

TrsvError TrsvDeviceLimitBlocks(const void *kernel, int blocks, size_t *shared_bytes)
{
  const int most = (int)TrsvDeviceGetLimits().shared_bytes;
  int       all, reserved;

  *shared_bytes = 0;
  if (blocks >= 32) return TRSV_SUCCESS; /* the hardware has no more */
  TrsvCall(GetAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &all));
  TrsvCall(GetAttribute(cudaDevAttrReservedSharedMemoryPerBlock, &reserved));
  int bytes = all / (blocks + 1) - reserved + 1024; /* too many for blocks + 1 blocks */
  if (bytes > most - 1024) bytes = most - 1024;     /* leaves room for static shared memory */
  TrsvCall(TrsvDeviceSetMaxShared(kernel));         /* the maximum: other launches of the kernel need other sizes */
  *shared_bytes = (size_t)bytes;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceClusters(const void *kernel, int cluster, int threads, size_t shared_bytes, int *clusters)
{
  cudaLaunchAttribute      dimension = {};
  const cudaLaunchConfig_t c = {dim3((unsigned)cluster), dim3((unsigned)threads), shared_bytes, NULL, &dimension, 1};

  dimension.id             = cudaLaunchAttributeClusterDimension;
  dimension.val.clusterDim = {(unsigned)cluster, 1, 1};
  *clusters                = 0;
  const cudaError_t e      = cudaOccupancyMaxActiveClusters(clusters, kernel, &c);
  if (e != cudaErrorInvalidClusterSize) return Check(e, "cudaOccupancyMaxActiveClusters");
  (void)cudaGetLastError(); /* else the next launch would report it */
  return TRSV_SUCCESS;
}

/* Its attributes show which code of the library the driver has chosen for this device. */
static __global__ void device_code() { }

/* Clusters need compute capability 9.0 of both the device and the code. PTX of 8.0 has none (threads.cuh). */
static TrsvError AskLimits(TrsvDeviceLimits *limits)
{
  cudaFuncAttributes code;
  int                most, clusters;

  TrsvCall(GetAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most));
  TrsvCall(GetAttribute(cudaDevAttrClusterLaunch, &clusters));
  TrsvCall(CheckCall(cudaFuncGetAttributes, &code, (const void *)device_code));
  limits->clusters     = clusters && code.ptxVersion >= 90;
  limits->shared_bytes = (size_t)most;
  return TRSV_SUCCESS;
}

static TrsvDeviceLimits override_limits; /* without shared memory: not set */

/* For benchmarks: sets lower limits than the device's for all later plans; NULL: the device's limits. */
extern "C" void TrsvDeviceLimitsOverride(const TrsvDeviceLimits *limits)
{
  override_limits = limits ? *limits : TrsvDeviceLimits();
}

/* Queries each device once, because every selection of an algorithm reads the limits. */
TrsvDeviceLimits TrsvDeviceGetLimits(void)
{
  enum { DEVICES = 64 };
  static std::atomic<unsigned> known[DEVICES]; /* 2 * shared_bytes + clusters; 0: not queried yet */
  TrsvDeviceLimits             limits = {1, TRSV_H200_SHARED};
  int                          device;

  if (override_limits.shared_bytes) return override_limits;
  if (CheckCall(cudaGetDevice, &device)) return limits;
  const unsigned held = device < DEVICES ? known[device].load() : 0;
  if (held) return {(int)(held % 2), held / 2};
  if (!AskLimits(&limits) && device < DEVICES)
    known[device].store(2 * (unsigned)limits.shared_bytes + (unsigned)limits.clusters);
  return limits;
}

TrsvError TrsvDeviceSetMaxShared(const void *kernel)
{
  const TrsvDeviceLimits limits = TrsvDeviceGetLimits();
  cudaFuncAttributes     now;

  TrsvCall(CheckCall(cudaFuncGetAttributes, &now, kernel));
  TrsvCall(CheckCall(cudaFuncSetAttribute, kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                     (int)(limits.shared_bytes - now.sharedSizeBytes)));
  return limits.clusters ? CheckCall(cudaFuncSetAttribute, kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)
                         : TRSV_SUCCESS;
}

pthread_mutex_t TrsvDeviceRecording = PTHREAD_MUTEX_INITIALIZER;

int TrsvDeviceDrain(void)
{
  (void)pthread_mutex_lock(&TrsvDeviceRecording);
  const cudaError_t e = cudaDeviceSynchronize();
  (void)pthread_mutex_unlock(&TrsvDeviceRecording);
  if (e == cudaSuccess) return 1;
  (void)cudaGetLastError(); /* else the next launch would report it */
  return 0;
}

TrsvError TrsvDeviceCheckLaunch(const char *kernel) { return Check(cudaGetLastError(), kernel); }
