/*
   The numeric phase of a factor Mat: the values of L and U, on the GPU or on the host, and zero pivots.
*/
#include "impl.h"

/* Records the first pivot of all ranks that counts as zero. */
static PetscErrorCode RecordZeroPivot(Mat F, Mat A, const MatFactorInfo *info)
{
  const SpTRSVGPU *s = (const SpTRSVGPU *)F->data;
  PetscInt         row, first;
  PetscReal        value;

  PetscFunctionBegin;
  if (s->on_device) {
    row   = s->outcome.row;
    value = s->outcome.pivot;
  } else PetscCall(SpTRSVGPUHostZeroPivot(s, info, &row, &value));
  row = row < 0 ? PETSC_INT_MAX : row + A->rmap->rstart;
  PetscCallMPI(MPIU_Allreduce(&row, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)F)));
  if (row != first) value = 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)F)));
  F->factorerror_zeropivot_row   = first;
  F->factorerror_zeropivot_value = value;
  PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT,
             "Zero pivot row %" PetscInt_FMT
             " value %g tolerance %g; see -pc_factor_shift_type and -pc_factor_zeropivot",
             first, (double)value, (double)info->zeropivot);
  PetscCall(PetscInfo(F, "Zero pivot in row %" PetscInt_FMT " value %g tolerance %g\n", first, (double)value,
                      (double)info->zeropivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes to the host: the matrix was bound to it after the symbolic phase, so the GPU gets no more values. The pattern
   and the plans stay. */
static PetscErrorCode LeaveDevice(SpTRSVGPU *s, Mat A, Mat local, const MatFactorInfo *info)
{
  IS             is = NULL;
  int           *order;
  TrsvStream     stream;
  TrsvError      error;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUHostCheckKind(s, A));
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  PetscCall(PetscMalloc1(local->rmap->n, &order));
  error = TrsvIluLeaveDevice(s->ilu, order, stream);
  if (!error) s->on_device = s->hermitian = PETSC_FALSE;
  if (!error && !s->is_natural && !s->row) ierr = SpTRSVGPUSetOrder(s, local->rmap->n, order, order);
  PetscCall(PetscFree(order));
  PetscCallTrsv(error);
  PetscCall(ierr);
  if (!s->is_natural) PetscCall(SpTRSVGPUCreateIS(local->rmap->n, s->row, &is));
  ierr = SpTRSVGPUHostSymbolic(s, local, is, is, info);
  PetscCall(ISDestroy(&is));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors this rank's block. If it fails on one rank, it fails on all: MatSolve() and the log need that. */
static PetscErrorCode FactorBlock(Mat F, Mat A, const MatFactorInfo *given)
{
  SpTRSVGPU    *s    = (SpTRSVGPU *)F->data;
  MatFactorInfo info = *given;
  MatInfo       matrix;
  Mat           local;
  PetscBool     bound, cusparse;
  PetscMPIInt   error;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetLocal(A, &local));
  PetscCall(MatGetInfo(local, MAT_LOCAL, &matrix));
  PetscCheck(matrix.nz_used == s->nonzeros, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "The matrix has %.0f nonzeros, but had %.0f in the symbolic phase: another pattern needs another symbolic "
             "phase",
             matrix.nz_used, s->nonzeros);
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &cusparse));
  /* PCICC replaces no shift */
  if ((cusparse || s->kind == MAT_FACTOR_ICC) && s->nonzero_shift && info.shifttype == (PetscReal)MAT_SHIFT_INBLOCKS)
    info.shifttype = (PetscReal)MAT_SHIFT_NONZERO;
  PetscCall(MatBoundToCPU(local, &bound));
  if (s->on_device && bound) PetscCall(LeaveDevice(s, A, local, &info));
  PetscCheck(s->on_device || s->host, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The symbolic phase on the host failed; call it again");
  if (s->on_device) PetscCall(SpTRSVGPUDeviceNumeric(F, local, &info));
  else PetscCall(SpTRSVGPUHostNumeric(F, A, local, &info));
  error = (PetscMPIInt)F->factorerrortype;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)F)));
  F->factorerrortype = (MatFactorError)error;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ILU(0) of a positive definite matrix may lose positive pivots in one order and not in another; CG then fails. If auto
   has chosen the multicolor order and a pivot is not positive, though the diagonal is, does another symbolic phase, in
   the natural order. If the diagonal is not positive, factors again and expects nothing. */
static PetscErrorCode LeaveMulticolor(Mat F, Mat A, const MatFactorInfo *info)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;
  PetscBool  any;
  PetscReal  least;
  Vec        diagonal;

  PetscFunctionBegin;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO || !s->any_multicolor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(&s->not_positive, &any, 1, SPTRSVGPU_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)F)));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, NULL, &diagonal));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecMin(diagonal, NULL, &least));
  PetscCall(VecDestroy(&diagonal));
  if (least > 0) {
    PetscCall(PetscStrncpy(s->settings.reason_natural, "in multicolor a pivot is not positive, though the diagonal is",
                           sizeof(s->settings.reason_natural)));
    PetscCall((*F->ops->ilufactorsymbolic)(F, A, NULL, NULL, info));
  } else s->any_sign = PETSC_TRUE;
  F->factorerrortype = MAT_FACTOR_OTHER;
  PetscCall(FactorBlock(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the values of PETSc's factor into the plans that exist. A factorization on the GPU has done that itself. */
static PetscErrorCode FillPlans(SpTRSVGPU *s)
{
  SpTRSVGPUTriangles t;
  TrsvIluInfo        info;
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  TrsvIluDescribe(s->ilu, &info);
  if (s->on_device || !info.plan_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  error = TrsvIluSetFactor(s->ilu, &t.view, stream);
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCallTrsv(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatFactorNumeric_SpTRSVGPU(Mat F, Mat A, const MatFactorInfo *info)
{
  SpTRSVGPU      *s     = (SpTRSVGPU *)F->data;
  const PetscBool first = (PetscBool)!s->has_values;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Numeric, F, A, 0, 0));
  F->factorerrortype = MAT_FACTOR_OTHER; /* after an error no solve may use the old values */
  PetscCall(FactorBlock(F, A, info));
  PetscCall(LeaveMulticolor(F, A, info));
  PetscCall(VecDestroy(&s->root));
  if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT) PetscCall(RecordZeroPivot(F, A, info));
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscCall(SpTRSVGPUSetSolves(F));
  if (!F->factorerrortype) {
    F->factorerrortype = MAT_FACTOR_OTHER;
    PetscCall(FillPlans(s));
    if (!SpTRSVGPUPetscSolves(s, s->memory) && (first || !TrsvIluIsReady(s->ilu, s->memory, PETSC_FALSE)))
      PetscCall(SpTRSVGPUPrepare(F, s->memory, PETSC_FALSE));
    PetscCall(SpTRSVGPUCite(s));
    s->has_values      = PETSC_TRUE;
    F->factorerrortype = MAT_FACTOR_NOERROR;
  }
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Numeric, F, A, 0, 0));
  if (first || F->factorerrortype) PetscCall(SpTRSVGPUViewFromOptions(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}
