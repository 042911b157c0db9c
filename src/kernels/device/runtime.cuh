/*
   runtime.cuh: errors of the CUDA runtime as ours; what the files of this room share.
*/
#ifndef TRSV_RUNTIME_CUH
#define TRSV_RUNTIME_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include "device/device.h"

static inline TrsvError Check(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return TRSV_SUCCESS;
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  return TrsvFail(e == cudaErrorMemoryAllocation ? TRSV_ERR_MEMORY : TRSV_ERR_DEVICE, "%s: %s", what,
                  cudaGetErrorString(e));
}

/* Waits for all that the current device does; false if that failed, as it does while a stream is captured. */
extern "C" int TrsvDeviceDrain(void);

/* What NULL stands for as a stream in this thread, and what a wait calls while the stream is busy. Both are NULL, but
   while interleave.cu runs two functions. */
struct ThreadState {
  cudaStream_t stream;
  void (*yield)(void);
};
extern thread_local ThreadState TrsvThisThread;

/* What TrsvDeviceFinalize() calls. */
void TrsvInterleaveFinalize(void);
void TrsvPinnedFinalize(void);

#endif
