/*
   Tuning: which plan solves a pair's triangles fastest, by measurement.

   The incumbent is the plan that the pair has, the model's choice. Candidates are what the model puts next: first the
   other algorithms, by predicted time, then other settings of those that have any, rank by rank. Each is made, given
   the values, and solves for a right-hand side by chance into a poisoned vector; the backward error of that, and the
   median of the solves that follow, decide against the incumbent. So there are never more than two plans at once.
   Whoever is faster by less than 2% does not replace the incumbent, which keeps choices from changing by chance where
   nothing is at stake.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "solve/solve.h"

enum {
  SOLVES = 31, /* measured, at most, of a candidate */
  LEAST  = 5,
  RANKS  = 5,  /* settings of an algorithm, and */
  TRIES  = 8   /* candidates in all, where the algorithm is to be chosen, too */
};

static const double margin = 0.98, hopeless = 2;

/* What a triangle is tried with, all on the device. */
typedef struct {
  TrsvMatrix  T;
  const void *source, *values; /* source: NULL where values stand as columns do */
  TrsvPermutation  places;          /* of b and x, where the triangle is; index: on the device */
  const void *index[2];
  void *own[6], *b, *x, *permuted[2]; /* own: copies of what lives on the host; permuted: b and x in the order of the
                                         rows, where that is another */
  TrsvTimer  *timer;
  TrsvStream  stream;
  double      bound, end; /* of the backward error of a solve that is right; when the time is over */
} Trial;

/* The median of solves; a few are enough where it is far behind the best. */
static TrsvError Time(TrsvPlan *plan, const Trial *t, double best, double *seconds)
{
  double times[SOLVES];
  int    n = 0;

  while (n < SOLVES && (n < LEAST || TrsvSeconds() < t->end)) {
    TrsvCall(TrsvDeviceTimerStart(t->timer, t->stream));
    TrsvCall(TrsvPlanSolve(plan, t->b, t->x, t->stream));
    TrsvCall(TrsvDeviceTimerStop(t->timer, t->stream));
    TrsvCall(TrsvDeviceTimerRead(t->timer, &times[n]));
    if (++n == LEAST) {
      qsort(times, LEAST, sizeof(times[0]), TrsvAscending);
      if (times[0] > hopeless * best) break;
    }
  }
  qsort(times, (size_t)n, sizeof(times[0]), TrsvAscending);
  *seconds = times[n / 2];
  return TRSV_SUCCESS;
}

static TrsvError Poison(const Trial *t)
{
  const size_t bytes = TrsvValueSize(t->T.precision) * (size_t)t->T.rows;
  void        *junk;
  TrsvError    error;

  TrsvCall(TrsvAlloc(bytes, &junk));
  memset(junk, 0xff, bytes); /* NaN */
  error = TrsvDeviceUpload(t->x, junk, bytes, t->stream);
  free(junk);
  return error;
}

static TrsvError Measure(TrsvPlan *plan, const Trial *t, double best, TrsvTrial *r)
{
  TrsvError error;

  r->algorithm = plan->algorithm;
  r->seconds   = 0;
  r->wrong     = 0;
  TrsvPlanDescribe(plan, r->settings, sizeof(r->settings));
  TrsvCall(Poison(t));
  TrsvCall(TrsvPlanSolve(plan, t->b, t->x, t->stream));
  if (t->index[1])
    TrsvCall(
      TrsvDevicePermute(t->T.rows, (const int *)t->index[1], 0, t->T.precision, t->x, t->permuted[1], t->stream));
  TrsvCall(TrsvDeviceError(&t->T, t->source, t->values, t->index[0] ? t->permuted[0] : t->b,
                           t->index[1] ? t->permuted[1] : t->x, &r->error, t->stream));
  error = Time(plan, t, best, &r->seconds);
  if (error != TRSV_ERR_TIMEOUT) return error;
  r->error = INFINITY; /* it gave up waiting: x holds NaN */
  return TRSV_SUCCESS;
}

/* A copy on the device of what lives on the host; a NULL stays one. */
static TrsvError Bring(const void *from, size_t bytes, TrsvMemory memory, const void **to, void **own)
{
  *to = from;
  if (!from || memory == TRSV_DEVICE) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(bytes, own));
  *to = *own;
  return TrsvDeviceUpload(*own, from, bytes, NULL);
}

static TrsvError Fill(Trial *t, const TrsvMatrix *T, const int *source, int entries, const void *values,
                      TrsvMemory memory)
{
  const size_t       size = TrsvValueSize(T->precision), rows = (size_t)T->rows,
                     real = TrsvValueSize(TrsvRealPrecision(T->precision));
  const void        *offsets, *columns;
  void              *b;
  unsigned long long seed = 1;
  TrsvError          error;

  TrsvCall(Bring(T->offsets, sizeof(int) * (rows + 1), T->memory, &offsets, &t->own[0]));
  TrsvCall(Bring(T->columns, sizeof(int) * (size_t)entries, T->memory, &columns, &t->own[1]));
  TrsvCall(Bring(source, sizeof(int) * (size_t)entries, T->memory, &t->source, &t->own[2]));
  TrsvCall(Bring(values, size * (size_t)entries, memory, &t->values, &t->own[3]));
  TrsvCall(Bring(t->places.b_index, sizeof(int) * rows, T->memory, &t->index[0], &t->own[4]));
  TrsvCall(Bring(t->places.x_index, sizeof(int) * rows, T->memory, &t->index[1], &t->own[5]));
  for (int i = 0; i < 2; i++)
    if (t->index[i]) TrsvCall(TrsvDeviceAlloc(size * rows, &t->permuted[i]));
  t->T         = *T;
  t->T.offsets = (const int *)offsets;
  t->T.columns = (const int *)columns;
  TrsvCall(TrsvDeviceAlloc(size * rows, &t->b));
  TrsvCall(TrsvDeviceAlloc(size * rows, &t->x));
  TrsvCall(TrsvDeviceTimerCreate(&t->timer));
  TrsvCall(TrsvAlloc(size * rows, &b));
  for (size_t i = 0; i < size / real * rows; i++) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    if (real == sizeof(float)) ((float *)b)[i] = (float)((double)(seed >> 11) * 0x1p-53 - 0.5);
    else ((double *)b)[i] = (double)(seed >> 11) * 0x1p-53 - 0.5;
  }
  error = TrsvDeviceUpload(t->b, b, size * rows, NULL);
  free(b);
  if (!error && t->index[0])
    error = TrsvDevicePermute(T->rows, (const int *)t->index[0], 0, T->precision, t->b, t->permuted[0], NULL);
  return error ? error : TrsvDeviceSynchronize();
}

/* What the model would choose, best first. */
static int Algorithms(const TrsvStatistics *s, TrsvPrecision precision, const TrsvAlgorithm *asked,
                      const TrsvAlgorithm *list[TRIES])
{
  const TrsvAlgorithm *a;
  int                  n = 0;

  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    int at = 0;

    if (a->memory != TRSV_DEVICE || n == TRIES) continue;
    if (asked ? a != asked : !a->predict || !TrsvAlgorithmRuns(a, precision)) continue;
    while (at < n && TrsvPredict(list[at], s, precision) <= TrsvPredict(a, s, precision)) at++;
    for (int k = n++; k > at; k--) list[k] = list[k - 1];
    list[at] = a;
  }
  return n;
}

/* Has this been measured? Settings that were asked for are not always those that can be had. */
static int Known(const TrsvPairMember *m, const TrsvPlan *candidate)
{
  char settings[sizeof(m->trials[0].settings)];
  int  known = 0;

  TrsvPlanDescribe(candidate, settings, sizeof(settings));
  for (int i = 0; i < m->trial_count; i++)
    known = known || (m->trials[i].algorithm == candidate->algorithm && !strcmp(m->trials[i].settings, settings));
  return known;
}

/* Measures a candidate against the incumbent, and keeps the better one. */
static TrsvError Challenge(TrsvPairMember *m, TrsvPlan **candidate, const Trial *t)
{
  TrsvTrial *const now = &m->trials[m->chosen], *const r = &m->trials[m->trial_count];
  const int        now_right = now->error <= t->bound;
  int              right;

  TrsvCall(Measure(*candidate, t, now->seconds, r));
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

static TrsvError Compete(const TrsvPair *pair, TrsvPairMember *m, const TrsvMatrix *T, const TrsvAnalysis *analysis,
                         const int *source, int entries, const void *values, TrsvMemory memory,
                         const TrsvAlgorithm *named, const Trial *t)
{
  const TrsvAlgorithm *list[TRIES], *first = m->choice.algorithm;
  const int            algorithms = Algorithms(&m->statistics, pair->precision, named, list), rank = m->plan->rank;
  const int            ranks = named ? named->choices : RANKS, tries = named ? TRSV_TRIALS : TRIES;

  m->chosen = 0;
  TrsvCall(Measure(m->plan, t, INFINITY, &m->trials[0]));
  m->trial_count = 1;
  for (int r = 0; r < ranks; r++)
    for (int i = 0; i < algorithms && m->trial_count < tries && TrsvSeconds() < t->end; i++) {
      TrsvPlan *candidate;
      TrsvError error;

      if (list[i] == first && r == rank) continue;
      error = TrsvPlanCreatePlaced(T, analysis, source, entries, &t->places, list[i], r, &candidate);
      if (error == TRSV_ERR_UNSUPPORTED || error == TRSV_ERR_MEMORY || error == TRSV_ERR_TIMEOUT)
        continue; /* then it is no candidate */
      TrsvCall(error);
      if (!Known(m, candidate)) {
        error = TrsvPlanSetValues(candidate, values, memory, t->stream);
        if (!error) error = Challenge(m, &candidate, t);
      }
      TrsvPlanDestroy(&candidate);
      if (error != TRSV_ERR_MEMORY) TrsvCall(error);
    }
  m->choice.predicted = TrsvPredict(m->choice.algorithm, &m->statistics, pair->precision);
  (void)snprintf(m->choice.reason, sizeof(m->choice.reason), "the fastest of %d measured", m->trial_count);
  return TRSV_SUCCESS;
}

static TrsvError Tune(const TrsvPair *pair, TrsvPairMember *m, const TrsvMatrix *A, TrsvPermutation places,
                      const void *values, TrsvMemory memory, const TrsvAlgorithm *named, double seconds,
                      TrsvStream stream)
{
  const double        start    = TrsvSeconds();
  const double        rounding = TrsvRealPrecision(A->precision) == TRSV_FLOAT ? 5e-6 : 1e-14;
  Trial               t        = {.bound  = rounding * (1 + m->statistics.row_max / 64.),
                                  .end    = start + seconds,
                                  .stream = stream,
                                  .places = places};
  TrsvMatrix          T        = *A;
  int                *offsets  = NULL;
  const int          *source   = NULL;
  const TrsvAnalysis *analysis = NULL;
  TrsvAnalysis       *made     = NULL;
  TrsvError           error;

  error = pair->transposed ? TrsvTranspose(A, &T, &offsets, &source) : TRSV_SUCCESS;
  if (!error) error = TrsvAnalysisGet(&T, &analysis, &made);
  if (!error) error = Fill(&t, &T, source, TrsvStored(&T, analysis), values, memory);
  if (!error) error = Compete(pair, m, &T, analysis, source, TrsvStored(&T, analysis), values, memory, named, &t);
  TrsvAnalysisDestroy(&made);
  TrsvFree(A->memory, offsets);
  for (int i = 0; i < 6; i++) TrsvDeviceFree(t.own[i]);
  for (int i = 0; i < 2; i++) TrsvDeviceFree(t.permuted[i]);
  TrsvDeviceFree(t.b);
  TrsvDeviceFree(t.x);
  TrsvDeviceTimerDestroy(&t.timer);
  m->seconds += TrsvSeconds() - start;
  if (error != TRSV_ERR_MEMORY) return error;
  (void)snprintf(m->choice.reason, sizeof(m->choice.reason), "there is no memory to measure others in");
  return TRSV_SUCCESS;
}

TrsvError TrsvPairTune(TrsvPair *p, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                       const void *l, const void *u, TrsvMemory memory, const TrsvAlgorithm *lower,
                       const TrsvAlgorithm *upper, double seconds, TrsvStream stream)
{
  const double start = TrsvSeconds();
  const int    t     = p->transposed;

  if (p->memory == TRSV_HOST || !p->rows) return TRSV_SUCCESS;
  TrsvPairPart(p); /* its plans may go */
  TrsvCall(Tune(p, &p->forward, t ? U : L, (TrsvPermutation){t ? column : row, NULL}, t ? u : l, memory,
                t ? upper : lower, seconds / 2, stream));
  TrsvCall(Tune(p, &p->backward, t ? L : U, (TrsvPermutation){NULL, t ? row : column}, t ? l : u, memory,
                t ? lower : upper, start + seconds - TrsvSeconds(), stream));
  return TrsvPairJoin(p);
}
