/*
   same: one plan solves very often, with the same bits each time; the memory of host and device does not grow.

     same [-solves N] [-seconds S] [-rows N] [-o FILE.jsonl]

   For each of the ways below: N solves (default: 1,000,000), or as many as S seconds (40) allow, of a triangle of N
   rows (4,000), or of a pair of triangles. Several right-hand sides take turns; each solution is compared with the
   first one bit for bit, on the device, and the first one with serial. Memory is measured after a hundredth of the
   solves, and after the last.
*/
#include <stdlib.h>
#include <string.h>
#include "long.h"
#ifdef TRSV_SIMT
  #include "executor.h"
#endif

/* rows: a fraction of -rows; triangles with many level sets take longer. */
static const struct {
  const char *way, *shape;
  double      rows;
  const char *settings; /* the plan's settings must contain this */
} ways[] = {
  {"chunk", "scattered", 1, "chunks="}, {"chunk, inverted", "band", 0.25, "blocks="}, {"sell", "scattered", 1, ""},
  {"thread", "scattered", 1, ""},       {"pair of thread", "scattered", 1, ""},
};

enum {
  AT_ONCE = 256,    /* launches of all right-hand sides before a wait */
  SLACK   = 1 << 20 /* bytes by which the C library's memory may grow */
};

typedef struct {
  size_t host, held, left;
} Memory;

static Memory MeasureMemory(void) { return (Memory){HostBytes(), TrsvDeviceHeld(), DeviceBytesLeft()}; }

/* Returns the number of solves. */
static long SolveRepeatedly(Subject *s, long solves, double limit, const char *where)
{
  const double start = TrsvSeconds();
  Seed         seed  = 7;
  Memory       early = {0}, late;
  TrsvError    error = TRSV_SUCCESS;
  long         n     = 0;

  for (; !error && n < solves && TrsvSeconds() - start < limit; n += SIDES) {
#ifdef TRSV_SIMT
    SimtSchedule((unsigned)n);
#endif
    error = SubjectSolve(s, &seed);
    if (!error && n / SIDES % AT_ONCE == 0) error = TrsvDeviceWait(NULL);
    if (!early.host && n >= solves / 100 && n >= AT_ONCE) early = MeasureMemory();
  }
  if (error) ReportFailure(where, "%s", TrsvErrorMessage());
  (void)SubjectCheck(s, where);
  late = MeasureMemory();
  if (early.host && (late.held != early.held || late.left < early.left))
    ReportFailure(where, "device memory: %zu bytes in use, %zu before; %zu left, %zu before", late.held, early.held,
                  late.left, early.left);
  if (early.host && late.host > early.host + SLACK)
    ReportFailure(where, "host memory: %zu bytes, %zu before", late.host, early.host);
  printf("%-16s %8ld solves in %5.1f s; of the device %zu bytes in use, of the host %zu, at first %zu\n", where, n,
         TrsvSeconds() - start, late.held, late.host, early.host);
  fflush(stdout);
  return n;
}

static TrsvPlan *MakePlan(const Way *w, const Case *c, const char *settings)
{
  TrsvAnalysis *analysis = NULL;
  TrsvPlan     *plan     = NULL;
  char          line[TRSV_SETTINGS];
  TrsvError     error = TrsvAnalyze(&c->device, &analysis);

  if (!error) error = WayPlan(w, &c->device, analysis, NULL, c->dag->offsets[c->dag->view.rows], &plan);
  if (!error) error = TrsvPlanSetValues(plan, c->device_values, TRSV_DEVICE, NULL);
  TrsvAnalysisDestroy(&analysis);
  if (error) ReportFailure(w->name, "%s", TrsvErrorMessage());
  else {
    TrsvPlanDescribe(plan, line, sizeof(line));
    if (!strstr(line, settings) || strstr(line, "blocks=1 ")) ReportFailure(w->name, "its settings are %s", line);
    return plan;
  }
  TrsvPlanDestroy(&plan);
  return NULL;
}

static TrsvPair *MakePair(const Way *w, const Case *L, const Case *U)
{
  TrsvPair *pair  = NULL;
  TrsvError error = WayPair(w, &L->device, &U->device, NULL, NULL, &pair);

  if (!error) error = TrsvPairSetValues(pair, L->device_values, U->device_values, TRSV_DEVICE, NULL);
  if (error) ReportFailure(w->name, "%s", TrsvErrorMessage());
  else {
    if (!pair->fused) ReportFailure(w->name, "not in one launch");
    return pair;
  }
  TrsvPairDestroy(&pair);
  return NULL;
}

static void TestWay(const Way *w, const char *shape, int rows, const char *settings, long solves, double limit,
                    long *done)
{
  Seed      seed = 3;
  Dag       l    = DagMake(&seed, shape, rows, TRSV_LOWER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
  Dag       u    = DagMake(&seed, shape, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, TRSV_DOUBLE);
  Case      L, U;
  Subject   s    = {0};
  TrsvPlan *plan = NULL;
  TrsvPair *pair = NULL;

  CaseMake(&L, &l, NULL);
  CaseMake(&U, &u, L.x);
  if (w->pair) pair = MakePair(w, &L, &U);
  else plan = MakePlan(w, &L, settings);
  if ((pair && SubjectMakePair(&s, pair, &U, L.b, NULL, w->name)) || (plan && SubjectMake(&s, &L, plan, w->name)))
    *done = SolveRepeatedly(&s, solves, limit, w->name);
  SubjectFree(&s);
  CaseFree(&L);
  CaseFree(&U);
  DagFree(&l);
  DagFree(&u);
}

int main(int count, char **args)
{
  const long   solves = (long)NumberArgument(count, args, "solves", 1e6);
  const double limit = NumberArgument(count, args, "seconds", 40), rows = NumberArgument(count, args, "rows", 4000);
  Seed         none = 0;

  for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
    const Way    w     = WayGet(WayFind(ways[k].way), &none);
    const double start = TrsvSeconds();
    const long   bad   = failures;
    const int    n     = (int)(rows * ways[k].rows);
    long         done  = 0;

    TestWay(&w, ways[k].shape, n, ways[k].settings, solves, limit, &done);
    WriteResult(count, args,
                "\"what\": \"same\", \"way\": \"%s\", \"rows\": %d, \"solves\": %ld, \"seconds\": %.1f, "
                "\"wrong\": %ld",
                w.name, n, done, TrsvSeconds() - start, failures - bad);
  }
  printf("%ld wrong\n", failures);
  return failures > 0;
}
