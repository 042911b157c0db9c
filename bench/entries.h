/*
   entries.h: lists of entries in any order, with duplicates, from which matrices.c and families.c make matrices.
   Without memory the program ends.
*/
#ifndef ENTRIES_H
#define ENTRIES_H

#include "matrices.h"

typedef struct {
  long    count, room;
  int    *row, *column;
  double *value;
} Entries;

void *Reallocate(void *, size_t bytes); /* as realloc() */
void  AddEntry(Entries *, long row, long column, double value);
void  AddBoth(Entries *, long i, long j); /* without values */

/* The grid of side[0] x side[1] x ... points, the first side fastest. Neighbors are up to `reach` away along its axes,
   or all points around; all unknowns of neighboring points are coupled. Return the number of rows. */
int AddStar(Entries *, const int side[4], int reach);
int AddBox(Entries *, const int side[3], int unknowns);

/* Sums duplicates, and frees the entries. */
void FromEntries(int rows, int cols, int valued, Entries *, Matrix *);
void Reorder(const int *place, Matrix *); /* moves rows and columns to these places */

int FamilyMake(const char *name, Matrix *); /* as MatrixMake() */

#endif
