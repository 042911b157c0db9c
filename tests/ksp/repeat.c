static char help[] = "Sets up and solves again and again in one process, by several KSP types in turn.\n\
  -types <type,type,...> : KSP types; each has a KSP on the same matrix\n\
  -rounds <n>            : 3 if not given\n\n";

/*
   A round creates a KSP of each type, sets all up before the first solve, and alternates between them: two solves,
   one with other values, one with the first values, and one after KSPReset() and KSPSetFromOptions(). It prints
   nothing if each solve converges, with as many iterations as the first type took for these values in the first
   round, or one more or less. A solve ends after 200 iterations, so only a wait could last.
*/
#include "../common.h"

enum { TYPES_MOST = 4, STEPS = 5 };

static PetscErrorCode Check(KSP ksp, PetscInt round, PetscInt step, PetscInt *expected)
{
  KSPConvergedReason reason;
  KSPType            type;
  PetscInt           iterations;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetType(ksp, &type));
  if (*expected < 0) *expected = iterations;
  if (reason < 0 || PetscAbsInt(iterations - *expected) > 1)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %" PetscInt_FMT ", step %" PetscInt_FMT ", %s: %s, %" PetscInt_FMT
                          " iterations, not %" PetscInt_FMT "\n",
                          round, step, type, KSPConvergedReasons[reason], iterations, *expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, const char type[], KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunRound(Mat A, char *types[], PetscInt count, PetscInt round, PetscInt expected[])
{
  KSP ksp[TYPES_MOST];
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  for (PetscInt i = 0; i < count; i++) PetscCall(Create(A, types[i], &ksp[i]));
  for (PetscInt step = 0; step < STEPS; step++) {
    if (step == 2 || step == 3) PetscCall(ProblemFill(A, PROBLEM_POISSON, step == 2 ? 1 : 0));
    for (PetscInt i = 0; i < count; i++) {
      if (step == 4) {
        PetscCall(KSPReset(ksp[i]));
        PetscCall(KSPSetOperators(ksp[i], A, A));
        PetscCall(KSPSetFromOptions(ksp[i]));
      }
      PetscCall(VecSet(x, 0));
      PetscCall(KSPSolve(ksp[i], b, x));
      PetscCall(Check(ksp[i], round, step, &expected[step == 2]));
    }
  }
  for (PetscInt i = 0; i < count; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char    *types[TYPES_MOST];
  PetscInt count = TYPES_MOST, rounds = 3, expected[] = {-1, -1};
  Mat      A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &rounds, NULL));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, NULL, &A));
  for (PetscInt round = 0; round < rounds; round++) PetscCall(RunRound(A, types, count, round, expected));
  for (PetscInt i = 0; i < count; i++) PetscCall(PetscFree(types[i]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      args: -types cg,cgdevice -ksp_norm_type {{preconditioned natural}}
      test:
         suffix: jacobi
         args: -pc_type jacobi
      test:
         suffix: multicolor
         args: -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor
      test:
         suffix: gamg
         args: -n 900 -rounds 2 -pc_type gamg -mg_levels_pc_type sptrsvgpu
         args: -mg_levels_pc_sptrsvgpu_ordering {{natural multicolor}}

TEST*/
