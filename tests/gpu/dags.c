/*
   dags: random triangles, solved by every algorithm and setting, compared with serial.

     dags [-launches N] [-seconds S] [-rows MOST] [-seed N] [-cases N] [-least N] [-o FILE.jsonl]

   The program tests cases until N solves are launched (default: 1,000,000) or S seconds (150) have passed. A case is a
   random triangle of 1 to MOST rows (2,000), of random shape, diagonal and precision. Some of the ways (ways.c) make a
   plan of it or of its transpose. The first solutions are checked on the host, by the componentwise backward error and
   against serial. More solves follow, for half the time of the set-up, at least -least times (4) for each right-hand
   side; each solution is compared with the first one bit for bit, on the device. Every fourth case is a pair, L and
   then U, in a random order. A message names the seed of its case; -seed N -cases 1 repeats that case.
*/
#include <stdlib.h>
#include <string.h>
#include "long.h"
#ifdef TRSV_SIMT
  #include "executor.h"
#endif

enum {
  WAYS_A_CASE = 4,
  PAIRS       = 3,   /* the last ways */
  MOST        = 250, /* at most so many solves of each right-hand side */
  AT_ONCE     = 4    /* so many of them before a wait */
};

static int least = 4; /* solves of each right-hand side */

static struct {
  long launches, plans, triangles, refused;
} totals;
static long launches_of[64]; /* by way */

/* Solves by a checked subject; seconds: the time of its set-up. */
static void SolveRepeatedly(Subject *s, Seed *seed, double seconds, int way, const char *where)
{
  const double start = TrsvSeconds();
  TrsvError    error = TRSV_SUCCESS;
  int          n     = 0;

  while (!error && n < MOST && (n < least || TrsvSeconds() - start < seconds / 2)) {
#ifdef TRSV_SIMT
    if (n == 1) break;
    SimtSchedule((unsigned)*seed & 1023);
#endif
    error = SubjectSolve(s, seed);
    /* a wait, so that the clock counts the time of the device */
    if (!error && ++n % AT_ONCE == 0) error = TrsvDeviceWait(NULL);
  }
  if (error) ReportFailure(where, "%s", TrsvErrorMessage());
  else (void)SubjectCheck(s, where);
  totals.launches += (long)SIDES * (n + 1);
  launches_of[way] += (long)SIDES * (n + 1);
}

/* Returns 0 after an error, and if the algorithm refuses the triangle. */
static int CheckCreated(TrsvError error, const char *where)
{
  if (error == TRSV_ERR_UNSUPPORTED) totals.refused++;
  else if (error) ReportFailure(where, "%s", TrsvErrorMessage());
  return !error;
}

/* The input of a plan, on the host and on the device: the triangle of the case, or if flipped its transpose, whose
   pattern the plan transposes again. */
typedef struct {
  const Case *c;
  int         flipped;
  TrsvMatrix  pattern[2]; /* by memory */
  const void *values[2];
  int        *offsets; /* of the transpose */
} Source;

static void MakeTranspose(Source *s)
{
  const TrsvMatrix *A    = &s->c->dag->view;
  const size_t      size = TrsvValueSize(A->precision), nnz = (size_t)A->offsets[A->rows];
  const int        *from;
  char             *values = malloc(size * nnz + 1);

  if (!values || TrsvTranspose(A, &s->pattern[TRSV_HOST], &s->offsets, &from)) exit(2);
  for (size_t k = 0; k < nnz; k++) memcpy(values + size * k, (char *)s->c->values + size * (size_t)from[k], size);
  s->values[TRSV_HOST]            = values;
  s->values[TRSV_DEVICE]          = Upload(values, size * nnz);
  s->pattern[TRSV_DEVICE]         = s->pattern[TRSV_HOST];
  s->pattern[TRSV_DEVICE].memory  = TRSV_DEVICE;
  s->pattern[TRSV_DEVICE].offsets = Upload(s->pattern[TRSV_HOST].offsets, sizeof(int) * ((size_t)A->rows + 1));
  s->pattern[TRSV_DEVICE].columns = Upload(s->pattern[TRSV_HOST].columns, sizeof(int) * nnz);
}

static void SourceMake(Source *s, const Case *c, int flipped)
{
  *s = (Source){c, flipped, {c->dag->view, c->device}, {c->values, c->device_values}, NULL};
  if (flipped) MakeTranspose(s);
}

static void SourceFree(Source *s)
{
  if (!s->flipped) return;
  TrsvFree(TRSV_HOST, s->offsets);
  free((void *)s->values[TRSV_HOST]);
  TrsvDeviceFree((void *)s->values[TRSV_DEVICE]);
  TrsvDeviceFree((void *)s->pattern[TRSV_DEVICE].offsets);
  TrsvDeviceFree((void *)s->pattern[TRSV_DEVICE].columns);
}

static TrsvError MakePlan(const Way *w, const Source *s, TrsvMemory memory, TrsvPlan **plan)
{
  const TrsvMatrix *A        = &s->pattern[memory];
  const int         entries  = s->c->dag->offsets[A->rows];
  TrsvMatrix        T        = *A;
  TrsvAnalysis     *analysis = NULL;
  int              *offsets  = NULL;
  const int        *source   = NULL;
  TrsvError         error    = s->flipped ? TrsvTranspose(A, &T, &offsets, &source) : TRSV_SUCCESS;

  if (!error) error = TrsvAnalyze(&T, &analysis);
  if (!error) error = WayPlan(w, &T, analysis, source, entries, plan);
  TrsvAnalysisDestroy(&analysis);
  TrsvFree(memory, offsets);
  return error;
}

static void TestPlan(const Source *from, int k, Seed *seed, const char *where)
{
  const Way        way    = WayGet(k, seed);
  const double     start  = TrsvSeconds();
  const TrsvMemory memory = RandomBelow(seed, 2) ? TRSV_HOST : TRSV_DEVICE;
  TrsvPlan        *plan   = NULL;
  Subject          s      = {0};
  TrsvError        error  = MakePlan(&way, from, memory, &plan);
  char             line[400];

  (void)snprintf(line, sizeof(line), "%s, %s%s", where, way.name, from->flipped ? ", transposed" : "");
  if (way.chunk.chunks) {
    (void)strcat(line, " ");
    TrsvChunkSettingsPrint(&way.chunk, line + strlen(line), sizeof(line) - strlen(line));
  }
  if (!error) error = TrsvPlanSetValues(plan, from->values[memory], memory, NULL);
  if (CheckCreated(error, line)) {
    totals.plans++;
    if (SubjectMake(&s, from->c, plan, line)) SolveRepeatedly(&s, seed, TrsvSeconds() - start, k, line);
    plan = NULL;
  }
  TrsvPlanDestroy(&plan);
  SubjectFree(&s);
}

enum {
  TYPES = 4
};
static const char *const type_name[TYPES] = {"float", "double", "complex float", "complex double"};

static TrsvPrecision RandomPrecision(Seed *seed) { return (TrsvPrecision)RandomBelow(seed, TYPES); }

static void TestTriangle(Seed *seed, int rows, int first, const char *name)
{
  const TrsvTriangle  triangle  = RandomBelow(seed, 2) ? TRSV_UPPER : TRSV_LOWER;
  const TrsvDiagonal  diagonal  = RandomBelow(seed, 2) ? TRSV_DIAGONAL_UNIT : TRSV_DIAGONAL_STORED;
  const TrsvPrecision precision = RandomPrecision(seed);
  Dag                 d         = DagMake(seed, NULL, rows, triangle, diagonal, precision);
  Case                c;
  Source              s;
  char                where[200];

  (void)snprintf(where, sizeof(where), "%s: %s, %d rows, %s, %s, %s diagonal", name, d.shape, rows,
                 triangle == TRSV_LOWER ? "lower" : "upper", type_name[precision],
                 diagonal == TRSV_DIAGONAL_UNIT ? "unit" : "stored");
  CaseMake(&c, &d, NULL);
  SourceMake(&s, &c, RandomBelow(seed, 4) == 0);
  for (int n = 0; n < WAYS_A_CASE; n++) TestPlan(&s, (first + n) % (WayCount() - PAIRS), seed, where);
  totals.triangles++;
  SourceFree(&s);
  CaseFree(&c);
  DagFree(&d);
}

/* L and then U; order: of rows and columns, NULL: the natural one. */
static void TestPair(const Case *L, const Case *U, const int *order, int k, Seed *seed, const char *where)
{
  const size_t rows   = (size_t)L->dag->view.rows;
  const double start  = TrsvSeconds();
  const Way    way    = WayGet(k, seed);
  int         *placed = order ? Upload(order, sizeof(int) * rows) : NULL;
  TrsvPair    *pair   = NULL;
  Subject      s      = {0};
  TrsvError    error  = WayPair(&way, &L->device, &U->device, placed, placed, &pair);
  char         line[400];

  (void)snprintf(line, sizeof(line), "%s, %s%s", where, way.name, order ? ", in another order" : "");
  if (!error) error = TrsvPairSetValues(pair, L->device_values, U->device_values, TRSV_DEVICE, NULL);
  if (CheckCreated(error, line)) {
    totals.plans++;
    if (SubjectMakePair(&s, pair, U, L->b, order, line)) SolveRepeatedly(&s, seed, TrsvSeconds() - start, k, line);
    pair = NULL;
  }
  TrsvPairDestroy(&pair);
  SubjectFree(&s);
  TrsvDeviceFree(placed);
}

static void TestPairs(Seed *seed, int rows, const char *name)
{
  const TrsvPrecision precision = RandomPrecision(seed);
  Dag                 l         = DagMake(seed, NULL, rows, TRSV_LOWER, TRSV_DIAGONAL_UNIT, precision);
  Dag                 u         = DagMake(seed, NULL, rows, TRSV_UPPER, TRSV_DIAGONAL_STORED, precision);
  int                *order     = malloc(sizeof(int) * ((size_t)rows + 1));
  Case                L, U;
  char                where[200];

  if (!order) exit(2);
  (void)snprintf(where, sizeof(where), "%s: %s and %s, %d rows, %s", name, l.shape, u.shape, rows,
                 type_name[precision]);
  for (int i = 0; i < rows; i++) {
    const int j = (int)RandomBelow(seed, (unsigned)i + 1);

    order[i] = order[j];
    order[j] = i;
  }
  CaseMake(&L, &l, NULL);
  CaseMake(&U, &u, L.x); /* U x = y */
  for (int k = WayCount() - PAIRS; k < WayCount(); k++)
    TestPair(&L, &U, RandomBelow(seed, 2) ? order : NULL, k, seed, where);
  totals.triangles += 2;
  CaseFree(&L);
  CaseFree(&U);
  DagFree(&l);
  DagFree(&u);
  free(order);
}

static void TestSeed(Seed seed, int most, int *first)
{
  const Seed name = seed;
  char       where[64];
  const int  rows = DagRows(&seed, most);

  (void)snprintf(where, sizeof(where), "-rows %d -seed %llu", most, name);
  if (RandomBelow(&seed, 4) == 0) TestPairs(&seed, rows, where);
  else {
    TestTriangle(&seed, rows, *first, where);
    *first += WAYS_A_CASE;
  }
}

int main(int count, char **args)
{
  const double launches = NumberArgument(count, args, "launches", 1e6),
               limit = NumberArgument(count, args, "seconds", 150), cases = NumberArgument(count, args, "cases", 1e9),
               start = TrsvSeconds();
  const int  most    = (int)NumberArgument(count, args, "rows", 2000);
  const Seed seed    = (Seed)NumberArgument(count, args, "seed", 1);
  int        first = (int)seed * WAYS_A_CASE, cases_done = 0, multiprocessors = 0;

  least = (int)NumberArgument(count, args, "least", least);
  (void)TrsvDeviceMultiprocessors(&multiprocessors);
  for (; cases_done < cases && (double)totals.launches < launches && TrsvSeconds() - start < limit; cases_done++)
    TestSeed(seed + (Seed)cases_done, most, &first);
  const double seconds = TrsvSeconds() - start;

  for (int k = 0; k < WayCount(); k++) {
    Seed none = 0;

    printf("%-34s %9ld launches\n", WayGet(k, &none).name, launches_of[k]);
  }
  printf("%ld launches of %ld plans for %ld triangles of 1 to %d rows on %d multiprocessors, %ld refused, in %.0f s: "
         "%ld wrong\n",
         totals.launches, totals.plans, totals.triangles, most, multiprocessors, totals.refused, seconds, failures);
  WriteResult(count, args,
              "\"what\": \"dags\", \"launches\": %ld, \"plans\": %ld, \"triangles\": %ld, \"rows\": %d, "
              "\"multiprocessors\": %d, \"refused\": %ld, \"seconds\": %.0f, \"wrong\": %ld, "
              "\"precisions\": \"%s, %s, %s, %s\"",
              totals.launches, totals.plans, totals.triangles, most, multiprocessors, totals.refused, seconds, failures,
              type_name[0], type_name[1], type_name[2], type_name[3]);
  return failures > 0;
}
