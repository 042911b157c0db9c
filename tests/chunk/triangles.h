/*
   triangles.h: triangles to test and to time with: lower triangles of Matrix Market files and of generated problems, with a full
   diagonal and seeded values, in which the diagonal outweighs its row.

     g2d5:N g2d9:N    5- and 9-point grids of N^2      g3d7:N g3d27:N   7- and 27-point grids of N^3
     band:N:K         K neighbours below               rand:N:K         K dependencies anywhere below, by chance
     rmat:S:D         2^S rows, D entries a row        dense:N          full triangle
     arrow:N          last row full                    diag:N           diagonal
     FILE             .mtx, .mtx.gz or .mtx.xz
*/
#ifndef TRIANGLES_H
#define TRIANGLES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int     rows;
  int    *offsets, *columns;
  double *values;
} Triangle;

static unsigned long long MatrixRandomBits(unsigned long long *seed)
{
  unsigned long long z = (*seed += 0x9e3779b97f4a7c15ull);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

static double MatrixRandom(unsigned long long *seed) { return (double)(MatrixRandomBits(seed) >> 11) * 0x1p-53; }

typedef struct {
  long  count, room;
  int  *row, *column;
} MatrixPairs;

static void MatrixAdd(MatrixPairs *p, long row, long column)
{
  if (p->count == p->room) {
    p->room   = p->room ? 2 * p->room : 1 << 16;
    p->row    = (int *)realloc(p->row, sizeof(int) * (size_t)p->room);
    p->column = (int *)realloc(p->column, sizeof(int) * (size_t)p->room);
  }
  p->row[p->count]      = (int)row;
  p->column[p->count++] = (int)column;
}

/* Sorts by two counting sorts, drops duplicates, puts the diagonal last in each row. Frees the pairs. */
static Triangle MatrixFromPairs(int rows, MatrixPairs *p)
{
  Triangle           T = {rows, NULL, NULL, NULL};
  int               *by_column = (int *)malloc(sizeof(int) * (size_t)(p->count + 1)), *at = (int *)calloc((size_t)rows + 2, sizeof(int)), n = 0;
  unsigned long long seed = 1;

  T.offsets = (int *)calloc((size_t)rows + 2, sizeof(int));
  T.columns = (int *)malloc(sizeof(int) * (size_t)(p->count + rows + 1));
  for (long k = 0; k < p->count; k++) at[p->column[k] + 1]++, T.offsets[p->row[k] + 1]++;
  for (int i = 0; i < rows; i++) at[i + 1] += at[i], T.offsets[i + 1] += T.offsets[i];
  for (long k = 0; k < p->count; k++) by_column[at[p->column[k]]++] = (int)k;
  memcpy(at, T.offsets, sizeof(int) * ((size_t)rows + 1));
  int *sorted = (int *)malloc(sizeof(int) * (size_t)(p->count + 1));
  for (long k = 0; k < p->count; k++) sorted[at[p->row[by_column[k]]]++] = p->column[by_column[k]];
  for (int i = 0, k = 0; i < rows; i++) {
    const int end = T.offsets[i + 1], start = n;

    for (; k < end; k++)
      if (sorted[k] < i && (n == start || T.columns[n - 1] != sorted[k])) T.columns[n++] = sorted[k];
    T.columns[n++] = i;
    T.offsets[i]   = start;
  }
  T.offsets[rows] = n;
  T.values        = (double *)malloc(sizeof(double) * ((size_t)n + 1));
  for (int i = 0; i < rows; i++) {
    const int end = T.offsets[i + 1] - 1;

    for (int k = T.offsets[i]; k < end; k++) T.values[k] = (2 * MatrixRandom(&seed) - 1) / (end - T.offsets[i] + 1);
    T.values[end] = 1 + 0.5 * MatrixRandom(&seed);
  }
  free(by_column), free(at), free(sorted), free(p->row), free(p->column);
  return T;
}

static Triangle MatrixRead(const char *file)
{
  Triangle    T = {-1, NULL, NULL, NULL};
  MatrixPairs p = {0, 0, NULL, NULL};
  char        command[4200], line[4096];
  long        m, n, nz, i, j;
  const int   gz = strlen(file) > 3 && !strcmp(file + strlen(file) - 3, ".gz"), xz = strlen(file) > 3 && !strcmp(file + strlen(file) - 3, ".xz");
  FILE       *f;

  (void)snprintf(command, sizeof(command), "%s '%s'", gz ? "gzip -dc" : xz ? "xz -dc" : "cat", file);
  f = popen(command, "r");
  if (!f || !fgets(line, sizeof(line), f)) return T;
  const int symmetric = strstr(line, "symmetric") || strstr(line, "hermitian") || strstr(line, "skew");
  do {
    if (!fgets(line, sizeof(line), f)) return T;
  } while (line[0] == '%');
  if (sscanf(line, "%ld %ld %ld", &m, &n, &nz) != 3) return T;
  for (long k = 0; k < nz && fgets(line, sizeof(line), f); k++) {
    char *end;

    i = strtol(line, &end, 10) - 1, j = strtol(end, &end, 10) - 1;
    if (i >= m || j >= m) continue;
    if (j < i) MatrixAdd(&p, i, j);
    else if (symmetric && i < j) MatrixAdd(&p, j, i);
  }
  (void)pclose(f);
  return MatrixFromPairs((int)m, &p);
}

static Triangle MatrixMake(const char *what)
{
  MatrixPairs        p    = {0, 0, NULL, NULL};
  unsigned long long seed = 7;
  int                a, b;

  if (sscanf(what, "g2d5:%d", &a) == 1 || sscanf(what, "g2d9:%d", &a) == 1) {
    const int nine = what[3] == '9';

    for (int i = 0; i < a * a; i++) {
      if (i % a) MatrixAdd(&p, i, i - 1);
      if (i >= a) {
        MatrixAdd(&p, i, i - a);
        if (nine && i % a) MatrixAdd(&p, i, i - a - 1);
        if (nine && i % a < a - 1) MatrixAdd(&p, i, i - a + 1);
      }
    }
    return MatrixFromPairs(a * a, &p);
  }
  if (sscanf(what, "g3d7:%d", &a) == 1) {
    for (int i = 0; i < a * a * a; i++) {
      if (i % a) MatrixAdd(&p, i, i - 1);
      if (i / a % a) MatrixAdd(&p, i, i - a);
      if (i / a / a) MatrixAdd(&p, i, i - a * a);
    }
    return MatrixFromPairs(a * a * a, &p);
  }
  if (sscanf(what, "g3d27:%d", &a) == 1) {
    for (int i = 0; i < a * a * a; i++)
      for (int d = 0; d < 13; d++) {
        const int x = i % a + d % 3 - 1, y = i / a % a + d / 3 % 3 - 1, z = i / a / a + d / 9 - 1;

        if (x >= 0 && x < a && y >= 0 && y < a && z >= 0) MatrixAdd(&p, i, x + a * (y + a * z));
      }
    return MatrixFromPairs(a * a * a, &p);
  }
  if (sscanf(what, "band:%d:%d", &a, &b) == 2) {
    for (int i = 0; i < a; i++)
      for (int k = 1; k <= b && k <= i; k++) MatrixAdd(&p, i, i - k);
    return MatrixFromPairs(a, &p);
  }
  if (sscanf(what, "rand:%d:%d", &a, &b) == 2) {
    for (int i = 1; i < a; i++)
      for (int k = (int)(MatrixRandomBits(&seed) % (2 * (unsigned)b + 1)); k > 0; k--) MatrixAdd(&p, i, (long)(MatrixRandomBits(&seed) % (unsigned)i));
    return MatrixFromPairs(a, &p);
  }
  if (sscanf(what, "rmat:%d:%d", &a, &b) == 2) {
    for (long k = 0; k < (long)b << a; k++) {
      int i = 0, j = 0;

      for (int s = 0; s < a; s++) {
        const double r = MatrixRandom(&seed);

        i = 2 * i + (r >= 0.57 + 0.19), j = 2 * j + ((r >= 0.57 && r < 0.57 + 0.19) || r >= 0.57 + 0.19 + 0.19);
      }
      if (i != j) MatrixAdd(&p, i > j ? i : j, i > j ? j : i);
    }
    return MatrixFromPairs(1 << a, &p);
  }
  if (sscanf(what, "dense:%d", &a) == 1) {
    for (int i = 0; i < a; i++)
      for (int j = 0; j < i; j++) MatrixAdd(&p, i, j);
    return MatrixFromPairs(a, &p);
  }
  if (sscanf(what, "arrow:%d", &a) == 1) {
    for (int j = 0; j < a - 1; j++) MatrixAdd(&p, a - 1, j);
    return MatrixFromPairs(a, &p);
  }
  if (sscanf(what, "diag:%d", &a) == 1) return MatrixFromPairs(a, &p);
  return MatrixRead(what);
}

static void MatrixFree(Triangle *T)
{
  free(T->offsets), free(T->columns), free(T->values);
  T->offsets = T->columns = NULL;
  T->values               = NULL;
}

#endif
