/*
   base.h: errors, memory of the host, and the types that everything has in common.
*/
#ifndef TRSV_BASE_H
#define TRSV_BASE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
  #define TRSV_BOTH static __host__ __device__ inline
#else
  #define TRSV_BOTH static inline
#endif

typedef enum {
  TRSV_SUCCESS = 0,
  TRSV_ERR_ARGUMENT,    /* an argument outside its range */
  TRSV_ERR_STRUCTURE,   /* not a sorted triangle with a full diagonal; the message names the row */
  TRSV_ERR_UNSUPPORTED, /* the algorithm cannot do this here */
  TRSV_ERR_MEMORY,      /* out of host or device memory */
  TRSV_ERR_DEVICE,      /* the CUDA runtime or cuSPARSE reported an error */
  TRSV_ERR_TIMEOUT      /* an earlier solve gave up waiting; its x holds NaN */
} TrsvError;

typedef enum {
  TRSV_FLOAT,
  TRSV_DOUBLE
} TrsvPrecision;

typedef enum {
  TRSV_HOST,
  TRSV_DEVICE
} TrsvMemory;

typedef struct CUstream_st *TrsvStream; /* a cudaStream_t; NULL is the default stream, and what the host takes */

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

const char *TrsvErrorMessage(void); /* of the last failure in this thread */

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
