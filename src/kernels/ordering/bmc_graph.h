/*
   bmc_graph.h: the graph whose vertices bmc_blocks.c gathers into blocks; bmc_graph.c makes it.
*/
#ifndef TRSV_BMC_GRAPH_H
#define TRSV_BMC_GRAPH_H

#include "ordering/bmc.h"

/* An undirected graph: the neighbours of v are columns[offsets[v] .. offsets[v + 1]), never v itself, in no order. */
typedef struct {
  int  n;
  int *offsets, *columns;
  int *weights; /* what the entries that an edge stands for count; NULL: one each */
  int *sizes;   /* rows that a vertex stands for; NULL: one each */
} TrsvGraph;

/* Of a matrix whose pattern may be of any kind; values may be NULL. On an error nothing is left. */
TrsvError TrsvGraphCreate(int rows, const int *offsets, const int *columns, const double *values, TrsvGraph *);
void      TrsvGraphFree(TrsvGraph *);

/* In place of a graph that of groups of its vertices: id[v] is the group of v, numbered by their first vertices, next[v] the next vertex of its
   group or -1. mark [groups] is for work. */
TrsvError TrsvGraphContract(TrsvGraph *, int groups, const int *id, const int *next, int *mark);

#endif
