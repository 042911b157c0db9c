/*
   Who makes which row of a factorization: groups of lanes get their rows.

   Mapping: a thread for each row, position or group. None waits for another. Works in the default stream.
*/
#include "device/sync.cuh"
#include "factor/factor.h"

/* What decides about a row's lanes: its own entries, or what it depends on where that is more. */
static __device__ __forceinline__ int Size(bool icc, const int *l_offsets, const int *u_offsets, int i)
{
  const int l = l_offsets[i + 1] - l_offsets[i], u = u_offsets[i + 1] - u_offsets[i];

  return icc ? max(l, u) : l + u;
}

/* counts[c]: rows of more than 8, 16, 32, 64 entries */
static __global__ void slot_sizes(int n, bool icc, const int *l_offsets, const int *u_offsets, unsigned *counts,
                                  unsigned *longest)
{
  const int i = trsv_index();

  if (i >= n) return;
  const int size = Size(icc, l_offsets, u_offsets, i);

  for (int c = 0; c < FACTOR_SIZES && size > 4 * FACTOR_OWN << c; c++) atomicAdd(&counts[c], 1u);
  if (size > 32 * FACTOR_OWN) atomicMax(longest, (unsigned)size);
}

/* A row that takes a warp gets enough slots to have an aligned warp among them. */
static __global__ void slot_weights(int n, bool icc, int lanes, const int *order, const int *l_offsets,
                                    const int *u_offsets, int *weights, int *lengths)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int  i    = order[p], groups = 32 / lanes;
  const bool whole = Size(icc, l_offsets, u_offsets, i) > lanes * FACTOR_OWN;

  weights[p] = whole ? 2 * groups - 1 : 1;
  lengths[p] = whole ? (icc ? 0 : l_offsets[i + 1] - l_offsets[i]) + u_offsets[i + 1] - u_offsets[i] : 0;
}

static __global__ void slot_clear(int slots, int *slot)
{
  const int s = trsv_index();

  if (s < slots) slot[s] = FACTOR_EMPTY;
}

static __global__ void slot_assign(int n, int lanes, const int *order, const int *first, const int *at, int *slot,
                                   int *working)
{
  const int p = trsv_index();

  if (p >= n) return;
  const int groups = 32 / lanes, i = order[p];

  if (!first) slot[p] = i;
  else if (at[p + 1] == at[p]) slot[first[p]] = i;
  else
    for (int s = (first[p] + groups - 1) / groups * groups, end = s + groups; s < end; s++) {
      slot[s]    = ~i;
      working[s] = at[p];
    }
}

/* The fewest lanes that all but a few rows are short for: a long row costs its warp much time, lanes without an entry
   cost little. Where level sets are so narrow that every row of one can have a warp that is alone with its scheduler,
   each has one: nobody then waits for the others of its warp (Dubcova1 1.4 -> 0.84 ms, wave 2.9 -> 1.85; but 27 points
   on 80^3, 924 rows a level set, 2.7 -> 3.3). */
static TrsvError ChooseLanes(TrsvFactor *f, int *any_long)
{
  static const double schedulers = 4; /* of a multiprocessor */
  unsigned            counts[FACTOR_SIZES + 1] = {0}, *device;
  TrsvError           error;
  int                 c = 0, multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  const bool narrow = f->statistics.level_mean < schedulers * multiprocessors;
  TrsvCall(TrsvScratchUpload(counts, sizeof(counts), &device, NULL));
  TRSV_LAUNCH(slot_sizes, TrsvBlocks(f->rows, 256), 256, 0, (TrsvStream)NULL, f->rows, f->kind == TRSV_ICC,
              (const int *)f->l_offsets, (const int *)f->u_offsets, device, device + FACTOR_SIZES);
  error = TrsvDeviceCheckLaunch("slot_sizes");
  if (!error) error = TrsvDeviceDownload(counts, device, sizeof(counts), NULL);
  TrsvScratchFree(device, NULL);
  if (error) return error;
  while (c < FACTOR_SIZES - 1 &&
         (TrsvFactorForcedLanes ? 4 << c < TrsvFactorForcedLanes : narrow || counts[c] > (unsigned)(f->rows / 500)))
    c++;
  f->lanes_per_row   = 4 << c;
  f->longest_warp_row = (int)counts[FACTOR_SIZES];
  *any_long  = counts[c] > 0;
  return TRSV_SUCCESS;
}

/* Where long rows are: room[0]: weights and first slots, room[1]: lengths and where they stand in work. */
static TrsvError Spread(TrsvFactor *f, const int *order, int *room, int *work)
{
  const size_t n = (size_t)f->rows;
  int *const   weights = room, *const first = room + n, *const lengths = first + n + 1, *const at = lengths + n;

  TRSV_LAUNCH(slot_weights, TrsvBlocks(f->rows, 256), 256, 0, (TrsvStream)NULL, f->rows, f->kind == TRSV_ICC,
              f->lanes_per_row, order, (const int *)f->l_offsets, (const int *)f->u_offsets, weights, lengths);
  TrsvCall(TrsvDeviceCheckLaunch("slot_weights"));
  TrsvCall(TrsvDeviceScan(f->rows, weights, first));
  TrsvCall(TrsvDeviceScan(f->rows, lengths, at));
  TrsvCall(TrsvDeviceDownload(&f->groups, first + n, sizeof(int), NULL));
  TrsvCall(TrsvDeviceDownload(work, at + n, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->groups, &f->row_of_group));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->groups, &f->work_offset));
  TrsvCall(TrsvDeviceAlloc(TrsvValueSize(f->precision) * (size_t)*work, &f->work));
  TRSV_LAUNCH(slot_clear, TrsvBlocks(f->groups, 256), 256, 0, (TrsvStream)NULL, f->groups, f->row_of_group);
  TRSV_LAUNCH(slot_assign, TrsvBlocks(f->rows, 256), 256, 0, (TrsvStream)NULL, f->rows, f->lanes_per_row, order,
              (const int *)first, (const int *)at, f->row_of_group, f->work_offset);
  return TrsvDeviceCheckLaunch("slot_assign");
}

extern "C" TrsvError TrsvFactorSlots(TrsvFactor *f, const int *order)
{
  const size_t n = (size_t)f->rows;
  int          any_long, work = 0, *room;
  TrsvError    error;

  TrsvCall(ChooseLanes(f, &any_long));
  if (any_long) {
    TrsvCall(TrsvScratchAlloc(sizeof(int) * (4 * n + 2), &room, NULL));
    error = Spread(f, order, room, &work);
    TrsvScratchFree(room, NULL);
    if (error) return error;
  } else {
    f->groups = f->rows;
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * n, &f->row_of_group));
    TRSV_LAUNCH(slot_assign, TrsvBlocks(f->rows, 256), 256, 0, (TrsvStream)NULL, f->rows, f->lanes_per_row, order,
                (const int *)NULL, (const int *)NULL, f->row_of_group, (int *)NULL);
    TrsvCall(TrsvDeviceCheckLaunch("slot_assign"));
  }
  f->bytes += sizeof(int) * (f->work_offset ? 2 : 1) * (size_t)f->groups + TrsvValueSize(f->precision) * (size_t)work;
  return TRSV_SUCCESS;
}
