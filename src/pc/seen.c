/*
   What -pc_sptrsvgpu_ordering auto remembers of the KSP, for set-ups with new values in the same pattern.

   Multicolour is taken because some more iterations are paid for. The KSP tells how many there are, and whether it converges; how many there would be in the
   natural order nobody knows, but the fewest that have been seen in multicolour are a guess. What later ones take longer than so many in the natural order
   would is added up; once it comes to the price of a pattern in either order, the natural one is tried for a set-up: as a skier who rents until that has cost as
   much as to buy. The order with the shorter solve stays. Each trial that multicolour wins makes the next four times as dear.
*/
#include "impl.h"

enum {
  NATURAL,
  BMC
};

/* How the KSP went in the order that auto has chosen. One that applies us once, or a fixed number of times, tells nothing. */
PetscErrorCode SpTRSVGPUSeenNote(SpTRSVGPUSeen *seen, Mat F, KSP ksp)
{
  const SpTRSVGPU   *s = (SpTRSVGPU *)F->data;
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscBool          preonly;

  PetscFunctionBegin;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  if (preonly || reason == KSP_CONVERGED_ITS || reason == KSP_CONVERGED_ITERATING) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  seen->reason[s->anybmc] = reason;
  if (reason < 0 || !iterations) PetscFunctionReturn(PETSC_SUCCESS);
  seen->iterations[s->anybmc] = iterations;
  if (!s->anybmc) PetscFunctionReturn(PETSC_SUCCESS);
  if (!seen->fewest || iterations < seen->fewest) seen->fewest = iterations;
  seen->seconds[NATURAL] = s->iteration[NATURAL];
  seen->seconds[BMC]     = s->iteration[BMC];
  seen->patterns         = s->patterns;
  seen->regret += PetscMax(0, iterations * s->iteration[BMC] - seen->fewest * s->iteration[NATURAL]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a set-up with new values: is it to be in multicolour no more? against: why. */
static PetscErrorCode Leave(SpTRSVGPUSeen *seen, Mat F, Mat A, char against[], size_t size)
{
  PetscFunctionBegin;
  if (seen->reason[BMC] < 0) PetscCall(PetscSNPrintf(against, size, "in multicolour the KSP ended with %s", KSPConvergedReasons[seen->reason[BMC]]));
  else if (seen->regret > PetscPowReal(4, seen->trials) * seen->patterns && !A->erroriffailure) { /* one that fails in a trial must not end the program */
    PetscCall(PetscSNPrintf(against, size, "tried, as iterations in multicolour went from %" PetscInt_FMT " to %" PetscInt_FMT, seen->fewest, seen->iterations[BMC]));
    seen->trial               = PETSC_TRUE;
    seen->iterations[NATURAL] = 0;
  } else PetscCall(SpTRSVGPUDeviceAgainst(F, A, against, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Or, having left it, to be in multicolour again? Where the natural order fails there is nothing to lose. */
static PetscBool Return(SpTRSVGPUSeen *seen)
{
  PetscBool longer;

  if (seen->reason[NATURAL] < 0) longer = PETSC_TRUE;
  else if (!seen->trial || !seen->iterations[NATURAL]) return PETSC_FALSE;
  else longer = (PetscBool)(seen->iterations[NATURAL] * seen->seconds[NATURAL] >= seen->iterations[BMC] * seen->seconds[BMC]);
  if (seen->trial && longer) {
    seen->trials++;
    seen->regret = 0;
    seen->fewest = seen->iterations[BMC];
  }
  seen->trial = PETSC_FALSE;
  return longer;
}

/* Before a set-up with new values in the same pattern: what auto is to keep from, in the settings of F. another: that needs a new symbolic phase. */
PetscErrorCode SpTRSVGPUSeenReconsider(SpTRSVGPUSeen *seen, Mat F, Mat A, PetscBool *another)
{
  SpTRSVGPU      *s       = (SpTRSVGPU *)F->data;
  char           *against = s->settings.against;
  const PetscBool was     = (PetscBool)!!against[0];

  PetscFunctionBegin;
  *another = PETSC_FALSE;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (was) {
    if (Return(seen)) against[0] = 0;
  } else if (s->anybmc && seen->reason[NATURAL] >= 0) PetscCall(Leave(seen, F, A, against, sizeof(s->settings.against)));
  *another = (PetscBool)(was != (PetscBool)!!against[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes that there is no factor in the natural order. Is it to be made in multicolour, which had not failed? */
PetscBool SpTRSVGPUSeenFailed(SpTRSVGPUSeen *seen, Mat F)
{
  const SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  if (!s->settings.against[0] || seen->reason[BMC] < 0) return PETSC_FALSE;
  seen->reason[NATURAL] = KSP_DIVERGED_PC_FAILED;
  return PETSC_TRUE;
}

PetscErrorCode SpTRSVGPUSeenView(const SpTRSVGPUSeen *seen, Mat F, PetscViewer viewer)
{
  const SpTRSVGPU *s = (SpTRSVGPU *)F->data;
  const PetscInt   natural = seen->iterations[NATURAL], bmc = seen->iterations[BMC];

  PetscFunctionBegin;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO || !bmc) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  iterations of the last KSP in multicolour %" PetscInt_FMT, bmc));
  if (natural) PetscCall(PetscViewerASCIIPrintf(viewer, ", in the natural order %" PetscInt_FMT, natural));
  PetscCall(PetscViewerASCIIPrintf(viewer, "; the natural order is predicted to be the quicker where it takes fewer than %.0f\n", (double)PetscCeilReal(bmc * seen->seconds[BMC] / seen->seconds[NATURAL])));
  PetscFunctionReturn(PETSC_SUCCESS);
}
