/*
   planted: what racecheck must report, and what it must not: a race, and an exchange of words that are their own flags.
   tests/gpu/long.sh runs it before everything else that is looked at for races.

   Mapping: one block; warp 1 reads what warp 0 writes. Why it ends: the exchange waits for a word that warp 0 writes
   without waiting itself.
*/
#include <cuda_runtime.h>
#include <stdio.h>
#include "device/sync.cuh"

static __global__ void planted_race(int *to)
{
  TRSV_SHARED(int, plain, 32);

  if (threadIdx.x < 32) plain[threadIdx.x] = (int)threadIdx.x + 1;
  else to[threadIdx.x - 32] = plain[threadIdx.x - 32];
}

static __global__ void planted_words(double *to)
{
  const unsigned at = trsv_shared_address() + 8 * (threadIdx.x % 32);
  double         v;

  if (threadIdx.x < 32) trsv_shared_store(at, trsv_not_ready<double>());
  __syncthreads();
  if (threadIdx.x < 32) trsv_shared_store(at, (double)threadIdx.x);
  else {
    do v = trsv_shared_load<double>(at);
    while (!trsv_is_ready(v));
    to[threadIdx.x - 32] = v;
  }
}

int main(void)
{
  void *to;

  if (cudaMalloc(&to, 32 * sizeof(double)) != cudaSuccess) return 2;
  planted_race<<<1, 64>>>((int *)to);
  planted_words<<<1, 64, 256>>>((double *)to);
  const cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
