/*
   Random triangles. A function adds the columns of a row in any order, possibly twice; FinishRow() sorts them.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dag.h"

typedef struct {
  int *at, count, room;
} List;

static void *CheckMemory(void *p)
{
  if (p) return p;
  fprintf(stderr, "no memory\n");
  exit(2);
}

static void AddColumn(List *l, int column)
{
  if (l->count == l->room) l->at = CheckMemory(realloc(l->at, sizeof(int) * (size_t)(l->room = 2 * l->room + 64)));
  l->at[l->count++] = column;
}

/* The parameters of a shape; they are drawn once for each triangle. */
typedef struct {
  int rows, side, width, few;
} Shape;

/* Any earlier rows. */
static void AddScattered(const Shape *s, int i, Seed *seed, List *l)
{
  for (unsigned n = RandomBelow(seed, (unsigned)s->few + 1); n; n--) AddColumn(l, (int)RandomBelow(seed, (unsigned)i));
}

/* Rows shortly before this one: long chains. */
static void AddNear(const Shape *s, int i, Seed *seed, List *l)
{
  const int reach = i < s->width ? i : s->width;

  for (unsigned n = RandomBelow(seed, (unsigned)s->few + 1); n; n--)
    AddColumn(l, i - 1 - (int)RandomBelow(seed, (unsigned)reach));
}

static void AddChain(const Shape *s, int i, Seed *seed, List *l) { AddColumn(l, i - 1); }

/* Many chains side by side. */
static void AddChains(const Shape *s, int i, Seed *seed, List *l)
{
  if (i >= s->width) AddColumn(l, i - s->width);
}

/* Two or three level sets. */
static void AddWide(const Shape *s, int i, Seed *seed, List *l)
{
  const int first = s->rows / 3 + 1;

  if (i < first) return;
  for (unsigned n = RandomBelow(seed, (unsigned)s->few + 1); n; n--)
    AddColumn(l, (int)RandomBelow(seed, (unsigned)(i > 2 * first ? 2 * first : first)));
}

static void AddBand(const Shape *s, int i, Seed *seed, List *l)
{
  for (int d = 1; d <= s->few && d <= i; d++) AddColumn(l, i - d);
}

/* A few rows have hundreds of dependencies. */
static void AddLongRows(const Shape *s, int i, Seed *seed, List *l)
{
  if (RandomBelow(seed, 25)) AddScattered(s, i, seed, l);
  else
    for (int n = 0; n < 700 && n < i; n++)
      AddColumn(l, i < 700 || RandomBelow(seed, 2) ? i - 1 - n : (int)RandomBelow(seed, (unsigned)i));
}

/* All rows depend on the first row; the last two depend on all rows. */
static void AddArrow(const Shape *s, int i, Seed *seed, List *l)
{
  AddColumn(l, 0);
  if (i >= s->rows - 2)
    for (int j = 0; j < i; j++) AddColumn(l, j);
}

/* Two rows of three depend on nothing. */
static void AddGaps(const Shape *s, int i, Seed *seed, List *l)
{
  if (i % 3 == 0) AddScattered(s, i, seed, l);
}

static void AddEmpty(const Shape *s, int i, Seed *seed, List *l) {}

static void AddGrid2D(const Shape *s, int i, Seed *seed, List *l)
{
  if (i >= s->side) AddColumn(l, i - s->side);
  if (i % s->side) AddColumn(l, i - 1);
}

static void AddGrid3D(const Shape *s, int i, Seed *seed, List *l)
{
  const int side = s->few + 1, plane = side * side;

  if (i >= plane) AddColumn(l, i - plane);
  if (i / side % side) AddColumn(l, i - side);
  if (i % side) AddColumn(l, i - 1);
}

/* Dense blocks on the diagonal, joined by single entries. */
static void AddBlocks(const Shape *s, int i, Seed *seed, List *l)
{
  const int size = 4 * s->few + 1;

  for (int j = i - i % size; j < i; j++) AddColumn(l, j);
  if (i >= size && !RandomBelow(seed, 3)) AddColumn(l, (int)RandomBelow(seed, (unsigned)(i - i % size)));
}

/* A few rows on which very many rows depend. */
static void AddHubs(const Shape *s, int i, Seed *seed, List *l)
{
  for (unsigned n = RandomBelow(seed, (unsigned)s->few + 1); n; n--) {
    const unsigned below = RandomBelow(seed, (unsigned)i);

    AddColumn(l, (int)(below * (unsigned long long)below / (unsigned)i * below / (unsigned)i));
  }
}

static const struct {
  const char *name;
  void (*row)(const Shape *, int i, Seed *, List *);
} shapes[] = {
  {"scattered", AddScattered}, {"near", AddNear},        {"chain", AddChain},        {"chains", AddChains},
  {"wide", AddWide},           {"band", AddBand},        {"long rows", AddLongRows}, {"arrow", AddArrow},
  {"gaps", AddGaps},           {"empty rows", AddEmpty}, {"2D grid", AddGrid2D},     {"3D grid", AddGrid3D},
  {"blocks", AddBlocks},       {"hubs", AddHubs},
};

static int CompareInts(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* Sorts the columns from `from` on, and keeps each once; adds the diagonal if it is stored. */
static void FinishRow(List *l, int from, int i, int stored)
{
  int n = from;

  qsort(l->at + from, (size_t)(l->count - from), sizeof(int), CompareInts);
  for (int k = from; k < l->count; k++)
    if (n == from || l->at[k] != l->at[n - 1]) l->at[n++] = l->at[k];
  l->count = n;
  if (stored) AddColumn(l, i);
}

/* Reverses rows and columns: a lower triangle becomes an upper one. */
static void MirrorToUpper(Dag *d, int rows)
{
  const int n = d->offsets[rows];

  for (int a = 0, b = n - 1; a < b; a++, b--) {
    const int column = d->columns[a];

    d->columns[a] = d->columns[b];
    d->columns[b] = column;
  }
  for (int k = 0; k < n; k++) d->columns[k] = rows - 1 - d->columns[k];
  for (int a = 0, b = rows; a <= b; a++, b--) {
    const int offset = d->offsets[a];

    d->offsets[a] = n - d->offsets[b];
    d->offsets[b] = n - offset;
  }
}

static void FillValues(Dag *d, Seed *seed)
{
  const TrsvMatrix *A = &d->view;

  d->values = CheckMemory(malloc(sizeof(double) * ((size_t)A->offsets[A->rows] + 1)));
  for (int i = 0; i < A->rows; i++) {
    const double scale = 1. / (1 + A->offsets[i + 1] - A->offsets[i]);

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const double v = RandomReal(seed);

      d->values[k] = A->columns[k] == i ? (v < 0 ? -1 : 1) + v / 2 : v * scale;
    }
  }
}

int DagRows(Seed *seed, int most) { return (int)exp((RandomReal(seed) + 1) / 2 * log(most + 1)); }

static unsigned FindShape(const char *name)
{
  for (unsigned k = 0; k < SHAPES; k++)
    if (!strcmp(shapes[k].name, name)) return k;
  fprintf(stderr, "no shape %s\n", name);
  exit(2);
}

Dag DagMake(Seed *seed, const char *shape, int rows, TrsvTriangle triangle, TrsvDiagonal diagonal,
            TrsvPrecision precision)
{
  const unsigned kind = shape ? FindShape(shape) : RandomBelow(seed, SHAPES);
  const Shape    s    = {rows, (int)sqrt(rows) + 1, 1 + (int)RandomBelow(seed, 64), 1 + (int)RandomBelow(seed, 10)};
  List           l    = {NULL, 0, 0};
  Dag            d    = {.shape = shapes[kind].name};

  d.offsets    = CheckMemory(malloc(sizeof(int) * ((size_t)rows + 1)));
  d.offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    const int from = l.count;

    if (i) shapes[kind].row(&s, i, seed, &l);
    FinishRow(&l, from, i, diagonal == TRSV_DIAGONAL_STORED);
    d.offsets[i + 1] = l.count;
  }
  d.columns = l.at ? l.at : CheckMemory(malloc(1));
  d.view    = (TrsvMatrix){rows, d.offsets, d.columns, triangle, diagonal, precision, TRSV_HOST, NULL};
  if (triangle == TRSV_UPPER) MirrorToUpper(&d, rows);
  FillValues(&d, seed);
  return d;
}

void DagFree(Dag *d)
{
  free(d->offsets);
  free(d->columns);
  free(d->values);
}
