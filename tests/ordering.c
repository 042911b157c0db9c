static char help[] = "Which order -pc_sptrsvgpu_ordering auto keeps to, set-up after set-up: on a GPU multicolour, until a KSP does not converge in it, or values, or iterations, tell against it.\n\n";

#include "common.h"
#include <sptrsvgpu.h>

/* Five points whose lines are next to uncoupled: ILU(0) in the natural order leaves next to nothing out, in multicolour it does */
static PetscErrorCode Lines(Mat A)
{
  PetscInt n, start, end;

  PetscFunctionBeginUser;
  PetscCall(ProblemFill(A, PROBLEM_POISSON, 0));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt m = (PetscInt)PetscSqrtReal((PetscReal)n);

    PetscCall(MatSetValue(A, i, i, 2 + 2e-6, INSERT_VALUES));
    if (i >= m) PetscCall(MatSetValue(A, i, i - m, -1e-6, INSERT_VALUES));
    if (i < n - m) PetscCall(MatSetValue(A, i, i + m, -1e-6, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Five points with a zero pivot, but in the natural order alone: the entry is one of a row that depends on others in multicolour */
static PetscErrorCode Pivot(Mat A)
{
  const PetscInt row = 4;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(ProblemFill(A, PROBLEM_POISSON, 0));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  if (start == 0) {
    PetscCall(MatSetValue(A, row, row, 0, INSERT_VALUES));
    PetscCall(MatSetValue(A, row, row - 1, 0, INSERT_VALUES));
    PetscCall(MatSetValue(A, row - 1, row, 0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve, and the order that it was done in */
static PetscErrorCode SolveFilled(const char what[], KSP ksp, PetscInt most, PetscBool converges, SpTRSVGPUOrdering expected)
{
  Mat                A;
  Vec                b, x;
  PC                 pc;
  KSPConvergedReason reason;
  SpTRSVGPUOrdering  ordering;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, most));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSpTRSVGPUGetOrdering(pc, &ordering));
  if ((reason > 0) != converges) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, KSPConvergedReasons[reason]));
  if (ordering != expected) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, should be %s\n", what, SpTRSVGPUOrderings[ordering], SpTRSVGPUOrderings[expected]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values before it */
static PetscErrorCode Solve(const char what[], KSP ksp, Problem problem, PetscReal s, PetscInt most, PetscBool converges, SpTRSVGPUOrdering expected)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(ProblemFill(A, problem, s));
  PetscCall(SolveFilled(what, ksp, most, converges, expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that has been seen is forgotten. */
static PetscErrorCode Anew(KSP ksp, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations rise: the natural order is tried, and stays where it takes fewer. device: there auto had taken multicolour. */
static PetscErrorCode Rise(KSP ksp, SpTRSVGPUOrdering chosen, PetscBool device)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(PetscObjectReference((PetscObject)A)); /* a KSP that starts anew gives it back */
  PetscCall(Anew(ksp, A));
  PetscCall(Solve("few", ksp, PROBLEM_POISSON, 1000, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("many", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("tried", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("in vain", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("as many", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));

  PetscCall(Anew(ksp, A));
  PetscCall(Solve("few again", ksp, PROBLEM_POISSON, 1000, 10000, PETSC_TRUE, chosen));
  PetscCall(Lines(A));
  PetscCall(SolveFilled("lines", ksp, 10000, PETSC_TRUE, chosen));
  PetscCall(Lines(A));
  PetscCall(SolveFilled("lines tried", ksp, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Lines(A));
  PetscCall(SolveFilled("lines kept", ksp, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("and kept", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));

  PetscCall(KSPSetType(ksp, KSPGMRES)); /* for what is not symmetric, or not definite */
  PetscCall(Anew(ksp, A));
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONE));
  PetscCall(Solve("few for a pivot", ksp, PROBLEM_POISSON, 1000, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("many for a pivot", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(Pivot(A));
  PetscCall(SolveFilled("a zero pivot in the natural order", ksp, 10000, device, chosen)); /* tried, and back at once */
  PetscCall(Solve("not tried again", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));

  PetscCall(Anew(ksp, A));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(Solve("few, no errors", ksp, PROBLEM_POISSON, 1000, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("many, no errors", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("a trial may fail", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_FALSE));

  PetscCall(Anew(ksp, A));
  PetscCall(Solve("symmetric", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("unsymmetric", ksp, PROBLEM_CONVECTION, 0, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("symmetric again", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat               A, F, G;
  KSP               ksp;
  PC                pc;
  Problem           problem = PROBLEM_POISSON;
  SpTRSVGPUOrdering chosen = SPTRSVGPU_ORDERING_NATURAL;
  PetscReal         seconds;
  PetscBool         device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 122500, &problem, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  if (device) chosen = SPTRSVGPU_ORDERING_BMC;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve("first", ksp, problem, 0.5, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(Solve("confirmed", ksp, problem, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &G));
  if (F != G) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "confirmed, but another factor\n"));
  PetscCall(Solve("fails", ksp, problem, 1.5, 2, PETSC_FALSE, chosen));
  PetscCall(Solve("after the failure", ksp, problem, 2, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("and from then on", ksp, problem, 2.5, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("fails in the natural order, too", ksp, problem, 1.5, 2, PETSC_FALSE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("after both failures", ksp, problem, 2, 2, PETSC_FALSE, chosen));
  PetscCall(Solve("and for good", ksp, problem, 2.5, 2, PETSC_FALSE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUSetTuneSeconds(F, 3));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_BMC));
  PetscCall(Solve("asked for", ksp, problem, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_BMC));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetTuneSeconds(F, &seconds));
  if (seconds != 3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another order: settings of the factor are lost\n"));
  PetscCall(Solve("asked for, fails", ksp, problem, 1.5, 2, PETSC_FALSE, SPTRSVGPU_ORDERING_BMC));
  PetscCall(Solve("asked for, again", ksp, problem, 2, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_BMC));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(Rise(ksp, chosen, device));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: auto
         args: -pc_sptrsvgpu_factor {{ilu icc}}
      test:
         suffix: auto_ranks
         nsize: 2

TEST*/
