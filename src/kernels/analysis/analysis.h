/*
   analysis.h: triangles, their statistics, level sets and transposes.
*/
#ifndef TRSV_ANALYSIS_H
#define TRSV_ANALYSIS_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  TRSV_LOWER,
  TRSV_UPPER
} TrsvTriangle;

typedef enum {
  TRSV_DIAGONAL_UNIT,  /* ones, not stored */
  TRSV_DIAGONAL_STORED /* in every row: last in a lower triangle, first in an upper one */
} TrsvDiagonal;

typedef struct TrsvAnalysis TrsvAnalysis;

/* A square triangular matrix in compressed sparse rows that belong to the caller, columns rising in every row. */
typedef struct {
  int           rows;
  const int    *offsets; /* [rows + 1], offsets[0] = 0 */
  const int    *columns; /* [offsets[rows]] */
  TrsvTriangle  triangle;
  TrsvDiagonal  diagonal;
  TrsvPrecision precision; /* of the values, of b and of x */
  TrsvMemory    memory;    /* where offsets and columns live */

  const TrsvAnalysis *analysis; /* by TrsvAnalyze of this very triangle, where it has been made: TrsvPairCreate spares
                                   itself another; else NULL */
} TrsvMatrix;

/* The result of TrsvAnalyze: statistics, and the rows in an order in which each follows all it depends on. */
struct TrsvAnalysis {
  TrsvStatistics statistics;
  TrsvMemory     memory; /* where order and levels live: with the matrix */
  int           *order;  /* [rows] rows by level set, rising within a set; holds levels too */
  int           *levels; /* [statistics.levels + 1] where each level set starts in order */
  double         seconds;

  const TrsvAnalysis *heights; /* where it is known: that of the matrix's other triangle, whose levels are the lengths
                                  of the chains of dependents here; else NULL */
};

/* Checks that a matrix is a triangle that can be solved, and finds its level sets, O(rows + nnz), where the matrix
   lives. On an error *analysis is left NULL. */
TrsvError TrsvAnalyze(const TrsvMatrix *, TrsvAnalysis **analysis);

/* Both triangles of a matrix, on the device at the same time. Each analysis may then lead across to the other. On an
   error both are left NULL. */
TrsvError TrsvAnalyzeBoth(const TrsvMatrix *L, const TrsvMatrix *U, TrsvAnalysis **lower, TrsvAnalysis **upper);
void      TrsvAnalysisDestroy(TrsvAnalysis **);

/* Makes the transpose T^T of a triangle: its offsets [rows + 1] and columns [nnz], and source [nnz], which says where
   in T each of its entries comes from, all where T lives. The caller gives offsets, which holds all three, to
   TrsvFree(). */
TrsvError TrsvTranspose(const TrsvMatrix *, TrsvMatrix *transpose, int **offsets, const int **source);

/* The entries off the diagonal of row i are [begin, end); its diagonal, where stored, is at *diagonal. */
static inline void TrsvRow(const TrsvMatrix *A, int i, int *begin, int *end, int *diagonal)
{
  *begin = A->offsets[i], *end = A->offsets[i + 1], *diagonal = -1;
  if (A->diagonal == TRSV_DIAGONAL_STORED) *diagonal = A->triangle == TRSV_LOWER ? --*end : (*begin)++;
}

/* How many entries are stored; a small read where the matrix lives on a device. */
TrsvError TrsvEntries(const TrsvMatrix *, int *entries);

/* The same where there is an analysis, without a read. */
static inline int TrsvStored(const TrsvMatrix *A, const TrsvAnalysis *a)
{
  return (int)(a->statistics.nnz - (A->diagonal == TRSV_DIAGONAL_UNIT ? A->rows : 0));
}

/* Do nearly all rows reach back equally far, as in grids in their natural order? */
static inline int TrsvRegular(const TrsvStatistics *s)
{
  return s->bandwidth > 0 && s->row_bandwidth >= 0.9 * s->bandwidth;
}

/* TrsvAnalyze and TrsvTranspose of a matrix on the device, in the default stream: analysis.cu. analysis is zeroed, the
   caller frees what is in it after an error. */
TrsvError TrsvDeviceAnalyze(const TrsvMatrix *, TrsvAnalysis *);
TrsvError TrsvDeviceTranspose(const TrsvMatrix *, int *offsets, int *columns, int *source);

/* Lets the analyses of L and U lead across to each other, where they are on the device, deep, and the levels of the one
   are heights of the other. */
TrsvError TrsvHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U, TrsvAnalysis *upper);

/* heights.cu: whether they are; and the level of each row, or turned, of each from the last to the first */
TrsvError TrsvDeviceHeightsFromTranspose(const TrsvMatrix *L, TrsvAnalysis *lower, const TrsvMatrix *U,
                                         TrsvAnalysis *upper);
TrsvError TrsvDeviceLevels(const TrsvAnalysis *, int turned, int *level);

enum {
  TRSV_FEW_LEVELS = 32 /* level sets: with no more there is nothing to gain from schedules, nor from making two plans at
                          the same time */
};

/* The analysis that a matrix brings along, or else a new one, which is the caller's to destroy. On an error both are
   NULL. */
TrsvError TrsvAnalysisGet(const TrsvMatrix *, const TrsvAnalysis **analysis, TrsvAnalysis **made);

/* What both analyses share: analysis.c. columns holds those of row i alone, [begin, end) of the matrix. */
TrsvError TrsvCheckRow(const TrsvMatrix *, int i, int begin, int end, const int *columns);
TrsvError TrsvCheckStart(const TrsvMatrix *, int start);

#define TRSV_SPAN_LEFT_OUT(rows) ((rows) / 10) /* of a level set at either end */

/* Fills in the means and what follows from them; levels are there, and what else no sum given here tells is the
   caller's to fill in. off: entries off the diagonal; squares: sum of the squares of the rows' lengths; distance: sum
   of |row - column|; profile: that of the farthest of each row. */
void TrsvFillStatistics(TrsvStatistics *, int rows, long nnz, long off, unsigned long long squares,
                        unsigned long long distance, unsigned long long profile);

#ifdef __cplusplus
}
#endif
#endif
