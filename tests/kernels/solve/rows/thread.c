/*
   The two forms of thread: with recomputation the layout differs only in marks, which are at the right level sets and
   halve the hops; the bits are the same.
*/
#include "check.h"
#include "solve/model/model.h"
#include "solve/rows/level_csr.h"

enum {
  WIDTH = 4 /* dependencies of a padded row */
};

static int IsMarked(int column) { return column < -1; }
static int PositionOf(int column) { return IsMarked(column) ? -2 - column : column; }

/* Level sets by position; the hops among them: words for which a row waits, one after the other, and the last word that
   is written. */
static void CheckMarks(const TrsvLevelCSR *o, const TrsvLevelCSR *plain)
{
  int *const level = calloc((size_t)o->rows + 1, sizeof(int)), *const hops = calloc((size_t)o->rows + 1, sizeof(int));
  int levels = 0, longest = 0, wrong = 0;

  if (!Expect(o->rows == plain->rows && o->off == plain->off, "%d rows and %d entries, without recomputation %d and %d",
              o->rows, o->off, plain->rows, plain->off))
    goto end;
  for (int k = 0; k < o->off; k++) wrong += PositionOf(o->columns[k]) != plain->columns[k];
  Expect(!wrong, "%d columns are not those without recomputation", wrong);
  for (int p = 0; p < o->rows && !wrong; p++) {
    for (int k = WIDTH * p; k < WIDTH * (p + 1); k++)
      if (plain->columns[k] >= 0 && level[p] <= level[plain->columns[k]]) level[p] = level[plain->columns[k]] + 1;
    hops[p] = 1;
    for (int k = WIDTH * p; k < WIDTH * (p + 1); k++) {
      const int q = plain->columns[k];

      if (q < 0) continue;
      wrong += IsMarked(o->columns[k]) !=
               (level[p] % 2 == 0 && level[q] == level[p] - 1); /* level sets from 0: 2 computes 1 again */
      for (int j = WIDTH * q; IsMarked(o->columns[k]) && j < WIDTH * (q + 1); j++)
        if (plain->columns[j] >= 0 && hops[p] <= hops[plain->columns[j]]) hops[p] = hops[plain->columns[j]] + 1;
      if (!IsMarked(o->columns[k]) && hops[p] <= hops[q]) hops[p] = hops[q] + 1;
    }
    if (level[p] + 1 > levels) levels = level[p] + 1;
    if (hops[p] > longest) longest = hops[p];
  }
  Expect(!wrong, "%d marks are not where the level sets say", wrong);
  Expect(longest <= 1 + levels / 2, "%d hops for %d level sets", longest, levels);
end:
  free(level);
  free(hops);
}

static void CompareForms(Shape shape, int rows, TrsvTriangle triangle, TrsvDiagonal diagonal, TrsvPrecision precision)
{
  Triangle    T      = MakeTriangle(shape, rows, triangle, diagonal, precision, 11);
  const int   n      = T.offsets[rows];
  void       *values = MakeValues(&T.view, 11), *b = MakeVector(precision, rows, 11), *x[2];
  const char *names[] = {"thread", "thread, recomputing"};
  TrsvPlan   *plan[2];

  for (int k = 0; k < 2; k++) {
    x[k]    = MakeArray(precision, rows);
    plan[k] = MakePlan(&T.view, NULL, n, FindTested(names[k]));
    if (!plan[k]) continue;
    ExpectError(TrsvPlanSetValues(plan[k], values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    SimtSchedule((unsigned)(7 * k + 1));
    ExpectError(TrsvPlanSolve(plan[k], b, x[k], NULL), TRSV_SUCCESS, "TrsvPlanSolve");
  }
  if (plan[0] && plan[1]) {
    CheckMarks(plan[1]->data, plan[0]->data);
    Expect(!memcmp(x[0], x[1], TrsvValueSize(precision) * (size_t)rows), "not the bits without recomputation");
    /* the bits are the same with any marks, here with all */
    const TrsvLevelCSR *o = plan[1]->data;
    for (int k = 0; k < o->off; k++)
      if (o->columns[k] >= 0) o->columns[k] = -2 - o->columns[k];
    memset(x[1], 0xcd, TrsvValueSize(precision) * (size_t)rows);
    ExpectError(TrsvPlanSolve(plan[1], b, x[1], NULL), TRSV_SUCCESS, "a solve with all marks");
    Expect(!memcmp(x[0], x[1], TrsvValueSize(precision) * (size_t)rows),
           "with all marks not the bits without recomputation");
  }
  for (int k = 0; k < 2; k++) {
    TrsvPlanDestroy(&plan[k]);
    free(x[k]);
  }
  free(values);
  free(b);
  FreeTriangle(&T);
}

/* Rank 0 is the form for the triangle, rank 1 the other. */
static void CheckRanks(void)
{
  static const Shape shapes[] = {DIAGONAL, CHAIN, GRID_2D, RANDOM};

  Begin("thread recomputes where there are enough level sets");
  for (int s = 0; s < 4; s++) {
    const int     rows = 300;
    Triangle      T    = MakeTriangle(shapes[s], rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    TrsvAnalysis *analysis;
    TrsvPlan     *none;

    ExpectError(TrsvAnalyze(&T.view, &analysis), TRSV_SUCCESS, "TrsvAnalyze");
    const int wanted = isfinite(TrsvModelRecompute(&analysis->statistics, TRSV_DOUBLE)) != 0;
    Expect(wanted == (shapes[s] != DIAGONAL), "%s: recomputes %d", ShapeName[shapes[s]], wanted);
    for (int rank = 0; rank < 2; rank++) {
      TrsvPlan *plan;
      char      line[TRSV_SETTINGS];

      if (!ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[rows], NULL, TrsvAlgorithmFind("thread"),
                                      rank, &plan),
                       TRSV_SUCCESS, "TrsvPlanCreate"))
        continue;
      const TrsvLevelCSR *o     = plan->data;
      int                 marks = 0;
      for (int k = 0; k < o->off; k++) marks += IsMarked(o->columns[k]);
      TrsvPlanDescribe(plan, line, sizeof(line));
      Expect(o->recomputes == (wanted ^ rank) && (o->recomputes || !marks) && !*line == !o->recomputes,
             "%s, rank %d: recomputes %d, %d marks, '%s'", ShapeName[shapes[s]], rank, o->recomputes, marks, line);
      TrsvPlanDestroy(&plan);
    }
    ExpectError(TrsvPlanCreate(&T.view, analysis, NULL, T.offsets[rows], NULL, TrsvAlgorithmFind("thread"), 2,
                               &none),
                TRSV_ERR_UNSUPPORTED, "a third form");
    TrsvPlanDestroy(&none);
    TrsvAnalysisDestroy(&analysis);
    FreeTriangle(&T);
  }
  End();
}

void TestThread(void)
{
  static const int sizes[] = {1, 2, 33, 260};

  CheckRanks();
  for (int shape = 0; shape < SHAPES; shape++)
    for (int upper = 0; upper < 2; upper++) {
      Begin("thread with recomputation and without, %s, %s", ShapeName[shape], upper ? "upper" : "lower");
      for (int s = 0; s < 4; s++)
        for (int unit = 0; unit < 2; unit++)
          for (int single = 0; single < 2; single++)
            CompareForms((Shape)shape, sizes[s], upper ? TRSV_UPPER : TRSV_LOWER,
                         unit ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED, single ? TRSV_FLOAT : TRSV_DOUBLE);
      End();
    }
}
