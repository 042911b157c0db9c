/*
   The triangles of a factor, on the device and on the host, and its predicted times.
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

/* Downloads an array to *to and advances *to past it. Returns the address of the copy, or NULL if there is no array. */
static const void *DownloadArray(char **to, const void *from, size_t bytes, TrsvError *error, TrsvStream stream)
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
  t->L.values  = DownloadArray(&to, f->l, size * lower, &error, stream);
  t->U.values  = DownloadArray(&to, f->l ? f->u : NULL, size * upper, &error, stream);
  t->L.offsets = DownloadArray(&to, f->l_offsets, index * (rows + 1), &error, stream);
  t->U.offsets = DownloadArray(&to, f->u_offsets, index * (rows + 1), &error, stream);
  t->L.columns = DownloadArray(&to, f->l_columns, index * lower, &error, stream);
  t->U.columns = DownloadArray(&to, f->u_columns, index * upper, &error, stream);
  t->row = t->column = DownloadArray(&to, f->order, index * rows, &error, stream);
  if (!error) return TRSV_SUCCESS;
  TrsvFree(TRSV_HOST, t->memory);
  memset(t, 0, sizeof(*t));
  return error;
}

/* The sum of: a launch and a download; a step for each level set, longer for a row than for a pivot; memory traffic;
   the entries of the longest row of a whole warp, in sequence. */
double TrsvFactorPredict(const TrsvFactor *f)
{
  const TrsvModelConstants *const k = &TrsvModel;

  return k->factor_launch + (f->pivots ? k->factor_pivot : k->factor_row) * f->statistics.levels +
         k->factor_entry * ((double)f->lower + f->upper) + k->factor_step * f->longest_warp_row;
}

/* A time for each entry, or for each multiply-add if that is more, as it is if many rows depend on long ones. With an
   order, PETSc's symbolic phase of ILU also traverses a list of the row's entries for each entry. */
double TrsvFactorPredictHost(const TrsvFactor *f)
{
  const TrsvModelConstants *const k = &TrsvModel;
  const FactorHostWork *const         w = &f->host_work;

  return fmax(k->host_entry * ((double)f->lower + f->upper), k->host_operation * (double)w->operations) +
         (f->order && f->kind == TRSV_ILU ? k->host_walk * (double)w->squares : 0);
}
