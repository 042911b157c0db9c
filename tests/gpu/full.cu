/*
   full: set-ups on a device whose memory is nearly full: they give an error or the right answer, and lose no memory.

     full [-rows N] [-o FILE.jsonl]

   The program fills the memory but for so many megabytes. Then each way (ways.c) makes a plan of a triangle of N rows
   (300,000), or of a pair of triangles, sets values and solves; and an incomplete factorization (trsv.h) is made and
   solves. After an error all memory must be free again, and with enough memory everything must work. The first round
   runs before any kernel is loaded.
*/
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
#include "long.h"
#include "trsv.h"

static const size_t MB = (size_t)1 << 20;

static struct {
  long tries, errors, right;
} totals;

/* Memory that is not available to the set-ups. */
struct Filler {
  std::vector<void *> pieces;

  void LeaveFree(size_t bytes)
  {
    size_t left = DeviceBytesLeft();

    for (size_t piece = left; left > bytes && piece >= MB; left = DeviceBytesLeft()) {
      void *p;

      if (piece > left - bytes) piece = left - bytes;
      if (piece < MB) break;
      if (cudaMalloc(&p, piece) == cudaSuccess) pieces.push_back(p);
      else piece /= 2;
    }
    (void)cudaGetLastError();
  }
  void Free()
  {
    for (void *p : pieces) (void)cudaFree(p);
    pieces.clear();
  }
  ~Filler() { Free(); }
};

/* Counts an outcome. Errors other than those of memory are failures. */
static void CountOutcome(TrsvError error, int ok, size_t held, const char *where)
{
  totals.tries++;
  if (!error) totals.right += ok;
  else if (error == TRSV_ERR_MEMORY || error == TRSV_ERR_DEVICE) totals.errors++;
  else ReportFailure(where, "error %d: %s", (int)error, TrsvErrorMessage());
  if (TrsvDeviceHeld() != held)
    ReportFailure(where, "%zu bytes of the device are not given back", TrsvDeviceHeld() - held);
  (void)cudaGetLastError();
}

/* Makes a plan or a pair and solves once; copies x to host. */
static TrsvError SolveOnce(const Way &w, const Case &L, const Case &U, void *b, void *x, void *host)
{
  const int     rows     = L.dag->view.rows;
  TrsvAnalysis *analysis = NULL;
  TrsvPlan     *plan     = NULL;
  TrsvPair     *pair     = NULL;
  TrsvError error = w.pair ? WayPair(&w, &L.device, &U.device, NULL, NULL, &pair) : TrsvAnalyze(&L.device, &analysis);

  if (!error && !w.pair) error = WayPlan(&w, &L.device, analysis, NULL, L.dag->offsets[rows], &plan);
  if (!error)
    error = w.pair ? TrsvPairSetValues(pair, L.device_values, U.device_values, TRSV_DEVICE, NULL)
                   : TrsvPlanSetValues(plan, L.device_values, TRSV_DEVICE, NULL);
  if (!error) error = w.pair ? TrsvPairSolve(pair, b, x, NULL) : TrsvPlanSolve(plan, b, x, NULL);
  if (!error) error = TrsvDeviceDownload(host, x, sizeof(double) * (size_t)rows, NULL);
  TrsvAnalysisDestroy(&analysis);
  TrsvPlanDestroy(&plan);
  TrsvPairDestroy(&pair);
  return error;
}

static int CheckNear(size_t n, const double *x, const double *reference, const char *where)
{
  double most = 0, largest = 0;

  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(reference[i]));
    if (!(fabs(x[i] - reference[i]) <= most)) most = fabs(x[i] - reference[i]);
  }
  if (most <= 1e-10 * largest) return 1;
  ReportFailure(where, "%g from what it should be", most / largest);
  return 0;
}

/* Two triangles, a matrix, and vectors on the device. */
struct Setting {
  Dag                 l, u;
  Case                L, U;
  TrsvCSR             A = {};
  double             *b, *x;
  std::vector<double> host, reference; /* reference: the factorization's, with enough memory */

  explicit Setting(int rows) : host((size_t)rows)
  {
    Seed seed = 21;

    l = DagMake(&seed, "scattered", rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    u = DagMake(&seed, "scattered", rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    CaseMake(&L, &l, NULL);
    CaseMake(&U, &u, L.x);
    b = (double *)Upload(L.b, sizeof(double) * (size_t)rows);
    x = (double *)Upload(L.b, sizeof(double) * (size_t)rows);
    MakeMatrix(rows);
  }
  /* The matrix with both triangles and a dominant diagonal. */
  void MakeMatrix(int rows)
  {
    std::vector<int>    offsets(1, 0), columns;
    std::vector<double> values;

    for (int i = 0; i < rows; i++) {
      for (int k = l.offsets[i]; k < l.offsets[i + 1] - 1; k++)
        columns.push_back(l.columns[k]), values.push_back(l.values[k]);
      for (int k = u.offsets[i]; k < u.offsets[i + 1]; k++)
        columns.push_back(u.columns[k]), values.push_back(u.columns[k] == i ? 4 : u.values[k]);
      offsets.push_back((int)columns.size());
    }
    A.rows    = rows;
    A.offsets = (int *)Upload(offsets.data(), sizeof(int) * offsets.size());
    A.columns = (int *)Upload(columns.data(), sizeof(int) * columns.size());
    A.values  = Upload(values.data(), sizeof(double) * values.size());
  }
  ~Setting()
  {
    TrsvDeviceFree((void *)A.offsets);
    TrsvDeviceFree((void *)A.columns);
    TrsvDeviceFree((void *)A.values);
    TrsvDeviceFree(b);
    TrsvDeviceFree(x);
    CaseFree(&L);
    CaseFree(&U);
    DagFree(&l);
    DagFree(&u);
  }
};

static TrsvError FactorOnce(Setting &s, TrsvOrderRequest order)
{
  static const TrsvPivots none = {TRSV_SHIFT_NONE, 0, 1e-13};
  TrsvIluRequest          r    = {};
  TrsvIlu                *ilu  = NULL;
  TrsvOutcome             outcome;
  TrsvError               error;

  r.precision = TRSV_DOUBLE;
  r.memory    = TRSV_DEVICE;
  r.place     = TRSV_PLACE_DEVICE;
  r.order     = order;
  r.timeout   = TRSV_TIMEOUT;
  error       = TrsvIluCreate(&r, s.A.rows, &s.A, &ilu);
  if (!error) error = TrsvIluPrepare(ilu, TRSV_DEVICE, 0, NULL, NULL);
  if (!error) error = TrsvIluSetValues(ilu, s.A.values, &none, &outcome, NULL);
  if (!error) error = TrsvIluSolve(ilu, TRSV_DEVICE, 0, TRSV_SOLVE, s.b, s.x, NULL);
  if (!error) error = TrsvDeviceDownload(s.host.data(), s.x, sizeof(double) * s.host.size(), NULL);
  TrsvIluDestroy(&ilu);
  return error;
}

static TrsvError TestFactorization(Setting &s, size_t held, const char *where)
{
  const TrsvError error = FactorOnce(s, TRSV_ORDER_GIVEN);
  int             ok    = 0;

  if (!error && s.reference.empty()) s.reference = s.host;
  if (!error) ok = CheckNear(s.host.size(), s.host.data(), s.reference.data(), where);
  CountOutcome(error, ok, held, where);
  return error;
}

/* Every way once, with `left` megabytes of free memory; 0: with all memory, where every error is a failure. */
static void TestAllWays(Setting &s, size_t left)
{
  Filler filler;

  for (int k = 0; k <= WayCount(); k++) {
    const size_t held = TrsvDeviceHeld();
    Seed         none = 0;
    const Way    w    = WayGet(k < WayCount() ? k : 0, &none);
    char         where[160];
    TrsvError    error;

    (void)snprintf(where, sizeof(where), "%s, %zu MB left", k < WayCount() ? w.name : "factorization", left);
    TrsvDeviceFinalize(); /* frees the memory that the pool keeps */
    if (left) filler.LeaveFree(left * MB);
    if (k == WayCount()) error = TestFactorization(s, held, where);
    else {
      error = SolveOnce(w, s.L, s.U, s.b, s.x, s.host.data());
      if (error == TRSV_ERR_UNSUPPORTED) continue;
      const int ok = !error && CheckNear(s.host.size(), s.host.data(), (double *)(w.pair ? s.U.x : s.L.x), where);
      CountOutcome(error, ok, held, where);
    }
    if (error && !left) ReportFailure(where, "%s", TrsvErrorMessage());
  }
}

int main(int count, char **args)
{
  static const size_t lefts[] = {4, 4, 12, 30, 60, 120, 250};
  const double        start   = TrsvSeconds();
  const long          fewest  = 10;
  Setting             s((int)NumberArgument(count, args, "rows", 300000));

  for (size_t left : lefts) {
    const long right = totals.right, errors = totals.errors;

    TestAllWays(s, left);
    printf("%4zu MB left: %ld right, %ld errors\n", left, totals.right - right, totals.errors - errors);
    fflush(stdout);
    if (left == lefts[0]) { /* with room again */
      TestAllWays(s, 0);
      printf("   all there is: %ld right\n", totals.right - right);
    }
  }
  if (totals.right < fewest || totals.errors < fewest)
    ReportFailure("full", "%ld right and %ld errors", totals.right, totals.errors);
  TestAllWays(s, 0);
  printf("full: %ld tries, %ld errors, %ld right in %.0f s: %ld wrong\n", totals.tries, totals.errors, totals.right,
         TrsvSeconds() - start, failures);
  WriteResult(count, args,
              "\"what\": \"full\", \"tries\": %ld, \"errors\": %ld, \"right\": %ld, \"seconds\": %.0f, "
              "\"wrong\": %ld",
              totals.tries, totals.errors, totals.right, TrsvSeconds() - start, failures);
  return failures > 0;
}
