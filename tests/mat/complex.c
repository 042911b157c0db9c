static char help[] =
  "Complex matrices: Hermitian ones, symmetric ones, SPD ones; their ICC against PETSc's ILU, and zero pivots.\n\
  -kind <hermitian,symmetric,spd> : what the matrix is, and is known to be\n\
  -also_spd : a Hermitian matrix is also said to be SPD\n\n";

/*
   Without fill, and with a symmetric pattern of A, U^H D U of a Hermitian matrix and U^T D U of a symmetric one equal
   its L U. So PETSc's ILU(0) is the reference for both.
*/
#include "../common.h"
#include <sptrsvgpu.h>

typedef enum {
  KIND_HERMITIAN,
  KIND_SYMMETRIC,
  KIND_SPD /* zero imaginary parts */
} Kind;
static const char *const Kinds[] = {"hermitian", "symmetric", "spd", "Kind", "KIND_", NULL};

/* Five points; s changes the values */
static PetscErrorCode FillMatrix(Mat A, Kind kind, PetscReal s)
{
  PetscInt n, m, start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  m = (PetscInt)PetscSqrtReal((PetscReal)n);
  for (PetscInt i = start; i < end; i++) {
    const PetscInt near[] = {i - m, i % m ? i - 1 : -1, i % m < m - 1 ? i + 1 : -1, i + m < n ? i + m : -1};

    PetscCall(MatSetValue(A, i, i, kind == KIND_SYMMETRIC ? (4.5 + s) * PHASE(0.3) : 4.5 + s, INSERT_VALUES));
    for (int k = 0; k < 4; k++) {
      const PetscReal y = kind == KIND_SPD                          ? 0
                        : (near[k] > i) == (kind == KIND_HERMITIAN) ? 0.4
                        : kind == KIND_HERMITIAN                    ? -0.4
                                                                    : 0.4;

      if (near[k] >= 0) PetscCall(MatSetValue(A, i, near[k], -PHASE(y), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A,
                         kind == KIND_HERMITIAN   ? MAT_HERMITIAN
                         : kind == KIND_SYMMETRIC ? MAT_SYMMETRIC
                                                  : MAT_SPD,
                         PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCSPTRSVGPU, not PCICC, whose PCApplyTranspose() is PCApply() */
static PetscErrorCode MakePC(Mat A, PCType pctype, MatFactorType type, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, pctype));
  PetscCall(PCSpTRSVGPUSetFactorType(*pc, type));
  PetscCall(PCSetUp(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares applies, transposes and halves; the preconditioner of a Hermitian matrix must be Hermitian. */
static PetscErrorCode Compare(PC pc, PC reference, Kind kind)
{
  Mat         A, F;
  Vec         b, c, x, y, z;
  PetscScalar one, other;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &c));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(FillVec(b, 1));
  PetscCall(FillVec(c, 2));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscCall(PCApplyTranspose(reference, b, y));
  PetscCall(CheckVec("PCApplyTranspose", x, y, 1e-12));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApply(reference, b, y));
  PetscCall(CheckVec("PCApply", x, y, 1e-12));
  if (kind != KIND_SYMMETRIC) { /* its pivots have no real square roots */
    PetscCall(MatForwardSolve(F, b, z));
    PetscCall(MatBackwardSolve(F, z, y));
    PetscCall(CheckVec("MatForwardSolve, MatBackwardSolve", y, x, 1e-12));
    PetscCall(PCApply(pc, c, y));
    PetscCall(VecDot(x, c, &one));
    PetscCall(VecDot(b, y, &other));
    if (!(PetscAbsScalar(one - other) <= TOLERANCE(1e-12) * PetscAbsScalar(one)))
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not Hermitian: %g and %g\n", (double)PetscAbsScalar(one),
                            (double)PetscAbsScalar(one - other)));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A KSP needs at most half of the iterations of one without preconditioner. */
static PetscErrorCode CheckIterations(Mat A, Kind kind, const char solver[])
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  PetscInt           its[2];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(FillVec(b, 1));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, kind == KIND_SYMMETRIC ? KSPGMRES : KSPCG));
    PetscCall(KSPSetTolerances(ksp, KSP_TOLERANCE(1e-6), PETSC_CURRENT, PETSC_CURRENT, 500));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, k ? solver : PCNONE));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (reason <= 0)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", k ? solver : PCNONE, KSPConvergedReasons[reason]));
    PetscCall(KSPDestroy(&ksp));
  }
  if (2 * its[1] > its[0])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, without preconditioner %" PetscInt_FMT "\n",
                          its[1], its[0]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The default is ICC if the matrix is known to be SPD; on the host not if it is Hermitian, because PETSc's ICC is for
   symmetric matrices */
static PetscErrorCode CheckDefault(Mat A, Kind kind, PetscBool also_spd, PetscBool device)
{
  const PetscBool spd = (PetscBool)(kind == KIND_SPD || also_spd),
                  icc = (PetscBool)(spd && (device || kind != KIND_HERMITIAN));
  PC            pc;
  MatFactorType type;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSpTRSVGPUGetChosenFactorType(pc, &type));
  if (type != (icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "by default %s\n", MatFactorTypes[type]));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pivots are judged by magnitude: i is not zero, the rest of row n / 2 is. */
static PetscErrorCode CheckZeroPivot(PetscInt n)
{
  Mat            A, F;
  PC             pc;
  PCFailedReason failed;
  PetscReal      pivot;
  PetscInt       row;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, n, n, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  for (int zero = 0; zero < 2; zero++) {
    for (PetscInt i = 0; i < n; i++) {
      const PetscScalar d = 2 * (PHASE(1) - 1); /* 2 i */

      PetscCall(MatSetValue(A, i, i, zero && i == n / 2 ? 1 / d : d, INSERT_VALUES));
      if (i > 0) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
      if (i < n - 1) PetscCall(MatSetValue(A, i, i + 1, i + 1 == n / 2 ? -1 : 0, INSERT_VALUES));
    }
    if (!zero) PetscCall(MatSetValue(A, n / 2 - 1, n / 2, 0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &failed));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatFactorGetErrorZeroPivot(F, &pivot, &row));
    if ((failed == PC_FACTOR_NUMERIC_ZEROPIVOT) != zero || (zero && (row != n / 2 || pivot > 1e-6)))
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "pivots of 2 i%s: %s, row %" PetscInt_FMT ", pivot %g\n",
                            zero ? " and a zero" : "", PCFailedReasons[failed], row, (double)pivot));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Kind      kind = KIND_HERMITIAN;
  PetscInt  n    = 400;
  Mat       A, host;
  PC        pc, reference;
  PetscBool device, also_spd = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-kind", Kinds, (PetscEnum *)&kind, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-also_spd", &also_spd, NULL));
  PetscCall(CheckZeroPivot(6));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(FillMatrix(A, kind, 0));
  if (also_spd) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &device));
  PetscCall(CheckDefault(A, kind, also_spd, device));
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &host));
  PetscCall(MakePC(host, PCILU, MAT_FACTOR_ILU, &reference));
  PetscCall(
    MakePC(A, PCSPTRSVGPU, kind == KIND_HERMITIAN && also_spd && !device ? MAT_FACTOR_ILU : MAT_FACTOR_ICC, &pc));
  if (kind != KIND_HERMITIAN || device) PetscCall(Compare(pc, reference, kind));
  PetscCall(CheckIterations(A, kind, PCSPTRSVGPU));
  PetscCall(FillMatrix(A, kind, 0.5));
  PetscCall(FillMatrix(host, kind, 0.5));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUp(reference));
  if (kind != KIND_HERMITIAN || device) PetscCall(Compare(pc, reference, kind));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&reference));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&host));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   build:
      requires: complex

   testset:
      requires: complex
      test:
         suffix: icc
         args: -kind {{symmetric spd}}
         output_file: output/empty.out
      test:
         suffix: hermitian_spd
         args: -also_spd
         output_file: output/empty.out
      test:
         suffix: hermitian
         args: -mat_type aij
         filter: Error: grep -o "ICC on the host is for complex symmetric matrices, and this matrix is Hermitian"
      test:
         suffix: hermitian_device
         requires: cuda
         args: -mat_type aijcusparse
         output_file: output/empty.out

TEST*/
