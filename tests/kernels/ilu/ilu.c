/*
   The object TrsvIlu (src/kernels/ilu): for every order, kind and algorithm its solves equal those by the triangles
   that it returns, in each memory, transposed or not, after new values, after values that fail, and after the host
   takes over. After a failed allocation it is usable, or does not exist.
*/
#include "square.h"

enum { ROWS = 400 };

static TrsvCSR ViewOf(const Square *A) { return (TrsvCSR){A->rows, A->offsets, A->columns, A->values}; }

/* y of T y = v, or of T^T y = v, row by row or column by column */
static void SolveTriangle(const TrsvCSR *T, int upper, int transposed, double *v)
{
  const double *a = T->values;

  for (int s = 0; s < T->rows; s++) {
    const int i = upper != transposed ? T->rows - 1 - s : s, begin = T->offsets[i] + upper, end = T->offsets[i + 1];

    if (!transposed)
      for (int k = begin; k < end; k++) v[i] -= a[k] * v[T->columns[k]];
    if (upper) v[i] /= a[T->offsets[i]];
    if (transposed)
      for (int k = begin; k < end; k++) v[T->columns[k]] -= a[k] * v[i];
  }
}

/* x of A x = b, where the triangles are the factor of A */
static void SolveByTriangles(const TrsvTriangles *t, int transposed, const double *b, double *x)
{
  double *v = malloc(sizeof(double) * (size_t)t->L.rows);

  for (int i = 0; i < t->L.rows; i++) v[i] = b[t->row ? t->row[i] : i]; /* rows and columns have the same order here */
  SolveTriangle(transposed ? &t->U : &t->L, transposed, transposed, v);
  SolveTriangle(transposed ? &t->L : &t->U, !transposed, transposed, v);
  for (int i = 0; i < t->L.rows; i++) x[t->row ? t->row[i] : i] = v[i];
  free(v);
}

/* Solves in a memory equal those by the triangles: L and U together, and one after the other. */
static void CheckSolve(TrsvIlu *ilu, const TrsvTriangles *t, TrsvMemory memory, int transposed, const char *where)
{
  const int rows = t->L.rows;
  double   *b = MakeVector(TRSV_DOUBLE, rows, 5), *want = malloc(sizeof(double) * (size_t)rows),
         *x = malloc(sizeof(double) * (size_t)rows), *y = malloc(sizeof(double) * (size_t)rows);

  SolveByTriangles(t, transposed, b, want);
  Expect(TrsvIluIsReady(ilu, memory, transposed), "%s: not ready, memory %d, transposed %d", where, (int)memory,
         transposed);
  memset(x, 0xa5, sizeof(double) * (size_t)rows);
  ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_SOLVE, b, x, NULL), TRSV_SUCCESS, where);
  ExpectClose(TRSV_DOUBLE, rows, x, want, where);
  memset(x, 0xa5, sizeof(double) * (size_t)rows);
  ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_FORWARD, b, y, NULL), TRSV_SUCCESS, where);
  ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_BACKWARD, y, x, NULL), TRSV_SUCCESS, where);
  ExpectClose(TRSV_DOUBLE, rows, x, want, where);
  if (!TrsvIluIsOneLaunch(ilu, memory, transposed)) {
    memset(x, 0xa5, sizeof(double) * (size_t)rows);
    ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_FORWARD, b, NULL, NULL), TRSV_SUCCESS, where);
    ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_BACKWARD, NULL, x, NULL), TRSV_SUCCESS, where);
    ExpectClose(TRSV_DOUBLE, rows, x, want, where);
  } else {
    ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_FORWARD, b, NULL, NULL), TRSV_ERR_ARGUMENT, where);
    ExpectError(TrsvIluSolve(ilu, memory, transposed, TRSV_BACKWARD, NULL, x, NULL), TRSV_ERR_ARGUMENT, where);
  }
  Expect(TrsvIluFlops(ilu, memory, transposed, TRSV_SOLVE) ==
           2.0 * (t->L.offsets[rows] + t->U.offsets[rows] - rows) + rows,
         "%s: %g flops", where, TrsvIluFlops(ilu, memory, transposed, TRSV_SOLVE));
  free(b);
  free(want);
  free(x);
  free(y);
}

/* The product of the triangles equals A at the entries of A (ILU), in the order of the factor. */
static void CheckFactor(const TrsvTriangles *t, const Square *A, TrsvFactorKind kind, const char *where)
{
  double *row = calloc((size_t)A->rows, sizeof(double)), worst = 0;
  int    *place = malloc(sizeof(int) * (size_t)A->rows);

  for (int i = 0; i < A->rows; i++) place[t->row ? t->row[i] : i] = i;
  for (int i = 0; i < A->rows; i++) {
    const int r = t->row ? t->row[i] : i;

    for (int k = t->U.offsets[i]; k < t->U.offsets[i + 1]; k++)
      row[t->U.columns[k]] += ((const double *)t->U.values)[k];
    for (int k = t->L.offsets[i]; k < t->L.offsets[i + 1]; k++) {
      const int j = t->L.columns[k];

      for (int m = t->U.offsets[j]; m < t->U.offsets[j + 1]; m++)
        row[t->U.columns[m]] += ((const double *)t->L.values)[k] * ((const double *)t->U.values)[m];
    }
    for (int k = A->offsets[r]; k < A->offsets[r + 1]; k++)
      if (kind == TRSV_ILU || place[A->columns[k]] >= i)
        worst = fmax(worst, fabs(row[place[A->columns[k]]] - Get(A->values, TRSV_DOUBLE, k)));
    memset(row, 0, sizeof(double) * (size_t)A->rows);
  }
  Expect(worst < 1e-12, "%s: L U is off A by %g", where, worst);
  free(row);
  free(place);
}

/* All solves of the object, compared with its triangles. */
static void CheckAll(TrsvIlu *ilu, const Square *A, TrsvFactorKind kind, const char *where)
{
  TrsvTriangles t;

  if (!ExpectError(TrsvIluDownload(ilu, &t, NULL), TRSV_SUCCESS, where)) return;
  CheckFactor(&t, A, kind, where);
  for (int memory = 0; memory < 2; memory++)
    for (int transposed = 0; transposed < 2; transposed++)
      if (ExpectError(TrsvIluPrepare(ilu, (TrsvMemory)memory, transposed, NULL, NULL), TRSV_SUCCESS, where))
        CheckSolve(ilu, &t, (TrsvMemory)memory, transposed, where);
  TrsvTrianglesDestroy(&t);
}

/* Values with a zero pivot: no solve is possible until there are other values. */
static void CheckZeroPivot(TrsvIlu *ilu, Square *A, const char *where)
{
  const int     first = A->offsets[0];
  TrsvCSR       csr   = ViewOf(A);
  TrsvOutcome   o;
  TrsvTriangles t;
  double        kept[64], x;
  int           n = A->offsets[1] - first;

  for (int k = 0; k < n; k++) kept[k] = Get(A->values, TRSV_DOUBLE, first + k);
  for (int k = 0; k < n; k++) Set(A->values, TRSV_DOUBLE, first + k, 0);
  ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, where);
  Expect(o.row == 0 && o.pivot == 0, "%s: row %d, pivot %g", where, o.row, o.pivot);
  Expect(!TrsvIluIsReady(ilu, TRSV_DEVICE, 0), "%s: ready after a zero pivot", where);
  ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, where);
  Expect(!TrsvIluIsReady(ilu, TRSV_DEVICE, 0), "%s: filled after a zero pivot", where);
  ExpectError(TrsvIluDownload(ilu, &t, NULL), TRSV_ERR_ARGUMENT, where);
  ExpectError(TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, &x, &x, NULL), TRSV_ERR_ARGUMENT, where);
  for (int k = 0; k < n; k++) Set(A->values, TRSV_DOUBLE, first + k, kept[k]);
  ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, where);
  Expect(o.row < 0, "%s: row %d", where, o.row);
}

/* The host takes over the factorization: its triangles fill the existing plans. */
static void CheckLeaving(TrsvIlu *ilu, const char *where)
{
  TrsvTriangles t;
  TrsvIluInfo   info;
  int           order[ROWS], same = 1;

  if (!ExpectError(TrsvIluDownload(ilu, &t, NULL), TRSV_SUCCESS, where)) return;
  ExpectError(TrsvIluLeaveDevice(ilu, order, NULL), TRSV_SUCCESS, where);
  TrsvIluDescribe(ilu, &info);
  Expect(!info.on_device && info.host_reason[0] && info.planned, "%s: %d, '%s'", where, info.on_device,
         info.host_reason);
  for (int i = 0; i < ROWS; i++) same = same && order[i] == (t.row ? t.row[i] : i);
  Expect(same, "%s: another order", where);
  for (int k = 0; k < t.U.offsets[t.U.rows]; k++) ((double *)t.U.values)[k] *= 2;
  ExpectError(TrsvIluSetFactor(ilu, &t, NULL), TRSV_SUCCESS, where);
  for (int transposed = 0; transposed < 2; transposed++) CheckSolve(ilu, &t, TRSV_DEVICE, transposed, where);
  TrsvTrianglesDestroy(&t);
}

static void CheckLife(Shape shape, TrsvFactorKind kind, TrsvOrderRequest order, const char *algorithm,
                      const char *where)
{
  Square         A       = MakeSquare(shape, ROWS, 1, TRSV_DOUBLE, 9);
  TrsvCSR        csr     = ViewOf(&A);
  TrsvIluRequest request = {.kind         = kind,
                            .precision    = TRSV_DOUBLE,
                            .memory       = TRSV_DEVICE,
                            .place        = TRSV_PLACE_DEVICE,
                            .timeout      = TRSV_TIMEOUT,
                            .order        = order,
                            .thread_level = algorithm && !strcmp(algorithm, "thread")};
  int           *given   = order == TRSV_ORDER_GIVEN && shape == RANDOM ? MakeOrder(ROWS, 4) : NULL;
  TrsvIlu       *ilu;
  TrsvIluInfo    info;
  TrsvOutcome    o;

  Begin("ilu: %s", where);
  request.row = request.column = given;
  if (algorithm && !request.thread_level) request.algorithm[0] = request.algorithm[1] = TrsvAlgorithmFind(algorithm);
  if (ExpectError(TrsvIluCreate(&request, ROWS, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
    ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_SUCCESS, "TrsvIluPrepare");
    TrsvIluDescribe(ilu, &info);
    Expect(info.on_device && info.planned && !TrsvIluIsReady(ilu, TRSV_DEVICE, 0), "on the device %d, planned %d, '%s'",
           info.on_device, info.planned, info.host_reason);
    Expect(!algorithm || (!strcmp(TrsvAlgorithmName(info.L.algorithm), algorithm) &&
                          !strcmp(TrsvAlgorithmName(info.U.algorithm), algorithm)),
           "by %s and %s", TrsvAlgorithmName(info.L.algorithm), TrsvAlgorithmName(info.U.algorithm));
    Expect(order != TRSV_ORDER_MULTICOLOR || info.multicolor, "not in the multicolor order");
    for (int round = 0; round < 2; round++) { /* in the second round all plans exist */
      ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS, "TrsvIluSetValues");
      CheckAll(ilu, &A, kind, round ? "new values" : "first values");
      FillSquare(&A, 1, 1.5, 20 + round);
    }
    Expect(shape != DIAGONAL || TrsvIluIsOneLaunch(ilu, TRSV_DEVICE, 0), "not in one launch");
    CheckZeroPivot(ilu, &A, "a zero pivot");
    CheckAll(ilu, &A, kind, "after a zero pivot");
    TrsvIluDescribe(ilu, &info);
    Expect(info.setup_bytes > 0 && info.plan_bytes > 0 && info.transposed && info.also_on_host &&
             info.algorithms[1][1][0],
           "%zu bytes of the set-up, %zu of plans", info.setup_bytes, info.plan_bytes);
    size_t bytes = 0;
    for (int pair = 0; pair < 4; pair++) {
      const TrsvPair *p = ilu->pair[pair / 2][pair % 2];

      if (p) bytes += p->forward.plan->bytes + p->backward.plan->bytes + sizeof(double) * (size_t)p->rows;
    }
    Expect(info.plan_bytes == bytes, "plans have %zu bytes, not %zu", info.plan_bytes, bytes);
    CheckLeaving(ilu, "on the host from now on");
    TrsvIluDestroy(&ilu);
  }
  TrsvDeviceFree(given);
  FreeSquare(&A);
  Expect(!SimtLive(), "%zu allocations left", SimtLive());
  End();
}

/* The cases in which the host factors, and the reason that is reported. */
static void CheckHostReasons(void)
{
  static const struct {
    const char    *why;
    TrsvIluRequest request;
    int            apart, structure, none;
  } cases[] = {
    {"requested", {.place = TRSV_PLACE_HOST}, 0, 0, 0},
    {"there are levels of fill", {.fill_levels = 1}, 0, 0, 0},
    {"rows and columns have different orders", {.fill_levels = 0}, 1, 0, 0},
    {"row 3", {.fill_levels = 0}, 0, 1, 0},
    {"the matrix is not stored in compressed sparse rows", {.fill_levels = 0}, 0, 0, 1},
  };

  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    Square         A       = MakeSquare(GRID_2D, 100, 1, TRSV_DOUBLE, 9);
    TrsvCSR        csr     = ViewOf(&A);
    TrsvIluRequest request = cases[c].request;
    int            row[100], column[100];
    TrsvIlu       *ilu;
    TrsvIluInfo    info;

    Begin("ilu: the host factors: %s", cases[c].why);
    request.precision = TRSV_DOUBLE;
    request.memory    = TRSV_DEVICE;
    request.timeout   = TRSV_TIMEOUT;
    for (int i = 0; i < 100; i++) row[i] = column[i] = i;
    if (cases[c].apart) {
      column[0]   = 1;
      column[1]   = 0;
      request.row = row, request.column = column;
    }
    if (cases[c].structure) A.columns[A.offsets[3]] = 1000;
    if (cases[c].none) csr.offsets = csr.columns = NULL;
    if (ExpectError(TrsvIluCreate(&request, 100, &csr, &ilu), TRSV_SUCCESS, "TrsvIluCreate")) {
      TrsvOutcome o;

      TrsvIluDescribe(ilu, &info);
      Expect(!info.on_device && strstr(info.host_reason, cases[c].why), "'%s'", info.host_reason);
      ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_ERR_ARGUMENT, "TrsvIluSetValues");
      ExpectError(TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL), TRSV_ERR_ARGUMENT,
                  "TrsvIluPrepare without triangles");
      TrsvIluDestroy(&ilu);
    }
    FreeSquare(&A);
    Expect(!SimtLive(), "%zu allocations left", SimtLive());
    End();
  }
}

/* After a failed allocation there is an error or the right answer, no memory is lost, and the object accepts values
   again. */
static void CheckFailures(TrsvOrderRequest order)
{
  Square               A       = MakeSquare(GRID_2D, 256, 1, TRSV_DOUBLE, 9);
  TrsvCSR              csr     = ViewOf(&A);
  const TrsvIluRequest request = {.kind      = TRSV_ILU,
                                  .precision = TRSV_DOUBLE,
                                  .memory    = TRSV_DEVICE,
                                  .place     = TRSV_PLACE_DEVICE,
                                  .timeout   = TRSV_TIMEOUT,
                                  .order     = order};
  int                  errors  = 0;

  Begin("ilu: fails anywhere, order %d", (int)order);
  for (long k = 1, failed = 1; failed; k += Reduced() ? 23 : 5) {
    const size_t live = SimtLive();
    const long   held = HeldOnHost();
    TrsvIlu     *ilu  = NULL;
    TrsvOutcome  o    = {-1, 0, 0, 0};
    TrsvError    error;

    SimtFailAt(k, 0);
    error = TrsvIluCreate(&request, A.rows, &csr, &ilu);
    Expect(!error == !!ilu, "place %ld: error %d, object %p", k, (int)error, (void *)ilu);
    if (!error) error = TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL);
    if (!error) error = TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL);
    if (!error) error = TrsvIluPrepare(ilu, TRSV_DEVICE, 1, NULL, NULL);
    if (!error) error = TrsvIluPrepare(ilu, TRSV_HOST, 0, NULL, NULL);
    if (!error) error = TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL);
    failed = SimtFailed();
    SimtFailAt(0, 0);
    errors += error != TRSV_SUCCESS;
    Expect(!error || error == TRSV_ERR_MEMORY || error == TRSV_ERR_DEVICE, "place %ld: error %d: %s", k, (int)error,
           TrsvErrorMessage());
    if (ilu) {
      ExpectError(TrsvIluSetValues(ilu, csr.values, &Plain, &o, NULL), TRSV_SUCCESS,
                  "TrsvIluSetValues after a failure");
      CheckAll(ilu, &A, TRSV_ILU, "after a failure");
    }
    TrsvIluDestroy(&ilu);
    Expect(SimtLive() == live, "place %ld: %zu allocations instead of %zu", k, SimtLive(), live);
    Expect(HeldOnHost() == held, "place %ld: %ld allocations of the host are left", k, HeldOnHost() - held);
  }
  Expect(errors > (Reduced() ? 1 : 5), "%d errors", errors);
  FreeSquare(&A);
  End();
}

void TestIlu(void)
{
  TestIluStreams();
  CheckLife(GRID_2D, TRSV_ILU, TRSV_ORDER_GIVEN, NULL, "a grid");
  CheckLife(GRID_2D, TRSV_ICC, TRSV_ORDER_GIVEN, "chunk", "a grid, icc, by chunk");
  CheckLife(GRID_2D, TRSV_ILU, TRSV_ORDER_MULTICOLOR, NULL, "a grid in the multicolor order");
  CheckLife(GRID_2D, TRSV_ICC, TRSV_ORDER_AUTO, NULL, "a grid, icc, in the order that is chosen");
  CheckLife(GRID_2D, TRSV_ILU, TRSV_ORDER_GIVEN, "thread", "a grid, thread-level");
  CheckLife(DIAGONAL, TRSV_ILU, TRSV_ORDER_GIVEN, "thread", "a diagonal, thread-level: in one launch");
  CheckLife(RANDOM, TRSV_ILU, TRSV_ORDER_GIVEN, NULL, "at random, in an order that is given");
  CheckLife(RANDOM, TRSV_ICC, TRSV_ORDER_MULTICOLOR, NULL, "at random, icc, multicolor");
  CheckLife(CHAIN, TRSV_ILU, TRSV_ORDER_AUTO, NULL, "a chain");
  CheckHostReasons();
  for (int order = TRSV_ORDER_GIVEN; order <= TRSV_ORDER_AUTO; order++) CheckFailures((TrsvOrderRequest)order);
}
