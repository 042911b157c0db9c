/*
   The automatic choice of an order for a matrix on the device: natural or multicolor.

   In the multicolor order an apply takes less time, and so does mostly the first set-up, which needs no schedule; but
   the solver may need more iterations. The order with the shorter predicted time is chosen: the rest of the set-up, and
   order_iterations iterations, each of two solves, a product with A and vector operations. The expected growth of the
   iterations depends on the fill that ILU(0) discards, estimated from the values in both orders: little in a natural
   order that follows a flow or an elimination, which another order loses. The natural order is also kept if ILU(0)
   discards no fill in it, as in a full band.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "ilu/ilu.h"
#include "solve/model/model.h"

/* Seconds of one triangle's schedule in a first set-up: passes along chains of rows. Other plans take little time. */
static double ScheduleSeconds(const TrsvAlgorithm *a, const TrsvStatistics *s)
{
  return a->traits & TRSV_SCHEDULED ? TrsvModel.plan_chain * sqrt(s->levels * s->row_mean * sqrt((double)s->nnz)) : 0;
}

/* Predicts the two solves, and the rest of a first set-up: schedules and the values. Assumes that U is like L. The
   longest row of a warp is not known before TrsvFactorEnd and is left out; mostly it has the same length in both
   orders. solves is 0 if an algorithm has no prediction. */
static TrsvOrderCost PredictCost(const TrsvFactor *f, const TrsvAlgorithm *const named[2])
{
  const TrsvStatistics *s      = &f->statistics;
  TrsvOrderCost         cost   = {0, TrsvFactorPredict(f)};
  const TrsvChoice      choice = TrsvSelect(s, TRSV_DEVICE, f->precision, TRSV_SELECT_MODEL);

  for (int i = 0; i < 2; i++) {
    const TrsvAlgorithm *a       = named[i] ? named[i] : choice.algorithm;
    const double         seconds = named[i] ? TrsvPredict(a, s, f->precision) : choice.predicted;

    if (!(seconds > 0)) return (TrsvOrderCost){0, 0};
    cost.solves += seconds;
    cost.setup += ScheduleSeconds(a, s);
  }
  return cost;
}

/* Seconds of an iteration of CG without the solves: launches, waits of the host for sums, traffic of A and vectors. */
static double IterationRest(const TrsvFactor *f)
{
  const double byte = TrsvModel.order_byte, size = (double)TrsvValueSize(f->precision);

  return TrsvModel.order_rest + byte * ((size + sizeof(int)) * ((double)f->lower + f->upper) + 10 * size * f->rows);
}

/* Seconds from a pattern to a solution; growth: the factor on the number of iterations. */
static double SolutionSeconds(const TrsvOrderCost *c, double rest, double growth)
{
  return c->setup + TrsvModel.order_iterations * growth * (c->solves + rest);
}

/* Seconds to try the multicolor order: the ordering, and the pattern in it. The rows of a chain wait for each other,
   but not those of a grid. */
static double TrialSeconds(const TrsvFactor *f)
{
  const double chain = TrsvIsGrid(&f->statistics) ? 0 : TrsvModel.order_find_level * f->statistics.levels;

  return TrsvModel.order_find + chain + TrsvModel.order_pattern;
}

/* Estimates the cost of the multicolor order before that order is found. */
static TrsvOrderCost EstimateMulticolor(const TrsvFactor *natural, const TrsvAlgorithm *const named[2])
{
  const int  levels   = (int)(TrsvIsGrid(&natural->statistics) ? TrsvModel.order_levels_grid : TrsvModel.order_levels);
  TrsvFactor estimate = *natural;
  TrsvStatistics *s   = &estimate.statistics;

  if (s->levels > levels) s->levels = levels;
  s->level_mean     = (double)s->rows / s->levels;
  s->level_max      = (int)ceil(s->level_mean); /* colors have about the same size */
  s->level_span     = s->level_mean;
  s->chain_fraction = 0; /* no chains of neighbors */
  s->bandwidth      = s->rows; /* dependencies are in all colors before */
  s->row_bandwidth  = s->rows / 2.0; /* half as far in the mean, unlike in a grid in the natural order */
  return PredictCost(&estimate, named);
}

/* Iterations in another order over those in the natural one, given the fill discarded in both orders. */
static double IterationGrowth(const double fill[2])
{
  if (!(fill[1] > fill[0])) return TrsvModel.order_growth; /* NaN, too */
  return fill[0] > 0 ? TrsvModel.order_growth * fill[1] / fill[0] : HUGE_VAL;
}

/* 1 if ILU(0) in the natural order discards no fill: fill is only between a row's first entry and its diagonal. */
static int IsComplete(const TrsvStatistics *s) { return s->row_bandwidth * s->rows < (double)(s->nnz - s->rows) + 0.5; }

static void ExplainChoice(TrsvOrderChoice *choice, int natural, int ordered)
{
  const TrsvOrderCost *first  = choice->multicolor ? &choice->ordered : &choice->natural,
                      *second = choice->multicolor ? &choice->natural : &choice->ordered;

  (void)snprintf(choice->reason, sizeof(choice->reason),
                 "%d level sets, solves %.3g ms, set-up %.3g ms; in %s %d, %.3g ms, %.3g ms (predicted); "
                 "%.3g times as many iterations expected in multicolor",
                 choice->multicolor ? ordered : natural, 1e3 * first->solves, 1e3 * first->setup,
                 choice->multicolor ? "the natural order" : "multicolor", choice->multicolor ? natural : ordered,
                 1e3 * second->solves, 1e3 * second->setup, choice->growth);
}

/* Sets choice->reason, which is "", if the multicolor order need not be tried. natural: the factor in that order;
   estimate: the cost of the other one. */
static void RefuseMulticolor(const TrsvFactor *natural, const TrsvOrderCost *estimate, TrsvOrderChoice *choice)
{
  const TrsvStatistics *s       = &natural->statistics;
  const double          seconds = SolutionSeconds(&choice->natural, choice->rest, 1);

  if (!(choice->natural.solves > 0))
    (void)snprintf(choice->reason, sizeof(choice->reason), "there is no prediction for the algorithm that is named");
  else if (seconds < TrialSeconds(natural) + SolutionSeconds(estimate, choice->rest, TrsvModel.order_growth))
    (void)snprintf(choice->reason, sizeof(choice->reason),
                   "%d level sets, solves %.3g ms, set-up %.3g ms (predicted): too little to gain", s->levels,
                   1e3 * choice->natural.solves, 1e3 * choice->natural.setup);
  else if (IsComplete(s)) (void)snprintf(choice->reason, sizeof(choice->reason), "ILU(0) discards no fill");
}

/* 1 if the multicolor order, with the expected growth of the iterations, takes less time. */
static int IsFaster(const TrsvOrderChoice *choice, const TrsvOrderCost *ordered)
{
  return SolutionSeconds(ordered, choice->rest, choice->growth) < SolutionSeconds(&choice->natural, choice->rest, 1);
}

static void ExplainGrowth(const TrsvOrderChoice *choice, char reason[], size_t size)
{
  (void)snprintf(reason, size, "ILU(0) discards more fill in multicolor: %.3g times as many iterations expected",
                 choice->growth);
}

TrsvError TrsvIluCheckOrder(const TrsvIlu *ilu, const TrsvCSR *A, char reason[], size_t size)
{
  const TrsvFactor *f      = ilu->factor;
  TrsvOrderChoice   choice = ilu->order;
  TrsvWorkOrder     work   = ilu->work;
  double            fill[2];
  TrsvCSR           N;
  TrsvError         error;

  reason[0] = 0;
  if (!f || ilu->request.order != TRSV_ORDER_AUTO || !choice.multicolor) return TRSV_SUCCESS;
  TrsvCall(TrsvWorkDevice(&work));
  TrsvCall(TrsvNarrowCreate(A, &N));
  error = TrsvDeviceDiscardedFill(&N, f->order, f->precision, fill);
  TrsvNarrowDestroy(A, &N);
  TrsvCall(error);
  choice.growth = IterationGrowth(fill);
  if (!IsFaster(&choice, &choice.ordered)) ExplainGrowth(&choice, reason, size);
  return TRSV_SUCCESS;
}

/* Replaces *factor by one in the multicolor order if that takes less predicted time. estimate: its predicted cost. */
static TrsvError TryMulticolor(const TrsvCSR *A, TrsvFactorKind kind, const TrsvAlgorithm *const named[2],
                               const TrsvOrderCost *estimate, TrsvFactor **factor, TrsvOrderChoice *choice)
{
  const TrsvPrecision precision = (*factor)->precision;
  const int           levels    = (*factor)->statistics.levels;
  TrsvFactor         *ordered   = NULL;
  TrsvOrdering       *multicolor;
  double              fill[2];
  TrsvError           error;

  TrsvCall(TrsvDeviceOrderValues(A, precision, &multicolor));
  error = TrsvDeviceDiscardedFill(A, multicolor->order, precision, fill);
  if (!error) choice->growth = IterationGrowth(fill);
  if (!error && !IsFaster(choice, estimate)) ExplainGrowth(choice, choice->reason, sizeof(choice->reason));
  else if (!error) error = TrsvFactorBegin(A, multicolor->order, TRSV_DEVICE, kind, precision, &ordered);
  TrsvOrderingDestroy(&multicolor);
  if (!ordered) return error;
  choice->ordered    = PredictCost(ordered, named);
  choice->multicolor = IsFaster(choice, &choice->ordered);
  ExplainChoice(choice, levels, ordered->statistics.levels);
  TrsvFactorDestroy(choice->multicolor ? factor : &ordered);
  if (choice->multicolor) *factor = ordered;
  return TRSV_SUCCESS;
}

TrsvError TrsvFactorCreateOrdered(const TrsvCSR *A, TrsvFactorKind kind, TrsvPrecision precision,
                                  const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvFactor **factor,
                                  TrsvOrderChoice *choice)
{
  const TrsvAlgorithm *const named[2] = {lower, upper};
  TrsvOrderCost              estimate;
  TrsvError                  error;

  memset(choice, 0, sizeof(*choice));
  TrsvCall(TrsvFactorBegin(A, NULL, TRSV_DEVICE, kind, precision, factor));
  choice->natural = PredictCost(*factor, named);
  choice->rest    = IterationRest(*factor);
  estimate        = EstimateMulticolor(*factor, named);
  RefuseMulticolor(*factor, &estimate, choice);
  error = choice->reason[0] ? TRSV_SUCCESS : TryMulticolor(A, kind, named, &estimate, factor, choice);
  if (error == TRSV_ERR_MEMORY) {
    (void)snprintf(choice->reason, sizeof(choice->reason), "there is no memory for two factors, to compare");
    error = TRSV_SUCCESS;
  }
  if (!error) return TrsvFactorEnd(factor);
  TrsvFactorDestroy(factor);
  return error;
}
