/*
   cuda_runtime.h: what src/kernels/together.cu has from the CUDA runtime and of threads, over the executor: device.cc and turns.cc.
*/
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H

#include <pthread.h>

typedef struct CUstream_st *cudaStream_t;

typedef enum {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorUnknown
} cudaError_t;

enum {
  cudaStreamNonBlocking = 1
};

extern "C" {
cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t);

int SimtThreadCreate(pthread_t *, const pthread_attr_t *, void *(*run)(void *), void *data);
int SimtThreadJoin(pthread_t, void **);
}

#define pthread_create SimtThreadCreate
#define pthread_join   SimtThreadJoin

#endif
