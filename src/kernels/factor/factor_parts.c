/*
   What a factor shows of itself: its triangles, on the device and on the host, its sizes, and its predicted times.
*/
#include <math.h>
#include <string.h>
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

/* Copies an array, or nothing where there is none, to *to, which is then behind it. */
static const void *Fetch(char **to, const void *from, size_t bytes, TrsvError *error, TrsvStream stream)
{
  const void *at = *to;

  if (!from || *error) return NULL;
  *error = TrsvDeviceDownload(*to, from, bytes, stream);
  *to += bytes;
  return at;
}

TrsvError TrsvFactorDownload(TrsvFactor *f, TrsvTriangles *t, TrsvStream stream)
{
  const size_t rows = (size_t)f->rows, lower = (size_t)f->lower, upper = (size_t)f->upper,
               size = f->l ? TrsvValueSize(f->precision) : 0, index = sizeof(int);
  TrsvError    error = TRSV_SUCCESS;
  char        *to;

  memset(t, 0, sizeof(*t));
  TrsvCall(TrsvFactorMirrorColumns(f));
  TrsvCall(TrsvAlloc(size * (lower + upper) + index * (2 * (rows + 1) + lower + upper + rows), &t->memory));
  to           = t->memory;
  t->L.rows    = t->U.rows = f->rows;
  t->L.values  = Fetch(&to, f->l, size * lower, &error, stream);
  t->U.values  = Fetch(&to, f->l ? f->u : NULL, size * upper, &error, stream);
  t->L.offsets = Fetch(&to, f->l_offsets, index * (rows + 1), &error, stream);
  t->U.offsets = Fetch(&to, f->u_offsets, index * (rows + 1), &error, stream);
  t->L.columns = Fetch(&to, f->l_columns, index * lower, &error, stream);
  t->U.columns = Fetch(&to, f->u_columns, index * upper, &error, stream);
  t->row = t->column = Fetch(&to, f->order, index * rows, &error, stream);
  if (!error) return TRSV_SUCCESS;
  TrsvFree(TRSV_HOST, t->memory);
  memset(t, 0, sizeof(*t));
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
