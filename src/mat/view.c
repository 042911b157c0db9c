/*
   What a factor Mat prints: the order, the statistics of L and U, the algorithms and why, memory.
*/
#include "impl.h"

#define Print(...) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, __VA_ARGS__))

static PetscErrorCode ViewStatistics(PetscViewer viewer, const char *name, const TrsvStatistics *s)
{
  PetscFunctionBegin;
  Print("  %s: %ld nonzeros, %.2f in a row (max %d, variation %.2f), mean distance %.1f\n", name, s->nnz, s->row_mean,
        s->row_max, s->row_variation, s->mean_offset);
  Print("    %d level sets of %.1f rows (max %d), parallel granularity %.2f\n", s->levels, s->level_mean, s->level_max,
        s->granularity);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewSolve(PetscViewer viewer, const char *name, const TrsvSolveInfo *m)
{
  PetscFunctionBegin;
  PetscCall(ViewStatistics(viewer, name, &m->statistics));
  Print("    algorithm %s: %s\n", TrsvAlgorithmName(m->algorithm), m->reason);
  if (m->settings[0]) Print("    settings %s\n", m->settings);
  for (int i = 0; i < m->trial_count; i++) {
    const TrsvTrial *t = &m->trials[i];

    Print("      %.4g ms %s%s%s%s\n", 1e3 * t->seconds, TrsvAlgorithmName(t->algorithm), t->settings[0] ? " " : "",
          t->settings, t->wrong ? ", rejected: wrong" : i == m->chosen ? ", chosen" : "");
    if (t->wrong) Print("        its backward error is %.2g\n", t->error);
  }
  Print("    plan %.3g MB, analysis %.3g s\n", 1e-6 * (double)m->bytes, m->seconds);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If PETSc's factor solves: its triangles are analyzed for this view. */
static PetscErrorCode ViewPetscSolves(const SpTRSVGPU *s, PetscViewer viewer)
{
  static const char  algorithm[] = "algorithm " MATSOLVERPETSC ": PETSc's own, on the host";
  SpTRSVGPUTriangles t;
  TrsvStatistics     L, U;
  TrsvError          error;
  PetscBool          readable;

  PetscFunctionBegin;
  if (s->settings.selection != SPTRSVGPU_SELECT_MODEL)
    Print("  selection %s not used: on the host the solves are PETSc's own\n",
          SpTRSVGPUSelections[s->settings.selection]);
  PetscCall(SpTRSVGPUTrianglesReadable(s, &readable));
  if (!readable) {
    Print("  %s\n", algorithm);
    Print("  no statistics of L and U: these need %s\n",
          s->is_csr ? "indices of 32 bits" : "a matrix of type aij");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  error = TrsvTrianglesAnalyze(&t.view, SPTRSVGPU_PRECISION, &L, &U);
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCallTrsv(error);
  PetscCall(ViewStatistics(viewer, "L", &L));
  Print("    %s\n", algorithm);
  PetscCall(ViewStatistics(viewer, "U", &U));
  Print("    %s\n", algorithm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why the factor has its order; "" if neither multicolor nor auto was requested. */
static const char *OrderReason(const SpTRSVGPU *s, const TrsvIluInfo *info)
{
  if (s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) return "requested";
  if (s->settings.ordering == SPTRSVGPU_ORDERING_NATURAL) return "";
  if (s->settings.reason_natural[0]) return s->settings.reason_natural;
  if (s->memory == TRSV_HOST) return "the solves run on the host, one row after the other";
  return info->order_reason[0] ? info->order_reason : "the host factors";
}

/* Where and in which order the matrix was factored, and whether that failed. */
static PetscErrorCode ViewFactor(Mat F, const TrsvIluInfo *info, PetscViewer viewer)
{
  const SpTRSVGPU *s      = (const SpTRSVGPU *)F->data;
  const char      *on     = s->memory == TRSV_DEVICE ? "the GPU" : "the host";
  const char      *kind   = s->hermitian ? "Hermitian ICC" : F->factortype == MAT_FACTOR_ICC ? "ICC" : "ILU";
  const char      *reason = OrderReason(s, info);

  PetscFunctionBegin;
  if (s->on_device) {
    Print("%s factored on the GPU, solves on %s\n", kind, on);
    if (s->outcome.attempts > 1)
      Print("  %d lanes a row, factor %.3g MB, %d attempts, diagonal shifted by %g\n", info->lanes,
            1e-6 * (double)info->factor_bytes, s->outcome.attempts, s->outcome.shift);
    else Print("  %d lanes a row, factor %.3g MB\n", info->lanes, 1e-6 * (double)info->factor_bytes);
  } else
    Print("%s factored on the host by PETSc%s%s, solves on %s\n", kind, info->host_reason[0] ? ": " : "",
          info->host_reason, on);
  if (reason[0]) Print("  %s order: %s\n", s->multicolor ? "multicolor" : "natural", reason);
  if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT)
    Print("  failed: zero pivot %g in row %" PetscInt_FMT "\n", (double)F->factorerror_zeropivot_value,
          F->factorerror_zeropivot_row);
  else if (F->factorerrortype) Print("  failed: MatFactorError %d\n", (int)F->factorerrortype);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMemory(const SpTRSVGPU *s, PetscInt rows, const TrsvIluInfo *info, PetscViewer viewer)
{
  const PetscBool petsc  = SpTRSVGPUPetscSolves(s, s->memory);
  const double    matrix = (double)s->nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) +
                        ((double)rows + 1) * sizeof(PetscInt);

  PetscFunctionBegin;
  if (info->plan_bytes)
    Print("  all plans: %.3g MB%s%s\n", 1e-6 * (double)info->plan_bytes,
          petsc              ? ", for MatForwardSolve() and MatBackwardSolve()"
          : info->transposed ? ", with those of the transpose"
                             : "",
          info->also_on_host ? ", some on the host" : "");
  if (info->setup_bytes)
    Print("  device memory of the first set-up: at most %.3g MB, %.2f times the matrix\n",
          1e-6 * (double)info->setup_bytes, (double)info->setup_bytes / matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewLocal(Mat F, PetscViewer viewer)
{
  const SpTRSVGPU *s     = (const SpTRSVGPU *)F->data;
  const PetscBool  petsc = SpTRSVGPUPetscSolves(s, s->memory);
  TrsvIluInfo      info;

  PetscFunctionBegin;
  if (!s->ilu) PetscFunctionReturn(PETSC_SUCCESS); /* no symbolic phase has succeeded */
  TrsvIluDescribe(s->ilu, &info);
  PetscCall(ViewFactor(F, &info, viewer));
  if (petsc ? !s->has_values : !info.planned) PetscFunctionReturn(PETSC_SUCCESS);
  if (petsc) PetscCall(ViewPetscSolves(s, viewer));
  else {
    PetscCall(ViewSolve(viewer, "L", &info.L));
    PetscCall(ViewSolve(viewer, "U", &info.U));
    if (info.one_launch) Print("  L and U in one launch\n");
    if (s->settings.timeout != TRSV_TIMEOUT) Print("  time limit of a wait %g s\n", (double)s->settings.timeout);
  }
  PetscCall(ViewMemory(s, F->rmap->n, &info, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the format ascii_info_detail every rank prints, otherwise the first. */
PetscErrorCode MatView_SpTRSVGPU(Mat F, PetscViewer viewer)
{
  PetscBool         ascii, detail;
  PetscViewerFormat format;
  PetscMPIInt       rank, size;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  detail = (PetscBool)(format == PETSC_VIEWER_ASCII_INFO_DETAIL);
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)F), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, MATSOLVERSPTRSVGPU " " SPTRSVGPU_VERSION "\n"));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (size > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "block Jacobi: each of %d ranks factors its diagonal block%s\n", size,
                                     detail ? "" : "; the first is shown"));
  if (!rank || detail) {
    if (size > 1) Print("rank %d, %" PetscInt_FMT " rows\n", rank, F->rmap->n);
    PetscCall(ViewLocal(F, viewer));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_sptrsvgpu_view: after the first set-up, and after each that fails. */
PetscErrorCode SpTRSVGPUViewFromOptions(Mat F)
{
  PetscViewer       viewer;
  PetscViewerFormat format;
  PetscBool         set, ascii;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreateViewer(PetscObjectComm((PetscObject)F), ((PetscObject)F)->options,
                                     ((PetscObject)F)->prefix, "-mat_sptrsvgpu_view", &viewer, &format, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) {
    if (format != PETSC_VIEWER_ASCII_INFO_DETAIL) format = PETSC_VIEWER_ASCII_INFO;
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(MatView(F, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
  } else {
    PetscCall(PetscFPrintf(PetscObjectComm((PetscObject)F), PETSC_STDERR,
                           "-mat_sptrsvgpu_view prints text only, not to a viewer of type %s\n",
                           ((PetscObject)viewer)->type_name));
  }
  PetscCall(SpTRSVGPURestoreViewer(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
