/*
   The symbolic phase of a factor Mat: where the factor is computed, its order and pattern, and, if the GPU factors, the
   plans of the solves.
*/
#include "impl.h"

/* Discards what the last symbolic phase has made. The factor can then do nothing but another symbolic phase, also if
   that one fails. */
PetscErrorCode SpTRSVGPUReset(Mat F)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = NULL;
  F->ops->solve = F->ops->solvetranspose = F->ops->forwardsolve = F->ops->backwardsolve = NULL;
  F->ops->matsolve = F->ops->matsolvetranspose = NULL;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  TrsvIluDestroy(&s->ilu);
  PetscCall(MatDestroy(&s->host));
  s->on_device = s->multicolor = s->any_multicolor = s->host_solver_named = s->has_values = PETSC_FALSE;
  s->not_positive = s->any_sign = PETSC_FALSE;
  PetscCall(PetscFree2(s->row, s->column));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->root));
  PetscCall(VecDestroy(&s->scaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solves run on the GPU if the matrix is there and -pc_factor_mat_solve_on_host is not given. */
static PetscErrorCode FindMemory(Mat local, const MatFactorInfo *info, TrsvMemory *memory)
{
  PetscBool cuda = PETSC_FALSE;

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA)
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &cuda));
  cuda = (PetscBool)(cuda && !local->boundtocpu);
#else
  (void)local;
#endif
  *memory = cuda && !SpTRSVGPUSolveOnHost(info) ? TRSV_DEVICE : TRSV_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fails if a named algorithm cannot solve with this matrix. */
static PetscErrorCode CheckAlgorithms(Mat F, Mat local)
{
  const SpTRSVGPU *s = (const SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  for (int f = 0; f < 2; f++) {
    const TrsvAlgorithm *a = s->settings.algorithm[f];

    if (!a) continue;
    PetscCheck(TrsvAlgorithmMemory(a) == s->memory, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Algorithm %s runs on %s, but the matrix is on %s%s", TrsvAlgorithmName(a),
               s->memory == TRSV_HOST ? "a GPU" : "the host", s->memory == TRSV_HOST ? "the host" : "a GPU",
               s->memory == TRSV_HOST ?
                 "; use -mat_type aijcusparse on a machine with a GPU, or leave the choice to auto" :
                 "");
    PetscCheck(s->is_csr, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Algorithm %s needs a matrix of type aij, not %s: use -mat_type aij or MatConvert(), or leave the "
               "choice to auto",
               TrsvAlgorithmName(a), ((PetscObject)local)->type_name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is ICC on the GPU that of a Hermitian matrix? A complex matrix that is known to be symmetric, and neither Hermitian
   nor SPD, is factored as U^T D U. */
static PetscErrorCode FindHermitian(SpTRSVGPU *s, Mat A)
{
  PetscBool set, symmetric, hermitian, spd;

  PetscFunctionBegin;
  s->hermitian = PETSC_FALSE;
  if (!PetscDefined(USE_COMPLEX) || s->kind != MAT_FACTOR_ICC || s->memory != TRSV_DEVICE)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  symmetric = (PetscBool)(set && symmetric);
  PetscCall(MatIsHermitianKnown(A, &set, &hermitian));
  hermitian = (PetscBool)(set && hermitian);
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  spd          = (PetscBool)(set && spd);
  s->hermitian = (PetscBool)(!symmetric || hermitian || spd);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the factor: on the GPU if it can factor the matrix, otherwise on the host. */
static PetscErrorCode MakePattern(Mat F, Mat A, Mat local, IS *row, IS *column, const MatFactorInfo *info)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  PetscCall(FindHermitian(s, A));
  PetscCall(SpTRSVGPUDeviceSymbolic(F, local, info));
  if (s->on_device) PetscFunctionReturn(PETSC_SUCCESS);
  s->hermitian = PETSC_FALSE;
  PetscCall(SpTRSVGPUHostCheckKind(s, A));
  if (s->is_csr) PetscCall(SpTRSVGPUHostCheck(A, local));
  if (s->multicolor || s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR)
    PetscCall(SpTRSVGPUOrderOnHost(F, local, row, column));
  PetscCall(SpTRSVGPUHostSymbolic(s, local, *row, *column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells all ranks whether any of them uses the multicolor order. */
static PetscErrorCode ShareOrder(Mat F)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&s->multicolor, &s->any_multicolor, 1, SPTRSVGPU_MPI_BOOL, MPI_LOR,
                              PetscObjectComm((PetscObject)F)));
  if (s->any_multicolor) PetscCall(SpTRSVGPUCiteOrdering());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records what later phases compare the matrix with. */
static PetscErrorCode RecordMatrix(SpTRSVGPU *s, Mat local)
{
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(local, MAT_LOCAL, &info));
  s->nonzeros = info.nz_used;
  PetscCall(PetscObjectGetId((PetscObject)local, &s->id));
  PetscCall(MatGetNonzeroState(local, &s->pattern));
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &s->is_cusparse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatILUFactorSymbolic_SpTRSVGPU(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  SpTRSVGPU            *s     = (SpTRSVGPU *)F->data;
  const TrsvAlgorithm **named = s->settings.algorithm;
  Mat                   local;
  IS                    r = NULL, c = NULL;
  PetscErrorCode        ierr;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Symbolic, F, A, 0, 0));
  PetscCall(SpTRSVGPUSetFromOptions(F));
  PetscCall(SpTRSVGPUReset(F));
  PetscCall(SpTRSVGPUGetLocal(A, &local));
  PetscCheck(local->rmap->n == local->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, local->rmap->n, local->cmap->n);
  PetscCall(FindMemory(local, info, &s->memory));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)local, MATSEQAIJ, &s->is_csr));
  PetscCall(CheckAlgorithms(F, local));
  s->host_solver_named = (PetscBool)(s->memory == TRSV_HOST && (named[SPTRSVGPU_LOWER] || named[SPTRSVGPU_UPPER]));
  if (s->memory == TRSV_HOST && !s->host_solver_named && s->settings.selection != SPTRSVGPU_SELECT_MODEL)
    PetscCall(PetscInfo(F, "Selection %s is not used: on the host the solves are PETSc's own\n",
                        SpTRSVGPUSelections[s->settings.selection]));
  PetscCall(MatBindToCPU(F, s->memory == TRSV_HOST ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(RecordMatrix(s, local));
  if (s->memory == TRSV_DEVICE || s->host_solver_named) PetscCall(SpTRSVGPUCheckSize(local->rmap->n, s->nonzeros));
  F->info.fill_ratio_given = info->fill;
  ierr = SpTRSVGPUReadOrderings(F, local, row, column, &r, &c);
  if (!ierr) ierr = MakePattern(F, A, local, &r, &c, info);
  PetscCall(ISDestroy(&r));
  PetscCall(ISDestroy(&c));
  PetscCall(ierr); /* most likely the matrix cannot be factored; the program may continue */
  PetscCall(ShareOrder(F));
  if (s->on_device) PetscCall(SpTRSVGPUPrepare(F, s->memory, PETSC_FALSE));
  F->factortype                 = s->kind;
  F->ops->lufactornumeric       = MatFactorNumeric_SpTRSVGPU;
  F->ops->choleskyfactornumeric = MatFactorNumeric_SpTRSVGPU;
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Symbolic, F, A, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatICCFactorSymbolic_SpTRSVGPU(Mat F, Mat A, IS perm, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatILUFactorSymbolic_SpTRSVGPU(F, A, perm, NULL, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
