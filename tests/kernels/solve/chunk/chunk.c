/*
   The algorithm `chunk` with settings that lead small triangles through all of its code: several chunks, clusters,
   reused cells, records of every length, steps of every width.
*/
#include "check.h"
#include "solve/chunk/chunk.h"

/* Rows that are cut so often that their sums have partial sums. */
static void CheckLongRows(const TrsvAlgorithm *a)
{
  ForceChunkSettings(4, 2, 2);
  for (int variant = 0; variant < (Reduced() ? 2 : 8); variant++)
    CheckSolves(variant & 1 ? ARROW : DENSE_ROW, Reduced() ? 300 : 1500, a, variant >> 2,
                variant & 2 ? TRSV_UPPER : TRSV_LOWER, variant & 1 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT,
                TRSV_DOUBLE, 1);
  TrsvChunkSettingsOverride(NULL);
}

/* Expects as many steps as the longest chain has, crossings included, or as placing all rows takes. */
static void CheckLengths(const TrsvAlgorithm *a)
{
  static const struct {
    Shape shape;
    int   rows, chunks, length, cluster, steps;
  } cases[] = {
    {CHAIN, 500, 1, 2, 1, 500},   {CHAIN, 500, 5, 2, 1, 500 + 4 * 7}, {CHAIN, 500, 4, 3, 4, 500 + 3 * 3},
    {DIAGONAL, 500, 1, 2, 1, 16}, {DIAGONAL, 500, 4, 2, 1, 4},        {GRID_2D, 400, 1, 2, 1, 39},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Triangle  T = MakeTriangle(cases[c].shape, cases[c].rows, c % 2 ? TRSV_UPPER : TRSV_LOWER, TRSV_DIAGONAL_STORED,
                               TRSV_DOUBLE, 1);
    TrsvPlan *plan;

    ForceChunkSettings(cases[c].chunks, cases[c].length, cases[c].cluster);
    plan = MakePlan(&T.view, NULL, T.offsets[cases[c].rows], a);
    if (plan)
      Expect(TrsvChunkPlanSummary(plan)->steps == cases[c].steps, "%s %d in %d chunks: %d steps instead of %d",
             ShapeName[cases[c].shape], cases[c].rows, cases[c].chunks, TrsvChunkPlanSummary(plan)->steps,
             cases[c].steps);
    TrsvPlanDestroy(&plan);
    TrsvChunkSettingsOverride(NULL);
    FreeTriangle(&T);
  }
}

/* A plan that chooses its settings takes as many launches as one with given settings: one schedule is made. These
   triangles take many more steps than estimated. */
static void CheckOneSchedule(const TrsvAlgorithm *a)
{
  static const Shape shapes[] = {ARROW, DENSE_ROW, GAPS};

  for (size_t c = 0; c < sizeof(shapes) / sizeof(shapes[0]); c++) {
    const int rows = shapes[c] == GAPS ? 3000 : 1600;
    Triangle  T = MakeTriangle(shapes[c], rows, c % 2 ? TRSV_UPPER : TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    TrsvChunkSettings settings    = {0};
    unsigned          launches[2] = {0};

    for (int given = 0; given < 2; given++) {
      const unsigned before = SimtLaunches();
      TrsvPlan      *plan   = MakePlan(&T.view, NULL, T.offsets[rows], a);

      launches[given] = SimtLaunches() - before;
      if (plan) settings = TrsvChunkPlanSummary(plan)->settings;
      TrsvPlanDestroy(&plan);
      if (!settings.chunks) break;
      TrsvChunkSettingsOverride(&settings);
    }
    TrsvChunkSettingsOverride(NULL);
    Expect(launches[0] == launches[1], "%s %d: %u launches, %u with its settings given", ShapeName[shapes[c]], rows,
           launches[0], launches[1]);
    FreeTriangle(&T);
  }
}

/* A row of the largest length for which a byte holds the distance of an entry from the diagonal, and one longer by one,
   for which each place is stored in full. */
static void CheckEntriesApart(const TrsvAlgorithm *a)
{
  ForceChunkSettings(2, 3, 2);
  for (int variant = 0; variant < 4; variant++) {
    const TrsvTriangle triangle = variant & 1 ? TRSV_UPPER : TRSV_LOWER;
    const TrsvDiagonal diagonal = variant & 2 ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT;
    size_t             bytes[2];

    for (int more = 0; more < 2; more++) {
      const int rows = 256 + more;
      Triangle  T    = MakeTriangle(DENSE_ROW, rows, triangle, diagonal, TRSV_DOUBLE, 1);
      TrsvPlan *plan = MakePlan(&T.view, NULL, T.offsets[rows], a);

      bytes[more] = plan ? plan->bytes : 0;
      TrsvPlanDestroy(&plan);
      FreeTriangle(&T);
      CheckSolves(DENSE_ROW, rows, a, 0, triangle, diagonal, TRSV_DOUBLE, 1);
    }
    /* without a diagonal only the entries of a record must be near each other */
    Expect((bytes[1] > bytes[0] + 3 * 255) == (diagonal == TRSV_DIAGONAL_STORED),
           "%zu bytes for 256 rows, %zu for 257", bytes[0], bytes[1]);
  }
  TrsvChunkSettingsOverride(NULL);
}

/* On devices without clusters, or with less shared memory than an H200, both forms solve all shapes. */
static void CheckOnDevice(const char *name, int old, int shared)
{
  static const char *const forms[] = {"chunk", "chunk, inverted"};
  int                      n       = 0;

  for (int form = 0; form < 2; form++) {
    const TrsvAlgorithm *a = FindTested(forms[form]);

    Begin("%s on %s", forms[form], name);
    SimtDevice(old, shared);
    for (int shape = RANDOM; a && shape < SHAPES; shape += Reduced() ? 3 : 1, n++)
      CheckSolves((Shape)shape,
                  shape == DENSE     ? 40
                  : shape == GRID_3D ? 343
                                     : 500,
                  a, n / 8 % 2, (TrsvTriangle)(n % 2), (TrsvDiagonal)(n / 2 % 2), (TrsvPrecision)(n / 4 % 4),
                  Reduced() ? 1 : 3);
    SimtDevice(0, 0);
    End();
  }
}

/* The second half of the rows depends on 13 rows of the first half each. */
static Triangle MakeHalves(int rows)
{
  int *offsets = malloc(sizeof(int) * ((size_t)rows + 1)), *columns = malloc(sizeof(int) * 14 * (size_t)rows), n = 0;
  Triangle T;

  for (int i = 0; i < rows; i++) {
    offsets[i] = n;
    for (int d = 0; i >= rows / 2 && d < 13; d++) columns[n++] = d * (rows / 26) + i * 7 % (rows / 26);
    columns[n++] = i;
  }
  offsets[rows] = n;
  T             = MakeFrom(rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
  free(offsets);
  free(columns);
  return T;
}

/* More imports than fit: cells are reused, without clusters; then the ring is smaller; then records are shorter. */
static void CheckFitting(void)
{
  static const struct {
    int length, shared, rows, ring, as, reused, cluster;
  } cases[] = {
    {13, 227 << 10, 4160, 2048, 13, 0, 1}, {13, 99 << 10, 2080, 2048, 13, 0, 1}, {13, 99 << 10, 4160, 512, 13, 0, 1},
    {13, 99 << 10, 13312, 1024, 5, 1, 1},  {5, 99 << 10, 8320, 1024, 5, 1, 1},   {2, 99 << 10, 8320, 2048, 2, 0, 1},
    {5, 99 << 10, 8320, 1024, 5, 1, 2},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Triangle  T = MakeHalves(cases[c].rows);
    TrsvPlan *plan;
    char      line[100];

    SimtDevice(cases[c].cluster == 1, cases[c].shared);
    ForceChunkSettings(2, cases[c].length, cases[c].cluster);
    plan = MakePlan(&T.view, NULL, T.offsets[cases[c].rows], FindTested("chunk"));
    TrsvChunkSettingsOverride(NULL);
    if (plan) {
      const TrsvChunkSettings *s      = &TrsvChunkPlanSummary(plan)->settings;
      void                    *values = MakeValues(&T.view, 7), *b = MakeVector(TRSV_DOUBLE, cases[c].rows, 8),
           *reference = Reference(&T.view, NULL, T.offsets[cases[c].rows], values, b);

      TrsvChunkSettingsPrint(s, line, sizeof(line));
      Expect(s->ring == cases[c].ring && s->length == cases[c].as && (s->import_lifetime >= 0) == cases[c].reused &&
               s->cluster == (cases[c].reused ? 1 : cases[c].cluster),
             "case %zu: %s ring=%d", c, line, s->ring);
      ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
      if (reference) ExpectSolves(plan, b, reference, (unsigned)c, 1, line);
      free(values);
      free(b);
      free(reference);
    }
    TrsvPlanDestroy(&plan);
    FreeTriangle(&T);
    SimtDevice(0, 0);
  }
}

/* A device with too little shared memory: no plan, and a message that says why. */
static void CheckScarceMemory(void)
{
  static const char *const names[] = {"chunk", "chunk, inverted"};
  Triangle                 T       = MakeTriangle(BAND, 300, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);

  for (int i = 0; i < 2; i++)
    for (int lacks = 0; lacks < 2; lacks++) {
      TrsvMatrix    D = ToDevice(&T.view);
      TrsvAnalysis *there;
      TrsvPlan     *plan;

      ExpectError(TrsvAnalyze(&D, &there), TRSV_SUCCESS, "TrsvAnalyze");
      SimtSettings.shared = (99 << 10) - lacks;
      ExpectError(TrsvPlanCreate(&D, there, NULL, T.offsets[300], NULL, FindTested(names[i]), 0, &plan),
                  lacks ? TRSV_ERR_UNSUPPORTED : TRSV_SUCCESS, names[i]);
      Expect(!plan == !!lacks, "%s: a plan on such a device, or none where nothing is lacking", names[i]);
      if (lacks)
        Expect(strstr(TrsvErrorMessage(), "99 KB of shared memory") != NULL,
               "the message does not say what is lacking: %s", TrsvErrorMessage());
      SimtDefaults();
      TrsvPlanDestroy(&plan);
      TrsvAnalysisDestroy(&there);
      FromDevice(&D);
    }
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  FreeTriangle(&T);
}

void TestChunk(void)
{
  /* chunks, length, width, cluster, ring, stages, import_lifetime, steps_l2, steps_cluster */
  static const TrsvChunkSettings all[] = {
    {3, 2, 32, 1, 2048, 4, -1, 8, 4}, {5, 3, 32, 2, 2048, 5, -1, 8, 4}, {4, 2, 8, 4, 1024, 4, -1, 8, 4},
    {3, 5, 32, 1, 1024, 4, 4, 8, 4},  {4, 3, 32, 1, 1024, 4, 0, 8, 4},  {2, 13, 32, 2, 2048, 4, -1, 8, 4},
    {2, 13, 32, 1, 2048, 4, 1, 8, 4}, {4, 2, 32, 1, 1024, 4, 0, 8, 4},  {3, 2, 8, 1, 1024, 4, 1, 8, 4},
    {5, 3, 8, 1, 1024, 6, 4, 8, 4},
  };
  const TrsvAlgorithm *a = FindTested("chunk");
  unsigned             n = 0;

  for (size_t k = 0; a && k < 2 * sizeof(all) / sizeof(all[0]); k++) {
    const size_t s   = k / 2;
    const int    old = k % 2; /* records are copied by lanes, and there are no clusters */
    char         line[100];

    if (Reduced() && s != 1 && s != 4) continue;
    TrsvChunkSettingsPrint(&all[s], line, sizeof(line));
    Begin("chunk with settings %s%s", line, old ? ", without clusters and bulk copies" : "");
    SimtDevice(old, 0);
    TrsvChunkSettingsOverride(&all[s]);
    for (int shape = RANDOM; shape < SHAPES; shape++, n++)
      CheckSolves((Shape)shape,
                  shape == DENSE     ? 40
                  : shape == GRID_3D ? 343
                  : shape == GRID_2D ? 400
                                     : 500,
                  a, n / 8 % 2, (TrsvTriangle)(n % 2), (TrsvDiagonal)(n / 2 % 2),
                  (TrsvPrecision)(n / 4 % (all[s].length > CHUNK_COMPLEX_MAX ? 2 : 4)),
                  Reduced() ? 1
                  : old     ? 2
                            : 4);
    if (!Reduced()) CheckSolves(RANDOM, 1500, a, 0, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 2);
    TrsvChunkSettingsOverride(NULL);
    SimtDevice(0, 0);
    End();
  }

  if (a) TestChunkHeights();

  Begin("chunk with long rows");
  if (a) CheckLongRows(a);
  End();

  Begin("chunk with entries farther from the diagonal than a byte can state");
  if (a && !Reduced()) CheckEntriesApart(a);
  End();

  Begin("chunk's schedules are as short as they can be");
  if (a) CheckLengths(a);
  End();

  Begin("chunk makes one schedule where it chooses its settings");
  if (a) CheckOneSchedule(a);
  End();

  Begin("chunk on a device that holds no such clusters");
  for (int most = 1; a && most <= 8; most += 7) {
    Triangle  T = MakeTriangle(GRID_2D, 400, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, 1);
    TrsvPlan *plan;

    SimtSettings.cluster = most;
    ForceChunkSettings(20, 3, 16);
    plan = MakePlan(&T.view, NULL, T.offsets[400], a);
    if (plan)
      Expect(TrsvChunkPlanSummary(plan)->settings.cluster == most, "clusters of %d where %d is the most",
             TrsvChunkPlanSummary(plan)->settings.cluster, most);
    TrsvPlanDestroy(&plan);
    FreeTriangle(&T);
    TrsvChunkSettingsOverride(NULL);
  }
  SimtDefaults();
  End();

  CheckOnDevice("an A100", 1, 163 << 10);
  CheckOnDevice("an L40S", 1, 99 << 10);
  CheckOnDevice("an RTX 5090", 0, 99 << 10);

  Begin("chunk with more imports than fit into shared memory");
  if (a) CheckFitting();
  End();

  Begin("chunk, and with inverted blocks, on a device with too little shared memory");
  if (a) CheckScarceMemory();
  End();
}
