static char help[] =
  "Where the matrix is on the host, the solves are those of PETSc's own factor: the same bits, in its time.\n\
  -block <size> : every entry of the problem's matrix becomes a block of so many rows, which have one pattern\n\
  -plans        : an algorithm is named, so that there are plans\n\
  -ours, -reference <options> : of the two preconditioners, in quotes, beginning with a space\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

/* Blocks have a dominant diagonal; rows of a block differ in their values only. */
static PetscErrorCode FillMatrix(Mat A, Problem problem, PetscInt n, PetscInt block, PetscReal s)
{
  PetscInt     start, end, count, *cols;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(PetscMalloc2(n + 8, &cols, n + 8, &values));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(ProblemRow(problem, n / block, i / block, s, &count, cols, values));
    for (PetscInt k = 0; k < count; k++)
      for (PetscInt c = 0; c < block; c++) {
        const PetscInt j = block * cols[k] + c;

        PetscCall(MatSetValue(
          A, i, j, i == j ? block * values[k] : values[k] / (PetscScalar)(1 + (i + j) % (block + 1)), INSERT_VALUES));
      }
  }
  PetscCall(PetscFree2(cols, values));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadEvents(const char name[], PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets whether there was an analysis, or a solve with a plan. */
static PetscErrorCode CheckPlans(const char when[], PetscBool expected)
{
  static const char *const names[] = {"SpTRSVAnalysis", "SpTRSVSolveL", "SpTRSVSolveU"};

  PetscFunctionBeginUser;
  for (int e = 0; e < 3; e++) {
    PetscInt count;

    PetscCall(ReadEvents(names[e], &count));
    if ((count > 0) != expected)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " times %s\n", when, count, names[e]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAlgorithms(PC pc, const char should[])
{
  Mat         F;
  const char *name;

  PetscFunctionBeginUser;
  PetscCall(PCFactorGetMatrix(pc, &F));
  for (int f = 0; f < 2; f++) {
    PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, (SpTRSVGPUTriangle)f, &name));
    if (strcmp(name, should)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "algorithm %s, should be %s\n", name, should));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Expects the same bits; for complex numbers by a plan, whose quotients are rounded differently from PETSc's, the same
   up to rounding */
static PetscErrorCode CheckSame(const char when[], const char what[], Vec x, Vec y, PetscBool rounded)
{
  PetscBool same;

  PetscFunctionBeginUser;
  if (rounded) {
    PetscCall(CheckVec(when, x, y, 1e-12));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecEqual(x, y, &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s is not what PETSc's gives\n", when, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares an apply, its transpose, and a solve with all residuals */
static PetscErrorCode Compare(const char when[], KSP ksp[], PetscBool plans)
{
  Mat              A;
  PC               pc[2];
  Vec              b, x[2];
  const PetscReal *history[2];
  PetscInt         n[2];
  PetscBool        same = PETSC_TRUE, rounded = (PetscBool)(plans && PetscDefined(USE_COMPLEX));

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp[0], &A, NULL));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(FillVec(b, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSetUp(ksp[k]));
    PetscCall(KSPGetPC(ksp[k], &pc[k]));
    PetscCall(PCApply(pc[k], b, x[k]));
  }
  PetscCall(CheckSame(when, "PCApply", x[0], x[1], rounded));
  for (int k = 0; k < 2; k++) PetscCall(PCApplyTranspose(pc[k], b, x[k]));
  if (!plans)
    PetscCall(CheckSame(when, "PCApplyTranspose", x[0], x[1],
                        rounded)); /* PETSc adds up columns of the transpose, plans add up rows */
  for (int k = 0; k < 2; k++) {
    PetscCall(VecSet(x[k], 0));
    PetscCall(KSPSolve(ksp[k], b, x[k]));
    PetscCall(KSPGetResidualHistory(ksp[k], &history[k], &n[k]));
  }
  for (PetscInt i = 0; i < PetscMin(n[0], n[1]); i++)
    same = (PetscBool)(same &&
                       PetscAbsReal(history[0][i] - history[1][i]) <= (rounded ? TOLERANCE(1e-6) * history[1][i] : 0));
  if (n[0] != n[1] || !same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: another history of residuals\n", when));
  PetscCall(CheckSame(when, "KSPSolve", x[0], x[1], rounded));
  PetscCall(VecDestroy(&b));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The halves of a solve have their own plans, which take new values as well */
static PetscErrorCode CheckHalves(const char when[], PC pc)
{
  Mat A, F;
  Vec b, x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(FillVec(b, 2));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatForwardSolve(F, b, y));
  PetscCall(MatBackwardSolve(F, y, z));
  PetscCall(CheckVec(when, z, x, 1e-12));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const char *const sets[] = {"-ours", "-reference"};
  Mat                      A;
  KSP                      ksp[2];
  PC                       pc;
  Problem                  problem = PROBLEM_CONVECTION;
  PetscInt                 n = 400, block = 1, local;
  PetscBool                plans = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-problem", Problems, (PetscEnum *)&problem, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-block", &block, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-plans", &plans, NULL));
  local = PETSC_DECIDE;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, block * local, block * local, block * n, block * n));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetUp(A));
  PetscCall(FillMatrix(A, problem, block * n, block, 0));
  if (problem == PROBLEM_POISSON && block == 1) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  for (int k = 0; k < 2; k++) {
    char options[1024] = "";

    PetscCall(PetscOptionsGetString(NULL, NULL, sets[k], options, sizeof(options), NULL));
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[k]));
    PetscCall(KSPSetOperators(ksp[k], A, A));
    PetscCall(KSPSetTolerances(ksp[k], KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, 100));
    PetscCall(KSPSetResidualHistory(ksp[k], NULL, PETSC_DECIDE, PETSC_TRUE));
    PetscCall(KSPSetFromOptions(ksp[k]));
    PetscCall(KSPSetUp(ksp[k])); /* while its options exist */
  }
  PetscCall(Compare("first", ksp, plans));
  PetscCall(FillMatrix(A, problem, block * n, block, 0.5));
  PetscCall(Compare("new values", ksp, plans));
  PetscCall(CheckPlans("solves", plans));
  PetscCall(KSPGetPC(ksp[0], &pc));
  PetscCall(CheckAlgorithms(pc, plans ? "serial" : "petsc"));
  PetscCall(CheckHalves("halves", pc));
  PetscCall(CheckPlans("halves", PETSC_TRUE));
  PetscCall(CheckAlgorithms(pc, plans ? "serial" : "petsc"));
  PetscCall(FillMatrix(A, problem, block * n, block, 1));
  PetscCall(Compare("newer values", ksp, plans));
  PetscCall(CheckHalves("halves with new values", pc));
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      args: -ours " -pc_type sptrsvgpu" -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: ilu
         args: -problem {{convection random chain arrow}} -pc_factor_levels {{0 2}}
      test:
         suffix: ordering
         args: -problem {{convection random}} -pc_factor_mat_ordering_type {{rcm multicolor}} -pc_factor_levels {{0 1}}
      test:
         # rows of one pattern are PETSc's I-nodes
         suffix: inodes
         args: -n 100 -block 3 -problem {{convection random}} -pc_factor_mat_ordering_type {{natural rcm}}
         args: -mat_no_inode {{0 1}}
      test:
         suffix: shift
         args: -problem saddle -pc_factor_shift_type {{nonzero inblocks}}
      test:
         suffix: capellini
         args: -ours " -pc_type capellini"

   testset:
      output_file: output/empty.out
      args: -problem poisson -ksp_type cg -ours " -pc_type sptrsvgpu"
      args: -reference " -pc_type icc -pc_factor_mat_solver_type petsc"
      test:
         suffix: icc
         args: -pc_factor_mat_ordering_type {{natural rcm multicolor}} -pc_factor_levels {{0 2}}

   testset:
      output_file: output/empty.out
      nsize: 2
      test:
         suffix: ranks
         args: -problem {{convection random}} -ours " -pc_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_icc
         args: -problem poisson -ours " -pc_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type petsc"

   test:
      # sums of ILU by rows, in PETSc's order
      suffix: plans
      output_file: output/empty.out
      args: -plans -ours " -pc_type sptrsvgpu -mat_sptrsvgpu_algorithm serial"
      args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"

TEST*/
