/*
   multicolor_device.cuh: shared by multicolor.cu and multicolor_waves.cu.
*/
#ifndef TRSV_MULTICOLOR_DEVICE_CUH
#define TRSV_MULTICOLOR_DEVICE_CUH

#include <limits.h>
#include <stdlib.h>
#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "ordering/multicolor.h"

/* TrsvColorWaves on a device, in the default stream. */
TrsvError TrsvDeviceColorWaves(int rows, int entries, const int *offsets, const int *columns, const double *values,
                               unsigned *color, int *colors);

#endif
