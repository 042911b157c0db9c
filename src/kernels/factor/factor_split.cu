/*
   The patterns of a factorization, made on the device: A is split into L and U.

   Mapping: a block has ROWS_BLOCK rows, and its threads walk through all their entries side by side, whatever row they
   are of (triangle_view.cuh); what entries do not matter for has a thread for each row or entry. None waits for
   another. Works in the default stream.
*/
#include "analysis/triangle_view.cuh"
#include "factor/factor.h"

/* How many entries each row has left of its diagonal. The first row that is none of a matrix that can be factored is
   noted. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_count(int n, const int *offsets, const int *columns, int *left, unsigned *bad)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, diagonal, ROWS_BLOCK); /* how many entries are before it */
  TRSV_SHARED(unsigned, falls,
              1); /* the first row whose offsets fall, or are beyond the last: nothing is known of those behind */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(offsets, n, first, start);

  diagonal[t] = -1;
  if (t == 0) falls[0] = (unsigned)rows;
  __syncthreads();
  if (t < rows && (start[t] < 0 || start[t] > start[t + 1] || start[t + 1] > offsets[n]))
    atomicMin(&falls[0], (unsigned)t);
  __syncthreads();
  const int sound = (int)falls[0];
  if (t >= sound) start[t + 1] = INT_MAX;
  __syncthreads();
  if (!first && t == 0 && start[0]) atomicMin(bad, 0u);
  if (sound) rows_each(start, sound, [&](int m, int k) { /* where none is sound, start[0] may be anything */
    const int i = first + m, j = columns[k], before = k > start[m] ? columns[k - 1] : -1;

    if (j <= before || j >= n) atomicMin(bad, (unsigned)i);
    if (j == i) atomicMax(&diagonal[m], k - start[m]);
  });
  __syncthreads();
  if (t >= rows) return;
  left[first + t] = diagonal[t];
  if (diagonal[t] < 0) atomicMin(bad, (unsigned)(first + t));
}

/* U starts where L and the rows before leave off. */
static __global__ void split_upper(int n, const int *offsets, const int *l_offsets, int *u_offsets)
{
  const int i = trsv_index();

  if (i <= n) u_offsets[i] = offsets[i] - l_offsets[i];
}

/* ICC: lengths of U's rows and where in A they start. */
static __global__ void split_lengths(int n, const int *offsets, const int *left, int *lengths, int *start)
{
  const int i = trsv_index();

  if (i >= n) return;
  start[i]   = offsets[i] + left[i];
  lengths[i] = offsets[i + 1] - start[i];
}

/* The entries of A to L and to U. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_copy(int n, const int *columns, const int *offsets, const int *l_offsets, int *l_columns, int *u_columns)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, l_start, ROWS_BLOCK + 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(offsets, n, first, start);

  (void)rows_load(l_offsets, n, first, l_start);
  rows_each(start, rows, [&](int m, int k) {
    const int l = k - start[m] + l_start[m], l_end = l_start[m + 1];

    if (l < l_end) l_columns[l] = columns[k];
    else u_columns[k - l_end] = columns[k];
  });
}

/* ICC: rows of U from where in A they start. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_take(int n, const int *columns, const int *u_offsets, const int *start, int *u_columns)
{
  TRSV_SHARED(int, u_start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, from, ROWS_BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(u_offsets, n, first, u_start);

  if (t < rows) from[t] = start[first + t] - u_start[t];
  __syncthreads();
  rows_each(u_start, rows, [&](int m, int k) { u_columns[k] = columns[k + from[m]]; });
}

/* ICC: L is the transpose of U without its diagonal, which comes last in each row. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_strip(int n, const int *offsets, const int *columns, const int *source, int *l_offsets, int *l_columns,
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

/* Rows of L's transpose, each with a diagonal before it. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_mirror(int n, const int *u_offsets, const int *columns, int *u_columns)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(u_offsets, n, first, start);

  rows_each(start, rows,
            [&](int m, int k) { u_columns[k] = k == start[m] ? first + m : columns[k - (first + m) - 1]; });
}

/* Is there anything wrong with that row, and what? */
static TrsvError Explain(int i, int n, const int *offsets, const int *columns)
{
  int       range[2], entries, before = -1;
  int      *row;
  TrsvError error;

  TrsvCall(TrsvDeviceDownload(range, offsets + i, sizeof(range), NULL));
  if (!i && range[0]) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets start at %d, not at 0", range[0]);
  if (range[1] < range[0])
    return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, range[0], range[1]);
  TrsvCall(TrsvDeviceDownload(&entries, offsets + n, sizeof(entries), NULL));
  if (range[0] < 0 || range[1] > entries)
    return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i, range[0],
                    range[1], entries);
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)(range[1] - range[0]), &row));
  error = TrsvDeviceDownload(row, columns + range[0], sizeof(int) * (size_t)(range[1] - range[0]), NULL);
  for (int k = 0; !error && k < range[1] - range[0]; k++) {
    if (row[k] < 0 || row[k] >= n) error = TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d of %d", i, row[k], n);
    else if (row[k] <= before)
      error =
        TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d after column %d; columns must rise", i, row[k], before);
    before = row[k];
  }
  TrsvFree(TRSV_HOST, row);
  return error ? error : TrsvFail(TRSV_ERR_STRUCTURE, "row %d has no diagonal entry", i);
}

static TrsvError SplitLU(TrsvFactor *f, const int *offsets, const int *columns, const int *left, size_t rows)
{
  const int n = f->rows;

  TrsvCall(TrsvDeviceScan(n, left, f->l_offsets));
  TRSV_LAUNCH(split_upper, TrsvBlocks((long)n + 1, 256), 256, 0, (TrsvStream)NULL, n, offsets,
              (const int *)f->l_offsets, f->u_offsets);
  TrsvCall(TrsvDeviceCheckLaunch("split_upper"));
  TrsvCall(TrsvDeviceDownload(&f->lower, f->l_offsets + rows, sizeof(int), NULL));
  TrsvCall(TrsvDeviceDownload(&f->upper, f->u_offsets + rows, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &f->u_columns));
  TRSV_LAUNCH(split_copy, TrsvBlocks(n, 256), ROWS_BLOCK, 0, (TrsvStream)NULL, n, columns, offsets,
              (const int *)f->l_offsets, f->l_columns, f->u_columns);
  return TrsvDeviceCheckLaunch("split_copy");
}

static TrsvError SplitTranspose(TrsvFactor *f)
{
  const TrsvMatrix U = {f->rows,      f->u_offsets, f->u_columns, TRSV_UPPER, TRSV_DIAGONAL_STORED,
                        f->precision, TRSV_DEVICE,  NULL};
  TrsvMatrix       T;
  int             *made;
  const int       *source;
  TrsvError        error;

  f->lower = f->upper - f->rows;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_source));
  TrsvCall(TrsvTranspose(&U, &T, &made, &source));
  TRSV_LAUNCH(split_strip, TrsvBlocks(f->rows, 256), ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows, T.offsets, T.columns,
              source, f->l_offsets, f->l_columns, f->l_source);
  error = TrsvDeviceCheckLaunch("split_strip");
  TrsvFree(TRSV_DEVICE, made);
  return error;
}

/* left, once used, holds the lengths. */
static TrsvError SplitICC(TrsvFactor *f, const int *offsets, const int *columns, int *left, size_t rows)
{
  const int n = f->rows;

  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &f->a_row_start));
  TRSV_LAUNCH(split_lengths, TrsvBlocks(n, 256), 256, 0, (TrsvStream)NULL, n, offsets, (const int *)left, left,
              f->a_row_start);
  TrsvCall(TrsvDeviceCheckLaunch("split_lengths"));
  TrsvCall(TrsvDeviceScan(n, left, f->u_offsets));
  TrsvCall(TrsvDeviceDownload(&f->upper, f->u_offsets + rows, sizeof(int), NULL));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &f->u_columns));
  TRSV_LAUNCH(split_take, TrsvBlocks(n, 256), ROWS_BLOCK, 0, (TrsvStream)NULL, n, columns, (const int *)f->u_offsets,
              (const int *)f->a_row_start, f->u_columns);
  TrsvCall(TrsvDeviceCheckLaunch("split_take"));
  return SplitTranspose(f);
}

/* left: entries left of each diagonal. */
static TrsvError Count(TrsvFactor *f, const int *offsets, const int *columns, int *left, int *row)
{
  const unsigned none = UINT_MAX;
  unsigned       bad;

  TrsvCall(TrsvDeviceUpload(&f->status->row, &none, sizeof(none), NULL));
  TRSV_LAUNCH(split_count, TrsvBlocks(f->rows, 256), ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows, offsets, columns, left,
              &f->status->row);
  TrsvCall(TrsvDeviceCheckLaunch("split_count"));
  TrsvCall(TrsvDeviceDownload(&bad, &f->status->row, sizeof(bad), NULL));
  if (bad == none) return TRSV_SUCCESS;
  *row = (int)bad;
  return Explain((int)bad, f->rows, offsets, columns);
}

static TrsvError Split(TrsvFactor *f, const int *offsets, const int *columns, int *left)
{
  const size_t rows = (size_t)f->rows;

  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &f->l_offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &f->u_offsets));
  return f->kind == TRSV_ICC ? SplitICC(f, offsets, columns, left, rows) : SplitLU(f, offsets, columns, left, rows);
}

/* The caller's rows are looked at before they go elsewhere. */
static TrsvError SplitPermuted(TrsvFactor *f, const int *offsets, const int *columns, const int *order,
                               TrsvMemory there, int *left)
{
  int      *pattern, row;
  TrsvError error;

  TrsvCall(TrsvFactorPermute(f, offsets, columns, order, there, &pattern));
  error = Count(f, pattern, pattern + f->rows + 1, left, &row);
  if (!error) error = Split(f, pattern, pattern + f->rows + 1, left);
  TrsvScratchFree(pattern, NULL);
  return error;
}

static __device__ __forceinline__ void AddUp(unsigned long long n, unsigned long long *sum)
{
  n = warp_sum(n);
  if (threadIdx.x % 32 == 0 && n) (void)atomicAdd(sum, n);
}

/* A thread for each entry of L, how long the row of U is that it stands for, and for each row: its length in both,
   squared. */
static __global__ void split_work(int rows, int entries, const int *l_offsets, const int *l_columns,
                                  const int *u_offsets, FactorWork *work)
{
  const int  k = trsv_index();
  const auto upper = [&](int i) { return (unsigned long long)(u_offsets[i + 1] - u_offsets[i]); };
  const auto length = [&](int i) { return (unsigned long long)(l_offsets[i + 1] - l_offsets[i]) + upper(i); };

  AddUp(k < entries ? upper(l_columns[k]) : 0, &work->operations);
  AddUp(k < rows ? length(k) * length(k) : 0, &work->squares);
}

static TrsvError Work(TrsvFactor *f)
{
  const int   threads = f->lower > f->rows ? f->lower : f->rows;
  FactorWork *work;
  TrsvError   error;

  TrsvCall(TrsvScratchAlloc(sizeof(*work), &work, NULL));
  error = TrsvDeviceClear(work, sizeof(*work), NULL);
  if (!error) {
    TRSV_LAUNCH(split_work, TrsvBlocks(threads, 256), 256, 0, (TrsvStream)NULL, f->rows, f->lower,
                (const int *)f->l_offsets, (const int *)f->l_columns, (const int *)f->u_offsets, work);
    error = TrsvDeviceCheckLaunch("split_work");
  }
  if (!error) error = TrsvDeviceDownload(&f->on_host, work, sizeof(f->on_host), NULL);
  TrsvScratchFree(work, NULL);
  return error;
}

extern "C" TrsvError TrsvFactorSplit(TrsvFactor *f, const int *offsets, const int *columns, const int *order,
                                     TrsvMemory there, int *row)
{
  int      *left;
  TrsvError error;

  TrsvCall(TrsvScratchAlloc(sizeof(int) * (size_t)f->rows, &left, NULL));
  error = Count(f, offsets, columns, left, row);
  if (!error) error = order ? SplitPermuted(f, offsets, columns, order, there, left) : Split(f, offsets, columns, left);
  TrsvScratchFree(left, NULL);
  return error ? error : Work(f);
}

static TrsvError Mirror(TrsvFactor *f, int *u_columns)
{
  const TrsvMatrix L = {f->rows,      f->l_offsets, f->l_columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT,
                        f->precision, TRSV_DEVICE,  NULL};
  TrsvMatrix       T;
  int             *made;
  const int       *source;
  TrsvError        error;

  TrsvCall(TrsvTranspose(&L, &T, &made, &source));
  TRSV_LAUNCH(split_mirror, TrsvBlocks(f->rows, 256), ROWS_BLOCK, 0, (TrsvStream)NULL, f->rows,
              (const int *)f->u_offsets, T.columns, u_columns);
  error = TrsvDeviceCheckLaunch("split_mirror");
  if (!error) error = TrsvDeviceSynchronize();
  TrsvFree(TRSV_DEVICE, made);
  return error;
}

extern "C" TrsvError TrsvFactorMirrorColumns(TrsvFactor *f)
{
  int      *u_columns;
  TrsvError error;

  if (f->u_columns) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &u_columns));
  error = Mirror(f, u_columns);
  if (error) {
    TrsvDeviceFree(u_columns);
    return error;
  }
  f->u_columns = u_columns;
  f->bytes += sizeof(int) * (size_t)f->upper;
  return TRSV_SUCCESS;
}
