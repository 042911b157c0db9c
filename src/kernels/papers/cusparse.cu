/*
   cusparse: SpSV of NVIDIA's cuSPARSE, the baseline (spsv.cu). The matrix is copied in the caller's order.
*/
#include <stdlib.h>
#include "device/sync.cuh"
#include "papers/spsv.h"
#include "solve/plan/plan.h"

typedef struct {
  int       nnz;
  int      *offsets, *columns, *source; /* source: each entry's index in the caller's values; NULL: the same order */
  void     *values;
  TrsvSpsv *spsv;
} Cusparse;

static void CusparseDestroy(TrsvPlan *plan)
{
  Cusparse *c = (Cusparse *)plan->data;

  if (!c) return;
  TrsvSpsvDestroy(c->spsv);
  TrsvDeviceFree(c->offsets);
  TrsvDeviceFree(c->columns);
  TrsvDeviceFree(c->source);
  TrsvDeviceFree(c->values);
  free(c);
}

static TrsvError CusparseAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const size_t rows = (size_t)A->rows, size = TrsvValueSize(A->precision);
  TrsvMatrix   copy = *A;
  Cusparse    *c;
  int          entries;

  (void)analysis;
  TrsvCall(TrsvEntries(A, &entries));
  const size_t nnz = (size_t)entries;
  TrsvCall(TrsvAlloc(sizeof(*c), &plan->data));
  c      = (Cusparse *)plan->data;
  c->nnz = entries;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &c->offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * nnz, &c->columns));
  TrsvCall(TrsvDeviceAlloc(size * nnz, &c->values));
  plan->bytes = sizeof(int) * (rows + 1 + nnz) + size * nnz;
  if (!rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceCopy(c->offsets, A->offsets, sizeof(int) * (rows + 1), NULL));
  TrsvCall(TrsvDeviceCopy(c->columns, A->columns, sizeof(int) * nnz, NULL));
  if (source) {
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * nnz, &c->source));
    TrsvCall(TrsvDeviceCopy(c->source, source, sizeof(int) * nnz, NULL));
    plan->bytes += sizeof(int) * nnz;
  }
  copy.offsets = c->offsets;
  copy.columns = c->columns;
  /* the analysis needs vectors, but does not read them */
  return TrsvSpsvCreate(NULL, &copy, entries, c->values, c->values, c->values, &c->spsv);
}

static TrsvError CusparseSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Cusparse *c = (Cusparse *)plan->data;

  if (c->source) TrsvCall(TrsvDevicePermute(c->nnz, c->source, 0, plan->precision, values, c->values, stream));
  else TrsvCall(TrsvDeviceCopy(c->values, values, TrsvValueSize(plan->precision) * (size_t)c->nnz, stream));
  return TrsvSpsvSetValues(c->spsv, &plan->bytes, stream);
}

static TrsvError CusparseSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  TrsvSpsv *spsv = ((Cusparse *)plan->data)->spsv;

  TrsvCall(TrsvSpsvSetVectors(spsv, b, x));
  return TrsvSpsvSolve(spsv, stream);
}

TRSV_ALGORITHM(TrsvCusparse) = {
  .name       = "cusparse",
  .summary    = "SpSV of the cuSPARSE library",
  .source     = "NVIDIA",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = CusparseAnalyze,
  .set_values = CusparseSetValues,
  .solve      = CusparseSolve,
  .destroy    = CusparseDestroy,
  .traits     = TRSV_TAKES_COMPLEX,
};
