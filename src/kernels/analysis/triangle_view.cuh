/*
   triangle_view.cuh: a triangle on the device in the order of its solution: position r is row r of a lower triangle and
   row rows - 1 - r of an upper one, and depends only on smaller positions. Entries off the diagonal are numbered from
   the farthest, which is ready first, to the nearest. Also loops over the entries of a block's rows.
*/
#ifndef TRSV_TRIANGLE_VIEW_CUH
#define TRSV_TRIANGLE_VIEW_CUH

#include <limits.h>
#include "analysis/analysis.h"
#include "device/sync.cuh"

struct TriangleView {
  int        rows;
  bool       lower, stored;
  const int *offsets, *columns;

  TriangleView() = default;
  TriangleView(const TrsvMatrix *A)
      : rows(A->rows), lower(A->triangle == TRSV_LOWER), stored(A->diagonal == TRSV_DIAGONAL_STORED),
        offsets(A->offsets), columns(A->columns)
  {
  }

  /* The row of a position, and the position of a row; the position of the column of entry k. */
  TRSV_INLINE int row_of(int r) const { return lower ? r : rows - 1 - r; }
  TRSV_INLINE int position(int k) const { return row_of(columns[k]); }

  /* Of row i: the number of entries off the diagonal; the least index of them; the index of the n-th of them; the index
     of the diagonal. */
  TRSV_INLINE int entries(int i) const { return offsets[i + 1] - offsets[i] - stored; }
  TRSV_INLINE int least(int i) const { return offsets[i] + (stored && !lower); }
  TRSV_INLINE int entry(int i, int n) const { return lower ? offsets[i] + n : offsets[i + 1] - 1 - n; }
  TRSV_INLINE int diagonal(int i) const { return lower ? offsets[i + 1] - 1 : offsets[i]; }

  /* The number of entries off the diagonal at positions before r. */
  TRSV_INLINE int before(int r) const
  { return (lower ? offsets[r] : offsets[rows] - offsets[rows - r]) - (stored ? r : 0); }
};

/* The result of a search for level sets (levels.cu), in device memory; zeros before the search. */
struct TrsvSearch {
  unsigned state[TRSV_STATES]; /* shared by its blocks */
  unsigned levels, widest;     /* the number of level sets, and the rows of the largest */
};

/* A search of a valid triangle. Dependencies within a block of `size` consecutive positions (a power of two up to 256)
   add no level. words [rows], zeros before, become 1 + the level of each row. counts [rows], zeros before, become the
   rows of each level; with NULL, widest is not found. If *wrong is not 0, the kernel does nothing. */
struct TrsvLevelSearch {
  const TrsvMatrix *A;
  int               size; /* 1: each dependency adds a level */
  const unsigned   *wrong; /* or NULL */
  unsigned         *words, *counts;
  TrsvSearch       *found;
};

#define TRSV_LEVEL_SEARCH "the search for level sets" /* in messages */

/* Searches up to three triangles with the same number of rows, in one launch in the default stream. The caller checks
   found by TrsvSyncCheck(found->state, TRSV_LEVEL_SEARCH). */
TrsvError TrsvSearchLevels(int searches, const TrsvLevelSearch search[]);

/* The number of level sets for blocks of this size; with 2 or 3 searches, also for blocks of size / 2 and size / 4, in
   the same launch. word [searches][rows], levels [searches]. */
TrsvError TrsvDeviceBlockLevels(const TrsvMatrix *, int size, int searches, unsigned *word, int *levels);

/* Which of n segments with rising starts holds k: the last m in [0, n) with starts[m] <= k; starts[0] <= k. */
static TRSV_INLINE int segment(const int *starts, int n, int k)
{
  return trsv_first(1, n, [&](int m) { return starts[m] > k; }) - 1;
}

/* Calls each(entry) for all of [begin, end), 0 <= begin, by the threads of a block in turn. Unsigned, because begin +
   THREADS may exceed INT_MAX. */
template <int THREADS, class Each> static TRSV_INLINE void entries_each(int begin, int end, Each each)
{
  for (unsigned next = (unsigned)begin + threadIdx.x; next < (unsigned)end; next += THREADS) each((int)next);
}

/* Threads, and rows, of a block whose threads share the entries of its rows. */
enum { ROWS_BLOCK = 256 };

/* Loads the offsets of a block's rows, from row `first` of n, into start [ROWS_BLOCK + 1] in shared memory, and INT_MAX
   after the last. All threads may read them afterwards. Returns the number of rows. */
static TRSV_INLINE int rows_load(const int *offsets, int n, int first, int *start)
{
  const int rows = min((int)ROWS_BLOCK, n - first);

  for (int m = (int)threadIdx.x; m <= ROWS_BLOCK; m += ROWS_BLOCK) start[m] = m <= rows ? offsets[first + m] : INT_MAX;
  __syncthreads();
  return rows;
}

/* The number of these rows before the first one with invalid offsets. Only they may be read, if there are any: cuts
   start after them. falls: a word in shared memory. */
static TRSV_INLINE int rows_sound(int *start, int rows, int entries, unsigned *falls)
{
  const int t = (int)threadIdx.x;

  if (t == 0) *falls = (unsigned)rows;
  __syncthreads();
  if (t < rows && (start[t] < 0 || start[t] > start[t + 1] || start[t + 1] > entries)) atomicMin(falls, (unsigned)t);
  __syncthreads();
  const int sound = (int)*falls;
  if (t >= sound) start[t + 1] = INT_MAX;
  __syncthreads();
  return sound;
}

/* Calls each(row, entry) for all entries of the first `rows` of these rows. The threads take entries in turn, so a long
   row does not delay one thread. start does not fall over these rows, and after them exceeds their entries. */
template <class Each> static TRSV_INLINE void rows_each(const int *start, int rows, Each each)
{
  for (unsigned next = (unsigned)start[0] + threadIdx.x, end = (unsigned)start[rows]; next < end;
       next += ROWS_BLOCK) { /* unsigned: it may exceed INT_MAX */
    const int k = (int)next;
    int       m = 0; /* segment(start, rows, k), unrolled */

#pragma unroll
    for (int half = ROWS_BLOCK / 2; half; half /= 2)
      if (start[m + half] <= k) m += half;
    each(m, k);
  }
}

#endif
