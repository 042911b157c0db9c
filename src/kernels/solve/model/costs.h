/*
   costs.h: what things cost on a device, for the predictions.
*/
#ifndef TRSV_COSTS_H
#define TRSV_COSTS_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What things take on a device, over what they take on the H200 on which the constants of the predictions were fitted.
 */
typedef struct {
  double hop;      /* of a value through L2 to another block */
  double push;     /* of a value to another block of the cluster */
  double step;     /* through shared memory and arithmetic, within a warp */
  double byte;     /* of device memory */
  int    measured; /* 0: nothing could be measured here, all are 1 */
} TrsvCosts;

/* Of the current device: measured when first asked for, in some ms, then kept; see costs.c. For predictions only. */
TrsvCosts TrsvGetCosts(void);

/* What TrsvGetCosts rests on: seconds, whose ratios to another device's matter; <= 0 for what could not be measured. */
typedef struct {
  double hop, push, step, byte;
} TrsvMeasured;

TrsvError TrsvCalibrate(size_t copied,
                        TrsvMeasured *); /* calibrate.cu; copied: bytes of a copy, more than caches hold */
TrsvCosts TrsvCostsFrom(const TrsvMeasured *);          /* ratios to an H200, in coarse steps */

extern const TrsvMeasured TrsvH200;

#ifdef __cplusplus
}
#endif
#endif
