/*
   A triangle on the device in the caller's order. The pattern is copied once, values each time that they are set.

   Mapping: one thread for each value and diagonal. Memory order: no values cross threads. Why it ends: no thread waits.
   Same bits: copies, and one division for each diagonal.
*/
#include <stdlib.h>
#include <string.h>
#include "device/setup.cuh"
#include "papers/capellini/csr_plan.h"

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

/* Copies an array of either memory to the device. */
static TrsvError CopyToDevice(TrsvMemory memory, void *to, const void *from, size_t bytes)
{
  return memory == TRSV_HOST ? TrsvDeviceUpload(to, from, bytes, NULL) : TrsvDeviceCopy(to, from, bytes, NULL);
}

template <class T> static TrsvError GatherValues(const TrsvCSRPlan *n, const void *values, TrsvStream stream)
{
  const unsigned grid = TrsvBlocks((long)n->entries + (n->inverse ? n->rows : 0), 256);

  if (!grid) return TRSV_SUCCESS;
  return TrsvLaunch(csr_plan_gather<T>, grid, 256, 0, stream, (long)n->entries, n->rows, n->lower, n->offsets,
                    n->source, (const T *)values, (T *)n->values, (T *)n->inverse);
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
  TrsvCall(CopyToDevice(A->memory, n->offsets, A->offsets, sizeof(int) * (rows + 1)));
  TrsvCall(CopyToDevice(A->memory, n->columns, A->columns, sizeof(int) * (size_t)entries));
  plan->bytes += sizeof(int) * (rows + 1 + (size_t)entries) + size * (size_t)entries;
  if (source) {
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)entries, &n->source));
    TrsvCall(CopyToDevice(A->memory, n->source, source, sizeof(int) * (size_t)entries));
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
  /* later each launch clears the half of the next one */
  return TrsvClearWords(A->precision, 2 * rows, n->words, NULL, NULL);
}

extern "C" TrsvError TrsvCSRPlanSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  return TRSV_BY_REAL_PRECISION(plan->precision, GatherValues)((const TrsvCSRPlan *)plan->data, values, stream);
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
