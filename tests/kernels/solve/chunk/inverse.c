/*
   `chunk` with inverted blocks: it uses its inverses if they are small, and substitution otherwise.
*/
#include "check.h"
#include "solve/chunk/chunk.h"
#include "solve/model/model.h"

static void FillValues(const TrsvMatrix *A, void *values, double off)
{
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      Set(values, A->precision, Reals(A->precision, k),
          A->columns[k] == i ? 1 + 0.001 * (i % 7) : off * (1 + 0.01 * (k % 5)));
}

/* With 0.3 off the diagonal the inverse of a block stays small, with 3 it grows like 3^31, with NaN it is useless; one
   plan gets all of these values in turn. If the inverse is large or useless, the solution has the bits of chunk;
   otherwise the sums differ. */
static void CheckGrowth(TrsvTriangle triangle, TrsvPrecision precision)
{
  static const char *const kinds[] = {"bounded", "growing", "a NaN"};
  const int                rows = 200, last = 5; /* pass */
  Triangle                 T       = MakeTriangle(CHAIN, rows, triangle, TRSV_DIAGONAL_STORED, precision, 1);
  const int                entries = T.offsets[rows];
  void *values = MakeArray(precision, entries), *b = MakeVector(precision, rows, 5), *x = MakeArray(precision, rows),
       *y         = MakeArray(precision, rows);
  TrsvPlan *plan  = MakePlan(&T.view, NULL, entries, FindTested("chunk, inverted")),
           *chunk = MakePlan(&T.view, NULL, entries, FindTested("chunk"));

  for (int pass = 0; plan && chunk && pass <= last; pass++) {
    const int kind = pass % 3;
    void     *reference;

    FillValues(&T.view, values, kind == 1 ? -1.5 : 0.3);
    for (int k = 0; kind == 1 && k < entries; k++) /* every fourth row starts anew, because x would overflow */
      if (k / 2 % 40 == 0 && Get(values, precision, Reals(precision, k)) < 0)
        Set(values, precision, Reals(precision, k), 1e-9);
    if (kind == 2) /* next to the diagonal of row 100 */
      Set(values, precision, Reals(precision, T.offsets[100] + (T.columns[T.offsets[100]] == 100)), NAN);
    reference = Reference(&T.view, NULL, entries, values, b);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSetValues(chunk, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    ExpectError(TrsvPlanSolve(chunk, b, y, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    ExpectClose(precision, rows, x, reference, kinds[kind]);
    Expect((memcmp(x, y, TrsvValueSize(precision) * (size_t)rows) == 0) == (kind > 0),
           "pass %d, %s: the solution has %s bits", pass, kinds[kind], kind ? "not chunk's" : "chunk's");
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  TrsvPlanDestroy(&chunk);
  free(values);
  free(b);
  free(x);
  free(y);
  FreeTriangle(&T);
}

/* A plan with permutations of b and x. */
static void CheckPlaced(TrsvTriangle triangle)
{
  enum { ROWS = 200 };
  Triangle     T       = MakeTriangle(CHAIN, ROWS, triangle, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  const int    entries = T.offsets[ROWS];
  void *const  values = MakeArray(TRSV_DOUBLE, entries), *const own = MakeArray(TRSV_DOUBLE, ROWS);
  double *const b = MakeVector(TRSV_DOUBLE, ROWS, 5), *const x = MakeArray(TRSV_DOUBLE, ROWS),
         *const solved = MakeArray(TRSV_DOUBLE, ROWS);
  int                   from[ROWS], to[ROWS];
  const TrsvPermutation places = {from, to};
  TrsvAnalysis         *analysis;
  TrsvPlan             *plan   = NULL;
  Random                random = 11;

  Begin("inverse in permuted order, %s", triangle == TRSV_LOWER ? "lower" : "upper");
  FillValues(&T.view, values, 0.3);
  Shuffle(&random, ROWS, from);
  Shuffle(&random, ROWS, to);
  for (int i = 0; i < ROWS; i++) Set(own, TRSV_DOUBLE, i, b[from[i]]);
  double *const reference = Reference(&T.view, NULL, entries, values, own);
  if (ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze"))
    ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, entries, &places, FindTested("chunk, inverted"), 0,
                               &plan),
                TRSV_SUCCESS, "TrsvPlanCreate");
  if (plan) {
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, "TrsvPlanSolve");
    for (int i = 0; i < ROWS; i++) solved[i] = x[to[i]];
    ExpectClose(TRSV_DOUBLE, ROWS, solved, reference, "solved");
  }
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  free(reference);
  free(values);
  free(own);
  free(b);
  free(x);
  free(solved);
  FreeTriangle(&T);
  End();
}

/* The plan of this rank, as text. *inverted: with inverted blocks. */
static void DescribePlan(const TrsvMatrix *T, const TrsvAlgorithm *a, int rank, char line[TRSV_SETTINGS], int *inverted)
{
  TrsvMatrix    D = ToDevice(T);
  TrsvAnalysis *analysis;
  TrsvPlan     *plan = NULL;

  line[0] = 0;
  if (ExpectError(TrsvAnalyze(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyze"))
    ExpectError(TrsvPlanCreate(&D, analysis, NULL, T->offsets[T->rows], NULL, a, rank, &plan), TRSV_SUCCESS,
                "TrsvPlanCreate");
  if (plan) TrsvPlanDescribe(plan, line, TRSV_SETTINGS);
  *inverted = !strncmp(line, "blocks=", 7);
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  FromDevice(&D);
}

enum { SIDE = 20 };

/* Neighbors in a square grid: the products of such a grid have nearly as many level sets as the grid, and longer
   rows. */
static int AreNeighbors(int i, int j) { return abs(i % SIDE - j % SIDE) <= 1 && i / SIDE - j / SIDE <= 1; }

/* Runs of 4 rows, each of which also depends on a row anywhere: statistics predict that blocks are faster, but blocks
   leave the dependencies on other chunks. */
static int AreInRuns(int i, int j)
{
  return j == i || (j == i - 1 && i % 4) || (unsigned)j == (unsigned)i * 2654435761u % (unsigned)(i + 1);
}

/* Blocks of 8 rows, each of which depends on all rows of the block before. Statistics predict that inverted blocks are
   slower, but the schedule without them takes long. */
static int AreInNextBlocks(int i, int j) { return i == j || i / 8 - j / 8 == 1; }

/* Leaves those entries of a lower triangle. */
static void KeepEntries(Triangle *T, int rows, int (*keeps)(int i, int j))
{
  int kept = 0;

  for (int i = 0, k = 0; i < rows; i++) {
    for (; k < T->offsets[i + 1]; k++)
      if (keeps(i, T->columns[k])) T->columns[kept++] = T->columns[k];
    T->offsets[i + 1] = kept;
  }
}

/* The first rank has inverted blocks if statistics, or the schedule without them, predict that they are faster, and so
   do counts. The second is the other form, the third the second choice without inverted blocks. */
static void CheckRanks(void)
{
  enum { NONE, UNLIKELY, REJECTED, INSTEAD, FASTER };
  static const struct {
    Shape shape;
    int   rows;
    int (*keeps)(int i, int j);
    int outcome;
  } cases[] = {
    {CHAIN,    900,         NULL,            FASTER  },
    {BAND,     900,         NULL,            FASTER  },
    {GRID_2D,  900,         NULL,            NONE    },
    {DIAGONAL, 900,         NULL,            NONE    },
    {RANDOM,   4000,        NULL,            NONE    },
    {DENSE,    SIDE * SIDE, AreNeighbors,    UNLIKELY},
    {DENSE,    1600,        AreInRuns,       REJECTED},
    {DENSE,    800,         AreInNextBlocks, INSTEAD }
  };

  Begin("chunk inverts blocks where that is predicted to take less time, and by rank");
  SimtSettings.multiprocessors = 132; /* with fewer rows there are few settings to choose from */
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    const char   *name = ShapeName[cases[c].shape];
    const int     rows = cases[c].rows, inverts = cases[c].outcome >= INSTEAD;
    Triangle      T = MakeTriangle(cases[c].shape, rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    char          plain[2][TRSV_SETTINGS], inverted[TRSV_SETTINGS], rank[3][TRSV_SETTINGS];
    int           possible, other;
    TrsvAnalysis *a;

    if (cases[c].keeps) KeepEntries(&T, rows, cases[c].keeps);
    if (!ExpectError(TrsvAnalyze(&T.view, &a), TRSV_SUCCESS, "TrsvAnalyze")) continue;
    const double chunk     = TrsvChunkPlain.predict(&a->statistics, TRSV_DOUBLE),
                 predicted = TrsvModelInverse(&a->statistics, TRSV_DOUBLE);
    const int both         = a->statistics.nnz > rows && a->statistics.level_mean <= 300;

    DescribePlan(&T.view, FindTested("chunk, inverted"), 0, inverted, &possible);
    for (int r = 0; r < 2; r++) DescribePlan(&T.view, &TrsvChunkPlain, r, plain[r], &other);
    for (int r = 0; r < 2 + both; r++) DescribePlan(&T.view, &TrsvChunk, r, rank[r], &other);
    const int likely = predicted < chunk, inverted_first = !strcmp(rank[0], inverted),
              outcome = !possible ? NONE : inverted_first ? likely ? FASTER : INSTEAD : likely ? REJECTED : UNLIKELY;

    Expect(TrsvChunk.predict(&a->statistics, TRSV_DOUBLE) <= chunk, "%s: not the lesser time", name);
    Expect(outcome == cases[c].outcome, "%s: outcome %d instead of %d", name, outcome, cases[c].outcome);
    Expect(!strcmp(rank[0], inverts ? inverted : plain[0]), "%s: %s, not %s", name, rank[0],
           inverts ? inverted : plain[0]);
    if (both) {
      Expect(!strcmp(rank[1], inverts ? plain[0] : inverted), "%s, rank 1: %s, not %s", name, rank[1],
             inverts ? plain[0] : inverted);
      Expect(!strcmp(rank[2], plain[1]), "%s, rank 2: %s, not %s", name, rank[2], plain[1]);
    } else Expect(!strcmp(rank[1], plain[1]), "%s, rank 1: %s, not %s", name, rank[1], plain[1]);
    TrsvAnalysisDestroy(&a);
    FreeTriangle(&T);
  }
  SimtDefaults();
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* The set-up with inverted blocks fails anywhere, and leaves nothing. instead: a slow schedule is made before it, and
   the plan keeps that without memory for the blocks. */
static void CheckFailures(int instead)
{
  enum { ROWS = 800 };
  Triangle   T = MakeTriangle(instead ? DENSE : BAND, ROWS, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
  TrsvMatrix D;
  TrsvAnalysis *analysis;
  long          plain = 0;

  Begin("chunk with inverted blocks%s fails anywhere", instead ? " after a slow schedule" : "");
  SimtSettings.multiprocessors = 132;
  if (instead) KeepEntries(&T, ROWS, AreInNextBlocks);
  D = ToDevice(&T.view);
  ExpectError(TrsvAnalyze(&D, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  for (long k = 1, failed = 1; failed; k++) {
    const size_t live                = SimtLive();
    char         line[TRSV_SETTINGS] = "";
    TrsvPlan    *plan;

    SimtFailAt(k, 0);
    const TrsvError error = TrsvPlanCreate(&D, analysis, NULL, T.offsets[ROWS], NULL, &TrsvChunk, 0, &plan);
    failed                = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !!plan && (failed || plan), "place %ld: error %d, plan %p", k, (int)error, (void *)plan);
    if (plan) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      const int inverted = !strncmp(line, "blocks=", 7);

      Expect(TrsvPlanFindsPivots(plan) == !inverted && (inverted || (failed && instead)), "place %ld: %s", k, line);
      plain += !inverted;
    }
    TrsvPlanDestroy(&plan);
    Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
  }
  Expect(!instead || plain, "no failure leaves a plan without inverted blocks");
  SimtDefaults();
  TrsvAnalysisDestroy(&analysis);
  FromDevice(&D);
  FreeTriangle(&T);
  End();
}

void TestInverse(void)
{
  CheckRanks();
  for (int instead = 0; instead < 2; instead++) CheckFailures(instead);
  CheckPlaced(TRSV_LOWER);
  CheckPlaced(TRSV_UPPER);
  for (int variant = 0; variant < 8; variant++) {
    Begin("inverse leaves blocks alone that grow, %s, %s", variant & 1 ? "upper" : "lower",
          PrecisionName((TrsvPrecision)(variant >> 1)));
    CheckGrowth((TrsvTriangle)(variant & 1), (TrsvPrecision)(variant >> 1));
    End();
  }
  TestInversePattern();
}
