static char help[] =
  "Solves one system with PETSc's ILU and with sptrsvgpu, on the host and, where there is one, on the GPU.\n\n";

/*
   The program of `make check'. The last line is "OK (host)" or "OK (GPU sm_90)"; after a failure it is a message, and
   the exit status is 1.
*/
#include <petscksp.h>
#if PetscDefined(HAVE_CUDA)
  #include <cuda_runtime.h>
#endif

/* Convection and diffusion on n x n points, upwind */
static PetscErrorCode CreateMatrix(PetscInt n, MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  for (PetscInt row = 0; row < n * n; row++) {
    const PetscInt i = row / n, j = row % n;

    PetscCall(MatSetValue(*A, row, row, 5, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, row, row - n, -1.5, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, row, row + n, -1, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*A, row, row - 1, -1.5, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*A, row, row + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the iterations that GMRES takes to solve A x = A 1, and the largest error of x */
static PetscErrorCode Solve(MatType type, PCType pctype, PetscInt *iterations, PetscReal *error)
{
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  PC                 pc;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(100, type, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, PetscMax(1e-10, 10 * PETSC_MACHINE_EPSILON), 1e-30, 1e5, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecShift(x, -1));
  PetscCall(VecNorm(x, NORM_INFINITY, error));
  if (reason <= 0) *error = PETSC_INFINITY;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "GPU sm_90" if there is a GPU, else "" */
static void FindGPU(char name[], size_t size)
{
  name[0] = 0;
#if PetscDefined(HAVE_CUDA)
  int devices = 0, major = 0, minor = 0;

  if (cudaGetDeviceCount(&devices) || !devices) return;
  (void)cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  (void)cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  (void)PetscSNPrintf(name, size, "GPU sm_%d%d", major, minor);
#else
  (void)size;
#endif
}

int main(int argc, char **args)
{
  PetscInt  reference, iterations;
  PetscReal error;
  char      gpu[32];
  int       failed = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  FindGPU(gpu, sizeof(gpu));
  PetscCall(Solve(MATSEQAIJ, PCILU, &reference, &error));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "ilu, host: %" PetscInt_FMT " iterations, error %.1e\n", reference, (double)error));
  for (int device = 0; device < (gpu[0] ? 2 : 1); device++) {
    PetscCall(Solve(device ? MATSEQAIJCUSPARSE : MATSEQAIJ, "sptrsvgpu", &iterations, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sptrsvgpu, %s: %" PetscInt_FMT " iterations, error %.1e\n",
                          device ? gpu : "host", iterations, (double)error));
    if (PetscAbsInt(iterations - reference) > device || !(error < PetscMax(1e-7, 1e3 * PETSC_MACHINE_EPSILON)))
      failed = 1;
  }
  if (failed) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAILED: iterations or error are not those of ilu\n"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "OK (%s)\n", gpu[0] ? gpu : "host"));
  PetscCall(PetscFinalize());
  return failed;
}
