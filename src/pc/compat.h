/*
   Where PETSc 3.20 to 3.25 differ from 3.26. No other file of src depends on PETSc's version.
*/
#pragma once

#include <petsc/private/petscimpl.h>
#include <petscmat.h>
#include <petscviewer.h>

/*
   KSPSolve() before 3.26 does not set up the PC again where only the values of the matrix are new: PCApply() does,
   after KSPSolve() has read why the previous set-up failed. With values that can be factored again, the KSP would
   fail once more (KSP_DIVERGED_NANORINF). KSPSolve() calls this operation of the PC before it reads the reason.
   PETSC_VERSION_LT() counts main as later than every release; its minor number is that of the release before.
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

/* -pc_factor_mat_factor_on_host and -pc_factor_mat_solve_on_host, which PETSc has from 3.23 on */
static inline PetscBool SpTRSVGPUFactorOnHost(const MatFactorInfo *info)
{
#if PETSC_VERSION_LT(3, 23, 0)
  (void)info;
  return PETSC_FALSE;
#else
  return info->factoronhost;
#endif
}

static inline PetscBool SpTRSVGPUSolveOnHost(const MatFactorInfo *info)
{
#if PETSC_VERSION_LT(3, 23, 0)
  (void)info;
  return PETSC_FALSE;
#else
  return info->solveonhost;
#endif
}

/* Gives back what PetscOptionsCreateViewer() has given; 3.21 alone keeps its predefined viewers without a reference */
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
