/*
   inverse.cuh: plans of `chunk` with inverted diagonal blocks; inverse.cu says why there are such.
*/
#ifndef TRSV_INVERSE_CUH
#define TRSV_INVERSE_CUH

#include "analysis/triangle_view.cuh"
#include "solve/chunk/chunk.cuh"

enum {
  INVERSE_GROUP = 32,
  INVERSE_SIZES = 3 /* of blocks: 32, 16 and 8 rows */
};

struct Inverse {
  TrsvMatrix T;                 /* as analyzed, in arrays of its own once blocks are to be inverted */
  int        entries, groups;   /* of T, the diagonal's among them where they are stored; of INVERSE_GROUP rows */
  int        block;             /* rows of a diagonal block */
  TrsvPlan  *product, *plain;   /* of TrsvChunkPlain: of D^-1 T; of T, where some values have needed it, else NULL */
  int        use_plain;         /* do the values now set? */
  void      *memory;            /* that holds all that follows, and T */
  int       *source;            /* of T, as analyzed */
  int       *from, *to;         /* [rows] the places of b and of x, NULL where they are the rows */
  unsigned  *reach; /* [rows], by position: the positions of the group that its row of D^-1 has entries for */
  int       *begin, *start;     /* [rows + 1] offsets of D^-1 T; [groups + 1] of D^-1 */
  char      *inverse,
    *right; /* D^-1: the first entries of a group's rows, then the second of those that have so many, ...; D^-1 b */
  unsigned  *beyond;            /* rows whose growth is beyond the limit */
};

/* What kernels see of it. A position is a row's place in the order of solution. */
struct InverseView : TriangleView {
  int             block;
  const int      *source, *from, *begin, *start;
  const unsigned *reach;

  InverseView(const Inverse *v)
      : TriangleView(&v->T), block(v->block), source(v->source), from(v->from), begin(v->begin), start(v->start),
        reach(v->reach)
  {
  }

  /* Where the right-hand side of a position stands. */
  __device__ __forceinline__ int place_of(int p) const { return from ? from[row_of(p)] : row_of(p); }
};

/* The entries of a position's row outside of its diagonal block are [begin, end). */
struct InverseRow {
  int begin, end;
};

/* Finds them; calls inside(position, entry) for those in the block, the diagonal's left out. Columns rise, so that
   these are at one end. */
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

/* Goes through the columns that the rows of a warp have outside of their blocks, as they rise, and calls give(column,
   lanes whose rows have it) for each; load(entry) for each entry of the lane's own row, before its column is given.
   Where one row has many columns before the next of any other, as a long one among short ones does, run(lane, begin,
   end) takes these entries of it at once. All lanes alike; a block is a warp. */
template <class Load, class Give, class Run> static __device__ __forceinline__ void inverse_columns(
  const InverseView &A, InverseRow row, Load load, Give give, Run run)
{
  enum { OFTEN = 32 }; /* columns after which such a run is looked for, and of a run at least */
  const auto column = [&](int k) {
    return k < row.end ? ~(unsigned)A.columns[k] : 0;
  }; /* so the least is the largest, and none less than all */
  unsigned   now = column(row.begin), then = column(row.begin + 1);

  if (now) load(row.begin);
  for (unsigned least, given = 1; (least = trsv_warp_max(now)); given++) {
    const bool     mine  = now == least;
    const unsigned lanes = __ballot_sync(~0u, mine);

    if (given % OFTEN == 0 && !(lanes & (lanes - 1))) {
      const unsigned next = trsv_warp_max(mine ? 0 : now); /* another row's */
      const int s = __ffs((int)lanes) - 1, begin = __shfl_sync(~0u, row.begin, s), end = __shfl_sync(~0u, row.end, s);
      const int      low = trsv_first(begin, end, [&](int k) { return ~(unsigned)A.columns[k] <= next; });

      if (low - begin >= OFTEN) {
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

/* All lanes call each(lane, its pointer) for each lane that asks, one after the other. */
template <class T, class Each> static __device__ __forceinline__ void inverse_each(bool asks, T *pointer, Each each)
{
  for (unsigned left = __ballot_sync(~0u, asks); left; left &= left - 1) {
    const int lane = __ffs((int)left) - 1;

    each(lane, (T *)__shfl_sync(~0u, (unsigned long long)pointer, lane));
  }
}

/* What blocks of one size come to: entries of D^-1, and of the product off its diagonal; of the product, what
   TrsvFillStatistics takes, and dependencies that get ready right before their row. */
struct InverseTotals {
  unsigned long long inverse, entries, squares, distance, profile, late;
  unsigned           row_max, bandwidth;
};

/* The same by row, and the level sets of the product, for each size; while a plan is made. */
struct InverseSizes {
  int           levels[INVERSE_SIZES];
  unsigned     *word;                  /* [INVERSE_SIZES][rows] 1 + the level of each row */
  InverseTotals totals[INVERSE_SIZES];
  int *rows, *groups; /* [sizes][rows] entries of each row of the product; [sizes][groups] of each group of D^-1 */
  void         *memory[2];             /* that holds words; counts */
};

TrsvError TrsvInverseLevels(const Inverse *, InverseSizes *);
TrsvError TrsvInverseCount(const Inverse *, double span, int sizes,
                           InverseSizes *); /* T's; for so many sizes, the largest first */
void      TrsvInverseForget(InverseSizes *);

/* D^-1 T without its values, and of its analysis what chunk asks for: all but the widest level set and where each
   starts; the order only where no row is so long that chunk cuts it; for the span of level sets T's. */
struct InverseProduct {
  TrsvMatrix   matrix;
  TrsvAnalysis analysis;
  void        *memory; /* room for columns and order; offsets are the plan's */
};

/* Makes all that is kept for blocks of the size-th size, and their product; takes the counts as room. */
TrsvError TrsvInverseMake(TrsvPlan *, Inverse *, InverseSizes *, int size, const int *source, InverseProduct *);

/* Chooses the rows of a block. Where an inverse pays, makes all that is kept, v->product with it; else that stays NULL.
   plan->bytes */
TrsvError TrsvInversePattern(TrsvPlan *, Inverse *, const TrsvStatistics *, const int *source);

/* Could it pay, by the statistics? What a plan of chunk does where its blocks are inverted; *inverse is NULL where they
   are better not. */
int       TrsvInverseIsPossible(const TrsvStatistics *);
TrsvError TrsvInverseAnalyze(TrsvPlan *, const TrsvMatrix *, const TrsvAnalysis *, const int *source,
                             Inverse **inverse);
TrsvError TrsvInverseSetValues(TrsvPlan *, Inverse *, const void *values, TrsvStream);
TrsvError TrsvInverseSolve(TrsvPlan *, Inverse *, const void *b, void *x, TrsvStream);
void      TrsvInverseDescribe(const Inverse *, char *line, size_t size);
void      TrsvInverseDestroy(Inverse *);

#endif
