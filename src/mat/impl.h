/*
   The factor Mat of the MatSolverType sptrsvgpu: its data, and the functions of each file.

   matsolver.c  creation and destruction; log events
   symbolic.c   its symbolic phase: options, ordering, the pattern of the factor, the plans of the solves
   numeric.c    its numeric phase: the values
   solve.c      the solves
   device.c     what symbolic.c and numeric.c do for a factorization on the GPU
   host.c       the same for PETSc's factorization on the host; triangles.c reads its factor
   ordering.c   the order of rows and columns

   matinterface.c, placement.c  what programs call; options.c: the same by options
   view.c, citations.c          what is printed

   All work on one object of src/kernels, the TrsvIlu (trsv.h). docs/developing.md draws PCSetUp and PCApply.
*/
#pragma once

#include <sptrsvgpu.h>
#include "../petsc/common.h"

/* What the user asks of a factor. The PC keeps it when a new pattern replaces the factor. */
typedef struct {
  const TrsvAlgorithm    *algorithm[2]; /* by SpTRSVGPUTriangle; NULL: auto */
  SpTRSVGPUSelection      selection;
  SpTRSVGPUFactorLocation factorization;
  SpTRSVGPUOrdering       ordering;           /* applies where PETSc's ordering is the natural one */
  char                    reason_natural[96]; /* why auto keeps the natural order for this pattern; "": it need not */
  PetscReal               tune_seconds;
  PetscReal               timeout;      /* seconds that a wait on the GPU may take; 0: no limit */
  PetscBool               thread_level; /* capellini: auto takes thread-level kernels on a GPU */
} SpTRSVGPUSettings;

/* The data of a factor Mat. */
typedef struct {
  MatFactorType     kind;      /* MAT_FACTOR_ILU or MAT_FACTOR_ICC */
  TrsvIlu          *ilu;       /* the factorization on the GPU, and the solves */
  PetscBool         on_device; /* the GPU factors this rank's block */
  PetscBool         hermitian; /* as U^H D U, where PETSc's ICC is U^T D U: complex numbers only */
  Mat               host;      /* PETSc's factor of the block, if the host factors it */
  TrsvOutcome       outcome;   /* of the last factorization on the GPU */
  PetscLogDouble    nonzeros;  /* of this rank's block */
  PetscObjectId     id;        /* of this rank's block in the symbolic phase */
  PetscObjectState  pattern;   /* its nonzero state then */
  SpTRSVGPUSettings settings;
  PetscBool         nonzero_shift;     /* MAT_SHIFT_NONZERO, which PCILU replaces by INBLOCKS unless the type is aij */
  TrsvMemory        memory;            /* where the solves run */
  PetscBool         is_csr;            /* the block is of type aij; only then PETSc's factor is read as triangles */
  PetscBool         is_cusparse;       /* the block was of type aijcusparse in the symbolic phase */
  PetscBool         has_inodes;        /* PETSc's symbolic phase was of a matrix with i-nodes */
  PetscBool         is_natural;        /* the rows are factored in the order of the matrix */
  PetscBool         multicolor;        /* this rank's rows are factored in an order made here */
  PetscBool         any_multicolor;    /* some rank's rows are */
  PetscBool         not_positive;      /* a pivot of this rank, where auto expects positive ones */
  PetscBool         any_sign;          /* auto expects none with this pattern: the diagonal was not positive */
  int              *row, *column;      /* the order of the factor, if it is given or the host factors in it */
  PetscBool         host_solver_named; /* an algorithm for the host is named; otherwise PETSc solves there */
  PetscBool         has_values;        /* a numeric phase has succeeded since the symbolic phase */
  Vec               b, x;              /* on the GPU: copies of vectors on the host */
  Vec               root, scaled;      /* ICC: square roots of the pivots, and b multiplied by them */
} SpTRSVGPU;

/* The triangles of PETSc's factor. ILU: L with a unit diagonal, and U. ICC = U^T D U: L = U^T, and D U. */
typedef struct {
  TrsvTriangles view;
  const int    *shared[2]; /* offsets and columns of L: of SpTRSVGPUGetIndices(), if it made them */
  int          *index;     /* memory of this object, into which view points */
  PetscScalar  *value;
} SpTRSVGPUTriangles;

/* matsolver.c, options.c, matinterface.c, view.c, citations.c */
PETSC_INTERN PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL,
  SpTRSVGPU_SolveU, SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;
PETSC_INTERN PetscErrorCode SpTRSVGPURegisterEvents(void);
PETSC_INTERN PetscErrorCode MatGetFactor_SpTRSVGPU(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode SpTRSVGPUSetFromOptions(Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetFactor(Mat, SpTRSVGPU **);
PETSC_INTERN PetscErrorCode MatView_SpTRSVGPU(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode SpTRSVGPUViewFromOptions(Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUCite(const SpTRSVGPU *);
PETSC_INTERN PetscErrorCode SpTRSVGPUCiteOrdering(void);
PETSC_INTERN void           SpTRSVGPUForgetCitations(void);

/* symbolic.c, numeric.c, solve.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUReset(Mat);
PETSC_INTERN PetscErrorCode MatILUFactorSymbolic_SpTRSVGPU(Mat, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatICCFactorSymbolic_SpTRSVGPU(Mat, Mat, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode MatFactorNumeric_SpTRSVGPU(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUPrepare(Mat, TrsvMemory, PetscBool);
PETSC_INTERN PetscErrorCode SpTRSVGPUSetSolves(Mat);

/* ordering.c */
PETSC_INTERN PetscErrorCode MatGetOrdering_Multicolor(Mat, MatOrderingType, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUSetOrder(SpTRSVGPU *, PetscInt, const int *, const int *);
PETSC_INTERN PetscErrorCode SpTRSVGPUReadOrderings(Mat, Mat, IS, IS, IS *, IS *);
PETSC_INTERN PetscErrorCode SpTRSVGPUOrderOnHost(Mat, Mat, IS *, IS *);

/* device.c, host.c, triangles.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceCheckValues(Mat, Mat, char[], size_t);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceNumeric(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheck(Mat, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheckKind(const SpTRSVGPU *, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostSymbolic(SpTRSVGPU *, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostNumeric(Mat, Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *, const MatFactorInfo *, PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesReadable(const SpTRSVGPU *, PetscBool *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesCreate(const SpTRSVGPU *, SpTRSVGPUTriangles *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesDestroy(SpTRSVGPUTriangles *);

/* Does PETSc's factor solve in this memory? */
static inline PetscBool SpTRSVGPUPetscSolves(const SpTRSVGPU *s, TrsvMemory memory)
{
  return (PetscBool)(memory == TRSV_HOST && s->host && !s->host_solver_named);
}
