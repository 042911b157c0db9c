static char help[] = "Time steps of PETSc's TS by KSP type cgdevice, compared with cg.\n\n";

/*
   u' = -A u by the implicit Euler method, with the same time steps for both types. It prints nothing if both types take
   as many iterations in each step, give the same solution, and cgdevice solves on the GPU if it can. There it may take
   an iteration more or less in each step, as its sums round differently.
*/
#include <petscts.h>
#include "../common.h"

enum { STEPS = 5 };

static PetscErrorCode CountIterations(TS ts, PetscInt step, PetscReal time, Vec u, void *counts)
{
  PetscFunctionBeginUser;
  (void)time, (void)u;
  PetscCall(TSGetKSPIterations(ts, &((PetscInt *)counts)[step]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char type[], Vec u, PetscInt counts[], char view[], size_t size)
{
  TS      ts;
  SNES    snes;
  KSP     ksp;
  Mat     A;
  TSAdapt adapt;

  PetscFunctionBeginUser;
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, NULL, &A));
  PetscCall(MatScale(A, -1));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSSetTimeStep(ts, 0.5));
  PetscCall(TSSetMaxSteps(ts, STEPS));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSMonitorSet(ts, CountIterations, counts, NULL));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetTolerances(ksp, KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(FillVec(u, 1));
  PetscCall(TSSolve(ts, u));
  PetscCall(ViewText((PetscObject)ksp, view, size));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat         A;
  Vec         u[2];
  PetscInt    counts[2][STEPS + 1] = {{0}};
  char        view[8192];
  PetscBool   device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, NULL, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, ""));
  device = (PetscBool)(device && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatCreateVecs(A, &u[i], NULL));
    PetscCall(Run(i ? "cgdevice" : KSPCG, u[i], counts[i], view, sizeof(view)));
  }
  for (PetscInt step = 1; step <= STEPS; step++)
    if (!counts[0][step] || PetscAbsInt(counts[0][step] - counts[1][step]) > (device ? step : 0))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%" PetscInt_FMT " iterations up to step %" PetscInt_FMT ", cg: %" PetscInt_FMT "\n",
                            counts[1][step], step, counts[0][step]));
  PetscCall(CheckVec("the solution", u[1], u[0], 1e-6));
  if (!strstr(view, device ? "scalars on the GPU; " : "solved by PETSc's own type: "))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the view does not say who solved:\n%s", view));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&u[i]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: jacobi
         args: -pc_type jacobi
      test:
         suffix: multicolor
         nsize: {{1 2}}
         args: -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor

TEST*/
