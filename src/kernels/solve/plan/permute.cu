/*
   Permutes vectors on the device.

   Mapping: a thread for each value. Memory order: no values cross threads. Why it ends: no thread waits. Same bits:
   copies.
*/
#include "device/setup.cuh"
#include "solve/plan/plan.h"

template <class T> static __global__ void permute(int n, const int *index, int scatter, const T *from, T *to)
{
  const int i = trsv_index();

  if (i >= n) return;
  if (scatter) to[index[i]] = from[i];
  else to[i] = from[index[i]];
}

TrsvError TrsvDevicePermute(int n, const int *index, int scatter, TrsvPrecision precision, const void *from, void *to,
                            TrsvStream stream)
{
  return TrsvByType(precision, [&](auto value) {
    typedef decltype(value) T;
    return TrsvLaunchEachIn(stream, permute<T>, n, n, index, scatter, (const T *)from, (T *)to);
  });
}
