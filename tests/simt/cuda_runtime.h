/*
   cuda_runtime.h: what src/kernels/device/interleave.cu has from the CUDA runtime and of contexts, over the executor: device.cc and turns.cc.
*/
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H

#include <stddef.h>
#include <ucontext.h>

typedef struct CUstream_st *cudaStream_t;

typedef enum {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNotReady,
  cudaErrorUnknown
} cudaError_t;

enum {
  cudaStreamNonBlocking = 1
};

extern "C" {
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);

void SimtMakeContext(ucontext_t *, void (*)(void), int);
int  SimtSwapContext(ucontext_t *, const ucontext_t *);

void *SimtMap(size_t bytes, int protection, int flags);
}

#define makecontext(context, run, arguments) SimtMakeContext(context, run, arguments)
#define mmap(address, bytes, protection, flags, file, offset) SimtMap(bytes, protection, flags)
#define swapcontext(from, to) SimtSwapContext(from, to)

#endif
