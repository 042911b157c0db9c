/*
   Differences of PETSc 3.20 to 3.25 from 3.26. No other file of src depends on PETSc's version.
*/
#pragma once

#include <petsc/private/petscimpl.h>
#include <petscmat.h>
#include <petscviewer.h>

/*
   Before 3.26 KSPSolve() does not set up the PC again if only the values of the matrix are new. PCApply() does, after
   KSPSolve() has read that the previous set-up failed. So the KSP would fail once more (KSP_DIVERGED_NANORINF),
   although the new values can be factored. KSPSolve() calls setuponblocks before it reads the reason. The minor version
   is compared because main has that of the release before, while PETSC_VERSION_LT() counts it as later than all
   releases.
*/
#if PETSC_VERSION_MINOR < 26
  #define SPTRSVGPU_SETUP_ON_BLOCKS PCSetUp
#else
  #define SPTRSVGPU_SETUP_ON_BLOCKS NULL
#endif

#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *SpTRSVGPUOptionItems;
  #define PetscCtxDestroyDefault PetscContainerUserDestroyDefault
#else
typedef PetscOptionItems SpTRSVGPUOptionItems;
#endif

/* PetscBool in MPI's reductions: an enum before 3.24, then C's bool */
#if PETSC_VERSION_LT(3, 24, 0)
  #define SPTRSVGPU_MPI_BOOL MPIU_BOOL
#else
  #define SPTRSVGPU_MPI_BOOL MPI_C_BOOL
#endif

/* The indices of MatSeqAIJCUSPARSEGetIJ() */
#if PETSC_VERSION_LT(3, 26, 0)
typedef int SpTRSVGPUDeviceIndex;
#else
typedef PetscInt SpTRSVGPUDeviceIndex;
#endif

/* -pc_factor_mat_factor_on_host and -pc_factor_mat_solve_on_host, which PETSc has from 3.23 on */
#if PETSC_VERSION_LT(3, 23, 0)
  #define SpTRSVGPUFactorOnHost(info) ((void)(info), PETSC_FALSE)
  #define SpTRSVGPUSolveOnHost(info)  ((void)(info), PETSC_FALSE)
#else
  #define SpTRSVGPUFactorOnHost(info) ((info)->factoronhost)
  #define SpTRSVGPUSolveOnHost(info)  ((info)->solveonhost)
#endif

/* Releases the viewer of PetscOptionsCreateViewer(). Only 3.21 returns predefined viewers without a reference. */
static inline PetscErrorCode SpTRSVGPURestoreViewer(PetscViewer *viewer)
{
#if PETSC_VERSION_LT(3, 22, 0) && !PETSC_VERSION_LT(3, 21, 0)
  return PetscOptionsRestoreViewer(viewer);
#else
  return PetscViewerDestroy(viewer);
#endif
}

#if PETSC_VERSION_LT(3, 22, 0)
  #define PetscOptionsCreateViewer PetscOptionsGetViewer

static inline PetscErrorCode PetscObjectContainerCompose(PetscObject object, const char name[], void *data,
                                                         PetscErrorCode (*destroy)(void *))
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm(object), &container));
  PetscCall(PetscContainerSetPointer(container, data));
  PetscCall(PetscContainerSetUserDestroy(container, destroy));
  PetscCall(PetscObjectCompose(object, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PetscObjectContainerQuery(PetscObject object, const char name[], void **data)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(object, name, (PetscObject *)&container));
  *data = NULL;
  if (container) PetscCall(PetscContainerGetPointer(container, data));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
