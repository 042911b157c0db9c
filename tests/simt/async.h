/*
   async.h: the executor's copies into shared memory, mbarriers, and clusters, for chunks.h. Included by simt.h.
   Data of a copy arrive after a thread has polled its barrier without success at the earliest; until then the
   destination has junk. A thread that reads too early, or overwrites data that is still read, gets wrong numbers
   under some schedule.
*/
#ifndef SIMT_ASYNC_H
#define SIMT_ASYNC_H

typedef unsigned long long TrsvMbarrier; /* in shared memory, 8 bytes, as PTX has it */

namespace simt {

void     mbarrier_init(TrsvMbarrier *, unsigned count);
void     mbarrier_arrive(TrsvMbarrier *, unsigned bytes); /* expects so many bytes; may be a peer's */
bool     mbarrier_test(TrsvMbarrier *, unsigned parity, Line);
void     bulk_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *);
void     lane_copy(void *to, const void *from, unsigned bytes, TrsvMbarrier *, unsigned lane); /* as cp.async */
unsigned copy_lanes();
unsigned cluster_rank(), cluster_size();
void    *cluster_peer(const void *, unsigned rank); /* the address of this block's variable in the block of that rank */
void     push(void *, uint64_t bits, unsigned size);
void     cluster_arrive();
void     cluster_wait(const char *name, unsigned line);
void     cluster_barrier(unsigned line);

}

static inline unsigned trsv_cluster_rank() { return simt::cluster_rank(); }
static inline void     trsv_cluster_arrive() { simt::cluster_arrive(); }
static inline void     trsv_cluster_wait(simt::Line at = simt::Line::current())
{
  simt::cluster_wait("trsv_cluster_wait", at.line());
}
static inline void     trsv_cluster_sync(simt::Line at = simt::Line::current()) { simt::cluster_barrier(at.line()); }

#endif
