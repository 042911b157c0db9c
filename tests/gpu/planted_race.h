/*
   A planted race, for make planted: the blocks of a file that is compiled with this header (-include) do not wait at
   the __syncthreads() of chunk_sums. tests/gpu/races.py has to report it.
*/
#include <cuda_runtime.h>

static __device__ constexpr bool EqualNames(const char *a, const char *b)
{
  return *a == *b && (!*a || EqualNames(a + 1, b + 1));
}

#define __syncthreads() (EqualNames(__func__, "chunk_sums") ? (void)0 : __syncthreads())
