/*
   recblock: each entry is in one block, at the right place; trees are chosen as in the paper; every kernel solves in
   every type.
*/
#include "check.h"
#include "papers/recblock/recblock.h"

static const char *const types[]     = {"column", "row", "recursive"};
static const char *const triangles[] = {"auto", "level", "syncfree", "cusparse"};
static const char *const squares[]   = {"auto", "scalar-csr", "scalar-dcsr", "vector-csr", "vector-dcsr"};

enum { ROWS = 330 };

static void CheckSetting(const TrsvMatrix *A, const int *source, int nvalues, const char *settings, unsigned seed)
{
  TrsvPlan *plan   = MakePlanWith(A, source, nvalues, TrsvAlgorithmFind("recblock"), settings);
  void     *values = MakeArray(A->precision, nvalues), *b = MakeVector(A->precision, A->rows, seed);
  Random    r = seed;

  for (unsigned pass = 0; plan && pass < 2; pass++) {
    void *reference;

    for (int k = 0; k < nvalues; k++) Set(values, A->precision, k, (1.5 + 0.5 * RandomReal(&r)) / 4);
    if (A->diagonal == TRSV_DIAGONAL_STORED)
      for (int i = 0; i < A->rows; i++) {
        int begin, end, diagonal;

        TrsvRowRange(A, i, &begin, &end, &diagonal);
        Set(values, A->precision, source ? source[diagonal] : diagonal, 8 + end - begin);
      }
    else
      for (int k = 0; k < nvalues; k++) Set(values, A->precision, k, Get(values, A->precision, k) / 32);
    reference = Reference(A, source, nvalues, values, b);
    if (ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues"))
      ExpectSolves(plan, b, reference, seed + 2 * pass, 2, settings);
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  free(values);
  free(b);
}

/* All settings; matrices, triangles, precisions and transposes alternate. */
static void CheckEverySetting(void)
{
  static const Shape shapes[] = {RANDOM, GRID_2D, DENSE_ROW,    GRID_3D, ARROW,   CHAIN,
                                 DENSE,  GAPS,    DENSE_COLUMN, BAND,    DIAGONAL};
  unsigned           n        = 0;

  for (int type = 0; type < 3; type++)
    for (int depth = 0; depth < 5; depth++) {
      Begin("recblock type=%s depth=%d, every kernel", types[type], depth);
      for (int t = 0; t < 4; t++)
        for (int q = 0; q < 5; q++, n++) {
          const Shape         shape     = shapes[(n + n / 11) % 11];
          const TrsvPrecision precision = n / 3 & 1 ? TRSV_FLOAT : TRSV_DOUBLE;
          const int           rows      = shape == DENSE ? 100 : shape == GRID_3D ? 343 : shape == GRID_2D ? 400 : ROWS;
          Triangle            T;
          TrsvMatrix          A;
          int                *made   = NULL;
          const int          *source = NULL;
          char                settings[TRSV_SETTINGS];

          if (Reduced() && n % 4) continue;
          T = MakeTriangle(shape, rows, n & 1 ? TRSV_UPPER : TRSV_LOWER,
                           n / 2 & 1 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, precision, n);
          A = T.view;
          (void)snprintf(settings, sizeof(settings), "type=%s depth=%d thresholds=%s triangle=%s square=%s",
                         types[type], depth, n / 7 & 1 ? "fitted" : "paper", triangles[t], squares[q]);
          if (n % 5 == 0) ExpectError(TrsvTranspose(&T.view, &A, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
          CheckSetting(&A, source, T.offsets[rows], settings, n);
          free(made);
          FreeTriangle(&T);
        }
      End();
    }
}

/* Every entry is in one block, at its row and place; the blocks on which a block depends are solved before it. */
static void CheckBlocks(Shape shape, TrsvTriangle triangle, TrsvDiagonal diagonal, const TrsvRecblockSettings *settings)
{
  const int     rows = shape == DENSE ? 120 : ROWS;
  Triangle      T    = MakeTriangle(shape, rows, triangle, diagonal, TRSV_DOUBLE, 3);
  int          *seen = calloc((size_t)T.offsets[rows] + 1, sizeof(int)), *solved = calloc((size_t)rows, sizeof(int));
  TrsvAnalysis *analysis;
  TrsvRecblocks r;
  const int     stored = diagonal == TRSV_DIAGONAL_STORED;

  memset(&r, 0, sizeof(r));
  ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  if (!ExpectError(TrsvRecblocksMake(&T.view, analysis, NULL, settings, 1, 1, &r), TRSV_SUCCESS, "TrsvRecblocksMake"))
    r.blocks = 0;
  for (int i = 0; i < r.blocks; i++) {
    const TrsvRecblockPart *b     = r.block + i;
    const int               local = !b->square && b->kernel == RECBLOCK_CUSPARSE, dcsr = TrsvRecblockIsDcsr(b);

    Expect(b->count == (dcsr ? b->count : b->rows) && r.offsets[b->offset] == 0 &&
             r.offsets[b->offset + b->count] == b->entries,
           "block %d: %d rows, offsets from %d to %d, %d entries", i, b->count, r.offsets[b->offset],
           r.offsets[b->offset + b->count], b->entries);
    for (int k = 0, longest = 0; k < b->count; k++) {
      const int p = dcsr ? r.index[b->index + k] : b->first + k;

      Expect(p >= b->first && p < b->first + b->rows, "block %d has place %d", i, p);
      if (r.offsets[b->offset + k + 1] - r.offsets[b->offset + k] > longest)
        longest = r.offsets[b->offset + k + 1] - r.offsets[b->offset + k];
      Expect(k < b->count - 1 || longest - (local && stored) == b->longest,
             "block %d: its longest row has %d entries, not %d", i, longest, b->longest);
      Expect(!dcsr || r.offsets[b->offset + k] < r.offsets[b->offset + k + 1], "block %d lists an empty row", i);
      for (int e = r.offsets[b->offset + k]; e < r.offsets[b->offset + k + 1]; e++) {
        const int q = r.columns[b->entry + e] + (local ? b->first : 0), at = r.source[b->entry + e];
        int       row = 0;

        while (T.offsets[row + 1] <= at) row++;
        Expect(row == r.order[p] && T.columns[at] == r.order[q], "block %d: entry %d of places %d, %d", i, at, p, q);
        Expect(b->square ? solved[q] == 1 && !solved[p] : q >= b->first && q < p + local,
               "block %d: place %d is used for %d", i, q, p);
        seen[at]++;
      }
    }
    if (b->square) continue;
    for (int p = b->first; p < b->first + b->rows; p++) solved[p]++;
    /* its level sets: no row depends on another of its own set */
    Expect(r.level[b->level] == b->first && r.level[b->level + b->levels] == b->first + b->rows,
           "block %d: level sets from %d to %d", i, r.level[b->level], r.level[b->level + b->levels]);
    for (int s = 0; s < b->levels && !local; s++)
      for (int p = r.level[b->level + s]; p < r.level[b->level + s + 1]; p++) {
        int before = 0;

        for (int e = r.offsets[b->offset + p - b->first]; e < r.offsets[b->offset + p - b->first + 1]; e++) {
          Expect(r.columns[b->entry + e] < r.level[b->level + s], "block %d: place %d depends on its own level set", i,
                 p);
          before |= r.columns[b->entry + e] >= (s ? r.level[b->level + s - 1] : 0);
        }
        Expect(before || !s, "block %d: place %d could be in an earlier level set", i, p);
      }
  }
  for (int i = 0; i < rows && r.blocks; i++) {
    const int own = T.offsets[i + 1] - T.offsets[i] ? triangle == TRSV_LOWER ? T.offsets[i + 1] - 1 : T.offsets[i] : 0;

    Expect(solved[i] == 1, "place %d is solved %d times", i, solved[i]);
    for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++)
      Expect(seen[k] == 1 || (stored && k == own && seen[k] <= 1), "entry %d is in %d blocks", k, seen[k]);
    Expect(!stored || T.columns[r.diagonal[i]] == r.order[i], "the diagonal of place %d", i);
  }
  TrsvRecblocksFree(&r);
  TrsvAnalysisDestroy(&analysis);
  free(seen);
  free(solved);
  FreeTriangle(&T);
}

static void CheckEveryBlock(void)
{
  for (int type = 0; type < 3; type++) {
    Begin("blocks of recblock, %s", types[type]);
    for (int shape = 0; shape < SHAPES; shape++)
      for (int depth = 0; depth < 5; depth++) {
        const TrsvRecblockSettings s = {type, depth, RECBLOCK_PAPER, (shape + depth) % 4, (shape + 2 * depth) % 5};

        CheckBlocks((Shape)shape, depth & 1 ? TRSV_UPPER : TRSV_LOWER,
                    depth & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, &s);
      }
    End();
  }
}

static void CheckTrees(void)
{
  static const struct {
    int rows, entries, levels, kernel; /* entries off the diagonal */
  } triangle[] = {
    {1000, 0, 1, RECBLOCK_PARALLEL},          {1000, 900, 20, RECBLOCK_LEVEL},
    {1000, 14900, 20, RECBLOCK_LEVEL},        {1000, 15000, 20, RECBLOCK_SYNCFREE},
    {1000, 1000, 21, RECBLOCK_SYNCFREE},      {1000, 999, 100, RECBLOCK_LEVEL},
    {1000, 999, 101, RECBLOCK_SYNCFREE},      {30000, 29999, 20000, RECBLOCK_SYNCFREE},
    {30000, 29999, 20001, RECBLOCK_CUSPARSE},
  };
  static const struct {
    int rows, entries, filled, kernel;
  } square[] = {
    {1000, 12999, 500, RECBLOCK_SCALAR_CSR}, {1000, 12999, 499, RECBLOCK_SCALAR_DCSR},
    {1000, 13000, 850, RECBLOCK_VECTOR_CSR}, {1000, 13000, 849, RECBLOCK_VECTOR_DCSR},
    {1000, 1, 1, RECBLOCK_SCALAR_DCSR},
  };
  static const struct {
    int rows, entries, longest, filled, levels, kernel, lanes;
  } fitted[] = {
    {1000, 3000, 64, 0, 2, RECBLOCK_LEVEL, 0},          {1000, 3000, 65, 0, 2, RECBLOCK_SYNCFREE, 4},
    {1000, 500, 1, 0, 3, RECBLOCK_SYNCFREE, 1},         {1000, 1001, 65, 0, 3, RECBLOCK_SYNCFREE, 4},
    {1000, 500, 2000, 0, 3, RECBLOCK_SYNCFREE, 32},     {30000, 29999, 1, 0, 30000, RECBLOCK_SYNCFREE, 1},
    {9000, 90000, 32, 9000, 0, RECBLOCK_SCALAR_CSR, 0}, {9000, 90000, 32, 8999, 0, RECBLOCK_SCALAR_DCSR, 0},
    {9000, 90000, 33, 9000, 0, RECBLOCK_VECTOR_CSR, 0}, {9000, 90000, 32, 8447, 0, RECBLOCK_VECTOR_DCSR, 0},
  };
  static const struct {
    int fitted, rows, levels, multiprocessors, depth;
  } depth[] = {
    {0, 100, 1, 36, 1},        {0, 368639, 9, 36, 1},   {0, 368640, 9, 36, 2},   {0, 2000000, 9, 36, 4},
    {0, 2000000000, 9, 1, 12}, {1, 2000000, 200, 1, 0}, {1, 2000000, 201, 1, 1},
  };
  const TrsvRecblockSettings paper = {RECBLOCK_RECURSIVE, -1, RECBLOCK_PAPER, RECBLOCK_BY_TREE, RECBLOCK_BY_TREE},
                             own   = {RECBLOCK_RECURSIVE, -1, RECBLOCK_FITTED, RECBLOCK_BY_TREE, RECBLOCK_BY_TREE};

  Begin("the trees of recblock have the paper's thresholds");
  for (size_t i = 0; i < sizeof(triangle) / sizeof(triangle[0]); i++)
    for (int has = 0; has < 2; has++) {
      TrsvRecblockPart b = {.rows = triangle[i].rows, .entries = triangle[i].entries, .levels = triangle[i].levels};

      TrsvRecblockChooseTriangle(&paper, 1, has, &b);
      Expect(b.kernel == (has || triangle[i].kernel != RECBLOCK_CUSPARSE ? triangle[i].kernel : RECBLOCK_SYNCFREE),
             "triangle %d: kernel %d", (int)i, b.kernel);
      Expect(b.lanes == 32 && b.entries == triangle[i].entries + (b.kernel == RECBLOCK_CUSPARSE ? b.rows : 0),
             "triangle %d: %d lanes, %d entries", (int)i, b.lanes, b.entries);
    }
  for (size_t i = 0; i < sizeof(square) / sizeof(square[0]); i++) {
    TrsvRecblockPart b = {.square = 1, .rows = square[i].rows, .entries = square[i].entries};

    TrsvRecblockChooseSquare(&paper, square[i].filled, &b);
    Expect(b.kernel == square[i].kernel && b.count == (TrsvRecblockIsDcsr(&b) ? square[i].filled : b.rows),
           "square %d: kernel %d, %d rows", (int)i, b.kernel, b.count);
  }
  /* the authors' code on a Titan RTX, whose 4,608 cores are 36 multiprocessors of 128 */
  for (size_t i = 0; i < sizeof(depth) / sizeof(depth[0]); i++) {
    const int got =
      TrsvRecblockDepth(depth[i].fitted ? &own : &paper, depth[i].rows, depth[i].levels, depth[i].multiprocessors);

    Expect(got == depth[i].depth, "depth %d of %d rows, %d level sets", got, depth[i].rows, depth[i].levels);
  }
  End();

  Begin("the trees of recblock have thresholds of their own");
  for (size_t i = 0; i < sizeof(fitted) / sizeof(fitted[0]); i++) {
    TrsvRecblockPart b = {.square  = fitted[i].filled > 0,
                          .rows    = fitted[i].rows,
                          .entries = fitted[i].entries,
                          .longest = fitted[i].longest,
                          .levels  = fitted[i].levels};

    if (b.square) TrsvRecblockChooseSquare(&own, fitted[i].filled, &b);
    else TrsvRecblockChooseTriangle(&own, 1, 1, &b);
    Expect(b.kernel == fitted[i].kernel && (!fitted[i].lanes || b.lanes == fitted[i].lanes),
           "block %d: kernel %d, %d lanes", (int)i, b.kernel, b.lanes);
  }
  End();
}

/* The settings that describe prints are accepted, and give the same plan. */
static void CheckWords(void)
{
  static const char *const given[]  = {NULL,
                                       "",
                                       "depth=3",
                                       "type=column depth=12",
                                       "type=row depth=0 triangle=cusparse",
                                       "thresholds=fitted",
                                       "type=recursive depth=2 thresholds=fitted triangle=cusparse square=vector-dcsr"};
  static const char *const bad[][2] = {{"depth=13", "from 0 to 12"},   {"depth=-1", "from 0 to 12"},
                                       {"type=diagonal", "recursive"}, {"triangle=parallel", "syncfree"},
                                       {"square=csr", "vector-dcsr"},  {"leaf=level", "type, depth"}};
  const TrsvAlgorithm     *a        = TrsvAlgorithmFind("recblock");
  Triangle                 T        = MakeTriangle(GRID_2D, 196, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);

  Begin("settings of recblock in words");
  for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
    TrsvPlan *plan = MakePlanWith(&T.view, NULL, T.offsets[196], a, given[i]), *again = NULL;
    char      line[TRSV_SETTINGS] = "", other[TRSV_SETTINGS] = "";

    if (plan) TrsvPlanDescribe(plan, line, sizeof(line));
    again = MakePlanWith(&T.view, NULL, T.offsets[196], a, line);
    if (again) TrsvPlanDescribe(again, other, sizeof(other));
    Expect(*line && !strcmp(line, other), "'%s' gives '%s', and that '%s'", given[i] ? given[i] : "NULL", line, other);
    if (i == sizeof(given) / sizeof(given[0]) - 1) Expect(!strcmp(line, given[i]), "'%s' gives '%s'", given[i], line);
    TrsvPlanDestroy(&plan);
    TrsvPlanDestroy(&again);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) ExpectRefused("recblock", bad[i][0], bad[i][1]);
  FreeTriangle(&T);
  End();
}

/* Too many launches, too much memory: the message gives the reason and a remedy. */
static void CheckRefused(int rows, const char *settings, const char *why, const char *instead)
{
  Triangle      T;
  TrsvAnalysis *analysis;
  TrsvPlan     *plan;

  Begin("recblock refuses a chain of %d rows, %s", rows, settings);
  T = MakeTriangle(CHAIN, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, 1);
  ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
  TrsvSettingsRequest(settings);
  ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[rows], NULL, TrsvAlgorithmFind("recblock"), 0,
                             &plan),
              TRSV_ERR_UNSUPPORTED, "TrsvPlanCreate");
  Expect(!plan && strstr(TrsvErrorMessage(), why) && strstr(TrsvErrorMessage(), "recblock") &&
           strstr(TrsvErrorMessage(), instead),
         "the message is '%s'", TrsvErrorMessage());
  plan = MakePlanWith(&T.view, NULL, T.offsets[rows], TrsvAlgorithmFind("recblock"), instead);
  TrsvPlanDestroy(&plan);
  TrsvAnalysisDestroy(&analysis);
  FreeTriangle(&T);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestRecblock(void)
{
  CheckTrees();
  CheckEveryBlock();
  CheckEverySetting();
  CheckWords();
  CheckRefused(70000, "depth=0 triangle=level", "70000 launches", "triangle=syncfree");
  if (!Reduced()) CheckRefused(300000, "type=column depth=12 square=scalar-csr", "row offsets", "depth=4");
}
