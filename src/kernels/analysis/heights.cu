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
