/*
   launch.cuh: launches under CUDA, and the two kinds of device code. threads.cuh includes it; the executor of the tests
   has its own launches.
*/
#ifndef TRSV_LAUNCH_CUH
#define TRSV_LAUNCH_CUH

#include "device/device.h"

/* Code for compute capability 9.0 and later has clusters, bulk copies, waits of barriers that suspend the thread, and
   early launches. Code for 8.x, or its PTX on any device, has none of them: cp.async copies, waits poll, and
   TrsvDeviceGetLimits() reports no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  #define TRSV_CODE_90 1
#else
  #define TRSV_CODE_90 0
#endif

#define TRSV_SHARED(T, name, n) __shared__ T name[n]
#define TRSV_SHARED_DYNAMIC(name) \
    extern __shared__ __align__(1024) unsigned char trsv_shared_memory[]; \
    unsigned char *const                            name = trsv_shared_memory
#define TRSV_LAUNCH(kernel, grid, block, shared, stream, ...) \
    (kernel)<<<(grid), (block), (shared), TrsvDeviceStream(stream)>>>(__VA_ARGS__)

/* For early launches. trsv_wait_for_previous() waits until the previous launch is over and its stores are visible.
   Until then a launch may use only memory that no launch changes, and the plan's ticket: the previous launch has taken
   all of its tickets. A launch calls trsv_let_next_start() after its own wait, so no launch before the previous one
   still runs. Both do nothing in launches that are not early, and in code for 8.x, which has no early launches. */
#if TRSV_CODE_90
static TRSV_INLINE void trsv_wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static TRSV_INLINE void trsv_let_next_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#else
static TRSV_INLINE void trsv_wait_for_previous() { }
static TRSV_INLINE void trsv_let_next_start() { }
#endif

/* A launch in clusters of blocks. An early launch may start while the previous launch in the stream still runs, after
   all blocks of the previous launch have called trsv_let_next_start(). */
#define TRSV_LAUNCH_EARLY(kernel, early, cluster, grid, block, shared, stream, ...) \
    trsv_launch((kernel), (early), (cluster), (grid), (block), (shared), (stream), __VA_ARGS__)
template <class... P, class... A> static inline void trsv_launch(void (*kernel)(P...), bool early, unsigned cluster,
                                                                 unsigned grid, unsigned block, size_t shared,
                                                                 TrsvStream stream, A... arguments)
{
  cudaLaunchAttribute attribute[2] = {}, *a = attribute;

  if (cluster > 1) {
    a->id               = cudaLaunchAttributeClusterDimension;
    a++->val.clusterDim = {cluster, 1, 1};
  }
  if (early && TrsvDeviceGetLimits().clusters) {
    a->id                                           = cudaLaunchAttributeProgrammaticStreamSerialization;
    a++->val.programmaticStreamSerializationAllowed = 1;
  }
  const cudaLaunchConfig_t c = {
    dim3(grid), dim3(block), shared, TrsvDeviceStream(stream), attribute, (unsigned)(a - attribute)};
  (void)cudaLaunchKernelEx(&c, kernel, P(arguments)...);
}

#endif
