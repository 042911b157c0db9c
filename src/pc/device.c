/*
   The factorisation on the device: where it can be done, the pattern and the values it is given, and its outcome as PETSc's.
*/
#include "impl.h"
#include <petscdevice.h>

#if PetscDefined(HAVE_CUDA)
/* Why the host has to factor; an empty string where the device can. */
static void WhyHost(const SpTRSVGPU *s, Mat local, const MatFactorInfo *info, char why[], size_t size)
{
  const char *reason = "";

  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_HOST || SpTRSVGPUFactorOnHost(info)) reason = "asked for";
  else if (info->levels > 0) reason = "there are levels of fill";
  else if (!local->rmap->n) reason = "there are no rows";
  else if (!s->natural) {
    PetscBool same = PETSC_TRUE;

    for (PetscInt i = 0; i < local->rmap->n && same; i++) same = (PetscBool)(s->row[i] == s->column[i]);
    if (!same) reason = "rows and columns are ordered apart";
  }
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

/* cuSPARSE is asked for by name alone, and does less. */
static PetscErrorCode CheckCusparse(const SpTRSVGPU *s, const MatFactorInfo *info)
{
  const char *reason = s->why[0] ? s->why : s->kind != MAT_FACTOR_ILU ? "this is ICC" : info->shifttype != (PetscReal)MAT_SHIFT_NONE ? "there is a shift" : !s->natural || s->settings.ordering != SPTRSVGPU_ORDERING_NATURAL ? "there is an ordering" : NULL;

  PetscFunctionBegin;
  if (s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE) PetscCheck(!reason, PETSC_COMM_SELF, PETSC_ERR_SUP, "-mat_sptrsvgpu_factorization cusparse is for ILU(0) in the natural order, without shifts, on a GPU: %s", reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor in the order that is asked for, or given; a TRSV_ERR_STRUCTURE is for the caller to deal with. */
static PetscErrorCode CreateFactor(Mat F, Mat local, const PetscInt *i, const PetscInt *j, TrsvError *error)
{
  SpTRSVGPU           *s     = (SpTRSVGPU *)F->data;
  const TrsvFactorKind kind  = s->kind == MAT_FACTOR_ICC ? TRSV_ICC : TRSV_ILU;
  const PetscInt       n     = local->rmap->n;
  const PetscScalar   *a;
  TrsvOrdering        *multicolor   = NULL;
  TrsvOrderChoice      choice;
  int                  row;

  PetscFunctionBegin;
  if (!s->natural || s->settings.ordering == SPTRSVGPU_ORDERING_NATURAL || s->settings.against[0]) {
    *error = TrsvFactorCreate(n, i, j, s->row, TRSV_HOST, kind, TRSV_DOUBLE, &s->factor, &row);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetValues(local, &a));
  if (s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) {
    *error = TrsvOrderMulticolor(n, i, j, a, TRSV_DEVICE, &multicolor);
    if (!*error) *error = TrsvFactorCreate(n, i, j, multicolor->order, TRSV_DEVICE, kind, TRSV_DOUBLE, &s->factor, &row);
    s->multicolor = (PetscBool)!*error;
  } else {
    const TrsvAlgorithm *thread = s->settings.thread ? TrsvAlgorithmFind("thread") : NULL, *lower = s->settings.algorithm[SPTRSVGPU_LOWER], *upper = s->settings.algorithm[SPTRSVGPU_UPPER];

    *error = TrsvFactorCreateOrdered(n, i, j, a, kind, TRSV_DOUBLE, lower ? lower : thread, upper ? upper : thread, &s->factor, &row, &choice);
    if (!*error) {
      s->multicolor          = (PetscBool)choice.multicolor;
      s->iteration[0] = choice.natural.solves + choice.rest;
      s->iteration[1] = choice.multicolor ? choice.ordered.solves + choice.rest : s->iteration[0];
      PetscCall(PetscStrncpy(s->order, choice.why, sizeof(s->order)));
    }
  }
  if (s->multicolor) s->natural = PETSC_FALSE;
  TrsvOrderingDestroy(&multicolor);
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Are new values unsuitable for multicolor, which auto has taken? Collective: why says so on every rank, or on none. */
PetscErrorCode SpTRSVGPUDeviceAgainst(Mat F, Mat A, char why[], size_t size)
{
  PetscBool against = PETSC_FALSE, known, symmetric;

  PetscFunctionBegin;
  why[0] = 0;
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if ((known && symmetric) || ((SpTRSVGPU *)F->data)->kind == MAT_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS); /* ICC looks at one triangle alone */
#if PetscDefined(HAVE_CUDA)
  {
    const SpTRSVGPU   *s = (SpTRSVGPU *)F->data;
    Mat                local;
    const PetscInt    *i, *j;
    const PetscScalar *a;
    TrsvError          error;

    PetscCall(SpTRSVGPUGetLocal(A, &local));
    if (s->multicolor && !local->boundtocpu) {
      PetscCall(MatSeqAIJCUSPARSEGetIJ(local, PETSC_FALSE, &i, &j));
      PetscCall(GetValues(local, &a));
      error = TrsvCheckNearlySymmetric(local->rmap->n, i, j, TRSV_DOUBLE, a, why, size);
      PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
      PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &i, &j));
      if (error == TRSV_ERR_MEMORY) why[0] = 0; /* none for this look; the factorisation may need none */
      else PetscCallTrsv(error);
      against = (PetscBool)!!why[0];
    }
  }
#endif
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &against, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)F)));
  if (against && !why[0]) PetscCall(PetscStrncpy(why, "the values of another rank are unsymmetric", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A comparison with cuSPARSE that ran on the host would be none. */
static PetscErrorCode CheckHome(const SpTRSVGPU *s)
{
  PetscFunctionBegin;
  PetscCheck(s->home == TRSV_DEVICE || s->settings.factorization != SPTRSVGPU_FACTORIZATION_CUSPARSE, PETSC_COMM_SELF, PETSC_ERR_SUP, "-mat_sptrsvgpu_factorization cusparse runs on a GPU, but the matrix lives on the host%s", PetscDefined(HAVE_CUDA) ? "; use -mat_type aijcusparse on a machine with a GPU, or leave the choice to auto" : " (built without CUDA)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves s->factor NULL where the host is to factor. A pattern that cannot be factored is also left to it, and to what it says. */
PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat F, Mat local, const MatFactorInfo *info)
{
#if PetscDefined(HAVE_CUDA)
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  const PetscInt    *i, *j;
  PetscBool          there = PETSC_FALSE;
  PetscDeviceContext context;
  TrsvError          error = TRSV_SUCCESS;
  double             device, host;

  PetscFunctionBegin;
  PetscCall(CheckHome(s));
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
  PetscCall(CreateFactor(F, local, i, j, &error));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(local, PETSC_FALSE, &i, &j));
  if (error == TRSV_ERR_STRUCTURE) {
    PetscCall(PetscStrncpy(s->why, TrsvErrorMessage(), sizeof(s->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallTrsv(error);
  if (s->settings.factorization != SPTRSVGPU_FACTORIZATION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  device = TrsvFactorPredict(s->factor);
  host   = TrsvFactorPredictHost(s->factor);
  if (device > host) {
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "predicted %.3g ms, device %.3g ms", 1e3 * host, 1e3 * device));
    TrsvFactorDestroy(&s->factor);
  }
#else
  PetscFunctionBegin;
  PetscCall(CheckHome((SpTRSVGPU *)F->data));
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
  } else error = TrsvFactorNumeric(s->factor, s->pair[TRSV_DEVICE][0], a, &pivots, &s->outcome, stream);
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(local, &a));
  PetscCall(PetscLogEventEnd(SpTRSVGPU_FactorDevice, F, local, 0, 0));
  PetscCallTrsv(error);
  F->factorerrortype = s->outcome.row < 0 ? MAT_FACTOR_NOERROR : MAT_FACTOR_NUMERIC_ZEROPIVOT;
  if (s->outcome.attempts > 1) PetscCall(PetscInfo(F, "Factored %d times, diagonal shifted by %g\n", s->outcome.attempts, s->outcome.shift));
#else
  PetscFunctionBegin;
  (void)F;
  (void)local;
  (void)info;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
