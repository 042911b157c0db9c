/*
   Creates a factorization, sets its values, and destroys it.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ilu/ilu.h"

/* The reason why the host has to factor, as far as it is known without the pattern; "" if there is none. */
static const char *FindHostReason(const TrsvIluRequest *r, int rows, const TrsvCSR *A)
{
  if (r->place == TRSV_PLACE_HOST) return "requested";
  if (r->fill_levels > 0) return "there are levels of fill";
  if (!rows) return "there are no rows";
  if (r->row != r->column && (!r->row || !r->column || memcmp(r->row, r->column, sizeof(int) * (size_t)rows)))
    return "rows and columns have different orders";
  if (!A || !A->offsets) return "the matrix is not stored in compressed sparse rows";
  return "";
}

const TrsvAlgorithm *TrsvIluNamed(const TrsvIlu *ilu, TrsvMemory memory, int triangle)
{
  const TrsvIluRequest *r = &ilu->request;

  if (memory == r->memory && r->algorithm[triangle]) return r->algorithm[triangle];
  return memory == TRSV_DEVICE && r->thread_level ? TrsvAlgorithmByTraits(TRSV_DEVICE, TRSV_THREAD_LEVEL) : NULL;
}

static TrsvError CreateFactor(TrsvIlu *ilu, const TrsvCSR *A)
{
  const TrsvIluRequest *r          = &ilu->request;
  TrsvOrdering         *multicolor = NULL;
  TrsvError             error;

  if (r->order == TRSV_ORDER_AUTO)
    return TrsvFactorCreateOrdered(A, r->kind, r->precision, TrsvIluNamed(ilu, TRSV_DEVICE, 0),
                                   TrsvIluNamed(ilu, TRSV_DEVICE, 1), &ilu->factor, &ilu->order);
  if (r->order == TRSV_ORDER_GIVEN)
    return TrsvFactorCreate(A->rows, A->offsets, A->columns, r->row, TRSV_HOST, r->kind, r->precision, &ilu->factor);
  error = TrsvIluOrderMulticolor(A, r->precision, &multicolor);
  if (!error)
    error = TrsvFactorCreate(A->rows, A->offsets, A->columns, multicolor->order, TRSV_DEVICE, r->kind, r->precision,
                             &ilu->factor);
  ilu->order.multicolor = !error;
  TrsvOrderingDestroy(&multicolor);
  return error;
}

/* The symbolic factorization on the device. Sets host_reason if the pattern is invalid or the host is faster. */
static TrsvError FactorSymbolic(TrsvIlu *ilu, const TrsvCSR *A)
{
  const TrsvError error = CreateFactor(ilu, A);
  double          device, host;

  if (error == TRSV_ERR_STRUCTURE) {
    (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "%s", TrsvErrorMessage());
    return TRSV_SUCCESS;
  }
  if (error || ilu->request.place != TRSV_PLACE_AUTO) return error;
  device = TrsvFactorPredict(ilu->factor);
  host   = TrsvFactorPredictHost(ilu->factor);
  if (device <= host) return TRSV_SUCCESS;
  (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "predicted %.3g ms, device %.3g ms", 1e3 * host,
                 1e3 * device);
  TrsvFactorDestroy(&ilu->factor);
  return TRSV_SUCCESS;
}

/* FactorSymbolic for a matrix that may be wide. */
static TrsvError FactorWide(TrsvIlu *ilu, const TrsvCSR *A)
{
  TrsvCSR narrowed;

  TrsvCall(TrsvNarrowCreate(A, &narrowed));
  const TrsvError error = FactorSymbolic(ilu, &narrowed);
  TrsvNarrowDestroy(A, &narrowed);
  return error;
}

/* The number of first set-ups on devices. The peak of a set-up is known only if no other has started since. */
static _Atomic unsigned setups;

TrsvError TrsvIluCreate(const TrsvIluRequest *request, int rows, const TrsvCSR *A, TrsvIlu **result)
{
  TrsvIlu  *ilu;
  TrsvError error = TRSV_SUCCESS;

  *result = NULL;
  TrsvCall(TrsvAlloc(sizeof(*ilu), &ilu));
  ilu->request = *request;
  ilu->rows    = rows;
  ilu->tuning  = request->selection == TRSV_SELECT_TUNE;
  TrsvSetTimeout(request->timeout);
  if (request->memory == TRSV_DEVICE) error = TrsvWorkDevice(&ilu->work);
  if (!error && request->memory == TRSV_DEVICE) {
    ilu->bytes_before = TrsvDeviceHeld();
    ilu->setup        = ++setups;
    TrsvDeviceMark();
    (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "%s", FindHostReason(request, rows, A));
    if (!ilu->host_reason[0]) error = FactorWide(ilu, A);
  }
  ilu->request.row = ilu->request.column = NULL;
  if (error) TrsvIluDestroy(&ilu);
  *result = ilu;
  return error;
}

static int WorksOnDevice(const TrsvIlu *ilu, TrsvMemory memory)
{
  return memory == TRSV_DEVICE || ilu->request.memory == TRSV_DEVICE;
}

TrsvError TrsvIluBegin(TrsvIlu *ilu, TrsvMemory memory, TrsvStream stream)
{
  TrsvSetTimeout(ilu->request.timeout);
  return WorksOnDevice(ilu, memory) ? TrsvWorkBegin(&ilu->work, stream) : TRSV_SUCCESS;
}

TrsvError TrsvIluEnd(TrsvIlu *ilu, TrsvMemory memory, TrsvError error, TrsvStream stream)
{
  const TrsvError end = WorksOnDevice(ilu, memory) ? TrsvWorkEnd(&ilu->work, stream) : TRSV_SUCCESS;

  return error ? error : end;
}

void TrsvIluRecordPeak(TrsvIlu *ilu)
{
  if (!ilu->ready[TRSV_DEVICE][0] || ilu->request.memory != TRSV_DEVICE || ilu->bytes_peak || ilu->setup != setups)
    return;
  ilu->bytes_peak = TrsvDevicePeak();
}

TrsvError TrsvIluSetValues(TrsvIlu *ilu, const void *values, const TrsvPivots *pivots, TrsvOutcome *outcome,
                           TrsvStream stream)
{
  const TrsvPair *pair = ilu->pair[TRSV_DEVICE][0];
  TrsvError       error;

  memset(ilu->ready, 0, sizeof(ilu->ready));
  ilu->factored = 0;
  if (!ilu->factor) return TrsvFail(TRSV_ERR_ARGUMENT, "the host has to factor: %s", ilu->host_reason);
  TrsvCall(TrsvIluBegin(ilu, TRSV_DEVICE, stream));
  error = TrsvFactorSetValues(ilu->factor, pair ? pair->forward.plan : NULL, pair ? pair->work : NULL, values, pivots,
                              outcome, stream);
  ilu->factored = !error && outcome->row < 0;
  if (ilu->factored) error = TrsvIluFill(ilu, NULL, stream);
  return TrsvIluEnd(ilu, TRSV_DEVICE, error, stream);
}

TrsvError TrsvIluSetFactor(TrsvIlu *ilu, const TrsvTriangles *factor, TrsvStream stream)
{
  TrsvPair *const *device = ilu->pair[TRSV_DEVICE];
  const TrsvMemory memory = device[0] || device[1] ? TRSV_DEVICE : TRSV_HOST;

  memset(ilu->ready, 0, sizeof(ilu->ready));
  TrsvCall(TrsvIluBegin(ilu, memory, stream));
  return TrsvIluEnd(ilu, memory, TrsvIluFill(ilu, factor, stream), stream);
}

TrsvError TrsvIluLeaveDevice(TrsvIlu *ilu, int order[], TrsvStream stream)
{
  const int *given = ilu->factor ? ilu->factor->order : NULL;
  TrsvError  error = TRSV_SUCCESS;

  TrsvCall(TrsvIluBegin(ilu, TRSV_DEVICE, stream));
  if (given) error = TrsvDeviceDownload(order, given, sizeof(int) * (size_t)ilu->rows, stream);
  TrsvCall(TrsvIluEnd(ilu, TRSV_DEVICE, error, stream));
  for (int i = 0; i < ilu->rows && !given; i++) order[i] = i;
  TrsvFactorDestroy(&ilu->factor);
  (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "the matrix is bound to the host");
  return TRSV_SUCCESS;
}

void TrsvIluDestroy(TrsvIlu **ilu)
{
  if (!*ilu) return;
  for (int m = 0; m < 2; m++)
    for (int t = 0; t < 2; t++) TrsvPairDestroy(&(*ilu)->pair[m][t]);
  TrsvFactorDestroy(&(*ilu)->factor);
  TrsvWorkDestroy(&(*ilu)->work);
  free(*ilu);
  *ilu = NULL;
}
