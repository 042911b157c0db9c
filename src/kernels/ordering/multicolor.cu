/*
   The multicolor ordering on the device: host and device give the same order, by the formulas of multicolor.h. The host
   downloads the sample from which it guesses a grid, and the result of each check of a guess.

   Without a grid two scans find the nodes, and a sort finds the edges of each node to earlier nodes. One launch then
   finds the words of all nodes, each after those of its earlier neighbors, in the time of their longest chain.

   Mapping: a thread for each row or entry, or the threads of a block share the entries of its rows (rows_each). A
   stable sort by color. Mapping, memory order and why it ends of multicolor_words: dataflow.cuh; in other launches no
   thread waits, and values cross threads by atomics and at barriers. Same bits: sets and maxima
   do not depend on the order of their elements.
*/
#include "analysis/dataflow.cuh"
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "ordering/multicolor.h"

enum {
  BLOCKS_PER_SM = 4,
  LARGEST_COLOR = TRSV_STATES, /* words that the host downloads, after those of the launch */
  BAD_ROW,
  STATES
};

typedef unsigned long long Bits;

/* Also finds the number of entries, which A does not have. */
static __global__ void multicolor_sample(TrsvColorMatrix A, TrsvGridSamples *samples)
{
  A.entries = A.offsets[A.rows];
  if (threadIdx.x == 0) samples->entries = A.entries;
  TrsvGridSample(&A, (int)threadIdx.x, samples);
}

static __global__ void multicolor_check_grid(const TrsvColorMatrix A, const TrsvGrid g, unsigned *wrong)
{
  const int i = trsv_index();

  if (i < A.rows && !TrsvGridHolds(&A, &g, i)) atomicMax(wrong, 1u);
}

/* natural [rows]: the rows in their order. */
static __global__ void multicolor_grid_colors(const TrsvGrid g, int rows, unsigned *color, int *natural)
{
  const int i = trsv_index();

  if (i >= rows) return;
  color[i]   = (unsigned)TrsvGridColor(&g, i);
  natural[i] = i;
}

static TrsvError CheckGrid(const TrsvColorMatrix *A, const TrsvGrid *g, int *yes)
{
  unsigned    wrong, *word;
  TrsvScratch scratch;

  TrsvCall(scratch.zeros(1, word));
  TrsvCall(TrsvLaunchEach(multicolor_check_grid, A->rows, *A, *g, word));
  TrsvCall(TrsvDeviceDownload(&wrong, word, sizeof(wrong), NULL));
  *yes = !wrong;
  return TRSV_SUCCESS;
}

/* *bad, 0 before, becomes rows - i for the first row i with invalid offsets or columns. */
static __global__ void multicolor_check(const TrsvColorMatrix A, unsigned *bad)
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
static __global__ void multicolor_differs(const TrsvColorMatrix A, int *differs)
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
static __global__ void multicolor_nodes(const TrsvColorMatrix A, const int *before)
{
  const int i = trsv_index();

  if (i < A.rows) A.node[i] = before ? before[i + 1] - 1 : i;
}

/* The largest size(i, k) of the entries k of this thread's row i, or 0. */
template <class Size> static __device__ double row_largest(const TrsvColorMatrix &A, Size size)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(Bits, largest, ROWS_BLOCK);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(A.offsets, A.rows, first, start);

  largest[threadIdx.x] = 0;
  __syncthreads();
  rows_each(start, rows, [&](int m, int k) {
    const double one = size(first + m, k);

    if (one > 0) atomicMax(&largest[m], (Bits)trsv_bits(one)); /* bits of positive numbers compare as these do */
  });
  __syncthreads();
  return trsv_from_bits(largest[threadIdx.x]);
}

static __global__ void multicolor_scale(const TrsvColorMatrix A)
{
  const int    i        = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  const double diagonal = row_largest(A, [&](int r, int k) { return A.columns[k] == r ? fabs(A.values[k]) : 0; }),
               largest  = row_largest(A, [&](int, int k) { return fabs(A.values[k]); });

  if (i < A.rows) A.scale[i] = TrsvScale(diagonal, largest);
}

static __global__ void multicolor_strongest(const TrsvColorMatrix A)
{
  const int    i    = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  const double most = row_largest(A, [&](int r, int k) { return A.columns[k] != r ? TrsvStrength(&A, k, r) : 0; });

  if (i < A.rows) A.strongest[i] = most;
}

/* True if a node has a strong entry in one of its rows and in a run of columns: those of one node, from the column of
   entry k on. i: the first row of the node; all its rows have the same columns. */
static TRSV_INLINE bool run_is_strong(const TrsvColorMatrix &A, int i, int k)
{
  const int n = A.node[i], m = A.node[A.columns[k]], before = k - A.offsets[i], most = A.offsets[i + 1] - k;

  if (!A.values) return true;
  for (int r = i; r < A.rows && A.node[r] == n; r++)
    for (int c = 0; c < most && A.node[A.columns[k + c]] == m; c++)
      if (TrsvStrong(&A, A.offsets[r] + before + c, r)) return true;
  return false;
}

/* True if the edge from the node of row j to the node whose first row is i exists, and is strong if this one is. If
   columns do not rise, it may not be found. */
static TRSV_INLINE bool edge_is_mirrored(const TrsvColorMatrix &A, int i, int j, bool strong)
{
  while (j && A.node[j - 1] == A.node[j]) j--;
  const int end = A.offsets[j + 1], k = trsv_first(A.offsets[j], end, [&](int e) { return A.columns[e] >= i; });
  return k < end && A.columns[k] == i && (!strong || run_is_strong(A, j, k));
}

/* For each entry its later node and the edge to its earlier node. If both are the same, or if another entry has the
   edge, the later node is `nodes`, which the sort puts last. The first row of a node has the edges of all its rows, the
   first column of a run those of the run, and the later node those of an entry and its mirror image. */
static __global__ void multicolor_edges(const TrsvColorMatrix A, int nodes, unsigned *later, int *edge)
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
  TRSV_INLINE void meet(int edge, unsigned word) { TrsvWaveMeet(this, edge, word); }
  TRSV_INLINE void join(const WaveState &other)
  {
    latest = max(latest, other.latest);
    used |= other.used;
    extra |= other.extra;
  }
  TRSV_INLINE WaveState empty(int) const { return {{0, 0, 0}}; }
  TRSV_INLINE WaveState beside(int half) const
  {
    return {{__shfl_xor_sync(0xffffffffu, latest, half), __shfl_xor_sync(0xffffffffu, used, half),
             __shfl_xor_sync(0xffffffffu, extra, half)}};
  }
};

/* The rows of the pass are nodes, and the dependencies of a node are its edges. */
struct WavePass {
  static constexpr bool sorted = false;
  static constexpr int  ahead  = 2, step = 1;

  int        rows;
  const int *start, *edge;

  TRSV_INLINE int       place(int n) const { return n; }
  TRSV_INLINE int       count(int n) const { return start[n + 1] - start[n]; }
  TRSV_INLINE int       begin(int n) const { return start[n]; }
  TRSV_INLINE int       dependency(int k) const { return edge[k]; }
  TRSV_INLINE int       row(int edge) const { return TrsvWaveOther(edge); }
  TRSV_INLINE WaveState known(int) const { return {{0, 0, 0}}; }
  TRSV_INLINE unsigned  word(const WaveState &known, int n, const DataflowWords &words) const
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

static __global__ void __launch_bounds__(DATAFLOW_BLOCK, BLOCKS_PER_SM)
  multicolor_words(const WavePass pass, unsigned *word, TrsvSync sync)
{
  for (unsigned mine; dataflow_pass(pass, word, sync, mine);) { }
}

/* The colors of the rows by the words of their nodes, natural as above, and the largest color. */
static __global__ void multicolor_wave_colors(const TrsvColorMatrix A, const unsigned *word, unsigned *color,
                                              int *natural, unsigned *largest)
{
  const int i = trsv_index();
  unsigned  c = 0;

  if (i < A.rows) color[i] = c = (unsigned)TrsvWaveColor(word[A.node[i]]), natural[i] = i;
  c = trsv_warp_max(c);
  if (threadIdx.x % 32 == 0) atomicMax(largest, c);
}

/* work [2 rows + 1]; *nodes, on the host: the number of nodes. */
static TrsvError FindNodes(const TrsvColorMatrix &A, int *work, int *nodes)
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
static TrsvError FindEdges(const TrsvColorMatrix &A, int nodes, int *start, int *edge)
{
  const size_t entries = (size_t)A.entries;
  TrsvScratch  scratch;
  unsigned    *later, *sorted;
  int         *unsorted;

  TrsvCall(scratch.take(entries, later, entries, sorted, entries, unsorted));
  if (A.values) {
    TrsvCall(TrsvLaunchEach(multicolor_scale, (size_t)A.rows, A));
    TrsvCall(TrsvLaunchEach(multicolor_strongest, (size_t)A.rows, A));
  }
  TrsvCall(TrsvLaunchEach(multicolor_edges, entries, A, nodes, later, unsorted));
  TrsvCall(TrsvDeviceSort(A.entries, TrsvBits(nodes), later, sorted, unsorted, edge));
  return TrsvLaunchEach(multicolor_edge_starts, (size_t)nodes + 1, nodes, A.entries, sorted, start);
}

/* Colors of any pattern. */
static TrsvError ColorWaves(TrsvColorMatrix *A, unsigned *color, int *natural, int *colors)
{
  const size_t r = (size_t)A->rows, some = A->values ? r : 0;
  unsigned     found[STATES], *state, blocks;
  TrsvScratch  memory;
  int         *work, *edge, nodes;

  TrsvCall(memory.take(some, A->scale, some, A->strongest, r, A->node, 2 * r + 1, work, (size_t)A->entries, edge,
                       (size_t)STATES, state));
  TrsvCall(TrsvDeviceClear(state, sizeof(found), NULL));
  TrsvCall(TrsvLaunchEach(multicolor_check, r, *A, state + BAD_ROW));
  TrsvCall(TrsvDeviceDownload(found, state, sizeof(found), NULL));
  if (found[BAD_ROW])
    return TrsvCheckMatrixRow(TRSV_DEVICE, A->offsets, A->columns, A->entries, A->rows - (int)found[BAD_ROW], 0,
                              A->rows - 1, 0, 0);
  TrsvCall(FindNodes(*A, work, &nodes));
  int *const      start = work;
  unsigned *const word  = (unsigned *)start + r + 1;
  TrsvCall(FindEdges(*A, nodes, start, edge));
  TrsvCall(DataflowBlocks(nodes, 1, BLOCKS_PER_SM, &blocks));
  TrsvCall(TrsvDeviceClear(word, sizeof(*word) * (size_t)nodes, NULL));
  TrsvCall(TrsvLaunch(multicolor_words, blocks, DATAFLOW_BLOCK, DATAFLOW_SHARED, NULL, WavePass{nodes, start, edge},
                      word, TrsvSyncScratch(state)));
  TrsvCall(TrsvLaunchEach(multicolor_wave_colors, r, *A, word, color, natural, state + LARGEST_COLOR));
  TrsvCall(TrsvDeviceDownload(found, state, sizeof(found), NULL));
  *colors = (int)found[LARGEST_COLOR] + 1;
  return TrsvSyncCheck(found, "the search for an ordering");
}

extern "C" TrsvError TrsvDeviceOrder(TrsvColorMatrix *A, TrsvOrdering *o)
{
  const size_t    rows = (size_t)A->rows;
  TrsvScratch     scratch;
  TrsvGridSamples samples, *sampled;
  TrsvGrid        g;
  unsigned       *color, *sorted;
  int            *natural, grid, colors = 0;

  TrsvCall(scratch.take(rows, color, rows, sorted, rows, natural, 1, sampled));
  TrsvCall(TrsvLaunch(multicolor_sample, 1, TRSV_GRID_SAMPLES, 0, NULL, *A, sampled));
  TrsvCall(TrsvDeviceDownload(&samples, sampled, sizeof(samples), NULL));
  A->entries = samples.entries;
  if (A->entries < 0) return TrsvFail(TRSV_ERR_STRUCTURE, "the last offset is %d, a negative number", A->entries);
  TrsvCall(TrsvGridFind(A, &samples, CheckGrid, &g, &grid));
  if (grid) {
    colors = TrsvGridColors(&g);
    for (int s = 0; s < 3; s++) o->grid[s] = g.side[s];
    TrsvCall(TrsvLaunchEach(multicolor_grid_colors, rows, g, A->rows, color, natural));
  } else TrsvCall(ColorWaves(A, color, natural, &colors));
  return TrsvDeviceSort(A->rows, TrsvBits(colors - 1), color, sorted, natural, o->order);
}
