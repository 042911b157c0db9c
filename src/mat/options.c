/*
   The options of the factor Mat. Each calls its function of matinterface.c or placement.c.
*/
#include "impl.h"

const char *const SpTRSVGPUFactorLocations[] = {"auto", "device", "host", "SpTRSVGPUFactorLocation",
                                                "SPTRSVGPU_FACTOR_LOCATION_", NULL};
const char *const SpTRSVGPUSelections[]      = {"model", "granularity", "tune", "SpTRSVGPUSelection",
                                                "SPTRSVGPU_SELECT_", NULL};

/* With -help prints the algorithms of this build, and what each does. */
static PetscErrorCode PrintAlgorithms(SpTRSVGPUOptionItems PetscOptionsObject)
{
  const TrsvAlgorithm *a;
  char                 line[192];

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Values of -mat_sptrsvgpu_algorithm, -mat_sptrsvgpu_lower and _upper:");
  PetscOptionsHeadBegin(PetscOptionsObject,
                        "  auto: chooses, see -mat_sptrsvgpu_select; on the host PETSc's own solves");
  for (int i = 0; (a = TrsvAlgorithmGet(i)); i++) {
    PetscCall(PetscSNPrintf(line, sizeof(line), "  %s: %s", TrsvAlgorithmName(a), TrsvAlgorithmDescribe(a).summary));
    PetscOptionsHeadBegin(PetscOptionsObject, line);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called in the symbolic phase, as PETSc reads the options of a solver type: from the global database, because the
   options object of the PC may be gone by then. */
PetscErrorCode SpTRSVGPUSetFromOptions(Mat F)
{
  static const struct {
    const char *option, *text;
    PetscBool   lower, upper;
  } algorithms[] = {
    {"-mat_sptrsvgpu_algorithm", "Triangular solve of L and U", PETSC_TRUE,  PETSC_TRUE },
    {"-mat_sptrsvgpu_lower",     "Triangular solve of L",       PETSC_TRUE,  PETSC_FALSE},
    {"-mat_sptrsvgpu_upper",     "Triangular solve of U",       PETSC_FALSE, PETSC_TRUE },
  };
  SpTRSVGPU  *s = (SpTRSVGPU *)F->data;
  const char *now;
  char        name[64];
  PetscBool   set;
  PetscEnum   selection, factorization;
  PetscReal   seconds = s->settings.tune_seconds, timeout = s->settings.timeout;

  PetscFunctionBegin;
  /* the title must be its own: -help prints each title once */
  PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Sparse triangular solves on a GPU",
                    "Mat");
  PetscCall(PrintAlgorithms(PetscOptionsObject));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(algorithms); i++) {
    PetscCall(MatSpTRSVGPUGetAlgorithm(F, algorithms[i].lower ? SPTRSVGPU_LOWER : SPTRSVGPU_UPPER, &now));
    PetscCall(PetscOptionsString(algorithms[i].option, algorithms[i].text, "MatSpTRSVGPUSetAlgorithm", now, name,
                                 sizeof(name), &set));
    if (set && algorithms[i].lower) PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_LOWER, name));
    if (set && algorithms[i].upper) PetscCall(MatSpTRSVGPUSetAlgorithm(F, SPTRSVGPU_UPPER, name));
  }
  PetscCall(PetscOptionsEnum("-mat_sptrsvgpu_select", "How auto chooses an algorithm",
                             "MatSpTRSVGPUSetSelection", SpTRSVGPUSelections, (PetscEnum)s->settings.selection,
                             &selection, &set));
  if (set) PetscCall(MatSpTRSVGPUSetSelection(F, (SpTRSVGPUSelection)selection));
  PetscCall(PetscOptionsReal("-mat_sptrsvgpu_tune_seconds",
                             "Seconds that -mat_sptrsvgpu_select tune may measure", "MatSpTRSVGPUSetTuneSeconds",
                             seconds, &seconds, &set));
  if (set) PetscCall(MatSpTRSVGPUSetTuneSeconds(F, seconds));
  PetscCall(PetscOptionsReal("-mat_sptrsvgpu_timeout", "Seconds that a wait on the GPU may take; 0: no limit",
                             "MatSpTRSVGPUSetTimeout", timeout, &timeout, &set));
  if (set) PetscCall(MatSpTRSVGPUSetTimeout(F, timeout));
  PetscCall(PetscOptionsEnum("-mat_sptrsvgpu_factorization", "Where ILU(0) and IC(0) of a matrix on a GPU are computed",
                             "MatSpTRSVGPUSetFactorization", SpTRSVGPUFactorLocations,
                             (PetscEnum)s->settings.factorization, &factorization, &set));
  if (set) PetscCall(MatSpTRSVGPUSetFactorization(F, (SpTRSVGPUFactorLocation)factorization));
  PetscCall(PetscOptionsName("-mat_sptrsvgpu_view", "Print statistics, choices and memory after the first set-up",
                             "MatView", &set));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
