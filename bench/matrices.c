/*
   Matrix Market files, which gzip and xz decompress, generated patterns, and triangles of both.
*/
#include "entries.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static unsigned long long RandomBits(unsigned long long *seed)
{
  unsigned long long z = (*seed += 0x9e3779b97f4a7c15ull);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double RandomUniform(unsigned long long *seed) { return (double)(RandomBits(seed) >> 11) * 0x1p-53; }

void *Reallocate(void *p, size_t bytes)
{
  p = realloc(p, bytes ? bytes : 1);
  if (!p) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return p;
}

void AddEntry(Entries *e, long row, long column, double value)
{
  if (e->count == e->room) {
    e->room   = e->room ? 2 * e->room : 1 << 16;
    e->row    = Reallocate(e->row, sizeof(int) * (size_t)e->room);
    e->column = Reallocate(e->column, sizeof(int) * (size_t)e->room);
    e->value  = Reallocate(e->value, sizeof(double) * (size_t)e->room);
  }
  e->row[e->count]     = (int)row;
  e->column[e->count]  = (int)column;
  e->value[e->count++] = value;
}

/* Sorts by two counting sorts, by column and then by row. */
void FromEntries(int rows, int cols, int valued, Entries *e, Matrix *M)
{
  int *at        = Reallocate(NULL, sizeof(int) * ((size_t)(rows > cols ? rows : cols) + 2)),
      *by_column = Reallocate(NULL, sizeof(int) * (size_t)(e->count + 1));
  int *sorted = Reallocate(NULL, sizeof(int) * (size_t)(e->count + 1)), n = 0;

  memset(M, 0, sizeof(*M));
  M->rows    = rows;
  M->cols    = cols;
  M->offsets = Reallocate(NULL, sizeof(int) * ((size_t)rows + 1));
  M->columns = Reallocate(NULL, sizeof(int) * (size_t)(e->count + 1));
  if (valued) M->values = Reallocate(NULL, sizeof(double) * (size_t)(e->count + 1));
  memset(at, 0, sizeof(int) * ((size_t)cols + 2));
  for (long k = 0; k < e->count; k++) at[e->column[k] + 1]++;
  for (int j = 0; j < cols; j++) at[j + 1] += at[j];
  for (long k = 0; k < e->count; k++) by_column[at[e->column[k]]++] = (int)k;
  memset(at, 0, sizeof(int) * ((size_t)rows + 2));
  for (long k = 0; k < e->count; k++) at[e->row[k] + 1]++;
  for (int i = 0; i < rows; i++) at[i + 1] += at[i];
  for (long k = 0; k < e->count; k++)
    sorted[at[e->row[by_column[k]]]++] = by_column[k]; /* at[i] is now the end of row i */
  for (int i = 0, k = 0; i < rows; i++) {
    M->offsets[i] = n;
    for (; k < at[i]; k++) {
      const int s = sorted[k];

      if (n > M->offsets[i] && M->columns[n - 1] == e->column[s]) {
        if (valued) M->values[n - 1] += e->value[s];
        continue;
      }
      if (valued) M->values[n] = e->value[s];
      M->columns[n++] = e->column[s];
    }
  }
  M->offsets[rows] = n;
  free(at);
  free(by_column);
  free(sorted);
  free(e->row);
  free(e->column);
  free(e->value);
}

static int EndsWith(const char *s, const char *end)
{
  const size_t n = strlen(s), m = strlen(end);

  return n >= m && !strcmp(s + n - m, end);
}

static int ReadMatrix(const char *file, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};
  char    command[4200], line[4096];
  long    m, n, nz, k = 0;
  FILE   *f;

  if (strchr(file, '\'') || snprintf(command, sizeof(command), "%s '%s'",
                                     EndsWith(file, ".gz")   ? "gzip -dc"
                                     : EndsWith(file, ".xz") ? "xz -dc"
                                                             : "cat",
                                     file) >= (int)sizeof(command))
    return -1;
  f = popen(command, "r");
  if (!f || !fgets(line, sizeof(line), f) || strncmp(line, "%%MatrixMarket matrix coordinate", 32)) {
    fprintf(stderr, "%s: not a Matrix Market file of coordinates\n", file);
    if (f) (void)pclose(f);
    return -1;
  }
  const int pattern = strstr(line, "pattern") != NULL, skew = strstr(line, "skew") != NULL,
            symmetric = skew || strstr(line, "symmetric") || strstr(line, "hermitian");

  do {
    if (!fgets(line, sizeof(line), f)) break;
  } while (line[0] == '%');
  if (sscanf(line, "%ld %ld %ld", &m, &n, &nz) == 3)
    for (; k < nz && fgets(line, sizeof(line), f); k++) {
      char        *end;
      const long   i = strtol(line, &end, 10) - 1, j = strtol(end, &end, 10) - 1;
      const double v = pattern ? 0 : strtod(end, &end);

      if (i < 0 || i >= m || j < 0 || j >= n) break;
      AddEntry(&e, i, j, v);
      if (symmetric && i != j) AddEntry(&e, j, i, skew ? -v : v);
    }
  else nz = -1;
  (void)pclose(f);
  if (k != nz) {
    fprintf(stderr, "%s: entry %ld of %ld is missing or out of range\n", file, k + 1, nz);
    return -1;
  }
  FromEntries((int)m, (int)n, !pattern, &e, M);
  return 0;
}

void AddBoth(Entries *e, long i, long j)
{
  AddEntry(e, i, j, 0);
  AddEntry(e, j, i, 0);
}

int AddStar(Entries *e, const int side[4], int reach)
{
  const int n = side[0] * side[1] * side[2] * side[3];

  for (int i = 0; i < n; i++)
    for (int d = 0, stride = 1; d < 4; stride *= side[d++])
      for (int r = 1; r <= reach && r <= i / stride % side[d]; r++) AddBoth(e, i, i - r * stride);
  return n;
}

int AddBox(Entries *e, const int side[3], int unknowns)
{
  const int n = side[0] * side[1] * side[2];

  for (int i = 0; i < n; i++)
    for (int d = 0; d < 14; d++) { /* the earlier neighbors, and the point itself */
      const int x = i % side[0] + d % 3 - 1, y = i / side[0] % side[1] + d / 3 % 3 - 1,
                z = i / side[0] / side[1] + d / 9 - 1, j = x + side[0] * (y + side[1] * z);

      if (x < 0 || x >= side[0] || y < 0 || y >= side[1] || z < 0) continue;
      for (int a = 0; a < unknowns; a++)
        for (int b = 0; b < (i == j ? a : unknowns); b++) AddBoth(e, i * unknowns + a, j * unknowns + b);
    }
  return n * unknowns;
}

/* R-MAT with the usual quadrants 0.57, 0.19, 0.19, 0.05. */
static int AddRmat(Entries *e, int scale, int degree, unsigned long long *seed)
{
  for (long k = 0; k < (long)degree << scale; k++) {
    int i = 0, j = 0;

    for (int s = 0; s < scale; s++) {
      const double r = RandomUniform(seed);

      i = 2 * i + (r >= 0.76);
      j = 2 * j + ((r >= 0.57 && r < 0.76) || r >= 0.95);
    }
    if (i != j) AddBoth(e, i, j);
  }
  return 1 << scale;
}

static int MakeMatrix(const char *what, Matrix *M)
{
  Entries            e    = {0, 0, NULL, NULL, NULL};
  unsigned long long seed = 7;
  int                a, b;

  if (!strncmp(what, "family:", 7)) return FamilyMake(what + 7, M);
  if (sscanf(what, "g2d5:%d", &a) == 1) a = AddStar(&e, (int[]){a, a, 1, 1}, 1);
  else if (sscanf(what, "g2d9:%d", &a) == 1) a = AddBox(&e, (int[]){a, a, 1}, 1);
  else if (sscanf(what, "g3d7:%d", &a) == 1) a = AddStar(&e, (int[]){a, a, a, 1}, 1);
  else if (sscanf(what, "g3d27:%d", &a) == 1) a = AddBox(&e, (int[]){a, a, a}, 1);
  else if (sscanf(what, "rmat:%d:%d", &a, &b) == 2) a = AddRmat(&e, a, b, &seed);
  else if (sscanf(what, "band:%d:%d", &a, &b) == 2) {
    for (int i = 0; i < a; i++)
      for (int k = 1; k <= b && k <= i; k++) AddBoth(&e, i, i - k);
  } else if (sscanf(what, "rand:%d:%d", &a, &b) == 2) {
    for (int i = 1; i < a; i++)
      for (int k = 0; k < b; k++) AddBoth(&e, i, (long)(RandomBits(&seed) % (unsigned)i));
  } else if (sscanf(what, "dense:%d", &a) == 1) {
    for (int i = 0; i < a; i++)
      for (int j = 0; j < i; j++) AddBoth(&e, i, j);
  } else if (sscanf(what, "arrow:%d:%d", &a, &b) == 2 || (b = 1, sscanf(what, "arrow:%d", &a) == 1)) {
    for (int i = a - b; i < a; i++)
      for (int j = 0; j < i; j++) AddBoth(&e, i, j);
  } else if (sscanf(what, "diag:%d", &a) != 1) return ReadMatrix(what, M);
  FromEntries(a, a, 0, &e, M);
  return 0;
}

void Reorder(const int *place, Matrix *M)
{
  Entries   e    = {0, 0, NULL, NULL, NULL};
  const int rows = M->rows, valued = M->values != NULL;

  for (int i = 0; i < rows; i++)
    for (int k = M->offsets[i]; k < M->offsets[i + 1]; k++)
      AddEntry(&e, place[i], place[M->columns[k]], valued ? M->values[k] : 0);
  MatrixFree(M);
  FromEntries(rows, rows, valued, &e, M);
}

/* Permutes to the multicolor order */
static int OrderMulticolor(Matrix *M)
{
  TrsvOrdering *o;
  int          *place;

  if (M->rows != M->cols || TrsvOrderMulticolor(M->rows, M->offsets, M->columns, M->values, TRSV_HOST, &o)) {
    fprintf(stderr, "no ordering: %s\n", M->rows != M->cols ? "the matrix is not square" : TrsvErrorMessage());
    return -1;
  }
  place = Reallocate(NULL, sizeof(int) * (size_t)M->rows);
  for (int i = 0; i < M->rows; i++) place[o->order[i]] = i;
  TrsvOrderingDestroy(&o);
  Reorder(place, M);
  free(place);
  return 0;
}

int MatrixMake(const char *what, Matrix *M)
{
  const int skip = strncmp(what, "multicolor:", 11) ? 0 : 11;

  if (MakeMatrix(what + skip, M)) return -1;
  return skip ? OrderMulticolor(M) : 0;
}

void MatrixFree(Matrix *M)
{
  free(M->offsets);
  free(M->columns);
  free(M->values);
}

int TriangleMake(const Matrix *M, TrsvTriangle triangle, int own, Triangle *T)
{
  const int          lower = triangle == TRSV_LOWER;
  unsigned long long seed  = 1;
  int                n     = 0;

  if (M->rows != M->cols || (own && !M->values)) return -1;
  T->offsets = Reallocate(NULL, sizeof(int) * ((size_t)M->rows + 1));
  T->columns = Reallocate(NULL, sizeof(int) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1));
  T->values  = Reallocate(NULL, sizeof(double) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1));
  for (int i = 0; i < M->rows; i++) {
    int at = -1, off = 0;

    T->offsets[i] = n;
    for (int k = M->offsets[i]; k < M->offsets[i + 1]; k++) {
      const int j = M->columns[k];

      if (j == i) at = k;
      off += lower ? j < i : j > i;
    }
    if (own && at < 0) {
      TriangleFree(T);
      return -1;
    }
    if (!lower) { /* the diagonal first */
      T->columns[n]  = i;
      T->values[n++] = own ? M->values[at] : 1 + 0.5 * RandomUniform(&seed);
    }
    for (int k = M->offsets[i]; k < M->offsets[i + 1]; k++) {
      const int j = M->columns[k];

      if (lower ? j >= i : j <= i) continue;
      T->columns[n]  = j;
      T->values[n++] = own ? M->values[k] : (2 * RandomUniform(&seed) - 1) / (off + 1);
    }
    if (lower) {
      T->columns[n]  = i;
      T->values[n++] = own ? M->values[at] : 1 + 0.5 * RandomUniform(&seed);
    }
  }
  T->offsets[M->rows] = n;
  T->matrix =
    (TrsvMatrix){M->rows, T->offsets, T->columns, triangle, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, TRSV_HOST, NULL};
  return 0;
}

void TriangleFree(Triangle *T)
{
  free(T->offsets);
  free(T->columns);
  free(T->values);
}
