/*
   Fuzzing of src/kernels/trsv.h over the executor. The bytes choose a request, a pattern, values and what is spoilt.
   A pattern that is spoilt is refused or the host has to factor it; otherwise the factor is one of the matrix, and a
   solve leaves a small residual in the factor. The sanitizer watches every read, the executor every launch.
*/
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "executor.h"
#include "trsv.h"

enum {
  MOST = 96 /* rows */
};

/* - - - bytes - - - */

typedef struct {
  const uint8_t *at, *end;
} Input;

static int Byte(Input *in) { return in->at < in->end ? *in->at++ : 0; }
static int Below(Input *in, int n) { return Byte(in) % n; }

static void Fail(const char *what)
{
  fprintf(stderr, "trsv: %s; %s; %s\n", what, TrsvErrorMessage(), SimtReport());
  abort();
}

/* An error of the arguments is a valid outcome; an error of the device is not. */
static int Works(TrsvError error)
{
  if (SimtReport()[0] || error == TRSV_ERR_DEVICE || error == TRSV_ERR_MEMORY || error == TRSV_ERR_TIMEOUT)
    Fail("an error");
  return error == TRSV_SUCCESS;
}

/* - - - a matrix; each array has just the size that it needs - - - */

typedef struct {
  int     rows, entries;
  int    *offsets, *columns;
  double *values;
} Matrix;

static double Value(Input *in)
{
  static const double odd[] = {0, -0.0, 1e300, -1e300, 1e-310, INFINITY, -INFINITY, NAN};
  const int           byte  = Byte(in);

  return byte >= 248 ? odd[byte - 248] : (byte - 124) / 64.0;
}

/* Rows with ascending columns, by the bytes: part 0 all columns, -1 those below the diagonal, 1 the diagonal and above.
   Every row that may have its diagonal has it. */
static Matrix Make(Input *in, int rows, int part)
{
  Matrix    A     = {.rows = rows, .offsets = malloc(sizeof(int) * ((size_t)rows + 1))};
  const int every = 1 + Below(in, 40), wild = Below(in, 4) == 0;
  unsigned  state = (unsigned)Byte(in);
  int      *all   = malloc(sizeof(int) * (size_t)(rows * rows + 1));

  for (int i = 0; i < rows; i++) {
    A.offsets[i] = A.entries;
    for (int j = part > 0 ? i : 0; j < (part < 0 ? i : rows); j++) {
      state = state * 1664525u + 1013904223u;
      if (i == j || (state >> 16) % (unsigned)every == 0) all[A.entries++] = j;
    }
  }
  A.offsets[rows] = A.entries;
  A.columns       = malloc(sizeof(int) * (size_t)A.entries);
  A.values        = malloc(sizeof(double) * (size_t)A.entries);
  memcpy(A.columns, all, sizeof(int) * (size_t)A.entries);
  free(all);
  for (int i = 0; i < rows; i++)
    for (int k = A.offsets[i]; k < A.offsets[i + 1]; k++) {
      state       = state * 1664525u + 1013904223u;
      A.values[k] = wild ? Value(in) : A.columns[k] == i ? rows : (int)(state >> 16) % 1000 / 1000.0 - 0.5;
    }
  return A;
}

static void Free(Matrix *A)
{
  free(A->offsets);
  free(A->columns);
  free(A->values);
}

/* Wrong offsets and columns; the number of columns stays. */
static void Spoil(Input *in, Matrix *A)
{
  const int odd[] = {-1, 0, 1, A->rows - 1, A->rows, A->entries, A->entries + 1, INT32_MAX, INT32_MIN};

  for (int n = Below(in, 4); n; n--) {
    const int value = odd[Below(in, 9)];

    if (Below(in, 2) && A->rows) A->offsets[Below(in, A->rows)] = value;
    else if (A->entries) A->columns[Byte(in) * 256 % A->entries] = value;
  }
}

static int Valid(const Matrix *A, int part)
{
  if (A->offsets[0]) return 0;
  for (int i = 0; i < A->rows; i++) {
    int diagonal = part < 0;

    if (A->offsets[i] > A->offsets[i + 1] || A->offsets[i + 1] > A->entries) return 0;
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) {
      const int j = A->columns[k];

      if (j < (part > 0 ? i : 0) || j >= (part < 0 ? i : A->rows)) return 0;
      if (k > A->offsets[i] && j <= A->columns[k - 1]) return 0;
      diagonal |= j == i;
    }
    if (!diagonal) return 0;
  }
  return 1;
}

/* - - - memory of the device, and of either precision - - - */

static void *Converted(const double *v, int n, TrsvPrecision precision)
{
  void *to = malloc((precision == TRSV_DOUBLE ? sizeof(double) : sizeof(float)) * (size_t)n);

  for (int k = 0; k < n; k++)
    if (precision == TRSV_DOUBLE) ((double *)to)[k] = v[k];
    else ((float *)to)[k] = (float)v[k];
  return to;
}

static double At(const void *v, int k, TrsvPrecision precision)
{
  return precision == TRSV_DOUBLE ? ((const double *)v)[k] : ((const float *)v)[k];
}

static void *Placed(const void *host, size_t bytes, TrsvMemory memory)
{
  void *to = NULL;

  if (memory == TRSV_HOST) return memcpy(malloc(bytes), host, bytes);
  if (!Works(TrsvDeviceAlloc(bytes, &to)) || !Works(TrsvDeviceUpload(to, host, bytes, NULL))) Fail("no copy");
  return to;
}

static void Release(void *v, TrsvMemory memory)
{
  if (memory == TRSV_HOST) free(v);
  else TrsvDeviceFree(v);
}

/* - - - what is right - - - */

/* |b - L U x| against |L| |U| |x| + |b|, of A's rows and columns; numbers that are not finite say nothing */
static void CheckSolution(const TrsvTriangles *t, TrsvPrecision precision, int transposed, const void *b, const void *x)
{
  const int    rows = t->L.rows;
  const double most = precision == TRSV_DOUBLE ? 1e-12 : 1e-4;
  double       r[MOST] = {0}, size[MOST] = {0}, m[MOST * 2];

  for (int pass = 0; pass < 2; pass++) { /* the product, and its size */
    double *y = m + pass * MOST;

    memset(y, 0, sizeof(double) * MOST);
    for (int half = 0; half < 2; half++) {
      const TrsvCSR *T       = half == transposed ? &t->U : &t->L;
      double         in[MOST];

      for (int i = 0; i < rows; i++) {
        const int *order = transposed ? t->row : t->column, from = order ? order[i] : i;
        const double v = At(x, from, precision);

        in[i] = half ? y[i] : pass ? fabs(v) : v;
      }
      for (int i = 0; i < rows; i++) y[i] = T == &t->L ? in[i] : 0;
      for (int i = 0; i < rows; i++)
        for (int k = T->offsets[i]; k < T->offsets[i + 1]; k++) {
          const double a  = At(T->values, k, precision);
          const int    to = transposed ? T->columns[k] : i, of = transposed ? i : T->columns[k];

          y[to] += (pass ? fabs(a) : a) * in[of];
        }
    }
  }
  for (int i = 0; i < rows; i++) {
    const int   *order = transposed ? t->column : t->row;
    const double v     = At(b, order ? order[i] : i, precision);

    r[i]    = fabs(v - m[i]);
    size[i] = m[MOST + i] + fabs(v);
    if (isfinite(size[i]) && size[i] < 1e30 && size[i] > 1e-30 && !(r[i] <= most * size[i])) Fail("a wrong solution");
  }
}

/* L U is A where A has an entry, of ICC in the upper triangle */
static void CheckFactor(const Matrix *A, const TrsvTriangles *t, const TrsvIluRequest *q)
{
  static double a[MOST][MOST], product[MOST][MOST], size[MOST][MOST];
  const double  most = q->precision == TRSV_DOUBLE ? 1e-12 : 1e-4;

  for (int i = 0; i < A->rows; i++)
    for (int j = 0; j < A->rows; j++) a[i][j] = NAN, product[i][j] = size[i][j] = 0;
  for (int i = 0; i < A->rows; i++)
    for (int k = A->offsets[i]; k < A->offsets[i + 1]; k++) a[i][A->columns[k]] = A->values[k];
  for (int i = 0; i < A->rows; i++)
    for (int k = t->L.offsets[i] - 1; k < t->L.offsets[i + 1]; k++) { /* the unit diagonal first */
      const int    unit = k < t->L.offsets[i], m = unit ? i : t->L.columns[k];
      const double l    = unit ? 1 : At(t->L.values, k, q->precision);

      for (int n = t->U.offsets[m]; n < t->U.offsets[m + 1]; n++) {
        const double u = At(t->U.values, n, q->precision);

        product[i][t->U.columns[n]] += l * u;
        size[i][t->U.columns[n]] += fabs(l * u);
      }
    }
  for (int i = 0; i < A->rows; i++)
    for (int j = q->kind == TRSV_ICC ? i : 0; j < A->rows; j++) {
      const double v = a[t->row ? t->row[i] : i][t->column ? t->column[j] : j];

      if (isfinite(v) && isfinite(size[i][j]) && size[i][j] < 1e30 &&
          !(fabs(product[i][j] - v) <= most * (size[i][j] + fabs(v)) + 1e-30))
        Fail("a wrong factor");
    }
}

/* - - - what is asked - - - */

static void Solve(TrsvIlu *ilu, const TrsvTriangles *t, TrsvMemory memory, TrsvPrecision precision, int transposed)
{
  const int    rows  = t->L.rows;
  const size_t bytes = (precision == TRSV_DOUBLE ? sizeof(double) : sizeof(float)) * (size_t)rows;
  double       v[MOST];
  void        *b, *x, *there, *here = malloc(bytes);

  for (int i = 0; i < rows; i++) v[i] = 1 + i % 7;
  b     = Converted(v, rows, precision);
  there = Placed(b, bytes, memory);
  x     = Placed(b, bytes, memory);
  if (Works(TrsvIluSolve(ilu, memory, transposed, TRSV_SOLVE, there, x, NULL))) {
    if (memory == TRSV_HOST) memcpy(here, x, bytes);
    else if (!Works(TrsvDeviceDownload(here, x, bytes, NULL))) Fail("no copy");
    CheckSolution(t, precision, transposed, b, here);
  } else if (TrsvIluIsReady(ilu, memory, transposed)) Fail("no solution");
  Release(there, memory);
  Release(x, memory);
  free(b);
  free(here);
}

static TrsvIluRequest Request(Input *in, int rows, int *order)
{
  TrsvIluRequest q = {.kind         = (TrsvFactorKind)Below(in, 2),
                      .precision    = (TrsvPrecision)Below(in, 2),
                      .memory       = TRSV_DEVICE,
                      .place        = Below(in, 8) ? TRSV_PLACE_DEVICE : TRSV_PLACE_AUTO,
                      .fill_levels  = Below(in, 16) == 15,
                      .order        = (TrsvOrderRequest)Below(in, 3),
                      .thread_level = Below(in, 4) == 3,
                      .selection    = (TrsvSelection)Below(in, 2)};
  int            known = 0;

  while (TrsvAlgorithmGet(known)) known++;
  for (int half = 0; half < 2; half++) {
    const int a = Below(in, known + 4);

    q.algorithm[half] = a < known ? TrsvAlgorithmGet(a) : NULL;
  }
  for (int i = 0; i < rows; i++) order[i] = i;
  for (int i = rows - 1; i > 0; i--) {
    const int j = Below(in, i + 1), keep = order[i];

    order[i] = order[j];
    order[j] = keep;
  }
  if (q.order == TRSV_ORDER_GIVEN && Below(in, 2)) q.row = q.column = order;
  return q;
}

static void OnDevice(Input *in, int rows)
{
  Matrix               A = Make(in, rows, 0);
  int                  order[MOST];
  const TrsvIluRequest q          = Request(in, rows, order);
  const int            transposed = Below(in, 2);
  const double         zero[]     = {1e-12, 1e-12, -1, 1e10};
  TrsvPivots           pivots     = {(TrsvShift)Below(in, 4), 1e-2, zero[Below(in, 4)]};
  void                *values     = Converted(A.values, A.entries, q.precision);
  const size_t         bytes      = (q.precision == TRSV_DOUBLE ? sizeof(double) : sizeof(float)) * (size_t)A.entries;
  TrsvIlu             *ilu;
  TrsvIluInfo          info;
  TrsvOutcome          outcome;

  Spoil(in, &A);
  const TrsvCSR view = {rows, Placed(A.offsets, sizeof(int) * ((size_t)rows + 1), TRSV_DEVICE),
                        Placed(A.columns, sizeof(int) * (size_t)A.entries, TRSV_DEVICE),
                        Placed(values, bytes, TRSV_DEVICE)};

  if (Works(TrsvIluCreate(&q, rows, &view, &ilu))) {
    TrsvIluDescribe(ilu, &info);
    if (!info.host_reason[0] && !Valid(&A, 0)) Fail("a spoilt pattern is taken");
    if (!info.host_reason[0] && Works(TrsvIluPrepare(ilu, TRSV_DEVICE, transposed, NULL, NULL)) &&
        Works(TrsvIluSetValues(ilu, view.values, &pivots, &outcome, NULL))) {
      TrsvTriangles t;

      if (outcome.row < 0 && Works(TrsvIluDownload(ilu, &t, NULL))) {
        if (pivots.shift == TRSV_SHIFT_NONE) CheckFactor(&A, &t, &q);
        Solve(ilu, &t, TRSV_DEVICE, q.precision, transposed);
        TrsvTrianglesDestroy(&t);
      }
    }
  }
  TrsvIluDestroy(&ilu);
  Release((void *)view.offsets, TRSV_DEVICE);
  Release((void *)view.columns, TRSV_DEVICE);
  Release((void *)view.values, TRSV_DEVICE);
  free(values);
  Free(&A);
}

/* The host has factored: triangles are handed over, for solves in either memory */
static void FromHost(Input *in, int rows)
{
  Matrix         L = Make(in, rows, -1), U = Make(in, rows, 1);
  int            order[MOST];
  TrsvIluRequest q          = Request(in, rows, order);
  const int      transposed = Below(in, 2);
  TrsvIlu       *ilu;
  TrsvStatistics s[2];

  q.memory = (TrsvMemory)Below(in, 2);
  Spoil(in, &L);
  Spoil(in, &U);
  const int           valid = Valid(&L, -1) && Valid(&U, 1);
  void               *l = Converted(L.values, L.entries, q.precision), *u = Converted(U.values, U.entries, q.precision);
  const TrsvTriangles t = {{rows, L.offsets, L.columns, l}, {rows, U.offsets, U.columns, u}, q.row, q.column, NULL};

  if (Works(TrsvTrianglesAnalyze(&t, q.precision, &s[0], &s[1])) != valid) Fail("triangles are misjudged");
  if (Works(TrsvIluCreate(&q, rows, NULL, &ilu)) && Works(TrsvIluPrepare(ilu, q.memory, transposed, &t, NULL))) {
    if (!valid) Fail("spoilt triangles are taken");
    if (Works(TrsvIluSetFactor(ilu, &t, NULL))) Solve(ilu, &t, q.memory, q.precision, transposed);
  }
  TrsvIluDestroy(&ilu);
  free(l);
  free(u);
  Free(&L);
  Free(&U);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  Input     in   = {data, data + size};
  const int host = Below(&in, 2), rows = Below(&in, MOST);

  SimtDefaults();
  SimtForget();
  SimtSchedule((unsigned)Byte(&in));
  if (host) FromHost(&in, rows);
  else OnDevice(&in, rows);
  TrsvDeviceFinalize();
  if (SimtLive()) Fail("memory of the device is left");
  return 0;
}
