/*
   chunk_compute.cuh: the warp of the algorithm `chunk` that computes. Everything it reads is in shared memory or in its lanes.

   A step takes about as long as a result needs from one lane to the next that waits for it: a shuffle and two multiplications. So what
   is one step old, at most CHUNK_LATE dependencies of a record and its last ones, comes by shuffle; all else is read from
   shared memory meanwhile; and records are fetched, results sent out, in the shadow of the multiplications.

   Cells for imports hold NOT_READY until somebody writes them; where one does, the warp reads again. These waits have no limit of their
   own: the warps that fill the cells see to it that something comes.
*/
#ifndef TRSV_CHUNK_COMPUTE_CUH
#define TRSV_CHUNK_COMPUTE_CUH

#include "chunk.cuh"
#ifndef CHUNK_GROUP
#define CHUNK_GROUP 1
#endif

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
  constexpr int STEPS = Layout::steps, SETS = 4;
  constexpr int GROUP = CHUNK_GROUP, FETCH = GROUP + 1; /* steps whose imports are awaited at once, steps that a record is fetched ahead */
  constexpr unsigned MARK_AT = sizeof(T) - 4; /* where in a cell the mark is */
  constexpr int UNROLL = K <= 5 && STEPS % 8 == 0 ? 8 : 4;
  constexpr int LATE = CHUNK_LATE, EARLY = K - LATE, CHAINS = EARLY >= 6 ? 3 : EARLY >= 3 ? 2 : 1;

  const unsigned place = lane % W, zero = base + CHUNK_FRONT - CHUNK_CELL * (unsigned)sizeof(T), ring_bytes = A.ring * (unsigned)sizeof(T);
  const unsigned first_stage = base + CHUNK_FRONT + ring_bytes + A.cells * (unsigned)sizeof(T);
  const unsigned slots = min(A.ring / Layout::rows, (unsigned)SLOTS);
  const unsigned mark = trsv_mark<T>();
  const TrsvPeer peer = trsv_peer(A.cluster > 1 ? min(trsv_cluster_rank() + 1, A.cluster - 1) : 0);

  Record   record[SETS];
  T        value[K], sum;
  unsigned probe[K];
  bool     bad = false;
  /* the result of the step before, on its way out; before the first step, to a cell that nobody reads */
  T        result = 0, *export_to = now;
  unsigned result_tail = 0, result_at = zero + (unsigned)sizeof(T);
  T       *exports, *next_exports;
  unsigned from = 0, slot = 0, parity = 0, used = 0, done = 0, offset = 0, out = base + CHUNK_FRONT + place * (unsigned)sizeof(T);
  int      fetched = 0;

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
  const auto next_stage = [&] { /* behind the last one: the last once more, of which nothing is used */
    const bool     more = ++fetched < h.stages;
    const unsigned next = slot + 1 == A.stages ? 0 : slot + 1;

    parity ^= (unsigned)(more && next == 0);
    slot = more ? next : slot;
    trsv_barrier_wait(base + READY + slot * 8, parity);
    start_stage();
  };
  const auto read = [&](const Record &r) {
#pragma unroll
    for (int k = 0; k < K; k++) value[k] = trsv_shared_load<T>(r.address(k, zero));
  };
  const auto sum_early = [&](const Record &r) { /* all but the last, in up to three chains */
    T sum[CHAINS];
#pragma unroll
    for (int k = 0; k < CHAINS; k++) sum[k] = k ? 0 : r.value(K);
#pragma unroll
    for (int k = 0; k < EARLY; k++) sum[k % CHAINS] = fma(r.value(k), value[k], sum[k % CHAINS]);
#pragma unroll
    for (int k = 1; k < CHAINS; k++) sum[0] += sum[k];
    return sum[0];
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
    if (any && ++done == slots) done = 0;
  };

  trsv_barrier_wait(base + READY, 0);
  start_stage();
#pragma unroll
  for (int j = 0; j < FETCH; j++) fetch(record[j]);
  read(record[0]);
#pragma unroll
  for (int k = 0; k < K; k++) {
    bad = bad || trsv_mark_of(value[k]) == mark;
    if (GROUP == 2) bad = bad || trsv_shared_load<unsigned>(record[1].address(k, zero) + MARK_AT) == mark;
  }
  sum = sum_early(record[0]);
  trsv_keep(out);

  for (int stage = 0; stage < h.stages; stage++) {
    exports = next_exports;
    trsv_keep(exports);
#pragma unroll 1
    for (int u = 0; u < STEPS; u += UNROLL) {
#pragma unroll
      for (int j = 0; j < UNROLL; j++) {
        Record &r = record[j % SETS], &next = record[(j + 1) % SETS];
        T       shuffled[LATE];

#pragma unroll
        for (int k = 0; k < LATE; k++) shuffled[k] = trsv_warp_shuffle(result, r.lane(EARLY + k));
        if (j % GROUP == 0 && __builtin_expect(trsv_warp_any(bad), 0)) { /* an import was not here when it was read, or looked at */
          do {
            bad = false;
#pragma unroll
            for (int g = 1; g < GROUP; g++)
#pragma unroll
              for (int k = 0; k < K; k++) bad = bad || !trsv_is_ready(trsv_shared_load<T>(record[(j + g) % SETS].address(k, zero)));
            read(r);
#pragma unroll
            for (int k = 0; k < K; k++) bad = bad || !trsv_is_ready(value[k]);
          } while (trsv_warp_any(bad));
          sum = sum_early(r);
        }
        T late[LATE];
#pragma unroll
        for (int k = 0; k < LATE; k++) late[k] = r.by_shuffle(EARLY + k) ? shuffled[k] : value[EARLY + k];
        put_out();
        if (j == 0 && u == 0) leave_stage(stage > 0);
        if ((j + FETCH) % UNROLL == 0 && u + j + FETCH == STEPS) next_stage();
        read(next);
        if (GROUP == 2 && j % 2)
#pragma unroll
          for (int k = 0; k < K; k++) probe[k] = trsv_shared_load<unsigned>(record[(j + 2) % SETS].address(k, zero) + MARK_AT);
        fetch(record[(j + FETCH) % SETS]);

        result = sum;
#pragma unroll
        for (int k = 0; k < LATE; k++) result = fma(r.value(EARLY + k), late[k], result);
        result_at   = out + offset + (unsigned)(j * W * (int)sizeof(T));
        result_tail = r.tail();
        export_to   = exports + (r.tail() >> 16);
        sum         = sum_early(next);
        if ((j + 1) % GROUP == 0) {
          bad = false;
#pragma unroll
          for (int k = 0; k < K; k++) bad = bad || trsv_mark_of(value[k]) == mark || (GROUP == 2 && probe[k] == mark);
        }
      }
      offset = (offset + (unsigned)(UNROLL * W * (int)sizeof(T))) & (ring_bytes - 1);
    }
  }
  put_out();
  leave_stage(true);
}

#endif
