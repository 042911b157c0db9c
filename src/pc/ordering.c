/*
   The MatOrderingType multicolor: PETSc's door to src/kernels' multicolor ordering.
*/
#include "impl.h"

/* The ordering of this rank's part. */
PetscErrorCode SpTRSVGPUOrderingOnHost(Mat A, Mat local, TrsvOrdering **ordering)
{
  const PetscInt    *i, *j;
  const PetscScalar *a = NULL;
  PetscInt           n;
  PetscBool          done, valued, aij;
  TrsvError          error;

  PetscFunctionBegin;
  /* of other types PETSc orders blocks, or nothing */
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)local, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The ordering " MATORDERINGMULTICOLOR
             " needs a matrix of type aij, not %s; use -mat_type aij or MatConvert(), or another ordering",
             ((PetscObject)local)->type_name);
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix of type %s does not show its rows", ((PetscObject)local)->type_name);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)local, MATSEQAIJ, &valued)); /* for others, the rows just seen need not be of the values */
  if (valued) PetscCall(MatSeqAIJGetArrayRead(local, &a));
  error = TrsvOrderMulticolor(n, i, j, a, TRSV_HOST, ordering);
  if (valued) PetscCall(MatSeqAIJRestoreArrayRead(local, &a));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCallTrsv(error);
  PetscCall(PetscInfo(A, "Multicolor ordering: %d colors, %g s%s\n", (*ordering)->colors, (*ordering)->seconds, (*ordering)->grid[0] ? ", a regular grid" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGMULTICOLOR = "multicolor" - rows by colors of which no two touch, but in small blocks, and inside a color as they were; colors that rise and fall in turn
   along the matrix's own order

   Level: intermediate

   Notes:
   For factorizations without fill: -pc_factor_mat_ordering_type multicolor gives their triangular factors few level sets, and so short solves on a
   GPU, for ILU(0) and IC(0) of any solver type. Symmetric and diffusion-like problems take few more iterations than in the natural order, or
   fewer; where a flow or an elimination order is written into the natural order it can be several times as many.

   A regular grid in lexicographic order gets 6 or 7 colors (5-point) or 10 (7-point), more where the entries along one side are far larger; other
   matrices 32, or as many as their densest rows need. Rows that follow each other with the same columns keep together, and in large grids 4 points
   along the first side. Colors are balanced, except on grids.

   Nothing is left to chance, so there is no seed: the same matrix is always ordered in the same way. Matrices of one rank (`MATSEQAIJ` and
   `MATSEQAIJCUSPARSE`), and the blocks of `PCBJACOBI` and `PCASM`.

   References:
.  * - T. Iwashita, H. Nakashima, Y. Takahashi, Algebraic block multi-color ordering method for parallel multi-threaded sparse triangular
   solver in ICCG method, IPDPS 2012

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
  PetscCheck(size == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, SPTRSVGPU_ONE_RANK_ORDERINGS);
  PetscCall(SpTRSVGPUOrderingOnHost(A, A, &ordering));
  /* two of them: MatReorderForNonzeroDiagonal() changes the columns' alone */
  ierr = ISCreateGeneral(PETSC_COMM_SELF, ordering->rows, ordering->order, PETSC_COPY_VALUES, &rows);
  if (!ierr) {
    ierr = ISCreateGeneral(PETSC_COMM_SELF, ordering->rows, ordering->order, PETSC_COPY_VALUES, column);
    if (ierr) PetscCall(ISDestroy(&rows));
  }
  TrsvOrderingDestroy(&ordering);
  PetscCall(ierr);
  *row = rows;
  PetscCall(SpTRSVGPUCiteOrdering());
  PetscFunctionReturn(PETSC_SUCCESS);
}
