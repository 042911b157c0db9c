/*
   64-bit indices on the device in 32 bits.

   Mapping: a thread for each index. No thread waits for another. Same bits: copies.
*/
#include "device/setup.cuh"
#include "trsv.h"

static __global__ void narrow(int n, const int64_t *from, int *to)
{
  const int i = trsv_index();

  if (i < n) to[i] = (int)from[i];
}

extern "C" TrsvError TrsvDeviceNarrow(int n, const int64_t *from, int **to)
{
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)n, to));
  TrsvError error = TrsvLaunchEach("narrow", narrow, n, n, from, *to);
  if (!error) error = TrsvDeviceSynchronize();
  if (!error) return TRSV_SUCCESS;
  TrsvDeviceFree(*to);
  *to = NULL;
  return error;
}
