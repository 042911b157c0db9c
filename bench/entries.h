/*
   entries.h: what matrices.c and families.c make matrices of: entries in any order, any number of times. Where there is
   no memory, the program ends.
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

/* The grid of side[0] x side[1] x ... points, the first side fastest: neighbors along its axes up to `reach` away, or
   all those around, with so many unknowns at each point, all of which are coupled. The number of rows. */
int AddStar(Entries *, const int side[4], int reach);
int AddBox(Entries *, const int side[3], int unknowns);

/* Sums duplicates, and frees the entries. */
void FromEntries(int rows, int cols, int valued, Entries *, Matrix *);
void Reorder(const int *place, Matrix *); /* rows and columns to these places */

int FamilyMake(const char *name, Matrix *); /* as MatrixMake() */

#endif
