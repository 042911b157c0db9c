static char help[] = "Calls between solves: PETSc's functions for KSPCG, and a guess for KSPBCGS.\n\n";

#include "../common.h"

static PetscErrorCode CheckView(KSP ksp, const char line[])
{
  char text[8192];

  PetscFunctionBeginUser;
  PetscCall(ViewText((PetscObject)ksp, text, sizeof(text)));
  if (!strstr(text, line)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the view lacks \"%s\":\n%s", line, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const char type[], Mat A, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A single reduction that is set and unset between solves. device: cgdevice solves on the device if it can. */
static PetscErrorCode CheckSingleReduction(Mat A, Vec b, Vec x[2], PetscBool device)
{
  static const PetscBool single[] = {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  KSP                    ksp[2];
  PetscInt               iterations[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(Create(i ? KSPCG : "cgdevice", A, &ksp[i]));
  for (int s = 0; s < 3; s++) {
    for (int i = 0; i < 2; i++) {
      if (s && i) { /* without it PETSc's type crashes before 3.26 */
        PetscCall(KSPReset(ksp[i]));
        PetscCall(KSPSetOperators(ksp[i], A, A));
      }
      if (s) PetscCall(KSPCGUseSingleReduction(ksp[i], single[s]));
      PetscCall(KSPSolve(ksp[i], b, x[i]));
      PetscCall(KSPGetIterationNumber(ksp[i], &iterations[i]));
    }
    if (PetscAbsInt(iterations[0] - iterations[1]) > 1)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "solve %d: %" PetscInt_FMT " iterations, should be %" PetscInt_FMT "\n", s, iterations[0],
                            iterations[1]));
    PetscCall(CheckVec(single[s] ? "single reduction" : "two reductions", x[0], x[1], 1e-6));
    if (device)
      PetscCall(CheckView(ksp[0], single[s] ? "solved by PETSc's own type: it uses a single reduction\n" :
                                              "scalars on the GPU; "));
  }
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PETSC_VERSION_GE(3, 21, 0)
/* The objective is PETSc's after a solve by PETSc's type, an error after a solve on the device. */
static PetscErrorCode CheckObjective(Mat A, Vec b, Vec x[2], PetscBool device)
{
  PetscReal objective[2];
  KSP       ksp[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(Create(i ? KSPCG : "cgdevice", A, &ksp[i]));
  PetscCall(KSPCGGetObjFcn(ksp[0], &objective[0])); /* before a solve */
  PetscCall(KSPSolve(ksp[0], b, x[0]));
  if (device) CheckError(PETSC_ERR_SUP, KSPCGGetObjFcn(ksp[0], &objective[0]));
  for (int i = 0; i < 2; i++) {
    PetscCall(KSPCGSetObjectiveTarget(ksp[i], -1e30));
    PetscCall(KSPSolve(ksp[i], b, x[i]));
    PetscCall(KSPCGGetObjFcn(ksp[i], &objective[i]));
  }
  if (!(objective[1] < 0) || objective[0] != objective[1])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "objective %g, should be %g\n", (double)objective[0],
                          (double)objective[1]));
  PetscCall(KSPCGUseSingleReduction(ksp[0], PETSC_FALSE));
  PetscCall(KSPCGGetObjFcn(ksp[0], &objective[0]));
  if (objective[0] != objective[1]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the objective is lost\n"));
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* A monitor: the norm of an iteration is that of the residual of the solution that PETSc builds. context: vectors. */
static PetscErrorCode CheckBuilt(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Vec      *work = context, built;
  Mat       A;
  Vec       b;
  PetscReal true_norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPBuildSolution(ksp, work[0], &built));
  PetscCall(MatResidual(A, b, built, work[1]));
  PetscCall(VecNorm(work[1], NORM_2, &true_norm));
  if (!(PetscAbsReal(norm - true_norm) <= KSP_TOLERANCE(1e-6)))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iteration %" PetscInt_FMT ": norm %g, should be %g\n", iteration,
                          (double)norm, (double)true_norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with and without a guess, and with the preconditioner on either side, in turn. */
static PetscErrorCode CheckGuess(Mat A, Vec b, Vec x[2])
{
  KSP ksp;
  Vec work[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(VecDuplicate(b, &work[i]));
  PetscCall(Create("bcgsdevice", A, &ksp));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSolve(ksp, b, x[1]));
  PetscCall(VecSet(x[0], 1));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x[0]));
  PetscCall(CheckVec("a guess", x[0], x[1], 1e-6));
  PetscCall(KSPSetPCSide(ksp, PC_LEFT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_PRECONDITIONED));
  PetscCall(VecSet(x[0], 1));
  PetscCall(KSPSolve(ksp, b, x[0]));
  PetscCall(CheckVec("a guess with the preconditioner on the left", x[0], x[1], 1e-6));
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(VecSet(x[0], 1));
  PetscCall(KSPSolve(ksp, b, x[0]));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_FALSE));
  PetscCall(KSPMonitorSet(ksp, CheckBuilt, work, NULL));
  PetscCall(KSPSolve(ksp, b, x[0]));
  PetscCall(CheckVec("no guess after a guess", x[0], x[1], 1e-6));
  PetscCall(KSPDestroy(&ksp));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountApply(PC pc, Vec x, Vec y)
{
  PetscInt *applies;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &applies));
  ++*applies;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, 0.02));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve whose norms fall evenly launches no iteration for nothing: PCApply is called as often as by PETSc's type. */
static PetscErrorCode CheckApplies(Mat A, Vec b, Vec x)
{
  static const char *const types[] = {KSPCG, "cgdevice", KSPBCGS, "bcgsdevice"};
  PetscInt                 applies[4] = {0}, iterations[4];
  Mat                      shifted;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &shifted));
  PetscCall(MatShift(shifted, 40));
  for (int i = 0; i < 4; i++) {
    KSP ksp;
    PC  pc;

    PetscCall(Create(types[i], shifted, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCSHELL));
    PetscCall(PCShellSetContext(pc, &applies[i]));
    PetscCall(PCShellSetApply(pc, CountApply));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &iterations[i]));
    PetscCall(KSPDestroy(&ksp));
  }
  for (int i = 0; i < 4; i += 2)
    if (iterations[i] != iterations[i + 1] || applies[i] != applies[i + 1] || iterations[i] < 3)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%s: %" PetscInt_FMT " iterations with %" PetscInt_FMT " calls of PCApply, should be %"
                            PetscInt_FMT " with %" PetscInt_FMT "\n", types[i + 1], iterations[i + 1], applies[i + 1],
                            iterations[i], applies[i]));
  PetscCall(MatDestroy(&shifted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat         A;
  Vec         b, x[2];
  PetscBool   device;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, NULL, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, ""));
  device = (PetscBool)(device && ranks == 1 && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(FillVec(b, 1));
  PetscCall(CheckSingleReduction(A, b, x, device));
  PetscCall(CheckGuess(A, b, x));
  PetscCall(CheckApplies(A, b, x[0]));
#if PETSC_VERSION_GE(3, 21, 0)
  PetscCall(CheckObjective(A, b, x, device));
#endif
  PetscCall(VecDestroy(&b));
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      output_file: output/empty.out

TEST*/
