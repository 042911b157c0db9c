/*
   The choice of the ordering for bench/fit.py: ilu/order.c with predicted times only, without a GPU.
*/
#include <math.h>
#include "solve/model/model.h"
#include "solve/solve.h"

static TrsvChoice SelectAlgorithm(const TrsvStatistics *s, TrsvPrecision precision)
{
  static const TrsvAlgorithm row = {0}, chunk = {.traits = TRSV_SCHEDULED};
  const double               recomputed = TrsvModelRecompute(s, precision),
               thread                   = isfinite(recomputed) ? recomputed : TrsvModelThread(s, precision),
               rows                     = fmin(thread, TrsvModelSell(s, precision)),
               chunks                   = fmin(TrsvModelChunk(s, precision), TrsvModelInverse(s, precision));
  TrsvChoice c                          = {chunks < rows ? &chunk : &row, fmin(rows, chunks), ""};

  return c;
}

#define TrsvSelect(s, memory, precision, selection) SelectAlgorithm(s, precision)
#include "ilu/order.c"

typedef struct {
  TrsvStatistics statistics[2]; /* of L in the natural and in the multicolor order */
  long           lower, upper;
  int            pivots[2];
  double         fill[2];
} Known;

/* Does L look like that of a grid in the natural order? */
int OrderIsRegular(const Known *k) { return TrsvIsGrid(&k->statistics[0]); }

/* The choice of TrsvFactorCreateOrdered(): 1 for multicolor. predicted: the times of solves and set-up in the natural
   order; those of multicolor, estimated and then known; the rest of an iteration; the trial; growth of the fill.
   *tried: was the other ordering made? */
int OrderChoose(const Known *k, double predicted[9], int *tried)
{
  const TrsvAlgorithm *named[2] = {NULL, NULL};
  TrsvOrderChoice      choice   = {0};
  TrsvOrderCost        estimate;
  TrsvFactor           f[2] = {{0}, {0}};

  for (int o = 0; o < 2; o++) {
    f[o].precision  = TRSV_DOUBLE;
    f[o].rows       = k->statistics[o].rows;
    f[o].lower      = (int)k->lower;
    f[o].upper      = (int)k->upper;
    f[o].pivots     = k->pivots[o];
    f[o].statistics = k->statistics[o];
  }
  choice.natural     = PredictCost(&f[0], named);
  choice.ordered     = PredictCost(&f[1], named);
  choice.rest        = IterationRest(&f[0]);
  choice.growth      = IterationGrowth(k->fill);
  estimate           = EstimateMulticolor(&f[0], named);
  const double trial = TrialSeconds(&f[0]);
  const double all[] = {choice.natural.solves, choice.natural.setup,  estimate.solves,
                        estimate.setup,        choice.ordered.solves, choice.ordered.setup,
                        choice.rest,           trial,                 choice.growth};
  memcpy(predicted, all, sizeof(all));
  *tried = !(SolutionSeconds(&choice.natural, choice.rest, 1) <
              trial + SolutionSeconds(&estimate, choice.rest, TrsvModel.order_growth)) &&
            !IsComplete(&f[0].statistics);
  return *tried && IsFaster(&choice, &estimate) && IsFaster(&choice, &choice.ordered);
}
