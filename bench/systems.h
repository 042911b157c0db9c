/*
   systems.h: linear systems from files and grids, the clock, and the view of a factor; for the programs that measure
   PETSc.
*/
#pragma once

#include <petscksp.h>
#include "mtx.h"

/* The Laplacian of 5 or 7 points on n^dim points, on the host; marked symmetric. */
PETSC_EXTERN PetscErrorCode SystemGrid(PetscInt dim, PetscInt n, Mat *A);

/* Is it a grid, g2d5:N or g3d7:N, instead of a file? */
PETSC_EXTERN PetscBool SystemIsGrid(const char file[]);

/* Loads a file, on the host, with zeros for missing diagonal entries. */
PETSC_EXTERN PetscErrorCode SystemLoad(const char file[], MtxValues values, Mat *A, MtxReport *report);

/* The same with the file's own values, or the Laplacian of a grid. pattern: the file has no values; the matrix then has
   values with a dominant diagonal. */
PETSC_EXTERN PetscErrorCode SystemLoadOwn(const char file[], Mat *A, PetscBool *pattern, PetscBool *symmetric);

/* Makes a symmetric pattern a weighted Laplacian: off the diagonal -|a|, or -1 without values; on the diagonal their
   sum and a thousandth of the mean. */
PETSC_EXTERN PetscErrorCode SystemLaplacian(Mat A, PetscBool pattern);

/* A file's name without folder and endings. */
PETSC_EXTERN PetscErrorCode SystemName(const char file[], char name[], size_t size);

/* Waits for the GPU; milliseconds. */
PETSC_EXTERN PetscErrorCode SystemNow(double *ms);

/* The milliseconds of a PCApply, from b to x: the mean of several without a wait between them. */
PETSC_EXTERN PetscErrorCode SystemTimeApply(PC pc, Vec b, Vec x, double *ms);

/* The view of the factor of a KSP's PC, cut off at size. */
PETSC_EXTERN PetscErrorCode SystemFactorView(KSP ksp, char text[], size_t size);

/* Registers the PC types of rivals.c, and of rivals_hypre.c and rivals_ginkgo.cc. */
PETSC_EXTERN PetscErrorCode SystemRegisterRivals(void);
PETSC_EXTERN PetscErrorCode SystemRegisterHypre(void);
PETSC_EXTERN PetscErrorCode SystemRegisterGinkgo(void);

/* Makes pc a PCSHELL; destroy frees the context. */
PETSC_EXTERN PetscErrorCode SystemMakeShell(PC pc, void *context, PetscErrorCode (*set_up)(PC),
                                            PetscErrorCode (*apply)(PC, Vec, Vec), PetscErrorCode (*destroy)(PC));

/* A copy of a host matrix where it is solved: on the GPU, or on the host, distributed over the ranks, each of which has
   all of it. Permuted: in the multicolor order. */
PETSC_EXTERN PetscErrorCode SystemPlace(Mat all, PetscBool host, Mat *A);
PETSC_EXTERN PetscErrorCode SystemPlacePermuted(Mat all, PetscBool host, Mat *A);

/* |b - A x| / |b| */
PETSC_EXTERN PetscErrorCode SystemResidual(Mat A, Vec b, Vec x, PetscReal *residual);

/* Does the diagonal have one sign, so that the matrix may be definite? */
PETSC_EXTERN PetscErrorCode SystemHasOneSign(Mat A, PetscBool *one);

enum { SYSTEM_MESSAGE = 256 };

/* An error handler: copies the message of an error, without quotes, for a JSON string; kept [SYSTEM_MESSAGE]. */
PETSC_EXTERN PetscErrorCode SystemKeepMessage(MPI_Comm, int line, const char *function, const char *file,
                                              PetscErrorCode, PetscErrorType, const char *message, void *kept);
