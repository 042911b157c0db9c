/*
   Colors of any pattern on the device, with the same result as multicolor_waves.c on the host.

   Two scans find the nodes, and a sort finds the edges of each node to earlier nodes. One launch then finds the words
   of all nodes, each after those of its earlier neighbors: the time is that of the longest chain of neighbors.

   Mapping: multicolor_edges has a thread for each entry; in other launches the threads of a block share the entries of
   its rows (rows_each). dataflow.cuh has the mapping, the memory order and why it ends of multicolor_words; in other
   launches no thread waits, and values cross threads by atomics and at barriers of a block. Same bits: sets and maxima
   do not depend on the order of their elements.
*/
#include <stdlib.h>
#include "analysis/triangle_view.cuh"
#include "analysis/dataflow.cuh"
#include "device/setup.cuh"
#include "ordering/multicolor.h"

typedef unsigned long long Bits;

/* A matrix, and arrays [rows]. */
struct MatrixRows {
  int           rows, entries;
  const int    *offsets, *columns;
  const double *values;                  /* NULL: all entries are strong */
  double       *scale, *strongest;
  int          *node;
};

/* *bad, 0 before, becomes rows - i for the first row i with invalid offsets or columns. */
static __global__ void multicolor_check(const MatrixRows A, unsigned *bad)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(unsigned, falls, 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(A.offsets, A.rows, first, start),
            sound = rows_sound(start, rows, A.entries, falls);

  if (threadIdx.x == 0 && sound < rows) atomicMax(bad, (unsigned)(A.rows - first - sound));
  if (sound) rows_each(start, sound, [&](int m, int k) {
    if (A.columns[k] < 0 || A.columns[k] >= A.rows) atomicMax(bad, (unsigned)(A.rows - first - m));
  });
}

/* differs[i]: 1 if rows i - 1 and i have different columns, or if row i has none. */
static __global__ void multicolor_differs(const MatrixRows A, int *differs)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, length, ROWS_BLOCK); /* of the row if the previous one has the same, else 0 */
  TRSV_SHARED(int, other, ROWS_BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, i = first + t,
            rows = rows_load(A.offsets, A.rows, first, start);

  if (t < rows) {
    const int own = start[t + 1] - start[t];

    length[t] = i && own == start[t] - A.offsets[i - 1] ? own : 0;
    other[t]  = !length[t];
  }
  __syncthreads();
  rows_each(start, rows, [&](int m, int k) {
    if (length[m] && A.columns[k] != A.columns[k - length[m]]) atomicMax(&other[m], 1);
  });
  __syncthreads();
  if (t < rows) differs[i] = other[t];
}

/* differs[i] becomes 1 if row i is the first of a node, else 0. before: the runs of equal rows before each row. */
static __global__ void multicolor_firsts(int rows, const int *before, int *differs)
{
  const int i = trsv_index();

  if (i < rows)
    differs[i] = (i - trsv_first(0, i, [&](int r) { return before[r + 1] == before[i + 1]; })) % TRSV_NODE == 0;
}

/* before: the number of first rows before each row; NULL: each row is a node. */
static __global__ void multicolor_nodes(const MatrixRows A, const int *before)
{
  const int i = trsv_index();

  if (i < A.rows) A.node[i] = before ? before[i + 1] - 1 : i;
}

static __global__ void multicolor_scale(const MatrixRows A)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(Bits, diagonal, ROWS_BLOCK);
  TRSV_SHARED(Bits, largest, ROWS_BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK,
            rows = rows_load(A.offsets, A.rows, first, start);

  diagonal[t] = largest[t] = 0;
  __syncthreads();
  rows_each(start, rows, [&](int m, int k) {
    const double size = fabs(A.values[k]);

    if (size > 0)
      atomicMax(A.columns[k] == first + m ? &diagonal[m] : &largest[m],
                (Bits)trsv_bits(size)); /* bits of positive numbers compare as the numbers do */
  });
  __syncthreads();
  if (t < rows) A.scale[first + t] = TrsvScale(trsv_from_bits(diagonal[t]), trsv_from_bits(largest[t]));
}

static __global__ void multicolor_strongest(const MatrixRows A)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(Bits, largest, ROWS_BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK,
            rows = rows_load(A.offsets, A.rows, first, start);

  largest[t] = 0;
  __syncthreads();
  rows_each(start, rows, [&](int m, int k) {
    const int i = first + m, j = A.columns[k];

    if (i != j) atomicMax(&largest[m], (Bits)trsv_bits(TrsvStrength(A.values[k], A.scale[i], A.scale[j])));
  });
  __syncthreads();
  if (t < rows) A.strongest[first + t] = trsv_from_bits(largest[t]);
}

/* True if a node has a strong entry in one of its rows and in a run of columns: those of one node, from the column of
   entry k on. i: the first row of the node; all its rows have the same columns. */
static __device__ __forceinline__ bool run_is_strong(const MatrixRows &A, int i, int k)
{
  const int n = A.node[i], m = A.node[A.columns[k]], before = k - A.offsets[i], most = A.offsets[i + 1] - k;

  if (!A.values) return true;
  for (int r = i; r < A.rows && A.node[r] == n; r++)
    for (int c = 0; c < most && A.node[A.columns[k + c]] == m; c++) {
      const int j = A.columns[k + c];

      if (TrsvStrong(A.values[A.offsets[r] + before + c], A.scale[r], A.scale[j], A.strongest[r], A.strongest[j]))
        return true;
    }
  return false;
}

/* True if the edge from the node of row j to the node whose first row is i exists, and is strong if this one is. If
   columns do not rise, it may not be found. */
static __device__ __forceinline__ bool edge_is_mirrored(const MatrixRows &A, int i, int j, bool strong)
{
  while (j && A.node[j - 1] == A.node[j]) j--;
  const int end = A.offsets[j + 1], k = trsv_first(A.offsets[j], end, [&](int e) { return A.columns[e] >= i; });
  return k < end && A.columns[k] == i && (!strong || run_is_strong(A, j, k));
}

/* For each entry its later node and the edge to its earlier node. If both are the same, or if another entry has the
   edge, the later node is `nodes`, which the sort puts last. The first row of a node has the edges of all its rows, the
   first column of a run those of the run, and the later node those of an entry and its mirror image. */
static __global__ void multicolor_edges(const MatrixRows A, int nodes, unsigned *later, int *edge)
{
  const int k = trsv_index();

  if (k >= A.entries) return;
  if (k < A.offsets[0]) { /* not an entry */
    later[k] = (unsigned)nodes, edge[k] = 0;
    return;
  }
  const int  i = segment(A.offsets, A.rows, k), j = A.columns[k], n = A.node[i], m = A.node[j];
  bool       needed = n != m && (!i || A.node[i - 1] != n) && (k == A.offsets[i] || A.node[A.columns[k - 1]] != m);
  const bool strong = needed && run_is_strong(A, i, k);

  if (n < m) needed = needed && !edge_is_mirrored(A, i, j, strong);
  later[k] = (unsigned)(needed ? max(n, m) : nodes);
  edge[k]  = strong ? min(n, m) : ~min(n, m);
}

/* Where the edges of each node start: the first edge whose node is not smaller. */
static __global__ void multicolor_edge_starts(int nodes, int entries, const unsigned *later, int *start)
{
  const int n = trsv_index();

  if (n <= nodes) start[n] = trsv_first(0, entries, [&](int e) { return later[e] >= (unsigned)n; });
}

struct WaveState : TrsvWaveNode {
  __device__ __forceinline__ void meet(int edge, unsigned word) { TrsvWaveMeet(this, edge, word); }
  __device__ __forceinline__ void join(const WaveState &other)
  {
    latest = max(latest, other.latest);
    used |= other.used;
    extra |= other.extra;
  }
  __device__ __forceinline__ WaveState empty(int) const { return {{0, 0, 0}}; }
  __device__ __forceinline__ WaveState beside(int half) const
  {
    return {
      {__shfl_xor_sync(0xffffffffu, latest, half), __shfl_xor_sync(0xffffffffu, used, half),
       __shfl_xor_sync(0xffffffffu, extra, half)}
    };
  }
};

/* The rows of the pass are nodes, and the dependencies of a node are its edges. */
struct WavePass {
  static constexpr bool sorted = false;
  static constexpr int  ahead  = 2, step = 1;

  int        rows;
  const int *start, *edge;

  __device__ __forceinline__ int       place(int n) const { return n; }
  __device__ __forceinline__ int       count(int n) const { return start[n + 1] - start[n]; }
  __device__ __forceinline__ int       begin(int n) const { return start[n]; }
  __device__ __forceinline__ int       dependency(int k) const { return edge[k]; }
  __device__ __forceinline__ int       row(int edge) const { return TrsvWaveOther(edge); }
  __device__ __forceinline__ WaveState known(int) const { return {{0, 0, 0}}; }
  __device__ __forceinline__ unsigned  word(const WaveState &known, int n, const DataflowWords &words) const
  {
    unsigned mine = TrsvWaveWord(&known);

    for (unsigned base = 2 * TRSV_WAVE_TOP; !mine; base += TRSV_WAVE_TOP) { /* all words of its neighbors are ready */
      unsigned used = 0;

      for (int e = start[n]; e < start[n + 1]; e++)
        used |= TrsvWaveBit(dataflow_find(*this, words, row(edge[e])), base);
      if (~used) mine = TrsvWaveFree(used, base);
    }
    return mine;
  }
};

enum {
  BLOCKS_PER_SM = 4
};

static __global__ void __launch_bounds__(DATAFLOW_BLOCK, BLOCKS_PER_SM)
  multicolor_words(const WavePass pass, unsigned *word, TrsvSync sync)
{
  for (unsigned mine; dataflow_pass(pass, word, sync, mine);) { }
}

/* The color of each row, and the largest color. */
static __global__ void multicolor_wave_colors(const MatrixRows A, const unsigned *word, unsigned *color,
                                              unsigned *largest)
{
  const int i = trsv_index();
  unsigned  c = 0;

  if (i < A.rows) color[i] = c = (unsigned)TrsvWaveColor(word[A.node[i]]);
  c = trsv_warp_max(c);
  if (threadIdx.x % 32 == 0) atomicMax(largest, c);
}

/* work [2 rows + 1]; *nodes, on the host: the number of nodes. */
static TrsvError FindNodes(const MatrixRows &A, int *work, int *nodes)
{
  const size_t rows    = (size_t)A.rows;
  int *const   differs = work, *const before = work + rows;

  TrsvCall(TrsvLaunchEach(multicolor_differs, rows, A, differs));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TrsvCall(TrsvLaunchEach(multicolor_firsts, rows, A.rows, before, differs));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TrsvCall(TrsvDeviceDownload(nodes, before + rows, sizeof(*nodes), NULL));
  const int use = TrsvUseNodes(*nodes, A.rows);
  if (!use) *nodes = A.rows;
  return TrsvLaunchEach(multicolor_nodes, rows, A, (const int *)(use ? before : NULL));
}

/* edge [entries]: the edges of the nodes; start: where those of each node start. */
static TrsvError FindEdges(const MatrixRows &A, int nodes, int *start, int *edge)
{
  const size_t rows = (size_t)A.rows, entries = (size_t)A.entries;
  TrsvScratch  scratch;
  unsigned    *later, *sorted;
  int         *unsorted;

  TrsvCall(scratch.take(entries, later, entries, sorted, entries, unsorted));
  if (A.values) {
    TrsvCall(TrsvLaunchEach(multicolor_scale, rows, A));
    TrsvCall(TrsvLaunchEach(multicolor_strongest, rows, A));
  }
  TrsvCall(TrsvLaunchEach(multicolor_edges, (size_t)A.entries, A, nodes, later, unsorted));
  TrsvCall(TrsvDeviceSort(A.entries, TrsvBits(nodes), later, sorted, unsorted, edge));
  return TrsvLaunchEach(multicolor_edge_starts, (size_t)nodes + 1, nodes, A.entries, sorted, start);
}

/* Words that the host downloads, after those of the launch. */
enum {
  LARGEST_COLOR = TRSV_STATES,
  BAD_ROW,
  STATES
};

static TrsvError FindWords(int nodes, const int *start, const int *edge, unsigned *word, unsigned *state)
{
  unsigned blocks;

  TrsvCall(DataflowBlocks(nodes, 1, BLOCKS_PER_SM, &blocks));
  TrsvCall(TrsvDeviceClear(word, sizeof(*word) * (size_t)nodes, NULL));
  return TrsvLaunch(multicolor_words, blocks, DATAFLOW_BLOCK, DATAFLOW_SHARED, NULL, WavePass{nodes, start, edge}, word,
                    TrsvSyncScratch(state));
}

extern "C" TrsvError TrsvDeviceColorWaves(int rows, int entries, const int *offsets, const int *columns,
                                          const double *values, unsigned *color, int *colors)
{
  const size_t r = (size_t)rows, e = (size_t)entries;
  unsigned     found[STATES], *state;
  MatrixRows   A             = {rows, entries, offsets, columns, values, NULL, NULL, NULL};
  TrsvScratch  memory;
  int         *work, *edge, nodes;

  TrsvCall(memory.take(values ? r : 0, A.scale, values ? r : 0, A.strongest, r, A.node, 2 * r + 1, work, e, edge,
                       (size_t)STATES, state));
  TrsvCall(TrsvDeviceClear(state, sizeof(found), NULL));
  TrsvCall(TrsvLaunchEach(multicolor_check, A.rows, A, state + BAD_ROW));
  TrsvCall(TrsvDeviceDownload(found, state, sizeof(found), NULL));
  if (found[BAD_ROW])
    return TrsvCheckMatrixRow(TRSV_DEVICE, offsets, columns, entries, rows - (int)found[BAD_ROW], 0, rows - 1, 0, 0);
  TrsvCall(FindNodes(A, work, &nodes));
  int *const      start = work;
  unsigned *const word  = (unsigned *)start + A.rows + 1;
  TrsvCall(FindEdges(A, nodes, start, edge));
  TrsvCall(FindWords(nodes, start, edge, word, state));
  TrsvCall(TrsvLaunchEach(multicolor_wave_colors, A.rows, A, word, color, state + LARGEST_COLOR));
  TrsvCall(TrsvDeviceDownload(found, state, sizeof(found), NULL));
  *colors = (int)found[LARGEST_COLOR] + 1;
  return TrsvSyncCheck(found, "the search for an ordering");
}
