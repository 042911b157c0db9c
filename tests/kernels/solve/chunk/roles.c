/*
   The warps of a block of `chunk`, each starved in turn and each first in turn: chunks with so many imports that
   cells are reused, and so long that stages of records and of results are reused; and clusters.
*/
#include "check.h"
#include "solve/chunk/chunk.h"

enum {
  WARPS   = 12,
  IMPORTS = 3 /* of a row of the second half */
};

/* Rows of the first half depend on none; those of the second half depend on three of the first half, and on the row so
   many before if that is in their half: two chunks, of which the second imports from the first only. */
static Triangle MakeTwoHalves(int half, int before, TrsvPrecision precision)
{
  const int rows   = 2 * half;
  int     *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * 5 * (size_t)rows), k = 0;
  Random   r = 7;
  Triangle T;

  for (int i = 0; i < rows; i++) {
    offsets[i] = k;
    for (int n = 0; i >= half && n < IMPORTS; n++)
      columns[k++] = n * half / IMPORTS + RandomBelow(&r, half / IMPORTS); /* rising */
    if (i >= half + before) columns[k++] = i - before;
    columns[k++] = i;
  }
  offsets[rows] = k;
  T             = MakeFrom(rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision);
  free(offsets);
  free(columns);
  return T;
}

static void CheckRoles(const TrsvChunkSettings *settings, int half, int hands, TrsvPrecision precision)
{
  Triangle  T      = MakeTwoHalves(half, half / 2, precision);
  const int rows   = T.view.rows;
  void     *values = MakeValues(&T.view, 3), *b = MakeVector(precision, rows, 4), *x = MakeArray(precision, rows),
       *want = Reference(&T.view, NULL, T.offsets[rows], values, b);
  TrsvPlan *plan;

  TrsvChunkSettingsOverride(settings);
  plan = MakePlan(&T.view, NULL, T.offsets[rows], FindTested("chunk"));
  TrsvChunkSettingsOverride(NULL);
  if (plan) {
    const ChunkSummary *s = TrsvChunkPlanSummary(plan);

    if (hands) Expect(s->imports > s->cells, "%d imports have %d cells: none changes hands", (int)s->imports, s->cells);
    Expect(s->stages > 2 * s->settings.chunks * s->settings.stages, "%d stages in %d chunks", s->stages,
           s->settings.chunks);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    for (unsigned role = 0; role < WARPS; role++)
      for (int first = 0; first < 2; first++) {
        char where[60];

        (void)snprintf(where, sizeof(where), "warp %u %s", role, first ? "first" : "last");
        SimtSchedule(2 * role + (unsigned)first);
        SimtSettings.policy   = first ? SIMT_WARP_FIRST : SIMT_WARP_LAST;
        SimtSettings.role     = role;
        SimtSettings.resident = 4;
        memset(x, 0xcd, TrsvValueSize(precision) * (size_t)rows);
        if (!ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, where)) break;
        ExpectClose(precision, rows, x, want, where);
      }
    SimtDefaults();
  }
  TrsvPlanDestroy(&plan);
  free(values);
  free(b);
  free(x);
  free(want);
  FreeTriangle(&T);
}

void TestRoles(void)
{
  /* chunks, length, width, cluster, ring, stages, import_lifetime, steps_l2, steps_cluster */
  static const TrsvChunkSettings hands = {2, 5, 32, 1, 16384, 4, 0, 8, 4}, /* a large ring leaves few cells */
    small = {2, 5, 32, 1, 1024, 4, -1, 8, 4}, pushed = {2, 5, 32, 2, 1024, 4, -1, 8, 4};

  for (TrsvPrecision p = TRSV_DOUBLE; p <= TRSV_COMPLEX_DOUBLE; p += TRSV_COMPLEX_DOUBLE - TRSV_DOUBLE) {
    TrsvChunkSettings changing = hands;

    if (TrsvIsComplex(p)) changing.ring /= 2;
    Begin("chunk, each warp starved and first in turn, cells that change hands, %s", PrecisionName(p));
    CheckRoles(&changing, Reduced() ? 2600 : 3072, 1, p);
    End();
    Begin("chunk, each warp starved and first in turn, a small ring, %s", PrecisionName(p));
    CheckRoles(&small, 2600, 0, p);
    End();
    Begin("chunk, each warp starved and first in turn, a cluster, %s", PrecisionName(p));
    CheckRoles(&pushed, 2600, 0, p);
    End();
  }
}
