/*
   Colours of any pattern by waves on the device: bmc_waves.c, to the bit.

   Rows that are alike become nodes by two scans; edges of each node to those before it by a sort. Then one launch finds the words of all nodes,
   each as soon as those of all nodes before it that it touches are there: the order of the rows is kept, and what takes time is the longest chain
   of entries through it.

   Mapping: a block has BLOCK rows, and its threads walk through all their entries side by side, whatever row they are of. In bmc_words the
   block of ticket t has nodes t * BLOCK onwards, thread by thread; a thread waits for four edges at a time; while more than LONG are
   left, the whole warp takes on many at once (as in levels.cu).
   Memory order: a word is its own flag, 0 until it is there: in device memory, and once more in shared memory for the nodes of the same block.
   Nothing else crosses threads, but for largest values.
   Why it ends: as levels.cu. A node waits for nodes before it only; those of other blocks have smaller tickets, so their blocks have started;
   no turn of a warp waits, and each looks at what every one of its threads waits for. Patience bounds it if memory fails.
   Same bits: sets and largest values, whatever order they arrive in.
*/
#include "bmc_device.cuh"

enum {
  QUAD  = 4,
  LONG  = 64, /* edges of a node that a thread takes on alone */
  TAIL  = 32, /* what it takes on alone of more, for the neighbours are here */
  SHARE = 8,  /* edges that each thread of the warp looks at in a turn */
  REST  = 32, REST_MOST = 256, /* ns between two looks of a warp that waits, at first and at most */
  NONE  = INT_MIN,
  ALL   = ~0
};

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
static __global__ void bmc_check(const Rows A, unsigned *bad)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(unsigned, falls, 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  if (t == 0) falls[0] = (unsigned)rows;
  __syncthreads();
  if (t < rows && (offset[t] > offset[t + 1] || offset[t] < 0 || offset[t + 1] > A.entries)) atomicMin(&falls[0], (unsigned)t);
  __syncthreads();
  const int sound = (int)falls[0]; /* nothing is known of the rows behind */
  if (t == 0 && sound < rows) atomicMin(bad, (unsigned)(first + sound));
  for (int k = offset[0] + t; sound && k < offset[sound]; k += BLOCK)
    if (A.columns[k] < 0 || A.columns[k] >= A.rows) atomicMin(bad, (unsigned)(first + segment(offset, sound, k)));
}

/* differs[i]: has row i other columns than the one before it? */
static __global__ void bmc_differs(const Rows A, int *differs)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < A.rows) differs[i] = !i || !TrsvSameColumns(A.offsets, A.columns, i);
}

/* start: of each run of equal rows */
static __global__ void bmc_runs(int rows, const int *differs, const int *before, int *start)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < rows && differs[i]) start[before[i]] = i;
}

/* In place of differs: is row i the first of a node? */
static __global__ void bmc_firsts(int rows, const int *before, const int *start, int *differs)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < rows) differs[i] = (i - start[before[i + 1] - 1]) % TRSV_NODE == 0;
}

/* before: the firsts before each row, or NULL */
static __global__ void bmc_nodes(const Rows A, const int *before)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < A.rows) A.node[i] = before ? before[i + 1] - 1 : i;
}

static __global__ void bmc_scale(const Rows A)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(Bits, diagonal, BLOCK);
  TRSV_SHARED(Bits, largest, BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  diagonal[t] = largest[t] = 0;
  __syncthreads();
  for (int k = offset[0] + t; k < offset[rows]; k += BLOCK) {
    const int    n    = segment(offset, rows, k);
    const double size = fabs(A.values[k]);

    if (size > 0) atomicMax(A.columns[k] == first + n ? &diagonal[n] : &largest[n], (Bits)trsv_bits(size)); /* no NaN; in the order of their bits */
  }
  __syncthreads();
  if (t < rows) A.scale[first + t] = TrsvScale(trsv_from_bits(diagonal[t]), trsv_from_bits(largest[t]));
}

static __global__ void bmc_most(const Rows A)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(Bits, largest, BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  largest[t] = 0;
  __syncthreads();
  for (int k = offset[0] + t; k < offset[rows]; k += BLOCK) {
    const int n = segment(offset, rows, k), i = first + n, j = A.columns[k];

    if (i != j) atomicMax(&largest[n], (Bits)trsv_bits(TrsvStrength(A.values[k], A.scale[i], A.scale[j])));
  }
  __syncthreads();
  if (t < rows) A.most[first + t] = trsv_from_bits(largest[t]);
}

/* The later node of each entry, and its edge to the other; nodes, behind all, where they are the same. */
static __global__ void bmc_edges(const Rows A, int nodes, unsigned *later, int *edge)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  const int first = (int)blockIdx.x * BLOCK, rows = load_offsets(A, first, offset);

  for (int k = offset[0] + (int)threadIdx.x; k < offset[rows]; k += BLOCK) {
    const int  i = first + segment(offset, rows, k), j = A.columns[k], n = A.node[i], m = A.node[j];
    const bool strong = !A.values || TrsvStrong(A.values[k], A.scale[i], A.scale[j], A.most[i], A.most[j]);

    later[k] = (unsigned)(n == m ? nodes : max(n, m));
    edge[k]  = strong ? min(n, m) : ~min(n, m);
  }
}

/* Where the edges of each node start: the first whose node is not smaller. */
static __global__ void bmc_edge_starts(int nodes, int entries, const unsigned *later, int *start)
{
  const int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  int       low = 0, high = entries;

  if (n > nodes) return;
  while (low < high) {
    const int middle = low + (high - low) / 2;

    if (later[middle] < (unsigned)n) low = middle + 1;
    else high = middle;
  }
  start[n] = low;
}

static __global__ void bmc_clear(int n, unsigned *word)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < n) word[i] = 0;
}

/* The word of a node, from where it is soonest. */
static __device__ __forceinline__ unsigned find(const unsigned *word, unsigned near, int first, int node)
{
  return node < first ? trsv_load(word + node) : trsv_shared_load<unsigned>(near + 4 * (unsigned)(node - first));
}

static __global__ void __launch_bounds__(BLOCK) bmc_words(int nodes, const int *start, const int *edge, unsigned *word, TrsvSync sync)
{
  TRSV_SHARED(unsigned, ticket, 2);
  const unsigned near = trsv_shared_address(), own = near + 4 * threadIdx.x, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) ticket[0] = trsv_ticket(sync, &ticket[1]);
  trsv_shared_store(own, 0u);
  __syncthreads();
  const int    first = (int)(ticket[0] * BLOCK), node = first + (int)threadIdx.x;
  bool         done = node >= nodes;
  int          next = done ? 0 : start[node], left = done ? 0 : start[node + 1] - next; /* edges that nobody has looked at */
  int          wanted[QUAD] = {NONE, NONE, NONE, NONE};                                 /* edges whose nodes this one waits for */
  unsigned     begin = 0, rest = REST;
  TrsvWaveNode known = {0, 0, 0ull};
  TrsvPatience patience;

  do {
    bool moved = false;

    /* one after the other, until one is not ready; the next turn begins behind it */
    for (unsigned asking = __ballot_sync((unsigned)ALL, left > LONG); asking;) {
      const unsigned behind = asking & ~0u << begin;
      const int      l = __ffs((int)(behind ? behind : asking)) - 1, from = __shfl_sync((unsigned)ALL, next, l), n = min(__shfl_sync((unsigned)ALL, left, l) - TAIL, 32 * SHARE);
      int            mine[SHARE];
      unsigned       found[SHARE];
      bool           ready = true;
      TrsvWaveNode   part  = {0, 0, 0ull};

      asking &= ~(1u << l);
#pragma unroll
      for (int s = 0; s < SHARE; s++) {
        const int e = 32 * s + (int)lane;

        mine[s]  = e < n ? edge[from + e] : NONE;
        found[s] = mine[s] == NONE ? 1 : find(word, near, first, TrsvWaveOther(mine[s]));
      }
#pragma unroll
      for (int s = 0; s < SHARE; s++) {
        ready = ready && found[s];
        if (ready && mine[s] != NONE) TrsvWaveMeet(&part, mine[s], found[s]);
      }
      begin = ((unsigned)l + 1) % 32;
      if (!__all_sync((unsigned)ALL, ready)) break;
      for (int half = 16; half; half /= 2) {
        part.latest = max(part.latest, __shfl_xor_sync((unsigned)ALL, part.latest, half));
        part.used |= __shfl_xor_sync((unsigned)ALL, part.used, half);
        part.extra |= __shfl_xor_sync((unsigned)ALL, part.extra, half);
      }
      if ((int)lane == l) {
        known.latest = max(known.latest, part.latest);
        known.used |= part.used;
        known.extra |= part.extra;
        next += n;
        left -= n;
        moved = true;
      }
    }

    unsigned far[QUAD];
#pragma unroll
    for (int n = 0; n < QUAD; n++) {
      const int other = wanted[n] == NONE ? nodes : TrsvWaveOther(wanted[n]);

      far[n] = other < first ? trsv_load(word + other) : 0;
    }
#pragma unroll
    for (int n = 0; n < QUAD; n++)
      if (far[n]) {
        TrsvWaveMeet(&known, wanted[n], far[n]);
        wanted[n] = NONE;
        moved     = true;
      }

    bool again; /* as long as one thread of the warp gets on, those beside it may */
    do {
      again = false;
      if (!done && left <= LONG) {
        bool waits = false;

#pragma unroll
        for (int n = 0; n < QUAD; n++) {
          const int other = wanted[n] == NONE ? -1 : TrsvWaveOther(wanted[n]);

          if (other >= first) {
            const unsigned found = trsv_shared_load<unsigned>(near + 4 * (unsigned)(other - first));

            if (found) {
              TrsvWaveMeet(&known, wanted[n], found);
              wanted[n] = NONE;
            }
          }
          waits = waits || wanted[n] != NONE;
        }
        again = !waits;
        if (!waits && left) {
          const int take = min(left, (int)QUAD);

#pragma unroll
          for (int n = 0; n < QUAD; n++)
            if (n < take) wanted[n] = edge[next + n];
          next += take;
          left -= take;
        } else if (!waits) {
          unsigned mine = TrsvWaveWord(&known);

          for (unsigned base = 2 * TRSV_WAVE_TOP; !mine; base += TRSV_WAVE_TOP) { /* all its nodes' words are there */
            unsigned used = 0;

            for (int e = start[node]; e < start[node + 1]; e++) used |= TrsvWaveBit(find(word, near, first, TrsvWaveOther(edge[e])), base);
            if (~used) mine = TrsvWaveFree(used, base);
          }
          trsv_shared_store(own, mine);
          trsv_store(word + node, mine);
          done = true;
        }
      }
      moved = moved || again;
    } while (__any_sync((unsigned)ALL, again));

    if (__any_sync((unsigned)ALL, moved)) {
      rest = REST;
      continue;
    }
    /* Nothing has changed: each looks at one word of another warp, less and less often, until one is there. */
    const bool asks = __any_sync((unsigned)ALL, left > LONG); /* for what the next turn looks at */
    int        d    = -1;
    bool       more = true, there;

#pragma unroll
    for (int n = QUAD - 1; n >= 0; n--)
      if (wanted[n] != NONE && TrsvWaveOther(wanted[n]) < node - (int)lane) d = TrsvWaveOther(wanted[n]);
    do {
      trsv_sleep(rest);
      rest  = min(2 * rest, (unsigned)REST_MOST);
      there = asks || (d >= 0 && find(word, near, first, d));
      if (left > LONG || (d >= 0 && !there)) more = patience.more(sync);
    } while (!__any_sync((unsigned)ALL, there || !more) && __any_sync((unsigned)ALL, d >= 0));
    if (!more) { /* it goes without */
      left = 0;
#pragma unroll
      for (int n = 0; n < QUAD; n++) wanted[n] = NONE;
    }
  } while (!__all_sync((unsigned)ALL, done));
}

/* The colour of each row, and the largest of them. */
static __global__ void bmc_wave_colours(const Rows A, const unsigned *word, unsigned *colour, unsigned *most)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  unsigned  c = 0;

  if (i < A.rows) colour[i] = c = (unsigned)TrsvWaveColour(word[A.node[i]]);
  c = trsv_warp_max(c);
  if (threadIdx.x % 32 == 0) atomicMax(most, c);
}

/* work [3 rows + 1]; *nodes, on the host, how many nodes there are */
static TrsvError FindNodes(const Rows &A, int *work, int *nodes)
{
  int *const     differs = work, *const before = work + A.rows, *const start = before + A.rows + 1;
  const unsigned blocks  = Blocks(A.rows);

  TRSV_LAUNCH(bmc_differs, blocks, BLOCK, 0, (TrsvStream)NULL, A, differs);
  TrsvCall(TrsvDeviceLaunched("bmc_differs"));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TRSV_LAUNCH(bmc_runs, blocks, BLOCK, 0, (TrsvStream)NULL, A.rows, differs, before, start);
  TrsvCall(TrsvDeviceLaunched("bmc_runs"));
  TRSV_LAUNCH(bmc_firsts, blocks, BLOCK, 0, (TrsvStream)NULL, A.rows, before, start, differs);
  TrsvCall(TrsvDeviceLaunched("bmc_firsts"));
  TrsvCall(TrsvDeviceScan(A.rows, differs, before));
  TrsvCall(TrsvDeviceDownload(nodes, before + A.rows, sizeof(*nodes), NULL));
  const int few = TrsvFewNodes(*nodes, A.rows);
  if (!few) *nodes = A.rows;
  TRSV_LAUNCH(bmc_nodes, blocks, BLOCK, 0, (TrsvStream)NULL, A, few ? before : NULL);
  return TrsvDeviceLaunched("bmc_nodes");
}

/* room [4 entries]: the edges of the nodes, and where they start */
static TrsvError FindEdges(const Rows &A, int nodes, int *room, int *start, const int **edge)
{
  unsigned *const later = (unsigned *)room, *const sorted = later + A.entries;
  int *const      unsorted = room + 2 * (size_t)A.entries, *const edges = unsorted + A.entries;
  const unsigned  blocks = Blocks(A.rows);
  int             bits   = 1;

  *edge = edges;
  while (bits < 31 && nodes >> bits) bits++;
  if (A.values) {
    TRSV_LAUNCH(bmc_scale, blocks, BLOCK, 0, (TrsvStream)NULL, A);
    TrsvCall(TrsvDeviceLaunched("bmc_scale"));
    TRSV_LAUNCH(bmc_most, blocks, BLOCK, 0, (TrsvStream)NULL, A);
    TrsvCall(TrsvDeviceLaunched("bmc_most"));
  }
  TRSV_LAUNCH(bmc_edges, blocks, BLOCK, 0, (TrsvStream)NULL, A, nodes, later, unsorted);
  TrsvCall(TrsvDeviceLaunched("bmc_edges"));
  TrsvCall(TrsvDeviceSort(A.entries, bits, later, sorted, unsorted, edges));
  TRSV_LAUNCH(bmc_edge_starts, Blocks(nodes + 1), BLOCK, 0, (TrsvStream)NULL, nodes, A.entries, sorted, start);
  return TrsvDeviceLaunched("bmc_edge_starts");
}

enum {
  TICKET,
  GAVE_UP,
  TOLD,
  MOST,
  BAD,
  STATES
};

static TrsvError FindWords(int nodes, const int *start, const int *edge, unsigned *word, unsigned *state)
{
  TrsvSync sync;

  sync.ticket   = state + TICKET;
  sync.gave_up  = state + GAVE_UP;
  sync.told     = state + TOLD; /* nobody looks before the launch is over */
  sync.patience = TrsvPatienceLimit();
  TRSV_LAUNCH(bmc_clear, Blocks(nodes), BLOCK, 0, (TrsvStream)NULL, nodes, word);
  TrsvCall(TrsvDeviceLaunched("bmc_clear"));
  TRSV_LAUNCH(bmc_words, Blocks(nodes), BLOCK, sizeof(unsigned) * BLOCK, (TrsvStream)NULL, nodes, start, edge, word, sync);
  return TrsvDeviceLaunched("bmc_words");
}

/* Says what is wrong with a row, as the host does. */
static TrsvError Describe(const Rows &A, int i)
{
  int       offset[2], n, *columns;
  TrsvError error;

  TrsvCall(TrsvDeviceDownload(offset, A.offsets + i, sizeof(offset), NULL));
  n = offset[1] - offset[0];
  if (offset[0] < 0 || offset[1] > A.entries) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are not between 0 and the last one, %d", i, offset[0], offset[1], A.entries);
  TrsvCall(TrsvAlloc(n > 0 ? sizeof(int) * (size_t)n : 0, &columns));
  error = n > 0 ? TrsvDeviceDownload(columns, A.columns + offset[0], sizeof(int) * (size_t)n, NULL) : TRSV_SUCCESS;
  if (!error) error = TrsvOrderCheckRow(A.rows, i, offset[0], offset[1], columns);
  free(columns);
  return error;
}

/* room: as in TrsvDeviceColourWaves. */
static TrsvError Colour(const Rows &A, int *room, unsigned *state, unsigned *colour, int *colours)
{
  unsigned   told[STATES];
  int *const work = A.node + A.rows, *const start = work, nodes_at_most = A.rows;
  int        nodes;
  const int *edge;

  TRSV_LAUNCH(bmc_check, Blocks(A.rows), BLOCK, 0, (TrsvStream)NULL, A, state + BAD);
  TrsvCall(TrsvDeviceLaunched("bmc_check"));
  TrsvCall(TrsvDeviceDownload(told, state, sizeof(told), NULL));
  if (told[BAD] < (unsigned)A.rows) return Describe(A, (int)told[BAD]);
  TrsvCall(FindNodes(A, work, &nodes));
  TrsvCall(FindEdges(A, nodes, room, start, &edge));
  unsigned *const word = (unsigned *)start + nodes_at_most + 1;
  TrsvCall(FindWords(nodes, start, edge, word, state));
  TRSV_LAUNCH(bmc_wave_colours, Blocks(A.rows), BLOCK, 0, (TrsvStream)NULL, A, word, colour, state + MOST);
  TrsvCall(TrsvDeviceLaunched("bmc_wave_colours"));
  TrsvCall(TrsvDeviceDownload(told, state, sizeof(told), NULL));
  if (told[GAVE_UP]) return TrsvFail(TRSV_ERR_TIMEOUT, "the search for an ordering waited longer than %g s for one row and gave up", 1e-9 * (double)TrsvPatienceLimit());
  *colours = (int)told[MOST] + 1;
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceColourWaves(int rows, int entries, const int *offsets, const int *columns, const double *values, unsigned *colour, int *colours)
{
  const size_t r = (size_t)rows, e = (size_t)entries;
  unsigned     state[STATES] = {0}, *shared = NULL;
  int         *room  = NULL;
  double      *scale = NULL;
  TrsvError    error;

  state[BAD] = (unsigned)rows;
  error      = TrsvDeviceRoom(sizeof(int) * (4 * r + 1 + 4 * e), &room, NULL); /* nodes, room for work; edges */
  if (error) room = NULL;
  if (!error && values) error = TrsvDeviceRoom(2 * sizeof(double) * r, &scale, NULL);
  if (error) scale = NULL;
  if (!error) error = TrsvDeviceStage(state, sizeof(state), &shared, NULL);
  if (error) shared = NULL;
  if (!error) error = Colour(Rows{rows, entries, offsets, columns, values, scale, scale ? scale + r : NULL, room}, room + 4 * r + 1, shared, colour, colours);
  if (shared) TrsvDeviceUnstage(shared, NULL);
  if (scale) TrsvDeviceUnstage(scale, NULL);
  if (room) TrsvDeviceUnstage(room, NULL);
  return error;
}
