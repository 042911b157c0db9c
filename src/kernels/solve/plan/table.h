/*
   table.h: the table of algorithms for callers outside of solve/.
*/
#ifndef TRSV_TABLE_H
#define TRSV_TABLE_H

#include "base/types.h"

TRSV_C_BEGIN

/* An algorithm for solves with a triangle: a row of the table in algorithms.c. */
typedef struct TrsvAlgorithm TrsvAlgorithm;

const TrsvAlgorithm *TrsvAlgorithmGet(int i);             /* row i, NULL after the last */
const TrsvAlgorithm *TrsvAlgorithmFind(const char *name); /* NULL if this build has no algorithm of that name */
const char          *TrsvAlgorithmName(const TrsvAlgorithm *);
const char          *TrsvAlgorithmCitation(const TrsvAlgorithm *); /* BibTeX; NULL: nothing to cite */
TrsvMemory           TrsvAlgorithmMemory(const TrsvAlgorithm *);   /* of its plans, b and x */

enum {
  TRSV_SETTINGS = 96 /* characters of the description of a plan's settings */
};

/* One candidate of tuning. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  char                 settings[TRSV_SETTINGS]; /* "": none */
  double               seconds;                 /* of a solve, the median */
  double               error;                   /* of a solve, the largest componentwise backward error */
  int                  wrong; /* 1: rejected, as its error exceeds rounding and that of another candidate does not */
} TrsvTrial;

TRSV_C_END
#endif
