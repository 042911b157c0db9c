/*
   Fuzzing of the options of PC and factor on the host: words of the tables below, in any combination, for a small
   matrix of any type. A PETSc error, or a solution of finite numbers; never a crash, as the sanitizer sees one.
*/
#include <petscksp.h>
#include <stdint.h>
#include <sptrsvgpu.h>

#define Must(call) \
  do { \
    if (call) __builtin_trap(); \
  } while (0)

static const char *const names[] = {
  "-pc_type",
  "-pc_sptrsvgpu_factor",
  "-pc_sptrsvgpu_ordering",
  "-mat_sptrsvgpu_algorithm",
  "-mat_sptrsvgpu_lower",
  "-mat_sptrsvgpu_upper",
  "-mat_sptrsvgpu_select",
  "-mat_sptrsvgpu_tune_seconds",
  "-mat_sptrsvgpu_factorization",
  "-mat_sptrsvgpu_timeout",
  "-mat_sptrsvgpu_view",
  "-pc_factor_mat_solver_type",
  "-pc_factor_levels",
  "-pc_factor_fill",
  "-pc_factor_shift_type",
  "-pc_factor_shift_amount",
  "-pc_factor_zeropivot",
  "-pc_factor_mat_ordering_type",
  "-pc_factor_in_place",
  "-pc_factor_reuse_ordering",
  "-pc_factor_reuse_fill",
  "-pc_factor_diagonal_fill",
  "-pc_factor_nonzeros_along_diagonal",
  "-pc_factor_pivot_in_blocks",
  "-ksp_type",
  "-mat_type",
};
static const char *const values[] = {
  "",         "0",       "1",        "2",          "-1",     "1e-8",   "1e300",     "-1e300",    "nan",
  "inf",      "true",    "no",       "2147483647", "auto",   "host",   "device",    "cusparse",  "serial",
  "thread",   "chunk",   "warp",     "dense",      "nosuch", "model",  "tune",      "granularity", "ilu",
  "icc",      "lu",      "natural",  "multicolor", "rcm",    "nd",     "sptrsvgpu", "capellini", "petsc",
  "nonzero",  "inblocks", "positive_definite", "none", "gmres", "cg", "richardson", "preonly",   "aij",
  "baij",     "sbaij",   "aijperm",  "bjacobi",    "asm",    "ascii:/dev/null", ":/dev/null", "binary:/dev/null",
};

/* PETSc allocates what -pc_factor_fill says, and its Cholesky factorization shifts without end where the smallest pivot
   that is allowed is large */
static PetscBool IsEndless(const char name[], const char value[])
{
  const PetscBool either = !strcmp(name, "-pc_factor_fill") || !strcmp(name, "-pc_factor_zeropivot");

  return either && strtod(value, NULL) > 100 ? PETSC_TRUE : PETSC_FALSE;
}

/* PETSc's own ICC of baij matrices shifts without end in any order but the natural one */
static PetscBool IsEndlessOrder(const char options[])
{
  return strstr(options, " baij") && strstr(options, "-pc_type icc") && strstr(options, "-pc_factor_mat_ordering_type")
           ? PETSC_TRUE
           : PETSC_FALSE;
}

static PetscErrorCode MakeMatrix(Mat *A)
{
  const PetscInt n = 12;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
    if (i) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (i + 4 < n) PetscCall(MatSetValue(*A, i, i + 4, -1, INSERT_VALUES));
    if (i >= 4) PetscCall(MatSetValue(*A, i, i - 4, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, KSP ksp, Vec x, Vec b, PetscBool transposed)
{
  PetscFunctionBegin;
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 30));
  PetscCall(VecSet(b, 1));
  for (int i = 0; i < 2; i++) {
    if (transposed) PetscCall(KSPSolveTranspose(ksp, b, x));
    else PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatScale(A, 2)); /* the second time with other values */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const char options[], PetscBool transposed)
{
  PetscErrorCode     error;
  Mat                A = NULL;
  KSP                ksp;
  Vec                x, b;
  PetscReal          norm;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  error = MakeMatrix(&A);
  if (error) {
    PetscCall(MatDestroy(&A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  if (!Solve(A, ksp, x, b, transposed)) {
    Must(KSPGetConvergedReason(ksp, &reason));
    Must(VecNorm(x, NORM_INFINITY, &norm));
    if (reason > 0) Must(!(norm < 1e6));
  }
  Must(KSPDestroy(&ksp));
  Must(VecDestroy(&x));
  Must(VecDestroy(&b));
  Must(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  Must(PetscInitializeNoArguments());
  Must(PetscPopSignalHandler());
  Must(SpTRSVGPURegister());
  Must(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char   options[2048] = "-pc_type sptrsvgpu";
  size_t at            = strlen(options);

  for (size_t k = 1; k + 1 < size && k < 40; k += 2) {
    const char *name  = names[data[k] % PETSC_STATIC_ARRAY_LENGTH(names)];
    const char *value = values[data[k + 1] % PETSC_STATIC_ARRAY_LENGTH(values)];

    if (IsEndless(name, value)) continue;
    at += (size_t)snprintf(options + at, sizeof(options) - at, " %s %s", name, value);
  }
  if (!IsEndlessOrder(options)) (void)Run(options, size && data[0] & 1 ? PETSC_TRUE : PETSC_FALSE);
  return 0;
}
