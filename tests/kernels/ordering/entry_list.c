#include "entry_list.h"

void AppendEntry(Entries *e, int row, int column)
{
  if (e->count == e->room) {
    e->room   = 2 * e->room + 16;
    e->row    = realloc(e->row, sizeof(int) * (size_t)e->room);
    e->column = realloc(e->column, sizeof(int) * (size_t)e->room);
  }
  e->row[e->count]      = row;
  e->column[e->count++] = column;
}

/* A row has its entries in the order in which they were added. */
void MakeRowsOfEntries(const Entries *e, int **offsets, int **columns)
{
  *offsets = calloc((size_t)e->rows + 2, sizeof(int));
  *columns = malloc(sizeof(int) * ((size_t)e->count + 1));
  for (int k = 0; k < e->count; k++) (*offsets)[e->row[k] + 2 > e->rows + 1 ? e->rows + 1 : e->row[k] + 2]++;
  for (int i = 1; i <= e->rows; i++) (*offsets)[i + 1] += (*offsets)[i];
  for (int k = 0; k < e->count; k++) (*columns)[(*offsets)[e->row[k] + 1]++] = e->column[k];
}

void FreeEntries(Entries *e)
{
  free(e->row);
  free(e->column);
}
