/*
   The choice by predicted times on an H200, for statistics of triangles for which one algorithm is measured and
   predicted to be the fastest (results/solve.jsonl, results/multicolor.jsonl, results/families.jsonl): many narrow
   level sets, many level sets, wide ones, few ones; orders by colors, where chunk takes twice the time; rows that
   all depend on the same few rows, where sell takes five times the time; chains that pass no neighbors, where
   inverted blocks take 1.9 times the time; near dependencies without chains, where chunk is faster than by colors;
   large triangles with long rows, where thread takes three times the time.
*/
#include "check.h"
#include "solve/model/model.h"

/* Predicted times that mostly consist of terms on which no choice above depends */
static void PredictTime(const char *name, const char *where, const TrsvStatistics *s, double least, double most)
{
  const double ms = 1e3 * TrsvPredict(FindTested(name), s, TRSV_DOUBLE);

  Begin("what %s is predicted to take, %s", name, where);
  Expect(ms > least && ms < most, "%g ms", ms);
  End();
}

static void CheckTimes(void)
{
  /* 8 x 8 x 4000: a level set lies in one or two chunks, which do all work at a time */
  static const TrsvStatistics duct   = {256000, 959936, 3.74975, 0.1191, 4, 4014,  64,     63.7768,
                                        25.9,   64,     63.98,   496.8,  0, 0.875, 0.4967, 0};
  static const TrsvStatistics points = {1728000, 23805356, 13.7762, 0.0842803, 14, 834,      3600, 2071.94,
                                        9975.7,  14521,    14400,   611937,    0,  0.991667, 0.35, 0};
  static const TrsvStatistics narrow = {512000, 6996636, 13.6653, 0.10323, 14, 554,    1600, 924.188,
                                        4435.1, 6481,    6399.99, 179316,  0,  0.9875, 0.4148, 0};

  PredictTime("chunk", "8 x 8 x 4000: measured 0.53 ms", &duct, 0.28, 0.8);
  PredictTime("chunk", "27 points on 120^3: measured 0.253 ms", &points, 0.2, 0.32);
  PredictTime("thread, recomputing", "27 points on 80^3: measured 0.368 ms", &narrow, 0.29, 0.42);
}

/* Blocks of three rows in an order by colors: the predicted time of chunk grows until level sets are too wide to be
   those of one color; there it falls. */
static void CheckBlocksByColors(void)
{
  TrsvStatistics s      = {.rows           = 200000,
                           .nnz            = 800000,
                           .row_mean       = 4,
                           .row_max        = 4,
                           .levels         = 30,
                           .level_max      = 8000,
                           .level_mean     = 2e5 / 30,
                           .mean_offset    = 8e4,
                           .bandwidth      = 180000,
                           .row_bandwidth  = 1e5,
                           .chain_fraction = 2 / 3.};
  double         before = 0, fall = 1;

  Begin("what chunk is predicted to take, blocks of rows in an order by colors");
  for (int wide = 10; wide < 180; wide++) {
    s.level_span = 0.1 * wide * s.level_mean;

    const double now = TrsvPredict(TrsvAlgorithmFind("chunk"), &s, TRSV_DOUBLE);
    if (before > fall * now) fall = before / now;
    before = now;
  }
  Expect(fall > 1.1, "it falls by a factor of %g", fall);
  End();
}

/* On every device the algorithm with the shortest predicted time is chosen. Without clusters, or with less shared
   memory, the predicted time of chunk is as long or longer, that of the others the same. If chunk cannot run, it has no
   predicted time. */
static void CheckOnDevices(const char *triangle, const TrsvStatistics *s, TrsvPrecision precision)
{
  static const struct {
    int old, shared;
  } devices[]   = {{0, 0}, {1, 163 << 10}, {1, 99 << 10}, {0, 99 << 10}, {1, 98 << 10}};
  double before = 0;

  for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
    const int            runs = devices[d].shared != 98 << 10;
    const TrsvAlgorithm *a, *best = NULL;

    SimtSettings.old    = devices[d].old;
    SimtSettings.shared = devices[d].shared;
    for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
      const double seconds = TrsvPredict(a, s, precision);

      if (!strcmp(a->name, "chunk")) {
        Expect(seconds >= before, "%s, precision %d: chunk takes %g s on device %zu, less than %g s", triangle,
               precision, seconds, d, before);
        if (!d) before = seconds;
        if (!runs) continue;
      }
      if (seconds > 0 && (!best || seconds < TrsvPredict(best, s, precision))) best = a;
    }
    const TrsvChoice c = TrsvSelect(s, TRSV_DEVICE, precision, TRSV_SELECT_MODEL);
    SimtDefaults();
    Expect(c.algorithm == best && !strstr(c.reason, "chunk") == !runs, "%s, precision %d, device %zu: %s, not %s: %s",
           triangle, precision, d, TrsvAlgorithmName(c.algorithm), TrsvAlgorithmName(best), c.reason);
  }
}

/* Clusters help a grid whose chunks are planes: without clusters the predicted time is longer. */
static void CheckPlanes(void)
{
  /* 7 points on 64^3 */
  static const TrsvStatistics grid = {262144, 1036288, 3.95313,  0.0543, 4, 190,      3072,   1379.7,
                                      1387,   4096,    4032.985, 164058, 0, 0.984375, 0.7146, 0};
  const double                with = TrsvPredict(TrsvAlgorithmFind("chunk"), &grid, TRSV_DOUBLE);

  SimtSettings.old     = 1;
  const double without = TrsvPredict(TrsvAlgorithmFind("chunk"), &grid, TRSV_DOUBLE);
  SimtDefaults();
  Expect(without > 1.2 * with, "%g s without clusters, %g s with", without, with);
}

/* Limits of the predicted times, near which no case above is. */
static void CheckLimits(void)
{
  /* 7 points on 160^3: a plane does not fit into shared memory */
  static const TrsvStatistics grid = {4096000, 16307200, 3.98125, 0.05, 4, 478,     19200, 8569,
                                      8800,    25600,    25400,   5e5,  0, 0.99375, 0.7,   0};
  TrsvStatistics              wide = grid, chains = grid, few = {.rows = 1000, .nnz = 3000, .row_mean = 3};
  TrsvChunkSettings           choice[CHUNK_CHOICES];
  double                      time[CHUNK_CHOICES];
  const TrsvDeviceLimits      limits = {1, TRSV_H200_SHARED};
  int smaller = 0, choices = TrsvChunkSettingsRank(&grid, 132, limits, TRSV_DOUBLE, choice, time);

  Begin("limits of what is predicted");
  for (int i = 0; i < choices; i++) {
    smaller += choice[i].chunks == 4096000 / 20000 + 1;
    for (int k = 0; k < i; k++)
      Expect(memcmp(&choice[i], &choice[k], sizeof(choice[i])), "choices %d and %d are the same", k, i);
  }
  Expect(smaller, "no chunks smaller than planes that do not fit");
  wide.nnz = (long)(1.01 * TrsvModel.recompute_wide * wide.levels);
  Expect(isinf(TrsvModelRecompute(&wide, TRSV_DOUBLE)), "the widest level sets are recomputed");
  wide.nnz = (long)(0.99 * TrsvModel.recompute_wide * wide.levels);
  Expect(isfinite(TrsvModelRecompute(&wide, TRSV_DOUBLE)) && isinf(TrsvModelRecompute(&wide, TRSV_COMPLEX_DOUBLE)),
         "real values are not recomputed, or complex ones are");
  few.levels = (int)TrsvModel.recompute_levels;
  Expect(isfinite(TrsvModelRecompute(&few, TRSV_DOUBLE)), "%d level sets are not recomputed", few.levels);
  few.levels--;
  Expect(isinf(TrsvModelRecompute(&few, TRSV_DOUBLE)), "%d level sets are recomputed", few.levels);
  chains.levels         = 1000;
  chains.chain_fraction = 0.99; /* longer than a slice: no slice has a whole chain */
  Expect(TrsvModelSell(&chains, TRSV_DOUBLE) >= 1000 * TrsvModel.sell_hop,
         "level sets of slices of chains that do not fit");
  End();
}

/* The form of thread or of chunk that is predicted to be the fastest. */
static const char *CheckPlan(const TrsvAlgorithm *a, const TrsvStatistics *s)
{
  if (a == TrsvAlgorithmFind("thread"))
    return isfinite(TrsvModelRecompute(s, TRSV_DOUBLE)) ? "thread, recomputing" : "thread";
  return a == TrsvAlgorithmFind("chunk") && TrsvModelInverse(s, TRSV_DOUBLE) < TrsvModelChunk(s, TRSV_DOUBLE)
         ? "chunk, inverted"
         : TrsvAlgorithmName(a);
}

/* The order by which tune sorts its times. */
static void CheckSorted(void)
{
  double v[] = {3, -1, 2, 2, 0.5};

  Begin("numbers in rising order");
  qsort(v, 5, sizeof(v[0]), TrsvAscending);
  for (int i = 1; i < 5; i++) Expect(v[i - 1] <= v[i], "%g before %g", v[i - 1], v[i]);
  End();
}

void TestSelect(void)
{
  static const struct {
    const char    *triangle, *fastest;
    TrsvStatistics statistics;
  } cases[] = {
    {"Dubcova1, lower",
     "chunk, inverted",
     {16129, 134569, 8.343, 0.3206, 12, 706, 742, 22.8456, 5079.69, 16052, 7460.31, 5832.17, 0, 0.433071, 0.167, 0}},
    {"slam_city10000, lower",
     "chunk, inverted",
     {19998, 102726, 5.137, 0.3524, 7, 9999, 2, 2, 3314.95, 18961, 4544.01, 1, 0, 0.49995, -0.3689, 0}},
    {"luxembourg_osm, lower",
     "chunk, inverted",
     {114599, 234265, 2.044, 0.1624, 5, 427, 4416, 268.382, 3180.34, 111306, 3227.71, 91805.8, 0, 0.890357, 0.8801, 0}},
    {"wave, lower",
     "chunk",
     {156317, 1215648, 7.777, 0.4322, 42, 1007, 12636, 155.23, 4743.55, 100454, 8275.11, 61945.6, 0, 0.612569, 0.3878,
      0}},
    {"boyd2_kkt, lower",
     "sell",
     {466316, 1076622, 2.309, 11.38, 10993, 2, 279785, 233158, 264079, 373055, 130572, 193986, 0, 0, 1.158, 0.307}},
    {"cs4, lower",
     "thread, recomputing",
     {22499, 66357, 2.949, 0.4391, 5, 25, 3995, 899.96, 4734.82, 22423, 5877.47, 13172.5, 0, 0.124272, 0.7902, 0}},
    {"delaunay_n15 in multicolor, lower",
     "thread, recomputing",
     {32768, 131042, 3.999, 0.496, 16, 32, 4419, 1024, 8680.93, 32631, 12059.3, 2413.6, 0, 0, 0.6928, 0}},
    {"delaunay_n15 in multicolor, upper",
     "thread, recomputing",
     {32768, 131042, 3.999, 0.4894, 14, 32, 2187, 1024, 8680.93, 32631, 8599.09, 18547.4, 0, 0, 0.6928, 0}},
    {"luxembourg_osm in multicolor, upper",
     "thread, recomputing",
     {114599, 234265, 2.044, 0.2299, 6, 32, 8635, 3581.22, 6408.29, 113103, 6022.51, 65106.4, 0, 0, 1.045, 0}},
    {"9 points on 99^2, lower",
     "chunk",
     {9801, 48413, 4.94, 0.0752, 5, 295, 50, 33.22, 74.38, 100, 98.99, 3194.1, 0, 0.98989, 0.3369, 0}},
    {"the row before in slabs of time, upper",
     "chunk, inverted",
     {12000, 23940, 1.995, 0.0354, 2, 200, 60, 60, 1, 1, 0.995, 9400, 0, 0.995, 0.7594, 0}},
    {"the line before on a plane of 110^2, upper",
     "chunk",
     {12100, 24090, 1.991, 0.0477, 2, 110, 110, 110, 110, 110, 109, 87, 0, 0, 0.821, 0}},
    {"slam_ais2klinik in multicolor, lower",
     "thread, recomputing",
     {30228, 97128, 3.213, 0.2876, 19, 32, 998, 944.625, 1795.46, 28821, 1656.18, 777.846, 0, 3.30819e-05, 0.7608, 0}},
    {"finance256 in multicolor, upper",
     "thread, recomputing",
     {37376, 167936, 4.493, 1.111, 39, 32, 4165, 1168, 13820.2, 36850, 9417.49, 21295.7, 0, 0, 0.6665, 0}},
    {"G3_circuit in multicolor, lower",
     "sell",
     {1585478, 4623152, 2.916, 0.2939, 6, 32, 167224, 49546.2, 148171, 1564349, 220510, 182324, 0, 0, 0.9956, 0}},
    {"vsp_model1_crew1_cr42_south31, lower",
     "chunk",
     {45101, 235077, 5.212, 0.5649, 181, 42, 7050, 1073.83, 12416.5, 45046, 15363.8, 24180.2, 0, 0.000753864, 0.6211,
      0.3774}},
    {"20 full columns, lower",
     "chunk",
     {100000, 2185313, 21.85, 0.02059, 22, 14, 14284, 7142.86, 47944.9, 99999, 49999.5, 79965, 0, 0.85714, 0.4572,
      0.9601}},
    {"27 points on 120^3, lower",
     "chunk",
     {1728000, 23805356, 13.7762, 0.0842803, 14, 834, 3600, 2071.94, 9975.7, 14521, 14400, 611937, 0, 0.991667, 0.35,
      0}},
    {"27 points on 80^3 by chance, lower",
     "thread",
     {512000, 6996636, 13.6653, 0.565034, 27, 56, 19606, 9142.86, 170683, 511878, 237015, 88258.1, 0, 5.07812e-05, 0.5,
      0}},
    {"R-MAT 2^21, upper",
     "chunk",
     {2097152, 33868172, 16.1496, 14.6125, 103065, 1619, 1355070, 1295.34, 586575, 2095990, 315707, 1159730, 0,
      0.000266552, 0.3, 0}},
    {"25 of 1,000 rows before, lower",
     "chunk",
     {50000, 1273774, 25.48, 0.07762, 26, 2468, 35, 20.2593, 498.773, 1000, 952.705, 121.616, 0, 0.0255, -0.03027, 0}},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    const TrsvChoice     choice = TrsvSelect(&cases[c].statistics, TRSV_DEVICE, TRSV_DOUBLE, TRSV_SELECT_MODEL);
    const TrsvAlgorithm *chosen = choice.algorithm;

    Begin("what auto takes, %s", cases[c].triangle);
    Expect(!strcmp(CheckPlan(chosen, &cases[c].statistics), cases[c].fastest), "%s, not %s: %s",
           CheckPlan(chosen, &cases[c].statistics), cases[c].fastest, choice.reason);
    End();
  }
  Begin("what auto takes on devices without clusters, and with less shared memory");
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
    for (int p = 0; p < 4; p++) CheckOnDevices(cases[c].triangle, &cases[c].statistics, (TrsvPrecision)p);
  End();
  Begin("what chunk is predicted to take without clusters, on a grid");
  CheckPlanes();
  End();
  CheckTimes();
  CheckBlocksByColors();
  CheckLimits();
  CheckSorted();
}
