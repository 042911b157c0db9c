/*
   Two threads with plans of their own, on the host: serial solves and objects with PETSc-like triangles, orderings,
   settings, time limits, and messages of errors; objects for a device that is pretended, whose creation is counted. For
   the thread sanitizer; linked with the library of a build without CUDA.
*/
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ilu/ilu.h"
#include "ordering/multicolor.h"
#include "papers/settings.h"

enum {
  ROWS   = 200,
  ROUNDS = 200
};

typedef struct {
  int    number, failed;
  int    offsets[2][ROWS + 1], columns[2][2 * ROWS]; /* a chain: L, with a unit diagonal, and U */
  double values[2][2 * ROWS], b[ROWS], x[ROWS];
} Thread;

static void Expect(Thread *t, int ok, const char *what)
{
  if (ok) return;
  if (!t->failed++) fprintf(stderr, "FAILED: thread %d: %s: %s\n", t->number, what, TrsvErrorMessage());
}

/* L = I + c E, U = I + c E^T, where E has ones below its diagonal. */
static void Fill(Thread *t, double c)
{
  int l = 0, u = 0;

  for (int i = 0; i < ROWS; i++) {
    t->offsets[0][i] = l, t->offsets[1][i] = u;
    if (i) t->columns[0][l] = i - 1, t->values[0][l++] = c;
    t->columns[1][u] = i, t->values[1][u++] = 1;
    if (i + 1 < ROWS) t->columns[1][u] = i + 1, t->values[1][u++] = c;
    t->b[i] = 1 + i % 3;
  }
  t->offsets[0][ROWS] = l, t->offsets[1][ROWS] = u;
}

/* Is x the solution of L U x = b, or of the transpose, which is the same matrix? */
static void CheckSolution(Thread *t, double c)
{
  double y[ROWS];

  for (int i = 0; i < ROWS; i++) y[i] = t->x[i] + (i + 1 < ROWS ? c * t->x[i + 1] : 0);
  for (int i = 0; i < ROWS; i++) {
    const double r = y[i] + (i ? c * y[i - 1] : 0) - t->b[i];

    Expect(t, r < 1e-12 && r > -1e-12, "a wrong solution");
  }
}

static void SolveByObject(Thread *t, double c)
{
  const TrsvIluRequest request = {.kind = TRSV_ILU, .precision = TRSV_DOUBLE, .memory = TRSV_HOST,
                                  .timeout = 1 + t->number};
  TrsvTriangles        v = {0};
  TrsvIlu             *ilu;
  unsigned             state[TRSV_STATES];

  v.L = (TrsvCSR){ROWS, t->offsets[0], t->columns[0], t->values[0]};
  v.U = (TrsvCSR){ROWS, t->offsets[1], t->columns[1], t->values[1]};
  Expect(t, !TrsvIluCreate(&request, ROWS, NULL, &ilu), "TrsvIluCreate");
  for (int transposed = 0; transposed < 2; transposed++) {
    Expect(t, !TrsvIluPrepare(ilu, TRSV_HOST, transposed, &v, NULL), "TrsvIluPrepare");
    Expect(t, !TrsvIluSolve(ilu, TRSV_HOST, transposed, TRSV_SOLVE, t->b, t->x, NULL), "TrsvIluSolve");
    CheckSolution(t, c);
  }
  Expect(t, TrsvSyncScratch(state).timeout == (1 + (unsigned long long)t->number) * 1000000000,
         "the time limit of another thread");
  TrsvIluDestroy(&ilu);
}

/* Replaces the function of a build without CUDA (--wrap): there is a device. */
TrsvError __wrap_TrsvWorkDevice(TrsvWorkOrder *order)
{
  (void)order;
  return TRSV_SUCCESS;
}

/* Set-ups on a device are numbered across threads. The host factors, so that nothing else asks for the device. */
static void CountSetups(Thread *t)
{
  const TrsvIluRequest request = {.kind = TRSV_ILU, .precision = TRSV_DOUBLE, .memory = TRSV_DEVICE,
                                  .place = TRSV_PLACE_HOST, .timeout = 1 + t->number};
  TrsvIlu             *ilu[2];

  for (int i = 0; i < 2; i++) Expect(t, !TrsvIluCreate(&request, ROWS, NULL, &ilu[i]), "TrsvIluCreate for a device");
  Expect(t, t->failed || ilu[0]->setup < ilu[1]->setup, "the numbers of set-ups do not rise");
  for (int i = 0; i < 2; i++) TrsvIluDestroy(&ilu[i]);
}

static void FailAndOrder(Thread *t)
{
  static const TrsvSetting list[] = {{NULL, NULL, NULL}};
  const TrsvMatrix         A      = {ROWS,        t->offsets[0], t->columns[0], TRSV_LOWER, TRSV_DIAGONAL_UNIT,
                                     TRSV_DOUBLE, TRSV_HOST,     NULL};
  const int                row = 50 + t->number, at = t->offsets[0][row], kept = t->columns[0][at];
  char                     wanted[64];
  TrsvAnalysis            *analysis;
  TrsvOrdering            *ordering;

  t->columns[0][at] = ROWS;
  Expect(t, TrsvAnalyze(&A, &analysis) == TRSV_ERR_STRUCTURE, "a column that there is not");
  (void)snprintf(wanted, sizeof(wanted), "row %d has", row);
  Expect(t, !strncmp(TrsvErrorMessage(), wanted, strlen(wanted)), "the message of another thread");
  t->columns[0][at] = kept;
  TrsvSettingsRequest(t->number ? "second" : "first");
  Expect(t, TrsvSettingsCheck("none", list) == TRSV_ERR_ARGUMENT, "settings that there are not");
  Expect(t, strstr(TrsvErrorMessage(), t->number ? "second" : "first") != NULL, "the settings of another thread");
  TrsvSettingsRequest(NULL);
  Expect(t, !TrsvOrderMulticolor(ROWS, t->offsets[1], t->columns[1], NULL, TRSV_HOST, &ordering), "an ordering");
  TrsvOrderingDestroy(&ordering);
}

static void *Run(void *thread)
{
  Thread *const t = thread;

  for (int round = 0; round < ROUNDS && !t->failed; round++) {
    const double c = 0.5 / (1 + t->number + round % 7);

    Fill(t, c);
    SolveByObject(t, c);
    CountSetups(t);
    FailAndOrder(t);
  }
  return NULL;
}

int main(void)
{
  static Thread threads[2];
  pthread_t     other[2];

  for (int i = 0; i < 2; i++) {
    threads[i].number = i;
    if (pthread_create(&other[i], NULL, Run, &threads[i])) return 2;
  }
  for (int i = 0; i < 2; i++) (void)pthread_join(other[i], NULL);
  return threads[0].failed || threads[1].failed;
}
