/*
   chunk_compute.cuh: the warp of the algorithm `chunk` that computes. Everything it reads is in shared memory or in its lanes.

   A step takes about as long as a result needs from one lane to the next that waits for it: a shuffle and two multiplications. All
   else is done ahead, in the shadow of the shuffles: records are fetched two steps before their own; all dependencies are read
   one step before, since only those that are one step old are not in shared memory by then, and these, at most CHUNK_LATE
   and the last ones of a record, come by shuffle.

   Cells for imports hold NOT_READY until somebody writes them. Only where a cell was found so a step ahead, the warp waits. These waits
   have no limit of their own: the warps that fill the cells see to it that something comes.
*/
#ifndef TRSV_CHUNK_COMPUTE_CUH
#define TRSV_CHUNK_COMPUTE_CUH

#include "chunk.cuh"

/* A lane's record in registers. */
template <class T, int K> struct ChunkRecord {
  static constexpr int words = sizeof(T) / 4;

  TrsvQuad quad[CHUNK_QUADS(K, sizeof(T))];

  __device__ __forceinline__ unsigned word(int i) const
  {
    const TrsvQuad &q = quad[i / 4];
    return i % 4 == 0 ? q.x : i % 4 == 1 ? q.y : i % 4 == 2 ? q.z : q.w;
  }
  /* of the K values, and behind them the right-hand side */
  __device__ __forceinline__ T value(int k) const { return trsv_from_words<T>(word(words * k), word(words * (k + 1) - 1)); }
  __device__ __forceinline__ unsigned tail() const { return word(words * (K + 1)); }
  __device__ __forceinline__ unsigned cells(int k) const { return word(words * (K + 1) + 1 + k / 2); } /* of two dependencies */
  __device__ __forceinline__ unsigned address(int k, unsigned zero) const { return zero + ((k & 1 ? cells(k) >> 16 : cells(k)) & (CHUNK_LANE - 1u)) * (unsigned)sizeof(T); }
  __device__ __forceinline__ bool     by_shuffle(int k) const { return (cells(k) & (k & 1 ? (unsigned)CHUNK_LANE << 16 : (unsigned)CHUNK_LANE)) != 0; }
  __device__ __forceinline__ unsigned lane(int k) const { return k & 1 ? cells(k) >> 16 : cells(k); } /* modulo 32 */
};

template <class T, int K, int W> static __device__ __forceinline__ void chunk_compute(const ChunkView<T> &A, const ChunkHead &h, unsigned base, T *now, unsigned lane)
{
  typedef ChunkLayout<T, K, W> Layout;
  typedef ChunkRecord<T, K>    Record;
  constexpr int STEPS = Layout::steps, SETS = 4, FETCH = 2; /* steps of a stage, records in registers, steps that one is fetched ahead */
  constexpr int UNROLL = K <= 5 && STEPS % 8 == 0 ? 8 : 4;
  constexpr int LATE = CHUNK_LATE, EARLY = K - LATE;

  const unsigned place = lane % W, zero = base + CHUNK_FRONT - CHUNK_CELL * (unsigned)sizeof(T), ring_bytes = A.ring * (unsigned)sizeof(T);
  const unsigned first_stage = base + CHUNK_FRONT + ring_bytes + A.cells * (unsigned)sizeof(T);
  const int      slots = (int)min(A.ring / Layout::rows, (unsigned)SLOTS), ahead_of_writers = slots - 2;
  const unsigned mark = trsv_mark<T>();
  const TrsvPeer peer = trsv_peer(A.cluster > 1 ? min(trsv_cluster_rank() + 1, A.cluster - 1) : 0);

  Record   record[SETS];
  T        early[K], sum;
  bool     bad = false, passed = false;
  /* the result of the step before, on its way out; before the first step, to a cell that nobody reads */
  T        result = 0, *export_to = now;
  unsigned result_tail = 0, result_at = zero + (unsigned)sizeof(T);
  T       *exports, *next_exports;
  unsigned from = 0, slot = 0, parity = 0, used = 0, done = 0, offset = 0, out = base + CHUNK_FRONT + place * (unsigned)sizeof(T);
  int      fetched = 0, written = 0; /* stages */

  const auto fetch = [&](Record &r) {
#pragma unroll
    for (int i = 0; i < CHUNK_QUADS(K, (int)sizeof(T)); i++) r.quad[i] = trsv_shared_load<TrsvQuad>(from + (unsigned)(i * W * 16));
    from += Layout::step;
  };
  const auto start_stage = [&] { /* its records can be fetched */
    const unsigned stage = first_stage + slot * Layout::stage;

    next_exports = now + (int)trsv_shared_load<unsigned>(stage) - 1;
    from         = stage + CHUNK_HEADER + place * 16;
  };
  const auto next_stage = [&] {
    if (++fetched < h.stages) {
      if (++slot == A.stages) slot = 0, parity ^= 1;
      if (trsv_warp_any(!passed)) trsv_barrier_wait(base + READY + slot * 8, parity);
    }
    start_stage(); /* behind the last one: the last once more, of which nothing is used */
  };
  const auto look_at_next_stage = [&] {
    const bool wrap = slot + 1 == A.stages;
    passed = trsv_barrier_passed(base + READY + (wrap ? 0 : slot + 1) * 8, parity ^ (unsigned)wrap);
  };
  const auto read = [&](const Record &r) {
#pragma unroll
    for (int k = 0; k < K; k++) early[k] = trsv_shared_load<T>(r.address(k, zero));
  };
  const auto sum_early = [&](const Record &r) { /* all but the last, in two chains where there are many */
    T a = r.value(K), b = 0;
#pragma unroll
    for (int k = 0; k < EARLY; k++)
      if (EARLY >= 4 && (k & 1)) b = k == 1 ? r.value(k) * early[k] : fma(r.value(k), early[k], b);
      else a = fma(r.value(k), early[k], a);
    return EARLY >= 4 ? a + b : a;
  };
  const auto put_out = [&] { /* the result: for later steps and for the writers, for the next chunk of the cluster, for others */
    trsv_shared_store(result_at, result);
    trsv_warp_sync();
    trsv_push_if(peer, zero + (result_tail & 0xffffu) * (unsigned)sizeof(T), result, (result_tail & 0xffffu) != 0);
    trsv_store_if(export_to, result, result_tail >> 16 != 0);
  };
  const auto leave_stage = [&](bool any) {
    trsv_barrier_arrive_if(base + EMPTY + used * 8, any && lane == 0);
    trsv_barrier_arrive_if(base + DONE + done * 8, any && lane == 0);
    if (any && ++used == A.stages) used = 0;
    if (any && ++done == (unsigned)slots) done = 0;
  };

  trsv_barrier_wait(base + READY, 0);
  start_stage();
#pragma unroll
  for (int j = 0; j < FETCH; j++) fetch(record[j]);
  read(record[0]);
#pragma unroll
  for (int k = 0; k < K; k++) bad = bad || trsv_mark_of(early[k]) == mark;
  sum = sum_early(record[0]);
  trsv_keep(out);

  for (int stage = 0; stage < h.stages; stage++) {
    while (trsv_warp_any(written < stage - ahead_of_writers)) /* they still read the results that this stage overwrites */
      written = (int)min(trsv_shared_acquire(base + WRITTEN), trsv_shared_acquire(base + WRITTEN + 4));
    exports = next_exports;
    trsv_keep(exports);
#pragma unroll 1
    for (int u = 0; u < STEPS; u += UNROLL) {
#pragma unroll
      for (int j = 0; j < UNROLL; j++) {
        Record &r = record[j % SETS], &next = record[(j + 1) % SETS];
        T       late[LATE];

        if (__builtin_expect(trsv_warp_any(bad), 0)) { /* an import was not there when it was read */
          do {
            bad = false;
            read(r);
#pragma unroll
            for (int k = 0; k < K; k++) bad = bad || !trsv_is_ready(early[k]);
          } while (trsv_warp_any(bad));
          sum = sum_early(r);
        }
#pragma unroll
        for (int k = 0; k < LATE; k++) {
          const T v = trsv_warp_shuffle(result, r.lane(EARLY + k));
          late[k]   = r.by_shuffle(EARLY + k) ? v : early[EARLY + k];
        }
        put_out();
        if (j == 0 && u == 0) leave_stage(stage > 0);
        if ((j + FETCH) % UNROLL == 0 && u + j + FETCH == STEPS) next_stage();
        read(next);
        fetch(record[(j + FETCH) % SETS]);
        if (j == UNROLL - FETCH - 1 && u + UNROLL == STEPS) look_at_next_stage();

        result = sum;
#pragma unroll
        for (int k = 0; k < LATE; k++) result = fma(r.value(EARLY + k), late[k], result);
        result_at   = out + offset + (unsigned)(j * W * (int)sizeof(T));
        result_tail = r.tail();
        export_to   = exports + (r.tail() >> 16);
        bad         = false;
#pragma unroll
        for (int k = 0; k < K; k++) bad = bad || trsv_mark_of(early[k]) == mark;
        sum = sum_early(next);
      }
      offset = (offset + (unsigned)(UNROLL * W * (int)sizeof(T))) & (ring_bytes - 1);
    }
  }
  put_out();
  leave_stage(true);
}

#endif
