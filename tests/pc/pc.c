static char help[] = "The life of a PC: every kind of apply, set-up again with the same and with another pattern, "
                     "reset, reuse; against -reference.\n\n";

#include "../common.h"
#include <petsc/private/petscimpl.h> /* PetscObjectStateGet() */

static PetscErrorCode Compare(const char when[], PC pc, PC reference)
{
  Mat       A, B, X, Y;
  Vec       b, x, y, z;
  PetscInt  n, columns = 4;
  PetscBool symmetric;
  char      what[128];

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(FillVec(b, 3));

  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApply(reference, b, y));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCApply", when));
  PetscCall(CheckVec(what, x, y, 1e-12));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscCall(PCApplyTranspose(reference, b, y));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCApplyTranspose", when));
  PetscCall(CheckVec(what, x, y, 1e-12));

  PetscCall(PetscOptionsHasName(NULL, NULL, "-symmetric", &symmetric));
  if (symmetric) {
    PetscCall(PCApply(reference, b, y));
    PetscCall(PCApplySymmetricLeft(pc, b, z));
    PetscCall(PCApplySymmetricRight(pc, z, x));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCApplySymmetricLeft, Right", when));
    PetscCall(CheckVec(what, x, y, 1e-12));
    PetscCall(PCApplySymmetricLeft(reference, b, y));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCApplySymmetricLeft", when));
    PetscCall(CheckVec(what, z, y, 1e-12));
  }

  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, columns, NULL, &B));
  for (PetscInt j = 0; j < columns; j++) {
    Vec column;

    PetscCall(MatDenseGetColumnVecWrite(B, j, &column));
    PetscCall(FillVec(column, 20 + j));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &column));
  }
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &Y));
  PetscCall(PCMatApply(pc, B, X));
  PetscCall(PCMatApply(reference, B, Y));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCMatApply", when));
  PetscCall(CheckMat(what, X, Y, 1e-12));
#if PETSC_VERSION_GE(3, 24, 0)
  PetscCall(PCMatApplyTranspose(pc, B, X));
  PetscCall(PCMatApplyTranspose(reference, B, Y));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s: PCMatApplyTranspose", when));
  PetscCall(CheckMat(what, X, Y, 1e-12));
#endif

  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc, PC reference, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetOperators(reference, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUp(reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat                A, other, F, G;
  Vec                b, x, y;
  PC                 pc, reference;
  Problem            problem;
  MatFactorType      type;
  MatFactorShiftType shift;
  PetscObjectState   before, after;
  PetscInt           m;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 400, &problem, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, "sptrsvgpu"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &reference));
  PetscCall(PCSetOptionsPrefix(reference, "reference_"));
  PetscCall(PCSetFromOptions(reference));

  PetscCall(SetUp(pc, reference, A));
  PetscCall(Compare("first", pc, reference));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(MatGetSize(F, &m, NULL));
  if (type != (problem == PROBLEM_POISSON ? MAT_FACTOR_ICC : MAT_FACTOR_ILU) || m != 400)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "PCFactorGetMatrix: %s with %" PetscInt_FMT " rows\n", MatFactorTypes[type], m));

  /* known properties of the matrix may change; a factor in use stays the same object */
  if (problem == PROBLEM_POISSON) {
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_FALSE));
    PetscCall(PCFactorGetMatrix(pc, &G));
    PetscCall(PCFactorGetShiftType(pc, &shift));
    if (shift != MAT_SHIFT_POSITIVE_DEFINITE)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "shift after a look: %s\n", MatFactorShiftTypes[shift]));
    PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  }

  /* nothing to be done */
  PetscCall(PetscObjectStateGet((PetscObject)F, &before));
  PetscCall(SetUp(pc, reference, A));
  PetscCall(PCFactorGetMatrix(pc, &G));
  PetscCall(PetscObjectStateGet((PetscObject)G, &after));
  if (F != G || before != after) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unchanged: factored again\n"));
  PetscCall(Compare("unchanged", pc, reference));

  /* the same pattern: the same factor, with new values */
  PetscCall(ProblemFill(A, problem, 1));
  PetscCall(SetUp(pc, reference, A));
  PetscCall(PCFactorGetMatrix(pc, &G));
  if (F != G) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "same pattern: another factor\n"));
  PetscCall(Compare("same pattern", pc, reference));

  /* reuse: the old factor, with any matrix */
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVec(b, 4));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
  PetscCall(ProblemFill(A, problem, 2));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, y));
  PetscCall(CheckVec("reused", y, x, 0));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(SetUp(pc, reference, A));
  PetscCall(Compare("no longer reused", pc, reference));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));

  /* another pattern, of the same matrix size */
  PetscCall(
    ProblemCreate(PETSC_COMM_WORLD, problem == PROBLEM_POISSON ? PROBLEM_DIAGONAL : PROBLEM_RANDOM, 400, &other));
  if (problem == PROBLEM_POISSON) PetscCall(MatSetOption(other, MAT_SPD, PETSC_TRUE));
  PetscCall(SetUp(pc, reference, other));
  PetscCall(Compare("other pattern", pc, reference));
  PetscCall(SetUp(pc, reference, A));
  PetscCall(Compare("first pattern again", pc, reference));

  /* reset, then a matrix of another size */
  PetscCall(PCReset(pc));
  PetscCall(PCReset(reference));
  PetscCall(MatDestroy(&other));
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, problem, 900, &other));
  PetscCall(SetUp(pc, reference, other));
  PetscCall(Compare("reset, other size", pc, reference));

  /* a matrix of a GPU that is bound to the host */
  PetscCall(MatBindToCPU(other, PETSC_TRUE));
  PetscCall(ProblemFill(other, problem, 3));
  PetscCall(SetUp(pc, reference, other));
  PetscCall(Compare("bound to the host", pc, reference));

  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&reference));
  PetscCall(MatDestroy(&other));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: ilu
         args: -problem {{convection random}} -reference_pc_type ilu -reference_pc_factor_mat_solver_type petsc
      test:
         suffix: ilu_options
         args: -problem convection -pc_factor_levels 1 -pc_factor_mat_ordering_type rcm -reference_pc_type ilu
         args: -reference_pc_factor_mat_solver_type petsc -reference_pc_factor_levels 1
         args: -reference_pc_factor_mat_ordering_type rcm
      test:
         suffix: ilu_reuse
         args: -problem convection -pc_factor_reuse_ordering -pc_factor_reuse_fill -pc_factor_mat_ordering_type rcm
         args: -reference_pc_type ilu -reference_pc_factor_mat_solver_type petsc -reference_pc_factor_reuse_ordering
         args: -reference_pc_factor_reuse_fill -reference_pc_factor_mat_ordering_type rcm
      test:
         suffix: icc
         args: -problem poisson -reference_pc_type icc -reference_pc_factor_mat_solver_type petsc -symmetric
      test:
         suffix: ilu_multicolor
         args: -problem {{convection random}} -pc_sptrsvgpu_ordering multicolor -reference_pc_type ilu
         args: -reference_pc_factor_mat_solver_type petsc -reference_pc_factor_mat_ordering_type multicolor
      test:
         suffix: icc_multicolor
         args: -problem poisson -pc_sptrsvgpu_ordering multicolor -reference_pc_type icc
         args: -reference_pc_factor_mat_solver_type petsc -reference_pc_factor_mat_ordering_type multicolor -symmetric
      test:
         suffix: ranks
         nsize: 2
         args: -problem {{convection random}} -reference_pc_type bjacobi -reference_sub_pc_type ilu
         args: -reference_sub_pc_factor_mat_solver_type petsc
      test:
         suffix: ranks_icc
         nsize: 2
         args: -problem poisson -reference_pc_type bjacobi -reference_sub_pc_type icc
         args: -reference_sub_pc_factor_mat_solver_type petsc -symmetric

   # on the host by plans, instead of PETSc's own solves
   testset:
      output_file: output/empty.out
      args: -mat_type aij -mat_sptrsvgpu_algorithm serial
      test:
         suffix: serial
         args: -problem {{convection random}} -reference_pc_type ilu -reference_pc_factor_mat_solver_type petsc
      test:
         suffix: serial_ranks_icc
         nsize: 2
         args: -problem poisson -reference_pc_type bjacobi -reference_sub_pc_type icc
         args: -reference_sub_pc_factor_mat_solver_type petsc -symmetric

TEST*/
