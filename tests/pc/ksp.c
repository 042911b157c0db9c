static char help[] =
  "Solves twice, with two sets of options, and compares: reason, iterations, residual history, solution.\n\
  -ours <options>      : the first set, in quotes, beginning with a space\n\
  -reference <options> : the second set\n\n";

/*
   Prints nothing if both agree. Residual histories may differ by 1e-6 of the residual, or by the rounding of the
   first one, because sums have another order.
*/
#include "../common.h"

typedef struct {
  PetscInt           iterations;
  KSPConvergedReason reason;
  PetscReal         *history;
} Result;

/* -pc_factor_mat_solve_on_host is respected */
static PetscErrorCode CheckPlace(KSP ksp)
{
  PetscBool on_host = PETSC_FALSE, ours, bound;
  PC        pc;
  Mat       F;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-pc_factor_mat_solve_on_host", &on_host, NULL));
  if (!on_host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(PetscObjectTypeCompare((PetscObject)F, "sptrsvgpu", &ours));
  PetscCall(MatBoundToCPU(F, &bound));
  if (ours && !bound) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the solves run on the GPU\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char option[], Vec b, Vec x, Result *r)
{
  char             options[1024] = "";
  KSP              ksp;
  const PetscReal *history;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, option, options, sizeof(options), NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  /* without an absolute tolerance the reason is the same for a residual of 0 and one at the level of rounding */
  PetscCall(KSPSetTolerances(ksp, KSP_TOLERANCE(1e-8), 0, PETSC_CURRENT, 200));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &r->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &r->reason));
  PetscCall(KSPGetResidualHistory(ksp, &history, NULL));
  PetscCall(PetscMalloc1(r->iterations + 1, &r->history));
  PetscCall(PetscArraycpy(r->history, history, r->iterations + 1));
  PetscCall(CheckPlace(ksp));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Mat       A;
  Vec       b, x, y;
  Result    ours, reference;
  PetscReal tolerance = 1e-6;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-history_tolerance", &tolerance, NULL));
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, PROBLEM_CONVECTION, 400, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVec(b, 1));

  PetscCall(Solve(A, "-ours", b, x, &ours));
  PetscCall(Solve(A, "-reference", b, y, &reference));
  if (ours.reason != reference.reason)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "reason: %s, should be %s\n", KSPConvergedReasons[ours.reason],
                          KSPConvergedReasons[reference.reason]));
  if (ours.iterations != reference.iterations)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT ", should be %" PetscInt_FMT "\n",
                          ours.iterations, reference.iterations));
  else {
    for (PetscInt i = 0; i <= ours.iterations; i++) {
      const PetscReal a = ours.history[i], h = reference.history[i];

      if (PetscIsInfOrNanReal(a) && PetscIsInfOrNanReal(h)) continue;
      if (!(PetscAbsReal(a - h) <=
            TOLERANCE(tolerance) * h + PetscMax(1e-14, 40 * PETSC_MACHINE_EPSILON) * reference.history[0]))
        PetscCall(
          PetscPrintf(PETSC_COMM_WORLD, "residual %" PetscInt_FMT ": %.8e, should be %.8e\n", i, (double)a, (double)h));
    }
    if (reference.reason > 0) PetscCall(CheckVec("solution", x, y, 1e-6));
  }
  PetscCall(PetscFree(ours.history));
  PetscCall(PetscFree(reference.history));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      args: -ours " -pc_type sptrsvgpu" -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: ilu
         args: -problem {{convection random chain diagonal arrow}} -ksp_type {{gmres bcgs richardson}}
      test:
         suffix: ilu_sizes
         args: -problem {{convection random chain diagonal}} -n {{1 2 3 31 32 33 1000 4099}}
      test:
         suffix: levels
         args: -problem {{convection random}} -pc_factor_levels {{1 2 5}}
      test:
         suffix: diagonal_fill
         args: -mat_type aij -problem saddle -pc_factor_levels 1 -pc_factor_diagonal_fill -pc_factor_shift_type nonzero
      test:
         suffix: fill
         args: -pc_factor_levels 2 -pc_factor_fill {{1 5}}
      test:
         suffix: ordering
         args: -problem {{convection random arrow}}
         args: -pc_factor_mat_ordering_type {{natural nd 1wd rcm qmd rowlength multicolor}}
      test:
         suffix: ordering_levels
         args: -problem convection -pc_factor_mat_ordering_type {{nd rcm multicolor}} -pc_factor_levels 2
      test:
         suffix: ordering_multicolor
         args: -problem {{convection random chain arrow}} -n {{1 2 33 900 4099}} -pc_factor_mat_ordering_type multicolor
      test:
         suffix: ordering_multicolor_reuse
         args: -problem convection -pc_factor_mat_ordering_type multicolor -pc_factor_reuse_ordering
      test:
         # ours orders by itself, and so does PETSc
         suffix: own_ordering
         args: -problem {{convection random chain diagonal arrow}} -n {{1 2 33 900 4099}}
         args: -ours " -pc_type {{sptrsvgpu capellini}} -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type multicolor"
      test:
         suffix: own_ordering_options
         args: -problem {{convection random}} -pc_factor_levels {{0 2}} -ksp_type {{gmres bicg}}
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type multicolor"
      test:
         suffix: own_ordering_icc
         args: -problem poisson -n {{1 1024 4096}} -ksp_type cg -pc_factor_levels {{0 1}}
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type icc -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type multicolor"
      test:
         suffix: own_ordering_shift
         args: -mat_type aij -problem saddle -pc_factor_shift_type {{none nonzero positive_definite inblocks}}
         args: -pc_factor_shift_amount 0.1 -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc -pc_factor_mat_ordering_type multicolor"
      test:
         # on the host the natural one
         suffix: own_ordering_auto
         args: -mat_type aij -problem {{convection poisson}} -ksp_type gmres
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor ilu -pc_sptrsvgpu_ordering auto"
      test:
         # -pc_factor_mat_ordering_type takes precedence
         suffix: own_ordering_given
         args: -problem convection
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering {{auto multicolor}} \
               -pc_factor_mat_ordering_type multicolor"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: own_ordering_ranks
         nsize: {{1 2 3}}
         args: -problem {{convection random}} -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc \
               -sub_pc_factor_mat_ordering_type multicolor"
      test:
         suffix: own_ordering_bjacobi
         args: -pc_type bjacobi -pc_bjacobi_blocks 4
         args: -ours " -sub_pc_type sptrsvgpu -sub_pc_sptrsvgpu_ordering multicolor"
         args: -reference " -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc \
               -sub_pc_factor_mat_ordering_type multicolor"
      test:
         suffix: nonzeros_along_diagonal
         args: -problem saddle -pc_factor_nonzeros_along_diagonal
      test:
         suffix: shift
         args: -problem saddle -pc_factor_shift_type {{none positive_definite}}
      test:
         # on the host, where sums have PETSc's order: a pivot becomes 2e-14, and rounding decides
         suffix: shift_inblocks
         args: -mat_type aij -mat_sptrsvgpu_algorithm {{auto serial}} -problem saddle -pc_factor_shift_type inblocks
      test:
         suffix: shift_nonzero
         args: -mat_type aij -mat_sptrsvgpu_algorithm {{auto serial}} -problem saddle -pc_factor_shift_type nonzero
      test:
         suffix: default_shift
         args: -problem saddle
      test:
         suffix: shift_amount
         args: -mat_type aij -mat_sptrsvgpu_algorithm {{auto serial}} -problem saddle
         args: -pc_factor_shift_type {{nonzero inblocks}} -pc_factor_shift_amount {{1e-3 0.5}}
      test:
         suffix: zeropivot
         args: -problem chain -pc_factor_zeropivot {{1e-12 0.9 2 -1e-3}}
      test:
         suffix: reuse
         args: -pc_factor_reuse_ordering -pc_factor_reuse_fill -pc_factor_mat_ordering_type rcm
      test:
         suffix: on_host
         args: -pc_factor_mat_factor_on_host {{0 1}} -pc_factor_mat_solve_on_host {{0 1}} -mat_sptrsvgpu_timeout 5
      test:
         suffix: transpose
         args: -problem {{convection random}} -ksp_type bicg -pc_factor_mat_ordering_type {{natural rcm multicolor}}
      test:
         suffix: serial
         args: -mat_type aij -mat_sptrsvgpu_algorithm serial -problem {{convection random}}
         args: -pc_factor_mat_ordering_type {{natural rcm}} -ksp_type {{gmres bicg}}
      test:
         suffix: auto
         args: -mat_sptrsvgpu_lower auto -mat_sptrsvgpu_upper auto -mat_sptrsvgpu_select granularity
      test:
         suffix: tune
         args: -problem {{convection random}} -mat_sptrsvgpu_select tune -mat_sptrsvgpu_tune_seconds {{0 0.2}}

   testset:
      output_file: output/empty.out
      args: -problem poisson -ksp_type cg -ours " -pc_type sptrsvgpu"
      args: -reference " -pc_type icc -pc_factor_mat_solver_type petsc"
      test:
         suffix: icc
         args: -ksp_norm_type {{preconditioned unpreconditioned natural}}
      test:
         suffix: icc_sizes
         args: -n {{1 4 9 1024 4096}}
      test:
         suffix: icc_levels
         args: -pc_factor_levels {{1 2 5}}
      test:
         suffix: icc_ordering
         args: -pc_factor_mat_ordering_type {{natural nd rcm multicolor}} -pc_factor_levels {{0 1}}
      test:
         suffix: icc_shift
         args: -problem saddle -ksp_type gmres -pc_factor_shift_type {{none nonzero positive_definite}}
         args: -pc_factor_shift_amount 0.1 -ksp_max_it 5 -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
      # the factor is indefinite: rounding in single precision is 1e-4 of residual 3, and a third of residual 5
      test:
         suffix: icc_inblocks
         requires: !single
         args: -problem saddle -ksp_type gmres -pc_factor_shift_type inblocks -pc_factor_shift_amount 0.1
         args: -ksp_max_it 5 -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
      test:
         suffix: icc_inblocks_single
         requires: single
         args: -problem saddle -ksp_type gmres -pc_factor_shift_type inblocks -pc_factor_shift_amount 0.1
         args: -ksp_max_it 2 -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
      test:
         suffix: icc_default_shift
         args: -problem saddle -ksp_type gmres -ksp_max_it 2 -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
      test:
         suffix: icc_along_diagonal
         args: -mat_type aij -mat_sptrsvgpu_algorithm serial -problem saddle -pc_factor_nonzeros_along_diagonal
         args: -ksp_type gmres -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
      test:
         suffix: icc_failed
         args: -ksp_type gmres -ksp_pc_side {{left symmetric}} -pc_factor_shift_type none -pc_factor_zeropivot 2
      test:
         suffix: icc_symmetric
         args: -ksp_type gmres -ksp_pc_side {{left symmetric}}

   testset:
      output_file: output/empty.out
      args: -problem poisson
      test:
         suffix: factor_ilu
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor ilu"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: factor_icc
         args: -ours " -pc_type sptrsvgpu -pc_sptrsvgpu_factor icc"
         args: -reference " -pc_type icc -pc_factor_mat_solver_type petsc"
      test:
         suffix: capellini
         args: -ours " -pc_type capellini" -reference " -pc_type icc -pc_factor_mat_solver_type petsc"
      test:
         suffix: capellini_ilu
         args: -problem {{convection random}} -ours " -pc_type capellini"
         args: -reference " -pc_type ilu -pc_factor_mat_solver_type petsc"
      test:
         suffix: solver_type
         args: -pc_type {{ilu icc}} -ours " -pc_factor_mat_solver_type sptrsvgpu"
         args: -reference " -pc_factor_mat_solver_type petsc"

   # scalars on the GPU
   testset:
      output_file: output/empty.out
      test:
         suffix: cgdevice
         args: -problem poisson -pc_type {{none jacobi sptrsvgpu}}
         args: -ksp_norm_type {{preconditioned unpreconditioned natural}} -ours " -ksp_type cgdevice"
         args: -reference " -ksp_type cg"
      test:
         suffix: cgdevice_gamg
         args: -problem poisson -n 2500 -pc_type gamg -ours " -ksp_type cgdevice" -reference " -ksp_type cg"
      test:
         suffix: cgdevice_single_reduction
         args: -problem poisson -ksp_cg_single_reduction -ours " -ksp_type cgdevice" -reference " -ksp_type cg"
      test:
         suffix: bcgsdevice
         args: -problem {{convection random chain}} -pc_type {{none jacobi sptrsvgpu}} -ksp_pc_side {{left right}}
         args: -ours " -ksp_type bcgsdevice" -reference " -ksp_type bcgs"
      test:
         suffix: devices_ranks
         nsize: 2
         args: -problem poisson -pc_type bjacobi -sub_pc_type sptrsvgpu -ours " -ksp_type cgdevice"
         args: -reference " -ksp_type cg"

   # several ranks: block Jacobi; and as a part of others
   testset:
      output_file: output/empty.out
      nsize: {{1 2}}
      test:
         suffix: ranks
         args: -problem {{convection random chain}} -ours " -pc_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_icc
         args: -problem poisson -ksp_type cg -ours " -pc_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_solver_type
         args: -ours " -pc_type ilu -pc_factor_mat_solver_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ranks_options
         args: -mat_type aij -problem saddle
         args: -ours " -pc_type sptrsvgpu -pc_factor_levels 1 -pc_factor_shift_type nonzero"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc \
               -sub_pc_factor_levels 1 -sub_pc_factor_shift_type nonzero"
      test:
         suffix: ranks_transpose
         args: -problem {{convection random}} -ksp_type bicg -ours " -pc_type sptrsvgpu"
         args: -reference " -pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: bjacobi
         args: -pc_type bjacobi -pc_bjacobi_blocks 4 -ours " -sub_pc_type sptrsvgpu"
         args: -reference " -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: bjacobi_solver_type
         args: -pc_type bjacobi -problem poisson -sub_pc_type {{ilu icc}}
         args: -ours " -sub_pc_factor_mat_solver_type sptrsvgpu" -reference " -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: bjacobi_ordering
         args: -pc_type bjacobi -sub_pc_factor_mat_ordering_type {{rcm multicolor}} -ours " -sub_pc_type sptrsvgpu"
         args: -reference " -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: asm
         args: -pc_type asm -pc_asm_overlap 2 -pc_asm_type {{restrict basic}} -ours " -sub_pc_type sptrsvgpu"
         args: -reference " -sub_pc_type ilu -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: asm_solver_type
         args: -pc_type asm -problem poisson -sub_pc_type {{ilu icc}} -ours " -sub_pc_factor_mat_solver_type sptrsvgpu"
         args: -reference " -sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: fieldsplit
         args: -pc_type fieldsplit -bs 2 -pc_fieldsplit_type {{additive multiplicative}}
         args: -ours " -fieldsplit_pc_type sptrsvgpu"
         args: -reference " -fieldsplit_pc_type bjacobi -fieldsplit_sub_pc_type ilu \
               -fieldsplit_sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: composite
         args: -pc_type composite -pc_composite_type {{additive multiplicative}}
         args: -ours " -pc_composite_pcs jacobi,sptrsvgpu"
         args: -reference " -pc_composite_pcs jacobi,bjacobi -sub_1_sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: ksp
         args: -pc_type ksp -ksp_ksp_type gmres -ksp_ksp_max_it 4 -ksp_type fgmres -ours " -ksp_pc_type sptrsvgpu"
         args: -reference " -ksp_pc_type bjacobi -ksp_sub_pc_type ilu -ksp_sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: gamg
         args: -problem poisson -n 2500 -ksp_type cg -pc_type gamg -mg_levels_ksp_type richardson
         args: -mg_levels_ksp_max_it 1 -ours " -mg_levels_pc_type sptrsvgpu -mg_levels_pc_sptrsvgpu_factor ilu"
         args: -reference " -mg_levels_pc_type bjacobi -mg_levels_sub_pc_type ilu \
               -mg_levels_sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: gamg_chebyshev
         args: -problem poisson -n 2500 -ksp_type fgmres -pc_type gamg -mg_levels_ksp_type chebyshev
         args: -ours " -mg_levels_pc_type sptrsvgpu -mg_levels_pc_sptrsvgpu_factor ilu"
         args: -reference " -mg_levels_pc_type bjacobi -mg_levels_sub_pc_type ilu \
               -mg_levels_sub_pc_factor_mat_solver_type petsc"
      test:
         suffix: mg
         args: -problem poisson -pc_type mg -ours " -mg_levels_pc_type sptrsvgpu"
         args: -reference " -mg_levels_pc_type bjacobi -mg_levels_sub_pc_type icc \
               -mg_levels_sub_pc_factor_mat_solver_type petsc"

TEST*/
