/*
   Copies between and within memories.
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
