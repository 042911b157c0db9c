/*
   mtx.h: reads sparse matrices in Matrix Market's coordinate format, plain, gzip'ed or xz'ed, into a PETSc Mat.

   The reader repairs nothing unasked: what it is asked to do, and that it sums duplicate entries, is counted in the
   report, and everything that the format does not allow is an error that names file and line.
*/
#pragma once

#include <petscmat.h>

typedef struct {
  const char *field;      /* real, integer, pattern, or complex where scalars are */
  const char *symmetry;   /* general, symmetric, skew-symmetric or hermitian */
  PetscInt    rows, cols;
  PetscInt    stored;     /* entries in the file */
  PetscInt    above;      /* entries above the diagonal of a file that stores one triangle; taken as any others */
  PetscInt    duplicates; /* entries of the file that were added to an earlier one */
  PetscInt    notfinite;  /* entries of the file that are NaN or Inf */
  PetscInt    missing;    /* rows without an entry on the diagonal */
  PetscInt    firstmissing;
  PetscBool   completed;  /* those entries were added */
  PetscBool   generated;  /* the values are not the file's: MTX_VALUES_DOMINANT */
  PetscBool   positive;   /* the whole diagonal is real and positive */
  PetscBool   dominant;   /* and nowhere less than the sum of the absolute values of the row's others, somewhere more */
} MtxReport;

typedef enum {
  MTX_VALUES_FILE,    /* the file's; an error where it is a pattern */
  MTX_VALUES_DOMINANT /* seeded values, strictly diagonally dominant; symmetric where the pattern is stored so */
} MtxValues;

/* Says whether a file, once decompressed, begins with %%; an error where it cannot be opened or decompressed. */
PETSC_EXTERN PetscErrorCode MtxTest(const char file[], PetscBool *is);

/* Loads a file into A, which has a type and no sizes yet; each rank reads the file and keeps its rows. complete asks
   for a zero (MTX_VALUES_DOMINANT: a dominant value) on the diagonal where there is no entry. Marks A symmetric or
   Hermitian where the file says so. */
PETSC_EXTERN PetscErrorCode MtxLoad(Mat A, const char file[], MtxValues values, PetscBool complete, MtxReport *report);
