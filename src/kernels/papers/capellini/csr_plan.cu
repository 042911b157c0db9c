/*
   A triangle in the caller's order on the device: copied once, its values whenever they change.
*/
#include <stdlib.h>
#include <string.h>
#include "device/sync.cuh"
#include "papers/capellini/csr_plan.h"

/* One thread for each value, and one for each diagonal. No thread waits for another. */
template <class T> static __global__ void csr_plan_gather(long entries, int rows, int lower, const int *offsets,
                                                          const int *source, const T *from, T *values, T *inverse)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < entries) values[k] = from[source ? source[k] : k];
  else if (inverse && k < entries + rows) {
    const int i = (int)(k - entries), diagonal = lower ? offsets[i + 1] - 1 : offsets[i];

    inverse[i] = 1 / from[source ? source[diagonal] : diagonal];
  }
}

/* Both halves of the words start as not ready: a launch readies the half of the launch after it. */
template <class T> static __global__ void csr_plan_fill(long n, T *words)
{
  const long k = (long)blockIdx.x * blockDim.x + threadIdx.x;

  if (k < n) words[k] = trsv_not_ready<T>();
}

static TrsvError Bring(TrsvMemory memory, void *to, const void *from, size_t bytes)
{
  return memory == TRSV_HOST ? TrsvDeviceUpload(to, from, bytes, NULL) : TrsvDeviceCopy(to, from, bytes, NULL);
}

extern "C" TrsvError TrsvCSRPlanMake(TrsvPlan *plan, TrsvCSRPlan *n, const TrsvMatrix *A, const int *source, int words)
{
  const size_t rows = (size_t)A->rows, size = TrsvValueSize(A->precision);
  int          entries;

  TrsvCall(TrsvEntries(A, &entries));
  n->rows    = A->rows;
  n->entries = entries;
  n->lower   = A->triangle == TRSV_LOWER;
  n->stored  = A->diagonal == TRSV_DIAGONAL_STORED;
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &n->offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &n->columns));
  TrsvCall(TrsvDeviceAlloc(size * (size_t)entries, &n->values));
  TrsvCall(Bring(A->memory, n->offsets, A->offsets, sizeof(int) * (rows + 1)));
  TrsvCall(Bring(A->memory, n->columns, A->columns, sizeof(int) * (size_t)entries));
  plan->bytes += sizeof(int) * (rows + 1 + (size_t)entries) + size * (size_t)entries;
  if (source) {
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &n->source));
    TrsvCall(Bring(A->memory, n->source, source, sizeof(int) * (size_t)entries));
    plan->bytes += sizeof(int) * (size_t)entries;
  }
  if (n->stored) {
    TrsvCall(TrsvDeviceAlloc(size * rows, &n->inverse));
    plan->bytes += size * rows;
  }
  if (!words) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceAlloc(2 * size * rows, &n->words));
  plan->bytes += 2 * size * rows;
  TrsvCall(TrsvSyncCreate(&n->sync));
  if (!rows) return TRSV_SUCCESS;
  if (A->precision == TRSV_FLOAT)
    TRSV_LAUNCH((csr_plan_fill<float>), TrsvBlocks(2 * (long)rows, 256), 256, 0, (TrsvStream)NULL, 2 * (long)rows,
                (float *)n->words);
  else
    TRSV_LAUNCH((csr_plan_fill<double>), TrsvBlocks(2 * (long)rows, 256), 256, 0, (TrsvStream)NULL, 2 * (long)rows,
                (double *)n->words);
  return TrsvDeviceCheckLaunch("csr_plan_fill");
}

extern "C" TrsvError TrsvCSRPlanSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  TrsvCSRPlan   *n    = (TrsvCSRPlan *)plan->data;
  const unsigned grid = TrsvBlocks((long)n->entries + (n->inverse ? n->rows : 0), 256);

  if (!grid) return TRSV_SUCCESS;
  if (plan->precision == TRSV_FLOAT)
    TRSV_LAUNCH((csr_plan_gather<float>), grid, 256, 0, stream, (long)n->entries, n->rows, n->lower, n->offsets,
                n->source, (const float *)values, (float *)n->values, (float *)n->inverse);
  else
    TRSV_LAUNCH((csr_plan_gather<double>), grid, 256, 0, stream, (long)n->entries, n->rows, n->lower, n->offsets,
                n->source, (const double *)values, (double *)n->values, (double *)n->inverse);
  return TrsvDeviceCheckLaunch("csr_plan_gather");
}

extern "C" void TrsvCSRPlanFree(TrsvCSRPlan *n)
{
  TrsvDeviceFree(n->offsets);
  TrsvDeviceFree(n->columns);
  TrsvDeviceFree(n->source);
  TrsvDeviceFree(n->values);
  TrsvDeviceFree(n->inverse);
  TrsvDeviceFree(n->words);
  TrsvSyncDestroy(&n->sync);
}

extern "C" void TrsvCSRPlanDestroy(TrsvPlan *plan)
{
  if (!plan->data) return;
  TrsvCSRPlanFree((TrsvCSRPlan *)plan->data);
  free(plan->data);
}
