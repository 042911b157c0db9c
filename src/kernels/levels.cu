/*
   Level sets of a triangle on the device: one launch finds the level of every row, a sort orders the rows by it.

   Mapping, memory order, why it ends: dataflow.cuh. Rows come in the order of solution, the dependencies of each from the farthest on.
   Levels for blocks of several sizes are found side by side, as each search leaves the device idle: blocks of the launch take turns, and
   each search has tickets and words of its own, so that why one ends is why all do.
   Same bits: the largest of some numbers, whatever order they arrive in.
*/
#include "dataflow.cuh"
#include "pattern.cuh"

/* What a row's level is found from: words are 1 + the level of their rows. */
struct LevelKnown {
  unsigned level;
  int      same; /* the first row of its block: those from it on take no level */

  __device__ __forceinline__ void       meet(int r, unsigned word) { level = max(level, word - (r >= same)); }
  __device__ __forceinline__ void       join(const LevelKnown &other) { level = max(level, other.level); }
  __device__ __forceinline__ LevelKnown empty(int lane) const { return {0, __shfl_sync(0xffffffffu, same, lane)}; }
  __device__ __forceinline__ LevelKnown beside(int half) const { return {__shfl_xor_sync(0xffffffffu, level, half), same}; }
};

/* Of rows in turn so many are a block, whose entries within it do not count. */
struct LevelPass {
  static constexpr bool branches = false;

  Pattern A;
  int     rows, size, step;

  LevelPass(const TrsvMatrix *T, int size) : A(T), rows(A.rows), size(size), step(A.lower ? 1 : -1) { }

  __device__ __forceinline__ int        place(int r) const { return A.turn(r); }
  __device__ __forceinline__ int        count(int r) const { return A.entries(A.turn(r)); }
  __device__ __forceinline__ int        begin(int r) const { return A.entry(A.turn(r), 0); }
  __device__ __forceinline__ int        dependency(int k) const { return A.turn(A.columns[k]); }
  __device__ __forceinline__ int        row(int r) const { return r; }
  __device__ __forceinline__ LevelKnown known(int r) const { return {0, r - r % size}; }
  __device__ __forceinline__ unsigned   word(const LevelKnown &known, int, const DataflowWords &) const { return known.level + 1; }
};

enum {
  SEARCHES = 3, /* of one launch, at most */
  TICKETS  = DATAFLOW_STATES,
  MOST     = TICKETS + SEARCHES, /* the largest word of each */
  STATES   = MOST + SEARCHES
};

/* Each search is for blocks of half the size of the one before. */
static __global__ void __launch_bounds__(DATAFLOW_BLOCK, 6) levels_find(LevelPass pass, unsigned searches, unsigned *word, unsigned *state, TrsvSync sync)
{
  const unsigned search = blockIdx.x % searches;

  pass.size >>= search;
  sync.ticket = state + TICKETS + search;
  unsigned largest = dataflow_pass(pass, word + (size_t)search * (size_t)pass.rows, sync);
  for (int half = 16; half; half /= 2) largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, half));
  if (threadIdx.x % 32 == 0) atomicMax(state + MOST + search, largest);
}

static __global__ void levels_count(int rows, int *order)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < rows) order[i] = i;
}

TrsvError TrsvDeviceBlockLevels(const TrsvMatrix *A, int size, int searches, unsigned *word, int *levels)
{
  unsigned  state[STATES] = {0}, *room;
  TrsvError error;

  for (int n = 0; n < searches; n++) levels[n] = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceStage(state, sizeof(state), &room, NULL));
  const TrsvSync sync = DataflowSync(room);
  TRSV_LAUNCH(dataflow_clear, DataflowBlocks(searches * A->rows), DATAFLOW_BLOCK, 0, (TrsvStream)NULL, searches * A->rows, word);
  error = TrsvDeviceLaunched("dataflow_clear");
  if (!error) {
    TRSV_LAUNCH(levels_find, (unsigned)searches * DataflowBlocks(A->rows), DATAFLOW_BLOCK, DATAFLOW_SHARED, (TrsvStream)NULL, LevelPass(A, size), (unsigned)searches, word, room, sync);
    error = TrsvDeviceLaunched("levels_find");
  }
  if (!error) error = TrsvDeviceDownload(state, room, sizeof(state), NULL);
  TrsvDeviceUnstage(room, NULL);
  if (!error && state[DATAFLOW_GAVE_UP]) return TrsvFail(TRSV_ERR_TIMEOUT, "the search for level sets waited longer than %g s for one row and gave up", 1e-9 * (double)sync.patience);
  for (int n = 0; n < searches; n++) levels[n] = (int)state[MOST + n];
  return error;
}

extern "C" TrsvError TrsvDeviceLevels(const TrsvMatrix *A, unsigned *word, int *levels) { return TrsvDeviceBlockLevels(A, 1, 1, word, levels); }

extern "C" TrsvError TrsvDeviceByLevel(int rows, int levels, const unsigned *word, unsigned *sorted, int *order)
{
  int       bits = 1, *natural;
  TrsvError error;

  if (!rows) return TRSV_SUCCESS;
  while (bits < 31 && levels >> bits) bits++;
  TrsvCall(TrsvDeviceRoom(sizeof(int) * (size_t)rows, &natural, NULL));
  TRSV_LAUNCH(levels_count, DataflowBlocks(rows), DATAFLOW_BLOCK, 0, (TrsvStream)NULL, rows, natural);
  error = TrsvDeviceLaunched("levels_count");
  if (!error) error = TrsvDeviceSort(rows, bits, word, sorted, natural, order);
  TrsvDeviceUnstage(natural, NULL);
  return error;
}
