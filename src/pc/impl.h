/*
   The PC types: their data, and the functions of each file.

   pc.c            PETSc's PCILU with our solver type, and a few of its operations wrapped
   pcfactor.c      PETSc's functions PCFactor...() wrapped
   pcinterface.c   what programs call
   options.c       the same by options
   view.c          what is printed
*/
#pragma once

#include <petsc/private/pcimpl.h>
#include <petscksp.h>
#include "../mat/impl.h"

/* The data of a PC, composed with it under this name. */
#define SPTRSVGPU_PC_DATA "SpTRSVGPU"
typedef struct {
  PetscBool          thread_level;      /* the PC type is capellini */
  MatFactorType      requested_kind;    /* MAT_FACTOR_NONE: by the matrix */
  MatFactorType      kind;              /* of the last set-up */
  const char        *kind_reason;       /* why, if none was requested */
  PetscBool          by_spd;            /* ICC, because the matrix was known to be SPD */
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
  PetscErrorCode (*setsolvertype)(PC, MatSolverType);
} PC_SpTRSVGPU;

/* pc.c, pcfactor.c, pcinterface.c, options.c, view.c */
PETSC_INTERN PetscErrorCode PCCreate_SpTRSVGPU(PC);
PETSC_INTERN PetscErrorCode PCCreate_Capellini(PC);
PETSC_INTERN PetscErrorCode SpTRSVGPUWrapPCFactor(PC, PC_SpTRSVGPU *);
PETSC_INTERN PetscErrorCode SpTRSVGPUGetPC(PC, PC_SpTRSVGPU **);
PETSC_INTERN PetscErrorCode PCSetFromOptions_SpTRSVGPU(PC, SpTRSVGPUOptionItems);
PETSC_INTERN PetscErrorCode PCView_SpTRSVGPU(PC, PetscViewer);

/* The factor of the last set-up, or NULL. PCFactorGetMatrix() would create one, which may fail. */
static inline Mat SpTRSVGPUCurrentFactor(PC pc, const PC_SpTRSVGPU *p) { return pc->setupcalled ? p->factor : NULL; }
