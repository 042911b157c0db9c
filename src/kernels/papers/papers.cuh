/*
   papers.cuh: launches and device code that only the published algorithms need.
*/
#ifndef TRSV_PAPERS_CUH
#define TRSV_PAPERS_CUH

#include "device/sync.cuh"

/* The instance of a function template for real values of a precision. */
#define TRSV_BY_REAL_PRECISION(precision, f) ((precision) == TRSV_FLOAT ? f<float> : f<double>)

#ifndef TRSV_SIMT /* the executor of the tests has its own */
/* A launch whose blocks all run at the same time, so that any block may wait for any other. If they do not fit on the
   device, the launch is an error. */
  #define TRSV_LAUNCH_TOGETHER(kernel, grid, block, shared, stream, ...) \
    trsv_launch_together((kernel), (grid), (block), (shared), (stream), __VA_ARGS__)
template <class... P, class... A>
static inline void trsv_launch_together(void (*kernel)(P...), unsigned grid, unsigned block, size_t shared,
                                        TrsvStream stream, A... arguments)
{
  cudaLaunchAttribute attribute = {};

  attribute.id              = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  const cudaLaunchConfig_t c = {dim3(grid), dim3(block), shared, TrsvDeviceStream(stream), &attribute, 1};
  (void)cudaLaunchKernelEx(&c, kernel, P(arguments)...);
}

/* A sum with many writers. */
template <class T> static TRSV_INLINE void trsv_add(T *p, T v) { (void)atomicAdd(p, v); }

/* A counter with many writers. A count-down releases the earlier stores of its thread. A thread that acquires the
   counter sees what all earlier count-downs released. */
static TRSV_INLINE void trsv_count_down(unsigned *p)
{
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(~0u) : "memory");
}

static TRSV_INLINE unsigned trsv_load_acquire(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}
#endif

#endif
