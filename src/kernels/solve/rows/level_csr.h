/*
   level_csr.h: the layout of the thread-level and the warp-level kernel: the rows of a triangle in the order of their
   level sets, as compressed sparse rows. All indices are positions in that order. In this layout lower and upper
   triangles, transposed or not, are alike: a row depends on smaller positions. Of its dependencies the one that is
   ready last is the last.

   A row with more than `longest` dependencies is split: partial sums of its entries become additional rows, earlier in
   the order, and the row depends on them with a factor of -1. So a thread, or warp, has little to do after its last
   dependency is ready. Padded rows have space for `longest` dependencies each, so that the position gives their start.
   */
#ifndef TRSV_LEVEL_CSR_H
#define TRSV_LEVEL_CSR_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

/* The data of a plan, on the device. */
typedef struct {
  int    rows, off;          /* rows and partial sums; off-diagonal entries, with padding */
  int    recomputes;         /* 1: `thread` with recomputation, whose columns are marked */
  size_t shared_bytes;       /* of a launch */
  void  *memory;             /* holds the arrays below and the device's part of sync */
  int   *offsets, *columns;  /* [rows + 1], NULL if rows are padded; [off], -1: padding. `sell` has its own columns */
  int   *from, *to;          /* [rows] the indices into b and x, -1: a partial sum; one array without permutations */
  int   *source;             /* [off + rows] the index of each entry, then of each diagonal, in the caller's values; -1
                                for padding, and for a factor of -1 or a diagonal of 1 */
  void    *values, *inverse; /* [off]; [rows], NULL: unit diagonal */
  void    *words;            /* [2 * rows] solutions by position, each its own flag; launches alternate the halves */
  TrsvSync sync;
} TrsvLevelCSR;

/* Analyzes a triangle for these plans. recomputes: marks columns for recomputation; only of padded rows. */
TrsvError TrsvLevelCSRAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int longest,
                              int padded, int recomputes);
TrsvError TrsvLevelCSRSetValues(TrsvPlan *, const void *values, TrsvStream);
void      TrsvLevelCSRDestroy(TrsvPlan *);

/* A pair of plans of `thread` in one launch. */
typedef struct {
  const TrsvPlan *forward, *backward;
  void           *forward_solution; /* [rows] each value its own flag; between launches not ready */
  TrsvSync        sync;
} TrsvThreadPair;

/* A sequence: the rows of a triangle in solve order, on the device, each directly after its partial sums. */
typedef struct {
  int  rows, off;
  int *offsets; /* [rows + 1] */
  int *items;   /* [off] an entry of the matrix, or ~r for the partial sum in row r of the sequence */
  int *row;     /* [rows] the row of the matrix, -1: a partial sum */
  int *last;    /* [rows of the matrix] the row of the sequence */
} TrsvSplit;

/* The parts of TrsvLevelCSRAnalyze. The first finds the position of each row of a sequence and, unless NULL, the number
   of entries and the level set, from 1 on, of the row at each position. The second allocates memory for so many rows,
   entries and columns, with sync set up and no word ready. */
TrsvError TrsvLevelCSRPositions(const TrsvMatrix *, const TrsvAnalysis *, const TrsvSplit *, int *position, int *length,
                                unsigned *level);
TrsvError TrsvLevelCSRAlloc(TrsvPlan *, int rows, int off, int columns, int stored, int padded);

/* Makes the sequence in which no row has more than `longest` entries. *memory, NULL before the call, becomes scratch
   with its arrays. */
TrsvError TrsvSplitRows(const TrsvMatrix *, const TrsvAnalysis *, int longest, TrsvSplit *, void **memory);

TRSV_C_END

#ifdef __cplusplus
  #include "analysis/triangle_view.cuh"

/* A padded row's columns or values, aligned for the widest loads. */
enum { QUAD = 4 };

template <class T> struct alignas(16) Quad {
  T v[QUAD];
};

/* The row of the sequence on which item k depends. columns: of the matrix */
static TRSV_INLINE int split_dependency(const TrsvSplit &s, const int *columns, int k)
{
  const int item = s.items[k];

  return item < 0 ? ~item : s.last[columns[item]];
}

/* The index of an item in the caller's values; -1: a partial sum, or no diagonal. source: see TrsvPlanCreate */
static TRSV_INLINE int split_source(const int *source, int item)
{
  return item < 0 ? -1 : source ? source[item] : item;
}

/* What a plan stores of a row of the matrix, -1: a partial sum, at position p beside its entries. */
static TRSV_INLINE void level_csr_row(const TriangleView &A, int row, const int *source, const TrsvPermutation &places,
                                      int p, const TrsvLevelCSR &o)
{
  o.to[p] = row >= 0 && places.x_index ? places.x_index[row] : row;
  if (o.from != o.to) o.from[p] = row >= 0 && places.b_index ? places.b_index[row] : row;
  o.source[(size_t)o.off + (size_t)p] = split_source(source, row >= 0 && A.stored ? A.diagonal(row) : -1);
}

/* The arguments of a kernel from a plan. */
template <class T> struct LevelCSRView {
  int        rows;
  const int *offsets, *columns, *from, *to;
  const T   *values, *inverse;
  T         *words;
  TrsvSync   sync;

  LevelCSRView(const TrsvLevelCSR *o)
      : rows(o->rows), offsets(o->offsets), columns(o->columns), from(o->from), to(o->to), values((const T *)o->values),
        inverse((const T *)o->inverse), words((T *)o->words), sync(o->sync)
  {
  }
};
#endif
#endif
