/*
   level_csr.h: the layout that the thread-level kernels and the warp-level kernel share: the rows of a triangle in the
   order of their level sets, in compressed sparse rows, every index a position in that order. Lower and upper,
   transposed or not, look the same in it: a row depends on smaller positions. What a row waits for longest comes last
   in it.

   A row of more than a given number of dependencies is cut: partial sums of its entries stand in rows of their own,
   earlier in the order, and the row depends on them with a factor of -1. So no thread, or warp, has much to do once
   what it waited for is there. Padded rows have room for that many dependencies each, so that they start where their
   position says.
*/
#ifndef TRSV_LEVEL_CSR_H
#define TRSV_LEVEL_CSR_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The data of a plan, on the device. */
typedef struct {
  int      rows, off;         /* rows with partial sums; entries off the diagonal, with padding */
  double   level_mean;        /* rows in a level set */
  int      recomputes;        /* `thread`: are columns marked? */
  size_t   shared_bytes;      /* of a launch, where the algorithm asks for any */
  void    *memory;            /* holds all that follows but the host's word of sync */
  int     *offsets, *columns; /* [rows + 1], [off], -1 for padding; offsets is NULL where rows are padded; `sell` has
                                 columns of its own */
  int *from, *to; /* [rows] where a position's row takes b from and where its solution goes, -1 for a partial sum; one
                     array where both are the row itself */
  int *source; /* [off + rows] where each value, and then each row's diagonal, stands in the caller's values; -1 for a
                  partial sum's -1 and 1, for padding, and for a unit diagonal */
  void    *values, *inverse;  /* [off], [rows]; inverse is NULL with a unit diagonal */
  void    *words;             /* [2 * rows] solutions by position, each its own flag; two launches take turns */
  TrsvSync sync;
} TrsvLevelCSR;

/* level, where not NULL, gets the level set of each position, 1 for the first, until it is given to TrsvScratchFree in
   the default stream. */
TrsvError TrsvLevelCSRAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int longest,
                              int padded, unsigned **level);
TrsvError TrsvLevelCSRSetValues(TrsvPlan *, const void *values, TrsvStream);
void      TrsvLevelCSRDestroy(TrsvPlan *);

/* For a kernel with a thread for each row, in blocks of so many: keeps no more of them on a multiprocessor than solve
   so many level sets ahead, and no more than 4. Enough to hide the loads before a wait, and no more than what fills the
   memory pipes: polls of rows far from ready would saturate L2. */
TrsvError TrsvLevelCSRLimit(TrsvLevelCSR *, const void *kernel, int block, double level_sets_ahead);

/* The two forms of `thread`, with recomputation and without: the predicted seconds of one, whether recomputation is
   predicted to be faster, and the analysis for one. */
int       TrsvThreadRecomputes(const TrsvStatistics *, TrsvPrecision);
TrsvError TrsvThreadAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, int recomputes);

/* A pair of plans of `thread` in one launch: thread_pair.cu. */
extern const TrsvPairLaunch TrsvThreadPairLaunch;

typedef struct {
  TrsvFused           fused;
  TrsvPrecision       precision;
  int                 rows;
  const TrsvLevelCSR *forward, *backward;
  size_t             shared_bytes; /* of a launch */
  void               *between; /* [rows] the first solution by row, each its own flag; none is ready between launches */
  TrsvSync           sync;
} TrsvThreadPair;

/* Words [n] with no solution ready. */
TrsvError TrsvLevelCSRReady(TrsvPrecision, long n, void *words, TrsvStream);

/* The rows of a triangle on the device in the order of solution, partial sums of long rows right before the row they
   belong to: what level_csr.cu puts in order of level sets. */
typedef struct {
  int  rows, off;
  void *memory;  /* holds all that follows */
  int *offsets;  /* [rows + 1] */
  int *items;    /* [off] an entry of the matrix, or ~ the row in this sequence of a partial sum */
  int *row;      /* [rows] of the matrix, -1 for a partial sum */
  int *last;     /* [rows of the matrix] where each of its rows stands in this sequence */
} TrsvSplit;

/* What TrsvLevelCSRAnalyze is made of: the position of each row of a sequence, by level set, and the level set of each
   position where level is not NULL; and, but for sync zeroed, memory for so many rows, entries and columns, with no
   solution ready. */
TrsvError TrsvLevelCSRPositions(const TrsvMatrix *, const TrsvAnalysis *, const TrsvSplit *, int *position,
                                unsigned *level);
TrsvError TrsvLevelCSRAlloc(TrsvPlan *, TrsvLevelCSR *, int rows, int off, int columns, int stored, int padded);

/* The sequence of rows and partial sums in which none has more than `longest` entries. To be released by
   TrsvSplitFree(). */
TrsvError TrsvSplitRows(const TrsvMatrix *, const TrsvAnalysis *, int longest, TrsvSplit *);
void      TrsvSplitFree(TrsvSplit *);

#ifdef __cplusplus
}

/* A padded row's columns or values, aligned for the widest loads. */
enum {
  QUAD = 4
};

template <class T> struct alignas(16) Quad {
  T v[QUAD];
};

/* What a kernel sees of it. */
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
