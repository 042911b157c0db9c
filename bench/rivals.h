/*
   rivals.h: systems, ways to solve them and their results, for rivals.c and rivals_run.c.
*/
#pragma once

#include "rival.h"
#include "systems.h"

typedef enum {
  UNCHECKED,
  NATURAL,
  MULTICOLOR,
  EITHER
} Order;

typedef struct {
  const char *name, *pc, *ordering;
  Order       check; /* the order of the ILU(0) whose result an apply must have */
  RivalKind   kind;  /* of PCSHELL */
  int         sweeps;
  PetscBool   device, cpu; /* with cgdevice; on the CPU */
} Way;

enum {
  WAYS      = 13,
  RUNS_MOST = 9,
  ROUNDS    = 5
};

typedef struct {
  double             setup[RUNS_MOST + 1], solve[RUNS_MOST + 1], residual; /* ms; the true residual over b */
  double             apply, error, analysis, update;                       /* ms; error: -1 if unchecked */
  int                runs;                                                 /* without the first */
  double             spent;
  PetscInt           iterations, most; /* most: where the limit stops */
  PetscBool          stopped, apart;
  KSPConvergedReason reason;
  char               failure[256];
} Result;

typedef struct {
  const char *name;
  PetscBool   cg;
  PetscInt    rows;
  double      nnz;
  Mat         A[2];        /* as it is, and permuted */
  IS          order;       /* of the permuted one */
  Vec         b, x[2];     /* on the host, in the order of A[0]: random; what ILU(0) of A[0] and of A[1] makes of it */
  Rival      *rival[WAYS];
  Result      r[WAYS];
} System;

typedef struct {
  FILE       *out;
  PetscInt    runs;
  PetscReal   limit;
  PetscBool   host, cpu, silent;
  char        without[256]; /* names of ways */
  PetscMPIInt ranks;
} Asked;

PETSC_INTERN const Way ways[WAYS];

/* One run. The first also measures applies, and checks the solution. */
PETSC_INTERN PetscErrorCode RivalsRun(System *s, int way, const Asked *asked, int run);

/* Shall there be another? */
PETSC_INTERN PetscBool RivalsAgain(const Result *r, const Asked *asked);
