/*
   Plans: what is the same for every algorithm.
*/
#include <stdlib.h>
#include "impl.h"

TrsvError TrsvPlanCreate(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int values, const TrsvAlgorithm *algorithm, TrsvPlan **plan)
{
  TrsvPlan *p;
  TrsvError error;

  *plan = NULL;
  p     = calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a plan");
  p->algorithm = algorithm;
  p->precision = A->precision;
  p->rows      = A->rows;
  p->values    = values;
  error        = algorithm->analyse(p, A, analysis, source);
  /* what analyse asked of the default stream must be done before another stream solves */
  if (!error && algorithm->memory == TRSV_DEVICE) error = TrsvDeviceFinish();
  if (error) TrsvPlanDestroy(&p);
  *plan = p;
  return error;
}

TrsvError TrsvPlanSetValues(TrsvPlan *plan, const void *values, TrsvMemory memory, TrsvStream stream)
{
  const TrsvAlgorithm *a = plan->algorithm;
  void                *staged;
  TrsvError            error;

  if (!plan->rows) return TRSV_SUCCESS;
  if (memory == a->memory) return a->set_values(plan, values, stream);
  if (memory == TRSV_DEVICE) return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on the host and takes no values from a device", a->name);
  TrsvCall(TrsvDeviceStage(values, TrsvValueSize(plan->precision) * (size_t)plan->values, &staged, stream));
  error = a->set_values(plan, staged, stream);
  TrsvDeviceUnstage(staged, stream);
  return error;
}

TrsvError TrsvPlanSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  return plan->rows ? plan->algorithm->solve(plan, b, x, stream) : TRSV_SUCCESS;
}

const TrsvAlgorithm *TrsvPlanAlgorithm(const TrsvPlan *plan) { return plan->algorithm; }

size_t TrsvPlanBytes(const TrsvPlan *plan) { return plan->bytes; }

void TrsvPlanDestroy(TrsvPlan **plan)
{
  if (!*plan) return;
  (*plan)->algorithm->destroy(*plan);
  free(*plan);
  *plan = NULL;
}
