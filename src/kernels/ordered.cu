/*
   The level-ordered layout on the device: copied from the host once, its values gathered whenever they change.
*/
#include <stdlib.h>
#include <string.h>
#include "vocabulary.cuh"
#include "ordered.h"

/* One thread for each value. No thread waits for another. */
template <class T> static __global__ void ordered_gather(long off, int rows, const int *source, const T *from, T *values, T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < off) values[k] = source[k] < 0 ? -1 : from[source[k]];
  else if (inverse && k < off + rows) inverse[k - off] = source[k] < 0 ? 1 : 1 / from[source[k]];
}

/* Both halves of the words start as not ready: a launch readies the half of the launch after it. */
template <class T> static __global__ void ordered_fill(long n, T *words)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = trsv_not_ready<T>();
}

static unsigned Blocks(long n) { return (unsigned)((n + 255) / 256); }

static TrsvError Upload(TrsvOrdered *o, const TrsvOrderedRows *h)
{
  const size_t rows = (size_t)h->rows, off = (size_t)h->off;

  if (o->offsets) TrsvCall(TrsvDeviceUpload(o->offsets, h->offsets, sizeof(int) * (rows + 1), NULL));
  TrsvCall(TrsvDeviceUpload(o->columns, h->columns, sizeof(int) * off, NULL));
  TrsvCall(TrsvDeviceUpload(o->order, h->order, sizeof(int) * rows, NULL));
  return TrsvDeviceUpload(o->source, h->source, sizeof(int) * (off + rows), NULL);
}

static TrsvError Make(TrsvPlan *plan, TrsvOrdered *o, const TrsvOrderedRows *h, bool stored, bool padded)
{
  const size_t rows = (size_t)h->rows, off = (size_t)h->off, size = TrsvValueSize(plan->precision);

  o->rows = h->rows;
  o->off  = h->off;
  if (!padded) TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &o->offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * off, &o->columns));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * rows, &o->order));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (off + rows), &o->source));
  TrsvCall(TrsvDeviceAlloc(size * off, &o->values));
  if (stored) TrsvCall(TrsvDeviceAlloc(size * rows, &o->inverse));
  TrsvCall(TrsvDeviceAlloc(2 * size * rows, &o->words));
  TrsvCall(TrsvSyncCreate(&o->sync));
  plan->bytes = sizeof(int) * ((padded ? 2 : 3) * rows + 2 * off) + size * (off + (stored ? rows : 0) + 2 * rows);
  TrsvCall(Upload(o, h));
  if (!rows) return TRSV_SUCCESS;
  if (plan->precision == TRSV_FLOAT) TRSV_LAUNCH((ordered_fill<float>), Blocks(2 * (long)rows), 256, 0, (TrsvStream)NULL, 2 * (long)rows, (float *)o->words);
  else TRSV_LAUNCH((ordered_fill<double>), Blocks(2 * (long)rows), 256, 0, (TrsvStream)NULL, 2 * (long)rows, (double *)o->words);
  return TrsvDeviceLaunched("ordered_fill");
}

extern "C" TrsvError TrsvOrderedAnalyse(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source, int longest, int padded)
{
  TrsvOrderedRows host;
  TrsvOrdered    *o;
  TrsvError       error;

  TrsvCall(TrsvAlloc(sizeof(*o), &plan->data));
  o             = (TrsvOrdered *)memset(plan->data, 0, sizeof(*o));
  o->level_mean = analysis->statistics.level_mean;
  TrsvCall(TrsvOrder(A, source, longest, padded, &host));
  error = Make(plan, o, &host, A->diagonal == TRSV_DIAGONAL_STORED, padded);
  TrsvOrderFree(&host);
  return error;
}

extern "C" TrsvError TrsvOrderedSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  TrsvOrdered   *o    = (TrsvOrdered *)plan->data;
  const unsigned grid = Blocks((long)o->off + (o->inverse ? o->rows : 0));

  if (!grid) return TRSV_SUCCESS;
  if (plan->precision == TRSV_FLOAT) TRSV_LAUNCH((ordered_gather<float>), grid, 256, 0, stream, (long)o->off, o->rows, o->source, (const float *)values, (float *)o->values, (float *)o->inverse);
  else TRSV_LAUNCH((ordered_gather<double>), grid, 256, 0, stream, (long)o->off, o->rows, o->source, (const double *)values, (double *)o->values, (double *)o->inverse);
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
