/*
   stand_ins.h: what the stand-ins of vectors (vectors.c) and matrices (matrices.c) share: the stream, errors.
*/
#ifndef STAND_INS_H
#define STAND_INS_H

#include "pretend.h"
#undef MatInitializePackage
#include <petscdevice.h>
#include <petscmat.h>
#include "device/device.h"

#define CallDevice(...) \
  do { \
    const TrsvError error_ = (__VA_ARGS__); \
    PetscCheck(!error_, PETSC_COMM_SELF, error_ == TRSV_ERR_MEMORY ? PETSC_ERR_MEM : PETSC_ERR_GPU, "%s", \
               TrsvErrorMessage()); \
  } while (0)

PETSC_INTERN TrsvStream pretend_stream; /* of the current context; NULL before PretendCreateStream() */

PETSC_INTERN PetscErrorCode PretendCreateStream(void);
PETSC_INTERN PetscErrorCode PretendRegisterVectors(void);
PETSC_INTERN PetscErrorCode PretendRegisterMatrices(void);

#endif
