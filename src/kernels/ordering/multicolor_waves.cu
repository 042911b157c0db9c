/*
   Colors of any pattern by waves on the device: multicolor_waves.c, to the bit.

   Rows that are alike become nodes by two scans; edges of each node to those before it by a sort. Then one launch finds
   the words of all nodes, each as soon as those of all nodes before it that it touches are there: the order of the rows
   is kept, and what takes time is the longest chain of entries through it.

   Mapping: a block has BLOCK rows, and its threads walk through all their entries side by side, whatever row they are
   of. multicolor_words: dataflow.cuh, as are its memory order and why it ends. Nothing else crosses threads, but for
   largest values. Same bits: sets and largest values, whatever order they arrive in.
*/
#include "ordering/multicolor_device.cuh"
#include "analysis/dataflow.cuh"

typedef unsigned long long Bits;

/* The matrix, and what is known of its rows. */
struct Rows {
  int           rows, entries;
  const int    *offsets, *columns;
  const double *values;                  /* NULL, and so are the next two, where all entries are strong */
  double       *scale, *most;            /* of each row */
  int          *node;                    /* of each row */
};

/* The offsets of a block's rows, to shared memory; returns how many rows it has. */
static __device__ __forceinline__ int load_offsets(const Rows &A, int first, int *offset)
{
  const int rows = min((int)BLOCK, A.rows - first);

  for (int n = (int)threadIdx.x; n <= rows; n += BLOCK) offset[n] = A.offsets[first + n];
  __syncthreads();
  return rows;
}

/* The first row whose offsets fall, or with a column outside */
static __global__ void multicolor_check(const Rows A, unsigned *bad)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(unsigned, falls, 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  if (t == 0) falls[0] = (unsigned)rows;
  __syncthreads();
  if (t < rows && (offset[t] > offset[t + 1] || offset[t] < 0 || offset[t + 1] > A.entries))
    atomicMin(&falls[0], (unsigned)t);
  __syncthreads();
  const int sound = (int)falls[0]; /* nothing is known of the rows behind */
  if (t == 0 && sound < rows) atomicMin(bad, (unsigned)(first + sound));
  entries_each<BLOCK>(sound ? offset[0] : 0, sound ? offset[sound] : 0, [&](int k) {
    if (A.columns[k] < 0 || A.columns[k] >= A.rows) atomicMin(bad, (unsigned)(first + segment(offset, sound, k)));
  });
}

/* differs[i]: has row i other columns than the one before it? */
static __global__ void multicolor_differs(const Rows A, int *differs)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(int, length, BLOCK); /* where it is that of the row before, else 0 */
  TRSV_SHARED(int, other, BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, i = first + t, rows = load_offsets(A, first, offset);

  if (t < rows) {
    const int own = offset[t + 1] - offset[t];

    length[t] = i && own == offset[t] - A.offsets[i - 1] ? own : 0;
    other[t]  = !length[t];
  }
  __syncthreads();
  entries_each<BLOCK>(offset[0], offset[rows], [&](int k) {
    const int n = segment(offset, rows, k);

    if (length[n] && A.columns[k] != A.columns[k - length[n]]) atomicMax(&other[n], 1);
  });
  __syncthreads();
  if (t < rows) differs[i] = other[t];
}

/* start: of each run of equal rows */
static __global__ void multicolor_runs(int rows, const int *differs, const int *before, int *start)
{
  const int i = trsv_index();

  if (i < rows && differs[i]) start[before[i]] = i;
}

/* In place of differs: is row i the first of a node? */
static __global__ void multicolor_firsts(int rows, const int *before, const int *start, int *differs)
{
  const int i = trsv_index();

  if (i < rows) differs[i] = (i - start[before[i + 1] - 1]) % TRSV_NODE == 0;
}

/* before: the firsts before each row, or NULL */
static __global__ void multicolor_nodes(const Rows A, const int *before)
{
  const int i = trsv_index();

  if (i < A.rows) A.node[i] = before ? before[i + 1] - 1 : i;
}

static __global__ void multicolor_scale(const Rows A)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(Bits, diagonal, BLOCK);
  TRSV_SHARED(Bits, largest, BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  diagonal[t] = largest[t] = 0;
  __syncthreads();
  entries_each<BLOCK>(offset[0], offset[rows], [&](int k) {
    const int    n    = segment(offset, rows, k);
    const double size = fabs(A.values[k]);

    if (size > 0)
      atomicMax(A.columns[k] == first + n ? &diagonal[n] : &largest[n],
                (Bits)trsv_bits(size)); /* no NaN; in the order of their bits */
  });
  __syncthreads();
  if (t < rows) A.scale[first + t] = TrsvScale(trsv_from_bits(diagonal[t]), trsv_from_bits(largest[t]));
}

static __global__ void multicolor_most(const Rows A)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(Bits, largest, BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  largest[t] = 0;
  __syncthreads();
  entries_each<BLOCK>(offset[0], offset[rows], [&](int k) {
    const int n = segment(offset, rows, k), i = first + n, j = A.columns[k];

    if (i != j) atomicMax(&largest[n], (Bits)trsv_bits(TrsvStrength(A.values[k], A.scale[i], A.scale[j])));
  });
  __syncthreads();
  if (t < rows) A.most[first + t] = trsv_from_bits(largest[t]);
}

/* The later node of each entry, and its edge to the other; nodes, behind all, where they are the same. */
static __global__ void multicolor_edges(const Rows A, int nodes, unsigned *later, int *edge)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  const int first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  entries_each<BLOCK>(offset[0], offset[rows], [&](int k) {
    const int  i = first + segment(offset, rows, k), j = A.columns[k], n = A.node[i], m = A.node[j];
    const bool strong = !A.values || TrsvStrong(A.values[k], A.scale[i], A.scale[j], A.most[i], A.most[j]);

    later[k] = (unsigned)(n == m ? nodes : max(n, m));
    edge[k]  = strong ? min(n, m) : ~min(n, m);
  });
}

/* Where the edges of each node start: the first whose node is not smaller. */
static __global__ void multicolor_edge_starts(int nodes, int entries, const unsigned *later, int *start)
{
  const int n = trsv_index();

  if (n <= nodes) start[n] = trsv_first(0, entries, [&](int e) { return later[e] >= (unsigned)n; });
}

struct WaveKnown : TrsvWaveNode {
  __device__ __forceinline__ void meet(int edge, unsigned word) { TrsvWaveMeet(this, edge, word); }
  __device__ __forceinline__ void join(const WaveKnown &other)
  {
    latest = max(latest, other.latest);
    used |= other.used;
    extra |= other.extra;
  }
  __device__ __forceinline__ WaveKnown empty(int) const { return {{0, 0, 0ull}}; }
  __device__ __forceinline__ WaveKnown beside(int half) const
  {
    return {
      {__shfl_xor_sync(0xffffffffu, latest, half), __shfl_xor_sync(0xffffffffu, extra, half),
       __shfl_xor_sync(0xffffffffu, used, half)}
    };
  }
};

/* Rows are nodes, dependencies edges: those that other rows have, then the row's own, each with the latest last. */
struct WavePass {
  static constexpr bool sorted = false;
  static constexpr int  step   = 1;

  int        rows;
  const int *start, *edge;

  __device__ __forceinline__ int       place(int n) const { return n; }
  __device__ __forceinline__ int       count(int n) const { return start[n + 1] - start[n]; }
  __device__ __forceinline__ int       begin(int n) const { return start[n]; }
  __device__ __forceinline__ int       dependency(int k) const { return edge[k]; }
  __device__ __forceinline__ int       row(int edge) const { return TrsvWaveOther(edge); }
  __device__ __forceinline__ WaveKnown known(int) const { return {{0, 0, 0ull}}; }
  __device__ __forceinline__ unsigned  word(const WaveKnown &known, int n, const DataflowWords &words) const
  {
    unsigned mine = TrsvWaveWord(&known);

    for (unsigned base = 2 * TRSV_WAVE_TOP; !mine; base += TRSV_WAVE_TOP) { /* all its neighbors' words are there */
      unsigned used = 0;

      for (int e = start[n]; e < start[n + 1]; e++)
        used |= TrsvWaveBit(dataflow_find(*this, words, row(edge[e])), base);
      if (~used) mine = TrsvWaveFree(used, base);
    }
    return mine;
  }
};

enum {
  HELD = 4 /* blocks of a multiprocessor */
};

static __global__ void __launch_bounds__(DATAFLOW_BLOCK, HELD)
  multicolor_words(const WavePass pass, unsigned *word, TrsvSync sync)
{
  for (unsigned mine; dataflow_pass(pass, word, sync, mine);) { }
}

/* The color of each row, and the largest of them. */
static __global__ void multicolor_wave_colors(const Rows A, const unsigned *word, unsigned *color, unsigned *most)
{
  const int i = trsv_index();
  unsigned  c = 0;

  if (i < A.rows) color[i] = c = (unsigned)TrsvWaveColor(word[A.node[i]]);
  c = trsv_warp_max(c);
  if (threadIdx.x % 32 == 0) atomicMax(most, c);
}

/* work [3 rows + 1]; *nodes, on the host, how many nodes there are */
static TrsvError FindNodes(const Rows &A, int *work, int *nodes)
{
  int *const     differs = work, *const before = work + A.rows, *const start = before + A.rows + 1;
  const unsigned blocks  = TrsvBlocks(A.rows, BLOCK);

  TRSV_LAUNCH(multicolor_differs, blocks, BLOCK, 0, (TrsvStream)NULL, A, differs);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_differs"));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TRSV_LAUNCH(multicolor_runs, blocks, BLOCK, 0, (TrsvStream)NULL, A.rows, differs, before, start);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_runs"));
  TRSV_LAUNCH(multicolor_firsts, blocks, BLOCK, 0, (TrsvStream)NULL, A.rows, before, start, differs);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_firsts"));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TrsvCall(TrsvDeviceDownload(nodes, before + A.rows, sizeof(*nodes), NULL));
  const int few = TrsvFewNodes(*nodes, A.rows);
  if (!few) *nodes = A.rows;
  TRSV_LAUNCH(multicolor_nodes, blocks, BLOCK, 0, (TrsvStream)NULL, A, few ? before : NULL);
  return TrsvDeviceCheckLaunch("multicolor_nodes");
}

/* room [4 entries]: the edges of the nodes, and where they start */
static TrsvError FindEdges(const Rows &A, int nodes, int *room, int *start, const int **edge)
{
  unsigned *const later = (unsigned *)room, *const sorted = later + A.entries;
  int *const      unsorted = room + 2 * (size_t)A.entries, *const edges = unsorted + A.entries;
  const unsigned  blocks = TrsvBlocks(A.rows, BLOCK);

  *edge = edges;
  if (A.values) {
    TRSV_LAUNCH(multicolor_scale, blocks, BLOCK, 0, (TrsvStream)NULL, A);
    TrsvCall(TrsvDeviceCheckLaunch("multicolor_scale"));
    TRSV_LAUNCH(multicolor_most, blocks, BLOCK, 0, (TrsvStream)NULL, A);
    TrsvCall(TrsvDeviceCheckLaunch("multicolor_most"));
  }
  TRSV_LAUNCH(multicolor_edges, blocks, BLOCK, 0, (TrsvStream)NULL, A, nodes, later, unsorted);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_edges"));
  TrsvCall(TrsvDeviceSort(A.entries, TrsvBits(nodes), later, sorted, unsorted, edges));
  TRSV_LAUNCH(multicolor_edge_starts, TrsvBlocks(nodes + 1, BLOCK), BLOCK, 0, (TrsvStream)NULL, nodes, A.entries,
              sorted, start);
  return TrsvDeviceCheckLaunch("multicolor_edge_starts");
}

enum {
  MOST = DATAFLOW_STATES,
  BAD,
  STATES
};

static TrsvError FindWords(int nodes, const int *start, const int *edge, unsigned *word, unsigned *state)
{
  unsigned blocks;

  TrsvCall(DataflowBlocks(nodes, 1, HELD, &blocks));
  TrsvCall(TrsvDeviceClear(word, sizeof(*word) * (size_t)nodes, NULL));
  TRSV_LAUNCH(multicolor_words, blocks, DATAFLOW_BLOCK, DATAFLOW_SHARED, (TrsvStream)NULL, WavePass{nodes, start, edge},
              word, DataflowSync(state));
  return TrsvDeviceCheckLaunch("multicolor_words");
}

/* Says what is wrong with a row, as the host does. */
static TrsvError Describe(const Rows &A, int i)
{
  int       offset[2], *columns;
  size_t    bytes;
  TrsvError error;

  TrsvCall(TrsvDeviceDownload(offset, A.offsets + i, sizeof(offset), NULL));
  if (offset[0] < 0 || offset[1] > A.entries)
    return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i, offset[0],
                    offset[1], A.entries);
  bytes = offset[1] > offset[0] ? sizeof(int) * (size_t)(offset[1] - offset[0]) : 0;
  TrsvCall(TrsvAlloc(bytes, &columns));
  error = bytes ? TrsvDeviceDownload(columns, A.columns + offset[0], bytes, NULL) : TRSV_SUCCESS;
  if (!error) error = TrsvOrderCheckRow(A.rows, i, offset[0], offset[1], columns);
  free(columns);
  return error;
}

/* room: as in TrsvDeviceColorWaves. */
static TrsvError Color(const Rows &A, int *room, unsigned *state, unsigned *color, int *colors)
{
  unsigned   told[STATES];
  int *const work = A.node + A.rows, *const start = work, nodes_at_most = A.rows;
  int        nodes;
  const int *edge;

  TRSV_LAUNCH(multicolor_check, TrsvBlocks(A.rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, A, state + BAD);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_check"));
  TrsvCall(TrsvDeviceDownload(told, state, sizeof(told), NULL));
  if (told[BAD] < (unsigned)A.rows) return Describe(A, (int)told[BAD]);
  TrsvCall(FindNodes(A, work, &nodes));
  TrsvCall(FindEdges(A, nodes, room, start, &edge));
  unsigned *const word = (unsigned *)start + nodes_at_most + 1;
  TrsvCall(FindWords(nodes, start, edge, word, state));
  TRSV_LAUNCH(multicolor_wave_colors, TrsvBlocks(A.rows, BLOCK), BLOCK, 0, (TrsvStream)NULL, A, word, color,
              state + MOST);
  TrsvCall(TrsvDeviceCheckLaunch("multicolor_wave_colors"));
  TrsvCall(TrsvDeviceDownload(told, state, sizeof(told), NULL));
  if (told[DATAFLOW_ABORT_DEVICE])
    return TrsvFail(TRSV_ERR_TIMEOUT, "the search for an ordering waited longer than %g s for one row and gave up",
                    1e-9 * (double)TrsvTimeoutLimit());
  *colors = (int)told[MOST] + 1;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceColorWaves(int rows, int entries, const int *offsets, const int *columns, const double *values,
                               unsigned *color, int *colors)
{
  const size_t r = (size_t)rows, e = (size_t)entries;
  unsigned     state[STATES] = {0}, *shared = NULL;
  int         *room  = NULL;
  double      *scale = NULL;
  TrsvError    error;

  state[BAD] = (unsigned)rows;
  error      = TrsvScratchAlloc(sizeof(int) * (4 * r + 1 + 4 * e), &room, NULL); /* nodes, room for work; edges */
  if (error) room = NULL;
  if (!error && values) error = TrsvScratchAlloc(2 * sizeof(double) * r, &scale, NULL);
  if (error) scale = NULL;
  if (!error) error = TrsvScratchUpload(state, sizeof(state), &shared, NULL);
  if (error) shared = NULL;
  if (!error)
    error = Color(Rows{rows, entries, offsets, columns, values, scale, scale ? scale + r : NULL, room},
                  room + 4 * r + 1, shared, color, colors);
  if (shared) TrsvScratchFree(shared, NULL);
  if (scale) TrsvScratchFree(scale, NULL);
  if (room) TrsvScratchFree(room, NULL);
  return error;
}
