/*
   Pairs: the plans of both factors of a matrix, or of their transposes.
*/
#include <stdio.h>
#include <stdlib.h>
#include "solve/solve.h"

/* Sets m->choice: the named algorithm, or the known choice, or a new one. */
static TrsvError ChooseAlgorithm(const TrsvPair *pair, TrsvSelection selection, const TrsvAlgorithm *named,
                                 const TrsvChoice *known, TrsvPairMember *m)
{
  if (named)
    m->choice = (TrsvChoice){named, 0, "asked for"};
  else if (known && known->algorithm && selection != TRSV_SELECT_GRANULARITY)
    m->choice = *known;
  else
    m->choice = TrsvSelect(&m->statistics, pair->memory, pair->precision, selection);
  if (!m->choice.algorithm)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "there is no algorithm for %s values on a GPU in this build",
                    TrsvIsComplex(pair->precision) ? "complex" : "real");
  if (!named || named->memory == pair->memory) return TRSV_SUCCESS;
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on a %s, but the matrix lives on %s", named->name,
                  named->memory == TRSV_HOST ? "host" : "GPU", pair->memory == TRSV_HOST ? "the host" : "a GPU");
}

/* Makes the plan of the algorithm in m->choice. */
static TrsvError MakePlan(const TrsvPair *pair, const TrsvMatrix *T, const TrsvAnalysis *analysis, const int *source,
                          int entries, const TrsvPermutation *places, int named, int alone, TrsvPairMember *m)
{
  const TrsvAlgorithm *a = m->choice.algorithm;
  TrsvError            error, instead;

  if (named) return TrsvPlanCreatePlaced(T, analysis, source, entries, places, a, 0, &m->plan);
  error = TrsvPlanCreateChosen(T, analysis, source, entries, places, a, alone, &instead, &m->plan);
  if (!instead) return error;
  (void)snprintf(m->choice.reason, sizeof(m->choice.reason),
                 instead == TRSV_ERR_MEMORY ? "no memory for a plan of %s" : "%s cannot run here", a->name);
  if (m->plan) m->choice.algorithm = m->plan->algorithm;
  if (m->choice.predicted > 0) m->choice.predicted = TrsvPredict(m->choice.algorithm, &m->statistics, pair->precision);
  return error;
}

/* The arguments of MakeMember. */
typedef struct {
  const TrsvPair      *pair;
  const TrsvMatrix    *A;
  TrsvPermutation      places;
  TrsvSelection        selection;
  const TrsvAlgorithm *named;
  const TrsvChoice    *known;
  TrsvPairMember      *member;
  int                  alone; /* the other member is not made at the same time */
} MemberRequest;

static TrsvError MakeMember(void *request)
{
  const MemberRequest *const k        = request;
  const double               start    = TrsvSeconds();
  TrsvMatrix                 T        = *k->A;
  int                       *offsets  = NULL;
  const int                 *source   = NULL;
  const TrsvAnalysis        *analysis = NULL;
  TrsvAnalysis              *made     = NULL;
  TrsvError                  error    = k->pair->transposed ? TrsvTranspose(k->A, &T, &offsets, &source) : TRSV_SUCCESS;

  if (!error) error = TrsvAnalysisGet(&T, &analysis, &made);
  if (!error) {
    k->member->statistics = analysis->statistics;
    error                 = ChooseAlgorithm(k->pair, k->selection, k->named, k->known, k->member);
  }
  if (!error)
    error = MakePlan(k->pair, &T, analysis, source, TrsvStored(&T, analysis), &k->places, k->named != NULL, k->alone,
                     k->member);
  TrsvAnalysisDestroy(&made);
  TrsvFree(k->A->memory, offsets);
  k->member->seconds = TrsvSeconds() - start;
  return error;
}

/* 1 if the two plans are made at the same time. With few level sets that saves nothing. With large factors one analysis
   would wait for the launches of the other, and the peak of memory would be higher. */
static int AreMadeTogether(const TrsvPair *p, const TrsvMatrix *L)
{
  static const int  large = 1 << 22; /* rows */
  static const long many  = 1 << 25; /* entries */

  return p->memory == TRSV_DEVICE && p->rows < large && L->analysis &&
         L->analysis->statistics.levels > TRSV_FEW_LEVELS && L->analysis->statistics.nnz < many;
}

void TrsvPairUnfuse(TrsvPair *p)
{
  if (p->fused) p->fused->launch->destroy(&p->fused);
}

TrsvError TrsvPairFuse(TrsvPair *p)
{
  const TrsvAlgorithm *const first = p->forward.plan->algorithm;

  TrsvPairUnfuse(p);
  if (!p->rows || !first->pair || p->backward.plan->algorithm != first) return TRSV_SUCCESS;
  return first->pair->create(p->forward.plan, p->backward.plan, p->work, &p->fused);
}

static TrsvError MakePlans(TrsvPair *p, const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column,
                           TrsvSelection selection, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper,
                           const TrsvChoice *known)
{
  const int     t        = p->transposed;
  MemberRequest forward  = {p,           t ? U : L,         {t ? column : row, NULL},
                            selection,   t ? upper : lower, t ? NULL : known,
                            &p->forward, 0};
  MemberRequest backward = {p,            t ? L : U,         {NULL, t ? row : column},
                            selection,    t ? lower : upper, NULL,
                            &p->backward, 0};
  int           alone    = !AreMadeTogether(p, L);
  TrsvError     error;

  if (!alone) {
    error = TrsvRunInterleaved(MakeMember, &forward, &backward);
    alone = error == TRSV_ERR_MEMORY; /* makes both again: otherwise the choice would depend on timing */
  }
  if (alone) {
    TrsvPlanDestroy(&p->forward.plan);
    TrsvPlanDestroy(&p->backward.plan);
    forward.alone = backward.alone = 1;
    TrsvCall(MakeMember(&forward));
    error = MakeMember(&backward);
  }
  TrsvCall(error);
  TrsvCall(TrsvAllocIn(p->memory, TrsvValueSize(p->precision) * (size_t)p->rows, &p->work));
  return TrsvPairFuse(p);
}

TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed,
                         TrsvMemory memory, TrsvSelection selection, const TrsvAlgorithm *lower,
                         const TrsvAlgorithm *upper, const TrsvChoice *known, TrsvPair **pair)
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
  error         = MakePlans(p, L, U, row, column, selection, lower, upper, known);
  if (error) TrsvPairDestroy(&p);
  *pair = p;
  return error;
}

TrsvError TrsvPairSetValues(TrsvPair *pair, const void *L, const void *U, TrsvMemory memory, TrsvStream stream)
{
  if (!L && pair->rows && (pair->transposed || !pair->forward.plan->filled))
    return TrsvFail(TRSV_ERR_ARGUMENT, "there are no values of L");
  if (L) TrsvCall(TrsvPlanSetValues(pair->forward.plan, pair->transposed ? U : L, memory, stream));
  TrsvCall(TrsvPlanSetValues(pair->backward.plan, pair->transposed ? L : U, memory, stream));
  return pair->fused ? pair->fused->launch->ready(pair->fused, stream)
                     : TRSV_SUCCESS; /* TrsvFactorSetValues may have written p->work */
}

TrsvError TrsvPairSolve(TrsvPair *pair, const void *b, void *x, TrsvStream stream)
{
  if (pair->fused) return pair->fused->launch->solve(pair->fused, b, x, stream);
  TrsvCall(TrsvPairForward(pair, b, pair->work, stream));
  return TrsvPairBackward(pair, pair->work, x, stream);
}

/* Checks that half a solve may use y. */
static TrsvError CheckHalf(const TrsvPair *pair, const void *y)
{
  return pair->fused && y == pair->work
             ? TrsvFail(TRSV_ERR_ARGUMENT, "this pair is solved in one launch, which has its vector for itself")
             : TRSV_SUCCESS;
}

TrsvError TrsvPairForward(TrsvPair *pair, const void *b, void *y, TrsvStream stream)
{
  TrsvCall(CheckHalf(pair, y));
  return TrsvPlanSolve(pair->forward.plan, b, y, stream);
}

TrsvError TrsvPairBackward(TrsvPair *pair, const void *y, void *x, TrsvStream stream)
{
  TrsvCall(CheckHalf(pair, y));
  return TrsvPlanSolveNext(pair->backward.plan, y, x, stream);
}

size_t TrsvPairBytes(const TrsvPair *pair)
{
  return TrsvPlanBytes(pair->forward.plan) + TrsvPlanBytes(pair->backward.plan) +
         TrsvValueSize(pair->precision) * (size_t)pair->rows;
}

void TrsvPairDestroy(TrsvPair **pair)
{
  TrsvPair *p = *pair;

  if (!p) return;
  TrsvPairUnfuse(p);
  TrsvPlanDestroy(&p->forward.plan);
  TrsvPlanDestroy(&p->backward.plan);
  TrsvFree(p->memory, p->work);
  free(p);
  *pair = NULL;
}
