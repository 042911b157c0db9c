/*
   The functions of the PC types that programs call; pc.c composes what they do.
*/
#include "impl.h"
#include <petsc/private/pcimpl.h>

/*@
   PCSpTRSVGPUSetFactorType - sets whether the factorisation is ILU or ICC

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`
-  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`

   Options Database Key:
.  -pc_sptrsvgpu_factor <ilu,icc> - the same

   Level: intermediate

   Note:
   Where nobody says, it is ICC if the matrix is known to be symmetric positive definite at set-up (`MatSetOption()` with `MAT_SPD`), else
   ILU. The default of `PCFactorSetShiftType()` follows: positive definite for ICC, none for ILU.

.seealso: `PCSpTRSVGPUGetFactorType()`, `PCICC`, `PCILU`
@*/
PetscErrorCode PCSpTRSVGPUSetFactorType(PC pc, MatFactorType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCSpTRSVGPUSetFactorType_C", (PC, MatFactorType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetFactorType - tells whether the factorisation is ILU or ICC

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`; before the set-up `MAT_FACTOR_NONE` where nobody has said

   Level: intermediate

.seealso: `PCSpTRSVGPUSetFactorType()`
@*/
PetscErrorCode PCSpTRSVGPUGetFactorType(PC pc, MatFactorType *type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(type, 2);
  PetscUseMethod(pc, "PCSpTRSVGPUGetFactorType_C", (PC, MatFactorType *), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUSetOrdering - sets the order in which the matrix is factored

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`
-  ordering - `SPTRSVGPU_ORDERING_NATURAL`, the default; `SPTRSVGPU_ORDERING_MULTICOLOR`: multicolor, see `MATORDERINGMULTICOLOR`; or
              `SPTRSVGPU_ORDERING_AUTO`: the one of them that promises the shorter time to solution

   Options Database Key:
.  -pc_sptrsvgpu_ordering <natural,multicolor,auto> - the same

   Level: intermediate

   Notes:
   The order is made where the matrix lives, each rank orders its own rows. `PCFactorSetMatOrderingType()` is heeded: a type that is given there is taken
   in place of auto, and another than the one given here is an error of the set-up.

   auto keeps the natural order for solves on the host, where level sets cost nothing. On a GPU it takes multicolor where that is predicted to come to a
   solution sooner: what is left of the set-up once there are patterns, and a hundred iterations, 1.2 times as many in multicolor (1.05 times on grids of 5
   and 7 points). Never where the factorization without fill in the natural order is complete, nor where the values are far from symmetric: there a
   flow, or an elimination order, is often written into the natural order, and iterations rise several times. Where memory is too short for a factor in each
   order, it is the natural one.

   Set-ups with new values in the same pattern go from multicolor to the natural order where, for ILU, the values have become far from symmetric, for good; and
   where the last `KSP` of this `PC` did not converge, unless one does not converge in the natural order either. That does not count where it was cut off before a
   hundred iterations, or where the matrix is found indefinite, or it or the right-hand side not finite.

   Once a `KSP` has converged in multicolor, the view of the `PC` shows its iterations, and the number of iterations below which a solve in the natural order
   would be the shorter, by predicted times, without set-ups. The view of the factor says what was chosen, and why. "matrix ordering" is multicolor then.

.seealso: `PCSpTRSVGPUGetOrdering()`, `PCFactorSetMatOrderingType()`, `MATORDERINGMULTICOLOR`
@*/
PetscErrorCode PCSpTRSVGPUSetOrdering(PC pc, SpTRSVGPUOrdering ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCSpTRSVGPUSetOrdering_C", (PC, SpTRSVGPUOrdering), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetOrdering - tells the order in which the matrix is factored

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  ordering - after the set-up `SPTRSVGPU_ORDERING_MULTICOLOR` where `PCSpTRSVGPUSetOrdering()` has made it so, on any rank, else `SPTRSVGPU_ORDERING_NATURAL`;
              before it what was asked for

   Level: intermediate

.seealso: `PCSpTRSVGPUSetOrdering()`
@*/
PetscErrorCode PCSpTRSVGPUGetOrdering(PC pc, SpTRSVGPUOrdering *ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ordering, 2);
  PetscUseMethod(pc, "PCSpTRSVGPUGetOrdering_C", (PC, SpTRSVGPUOrdering *), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}
