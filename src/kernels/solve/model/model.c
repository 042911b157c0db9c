/*
   Predicted seconds of solves: formulas in the statistics of a triangle. constants.h has the errors of their fits.
*/
#include <math.h>
#include "solve/model/model.h"

#define TRSV_CONSTANT(name, value, unit, how) .name = value,
TRSV_MODEL_QUALIFIER TrsvModelConstants TrsvModel = {TRSV_CONSTANTS(TRSV_CONSTANT)};

static const TrsvModelConstants *const k = (const TrsvModelConstants *)&TrsvModel;

static double EntrySeconds(TrsvPrecision precision, double single, double twice)
{
  return precision == TRSV_FLOAT ? single : twice;
}

/* The time of a solve, without its launch, over that with real values in double precision. */
static double ComplexFactor(TrsvPrecision precision, double single, double twice)
{
  return precision == TRSV_COMPLEX_FLOAT ? single : precision == TRSV_COMPLEX_DOUBLE ? twice : 1;
}

/* From 0 to 1. 1: dependencies are far away and level sets are scattered over the rows, so that each value is a cache
   miss. 0: dependencies are near, or the rows of a level set are contiguous, like those of a color. */
static double CacheMissFactor(const TrsvStatistics *s)
{
  const double far    = s->rows ? 4 * s->mean_offset / s->rows - 0.25 : 0,
               beside = s->rows ? (s->level_span * s->levels / s->rows - 2) / 4 : 0;

  return far > 0 && beside > 0 ? (far < 1 ? far : 1) * (beside < 1 ? beside : 1) : 0;
}

/* The sum of: a launch; a hop through L2 for each level set, slower if values miss the cache; memory traffic. */
double TrsvModelThread(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double entry = EntrySeconds(precision, k->thread_entry_float, k->thread_entry_double);

  return k->thread_launch +
         ComplexFactor(precision, k->thread_complex_float, k->thread_complex_double) *
           (s->levels * (k->thread_hop + k->thread_scattered * CacheMissFactor(s) * s->rows) + entry * (double)s->nnz);
}

/* The sum of: a launch; a hop through L2 for two level sets, slower if many rows poll and if these are long, or if
   values miss the cache; memory traffic. INFINITY if the other form is faster: for complex values; with few level sets,
   where L and U in one launch save more; with wide ones, where loading rows twice takes most of the time. */
double TrsvModelRecompute(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double entry = EntrySeconds(precision, k->recompute_entry_float, k->recompute_entry_double),
               crowd = log10(s->level_mean + 1) * sqrt(fmax(s->row_mean - 1, 0));

  if (TrsvIsComplex(precision) || s->levels < k->recompute_levels || (double)s->nnz > k->recompute_wide * s->levels)
    return INFINITY;
  return k->recompute_launch +
         (1 + s->levels / 2) * (k->recompute_hop + k->recompute_crowd * crowd +
                                k->recompute_scattered * CacheMissFactor(s) * s->rows) +
         entry * (double)s->nnz;
}

/* The number of level sets of slices. A chain of n rows has n level sets of rows, but one level set of slices if it is
   in one slice. In a grid in multicolor order the longest path through rows has two chains. */
static double SliceLevels(const TrsvStatistics *s)
{
  const double chain = s->chain_fraction < 1 ? 1 / (1 - s->chain_fraction) : s->rows;

  return chain > TRSV_SELL_SLICE / 2 ? s->levels : fmax(s->levels / chain, s->levels - 2 * (chain - 1));
}

/* The sum of: a launch; a hop for each level set of slices, or of rows if partial sums break up the chains; memory
   traffic, or the reads of the same lines of L2 if these take longer because most rows depend on the same rows. */
double TrsvModelSell(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double scattered = k->sell_scattered * CacheMissFactor(s) * fmin(s->row_mean - 1, k->sell_dependencies),
               entry     = EntrySeconds(precision, k->sell_entry_float, k->sell_entry_double) + scattered,
               levels    = s->row_mean > (double)TRSV_SELL_WIDE ? s->levels : SliceLevels(s);

  return k->sell_launch + levels * k->sell_hop +
         fmax(entry * (double)s->nnz, k->sell_same * s->hub_fraction * (double)(s->nnz - s->rows));
}

/* The time that does not grow with the number of level sets: filling the pipeline of chunks by hops through L2, if
   dependencies are far; memory traffic; imports of a chunk. A chunk imports a value once for all its rows, so a row of
   a grid counts for three dependencies at most, like those of 7-point stencils. */
static double Throughput(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double entry = EntrySeconds(precision, k->chunk_entry_float, k->chunk_entry_double),
               dependencies = TrsvIsGrid(s) ? fmin(s->row_mean - 1, 3) : s->row_mean - 1;

  return k->chunk_hop * fmin(s->levels, 20) * fmin(1, s->mean_offset / k->chunk_far) + entry * (double)s->nnz +
         k->chunk_import * dependencies * (1 - s->hub_fraction) * fmin(s->rows / k->chunk_count, s->mean_offset);
}

/* Returns 1 if rows are in an order by colors: no row depends on the row before it; or chains are blocks of rows, each
   level set of blocks is a range of rows, and dependencies are in other ranges. */
static int InColors(const TrsvStatistics *s)
{
  if (!s->rows || s->chain_fraction <= k->chunk_chained) return s->rows > 0;
  return s->level_max >= k->chunk_color_rows && s->mean_offset >= k->chunk_color_far * s->level_span &&
         s->level_span * s->levels * (1 - s->chain_fraction) <= k->chunk_level_span * s->rows;
}

double TrsvModelChunkRows(const TrsvStatistics *s)
{
  return s->levels > k->settings_deep ? k->settings_rows * fmin(1, k->settings_row_length / s->row_mean)
                                      : k->settings_rows_shallow;
}

/* In an order by colors each level set waits for values of other chunks, if the farthest dependencies of its rows are
   in other chunks. The wait is longer if level sets fill many chunks, and shorter if a few level sets have most rows,
   or if each level set is spread over all chunks. */
static double ColorPenalty(const TrsvStatistics *s)
{
  const double chunks = fmin(k->chunk_count, s->rows / TrsvModelChunkRows(s));

  if (!InColors(s)) return 0;
  return k->chunk_crossing * s->rows / s->level_max * sqrt(fmin(2, chunks / s->levels)) *
         (1 - s->level_span / s->rows) * fmin(1, s->row_bandwidth * chunks / s->rows);
}

/* If each level set is in few chunks, only these work at a time. Returns the time of their steps beyond that of the
   longest chain. */
static double LoadImbalance(const TrsvStatistics *s, double chain)
{
  const double power  = k->chunk_busy_power,
               chunks = s->rows ? fmin(k->chunk_count, 1 + 2 * s->level_span * k->chunk_count / s->rows) : 1,
               records = 1 + fmax(s->row_mean - 4, 0) / 3,
               work    = k->chunk_busy_share * s->rows / 32 * records / chunks * k->chunk_busy_step;

  return pow(pow(chain, power) + pow(work, power), 1 / power) - chain;
}

/* The sum of: a launch; a step for each level set, longer if rows have partial sums; and the terms above. */
double TrsvModelChunk(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double chain = s->levels * (k->chunk_step + k->chunk_sum * fmin(fmax(s->row_mean - 3, 0), 3));

  return k->chunk_start +
         ComplexFactor(precision, k->chunk_complex_float, k->chunk_complex_double) *
           (chain + LoadImbalance(s, chain) + ColorPenalty(s) + Throughput(s, precision));
}

/* The sum of: two launches; a time for each level set that grows with the length of rows, because the product has
   longer rows, divided by the factor by which inverted blocks shorten the chain. The factor is larger for narrower
   level sets, and smaller if few rows depend on the row before: fewer steps of the chain are then inside blocks. The
   time is longer for grids: their chains also cross lines, and blocks shorten only the parts along a line. INFINITY for
   wide level sets, or if no row depends on the row before. */
double TrsvModelInverse(const TrsvStatistics *s, TrsvPrecision precision)
{
  const double step    = k->inverse_step + k->inverse_sum * fmin(fmax(s->row_mean - 2, 0), 5),
               chained = fmin(1, s->chain_fraction / k->inverse_chained), grid = TrsvIsGrid(s) ? k->inverse_grid : 1;

  if (s->level_mean > k->inverse_level_rows || s->chain_fraction <= k->chunk_chained) return INFINITY;
  return grid * (k->inverse_launch + k->chunk_start +
                 ComplexFactor(precision, k->chunk_complex_float, k->chunk_complex_double) *
                   (s->levels * step + Throughput(s, precision)) /
                   (1 + k->inverse_shorter * chained * pow(s->level_mean, k->inverse_power)));
}
