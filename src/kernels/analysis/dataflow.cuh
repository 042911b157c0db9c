/*
   dataflow.cuh: one launch that computes a word for each row from the words of earlier rows: level sets (levels.cu),
   colors (multicolor.cu).

   Source: the writing-first solve of CapelliniSpTRSV (ICPP 2020), Section 4.3, with words instead of components. Added:
   shared memory between rows of a block, and all threads of a warp for a long row.

   Mapping: a block takes one ticket after another; ticket t is the DATAFLOW_BLOCK rows from row t * DATAFLOW_BLOCK, a
   thread for each. A thread waits for `ahead` dependencies of its row at a time, in the order in which the pass lists
   them. If the pass is sorted, it takes the next group after the whole group is ready; else it replaces each
   dependency that is ready, so a late one delays no others. While a row has more than DATAFLOW_LONG dependencies left,
   the whole warp loads many at once. The device holds all blocks at the same time, with those of other passes in
   the launch and those of the launch of a second task (lock step), which otherwise could start only after this one.
   Memory order: a word is its own flag, 0 until it is ready. It is in device memory, and for rows of the same block
   also in shared memory, which is faster for chains of neighbors. Nothing else crosses threads.
   Why it ends: a row waits only for earlier rows. Those of smaller tickets are done, or their blocks have started.
   While a block works on a ticket, its warps meet at no barrier. The threads of a warp do each turn of the loop
   together; a turn polls every word that a thread waits for, and does not block. By induction on the row every wait
   ends; the spin limit bounds it. Same bits: meet() and join() do not depend on the order of dependencies.
*/
#ifndef TRSV_DATAFLOW_CUH
#define TRSV_DATAFLOW_CUH

#include <limits.h>
#include "device/sync.cuh"

enum {
  DATAFLOW_BLOCK     = 256,
  DATAFLOW_SHARED    = sizeof(unsigned) * DATAFLOW_BLOCK, /* dynamic shared memory, bytes */
  DATAFLOW_LONG      = 64, /* dependencies that the thread of a row handles alone, at most */
  DATAFLOW_TAIL      = 32, /* the last dependencies of a longer row, which its thread handles alone: they are near */
  DATAFLOW_LOOKS     = 8,  /* dependencies of a long row that each thread of the warp loads in a turn */
  DATAFLOW_LOADS     = 4,  /* of these, those that are in flight at a time; divides DATAFLOW_LOOKS */
  DATAFLOW_SLEEP     = 32, DATAFLOW_SLEEP_MAX = 256, /* ns between two polls of a waiting warp, at first and at most */
  DATAFLOW_NONE      = INT_MIN
};

/* Where a block finds the words of earlier rows. */
struct DataflowWords {
  unsigned *word; /* [rows] */
  unsigned  near;  /* in shared memory: of the block's own rows */
  int       first; /* row of the block */
};

/* The word of row r: from shared memory if the row is in this block. */
template <class Pass> static TRSV_INLINE unsigned dataflow_find(const Pass &pass, const DataflowWords &w, int r)
{
  return r < w.first ? trsv_load(w.word + pass.place(r))
                     : trsv_shared_load<unsigned>(w.near + 4 * (unsigned)(r - w.first));
}

/*
   Computes the words of a block's next rows; returns false if no rows are left. mine: the word of this thread's row, 0
   if it has none. A Pass has

     int rows
     int place(r)                  the index of the word of row r
     int count(r), begin(r), step  the dependencies of row r: their number, the index of the first, the step to the next
     int dependency(k)             the dependency at index k, never DATAFLOW_NONE
     int row(dependency)           its row, before r
     bool sorted                   true: dependencies mostly get ready in the order in which they are listed
     int ahead                     dependencies that a thread waits for at a time
     State known(r)                the state of row r before any dependency
     unsigned word(state, r, words)  the word of row r, not 0, after all dependencies

   and a State, to which dependencies are added in any order, and which the lanes of a warp may compute in parts,

     void  meet(dependency, word)  adds a dependency. If the pass is not sorted, it is also called with word 0, for a
                                   dependency that is not ready, or DATAFLOW_NONE, and then changes nothing
     State empty(lane)             the first state of that lane's row; all lanes call it together
     State beside(half)            the state of the lane whose number differs in this bit; all lanes call it together
     void  join(state)             adds another part
*/
template <class Pass>
static TRSV_INLINE bool dataflow_pass(const Pass &pass, unsigned *words, const TrsvSync &sync, unsigned &mine)
{
  enum { AHEAD = Pass::ahead };
  TRSV_SHARED(unsigned, ticket, 1);
  const unsigned all = 0xffffffffu, near = trsv_shared_address(), own = near + 4 * threadIdx.x, lane = threadIdx.x % 32;

  __syncthreads(); /* all threads are done with the previous ticket and its words */
  if (threadIdx.x == 0) ticket[0] = atomicAdd(sync.ticket, 1u);
  trsv_shared_store(own, 0u);
  __syncthreads();
  if (ticket[0] * DATAFLOW_BLOCK >= (unsigned)pass.rows) return false;
  const DataflowWords w    = {words, near, (int)(ticket[0] * DATAFLOW_BLOCK)};
  const int           r    = w.first + (int)threadIdx.x;
  bool                done = r >= pass.rows;
  int                 left = done ? 0 : pass.count(r), next = done ? 0 : pass.begin(r); /* not yet loaded */
  int                 wanted[AHEAD]; /* the dependencies that the row waits for */
  unsigned            begin = 0, pause = DATAFLOW_SLEEP;
  auto                known = pass.known(done ? 0 : r);
  TrsvSpinLimit       spin;

  mine = 0;
#pragma unroll
  for (int n = 0; n < AHEAD; n++) wanted[n] = DATAFLOW_NONE;
  do {
    bool moved = false;

    /* long rows: the warp handles one after another until one is not ready; the next turn begins with the one after */
    for (unsigned long_rows = __ballot_sync(all, left > DATAFLOW_LONG); long_rows;) {
      const unsigned behind = long_rows & ~0u << begin;
      const int      l = __ffs((int)(behind ? behind : long_rows)) - 1, from = __shfl_sync(all, next, l),
                     n     = min(__shfl_sync(all, left, l) - DATAFLOW_TAIL, 32 * DATAFLOW_LOOKS);
      bool           ready = true;
      auto           part  = known.empty(l);

      long_rows &= ~(1u << l);
#pragma unroll
      for (int s = 0; s < DATAFLOW_LOOKS; s += DATAFLOW_LOADS) {
        int      taken[DATAFLOW_LOADS];
        unsigned found[DATAFLOW_LOADS];

#pragma unroll
        for (int u = 0; u < DATAFLOW_LOADS; u++) {
          const int e = 32 * (s + u) + (int)lane;

          taken[u] = e < n ? pass.dependency(from + pass.step * e) : DATAFLOW_NONE;
        }
#pragma unroll
        for (int u = 0; u < DATAFLOW_LOADS; u++)
          found[u] = taken[u] == DATAFLOW_NONE ? 1 : dataflow_find(pass, w, pass.row(taken[u]));
#pragma unroll
        for (int u = 0; u < DATAFLOW_LOADS; u++) {
          ready = ready && found[u];
          if (taken[u] != DATAFLOW_NONE && found[u]) part.meet(taken[u], found[u]);
        }
      }
      begin = ((unsigned)l + 1) % 32;
      if (!__all_sync(all, ready)) break;
      for (int half = 16; half; half /= 2) part.join(part.beside(half));
      if ((int)lane == l) {
        known.join(part);
        next += pass.step * n;
        left -= n;
        moved = true;
      }
    }

    unsigned far[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      const int other = wanted[n] == DATAFLOW_NONE ? pass.rows : pass.row(wanted[n]);

      far[n] = trsv_load_if(w.word + pass.place(other), other < w.first, 0);
    }
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
      if (far[n]) {
        known.meet(wanted[n], far[n]);
        wanted[n] = DATAFLOW_NONE;
        moved     = true;
      }

    bool again; /* while a thread of the warp advances, others may, too */
    do {
      again = false;
      if (!done && left <= DATAFLOW_LONG) {
        unsigned found[AHEAD];
        bool     waits = false;

#pragma unroll
        for (int n = 0; n < AHEAD; n++) { /* all loads before a use: chains of rows wait for this */
          const int other = wanted[n] == DATAFLOW_NONE ? -1 : pass.row(wanted[n]);

          found[n] = other >= w.first ? trsv_shared_load<unsigned>(near + 4 * (unsigned)(other - w.first)) : 0;
        }
#pragma unroll
        for (int n = 0; n < AHEAD; n++) {
          if (!Pass::sorted || found[n]) known.meet(wanted[n], found[n]);
          wanted[n] = found[n] ? (int)DATAFLOW_NONE : wanted[n];
          bool open = wanted[n] == DATAFLOW_NONE;
          if (!Pass::sorted && left && open) {
            wanted[n] = pass.dependency(next);
            next += pass.step;
            left--;
            again = true;
            open  = false; /* known before the load is done */
          }
          waits = waits || !open;
        }
        again = again || !waits;
        if (Pass::sorted && !waits && left) {
          const int take = min(left, (int)AHEAD);

#pragma unroll
          for (int n = 0; n < AHEAD; n++)
            if (n < take) wanted[n] = pass.dependency(next + pass.step * n);
          next += pass.step * take;
          left -= take;
        } else if (!waits) {
          mine = pass.word(known, r, w);
          trsv_shared_store(own, mine);
          trsv_store(w.word + pass.place(r), mine);
          done = true;
        }
      }
      moved = moved || again;
    } while (__any_sync(all, again));

    if (__any_sync(all, moved)) {
      pause = DATAFLOW_SLEEP;
      spin  = TrsvSpinLimit(); /* the next wait begins */
      continue;
    }
    /* Nothing has changed: each thread polls one word of another warp, with growing delays, until one is ready. So a
       warp that waits long leaves the multiprocessor to others. */
    const bool asks = __any_sync(all, left > DATAFLOW_LONG); /* the next turn polls for the long row */
    int        d    = -1;
    bool       more = true, there;

#pragma unroll
    for (int n = AHEAD - 1; n >= 0; n--)
      if (wanted[n] != DATAFLOW_NONE && pass.row(wanted[n]) < r - (int)lane) d = pass.row(wanted[n]);
    do {
      trsv_sleep(pause);
      pause  = min(2 * pause, (unsigned)DATAFLOW_SLEEP_MAX);
      there = asks || (d >= 0 && dataflow_find(pass, w, d));
      if (left > DATAFLOW_LONG || (d >= 0 && !there)) more = spin.more(sync);
    } while (!__any_sync(all, there || !more) && __any_sync(all, d >= 0));
    if (!more) { /* give up */
      left = 0;
#pragma unroll
      for (int n = 0; n < AHEAD; n++) wanted[n] = DATAFLOW_NONE;
    }
  } while (!__all_sync(all, done));
  return true;
}

/* The number of blocks of each of `passes` passes in one launch, if a multiprocessor holds `held` blocks. */
static inline TrsvError DataflowBlocks(int rows, int passes, int held, unsigned *blocks)
{
  const unsigned all = TrsvBlocks(rows, DATAFLOW_BLOCK);
  int            multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const unsigned sharing = (unsigned)(passes * TrsvDeviceSharing()),
                 at_once = ((unsigned)(held * multiprocessors) + sharing - 1) / sharing;
  *blocks = all < at_once ? all : at_once;
  return TRSV_SUCCESS;
}

#endif
