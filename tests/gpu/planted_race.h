/*
   A planted race, for make planted: the blocks of a file that is compiled with this header (-include) do not wait at
   the __syncthreads() of chunk_sums. tests/gpu/races.py has to report it.
*/
#include <cuda_runtime.h>
#define __syncthreads() (__func__[6] == 's' && __func__[7] == 'u' ? (void)0 : __syncthreads())
