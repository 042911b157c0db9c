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

/* rho, and the norm of iteration 0. Vectors: r, r0 */
static TrsvError LaunchResidual(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvKrylovResidual(d->scalars, k, v[0], v[1], &d->stopping);
}

/* beta, and p = r + beta (p - omega v). Vectors: r, v, p */
static TrsvError LaunchDirection(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvBCGSDirection(d->scalars, k, v[0], v[1], v[2]);
}

/* alpha, and s = r - alpha v. Vectors: v, r0, r, s */
static TrsvError LaunchHalf(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvKrylovHalf(d->scalars, k, v[1], v[0], v[2], v[3]);
}

/* omega; x += alpha p + omega s; r = s - omega t; the norm of iteration k. Vectors: p, s, t, r0, x, r */
static TrsvError LaunchUpdate(const KSPOnDevice *d, int k, PetscScalar *const v[])
{
  return TrsvBCGSUpdate(d->scalars, k, v[0], v[1], v[2], v[3], v[4], v[5], &d->stopping);
}

static PetscErrorCode SolveHere(KSP ksp, KSPOnDevice *d)
{
  const Vec X = ksp->vec_sol, B = ksp->vec_rhs, R = ksp->work[0], R0 = ksp->work[1], V = ksp->work[2], T = ksp->work[3],
            S = ksp->work[4], P = ksp->work[5];
  const Vec last_product = R; /* R is unused between LaunchHalf() and LaunchUpdate() */
  PetscInt  launched = 0;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceStart(ksp, TRSV_BCGS, d));
  PetscCall(KSPInitialResidual(ksp, X, V, T, R, B));
  PetscCall(VecCopy(R, R0));
  PetscCall(KSPOnDeviceLaunch(d, 0, LaunchResidual, 2, 0, (Vec[]){R, R0}));
  PetscCall(ReadReport(ksp, d, 0));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 1; !ksp->reason; k++) {
    for (; launched < KSPOnDeviceWanted(ksp, d, k); launched++) {
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchDirection, 2, 1, (Vec[]){R, V, P}));
      PetscCall(KSP_PCApplyBAorAB(ksp, P, V, T));
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchHalf, 3, 1, (Vec[]){V, R0, R, S}));
      PetscCall(KSP_PCApplyBAorAB(ksp, S, T, last_product));
      PetscCall(KSPOnDeviceLaunch(d, launched + 1, LaunchUpdate, 4, 2, (Vec[]){P, S, T, R0, X, R}));
    }
    PetscCall(ReadReport(ksp, d, k));
  }
  KSPOnDeviceEnd(ksp, launched);
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
  else PetscCall((*d->petsc.reset)(ksp)); /* KSPBCGS would add such a guess to all later solutions */
  PetscCall(KSPOnDeviceTry(ksp, d, reason, &here));
#if KSP_ON_DEVICE
  if (here) PetscCall(SolveHere(ksp, d));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPBCGSDEVICE - "bcgsdevice", BiCGStab with scalars on the GPU: the vector operations between products are five
   kernels an iteration, and the host waits for one number

   Notes:
   Iterates, norms, residual history, breakdowns and options are those of `KSPBCGS` up to rounding, with a
   preconditioner on either side. A solve forgets the guess of an earlier one, which `KSPBCGS` with the preconditioner
   on the right adds to all later solutions. `KSPCGDEVICE` describes when the host launches an iteration early, and when
   PETSc's own type solves; `KSPBCGS` also solves with a preconditioner on the right and an initial guess.

   Level: beginner

.seealso: `KSPBCGS`, `KSPCGDEVICE`
M*/
PetscErrorCode KSPCreate_BCGSDevice(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPOnDeviceCreate(ksp, KSPBCGS, KSPSolve_BCGSDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
