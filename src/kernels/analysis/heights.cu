/*
   Checks for the two triangles of a matrix whether the levels of one are the heights of the other.

   The height of a row is the length of its longest chain of dependents. If the pattern is symmetric, the dependents of
   a row in L are the dependencies of the same row in U: its height in L is its level in U, and the reverse. A schedule
   then needs no search for heights. The check uses the definition, not the pattern: the height of a row is greater than
   those of all its dependents, and, unless it is 0, exceeds that of one dependent by 1.

   Mapping: the threads of a block share the entries of its rows (rows_each); then a thread for each row. Memory order:
   launches in sequence; no launch reads what it writes. Why it ends: no thread waits. Same bits: results are integers.
*/
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"

/* level [rows]: the level of each row, in reverse order if turned. */
static __global__ void heights_levels(int rows, int levels, const int *start, const int *order, bool turned, int *level)
{
  const int n = trsv_index();

  if (n < rows) level[turned ? rows - 1 - order[n] : order[n]] = segment(start, levels, n);
}

/* attained [rows], zeros before: 1 if the height of the row exceeds that of a dependent by 1. */
static __global__ void heights_entries(const TriangleView A, const int *height, unsigned char *attained,
                                       unsigned *wrong)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(A.offsets, A.rows, first, start);
  bool      bad = false;

  rows_each(start, rows, [&](int m, int k) {
    const int j = A.columns[k], above = height[j] - height[first + m];

    if (j == first + m) return;
    bad = bad || above < 1;
    if (above == 1) attained[j] = 1;
  });
  if (bad) *wrong = 1;
}

static __global__ void heights_rows(int rows, const int *height, const unsigned char *attained, unsigned *wrong)
{
  const int i = trsv_index();

  if (i < rows && height[i] && !attained[i]) *wrong = 1;
}

TrsvError TrsvDeviceLevels(const TrsvAnalysis *a, int turned, int *level)
{
  return TrsvLaunchEach("heights_levels", heights_levels, a->statistics.rows, a->statistics.rows, a->statistics.levels,
                        a->levels, a->order, (bool)turned, level);
}

/* Scratch in device memory. */
struct HeightArrays {
  int           *height;      /* [rows] */
  unsigned      *wrong;       /* [2] */
  unsigned char *attained[2]; /* [rows] */
};

/* Checks whether the levels of `other` are the heights of A. */
static TrsvError CheckHeights(const TrsvMatrix *A, const TrsvAnalysis *other, const HeightArrays &h, int which)
{
  TrsvCall(TrsvDeviceLevels(other, 0, h.height));
  TrsvCall(TrsvLaunchEach("heights_entries", heights_entries, A->rows, TriangleView(A), h.height, h.attained[which],
                          h.wrong + which));
  return TrsvLaunchEach("heights_rows", heights_rows, A->rows, A->rows, h.height, h.attained[which], h.wrong + which);
}

TrsvError TrsvDeviceHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U,
                                         TrsvAnalysis *upper)
{
  const size_t   rows = (size_t)L->rows, clear = sizeof(unsigned) * 2 + 2 * rows;
  unsigned       wrong[2];
  unsigned char *scratch;
  TrsvError      error;

  TrsvCall(TrsvScratchAlloc(sizeof(int) * rows + clear, &scratch, NULL));
  const HeightArrays h = {
    (int *)scratch,
    (unsigned *)scratch + rows,
    {scratch + sizeof(int) * (rows + 2), scratch + sizeof(int) * (rows + 2) + rows}
  };
  error = TrsvDeviceClear(h.wrong, clear, NULL);
  if (!error) error = CheckHeights(L, upper, h, 0);
  if (!error) error = CheckHeights(U, lower, h, 1);
  if (!error) error = TrsvDeviceDownload(wrong, h.wrong, sizeof(wrong), NULL);
  TrsvScratchFree(scratch, NULL);
  TrsvCall(error);
  lower->heights = wrong[0] ? NULL : upper;
  upper->heights = wrong[1] ? NULL : lower;
  return TRSV_SUCCESS;
}
