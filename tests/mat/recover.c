static char help[] = "A program that continues after an error: a factor whose symbolic or numeric phase has failed "
                     "solves nothing, and can be made anew.\n\n";

#include "../common.h"

/* Tridiagonal, with an entry in the corner or not; without the diagonal of a row, -1: with all */
static PetscErrorCode Create(PetscInt n, PetscBool corner, PetscInt missing, PetscScalar diagonal, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  for (PetscInt i = 0; i < n; i++) {
    if (i != missing) PetscCall(MatSetValue(*A, i, i, diagonal, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
  }
  if (corner) {
    PetscCall(MatSetValue(*A, 0, n - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(*A, n - 1, 0, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Symbolic(Mat F, Mat A, IS order, MatFactorType type)
{
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  if (type == MAT_FACTOR_ILU) PetscCall(MatILUFactorSymbolic(F, A, order, order, &info));
  else PetscCall(MatICCFactorSymbolic(F, A, order, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numeric(Mat F, Mat A, MatFactorType type)
{
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatFactorInfoInitialize(&info));
  if (type == MAT_FACTOR_ILU) PetscCall(MatLUFactorNumeric(F, A, &info));
  else PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factorization of a tridiagonal matrix is complete. */
static PetscErrorCode CheckSolve(Mat F, Mat A, Vec b, Vec x, const char what[])
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(MatSolve(F, b, x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(CheckVec(what, r, b, 1e-12));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern: values that can be factored, or a zero pivot in the first row */
static PetscErrorCode SetDiagonal(Mat A, PetscScalar first)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, 0, 0, first, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckReason(KSP ksp, Vec b, Vec x, PetscBool converges, const char what[])
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if ((reason > 0) != converges || (!converges && reason != KSP_DIVERGED_PC_FAILED))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", what, KSPConvergedReasons[reason]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A KSP continues after numeric phases that fail with an error or with a reason. */
static PetscErrorCode CheckKSP(MatFactorType type, Vec b, Vec x)
{
  KSP ksp;
  PC  pc;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Create(20, PETSC_FALSE, -1, 4, &A));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, "sptrsvgpu"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_factor", type == MAT_FACTOR_ICC ? "icc" : "ilu"));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_factor_shift_type", "none"));
  PetscCall(KSPSetFromOptions(ksp));
  for (int time = 0; time < 2; time++) {
    PetscCall(SetDiagonal(A, 0));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    CheckError(ANY_ERROR, PCSetUp(pc));
    PetscCall(SetDiagonal(A, 4));
    PetscCall(CheckReason(ksp, b, x, PETSC_TRUE, "KSP after an error"));
    PetscCall(SetDiagonal(A, 0));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_FALSE));
    PetscCall(CheckReason(ksp, b, x, PETSC_FALSE, "KSP with a zero pivot"));
    PetscCall(SetDiagonal(A, 5));
    PetscCall(CheckReason(ksp, b, x, PETSC_TRUE, "KSP after a zero pivot"));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On two ranks, orders that are natural on the first one alone, or on none though each begins with the rank's first
   row: only the natural order is possible, and all ranks say so. */
static PetscErrorCode CheckOrders(MatFactorType type)
{
  static const PetscInt stride[2][2][2] = {{{0, 1}, {3, -1}}, {{0, 3}, {2, -1}}}; /* first and step of each rank */

  Mat         A, F;
  IS          order;
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (size != 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_POISSON, 4, &A));
  for (int which = 0; which < 2; which++) {
    PetscCall(MatGetFactor(A, "sptrsvgpu", type, &F));
    PetscCall(ISCreateStride(PETSC_COMM_WORLD, 2, stride[which][rank][0], stride[which][rank][1], &order));
    CheckError(ANY_ERROR, Symbolic(F, A, order, type));
    PetscCall(ISDestroy(&order));
    PetscCall(MatDestroy(&F));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat           A, corner, missing, F;
  Vec           b, x;
  IS            order, reversed;
  PetscInt      n   = 20;
  PetscBool     icc = PETSC_FALSE, infinite = PETSC_TRUE;
  MatFactorType type = MAT_FACTOR_ILU;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-icc", &icc, NULL));
  if (icc) type = MAT_FACTOR_ICC;
  PetscCall(Create(n, PETSC_FALSE, -1, 4, &A));
  PetscCall(Create(n, PETSC_TRUE, -1, 4, &corner));
  PetscCall(Create(n, PETSC_FALSE, 7, 4, &missing));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &order));
  PetscCall(MatGetFactor(A, "sptrsvgpu", type, &F));

  CheckError(ANY_ERROR, MatSolve(F, b, x));
  CheckError(ANY_ERROR, Symbolic(F, missing, order, type));
  CheckError(ANY_ERROR, Numeric(F, A, type));
  PetscCall(Symbolic(F, A, order, type));
  CheckError(ANY_ERROR, MatSolve(F, b, x));
  PetscCall(Numeric(F, A, type));
  PetscCall(CheckSolve(F, A, b, x, "the first factor"));

  /* values of another pattern; solves with a failed factor are infinite */
  CheckError(ANY_ERROR, Numeric(F, corner, type));
  for (int part = 0; part < 3; part++) {
    const PetscScalar *v;

    PetscCall(VecSet(x, 1));
    if (part == 0) PetscCall(MatSolve(F, b, x));
    else if (part == 1) PetscCall(MatForwardSolve(F, b, x));
    else PetscCall(MatBackwardSolve(F, b, x));
    PetscCall(VecGetArrayRead(x, &v));
    for (PetscInt i = 0; i < n; i++) infinite = (PetscBool)(infinite && PetscIsInfOrNanScalar(v[i]));
    PetscCall(VecRestoreArrayRead(x, &v));
    if (!infinite) PetscCall(PetscPrintf(PETSC_COMM_SELF, "part %d: a solve with old values\n", part));
  }
  PetscCall(Numeric(F, A, type));
  PetscCall(CheckSolve(F, A, b, x, "after values of another pattern"));

  /* the old factor does not exist any more */
  CheckError(ANY_ERROR, Symbolic(F, missing, order, type));
  CheckError(ANY_ERROR, MatSolve(F, b, x));
  CheckError(ANY_ERROR, MatSolveTranspose(F, b, x));
  CheckError(ANY_ERROR, MatForwardSolve(F, b, x));
  CheckError(ANY_ERROR, MatBackwardSolve(F, b, x));
  CheckError(ANY_ERROR, Numeric(F, A, type));
  PetscCall(Symbolic(F, A, order, type));
  PetscCall(Numeric(F, A, type));
  PetscCall(CheckSolve(F, A, b, x, "after a matrix without a diagonal entry"));

  /* a negative pivot, in the last row of the factor, has no square root, at every attempt */
  if (type == MAT_FACTOR_ICC) {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, n, n - 1, -1, &reversed));
    PetscCall(SetDiagonal(A, -4));
    PetscCall(Symbolic(F, A, reversed, type));
    PetscCall(ISDestroy(&reversed));
    PetscCall(Numeric(F, A, type));
    for (int time = 0; time < 2; time++) {
      CheckError(ANY_ERROR, MatForwardSolve(F, b, x));
      CheckError(ANY_ERROR, MatBackwardSolve(F, b, x));
      if (!strstr(message, "of row 0 is negative"))
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "negative pivot: %s\n", message));
    }
    PetscCall(CheckSolve(F, A, b, x, "with a negative pivot"));
  }

  PetscCall(CheckKSP(type, b, x));
  PetscCall(CheckOrders(type));

  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&order));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&corner));
  PetscCall(MatDestroy(&missing));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: !debug
      args: -icc {{0 1}}
      output_file: output/empty.out
      test:
         args: -mat_sptrsvgpu_factorization {{device host}}
      test:
         suffix: serial
         args: -mat_type aij -mat_sptrsvgpu_algorithm serial
      test:
         suffix: ranks
         nsize: 2

TEST*/
