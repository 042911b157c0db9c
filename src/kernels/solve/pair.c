/*
   Pairs: the plans of both factors of a matrix, or of their transposes.
*/
#include <stdio.h>
#include <stdlib.h>
#include "solve/solve.h"

TrsvMemberTask TrsvPairTask(TrsvPair *p, int second, const TrsvMatrix *L, const TrsvMatrix *U, const int *row,
                            const int *column, const TrsvAlgorithm *lower, const TrsvAlgorithm *upper)
{
  const int t = p->transposed, of_U = second != t;

  return (TrsvMemberTask){.pair           = p,
                          .member         = second ? &p->backward : &p->forward,
                          .A              = of_U ? U : L,
                          .named          = of_U ? upper : lower,
                          .places.b_index = second ? NULL : t ? column : row,
                          .places.x_index = !second ? NULL : t ? row : column};
}

TrsvError TrsvTaskAnalyze(TrsvMemberTask *t)
{
  t->T = *t->A;
  if (t->pair->transposed) TrsvCall(TrsvTranspose(t->A, &t->T, &t->offsets, &t->source));
  if (!t->T.analysis) TrsvCall(TrsvAnalyze(&t->T, &t->made));
  t->analysis = t->made ? t->made : t->T.analysis;
  t->entries  = TrsvStoredEntries(&t->T, t->analysis);
  return TRSV_SUCCESS;
}

void TrsvTaskFree(TrsvMemberTask *t)
{
  TrsvAnalysisDestroy(&t->made);
  TrsvFree(t->A->memory, t->offsets);
  t->offsets = NULL;
}

/* Sets the choice of the member: the named algorithm, or a chosen one. */
static TrsvError ChooseAlgorithm(const TrsvMemberTask *t)
{
  const TrsvPair *const      pair  = t->pair;
  const TrsvAlgorithm *const named = t->named;

  t->member->choice = named ? (TrsvChoice){named, 0, "requested"}
                            : TrsvSelect(&t->member->statistics, pair->memory, pair->precision, t->selection);
  if (!t->member->choice.algorithm)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "there is no algorithm for %s values on a GPU in this build",
                    TrsvIsComplex(pair->precision) ? "complex" : "real");
  if (!named || named->memory == pair->memory) return TRSV_SUCCESS;
  return TrsvFail(TRSV_ERR_UNSUPPORTED, "algorithm %s runs on a %s, but the matrix is on %s", named->name,
                  named->memory == TRSV_HOST ? "host" : "GPU", pair->memory == TRSV_HOST ? "the host" : "a GPU");
}

static TrsvError BeginPlan(const TrsvMemberTask *t)
{
  return TrsvPlanBegin(&t->T, t->analysis, t->source, t->entries, &t->places, t->member->choice.algorithm, 0,
                       &t->member->plan);
}

/* After an error of the chosen algorithm, begins the plan of another one. Returns the error if there is no other. */
static TrsvError ReplacePlan(const TrsvMemberTask *t, TrsvError error)
{
  TrsvChoice *const    c       = &t->member->choice;
  const TrsvAlgorithm *instead = t->named || !error ? NULL : TrsvAlgorithmFallback(c->algorithm, error, t->alone);

  if (!instead) return error;
  (void)snprintf(c->reason, sizeof(c->reason),
                 error == TRSV_ERR_MEMORY ? "no memory for a plan of %s" : "%s cannot run here", c->algorithm->name);
  c->algorithm = instead;
  if (c->predicted > 0) c->predicted = TrsvPredict(instead, &t->member->statistics, t->pair->precision);
  return BeginPlan(t);
}

static TrsvError BeginMember(void *task)
{
  TrsvMemberTask *const t = task;
  TrsvError             error;

  t->start = TrsvSeconds();
  error    = TrsvTaskAnalyze(t);
  if (!error) {
    t->member->statistics = t->analysis->statistics;
    error                 = ChooseAlgorithm(t);
  }
  if (!error) error = ReplacePlan(t, BeginPlan(t));
  if (error) TrsvTaskFree(t);
  return error;
}

static TrsvError EndMember(void *task)
{
  TrsvMemberTask *const t     = task;
  TrsvPlan **const      plan  = &t->member->plan;
  TrsvError             error = TrsvPlanEnd(&t->T, t->analysis, t->source, plan);

  if (error) {
    error = ReplacePlan(t, error);
    if (!error) error = TrsvPlanEnd(&t->T, t->analysis, t->source, plan);
  }
  TrsvTaskFree(t);
  t->member->seconds = TrsvSeconds() - t->start;
  return error;
}

static TrsvError MakeMember(TrsvMemberTask *t)
{
  t->alone = 1;
  TrsvCall(BeginMember(t));
  return EndMember(t);
}

/* 1 if the two plans are made at the same time. With few level sets that saves nothing. With large factors one analysis
   would wait for the launches of the other, and the peak of memory would be higher. The plan of a matrix on the host is
   complete after its first half (AnalyzeCopies of plan.c). */
static int CanRunInLockStep(const TrsvPair *p, const TrsvMatrix *L)
{
  static const int  large = 1 << 22; /* rows */
  static const long many  = 1 << 25; /* entries */

  return p->memory == TRSV_DEVICE && L->memory == TRSV_DEVICE && p->rows < large && L->analysis &&
         L->analysis->statistics.levels > TRSV_FEW_LEVELS && L->analysis->statistics.nnz < many;
}

void TrsvPairUnfuse(TrsvPair *p)
{
  if (p->fused) p->forward.plan->algorithm->pair->destroy(&p->fused);
}

TrsvError TrsvPairFuse(TrsvPair *p)
{
  const TrsvAlgorithm *const first = p->forward.plan->algorithm;

  TrsvPairUnfuse(p);
  if (!p->rows || !first->pair || p->backward.plan->algorithm != first) return TRSV_SUCCESS;
  return first->pair->create(p->forward.plan, p->backward.plan, p->work, &p->fused);
}

static TrsvError MakePlans(TrsvPair *p, TrsvMemberTask *forward, TrsvMemberTask *backward, int together)
{
  TrsvError error = TRSV_SUCCESS;

  if (together) error = TrsvRunInLockStep(BeginMember, EndMember, forward, backward);
  if (!together || error == TRSV_ERR_MEMORY) { /* again: the choice must not depend on the memory of the other plan */
    TrsvPlanDestroy(&p->forward.plan);
    TrsvPlanDestroy(&p->backward.plan);
    TrsvCall(MakeMember(forward));
    error = MakeMember(backward);
  }
  TrsvCall(error);
  TrsvCall(TrsvAllocIn(p->memory, TrsvValueSize(p->precision) * (size_t)p->rows, &p->work));
  return TrsvPairFuse(p);
}

TrsvError TrsvPairCreate(const TrsvMatrix *L, const TrsvMatrix *U, const int *row, const int *column, int transposed,
                         TrsvMemory memory, TrsvSelection selection, const TrsvAlgorithm *lower,
                         const TrsvAlgorithm *upper, TrsvPair **pair)
{
  TrsvPair *p;
  TrsvError error;

  *pair = NULL;
  TrsvCall(TrsvAlloc(sizeof(*p), &p));
  p->memory     = memory;
  p->precision  = L->precision;
  p->rows       = L->rows;
  p->transposed = transposed;
  TrsvMemberTask forward  = TrsvPairTask(p, 0, L, U, row, column, lower, upper),
                 backward = TrsvPairTask(p, 1, L, U, row, column, lower, upper);
  forward.selection = backward.selection = selection;
  error = MakePlans(p, &forward, &backward, CanRunInLockStep(p, L));
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
  if (!pair->fused) return TRSV_SUCCESS; /* else TrsvFactorSetValues may have written pair->work */
  return pair->forward.plan->algorithm->pair->reset(pair->fused, stream);
}

TrsvError TrsvPairSolve(TrsvPair *pair, const void *b, void *x, TrsvStream stream)
{
  if (pair->fused) return pair->forward.plan->algorithm->pair->solve(pair->fused, b, x, stream);
  TrsvCall(TrsvPlanSolve(pair->forward.plan, b, pair->work, stream));
  return TrsvPlanSolveNext(pair->backward.plan, pair->work, x, stream);
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
