/*
   The level-ordered layout: made on the host, its values gathered on the device.
*/
#include <stdlib.h>
#include <string.h>
#include "vocabulary.cuh"
#include "ordered.h"

/* One thread for each value. No thread waits for another. */
template <class T> static __global__ void ordered_gather(int off, int rows, const int *source, const T *from, T *values, T *inverse)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k < off) values[k] = from[source[k]];
  else if (inverse && k < off + rows) inverse[k - off] = 1 / from[source[k]];
}

/* Both halves of the words start as not ready: a launch readies the half of the launch after it. */
template <class T> static __global__ void ordered_fill(int n, T *words)
{
  const int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  if (k < n) words[k] = trsv_not_ready<T>();
}

static unsigned Blocks(long n, int size) { return (unsigned)((n + size - 1) / size); }

/* Fills offsets [rows + 1], columns [off], order [rows] and from [off + rows if the diagonal is stored]. */
static TrsvError Reorder(const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int *offsets, int *columns, int *from)
{
  const int off = A->offsets[A->rows] - (A->diagonal == TRSV_DIAGONAL_STORED ? A->rows : 0);
  int      *position, to = 0;

  TrsvCall(TrsvAlloc(sizeof(int) * (size_t)A->rows, &position));
  for (int p = 0; p < A->rows; p++) position[analysis->order[p]] = p;
  for (int p = 0; p < A->rows; p++) {
    int begin, end, diagonal;

    offsets[p] = to;
    TrsvRow(A, analysis->order[p], &begin, &end, &diagonal);
    for (int n = 0; n < end - begin; n++, to++) {
      const int k = A->triangle == TRSV_LOWER ? begin + n : end - 1 - n; /* the nearest last */

      columns[to] = position[A->columns[k]];
      from[to]    = source ? source[k] : k;
    }
    if (diagonal >= 0) from[off + p] = source ? source[diagonal] : diagonal;
  }
  offsets[A->rows] = to;
  free(position);
  return TRSV_SUCCESS;
}

extern "C" TrsvError TrsvOrderedAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const bool   stored = A->diagonal == TRSV_DIAGONAL_STORED;
  const size_t rows = (size_t)A->rows, all = (size_t)A->offsets[rows], off = all - (stored ? rows : 0), size = TrsvValueSize(A->precision);
  int         *host; /* offsets, columns, from */
  TrsvOrdered *o;
  TrsvError    error;

  TrsvCall(TrsvAlloc(sizeof(*o), &plan->data));
  o             = (TrsvOrdered *)memset(plan->data, 0, sizeof(*o));
  o->rows       = A->rows;
  o->off        = (int)off;
  o->level_mean = analysis->statistics.level_mean;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &o->offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * off, &o->columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &o->order));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * all, &o->source));
  TrsvCall(TrsvDeviceAlloc(size * off, &o->values));
  if (stored) TrsvCall(TrsvDeviceAlloc(size * rows, &o->inverse));
  TrsvCall(TrsvDeviceAlloc(2 * size * rows, &o->words));
  TrsvCall(TrsvSyncCreate(&o->sync));
  plan->bytes = sizeof(int) * (2 * rows + 1 + off + all) + size * (all + 2 * rows);
  if (!rows) return TRSV_SUCCESS;

  TrsvCall(TrsvAlloc(sizeof(int) * (rows + 1 + off + all), &host));
  error = Reorder(A, analysis, source, host, host + rows + 1, host + rows + 1 + off);
  if (!error) error = TrsvDeviceUpload(o->offsets, host, sizeof(int) * (rows + 1), NULL);
  if (!error) error = TrsvDeviceUpload(o->columns, host + rows + 1, sizeof(int) * off, NULL);
  if (!error) error = TrsvDeviceUpload(o->source, host + rows + 1 + off, sizeof(int) * all, NULL);
  if (!error) error = TrsvDeviceUpload(o->order, analysis->order, sizeof(int) * rows, NULL);
  free(host);
  TrsvCall(error);
  if (A->precision == TRSV_FLOAT) TRSV_LAUNCH((ordered_fill<float>), Blocks(2 * (long)rows, 256), 256, 0, (TrsvStream)NULL, (int)(2 * rows), (float *)o->words);
  else TRSV_LAUNCH((ordered_fill<double>), Blocks(2 * (long)rows, 256), 256, 0, (TrsvStream)NULL, (int)(2 * rows), (double *)o->words);
  return TrsvDeviceLaunched("ordered_fill");
}

extern "C" TrsvError TrsvOrderedSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  TrsvOrdered   *o    = (TrsvOrdered *)plan->data;
  const unsigned grid = Blocks((long)o->off + (o->inverse ? o->rows : 0), 256);

  if (!grid) return TRSV_SUCCESS;
  if (plan->precision == TRSV_FLOAT) TRSV_LAUNCH((ordered_gather<float>), grid, 256, 0, stream, o->off, o->rows, o->source, (const float *)values, (float *)o->values, (float *)o->inverse);
  else TRSV_LAUNCH((ordered_gather<double>), grid, 256, 0, stream, o->off, o->rows, o->source, (const double *)values, (double *)o->values, (double *)o->inverse);
  return TrsvDeviceLaunched("ordered_gather");
}

extern "C" void TrsvOrderedDestroy(TrsvPlan *plan)
{
  TrsvOrdered *o = (TrsvOrdered *)plan->data;

  if (!o) return;
  TrsvDeviceFree(o->offsets);
  TrsvDeviceFree(o->columns);
  TrsvDeviceFree(o->order);
  TrsvDeviceFree(o->source);
  TrsvDeviceFree(o->values);
  TrsvDeviceFree(o->inverse);
  TrsvDeviceFree(o->words);
  TrsvSyncDestroy(&o->sync);
  free(o);
}
