/*
   What solves are predicted to take: formulas in the statistics of a triangle. Each says what its terms stand for; how
   well they fit is said in constants.h.
*/
#include <math.h>
#include "solve/model/model.h"

#define TRSV_CONSTANT(name, value, unit, how) .name = value,
TRSV_MODEL_QUALIFIER TrsvModelConstants TrsvModel = {TRSV_CONSTANTS(TRSV_CONSTANT)};

static const TrsvModelConstants *const k = (const TrsvModelConstants *)&TrsvModel;

/* 1 where dependencies are anywhere, and the rows of a level set beside those of others, as by chance, so that values
   come from all over memory; 0 where dependencies are near by, or where level sets stand together, as colors do. */
static double CacheMissFactor(const TrsvStatistics *s)
{
  const double far    = s->rows ? 4 * s->mean_offset / s->rows - 0.25 : 0,
               beside = s->rows ? (s->level_span * s->levels / s->rows - 2) / 4 : 0;

  return far > 0 && beside > 0 ? (far < 1 ? far : 1) * (beside < 1 ? beside : 1) : 0;
}

/* A launch; a hop through L2 for each level set, dearer where many rows poll, and where their values are all over a
   memory that no cache holds; what crosses the memory, and what long rows keep a warp waiting for that holds a chain of
   them. */
double TrsvModelThread(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double hop = k->thread_hop * c->hop, crowd = k->thread_crowd * c->hop, scattered = k->thread_scattered * c->hop,
               entry      = (precision == TRSV_FLOAT ? k->thread_entry_float : k->thread_entry_double) * c->byte,
               long_entry = k->thread_long_entry * c->hop;
  const double chains =
    s->chain_fraction * fmin(fmax((s->row_mean - k->thread_long_row) / k->thread_long_range, 0), 1);

  return k->thread_launch +
         s->levels * (hop + crowd * log10(s->level_mean + 1) + scattered * CacheMissFactor(s) * s->rows) +
         (entry + long_entry * chains) * (double)s->nnz;
}

/* A launch; a hop through L2 for two level sets, dearer where many rows poll, where they are long, and where their
   values are all over memory; what crosses the memory, which rows of wide level sets load twice. Never for the widest,
   where that is most of it. */
double TrsvModelRecompute(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double hop = k->recompute_hop * c->hop, crowd = k->recompute_crowd * c->hop,
               dependency = k->recompute_dependency * c->hop, scattered = k->recompute_scattered * c->hop,
               entry = (precision == TRSV_FLOAT ? k->recompute_entry_float : k->recompute_entry_double) * c->byte;

  if (s->level_mean > k->recompute_wide) return INFINITY;
  return k->recompute_launch +
         (1 + s->levels / 2) *
           (hop + crowd * log10(s->level_mean + 1) + dependency * fmin(s->row_mean - 1, k->recompute_dependencies) +
            scattered * CacheMissFactor(s) * s->rows) +
         entry * (double)s->nnz;
}

/* Level sets of slices, where rows stand in chains that a slice holds several of: a chain takes as many level sets of
   rows as it is long, and one of slices. In a grid in multicolor order the longest way through rows passes two chains,
   in all level sets of a slice's length at most. */
static double SliceLevels(const TrsvStatistics *s, int slice)
{
  const double chain = s->chain_fraction < 1 ? 1 / (1 - s->chain_fraction) : s->rows;

  return chain > slice / 2 ? s->levels : fmax(s->levels / chain, s->levels - 2 * (chain - 1));
}

/* A launch; a hop for each level set, as a warp waits for all its rows; what crosses the memory, or what one line of L2
   gives out where all want the same. Partial sums part a chain's rows. */
double TrsvModelSell(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision, int wide, int slice)
{
  const double hop = k->sell_hop * c->hop, same = k->sell_same * c->hop,
               scattered = k->sell_scattered * CacheMissFactor(s) * fmin(s->row_mean - 1, k->sell_dependencies);
  const double entry =
    ((precision == TRSV_FLOAT ? k->sell_entry_float : k->sell_entry_double) + scattered) * c->byte;
  const double levels = s->row_mean > (double)wide ? s->levels : SliceLevels(s, slice);

  return k->sell_launch + levels * hop +
         fmax(entry * (double)s->nnz, same * s->hub_fraction * (double)(s->nnz - s->rows));
}

/* Time that does not grow with the number of level sets: filling the pipeline of chunks, by hops through L2, where
   dependencies are far; memory traffic; imports of each chunk. A value is imported once for all its neighbors: rows of
   a grid count as no longer than with 7 points. */
static double Throughput(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double hop = k->chunk_hop * c->hop, import = k->chunk_import * c->hop, size = s->rows / k->chunk_count,
               entry = (precision == TRSV_FLOAT ? k->chunk_entry_float : k->chunk_entry_double) * c->byte;
  const double dependencies = TrsvRegular(s) ? fmin(s->row_mean - 1, 3) : s->row_mean - 1;

  return hop * fmin(s->levels, 20) * fmin(1, s->mean_offset / k->chunk_far) + entry * (double)s->nnz +
         import * dependencies * (1 - s->hub_fraction) * fmin(size, s->mean_offset);
}

/* Where next to no row depends on the one solved right before it, as in an order by colors, no chain stays inside a
   chunk: each level set waits for values of other chunks, more so the more chunks its rows fill; less where a few level
   sets hold most rows, or where each is spread over all chunks. */
static double ColorPenalty(const TrsvCosts *c, const TrsvStatistics *s)
{
  const double crossing = k->chunk_crossing * c->hop, chunks = fmin(k->chunk_count, s->rows / 1000.0);

  if (!s->rows || s->chain_fraction > k->chunk_chained) return 0;
  return crossing * s->rows / s->level_max * sqrt(fmin(2, chunks / s->levels)) * (1 - s->level_span / s->rows);
}

/* What the steps of few chunks take longer than the chain through all, where each level set lies in few: these have all
   the work of the time. */
static double LoadImbalance(const TrsvCosts *c, const TrsvStatistics *s, double chain)
{
  const double power = k->chunk_busy_power, step = k->chunk_busy_step * c->step,
               chunks =
                 s->rows ? fmin(k->chunk_count, 1 + 2 * s->level_span * k->chunk_count / s->rows) : 1,
               records = 1 + fmax(s->row_mean - 4, 0) / 3;

  return pow(pow(chain, power) + pow(k->chunk_busy_share * s->rows / 32 * records / chunks * step, power), 1 / power) -
         chain;
}

/* A launch; a step for each level set, and some more where rows are cut into partial sums. */
double TrsvModelChunk(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double step = k->chunk_step * c->step, sum = k->chunk_sum * c->step,
               chain = s->levels * (step + sum * fmin(fmax(s->row_mean - 3, 0), 3));

  return k->chunk_start + chain + LoadImbalance(c, s, chain) + ColorPenalty(c, s) + Throughput(c, s, precision);
}

/* Two launches; a chain that is the shorter the narrower level sets are, at a price for each level set that grows with
   the rows, whose product is longer. Never for wide level sets, nor where what rows depend on is not in their block. */
double TrsvModelInverse(const TrsvCosts *c, const TrsvStatistics *s, TrsvPrecision precision)
{
  const double step = k->inverse_step * c->step, sum = k->inverse_sum * c->step;

  if (s->level_mean > k->inverse_level_rows || s->chain_fraction < k->inverse_chained) return INFINITY;
  return k->inverse_launch + k->chunk_start +
         (s->levels * (step + sum * fmin(fmax(s->row_mean - 2, 0), 5)) + Throughput(c, s, precision)) /
           (1 + k->inverse_shorter * pow(s->level_mean, k->inverse_power)) +
         ColorPenalty(c, s);
}
