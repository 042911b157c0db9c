/*
   CG and BiCGStab with scalars on the device, compared with the textbook on the host: norms, solutions, the same bits
   under each schedule, breakdowns, and iterations after the end.
*/
#include "krylov/textbook.h"

enum { VECTORS = 7 };

/* A solver on the device: its vectors, of which x is the first, and its last report */
typedef struct {
  double       *v[VECTORS];
  TrsvKrylov   *k;
  TrsvIteration it;
} Solver;

static int CreateSolver(Solver *w, int rows)
{
  for (int i = 0; i < VECTORS; i++) {
    ExpectError(TrsvDeviceAlloc(sizeof(double) * (size_t)rows, &w->v[i]), TRSV_SUCCESS, "TrsvDeviceAlloc");
    for (int j = 0; j < rows; j++) w->v[i][j] = 0;
  }
  return ExpectError(TrsvKrylovCreate(&w->k), TRSV_SUCCESS, "TrsvKrylovCreate");
}

static void DestroySolver(Solver *w)
{
  for (int i = 0; i < VECTORS; i++) TrsvDeviceFree(w->v[i]);
  TrsvKrylovDestroy(&w->k);
}

static double *RightHandSide(int rows)
{
  double *b = malloc(sizeof(double) * (size_t)rows);
  Random  r = 7;

  for (int i = 0; i < rows; i++) b[i] = RandomReal(&r);
  return b;
}

/* Up to ITERATIONS on the device; ahead: each is launched before the report of the one before. Returns how many were
   reported. */
static int DeviceCG(Solver *w, const System *S, const double *b, TrsvNorm norm, const TrsvStopping *stopping, int ahead,
                    double *norms)
{
  const int            n  = S->rows;
  TrsvKrylov *const    k  = w->k;
  TrsvIteration *const it = &w->it;
  double *const x = w->v[0], *const r = w->v[1], *const z = w->v[2], *const p = w->v[3];
  int launched = 0, read = 0;

  for (int i = 0; i < n; i++) x[i] = 0, r[i] = b[i];
  ExpectError(TrsvKrylovStart(k, n, TRSV_CG, norm, NULL), TRSV_SUCCESS, "TrsvKrylovStart");
  Precondition(S, r, z);
  memcpy(p, z, sizeof(*p) * (size_t)n);
  ExpectError(TrsvKrylovResidual(k, 0, r, z, stopping), TRSV_SUCCESS, "TrsvKrylovResidual");
  if (!ExpectError(TrsvKrylovAwait(k, 0, it), TRSV_SUCCESS, "TrsvKrylovAwait")) return 0;
  if (norms) norms[0] = it->norm;
  while (it->state == TRSV_RUNS && read < ITERATIONS) {
    while (launched <= read + ahead && launched < ITERATIONS) {
      launched++;
      Multiply(S, p, z);
      ExpectError(TrsvKrylovHalf(k, launched, p, z, r, r), TRSV_SUCCESS, "TrsvKrylovHalf");
      Precondition(S, r, z);
      ExpectError(TrsvKrylovResidual(k, launched, r, z, stopping), TRSV_SUCCESS, "TrsvKrylovResidual");
      ExpectError(TrsvCGAdvance(k, launched, z, p, x), TRSV_SUCCESS, "TrsvCGAdvance");
    }
    if (!ExpectError(TrsvKrylovAwait(k, ++read, it), TRSV_SUCCESS, "TrsvKrylovAwait")) break;
    if (norms) norms[read] = it->norm;
  }
  return read;
}

static int DeviceBCGS(Solver *w, const System *S, const double *b, TrsvNorm norm, const TrsvStopping *stopping,
                      int ahead, double *norms)
{
  const int            n  = S->rows;
  TrsvKrylov *const    k  = w->k;
  TrsvIteration *const it = &w->it;
  double *const x = w->v[0], *const r = w->v[1], *const r0 = w->v[2], *const p = w->v[3], *const v = w->v[4],
                *const s = w->v[5], *const t = w->v[6];
  int launched = 0, read = 0;

  for (int i = 0; i < n; i++) x[i] = 0;
  ExpectError(TrsvKrylovStart(k, n, TRSV_BCGS, norm, NULL), TRSV_SUCCESS, "TrsvKrylovStart");
  Precondition(S, b, r);
  memcpy(r0, r, sizeof(*r) * (size_t)n);
  ExpectError(TrsvKrylovResidual(k, 0, r, r0, stopping), TRSV_SUCCESS, "TrsvKrylovResidual");
  if (!ExpectError(TrsvKrylovAwait(k, 0, it), TRSV_SUCCESS, "TrsvKrylovAwait")) return 0;
  if (norms) norms[0] = it->norm;
  while (it->state == TRSV_RUNS && read < ITERATIONS) {
    while (launched <= read + ahead && launched < ITERATIONS) {
      launched++;
      ExpectError(TrsvBCGSDirection(k, launched, r, v, p), TRSV_SUCCESS, "TrsvBCGSDirection");
      Operate(S, p, v);
      ExpectError(TrsvKrylovHalf(k, launched, r0, v, r, s), TRSV_SUCCESS, "TrsvKrylovHalf");
      Operate(S, s, t);
      ExpectError(TrsvBCGSUpdate(k, launched, p, s, t, r0, x, r, stopping), TRSV_SUCCESS, "TrsvBCGSUpdate");
    }
    if (!ExpectError(TrsvKrylovAwait(k, ++read, it), TRSV_SUCCESS, "TrsvKrylovAwait")) break;
    if (norms) norms[read] = it->norm;
  }
  return read;
}

typedef int Method(Solver *, const System *, const double *, TrsvNorm, const TrsvStopping *, int, double *);

static void ExpectNear(int n, const double *got, const double *want, const char *what)
{
  double most = 0;

  for (int i = 0; i < n; i++) most = fmax(most, fabs(want[i]));
  for (int i = 0; i < n; i++)
    if (!Expect(fabs(got[i] - want[i]) <= 1e-10 * most, "%s %d is %.15g, not %.15g", what, i, got[i], want[i])) return;
}

/* All iterations under several schedules: as on the host, and the same bits. */
static void CheckAgainstHost(const char *name, Method *method, int rows, TrsvNorm norm, int symmetric)
{
  static const char *const norm_names[] = {"none", "preconditioned", "unpreconditioned", "natural"};
  const TrsvStopping       never        = {0};
  System                   S            = MakeSystem(rows, symmetric, (unsigned)rows);
  double                  *b            = RightHandSide(rows);
  double                   want[ITERATIONS + 1], norms[ITERATIONS + 1], first[ITERATIONS + 1];
  double                  *x = symmetric ? HostCG(&S, b, norm, want) : HostBCGS(&S, b, want), *bits = NULL;
  Solver                   w;

  Begin("krylov: %s, %d rows, norm %s", name, rows, norm_names[norm]);
  if (!symmetric && norm == TRSV_NORM_NONE) memset(want, 0, sizeof(want));
  if (CreateSolver(&w, rows)) {
    const size_t bytes = sizeof(double) * (size_t)rows;

    bits = malloc(bytes);
    for (unsigned schedule = 0; schedule < (Reduced() ? 4 : 12); schedule++) {
      const int multiprocessors = SimtSettings.multiprocessors;

      SimtSchedule(schedule);
      SimtSettings.multiprocessors = multiprocessors; /* the order of sums depends on it */
      const int read               = method(&w, &S, b, norm, &never, schedule % 2, norms);
      if (!Expect(read == ITERATIONS, "%d iterations, state %d", read, w.it.state)) break;
      ExpectNear(ITERATIONS + 1, norms, want, "norm");
      ExpectNear(rows, w.v[0], x, "x");
      if (!schedule) {
        memcpy(bits, w.v[0], bytes);
        memcpy(first, norms, sizeof(norms));
      } else
        Expect(!memcmp(bits, w.v[0], bytes) && !memcmp(first, norms, sizeof(norms)), "schedule %u: other bits",
               schedule);
    }
    SimtDefaults();
  }
  End();
  free(bits);
  free(x);
  free(b);
  DestroySolver(&w);
  FreeSystem(&S);
}

/* Stops by a norm at the same iteration as the host, with x of that iteration, even if later iterations are launched.
 */
static void CheckStops(const char *name, Method *method, int symmetric)
{
  enum { rows = 700 };
  System       S = MakeSystem(rows, symmetric, 5);
  double      *b = RightHandSide(rows), norms[ITERATIONS + 1], x[rows];
  Solver       w;
  TrsvStopping stopping = {0};

  Begin("krylov: %s stops at the iteration that a norm asks for", name);
  if (CreateSolver(&w, rows)) {
    (void)method(&w, &S, b, TRSV_NORM_PRECONDITIONED, &stopping, 0, norms);
    stopping = (TrsvStopping){1, 0, ITERATIONS, norms[5], 1e300};
    for (int ahead = 0; ahead < 2; ahead++) {
      const int read = method(&w, &S, b, TRSV_NORM_PRECONDITIONED, &stopping, ahead, NULL);
      Expect(read == 5 && w.it.state == TRSV_STOPPED && w.it.norm == norms[5], "stopped at %d in state %d", read,
             w.it.state);
      if (!ahead) memcpy(x, w.v[0], sizeof(x));
      else Expect(!memcmp(x, w.v[0], sizeof(x)), "a later iteration has changed x");
    }
    stopping.min_iterations = 8;
    Expect(method(&w, &S, b, TRSV_NORM_PRECONDITIONED, &stopping, 1, NULL) == 8, "not at the eighth");
    stopping = (TrsvStopping){1, 0, 3, 0, 1e300};
    Expect(method(&w, &S, b, TRSV_NORM_NONE, &stopping, 1, NULL) == 3, "not at the last");
    stopping       = (TrsvStopping){1, 0, ITERATIONS, 0, norms[2]};
    const int read = method(&w, &S, b, TRSV_NORM_PRECONDITIONED, &stopping, 1, NULL);
    Expect(read <= 2 && w.it.state == TRSV_STOPPED && w.it.norm >= norms[2], "not where it diverges");
  }
  End();
  free(b);
  DestroySolver(&w);
  FreeSystem(&S);
}

static void ExpectState(Method *method, System *S, const double *b, int iterations, TrsvKrylovState state,
                        const char *what)
{
  const TrsvStopping never = {0};

  for (int ahead = 0; ahead < 2; ahead++) {
    Solver w;

    if (CreateSolver(&w, S->rows)) {
      const int read = method(&w, S, b, TRSV_NORM_PRECONDITIONED, &never, ahead, NULL);

      Expect(read == iterations && w.it.state == state, "%s: iteration %d, state %d; not %d, %d", what, read,
             w.it.state, iterations, state);
      if (state == TRSV_EXACT) Expect(!memcmp(w.v[0], b, sizeof(*b) * (size_t)S->rows), "%s: x is not b", what);
    }
    DestroySolver(&w);
  }
}

static void CheckBreakdowns(void)
{
  System  S = MakeSystem(40, 1, 5);
  double *b = RightHandSide(40);

  Begin("krylov: breakdowns");
  S.upper = S.lower = 0;
  for (int i = 0; i < 40; i++) S.diagonal[i] = i % 2 ? 1 : -3; /* p.Ap is negative at first, positive later */
  ExpectState(DeviceCG, &S, b, 2, TRSV_INDEFINITE_MATRIX, "indefinite matrix");
  for (int i = 0; i < 40; i++) S.diagonal[i] = 0;
  ExpectState(DeviceCG, &S, b, 1, TRSV_INDEFINITE_MATRIX, "zero matrix");
  ExpectState(DeviceBCGS, &S, b, 1, TRSV_BREAKDOWN, "zero matrix, BiCGStab");
  S.diagonal[3] = NAN;
  ExpectState(DeviceCG, &S, b, 1, TRSV_NOT_A_NUMBER, "NaN in A");
  ExpectState(DeviceBCGS, &S, b, 1, TRSV_NOT_A_NUMBER, "NaN in A, BiCGStab");
  for (int i = 0; i < 40; i++) S.diagonal[i] = 1 + i % 3, S.scale[i] = i % 2 ? 1 : -3;
  ExpectState(DeviceCG, &S, b, 1, TRSV_NEXT_INDEFINITE_PC, "indefinite preconditioner");
  b[7] = NAN;
  ExpectState(DeviceCG, &S, b, 0, TRSV_NEXT_NOT_A_NUMBER, "NaN in b");
  for (int i = 0; i < 40; i++) b[i] = 0, S.scale[i] = 1;
  ExpectState(DeviceCG, &S, b, 0, TRSV_NEXT_ZERO, "b = 0");
  End();
  free(b);
  FreeSystem(&S);
}

/* BiCGStab: half a step is exact if A is the identity; r.r0 is 0 after the first iteration of this problem. */
static void CheckHalfSteps(void)
{
  const double b[3] = {0, 1, 0};
  System       S    = MakeSystem(3, 1, 5);

  Begin("krylov: BiCGStab, half a step is exact; r.r0 is 0");
  for (int i = 0; i < 3; i++) S.diagonal[i] = 1 + i / 2, S.scale[i] = 1 - i / 2 * 2;
  S.upper = S.lower = 1;
  ExpectState(DeviceBCGS, &S, b, 2, TRSV_NEXT_BREAKDOWN, "r.r0 is 0");
  for (int i = 0; i < 3; i++) S.diagonal[i] = S.scale[i] = 1;
  S.upper = S.lower = 0;
  ExpectState(DeviceBCGS, &S, b, 1, TRSV_EXACT, "identity");
  End();
  FreeSystem(&S);
}

/* The natural norm of a step with an indefinite preconditioner is a number. */
static void CheckNaturalNorm(void)
{
  const TrsvStopping never = {0};
  System             S     = MakeSystem(40, 1, 5);
  double            *b     = RightHandSide(40);
  Solver             w;

  Begin("krylov: the natural norm with an indefinite preconditioner");
  for (int i = 0; i < 40; i++) S.scale[i] = -1;
  if (CreateSolver(&w, 40)) {
    (void)DeviceCG(&w, &S, b, TRSV_NORM_NATURAL, &never, 0, NULL);
    Expect(w.it.norm > 0, "the norm is %g", w.it.norm);
  }
  End();
  free(b);
  DestroySolver(&w);
  FreeSystem(&S);
}

/* A missing iteration is an error; a report of an earlier solve is not taken for it. */
static void CheckReports(void)
{
  const TrsvStopping never = {0};
  const TrsvNorm     norm  = TRSV_NORM_PRECONDITIONED;
  System             S     = MakeSystem(40, 1, 5);
  double            *b     = RightHandSide(40);
  Solver             w;

  Begin("krylov: reports of earlier solves");
  if (CreateSolver(&w, 40))
    for (int solve = 0; solve < 5; solve++) {
      (void)DeviceCG(&w, &S, b, norm, &never, 0, NULL);
      for (int short_solves = 0; short_solves <= solve; short_solves++)
        ExpectError(TrsvKrylovStart(w.k, 40, TRSV_CG, norm, NULL), TRSV_SUCCESS, "TrsvKrylovStart");
      for (int i = 0; i <= ITERATIONS; i++)
        ExpectError(TrsvKrylovAwait(w.k, i, &w.it), TRSV_ERR_DEVICE, "nothing launched");
    }
  /* the product after half of iteration 4, which breaks down, has failed: the rest is not launched */
  for (int bcgs = 0; w.k && bcgs < 2; bcgs++) {
    double *const x = w.v[0], *const r = w.v[1], *const z = w.v[2], *const zero = w.v[3];

    for (int i = 0; i < 40; i++) x[i] = 0, r[i] = z[i] = 1, zero[i] = 0;
    ExpectError(TrsvKrylovStart(w.k, 40, bcgs ? TRSV_BCGS : TRSV_CG, norm, NULL), TRSV_SUCCESS, "TrsvKrylovStart");
    for (int i = 0; i < 4; i++)
      ExpectError(TrsvKrylovResidual(w.k, i, r, z, &never), TRSV_SUCCESS, "TrsvKrylovResidual");
    ExpectError(TrsvKrylovHalf(w.k, 4, bcgs ? r : zero, bcgs ? zero : z, r, bcgs ? x : r), TRSV_SUCCESS, "half");
    ExpectError(TrsvKrylovStart(w.k, 40, TRSV_CG, norm, NULL), TRSV_SUCCESS, "TrsvKrylovStart");
    ExpectError(TrsvKrylovAwait(w.k, 0, &w.it), TRSV_ERR_DEVICE, "nothing launched after half an iteration");
  }
  End();
  free(b);
  DestroySolver(&w);
  FreeSystem(&S);
}

/* The k-th call of the device fails, for each k: an error, and no memory is lost. */
static void CheckFailures(void)
{
  const size_t live   = SimtLive();
  int          failed = 1;

  Begin("krylov: the k-th call of the device fails");
  for (long at = 1; failed && at < 50; at++) {
    TrsvKrylov *k = NULL;
    TrsvError   error;

    SimtFailAt(at, 0);
    error = TrsvKrylovCreate(&k);
    if (!error) error = TrsvKrylovStart(k, 10, TRSV_CG, TRSV_NORM_NONE, NULL);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    Expect(!failed == !error, "call %ld: error %d", at, error);
    TrsvKrylovDestroy(&k);
    Expect(SimtLive() == live, "call %ld: device memory is lost", at);
  }
  Expect(!failed, "it goes on failing");
  End();
}

void TestKrylov(void)
{
  static const int rows[] = {20, 33, 512, 1300, 5000};

  for (int i = 0; i < (Reduced() ? 3 : 5); i++) {
    for (TrsvNorm norm = TRSV_NORM_NONE; norm <= TRSV_NORM_NATURAL; norm++)
      CheckAgainstHost("CG", DeviceCG, rows[i], norm, 1);
    CheckAgainstHost("BiCGStab", DeviceBCGS, rows[i], TRSV_NORM_NONE, 0);
    CheckAgainstHost("BiCGStab", DeviceBCGS, rows[i], TRSV_NORM_PRECONDITIONED, 0);
  }
  CheckStops("CG", DeviceCG, 1);
  CheckStops("BiCGStab", DeviceBCGS, 0);
  CheckBreakdowns();
  CheckHalfSteps();
  CheckNaturalNorm();
  CheckReports();
  CheckFailures();
}
