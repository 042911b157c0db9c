/*
   The functions of the PC types that programs call; pc.c composes what they do.
*/
#include "impl.h"
#include <petsc/private/pcimpl.h>

/*@
   PCSpTRSVGPUSetFactorType - sets whether the factorization is ILU or ICC

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`
-  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`

   Options Database Key:
.  -pc_sptrsvgpu_factor <ilu,icc> - the same

   Level: intermediate

   Note:
   By default it is ICC if the matrix is known to be symmetric positive definite at set-up (`MatSetOption()` with
   `MAT_SPD`), else ILU. The default of `PCFactorSetShiftType()` follows: positive definite for ICC, none for ILU.

.seealso: `PCSpTRSVGPUGetFactorType()`, `PCSpTRSVGPUGetChosenFactorType()`, `PCICC`, `PCILU`
@*/
PetscErrorCode PCSpTRSVGPUSetFactorType(PC pc, MatFactorType type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCSpTRSVGPUSetFactorType_C", (PC, MatFactorType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetFactorType - gets what `PCSpTRSVGPUSetFactorType()` set

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`, or `MAT_FACTOR_NONE` where nothing was set

   Level: intermediate

.seealso: `PCSpTRSVGPUSetFactorType()`, `PCSpTRSVGPUGetChosenFactorType()`
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
   PCSpTRSVGPUGetChosenFactorType - gets whether the factorization of the last set-up is ILU or ICC

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`; `MAT_FACTOR_NONE` before the first set-up

   Level: intermediate

.seealso: `PCSpTRSVGPUSetFactorType()`, `PCSpTRSVGPUGetFactorType()`
@*/
PetscErrorCode PCSpTRSVGPUGetChosenFactorType(PC pc, MatFactorType *type)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(type, 2);
  PetscUseMethod(pc, "PCSpTRSVGPUGetChosenFactorType_C", (PC, MatFactorType *), (pc, type));
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
   The order is made where the matrix lives; each rank orders its own rows. A type given by
   `PCFactorSetMatOrderingType()` overrides auto; it is an error of the set-up if it contradicts natural or multicolor
   given here.

   auto keeps the natural order for solves on the host, where level sets cost nothing. On a GPU it takes multicolor where
   the predicted time to solution is shorter: the rest of the set-up and a hundred iterations, 1.2 times as many in
   multicolor (1.05 times on grids of 5 and 7 points). It keeps the natural order where the factorization without fill is
   complete in it, where memory is too short for a factor in each order, and where the values are far from symmetric:
   iterations often rise several times there.

   A set-up with new values in the same pattern goes from multicolor to the natural order where the values have become far
   from symmetric (ILU only). It stays there until the pattern changes.

   The view of the factor shows the order and the reason; "matrix ordering" in the view of the `PC` is multicolor then.

.seealso: `PCSpTRSVGPUGetOrdering()`, `PCSpTRSVGPUGetChosenOrdering()`, `PCFactorSetMatOrderingType()`, `MATORDERINGMULTICOLOR`
@*/
PetscErrorCode PCSpTRSVGPUSetOrdering(PC pc, SpTRSVGPUOrdering ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCSpTRSVGPUSetOrdering_C", (PC, SpTRSVGPUOrdering), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetOrdering - gets what `PCSpTRSVGPUSetOrdering()` set

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  ordering - the ordering asked for

   Level: intermediate

.seealso: `PCSpTRSVGPUSetOrdering()`, `PCSpTRSVGPUGetChosenOrdering()`
@*/
PetscErrorCode PCSpTRSVGPUGetOrdering(PC pc, SpTRSVGPUOrdering *ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ordering, 2);
  PetscUseMethod(pc, "PCSpTRSVGPUGetOrdering_C", (PC, SpTRSVGPUOrdering *), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetChosenOrdering - gets the ordering of the last set-up

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  ordering - `SPTRSVGPU_ORDERING_MULTICOLOR` where `PCSpTRSVGPUSetOrdering()` has led to it on any rank, else `SPTRSVGPU_ORDERING_NATURAL`

   Level: intermediate

.seealso: `PCSpTRSVGPUSetOrdering()`, `PCSpTRSVGPUGetOrdering()`
@*/
PetscErrorCode PCSpTRSVGPUGetChosenOrdering(PC pc, SpTRSVGPUOrdering *ordering)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ordering, 2);
  PetscUseMethod(pc, "PCSpTRSVGPUGetChosenOrdering_C", (PC, SpTRSVGPUOrdering *), (pc, ordering));
  PetscFunctionReturn(PETSC_SUCCESS);
}
