/*
   Matrices on the device: their analyses, transposes, plans and pairs equal those of the same matrices on the host;
   the pieces into which long rows are cut.
*/
#include "check.h"
#include "ilu/ilu.h"
#include "solve/rows/level_csr.h"
#include "trsv.h"

static int EqualsHost(const int *device, const int *host, size_t n, const char *what)
{
  int *copy = malloc(sizeof(int) * (n + 1)), same = 1;

  ExpectError(TrsvDeviceDownload(copy, device, sizeof(int) * n, NULL), TRSV_SUCCESS, what);
  for (size_t k = 0; same && k < n; k++)
    same = Expect(copy[k] == host[k], "%s: [%zu] of %zu is %d on the device and %d on the host", what, k, n, copy[k],
                  host[k]);
  free(copy);
  return same;
}

int ExpectSameAnalysis(const TrsvMatrix *A)
{
  TrsvMatrix    D = ToDevice(A);
  TrsvAnalysis *host, *device = NULL;
  int           same = 0;

  if (ExpectError(TrsvAnalyze(A, &host), TRSV_SUCCESS, "TrsvAnalyze on the host") &&
      ExpectError(TrsvAnalyze(&D, &device), TRSV_SUCCESS, "TrsvAnalyze on the device")) {
    const TrsvStatistics *h = &host->statistics, *d = &device->statistics;

    same = Expect(d->rows == h->rows && d->nnz == h->nnz && d->row_max == h->row_max && d->levels == h->levels &&
                    d->level_max == h->level_max,
                  "%d rows, %ld entries, longest row %d, %d level sets of at most %d, instead of %d, %ld, %d, %d, %d",
                  d->rows, d->nnz, d->row_max, d->levels, d->level_max, h->rows, h->nnz, h->row_max, h->levels,
                  h->level_max) &&
           Expect(d->row_mean == h->row_mean && d->row_variation == h->row_variation &&
                    d->level_mean == h->level_mean && d->mean_offset == h->mean_offset &&
                    d->level_span == h->level_span && d->row_bandwidth == h->row_bandwidth &&
                    d->bandwidth == h->bandwidth && d->chain_fraction == h->chain_fraction &&
                    d->hub_fraction == h->hub_fraction && (d->granularity == h->granularity || isnan(h->granularity)),
                  "another mean, variation, distance, bandwidth or granularity") &&
           Expect(device->memory == TRSV_DEVICE, "the analysis is on the host") &&
           EqualsHost(device->order, host->order, (size_t)A->rows, "order") &&
           EqualsHost(device->levels, host->levels, (size_t)h->levels + 1, "levels");
  }
  TrsvAnalysisDestroy(&host);
  TrsvAnalysisDestroy(&device);
  FromDevice(&D);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  return same;
}

static void TestSame(void)
{
  static const int sizes[] = {0, 1, 2, 33, 255, 257, 1000};

  for (int shape = 0; shape < SHAPES; shape++) {
    Begin("device: analysis %s", ShapeName[shape]);
    for (int variant = 0; variant < 4; variant++)
      for (unsigned size = 0; size < 7; size++) {
        const int rows = shape == DENSE ? sizes[size] / 3 : sizes[size];
        Triangle  T;

        if (Reduced() && size == 6) continue;
        T = MakeTriangle((Shape)shape, rows, (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1), TRSV_DOUBLE,
                         size);
        for (unsigned s = 0; s < 3; s++) {
          SimtSchedule(7 * size + s);
          ExpectSameAnalysis(&T.view);
        }
        FreeTriangle(&T);
      }
    End();
  }
  Begin("device: analysis under many schedules");
  for (unsigned s = 0; s < (unsigned)ScheduleCount(6, 96); s++) {
    Triangle T = MakeTriangle(s % 3 ? s % 3 == 1 ? GRID_2D : DENSE : CHAIN, 300, (TrsvTriangle)(s & 1),
                              (TrsvDiagonal)(s >> 1 & 1), TRSV_DOUBLE, s);

    SimtSchedule(s);
    ExpectSameAnalysis(&T.view);
    FreeTriangle(&T);
  }
  End();
  Begin("device: analysis of rows of thousands");
  for (int variant = 0; variant < 4; variant++)
    for (int shape = 0; shape < 2; shape++) {
      Triangle T = MakeTriangle(shape ? ARROW : DENSE_COLUMN, Reduced() ? 1500 : 5000, (TrsvTriangle)(variant & 1),
                                (TrsvDiagonal)(variant >> 1), TRSV_DOUBLE, 1);

      ExpectSameAnalysis(&T.view);
      FreeTriangle(&T);
    }
  End();
}

static void TestTransposes(void)
{
  Begin("device: transposes");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 4; variant++)
      for (int rows = 0; rows < 400; rows += 1 + 6 * rows) {
        Triangle A =
          MakeTriangle((Shape)shape, rows, (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1), TRSV_FLOAT, 3);
        TrsvMatrix   D       = ToDevice(&A.view), T, S;
        int         *made[2] = {NULL, NULL};
        const int   *source[2];
        const size_t nnz = (size_t)A.offsets[rows];

        SimtSchedule((unsigned)rows);
        if (ExpectError(TrsvTranspose(&A.view, &T, &made[0], &source[0]), TRSV_SUCCESS, "TrsvTranspose") &&
            ExpectError(TrsvTranspose(&D, &S, &made[1], &source[1]), TRSV_SUCCESS, "TrsvTranspose on the device")) {
          Expect(S.rows == rows && S.triangle == T.triangle && S.diagonal == T.diagonal && S.precision == T.precision &&
                   S.memory == TRSV_DEVICE,
                 "the transpose is of another kind");
          EqualsHost(S.offsets, T.offsets, (size_t)rows + 1, "offsets");
          EqualsHost(S.columns, T.columns, nnz, "columns");
          EqualsHost(source[1], source[0], nnz, "source");
        }
        TrsvFree(TRSV_HOST, made[0]);
        TrsvFree(TRSV_DEVICE, made[1]);
        FromDevice(&D);
        FreeTriangle(&A);
      }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Plans of a device matrix and of the same host matrix give solutions with the same bits. */
static void TestPlans(void)
{
  const TrsvAlgorithm *a;

  for (int i = 0; (a = TestedAlgorithm(i)); i++) {
    Begin("device: plans of %s", TrsvAlgorithmName(a));
    for (int shape = 0; shape < SHAPES; shape++)
      for (int variant = 0; variant < 4; variant++) {
        const int rows = shape == DENSE ? 70 : 200, transposed = variant == 3;
        Triangle  A =
          MakeTriangle((Shape)shape, rows, (TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1), TRSV_DOUBLE, 9);
        TrsvMatrix M[2]   = {A.view, ToDevice(&A.view)};
        const int  n      = A.offsets[rows];
        double    *values = MakeValues(&A.view, 9), *b = MakeVector(TRSV_DOUBLE, rows, 9), *x[2];

        for (int m = 0; m < 2; m++) {
          TrsvMatrix T      = M[m];
          int       *made   = NULL;
          const int *source = NULL;
          TrsvPlan  *plan   = NULL;

          x[m] = MakeArray(TRSV_DOUBLE, rows);
          if (transposed) ExpectError(TrsvTranspose(&M[m], &T, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
          plan = MakePlan(&T, source, n, a);
          if (plan && ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues"))
            ExpectError(TrsvPlanSolve(plan, b, x[m], NULL), TRSV_SUCCESS, "TrsvPlanSolve");
          TrsvPlanDestroy(&plan);
          TrsvFree(M[m].memory, made);
        }
        if (a->traits & TRSV_BITS_VARY) ExpectClose(TRSV_DOUBLE, rows, x[0], x[1], ShapeName[shape]);
        else
          Expect(!memcmp(x[0], x[1], sizeof(double) * (size_t)rows), "%s, variant %d: not the same bits",
                 ShapeName[shape], variant);
        FromDevice(&M[1]);
        for (int m = 0; m < 2; m++) free(x[m]);
        free(values);
        free(b);
        FreeTriangle(&A);
      }
    Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
    End();
  }
}

/* The longest chain of a plan's rows; each row must depend on smaller positions only, and on at most so many. */
static int CountLevels(const TrsvLevelCSR *o, int longest)
{
  int *depth = calloc((size_t)o->rows + 1, sizeof(int)), most = 0;

  for (int p = 0; p < o->rows; p++) {
    const int begin = o->offsets ? o->offsets[p] : p * longest, end = o->offsets ? o->offsets[p + 1] : begin + longest;

    Expect(end - begin <= longest, "row %d has %d dependencies", p, end - begin);
    for (int k = begin; k < end; k++) {
      if (o->columns[k] < 0) continue;
      if (!Expect(o->columns[k] < p, "position %d depends on %d", p, o->columns[k])) break;
      if (depth[o->columns[k]] >= depth[p]) depth[p] = depth[o->columns[k]] + 1;
    }
    Expect(!p || depth[p] >= depth[p - 1], "position %d is of a smaller level than the one before", p);
    if (depth[p] > most) most = depth[p];
  }
  free(depth);
  return most;
}

static void TestCutMatrix(void)
{
  static const struct {
    Shape shape;
    int   rows, thread, warp; /* the longest possible chains */
  } cases[] = {
    {CHAIN, 300, 299, 299},  {DENSE_ROW, 4, 1, 1},    {DENSE_ROW, 5, 1, 1}, /* 4 dependencies */
    {DENSE_ROW, 6, 2, 1},    {DENSE_ROW, 17, 2, 1},                         /* a full tree */
    {DENSE_ROW, 65, 3, 1},   {DENSE_ROW, 1024, 6, 2},                       /* log4 1023 = 5.0 */
    {DENSE_ROW, 1026, 7, 3},                                                /* pieces, each cut into a tree */
    {DENSE_ROW, 5000, 9, 3}, {DENSE, 100, 101, 99}, /* late dependencies are close to their row */
    {DENSE, 300, 302, 300},
  };
  const TrsvAlgorithm *const algorithms[] = {FindTested("thread"), TrsvAlgorithmFind("warp")};
  static const int           longest[]    = {4, 256};

  for (int a = 0; a < 2; a++) {
    Begin("cut into partial sums: %s", TrsvAlgorithmName(algorithms[a]));
    for (unsigned c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
      if (Reduced() && cases[c].rows > 2000) continue;
      for (int upper = 0; upper < 2; upper++) {
        Triangle  T = MakeTriangle(cases[c].shape, cases[c].rows, upper ? TRSV_UPPER : TRSV_LOWER, TRSV_DIAGONAL_STORED,
                                   TRSV_DOUBLE, 1);
        const int n = T.offsets[cases[c].rows], most = a ? cases[c].warp : cases[c].thread;
        double   *values = MakeValues(&T.view, 1), *b = MakeVector(TRSV_DOUBLE, cases[c].rows, 1),
               *x = MakeArray(TRSV_DOUBLE, cases[c].rows), *reference = Reference(&T.view, NULL, n, values, b);
        TrsvPlan *plan = MakePlan(&T.view, NULL, n, algorithms[a]);

        if (plan && reference) {
          const int depth = CountLevels(plan->data, longest[a]);

          Expect(depth <= most, "%s of %d rows: a chain of %d instead of %d", ShapeName[cases[c].shape], cases[c].rows,
                 depth, most);
          ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
          ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
          ExpectClose(TRSV_DOUBLE, cases[c].rows, x, reference, ShapeName[cases[c].shape]);
        }
        TrsvPlanDestroy(&plan);
        free(values);
        free(b);
        free(x);
        free(reference);
        FreeTriangle(&T);
      }
    }
    End();
  }
}

/* The search for level sets stops waiting at its limit: each of 256 rows of one block, for which another block waits,
   is lost in turn. */
static void TestGivesUp(void)
{
  enum { HALF = 256 };
  int        offsets[2 * HALF + 1], columns[HALF];
  TrsvMatrix A = {2 * HALF, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL}, D;

  Begin("device: a level is lost");
  for (int i = 0; i <= 2 * HALF; i++) offsets[i] = i < HALF ? 0 : i - HALF;
  for (int i = 0; i < HALF; i++) columns[i] = i;
  D                     = ToDevice(&A);
  SimtSettings.resident = 1; /* the first block ends before the second starts */
  SimtSettings.bounded  = 1;
  for (long k = 1; k <= HALF; k += Reduced() ? 100 : 11) {
    TrsvAnalysis *analysis;

    SimtSettings.lose = k;
    ExpectError(TrsvAnalyze(&D, &analysis), TRSV_ERR_TIMEOUT, "TrsvAnalyze");
    Expect(!analysis, "an analysis in spite of the error");
    TrsvAnalysisDestroy(&analysis);
  }
  SimtDefaults();
  FromDevice(&D);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  ExpectSameAnalysis(&A);
  End();
}

/* A matrix with 64-bit indices becomes one with 32-bit indices; an error leaves no memory. */
static void TestNarrowMatrix(void)
{
  static const int64_t offsets[] = {0, 1, 3, 4}, columns[] = {0, 0, 1, 2};
  static const int     want[] = {0, 1, 3, 4, 0, 0, 1, 2};
  int                  narrow[4], failed = 1;
  int64_t             *device;
  TrsvCSR              A, N;

  Begin("device: a matrix with 64-bit indices");
  ExpectError(TrsvDeviceAlloc(sizeof(offsets) + sizeof(columns), &device), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(device, offsets, sizeof(offsets), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  ExpectError(TrsvDeviceUpload(device + 4, columns, sizeof(columns), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  A = (TrsvCSR){3, (const int *)device, (const int *)(device + 4), device, 1};
  for (int k = 1; failed && k < 100; k++) {
    SimtFailAt(k, 0);
    const TrsvError error = TrsvNarrowCreate(&A, &N);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !failed, "call %d fails: error %d", k, (int)error);
    if (!error) {
      Expect(N.rows == 3 && !N.wide && N.values == device, "%d rows, %s", N.rows, N.wide ? "wide" : "other values");
      ExpectError(TrsvDeviceDownload(narrow, N.offsets, sizeof(narrow), NULL), TRSV_SUCCESS, "TrsvDeviceDownload");
      Expect(!memcmp(narrow, want, sizeof(narrow)), "other offsets");
      ExpectError(TrsvDeviceDownload(narrow, N.columns, sizeof(narrow), NULL), TRSV_SUCCESS, "TrsvDeviceDownload");
      Expect(!memcmp(narrow, want + 4, sizeof(narrow)), "other columns");
      TrsvNarrowDestroy(&A, &N);
    }
    Expect(SimtLive() == 1, "call %d fails: %zu device allocations are left", k, SimtLive() - 1);
  }
  TrsvDeviceFree(device);
  A = (TrsvCSR){3, want, want + 4, want, 0};
  ExpectError(TrsvNarrowCreate(&A, &N), TRSV_SUCCESS, "TrsvNarrowCreate");
  Expect(N.offsets == want && N.columns == want + 4, "a matrix with 32-bit indices is copied");
  TrsvNarrowDestroy(&A, &N);
  End();
}

/* Indices in 64 bits become the same in 32 bits, or -1 if they do not fit; an error leaves no memory. */
static void TestNarrow(void)
{
  static const int sizes[] = {0, 1, 255, 256, 257, 1000};
  int64_t         *device;
  TrsvCSR          A = {1, NULL, NULL, NULL, 1}, N;

  Begin("device: 64-bit indices in 32 bits");
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    const int n      = sizes[i];
    int64_t  *wide   = malloc(sizeof(*wide) * ((size_t)n + 1));
    int      *narrow = malloc(sizeof(int) * ((size_t)n + 1)), failed = 1;

    for (int k = 0; k < n; k++) wide[k] = narrow[k] = k % 3 ? 2147483647 - k : k;
    for (int k = 4; k < n; k += 5) { /* these do not fit */
      wide[k]   = (k % 2 ? -k : k) + ((int64_t)1 << 32);
      narrow[k] = -1;
    }
    ExpectError(TrsvDeviceAlloc(sizeof(*wide) * ((size_t)n + 2), &device), TRSV_SUCCESS, "TrsvDeviceAlloc");
    A.offsets = (const int *)device, A.columns = (const int *)(device + 2);
    ExpectError(TrsvDeviceUpload(device, (int64_t[]){0, n}, 2 * sizeof(*wide), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
    ExpectError(TrsvDeviceUpload(device + 2, wide, sizeof(*wide) * (size_t)n, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
    ExpectError(TrsvNarrowCreate(&A, &N), TRSV_SUCCESS, "TrsvNarrowCreate");
    EqualsHost(N.columns, narrow, (size_t)n, "indices");
    TrsvNarrowDestroy(&A, &N);
    for (int k = 1; failed && k < 100; k++) {
      SimtFailAt(k, 0);
      const TrsvError error = TrsvNarrowCreate(&A, &N);
      failed                = SimtFailed();
      SimtFailAt(0, 0);
      Expect(failed ? error && !N.columns : !error, "call %d fails: error %d, %s memory", k, (int)error,
             N.columns ? "with" : "without");
      if (!failed) TrsvNarrowDestroy(&A, &N);
    }
    TrsvDeviceFree(device);
    free(wide);
    free(narrow);
  }
  /* more entries than 32 bits count: no column is read */
  ExpectError(TrsvDeviceAlloc(2 * sizeof(*device), &device), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(device, (int64_t[]){0, (1LL << 33) + 5}, 16, NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  A.offsets = A.columns = (const int *)device;
  ExpectError(TrsvNarrowCreate(&A, &N), TRSV_SUCCESS, "TrsvNarrowCreate");
  EqualsHost(N.offsets, (const int[]){0, -1}, 2, "offsets");
  TrsvNarrowDestroy(&A, &N);
  TrsvDeviceFree(device);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Words that a kernel stores in memory of the host, under several schedules; none are stored beside them. */
static void TestDownloadWords(void)
{
  enum { MOST = 70 };
  unsigned want[MOST], got[MOST], *device, *word;

  Begin("device: words that a kernel stores for the host");
  for (int k = 0; k < MOST; k++) want[k] = 1000003u * (unsigned)(k + 1);
  ExpectError(TrsvDeviceAlloc(sizeof(want), &device), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceUpload(device, want, sizeof(want), NULL), TRSV_SUCCESS, "TrsvDeviceUpload");
  for (int n = 0; n < MOST; n++) {
    SimtSchedule((unsigned)n);
    memset(got, 0, sizeof(got));
    ExpectError(TrsvDeviceDownloadWords(got, device, n, NULL), TRSV_SUCCESS, "TrsvDeviceDownloadWords");
    Expect(!memcmp(got, want, sizeof(*got) * (size_t)n) && !got[n], "%d words: others", n);
  }
  SimtDefaults();
  ExpectError(TrsvPinnedAlloc(1, &word), TRSV_SUCCESS, "TrsvPinnedAlloc");
  ExpectError(TrsvDeviceAwait(word, 0, NULL), TRSV_SUCCESS, "a word that is there");
  ExpectError(TrsvDeviceAwait(word, 1, NULL), TRSV_ERR_DEVICE, "a word that no kernel stores");
  TrsvPinnedFree(1, word);
  TrsvDeviceFree(device);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestOnDevice(void)
{
  TestDownloadWords();
  TestNarrow();
  TestNarrowMatrix();
  TestSame();
  TestTransposes();
  TestPlans();
  TestCutMatrix();
  TestGivesUp();
  TestEntries();
}
