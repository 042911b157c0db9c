/*
   What the files of src/pc share: the data of a factor Mat of type sptrsvgpu.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petscksp.h>
#include <sptrsvgpu.h>
#include <trsv.h>
#include "compat.h"

/* What a user asks of a factor; kept by the PC where a changed pattern makes it a new one. */
typedef struct {
  const TrsvAlgorithm *algorithm[2]; /* by SpTRSVGPUFactor; NULL is auto */
  SpTRSVGPUSelect      select;
  SpTRSVGPUFactorization factorization;
  SpTRSVGPUOrdering    ordering; /* where PETSc's is the natural one */
  char                 against[96]; /* why auto is not to take another order any more */
  PetscReal            tune; /* seconds */
  PetscBool            thread; /* auto means thread-level kernels where there is a GPU (capellini) */
} SpTRSVGPUSettings;

typedef struct {
  MatFactorType     kind;     /* MAT_FACTOR_ILU or MAT_FACTOR_ICC */
  Mat               host;     /* PETSc's own factor of this rank's diagonal block: where values come from, unless there is */
  TrsvFactor       *factor;   /* the one that was made on the device */
  char              why[96];  /* it is the host's, though the matrix lives on the device */
  TrsvOutcome       outcome;  /* of the last factorisation on the device */
  PetscLogDouble    nonzeros, matrix; /* of this rank's matrix, and its bytes in compressed sparse rows */
  PetscObjectId     id;       /* of the matrix of the symbolic phase, */
  PetscObjectState  pattern;  /* and of its pattern, for the PC */
  size_t            held, peak; /* bytes on the device: by others when the first set-up began; the most during it, 0 where nobody knows */
  unsigned          mark;     /* since when that counts */
  SpTRSVGPUSettings settings;
  PetscBool         nonzero;  /* the shift is MAT_SHIFT_NONZERO, though PCILU says INBLOCKS for matrices of the device */
  TrsvMemory        home;     /* where the matrix lives */
  PetscBool         csr;      /* is it of type aij, or of one derived from that? only then are rows of PETSc's factor read */
  PetscBool         natural;  /* is the ordering the natural one? */
  PetscBool         multicolor;      /* is it one that was made here? */
  PetscBool         anymulticolor;   /* on any rank? */
  char              order[160]; /* why it is what it is, where that was for us to say */
  PetscReal         iteration[2]; /* seconds predicted of one in the natural order, and in the one that auto has taken; of the slowest rank */
  PetscInt         *row, *column; /* where not natural, and the host factors: the rows and columns of the matrix in the order of the factor */
  TrsvPair         *pair[2][2];   /* [memory][transposed], each made when it is first needed */
  PetscBool         empty;    /* that of home is made, but has no values yet */
  PetscBool         named;    /* an algorithm is, for solves on the host: they are not to be PETSc's own */
  PetscBool         filled;   /* there have been values since the symbolic phase */
  Vec               b, x;     /* on the device, for vectors of the host; made when needed */
  Vec               root, scaled; /* ICC: square roots of the pivots, for the symmetric halves of an apply, and what they are multiplied with; made when needed */
} SpTRSVGPU;

/* What KSPs have told of an order that auto has chosen, since the pattern was new; see seen.c. By order: the natural one, multicolor. */
typedef struct {
  KSPConvergedReason reason[2];     /* of the last one; KSP_CONVERGED_ITERATING: there was none */
  PetscInt           iterations[2]; /* of the last one that converged; 0: there was none */
  PetscInt           shorter;       /* with fewer than so many a solve in the natural order would be the shorter, by predicted times */
  PetscBool          unsymmetric;   /* have values been too far from symmetric for multicolor? */
} SpTRSVGPUSeen;

/* The triangles of the factor: ILU gives L with a unit diagonal and U, ICC = U^T D U gives L = U^T and D U. */
typedef struct {
  TrsvMatrix         L, U;
  const PetscScalar *l, *u;  /* their values */
  const PetscInt    *row, *column; /* the rows and columns of the matrix in their order, NULL where that is natural */
  TrsvMemory         memory; /* where all of it lives */
  PetscInt          *index;  /* what this owns */
  PetscScalar       *value;
  void              *copy;
} SpTRSVGPUTriangles;

PETSC_INTERN PetscErrorCode SpTRSVGPUCheckPetsc(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUNotInitialized(void);

PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesCreate(const SpTRSVGPU *, TrsvMemory, PetscBool whole, SpTRSVGPUTriangles *);
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
PETSC_INTERN PetscErrorCode SpTRSVGPUPairsBegin(Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUPairsSetValues(Mat);
/* The plan for L on the device, by which a factor may find its pivots; NULL where there is none yet */
static inline TrsvPlan *SpTRSVGPULowerPlan(const SpTRSVGPU *s)
{
  return s->pair[TRSV_DEVICE][0] ? s->pair[TRSV_DEVICE][0]->forward.plan : NULL;
}

/* Are solves in a memory PETSc's own, of its factor? Their halves are not: its ILU has none. */
static inline PetscBool SpTRSVGPUPetscSolves(const SpTRSVGPU *s, TrsvMemory memory)
{
  return (PetscBool)(memory == TRSV_HOST && s->host && !s->named);
}

PETSC_INTERN PetscErrorCode SpTRSVGPUGetPair(Mat, TrsvMemory, PetscBool, TrsvPair **);
PETSC_INTERN PetscErrorCode SpTRSVGPUCite(const TrsvPair *, PetscBool);
PETSC_INTERN PetscErrorCode SpTRSVGPUCiteOrdering(void);
PETSC_INTERN void           SpTRSVGPUCitationsForget(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetStream(TrsvMemory, TrsvStream *);
#define SPTRSVGPU_ONE_RANK_ORDERINGS \
  "On several ranks only the natural ordering; for another one use -pc_type bjacobi -sub_pc_type sptrsvgpu " \
  "-sub_pc_factor_mat_ordering_type ..."
PETSC_INTERN PetscErrorCode MatGetOrdering_Multicolor(Mat, MatOrderingType, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUOrderingOnHost(Mat, Mat, TrsvOrdering **);
PETSC_INTERN PetscErrorCode PCCreate_SpTRSVGPU(PC);
PETSC_INTERN PetscErrorCode PCCreate_Capellini(PC);

PETSC_INTERN PetscErrorCode SpTRSVGPUSeenNote(SpTRSVGPUSeen *, Mat, KSP, Vec);
PETSC_INTERN PetscErrorCode SpTRSVGPUSeenReconsider(SpTRSVGPUSeen *, Mat, Mat, PetscBool *);
PETSC_INTERN PetscErrorCode SpTRSVGPUSeenView(const SpTRSVGPUSeen *, Mat, PetscViewer);

PETSC_INTERN PetscErrorCode SpTRSVGPUGetLocal(Mat, Mat *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceAgainst(Mat, Mat, char[], size_t);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceNumeric(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheck(Mat, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostSymbolic(SpTRSVGPU *, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostNumeric(Mat, Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *, const MatFactorInfo *, PetscInt *, PetscReal *);

PETSC_INTERN PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL, SpTRSVGPU_SolveU, SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;

/* An error of src/kernels as PETSc's. */
PETSC_INTERN PetscErrorCode SpTRSVGPUErrorCode(TrsvError);
#define PetscCallTrsv(...) \
  do { \
    const TrsvError trsv_error_ = (__VA_ARGS__); \
    PetscCheck(!trsv_error_, PETSC_COMM_SELF, SpTRSVGPUErrorCode(trsv_error_), "%s", TrsvErrorMessage()); \
  } while (0)
