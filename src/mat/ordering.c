/*
   The order in which rows and columns are factored: given by PETSc, or multicolor for the host. If the GPU factors, its
   TrsvIlu makes and keeps the multicolor order.
*/
#include <math.h>
#include "impl.h"

static const char one_rank[] = "On several ranks only the natural ordering is possible; for another one use -pc_type "
                               "bjacobi -sub_pc_type sptrsvgpu -sub_pc_factor_mat_ordering_type ...";

/* The magnitudes of the n values of a matrix of type seqaij, of a complex value |re| + |im| (multicolor.h); the caller
   frees them. */
static PetscErrorCode GetMagnitudes(Mat local, PetscInt n, double **magnitudes)
{
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, magnitudes));
  PetscCall(MatSeqAIJGetArrayRead(local, &a));
  for (PetscInt k = 0; k < n; k++) {
    const double re = PetscRealPart(a[k]), im = PetscImaginaryPart(a[k]);

    (*magnitudes)[k] = fabs(re) + fabs(im);
  }
  PetscCall(MatSeqAIJRestoreArrayRead(local, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The multicolor ordering of a matrix, made on the host. */
static PetscErrorCode OrderMulticolor(Mat A, Mat local, TrsvOrdering **ordering)
{
  const PetscInt    *i, *j;
  const int         *offsets = NULL, *columns = NULL;
  double            *magnitudes = NULL;
  PetscInt           n;
  PetscBool          done, has_values, aij;
  TrsvError          error = TRSV_SUCCESS;
  PetscErrorCode     ierr  = PETSC_SUCCESS;

  PetscFunctionBegin;
  /* of matrices of other types PETSc orders blocks, or nothing */
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)local, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The ordering " MATORDERINGMULTICOLOR
             " needs a matrix of type aij, not %s; use -mat_type aij or MatConvert(), or another ordering",
             ((PetscObject)local)->type_name);
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc gives no access to the rows of a matrix of type %s; use -mat_type aij or MatConvert()",
             ((PetscObject)local)->type_name);
  PetscCall(SpTRSVGPUCheckSize(n, (PetscLogDouble)i[n]));
  /* the rows of a matrix of another type need not be those of its values */
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)local, MATSEQAIJ, &has_values));
  if (has_values) ierr = GetMagnitudes(local, i[n], &magnitudes);
  if (!ierr) ierr = SpTRSVGPUGetIndices(n + 1, i, &offsets);
  if (!ierr) ierr = SpTRSVGPUGetIndices(i[n], j, &columns);
  if (!ierr) error = TrsvOrderMulticolor((int)n, offsets, columns, magnitudes, TRSV_HOST, ordering);
  PetscCall(SpTRSVGPURestoreIndices(&offsets));
  PetscCall(SpTRSVGPURestoreIndices(&columns));
  PetscCall(PetscFree(magnitudes));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(ierr);
  PetscCallTrsv(error);
  PetscCall(PetscInfo(A, "Multicolor ordering: %d colors, %g s%s\n", (*ordering)->colors, (*ordering)->seconds,
                      (*ordering)->grid[0] ? ", a regular grid" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGMULTICOLOR = "multicolor" - sorts rows by color, so that the triangular factors have few level sets

   Notes:
   Rows of one color do not depend on each other, except inside small blocks of rows. Within a color rows keep their
   order. Colors alternately rise and fall along the natural order, so that few rows come before all of their neighbors.

   -pc_factor_mat_ordering_type multicolor is for factorizations without fill: ILU(0) and IC(0) of any solver type.
   Their solves are short on a GPU. The number of iterations of symmetric and diffusion-like problems changes
   little. Problems whose natural order follows a flow or an elimination order can need several times as many.

   A regular grid in lexicographic order gets 6 or 7 colors (5 points) or 10 (7 points), and more if the entries along
   one side are far larger than the others. Other matrices get 32 colors, or as many as their densest rows need.
   Consecutive rows with the same columns stay together, as do 4 points along the first side of a large grid. Colors
   have equal sizes, except on grids.

   The ordering is deterministic. It is for matrices of one rank (`MATSEQAIJ` and `MATSEQAIJCUSPARSE`), and for the
   blocks of `PCBJACOBI` and `PCASM`.

   Level: intermediate

   References:
.  * - T. Iwashita, H. Nakashima, Y. Takahashi, Algebraic block multi-color ordering method for parallel multi-threaded
   sparse triangular solver in ICCG method, IPDPS 2012

.seealso: `MatOrderingType`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`, `PCSPTRSVGPU`
M*/
PetscErrorCode MatGetOrdering_Multicolor(Mat A, MatOrderingType type, IS *row, IS *column)
{
  TrsvOrdering  *ordering;
  IS             rows;
  PetscMPIInt    size;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCheck(size == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s", one_rank);
  PetscCall(OrderMulticolor(A, A, &ordering));
  /* two index sets: MatReorderForNonzeroDiagonal() changes that of the columns only */
  ierr = SpTRSVGPUCreateIS(ordering->rows, ordering->order, &rows);
  if (!ierr) {
    ierr = SpTRSVGPUCreateIS(ordering->rows, ordering->order, column);
    if (ierr) PetscCall(ISDestroy(&rows));
  }
  TrsvOrderingDestroy(&ordering);
  PetscCall(ierr);
  *row = rows;
  PetscCall(SpTRSVGPUCiteOrdering());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ISIdentity() is of no use: it caches its answer, and MatReorderForNonzeroDiagonal() changes the indices afterwards.
   */
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
  if (stride) {
    PetscCall(ISStrideGetInfo(is, &first, &step));
    *identity = (PetscBool)(start == end || (first == start && step == 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISGetIndices(is, &indices));
  for (PetscInt i = start; i < end && *identity; i++) *identity = (PetscBool)(indices[i - start] == i);
  PetscCall(ISRestoreIndices(is, &indices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the order of the factor. */
PetscErrorCode SpTRSVGPUSetOrder(SpTRSVGPU *s, PetscInt n, const int *row, const int *column)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &s->row, n, &s->column));
  PetscCall(PetscArraycpy(s->row, row, n));
  PetscCall(PetscArraycpy(s->column, column, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new reference to is, or the natural order if it is NULL. */
static PetscErrorCode ReferenceOrNatural(IS is, PetscInt n, IS *result)
{
  PetscFunctionBegin;
  if (is) PetscCall(PetscObjectReference((PetscObject)is));
  else PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &is));
  *result = is;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the orderings that PETSc gives. localrow and localcolumn: those of this rank's block, NULL for the natural
   ordering, which is the only one on several ranks. Collective. */
PetscErrorCode SpTRSVGPUReadOrderings(Mat F, Mat local, IS row, IS column, IS *localrow, IS *localcolumn)
{
  SpTRSVGPU      *s = (SpTRSVGPU *)F->data;
  const PetscInt *r, *c, n = local->rmap->n;
  const int      *rows = NULL, *columns = NULL;
  PetscBool       identity[2] = {PETSC_TRUE, PETSC_TRUE};
  PetscMPIInt     size;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  if (s->kind == MAT_FACTOR_ICC) column = NULL; /* ICC has one ordering; PETSc may change this one */
  if (row) PetscCall(IsIdentity(row, &identity[0]));
  if (column) PetscCall(IsIdentity(column, &identity[1]));
  s->is_natural = (PetscBool)(identity[0] && identity[1]);
  PetscCallMPI(
    MPIU_Allreduce(MPI_IN_PLACE, &s->is_natural, 1, SPTRSVGPU_MPI_BOOL, MPI_LAND, PetscObjectComm((PetscObject)F)));
  PetscCheck(s->is_natural || s->settings.ordering != SPTRSVGPU_ORDERING_MULTICOLOR, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_INCOMP,
             "-pc_sptrsvgpu_ordering multicolor cannot be combined with another ordering of rows or columns, such as "
             "that of -pc_factor_nonzeros_along_diagonal");
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &size));
  PetscCheck(s->is_natural || size == 1, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP, "%s", one_rank);
  *localrow = *localcolumn = NULL;
  if (s->is_natural) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReferenceOrNatural(row, n, localrow));
  PetscCall(ReferenceOrNatural(column ? column : row, n, localcolumn));
  /* PETSc's factor of another type is not read; some types are ordered by blocks */
  if (!s->is_csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ISGetIndices(*localrow, &r));
  PetscCall(ISGetIndices(*localcolumn, &c));
  ierr = SpTRSVGPUGetIndices(n, r, &rows);
  if (!ierr) ierr = SpTRSVGPUGetIndices(n, c, &columns);
  if (!ierr) ierr = SpTRSVGPUSetOrder(s, n, rows, columns);
  PetscCall(SpTRSVGPURestoreIndices(&rows));
  PetscCall(SpTRSVGPURestoreIndices(&columns));
  PetscCall(ISRestoreIndices(*localrow, &r));
  PetscCall(ISRestoreIndices(*localcolumn, &c));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces row and column, which may be NULL, by the multicolor order, for a factorization on the host. */
PetscErrorCode SpTRSVGPUOrderOnHost(Mat F, Mat local, IS *row, IS *column)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  TrsvOrdering  *ordering;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(OrderMulticolor(F, local, &ordering));
  ierr = SpTRSVGPUSetOrder(s, local->rmap->n, ordering->order, ordering->order);
  TrsvOrderingDestroy(&ordering);
  PetscCall(ierr);
  s->multicolor = PETSC_TRUE;
  s->is_natural = PETSC_FALSE;
  PetscCall(ISDestroy(row));
  PetscCall(ISDestroy(column));
  PetscCall(SpTRSVGPUCreateIS(local->rmap->n, s->row, row));
  PetscCall(SpTRSVGPUCreateIS(local->rmap->n, s->column, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}
