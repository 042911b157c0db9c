/*
   cuda_runtime.h: the CUDA runtime functions that src/kernels/device uses, over the executor: runtime.cc and events.cc.
*/
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H

#include <stddef.h>

typedef struct CUstream_st         *cudaStream_t;
typedef struct CUmemPoolHandler_st *cudaMemPool_t;
typedef struct CUevent_st          *cudaEvent_t;

typedef enum { cudaSuccess, cudaErrorMemoryAllocation, cudaErrorNotReady, cudaErrorUnknown } cudaError_t;

typedef enum { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive } cudaStreamCaptureStatus;

enum {
  cudaEventDisableTiming      = 2,
  cudaStreamNonBlocking       = 1,
  cudaMemAllocationTypePinned = 1,
  cudaMemLocationTypeDevice   = 1
};

typedef enum { cudaDevAttrMemoryPoolsSupported } cudaDeviceAttr;

typedef enum {
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
} cudaMemPoolAttr;

typedef struct {
  int allocType;
  struct {
    int type, id;
  } location;
} cudaMemPoolProps;

typedef struct {
  int device;
} cudaPointerAttributes;

#ifdef __cplusplus
extern "C" {
#endif
/* The most bytes of a piece of scratch memory that shares a block. 0: no piece does, and the bounds of each are
   checked. */
extern size_t SimtPieceBytes;
#define PIECE_BYTES SimtPieceBytes
/* Bytes that belong to no array: if one was written, the program ends as the memory is freed. The address sanitizer
   reports each use. */
void SimtFence(char *from, char *to);

cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const cudaMemPoolProps *);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *);
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long *);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventDestroy(cudaEvent_t);

#ifdef __cplusplus
}
#endif

#endif
