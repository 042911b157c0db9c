/*
   analysis.h: triangles, their statistics, level sets and transposes.

   A triangle is on the host or on a device; arrays made from it are in the same memory. On a device the functions work
   in the default stream, and wait for it if they return numbers to the host. One thread at a time may use an object.
   All may return TRSV_ERR_MEMORY and TRSV_ERR_DEVICE.
*/
#ifndef TRSV_ANALYSIS_H
#define TRSV_ANALYSIS_H

#include "device/device.h"

TRSV_C_BEGIN

typedef enum { TRSV_LOWER, TRSV_UPPER } TrsvTriangle;

typedef enum {
  TRSV_DIAGONAL_UNIT,  /* ones, not stored */
  TRSV_DIAGONAL_STORED /* in every row: last in a lower triangle, first in an upper triangle */
} TrsvDiagonal;

typedef struct TrsvAnalysis TrsvAnalysis;

/* A square triangle in compressed sparse rows, columns rising in every row. The arrays belong to the caller. */
typedef struct {
  int           rows;
  const int    *offsets; /* [rows + 1], offsets[0] = 0 */
  const int    *columns; /* [offsets[rows]] */
  TrsvTriangle  triangle;
  TrsvDiagonal  diagonal;
  TrsvPrecision precision; /* of the values, of b and of x */
  TrsvMemory    memory;    /* of offsets and columns */

  const TrsvAnalysis *analysis; /* the caller's analysis of this triangle, used instead of a new one; or NULL */
} TrsvMatrix;

/* Statistics, and the rows by level set: each row comes after all rows that it depends on. */
struct TrsvAnalysis {
  TrsvStatistics statistics;
  TrsvMemory     memory; /* of order and levels: that of the matrix */
  int           *order;  /* [rows] rows by level set, rising within a set; levels is in the same allocation */
  int           *levels; /* [statistics.levels + 1] where each level set starts in order */

  const TrsvAnalysis *heights; /* of the other triangle of the matrix, not owned, if its levels are the heights here (of
                                  a row: the length of its longest chain of dependents); else NULL */
};

/* Checks that a matrix is a valid triangle and finds its statistics and level sets, O(rows + nnz). On an error
   *analysis is NULL. TRSV_ERR_STRUCTURE: the matrix is invalid; the message names the row. TRSV_ERR_ARGUMENT: rows is
   negative. TRSV_ERR_TIMEOUT: a wait in a kernel exceeded its limit. */
TrsvError TrsvAnalyze(const TrsvMatrix *, TrsvAnalysis **analysis);

/* Analyzes both triangles of a matrix, on a device at the same time. On an error both are NULL. */
TrsvError TrsvAnalyzeBoth(const TrsvMatrix *L, const TrsvMatrix *U, TrsvAnalysis **lower, TrsvAnalysis **upper);
void      TrsvAnalysisDestroy(TrsvAnalysis **);

/* Transposes a triangle T. source [nnz]: where in T each entry of T^T is. One allocation, *offsets, holds offsets,
   columns and source; the caller frees it by TrsvFree(). Errors as TrsvAnalyze. */
TrsvError TrsvTranspose(const TrsvMatrix *, TrsvMatrix *transpose, int **offsets, const int **source);

/* The entries [begin, end) of row i off the diagonal, and the index of its diagonal, or -1 if that is not stored. */
static inline void TrsvRowRange(const TrsvMatrix *A, int i, int *begin, int *end, int *diagonal)
{
  *begin = A->offsets[i], *end = A->offsets[i + 1], *diagonal = -1;
  if (A->diagonal == TRSV_DIAGONAL_STORED) *diagonal = A->triangle == TRSV_LOWER ? --*end : (*begin)++;
}

/* The number of stored entries; downloads one word from a device. */
TrsvError TrsvEntries(const TrsvMatrix *, int *entries);

/* The same from an analysis, without a download. */
static inline int TrsvStoredEntries(const TrsvMatrix *A, const TrsvAnalysis *a)
{
  return (int)(a->statistics.nnz - (A->diagonal == TRSV_DIAGONAL_UNIT ? A->rows : 0));
}

/* 1 if the farthest dependency of nearly all rows has the same distance, as in grids in the natural order. */
static inline int TrsvIsGrid(const TrsvStatistics *s)
{
  return s->bandwidth > 0 && s->row_bandwidth >= 0.9 * s->bandwidth;
}

/* analysis.cu: analyzes triangles with the same number of rows, 1 or 2, by the same launches. All members of the
   analyses are zeros before. The caller frees their arrays, even after an error. */
TrsvError TrsvDeviceAnalyze(int count, const TrsvMatrix *const A[], TrsvAnalysis *const analysis[]);

/* analysis.cu: TrsvTranspose. */
TrsvError TrsvDeviceTranspose(const TrsvMatrix *, int *offsets, int *columns, int *source);

/* levels.cu: sets the heights of both analyses, on a device and with more than TRSV_FEW_LEVELS level sets, if the
   levels of each triangle are the heights of the other. */
TrsvError TrsvHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper);

/* levels.cu: level [rows], the level of each row, in reverse order if turned. */
TrsvError TrsvDeviceLevels(const TrsvAnalysis *, int turned, int *level);

/* Up to so many level sets neither heights nor both plans at the same time save time. */
enum { TRSV_FEW_LEVELS = 32 };

/* Checks of analysis.c that analysis.cu also uses. entries: the last offset. */
TrsvError TrsvCheckRow(const TrsvMatrix *, int i, int entries);
TrsvError TrsvCheckStart(const TrsvMatrix *, int start);

#define TRSV_SPAN_CUT(rows) ((rows) / 10) /* rows of a level set that level_span leaves out at each end */

/* What the statistics of a triangle are made of. Sums: of squared row lengths; of |row - column|; the same over the
   farthest dependencies; rows that depend on the row solved just before; spans of level sets, each times its rows;
   TrsvHubEntries() of all bins. */
typedef struct {
  unsigned long long squares, distance, profile, chained, spans, hubs;
  int                entries; /* stored */
  unsigned           row_max, bandwidth, levels, level_max;
} TrsvMeasures;
void TrsvFillStatistics(const TrsvMatrix *, const TrsvMeasures *, TrsvStatistics *);

/* The statistic hub_fraction is that of a sample of the entries, the same on the host and on a device. They are counted
   in bins by a hash of their columns. */
enum {
  TRSV_SAMPLES  = 4096,
  TRSV_BINS     = 4096,
  TRSV_BIN_MIN  = 8,   /* bins with fewer sampled entries do not count: they may be chance */
  TRSV_HUB_ROWS = 120 /* a row with more dependents is a hub: nearly all chunks import it, so more add no imports */
};

/* Chris Wellons' lowbias32 (hash-prospector, public domain). */
TRSV_HOST_DEVICE unsigned TrsvHash(unsigned v)
{
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}

TRSV_HOST_DEVICE int TrsvSamples(int entries) { return entries < TRSV_SAMPLES ? entries : TRSV_SAMPLES; }

/* The n-th entry of the sample: one of each of TrsvSamples ranges of entries. Its place in the range is a hash, because
   rows may have equal lengths. */
TRSV_HOST_DEVICE int TrsvSample(int n, int entries)
{
  const int stretch = entries / TrsvSamples(entries);

  return n * stretch + (int)(TrsvHash((unsigned)n) % (unsigned)stretch);
}

TRSV_HOST_DEVICE int TrsvBin(int column) { return (int)(TrsvHash((unsigned)column) % TRSV_BINS); }

/* The dependencies on hubs in a bin of `count` sampled entries, beyond TRSV_HUB_ROWS, times the size of the sample. */
TRSV_HOST_DEVICE unsigned long long TrsvHubEntries(unsigned count, int entries)
{
  const unsigned long long all  = (unsigned long long)count * (unsigned)entries,
                           base = (unsigned long long)TRSV_HUB_ROWS * (unsigned)TrsvSamples(entries);

  return count >= TRSV_BIN_MIN && all > base ? all - base : 0;
}

TRSV_C_END
#endif
