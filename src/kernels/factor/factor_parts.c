/*
   What a factor shows of itself: its triangles, on the device and on the host, its sizes, and its predicted times.
*/
#include <math.h>
#include "factor/factor.h"
#include "solve/model/model.h"

void TrsvFactorTriangles(const TrsvFactor *f, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues)
{
  *L = (TrsvMatrix){f->rows,      f->l_offsets, f->l_columns, TRSV_LOWER, TRSV_DIAGONAL_UNIT,
                    f->precision, TRSV_DEVICE,  f->analysis};
  *U = (TrsvMatrix){f->rows,      f->u_offsets, f->u_columns,     TRSV_UPPER, TRSV_DIAGONAL_STORED,
                    f->precision, TRSV_DEVICE,  f->upper_analysis};
  if (lvalues) *lvalues = f->l;
  if (uvalues) *uvalues = f->u;
}

TrsvError TrsvFactorDownload(TrsvFactor *f, TrsvMatrix *L, TrsvMatrix *U, const void **lvalues, const void **uvalues,
                             const int **order, void **memory, TrsvStream stream)
{
  const size_t size = f->l ? TrsvValueSize(f->precision) : 0, rows = (size_t)f->rows + 1, lower = (size_t)f->lower,
               upper = (size_t)f->upper;
  char        *values;
  int         *index;
  TrsvError    error;

  TrsvCall(TrsvFactorMirrorColumns(f));
  TrsvCall(TrsvAlloc(size * (lower + upper) + sizeof(int) * (3 * rows + lower + upper), memory));
  values = *memory;
  index  = (int *)(values + size * (lower + upper));
  TrsvFactorTriangles(f, L, U, NULL, NULL);
  L->memory = U->memory = TRSV_HOST;
  L->analysis = U->analysis = NULL;
  L->offsets  = index;
  U->offsets  = index + rows;
  L->columns  = index + 2 * rows;
  U->columns  = index + 2 * rows + lower;
  *lvalues    = size ? values : NULL;
  *uvalues    = size ? values + size * lower : NULL;
  error       = size ? TrsvDeviceDownload(values, f->l, size * lower, stream) : TRSV_SUCCESS;
  if (!error && size) error = TrsvDeviceDownload(values + size * lower, f->u, size * upper, stream);
  if (!error) error = TrsvDeviceDownload(index, f->l_offsets, sizeof(int) * rows, stream);
  if (!error) error = TrsvDeviceDownload(index + rows, f->u_offsets, sizeof(int) * rows, stream);
  if (!error) error = TrsvDeviceDownload(index + 2 * rows, f->l_columns, sizeof(int) * lower, stream);
  if (!error) error = TrsvDeviceDownload(index + 2 * rows + lower, f->u_columns, sizeof(int) * upper, stream);
  *order = f->order ? index + 2 * rows + lower + upper : NULL;
  if (!error && f->order)
    error = TrsvDeviceDownload(index + 2 * rows + lower + upper, f->order, sizeof(int) * (rows - 1), stream);
  if (!error) return TRSV_SUCCESS;
  TrsvFree(TRSV_HOST, *memory);
  *memory = NULL;
  return error;
}

const int *TrsvFactorOrder(const TrsvFactor *f) { return f->order; }

void TrsvFactorEntries(const TrsvFactor *f, int *L, int *U)
{
  *L = f->lower;
  *U = f->upper;
}

/* A launch and a read; a hop for each level set, dearer where a row is made than where it is a pivot; what crosses the
   memory; the dependencies of the longest row, one after the other. */
double TrsvFactorPredict(const TrsvFactor *f)
{
  const TrsvModelConstants *const k = &TrsvModel;

  return k->factor_launch + (f->pivots ? k->factor_pivot : k->factor_row) * f->statistics.levels +
         k->factor_entry * ((double)f->lower + f->upper) + k->factor_step * f->longest_warp_row;
}

/* By the entry, or by the multiply-add, where long rows that many depend on make these more than all else. In another
   order than the natural one PETSc's symbolic phase of ILU walks through a list of the row's entries for each. */
double TrsvFactorPredictHost(const TrsvFactor *f)
{
  const TrsvModelConstants *const k = &TrsvModel;
  const FactorWork *const         w = &f->on_host;

  return fmax(k->host_entry * ((double)f->lower + f->upper), k->host_operation * (double)w->operations) +
         (f->order && f->kind == TRSV_ILU ? k->host_walk * (double)w->squares : 0);
}

int TrsvFactorLanes(const TrsvFactor *f) { return f->lanes_per_row; }

size_t TrsvFactorBytes(const TrsvFactor *f) { return f->bytes; }
