/*
   A matrix in another order, for a factorization on the device: P A P^T's pattern, columns rising in every row, and
   where in A each of its values stands, so that new values cost one gather.

   Mapping: for the pattern a group of lanes takes a row: each lane finds the place of an entry by counting those before
   it, which come by shuffle. With a row too long for that in the matrix, entries are sorted by column and then, stably,
   by row. A thread for each value. Memory order: nothing crosses threads but by shuffles, and one counter, by atomics.
   No thread waits for another.
*/
#include "device/sync.cuh"
#include "factor/factor.h"

enum {
  BLOCK   = 256,
  COUNTED = 256 /* entries of a row, at most, whose places are counted */
};

static __global__ void permute_clear(int n, int *position)
{
  const int i = trsv_index();

  if (i < n) position[i] = -1;
}

static __global__ void permute_position(int n, const int *order, int *position)
{
  const int p = trsv_index();

  if (p < n && order[p] >= 0 && order[p] < n) position[order[p]] = p;
}

/* Lengths of the rows where they go, and of the longest; words: that, and whether the order is none. */
static __global__ void permute_lengths(int n, const int *order, const int *position, const int *offsets, int *lengths,
                                       unsigned *words)
{
  const int  p = trsv_index(), row = p < n ? order[p] : -1;
  const bool sound =
    row >= 0 && row < n && position[row] == p; /* false for who was overwritten: a row that comes twice */
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

/* Entries by column: keys, and the entries themselves. */
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
  const int row = trsv_first(0, n - 1, [&](int i) { return offsets[i + 1] > entry[k]; }); /* that holds the entry */
  keys[k] = (unsigned)position[row];
}

static __global__ void permute_columns(int entries, const int *position, const int *columns, const int *source,
                                       int *to_columns)
{
  const int k = trsv_index();

  if (k < entries) to_columns[k] = position[columns[source[k]]];
}

template <class T> static __global__ void permute_values(int entries, const int *source, const T *from, T *to)
{
  const int k = trsv_index();

  if (k < entries) to[k] = from[source[k]];
}

/* room [4 * entries] */
static TrsvError Sorted(const TrsvFactor *f, const int *offsets, const int *columns, const int *position, int *room,
                        int *to_columns)
{
  const int       n = f->rows, entries = f->entries;
  unsigned *const keys = (unsigned *)room, *const sorted = keys + entries;
  int *const      entry = room + 2 * (size_t)entries, *const by_column = entry + entries;

  TRSV_LAUNCH(permute_by_column, TrsvBlocks(entries, BLOCK), BLOCK, 0, (TrsvStream)NULL, entries, position, columns,
              keys, entry);
  TrsvCall(TrsvDeviceCheckLaunch("permute_by_column"));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, entry, by_column));
  TRSV_LAUNCH(permute_by_row, TrsvBlocks(entries, BLOCK), BLOCK, 0, (TrsvStream)NULL, entries, n, position, offsets,
              (const int *)by_column, keys);
  TrsvCall(TrsvDeviceCheckLaunch("permute_by_row"));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, by_column, f->source));
  TRSV_LAUNCH(permute_columns, TrsvBlocks(entries, BLOCK), BLOCK, 0, (TrsvStream)NULL, entries, position, columns,
              (const int *)f->source, to_columns);
  return TrsvDeviceCheckLaunch("permute_columns");
}

/* room [2 * rows]: positions and lengths; words: see permute_lengths */
static TrsvError TriangleView(TrsvFactor *f, const int *offsets, const int *columns, int *room, unsigned *words,
                              int *to_offsets, int *to_columns)
{
  const int  n = f->rows;
  const long lanes = 8;
  int *const position = room, *const lengths = room + n;
  unsigned   found[2];
  int       *more;
  TrsvError  error;

  TRSV_LAUNCH(permute_clear, TrsvBlocks(n, BLOCK), BLOCK, 0, (TrsvStream)NULL, n, position);
  TRSV_LAUNCH(permute_position, TrsvBlocks(n, BLOCK), BLOCK, 0, (TrsvStream)NULL, n, (const int *)f->order, position);
  TRSV_LAUNCH(permute_lengths, TrsvBlocks(n, BLOCK), BLOCK, 0, (TrsvStream)NULL, n, (const int *)f->order,
              (const int *)position, offsets, lengths, words);
  TrsvCall(TrsvDeviceCheckLaunch("permute_lengths"));
  TrsvCall(TrsvDeviceDownload(found, words, sizeof(found), NULL));
  if (found[1]) return TrsvFail(TRSV_ERR_ARGUMENT, "the order of the rows is not a permutation of them");
  TrsvCall(TrsvDeviceScan(n, lengths, to_offsets));
  if (found[0] <= (unsigned)lanes)
    TRSV_LAUNCH((permute_rows<8>), TrsvBlocks(lanes * n, BLOCK), BLOCK, 0, (TrsvStream)NULL, n, (const int *)f->order,
                (const int *)position, offsets, columns, (const int *)to_offsets, to_columns, f->source);
  else if (found[0] <= COUNTED)
    TRSV_LAUNCH((permute_rows<32>), TrsvBlocks(32 * (long)n, BLOCK), BLOCK, 0, (TrsvStream)NULL, n,
                (const int *)f->order, (const int *)position, offsets, columns, (const int *)to_offsets, to_columns,
                f->source);
  else {
    TrsvCall(TrsvScratchAlloc(4 * sizeof(int) * (size_t)f->entries, &more, NULL));
    error = Sorted(f, offsets, columns, position, more, to_columns);
    TrsvScratchFree(more, NULL);
    return error;
  }
  return TrsvDeviceCheckLaunch("permute_rows");
}

extern "C" TrsvError TrsvFactorPermute(TrsvFactor *f, const int *offsets, const int *columns, const int *order,
                                       TrsvMemory there, int **pattern)
{
  const size_t   rows = (size_t)f->rows;
  const unsigned none[2] = {0, 0};
  unsigned      *words;
  int           *room;
  TrsvError      error;

  TrsvCall(TrsvDeviceDownload(&f->entries, offsets + rows, sizeof(int), NULL));
  const size_t entries = (size_t)f->entries;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &f->order));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * entries, &f->source));
  f->bytes += sizeof(int) * (rows + entries);
  TrsvCall((there == TRSV_DEVICE ? TrsvDeviceCopy : TrsvDeviceUpload)(f->order, order, sizeof(int) * rows, NULL));
  TrsvCall(TrsvScratchAlloc(sizeof(int) * (rows + 1 + entries), pattern, NULL));
  error = TrsvScratchAlloc(2 * sizeof(int) * rows, &room, NULL);
  if (!error) {
    error = TrsvScratchUpload(none, sizeof(none), &words, NULL);
    if (!error) {
      error = TriangleView(f, offsets, columns, room, words, *pattern, *pattern + rows + 1);
      TrsvScratchFree(words, NULL);
    }
    TrsvScratchFree(room, NULL);
  }
  if (error) TrsvScratchFree(*pattern, NULL);
  return error;
}

extern "C" TrsvError TrsvFactorGather(TrsvFactor *f, const void *values, TrsvStream stream)
{
  if (f->precision == TRSV_FLOAT)
    TRSV_LAUNCH((permute_values<float>), TrsvBlocks(f->entries, BLOCK), BLOCK, 0, stream, f->entries,
                (const int *)f->source, (const float *)values, (float *)f->a);
  else
    TRSV_LAUNCH((permute_values<double>), TrsvBlocks(f->entries, BLOCK), BLOCK, 0, stream, f->entries,
                (const int *)f->source, (const double *)values, (double *)f->a);
  return TrsvDeviceCheckLaunch("permute_values");
}
