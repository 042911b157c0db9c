static char help[] =
  "ILU(0) of a Matrix Market file, by PETSc on the host and by the plugin: same outcome, solves and iterations.\n\
  -f <file> : the matrix\n\n";

/*
   Each matrix twice: its pattern with a full diagonal and seeded dominant values, and the file's own values if the
   diagonal is complete. Prints one line; exits with 1 if something differs.
*/
#include "../common.h"
#include "mtx.h"

static PetscBool failed = PETSC_FALSE;
static PetscBool loose  = PETSC_FALSE; /* rounding determines the factor */

/* For numbers that must be equal */
static PetscErrorCode Different(const char format[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
static PetscErrorCode Different(const char format[], ...)
{
  va_list ap;

  PetscFunctionBeginUser;
  failed = PETSC_TRUE;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " DIFFERENT: "));
  va_start(ap, format);
  PetscCall(PetscVFPrintf(PETSC_STDOUT, format, ap));
  va_end(ap);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with ILU(0), and its factor */
static PetscErrorCode MakeFactor(Mat A, const char solver[], KSP *ksp, Mat *F, MatFactorError *error)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(*ksp, KSP_TOLERANCE(1e-8), PETSC_CURRENT, PETSC_CURRENT, 20));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCILU));
  PetscCall(PCFactorSetMatSolverType(pc, solver));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscCall(MatFactorGetError(*F, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The change of PETSc's own solve after a change of A's last digits: a factor with other roundings may differ by this
 */
static PetscErrorCode MeasureRounding(Mat A, PetscBool transposed, Vec b, Vec y, PetscReal *difference)
{
  Mat            plain, R;
  KSP            ksp;
  Vec            x;
  PetscScalar   *a;
  MatInfo        info;
  MatFactorError error;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &plain));
  PetscCall(MatGetInfo(plain, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetArray(plain, &a));
  for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++) a[k] *= 1 + (k % 5 - 2) * PETSC_MACHINE_EPSILON;
  PetscCall(MatSeqAIJRestoreArray(plain, &a));
  PetscCall(MakeFactor(plain, "petsc", &ksp, &R, &error));
  *difference = PETSC_INFINITY;
  if (!error) {
    PetscCall(VecDuplicate(y, &x));
    if (transposed) PetscCall(MatSolveTranspose(R, b, x));
    else PetscCall(MatSolve(R, b, x));
    PetscCall(VecAXPY(x, -1, y));
    PetscCall(VecNorm(x, NORM_INFINITY, difference));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Expects equality to 1e-10, or up to the effect of rounding, or that neither is finite */
static PetscErrorCode CompareVecs(const char what[], Mat A, PetscBool transposed, Vec b, Vec x, Vec y)
{
  PetscReal norm, difference, own, rounding;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(x, NORM_INFINITY, &own));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (PetscIsInfOrNanReal(norm) && PetscIsInfOrNanReal(own)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s not finite in both,", what));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecAXPY(x, -1, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &difference));
  if (difference <= TOLERANCE(1e-10) * norm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MeasureRounding(A, transposed, b, y, &rounding));
  if (difference <= 20 * rounding || rounding > 1e-3 * norm) {
    loose = PETSC_TRUE;
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, " %s by %.1e of %.1e, as rounding does,", what, (double)difference, (double)norm));
  } else PetscCall(Different("%s by %.1e of %.1e,", what, (double)difference, (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do two solves have the same residuals, to 1e-6, from first to last? */
static PetscErrorCode HasSameHistory(KSP one, KSP other, PetscBool *same)
{
  const PetscReal *h[2];
  PetscInt         n[2];

  PetscFunctionBeginUser;
  PetscCall(KSPGetResidualHistory(one, &h[0], &n[0]));
  PetscCall(KSPGetResidualHistory(other, &h[1], &n[1]));
  *same = (PetscBool)(n[0] == n[1]);
  for (PetscInt k = 0; k < PetscMin(n[0], n[1]); k++)
    *same = (PetscBool)(*same && PetscAbsReal(h[0][k] - h[1][k]) <= TOLERANCE(1e-6) * h[1][k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does PETSc's own history change after a change of b's last digits? Then rounding determines it, and ours may differ.
 */
static PetscErrorCode IsSensitive(KSP petscs, Vec b, Vec x, PetscBool *sensitive)
{
  KSP          again;
  PC           pc;
  Vec          near;
  PetscScalar *a;
  PetscInt     n;
  PetscBool    same;
  PetscReal    rtol;
  PetscInt     maxits;
  KSPType      type;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(petscs, &pc));
  PetscCall(KSPGetTolerances(petscs, &rtol, NULL, NULL, &maxits));
  PetscCall(KSPGetType(petscs, &type));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &again));
  PetscCall(KSPSetType(again, type));
  PetscCall(KSPSetPC(again, pc));
  PetscCall(KSPSetTolerances(again, rtol, PETSC_CURRENT, PETSC_CURRENT, maxits));
  PetscCall(KSPSetResidualHistory(again, NULL, 100, PETSC_TRUE));
  PetscCall(VecDuplicate(b, &near));
  PetscCall(VecCopy(b, near));
  PetscCall(VecGetLocalSize(near, &n));
  PetscCall(VecGetArray(near, &a));
  for (PetscInt i = 0; i < n; i++) a[i] *= 1 + (i % 3 - 1) * 4 * PETSC_MACHINE_EPSILON;
  PetscCall(VecRestoreArray(near, &a));
  PetscCall(KSPSolve(again, near, x));
  PetscCall(HasSameHistory(again, petscs, &same));
  *sensitive = (PetscBool)!same;
  PetscCall(VecDestroy(&near));
  PetscCall(KSPDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat A)
{
  KSP                ksp[2];
  Mat                F, R;
  Vec                b, x, y;
  MatFactorError     ours, petscs;
  PetscInt           iterations[2];
  KSPConvergedReason reason[2];
  PetscBool          same, sensitive = PETSC_FALSE;

  PetscFunctionBeginUser;
  loose = PETSC_FALSE;
  PetscCall(MakeFactor(A, "sptrsvgpu", &ksp[0], &F, &ours));
  PetscCall(MakeFactor(A, "petsc", &ksp[1], &R, &petscs));
  if (ours != petscs) PetscCall(Different("factor error %d, should be %d", (int)ours, (int)petscs));
  else if (ours) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " factor error %d in both", (int)ours));
  else {
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(FillVec(b, 1));
    PetscCall(MatSolve(F, b, x));
    PetscCall(MatSolve(R, b, y));
    PetscCall(CompareVecs("MatSolve", A, PETSC_FALSE, b, x, y));
    PetscCall(MatSolveTranspose(F, b, x));
    PetscCall(MatSolveTranspose(R, b, y));
    PetscCall(CompareVecs("MatSolveTranspose", A, PETSC_TRUE, b, x, y));
    for (int i = 0; i < 2; i++) {
      PetscCall(KSPSetResidualHistory(ksp[i], NULL, 100, PETSC_TRUE));
      PetscCall(KSPSolve(ksp[i], b, x));
      PetscCall(KSPGetIterationNumber(ksp[i], &iterations[i]));
      PetscCall(KSPGetConvergedReason(ksp[i], &reason[i]));
    }
    PetscCall(HasSameHistory(ksp[0], ksp[1], &same));
    if (!same && loose) sensitive = PETSC_TRUE;
    else if (!same) PetscCall(IsSensitive(ksp[1], b, x, &sensitive));
    if (sensitive)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT " and %" PetscInt_FMT " iterations, by rounding",
                            iterations[0], iterations[1]));
    else if (!same || reason[0] != reason[1])
      PetscCall(Different("%" PetscInt_FMT " iterations %s, should be %" PetscInt_FMT " %s, or another history",
                          iterations[0], KSPConvergedReasons[reason[0]], iterations[1],
                          KSPConvergedReasons[reason[1]]));
    else
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT " iterations %s", iterations[0],
                            KSPConvergedReasons[reason[0]]));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  for (int i = 0; i < 2; i++) PetscCall(KSPDestroy(&ksp[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadMatrix(const char file[], MtxValues values, Mat *A, MtxReport *r)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MtxLoad(*A, file, values, (PetscBool)(values == MTX_VALUES_DOMINANT), r));
  PetscCheck(r->rows == r->cols, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "%s is not square", file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char        file[PETSC_MAX_PATH_LEN] = "";
  const char *name;
  Mat         A;
  MtxReport   r;
  MatInfo     info;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), NULL));
  name = strrchr(file, '/');

  PetscCall(LoadMatrix(file, MTX_VALUES_DOMINANT, &A, &r));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " rows, %.0f entries; dominant:", name ? name + 1 : file,
                        r.rows, info.nz_used));
  PetscCall(Compare(A));
  PetscCall(MatDestroy(&A));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "; own values:"));
  if (r.field[0] == 'p') PetscCall(PetscPrintf(PETSC_COMM_WORLD, " none"));
  else if (r.missing) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " diagonal incomplete"));
  else {
    PetscCall(LoadMatrix(file, MTX_VALUES_FILE, &A, &r));
    PetscCall(Compare(A));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
