/*
   repeats: repeats every ordering, factorization and solve on the device, and compares the bits.

     repeats [-n TIMES] [-p double|float] [-o FILE.jsonl] MATRIX...

   A matrix (matrices.h) is a pattern, which gets a full diagonal and seeded values. For each matrix the program repeats

     - the ordering multicolor;
     - ILU(0) and ICC(0) in both orders, with every number of lanes for a row and every shift;
     - solves with the lower and the upper triangle, by every algorithm of the table and with the settings below;
     - solves with L and then U of the ILU(0) in multicolor order, b and x in the matrix's own, as PCApply has them.

   full:N is a dense triangle, solved by every form of that; order:MATRIX is the ordering alone.

   Each is repeated TIMES times (default: 1,000; orderings a tenth of that). The result goes to poisoned memory and must
   have the bits of the first; an ordering must be the host's. The program prints which settings an algorithm refuses.
   The bits of some algorithms vary by design: they show that the comparison sees a difference, and do not count. Over
   the SIMT executor (make simt-repeats) each time has another schedule.

   Each result is a JSON object, a line of FILE, and a line of standard output. The exit status is 1 if bits differ or
   something fails.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "papers/dense/dense.h"
#include "ordering/multicolor.h"
#include "factor/factor.h"
#include "papers/settings.h"
#include "solve/chunk/chunk.h"
#include "matrices.h"
#include "repeat.h"

static const struct {
  const char *algorithm, *settings;
  int         rank;
} candidates[] = {
  {"thread", NULL, 0},
  {"thread", NULL, 1},
  {"warp", NULL, 0},
  {"sell", NULL, 0},
  {"chunk", NULL, 0},
  {"chunk", NULL, 1},
  {"chunk", NULL, 2},
  {"chunk", NULL, 3},
  {"chunk", NULL, 4},
  {"level", NULL, 0},
  {"twophase", NULL, 0},
  {"fusion", NULL, 0},
  {"ag", NULL, 0},
  {"ag", "scheme=nw:4,ng:1,sw_rnnz:inf,natural,merge_fixed:32,rg_sequential,ws_hardware,alpha:inf", 0},
  {"ag", "scheme=nw:4,ng:4,sw_rnnz:4,reorder,merge_thresh:4,rg_sequential,ws_hardware,alpha:inf", 0},
  {"ag", "scheme=nw:32,ng:1,sw_rnnz:8,reorder,merge_avg:8,rg_sequential,ws_balance,alpha:inf", 0},
  {"ag", "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_balance,ws_balance,alpha:inf", 0},
  {"ag", "scheme=nw:32,ng:8,sw_rnnz:0,natural,merge_fixed:1,rg_sequential,ws_locality,alpha:inf", 0},
  {"ag", "scheme=nw:32,ng:8,sw_rnnz:0,reorder,merge_fixed:1,rg_sequential,ws_rr,alpha:2", 0},
  {"recblock", "depth=1", 0},
  {"recblock", "depth=4", 0},
  {"recblock", "depth=4 thresholds=fitted", 0},
  {"recblock", "type=column depth=3", 0},
  {"recblock", "type=row depth=3", 0},
  {"dense", NULL, 0},
  {"dense", "form=simple", 0},
  {"csc", NULL, 0},
};

static const char *const placed[] = {"thread", "sell", "warp", "chunk"};

static const TrsvPivots pivots[] = {
  {TRSV_SHIFT_NONE, 0, 1e-13},
  {TRSV_SHIFT_NONZERO, 1e-3, 1e-13},
  {TRSV_SHIFT_POSITIVE_DEFINITE, 1e-3, 1e-13},
  {TRSV_SHIFT_INBLOCKS, 1e-3, 1e-13},
};

static int times = 1000;

typedef struct {
  int           rows;
  const int    *offsets, *columns;
  const double *values;
  int          *order; /* gets the ordering */
} Ordering;

static TrsvError OrderOnce(void *data)
{
  const Ordering *o = data;
  TrsvOrdering   *made;
  TrsvError       error;

  TrsvCall(TrsvOrderMulticolor(o->rows, o->offsets, o->columns, o->values, TRSV_DEVICE, &made));
  error = TrsvDeviceCopy(o->order, made->order, sizeof(int) * (size_t)made->rows, NULL);
  if (!error) error = TrsvDeviceSynchronize();
  TrsvOrderingDestroy(&made);
  return error;
}

/* Against the one that is made on the host */
static void Orderings(const char *name, Ordering o)
{
  const size_t  bytes    = sizeof(int) * (size_t)o.rows;
  int          *expected = Must(malloc(bytes + 1));
  Repeat        r        = {.matrix   = name,
                            .what     = "ordering bmc, as made on the host",
                            .times    = times > 20 ? times / 10 : times,
                            .once     = OrderOnce,
                            .data     = &o,
                            .poisoned = 1,
                            .result   = {{o.order, bytes}},
                            .expected = expected};
  TrsvOrdering *host;
  TrsvError     error;

  error = TrsvOrderByHost(o.rows, o.offsets, o.columns, o.values, &host);
  if (!error) error = TrsvDeviceDownload(expected, host->order, bytes, NULL);
  if (error) Refused(name, r.what, error);
  else Run(&r);
  TrsvOrderingDestroy(&host);
  free(expected);
}

typedef struct {
  TrsvFactor       *f;
  const void       *values;
  const TrsvPivots *pivots;
  TrsvPlan         *lower; /* by which it finds pivots, or NULL */
} Factoring;

static TrsvError FactorOnce(void *data)
{
  const Factoring *f = data;
  TrsvOutcome      outcome;

  TrsvCall(TrsvFactorSetValues(f->f, f->lower, NULL, f->values, f->pivots, &outcome, NULL));
  return outcome.row < 0
         ? TRSV_SUCCESS
         : TrsvFail(TRSV_ERR_UNSUPPORTED, "a zero pivot in row %d", outcome.row); /* what it leaves is of no use */
}

static TrsvFactor *FactorMake(const Square *A, const int *order, TrsvFactorKind kind, int lanes)
{
  TrsvFactor *f;
  int         row;

  TrsvFactorForcedLanes = lanes;
  Need(TrsvFactorCreate(A->rows, A->device_offsets, A->device_columns, order, TRSV_DEVICE, kind, precision, &f, &row));
  TrsvFactorForcedLanes = 0;
  Need(TrsvFactorAllocateValues(f, NULL, NULL)); /* where values go stays as it is from now on */
  return f;
}

/* A plan of the algorithm chunk for L, which finds the pivots of a grid. */
static TrsvPlan *FactorPlan(const TrsvFactor *f)
{
  TrsvMatrix L, U;
  TrsvPlan  *plan;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  Need(TrsvPlanCreate(&L, L.analysis, NULL, f->lower, &TrsvChunkPlain, &plan));
  return plan;
}

static void Factors(const Square *A, const int *order)
{
  static const int         lanes[]  = {0, 4, 8, 16, 32};
  static const char *const shifts[] = {"no", "nonzero", "positive definite", "in blocks"};

  for (int kind = 0; kind < 2; kind++)
    for (int ordered = 0; ordered < 2; ordered++)
      for (int k = 0; k < 6; k++) { /* the last: by a plan */
        Factoring   f = {FactorMake(A, ordered ? order : NULL, kind ? TRSV_ICC : TRSV_ILU, k < 5 ? lanes[k] : 0), NULL,
                         NULL, NULL};
        TrsvMatrix  L, U;
        const void *l, *u;

        TrsvFactorTriangles(f.f, &L, &U, &l, &u);
        if (k == 5) f.lower = FactorPlan(f.f);
        for (int p = 0; p < (k ? 1 : 4); p++) {
          Repeat r = {.matrix = A->name,
                      .times  = times,
                      .once   = FactorOnce,
                      .data   = &f,
                      .result = {{l, TrsvValueSize(precision) * (size_t)f.f->lower},
                                 {u, TrsvValueSize(precision) * (size_t)f.f->upper}}};

          f.values = p ? A->device_weak : A->device_values;
          f.pivots = &pivots[p];
          (void)snprintf(r.what, sizeof(r.what), "%s, %s order, %s%d lanes%s, %s shift", kind ? "ICC" : "ILU",
                         ordered ? "bmc" : "natural", k ? "" : "its own ", f.f->lanes_per_row,
                         f.lower ? " and a plan" : "", shifts[p]);
          Run(&r);
        }
        TrsvPlanDestroy(&f.lower);
        TrsvFactorDestroy(&f.f);
      }
}

typedef struct {
  TrsvPlan   *plan;
  const void *b;
  void       *x;
} Solving;

static TrsvError SolveOnce(void *data)
{
  const Solving *s = data;

  return TrsvPlanSolve(s->plan, s->b, s->x, NULL);
}

static void Solves(const char *name, const Triangle *t, const void *b, void *x)
{
  const size_t  n = (size_t)t->matrix.rows, nnz = (size_t)t->offsets[n];
  void         *values = UploadNumbers(t->values, nnz);
  TrsvMatrix    T      = t->matrix;
  TrsvAnalysis *analysis;

  T.memory    = TRSV_DEVICE;
  T.precision = precision;
  T.offsets   = Upload(t->offsets, sizeof(int) * (n + 1));
  T.columns   = Upload(t->columns, sizeof(int) * nnz);
  Need(TrsvAnalyze(&T, &analysis));
  for (size_t c = 0; c < sizeof(candidates) / sizeof(candidates[0]); c++) {
    const TrsvAlgorithm *a = TrsvAlgorithmFind(candidates[c].algorithm);
    Solving              s = {NULL, b, x};
    Repeat               r = {.matrix   = name,
                              .times    = times,
                              .vary     = TrsvAlgorithmBitsVary(a),
                              .once     = SolveOnce,
                              .data     = &s,
                              .poisoned = 1,
                              .result   = {{x, TrsvValueSize(precision) * n}}};
    TrsvError            error;

    (void)snprintf(r.what, sizeof(r.what), "%s by %s %s", T.triangle == TRSV_LOWER ? "lower" : "upper",
                   candidates[c].algorithm, candidates[c].settings ? candidates[c].settings : "");
    if (candidates[c].rank)
      (void)snprintf(r.what + strlen(r.what), sizeof(r.what) - strlen(r.what), "rank=%d", candidates[c].rank);
    TrsvSettingsRequest(candidates[c].settings);
    error = TrsvPlanCreatePlaced(&T, analysis, NULL, (int)nnz, NULL, a, candidates[c].rank, &s.plan);
    TrsvSettingsRequest(NULL);
    if (!error) error = TrsvPlanSetValues(s.plan, values, TRSV_DEVICE, NULL);
    if (!error) Run(&r);
    else if (error != TRSV_ERR_UNSUPPORTED || !candidates[c].rank)
      Refused(name, r.what, error); /* not: there are not so many ranks */
    TrsvPlanDestroy(&s.plan);
  }
  TrsvAnalysisDestroy(&analysis);
  TrsvDeviceFree((void *)T.offsets);
  TrsvDeviceFree((void *)T.columns);
  TrsvDeviceFree(values);
}

typedef struct {
  TrsvPair   *pair;
  const void *b;
  void       *x;
} Applying;

static TrsvError ApplyOnce(void *data)
{
  const Applying *p = data;

  return TrsvPairSolve(p->pair, p->b, p->x, NULL);
}

/* L and then U in multicolor order, by the algorithms that take b and x in the matrix's own. */
static void Applies(const Square *A, const int *order, const void *b, void *x)
{
  TrsvFactor *f = FactorMake(A, order, TRSV_ILU, 0);
  TrsvMatrix  L, U;
  TrsvOutcome outcome;
  const void *l, *u;

  Need(TrsvFactorSetValues(f, NULL, NULL, A->device_values, &pivots[0], &outcome, NULL));
  TrsvFactorTriangles(f, &L, &U, &l, &u);
  for (size_t c = 0; c < sizeof(placed) / sizeof(placed[0]); c++) {
    const TrsvAlgorithm *const named = TrsvAlgorithmFind(placed[c]);
    Applying                   p     = {NULL, b, x};
    Repeat                     r     = {.matrix   = A->name,
                                        .times    = times,
                                        .once     = ApplyOnce,
                                        .data     = &p,
                                        .poisoned = 1,
                                        .result   = {{x, TrsvValueSize(precision) * (size_t)A->rows}}};
    TrsvError                  error;

    (void)snprintf(r.what, sizeof(r.what), "L and U in bmc order by %s", placed[c]);
    error = TrsvPairCreate(&L, &U, f->order, f->order, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, named, named, NULL, &p.pair);
    if (!error) error = TrsvPairSetValues(p.pair, l, u, TRSV_DEVICE, NULL);
    if (error) Refused(A->name, r.what, error);
    else Run(&r);
    TrsvPairDestroy(&p.pair);
  }
  TrsvFactorDestroy(&f);
}

typedef struct {
  TrsvDense  *dense;
  const void *values, *b;
  void       *x;
  int         rows;
} Densely;

/* With the values anew: what they become is part of it. */
static TrsvError DenseOnce(void *data)
{
  const Densely *d = data;

  TrsvCall(TrsvDenseSetValues(d->dense, d->values, d->rows, NULL));
  return TrsvDenseSolve(d->dense, d->b, d->x, NULL);
}

static void Dense(int rows)
{
  static const char *const names[] = {"blocks", "doubling", "simple", "pairs"};
  const size_t             n       = (size_t)rows;
  double                  *values = Must(malloc(sizeof(double) * n * n)), *b = Must(malloc(sizeof(double) * n));
  unsigned long long       seed = 9;
  char                     name[32];
  Densely                  d = {.rows = rows};

  for (size_t k = 0; k < n * n; k++)
    values[k] = k / n == k % n ? 1 + RandomUniform(&seed) : (2 * RandomUniform(&seed) - 1) / (double)(k % n + 1);
  for (size_t i = 0; i < n; i++) b[i] = RandomUniform(&seed) - 0.5;
  (void)snprintf(name, sizeof(name), "dense:%d", rows);
  d.values = UploadNumbers(values, n * n);
  d.b      = UploadNumbers(b, n);
  d.x      = UploadNumbers(b, n);
  for (int form = 0; form < 4; form++)
    for (int launches = 0; launches < 2; launches++) {
      const TrsvDenseSettings settings = {(TrsvDenseForm)form, 0, launches};
      Repeat                  r        = {.matrix   = name,
                                          .times    = times,
                                          .once     = DenseOnce,
                                          .data     = &d,
                                          .poisoned = 1,
                                          .result   = {{d.x, TrsvValueSize(precision) * n}}};
      TrsvError               error;

      if (form == TRSV_DENSE_BLOCKS && launches) continue;
      (void)snprintf(r.what, sizeof(r.what), "a dense triangle, %s%s", names[form],
                     launches ? ", a launch for each step" : "");
      error = TrsvDenseCreate(rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, precision, &settings, &d.dense);
      if (error) Refused(name, r.what, error);
      else Run(&r);
      TrsvDenseDestroy(&d.dense);
    }
  TrsvDeviceFree((void *)d.values);
  TrsvDeviceFree((void *)d.b);
  TrsvDeviceFree(d.x);
  free(values);
  free(b);
}

/* The ordering alone, in the matrix's own values where it has any. */
static void Order(const char *name, const Matrix *M)
{
  const size_t n = (size_t)M->rows, nnz = (size_t)M->offsets[M->rows];
  Ordering     o = {M->rows, Upload(M->offsets, sizeof(int) * (n + 1)), Upload(M->columns, sizeof(int) * nnz),
                M->values ? Upload(M->values, sizeof(double) * nnz) : NULL, NULL};

  Need(TrsvDeviceAlloc(sizeof(int) * n, &o.order));
  Orderings(name, o);
  TrsvDeviceFree((void *)o.offsets);
  TrsvDeviceFree((void *)o.columns);
  TrsvDeviceFree((void *)o.values);
  TrsvDeviceFree(o.order);
}

static void RepeatAll(const char *name, const Matrix *M)
{
  unsigned long long seed  = 3;
  Square             A     = SquareMake(name, M);
  double            *right = Must(malloc(sizeof(double) * ((size_t)A.rows + 1)));
  void              *b, *x;
  int               *order;

  for (int i = 0; i < A.rows; i++) right[i] = RandomUniform(&seed) - 0.5;
  b = UploadNumbers(right, (size_t)A.rows);
  x = UploadNumbers(right, (size_t)A.rows);
  Need(TrsvDeviceAlloc(sizeof(int) * (size_t)A.rows, &order));
  Orderings(name, (Ordering){A.rows, A.device_offsets, A.device_columns,
                             precision == TRSV_DOUBLE ? A.device_values : NULL, order});
  Factors(&A, order);
  Applies(&A, order, b, x);
  for (int upper = 0; upper < 2; upper++) {
    Triangle t;

    if (TriangleMake(M, upper ? TRSV_UPPER : TRSV_LOWER, 0, &t)) continue;
    Solves(name, &t, b, x);
    TriangleFree(&t);
  }
  TrsvDeviceFree(b);
  TrsvDeviceFree(x);
  TrsvDeviceFree(order);
  free(right);
  SquareFree(&A);
}

static void Argument(const char *what)
{
  const int   order = !strncmp(what, "order:", 6);
  const char *slash = strrchr(what, '/');
  char        name[128];
  int         rows;
  Matrix      M;

  if (sscanf(what, "full:%d", &rows) == 1) {
    Dense(rows);
    return;
  }
  if (order) what += 6;
  if (MatrixMake(what, &M)) {
    wrong++;
    return;
  }
  (void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : what);
  if (strstr(name, ".mtx")) *strstr(name, ".mtx") = 0;
  if (order) Order(name, &M);
  else RepeatAll(name, &M);
  MatrixFree(&M);
}

int main(int count, char **args)
{
  int i = 1;

  for (; i + 1 < count && args[i][0] == '-'; i += 2) {
    if (!strcmp(args[i], "-n")) times = atoi(args[i + 1]);
    else if (!strcmp(args[i], "-p")) precision = strcmp(args[i + 1], "float") ? TRSV_DOUBLE : TRSV_FLOAT;
    else if (!strcmp(args[i], "-o")) json = fopen(args[i + 1], "a");
    else break;
  }
  if (i >= count || args[i][0] == '-' || times < 2) {
    fprintf(stderr, "repeats [-n TIMES] [-p double|float] [-o FILE.jsonl] MATRIX...\n");
    return 2;
  }
  for (; i < count; i++) Argument(args[i]);
  if (json) fclose(json);
  printf("%d wrong\n", wrong);
  return wrong > 0;
}
