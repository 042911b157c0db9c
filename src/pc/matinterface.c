/*
   The functions of a factor Mat that programs call: which algorithms solve, and what chooses them; where it is factored.
*/
#include "impl.h"

static PetscErrorCode GetData(Mat F, SpTRSVGPU **s)
{
  PetscBool flg;

  PetscFunctionBegin;
  *s = NULL;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &flg));
  PetscCheck(flg, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "Not a factor of solver type %s; see PCFactorSetUpMatSolverType() and PCFactorGetMatrix()", MATSOLVERSPTRSVGPU);
  *s = (SpTRSVGPU *)F->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckTriangle(Mat F, SpTRSVGPUTriangle triangle)
{
  PetscFunctionBegin;
  PetscCheck(triangle == SPTRSVGPU_LOWER || triangle == SPTRSVGPU_UPPER, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_OUTOFRANGE, "No triangle of number %d", (int)triangle);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatSpTRSVGPUSetAlgorithm - sets the algorithm that solves with one triangle of the factor

   Logically Collective

   Input Parameters:
+  F         - the factor, of solver type `MATSOLVERSPTRSVGPU`
.  triangle  - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`
-  algorithm - its name, or "auto" for the choice from the triangle's statistics

   Options Database Keys:
+  -mat_sptrsvgpu_algorithm <name> - for both triangles
.  -mat_sptrsvgpu_lower <name>     - for L
-  -mat_sptrsvgpu_upper <name>     - for U

   Level: intermediate

   Notes:
   Call it between `PCFactorSetUpMatSolverType()` and the set-up of the `PC`, or on what `MatGetFactor()` returns. As all
   that is set of a factor, it holds from the next symbolic phase on: that of another pattern, or after `PCReset()`.

   `-help` and the file docs/algorithms.md list the names. An algorithm that does not run where the matrix lives is an error
   of the set-up. On the host auto leaves the solves to PETSc's own factor.

.seealso: `MatSpTRSVGPUGetAlgorithm()`, `MatSpTRSVGPUGetChosenAlgorithm()`, `MatSpTRSVGPUSetSelection()`, `PCFactorSetUpMatSolverType()`, `PCFactorGetMatrix()`
@*/
PetscErrorCode MatSpTRSVGPUSetAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;
  PetscBool            automatic;
  char                 names[256];

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCall(CheckTriangle(F, triangle));
  PetscCall(PetscStrcmp(algorithm, "auto", &automatic));
  a = TrsvAlgorithmFind(algorithm);
  if (!a && !automatic) {
    PetscCall(SpTRSVGPUGetNames(names, sizeof(names)));
    SETERRQ(PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_UNKNOWN_TYPE,
            "No triangular solve is named %s here; there are: %s%s", algorithm, names,
            PetscDefined(HAVE_CUDA) ? "" : " (built without CUDA)");
  }
  s->settings.algorithm[triangle] = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatSpTRSVGPUGetAlgorithm - gets what `MatSpTRSVGPUSetAlgorithm()` set

   Not Collective

   Input Parameters:
+  F        - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  triangle - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`

   Output Parameter:
.  algorithm - the name asked for, or "auto"

   Level: intermediate

.seealso: `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUGetChosenAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUGetAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char *algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCall(CheckTriangle(F, triangle));
  a          = s->settings.algorithm[triangle];
  *algorithm = a ? TrsvAlgorithmName(a) : "auto";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatSpTRSVGPUGetChosenAlgorithm - gets the algorithm that solves with one triangle of the factor

   Not Collective

   Input Parameters:
+  F        - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  triangle - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`

   Output Parameter:
.  algorithm - its name; "petsc" (`MATSOLVERPETSC`) where the solves are PETSc's own; "auto" before the first set-up

   Level: intermediate

.seealso: `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUGetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUGetChosenAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char *algorithm[])
{
  SpTRSVGPU  *s;
  TrsvIluInfo info;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCall(CheckTriangle(F, triangle));
  *algorithm = "auto";
  if (!s->has_values) PetscFunctionReturn(PETSC_SUCCESS);
  TrsvIluDescribe(s->ilu, &info);
  if (SpTRSVGPUPetscSolves(s, s->memory)) *algorithm = MATSOLVERPETSC;
  else *algorithm = TrsvAlgorithmName(triangle == SPTRSVGPU_LOWER ? info.L.algorithm : info.U.algorithm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetSelection - sets what chooses the algorithms that are left to "auto"

   Logically Collective

   Input Parameters:
+  F      - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  select - `SPTRSVGPU_SELECT_MODEL`, the default: the shortest time predicted from the factor's statistics;
            `SPTRSVGPU_SELECT_GRANULARITY`: thread-level where the factor's parallel granularity exceeds 0.7, else warp-level, as in
            CapelliniSpTRSV (ICPP 2020); or `SPTRSVGPU_SELECT_TUNE`: the shortest time measured

   Options Database Key:
.  -mat_sptrsvgpu_select <model,granularity,tune> - the same

   Level: advanced

   Notes:
   Where the matrix lives on the host nothing is chosen: the solves are PETSc's own, unless an algorithm of the host is named.

   The predictions' constants are those of an NVIDIA H200, scaled by what is measured of another GPU when the first prediction is asked for,
   once in a process and in some milliseconds; in coarse steps, so that the choice does not change from run to run.

   Tuning measures solves with the factor's first values, of the model's choice first, then of other algorithms and settings, as long as
   the time that `MatSpTRSVGPUSetTuneSeconds()` gives lasts, and checks that each solves the system. An algorithm that is named is
   kept; only the settings that it ranks are tried. As times vary, so may the choice, from run to run and with it the last bits of the result.

.seealso: `MatSpTRSVGPUGetSelection()`, `MatSpTRSVGPUSetTuneSeconds()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetSelection(Mat F, SpTRSVGPUSelection select)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscCheck(select == SPTRSVGPU_SELECT_MODEL || select == SPTRSVGPU_SELECT_GRANULARITY || select == SPTRSVGPU_SELECT_TUNE, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No selection of number %d", (int)select);
  s->settings.selection = select;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetSelection - gets what chooses the algorithms that are left to "auto"

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  select - see `MatSpTRSVGPUSetSelection()`

   Level: advanced

.seealso: `MatSpTRSVGPUSetSelection()`
@*/
PetscErrorCode MatSpTRSVGPUGetSelection(Mat F, SpTRSVGPUSelection *select)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(select, 2);
  *select = s->settings.selection;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetTuneSeconds - sets how long the measurements of `SPTRSVGPU_SELECT_TUNE` may take

   Logically Collective

   Input Parameters:
+  F       - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  seconds - for L and U together; 1 by default

   Options Database Key:
.  -mat_sptrsvgpu_tune_seconds <seconds> - the same

   Level: advanced

   Note:
   No further candidate is begun when the time is over; the one that is being measured comes to its end.

.seealso: `MatSpTRSVGPUSetSelection()`, `MatSpTRSVGPUGetTuneSeconds()`
@*/
PetscErrorCode MatSpTRSVGPUSetTuneSeconds(Mat F, PetscReal seconds)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscCheck(seconds >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "Seconds to tune must not be negative, got %g", (double)seconds);
  s->settings.tune = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetTuneSeconds - gets how long the measurements of `SPTRSVGPU_SELECT_TUNE` may take

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  seconds - for L and U together

   Level: advanced

.seealso: `MatSpTRSVGPUSetTuneSeconds()`
@*/
PetscErrorCode MatSpTRSVGPUGetTuneSeconds(Mat F, PetscReal *seconds)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(seconds, 2);
  *seconds = s->settings.tune;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetFactorization - sets where the factorization of a matrix on a GPU is computed

   Logically Collective

   Input Parameters:
+  F             - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  factorization - `SPTRSVGPU_FACTORIZATION_AUTO`, the default: on the GPU unless one processor is expected to be faster;
                   `SPTRSVGPU_FACTORIZATION_DEVICE`: on the GPU; `SPTRSVGPU_FACTORIZATION_HOST`: on the host, by PETSc

   Options Database Key:
.  -mat_sptrsvgpu_factorization <auto,device,host> - the same

   Level: intermediate

   Notes:
   The GPU factors ILU(0) and IC(0) in any order that is the same for rows and columns, with every shift that PETSc has. Levels of fill and other
   orderings are the host's whatever is asked for; the view says which it was, and why.

   A matrix that lives on the host is factored there, by PETSc, where `SPTRSVGPU_FACTORIZATION_AUTO` or `SPTRSVGPU_FACTORIZATION_DEVICE` is asked for, too, so that the
   same options serve with and without a GPU.

.seealso: `MatSpTRSVGPUGetFactorization()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetFactorization(Mat F, SpTRSVGPUFactorization factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscCheck(factorization >= SPTRSVGPU_FACTORIZATION_AUTO && factorization <= SPTRSVGPU_FACTORIZATION_HOST, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No factorization of number %d", (int)factorization);
  s->settings.factorization = factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetFactorization - gets what `MatSpTRSVGPUSetFactorization()` set

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  factorization - where the factorization was asked for

   Level: intermediate

.seealso: `MatSpTRSVGPUSetFactorization()`, `MatSpTRSVGPUGetChosenFactorization()`
@*/
PetscErrorCode MatSpTRSVGPUGetFactorization(Mat F, SpTRSVGPUFactorization *factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(factorization, 2);
  *factorization = s->settings.factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetChosenFactorization - gets where the factorization is computed

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  factorization - `SPTRSVGPU_FACTORIZATION_HOST` or `SPTRSVGPU_FACTORIZATION_DEVICE`;
                   `SPTRSVGPU_FACTORIZATION_AUTO` before the symbolic phase

   Level: intermediate

.seealso: `MatSpTRSVGPUSetFactorization()`, `MatSpTRSVGPUGetFactorization()`
@*/
PetscErrorCode MatSpTRSVGPUGetChosenFactorization(Mat F, SpTRSVGPUFactorization *factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(factorization, 2);
  *factorization = SPTRSVGPU_FACTORIZATION_AUTO;
  if (s->host) *factorization = SPTRSVGPU_FACTORIZATION_HOST;
  else if (s->on_device) *factorization = SPTRSVGPU_FACTORIZATION_DEVICE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
