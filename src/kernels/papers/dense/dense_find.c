/*
   The search for dense diagonal blocks of a sparse triangle: dense_rows.cu defines them.
*/
#include <stdlib.h>
#include "papers/dense/dense.h"

enum {
  TRAILING_MIN = 64,    /* rows of a trailing block, at least */
  FULL_MIN     = 128,   /* rows of another block, at least */
  BLOCK_MAX    = 32768, /* rows of a block, at most */
  LONG_ROWS    = 1024,  /* very long rows are searched in so many rows at the end */
  LONG_MIN     = 1024,  /* entries of a very long row, at least */
  LONG_RATIO   = 8      /* the same over the mean, at least */
};

void DenseMeasure(const TrsvMatrix *A, int *run, int *length, int *height)
{
  const int lower = A->triangle == TRSV_LOWER;

  for (int i = 0; i < A->rows; i++) {
    const int p = lower ? i : A->rows - 1 - i;
    int       begin, end, diagonal;

    TrsvRowRange(A, i, &begin, &end, &diagonal);
    length[p] = end - begin;
    for (int k = begin; k < end; k++) height[lower ? A->columns[k] : A->rows - 1 - A->columns[k]]++;
    run[p] = 0;
    while (run[p] < end - begin &&
           (lower ? A->columns[end - 1 - run[p]] == i - 1 - run[p] : A->columns[begin + run[p]] == i + 1 + run[p]))
      run[p]++;
  }
}

/* The first position of the trailing block; rows: none. */
static int FindTrailing(int rows, const int *length, const int *height)
{
  long entries = 0, all = 0;
  int  from = rows;

  for (int p = rows - 1; p >= 0 && rows - p <= BLOCK_MAX; p--) {
    const long size = rows - p;

    entries += height[p];
    if (size >= TRAILING_MIN && 4 * entries >= size * (size - 1)) from = p;
  }
  for (int p = 0; p < rows; p++) all += length[p];
  for (int p = rows > LONG_ROWS ? rows - LONG_ROWS : 0; p < from; p++)
    if (length[p] >= LONG_MIN && length[p] >= LONG_RATIO * all / rows) return p;
  return from;
}

static int CompareSizes(const void *a, const void *b)
{
  const DenseRange *x = (const DenseRange *)a, *y = (const DenseRange *)b;
  const int         m = x->end - x->begin, n = y->end - y->begin;

  return m != n ? (m > n ? -1 : 1) : x->begin < y->begin ? -1 : 1;
}

static int ComparePlaces(const void *a, const void *b)
{
  return ((const DenseRange *)a)->begin < ((const DenseRange *)b)->begin ? -1 : 1;
}

int DenseFind(int rows, const int *run, const int *length, const int *height, DenseRange *blocks)
{
  const int trailing = FindTrailing(rows, length, height);
  int       found    = 0;

  if (trailing < rows) blocks[found++] = (DenseRange){trailing, rows};
  for (int p = 1, begin = 0; p <= trailing; p++) {
    if (p < trailing && run[p] >= p - begin && p - begin < BLOCK_MAX) continue;
    if (p - begin < FULL_MIN) {
      begin = p < trailing && run[p] < p - begin ? p - run[p] : p;
      continue;
    }
    if (found > DENSE_BLOCKS_MAX) found = DENSE_BLOCKS_MAX;
    blocks[found++] = (DenseRange){begin, p};
    qsort(blocks, (size_t)found, sizeof(*blocks), CompareSizes);
    begin = p; /* in a band full blocks overlap; those found here do not */
  }
  if (found > DENSE_BLOCKS_MAX) found = DENSE_BLOCKS_MAX;
  qsort(blocks, (size_t)found, sizeof(*blocks), ComparePlaces);
  return found;
}
