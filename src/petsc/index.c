/*
   Indices: PetscInt has 32 or 64 bits, the indices of src/kernels have 32.
*/
#include "common.h"

/* Do indices of 32 bits suffice? */
PetscBool SpTRSVGPUFits(PetscInt rows, PetscLogDouble entries)
{
  return (PetscBool)(rows < INT_MAX && entries <= INT_MAX);
}

/* Fails if indices of 32 bits do not suffice for the block of this rank. */
PetscErrorCode SpTRSVGPUCheckSize(PetscInt rows, PetscLogDouble entries)
{
  PetscFunctionBegin;
  PetscCheck(SpTRSVGPUFits(rows, entries), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The block of this rank has %" PetscInt_FMT " rows and %.0f nonzeros; sptrsvgpu orders, and solves with, "
             "at most %d rows and %d nonzeros: use more ranks, or -pc_type bjacobi with smaller blocks",
             rows, entries, INT_MAX - 1, INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Indices in 32 bits: from itself if PetscInt has 32 bits, otherwise a copy, in which an index that does not
   fit is -1. To be restored by SpTRSVGPURestoreIndices(). */
PetscErrorCode SpTRSVGPUGetIndices(PetscInt n, const PetscInt from[], const int **to)
{
  int *copy;

  PetscFunctionBegin;
  if (sizeof(PetscInt) == sizeof(int)) *to = (const int *)from;
  else {
    PetscCall(PetscMalloc1(n, &copy));
    for (PetscInt i = 0; i < n; i++) copy[i] = from[i] == (int)from[i] ? (int)from[i] : -1;
    *to = copy;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPURestoreIndices(const int **to)
{
  PetscFunctionBegin;
  if (sizeof(PetscInt) != sizeof(int)) PetscCall(PetscFree(*to));
  *to = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An index set of one process. After an error *is is as before: PETSc cannot destroy one whose creation failed. */
PetscErrorCode SpTRSVGPUCreateIS(PetscInt n, const int indices[], IS *is)
{
  IS             made;
  PetscInt      *copy;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &copy));
  for (PetscInt i = 0; i < n; i++) copy[i] = indices[i];
  ierr = ISCreateGeneral(PETSC_COMM_SELF, n, copy, PETSC_COPY_VALUES, &made);
  PetscCall(PetscFree(copy));
  PetscCall(ierr);
  *is = made;
  PetscFunctionReturn(PETSC_SUCCESS);
}
