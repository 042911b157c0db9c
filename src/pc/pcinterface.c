/*
   The functions of the PC types that programs call. As in PETSc, a setter does nothing for a PC of another type, and a
   getter fails.
*/
#include "impl.h" /*I "sptrsvgpu.h" I*/

/* The data of a PC; NULL if the PC is of another type. */
static PetscErrorCode QueryPC(PC pc, PC_SpTRSVGPU **p)
{
  PetscFunctionBegin;
  *p = NULL;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectContainerQuery((PetscObject)pc, SPTRSVGPU_PC_DATA, (void *)p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data of a PC, which must be of our types. */
PetscErrorCode SpTRSVGPUGetPC(PC pc, PC_SpTRSVGPU **p)
{
  PetscFunctionBegin;
  PetscCall(QueryPC(pc, p));
  PetscCheck(*p, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "The PC is of type %s; this function is for %s and %s", ((PetscObject)pc)->type_name, PCSPTRSVGPU,
             PCCAPELLINI);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Discards the factor, as PCFactorSetLevels() does: the next set-up makes another. */
static PetscErrorCode DiscardFactor(PC pc)
{
  PetscFunctionBegin;
  PetscUseTypeMethod(pc, reset);
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUSetFactorType - sets whether the factorization is ILU or ICC

   Logically Collective

   Input Parameters:
+  pc   - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`
-  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`

   Options Database Key:
.  -pc_sptrsvgpu_factor <ilu,icc> - the factorization

   Level: intermediate

   Note:
   The default is ICC if the matrix is known to be symmetric positive definite at the set-up (`MatSetOption()` with
   `MAT_SPD`), otherwise ILU. The default of `PCFactorSetShiftType()` is then positive definite for ICC, none for ILU.
   PETSc forgets `MAT_SPD` when values are next assembled, unless `MAT_SPD_ETERNAL` is also set.

.seealso: `PCSpTRSVGPUGetFactorType()`, `PCSpTRSVGPUGetChosenFactorType()`, `PCICC`, `PCILU`
@*/
PetscErrorCode PCSpTRSVGPUSetFactorType(PC pc, MatFactorType type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(QueryPC(pc, &p));
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(type == MAT_FACTOR_ILU || type == MAT_FACTOR_ICC, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "The factor type must be MAT_FACTOR_ILU or MAT_FACTOR_ICC, not %s",
             MatFactorTypes[type]);
  if (pc->setupcalled && type != p->kind) PetscCall(DiscardFactor(pc));
  p->requested_kind = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetFactorType - gets what `PCSpTRSVGPUSetFactorType()` set

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  type - `MAT_FACTOR_ILU` or `MAT_FACTOR_ICC`; `MAT_FACTOR_NONE` if nothing was set

   Level: intermediate

.seealso: `PCSpTRSVGPUSetFactorType()`, `PCSpTRSVGPUGetChosenFactorType()`
@*/
PetscErrorCode PCSpTRSVGPUGetFactorType(PC pc, MatFactorType *type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscAssertPointer(type, 2);
  *type = p->requested_kind;
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
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscAssertPointer(type, 2);
  *type = pc->setupcalled ? p->kind : MAT_FACTOR_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUSetOrdering - sets the order in which the matrix is factored

   Logically Collective

   Input Parameters:
+  pc       - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`
-  ordering - `SPTRSVGPU_ORDERING_NATURAL` (default), `SPTRSVGPU_ORDERING_MULTICOLOR` or `SPTRSVGPU_ORDERING_AUTO`

   Options Database Key:
.  -pc_sptrsvgpu_ordering <natural,multicolor,auto> - the ordering

   Level: intermediate

   Notes:
   natural keeps the order of the matrix. multicolor is `MATORDERINGMULTICOLOR`. auto takes
   natural or multicolor, whichever has the shorter predicted time to solution.

   The ordering is made where the matrix is. Each rank orders its own rows. `PCFactorSetMatOrderingType()` overrides
   auto. If it contradicts natural or multicolor set here, the set-up fails.

   auto keeps the natural order if the solves run on the host, where level sets cost nothing. On a GPU it compares the
   predicted times of the rest of the set-up and some tens of iterations. It estimates from the values how much fill
   ILU(0) discards in both orders. The more it discards in multicolor, the more iterations it expects: many if the
   natural order follows a flow. It also keeps the natural order if ILU(0) in that order is a complete factorization,
   and if memory does not suffice for a factor in each order.

   A set-up with new values in the same pattern estimates the iterations again, but only for ILU of a matrix that is not
   known to be symmetric. It changes from multicolor to the natural order if that is now faster. auto keeps that order
   until the pattern changes.

   The view of the factor shows the order and the reason. "matrix ordering" in the view of the `PC` is then multicolor.

.seealso: `PCSpTRSVGPUGetOrdering()`, `PCSpTRSVGPUGetChosenOrdering()`, `PCFactorSetMatOrderingType()`,
   `MATORDERINGMULTICOLOR`
@*/
PetscErrorCode PCSpTRSVGPUSetOrdering(PC pc, SpTRSVGPUOrdering ordering)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(QueryPC(pc, &p));
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(ordering >= SPTRSVGPU_ORDERING_NATURAL && ordering <= SPTRSVGPU_ORDERING_AUTO,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "%d is not a value of SpTRSVGPUOrdering",
             (int)ordering);
  if (pc->setupcalled && ordering != p->ordering) PetscCall(DiscardFactor(pc));
  p->ordering     = ordering;
  p->has_ordering = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetOrdering - gets what `PCSpTRSVGPUSetOrdering()` set

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  ordering - the ordering that was set

   Level: intermediate

.seealso: `PCSpTRSVGPUSetOrdering()`, `PCSpTRSVGPUGetChosenOrdering()`
@*/
PetscErrorCode PCSpTRSVGPUGetOrdering(PC pc, SpTRSVGPUOrdering *ordering)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscAssertPointer(ordering, 2);
  *ordering = p->ordering;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSpTRSVGPUGetChosenOrdering - gets the ordering of the last set-up

   Not Collective

   Input Parameter:
.  pc - the preconditioner, of type `PCSPTRSVGPU` or `PCCAPELLINI`

   Output Parameter:
.  ordering - `SPTRSVGPU_ORDERING_MULTICOLOR` if `PCSpTRSVGPUSetOrdering()` has led to it on any rank, otherwise
              `SPTRSVGPU_ORDERING_NATURAL`

   Level: intermediate

.seealso: `PCSpTRSVGPUSetOrdering()`, `PCSpTRSVGPUGetOrdering()`
@*/
PetscErrorCode PCSpTRSVGPUGetChosenOrdering(PC pc, SpTRSVGPUOrdering *ordering)
{
  PC_SpTRSVGPU *p;
  Mat           F;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscAssertPointer(ordering, 2);
  F         = SpTRSVGPUCurrentFactor(pc, p);
  *ordering = F && ((SpTRSVGPU *)F->data)->any_multicolor ? SPTRSVGPU_ORDERING_MULTICOLOR : SPTRSVGPU_ORDERING_NATURAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
