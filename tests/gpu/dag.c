/*
   Triangles by chance. A row names its columns in any order, any number of times; then they are sorted.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dag.h"

typedef struct {
  int *at, count, room;
} List;

static void *Must(void *p)
{
  if (p) return p;
  fprintf(stderr, "no memory\n");
  exit(2);
}

static void Put(List *l, int column)
{
  if (l->count == l->room) l->at = Must(realloc(l->at, sizeof(int) * (size_t)(l->room = 2 * l->room + 64)));
  l->at[l->count++] = column;
}

/* What a shape goes by, drawn once for a triangle. */
typedef struct {
  int rows, side, width, few;
} Shape;

/* Any row before. */
static void Scattered(const Shape *s, int i, Seed *seed, List *l)
{
  for (unsigned n = Below(seed, (unsigned)s->few + 1); n; n--) Put(l, (int)Below(seed, (unsigned)i));
}

/* Rows close before: long chains. */
static void Near(const Shape *s, int i, Seed *seed, List *l)
{
  const int reach = i < s->width ? i : s->width;

  for (unsigned n = Below(seed, (unsigned)s->few + 1); n; n--) Put(l, i - 1 - (int)Below(seed, (unsigned)reach));
}

static void Chain(const Shape *s, int i, Seed *seed, List *l) { Put(l, i - 1); }

/* Many chains side by side. */
static void Chains(const Shape *s, int i, Seed *seed, List *l)
{
  if (i >= s->width) Put(l, i - s->width);
}

/* Two or three level sets. */
static void Wide(const Shape *s, int i, Seed *seed, List *l)
{
  const int first = s->rows / 3 + 1;

  if (i < first) return;
  for (unsigned n = Below(seed, (unsigned)s->few + 1); n; n--)
    Put(l, (int)Below(seed, (unsigned)(i > 2 * first ? 2 * first : first)));
}

static void Band(const Shape *s, int i, Seed *seed, List *l)
{
  for (int d = 1; d <= s->few && d <= i; d++) Put(l, i - d);
}

/* A few rows have hundreds of dependencies. */
static void LongRows(const Shape *s, int i, Seed *seed, List *l)
{
  if (Below(seed, 25)) Scattered(s, i, seed, l);
  else
    for (int n = 0; n < 700 && n < i; n++)
      Put(l, i < 700 || Below(seed, 2) ? i - 1 - n : (int)Below(seed, (unsigned)i));
}

/* The last rows depend on all, all on the first. */
static void Arrow(const Shape *s, int i, Seed *seed, List *l)
{
  Put(l, 0);
  if (i >= s->rows - 2)
    for (int j = 0; j < i; j++) Put(l, j);
}

/* Two rows of three depend on nothing. */
static void Gaps(const Shape *s, int i, Seed *seed, List *l)
{
  if (i % 3 == 0) Scattered(s, i, seed, l);
}

static void Empty(const Shape *s, int i, Seed *seed, List *l) { }

static void Grid2D(const Shape *s, int i, Seed *seed, List *l)
{
  if (i >= s->side) Put(l, i - s->side);
  if (i % s->side) Put(l, i - 1);
}

static void Grid3D(const Shape *s, int i, Seed *seed, List *l)
{
  const int side = s->few + 1, plane = side * side;

  if (i >= plane) Put(l, i - plane);
  if (i / side % side) Put(l, i - side);
  if (i % side) Put(l, i - 1);
}

/* Dense blocks on the diagonal, joined by single entries. */
static void Blocks(const Shape *s, int i, Seed *seed, List *l)
{
  const int size = 4 * s->few + 1;

  for (int j = i - i % size; j < i; j++) Put(l, j);
  if (i >= size && !Below(seed, 3)) Put(l, (int)Below(seed, (unsigned)(i - i % size)));
}

/* Few rows that very many depend on. */
static void Hubs(const Shape *s, int i, Seed *seed, List *l)
{
  for (unsigned n = Below(seed, (unsigned)s->few + 1); n; n--) {
    const unsigned below = Below(seed, (unsigned)i);

    Put(l, (int)(below * (unsigned long long)below / (unsigned)i * below / (unsigned)i));
  }
}

static const struct {
  const char *name;
  void (*row)(const Shape *, int i, Seed *, List *);
} shapes[] = {
  {"scattered", Scattered}, {"near", Near},       {"chain", Chain},     {"chains", Chains}, {"wide", Wide},
  {"band", Band},           {"long rows", LongRows}, {"arrow", Arrow},  {"gaps", Gaps},     {"empty rows", Empty},
  {"2D grid", Grid2D},      {"3D grid", Grid3D},  {"blocks", Blocks},   {"hubs", Hubs},
};

static int Rising(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

enum {
  SHAPES = sizeof(shapes) / sizeof(shapes[0])
};

/* Sorted, each column once; behind them the row itself where its diagonal is stored. */
static void Close(List *l, int from, int i, int stored)
{
  int n = from;

  qsort(l->at + from, (size_t)(l->count - from), sizeof(int), Rising);
  for (int k = from; k < l->count; k++)
    if (n == from || l->at[k] != l->at[n - 1]) l->at[n++] = l->at[k];
  l->count = n;
  if (stored) Put(l, i);
}

/* An upper triangle is a lower one seen from its end. */
static void Turn(Dag *d, int rows)
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

static void Fill(Dag *d, Seed *seed)
{
  const TrsvMatrix *A = &d->view;

  d->values = Must(malloc(sizeof(double) * ((size_t)A->offsets[A->rows] + 1)));
  for (int i = 0; i < A->rows; i++) {
    const double scale = 1. / (1 + A->offsets[i + 1] - A->offsets[i]);

    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const double v = Real(seed);

      d->values[k] = A->columns[k] == i ? (v < 0 ? -1 : 1) + v / 2 : v * scale;
    }
  }
}

int DagRows(Seed *seed, int most) { return (int)exp((Real(seed) + 1) / 2 * log(most + 1)); }

static unsigned Find(const char *name)
{
  for (unsigned k = 0; k < SHAPES; k++)
    if (!strcmp(shapes[k].name, name)) return k;
  fprintf(stderr, "no shape %s\n", name);
  exit(2);
}

Dag DagMake(Seed *seed, const char *shape, int rows, TrsvTriangle triangle, TrsvDiagonal diagonal,
            TrsvPrecision precision)
{
  const unsigned kind = shape ? Find(shape) : Below(seed, SHAPES);
  const Shape    s    = {rows, (int)sqrt(rows) + 1, 1 + (int)Below(seed, 64), 1 + (int)Below(seed, 10)};
  List           l    = {NULL, 0, 0};
  Dag            d    = {.shape = shapes[kind].name};

  d.offsets    = Must(malloc(sizeof(int) * ((size_t)rows + 1)));
  d.offsets[0] = 0;
  for (int i = 0; i < rows; i++) {
    const int from = l.count;

    if (i) shapes[kind].row(&s, i, seed, &l);
    Close(&l, from, i, diagonal == TRSV_DIAGONAL_STORED);
    d.offsets[i + 1] = l.count;
  }
  d.columns = l.at ? l.at : Must(malloc(1));
  d.view    = (TrsvMatrix){rows, d.offsets, d.columns, triangle, diagonal, precision, TRSV_HOST, NULL};
  if (triangle == TRSV_UPPER) Turn(&d, rows);
  Fill(&d, seed);
  return d;
}

void DagFree(Dag *d)
{
  free(d->offsets);
  free(d->columns);
  free(d->values);
}
