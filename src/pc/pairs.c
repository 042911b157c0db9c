/*
   The pairs of plans of a factor Mat: made when a solve first needs them, or before a factor of the device has its values, and given new values at
   each numeric phase. Where PETSc's own solves serve there are none but for the halves of a solve.
*/
#include "impl.h"

/* The algorithms that were named, NULL for auto. They are meant for where the matrix lives; after MatBindToCPU() the host chooses for itself. */
static void GetNamed(SpTRSVGPU *s, TrsvMemory memory, const TrsvAlgorithm *named[2])
{
  for (int f = 0; f < 2; f++) {
    named[f] = memory == s->home ? s->settings.algorithm[f] : NULL;
    if (!named[f] && s->settings.thread && memory == TRSV_DEVICE) named[f] = TrsvAlgorithmFind("thread");
  }
}

/* A pair without values: the triangles' patterns are enough. Whether its plans are made at the same time hangs on L's level sets, which are known of a
   factor of the device alone. */
static PetscErrorCode MakePair(Mat F, const SpTRSVGPUTriangles *t, TrsvMemory memory, PetscBool transposed)
{
  SpTRSVGPU    *s        = (SpTRSVGPU *)F->data;
  TrsvMatrix    L        = t->L;
  TrsvAnalysis *analysis = NULL;
  const TrsvAlgorithm *named[2];
  TrsvError     error    = TRSV_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Analysis, F, 0, 0, 0));
  GetNamed(s, memory, named);
  if (memory == TRSV_DEVICE && t->memory == TRSV_HOST && !transposed) {
    error      = TrsvAnalyse(&L, &analysis);
    L.analysis = analysis;
  }
  if (!error) error = TrsvPairCreate(&L, &t->U, t->row, t->column, transposed, memory, (TrsvSelection)s->settings.select, named[SPTRSVGPU_LOWER], named[SPTRSVGPU_UPPER], &s->pair[memory][transposed]);
  TrsvAnalysisDestroy(&analysis);
  PetscCallTrsv(error);
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Analysis, F, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor of the device has its plans made before there is memory for its values: while they are made, plans need more than when they are there. */
PetscErrorCode SpTRSVGPUPairsBegin(Mat F)
{
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  SpTRSVGPUTriangles t;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  if (!s->factor) PetscFunctionReturn(PETSC_SUCCESS);
  for (int m = 0; m < 2; m++)
    if (s->pair[m][0] || s->pair[m][1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUTrianglesCreate(s, s->home, PETSC_TRUE, &t));
  ierr = MakePair(F, &t, s->home, PETSC_FALSE);
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCall(ierr);
  if (s->settings.select != SPTRSVGPU_SELECT_TUNE) TrsvFactorReleaseWorkspace(s->factor, SpTRSVGPULowerPlan(s)); /* tuning makes more of them */
  s->empty = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HasValues(const SpTRSVGPU *s, int memory, int transposed) { return (PetscBool)(s->pair[memory][transposed] && !(s->empty && memory == (int)s->home && !transposed)); }

/* New values into the plans that have had some. */
PetscErrorCode SpTRSVGPUPairsSetValues(Mat F)
{
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  SpTRSVGPUTriangles t;
  PetscBool          any = PETSC_FALSE;

  PetscFunctionBegin;
  for (int m = 0; m < 2; m++) {
    TrsvStream stream;
    TrsvError  error = TRSV_SUCCESS;

    if (!HasValues(s, m, 0) && !HasValues(s, m, 1)) continue;
    any = PETSC_TRUE;
    PetscCall(SpTRSVGPUTrianglesCreate(s, (TrsvMemory)m, (PetscBool)(m != TRSV_DEVICE || HasValues(s, m, 1)), &t));
    PetscCall(SpTRSVGPUGetStream((TrsvMemory)m, &stream));
    for (int transposed = 0; transposed < 2 && !error; transposed++)
      if (HasValues(s, m, transposed)) error = TrsvPairSetValues(s->pair[m][transposed], t.l, t.u, t.memory, stream);
    PetscCall(SpTRSVGPUTrianglesDestroy(&t));
    PetscCallTrsv(error);
  }
  if (any && s->factor) TrsvFactorReleaseWorkspace(s->factor, SpTRSVGPULowerPlan(s)); /* these values may have been the first to need what it kept */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pair of plans for solves in a memory, with A or with its transpose; made here when first asked for. */
PetscErrorCode SpTRSVGPUGetPair(Mat F, TrsvMemory memory, PetscBool transposed, TrsvPair **pair)
{
  SpTRSVGPU         *s = (SpTRSVGPU *)F->data;
  TrsvPair         **p = &s->pair[memory][transposed];
  SpTRSVGPUTriangles t;
  TrsvStream         stream;
  TrsvError          error = TRSV_SUCCESS;
  PetscErrorCode     ierr  = PETSC_SUCCESS;

  PetscFunctionBegin;
  *pair = *p;
  if (HasValues(s, memory, transposed)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUGetStream(memory, &stream));
  PetscCall(SpTRSVGPUTrianglesCreate(s, memory, (PetscBool)(memory != TRSV_DEVICE || transposed || !*p || s->settings.select == SPTRSVGPU_SELECT_TUNE), &t));
  if (!*p) ierr = MakePair(F, &t, memory, transposed);
  if (!ierr) error = TrsvPairSetValues(*p, t.l, t.u, t.memory, stream);
  if (!ierr && !error && s->settings.select == SPTRSVGPU_SELECT_TUNE) {
    const TrsvAlgorithm *named[2];

    GetNamed(s, memory, named);
    PetscCall(PetscLogEventBegin(SpTRSVGPU_Analysis, F, 0, 0, 0));
    error = TrsvPairTune(*p, &t.L, &t.U, t.row, t.column, t.l, t.u, t.memory, named[SPTRSVGPU_LOWER], named[SPTRSVGPU_UPPER], (double)s->settings.tune, stream);
    PetscCall(PetscLogEventEnd(SpTRSVGPU_Analysis, F, 0, 0, 0));
  }
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCall(ierr);
  if (error) TrsvPairDestroy(p); /* the next solve is not to find one without values */
  if (memory == s->home && !transposed) s->empty = PETSC_FALSE;
  PetscCallTrsv(error);
  if (s->factor) TrsvFactorReleaseWorkspace(s->factor, SpTRSVGPULowerPlan(s));
  PetscCall(SpTRSVGPUCite(*p, s->settings.thread));
  *pair = *p;
  PetscFunctionReturn(PETSC_SUCCESS);
}
