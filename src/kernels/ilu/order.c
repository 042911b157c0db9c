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
#include <string.h>
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "solve/model/model.h"

/* Seconds that the plan of one triangle adds to a first set-up: launches, and a pass over level sets and entries or,
   for a schedule, one that follows the chains of rows. */
static double PlanSeconds(const TrsvAlgorithm *a, const TrsvStatistics *s)
{
  const TrsvModelConstants *const k = &TrsvModel;

  return k->plan_launches + (a->traits & TRSV_SCHEDULED
                               ? k->plan_chain * cbrt((double)s->levels * s->rows) * sqrt(s->row_mean)
                               : k->plan_level * s->levels + k->plan_entry * (double)s->nnz);
}

/* The two solves, and what is left of a first set-up once there is a pattern: two plans and the values. U is taken to
   be like L, for which *choice gets the algorithm where none is named. solves is 0 where one has no prediction. */
static TrsvOrderCost Cost(const TrsvFactor *f, const TrsvAlgorithm *const named[2], TrsvChoice *choice)
{
  const TrsvStatistics *s    = &f->statistics;
  TrsvOrderCost         cost = {0, TrsvFactorPredict(f)};

  if (!named[0] || !named[1]) *choice = TrsvSelect(s, TRSV_DEVICE, f->precision, TRSV_SELECT_MODEL);
  for (int i = 0; i < 2; i++) {
    const TrsvAlgorithm *a       = named[i] ? named[i] : choice->algorithm;
    const double         seconds = named[i] ? TrsvPredict(a, s, f->precision) : choice->predicted;

    if (!(seconds > 0)) return (TrsvOrderCost){0, 0};
    cost.solves += seconds;
    cost.setup += PlanSeconds(a, s);
  }
  return cost;
}

/* Seconds of an iteration but for the apply, of CG: launches and the host's waits for norms and products; A and some
   vectors. */
static double IterationRest(const TrsvFactor *f)
{
  const double byte = TrsvModel.order_byte, size = (double)TrsvValueSize(f->precision);

  return TrsvModel.order_rest + byte * ((size + sizeof(int)) * ((double)f->lower + f->upper) + 10 * size * f->rows);
}

/* From a pattern to a solution, of so many times as many iterations */
static double SolutionSeconds(const TrsvOrderCost *c, double rest, double times)
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
static double LookSeconds(const TrsvFactor *f)
{
  int on_host;

  return OrderSeconds(f, &on_host) + TrsvModel.order_look +
         TrsvModel.order_look_entry * ((double)f->lower + f->upper);
}

static TrsvError MakeOrdering(const TrsvFactor *f, const TrsvCSR *A, TrsvOrdering **multicolor)
{
  const double *values = f->precision == TRSV_DOUBLE ? A->values : NULL;
  int           on_host;

  (void)OrderSeconds(f, &on_host);
  if (on_host) return TrsvOrderByHost(A->rows, A->offsets, A->columns, values, multicolor);
  return TrsvOrderMulticolor(A->rows, A->offsets, A->columns, values, TRSV_DEVICE, multicolor);
}

/* The factor's cost in multicolor, before that is made */
static TrsvOrderCost GuessMulticolor(const TrsvFactor *natural, const TrsvAlgorithm *const named[2])
{
  const int       levels = (int)(TrsvRegular(&natural->statistics) ? TrsvModel.order_levels_grid
                                                                   : TrsvModel.order_levels);
  TrsvFactor      guess  = *natural;
  TrsvStatistics *s      = &guess.statistics;
  TrsvChoice      unused;

  if (s->levels > levels) s->levels = levels;
  s->level_mean     = (double)s->rows / s->levels;
  s->level_max      = (int)ceil(s->level_mean); /* colors are balanced, and each stands together */
  s->level_span     = TrsvModel.order_level_span * s->level_mean;
  s->chain_fraction = 0; /* these are level sets of whole chains */
  s->row_bandwidth  = 0; /* nor are they in a grid's own order */
  return Cost(&guess, named, &unused);
}

/* How many times as many iterations it may take: fewer where the matrix is likely to be a grid of 5 or 7 points */
static double IterationGrowth(const TrsvStatistics *s)
{
  return TrsvRegular(s) && s->row_max <= 4 ? TrsvModel.order_growth_star : TrsvModel.order_growth;
}

/* Is ILU(0) in the natural order the whole factorization? Fill stays between a row's first entry and its diagonal. */
static int IsComplete(const TrsvStatistics *s) { return s->row_bandwidth * s->rows < (double)(s->nnz - s->rows) + 0.5; }

static void Explain(TrsvOrderChoice *choice, int natural, int ordered)
{
  const TrsvOrderCost *first  = choice->multicolor ? &choice->ordered : &choice->natural,
                      *second = choice->multicolor ? &choice->natural : &choice->ordered;

  (void)snprintf(choice->why, sizeof(choice->why),
                 "%d level sets, predicted %.3g ms and %.3g to set up; %s %d, %.3g and %.3g",
                 choice->multicolor ? ordered : natural, 1e3 * first->solves, 1e3 * first->setup,
                 choice->multicolor ? "in the natural order" : "multicolor", choice->multicolor ? natural : ordered,
                 1e3 * second->solves, 1e3 * second->setup);
}

TrsvError TrsvCheckNearlySymmetric(const TrsvCSR *A, TrsvPrecision precision, char why[], size_t size)
{
  double asymmetry;

  TrsvCall(TrsvDeviceAsymmetry(A->rows, A->offsets, A->columns, precision, A->values, &asymmetry));
  why[0] = 0;
  if (asymmetry > TrsvModel.order_unsymmetric) /* not where values are no numbers */
    (void)snprintf(why, size, "the values are unsymmetric: %.2g of what they can be", asymmetry);
  return TRSV_SUCCESS;
}

/* Why multicolor needs no look, once there is a factor in the natural order; choice->why is "" where it does. */
static TrsvError RefuseMulticolor(const TrsvFactor *natural, const TrsvCSR *A, const TrsvAlgorithm *const named[2],
                                  TrsvOrderChoice *choice)
{
  const TrsvStatistics *s       = &natural->statistics;
  const double          seconds = SolutionSeconds(&choice->natural, choice->rest, 1);
  TrsvOrderCost         guess;

  if (!(choice->natural.solves > 0)) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no prediction for the algorithm that is named");
    return TRSV_SUCCESS;
  }
  guess = GuessMulticolor(natural, named);
  if (seconds < LookSeconds(natural) + SolutionSeconds(&guess, choice->rest, IterationGrowth(s))) {
    (void)snprintf(choice->why, sizeof(choice->why),
                   "%d level sets, predicted %.3g ms and %.3g to set up: too little to gain", s->levels,
                   1e3 * choice->natural.solves, 1e3 * choice->natural.setup);
    return TRSV_SUCCESS;
  }
  if (IsComplete(s)) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no fill to leave out");
    return TRSV_SUCCESS;
  }
  return TrsvCheckNearlySymmetric(A, natural->precision, choice->why, sizeof(choice->why));
}

/* Takes the factor in the multicolor order for *factor, in the natural one, if it promises the shorter time. */
static TrsvError TryMulticolor(const TrsvCSR *A, TrsvFactorKind kind, const TrsvAlgorithm *const named[2],
                               TrsvFactor **factor, TrsvOrderChoice *choice)
{
  const TrsvFactor *natural = *factor;
  const double      growth  = IterationGrowth(&natural->statistics);
  TrsvChoice        lower;
  TrsvFactor       *ordered;
  TrsvOrdering     *multicolor;
  int               row;

  TrsvCall(MakeOrdering(natural, A, &multicolor));
  const TrsvError error = TrsvFactorCreate(A->rows, A->offsets, A->columns, multicolor->order, TRSV_DEVICE, kind,
                                           natural->precision, &ordered, &row);
  TrsvOrderingDestroy(&multicolor);
  TrsvCall(error);
  choice->ordered = Cost(ordered, named, &lower);
  choice->multicolor =
      SolutionSeconds(&choice->ordered, choice->rest, growth) < SolutionSeconds(&choice->natural, choice->rest, 1);
  Explain(choice, natural->statistics.levels, ordered->statistics.levels);
  if (choice->multicolor) {
    TrsvFactorDestroy(factor);
    *factor       = ordered;
    choice->lower = lower;
  } else
    TrsvFactorDestroy(&ordered);
  return TRSV_SUCCESS;
}

TrsvError TrsvFactorCreateOrdered(const TrsvCSR *A, TrsvFactorKind kind, TrsvPrecision precision,
                                  const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvFactor **factor, int *row,
                                  TrsvOrderChoice *choice)
{
  const TrsvAlgorithm *const named[2] = {lower, upper};
  const TrsvAlgorithm       *first;
  TrsvError                  error;

  memset(choice, 0, sizeof(*choice));
  TrsvCall(TrsvFactorCreateLower(A->rows, A->offsets, A->columns, NULL, TRSV_DEVICE, kind, precision, factor, row));
  choice->natural = Cost(*factor, named, &choice->lower);
  choice->rest    = IterationRest(*factor);
  error           = RefuseMulticolor(*factor, A, named, choice);
  if (!error && !choice->why[0]) error = TryMulticolor(A, kind, named, factor, choice);
  if (error == TRSV_ERR_MEMORY) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no memory for two factors, to compare");
    error = TRSV_SUCCESS;
  }
  /* of some algorithms the plan of L gains by U's analysis, which others have made beside L's plan */
  first = lower ? lower : choice->lower.algorithm;
  if (!error && !choice->multicolor && first && first->uses_heights &&
      first->uses_heights(&(*factor)->statistics, precision))
    error = TrsvFactorAnalyzeUpper(*factor);
  if (error) TrsvFactorDestroy(factor);
  return error;
}
