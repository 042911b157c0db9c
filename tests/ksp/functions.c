static char help[] = "PETSc's functions for KSPCG, called for cgdevice.\n\n";

#include "../common.h"

/* The objective of the last solve, without an initial guess. */
static PetscErrorCode Solve(const char type[], PetscBool single, Mat A, Vec b, Vec x, PetscReal *objective, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPCGUseSingleReduction(*ksp, single));
  PetscCall(KSPSolve(*ksp, b, x));
  if (!single) PetscCall(KSPCGGetObjFcn(*ksp, objective));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckView(KSP ksp, const char line[])
{
  FILE       *file = tmpfile();
  char        text[8192];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  (void)fclose(file);
  if (!strstr(text, line)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the view lacks \"%s\":\n%s", line, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat       A;
  Vec       b, x[2];
  KSP       ksp[2];
  PetscReal objective[2];
  PetscInt  iterations[2];
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_POISSON, 400, NULL, &A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, ""));
  device = (PetscBool)(device && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(FillVec(b, 1));
  for (int single = 1; single >= 0; single--) {
    for (int i = 0; i < 2; i++) {
      PetscCall(Solve(i ? KSPCG : "cgdevice", (PetscBool)single, A, b, x[i], &objective[i], &ksp[i]));
      PetscCall(KSPGetIterationNumber(ksp[i], &iterations[i]));
    }
    if (PetscAbsInt(iterations[0] - iterations[1]) > 1)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "single reduction %d: %" PetscInt_FMT " iterations, should be %"
                            PetscInt_FMT "\n", single, iterations[0], iterations[1]));
    PetscCall(CheckVec(single ? "single reduction" : "two reductions", x[0], x[1], 1e-6));
    if (!single && !(PetscAbsReal(objective[0] - objective[1]) <= TOLERANCE(1e-6) * PetscAbsReal(objective[1])))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "objective %g, should be %g\n", (double)objective[0],
                            (double)objective[1]));
    if (device)
      PetscCall(CheckView(ksp[0], single ? "solved by PETSc's own type: it uses a single reduction\n" :
                                           "scalars on the GPU; "));
    for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  }
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
