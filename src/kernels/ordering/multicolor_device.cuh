/*
   multicolor_device.cuh: what the files of the multicolor ordering on the device share.
*/
#ifndef TRSV_MULTICOLOR_DEVICE_CUH
#define TRSV_MULTICOLOR_DEVICE_CUH

#include <limits.h>
#include <stdlib.h>
#include "ordering/multicolor.h"
#include "analysis/triangle_view.cuh"

enum {
  BLOCK = 256
};

/* The colors of the rows of any pattern, below *colors: as TrsvColorWaves. */
TrsvError TrsvDeviceColorWaves(int rows, int entries, const int *offsets, const int *columns, const double *values,
                               unsigned *color, int *colors);

#endif
