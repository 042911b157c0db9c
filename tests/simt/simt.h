/*
   simt.h: the CUDA functions of src/kernels/device/threads.cuh and sync.cuh under g++, over the SIMT executor.
   At every access that is named here another thread may run. Plain accesses do not yield: data that crosses threads
   must go through these functions, or be ordered by a barrier. A block's shared memory starts as junk.
*/
#ifndef SIMT_H
#define SIMT_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <math.h>
#include <source_location>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) { }
};

namespace simt {

struct Shape { /* of a launch */
  dim3 grid, block;
};

struct Place {
  dim3         index; /* threadIdx */
  const Shape *shape;
};

extern Place *here; /* the running thread's */
const dim3   &block_index();

using Line = std::source_location;

enum Atomic { COMBINE, INCREMENT, EXCHANGE, COMPARE };

uint64_t load(const void *, unsigned size, Line);
void     store(void *, uint64_t bits, unsigned size);
void     store_host(unsigned *, unsigned);
void     release_host(unsigned *, unsigned); /* the host waits for this word, and then reads those before it */
void     release(); /* makes all stores of the thread visible before its later stores */
void     acquire(); /* its later loads return values no older than those of its earlier loads */
void     reduce(void *, uint64_t (*combine)(uint64_t old, uint64_t operand), uint64_t operand, unsigned size);
uint64_t atomic(Atomic, void *, uint64_t (*combine)(uint64_t old, uint64_t operand), uint64_t operand, uint64_t compare,
                unsigned size);
void     pause();
uint64_t nanoseconds();

void     block_barrier(const char *name, unsigned line);
/* What a lane gets from a collective: the value of a lane of the warp, or, from 32 on, one of these. */
enum {
  BALLOT = 32, /* the lanes whose value is not 0 */
  SAME_VALUE,  /* the lanes with the same value */
  MEMORY       /* nothing; the lanes see each other's stores before the call */
};
uint64_t collective(const char *name, unsigned line, unsigned mask, uint64_t value, unsigned from);
unsigned lane();

void *shared_variable(const void *key, size_t bytes, size_t align);
void *dynamic_shared();

/* early: the launch may begin before the previous one has ended (threads.cuh) */
void launch(const char *kernel, bool early, unsigned cluster, Shape, size_t shared, void (*run)(void *),
            void (*free_arguments)(void *), void *arguments);
void wait_for_previous(Line);
void let_next_start();

template <class T> static inline uint64_t to_bits(T v)
{
  uint64_t b = 0;

  static_assert(sizeof(T) <= sizeof(b) && std::is_trivially_copyable_v<T>);
  memcpy(&b, &v, sizeof(v));
  return b;
}

template <class T> static inline T of_bits(uint64_t b)
{
  T v;

  memcpy(&v, &b, sizeof(v));
  return v;
}

/* The arguments are evaluated once, here; each thread gets its own copies, as on the device. */
template <class Kernel, class... A> static inline void start(const char *name, bool early, unsigned cluster, dim3 grid,
                                                             dim3 block, size_t shared, Kernel kernel, A... a)
{
  auto call = [=] { kernel(a...); };
  typedef decltype(call) Call;

  launch(
      name, early, cluster, {grid, block}, shared, [](void *c) { (*(Call *)c)(); }, [](void *c) { delete (Call *)c; },
      new Call(call));
}

}

#define threadIdx (simt::here->index)
#define blockIdx  (simt::block_index())
#define blockDim  (simt::here->shape->block)
#define gridDim   (simt::here->shape->grid)

/* The address of a constant identifies the variable. */
#define TRSV_SHARED(T, name, n) \
  static const char name##_key = 0; \
  T(&name)[n]                  = *(T(*)[n])simt::shared_variable(&name##_key, sizeof(T) * (n), alignof(T))
#define TRSV_SHARED_DYNAMIC(name)                                                                                      \
  unsigned char *const name = (unsigned char *)simt::dynamic_shared() /* the requested size */

#define TRSV_LAUNCH(kernel, grid, block, shared, stream, ...) \
  ((void)(stream), simt::start(#kernel, false, 1, (grid), (block), (shared), (kernel), __VA_ARGS__))
#define TRSV_LAUNCH_EARLY(kernel, early, cluster, grid, block, shared, stream, ...) \
  ((void)(stream), simt::start(#kernel, (early), (cluster), (grid), (block), (shared), (kernel), __VA_ARGS__))
#define TRSV_LAUNCH_TOGETHER(kernel, grid, block, shared, stream, ...) /* one cluster */ \
  ((void)(stream), simt::start(#kernel, false, (grid), (grid), (block), (shared), (kernel), __VA_ARGS__))

template <class T> static inline T trsv_load(const T *p, simt::Line at = simt::Line::current())
{
  return simt::of_bits<T>(simt::load(p, sizeof(T), at));
}
static inline unsigned trsv_load_if(const unsigned *p, bool condition, unsigned otherwise,
                                    simt::Line at = simt::Line::current())
{ return condition ? trsv_load(p, at) : otherwise; }
static inline void                    trsv_store(double *p, double v) { simt::store(p, simt::to_bits(v), sizeof(v)); }
static inline void                    trsv_store(float *p, float v) { simt::store(p, simt::to_bits(v), sizeof(v)); }
static inline void                    trsv_store(unsigned *p, unsigned v) { simt::store(p, v, sizeof(v)); }
static inline void                    trsv_store_host(unsigned *p, unsigned v) { simt::store_host(p, v); }
static inline void                    trsv_release_host(unsigned *p, unsigned v) { simt::release_host(p, v); }
static inline unsigned long long      trsv_nanoseconds() { return simt::nanoseconds(); }
static inline unsigned long long      trsv_bits(double v) { return std::bit_cast<unsigned long long>(v); }
static inline unsigned                trsv_bits(float v) { return std::bit_cast<unsigned>(v); }
static inline double                  trsv_from_bits(unsigned long long b) { return std::bit_cast<double>(b); }
static inline float                   trsv_from_bits(unsigned b) { return std::bit_cast<float>(b); }
static inline double                  trsv_reciprocal(double v) { return 1 / v; }
static inline float                   trsv_reciprocal(float v) { return 1 / v; }
static inline void                    trsv_pause() { simt::pause(); }
static inline void trsv_wait_for_previous(simt::Line at = simt::Line::current()) { simt::wait_for_previous(at); }
static inline void trsv_let_next_start() { simt::let_next_start(); }

static inline void __syncthreads(simt::Line at = simt::Line::current())
{
  simt::block_barrier("__syncthreads", at.line());
}
static inline void __syncwarp(unsigned mask = ~0u, simt::Line at = simt::Line::current())
{
  simt::collective("__syncwarp", at.line(), mask, 0, simt::MEMORY);
}

template <class T>
static inline T __shfl_sync(unsigned mask, T v, int from, int width = 32, simt::Line at = simt::Line::current())
{
  const unsigned l = simt::lane(), w = (unsigned)width - 1;

  return simt::of_bits<T>(
      simt::collective("__shfl_sync", at.line(), mask, simt::to_bits(v), (l & ~w) | ((unsigned)from & w)));
}

template <class T> static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32,
                                                    simt::Line at = simt::Line::current())
{
  const unsigned l = simt::lane(), w = (unsigned)width - 1;

  return simt::of_bits<T>(
      simt::collective("__shfl_down_sync", at.line(), mask, simt::to_bits(v), (l & w) + delta <= w ? l + delta : l));
}

template <class T> static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32,
                                                  simt::Line at = simt::Line::current())
{
  const unsigned l = simt::lane(), w = (unsigned)width - 1;

  return simt::of_bits<T>(
      simt::collective("__shfl_up_sync", at.line(), mask, simt::to_bits(v), (l & w) >= delta ? l - delta : l));
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T v, int other, int width = 32, simt::Line at = simt::Line::current())
{
  const unsigned l = simt::lane(), w = (unsigned)width - 1, from = l ^ (unsigned)other;

  return simt::of_bits<T>(
      simt::collective("__shfl_xor_sync", at.line(), mask, simt::to_bits(v), from <= (l | w) ? from : l));
}

static inline unsigned __ballot_sync(unsigned mask, int p, simt::Line at = simt::Line::current())
{
  return (unsigned)simt::collective("__ballot_sync", at.line(), mask, p != 0, simt::BALLOT);
}
static inline int __any_sync(unsigned mask, int p, simt::Line at = simt::Line::current())
{
  return simt::collective("__any_sync", at.line(), mask, p != 0, simt::BALLOT) != 0;
}
static inline int __all_sync(unsigned mask, int p, simt::Line at = simt::Line::current())
{
  return simt::collective("__all_sync", at.line(), mask, p != 0, simt::BALLOT) == mask;
}

template <class T> static inline T atomicAdd(T *p, std::type_identity_t<T> v)
{
  auto add = [](uint64_t old, uint64_t operand) {
    return simt::to_bits<T>(simt::of_bits<T>(old) + simt::of_bits<T>(operand));
  };
  return simt::of_bits<T>(simt::atomic(simt::COMBINE, p, add, simt::to_bits(v), 0, sizeof(T)));
}
template <class T> static inline T atomicMax(T *p, std::type_identity_t<T> v)
{
  auto larger = [](uint64_t old, uint64_t operand) {
    return simt::of_bits<T>(old) < simt::of_bits<T>(operand) ? operand : old;
  };
  return simt::of_bits<T>(simt::atomic(simt::COMBINE, p, larger, simt::to_bits(v), 0, sizeof(T)));
}
template <class T> static inline T atomicMin(T *p, std::type_identity_t<T> v)
{
  auto smaller = [](uint64_t old, uint64_t operand) {
    return simt::of_bits<T>(operand) < simt::of_bits<T>(old) ? operand : old;
  };
  return simt::of_bits<T>(simt::atomic(simt::COMBINE, p, smaller, simt::to_bits(v), 0, sizeof(T)));
}
static inline unsigned atomicOr(unsigned *p, unsigned v)
{
  return (unsigned)simt::atomic(
      simt::COMBINE, p, [](uint64_t old, uint64_t operand) { return old | operand; }, v, 0, sizeof(*p));
}
template <class T> static inline T atomicExch(T *p, std::type_identity_t<T> v)
{
  return simt::of_bits<T>(simt::atomic(simt::EXCHANGE, p, nullptr, simt::to_bits(v), 0, sizeof(T)));
}
template <class T> static inline T atomicCAS(T *p, std::type_identity_t<T> compare, std::type_identity_t<T> v)
{
  return simt::of_bits<T>(simt::atomic(simt::COMPARE, p, nullptr, simt::to_bits(v), simt::to_bits(compare), sizeof(T)));
}
static inline unsigned atomicInc(unsigned *p, unsigned last)
{
  return (unsigned)simt::atomic(simt::INCREMENT, p, nullptr, last, 0, sizeof(*p));
}

static inline unsigned                trsv_arrive(unsigned *p, unsigned last)
{
  simt::release();
  const unsigned old = atomicInc(p, last);
  simt::acquire();
  return old;
}

static inline int                     __popc(unsigned v) { return __builtin_popcount(v); }
static inline int                     __ffs(int v) { return __builtin_ffs(v); }
static inline int                     __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
template <class T> static inline T    __ldg(const T *p) { return *p; }
template <class T> static inline T    __ldcs(const T *p) { return *p; }
template <class T> static inline T    min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T    max(T a, T b) { return a < b ? b : a; }

/* Additions without a used result; they may be late, or lost, as stores may. A count-down follows all earlier stores
   and additions of its thread. */
template <class T> static inline void trsv_add(T *p, std::type_identity_t<T> v)
{
  simt::reduce(
      p,
      [](uint64_t old, uint64_t operand) {
        return simt::to_bits<T>(simt::of_bits<T>(old) + simt::of_bits<T>(operand));
      },
      simt::to_bits(v), sizeof(T));
}
static inline unsigned trsv_load_acquire(const unsigned *p, simt::Line at = simt::Line::current())
{
  const unsigned v = trsv_load(p, at);

  simt::acquire();
  return v;
}
static inline void                    trsv_count_down(unsigned *p)
{
  simt::release();
  trsv_add(p, ~0u);
}

#include "async.h"
#include "chunks.h"
#include "sizes.h"

#endif
