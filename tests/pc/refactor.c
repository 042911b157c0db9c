static char help[] =
  "Set-ups against PETSc on the host: new values by MatSetValuesCOO(), same values, new pattern, shifts.\n\
  -icc    : ICC instead of ILU\n\
  -multicolor    : in multicolor order\n\
  -shift  : a MatFactorShiftType\n\
  -amount : of the shift\n\n";

#include <petsc/private/matimpl.h>

#include "../common.h"

/* The entries of a problem's matrix, row by row */
static PetscErrorCode SetEntries(Problem problem, PetscInt n, PetscReal s, PetscCount *count, PetscInt **rows,
                                 PetscInt **cols, PetscScalar **values)
{
  PetscInt     entries, *c;
  PetscScalar *v;

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(PetscMalloc2(n + 8, &c, n + 8, &v));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(ProblemRow(problem, n, i, s, &entries, c, v));
    *count += entries;
  }
  PetscCall(PetscMalloc3(*count, rows, *count, cols, *count, values));
  *count = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(ProblemRow(problem, n, i, s, &entries, c, v));
    for (PetscInt k = 0; k < entries; k++, ++*count) {
      (*rows)[*count]   = i;
      (*cols)[*count]   = c[k];
      (*values)[*count] = v[k];
    }
  }
  PetscCall(PetscFree2(c, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the problem's values in both matrices, after its pattern if that is new */
static PetscErrorCode FillMatrix(Mat A[], Problem problem, PetscInt n, PetscReal s, PetscBool pattern)
{
  PetscCount   count;
  PetscInt    *rows, *cols;
  PetscScalar *values;

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(
      SetEntries(problem, n, s, &count, &rows, &cols, &values)); /* MatSetPreallocationCOO() changes the indices */
    if (pattern) PetscCall(MatSetPreallocationCOO(A[m], count, rows, cols));
    PetscCall(MatSetValuesCOO(A[m], values, INSERT_VALUES));
    PetscCall(PetscFree3(rows, cols, values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another pattern in place, with as many entries: rows and columns are shifted by one */
static PetscErrorCode ShiftPattern(Mat A[], Problem problem, PetscInt n)
{
  PetscCount   count;
  PetscInt    *rows, *cols;
  PetscScalar *values;

  PetscFunctionBeginUser;
  for (int m = 0; m < 2; m++) {
    PetscCall(SetEntries(problem, n, 0, &count, &rows, &cols, &values));
    for (PetscCount k = 0; k < count; k++) {
      rows[k] = (rows[k] + 1) % n;
      cols[k] = (cols[k] + 1) % n;
    }
    PetscCall(MatSetPreallocationCOO(A[m], count, rows, cols));
    PetscCall(MatSetValuesCOO(A[m], values, INSERT_VALUES));
    PetscCall(PetscFree3(rows, cols, values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The object receives the contents of another one with another pattern and the same nonzero state */
static PetscErrorCode ReplaceMatrix(Mat A[], Problem problem, PetscInt n)
{
  Mat              B[] = {NULL, A[1]};
  MatType          type;
  PetscObjectState state, its;

  PetscFunctionBeginUser;
  PetscCall(MatGetType(A[0], &type));
  PetscCall(MatGetNonzeroState(A[0], &state));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B[0]));
  PetscCall(MatSetSizes(B[0], n, n, n, n));
  PetscCall(MatSetType(B[0], type));
  PetscCall(FillMatrix(B, problem, n, 0, PETSC_TRUE));
  B[0]->nonzerostate = state; /* its default differs on the host and on a device */
  PetscCall(MatHeaderReplace(A[0], &B[0]));
  PetscCall(MatGetNonzeroState(A[0], &its));
  if (its != state) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nonzero state %d, not %d\n", (int)its, (int)state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunNumericPhases(PetscInt *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("SpTRSVNumeric", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets both up: they must have the same outcome and the same solves */
static PetscErrorCode Check(const char what[], PC pc[], Mat A[], PetscInt numerics)
{
  PCFailedReason reason[2];
  PetscInt       before, after;
  Vec            b[2], x[2];

  PetscFunctionBeginUser;
  PetscCall(RunNumericPhases(&before));
  for (int m = 0; m < 2; m++) {
    PetscCall(PCSetUp(pc[m]));
    PetscCall(PCGetFailedReason(pc[m], &reason[m]));
  }
  PetscCall(RunNumericPhases(&after)); /* PCILU keeps a failure until the pattern changes */
  if (after - before != numerics && !reason[0])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " numeric phases\n", what, after - before));
  if (reason[0] != reason[1])
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, should be %s\n", what, PCFailedReasons[reason[0]],
                          PCFailedReasons[reason[1]]));
  if (reason[0] || reason[1]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int m = 0; m < 2; m++) {
    PetscCall(MatCreateVecs(A[m], &x[m], &b[m]));
    PetscCall(FillVec(b[m], 1));
    PetscCall(PCApply(pc[m], b[m], x[m]));
  }
  PetscCall(CheckVec(what, x[0], x[1], 1e-11));
  for (int m = 0; m < 2; m++) {
    PetscCall(PCApplyTranspose(pc[m], b[m], x[m]));
  }
  PetscCall(CheckVec(what, x[0], x[1], 1e-11));
  for (int m = 0; m < 2; m++) {
    PetscCall(VecDestroy(&b[m]));
    PetscCall(VecDestroy(&x[m]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat                A[2]; /* of the requested type, and PETSc's on the host */
  PC                 pc[2];
  Problem            problem = PROBLEM_POISSON;
  PetscInt           n       = 400;
  PetscBool          icc = PETSC_FALSE, multicolor = PETSC_FALSE;
  MatFactorShiftType shift  = MAT_SHIFT_NONE;
  PetscReal          amount = PETSC_DECIDE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-problem", Problems, (PetscEnum *)&problem, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-shift", MatFactorShiftTypes, (PetscEnum *)&shift, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-amount", &amount, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-icc", &icc, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-multicolor", &multicolor, NULL));
  if (multicolor) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", "multicolor"));
  for (int m = 0; m < 2; m++) {
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A[m]));
    PetscCall(MatSetSizes(A[m], n, n, n, n));
    PetscCall(MatSetType(A[m], MATAIJ));
    if (!m) PetscCall(MatSetFromOptions(A[m]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[m]));
    PetscCall(PCSetType(pc[m], !m ? "sptrsvgpu" : icc ? PCICC : PCILU));
    if (!m && icc) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_factor", "icc"));
    PetscCall(PCFactorSetShiftType(pc[m], shift));
    PetscCall(PCFactorSetShiftAmount(pc[m], amount));
    if (!m) PetscCall(PCSetFromOptions(pc[m]));
    else if (multicolor) PetscCall(PCFactorSetMatOrderingType(pc[m], "multicolor"));
  }
  PetscCall(FillMatrix(A, problem, n, 0, PETSC_TRUE));
  for (int m = 0; m < 2; m++) PetscCall(PCSetOperators(pc[m], A[m], A[m]));
  PetscCall(Check("first", pc, A, 1));
  PetscCall(ShiftPattern(A, problem, n));
  PetscCall(Check("another pattern with as many entries", pc, A, 1));
  PetscCall(ReplaceMatrix(A, icc ? PROBLEM_DIAGONAL : PROBLEM_RANDOM, n));
  PetscCall(Check("the contents of another matrix", pc, A, 1));
  PetscCall(FillMatrix(A, problem, n, 0, PETSC_TRUE));
  PetscCall(Check("the first pattern after that", pc, A, 1));
  PetscCall(FillMatrix(A, problem, n, 0.5, PETSC_FALSE));
  PetscCall(Check("new values", pc, A, 1));
  PetscCall(Check("the same values", pc, A, 0));
  PetscCall(FillMatrix(A, problem, n, 2, PETSC_FALSE));
  PetscCall(Check("newer values", pc, A, 1));
  PetscCall(FillMatrix(A, icc ? PROBLEM_DIAGONAL : PROBLEM_RANDOM, n, 0, PETSC_TRUE));
  for (int m = 0; m < 2; m++) PetscCall(PCSetOperators(pc[m], A[m], A[m]));
  PetscCall(Check("another pattern", pc, A, 1));
  PetscCall(FillMatrix(A, problem, n, 0, PETSC_TRUE));
  for (int m = 0; m < 2; m++) PetscCall(PCSetOperators(pc[m], A[m], A[m]));
  PetscCall(Check("the first pattern", pc, A, 1));
  for (int m = 0; m < 2; m++) {
    PetscCall(PCDestroy(&pc[m]));
    PetscCall(MatDestroy(&A[m]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: ilu
         args: -problem {{poisson convection random chain diagonal arrow}}
         args: -mat_sptrsvgpu_factorization {{auto device host}}
      test:
         suffix: ilu_shift
         args: -problem {{saddle random}} -shift {{none nonzero positive_definite inblocks}}
         args: -mat_sptrsvgpu_factorization {{device host}}
      test:
         suffix: ilu_amount
         args: -problem saddle -shift {{nonzero inblocks}} -amount {{1e-3 0.5}} -mat_sptrsvgpu_factorization device
      test:
         suffix: ilu_multicolor
         args: -multicolor -problem {{poisson convection random chain diagonal arrow}}
         args: -mat_sptrsvgpu_factorization {{auto device host}}
      test:
         suffix: ilu_multicolor_shift
         args: -multicolor -problem {{saddle random}} -shift {{none nonzero positive_definite inblocks}} -amount 0.1
         args: -mat_sptrsvgpu_factorization {{device host}}
      test:
         suffix: icc_multicolor
         args: -multicolor -icc -problem {{poisson diagonal}} -mat_sptrsvgpu_factorization {{auto device host}}
      test:
         suffix: icc_multicolor_shift
         args: -multicolor -icc -problem saddle -amount 0.1 -shift {{none nonzero positive_definite inblocks}}
         args: -mat_sptrsvgpu_factorization {{device host}}
      test:
         suffix: icc
         args: -icc -problem {{poisson diagonal}} -mat_sptrsvgpu_factorization {{auto device host}}
      test:
         suffix: icc_shift
         args: -icc -problem saddle -amount 0.1 -shift {{none nonzero positive_definite inblocks}}
         args: -mat_sptrsvgpu_factorization {{device host}}

   # on the host by plans, instead of PETSc's own solves
   testset:
      output_file: output/empty.out
      args: -mat_type aij -mat_sptrsvgpu_algorithm serial -multicolor {{0 1}}
      test:
         suffix: serial
         args: -problem {{convection random arrow}}
      test:
         suffix: serial_shift
         args: -problem saddle -shift {{none nonzero inblocks}} -amount 0.1 -icc {{0 1}}

TEST*/
