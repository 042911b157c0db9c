/*
   expect.cuh: checks for the tests of device memory and of waits; a failure is printed and counted.
*/
#ifndef TEST_EXPECT_CUH
#define TEST_EXPECT_CUH

#include <cuda_runtime.h>
#include <stdio.h>
#include <atomic>
#include "base/base.h"

static std::atomic<int> failures;

#define EXPECT(what, ...) \
  do { \
    if (!(what)) { \
      failures++; \
      printf("FAILED line %d: ", __LINE__); \
      printf(__VA_ARGS__); \
      printf("\n"); \
    } \
  } while (0)
#define EXPECT_SUCCESS(...) \
  do { \
    const TrsvError need_ = __VA_ARGS__; \
    EXPECT(!need_, "%s: %s", #__VA_ARGS__, TrsvErrorMessage()); \
  } while (0)
#define EXPECT_CUDA(...) \
  do { \
    const cudaError_t cuda_ = __VA_ARGS__; \
    EXPECT(cuda_ == cudaSuccess, "%s: %s", #__VA_ARGS__, cudaGetErrorString(cuda_)); \
  } while (0)

#endif
