/*
   recblock.h: what the host's side of the algorithm `recblock`, which cuts a triangle into blocks, shares with its
   launches.

   The rows stand in an order of their own, in places 0, 1, ...: each behind all it depends on, so that upper triangles
   are lower ones there. 2^depth segments of consecutive places have a triangular block each; what is left of and below
   these are square blocks, one for each segment at most:

     column      the columns of the segment, all rows below it; multiplied once the segment is solved
     row         the rows of the segment, all columns before it; multiplied before the segment is solved
     recursive   the right half of the largest part that ends with the segment as its left half; multiplied once that is
   solved
*/
#ifndef TRSV_RECBLOCK_H
#define TRSV_RECBLOCK_H

#include "solve/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  RECBLOCK_COLUMN,
  RECBLOCK_ROW,
  RECBLOCK_RECURSIVE
} TrsvRecblockType;

typedef enum {
  RECBLOCK_BY_TREE, /* of triangular and of square blocks: as the tree has it */
  RECBLOCK_LEVEL,
  RECBLOCK_SYNCFREE,
  RECBLOCK_CUSPARSE,
  RECBLOCK_PARALLEL, /* cannot be asked for: a block without dependencies has this kernel, no other has */
  RECBLOCK_SCALAR_CSR = RECBLOCK_LEVEL,
  RECBLOCK_SCALAR_DCSR,
  RECBLOCK_VECTOR_CSR,
  RECBLOCK_VECTOR_DCSR,
  RECBLOCK_KERNELS
} TrsvRecblockKernel;

typedef enum {
  RECBLOCK_PAPER,
  RECBLOCK_FITTED
} TrsvRecblockThresholds;

typedef struct {
  int type, depth; /* depth < 0: by level sets and rows */
  int thresholds;
  int triangle, square; /* the kernel of all blocks of that kind */
} TrsvRecblockSettings;

typedef struct {
  int square, kernel;
  int first, rows;    /* its places */
  int count;          /* rows that are stored: of DCSR those that are not empty */
  int entry, entries; /* its entries, among those of all blocks; without the diagonal, but for cuSPARSE */
  int longest;        /* entries of its longest row, without the diagonal */
  int offset;         /* where its row offsets start, [count + 1], of which the first is 0 */
  int index;          /* DCSR: where its list of rows starts */
  int level, levels;  /* of a triangle: where its level sets start, in places, [levels + 1], and how many there are */
  int lanes;          /* sync-free: threads for a row */
} TrsvRecblockPart;

typedef struct {
  TrsvRecblockSettings settings;                              /* without anything left open */
  int                  rows, entries, launches, has_cusparse; /* has_cusparse: where it would be chosen */
  int                  blocks, offset_count, index_count, level_count;
  TrsvRecblockPart    *block; /* [blocks] in the order in which they are worked off */
  int                 *order; /* [rows] the row in each place */
  int *diagonal; /* [rows] where the diagonal of each place stands in the caller's values, NULL where it is unit */
  int *offsets, *index, *level;
  int *columns; /* [entries] places; of cuSPARSE's blocks, places behind the first of the block */
  int *source;  /* [entries] where each stands in the caller's values */
} TrsvRecblocks;

/* On the host; *blocks is zeroed, and to be freed after an error, too. */
TrsvError TrsvRecblocksMake(const TrsvMatrix *, const TrsvAnalysis *, const int *source, const TrsvRecblockSettings *,
                            int multiprocessors, int has_cusparse, TrsvRecblocks *blocks);
void      TrsvRecblocksFree(TrsvRecblocks *);

enum {
  RECBLOCK_DEEPEST = 12
};

TrsvError TrsvRecblockSettingsGet(TrsvRecblockSettings *); /* those that are requested, see settings.h */
void      TrsvRecblockSettingsPrint(const TrsvRecblocks *, char *words, size_t size);

/* What the settings leave open: the depth; the kernel of a block whose entries and level sets have been counted, and
   what follows from it. filled: rows that are not empty. */
int  TrsvRecblockDepth(const TrsvRecblockSettings *, int rows, int levels, int multiprocessors);
void TrsvRecblockChooseTriangle(const TrsvRecblockSettings *, int stored, int has_cusparse, TrsvRecblockPart *);
void TrsvRecblockChooseSquare(const TrsvRecblockSettings *, int filled, TrsvRecblockPart *);

static inline int TrsvRecblockIsDcsr(const TrsvRecblockPart *b)
{
  return b->square && (b->kernel == RECBLOCK_SCALAR_DCSR || b->kernel == RECBLOCK_VECTOR_DCSR);
}

/* A triangular block that cuSPARSE SpSV solves: recblock_cusparse.cu, in builds that have it. All solves of a plan
   share a handle. */
typedef struct TrsvRecblockSpsv TrsvRecblockSpsv;
typedef struct {
  int           rows, entries, stored;
  TrsvPrecision precision;
  int          *offsets, *columns;
  void         *values, *right, *solution;
} TrsvRecblockSystem;

TrsvError TrsvRecblockSpsvCreate(TrsvRecblockSpsv *shares, const TrsvRecblockSystem *,
                                 TrsvRecblockSpsv **); /* shares: a handle, or NULL */
TrsvError TrsvRecblockSpsvSetValues(TrsvRecblockSpsv *, size_t *bytes,
                                    TrsvStream); /* the values have changed; bytes grows by what was allocated */
TrsvError TrsvRecblockSpsvSolve(TrsvRecblockSpsv *, TrsvStream);
void      TrsvRecblockSpsvDestroy(TrsvRecblockSpsv *); /* the one that made the handle last */

#ifdef __cplusplus
}
#endif
#endif
