/*
   Values of plans of the algorithm `chunk`: gathered into records, and scattered back.

   Mapping: one block for each stage, one thread for each place of a record. Memory order: one barrier, for the sums
   that give the index of the first value of each record. Why it ends: all threads meet that barrier. Same bits: a value
   is one thread's product.
*/
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

    count = all % CHUNK_PART;
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
  chunk_gather(const ChunkSources c, const T *from, unsigned char *records)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(unsigned, sums, Layout::rows / 32);
  unsigned char *const stage = records + (size_t)blockIdx.x * Layout::stage;
  const unsigned       place = threadIdx.x;
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
  chunk_scatter(const ChunkSources c, const unsigned char *records, T *to)
{
  typedef ChunkLayout<T, K, W> Layout;
  TRSV_SHARED(unsigned, sums, Layout::rows / 32);
  const unsigned char *const stage = records + (size_t)blockIdx.x * Layout::stage;
  const RecordSources        own(c, Layout::rows, sums);

#pragma unroll
  for (int k = 0; k < K; k++) {
    const int j = k - K + own.count, s = j >= 1 ? own.source(c, j) : 0;
    if (s >= 2) to[s - 2] = -*(const T *)(stage + Layout::at(threadIdx.x, (unsigned)k * (unsigned)sizeof(T)));
  }
}

template <class T> struct ChunkKernels {
  int length, width;
  void (*gather)(const ChunkSources, const T *, unsigned char *);
  void (*scatter)(const ChunkSources, const unsigned char *, T *);
};

#define CHUNK_KERNELS(K, W) {K, W, chunk_gather<T, K, W>, chunk_scatter<T, K, W>}

template <class T> static const ChunkKernels<T> *FindKernels(const TrsvChunkSettings *s)
{
  static const ChunkKernels<T> table[] = {
    CHUNK_KERNELS(2, 8),  CHUNK_KERNELS(2, 32), CHUNK_KERNELS(3, 8),
    CHUNK_KERNELS(3, 32), CHUNK_KERNELS(5, 32), CHUNK_KERNELS(13, 32),
  };

  for (const ChunkKernels<T> &k : table)
    if (k.length == s->length && k.width == s->width) return &k;
  return NULL;
}

template <class T> TrsvError ChunkGatherValues(ChunkPlan *c, const void *values, TrsvStream stream)
{
  const TrsvChunkSettings *s = &c->schedule.settings;

  return TrsvLaunch((FindKernels<T>(s)->gather), (unsigned)c->schedule.stages,
                    (unsigned)CHUNK_ROWS(s->length, sizeof(T)), 0, stream, c->sources, (const T *)values, c->records);
}

template <class T> TrsvError ChunkScatterValues(const ChunkPlan *c, void *values, TrsvStream stream)
{
  const TrsvChunkSettings *s = &c->schedule.settings;

  return TrsvLaunch((FindKernels<T>(s)->scatter), (unsigned)c->schedule.stages,
                    (unsigned)CHUNK_ROWS(s->length, sizeof(T)), 0, stream, c->sources, c->records, (T *)values);
}

#define CHUNK_VALUES_INSTANCES(T) \
  template TrsvError ChunkGatherValues<T>(ChunkPlan *, const void *, TrsvStream); \
  template TrsvError ChunkScatterValues<T>(const ChunkPlan *, void *, TrsvStream);
CHUNK_VALUES_INSTANCES(TRSV_REAL)
