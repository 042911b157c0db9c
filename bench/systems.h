/*
   systems.h: what the programs that measure PETSc share: linear systems from files and grids, the clock, and what a
   view of a factor.
*/
#pragma once

#include <petscksp.h>
#include "mtx.h"

/* The Laplacian of 5 or 7 points on n^dim points, on the host; marked symmetric. */
PETSC_EXTERN PetscErrorCode SystemGrid(PetscInt dim, PetscInt n, Mat *A);

/* Is it a grid, g2d5:N or g3d7:N, instead of a file? */
PETSC_EXTERN PetscBool SystemIsGrid(const char file[]);

/* From a file, on the host, with zeros on the diagonal where there is no entry. */
PETSC_EXTERN PetscErrorCode SystemLoad(const char file[], MtxValues values, Mat *A, MtxReport *report);

/* The same in the file's own values, or the Laplacian of a grid. pattern: the file has no values, and these make the
   diagonal dominant. */
PETSC_EXTERN PetscErrorCode SystemLoadOwn(const char file[], Mat *A, PetscBool *pattern, PetscBool *symmetric);

/* Makes of a symmetric pattern its weighted Laplacian: off the diagonal -|a|, or -1 where there are no values; on it
   their sum and a thousandth of the mean. */
PETSC_EXTERN PetscErrorCode SystemLaplacian(Mat A, PetscBool pattern);

/* A file's name without folder and endings. */
PETSC_EXTERN PetscErrorCode SystemName(const char file[], char name[], size_t size);

/* Milliseconds; waits for the GPU. */
PETSC_EXTERN PetscErrorCode SystemNow(double *ms);

/* The view of the factor of a KSP's PC, cut off at size. */
PETSC_EXTERN PetscErrorCode SystemFactorView(KSP ksp, char text[], size_t size);

/* Registers the PC types of rivals.c. */
PETSC_EXTERN PetscErrorCode SystemRegisterRivals(void);

/* A copy of a matrix of the host where it is solved: on the GPU, or on the host, distributed if there are several
   ranks, each of which has all of it. Permuted: in the ordering multicolor. */
PETSC_EXTERN PetscErrorCode SystemPlace(Mat all, PetscBool host, Mat *A);
PETSC_EXTERN PetscErrorCode SystemPlacePermuted(Mat all, PetscBool host, Mat *A);

/* |b - A x| / |b| */
PETSC_EXTERN PetscErrorCode SystemResidual(Mat A, Vec b, Vec x, PetscReal *residual);

/* Has the diagonal one sign, so that the matrix can be definite? */
PETSC_EXTERN PetscErrorCode SystemHasOneSign(Mat A, PetscBool *one);
