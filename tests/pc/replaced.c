static char help[] = "Matrices that replace others in a factor or a PC: of other patterns, of other types.\n\n";

#include "../common.h"
#include <sptrsvgpu.h>

/* Three rows, and an entry of row 2 besides the diagonal */
static PetscErrorCode FillMatrix(Mat A, PetscInt column)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) PetscCall(MatSetValue(A, i, i, 4, INSERT_VALUES));
  PetscCall(MatSetValue(A, 2, column, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor is for the pattern of its symbolic phase. */
static PetscErrorCode CheckPatterns(void)
{
  Mat           A, F;
  MatFactorInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, &A));
  PetscCall(MatSetSizes(A, 3, 3, 3, 3));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(FillMatrix(A, 0));
  PetscCall(MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1;
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(FillMatrix(A, 0));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatSeqAIJSetPreallocation(A, 2, NULL));
  PetscCall(FillMatrix(A, 1));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 1, 0, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  CheckError(PETSC_ERR_ARG_INCOMP, MatLUFactorNumeric(F, A, &info));
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies a PC that was set up for the old A, and a new one. */
static PetscErrorCode CheckAnew(const char what[], PC pc, Mat A)
{
  PC  anew;
  Vec b, x, y;

  PetscFunctionBeginUser;
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), &anew));
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

/* PETSc's behavior for matrices of other types is not required of those on a GPU. */
static PetscErrorCode MakeHostMatrix(Problem problem, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_SELF, problem, 100, A));
  PetscCall(MatConvert(*A, MATSEQAIJ, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests that need a matrix of type aij, or a factorization that PETSc lacks for a type, fail and leave no memory
   behind. */
static PetscErrorCode CheckTypes(void)
{
  static const MatType types[]   = {MATSEQDENSE, MATSEQBAIJ, MATSEQBAIJ};
  static const MatType devices[] = {"seqaijkokkos", "seqaijhipsparse", "seqaijviennacl", "seqdensecuda"};
  Mat                  A, B, F;
  PC                   pc;

  PetscFunctionBeginUser;
  for (int t = 0; t < 4; t++) { /* by name, because this PETSc may lack them */
    PetscCall(MakeHostMatrix(PROBLEM_CONVECTION, &A));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, devices[t]));
    CheckError(PETSC_ERR_SUP, MatGetFactor(A, MATSOLVERSPTRSVGPU, MAT_FACTOR_ILU, &F));
    PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATSEQAIJ));
    PetscCall(MatDestroy(&A));
  }
  for (int t = 0; t < 3; t++) {
    PetscCall(MakeHostMatrix(PROBLEM_CONVECTION, &A));
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
    CheckError(t == 0 ? PETSC_ERR_MISSING_FACTOR : PETSC_ERR_SUP, PCSetUp(pc));
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

/* Another matrix replaces the old one, which PETSc may take for the same pattern; and PCs after matrices that they
   cannot factor */
static PetscErrorCode CheckReplaced(void)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBeginUser;
  for (int type = 0; type < 3; type++) { /* PETSc's own solver type; other types of matrices */
    PetscCall(MakeHostMatrix(PROBLEM_CONVECTION, &A));
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
      else CheckError(PETSC_ERR_MISSING_FACTOR, PCSetUp(pc));
      PetscCall(PCReset(pc));
      PetscCall(CheckAnew("after another type", pc, A));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }

  PetscCall(MakeHostMatrix(PROBLEM_RANDOM, &A));
  PetscCall(MakeHostMatrix(PROBLEM_CONVECTION, &B));
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

/* Each row depends on two rows of the same rank, at a distance, both ways around. coo: the entries are preallocated,
   otherwise the rows */
static PetscErrorCode BuildRing(Mat A, PetscInt distance, PetscBool coo)
{
  PetscInt     start, end, count = 0, *rows, *columns;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(PetscMalloc3(3 * (end - start), &rows, 3 * (end - start), &columns, 3 * (end - start), &values));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt n = end - start, far[] = {0, distance, n - distance};

    for (int k = 0; k < 3; k++, count++) {
      rows[count]    = i;
      columns[count] = start + (i - start + far[k]) % n;
      values[count]  = k ? -k : 4;
    }
  }
  if (coo) {
    PetscCall(MatSetPreallocationCOO(A, count, rows, columns));
    PetscCall(MatSetValuesCOO(A, values, INSERT_VALUES));
  } else {
    PetscCall(MatSeqAIJSetPreallocation(A, 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(A, 3, NULL, 0, NULL));
    for (PetscInt k = 0; k < count; k++) PetscCall(MatSetValue(A, rows[k], columns[k], values[k], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree3(rows, columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern in the same matrix, with as many entries; then one with fewer. On several ranks the blocks are new
   objects, and the nonzero state may be the old one. */
static PetscErrorCode CheckRebuilt(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  for (int coo = 0; coo < 2; coo++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetSizes(A, 20, 20, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetFromOptions(A));
    PetscCall(BuildRing(A, 1, (PetscBool)coo));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSPTRSVGPU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(BuildRing(A, 5, (PetscBool)coo));
    PetscCall(CheckAnew("rebuilt", pc, A));
    PetscCall(BuildRing(A, 10, (PetscBool)coo));
    PetscCall(CheckAnew("rebuilt with fewer entries", pc, A));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ICC of host matrices takes the shift that is requested, as PETSc's ICC does. */
static PetscErrorCode CheckShift(void)
{
  static const MatType types[] = {MATSEQAIJ, MATSEQSBAIJ, MATSEQBAIJ};
  Mat                  A, B;
  PC                   pc[2];
  Vec                  b, x[2];
  MatFactorShiftType   shift;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 20, 20, 3, NULL, &A));
  for (PetscInt i = 0; i < 20; i++) {
    PetscCall(MatSetValue(A, i, i, i % 8 ? 2.5 : 0, INSERT_VALUES)); /* the first pivot is zero */
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i) PetscCall(MatSetValue(A, i - 1, i, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  for (int t = 0; t < 3; t++) {
    PetscCall(MatConvert(A, types[t], MAT_INITIAL_MATRIX, &B));
    PetscCall(MatCreateVecs(B, NULL, &b));
    PetscCall(FillVec(b, 1));
    for (int ours = 0; ours < 2; ours++) {
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc[ours]));
      PetscCall(PCSetType(pc[ours], ours ? PCSPTRSVGPU : PCICC));
      if (ours) PetscCall(PCSpTRSVGPUSetFactorType(pc[ours], MAT_FACTOR_ICC));
      else PetscCall(PCFactorSetMatSolverType(pc[ours], MATSOLVERPETSC));
      PetscCall(PCFactorSetShiftType(pc[ours], MAT_SHIFT_NONZERO));
      PetscCall(PCFactorSetShiftAmount(pc[ours], 0.3));
      PetscCall(PCSetOperators(pc[ours], B, B));
      PetscCall(VecDuplicate(b, &x[ours]));
      PetscCall(PCApply(pc[ours], b, x[ours]));
    }
    PetscCall(CheckVec(types[t], x[1], x[0], 0));
    PetscCall(PCFactorGetShiftType(pc[1], &shift));
    if (shift != MAT_SHIFT_NONZERO) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: shift %d\n", types[t], (int)shift));
    for (int ours = 0; ours < 2; ours++) {
      PetscCall(VecDestroy(&x[ours]));
      PetscCall(PCDestroy(&pc[ours]));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(CheckPatterns());
  PetscCall(CheckReplaced());
  PetscCall(CheckRebuilt());
  PetscCall(CheckTypes());
  PetscCall(CheckShift());
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
