/*
   runtime.cuh: errors of the CUDA runtime as a TrsvError; shared by the files of this room.
*/
#ifndef TRSV_RUNTIME_CUH
#define TRSV_RUNTIME_CUH

#include <cuda_runtime.h>
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

/* Records what launch(data, stream) launches, in a stream of its own, so that other streams of the process can be used
   meanwhile. No TrsvDeviceDrain() runs at the same time. */
TrsvError TrsvDeviceCapture(TrsvError (*launch)(void *, TrsvStream), void *data, struct CUgraph_st **graph);

/* memory.cu: a stream of the current device that all threads share, for the second of two tasks; NULL: none. */
TrsvError TrsvSecondStream(cudaStream_t *stream);

/* A part of TrsvDeviceFinalize(). */
void TrsvPinnedFinalize(void);

#endif
