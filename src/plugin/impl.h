/*
   How PETSc loads the library: registration (register.c), a PETSc of another build (version.c), messages about files
   (filename.c).
*/
#pragma once

#include <sptrsvgpu.h>

PETSC_INTERN PetscErrorCode SpTRSVGPUCheckPetsc(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUNotInitialized(void);
