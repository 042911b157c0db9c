/*
   A run of a way to solve a system: see rivals.h.
*/
#include <math.h>
#include "rivals.h"

static const double seldom = 1500, often = 30;     /* ms: longer runs are not repeated; runs take so long together */
static const double a_round = 10, rounding = 1e-8; /* ms of applies, at least; how far they may be off */

/* The same on all ranks. */
static PetscErrorCode Now(double *ms)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(SystemNow(ms));
  PetscCallMPI(MPI_Bcast(ms, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellApply(PC pc, Vec b, Vec x)
{
  Rival *rival;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &rival));
  PetscCall(RivalApply(rival, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Open(const System *s, int way, KSP *ksp)
{
  Mat A = s->A[s->rival[way] != NULL];
  PC  pc;

  PetscFunctionBeginUser;
  if (ways[way].ordering) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", ways[way].ordering));
  if (ways[way].ordering) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_factor", "ilu")); /* not icc if SPD */
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, ways[way].device ? "cgdevice" : s->cg ? KSPCG : KSPGMRES));
  PetscCall(KSPGMRESSetRestart(*ksp, 60));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, s->cg ? 10000 : 2000));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, ways[way].pc));
  if (ways[way].ordering) PetscCall(PCSetFromOptions(pc));
  if (s->rival[way]) {
    PetscCall(PCShellSetContext(pc, s->rival[way]));
    PetscCall(PCShellSetApply(pc, ShellApply));
  }
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(Vec from, Vec to)
{
  const PetscScalar *a;
  PetscScalar       *x;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &a));
  PetscCall(VecGetArrayWrite(to, &x));
  PetscCall(PetscArraycpy(x, a, n));
  PetscCall(VecRestoreArrayWrite(to, &x));
  PetscCall(VecRestoreArrayRead(from, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far the result of an apply is off, over the norm. */
static PetscErrorCode Compare(const System *s, int way, Vec x, double *error)
{
  Vec       mine;
  PetscReal off, all;

  PetscFunctionBeginUser;
  *error = -1;
  if (ways[way].check == UNCHECKED) PetscFunctionReturn(PETSC_SUCCESS);
  *error = PETSC_MAX_REAL;
  PetscCall(VecDuplicate(s->b, &mine));
  for (int o = 0; o < 2; o++) {
    if (!(ways[way].check & (o ? MULTICOLOR : NATURAL))) continue;
    PetscCall(Copy(x, mine));
    if (s->rival[way]) PetscCall(VecPermute(mine, s->order, PETSC_TRUE));
    PetscCall(VecAXPY(mine, -1, s->x[o]));
    PetscCall(VecNorm(mine, NORM_INFINITY, &off));
    PetscCall(VecNorm(s->x[o], NORM_INFINITY, &all));
    if (off <= *error * all) *error = off / all; /* NaN is not */
  }
  PetscCall(VecDestroy(&mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time of an apply, many in the stream and one wait; what the last one leaves in poisoned memory is checked. */
static PetscErrorCode Applies(const System *s, int way, PC pc, Result *r)
{
  Vec       b, x, mine;
  double    start, end;
  PetscReal ms[ROUNDS];
  int       applies = 3;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(s->A[0], &x, &b));
  PetscCall(VecSet(b, 1));
  if (s->b) {
    PetscCall(VecDuplicate(s->b, &mine));
    PetscCall(VecCopy(s->b, mine));
    if (s->rival[way]) PetscCall(VecPermute(mine, s->order, PETSC_FALSE));
    PetscCall(Copy(mine, b));
    PetscCall(VecDestroy(&mine));
  }
  for (int round = -1; round < ROUNDS; round++) {
    PetscCall(VecSet(x, NAN));
    PetscCall(Now(&start));
    for (int i = 0; i < applies; i++) PetscCall(PCApply(pc, b, x));
    PetscCall(Now(&end));
    if (round >= 0) ms[round] = (end - start) / applies;
    else applies = 1 + (int)PetscMin(a_round * applies / (end - start), 1e4);
  }
  PetscCall(PetscSortReal(ROUNDS, ms));
  r->apply = ms[ROUNDS / 2];
  PetscCall(Compare(s, way, x, &r->error));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCheck(r->error <= rounding, PETSC_COMM_SELF, PETSC_ERR_PLIB, "an apply is off by %g", r->error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(Mat A, Vec b, Vec x, double *residual)
{
  Vec       left;
  PetscReal norm, all;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &left));
  PetscCall(MatResidual(A, b, x, left));
  PetscCall(VecNorm(left, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &all));
  *residual = norm / all;
  PetscCall(VecDestroy(&left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalsRun(System *s, int way, const Asked *asked, int run)
{
  Result *const r = &s->r[way];
  KSP           ksp;
  PC            pc;
  Vec           b, x;
  double        start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(s->A[0], &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0));
  PetscCall(Now(&start));
  PetscCall(Open(s, way, &ksp));
  PetscCall(Now(&end));
  r->setup[run] = end - start;
  PetscCall(KSPGetPC(ksp, &pc));
  if (!run) {
    PetscCall(Applies(s, way, pc, r));
    r->most = (PetscInt)PetscMin(1e3 * asked->limit / r->apply, s->cg ? 10000 : 2000);
  }
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, r->most));
  PetscCall(Now(&start));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Now(&end));
  r->solve[run] = end - start;
  if (!run) {
    PetscCall(KSPGetIterationNumber(ksp, &r->iterations));
    PetscCall(KSPGetConvergedReason(ksp, &r->reason));
    r->stopped = (PetscBool)(r->reason == KSP_DIVERGED_ITS && r->most < (s->cg ? 10000 : 2000));
    PetscCall(Residual(s->A[s->rival[way] != NULL], b, x, &r->residual));
  } else {
    r->runs = run;
    r->spent += r->setup[run] + r->solve[run];
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool RivalsAgain(const Result *r, const Asked *asked)
{
  if (*r->failure || r->reason <= 0 || r->setup[0] + r->solve[0] > seldom || r->runs == RUNS_MOST) return PETSC_FALSE;
  return (PetscBool)(r->runs < asked->runs || r->spent < often);
}
