/*
   Real patterns: the matrices in the folder that SPTRSV_MATRICES names, as its INDEX.tsv lists them. Lower and upper
   triangle with a full diagonal and seeded values: level sets and longest row compared with the index, serial checked
   by its residual, and the device algorithms compared with serial if the executor is fast enough.
*/
#include "check.h"
#include "market.h"

enum {
  MOST_ROWS = 1300,
  MOST_NNZ  = 6000 /* in a triangle */
};

typedef struct {
  char name[128], file[128];
  int  lower, upper, row_max; /* level sets; longest row of the lower triangle; 0 if the index has no number */
} Entry;

/* The n-th field of a line with tabs, cut at size. */
static char *GetField(const char *line, int n, char *field, size_t size)
{
  size_t length;

  for (; n && *line; line++) n -= *line == '\t';
  length = strcspn(line, "\t\r\n");
  if (length >= size) length = size - 1;
  memcpy(field, line, length);
  field[length] = 0;
  return field;
}

static int ColumnOf(const char *header, const char *name)
{
  char field[64];

  for (int n = 0; n < 64; n++)
    if (!strcmp(GetField(header, n, field, sizeof(field)), name)) return n;
  return 63; /* after the last field: empty */
}

static int ReadIndex(const char *folder, Entry entries[], int most)
{
  char  path[1100], header[4096], line[4096], field[128];
  int   n = 0;
  FILE *f;

  (void)snprintf(path, sizeof(path), "%s/INDEX.tsv", folder);
  f = fopen(path, "r");
  if (!f || !fgets(header, sizeof(header), f)) n = -1;
  while (n >= 0 && n < most && fgets(line, sizeof(line), f)) {
    GetField(line, ColumnOf(header, "name"), entries[n].name, sizeof(entries[n].name));
    GetField(line, ColumnOf(header, "file"), entries[n].file, sizeof(entries[n].file));
    entries[n].lower   = atoi(GetField(line, ColumnOf(header, "level_sets_lower"), field, sizeof(field)));
    entries[n].upper   = atoi(GetField(line, ColumnOf(header, "level_sets_upper"), field, sizeof(field)));
    entries[n].row_max = atoi(GetField(line, ColumnOf(header, "max_row_lower"), field, sizeof(field)));
    if (strstr(entries[n].file, ".mtx")) n++;
  }
  if (f) (void)fclose(f);
  return n;
}

/* |b - T x| by rows, relative to |T| |x| + |b| */
static double ComputeResidual(const TrsvMatrix *T, const double *values, const double *b, const double *x)
{
  double worst = 0;

  for (int i = 0; i < T->rows; i++) {
    double r = b[i], size = fabs(b[i]);

    if (T->diagonal == TRSV_DIAGONAL_UNIT) r -= x[i], size += fabs(x[i]);
    for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
      r -= values[k] * x[T->columns[k]];
      size += fabs(values[k] * x[T->columns[k]]);
    }
    if (!(fabs(r) <= worst * size)) worst = fabs(r) / size;
  }
  return worst;
}

static void CheckTriangle(const TrsvMatrix *T, unsigned seed)
{
  const int n      = T->offsets[T->rows];
  void     *values = MakeValues(T, seed), *b = MakeVector(T->precision, T->rows, seed),
       *x = MakeArray(T->precision, T->rows), *reference = Reference(T, NULL, n, values, b);
  const TrsvAlgorithm *a;

  if (reference) {
    const double residual = ComputeResidual(T, values, b, reference);

    Expect(residual < 1e-13, "serial leaves a residual of %g", residual);
  }
  if (T->rows <= MOST_ROWS && n <= MOST_NNZ) ExpectSameAnalysis(T);
  for (int i = 0; reference && T->rows <= MOST_ROWS && n <= MOST_NNZ && (a = DeviceAlgorithm(&i));) {
    TrsvPlan *plan;

    plan = MakePlan(T, NULL, n, a);
    if (!plan) break;
    SimtSchedule(seed + (unsigned)i);
    ExpectError(TrsvPlanSetValues(plan, values, TRSV_HOST, NULL), TRSV_SUCCESS, "TrsvPlanSetValues");
    ExpectError(TrsvPlanSolve(plan, b, x, NULL), TRSV_SUCCESS, TrsvAlgorithmName(a));
    ExpectClose(T->precision, T->rows, x, reference, TrsvAlgorithmName(a));
    TrsvPlanDestroy(&plan);
    SimtDefaults();
  }
  free(values);
  free(b);
  free(x);
  free(reference);
}

static void CheckMatrix(const Pattern *p, const Entry *e, unsigned seed)
{
  for (int t = 0; t < 2; t++) {
    Triangle      T      = MakeFrom(p->rows, p->offsets, p->columns, t ? TRSV_UPPER : TRSV_LOWER,
                          t ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT, TRSV_DOUBLE);
    const int     levels = t ? e->upper : e->lower;
    TrsvAnalysis *a;

    if (ExpectError(TrsvAnalyze(&T.view, &a), TRSV_SUCCESS, "TrsvAnalyze")) {
      Expect(!levels || a->statistics.levels == levels, "%s: %d level sets, %d in the index", t ? "upper" : "lower",
             a->statistics.levels, levels);
      /* the index counts a diagonal only if it is stored */
      Expect(t || !e->row_max || a->statistics.row_max == e->row_max || a->statistics.row_max == e->row_max + 1,
             "longest row of %d entries, %d in the index", a->statistics.row_max, e->row_max);
      Expect(isfinite(a->statistics.granularity), "parallel granularity of %g", a->statistics.granularity);
      TrsvAnalysisDestroy(&a);
      CheckTriangle(&T.view, seed);
    }
    FreeTriangle(&T);
  }
  CheckOrdering(p->rows, p->offsets, p->columns, NULL, NULL);
  if (p->rows <= MOST_ROWS && p->offsets[p->rows] <= MOST_NNZ / 4) CheckFactors(p->rows, p->offsets, p->columns, seed);
}

void TestMatrices(void)
{
  static Entry entries[512];
  const char  *folder = getenv("SPTRSV_MATRICES");
  const int    n      = ReadIndex(folder ? folder : "../shared/matrices", entries, 512);

  if (n < 0) {
    Skip("real matrices", "there is no folder of them; SPTRSV_MATRICES names it");
    return;
  }
  for (int i = 0; i < n; i++) {
    char        path[1200], name[192];
    Pattern     p;
    const char *error;

    if ((i % 16 == 0) != Reduced() || !Mine())
      continue; /* the slow build takes some of them, the other build the rest */
    (void)snprintf(path, sizeof(path), "%s/%s", folder ? folder : "../shared/matrices", entries[i].file);
    error = ReadPattern(path, &p);
    (void)snprintf(name, sizeof(name), "matrix %.127s", entries[i].name);
    if (!error && p.rows != p.cols) Skip(name, "not square");
    else {
      Begin("%s", name);
      if (Expect(!error, "%s", error ? error : "")) CheckMatrix(&p, &entries[i], (unsigned)i);
      End();
    }
    FreePattern(&p);
  }
}
