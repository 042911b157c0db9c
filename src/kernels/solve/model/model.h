/*
   model.h: what solves are predicted to take, in seconds. The constants: constants.h.
*/
#ifndef TRSV_MODEL_H
#define TRSV_MODEL_H

#include "analysis/analysis.h"
#include "solve/model/constants.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRSV_CONSTANT(name, value, unit, how) double name;
typedef struct {
  TRSV_CONSTANTS(TRSV_CONSTANT)
} TrsvModelConstants;
#undef TRSV_CONSTANT

#ifndef TRSV_MODEL_QUALIFIER
  #define TRSV_MODEL_QUALIFIER const /* bench/fit.py changes them */
#endif
extern TRSV_MODEL_QUALIFIER TrsvModelConstants TrsvModel;

/* By thread, and with recomputation of every second level set; by sell, whose rows are cut where they are longer than
   `wide`, in slices of so many; by chunk, and with inverted blocks. INFINITY where it is never to be chosen. */
double TrsvModelThread(const TrsvStatistics *, TrsvPrecision);
double TrsvModelRecompute(const TrsvStatistics *, TrsvPrecision);
double TrsvModelSell(const TrsvStatistics *, TrsvPrecision, int wide, int slice);
double TrsvModelChunk(const TrsvStatistics *, TrsvPrecision);
double TrsvModelInverse(const TrsvStatistics *, TrsvPrecision);

#ifdef __cplusplus
}
#endif
#endif
