static char help[] = "The calls of sptrsvgpu.h, in a program that links the library.\n\n";

#include "common.h"
#include <sptrsvgpu.h>

/* Says so unless a call fails with this error */
#define CheckFails(code, ...) \
  do { \
    PetscErrorCode error_; \
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL)); \
    error_ = (__VA_ARGS__); \
    PetscCall(PetscPopErrorHandler()); \
    if (error_ != (code)) \
      PetscCall( \
        PetscPrintf(PETSC_COMM_WORLD, "%s: error %d, should be %d\n", #__VA_ARGS__, (int)error_, (int)(code))); \
  } while (0)

static PetscErrorCode CheckString(const char what[], const char is[], const char should[])
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(is, should, &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, should be %s\n", what, is, should));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFactorType(const char what[], PC pc, MatFactorType set, MatFactorType chosen)
{
  MatFactorType type;

  PetscFunctionBeginUser;
  PetscCall(PCSpTRSVGPUGetFactorType(pc, &type));
  PetscCall(CheckString(what, MatFactorTypes[type], MatFactorTypes[set]));
  PetscCall(PCSpTRSVGPUGetChosenFactorType(pc, &type));
  PetscCall(CheckString(what, MatFactorTypes[type], MatFactorTypes[chosen]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorTypes(void)
{
  Mat           A, S, F;
  PC            pc;
  MatFactorType type;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 100, &A));
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_POISSON, 100, &S));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(CheckFactorType("nobody has said", pc, MAT_FACTOR_NONE, MAT_FACTOR_NONE));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("not known to be SPD", pc, MAT_FACTOR_NONE, MAT_FACTOR_ILU));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, S, S));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("SPD", pc, MAT_FACTOR_NONE, MAT_FACTOR_ICC));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ILU));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("set to ILU", pc, MAT_FACTOR_ILU, MAT_FACTOR_ILU));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(CheckString("factor", MatFactorTypes[type], "ILU"));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("set to ICC", pc, MAT_FACTOR_ICC, MAT_FACTOR_ICC));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_LU));
  PetscCall(PCDestroy(&pc));

  /* a PC of another type: the setter does nothing, as those of PETSc */
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC));
  CheckFails(PETSC_ERR_SUP, PCSpTRSVGPUGetFactorType(pc, &type));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Algorithms(const char name[])
{
  Mat                A, B, F;
  PC                 pc;
  const char        *lower, *upper;
  SpTRSVGPUSelection select;
  PetscReal          seconds;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 100, &A));
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_RANDOM, 100, &B));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(CheckString("L, by default", lower, "auto"));
  PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, name));
  PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_UPPER, name));
  PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_UPPER, "auto"));
  PetscCall(MatSpTRSVGPUGetAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(MatSpTRSVGPUGetAlgorithm(F, SPTRSVGPU_UPPER, &upper));
  PetscCall(CheckString("L, asked for", lower, name));
  PetscCall(CheckString("U, asked for", upper, "auto"));
  PetscCall(MatSpTRSVGPUSetSelection(F, SPTRSVGPU_SELECT_GRANULARITY));
  PetscCall(MatSpTRSVGPUGetSelection(F, &select));
  PetscCall(CheckString("select", SpTRSVGPUSelections[select], "granularity"));
  PetscCall(MatSpTRSVGPUSetSelection(F, SPTRSVGPU_SELECT_TUNE));
  PetscCall(MatSpTRSVGPUGetSelection(F, &select));
  PetscCall(CheckString("select", SpTRSVGPUSelections[select], "tune"));
  PetscCall(MatSpTRSVGPUSetTuneSeconds(F, 0.25));
  PetscCall(MatSpTRSVGPUGetTuneSeconds(F, &seconds));
  if (seconds != 0.25) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seconds to tune: %g\n", (double)seconds));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTuneSeconds(F, -1));
  PetscCall(MatSpTRSVGPUGetTimeout(F, &seconds));
  if (seconds != 30) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time limit of a wait: %g by default\n", (double)seconds));
  PetscCall(MatSpTRSVGPUSetTimeout(F, 0));
  PetscCall(MatSpTRSVGPUGetTimeout(F, &seconds));
  if (seconds != 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time limit of a wait: %g\n", (double)seconds));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTimeout(F, -1));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTimeout(F, NAN));
  CheckFails(PETSC_ERR_ARG_UNKNOWN_TYPE, MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, "foo"));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetSelection(F, (SpTRSVGPUSelection)99));
  CheckFails(PETSC_ERR_ARG_WRONG, MatSpTRSVGPUSetAlgorithm(A, SPTRSVGPU_LOWER, "auto"));

  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_UPPER, &upper));
  PetscCall(CheckString("L, in use", lower, name));
  if (!strcmp(upper, "auto")) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "U, in use: auto\n"));

  /* another pattern makes another factor, of the same wishes */
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(CheckString("L, other pattern", lower, name));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(CheckString("L, after a reset", lower, name));
  PetscCall(PCFactorSetLevels(pc, 1));
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(CheckString("L, other levels", lower, name));
  if (PetscDefined(HAVE_CUDA)) { /* a wish that shows even on the host: it cannot be met there */
    PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, "thread"));
    PetscCall(PCSetOperators(pc, B, B));
    CheckFails(PETSC_ERR_SUP, PCSetUp(pc));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An algorithm named by option for L alone; a matrix of the host is factored there. */
static PetscErrorCode ByOption(const char name[])
{
  Mat                    A, F;
  MatFactorInfo          info;
  const char            *lower, *upper;
  SpTRSVGPUFactorization factorization;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 100, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
  PetscCall(MatSpTRSVGPUGetChosenFactorization(F, &factorization));
  PetscCall(CheckString("at first", SpTRSVGPUFactorizations[factorization], "auto"));
  PetscCall(MatSpTRSVGPUSetFactorization(F, SPTRSVGPU_FACTORIZATION_DEVICE)); /* if the matrix is there */
  PetscCall(MatSpTRSVGPUGetFactorization(F, &factorization));
  PetscCall(CheckString("set", SpTRSVGPUFactorizations[factorization], "device"));
  CheckFails(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetFactorization(F, (SpTRSVGPUFactorization)99));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(PetscOptionsSetValue(NULL, "-mat_sptrsvgpu_lower", name));
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_sptrsvgpu_lower"));
  PetscCall(MatSpTRSVGPUGetAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(MatSpTRSVGPUGetAlgorithm(F, SPTRSVGPU_UPPER, &upper));
  PetscCall(CheckString("L, by option", lower, name));
  PetscCall(CheckString("U, without", upper, "auto"));
  PetscCall(MatSpTRSVGPUGetChosenFactorization(F, &factorization));
  PetscCall(CheckString("factored", SpTRSVGPUFactorizations[factorization], "host"));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our ordering is that of our solver type. */
static PetscErrorCode OwnOrdering(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_SELF, PROBLEM_CONVECTION, 100, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR));
  PetscCall(PCSetOperators(pc, A, A));
  CheckFails(PETSC_ERR_SUP, PCSetUp(pc));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three rows, and an entry of row 2 besides the diagonal */
static PetscErrorCode Fill(Mat A, PetscInt column)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) PetscCall(MatSetValue(A, i, i, 4, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2, column, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor is for the pattern of its symbolic phase. */
static PetscErrorCode Patterns(void)
{
  Mat           A, F;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 3, 3, 3, 3));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(Fill(A, 0));
  PetscCall(MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(Fill(A, 0));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(Fill(A, 1));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 1, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  CheckFails(PETSC_ERR_ARG_INCOMP, MatLUFactorNumeric(F, A, &info));
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies a PC that has been set up for what A was, and one that has not. */
static PetscErrorCode CheckAnew(const char what[], PC pc, Mat A)
{
  PC  anew;
  Vec b, x, y;

  PetscFunctionBeginUser;
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &anew));
  PetscCall(PCSetType(anew, PCSPTRSVGPU));
  PetscCall(PCSetOperators(anew, A, A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVec(b, 1));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApply(anew, b, y));
  PetscCall(CheckVec(what, x, y, 0));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&anew));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc does for matrices of other types is not asked of those of a GPU. */
static PetscErrorCode OnHost(Problem problem, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_SELF, problem, 100, A));
  PetscCall(MatConvert(*A, MATSEQAIJ, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What needs a matrix of type aij, or a factorization that PETSc has not for a type, fails and leaves nothing behind.
 */
static PetscErrorCode Types(void)
{
  static const MatType types[]   = {MATSEQDENSE, MATSEQBAIJ, MATSEQBAIJ};
  static const MatType devices[] = {"seqaijkokkos", "seqaijhipsparse", "seqaijviennacl", "seqdensecuda"};
  Mat                  A, B, F;
  PC                   pc;

  PetscFunctionBeginUser;
  for (int t = 0; t < 4; t++) { /* by name: this PETSc need not have them */
    PetscCall(OnHost(PROBLEM_CONVECTION, &A));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, devices[t]));
    CheckFails(PETSC_ERR_SUP, MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJ));
    PetscCall(MatDestroy(&A));
  }
  for (int t = 0; t < 3; t++) {
    PetscCall(OnHost(PROBLEM_CONVECTION, &A));
    PetscCall(MatConvert(A, types[t], MAT_INITIAL_MATRIX, &B));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, B, B));
    if (t == 0) PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC));
    if (t == 1) PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR));
    if (t == 2) {
      PetscCall(PCFactorSetUpMatSolverType(pc));
      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, "serial"));
    }
    CheckFails(t == 0 ? PETSC_ERR_MISSING_FACTOR : PETSC_ERR_SUP, PCSetUp(pc));
    PetscCall(PCReset(pc));
    PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ILU));
    PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_NATURAL));
    PetscCall(CheckAnew("after a failure for the type", pc, A));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another matrix in the place of the one that there was, which PETSc may take for the same pattern; and PCs that go
 * after what they cannot factor. */
static PetscErrorCode Replaced(void)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBeginUser;
  for (int type = 0; type < 3; type++) { /* PETSc's own solver type; other types of matrices */
    PetscCall(OnHost(PROBLEM_CONVECTION, &A));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    if (!type) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    if (!type) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
    else {
      PetscCall(MatConvert(A, type == 1 ? MATSEQBAIJ : MATSEQSELL, MAT_INITIAL_MATRIX, &B));
      PetscCall(PCSetOperators(pc, B, B));
      if (type == 1) PetscCall(CheckAnew("another type", pc, B));
      else CheckFails(PETSC_ERR_MISSING_FACTOR, PCSetUp(pc));
      PetscCall(PCReset(pc));
      PetscCall(CheckAnew("after another type", pc, A));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }

  PetscCall(OnHost(PROBLEM_RANDOM, &A));
  PetscCall(OnHost(PROBLEM_CONVECTION, &B));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscCall(CheckAnew("transposed", pc, A));
  PetscCall(MatAXPY(A, 1, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(CheckAnew("added", pc, A));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char name[64] = "serial"; /* an algorithm that runs where the matrix is */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-algorithm", name, sizeof(name), NULL));
  PetscCall(FactorTypes());
  PetscCall(Algorithms(name));
  PetscCall(ByOption(name));
  PetscCall(OwnOrdering());
  PetscCall(Patterns());
  PetscCall(Replaced());
  PetscCall(Types());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      nsize: {{1 2}}
      args: -mat_type aij
      test:
         suffix: linked
         env: PETSC_OPTIONS=
      test:
         suffix: loaded

TEST*/
