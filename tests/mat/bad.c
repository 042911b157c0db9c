static char help[] = "Matrices that cannot be factored, or barely: what a user gets to see.\n\
  -case <name> : see below\n\n";

#include <petscksp.h>

typedef enum {
  CASE_MISSING,  /* no diagonal entry in row n / 2 */
  CASE_ZERO,     /* a zero pivot in row n / 2 */
  CASE_LAST,     /* a zero pivot in the last row */
  CASE_NAN,      /* NaN off the diagonal of row n / 2 */
  CASE_NANPIVOT, /* NaN on the diagonal of row n / 2 */
  CASE_INFINITE, /* Inf on it */
  CASE_NANRHS,   /* a sound matrix, NaN in the right-hand side */
  CASE_NEGATIVE, /* marked SPD, with */
  CASE_NONSQUARE,
  CASE_UNSORTED,  /* columns of row 1 in falling order */
  CASE_DUPLICATE, /* a column twice in row 1 */
  CASE_RANGE,     /* a column beyond the last one */
  CASE_WIDE,      /* a column that is right in its low 32 bits only */
  CASE_SOUND
} Case;
static const char *const Cases[] = {"missing", "zero",     "last",      "nan",      "nanpivot",  "infinite",
                                    "nanrhs",  "negative", "nonsquare", "unsorted", "duplicate", "range",
                                    "wide",    "sound",    "Case",      "CASE_",    NULL};

/* Lower bidiagonal, with stored zeros above, except for the fault */
static PetscErrorCode Create(Case which, PetscInt n, Mat *A)
{
  const PetscInt zero = which == CASE_ZERO ? n / 2 : which == CASE_LAST ? n - 1 : -1;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, which == CASE_NONSQUARE ? n + 1 : n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscBool here = (PetscBool)(i == n / 2);
    PetscScalar     d    = 2;

    if (i == zero) d = i > 0 ? 0.5 : 0; /* minus the coupling, (-1)(-1) / 2 */
    if (here && which == CASE_NANPIVOT) d = NAN;
    if (here && which == CASE_INFINITE) d = INFINITY;
    if (here && which == CASE_NEGATIVE) d = -2;
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, here && which == CASE_NAN ? NAN : -1, INSERT_VALUES));
    if (!here || which != CASE_MISSING) PetscCall(MatSetValue(*A, i, i, d, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, i + 1 == zero ? -1 : 0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (which == CASE_NEGATIVE) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From arrays that MatSetValues() would not create */
static PetscErrorCode CreateFromArrays(Case which, Mat *A)
{
  static PetscInt    i[] = {0, 2, 5, 7}, j[7] = {0, 1, 0, 1, 2, 1, 2};
  static PetscScalar v[] = {4, -1, -1, 4, -1, -1, 4};

  PetscFunctionBeginUser;
  if (which == CASE_UNSORTED) {
    j[2] = 2;
    j[4] = 0;
  } else if (which == CASE_DUPLICATE) j[2] = 1;
  else j[4] = which == CASE_RANGE ? 3 : (PetscInt)(((PetscInt64)1 << 32) + 2);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, i, j, v, A));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints why the set-up failed, and where */
static PetscErrorCode PrintFailure(KSP ksp)
{
  PC             pc;
  PCFailedReason failed;
  Mat            F;
  MatFactorError error;
  PetscReal      pivot;
  PetscInt       row;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "PC: %s\n", PCFailedReasons[failed]));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatFactorGetError(F, &error));
  PetscCall(MatFactorGetErrorZeroPivot(F, &pivot, &row));
  if (error == MAT_FACTOR_NUMERIC_ZEROPIVOT)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "zero pivot in row %" PetscInt_FMT "\n", row));
  if (error == MAT_FACTOR_NUMERIC_ZEROPIVOT && pivot > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "of magnitude %g\n", (double)pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Case               which = CASE_SOUND;
  PetscInt           n     = 6;
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-case", Cases, (PetscEnum *)&which, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  if (which >= CASE_UNSORTED && which <= CASE_WIDE) PetscCall(CreateFromArrays(which, &A));
  else PetscCall(Create(which, n, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, which == CASE_NANRHS ? NAN : 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", reason > 0 ? "converged" : KSPConvergedReasons[reason]));
  if (reason == KSP_DIVERGED_PC_FAILED) PetscCall(PrintFailure(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   # errors; the filter takes from them what a user is to see
   testset:
      args: -pc_type sptrsvgpu
      test:
         suffix: missing
         args: -case missing
         filter: Error: grep -o "Row 3 has no diagonal entry"
      test:
         suffix: missing_ranks
         nsize: 2
         args: -case missing -n 10
         filter: Error: grep -o "Row 5 has no diagonal entry"
      test:
         suffix: missing_bjacobi
         args: -case missing -pc_type bjacobi -sub_pc_type sptrsvgpu
         filter: Error: grep -o "Row 3 has no diagonal entry"
      test:
         suffix: missing_icc
         args: -case missing -pc_sptrsvgpu_factor icc
         filter: Error: grep -o "Row 3 has no diagonal entry"
      test:
         suffix: nonsquare
         args: -case nonsquare
         filter: Error: grep -o "Must be square matrix, rows 6 columns 7"
      test:
         suffix: unsorted
         requires: !debug
         args: -case unsorted
         filter: Error: grep -o "Row 1 has column 1 after column 2"
      test:
         suffix: duplicate
         requires: !debug
         args: -case duplicate
         filter: Error: grep -o "Row 1 has column 1 after column 1"
      test:
         suffix: range
         requires: !debug
         args: -case range
         filter: Error: grep -o "Row 1 has column 3; columns of these 3 rows are 0 to 2: correct the arrays"
      test:
         suffix: wide
         requires: defined(PETSC_USE_64BIT_INDICES) !debug
         args: -case wide -pc_sptrsvgpu_ordering {{natural multicolor}}
         filter: Error: grep -o "Row 1 has column 4294967298; columns of these 3 rows are 0 to 2: correct the arrays"
      test:
         suffix: zero_error
         args: -case zero -ksp_error_if_not_converged
         filter: Error: grep -o "Zero pivot row 3"
      test:
         suffix: in_place
         args: -pc_factor_in_place
         filter: Error: grep -o "sptrsvgpu does not factor in place"
      test:
         suffix: algorithm
         args: -mat_sptrsvgpu_algorithm foo
         filter: Error: grep -o "No triangular solve is named foo here; there are"
      test:
         suffix: lower
         args: -mat_sptrsvgpu_lower foo
         filter: Error: grep -o "No triangular solve is named foo here; there are"
      test:
         suffix: upper
         args: -mat_sptrsvgpu_upper foo
         filter: Error: grep -o "No triangular solve is named foo here; there are"
      test:
         suffix: select
         args: -mat_sptrsvgpu_select foo
         filter: Error: grep -o "Unknown option .*foo.* for -mat_sptrsvgpu_select. Available options"
      test:
         suffix: tune_seconds
         args: -mat_sptrsvgpu_tune_seconds -1
         filter: Error: grep -o "Seconds to tune must not be negative, got -1"
      test:
         suffix: timeout
         args: -mat_sptrsvgpu_timeout -1
         filter: Error: grep -o "Seconds to wait must not be negative (0 means no limit), got -1"
      test:
         suffix: factor
         args: -pc_sptrsvgpu_factor lu
         filter: Error: grep -o "Unknown option .*lu.* for -pc_sptrsvgpu_factor. Available options"
      test:
         suffix: device
         requires: cuda
         args: -mat_type aij -mat_sptrsvgpu_algorithm {{thread warp cusparse}}
         filter: Error: grep -o "runs on a GPU, but the matrix is on the host"
      test:
         suffix: device_upper
         requires: cuda
         args: -mat_type aij -mat_sptrsvgpu_upper thread
         filter: Error: grep -o "Algorithm thread runs on a GPU, but the matrix is on the host"
      test:
         # an error of src/kernels
         suffix: level_sets
         requires: cuda !complex
         args: -mat_type aijcusparse -mat_sptrsvgpu_lower level -n 65537
         filter: Error: grep -oE "No support for this operation|level: 65537 level sets need as many launches"
      test:
         suffix: no_device
         requires: !cuda
         args: -mat_sptrsvgpu_algorithm thread
         filter: Error: grep -o "No triangular solve is named thread here; there are: auto serial (built without CUDA)"
      test:
         suffix: ordering_ranks
         nsize: 2
         args: -n 100 -pc_factor_mat_ordering_type {{rcm multicolor}}
         filter: Error: grep -o "On several ranks only the natural ordering"
      test:
         suffix: orderings
         args: -pc_type {{sptrsvgpu capellini}} -pc_sptrsvgpu_ordering multicolor
         args: -pc_factor_mat_ordering_type {{natural rcm}}
         filter: Error: grep -o "contradict each other; give one of them"
      test:
         suffix: orderings_natural
         args: -pc_sptrsvgpu_ordering natural -pc_factor_mat_ordering_type multicolor
         filter: Error: grep -o "pc_sptrsvgpu_ordering.* contradict each other"
      test:
         suffix: ordering_name
         args: -pc_sptrsvgpu_ordering foo
         filter: Error: grep -o "Unknown option .*foo.* for -pc_sptrsvgpu_ordering. Available options"
      test:
         suffix: type
         args: -mat_type {{sell is}}
         filter: Error: grep -o "MatSolverType sptrsvgpu does not support matrix type"
      test:
         suffix: type_algorithm
         args: -mat_type {{baij sbaij dense}} -mat_ignore_lower_triangular -mat_sptrsvgpu_algorithm serial
         filter: Error: grep -o "Algorithm serial needs a matrix of type aij"
      test:
         suffix: type_ordering
         args: -mat_type {{baij dense}} -pc_sptrsvgpu_ordering multicolor
         filter: Error: grep -o "The ordering multicolor needs a matrix of type aij"
      test:
         suffix: type_ordering_given
         args: -mat_type {{baij dense}} -pc_factor_mat_ordering_type multicolor
         output_file: output/bad_type_ordering.out
         filter: Error: grep -o "The ordering multicolor needs a matrix of type aij"
      test:
         suffix: type_ilu
         args: -mat_type sbaij -mat_ignore_lower_triangular -pc_sptrsvgpu_factor ilu
         filter: Error: grep -o "PETSc has no ILU factorization of matrices of type seqsbaij"
      test:
         suffix: type_icc
         args: -mat_type dense -pc_sptrsvgpu_factor icc
         filter: Error: grep -o "PETSc has no ICC factorization of matrices of type seqdense"
      test:
         suffix: type_icc_order
         args: -mat_type baij -pc_sptrsvgpu_factor icc -pc_factor_mat_ordering_type {{rcm nd}}
         filter: Error: grep -o "ICC of matrices of type seqbaij is wrong in any order but the natural one"
      test:
         suffix: type_missing
         args: -mat_type baij -case missing
         filter: Error: grep -o "Matrix is missing diagonal entry"
      test:
         suffix: lu
         args: -pc_type {{lu cholesky}} -pc_factor_mat_solver_type sptrsvgpu
         filter: Error: grep -o "MatSolverType sptrsvgpu does not support factorization type"

   # failures that the KSP reports
   testset:
      args: -pc_type sptrsvgpu
      test:
         suffix: zero
         args: -case zero -pc_sptrsvgpu_factor {{ilu icc}} -pc_factor_shift_type none
      test:
         # in place 132 of the order
         suffix: zero_multicolor
         args: -case zero -n 1000 -pc_sptrsvgpu_ordering multicolor -pc_sptrsvgpu_factor {{ilu icc}}
         args: -pc_factor_shift_type none
      test:
         suffix: zero_first
         args: -case last -n 1
      test:
         suffix: zero_last
         nsize: {{1 2}}
         args: -case last
      test:
         # every pivot counts as zero, on both ranks, the first because it equals the limit: its row and its pivot
         suffix: zero_all
         nsize: 2
         args: -case last -n 10 -pc_factor_zeropivot 2
         diff_args: -j
      test:
         # on the host, where sums have PETSc's order: by inblocks a pivot becomes 2e-14, and rounding decides
         suffix: zero_shifted
         args: -mat_type aij -mat_sptrsvgpu_algorithm {{auto serial}} -case {{zero last}}
         args: -pc_factor_shift_type {{nonzero inblocks}}
         output_file: output/bad_sound.out
      test:
         suffix: nan
         args: -case {{nan nanpivot infinite nanrhs}} -pc_sptrsvgpu_factor {{ilu icc}}
      test:
         suffix: nan_ranks
         nsize: 2
         args: -case {{nan nanpivot infinite nanrhs}}
         output_file: output/bad_nan.out
      test:
         suffix: negative
         args: -case negative -pc_factor_shift_type {{none positive_definite}}
         output_file: output/bad_sound.out

   # sizes where there is little or nothing to do
   test:
      suffix: small
      nsize: {{1 2 3}}
      args: -pc_type sptrsvgpu -n {{0 1 2}} -pc_sptrsvgpu_factor {{ilu icc}}
      args: -pc_sptrsvgpu_ordering {{natural multicolor}}
      output_file: output/bad_sound.out
   test:
      suffix: small_capellini
      nsize: {{1 2}}
      args: -pc_type capellini -n {{0 1 2}}
      output_file: output/bad_sound.out
   # on a GPU, ranks without rows factor on the host; a log that waits for all ranks at each event must not wait for
   # ever
   test:
      suffix: small_ways
      nsize: {{2 3}}
      args: -pc_type sptrsvgpu -n {{1 2 200}} -mat_sptrsvgpu_factorization {{auto device}} -log_sync
      output_file: output/bad_sound.out
   test:
      suffix: small_serial
      nsize: {{1 3}}
      args: -mat_type aij -mat_sptrsvgpu_algorithm serial -pc_type sptrsvgpu -n {{0 1 2}}
      args: -pc_sptrsvgpu_factor {{ilu icc}}
      output_file: output/bad_sound.out

TEST*/
