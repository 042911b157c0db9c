/*
   dataflow.cuh: one launch that finds a word for each of many rows, which follows from the words of rows before it:
   level sets (levels.cu), colors (multicolor_waves.cu).

   Source: the writing-first solve of CapelliniSpTRSV (ICPP 2020), Section 4.3, with words in place of components. What
   is added: neighbors hand over inside the multiprocessor, and a warp helps with its long rows.

   Mapping: a block takes ticket after ticket; that of ticket t has rows t * DATAFLOW_BLOCK onwards, thread by thread. A
   thread waits for four dependencies of its row at a time, in the order in which the pass lists them: four after four
   where the last of them are mostly there last, else each for itself, so that one that is late holds up no others;
   while more than LONG are left, the whole warp takes on many at once. There are no more blocks than the device holds,
   beside those of another launch where there is one (interleave.cu), which would else begin when all of these are done.
   Memory order: a word is its own flag, 0 until it is there: in device memory, and once more in shared memory for the
   rows of the same block, so that a chain of neighbors goes from thread to thread there. Nothing else crosses threads.
   Why it ends: a row waits for rows before it only. Those of smaller tickets are done, or with blocks that have
   started. Warps of a block share no barrier between two tickets. The threads of a warp take turns together
   (thread.cu), each turn looks at what every one of them waits for, and no turn waits. By induction on the row every
   wait ends; spin bounds it if memory fails.
*/
#ifndef TRSV_DATAFLOW_CUH
#define TRSV_DATAFLOW_CUH

#include <limits.h>
#include "device/sync.cuh"

enum {
  DATAFLOW_BLOCK  = 256,
  DATAFLOW_SHARED = sizeof(unsigned) * DATAFLOW_BLOCK, /* bytes that the launch gives */
  DATAFLOW_QUAD   = 4,
  DATAFLOW_LONG   = 64, /* dependencies of a row that a thread takes on alone */
  DATAFLOW_TAIL   = 32, /* what it takes on alone of more, for the neighbors are here */
  DATAFLOW_SHARE  = 8,  /* dependencies that each thread of the warp looks at in a turn */
  DATAFLOW_REST   = 32, DATAFLOW_REST_MOST = 256, /* ns between two looks of a warp that waits, at first and at most */
  DATAFLOW_NONE   = INT_MIN
};

/* The words of the rows before, seen by a thread of a block. */
struct DataflowWords {
  unsigned *word; /* [rows] */
  unsigned  near; /* in shared memory: those of the block's own rows */
  int       first; /* of the block's rows */
};

/* The word of row r, from where it is soonest. */
template <class Pass> static __device__ __forceinline__ unsigned dataflow_find(const Pass &pass, const DataflowWords &w,
                                                                               int r)
{
  return r < w.first ? trsv_load(w.word + pass.place(r))
                     : trsv_shared_load<unsigned>(w.near + 4 * (unsigned)(r - w.first));
}

/*
   Finds the words of a block's next rows, rows in the order in which they may wait for each other; false where none are
   left. mine: that of this thread's row, 0 where it has none. A Pass is

     int rows
     int place(r)                  where among the words that of row r stands
     int count(r), begin(r), step  its dependencies are read from begin(r) on, step apart
     int dependency(k)             the one that stands at k, never DATAFLOW_NONE
     int row(dependency)           whose word it asks for: of a row before r
     bool sorted                   do its dependencies mostly come in the order in which they are listed?
     Known known(r)                what row r knows before it has met any
     unsigned word(known, r, words)  its word, not 0, once it has met all

   and a Known, which takes dependencies in any order, in parts that the threads of a warp put together,

     void  meet(dependency, word)
     Known empty(lane)   as that lane's row has it at first; all lanes together
     Known beside(half)  that of the lane whose number differs in this bit; all lanes together
     void  join(known)
*/
template <class Pass> static __device__ __forceinline__ bool dataflow_pass(const Pass &pass, unsigned *words,
                                                                           const TrsvSync &sync, unsigned &mine)
{
  TRSV_SHARED(unsigned, ticket, 1);
  const unsigned all = 0xffffffffu, near = trsv_shared_address(), own = near + 4 * threadIdx.x, lane = threadIdx.x % 32;

  __syncthreads(); /* all are through with the ticket before, and its words */
  if (threadIdx.x == 0) ticket[0] = atomicAdd(sync.ticket, 1u);
  trsv_shared_store(own, 0u);
  __syncthreads();
  if (ticket[0] * DATAFLOW_BLOCK >= (unsigned)pass.rows) return false;
  const DataflowWords w      = {words, near, (int)(ticket[0] * DATAFLOW_BLOCK)};
  const int           r      = w.first + (int)threadIdx.x;
  bool                done   = r >= pass.rows;
  int left = done ? 0 : pass.count(r), next = done ? 0 : pass.begin(r); /* dependencies that nobody has looked at */
  int wanted[DATAFLOW_QUAD];                                            /* those that the row waits for */
  unsigned            begin  = 0, rest = DATAFLOW_REST;
  auto                known  = pass.known(done ? 0 : r);
  TrsvSpinLimit        spin;

  mine = 0;
#pragma unroll
  for (int n = 0; n < DATAFLOW_QUAD; n++) wanted[n] = DATAFLOW_NONE;
  do {
    bool moved = false;

    /* one after the other, until one is not ready; the next turn begins behind it */
    for (unsigned asking = __ballot_sync(all, left > DATAFLOW_LONG); asking;) {
      const unsigned behind = asking & ~0u << begin;
      const int      l = __ffs((int)(behind ? behind : asking)) - 1, from = __shfl_sync(all, next, l),
                     n     = min(__shfl_sync(all, left, l) - DATAFLOW_TAIL, 32 * DATAFLOW_SHARE);
      bool           ready = true;
      auto           part  = known.empty(l);

      asking &= ~(1u << l);
#pragma unroll
      for (int s = 0; s < DATAFLOW_SHARE; s += DATAFLOW_QUAD) {
        int      taken[DATAFLOW_QUAD];
        unsigned found[DATAFLOW_QUAD];

#pragma unroll
        for (int u = 0; u < DATAFLOW_QUAD; u++) {
          const int e = 32 * (s + u) + (int)lane;

          taken[u] = e < n ? pass.dependency(from + pass.step * e) : DATAFLOW_NONE;
        }
#pragma unroll
        for (int u = 0; u < DATAFLOW_QUAD; u++)
          found[u] = taken[u] == DATAFLOW_NONE ? 1 : dataflow_find(pass, w, pass.row(taken[u]));
#pragma unroll
        for (int u = 0; u < DATAFLOW_QUAD; u++) {
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

    unsigned far[DATAFLOW_QUAD];
#pragma unroll
    for (int n = 0; n < DATAFLOW_QUAD; n++) {
      const int other = wanted[n] == DATAFLOW_NONE ? pass.rows : pass.row(wanted[n]);

      far[n] = other < w.first ? trsv_load(w.word + pass.place(other)) : 0;
    }
#pragma unroll
    for (int n = 0; n < DATAFLOW_QUAD; n++)
      if (far[n]) {
        known.meet(wanted[n], far[n]);
        wanted[n] = DATAFLOW_NONE;
        moved     = true;
      }

    bool again; /* as long as one thread of the warp gets on, those beside it may */
    do {
      again = false;
      if (!done && left <= DATAFLOW_LONG) {
        bool waits = false;

#pragma unroll
        for (int n = 0; n < DATAFLOW_QUAD; n++) {
          const int other = wanted[n] == DATAFLOW_NONE ? -1 : pass.row(wanted[n]);

          if (other >= w.first) {
            const unsigned found = trsv_shared_load<unsigned>(near + 4 * (unsigned)(other - w.first));

            if (found) {
              known.meet(wanted[n], found);
              wanted[n] = DATAFLOW_NONE;
            }
          }
          if (!Pass::sorted && left && wanted[n] == DATAFLOW_NONE) {
            wanted[n] = pass.dependency(next);
            next += pass.step;
            left--;
            again = true;
          }
          waits = waits || wanted[n] != DATAFLOW_NONE;
        }
        again = again || !waits;
        if (Pass::sorted && !waits && left) {
          const int take = min(left, (int)DATAFLOW_QUAD);

#pragma unroll
          for (int n = 0; n < DATAFLOW_QUAD; n++)
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
      rest = DATAFLOW_REST;
      spin = TrsvSpinLimit();
      continue;
    }
    /* Nothing has changed: each looks at one word of another warp, less and less often, until one is there. A warp far
       from ready leaves the multiprocessor to those that are near. */
    const bool asks = __any_sync(all, left > DATAFLOW_LONG); /* for what the next turn looks at */
    int        d    = -1;
    bool       more = true, there;

#pragma unroll
    for (int n = DATAFLOW_QUAD - 1; n >= 0; n--)
      if (wanted[n] != DATAFLOW_NONE && pass.row(wanted[n]) < r - (int)lane) d = pass.row(wanted[n]);
    do {
      trsv_sleep(rest);
      rest  = min(2 * rest, (unsigned)DATAFLOW_REST_MOST);
      there = asks || (d >= 0 && dataflow_find(pass, w, d));
      if (left > DATAFLOW_LONG || (d >= 0 && !there)) more = spin.more(sync);
    } while (!__any_sync(all, there || !more) && __any_sync(all, d >= 0));
    if (!more) { /* it goes without */
      left = 0;
#pragma unroll
      for (int n = 0; n < DATAFLOW_QUAD; n++) wanted[n] = DATAFLOW_NONE;
    }
  } while (!__all_sync(all, done));
  return true;
}

/* How many blocks each of so many passes side by side has, of a kernel of which a multiprocessor holds so many. */
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

/* What the blocks of a launch share, zeros at first, and what a caller puts behind it. */
enum {
  DATAFLOW_TICKET,
  DATAFLOW_ABORT_DEVICE,
  DATAFLOW_ABORT_HOST, /* nobody looks before the launch is over */
  DATAFLOW_STATES
};

static inline TrsvSync DataflowSync(unsigned *state)
{
  TrsvSync sync;

  sync.ticket   = state + DATAFLOW_TICKET;
  sync.abort_device  = state + DATAFLOW_ABORT_DEVICE;
  sync.abort_host     = state + DATAFLOW_ABORT_HOST;
  sync.timeout = TrsvTimeoutLimit();
  return sync;
}

#endif
