/*
   ordering.h: orderings of the rows of a matrix.
*/
#ifndef TRSV_ORDERING_H
#define TRSV_ORDERING_H

#include "base/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An ordering of the rows of a square matrix by color: rows of one color touch, that is, the matrix has an entry that
   joins them, only in small blocks: nodes of at most 5 rows that follow each other with the same columns, or runs of 4
   in a grid. */
typedef struct {
  int        rows, colors;
  TrsvMemory memory;  /* where order and color live: with the matrix */
  int       *order;   /* [rows] the row that stands in each place; rising inside a color */
  int       *color;  /* [colors + 1] where each color starts in order */
  int        grid[3]; /* the points along each side, where the matrix was seen to be a regular grid; 0 elsewhere */
  double     seconds;
} TrsvOrdering;

/* Multicolor, for a factorization without fill: few level sets at few more iterations. O(rows + entries), the same
   result every time and in either memory. The matrix is in compressed sparse rows there; its pattern need not be
   symmetric, its diagonal not complete. Where its values are given, not NULL, strong entries decide. On an error
   *ordering is left NULL. */
TrsvError TrsvOrderMulticolor(int rows, const int *offsets, const int *columns, const double *values, TrsvMemory,
                              TrsvOrdering **ordering);
void      TrsvOrderingDestroy(TrsvOrdering **);

#ifdef __cplusplus
}
#endif
#endif
