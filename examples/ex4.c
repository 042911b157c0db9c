static char help[] = "Solves the Bratu problem -Laplace(u) = lambda exp(u) on the unit square by Newton's method.\n\
  -lambda <l> : 0 <= l < 6.8 (default 6)\n\n";

/*
   A step of Newton's method changes the values of the Jacobian, not its pattern. So from the second step on the set-up
   of the preconditioner has only a numeric phase.

     ./ex4 -da_grid_x 1000 -da_grid_y 1000 -dm_mat_type aijcusparse -dm_vec_type cuda -pc_type sptrsvgpu -log_view
*/
#include <petscdm.h>
#include <petscdmda.h>
#include <petscsnes.h>

static PetscErrorCode Residual(DMDALocalInfo *info, void *x, void *y, void *context)
{
  PetscScalar   **u = (PetscScalar **)x, **f = (PetscScalar **)y;
  const PetscReal lambda = *(PetscReal *)context, h = 1. / (info->mx - 1), k = 1. / (info->my - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      if (i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1) f[j][i] = 2 * (k / h + h / k) * u[j][i];
      else
        f[j][i] = (2 * u[j][i] - u[j][i - 1] - u[j][i + 1]) * k / h +
                  (2 * u[j][i] - u[j - 1][i] - u[j + 1][i]) * h / k - h * k * lambda * PetscExpScalar(u[j][i]);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(DMDALocalInfo *info, void *x, Mat A, Mat B, void *context)
{
  PetscScalar   **u = (PetscScalar **)x;
  const PetscReal lambda = *(PetscReal *)context, h = 1. / (info->mx - 1), k = 1. / (info->my - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++)
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      const PetscBool  boundary = (PetscBool)(i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1);
      const MatStencil row = {.i = i, .j = j}, col[5] = {{.i = i, .j = j}, {.i = i - 1, .j = j}, {.i = i + 1, .j = j},
                                                         {.i = i, .j = j - 1}, {.i = i, .j = j + 1}};
      const PetscScalar v[5] = {2 * (k / h + h / k) - (boundary ? 0 : h * k * lambda * PetscExpScalar(u[j][i])), -k / h,
                                -k / h, -h / k, -h / k};

      PetscCall(MatSetValuesStencil(B, 1, &row, boundary ? 1 : 5, col, v, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  if (A != B) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  SNES                snes;
  DM                  da;
  Vec                 u;
  PetscReal           lambda = 6, largest;
  PetscInt            steps, iterations;
  SNESConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lambda", &lambda, NULL));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 33, 33, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(DMDASNESSetFunctionLocal(da, INSERT_VALUES, Residual, &lambda));
  PetscCall(DMDASNESSetJacobianLocal(da, Jacobian, &lambda));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(da, &u));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetIterationNumber(snes, &steps));
  PetscCall(SNESGetLinearSolveIterations(snes, &iterations));
  PetscCall(VecNorm(u, NORM_INFINITY, &largest));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s in %" PetscInt_FMT " steps, %" PetscInt_FMT " iterations; largest u %.4f\n",
                        SNESConvergedReasons[reason], steps, iterations, (double)largest));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return reason > 0 ? 0 : 1;
}

/*TEST

   testset:
      requires: double
      output_file: output/ex4_1.out
      test:
         suffix: 1
         args: -pc_type {{sptrsvgpu capellini}} -ksp_type gmres -ksp_rtol 1e-6
      test:
         suffix: petsc
         args: -mat_type aij -dm_mat_type aij -pc_type ilu -pc_factor_mat_solver_type petsc -ksp_type gmres
         args: -ksp_rtol 1e-6
      test:
         suffix: cg
         args: -pc_type sptrsvgpu -ksp_type {{cg cgdevice}} -ksp_rtol 1e-6

   testset:
      requires: single
      filter: sed "s/6[5-9] iterations/65 to 69 iterations/"
      output_file: output/ex4_single.out
      test:
         suffix: single
         args: -pc_type {{sptrsvgpu capellini}} -ksp_type gmres -ksp_rtol 1e-4
      test:
         suffix: single_petsc
         args: -mat_type aij -dm_mat_type aij -pc_type ilu -pc_factor_mat_solver_type petsc -ksp_type gmres
         args: -ksp_rtol 1e-4

   testset:
      args: -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc -ksp_type gmres
      test:
         suffix: icc
         requires: double
      test:
         suffix: icc_single
         requires: single
         args: -ksp_rtol 1e-4

TEST*/
