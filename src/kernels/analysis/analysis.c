/*
   Level sets, statistics and transposes of a triangle on the host. analysis.cu computes the same results on a device,
   and uses the checks and formulas of this file.
*/
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "analysis/analysis.h"

TrsvError TrsvEntries(const TrsvMatrix *A, int *entries)
{
  if (A->memory == TRSV_DEVICE) return TrsvDeviceDownload(entries, A->offsets + A->rows, sizeof(int), NULL);
  *entries = A->offsets[A->rows];
  return TRSV_SUCCESS;
}

TrsvError TrsvCheckStart(const TrsvMatrix *A, int start)
{
  if (A->rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "the number of rows is %d; it must not be negative", A->rows);
  return start ? TrsvFail(TRSV_ERR_STRUCTURE, "offsets start at %d, not at 0", start) : TRSV_SUCCESS;
}

TrsvError TrsvCheckRow(const TrsvMatrix *A, int i, int entries)
{
  const int lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT;

  return TrsvCheckMatrixRow(A->memory, A->offsets, A->columns, entries, i, lower ? 0 : i + unit,
                            lower ? i - unit : A->rows - 1, 1, !unit);
}

/* Checks that columns rise, are in the triangle, and that the diagonal is stored in its place. A solve with an invalid
   triangle would hang or read outside of arrays. */
static TrsvError CheckStructure(const TrsvMatrix *A)
{
  TrsvCall(TrsvCheckStart(A, A->offsets[0]));
  for (int i = 0; i < A->rows; i++) TrsvCall(TrsvCheckRow(A, i, A->offsets[A->rows]));
  return TRSV_SUCCESS;
}

void TrsvFillStatistics(const TrsvMatrix *A, const TrsvMeasures *m, TrsvStatistics *s)
{
  const int  rows = A->rows, unit = A->diagonal == TRSV_DIAGONAL_UNIT;
  const long off  = (long)m->entries - (unit ? 0 : rows); /* entries off the diagonal */

  s->rows = rows;
  s->nnz  = off + rows;
  if (!rows) return;
  s->row_max        = (int)m->row_max;
  s->bandwidth      = (int)m->bandwidth;
  s->levels         = (int)m->levels;
  s->level_max      = (int)m->level_max;
  s->chain_fraction = (double)m->chained / rows;
  s->level_span     = (double)m->spans / rows;
  s->hub_fraction   = off ? fmin(1, (double)m->hubs / TrsvSamples(m->entries) / (double)off) : 0;
  s->row_mean       = (double)s->nnz / rows;
  s->row_variation  = sqrt(fmax(0, (double)m->squares / rows - s->row_mean * s->row_mean)) / s->row_mean;
  s->level_mean     = (double)rows / s->levels;
  s->mean_offset    = off ? (double)m->distance / (double)off : 0;
  s->row_bandwidth  = (double)m->profile / rows;
  /* with the first bias outside its logarithm, Equation 1 gives the values of the paper's Table 6 */
  s->granularity = log10(log10(s->level_mean) / (log10(s->row_mean) + 0.01) + 0.01);
}

/* The sum for hub_fraction of a valid triangle. */
static unsigned long long FindHubs(const TrsvMatrix *A)
{
  const int          entries        = A->offsets[A->rows];
  unsigned           bin[TRSV_BINS] = {0};
  unsigned long long sum            = 0;

  for (int n = 0; n < TrsvSamples(entries); n++) bin[TrsvBin(A->columns[TrsvSample(n, entries)])]++;
  for (int n = 0; n < TRSV_BINS; n++) sum += TrsvHubEntries(bin[n], entries);
  return sum;
}

/* level[i] = 1 + the largest level of the rows that row i depends on; 0 without any. The same pass checks the triangle
   and measures all but level sets. If a check fails, CheckStructure() reports the first invalid row. */
static TrsvError MeasureRows(const TrsvMatrix *A, int level[], TrsvMeasures *measures)
{
  const int    lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT, rows = A->rows;
  TrsvMeasures m = {.entries = A->offsets[rows]};

  TrsvCall(TrsvCheckStart(A, A->offsets[0]));
  for (int r = 0; r < rows; r++) {
    const int i = lower ? r : rows - 1 - r, last = lower ? i - 1 : rows - 1; /* valid column */
    const int start = A->offsets[i], past = A->offsets[i + 1];
    int       begin, end, diagonal, before = lower ? -1 : i;
    unsigned  length, farthest = 0, l = 0;

    if (start < 0 || past < start || past > m.entries || (!unit && past == start)) return CheckStructure(A);
    length = (unsigned)(past - start + unit);
    TrsvRowRange(A, i, &begin, &end, &diagonal);
    if (!unit && A->columns[diagonal] != i) return CheckStructure(A);
    for (int k = begin; k < end; k++) {
      const int j = A->columns[k];
      unsigned  away;

      if (j <= before || j > last) return CheckStructure(A);
      away   = (unsigned)(lower ? i - j : j - i);
      before = j;
      if ((unsigned)level[j] >= l) l = (unsigned)level[j] + 1;
      if (away > farthest) farthest = away;
      m.distance += away;
      m.chained += away == 1;
    }
    level[i] = (int)l;
    if (l >= m.levels) m.levels = l + 1;
    if (length > m.row_max) m.row_max = length;
    if (farthest > m.bandwidth) m.bandwidth = farthest;
    m.profile += farthest;
    m.squares += (unsigned long long)length * length;
  }
  m.hubs    = FindHubs(A);
  *measures = m;
  return TRSV_SUCCESS;
}

/* Sorts the rows by level set, rising in each, and measures level sets. levels [number of levels + 2]: zeros before. */
static void SortByLevel(int rows, const int level[], int order[], int levels[], TrsvMeasures *m)
{
  /* a counting sort: levels[l + 1] rises from the start of set l to its end, which is the start of set l + 1 */
  for (int i = 0; i < rows; i++) levels[level[i] + 2]++;
  for (int l = 1; l <= (int)m->levels; l++) levels[l + 1] += levels[l];
  for (int i = 0; i < rows; i++) order[levels[level[i] + 1]++] = i;
  for (int l = 0; l < (int)m->levels; l++) {
    const int *set = order + levels[l], size = levels[l + 1] - levels[l];

    if (size > (int)m->level_max) m->level_max = (unsigned)size;
    m->spans += (unsigned long long)size *
                (unsigned long long)(set[size - 1 - TRSV_SPAN_CUT(size)] - set[TRSV_SPAN_CUT(size)]);
  }
}

/* TrsvAnalyze of a triangle on the host. */
static TrsvError AnalyzeOnHost(const TrsvMatrix *A, TrsvAnalysis *a)
{
  int         *level;
  TrsvMeasures m = {0};
  TrsvError    error;

  if (A->rows < 0) return TrsvCheckStart(A, 0);
  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)A->rows, &level));
  error = MeasureRows(A, level, &m);
  if (!error) error = TrsvAlloc(sizeof(int) * ((size_t)A->rows + m.levels + 2), &a->order);
  if (!error) {
    a->levels = a->order + A->rows;
    SortByLevel(A->rows, level, a->order, a->levels, &m);
    TrsvFillStatistics(A, &m, &a->statistics);
  }
  free(level);
  return error;
}

/* Analyzes triangles with the same number of rows, 1 or 2. On an error all analyses are NULL. */
static TrsvError Analyze(int count, const TrsvMatrix *const A[], TrsvAnalysis *analysis[])
{
  TrsvError error = TRSV_SUCCESS;

  for (int t = 0; t < count; t++) analysis[t] = NULL;
  for (int t = 0; t < count && !error; t++) {
    error = TrsvAlloc(sizeof(*analysis[t]), &analysis[t]);
    if (error) break;
    analysis[t]->memory = A[t]->memory;
    if (A[t]->memory == TRSV_HOST) error = AnalyzeOnHost(A[t], analysis[t]);
  }
  if (!error && A[0]->memory == TRSV_DEVICE) error = TrsvDeviceAnalyze(count, A, analysis);
  for (int t = 0; t < count && error; t++) TrsvAnalysisDestroy(&analysis[t]);
  return error;
}

TrsvError TrsvAnalyze(const TrsvMatrix *A, TrsvAnalysis **analysis) { return Analyze(1, &A, analysis); }

TrsvError TrsvAnalyzeBoth(const TrsvMatrix *L, const TrsvMatrix *U, TrsvAnalysis **lower, TrsvAnalysis **upper)
{
  const TrsvMatrix *const A[] = {L, U};
  TrsvAnalysis           *made[2] = {NULL, NULL};
  const int               device  = L->memory == TRSV_DEVICE;
  TrsvError               error   = device && L->rows > INT_MAX / 2 ? TRSV_ERR_MEMORY : Analyze(2, A, made);

  if (device && error == TRSV_ERR_MEMORY) { /* one at a time may find enough memory, or numbers of 32 bits */
    error = TrsvAnalyze(L, &made[0]);
    if (!error) error = TrsvAnalyze(U, &made[1]);
    if (error) TrsvAnalysisDestroy(&made[0]);
  }
  *lower = made[0];
  *upper = made[1];
  return error;
}

void TrsvAnalysisDestroy(TrsvAnalysis **analysis)
{
  TrsvAnalysis *a = *analysis;

  if (!a) return;
  TrsvFree(a->memory, a->order);
  free(a);
  *analysis = NULL;
}

/* A counting sort as in SortByLevel: offsets [rows + 2], zeros before; offsets[j + 1] rises from the start of row j to
   its end. */
static TrsvError TransposeOnHost(const TrsvMatrix *A, int *offsets, int *columns, int *source)
{
  TrsvCall(CheckStructure(A));
  for (int k = 0; k < A->offsets[A->rows]; k++) offsets[A->columns[k] + 2]++;
  for (int j = 1; j <= A->rows; j++) offsets[j + 1] += offsets[j];
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int to = offsets[A->columns[k] + 1]++;

      columns[to] = i;
      source[to]  = k;
    }
  return TRSV_SUCCESS;
}

TrsvError TrsvTranspose(const TrsvMatrix *A, TrsvMatrix *transpose, int **offsets, const int **source)
{
  int       entries;
  TrsvError error;

  *offsets = NULL;
  TrsvCall(TrsvCheckStart(A, 0));
  TrsvCall(TrsvEntries(A, &entries));
  const size_t rows = (size_t)A->rows + 2, nnz = entries > 0 ? (size_t)entries : 0; /* not checked yet */
  TrsvCall(TrsvAllocIn(A->memory, sizeof(int) * (rows + 2 * nnz), offsets));
  error = (A->memory == TRSV_HOST ? TransposeOnHost : TrsvDeviceTranspose)(A, *offsets, *offsets + rows,
                                                                           *offsets + rows + nnz);
  if (error) {
    TrsvFree(A->memory, *offsets);
    *offsets = NULL;
    return error;
  }
  *transpose          = *A;
  transpose->offsets  = *offsets;
  transpose->columns  = *offsets + rows;
  transpose->triangle = A->triangle == TRSV_LOWER ? TRSV_UPPER : TRSV_LOWER;
  transpose->analysis = NULL;
  *source             = *offsets + rows + nnz;
  return TRSV_SUCCESS;
}
