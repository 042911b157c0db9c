/*
   Registration: the functions that -dll_append and a program that links the library call.
*/
#include "../ksp/impl.h"
#include "../pc/impl.h"
#include "impl.h" /*I "sptrsvgpu.h" I*/

static PetscBool registered = PETSC_FALSE;

/* PETSc empties its lists at PetscFinalize(), so after another PetscInitialize() all is registered again. */
static PetscErrorCode Finalize(void)
{
  PetscFunctionBegin;
  registered = PETSC_FALSE;
  SpTRSVGPUForgetCitations();
  TrsvDeviceFinalize();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   SpTRSVGPURegister - registers the `PC` and `KSP` types, the solver type and the ordering of sptrsvgpu

   Not Collective

   Level: beginner

   Notes:
   The types are `PCSPTRSVGPU`, `PCCAPELLINI`, `KSPCGDEVICE`, `KSPBCGSDEVICE`, `MATSOLVERSPTRSVGPU` and
   `MATORDERINGMULTICOLOR`. A program that links the library calls this function after `PetscInitialize()`. A program
   that loads it with -dll_append need not call it. Calls after the first do nothing.

   It fails if the library was built for a PETSc of another minor version, with other scalars or indices, or with CUDA
   or SAWs if the PETSc that runs has none, and conversely.

.seealso: `MatSolverTypeRegister()`, `PCRegister()`, `MatOrderingRegister()`
@*/
PetscErrorCode SpTRSVGPURegister(void)
{
  /* derived types first: PETSc takes the first entry that is the beginning of the type's name */
  static const MatType types[] = {MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, MATSEQAIJ,   MATMPIAIJ,
                                  MATSEQBAIJ,        MATMPIBAIJ,        MATSEQSBAIJ, MATMPISBAIJ,
                                  MATSEQDENSE,       MATMPIDENSE,       MATCONSTANTDIAGONAL};

  PetscFunctionBegin;
  if (registered) PetscFunctionReturn(PETSC_SUCCESS);
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) PetscFunctionReturn(SpTRSVGPUNotInitialized());
  PetscCall(SpTRSVGPUCheckPetsc());
  registered = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(Finalize));
  /* first: MatInitializePackage() replaces the list of solver types */
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
  PetscCall(SpTRSVGPURegisterEvents());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc derives this name from libsptrsvgpu.so. No PetscCall(): the PETSc that calls may be another copy than the one
   this library is linked with, see SpTRSVGPUNotInitialized(). */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_sptrsvgpu(void) { return SpTRSVGPURegister(); }
