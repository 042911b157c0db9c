/*
   graph.h: launches that are recorded once and replayed as one.
*/
#ifndef TRSV_GRAPH_H
#define TRSV_GRAPH_H

#include "device/device.h"

TRSV_C_BEGIN

/* Records the launches made by launch(data, stream). data must not change. launch neither allocates nor frees device
   memory. */
typedef struct TrsvDeviceGraph TrsvDeviceGraph;
TrsvError TrsvDeviceGraphCreate(TrsvError (*launch)(void *data, TrsvStream), void *data, TrsvDeviceGraph **);
TrsvError TrsvDeviceGraphLaunch(TrsvDeviceGraph *, TrsvStream);
void      TrsvDeviceGraphDestroy(TrsvDeviceGraph **);

TRSV_C_END
#endif
