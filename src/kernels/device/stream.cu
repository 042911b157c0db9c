/*
   The stream that NULL means, and waits for the device.
*/
#include "device/runtime.cuh"

thread_local ThreadState TrsvThisThread;

extern "C" TrsvStream TrsvCurrentStream(void) { return TrsvThisThread.stream; }

extern "C" int TrsvDeviceSharing(void) { return TrsvThisThread.yield ? 2 : 1; }

extern "C" TrsvError TrsvDeviceWait(TrsvStream stream)
{
  while (TrsvThisThread.yield) {
    const cudaError_t e = cudaStreamQuery(TrsvDeviceStream(stream));

    if (e != cudaErrorNotReady) return Check(e, "cudaStreamQuery");
    (void)cudaGetLastError(); /* else the next launch would report it */
    TrsvThisThread.yield();
  }
  return Check(cudaStreamSynchronize(TrsvDeviceStream(stream)), "cudaStreamSynchronize");
}

extern "C" TrsvError TrsvDeviceIsIdle(TrsvStream stream, int *idle)
{
  const cudaError_t e = cudaStreamQuery(TrsvDeviceStream(stream));

  *idle = e == cudaSuccess;
  if (e != cudaErrorNotReady) return Check(e, "cudaStreamQuery");
  (void)cudaGetLastError(); /* or it would be taken for the next launch's */
  return TRSV_SUCCESS;
}

extern "C" TrsvError TrsvDeviceSynchronize(void) { return TrsvDeviceWait(NULL); }
