static char help[] = "Which order -pc_sptrsvgpu_ordering auto keeps to, set-up after set-up: on a GPU multicolor, until a KSP does not converge in it, or values are no longer symmetric.\n\n";

#include "common.h"
#include <sptrsvgpu.h>

/* New values, a solve, and the order that it was done in */
static PetscErrorCode Solve(const char what[], KSP ksp, Problem problem, PetscReal s, PetscInt most, PetscBool converges, SpTRSVGPUOrdering expected)
{
  Mat                A;
  Vec                b, x;
  PC                 pc;
  KSPConvergedReason reason;
  SpTRSVGPUOrdering  ordering;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(ProblemFill(A, problem, s));
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

/* Does the PC's view tell iterations in multicolor, and those of a converged KSP in the natural order? */
static PetscErrorCode CheckView(const char what[], PC pc, PetscBool multicolor, PetscBool natural)
{
  FILE       *file = tmpfile();
  char        line[512];
  PetscBool   told[2] = {PETSC_FALSE, PETSC_FALSE};
  PetscViewer viewer;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "tmpfile()");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  while (fgets(line, sizeof(line), file)) {
    int iterations, fewer;

    if (sscanf(line, " iterations of the last KSP that converged in multicolor: %d; the natural order's solve is predicted to be the shorter with fewer than %d", &iterations, &fewer) == 2 && iterations > 0 && fewer > 0 && fewer <= iterations) told[0] = PETSC_TRUE;
    if (sscanf(line, " of the last one that converged in the natural order: %d", &iterations) == 1 && iterations > 0) told[1] = PETSC_TRUE;
  }
  fclose(file);
  if (!rank && (told[0] != multicolor || told[1] != natural)) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: the view tells iterations of multicolor %d, of the natural order %d\n", what, told[0], told[1]));
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

/* What says nothing of the order: a KSP that is cut short; NaN in b, or in A; b = 0 after a failure */
static PetscErrorCode Nothing(KSP ksp, SpTRSVGPUOrdering chosen)
{
  Mat A;
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(Solve("cut short", ksp, PROBLEM_POISSON, 0, 99, PETSC_FALSE, chosen));
  PetscCall(Solve("after it", ksp, PROBLEM_POISSON, 0, 10000, PETSC_TRUE, chosen));
  PetscCall(VecSet(b, NAN));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Solve("A of NaN", ksp, PROBLEM_POISSON, NAN, 10000, PETSC_FALSE, chosen));
  PetscCall(Solve("after b and A of NaN", ksp, PROBLEM_POISSON, 0, 100, PETSC_FALSE, chosen));
  PetscCall(VecSet(b, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Solve("after a failure, and 0", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that are no longer symmetric, though the pattern is; ICC looks at one triangle alone */
static PetscErrorCode Unsymmetric(KSP ksp, SpTRSVGPUOrdering chosen)
{
  PC                pc;
  Mat               F;
  MatFactorType     type, now;
  SpTRSVGPUOrdering then;

  PetscFunctionBeginUser;
  PetscCall(Solve("symmetric", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  then = type == MAT_FACTOR_ICC ? chosen : SPTRSVGPU_ORDERING_NATURAL;
  PetscCall(Solve("unsymmetric", ksp, PROBLEM_CONVECTION, 0, 10000, PETSC_TRUE, then));
  PetscCall(Solve("unsymmetric, fails", ksp, PROBLEM_CONVECTION, 0, 100, PETSC_FALSE, then));
  PetscCall(Solve("after that", ksp, type == MAT_FACTOR_ICC ? PROBLEM_CONVECTION : PROBLEM_POISSON, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &now));
  if (now != type) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another order, and %s in place of %s\n", MatFactorTypes[now], MatFactorTypes[type])); /* ICC's was not known to be SPD any more */
  PetscCall(Solve("symmetric again", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
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
  if (device) chosen = SPTRSVGPU_ORDERING_MULTICOLOR;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Solve("first", ksp, problem, 0.5, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(CheckView("first", pc, device, PETSC_FALSE));
  PetscCall(Solve("confirmed", ksp, problem, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &G));
  if (F != G) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "confirmed, but another factor\n"));
  PetscCall(Solve("fails", ksp, problem, 0, 100, PETSC_FALSE, chosen));
  PetscCall(Solve("after the failure", ksp, problem, 2, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(CheckView("after the failure", pc, device, device));
  PetscCall(Solve("and from then on", ksp, problem, 2.5, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("fails in the natural order, too", ksp, problem, 0, 100, PETSC_FALSE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(Solve("after both failures", ksp, problem, 0, 100, PETSC_FALSE, chosen));
  PetscCall(Solve("until it converges", ksp, problem, 0, 100, PETSC_FALSE, chosen));
  PetscCall(Solve("converges", ksp, problem, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(Solve("fails after that", ksp, problem, 0, 100, PETSC_FALSE, chosen));
  PetscCall(Solve("after that failure", ksp, problem, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUSetTuneSeconds(F, 3));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(Solve("asked for", ksp, problem, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetTuneSeconds(F, &seconds));
  if (seconds != 3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another order: settings of the factor are lost\n"));
  PetscCall(Solve("asked for, fails", ksp, problem, 0, 100, PETSC_FALSE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(Solve("asked for, again", ksp, problem, 2, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(Anew(ksp, A));
  PetscCall(Nothing(ksp, chosen));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(Anew(ksp, A));
  PetscCall(Unsymmetric(ksp, chosen));
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
