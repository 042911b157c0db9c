/*
   The cases of device.c: what is changed in a KSP, or in its right-hand side, before a solve.
*/
#pragma once

#include "../common.h"

enum { MOST = 400 };

/* The result of one solve */
typedef struct {
  KSPConvergedReason reason;
  PetscInt           iterations, seen; /* seen: by the monitor, or the test */
  PetscReal          norm, history[MOST + 2], solution_norm[MOST + 2];
  PetscInt           length;
  Vec                x, b;
} Outcome;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(KSP, Outcome *); /* changes the KSP after its type is set */
  PetscBool   cg;                            /* for cg alone */
  const char *reason;                        /* why PETSc's own type solves, in the view; NULL: it does not */
} Case;

static PetscErrorCode SeeSolution(KSP ksp, PetscInt k, PetscReal norm, void *ctx)
{
  Outcome *o = (Outcome *)ctx;
  Vec      x;

  PetscFunctionBeginUser;
  (void)norm;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, &o->solution_norm[k]));
  o->seen = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops by the norm of the solution, which the device does not compare. */
static PetscErrorCode TestSolution(KSP ksp, PetscInt k, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(SeeSolution(ksp, k, norm, ctx));
  *reason = k == 7 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)o;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP ksp, Outcome *o) { return KSPMonitorSet(ksp, SeeSolution, o, NULL); }
static PetscErrorCode OwnTest(KSP ksp, Outcome *o) { return KSPSetConvergenceTest(ksp, TestSolution, o, NULL); }

static PetscErrorCode FewIterations(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 3);
}
static PetscErrorCode OneIteration(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 1);
}
static PetscErrorCode NoIteration(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 0);
}
static PetscErrorCode Absolute(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-30, 1e-3, PETSC_CURRENT, MOST);
}
static PetscErrorCode Diverges(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, 0.9, MOST);
}
static PetscErrorCode NoNorm(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FewIterations(ksp, o));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MaximumConverges(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FewIterations(ksp, o));
  PetscCall(KSPSetConvergedNegativeCurvature(ksp, PETSC_FALSE));
  PetscCall(KSPConvergedDefaultSetConvergedMaxits(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Minimum(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetMinimumIterations(ksp, 25);
}
static PetscErrorCode Guess(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FillVec(o->x, 5));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode ExactGuess(KSP ksp, Outcome *o)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Guess(ksp, o));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatMult(A, o->x, o->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Right(KSP ksp, Outcome *o)
{
  PetscBool cg;

  PetscFunctionBeginUser;
  (void)o;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &cg, KSPCG, "cgdevice", ""));
  if (cg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RightGuess(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(Right(ksp, o));
  PetscCall(Guess(ksp, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Eigenvalues(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetComputeEigenvalues(ksp, PETSC_TRUE);
}
static PetscErrorCode FewNorms(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetCheckNormIteration(ksp, 6);
}
static PetscErrorCode OnHost(KSP ksp, Outcome *o)
{
  (void)ksp;
  return VecBindToCPU(o->x, PETSC_TRUE);
}
static PetscErrorCode FailedPC(KSP ksp, Outcome *o)
{
  PC pc;

  PetscFunctionBeginUser;
  (void)o;
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Radius(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPCGSetRadius(ksp, 0.5);
}

static PetscErrorCode Target(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPCGSetObjectiveTarget(ksp, -0.1);
}

static const Case cases[] = {
  {"plain", Plain, PETSC_FALSE, NULL},
  {"monitor", Monitor, PETSC_FALSE, NULL},
  {"own test", OwnTest, PETSC_FALSE, NULL},
  {"few iterations", FewIterations, PETSC_FALSE, NULL},
  {"one iteration", OneIteration, PETSC_FALSE, NULL},
  {"no iteration", NoIteration, PETSC_FALSE, NULL},
  {"absolute tolerance", Absolute, PETSC_FALSE, NULL},
  {"divergence", Diverges, PETSC_FALSE, NULL},
  {"no norm", NoNorm, PETSC_FALSE, NULL},
  {"converged at the limit", MaximumConverges, PETSC_FALSE, NULL},
  {"at least 25 iterations", Minimum, PETSC_FALSE, NULL},
  {"initial guess", Guess, PETSC_FALSE, NULL},
  {"exact guess", ExactGuess, PETSC_FALSE, NULL},
  {"right preconditioner", Right, PETSC_FALSE, NULL},
  {"right, and a guess", RightGuess, PETSC_FALSE, "there is an initial guess, and the preconditioner is on the right"},
  {"no norms before the sixth", FewNorms, PETSC_FALSE, "KSPSetCheckNormIteration() leaves out norms"},
  /* on a GPU bcgs of PETSc 3.26 has wrong norms here */
  {"x on the host", OnHost, PETSC_TRUE, "vectors are bound to the host"},
  {"failed preconditioner", FailedPC, PETSC_FALSE, "the preconditioner has failed"},
  {"eigenvalues", Eigenvalues, PETSC_TRUE, "eigenvalues or singular values are estimated"},
  {"trust region", Radius, PETSC_TRUE, "it has a trust region or a target"},
  {"objective target", Target, PETSC_TRUE, "it has a trust region or a target"},
};
