/*
   Repeats orderings and factorizations, for repeats.c.
*/
#include <stdlib.h>
#include <string.h>
#include "solve/chunk/chunk.h"
#include "repeat.h"
#include "../regroup.h"

static const TrsvPivots pivots[] = {
  {TRSV_SHIFT_NONE, 0, 1e-13},
  {TRSV_SHIFT_NONZERO, 1e-3, 1e-13},
  {TRSV_SHIFT_POSITIVE_DEFINITE, 1e-3, 1e-13},
  {TRSV_SHIFT_INBLOCKS, 1e-3, 1e-13},
};

typedef struct {
  int           rows;
  const int    *offsets, *columns;
  const double *values;
  int          *order; /* receives the ordering */
} OrderingData;

static TrsvError OrderOnce(void *data)
{
  const OrderingData *o = data;
  TrsvOrdering       *made;
  TrsvError           error;

  TrsvCall(TrsvOrderMulticolor(o->rows, o->offsets, o->columns, o->values, TRSV_DEVICE, &made));
  error = TrsvDeviceCopy(o->order, made->order, sizeof(int) * (size_t)made->rows, NULL);
  if (!error) error = TrsvDeviceWait(NULL);
  TrsvOrderingDestroy(&made);
  return error;
}

/* The ordering of a matrix on the device, made on the host. order [rows], on the host */
static TrsvError OrderOnHost(const OrderingData *o, int *order)
{
  int          *offsets = NULL, *columns = NULL;
  double       *values  = NULL;
  TrsvOrdering *made    = NULL;
  TrsvError     error;

  error = TrsvCopyNew(TRSV_HOST, TRSV_DEVICE, o->offsets, sizeof(int) * ((size_t)o->rows + 1), &offsets);
  const size_t n = error ? 0 : (size_t)offsets[o->rows];
  if (!error) error = TrsvCopyNew(TRSV_HOST, TRSV_DEVICE, o->columns, sizeof(int) * n, &columns);
  if (!error) error = TrsvCopyNew(TRSV_HOST, TRSV_DEVICE, o->values, sizeof(double) * n, &values);
  if (!error) error = TrsvOrderMulticolor(o->rows, offsets, columns, values, TRSV_HOST, &made);
  if (!error) memcpy(order, made->order, sizeof(int) * (size_t)o->rows);
  TrsvOrderingDestroy(&made);
  free(offsets);
  free(columns);
  free(values);
  return error;
}

void RepeatOrdering(const char *name, int rows, const int *offsets, const int *columns, const double *values,
                    int *order)
{
  OrderingData  o        = {rows, offsets, columns, values, order};
  const size_t  bytes    = sizeof(int) * (size_t)rows;
  int          *expected = CheckMemory(malloc(bytes + 1));
  Repeat        r        = {.matrix   = name,
                            .what     = "ordering multicolor, as made on the host",
                            .times    = times > 20 ? times / 10 : times,
                            .once     = OrderOnce,
                            .data     = &o,
                            .poisoned = 1,
                            .result   = {{o.order, bytes}},
                            .expected = expected};
  const TrsvError error = OrderOnHost(&o, expected);

  if (error) ReportRefused(name, r.what, error);
  else RunRepeat(&r);
  free(expected);
}

typedef struct {
  TrsvFactor       *f;
  const void       *values;
  const TrsvPivots *pivots;
  TrsvPlan         *lower; /* which finds pivots, or NULL */
} FactorData;

static TrsvError FactorOnce(void *data)
{
  const FactorData *f = data;
  TrsvOutcome       outcome;

  TrsvCall(TrsvFactorSetValues(f->f, f->lower, NULL, f->values, f->pivots, &outcome, NULL));
  return outcome.row < 0
         ? TRSV_SUCCESS
         : TrsvFail(TRSV_ERR_UNSUPPORTED, "a zero pivot in row %d", outcome.row); /* its result is undefined */
}

TrsvFactor *MakeFactor(const Square *A, const int *order, TrsvFactorKind kind, int lanes)
{
  TrsvFactor *f;

  CheckError(TrsvFactorCreate(&(TrsvCSR){A->rows, A->device_offsets, A->device_columns, NULL, 0}, order, TRSV_DEVICE,
                              kind, precision, &f));
  if (lanes) CheckError(Regroup(f, lanes));
  return f;
}

/* A plan of the algorithm chunk for L, which finds the pivots of a grid. */
static TrsvPlan *MakeLowerPlan(const TrsvFactor *f)
{
  TrsvMatrix L, U;
  TrsvPlan  *plan;

  TrsvFactorTriangles(f, &L, &U, NULL, NULL);
  CheckError(TrsvPlanCreate(&L, L.analysis, NULL, f->lower, NULL, &TrsvChunkPlain, 0, &plan));
  return plan;
}

void RepeatFactors(const Square *A, const int *order)
{
  static const int         lanes[]  = {0, 4, 8, 16, 32};
  static const char *const shifts[] = {"no", "nonzero", "positive definite", "in blocks"};

  for (int kind = 0; kind < 2; kind++)
    for (int ordered = 0; ordered < 2; ordered++)
      for (int k = 0; k < 6; k++) { /* the last: by a plan */
        FactorData  f = {MakeFactor(A, ordered ? order : NULL, kind ? TRSV_ICC : TRSV_ILU, k < 5 ? lanes[k] : 0),
                         A->device_values, pivots, NULL};
        TrsvMatrix  L, U;
        const void *l, *u;

        if (k == 5) f.lower = MakeLowerPlan(f.f);
        const TrsvError error = FactorOnce(&f); /* allocates the arrays of values, which do not move from now on */
        if (error != TRSV_ERR_UNSUPPORTED) CheckError(error); /* a zero pivot is allowed */
        TrsvFactorTriangles(f.f, &L, &U, &l, &u);
        for (int p = 0; p < (k ? 1 : 4); p++) {
          Repeat r = {.matrix = A->name,
                      .times  = times,
                      .once   = FactorOnce,
                      .data   = &f,
                      .result = {{l, TrsvValueSize(precision) * (size_t)f.f->lower},
                                 {u, TrsvValueSize(precision) * (size_t)f.f->upper}}};

          f.values = p ? A->device_weak : A->device_values;
          f.pivots = &pivots[p];
          (void)snprintf(r.what, sizeof(r.what), "%s, %s order, %s%d lanes%s, %s shift", kind ? "ICC" : "ILU",
                         ordered ? "multicolor" : "natural", k ? "" : "its own ", f.f->lanes_per_row,
                         f.lower ? " and a plan" : "", shifts[p]);
          RunRepeat(&r);
        }
        TrsvPlanDestroy(&f.lower);
        TrsvFactorDestroy(&f.f);
      }
}

void RepeatOrderingAlone(const char *name, const Matrix *M)
{
  const size_t n = (size_t)M->rows, nnz = (size_t)M->offsets[M->rows];
  int         *offsets = Upload(M->offsets, sizeof(int) * (n + 1)), *columns = Upload(M->columns, sizeof(int) * nnz);
  double      *values = M->values ? Upload(M->values, sizeof(double) * nnz) : NULL;
  int         *order;

  CheckError(TrsvDeviceAlloc(sizeof(int) * n, &order));
  RepeatOrdering(name, M->rows, offsets, columns, values, order);
  TrsvDeviceFree(offsets);
  TrsvDeviceFree(columns);
  TrsvDeviceFree(values);
  TrsvDeviceFree(order);
}
