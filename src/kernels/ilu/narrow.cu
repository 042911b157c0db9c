/*
   Copies 64-bit indices on the device to 32-bit indices; one that does not fit becomes -1.

   Mapping: a thread for each index. Memory order: no values cross threads. Why it ends: no thread waits. Same bits:
   copies.
*/
#include "device/setup.cuh"
#include "ilu/ilu.h"

static __global__ void narrow(int n, const int64_t *from, int *to)
{
  const int i = trsv_index();

  if (i < n) to[i] = from[i] == (int)from[i] ? (int)from[i] : -1; /* an index that does not fit is invalid */
}

extern "C" TrsvError TrsvDeviceNarrow(int n, const int64_t *from, int **to)
{
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (size_t)n, to));
  TrsvError error = TrsvLaunchEach(narrow, n, n, from, *to);
  if (!error) error = TrsvDeviceSynchronize();
  if (!error) return TRSV_SUCCESS;
  TrsvDeviceFree(*to);
  *to = NULL;
  return error;
}

extern "C" TrsvError TrsvNarrowCreate(const TrsvCSR *A, TrsvCSR *narrowed)
{
  const int64_t *offsets = (const int64_t *)A->offsets;
  int64_t        entries;
  int           *made = NULL;

  *narrowed = *A;
  if (!A->wide) return TRSV_SUCCESS;
  *narrowed = {A->rows, NULL, NULL, A->values, 0};
  TrsvCall(TrsvDeviceDownload(&entries, offsets + A->rows, sizeof(entries), NULL));
  TrsvCall(TrsvDeviceNarrow(A->rows + 1, offsets, &made));
  narrowed->offsets = made;
  const TrsvError error = TrsvDeviceNarrow((int)entries, (const int64_t *)A->columns, &made);
  narrowed->columns     = made;
  if (error) TrsvNarrowDestroy(A, narrowed);
  return error;
}

extern "C" void TrsvNarrowDestroy(const TrsvCSR *A, TrsvCSR *narrowed)
{
  if (!A->wide) return;
  TrsvDeviceFree((void *)narrowed->offsets);
  TrsvDeviceFree((void *)narrowed->columns);
  narrowed->offsets = narrowed->columns = NULL;
}
