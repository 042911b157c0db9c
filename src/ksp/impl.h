/*
   What the KSP types of this library share: PETSc's own type, of which the solve alone is replaced where it can be.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/vecimpl.h>
#include <krylov/krylov.h>
#include "../petsc/common.h"

/* Are there kernels for PetscScalar? */
#define KSP_ON_DEVICE (PetscDefined(HAVE_CUDA) && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX))

typedef struct {
  struct _KSPOps petsc;   /* the operations of PETSc's type */
  const char    *reason;  /* why the last solve was left to it; NULL: it was not, or there was none */
  TrsvKrylov    *scalars; /* NULL before the first solve here */
  TrsvStopping   stopping;
  PetscInt       lag;     /* iterations that the host is behind: 0 or 1 */
  PetscBool      trust_region; /* CG: has a radius or a target been set? */
  PetscErrorCode (*set_radius)(KSP, PetscReal), (*set_target)(KSP, PetscReal);
} KSPOnDevice;

PETSC_INTERN PetscErrorCode KSPCreate_CGDevice(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_BCGSDevice(KSP);

PETSC_INTERN PetscErrorCode KSPOnDeviceCreate(KSP, KSPType petsc, PetscErrorCode (*solve)(KSP));
PETSC_INTERN PetscErrorCode KSPOnDeviceGet(KSP, KSPOnDevice **);

/* Solves by PETSc's type where *here is false, and notes why. */
PETSC_INTERN PetscErrorCode KSPOnDeviceTry(KSP, KSPOnDevice *, const char *reason, PetscBool *here);
PETSC_INTERN PetscErrorCode KSPOnDeviceStart(KSP, KSPOnDevice *);

/* Takes the norm of iteration k: history, monitors, test. Sets what the device compares later norms with. */
PETSC_INTERN PetscErrorCode KSPOnDeviceTest(KSP, KSPOnDevice *, PetscInt k, PetscReal norm);
