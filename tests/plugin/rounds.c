static char help[] = "PETSc initialized and finalized more than once in a program, the plugin with it.\n\
  -late <library> : load the plugin after PetscInitialize()\n\
  -linked         : register what is linked\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

static PetscErrorCode RunRound(void)
{
  char      library[PETSC_MAX_PATH_LEN];
  PetscBool late, linked;
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PetscInt  iterations;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-late", library, sizeof(library), &late));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-linked", &linked));
  if (late) PetscCall(PetscDLLibraryAppend(PETSC_COMM_WORLD, &PetscDLLibrariesLoaded, library));
  if (linked) PetscCall(SpTRSVGPURegister());
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 100, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations\n", iterations));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscCallMPI(MPI_Init(&argc, &args));
  for (int i = 0; i < 3; i++) {
    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &args, NULL, help));
    PetscCall(RunRound());
    PetscCall(PetscFinalize());
  }
  PetscCallMPI(MPI_Finalize());
  return 0;
}

/*TEST

   test:
      suffix: citations
      args: -pc_type capellini -citations
      filter: grep -c "{CapelliniSpTRSV,"

   testset:
      output_file: output/rounds.out
      args: -pc_type sptrsvgpu
      test:
         suffix: loaded
      test:
         suffix: late
         env: PETSC_OPTIONS=
         args: -late ${SPTRSV_LIB}
      test:
         suffix: linked
         env: PETSC_OPTIONS=
         args: -linked
      test:
         suffix: loaded_and_linked
         args: -linked -late ${SPTRSV_LIB}
      test:
         suffix: ranks
         nsize: 2
         output_file: output/rounds_ranks.out

TEST*/
