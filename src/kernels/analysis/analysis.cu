/*
   Level sets, statistics and transposes of a triangle on the device. The host downloads a few words, and an invalid row
   if there is one.

   Mapping: a block has BLOCK rows, and its threads share all their entries, so a long row does not delay one thread.
   levels.cu sorts rows by level set. The transpose is a stable sort of the entries by column. Memory order: barriers
   of a block order shared memory; the host reads results of atomics after the launch. Why it ends: no thread waits,
   except in levels.cu. Same bits: sums and extremes of integers, stable sorts.
*/
#include <limits.h>
#include <stdlib.h>
#include "analysis/sample.h"
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"

enum {
  BLOCK   = 256,
  SAMPLES = (int)TRSV_SAMPLES / (int)BLOCK /* of a thread */
};

typedef unsigned long long Sum;

/* What the host downloads. */
typedef struct {
  Sum        squares, distance, profile; /* see TrsvFillStatistics */
  Sum        chained;                    /* rows that depend on the row solved just before */
  unsigned   wrong;                      /* rows - (the first invalid row); 0: all are valid */
  unsigned   row_max, bandwidth;
  int        start, entries; /* the first and the last offset */
  Sum        sums[2];        /* spans of level sets, each times its rows; TrsvHubEntries() of all bins */
  TrsvSearch search;
} CheckResult;

/* Checks all rows. Unless word [3 rows] is NULL, also prepares the search for level sets: sets two thirds of it to 0,
   and the last third to the numbers of the rows. */
static __global__ void analysis_check(const TriangleView A, unsigned *word, CheckResult *found)
{
  TRSV_SHARED(int, offset, BLOCK + 1);
  TRSV_SHARED(Sum, sums, 4);
  TRSV_SHARED(unsigned, extreme, 3); /* the longest row; the first with falling offsets; the farthest dependency */
  const int t = (int)threadIdx.x, first = (int)blockIdx.x * BLOCK, rows = min((int)BLOCK, A.rows - first),
            unit     = !A.stored;
  Sum       squares = 0, distance = 0, profile = 0, chained = 0;
  unsigned  longest = 0, farthest = 0;

  for (int n = t; n <= rows; n += BLOCK) offset[n] = A.offsets[first + n];
  if (t == 0) {
    sums[0] = sums[1] = sums[2] = sums[3] = extreme[0] = extreme[2] = 0;
    extreme[1] = (unsigned)rows;
    if (!first) {
      found->start   = A.offsets[0];
      found->entries = A.offsets[A.rows];
    }
  }
  __syncthreads();
  const int entries = A.offsets[A.rows];
  if (t < rows) {
    const int start = offset[t], past = offset[t + 1], length = start < 0 || past < start ? -1 : past - start;

    if (word) {
      word[first + t] = word[A.rows + first + t] = 0;
      word[2 * (size_t)A.rows + first + t] = (unsigned)(first + t);
    }
    if (length < 0) atomicMin(&extreme[1], (unsigned)t);
    if (length < 0 || past > entries || (length == 0 && A.stored))
      atomicMax(&found->wrong, (unsigned)(A.rows - first - t));
    if (length >= 0) longest = (unsigned)length + (unsigned)unit;
    squares = (Sum)longest * longest;
  }
  __syncthreads();
  /* reads no row after falling offsets, and no entry after the last offset */
  const int sound = (int)extreme[1], end = max(min(offset[sound], entries), 0);
  entries_each<BLOCK>(min(max(offset[0], 0), end), end, [&](int k) {
    const int n = segment(offset, sound, k), i = first + n, j = A.columns[k];
    bool      good = A.lower ? j >= 0 && j <= i - unit : j >= i + unit && j < A.rows;

    if (k > offset[n]) good = good && A.columns[k - 1] < j;
    if (A.stored && k == (A.lower ? offset[n + 1] - 1 : offset[n])) good = good && j == i;
    if (!good) atomicMax(&found->wrong, (unsigned)(A.rows - i));
    const unsigned away = good ? (unsigned)abs(j - i) : 0; /* invalid columns do not count */
    distance += away;
    chained += away == 1;
    if (k == (A.lower ? offset[n] : offset[n + 1] - 1)) {
      profile += away;
      farthest = max(farthest, away);
    }
  });
  squares  = warp_sum(squares); /* one 64-bit atomic a warp: in shared memory each is a loop */
  distance = warp_sum(distance);
  profile  = warp_sum(profile);
  chained  = warp_sum(chained);
  longest  = trsv_warp_max(longest);
  farthest = trsv_warp_max(farthest);
  if (t % 32 == 0) {
    atomicMax(&extreme[0], longest);
    atomicAdd(&sums[0], squares);
    atomicAdd(&sums[1], distance);
    atomicAdd(&sums[2], profile);
    atomicAdd(&sums[3], chained);
    atomicMax(&extreme[2], farthest);
  }
  __syncthreads();
  if (t == 0) {
    atomicMax(&found->row_max, extreme[0]);
    atomicAdd(&found->squares, sums[0]);
    atomicAdd(&found->distance, sums[1]);
    atomicAdd(&found->profile, sums[2]);
    atomicAdd(&found->chained, sums[3]);
    atomicMax(&found->bandwidth, extreme[2]);
  }
}

/* Where each level set starts, from the sorted words of all rows. */
static __global__ void analysis_level_starts(int rows, int levels, const unsigned *sorted, int *start)
{
  const int p = trsv_index();

  if (p < rows && (!p || sorted[p] != sorted[p - 1])) start[sorted[p] - 1] = p;
  if (p == 0) start[levels] = rows;
}

/* The statistic hub_fraction, by one block. */
static __device__ void analysis_sample(const TriangleView &A, int entries, Sum *found)
{
  TRSV_SHARED(unsigned, bin, TRSV_BINS);
  TRSV_SHARED(Sum, all, 1);
  const int t = (int)threadIdx.x, samples = TrsvSamples(entries);
  int       column[SAMPLES]; /* all loads in flight at once */
  Sum       sum = 0;

#pragma unroll
  for (int n = 0; n < SAMPLES; n++)
    column[n] = n * BLOCK + t < samples ? A.columns[TrsvSample(n * BLOCK + t, entries)] : 0;
  for (int n = t; n < TRSV_BINS; n += BLOCK) bin[n] = 0;
  if (t == 0) *all = 0;
  __syncthreads();
#pragma unroll
  for (int n = 0; n < SAMPLES; n++)
    if (n * BLOCK + t < samples) atomicAdd(&bin[TrsvBin(column[n])], 1u);
  __syncthreads();
  for (int n = t; n < TRSV_BINS; n += BLOCK) sum += TrsvHubEntries(bin[n], entries);
  if (sum) atomicAdd(all, sum);
  __syncthreads();
  if (t == 0) *found = *all;
}

/* A thread for the span of each level set; the first block also finds hub_fraction. The matrix is valid. */
static __global__ void analysis_span(const TriangleView A, int entries, int levels, const int *start, const int *order,
                                     Sum *sums)
{
  const int l = trsv_index(), first = l < levels ? start[l] : 0, size = l < levels ? start[l + 1] - first : 0,
            cut  = TRSV_SPAN_CUT(size);
  const Sum mine = warp_sum(size ? (Sum)size * (Sum)(order[first + size - 1 - cut] - order[first + cut]) : 0);

  if (threadIdx.x % 32 == 0) (void)atomicAdd(sums, mine);
  if (!blockIdx.x && entries) analysis_sample(A, entries, sums + 1);
}

/* The row and the number of each entry. */
static __global__ void analysis_entries(const TriangleView A, int *row, int *number)
{
  TRSV_SHARED(int, start, ROWS_BLOCK + 1);
  const int first = (int)blockIdx.x * ROWS_BLOCK, rows = rows_load(A.offsets, A.rows, first, start);

  rows_each(start, rows, [&](int m, int k) {
    row[k]    = first + m;
    number[k] = k;
  });
}

/* A thread for each entry of the transpose, and for each of its offsets: the first entry whose column in A is not
   smaller than the row. */
static __global__ void analysis_transpose(int rows, int entries, const unsigned *sorted, const int *source,
                                          const int *row, int *offsets, int *columns)
{
  const int k = trsv_index();

  if (k < entries) columns[k] = row[source[k]];
  if (k > rows) return;
  offsets[k] = trsv_first(0, entries, [&](int e) { return sorted[e] >= (unsigned)k; });
}

/* The error of an invalid row, the same as on the host. */
static TrsvError ExplainRow(const TrsvMatrix *A, int i, int entries)
{
  int       offset[2], end, *columns;
  size_t    bytes;
  TrsvError error;

  TrsvCall(TrsvDeviceDownload(offset, A->offsets + i, sizeof(offset), NULL));
  end   = offset[1] > offset[0] && offset[1] > entries ? max(offset[0], entries) : offset[1];
  bytes = end > offset[0] ? sizeof(int) * (size_t)(end - offset[0]) : 0;
  TrsvCall(TrsvAlloc(bytes, &columns));
  error = bytes ? TrsvDeviceDownload(columns, A->columns + offset[0], bytes, NULL) : TRSV_SUCCESS;
  if (!error) error = TrsvCheckRow(A, i, offset[0], end, columns);
  free(columns);
  return error ? error
               : TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i,
                          offset[0], offset[1], entries);
}

/* Launches the checks of all rows, and the search for level sets if word [3 rows] is not NULL. scratch: in device
   memory. */
static TrsvError LaunchChecks(const TrsvMatrix *A, unsigned *word, CheckResult *scratch)
{
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceClear(scratch, sizeof(*scratch), NULL));
  TrsvCall(TrsvLaunchEach("analysis_check", analysis_check, A->rows, TriangleView(A), word, scratch));
  return word ? TrsvSearchLevels(A, &scratch->wrong, word, word + A->rows, &scratch->search) : TRSV_SUCCESS;
}

/* Waits for LaunchChecks(); returns the error of the first invalid row. */
static TrsvError ReadChecks(const TrsvMatrix *A, const CheckResult *scratch, CheckResult *found)
{
  *found = CheckResult{};
  if (!A->rows) {
    TrsvCall(TrsvDeviceDownload(&found->start, A->offsets, sizeof(int), NULL));
    return TrsvCheckStart(A, found->start);
  }
  TrsvCall(TrsvDeviceDownload(found, scratch, sizeof(*found), NULL));
  TrsvCall(TrsvCheckStart(A, found->start));
  if (found->wrong) return ExplainRow(A, A->rows - (int)found->wrong, found->entries);
  return TrsvCheckSearch(&found->search);
}

/* Sorts the rows into level sets, and finds their statistics. word: from LaunchChecks(); sums [2]: zeros. */
static TrsvError BuildLevelSets(const TrsvMatrix *A, TrsvAnalysis *a, int entries, unsigned *word, Sum *sums)
{
  const int       rows = A->rows, levels = a->statistics.levels;
  unsigned *const sorted = word + rows;
  Sum             found[2];

  TrsvCall(TrsvDeviceAlloc(sizeof(int) * ((size_t)rows + (size_t)levels + 1), &a->order));
  a->levels = a->order + rows;
  if (!rows) return TrsvDeviceClear(a->levels, sizeof(int), NULL);
  TrsvCall(TrsvSortLevels(rows, levels, word, sorted, (int *)sorted + rows, a->order));
  TrsvCall(TrsvLaunchEach("analysis_level_starts", analysis_level_starts, rows, rows, levels,
                          levels > 1 ? sorted : word, a->levels));
  TrsvCall(TrsvLaunchEach("analysis_span", analysis_span, levels, TriangleView(A), entries, levels, a->levels,
                          a->order, sums));
  TrsvCall(TrsvDeviceDownload(found, sums, sizeof(found), NULL));
  a->statistics.level_span = (double)found[0] / rows;
  a->statistics.hub_fraction =
    TrsvHubFraction(found[1], entries, entries - (A->diagonal == TRSV_DIAGONAL_UNIT ? 0 : rows));
  return TRSV_SUCCESS;
}

/* The words for the search, which follow the result. */
static unsigned *WordsOf(CheckResult *scratch) { return (unsigned *)(scratch + 1); }

static TrsvError ReadAnalysis(const TrsvMatrix *A, CheckResult *scratch, TrsvAnalysis *a)
{
  const bool  unit = A->diagonal == TRSV_DIAGONAL_UNIT;
  CheckResult found;

  TrsvCall(ReadChecks(A, scratch, &found));
  a->statistics.row_max        = (int)found.row_max;
  a->statistics.levels         = (int)found.search.levels;
  a->statistics.level_max      = (int)found.search.widest;
  a->statistics.bandwidth      = (int)found.bandwidth;
  a->statistics.chain_fraction = A->rows ? (double)found.chained / A->rows : 0;
  TrsvFillStatistics(&a->statistics, A->rows, (long)found.entries + (unit ? A->rows : 0),
                     (long)found.entries - (unit ? 0 : A->rows), found.squares, found.distance, found.profile);
  return BuildLevelSets(A, a, found.entries, WordsOf(scratch), scratch->sums);
}

extern "C" TrsvError TrsvDeviceAnalysisBegin(const TrsvMatrix *A, void **scratch)
{
  CheckResult *s;

  *scratch = NULL;
  TrsvCall(TrsvCheckStart(A, 0));
  TrsvCall(TrsvScratchAlloc(sizeof(*s) + 3 * sizeof(unsigned) * (size_t)A->rows, &s, NULL));
  const TrsvError error = LaunchChecks(A, WordsOf(s), s);
  if (error) TrsvScratchFree(s, NULL);
  else *scratch = s;
  return error;
}

extern "C" TrsvError TrsvDeviceAnalysisEnd(const TrsvMatrix *A, void *scratch, TrsvAnalysis *a)
{
  const TrsvError error = ReadAnalysis(A, (CheckResult *)scratch, a);

  TrsvScratchFree(scratch, NULL);
  return error;
}

extern "C" TrsvError TrsvDeviceTranspose(const TrsvMatrix *A, int *offsets, int *columns, int *source)
{
  CheckResult found, *scratch;
  int        *row;
  TrsvError   error;

  TrsvCall(TrsvScratchAlloc(sizeof(*scratch), &scratch, NULL));
  error = LaunchChecks(A, NULL, scratch);
  if (!error) error = ReadChecks(A, scratch, &found);
  TrsvScratchFree(scratch, NULL);
  TrsvCall(error);
  const size_t entries = (size_t)found.entries;
  TrsvCall(TrsvScratchAlloc(3 * sizeof(int) * entries, &row, NULL)); /* and entry numbers, and sorted columns */
  int *const      number = row + entries;
  unsigned *const sorted = (unsigned *)number + entries;

  error = TrsvLaunchEach("analysis_entries", analysis_entries, A->rows, TriangleView(A), row, number);
  if (!error)
    error = TrsvDeviceSort(found.entries, TrsvBits(A->rows - 1), (const unsigned *)A->columns, sorted, number, source);
  if (!error)
    error = TrsvLaunchEach("analysis_transpose", analysis_transpose, max(A->rows + 1, found.entries), A->rows,
                           found.entries, sorted, source, row, offsets, columns);
  TrsvScratchFree(row, NULL);
  return error;
}
