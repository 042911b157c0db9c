/*
   bmc_device.cuh: what the files of the multicolour ordering on the device share.
*/
#ifndef TRSV_BMC_DEVICE_CUH
#define TRSV_BMC_DEVICE_CUH

#include <limits.h>
#include <stdlib.h>
#include "ordering/bmc.h"
#include "analysis/triangle_view.cuh"

enum {
  BLOCK = 256
};

/* The colours of the rows of any pattern, below *colours: as TrsvColourWaves. */
TrsvError TrsvDeviceColourWaves(int rows, int entries, const int *offsets, const int *columns, const double *values, unsigned *colour, int *colours);

#endif
