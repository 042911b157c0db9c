/*
   ordered.h: the layout that the thread-level and the warp-level kernel share: the rows of a triangle in the order of their level
   sets, in compressed sparse rows, every index a position in that order. Lower and upper, transposed or not, look the same
   in it: a row depends on smaller positions. The nearer end of the dependencies comes last in a row.
*/
#ifndef TRSV_ORDERED_H
#define TRSV_ORDERED_H

#include "impl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  int      rows, off;         /* off: entries off the diagonal */
  double   level_mean;        /* rows in a level set */
  int     *offsets, *columns; /* [rows + 1], [off] */
  int     *order;             /* [rows] the row that stands at a position */
  void    *values, *inverse;  /* [off], [rows]; inverse is NULL with a unit diagonal */
  int     *source;            /* where each value, and then each diagonal, stands in the caller's values */
  void    *words;             /* [2 * rows] solutions by position, each its own flag; two launches take turns */
  TrsvSync sync;
} TrsvOrdered;

TrsvError TrsvOrderedAnalyse(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source);
TrsvError TrsvOrderedSetValues(TrsvPlan *, const void *values, TrsvStream);
void      TrsvOrderedDestroy(TrsvPlan *);

#ifdef __cplusplus
}

/* What a kernel sees of it. */
template <class T> struct OrderedView {
  int        rows;
  const int *offsets, *columns, *order;
  const T   *values, *inverse;
  T         *words;
  TrsvSync   sync;

  OrderedView(const TrsvOrdered *o) : rows(o->rows), offsets(o->offsets), columns(o->columns), order(o->order), values((const T *)o->values), inverse((const T *)o->inverse), words((T *)o->words), sync(o->sync) { }
};
#endif
#endif
