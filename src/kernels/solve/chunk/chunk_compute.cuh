/*
   chunk_compute.cuh: the computing warp of the algorithm `chunk`. It reads only shared memory.

   A step takes about as long as a value takes from one lane to another through shared memory. All other work is done
   in earlier steps:
   - records are fetched two to four steps before their own step;
   - dependencies that are at least two steps old are read and summed in the step before;
   - only the last CHUNK_LATE dependencies are read in the step itself;
   - cells for imports hold NOT_READY until a value arrives. They are probed one or two steps before, and the warp waits
     only if a probe found one not ready. These waits need no limit: the warps that fill the cells bound them.
   The order of this work, and how many steps before it is done, is the fastest measured for each K.

   PTX's memory model does not cover accesses of different sizes. Each word is stored by one access of 8 bytes. After a
   probe has found the upper 4 bytes of a word, or of both words of a complex value, the kernel assumes that a later
   load of the warp finds all of it (tests/gpu/waits.cu). */
#ifndef TRSV_CHUNK_COMPUTE_CUH
#define TRSV_CHUNK_COMPUTE_CUH

#include "solve/chunk/chunk.cuh"

/* The numbers of the plan and of the chunk that the computing warp uses. */
struct ChunkWork {
  unsigned cluster, ring, cells, stages; /* as in the view */
  int      count;                        /* stages of the chunk */
};

/* A lane's record in registers. */
template <class T, int K> struct ChunkRecord {
  typedef TrsvReal<T>  Real;
  static constexpr int words = sizeof(T) / 4, real_words = sizeof(Real) / 4;

  TrsvQuad quad[CHUNK_QUADS(K, sizeof(T))];

  __device__ __forceinline__ unsigned word(int i) const
  {
    const TrsvQuad &q = quad[i / 4];
    return i % 4 == 0 ? q.x : i % 4 == 1 ? q.y : i % 4 == 2 ? q.z : q.w;
  }
  /* number i: a value, or a part of a complex one */
  __device__ __forceinline__ Real number(int i) const
  { return trsv_from_words<Real>(word(real_words * i), word(real_words * (i + 1) - 1)); }
  /* value k; the right-hand side is value K */
  __device__ __forceinline__ T value(int k) const
  {
    if constexpr (words == real_words) return number(k);
    else return {number(2 * k), number(2 * k + 1)};
  }
  __device__ __forceinline__ unsigned tail() const { return word(words * (K + 1)); }
  __device__ __forceinline__ unsigned address(int k, unsigned zero) const
  {
    const unsigned w = word(words * (K + 1) + 1 + k / 2);
    return zero + (k & 1 ? w >> 16 : w & 0xffffu) * (unsigned)sizeof(T);
  }
};

/* Computes all steps of a chunk. RECIPROCALS: the result of a row is the reciprocal of its sum; the result of a partial
   sum, which has no right-hand side, is the sum. */
template <class T, int K, int W, bool RECIPROCALS> static __device__ __forceinline__ void chunk_compute(
  const ChunkWork A, unsigned base, T *now, unsigned lane)
{
  typedef ChunkLayout<T, K, W>  Layout;
  typedef ChunkRecord<T, K>     Record;
  constexpr int  STEPS = Layout::steps;
  constexpr int  UNROLL = K <= 5 && STEPS % 8 == 0 ? 8 : 4;
  constexpr int  LATE = CHUNK_LATE, EARLY = K - LATE;
  constexpr bool NO_EARLY   = EARLY == 0; /* no early dependencies: probes are two steps before, and exports come after
                                             the next step's loads, which are more urgent */
  constexpr bool AWAIT_SOON = K == 3;     /* waits for the writers before a stage ends */
  constexpr int  SETS       = NO_EARLY && sizeof(T) <= 8 ? 8 : 4; /* records in registers */
  constexpr int  FETCH      = SETS == 8 ? 4 : NO_EARLY || AWAIT_SOON ? 3 : 2; /* steps from a fetch to its use */
  static_assert(SETS > FETCH && UNROLL % SETS == 0 && STEPS % UNROLL == 0, "each record has its registers");

  const unsigned place = lane % W, zero = base + CHUNK_FRONT - CHUNK_CELL * (unsigned)sizeof(T),
                 ring_bytes  = A.ring * (unsigned)sizeof(T);
  const unsigned first_stage = base + CHUNK_FRONT + ring_bytes + A.cells * (unsigned)sizeof(T);
  const int      slots = (int)min(A.ring / Layout::rows, (unsigned)SLOTS), ahead_of_writers = slots - 2;
  const unsigned mark = trsv_mark<T>();
  const TrsvPeer peer = trsv_peer(A.cluster > 1 ? min(trsv_cluster_rank() + 1, A.cluster - 1) : trsv_cluster_rank());

  Record   record[SETS];
  unsigned late_at[2][LATE], probe[2][K];
  T        early[EARLY + 1], sum, export_value = 0;
  unsigned export_tail = 0;
  T       *export_to   = now, *exports, *next_exports;
  unsigned from = 0, slot = 0, parity = 0, used = 0, done = 0, offset = 0,
           out = base + CHUNK_FRONT + place * (unsigned)sizeof(T);
  int  fetched = 0, written = 0; /* stages */
  bool bad = false, passed = false;

  const auto fetch = [&](Record &r) {
#pragma unroll
    for (int i = 0; i < CHUNK_QUADS(K, (int)sizeof(T)); i++)
      r.quad[i] = trsv_shared_load<TrsvQuad>(from + (unsigned)(i * W * 16));
    from += Layout::step;
  };
  const auto start_stage = [&] { /* from here on its records can be fetched */
    const unsigned stage = first_stage + slot * Layout::stage;

    next_exports = now + (int)trsv_shared_load<unsigned>(stage) - 1;
    from         = stage + CHUNK_HEADER + place * 16;
  };
  const auto next_stage = [&] {
    if (++fetched < A.count) {
      if (++slot == A.stages) slot = 0, parity ^= 1;
      if (trsv_warp_any(!passed)) trsv_barrier_wait(base + READY + slot * 8, parity);
    }
    start_stage(); /* after the last stage, starts it again; these records are not used */
  };
  const auto probe_next_stage = [&] {
    const bool wrap = slot + 1 == A.stages;
    passed = trsv_barrier_passed(base + READY + (wrap ? 0 : slot + 1) * 8, parity ^ (unsigned)wrap);
  };
  const auto await_writers = [&](int stage) { /* waits until they have read the results that this stage overwrites */
    while (trsv_warp_any(written < stage - ahead_of_writers)) {
      trsv_pause();
      written = (int)min(trsv_shared_acquire(base + WRITTEN), trsv_shared_acquire(base + WRITTEN + 4));
    }
  };
  const auto sum_early = [&](const Record &r) {
    T a = r.value(K), b = 0;
#pragma unroll
    for (int k = 0; k < EARLY; k++)
      if (EARLY >= 4 && (k & 1)) b = k == 1 ? r.value(k) * early[k] : fma(r.value(k), early[k], b);
      else a = fma(r.value(k), early[k], a);
    return EARLY >= 4 ? a + b : a;
  };
  const auto locate = [&](const Record &r, unsigned *at) {
#pragma unroll
    for (int k = 0; k < LATE; k++) at[k] = r.address(EARLY + k, zero);
  };
  const auto store_export = [&](T *to, unsigned tail, T v) {
    trsv_push_if(peer, zero + (tail & 0xffffu) * (unsigned)sizeof(T), v, (tail & 0xffffu) != 0);
    trsv_store_if(to, v, tail >> 16 != 0);
  };

  trsv_barrier_wait(base + READY, 0);
  start_stage();
  exports = next_exports;
#pragma unroll
  for (int j = 0; j < FETCH; j++) fetch(record[j]);
#pragma unroll
  for (int k = 0; k < EARLY; k++)
    early[k] = trsv_shared_load<T>(record[0].address(k, zero)), bad = bad || trsv_mark_of(early[k]) == mark;
#pragma unroll
  for (int k = 0; k < LATE; k++) {
    late_at[0][k] = record[0].address(EARLY + k, zero);
    bad           = bad || trsv_shared_mark<T>(late_at[0][k]) == mark;
  }
  sum = sum_early(record[0]);
  if (NO_EARLY)
#pragma unroll
    for (int k = 0; k < K; k++) {
      probe[0][k] = trsv_shared_mark<T>(record[0].address(k, zero));
      probe[1][k] = trsv_shared_mark<T>(record[1].address(k, zero));
    }
  trsv_keep(out);
  trsv_keep(exports);

  const auto solve_stage = [&](int stage) __attribute__((always_inline)) {
    if (!AWAIT_SOON) await_writers(stage);
    trsv_warp_sync();
#pragma unroll 1
    for (int u = 0; u < STEPS; u += UNROLL) {
#pragma unroll
      for (int j = 0; j < UNROLL; j++) {
        Record  &r = record[j % SETS], &next = record[(j + 1) % SETS];
        unsigned probe_next[LATE];
        T        late[LATE];

#pragma unroll
        for (int k = 0; k < LATE; k++) late[k] = trsv_shared_load<T>(late_at[j & 1][k]);
        if (NO_EARLY) {
          locate(next, late_at[(j + 1) & 1]);
#pragma unroll
          for (int k = 0; k < LATE; k++)
            probe_next[k] = trsv_shared_mark<T>(record[(j + 2) % SETS].address(k, zero));
          store_export(export_to, export_tail, export_value);
          bad = false;
#pragma unroll
          for (int k = 0; k < LATE; k++) bad = bad || probe[j & 1][k] == mark;
        }
        if (__builtin_expect(trsv_warp_any(bad), 0)) { /* an import was not ready when it was probed */
          do {
            trsv_pause();
            bad = false;
#pragma unroll
            for (int k = 0; k < EARLY; k++)
              early[k] = trsv_shared_load<T>(r.address(k, zero)), bad = bad || !trsv_is_ready(early[k]);
#pragma unroll
            for (int k = 0; k < LATE; k++)
              late[k] = trsv_shared_load<T>(late_at[j & 1][k]), bad = bad || !trsv_is_ready(late[k]);
          } while (trsv_warp_any(bad));
          sum = sum_early(r);
        }
        if (NO_EARLY) {
          sum = sum_early(r);
#pragma unroll
          for (int k = 0; k < LATE; k++) probe[j & 1][k] = probe_next[k];
        }
        if ((j + FETCH) % UNROLL == 0 && u + j + FETCH == STEPS) next_stage();
        if (!NO_EARLY) {
#pragma unroll
          for (int k = 0; k < EARLY; k++) early[k] = trsv_shared_load<T>(next.address(k, zero));
          locate(next, late_at[(j + 1) & 1]);
#pragma unroll
          for (int k = 0; k < LATE; k++) probe_next[k] = trsv_shared_mark<T>(late_at[(j + 1) & 1][k]);
        }
        fetch(record[(j + FETCH) % SETS]);
        if (j == UNROLL - FETCH - 1 && u + UNROLL == STEPS) probe_next_stage();

        if (AWAIT_SOON && j == UNROLL / 2 && u + UNROLL == STEPS) await_writers(stage + 1);
        T result = sum;
#pragma unroll
        for (int k = 0; k < LATE; k++) result = fma(r.value(EARLY + k), late[k], result);
        if constexpr (RECIPROCALS) result = r.value(K) == 0 ? result : trsv_reciprocal(result);
        trsv_shared_store(out + offset + (unsigned)(j * W * (int)sizeof(T)), result);
        trsv_warp_sync(); /* the next step reads it */
        if (NO_EARLY) export_value = result, export_tail = r.tail(), export_to = exports + (r.tail() >> 16);
        else store_export(exports + (r.tail() >> 16), r.tail(), result);
        if (!NO_EARLY) {
          bad = false;
#pragma unroll
          for (int k = 0; k < LATE; k++) bad = bad || probe_next[k] == mark;
#pragma unroll
          for (int k = 0; k < EARLY; k++) bad = bad || trsv_mark_of(early[k]) == mark;
          sum = sum_early(next);
        }
      }
      offset = (offset + (unsigned)(UNROLL * W * (int)sizeof(T))) & (ring_bytes - 1);
    }
    exports = next_exports;
    trsv_keep(exports);
    trsv_barrier_arrive_if(base + EMPTY + used * 8, lane == 0);
    trsv_barrier_arrive_if(base + COMPUTED + done * 8, lane == 0);
    if (++used == A.stages) used = 0;
    if (++done == (unsigned)slots) done = 0;
  };
  for (int stage = 0;;) {
    solve_stage(stage);
    if (++stage >= A.count) break;
    if constexpr (NO_EARLY) { /* two stages in an iteration: each iteration costs as much as half a step */
      solve_stage(stage);
      if (++stage >= A.count) break;
    }
  }
  if (NO_EARLY) store_export(export_to, export_tail, export_value);
}

/* The same as a function that is not inlined, so that the code of the other warps does not change the order of the
   instructions of a step: a short step then takes less time. */
template <class T, int K, int W, bool RECIPROCALS> static __device__ __attribute__((noinline)) void chunk_compute_apart(
  const ChunkWork A, unsigned base, T *now, unsigned lane)
{
  chunk_compute<T, K, W, RECIPROCALS>(A, base, now, lane);
}

#endif
