/*
   ordering.h: orderings of the rows of a matrix.
*/
#ifndef TRSV_ORDERING_H
#define TRSV_ORDERING_H

#include "base/types.h"

TRSV_C_BEGIN

/* An ordering of the rows of a square matrix by color. Rows i and j are neighbors if the matrix has an entry (i, j) or
   (j, i). Rows of one color are neighbors only within small blocks: nodes, which are at most 5 consecutive rows with
   the same columns, or runs of 4 points in a grid. */
typedef struct {
  int        rows, colors; /* colors: 0 on a device */
  TrsvMemory memory;  /* of order: that of the matrix */
  int       *order;   /* [rows] the row in each position; rising within a color */
  int        grid[3]; /* points along each side of a regular grid; 0: the matrix is not a regular grid */
  double     seconds; /* wall-clock time that finding it took */
} TrsvOrdering;

/* Finds the multicolor ordering, in which a factorization without fill has few level sets and needs few more
   iterations. Takes O(rows + entries); the order is the same every time and in both memories. The matrix is in
   compressed sparse rows in the given memory; its pattern may be unsymmetric, its diagonal incomplete. If values is not
   NULL, colors follow entries of large magnitude. On a device it works in the default stream and waits for it. On an
   error *ordering is NULL. TRSV_ERR_STRUCTURE: invalid offsets or columns; TRSV_ERR_ARGUMENT: rows is negative;
   TRSV_ERR_TIMEOUT: a wait in a kernel exceeded its limit. */
TrsvError TrsvOrderMulticolor(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory,
                              TrsvOrdering **ordering);
void      TrsvOrderingDestroy(TrsvOrdering **);

TRSV_C_END
#endif
