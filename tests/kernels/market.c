/*
   Reads patterns. Compressed files are read through the programs gzip and xz.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "market.h"

static FILE *OpenFile(const char *file)
{
  const size_t n       = strlen(file);
  const char  *program = n > 3 && !strcmp(file + n - 3, ".gz") ? "gzip -dc"
                       : n > 3 && !strcmp(file + n - 3, ".xz") ? "xz -dc"
                                                               : "cat";
  char         command[1200];

  if (strchr(file, '\'') || n > sizeof(command) - 32) return NULL;
  (void)snprintf(command, sizeof(command), "%s '%s'", program, file);
  return popen(command, "r");
}

/* Transposes a pattern; the rows of the transpose are sorted. Two calls sort the rows of the pattern. */
static void TransposePattern(int rows, int cols, const int *offsets, const int *columns, int *o, int *c)
{
  memset(o, 0, sizeof(int) * ((size_t)cols + 2));
  for (int k = 0; k < offsets[rows]; k++) o[columns[k] + 2]++;
  for (int j = 1; j <= cols; j++) o[j + 1] += o[j];
  for (int i = 0; i < rows; i++)
    for (int k = offsets[i]; k < offsets[i + 1]; k++) c[o[columns[k] + 1]++] = i;
}

static void RemoveDuplicates(int rows, int *offsets, int *columns)
{
  int to = 0;

  for (int i = 0, begin = 0; i < rows; i++) {
    const int end = offsets[i + 1];

    for (int k = begin; k < end; k++)
      if (k == begin || columns[k] != columns[k - 1]) columns[to++] = columns[k];
    begin          = end;
    offsets[i + 1] = to;
  }
}

static const char *ReadEntries(FILE *f, Pattern *p)
{
  char line[1024];
  int  both, n = 0, *row, *column, *o, *c;
  long stored;

  if (!fgets(line, sizeof(line), f) || strncmp(line, "%%MatrixMarket matrix coordinate", 32))
    return "not a coordinate matrix";
  both = !strstr(line, "general");
  do
    if (!fgets(line, sizeof(line), f)) return "no sizes";
  while (*line == '%' || !line[strspn(line, " \t\r\n")]);
  if (sscanf(line, "%d %d %ld", &p->rows, &p->cols, &stored) != 3 || p->rows < 0 || p->cols < 0 || stored < 0 ||
      stored > 500000000)
    return "bad sizes";
  row    = malloc(sizeof(int) * (size_t)(2 * stored + 1));
  column = malloc(sizeof(int) * (size_t)(2 * stored + 1));
  o      = calloc((size_t)(p->rows > p->cols ? p->rows : p->cols) + 2, sizeof(int));
  while (fgets(line, sizeof(line), f) && n <= 2 * stored) {
    char      *end;
    const long i = strtol(line, &end, 10) - 1, j = strtol(end, NULL, 10) - 1;

    if (end == line) continue;
    if (i < 0 || j < 0 || i >= p->rows || j >= p->cols) n = -10;
    if (n < 0) break;
    row[n]      = (int)i;
    column[n++] = (int)j;
    if (!both || i == j) continue;
    row[n]      = (int)j;
    column[n++] = (int)i;
  }
  if (n < 0 || n < stored) {
    free(row);
    free(column);
    free(o);
    return n < 0 ? "an entry out of range" : "fewer entries than it says";
  }
  p->offsets = calloc((size_t)p->rows + 2, sizeof(int));
  p->columns = malloc(sizeof(int) * ((size_t)n + 1));
  c          = malloc(sizeof(int) * ((size_t)n + 1));
  for (int k = 0; k < n; k++) p->offsets[row[k] + 2]++;
  for (int i = 1; i <= p->rows; i++) p->offsets[i + 1] += p->offsets[i];
  for (int k = 0; k < n; k++) p->columns[p->offsets[row[k] + 1]++] = column[k];
  TransposePattern(p->rows, p->cols, p->offsets, p->columns, o, c);
  TransposePattern(p->cols, p->rows, o, c, p->offsets, p->columns);
  RemoveDuplicates(p->rows, p->offsets, p->columns);
  free(row);
  free(column);
  free(o);
  free(c);
  return NULL;
}

const char *ReadPattern(const char *file, Pattern *p)
{
  FILE       *f = OpenFile(file);
  const char *error;

  memset(p, 0, sizeof(*p));
  if (!f) return "cannot be opened";
  error = ReadEntries(f, p);
  if (pclose(f) && !error) {
    FreePattern(p);
    error = "cannot be decompressed";
  }
  return error;
}

void FreePattern(Pattern *p)
{
  free(p->offsets);
  free(p->columns);
  memset(p, 0, sizeof(*p));
}
