/*
   The settings of the algorithm `chunk`: chosen, printed, overridden.

   A schedule tells how many steps a solve takes, crossings between chunks among them; but making one takes as long as
   tens of solves, so settings are chosen by an estimate from statistics. Its constants were fitted to 2,260 solves of
   270 triangles on an H200, and those of products of `inverse` to 436; how many chunks grids get, to 3,500 more of 60.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "solve/schedule/chunk_graph.cuh"

static TrsvChunkSettings chosen_for_all;
static int               overridden;

extern "C" void TrsvChunkSettingsOverride(const TrsvChunkSettings *s)
{
  overridden = s != NULL;
  if (s) chosen_for_all = *s;
}

extern "C" void TrsvChunkSettingsPrint(const TrsvChunkSettings *s, char *line, size_t size)
{
  (void)snprintf(line, size, "P%d K%d W%d N%d R%d S%d L%d C%d D%d", s->chunks, s->length, s->width, s->cluster, s->ring,
                 s->stages, s->life, s->far, s->near);
}

/* What was measured on an H200, in ns: a launch with and without clusters; steps of a crossing; a step, by the length
   of records: one of a chain, and one in the mean over the steps of many solves, waits among them. (A step of two takes
   51 since its order was changed; settings were fitted with 54.) */
enum {
  START         = 7000,
  START_CLUSTER = 8000,
  FAR           = 8, /* through L2 */
  NEAR          = 4 /* inside a cluster */
};

static const struct {
  int length, step, mean;
  int above; /* they are considered where some row has more dependencies than these */
} records[] = {{2, 54, 62, -1}, {3, 67, 68, 2}, {5, 88, 100, 3}, {13, 130, 150, 8}};

static const double taken = 1.2; /* ns that a result takes from another chunk */

enum {
  KINDS   = sizeof(records) / sizeof(records[0]),
  NARROW  = 8, /* width of steps that have no more records than RECORDS */
  RECORDS = 6,
  DEEP    = 40, /* level sets: of more, chains are what takes time */
  SUMS    = 5  /* records of a row: many */
};

static int Clamp(double v, int least, int most) { return v < least ? least : v > most ? most : (int)v; }

static int Steps(double v) { return v < 1 ? 1 : (int)(v + 0.5); }

/* Of records so long. Grids wait less. */
static int Step(const TrsvStatistics *t, int length)
{
  int kind = 0;

  while (kind < KINDS - 1 && records[kind].length != length) kind++;
  return TrsvRegular(t) ? records[kind].step : records[kind].mean;
}

/* Of a row of so many dependencies. */
static double RecordsOf(double dependencies, int length)
{
  return dependencies <= length ? 1 : 1 + (dependencies - 2) / (length - 1);
}

static double Records(const TrsvStatistics *t, int length) { return RecordsOf(t->row_mean - 1, length); }

/* Steps of the longest chain, one for each level set. Where rows depend on rows that get ready together, right before
   them, no partial sum is early: no more than CHUNK_LATE of these rows may be one step old, and those of a level set's
   own records wait for each other. Where dependencies are spread over all rows, a step waits for the last of what its
   records take from other chunks, and long records for more. */
static double Chain(const TrsvStatistics *t, int length)
{
  const double spread = fmin(1, 4 * t->mean_offset / t->rows);

  return 0.95 * t->levels * (1 + 0.09 * spread * fmax(length - 3, 0)) *
         (1 + (t->late_per_row > (double)CHUNK_LATE && length > CHUNK_LATE ? 0.25 : 0) +
          (t->late_per_row > 0 ? 0.35 * (RecordsOf(t->late_per_row, length) - 1) : 0));
}

/* Steps full of records: of those that are late, by as many chunks as a level set is spread over; of all others, by
   all. */
static double Work(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double all    = Records(t, s->length),
               late   = t->late_per_row > 0 ? fmin(RecordsOf(t->late_per_row, s->length), all) : all,
               spread = t->late_per_row > 0 ? 0.4 : 0.75;

  return 0.6 * t->rows / s->width *
         ((all - late) / s->chunks + late / fmin(s->chunks, 1 + spread * t->level_span * s->chunks / t->rows));
}

/* Steps that a solve is expected to take by what statistics alone say: its chain, in whose steps there is room for
   other records; crossings from chunk to chunk, which a chain passes in their order. */
static double Expected(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double power = 1.7;

  return pow(pow(Chain(t, s->length), power) + pow(Work(t, s), power), 1 / power) +
         0.6 * (s->cluster > 1 ? s->near : s->far) * fmin(s->chunks, 0.6 * t->levels);
}

/* Of a solve: its steps, and what its chunks take from others. */
static double Seconds(const TrsvStatistics *t, const TrsvCosts *c, const TrsvChunkSettings *s)
{
  const double size    = (double)t->rows / s->chunks,
               imports = (t->row_mean - 1) * (1 - t->hub_fraction) * size * fmin(1, t->mean_offset / size);

  return 1e-9 * ((double)(s->cluster > 1 ? START_CLUSTER : START) + Expected(t, s) * Step(t, s->length) * c->step) +
         1e-9 * taken * c->hop * imports;
}

/* How many planes a matrix has, as those of grids in three dimensions in their natural order have them: blocks of
   equally many rows, each of which depends on the one before. 0 where there are none. */
static int Planes(const TrsvStatistics *t)
{
  if (!TrsvRegular(t)) return 0;
  /* rows reach back a plane at most; or a plane in the mean, and some a little beyond */
  const int least = t->rows / t->bandwidth, most = (int)(t->rows / t->row_bandwidth + 0.5);
  return t->rows % t->bandwidth && most > 0 && t->rows % most == 0 ? most : least;
}

/* Chunks of planes, 0 where planes are too few or too small for that, or too many. So rows depend on their own chunk
   and the one before alone, most of which are in one cluster, and no chunk is ahead of its time: up to 2.6 times as
   fast as other chunks. Where what a chunk takes from the one before would not fit into shared memory, smaller ones. */
static int PlaneChunks(const TrsvStatistics *t, int length, int most)
{
  const int few = 24, many = 1024, small = 800, imports = length > 5 ? 17000 : 20000, planes = Planes(t),
            smaller = t->rows / imports + 1;

  if (t->levels <= DEEP || planes < few || most < few || t->bandwidth < small) return 0;
  if (t->bandwidth > imports) return smaller <= many ? smaller : 0;
  return planes <= 1.25 * most ? planes : 0; /* the first are over before the last begin */
}

/* How many chunks otherwise. They are of some 1000 rows, fewer where rows are long, of shallow factors smaller; very
   large ones are the smaller if there are more of them than are at work at a time (G3_circuit: 8%). */
static int Chunks(const TrsvStatistics *t, int most)
{
  const double size = t->levels > DEEP ? 1000 * fmin(1, 8 / t->row_mean) : 400, large = 11000;

  if (most > 1 && t->rows > large * most && !TrsvRegular(t)) return most + 16;
  return Clamp(t->rows / size, 1, most);
}

/* The same for rows of one record that depend on rows so near that crossings, more than the width of level sets, are
   what takes time; 0 for others. */
static int NearChunks(const TrsvStatistics *t, int length, int most)
{
  const int chunks = Clamp(16 * round(t->level_mean / (9.4 * 16)), most < 8 ? most : 8, most);

  return t->levels > DEEP && Records(t, length) == 1 && t->rows / (double)chunks >= 8 * t->mean_offset ? chunks : 0;
}

/* Settings by that time, the best first; how many there are. */
static int Likely(const TrsvStatistics *t, const TrsvCosts *costs, int multiprocessors,
                  TrsvChunkSettings choice[CHUNK_CHOICES], double time[CHUNK_CHOICES])
{
  static const double share[] = {1, 0.5, 2, 0.25};
  const int           deep    = t->levels > DEEP,
                      most = multiprocessors < 9 ? 1 : multiprocessors * 10 / 11 / 8 * 8; /* fits in clusters of 8 */
  int                 choices = 0;

  for (int kind = 0; kind < KINDS; kind++) {
    const int length = records[kind].length, planes = PlaneChunks(t, length, most), near = NearChunks(t, length, most),
              likely = Chunks(t, most);

    if (kind && records[kind].above >= t->row_max - 1) break;
    for (int n = -2; n < (deep ? 4 : 2); n++)
      for (int together = 1; together >= 0; together--) {
        const int         chunks = n == -2 ? planes : n == -1 ? near : n ? Clamp(likely * share[n], 1, most) : likely;
        TrsvChunkSettings s      = {chunks,
                                    length,
                                    32,
                                    1,
                                    2048,
                                    8,
                                    -1,
                                    Steps((double)FAR * costs->hop / costs->step),
                                    Steps((double)NEAR * costs->push / costs->step)};
        double            when;
        int               at = 0, known = 0;

        if (!s.chunks) continue; /* no planes, or not so near */
        if (together) s.cluster = n < 0 && s.chunks >= 16 && s.chunks <= most / 16 * 16 ? 16 : t->levels > 12 ? 8 : 1;
        if (s.cluster > s.chunks || (together && s.cluster == 1)) continue;
        if (s.length <= 3 && t->level_mean * Records(t, s.length) <= (double)RECORDS) s.width = NARROW;
        when = Seconds(t, costs, &s);
        if (planes)
          when *= n > -2                   ? 2
                  : Records(t, length) > 1 ? 1.5
                                           : 1; /* those that depend on more than one chunk, or wait for partial sums */
        else if (TrsvRegular(t) && Records(t, length) > 1)
          when *= 1.3; /* in a grid nearly all that a row depends on is late */
        else if (near && n > -1) when *= 1.1;
        /* of rows cut into many partial sums a schedule of the shortest records takes a quarter longer to make: what
           hundreds of solves would gain */
        if (length == records[0].length && !(t->late_per_row > 0) && Records(t, length) >= (double)SUMS) when *= 1.05;
        for (int k = 0; k < choices; k++) known = known || !memcmp(&s, &choice[k], sizeof(s));
        while (at < choices && time[at] <= when) at++;
        if (known || at == CHUNK_CHOICES) continue;
        if (choices < CHUNK_CHOICES) choices++;
        for (int k = choices - 1; k > at; k--) choice[k] = choice[k - 1], time[k] = time[k - 1];
        choice[at] = s;
        time[at]   = when;
      }
  }
  return choices;
}

/* The best by statistics, or, where that has too many chunks for chains so long, the next. */
TrsvError TrsvChunkSettingsChoose(const ChunkHeights *order, const TrsvStatistics *t, const TrsvCosts *costs,
                                  int multiprocessors, int rank, ChunkSchedule *times)
{
  TrsvChunkSettings choice[CHUNK_CHOICES];
  double            time[CHUNK_CHOICES];

  if (overridden) return TrsvChunkPlace(order, &chosen_for_all, times);
  const int choices = Likely(t, costs, multiprocessors, choice, time);
  if (rank >= choices)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "chunk: only %d settings are considered for this matrix", choices);
  TrsvError error = TrsvChunkPlace(order, &choice[rank], times);
  for (int n = 1; !rank && error == TRSV_ERR_UNSUPPORTED && n < choices; n++)
    error = TrsvChunkPlace(order, &choice[n], times);
  return error;
}

TrsvError TrsvChunkEstimate(const TrsvStatistics *t, double *seconds)
{
  const TrsvCosts   costs = TrsvGetCosts();
  TrsvChunkSettings choice[CHUNK_CHOICES];
  double            time[CHUNK_CHOICES];
  int               multiprocessors;

  TrsvCall(TrsvDeviceMultiprocessors(&multiprocessors));
  *seconds = Likely(t, &costs, multiprocessors, choice, time) ? time[0] : 0;
  return TRSV_SUCCESS;
}
