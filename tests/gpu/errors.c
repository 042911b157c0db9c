/*
   errors: the componentwise backward error of every algorithm, |b - T x|_i / (|T| |x| + |b|)_i, the largest of all
   rows.

     errors [-o FILE.jsonl] MATRIX...

   For each matrix (matrices.h): the lower and the upper triangle L and U of its pattern with seeded values, those of
   its own values if it has values and a complete diagonal, and their transposes; in double and in float. There is no
   error for a triangle that the algorithm refuses, or whose solution by serial overflows.

   For each matrix and algorithm a JSON object with the errors of L, U, L^T and U^T is a line of FILE, and a line is
   printed. The exit status is 1 if an error is over the bound and that of serial is not.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "long.h"
#include "matrices.h"

enum {
  ALGORITHMS = 16, /* at most, serial is the first */
  KINDS      = 4   /* L, U, L^T, U^T */
};

static const char *const precisions[] = {"float", "double"};

typedef struct {
  double error[2][2][KINDS]; /* by own values, precision, kind; negative: no error */
} Errors;

static long wrong;

static void *CheckMemory(void *p)
{
  if (p) return p;
  fprintf(stderr, "no memory\n");
  exit(2);
}

static void *ConvertValues(const double *from, size_t n, TrsvPrecision p)
{
  void *to = CheckMemory(calloc(n + 1, TrsvValueSize(p)));

  for (size_t i = 0; i < n; i++)
    if (p == TRSV_FLOAT) ((float *)to)[i] = (float)from[i];
    else ((double *)to)[i] = from[i];
  return to;
}

/* A triangle or its transpose on the host and on the device, with a right-hand side. */
typedef struct {
  TrsvMatrix    T[2]; /* by memory */
  const int    *source[2];
  int          *offsets[2];
  void         *values[2], *b[2], *x[2];
  TrsvAnalysis *analysis[2];
  int           entries;
} Solves;

static TrsvError Prepare(const Triangle *t, TrsvPrecision p, int transposed, Solves *s)
{
  const size_t       n = (size_t)t->matrix.rows, nnz = (size_t)t->offsets[n], size = TrsvValueSize(p);
  unsigned long long seed = 3;
  double            *b    = CheckMemory(malloc(sizeof(double) * (n + 1)));

  for (size_t i = 0; i < n; i++) b[i] = RandomUniform(&seed) - 0.5;
  memset(s, 0, sizeof(*s));
  s->entries           = (int)nnz;
  s->values[TRSV_HOST] = ConvertValues(t->values, nnz, p);
  s->b[TRSV_HOST]      = ConvertValues(b, n, p);
  s->x[TRSV_HOST]      = ConvertValues(b, n, p);
  free(b);
  s->values[TRSV_DEVICE] = Upload(s->values[TRSV_HOST], size * nnz);
  s->b[TRSV_DEVICE]      = Upload(s->b[TRSV_HOST], size * n);
  s->x[TRSV_DEVICE]      = Upload(s->b[TRSV_HOST], size * n);
  s->T[TRSV_HOST] = s->T[TRSV_DEVICE] = t->matrix;
  s->T[TRSV_HOST].precision = s->T[TRSV_DEVICE].precision = p;
  s->T[TRSV_DEVICE].memory                                = TRSV_DEVICE;
  s->T[TRSV_DEVICE].offsets                               = Upload(t->offsets, sizeof(int) * (n + 1));
  s->T[TRSV_DEVICE].columns                               = Upload(t->columns, sizeof(int) * nnz);
  for (int memory = 0; memory < 2; memory++) {
    const TrsvMatrix A = s->T[memory];

    if (transposed) TrsvCall(TrsvTranspose(&A, &s->T[memory], &s->offsets[memory], &s->source[memory]));
    if (transposed && memory == TRSV_DEVICE) TrsvDeviceFree((void *)A.offsets), TrsvDeviceFree((void *)A.columns);
    TrsvCall(TrsvAnalyze(&s->T[memory], &s->analysis[memory]));
  }
  return TRSV_SUCCESS;
}

static void Release(Solves *s)
{
  for (int memory = 0; memory < 2; memory++) {
    TrsvAnalysisDestroy(&s->analysis[memory]);
    TrsvFree((TrsvMemory)memory, s->values[memory]);
    TrsvFree((TrsvMemory)memory, s->b[memory]);
    TrsvFree((TrsvMemory)memory, s->x[memory]);
    if (s->offsets[memory]) TrsvFree((TrsvMemory)memory, s->offsets[memory]);
    else if (memory == TRSV_DEVICE) {
      TrsvDeviceFree((void *)s->T[memory].offsets);
      TrsvDeviceFree((void *)s->T[memory].columns);
    }
  }
}

static int IsFinite(const void *x, TrsvPrecision p, int n)
{
  for (int i = 0; i < n; i++)
    if (!isfinite(p == TRSV_FLOAT ? (double)((const float *)x)[i] : ((const double *)x)[i])) return 0;
  return 1;
}

/* NAN if the solution overflows. */
static TrsvError Measure(const Way *w, const Solves *s, double *error)
{
  const TrsvMemory  memory = w->algorithm->memory;
  const TrsvMatrix *T      = &s->T[TRSV_DEVICE];
  const size_t      bytes  = TrsvValueSize(T->precision) * (size_t)T->rows;
  TrsvPlan         *plan   = NULL;
  TrsvError         e      = WayPlan(w, &s->T[memory], s->analysis[memory], s->source[memory], s->entries, &plan);

  if (!e) e = TrsvPlanSetValues(plan, s->values[memory], memory, NULL);
  if (!e) e = TrsvPlanSolve(plan, s->b[memory], s->x[memory], NULL);
  if (!e && memory == TRSV_HOST) {
    e      = TrsvDeviceUpload(s->x[TRSV_DEVICE], s->x[TRSV_HOST], bytes, NULL);
    *error = IsFinite(s->x[TRSV_HOST], T->precision, T->rows) ? 0 : NAN;
  }
  if (!e && !isnan(*error))
    e = TrsvDeviceError(T, s->source[TRSV_DEVICE], s->values[TRSV_DEVICE], NULL, s->b[TRSV_DEVICE], s->x[TRSV_DEVICE],
                        error, NULL);
  TrsvPlanDestroy(&plan);
  return e;
}

static Way WayOfRow(int k)
{
  Way w = {.algorithm = TrsvAlgorithmFind("serial")};

  if (!k || !WayOfAlgorithm(k - 1, &w)) (void)strcpy(w.name, k ? "" : "serial");
  return w;
}

static void MeasureTriangle(const char *name, const Triangle *t, int own, TrsvPrecision p, int kind, Errors errors[])
{
  Solves s;

  if (Prepare(t, p, kind / 2, &s)) {
    fprintf(stderr, "%s: %s\n", name, TrsvErrorMessage());
    exit(2);
  }
  for (int k = 0; *WayOfRow(k).name; k++) {
    const Way       w  = WayOfRow(k);
    double         *to = &errors[k].error[own][p][kind], error = 0;
    const TrsvError e = Measure(&w, &s, &error);

    if (!k && isnan(error)) break; /* also for the other algorithms */
    if (!e) *to = error;
    if (e == TRSV_ERR_UNSUPPORTED || (!e && error <= ErrorBound(p))) continue;
    if (!e && errors[0].error[own][p][kind] > ErrorBound(p)) continue;
    printf("WRONG %s, %s, %s, %s of %s values: %s %g\n", name, w.name, precisions[p],
           (const char *const[]){"L", "U", "L^T", "U^T"}[kind], own ? "its own" : "seeded", e ? TrsvErrorMessage() : "",
           error);
    wrong++;
  }
  Release(&s);
}

/* Writes the errors of one algorithm as fields; returns the largest. */
static void Write(FILE *f, const Errors *e, double largest[2])
{
  for (int own = 0; own < 2; own++)
    for (int p = 0; p < 2; p++) {
      if (f) (void)fprintf(f, ", \"%s%s\": [", own ? "own_" : "", precisions[p]);
      for (int kind = 0; kind < KINDS; kind++) {
        const double v = e->error[own][p][kind];

        largest[p] = fmax(largest[p], v);
        if (f && v < 0) (void)fprintf(f, "%snull", kind ? ", " : "");
        else if (f) (void)fprintf(f, "%s%.3g", kind ? ", " : "", v < 1e300 ? v : 1e300); /* JSON has no Inf */
      }
      if (f) (void)fputc(']', f);
    }
}

static void WriteErrors(const char *name, int rows, const Errors errors[], FILE *f)
{
  for (int k = 0; *WayOfRow(k).name; k++) {
    double largest[2] = {0};

    if (f) (void)fprintf(f, "{\"matrix\": \"%s\", \"rows\": %d, \"algorithm\": \"%s\"", name, rows, WayOfRow(k).name);
    Write(f, &errors[k], largest);
    if (f) EndResult(f);
    printf("%-32s %-20s %.1e in double, %.1e in float\n", name, WayOfRow(k).name, largest[TRSV_DOUBLE],
           largest[TRSV_FLOAT]);
  }
}

static void MeasureMatrix(const char *what, FILE *f)
{
  const char *slash = strrchr(what, '/');
  Errors      errors[ALGORITHMS];
  char        name[128];
  Matrix      M;

  for (int k = 0; k < ALGORITHMS; k++)
    for (int i = 0; i < 4 * KINDS; i++) errors[k].error[i / 8][i / 4 % 2][i % KINDS] = -1;
  (void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : what);
  if (strstr(name, ".mtx")) *strstr(name, ".mtx") = 0;
  if (MatrixMake(what, &M)) {
    wrong++;
    return;
  }
  if (M.rows == M.cols) {
    for (int i = 0; i < 4; i++) {
      const int own = i / 2, upper = i % 2;
      Triangle  t;

      if (TriangleMake(&M, upper ? TRSV_UPPER : TRSV_LOWER, own, &t)) continue;
      for (int n = 0; n < 4; n++) MeasureTriangle(name, &t, own, (TrsvPrecision)(n % 2), upper + n / 2 * 2, errors);
      TriangleFree(&t);
    }
    WriteErrors(name, M.rows, errors, f);
  }
  MatrixFree(&M);
}

int main(int count, char **args)
{
  const char *to = WordArgument(count, args, "o");
  FILE       *f  = to ? fopen(to, "a") : NULL;

  for (int i = to ? 3 : 1; i < count; i++) MeasureMatrix(args[i], f);
  if (f) (void)fclose(f);
  printf("%ld wrong\n", wrong);
  return wrong > 0;
}
