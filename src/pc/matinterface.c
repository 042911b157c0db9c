/*
   The functions of a factor Mat that programs call: which algorithms solve, with what settings, and what chooses them; where it is factored.
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

/*@C
   MatSpTRSVGPUSetAlgorithm - names the algorithm that solves with one of the two factors

   Logically Collective

   Input Parameters:
+  F         - the factor, of solver type `MATSOLVERSPTRSVGPU`
.  factor    - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`
-  algorithm - its name, or "auto" for the choice from the factor's statistics

   Options Database Keys:
+  -mat_sptrsvgpu_algorithm <name> - for both factors
.  -mat_sptrsvgpu_lower <name>     - for L
-  -mat_sptrsvgpu_upper <name>     - for U

   Level: intermediate

   Notes:
   To be called between `PCFactorSetUpMatSolverType()` and the set-up of the `PC`, or on what `MatGetFactor()` returns. After that it holds, as all that is set of a
   factor, from the next symbolic phase on: that of another pattern, or after `PCReset()`. The algorithms are
   serial on the host, where auto leaves the solves to PETSc's own factor; chunk, inverse, thread, sell, warp, level, csc, twophase, fusion, ag, recblock, dense and cusparse on a GPU. csc sums in no fixed order: the bits of a
   solution may differ from solve to solve. level refuses factors of more than 65,536 level sets. auto never chooses level, csc, twophase, fusion, ag, recblock, dense,
   warp or cusparse by prediction. One that does not run where the matrix lives is an error of the set-up.

.seealso: `MatSpTRSVGPUGetAlgorithm()`, `MatSpTRSVGPUSetSelect()`, `PCFactorSetUpMatSolverType()`, `PCFactorGetMatrix()`
@*/
PetscErrorCode MatSpTRSVGPUSetAlgorithm(Mat F, SpTRSVGPUFactor factor, const char algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;
  PetscBool            automatic;
  char                 names[256];

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCheck(factor == SPTRSVGPU_LOWER || factor == SPTRSVGPU_UPPER, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No factor of number %d", (int)factor);
  PetscCall(PetscStrcmp(algorithm, "auto", &automatic));
  a = TrsvAlgorithmFind(algorithm);
  if (!a && !automatic) {
    PetscCall(SpTRSVGPUGetNames(names, sizeof(names)));
    SETERRQ(PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_UNKNOWN_TYPE, "No triangular solve is named %s here; there are: %s%s", algorithm, names, PetscDefined(HAVE_CUDA) ? "" : " (built without CUDA)");
  }
  s->settings.algorithm[factor] = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   MatSpTRSVGPUGetAlgorithm - tells which algorithm solves with one of the two factors

   Not Collective

   Input Parameters:
+  F      - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  factor - `SPTRSVGPU_LOWER` or `SPTRSVGPU_UPPER`

   Output Parameter:
.  algorithm - its name: the one chosen once the factor is there, "petsc" (`MATSOLVERPETSC`) where its solves are PETSc's own; before that the one asked for or "auto"

   Level: intermediate

.seealso: `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUGetAlgorithm(Mat F, SpTRSVGPUFactor factor, const char *algorithm[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;
  const TrsvPair      *pair;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 3);
  PetscCheck(factor == SPTRSVGPU_LOWER || factor == SPTRSVGPU_UPPER, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No factor of number %d", (int)factor);
  pair       = s->pair[s->home][0];
  a          = !pair ? s->settings.algorithm[factor] : factor == SPTRSVGPU_LOWER ? pair->forward.algorithm : pair->backward.algorithm;
  *algorithm = a ? TrsvAlgorithmName(a) : "auto";
  if (s->filled && SpTRSVGPUPetscSolves(s, s->home)) *algorithm = MATSOLVERPETSC; /* a pair would be of the halves */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row of the table where an algorithm stands. */
static int Row(const TrsvAlgorithm *a)
{
  int i = 0;

  while (TrsvAlgorithmGet(i) && TrsvAlgorithmGet(i) != a) i++;
  return i;
}

const char *SpTRSVGPUWords(const SpTRSVGPUSettings *s, const TrsvAlgorithm *a)
{
  const char *words = a && Row(a) < SPTRSVGPU_WORDS ? s->words[Row(a)] : "";

  return *words ? words : NULL;
}

/*@C
   MatSpTRSVGPUSetSettings - gives settings of an algorithm, for factors that are solved by it because it is named

   Logically Collective

   Input Parameters:
+  F         - the factor, of solver type `MATSOLVERSPTRSVGPU`
.  algorithm - the algorithm's name
-  settings  - words "name=value", spaces between them; "" for the algorithm's own choice

   Options Database Key:
.  -mat_sptrsvgpu_<algorithm>_<name> <value> - one of the settings; `-help` lists those of this build and what they may be

   Level: advanced

   Notes:
   They take the place of those given before. What they leave open the algorithm chooses. Where it is chosen by "auto" it chooses all of its
   settings. `SPTRSVGPU_SELECT_TUNE` keeps to them. Every algorithm knows rank=N, which has no option: its own choice N by predicted time, 0 being the best.

   `MatView()` of a factor that has been set up shows the settings in use; those of a tuned factor can all be given here.

.seealso: `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUSetSelect()`
@*/
PetscErrorCode MatSpTRSVGPUSetSettings(Mat F, const char algorithm[], const char settings[])
{
  SpTRSVGPU           *s;
  const TrsvAlgorithm *a;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(algorithm, 2);
  PetscAssertPointer(settings, 3);
  a = TrsvAlgorithmFind(algorithm);
  PetscCheck(a && Row(a) < SPTRSVGPU_WORDS, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_UNKNOWN_TYPE, "No triangular solve is named %s here", algorithm);
  PetscCheck(strlen(settings) < sizeof(s->settings.words[0]), PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_SIZ, "Settings of more than %zu characters", sizeof(s->settings.words[0]) - 1);
  PetscCallTrsv(TrsvAlgorithmCheck(a, settings));
  PetscCall(PetscStrncpy(s->settings.words[Row(a)], settings, sizeof(s->settings.words[0])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUSetSelect - sets what chooses the algorithms that are left to "auto"

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
   Where the matrix lives on the host nothing is chosen: the solves are PETSc's own, unless serial is named.

   The predictions' constants are those of an NVIDIA H200, scaled by what is measured of another GPU when the first prediction is asked for,
   once in a process and in some milliseconds; in coarse steps, so that the choice does not change from run to run.

   Tuning measures solves with the factor's first values, of the model's choice first, then of other algorithms and settings, as long as
   the time that `MatSpTRSVGPUSetTuneSeconds()` gives lasts, and checks that each solves the system. An algorithm that is named is
   kept; only its settings are tried. As times vary, so may the choice, from run to run and with it the last bits of the result.

.seealso: `MatSpTRSVGPUGetSelect()`, `MatSpTRSVGPUSetTuneSeconds()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetSelect(Mat F, SpTRSVGPUSelect select)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscCheck(select == SPTRSVGPU_SELECT_MODEL || select == SPTRSVGPU_SELECT_GRANULARITY || select == SPTRSVGPU_SELECT_TUNE, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No selection of number %d", (int)select);
  s->settings.select = select;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetSelect - tells what chooses the algorithms that are left to "auto"

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  select - see `MatSpTRSVGPUSetSelect()`

   Level: advanced

.seealso: `MatSpTRSVGPUSetSelect()`
@*/
PetscErrorCode MatSpTRSVGPUGetSelect(Mat F, SpTRSVGPUSelect *select)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(select, 2);
  *select = s->settings.select;
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

.seealso: `MatSpTRSVGPUSetSelect()`, `MatSpTRSVGPUGetTuneSeconds()`
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
   MatSpTRSVGPUGetTuneSeconds - tells how long the measurements of `SPTRSVGPU_SELECT_TUNE` may take

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
   MatSpTRSVGPUSetFactorization - sets where the factorisation of a matrix on a GPU is computed

   Logically Collective

   Input Parameters:
+  F             - the factor, of solver type `MATSOLVERSPTRSVGPU`
-  factorization - `SPTRSVGPU_FACTORIZATION_AUTO`, the default: on the GPU unless one processor is expected to be faster;
                   `SPTRSVGPU_FACTORIZATION_DEVICE`: on the GPU; `SPTRSVGPU_FACTORIZATION_HOST`: on the host, by PETSc; or
                   `SPTRSVGPU_FACTORIZATION_CUSPARSE`: on the GPU by cuSPARSE's deprecated csrilu02, for comparison, ILU(0) in the natural
                   order without shifts alone, where a pivot is zero if it is 0

   Options Database Key:
.  -mat_sptrsvgpu_factorization <auto,device,host,cusparse> - the same

   Level: intermediate

   Notes:
   The GPU factors ILU(0) and IC(0) in any order that is the same for rows and columns, with every shift that PETSc has. Levels of fill and other
   orderings are the host's whatever is asked for; the view says which it was, and why.

   A matrix that lives on the host is factored there, by PETSc, where `SPTRSVGPU_FACTORIZATION_AUTO` or `SPTRSVGPU_FACTORIZATION_DEVICE` is asked for, too, so that the
   same options serve with and without a GPU. `SPTRSVGPU_FACTORIZATION_CUSPARSE` is an error then, as it is for all that csrilu02 cannot do.

.seealso: `MatSpTRSVGPUGetFactorization()`, `MatSpTRSVGPUSetAlgorithm()`
@*/
PetscErrorCode MatSpTRSVGPUSetFactorization(Mat F, SpTRSVGPUFactorization factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscCheck(factorization >= SPTRSVGPU_FACTORIZATION_AUTO && factorization <= SPTRSVGPU_FACTORIZATION_CUSPARSE, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "No factorization of number %d", (int)factorization);
  s->settings.factorization = factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSpTRSVGPUGetFactorization - tells where the factorisation is computed

   Not Collective

   Input Parameter:
.  F - the factor, of solver type `MATSOLVERSPTRSVGPU`

   Output Parameter:
.  factorization - where it was, once there is a symbolic factor; before that what was asked for

   Level: intermediate

.seealso: `MatSpTRSVGPUSetFactorization()`
@*/
PetscErrorCode MatSpTRSVGPUGetFactorization(Mat F, SpTRSVGPUFactorization *factorization)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(GetData(F, &s));
  PetscAssertPointer(factorization, 2);
  *factorization = s->host ? SPTRSVGPU_FACTORIZATION_HOST : s->factor && s->settings.factorization != SPTRSVGPU_FACTORIZATION_CUSPARSE ? SPTRSVGPU_FACTORIZATION_DEVICE : s->settings.factorization;
  PetscFunctionReturn(PETSC_SUCCESS);
}
