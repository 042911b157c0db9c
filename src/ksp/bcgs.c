/*
   KSP type bcgsdevice: BiCGStab with scalars on the GPU.
*/
#include "impl.h"

#if KSP_ON_DEVICE
/* Reads the report of iteration k, and decides as KSPBCGS does. */
static PetscErrorCode ReadReport(KSP ksp, KSPOnDevice *d, PetscInt k)
{
  TrsvIteration it;

  PetscFunctionBegin;
  PetscCallTrsv(TrsvKrylovAwait(d->scalars, (int)k, &it));
  if (it.state == TRSV_NOT_A_NUMBER) KSPCheckDot(ksp, INFINITY);
  if (it.state == TRSV_BREAKDOWN) {
    PetscCall(PetscInfo(ksp, "Zero inner product in iteration %" PetscInt_FMT "\n", k));
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->its = k;
  if (it.state == TRSV_EXACT) {
    ksp->reason = KSP_CONVERGED_RTOL;
    PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm)); /* the norm of the iteration before, as in KSPBCGS */
    ksp->rnorm = 0;
    PetscCall(KSPMonitor(ksp, k, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPOnDeviceTest(ksp, d, k, it.norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (it.state == TRSV_NEXT_BREAKDOWN) ksp->reason = KSP_DIVERGED_BREAKDOWN;
  else if (k && k >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  PetscCheck(ksp->reason || it.state == TRSV_RUNS, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The GPU has stopped at iteration %" PetscInt_FMT ", in state %d, the host has not", k, (int)it.state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LaunchResidual(const KSPOnDevice *d, Vec R, Vec R0)
{
  const PetscScalar *r, *r0;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(R, &r));
  PetscCall(VecCUDAGetArrayRead(R0, &r0));
  PetscCallTrsv(TrsvBCGSResidual(d->scalars, r, r0));
  PetscCall(VecCUDARestoreArrayRead(R, &r));
  PetscCall(VecCUDARestoreArrayRead(R0, &r0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* beta, and p = r + beta (p - omega v) */
static PetscErrorCode LaunchDirection(const KSPOnDevice *d, PetscInt k, Vec R, Vec V, Vec P)
{
  const PetscScalar *r, *v;
  PetscScalar       *p;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(R, &r));
  PetscCall(VecCUDAGetArrayRead(V, &v));
  PetscCall(VecCUDAGetArray(P, &p));
  PetscCallTrsv(TrsvBCGSDirection(d->scalars, (int)k, r, v, p));
  PetscCall(VecCUDARestoreArrayRead(R, &r));
  PetscCall(VecCUDARestoreArrayRead(V, &v));
  PetscCall(VecCUDARestoreArray(P, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha, and s = r - alpha v */
static PetscErrorCode LaunchHalf(const KSPOnDevice *d, PetscInt k, Vec V, Vec R0, Vec R, Vec S)
{
  const PetscScalar *v, *r0, *r;
  PetscScalar       *s;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(V, &v));
  PetscCall(VecCUDAGetArrayRead(R0, &r0));
  PetscCall(VecCUDAGetArrayRead(R, &r));
  PetscCall(VecCUDAGetArray(S, &s));
  PetscCallTrsv(TrsvBCGSHalf(d->scalars, (int)k, v, r0, r, s));
  PetscCall(VecCUDARestoreArrayRead(V, &v));
  PetscCall(VecCUDARestoreArrayRead(R0, &r0));
  PetscCall(VecCUDARestoreArrayRead(R, &r));
  PetscCall(VecCUDARestoreArray(S, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* omega; x += alpha p + omega s; r = s - omega t; the norm of iteration k */
static PetscErrorCode LaunchUpdate(const KSPOnDevice *d, PetscInt k, Vec P, Vec S, Vec T, Vec R0, Vec X, Vec R)
{
  const PetscScalar *p, *s, *t, *r0;
  PetscScalar       *x, *r;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(P, &p));
  PetscCall(VecCUDAGetArrayRead(S, &s));
  PetscCall(VecCUDAGetArrayRead(T, &t));
  PetscCall(VecCUDAGetArrayRead(R0, &r0));
  PetscCall(VecCUDAGetArray(X, &x));
  PetscCall(VecCUDAGetArray(R, &r));
  PetscCallTrsv(TrsvBCGSUpdate(d->scalars, (int)k, p, s, t, r0, x, r, &d->stopping));
  PetscCall(VecCUDARestoreArrayRead(P, &p));
  PetscCall(VecCUDARestoreArrayRead(S, &s));
  PetscCall(VecCUDARestoreArrayRead(T, &t));
  PetscCall(VecCUDARestoreArrayRead(R0, &r0));
  PetscCall(VecCUDARestoreArray(X, &x));
  PetscCall(VecCUDARestoreArray(R, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveHere(KSP ksp, KSPOnDevice *d)
{
  const Vec X = ksp->vec_sol, B = ksp->vec_rhs, R = ksp->work[0], R0 = ksp->work[1], V = ksp->work[2], T = ksp->work[3],
            S = ksp->work[4], P = ksp->work[5];
  const Vec last_product = R; /* R is unused between LaunchHalf() and LaunchUpdate() */
  PetscInt  launched = 0;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceStart(ksp, d));
  PetscCall(KSPInitialResidual(ksp, X, V, T, R, B));
  PetscCall(VecCopy(R, R0));
  PetscCall(LaunchResidual(d, R, R0));
  PetscCall(ReadReport(ksp, d, 0));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 1; !ksp->reason; k++) {
    for (; launched < k + d->lag && launched < PetscMax(ksp->max_it, 1); launched++) {
      PetscCall(LaunchDirection(d, launched + 1, R, V, P));
      PetscCall(KSP_PCApplyBAorAB(ksp, P, V, T));
      PetscCall(LaunchHalf(d, launched + 1, V, R0, R, S));
      PetscCall(KSP_PCApplyBAorAB(ksp, S, T, last_product));
      PetscCall(LaunchUpdate(d, launched + 1, P, S, T, R0, X, R));
    }
    PetscCall(ReadReport(ksp, d, k));
  }
  PetscCall(KSPUnwindPreconditioner(ksp, X, T));
  PetscCall(PetscLogGpuFlops(26.0 * (PetscLogDouble)X->map->n * (PetscLogDouble)launched));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode KSPSolve_BCGSDevice(KSP ksp)
{
  const char  *reason = NULL;
  KSPOnDevice *d;
  PetscBool    here;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  if (ksp->pc_side == PC_RIGHT && !ksp->guess_zero)
    reason = "there is an initial guess, and the preconditioner is on the right";
  PetscCall(KSPOnDeviceTry(ksp, d, reason, &here));
#if KSP_ON_DEVICE
  if (here) PetscCall(SolveHere(ksp, d));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPBCGSDEVICE - "bcgsdevice", BiCGStab with scalars on the GPU: the vector operations between products are five
   kernels an iteration, and the host waits for one number

   Level: beginner

   Notes:
   Iterates, norms, residual history, breakdowns and options are those of `KSPBCGS` up to rounding, with a
   preconditioner on either side. `KSPCGDEVICE` describes when the host launches an iteration early, and when PETSc's
   own type solves; `KSPBCGS` also solves with a preconditioner on the right and an initial guess.

.seealso: `KSPBCGS`, `KSPCGDEVICE`
M*/
PetscErrorCode KSPCreate_BCGSDevice(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPOnDeviceCreate(ksp, KSPBCGS, KSPSolve_BCGSDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
