/*
   The order in which a matrix on the device is factored, where it is left to us: the natural one, or multicolour.

   Multicolour shortens an apply and costs iterations. It is taken where an iteration in it, L and U and the rest (the multiplication by A
   and the vectors), is predicted to take so much less time that some more of them are paid for. Never where the values are far from symmetric: a flow, or
   an elimination order, is written into such a matrix, and ILU(0) in another order loses it.
*/
#include <math.h>
#include <stdio.h>
#include "bmc.h"
#include "factor.h"

/* Over the symmetric matrices of results/orderings.jsonl iterations grow by 1.07 in the geometric mean, 1.35 at most. Those of values further from
   symmetric than this are the ones that lose convergence, or take several times as many. */
static const double growth = 1.2, unsymmetric = 0.1;

/* To look at multicolour takes as long as some tens of iterations, so it must promise more than is asked of it once it is there; with as many level sets
   as it has at most in most matrices, or in most grids, whose order is made in no time. */
static const double promise = 1.4, promise_grid = 1.2;

enum {
  LEVELS      = 32,
  LEVELS_GRID = 10
};

/* Seconds of the two solves; U is taken to be like L. 0 where an algorithm has no prediction. */
static double Apply(const TrsvStatistics *s, TrsvPrecision precision, const TrsvAlgorithm *const asked[2])
{
  double seconds = 0;
  char   why[128];

  for (int i = 0; i < 2; i++) {
    const TrsvAlgorithm *a = asked[i] ? asked[i] : TrsvSelect(s, TRSV_DEVICE, precision, TRSV_SELECT_MODEL, why, sizeof(why));

    if (!(TrsvPredict(a, s, precision) > 0)) return 0;
    seconds += TrsvPredict(a, s, precision);
  }
  return seconds;
}

/* Seconds of an iteration but for the apply, of CG: launches, A and some vectors. */
static double Rest(const TrsvFactor *f)
{
  const double launches = 25e-6, byte = 0.3e-12 * TrsvGetCosts().byte, size = (double)TrsvValueSize(f->precision);

  return launches + byte * ((size + sizeof(int)) * ((double)f->lower + f->upper) + 10 * size * f->rows);
}

/* The multicolour ordering where it is made sooner: on the device the rows of a chain wait for each other, the longer the more entries they have; but
   those of a grid do not. Constants are from 35 matrices on an H200. */
static TrsvError Order(const TrsvFactor *f, const int *offsets, const int *columns, const double *values, int size, TrsvOrdering **bmc)
{
  const double entries = (double)f->lower + f->upper, rows = f->rows;
  const double device = 0.35e-3 + 0.2e-6 * f->statistics.levels * entries / rows, host = 0.1e-3 + 0.12e-6 * rows + 10e-9 * entries;

  if (host < device && !TrsvRegular(&f->statistics)) return TrsvOrderByHost(f->rows, offsets, columns, values, size, bmc);
  return TrsvOrderBMC(f->rows, offsets, columns, values, TRSV_DEVICE, size, bmc);
}

TrsvError TrsvFactorCreateOrdered(int rows, const int *offsets, const int *columns, const void *values, TrsvFactorKind kind, TrsvPrecision precision, int size, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvFactor **factor, int *row, TrsvOrderChoice *choice)
{
  const TrsvAlgorithm *const asked[2] = {lower, upper};
  TrsvFactor                *natural, *ordered;
  TrsvOrdering              *bmc;
  TrsvStatistics             s;
  TrsvError                  error;
  double                     asymmetry;
  int                        none, grid, levels;

  *factor = NULL;
  *choice = (TrsvOrderChoice){0, 0, 0, 0, ""};
  TrsvCall(TrsvFactorCreate(rows, offsets, columns, NULL, TRSV_DEVICE, kind, precision, &natural, row));
  *factor         = natural;
  choice->natural = Apply(&natural->statistics, precision, asked);
  choice->rest    = Rest(natural);
  s               = natural->statistics;
  grid            = TrsvRegular(&s);
  levels          = grid ? LEVELS_GRID : LEVELS; /* what it can come to */
  if (s.levels > levels) s.levels = levels;
  s.level_mean = (double)rows / s.levels;
  s.level_max  = (int)ceil(s.level_mean); /* colours are balanced, and each stands together */
  s.span       = 0.8 * s.level_mean;
  s.chained    = 0; /* these are level sets of whole chains */
  if (!(choice->natural > 0)) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no prediction for the algorithm that is named");
    return TRSV_SUCCESS;
  }
  if (choice->natural + choice->rest < (grid ? promise_grid : promise) * (Apply(&s, precision, asked) + choice->rest)) {
    (void)snprintf(choice->why, sizeof(choice->why), "%d level sets, predicted %.3g ms: too little to gain", natural->statistics.levels, 1e3 * choice->natural);
    return TRSV_SUCCESS;
  }
  error = TrsvDeviceAsymmetry(rows, offsets, columns, precision, values, &asymmetry);
  if (!error && !(asymmetry <= unsymmetric)) {
    (void)snprintf(choice->why, sizeof(choice->why), "the values are unsymmetric: %.2g of what they can be", asymmetry);
    return TRSV_SUCCESS;
  }
  if (!error) error = Order(natural, offsets, columns, precision == TRSV_DOUBLE ? (const double *)values : NULL, size, &bmc);
  if (!error) {
    error = TrsvFactorCreate(rows, offsets, columns, bmc->order, TRSV_DEVICE, kind, precision, &ordered, &none);
    TrsvOrderingDestroy(&bmc);
  }
  if (error == TRSV_ERR_MEMORY) {
    (void)snprintf(choice->why, sizeof(choice->why), "there is no memory for two factors, to compare");
    return TRSV_SUCCESS;
  }
  if (error) {
    TrsvFactorDestroy(factor);
    return error;
  }
  choice->ordered = Apply(&ordered->statistics, precision, asked);
  choice->bmc     = growth * (choice->ordered + choice->rest) < choice->natural + choice->rest;
  (void)snprintf(choice->why, sizeof(choice->why), "%d level sets, predicted %.3g ms; in the natural order %d, %.3g ms", ordered->statistics.levels, 1e3 * choice->ordered, natural->statistics.levels, 1e3 * choice->natural);
  if (!choice->bmc) (void)snprintf(choice->why, sizeof(choice->why), "%d level sets, predicted %.3g ms; multicolour %d, %.3g ms", natural->statistics.levels, 1e3 * choice->natural, ordered->statistics.levels, 1e3 * choice->ordered);
  TrsvFactorDestroy(choice->bmc ? &natural : &ordered);
  *factor = choice->bmc ? ordered : natural;
  return TRSV_SUCCESS;
}
