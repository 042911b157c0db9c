/*
   The factorization on the host, by PETSc: what it is given, and what it says of a pivot that is zero.
*/
#include "impl.h"

/* PETSc's objects of which the creation failed cannot be destroyed: they are no outputs here. */

/* The local matrix as PETSc's host factorization is given it: where its type is MATSEQAIJCUSPARSE, a seqaij over the arrays that it
   keeps on the host. A factor of the matrix itself would inherit the functions of its type, and PETSc would leak them. */
static PetscErrorCode GetOnHost(Mat local, Mat *onhost)
{
  Mat                made;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          device, done;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  *onhost = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &device));
  if (!device) {
    PetscCall(PetscObjectReference((PetscObject)local));
    *onhost = local;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix of type %s does not show its rows", ((PetscObject)local)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(local, &a)); /* the values of the device come home */
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, (PetscInt *)i, (PetscInt *)j, (PetscScalar *)a, &made));
  ierr = MatSetOption(made, MAT_USE_INODES, PETSC_FALSE); /* as for the matrix itself; heeded when it is assembled again */
  if (!ierr) ierr = MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY);
  if (!ierr) ierr = MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY);
  if (ierr) PetscCall(MatDestroy(&made));
  PetscCall(ierr);
  *onhost = made;
  PetscCall(MatSeqAIJRestoreArrayRead(local, &a));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does every row have rising columns, from 0 to n - 1, its diagonal among them? Where columns fall is counted over all entries at once, and then taken off
   where a row starts: that takes half the time of a loop over each row's entries. */
static PetscBool RowsAreSound(PetscInt n, const PetscInt i[], const PetscInt j[])
{
  PetscInt falls = 0;

  for (PetscInt k = 1; k < i[n]; k++) falls += j[k] <= j[k - 1];
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt end = i[r + 1];
    PetscInt       k   = i[r];

    if (k >= end || j[k] < 0 || j[end - 1] >= n) return PETSC_FALSE;
    if (k > 0) falls -= j[k] <= j[k - 1];
    while (k < end && j[k] < r) k++;
    if (k == end || j[k] != r) return PETSC_FALSE;
  }
  return (PetscBool)!falls;
}

/* What PETSc's factorization and a triangular solve take for granted; says which row breaks it. */
PetscErrorCode SpTRSVGPUHostCheck(Mat A, Mat local)
{
  const PetscInt *i, *j, first = A->rmap->rstart;
  PetscInt        n;
  PetscBool       done, sound;

  PetscFunctionBegin;
  if (!local->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "Matrix of type %s does not show its rows", ((PetscObject)local)->type_name);
  sound = RowsAreSound(n, i, j);
  for (PetscInt r = 0; r < n && !sound; r++) {
    PetscBool diagonal = PETSC_FALSE;

    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      PetscCheck(j[k] >= 0 && j[k] < n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Row %" PetscInt_FMT " has column %" PetscInt_FMT " of %" PetscInt_FMT, first + r, j[k], n);
      PetscCheck(k == i[r] || j[k] > j[k - 1], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "Row %" PetscInt_FMT " has column %" PetscInt_FMT " after column %" PetscInt_FMT "; make the matrix of rows with rising columns, without duplicates", first + r, j[k], j[k - 1]);
      if (j[k] == r) diagonal = PETSC_TRUE;
    }
    PetscCheck(diagonal, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "Row %" PetscInt_FMT " has no diagonal entry; store one in every row, if only a zero (MatSetOption() with MAT_FORCE_DIAGONAL_ENTRIES before assembly), and see -pc_factor_shift_type for pivots of zero", first + r);
  }
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetNaturalOrdering(const SpTRSVGPU *s, Mat local, IS *row, IS *column)
{
  IS r, c;

  PetscFunctionBegin;
  if (s->is_csr) { /* a list: a stride would make its indices anew in each numeric phase */
    PetscCall(ISCreateStride(PETSC_COMM_SELF, local->rmap->n, 0, 1, &r));
    PetscCall(ISToGeneral(r));
    PetscCall(PetscObjectReference((PetscObject)r));
    c = r;
  } else PetscCall(MatGetOrdering(local, MATORDERINGNATURAL, &r, &c)); /* for some types of the rows, for others of their blocks */
  *row    = r;
  *column = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symbolic phase of PETSc's factorization. */
static PetscErrorCode MakePattern(SpTRSVGPU *s, Mat onhost, IS row, IS column, const MatFactorInfo *info)
{
  Mat            factor;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(onhost, MATSOLVERPETSC, s->kind, &factor));
  PetscCheck(factor, PETSC_COMM_SELF, PETSC_ERR_SUP, "PETSc has no %s factorization for this matrix", MatFactorTypes[s->kind]);
  ierr = s->kind == MAT_FACTOR_ICC ? (*factor->ops->iccfactorsymbolic)(factor, onhost, row, info) :
                                     (*factor->ops->ilufactorsymbolic)(factor, onhost, row, column, info);
  /* without memory PETSc leaves index sets in it to which it has no reference */
  if (ierr && ierr != PETSC_ERR_MEM) PetscCall(MatDestroy(&factor));
  PetscCall(ierr);
  s->host = factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row and column as SpTRSVGPUPermutationSet() gives them. */
PetscErrorCode SpTRSVGPUHostSymbolic(SpTRSVGPU *s, Mat local, IS row, IS column, const MatFactorInfo *info)
{
  Mat            onhost = NULL;
  IS             own[2] = {NULL, NULL};
  PetscBool      available;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatGetFactorAvailable(local, MATSOLVERPETSC, s->kind, &available));
  PetscCheck(available, PETSC_COMM_SELF, PETSC_ERR_MISSING_FACTOR,
             "PETSc has no %s factorization of matrices of type %s; -pc_sptrsvgpu_factor chooses between ilu and icc",
             s->kind == MAT_FACTOR_ICC ? "ICC" : "ILU", ((PetscObject)local)->type_name);
  ierr = s->is_natural ? GetNaturalOrdering(s, local, &own[0], &own[1]) : PETSC_SUCCESS;
  if (!ierr) ierr = GetOnHost(local, &onhost);
  if (!ierr) ierr = MakePattern(s, onhost, s->is_natural ? own[0] : row, s->is_natural ? own[1] : column, info);
  PetscCall(MatDestroy(&onhost));
  for (int i = 0; i < 2; i++) PetscCall(ISDestroy(&own[i]));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first pivot of the host factor that counts as zero. PETSc's own note, which has to do where its factor cannot be read, names the last
   one, and for ICC not always its row. */
PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *s, const MatFactorInfo *info, PetscInt *row, PetscReal *value)
{
  SpTRSVGPUTriangles t;

  PetscFunctionBegin;
  *row   = s->host->factorerrortype ? s->host->factorerror_zeropivot_row : -1;
  *value = s->host->factorerror_zeropivot_value;
  if (!s->is_csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  for (PetscInt r = 0; r < t.view.U.rows; r++) {
    const PetscReal pivot = PetscAbsScalar(((const PetscScalar *)t.view.U.values)[t.view.U.offsets[r]]);

    if (pivot > info->zeropivot || PetscIsNanReal(pivot)) continue;
    *row   = s->is_natural ? r : s->row[r];
    *value = pivot;
    break;
  }
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUHostNumeric(Mat F, Mat A, Mat local, const MatFactorInfo *info)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  Mat            onhost;
  PetscBool      keep;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_FactorHost, F, A, 0, 0));
  /* a zero pivot is reported here, with its row */
  PetscCall(GetOnHost(local, &onhost));
  keep                     = onhost->erroriffailure;
  onhost->erroriffailure   = PETSC_FALSE;
  s->host->factorerrortype = MAT_FACTOR_NOERROR;
  ierr = s->kind == MAT_FACTOR_ICC ? (*s->host->ops->choleskyfactornumeric)(s->host, onhost, info) :
                                     (*s->host->ops->lufactornumeric)(s->host, onhost, info);
  onhost->erroriffailure = keep;
  PetscCall(MatDestroy(&onhost));
  PetscCall(ierr);
  F->factorerrortype = s->host->factorerrortype;
  PetscCall(PetscLogEventEnd(SpTRSVGPU_FactorHost, F, A, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
