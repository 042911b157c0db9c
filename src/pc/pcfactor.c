/*
   PETSc's functions PCFactor...() that are wrapped for the PC types. Most remember what users set, and call PETSc's
   function.
*/
#include "impl.h"

static PetscErrorCode PCFactorReorderForNonzeroDiagonal_SpTRSVGPU(PC pc, PetscReal tolerance)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall((*p->reorder)(pc, tolerance));
  p->moves_diagonal = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetShiftType_SpTRSVGPU(PC pc, MatFactorShiftType shift)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall((*p->setshifttype)(pc, shift));
  p->has_shift = PETSC_TRUE;
  p->shift     = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetMatOrderingType_SpTRSVGPU(PC pc, MatOrderingType type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall((*p->setordering)(pc, type));
  PetscCall(PetscStrncpy(p->given_ordering, type, sizeof(p->given_ordering)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Discards a factor of another solver type: PCFactorSetUpMatSolverType() makes one before a set-up, and a set-up that
   fails leaves one. PETSc would keep the object and replace its contents by those of another type, or fail. */
static PetscErrorCode PCFactorSetMatSolverType_SpTRSVGPU(PC pc, MatSolverType type)
{
  PC_SpTRSVGPU *p;
  MatSolverType before;
  PetscBool     same;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall(PCFactorGetMatSolverType(pc, &before));
  PetscCall(PetscStrcmp(before, type, &same));
  if (!same && !pc->setupcalled) PetscUseTypeMethod(pc, reset);
  PetscCall((*p->setsolvertype)(pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetUseInPlace_SpTRSVGPU(PC pc, PetscBool flg)
{
  PetscFunctionBegin;
  PetscCheck(!flg, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type %s does not factor in place: the matrix stays as it is, and the factor has a layout of its own",
             ((PetscObject)pc)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  void (*function)(void);
} wrapped[] = {
  {"PCFactorSetShiftType_C",              (void (*)(void))PCFactorSetShiftType_SpTRSVGPU             },
  {"PCFactorSetMatOrderingType_C",        (void (*)(void))PCFactorSetMatOrderingType_SpTRSVGPU       },
  {"PCFactorReorderForNonzeroDiagonal_C", (void (*)(void))PCFactorReorderForNonzeroDiagonal_SpTRSVGPU},
  {"PCFactorSetUseInPlace_C",             (void (*)(void))PCFactorSetUseInPlace_SpTRSVGPU            },
  {"PCFactorSetMatSolverType_C",          (void (*)(void))PCFactorSetMatSolverType_SpTRSVGPU         },
};

PetscErrorCode SpTRSVGPUWrapPCFactor(PC pc, PC_SpTRSVGPU *p)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetShiftType_C", &p->setshifttype));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetMatOrderingType_C", &p->setordering));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorReorderForNonzeroDiagonal_C", &p->reorder));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetMatSolverType_C", &p->setsolvertype));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(wrapped); i++)
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, wrapped[i].name, wrapped[i].function));
  PetscFunctionReturn(PETSC_SUCCESS);
}
