static char help[] = "Which order -pc_sptrsvgpu_ordering auto keeps to, set-up after set-up: on a GPU multicolor, "
                     "until ILU(0) discards much more fill in it.\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

static PetscInt few = PetscDefined(USE_REAL_SINGLE) ? 10
                    : PetscDefined(USE_COMPLEX)     ? 20
                                                    : 100; /* iterations, too few to converge */

/* Sets new values, solves, and prints the order of the solve */
static PetscErrorCode Solve(const char what[], KSP ksp, Problem problem, PetscReal s, PetscInt most,
                            PetscBool converges, SpTRSVGPUOrdering expected)
{
  Mat                A;
  Vec                b, x;
  PC                 pc;
  KSPConvergedReason reason;
  SpTRSVGPUOrdering  ordering;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(ProblemFill(A, problem, s));
  PetscCall(KSPSetTolerances(ksp, KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, most));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSpTRSVGPUGetChosenOrdering(pc, &ordering));
  if ((reason > 0) != converges)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", what, KSPConvergedReasons[reason]));
  if (ordering != expected)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, should be %s\n", what, SpTRSVGPUOrderings[ordering],
                          SpTRSVGPUOrderings[expected]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Information from earlier values is discarded. */
static PetscErrorCode SolveAnew(KSP ksp, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only set-ups: a negative diagonal; pivots of the first rank that are not positive in multicolor, though the diagonal
   is: all ranks change the order. */
static PetscErrorCode CheckPivots(KSP ksp, SpTRSVGPUOrdering chosen)
{
  PC                pc;
  Mat               A, local, F;
  Vec               diagonal;
  MatFactorType     type;
  PetscReal         most;
  PetscMPIInt       rank;
  SpTRSVGPUOrdering ordering, expected = chosen;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatGetDiagonalBlock(A, &local));
  for (int indefinite = 0; indefinite < 2; indefinite++) {
    PetscCall(SolveAnew(ksp, A));
    PetscCall(ProblemFill(A, PROBLEM_POISSON, 1));
    PetscCall(MatCreateVecs(A, NULL, &diagonal));
    PetscCall(MatGetDiagonal(A, diagonal));
    PetscCall(VecMax(diagonal, NULL, &most));
    PetscCall(VecDestroy(&diagonal));
    if (!indefinite) PetscCall(MatScale(A, -1));
    else if (!rank) PetscCall(MatShift(local, -0.7 * most));
    PetscCall(KSPSetUp(ksp));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatGetFactorType(F, &type));
    if (type == MAT_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS);
    if (indefinite) expected = SPTRSVGPU_ORDERING_NATURAL;
    PetscCall(PCSpTRSVGPUGetChosenOrdering(pc, &ordering));
    if (ordering != expected)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, should be %s\n",
                            indefinite ? "not positive definite" : "negative definite", SpTRSVGPUOrderings[ordering],
                            SpTRSVGPUOrderings[expected]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values describe a flow; with ICC they are not looked at. */
static PetscErrorCode CheckFlow(KSP ksp, SpTRSVGPUOrdering chosen)
{
  PC                pc;
  Mat               F;
  MatFactorType     type, now;
  SpTRSVGPUOrdering then;

  PetscFunctionBeginUser;
  PetscCall(Solve("diffusion", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  then = type == MAT_FACTOR_ICC ? chosen : SPTRSVGPU_ORDERING_NATURAL;
  PetscCall(Solve("flow", ksp, PROBLEM_CONVECTION, 0, 10000, PETSC_TRUE, then));
  PetscCall(Solve("flow, fails", ksp, PROBLEM_CONVECTION, 0, few, PETSC_FALSE, then));
  PetscCall(Solve("after that", ksp, type == MAT_FACTOR_ICC ? PROBLEM_CONVECTION : PROBLEM_POISSON, 1, 10000,
                  PETSC_TRUE, then));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &now));
  if (now != type)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another order, and %s instead of %s\n", MatFactorTypes[now],
                          MatFactorTypes[type])); /* ICC's matrix was no longer known to be SPD */
  PetscCall(Solve("diffusion again", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, then));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the new values of one rank describe a flow, all ranks change the order, but not with ICC. */
static PetscErrorCode CheckFlowOnOne(KSP ksp, SpTRSVGPUOrdering chosen)
{
  PC            pc;
  Mat           F;
  MatFactorType type;
  PetscMPIInt   rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Solve("diffusion on all ranks", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(Solve("flow on one rank", ksp, rank ? PROBLEM_POISSON : PROBLEM_CONVECTION, 1, 10000, PETSC_TRUE,
                  type == MAT_FACTOR_ICC ? chosen : SPTRSVGPU_ORDERING_NATURAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a symbolic phase on the host a multicolor factor has the natural order. */
static PetscErrorCode CheckBoundToHost(KSP ksp, SpTRSVGPUOrdering chosen)
{
  PC                pc;
  Mat               A, F;
  MatFactorType     type;
  MatFactorInfo     info;
  SpTRSVGPUOrdering ordering;

  PetscFunctionBeginUser;
  PetscCall(Solve("before the matrix is bound", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_sptrsvgpu_algorithm"));
  for (int f = 0; f < 2; f++) PetscCall(MatSpTRSVGPUSetAlgorithm(F, (SpTRSVGPUTriangle)f, "auto"));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetFactorType(F, &type));
  if (type == MAT_FACTOR_ICC) PetscCall(MatICCFactorSymbolic(F, A, NULL, &info));
  else PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(PCSpTRSVGPUGetChosenOrdering(pc, &ordering));
  if (ordering != SPTRSVGPU_ORDERING_NATURAL)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "bound to the host, but %s\n", SpTRSVGPUOrderings[ordering]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that was bound to the host for one set-up, and then is on the GPU again: its factor stays on the host. */
static PetscErrorCode CheckBoundOnce(KSP ksp, SpTRSVGPUOrdering chosen)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(Solve("before the matrix is bound once", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(MatBindToCPU(A, PETSC_TRUE));
  PetscCall(Solve("bound", ksp, PROBLEM_POISSON, 2, 10000, PETSC_TRUE, chosen));
  PetscCall(MatBindToCPU(A, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_FALSE)); /* the values of a matrix that is known to be symmetric suit */
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE));
  PetscCall(MatScale(A, 2));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Solve("no longer bound", ksp, PROBLEM_POISSON, 1, 10000, PETSC_TRUE, chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat               A, F, G;
  KSP               ksp;
  PC                pc;
  Problem           problem = PROBLEM_POISSON;
  SpTRSVGPUOrdering chosen  = SPTRSVGPU_ORDERING_NATURAL;
  PetscReal         seconds;
  PetscBool         device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-few", &few, NULL));
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
  PetscCall(Solve("confirmed", ksp, problem, 1, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &G));
  if (F != G) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "confirmed, but another factor\n"));
  PetscCall(Solve("fails", ksp, problem, 0, few, PETSC_FALSE, chosen));
  PetscCall(Solve("after the failure", ksp, problem, 2, 10000, PETSC_TRUE, chosen));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUSetTuneSeconds(F, 3));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(Solve("asked for", ksp, problem, 1, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetTuneSeconds(F, &seconds));
  if (seconds != 3) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "another order: settings of the factor are lost\n"));
  PetscCall(Solve("asked for, fails", ksp, problem, 0, few, PETSC_FALSE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(Solve("asked for, again", ksp, problem, 2, 10000, PETSC_TRUE, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_AUTO));
  PetscCall(SolveAnew(ksp, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(CheckFlow(ksp, chosen));
  PetscCall(SolveAnew(ksp, A));
  PetscCall(CheckFlowOnOne(ksp, chosen));
  PetscCall(CheckPivots(ksp, chosen));
  PetscCall(SolveAnew(ksp, A));
  PetscCall(CheckBoundOnce(ksp, chosen));
  PetscCall(SolveAnew(ksp, A));
  PetscCall(CheckBoundToHost(ksp, chosen));
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
         args: -pc_sptrsvgpu_factor {{ilu icc}}

TEST*/
