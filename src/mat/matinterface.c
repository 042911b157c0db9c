/*
   The functions of a factor Mat that programs call: which algorithms solve, and how they are chosen.
*/
#include "impl.h" /*I "sptrsvgpu.h" I*/

/* The data of a factor Mat, which must be of our type. */
PetscErrorCode SpTRSVGPUGetFactor(Mat F, SpTRSVGPU **s)
{
  PetscBool ours;

  PetscFunctionBegin;
  *s = NULL;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &ours));
  PetscCheck(ours, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG,
             "Not a factor of solver type %s; see PCFactorSetUpMatSolverType() and PCFactorGetMatrix()",
             MATSOLVERSPTRSVGPU);
  *s = (SpTRSVGPU *)F->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The names of all algorithms of this build. */
static PetscErrorCode GetNames(char names[], size_t size)
{
  const TrsvAlgorithm *a;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(names, "auto", size));
  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    PetscCall(PetscStrlcat(names, " ", size));
    PetscCall(PetscStrlcat(names, TrsvAlgorithmName(a), size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckTriangle(Mat F, SpTRSVGPUTriangle triangle)
{
  PetscFunctionBegin;
  PetscCheck(triangle == SPTRSVGPU_LOWER || triangle == SPTRSVGPU_UPPER, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_OUTOFRANGE, "%d is not a value of SpTRSVGPUTriangle", (int)triangle);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatSpTRSVGPUSetAlgorithm - sets the algorithm that solves with one triangle of the factor

   Logically Collective

   Input Parameters:
+  F         - the factor, of solver type `MATSOLVERSPTRSVGPU`
.  triangle  - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`
-  algorithm - its name, or "auto" to choose it from the triangle's statistics

   Options Database Keys:
+  -mat_sptrsvgpu_algorithm <name> - for both triangles
.  -mat_sptrsvgpu_lower <name>     - for L
-  -mat_sptrsvgpu_upper <name>     - for U

   Level: intermediate

   Notes:
   Call it between `PCFactorSetUpMatSolverType()` and the set-up of the `PC`, or on a factor that `MatGetFactor()`
   returns. All settings of a factor take effect in the next symbolic phase: with another pattern, or after `PCReset()`.

   -help and docs/algorithms.md list the names. The set-up fails if the algorithm does not run where the matrix is. On
   the host, auto leaves the solves to PETSc's factor.

.seealso: `MatSpTRSVGPUGetAlgorithm()`, `MatSpTRSVGPUGetChosenAlgorithm()`, `MatSpTRSVGPUSetSelection()`,
   `PCFactorSetUpMatSolverType()`, `PCFactorGetMatrix()`
@*/
PetscErrorCode MatSpTRSVGPUSetAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;
  PetscBool            automatic;
  char                 names[256];

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCall(CheckTriangle(F, triangle));
  PetscCall(PetscStrcmp(algorithm, "auto", &automatic));
  a = TrsvAlgorithmFind(algorithm);
  if (!a && !automatic) {
    PetscCall(GetNames(names, sizeof(names)));
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
.  algorithm - the name that was set, or "auto"

   Level: intermediate

.seealso: `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUGetChosenAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUGetAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char *algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
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
.  algorithm - its name; "petsc" (`MATSOLVERPETSC`) if PETSc's factor solves; "auto" before the first set-up

   Level: intermediate

.seealso: `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUGetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUGetChosenAlgorithm(Mat F, SpTRSVGPUTriangle triangle, const char *algorithm[])
{
  SpTRSVGPU  *s;
  TrsvIluInfo info;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCall(CheckTriangle(F, triangle));
  *algorithm = "auto";
  if (!s->has_values) PetscFunctionReturn(PETSC_SUCCESS);
  TrsvIluDescribe(s->ilu, &info);
  if (SpTRSVGPUPetscSolves(s, s->memory)) *algorithm = MATSOLVERPETSC;
  else if (info.planned)
    *algorithm = TrsvAlgorithmName(triangle == SPTRSVGPU_LOWER ? info.L.algorithm : info.U.algorithm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetSelection - sets how "auto" chooses an algorithm

   Logically Collective

   Input Parameters:
+  F         - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  selection - `SPTRSVGPU_SELECT_MODEL` (default), `SPTRSVGPU_SELECT_GRANULARITY` or `SPTRSVGPU_SELECT_TUNE`

   Options Database Key:
.  -mat_sptrsvgpu_select <model,granularity,tune> - how to choose

   Level: advanced

   Notes:
   model takes the algorithm with the shortest time predicted from the statistics of the triangle. The constants of the
   predictions were fitted on an NVIDIA H200 and are used for every GPU.

   granularity takes a thread-level algorithm if the parallel granularity of the triangle exceeds 0.7, otherwise a
   warp-level one, as CapelliniSpTRSV (ICPP 2020) does.

   tune measures solves with the first values of the factor: the model's choice, then other algorithms and settings,
   until the time of `MatSpTRSVGPUSetTuneSeconds()` is over. It checks each solution and takes the fastest algorithm
   that is correct. For a named algorithm it measures settings only. Times vary, so the choice and the last bits of a
   solution may differ from run to run.

   On the host nothing is chosen: PETSc's factor solves, unless an algorithm for the host is named.

.seealso: `MatSpTRSVGPUGetSelection()`, `MatSpTRSVGPUSetTuneSeconds()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetSelection(Mat F, SpTRSVGPUSelection selection)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscCheck(selection >= SPTRSVGPU_SELECT_MODEL && selection <= SPTRSVGPU_SELECT_TUNE, PetscObjectComm((PetscObject)F),
             PETSC_ERR_ARG_OUTOFRANGE, "%d is not a value of SpTRSVGPUSelection", (int)selection);
  s->settings.selection = selection;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetSelection - gets what `MatSpTRSVGPUSetSelection()` set

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  selection - how "auto" chooses an algorithm

   Level: advanced

.seealso: `MatSpTRSVGPUSetSelection()`
@*/
PetscErrorCode MatSpTRSVGPUGetSelection(Mat F, SpTRSVGPUSelection *selection)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(selection, 2);
  *selection = s->settings.selection;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetTuneSeconds - sets how long the measurements of `SPTRSVGPU_SELECT_TUNE` may take

   Logically Collective

   Input Parameters:
+  F       - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  seconds - for L and U together; 1 by default

   Options Database Key:
.  -mat_sptrsvgpu_tune_seconds <seconds> - time limit

   Level: advanced

   Note:
   The limit is wall-clock time. A measurement that has begun is completed.

.seealso: `MatSpTRSVGPUSetSelection()`, `MatSpTRSVGPUGetTuneSeconds()`
@*/
PetscErrorCode MatSpTRSVGPUSetTuneSeconds(Mat F, PetscReal seconds)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscCheck(seconds >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "Seconds to tune must not be negative, got %g", (double)seconds);
  s->settings.tune_seconds = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetTuneSeconds - gets what `MatSpTRSVGPUSetTuneSeconds()` set

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
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(seconds, 2);
  *seconds = s->settings.tune_seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetTimeout - sets how long a row may wait on the GPU for one value of another row

   Logically Collective

   Input Parameters:
+  F       - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  seconds - 30 by default; 0 for no limit

   Options Database Key:
.  -mat_sptrsvgpu_timeout <seconds> - time limit

   Level: advanced

   Notes:
   The limit holds from the next symbolic phase on, in the analysis, the factorization and the solves.

   A wait takes microseconds. It takes long where a debugger or a sanitizer slows the GPU down, or where another program
   occupies it. A solve that gives up ends with NaN in its solution, and the next solve or set-up fails with an error.
   The solve after that works again.

.seealso: `MatSpTRSVGPUGetTimeout()`
@*/
PetscErrorCode MatSpTRSVGPUSetTimeout(Mat F, PetscReal seconds)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscCheck(seconds >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE,
             "Seconds to wait must not be negative (0 means no limit), got %g", (double)seconds);
  s->settings.timeout = seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetTimeout - gets what `MatSpTRSVGPUSetTimeout()` set

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  seconds - that a row may wait for one value; 0 for no limit

   Level: advanced

.seealso: `MatSpTRSVGPUSetTimeout()`
@*/
PetscErrorCode MatSpTRSVGPUGetTimeout(Mat F, PetscReal *seconds)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetFactor(F, &s));
  PetscAssertPointer(seconds, 2);
  *seconds = s->settings.timeout;
  PetscFunctionReturn(PETSC_SUCCESS);
}
