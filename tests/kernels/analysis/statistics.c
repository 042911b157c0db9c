/*
   Statistics of triangles: level sets and statistics against a naive computation, parallel granularity against
   published values, the fraction of dependencies on few rows.
*/
#include <limits.h>
#include "analysis/analysis.h"
#include "check.h"

static void CheckAgainstNaive(const TrsvMatrix *A)
{
  const int rows = A->rows, lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT;
  int      *level = calloc((size_t)rows + 1, sizeof(int)), *place = malloc(sizeof(int) * ((size_t)rows + 1)),
      *size            = calloc((size_t)rows + 1, sizeof(int));
  int           levels = 0, chained = 0, row_max = 0, level_max = 0, off = 0, bandwidth = 0;
  double        distance = 0, profile = 0, span = 0, variance = 0, mean;
  TrsvAnalysis *a;

  if (!ExpectError(TrsvAnalyze(A, &a), TRSV_SUCCESS, "TrsvAnalyze")) goto done;
  for (int changed = 1; changed;) { /* until no level changes */
    changed = 0;
    for (int r = 0; r < rows; r++) {
      const int i = lower ? r : rows - 1 - r;

      for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
        if (A->columns[k] != i && level[i] <= level[A->columns[k]]) level[i] = level[A->columns[k]] + 1, changed = 1;
    }
  }
  mean = rows ? (double)A->offsets[rows] / rows + unit : 0;
  for (int i = 0; i < rows; i++) {
    const int length = A->offsets[i + 1] - A->offsets[i] + unit;

    if (level[i] >= levels) levels = level[i] + 1;
    if (++size[level[i]] > level_max) level_max = size[level[i]];
    if (length > row_max) row_max = length;
    variance += (length - mean) * (length - mean) / rows;
    int farthest = 0;

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int away = abs(A->columns[k] - i);

      distance += away, off += away > 0, chained += away == 1;
      if (away > farthest) farthest = away;
    }
    profile += farthest;
    if (farthest > bandwidth) bandwidth = farthest;
  }
  Expect(a->statistics.rows == rows && a->statistics.nnz == A->offsets[rows] + (unit ? rows : 0), "rows %d, nnz %ld",
         a->statistics.rows, a->statistics.nnz);
  Expect(a->statistics.levels == levels, "%d rows: %d level sets, not %d", rows, a->statistics.levels, levels);
  Expect(a->statistics.row_max == row_max && a->statistics.level_max == level_max,
         "largest row %d, not %d; largest level %d, not %d", a->statistics.row_max, row_max, a->statistics.level_max,
         level_max);
  if (rows) {
    Expect(fabs(a->statistics.row_mean - mean) < 1e-12 * mean, "row mean");
    Expect(fabs(a->statistics.row_variation - sqrt(variance) / mean) < 1e-6, "row variation %g, not %g",
           a->statistics.row_variation, sqrt(variance) / mean);
    Expect(fabs(a->statistics.chain_fraction - (double)chained / rows) < 1e-12, "%g of the rows chained, not %d",
           a->statistics.chain_fraction, chained);
    Expect(fabs(a->statistics.level_mean - (double)rows / levels) < 1e-9, "level mean");
    Expect(a->statistics.bandwidth == bandwidth && fabs(a->statistics.row_bandwidth - profile / rows) < 1e-9 * rows,
           "bandwidth %d, of a row %g, not %d and %g", a->statistics.bandwidth, a->statistics.row_bandwidth, bandwidth,
           profile / rows);
    for (int l = 0; l < levels;
         l++) { /* the first and the last row of each level set, without a tenth at either end, by counting */
      int first = -1, last = -1;

      for (int i = 0, before = 0; i < rows; i++) {
        if (level[i] != l) continue;
        if (before == size[l] / 10) first = i;
        if (before == size[l] - 1 - size[l] / 10) last = i;
        before++;
      }
      span += (double)size[l] * (last - first);
    }
    Expect(fabs(a->statistics.level_span - span / rows) < 1e-9 * rows && a->statistics.late_per_row == 0,
           "span %g, not %g; late %g", a->statistics.level_span, span / rows, a->statistics.late_per_row);
    Expect(fabs(a->statistics.mean_offset - (off ? distance / off : 0)) < 1e-9, "distance %g, not %g",
           a->statistics.mean_offset, off ? distance / off : 0);
  }
  /* a permutation by level sets, ascending in each: every row follows the rows on which it depends */
  for (int i = 0; i < rows; i++) place[i] = -1;
  Expect(a->levels[0] == 0 && a->levels[levels] == rows, "the level sets end at %d, not %d", a->levels[levels], rows);
  for (int l = 0; l < levels; l++)
    for (int p = a->levels[l]; p < a->levels[l + 1] && p < rows; p++) {
      Expect(level[a->order[p]] == l, "row %d is not in level set %d", a->order[p], l);
      Expect(p == a->levels[l] || a->order[p] > a->order[p - 1], "level set %d does not rise", l);
      place[a->order[p]] = p;
    }
  for (int i = 0; i < rows; i++) {
    if (!Expect(place[i] >= 0, "row %d is not in the order", i)) break;
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] != i) Expect(place[A->columns[k]] < place[i], "row %d comes before row %d", i, A->columns[k]);
  }
  TrsvAnalysisDestroy(&a);
  Expect(a == NULL, "TrsvAnalysisDestroy leaves the pointer");
done:
  free(level);
  free(place);
  free(size);
}

static void TestLevels(void)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    Begin("analysis %s", ShapeName[shape]);
    for (int variant = 0; variant < 4; variant++)
      for (int size = 0; size < 9; size++) {
        static const int sizes[] = {0, 1, 2, 3, 9, 27, 64, 125, 729};
        Triangle T = MakeTriangle((Shape)shape, sizes[size], (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1),
                                  TRSV_DOUBLE, (unsigned)size);

        if (shape != DENSE || sizes[size] < 200) CheckAgainstNaive(&T.view);
        FreeTriangle(&T);
      }
    End();
  }
}

/* The granularity of a lower triangle of equal level sets, whose rows have about so many entries. */
static double MeasureGranularity(int levels, double per_level, double per_row)
{
  const int     width = (int)lround(per_level), rows = levels * width;
  int          *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns, n = 0;
  double        wanted = 0, g = NAN;
  TrsvAnalysis *a;

  columns    = malloc(sizeof(int) * (size_t)(rows * (per_row + 2)));
  offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    const int l = i / width;

    wanted +=
      per_row * levels / (levels - 1.) - 1. / (levels - 1); /* rows of the first level set have a diagonal only */
    if (!l) wanted = 0;
    columns[n] = i;
    if (l) {
      const int off = (int)wanted - 1;

      for (int k = off > 0 ? off : 1; k > 0; k--) columns[n++] = l * width - k; /* of the level set before */
      columns[n] = i;
      wanted -= (int)wanted;
    }
    offsets[i + 1] = ++n;
  }
  TrsvMatrix A = {rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, TRSV_HOST, NULL};
  if (ExpectError(TrsvAnalyze(&A, &a), TRSV_SUCCESS, "TrsvAnalyze")) {
    Expect(a->statistics.levels == levels && fabs(a->statistics.level_mean - per_level) < 1 &&
             fabs(a->statistics.row_mean - per_row) < 0.01,
           "made %d level sets of %g rows, %g entries a row", a->statistics.levels, a->statistics.level_mean,
           a->statistics.row_mean);
    g = a->statistics.granularity;
    TrsvAnalysisDestroy(&a);
  }
  free(offsets);
  free(columns);
  return g;
}

/* CapelliniSpTRSV (ICPP 2020), Table 6. */
static void TestGranularity(void)
{
  static const struct {
    const char *name;
    double      per_row, per_level, granularity;
  } published[] = {
    {"rajat29", 4.89, 14636.23, 0.78},
    {"bayer01", 3.39, 9622.50, 0.87},
    {"circuit5M_dc", 3.02, 12812.06, 0.92},
  };

  for (size_t i = 0; i < 3; i++) {
    double g;

    Begin("parallel granularity as published for %s", published[i].name);
    g = MeasureGranularity(8, published[i].per_level, published[i].per_row);
    Expect(fabs(g - published[i].granularity) <= 0.00501, "%.4f, not %.2f", g, published[i].granularity);
    End();
  }
}

/* The fraction of dependencies on few rows of a lower triangle whose rows depend on the row before and on the first
   `hubs` rows. */
static double MeasureHubFraction(int rows, int hubs)
{
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)),
      *columns = malloc(sizeof(int) * (size_t)rows * (size_t)(hubs + 2)), n = 0;
  double        shared = NAN;
  TrsvAnalysis *a;

  for (int i = 0; i < rows; i++) {
    offsets[i] = n;
    for (int j = 0; j < hubs && j < i; j++) columns[n++] = j;
    if (i > hubs) columns[n++] = i - 1;
    columns[n++] = i;
  }
  offsets[rows] = n;
  TrsvMatrix A  = {rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, TRSV_HOST, NULL};
  ExpectSameAnalysis(&A);
  if (ExpectError(TrsvAnalyze(&A, &a), TRSV_SUCCESS, "TrsvAnalyze")) shared = a->statistics.hub_fraction;
  TrsvAnalysisDestroy(&a);
  free(offsets);
  free(columns);
  return shared;
}

/* The fraction of dependencies on rows with more than 120 dependents: exact if the sample has all entries, approximate
   otherwise. */
static void TestHubFraction(void)
{
  static const struct {
    int    rows, hubs;
    double least, most;
  } cases[] = {
    {1, 0, 0, 0},
    {120, 2, 0, 0},
    {500, 3, 1137 / 1990. - 1e-9,
     1137 / 1990. + 1e-9}, /* 499, 498 and 497, and the diagonals, which are in the sample too */
    {20000, 0, 0, 0},
    {20000, 9, 0.86, 0.92}, /* 0.895 */
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Begin("dependencies on the same rows: %d of %d", cases[c].hubs, cases[c].rows);
    const double shared = MeasureHubFraction(cases[c].rows, cases[c].hubs);
    Expect(shared >= cases[c].least && shared <= cases[c].most, "%.17g, not %g to %g", shared, cases[c].least,
           cases[c].most);
    End();
  }
  Begin("a few entries of a sample that share a bin are no hub");
  Expect(!TrsvHubEntries(TRSV_BIN_MIN - 1, INT_MAX) && TrsvHubEntries(TRSV_BIN_MIN, INT_MAX) > 0, "%llu and %llu",
         TrsvHubEntries(TRSV_BIN_MIN - 1, INT_MAX), TrsvHubEntries(TRSV_BIN_MIN, INT_MAX));
  End();
}

void TestStatistics(void)
{
  TestLevels();
  TestGranularity();
  TestHubFraction();
}
