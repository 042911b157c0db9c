/*
   Arrays in either memory.
*/
#include <stdlib.h>
#include "device/device.h"

TrsvError TrsvAllocIn(TrsvMemory memory, size_t bytes, void *pointer)
{
  return memory == TRSV_HOST ? TrsvAlloc(bytes, pointer) : TrsvDeviceAlloc(bytes, pointer);
}

void TrsvFree(TrsvMemory memory, void *pointer)
{
  if (memory == TRSV_HOST) free(pointer);
  else TrsvDeviceFree(pointer);
}
