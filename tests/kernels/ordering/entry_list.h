/*
   entry_list.h: the pattern of a matrix as a list of entries, from which the tests of orderings make rows.
*/
#ifndef TEST_ENTRY_LIST_H
#define TEST_ENTRY_LIST_H

#include "check.h"

/* Entries by row and column, in any order and possibly repeated; the diagonal need not be there. */
typedef struct {
  int  rows, count, room;
  int *row, *column;
} Entries;

void AppendEntry(Entries *, int row, int column);
void MakeRowsOfEntries(const Entries *, int **offsets, int **columns); /* the caller frees both; duplicates stay */
void FreeEntries(Entries *);

#endif
