/*
   Creates a factorization, sets its values, describes and destroys it.
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
  if (r->order == TRSV_ORDER_GIVEN) return TrsvFactorCreate(A, r->row, TRSV_HOST, r->kind, r->precision, &ilu->factor);
  error = TrsvDeviceOrderValues(A, r->precision, &multicolor);
  if (!error) error = TrsvFactorCreate(A, multicolor->order, TRSV_DEVICE, r->kind, r->precision, &ilu->factor);
  ilu->order.multicolor = !error;
  TrsvOrderingDestroy(&multicolor);
  return error;
}

/* The symbolic factorization on the device; A may be wide. Sets host_reason if A is invalid or the host is faster. */
static TrsvError FactorSymbolic(TrsvIlu *ilu, const TrsvCSR *A)
{
  TrsvCSR   narrowed;
  TrsvError error;
  double    device, host;

  TrsvCall(TrsvNarrowCreate(A, &narrowed));
  error = CreateFactor(ilu, &narrowed);
  TrsvNarrowDestroy(A, &narrowed);
  if (error == TRSV_ERR_STRUCTURE) {
    (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "%s", TrsvErrorMessage());
    return TRSV_SUCCESS;
  }
  if (error || ilu->request.place != TRSV_PLACE_AUTO) return error;
  device = TrsvFactorPredict(ilu->factor);
  host   = TrsvFactorPredictHost(ilu->factor);
  if (device <= host) return TRSV_SUCCESS;
  (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "predicted %.3g ms, %.3g ms on the GPU", 1e3 * host,
                 1e3 * device);
  TrsvFactorDestroy(&ilu->factor);
  return TRSV_SUCCESS;
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
    if (!ilu->host_reason[0]) error = FactorSymbolic(ilu, A);
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

TrsvPlan *TrsvIluLower(const TrsvIlu *ilu)
{
  const TrsvPair *pair = ilu->pair[TRSV_DEVICE][0];

  return pair ? pair->forward.plan : NULL;
}

void TrsvIluComplete(TrsvIlu *ilu)
{
  if (ilu->factor && !ilu->tuning) TrsvFactorReleaseWorkspace(ilu->factor, TrsvIluLower(ilu));
  if (ilu->ready[TRSV_DEVICE][0] && ilu->request.memory == TRSV_DEVICE && !ilu->bytes_peak && ilu->setup == setups)
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
  error         = TrsvFactorSetValues(ilu->factor, TrsvIluLower(ilu), pair ? pair->work : NULL, values, pivots, outcome,
                                      stream);
  ilu->factored = !error && outcome->row < 0;
  if (ilu->factored) error = TrsvIluFill(ilu, NULL, stream);
  return TrsvIluEnd(ilu, TRSV_DEVICE, error, stream);
}

TrsvError TrsvIluSetFactor(TrsvIlu *ilu, const TrsvTriangles *factor, TrsvStream stream)
{
  TrsvPair *const *device = ilu->pair[TRSV_DEVICE];
  const TrsvMemory memory = device[0] || device[1] ? TRSV_DEVICE : TRSV_HOST;

  memset(ilu->ready, 0, sizeof(ilu->ready));
  if (!factor || (ilu->rows && !TrsvTrianglesHaveValues(factor)))
    return TrsvFail(TRSV_ERR_ARGUMENT, "there are no values of L and U");
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
  ilu->factored = 0;
  (void)snprintf(ilu->host_reason, sizeof(ilu->host_reason), "the matrix is bound to the host");
  return TRSV_SUCCESS;
}

static void DescribeSolve(const TrsvPairMember *m, TrsvSolveInfo *s)
{
  *s = (TrsvSolveInfo){.statistics  = m->statistics,
                       .algorithm   = m->choice.algorithm,
                       .reason      = m->choice.reason,
                       .seconds     = m->seconds,
                       .bytes       = m->plan->bytes,
                       .trials      = m->trials,
                       .trial_count = m->trial_count,
                       .chosen      = m->chosen};
  TrsvPlanDescribe(m->plan, s->settings, sizeof(s->settings));
}

void TrsvIluDescribe(const TrsvIlu *ilu, TrsvIluInfo *info)
{
  const TrsvMemory  memory = ilu->request.memory;
  const TrsvPair   *pair = ilu->pair[memory][0];
  const TrsvFactor *f    = ilu->factor;

  *info = (TrsvIluInfo){.host_reason  = ilu->host_reason,
                        .order_reason = ilu->order.reason,
                        .on_device    = f != NULL,
                        .multicolor   = ilu->order.multicolor,
                        .planned      = pair != NULL,
                        .transposed   = ilu->pair[memory][1] != NULL,
                        .also_on_host = memory == TRSV_DEVICE && ilu->pair[TRSV_HOST][0],
                        .lower        = f ? f->lower : 0,
                        .upper        = f ? f->upper : 0,
                        .lanes        = f ? f->lanes_per_row : 0,
                        .factor_bytes = f ? f->bytes : 0,
                        .one_launch   = pair && pair->fused,
                        .setup_bytes  = ilu->bytes_peak > ilu->bytes_before ? ilu->bytes_peak - ilu->bytes_before : 0};
  if (pair) {
    DescribeSolve(&pair->forward, &info->L);
    DescribeSolve(&pair->backward, &info->U);
  }
  for (int m = 0; m < 2; m++)
    for (int t = 0; t < 2; t++) {
      const TrsvPair *p = ilu->pair[m][t];

      if (!p) continue;
      info->plan_bytes += p->forward.plan->bytes + p->backward.plan->bytes +
                          TrsvValueSize(p->precision) * (size_t)p->rows;
      info->algorithms[m][t][0] = p->forward.choice.algorithm;
      info->algorithms[m][t][1] = p->backward.choice.algorithm;
    }
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
