/*
   The reference of the factorizations: ILU(0) and IC(0) on the host, with a full row for the sums, as in PETSc's
   MatLUFactorNumeric_SeqAIJ() and MatCholeskyFactorNumeric_SeqAIJ(); and the comparison with the device.
*/
#include "square.h"
#include "../../regroup.h"

const TrsvPivots Plain = {TRSV_SHIFT_NONE, 0, 1e-13};

typedef struct {
  double *l, *u; /* in the order of the two patterns */
  int     row, attempts;
  double  pivot, shift;
} Result;

typedef struct {
  int    tries;
  double amount, low, high, top, fraction;
} Shifting;

/* returns 1 to start again; a zero pivot without a shift is recorded */
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

static double FirstShift(const Square *A, double least)
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
  const int n   = A->rows;
  double   *row = calloc((size_t)n, sizeof(*row)), *multiplier = calloc((size_t)n, sizeof(*multiplier));
  int *uo = calloc((size_t)n + 1, sizeof(int)), *ud = calloc((size_t)n + 1, sizeof(int)), again = 0, nl = 0, nu = 0;

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

static Result FactorNatural(const Square *A, TrsvFactorKind kind, const TrsvPivots *p)
{
  Result   r = {calloc((size_t)A->nnz + 1, sizeof(double)), calloc((size_t)A->nnz + 1, sizeof(double)), -1, 0, 0, 0};
  Shifting s = {.high = 1, .top = FirstShift(A, p->zero)};
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

/* loose: small pivots amplify rounding */
static int CloseTo(TrsvPrecision precision, int loose, int n, const void *values, const double *reference,
                   const char *what, const char *where)
{
  const double tolerance = precision == TRSV_FLOAT ? loose ? 1e-2 : 2e-5 : loose ? 1e-8 : 1e-12;
  double       largest   = 0;

  for (int i = 0; i < n; i++)
    if (isfinite(reference[i]) && fabs(reference[i]) > largest) largest = fabs(reference[i]);
  for (int i = 0; i < n; i++) {
    const double v = Get(values, precision, i), w = reference[i];
    const int    ok = isnan(w) ? isnan(v) : isinf(w) ? v == w : fabs(v - w) <= tolerance * largest;

    if (!Expect(ok, "%s: value %d of %d of %s is %.17g, not %.17g", where, i, n, what, v, w)) return 0;
  }
  return 1;
}

/* Are the patterns those of A? U has the diagonal first in each row; ICC's L is its transpose. */
static int GetPatterns(const Square *A, TrsvFactorKind kind, const TrsvMatrix *L, const TrsvMatrix *U)
{
  const int n     = A->rows;
  int      *l_end = malloc(sizeof(int) * (size_t)n), u = 0, same = !U->offsets[0] && !L->offsets[0];

  for (int i = 0; i < n; i++) l_end[i] = L->offsets[i];
  for (int i = 0; i < n; i++) {
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int j = A->columns[k];

      if (j >= i) same = same && U->columns[u++] == j;
      if (kind == TRSV_ILU && j < i) same = same && L->columns[l_end[i]++] == j;
      if (kind == TRSV_ICC && j > i) same = same && L->columns[l_end[j]++] == i;
    }
    same = same && U->offsets[i + 1] == u;
  }
  for (int i = 0; i < n; i++) same = same && l_end[i] == L->offsets[i + 1];
  free(l_end);
  return same;
}

/* After a request for L's values they are kept; this resets it, so that both paths are tested. */
static void DropLower(TrsvFactor *f)
{
  if (f->l) f->bytes -= TrsvValueSize(f->precision) * (size_t)f->lower;
  TrsvDeviceFree(f->l);
  f->l = NULL;
}

static unsigned schedule; /* continues from test to test */

static void CompareFactors(TrsvFactor *f, TrsvPlan *lower, const Square *A, const Result *r, const TrsvPivots *p,
                           int times, const char *where)
{
  const size_t size = TrsvValueSize(A->precision);
  TrsvOutcome  o;
  TrsvMatrix   L, U;
  const void  *l, *u;
  char        *kept = malloc(size * (size_t)(2 * A->nnz + 2));
  TrsvPair     pair = {.forward = {.plan = lower}};

  for (int t = 0; t < times; t++) {
    SimtSchedule(schedule++);
    if (f->l_in_plan && t % 2 == 0) DropLower(f);
    if (!ExpectError(TrsvFactorSetValues(f, pair.forward.plan, pair.work, A->values, p, &o, NULL), TRSV_SUCCESS, where))
      break;
    if (f->l_in_plan && r->row < 0) ExpectError(TrsvFactorMaterialize(f, lower, NULL), TRSV_SUCCESS, where);
    TrsvFactorTriangles(f, &L, &U, &l, &u);
    const size_t nl = (size_t)L.offsets[A->rows], nu = (size_t)U.offsets[A->rows];

    if (!Expect(o.row == r->row && o.attempts == r->attempts, "%s: row %d, %d attempts; not %d, %d", where, o.row,
                o.attempts, r->row, r->attempts))
      break;
    if (!Expect(fabs(o.shift - r->shift) <= 1e-5 * fabs(r->shift) && fabs(o.pivot - r->pivot) <= 1e-12,
                "%s: shift %g, pivot %g; not %g, %g", where, o.shift, o.pivot, r->shift, r->pivot))
      break;
    if (r->row >= 0) break; /* values after a zero pivot are undefined */
    if (!CloseTo(A->precision, p != &Plain, (int)nl, l, r->l, "L", where) ||
        !CloseTo(A->precision, p != &Plain, (int)nu, u, r->u, "U", where))
      break;
    if (t && !Expect(!memcmp(kept, l, size * nl) && !memcmp(kept + size * nl, u, size * nu),
                     "%s: other bits under schedule %u", where, schedule - 1))
      break;
    memcpy(kept, l, size * nl);
    memcpy(kept + size * nl, u, size * nu);
  }
  SimtDefaults();
  free(kept);
}

TrsvPlan *MakeLower(const TrsvFactor *f)
{
  TrsvMatrix L, U;
  TrsvPlan  *plan;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  ExpectError(TrsvPlanCreate(&L, L.analysis, NULL, f->lower, NULL, FindTested("chunk"), 0, &plan), TRSV_SUCCESS,
              "TrsvPlanCreate");
  return plan;
}

void CheckNumericBy(TrsvFactor *f, TrsvPlan *lower, const Square *A, TrsvFactorKind kind, const TrsvPivots *p,
                    int times, const char *where)
{
  Result r = Factor(A, f->order, kind, p);

  CompareFactors(f, lower, A, &r, p, times, where);
  free(r.l);
  free(r.u);
}

void CheckNumeric(TrsvFactor *f, const Square *A, TrsvFactorKind kind, const TrsvPivots *p, int times,
                  const char *where)
{
  Result     r = Factor(A, f->order, kind, p);
  TrsvMatrix L, U;
  Square     B = Permuted(A, f->order);

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  Expect(GetPatterns(&B, kind, &L, &U), "%s: other patterns than those of A", where);
  FreeSquare(&B);
  if (f->pivots && L.analysis) {
    TrsvPlan *lower = MakeLower(f);

    CompareFactors(f, lower, A, &r, p, times, where);
    TrsvPlanDestroy(&lower);
  }
  CompareFactors(f, NULL, A, &r, p, times, where);
  free(r.l);
  free(r.u);
}

TrsvFactor *MakeFactor(const Square *A, const int *order, TrsvFactorKind kind, int lanes)
{
  TrsvFactor *f;

  ExpectError(TrsvFactorCreate(&(TrsvCSR){A->rows, A->offsets, A->columns}, order,
                               A->rows % 2 ? TRSV_HOST : TRSV_DEVICE, kind, A->precision, &f),
              TRSV_SUCCESS, "TrsvFactorCreate");
  if (f && lanes) ExpectError(Regroup(f, lanes), TRSV_SUCCESS, "TrsvFactorAssignGroups");
  if (f) Expect(!lanes || f->lanes_per_row == lanes, "%d lanes", f->lanes_per_row);
  return f;
}
