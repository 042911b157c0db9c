/*
   full: set-ups on a device whose memory is nearly full: an error or the right answer, and nothing is lost.

     full [-rows N] [-o FILE.jsonl]

   Other memory of the process leaves so many megabytes at a time; then each way (ways.c) makes a plan of a triangle of
   N rows (300,000), or of a pair of them, takes values and solves; and an incomplete factorization is made and solved
   with (trsv.h). After an error, all that was taken is given back, and with room again everything works. The first
   round comes before any kernel has been loaded.
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
} done;

/* Memory that somebody else has. */
struct Filler {
  std::vector<void *> pieces;

  void Leave(size_t bytes)
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

/* An error that memory explains; all others are failures. */
static void Tell(TrsvError error, int ok, size_t held, const char *where)
{
  done.tries++;
  if (!error) done.right += ok;
  else if (error == TRSV_ERR_MEMORY || error == TRSV_ERR_DEVICE) done.errors++;
  else Fail(where, "error %d: %s", (int)error, TrsvErrorMessage());
  if (TrsvDeviceHeld() != held) Fail(where, "%zu bytes of the device are not given back", TrsvDeviceHeld() - held);
  (void)cudaGetLastError();
}

/* One solve; what comes out is compared by the caller. x: of the host. */
static TrsvError Solve(const Way &w, const Case &L, const Case &U, void *b, void *x, void *host)
{
  const int     rows     = L.dag->view.rows;
  TrsvAnalysis *analysis = NULL;
  TrsvPlan     *plan     = NULL;
  TrsvPair     *pair     = NULL;
  TrsvError     error    = w.pair ? WayPair(&w, &L.device, &U.device, NULL, NULL, &pair) :
                                    TrsvAnalyze(&L.device, &analysis);

  if (!error && !w.pair) error = WayPlan(&w, &L.device, analysis, NULL, L.dag->offsets[rows], &plan);
  if (!error)
    error = w.pair ? TrsvPairSetValues(pair, L.device_values, U.device_values, TRSV_DEVICE, NULL) :
                     TrsvPlanSetValues(plan, L.device_values, TRSV_DEVICE, NULL);
  if (!error) error = w.pair ? TrsvPairSolve(pair, b, x, NULL) : TrsvPlanSolve(plan, b, x, NULL);
  if (!error) error = TrsvDeviceDownload(host, x, sizeof(double) * (size_t)rows, NULL);
  TrsvAnalysisDestroy(&analysis);
  TrsvPlanDestroy(&plan);
  TrsvPairDestroy(&pair);
  return error;
}

static int Near(size_t n, const double *x, const double *reference, const char *where)
{
  double most = 0, largest = 0;

  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(reference[i]));
    if (!(fabs(x[i] - reference[i]) <= most)) most = fabs(x[i] - reference[i]);
  }
  if (most <= 1e-10 * largest) return 1;
  Fail(where, "%g from what it should be", most / largest);
  return 0;
}

/* Where values, pattern and vectors are. */
struct Setting {
  Dag                 l, u;
  Case                L, U;
  TrsvCSR             A = {};
  double             *b, *x;
  std::vector<double> host, reference; /* reference: of the factorization, with room for everything */

  explicit Setting(int rows) : host((size_t)rows)
  {
    Seed seed = 21;

    l = DagMake(&seed, "scattered", rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    u = DagMake(&seed, "scattered", rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
    CaseMake(&L, &l, NULL);
    CaseMake(&U, &u, L.x);
    b = (double *)Upload(L.b, sizeof(double) * (size_t)rows);
    x = (double *)Upload(L.b, sizeof(double) * (size_t)rows);
    Both(rows);
  }
  /* The matrix with both triangles, and a diagonal that outweighs them. */
  void Both(int rows)
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

static TrsvError Factor(Setting &s, TrsvOrderRequest order)
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

static TrsvError Factored(Setting &s, size_t held, const char *where)
{
  const TrsvError error = Factor(s, TRSV_ORDER_GIVEN);
  int             ok    = 0;

  if (!error && s.reference.empty()) s.reference = s.host;
  if (!error) ok = Near(s.host.size(), s.host.data(), s.reference.data(), where);
  Tell(error, ok, held, where);
  return error;
}

/* Every way once; `left`: megabytes that are left to it, 0: as many as it wants, and no error is one that memory
   explains. */
static void All(Setting &s, size_t left)
{
  Filler filler;

  for (int k = 0; k <= WayCount(); k++) {
    const size_t held = TrsvDeviceHeld();
    Seed         none = 0;
    const Way    w    = WayGet(k < WayCount() ? k : 0, &none);
    char         where[160];
    TrsvError    error;

    (void)snprintf(where, sizeof(where), "%s, %zu MB left", k < WayCount() ? w.name : "factorization", left);
    TrsvDeviceFinalize(); /* its pool keeps nothing for later */
    if (left) filler.Leave(left * MB);
    if (k == WayCount()) error = Factored(s, held, where);
    else {
      error = Solve(w, s.L, s.U, s.b, s.x, s.host.data());
      if (error == TRSV_ERR_UNSUPPORTED) continue;
      const int ok = !error && Near(s.host.size(), s.host.data(), (double *)(w.pair ? s.U.x : s.L.x), where);
      Tell(error, ok, held, where);
    }
    if (error && !left) Fail(where, "%s", TrsvErrorMessage());
  }
}

int main(int count, char **args)
{
  static const size_t lefts[] = {4, 4, 12, 30, 60, 120, 250};
  const double        start   = TrsvSeconds();
  const long          fewest  = 10;
  Setting             s((int)Number(count, args, "rows", 300000));

  for (size_t left : lefts) {
    const long right = done.right, errors = done.errors;

    All(s, left);
    printf("%4zu MB left: %ld right, %ld errors\n", left, done.right - right, done.errors - errors);
    fflush(stdout);
    if (left == lefts[0]) { /* with room again */
      All(s, 0);
      printf("   all there is: %ld right\n", done.right - right);
    }
  }
  if (done.right < fewest || done.errors < fewest) Fail("full", "%ld right and %ld errors", done.right, done.errors);
  All(s, 0);
  printf("full: %ld tries, %ld errors, %ld right in %.0f s: %ld wrong\n", done.tries, done.errors, done.right,
         TrsvSeconds() - start, failures);
  Result(count, args, "\"what\": \"full\", \"tries\": %ld, \"errors\": %ld, \"right\": %ld, \"seconds\": %.0f, "
         "\"wrong\": %ld", done.tries, done.errors, done.right, TrsvSeconds() - start, failures);
  return failures > 0;
}
