/*
   Level sets, statistics and transposes of a triangle on the device. The host downloads a few words, and an invalid row
   if there is one. Two triangles share their launches, because launches bound the time of small ones.

   Mapping: a block has BLOCK rows, and its threads share all their entries, so a long row does not delay one thread.
   levels.cu finds the level of each row; one sort puts the rows of all triangles into level sets. The transpose is a
   stable sort of the entries by column. Memory order: barriers of a block order shared memory; the host reads results
   of atomics after the launch. Why it ends: no thread waits, except in levels.cu. Same bits: integers, stable sorts.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"

enum {
  BLOCK     = ROWS_BLOCK,
  SAMPLES   = (int)TRSV_SAMPLES / (int)BLOCK, /* of a thread */
  TRIANGLES = 2                               /* of one launch, at most */
};

typedef unsigned long long Sum;

/* What the host downloads. */
typedef struct {
  TrsvMeasures measures; /* levels, level_max: in search */
  unsigned     wrong;    /* rows - (the first invalid row); 0: all are valid */
  int          start;    /* the first offset */
  TrsvSearch   search;
} CheckResult;

/* The level sets of a triangle. */
struct LevelSets {
  int  levels;
  int *order, *start;
};

/* The triangles of a launch, all with the same number of rows. */
struct Triangles {
  TriangleView A[TRIANGLES];
  int          count, rows;
  CheckResult *found;       /* [count] */
  unsigned    *word = NULL; /* [count][rows] 1 + the level of each row; NULL: no level sets are wanted */
  unsigned    *sorted;      /* [count][rows] at first counts of levels (TrsvSearchLevels), then the sorted words */
  int         *natural;     /* [count][rows] 0, 1, ... for each triangle */
  int         *by_level;    /* [count][rows] the rows in the order of their words */
  LevelSets    sets[TRIANGLES] = {}; /* once the search is done */

  Triangles(int count, const TrsvMatrix *const T[]) : A{T[0], T[count - 1]}, count(count), rows(T[0]->rows) { }

  __host__ __device__ size_t size() const { return (size_t)count * (size_t)rows; }
};

/* Checks all rows. If level sets are wanted, also prepares the search for them. */
static __global__ void analysis_check(const __grid_constant__ Triangles all)
{
  TRSV_SHARED(int, start, BLOCK + 1);
  enum { SQUARES, DISTANCE, PROFILE, CHAINED, SUMS }; /* the first members of TrsvMeasures */
  TRSV_SHARED(Sum, sums, SUMS);
  TRSV_SHARED(unsigned, extreme, 3); /* the longest row; the first with falling offsets; the farthest dependency */
  const int          which = (int)blockIdx.x % all.count;
  const TriangleView A     = all.A[which];
  CheckResult *const found = all.found + which;
  const int t = (int)threadIdx.x, first = (int)blockIdx.x / all.count * BLOCK, unit = !A.stored,
            entries = A.offsets[A.rows], rows = rows_load(A.offsets, A.rows, first, start),
            sound = rows_sound(start, rows, entries, &extreme[1]), length = t < sound ? start[t + 1] - start[t] : -1;
  Sum       sum[SUMS] = {};
  unsigned  longest = 0, farthest = 0;

  if (t == 0) {
    for (int n = 0; n < SUMS; n++) sums[n] = 0;
    extreme[0] = extreme[2] = 0;
    if (!first) {
      found->start            = A.offsets[0];
      found->measures.entries = entries;
    }
  }
  if (t < rows) {
    if (all.word) {
      const size_t at = (size_t)which * (size_t)A.rows + (size_t)(first + t);

      all.word[at] = all.sorted[at] = 0;
      all.natural[at] = first + t;
    }
    if (length < 0 || (length == 0 && A.stored)) atomicMax(&found->wrong, (unsigned)(A.rows - first - t));
    if (length >= 0) longest = (unsigned)length + (unsigned)unit;
    sum[SQUARES] = (Sum)longest * longest;
  }
  __syncthreads();
  if (sound) rows_each(start, sound, [&](int n, int k) { /* else start[0] is invalid */
    const int i = first + n, j = A.columns[k];
    bool      good = A.lower ? j >= 0 && j <= i - unit : j >= i + unit && j < A.rows;

    if (k > start[n]) good = good && A.columns[k - 1] < j;
    if (A.stored && k == (A.lower ? start[n + 1] - 1 : start[n])) good = good && j == i;
    if (!good) atomicMax(&found->wrong, (unsigned)(A.rows - i));
    const unsigned away = good ? (unsigned)abs(j - i) : 0; /* invalid columns do not count */
    sum[DISTANCE] += away;
    sum[CHAINED] += away == 1;
    if (k == (A.lower ? start[n] : start[n + 1] - 1)) {
      sum[PROFILE] += away;
      farthest = max(farthest, away);
    }
  });
  for (Sum &s : sum) s = warp_sum(s); /* one 64-bit atomic a warp: in shared memory each is a loop */
  longest  = trsv_warp_max(longest);
  farthest = trsv_warp_max(farthest);
  if (t % 32 == 0) {
    for (int n = 0; n < SUMS; n++) atomicAdd(&sums[n], sum[n]);
    atomicMax(&extreme[0], longest);
    atomicMax(&extreme[2], farthest);
  }
  __syncthreads();
  if (t < SUMS) atomicAdd(&found->measures.squares + t, sums[t]);
  if (t) return;
  atomicMax(&found->measures.row_max, extreme[0]);
  atomicMax(&found->measures.bandwidth, extreme[2]);
}

/* Adds the number of level sets of the first triangle to the words of the second, which are then greater. */
static __global__ void analysis_shift(int rows, unsigned levels, unsigned *word)
{
  const int i = trsv_index();

  if (i < rows) word[i] += levels;
}

/* Copies the sorted rows of each triangle, and finds where its level sets start. sorted, by_level: as in Triangles. */
static __global__ void analysis_order(const __grid_constant__ Triangles all, const unsigned *sorted,
                                      const int *by_level)
{
  const int p = trsv_index(), which = p >= all.rows, own = which ? p - all.rows : p;

  if (p >= (int)all.size()) return;
  const LevelSets s = all.sets[which];
  s.order[own]      = by_level[p];
  if (!own || sorted[p] != sorted[p - 1]) s.start[(int)sorted[p] - 1 - (which ? all.sets[0].levels : 0)] = own;
  if (!own) s.start[s.levels] = all.rows;
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

/* A thread for the span of each level set; the first block of a triangle also finds hub_fraction. The triangles are
   valid. blocks: of the first triangle. */
static __global__ void analysis_span(const __grid_constant__ Triangles all, unsigned blocks)
{
  const unsigned      which = blockIdx.x >= blocks, block = which ? blockIdx.x - blocks : blockIdx.x;
  const LevelSets     s     = all.sets[which];
  TrsvMeasures *const found = &all.found[which].measures;
  const int           l = (int)(block * BLOCK + threadIdx.x), first = l < s.levels ? s.start[l] : 0,
            size = l < s.levels ? s.start[l + 1] - first : 0, cut = TRSV_SPAN_CUT(size), entries = found->entries;
  const Sum mine = warp_sum(size ? (Sum)size * (Sum)(s.order[first + size - 1 - cut] - s.order[first + cut]) : 0);

  if (threadIdx.x % 32 == 0) (void)atomicAdd(&found->spans, mine);
  if (!block && entries) analysis_sample(all.A[which], entries, &found->hubs);
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

/* A thread for each entry of the transpose, and for each offset: the first entry whose column in A is not smaller. */
static __global__ void analysis_transpose(int rows, int entries, const unsigned *sorted, const int *source,
                                          const int *row, int *offsets, int *columns)
{
  const int k = trsv_index();

  if (k < entries) columns[k] = row[source[k]];
  if (k > rows) return;
  offsets[k] = trsv_first(0, entries, [&](int e) { return sorted[e] >= (unsigned)k; });
}

/* Checks all rows and, if level sets are wanted, searches for them. Returns the error of the first invalid row, first
   of the first triangle. found [count]. */
static TrsvError CheckRows(const Triangles *all, const TrsvMatrix *const A[], CheckResult found[])
{
  const size_t    bytes = sizeof(*found) * (size_t)all->count;
  TrsvLevelSearch search[TRIANGLES];

  memset(found, 0, bytes);
  for (int t = 0; all->word && t < all->count; t++) {
    const size_t at = (size_t)t * (size_t)all->rows;

    search[t] = {A[t], 1, &all->found[t].wrong, all->word + at, all->sorted + at, &all->found[t].search};
  }
  if (all->rows) {
    TrsvCall(TrsvDeviceClear(all->found, bytes, NULL));
    TrsvCall(TrsvLaunch(analysis_check, (unsigned)all->count * TrsvBlocks(all->rows, BLOCK), BLOCK, 0, NULL, *all));
    if (all->word) TrsvCall(TrsvSearchLevels(all->count, search));
    TrsvCall(TrsvDeviceDownload(found, all->found, bytes, NULL));
  }
  for (int t = 0; t < all->count; t++) {
    if (!all->rows) TrsvCall(TrsvDeviceDownload(&found[t].start, A[t]->offsets, sizeof(int), NULL));
    TrsvCall(TrsvCheckStart(A[t], found[t].start));
    if (found[t].wrong) return TrsvCheckRow(A[t], all->rows - (int)found[t].wrong, found[t].measures.entries);
    TrsvCall(TrsvSyncCheck(found[t].search.state, TRSV_LEVEL_SEARCH));
  }
  return TRSV_SUCCESS;
}

/* Sorts the rows of all triangles into their level sets. */
static TrsvError SortRows(const Triangles *all)
{
  const int       total = all->sets[0].levels + all->sets[1].levels, size = (int)all->size();
  const unsigned *sorted   = all->word;
  const int      *by_level = all->natural;

  if (all->count > 1)
    TrsvCall(
      TrsvLaunchEach(analysis_shift, all->rows, all->rows, (unsigned)all->sets[0].levels, all->word + all->rows));
  if (total > all->count) { /* else each triangle has one level set: its rows are sorted */
    TrsvCall(TrsvDeviceSort(size, TrsvBits(total), all->word, all->sorted, all->natural, all->by_level));
    sorted   = all->sorted;
    by_level = all->by_level;
  }
  return TrsvLaunchEach(analysis_order, size, *all, sorted, by_level);
}

/* Makes the level sets of all triangles, and finds the sums over them. */
static TrsvError BuildLevelSets(Triangles *all, TrsvAnalysis *const analysis[], CheckResult found[])
{
  const size_t rows = (size_t)all->rows;
  unsigned     blocks[TRIANGLES] = {};

  for (int t = 0; t < all->count; t++) {
    TrsvAnalysis *const a      = analysis[t];
    const int           levels = (int)found[t].search.levels;

    TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + (size_t)levels + 1), &a->order));
    a->levels = a->order + rows;
    if (!rows) TrsvCall(TrsvDeviceClear(a->levels, sizeof(int), NULL));
    all->sets[t] = {levels, a->order, a->levels};
    blocks[t]    = TrsvBlocks(levels, BLOCK);
  }
  if (!rows) return TRSV_SUCCESS;
  TrsvCall(SortRows(all));
  TrsvCall(TrsvLaunch(analysis_span, blocks[0] + blocks[1], BLOCK, 0, NULL, *all, blocks[0]));
  return TrsvDeviceDownload(found, all->found, sizeof(*found) * (size_t)all->count, NULL);
}

TrsvError TrsvDeviceAnalyze(int count, const TrsvMatrix *const A[], TrsvAnalysis *const analysis[])
{
  CheckResult found[TRIANGLES];
  TrsvScratch scratch;
  Triangles   all(count, A);

  TrsvCall(TrsvCheckStart(A[0], 0));
  TrsvCall(scratch.take((size_t)count, all.found, all.size(), all.word, all.size(), all.sorted, all.size(),
                        all.natural, all.size(), all.by_level));
  TrsvCall(CheckRows(&all, A, found));
  TrsvCall(BuildLevelSets(&all, analysis, found));
  for (int t = 0; t < count; t++) {
    found[t].measures.levels    = found[t].search.levels;
    found[t].measures.level_max = found[t].search.widest;
    TrsvFillStatistics(A[t], &found[t].measures, &analysis[t]->statistics);
  }
  return TRSV_SUCCESS;
}

TrsvError TrsvDeviceTranspose(const TrsvMatrix *A, int *offsets, int *columns, int *source)
{
  CheckResult found;
  TrsvScratch check, scratch;
  Triangles   one(1, &A);
  unsigned   *sorted;
  int        *row, *number;

  TrsvCall(check.take(1, one.found));
  TrsvCall(CheckRows(&one, &A, &found));
  const int    n       = found.measures.entries;
  const size_t entries = (size_t)n;
  TrsvCall(scratch.take(entries, row, entries, number, entries, sorted));
  TrsvCall(TrsvLaunchEach(analysis_entries, A->rows, TriangleView(A), row, number));
  TrsvCall(TrsvDeviceSort(n, TrsvBits(A->rows - 1), (const unsigned *)A->columns, sorted, number, source));
  return TrsvLaunchEach(analysis_transpose, max(A->rows + 1, n), A->rows, n, sorted, source, row, offsets, columns);
}
