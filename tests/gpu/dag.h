/*
   dag.h: triangles by chance, for the long runs on a GPU.
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

/* shape: NULL for one by chance. Values: the diagonal outweighs its row. */
Dag  DagMake(Seed *, const char *shape, int rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision);
int  DagRows(Seed *, int most); /* 1 to most, few more often than many */
void DagFree(Dag *);

#ifdef __cplusplus
}
#endif
#endif
