/*
   runtime.cuh: errors of the CUDA runtime as a TrsvError; shared by the files of this room.
*/
#ifndef TRSV_RUNTIME_CUH
#define TRSV_RUNTIME_CUH

#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include "device/device.h"

static inline TrsvError Check(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return TRSV_SUCCESS;
  (void)cudaGetLastError(); /* else the next launch would report it */
  return TrsvFail(e == cudaErrorMemoryAllocation ? TRSV_ERR_MEMORY : TRSV_ERR_DEVICE, "%s: %s", what,
                  cudaGetErrorString(e));
}

/* Calls a function of the runtime. */
#define CheckCall(function, ...) Check(function(__VA_ARGS__), #function)

/* Waits for the whole current device; returns 0 if that fails, as it does during a capture. */
extern "C" int TrsvDeviceDrain(void);

/* A wait for the whole device fails while any thread captures a stream, and breaks that capture. TrsvDeviceDrain()
   holds this lock, and a capture by the library has to. Captures by other code are unknown here. */
extern pthread_mutex_t TrsvDeviceRecording;

/* memory.cu: a stream of the current device that all threads share, for the second of two tasks; NULL: none. */
TrsvError TrsvSecondStream(cudaStream_t *stream);

/* A part of TrsvDeviceFinalize(). */
void TrsvPinnedFinalize(void);

#endif
