/*
   Factorizations with long rows: rows that many depend on, or that depend on many, of lengths about what a warp or a
   block takes at once, on either side of the diagonal; patterns of such rows that cannot be factored.
*/
#include "square.h"

/* Rows so long that a warp looks up a part of a dependency before it waits for it, and the rest after. */
static void Long(void)
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

/* The lengths of the rows of U that rows depend on. */
static double Operations(const Square *A)
{
  double sum = 0;

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; A->columns[k] < i; k++)
      for (int t = A->offsets[A->columns[k]]; t < A->offsets[A->columns[k] + 1]; t++)
        sum += A->columns[t] >= A->columns[k];
  return sum;
}

/* A star and a ring with a hub: on its first row all depend; with the ring they have entries in common with it. */
static void Star(void)
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
        for (int side = -1; side <= 1;
             side += 2) { /* the first pivot, against its row's sum, hardly counts as zero, or hardly does not */
          const TrsvPivots p   = {(TrsvShift)shift, 1, 0.01};
          double           sum = 0;

          /* the next rows: one whose first entry is not that of the sum; one of a small pivot and nothing else, beside
           * which all but its own sum is large */
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

/* All rows, short ones and some long, depend on two that are longer: each looks for its own entries in those, or they
   would be gone through as often as there are rows. */
static void Shared(void)
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
        Expect((double)f->host_work.operations == Operations(&A), "%llu operations instead of %g",
               f->host_work.operations, Operations(&A));
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      End();
    }
  free(offsets);
  free(columns);
}

/* Hubs behind all others, long enough for their dependencies to be taken off side by side: FIRST depends on all, SECOND
   on the first ones, EVEN on every other of more. Where the dependencies touch nothing but the diagonal of a hub they
   are stars, and are not: in a chain in the middle; where hubs know each other and two have the same; behind a row of
   many entries. Others have an entry that the hub does not. */
enum { FIRST = 2000, SECOND, EVEN, HUB_ROWS };

static int IsHubEntry(int i, int j, int known)
{
  if (i > j) return IsHubEntry(j, i, known);
  if (i == j || (i == 300 && j % 10 == 7)) return 1;
  if (i >= FIRST) return known;
  if (j >= FIRST) return j == FIRST || (j == SECOND && i < 700) || (j == EVEN && i % 2 == 0 && i < 1100);
  return j == i + 1 ? i >= 600 && i < 640 : j == i + 1500 && i % 16 == 3;
}

/* one_way: U has hardly any of SECOND's column, and of its row some values are 0. */
static Square HubSquare(TrsvPrecision precision, int known, int one_way)
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

static void Stars(int kind, TrsvPrecision precision, int known, int one_way)
{
  static const TrsvShift shift[] = {TRSV_SHIFT_NONE, TRSV_SHIFT_NONZERO, TRSV_SHIFT_POSITIVE_DEFINITE};
  Square                 A       = HubSquare(precision, known, one_way);
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

/* PETSc's symbolic phase takes the square of a long row's length where rows are in another order, and the device does
   not. The long ones are the last, in L, or the first, in U. */
static void Walks(int first)
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

/* A row, and a column, that is full: the first, one in the middle, the last. There are as many rows as a block takes,
 * or one less or more. */
static void Hubs(void)
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

/* Two rows, the second of which depends on the first, and so many others that depend on one of them each, by turns, but
   for one that depends on both: the last of the first's, or of the second's; none where common is 0. */
static void TwoHubs(TrsvFactorKind kind, const int own[2], int common)
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

static void Hubs2(void)
{
  static const int own[][2] = {{3, 5},     {127, 140}, {128, 140}, {129, 140},
                               {140, 127}, {140, 128}, {140, 129}, {400, 300}};

  for (int kind = 0; kind < 2; kind++) {
    if (!Mine()) continue;
    Begin("factor %s: two rows that many depend on", kind ? "icc" : "ilu");
    for (size_t k = Reduced() ? (size_t)kind : 0; k < sizeof(own) / sizeof(own[0]) - (Reduced() ? 1 : 0);
         k += Reduced() ? 2 : 1)
      for (int common = 0; common < 3; common++) TwoHubs((TrsvFactorKind)kind, own[k], common);
    End();
  }
}

/* 600 rows, that in the middle full, with something wrong in or beside it; the first such row is named. */
static void Refused(void)
{
  enum { ROWS = 600, HUB = 300 };
  static const struct {
    const char *what;
    int         row, entry,
      column; /* what is wrong: a column; or, where entry is -1, where the row ends, so much sooner than it starts */
    int also; /* a row whose first column is spoilt, too, or -1 */
    int named;
  } spoils[] = {
    {"has no diagonal entry", HUB, HUB, HUB, -1, -1},
    {"columns must rise", HUB, 256, 255, -1, HUB},
    {"columns must rise", HUB, 257, 3, 410, HUB},
    {"columns must rise", HUB, 599, 598, 301, HUB},
    {"has column 600 of 600", HUB, 599, ROWS, -1, HUB},
    {"has column 601 of 600", HUB, 512, 601, 599, HUB},
    {"has column -5 of 600", HUB, 0, -5, -1, HUB},
    {"has column -1 of 600", HUB, 300, 0, 255, 255},
    {"has column -1 of 600", HUB, 300, 0, 256, 256},
    {"offsets fall", 299, -1, 1, -1, 299},
    {"offsets fall", 299, -1, 2, 410, 299},
    {"has column -1 of 600", 299, -1, 1, 298, 298},
    {"offsets fall", 256, -1, 2, -1, 256},
    {"beyond the last one, 1794", 599, -1, 2, -1, 598},
  };

  for (size_t s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
    Begin("factor refuses a long row: %s, %d", spoils[s].what, (int)s);
    for (int kind = 0; kind < 2; kind++) {
      Square      A = NewSquare(ROWS, 3 * ROWS, TRSV_DOUBLE);
      TrsvFactor *f;
      int         n = 0, row, named = spoils[s].named;

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
      ExpectError(
        TrsvFactorCreate(ROWS, A.offsets, A.columns, NULL, TRSV_DEVICE, (TrsvFactorKind)kind, TRSV_DOUBLE, &f, &row),
        TRSV_ERR_STRUCTURE, "TrsvFactorCreate");
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
  if (Mine()) Long();
  if (Mine()) Shared();
  Star();
  for (int variant = 0; variant < 8; variant++)
    if (Mine()) Stars(variant & 1, (TrsvPrecision)(variant >> 1 & 1), variant >> 2, 0);
  if (Mine()) Stars(TRSV_ILU, TRSV_DOUBLE, 0, 1);
  if (Mine()) Walks(0);
  if (Mine()) Walks(1);
  if (Mine()) Hubs();
  Hubs2();
  if (Mine()) Refused();
}
