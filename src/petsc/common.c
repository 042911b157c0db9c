/*
   Error codes, a rank's block of the matrix, PETSc's stream.
*/
#include "common.h"
#include <petscdevice.h>

PetscErrorCode SpTRSVGPUErrorCode(TrsvError error)
{
  switch (error) {
  case TRSV_ERR_ARGUMENT:
  case TRSV_ERR_STRUCTURE: return PETSC_ERR_ARG_WRONG;
  case TRSV_ERR_UNSUPPORTED: return PETSC_ERR_SUP;
  case TRSV_ERR_MEMORY: return PETSC_ERR_MEM;
  case TRSV_ERR_DEVICE: return PETSC_ERR_GPU;
  default: return PETSC_ERR_LIB;
  }
}

/* The block of a matrix that this rank factors. */
PetscErrorCode SpTRSVGPUGetLocal(Mat A, Mat *local)
{
  PetscFunctionBegin;
  *local = A; /* on one rank; and a constantdiagonal, which all ranks factor together */
  if (A->ops->getdiagonalblock) PetscCall(MatGetDiagonalBlock(A, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stream of PETSc's current device context; NULL if the solves run on the host. */
PetscErrorCode SpTRSVGPUGetStream(TrsvMemory memory, TrsvStream *stream)
{
  PetscDeviceContext context;
  void              *handle;

  PetscFunctionBegin;
  *stream = NULL;
  if (memory == TRSV_HOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
  if (handle) *stream = *(TrsvStream *)handle;
  PetscFunctionReturn(PETSC_SUCCESS);
}
