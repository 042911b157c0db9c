/*
   The settings of the algorithm `chunk`: chosen, printed, overridden.

   A solve takes about start + steps * step, where the schedule itself says how many steps, crossings between chunks among them, and a
   step's time depends on the length of records. So settings that statistics make likely are scheduled, as many as a budget
   of entries allows, and the least time wins. On 47 real matrices the best by this estimate of 32 settings each came within 2.5% of the
   best by measurement (geometric mean; 1.3 times it at worst).
*/
#include <stdio.h>
#include <string.h>
#include "chunk_graph.cuh"

static TrsvChunkSettings chosen_for_all;
static int               overridden;

extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  overridden = s != NULL;
  if (s) chosen_for_all = *s;
}

extern "C" void TrsvChunkSettingsPrint(const TrsvChunkSettings *s, char *line, size_t size)
{
  (void)snprintf(line, size, "P%d K%d W%d N%d R%d S%d L%d C%d D%d", s->chunks, s->length, s->width, s->cluster, s->ring, s->stages, s->life, s->far, s->near);
}

/* What was measured on an H200, in ns: a launch with and without clusters; a step, by the length of records; steps of a crossing. */
enum {
  START         = 7000,
  START_CLUSTER = 8000,
  FAR           = 8, /* through L2 */
  NEAR          = 4, /* inside a cluster */
  SQUEEZED      = 3
};

static const struct {
  int length, step;
} records[] = {{2, 58}, {3, 75}, {5, 92}, {8, 110}, {13, 130}};

enum {
  KINDS = sizeof(records) / sizeof(records[0])
};
static const double budget = 2e-3; /* seconds that trying more than one may take */

static int Clamp(double v, int least, int most) { return v < least ? least : v > most ? most : (int)v; }

static int Steps(double v) { return v < 1 ? 1 : (int)(v + 0.5); }

static TrsvChunkSettings Settings(const TrsvCosts *c, int chunks, int kind, int cluster)
{
  return {chunks, records[kind].length, 32, cluster, 2048, 8, -1, Steps((double)FAR * c->hop / c->step), Steps((double)NEAR * c->push / c->step)};
}

/* What is known while settings are tried. */
struct Trial {
  const ChunkOrder *order;
  int               size; /* of a value */
  ChunkTimes       *times;
};

/* Can every import have a cell of its own? Where there are fewer dependencies than cells, that need not be found out. */
static TrsvError Fits(const Trial *t, int *fits)
{
  const int     capacity = ChunkCapacity(&t->times->settings, CHUNK_LEAST, t->size);
  ChunkEmission e        = ChunkEmission();
  ChunkSchedule schedule = ChunkSchedule();
  void         *memory[3] = {NULL, NULL, NULL};
  TrsvError     error;

  *fits = t->times->outside <= capacity;
  if (*fits) return TRSV_SUCCESS;
  error = TrsvChunkNumber(t->order, t->times, &e, &memory[0]);
  if (!error) error = ChunkRoom(sizeof(ChunkHead) * (size_t)e.chunks, &memory[1]);
  if (!error) error = TrsvChunkCells(&e, e.chunks, (ChunkHead *)memory[1], &schedule, &memory[2]);
  *fits = schedule.cells <= capacity;
  for (void *m : memory) ChunkLeave(m);
  return error;
}

/* Seconds that a solve with one of these is expected to take. */
static TrsvError Predict(const Trial *t, const TrsvCosts *c, const TrsvChunkSettings *s, int kind, double *time)
{
  int fits;

  TrsvCall(TrsvChunkPlace(t->order, s, t->times));
  TrsvCall(Fits(t, &fits));
  const double steps = (double)t->times->times * (fits ? 1 : SQUEEZED); /* no clusters, and imports wait for cells */
  *time              = 1e-9 * ((double)(s->cluster > 1 ? START_CLUSTER : START) + steps * records[kind].step * c->step);
  return TRSV_SUCCESS;
}

static TrsvError Choose(const ChunkOrder *order, const TrsvStatistics *t, const TrsvCosts *costs, TrsvPrecision precision, int multiprocessors, int rank, ChunkTimes *times, TrsvChunkSettings *s, double *seconds)
{
  const int             deep = t->levels > 40, most = multiprocessors < 9 ? 1 : multiprocessors * 10 / 11 / 8 * 8; /* what fits in clusters of 8 */
  double                one = 0, more = 0; /* seconds of a trial, of all but the first, by what is counted and not by the clock: the choice does not depend on chance */
  const Trial           trial = {order, (int)TrsvValueSize(precision), times};
  TrsvChunkSettings     choice[CHUNK_CHOICES];
  double                time[CHUNK_CHOICES];
  int                   kind = 0, choices = 0;

  while (kind < KINDS - 1 && records[kind].length < t->row_mean - 1.4) kind++;
  if (kind == 3) kind = 2; /* 8 is hardly ever the best */

  /* likely ones first: chunks of some 800 rows; of large factors fewer and larger ones, in larger clusters, where dependencies are so near
     that crossings between chunks, more than the width of level sets, are what takes time */
  const int near = deep && t->rows / 64. >= 8 * t->distance;
  const int likely = Clamp(t->rows / (deep ? 1000. : 600.), 1, kind == KINDS - 1 ? 80 : kind == 0 && near ? 64 : most);
  const struct {
    int chunks, kind, cluster;
  } tries[] = {
    {likely, kind, !deep ? 1 : likely == 64 || likely == 80 ? 16 : 8},
    {likely, kind, deep ? 1 : 8},
    {likely, kind == 0 ? 1 : kind == KINDS - 1 ? 2 : kind - 1, deep ? 8 : 1},
    {Clamp(likely / 2., 1, most), kind, deep ? 8 : 1},
    {Clamp(likely * 2., 1, most), kind, deep ? 8 : 1},
    {Clamp(likely / 2., 1, most), kind == 0 ? 1 : kind == KINDS - 1 ? 2 : kind - 1, 8},
    {Clamp(likely * 2., 1, most), kind == 0 ? 1 : kind == KINDS - 1 ? 2 : kind - 1, 8},
    {Clamp(likely / 2., 1, most), 0, 8},
    {likely, 0, 8},
    {1, 0, 1},
  };

  for (int i = 0; i < (int)(sizeof(tries) / sizeof(tries[0])); i++) {
    TrsvChunkSettings c    = Settings(costs, tries[i].chunks, tries[i].kind, tries[i].cluster);
    double            when = i; /* in this order, behind all others, where there is no time for a schedule of each */
    int               at   = 0, known = 0;

    if (c.cluster > c.chunks && i) continue;
    if (c.cluster > c.chunks) c.cluster = 1;
    for (int k = 0; k < choices; k++) known = known || (c.chunks == choice[k].chunks && c.length == choice[k].length && c.cluster == choice[k].cluster);
    if (known) continue;
    /* the first is needed anyhow; the next takes about as long as the last, or, if it is the first to need partial sums, far longer */
    if (!choices || more + one * (order->longest > c.length && !times->first ? 4 : 1) <= budget) {
      TrsvCall(Predict(&trial, costs, &c, tries[i].kind, &when));
      one = times->seconds;
      more += choices ? one : 0;
    } else when += 1e10;
    while (at < choices && time[at] <= when) at++;
    for (int k = choices++; k > at; k--) choice[k] = choice[k - 1], time[k] = time[k - 1];
    choice[at] = c;
    time[at]   = when;
  }
  if (rank >= choices) return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: only %d settings are considered for this matrix", choices);
  *s       = choice[rank];
  *seconds = time[rank];
  return TRSV_SUCCESS;
}

/* Steps of 8 records where most of 32 lanes would have none, and as many steps are enough: what a plan holds for lanes without a record is
   memory for nothing. A step takes a little longer, as lanes do alike what one could: so only there. */
static TrsvError Narrow(const ChunkOrder *order, ChunkTimes *times, TrsvChunkSettings *s)
{
  enum { WIDTH = 8, RECORDS = 6 };
  TrsvChunkSettings narrow = *s;
  int               enough;

  if (s->length > 3) return TRSV_SUCCESS;
  if (memcmp(&times->settings, s, sizeof(*s))) TrsvCall(TrsvChunkPlace(order, s, times));
  if (times->nodes > (double)RECORDS * times->used) return TRSV_SUCCESS;
  enough       = times->times + times->times / 100;
  narrow.width = WIDTH;
  TrsvCall(TrsvChunkPlace(order, &narrow, times));
  if (times->times <= enough) *s = narrow;
  return TRSV_SUCCESS;
}

TrsvError TrsvChunkSettingsChoose(const ChunkOrder *order, const TrsvStatistics *t, const TrsvCosts *costs, TrsvPrecision precision, int multiprocessors, int rank, ChunkTimes *times, TrsvChunkSettings *s)
{
  double seconds;

  if (overridden) {
    *s = chosen_for_all;
    return TRSV_SUCCESS;
  }
  TrsvCall(Choose(order, t, costs, precision, multiprocessors, rank, times, s, &seconds));
  return Narrow(order, times, s);
}

extern "C" TrsvError TrsvChunkPredict(const TrsvMatrix *A, const TrsvAnalysis *analysis, double *seconds)
{
  const TrsvCosts   costs = TrsvGetCosts();
  ChunkOrder        order;
  ChunkTimes        times = ChunkTimes();
  TrsvChunkSettings s;
  TrsvError         error;
  int               multiprocessors;

  *seconds = 0;
  if (!A->rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  TrsvCall(TrsvChunkOrder(A, analysis, NULL, &order));
  error = Choose(&order, &analysis->statistics, &costs, A->precision, multiprocessors, 0, &times, &s, seconds);
  TrsvChunkTimesFree(&times);
  TrsvChunkOrderFree(&order);
  return error;
}
