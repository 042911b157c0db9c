/*
   sell.h: rows in slices, the layout of the algorithm `sell`.

   The rows are in an order in which each row comes after its dependencies. A slice is up to 32 consecutive rows; a warp
   solves it, a lane for each row. The n-th entries of all rows of a slice are stored side by side (SELL-32); the first
   entries of a row are those in columns of its own slice. A slice solves its rows after all values from other slices
   are ready. So slices have level sets, like rows; sell_plan.cu counts them.
*/
#ifndef TRSV_SELL_H
#define TRSV_SELL_H

#include <limits.h>
#include "solve/rows/level_csr.h"

enum {
  BLOCK  = 256,
  LANES  = 32,
  WARPS  = BLOCK / LANES,
  NARROW = 4,        /* entries of a row, which its lane has in registers, at most */
  WIDE   = 6,        /* the same if the longest row has 5 or 6 entries */
  NONE   = SHRT_MIN, /* a column without an entry. Other columns: position - base, >= 0, of a row of another slice;
                        ~lane, < 0, of a row of this slice */

  /* fields of a slice's shape; bits 0 to 7: the number of its rows */
  TRSV_SHAPE_WIDTH = 8,       /* from this bit on: entries of the longest row */
  TRSV_SHAPE_OWN   = 1 << 16, /* set: some row depends on a row of the slice that is not the one before it */
  TRSV_SHAPE_TURNS = 24       /* if not set, from this bit on: dependencies in the longest chain of the slice */
};

/* 16 bytes, which kernels load in one access. */
struct alignas(16) TrsvSlice {
  int      first; /* the position of the first row */
  int      start; /* the first entry is LANES * start */
  unsigned shape;
  unsigned exported; /* a bit for each row that another slice depends on */
};

/* The data of a plan. */
typedef struct {
  TrsvLevelCSR rows;
  TrsvSlice   *slice;
  int         *base;           /* of the n-th entries of each slice, from its start on; NULL: columns have 32 bits */
  void        *columns;        /* [off] of short with base, else of int */
  int          slices, levels; /* levels: level sets of the slices, or of the rows if these are in level order */
  int          width;          /* NARROW or WIDE */
  bool         straight_from, straight_to; /* the index into b, into x, is computed from the position: see SellView */
  int          turn;                       /* rows - 1 if position p is row turn - p, -1 if it is row p */
} Sell;

/* True for an entry in a column of the row's own slice. */
static TRSV_INLINE bool sell_own(int from) { return (unsigned)from > (unsigned)NONE; }

/* The function `analyze` of the algorithm. */
TrsvError TrsvSellAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);

#endif
