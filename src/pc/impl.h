/*
   What the files of src/pc share: the data of the PC and of the factor Mat, and the functions of each file.

   pc.c         the PC types: PETSc's PCILU with our solver type, and a few of its operations wrapped
   matsolver.c  the factor Mat: creation and destruction
   symbolic.c   its symbolic phase: options, ordering, the pattern of the factor, the plans of the solves
   numeric.c    its numeric phase: the values
   solve.c      the solves
   device.c     what symbolic.c and numeric.c do for a factorization on the GPU
   host.c       the same for PETSc's factorization on the host; triangles.c reads its factor
   ordering.c   the order of rows and columns; index.c: 64-bit indices to 32 bits

   pcinterface.c, matinterface.c, placement.c   what programs call; options.c: the same by options
   view.c, citations.c                          what is printed
   register.c, version.c, filename.c            how the library is loaded; compat.h: older PETScs
   common.c                                     what several files use

   All work on one object of src/kernels, the TrsvIlu (trsv.h). docs/developing.md draws PCSetUp and PCApply.
*/
#pragma once

#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include <petscksp.h>
#include <sptrsvgpu.h>
#include <trsv.h>
#include "../petsc/compat.h"

/* PetscScalar in terms of src/kernels */
#if PetscDefined(USE_COMPLEX)
  #define SPTRSVGPU_PRECISION (sizeof(PetscReal) == sizeof(float) ? TRSV_COMPLEX_FLOAT : TRSV_COMPLEX_DOUBLE)
#else
  #define SPTRSVGPU_PRECISION (sizeof(PetscReal) == sizeof(float) ? TRSV_FLOAT : TRSV_DOUBLE)
#endif

/* What the user asks of a factor. The PC keeps it when a new pattern replaces the factor. */
typedef struct {
  const TrsvAlgorithm   *algorithm[2]; /* by SpTRSVGPUTriangle; NULL: auto */
  SpTRSVGPUSelection     selection;
  SpTRSVGPUFactorization factorization;
  SpTRSVGPUOrdering      ordering;           /* applies where PETSc's ordering is the natural one */
  char                   reason_natural[96]; /* why auto keeps to the natural order for this pattern; "": it need not */
  PetscReal              tune_seconds;
  PetscReal              timeout;            /* seconds that a wait on the GPU may take; 0: no limit */
  PetscBool              thread_level; /* capellini: auto takes thread-level kernels on a GPU */
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
  PetscObjectId     id;        /* of the matrix of the symbolic phase, */
  SpTRSVGPUSettings settings;
  PetscBool         nonzero_shift;     /* MAT_SHIFT_NONZERO, which PCILU replaces by INBLOCKS for matrices of a GPU */
  TrsvMemory        memory;            /* where the solves run */
  PetscBool         is_csr;            /* the block is of type aij; only then PETSc's factor is read as triangles */
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

/* The data of a PC, composed with it under this name. */
#define SPTRSVGPU_PC_DATA "SpTRSVGPU"
typedef struct {
  PetscBool          thread_level;      /* the PC type is capellini */
  MatFactorType      requested_kind;    /* MAT_FACTOR_NONE: by the matrix */
  MatFactorType      kind;              /* of the last set-up */
  const char        *kind_reason;       /* why, if none was requested */
  PetscBool          has_shift;         /* the user has set */
  MatFactorShiftType shift;             /* this shift type */
  char               given_ordering[64]; /* the MatOrderingType that the user has set; "": none */
  SpTRSVGPUOrdering  ordering;          /* of PCSpTRSVGPUSetOrdering() */
  PetscBool          has_ordering;      /* the user has set it */
  PetscBool          moves_diagonal;    /* the user has asked for nonzeros along the diagonal */
  PetscBool          skip_orderings;    /* during a set-up: PETSc makes no index sets */
  PetscBool          failed;            /* the last set-up ended with an error */
  PetscBool          keep_kind;         /* during a set-up: only the order changes, not the kind */
  Mat                factor;            /* a reference to PETSc's; NULL: none, or of another solver type */
  PetscBool          has_settings;      /* the next factor takes these: */
  SpTRSVGPUSettings  settings;
  /* operations of PETSc's PCILU, which ours call */
  PetscErrorCode (*setup)(PC);
  PetscErrorCode (*setfromoptions)(PC, SpTRSVGPUOptionItems);
  PetscErrorCode (*view)(PC, PetscViewer);
  PetscErrorCode (*reset)(PC);
  PetscErrorCode (*destroy)(PC);
  PetscErrorCode (*setupsolvertype)(PC);
  PetscErrorCode (*setshifttype)(PC, MatFactorShiftType);
  PetscErrorCode (*setordering)(PC, MatOrderingType);
  PetscErrorCode (*reorder)(PC, PetscReal);
} PC_SpTRSVGPU;

/* The triangles of PETSc's factor. ILU: L with a unit diagonal, and U. ICC = U^T D U: L = U^T, and D U. */
typedef struct {
  TrsvTriangles view;
  const int    *shared[2]; /* offsets and columns of L: of SpTRSVGPUGetIndices(), if it made them */
  int          *index;     /* memory of this object, into which view points */
  PetscScalar  *value;
} SpTRSVGPUTriangles;

/* register.c, version.c, filename.c, citations.c */
PETSC_INTERN PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL,
  SpTRSVGPU_SolveU, SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;
PETSC_INTERN PetscErrorCode SpTRSVGPUCheckPetsc(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUNotInitialized(void);
PETSC_INTERN PetscErrorCode SpTRSVGPUCite(const SpTRSVGPU *);
PETSC_INTERN PetscErrorCode SpTRSVGPUCiteOrdering(void);
PETSC_INTERN void           SpTRSVGPUForgetCitations(void);

/* common.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUErrorCode(TrsvError);
PETSC_INTERN PetscErrorCode SpTRSVGPUQueryPC(PC, PC_SpTRSVGPU **);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetPC(PC, PC_SpTRSVGPU **);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetLocal(Mat, Mat *);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetStream(TrsvMemory, TrsvStream *);

/* pc.c, matsolver.c, options.c, matinterface.c, view.c */
PETSC_INTERN PetscErrorCode PCCreate_SpTRSVGPU(PC);
PETSC_INTERN PetscErrorCode PCCreate_Capellini(PC);
PETSC_INTERN PetscErrorCode MatGetFactor_SpTRSVGPU(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode PCSetFromOptions_SpTRSVGPU(PC, SpTRSVGPUOptionItems);
PETSC_INTERN PetscErrorCode SpTRSVGPUSetFromOptions(Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetFactor(Mat, SpTRSVGPU **);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetNames(char[], size_t);
PETSC_INTERN PetscErrorCode PCView_SpTRSVGPU(PC, PetscViewer);
PETSC_INTERN PetscErrorCode MatView_SpTRSVGPU(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode SpTRSVGPUViewFromOptions(Mat);

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

/* index.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUCheckSize(PetscInt, PetscLogDouble);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetIndices(PetscInt, const PetscInt[], const int **);
PETSC_INTERN PetscErrorCode SpTRSVGPURestoreIndices(const int **);
PETSC_INTERN PetscErrorCode SpTRSVGPUCreateIS(PetscInt, const int[], IS *);

/* device.c, host.c, triangles.c */
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceCheckValues(Mat, Mat, char[], size_t);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceSymbolic(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUDeviceNumeric(Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheck(Mat, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostCheckKind(const SpTRSVGPU *, Mat);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostSymbolic(SpTRSVGPU *, Mat, IS, IS, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostNumeric(Mat, Mat, Mat, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SpTRSVGPUHostZeroPivot(const SpTRSVGPU *, const MatFactorInfo *, PetscInt *, PetscReal *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesCreate(const SpTRSVGPU *, SpTRSVGPUTriangles *);
PETSC_INTERN PetscErrorCode SpTRSVGPUTrianglesDestroy(SpTRSVGPUTriangles *);

/* Does PETSc's factor solve in this memory? */
static inline PetscBool SpTRSVGPUPetscSolves(const SpTRSVGPU *s, TrsvMemory memory)
{
  return (PetscBool)(memory == TRSV_HOST && s->host && !s->host_solver_named);
}

/* The factor of the last set-up, or NULL. PCFactorGetMatrix() would create one, which may fail. */
static inline Mat SpTRSVGPUCurrentFactor(PC pc, const PC_SpTRSVGPU *p) { return pc->setupcalled ? p->factor : NULL; }

/* Raises an error of src/kernels as PETSc's. */
#define SPTRSVGPU_TIMEOUT_ADVICE \
  ". If a tool or another program slows the GPU down, use -mat_sptrsvgpu_timeout with more seconds, or 0 for no limit"
#define PetscCallTrsv(...) \
  do { \
    const TrsvError trsv_error_ = (__VA_ARGS__); \
    PetscCheck(!trsv_error_, PETSC_COMM_SELF, SpTRSVGPUErrorCode(trsv_error_), "%s%s", TrsvErrorMessage(), \
               trsv_error_ == TRSV_ERR_TIMEOUT ? SPTRSVGPU_TIMEOUT_ADVICE : ""); \
  } while (0)
