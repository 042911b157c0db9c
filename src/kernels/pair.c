/*
   Pairs: the plans of both factors of a matrix, or of their transposes.
*/
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "impl.h"

static double Seconds(void)
{
  struct timespec t;

  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static TrsvError Choose(const TrsvPair *pair, const TrsvAlgorithm *asked, TrsvPairMember *m)
{
  if (!asked) {
    m->algorithm = TrsvSelect(&m->statistics, pair->memory, m->why, sizeof(m->why));
    return TRSV_SUCCESS;
  }
  m->algorithm = asked;
  (void)snprintf(m->why, sizeof(m->why), "asked for");
  if (asked->memory == pair->memory) return TRSV_SUCCESS;
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on a %s, but the matrix lives on %s", asked->name, asked->memory == TRSV_HOST ? "host" : "GPU", pair->memory == TRSV_HOST ? "the host" : "a GPU");
}

static TrsvError MakeMember(const TrsvPair *pair, const TrsvMatrix *A, const TrsvAlgorithm *asked, TrsvPairMember *m)
{
  const double  start    = Seconds();
  TrsvMatrix    T        = *A;
  int          *offsets  = NULL;
  const int    *source   = NULL;
  TrsvAnalysis *analysis = NULL;
  TrsvError     error    = TRSV_SUCCESS;

  if (pair->transposed) error = TrsvTranspose(A, &T, &offsets, &source);
  if (!error) error = TrsvAnalyse(&T, &analysis);
  if (!error) {
    m->statistics = analysis->statistics;
    error         = Choose(pair, asked, m);
  }
  if (!error) error = TrsvPlanCreate(&T, analysis, source, A->offsets[A->rows], m->algorithm, &m->plan);
  TrsvAnalysisDestroy(&analysis);
  free(offsets);
  m->seconds = Seconds() - start;
  return error;
}

TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, int transposed, TrsvMemory memory, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper, TrsvPair **pair)
{
  const size_t between = TrsvValueSize(L->precision) * (size_t)L->rows;
  TrsvPair    *p;
  TrsvError    error;

  *pair = NULL;
  p     = calloc(1, sizeof(*p));
  if (!p) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a pair of plans");
  p->memory     = memory;
  p->transposed = transposed;
  error         = MakeMember(p, transposed ? U : L, transposed ? upper : lower, &p->first);
  if (!error) error = MakeMember(p, transposed ? L : U, transposed ? lower : upper, &p->second);
  if (!error) error = memory == TRSV_HOST ? TrsvAlloc(between, &p->between) : TrsvDeviceAlloc(between, &p->between);
  if (error) TrsvPairDestroy(&p);
  *pair = p;
  return error;
}

TrsvError TrsvPairSetValues(TrsvPair *pair, const void *L, const void *U, TrsvMemory memory, TrsvStream stream)
{
  TrsvCall(TrsvPlanSetValues(pair->first.plan, pair->transposed ? U : L, memory, stream));
  return TrsvPlanSetValues(pair->second.plan, pair->transposed ? L : U, memory, stream);
}

size_t TrsvPairBytes(const TrsvPair *pair)
{
  return TrsvPlanBytes(pair->first.plan) + TrsvPlanBytes(pair->second.plan);
}

void TrsvPairDestroy(TrsvPair **pair)
{
  if (!*pair) return;
  TrsvPlanDestroy(&(*pair)->first.plan);
  TrsvPlanDestroy(&(*pair)->second.plan);
  if ((*pair)->memory == TRSV_HOST) free((*pair)->between);
  else TrsvDeviceFree((*pair)->between);
  free(*pair);
  *pair = NULL;
}
