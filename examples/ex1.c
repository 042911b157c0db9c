static char help[] = "Solves Poisson's or a convection-diffusion equation in 2D or 3D with finite differences.\n\
  -dim <2|3>       : dimensions\n\
  -n <n>           : points in the first direction\n\
  -m <m>           : points in each of the others (default n)\n\
  -convection <c>  : -Laplace(u) + c (1, ..., 1) grad(u), upwind; default 0: Poisson's equation, an SPD matrix\n\n";

/*
   A plain PETSc program: the options database sets the matrix, KSP and PC types.

     mpiexec -n 2 ./ex1 -dim 3 -n 64 -ksp_monitor
     ./ex1 -n 1000 -mat_type aijcusparse
*/
#include <petscksp.h>
#include <petsctime.h>

/* Sets the rows of this rank: a stencil of 2 dim + 1 points, multiplied by h^2. */
static PetscErrorCode Assemble(Mat A, PetscInt dim, PetscInt n, PetscInt m, PetscReal convection)
{
  const PetscInt  size[3] = {n, m, dim == 3 ? m : 1};
  const PetscReal upwind  = convection / (n + 1);
  PetscInt        start, end;

  PetscFunctionBeginUser;
  PetscCall(MatSeqAIJSetPreallocation(A, 2 * dim + 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 2 * dim + 1, NULL, 2 * dim, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt at[3] = {row % n, row / n % m, row / n / m};
    PetscInt       col[7], count = 1, stride = 1;
    PetscScalar    value[7];

    col[0]   = row;
    value[0] = dim * (2 + upwind);
    for (PetscInt d = 0; d < dim; d++) {
      if (at[d] > 0) {
        col[count]     = row - stride;
        value[count++] = -1 - upwind;
      }
      if (at[d] < size[d] - 1) {
        col[count]     = row + stride;
        value[count++] = -1;
      }
      stride *= size[d];
    }
    PetscCall(MatSetValues(A, 1, &row, count, col, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  if (convection == 0) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat                A;
  Vec                u, b, x; /* exact solution, right-hand side, approximate solution */
  KSP                ksp;
  KSPConvergedReason reason;
  PetscInt           dim = 2, n = 100, m, rows, iterations;
  PetscReal          convection = 0, norm, residual, error;
  PetscLogDouble     t0, t1, t2;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Model problem", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimensions", NULL, dim, &dim, NULL, 2, 3));
  PetscCall(PetscOptionsBoundedInt("-n", "Points in the first direction", NULL, n, &n, NULL, 1));
  m = n;
  PetscCall(PetscOptionsBoundedInt("-m", "Points in each of the others", NULL, m, &m, NULL, 1));
  PetscCall(PetscOptionsReal("-convection", "Velocity in each direction", NULL, convection, &convection, NULL));
  PetscOptionsEnd();
  PetscCheck(convection >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-convection must not be negative");
  PetscCall(PetscIntMultError(n, m, &rows));
  if (dim == 3) PetscCall(PetscIntMultError(rows, m, &rows));

  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(Assemble(A, dim, n, m, convection));

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &u));
  PetscCall(VecSet(u, 1.0));
  PetscCall(MatMult(A, u, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  if (convection == 0) PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&t0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscTime(&t1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&t2));

  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecAXPY(u, -1.0, x));
  PetscCall(VecNorm(u, NORM_INFINITY, &error));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(MatMult(A, x, u));
  PetscCall(VecAYPX(u, -1.0, b));
  PetscCall(VecNorm(u, NORM_2, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "problem:    %s, %" PetscInt_FMT "D, %" PetscInt_FMT " unknowns\n",
                        convection == 0 ? "Poisson" : "convection-diffusion", dim, rows));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT ", %s\n", iterations,
                        KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual:   |b - A x| / |b| = %.1e, error %.1e\n", (double)(residual / norm),
                        (double)error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time:       set-up %.3f s, solve %.3f s\n", t1 - t0, t2 - t1));

  PetscCall(PetscObjectViewFromOptions((PetscObject)ksp, NULL, "-solver_view")); /* not part of the times */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      filter: grep -v time:
      args: -pc_type sptrsvgpu
      test:
         suffix: 1
         args: -n 32
      test:
         suffix: 2
         nsize: 2
         args: -dim 3 -n 10 -m 12
      test:
         suffix: convection
         args: -n 32 -m 20 -convection 20
      test:
         suffix: convection_3
         nsize: 2
         args: -dim 3 -n 12 -convection 20

   # what the solver shows of itself
   testset:
      nsize: {{1 2}separate output}
      args: -mat_type aij -n 32
      filter: grep -v -e time: -e variant -e "sptrsvgpu [0-9]"
      test:
         suffix: view
         args: -pc_type {{sptrsvgpu capellini}separate output} -ksp_view
      test:
         suffix: detail
         args: -pc_type sptrsvgpu -mat_sptrsvgpu_view ::ascii_info_detail

   test:
      suffix: view_sub
      args: -mat_type aij -n 32 -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type sptrsvgpu
      args: -sub_mat_sptrsvgpu_view -sub_mat_sptrsvgpu_algorithm serial -sub_pc_factor_levels 1
      filter: grep -v -e time: -e "sptrsvgpu [0-9]" | sed -e "s/analysis .* s/analysis T s/"

   test:
      suffix: view_zero_pivot
      args: -mat_type aij -n 4 -pc_type sptrsvgpu -pc_factor_zeropivot 3.9 -pc_factor_shift_type none
      args: -mat_sptrsvgpu_view
      filter: grep -e failed -e iterations

   # other scalars than real double
   testset:
      args: -mat_type aijcusparse -vec_type cuda -n 4 -ksp_type {{cgdevice bcgsdevice}} -pc_type sptrsvgpu -ksp_view
      filter: grep -o "own type: .*"
      output_file: output/ex1_scalars.out
      test:
         suffix: complex
         requires: cuda complex
      test:
         suffix: single
         requires: cuda single !complex

   test:
      suffix: help
      args: -help -n 4 -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor
      filter: grep -o -e "-mat_sptrsvgpu_[a-z_]*:" -e "-pc_sptrsvgpu_[a-z_]*:" -e "-pc_factor_levels" -e "serial: sub.*"

TEST*/
