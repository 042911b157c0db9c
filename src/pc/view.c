/*
   What a factor Mat shows of itself: statistics of L and U, the algorithm of each, why, and its settings, memory.
*/
#include "impl.h"

static PetscErrorCode ViewStatistics(PetscViewer viewer, const char *name, const TrsvStatistics *s)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  %s: %ld nonzeros, %.2f in a row (max %d, variation %.2f), mean distance %.1f\n", name, s->nnz, s->row_mean, s->row_max, s->row_variation, s->mean_offset));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    %d level sets of %.1f rows (max %d), parallel granularity %.2f\n", s->levels, s->level_mean, s->level_max, s->granularity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings as they are shown: where they are chunk's, which are letters with numbers, by names. */
static PetscErrorCode NameSettings(const char settings[], char line[], size_t size)
{
  static const char        letters[] = "PKWNRSLCD";
  static const char *const names[]   = {"chunks", "record", "width", "cluster", "ring", "stages", "import_lifetime",
                                        "steps_l2", "steps_cluster"};
  const char              *at        = strchr(settings, letters[0]);
  char                     word[64];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(line, settings, size));
  if (!at || at[1] < '0' || at[1] > '9') PetscFunctionReturn(PETSC_SUCCESS);
  line[at - settings] = 0;
  for (int i = 0; letters[i] && *at == letters[i]; i++) {
    char      *end;
    const long value = strtol(at + 1, &end, 10);

    PetscCall(PetscSNPrintf(word, sizeof(word), "%s%s=%ld", i ? " " : "", names[i], value));
    PetscCall(PetscStrlcat(line, word, size));
    at = end + strspn(end, " ");
  }
  PetscCall(PetscStrlcat(line, at, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMember(PetscViewer viewer, const char *name, const TrsvPairMember *m)
{
  char settings[TRSV_SETTINGS], line[TRSV_SETTINGS + 128];

  PetscFunctionBegin;
  PetscCall(ViewStatistics(viewer, name, &m->statistics));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    algorithm %s: %s\n", TrsvAlgorithmName(m->algorithm), m->selection_reason));
  TrsvPlanDescribe(m->plan, settings, sizeof(settings));
  PetscCall(NameSettings(settings, line, sizeof(line)));
  if (*line) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    settings %s\n", line));
  for (int i = 0; i < m->trial_count; i++) {
    const TrsvTrial *t = &m->trials[i];

    PetscCall(NameSettings(t->settings, line, sizeof(line)));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "      %.4g ms %s%s%s%s\n", 1e3 * t->seconds,
                                                 TrsvAlgorithmName(t->algorithm), *line ? " " : "", line, t->wrong ? ", rejected: wrong" : i == m->chosen ? ", chosen" : ""));
    if (t->wrong) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "        its backward error is %.2g\n", t->error));
  }
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    plan %.3g MB, analysis %.3g s\n", 1e-6 * (double)TrsvPlanBytes(m->plan), m->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangles of PETSc's factor, which are analysed for this alone. */
static PetscErrorCode ViewPetsc(const SpTRSVGPU *s, PetscViewer viewer)
{
  SpTRSVGPUTriangles t;

  PetscFunctionBegin;
  if (s->settings.select != SPTRSVGPU_SELECT_MODEL)
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  selection %s not used: the matrix is on the host, the solves are PETSc's own\n",
                                                 SpTRSVGPUSelects[s->settings.select]));
  if (!s->csr) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  algorithm %s: PETSc's own, the matrix is on the host\n", MATSOLVERPETSC));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  no statistics of L and U: these need a matrix of type aij\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpTRSVGPUTrianglesCreate(s, TRSV_HOST, PETSC_TRUE, &t));
  for (int f = 0; f < 2; f++) {
    TrsvAnalysis *analysis;

    PetscCallTrsv(TrsvAnalyse(f == SPTRSVGPU_LOWER ? &t.L : &t.U, &analysis));
    PetscCall(ViewStatistics(viewer, f == SPTRSVGPU_LOWER ? "L" : "U", &analysis->statistics));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    algorithm %s: PETSc's own, the matrix is on the host\n", MATSOLVERPETSC));
    TrsvAnalysisDestroy(&analysis);
  }
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewPair(const TrsvPair *pair, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(ViewMember(viewer, "L", &pair->forward));
  PetscCall(ViewMember(viewer, "U", &pair->backward));
  if (pair->fused) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  L and U in one launch\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewLocal(Mat F, PetscViewer viewer)
{
  SpTRSVGPU      *s  = (SpTRSVGPU *)F->data;
  const char     *on = s->home == TRSV_DEVICE ? "the GPU" : "the host";
  const char     *kind = F->factortype == MAT_FACTOR_ICC ? "ICC" : "ILU";
  const TrsvPair *pair = s->pair[s->home][0];
  const PetscBool petscs = SpTRSVGPUPetscSolves(s, s->home);
  PetscLogDouble  bytes = 0;

  PetscFunctionBegin;
  if (s->factor) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%s factored on the GPU%s, solves on %s\n", kind, s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE ? " by cuSPARSE" : "", on));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  %d lanes a row, factor %.3g MB", TrsvFactorLanes(s->factor), 1e-6 * (double)TrsvFactorBytes(s->factor)));
    if (s->outcome.attempts > 1) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, ", %d attempts, diagonal shifted by %g", s->outcome.attempts, s->outcome.shift));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "\n"));
  } else PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%s factored on the host by PETSc%s%s, solves on %s\n", kind, s->why[0] ? ": " : "", s->why, on));
  if (s->order[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  %s order: %s\n", s->multicolor ? "multicolor" : "natural", s->order));
  if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  failed: zero pivot %g in row %" PetscInt_FMT "\n", (double)F->factorerror_zeropivot_value, F->factorerror_zeropivot_row));
  } else if (F->factorerrortype) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  failed: MatFactorError %d\n", (int)F->factorerrortype));
  if (petscs ? !s->filled : !pair || s->empty) PetscFunctionReturn(PETSC_SUCCESS);
  if (petscs) PetscCall(ViewPetsc(s, viewer));
  else PetscCall(ViewPair(pair, viewer));
  for (int m = 0; m < 2; m++)
    for (int t = 0; t < 2; t++)
      if (s->pair[m][t]) bytes += (PetscLogDouble)TrsvPairBytes(s->pair[m][t]);
  if (bytes > 0) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  plans in all %.3g MB%s%s\n", 1e-6 * bytes, petscs ? ", for halves of a solve" : s->pair[s->home][1] ? ", transposes among them" : "", s->pair[TRSV_HOST][0] && s->home == TRSV_DEVICE ? ", some on the host" : ""));
  if (s->home == TRSV_DEVICE && s->matrix > 0 && s->peak > s->held) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  device memory of the first set-up: at most %.3g MB, %.2f times the matrix\n", 1e-6 * (double)(s->peak - s->held), (double)(s->peak - s->held) / s->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All ranks in ascii_info_detail, otherwise the first. */
PetscErrorCode MatView_SpTRSVGPU(Mat F, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;
  PetscMPIInt       rank, size;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)F), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, MATSOLVERSPTRSVGPU " " SPTRSVGPU_VERSION "\n"));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (size > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "block Jacobi: each of %d ranks factors its diagonal block%s\n", size, format == PETSC_VIEWER_ASCII_INFO_DETAIL ? "" : "; the first is shown"));
  if (!rank || format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
    if (size > 1) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "rank %d, %" PetscInt_FMT " rows\n", rank, F->rmap->n));
    PetscCall(ViewLocal(F, viewer));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_sptrsvgpu_view: once, when the factor is first analysed. */
PetscErrorCode SpTRSVGPUViewFromOptions(Mat F)
{
  PetscViewer       viewer;
  PetscViewerFormat format;
  PetscBool         set, ascii;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)F), ((PetscObject)F)->options, ((PetscObject)F)->prefix, "-mat_sptrsvgpu_view", &viewer, &format, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) {
    PetscCall(PetscViewerPushFormat(viewer, format == PETSC_VIEWER_ASCII_INFO_DETAIL ? format : PETSC_VIEWER_ASCII_INFO));
    PetscCall(MatView(F, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
  } else {
    PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)F), PETSC_STDERR,
                           "-mat_sptrsvgpu_view: a factor is shown as text alone, not by a viewer of type %s\n",
                           ((PetscObject)viewer)->type_name));
  }
  PetscCall(SpTRSVGPURestoreViewer(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
