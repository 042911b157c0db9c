/*
   vocabulary.cuh: what crosses threads in a device kernel, and nothing else does. CUDA under nvcc; the SIMT executor of
   tests/simt under g++, where every one of these is a point at which another thread may run.

   A value that one thread hands to another is its own flag: one word, written once, that holds NOT_READY until then. There
   is no second location whose order with the value could go wrong, so relaxed accesses of gpu scope are enough.
*/
#ifndef TRSV_VOCABULARY_CUH
#define TRSV_VOCABULARY_CUH

#include "impl.h"

#ifdef TRSV_SIMT
  #include "simt.h"
#else

  #define TRSV_SHARED(T, name, n)                               __shared__ T name[n]
  #define TRSV_LAUNCH(kernel, grid, block, shared, stream, ...) (kernel)<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)

static __device__ __forceinline__ double trsv_load(const double *p)
{
  double v;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ float trsv_load(const float *p)
{
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ unsigned trsv_load(const unsigned *p)
{
  unsigned v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void trsv_store(double *p, double v) { asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory"); }

static __device__ __forceinline__ void trsv_store(float *p, float v) { asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory"); }

static __device__ __forceinline__ void trsv_store(unsigned *p, unsigned v) { asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

/* What the host reads while the device runs. */
static __device__ __forceinline__ void trsv_store_host(unsigned *p, unsigned v) { asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

static __device__ __forceinline__ unsigned long long trsv_nanoseconds()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

static __device__ __forceinline__ unsigned long long trsv_bits(double v) { return (unsigned long long)__double_as_longlong(v); }
static __device__ __forceinline__ unsigned           trsv_bits(float v) { return __float_as_uint(v); }
static __device__ __forceinline__ double             trsv_from_bits(unsigned long long b) { return __longlong_as_double((long long)b); }
static __device__ __forceinline__ float              trsv_from_bits(unsigned b) { return __uint_as_float(b); }

/* A poll that found nothing; the executor runs somebody else here. */
static __device__ __forceinline__ void trsv_pause() { }

#endif

/* The bits of a word that nobody has written yet: a NaN that no arithmetic makes, and that trsv_publish never stores. */
template <class T> struct TrsvWord;
template <> struct TrsvWord<double> {
  static constexpr unsigned long long not_ready = 0xfff8deadbeef0001ull, nan = 0x7ff8000000000000ull;
};
template <> struct TrsvWord<float> {
  static constexpr unsigned not_ready = 0xffc0dead, nan = 0x7fc00000;
};

template <class T> static __device__ __forceinline__ T    trsv_not_ready() { return trsv_from_bits(TrsvWord<T>::not_ready); }
template <class T> static __device__ __forceinline__ T    trsv_nan() { return trsv_from_bits(TrsvWord<T>::nan); }
template <class T> static __device__ __forceinline__ bool trsv_is_ready(T v) { return trsv_bits(v) != TrsvWord<T>::not_ready; }

/* Stores a value for others to find. A NaN of the user's own that has the bits of NOT_READY becomes another NaN. */
template <class T> static __device__ __forceinline__ T trsv_publish(T *p, T v)
{
  if (!trsv_is_ready(v)) v = trsv_nan<T>();
  trsv_store(p, v);
  return v;
}

/* A block's place in the order in which blocks start, 0 .. gridDim.x - 1, and which of two launches in turn this is. Whoever waits
   for the block of a smaller ticket waits for one that has started. The counter is back at 0 after two launches, so nothing is
   ever reset and every launch has the same arguments. One thread of the block asks. */
static __device__ __forceinline__ unsigned trsv_ticket(const TrsvSync &sync, unsigned *turn)
{
  const unsigned t = atomicInc(sync.ticket, 2 * gridDim.x - 1);
  *turn = t >= gridDim.x;
  return *turn ? t - gridDim.x : t;
}

/* Bounds a wait. more() is asked after each poll that found nothing; it is false once the wait is over its limit, here or in any
   other thread of the plan: who hears that publishes NaN in place of what it waited for, and so ends all waits behind it. */
struct TrsvPatience {
  unsigned           polls = 0;
  unsigned long long since = 0;

  __device__ __forceinline__ bool more(const TrsvSync &sync)
  {
    trsv_pause();
    if (++polls & 1023) return true;
    if (trsv_load(sync.gave_up)) return false;
    const unsigned long long now = trsv_nanoseconds();
    if (!since) since = now;
    if (now - since <= sync.patience) return true;
    trsv_store(sync.gave_up, 1u);
    trsv_store_host(sync.told, 1u);
    return false;
  }
};

#endif
