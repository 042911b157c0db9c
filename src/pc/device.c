/*
   The factorisation on the device: where it can be done, the pattern and the values it is given, and its outcome as PETSc's.
*/
#include "impl.h"
#include <petscdevice.h>

#if PetscDefined(HAVE_CUDA)
/* Seconds for an entry that PETSc's host factorisation is expected to take, with the values' ways to the host and back: from 150 ms for 1.5e7. */
static const double host_entry = 10e-9;

/* Why the host has to factor; an empty string where the device can. */
static void WhyHost(const SpTRSVGPU *s, Mat local, const MatFactorInfo *info, char why[], size_t size)
{
  const char *reason = "";

  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_HOST || info->factoronhost) reason = "asked for";
  else if (info->levels > 0) reason = "there are levels of fill";
  else if (!s->natural) reason = "the ordering is not the natural one";
  else if (!local->rmap->n) reason = "there are no rows";
  (void)PetscStrncpy(why, reason, size);
}

/* The pattern on the device; not every storage format shows it. */
static PetscErrorCode GetPattern(Mat local, const PetscInt **i, const PetscInt **j, PetscBool *there)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSeqAIJCUSPARSEGetIJ(local, PETSC_FALSE, i, j);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_SUP, PETSC_COMM_SELF, ierr, "MatSeqAIJCUSPARSEGetIJ()");
  *there = (PetscBool)!ierr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuSPARSE is asked for by name alone, and does less. */
static PetscErrorCode CheckCusparse(const SpTRSVGPU *s, const MatFactorInfo *info)
{
  const char *reason = s->why[0] ? s->why : s->kind != MAT_FACTOR_ILU ? "this is ICC" : info->shifttype != (PetscReal)MAT_SHIFT_NONE ? "there is a shift" : NULL;

  PetscFunctionBegin;
  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE) PetscCheck(!reason, PETSC_COMM_SELF, PETSC_ERR_SUP, "-mat_sptrsvgpu_factorization cusparse is for ILU(0) in the natural order, without shifts, on a GPU: %s", reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Leaves s->factor NULL where the host is to factor. A pattern that cannot be factored is also left to it, and to what it says. */
PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat F, Mat local, const MatFactorInfo *info)
{
#if PetscDefined(HAVE_CUDA)
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  const PetscInt    *i, *j;
  PetscBool          there = PETSC_FALSE;
  PetscDeviceContext context;
  TrsvError          error;
  int                row, lower, upper;
  double             device, host;
  TrsvCosts          costs;

  PetscFunctionBegin;
  if (s->home != TRSV_DEVICE) PetscFunctionReturn(PETSC_SUCCESS);
  WhyHost(s, local, info, s->why, sizeof(s->why));
  PetscCall(CheckCusparse(s, info));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetPattern(local, &i, &j, &there));
  if (!there) {
    PetscCall(PetscStrncpy(s->why, "the matrix is not stored in compressed sparse rows", sizeof(s->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context)); /* the symbolic phase works in the default stream */
  error = TrsvFactorCreate(local->rmap->n, i, j, s->kind == MAT_FACTOR_ICC ? TRSV_ICC : TRSV_ILU, TRSV_DOUBLE, &s->factor, &row);
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &i, &j));
  if (error == TRSV_ERR_STRUCTURE) {
    PetscCall(PetscStrncpy(s->why, TrsvErrorMessage(), sizeof(s->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallTrsv(error);
  if (s->settings.factorization != SPTRSVGPU_FACTORIZATION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  costs = TrsvGetCosts();
  TrsvFactorEntries(s->factor, &lower, &upper);
  device = TrsvFactorPredict(s->factor, &costs);
  host   = host_entry * ((double)lower + upper);
  if (device > host) {
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "predicted %.3g ms, device %.3g ms", 1e3 * host, 1e3 * device));
    TrsvFactorDestroy(&s->factor);
  }
#else
  PetscFunctionBegin;
  (void)F;
  (void)local;
  (void)info;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUDeviceNumeric(Mat F, Mat local, const MatFactorInfo *info)
{
#if PetscDefined(HAVE_CUDA)
  SpTRSVGPU         *s      = (SpTRSVGPU *)F->data;
  const TrsvPivots   pivots = {(TrsvShift)(int)info->shifttype, info->shiftamount, info->zeropivot};
  const PetscInt    *i, *j;
  const PetscScalar *a;
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  PetscCall(CheckCusparse(s, info));
  PetscCall(PetscLogEventBegin(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(local, &a));
  PetscCall(SpTRSVGPUGetStream(TRSV_DEVICE, &stream));
  PetscCall(PetscLogGpuTimeBegin());
  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE) {
    PetscCall(MatSeqAIJCUSPARSEGetIJ(local, PETSC_FALSE, &i, &j));
    error = TrsvFactorCusparse(s->factor, i, j, a, &s->outcome, stream);
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &i, &j));
  } else error = TrsvFactorNumeric(s->factor, a, &pivots, &s->outcome, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
  PetscCallTrsv(error);
  F->factorerrortype = s->outcome.row < 0 ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  if (s->outcome.attempts > 1) PetscCall(PetscInfo(F, "Factored %d times, diagonal shifted by %g\n", s->outcome.attempts, s->outcome.shift));
  PetscCall(PetscLogEventEnd(SpTRSVGPU_FactorDevice, F, local, 0, 0));
#else
  PetscFunctionBegin;
  (void)F;
  (void)local;
  (void)info;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
