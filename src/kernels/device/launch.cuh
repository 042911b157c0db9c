/*
   launch.cuh: launches under CUDA, and which code is compiled; threads.cuh includes it, or what stands for it.
*/
#ifndef TRSV_LAUNCH_CUH
#define TRSV_LAUNCH_CUH

#include "device/device.h"

/* Code for compute capability 9.0 and later has clusters, bulk copies, waits of barriers that suspend the thread, and
   early launches. Code for 8.x, or its PTX on any device, has none of them: cp.async copies, waits poll, and
   TrsvDeviceGetLimits() says that there are no clusters. */
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

/* A launch all of whose blocks are there from its start, so that any may wait for any other; an error where they do
   not fit on the device. */
#define TRSV_LAUNCH_TOGETHER(kernel, grid, block, shared, stream, ...) \
    trsv_launch_together((kernel), (grid), (block), (shared), (stream), __VA_ARGS__)
template <class... P, class... A> static inline void trsv_launch_together(void (*kernel)(P...), unsigned grid,
                                                                          unsigned block, size_t shared,
                                                                          TrsvStream stream, A... a)
{
  cudaLaunchConfig_t  c         = {};
  cudaLaunchAttribute attribute = {};

  attribute.id              = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  c.gridDim                 = dim3(grid);
  c.blockDim                = dim3(block);
  c.dynamicSmemBytes        = shared;
  c.stream                  = TrsvDeviceStream(stream);
  c.attrs                   = &attribute;
  c.numAttrs                = 1;
  (void)cudaLaunchKernelEx(&c, kernel, P(a)...);
}

/* In an early launch: the launch before it is over, and what it wrote is seen. Before that, nothing may be touched but
   what no launch changes, and the plan's ticket, which the launch before has taken all of by then. A launch says that
   the next may start after it has waited itself: so each finds all but the one right before it over. In code for 8.x
   both do nothing, and no launch is early. */
#if TRSV_CODE_90
static __device__ __forceinline__ void trsv_wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static __device__ __forceinline__ void trsv_let_next_start()
{
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
static __device__ __forceinline__ void trsv_wait_for_previous() { }
static __device__ __forceinline__ void trsv_let_next_start() { }
#endif

/* Launches in clusters of blocks, and early ones: these may start while the launch before them in the stream still
   runs, once all its blocks have called trsv_let_next_start(). */
#define TRSV_LAUNCH_EARLY(kernel, early, cluster, grid, block, shared, stream, ...) \
    trsv_launch_early((kernel), (early), (cluster), (grid), (block), (shared), (stream), __VA_ARGS__)
template <class... P, class... A> static inline void trsv_launch_early(void (*kernel)(P...), bool early,
                                                                       unsigned cluster, unsigned grid, unsigned block,
                                                                       size_t shared, TrsvStream stream, A... a)
{
  cudaLaunchConfig_t  c            = {};
  cudaLaunchAttribute attribute[2] = {};

  if (cluster > 1) {
    attribute[c.numAttrs].id               = cudaLaunchAttributeClusterDimension;
    attribute[c.numAttrs].val.clusterDim.x = cluster;
    attribute[c.numAttrs].val.clusterDim.y = attribute[c.numAttrs].val.clusterDim.z = 1;
    c.numAttrs++;
  }
  if (early && TrsvDeviceGetLimits().clusters) {
    attribute[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  c.gridDim          = dim3(grid);
  c.blockDim         = dim3(block);
  c.dynamicSmemBytes = shared;
  c.stream           = TrsvDeviceStream(stream);
  c.attrs            = attribute;
  (void)cudaLaunchKernelEx(&c, kernel, P(a)...);
}

#endif
