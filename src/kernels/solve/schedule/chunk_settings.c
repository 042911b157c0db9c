/*
   The settings of the algorithm `chunk`: ranked by an estimate from statistics, and printed.

   A schedule says how many steps a solve takes, crossings between chunks among them; but making one takes as long as
   tens of solves. So settings are chosen by an estimate. Its constants: solve/model/constants.h.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "solve/model/model.h"
#include "solve/schedule/schedule.h"

void TrsvChunkSettingsPrint(const TrsvChunkSettings *s, char *line, size_t size)
{
  const int n = snprintf(line, size, "chunks=%d record=%d width=%d cluster=%d stages=%d", s->chunks, s->length,
                         s->width, s->cluster, s->stages);

  if (s->import_lifetime >= 0 && n > 0 && (size_t)n < size)
    (void)snprintf(line + n, size - (size_t)n, " import_lifetime=%d", s->import_lifetime);
}

static const TrsvModelConstants *const k = (const TrsvModelConstants *)&TrsvModel;

/* Dependencies of a record; settings are considered where some row has more dependencies than `above`. */
static const struct {
  int length, above;
} records[] = {{2, -1}, {3, 2}, {5, 3}, {13, 8}};

enum {
  KINDS   = sizeof(records) / sizeof(records[0]),
  NARROW  = 8, /* width of steps that have no more records than RECORDS */
  RECORDS = 6
};

static int Clamp(double v, int least, int most) { return v < least ? least : v > most ? most : (int)v; }

/* ns of a step of records so long. Grids wait less. */
static double StepTime(const TrsvStatistics *t, int length)
{
  const int regular = TrsvRegular(t);

  switch (length) {
  case 2: return regular ? k->settings_step_2 : k->settings_mean_2;
  case 3: return regular ? k->settings_step_3 : k->settings_mean_3;
  case 5: return regular ? k->settings_step_5 : k->settings_mean_5;
  default: return regular ? k->settings_step_13 : k->settings_mean_13;
  }
}

/* Of a row of so many dependencies; of a row of mean length. */
static double RecordsOf(double dependencies, int length)
{
  return dependencies <= length ? 1 : 1 + (dependencies - 2) / (length - 1);
}

static double MeanRecords(const TrsvStatistics *t, int length) { return RecordsOf(t->row_mean - 1, length); }

/* Steps of the longest chain, one for each level set. Where rows depend on rows that get ready together, right before
   them, no partial sum is early: no more than CHUNK_LATE of these rows may be one step old, and those of a level set's
   own records wait for each other. Where dependencies are spread over all rows, a step waits for the last of what its
   records take from other chunks, and long records for more. */
static double ChainSteps(const TrsvStatistics *t, int length)
{
  const double spread = fmin(1, 4 * t->mean_offset / t->rows);

  return k->settings_chain * t->levels * (1 + k->settings_spread_record * spread * fmax(length - 3, 0)) *
         (1 + (t->late_per_row > (double)CHUNK_LATE && length > CHUNK_LATE ? k->settings_late_record : 0) +
          (t->late_per_row > 0 ? k->settings_late_sum * (RecordsOf(t->late_per_row, length) - 1) : 0));
}

/* Steps full of records: of those that are late, by as many chunks as a level set is spread over; of all others, by
   all. */
static double WorkSteps(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double all    = MeanRecords(t, s->length),
               late   = t->late_per_row > 0 ? fmin(RecordsOf(t->late_per_row, s->length), all) : all,
               spread = t->late_per_row > 0 ? k->settings_spread_late : k->settings_spread;

  return k->settings_fill * t->rows / s->width *
         ((all - late) / s->chunks + late / fmin(s->chunks, 1 + spread * t->level_span * s->chunks / t->rows));
}

/* Steps that a solve is expected to take: its chain, in whose steps there is room for other records; crossings from
   chunk to chunk, which a chain passes in their order. */
static double SolveSteps(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double power = k->settings_power;

  return pow(pow(ChainSteps(t, s->length), power) + pow(WorkSteps(t, s), power), 1 / power) +
         k->settings_crossing * (s->cluster > 1 ? s->steps_cluster : s->steps_l2) *
           fmin(s->chunks, k->settings_crossing_levels * t->levels);
}

/* Of a solve: its steps, and what its chunks take from others. */
double TrsvChunkSettingsSeconds(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double size    = (double)t->rows / s->chunks,
               imports = (t->row_mean - 1) * (1 - t->hub_fraction) * size * fmin(1, t->mean_offset / size);

  return 1e-9 * ((s->cluster > 1 ? k->settings_start_cluster : k->settings_start) +
                 SolveSteps(t, s) * StepTime(t, s->length)) +
         1e-9 * k->settings_import * imports;
}

/* How many planes a matrix has, as those of grids in three dimensions in their natural order have them: blocks of
   equally many rows, each of which depends on the one before. 0 where there are none. */
static int CountPlanes(const TrsvStatistics *t)
{
  if (!TrsvRegular(t)) return 0;
  /* rows reach back a plane at most; or a plane in the mean, and some a little beyond */
  const int least = t->rows / t->bandwidth, most = (int)(t->rows / t->row_bandwidth + 0.5);
  return t->rows % t->bandwidth && most > 0 && t->rows % most == 0 ? most : least;
}

/* Chunks of planes, 0 where planes are too few or too small for that, or too many. So rows depend on their own chunk
   and the one before alone, most of which are in one cluster, and no chunk is ahead of its time: up to 2.6 times as
   fast as other chunks. Where what a chunk takes from the one before would not fit into shared memory, smaller ones. */
static int ChoosePlaneChunks(const TrsvStatistics *t, int length, int most)
{
  const int few = 24, many = 1024, small = 800, imports = length > 5 ? 17000 : 20000, planes = CountPlanes(t),
            smaller = t->rows / imports + 1;

  if (t->levels <= k->settings_deep || planes < few || most < few || t->bandwidth < small) return 0;
  if (t->bandwidth > imports) return smaller <= many ? smaller : 0;
  return planes <= 1.25 * most ? planes : 0; /* the first are over before the last begin */
}

/* How many chunks otherwise. They are of some 1000 rows, fewer where rows are long, of shallow factors smaller; very
   large ones are the smaller if there are more of them than are at work at a time (G3_circuit: 8%). */
static int ChooseChunks(const TrsvStatistics *t, int most)
{
  const double size = t->levels > k->settings_deep ? k->settings_rows * fmin(1, k->settings_row_length / t->row_mean)
                                                   : k->settings_rows_shallow;

  if (most > 1 && t->rows > k->settings_rows_large * most && !TrsvRegular(t))
    return most + (int)k->settings_more_chunks;
  return Clamp(t->rows / size, 1, most);
}

/* The same for rows of one record that depend on rows so near that crossings, more than the width of level sets, are
   what takes time; 0 for others. */
static int ChooseNearChunks(const TrsvStatistics *t, int length, int most)
{
  const int chunks = Clamp(16 * round(t->level_mean / (k->settings_near_level * 16)), most < 8 ? most : 8, most);

  return t->levels > k->settings_deep && MeanRecords(t, length) == 1 && t->rows / (double)chunks >= 8 * t->mean_offset
           ? chunks
           : 0;
}

/* Seconds with what the estimate leaves out. Chunks of planes that wait for more than the plane before, or for partial
   sums; in a grid nearly all that a row depends on is late; a schedule of the shortest records, where rows are cut into
   many, takes a quarter longer to make: what hundreds of solves would gain. n: number of chunks, as below. */
static double Weigh(double seconds, const TrsvStatistics *t, int length, int planes, int near, int n)
{
  const int cut = MeanRecords(t, length) > 1, many = length == records[0].length && !(t->late_per_row > 0) &&
                                                     MeanRecords(t, length) >= k->settings_sums_many;

  if (planes) seconds *= n > -2 ? k->settings_not_planes : cut ? k->settings_planes_sums : 1;
  else if (TrsvRegular(t) && cut) seconds *= k->settings_grid_sums;
  else if (near && n > -1) seconds *= k->settings_not_near;
  return many ? seconds * k->settings_sums_cost : seconds;
}

int TrsvChunkSettingsRank(const TrsvStatistics *t, int multiprocessors,
                          TrsvChunkSettings choice[CHUNK_CHOICES], double time[CHUNK_CHOICES])
{
  static const double share[] = {1, 0.5, 2, 0.25};
  const int           deep    = t->levels > k->settings_deep,
                      most = multiprocessors < 9 ? 1 : multiprocessors * 10 / 11 / 8 * 8; /* fits in clusters of 8 */
  int                 choices = 0;

  for (int kind = 0; kind < KINDS; kind++) {
    const int length = records[kind].length, planes = ChoosePlaneChunks(t, length, most),
              near = ChooseNearChunks(t, length, most), likely = ChooseChunks(t, most);

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
                                    (int)k->settings_far,
                                    (int)k->settings_near};
        double            when;
        int               at = 0, known = 0;

        if (!s.chunks) continue; /* no planes, or not so near */
        if (together) s.cluster = n < 0 && s.chunks >= 16 && s.chunks <= most / 16 * 16 ? 16 : t->levels > 12 ? 8 : 1;
        if (s.cluster > s.chunks || (together && s.cluster == 1)) continue;
        if (s.length <= 3 && t->level_mean * MeanRecords(t, s.length) <= (double)RECORDS) s.width = NARROW;
        when = Weigh(TrsvChunkSettingsSeconds(t, &s), t, s.length, planes, near, n);
        for (int i = 0; i < choices; i++) known = known || !memcmp(&s, &choice[i], sizeof(s));
        while (at < choices && time[at] <= when) at++;
        if (known || at == CHUNK_CHOICES) continue;
        if (choices < CHUNK_CHOICES) choices++;
        for (int i = choices - 1; i > at; i--) choice[i] = choice[i - 1], time[i] = time[i - 1];
        choice[at] = s;
        time[at]   = when;
      }
  }
  return choices;
}
