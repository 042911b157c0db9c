/*
   ILU(0) and IC(0) on the device against PETSc's elimination written out on the host: shapes, sizes, lanes, precisions, schedules, values
   after values; zero pivots and every shift; matrices that cannot be factored.
*/
#include "check.h"
#include "factor.h"

static const TrsvPivots plain = {TRSV_SHIFT_NONE, 0, 1e-13};

/* A square matrix of the test, on the device as the executor has it */
typedef struct {
  TrsvPrecision precision;
  int           rows, nnz, *offsets, *columns;
  void         *values;
} Square;

static void *OnDevice(size_t bytes)
{
  void *p;

  ExpectError(TrsvDeviceAlloc(bytes, &p), TRSV_SUCCESS, "TrsvDeviceAlloc");
  return p;
}

static Square NewSquare(int rows, int nnz, TrsvPrecision precision)
{
  return (Square){precision, rows, nnz, OnDevice(sizeof(int) * ((size_t)rows + 1)), OnDevice(sizeof(int) * (size_t)nnz), OnDevice(TrsvValueSize(precision) * (size_t)nnz)};
}

static void FreeSquare(Square *A)
{
  TrsvDeviceFree(A->offsets);
  TrsvDeviceFree(A->columns);
  TrsvDeviceFree(A->values);
}

/* Dominant by rows and, symmetric patterns provided, by columns; symmetric where asked for */
static void Fill(Square *A, int symmetric, double dominance, unsigned seed)
{
  for (int i = 0; i < A->rows; i++) {
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int j = A->columns[k], mine = A->offsets[i + 1] - A->offsets[i], other = A->offsets[j + 1] - A->offsets[j];
      Random    r = seed + 7919u * (unsigned)(symmetric && j < i ? j : i) + 104729u * (unsigned)(symmetric && j < i ? i : j);
      double    v = RandomReal(&r);

      if (j == i) v = dominance * (2 + v) * (symmetric || v > 0 ? 1 : -1);
      else v /= mine > other ? mine : other;
      Set(A->values, A->precision, k, v);
    }
  }
}

/* Lower and upper triangle of a shape, which may be those of different seeds */
static Square MakeSquare(Shape shape, int rows, int symmetric, TrsvPrecision precision, unsigned seed)
{
  Triangle   L = MakeTriangle(shape, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision, seed), U = {0};
  TrsvMatrix T;
  int       *made = NULL, n = 0;
  const int *source;
  Square     A;

  if (symmetric) ExpectError(TrsvTranspose(&L.view, &T, &made, &source), TRSV_SUCCESS, "TrsvTranspose");
  else {
    U = MakeTriangle(shape, rows, TRSV_UPPER, TRSV_DIAGONAL_UNIT, precision, seed + 1);
    T = U.view;
  }
  A            = NewSquare(rows, L.offsets[rows] + T.offsets[rows] + rows, precision);
  A.offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    for (int k = L.offsets[i]; k < L.offsets[i + 1]; k++) A.columns[n++] = L.columns[k];
    A.columns[n++] = i;
    for (int k = T.offsets[i]; k < T.offsets[i + 1]; k++) A.columns[n++] = T.columns[k];
    A.offsets[i + 1] = n;
  }
  free(made);
  FreeTriangle(&L);
  if (!symmetric) FreeTriangle(&U);
  Fill(&A, symmetric, 1, seed);
  return A;
}

/* --- what PETSc does: MatLUFactorNumeric_SeqAIJ() and MatCholeskyFactorNumeric_SeqAIJ() with a full row for the sums --- */

typedef struct {
  double *l, *u; /* in the order of the two patterns */
  int     row, attempts;
  double  pivot, shift;
} Result;

typedef struct {
  int    tries;
  double amount, low, high, top, fraction;
} Shifting;

/* 1: start again; a zero pivot that nothing is done about is noted */
static int PivotCheck(const TrsvPivots *p, Shifting *s, Result *r, int row, double rs, double *pv)
{
  switch (p->shift) {
  case TRSV_SHIFT_NONZERO:
    if (!(fabs(*pv) <= p->zero * rs)) return 0;
    s->amount = s->tries++ ? 2 * s->amount : p->amount;
    return 1;
  case TRSV_SHIFT_POSITIVE_DEFINITE:
    if (!(*pv <= p->zero * rs)) return 0;
    if (s->tries == 5) s->fraction = s->high;
    else {
      s->low      = s->fraction;
      s->fraction = (s->high + s->low) / 2;
    }
    s->amount = s->fraction * s->top;
    s->tries++;
    return 1;
  case TRSV_SHIFT_INBLOCKS:
    if (fabs(*pv) <= p->zero) *pv += p->amount;
    return 0;
  default:
    if (fabs(*pv) <= p->zero && r->row < 0) {
      r->row   = row;
      r->pivot = fabs(*pv);
    }
    return 0;
  }
}

static double Top(const Square *A, double least)
{
  double top = least;

  for (int i = 0; i < A->rows; i++) {
    double rs = 0;

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const double v = Get(A->values, A->precision, k);

      rs += A->columns[k] == i ? -v : fabs(v);
    }
    if (rs > top) top = rs;
  }
  return 1.1 * top;
}

/* The rows of L and U, U's with the diagonal first, from the pattern of A */
static int FactorOnce(const Square *A, TrsvFactorKind kind, const TrsvPivots *p, Shifting *s, Result *r)
{
  const int n = A->rows;
  double   *row = calloc((size_t)n, sizeof(*row)), *multiplier = calloc((size_t)n, sizeof(*multiplier));
  int      *uo = calloc((size_t)n + 1, sizeof(int)), *ud = calloc((size_t)n + 1, sizeof(int)), again = 0, nl = 0, nu = 0;

  for (int i = 0; i < n; i++) { /* uo: start of U's rows; ud: of A's diagonals */
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      if (A->columns[k] == i) ud[i] = k;
    uo[i + 1] = uo[i] + A->offsets[i + 1] - ud[i];
  }
  for (int i = 0; i < n && !again; i++) {
    const int begin = kind == TRSV_ICC ? ud[i] : A->offsets[i], end = A->offsets[i + 1];
    double    rs = 0;

    for (int k = begin; k < end; k++) row[A->columns[k]] = Get(A->values, A->precision, k);
    row[i] += s->amount;
    if (kind == TRSV_ILU) {
      for (int k = begin; k < ud[i]; k++) {
        const int j = A->columns[k];

        if (row[j] != 0) {
          const double m = row[j] * (1 / r->u[uo[j]]);

          row[j] = m;
          for (int t = ud[j] + 1; t < A->offsets[j + 1]; t++) multiplier[A->columns[t]] = m * r->u[uo[j] + t - ud[j]];
          for (int t = begin; t < end; t++)
            if (A->columns[t] > j) row[A->columns[t]] -= multiplier[A->columns[t]];
          for (int t = ud[j] + 1; t < A->offsets[j + 1]; t++) multiplier[A->columns[t]] = 0;
        }
        r->l[nl++] = row[j];
        rs += fabs(row[j]);
      }
    } else {
      for (int j = 0; j < i; j++)
        for (int q = ud[j] + 1; q < A->offsets[j + 1]; q++) {
          double m;

          if (A->columns[q] != i) continue;
          m = r->u[uo[j] + q - ud[j]] * (1 / r->u[uo[j]]);
          for (int t = q; t < A->offsets[j + 1]; t++) multiplier[A->columns[t]] = m * r->u[uo[j] + t - ud[j]];
          for (int t = begin; t < end; t++) row[A->columns[t]] -= multiplier[A->columns[t]];
          for (int t = q; t < A->offsets[j + 1]; t++) multiplier[A->columns[t]] = 0;
          r->l[nl++] = m;
        }
    }
    for (int t = ud[i] + 1; t < end; t++) rs += fabs(row[A->columns[t]]);
    again = PivotCheck(p, s, r, i, rs, &row[i]);
    for (int t = ud[i]; t < end; t++) r->u[nu++] = row[A->columns[t]];
  }
  free(row);
  free(multiplier);
  free(uo);
  free(ud);
  return again;
}

/* P A P^T: row order[i], and column, in place i; NULL: a copy of A as it is. */
static Square Permuted(const Square *A, const int *order)
{
  Square B        = NewSquare(A->rows, A->nnz, A->precision);
  int   *position = malloc(sizeof(int) * (size_t)A->rows), n = 0;

  for (int i = 0; i < A->rows; i++) position[order ? order[i] : i] = i;
  B.offsets[0] = 0;
  for (int i = 0; i < A->rows; i++) {
    const int row = order ? order[i] : i;

    for (int k = A->offsets[row]; k < A->offsets[row + 1]; k++) { /* insertion */
      int at = n++;

      for (; at > B.offsets[i] && B.columns[at - 1] > position[A->columns[k]]; at--) {
        B.columns[at] = B.columns[at - 1];
        Set(B.values, B.precision, at, Get(B.values, B.precision, at - 1));
      }
      B.columns[at] = position[A->columns[k]];
      Set(B.values, B.precision, at, Get(A->values, A->precision, k));
    }
    B.offsets[i + 1] = n;
  }
  free(position);
  return B;
}

static Result FactorNatural(const Square *A, TrsvFactorKind kind, const TrsvPivots *p)
{
  Result   r = {calloc((size_t)A->nnz + 1, sizeof(double)), calloc((size_t)A->nnz + 1, sizeof(double)), -1, 0, 0, 0};
  Shifting s = {.high = 1, .top = Top(A, p->zero)};
  int      again;

  do {
    again = FactorOnce(A, kind, p, &s, &r);
    if (!again && kind == TRSV_ILU && p->shift == TRSV_SHIFT_POSITIVE_DEFINITE && s.fraction > 0 && s.tries < 5) {
      s.high     = s.fraction;
      s.fraction = (s.high + s.low) / 2;
      s.amount   = s.fraction * s.top;
      s.tries++;
      again = 1;
    }
    r.attempts++;
  } while (again && r.attempts < 100);
  r.shift = s.amount;
  return r;
}

static Result Factor(const Square *A, const int *order, TrsvFactorKind kind, const TrsvPivots *p)
{
  Square B = Permuted(A, order);
  Result r = FactorNatural(&B, kind, p);

  if (order && r.row >= 0) r.row = order[r.row];
  FreeSquare(&B);
  return r;
}

/* --- the device against it --- */

/* loose: small pivots make much of rounding */
static int CloseTo(TrsvPrecision precision, int loose, int n, const void *values, const double *reference, const char *what, const char *where)
{
  const double tolerance = precision == TRSV_FLOAT ? loose ? 1e-2 : 2e-5 : loose ? 1e-8 : 1e-12;
  double       largest = 0;

  for (int i = 0; i < n; i++)
    if (isfinite(reference[i]) && fabs(reference[i]) > largest) largest = fabs(reference[i]);
  for (int i = 0; i < n; i++) {
    const double v = Get(values, precision, i), w = reference[i];
    const int    ok = isnan(w) ? isnan(v) : isinf(w) ? v == w : fabs(v - w) <= tolerance * largest;

    if (!Expect(ok, "%s: value %d of %d of %s is %.17g, not %.17g", where, i, n, what, v, w)) return 0;
  }
  return 1;
}

static unsigned schedule;

/* Factors A some times under different schedules: close to the reference, and the same to the bit; the outcome too. */
static void Numeric(TrsvFactor *f, const Square *A, TrsvFactorKind kind, const TrsvPivots *p, int times, const char *where)
{
  const size_t size = TrsvValueSize(A->precision);
  Result       r = Factor(A, TrsvFactorOrder(f), kind, p);
  TrsvOutcome  o;
  TrsvMatrix   L, U;
  const void  *l, *u;
  char        *kept = malloc(size * (size_t)(2 * A->nnz + 2));

  for (int t = 0; t < times; t++) {
    SimtSchedule(schedule++);
    if (!ExpectError(TrsvFactorNumeric(f, A->values, p, &o, NULL), TRSV_SUCCESS, where)) break;
    TrsvFactorTriangles(f, &L, &U, &l, &u);
    const size_t nl = (size_t)L.offsets[A->rows], nu = (size_t)U.offsets[A->rows];
    if (!Expect(o.row == r.row && o.attempts == r.attempts, "%s: row %d, %d attempts; not %d, %d", where, o.row, o.attempts, r.row, r.attempts)) break;
    if (!Expect(fabs(o.shift - r.shift) <= 1e-5 * fabs(r.shift) && fabs(o.pivot - r.pivot) <= 1e-12, "%s: shift %g, pivot %g; not %g, %g", where, o.shift, o.pivot, r.shift, r.pivot)) break;
    if (r.row >= 0) break; /* what is behind a zero pivot is of no use */
    if (!CloseTo(A->precision, p != &plain, (int)nl, l, r.l, "L", where) || !CloseTo(A->precision, p != &plain, (int)nu, u, r.u, "U", where)) break;
    if (t && !Expect(!memcmp(kept, l, size * nl) && !memcmp(kept + size * nl, u, size * nu), "%s: other bits under schedule %u", where, schedule - 1)) break;
    memcpy(kept, l, size * nl);
    memcpy(kept + size * nl, u, size * nu);
  }
  SimtDefaults();
  free(kept);
  free(r.l);
  free(r.u);
}

static TrsvFactor *Make(const Square *A, const int *order, TrsvFactorKind kind, int lanes)
{
  TrsvFactor *f;
  int         row;

  TrsvFactorSetLanes(lanes);
  ExpectError(TrsvFactorCreate(A->rows, A->offsets, A->columns, order, A->rows % 2 ? TRSV_HOST : TRSV_DEVICE, kind, A->precision, &f, &row), TRSV_SUCCESS, "TrsvFactorCreate");
  TrsvFactorSetLanes(0);
  if (f) Expect(row == -1 && (!lanes || TrsvFactorLanes(f) == lanes), "row %d, %d lanes", row, TrsvFactorLanes(f));
  return f;
}

static int *Shuffled(int n, unsigned seed)
{
  Random r     = seed;
  int   *order = OnDevice(sizeof(int) * (size_t)n);

  for (int i = 0; i < n; i++) {
    const int j = RandomBelow(&r, i + 1);

    order[i] = order[j];
    order[j] = i;
  }
  return order;
}

static void Shapes(TrsvFactorKind kind, TrsvPrecision precision, int lanes)
{
  static const int sizes[] = {1, 2, 33, 70};

  for (int shape = 0; shape < SHAPES; shape++) {
    Begin("factor %s, %s, %d lanes: %s", kind == TRSV_ICC ? "icc" : "ilu", precision == TRSV_FLOAT ? "float" : "double", lanes, ShapeName[shape]);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      const int   symmetric = kind == TRSV_ICC || sizes[i] % 2;
      Square      A         = MakeSquare((Shape)shape, sizes[i], symmetric, precision, (unsigned)sizes[i]);
      int        *order     = (shape + lanes) % 3 ? NULL : Shuffled(sizes[i], (unsigned)shape);
      TrsvFactor *f         = Make(&A, order, kind, lanes);
      char        where[40];

      (void)snprintf(where, sizeof(where), "%d rows", sizes[i]);
      if (f && !order && !lanes && sizes[i] > 2 && (shape == CHAIN || shape == GRID_2D || shape == GRID_3D || shape == DENSE)) Expect((TrsvFactorLanes(f) == 1) == (shape != DENSE), "%d lanes", TrsvFactorLanes(f));
      if (f) Numeric(f, &A, kind, &plain, Reduced() ? 2 : 3, where);
      Fill(&A, symmetric, 1, 55);
      if (f) Numeric(f, &A, kind, &plain, 1, "new values");
      TrsvFactorDestroy(&f);
      TrsvDeviceFree(order);
      FreeSquare(&A);
    }
    Expect(!SimtLive(), "%zu allocations left", SimtLive());
    End();
  }
}

/* Zeros, or too little, on some diagonals */
static void Shifts(TrsvFactorKind kind, TrsvPrecision precision)
{
  static const Shape       shapes[] = {RANDOM, DENSE, BAND, ARROW, GRID_2D};
  static const char *const names[]  = {"none", "nonzero", "positive_definite", "inblocks"};

  for (int shift = 0; shift < 4; shift++)
    for (int spoil = 0; spoil < 3; spoil++) {
      const TrsvPivots p = {(TrsvShift)shift, shift == TRSV_SHIFT_INBLOCKS ? 0.25 : 1e-3, precision == TRSV_FLOAT ? 1e-5 : 1e-10};

      Begin("factor %s, %s, shift %s, %s", kind == TRSV_ICC ? "icc" : "ilu", precision == TRSV_FLOAT ? "float" : "double", names[shift], spoil == 0 ? "sound" : spoil == 1 ? "zero pivots" : "small pivots");
      for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int lanes = 0; lanes <= 16; lanes = lanes ? 4 * lanes : 4) {
          const Shape shape = shapes[i];
          Square      A = MakeSquare(shape, 40, kind == TRSV_ICC, precision, (unsigned)(shape + lanes));
          int        *order = spoil != 1 || i % 2 ? Shuffled(A.rows, (unsigned)i) : NULL;
          TrsvFactor *f     = Make(&A, order, kind, lanes);
          Random      r = (unsigned)i + 3;

          for (int i = 0; i < A.rows && spoil; i++)
            for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) /* the first row's is sure to be the pivot, and exact */
              if (A.columns[k] == i && (i == (spoil == 1 ? 0 : 20) || RandomBelow(&r, 9) == 0)) Set(A.values, precision, k, spoil == 1 ? 0 : 0.02 * Get(A.values, precision, k));
          for (int k = A.offsets[order ? order[0] : 0]; order && spoil == 1 && k < A.offsets[order[0] + 1]; k++)
            if (A.columns[k] == order[0]) Set(A.values, precision, k, 0);
          if (f) Numeric(f, &A, kind, &p, 1, ShapeName[shape]);
          TrsvFactorDestroy(&f);
          TrsvDeviceFree(order);
          FreeSquare(&A);
        }
      End();
    }
}

/* Matrices that cannot be factored, with the row to be named */
static void Refused(void)
{
  static const struct {
    const char *what;
    int         entry, column, row;
  } spoils[] = {
    {"has no diagonal entry", 4, 2,  1},
    {"columns must rise",     6, 0,  2},
    {"has column 9 of 4",     8, 9,  2},
    {"has column -1 of 4",    0, -1, 0},
  };
  const int offsets[5] = {0, 3, 5, 9, 10}, columns[10] = {0, 1, 3, 0, 1, 0, 1, 2, 3, 3};

  for (size_t s = 0; s < sizeof(spoils) / sizeof(spoils[0]); s++) {
    Begin("factor refuses: %s", spoils[s].what);
    for (int variant = 0; variant < 4; variant++) {
      const int   kind = variant & 1, ordered = variant & 2, order[4] = {2, 0, 3, 1};
      Square      A = NewSquare(4, 10, TRSV_DOUBLE);
      TrsvFactor *f;
      int         row;

      memcpy(A.offsets, offsets, sizeof(offsets));
      memcpy(A.columns, columns, sizeof(columns));
      A.columns[spoils[s].entry] = spoils[s].column;
      ExpectError(TrsvFactorCreate(4, A.offsets, A.columns, ordered ? order : NULL, TRSV_DEVICE, (TrsvFactorKind)kind, TRSV_DOUBLE, &f, &row), TRSV_ERR_STRUCTURE, "TrsvFactorCreate");
      Expect(!f && row == spoils[s].row && strstr(TrsvErrorMessage(), spoils[s].what), "row %d: %s", row, TrsvErrorMessage());
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
    }
    End();
  }
}

static void Numbers(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square      A;
    TrsvFactor *f;
    TrsvOutcome o;
    TrsvMatrix  L, U;
    const void *l, *u;

    Begin("factor %s: bad numbers pass through", kind ? "icc" : "ilu");
    A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
    f = Make(&A, NULL, (TrsvFactorKind)kind, 4);
    ((double *)A.values)[A.offsets[40]]     = NAN;
    ((double *)A.values)[A.offsets[41] - 1] = NAN;
    if (f && ExpectError(TrsvFactorNumeric(f, A.values, &plain, &o, NULL), TRSV_SUCCESS, "TrsvFactorNumeric")) {
      TrsvFactorTriangles(f, &L, &U, &l, &u);
      Expect(o.row == -1, "zero pivot in row %d", o.row);
      Expect(isnan(((const double *)u)[U.offsets[99]]) && isfinite(((const double *)u)[0]), "the last pivot is %g", ((const double *)u)[U.offsets[99]]);
    }
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* Rows so long that a warp looks up a part of a dependency before it waits for it, and the rest after. */
static void Long(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square      A;
    TrsvFactor *f;

    Begin("factor %s: long rows", kind ? "icc" : "ilu");
    A = MakeSquare(DENSE, 170, 1, TRSV_DOUBLE, 5);
    f = Make(&A, NULL, (TrsvFactorKind)kind, 16);
    if (f) Numeric(f, &A, (TrsvFactorKind)kind, &plain, 2, "dense");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    End();
  }
}

/* The analysis of L comes with it, a pair takes it, and it can be given up before and after. What is in use is counted. */
static void Analysed(void)
{
  const size_t before = TrsvDeviceHeld();

  Begin("factor: the analysis of L is made once");
  for (int trim = 0; trim < 2; trim++) {
    Square        A    = MakeSquare(RANDOM, 90, 0, TRSV_DOUBLE, 7);
    TrsvFactor   *f    = Make(&A, NULL, TRSV_ILU, 0);
    TrsvPair     *pair = NULL;
    TrsvAnalysis *again, wrong;
    const TrsvAsked thread = {TrsvAlgorithmFind("thread"), NULL};
    TrsvMatrix    L, U;

    if (!f) break;
    if (trim) TrsvFactorTrim(f);
    TrsvFactorTriangles(f, &L, &U, NULL, NULL);
    Expect((!L.analysis) == trim && !U.analysis, "L %s an analysis, U %s", L.analysis ? "has" : "has not", U.analysis ? "has" : "has not");
    ExpectError(TrsvAnalyse(&L, &again), TRSV_SUCCESS, "TrsvAnalyse");
    if (L.analysis) {
      Expect(!memcmp(again->order, L.analysis->order, sizeof(int) * 90) && !memcmp(&again->statistics, &L.analysis->statistics, sizeof(again->statistics)), "another analysis than TrsvAnalyse's");
      /* it is what a pair believes: told by a number that nothing is laid out by */
      wrong                        = *L.analysis;
      wrong.statistics.granularity = 90;
      L.analysis                   = &wrong;
    }
    ExpectError(TrsvPairCreate(&L, &U, NULL, NULL, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, &thread, &thread, &pair), TRSV_SUCCESS, "TrsvPairCreate");
    if (pair) Expect(pair->first.statistics.granularity == (trim ? again->statistics.granularity : 90), "granularity %g", pair->first.statistics.granularity);
    Expect(TrsvDeviceHeld() >= before + TrsvFactorBytes(f) && TrsvDevicePeak() >= TrsvDeviceHeld(), "%zu bytes in use, %zu at most", TrsvDeviceHeld() - before, TrsvDevicePeak() - before);
    TrsvAnalysisDestroy(&again);
    TrsvPairDestroy(&pair);
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
    TrsvDeviceMark();
    Expect(TrsvDeviceHeld() == before && TrsvDevicePeak() == before, "%zu bytes left, %zu at most", TrsvDeviceHeld() - before, TrsvDevicePeak() - before);
  }
  End();
}

/* A store that never arrives: the wait ends, and is told. */
static void Lost(void)
{
  int told = 0;

  Begin("factor: a lost store is told");
  for (int lose = 1; lose < 200; lose += 7) {
    Square      A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 3);
    TrsvFactor *f = Make(&A, NULL, TRSV_ILU, lose % 2 ? 4 : 0);
    TrsvOutcome o;
    TrsvError   error;

    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    error                = TrsvFactorNumeric(f, A.values, &plain, &o, NULL);
    told += error == TRSV_ERR_TIMEOUT;
    Expect(!error || error == TRSV_ERR_TIMEOUT, "error %d: %s", (int)error, TrsvErrorMessage());
    SimtDefaults();
    Numeric(f, &A, TRSV_ILU, &plain, 1, "afterwards");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(told > 5, "told %d times", told);
  End();
}

/* Any call of the device fails: an error, nothing left behind, and it works the next time. */
static void Fails(void)
{
  for (int kind = 0; kind < 2; kind++) {
    Square A;
    size_t live;
    int   *order;

    Begin("factor %s: fails anywhere", kind ? "icc" : "ilu");
    A     = MakeSquare(DENSE_ROW, kind ? 90 : 300, 1, TRSV_DOUBLE, 3);
    order = Shuffled(A.rows, 3);
    live  = SimtLive();
    for (long k = 1, failed = 1; failed && k < 200; k++) {
      TrsvFactor *f;
      TrsvOutcome o;
      int         row;
      TrsvError   error;

      SimtFailAt(k, 0);
      error = TrsvFactorCreate(A.rows, A.offsets, A.columns, order, TRSV_DEVICE, (TrsvFactorKind)kind, TRSV_DOUBLE, &f, &row);
      Expect(!error == !!f, "place %ld: error %d, factor %p", k, (int)error, (void *)f);
      if (!error) error = TrsvFactorNumeric(f, A.values, &plain, &o, NULL);
      failed = SimtFailed();
      Expect(!failed == !error, "place %ld: error %d", k, (int)error);
      SimtFailAt(0, 0);
      if (f) Numeric(f, &A, (TrsvFactorKind)kind, &plain, 1, "afterwards");
      TrsvFactorDestroy(&f);
      Expect(SimtLive() == live, "place %ld: %zu allocations in place of %zu", k, SimtLive(), live);
      Expect(k > 10 || failed, "it could fail nowhere");
    }
    TrsvDeviceFree(order);
    FreeSquare(&A);
    End();
  }
}

/* Orders: rows too long to count, and what is no order */
static void Orders(void)
{
  Square      A;
  TrsvFactor *f;
  int        *order, row;

  Begin("factor in another order: long rows");
  A     = MakeSquare(DENSE_ROW, 300, 1, TRSV_DOUBLE, 3);
  order = Shuffled(300, 4);
  for (int kind = 0; kind < 2; kind++) {
    f = Make(&A, order, (TrsvFactorKind)kind, 0);
    if (f) Numeric(f, &A, (TrsvFactorKind)kind, &plain, 1, kind ? "icc" : "ilu");
    TrsvFactorDestroy(&f);
  }
  End();

  Begin("factor in another order: what is none is refused");
  for (int wrong = 0; wrong < 3; wrong++) {
    const int kept = order[7];

    order[7] = wrong == 0 ? -1 : wrong == 1 ? 300 : order[8];
    ExpectError(TrsvFactorCreate(A.rows, A.offsets, A.columns, order, TRSV_DEVICE, TRSV_ILU, TRSV_DOUBLE, &f, &row), TRSV_ERR_ARGUMENT, "TrsvFactorCreate");
    Expect(!f && row == -1, "row %d", row);
    order[7] = kept;
  }
  TrsvDeviceFree(order);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

static double Asymmetry(const Square *A)
{
  double skew = 0, all = 0;

  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int    j = A->columns[k];
      const double v = Get(A->values, A->precision, k);
      double       other = 0;

      for (int t = A->offsets[j]; t < A->offsets[j + 1]; t++)
        if (A->columns[t] == i) other = Get(A->values, A->precision, t);
      if (j == i) continue;
      skew += (v - other) * (v - other) * (other == 0 ? 1 : 0.5);
      all += v * v;
    }
  return all > 0 ? sqrt(skew / all) : 0;
}

static void Asymmetries(void)
{
  Begin("how far from symmetric values are");
  for (int shape = 0; shape < SHAPES; shape++)
    for (int variant = 0; variant < 6; variant++) {
      Square A = MakeSquare((Shape)shape, variant > 3 ? 1 : 300, variant % 2, variant & 2 ? TRSV_FLOAT : TRSV_DOUBLE, 5);
      double got, wanted = Asymmetry(&A);

      ExpectError(TrsvDeviceAsymmetry(A.rows, A.offsets, A.columns, A.precision, A.values, &got), TRSV_SUCCESS, "TrsvDeviceAsymmetry");
      Expect(fabs(got - wanted) <= 1e-6 && (!(variant % 2) || got < 1e-7), "%s: %g, not %g", ShapeName[shape], got, wanted);
      FreeSquare(&A);
    }
  End();
}

/* The order that is chosen, and that it is what it is said to be */
static void Choices(void)
{
  static const struct {
    const char *what, *why;
    Shape       shape;
    int         symmetric, bmc;
  } cases[] = {
    {"a grid",                        "in the natural order 79", GRID_2D,  1, 1},
    {"a grid of unsymmetric values",  "unsymmetric",             GRID_2D,  0, 0},
    {"a diagonal",                    "too little to gain",      DIAGONAL, 1, 0},
  };
  const TrsvAlgorithm *thread = TrsvAlgorithmFind("thread");

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
    for (int kind = 0; kind < 2; kind++) {
      Square          A;
      TrsvFactor     *f;
      TrsvOrderChoice choice;
      TrsvOrdering   *bmc;
      int             row;

      Begin("the order of %s for %s", cases[c].what, kind ? "icc" : "ilu");
      A = MakeSquare(cases[c].shape, 1600, cases[c].symmetric, TRSV_DOUBLE, 7);
      if (ExpectError(TrsvFactorCreateOrdered(A.rows, A.offsets, A.columns, A.values, (TrsvFactorKind)kind, TRSV_DOUBLE, 0, thread, thread, &f, &row, &choice), TRSV_SUCCESS, "TrsvFactorCreateOrdered")) {
        Expect(choice.bmc == cases[c].bmc && !!TrsvFactorOrder(f) == choice.bmc && strstr(choice.why, cases[c].why), "bmc %d: %s", choice.bmc, choice.why);
        Expect(choice.natural > 0 && choice.rest > 0 && (choice.ordered > 0) == choice.bmc, "predicted %g and %g, the rest %g", choice.natural, choice.ordered, choice.rest);
        if (choice.bmc && ExpectError(TrsvOrderBMC(A.rows, A.offsets, A.columns, A.values, TRSV_DEVICE, 0, &bmc), TRSV_SUCCESS, "TrsvOrderBMC")) {
          Expect(!memcmp(bmc->order, TrsvFactorOrder(f), sizeof(int) * (size_t)A.rows), "another order than TrsvOrderBMC's");
          TrsvOrderingDestroy(&bmc);
        }
        if (!kind) Numeric(f, &A, TRSV_ILU, &plain, 1, cases[c].what);
      }
      TrsvFactorDestroy(&f);
      FreeSquare(&A);
      Expect(!SimtLive(), "%zu allocations left", SimtLive());
      End();
    }

  Begin("the order: fails anywhere");
  for (long k = 1, failed = 1; failed; k += 11) {
    Square          A = MakeSquare(GRID_2D, 1600, 1, TRSV_DOUBLE, 7);
    TrsvFactor     *f;
    TrsvOrderChoice choice;
    const size_t    live = SimtLive();
    int             row;
    TrsvError       error;

    SimtFailAt(k, 0);
    error  = TrsvFactorCreateOrdered(A.rows, A.offsets, A.columns, A.values, TRSV_ILU, TRSV_DOUBLE, 0, thread, thread, &f, &row, &choice);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!error == !failed && !error == !!f, "place %ld: error %d, factor %p", k, (int)error, (void *)f);
    TrsvFactorDestroy(&f);
    Expect(SimtLive() == live, "place %ld: %zu allocations in place of %zu", k, SimtLive(), live);
    FreeSquare(&A);
  }
  End();
}

void CheckFactors(int rows, const int *offsets, const int *columns, unsigned seed)
{
  Triangle L = MakeFrom(rows, offsets, columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT, TRSV_DOUBLE), U = MakeFrom(rows, offsets, columns, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
  Square   A = NewSquare(rows, L.offsets[rows] + U.offsets[rows], TRSV_DOUBLE);

  A.offsets[0] = 0;
  for (int i = 0, n = 0; i < rows; i++) {
    for (int k = L.offsets[i]; k < L.offsets[i + 1]; k++) A.columns[n++] = L.columns[k];
    for (int k = U.offsets[i]; k < U.offsets[i + 1]; k++) A.columns[n++] = U.columns[k];
    A.offsets[i + 1] = n;
  }
  Fill(&A, 0, 2, seed);
  for (int kind = 0; kind < 2; kind++) {
    TrsvFactor *f = Make(&A, NULL, (TrsvFactorKind)kind, 0);

    if (f && rows > 400 && kind == TRSV_ICC) { /* the reference is slow there */
    } else if (f) Numeric(f, &A, (TrsvFactorKind)kind, &plain, 1, kind ? "icc" : "ilu");
    TrsvFactorDestroy(&f);
  }
  FreeTriangle(&L);
  FreeTriangle(&U);
  FreeSquare(&A);
}

void TestFactor(void)
{
  for (int kind = 0; kind < 2; kind++) {
    for (int lanes = 0; lanes <= 32; lanes = lanes ? 2 * lanes : 4) Shapes((TrsvFactorKind)kind, lanes == 8 ? TRSV_FLOAT : TRSV_DOUBLE, lanes);
    Shifts((TrsvFactorKind)kind, TRSV_DOUBLE);
  }
  Shifts(TRSV_ILU, TRSV_FLOAT);
  Refused();
  Orders();
  Asymmetries();
  Choices();
  Numbers();
  Long();
  Analysed();
  Lost();
  Fails();
}
