/*
   Pairs: the plans of both factors of a matrix, or of their transposes.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "impl.h"

static double Seconds(void)
{
  struct timespec t;

  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static TrsvError Choose(const TrsvPair *pair, TrsvSelection selection, const TrsvAlgorithm *asked, TrsvPairMember *m)
{
  if (asked) (void)snprintf(m->why, sizeof(m->why), "asked for");
  m->algorithm = asked ? asked : TrsvSelect(&m->statistics, pair->memory, pair->precision, selection, m->why, sizeof(m->why));
  if (!asked && selection != TRSV_SELECT_GRANULARITY) m->predicted = TrsvPredict(m->algorithm, &m->statistics, pair->precision);
  if (!asked || asked->memory == pair->memory) return TRSV_SUCCESS;
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on a %s, but the matrix lives on %s", asked->name, asked->memory == TRSV_HOST ? "host" : "GPU", pair->memory == TRSV_HOST ? "the host" : "a GPU");
}

static TrsvError MakeMember(const TrsvPair *pair, const TrsvMatrix *A, TrsvSelection selection, const TrsvAlgorithm *asked, TrsvPairMember *m)
{
  const double        start    = Seconds();
  TrsvMatrix          T        = *A;
  int                *offsets  = NULL;
  const int          *source   = NULL;
  const TrsvAnalysis *analysis = NULL;
  TrsvAnalysis       *made     = NULL;
  int                 entries  = 0;
  TrsvError           error    = TrsvEntries(A, &entries);

  if (!error && pair->transposed) error = TrsvTranspose(A, &T, &offsets, &source);
  if (!error) error = TrsvAnalysisGet(&T, &analysis, &made);
  if (!error) {
    m->statistics = analysis->statistics;
    error         = Choose(pair, selection, asked, m);
  }
  if (!error) error = TrsvPlanCreate(&T, analysis, source, entries, m->algorithm, &m->plan);
  if (error == TRSV_ERR_UNSUPPORTED && !asked && m->algorithm != TrsvAlgorithmFind("thread")) { /* selected, but not for this device */
    (void)snprintf(m->why, sizeof(m->why), "%s cannot run here", m->algorithm->name);
    m->algorithm = TrsvAlgorithmFind("thread");
    m->predicted = selection == TRSV_SELECT_GRANULARITY ? 0 : TrsvPredict(m->algorithm, &m->statistics, pair->precision);
    error        = TrsvPlanCreate(&T, analysis, source, entries, m->algorithm, &m->plan);
  }
  TrsvAnalysisDestroy(&made);
  TrsvFree(A->memory, offsets);
  m->seconds = Seconds() - start;
  return error;
}

/* A copy, in the pair's memory, of an array that lives where the matrices do. */
static TrsvError Keep(TrsvMemory memory, TrsvMemory there, size_t bytes, const int *from, int **to)
{
  if (!from) return TRSV_SUCCESS;
  if (memory == TRSV_DEVICE) {
    TrsvCall(TrsvDeviceAlloc(bytes, to));
    TrsvCall((there == TRSV_DEVICE ? TrsvDeviceCopy : TrsvDeviceUpload)(*to, from, bytes, NULL));
    return TrsvDeviceFinish();
  }
  TrsvCall(TrsvAlloc(bytes, to));
  if (there == TRSV_DEVICE) return TrsvDeviceDownload(*to, from, bytes, NULL);
  memcpy(*to, from, bytes);
  return TRSV_SUCCESS;
}

static TrsvError MakeVector(const TrsvPair *pair, void **vector)
{
  const size_t bytes = TrsvValueSize(pair->precision) * (size_t)pair->rows;

  return pair->memory == TRSV_HOST ? TrsvAlloc(bytes, vector) : TrsvDeviceAlloc(bytes, vector);
}

static TrsvError Fill(TrsvPair *p, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, TrsvSelection selection, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper)
{
  const size_t index = sizeof(int) * (size_t)p->rows;

  TrsvCall(MakeMember(p, p->transposed ? U : L, selection, p->transposed ? upper : lower, &p->first));
  TrsvCall(MakeMember(p, p->transposed ? L : U, selection, p->transposed ? lower : upper, &p->second));
  TrsvCall(Keep(p->memory, L->memory, index, p->transposed ? column : row, &p->row));
  TrsvCall(Keep(p->memory, L->memory, index, p->transposed ? row : column, &p->column));
  if (row || column) TrsvCall(MakeVector(p, &p->permuted));
  return MakeVector(p, &p->between);
}

TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed, TrsvMemory memory, TrsvSelection selection, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvPair **pair)
{
  TrsvPair *p;
  TrsvError error;

  *pair = NULL;
  p     = calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a pair of plans");
  p->memory     = memory;
  p->precision  = L->precision;
  p->rows       = L->rows;
  p->transposed = transposed;
  error         = Fill(p, L, U, row, column, selection, lower, upper);
  if (error) TrsvPairDestroy(&p);
  *pair = p;
  return error;
}

TrsvError TrsvPairSetValues(TrsvPair *pair, const void *L, const void *U, TrsvMemory memory, TrsvStream stream)
{
  TrsvCall(TrsvPlanSetValues(pair->first.plan, pair->transposed ? U : L, memory, stream));
  return TrsvPlanSetValues(pair->second.plan, pair->transposed ? L : U, memory, stream);
}

/* to[i] = from[index[i]], or to[index[i]] = from[i] where scatter */
static TrsvError Permute(const TrsvPair *pair, const int *index, int scatter, const void *from, void *to, TrsvStream stream)
{
  if (pair->memory == TRSV_DEVICE) return TrsvDevicePermute(pair->rows, index, scatter, pair->precision, from, to, stream);
  for (int i = 0; i < pair->rows; i++) {
    const int at = scatter ? i : index[i], into = scatter ? index[i] : i;

    if (pair->precision == TRSV_FLOAT) ((float *)to)[into] = ((const float *)from)[at];
    else ((double *)to)[into] = ((const double *)from)[at];
  }
  return TRSV_SUCCESS;
}

TrsvError TrsvPairFirst(TrsvPair *pair, const void *b, void *y, TrsvStream stream)
{
  if (!pair->row) return TrsvPlanSolve(pair->first.plan, b, y, stream);
  TrsvCall(Permute(pair, pair->row, 0, b, pair->permuted, stream));
  return TrsvPlanSolve(pair->first.plan, pair->permuted, y, stream);
}

TrsvError TrsvPairSecond(TrsvPair *pair, const void *y, void *x, TrsvStream stream)
{
  if (!pair->column) return TrsvPlanSolveNext(pair->second.plan, y, x, stream);
  TrsvCall(TrsvPlanSolveNext(pair->second.plan, y, pair->permuted, stream));
  return Permute(pair, pair->column, 1, pair->permuted, x, stream);
}

size_t TrsvPairBytes(const TrsvPair *pair)
{
  const size_t vector = TrsvValueSize(pair->precision) * (size_t)pair->rows, index = sizeof(int) * (size_t)pair->rows;

  return TrsvPlanBytes(pair->first.plan) + TrsvPlanBytes(pair->second.plan) + (pair->row ? index : 0) + (pair->column ? index : 0) + (pair->permuted ? vector : 0) + vector;
}

void TrsvPairDestroy(TrsvPair **pair)
{
  TrsvPair *p = *pair;

  if (!p) return;
  TrsvPlanDestroy(&p->first.plan);
  TrsvPlanDestroy(&p->second.plan);
  TrsvFree(p->memory, p->row);
  TrsvFree(p->memory, p->column);
  TrsvFree(p->memory, p->permuted);
  TrsvFree(p->memory, p->between);
  free(p);
  *pair = NULL;
}
