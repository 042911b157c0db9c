/*
   dense.h: dense triangles, and the search for dense blocks of sparse ones.
*/
#ifndef TRSV_DENSE_H
#define TRSV_DENSE_H

#include "analysis/analysis.h"

TRSV_C_BEGIN

/* A dense triangle on the device: dense.cu. */
typedef enum {
  TRSV_DENSE_BLOCKS,   /* diagonal blocks are inverted; the blocks are solved in sequence by multiplication */
  TRSV_DENSE_DOUBLING, /* blocks of twice the size in each step */
  TRSV_DENSE_SIMPLE,   /* column after column */
  TRSV_DENSE_PAIRS     /* two columns at a time */
} TrsvDenseForm;

typedef struct {
  TrsvDenseForm form;
  int block;    /* TRSV_DENSE_BLOCKS: rows of a diagonal block, rounded up to 32 times a power of two; 0: default */
  int launches; /* 1: a launch for each step, in one graph; 0: one launch, in which threads wait for values */
} TrsvDenseSettings;

typedef struct TrsvDense TrsvDense;

/* settings may be NULL: the defaults. */
TrsvError TrsvDenseCreate(int         rows, TrsvTriangle, TrsvDiagonal, TrsvPrecision, const TrsvDenseSettings *,
                          TrsvDense **dense);

/* Sets values from an array on the device: the columns in sequence, `leading` apart. Does not read the other triangle,
   nor a unit diagonal. If the growth of an inverse exceeds the limit, these values are solved by TRSV_DENSE_SIMPLE. */
TrsvError TrsvDenseSetValues(TrsvDense *, const void *values, int leading, TrsvStream);

/* As TrsvPlanSolve. */
TrsvError TrsvDenseSolve(TrsvDense *, const void *b, void *x, TrsvStream);

TrsvDenseForm TrsvDenseSolves(const TrsvDense *); /* the form that solves the current values */
int           TrsvDenseBlock(const TrsvDense *);  /* rows of an inverted diagonal block, 1: none */
size_t        TrsvDenseBytes(const TrsvDense *);
void          TrsvDenseDestroy(TrsvDense **);

/* The input of DenseFind, on the host, for each position in the order of solution: the number of columns directly
   before the diagonal, of off-diagonal entries of the row, of entries of the column. height must be 0 before. */
void DenseMeasure(const TrsvMatrix *, int *run, int *length, int *height);

enum {
  DENSE_BLOCKS_MAX = 8
};

typedef struct {
  int begin, end; /* positions */
} DenseRange;

/* Finds the dense diagonal blocks, in order; blocks [DENSE_BLOCKS_MAX + 1]. Returns their number. */
int DenseFind(int rows, const int *run, const int *length, const int *height, DenseRange *blocks);

TRSV_C_END
#endif
