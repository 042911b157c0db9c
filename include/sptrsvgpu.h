/*
   sptrsvgpu: ILU(0) and IC(0) applied by GPU sparse triangular solves, as a plugin of PETSc.

   Nothing here is needed where the library is loaded by -dll_append and steered by options. A program that links it calls
   SpTRSVGPURegister() after PetscInitialize().
*/
#ifndef SPTRSVGPU_H
#define SPTRSVGPU_H

#include <petscksp.h>

#define SPTRSVGPU_VERSION_MAJOR    0
#define SPTRSVGPU_VERSION_MINOR    1
#define SPTRSVGPU_VERSION_SUBMINOR 0
#define SPTRSVGPU_VERSION \
  PetscStringize(SPTRSVGPU_VERSION_MAJOR) "." PetscStringize(SPTRSVGPU_VERSION_MINOR) "." PetscStringize(SPTRSVGPU_VERSION_SUBMINOR)

#define MATSOLVERSPTRSVGPU "sptrsvgpu" /* MatSolverType, for MatGetFactor() and -pc_factor_mat_solver_type */
#define PCSPTRSVGPU        "sptrsvgpu" /* PCType */
#define PCCAPELLINI        "capellini" /* PCType: the same, with the thread-level kernels of CapelliniSpTRSV */

#define KSPCGDEVICE   "cgdevice"   /* KSPType: KSPCG with scalars on the GPU */
#define KSPBCGSDEVICE "bcgsdevice" /* KSPType: KSPBCGS with scalars on the GPU */

#define MATORDERINGMULTICOLOR "multicolor" /* a MatOrderingType, for -pc_factor_mat_ordering_type */

/* Which of the two triangles of a factor a call means. */
typedef enum {
  SPTRSVGPU_LOWER,
  SPTRSVGPU_UPPER
} SpTRSVGPUTriangle;

/* What chooses where an algorithm is `auto`. */
typedef enum {
  SPTRSVGPU_SELECT_MODEL,       /* the shortest time predicted from the factor's statistics */
  SPTRSVGPU_SELECT_GRANULARITY, /* parallel granularity of the factor, CapelliniSpTRSV (ICPP 2020) */
  SPTRSVGPU_SELECT_TUNE         /* the shortest time measured */
} SpTRSVGPUSelection;
PETSC_EXTERN const char *const SpTRSVGPUSelections[];

/* Where ILU(0) and IC(0) of a matrix on a GPU are computed. */
typedef enum {
  SPTRSVGPU_FACTORIZATION_AUTO,   /* where it is expected to take less time */
  SPTRSVGPU_FACTORIZATION_DEVICE, /* there, where it can be done there */
  SPTRSVGPU_FACTORIZATION_HOST,   /* on the host, by PETSc */
  SPTRSVGPU_FACTORIZATION_CUSPARSE /* on the device by cuSPARSE, for comparison: ILU(0) in the natural order, without shifts */
} SpTRSVGPUFactorization;
PETSC_EXTERN const char *const SpTRSVGPUFactorizations[];

/* The order in which a matrix is factored, where PCFactorSetMatOrderingType() leaves it to us. */
typedef enum {
  SPTRSVGPU_ORDERING_NATURAL,
  SPTRSVGPU_ORDERING_MULTICOLOR, /* MATORDERINGMULTICOLOR */
  SPTRSVGPU_ORDERING_AUTO /* the one that promises the shorter time to solution on a GPU */
} SpTRSVGPUOrdering;
PETSC_EXTERN const char *const SpTRSVGPUOrderings[];

PETSC_EXTERN PetscErrorCode SpTRSVGPURegister(void);

PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetAlgorithm(Mat, SpTRSVGPUTriangle, const char[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetAlgorithm(Mat, SpTRSVGPUTriangle, const char *[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetChosenAlgorithm(Mat, SpTRSVGPUTriangle, const char *[]);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetSelection(Mat, SpTRSVGPUSelection);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetSelection(Mat, SpTRSVGPUSelection *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetFactorization(Mat, SpTRSVGPUFactorization);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetFactorization(Mat, SpTRSVGPUFactorization *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetChosenFactorization(Mat, SpTRSVGPUFactorization *);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUSetTuneSeconds(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatSpTRSVGPUGetTuneSeconds(Mat, PetscReal *);

PETSC_EXTERN PetscErrorCode PCSpTRSVGPUSetFactorType(PC, MatFactorType);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetFactorType(PC, MatFactorType *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetChosenFactorType(PC, MatFactorType *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUSetOrdering(PC, SpTRSVGPUOrdering);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetOrdering(PC, SpTRSVGPUOrdering *);
PETSC_EXTERN PetscErrorCode PCSpTRSVGPUGetChosenOrdering(PC, SpTRSVGPUOrdering *);
#endif
