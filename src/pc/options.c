/*
   The options of the PC. Each calls its function of pcinterface.c.
*/
#include "impl.h"

const char *const SpTRSVGPUOrderings[] = {"natural", "multicolor", "auto", "SpTRSVGPUOrdering",
                                          "SPTRSVGPU_ORDERING_", NULL};

PetscErrorCode PCSetFromOptions_SpTRSVGPU(PC pc, SpTRSVGPUOptionItems PetscOptionsObject)
{
  static const char *const kinds[] = {"ilu", "icc"};
  PC_SpTRSVGPU            *p;
  const char              *now;
  PetscInt                 kind;
  PetscEnum                ordering;
  PetscBool                set;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  now = p->requested_kind == MAT_FACTOR_NONE ? "by the matrix" : kinds[p->requested_kind == MAT_FACTOR_ICC];
  PetscOptionsHeadBegin(PetscOptionsObject, "Incomplete factorization with sparse triangular solves on a GPU");
  PetscCall(PetscOptionsEList("-pc_sptrsvgpu_factor", "Factorization; default: icc if the matrix is known to be SPD",
                              "PCSpTRSVGPUSetFactorType", kinds, 2, now, &kind, &set));
  if (set) PetscCall(PCSpTRSVGPUSetFactorType(pc, kind ? MAT_FACTOR_ICC : MAT_FACTOR_ILU));
  PetscCall(PetscOptionsEnum("-pc_sptrsvgpu_ordering", "Order in which the matrix is factored",
                             "PCSpTRSVGPUSetOrdering", SpTRSVGPUOrderings, (PetscEnum)p->ordering, &ordering, &set));
  if (set) PetscCall(PCSpTRSVGPUSetOrdering(pc, (SpTRSVGPUOrdering)ordering));
  PetscOptionsHeadEnd();
  PetscCall((*p->setfromoptions)(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}
