static char help[] = "Settings of a PC, and the type of its matrix, that change between set-ups, against a new PC.\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

typedef enum {
  NOTHING,
  SHIFT_NONZERO,
  SHIFT_INBLOCKS,
  SHIFT_DEFINITE,
  ORDER_RCM,
  ORDER_MULTICOLOR,
  KIND_ICC,
  DIAGONAL
} Setting;

static PetscErrorCode Set(PC pc, Setting setting)
{
  static const MatFactorShiftType shifts[] = {[SHIFT_NONZERO]  = MAT_SHIFT_NONZERO,
                                              [SHIFT_INBLOCKS] = MAT_SHIFT_INBLOCKS,
                                              [SHIFT_DEFINITE] = MAT_SHIFT_POSITIVE_DEFINITE};

  PetscFunctionBeginUser;
  switch (setting) {
  case NOTHING: break;
  case SHIFT_NONZERO:
  case SHIFT_INBLOCKS:
  case SHIFT_DEFINITE:
    PetscCall(PCFactorSetShiftType(pc, shifts[setting]));
    PetscCall(PCFactorSetShiftAmount(pc, 0.3));
    break;
  case ORDER_RCM: PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM)); break;
  case ORDER_MULTICOLOR: PetscCall(PCSpTRSVGPUSetOrdering(pc, SPTRSVGPU_ORDERING_MULTICOLOR)); break;
  case KIND_ICC: PetscCall(PCSpTRSVGPUSetFactorType(pc, MAT_FACTOR_ICC)); break;
  case DIAGONAL: PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-10)); break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetPivots(Mat A, PetscScalar v)
{
  const PetscInt rows[] = {0, 41};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(MatSetValue(A, rows[i], rows[i], v, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both solve by the same algorithm: at the same place. */
static PetscErrorCode CheckAlgorithm(const char what[], PC pc, PC anew)
{
  const PC    pcs[]   = {pc, anew};
  const char *name[2] = {NULL, NULL};
  PetscBool   same;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    MatSolverType type;
    PetscBool     ours;
    Mat           F;

    PetscCall(PCFactorGetMatrix(pcs[i], &F));
    PetscCall(MatFactorGetSolverType(F, &type));
    PetscCall(PetscStrcmp(type, MATSOLVERSPTRSVGPU, &ours));
    if (!ours) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatSpTRSVGPUGetChosenAlgorithm(F, SPTRSVGPU_LOWER, &name[i]));
  }
  PetscCall(PetscStrcmp(name[0], name[1], &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: algorithm %s, should be %s\n", what, name[0], name[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The PC has the outcome and the solves of a new one with these settings. */
static PetscErrorCode CheckAnew(const char what[], PC pc, Mat A, Setting one, Setting two)
{
  PC             anew;
  PCFailedReason reason[2];
  Vec            b, x, y;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, &anew));
  PetscCall(PCSetType(anew, PCSPTRSVGPU));
  PetscCall(Set(anew, one));
  PetscCall(Set(anew, two));
  PetscCall(PCSetOperators(anew, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUp(anew));
  PetscCall(PCGetFailedReason(pc, &reason[0]));
  PetscCall(PCGetFailedReason(anew, &reason[1]));
  if (reason[0] != reason[1])
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s, should be %s\n", what, PCFailedReasons[reason[0]],
                          PCFailedReasons[reason[1]]));
  if (!reason[0] && !reason[1]) {
    PetscCall(CheckAlgorithm(what, pc, anew));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(FillVec(b, 1));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PCApply(anew, b, y));
    PetscCall(CheckVec(what, x, y, 1e-12));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscCall(PCDestroy(&anew));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up, another setting, and a set-up with new values in the same pattern. zero: the first set-up finds a zero
   pivot. is_error: and ends with an error. */
static PetscErrorCode CheckChange(Setting one, Setting two, PetscBool zero, PetscBool is_error)
{
  char what[64];
  Mat  A;
  PC   pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof(what), "settings %d, %d, zero pivot %d, error %d", (int)one, (int)two,
                          (int)zero, (int)is_error));
  PetscCall(ProblemCreate(PETSC_COMM_SELF, PROBLEM_CONVECTION, 100, &A));
  if (zero) PetscCall(SetPivots(A, 0));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(Set(pc, one));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetErrorIfFailure(pc, is_error));
  if (is_error) CheckError(PETSC_ERR_MAT_LU_ZRPVT, PCSetUp(pc));
  else PetscCall(PCSetUp(pc));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_FALSE));
  PetscCall(Set(pc, two));
  PetscCall(SetPivots(A, two == DIAGONAL || two <= SHIFT_DEFINITE ? 0 : 9));
  PetscCall(CheckAnew(what, pc, A, one, two));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a first set-up with an error: a view to a string, PETSc's solver type, or PCReset() and a factor that a user
   prepares. */
static PetscErrorCode CheckAfterError(void)
{
  char        text[256];
  Mat         A, F, used;
  PC          pc;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  for (int reset = 0; reset < 2; reset++) {
    PetscCall(ProblemCreate(PETSC_COMM_SELF, PROBLEM_CONVECTION, 100, &A));
    PetscCall(SetPivots(A, 0));
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
    CheckError(PETSC_ERR_MAT_LU_ZRPVT, PCSetUp(pc));
    PetscCall(PetscViewerStringOpen(PETSC_COMM_SELF, text, sizeof(text), &viewer));
    PetscCall(PCView(pc, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(SetPivots(A, 9));
    if (reset) {
      PetscCall(PCReset(pc));
      PetscCall(PCSetOperators(pc, A, A));
      PetscCall(PCFactorSetUpMatSolverType(pc));
      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(PetscObjectReference((PetscObject)F)); /* so no other factor gets its address */
      PetscCall(PCSetUp(pc));
      PetscCall(PCFactorGetMatrix(pc, &used));
      if (used != F) PetscCall(PetscPrintf(PETSC_COMM_SELF, "the set-up replaces a factor that is not used yet\n"));
      PetscCall(MatDestroy(&F));
    } else PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
    PetscCall(CheckAnew("after an error", pc, A, NOTHING, NOTHING));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another solver type after the factor was made, before the set-up. */
static PetscErrorCode CheckSolverType(MatSolverType first, MatSolverType second)
{
  Mat           A, F;
  PC            pc;
  MatSolverType type;
  PetscBool     same;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_SELF, PROBLEM_CONVECTION, 100, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetMatSolverType(pc, first));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorSetMatSolverType(pc, second));
  for (int i = 0; i < 2; i++) {
    PetscCall(CheckAnew(second, pc, A, NOTHING, NOTHING));
    PetscCall(MatScale(A, 2));
  }
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatFactorGetSolverType(F, &type));
  PetscCall(PetscStrcmp(type, second, &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_SELF, "solver type %s, should be %s\n", type, second));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in groups of four with equal columns, which PETSc factors together on the host */
static PetscErrorCode MakeGroups(Mat *A)
{
  const PetscInt n = 48;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSetUp(*A));
  for (PetscInt i = 0; i < n; i++)
    for (PetscInt j = i / 4 * 4; j < PetscMin(n, i / 4 * 4 + 8); j++)
      PetscCall(MatSetValue(*A, i, j, i == j ? 5 : -0.5, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A conversion in place from aij to this type and back keeps the matrix object and the state of its pattern. The shift
   is of zero pivots. */
static PetscErrorCode CheckConverted(MatType to, Setting shift)
{
  Mat           A, B, F;
  PC            pc;
  Vec           b, x, y;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MakeGroups(&A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(Set(pc, shift));
  if (shift) PetscCall(SetPivots(A, 0));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  for (int i = 0; i < 2; i++) {
    PetscCall(MatConvert(A, i ? MATSEQAIJ : to, MAT_INPLACE_MATRIX, &A));
    PetscCall(MatScale(A, 2));
    PetscCall(CheckAnew("converted in place", pc, A, shift, NOTHING));
  }
  PetscCall(PCDestroy(&pc));
  if (shift) PetscCall(SetPivots(A, 5));

  /* a numeric phase with a matrix of the other type */
  PetscCall(MatConvert(A, to, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(MatScale(B, 0.5));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVec(b, 1));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatSolve(F, b, x));
  PetscCall(MatLUFactorNumeric(F, B, &info));
  PetscCall(MatSolve(F, b, y));
  PetscCall(VecScale(y, 0.5));
  PetscCall(CheckVec("a matrix of the other type", y, x, 1e-12));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static const Setting after_error[] = {NOTHING, ORDER_RCM, ORDER_MULTICOLOR, KIND_ICC, DIAGONAL};

  Mat       A;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  for (Setting one = NOTHING; one <= SHIFT_DEFINITE; one++)
    for (Setting two = NOTHING; two <= SHIFT_DEFINITE; two++) {
      PetscCall(CheckChange(one, two, PETSC_FALSE, PETSC_FALSE));
      PetscCall(CheckChange(one, two, PETSC_TRUE, PETSC_FALSE));
    }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(after_error); i++)
    PetscCall(CheckChange(NOTHING, after_error[i], PETSC_TRUE, PETSC_TRUE));
  PetscCall(CheckAfterError());
  PetscCall(CheckSolverType(MATSOLVERSPTRSVGPU, MATSOLVERPETSC));
  PetscCall(CheckSolverType(MATSOLVERPETSC, MATSOLVERSPTRSVGPU));
  PetscCall(ProblemCreate(PETSC_COMM_SELF, PROBLEM_POISSON, 4, &A));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &device));
  PetscCall(MatDestroy(&A));
  if (device) {
    PetscCall(CheckConverted(MATSEQAIJCUSPARSE, NOTHING));
    PetscCall(CheckConverted(MATSEQAIJCUSPARSE, SHIFT_NONZERO));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      output_file: output/empty.out
      args: -mat_sptrsvgpu_factorization {{auto device host}}

TEST*/
