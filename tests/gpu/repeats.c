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
#include "factor/factor.h"
#include "papers/settings.h"
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

static const char *const placed[] = {"thread", "sell", "warp", "chunk"}; /* these permute b and x themselves */

typedef struct {
  TrsvPlan   *plan;
  const void *b;
  void       *x;
} SolveData;

static TrsvError SolveOnce(void *data)
{
  const SolveData *s = data;

  return TrsvPlanSolve(s->plan, s->b, s->x, NULL);
}

static void RepeatSolves(const char *name, const Triangle *t, const void *b, void *x)
{
  const size_t  n = (size_t)t->matrix.rows, nnz = (size_t)t->offsets[n];
  void         *values = UploadNumbers(t->values, nnz);
  TrsvMatrix    T      = t->matrix;
  TrsvAnalysis *analysis;

  T.memory    = TRSV_DEVICE;
  T.precision = precision;
  T.offsets   = Upload(t->offsets, sizeof(int) * (n + 1));
  T.columns   = Upload(t->columns, sizeof(int) * nnz);
  CheckError(TrsvAnalyze(&T, &analysis));
  for (size_t c = 0; c < sizeof(candidates) / sizeof(candidates[0]); c++) {
    const TrsvAlgorithm *a = TrsvAlgorithmFind(candidates[c].algorithm);
    SolveData            s = {NULL, b, x};
    Repeat               r = {.matrix   = name,
                              .times    = times,
                              .vary     = (a->traits & TRSV_BITS_VARY) != 0,
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
    error = TrsvPlanCreate(&T, analysis, NULL, (int)nnz, NULL, a, candidates[c].rank, &s.plan);
    TrsvSettingsRequest(NULL);
    if (!error) error = TrsvPlanSetValues(s.plan, values, TRSV_DEVICE, NULL);
    if (!error) RunRepeat(&r);
    else if (error != TRSV_ERR_UNSUPPORTED || !candidates[c].rank)
      ReportRefused(name, r.what, error); /* otherwise there are not so many ranks */
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
} PairData;

static TrsvError SolvePairOnce(void *data)
{
  const PairData *p = data;

  return TrsvPairSolve(p->pair, p->b, p->x, NULL);
}

/* L and then U in multicolor order, with b and x in the matrix's order, by algorithms that permute. */
static void RepeatPairs(const Square *A, const int *order, const void *b, void *x)
{
  const TrsvPivots without_shift = {TRSV_SHIFT_NONE, 0, 1e-13};
  TrsvFactor      *f             = MakeFactor(A, order, TRSV_ILU, 0);
  TrsvMatrix       L, U;
  TrsvOutcome      outcome;
  const void      *l, *u;

  CheckError(TrsvFactorSetValues(f, NULL, NULL, A->device_values, &without_shift, &outcome, NULL));
  TrsvFactorTriangles(f, &L, &U, &l, &u);
  for (size_t c = 0; c < sizeof(placed) / sizeof(placed[0]); c++) {
    const TrsvAlgorithm *const named = TrsvAlgorithmFind(placed[c]);
    PairData                   p     = {NULL, b, x};
    Repeat                     r     = {.matrix   = A->name,
                                        .times    = times,
                                        .once     = SolvePairOnce,
                                        .data     = &p,
                                        .poisoned = 1,
                                        .result   = {{x, TrsvValueSize(precision) * (size_t)A->rows}}};
    TrsvError                  error;

    (void)snprintf(r.what, sizeof(r.what), "L and U in multicolor order by %s", placed[c]);
    error = TrsvPairCreate(&L, &U, f->order, f->order, 0, TRSV_DEVICE, TRSV_SELECT_MODEL, named, named, &p.pair);
    if (!error) error = TrsvPairSetValues(p.pair, l, u, TRSV_DEVICE, NULL);
    if (error) ReportRefused(A->name, r.what, error);
    else RunRepeat(&r);
    TrsvPairDestroy(&p.pair);
  }
  TrsvFactorDestroy(&f);
}

typedef struct {
  TrsvDense  *dense;
  const void *values, *b;
  void       *x;
  int         rows;
} DenseData;

/* Sets the values again, so that inverses are part of the result. */
static TrsvError DenseOnce(void *data)
{
  const DenseData *d = data;

  TrsvCall(TrsvDenseSetValues(d->dense, d->values, d->rows, NULL));
  return TrsvDenseSolve(d->dense, d->b, d->x, NULL);
}

static void RepeatDense(int rows)
{
  static const char *const names[] = {"blocks", "doubling", "simple", "pairs"};
  const size_t             n       = (size_t)rows;
  double            *values = CheckMemory(malloc(sizeof(double) * n * n)), *b = CheckMemory(malloc(sizeof(double) * n));
  unsigned long long seed = 9;
  char               name[32];
  DenseData          d = {.rows = rows};

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
      if (error) ReportRefused(name, r.what, error);
      else RunRepeat(&r);
      TrsvDenseDestroy(&d.dense);
    }
  TrsvDeviceFree((void *)d.values);
  TrsvDeviceFree((void *)d.b);
  TrsvDeviceFree(d.x);
  free(values);
  free(b);
}

static void RepeatMatrix(const char *name, const Matrix *M)
{
  unsigned long long seed  = 3;
  Square             A     = MakeSquare(name, M);
  double            *right = CheckMemory(malloc(sizeof(double) * ((size_t)A.rows + 1)));
  void              *b, *x;
  int               *order;

  for (int i = 0; i < A.rows; i++) right[i] = RandomUniform(&seed) - 0.5;
  b = UploadNumbers(right, (size_t)A.rows);
  x = UploadNumbers(right, (size_t)A.rows);
  CheckError(TrsvDeviceAlloc(sizeof(int) * (size_t)A.rows, &order));
  RepeatOrdering(name, A.rows, A.device_offsets, A.device_columns, precision == TRSV_DOUBLE ? A.device_values : NULL,
                 order);
  RepeatFactors(&A, order);
  RepeatPairs(&A, order, b, x);
  for (int upper = 0; upper < 2; upper++) {
    Triangle t;

    if (TriangleMake(M, upper ? TRSV_UPPER : TRSV_LOWER, 0, &t)) continue;
    RepeatSolves(name, &t, b, x);
    TriangleFree(&t);
  }
  TrsvDeviceFree(b);
  TrsvDeviceFree(x);
  TrsvDeviceFree(order);
  free(right);
  FreeSquare(&A);
}

static void RunArgument(const char *what)
{
  const int   order = !strncmp(what, "order:", 6);
  const char *slash = strrchr(what, '/');
  char        name[128];
  int         rows;
  Matrix      M;

  if (sscanf(what, "full:%d", &rows) == 1) {
    RepeatDense(rows);
    return;
  }
  if (order) what += 6;
  if (MatrixMake(what, &M)) {
    wrong++;
    return;
  }
  (void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : what);
  if (strstr(name, ".mtx")) *strstr(name, ".mtx") = 0;
  if (order) RepeatOrderingAlone(name, &M);
  else RepeatMatrix(name, &M);
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
  for (; i < count; i++) RunArgument(args[i]);
  if (json) fclose(json);
  printf("%d wrong\n", wrong);
  return wrong > 0;
}
