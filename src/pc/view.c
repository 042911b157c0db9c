/*
   What a PC prints: the kind of factorization, and PETSc's view of PCILU, which prints the factor.
*/
#include "impl.h"

/* PETSc's view prints the MatOrderingType that it knows, which is natural if the order is made here. So multicolor is
   set for the time of that view; PETSc takes another type only before the set-up. */
static PetscErrorCode ViewPCILU(PC pc, const PC_SpTRSVGPU *p, PetscBool multicolor, PetscViewer viewer)
{
  const int called = (int)pc->setupcalled;

  PetscFunctionBegin;
  pc->setupcalled = PETSC_FALSE;
  if (multicolor) PetscCall((*p->setordering)(pc, MATORDERINGMULTICOLOR));
  pc->setupcalled = called;
  PetscCall((*p->view)(pc, viewer));
  pc->setupcalled = PETSC_FALSE;
  if (multicolor) PetscCall((*p->setordering)(pc, MATORDERINGNATURAL));
  pc->setupcalled = called;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_SpTRSVGPU(PC pc, PetscViewer viewer)
{
  PC_SpTRSVGPU    *p;
  const SpTRSVGPU *s;
  Mat              F;
  PetscBool        ascii, string, by_matrix;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  /* PETSc's view reads the factor, which there may not be */
  if (string && (!pc->setupcalled || p->failed)) PetscFunctionReturn(PETSC_SUCCESS);
  F         = SpTRSVGPUCurrentFactor(pc, p);
  s         = F ? (const SpTRSVGPU *)F->data : NULL;
  by_matrix = (PetscBool)(p->requested_kind == MAT_FACTOR_NONE);
  if (ascii) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
    if (F)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s factorization%s%s\n",
                                       F->factortype == MAT_FACTOR_ICC ? "incomplete Cholesky" : "incomplete LU",
                                       by_matrix ? ", " : "", by_matrix ? p->kind_reason : ""));
    if (size > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  block Jacobi: one block for each of %d ranks\n", size));
    if (F && p->thread_level)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n",
                                       s->memory == TRSV_DEVICE ?
                                         "thread-level kernels preferred" :
                                         "on the host the same as " PCSPTRSVGPU));
  }
  PetscCall(ViewPCILU(pc, p, (PetscBool)(s && s->any_multicolor), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
