/*
   threads.cuh: launches, loads, stores, barriers and clusters. nvcc compiles those below; g++ those of the SIMT
   executor (tests/simt), which may switch threads in each of these functions.
*/
#ifndef TRSV_THREADS_CUH
#define TRSV_THREADS_CUH

#include "device/device.h"

#define TRSV_INLINE __device__ __forceinline__

/* The first launch of a kernel loads all kernels of its file: 0.5 us for each 1,000 bytes and 15 us for each kernel
   (H200). So kernels that are many or large have several files: X_float.cu for values in single precision, X_complex.cu
   for complex ones, and X_complex_float.cu, where it exists, for complex ones in single precision. */
#ifndef TRSV_REAL
  #define TRSV_REAL double
#endif

/* Launches a kernel as TRSV_LAUNCH or TRSV_LAUNCH_EARLY. The value is the launch's TrsvError. */
#define TrsvLaunch(kernel, ...)      (TRSV_LAUNCH(kernel, __VA_ARGS__), TrsvDeviceCheckLaunch(#kernel))
#define TrsvLaunchEarly(kernel, ...) (TRSV_LAUNCH_EARLY(kernel, __VA_ARGS__), TrsvDeviceCheckLaunch(#kernel))

#ifdef TRSV_SIMT
  #include "simt.h"
#else

/* Code for compute capability 9.0 and later has clusters, bulk copies, waits of barriers that suspend the thread, and
   early launches. Code for 8.x, or its PTX on any device, has none of them: cp.async copies, waits poll, and
   TrsvDeviceGetLimits() reports no clusters. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  #define TRSV_CODE_90 1
#else
  #define TRSV_CODE_90 0
#endif

#define TRSV_SHARED(T, name, n) __shared__ T name[n]
#define TRSV_SHARED_DYNAMIC(name) \
    extern __shared__ __align__(1024) unsigned char trsv_shared_memory[]; \
    unsigned char *const                            name = trsv_shared_memory
#define TRSV_LAUNCH(kernel, grid, block, shared, stream, ...) \
    (kernel)<<<(grid), (block), (shared), TrsvDeviceStream(stream)>>>(__VA_ARGS__)

/* A launch in clusters of blocks. An early launch may start while the previous launch in the stream still runs, after
   all blocks of the previous launch have called trsv_let_next_start(). */
#define TRSV_LAUNCH_EARLY(kernel, early, cluster, grid, block, shared, stream, ...) \
    trsv_launch((kernel), (early), (cluster), (grid), (block), (shared), (stream), __VA_ARGS__)
template <class... P, class... A> static inline void trsv_launch(void (*kernel)(P...), bool early, unsigned cluster,
                                                                 unsigned grid, unsigned block, size_t shared,
                                                                 TrsvStream stream, A... arguments)
{
  cudaLaunchAttribute attribute[2] = {}, *a = attribute;

  if (cluster > 1) {
    a->id               = cudaLaunchAttributeClusterDimension;
    a++->val.clusterDim = {cluster, 1, 1};
  }
  if (early && TrsvDeviceGetLimits().clusters) {
    a->id                                           = cudaLaunchAttributeProgrammaticStreamSerialization;
    a++->val.programmaticStreamSerializationAllowed = 1;
  }
  const cudaLaunchConfig_t c = {
    dim3(grid), dim3(block), shared, TrsvDeviceStream(stream), attribute, (unsigned)(a - attribute)};
  (void)cudaLaunchKernelEx(&c, kernel, P(arguments)...);
}

/* Relaxed accesses of words in device memory, and in shared memory whose size the launch sets: addresses in that are
   numbers. trsv_store_if: a store if the condition holds, without a branch. */
template <class T> static TRSV_INLINE T trsv_shared_load(unsigned address);

  /* In asm a value v has one register, or two if it is complex (complex.cuh): V, the first operands, of which REGISTERS
     makes a list. P, Q and R are the operands after them. */
  #define TRSV_WORD(T, suffix, letter, REGISTERS, V, P, Q) \
  static TRSV_INLINE T trsv_load(const T *p) \
  { \
    T v; \
    asm volatile("ld.relaxed.gpu.global." suffix " " V ", [" P "];" : REGISTERS("=" letter) : "l"(p) : "memory"); \
    return v; \
  } \
  static TRSV_INLINE void trsv_store(T *p, T v) \
  { \
    asm volatile("st.relaxed.gpu.global." suffix " [" P "], " V ";" ::REGISTERS(letter), "l"(p) : "memory"); \
  } \
  template <> TRSV_INLINE T trsv_shared_load<T>(unsigned a) \
  { \
    T v; \
    asm volatile("ld.volatile.shared." suffix " " V ", [" P "];" : REGISTERS("=" letter) : "r"(a) : "memory"); \
    return v; \
  } \
  static TRSV_INLINE void trsv_shared_store(unsigned a, T v) \
  { \
    asm volatile("st.volatile.shared." suffix " [" P "], " V ";" ::REGISTERS(letter), "r"(a) : "memory"); \
  } \
  static TRSV_INLINE void trsv_store_if(T *p, T v, bool condition) \
  { \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, " Q ", 0; " \
                 "@p st.relaxed.gpu.global." suffix " [" P "], " V "; }" ::REGISTERS(letter), \
                 "l"(p), "r"((unsigned)condition) \
                 : "memory"); \
  }
  #define TRSV_REGISTER(letter) letter(v)
TRSV_WORD(double, "f64", "d", TRSV_REGISTER, "%0", "%1", "%2")
TRSV_WORD(float, "f32", "f", TRSV_REGISTER, "%0", "%1", "%2")
TRSV_WORD(unsigned, "u32", "r", TRSV_REGISTER, "%0", "%1", "%2")

/* trsv_load if the condition holds, else `otherwise`; without a branch. */
static TRSV_INLINE unsigned trsv_load_if(const unsigned *p, bool condition, unsigned otherwise)
{
  asm volatile("{.reg .pred q; setp.ne.u32 q, %2, 0; @q ld.relaxed.gpu.global.u32 %0, [%1];}"
               : "+r"(otherwise)
               : "l"(p), "r"((unsigned)condition)
               : "memory");
  return otherwise;
}

/* Counts an arrival, and returns how many came before it. The counter is 0 again after arrival number `last`. An
   arrival releases what its thread has stored, and acquires what earlier arrivals released. */
static TRSV_INLINE unsigned trsv_arrive(unsigned *p, unsigned last)
{
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(last) : "memory");
  return before;
}

/* Stores a word that the host reads while the device runs; the second function also releases earlier stores. */
static TRSV_INLINE void trsv_store_host(unsigned *p, unsigned v)
{
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static TRSV_INLINE void trsv_release_host(unsigned *p, unsigned v)
{
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

static TRSV_INLINE unsigned long long trsv_nanoseconds()
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

static TRSV_INLINE unsigned long long trsv_bits(double v) { return (unsigned long long)__double_as_longlong(v); }
static TRSV_INLINE unsigned           trsv_bits(float v) { return __float_as_uint(v); }
static TRSV_INLINE double trsv_from_bits(unsigned long long b) { return __longlong_as_double((long long)b); }
static TRSV_INLINE float  trsv_from_bits(unsigned b) { return __uint_as_float(b); }

/* Called after a poll that found nothing: the executor switches threads. */
static TRSV_INLINE void trsv_pause() { }
static TRSV_INLINE void trsv_sleep(unsigned nanoseconds = 100) { __nanosleep(nanoseconds); } /* the same with a delay */

struct TrsvQuad {
  unsigned x, y, z, w;
};

static TRSV_INLINE unsigned trsv_shared_address()
{
  extern __shared__ __align__(1024) unsigned char trsv_shared_memory[];
  return (unsigned)__cvta_generic_to_shared(trsv_shared_memory);
}

template <> TRSV_INLINE TrsvQuad trsv_shared_load<TrsvQuad>(unsigned a)
{
  TrsvQuad v;
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(a)
               : "memory");
  return v;
}

/* Release and acquire of a counter, within the block. */
static TRSV_INLINE void trsv_shared_release(unsigned a, unsigned v)
{
  asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory");
}

static TRSV_INLINE unsigned trsv_shared_acquire(unsigned a)
{
  unsigned v;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
  return v;
}

/* Barriers in shared memory (8 bytes). A phase ends after `count` arrivals and all expected bytes. An arrival releases,
   a wait acquires. Phase p has parity p mod 2; a wait for phase p must end before phase p + 1 ends. */
static TRSV_INLINE void trsv_barrier_init(unsigned barrier, unsigned count)
{
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/* An arrival if the condition holds, without a branch: a branch could leave the lanes of a warp diverged. */
static TRSV_INLINE void trsv_barrier_arrive_if(unsigned barrier, bool condition)
{
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p mbarrier.arrive.shared.b64 _, [%0]; }" ::"r"(barrier),
               "r"((unsigned)condition)
               : "memory");
}

static TRSV_INLINE bool trsv_barrier_passed(unsigned barrier, unsigned parity)
{
  unsigned passed;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(passed)
               : "r"(barrier), "r"(parity)
               : "memory");
  return passed != 0;
}

static TRSV_INLINE void trsv_barrier_wait(unsigned barrier, unsigned parity)
{
  unsigned passed;
  do
    if constexpr (TRSV_CODE_90)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(passed)
                   : "r"(barrier), "r"(parity)
                   : "memory");
    else passed = trsv_barrier_passed(barrier, parity);
  while (!passed);
}

/* The same with a delay between polls, for a warp that is early: each poll takes issue slots from other warps. */
static TRSV_INLINE void trsv_barrier_wait_idle(unsigned barrier, unsigned parity, unsigned nanoseconds)
{
  while (!trsv_barrier_passed(barrier, parity)) trsv_sleep(nanoseconds);
}

/* Copies bytes (a multiple of 16, both addresses aligned to 16) from device to shared memory. Lanes 0 ..
   trsv_copy_lanes() - 1 of a warp call this with the same arguments but their own lane; each call is an arrival at the
   barrier. In code for 9.0 one lane starts a bulk copy, whose bytes the barrier expects. In code for 8.x lane l copies
   bytes 16 l to 16 l + 15 of each 512; its arrival follows when its copies are done. The bytes are visible after a
   wait for the barrier.

   trsv_bulk_fence() orders a thread's earlier accesses to shared memory (barriers initialized, data read) before its
   next bulk copies. cp.async needs no such fence. */
static TRSV_INLINE constexpr unsigned trsv_copy_lanes() { return TRSV_CODE_90 ? 1 : 32; }

static TRSV_INLINE void trsv_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned barrier, unsigned lane)
{
  if constexpr (TRSV_CODE_90) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
  } else {
    for (unsigned at = lane * 16; at < bytes; at += 32 * 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + at), "l"((const char *)from + at) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
  }
}

static TRSV_INLINE void trsv_bulk_fence()
{
  if constexpr (TRSV_CODE_90) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static TRSV_INLINE void trsv_warp_sync() { __syncwarp(); }

/* Returns v, which is the same in all lanes. The compiler sees that a branch on the result cannot diverge. */
static TRSV_INLINE unsigned trsv_warp_uniform(unsigned v) { return __reduce_or_sync(0xffffffffu, v); }
static TRSV_INLINE bool     trsv_warp_any(bool b) { return __any_sync(0xffffffffu, b) != 0; }
static TRSV_INLINE unsigned trsv_warp_max(unsigned v) { return __reduce_max_sync(0xffffffffu, v); }
static TRSV_INLINE unsigned trsv_warp_match(unsigned v)
{ return __match_any_sync(0xffffffffu, v); } /* the lanes with the same value */

/* Clusters: blocks that start together and store into each other's shared memory. In code for 8.x a cluster is one
   block: its rank is 0, and its condition for a push is always false. */
struct TrsvPeer {
  unsigned low, high; /* the generic address of its shared memory; offsets change only the low word */
};

  #if TRSV_CODE_90
static TRSV_INLINE unsigned trsv_cluster_rank()
{
  unsigned r = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

static TRSV_INLINE TrsvPeer trsv_peer(unsigned rank)
{
  extern __shared__ __align__(1024) unsigned char trsv_shared_memory[];
  unsigned long long                              p = 0;
  TrsvPeer                                        peer;

  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(p) : "l"((unsigned long long)trsv_shared_memory), "r"(rank));
  peer.low  = (unsigned)p - trsv_shared_address();
  peer.high = (unsigned)(p >> 32);
  asm volatile("" : "+r"(peer.low), "+r"(peer.high));
  return peer;
}

static TRSV_INLINE void trsv_push(TrsvPeer peer, unsigned address, unsigned v)
{
  asm volatile("{ .reg .b64 a; mov.b64 a, {%0, %1}; st.relaxed.cluster.u32 [a], %2; }" ::"r"(peer.low + address),
               "r"(peer.high), "r"(v)
               : "memory");
}

  #define TRSV_PUSH(T, suffix, letter, REGISTERS, V, P, Q, R) \
  static TRSV_INLINE void trsv_push_if(TrsvPeer peer, unsigned address, T v, bool condition) \
  { \
    asm volatile("{ .reg .b64 a; .reg .pred p; setp.ne.u32 p, " R ", 0; mov.b64 a, {" P ", " Q "}; " \
                 "@p st.relaxed.cluster." suffix " [a], " V "; }" ::REGISTERS(letter), \
                 "r"(peer.low + address), "r"(peer.high), "r"((unsigned)condition) \
                 : "memory"); \
  }

/* All threads of the cluster call arrive, and later wait. After the wait all blocks of the cluster have started. This
   orders no memory. */
static TRSV_INLINE void trsv_cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
static TRSV_INLINE void trsv_cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }

/* A barrier of all threads of the cluster; stores before it are visible after it. */
static TRSV_INLINE void trsv_cluster_sync()
{
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* For early launches. trsv_wait_for_previous() waits until the previous launch is over and its stores are visible.
   Until then a launch may use only memory that no launch changes, and the plan's ticket: the previous launch has taken
   all of its tickets. A launch calls trsv_let_next_start() after its own wait, so no launch before the previous one
   still runs. Both do nothing in launches that are not early, and in code for 8.x, which has no early launches. */
static TRSV_INLINE void trsv_wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static TRSV_INLINE void trsv_let_next_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
  #else
    #define TRSV_PUSH(...)
static TRSV_INLINE unsigned trsv_cluster_rank() { return 0; }
static TRSV_INLINE TrsvPeer trsv_peer(unsigned) { return {0, 0}; }
static TRSV_INLINE void trsv_push(TrsvPeer, unsigned, unsigned) { __trap(); }
template <class T> static TRSV_INLINE void trsv_push_if(TrsvPeer, unsigned, T, bool) { }
static TRSV_INLINE void trsv_cluster_arrive() { __trap(); }
static TRSV_INLINE void trsv_cluster_wait() { __trap(); }
static TRSV_INLINE void trsv_cluster_sync() { __trap(); }
static TRSV_INLINE void trsv_wait_for_previous() { }
static TRSV_INLINE void trsv_let_next_start() { }
  #endif
TRSV_PUSH(double, "f64", "d", TRSV_REGISTER, "%0", "%1", "%2", "%3")
TRSV_PUSH(float, "f32", "f", TRSV_REGISTER, "%0", "%1", "%2", "%3")

/* Hides the origin of a value, so that the compiler keeps it in a register instead of computing it again. */
static TRSV_INLINE void                    trsv_keep(unsigned &v) { asm volatile("" : "+r"(v)); }
static TRSV_INLINE void                    trsv_keep(int &v) { asm volatile("" : "+r"(v)); }
template <class T> static TRSV_INLINE void trsv_keep(T *&v) { asm volatile("" : "+l"(v)); }

/* 1 / v in about 70 cycles: an approximation to 20 bits and one step of third order, with an error of at most two units
   in the last place. NaN if v or its reciprocal is zero or infinite. */
static TRSV_INLINE double trsv_reciprocal(double v)
{
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
  const double e = fma(-v, r, 1.0);
  return fma(r, fma(e, e, e), r);
}

static TRSV_INLINE float trsv_reciprocal(float v) { return 1 / v; }

#endif

#endif
