/*
   sell.h: rows in slices, the layout of the algorithm `sell`.

   A slice is up to 32 rows that follow each other in an order in which each row follows all it depends on: a warp
   solves it, a lane a row. Its entries stand lane by lane (SELL-32), those of the slice's own rows first. Nothing of a
   slice is handed on before it has all that it waits for; so slices have level sets of their own, which sell_slices.cu
   counts.
*/
#ifndef TRSV_SELL_H
#define TRSV_SELL_H

#include <limits.h>
#include "solve/rows/level_csr.h"

enum {
  BLOCK  = 256,
  LANES  = 32,
  WARPS  = BLOCK / LANES,
  NARROW = 4,      /* entries of a row that a lane has in registers; */
  WIDE   = 6,      /* where that is the longest row, or 5 */
  NONE = SHRT_MIN, /* where an entry's position, less its base, would stand: >= 0 of another slice's row, ~lane of this
                      slice's, or none */
  TRSV_SHAPE_WIDTH = 8, /* the bit of a slice's shape from which on there is the number of entries of its longest row */
  TRSV_SHAPE_OWN   = 1 << 16, /* rows wait for rows of the slice, not only for the one before them */
  TRSV_SHAPE_TURNS =
    24 /* else the bit from which on there is how many rows before it the last of the longest chain waits for */
};

/* As a kernel reads it, in one load. */
struct alignas(16) TrsvSlice {
  int      first;    /* the position of its first row */
  int      start;    /* its entries stand from LANES * start on */
  unsigned shape;    /* rows; and see above */
  unsigned exported; /* a bit for each row that another slice waits for */
};

/* The data of a plan. */
typedef struct {
  TrsvLevelCSR rows;
  TrsvSlice  *slice;
  int        *base;    /* of the n-th entries of each slice, from its start on; NULL where columns are of 32 bits */
  void       *columns; /* [off] what a lane is told of each entry */
  int         slices, levels; /* levels: level sets of the slices, or of the rows where these are in their order */
  int         width;                /* NARROW or WIDE */
  bool        straight_from, straight_to; /* are places not listed, as a SellView has them? */
  int         turn;
  void       *memory;
} Sell;

/* Does an entry of a row of its own slice stand there? */
static __device__ __forceinline__ bool sell_own(int from) { return (unsigned)from > (unsigned)NONE; }

/* As TrsvAlgorithm has it */
extern "C" TrsvError TrsvSellAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);

/* Cuts the rows of a sequence of more than 0 in their own order into slices, where no row depends on a near one across
   the cut, as far as there are such places. first [slices + 1], which the caller gives to TrsvScratchFree(), says where
   each starts; depth how many level sets the slices have, or limit + 1 if more than limit. */
extern "C" TrsvError TrsvSlicesFind(const TrsvMatrix *, const TrsvSplit *, int limit, int **first, int *slices,
                                    int *depth);

#endif
