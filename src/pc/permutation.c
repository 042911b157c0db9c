/*
   The order in which a factor Mat has the rows and columns of its matrix: as it is given, or multicolor, made here for the factorization of the
   host. Where the device factors, its TrsvIlu holds the order.
*/
#include "impl.h"

/* ISIdentity() remembers its answer, and PETSc's MatReorderForNonzeroDiagonal() changes the indices behind its back. */
static PetscErrorCode IsIdentity(IS is, PetscBool *identity)
{
  const PetscInt *indices;
  PetscLayout     layout;
  PetscInt        start, end, first, step;
  PetscBool       stride;

  PetscFunctionBegin;
  *identity = PETSC_TRUE;
  PetscCall(ISGetLayout(is, &layout));
  PetscCall(PetscLayoutGetRange(layout, &start, &end));
  PetscCall(PetscObjectTypeCompare((PetscObject)is, ISSTRIDE, &stride));
  if (stride) { /* has no indices to change */
    PetscCall(ISStrideGetInfo(is, &first, &step));
    *identity = (PetscBool)(start == end || (first == start && step == 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISGetIndices(is, &indices));
  for (PetscInt i = start; i < end && *identity; i++) *identity = (PetscBool)(indices[i - start] == i);
  PetscCall(ISRestoreIndices(is, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUPermutationKeep(SpTRSVGPU *s, PetscInt n, const PetscInt *row, const PetscInt *column)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &s->row, n, &s->column));
  PetscCall(PetscArraycpy(s->row, row, n));
  PetscCall(PetscArraycpy(s->column, column, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The orderings of the local rows and columns, NULL for the natural one; on several ranks there is no other. */
PetscErrorCode SpTRSVGPUPermutationSet(Mat F, Mat local, IS row, IS column, IS *localrow, IS *localcolumn)
{
  SpTRSVGPU      *s = (SpTRSVGPU *)F->data;
  const PetscInt *r, *c, n = local->rmap->n;
  PetscErrorCode  ierr;
  PetscBool       identity[2] = {PETSC_TRUE, PETSC_TRUE};
  PetscMPIInt     size;

  PetscFunctionBegin;
  if (row) PetscCall(IsIdentity(row, &identity[0]));
  if (column) PetscCall(IsIdentity(column, &identity[1]));
  s->is_natural = (PetscBool)(identity[0] && identity[1]);
  PetscCheck(s->is_natural || s->settings.ordering != SPTRSVGPU_ORDERING_MULTICOLOR, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_INCOMP, "-pc_sptrsvgpu_ordering multicolor does not go with an ordering of the rows or columns that is given, as by -pc_factor_nonzeros_along_diagonal");
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &size));
  PetscCheck(s->is_natural || size == 1, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP, SPTRSVGPU_ONE_RANK_ORDERINGS);
  *localrow = *localcolumn = NULL;
  if (s->is_natural) PetscFunctionReturn(PETSC_SUCCESS);
  if (!column) column = row; /* ICC has one */
  if (row) PetscCall(PetscObjectReference((PetscObject)row));
  else PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &row));
  if (column) PetscCall(PetscObjectReference((PetscObject)column));
  else PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &column));
  *localrow    = row;
  *localcolumn = column;
  if (!s->is_csr) PetscFunctionReturn(PETSC_SUCCESS); /* the factor is not read; and for some types these are of blocks */
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(column, &c));
  ierr = SpTRSVGPUPermutationKeep(s, n, r, c);
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(column, &c));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host is to factor in multicolor order. */
PetscErrorCode SpTRSVGPUPermutationMulticolor(Mat F, Mat local, IS *row, IS *column)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  TrsvOrdering  *multicolor;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUOrderingOnHost(F, local, &multicolor));
  ierr = SpTRSVGPUPermutationKeep(s, local->rmap->n, multicolor->order, multicolor->order);
  TrsvOrderingDestroy(&multicolor);
  PetscCall(ierr);
  s->multicolor = PETSC_TRUE;
  s->is_natural = PETSC_FALSE;
  PetscCall(ISDestroy(row));
  PetscCall(ISDestroy(column));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, local->rmap->n, s->row, PETSC_COPY_VALUES, row));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, local->rmap->n, s->column, PETSC_COPY_VALUES, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the view says of the order. */
PetscErrorCode SpTRSVGPUPermutationExplain(SpTRSVGPU *s)
{
  const char *why = s->ordering_reason;

  PetscFunctionBegin;
  if (s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) why = "asked for";
  else if (s->settings.ordering == SPTRSVGPU_ORDERING_NATURAL) why = "";
  else if (s->settings.reason_natural[0]) why = s->settings.reason_natural;
  else if (s->memory == TRSV_HOST) why = "the solves run on the host, one row after the other";
  else if (!s->ordering_reason[0]) why = "the host factors";
  if (why != s->ordering_reason) PetscCall(PetscStrncpy(s->ordering_reason, why, sizeof(s->ordering_reason)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
