/*
   chunks.h: shared memory by address, its barriers and copies, and clusters: the executor's version of the nvcc part
   of threads.cuh. An address is an offset into the block's dynamic shared memory. Included by simt.h.
*/
#ifndef SIMT_CHUNKS_H
#define SIMT_CHUNKS_H

struct TrsvQuad {
  unsigned x, y, z, w;
};

namespace simt {

static inline unsigned char *at(unsigned address) { return (unsigned char *)dynamic_shared() + address; }

}

static inline unsigned trsv_shared_address() { return 0; }

template <class T> static inline T trsv_shared_load(unsigned a, simt::Line at = simt::Line::current())
{
  return simt::of_bits<T>(simt::load(simt::at(a), sizeof(T), at));
}
template <> inline TrsvQuad trsv_shared_load<TrsvQuad>(unsigned a, simt::Line)
{
  TrsvQuad q;

  q.x = trsv_shared_load<unsigned>(a), q.y = trsv_shared_load<unsigned>(a + 4);
  q.z = trsv_shared_load<unsigned>(a + 8), q.w = trsv_shared_load<unsigned>(a + 12);
  return q;
}
template <class T> static inline void trsv_shared_store(unsigned a, T v)
{
  simt::store(simt::at(a), simt::to_bits(v), sizeof(T));
}
static inline void                    trsv_shared_release(unsigned a, unsigned v)
{
  simt::release();
  trsv_shared_store(a, v);
}
static inline unsigned trsv_shared_acquire(unsigned a, simt::Line at = simt::Line::current())
{
  const unsigned v = trsv_shared_load<unsigned>(a, at);

  simt::acquire();
  return v;
}

static inline void trsv_barrier_init(unsigned b, unsigned count)
{
  simt::mbarrier_init((TrsvMbarrier *)simt::at(b), count);
}
static inline void trsv_barrier_arrive(unsigned b) { simt::mbarrier_arrive((TrsvMbarrier *)simt::at(b), 0); }
static inline void trsv_barrier_arrive_if(unsigned b, bool condition)
{
  if (condition) trsv_barrier_arrive(b);
}
static inline bool trsv_barrier_passed(unsigned b, unsigned parity, simt::Line at = simt::Line::current())
{
  return simt::mbarrier_test((TrsvMbarrier *)simt::at(b), parity, at);
}
static inline void trsv_barrier_wait(unsigned b, unsigned parity, simt::Line at = simt::Line::current())
{
  while (!trsv_barrier_passed(b, parity, at)) simt::pause();
}
static inline void trsv_barrier_wait_idle(unsigned b, unsigned parity, unsigned,
                                          simt::Line at = simt::Line::current())
{
  trsv_barrier_wait(b, parity, at);
}
static inline unsigned trsv_copy_lanes() { return simt::copy_lanes(); }
static inline void     trsv_bulk_copy(unsigned to, const void *from, unsigned bytes, unsigned b, unsigned lane)
{
  TrsvMbarrier *const barrier = (TrsvMbarrier *)simt::at(b);

  if (trsv_copy_lanes() > 1) simt::lane_copy(simt::at(to), from, bytes, barrier, lane);
  else {
    simt::mbarrier_arrive(barrier, bytes);
    simt::bulk_copy(simt::at(to), from, bytes, barrier);
  }
}
static inline void trsv_bulk_fence() { }

static inline void     trsv_warp_sync(simt::Line at = simt::Line::current()) { __syncwarp(~0u, at); }
static inline bool trsv_warp_any(bool b, simt::Line at = simt::Line::current()) { return __any_sync(~0u, b, at) != 0; }
static inline unsigned trsv_warp_uniform(unsigned v) { return v; }
static inline unsigned trsv_warp_max(unsigned v, simt::Line at = simt::Line::current())
{
  for (int d = 16; d; d /= 2) v = max(v, __shfl_xor_sync(~0u, v, d, 32, at));
  return v;
}
static inline unsigned trsv_warp_match(unsigned v, simt::Line at = simt::Line::current())
{
  return (unsigned)simt::collective("__match_any_sync", at.line(), ~0u, v, simt::SAME_VALUE);
}

struct TrsvPeer {
  unsigned char *shared;
};

static inline TrsvPeer trsv_peer(unsigned rank)
{
  return {(unsigned char *)simt::cluster_peer(simt::dynamic_shared(), rank)};
}
static inline void trsv_push(TrsvPeer p, unsigned a, unsigned v) { simt::push(p.shared + a, v, sizeof(v)); }
template <class T> static inline void trsv_push_if(TrsvPeer p, unsigned a, T v, bool condition)
{
  if (condition) simt::push(p.shared + a, simt::to_bits(v), sizeof(T));
}
template <class T> static inline void trsv_store_if(T *p, T v, bool condition)
{
  if (condition) trsv_store(p, v);
}
template <class T> static inline void trsv_keep(T &) { }
static inline void                    trsv_sleep(unsigned = 100) { simt::pause(); }

#endif
