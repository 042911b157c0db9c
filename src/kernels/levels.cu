/*
   Level sets of a triangle on the device: one launch finds the level of every row, a sort orders the rows by it.

   Source: the writing-first solve of CapelliniSpTRSV (ICPP 2020), Section 4.3, with the largest level in place of a sum. What is added:
   neighbours hand over inside the multiprocessor, and a warp helps with its long rows.

   Mapping: the block of ticket t finds the levels of rows t * BLOCK onwards in the order of solution, thread by thread. A thread waits
   for four entries of its row at a time, the farthest first; while more than LONG are left, the whole warp takes on many at once.
   Memory order: a level is handed over in one word that is its own flag, 0 until then: in device memory, and once more in shared memory
   for the rows of the same block, so that a chain of neighbours goes from thread to thread there. Nothing else crosses threads.
   Why it ends: a row waits for rows solved before it only. Those of other blocks have smaller tickets, so their blocks have started.
   Warps of a block share no barrier once they have the ticket. The threads of a warp take turns together (thread.cu), each turn looks at
   what every one of them waits for, and no turn waits. By induction on the row every wait ends; patience bounds it if memory fails.
   Same bits: the largest of some numbers, whatever order they arrive in.
*/
#include "pattern.cuh"

enum {
  BLOCK = 256,
  QUAD  = 4,
  LONG  = 64,     /* entries of a row that a thread takes on alone */
  TAIL  = 32,     /* what it takes on alone of a longer row, for the neighbours are here */
  SHARE = 8,      /* entries of a long row that each thread of the warp looks at in a turn */
  REST  = 32, REST_MOST = 256, /* ns between two looks of a warp that waits, at first and at most */
  ALL   = ~0
};

static __global__ void levels_clear(int rows, unsigned *word)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < rows) word[i] = 0;
}

/* The word of the row that is solved as the d-th, from where it is soonest. */
static __device__ __forceinline__ unsigned find(const Pattern &A, const unsigned *word, unsigned near, int first, int d)
{
  return d < first ? trsv_load(word + A.turn(d)) : trsv_shared_load<unsigned>(near + 4 * (unsigned)(d - first));
}

/* word[i] = 1 + the level of row i; *most: the largest of them. Of rows in turn so many are a block, whose entries within it do not count. */
static __global__ void __launch_bounds__(BLOCK, 6) levels_find(const Pattern A, int size, unsigned *word, unsigned *most, TrsvSync sync)
{
  TRSV_SHARED(unsigned, start, 2);
  const unsigned near = trsv_shared_address(), own = near + 4 * threadIdx.x, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) start[0] = trsv_ticket(sync, &start[1]);
  trsv_shared_store(own, 0u);
  __syncthreads();
  const int    first = (int)(start[0] * BLOCK), r = first + (int)threadIdx.x, step = A.lower ? 1 : -1;
  bool         done  = r >= A.rows;
  const int    row   = done ? 0 : A.turn(r), same = r - r % size; /* same: the first row of its block */
  int          left = done ? 0 : A.entries(row), next = done ? 0 : A.entry(row, 0); /* entries that nobody has looked at */
  int          wanted[QUAD] = {-1, -1, -1, -1};                                     /* rows that this one waits for, as they are solved */
  unsigned     level = 0, begin = 0, rest = REST;
  TrsvPatience patience;

  do {
    bool moved = false;

    /* one after the other, until one is not ready; the next turn begins behind it */
    for (unsigned asking = __ballot_sync((unsigned)ALL, left > LONG); asking;) {
      const unsigned behind = asking & ~0u << begin;
      const int      l = __ffs((int)(behind ? behind : asking)) - 1, from = __shfl_sync((unsigned)ALL, next, l), here = __shfl_sync((unsigned)ALL, same, l), n = min(__shfl_sync((unsigned)ALL, left, l) - TAIL, 32 * SHARE);
      unsigned       found[SHARE], largest = 0;
      bool           ready = true;

      asking &= ~(1u << l);

#pragma unroll
      for (int s = 0; s < SHARE; s++) {
        const int e = 32 * s + (int)lane, d = e < n ? A.turn(A.columns[from + step * e]) : -1;

        found[s] = d < 0 ? 1 : find(A, word, near, first, d);
        if (32 * s + (int)lane < n && found[s]) largest = max(largest, found[s] - (d >= here));
      }
#pragma unroll
      for (int s = 0; s < SHARE; s++) ready = ready && found[s];
      begin = ((unsigned)l + 1) % 32;
      if (!__all_sync((unsigned)ALL, ready)) break;
      for (int half = 16; half; half /= 2) largest = max(largest, __shfl_xor_sync((unsigned)ALL, largest, half));
      if ((int)lane == l) {
        level = max(level, largest);
        next += step * n;
        left -= n;
        moved = true;
      }
    }

    unsigned far[QUAD];
#pragma unroll
    for (int n = 0; n < QUAD; n++) far[n] = wanted[n] >= 0 && wanted[n] < first ? trsv_load(word + A.turn(wanted[n])) : 0;
#pragma unroll
    for (int n = 0; n < QUAD; n++)
      if (far[n]) {
        level     = max(level, far[n]);
        wanted[n] = -1;
        moved     = true;
      }

    bool again; /* as long as one thread of the warp gets on, those beside it may */
    do {
      again = false;
      if (!done && left <= LONG) {
        bool waits = false;

#pragma unroll
        for (int n = 0; n < QUAD; n++) {
          if (wanted[n] >= first) {
            const unsigned found = trsv_shared_load<unsigned>(near + 4 * (unsigned)(wanted[n] - first));

            if (found) level = max(level, found - (wanted[n] >= same)), wanted[n] = -1;
          }
          waits = waits || wanted[n] >= 0;
        }
        again = !waits;
        if (!waits && left) {
          const int take = min(left, (int)QUAD);

#pragma unroll
          for (int n = 0; n < QUAD; n++)
            if (n < take) wanted[n] = A.turn(A.columns[next + step * n]);
          next += step * take;
          left -= take;
        } else if (!waits) {
          trsv_shared_store(own, level + 1);
          trsv_store(word + row, level + 1);
          done = true;
        }
      }
      moved = moved || again;
    } while (__any_sync((unsigned)ALL, again));

    if (__any_sync((unsigned)ALL, moved)) {
      rest = REST;
      continue;
    }
    /* Nothing has changed: each looks at one word of another warp, less and less often, until one is there. A warp far from ready
       leaves the multiprocessor to those that are near. */
    const bool asks = __any_sync((unsigned)ALL, left > LONG); /* for what the next turn looks at */
    int        d    = -1;
    bool       more = true, there;

#pragma unroll
    for (int n = QUAD - 1; n >= 0; n--)
      if (wanted[n] >= 0 && wanted[n] < r - (int)lane) d = wanted[n];
    do {
      trsv_sleep(rest);
      rest  = min(2 * rest, (unsigned)REST_MOST);
      there = asks || (d >= 0 && find(A, word, near, first, d));
      if (left > LONG || (d >= 0 && !there)) more = patience.more(sync);
    } while (!__any_sync((unsigned)ALL, there || !more) && __any_sync((unsigned)ALL, d >= 0));
    if (!more) { /* it goes without */
      left = 0;
#pragma unroll
      for (int n = 0; n < QUAD; n++) wanted[n] = -1;
    }
  } while (!__all_sync((unsigned)ALL, done));

  unsigned largest = r < A.rows ? level + 1 : 0;
  for (int half = 16; half; half /= 2) largest = max(largest, __shfl_xor_sync((unsigned)ALL, largest, half));
  if (lane == 0) atomicMax(most, largest);
}

static __global__ void levels_count(int rows, int *order)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (i < rows) order[i] = i;
}

static unsigned Blocks(int n) { return ((unsigned)n + BLOCK - 1) / BLOCK; }

TrsvError TrsvDeviceBlockLevels(const TrsvMatrix *A, int block, unsigned *word, int *levels)
{
  enum {
    TICKET,
    GAVE_UP,
    TOLD,
    MOST,
    STATES
  };
  unsigned  state[STATES] = {0}, *room;
  TrsvSync  sync;
  TrsvError error;

  *levels = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceStage(state, sizeof(state), &room, NULL));
  sync.ticket   = room + TICKET;
  sync.gave_up  = room + GAVE_UP;
  sync.told     = room + TOLD; /* nobody looks before the launch is over */
  sync.patience = TrsvPatienceLimit();
  TRSV_LAUNCH(levels_clear, Blocks(A->rows), BLOCK, 0, (TrsvStream)NULL, A->rows, word);
  error = TrsvDeviceLaunched("levels_clear");
  if (!error) {
    TRSV_LAUNCH(levels_find, Blocks(A->rows), BLOCK, sizeof(unsigned) * BLOCK, (TrsvStream)NULL, Pattern(A), block, word, room + MOST, sync);
    error = TrsvDeviceLaunched("levels_find");
  }
  if (!error) error = TrsvDeviceDownload(state, room, sizeof(state), NULL);
  TrsvDeviceUnstage(room, NULL);
  if (!error && state[GAVE_UP]) return TrsvFail(TRSV_ERR_TIMEOUT, "the search for level sets waited longer than %g s for one row and gave up", 1e-9 * (double)sync.patience);
  *levels = (int)state[MOST];
  return error;
}

extern "C" TrsvError TrsvDeviceLevels(const TrsvMatrix *A, unsigned *word, int *levels) { return TrsvDeviceBlockLevels(A, 1, word, levels); }

extern "C" TrsvError TrsvDeviceByLevel(int rows, int levels, const unsigned *word, unsigned *sorted, int *order)
{
  int       bits = 1, *natural;
  TrsvError error;

  if (!rows) return TRSV_SUCCESS;
  while (bits < 31 && levels >> bits) bits++;
  TrsvCall(TrsvDeviceRoom(sizeof(int) * (size_t)rows, &natural, NULL));
  TRSV_LAUNCH(levels_count, Blocks(rows), BLOCK, 0, (TrsvStream)NULL, rows, natural);
  error = TrsvDeviceLaunched("levels_count");
  if (!error) error = TrsvDeviceSort(rows, bits, word, sorted, natural, order);
  TrsvDeviceUnstage(natural, NULL);
  return error;
}
