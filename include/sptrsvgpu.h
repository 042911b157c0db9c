/*
   sptrsvgpu: a PETSc plugin with ILU(0) and IC(0), applied by sparse triangular solves on a GPU.

   A program that loads the library with -dll_append and sets options does not need this header. A program that links
   the library calls SpTRSVGPURegister() after PetscInitialize(). The functions have manual pages.
*/
#ifndef SPTRSVGPU_H
#define SPTRSVGPU_H

#include <petscksp.h>

#define SPTRSVGPU_VERSION_MAJOR    0
#define SPTRSVGPU_VERSION_MINOR    1
#define SPTRSVGPU_VERSION_SUBMINOR 0
#define SPTRSVGPU_VERSION \
  PetscStringize(SPTRSVGPU_VERSION_MAJOR) \
  "." PetscStringize(SPTRSVGPU_VERSION_MINOR) "." PetscStringize(SPTRSVGPU_VERSION_SUBMINOR)

#define MATSOLVERSPTRSVGPU "sptrsvgpu" /* MatSolverType, for MatGetFactor() and -pc_factor_mat_solver_type */
#define PCSPTRSVGPU        "sptrsvgpu" /* PCType */
#define PCCAPELLINI        "capellini" /* PCType: the same with thread-level solves, as in CapelliniSpTRSV */

#define KSPCGDEVICE   "cgdevice"   /* KSPType: KSPCG with scalars on the GPU */
#define KSPBCGSDEVICE "bcgsdevice" /* KSPType: KSPBCGS with scalars on the GPU */

#define MATORDERINGMULTICOLOR "multicolor" /* a MatOrderingType, for -pc_factor_mat_ordering_type */

/* A triangle of the factor: L or U. */
typedef enum {
  SPTRSVGPU_LOWER,
  SPTRSVGPU_UPPER
} SpTRSVGPUTriangle;

/* How the algorithm of a triangle is chosen if it is "auto". */
typedef enum {
  SPTRSVGPU_SELECT_MODEL,       /* the shortest time predicted from statistics of the factor */
  SPTRSVGPU_SELECT_GRANULARITY, /* by the parallel granularity of the factor, as in CapelliniSpTRSV (ICPP 2020) */
  SPTRSVGPU_SELECT_TUNE         /* the shortest time measured */
} SpTRSVGPUSelection;
PETSC_EXTERN const char *const SpTRSVGPUSelections[];

/* Where ILU(0) and IC(0) of a matrix on a GPU are computed. */
typedef enum {
  SPTRSVGPU_FACTOR_LOCATION_AUTO,   /* where it is predicted to take less time */
  SPTRSVGPU_FACTOR_LOCATION_DEVICE, /* on the GPU, if the GPU can factor the matrix */
  SPTRSVGPU_FACTOR_LOCATION_HOST    /* on the host, by PETSc */
} SpTRSVGPUFactorLocation;
PETSC_EXTERN const char *const SpTRSVGPUFactorLocations[];

/* The order in which a matrix is factored, if PCFactorSetMatOrderingType() has not set another. */
typedef enum {
  SPTRSVGPU_ORDERING_NATURAL,
  SPTRSVGPU_ORDERING_MULTICOLOR, /* MATORDERINGMULTICOLOR */
  SPTRSVGPU_ORDERING_AUTO        /* natural or multicolor, by the predicted time to solution */
} SpTRSVGPUOrdering;
PETSC_EXTERN const char *const SpTRSVGPUOrderings[];

PETSC_EXTERN PetscErrorCode SpTRSVGPURegister(void);

PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetAlgorithm(Mat, SpTRSVGPUTriangle, const char[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetAlgorithm(Mat, SpTRSVGPUTriangle, const char *[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetChosenAlgorithm(Mat, SpTRSVGPUTriangle, const char *[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetSelection(Mat, SpTRSVGPUSelection);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetSelection(Mat, SpTRSVGPUSelection *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetFactorization(Mat, SpTRSVGPUFactorLocation);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetFactorization(Mat, SpTRSVGPUFactorLocation *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetChosenFactorization(Mat, SpTRSVGPUFactorLocation *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetTuneSeconds(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetTuneSeconds(Mat, PetscReal *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetTimeout(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetTimeout(Mat, PetscReal *);

PETSC_EXTERN PetscErrorCode PCSpTRSVGPUSetFactorType(PC, MatFactorType);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetFactorType(PC, MatFactorType *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetChosenFactorType(PC, MatFactorType *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUSetOrdering(PC, SpTRSVGPUOrdering);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetOrdering(PC, SpTRSVGPUOrdering *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetChosenOrdering(PC, SpTRSVGPUOrdering *);
#endif
