/*
   Common parts of the KSP types of this library. Each is PETSc's own type with another solve, for the cases that this
   solve supports.
*/
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/vecimpl.h>
#include <krylov/krylov.h>
#include "../petsc/common.h"

/* 1: there are kernels for PetscScalar. */
#define KSP_ON_DEVICE (PetscDefined(HAVE_CUDA) && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX))

typedef struct {
  struct _KSPOps petsc;   /* the operations of PETSc's type */
  const char    *reason;  /* why PETSc's type did the last solve; NULL: it did not, or there was no solve */
  TrsvKrylov    *scalars; /* NULL before the first solve on the device */
  TrsvStopping   stopping;
  PetscInt       lag;     /* 1: the host launches an iteration before it reads the norm of the one before; or 0 */
  PetscBool      nearly;  /* the next norm is expected to end the solve */
  /* of CG: */
  PetscBool trust_region;     /* a radius or a target has been set */
  PetscBool single_reduction; /* KSPCGUseSingleReduction() is on */
  PetscErrorCode (*set_radius)(KSP, PetscReal), (*set_target)(KSP, PetscReal), (*get_objective)(KSP, PetscReal *),
    (*use_single_reduction)(KSP, PetscBool);
} KSPOnDevice;

PETSC_INTERN PetscErrorCode KSPCreate_CGDevice(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_BCGSDevice(KSP);

PETSC_INTERN PetscErrorCode KSPOnDeviceCreate(KSP, KSPType petsc, PetscErrorCode (*solve)(KSP));
PETSC_INTERN PetscErrorCode KSPOnDeviceGet(KSP, KSPOnDevice **);

/* Checks whether this type can solve. If not, PETSc's type solves, *here is false, and d->reason gets the reason. */
PETSC_INTERN PetscErrorCode KSPOnDeviceTry(KSP, KSPOnDevice *, const char *reason, PetscBool *here);
PETSC_INTERN PetscErrorCode KSPOnDeviceStart(KSP, TrsvKrylovType, KSPOnDevice *);

/* Launches a part of iteration k: calls launch() with the arrays on the GPU of vectors, first those that it reads, then
   those that it also writes, six at most. */
PETSC_INTERN PetscErrorCode KSPOnDeviceLaunch(const KSPOnDevice *, PetscInt k,
                                              TrsvError (*launch)(const KSPOnDevice *, int k, PetscScalar *const[]),
                                              int read, int written, const Vec vectors[]);

/* Processes the norm of iteration k: history, monitors, convergence test. For k = 0 sets the device's stopping rule. */
PETSC_INTERN PetscErrorCode KSPOnDeviceTest(KSP, KSPOnDevice *, PetscInt k, PetscReal norm);

/* So many iterations are launched before the report of iteration k is read. */
static inline PetscInt KSPOnDeviceWanted(KSP ksp, const KSPOnDevice *d, PetscInt k)
{
  return PetscMin(k + (d->nearly ? 0 : d->lag), PetscMax(ksp->max_it, 1));
}

/* Corrects the reason as PETSc's types do: after a solve that was to take no iteration, but took one. */
PETSC_INTERN void KSPOnDeviceEnd(KSP, PetscInt launched);
