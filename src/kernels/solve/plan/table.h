/*
   table.h: the algorithms as callers of the door see them.
*/
#ifndef TRSV_TABLE_H
#define TRSV_TABLE_H

#include "base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One way to solve a triangle: a row of the table in algorithms.c. */
typedef struct TrsvAlgorithm TrsvAlgorithm;

const TrsvAlgorithm *TrsvAlgorithmGet(int i);             /* the i-th row, NULL past the last */
const TrsvAlgorithm *TrsvAlgorithmFind(const char *name); /* NULL where this build has none of that name */
const char          *TrsvAlgorithmName(const TrsvAlgorithm *);
const char          *TrsvAlgorithmCitation(const TrsvAlgorithm *); /* BibTeX; NULL where there is nothing to cite */
TrsvMemory           TrsvAlgorithmMemory(const TrsvAlgorithm *); /* where its plans, b and x live */

enum {
  TRSV_SETTINGS = 96 /* characters of a plan's settings in words */
};

/* One candidate of tuning. */
typedef struct {
  const TrsvAlgorithm *algorithm;
  char                 settings[TRSV_SETTINGS]; /* "" where the algorithm has none */
  double               seconds;                 /* of a solve: the median */
  double               error;                   /* of a solve: the largest componentwise backward error */
  int                  wrong;                   /* rejected: its error is beyond rounding, another's is not */
} TrsvTrial;

#ifdef __cplusplus
}
#endif
#endif
