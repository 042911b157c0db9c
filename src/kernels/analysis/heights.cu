/*
   The two triangles of one matrix: are the level sets of the one the heights of the other?

   The height of a row is the length of the longest chain of dependents behind it. Where the pattern is symmetric the
   dependents of a row in L are what the same row of U depends on, so that its height in L is its level in U, and the
   other way round; schedules (chunk_heights.cu) then need no search for
   heights. What is looked at is not the pattern but
   what makes them heights: each row's is greater than those of all its dependents, and, but where it is 0, that of one
   of them by no more than 1.

   Mapping: a block's threads walk through the entries of its rows side by side (rows_each); then a thread for each row.
   Memory order: launches follow each other; within one only marks are written, which none of its threads reads.
*/
#include "analysis/triangle_view.cuh"

/* level [rows]: that of each row, or, turned, of each from the last to the first */
static __global__ void heights_levels(int rows, int levels, const int *start, const int *order, bool turned, int *level)
{
  const int n = trsv_index();

  if (n < rows) level[turned ? rows - 1 - order[n] : order[n]] = segment(start, levels, n);
}

/* attained [rows]: has a dependent of the row the height below? */
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
  TRSV_LAUNCH(heights_levels, TrsvBlocks(a->statistics.rows, ROWS_BLOCK), ROWS_BLOCK, 0, (TrsvStream)NULL,
              a->statistics.rows, a->statistics.levels, (const int *)a->levels, (const int *)a->order, (bool)turned,
              level);
  return TrsvDeviceCheckLaunch("heights_levels");
}

/* What the look takes, in device memory. */
struct Room {
  int           *height;      /* [rows] */
  unsigned      *wrong;       /* [2] */
  unsigned char *attained[2]; /* [rows] */
};

static TrsvError Look(const TrsvMatrix *A, const TrsvAnalysis *other, const Room &r, int which)
{
  TrsvCall(TrsvDeviceLevels(other, 0, r.height));
  TRSV_LAUNCH(heights_entries, TrsvBlocks(A->rows, ROWS_BLOCK), ROWS_BLOCK, 0, (TrsvStream)NULL, TriangleView(A),
              (const int *)r.height, r.attained[which], r.wrong + which);
  TrsvCall(TrsvDeviceCheckLaunch("heights_entries"));
  TRSV_LAUNCH(heights_rows, TrsvBlocks(A->rows, ROWS_BLOCK), ROWS_BLOCK, 0, (TrsvStream)NULL, A->rows,
              (const int *)r.height, (const unsigned char *)r.attained[which], r.wrong + which);
  return TrsvDeviceCheckLaunch("heights_rows");
}

TrsvError TrsvDeviceHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U,
                                         TrsvAnalysis *upper)
{
  const size_t   rows = (size_t)L->rows, clear = sizeof(unsigned) * 2 + 2 * rows;
  unsigned       wrong[2];
  unsigned char *room;
  TrsvError      error;

  TrsvCall(TrsvScratchAlloc(sizeof(int) * rows + clear, &room, NULL));
  const Room r = {
    (int *)room, (unsigned *)room + rows, {room + sizeof(int) * (rows + 2), room + sizeof(int) * (rows + 2) + rows}
  };
  error = TrsvDeviceClear(r.wrong, clear, NULL);
  if (!error) error = Look(L, upper, r, 0);
  if (!error) error = Look(U, lower, r, 1);
  if (!error) error = TrsvDeviceDownload(wrong, r.wrong, sizeof(wrong), NULL);
  TrsvScratchFree(room, NULL);
  TrsvCall(error);
  lower->heights = wrong[0] ? NULL : upper;
  upper->heights = wrong[1] ? NULL : lower;
  return TRSV_SUCCESS;
}
