/*
   The settings of the algorithm `chunk`, ranked by predicted time.

   A schedule gives the number of steps of a solve, but making one takes as long as tens of solves. So settings are
   ranked by a prediction from the statistics of the triangle. Its constants are in solve/model/constants.h.
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

/* Lengths of records. Each is a candidate if the longest row has more than `above` dependencies. */
static const struct {
  int length, above;
} records[] = {{2, -1}, {3, 2}, {5, 3}, {13, 8}};

enum {
  RECORD_LENGTHS     = sizeof(records) / sizeof(records[0]),
  NARROW_WIDTH       = 8, /* width of the steps if level sets are narrow */
  NARROW_RECORDS_MAX = 6  /* records of a narrow level set, at most */
};

static int Clamp(double v, int least, int most) { return v < least ? least : v > most ? most : (int)v; }

/* ns of a step, with the mean of its waits or without. */
static double StepTime(int waits, int length)
{
  switch (length) {
  case 2: return waits ? k->settings_mean_2 : k->settings_step_2;
  case 3: return waits ? k->settings_mean_3 : k->settings_step_3;
  case 5: return waits ? k->settings_mean_5 : k->settings_step_5;
  default: return waits ? k->settings_mean_13 : k->settings_step_13;
  }
}

/* The steps of a schedule include the waits. */
double TrsvChunkScheduleSeconds(const TrsvChunkSettings *s, int steps)
{
  return 1e-9 * (k->settings_start + steps * StepTime(0, s->length));
}

/* The number of records of a row with so many dependencies, and of a row of mean length. */
static double CountRecords(double dependencies, int length)
{
  return dependencies <= length ? 1 : 1 + (dependencies - 2) / (length - 1);
}

static double MeanRecords(const TrsvStatistics *t, int length) { return CountRecords(t->row_mean - 1, length); }

/* The steps of the longest chain: about one for each level set, and more in two cases.
   - Dependencies are spread over all rows. A step waits for the last import of its records; long records have more.
   - Rows depend on many rows of the level set just before (late_per_row). A record may have CHUNK_LATE dependencies of
     the step just before it, so a row with more waits a step longer, and its partial sums wait for each other. */
static double ChainSteps(const TrsvStatistics *t, int length)
{
  const double spread = fmin(1, 4 * t->mean_offset / t->rows);

  return k->settings_chain * t->levels * (1 + k->settings_spread_record * spread * fmax(length - 3, 0)) *
         (1 + (t->late_per_row > (double)CHUNK_LATE && length > CHUNK_LATE ? k->settings_late_record : 0) +
          (t->late_per_row > 0 ? k->settings_late_sum * (CountRecords(t->late_per_row, length) - 1) : 0));
}

/* The steps that the records of a chunk fill. The late records of a level set are in the chunks over which it is
   spread, all other records in all chunks. */
static double WorkSteps(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double all    = MeanRecords(t, s->length),
               late   = t->late_per_row > 0 ? fmin(CountRecords(t->late_per_row, s->length), all) : all,
               spread = t->late_per_row > 0 ? k->settings_spread_late : k->settings_spread;

  return k->settings_fill * t->rows / s->width *
         ((all - late) / s->chunks + late / fmin(s->chunks, 1 + spread * t->level_span * s->chunks / t->rows));
}

/* The steps of a solve: those of the chain and of all records, which overlap in part, and the crossings between chunks
   on the longest chain. */
static double SolveSteps(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double power = k->settings_power;

  return pow(pow(ChainSteps(t, s->length), power) + pow(WorkSteps(t, s), power), 1 / power) +
         k->settings_crossing * (s->cluster > 1 ? s->steps_cluster : s->steps_l2) *
           fmin(s->chunks, k->settings_crossing_levels * t->levels);
}

/* Seconds of a solve: its steps, of which those of regular grids wait less, and the imports of a chunk. */
double TrsvChunkSettingsSeconds(const TrsvStatistics *t, const TrsvChunkSettings *s)
{
  const double size    = (double)t->rows / s->chunks,
               imports = (t->row_mean - 1) * (1 - t->hub_fraction) * size * fmin(1, t->mean_offset / size);

  return 1e-9 * (k->settings_start + SolveSteps(t, s) * StepTime(!TrsvIsGrid(t), s->length)) +
         1e-9 * k->settings_import * imports;
}

/* The number of chunks if chunks are planes of a grid in three dimensions in the natural order: blocks of equally many
   rows, each of which depends on the one before. 0 if there are none, or they are too few, too small, or too many. Rows
   then depend only on their own chunk and the one before, which is in the same cluster for most chunks: such chunks are
   faster than others. If the imports of a plane do not fit into shared memory, chunks are smaller than planes. */
static int ChoosePlaneChunks(const TrsvStatistics *t, int length, int most, size_t shared, size_t size)
{
  if (!TrsvIsGrid(t) || t->levels <= k->settings_deep || t->bandwidth < k->settings_plane_rows) return 0;
  /* the distance of the farthest dependency is that of a plane, or it is so in the mean and a few are farther */
  const int least = t->rows / t->bandwidth, mean = (int)(t->rows / t->row_bandwidth + 0.5),
            planes      = t->rows % t->bandwidth && mean > 0 && t->rows % mean == 0 ? mean : least,
            lost        = (TRSV_H200_SHARED - (int)shared) / (int)size, /* cells */
            fit         = (int)(length > 5 ? k->settings_plane_imports_long : k->settings_plane_imports),
            imports_max = fit * (int)sizeof(double) / (int)size - lost,
            chunks      = imports_max > 0 ? t->rows / imports_max + 1 : t->rows;

  if (fmin(planes, most) < k->settings_planes) return 0;
  if (t->bandwidth > imports_max) return chunks <= k->settings_plane_chunks ? chunks : 0;
  /* more chunks than run at a time: the first end before the last start */
  return planes <= k->settings_plane_rounds * most ? planes : 0;
}

/* The number of chunks of other triangles. If chunks would be very large, there are more of them than run at a time. */
static int ChooseChunks(const TrsvStatistics *t, int most)
{
  if (most > 1 && t->rows > k->settings_rows_large * most && !TrsvIsGrid(t)) return most + (int)k->settings_more_chunks;
  return Clamp(t->rows / TrsvModelChunkRows(t), 1, most);
}

/* The number of chunks if rows have one record and near dependencies: crossings then cost more time than wide level
   sets. 0 for other triangles. */
static int ChooseNearChunks(const TrsvStatistics *t, int length, int most)
{
  const int chunks = Clamp(16 * round(t->level_mean / (k->settings_near_level * 16)), most < 8 ? most : 8, most);

  return t->levels > k->settings_deep && MeanRecords(t, length) == 1 &&
             t->rows / (double)chunks >= k->settings_near_rows * t->mean_offset
           ? chunks
           : 0;
}

/* Choices of the number of chunks: these, then indices of share in TrsvChunkSettingsRank. */
enum { PLANE_CHUNKS = -2, NEAR_CHUNKS = -1 };

/* The settings with records of this length in so many chunks, n being the choice of that number. In the result chunks
   is 0 if there are no such settings. clustered: with clusters. most: chunks that run at a time. */
static TrsvChunkSettings MakeSettings(const TrsvStatistics *t, int length, int chunks, int n, int clustered, int most)
{
  TrsvChunkSettings s = {.chunks          = chunks,
                         .length          = length,
                         .width           = 32,
                         .cluster         = 1,
                         .ring            = 2048,
                         .stages          = 8,
                         .import_lifetime = -1,
                         .steps_l2        = (int)k->settings_steps_l2,
                         .steps_cluster   = (int)k->settings_steps_cluster};

  if (clustered)
    s.cluster = n < 0 && chunks >= 16 && chunks <= most / 16 * 16 ? 16 : t->levels > k->settings_cluster_levels ? 8 : 1;
  if (s.cluster > chunks || (clustered && s.cluster == 1)) s.chunks = 0;
  if (length <= 3 && t->level_mean * MeanRecords(t, length) <= (double)NARROW_RECORDS_MAX) s.width = NARROW_WIDTH;
  return s;
}

/* Inserts settings by their predicted time into the first `count`; returns how many there are then. */
static int InsertSettings(const TrsvChunkSettings *s, double when, int count, TrsvChunkSettings choice[], double time[])
{
  for (int i = 0; i < count; i++)
    if (!memcmp(s, &choice[i], sizeof(*s))) return count;
  if (count == CHUNK_CHOICES && time[count - 1] <= when) return count;
  int at = count < CHUNK_CHOICES ? count++ : count - 1;
  for (; at > 0 && time[at - 1] > when; at--) choice[at] = choice[at - 1], time[at] = time[at - 1];
  choice[at] = *s;
  time[at]   = when;
  return count;
}

int TrsvChunkSettingsRank(const TrsvStatistics *t, int multiprocessors, TrsvDeviceLimits limits,
                          TrsvPrecision precision, TrsvChunkSettings choice[CHUNK_CHOICES], double time[CHUNK_CHOICES])
{
  static const double share[] = {1, 0.5, 2, 0.25};
  const int           deep    = t->levels > k->settings_deep,
                      most = !limits.clusters     ? multiprocessors
                             : multiprocessors < 9 ? 1
                                                   : multiprocessors * 10 / 11 / 8 * 8, /* fits in clusters of 8 */
                      likely = ChooseChunks(t, most);
  int                 choices = 0;

  for (int kind = 0; kind < RECORD_LENGTHS; kind++) {
    const int length = records[kind].length,
              planes = ChoosePlaneChunks(t, length, most, limits.shared_bytes, TrsvValueSize(precision)),
              near   = ChooseNearChunks(t, length, most);

    if (records[kind].above >= t->row_max - 1) break;
    if (TrsvIsComplex(precision) && length > CHUNK_COMPLEX_MAX) break;
    for (int n = PLANE_CHUNKS; n < (deep ? 4 : 2); n++) {
      const int chunks = n == PLANE_CHUNKS  ? planes
                         : n == NEAR_CHUNKS ? near
                         : n                ? Clamp(likely * share[n], 1, most)
                                            : likely;

      for (int clustered = limits.clusters; clustered >= 0; clustered--) {
        const TrsvChunkSettings s = MakeSettings(t, length, chunks, n, clustered, most);

        if (!s.chunks) continue;
        /* what the prediction leaves out in grids: nearly all dependencies of a row are late, so its partial sums wait;
           and chunks that are not planes wait for more than the one before */
        const double grid = (TrsvIsGrid(t) && MeanRecords(t, length) > 1 ? k->settings_grid_sums : 1) *
                            (planes && n != PLANE_CHUNKS ? k->settings_not_planes : 1);
        choices = InsertSettings(&s, grid * TrsvChunkSettingsSeconds(t, &s), choices, choice, time);
      }
    }
  }
  return choices;
}

double TrsvChunkSettingsSlowdown(const TrsvStatistics *t, TrsvDeviceLimits limits, TrsvPrecision precision)
{
  enum { MULTIPROCESSORS = 132 };
  const TrsvDeviceLimits h200 = {1, TRSV_H200_SHARED};
  TrsvChunkSettings      choice[CHUNK_CHOICES];
  double                 here[CHUNK_CHOICES], there[CHUNK_CHOICES];

  return TrsvChunkSettingsRank(t, MULTIPROCESSORS, limits, precision, choice, here) &&
             TrsvChunkSettingsRank(t, MULTIPROCESSORS, h200, precision, choice, there)
           ? fmax(1, here[0] / there[0])
           : 1;
}
