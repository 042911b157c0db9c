/*
   runtime.cuh: errors of the CUDA runtime as ours; words of the host that the device can write; what a wait says of
   memory.
*/
#ifndef TRSV_RUNTIME_CUH
#define TRSV_RUNTIME_CUH

#include <cuda_runtime.h>
#include "device/device.h"

static inline TrsvError Check(cudaError_t e, const char *what)
{
  if (e == cudaSuccess) return TRSV_SUCCESS;
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  return TrsvFail(e == cudaErrorMemoryAllocation ? TRSV_ERR_MEMORY : TRSV_ERR_DEVICE, "%s: %s", what,
                  cudaGetErrorString(e));
}

/* n words that follow each other, all 0, pinned; at most 1,024. */
TrsvError TrsvDeviceAllocWords(int n, unsigned **words);
void      TrsvDeviceFreeWords(int n, unsigned *words);

/* What was released in a stream, which somebody has waited for, before: when TrsvScratchFrees() told so many, may be
   asked for in any. */
extern "C" size_t TrsvScratchFrees(void);
extern "C" void   TrsvDeviceSettle(TrsvStream, size_t releases);

/* Waits for all that the current device does; false if that failed. */
extern "C" int TrsvDeviceDrain(void);

#endif
