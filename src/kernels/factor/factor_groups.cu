/*
   Assigns the rows of a factorization to groups of lanes.

   Mapping: a thread for each row, position or group. No thread waits for another. Works in the default stream.
*/
#include "device/setup.cuh"
#include "factor/factor.h"

/* The length that decides how many lanes a row gets: its entries, or for ICC its dependencies if they are more. */
static __device__ __forceinline__ int row_size(bool icc, const int *l_offsets, const int *u_offsets, int i)
{
  const int l = l_offsets[i + 1] - l_offsets[i], u = u_offsets[i + 1] - u_offsets[i];

  return icc ? max(l, u) : l + u;
}

/* counts[c]: rows of more than 8, 16, 32, 64 entries. */
static __global__ void groups_count(int n, bool icc, const int *l_offsets, const int *u_offsets, unsigned *counts,
                                    unsigned *longest)
{
  const int i = trsv_index();

  if (i >= n) return;
  const int size = row_size(icc, l_offsets, u_offsets, i);

  for (int c = 0; c < FACTOR_LANE_CHOICES && size > 4 * FACTOR_LANE_ENTRIES << c; c++) atomicAdd(&counts[c], 1u);
  if (size > 32 * FACTOR_LANE_ENTRIES) atomicMax(longest, (unsigned)size);
}

/* A row that needs a warp gets so many groups that an aligned warp is among them. */
static __global__ void groups_weights(int n, bool icc, int lanes, const int *order, const int *l_offsets,
                                      const int *u_offsets, int *weights, int *lengths)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int  i = order[p], groups = 32 / lanes;
  const bool whole = row_size(icc, l_offsets, u_offsets, i) > lanes * FACTOR_LANE_ENTRIES;

  weights[p] = whole ? 2 * groups - 1 : 1;
  lengths[p] = whole ? (icc ? 0 : l_offsets[i + 1] - l_offsets[i]) + u_offsets[i + 1] - u_offsets[i] : 0;
}

static __global__ void groups_clear(int groups, int *row_of_group)
{
  const int g = trsv_index();

  if (g < groups) row_of_group[g] = FACTOR_NO_ROW;
}

/* first: the first group of each position, or NULL if each has one; at: where the rows of whole warps start in work. */
static __global__ void groups_assign(int n, int lanes, const int *order, const int *first, const int *at,
                                     int *row_of_group, int *work_offset)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int groups = 32 / lanes, i = order[p];

  if (!first) row_of_group[p] = i;
  else if (at[p + 1] == at[p]) row_of_group[first[p]] = i;
  else
    for (int g = (first[p] + groups - 1) / groups * groups, end = g + groups; g < end; g++) {
      row_of_group[g] = ~i;
      work_offset[g]  = at[p];
    }
}

/* The fewest lanes for which at most one row in 500 is long: a long row takes its warp much time, lanes without entries
   take little. If level sets are so narrow that each of their rows can have a warp on a scheduler of its own, each row
   gets a warp: no row then waits for others of its warp (Dubcova1 1.4 -> 0.84 ms, wave 2.9 -> 1.85; but 27 points on
   80^3, 924 rows in a level set, 2.7 -> 3.3). */
static TrsvError ChooseLanes(TrsvFactor *f, int *any_long)
{
  static const double schedulers = 4; /* of a multiprocessor */
  unsigned            counts[FACTOR_LANE_CHOICES + 1] = {0}, *device;
  TrsvError           error;
  int                 c = 0, multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const bool narrow = f->statistics.level_mean < schedulers * multiprocessors;
  TrsvCall(TrsvScratchUpload(counts, sizeof(counts), &device, NULL));
  error = TrsvLaunchEach("groups_count", groups_count, f->rows, f->rows, f->kind == TRSV_ICC, f->l_offsets,
                         f->u_offsets, device, device + FACTOR_LANE_CHOICES);
  if (!error) error = TrsvDeviceDownload(counts, device, sizeof(counts), NULL);
  TrsvScratchFree(device, NULL);
  if (error) return error;
  while (c < FACTOR_LANE_CHOICES - 1 &&
         (TrsvFactorForcedLanes ? 4 << c < TrsvFactorForcedLanes : narrow || counts[c] > (unsigned)(f->rows / 500)))
    c++;
  f->lanes_per_row    = 4 << c;
  f->longest_warp_row = (int)counts[FACTOR_LANE_CHOICES];
  *any_long           = counts[c] > 0;
  return TRSV_SUCCESS;
}

/* Where some rows need a warp. scratch [4 rows + 2]; *work: entries of f->work. */
static TrsvError AssignWithLongRows(TrsvFactor *f, const int *order, int *scratch, int *work)
{
  const size_t n = (size_t)f->rows;
  int *const   weights = scratch, *const first = scratch + n, *const lengths = first + n + 1, *const at = lengths + n;

  TrsvCall(TrsvLaunchEach("groups_weights", groups_weights, n, f->rows, f->kind == TRSV_ICC, f->lanes_per_row, order,
                          f->l_offsets, f->u_offsets, weights, lengths));
  TrsvCall(TrsvDeviceScan(f->rows, weights, first));
  TrsvCall(TrsvDeviceScan(f->rows, lengths, at));
  TrsvCall(TrsvDeviceDownload(&f->groups, first + n, sizeof(int), NULL));
  TrsvCall(TrsvDeviceDownload(work, at + n, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->groups, &f->row_of_group));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->groups, &f->work_offset));
  TrsvCall(TrsvDeviceAlloc(TrsvValueSize(f->precision) * (size_t)*work, &f->work));
  TrsvCall(TrsvLaunchEach("groups_clear", groups_clear, f->groups, f->groups, f->row_of_group));
  return TrsvLaunchEach("groups_assign", groups_assign, n, f->rows, f->lanes_per_row, order, first, at,
                        f->row_of_group, f->work_offset);
}

extern "C" TrsvError TrsvFactorAssignGroups(TrsvFactor *f, const int *order)
{
  const size_t n = (size_t)f->rows;
  int          any_long, work = 0, *scratch;
  TrsvError    error;

  TrsvCall(ChooseLanes(f, &any_long));
  if (any_long) {
    TrsvCall(TrsvScratchAlloc(sizeof(int) * (4 * n + 2), &scratch, NULL));
    error = AssignWithLongRows(f, order, scratch, &work);
    TrsvScratchFree(scratch, NULL);
    if (error) return error;
  } else {
    f->groups = f->rows;
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * n, &f->row_of_group));
    TrsvCall(TrsvLaunchEach("groups_assign", groups_assign, n, f->rows, f->lanes_per_row, order, (const int *)NULL,
                            (const int *)NULL, f->row_of_group, (int *)NULL));
  }
  f->bytes += sizeof(int) * (f->work_offset ? 2 : 1) * (size_t)f->groups + TrsvValueSize(f->precision) * (size_t)work;
  return TRSV_SUCCESS;
}
