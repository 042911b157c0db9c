/*
   The factorization on the device: the pattern and the values it is given, and its outcome as PETSc's.
*/
#include "impl.h"
#include <petscdevice.h>

PetscErrorCode SpTRSVGPUGetStream(TrsvMemory memory, TrsvStream *stream)
{
  PetscDeviceContext context;
  void              *handle;

  PetscFunctionBegin;
  *stream = NULL;
  if (memory == TRSV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  if (handle) *stream = *(TrsvStream *)handle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA)
/* The pattern on the device; not every storage format shows it, and A->offsets is NULL then. */
static PetscErrorCode GetPattern(Mat local, TrsvCSR *A)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  *A   = (TrsvCSR){local->rmap->n, NULL, NULL, NULL};
  ierr = MatSeqAIJCUSPARSEGetIJ(local, PETSC_FALSE, &A->offsets, &A->columns);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(!ierr || ierr == PETSC_ERR_SUP, PETSC_COMM_SELF, ierr, "MatSeqAIJCUSPARSEGetIJ()");
  if (ierr) A->offsets = A->columns = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values, for the default stream; MatSeqAIJCUSPARSERestoreArrayRead() takes them back. */
static PetscErrorCode GetValues(Mat local, const PetscScalar **a)
{
  PetscDeviceContext context;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(local, a));
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context)); /* they may still be on their way */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestorePattern(Mat local, TrsvCSR *A)
{
  PetscFunctionBegin;
  if (A->offsets) PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &A->offsets, &A->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuSPARSE factors only where it is named, and can do less; a comparison that ran on the host would be none. */
static PetscErrorCode CheckCusparse(const SpTRSVGPU *s, const char host_reason[], const MatFactorInfo *info)
{
  const char *reason = NULL;

  PetscFunctionBegin;
  if (s->settings.factorization != SPTRSVGPU_FACTORIZATION_CUSPARSE) PetscFunctionReturn(PETSC_SUCCESS);
  if (host_reason[0]) reason = host_reason;
  else if (s->kind != MAT_FACTOR_ILU) reason = "this is ICC";
  else if (info->shifttype != (PetscReal)MAT_SHIFT_NONE) reason = "there is a shift";
  else if (!s->is_natural || s->settings.ordering != SPTRSVGPU_ORDERING_NATURAL) reason = "there is an ordering";
  PetscCheck(!reason, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-mat_sptrsvgpu_factorization cusparse is for ILU(0) in the natural order, without shifts, on a GPU: %s",
             reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Are new values unsuitable for the multicolor order, which auto has taken? Collective: why says so on every rank, or on
   none. */
PetscErrorCode SpTRSVGPUDeviceCheckValues(Mat F, Mat A, char why[], size_t size)
{
  PetscBool unsuitable = PETSC_FALSE, known, symmetric;

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  /* ICC looks at one triangle alone */
  if ((known && symmetric) || ((SpTRSVGPU *)F->data)->kind == MAT_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(HAVE_CUDA)
  {
    const SpTRSVGPU   *s = (SpTRSVGPU *)F->data;
    Mat                local;
    TrsvCSR            csr;
    const PetscScalar *a;
    TrsvError          error;

    PetscCall(SpTRSVGPUGetLocal(A, &local));
    if (s->multicolor && !local->boundtocpu) {
      PetscCall(GetPattern(local, &csr));
      PetscCall(GetValues(local, &a));
      csr.values = a;
      error      = TrsvCheckNearlySymmetric(&csr, TRSV_DOUBLE, why, size);
      PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
      PetscCall(RestorePattern(local, &csr));
      if (error == TRSV_ERR_MEMORY) why[0] = 0; /* none for this look; the factorization may need none */
      else PetscCallTrsv(error);
      unsuitable = (PetscBool)!!why[0];
    }
  }
#endif
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &unsuitable, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)F)));
  if (unsuitable && !why[0]) PetscCall(PetscStrncpy(why, "the values of another rank are unsymmetric", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is asked of the factorization. */
static void FillRequest(const SpTRSVGPU *s, const MatFactorInfo *info, TrsvIluRequest *r)
{
  *r = (TrsvIluRequest){.kind         = s->kind == MAT_FACTOR_ICC ? TRSV_ICC : TRSV_ILU,
                        .precision    = TRSV_DOUBLE,
                        .memory       = s->memory,
                        .place        = (TrsvPlace)s->settings.factorization,
                        .fill_levels  = (int)info->levels,
                        .row          = s->row,
                        .column       = s->column,
                        .algorithm    = {s->settings.algorithm[SPTRSVGPU_LOWER], s->settings.algorithm[SPTRSVGPU_UPPER]},
                        .thread_level = s->settings.thread_level,
                        .selection    = (TrsvSelection)s->settings.selection};
  if (SpTRSVGPUFactorOnHost(info)) r->place = TRSV_PLACE_HOST;
  if (s->is_natural && s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) r->order = TRSV_ORDER_MULTICOLOR;
  if (s->is_natural && s->settings.ordering == SPTRSVGPU_ORDERING_AUTO && !s->settings.reason_natural[0])
    r->order = TRSV_ORDER_AUTO;
}

/* The pattern of the factor on the device; s->on_device says whether it is the device's. */
PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat F, Mat local, const MatFactorInfo *info)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  TrsvIluRequest request;
  TrsvIluInfo    shown;
  TrsvError      error;

  PetscFunctionBegin;
  FillRequest(s, info, &request);
  if (s->memory == TRSV_HOST) {
    PetscCheck(s->settings.factorization != SPTRSVGPU_FACTORIZATION_CUSPARSE, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-mat_sptrsvgpu_factorization cusparse runs on a GPU, but the matrix lives on the host%s",
               PetscDefined(HAVE_CUDA) ? "; use -mat_type aijcusparse on a machine with a GPU, or leave the choice to auto" :
                                         " (built without CUDA)");
    PetscCallTrsv(TrsvIluCreate(&request, (int)local->rmap->n, NULL, &s->ilu));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if PetscDefined(HAVE_CUDA)
  {
    PetscDeviceContext context;
    const PetscScalar *a = NULL;
    TrsvCSR            A;

    PetscCall(GetPattern(local, &A));
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context)); /* the symbolic phase works in the default stream */
    if (request.order != TRSV_ORDER_GIVEN && request.place != TRSV_PLACE_HOST && A.offsets) PetscCall(GetValues(local, &a));
    A.values = a;
    error    = TrsvIluCreate(&request, (int)local->rmap->n, &A, &s->ilu);
    if (a) PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
    PetscCall(RestorePattern(local, &A));
    PetscCallTrsv(error);
    TrsvIluDescribe(s->ilu, &shown);
    PetscCall(CheckCusparse(s, shown.host_reason, info));
    s->on_device  = (PetscBool)shown.on_device;
    s->multicolor = (PetscBool)shown.multicolor;
    if (s->multicolor) s->is_natural = PETSC_FALSE;
    PetscCall(PetscStrncpy(s->ordering_reason, shown.order_reason, sizeof(s->ordering_reason)));
  }
#else
  (void)shown;
  (void)error;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the factor, and of the plans. */
PetscErrorCode SpTRSVGPUDeviceNumeric(Mat F, Mat local, const MatFactorInfo *info)
{
#if PetscDefined(HAVE_CUDA)
  SpTRSVGPU         *s      = (SpTRSVGPU *)F->data;
  const TrsvPivots   pivots = {(TrsvShift)(int)info->shifttype, info->shiftamount, info->zeropivot};
  const PetscScalar *a;
  TrsvCSR            A = {(int)local->rmap->n, NULL, NULL, NULL};
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  PetscCall(CheckCusparse(s, "", info));
  PetscCall(PetscLogEventBegin(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE) PetscCall(GetPattern(local, &A));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(local, &a));
  A.values = a;
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  PetscCall(PetscLogGpuTimeBegin());
  error = TrsvIluSetValues(s->ilu, &A, &pivots, &s->outcome, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
  PetscCall(RestorePattern(local, &A));
  PetscCall(PetscLogEventEnd(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  PetscCallTrsv(error);
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
