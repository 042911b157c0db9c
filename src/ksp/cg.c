/*
   KSP type cgdevice: conjugate gradients with scalars on the GPU.
*/
#include "impl.h"

#if KSP_ON_DEVICE
/* Reads the report of iteration k, and decides as KSPCG does. */
static PetscErrorCode ReadReport(KSP ksp, KSPOnDevice *d, PetscInt k)
{
  TrsvIteration it;

  PetscFunctionBegin;
  PetscCallTrsv(TrsvKrylovAwait(d->scalars, (int)k, &it));
  ksp->its = k;
  if (it.state == TRSV_NOT_A_NUMBER) KSPCheckDot(ksp, INFINITY);
  if (it.state == TRSV_INDEFINITE_MATRIX) {
    PetscCall(PetscInfo(ksp, "p'Ap is zero or has changed its sign in iteration %" PetscInt_FMT "\n", k));
    ksp->reason = ksp->converged_neg_curve ? KSP_CONVERGED_NEG_CURVE : KSP_DIVERGED_INDEFINITE_MAT;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPOnDeviceTest(ksp, d, k, it.norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (it.state == TRSV_NEXT_NOT_A_NUMBER) KSPCheckDot(ksp, INFINITY);
  if (k && k >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  else if (it.state == TRSV_NEXT_ZERO || it.state == TRSV_NEXT_INDEFINITE_PC) {
    PetscCall(PetscInfo(ksp, "r'z is zero or has changed its sign after iteration %" PetscInt_FMT "\n", k));
    ksp->its    = k + 1;
    ksp->reason = it.state == TRSV_NEXT_ZERO ? KSP_CONVERGED_ATOL : KSP_DIVERGED_INDEFINITE_PC;
  }
  PetscCheck(ksp->reason || it.state == TRSV_RUNS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The GPU has stopped at iteration %" PetscInt_FMT ", in state %d, the host has not", k, (int)it.state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* beta, and the norm of iteration k. Vectors: r, z */
static TrsvError LaunchResidual(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvKrylovResidual(d->scalars, k, v[0], v[1], &d->stopping);
}

/* alpha, and r -= alpha w. Vectors: p, w, r */
static TrsvError LaunchStep(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvKrylovHalf(d->scalars, k, v[0], v[1], v[2], v[2]);
}

/* x += alpha p; p = z + beta p. Vectors: z, p, x */
static TrsvError LaunchAdvance(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvCGAdvance(d->scalars, k, v[0], v[1], v[2]);
}

static PetscErrorCode SolveHere(KSP ksp, KSPOnDevice *d)
{
  const Vec X = ksp->vec_sol, B = ksp->vec_rhs, R = ksp->work[0], Z = ksp->work[1], P = ksp->work[2];
  PetscInt  launched = 0;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceStart(ksp, TRSV_CG, d));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->guess_zero) PetscCall(VecCopy(B, R));
  else {
    PetscCall(KSP_MatMult(ksp, A, X, R));
    PetscCall(VecAYPX(R, -1.0, B));
  }
  PetscCall(KSP_PCApply(ksp, R, Z));
  PetscCall(KSPOnDeviceLaunch(d, 0, LaunchResidual, 2, 0, (Vec[]){R, Z}));
  PetscCall(VecCopy(Z, P));
  PetscCall(ReadReport(ksp, d, 0));
  for (PetscInt k = 1; !ksp->reason; k++) {
    for (; launched < KSPOnDeviceWanted(ksp, d, k); launched++) {
      PetscCall(KSP_MatMult(ksp, A, P, Z));
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchStep, 2, 1, (Vec[]){P, Z, R}));
      PetscCall(KSP_PCApply(ksp, R, Z));
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchResidual, 2, 0, (Vec[]){R, Z}));
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchAdvance, 1, 2, (Vec[]){Z, P, X}));
    }
    PetscCall(ReadReport(ksp, d, k));
  }
  KSPOnDeviceEnd(ksp, PetscMax(launched, ksp->its));
  PetscCall(PetscLogGpuFlops(12.0 * (PetscLogDouble)X->map->n * (PetscLogDouble)launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode KSPSolve_CGDevice(KSP ksp)
{
  KSPOnDevice *d;
  PetscBool    here;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  PetscCall(KSPOnDeviceTry(ksp, d,
                           d->trust_region     ? "it has a trust region or a target" :
                           d->single_reduction ? "it uses a single reduction" :
                                                 NULL,
                           &here));
#if KSP_ON_DEVICE
  if (here) PetscCall(SolveHere(ksp, d));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetRadius_CGDevice(KSP ksp, PetscReal radius)
{
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  d->trust_region = PETSC_TRUE;
  PetscCall((*d->set_radius)(ksp, radius));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPCGSetObjectiveTarget_CGDevice(KSP ksp, PetscReal target)
{
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  d->trust_region = PETSC_TRUE;
  PetscCall((*d->set_target)(ksp, target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve on the GPU does not compute the objective. PETSc's type does, so its function returns it after its solves. */
static PetscErrorCode KSPCGGetObjFcn_CGDevice(KSP ksp, PetscReal *objective)
{
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  PetscCheck(d->reason || !d->scalars, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "A solve by KSP type %s on the GPU has no objective; use KSPCG, or call KSPCGSetRadius() or "
             "KSPCGSetObjectiveTarget() before the solve",
             ((PetscObject)ksp)->type_name);
  PetscCall((*d->get_objective)(ksp, objective));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc 3.20 has no such function for KSPCG. */
static PetscErrorCode ComposeObjective(KSP ksp, const KSPOnDevice *d)
{
  PetscFunctionBegin;
  if (d->get_objective)
    PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", KSPCGGetObjFcn_CGDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's function sets another solve, which needs other vectors: before 3.26 it does not ask for a set-up of the KSP.
   With a single reduction it removes KSPCGGetObjFcn(), else it sets its own. */
static PetscErrorCode KSPCGUseSingleReduction_CGDevice(KSP ksp, PetscBool use)
{
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  PetscCall((*d->use_single_reduction)(ksp, use));
  if (d->single_reduction != use) ksp->setupstage = KSP_SETUP_NEW;
  d->petsc.solve      = ksp->ops->solve;
  d->single_reduction = use;
  ksp->ops->solve     = KSPSolve_CGDevice;
  if (!use) PetscCall(ComposeObjective(ksp, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPCGDEVICE - "cgdevice", the conjugate gradient method with scalars on the GPU: the vector operations between
   products are four kernels an iteration, and the host waits for one number instead of three

   Notes:
   Iterates, norms, residual history, breakdowns and options are those of `KSPCG` up to rounding. It takes any
   preconditioner, and all norms: `-ksp_norm_type preconditioned`, `unpreconditioned`, `natural` and `none`.

   If vectors have fewer than 500,000 rows, the test is `KSPConvergedDefault()`, and there are no monitors, the host
   launches an iteration before it reads the norm of the previous one, and the GPU checks itself whether to stop. It
   waits if the norm, falling as in the last iteration, would end the solve.

   `KSPCG` solves, and the view reports the reason, if scalars are not real double, vectors are not of type seqcuda (on
   several ranks, or on the host), there is a trust region or an objective target, or with
   `KSPCGUseSingleReduction()`, `KSPSetComputeEigenvalues()`, `KSPSetComputeSingularValues()` or
   `KSPSetCheckNormIteration()`. `KSPCGGetObjFcn()` is an error after a solve on the GPU.

   Level: beginner

.seealso: `KSPCG`, `KSPBCGSDEVICE`, `KSPSetNormType()`
M*/
PetscErrorCode KSPCreate_CGDevice(KSP ksp)
{
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceCreate(ksp, KSPCG, KSPSolve_CGDevice));
  PetscCall(KSPOnDeviceGet(ksp, &d));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetRadius_C", &d->set_radius));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGSetObjectiveTarget_C", &d->set_target));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGGetObjFcn_C", &d->get_objective));
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPCGUseSingleReduction_C", &d->use_single_reduction));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetRadius_C", KSPCGSetRadius_CGDevice));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetObjectiveTarget_C",
                                       KSPCGSetObjectiveTarget_CGDevice));
  PetscCall(ComposeObjective(ksp, d));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGUseSingleReduction_C",
                                       KSPCGUseSingleReduction_CGDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
