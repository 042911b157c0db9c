/*
   The pattern of P A P^T, columns rising in every row, and the index in A of each of its values, so that one gather
   copies new values.

   Mapping: a group of lanes for each row of the pattern: each lane finds the place of an entry by counting the smaller
   columns, which it gets by shuffle. If a row is too long for that, all entries are sorted by column and then, stably,
   by row. A thread for each value. Memory order: shuffles, and atomics on two words that the host reads. Why it ends:
   no thread waits. Same bits: integers and copies.
*/
#include "device/setup.cuh"
#include "factor/factor.h"

enum {
  COUNT_MAX = 256 /* entries of a row whose places are found by counting */
};

static __global__ void permute_position(int n, const int *order, int *position)
{
  const int p = trsv_index();

  if (p < n && order[p] >= 0 && order[p] < n) position[order[p]] = p;
}

/* The length of each row in its new position. words: the longest length; 1 if order is not a permutation. Each row of
   the order has a position. */
static __global__ void permute_lengths(int n, const int *order, const int *position, const int *offsets, int *lengths,
                                       unsigned *words)
{
  const int  p = trsv_index(), row = p < n ? order[p] : -1;
  const bool sound = row >= 0 && row < n && position[row] == p; /* false in one of the positions of a repeated row */
  unsigned   length = 0;

  if (p < n) lengths[p] = (int)(length = sound ? (unsigned)(offsets[row + 1] - offsets[row]) : 0);
  length = trsv_warp_max(length);
  if (threadIdx.x % 32 == 0) atomicMax(words, length);
  if (p < n && !sound) atomicMax(words + 1, 1u);
}

template <int S> static __global__ void permute_rows(int n, const int *order, const int *position, const int *offsets,
                                                     const int *columns, const int *to_offsets, int *to_columns,
                                                     int *source)
{
  const int      p = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) / S), lane = (int)(threadIdx.x % S);
  const unsigned mask = S == 32 ? 0xffffffffu : ((1u << (S % 32)) - 1) << (threadIdx.x % 32 / S * S);

  if (p >= n) return; /* the whole group */
  const int  begin = offsets[order[p]], length = offsets[order[p] + 1] - begin;
  const auto key = [&](int base) { return base + lane < length ? position[columns[begin + base + lane]] : INT_MAX; };

  for (int base = 0; base < length; base += S) {
    const int own = key(base);
    int       rank = 0;

    for (int other = 0; other < length; other += S) {
      const int theirs = other == base ? own : key(other);

#pragma unroll
      for (int s = 0; s < S; s++) rank += __shfl_sync(mask, theirs, s, S) < own;
    }
    if (base + lane < length) {
      to_columns[to_offsets[p] + rank] = own;
      source[to_offsets[p] + rank]     = begin + base + lane;
    }
  }
}

/* The new column of each entry, as a key, and its number. */
static __global__ void permute_by_column(int entries, const int *position, const int *columns, unsigned *keys,
                                         int *entry)
{
  const int k = trsv_index();

  if (k >= entries) return;
  keys[k]  = (unsigned)position[columns[k]];
  entry[k] = k;
}

static __global__ void permute_by_row(int entries, int n, const int *position, const int *offsets, const int *entry,
                                      unsigned *keys)
{
  const int k = trsv_index();

  if (k >= entries) return;
  const int row = trsv_first(0, n - 1, [&](int i) { return offsets[i + 1] > entry[k]; }); /* of the entry */
  keys[k] = (unsigned)position[row];
}

static __global__ void permute_columns(int entries, const int *position, const int *columns, const int *source,
                                       int *to_columns)
{
  const int k = trsv_index();

  if (k < entries) to_columns[k] = position[columns[source[k]]];
}

static TrsvError SortEntries(const TrsvFactor *f, const int *offsets, const int *columns, const int *position,
                             int *to_columns)
{
  const int    n = f->rows, entries = f->entries;
  const size_t all = (size_t)entries;
  TrsvScratch  scratch;
  unsigned    *keys, *sorted;
  int         *entry, *by_column;

  TrsvCall(scratch.take(all, keys, all, sorted, all, entry, all, by_column));
  TrsvCall(TrsvLaunchEach(permute_by_column, entries, entries, position, columns, keys, entry));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, entry, by_column));
  TrsvCall(TrsvLaunchEach(permute_by_row, entries, entries, n, position, offsets, by_column, keys));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, by_column, f->source));
  return TrsvLaunchEach(permute_columns, entries, entries, position, columns, f->source, to_columns);
}

static TrsvError PermutePattern(TrsvFactor *f, const int *offsets, const int *columns, int *to_offsets,
                                int *to_columns)
{
  const int    n = f->rows;
  const size_t rows = (size_t)n;
  TrsvScratch  scratch, report;
  int         *position, *lengths;
  unsigned     found[2], *words; /* see permute_lengths */

  TrsvCall(scratch.take(rows, position, rows, lengths));
  TrsvCall(report.zeros(2, words));
  TrsvCall(TrsvLaunchEach(permute_position, rows, n, f->order, position));
  TrsvCall(TrsvLaunchEach(permute_lengths, rows, n, f->order, position, offsets, lengths, words));
  TrsvCall(TrsvDeviceDownload(found, words, sizeof(found), NULL));
  if (found[1]) return TrsvFail(TRSV_ERR_ARGUMENT, "the order of the rows is not a permutation of them");
  TrsvCall(TrsvDeviceScan(n, lengths, to_offsets));
  if (found[0] > COUNT_MAX) return SortEntries(f, offsets, columns, position, to_columns);
  const int lanes = found[0] <= 8 ? 8 : 32;
  return TrsvLaunchEach(lanes == 8 ? permute_rows<8> : permute_rows<32>, (size_t)lanes * rows, n, f->order, position,
                        offsets, columns, to_offsets, to_columns, f->source);
}

extern "C" TrsvError TrsvFactorPermute(TrsvFactor *f, const int *order, TrsvMemory memory, const int **offsets,
                                       const int **columns, void **pattern)
{
  const size_t rows = (size_t)f->rows, entries = (size_t)f->entries;
  int         *to_offsets, *to_columns;

  TrsvCall(TrsvCopyNew(TRSV_DEVICE, memory, order, sizeof(int) * rows, &f->order));
  f->bytes += sizeof(int) * rows;
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->entries, &f->source));
  TrsvCall(TrsvScratchArrays(pattern, rows + 1, to_offsets, entries, to_columns));
  TrsvCall(PermutePattern(f, *offsets, *columns, to_offsets, to_columns));
  *offsets = to_offsets;
  *columns = to_columns;
  return TRSV_SUCCESS;
}
