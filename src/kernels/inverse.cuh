/*
   inverse.cuh: what the pattern and the values of the algorithm `inverse` share; the idea is told in inverse.cu.
*/
#ifndef TRSV_INVERSE_CUH
#define TRSV_INVERSE_CUH

#include "vocabulary.cuh"

enum {
  INVERSE_GROUP = 32,
  INVERSE_LAST  = 32 /* in a place: the column has no further entry in the group */
};

typedef struct {
  int       rows, groups, lower, stored, block; /* block: rows of a diagonal block; 1: none is inverted */
  int       entries;            /* of T, off the diagonal */
  TrsvPlan *product, *plain;    /* chunk's plans: of D^-1 T; of T, where that is what is solved or was needed once */
  int       use_plain;
  int      *offsets, *columns, *source; /* T, as analysed */
  int      *from, *to;          /* [rows] the places of b and of x, NULL where they are the rows */
  int      *entry;              /* [entries] entries by group, column, row: where in T's columns */
  unsigned char *place;         /* [entries] of each: position in its group, INVERSE_LAST */
  int      *first;              /* [groups + 1] the first of each group */
  unsigned *reach;              /* [rows], by position: the positions of the group that its row of D^-1 has entries for */
  int      *begin, *start;      /* [rows + 1] offsets of D^-1 T; [groups + 1] of D^-1 */
  void     *inverse, *right;    /* D^-1: the first entries of a group's rows, then the second of those that have so many, ...; D^-1 b */
  unsigned *beyond;             /* rows whose growth is beyond the limit */
} Inverse;

/* What kernels see of it. */
struct InverseView {
  int                  rows, lower, stored, block;
  const int           *offsets, *columns, *source, *from, *entry, *first, *begin, *start;
  const unsigned char *place;
  const unsigned      *reach;

  InverseView(const Inverse *v) : rows(v->rows), lower(v->lower), stored(v->stored), block(v->block), offsets(v->offsets), columns(v->columns), source(v->source), from(v->from), entry(v->entry), first(v->first), begin(v->begin), start(v->start), place(v->place), reach(v->reach) { }

  __device__ __forceinline__ int turn(int i) const { return lower ? i : rows - 1 - i; } /* from row to position, and back */

  /* Where the right-hand side of a position stands. */
  __device__ __forceinline__ int place_of(int p) const { return from ? from[turn(p)] : turn(p); }

  /* The entries off the diagonal of a row are [*from, *to); returns where its diagonal is, or -1. */
  __device__ __forceinline__ int row(int i, int *from, int *to) const
  {
    *from = offsets[i], *to = offsets[i + 1];
    return !stored ? -1 : lower ? --*to : (*from)++;
  }
};

/* Goes through the columns of a group, and calls give(column, which rows have it) for each; add(position, entry) before that for each entry
   outside the diagonal block of its row. All lanes alike. */
template <class Add, class Give> static __device__ __forceinline__ void inverse_columns(const InverseView &A, int group, Add add, Give give)
{
  unsigned rows = 0;

  for (int k = A.first[group]; k < A.first[group + 1]; k++) {
    const int place = A.place[k], s = place % INVERSE_GROUP, column = A.columns[A.entry[k]];

    if (A.turn(column) / A.block != (group * INVERSE_GROUP + s) / A.block) {
      rows |= 1u << s;
      add(s, A.entry[k]);
    }
    if (place & INVERSE_LAST) {
      if (rows) give(column, rows);
      rows = 0;
    }
  }
}

/* Is there hope for blocks of 32, if their product had no more entries than T? *least: seconds of a solve with T itself; *levels: level sets of
   the product. */
TrsvError TrsvInverseHope(const TrsvMatrix *, const TrsvStatistics *, double *least, int *levels, int *hope);

/* Chooses the rows of a block (v->block, 1 where no inverse pays), makes the pattern of the product and its plan. */
TrsvError TrsvInversePattern(TrsvPlan *, Inverse *, const TrsvMatrix *, const TrsvStatistics *, double least, int levels);

#endif
