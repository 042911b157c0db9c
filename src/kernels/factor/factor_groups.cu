/*
   Decides how rows are computed: by a thread each if only pivots depend on each other, else by a group of lanes each.

   Mapping: a thread for each row, position or group; a block compares two long rows. Memory order: launches in
   sequence; shared memory at barriers. Why it ends: no thread waits. Same bits: results are integers, and independent
   of the order of comparisons. Works in the default stream.
*/
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "factor/factor_rows.cuh"

enum {
  PAIRS             = (int)FACTOR_TERMS * (int)ROWS_BLOCK, /* a row and a dependency of it, in a block, at most */
  THREAD_SEARCH_MAX = 128                                  /* columns that one thread searches for in another row */
};

/* The length that decides how many lanes a row gets: its entries, or for ICC its dependencies if they are more. */
static TRSV_INLINE int row_size(bool icc, const int *l_offsets, const int *u_offsets, int i)
{
  const int l = l_offsets[i + 1] - l_offsets[i], u = u_offsets[i + 1] - u_offsets[i];

  return icc ? max(l, u) : l + u;
}

/* counts: rows of more than 8, 16, 32, 64 entries; last, the length of the longest row of more than 64. */
static __global__ void groups_count(int n, bool icc, const int *l_offsets, const int *u_offsets, unsigned *counts)
{
  const int i = trsv_index();

  if (i >= n) return;
  const int size = row_size(icc, l_offsets, u_offsets, i);

  for (int c = 0; c < FACTOR_LANE_CHOICES && size > 4 * LANE_ENTRIES << c; c++) atomicAdd(&counts[c], 1u);
  if (size > 32 * LANE_ENTRIES) atomicMax(&counts[FACTOR_LANE_CHOICES], (unsigned)size);
}

/* The number of groups of each row: one; or, if the row needs a warp, so many that they contain an aligned warp. */
static __global__ void groups_weights(int n, bool icc, int lanes, const int *order, const int *l_offsets,
                                      const int *u_offsets, int *weights, int *lengths)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int  i = order[p], groups = 32 / lanes;
  const bool whole = row_size(icc, l_offsets, u_offsets, i) > lanes * LANE_ENTRIES;

  weights[p] = whole ? 2 * groups - 1 : 1;
  lengths[p] = whole ? (icc ? 0 : l_offsets[i + 1] - l_offsets[i]) + u_offsets[i + 1] - u_offsets[i] : 0;
}

/* first: the first group of each position; at: the index in work of each position's row, if it needs a whole warp. */
static __global__ void groups_assign(int n, int lanes, const int *order, const int *first, const int *at,
                                     int *row_of_group, int *work_offset)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int  i = order[p], groups = 32 / lanes, warp = (first[p] + groups - 1) / groups * groups;
  const bool whole = at[p + 1] > at[p];

  for (int g = first[p]; g < first[p + 1]; g++) {
    row_of_group[g] = !whole ? i : g >= warp && g < warp + groups ? ~i : FACTOR_NO_ROW;
    work_offset[g]  = at[p];
  }
}

/* Chooses f->lanes_per_row: the fewest lanes for which at most one row in 500 is long. A long row takes much time, idle
   lanes take little. If level sets have fewer rows than the device has warp schedulers, each row gets a warp. A number
   that tests have set (tests/regroup.h) stays. *any_long: 1 if there is a long row. */
static TrsvError ChooseLanes(TrsvFactor *f, int *any_long)
{
  static const double schedulers = 4; /* of a multiprocessor */
  unsigned            counts[FACTOR_LANE_CHOICES + 1], *device;
  TrsvScratch         scratch;
  const int           given = f->lanes_per_row;
  int                 c = 0, multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const bool narrow = f->statistics.level_mean < schedulers * multiprocessors;
  TrsvCall(scratch.zeros(FACTOR_LANE_CHOICES + 1, device));
  TrsvCall(TrsvLaunchEach(groups_count, f->rows, f->rows, f->kind == TRSV_ICC, f->l_offsets, f->u_offsets, device));
  TrsvCall(TrsvDeviceDownload(counts, device, sizeof(counts), NULL));
  while (c < FACTOR_LANE_CHOICES - 1 && (given ? 4 << c < given : narrow || counts[c] > (unsigned)(f->rows / 500))) c++;
  f->lanes_per_row    = 4 << c;
  f->longest_warp_row = (int)counts[FACTOR_LANE_CHOICES];
  *any_long           = counts[c] > 0;
  return TRSV_SUCCESS;
}

/* Assigns groups if some rows need a warp. */
static TrsvError AssignWithLongRows(TrsvFactor *f, const int *order)
{
  const size_t n = (size_t)f->rows;
  TrsvScratch  scratch;
  int         *first, *at, found[2];

  TrsvCall(scratch.take(n + 1, first, n + 1, at));
  TrsvCall(TrsvLaunchEach(groups_weights, n, f->rows, f->kind == TRSV_ICC, f->lanes_per_row, order, f->l_offsets,
                          f->u_offsets, first + 1, at + 1));
  const TrsvScan   scan[] = {{f->rows, first + 1, first}, {f->rows, at + 1, at}};
  const int *const ends[] = {first + n, at + n};

  TrsvCall(TrsvDeviceScanAll(2, scan));
  TrsvCall(TrsvDeviceDownloadEach(found, ends, 2));
  f->groups = found[0];
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->groups, &f->row_of_group));
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->groups, &f->work_offset));
  TrsvCall(TrsvFactorAlloc(f, TrsvValueSize(f->precision), found[1], &f->work));
  return TrsvLaunchEach(groups_assign, n, f->rows, f->lanes_per_row, order, first, at, f->row_of_group, f->work_offset);
}

extern "C" TrsvError TrsvFactorAssignGroups(TrsvFactor *f, const int *order)
{
  int any_long = 0;

  if (!f->pivots) TrsvCall(ChooseLanes(f, &any_long));
  if (any_long) return AssignWithLongRows(f, order);
  f->groups = f->rows;
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->groups, &f->row_of_group));
  return TrsvDeviceCopy(f->row_of_group, order, sizeof(int) * (size_t)f->groups, NULL);
}

/* Row i, and the row k of U on which it depends: the entries of both that may have the same columns. */
struct RowPair {
  int i, l, l_count, u, count; /* of row i: the first entry of L, and their number; the first of U; the number of all */
  int begin, end;              /* of row k */

  TRSV_INLINE RowPair(int i, int k, bool icc, const int *l_offsets, const int *u_offsets)
      : i(i), l(icc ? l_offsets[i + 1] : l_offsets[i]), l_count(l_offsets[i + 1] - l), u(u_offsets[i] + 1),
        count(l_count + u_offsets[i + 1] - u), begin(u_offsets[k] + 1), end(u_offsets[k + 1])
  {
  }

  TRSV_INLINE int shorter() const { return min(count, end - begin); }
};

/* Returns true if both rows have a column in common, other than i. Searches the longer row for entries first,
   first + step, ... of the shorter one; otherwise each row that depends on a long one would read all of it. */
static __device__ bool pivots_intersect(const RowPair m, const int *l_columns, const int *u_columns, int first,
                                        int step)
{
  for (int t = first; t < m.shorter(); t += step) {
    if (m.end - m.begin <= m.count) {
      const int column = u_columns[m.begin + t];

      if (column != m.i && (column < m.i ? factor_search(l_columns, m.l, m.l + m.l_count, column)
                                         : factor_search(u_columns, m.u, m.u + m.count - m.l_count, column)) >= 0)
        return true;
    } else if (factor_search(u_columns, m.begin, m.end,
                             t < m.l_count ? l_columns[m.l + t] : u_columns[m.u + t - m.l_count]) >= 0)
      return true;
  }
  return false;
}

/* Checks the pattern, a thread for each row; the whole block compares two long rows. Sets mirror_offset if not NULL.
   found[0]: 1 if a row shares a column with one that it depends on; found[1]: 1 if an entry of L has no mirror image in
   U, or one too far from the diagonal. */
static __global__ void pivots_pattern(int n, bool icc, const int *l_offsets, const int *l_columns, const int *u_offsets,
                                      const int *u_columns, unsigned char *mirror_offset, unsigned *found)
{
  TRSV_SHARED(int, later, PAIRS); /* pairs of long rows: the row, and the one it depends on */
  TRSV_SHARED(int, earlier, PAIRS);
  TRSV_SHARED(int, pairs, 1);
  const int i    = (int)(blockIdx.x * ROWS_BLOCK + threadIdx.x);
  bool      meet = false, alone = false;

  if (threadIdx.x == 0) pairs[0] = 0;
  __syncthreads();
  for (int k = i < n ? l_offsets[i] : 0, end = i < n ? l_offsets[i + 1] : 0; k < end; k++) {
    const RowPair m(i, l_columns[k], icc, l_offsets, u_offsets);
    const int     at = mirror_offset ? factor_search(u_columns, m.begin, m.end, i) - (m.begin - 1) : 0;

    if (mirror_offset && at > 0 && at <= UCHAR_MAX) mirror_offset[k] = (unsigned char)at;
    else if (mirror_offset) alone = true;
    if (m.shorter() > THREAD_SEARCH_MAX) {
      const int pair = atomicAdd(&pairs[0], 1);

      later[pair]   = i;
      earlier[pair] = l_columns[k];
    } else meet = pivots_intersect(m, l_columns, u_columns, 0, 1) || meet;
  }
  __syncthreads();
  for (int pair = 0, all = pairs[0]; pair < all; pair++)
    meet = pivots_intersect(RowPair(later[pair], earlier[pair], icc, l_offsets, u_offsets), l_columns, u_columns,
                            (int)threadIdx.x, ROWS_BLOCK) ||
           meet;
  if (meet) atomicMax(&found[0], 1u);
  if (alone) atomicMax(&found[1], 1u);
}

extern "C" TrsvError TrsvFactorCheckPattern(TrsvFactor *f)
{
  TrsvScratch scratch;
  unsigned    found[2], *words; /* see pivots_pattern */

  if (f->statistics.row_max > FACTOR_TERMS + 1) return TRSV_SUCCESS;
  if (f->kind == TRSV_ILU && f->upper - f->rows == f->lower)
    TrsvCall(TrsvFactorAlloc(f, 1, f->lower, &f->mirror_offset));
  TrsvCall(scratch.zeros(2, words));
  TrsvCall(TrsvLaunchEach(pivots_pattern, f->rows, f->rows, f->kind == TRSV_ICC, f->l_offsets, f->l_columns,
                          f->u_offsets, f->u_columns, f->mirror_offset, words));
  TrsvCall(TrsvDeviceDownload(found, words, sizeof(found), NULL));
  if (found[0] || found[1]) TrsvFactorFree(f, 1, f->lower, &f->mirror_offset);
  f->pivots        = !found[0];
  f->lanes_per_row = f->pivots;
  return TRSV_SUCCESS;
}
