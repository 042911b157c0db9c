/*
   Copies 64-bit indices on the device to 32-bit indices; one that does not fit becomes -1.

   Mapping: a thread for each index. Memory order: no values cross threads. Why it ends: no thread waits. Same bits:
   copies.
*/
#include <limits.h>
#include <stdint.h>
#include "device/setup.cuh"
#include "ilu/ilu.h"

static __global__ void narrow(int n, const int64_t *from, int *to)
{
  const int i = trsv_index();

  if (i < n) to[i] = from[i] == (int)from[i] ? (int)from[i] : -1; /* an index that does not fit is invalid */
}

extern "C" TrsvError TrsvNarrowCreate(const TrsvCSR *A, TrsvCSR *narrowed)
{
  const int64_t *offsets = (const int64_t *)A->offsets, *columns = (const int64_t *)A->columns;
  const size_t   starts  = (size_t)A->rows + 1;
  int64_t        entries;
  int           *to_offsets, *to_columns;
  void          *memory;

  *narrowed = *A;
  if (!A->wide) return TRSV_SUCCESS;
  *narrowed = {A->rows, NULL, NULL, A->values, 0};
  TrsvCall(TrsvDeviceDownload(&entries, offsets + A->rows, sizeof(entries), NULL));
  if (entries < 0 || entries > INT_MAX) entries = 0; /* the last offset becomes -1, which is refused later */
  TrsvCall(TrsvScratchArrays(&memory, starts, to_offsets, (size_t)entries, to_columns));
  narrowed->offsets = to_offsets; /* the start of the memory */
  narrowed->columns = to_columns;
  TrsvError error   = TrsvLaunchEach(narrow, starts, A->rows + 1, offsets, to_offsets);
  if (!error) error = TrsvLaunchEach(narrow, (size_t)entries, (int)entries, columns, to_columns);
  if (error) TrsvNarrowDestroy(A, narrowed);
  return error;
}

extern "C" void TrsvNarrowDestroy(const TrsvCSR *A, TrsvCSR *narrowed)
{
  if (A->wide) TrsvScratchFree((void *)narrowed->offsets, NULL);
  narrowed->offsets = narrowed->columns = NULL;
}
