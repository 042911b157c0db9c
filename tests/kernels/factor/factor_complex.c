/*
   ILU(0) and IC(0) of complex values: L and U compared with the same elimination on the host, in C's arithmetic; the
   shifts; the object TrsvIlu.
*/
#include <complex.h>
#include "square.h"

typedef double complex Complex;

static Complex EntryAt(const void *a, TrsvPrecision p, int i) { return CMPLX(Get(a, p, 2 * i), Get(a, p, 2 * i + 1)); }

static void PutEntry(void *a, TrsvPrecision p, int i, Complex v)
{
  Set(a, p, 2 * i, creal(v));
  Set(a, p, 2 * i + 1, cimag(v));
}

static int FindEntry(const int *offsets, const int *columns, int i, int j)
{
  for (int k = offsets[i]; k < offsets[i + 1]; k++)
    if (columns[k] == j) return k;
  return -1;
}

/* Values that are dominant by rows and columns; symmetric, or Hermitian but for imaginary parts of the diagonal. */
static void FillValues(Square *A, TrsvFactorKind kind, unsigned seed)
{
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int j = A->columns[k], mine = A->offsets[i + 1] - A->offsets[i], other = A->offsets[j + 1] - A->offsets[j];
      const int turned = kind != TRSV_ILU && j < i;
      Random    r      = seed + 7919u * (unsigned)(turned ? j : i) + 104729u * (unsigned)(turned ? i : j);
      Complex   v      = RandomReal(&r);

      v += RandomReal(&r) * I;
      if (j == i) v = kind == TRSV_ICC_HERMITIAN ? 2.5 + v : 3 * cexp(3 * I * v) / cabs(cexp(3 * I * v));
      else v /= mine > other ? mine : other;
      PutEntry(A->values, A->precision, k, turned && kind == TRSV_ICC_HERMITIAN ? conj(v) : v);
    }
}

/* The elimination of A + shift I, row by row; inblocks: added to zero pivots. u[k]: for each entry of A; l likewise. */
static void Eliminate(const Square *A, TrsvFactorKind kind, double shift, double zero, double inblocks, Complex *l,
                      Complex *u)
{
  for (int i = 0; i < A->rows; i++) {
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++)
      u[k] = EntryAt(A->values, A->precision, k) + (A->columns[k] == i ? shift : 0);
    for (int k = A->offsets[i]; k < A->offsets[i + 1] && A->columns[k] < i; k++) {
      const int     j = A->columns[k], own = FindEntry(A->offsets, A->columns, j, i);
      const Complex d = u[FindEntry(A->offsets, A->columns, j, j)];

      l[k] = (kind == TRSV_ILU ? u[k] : kind == TRSV_ICC ? u[own] : conj(u[own])) / d;
      for (int m = A->offsets[j]; m < A->offsets[j + 1]; m++) {
        const int to = A->columns[m] > j && (kind == TRSV_ILU || A->columns[m] >= i)
                       ? FindEntry(A->offsets, A->columns, i, A->columns[m])
                       : -1;

        if (to >= 0) u[to] -= l[k] * u[m];
      }
    }
    const int d = FindEntry(A->offsets, A->columns, i, i);

    if (kind == TRSV_ICC_HERMITIAN) u[d] = creal(u[d]);
    if (inblocks > 0 && cabs(u[d]) <= zero) u[d] += inblocks;
  }
}

static void IsNear(TrsvPrecision p, Complex got, Complex wanted, double loose, const char *what, int i, int j,
                   const char *where)
{
  const double bound = loose * (TrsvRealPrecision(p) == TRSV_FLOAT ? 2e-5 : 1e-12);

  Expect(cabs(got - wanted) <= bound * (1 + cabs(wanted)), "%s: %s(%d, %d) is %g + %g i, not %g + %g i", where, what, i,
         j, creal(got), cimag(got), creal(wanted), cimag(wanted));
}

/* Compares the factor, in the given order, with the elimination of A in that order. */
static void CompareFactors(const Square *A, const TrsvTriangles *t, TrsvFactorKind kind, double shift, double zero,
                           double inblocks, double loose, const char *where)
{
  const TrsvPrecision p = A->precision;
  Square              B = Permuted(A, t->row);
  Complex            *l = calloc((size_t)A->nnz + 1, sizeof(*l)), *u = calloc((size_t)A->nnz + 1, sizeof(*u));

  Eliminate(&B, kind, shift, zero, inblocks, l, u);
  for (int i = 0; i < A->rows; i++) {
    for (int k = t->L.offsets[i]; k < t->L.offsets[i + 1]; k++)
      IsNear(p, EntryAt(t->L.values, p, k), l[FindEntry(B.offsets, B.columns, i, t->L.columns[k])], loose, "L", i,
             t->L.columns[k], where);
    for (int k = t->U.offsets[i]; k < t->U.offsets[i + 1]; k++)
      IsNear(p, EntryAt(t->U.values, p, k), u[FindEntry(B.offsets, B.columns, i, t->U.columns[k])], loose, "U", i,
             t->U.columns[k], where);
    if (kind == TRSV_ICC_HERMITIAN)
      Expect(Get(t->U.values, p, 2 * t->U.offsets[i] + 1) == 0, "%s: pivot %d is not real", where, i);
  }
  free(l);
  free(u);
  FreeSquare(&B);
}

static void CheckFactor(const Square *A, TrsvFactorKind kind, int lanes, const TrsvPivots *pivots, double loose,
                        int times, const char *where)
{
  TrsvFactor   *f = MakeFactor(A, NULL, kind, lanes);
  TrsvTriangles t = {0}, before = {0};
  TrsvOutcome   o;

  for (unsigned s = 0; f && s < (unsigned)times; s++) {
    SimtSchedule(40 * (unsigned)lanes + s);
    if (!ExpectError(TrsvFactorSetValues(f, NULL, NULL, A->values, pivots, &o, NULL), TRSV_SUCCESS, where)) break;
    if (!Expect(o.row < 0, "%s: row %d has a zero pivot", where, o.row)) break;
    if (!ExpectError(TrsvFactorDownload(f, &t, NULL), TRSV_SUCCESS, where)) break;
    CompareFactors(A, &t, kind, o.shift, pivots->zero, pivots->shift == TRSV_SHIFT_INBLOCKS ? pivots->amount : 0, loose,
                   where);
    for (int i = 0; pivots->shift == TRSV_SHIFT_POSITIVE_DEFINITE && i < A->rows; i++)
      Expect(Get(t.U.values, A->precision, 2 * t.U.offsets[i]) > 0, "%s: pivot %d has no positive real part", where, i);
    if (s)
      Expect(!memcmp(t.U.values, before.U.values, TrsvValueSize(A->precision) * (size_t)f->upper) &&
               !memcmp(t.L.values, before.L.values, TrsvValueSize(A->precision) * (size_t)f->lower),
             "%s: other bits", where);
    TrsvTrianglesDestroy(&before);
    before = t;
  }
  TrsvTrianglesDestroy(&before);
  SimtDefaults();
  TrsvFactorDestroy(&f);
}

static void CheckShapes(TrsvFactorKind kind, TrsvPrecision p, int lanes)
{
  static const int sizes[] = {1, 2, 33, 90};

  for (int shape = 0; shape < SHAPES; shape++)
    for (int n = 0; n < 4; n++)
      if (n == 3 || shape % 3 == n) {
        const int rows = shape == GRID_3D && n > 1 ? 64 : shape == DENSE && n > 1 ? 40 : sizes[n];
        Square    A    = MakeSquare((Shape)shape, rows, kind != TRSV_ILU, p, 7);

        FillValues(&A, kind, 11 + (unsigned)n);
        CheckFactor(&A, kind, lanes, &Plain, 1, Reduced() ? 1 : 2, ShapeName[shape]);
        FreeSquare(&A);
      }
}

/* A row that takes a whole warp, and rows that depend on it. */
static void CheckLongRow(TrsvFactorKind kind, TrsvPrecision p)
{
  Square A = MakeSquare(ARROW, 600, kind != TRSV_ILU, p, 7);

  FillValues(&A, kind, 5);
  CheckFactor(&A, kind, 0, &Plain, 10, 1, "an arrow");
  FreeSquare(&A);
}

/* Zero and small pivots: compared by magnitude or, for positive definite shifts, by the real part. */
static void CheckShifts(TrsvFactorKind kind, TrsvPrecision p)
{
  static const Complex small[] = {0, 1e-8 * I, -1e-8, -2 + 1 * I};

  for (int shift = TRSV_SHIFT_NONE; shift <= TRSV_SHIFT_INBLOCKS; shift++)
    for (int s = 0; s < 4; s++) {
      const TrsvPivots pivots = {(TrsvShift)shift, shift == TRSV_SHIFT_INBLOCKS ? 0.25 : 1e-2, 1e-6};
      const int        counts = s < 3 || shift == TRSV_SHIFT_POSITIVE_DEFINITE;
      Square           A      = MakeSquare(s % 2 ? GRID_2D : BAND, 49, kind != TRSV_ILU, p, 7);
      char             where[80];

      FillValues(&A, TRSV_ICC_HERMITIAN, 5); /* pivots with positive real parts */
      if (kind == TRSV_ICC)
        for (int i = 0; i < A.rows; i++)
          for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++)
            if (A.columns[k] < i)
              PutEntry(A.values, p, k, EntryAt(A.values, p, FindEntry(A.offsets, A.columns, A.columns[k], i)));
      PutEntry(A.values, p, FindEntry(A.offsets, A.columns, 0, 0), small[s]);
      (void)snprintf(where, sizeof(where), "shift %d, pivot %g + %g i", shift, creal(small[s]), cimag(small[s]));
      if (shift == TRSV_SHIFT_NONE && counts) {
        TrsvFactor *f = MakeFactor(&A, NULL, kind, 0);
        TrsvOutcome o;

        if (f && ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &pivots, &o, NULL), TRSV_SUCCESS, where))
          Expect(o.row == 0 &&
                   fabs(o.pivot - (kind == TRSV_ICC_HERMITIAN ? fabs(creal(small[s])) : cabs(small[s]))) < 1e-14,
                 "%s: row %d, pivot %g", where, o.row, o.pivot);
        TrsvFactorDestroy(&f);
      } else {
        CheckFactor(&A, kind, s % 2 ? 0 : 4, &pivots, 1e4, 1, where);
      }
      FreeSquare(&A);
    }
}

/* The object: every order; solves in both memories and with the transpose, compared with serial for the downloaded
   triangles. */
static void CheckObject(TrsvFactorKind kind, TrsvPrecision p, TrsvOrderRequest order)
{
  const int      rows    = 100;
  Square         A       = MakeSquare(GRID_2D, rows, 1, p, 9);
  TrsvCSR        csr     = {rows, A.offsets, A.columns, A.values};
  TrsvIluRequest request = {.kind      = kind,
                            .precision = p,
                            .memory    = TRSV_DEVICE,
                            .place     = TRSV_PLACE_DEVICE,
                            .timeout   = TRSV_TIMEOUT,
                            .order     = order};
  TrsvIlu       *ilu;
  TrsvIluInfo    info;
  TrsvOutcome    o;
  TrsvTriangles  t;
  double         largest = 0;
  void          *b = MakeVector(p, rows, 3), *x[2] = {MakeArray(p, rows), MakeArray(p, rows)};

  FillValues(&A, kind, 5);
  if (ExpectError(TrsvIluCreate(&request, rows, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
    TrsvIluDescribe(ilu, &info);
    Expect(info.on_device && o.row < 0, "on the device %d, '%s', row %d", info.on_device, info.host_reason, o.row);
    if (ExpectError(TrsvIluDownload(ilu, &t, NULL), TRSV_SUCCESS, "TrsvIluDownload")) {
      CompareFactors(&A, &t, kind, 0, 0, 0, 1, "the object");
      TrsvTrianglesDestroy(&t);
    }
    for (int transposed = 0; transposed < 2; transposed++) {
      for (int memory = 0; memory < 2; memory++) {
        ExpectError(TrsvIluPrepare(ilu, (TrsvMemory)memory, transposed, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
        ExpectError(TrsvIluSolve(ilu, (TrsvMemory)memory, transposed, TRSV_SOLVE, b, x[memory], NULL), TRSV_SUCCESS,
                    "TrsvIluSolve");
      }
      ExpectClose(p, rows, x[1], x[0], transposed ? "transposed" : "as it is");
    }
    if (kind == TRSV_ICC_HERMITIAN) { /* (L U)^-1 is Hermitian: the solution with the transpose is the conjugate */
      void *c = MakeArray(p, rows);

      for (int i = 0; i < 2 * rows; i++) Set(c, p, i, (i % 2 ? -1 : 1) * Get(b, p, i));
      ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, c, x[0], NULL), TRSV_SUCCESS, "TrsvIluSolve");
      for (int i = 0; i < 2 * rows; i++)
        Set(x[0], p, i, (i % 2 ? -1 : 1) * Get(x[0], p, i)), largest = fmax(largest, fabs(Get(x[0], p, i)));
      for (int i = 0; i < 2 * rows; i++)
        Expect(fabs(Get(x[0], p, i) - Get(x[1], p, i)) <= largest * (TrsvRealPrecision(p) == TRSV_FLOAT ? 1e-5 : 1e-13),
               "x[%d] of the conjugate is %g, not %g", i, Get(x[0], p, i), Get(x[1], p, i));
      free(c);
    }
  }
  TrsvIluDestroy(&ilu);
  free(b);
  free(x[0]);
  free(x[1]);
  FreeSquare(&A);
}

/* The discarded fill of values on the real or the imaginary axis is that of their magnitudes. */
static void CheckDiscardedFill(TrsvPrecision p)
{
  Square A = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 9), C = MakeSquare(GRID_2D, 100, 1, p, 9);
  int    order[100];
  double real[2], got[2];

  for (int i = 0; i < 100; i++) order[i] = 7 * i % 100;
  for (int k = 0; k < A.nnz; k++) {
    Set(C.values, p, Reals(p, k) + k % 2, Get(A.values, TRSV_DOUBLE, k));
    Set(C.values, p, Reals(p, k) + !(k % 2), 0);
  }
  ExpectError(TrsvDeviceDiscardedFill(&(TrsvCSR){100, A.offsets, A.columns, A.values}, order, TRSV_DOUBLE, real),
              TRSV_SUCCESS,
              "real");
  ExpectError(TrsvDeviceDiscardedFill(&(TrsvCSR){100, C.offsets, C.columns, C.values}, order, p, got), TRSV_SUCCESS,
              "turned");
  for (int o = 0; o < 2; o++)
    Expect(real[o] > 0 && fabs(got[o] - real[o]) <= 1e-6 * real[o], "%g, not %g", got[o], real[o]);
  FreeSquare(&A);
  FreeSquare(&C);
}

/* A lost store, of either half of a value: the wait ends with an error, and the next factorization returns none. */
static void CheckLostStore(TrsvPrecision p)
{
  int timeouts = 0;

  for (int lose = 1; lose < 60; lose += 7) {
    Square      A = MakeSquare(GRID_2D, 49, 1, p, 3);
    TrsvFactor *f = MakeFactor(&A, NULL, TRSV_ILU, lose % 2 ? 4 : 0);
    TrsvOutcome o;
    TrsvError   error;

    FillValues(&A, TRSV_ILU, 5);
    SimtSettings.bounded = 1;
    SimtSettings.lose    = lose;
    error                = TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL);
    SimtDefaults();
    timeouts += error == TRSV_ERR_TIMEOUT;
    Expect(!error || error == TRSV_ERR_TIMEOUT, "error %d: %s", (int)error, TrsvErrorMessage());
    ExpectError(TrsvFactorSetValues(f, NULL, NULL, A.values, &Plain, &o, NULL), TRSV_SUCCESS, "afterwards");
    TrsvFactorDestroy(&f);
    FreeSquare(&A);
  }
  Expect(timeouts > 2, "%d timeouts", timeouts);
}

void TestFactorComplex(void)
{
  static const char *const names[] = {"ilu", "icc, symmetric", "icc, Hermitian"};

  for (int precision = TRSV_COMPLEX_FLOAT; precision <= TRSV_COMPLEX_DOUBLE; precision++) {
    const TrsvPrecision p = (TrsvPrecision)precision;

    for (int k = TRSV_ILU; k <= TRSV_ICC_HERMITIAN; k++) {
      const TrsvFactorKind kind = (TrsvFactorKind)k;

      for (int lanes = 0; lanes <= 32; lanes = lanes ? (Reduced() ? 8 : 2) * lanes : 4) {
        Begin("factor %s, %s, %d lanes", names[k], PrecisionName(p), lanes);
        CheckShapes(kind, p, lanes);
        End();
      }
      Begin("factor %s, %s, a long row", names[k], PrecisionName(p));
      CheckLongRow(kind, p);
      End();
      Begin("factor %s, %s, shifts", names[k], PrecisionName(p));
      CheckShifts(kind, p);
      End();
      for (int order = TRSV_ORDER_GIVEN; order <= TRSV_ORDER_AUTO; order++) {
        Begin("ilu: %s, %s, order %d", names[k], PrecisionName(p), order);
        CheckObject(kind, p, (TrsvOrderRequest)order);
        End();
      }
    }
    Begin("discarded fill of %s values", PrecisionName(p));
    CheckDiscardedFill(p);
    End();
    Begin("factor: a lost store of %s values is reported", PrecisionName(p));
    CheckLostStore(p);
    End();
  }
}
