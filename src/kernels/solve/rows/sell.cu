/*
   sell: a warp for each slice of 32 rows. Mapping, memory order, why it ends, same bits, source: sell_solve.cuh.
   sell.h has the layout; sell_plan.cu chooses the order of the rows.
*/
#include <stdio.h>
#include "solve/model/model.h"
#include "solve/rows/sell_solve.cuh"

extern template TrsvError SellLaunch<TrsvComplex<float>>(const Sell *, bool, const void *, void *, TrsvStream);
extern template TrsvError SellLaunch<TrsvComplex<double>>(const Sell *, bool, const void *, void *, TrsvStream);

static TrsvError SellSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Sell *s = (Sell *)plan->data;

  TrsvCall(TrsvSyncStart(&s->rows.sync, stream));
  return TRSV_BY_PRECISION(plan->precision, SellLaunch)(s, plan->early, b, x, stream);
}

static void SellDestroy(TrsvPlan *plan)
{
  if (plan->data) {
    TrsvDeviceFree(((Sell *)plan->data)->columns);
    TrsvDeviceFree(((Sell *)plan->data)->slice);
  }
  TrsvLevelCSRDestroy(plan);
}

static void SellDescribe(const TrsvPlan *plan, char *line, size_t size)
{
  const Sell *s = (const Sell *)plan->data;

  (void)snprintf(line, size, "%d slices, %d level sets%s", s->slices, s->levels, s->base ? ", columns of 16 bits" : "");
}

static double SellPredict(const TrsvStatistics *s, TrsvPrecision precision)
{
  return TrsvModelSell(s, precision, WIDE, LANES);
}

TRSV_ALGORITHM(TrsvSell) = {
  .name       = "sell",
  .summary    = "a warp for each slice of 32 rows (SELL)",
  .source     = "block multicolor solves: Iwashita et al. (IPDPS 2012, CCF THPC 2020)",
  .citation   = TRSV_CITE_BLOCK_MULTICOLOR,
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = TrsvSellAnalyze,
  .set_values = TrsvLevelCSRSetValues,
  .solve      = SellSolve,
  .destroy    = SellDestroy,
  .predict    = SellPredict,
  .describe   = SellDescribe,
  .traits     = TRSV_PERMUTES_IN_KERNEL | TRSV_TAKES_COMPLEX,
};
