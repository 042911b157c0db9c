/*
   base.h: what every room uses: errors, memory of the host, a clock.
*/
#ifndef TRSV_BASE_H
#define TRSV_BASE_H

#include "base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
  #define TRSV_BOTH static __host__ __device__ inline
#else
  #define TRSV_BOTH static inline
#endif

static inline size_t TrsvValueSize(TrsvPrecision p) { return p == TRSV_FLOAT ? sizeof(float) : sizeof(double); }

/* The instance of a function template for values of a precision. */
#define TRSV_BY_PRECISION(precision, f) ((precision) == TRSV_FLOAT ? f<float> : f<double>)

/* Notes a message, as printf makes it, and returns the code. */
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

double TrsvSeconds(void); /* a clock that only ever goes on, from whenever */
int    TrsvAscending(const void *, const void *); /* of two doubles, for qsort() */

/* Host memory, counted in plan->bytes by plans of the host. NULL and TRSV_ERR_MEMORY where there is none; never NULL
   for 0 bytes. */
TrsvError TrsvAlloc(size_t bytes, void *pointer);

/* The low bits that tell apart 0 .. largest, at least one: of keys, for a sort. */
static inline int TrsvBits(long largest)
{
  int bits = 1;

  while (bits < 31 && largest >> bits > 0) bits++;
  return bits;
}

#ifdef __cplusplus
}
#endif
#endif
