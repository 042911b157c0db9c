/*
   Level sets of a triangle on the device: one launch finds the level of every row. Callers sort the rows by level.

   Mapping, memory order, why it ends: dataflow.cuh. Rows are in the order of solution, and the dependencies of a row
   from the farthest to the nearest. One search leaves most of the device idle, so one launch may search for several
   triangles or block sizes: block b works for search b mod searches. Each search has its own tickets and words, so it
   does not wait for another. Same bits: a maximum of integers does not depend on their order.
*/
#include "analysis/dataflow.cuh"
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"

/* What the dependencies of a row contribute to its level; words are 1 + the level of their rows. */
struct LevelState {
  unsigned level;
  int      same; /* the first row of its block: dependencies within the block add no level */

  __device__ __forceinline__ void       meet(int r, unsigned word) { level = max(level, word - (r >= same)); }
  __device__ __forceinline__ void       join(const LevelState &other) { level = max(level, other.level); }
  __device__ __forceinline__ LevelState empty(int lane) const { return {0, __shfl_sync(0xffffffffu, same, lane)}; }
  __device__ __forceinline__ LevelState beside(int half) const
  { return {__shfl_xor_sync(0xffffffffu, level, half), same}; }
};

/* The pass for blocks of `size` consecutive rows. */
struct LevelPass {
  static constexpr bool sorted = true;
  static constexpr int  ahead  = 4;

  TriangleView A;
  int          rows, size, step;

  LevelPass(const TrsvMatrix *T, int size) : A(T), rows(A.rows), size(size), step(A.lower ? 1 : -1) { }

  __device__ __forceinline__ int        place(int r) const { return A.row_of(r); }
  __device__ __forceinline__ int        count(int r) const { return A.entries(A.row_of(r)); }
  __device__ __forceinline__ int        begin(int r) const { return A.entry(A.row_of(r), 0); }
  __device__ __forceinline__ int        dependency(int k) const { return A.row_of(A.columns[k]); }
  __device__ __forceinline__ int        row(int r) const { return r; }
  __device__ __forceinline__ LevelState known(int r) const { return {0, r - r % size}; }
  __device__ __forceinline__ unsigned   word(const LevelState &known, int, const DataflowWords &) const
  { return known.level + 1; }
};

enum {
  MAX_SEARCHES  = 3, /* of one launch */
  BLOCKS_PER_SM = 6
};

struct LevelSearch : TrsvLevelSearch {
  LevelPass pass;

  LevelSearch(const TrsvLevelSearch &s) : TrsvLevelSearch(s), pass(s.A, s.size) { }
};

struct LevelSearches {
  LevelSearch of[MAX_SEARCHES];
};

/* The last atomic on a level set's count returns the whole count, so the maximum of all returned counts is that of the
   largest set. One atomic counts the rows of a CUDA block that are in the level set of its first row, often all its
   rows. */
static __global__ void __launch_bounds__(DATAFLOW_BLOCK, BLOCKS_PER_SM)
  levels_find(const __grid_constant__ LevelSearches all, unsigned searches, TrsvSync sync)
{
  enum {
    COMMON, /* rows in the level set of the first row */
    WIDEST, /* the largest count that a thread saw of another level set */
    LARGEST,
    COUNTERS
  };
  TRSV_SHARED(unsigned, block, COUNTERS);

  const LevelSearch own   = all.of[blockIdx.x % searches];
  TrsvSearch *const found = own.found;
  unsigned *const   count = own.count;

  if (own.wrong && *own.wrong) return;
  sync.ticket = found->state + TRSV_TICKET;
  if (threadIdx.x < COUNTERS) block[threadIdx.x] = 0; /* dataflow_pass begins with a barrier */
  for (unsigned mine; dataflow_pass(own.pass, own.word, sync, mine);) {
    const unsigned same = trsv_warp_match(mine), rows = (unsigned)__popc(same);

    __syncthreads();
    const unsigned first = trsv_shared_load<unsigned>(trsv_shared_address()); /* its word */
    if (mine && (int)(threadIdx.x % 32) == __ffs((int)same) - 1) {
      if (mine == first) atomicAdd(&block[COMMON], rows);
      else if (count) atomicMax(&block[WIDEST], atomicAdd(&count[mine - 1], rows) + rows);
      atomicMax(&block[LARGEST], mine);
    }
    __syncthreads();
    if (threadIdx.x) continue;
    atomicMax(&found->levels, block[LARGEST]);
    if (count)
      atomicMax(&found->widest, max(block[WIDEST], atomicAdd(&count[first - 1], block[COMMON]) + block[COMMON]));
    block[COMMON] = block[WIDEST] = block[LARGEST] = 0;
  }
}

/* All searches share the abort words of the first. */
TrsvError TrsvSearchLevels(int searches, const TrsvLevelSearch search[])
{
  const auto          of  = [&](int n) { return LevelSearch(search[n < searches ? n : 0]); };
  const LevelSearches all = {{of(0), of(1), of(2)}};
  unsigned            blocks;

  TrsvCall(DataflowBlocks(search[0].A->rows, searches, BLOCKS_PER_SM, &blocks));
  return TrsvLaunch(levels_find, (unsigned)searches * blocks, DATAFLOW_BLOCK, DATAFLOW_SHARED, NULL, all,
                    (unsigned)searches, TrsvSyncScratch(search[0].found->state));
}

TrsvError TrsvDeviceBlockLevels(const TrsvMatrix *A, int size, int searches, unsigned *word, int *levels)
{
  TrsvLevelSearch search[MAX_SEARCHES];
  TrsvSearch      found[MAX_SEARCHES], *results;
  const size_t    rows = (size_t)A->rows;
  TrsvScratch     scratch;

  for (int n = 0; n < searches; n++) levels[n] = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(scratch.zeros((size_t)searches, results));
  TrsvCall(TrsvDeviceClear(word, sizeof(unsigned) * (size_t)searches * rows, NULL));
  for (int n = 0; n < searches; n++) search[n] = {A, size >> n, NULL, word + (size_t)n * rows, NULL, results + n};
  TrsvCall(TrsvSearchLevels(searches, search));
  TrsvCall(TrsvDeviceDownload(found, results, sizeof(found[0]) * (size_t)searches, NULL));
  for (int n = 0; n < searches; n++) levels[n] = (int)found[n].levels;
  return TrsvSyncCheck(found[0].state, TRSV_LEVEL_SEARCH);
}
