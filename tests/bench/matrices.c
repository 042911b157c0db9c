/*
   Matrix Market files by way of gzip and xz, generated patterns, and triangles of both.
*/
#include "matrices.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  long    count, room;
  int    *row, *column;
  double *value;
} Entries;

/* splitmix64 */
static unsigned long long RandomBits(unsigned long long *seed)
{
  unsigned long long z = (*seed += 0x9e3779b97f4a7c15ull);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

double RandomUniform(unsigned long long *seed) { return (double)(RandomBits(seed) >> 11) * 0x1p-53; }

static void *Grow(void *p, size_t bytes)
{
  p = realloc(p, bytes ? bytes : 1);
  if (!p) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return p;
}

static void Add(Entries *e, long row, long column, double value)
{
  if (e->count == e->room) {
    e->room   = e->room ? 2 * e->room : 1 << 16;
    e->row    = Grow(e->row, sizeof(int) * (size_t)e->room);
    e->column = Grow(e->column, sizeof(int) * (size_t)e->room);
    e->value  = Grow(e->value, sizeof(double) * (size_t)e->room);
  }
  e->row[e->count]     = (int)row;
  e->column[e->count]  = (int)column;
  e->value[e->count++] = value;
}

/* Sorts by two counting sorts, by column and then by row, and sums duplicates. Frees the entries. */
static int FromEntries(int rows, int cols, int valued, Entries *e, Matrix *M)
{
  int *at = Grow(NULL, sizeof(int) * ((size_t)(rows > cols ? rows : cols) + 2)), *by_column = Grow(NULL, sizeof(int) * (size_t)(e->count + 1));
  int *sorted = Grow(NULL, sizeof(int) * (size_t)(e->count + 1)), n = 0;

  memset(M, 0, sizeof(*M));
  M->rows    = rows;
  M->cols    = cols;
  M->offsets = Grow(NULL, sizeof(int) * ((size_t)rows + 1));
  M->columns = Grow(NULL, sizeof(int) * (size_t)(e->count + 1));
  if (valued) M->values = Grow(NULL, sizeof(double) * (size_t)(e->count + 1));
  memset(at, 0, sizeof(int) * ((size_t)cols + 2));
  for (long k = 0; k < e->count; k++) at[e->column[k] + 1]++;
  for (int j = 0; j < cols; j++) at[j + 1] += at[j];
  for (long k = 0; k < e->count; k++) by_column[at[e->column[k]]++] = (int)k;
  memset(at, 0, sizeof(int) * ((size_t)rows + 2));
  for (long k = 0; k < e->count; k++) at[e->row[k] + 1]++;
  for (int i = 0; i < rows; i++) at[i + 1] += at[i];
  for (long k = 0; k < e->count; k++) sorted[at[e->row[by_column[k]]]++] = by_column[k]; /* at[i] is now the end of row i */
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
  return 0;
}

static int EndsWith(const char *s, const char *end)
{
  const size_t n = strlen(s), m = strlen(end);

  return n >= m && !strcmp(s + n - m, end);
}

static int Read(const char *file, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};
  char    command[4200], line[4096];
  long    m, n, nz, k = 0;
  FILE   *f;

  if (strchr(file, '\'') || snprintf(command, sizeof(command), "%s '%s'", EndsWith(file, ".gz") ? "gzip -dc" : EndsWith(file, ".xz") ? "xz -dc" : "cat", file) >= (int)sizeof(command)) return -1;
  f = popen(command, "r");
  if (!f || !fgets(line, sizeof(line), f) || strncmp(line, "%%MatrixMarket matrix coordinate", 32)) {
    fprintf(stderr, "%s: not a Matrix Market file of coordinates\n", file);
    if (f) (void)pclose(f);
    return -1;
  }
  const int pattern = strstr(line, "pattern") != NULL, skew = strstr(line, "skew") != NULL, symmetric = skew || strstr(line, "symmetric") || strstr(line, "hermitian");

  do {
    if (!fgets(line, sizeof(line), f)) break;
  } while (line[0] == '%');
  if (sscanf(line, "%ld %ld %ld", &m, &n, &nz) == 3)
    for (; k < nz && fgets(line, sizeof(line), f); k++) {
      char        *end;
      const long   i = strtol(line, &end, 10) - 1, j = strtol(end, &end, 10) - 1;
      const double v = pattern ? 0 : strtod(end, &end);

      if (i < 0 || i >= m || j < 0 || j >= n) break;
      Add(&e, i, j, v);
      if (symmetric && i != j) Add(&e, j, i, skew ? -v : v);
    }
  else nz = -1;
  (void)pclose(f);
  if (k != nz) {
    fprintf(stderr, "%s: entry %ld of %ld is missing or out of range\n", file, k + 1, nz);
    return -1;
  }
  return FromEntries((int)m, (int)n, !pattern, &e, M);
}

static void AddBoth(Entries *e, long i, long j)
{
  Add(e, i, j, 0);
  Add(e, j, i, 0);
}

static int Make2D(int n, int nine, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};

  for (int i = 0; i < n * n; i++) {
    if (i % n) AddBoth(&e, i, i - 1);
    if (i < n) continue;
    AddBoth(&e, i, i - n);
    if (nine && i % n) AddBoth(&e, i, i - n - 1);
    if (nine && i % n < n - 1) AddBoth(&e, i, i - n + 1);
  }
  return FromEntries(n * n, n * n, 0, &e, M);
}

static int Make3D(int n, int full, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};

  for (int i = 0; i < n * n * n; i++)
    for (int d = 0; d < 13; d++) { /* the neighbours that come before */
      const int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1, x = i % n + dx, y = i / n % n + dy, z = i / n / n + dz;

      if (!full && abs(dx) + abs(dy) + abs(dz) != 1) continue;
      if (x >= 0 && x < n && y >= 0 && y < n && z >= 0) AddBoth(&e, i, x + n * (y + n * z));
    }
  return FromEntries(n * n * n, n * n * n, 0, &e, M);
}

/* R-MAT with the usual quadrants 0.57, 0.19, 0.19, 0.05. */
static int MakeRmat(int scale, int degree, unsigned long long *seed, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};

  for (long k = 0; k < (long)degree << scale; k++) {
    int i = 0, j = 0;

    for (int s = 0; s < scale; s++) {
      const double r = RandomUniform(seed);

      i = 2 * i + (r >= 0.76);
      j = 2 * j + ((r >= 0.57 && r < 0.76) || r >= 0.95);
    }
    if (i != j) AddBoth(&e, i, j);
  }
  return FromEntries(1 << scale, 1 << scale, 0, &e, M);
}

static int Make(const char *what, Matrix *M)
{
  Entries            e    = {0, 0, NULL, NULL, NULL};
  unsigned long long seed = 7;
  int                a, b;

  if (sscanf(what, "g2d5:%d", &a) == 1) return Make2D(a, 0, M);
  if (sscanf(what, "g2d9:%d", &a) == 1) return Make2D(a, 1, M);
  if (sscanf(what, "g3d7:%d", &a) == 1) return Make3D(a, 0, M);
  if (sscanf(what, "g3d27:%d", &a) == 1) return Make3D(a, 1, M);
  if (sscanf(what, "rmat:%d:%d", &a, &b) == 2) return MakeRmat(a, b, &seed, M);
  if (sscanf(what, "band:%d:%d", &a, &b) == 2) {
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
  } else if (sscanf(what, "diag:%d", &a) != 1) return Read(what, M);
  return FromEntries(a, a, 0, &e, M);
}

/* In multicolour order, block multicolour where a size is given. */
static int Order(int size, Matrix *M)
{
  TrsvOrdering *o;
  Entries       e = {0, 0, NULL, NULL, NULL};
  int          *place;

  if (M->rows != M->cols || TrsvOrderBMC(M->rows, M->offsets, M->columns, M->values, TRSV_HOST, size, &o)) {
    fprintf(stderr, "no ordering: %s\n", M->rows != M->cols ? "the matrix is not square" : TrsvErrorMessage());
    return -1;
  }
  place = Grow(NULL, sizeof(int) * (size_t)M->rows);
  for (int i = 0; i < M->rows; i++) place[o->order[i]] = i;
  for (int i = 0; i < M->rows; i++)
    for (int k = M->offsets[i]; k < M->offsets[i + 1]; k++) Add(&e, place[i], place[M->columns[k]], M->values ? M->values[k] : 0);
  const int rows = M->rows, valued = M->values != NULL;
  free(place);
  TrsvOrderingDestroy(&o);
  MatrixFree(M);
  return FromEntries(rows, rows, valued, &e, M);
}

int MatrixMake(const char *what, Matrix *M)
{
  int size = 0, skip = 0;

  if (sscanf(what, "bmc:%n", &skip) < 0 || !skip) (void)sscanf(what, "bmc%d:%n", &size, &skip);
  if (Make(what + skip, M)) return -1;
  return skip ? Order(size, M) : 0;
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
  T->offsets = Grow(NULL, sizeof(int) * ((size_t)M->rows + 1));
  T->columns = Grow(NULL, sizeof(int) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1));
  T->values  = Grow(NULL, sizeof(double) * ((size_t)M->offsets[M->rows] + (size_t)M->rows + 1));
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
  T->matrix = (TrsvMatrix){M->rows, T->offsets, T->columns, triangle, TRSV_DIAGONAL_STORED, TRSV_DOUBLE, TRSV_HOST, NULL};
  return 0;
}

void TriangleFree(Triangle *T)
{
  free(T->offsets);
  free(T->columns);
  free(T->values);
}
