/*
   What all rooms that call PETSc share.

   common.c  error codes, a rank's block of the matrix, PETSc's stream
   index.c   indices: PetscInt to the 32 bits of src/kernels
   compat.h  differences of older PETScs
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <trsv.h>
#include "compat.h"

/* PetscScalar in terms of src/kernels */
#if PetscDefined(USE_COMPLEX)
  #define SPTRSVGPU_PRECISION (sizeof(PetscReal) == sizeof(float) ? TRSV_COMPLEX_FLOAT : TRSV_COMPLEX_DOUBLE)
#else
  #define SPTRSVGPU_PRECISION (sizeof(PetscReal) == sizeof(float) ? TRSV_FLOAT : TRSV_DOUBLE)
#endif

/* common.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUErrorCode(TrsvError);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetLocal(Mat, Mat *);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetStream(TrsvMemory, TrsvStream *);

/* index.c */
PETSC_INTERN PetscBool      SpTRSVGPUFits(PetscInt, PetscLogDouble);
PETSC_INTERN PetscErrorCode SpTRSVGPUCheckSize(PetscInt, PetscLogDouble);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetIndices(PetscInt, const PetscInt[], const int **);
PETSC_INTERN PetscErrorCode SpTRSVGPURestoreIndices(const int **);
PETSC_INTERN PetscErrorCode SpTRSVGPUCreateIS(PetscInt, const int[], IS *);

/* Raises an error of src/kernels as PETSc's. */
#define SPTRSVGPU_TIMEOUT_ADVICE \
  ". If a tool or another program slows the GPU down, use -mat_sptrsvgpu_timeout with more seconds, or 0 for no limit"
#define PetscCallTrsv(...) \
  do { \
    const TrsvError trsv_error_ = (__VA_ARGS__); \
    PetscCheck(!trsv_error_, PETSC_COMM_SELF, SpTRSVGPUErrorCode(trsv_error_), "%s%s", TrsvErrorMessage(), \
               trsv_error_ == TRSV_ERR_TIMEOUT ? SPTRSVGPU_TIMEOUT_ADVICE : ""); \
  } while (0)
