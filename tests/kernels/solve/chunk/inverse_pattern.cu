/*
   The pattern of `chunk` with inverted blocks: level sets for blocks, and the product with the inverses of the
   blocks, compared with serial references.
*/
#include <algorithm>
#include <vector>
#include "check.h"
#include "solve/chunk/inverse.cuh"

typedef std::vector<int>      Ints;
typedef std::vector<unsigned> Words;

template <class V> static V Download(const void *from, size_t n)
{
  V to(n);

  ExpectError(TrsvDeviceDownload(to.data(), from, sizeof(to[0]) * n, NULL), TRSV_SUCCESS, "TrsvDeviceDownload");
  return to;
}

/* The position of a row in the order of the solve, and the reverse. */
static int MirrorTriangle(const TrsvMatrix *A, int i) { return A->triangle == TRSV_LOWER ? i : A->rows - 1 - i; }

/* 1 + the level of each row of a triangle, or of its product for blocks of so many rows; returns how many levels there
 * are. */
static int CountLevels(const TrsvMatrix *A, int block, Words &word)
{
  int most = 0;

  word.assign((size_t)A->rows, 1);
  for (int p = 0; p < A->rows; p++) {
    const int i = MirrorTriangle(A, p);

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int      q = MirrorTriangle(A, A->columns[k]);
      const unsigned w = word[(size_t)A->columns[k]] + (q / block != p / block);

      if (q != p && w > word[(size_t)i]) word[(size_t)i] = w;
    }
    if ((int)word[(size_t)i] > most) most = (int)word[(size_t)i];
  }
  return most;
}

static void ExpectLevels(const TrsvMatrix *A, const TrsvMatrix *D, int size, int searches)
{
  const size_t rows      = (size_t)A->rows;
  unsigned    *room      = NULL;
  int          levels[3] = {-1, -1, -1};

  ExpectError(TrsvDeviceAlloc(sizeof(*room) * rows * (size_t)searches, &room), TRSV_SUCCESS, "TrsvDeviceAlloc");
  ExpectError(TrsvDeviceBlockLevels(D, size, searches, room, levels), TRSV_SUCCESS, "TrsvDeviceBlockLevels");
  const Words found = Download<Words>(room, rows * (size_t)searches);
  for (int s = 0; s < searches; s++) {
    Words     word;
    const int wanted = CountLevels(A, size >> s, word);

    Expect(levels[s] == wanted, "%d rows, blocks of %d: %d level sets, not %d", A->rows, size >> s, levels[s], wanted);
    for (size_t i = 0; i < rows; i++)
      if (!Expect(found[(size_t)s * rows + i] == word[i], "%d rows, blocks of %d: row %zu has %u instead of %u",
                  A->rows, size >> s, i, found[(size_t)s * rows + i], word[i]))
        break;
  }
  TrsvDeviceFree(room);
}

static void TestLevels(Shape shape)
{
  static const int sizes[] = {0, 1, 31, 33, 257, 400};

  Begin("inverse: level sets for blocks, %s", ShapeName[shape]);
  for (unsigned n = 0; n < 6; n++)
    for (int variant = 0; variant < 4; variant++) {
      if (Reduced() && variant != (int)n % 4) continue;
      Triangle   A = MakeTriangle(shape, shape == DENSE ? sizes[n] / 3 : sizes[n], (TrsvTriangle)(variant & 1),
                                  (TrsvDiagonal)(variant >> 1), TRSV_DOUBLE, n);
      TrsvMatrix D = ToDevice(&A.view);

      for (unsigned s = 0; s < (Reduced() ? 1u : 2u); s++) {
        SimtSchedule(7 * n + s);
        ExpectLevels(&A.view, &D, 32, 3);
      }
      ExpectLevels(&A.view, &D, n % 2 ? 4 : 2, n % 2 ? 3 : 2);
      FromDevice(&D);
      FreeTriangle(&A);
    }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* Any lost word of any search is an error: all rows of the last 256 depend on one of the first rows each. */
static void TestGivesUp(void)
{
  enum { HALF = 256 };
  int        offsets[2 * HALF + 1], columns[HALF], levels[3];
  unsigned  *room;
  TrsvMatrix A = {2 * HALF, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL}, D;

  Begin("inverse: a level of one search is lost");
  for (int i = 0; i <= 2 * HALF; i++) offsets[i] = i < HALF ? 0 : i - HALF;
  for (int i = 0; i < HALF; i++) columns[i] = i;
  D = ToDevice(&A);
  ExpectError(TrsvDeviceAlloc(sizeof(*room) * 3 * 2 * HALF, &room), TRSV_SUCCESS, "TrsvDeviceAlloc");
  SimtSettings.resident = 1; /* a search has found all its words before the next starts */
  SimtSettings.bounded  = 1;
  for (long k = 0; k < 3 * HALF; k += Reduced() ? 150 : 37) {
    SimtSettings.lose = k / HALF * 2 * HALF + k % HALF + 1;
    ExpectError(TrsvDeviceBlockLevels(&D, 32, 3, room, levels), TRSV_ERR_TIMEOUT, "TrsvDeviceBlockLevels");
  }
  SimtDefaults();
  ExpectLevels(&A, &D, 32, 3);
  TrsvDeviceFree(room);
  FromDevice(&D);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* For each position: the positions of its group that the row reaches within its block, itself included. */
static Words FindReach(const TrsvMatrix *A, int block)
{
  Words reach((size_t)A->rows);

  for (int p = 0; p < A->rows; p++) {
    const int i = MirrorTriangle(A, p);

    reach[(size_t)p] = 1u << p % 32;
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int q = MirrorTriangle(A, A->columns[k]);
      if (q / block == p / block) reach[(size_t)p] |= reach[(size_t)q];
    }
  }
  return reach;
}

/* The product's pattern, by row. */
static void MakeProduct(const TrsvMatrix *A, int block, const Words &reach, Ints &offsets, Ints &columns)
{
  std::vector<char> mark((size_t)A->rows);

  offsets.assign(1, 0);
  columns.clear();
  for (int i = 0; i < A->rows; i++) {
    const int p = MirrorTriangle(A, i);

    for (int q = p / 32 * 32; q < p / 32 * 32 + 32 && q < A->rows; q++) {
      const int r = MirrorTriangle(A, q);

      if (reach[(size_t)p] >> q % 32 & 1)
        for (int k = A->offsets[r]; k < A->offsets[r + 1]; k++)
          if (MirrorTriangle(A, A->columns[k]) / block != p / block) mark[(size_t)A->columns[k]] = 1;
    }
    for (int j = 0; j < A->rows; j++)
      if (mark[(size_t)j]) columns.push_back(j), mark[(size_t)j] = 0;
    offsets.push_back((int)columns.size());
  }
}

/* The predicted level sets and entries of the product equal those that TrsvAnalyze() finds for the product on the
   device. */
static void ExpectAnalysis(const InverseProduct *P)
{
  TrsvAnalysis *analysis;

  if (!ExpectError(TrsvAnalyze(&P->matrix, &analysis), TRSV_SUCCESS, "TrsvAnalyze of the product")) return;
  const TrsvStatistics *a = &analysis->statistics, *s = &P->analysis.statistics;
  Expect(s->rows == a->rows && s->nnz == a->nnz && s->row_max == a->row_max && s->levels == a->levels,
         "%d rows, %ld entries, longest row %d, %d level sets instead of %d, %ld, %d, %d", s->rows, s->nnz, s->row_max,
         s->levels, a->rows, a->nnz, a->row_max, a->levels);
  Expect(s->row_mean == a->row_mean && s->row_variation == a->row_variation && s->level_mean == a->level_mean &&
           s->mean_offset == a->mean_offset && s->row_bandwidth == a->row_bandwidth && s->bandwidth == a->bandwidth &&
           (s->granularity == a->granularity || isnan(a->granularity)),
         "another mean, variation, distance, bandwidth or granularity");
  Expect((P->analysis.order != NULL) == (a->row_max <= 33), "rows of %d: %s order", a->row_max,
         P->analysis.order ? "an" : "no");
  if (P->analysis.order)
    Expect(Download<Ints>(P->analysis.order, (size_t)s->rows) == Download<Ints>(analysis->order, (size_t)s->rows),
           "another order");
  TrsvAnalysisDestroy(&analysis);
}

static void ExpectProduct(const TrsvMatrix *A, const TrsvMatrix *D, int size, const int *source)
{
  const size_t       rows  = (size_t)A->rows;
  const int          block = 32 >> size;
  Inverse            v     = Inverse();
  InverseSizes       s;
  const InverseProduct &P  = v.unfinished;
  TrsvPlan           plan  = TrsvPlan();
  const Words        reach = FindReach(A, block);
  const int          span  = 7;
  unsigned long long late  = 0;
  Ints               offsets, columns, start(1, 0);

  MakeProduct(A, block, reach, offsets, columns);
  for (int i = 0; i < A->rows; i++)
    for (int k = offsets[(size_t)i]; k < offsets[(size_t)i + 1]; k++) {
      const int p = A->triangle == TRSV_LOWER ? i : A->rows - 1 - i, j = columns[(size_t)k],
                q = A->triangle == TRSV_LOWER ? j : A->rows - 1 - j;

      late += p / block * block - q <= 32 + span;
    }
  for (size_t p = 0; p < rows; p++) {
    if (p % 32 == 0) start.push_back(start.back());
    start.back() += __builtin_popcount(reach[p]);
  }
  v.T            = *D;
  v.entries      = A->offsets[rows];
  v.groups       = (A->rows + 31) / 32;
  plan.precision = A->precision;
  ExpectError(s.searched.take(INVERSE_SIZES * rows, s.word), TRSV_SUCCESS, "memory for levels");
  ExpectError(TrsvDeviceBlockLevels(D, 32, INVERSE_SIZES, s.word, s.levels), TRSV_SUCCESS, "TrsvDeviceBlockLevels");
  ExpectError(TrsvInverseCount(&v, span, size + 1, &s), TRSV_SUCCESS, "TrsvInverseCount");
  if (ExpectError(TrsvInverseMake(&plan, &v, &s, size, source), TRSV_SUCCESS, "TrsvInverseMake")) {
    Expect(v.block == block && s.totals[size].entries == columns.size() &&
             s.totals[size].inverse == (unsigned)start.back(),
           "blocks of %d: %llu entries, %llu of the inverse, instead of %zu and %d", v.block, s.totals[size].entries,
           s.totals[size].inverse, columns.size(), start.back());
    Expect(s.totals[size].late == late, "%d rows, blocks of %d: %llu entries are late, not %llu", A->rows, block,
           s.totals[size].late, late);
    Expect(Download<Ints>(v.begin, rows + 1) == offsets && Download<Ints>(P.matrix.columns, columns.size()) == columns,
           "%d rows, blocks of %d: another product", A->rows, block);
    Expect(Download<Words>(v.reach, rows) == reach && Download<Ints>(v.start, start.size()) == start,
           "%d rows, blocks of %d: another inverse", A->rows, block);
    Expect(Download<Ints>(v.T.offsets, rows + 1) == Ints(A->offsets, A->offsets + rows + 1) &&
             Download<Ints>(v.T.columns, (size_t)v.entries) == Ints(A->columns, A->columns + v.entries),
           "the copy of T is another");
    Expect(v.T.offsets != D->offsets && v.T.columns != D->columns, "there is no copy of T");
    if (source)
      Expect(Download<Ints>(v.source, (size_t)v.entries) == Download<Ints>(source, (size_t)v.entries),
             "the copy of source is another");
    ExpectAnalysis(&P);
  }
  TrsvScratchFree(P.memory, NULL);
  TrsvDeviceFree(v.memory);
}

static void TestProducts(Shape shape)
{
  static const int sizes[] = {1, 31, 33, 64, 200};

  Begin("inverse: products, %s", ShapeName[shape]);
  for (unsigned n = 0; n < 5; n++)
    for (int variant = 0; variant < 4; variant++) {
      if (Reduced() && variant != (int)n % 4) continue;
      Triangle   A = MakeTriangle(shape, shape == DENSE && sizes[n] > 100 ? 100 : sizes[n], (TrsvTriangle)(variant & 1),
                                  (TrsvDiagonal)(variant >> 1), TRSV_DOUBLE, n);
      TrsvMatrix D = ToDevice(&A.view);

      for (int size = 0; size < 3; size++) {
        SimtSchedule(3 * n + (unsigned)size);
        ExpectProduct(&A.view, &D, size, size == 1 ? D.columns : NULL);
      }
      FromDevice(&D);
      FreeTriangle(&A);
    }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* A chain, and rows that depend on all earlier rows: one of a group, on which others of it depend; two in parallel; one
   with few columns. Others have columns far away: those of row 150 begin behind the 31 of row 140. */
static Triangle MakeRails(TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision)
{
  static const int far[][3] = {{140, 0, 31}, {150, 60, 121}, {215, 0, 50}}; /* row, first column, end */
  const int        rows     = 230;
  Ints             offsets(1, 0), columns;

  for (int i = 0; i < rows; i++) {
    const int p = triangle == TRSV_LOWER ? i : rows - 1 - i, rail = p == 105 || p == 170 || p == 171 || p == 223;
    Ints      row;

    for (int q = rail ? 0 : p - 1; q < p; q++)
      if (q >= 0) row.push_back(triangle == TRSV_LOWER ? q : rows - 1 - q);
    for (const int(&f)[3] : far)
      for (int q = f[1]; q < f[2] && f[0] == p; q++)
        row.insert(row.end() - 1, triangle == TRSV_LOWER ? q : rows - 1 - q);
    if (triangle == TRSV_UPPER) std::reverse(row.begin(), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    offsets.push_back((int)columns.size());
  }
  return MakeFrom(rows, offsets.data(), columns.data(), triangle, diagonal, precision);
}

static void TestRails(void)
{
  Begin("inverse: products, long rows among short ones");
  for (int variant = 0; variant < 8; variant++) {
    const TrsvPrecision precision = (TrsvPrecision)(variant >> 2);
    Triangle            A         = MakeRails((TrsvTriangle)(variant & 1), (TrsvDiagonal)(variant >> 1 & 1), precision);
    TrsvMatrix          D         = ToDevice(&A.view);
    const int           n         = A.offsets[A.view.rows];

    for (int size = 0; size < 3; size++) {
      SimtSchedule(3 * (unsigned)variant + (unsigned)size);
      ExpectProduct(&A.view, &D, size, NULL);
    }
    FromDevice(&D);

    /* values in another order than entries */
    Ints  source((size_t)n);
    void *values = MakeValues(&A.view, 3), *turned = MakeArray(precision, n),
         *b = MakeVector(precision, A.view.rows, 4), *reference = Reference(&A.view, NULL, n, values, b);

    for (int k = 0; k < n; k++) Set(turned, precision, source[(size_t)k] = n - 1 - k, Get(values, precision, k));
    TrsvPlan *plan      = MakePlan(&A.view, source.data(), n, FindTested("chunk, inverted"));
    char      line[128] = "";

    if (plan && ExpectError(TrsvPlanSetValues(plan, turned, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues")) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      Expect(!strncmp(line, "blocks=", 7) && strncmp(line, "blocks=1 ", 9), "no blocks");
      ExpectSolves(plan, b, reference, (unsigned)variant, 2, "long rows among short ones");
    }
    TrsvPlanDestroy(&plan);
    free(values);
    free(turned);
    free(b);
    free(reference);
    FreeTriangle(&A);
  }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

/* If blocks of 1 are chosen, the plan keeps no memory of others: it has as much as a plan of chunk. */
static void TestMemoryIsFreed(void)
{
  int blocks = 0, plain = 0;

  Begin("inverse: without blocks a plan is chunk's");
  for (int shape = 0; shape <= SHAPES; shape++) {
    const bool wide =
      shape ==
      SHAPES; /* with many multiprocessors the level sets alone exclude none, but the products have too many entries */
    const int    rows = wide ? 1000 : 300;
    Triangle     A = MakeTriangle(wide ? RANDOM : (Shape)shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    const size_t before = SimtLive();

    if (wide) SimtSettings.multiprocessors = 132;
    TrsvPlan    *chunk = MakePlan(&A.view, NULL, A.offsets[rows], FindTested("chunk"));
    const size_t its   = SimtLive() - before;
    TrsvPlan    *plan  = MakePlan(&A.view, NULL, A.offsets[rows], FindTested("chunk, inverted"));
    const size_t own   = SimtLive() - before - its;
    char         line[128];

    if (plan && chunk) {
      TrsvPlanDescribe(plan, line, sizeof(line));
      if (strncmp(line, "blocks=", 7)) {
        plain++;
        Expect(own == its && plan->bytes == chunk->bytes,
               "%s: %zu allocations, %zu bytes instead of %zu, %zu", wide ? "wide" : ShapeName[shape], own,
               plan->bytes, its, chunk->bytes);
      } else {
        blocks++;
        Expect(own == its + 1, "%s: %zu allocations", wide ? "wide" : ShapeName[shape], own); /* all in one */
      }
    }
    TrsvPlanDestroy(&plan);
    TrsvPlanDestroy(&chunk);
    FreeTriangle(&A);
  }
  SimtDefaults();
  Expect(blocks && plain, "%d plans have blocks, %d have none", blocks, plain);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestInversePattern(void)
{
  for (int shape = 0; shape < SHAPES; shape++) TestLevels((Shape)shape);
  TestGivesUp();
  for (int shape = 0; shape < SHAPES; shape++) TestProducts((Shape)shape);
  TestRails();
  TestMemoryIsFreed();
}
