/*
   recblock.h: the blocks of the algorithm `recblock`, made on the host and launched by recblock.cu.

   Rows have places 0, 1, ... in an order in which each row comes after its dependencies, so all triangles are lower.
   The places are cut into 2^depth segments, each with a triangular block. The entries outside of these form square
   blocks, at most one for each segment:

     column      the columns of the segment, all rows below it; multiplied after the segment is solved
     row         the rows of the segment, all columns before it; multiplied before the segment is solved
     recursive   the lower left square of the largest part whose first half ends with the segment; multiplied after that
                 half is solved
*/
#ifndef TRSV_RECBLOCK_H
#define TRSV_RECBLOCK_H

#include "solve/plan/plan.h"

TRSV_C_BEGIN

typedef enum {
  RECBLOCK_COLUMN,
  RECBLOCK_ROW,
  RECBLOCK_RECURSIVE
} TrsvRecblockType;

typedef enum {
  RECBLOCK_BY_TREE, /* for triangular and for square blocks: the decision tree chooses */
  RECBLOCK_LEVEL,
  RECBLOCK_SYNCFREE,
  RECBLOCK_CUSPARSE,
  RECBLOCK_PARALLEL, /* the kernel of blocks without dependencies, and of no others */
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
  int triangle, square; /* the kernel of all triangular, of all square blocks */
} TrsvRecblockSettings;

typedef struct {
  int square, kernel;
  int first, rows;    /* the first place, the number of places */
  int count;          /* stored rows: in DCSR without empty rows */
  int entry, entries; /* the first entry, the number of entries; with the diagonal only for cuSPARSE */
  int longest;        /* entries of the longest row, without the diagonal */
  int offset;         /* index of the row offsets, [count + 1]; the first offset is 0 */
  int index;          /* DCSR: index of the list of rows */
  int level, levels;  /* of a triangle: index of the starts of level sets, in places, [levels + 1]; their number */
  int lanes;          /* sync-free: threads for a row */
} TrsvRecblockPart;

typedef struct {
  TrsvRecblockSettings settings;                              /* with the chosen depth */
  int                  rows, entries, launches, has_cusparse; /* has_cusparse: cuSPARSE solves a block */
  int                  blocks, offset_count, index_count, level_count;
  TrsvRecblockPart    *block;    /* [blocks] in the order of solution */
  int                 *order;    /* [rows] the row in each place */
  int                 *diagonal; /* [rows] by place, the index of the diagonal in the caller's values; NULL: unit */
  int                 *offsets, *index, *level;
  int                 *columns; /* [entries] places; in blocks for cuSPARSE relative to the block's first place */
  int                 *source;  /* [entries] the index of each entry in the caller's values */
} TrsvRecblocks;

/* Makes the blocks on the host. *blocks must be zero before; the caller frees it, even after an error. */
TrsvError TrsvRecblocksMake(const TrsvMatrix *, const TrsvAnalysis *, const int *source, const TrsvRecblockSettings *,
                            int multiprocessors, int has_cusparse, TrsvRecblocks *blocks);
void      TrsvRecblocksFree(TrsvRecblocks *);

enum {
  RECBLOCK_DEPTH_MAX = 12
};

TrsvError TrsvRecblockSettingsGet(TrsvRecblockSettings *); /* as requested: settings.h */
void      TrsvRecblockSettingsPrint(const TrsvRecblocks *, char *words, size_t size);

/* Choices that the settings do not make: the depth; the kernel of a block from its counts, with lanes and count.
   filled: the number of rows that are not empty. */
int  TrsvRecblockDepth(const TrsvRecblockSettings *, int rows, int levels, int multiprocessors);
void TrsvRecblockChooseTriangle(const TrsvRecblockSettings *, int stored, int has_cusparse, TrsvRecblockPart *);
void TrsvRecblockChooseSquare(const TrsvRecblockSettings *, int filled, TrsvRecblockPart *);

static inline int TrsvRecblockIsDcsr(const TrsvRecblockPart *b)
{
  return b->square && (b->kernel == RECBLOCK_SCALAR_DCSR || b->kernel == RECBLOCK_VECTOR_DCSR);
}

TRSV_C_END
#endif
