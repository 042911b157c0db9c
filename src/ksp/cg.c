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

/* beta, and the norm of iteration k */
static PetscErrorCode LaunchResidual(const KSPOnDevice *d, PetscInt k, Vec R, Vec Z)
{
  const PetscScalar *r, *z;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(R, &r));
  PetscCall(VecCUDAGetArrayRead(Z, &z));
  PetscCallTrsv(TrsvCGResidual(d->scalars, (int)k, r, z, &d->stopping));
  PetscCall(VecCUDARestoreArrayRead(R, &r));
  PetscCall(VecCUDARestoreArrayRead(Z, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha, and r -= alpha w */
static PetscErrorCode LaunchStep(const KSPOnDevice *d, PetscInt k, Vec P, Vec W, Vec R)
{
  const PetscScalar *p, *w;
  PetscScalar       *r;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(P, &p));
  PetscCall(VecCUDAGetArrayRead(W, &w));
  PetscCall(VecCUDAGetArray(R, &r));
  PetscCallTrsv(TrsvCGStep(d->scalars, (int)k, p, w, r));
  PetscCall(VecCUDARestoreArrayRead(P, &p));
  PetscCall(VecCUDARestoreArrayRead(W, &w));
  PetscCall(VecCUDARestoreArray(R, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += alpha p; p = z + beta p */
static PetscErrorCode LaunchAdvance(const KSPOnDevice *d, PetscInt k, Vec Z, Vec P, Vec X)
{
  const PetscScalar *z;
  PetscScalar       *p, *x;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(Z, &z));
  PetscCall(VecCUDAGetArray(P, &p));
  PetscCall(VecCUDAGetArray(X, &x));
  PetscCallTrsv(TrsvCGAdvance(d->scalars, (int)k, z, p, x));
  PetscCall(VecCUDARestoreArrayRead(Z, &z));
  PetscCall(VecCUDARestoreArray(P, &p));
  PetscCall(VecCUDARestoreArray(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveHere(KSP ksp, KSPOnDevice *d)
{
  const Vec X = ksp->vec_sol, B = ksp->vec_rhs, R = ksp->work[0], Z = ksp->work[1], P = ksp->work[2];
  PetscInt  launched = 0;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceStart(ksp, d));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->guess_zero) PetscCall(VecCopy(B, R));
  else {
    PetscCall(KSP_MatMult(ksp, A, X, R));
    PetscCall(VecAYPX(R, -1.0, B));
  }
  PetscCall(KSP_PCApply(ksp, R, Z));
  PetscCall(LaunchResidual(d, 0, R, Z));
  PetscCall(VecCopy(Z, P));
  PetscCall(ReadReport(ksp, d, 0));
  for (PetscInt k = 1; !ksp->reason; k++) {
    for (; launched < k + d->lag && launched < PetscMax(ksp->max_it, 1); launched++) {
      PetscCall(KSP_MatMult(ksp, A, P, Z));
      PetscCall(LaunchStep(d, launched + 1, P, Z, R));
      PetscCall(KSP_PCApply(ksp, R, Z));
      PetscCall(LaunchResidual(d, launched + 1, R, Z));
      PetscCall(LaunchAdvance(d, launched + 1, Z, P, X));
    }
    PetscCall(ReadReport(ksp, d, k));
  }
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
  PetscCall(KSPOnDeviceTry(ksp, d, d->trust_region ? "it has a trust region or a target" : NULL, &here));
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

/*MC
   KSPCGDEVICE - "cgdevice", the conjugate gradient method with scalars on the GPU: the vector operations between
   products are four kernels an iteration, and the host waits for one number instead of three

   Level: beginner

   Notes:
   Iterates, norms, residual history, breakdowns and options are those of `KSPCG` up to rounding. It takes any
   preconditioner, and all norms: `-ksp_norm_type preconditioned`, `unpreconditioned`, `natural` and `none`.

   If vectors have fewer than 500,000 rows, the test is `KSPConvergedDefault()`, and there are no monitors, the host
   launches an iteration before it reads the norm of the previous one, and the GPU checks itself whether to stop.

   `KSPCG` solves, and the view reports the reason, if scalars are not real double, vectors are not of type seqcuda (on
   several ranks, or on the host), there is a trust region or an objective target, or with
   `KSPSetComputeEigenvalues()`, `KSPSetComputeSingularValues()` or `KSPSetCheckNormIteration()`.

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
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetRadius_C", KSPCGSetRadius_CGDevice));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCGSetObjectiveTarget_C",
                                       KSPCGSetObjectiveTarget_CGDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
