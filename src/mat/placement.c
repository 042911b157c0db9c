/*
   The functions of a factor Mat for programs, continued: where the matrix is factored.
*/
#include "impl.h" /*I "sptrsvgpu.h" I*/

/*@
   MatSpTRSVGPUSetFactorization - sets where a matrix on a GPU is factored

   Logically Collective

   Input Parameters:
+  F             - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  factorization - `SPTRSVGPU_FACTOR_LOCATION_AUTO` (default), `SPTRSVGPU_FACTOR_LOCATION_DEVICE` or
                   `SPTRSVGPU_FACTOR_LOCATION_HOST`

   Options Database Key:
.  -mat_sptrsvgpu_factorization <auto,device,host> - where to factor

   Level: intermediate

   Notes:
   device is the GPU. host is PETSc's factorization on the host. auto is the GPU, unless one core of the host is
   predicted to be faster.

   The GPU computes ILU(0) and IC(0) with each of PETSc's shifts, in any order that is the same for rows and columns.
   Otherwise the host factors, also with device. The view shows where, and why.

   A matrix on the host is factored there by PETSc, also with device, so the same options serve with and without a GPU.

.seealso: `MatSpTRSVGPUGetFactorization()`, `MatSpTRSVGPUGetChosenFactorization()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetFactorization(Mat F, SpTRSVGPUFactorLocation factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscCheck(factorization >= SPTRSVGPU_FACTOR_LOCATION_AUTO && factorization <= SPTRSVGPU_FACTOR_LOCATION_HOST,
             PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "%d is not a value of SpTRSVGPUFactorLocation",
             (int)factorization);
  s->settings.factorization = factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetFactorization - gets what `MatSpTRSVGPUSetFactorization()` set

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  factorization - the value that was set

   Level: intermediate

.seealso: `MatSpTRSVGPUSetFactorization()`, `MatSpTRSVGPUGetChosenFactorization()`
@*/
PetscErrorCode MatSpTRSVGPUGetFactorization(Mat F, SpTRSVGPUFactorLocation *factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(factorization, 2);
  *factorization = s->settings.factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetChosenFactorization - gets where the matrix is factored

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  factorization - `SPTRSVGPU_FACTOR_LOCATION_HOST` or `SPTRSVGPU_FACTOR_LOCATION_DEVICE`;
                   `SPTRSVGPU_FACTOR_LOCATION_AUTO` before the symbolic phase

   Level: intermediate

.seealso: `MatSpTRSVGPUSetFactorization()`, `MatSpTRSVGPUGetFactorization()`
@*/
PetscErrorCode MatSpTRSVGPUGetChosenFactorization(Mat F, SpTRSVGPUFactorLocation *factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(factorization, 2);
  *factorization = SPTRSVGPU_FACTOR_LOCATION_AUTO;
  if (s->host) *factorization = SPTRSVGPU_FACTOR_LOCATION_HOST;
  else if (s->on_device) *factorization = SPTRSVGPU_FACTOR_LOCATION_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
