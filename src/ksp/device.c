/*
   The common functions of the KSP types whose scalars stay on the GPU.
*/
#include "impl.h"

static const char context_name[] = "SpTRSVGPU_KSPOnDevice";

/* With more rows an iteration takes the GPU longer than its launches take the host. Launching before the last norm is
   known then saves no time. */
enum {
  MANY_ROWS = 500000
};

PetscErrorCode KSPOnDeviceGet(KSP ksp, KSPOnDevice **d)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectContainerQuery((PetscObject)ksp, context_name, (void **)d));
  PetscCheck(*d, PetscObjectComm((PetscObject)ksp), PETSC_ERR_PLIB, "KSP of type %s has lost its data",
             ((PetscObject)ksp)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_OnDevice(KSP ksp)
{
  KSPOnDevice   *d;
  struct _KSPOps petsc;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  petsc = d->petsc;
#if KSP_ON_DEVICE
  TrsvKrylovDestroy(&d->scalars);
#endif
  PetscCall(PetscObjectCompose((PetscObject)ksp, context_name, NULL)); /* frees d */
  PetscCall((*petsc.destroy)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_OnDevice(KSP ksp, PetscViewer viewer)
{
  KSPOnDevice *d;
  PetscBool    ascii;

  PetscFunctionBegin;
  PetscCall(KSPOnDeviceGet(ksp, &d));
  if (d->petsc.view) PetscCall((*d->petsc.view)(ksp, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (d->reason) PetscCall(PetscViewerASCIIPrintf(viewer, "  solved by PETSc's own type: %s\n", d->reason));
  else if (d->scalars)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  scalars on the GPU; the host is %s\n",
                                     d->lag ? "one iteration behind" : "not behind"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPOnDeviceCreate(KSP ksp, KSPType petsc, PetscErrorCode (*solve)(KSP))
{
  PetscErrorCode (*create)(KSP);
  KSPOnDevice *d;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(KSPList, petsc, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_UNKNOWN_TYPE, "PETSc has no KSP type %s", petsc);
  PetscCall((*create)(ksp));
  PetscCall(PetscNew(&d));
  PetscCall(PetscObjectContainerCompose((PetscObject)ksp, context_name, d, PetscCtxDestroyDefault));
  d->petsc          = *ksp->ops;
  ksp->ops->solve   = solve;
  ksp->ops->destroy = KSPDestroy_OnDevice;
  ksp->ops->view    = KSPView_OnDevice;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reason why PETSc's type has to solve, or NULL. */
static PetscErrorCode GetReason(KSP ksp, const char **reason)
{
  const Vec   vectors[] = {ksp->vec_sol, ksp->vec_rhs, ksp->work[0]};
  PetscMPIInt ranks;

  PetscFunctionBegin;
  *reason = NULL;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &ranks));
  if (!PetscDefined(HAVE_CUDA)) *reason = "PETSc has no CUDA";
  else if (!KSP_ON_DEVICE) *reason = "its scalars are not real double";
  else if (ranks > 1) *reason = "there are several ranks";
  else if (ksp->calc_sings || ksp->calc_ritz) *reason = "eigenvalues or singular values are estimated";
  else if (ksp->chknorm >= 0) *reason = "KSPSetCheckNormIteration() leaves out norms";
  else if (ksp->reason == KSP_DIVERGED_PC_FAILED) *reason = "the preconditioner has failed";
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(vectors) && !*reason; i++) {
    PetscBool on_device, bound;

    PetscCall(PetscObjectTypeCompare((PetscObject)vectors[i], VECSEQCUDA, &on_device));
    PetscCall(VecBoundToCPU(vectors[i], &bound));
    if (!on_device) *reason = "vectors are not of type seqcuda";
    else if (bound) *reason = "vectors are bound to the host";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPOnDeviceTry(KSP ksp, KSPOnDevice *d, const char *reason, PetscBool *here)
{
  PetscFunctionBegin;
  d->reason = reason;
  if (!reason) PetscCall(GetReason(ksp, &d->reason));
  *here = (PetscBool)!d->reason;
  if (!*here) PetscCall((*d->petsc.solve)(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if KSP_ON_DEVICE
PetscErrorCode KSPOnDeviceStart(KSP ksp, TrsvKrylovType type, KSPOnDevice *d)
{
  static const TrsvNorm norms[] = {[KSP_NORM_NONE]             = TRSV_NORM_NONE,
                                   [KSP_NORM_PRECONDITIONED]   = TRSV_NORM_PRECONDITIONED,
                                   [KSP_NORM_UNPRECONDITIONED] = TRSV_NORM_UNPRECONDITIONED,
                                   [KSP_NORM_NATURAL]          = TRSV_NORM_NATURAL};
  const PetscBool       known   = (PetscBool)(ksp->converged == KSPConvergedDefault && !ksp->numbermonitors);
  TrsvStream            stream;
  PetscInt              rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_sol, &rows));
  PetscCall(SpTRSVGPUGetStream(TRSV_DEVICE, &stream));
  if (!d->scalars) PetscCallTrsv(TrsvKrylovCreate(&d->scalars));
  PetscCallTrsv(TrsvKrylovStart(d->scalars, (int)rows, type, norms[ksp->normtype], stream));
  /* another test, or a monitor, may read x of its iteration: no later iteration may be launched before */
  d->lag      = known && rows < MANY_ROWS;
  d->nearly   = PETSC_FALSE;
  d->stopping = (TrsvStopping){0};
  ksp->its    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPOnDeviceLaunch(const KSPOnDevice *d, PetscInt k,
                                 TrsvError (*launch)(const KSPOnDevice *, int, PetscScalar *const[]), int read,
                                 int written, const Vec vectors[])
{
  PetscScalar *arrays[6];
  TrsvError    error;

  PetscFunctionBegin;
  for (int i = 0; i < read; i++) PetscCall(VecCUDAGetArrayRead(vectors[i], (const PetscScalar **)&arrays[i]));
  for (int i = read; i < read + written; i++) PetscCall(VecCUDAGetArray(vectors[i], &arrays[i]));
  error = launch(d, (int)k, arrays);
  for (int i = 0; i < read; i++) PetscCall(VecCUDARestoreArrayRead(vectors[i], (const PetscScalar **)&arrays[i]));
  for (int i = read; i < read + written; i++) PetscCall(VecCUDARestoreArray(vectors[i], &arrays[i]));
  PetscCallTrsv(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPOnDeviceTest(KSP ksp, KSPOnDevice *d, PetscInt k, PetscReal norm)
{
  const PetscReal before = ksp->rnorm;

  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_NATURAL) KSPCheckDot(ksp, norm);
  else if (ksp->normtype != KSP_NORM_NONE) KSPCheckNorm(ksp, norm);
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, k, norm));
  PetscCall((*ksp->converged)(ksp, k, norm, &ksp->reason, ksp->cnvP));
  /* an iteration that is launched early for nothing costs a product and a PCApply; the wait for a norm costs less */
  d->nearly = (PetscBool)(k && norm * norm <= before * ksp->ttol);
  if (!k && !ksp->reason && d->lag)
    d->stopping = (TrsvStopping){1, (int)PetscMin(ksp->min_it, INT_MAX), (int)PetscMin(ksp->max_it, INT_MAX), ksp->ttol,
                                 ksp->divtol * ksp->rnorm0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's types take an iteration even if max_it is 0, and then report DIVERGED_ITS whatever it gave, but for a NaN. */
void KSPOnDeviceEnd(KSP ksp, PetscInt launched)
{
  if (launched > ksp->max_it && ksp->reason != KSP_DIVERGED_NANORINF && ksp->reason != KSP_DIVERGED_PC_FAILED)
    ksp->reason = KSP_DIVERGED_ITS;
}
#endif
