/*
   Analysis: level sets and statistics against a naive computation, parallel granularity against published values, bad
   structure, transposes. And the table of algorithms.
*/
#include <limits.h>
#include "check.h"

static void Naive(const TrsvMatrix *A)
{
  const int rows = A->rows, lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT;
  int      *level = calloc((size_t)rows + 1, sizeof(int)), *place = malloc(sizeof(int) * ((size_t)rows + 1)),
      *size            = calloc((size_t)rows + 1, sizeof(int));
  int           levels = 0, chained = 0, row_max = 0, level_max = 0, off = 0, bandwidth = 0;
  double        distance = 0, profile = 0, span = 0, variance = 0, mean;
  TrsvAnalysis *a;

  if (!ExpectError(TrsvAnalyze(A, &a), TRSV_SUCCESS, "TrsvAnalyze")) goto done;
  for (int changed = 1; changed;) { /* until nothing rises any more */
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
    for (int l = 0; l < levels; l++) { /* the first and the last of a set but for a tenth at either end, by counting */
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
  /* a permutation, by level sets, rising within a set: so every row follows all it depends on */
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

static void TestStatistics(void)
{
  for (int shape = 0; shape < SHAPES; shape++) {
    Begin("analysis %s", ShapeName[shape]);
    for (int variant = 0; variant < 4; variant++)
      for (int size = 0; size < 9; size++) {
        static const int sizes[] = {0, 1, 2, 3, 9, 27, 64, 125, 729};
        Triangle T = MakeTriangle((Shape)shape, sizes[size], (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1),
                                  TRSV_DOUBLE, (unsigned)size);

        if (shape != DENSE || sizes[size] < 200) Naive(&T.view);
        FreeTriangle(&T);
      }
    End();
  }
}

/* A lower triangle of that many rows in equal level sets, with rows of at most that many entries, as near the means as
 * may be. */
static double Granularity(int levels, double per_level, double per_row)
{
  const int     width = (int)lround(per_level), rows = levels * width;
  int          *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns, n = 0;
  double        wanted = 0, g = NAN;
  TrsvAnalysis *a;

  columns    = malloc(sizeof(int) * (size_t)(rows * (per_row + 2)));
  offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    const int l = i / width;

    wanted += per_row * levels / (levels - 1.) - 1. / (levels - 1); /* the first set has but its diagonal */
    if (!l) wanted = 0;
    columns[n] = i;
    if (l) {
      const int off = (int)wanted - 1;

      for (int k = off > 0 ? off : 1; k > 0; k--) columns[n++] = l * width - k; /* of the set before */
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
    g = Granularity(8, published[i].per_level, published[i].per_row);
    Expect(fabs(g - published[i].granularity) <= 0.00501, "%.4f, not %.2f", g, published[i].granularity);
    End();
  }
}

/* A lower triangle whose rows depend on the one before and, all of them, on the first `hubs`. */
static double SharedOf(int rows, int hubs)
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

/* Of all dependencies those on a row beyond its first 120, exactly where all entries are in the sample, and nearly
 * else. */
static void TestShared(void)
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
    const double shared = SharedOf(cases[c].rows, cases[c].hubs);
    Expect(shared >= cases[c].least && shared <= cases[c].most, "%.17g, not %g to %g", shared, cases[c].least,
           cases[c].most);
    End();
  }
}

/* A device matrix whose offsets fall and then say more than its arrays have: nothing behind them is read. */
static void TestShort(void)
{
  static const int offsets[] = {0, 1, 2, 1, 100}, columns[] = {0, 0, 0};
  TrsvMatrix       D = {4, NULL, NULL, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_DEVICE, NULL};
  TrsvAnalysis    *a;
  int             *o, *c;

  Begin("structure: offsets fall, and the last is beyond the columns");
  if (TrsvDeviceAlloc(sizeof(offsets), &o) || TrsvDeviceAlloc(sizeof(columns), &c) ||
      TrsvDeviceUpload(o, offsets, sizeof(offsets), NULL) || TrsvDeviceUpload(c, columns, sizeof(columns), NULL))
    exit(2);
  D.offsets = o;
  D.columns = c;
  ExpectError(TrsvAnalyze(&D, &a), TRSV_ERR_STRUCTURE, "TrsvAnalyze");
  TrsvDeviceFree(o);
  TrsvDeviceFree(c);
  End();
}

static void Bad(const char *name, int rows, const int *offsets, const int *columns, TrsvTriangle triangle,
                TrsvDiagonal diagonal, const char *row)
{
  const TrsvMatrix A        = {rows, offsets, columns, triangle, diagonal, TRSV_DOUBLE, TRSV_HOST, NULL};
  TrsvAnalysis    *analysis = (TrsvAnalysis *)&A;
  TrsvMatrix       T;
  int             *made = NULL;
  const int       *source;
  TrsvPair        *pair = (TrsvPair *)&A;
  TrsvError        error;

  Begin("structure: %s", name);
  error = TrsvAnalyze(&A, &analysis);
  ExpectError(error, TRSV_ERR_STRUCTURE, "TrsvAnalyze");
  Expect(strstr(TrsvErrorMessage(), row) != NULL, "the message does not say '%s': %s", row, TrsvErrorMessage());
  Expect(!analysis, "an analysis in spite of the error");
  ExpectError(TrsvTranspose(&A, &T, &made, &source), TRSV_ERR_STRUCTURE, "TrsvTranspose");
  Expect(!made, "a transpose in spite of the error");
  if (offsets[rows] >= 0) { /* the same, in the same words, where the matrix is on the device */
    TrsvMatrix D = ToDevice(&A);
    char       said[512];

    (void)snprintf(said, sizeof(said), "%s", TrsvErrorMessage());
    ExpectError(TrsvAnalyze(&D, &analysis), TRSV_ERR_STRUCTURE, "TrsvAnalyze on the device");
    Expect(!analysis && !strcmp(TrsvErrorMessage(), said), "the device says '%s', the host '%s'", TrsvErrorMessage(),
           said);
    ExpectError(TrsvTranspose(&D, &T, &made, &source), TRSV_ERR_STRUCTURE, "TrsvTranspose on the device");
    Expect(!made && !strcmp(TrsvErrorMessage(), said), "the device says '%s', the host '%s'", TrsvErrorMessage(), said);
    FromDevice(&D);
    Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  }
  for (int transposed = 0; transposed < 2; transposed++) {
    ExpectError(TrsvPairCreate(&A, &A, NULL, NULL, transposed, TRSV_HOST, TRSV_SELECT_MODEL, NULL, NULL, NULL, &pair),
                TRSV_ERR_STRUCTURE, "TrsvPairCreate");
    Expect(!pair, "a pair in spite of the error");
  }
  End();
}

static void TestStructure(void)
{
  const TrsvTriangle L = TRSV_LOWER, U = TRSV_UPPER;
  const TrsvDiagonal UNIT = TRSV_DIAGONAL_UNIT, STORED = TRSV_DIAGONAL_STORED;

  Bad("columns not sorted", 3, (int[]){0, 1, 2, 5}, (int[]){0, 1, 1, 0, 2}, L, STORED, "row 2");
  Bad("column twice", 3, (int[]){0, 1, 2, 5}, (int[]){0, 1, 0, 0, 2}, L, STORED, "row 2");
  Bad("diagonal twice", 2, (int[]){0, 1, 3}, (int[]){0, 1, 1}, L, STORED, "row 1");
  Bad("column negative", 2, (int[]){0, 1, 3}, (int[]){0, -1, 1}, L, STORED, "row 1");
  Bad("column too large", 2, (int[]){0, 2, 3}, (int[]){0, 2, 1}, U, STORED, "row 0");
  Bad("column far too large", 2, (int[]){0, 2, 3}, (int[]){0, 2000000000, 1}, U, STORED, "row 0");
  Bad("upper entry in a lower triangle", 2, (int[]){0, 2, 3}, (int[]){0, 1, 1}, L, STORED, "row 0");
  Bad("lower entry in an upper triangle", 2, (int[]){0, 1, 3}, (int[]){0, 0, 1}, U, STORED, "row 1");
  Bad("diagonal missing, lower", 2, (int[]){0, 1, 2}, (int[]){0, 0}, L, STORED, "row 1");
  Bad("diagonal missing, upper", 2, (int[]){0, 1, 2}, (int[]){1, 1}, U, STORED, "row 0");
  Bad("row empty", 2, (int[]){0, 0, 1}, (int[]){1}, L, STORED, "row 0");
  Bad("diagonal stored in a unit triangle", 2, (int[]){0, 0, 1}, (int[]){1}, L, UNIT, "row 1");
  Bad("offsets fall", 3, (int[]){0, 2, 1, 3}, (int[]){0, 0, 1}, L, UNIT, "row ");
  Bad("offsets fall behind a good row", 3, (int[]){0, 1, 0, 1}, (int[]){0}, L, STORED, "row 1");
  Bad("offsets beyond the last", 2, (int[]){0, 7, 2}, (int[]){0, 1}, L, STORED, "row 0");
  Bad("offsets beyond the last behind a good row", 3, (int[]){0, 1, 9, 2}, (int[]){0, 1}, L, STORED,
      "row 1: its offsets, 1 and 9, are beyond the last one, 2");
  Bad("an offset of -1", 2, (int[]){0, -1, 2}, (int[]){0, 1}, U, STORED, "row 0: offsets fall from 0 to -1");
  Bad("the least offset there is", 2, (int[]){0, INT_MIN, 2}, (int[]){0, 1}, L, STORED, "row 0: offsets fall");
  Bad("the least column there is", 2, (int[]){0, 1, 3}, (int[]){0, INT_MIN, 1}, L, STORED, "row 1: column");
  Bad("the largest column there is", 2, (int[]){0, 2, 3}, (int[]){0, INT_MAX, 1}, U, STORED, "row 0: column");
  Bad("offsets do not start at 0", 1, (int[]){1, 2}, (int[]){0, 0}, L, STORED, "offsets start at 1");
  Bad("sound rows, offsets from 2 on", 3, (int[]){2, 3, 4, 6}, (int[]){9, 9, 0, 1, 1, 2}, L, STORED,
      "offsets start at 2");
  Bad("offsets start beyond the last", 2, (int[]){7, 1, 2}, (int[]){0, 1}, L, STORED, "offsets start at 7");
  Bad("offsets start far below 0", 3, (int[]){-100000000, 0, 1, 2}, (int[]){0, 0}, L, UNIT,
      "offsets start at -100000000");

  for (int n = 0; n < 4; n++) { /* two wrong rows in different blocks of the device: the first is told */
    int *const offsets = malloc(sizeof(int) * 1001), *const columns = malloc(sizeof(int) * 1000);
    char row[16];

    for (int i = 0; i < 1000; i++) offsets[i] = columns[i] = i;
    offsets[1000]          = 1000;
    columns[300 + 200 * n] = n & 1 ? -5 : 1001;
    columns[310 + 200 * n] = 0;
    columns[990]           = 1000000;
    if (n == 3) offsets[700] = 690;
    (void)snprintf(row, sizeof(row), "row %d:", n == 3 ? 698 : 300 + 200 * n);
    Bad("several wrong rows", 1000, offsets, columns, n & 1 ? U : L, STORED, n == 3 ? "row 699" : row);
    free(offsets);
    free(columns);
  }

  Begin("structure: rows negative");
  {
    const TrsvMatrix A = {-1, (int[]){0}, NULL, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL};
    TrsvAnalysis    *analysis;

    ExpectError(TrsvAnalyze(&A, &analysis), TRSV_ERR_ARGUMENT, "TrsvAnalyze");
    Expect(!analysis, "an analysis in spite of the error");
  }
  End();
}

/* Offsets from 0 on, none of them falling or beyond the last, and columns that rise on their side, the diagonal being
 * where the view says. */
static int IsSound(const TrsvMatrix *A)
{
  const int lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT, stored = A->offsets[A->rows];
  int       sound = !A->offsets[0];

  for (int i = 0; i < A->rows && sound; i++) {
    const int begin = A->offsets[i], end = A->offsets[i + 1], first = lower ? 0 : i + unit,
              last = lower ? i - unit : A->rows - 1;

    sound = begin <= end && end <= stored && (unit || begin < end);
    for (int k = begin; k < end && sound; k++)
      sound = A->columns[k] >= first && A->columns[k] <= last && (k == begin || A->columns[k] > A->columns[k - 1]);
    sound = sound && (unit || A->columns[lower ? end - 1 : begin] == i);
  }
  return sound;
}

/* Small triangles, with up to two numbers of them replaced: what is told is right, and the same, in the same words, by
 * the host and the device. */
static void TestRandomStructure(void)
{
  enum { ROWS = 9 };
  Random rng   = 77;
  int    sound = 0, broken = 0;

  Begin("structure: random faults");
  for (int n = 0; n < (Reduced() ? 300 : 1500); n++) {
    const TrsvTriangle triangle = (TrsvTriangle)(n & 1);
    const TrsvDiagonal diagonal = (TrsvDiagonal)(n >> 1 & 1);
    const int          rows     = RandomBelow(&rng, ROWS + 1),
              values[]          = {-1, INT_MIN, INT_MAX, rows, RandomBelow(&rng, ROWS), RandomBelow(&rng, ROWS * ROWS)};
    int           offsets[ROWS + 1] = {0}, columns[ROWS * ROWS + 1], stored = 0;
    TrsvAnalysis *host, *device;
    char          said[512] = "";

    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < rows; j++)
        if (i == j ? diagonal == TRSV_DIAGONAL_STORED : (j < i) == (triangle == TRSV_LOWER) && RandomBelow(&rng, 3))
          columns[stored++] = j;
      offsets[i + 1] = stored;
    }
    for (int faults = RandomBelow(&rng, 3); faults > 0; faults--) {
      const int value = values[RandomBelow(&rng, 6)];

      if (RandomBelow(&rng, 2) && stored) columns[RandomBelow(&rng, stored)] = value;
      else if (rows) offsets[RandomBelow(&rng, rows)] = value;
    }

    const TrsvMatrix A        = {rows, offsets, columns, triangle, diagonal, TRSV_DOUBLE, TRSV_HOST, NULL};
    TrsvMatrix       D        = ToDevice(&A);
    const int        expected = IsSound(&A) ? TRSV_SUCCESS : TRSV_ERR_STRUCTURE;

    *(expected ? &broken : &sound) += 1;
    ExpectError(TrsvAnalyze(&A, &host), expected, "TrsvAnalyze");
    if (expected) (void)snprintf(said, sizeof(said), "%s", TrsvErrorMessage());
    ExpectError(TrsvAnalyze(&D, &device), expected, "TrsvAnalyze on the device");
    if (expected)
      Expect(!strcmp(TrsvErrorMessage(), said), "triangle %d: the device says '%s', the host '%s'", n,
             TrsvErrorMessage(), said);
    TrsvAnalysisDestroy(&host);
    TrsvAnalysisDestroy(&device);
    FromDevice(&D);
  }
  Expect(sound > 50 && broken > 50, "%d of them sound, %d not", sound, broken);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

static void TestTranspose(void)
{
  Begin("transposed twice");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 4; variant++) {
      Triangle   A   = MakeTriangle((Shape)shape, shape == DIAGONAL ? variant : 64, (TrsvTriangle)(variant & 1),
                                    (TrsvDiagonal)(variant >> 1), TRSV_FLOAT, 3);
      const int  nnz = A.offsets[A.view.rows];
      TrsvMatrix T, back;
      int       *made[2] = {NULL, NULL};
      const int *source[2];

      if (ExpectError(TrsvTranspose(&A.view, &T, &made[0], &source[0]), TRSV_SUCCESS, "TrsvTranspose") &&
          ExpectError(TrsvTranspose(&T, &back, &made[1], &source[1]), TRSV_SUCCESS, "TrsvTranspose")) {
        Expect(T.triangle != A.view.triangle && T.diagonal == A.view.diagonal && T.precision == A.view.precision,
               "the transpose is of another kind");
        Expect(back.rows == A.view.rows && back.triangle == A.view.triangle &&
                 !memcmp(back.offsets, A.offsets, sizeof(int) * (size_t)(back.rows + 1)) &&
                 !memcmp(back.columns, A.columns, sizeof(int) * (size_t)nnz),
               "%s is not the same", ShapeName[shape]);
        for (int k = 0; k < nnz; k++)
          Expect(source[0][source[1][k]] == k, "entry %d comes from entry %d", k, source[0][source[1][k]]);
        for (int i = 0; i < T.rows; i++)
          for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++)
            Expect(A.columns[source[0][k]] == i, "entry %d is from another column", k);
      }
      TrsvFree(TRSV_HOST, made[0]);
      TrsvFree(TRSV_HOST, made[1]);
      FreeTriangle(&A);
    }
  End();
}

static void TestTable(void)
{
  const TrsvAlgorithm *a;
  int                  n = 0;

  Begin("table of algorithms");
  for (; (a = TrsvAlgorithmGet(n)); n++) {
    Expect(TrsvAlgorithmFind(TrsvAlgorithmName(a)) == a, "%s is not found, or is there twice", TrsvAlgorithmName(a));
    Expect(*a->summary && *a->source, "%s has no summary or no source", TrsvAlgorithmName(a));
    Expect(!TrsvAlgorithmCitation(a) || *TrsvAlgorithmCitation(a) == '@', "%s: the citation is no BibTeX",
           TrsvAlgorithmName(a));
  }
  Expect(n >= 3, "%d algorithms", n);
  Expect(!TrsvAlgorithmGet(-1) && !TrsvAlgorithmGet(n + 1) && !TrsvAlgorithmFind("") && !TrsvAlgorithmFind("none"),
         "there is what should not be");
  End();

  Begin("selection");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int rows = 0; rows < 200; rows += 1 + 3 * rows) {
      Triangle      T = MakeTriangle((Shape)shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
      TrsvAnalysis *analysis;
      TrsvChoice    c;

      if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze")) {
        for (int s = TRSV_SELECT_MODEL; s <= TRSV_SELECT_GRANULARITY; s++) {
          c = TrsvSelect(&analysis->statistics, TRSV_HOST, TRSV_DOUBLE, (TrsvSelection)s);
          Expect(c.algorithm && TrsvAlgorithmMemory(c.algorithm) == TRSV_HOST && *c.reason, "on the host, %s %d",
                 ShapeName[shape], rows);
          c = TrsvSelect(&analysis->statistics, TRSV_DEVICE, TRSV_FLOAT, (TrsvSelection)s);
          Expect(c.algorithm && TrsvAlgorithmMemory(c.algorithm) == TRSV_DEVICE && *c.reason, "on the device, %s %d",
                 ShapeName[shape], rows);
          Expect((c.predicted > 0) == (s == TRSV_SELECT_MODEL) && memchr(c.reason, 0, sizeof(c.reason)),
                 "predicted %g, %s %d", c.predicted, ShapeName[shape], rows);
        }
        TrsvAnalysisDestroy(&analysis);
      }
      FreeTriangle(&T);
    }
  End();
}

void TestAnalysis(void)
{
  TestTable();
  TestStatistics();
  TestGranularity();
  TestShared();
  TestShort();
  TestStructure();
  TestRandomStructure();
  TestTranspose();
}
