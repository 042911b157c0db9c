/*
   triangle_view.cuh: a triangle on the device, seen by kernels in the order of its solution: the r-th row to be solved
   is row r of a lower triangle and row rows - 1 - r of an upper one, and depends on smaller r only. Its entries off the
   diagonal are counted from the farthest, which are ready first, to the nearest.
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

  TriangleView(const TrsvMatrix *A)
      : rows(A->rows), lower(A->triangle == TRSV_LOWER), stored(A->diagonal == TRSV_DIAGONAL_STORED),
        offsets(A->offsets), columns(A->columns)
  {
  }

  /* From the r-th row solved to the row of the matrix, and back. */
  __device__ __forceinline__ int row_of(int r) const { return lower ? r : rows - 1 - r; }

  /* Of row i: how many entries are off the diagonal; the n-th of them; the diagonal's */
  __device__ __forceinline__ int entries(int i) const { return offsets[i + 1] - offsets[i] - stored; }
  __device__ __forceinline__ int entry(int i, int n) const { return lower ? offsets[i] + n : offsets[i + 1] - 1 - n; }
  __device__ __forceinline__ int diagonal(int i) const { return lower ? offsets[i + 1] - 1 : offsets[i]; }

  /* How many entries off the diagonal the rows solved before the r-th have. */
  __device__ __forceinline__ int before(int r) const
  { return (lower ? offsets[r] : offsets[rows] - offsets[rows - r]) - (stored ? r : 0); }
};

/* What a search for level sets finds: levels.cu. In device memory, all zeros before it. */
struct TrsvSearch {
  unsigned state[3]; /* what its blocks share */
  unsigned levels, widest; /* how many level sets there are, and rows in the largest */
};

/* Searches a sound triangle, in the default stream. word [rows], zeros at first, becomes 1 + the level of each row.
   count [rows], zeros at first: rows by level; where it is NULL the largest level set is not found. Nothing happens
   where *wrong, if not NULL, is not 0. */
TrsvError TrsvSearchLevels(const TrsvMatrix *, const unsigned *wrong, unsigned *word, unsigned *count, TrsvSearch *);

/* Of what is found, on the host: has no wait been given up? */
TrsvError TrsvSearchEnded(const TrsvSearch *);

/* From the words: order [rows] becomes the rows by level, rising within one, and sorted [rows], where there is more
   than one level, their words. natural [rows]: 0, 1, ... */
TrsvError TrsvSortLevels(int rows, int levels, const unsigned *word, unsigned *sorted, const int *natural, int *order);

/* The whole search, where entries between rows of a block, so many solved in turn (a power of two up to 256), take no
   level; in the same launch for blocks of half that size, and of half of that: searches are for up to 3 sizes. word
   [searches][rows], levels [searches]. */
TrsvError TrsvDeviceBlockLevels(const TrsvMatrix *, int size, int searches, unsigned *word, int *levels);

/* The last m in [0, n) with starts[m] <= k, for rising starts and starts[0] <= k: which of n segments holds k. */
static __device__ __forceinline__ int segment(const int *starts, int n, int k)
{
  return trsv_first(1, n, [&](int m) { return starts[m] > k; }) - 1;
}

/* Calls each(entry) for all from begin on and before end, which is none below 0: a block's so many threads take them in
   turn. Counted without sign, as what comes behind the last may be beyond INT_MAX. */
template <int THREADS, class Each> static __device__ __forceinline__ void entries_each(int begin, int end, Each each)
{
  for (unsigned next = (unsigned)begin + threadIdx.x; next < (unsigned)end; next += THREADS) each((int)next);
}

enum {
  ROWS_BLOCK = 256 /* threads, and rows, of a block that goes through the entries of rows side by side */
};

/* For a block's rows, `first` onwards of n, where the entries of each start, and where those of the last end: to start
   [ROWS_BLOCK + 1] in shared memory, which is there for all threads. Returns how many rows these are. */
static __device__ __forceinline__ int rows_load(const int *offsets, int n, int first, int *start)
{
  const int rows = min((int)ROWS_BLOCK, n - first);

  for (int m = (int)threadIdx.x; m <= ROWS_BLOCK; m += ROWS_BLOCK) start[m] = m <= rows ? offsets[first + m] : INT_MAX;
  __syncthreads();
  return rows;
}

/* Calls each(row, entry) for all entries of the first so many of these rows, whose offsets do not fall: the threads
   take them in turn, whatever row they are of, so that long rows are nobody's own. What is in start behind the end of
   these rows is greater than any entry. */
template <class Each> static __device__ __forceinline__ void rows_each(const int *start, int rows, Each each)
{
  for (unsigned next = (unsigned)start[0] + threadIdx.x, end = (unsigned)start[rows]; next < end;
       next += ROWS_BLOCK) { /* unsigned: it may go beyond INT_MAX */
    const int k = (int)next;
    int       m = 0; /* the last row that starts no later: as segment() */

#pragma unroll
    for (int half = ROWS_BLOCK / 2; half; half /= 2)
      if (start[m + half] <= k) m += half;
    each(m, k);
  }
}

#endif
