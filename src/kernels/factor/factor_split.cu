/*
   Splits the pattern of A into those of L and U, on the device.

   Mapping: a block has ROWS_BLOCK rows, and its threads share all their entries (triangle_view.cuh). Other kernels have
   a thread for each row or entry. Memory order: barriers of a block, atomics on words that the host reads, launches in
   sequence. Why it ends: no thread waits. Same bits: results are integers. Works in the default stream.
*/
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "factor/factor.h"

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

/* Row i of U starts after rows 0 to i - 1 of U: their entries are those of A less those of L. If a row is invalid,
   differences of offsets may overflow: this kernel and the next do not compute them. */
static __global__ void split_upper(int n, const int *bad, const int *offsets, const int *l_offsets, int *u_offsets)
{
  const int i = trsv_index();

  if (i <= n) u_offsets[i] = *bad ? 0 : offsets[i] - l_offsets[i];
}

/* ICC: the lengths of U's rows, and the indices in A at which they start. */
static __global__ void split_lengths(int n, const int *bad, const int *offsets, const int *left, int *lengths,
                                     int *start)
{
  const int i = trsv_index();

  if (i >= n || *bad) return;
  start[i]   = offsets[i] + left[i];
  lengths[i] = offsets[i + 1] - start[i];
}

/* Copies the columns of A to L and U. */
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

/* ICC: copies the columns of U from A. */
static __global__ void __launch_bounds__(ROWS_BLOCK)
  split_copy_upper(int n, const int *columns, const int *u_offsets, const int *start, int *u_columns)
{
  TRSV_SHARED(int, u_start, ROWS_BLOCK + 1);
  TRSV_SHARED(int, from, ROWS_BLOCK);
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(u_offsets, n, first, u_start);

  if (t < rows) from[t] = start[first + t] - u_start[t];
  __syncthreads();
  rows_each(u_start, rows, [&](int m, int k) { u_columns[k] = columns[k + from[m]]; });
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

/* The word of split_count. */
static int *BadWord(const TrsvFactor *f) { return (int *)&f->status->row; }

/* Launches split_count. left [rows] gets the entries of each row before its diagonal. */
static TrsvError CountLeft(TrsvFactor *f, const int *offsets, const int *columns, int *left)
{
  int *const bad = BadWord(f);

  TrsvCall(TrsvDeviceClear(bad, sizeof(*bad), NULL));
  return TrsvLaunchEach(split_count, f->rows, f->rows, offsets, columns, left, bad);
}

/* Waits for CountLeft() and what was launched since, and downloads a word from each of `ends`, up to 2. Returns the
   error of the first invalid row of A; the words then have no meaning. */
static TrsvError ReadSplit(const TrsvFactor *f, const int *offsets, const int *columns, int count,
                           const int *const ends[], int words[])
{
  const int *from[TRSV_ADDRESSES] = {BadWord(f)};
  int        found[TRSV_ADDRESSES], entries;

  for (int i = 0; i < count; i++) from[1 + i] = ends[i];
  TrsvCall(TrsvDeviceDownloadEach(found, from, 1 + count));
  for (int i = 0; i < count; i++) words[i] = found[1 + i];
  if (!found[0]) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceDownload(&entries, offsets + f->rows, sizeof(entries), NULL));
  return TrsvCheckMatrixRow(TRSV_DEVICE, offsets, columns, entries, f->rows - found[0], 0, f->rows - 1, 1, 1);
}

static TrsvError SplitILU(TrsvFactor *f, const int *offsets, const int *columns, int *left)
{
  const size_t     rows   = (size_t)f->rows;
  const int *const ends[] = {f->l_offsets + rows, f->u_offsets + rows};
  int              entries[2];

  TrsvCall(TrsvDeviceScan(f->rows, left, f->l_offsets));
  TrsvCall(
    TrsvLaunchEach(split_upper, rows + 1, f->rows, BadWord(f), offsets, (const int *)f->l_offsets, f->u_offsets));
  TrsvCall(ReadSplit(f, offsets, columns, 2, ends, entries));
  f->lower = entries[0];
  f->upper = entries[1];
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &f->u_columns));
  return TrsvLaunchEach(split_copy, rows, f->rows, columns, offsets, f->l_offsets, f->l_columns, f->u_columns);
}

/* ICC: L and its source from U. */
static TrsvError TransposeUpper(TrsvFactor *f)
{
  TrsvMatrix L, U, T;
  int       *made;
  const int *source;
  TrsvError  error;

  f->lower = f->upper - f->rows;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->lower, &f->l_source));
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvTranspose(&U, &T, &made, &source));
  error = TrsvLaunchEach(split_drop_diagonal, f->rows, f->rows, T.offsets, T.columns, source, f->l_offsets,
                         f->l_columns, f->l_source);
  TrsvFree(TRSV_DEVICE, made);
  return error;
}

/* left becomes the lengths of U's rows. */
static TrsvError SplitICC(TrsvFactor *f, const int *offsets, const int *columns, int *left)
{
  const size_t rows = (size_t)f->rows;

  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &f->a_row_start));
  TrsvCall(TrsvLaunchEach(split_lengths, rows, f->rows, BadWord(f), offsets, left, left, f->a_row_start));
  TrsvCall(TrsvDeviceScan(f->rows, left, f->u_offsets));
  const int *const end = f->u_offsets + rows;
  TrsvCall(ReadSplit(f, offsets, columns, 1, &end, &f->upper));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &f->u_columns));
  TrsvCall(TrsvLaunchEach(split_copy_upper, rows, f->rows, columns, f->u_offsets, f->a_row_start, f->u_columns));
  return TransposeUpper(f);
}

enum {
#ifdef TRSV_SIMT
  WORK_THREADS = 64 /* few, so that tests exceed them */
#else
  WORK_THREADS = 1 << 18 /* about as many as a device holds */
#endif
};

static __device__ __forceinline__ void warp_add(unsigned long long n, unsigned long long *sum)
{
  n = warp_sum(n);
  if (threadIdx.x % 32 == 0 && n) (void)atomicAdd(sum, n);
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
  warp_add(operations, &work->operations);
  warp_add(squares, &work->squares);
}

static TrsvError CountHostWork(TrsvFactor *f)
{
  const int       threads = min(max(f->lower, f->rows), (int)WORK_THREADS);
  TrsvScratch     scratch;
  FactorHostWork *work;

  TrsvCall(scratch.zeros(1, work));
  TrsvCall(TrsvLaunchEach(split_work, threads, f->rows, f->lower, f->l_offsets, f->l_columns, f->u_offsets, work));
  return TrsvDeviceDownload(&f->host_work, work, sizeof(f->host_work), NULL);
}

/* Checks the rows of A before it permutes them, so that an error names a row of A. */
extern "C" TrsvError TrsvFactorSplit(TrsvFactor *f, const int *offsets, const int *columns, const int *order,
                                     TrsvMemory memory)
{
  const size_t bytes = sizeof(int) * ((size_t)f->rows + 1);
  TrsvScratch  scratch, permuted;
  int         *left;

  TrsvCall(scratch.take((size_t)f->rows, left));
  TrsvCall(CountLeft(f, offsets, columns, left));
  if (order) {
    const int *const end = offsets + f->rows;

    TrsvCall(ReadSplit(f, offsets, columns, 1, &end, &f->entries));
    TrsvCall(TrsvFactorPermute(f, order, memory, &offsets, &columns, &permuted.memory));
    TrsvCall(CountLeft(f, offsets, columns, left)); /* a permutation of a valid pattern is valid */
  }
  TrsvCall(TrsvDeviceAlloc(bytes, &f->l_offsets));
  TrsvCall(TrsvDeviceAlloc(bytes, &f->u_offsets));
  TrsvCall((f->kind == TRSV_ICC ? SplitICC : SplitILU)(f, offsets, columns, left));
  return CountHostWork(f);
}

extern "C" TrsvError TrsvFactorMirrorColumns(TrsvFactor *f)
{
  TrsvMatrix L, U, T;
  int       *u_columns, *made;
  const int *source;
  TrsvError  error;

  if (f->u_columns) return TRSV_SUCCESS;
  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)f->upper, &u_columns));
  error = TrsvTranspose(&L, &T, &made, &source);
  if (!error) error = TrsvLaunchEach(split_mirror, f->rows, f->rows, (const int *)f->u_offsets, T.columns, u_columns);
  if (!error) error = TrsvDeviceSynchronize();
  TrsvFree(TRSV_DEVICE, made);
  if (error) {
    TrsvDeviceFree(u_columns);
    return error;
  }
  f->u_columns = u_columns;
  f->bytes += sizeof(int) * (size_t)f->upper;
  return TRSV_SUCCESS;
}
