/*
   Errors of src/kernels as PETSc's.
*/
#include "impl.h"

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
