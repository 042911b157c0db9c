/*
   async.h: bulk copies, the barriers in shared memory that count them (mbarriers), and clusters, for kernels that stream
   their matrix through shared memory. Included by simt.h; a proposal for the CUDA side of vocabulary.cuh, given in brackets.

   A copy's data arrive no sooner than the wait that asks for them: until then the destination holds junk. Whoever reads early
   or overwrites what is still read gets wrong numbers in some schedule.
*/
#ifndef SIMT_ASYNC_H
#define SIMT_ASYNC_H

typedef unsigned long long TrsvMbarrier; /* in shared memory, 8 bytes, as PTX has it */

namespace simt {

void     mbarrier_init(TrsvMbarrier *, unsigned count);
void     mbarrier_arrive(TrsvMbarrier *, unsigned bytes);
bool     mbarrier_test(TrsvMbarrier *, unsigned parity);
void     bulk_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *);
unsigned cluster_rank(), cluster_size();
void    *cluster_peer(const void *, unsigned rank);
void     cluster_barrier(unsigned line);

}

/* By one thread, before a barrier of the block (of the cluster, where its other blocks arrive or copy) that all who use it pass.
   [mbarrier.init.shared, fence.mbarrier_init] */
static inline void trsv_mbarrier_init(TrsvMbarrier *m, unsigned arrivals) { simt::mbarrier_init(m, arrivals); }

/* One of the arrivals of this phase; what the thread did before is seen by who waits for the phase. m may be a peer's.
   [mbarrier.arrive.release.cta, or .cluster on mapa'd addresses] */
static inline void trsv_mbarrier_arrive(TrsvMbarrier *m) { simt::mbarrier_arrive(m, 0); }

/* The same, and the phase also waits for so many bytes. [mbarrier.arrive.expect_tx] */
static inline void trsv_mbarrier_arrive_expect(TrsvMbarrier *m, unsigned bytes) { simt::mbarrier_arrive(m, bytes); }

/* Has the phase of this parity (0 for the first) ended? Meant for the current phase and the one before. Poll it as any other
   value, with a bound: while (!trsv_mbarrier_test(m, parity)) if (!patience.more(sync)) ... [mbarrier.try_wait.parity.acquire] */
static inline bool trsv_mbarrier_test(TrsvMbarrier *m, unsigned parity) { return simt::mbarrier_test(m, parity); }

/* Copies global to shared memory and counts the bytes off the phase. Both addresses and bytes are multiples of 16.
   [cp.async.bulk.shared.global.mbarrier::complete_tx::bytes] */
static inline void trsv_bulk_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *m) { simt::bulk_copy(to, from, bytes, m); }

/* Words of shared memory that cross threads without a barrier: [ld.relaxed.cta.shared, st.relaxed.cta.shared] */
template <class T> static inline T    trsv_load_shared(const T *p) { return simt::of_bits<T>(simt::load(p, sizeof(T))); }
template <class T> static inline void trsv_store_shared(T *p, std::type_identity_t<T> v) { simt::store(p, simt::to_bits(v), sizeof(T)); }

/* Clusters: consecutive blocks that start together, and reach into each other's shared memory. */
static inline unsigned trsv_cluster_rank() { return simt::cluster_rank(); } /* [%cluster_ctarank] */
static inline unsigned trsv_cluster_size() { return simt::cluster_size(); } /* [%cluster_nctarank] */
static inline void     trsv_cluster_sync(simt::Line at = simt::Line::current()) { simt::cluster_barrier(at.line()); } /* [barrier.cluster.arrive.release, wait.acquire] */

/* Where a variable of this block lies in the block of that rank. A block must not end while others may reach into it. [mapa] */
template <class T> static inline T *trsv_cluster_peer(T *p, unsigned rank) { return (T *)simt::cluster_peer(p, rank); }

/* A word in a peer's shared memory, which the peer reads by trsv_load_shared. [st.relaxed.cluster.shared::cluster] */
template <class T> static inline void trsv_cluster_store(T *peer, std::type_identity_t<T> v) { simt::store(peer, simt::to_bits(v), sizeof(T)); }

#endif
