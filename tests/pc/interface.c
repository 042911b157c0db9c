static char help[] = "The calls of sptrsvgpu.h, in a program that links the library.\n\n";

#include "../common.h"
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */
#include <sptrsvgpu.h>

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

static PetscErrorCode CheckFactorTypes(void)
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
  PetscCall(MatSetOption(S, MAT_SPD, PETSC_FALSE));
  PetscCall(PetscObjectStateIncrease((PetscObject)S));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("no longer SPD", pc, MAT_FACTOR_NONE, MAT_FACTOR_ILU));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ILU));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("set to ILU", pc, MAT_FACTOR_ILU, MAT_FACTOR_ILU));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(CheckString("factor", MatFactorTypes[type], "ILU"));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckFactorType("set to ICC", pc, MAT_FACTOR_ICC, MAT_FACTOR_ICC));
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_LU));
  PetscCall(PCDestroy(&pc));

  /* a PC of another type: the setter does nothing, as those of PETSc */
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC));
  CheckError(PETSC_ERR_SUP, PCSpTRSVGPUGetFactorType(pc, &type));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAlgorithms(const char name[])
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
  PetscCall(PCSetOptionsPrefix(pc, "own_"));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatGetOptionsPrefix(F, &lower));
  PetscCall(CheckString("prefix", lower, "own_"));
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
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTuneSeconds(F, -1));
  PetscCall(MatSpTRSVGPUGetTimeout(F, &seconds));
  if (seconds != 30) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time limit of a wait: %g by default\n", (double)seconds));
  PetscCall(MatSpTRSVGPUSetTimeout(F, 0));
  PetscCall(MatSpTRSVGPUGetTimeout(F, &seconds));
  if (seconds != 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time limit of a wait: %g\n", (double)seconds));
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTimeout(F, -1));
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetTimeout(F, NAN));
  CheckError(PETSC_ERR_ARG_UNKNOWN_TYPE, MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, "foo"));
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetSelection(F, (SpTRSVGPUSelection)99));
  CheckError(PETSC_ERR_ARG_WRONG, MatSpTRSVGPUSetAlgorithm(A, SPTRSVGPU_LOWER, "auto"));

  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &lower));
  PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_UPPER, &upper));
  PetscCall(CheckString("L, in use", lower, name));
  if (!strcmp(upper, "auto")) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "U, in use: auto\n"));

  /* another pattern makes another factor with the same settings */
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
  if (PetscDefined(HAVE_CUDA)) { /* a setting that has an effect even on the host, which cannot fulfil it */
    PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, "thread"));
    PetscCall(PCSetOperators(pc, B, B));
    CheckError(PETSC_ERR_SUP, PCSetUp(pc));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An algorithm named by option for L alone; a matrix of the host is factored there. */
static PetscErrorCode CheckAlgorithmByOption(const char name[])
{
  Mat                     A, F;
  MatFactorInfo           info;
  const char             *lower, *upper;
  SpTRSVGPUFactorLocation factorization;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 100, &A));
  PetscCall(MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
  PetscCall(MatSpTRSVGPUGetChosenFactorization(F, &factorization));
  PetscCall(CheckString("at first", SpTRSVGPUFactorLocations[factorization], "auto"));
  PetscCall(MatSpTRSVGPUSetFactorization(F, SPTRSVGPU_FACTOR_LOCATION_DEVICE)); /* if the matrix is there */
  PetscCall(MatSpTRSVGPUGetFactorization(F, &factorization));
  PetscCall(CheckString("set", SpTRSVGPUFactorLocations[factorization], "device"));
  CheckError(PETSC_ERR_ARG_OUTOFRANGE, MatSpTRSVGPUSetFactorization(F, (SpTRSVGPUFactorLocation)99));
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
  PetscCall(CheckString("factored", SpTRSVGPUFactorLocations[factorization], "host"));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our ordering is that of our solver type. */
static PetscErrorCode CheckOwnOrdering(void)
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
  CheckError(PETSC_ERR_SUP, PCSetUp(pc));
  PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_NATURAL));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char name[64] = "serial"; /* an algorithm for the memory of the matrix */

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-algorithm", name, sizeof(name), NULL));
  PetscCall(CheckFactorTypes());
  PetscCall(CheckAlgorithms(name));
  PetscCall(CheckAlgorithmByOption(name));
  PetscCall(CheckOwnOrdering());
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
