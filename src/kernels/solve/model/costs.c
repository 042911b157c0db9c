/*
   What things cost on a device, for the predictions.

   The predictions' constants were fitted on one H200. What differs from device to device is measured once for each
   device in a process (calibrate.cu), and the constants are scaled by measured over H200-measured. A choice must not
   depend on chance: a ratio counts only in steps of 15%, of which an H200, measured at any time, lies inside the one
   that is exactly 1 (by a byte 1.3% inside); so all H200 choose alike, as does any one device from run to run but for
   those near the edge of a step. A launch is not measured: it depends on the host as much as on the device, and from
   run to run (3.4 to 4.9 us beside an H200).
*/
#include <math.h>
#include <pthread.h>
#include "solve/model/costs.h"

/* An H200 at 1.98 GHz, by calibrate.cu: about the medians of the runs in results/calibration.txt; of a byte the middle
   between copies that follow each other and those that other processes come between. */
const TrsvMeasured TrsvH200 = {.hop = 273e-9, .push = 157e-9, .step = 22.36e-9, .byte = 0.2577e-12};

static double Ratio(double measured, double reference)
{
  const double step = log(1.15);

  return measured > 0 && isfinite(measured) ? exp(step * round(log(measured / reference) / step)) : 1;
}

TrsvCosts TrsvCostsFrom(const TrsvMeasured *m)
{
  const TrsvCosts c = {.hop      = Ratio(m->hop, TrsvH200.hop),
                       .push     = Ratio(m->push, TrsvH200.push),
                       .step     = Ratio(m->step, TrsvH200.step),
                       .byte     = Ratio(m->byte, TrsvH200.byte),
                       .measured = 1};

  return c;
}

enum {
  DEVICES = 64
};

TrsvCosts TrsvGetCosts(void)
{
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  static TrsvCosts       known[DEVICES];
  static char            asked[DEVICES];
  const TrsvCosts        stock = {1, 1, 1, 1, 0};
  TrsvCosts              costs = stock;
  TrsvMeasured           m;
  int                    device;

  if (TrsvDeviceCurrent(&device) || device < 0 || device >= DEVICES) return stock;
  (void)pthread_mutex_lock(&one_at_a_time);
  if (!asked[device]) { /* what waits for the device here must not be one of two in turns, or the other could wait for
                           the lock for ever: pair.c asks before */
    known[device] = TrsvCalibrate((size_t)128 << 20, &m) ? stock : TrsvCostsFrom(&m);
    asked[device] = 1;
  }
  costs = known[device];
  (void)pthread_mutex_unlock(&one_at_a_time);
  return costs;
}
