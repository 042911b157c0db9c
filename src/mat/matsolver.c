/*
   The MatSolverType sptrsvgpu: creation and destruction of a factor Mat, and log events. symbolic.c and numeric.c have
   the two phases of the Mat, solve.c its solves.

   The factor of each rank is that of its diagonal block: of src/kernels on the GPU (device.c), or PETSc's on the host
   (host.c), which is an inner Mat. src/kernels does the triangular solves. On the host the inner Mat does them, unless
   an algorithm for the host is named.
*/
#include "impl.h"

PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL, SpTRSVGPU_SolveU,
  SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;

/* Only some ranks reach an event that is not collective; which ones depends on their rows. With -log_sync they would
   wait for the others without end. */
static const struct {
  const char    *name;
  PetscLogEvent *event;
  PetscBool      collective;
} events[] = {
  {"SpTRSVSymbolic",  &SpTRSVGPU_Symbolic,     PETSC_TRUE },
  {"SpTRSVNumeric",   &SpTRSVGPU_Numeric,      PETSC_TRUE },
  {"SpTRSVAnalysis",  &SpTRSVGPU_Analysis,     PETSC_FALSE},
  {"SpTRSVSolveL",    &SpTRSVGPU_SolveL,       PETSC_FALSE},
  {"SpTRSVSolveU",    &SpTRSVGPU_SolveU,       PETSC_FALSE},
  {"SpTRSVSolveLU",   &SpTRSVGPU_SolveLU,      PETSC_FALSE},
  {"SpTRSVFactorGPU", &SpTRSVGPU_FactorDevice, PETSC_FALSE},
  {"SpTRSVFactorCPU", &SpTRSVGPU_FactorHost,   PETSC_FALSE},
};

PetscErrorCode SpTRSVGPURegisterEvents(void)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(events); i++) {
    PetscCall(PetscLogEventRegister(events[i].name, MAT_CLASSID, events[i].event));
    if (!events[i].collective) PetscCall(PetscLogEventSetCollective(*events[i].event, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SpTRSVGPU(Mat F)
{
  PetscFunctionBegin;
  PetscCall(SpTRSVGPUReset(F));
  PetscCall(PetscFree(F->data));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_SpTRSVGPU(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERSPTRSVGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SpTRSVGPU(Mat F, MatInfoType flag, MatInfo *info)
{
  const SpTRSVGPU *s = (const SpTRSVGPU *)F->data;
  PetscLogDouble   in[3], out[3];

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(info, 1));
  if (s->host) {
    PetscUseTypeMethod(s->host, getinfo, MAT_LOCAL, info);
    info->fill_ratio_given  = s->host->info.fill_ratio_given;
    info->fill_ratio_needed = s->host->info.fill_ratio_needed;
    info->factor_mallocs    = s->host->info.factor_mallocs;
  } else if (s->on_device) {
    TrsvIluInfo ilu;

    TrsvIluDescribe(s->ilu, &ilu);
    info->nz_used           = (PetscLogDouble)ilu.upper;
    if (s->kind == MAT_FACTOR_ILU) info->nz_used += ilu.lower; /* as PETSc counts */
    info->nz_allocated      = info->nz_used;
    info->memory            = (PetscLogDouble)ilu.factor_bytes;
    info->fill_ratio_given  = F->info.fill_ratio_given;
    info->fill_ratio_needed = 1;
  }
  if (flag == MAT_LOCAL) PetscFunctionReturn(PETSC_SUCCESS);
  in[0] = info->nz_used;
  in[1] = info->nz_allocated;
  in[2] = info->memory;
  PetscCallMPI(MPIU_Allreduce(in, out, 3, MPIU_PETSCLOGDOUBLE, flag == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM,
                              PetscObjectComm((PetscObject)F)));
  info->nz_used      = out[0];
  info->nz_allocated = out[1];
  info->memory       = out[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBindToCPU_SpTRSVGPU(Mat F, PetscBool flg)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_DEVICE)
  /* on the host always bound: otherwise MatMatSolve() asks for a device */
  F->boundtocpu = (PetscBool)(flg || ((SpTRSVGPU *)F->data)->memory == TRSV_HOST);
#else
  (void)F;
  (void)flg;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc finds a solver type by the beginning of the matrix type's name, so types of other devices come here too. */
static PetscErrorCode CheckType(Mat A)
{
  static const char *const devices[] = {"cusparse", "cuda", "hip", "kokkos", "viennacl"};
  const char *const        type   = ((PetscObject)A)->type_name;
  const char              *device = NULL;
  PetscBool                supported;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &supported, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(devices) && !device && !supported; i++)
    device = strstr(type, devices[i]);
  PetscCheck(!device, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Solver type %s does not take matrices of type %s; use -mat_type aij%s, or MatConvert()",
             MATSOLVERSPTRSVGPU, type, PetscDefined(HAVE_CUDA) ? ", or aijcusparse on a machine with a GPU" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes F, a new Mat, a factor of type sptrsvgpu. */
static PetscErrorCode InitializeFactor(Mat F, Mat A, MatFactorType type)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSPTRSVGPU, &((PetscObject)F)->type_name));
  PetscCall(PetscNew(&s));
  F->data                  = s;
  s->kind                  = type;
  s->settings.tune_seconds = 1;
  s->settings.timeout      = TRSV_TIMEOUT;

  F->ops->destroy           = MatDestroy_SpTRSVGPU;
  F->ops->view              = MatView_SpTRSVGPU;
  F->ops->getinfo           = MatGetInfo_SpTRSVGPU;
  F->ops->bindtocpu         = MatBindToCPU_SpTRSVGPU;
  F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SpTRSVGPU;
  F->ops->iccfactorsymbolic = MatICCFactorSymbolic_SpTRSVGPU;

  F->factortype     = type;
  F->canuseordering = PETSC_TRUE;
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[MAT_FACTOR_ILU]));
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[MAT_FACTOR_ICC]));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSPTRSVGPU, &F->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_SpTRSVGPU));
  PetscCall(MatSetVecType(F, A->defaultvectype));
  PetscCall(MatSetUp(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATSOLVERSPTRSVGPU = "sptrsvgpu" - ILU and ICC of matrices of type `MATAIJCUSPARSE`, with triangular solves on the
   GPU

   Options Database Keys:
+  -pc_factor_mat_solver_type sptrsvgpu - for `PCILU` and `PCICC`; `PCSPTRSVGPU` sets it
-  -mat_sptrsvgpu_...                   - see `PCSPTRSVGPU`

   Level: intermediate

   Notes:
   A matrix on the host may have every type that PETSc's ILU and ICC take. PETSc factors it and solves with it.

   A factor works in the current `PetscDeviceContext`, and its solves write to memory of the factor. A program that
   continues in another context must let that context wait for the first (`PetscDeviceContextWaitForContext()`).

   Do not set up or destroy a factor while another thread captures a CUDA graph on the same device: both wait for the
   device, which ends the capture.

   A solve gives the same bits each time, except by the algorithms that docs/algorithms.md names.

   A solve that waits more than 30 s (`MatSpTRSVGPUSetTimeout()`) for one value gives up and writes NaN to the solution.
   The next solve or set-up then fails with a message.

.seealso: `PCSPTRSVGPU`, `MatGetFactor()`, `MatSpTRSVGPUSetAlgorithm()`
M*/
PetscErrorCode MatGetFactor_SpTRSVGPU(Mat A, MatFactorType type, Mat *factor)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *factor = NULL;
  PetscCall(CheckType(A));
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, A->rmap->N, A->cmap->N);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), factor));
  ierr = InitializeFactor(*factor, A, type);
  if (ierr) PetscCall(MatDestroy(factor));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
