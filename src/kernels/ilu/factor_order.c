/*
   The order in which a matrix on the device is factored, where it is left to us: the natural one, or multicolor.

   Multicolor shortens an apply and mostly the first set-up, as there is no schedule to make, and costs iterations. It
   is taken where what is left of the set-up and a hundred iterations, each L and U and the rest (the multiplication by
   A and the vectors), are predicted to take so much less time that some more iterations are paid for. Never where the
   values are far from symmetric: a flow, or an elimination order, is written into such a matrix, and ILU(0) in another
   order loses it. Nor where L of the natural order is as full as it can get, as in a band.
*/
#include <math.h>
#include <stdio.h>
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "solve/model/model.h"

/* Seconds that the plan of one triangle adds to a first set-up: launches, and a pass over level sets and entries or,
   for a schedule, one that follows the chains of rows. */
static double Plan(const TrsvAlgorithm *a, const TrsvStatistics *s)
{
  const TrsvModelConstants *const k = &TrsvModel;

  return k->plan_launches + (a->traits & TRSV_SCHEDULED
                               ? k->plan_chain * cbrt((double)s->levels * s->rows) * sqrt(s->row_mean)
                               : k->plan_level * s->levels + k->plan_entry * (double)s->nnz);
}

/* The two solves, and what is left of a first set-up once there is a pattern: two plans and the values; U is taken to
   be like L. solves is 0 where an algorithm has no prediction. */
static TrsvOrderCost Cost(const TrsvFactor *f, const TrsvAlgorithm *const asked[2])
{
  const TrsvStatistics *s = &f->statistics;
  TrsvOrderCost         cost = {0, TrsvFactorPredict(f)};
  char                  why[128];

  for (int i = 0; i < 2; i++) {
    const TrsvAlgorithm *a =
      asked[i] ? asked[i] : TrsvSelect(s, TRSV_DEVICE, f->precision, TRSV_SELECT_MODEL, why, sizeof(why));
    const double         seconds = TrsvPredict(a, s, f->precision);

    if (!(seconds > 0)) return (TrsvOrderCost){0, 0};
    cost.solves += seconds;
    cost.setup += Plan(a, s);
  }
  return cost;
}

/* Seconds of an iteration but for the apply, of CG: launches and the host's waits for norms and products; A and some
   vectors. */
static double Rest(const TrsvFactor *f)
{
  const double byte = TrsvModel.order_byte, size = (double)TrsvValueSize(f->precision);

  return TrsvModel.order_rest + byte * ((size + sizeof(int)) * ((double)f->lower + f->upper) + 10 * size * f->rows);
}

/* From a pattern to a solution, of so many times as many iterations */
static double Solution(const TrsvOrderCost *c, double rest, double times)
{
  return c->setup + TrsvModel.order_iterations * times * (c->solves + rest);
}

/* Seconds in which the multicolor ordering is made, on the host where that is sooner: on the device the rows of a chain
   wait for each other, the longer the more entries they have; but those of a grid do not. */
static double OrderSeconds(const TrsvFactor *f, int *on_host)
{
  const TrsvModelConstants *const k       = &TrsvModel;
  const double                    entries = (double)f->lower + f->upper, rows = f->rows;
  const int                       grid    = TrsvRegular(&f->statistics);
  const double device = k->order_device + (grid ? 0 : k->order_device_level * f->statistics.levels * entries / rows),
               host   = k->order_host + k->order_host_row * rows + k->order_host_entry * entries;

  *on_host = host < device && !grid;
  return *on_host ? host : device;
}

/* What it takes to look at multicolor: the ordering, and a pattern in it */
static double Look(const TrsvFactor *f)
{
  int on_host;

  return OrderSeconds(f, &on_host) + TrsvModel.order_look +
         TrsvModel.order_look_entry * ((double)f->lower + f->upper);
}

static TrsvError Order(const TrsvFactor *f, const int *offsets, const int *columns, const double *values,
                       TrsvOrdering **multicolor)
{
  int on_host;

  (void)OrderSeconds(f, &on_host);
  if (on_host) return TrsvOrderByHost(f->rows, offsets, columns, values, multicolor);
  return TrsvOrderMulticolor(f->rows, offsets, columns, values, TRSV_DEVICE, multicolor);
}

/* The factor's cost in multicolor, before that is made */
static TrsvOrderCost Guess(const TrsvFactor *natural, const TrsvAlgorithm *const asked[2])
{
  const int       levels = (int)(TrsvRegular(&natural->statistics) ? TrsvModel.order_levels_grid
                                                                   : TrsvModel.order_levels);
  TrsvFactor      guess  = *natural;
  TrsvStatistics *s      = &guess.statistics;

  if (s->levels > levels) s->levels = levels;
  s->level_mean    = (double)s->rows / s->levels;
  s->level_max     = (int)ceil(s->level_mean); /* colors are balanced, and each stands together */
  s->level_span          = TrsvModel.order_level_span * s->level_mean;
  s->chain_fraction       = 0; /* these are level sets of whole chains */
  s->row_bandwidth = 0; /* nor are they in a grid's own order */
  return Cost(&guess, asked);
}

/* How many times as many iterations it may take: fewer where the matrix is likely to be a grid of 5 or 7 points */
static double Growth(const TrsvStatistics *s)
{
  return TrsvRegular(s) && s->row_max <= 4 ? TrsvModel.order_growth_star : TrsvModel.order_growth;
}

/* Is ILU(0) in the natural order the whole factorisation? Fill stays between a row's first entry and its diagonal. */
static int Complete(const TrsvStatistics *s) { return s->row_bandwidth * s->rows < (double)(s->nnz - s->rows) + 0.5; }

static void Tell(TrsvOrderChoice *choice, int natural, int ordered)
{
  const TrsvOrderCost *first  = choice->multicolor ? &choice->ordered : &choice->natural,
                      *second = choice->multicolor ? &choice->natural : &choice->ordered;

  (void)snprintf(choice->why, sizeof(choice->why),
                 "%d level sets, predicted %.3g ms and %.3g to set up; %s %d, %.3g and %.3g",
                 choice->multicolor ? ordered : natural, 1e3 * first->solves, 1e3 * first->setup,
                 choice->multicolor ? "in the natural order" : "multicolor", choice->multicolor ? natural : ordered,
                 1e3 * second->solves, 1e3 * second->setup);
}

TrsvError TrsvCheckNearlySymmetric(int rows, const int *offsets, const int *columns, TrsvPrecision precision,
                                   const void *values, char why[], size_t size)
{
  double asymmetry;

  TrsvCall(TrsvDeviceAsymmetry(rows, offsets, columns, precision, values, &asymmetry));
  why[0] = 0;
  if (asymmetry > TrsvModel.order_unsymmetric)
    (void)snprintf(why, size, "the values are unsymmetric: %.2g of what they can be",
                   asymmetry); /* not where some are no numbers: nothing is told of the others */
  return TRSV_SUCCESS;
}

static TrsvError Decide(int rows, const int *offsets, const int *columns, const void *values, TrsvFactorKind kind,
                        TrsvPrecision precision, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper,
                        TrsvFactor **factor, int *row, TrsvOrderChoice *choice)
{
  const TrsvAlgorithm *const asked[2] = {lower, upper};
  TrsvFactor                *natural, *ordered;
  TrsvOrdering              *multicolor;
  TrsvOrderCost              guess;
  TrsvError                  error;
  double                     seconds, times;
  int                        none;

  *factor = NULL;
  *choice = (TrsvOrderChoice){.multicolor = 0};
  TrsvCall(TrsvFactorCreateLower(rows, offsets, columns, NULL, TRSV_DEVICE, kind, precision, &natural, row));
  *factor         = natural;
  choice->natural = Cost(natural, asked);
  choice->rest    = Rest(natural);
  if (!(choice->natural.solves > 0)) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no prediction for the algorithm that is named");
    return TRSV_SUCCESS;
  }
  times   = Growth(&natural->statistics);
  seconds = Solution(&choice->natural, choice->rest, 1);
  guess   = Guess(natural, asked);
  if (seconds < Look(natural) + Solution(&guess, choice->rest, times)) {
    (void)snprintf(choice->why, sizeof(choice->why),
                   "%d level sets, predicted %.3g ms and %.3g to set up: too little to gain",
                   natural->statistics.levels, 1e3 * choice->natural.solves, 1e3 * choice->natural.setup);
    return TRSV_SUCCESS;
  }
  if (Complete(&natural->statistics)) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no fill to leave out");
    return TRSV_SUCCESS;
  }
  error = TrsvCheckNearlySymmetric(rows, offsets, columns, precision, values, choice->why, sizeof(choice->why));
  if (!error && choice->why[0]) return TRSV_SUCCESS;
  if (!error)
    error = Order(natural, offsets, columns, precision == TRSV_DOUBLE ? (const double *)values : NULL, &multicolor);
  if (!error) {
    error = TrsvFactorCreate(rows, offsets, columns, multicolor->order, TRSV_DEVICE, kind, precision, &ordered, &none);
    TrsvOrderingDestroy(&multicolor);
  }
  if (error == TRSV_ERR_MEMORY) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no memory for two factors, to compare");
    return TRSV_SUCCESS;
  }
  if (error) {
    TrsvFactorDestroy(factor);
    return error;
  }
  choice->ordered = Cost(ordered, asked);
  choice->multicolor     = Solution(&choice->ordered, choice->rest, times) < seconds;
  Tell(choice, natural->statistics.levels, ordered->statistics.levels);
  TrsvFactorDestroy(choice->multicolor ? &natural : &ordered);
  *factor = choice->multicolor ? ordered : natural;
  return TRSV_SUCCESS;
}

TrsvError TrsvFactorCreateOrdered(int rows, const int *offsets, const int *columns, const void *values,
                                  TrsvFactorKind kind, TrsvPrecision precision, const TrsvAlgorithm *lower,
                                  const TrsvAlgorithm *upper, TrsvFactor **factor, int *row, TrsvOrderChoice *choice)
{
  const TrsvAlgorithm *chosen = lower;
  char                 why[128];
  TrsvError error = Decide(rows, offsets, columns, values, kind, precision, lower, upper, factor, row, choice);

  if (!error && !choice->multicolor && !chosen)
    chosen = TrsvSelect(&(*factor)->statistics, TRSV_DEVICE, precision, TRSV_SELECT_MODEL, why, sizeof(why));
  /* for others than these U's analysis is better made beside L's plan */
  if (!error && !choice->multicolor && chosen && chosen->uses_heights &&
      chosen->uses_heights(&(*factor)->statistics, precision))
    error = TrsvFactorAnalyseUpper(*factor);
  if (error) TrsvFactorDestroy(factor);
  return error;
}
