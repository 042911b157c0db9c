/*
   inverse.cuh: plans of `chunk` with inverted diagonal blocks. inverse.cu explains them.
*/
#ifndef TRSV_INVERSE_CUH
#define TRSV_INVERSE_CUH

#include "analysis/triangle_view.cuh"
#include "device/setup.cuh"
#include "solve/chunk/chunk.cuh"

enum {
  INVERSE_GROUP = 32,
  INVERSE_SIZES = 3 /* sizes of blocks: 32, 16 and 8 rows */
};

/* The pattern of D^-1 T, and the parts of its analysis that `chunk` needs: the order, only if no row is split, and the
   statistics without level_max. */
struct InverseProduct {
  TrsvMatrix   matrix;
  TrsvAnalysis analysis;
  void        *memory; /* holds columns and order; offsets are the plan's. NULL: no pattern, or no more */
};

/* What kernels need of a plan, beside T. A position is the place of a row in solve order. */
struct InverseArrays {
  int       block;          /* rows of a diagonal block */
  int      *source;         /* of T, or NULL */
  int      *from;           /* [rows] the permutation of b; NULL: none */
  int      *begin, *start;  /* [rows + 1] offsets of D^-1 T; [groups + 1] offsets of the groups of D^-1 */
  unsigned *reach;          /* [rows] of each position: a bit for each position of its group in whose column the row of
                               D^-1 has an entry */
};

struct Inverse : InverseArrays {
  TrsvMatrix     T;               /* the triangle; in arrays of this plan after a size of blocks is chosen */
  int            entries, groups; /* stored entries of T; groups of INVERSE_GROUP rows */
  TrsvPlan      *product, *plain; /* plans of TrsvChunkPlain for D^-1 T, and for T; plain: NULL until values need it */
  int            use_plain;       /* 1: the current values need plain */
  InverseProduct unfinished;      /* from TrsvInverseBegin to TrsvInverseEnd */
  void          *memory;          /* holds all arrays, also T's */
  int           *to;              /* [rows] the permutation of x; NULL: none */
  char          *inverse;         /* D^-1, by groups: the first entry of each row, then the second entries, ... */
  char          *right;           /* D^-1 b */
  unsigned      *exceeding;       /* the number of rows whose growth exceeds the limit */
};

struct InverseView : TriangleView, InverseArrays {
  InverseView(const Inverse *v) : TriangleView(&v->T), InverseArrays(*v) { }
};

/* The entries of a position's row outside of its diagonal block: [begin, end). */
struct InverseRow {
  int begin, end;
};

/* Finds these entries. Calls inside(position, entry) for the off-diagonal entries inside the block, which are at one
   end of the row because columns rise. */
template <class Inside> static __device__ __forceinline__ InverseRow inverse_row(const InverseView &A, int p,
                                                                                 Inside inside)
{
  if (p >= A.rows) return {0, 0};
  const int  i = A.row_of(p), top = p / A.block * A.block;
  InverseRow row = {A.offsets[i] + (A.stored && !A.lower), A.offsets[i + 1] - (A.stored && A.lower)};

  while (row.begin < row.end) {
    const int k = A.lower ? row.end - 1 : row.begin, q = A.row_of(A.columns[k]);

    if (q < top) break;
    inside(q, k);
    if (A.lower) row.end--;
    else row.begin++;
  }
  return row;
}

/* Merges the columns that the rows of a warp have outside of their blocks. For each column, in rising order, calls
   load(entry) in the lanes whose rows have it, then give(column, a bit for each of these lanes) in all lanes. If one
   row has many columns before the next column of any other row, as a long row among short ones has, all lanes call
   run(lane, begin, end) for these entries together. */
template <class Load, class Give, class Run> static __device__ __forceinline__ void inverse_columns(
  const InverseView &A, InverseRow row, Load load, Give give, Run run)
{
  enum { RUN_MIN = 32 }; /* columns between two checks for a run; entries of a run, at least */
  const auto column = [&](int k) {
    return k < row.end ? ~(unsigned)A.columns[k] : 0;
  }; /* complements: the least column has the largest one; 0: no column is left */
  unsigned now = column(row.begin), then = column(row.begin + 1);

  if (now) load(row.begin);
  for (unsigned least, given = 1; (least = trsv_warp_max(now)); given++) {
    const bool     mine  = now == least;
    const unsigned lanes = __ballot_sync(~0u, mine);

    if (given % RUN_MIN == 0 && !(lanes & (lanes - 1))) {
      const unsigned next = trsv_warp_max(mine ? 0 : now); /* of the other rows */
      const int s = __ffs((int)lanes) - 1, begin = __shfl_sync(~0u, row.begin, s), end = __shfl_sync(~0u, row.end, s);
      const int low = trsv_first(begin, end, [&](int k) { return ~(unsigned)A.columns[k] <= next; });

      if (low - begin >= RUN_MIN) {
        run(s, begin, low);
        if (mine) {
          row.begin = low;
          now       = column(low);
          then      = column(low + 1);
          if (now) load(low);
        }
        continue;
      }
    }
    give((int)~least, lanes);
    if (mine) {
      now = then;
      if (now) load(++row.begin);
      then = now ? column(row.begin + 1) : 0;
    }
  }
}

/* For each lane that asks, one after the other, all lanes call each(lane, its pointer). */
template <class T, class Each> static __device__ __forceinline__ void inverse_each(bool asks, T *pointer, Each each)
{
  for (unsigned left = __ballot_sync(~0u, asks); left; left &= left - 1) {
    const int lane = __ffs((int)left) - 1;

    each(lane, (T *)__shfl_sync(~0u, (unsigned long long)pointer, lane));
  }
}

/* Counts for one size of blocks: entries of D^-1; off-diagonal entries of the product, and those of them that are
   solved just before their row; what the product's statistics are made of. inverse_count adds to the first six numbers
   in this order, so to the first three of measures. */
struct InverseTotals {
  unsigned long long inverse, entries, late;
  TrsvMeasures       measures;
};

/* The candidate sizes of blocks, the largest first: level sets, totals, and the totals by row and group. */
struct InverseSizes {
  int           levels[INVERSE_SIZES];
  unsigned     *word; /* [INVERSE_SIZES][rows] 1 + the level of each row of the product */
  InverseTotals totals[INVERSE_SIZES];
  int          *rows, *groups; /* [sizes][rows] entries of the product; [sizes][groups] entries of D^-1 */
  TrsvScratch   searched, counted; /* hold word; rows and groups */
};

/* Counts entries for the first `sizes` sizes, given the span of T's level sets. */
TrsvError TrsvInverseCount(const Inverse *, double span, int sizes, InverseSizes *);

/* Makes the patterns of D^-1 and of the product, v->unfinished, for one size; overwrites the counts. */
TrsvError TrsvInverseMake(TrsvPlan *, Inverse *v, InverseSizes *, int size, const int *source);

/* Begin predicts the time of the product for each size of the blocks, over that of T. If a search with the limit `from`
   finds no size, and one with `below` does, it makes all patterns for that size and begins the plan of the product;
   otherwise *inverse stays NULL. End completes that plan and adds its bytes. */
TrsvError TrsvInverseBegin(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source, double from,
                           double below, Inverse **inverse);
TrsvError TrsvInverseEnd(TrsvPlan *, Inverse *);
TrsvError TrsvInverseSetValues(TrsvPlan *, Inverse *, const void *values, TrsvStream);
TrsvError TrsvInverseSolve(TrsvPlan *, Inverse *, const void *b, void *x, TrsvStream);
void      TrsvInverseDestroy(Inverse **);

#endif
