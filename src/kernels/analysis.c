/*
   Level sets and statistics of a triangle, on the host.
*/
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include "impl.h"

static double Seconds(void)
{
  struct timespec t;

  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Columns rise, lie on the triangle's side, and the diagonal is where the view says: anything else would hang or corrupt a solve. */
static TrsvError CheckStructure(const TrsvMatrix *A)
{
  const int lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT;

  if (A->rows < 0) return TrsvFail(TRSV_ERR_ARGUMENT, "%d rows", A->rows);
  if (A->offsets[0] != 0) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets start at %d, not at 0", A->offsets[0]);
  for (int i = 0; i < A->rows; i++) {
    const int begin = A->offsets[i], end = A->offsets[i + 1];
    /* what a column of this row may be */
    const int first = lower ? 0 : i + unit, last = lower ? i - unit : A->rows - 1;

    if (end < begin) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, begin, end);
    for (int k = begin; k < end; k++) {
      const int j = A->columns[k];

      if (j < first || j > last) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: column %d is not in the %s triangle%s of %d rows", i, j, lower ? "lower" : "upper", unit ? " off the diagonal" : "", A->rows);
      if (k > begin && j <= A->columns[k - 1]) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: column %d follows column %d; columns must rise", i, j, A->columns[k - 1]);
    }
    if (!unit && (begin == end || A->columns[lower ? end - 1 : begin] != i)) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d has no diagonal entry", i);
  }
  return TRSV_SUCCESS;
}

/* level[i] = 1 + the largest level among the rows that row i depends on; returns how many levels there are */
static int FindLevels(const TrsvMatrix *A, int level[])
{
  const int lower = A->triangle == TRSV_LOWER;
  int       levels = 0;

  for (int r = 0; r < A->rows; r++) {
    const int i = lower ? r : A->rows - 1 - r;
    int       begin, end, diagonal, l = 0;

    TrsvRow(A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++)
      if (level[A->columns[k]] >= l) l = level[A->columns[k]] + 1;
    level[i] = l;
    if (l >= levels) levels = l + 1;
  }
  return levels;
}

static void FillStatistics(const TrsvMatrix *A, const int levels[], TrsvStatistics *s)
{
  const int unit = A->diagonal == TRSV_DIAGONAL_UNIT, rows = A->rows;
  double    squares = 0, distance = 0;
  long      off = 0;

  s->rows = rows;
  s->nnz  = (long)A->offsets[rows] + (unit ? rows : 0);
  for (int i = 0; i < rows; i++) {
    const int length = A->offsets[i + 1] - A->offsets[i] + unit;
    int       begin, end, diagonal;

    if (length > s->row_max) s->row_max = length;
    squares += (double)length * length;
    TrsvRow(A, i, &begin, &end, &diagonal);
    for (int k = begin; k < end; k++) distance += abs(A->columns[k] - i);
    off += end - begin;
  }
  for (int l = 0; l < s->levels; l++)
    if (levels[l + 1] - levels[l] > s->level_max) s->level_max = levels[l + 1] - levels[l];
  if (!rows) return;
  s->row_mean      = (double)s->nnz / rows;
  s->row_variation = sqrt(fmax(0, squares / rows - s->row_mean * s->row_mean)) / s->row_mean;
  s->level_mean    = (double)rows / s->levels;
  s->distance      = off ? distance / (double)off : 0;
  /* the first bias stands outside its logarithm: so read, Equation 1 gives the values of the paper's Table 6 */
  s->granularity = log10(log10(s->level_mean) / (log10(s->row_mean) + 0.01) + 0.01);
}

static TrsvError OnHost(const TrsvMatrix *A, TrsvAnalysis **analysis)
{
  TrsvMatrix H = *A; int n, *o = NULL, *c = NULL, *d; TrsvError e;
  *analysis = NULL;
  TrsvCall(TrsvEntries(A, &n));
  H.memory = TRSV_HOST;
  e = TrsvAlloc(sizeof(int) * ((size_t)A->rows + 1), &o);
  if (!e) e = TrsvAlloc(sizeof(int) * (size_t)n, &c);
  if (!e) e = TrsvDeviceDownload(o, A->offsets, sizeof(int) * ((size_t)A->rows + 1), NULL);
  if (!e) e = TrsvDeviceDownload(c, A->columns, sizeof(int) * (size_t)n, NULL);
  H.offsets = o; H.columns = c;
  if (!e) e = TrsvAnalyse(&H, analysis);
  free(o); free(c);
  if (e) return e;
  TrsvAnalysis *a = *analysis;
  a->memory = TRSV_DEVICE;
  for (int k = 0; !e && k < 2; k++) {
    int **p = k ? &a->levels : &a->order; size_t m = sizeof(int) * (size_t)(k ? a->statistics.levels + 1 : A->rows);
    d = NULL;
    e = TrsvDeviceAlloc(m, &d);
    if (!e) e = TrsvDeviceUpload(d, *p, m, NULL);
    free(*p); *p = d;
    if (e && !k) free(a->levels), a->levels = NULL;
  }
  if (e) TrsvAnalysisDestroy(analysis);
  return e;
}

TrsvError TrsvAnalyse(const TrsvMatrix *A, TrsvAnalysis **analysis)
{
  if (A->memory == TRSV_DEVICE) return OnHost(A, analysis);
  const double  start = Seconds();
  TrsvAnalysis *a;
  int          *level;

  *analysis = NULL;
  TrsvCall(CheckStructure(A));
  a     = calloc(1, sizeof(*a));
  level = malloc(sizeof(int) * ((size_t)A->rows + 1));
  if (a && level) {
    a->statistics.levels = FindLevels(A, level);
    a->levels            = calloc((size_t)a->statistics.levels + 2, sizeof(int));
    a->order             = malloc(sizeof(int) * ((size_t)A->rows + 1));
  }
  if (!a || !level || !a->levels || !a->order) {
    free(level);
    TrsvAnalysisDestroy(&a);
    return TrsvFail(TRSV_ERR_MEMORY, "no memory to analyse %d rows", A->rows);
  }
  /* counting sort by level: levels[l + 1] runs from the start of set l to its end, which is the start of set l + 1 */
  for (int i = 0; i < A->rows; i++) a->levels[level[i] + 2]++;
  for (int l = 1; l <= a->statistics.levels; l++) a->levels[l + 1] += a->levels[l];
  for (int i = 0; i < A->rows; i++) a->order[a->levels[level[i] + 1]++] = i;
  free(level);
  FillStatistics(A, a->levels, &a->statistics);
  a->seconds = Seconds() - start;
  *analysis  = a;
  return TRSV_SUCCESS;
}

void TrsvAnalysisDestroy(TrsvAnalysis **analysis)
{
  if (!*analysis) return;
  TrsvFree((*analysis)->memory, (*analysis)->order);
  TrsvFree((*analysis)->memory, (*analysis)->levels);
  free(*analysis);
  *analysis = NULL;
}

TrsvError TrsvTranspose(const TrsvMatrix *A, TrsvMatrix *transpose, int **offsets, const int **source)
{
  const size_t rows = (size_t)A->rows, nnz = (size_t)A->offsets[rows];
  int         *o, *columns, *from;

  *offsets = NULL;
  TrsvCall(CheckStructure(A));
  *offsets = o = calloc(rows + 2 + 2 * nnz, sizeof(int));
  if (!o) return TrsvFail(TRSV_ERR_MEMORY, "no memory to transpose %zu entries", nnz);
  columns = o + rows + 2;
  from    = columns + nnz;
  /* as in TrsvAnalyse: o[j + 1] runs through row j of the transpose while it is filled */
  for (size_t k = 0; k < nnz; k++) o[A->columns[k] + 2]++;
  for (size_t j = 1; j <= rows; j++) o[j + 1] += o[j];
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int to = o[A->columns[k] + 1]++;

      columns[to] = i;
      from[to]    = k;
    }
  *transpose          = *A;
  transpose->offsets  = o;
  transpose->columns  = columns;
  transpose->triangle = A->triangle == TRSV_LOWER ? TRSV_UPPER : TRSV_LOWER;
  *source             = from;
  return TRSV_SUCCESS;
}
