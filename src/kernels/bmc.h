/*
   bmc.h: what the files of the block multicolour ordering share.

   bmc.c        the ordering: blocks, their colours, the order that follows from both
   bmc_blocks.c blocks of any pattern, by rounds of matching
   bmc_grid.c   blocks of a regular grid, by its geometry
*/
#ifndef TRSV_BMC_H
#define TRSV_BMC_H

#include <stdint.h>
#include "impl.h"

/* An undirected graph: the neighbours of v are columns[offsets[v] .. offsets[v + 1]), never v itself, in no order. */
typedef struct {
  int  n;
  int *offsets, *columns;
  int *weights; /* what the entries that an edge stands for count; NULL: one each */
  int *sizes;   /* rows that a vertex stands for; NULL: one each */
} TrsvGraph;

void TrsvGraphFree(TrsvGraph *);

/* Gathers rows into blocks of no more than size rows: block[i] is the block of row i. Blocks are numbered by their lowest rows. A vertex
   of the graph is a block; two touch if the pattern, or its transpose, joins their rows. Rows that follow each other with the same columns
   stay in one block, whatever its size. */
TrsvError TrsvBlocksCreate(int rows, const int *offsets, const int *columns, const double *values, int size, int *block, TrsvGraph *);

/* If the matrix is a regular grid of two or three dimensions in lexicographic order, the ordering with boxes of about size rows (0: what
   suits the grid) as blocks; *ordering stays NULL if it is none. */
TrsvError TrsvOrderGrid(int rows, const int *offsets, const int *columns, int size, TrsvOrdering **ordering);

/* An ordering with room for its arrays. */
TrsvError TrsvOrderingCreate(int rows, int blocks, int colours, TrsvMemory, TrsvOrdering **);

/* splitmix64's finaliser: the same on every machine */
static inline uint32_t TrsvHash(uint64_t z)
{
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

#endif
