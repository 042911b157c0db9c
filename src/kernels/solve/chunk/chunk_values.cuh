/*
   chunk_values.cuh: values of plans of the algorithm `chunk` are gathered into records, and scattered back.

   Mapping: one block for each stage, one thread for each place of a record. Memory order: one barrier, for the sums
   that give the index of the first value of each record. Why it ends: all threads meet that barrier. Same bits: a value
   is one thread's product.
*/
#ifndef TRSV_CHUNK_VALUES_CUH
#define TRSV_CHUNK_VALUES_CUH

#include "solve/chunk/chunk.cuh"

/* The sources of the record at a thread's place. */
struct RecordSources {
  int  count;       /* values, with the diagonal's; 0: there is no record */
  bool part;        /* it is a partial sum */
  int  diagonal;    /* its source */
  int  value, near; /* the first index of the record in c.wide, and in c.apart */

  __device__ __forceinline__ RecordSources(const ChunkSources &c, unsigned rows, unsigned *sums)
  {
    const int all = c.counts[(size_t)blockIdx.x * rows + threadIdx.x];

    count = all % CHUNK_EXPORTED;
    part  = all >= CHUNK_PART;
    const unsigned sum    = chunk_sums((unsigned)count, sums);
    const int      record = c.starts[2 * blockIdx.x] + (int)(sum >> 16);
    value    = c.starts[2 * blockIdx.x + 1] + (int)(sum & 65535);
    near     = value - record;
    diagonal = !count ? 0 : c.wide ? c.wide[value] : c.diagonal[record];
  }

  /* The source of the j-th dependency, from 1 on. */
  __device__ __forceinline__ int source(const ChunkSources &c, int j) const
  {
    if (c.wide) return c.wide[value + j];
    const int apart = c.apart[near + j - 1];
    return apart ? diagonal + c.toward * apart : 1;
  }
};

/* Writes the values of a record, divided by the row's diagonal, and the diagonal's reciprocal. */
template <class T, int K, int W> static __global__ void __launch_bounds__(CHUNK_ROWS(K, sizeof(T)))
  chunk_gather(const ChunkSources c, const void *values, void *records)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(unsigned, sums, Layout::rows / 32);
  unsigned char *const stage = (unsigned char *)records + (size_t)blockIdx.x * Layout::stage;
  const unsigned       place = threadIdx.x;
  const T *const       from  = (const T *)values;
  const RecordSources  own(c, Layout::rows, sums);
  const T              inverse = own.count && c.stored ? trsv_canonical(1 / from[own.diagonal - 2]) : 1;

#pragma unroll
  for (int k = 0; k < K; k++) {
    const int j = k - K + own.count,
              s = j >= 1 ? own.source(c, j) : 0; /* unused fields come first */
    *(T *)(stage + Layout::at(place, (unsigned)k * (unsigned)sizeof(T))) =
      s >= 2 ? trsv_canonical(-from[s - 2] * inverse) : (T)s;
  }
  *(T *)(stage + Layout::at(place, K * (unsigned)sizeof(T))) = own.count && !own.part ? inverse : 0;
}

/* Copies values back, for a unit diagonal: then records hold the values as given. */
template <class T, int K, int W> static __global__ void __launch_bounds__(CHUNK_ROWS(K, sizeof(T)))
  chunk_scatter(const ChunkSources c, const void *records, void *values)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(unsigned, sums, Layout::rows / 32);
  const unsigned char *const stage = (const unsigned char *)records + (size_t)blockIdx.x * Layout::stage;
  const RecordSources        own(c, Layout::rows, sums);
  T *const                   to = (T *)values;

#pragma unroll
  for (int k = 0; k < K; k++) {
    const int j = k - K + own.count, s = j >= 1 ? own.source(c, j) : 0;
    if (s >= 2) to[s - 2] = -*(const T *)(stage + Layout::at(threadIdx.x, (unsigned)k * (unsigned)sizeof(T)));
  }
}

#endif
