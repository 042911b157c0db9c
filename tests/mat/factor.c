static char help[] = "A factor by itself: MatGetFactor() and every solve with it, against PETSc's own factor.\n\n";

#include "../common.h"

static PetscErrorCode Factor(Mat A, const char solver[], MatFactorType type, Mat *F)
{
  MatFactorInfo   info;
  IS              row, col;
  PetscReal       levels       = 0;
  char            ordering[64] = MATORDERINGNATURAL;
  const PetscBool ilu          = (PetscBool)(type == MAT_FACTOR_ILU);

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-levels", &levels, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-ordering", ordering, sizeof(ordering), NULL));
  PetscCall(MatGetFactor(A, solver, type, F));
  PetscCheck(*F, PETSC_COMM_WORLD, PETSC_ERR_SUP, "%s has no %s", solver, MatFactorTypes[type]);
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = levels;
  info.fill   = 3;
  PetscCall(MatGetOrdering(A, ordering, &row, &col));
  if (ilu) {
    PetscCall(MatILUFactorSymbolic(*F, A, row, col, &info));
    PetscCall(MatLUFactorNumeric(*F, A, &info));
  } else {
    PetscCall(MatICCFactorSymbolic(*F, A, row, &info));
    PetscCall(MatCholeskyFactorNumeric(*F, A, &info));
  }
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Forward and backward solve, one after the other, must equal the solve; the halves themselves depend on the solver */
static PetscErrorCode CheckHalves(Mat F, Vec b, Vec solution)
{
  Vec y, z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecDuplicate(b, &z));
  PetscCall(MatForwardSolve(F, b, y));
  PetscCall(MatBackwardSolve(F, y, z));
  PetscCall(CheckVec("MatForwardSolve, MatBackwardSolve", z, solution, 1e-12));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolves(Mat F, Mat R, Mat A)
{
  Vec      b, c, x, y;
  Mat      B, X, Y;
  PetscInt n, columns = 3;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &c));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVec(b, 1));
  PetscCall(FillVec(c, 2));

  PetscCall(MatSolve(F, b, x));
  PetscCall(MatSolve(R, b, y));
  PetscCall(CheckVec("MatSolve", x, y, 1e-12));
  PetscCall(CheckHalves(F, b, y));
  PetscCall(MatSolveTranspose(F, b, x));
  PetscCall(MatSolveTranspose(R, b, y));
  PetscCall(CheckVec("MatSolveTranspose", x, y, 1e-12));
  PetscCall(MatSolveAdd(F, b, c, x));
  PetscCall(MatSolve(R, b, y));
  PetscCall(VecAXPY(y, 1, c));
  PetscCall(CheckVec("MatSolveAdd", x, y, 1e-12));
  PetscCall(MatSolveTransposeAdd(F, b, c, x));
  PetscCall(MatSolveTranspose(R, b, y));
  PetscCall(VecAXPY(y, 1, c));
  PetscCall(CheckVec("MatSolveTransposeAdd", x, y, 1e-12));

  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), PETSC_DECIDE, PETSC_DECIDE, n, columns, NULL, &B));
  for (PetscInt j = 0; j < columns; j++) {
    Vec column;

    PetscCall(MatDenseGetColumnVecWrite(B, j, &column));
    PetscCall(FillVec(column, 10 + j));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &column));
  }
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &Y));
  PetscCall(MatMatSolve(F, B, X));
  PetscCall(MatMatSolve(R, B, Y));
  PetscCall(CheckMat("MatMatSolve", X, Y, 1e-12));
  PetscCall(MatCopy(B, X, SAME_NONZERO_PATTERN));
  PetscCall(MatMatSolve(F, X, X));
  PetscCall(CheckMat("MatMatSolve in place", X, Y, 1e-12));
  PetscCall(MatMatSolveTranspose(F, B, X));
  PetscCall(MatMatSolveTranspose(R, B, Y));
  PetscCall(CheckMat("MatMatSolveTranspose", X, Y, 1e-12));

  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After new values the halves of a solve equal those of a new factor. */
static PetscErrorCode CheckNewHalves(Mat F, Mat A, MatFactorType type)
{
  Mat       fresh;
  Vec       b, x, y;
  PetscReal size, difference;

  PetscFunctionBeginUser;
  PetscCall(Factor(A, "sptrsvgpu", type, &fresh));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(b, 1));
  for (int half = 0; half < 2; half++) {
    PetscCall((half ? MatBackwardSolve : MatForwardSolve)(F, b, x));
    PetscCall((half ? MatBackwardSolve : MatForwardSolve)(fresh, b, y));
    PetscCall(VecNorm(y, NORM_2, &size));
    PetscCall(VecAXPY(y, -1, x));
    PetscCall(VecNorm(y, NORM_2, &difference));
    if (!(difference <= 1e-12 * size))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "half %d differs from that of a new factor by %g\n", half,
                            (double)(difference / size)));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&fresh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that is bound to the host counts no flops of the GPU. */
static PetscErrorCode CheckBound(Mat F, Mat A)
{
#if PetscDefined(HAVE_DEVICE)
  Vec            b, x;
  PetscLogDouble before;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  before = petsc_gflops;
  PetscCall(MatSolve(F, b, x));
  if (petsc_gflops != before)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a factor bound to the host solves on the GPU\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
#else
  PetscFunctionBeginUser;
  (void)F;
  (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many entries as PETSc's factor has */
static PetscErrorCode CheckInfo(Mat F, Mat R)
{
  MatInfo info, reference;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  PetscCall(MatGetInfo(R, MAT_LOCAL, &reference));
  if (info.nz_used != reference.nz_used)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatGetInfo() counts %g entries, PETSc %g\n", info.nz_used,
                          reference.nz_used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat           A, F, R;
  Problem       problem;
  PetscBool     icc = PETSC_FALSE, flg;
  MatFactorType type;
  MatSolverType solver;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-icc", &icc, NULL));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 400, &problem, &A));
  type = icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU;
  PetscCall(MatGetFactorAvailable(A, "sptrsvgpu", type, &flg));
  if (!flg) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatGetFactorAvailable() says no\n"));
  PetscCall(Factor(A, "sptrsvgpu", type, &F));
  PetscCall(Factor(A, "petsc", type, &R));
  PetscCall(MatFactorGetSolverType(F, &solver));
  PetscCall(PetscStrcmp(solver, "sptrsvgpu", &flg));
  if (!flg) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "MatFactorGetSolverType() says %s\n", solver));
  PetscCall(CheckInfo(F, R));
  PetscCall(CheckSolves(F, R, A));

  /* new values in the same pattern, which all plans must take, those of the transpose too */
  PetscCall(ProblemFill(A, problem, 0.5));
  PetscCall(MatFactorInfoInitialize(&info));
  if (icc) {
    PetscCall(MatCholeskyFactorNumeric(F, A, &info));
    PetscCall(MatCholeskyFactorNumeric(R, A, &info));
  } else {
    PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(MatLUFactorNumeric(R, A, &info));
  }
  PetscCall(CheckSolves(F, R, A));
  PetscCall(CheckNewHalves(F, A, type));

  /* solves on the host while the matrix is on a GPU, and back */
  PetscCall(MatBindToCPU(F, PETSC_TRUE));
  PetscCall(CheckBound(F, A));
  PetscCall(CheckSolves(F, R, A));
  PetscCall(MatBindToCPU(F, PETSC_FALSE));
  PetscCall(CheckSolves(F, R, A));

  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: ilu
         args: -problem {{convection random chain diagonal arrow}} -ordering {{natural rcm nd multicolor}}
      test:
         suffix: ilu_levels
         args: -problem {{convection random}} -ordering {{natural rcm}} -levels 2
      test:
         suffix: ilu_sizes
         args: -problem {{convection random}} -n {{1 2 31 32 33 64 65}}
      test:
         suffix: icc
         args: -icc -problem {{poisson diagonal}} -ordering {{natural rcm nd multicolor}} -levels {{0 2}}
      test:
         suffix: icc_sizes
         args: -icc -problem poisson -n {{1 4 9 1024}}

   # a matrix on a GPU is factored there, however small it is
   test:
      suffix: device
      output_file: output/empty.out
      args: -mat_sptrsvgpu_factorization device -problem poisson -icc {{0 1}} -ordering {{natural rcm}}

   # on the host by plans, instead of PETSc's own solves
   testset:
      output_file: output/empty.out
      args: -mat_type aij -mat_sptrsvgpu_algorithm serial
      test:
         suffix: serial
         args: -problem {{convection random chain diagonal arrow}} -ordering {{natural rcm multicolor}}
      test:
         suffix: serial_levels
         args: -problem {{convection random}} -ordering {{natural rcm}} -levels 2
      test:
         suffix: serial_sizes
         args: -problem {{convection random}} -n {{1 2 33}}
      test:
         suffix: serial_icc
         args: -icc -problem {{poisson diagonal}} -ordering {{natural rcm multicolor}} -levels {{0 2}}

TEST*/
