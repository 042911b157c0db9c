/*
   A planted race, for make planted: the blocks of a file that is compiled with this header (-include) do not wait at
   __syncthreads(). tests/gpu/races.py has to report it.
*/
#include <cuda_runtime.h>
#define __syncthreads() ((void)0)
