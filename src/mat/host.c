/*
   PETSc's factorization on the host: checks of the matrix, the two phases, and zero pivots.
*/
#include "impl.h"

/* The matrix that PETSc factors on the host: for MATSEQAIJCUSPARSE a seqaij matrix with the arrays on the host,
   otherwise local. A factor of a MATSEQAIJCUSPARSE matrix would inherit the composed functions of its type, and PETSc
   would leak them. inodes: whether the seqaij matrix may have i-nodes, which the numeric phase needs if the symbolic
   phase had them. */
static PetscErrorCode GetHostMatrix(Mat local, PetscBool inodes, Mat *onhost)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  Mat                made;
  PetscInt           n;
  PetscBool          device, done;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &device));
  if (!device) {
    PetscCall(PetscObjectReference((PetscObject)local));
    *onhost = local;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc gives no access to the rows of a matrix of type %s; use -mat_type aij or MatConvert()",
             ((PetscObject)local)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(local, &a)); /* copies them from the GPU if they are newer there */
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, (PetscInt *)i, (PetscInt *)j, (PetscScalar *)a, &made));
  ierr = MatSetOption(made, MAT_USE_INODES, inodes); /* takes effect at the next assembly */
  if (!ierr) ierr = MatAssemblyBegin(made, MAT_FINAL_ASSEMBLY);
  if (!ierr) ierr = MatAssemblyEnd(made, MAT_FINAL_ASSEMBLY);
  PetscCall(MatSeqAIJRestoreArrayRead(local, &a));
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  if (ierr) PetscCall(MatDestroy(&made));
  PetscCall(ierr);
  *onhost = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do the columns of each row increase, from 0 to n - 1, with the diagonal among them? Places where they do not increase
   are counted over all entries and then subtracted where a row starts. That takes half the time of a loop over the
   entries of each row. */
static PetscBool AreRowsValid(PetscInt n, const PetscInt i[], const PetscInt j[])
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

/* Checks what PETSc's factorization and a triangular solve assume of the rows. The error names the row. */
PetscErrorCode SpTRSVGPUHostCheck(Mat A, Mat local)
{
  const PetscInt *i, *j, first = A->rmap->rstart;
  PetscInt        n;
  PetscBool       done, valid;

  PetscFunctionBegin;
  if (!local->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc gives no access to the rows of a matrix of type %s; use -mat_type aij or MatConvert()",
             ((PetscObject)local)->type_name);
  valid = AreRowsValid(n, i, j);
  for (PetscInt r = 0; r < n && !valid; r++) {
    PetscBool diagonal = PETSC_FALSE;

    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      PetscCheck(j[k] >= 0 && j[k] < n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "Row %" PetscInt_FMT " has column %" PetscInt_FMT "; columns of these %" PetscInt_FMT
                 " rows are 0 to %" PetscInt_FMT ": correct the arrays of the matrix",
                 first + r, j[k], n, n - 1);
      PetscCheck(k == i[r] || j[k] > j[k - 1], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
                 "Row %" PetscInt_FMT " has column %" PetscInt_FMT " after column %" PetscInt_FMT
                 "; make the matrix of rows with increasing columns, without duplicates",
                 first + r, j[k], j[k - 1]);
      if (j[k] == r) diagonal = PETSC_TRUE;
    }
    PetscCheck(diagonal, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
               "Row %" PetscInt_FMT " has no diagonal entry; store one in every row, if only a zero (MatSetOption() "
               "with MAT_FORCE_DIAGONAL_ENTRIES before assembly), and see -pc_factor_shift_type for pivots of zero",
               first + r);
  }
  PetscCall(MatRestoreRowIJ(local, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's ICC of a complex matrix is U^T D U, which is wrong for a Hermitian one. MAT_SPD makes a matrix symmetric for
   PETSc, also a Hermitian one; on the host that counts, as in PETSc's PCICC. */
PetscErrorCode SpTRSVGPUHostCheckKind(const SpTRSVGPU *s, Mat A)
{
  PetscBool known, hermitian, symmetric;

  PetscFunctionBegin;
  if (!PetscDefined(USE_COMPLEX) || s->kind != MAT_FACTOR_ICC) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsHermitianKnown(A, &known, &hermitian));
  if (!known || !hermitian) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  PetscCheck(known && symmetric && s->memory == TRSV_HOST, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PETSc's ICC on the host is for complex symmetric matrices, and this matrix is Hermitian; use "
             "-pc_sptrsvgpu_factor ilu%s",
             s->memory == TRSV_DEVICE ? ", or IC(0) on the GPU" : ", or a matrix of type aijcusparse on a GPU");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetNaturalOrdering(const SpTRSVGPU *s, Mat local, IS *row, IS *column)
{
  IS r, c;

  PetscFunctionBegin;
  if (s->is_csr) { /* general: PETSc would make the indices of a stride in each numeric phase */
    PetscCall(ISCreateStride(PETSC_COMM_SELF, local->rmap->n, 0, 1, &r));
    PetscCall(ISToGeneral(r));
    PetscCall(PetscObjectReference((PetscObject)r));
    c = r;
  } else PetscCall(MatGetOrdering(local, MATORDERINGNATURAL, &r, &c)); /* of rows, for some types of blocks of rows */
  *row    = r;
  *column = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symbolic phase of PETSc's factorization. */
static PetscErrorCode MakeFactor(SpTRSVGPU *s, Mat onhost, IS row, IS column, const MatFactorInfo *info)
{
  Mat            factor;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(onhost, MATSOLVERPETSC, s->kind, &factor));
  PetscCheck(factor, PETSC_COMM_SELF, PETSC_ERR_SUP, "PETSc has no %s factorization for this matrix",
             MatFactorTypes[s->kind]);
  ierr = s->kind == MAT_FACTOR_ICC ? (*factor->ops->iccfactorsymbolic)(factor, onhost, row, info) :
                                     (*factor->ops->ilufactorsymbolic)(factor, onhost, row, column, info);
  /* if PETSc is out of memory, the factor may hold index sets without a reference to them */
  if (ierr && ierr != PETSC_ERR_MEM) PetscCall(MatDestroy(&factor));
  PetscCall(ierr);
  s->host = factor; /* a factor in s->host has had its symbolic phase */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's ICC of a matrix of type baij maps columns by the order where its inverse is needed: it shifts the diagonal
   without end, or crashes. */
static PetscErrorCode CheckOrder(const SpTRSVGPU *s, Mat local)
{
  PetscBool blocks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQBAIJ, &blocks));
  PetscCheck(!blocks || s->kind != MAT_FACTOR_ICC || s->is_natural, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PETSc's ICC of matrices of type seqbaij is wrong in any order but the natural one; use "
             "-pc_factor_mat_ordering_type natural, or -mat_type aij");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasInodes(Mat A, PetscBool *has)
{
  PetscInt *sizes = NULL;

  PetscFunctionBegin;
  PetscCall(MatInodeGetInodeSizes(A, NULL, &sizes, NULL));
  *has = (PetscBool)(sizes != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* row and column: as SpTRSVGPUReadOrderings() returns them. */
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
  PetscCall(CheckOrder(s, local));
  ierr = s->is_natural ? GetNaturalOrdering(s, local, &own[0], &own[1]) : PETSC_SUCCESS;
  if (!ierr) ierr = GetHostMatrix(local, PETSC_FALSE, &onhost);
  s->has_inodes = PETSC_FALSE;
  if (!ierr && s->is_csr) ierr = HasInodes(onhost, &s->has_inodes);
  if (!ierr) ierr = MakeFactor(s, onhost, s->is_natural ? own[0] : row, s->is_natural ? own[1] : column, info);
  PetscCall(MatDestroy(&onhost));
  for (int i = 0; i < 2; i++) PetscCall(ISDestroy(&own[i]));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first pivot of the host's factor that counts as zero; row -1: there is none. PETSc records the last one instead,
   and for ICC not always its row. Its record is used if the factor cannot be read. */
PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *s, const MatFactorInfo *info, PetscInt *row, PetscReal *value)
{
  SpTRSVGPUTriangles t;
  PetscBool          readable;

  PetscFunctionBegin;
  *row   = s->host->factorerrortype ? s->host->factorerror_zeropivot_row : -1;
  *value = s->host->factorerror_zeropivot_value;
  PetscCall(SpTRSVGPUTrianglesReadable(s, &readable));
  if (!readable) PetscFunctionReturn(PETSC_SUCCESS);
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
  PetscCall(GetHostMatrix(local, s->has_inodes, &onhost));
  keep                     = onhost->erroriffailure;
  onhost->erroriffailure   = PETSC_FALSE; /* numeric.c reports a zero pivot, with its row */
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
