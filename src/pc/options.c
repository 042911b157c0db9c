/*
   The options of a factor Mat; each calls its function of matinterface.c.
*/
#include "impl.h"

const char *const SpTRSVGPUFactorizations[] = {"auto", "device", "host", "SpTRSVGPUFactorization", "SPTRSVGPU_FACTORIZATION_", NULL};
const char *const SpTRSVGPUOrderings[]      = {"natural", "multicolor", "auto", "SpTRSVGPUOrdering", "SPTRSVGPU_ORDERING_", NULL};
const char *const SpTRSVGPUSelections[]    = {"model", "granularity", "tune", "SpTRSVGPUSelection", "SPTRSVGPU_SELECT_", NULL};

PetscErrorCode SpTRSVGPUGetNames(char names[], size_t size)
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

/* Read in the symbolic phase, as PETSc does with the options of a solver type: from the global database, for one of an object may be gone by then. */
PetscErrorCode SpTRSVGPUSetFromOptions(Mat F)
{
  static const struct {
    const char *option, *text;
    PetscBool   lower, upper;
  } algorithms[] = {
    {"-mat_sptrsvgpu_algorithm", "Triangular solve of L and U",  PETSC_TRUE,  PETSC_TRUE },
    {"-mat_sptrsvgpu_lower",     "Triangular solve of L", PETSC_TRUE,  PETSC_FALSE},
    {"-mat_sptrsvgpu_upper",     "Triangular solve of U", PETSC_FALSE, PETSC_TRUE },
  };
  SpTRSVGPU  *s = (SpTRSVGPU *)F->data;
  const char *now;
  char        names[256], text[320], name[64];
  PetscBool   set;
  PetscEnum   select, factorization;
  PetscReal   seconds = s->settings.tune;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetNames(names, sizeof(names)));
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Sparse triangular solves on a GPU", "Mat"); /* with a title of its own, or -help would take it for printed */
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(algorithms); i++) {
    const TrsvAlgorithm *a = s->settings.algorithm[algorithms[i].lower ? SPTRSVGPU_LOWER : SPTRSVGPU_UPPER];

    now = a ? TrsvAlgorithmName(a) : "auto";
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, one of: %s", algorithms[i].text, names));
    PetscCall(PetscOptionsString(algorithms[i].option, text, "MatSpTRSVGPUSetAlgorithm", now, name, sizeof(name), &set));
    if (set && algorithms[i].lower) PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, name));
    if (set && algorithms[i].upper) PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_UPPER, name));
  }
  PetscCall(PetscOptionsEnum("-mat_sptrsvgpu_select", "How to choose an algorithm that is auto", "MatSpTRSVGPUSetSelection", SpTRSVGPUSelections, (PetscEnum)s->settings.selection, &select, &set));
  if (set) PetscCall(MatSpTRSVGPUSetSelection(F, (SpTRSVGPUSelection)select));
  PetscCall(PetscOptionsReal("-mat_sptrsvgpu_tune_seconds", "How long -mat_sptrsvgpu_select tune may measure", "MatSpTRSVGPUSetTuneSeconds", seconds, &seconds, &set));
  if (set) PetscCall(MatSpTRSVGPUSetTuneSeconds(F, seconds));
  PetscCall(PetscOptionsEnum("-mat_sptrsvgpu_factorization", "Where ILU(0) and IC(0) of a matrix on a GPU are computed", "MatSpTRSVGPUSetFactorization", SpTRSVGPUFactorizations, (PetscEnum)s->settings.factorization, &factorization, &set));
  if (set) PetscCall(MatSpTRSVGPUSetFactorization(F, (SpTRSVGPUFactorization)factorization));
  PetscCall(PetscOptionsName("-mat_sptrsvgpu_view", "Show statistics, choice and memory once the factor is analyzed", "MatView", &set));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
