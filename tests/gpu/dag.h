/*
   dag.h: random triangles, for the long runs on a GPU.
*/
#ifndef GPU_DAG_H
#define GPU_DAG_H

#include "ways.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A triangle on the host, with values in double precision. */
typedef struct Dag {
  TrsvMatrix  view;
  int        *offsets, *columns;
  double     *values;
  const char *shape;
} Dag;

/* shape: NULL for a random one. The diagonal is larger than the sum of its row. */
Dag  DagMake(Seed *, const char *shape, int rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision);
int  DagRows(Seed *, int most); /* 1 to most; the logarithm is uniform */
void DagFree(Dag *);

#ifdef __cplusplus
}
#endif
#endif
