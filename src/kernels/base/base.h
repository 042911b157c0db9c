/*
   base.h: errors, host memory, a clock. Used by all rooms; any thread may call these functions.
*/
#ifndef TRSV_BASE_H
#define TRSV_BASE_H

#include "base/types.h"

TRSV_C_BEGIN

#ifdef __CUDACC__
  #define TRSV_HOST_DEVICE static __host__ __device__ inline
#else
  #define TRSV_HOST_DEVICE static inline
#endif

static inline int TrsvIsComplex(TrsvPrecision p) { return p == TRSV_COMPLEX_FLOAT || p == TRSV_COMPLEX_DOUBLE; }

/* The precision of the real and imaginary parts of values; for real values their own precision. */
static inline TrsvPrecision TrsvRealPrecision(TrsvPrecision p)
{
  return p == TRSV_FLOAT || p == TRSV_COMPLEX_FLOAT ? TRSV_FLOAT : TRSV_DOUBLE;
}

static inline size_t TrsvValueSize(TrsvPrecision p)
{
  return (TrsvIsComplex(p) ? 2 : 1) * (TrsvRealPrecision(p) == TRSV_FLOAT ? sizeof(float) : sizeof(double));
}

/* Keeps a message, formatted as by printf, as the thread's TrsvErrorMessage(), and returns the code. */
TrsvError TrsvFail(TrsvError, const char *format, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 2, 3)))
#endif
  ;

#define TrsvCall(...) \
  do { \
    TrsvError trsv_error_ = __VA_ARGS__; \
    if (trsv_error_) return trsv_error_; \
  } while (0)

double TrsvSeconds(void); /* reads a monotonic clock */
int    TrsvAscending(const void *, const void *); /* compares two doubles, for qsort() */

/* Allocates host memory, all zeros; pointer is the address of a pointer, which is not NULL for 0 bytes.
   TRSV_ERR_MEMORY: there is none, and the pointer becomes NULL. The caller calls free(). */
TrsvError TrsvAlloc(size_t bytes, void *pointer);

/* The number of low bits that distinguish the keys 0 .. largest, at least 1. */
static inline int TrsvBits(long largest)
{
  int bits = 1;

  while (bits < 31 && largest >> bits > 0) bits++;
  return bits;
}

TRSV_C_END
#endif
