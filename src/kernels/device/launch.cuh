/*
   launch.cuh: launches under CUDA. Included by threads.cuh; the executor of the tests has its own.
*/
#ifndef TRSV_LAUNCH_CUH
#define TRSV_LAUNCH_CUH

#include "device/device.h"

#define TRSV_SHARED(T, name, n) __shared__ T name[n]
#define TRSV_SHARED_DYNAMIC(name) \
    extern __shared__ __align__(1024) unsigned char trsv_shared_memory[]; \
    unsigned char *const                            name = trsv_shared_memory
#define TRSV_LAUNCH(kernel, grid, block, shared, stream, ...) \
    (kernel)<<<(grid), (block), (shared), TrsvDeviceStream(stream)>>>(__VA_ARGS__)

/* A launch whose blocks all run at the same time, so that any may wait for any other; an error if they do not fit on
   the device. */
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

/* A launch in clusters of blocks. An early launch may start while the previous launch in the stream still runs, once
   all blocks of that have called trsv_let_next_start(). */
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
  if (early) {
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
