/*
   rival.h: triangular solves of others for rivals.c. ILU(0) of a matrix in its own order, computed on the host, and its
   application by cuSPARSE's SpSV in two formats, or by Jacobi sweeps.
*/
#pragma once

#include <petscksp.h>

typedef enum {
  RIVAL_CSR,        /* SpSV in CSR */
  RIVAL_SLICED_ELL, /* SpSV in sliced ELL, 32 rows a slice, as NVIDIA's HPCG solves */
  RIVAL_SWEEPS      /* x = D^-1 (b - N x) so often, from x = D^-1 b */
} RivalKind;

/* L below the diagonal, U on and above it */
typedef struct {
  PetscInt     rows;
  PetscInt    *i, *j, *diagonal; /* diagonal: where each row has its pivot */
  PetscScalar *a;
} RivalILU;

typedef struct Rival Rival;

/* ILU(0) of a SeqAIJ matrix on the host in its order. An error if a pivot is zero. */
PETSC_EXTERN PetscErrorCode RivalILUCreate(Mat A, RivalILU **ilu);
PETSC_EXTERN PetscErrorCode RivalILUDestroy(RivalILU **ilu);

/* Its solves, set up; host: by a serial solve with the same storage, to test where there is no GPU.
   apart: sliced ELL has the diagonal apart, in SpSV's own copy, as in HPCG; or with the other entries. */
PETSC_EXTERN PetscErrorCode RivalCreate(const RivalILU *ilu, RivalKind kind, int sweeps, PetscBool apart,
                                        PetscBool host, Rival **rival);
PETSC_EXTERN PetscErrorCode RivalDestroy(Rival **rival);

/* x = U^-1 L^-1 b, in PETSc's stream */
PETSC_EXTERN PetscErrorCode RivalApply(Rival *rival, Vec b, Vec x);

/* The time of SpSV's analysis of L and U, with the first values and with new ones, ms; 0 if there is
   none. */
PETSC_EXTERN PetscErrorCode RivalTimes(const Rival *rival, double *analysis, double *update);
