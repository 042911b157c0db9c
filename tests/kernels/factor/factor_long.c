/*
   Factorizations with long rows: rows with many dependencies or many dependents, of lengths near those that a warp or
   a block takes at once, on either side of the diagonal; such patterns that cannot be factored.
*/
#include "square.h"

/* Rows so long that a warp looks up a part of a dependency before it waits, and the rest after the wait. */
static void CheckLongRows(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square      A;
    TrsvFactor *f;

    Begin("factor %s: long rows", kind ? "icc" : "ilu");
    A = MakeSquare(DENSE, 170, 1, TRSV_DOUBLE, 5);
    f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 16);
    if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 2, "dense");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* The sum of the lengths of the rows of U on which rows depend. */
static double CountOperations(const Square *A)
{
  double sum = 0;

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; A->columns[k] < i; k++)
      for (int t = A->offsets[A->columns[k]]; t < A->offsets[A->columns[k] + 1]; t++)
        sum += A->columns[t] >= A->columns[k];
  return sum;
}

/* A star, and a ring with a hub: all rows depend on the first row; in the ring they share entries with it. */
static void CheckStar(void)
{
  enum { ROWS = 150 };
  int *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * ROWS * ROWS);

  for (int ring = 0; ring < 2; ring++)
    for (int kind = 0; kind < 2; kind++) {
      TrsvFactor *f;
      Square      A;
      int         n = 0;

      if (!Mine()) continue;
      Begin("factor %s: a star%s", kind ? "icc" : "ilu", ring ? " with a ring" : "");
      for (int i = 0; i < ROWS; i++) {
        offsets[i] = n;
        for (int j = 0; j < ROWS; j++)
          if (i == j || !i || !j || (ring && i > 100 && j > 100 && abs(i - j) == 1)) columns[n++] = j;
      }
      offsets[ROWS] = n;
      A             = MakeSquareFrom(ROWS, offsets, columns);
      FillSquare(&A, 1, 1, 9);
      f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 0);
      if (f) Expect((f->lanes_per_row == 1) == !ring, "%d lanes", f->lanes_per_row);
      if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 2, "star");
      for (int shift = TRSV_SHIFT_NONZERO; f && shift <= TRSV_SHIFT_POSITIVE_DEFINITE; shift++)
        for (int side = -1; side <= 1; side += 2) { /* the first pivot, relative to the sum of its row: just below the
                                                       limit for a zero pivot, or just above */
          const TrsvPivots p   = {(TrsvShift)shift, 1, 0.01};
          double           sum = 0;

          /* the next rows: one whose first entry is not that of the sum; one with a small pivot only, while all other
             numbers are large */
          Set(A.values, A.precision, A.offsets[1], 1.5 * Get(A.values, A.precision, A.offsets[0] + 1));
          Set(A.values, A.precision, A.offsets[0] + 2, 0);
          Set(A.values, A.precision, A.offsets[2], 0);
          Set(A.values, A.precision, A.offsets[2] + 1, 1e-4);
          for (int k = A.offsets[0] + 1; k < A.offsets[1]; k++) sum += fabs(Get(A.values, A.precision, k));
          Set(A.values, A.precision, A.offsets[0], (1 + side * 1e-6) * p.zero * sum);
          CheckNumeric(f, &A, (TrsvFactorKind)kind, &p, 2, side < 0 ? "zero" : "not zero");
        }
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      End();
    }
  free(offsets);
  free(columns);
}

/* All rows, short and long, depend on two longer rows: each row searches these for its own entries; otherwise the time
   would be their length times the number of rows. */
static void CheckSharedRows(void)
{
  enum { ROWS = 420 };
  const int lanes[] = {4, 32};
  int      *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * ROWS * ROWS), n = 0;
  Square    A;

  for (int i = 0; i < ROWS; i++) {
    offsets[i] = n;
    for (int j = 0; j < ROWS; j++)
      if (i < 2 || j < 2 || abs(i - j) < 2 || (i + j) % 97 == 13 || ((i == 200 || i == 201) && j % 3 == 0) ||
          ((j == 200 || j == 201) && i % 3 == 0))
        columns[n++] = j;
  }
  offsets[ROWS] = n;
  for (int kind = 0; kind < 2; kind++)
    for (size_t k = 0; k < sizeof(lanes) / sizeof(lanes[0]); k++) {
      TrsvFactor *f;

      Begin("factor %s, %d lanes: rows that all depend on", kind ? "icc" : "ilu", lanes[k]);
      A = MakeSquareFrom(ROWS, offsets, columns);
      FillSquare(&A, 1, 1, 7);
      f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, lanes[k]);
      if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 2, "shared");
      if (f)
        Expect((double)f->host_work.operations == CountOperations(&A), "%llu operations instead of %g",
               f->host_work.operations, CountOperations(&A));
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      End();
    }
  free(offsets);
  free(columns);
}

/* Hubs after all other rows, so long that their dependencies are processed in parallel: FIRST depends on all rows,
   SECOND on the first rows, EVEN on every second of further rows. The dependencies are stars if they share only the
   diagonal with a hub. They are not in a chain in the middle, where hubs depend on each other and two have common
   dependencies, and after a row of many entries. Other rows have an entry that the hub does not have. */
enum { FIRST = 2000, SECOND, EVEN, HUB_ROWS };

static int IsHubEntry(int i, int j, int known)
{
  if (i > j) return IsHubEntry(j, i, known);
  if (i == j || (i == 300 && j % 10 == 7)) return 1;
  if (i >= FIRST) return known;
  if (j >= FIRST) return j == FIRST || (j == SECOND && i < 700) || (j == EVEN && i % 2 == 0 && i < 1100);
  return j == i + 1 ? i >= 600 && i < 640 : j == i + 1500 && i % 16 == 3;
}

/* one_way: U has few entries of SECOND's column, and some values of its row are 0. */
static Square MakeHubSquare(TrsvPrecision precision, int known, int one_way)
{
  Square A = NewSquare(HUB_ROWS, 32 * HUB_ROWS, precision);
  int    n = 0;

  for (int i = 0; i < HUB_ROWS; i++) {
    A.offsets[i] = n;
    for (int j = 0; j < HUB_ROWS; j++)
      if (IsHubEntry(i, j, known) && !(one_way && j == SECOND && i < j && i % 9)) A.columns[n++] = j;
  }
  A.offsets[HUB_ROWS] = A.nnz = n;
  FillSquare(&A, !one_way, 1, 11);
  for (int k = A.offsets[SECOND]; one_way && A.columns[k] < FIRST; k += 5) Set(A.values, precision, k, 0);
  return A;
}

static void CheckStars(int kind, TrsvPrecision precision, int known, int one_way)
{
  static const TrsvShift shift[] = {TRSV_SHIFT_NONE, TRSV_SHIFT_NONZERO, TRSV_SHIFT_POSITIVE_DEFINITE};
  Square                 A       = MakeHubSquare(precision, known, one_way);
  TrsvFactor            *f;

  Begin("factor %s, %s: hubs that %s each other%s", kind ? "icc" : "ilu", precision == TRSV_FLOAT ? "float" : "double",
        known ? "know" : "do not know", one_way ? ", one-way" : "");
  f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 4);
  for (int s = 0; f && s < (Reduced() ? 2 : 3); s++) {
    const TrsvPivots p = {shift[s], 1e-3, precision == TRSV_FLOAT ? 1e-5 : 1e-10};

    CheckNumeric(f, &A, (TrsvFactorKind)kind, s ? &p : &Plain, s ? 1 : 2, "hubs");
  }
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  End();
}

/* PETSc's symbolic phase takes a time that is the square of a long row's length if rows are in another order; the
   device does not. The long rows are the last of L or the first of U. */
static void CheckWalks(int first)
{
  enum { ROWS = 20000, HUBS = 5 };
  int   *offsets = malloc(sizeof(int) * (ROWS + 1)), *columns = malloc(sizeof(int) * (HUBS + 1) * ROWS), *order, n = 0;
  double host[2] = {0};
  Square A;

  if (TrsvDeviceAlloc(sizeof(int) * ROWS, &order)) exit(2);
  for (int i = 0; i < ROWS; i++) {
    const int hub = first ? i < HUBS : i >= ROWS - HUBS;

    offsets[i] = n;
    order[i]   = i ^ 1;
    for (int j = hub ? 0 : i; j < (hub ? ROWS : i + 1); j++) columns[n++] = j;
  }
  offsets[ROWS] = n;
  Begin("factor: what the host would take for long rows of %s", first ? "U" : "L");
  A = MakeSquareFrom(ROWS, offsets, columns);
  for (int ordered = 0; ordered < 2; ordered++) {
    TrsvFactor *f = MakeFactor(&A, ordered ? order : NULL, TRSV_ILU, 32);

    if (!f) continue;
    host[ordered] = TrsvFactorPredictHost(f);
    Expect(ordered == (TrsvFactorPredict(f) < host[ordered]), "host %g, device %g", host[ordered],
           TrsvFactorPredict(f));
    TrsvFactorDestroy(&f);
  }
  Expect(host[0] < 0.01 && host[1] > 0.4 && host[1] < 0.6, "%g s in the natural order, %g in another", host[0],
         host[1]);
  FreeSquare(&A);
  free(offsets);
  free(columns);
  TrsvDeviceFree(order);
  End();
}

/* A full row and column: the first, the middle one, the last. There are as many rows as a block takes, one less or one
   more. */
static void CheckHubs(void)
{
  static const int sizes[] = {33, 255, 256, 257, 1024, 1025};
  const int        most    = Reduced() ? 257 : 1025;

  for (int kind = 0; kind < 2; kind++) {
    Begin("factor %s: a row that is full", kind ? "icc" : "ilu");
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]) && sizes[s] <= most; s++)
      for (int place = 0; place < 3; place++) {
        const int n = sizes[s], hub = place * (n - 1) / 2;
        int *offsets = malloc(sizeof(int) * ((size_t)n + 1)), *columns = malloc(sizeof(int) * 3 * (size_t)n), nnz = 0;
        TrsvFactor *f;
        Square      A;
        char        where[40];

        for (int i = 0; i < n; i++) {
          offsets[i] = nnz;
          for (int j = 0; j < n; j++)
            if (i == j || i == hub || j == hub) columns[nnz++] = j;
        }
        offsets[n] = nnz;
        A          = MakeSquareFrom(n, offsets, columns);
        FillSquare(&A, 1, 1, 11);
        f = MakeFactor(&A, NULL, (TrsvFactorKind)kind, 0);
        (void)snprintf(where, sizeof(where), "row %d of %d", hub, n);
        if (f) CheckNumeric(f, &A, (TrsvFactorKind)kind, &Plain, 1, where);
        TrsvFactorDestroy(&f);
        FreeSquare(&A);
        free(offsets);
        free(columns);
      }
    End();
  }
}

/* Two rows, the second of which depends on the first. Other rows depend on one of them, in turn, but one row depends on
   both: the last dependent of the first or of the second; common = 0: none. */
static void CheckHubPair(TrsvFactorKind kind, const int own[2], int common)
{
  const int n = 2 + own[0] + own[1], both = common == 1 ? 0 : 1;
  int      *offsets = malloc(sizeof(int) * ((size_t)n + 1)), *columns = malloc(sizeof(int) * 8 * (size_t)n),
      *of = malloc(sizeof(int) * (size_t)n), nnz = 0, left[2] = {own[0], own[1]}, last[2] = {0, 0};
  TrsvFactor *f;
  Square      A;

  for (int i = 2; i < n; i++) {
    of[i] = left[i % 2] ? i % 2 : 1 - i % 2;
    left[of[i]]--;
    last[of[i]] = i;
  }
  for (int i = 0; i < n; i++) {
    offsets[i] = nnz;
    for (int j = 0; j < n; j++) {
      const int low = i < j ? i : j, high = i < j ? j : i;

      if (i == j || high == 1 || (low < 2 && (of[high] == low || (common && high == last[both])))) columns[nnz++] = j;
    }
  }
  offsets[n] = nnz;
  A          = MakeSquareFrom(n, offsets, columns);
  FillSquare(&A, 1, 1, 13);
  f = MakeFactor(&A, NULL, kind, 0);
  if (f)
    Expect((f->lanes_per_row == 1) == !common, "%d and %d, %d in common: %d lanes", own[0], own[1], common,
           f->lanes_per_row);
  if (f) CheckNumeric(f, &A, kind, &Plain, 1, "two hubs");
  TrsvFactorDestroy(&f);
  FreeSquare(&A);
  free(of);
  free(offsets);
  free(columns);
}

static void CheckHubPairs(void)
{
  static const int own[][2] = {{3, 5},     {127, 140}, {128, 140}, {129, 140},
                               {140, 127}, {140, 128}, {140, 129}, {400, 300}};

  for (int kind = 0; kind < 2; kind++) {
    if (!Mine()) continue;
    Begin("factor %s: two rows that many depend on", kind ? "icc" : "ilu");
    for (size_t k = Reduced() ? (size_t)kind : 0; k < sizeof(own) / sizeof(own[0]) - (Reduced() ? 1 : 0);
         k += Reduced() ? 2 : 1)
      for (int common = 0; common < 3; common++) CheckHubPair((TrsvFactorKind)kind, own[k], common);
    End();
  }
}

/* 600 rows, of which the middle one is full, with a fault in it or next to it; the error names the first such row. */
static void CheckRefused(void)
{
  enum { ROWS = 600, HUB = 300 };
  static const struct {
    const char *what;
    int         row, entry, column; /* the fault: a column; entry = -1: the row ends so much before it starts */
    int         also;               /* another row whose first column is wrong, or -1 */
    int         named;
  } spoils[] = {
    {"has no diagonal entry", HUB, HUB, HUB, -1, -1},
    {"columns must rise", HUB, 256, 255, -1, HUB},
    {"columns must rise", HUB, 257, 3, 410, HUB},
    {"columns must rise", HUB, 599, 598, 301, HUB},
    {"has column 600, not in 0 to 599", HUB, 599, ROWS, -1, HUB},
    {"has column 601, not in 0 to 599", HUB, 512, 601, 599, HUB},
    {"has column -5, not in 0 to 599", HUB, 0, -5, -1, HUB},
    {"has column -1, not in 0 to 599", HUB, 300, 0, 255, 255},
    {"has column -1, not in 0 to 599", HUB, 300, 0, 256, 256},
    {"offsets fall", 299, -1, 1, -1, 299},
    {"offsets fall", 299, -1, 2, 410, 299},
    {"has column -1, not in 0 to 599", 299, -1, 1, 298, 298},
    {"offsets fall", 256, -1, 2, -1, 256},
    {"beyond the last one, 1794", 599, -1, 2, -1, 598},
  };

  for (size_t s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
    Begin("factor refuses a long row: %s, %d", spoils[s].what, (int)s);
    for (int kind = 0; kind < 2; kind++) {
      Square      A = NewSquare(ROWS, 3 * ROWS, TRSV_DOUBLE);
      TrsvFactor *f;
      int         n = 0, row = -1, named = spoils[s].named;

      for (int i = 0; i < ROWS; i++) {
        A.offsets[i] = n;
        for (int j = 0; j < ROWS; j++)
          if (i == j || i == HUB || j == HUB) A.columns[n++] = j;
      }
      A.offsets[ROWS] = n;
      if (named < 0) { /* the diagonal is left out */
        named = HUB;
        for (int k = A.offsets[HUB] + HUB; k < n - 1; k++) A.columns[k] = A.columns[k + 1];
        for (int i = HUB + 1; i <= ROWS; i++) A.offsets[i]--;
      } else if (spoils[s].entry >= 0) A.columns[A.offsets[spoils[s].row] + spoils[s].entry] = spoils[s].column;
      else A.offsets[spoils[s].row + 1] = A.offsets[spoils[s].row] - spoils[s].column;
      if (spoils[s].also >= 0) A.columns[A.offsets[spoils[s].also]] = -1;
      ExpectError(TrsvFactorCreate(&(TrsvCSR){ROWS, A.offsets, A.columns}, NULL, TRSV_DEVICE, (TrsvFactorKind)kind,
                                   TRSV_DOUBLE, &f),
                  TRSV_ERR_STRUCTURE, "TrsvFactorCreate");
      (void)sscanf(TrsvErrorMessage(), "row %d ", &row);
      Expect(!f && row == named && strstr(TrsvErrorMessage(), spoils[s].what), "row %d, not %d: %s", row, named,
             TrsvErrorMessage());
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
    }
    End();
  }
}

void TestFactorLong(void)
{
  if (Mine()) CheckLongRows();
  if (Mine()) CheckSharedRows();
  CheckStar();
  for (int variant = 0; variant < 8; variant++)
    if (Mine()) CheckStars(variant & 1, (TrsvPrecision)(variant >> 1 & 1), variant >> 2, 0);
  if (Mine()) CheckStars(TRSV_ILU, TRSV_DOUBLE, 0, 1);
  if (Mine()) CheckWalks(0);
  if (Mine()) CheckWalks(1);
  if (Mine()) CheckHubs();
  CheckHubPairs();
  if (Mine()) CheckRefused();
}
