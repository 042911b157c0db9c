/*
   The check of one row of a matrix, which finds the words for its error.
*/
#include <string.h>
#include "device/device.h"

/* Checks the columns [0, n) of row i. */
static TrsvError CheckColumns(int rows, int i, int n, const int *columns, int factors)
{
  int diagonal = !factors;

  for (int k = 0; k < n; k++) {
    if (columns[k] < 0 || columns[k] >= rows)
      return TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d of %d", i, columns[k], rows);
    if (factors && k && columns[k] <= columns[k - 1])
      return TrsvFail(TRSV_ERR_STRUCTURE, "row %d has column %d after column %d; columns must rise", i, columns[k],
                      columns[k - 1]);
    diagonal = diagonal || columns[k] == i;
  }
  return diagonal ? TRSV_SUCCESS : TrsvFail(TRSV_ERR_STRUCTURE, "row %d has no diagonal entry", i);
}

TrsvError TrsvCheckMatrixRow(TrsvMemory memory, int rows, int entries, const int *offsets, const int *columns, int i,
                             int factors)
{
  int       range[2], *copy = NULL;
  TrsvError error;

  if (memory == TRSV_DEVICE) TrsvCall(TrsvDeviceDownload(range, offsets + i, sizeof(range), NULL));
  else memcpy(range, offsets + i, sizeof(range));
  const int begin = range[0], end = range[1];
  if (factors && !i && begin) return TrsvFail(TRSV_ERR_STRUCTURE, "offsets start at %d, not at 0", begin);
  if (end < begin) return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: offsets fall from %d to %d", i, begin, end);
  if (begin < 0 || end > entries)
    return TrsvFail(TRSV_ERR_STRUCTURE, "row %d: its offsets, %d and %d, are beyond the last one, %d", i, begin, end,
                    entries);
  if (memory == TRSV_DEVICE)
    TrsvCall(TrsvCopyNew(TRSV_HOST, TRSV_DEVICE, columns + begin, sizeof(int) * (size_t)(end - begin), &copy));
  error = CheckColumns(rows, i, end - begin, copy ? copy : columns + begin, factors);
  free(copy);
  return error;
}
