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

/* Launches the check whether the levels of each triangle are the heights of the other. */
static TrsvError LaunchChecks(const TrsvMatrix *L, const TrsvAnalysis *lower, const TrsvMatrix *U,
                              const TrsvAnalysis *upper, int *height, unsigned char *attained, unsigned wrong[2])
{
  const int         n        = L->rows;
  const HeightCheck check[2] = {{L->offsets, L->columns, height, attained, wrong},
                                {U->offsets, U->columns, height + n, attained + n, wrong + 1}};
  const dim3        grid(TrsvBlocks(n, ROWS_BLOCK), 2);

  TrsvCall(TrsvDeviceLevels(upper, 0, height));
  TrsvCall(TrsvDeviceLevels(lower, 0, height + n));
  TrsvCall(TrsvLaunch(heights_entries, grid, ROWS_BLOCK, 0, NULL, n, check[0], check[1]));
  return TrsvLaunch(heights_rows, grid, ROWS_BLOCK, 0, NULL, n, check[0], check[1]);
}

TrsvError TrsvHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper)
{
  const size_t rows = (size_t)L->rows, clear = sizeof(unsigned) * 2 + 2 * rows;
  unsigned     wrong[2];
  int         *scratch; /* heights [2 * rows], two words, attained [2 * rows] */
  TrsvError    error;

  if (L->memory == TRSV_HOST || min(lower->statistics.levels, upper->statistics.levels) <= TRSV_FEW_LEVELS)
    return TRSV_SUCCESS;
  error = TrsvScratchAlloc(2 * sizeof(int) * rows + clear, &scratch, NULL);
  unsigned *const words = (unsigned *)scratch + 2 * rows;

  if (!error) error = TrsvDeviceClear(words, clear, NULL);
  if (!error) error = LaunchChecks(L, lower, U, upper, scratch, (unsigned char *)(words + 2), words);
  if (!error) error = TrsvDeviceDownload(wrong, words, sizeof(wrong), NULL);
  TrsvScratchFree(scratch, NULL);
  if (error) return error == TRSV_ERR_MEMORY ? TRSV_SUCCESS : error; /* heights are optional */
  lower->heights = wrong[0] ? NULL : upper;
  upper->heights = wrong[1] ? NULL : lower;
  return TRSV_SUCCESS;
}
