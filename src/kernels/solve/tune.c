/*
   Tuning: finds the fastest plans for a pair's triangles by measurement.

   The incumbent is the plan of the pair, at first the model's choice. Candidates are the other algorithms in the order
   of their predicted times, then further settings of each. The plan of each candidate solves for a random right-hand
   side; x is filled with NaN before. The backward error of this solve, and the median time of more solves, are compared
   with the incumbent's. So there are at most two plans at a time, and a copy of the triangle. A candidate must be at
   least 2% faster to replace the incumbent; otherwise noise would change the choice.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve/solve.h"

enum {
  SOLVES     = 31, /* measured solves of a plan, at most */
  LEAST      = 5,  /* the same, at least */
  RANKS      = 5,  /* settings of an algorithm, at most, if none is named */
  CANDIDATES = 8   /* at most, if no algorithm is named */
};

/* Over the best time: a candidate replaces the incumbent below margin; it gets only LEAST solves above hopeless. */
static const double margin = 0.98, hopeless = 2;

/* The data of measured solves, all on the device. */
typedef struct {
  TrsvMatrix      T;
  int            *source; /* NULL: values are in the order of columns */
  TrsvPermutation places;
  void           *values, *b, *x;
  TrsvPlan       *plan;
  TrsvStream      stream;
  double          bound; /* the largest backward error of a right solution */
  double          end;   /* the clock's time at which tuning ends */
} Trial;

static TrsvError SolveOnce(void *data, TrsvStream stream)
{
  const Trial *const t = data;

  return TrsvPlanSolve(t->plan, t->b, t->x, stream);
}

/* The median time of solves. Stops early if the plan is much slower than the best one. */
static TrsvError MeasureTime(Trial *t, double best, double *seconds)
{
  double times[SOLVES];
  int    n = 0;

  while (n < SOLVES && (n < LEAST || TrsvSeconds() < t->end)) {
    TrsvCall(TrsvDeviceTime(SolveOnce, t, t->stream, &times[n]));
    if (++n == LEAST) {
      qsort(times, LEAST, sizeof(times[0]), TrsvAscending);
      if (times[0] > hopeless * best) break;
    }
  }
  qsort(times, (size_t)n, sizeof(times[0]), TrsvAscending);
  *seconds = times[n / 2];
  return TRSV_SUCCESS;
}

static TrsvError MeasurePlan(TrsvPlan *plan, Trial *t, double best, TrsvTrial *r)
{
  TrsvError error;

  t->plan      = plan;
  r->algorithm = plan->algorithm;
  r->seconds   = 0;
  r->wrong     = 0;
  TrsvPlanDescribe(plan, r->settings, sizeof(r->settings));
  TrsvCall(TrsvClearWords(t->T.precision, (size_t)t->T.rows, t->x, NULL, t->stream)); /* NaN */
  TrsvCall(SolveOnce(t, t->stream));
  TrsvCall(TrsvDeviceError(&t->T, t->source, t->values, &t->places, t->b, t->x, &r->error, t->stream));
  error = MeasureTime(t, best, &r->seconds);
  if (error != TRSV_ERR_TIMEOUT) return error;
  r->error = INFINITY; /* a wait exceeded its limit: x holds NaN */
  return TRSV_SUCCESS;
}

static TrsvError PrepareTrial(Trial *t, const TrsvMemberTask *m, const void *values, TrsvMemory memory)
{
  const TrsvMatrix *const T = &m->T;
  const size_t            size = TrsvValueSize(T->precision), rows = (size_t)T->rows, entries = (size_t)m->entries,
                          real = TrsvValueSize(TrsvRealPrecision(T->precision));
  void                   *b;
  unsigned long long      seed = 1;
  TrsvError               error;

  if (memory == TRSV_DEVICE) TrsvCall(TrsvDeviceWait(t->stream)); /* which may still be writing the values */
  t->T         = *T;
  t->T.offsets = t->T.columns = NULL;
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, T->memory, T->offsets, sizeof(int) * (rows + 1), &t->T.offsets));
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, T->memory, T->columns, sizeof(int) * entries, &t->T.columns));
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, T->memory, m->source, sizeof(int) * entries, &t->source));
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, memory, values, size * entries, &t->values));
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, T->memory, m->places.b_index, sizeof(int) * rows, &t->places.b_index));
  TrsvCall(TrsvCopyNew(TRSV_DEVICE, T->memory, m->places.x_index, sizeof(int) * rows, &t->places.x_index));
  TrsvCall(TrsvDeviceAlloc(size * rows, &t->b));
  TrsvCall(TrsvDeviceAlloc(size * rows, &t->x));
  TrsvCall(TrsvAlloc(size * rows, &b));
  for (size_t i = 0; i < size / real * rows; i++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    if (real == sizeof(float)) ((float *)b)[i] = (float)((double)(seed >> 11) * 0x1p-53 - 0.5);
    else ((double *)b)[i] = (double)(seed >> 11) * 0x1p-53 - 0.5;
  }
  error = TrsvDeviceUpload(t->b, b, size * rows, NULL);
  free(b);
  return error ? error : TrsvDeviceWait(NULL);
}

/* Algorithms in the order of their predicted times, or the named one. */
static int ListCandidates(const TrsvStatistics *s, TrsvPrecision precision, const TrsvAlgorithm *named,
                          const TrsvAlgorithm *list[CANDIDATES])
{
  const TrsvAlgorithm *a;
  int                  n = 0;

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    int at = 0;

    if (a->memory != TRSV_DEVICE || n == CANDIDATES) continue;
    if (named ? a != named : !a->predict || !TrsvAlgorithmRuns(a, precision)) continue;
    while (at < n && TrsvPredict(list[at], s, precision) <= TrsvPredict(a, s, precision)) at++;
    for (int k = n++; k > at; k--) list[k] = list[k - 1];
    list[at] = a;
  }
  return n;
}

/* Returns 1 if this plan has been measured. A plan may have other settings than requested. */
static int IsMeasured(const TrsvPairMember *m, const TrsvPlan *candidate)
{
  char settings[sizeof(m->trials[0].settings)];
  int  known = 0;

  TrsvPlanDescribe(candidate, settings, sizeof(settings));
  for (int i = 0; i < m->trial_count; i++)
    known = known || (m->trials[i].algorithm == candidate->algorithm && !strcmp(m->trials[i].settings, settings));
  return known;
}

/* Measures a candidate, and keeps it or the incumbent. */
static TrsvError CompareWithIncumbent(TrsvPairMember *m, TrsvPlan **candidate, Trial *t)
{
  TrsvTrial *const now = &m->trials[m->chosen], *const r = &m->trials[m->trial_count];
  const int        now_right = now->error <= t->bound;
  int              right;

  TrsvCall(MeasurePlan(*candidate, t, now->seconds, r));
  right      = r->error <= t->bound;
  r->wrong   = now_right && !right;
  now->wrong = !now_right && right;
  if (now->wrong || (right == now_right && r->seconds < margin * now->seconds)) {
    TrsvPlan *const loser = m->plan;

    m->plan      = *candidate;
    m->choice.algorithm = r->algorithm;
    m->chosen    = m->trial_count;
    *candidate   = loser;
  }
  m->trial_count++;
  return TRSV_SUCCESS;
}

/* Measures the incumbent, then candidates until the time is over. */
static TrsvError MeasureCandidates(const TrsvMemberTask *task, const void *values, TrsvMemory memory, Trial *t)
{
  TrsvPairMember *const      m     = task->member;
  const TrsvAlgorithm *const named = task->named, *const first = m->choice.algorithm, *list[CANDIDATES];
  const int algorithms = ListCandidates(&m->statistics, t->T.precision, named, list), rank = m->plan->rank;
  const int ranks = named ? named->choices : RANKS, tries = named ? TRSV_TRIALS : CANDIDATES;

  m->chosen = 0;
  TrsvCall(MeasurePlan(m->plan, t, INFINITY, &m->trials[0]));
  m->trial_count = 1;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < algorithms && m->trial_count < tries && TrsvSeconds() < t->end; i++) {
      TrsvPlan *candidate;
      TrsvError error;

      if (list[i] == first && r == rank) continue;
      error = TrsvPlanCreate(&task->T, task->analysis, task->source, task->entries, &task->places, list[i], r,
                             &candidate);
      if (error == TRSV_ERR_UNSUPPORTED || error == TRSV_ERR_MEMORY || error == TRSV_ERR_TIMEOUT)
        continue; /* not a candidate */
      TrsvCall(error);
      if (!IsMeasured(m, candidate)) {
        error = TrsvPlanSetValues(candidate, values, memory, t->stream);
        if (!error) error = CompareWithIncumbent(m, &candidate, t);
      }
      TrsvPlanDestroy(&candidate);
      if (error != TRSV_ERR_MEMORY) TrsvCall(error);
    }
  m->choice.predicted = TrsvPredict(m->choice.algorithm, &m->statistics, t->T.precision);
  (void)snprintf(m->choice.reason, sizeof(m->choice.reason), "the fastest of %d measured", m->trial_count);
  return TRSV_SUCCESS;
}

static TrsvError TuneMember(TrsvMemberTask task, const void *values, TrsvMemory memory, double seconds,
                            TrsvStream stream)
{
  TrsvPairMember *const m        = task.member;
  const double          start    = TrsvSeconds();
  const double          rounding = TrsvRealPrecision(task.A->precision) == TRSV_FLOAT ? 5e-6 : 1e-14;
  Trial     t     = {.bound = rounding * (1 + m->statistics.row_max / 64.), .end = start + seconds, .stream = stream};
  TrsvError error = TrsvTaskAnalyze(&task);

  if (!error) error = PrepareTrial(&t, &task, values, memory);
  if (!error) error = MeasureCandidates(&task, values, memory, &t);
  TrsvTaskFree(&task);
  void *const all[] = {(void *)t.T.offsets, (void *)t.T.columns, t.source, (void *)t.places.b_index,
                       (void *)t.places.x_index, t.values, t.b, t.x};
  for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) TrsvDeviceFree(all[i]);
  m->seconds += TrsvSeconds() - start;
  if (error != TRSV_ERR_MEMORY) return error;
  (void)snprintf(m->choice.reason, sizeof(m->choice.reason), "there is no memory to measure other algorithms");
  return TRSV_SUCCESS;
}

TrsvError TrsvPairTune(TrsvPair *p, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                       const void *l, const void *u, TrsvMemory memory, const TrsvAlgorithm *lower,
                       const TrsvAlgorithm *upper, double seconds, TrsvStream stream)
{
  const double start = TrsvSeconds();
  const int    t     = p->transposed;

  if (p->memory == TRSV_HOST || !p->rows) return TRSV_SUCCESS;
  TrsvPairUnfuse(p); /* plans may change */
  TrsvCall(TuneMember(TrsvPairTask(p, 0, L, U, row, column, lower, upper), t ? u : l, memory, seconds / 2, stream));
  TrsvCall(TuneMember(TrsvPairTask(p, 1, L, U, row, column, lower, upper), t ? l : u, memory,
                      start + seconds - TrsvSeconds(), stream));
  return TrsvPairFuse(p);
}
