/*
   Families of matrices, family:NAME, that occur in practice and not in the collection of real ones: a prediction that
   is fitted to real matrices may fail for them. The table at the end says what each stands for. All have a symmetric
   pattern and a full diagonal; random families use one seed.
*/
#include "entries.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Seed;

enum { SEED = 7 };

static int RandomBelow(Seed *seed, int n) { return (int)(RandomUniform(seed) * n); }
static int MaxWithZero(int i) { return i > 0 ? i : 0; }

/*
   Add the entries off the diagonal of a pattern with these sizes; return the number of rows.
*/
static int Star(const int *of, Entries *e) { return AddStar(e, of, of[4]); }
static int Box(const int *of, Entries *e) { return AddBox(e, of, of[3]); }

/* Tridiagonal systems of so many rows, one after the other or interleaved row by row. */
static int Tridiagonals(const int *of, Entries *e)
{
  const int systems = of[0], rows = of[1], interleaved = of[2];

  for (int s = 0; s < systems; s++)
    for (int i = 1; i < rows; i++)
      AddBoth(e, interleaved ? i * systems + s : s * rows + i, interleaved ? (i - 1) * systems + s : s * rows + i - 1);
  return systems * rows;
}

/* Rows at this distance depend on each other one by one, as far as there are rows. */
static int SparseChain(const int *of, Entries *e)
{
  for (int i = 1; i < of[1]; i++) AddBoth(e, i * of[2], (i - 1) * of[2]);
  return of[0];
}

static int FarChain(const int *of, Entries *e)
{
  Seed seed = SEED;

  for (int i = 1; i < of[0]; i++) {
    AddBoth(e, i, i - 1);
    AddBoth(e, i, RandomBelow(&seed, i));
  }
  return of[0];
}

/* Dense blocks. */
static int Blocks(const int *of, Entries *e)
{
  for (int b = 0; b < of[0]; b++)
    for (int i = 0; i < of[1]; i++)
      for (int j = 0; j < i; j++) AddBoth(e, b * of[1] + i, b * of[1] + j);
  return of[0] * of[1];
}

/* Chains of seven rows, and full rows and columns, the first or the last. */
static int Arrow(const int *of, Entries *e)
{
  const int n = of[0], full = of[1], first = of[2];

  for (int k = 0; k < full; k++)
    for (int i = full; i < n; i++) AddBoth(e, first ? k : n - 1 - k, first ? i : i - full);
  for (int i = 1; i < n; i++)
    if (i % 7) AddBoth(e, i, i - 1);
  return n;
}

static int FullBand(const int *of, Entries *e)
{
  for (int i = 0; i < of[0]; i++)
    for (int j = MaxWithZero(i - of[1]); j < i; j++) AddBoth(e, i, j);
  return of[0];
}

/* So many random entries in a row, among so many earlier rows or, if that is 0, among all. */
static int RandomRows(const int *of, Entries *e)
{
  Seed seed = SEED;

  for (int i = 1; i < of[0]; i++)
    for (int k = 0; k < of[1]; k++)
      AddBoth(e, i, of[2] ? MaxWithZero(i - 1 - RandomBelow(&seed, of[2])) : RandomBelow(&seed, i));
  return of[0];
}

/* So many random entries in a row, among the rows of the step before. */
static int RandomSteps(const int *of, Entries *e)
{
  Seed seed = SEED;

  for (int i = of[1]; i < of[0] * of[1]; i++)
    for (int k = 0; k < of[2]; k++) AddBoth(e, i, (i / of[1] - 1) * of[1] + RandomBelow(&seed, of[1]));
  return of[0] * of[1];
}

/* A binary tree whose root is last. */
static int Tree(const int *of, Entries *e)
{
  const int n = (1 << of[0]) - 1;

  for (int i = 1; i < n; i++) AddBoth(e, n - 1 - (i - 1) / 2, n - 1 - i);
  return n;
}

/* Random points of the unit square; neighbors are at most 1.5 / sqrt(n) apart, and so at most two cells of a grid of
   almost n cells. */
static int Geometric(const int *of, Entries *e)
{
  const int n    = of[0];
  int       side = 0;
  Seed      seed = SEED;

  while ((side + 1) * (side + 1) <= n) side++;
  double *x = Reallocate(NULL, sizeof(double) * (size_t)n), *y = Reallocate(NULL, sizeof(double) * (size_t)n);
  int    *last = Reallocate(NULL, sizeof(int) * (size_t)(side * side)),
      *before  = Reallocate(NULL, sizeof(int) * (size_t)n); /* of the points in a cell */

  for (int c = 0; c < side * side; c++) last[c] = -1;
  for (int i = 0; i < n; i++) {
    x[i]        = RandomUniform(&seed);
    y[i]        = RandomUniform(&seed);
    const int u = (int)(x[i] * side), v = (int)(y[i] * side);

    for (int c = MaxWithZero(v - 2); c < side && c <= v + 2; c++)
      for (int d = MaxWithZero(u - 2); d < side && d <= u + 2; d++)
        for (int j = last[c * side + d]; j >= 0; j = before[j])
          if ((x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]) < 2.25 / n) AddBoth(e, i, j);
    before[i]          = last[v * side + u];
    last[v * side + u] = i;
  }
  free(x);
  free(y);
  free(last);
  free(before);
  return n;
}

/* Barabasi and Albert: each row is joined to some earlier rows; three times of four to an end of an entry, so that rows
   with many entries get more. */
static int Preferential(const int *of, Entries *e)
{
  int *to   = Reallocate(NULL, sizeof(int) * (size_t)of[1]);
  Seed seed = SEED;

  for (int i = 1; i < of[0]; i++) {
    int count = 0;

    while (count < i && count < of[1]) {
      const int j =
        !e->count || !RandomBelow(&seed, 4) ? RandomBelow(&seed, i) : e->row[RandomBelow(&seed, (int)e->count)];
      int k = 0;

      while (k < count && to[k] != j) k++;
      if (k == count) to[count++] = j;
    }
    while (count) AddBoth(e, i, to[--count]);
  }
  free(to);
  return of[0];
}

/* Watts and Strogatz: a ring with three neighbors on each side; one entry of twenty leads to a random row. */
static int SmallWorld(const int *of, Entries *e)
{
  Seed seed = SEED;

  for (int i = 0; i < of[0]; i++)
    for (int d = 1; d <= 3; d++) {
      const int j = RandomBelow(&seed, 20) ? (i + d) % of[0] : RandomBelow(&seed, of[0]);

      if (j != i) AddBoth(e, i, j);
    }
  return of[0];
}

/* One to four near neighbors; for one row of fifty a source among the first nodes; in the middle ten rails with entries
   in all parts. */
static int Circuit(const int *of, Entries *e)
{
  const int n    = of[0];
  Seed      seed = SEED;

  for (int i = 1; i < n; i++) {
    for (int k = RandomBelow(&seed, 4); k >= 0; k--) AddBoth(e, i, MaxWithZero(i - 1 - RandomBelow(&seed, 200)));
    if (!RandomBelow(&seed, 50)) AddBoth(e, i, RandomBelow(&seed, i < 20 ? i : 20));
  }
  for (int rail = n / 2; rail < n / 2 + 10; rail++)
    for (int i = 0; i < n; i += 1 + RandomBelow(&seed, 40)) AddBoth(e, i, rail);
  return n;
}

/* Variables, one in three of which is coupled to one shortly before it; then constraints of four variables each. */
static int SaddlePoint(const int *of, Entries *e)
{
  const int variables = of[0], constraints = of[1];
  Seed      seed = SEED;

  for (int i = variables; i < variables + constraints; i++)
    for (int k = 0; k < 4; k++) AddBoth(e, i, RandomBelow(&seed, variables));
  for (int i = 3; i < variables; i++)
    if (!RandomBelow(&seed, 3)) AddBoth(e, i, i - 1 - RandomBelow(&seed, 3));
  return variables + constraints;
}

/*
   Orders: return the place of each row, which the caller frees.
*/
static int *ReverseOrder(const Matrix *M)
{
  int *place = Reallocate(NULL, sizeof(int) * (size_t)M->rows);

  for (int i = 0; i < M->rows; i++) place[i] = M->rows - 1 - i;
  return place;
}

static int *ShuffledOrder(const Matrix *M)
{
  int *place = Reallocate(NULL, sizeof(int) * (size_t)M->rows);
  Seed seed  = SEED;

  for (int i = 0; i < M->rows; i++) {
    const int j = RandomBelow(&seed, i + 1);

    place[i] = place[j];
    place[j] = i;
  }
  return place;
}

static int Degree(const Matrix *M, int i) { return M->offsets[i + 1] - M->offsets[i]; }

/* Reverse Cuthill-McKee; each connected part starts from its first row. */
static int *CuthillMcKee(const Matrix *M)
{
  int *order = Reallocate(NULL, sizeof(int) * (size_t)M->rows),
      *place = Reallocate(NULL, sizeof(int) * (size_t)M->rows), count = 0;

  for (int i = 0; i < M->rows; i++) place[i] = -1;
  for (int i = 0; i < M->rows; i++) {
    if (place[i] >= 0) continue;
    place[i]       = 0; /* in the queue, without a place yet */
    order[count++] = i;
    for (int next = count - 1; next < count; next++) {
      const int begin = count;

      for (int k = M->offsets[order[next]]; k < M->offsets[order[next] + 1]; k++) {
        const int j  = M->columns[k];
        int       at = count;

        if (place[j] >= 0) continue;
        for (; at > begin && Degree(M, order[at - 1]) > Degree(M, j); at--) order[at] = order[at - 1];
        order[at] = j;
        place[j]  = 0;
        count++;
      }
    }
  }
  for (int k = 0; k < count; k++) place[order[k]] = count - 1 - k;
  free(order);
  return place;
}

/* Numbers the points of a grid from x to right and from y to top. */
static void NumberPoints(int side, int x, int y, int right, int top, int *place, int *at)
{
  for (int v = y; v < top; v++)
    for (int u = x; u < right; u++) place[v * side + u] = (*at)++;
}

/* The same by nested dissection: both halves, then the line between them. */
static void Dissect(int side, int x, int y, int right, int top, int *place, int *at)
{
  const int width = right - x, height = top - y, u = (x + right) / 2, v = (y + top) / 2;

  if (width <= 3 && height <= 3) NumberPoints(side, x, y, right, top, place, at);
  else if (width >= height) {
    Dissect(side, x, y, u, top, place, at);
    Dissect(side, u + 1, y, right, top, place, at);
    NumberPoints(side, u, y, u + 1, top, place, at);
  } else {
    Dissect(side, x, y, right, v, place, at);
    Dissect(side, x, v + 1, right, top, place, at);
    NumberPoints(side, x, v, right, v + 1, place, at);
  }
}

static int *Dissection(const Matrix *M)
{
  int *place = Reallocate(NULL, sizeof(int) * (size_t)M->rows), side = 0, at = 0;

  while (side * side < M->rows) side++;
  Dissect(side, 0, 0, side, side, place, &at);
  return place;
}

/* The makefile takes the names from these lines. */
static const struct {
  const char *name;
  int (*pattern)(const int *of, Entries *);
  int *(*order)(const Matrix *); /* NULL: the natural order */
  int of[5];
} families[] = {
  {"tridiag_batch", Tridiagonals, NULL, {2000, 500, 0}}, /* line relaxation, splines, cables: many small systems */
  {"tridiag_inter", Tridiagonals, NULL, {2000, 500, 1}}, /* the same as batched solvers interleave them */
  {"tridiag_one", Tridiagonals, NULL, {1, 200000}},      /* one line: no parallelism */
  {"grid_8_8_4000", Star, NULL, {8, 8, 4000, 1, 1}},     /* a duct */
  {"grid_4_100000", Star, NULL, {4, 100000, 1, 1, 1}},   /* a pipe */
  {"grid_50_20000", Star, NULL, {50, 20000, 1, 1, 1}},   /* a boundary layer, numbered across */
  {"grid_20000_50", Star, NULL, {20000, 50, 1, 1, 1}},   /* the same, numbered along */
  {"grid13_400", Star, NULL, {400, 400, 1, 1, 2}},       /* differences of fourth order in a plane */
  {"fem3_24", Box, NULL, {24, 24, 24, 3}},   /* elasticity: trilinear elements, three displacements a node */
  {"fem2_200", Box, NULL, {200, 200, 1, 2}}, /* the same in a plane */
  {"grid500_random", Star, ShuffledOrder, {500, 500, 1, 1, 1}}, /* a mesh with randomly numbered nodes */
  {"grid300_nd", Star, Dissection, {300, 300, 1, 1, 1}},        /* a grid in the order of direct solvers */
  {"grid500x9_nd", Box, Dissection, {500, 500, 1, 1}},          /* the same with nine points */
  {"rgg_random", Geometric, NULL, {100000}},                    /* an unstructured mesh, or sensors, in random order */
  {"rgg_rcm", Geometric, CuthillMcKee, {100000}},               /* the same in an order of finite element codes */
  {"ba_100k", Preferential, NULL, {100000, 5}},                 /* the web, citations: hubs first */
  {"ba_100k_rev", Preferential, ReverseOrder, {100000, 5}},     /* hubs last */
  {"smallworld", SmallWorld, NULL, {100000}},                   /* social and power networks: a ring with short cuts */
  {"arrow_last", Arrow, NULL, {100000, 20, 0}},                 /* few global unknowns, bordered systems */
  {"arrow_first", Arrow, NULL, {100000, 20, 1}},                /* the same, numbered first */
  {"blocks32", Blocks, NULL, {3000, 32}},       /* block Jacobi, reactions in cells, discontinuous elements */
  {"blocks100", Blocks, NULL, {300, 100}},      /* the same with many species or of high order */
  {"circuit", Circuit, NULL, {200000}},         /* circuits with supply rails */
  {"kkt", SaddlePoint, NULL, {60000, 40000}},   /* optimization with constraints */
  {"chain_far", FarChain, NULL, {100000}},      /* a recurrence with distant terms */
  {"tree", Tree, NULL, {17}},                   /* river networks, multibody systems, elimination trees */
  {"steps", RandomSteps, NULL, {100, 2000, 5}}, /* all time steps at once; layers of a network */
  {"chain_in_diag", SparseChain, NULL, {1000000, 20000, 40}}, /* a long chain among rows that have a diagonal only */
  {"lattice4_20", Star, NULL, {20, 20, 20, 20, 1}},           /* a lattice of four dimensions */
  {"band_random", RandomRows, NULL, {50000, 25, 1000}},       /* within a band, as after some reordering */
  {"band_wide", RandomRows, NULL, {100000, 3, 10000}},        /* the same, wide and sparse */
  {"rand60", RandomRows, NULL, {30000, 60, 0}},               /* no structure, many entries */
  {"band200", FullBand, NULL, {5000, 200}},                   /* a full band, as in factors with fill */
  {"fem3_50", Box, NULL, {50, 50, 50, 3}},                    /* from here on: sizes that fill a GPU and its caches */
  {"fem2_700", Box, NULL, {700, 700, 1, 2}},
  {"grid7_200", Star, NULL, {200, 200, 200, 1, 1}}, /* 8 million rows */
  {"grid27_120", Box, NULL, {120, 120, 120, 1}},    /* 44 million entries */
  {"grid27_80_rand", Box, ShuffledOrder, {80, 80, 80, 1}},
  {"grid100_random", Star, ShuffledOrder, {100, 100, 100, 1, 1}},
  {"grid1000_nd", Star, Dissection, {1000, 1000, 1, 1, 1}},
  {"rgg_rcm_1m", Geometric, CuthillMcKee, {1000000}},
  {"kkt_1m", SaddlePoint, NULL, {600000, 400000}},
  {"lattice4_32", Star, NULL, {32, 32, 32, 32, 1}},
};

const char *FamilyName(int k) { return k < (int)(sizeof(families) / sizeof(families[0])) ? families[k].name : NULL; }

int FamilyMake(const char *name, Matrix *M)
{
  Entries e = {0, 0, NULL, NULL, NULL};
  int     k = 0, rows;

  while (FamilyName(k) && strcmp(FamilyName(k), name)) k++;
  if (!FamilyName(k)) {
    fprintf(stderr, "no family '%s'; there are:", name);
    for (k = 0; FamilyName(k); k++) fprintf(stderr, " %s", FamilyName(k));
    fprintf(stderr, "\n");
    return -1;
  }
  rows = families[k].pattern(families[k].of, &e);
  for (int i = 0; i < rows; i++) AddEntry(&e, i, i, 0);
  FromEntries(rows, rows, 0, &e, M);
  if (families[k].order) {
    int *place = families[k].order(M);

    Reorder(place, M);
    free(place);
  }
  return 0;
}
