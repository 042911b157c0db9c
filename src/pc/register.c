/*
   Registration: what -dll_append finds in the library, and what a program that links it calls.
*/
#include "../ksp/impl.h"
#include <petsc/private/pcimpl.h>

static PetscBool registered = PETSC_FALSE;

/* PETSc empties its lists at PetscFinalize(); another PetscInitialize() starts anew. */
static PetscErrorCode Finalize(void)
{
  PetscFunctionBegin;
  registered = PETSC_FALSE;
  SpTRSVGPUCitationsForget();
  TrsvDeviceFinalize();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   SpTRSVGPURegister - makes the solver type `MATSOLVERSPTRSVGPU`, the `PC` types `PCSPTRSVGPU` and `PCCAPELLINI` and the ordering `MATORDERINGMULTICOLOR` known to PETSc

   Not Collective

   Level: beginner

   Note:
   For programs that link the library; -dll_append calls it by itself. Calls after the first do nothing. It is an error where the library was built for another
   version of PETSc, other scalars or indices, or with CUDA where the PETSc that runs has none, or without.

.seealso: `MatSolverTypeRegister()`, `PCRegister()`, `MatOrderingRegister()`
@*/
PetscErrorCode SpTRSVGPURegister(void)
{
  /* looked up by the beginning of the type's name: derived types first */
  static const MatType types[] = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, MATSEQAIJ,    MATMPIAIJ,   MATSEQBAIJ, MATMPIBAIJ,
                                  MATSEQSBAIJ,       MATMPISBAIJ,       MATSEQDENSE, MATMPIDENSE, MATCONSTANTDIAGONAL};

  PetscFunctionBegin;
  if (registered) PetscFunctionReturn(PETSC_SUCCESS);
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) PetscFunctionReturn(SpTRSVGPUNotInitialized());
  PetscCall(SpTRSVGPUCheckPetsc());
  registered = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(Finalize));
  /* first, or PETSc's own list of solver types would be overwritten */
  PetscCall(MatInitializePackage());
  PetscCall(PCInitializePackage());
  PetscCall(KSPInitializePackage());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(types); i++) {
    PetscCall(MatSolverTypeRegister(MATSOLVERSPTRSVGPU, types[i], MAT_FACTOR_ILU, MatGetFactor_SpTRSVGPU));
    PetscCall(MatSolverTypeRegister(MATSOLVERSPTRSVGPU, types[i], MAT_FACTOR_ICC, MatGetFactor_SpTRSVGPU));
  }
  PetscCall(MatOrderingRegister(MATORDERINGMULTICOLOR, MatGetOrdering_Multicolor));
  PetscCall(PCRegister(PCSPTRSVGPU, PCCreate_SpTRSVGPU));
  PetscCall(PCRegister(PCCAPELLINI, PCCreate_Capellini));
  PetscCall(KSPRegister(KSPCGDEVICE, KSPCreate_CGDevice));
  PetscCall(KSPRegister(KSPBCGSDEVICE, KSPCreate_BCGSDevice));
  PetscCall(PetscLogEventRegister("SpTRSVSymbolic", MAT_CLASSID, &SpTRSVGPU_Symbolic));
  PetscCall(PetscLogEventRegister("SpTRSVNumeric", MAT_CLASSID, &SpTRSVGPU_Numeric));
  PetscCall(PetscLogEventRegister("SpTRSVAnalysis", MAT_CLASSID, &SpTRSVGPU_Analysis));
  PetscCall(PetscLogEventRegister("SpTRSVSolveL", MAT_CLASSID, &SpTRSVGPU_SolveL));
  PetscCall(PetscLogEventRegister("SpTRSVSolveU", MAT_CLASSID, &SpTRSVGPU_SolveU));
  PetscCall(PetscLogEventRegister("SpTRSVSolveLU", MAT_CLASSID, &SpTRSVGPU_SolveLU));
  PetscCall(PetscLogEventRegister("SpTRSVFactorGPU", MAT_CLASSID, &SpTRSVGPU_FactorDevice));
  PetscCall(PetscLogEventRegister("SpTRSVFactorCPU", MAT_CLASSID, &SpTRSVGPU_FactorHost));
  /* ranks go different ways, each by its own rows: with -log_sync they would wait for each other in different places */
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_Analysis, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_SolveL, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_SolveU, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_SolveLU, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_FactorDevice, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(SpTRSVGPU_FactorHost, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name that PETSc derives from libsptrsvgpu.so. An error is only handed on: the PETSc that calls may be another copy
   than the one that this file is linked with; see SpTRSVGPUNotInitialized(). */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sptrsvgpu(void) { return SpTRSVGPURegister(); }
