/*
   Level sets of a triangle on the device: one launch finds the level of every row. Callers sort the rows by level.

   Mapping, memory order, why it ends: dataflow.cuh. Rows are in the order of solution, and the dependencies of a row
   from the farthest to the nearest. One search leaves most of the device idle, so one launch may search for several
   triangles or block sizes: block b works for search b mod searches. Each search has its own tickets and words, so it
   does not wait for another. Same bits: a maximum of integers does not depend on their order.

   Heights: the height of a row is the length of its longest chain of dependents. If the pattern is symmetric, the
   dependents of a row in L are the dependencies of the same row in U: its height in L is its level in U, and the
   reverse. A schedule then needs no search for heights. The check uses the definition, not the pattern: the height of a
   row is greater than those of all its dependents, and, unless it is 0, exceeds that of one dependent by 1. The threads
   of a block share the entries of its rows (rows_each); then a thread for each row. No thread waits; launches in
   sequence; threads that write the same word write the same value.
*/
#include "analysis/dataflow.cuh"
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"

/* What the dependencies of a row contribute to its level; words are 1 + the level of their rows. */
struct LevelState {
  unsigned level;
  int      same; /* the first row of its block: dependencies within the block add no level */

  TRSV_INLINE void       meet(int r, unsigned word) { level = max(level, word - (r >= same)); }
  TRSV_INLINE void       join(const LevelState &other) { level = max(level, other.level); }
  TRSV_INLINE LevelState empty(int lane) const { return {0, __shfl_sync(0xffffffffu, same, lane)}; }
  TRSV_INLINE LevelState beside(int half) const { return {__shfl_xor_sync(0xffffffffu, level, half), same}; }
};

/* A search of level sets, as dataflow_pass() needs it. */
struct LevelSearch : TrsvLevelSearch {
  static constexpr bool sorted = true;
  static constexpr int  ahead  = 4;

  TriangleView T;
  int          rows, step;

  LevelSearch(const TrsvLevelSearch &s) : TrsvLevelSearch(s), T(s.A), rows(T.rows), step(T.lower ? 1 : -1) { }

  TRSV_INLINE int        place(int r) const { return T.row_of(r); }
  TRSV_INLINE int        count(int r) const { return T.entries(T.row_of(r)); }
  TRSV_INLINE int        begin(int r) const { return T.entry(T.row_of(r), 0); }
  TRSV_INLINE int        dependency(int k) const { return T.position(k); }
  TRSV_INLINE int        row(int r) const { return r; }
  TRSV_INLINE LevelState known(int r) const { return {0, r - r % size}; }
  TRSV_INLINE unsigned   word(const LevelState &known, int, const DataflowWords &) const { return known.level + 1; }
};

enum {
  MAX_SEARCHES  = 3, /* of one launch */
  BLOCKS_PER_SM = 6
};

struct LevelSearches {
  LevelSearch of[MAX_SEARCHES];
};

/* The last atomic on a level set's count returns the whole count, so the maximum of all returned counts is that of the
   largest set. One atomic counts the rows of a CUDA block in the level set of its first row, often all. */
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
  unsigned *const   count = own.counts;

  if (own.wrong && *own.wrong) return;
  sync.ticket = found->state + TRSV_TICKET;
  if (threadIdx.x < COUNTERS) block[threadIdx.x] = 0; /* dataflow_pass begins with a barrier */
  for (unsigned mine; dataflow_pass(own, own.words, sync, mine);) {
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

static __global__ void heights_levels(int rows, int levels, const int *start, const int *order, bool turned, int *level)
{
  const int n = trsv_index();

  if (n < rows) level[turned ? rows - 1 - order[n] : order[n]] = segment(start, levels, n);
}

/* A check whether `height` has the heights of a triangle. All arrays are in device memory. */
struct HeightCheck {
  const int     *offsets, *columns, *height;
  unsigned char *attained; /* [rows] 1: the height exceeds that of a dependent by 1; zeros before */
  unsigned      *wrong;
};

/* The blocks of the second row of the grid do the second check. */
static __global__ void heights_entries(int n, const HeightCheck lower, const HeightCheck upper)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const HeightCheck c = blockIdx.y ? upper : lower;
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(c.offsets, n, first, start);
  bool      bad = false;

  rows_each(start, rows, [&](int m, int k) {
    const int j = c.columns[k], above = c.height[j] - c.height[first + m];

    if (j == first + m) return;
    bad = bad || above < 1;
    if (above == 1) c.attained[j] = 1;
  });
  if (bad) *c.wrong = 1;
}

static __global__ void heights_rows(int n, const HeightCheck lower, const HeightCheck upper)
{
  const HeightCheck c = blockIdx.y ? upper : lower;
  const int         i = trsv_index();

  if (i < n && c.height[i] && !c.attained[i]) *c.wrong = 1;
}

TrsvError TrsvDeviceLevels(const TrsvAnalysis *a, int turned, int *level)
{
  return TrsvLaunchEach(heights_levels, a->statistics.rows, a->statistics.rows, a->statistics.levels, a->levels,
                        a->order, (bool)turned, level);
}

/* Checks whether the levels of each triangle are the heights of the other: wrong is 0 if those of L, of U are. */
static TrsvError CheckHeights(const TrsvMatrix *L, const TrsvAnalysis *lower, const TrsvMatrix *U,
                              const TrsvAnalysis *upper, unsigned wrong[2])
{
  const int    n    = L->rows;
  const size_t rows = (size_t)n, clear = sizeof(unsigned) * 2 + 2 * rows; /* bytes of two words and of attained */
  const dim3   grid(TrsvBlocks(n, ROWS_BLOCK), 2);
  TrsvScratch  scratch;
  int         *height;
  char        *words;

  TrsvCall(scratch.take(2 * rows, height, clear, words));
  TrsvCall(TrsvDeviceClear(words, clear, NULL));
  unsigned *const      bad      = (unsigned *)words;
  unsigned char *const attained = (unsigned char *)(bad + 2);
  const HeightCheck    check[2] = {{L->offsets, L->columns, height, attained, bad},
                                   {U->offsets, U->columns, height + n, attained + n, bad + 1}};
  TrsvCall(TrsvDeviceLevels(upper, 0, height));
  TrsvCall(TrsvDeviceLevels(lower, 0, height + n));
  TrsvCall(TrsvLaunch(heights_entries, grid, ROWS_BLOCK, 0, NULL, n, check[0], check[1]));
  TrsvCall(TrsvLaunch(heights_rows, grid, ROWS_BLOCK, 0, NULL, n, check[0], check[1]));
  return TrsvDeviceDownload(wrong, bad, 2 * sizeof(*wrong), NULL);
}

TrsvError TrsvHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper)
{
  unsigned wrong[2];

  if (L->memory == TRSV_HOST || min(lower->statistics.levels, upper->statistics.levels) <= TRSV_FEW_LEVELS)
    return TRSV_SUCCESS;
  const TrsvError error = CheckHeights(L, lower, U, upper, wrong);
  if (error) return error == TRSV_ERR_MEMORY ? TRSV_SUCCESS : error; /* heights are optional */
  lower->heights = wrong[0] ? NULL : upper;
  upper->heights = wrong[1] ? NULL : lower;
  return TRSV_SUCCESS;
}
