/*
   Settings of chunk for grids, with as many chunks as an H200 can hold: chunks of planes for all sides of the grid,
   if planes are large enough; and grids that have no such planes.
*/
#include "check.h"
#include "solve/chunk/chunk.h"

enum {
  H200 = 132 /* multiprocessors */
};

/* The first rows of a grid with so many points along each side in its natural order, whose neighbors differ in one
   coordinate (7 points) or in any (27). */
typedef struct {
  int side[3], points, rows; /* 0: all */
} Grid;

static Triangle MakeGrid(const Grid *g, TrsvTriangle triangle, TrsvDiagonal diagonal)
{
  const int *s = g->side, rows = g->rows ? g->rows : s[0] * s[1] * s[2];
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * 27 * (size_t)rows), n = 0;
  Triangle T;

  for (int i = 0; i < rows; i++) {
    const int at[3] = {i % s[0], i / s[0] % s[1], i / s[0] / s[1]};

    offsets[i] = n;
    for (int d = 0; d < 27; d++) {
      const int to[3] = {at[0] + d % 3 - 1, at[1] + d / 3 % 3 - 1, at[2] + d / 9 - 1},
                apart = (d % 3 != 1) + (d / 3 % 3 != 1) + (d / 9 != 1), j = to[0] + s[0] * (to[1] + s[1] * to[2]);
      int inside = apart <= (g->points == 7 ? 1 : 3) && j < rows;

      for (int k = 0; k < 3; k++) inside = inside && to[k] >= 0 && to[k] < s[k];
      if (inside) columns[n++] = j;
    }
  }
  offsets[rows] = n;
  T             = MakeFrom(rows, offsets, columns, triangle, diagonal, TRSV_DOUBLE);
  free(offsets);
  free(columns);
  return T;
}

/* From how many chunks back do rows import, at most? */
static int FindReach(const TrsvMatrix *T, int chunks)
{
  int most = 0;

  for (int i = 0; i < T->rows; i++)
    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      const int p     = T->triangle == TRSV_LOWER ? i : T->rows - 1 - i,
                q     = T->triangle == TRSV_LOWER ? T->columns[k] : T->rows - 1 - T->columns[k];
      const int reach = (int)((long long)p * chunks / T->rows - (long long)q * chunks / T->rows);

      if (reach > most) most = reach;
    }
  return most;
}

typedef struct {
  Grid grid;
  int  chunks, reach, length, cluster; /* the expected ones; 0: any */
  int  solve;
} Case;

static void CheckPlanes(const Case *c, int variant, int multiprocessors)
{
  const Grid *g = &c->grid;
  Triangle    T =
    MakeGrid(g, variant & 1 ? TRSV_UPPER : TRSV_LOWER, variant & 2 ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED);
  const int                rows = T.view.rows;
  TrsvPlan                *plan;
  const TrsvChunkSettings *s;

  SimtSettings.multiprocessors = multiprocessors;
  plan                         = MakePlan(&T.view, NULL, T.offsets[rows], FindTested("chunk"));
  s                            = plan ? &TrsvChunkPlanSummary(plan)->settings : NULL;
  SimtDefaults();
  if (s) {
    const int reach = FindReach(&T.view, s->chunks);
    char      line[100];

    TrsvChunkSettingsPrint(s, line, sizeof(line));
    Expect(s->chunks == c->chunks, "%d rows, %d %d %d, %d points: %s", rows, g->side[0], g->side[1], g->side[2],
           g->points, line);
    Expect(!c->reach || reach == c->reach, "%d rows, %d %d %d, %d points: %s, rows take from %d chunks before", rows,
           g->side[0], g->side[1], g->side[2], g->points, line, reach);
    Expect((!c->cluster || s->cluster == c->cluster) && (!c->length || s->length == c->length),
           "%d rows, %d %d %d, %d points: %s", rows, g->side[0], g->side[1], g->side[2], g->points, line);
  }
  if (s && c->solve && !Reduced()) {
    void *values = MakeValues(&T.view, 7), *b = MakeVector(TRSV_DOUBLE, rows, 8),
         *reference = Reference(&T.view, NULL, T.offsets[rows], values, b);

    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    if (reference) ExpectSolves(plan, b, reference, (unsigned)variant, 1, "solved");
    free(values);
    free(b);
    free(reference);
  }
  TrsvPlanDestroy(&plan);
  FreeTriangle(&T);
}

void TestPlanes(void)
{
  static const Case planes[] = {
    {{{20, 40, 25}, 7, 0}, 25, 1, 3, 16, 1}, {{{30, 40, 50}, 7, 0}, 50, 1, 3, 16, 0},
    {{{50, 40, 30}, 7, 0}, 30, 1, 3, 16, 0}, {{{40, 20, 25}, 7, 0}, 25, 1, 3, 16, 1},
    {{{30, 30, 30}, 7, 0}, 30, 1, 3, 16, 0}, {{{20, 42, 25}, 27, 0}, 25, 1, 13, 16, 0},
  };
  static const Case none[] = {
    {{{20, 20, 20}, 7, 0}, 8, 1, 3, 8, 0},  /* planes too small */
    {{{60, 50, 20}, 7, 0}, 15, 1, 3, 8, 0}, /* too few */
    {{{100, 100, 1}, 7, 0}, 8, 1, 2, 8, 0}, /* lines: few chunks, because each is a crossing; */
    {{{300, 300, 1}, 7, 0}, 22, 1, 2, 8, 0},
    {{{50, 2000, 1}, 7, 0}, 100, 1, 2, 8, 0}, /* but many where a level set is spread over few lines */
  };
  /* not a whole number of planes: chunks are as large as the reach of rows, or nearly so */
  static const Case nearly[] = {
    {{{20, 40, 26}, 7, 20 * 40 * 25 + 137}, 25, 1, 3, 16, 1},
    {{{20, 40, 26}, 7, 20 * 40 * 26 - 1}, 25, 1, 3, 16, 0},
    {{{20, 40, 26}, 7, 20 * 40 * 25 + 1}, 25, 1, 3, 16, 0},
    {{{20, 40, 26}, 7, 20011}, 25, 1, 3, 16, 0},
  };
  Begin("chunks of planes, of grids of equal sides and others");
  for (size_t c = 0; c < sizeof(planes) / sizeof(planes[0]); c += Reduced() ? 3 : 1)
    CheckPlanes(&planes[c], (int)c % 4, H200);
  End();
  Begin("grids without chunks of planes");
  for (size_t c = 0; c < sizeof(none) / sizeof(none[0]); c += Reduced() ? 2 : 1)
    CheckPlanes(&none[c], (int)c % 4, H200);
  End();
  Begin("chunks of what is nearly planes");
  for (size_t c = 0; c < sizeof(nearly) / sizeof(nearly[0]); c += Reduced() ? 4 : 1)
    CheckPlanes(&nearly[c], (int)c % 4, H200);
  End();
  Begin("no chunks of planes on a device too small for them");
  CheckPlanes(&(Case){{{20, 40, 25}, 7, 0}, 8, 1, 3, 8, 0}, 0, 16);
  End();
}
