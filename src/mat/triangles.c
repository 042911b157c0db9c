/*
   The triangles of a factor on the host, in compressed sparse rows: PETSc's factor, or a copy of the GPU's. Their
   indices have 32 bits.
*/
#include "impl.h"

/* PETSc's SeqAIJ ILU factor stores the rows of L without the unit diagonal, then the rows of U from the last to the
   first; the last entry of a row of U is the reciprocal of its pivot. L is used where it is. U is copied into ascending
   order, from its end. */
static PetscErrorCode ReadILU(Mat host, SpTRSVGPUTriangles *t)
{
  const PetscInt *i, *j, n = host->rmap->n;
  PetscScalar    *a;
  PetscInt        nnz, to;
  int            *columns;
  MatInfo         info;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(host, &i, &j, &a, NULL));
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  PetscCall(SpTRSVGPUCheckSize(n, info.nz_used));
  nnz = n ? (PetscInt)info.nz_used - i[n] : 0; /* PETSc counts an entry of a matrix without rows */
  PetscCall(SpTRSVGPUGetIndices(n + 1, i, &t->shared[0]));
  PetscCall(SpTRSVGPUGetIndices(i[n], j, &t->shared[1]));
  PetscCall(PetscMalloc1((size_t)n + 1 + nnz, &t->index));
  PetscCall(PetscMalloc1(nnz, &t->value));
  columns     = t->index + n + 1;
  t->index[n] = (int)(to = nnz);
  for (PetscInt r = n - 1, k = i[n]; r >= 0; r--) {
    const PetscInt start = k;

    while (j[k] != r) k++; /* the diagonal is the last entry of a row */
    t->index[r] = (int)(to -= k - start + 1);
    PetscCheck(to >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "PETSc's ILU factor has more entries in row %" PetscInt_FMT " than it counts", r);
    columns[to]  = (int)r;
    t->value[to] = (PetscScalar)1.0 / a[k];
    for (PetscInt e = start, o = to + 1; e < k; e++, o++) {
      columns[o]  = (int)j[e];
      t->value[o] = a[e];
    }
    k++;
  }
  PetscCheck(!to, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "PETSc's ILU factor counts %" PetscInt_FMT " entries that are in no row", to);
  t->view.L = (TrsvCSR){(int)n, t->shared[0], t->shared[1], a, 0};
  t->view.U = (TrsvCSR){(int)n, t->index, columns, t->value, 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's SeqSBAIJ ICC factor U^T D U stores in row r the negated entries of U right of its unit diagonal and, last,
   the reciprocal of entry r of D. L = U^T is the transpose; D U has the rows scaled. */
static PetscErrorCode ReadICC(Mat host, SpTRSVGPUTriangles *t)
{
  const PetscInt *ui, *uj, n = host->rmap->n;
  PetscInt        m, nnz, off;
  int            *loffsets, *lcolumns, *uoffsets, *ucolumns;
  PetscScalar    *a, *l, *u;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(host, 0, PETSC_FALSE, PETSC_FALSE, &m, &ui, &uj, &done));
  PetscCheck(done && m == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows of PETSc's ICC factor");
  PetscCall(MatSeqSBAIJGetArray(host, &a));
  nnz = ui[n];
  off = nnz - n;
  PetscCall(SpTRSVGPUCheckSize(n, (PetscLogDouble)nnz));
  PetscCall(PetscMalloc1(2 * (size_t)n + 3 + nnz + off, &t->index));
  PetscCall(PetscMalloc1((size_t)nnz + off, &t->value));
  uoffsets = t->index;
  ucolumns = uoffsets + n + 1;
  loffsets = ucolumns + nnz;
  lcolumns = loffsets + n + 2;
  u        = t->value;
  l        = u + nnz;
  for (PetscInt r = 0; r <= n; r++) uoffsets[r] = (int)ui[r];
  PetscCall(PetscArrayzero(loffsets, n + 2));
  for (PetscInt r = 0; r < n; r++)
    for (PetscInt k = ui[r]; k < ui[r + 1] - 1; k++) loffsets[uj[k] + 2]++;
  for (PetscInt r = 1; r <= n; r++) loffsets[r + 1] += loffsets[r];
  for (PetscInt r = 0; r < n; r++) { /* loffsets[c + 1]: where the next entry of row c of L goes */
    const PetscInt    last  = ui[r + 1] - 1;
    const PetscScalar pivot = (PetscScalar)1.0 / a[last];

    ucolumns[ui[r]] = (int)r;
    u[ui[r]]        = pivot;
    for (PetscInt k = ui[r]; k < last; k++) {
      const int to = loffsets[uj[k] + 1]++;

      ucolumns[k + 1] = (int)uj[k];
      u[k + 1]        = -pivot * a[k];
      lcolumns[to]    = (int)r;
      l[to]           = -a[k];
    }
  }
  PetscCall(MatSeqSBAIJRestoreArray(host, &a));
  PetscCall(MatRestoreRowIJ(host, 0, PETSC_FALSE, PETSC_FALSE, &m, &ui, &uj, &done));
  t->view.L = (TrsvCSR){(int)n, loffsets, lcolumns, l, 0};
  t->view.U = (TrsvCSR){(int)n, uoffsets, ucolumns, u, 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can PETSc's factor be read as triangles? It can solve in any case. */
PetscErrorCode SpTRSVGPUTrianglesReadable(const SpTRSVGPU *s, PetscBool *readable)
{
  MatInfo info;

  PetscFunctionBegin;
  *readable = PETSC_FALSE;
  if (!s->is_csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetInfo(s->host, MAT_LOCAL, &info));
  *readable = SpTRSVGPUFits(s->host->rmap->n, info.nz_used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Valid until the factor gets new values or is destroyed. To be destroyed by SpTRSVGPUTrianglesDestroy(). */
PetscErrorCode SpTRSVGPUTrianglesCreate(const SpTRSVGPU *s, SpTRSVGPUTriangles *t)
{
  TrsvStream     stream;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(t, 1));
  if (s->on_device) {
    PetscCall(SpTRSVGPUGetStream(s->memory, &stream));
    PetscCallTrsv(TrsvIluDownload(s->ilu, &t->view, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ierr = s->kind == MAT_FACTOR_ICC ? ReadICC(s->host, t) : ReadILU(s->host, t);
  if (ierr) PetscCall(SpTRSVGPUTrianglesDestroy(t));
  PetscCall(ierr);
  t->view.row    = s->row;
  t->view.column = s->column;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUTrianglesDestroy(SpTRSVGPUTriangles *t)
{
  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) PetscCall(SpTRSVGPURestoreIndices(&t->shared[i]));
  PetscCall(PetscFree(t->index));
  PetscCall(PetscFree(t->value));
  TrsvTrianglesDestroy(&t->view);
  PetscFunctionReturn(PETSC_SUCCESS);
}
