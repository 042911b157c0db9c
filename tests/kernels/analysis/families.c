/*
   The families of matrices that the benchmark makes (bench/families.c): the analysis accepts both triangles of each.
   Rows, entries and level sets are those of the structure, or of the seed for random families, so that measurements
   of a family are of the same matrix everywhere.
*/
#define Triangle CheckedTriangle /* the type Matrix of matrices.h */
#include "check.h"
#undef Triangle
#include "matrices.h"

static const struct {
  const char *name;
  int         rows, nnz, levels; /* of either triangle: patterns are symmetric */
} known[] = {
  {"tridiag_batch", 1000000, 1998000, 500},
  {"tridiag_inter", 1000000, 1998000, 500},
  {"tridiag_one", 200000, 399999, 200000},
  {"grid_8_8_4000", 256000, 959936, 4014},
  {"grid_4_100000", 400000, 1099996, 100003},
  {"grid_50_20000", 1000000, 2979950, 20049},
  {"grid_20000_50", 1000000, 2979950, 20049},
  {"grid13_400", 160000, 797600, 799},
  {"fem3_24", 41472, 1564236, 486},
  {"fem2_200", 80000, 755208, 1196},
  {"grid500_random", 250000, 749000, 14},
  {"grid300_nd", 90000, 269400, 450},
  {"grid500x9_nd", 250000, 1247002, 766},
  {"rgg_random", 100000, 451297, 23},
  {"rgg_rcm", 100000, 451297, 1413},
  {"ba_100k", 100000, 599985, 75},
  {"ba_100k_rev", 100000, 599985, 75},
  {"smallworld", 100000, 399999, 95245},
  {"arrow_last", 100000, 2185313, 14},
  {"arrow_first", 100000, 2185313, 14},
  {"blocks32", 96000, 1584000, 32},
  {"blocks100", 30000, 1515000, 100},
  {"circuit", 200000, 799192, 5414},
  {"kkt", 100000, 279955, 11},
  {"chain_far", 100000, 299992, 100000},
  {"tree", 131071, 262141, 17},
  {"steps", 200000, 1189014, 100},
  {"chain_in_diag", 1000000, 1019999, 20000},
  {"lattice4_20", 160000, 768000, 77},
  {"band_random", 50000, 1273651, 2465},
  {"band_wide", 100000, 392439, 82},
  {"rand60", 30000, 1817218, 691},
  {"band200", 5000, 984900, 5000},
  {"fem3_50", 375000, 14775564, 1032},
  {"fem2_700", 980000, 9293208, 4196},
  {"grid7_200", 8000000, 31880000, 598},
  {"grid27_120", 1728000, 23805356, 834},
  {"grid27_80_rand", 512000, 6996636, 56},
  {"grid100_random", 1000000, 3970000, 21},
  {"grid1000_nd", 1000000, 2998000, 1500},
  {"rgg_rcm_1m", 1000000, 4527933, 4473},
  {"kkt_1m", 1000000, 2800176, 15},
  {"lattice4_32", 1048576, 5111808, 125},
};

static void CheckFamily(const char *what, int rows, int nnz, int levels)
{
  Matrix M;

  Begin("matrix %s", what);
  if (Expect(!MatrixMake(what, &M), "it cannot be made")) {
    for (int upper = 0; upper < 2; upper++) {
      const char   *which = upper ? "upper" : "lower";
      Triangle      T;
      TrsvAnalysis *a;

      if (!Expect(!TriangleMake(&M, upper ? TRSV_UPPER : TRSV_LOWER, 0, &T), "there is no %s triangle", which))
        continue;
      if (ExpectError(TrsvAnalyze(&T.matrix, &a), TRSV_SUCCESS, which)) {
        const TrsvStatistics *s = &a->statistics;

        Expect(s->rows == rows, "%s: %d rows instead of %d", which, s->rows, rows);
        Expect(s->nnz == nnz, "%s: %ld entries instead of %d", which, (long)s->nnz, nnz);
        Expect(s->levels == levels, "%s: %d level sets instead of %d", which, s->levels, levels);
        TrsvAnalysisDestroy(&a);
      }
      TriangleFree(&T);
    }
    for (int i = 0, k = 0; i < M.rows; i++) {
      while (k < M.offsets[i + 1] && M.columns[k] < i) k++;
      if (!Expect(k < M.offsets[i + 1] && M.columns[k] == i, "row %d has no diagonal", i)) break;
      k = M.offsets[i + 1];
    }
    MatrixFree(&M);
  }
  End();
}

void TestFamilies(void)
{
  const int count = (int)(sizeof(known) / sizeof(known[0]));
  char      what[64];
  int       n = 0;
  Matrix    M;

  while (FamilyName(n)) n++;
  Begin("families: their names");
  Expect(n == count, "%d families instead of %d", n, count);
  for (int k = 0; k < n && k < count; k++)
    Expect(!strcmp(FamilyName(k), known[k].name), "family %d is %s instead of %s", k, FamilyName(k), known[k].name);
  Expect(MatrixMake("family:", &M) && MatrixMake("family:tre", &M) && MatrixMake("family:tree2", &M) &&
           MatrixMake("multicolor:family:none", &M),
         "there is one that should not be there");
  End();
  for (int k = 0; k < count; k++) {
    if (Reduced() && known[k].rows > 250000) continue;
    (void)snprintf(what, sizeof(what), "family:%s", known[k].name);
    CheckFamily(what, known[k].rows, known[k].nnz, known[k].levels);
  }
  CheckFamily("multicolor:family:steps", 200000, 1189014, 32); /* 100 level sets in its natural order */
}
