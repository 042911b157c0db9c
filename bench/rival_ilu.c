/*
   ILU(0) on the host, row by row: see rival.h.
*/
#include "rival.h"

/* Row r of a factored matrix is computed from the rows above it. place: all -1. */
static PetscErrorCode Eliminate(RivalILU *f, PetscInt r, PetscInt place[])
{
  PetscFunctionBeginUser;
  for (PetscInt k = f->i[r]; k < f->i[r + 1]; k++) place[f->j[k]] = k;
  for (PetscInt k = f->i[r]; k < f->diagonal[r]; k++) {
    const PetscInt c = f->j[k];

    f->a[k] /= f->a[f->diagonal[c]];
    for (PetscInt m = f->diagonal[c] + 1; m < f->i[c + 1]; m++)
      if (place[f->j[m]] >= 0) f->a[place[f->j[m]]] -= f->a[k] * f->a[m];
  }
  for (PetscInt k = f->i[r]; k < f->i[r + 1]; k++) place[f->j[k]] = -1;
  PetscCheck(f->a[f->diagonal[r]] != 0, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot row %" PetscInt_FMT, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalILUCreate(Mat A, RivalILU **ilu)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n, *place;
  PetscBool          done;
  RivalILU          *f;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(ilu));
  f = *ilu;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  f->rows = n;
  PetscCall(PetscMalloc4(n + 1, &f->i, i[n], &f->j, n, &f->diagonal, i[n], &f->a));
  PetscCall(PetscArraycpy(f->i, i, n + 1));
  PetscCall(PetscArraycpy(f->j, j, i[n]));
  PetscCall(PetscArraycpy(f->a, a, i[n]));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(PetscMalloc1(f->rows, &place));
  for (PetscInt r = 0; r < f->rows; r++) place[r] = f->diagonal[r] = -1;
  for (PetscInt r = 0; r < f->rows; r++)
    for (PetscInt k = f->i[r]; k < f->i[r + 1]; k++)
      if (f->j[k] == r) f->diagonal[r] = k;
  for (PetscInt r = 0; r < f->rows; r++) {
    PetscCheck(f->diagonal[r] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "No diagonal in row %" PetscInt_FMT, r);
    PetscCall(Eliminate(f, r, place));
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalILUDestroy(RivalILU **ilu)
{
  PetscFunctionBeginUser;
  if (!*ilu) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree4((*ilu)->i, (*ilu)->j, (*ilu)->diagonal, (*ilu)->a));
  PetscCall(PetscFree(*ilu));
  PetscFunctionReturn(PETSC_SUCCESS);
}
