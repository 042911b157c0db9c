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

static PetscErrorCode ViewSolve(PetscViewer viewer, const char *name, const TrsvSolveInfo *m)
{
  char line[TRSV_SETTINGS + 128];

  PetscFunctionBegin;
  PetscCall(ViewStatistics(viewer, name, &m->statistics));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    algorithm %s: %s\n", TrsvAlgorithmName(m->algorithm), m->reason));
  PetscCall(NameSettings(m->settings, line, sizeof(line)));
  if (*line) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    settings %s\n", line));
  for (int i = 0; i < m->trial_count; i++) {
    const TrsvTrial *t = &m->trials[i];

    PetscCall(NameSettings(t->settings, line, sizeof(line)));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "      %.4g ms %s%s%s%s\n", 1e3 * t->seconds,
                                                 TrsvAlgorithmName(t->algorithm), *line ? " " : "", line, t->wrong ? ", rejected: wrong" : i == m->chosen ? ", chosen" : ""));
    if (t->wrong) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "        its backward error is %.2g\n", t->error));
  }
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    plan %.3g MB, analysis %.3g s\n", 1e-6 * (double)m->bytes, m->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangles of PETSc's factor, which are analyzed for this alone. */
static PetscErrorCode ViewPetsc(const SpTRSVGPU *s, PetscViewer viewer)
{
  SpTRSVGPUTriangles t;
  TrsvStatistics     statistics[2];
  TrsvError          error;

  PetscFunctionBegin;
  if (s->settings.selection != SPTRSVGPU_SELECT_MODEL)
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  selection %s not used: the matrix is on the host, the solves are PETSc's own\n",
                                                 SpTRSVGPUSelections[s->settings.selection]));
  if (!s->is_csr) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  algorithm %s: PETSc's own, the matrix is on the host\n", MATSOLVERPETSC));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  no statistics of L and U: these need a matrix of type aij\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  error = TrsvTrianglesAnalyze(&t.view, TRSV_DOUBLE, &statistics[SPTRSVGPU_LOWER], &statistics[SPTRSVGPU_UPPER]);
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCallTrsv(error);
  for (int f = 0; f < 2; f++) {
    PetscCall(ViewStatistics(viewer, f == SPTRSVGPU_LOWER ? "L" : "U", &statistics[f]));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "    algorithm %s: PETSc's own, the matrix is on the host\n", MATSOLVERPETSC));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewSolves(const TrsvIluInfo *info, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(ViewSolve(viewer, "L", &info->L));
  PetscCall(ViewSolve(viewer, "U", &info->U));
  if (info->one_launch) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  L and U in one launch\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the factor was made, and how. */
static PetscErrorCode ViewFactor(Mat F, const TrsvIluInfo *info, PetscViewer viewer)
{
  const SpTRSVGPU *s    = (SpTRSVGPU *)F->data;
  const char      *on   = s->memory == TRSV_DEVICE ? "the GPU" : "the host";
  const char      *kind = F->factortype == MAT_FACTOR_ICC ? "ICC" : "ILU";

  PetscFunctionBegin;
  if (s->on_device) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%s factored on the GPU%s, solves on %s\n", kind, s->settings.factorization == SPTRSVGPU_FACTORIZATION_CUSPARSE ? " by cuSPARSE" : "", on));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  %d lanes a row, factor %.3g MB", info->lanes, 1e-6 * (double)info->factor_bytes));
    if (s->outcome.attempts > 1) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, ", %d attempts, diagonal shifted by %g", s->outcome.attempts, s->outcome.shift));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "\n"));
  } else PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%s factored on the host by PETSc%s%s, solves on %s\n", kind, info->host_reason[0] ? ": " : "", info->host_reason, on));
  if (s->ordering_reason[0]) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  %s order: %s\n", s->multicolor ? "multicolor" : "natural", s->ordering_reason));
  if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  failed: zero pivot %g in row %" PetscInt_FMT "\n", (double)F->factorerror_zeropivot_value, F->factorerror_zeropivot_row));
  } else if (F->factorerrortype) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  failed: MatFactorError %d\n", (int)F->factorerrortype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewLocal(Mat F, PetscViewer viewer)
{
  const SpTRSVGPU *s     = (SpTRSVGPU *)F->data;
  const PetscBool  petsc = SpTRSVGPUPetscSolves(s, s->memory);
  TrsvIluInfo      info;

  PetscFunctionBegin;
  TrsvIluDescribe(s->ilu, &info);
  PetscCall(ViewFactor(F, &info, viewer));
  if (petsc ? !s->has_values : !info.planned) PetscFunctionReturn(PETSC_SUCCESS);
  if (petsc) PetscCall(ViewPetsc(s, viewer));
  else PetscCall(ViewSolves(&info, viewer));
  if (info.plan_bytes) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  plans in all %.3g MB%s%s\n", 1e-6 * (double)info.plan_bytes, petsc ? ", for halves of a solve" : info.transposed ? ", transposes among them" : "", info.also_on_host ? ", some on the host" : ""));
  if (s->bytes > 0 && info.setup_bytes) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "  device memory of the first set-up: at most %.3g MB, %.2f times the matrix\n", 1e-6 * (double)info.setup_bytes, (double)info.setup_bytes / s->bytes));
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

/* -mat_sptrsvgpu_view: once, when the factor is first analyzed. */
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
