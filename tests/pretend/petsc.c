/*
   Stand-ins for PETSc's types of matrices and vectors on a GPU (matrices.c, vectors.c), with the device memory of the
   executor (tests/simt). They have the names of PETSc's types, and are for tests of src/mat without a GPU. This file
   has their stream and their registration. Everything that has no stand-in runs on the host.

   Device memory that exists after PetscFinalize() is reported, on standard output, so that a test fails.
*/
#include "stand_ins.h"
#include "cuda_runtime.h"
#include "executor.h"

PETSC_EXTERN PetscErrorCode PretendInitializePackage(void);

TrsvStream pretend_stream;

PetscErrorCode PretendCreateStream(void)
{
  PetscFunctionBegin;
  if (!pretend_stream && cudaStreamCreateWithFlags((cudaStream_t *)&pretend_stream, 0))
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU, "no stream");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendGetStreamHandle(PetscDeviceContext context, void **handle)
{
  PetscFunctionBegin;
  (void)context;
  PetscCall(PretendCreateStream());
  *handle = &pretend_stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PretendSynchronize(PetscDeviceContext context)
{
  PetscFunctionBegin;
  (void)context;
  if (pretend_stream && cudaStreamSynchronize((cudaStream_t)pretend_stream))
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU, "waiting for a stream failed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool finalized;

static PetscErrorCode Finalize(void)
{
  PetscFunctionBegin;
  if (pretend_stream) (void)cudaStreamDestroy((cudaStream_t)pretend_stream);
  pretend_stream = NULL;
  finalized      = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the library is closed: PETSc has then given back all memory that it has. */
static void Report(void)
{
  if (finalized && (SimtLive() || SimtObjects()))
    printf("not given back: %zu allocations of device memory, %zu streams and pools\n", SimtLive(), SimtObjects());
}

/* Each PetscInitialize() calls this through the plugin. */
PetscErrorCode PretendInitializePackage(void)
{
  static PetscBool reported;

  PetscFunctionBegin;
  PetscCall(PretendRegisterMatrices());
  PetscCall(PretendRegisterVectors());
  PetscCall(PetscRegisterFinalize(Finalize));
  if (!reported) PetscCheck(!atexit(Report), PETSC_COMM_SELF, PETSC_ERR_LIB, "atexit()");
  reported  = PETSC_TRUE;
  finalized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
