/*
   Structures that the analysis and the transpose must refuse, with the row that the message must name, on the host and
   on the device.
*/
#include <limits.h>
#include "check.h"

/* A device matrix whose offsets fall and whose last offset is beyond its arrays: nothing beyond the arrays is read. */
static void TestFallingOffsets(void)
{
  static const int offsets[] = {0, 1, 2, 1, 100}, columns[] = {0, 0, 0};
  TrsvMatrix       D = {4, NULL, NULL, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_DEVICE, NULL};
  TrsvAnalysis    *a;
  int             *o, *c;

  Begin("structure: offsets fall, and the last is beyond the columns");
  if (TrsvDeviceAlloc(sizeof(offsets), &o) || TrsvDeviceAlloc(sizeof(columns), &c) ||
      TrsvDeviceUpload(o, offsets, sizeof(offsets), NULL) || TrsvDeviceUpload(c, columns, sizeof(columns), NULL))
    exit(2);
  D.offsets = o;
  D.columns = c;
  ExpectError(TrsvAnalyze(&D, &a), TRSV_ERR_STRUCTURE, "TrsvAnalyze");
  TrsvDeviceFree(o);
  TrsvDeviceFree(c);
  End();
}

static void CheckRefused(const char *name, int rows, const int *offsets, const int *columns, TrsvTriangle triangle,
                         TrsvDiagonal diagonal, const char *row)
{
  const TrsvMatrix A        = {rows, offsets, columns, triangle, diagonal, TRSV_DOUBLE, TRSV_HOST, NULL};
  TrsvAnalysis    *analysis = (TrsvAnalysis *)&A;
  TrsvMatrix       T;
  int             *made = NULL;
  const int       *source;
  TrsvPair        *pair = (TrsvPair *)&A;
  TrsvError        error;

  Begin("structure: %s", name);
  error = TrsvAnalyze(&A, &analysis);
  ExpectError(error, TRSV_ERR_STRUCTURE, "TrsvAnalyze");
  Expect(strstr(TrsvErrorMessage(), row) != NULL, "the message does not say '%s': %s", row, TrsvErrorMessage());
  Expect(!analysis, "an analysis in spite of the error");
  ExpectError(TrsvTranspose(&A, &T, &made, &source), TRSV_ERR_STRUCTURE, "TrsvTranspose");
  Expect(!made, "a transpose in spite of the error");
  if (offsets[rows] >= 0) { /* the same error and message for a matrix on the device */
    TrsvMatrix D = ToDevice(&A);
    char       said[512];

    (void)snprintf(said, sizeof(said), "%s", TrsvErrorMessage());
    ExpectError(TrsvAnalyze(&D, &analysis), TRSV_ERR_STRUCTURE, "TrsvAnalyze on the device");
    Expect(!analysis && !strcmp(TrsvErrorMessage(), said), "the device says '%s', the host '%s'", TrsvErrorMessage(),
           said);
    ExpectError(TrsvTranspose(&D, &T, &made, &source), TRSV_ERR_STRUCTURE, "TrsvTranspose on the device");
    Expect(!made && !strcmp(TrsvErrorMessage(), said), "the device says '%s', the host '%s'", TrsvErrorMessage(), said);
    FromDevice(&D);
    Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  }
  for (int transposed = 0; transposed < 2; transposed++) {
    ExpectError(TrsvPairCreate(&A, &A, NULL, NULL, transposed, TRSV_HOST, TRSV_SELECT_MODEL, NULL, NULL, &pair),
                TRSV_ERR_STRUCTURE, "TrsvPairCreate");
    Expect(!pair, "a pair in spite of the error");
  }
  End();
}

static void TestFaults(void)
{
  const TrsvTriangle L = TRSV_LOWER, U = TRSV_UPPER;
  const TrsvDiagonal UNIT = TRSV_DIAGONAL_UNIT, STORED = TRSV_DIAGONAL_STORED;

  CheckRefused("columns not sorted", 3, (int[]){0, 1, 2, 5}, (int[]){0, 1, 1, 0, 2}, L, STORED, "row 2");
  CheckRefused("column twice", 3, (int[]){0, 1, 2, 5}, (int[]){0, 1, 0, 0, 2}, L, STORED, "row 2");
  CheckRefused("diagonal twice", 2, (int[]){0, 1, 3}, (int[]){0, 1, 1}, L, STORED, "row 1");
  CheckRefused("column negative", 2, (int[]){0, 1, 3}, (int[]){0, -1, 1}, L, STORED, "row 1");
  CheckRefused("column too large", 2, (int[]){0, 2, 3}, (int[]){0, 2, 1}, U, STORED, "row 0");
  CheckRefused("column far too large", 2, (int[]){0, 2, 3}, (int[]){0, 2000000000, 1}, U, STORED, "row 0");
  CheckRefused("upper entry in a lower triangle", 2, (int[]){0, 2, 3}, (int[]){0, 1, 1}, L, STORED, "row 0");
  CheckRefused("lower entry in an upper triangle", 2, (int[]){0, 1, 3}, (int[]){0, 0, 1}, U, STORED, "row 1");
  CheckRefused("diagonal missing, lower", 2, (int[]){0, 1, 2}, (int[]){0, 0}, L, STORED, "row 1");
  CheckRefused("diagonal missing, upper", 2, (int[]){0, 1, 2}, (int[]){1, 1}, U, STORED, "row 0");
  CheckRefused("row empty", 2, (int[]){0, 0, 1}, (int[]){1}, L, STORED, "row 0");
  CheckRefused("diagonal stored in a unit triangle", 2, (int[]){0, 0, 1}, (int[]){1}, L, UNIT, "row 1");
  CheckRefused("offsets fall", 3, (int[]){0, 2, 1, 3}, (int[]){0, 0, 1}, L, UNIT, "row ");
  CheckRefused("offsets fall behind a good row", 3, (int[]){0, 1, 0, 1}, (int[]){0}, L, STORED, "row 1");
  CheckRefused("offsets beyond the last", 2, (int[]){0, 7, 2}, (int[]){0, 1}, L, STORED, "row 0");
  CheckRefused("offsets beyond the last behind a good row", 3, (int[]){0, 1, 9, 2}, (int[]){0, 1}, L, STORED,
               "row 1: its offsets, 1 and 9, are beyond the last one, 2");
  CheckRefused("an offset of -1", 2, (int[]){0, -1, 2}, (int[]){0, 1}, U, STORED, "row 0: offsets fall from 0 to -1");
  CheckRefused("the least offset there is", 2, (int[]){0, INT_MIN, 2}, (int[]){0, 1}, L, STORED, "row 0: offsets fall");
  CheckRefused("the least column there is", 2, (int[]){0, 1, 3}, (int[]){0, INT_MIN, 1}, L, STORED, "row 1 has column");
  CheckRefused("the largest column there is", 2, (int[]){0, 2, 3}, (int[]){0, INT_MAX, 1}, U, STORED,
               "row 0 has column");
  CheckRefused("offsets do not start at 0", 1, (int[]){1, 2}, (int[]){0, 0}, L, STORED, "offsets start at 1");
  CheckRefused("sound rows, offsets from 2 on", 3, (int[]){2, 3, 4, 6}, (int[]){9, 9, 0, 1, 1, 2}, L, STORED,
               "offsets start at 2");
  CheckRefused("offsets start beyond the last", 2, (int[]){7, 1, 2}, (int[]){0, 1}, L, STORED, "offsets start at 7");
  CheckRefused("offsets start far below 0", 3, (int[]){-100000000, 0, 1, 2}, (int[]){0, 0}, L, UNIT,
               "offsets start at -100000000");

  for (int n = 0; n < 4; n++) { /* two wrong rows in different blocks of the device: the message names the first */
    int *const offsets = malloc(sizeof(int) * 1001), *const columns = malloc(sizeof(int) * 1000);
    char row[16];

    for (int i = 0; i < 1000; i++) offsets[i] = columns[i] = i;
    offsets[1000]          = 1000;
    columns[300 + 200 * n] = n & 1 ? -5 : 1001;
    columns[310 + 200 * n] = 0;
    columns[990]           = 1000000;
    if (n == 3) offsets[700] = 690;
    (void)snprintf(row, sizeof(row), "row %d has", n == 3 ? 698 : 300 + 200 * n);
    CheckRefused("several wrong rows", 1000, offsets, columns, n & 1 ? U : L, STORED, n == 3 ? "row 699" : row);
    free(offsets);
    free(columns);
  }

  Begin("structure: rows negative");
  {
    const TrsvMatrix A = {-1, (int[]){0}, NULL, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE, TRSV_HOST, NULL};
    TrsvAnalysis    *analysis;

    ExpectError(TrsvAnalyze(&A, &analysis), TRSV_ERR_ARGUMENT, "TrsvAnalyze");
    Expect(!analysis, "an analysis in spite of the error");
  }
  End();
}

/* Do offsets start at 0 and never fall or exceed the last, and do columns ascend on their side, with the diagonal as
   the view states? */
static int IsSound(const TrsvMatrix *A)
{
  const int lower = A->triangle == TRSV_LOWER, unit = A->diagonal == TRSV_DIAGONAL_UNIT, stored = A->offsets[A->rows];
  int       sound = !A->offsets[0];

  for (int i = 0; i < A->rows && sound; i++) {
    const int begin = A->offsets[i], end = A->offsets[i + 1], first = lower ? 0 : i + unit,
              last = lower ? i - unit : A->rows - 1;

    sound = begin <= end && end <= stored && (unit || begin < end);
    for (int k = begin; k < end && sound; k++)
      sound = A->columns[k] >= first && A->columns[k] <= last && (k == begin || A->columns[k] > A->columns[k - 1]);
    sound = sound && (unit || A->columns[lower ? end - 1 : begin] == i);
  }
  return sound;
}

/* Small triangles in which up to two numbers are replaced: host and device give the same correct outcome and the same
   message. */
static void TestRandomFaults(void)
{
  enum { ROWS = 9 };
  Random rng   = 77;
  int    sound = 0, broken = 0;

  Begin("structure: random faults");
  for (int n = 0; n < (Reduced() ? 300 : 1500); n++) {
    const TrsvTriangle triangle = (TrsvTriangle)(n & 1);
    const TrsvDiagonal diagonal = (TrsvDiagonal)(n >> 1 & 1);
    const int          rows     = RandomBelow(&rng, ROWS + 1),
              values[]          = {-1, INT_MIN, INT_MAX, rows, RandomBelow(&rng, ROWS), RandomBelow(&rng, ROWS * ROWS)};
    int           offsets[ROWS + 1] = {0}, columns[ROWS * ROWS + 1], stored = 0;
    TrsvAnalysis *host, *device;
    char          said[512] = "";

    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < rows; j++)
        if (i == j ? diagonal == TRSV_DIAGONAL_STORED : (j < i) == (triangle == TRSV_LOWER) && RandomBelow(&rng, 3))
          columns[stored++] = j;
      offsets[i + 1] = stored;
    }
    for (int faults = RandomBelow(&rng, 3); faults > 0; faults--) {
      const int value = values[RandomBelow(&rng, 6)];

      if (RandomBelow(&rng, 2) && stored) columns[RandomBelow(&rng, stored)] = value;
      else if (rows) offsets[RandomBelow(&rng, rows)] = value;
    }

    const TrsvMatrix A        = {rows, offsets, columns, triangle, diagonal, TRSV_DOUBLE, TRSV_HOST, NULL};
    TrsvMatrix       D        = ToDevice(&A);
    const int        expected = IsSound(&A) ? TRSV_SUCCESS : TRSV_ERR_STRUCTURE;

    *(expected ? &broken : &sound) += 1;
    ExpectError(TrsvAnalyze(&A, &host), expected, "TrsvAnalyze");
    if (expected) (void)snprintf(said, sizeof(said), "%s", TrsvErrorMessage());
    ExpectError(TrsvAnalyze(&D, &device), expected, "TrsvAnalyze on the device");
    if (expected)
      Expect(!strcmp(TrsvErrorMessage(), said), "triangle %d: the device says '%s', the host '%s'", n,
             TrsvErrorMessage(), said);
    TrsvAnalysisDestroy(&host);
    TrsvAnalysisDestroy(&device);
    FromDevice(&D);
  }
  Expect(sound > 50 && broken > 50, "%d of them sound, %d not", sound, broken);
  Expect(!SimtLive(), "%zu device allocations are left", SimtLive());
  End();
}

void TestStructure(void)
{
  TestFallingOffsets();
  TestFaults();
  TestRandomFaults();
}
