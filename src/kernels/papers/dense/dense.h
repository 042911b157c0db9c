/*
   dense.h: triangles that are wholly dense.
*/
#ifndef TRSV_DENSE_H
#define TRSV_DENSE_H

#include "analysis/analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A triangle that is wholly dense, on the device: dense.cu. */
typedef enum {
  TRSV_DENSE_BLOCKS,   /* diagonal blocks are inverted; block after block is solved by multiplication */
  TRSV_DENSE_DOUBLING, /* blocks of twice the size in each step */
  TRSV_DENSE_SIMPLE,   /* column after column */
  TRSV_DENSE_PAIRS     /* two columns at a time */
} TrsvDenseForm;

typedef struct {
  TrsvDenseForm form;
  int block; /* TRSV_DENSE_BLOCKS: rows of a diagonal block, rounded up to 32 times a power of two; 0 for what suits the
                size */
  int launches; /* a launch for each step, all of them one graph, in place of one launch in which values wait for values
                 */
} TrsvDenseSettings;

typedef struct TrsvDense TrsvDense;

/* settings: NULL for those expected to be the best. */
TrsvError TrsvDenseCreate(int         rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision, const TrsvDenseSettings *,
                          TrsvDense **dense);

/* Takes values from an array on the device, column after column, `leading` apart; the other triangle, and a unit
   diagonal, are not read. Inverses that grow are not used: these values are then solved column after column. */
TrsvError TrsvDenseSetValues(TrsvDense *, const void *values, int leading, TrsvStream);

/* As TrsvPlanSolve. */
TrsvError TrsvDenseSolve(TrsvDense *, const void *b, void *x, TrsvStream);

TrsvDenseForm TrsvDenseSolves(const TrsvDense *); /* how the present values are solved */
int           TrsvDenseBlock(const TrsvDense *);  /* rows of an inverted diagonal block, 1 where none is */
size_t        TrsvDenseBytes(const TrsvDense *);
void          TrsvDenseDestroy(TrsvDense **);

/* Dense diagonal blocks of a sparse triangle, on the host: dense_find.c. By position p, counted in the order of
   solution: the longest run of columns right before the diagonal, all entries off it, and how many entries each column
   has; heights start at 0. */
void DenseMeasure(const TrsvMatrix *, int *run, int *length, int *height);

enum {
  DENSE_BLOCKS_MAX = 8
};

typedef struct {
  int begin, end; /* positions */
} DenseRange;

/* The dense blocks in order; blocks has room for one more than DENSE_BLOCKS_MAX. Returns how many. */
int DenseFind(int rows, const int *run, const int *length, const int *height, DenseRange *blocks);

#ifdef __cplusplus
}
#endif
#endif
