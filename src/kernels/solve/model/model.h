/*
   model.h: predicted seconds of solves. constants.h has the constants.
*/
#ifndef TRSV_MODEL_H
#define TRSV_MODEL_H

#include "analysis/analysis.h"
#include "solve/model/constants.h"

TRSV_C_BEGIN

#define TRSV_CONSTANT(name, value, unit, how) double name;
typedef struct {
  TRSV_CONSTANTS(TRSV_CONSTANT)
} TrsvModelConstants;
#undef TRSV_CONSTANT

#ifndef TRSV_MODEL_QUALIFIER
  #define TRSV_MODEL_QUALIFIER const /* bench/fit.py changes them */
#endif
extern TRSV_MODEL_QUALIFIER TrsvModelConstants TrsvModel;

/* Predicted seconds of a solve by: thread, without and with recomputation of every second level set; sell, with slices
   of TRSV_SELL_SLICE rows, which splits rows of more than TRSV_SELL_WIDE dependencies; chunk, without and with inverted
   blocks. INFINITY: never selected. */
enum { TRSV_SELL_SLICE = 32, TRSV_SELL_WIDE = 6 };
double TrsvModelThread(const TrsvStatistics *, TrsvPrecision);
double TrsvModelRecompute(const TrsvStatistics *, TrsvPrecision);
double TrsvModelSell(const TrsvStatistics *, TrsvPrecision);
double TrsvModelChunk(const TrsvStatistics *, TrsvPrecision);
double TrsvModelInverse(const TrsvStatistics *, TrsvPrecision);

/* The rows of a chunk, about 1000; fewer if rows are long or level sets are few. */
double TrsvModelChunkRows(const TrsvStatistics *);

TRSV_C_END
#endif
