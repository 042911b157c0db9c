/*
   The solve of the algorithm `chunk`: one block solves one chunk of consecutive rows, step by step, in shared memory.

   Mapping: the cluster with ticket t takes the chunks from t * cluster on, one chunk for each block. One warp of a
     block computes; a lane has a row or a partial sum. The other warps copy records into shared memory many steps
     before their use, multiply the right-hand side into them, fetch results of other chunks in the order of their use,
     write x, and reset the words of the next launch. A launch that finds reciprocals (plan.h) differs only in the
     computing warp. Solves and such launches may follow each other in any order.
   Memory order: a result that crosses chunks, or goes from an importing warp to the computing warp, is a word that is
     its own flag (sync.cuh), or two if it is complex. It goes through L2 or into a cell of a neighbor's shared memory.
     trsv_warp_sync orders the steps of the computing warp. Barriers and counters, by release and acquire, pass stages
     of records and of results between warps. A stage of records arrives as one bulk copy or, in code for compute
     capability 8.x, as the copies of 32 lanes. Such code has no clusters. No result has the bits of NOT_READY: values
     and right-hand sides are made canonical before any arithmetic.
   Why it ends: a chunk waits only for smaller chunks. Their clusters have smaller tickets or are its own cluster, so
     they have started. Within a block the warps wait for each other stage by stage. A batch of imports gets its cells
     two stages before its first use; the set-up checks this (chunk_number.cu). If memory fails, the spin limit bounds
     the waits for imports, NaN replaces every missing value, and then all other waits end.
   Same bits: the schedule fixes the order of each sum.
   Source: this project. schedule.h and chunk.cuh have the layout, chunk_compute.cuh the computing warp.
*/
#include "solve/chunk/chunk.cuh"
#include "solve/chunk/chunk_compute.cuh"

/* --- the other warps --- */

/* Copies the records of the chunk into shared memory, stage by stage: lanes 0 .. trsv_copy_lanes() - 1. */
template <class T, int K, int W> static __device__ __forceinline__ void
chunk_copy(const ChunkView &A, const ChunkHead &h, unsigned base, unsigned first_stage, unsigned lane)
{
  const unsigned       bytes = ChunkLayout<T, K, W>::stage;
  const unsigned char *from  = A.records + (size_t)h.stage * bytes;

  for (unsigned i = 0, slot = 0, parity = 1; i < (unsigned)h.stages; i++) {
    if (i >= A.stages) {
      trsv_barrier_wait_idle(base + EMPTY + slot * 8, parity, 100);
      trsv_bulk_fence();
    }
    trsv_bulk_copy(first_stage + slot * bytes, from + (size_t)i * bytes, bytes, base + ARRIVED + slot * 8, lane);
    if (++slot == A.stages) slot = 0, parity ^= 1;
  }
}

/* Replaces 1/d by b/d in the stages me, me + RHS_WARPS, ... */
template <class T, int K, int W> static __device__ __forceinline__ void multiply_rhs(
  const ChunkView &A, const ChunkHead &h, const T *b, unsigned base, unsigned first_stage, int me, unsigned lane)
{
  typedef ChunkLayout<T, K, W> Layout;
  constexpr int                N = Layout::rows / 32;
  int                          row[N];
  unsigned                     place[N], used_place[N];
  T                            right[N];
  bool                         used[N];

  const auto load_rows = [&](int stage) {
#pragma unroll
    for (int j = 0; j < N; j++) {
      const size_t at = (size_t)(h.stage + stage) * Layout::rows + (unsigned)j * 32 + lane;
      row[j]          = stage < h.stages ? A.from[at] : 0;
      place[j]        = stage < h.stages ? A.places_in[at] : 0;
    }
  };
  const auto load_right = [&] {
#pragma unroll
    for (int j = 0; j < N; j++) {
      used[j]       = row[j] > 0;
      used_place[j] = place[j];
      right[j]      = used[j] ? b[row[j] - 1] : 0;
    }
  };

  load_rows(me);
  load_right();
  load_rows(me + RHS_WARPS);
  for (int stage = me; stage < h.stages; stage += RHS_WARPS) {
    const unsigned slot = (unsigned)stage % A.stages, parity = (unsigned)stage / A.stages & 1,
                   at = first_stage + slot * Layout::stage;

    /* EMPTY first: before that, the phase of ARRIVED may be an earlier one of the same parity */
    trsv_barrier_wait_idle(base + EMPTY + slot * 8, parity ^ 1, 100);
    trsv_barrier_wait_idle(base + ARRIVED + slot * 8, parity, 32);
#pragma unroll
    for (int j = 0; j < N; j++) {
      const unsigned a = at + Layout::at(used_place[j], K * (unsigned)sizeof(T));
      if (used[j]) trsv_shared_store(a, trsv_canonical(trsv_shared_load<T>(a) * right[j]));
    }
    if (A.bounded) { /* waits until the imports of this stage have cells */
      const unsigned batches = (unsigned)A.batch_of[h.stage + stage];
      for (unsigned i = 0; i < IMPORTERS; i++)
        while (trsv_shared_acquire(base + CELLS_READY + i * 4) * IMPORTERS + i < batches) trsv_pause();
    }
    trsv_warp_sync();
    trsv_barrier_arrive_if(base + READY + slot * 8, lane == 0);
    load_right();
    load_rows(stage + 2 * RHS_WARPS);
  }
}

/* Fetches batches me, me + IMPORTERS, ... through L2. The first poll of a batch loads all its words. After a poll that
   has not completed the first unfinished group of 32 words, the next poll loads only that group. */
template <class T> static __device__ __forceinline__ void
chunk_import(const ChunkView &A, const ChunkHead &h, const T *now, unsigned base, unsigned cells, int me, unsigned lane)
{
  constexpr int N = CHUNK_BATCH / 32;
  ChunkImport   wanted[N], next[N];
  TrsvSpinLimit spin;
  bool          lost = false;

  const auto load = [&](int batch) {
#pragma unroll
    for (int j = 0; j < N; j++) {
      const int i = batch * CHUNK_BATCH + j * 32 + (int)lane;
      next[j].word = -1;
      if (i < h.imports) next[j] = A.imports[h.import_ + i];
    }
  };

  load(me);
  for (int batch = me; batch * CHUNK_BATCH < h.imports; batch += IMPORTERS) {
#pragma unroll
    for (int j = 0; j < N; j++) wanted[j] = next[j];
    load(batch + IMPORTERS);
    if (A.bounded) { /* a cell is reset after its last reader: no reader then gets the value of another import */
      const unsigned after = (unsigned)A.after[h.batch + batch];
      for (unsigned i = 0; i < WRITERS; i++)
        while (trsv_shared_acquire(base + WRITTEN + i * 4) < after) trsv_pause();
#pragma unroll
      for (int j = 0; j < N; j++)
        if (wanted[j].word >= 0)
          trsv_shared_store(cells + (unsigned)wanted[j].cell * (unsigned)sizeof(T), trsv_not_ready<T>());
      trsv_warp_sync();
      if (lane == 0) trsv_shared_release(base + CELLS_READY + (unsigned)me * 4, (unsigned)batch / IMPORTERS + 1);
    }
    for (int first = 0, all = 1; first < N;) {
      T   value[N];
      int over = first;

#pragma unroll
      for (int j = 0; j < N; j++)
        if (wanted[j].word >= 0 && j >= first && (all || j == first)) value[j] = trsv_load(now + wanted[j].word);
#pragma unroll
      for (int j = 0; j < N; j++) {
        if (wanted[j].word >= 0 && j >= first && (all || j == first)) {
          if (lost && !trsv_is_ready(value[j])) value[j] = trsv_nan<T>();
          if (trsv_is_ready(value[j])) {
            trsv_shared_store(cells + (unsigned)wanted[j].cell * (unsigned)sizeof(T), value[j]);
            wanted[j].word = -1;
          }
        }
        if (!trsv_warp_any(wanted[j].word >= 0) && over == j) over = j + 1;
      }
      all = over != first;
      if (all) spin = TrsvSpinLimit();
      else lost = trsv_warp_any(!spin.more(A.sync, true)) || lost;
      first = over;
    }
  }
}

/* Bounds the waits for values that neighbors push: no warp of this block fetches them. If the chunk makes no progress
   within the spin limit, or another wait has exceeded it, NaN replaces the missing values. */
template <class T> static __device__ __forceinline__ void chunk_watch(const ChunkView &A, const ChunkHead &h,
                                                                      unsigned base, unsigned cells, unsigned lane)
{
  TrsvSpinLimit spin;

  for (unsigned seen = 0;;) {
    const unsigned now = min(trsv_shared_acquire(base + WRITTEN), trsv_shared_acquire(base + WRITTEN + 4));

    if (!trsv_warp_any(now < (unsigned)h.stages)) break;
    if (now != seen) seen = now, spin = TrsvSpinLimit();
    trsv_sleep((unsigned)h.stages - now > 8 ? 1000 : 32); /* short near the end: the block waits for this warp, too */
    if (!trsv_warp_any(!spin.more(A.sync, true))) continue;
    for (unsigned i = lane; i < A.cells; i += 32)
      if (!trsv_is_ready(trsv_shared_load<T>(cells + i * (unsigned)sizeof(T))))
        trsv_shared_store(cells + i * (unsigned)sizeof(T), trsv_nan<T>());
  }
}

/* Writes x of stages me, me + WRITERS, ... */
template <class T, int K, int W> static __device__ __forceinline__ void
chunk_write(const ChunkView &A, const ChunkHead &h, T *x, unsigned base, int me, unsigned lane)
{
  constexpr unsigned ROWS = ChunkLayout<T, K, W>::rows;
  constexpr int      N = ROWS / 32;
  const unsigned     slots = min(A.ring / ROWS, (unsigned)SLOTS);

  for (int stage = me; stage < h.stages; stage += WRITERS) {
    int      row[N];
    unsigned place[N];
    T        value[N];

#pragma unroll
    for (int j = 0; j < N; j++) {
      const size_t at = (size_t)(h.stage + stage) * ROWS + (unsigned)j * 32 + lane;
      row[j]          = A.to[at];
      place[j]        = A.places_in[at];
    }
    /* the parity is unambiguous: the computing warp waits for the writers before it uses this slot again */
    trsv_barrier_wait_idle(base + COMPUTED + (unsigned)stage % slots * 8, (unsigned)stage / slots & 1, 32);
#pragma unroll
    for (int j = 0; j < N; j++)
      value[j] = trsv_shared_load<T>(base + CHUNK_FRONT +
                                     (((unsigned)stage * ROWS + place[j]) & (A.ring - 1)) * (unsigned)sizeof(T));
#pragma unroll
    for (int j = 0; j < N; j++)
      if (row[j] > 0) x[row[j] - 1] = value[j];
    trsv_warp_sync();
    if (lane == 0) trsv_shared_release(base + WRITTEN + (unsigned)me * 4, (unsigned)stage + WRITERS);
    if (lane == 0 && stage % 16 == 14) trsv_note_progress(A.sync);
  }
}

template <class T, int K, int W, bool RECIPROCALS> static __global__ void __launch_bounds__(WARPS * 32)
  chunk_solve(const ChunkView A, const void *b, void *x)
{
  const unsigned thread = threadIdx.x, warp = trsv_warp_uniform(thread / 32), lane = thread % 32,
                 base        = trsv_shared_address();
  const unsigned cells       = base + CHUNK_FRONT + A.ring * (unsigned)sizeof(T),
                 first_stage = cells + A.cells * (unsigned)sizeof(T);
  const unsigned rank = A.cluster > 1 ? trsv_cluster_rank() : 0;

  unsigned ticket = 0, start_turn = 0; /* set in the thread that takes the ticket */

  if (A.cluster > 1) trsv_cluster_arrive();
  if (thread == 0 && rank == 0) ticket = trsv_ticket(A.sync, A.clusters, &start_turn);
  if (thread == COPIER * 32) {
    for (unsigned i = 0; i < SLOTS; i++) {
      trsv_barrier_init(base + ARRIVED + i * 8, trsv_copy_lanes());
      trsv_barrier_init(base + READY + i * 8, 1);
      trsv_barrier_init(base + EMPTY + i * 8, 1);
      trsv_barrier_init(base + COMPUTED + i * 8, 1);
    }
    trsv_bulk_fence();
    for (unsigned i = 0; i < WRITERS; i++) trsv_shared_store(base + WRITTEN + i * 4, i);
    for (unsigned i = 0; i < IMPORTERS; i++) trsv_shared_store(base + CELLS_READY + i * 4, 0u);
    trsv_shared_store(base + CHUNK_FRONT - CHUNK_CELL * (unsigned)sizeof(T), (T)0);
  }
  for (unsigned i = thread; i < A.cells; i += WARPS * 32)
    trsv_shared_store(cells + i * (unsigned)sizeof(T), trsv_not_ready<T>());
  if (A.cluster > 1) {
    trsv_cluster_wait(); /* all blocks of the cluster have started: their shared memory may be written from now on */
    for (unsigned r = 0; thread == 0 && rank == 0 && r < A.cluster; r++) {
      const TrsvPeer peer = trsv_peer(r);
      trsv_push(peer, base + START, ticket);
      trsv_push(peer, base + START + 4, start_turn);
    }
    trsv_cluster_sync();
  } else {
    if (thread == 0) {
      trsv_shared_store(base + START, ticket);
      trsv_shared_store(base + START + 4, start_turn);
    }
    __syncthreads();
  }

  const unsigned  chunk = trsv_warp_uniform(trsv_shared_load<unsigned>(base + START)) * A.cluster + rank,
                  turn  = trsv_warp_uniform(trsv_shared_load<unsigned>(base + START + 4));
  const ChunkHead h    = A.heads[chunk];
  T *const        now  = (T *)A.words + (turn ? A.exports : 0);
  T *const        then = (T *)A.words + (turn ? 0 : A.exports);

  if (warp != COPIER) trsv_wait_for_previous(); /* the copier reads nothing that a launch writes */
  if (thread == 0) trsv_let_next_start();
  if (h.stages) switch (warp) {
    case COMPUTE_WARP:
      if constexpr (K <= 3)
        chunk_compute_apart<T, K, W, RECIPROCALS>({A.cluster, A.ring, A.cells, A.stages, h.stages}, base, now, lane);
      else chunk_compute<T, K, W, RECIPROCALS>({A.cluster, A.ring, A.cells, A.stages, h.stages}, base, now, lane);
      break;
    case COPIER:
      if (lane < trsv_copy_lanes()) chunk_copy<T, K, W>(A, h, base, first_stage, lane);
      break;
    case RESETTER:
      for (int i = h.export_ + (int)lane; i < h.export_ + h.exports; i += 32) then[i] = trsv_not_ready<T>();
      if (A.cluster > 1) chunk_watch<T>(A, h, base, cells, lane);
      break;
    case 1:
    case 2:
    case 3:
    case 5: chunk_import<T>(A, h, now, base, cells, warp == 5 ? 3 : (int)warp - 1, lane); break;
    case 6:
    case 7:
    case 10: multiply_rhs<T, K, W>(A, h, (const T *)b, base, first_stage, warp == 10 ? 2 : (int)warp - 6, lane); break;
    default: chunk_write<T, K, W>(A, h, (T *)x, base, warp == 11, lane);
    }
  trsv_warp_sync();
  if (A.cluster > 1) trsv_cluster_sync(); /* no block leaves while another may store into its memory */
}

/* --- values, gathered into records and scattered back ---

   Mapping: one block for each stage, one thread for each place of a record. Memory order: one barrier, for the sums
   that give the index of the first value of each record. Why it ends: all threads meet that barrier. Same bits: a value
   is one thread's product. */

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
    const int j = k - K + own.count, s = j >= 1 ? own.source(c, j) : 0; /* unused fields come first */
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

/* --- the kernels of a plan --- */

/* The solve is NULL for complex values with long records; reciprocals is NULL for complex values, long records or
   narrow steps. */
template <class T, int K, int W> static constexpr ChunkKernels chunk_kernels()
{
  constexpr bool complex = sizeof(T) > sizeof(TrsvReal<T>), long_records = K > CHUNK_COMPLEX_MAX;
  ChunkKernels   k = {K, W, NULL, NULL, chunk_gather<T, K, W>, chunk_scatter<T, K, W>};

  if constexpr (!complex || !long_records) k.solve = chunk_solve<T, K, W, false>;
  if constexpr (!complex && !long_records && W == 32) k.reciprocals = chunk_solve<T, K, W, true>;
  return k;
}

template <class T> const ChunkKernels *ChunkKernelsOf(const TrsvChunkSettings *s)
{
  static const ChunkKernels table[] = {
    chunk_kernels<T, 2, 8>(),  chunk_kernels<T, 2, 32>(), chunk_kernels<T, 3, 8>(),
    chunk_kernels<T, 3, 32>(), chunk_kernels<T, 5, 32>(), chunk_kernels<T, 13, 32>(),
  };

  for (const ChunkKernels &k : table)
    if (k.length == s->length && k.width == s->width) return k.solve ? &k : NULL;
  return NULL;
}

template const ChunkKernels *ChunkKernelsOf<TRSV_REAL>(const TrsvChunkSettings *);
