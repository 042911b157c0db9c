/*
   What works on memory of either kind: copies in new memory, and the check of one row of a matrix.
*/
#include <string.h>
#include "device/device.h"

TrsvError TrsvCopyNew(TrsvMemory to, TrsvMemory from, const void *data, size_t bytes, void *copy)
{
  void    **made = copy;
  TrsvError error = TRSV_SUCCESS;

  *made = NULL;
  if (!data) return TRSV_SUCCESS;
  TrsvCall(TrsvAllocIn(to, bytes, made));
  if (to == TRSV_HOST && from == TRSV_HOST) memcpy(*made, data, bytes);
  else if (to == TRSV_HOST) error = TrsvDeviceDownload(*made, data, bytes, NULL);
  else error = (from == TRSV_HOST ? TrsvDeviceUpload : TrsvDeviceCopy)(*made, data, bytes, NULL);
  if (!error) return TRSV_SUCCESS;
  TrsvFree(to, *made);
  *made = NULL;
  return error;
}

/* Checks the columns [0, n) of row i. */
static TrsvError CheckColumns(int i, int n, const int *columns, int first, int last, int rises, int stored)
{
  int diagonal = !stored;

  for (int k = 0; k < n; k++) {
    if (columns[k] < first || columns[k] > last)
      return TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d, not in %d to %d", i, columns[k], first, last);
    if (rises && k && columns[k] <= columns[k - 1])
      return TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d after column %d; columns must rise", i, columns[k],
                      columns[k - 1]);
    diagonal = diagonal || columns[k] == i;
  }
  return diagonal ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_STRUCTURE, "row %d has no diagonal entry", i);
}

TrsvError TrsvCheckMatrixRow(TrsvMemory memory, const int *offsets, const int *columns, int entries, int i, int first,
                             int last, int rises, int stored)
{
  int       range[2], *copy = NULL;
  TrsvError error;

  if (memory == TRSV_DEVICE) TrsvCall(TrsvDeviceDownload(range, offsets + i, sizeof(range), NULL));
  else memcpy(range, offsets + i, sizeof(range));
  const int begin = range[0], end = range[1];
  if (rises && !i && begin) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets start at %d, not at 0", begin);
  if (end < begin) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, begin, end);
  if (begin < 0 || end > entries)
    return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i, begin, end,
                    entries);
  if (memory == TRSV_DEVICE)
    TrsvCall(TrsvCopyNew(TRSV_HOST, TRSV_DEVICE, columns + begin, sizeof(int) * (size_t)(end - begin), &copy));
  error = CheckColumns(i, end - begin, copy ? copy : columns + begin, first, last, rises, stored);
  free(copy);
  return error;
}
