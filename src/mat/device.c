/*
   The factorization on the GPU: hands pattern and values of the matrix to src/kernels, and reports the outcome to
   PETSc.
*/
#include "impl.h"
#include <petscdevice.h>

#if PetscDefined(HAVE_CUDA)
static PetscErrorCode RestorePattern(Mat local, TrsvCSR *A)
{
  const SpTRSVGPUDeviceIndex *i = (const SpTRSVGPUDeviceIndex *)A->offsets,
                             *j = (const SpTRSVGPUDeviceIndex *)A->columns;

  PetscFunctionBegin;
  if (i) PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &i, &j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern on the GPU, complete for use in the default stream. To be restored by RestorePattern(). A storage format
   that does not show it gives A->offsets NULL. */
static PetscErrorCode GetPattern(Mat local, TrsvCSR *A)
{
  const SpTRSVGPUDeviceIndex *i, *j;
  PetscDeviceContext          context;
  PetscErrorCode              ierr;

  PetscFunctionBegin;
  *A = (TrsvCSR){(int)local->rmap->n, NULL, NULL, NULL, sizeof(*i) != sizeof(int)};
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatSeqAIJCUSPARSEGetIJ(local, PETSC_FALSE, &i, &j);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_SUP, PETSC_COMM_SELF, ierr, "MatSeqAIJCUSPARSEGetIJ()");
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context)); /* the context's stream may still be writing it */
  if (ierr) PetscFunctionReturn(PETSC_SUCCESS);
  A->offsets = (const int *)i;
  A->columns = (const int *)j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values, complete for use in the default stream. To be restored by MatSeqAIJCUSPARSERestoreArrayRead(). */
static PetscErrorCode GetValues(Mat local, const PetscScalar **a)
{
  PetscDeviceContext context;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(local, a));
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context)); /* the context's stream may still be writing them */
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Checks whether new values suit the multicolor order, which auto has chosen. reason: why they do not, or "" on all
   ranks. A symmetric matrix describes no flow: nothing is checked for ICC, or if the matrix is known to be symmetric.
   Collective. */
PetscErrorCode SpTRSVGPUDeviceCheckValues(Mat F, Mat A, char reason[], size_t size)
{
  PetscBool unsuitable = PETSC_FALSE, known, symmetric;

  PetscFunctionBegin;
  reason[0] = 0;
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if ((known && symmetric) || ((SpTRSVGPU *)F->data)->kind == MAT_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(HAVE_CUDA)
  {
    const SpTRSVGPU   *s = (SpTRSVGPU *)F->data;
    Mat                local;
    TrsvCSR            csr;
    const PetscScalar *a;
    TrsvError          error;

    PetscCall(SpTRSVGPUGetLocal(A, &local));
    if (s->multicolor && s->on_device && !local->boundtocpu) {
      PetscCall(GetPattern(local, &csr));
      PetscCall(GetValues(local, &a));
      csr.values = a;
      error      = TrsvIluCheckOrder(s->ilu, &csr, reason, size);
      PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
      PetscCall(RestorePattern(local, &csr));
      if (error == TRSV_ERR_MEMORY) reason[0] = 0; /* the factorization may succeed without more memory */
      else PetscCallTrsv(error);
      unsuitable = (PetscBool)(reason[0] != 0);
    }
  }
#endif
  PetscCallMPI(
    MPIU_Allreduce(MPI_IN_PLACE, &unsuitable, 1, SPTRSVGPU_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)F)));
  if (unsuitable && !reason[0])
    PetscCall(PetscStrncpy(reason, "the values of another rank do not suit multicolor", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The settings and PETSc's options in terms of src/kernels. */
static void FillRequest(const SpTRSVGPU *s, const MatFactorInfo *info, TrsvIluRequest *r)
{
  const TrsvAlgorithm *const *named = s->settings.algorithm;
  const TrsvFactorKind        icc   = s->hermitian ? TRSV_ICC_HERMITIAN : TRSV_ICC;

  *r = (TrsvIluRequest){.kind         = s->kind == MAT_FACTOR_ICC ? icc : TRSV_ILU,
                        .precision    = SPTRSVGPU_PRECISION,
                        .memory       = s->memory,
                        .place        = (TrsvPlace)s->settings.factorization,
                        .fill_levels  = (int)PetscMax(0, PetscMin(info->levels, INT_MAX)),
                        .row          = s->row,
                        .column       = s->column,
                        .algorithm    = {named[SPTRSVGPU_LOWER], named[SPTRSVGPU_UPPER]},
                        .thread_level = s->settings.thread_level,
                        .selection    = (TrsvSelection)s->settings.selection,
                        .timeout      = (double)s->settings.timeout};
  if (s->hermitian && r->place == TRSV_PLACE_AUTO) r->place = TRSV_PLACE_DEVICE; /* PETSc's ICC is another one */
  if (SpTRSVGPUFactorOnHost(info)) r->place = TRSV_PLACE_HOST;
  if (s->is_natural && s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) r->order = TRSV_ORDER_MULTICOLOR;
  if (s->is_natural && s->settings.ordering == SPTRSVGPU_ORDERING_AUTO && !s->settings.reason_natural[0])
    r->order = TRSV_ORDER_AUTO;
}

/* Makes s->ilu, and the pattern of the factor if the GPU can factor the matrix: s->on_device. */
PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat F, Mat local, const MatFactorInfo *info)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  TrsvIluRequest request;

  PetscFunctionBegin;
  FillRequest(s, info, &request);
  if (s->memory == TRSV_HOST) {
    PetscCallTrsv(TrsvIluCreate(&request, (int)PetscMin(local->rmap->n, INT_MAX), NULL, &s->ilu));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if PetscDefined(HAVE_CUDA)
  {
    const PetscScalar *a = NULL;
    TrsvCSR            A;
    TrsvIluInfo        ilu;
    TrsvError          error;

    PetscCall(GetPattern(local, &A));
    if (request.order != TRSV_ORDER_GIVEN && request.place != TRSV_PLACE_HOST && A.offsets)
      PetscCall(GetValues(local, &a));
    A.values = a;
    error    = TrsvIluCreate(&request, (int)local->rmap->n, &A, &s->ilu);
    if (a) PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
    PetscCall(RestorePattern(local, &A));
    PetscCallTrsv(error);
    TrsvIluDescribe(s->ilu, &ilu);
    s->on_device  = (PetscBool)ilu.on_device;
    s->multicolor = (PetscBool)ilu.multicolor;
    if (s->multicolor) s->is_natural = PETSC_FALSE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the values of the factor and of the plans. If auto has chosen the multicolor order for ILU, an unexpected
   pivot sets s->not_positive, and there are no values; see numeric.c. */
PetscErrorCode SpTRSVGPUDeviceNumeric(Mat F, Mat local, const MatFactorInfo *info)
{
#if PetscDefined(HAVE_CUDA)
  SpTRSVGPU         *s      = (SpTRSVGPU *)F->data;
  const PetscBool    expect = (PetscBool)(s->settings.ordering == SPTRSVGPU_ORDERING_AUTO && s->multicolor &&
                                       s->kind == MAT_FACTOR_ILU && !s->any_sign &&
                                       info->shifttype != (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE);
  const TrsvShift    shift  = expect ? TRSV_SHIFT_EXPECT_POSITIVE : (TrsvShift)(int)info->shifttype;
  const TrsvPivots   pivots = {shift, info->shiftamount, info->zeropivot};
  const PetscScalar *a;
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(local, &a));
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  PetscCall(PetscLogGpuTimeBegin());
  error = TrsvIluSetValues(s->ilu, a, &pivots, &s->outcome, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
  PetscCall(PetscLogEventEnd(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  PetscCallTrsv(error);
  s->not_positive    = (PetscBool)(expect && s->outcome.row >= 0);
  F->factorerrortype = s->outcome.row < 0 ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  if (s->outcome.attempts > 1)
    PetscCall(PetscInfo(F, "Factored %d times, diagonal shifted by %g\n", s->outcome.attempts, s->outcome.shift));
#else
  PetscFunctionBegin;
  (void)F;
  (void)local;
  (void)info;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
