static char help[] =
  "Host matrices of every type that PETSc's ILU and ICC take: their bits and iterations, before and after new values.\n\
  -type <type> : of the matrix\n\
  -bs <size> : of its blocks\n\
  -tolerance <tolerance> : of a solution, where it is not to be the same bits\n\
  -once : without new values\n\
  -ours, -reference <options> : of the two solves, in quotes, beginning with a space\n\n";

#include "../common.h"

static PetscErrorCode Create(const char type[], Problem problem, PetscInt n, Mat *A)
{
  PetscInt  bs = 1;
  PetscBool constant, symmetric;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATCONSTANTDIAGONAL, &constant));
  if (constant) {
    PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 3, A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bs", &bs, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(PetscStrendswith(type, "sbaij", &symmetric));
  if (symmetric) PetscCall(MatSetOption(*A, MAT_IGNORE_LOWER_TRIANGULAR, PETSC_TRUE));
  PetscCall(ProblemFill(*A, problem, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refill(Mat A, const char type[], Problem problem)
{
  PetscBool constant;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, MATCONSTANTDIAGONAL, &constant));
  if (constant) PetscCall(MatScale(A, 2));
  else PetscCall(ProblemFill(A, problem, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char when[], const char what[], Vec x, Vec y)
{
  PetscReal tolerance = 0;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-tolerance", &tolerance, NULL));
  if (tolerance > 0) {
    PetscCall(CheckVec(when, x, y, tolerance));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecEqual(x, y, &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s is not what PETSc's gives\n", when, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolves(const char when[], KSP ksp[])
{
  Mat                A;
  PC                 pc[2];
  Vec                b, x[2];
  PetscInt           n[2];
  KSPConvergedReason reason[2];

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp[0], &A, NULL));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(FillVec(b, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPSolve(ksp[k], b, x[k]));
    PetscCall(KSPGetIterationNumber(ksp[k], &n[k]));
    PetscCall(KSPGetConvergedReason(ksp[k], &reason[k]));
    PetscCall(KSPGetPC(ksp[k], &pc[k]));
  }
  if (n[0] != n[1] || reason[0] != reason[1])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " iterations, %s; should be %" PetscInt_FMT ", %s\n",
                          when, n[0], KSPConvergedReasons[reason[0]], n[1], KSPConvergedReasons[reason[1]]));
  PetscCall(Compare(when, "KSPSolve", x[0], x[1]));
  if (reason[1] > 0) {
    for (int k = 0; k < 2; k++) PetscCall(PCApply(pc[k], b, x[k]));
    PetscCall(Compare(when, "PCApply", x[0], x[1]));
    for (int k = 0; k < 2; k++) PetscCall(PCApplyTranspose(pc[k], b, x[k]));
    PetscCall(Compare(when, "PCApplyTranspose", x[0], x[1]));
  }
  PetscCall(VecDestroy(&b));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const char *const sets[]   = {"-ours", "-reference"};
  char                     type[64] = MATAIJ, text[16384] = "";
  Mat                      A;
  KSP                      ksp[2];
  Problem                  problem = PROBLEM_CONVECTION;
  PetscInt                 n       = 144;
  PetscBool                once    = PETSC_FALSE;
  PetscViewer              viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-problem", Problems, (PetscEnum *)&problem, NULL));
  PetscCall(Create(type, problem, n, &A));
  for (int k = 0; k < 2; k++) {
    char options[1024] = "";

    PetscCall(PetscOptionsGetString(NULL, NULL, sets[k], options, sizeof(options), NULL));
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp[k]));
    PetscCall(KSPSetOperators(ksp[k], A, A));
    PetscCall(KSPSetTolerances(ksp[k], KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, 100));
    PetscCall(KSPSetFromOptions(ksp[k]));
    PetscCall(KSPSetUp(ksp[k])); /* while its options exist */
    PetscCall(KSPSetUpOnBlocks(ksp[k]));
  }
  PetscCall(CheckSolves("first", ksp));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-once", &once, NULL));
  if (!once) {
    PetscCall(Refill(A, type, problem));
    PetscCall(CheckSolves("new values", ksp));
  }

  /* the view works, too, and shows the memory of the solves */
  PetscCall(PetscViewerStringOpen(PETSC_COMM_WORLD, text, sizeof(text), &viewer));
  PetscCall(KSPView(ksp[0], viewer));
  PetscCall(PetscViewerDestroy(&viewer));
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
         args: -type {{seqaij seqaijperm seqaijsell seqaijcrl seqbaij seqdense constantdiagonal}}
         args: -problem {{convection random}}
      test:
         suffix: ilu_saddle
         args: -type {{seqaij seqaijperm seqaijsell seqaijcrl seqbaij}} -problem saddle
         args: -pc_factor_shift_type {{none nonzero inblocks}} -pc_factor_shift_amount 0.1
      test:
         suffix: ilu_levels
         args: -type {{seqaijperm seqaijsell seqaijcrl seqbaij}} -pc_factor_levels 2
      test:
         suffix: ilu_ordering
         args: -type {{seqaijperm seqaijsell seqaijcrl seqbaij}} -pc_factor_mat_ordering_type rcm
         args: -pc_factor_levels {{0 1}}
      test:
         suffix: ilu_multicolor
         args: -type {{seqaijperm seqaijsell seqaijcrl}} -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type multicolor"
      test:
         suffix: ilu_blocks
         args: -type seqbaij -bs {{2 3 4}} -pc_factor_levels {{0 1}} -pc_factor_mat_ordering_type {{natural rcm}}
      test:
         suffix: ilu_auto
         args: -type {{seqbaij seqdense}} -ours " -pc_type {{sptrsvgpu capellini}} -pc_sptrsvgpu_ordering auto"
      test:
         suffix: ilu_solver_type
         args: -type {{seqaijperm seqaijsell seqaijcrl seqbaij seqdense constantdiagonal}}
         args: -ours " -pc_type ilu -pc_factor_mat_solver_type sptrsvgpu"
      test:
         suffix: ilu_spd
         # PETSc has no ICC of dense matrices
         args: -type seqdense -problem poisson

   testset:
      output_file: output/empty.out
      args: -problem poisson -ours " -pc_type sptrsvgpu" -reference " -pc_type icc -pc_factor_mat_solver_type petsc"
      test:
         suffix: icc
         args: -type {{seqaij seqaijperm seqaijsell seqaijcrl seqbaij seqsbaij}} -ksp_type {{cg gmres}}
         args: -pc_factor_levels {{0 1}}
      test:
         suffix: icc_symmetric
         args: -type {{seqaijperm seqaijsell seqaijcrl seqsbaij}} -ksp_type gmres -ksp_pc_side symmetric
         args: -tolerance 1e-12
      test:
         suffix: icc_blocks
         args: -type {{seqbaij seqsbaij}} -bs {{2 3}}
      test:
         suffix: icc_saddle
         # not known to be SPD, but there is no ILU
         args: -type seqsbaij -problem saddle
      test:
         suffix: icc_solver_type
         args: -type {{seqaijperm seqaijsell seqaijcrl seqbaij seqsbaij}}
         args: -ours " -pc_type icc -pc_factor_mat_solver_type sptrsvgpu"
      test:
         suffix: icc_constant
         args: -type constantdiagonal -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"

   testset:
      output_file: output/empty.out
      nsize: {{1 2}}
      args: -ours " -pc_type sptrsvgpu"
      test:
         suffix: ranks
         args: -type {{mpiaij mpiaijperm mpiaijsell mpiaijcrl mpibaij}} -problem {{convection random}}
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         # PETSc's block Jacobi keeps the factors of a dense matrix that has new values
         suffix: ranks_dense
         args: -once -type mpidense -problem {{convection random}}
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_blocks
         args: -type mpibaij -bs 2 -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_icc
         args: -type {{mpiaij mpiaijperm mpiaijsell mpiaijcrl mpibaij mpisbaij}} -problem poisson
         args: -reference " -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_constant
         args: -type constantdiagonal -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_bjacobi
         args: -type {{baij dense aijperm}} -pc_type bjacobi -ours " -sub_pc_type sptrsvgpu"
         args: -reference " -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"

TEST*/
