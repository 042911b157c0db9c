/*
   What -pc_sptrsvgpu_ordering auto knows besides the pattern: how KSPs went in the order that it has chosen, and new values.

   Multicolor is taken because its shorter iterations pay for some more of them. Where it keeps the KSP from converging, or new values are far from symmetric,
   set-ups go back to the natural order. How many iterations that would take nobody knows; so the view tells how many there are in multicolor, and with how
   many the natural order's solve would be the shorter. It is not tried: the next solve has another right-hand side, another tolerance and another initial guess,
   by which a trial would judge wrongly more often than it could gain.
*/
#include "impl.h"

enum {
  NATURAL,
  MULTICOLOR,
  CUT = 100 /* iterations for which orders are compared: a KSP that is allowed fewer, as a smoother's estimate of eigenvalues is, does not fail for that */
};

/* Does this outcome tell of the order? Not where a KSP ends after a number of iterations that it was given, nor where A or b, not the factor, makes it fail. */
static PetscErrorCode Tells(KSP ksp, Vec b, KSPConvergedReason reason, PetscInt iterations, PetscBool *tells)
{
  PetscBool preonly;
  PetscReal norms[2];
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPPREONLY, &preonly));
  *tells = (PetscBool)!(preonly || reason == KSP_CONVERGED_ITS || reason == KSP_CONVERGED_ITERATING || (reason > 0 && !iterations) || (reason == KSP_DIVERGED_ITS && iterations < CUT) || reason == KSP_DIVERGED_INDEFINITE_MAT);
  if (reason == KSP_DIVERGED_NANORINF) {
    PetscCall(KSPGetOperators(ksp, NULL, &A));
    PetscCall(VecNorm(b, NORM_2, &norms[0]));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &norms[1]));
    *tells = (PetscBool)!(PetscIsInfOrNanReal(norms[0]) || PetscIsInfOrNanReal(norms[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUSeenNote(SpTRSVGPUSeen *seen, Mat F, KSP ksp, Vec b)
{
  const SpTRSVGPU   *s = (SpTRSVGPU *)F->data;
  KSPConvergedReason reason;
  PetscInt           iterations;
  PetscBool          tells = PETSC_FALSE;

  PetscFunctionBegin;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(Tells(ksp, b, reason, iterations, &tells));
  if (!tells) PetscFunctionReturn(PETSC_SUCCESS);
  seen->reason[s->anymulticolor] = reason;
  if (reason < 0) PetscFunctionReturn(PETSC_SUCCESS);
  seen->iterations[s->anymulticolor] = iterations;
  if (!s->anymulticolor) PetscFunctionReturn(PETSC_SUCCESS);
  seen->reason[NATURAL] = KSP_CONVERGED_ITERATING; /* should multicolor fail again, for other values, so may the natural order do again */
  seen->shorter         = (PetscInt)PetscCeilReal(iterations * s->iteration[MULTICOLOR] / s->iteration[NATURAL]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a set-up with new values in the same pattern: what auto is to keep from, in the settings of F. another: that needs a new symbolic phase. Where the KSP
   has failed in both orders it is multicolor, the shorter one, until it converges; values that were far from symmetric keep it away for good. */
PetscErrorCode SpTRSVGPUSeenReconsider(SpTRSVGPUSeen *seen, Mat F, Mat A, PetscBool *another)
{
  SpTRSVGPU      *s       = (SpTRSVGPU *)F->data;
  char           *against = s->settings.against;
  const PetscBool was     = (PetscBool)!!against[0];

  PetscFunctionBegin;
  *another = PETSC_FALSE;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (was) {
    if (!seen->unsymmetric && seen->reason[NATURAL] < 0) against[0] = 0;
  } else if (s->anymulticolor) {
    PetscCall(SpTRSVGPUDeviceAgainst(F, A, against, sizeof(s->settings.against)));
    if (against[0]) seen->unsymmetric = PETSC_TRUE;
    else if (seen->reason[MULTICOLOR] < 0 && seen->reason[NATURAL] >= 0) PetscCall(PetscSNPrintf(against, sizeof(s->settings.against), "in multicolor the KSP ended with %s", KSPConvergedReasons[seen->reason[MULTICOLOR]]));
  }
  *another = (PetscBool)(was != (PetscBool)!!against[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SpTRSVGPUSeenView(const SpTRSVGPUSeen *seen, Mat F, PetscViewer viewer)
{
  const SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO || !seen->iterations[MULTICOLOR]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  iterations of the last KSP that converged in multicolor: %" PetscInt_FMT "; the natural order's solve is predicted to be the shorter with fewer than %" PetscInt_FMT "\n", seen->iterations[MULTICOLOR], seen->shorter));
  if (seen->iterations[NATURAL]) PetscCall(PetscViewerASCIIPrintf(viewer, "  of the last one that converged in the natural order: %" PetscInt_FMT "\n", seen->iterations[NATURAL]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
