/*
   mtx.h: reads sparse matrices in Matrix Market's coordinate format, plain, gzip'ed or xz'ed, into a PETSc Mat.

   The reader changes the matrix only on request. The report counts these changes, and the duplicate entries that were
   summed. Everything that the format does not allow is an error that names file and line.
*/
#pragma once

#include <petscmat.h>

typedef struct {
  const char *field;      /* real, integer, pattern, or, with complex scalars, complex */
  const char *symmetry;   /* general, symmetric, skew-symmetric or hermitian */
  PetscInt    rows, cols;
  PetscInt    stored;     /* entries in the file */
  PetscInt    above;      /* entries above the diagonal of a file that stores one triangle; read like the others */
  PetscInt    duplicates; /* entries of the file that were added to an earlier one */
  PetscInt    notfinite;  /* entries of the file that are NaN or Inf */
  PetscInt    missing;    /* rows without an entry on the diagonal */
  PetscInt    firstmissing;
  PetscBool   completed;  /* these entries were added */
  PetscBool   generated;  /* the values are not those of the file: MTX_VALUES_DOMINANT */
  PetscBool   positive;   /* the whole diagonal is real and positive */
  PetscBool   dominant;   /* and all rows are diagonally dominant, at least one strictly */
} MtxReport;

typedef enum {
  MTX_VALUES_FILE,    /* those of the file; an error if the file has only a pattern */
  MTX_VALUES_DOMINANT /* seeded values, strictly diagonally dominant; symmetric if the file stores one triangle */
} MtxValues;

/* Checks whether a file, after decompression, begins with %%; an error if it cannot be opened or decompressed. */
PETSC_EXTERN PetscErrorCode MtxTest(const char file[], PetscBool *is);

/* Loads a file into A, which has a type and no sizes yet; each rank reads the file and keeps its rows. complete: adds a
   zero (MTX_VALUES_DOMINANT: a dominant value) to rows without a diagonal entry. Marks A symmetric or Hermitian if the
   header of the file says so. */
PETSC_EXTERN PetscErrorCode MtxLoad(Mat A, const char file[], MtxValues values, PetscBool complete, MtxReport *report);
