/*
   sell.h: rows in slices, the layout of the algorithm `sell`.

   A slice is up to 32 rows that follow each other in an order in which each row follows all it depends on: a warp solves it, a lane a row. Its
   entries stand lane by lane (SELL-32), those that come from other slices first. Nothing of a slice is handed on before it has all that it
   waits for; so slices have level sets of their own, which sell_slices.cu counts.
*/
#ifndef TRSV_SELL_H
#define TRSV_SELL_H

#include "ordered.h"

enum {
  TRSV_LANES = 32
};

/* As a kernel reads it, in one load. */
struct alignas(16) TrsvSlice {
  int      first;     /* the position of its first row */
  int      start;     /* its entries stand from TRSV_LANES * start on */
  unsigned shape;     /* rows; from bit 8 on the entries of its longest row; from bit 16 on a bit for each n: has any row an n-th entry that is of the slice itself? */
  unsigned exported;  /* a bit for each row that another slice waits for */
};

/* Cuts the rows of a sequence of more than 0 in their own order into slices, where no row depends on a near one across the cut, as far as there
   are such places. first [slices + 1], which the caller gives to TrsvDeviceUnstage(), says where each starts; depth how many level sets the
   slices have, or limit + 1 if more than limit. */
extern "C" TrsvError TrsvSlicesFind(const TrsvMatrix *, const TrsvCut *, int limit, int **first, int *slices, int *depth);

#endif
