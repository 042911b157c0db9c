/*
   The MatSolverType sptrsvgpu: a factor Mat in the order of its life.

   Values come from the factorization of src/kernels on the device (device.c), or from PETSc's own on the host (host.c), an
   inner Mat, each of this rank's diagonal block. The triangular solves are src/kernels' (solve.c); on the host, where no
   algorithm is named, they are that inner Mat's.
*/
#include "impl.h"

PetscLogEvent SpTRSVGPU_Symbolic, SpTRSVGPU_Numeric, SpTRSVGPU_Analysis, SpTRSVGPU_SolveL, SpTRSVGPU_SolveU,
  SpTRSVGPU_SolveLU, SpTRSVGPU_FactorDevice, SpTRSVGPU_FactorHost;

/* The part of a matrix that this rank factors. */
PetscErrorCode SpTRSVGPUGetLocal(Mat A, Mat *local)
{
  PetscFunctionBegin;
  *local = A; /* of one rank, or a constantdiagonal, whose factor is of all ranks */
  if (A->ops->getdiagonalblock) PetscCall(MatGetDiagonalBlock(A, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing can be done with F but a symbolic phase, from here to its end: it may fail, and a program may go on after that. */
static PetscErrorCode Reset(Mat F)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  F->ops->lufactornumeric = F->ops->choleskyfactornumeric = NULL;
  F->ops->solve = F->ops->solvetranspose = F->ops->forwardsolve = F->ops->backwardsolve = NULL;
  F->ops->matsolve = F->ops->matsolvetranspose = NULL;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  TrsvIluDestroy(&s->ilu);
  PetscCall(MatDestroy(&s->host));
  s->ordering_reason[0] = 0;
  s->on_device = s->multicolor = s->any_multicolor = s->host_solver_named = s->has_values = PETSC_FALSE;
  PetscCall(PetscFree2(s->row, s->column));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->root));
  PetscCall(VecDestroy(&s->scaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SpTRSVGPU(Mat F)
{
  PetscFunctionBegin;
  PetscCall(Reset(F));
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
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  PetscLogDouble in[3], out[3];

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
    info->nz_used           = (s->kind == MAT_FACTOR_ICC ? 0 : (PetscLogDouble)ilu.lower) + ilu.upper; /* as PETSc counts its own */
    info->nz_allocated      = info->nz_used;
    info->memory            = (PetscLogDouble)ilu.factor_bytes;
    info->fill_ratio_given  = F->info.fill_ratio_given;
    info->fill_ratio_needed = 1;
  }
  if (flag == MAT_LOCAL) PetscFunctionReturn(PETSC_SUCCESS);
  in[0] = info->nz_used;
  in[1] = info->nz_allocated;
  in[2] = info->memory;
  PetscCallMPI(MPIU_Allreduce(in, out, 3, MPIU_PETSCLOGDOUBLE, flag == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM, PetscObjectComm((PetscObject)F)));
  info->nz_used      = out[0];
  info->nz_allocated = out[1];
  info->memory       = out[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBindToCPU_SpTRSVGPU(Mat F, PetscBool flg)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_DEVICE)
  F->boundtocpu = (PetscBool)(flg || ((SpTRSVGPU *)F->data)->memory == TRSV_HOST); /* or MatMatSolve() would ask for a device */
#else
  (void)F;
  (void)flg;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the solves run: on the device if the matrix lives there and nobody asks for the host. */
static PetscErrorCode FindMemory(Mat local, const MatFactorInfo *info, TrsvMemory *memory)
{
  PetscFunctionBegin;
  *memory = TRSV_HOST;
#if PetscDefined(HAVE_CUDA)
  {
    PetscBool cuda;

    PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &cuda));
    if (cuda && !local->boundtocpu && !SpTRSVGPUSolveOnHost(info)) *memory = TRSV_DEVICE;
  }
#else
  (void)local;
  (void)info;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSettings(Mat F, Mat local)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  for (int f = 0; f < 2; f++) {
    const TrsvAlgorithm *a = s->settings.algorithm[f];

    PetscCheck(!a || TrsvAlgorithmMemory(a) == s->memory, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Algorithm %s runs on %s, but the matrix lives on %s%s", a ? TrsvAlgorithmName(a) : "",
               s->memory == TRSV_HOST ? "a GPU" : "the host", s->memory == TRSV_HOST ? "the host" : "a GPU",
               s->memory == TRSV_HOST ? "; use -mat_type aijcusparse on a machine with a GPU, or leave the choice to auto" : "");
    PetscCheck(!a || s->is_csr, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Algorithm %s needs a matrix of type aij, not %s: use -mat_type aij or MatConvert(), or leave the choice to auto",
               a ? TrsvAlgorithmName(a) : "", ((PetscObject)local)->type_name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_SpTRSVGPU(Mat, Mat, const MatFactorInfo *);

/* The pattern of the factor, on the device or on the host. */
static PetscErrorCode MakePattern(Mat F, Mat A, Mat local, IS *row, IS *column, const MatFactorInfo *info)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUDeviceSymbolic(F, local, info));
  if (s->on_device) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->is_csr) PetscCall(SpTRSVGPUHostCheck(A, local));
  if (s->multicolor || s->settings.ordering == SPTRSVGPU_ORDERING_MULTICOLOR) PetscCall(SpTRSVGPUPermutationMulticolor(F, local, row, column));
  PetscCall(SpTRSVGPUHostSymbolic(s, local, *row, *column, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the PC makes of the order it does on all ranks alike. */
static PetscErrorCode ShareOrder(Mat F)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&s->multicolor, &s->any_multicolor, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)F)));
  if (s->any_multicolor) PetscCall(SpTRSVGPUCiteOrdering());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes what the numeric phases compare with. */
static PetscErrorCode NoteMatrix(SpTRSVGPU *s, Mat A, Mat local)
{
  MatInfo info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(local, MAT_LOCAL, &info));
  s->nonzeros = info.nz_used;
  s->bytes    = info.nz_used * (PetscLogDouble)(sizeof(PetscScalar) + sizeof(PetscInt)) +
             (PetscLogDouble)(local->rmap->n + 1) * (PetscLogDouble)sizeof(PetscInt);
  PetscCall(PetscObjectGetId((PetscObject)A, &s->id));
  PetscCall(MatGetNonzeroState(A, &s->pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_SpTRSVGPU(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  SpTRSVGPU     *s = (SpTRSVGPU *)F->data;
  Mat            local;
  IS             r = NULL, c = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Symbolic, F, A, 0, 0));
  PetscCall(SpTRSVGPUSetFromOptions(F));
  PetscCall(Reset(F));
  PetscCall(SpTRSVGPUGetLocal(A, &local));
  PetscCheck(local->rmap->n == local->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, local->rmap->n, local->cmap->n);
  PetscCall(FindMemory(local, info, &s->memory));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)local, MATSEQAIJ, &s->is_csr));
  PetscCall(CheckSettings(F, local));
  s->host_solver_named = (PetscBool)(s->memory == TRSV_HOST && (s->settings.algorithm[SPTRSVGPU_LOWER] || s->settings.algorithm[SPTRSVGPU_UPPER]));
  if (s->memory == TRSV_HOST && !s->host_solver_named && s->settings.selection != SPTRSVGPU_SELECT_MODEL)
    PetscCall(PetscInfo(F, "Selection %s is not used: the matrix is on the host, the solves are PETSc's own\n",
                        SpTRSVGPUSelections[s->settings.selection]));
  PetscCall(MatBindToCPU(F, s->memory == TRSV_HOST ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(NoteMatrix(s, A, local));
  F->info.fill_ratio_given = info->fill;
  ierr = SpTRSVGPUPermutationSet(F, local, row, column, &r, &c);
  if (!ierr) ierr = MakePattern(F, A, local, &r, &c, info);
  PetscCall(ISDestroy(&r));
  PetscCall(ISDestroy(&c));
  PetscCall(ierr); /* of a matrix that cannot be factored, most likely */
  PetscCall(SpTRSVGPUPermutationExplain(s));
  PetscCall(ShareOrder(F));
  if (s->on_device) PetscCall(SpTRSVGPUPrepare(F, s->memory, PETSC_FALSE));
  F->factortype                 = s->kind;
  F->ops->lufactornumeric       = MatFactorNumeric_SpTRSVGPU;
  F->ops->choleskyfactornumeric = MatFactorNumeric_SpTRSVGPU;
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Symbolic, F, A, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactorSymbolic_SpTRSVGPU(Mat F, Mat A, IS perm, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatILUFactorSymbolic_SpTRSVGPU(F, A, perm, NULL, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes the first pivot that counts as zero, of all ranks. */
static PetscErrorCode NoteZeroPivot(Mat F, Mat A, const MatFactorInfo *info)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;
  PetscInt   row, first;
  PetscReal  value;

  PetscFunctionBegin;
  if (s->on_device) {
    row   = s->outcome.row;
    value = s->outcome.pivot;
  } else PetscCall(SpTRSVGPUHostZeroPivot(s, info, &row, &value));
  row = row < 0 ? PETSC_INT_MAX : row + A->rmap->rstart;
  PetscCallMPI(MPIU_Allreduce(&row, &first, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)F)));
  if (row != first) value = 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &value, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)F)));
  F->factorerror_zeropivot_row   = first;
  F->factorerror_zeropivot_value = value;
  PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot row %" PetscInt_FMT " value %g tolerance %g; see -pc_factor_shift_type and -pc_factor_zeropivot", first, (double)value, (double)info->zeropivot);
  PetscCall(PetscInfo(F, "Zero pivot in row %" PetscInt_FMT " value %g tolerance %g\n", first, (double)value, (double)info->zeropivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From now on the host factors: the matrix has been bound to it since the symbolic phase and shows the device no values.
   The pattern and the plans stay. */
static PetscErrorCode LeaveDevice(SpTRSVGPU *s, Mat local, const MatFactorInfo *info)
{
  IS             is = NULL;
  PetscInt      *order;
  TrsvStream     stream;
  TrsvError      error;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetStream(s, &stream));
  PetscCall(PetscMalloc1(local->rmap->n, &order));
  error = TrsvIluLeaveDevice(s->ilu, order, stream);
  if (!error) s->on_device = PETSC_FALSE;
  if (!error && !s->is_natural && !s->row) ierr = SpTRSVGPUPermutationKeep(s, local->rmap->n, order, order);
  PetscCall(PetscFree(order));
  PetscCallTrsv(error);
  PetscCall(ierr);
  if (!s->is_natural) PetscCall(ISCreateGeneral(PETSC_COMM_SELF, local->rmap->n, s->row, PETSC_COPY_VALUES, &is));
  ierr = SpTRSVGPUHostSymbolic(s, local, is, is, info);
  PetscCall(ISDestroy(&is));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(Mat F, Mat A, const MatFactorInfo *given)
{
  SpTRSVGPU    *s    = (SpTRSVGPU *)F->data;
  MatFactorInfo info = *given;
  MatInfo       matrix;
  Mat           local;
  PetscBool     bound, cusparse;
  PetscMPIInt   error;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetLocal(A, &local));
  PetscCall(MatGetInfo(local, MAT_LOCAL, &matrix));
  PetscCheck(matrix.nz_used == s->nonzeros, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "The matrix has %.0f nonzeros, but had %.0f in the symbolic phase: another pattern needs another symbolic phase", matrix.nz_used, s->nonzeros);
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &cusparse));
  if (cusparse && s->nonzero_shift && info.shifttype == (PetscReal)MAT_SHIFT_INBLOCKS)
    info.shifttype = (PetscReal)MAT_SHIFT_NONZERO;
  PetscCall(MatBoundToCPU(local, &bound));
  if (s->on_device && bound) PetscCall(LeaveDevice(s, local, &info));
  PetscCheck(s->on_device || s->host, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The symbolic phase on the host failed; call it again");
  if (s->on_device) PetscCall(SpTRSVGPUDeviceNumeric(F, local, &info));
  else PetscCall(SpTRSVGPUHostNumeric(F, A, local, &info));
  /* one rank's failure is everybody's: MatSolve() and the log take for granted that all ranks go the same way */
  error = (PetscMPIInt)F->factorerrortype;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)F)));
  F->factorerrortype = (MatFactorError)error;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of PETSc's factor into the plans that there are; those of the device have theirs. */
static PetscErrorCode FillPlans(SpTRSVGPU *s)
{
  SpTRSVGPUTriangles t;
  TrsvIluInfo        info;
  TrsvStream         stream;
  TrsvError          error;

  PetscFunctionBegin;
  TrsvIluDescribe(s->ilu, &info);
  if (s->on_device || !info.plan_bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUGetStream(s, &stream));
  PetscCall(SpTRSVGPUTrianglesCreate(s, &t));
  error = TrsvIluSetFactor(s->ilu, &t.view, stream);
  PetscCall(SpTRSVGPUTrianglesDestroy(&t));
  PetscCallTrsv(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_SpTRSVGPU(Mat F, Mat A, const MatFactorInfo *info)
{
  SpTRSVGPU      *s     = (SpTRSVGPU *)F->data;
  const PetscBool first = (PetscBool)!s->has_values;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(SpTRSVGPU_Numeric, F, A, 0, 0));
  F->factorerrortype = MAT_FACTOR_OTHER; /* until it is known: after an error there is no solve with old values */
  PetscCall(Factor(F, A, info));
  PetscCall(VecDestroy(&s->root));
  if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT) PetscCall(NoteZeroPivot(F, A, info));
  F->assembled    = PETSC_TRUE;
  F->preallocated = PETSC_TRUE;
  PetscCall(MatSetSolves_SpTRSVGPU(F));
  if (!F->factorerrortype) {
    F->factorerrortype = MAT_FACTOR_OTHER;
    PetscCall(FillPlans(s));
    if (!SpTRSVGPUPetscSolves(s, s->memory) && (first || !TrsvIluIsReady(s->ilu, s->memory, PETSC_FALSE)))
      PetscCall(SpTRSVGPUPrepare(F, s->memory, PETSC_FALSE));
    PetscCall(SpTRSVGPUCite(s));
    s->has_values      = PETSC_TRUE;
    F->factorerrortype = MAT_FACTOR_NOERROR;
  }
  PetscCall(PetscLogEventEnd(SpTRSVGPU_Numeric, F, A, 0, 0));
  if (first || F->factorerrortype) PetscCall(SpTRSVGPUViewFromOptions(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solver types are looked up by the beginning of a matrix type's name, so that types of other devices come here, too. */
static PetscErrorCode CheckType(Mat A)
{
  static const char *const devices[] = {"cusparse", "cuda", "hip", "kokkos", "viennacl"};
  const char *const        type   = ((PetscObject)A)->type_name;
  const char              *device = NULL;
  PetscBool                ours;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(devices) && !device && !ours; i++) device = strstr(type, devices[i]);
  PetscCheck(!device, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Solver type %s does not take matrices of type %s; use -mat_type aij%s, or MatConvert()", MATSOLVERSPTRSVGPU,
             type, PetscDefined(HAVE_CUDA) ? ", or aijcusparse on a machine with a GPU" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a Mat a factor of type sptrsvgpu. */
static PetscErrorCode Initialize(Mat F, Mat A, MatFactorType type)
{
  SpTRSVGPU *s;

  PetscFunctionBegin;
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSPTRSVGPU, &((PetscObject)F)->type_name));
  PetscCall(PetscNew(&s));
  F->data = s;
  s->kind          = type;
  s->settings.tune = 1;

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
   MATSOLVERSPTRSVGPU = "sptrsvgpu" - ILU and ICC whose triangular solves run on a GPU for matrices of type
   `MATAIJCUSPARSE`; for matrices of the host, of every type that PETSc's ILU and ICC take, all of it is PETSc's own

   Options Database Keys:
+  -pc_factor_mat_solver_type sptrsvgpu - for `PCILU` and `PCICC`; `PCSPTRSVGPU` presets it
-  -mat_sptrsvgpu_...                   - see `PCSPTRSVGPU`

   Level: intermediate

   Notes:
   A factor works in the current `PetscDeviceContext`, where one solve after the other writes to what it holds. A program that goes on in another context
   has that one wait for the first, by `PetscDeviceContextWaitForContext()`.

   No factor is to be set up or destroyed while another thread of the program captures a CUDA graph on the same device: both wait for the device, which ends the
   capture.

   Equal solves give the same bits, but for algorithms of which docs/algorithms.md says otherwise. A solve that gave up waiting for a value (see the file README.md) leaves NaN, and the next one says so.

.seealso: `PCSPTRSVGPU`, `MatGetFactor()`, `MatSpTRSVGPUSetAlgorithm()`
M*/
PetscErrorCode MatGetFactor_SpTRSVGPU(Mat A, MatFactorType type, Mat *factor)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *factor = NULL;
  PetscCall(CheckType(A));
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, A->rmap->N, A->cmap->N);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), factor));
  ierr = Initialize(*factor, A, type);
  if (ierr) PetscCall(MatDestroy(factor));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
