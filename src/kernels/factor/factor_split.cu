/*
   Splits the pattern of A into those of L and U, on the device. With an order, first makes the pattern of P A P^T,
   columns rising in every row, and the index in A of each of its values, so that one gather copies new values.

   Mapping: a block has ROWS_BLOCK rows, and its threads share all their entries (triangle_view.cuh). For P A P^T a
   group of lanes for each row: each lane finds the place of an entry by counting the smaller columns, which it gets by
   shuffle. If a row is too long for that, all entries are sorted by column and then, stably, by row. Other kernels have
   a thread for each row or entry. Memory order: barriers of a block, shuffles, atomics on words that the host reads,
   launches in sequence. Why it ends: no thread waits. Same bits: results are integers. Works in the default stream.
*/
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "factor/factor.h"

#ifndef SPLIT_THREADS /* tests/simt/sizes.h has a smaller one */
  #define SPLIT_THREADS (1 << 18) /* of split_work: about as many as a device holds */
#endif

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

/* The new column of each entry, or of those in source; number: their numbers, or NULL. */
static __global__ void permute_columns(int entries, const int *position, const int *columns, const int *source,
                                       int *to_columns, int *number)
{
  const int k = trsv_index();

  if (k >= entries) return;
  to_columns[k] = position[columns[source ? source[k] : k]];
  if (number) number[k] = k;
}

static __global__ void permute_by_row(int entries, int n, const int *position, const int *offsets, const int *entry,
                                      unsigned *keys)
{
  const int k = trsv_index();

  if (k < entries) keys[k] = (unsigned)position[segment(offsets, n, entry[k])];
}

static TrsvError SortEntries(const TrsvFactor *f, const TrsvCSR *A, const int *position, int *to_columns)
{
  const int    n = f->rows, entries = f->entries;
  const size_t all = (size_t)entries;
  TrsvScratch  scratch;
  unsigned    *keys, *sorted;
  int         *entry, *by_column;

  TrsvCall(scratch.take(all, keys, all, sorted, all, entry, all, by_column));
  TrsvCall(TrsvLaunchEach(permute_columns, all, entries, position, A->columns, (const int *)NULL, (int *)keys, entry));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, entry, by_column));
  TrsvCall(TrsvLaunchEach(permute_by_row, all, entries, n, position, A->offsets, by_column, keys));
  TrsvCall(TrsvDeviceSort(entries, TrsvBits(n - 1), keys, sorted, by_column, f->source));
  return TrsvLaunchEach(permute_columns, all, entries, position, A->columns, f->source, to_columns, (int *)NULL);
}

/* Makes f->order and f->source, and replaces the pattern of A by that of P A P^T, in scratch. */
static TrsvError PermutePattern(TrsvFactor *f, const int *order, TrsvMemory memory, TrsvCSR *A, TrsvScratch *pattern)
{
  const int    n    = f->rows;
  const size_t rows = (size_t)n;
  TrsvScratch  scratch, report;
  int         *position, *to_offsets, *to_columns;
  unsigned     found[2], *words; /* see permute_lengths */

  TrsvCall(TrsvCopyNew(TRSV_DEVICE, memory, order, sizeof(int) * rows, &f->order));
  f->bytes += sizeof(int) * rows;
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->entries, &f->source));
  TrsvCall(pattern->take(rows + 1, to_offsets, (size_t)f->entries, to_columns));
  TrsvCall(scratch.take(rows, position));
  TrsvCall(report.zeros(2, words));
  TrsvCall(TrsvLaunchEach(permute_position, rows, n, f->order, position));
  TrsvCall(TrsvLaunchEach(permute_lengths, rows, n, f->order, position, A->offsets, to_offsets + 1, words));
  TrsvCall(TrsvDeviceDownload(found, words, sizeof(found), NULL));
  if (found[1]) return TrsvFail(TRSV_ERR_ARGUMENT, "the order of the rows is not a permutation of them");
  TrsvCall(TrsvDeviceScan(n, to_offsets + 1, to_offsets));
  const int lanes = found[0] <= 8 ? 8 : 32;
  if (found[0] > COUNT_MAX) TrsvCall(SortEntries(f, A, position, to_columns));
  else
    TrsvCall(TrsvLaunchEach(lanes == 8 ? permute_rows<8> : permute_rows<32>, (size_t)lanes * rows, n, f->order,
                            position, A->offsets, A->columns, to_offsets, to_columns, f->source));
  A->offsets = to_offsets;
  A->columns = to_columns;
  return TRSV_SUCCESS;
}

/* left [n]: the entries of each row before its diagonal. *bad, 0 before, becomes n - i for the first invalid row i. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_count(int n, const int *offsets, const int *columns, int *left, int *bad)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, diagonal, ROWS_BLOCK); /* entries of the row before it, or -1 */
  TRSV_SHARED(unsigned, falls, 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(offsets, n, first, start);

  diagonal[t] = -1; /* rows_sound() has barriers */
  const int sound = rows_sound(start, rows, offsets[n], falls);
  if (!first && t == 0 && start[0]) atomicMax(bad, n);
  if (sound) rows_each(start, sound, [&](int m, int k) { /* else start[0] is invalid */
    const int i = first + m, j = columns[k], before = k > start[m] ? columns[k - 1] : -1;

    if (j <= before || j >= n) atomicMax(bad, n - i);
    if (j == i) atomicMax(&diagonal[m], k - start[m]);
  });
  __syncthreads();
  if (t >= rows) return;
  left[first + t] = diagonal[t];
  if (diagonal[t] < 0) atomicMax(bad, n - (first + t));
}

/* Makes U, and copies the columns of A to it and, unless l_columns is NULL, to L. A row of U has the entries of A less
   those of L. upper [n], or NULL: the index in A at which each row of U starts. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_copy(int n, const int *columns, const int *offsets, const int *l_offsets, int *l_columns, int *u_offsets,
             int *u_columns, int *upper)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, l_start, ROWS_BLOCK + 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(offsets, n, first, start);

  (void)rows_load(l_offsets, n, first, l_start);
  if (t < rows) u_offsets[first + t + 1] = start[t + 1] - l_start[t + 1];
  if (t < rows && upper) upper[first + t] = start[t] - l_start[t] + l_start[t + 1];
  if (first + t == 0) u_offsets[0] = 0;
  rows_each(start, rows, [&](int m, int k) {
    const int l = k - start[m] + l_start[m], l_end = l_start[m + 1];

    if (l >= l_end) u_columns[k - l_end] = columns[k];
    else if (l_columns) l_columns[l] = columns[k];
  });
}

/* ICC: L is the transpose of U without the diagonal, which is last in each row of the transpose. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_drop_diagonal(int n, const int *offsets, const int *columns, const int *source, int *l_offsets, int *l_columns,
                      int *l_source)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(offsets, n, first, start);

  if (t < rows) l_offsets[first + t + 1] = start[t + 1] - (first + t + 1);
  if (first + t == 0) l_offsets[0] = 0;
  rows_each(start, rows, [&](int m, int k) {
    const int to = k - (first + m);

    if (k == start[m + 1] - 1) return;
    l_columns[to] = columns[k];
    l_source[to]  = source[k];
  });
}

/* Columns of U: the transpose of L, with the diagonal first in each row. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_mirror(int n, const int *u_offsets, const int *columns, int *u_columns)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(u_offsets, n, first, start);

  rows_each(start, rows,
            [&](int m, int k) { u_columns[k] = k == start[m] ? first + m : columns[k - (first + m) - 1]; });
}

/* Checks the rows of A and waits. Sets f->entries; and if no permutation follows, f->l_offsets, for ICC those of the
   lower triangle of A, and the entries of L and U. */
static TrsvError CountEntries(TrsvFactor *f, const TrsvCSR *A, bool permutation_follows)
{
  int *const       bad    = (int *)&f->status->row;
  const int *const from[] = {bad, A->offsets + f->rows, f->l_offsets + f->rows};
  int              found[3];

  TrsvCall(TrsvDeviceClear(bad, sizeof(*bad), NULL));
  TrsvCall(TrsvLaunchEach(split_count, f->rows, f->rows, A->offsets, A->columns, f->l_offsets + 1, bad));
  if (!permutation_follows) TrsvCall(TrsvDeviceScan(f->rows, f->l_offsets + 1, f->l_offsets));
  TrsvCall(TrsvDeviceDownloadEach(found, from, permutation_follows ? 2 : 3));
  f->entries = found[1];
  if (found[0])
    return TrsvCheckMatrixRow(TRSV_DEVICE, A->offsets, A->columns, f->entries, f->rows - found[0], 0, f->rows - 1, 1,
                              1);
  if (permutation_follows) return TRSV_SUCCESS;
  f->lower = found[2];
  f->upper = f->entries - f->lower;
  return TRSV_SUCCESS;
}

/* Makes the columns of one triangle from the other: those of L with its source, for ICC; or those of U. */
static TrsvError TransposeOther(TrsvFactor *f, bool to_lower)
{
  TrsvMatrix L, U, T;
  int       *made;
  const int *source;
  TrsvError  error;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvTranspose(to_lower ? &U : &L, &T, &made, &source));
  if (to_lower)
    error = TrsvLaunchEach(split_drop_diagonal, f->rows, f->rows, T.offsets, T.columns, source, f->l_offsets,
                           f->l_columns, f->l_source);
  else error = TrsvLaunchEach(split_mirror, f->rows, f->rows, f->u_offsets, T.columns, f->u_columns);
  TrsvFree(TRSV_DEVICE, made);
  return error;
}

/* Computes the FactorHostWork. Each thread takes several entries of L and several rows, so that there are few atomics:
   those on one word run one after another. */
static __global__ void split_work(int rows, int entries, const int *l_offsets, const int *l_columns,
                                  const int *u_offsets, FactorHostWork *work)
{
  typedef unsigned long long Sum;

  const unsigned t = (unsigned)trsv_index(), stride = gridDim.x * blockDim.x;
  const auto     upper  = [&](unsigned i) { return (Sum)(u_offsets[i + 1] - u_offsets[i]); };
  const auto     length = [&](unsigned i) { return (Sum)(l_offsets[i + 1] - l_offsets[i]) + upper(i); };
  Sum            operations = 0, squares = 0;

  for (unsigned k = t; k < (unsigned)entries; k += stride) operations += upper((unsigned)l_columns[k]);
  for (unsigned i = t; i < (unsigned)rows; i += stride) squares += length(i) * length(i);
  operations = warp_sum(operations);
  squares    = warp_sum(squares);
  if (threadIdx.x % 32) return;
  (void)atomicAdd(&work->operations, operations);
  (void)atomicAdd(&work->squares, squares);
}

static TrsvError CountHostWork(TrsvFactor *f)
{
  const int       threads = min(max(f->lower, f->rows), SPLIT_THREADS);
  TrsvScratch     scratch;
  FactorHostWork *work;

  TrsvCall(scratch.zeros(1, work));
  TrsvCall(TrsvLaunchEach(split_work, threads, f->rows, f->lower, f->l_offsets, f->l_columns, f->u_offsets, work));
  return TrsvDeviceDownload(&f->host_work, work, sizeof(f->host_work), NULL);
}

/* Checks the rows of A before it permutes them, so that an error names a row of A. */
extern "C" TrsvError TrsvFactorSplit(TrsvFactor *f, const TrsvCSR *given, const int *order, TrsvMemory memory)
{
  TrsvCSR     A = *given;
  TrsvScratch permuted;

  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->rows + 1, &f->l_offsets));
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->rows + 1, &f->u_offsets));
  TrsvCall(CountEntries(f, &A, order != NULL));
  if (order) {
    TrsvCall(PermutePattern(f, order, memory, &A, &permuted));
    TrsvCall(CountEntries(f, &A, false)); /* a permutation of a valid pattern is valid */
  }
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->upper, &f->u_columns));
  if (f->kind == TRSV_ICC) TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->rows, &f->a_row_start));
  else TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->lower, &f->l_columns));
  TrsvCall(TrsvLaunchEach(split_copy, f->rows, f->rows, A.columns, A.offsets, f->l_offsets, f->l_columns, f->u_offsets,
                          f->u_columns, f->a_row_start));
  if (f->kind == TRSV_ICC) {
    f->lower = f->upper - f->rows;
    TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->lower, &f->l_columns));
    TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->lower, &f->l_source));
    TrsvCall(TransposeOther(f, true));
  }
  return CountHostWork(f);
}

extern "C" TrsvError TrsvFactorMirrorColumns(TrsvFactor *f)
{
  if (f->u_columns) return TRSV_SUCCESS;
  TrsvCall(TrsvFactorAlloc(f, sizeof(int), f->upper, &f->u_columns));
  TrsvError error = TransposeOther(f, false);
  if (!error) error = TrsvDeviceWait(NULL);
  if (error) TrsvFactorFree(f, sizeof(int), f->upper, &f->u_columns);
  return error;
}
