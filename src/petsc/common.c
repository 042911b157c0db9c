/*
   What several files use: error codes, the data of a PC, a rank's block of the matrix, PETSc's stream.
*/
#include "../pc/impl.h"
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

/* The data of a PC; NULL if the PC is of another type. */
PetscErrorCode SpTRSVGPUQueryPC(PC pc, PC_SpTRSVGPU **p)
{
  PetscFunctionBegin;
  *p = NULL;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectContainerQuery((PetscObject)pc, SPTRSVGPU_PC_DATA, (void *)p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data of a PC, which must be of our types. */
PetscErrorCode SpTRSVGPUGetPC(PC pc, PC_SpTRSVGPU **p)
{
  PetscFunctionBegin;
  PetscCall(SpTRSVGPUQueryPC(pc, p));
  PetscCheck(*p, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The PC is of type %s; this function is for %s and %s", ((PetscObject)pc)->type_name, PCSPTRSVGPU,
             PCCAPELLINI);
  PetscFunctionReturn(PETSC_SUCCESS);
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
