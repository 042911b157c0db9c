/*
   Vectors of the device in another order; one thread for each value.
*/
#include "device/sync.cuh"

template <class T> static __global__ void permute(int n, const int *index, int scatter, const T *from, T *to)
{
  const int i = trsv_index();

  if (i >= n) return;
  if (scatter) to[index[i]] = from[i];
  else to[i] = from[index[i]];
}

extern "C" TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision precision, const void *from,
                                       void *to, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks(n, 256);

  if (!n) return TRSV_SUCCESS;
  if (precision == TRSV_FLOAT)
    TRSV_LAUNCH((permute<float>), grid, 256, 0, stream, n, index, scatter, (const float *)from, (float *)to);
  else TRSV_LAUNCH((permute<double>), grid, 256, 0, stream, n, index, scatter, (const double *)from, (double *)to);
  return TrsvDeviceCheckLaunch("permute");
}
