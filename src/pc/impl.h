/*
   What the files of src/pc share: the data of a factor Mat of type sptrsvgpu.

   The way through them: pc.c (the PC) -> matsolver.c (the factor Mat: symbolic and numeric phase) -> device.c or host.c
   (values) -> solve.c (solves); all work on one object of src/kernels, the TrsvIlu.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petscksp.h>
#include <sptrsvgpu.h>
#include <trsv.h>
#include "compat.h"

/* What a user asks of a factor; kept by the PC where a changed pattern makes it a new one. */
typedef struct {
  const TrsvAlgorithm   *algorithm[2]; /* by SpTRSVGPUTriangle; NULL is auto */
  SpTRSVGPUSelection     selection;
  SpTRSVGPUFactorization factorization;
  SpTRSVGPUOrdering      ordering;           /* where PETSc's is the natural one */
  char                   reason_natural[96]; /* why auto keeps to the natural order for this pattern, or "" */
  PetscReal              tune;               /* seconds */
  PetscBool              thread_level;       /* auto means thread-level kernels on a GPU (capellini) */
} SpTRSVGPUSettings;

typedef struct {
  MatFactorType     kind;      /* MAT_FACTOR_ILU or MAT_FACTOR_ICC */
  TrsvIlu          *ilu;       /* the factorization on the GPU, and the solves */
  PetscBool         on_device; /* is this rank's block factored there? */
  Mat               host;      /* if not: PETSc's own factor of it */
  TrsvOutcome       outcome;   /* of the last factorization on the device */
  PetscLogDouble    nonzeros;  /* of this rank's block, */
  PetscLogDouble    bytes;     /* and what it takes in compressed sparse rows */
  PetscObjectId     id;        /* of the matrix of the symbolic phase, */
  PetscObjectState  pattern;   /* and of its pattern, for the PC */
  SpTRSVGPUSettings settings;
  PetscBool         nonzero_shift;     /* MAT_SHIFT_NONZERO, though PCILU says INBLOCKS for matrices of the device */
  TrsvMemory        memory;            /* where the matrix lives */
  PetscBool         is_csr;            /* is it of type aij, or derived from it? only then are rows of PETSc's factor read */
  PetscBool         is_natural;        /* is the ordering the natural one? */
  PetscBool         multicolor;        /* is it one that was made here? */
  PetscBool         any_multicolor;    /* on any rank? */
  char              ordering_reason[160];
  PetscInt         *row, *column;      /* of a given ordering, and of one that the host factors in */
  PetscBool         host_solver_named; /* is an algorithm for the host named? Else its solves are PETSc's own */
  PetscBool         has_values;        /* have there been values since the symbolic phase? */
  Vec               b, x;              /* on the device, for vectors of the host */
  Vec               root, scaled;      /* ICC: square roots of the pivots, for halves of an apply; and their products */
} SpTRSVGPU;

/* The triangles of PETSc's factor: ILU gives L with a unit diagonal and U, ICC = U^T D U gives L = U^T and D U. */
typedef struct {
  TrsvTriangles view;
  PetscInt     *index; /* what this owns */
  PetscScalar  *value;
} SpTRSVGPUTriangles;

PETSC_INTERN PetscErrorCode SpTRSVGPUCheckPetsc(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUNotInitialized(void);

PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesCreate(const SpTRSVGPU *, SpTRSVGPUTriangles *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesDestroy(SpTRSVGPUTriangles *);

PETSC_INTERN PetscErrorCode SpTRSVGPUPermutationKeep(SpTRSVGPU *, PetscInt, const PetscInt *, const PetscInt *);
PETSC_INTERN PetscErrorCode SpTRSVGPUPermutationSet(Mat, Mat, IS, IS, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUPermutationMulticolor(Mat, Mat, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUPermutationExplain(SpTRSVGPU *);

PETSC_INTERN PetscErrorCode SpTRSVGPUSetFromOptions(Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetNames(char[], size_t); /* of all algorithms of this build, for messages and -help */
PETSC_INTERN PetscErrorCode MatGetFactor_SpTRSVGPU(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode MatSetSolves_SpTRSVGPU(Mat);
PETSC_INTERN PetscErrorCode MatView_SpTRSVGPU(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode SpTRSVGPUViewFromOptions(Mat);

/* Are solves in a memory PETSc's own, of its factor? Their halves are not: its ILU has none. */
static inline PetscBool SpTRSVGPUPetscSolves(const SpTRSVGPU *s, TrsvMemory memory)
{
  return (PetscBool)(memory == TRSV_HOST && s->host && !s->host_solver_named);
}

PETSC_INTERN PetscErrorCode SpTRSVGPUPrepare(Mat, TrsvMemory, PetscBool);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetStream(TrsvMemory, TrsvStream *);
PETSC_INTERN PetscErrorCode SpTRSVGPUCite(const SpTRSVGPU *);
PETSC_INTERN PetscErrorCode SpTRSVGPUCiteOrdering(void);
PETSC_INTERN void           SpTRSVGPUCitationsForget(void);
#define SPTRSVGPU_ONE_RANK_ORDERINGS \
  "On several ranks only the natural ordering; for another one use -pc_type bjacobi -sub_pc_type sptrsvgpu " \
  "-sub_pc_factor_mat_ordering_type ..."
PETSC_INTERN PetscErrorCode MatGetOrdering_Multicolor(Mat, MatOrderingType, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUOrderingOnHost(Mat, Mat, TrsvOrdering **);
PETSC_INTERN PetscErrorCode PCCreate_SpTRSVGPU(PC);
PETSC_INTERN PetscErrorCode PCCreate_Capellini(PC);

PETSC_INTERN PetscErrorCode SpTRSVGPUGetLocal(Mat, Mat *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceCheckValues(Mat, Mat, char[], size_t);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceNumeric(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheck(Mat, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostSymbolic(SpTRSVGPU *, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostNumeric(Mat, Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *, const MatFactorInfo *, PetscInt *, PetscReal *);

PETSC_INTERN PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL,
  SpTRSVGPU_SolveU, SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;

/* An error of src/kernels as PETSc's. */
PETSC_INTERN PetscErrorCode SpTRSVGPUErrorCode(TrsvError);
#define PetscCallTrsv(...) \
  do { \
    const TrsvError trsv_error_ = (__VA_ARGS__); \
    PetscCheck(!trsv_error_, PETSC_COMM_SELF, SpTRSVGPUErrorCode(trsv_error_), "%s", TrsvErrorMessage()); \
  } while (0)
