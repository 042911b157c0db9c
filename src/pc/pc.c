/*
   The PC types sptrsvgpu and capellini: PETSc's PCILU with our solver type.

   PETSc's function creates the PC; a few of its operations are then wrapped here, and PCFactor functions in pcfactor.c.
   ILU and ICC differ in the factor Mat only: PETSc's PCILU calls the same steps for both.
*/
#include "impl.h"

/* Keeps a reference to the factor that PETSc has made. */
static PetscErrorCode SetFactor(PC_SpTRSVGPU *p, Mat F)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)F));
  PetscCall(MatDestroy(&p->factor));
  p->factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a new pattern: what the values of the last one have shown does not hold for it. */
static void ForgetReason(PC_SpTRSVGPU *p)
{
  if (p->factor) ((SpTRSVGPU *)p->factor->data)->settings.reason_natural[0] = 0;
}

/* Before PETSc destroys the factor: the next one gets its settings. */
static void SaveSettings(PC_SpTRSVGPU *p)
{
  if (!p->factor) return;
  p->settings     = ((SpTRSVGPU *)p->factor->data)->settings;
  p->has_settings = PETSC_TRUE;
}

/* Called by PCReset(), and by functions such as PCFactorSetLevels() after a set-up. Does not fail, also if the matrix
   is gone. */
static PetscErrorCode PCReset_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  p->failed = PETSC_FALSE;
  ForgetReason(p);
  SaveSettings(p);
  PetscCall(MatDestroy(&p->factor));
  PetscCall((*p->reset)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ICC if the matrix is known to be SPD, otherwise ILU. If PETSc has only one of them for the matrix's type, that one.
   PETSc's ICC of a complex matrix is for symmetric ones, not Hermitian ones. */
static PetscErrorCode ChooseKindByMatrix(Mat A, PetscBool ours, PC_SpTRSVGPU *p)
{
  static const MatFactorType kinds[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  PetscBool                  set, spd, hermitian, device = PETSC_FALSE, has[2] = {PETSC_TRUE, PETSC_TRUE};
  Mat                        local;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  spd            = (PetscBool)(set && spd);
  p->kind_reason = spd ? "the matrix was known to be SPD" : "the matrix was not known to be SPD";
  PetscCall(MatIsHermitianKnown(A, &set, &hermitian));
  if (ours) PetscCall(SpTRSVGPUGetLocal(A, &local));
  if (ours) PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &device));
  if (PetscDefined(USE_COMPLEX) && spd && set && hermitian && !device) {
    spd            = PETSC_FALSE;
    p->kind_reason = "the matrix is Hermitian, and PETSc's ICC is for symmetric ones";
  }
  for (int i = 0; i < 2 && ours; i++) PetscCall(MatGetFactorAvailable(local, MATSOLVERPETSC, kinds[i], &has[i]));
  if (!has[spd] && has[!spd]) {
    spd            = (PetscBool)!spd;
    p->kind_reason = "the only one that PETSc has for matrices of this type";
  }
  p->kind   = kinds[spd];
  p->by_spd = (PetscBool)(spd && has[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses ILU or ICC, and the default shift of that factorization. */
static PetscErrorCode ChooseKind(PC pc, PetscBool ours, PC_SpTRSVGPU *p)
{
  PetscFunctionBegin;
  p->kind = p->requested_kind;
  if (p->kind == MAT_FACTOR_NONE) PetscCall(ChooseKindByMatrix(pc->pmat, ours, p));
  if (!p->has_shift)
    PetscCall((*p->setshifttype)(pc, p->kind == MAT_FACTOR_ICC ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering that the factor has to make: natural if PETSc's own option gives one. */
static PetscErrorCode GetOwnOrdering(PC pc, const PC_SpTRSVGPU *p, SpTRSVGPUOrdering *ordering)
{
  const char *type = p->ordering == SPTRSVGPU_ORDERING_MULTICOLOR ? MATORDERINGMULTICOLOR : MATORDERINGNATURAL;
  PetscBool   same;

  PetscFunctionBegin;
  *ordering = p->given_ordering[0] ? SPTRSVGPU_ORDERING_NATURAL : p->ordering;
  if (!p->given_ordering[0] || !p->has_ordering || p->ordering == SPTRSVGPU_ORDERING_AUTO)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(p->given_ordering, type, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "-pc_sptrsvgpu_ordering %s and -pc_factor_mat_ordering_type %s contradict each other; give one of them",
             SpTRSVGPUOrderings[p->ordering], p->given_ordering);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With another solver type there is no ICC and no ordering of ours. */
static PetscErrorCode CheckOtherSolverType(PC pc, const PC_SpTRSVGPU *p)
{
  PetscFunctionBegin;
  PetscCheck(p->kind != MAT_FACTOR_ICC, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "ICC by -pc_type %s needs its own solver type; for another one use -pc_type icc",
             ((PetscObject)pc)->type_name);
  PetscCheck(!p->has_ordering || p->ordering == SPTRSVGPU_ORDERING_NATURAL, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP,
             "-pc_sptrsvgpu_ordering %s needs the solver type %s; for another one use -pc_factor_mat_ordering_type "
             MATORDERINGMULTICOLOR,
             SpTRSVGPUOrderings[p->ordering], MATSOLVERSPTRSVGPU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HasNonzeroShift(const PC_SpTRSVGPU *p)
{
  return (PetscBool)(p->has_shift && p->shift == MAT_SHIFT_NONZERO);
}

/* Makes the factor Mat and gives it its settings. PETSc's set-up calls this; users may call it before. */
static PetscErrorCode PCFactorSetUpMatSolverType_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;
  Mat           F;
  PetscBool     ours;
  SpTRSVGPU    *s;
  const char   *prefix;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  if (pc->pmat) PetscCall(MatSetOptionsPrefixFactor(pc->pmat, prefix)); /* PETSc does that in the set-up only */
  PetscCall((*p->setupsolvertype)(pc));
  PetscUseTypeMethod(pc, getfactoredmatrix, &F); /* PCFactorGetMatrix() would call this function again */
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &ours));
  PetscCall(SetFactor(p, ours ? F : NULL));
  s = ours ? (SpTRSVGPU *)F->data : NULL;
  /* views and PCFactorGetMatrix() come here too; a factor in use keeps its kind, whatever is known of the matrix by now
     */
  if (ours && (s->host || s->on_device)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p->keep_kind) PetscCall(ChooseKind(pc, ours, p));
  if (!ours) {
    PetscCall(CheckOtherSolverType(pc, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (p->has_settings) s->settings = p->settings;
  p->has_settings          = PETSC_FALSE;
  s->settings.thread_level = p->thread_level;
  PetscCall(GetOwnOrdering(pc, p, &s->settings.ordering));
  s->kind          = p->kind;
  s->nonzero_shift = HasNonzeroShift(p);
  if (p->skip_orderings) {
    if (!pc->setupcalled) PetscCall((*p->setordering)(pc, MATORDERINGNATURAL)); /* for the view */
    F->canuseordering = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAXPY(), MatTranspose(), MatConvert() and others may replace the contents of the matrix object. Its nonzero state
   may then be the old one by chance, and PETSc reports the same pattern. So does a new preallocation on several ranks:
   it replaces the blocks, of whose states the matrix has the sum. MatConvert() in place between aij and aijcusparse
   keeps the object and its nonzero state; the factor has to follow the matrix. */
static PetscErrorCode CheckPattern(PC pc, const PC_SpTRSVGPU *p)
{
  const SpTRSVGPU *s;
  PetscObjectId    id;
  PetscObjectState pattern;
  PetscBool        cusparse, known, spd, other;
  Mat              local;

  PetscFunctionBegin;
  if (!SpTRSVGPUCurrentFactor(pc, p) || pc->flag != SAME_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  s = (const SpTRSVGPU *)p->factor->data;
  PetscCall(SpTRSVGPUGetLocal(pc->pmat, &local));
  PetscCall(PetscObjectGetId((PetscObject)local, &id));
  PetscCall(MatGetNonzeroState(local, &pattern));
  PetscCall(PetscObjectTypeCompare((PetscObject)local, MATSEQAIJCUSPARSE, &cusparse));
  other = (PetscBool)(id != s->id || pattern != s->pattern || cusparse != s->is_cusparse || p->failed);
  PetscCallMPI(
    MPIU_Allreduce(MPI_IN_PLACE, &other, 1, SPTRSVGPU_MPI_BOOL, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  if (other) pc->flag = DIFFERENT_NONZERO_PATTERN;
  PetscCall(MatIsSPDKnown(pc->pmat, &known, &spd));
  if (p->requested_kind == MAT_FACTOR_NONE && p->by_spd && known && !spd) pc->flag = DIFFERENT_NONZERO_PATTERN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If auto has chosen the multicolor order: do the new values no longer suit it? Then this set-up does another symbolic
   phase, in the natural order. auto keeps that order: later values may be like these. */
static PetscErrorCode CheckValues(PC pc, Mat F, PetscBool *leave)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  *leave = PETSC_FALSE;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO || !s->any_multicolor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUDeviceCheckValues(F, pc->pmat, s->settings.reason_natural, sizeof(s->settings.reason_natural)));
  *leave = (PetscBool)(s->settings.reason_natural[0] != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc, PC_SpTRSVGPU *p)
{
  Mat       F;
  PetscBool ours, natural;

  PetscFunctionBegin;
  /* the factor of a first set-up that has failed would keep its kind and its order; also one that a user has */
  if (p->failed && !pc->setupcalled) PetscCall(PCReset_SpTRSVGPU(pc));
  PetscCall(CheckPattern(pc, p));
  F            = SpTRSVGPUCurrentFactor(pc, p);
  p->keep_kind = PETSC_FALSE;
  if (pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN) {
    if (F) PetscCall(CheckValues(pc, F, &p->keep_kind));
    if (p->keep_kind) pc->flag = DIFFERENT_NONZERO_PATTERN;
  } else ForgetReason(p);
  if (pc->setupcalled && pc->flag != SAME_NONZERO_PATTERN) SaveSettings(p); /* PETSc makes another factor */
  /* PETSc would make two index sets for the natural ordering: 12 ms for 2e6 rows */
  PetscCall(PetscStrcmp(p->given_ordering, MATORDERINGNATURAL, &natural));
  p->skip_orderings = (PetscBool)((natural || !p->given_ordering[0]) && !p->moves_diagonal);
  /* PCILU has replaced the shift nonzero by another, unless the type is aij, and would keep that */
  if (p->has_shift) PetscCall((*p->setshifttype)(pc, p->shift));
  /* a factor that stays does not pass PCFactorSetUpMatSolverType() */
  if (F) ((SpTRSVGPU *)F->data)->nonzero_shift = HasNonzeroShift(p);
  /* with an error in the factor PETSc would not factor again */
  if (F) PetscCall(MatFactorClearError(F));
  PetscCall((*p->setup)(pc));
  PetscUseTypeMethod(pc, getfactoredmatrix, &F);
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &ours));
  if (ours) F->canuseordering = PETSC_TRUE;
  /* what the factor has used (see FactorBlock() in src/mat/numeric.c), for views and PCFactorGetShiftType() */
  if (ours && HasNonzeroShift(p) && (((SpTRSVGPU *)F->data)->is_cusparse || p->kind == MAT_FACTOR_ICC))
    PetscCall((*p->setshifttype)(pc, p->shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error the next set-up makes another factor, also if the matrix is the same: PETSc would do nothing then. */
static PetscErrorCode PCSetUp_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU  *p;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  ierr              = SetUp(pc, p);
  p->failed         = (PetscBool)(ierr != PETSC_SUCCESS);
  p->skip_orderings = p->keep_kind = PETSC_FALSE;
  if (p->failed) PetscCall(PetscObjectStateIncrease((PetscObject)pc->pmat));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  PetscCall(SpTRSVGPUGetPC(pc, &p));
  destroy = p->destroy;
  PetscCall(MatDestroy(&p->factor));
  PetscCall((*destroy)(pc));
  PetscCall(PetscObjectCompose((PetscObject)pc, SPTRSVGPU_PC_DATA, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCSPTRSVGPU = "sptrsvgpu" - Incomplete LU or Cholesky factorization with sparse triangular solves on a GPU

   Options Database Keys:
+  -pc_sptrsvgpu_factor <ilu,icc>                              - default: icc if the matrix is known to be SPD, else ilu
.  -pc_sptrsvgpu_ordering <natural,multicolor,auto>            - the order of the factor; see `PCSpTRSVGPUSetOrdering()`
.  -mat_sptrsvgpu_algorithm <name>                             - the triangular solve of L and U, or auto (default)
.  -mat_sptrsvgpu_lower <name>                                 - that of L
.  -mat_sptrsvgpu_upper <name>                                 - that of U
.  -mat_sptrsvgpu_select <model,granularity,tune>              - how auto chooses an algorithm
.  -mat_sptrsvgpu_tune_seconds <seconds>                       - time limit of tune, by default 1
.  -mat_sptrsvgpu_factorization <auto,device,host>             - where a matrix on a GPU is factored
.  -mat_sptrsvgpu_timeout <seconds>                            - time limit of a wait on a GPU, by default 30; 0: none
.  -mat_sptrsvgpu_view                                         - prints statistics, choices and memory
-  -pc_factor_...                                              - all options of `PCILU` and `PCICC`, except in_place

   Level: beginner

   Notes:
   This is PETSc's `PCILU` with the solver type `MATSOLVERSPTRSVGPU`, which `PCILU`, `PCICC` and `MatGetFactor()` also
   take. On several ranks it is block Jacobi with one block per rank; -pc_factor_mat_ordering_type must then be natural.

   A matrix of type `MATAIJCUSPARSE` is factored on the GPU where that is possible and faster, and its solves run on the
   GPU. A matrix on the host, of any type that `PCILU` or `PCICC` takes, is factored and solved with by PETSc.
   Statistics, named algorithms and the ordering multicolor need the type `MATAIJ` or one derived from it.

   If PETSc has only ICC for a type, such as `MATSBAIJ`, or only ILU, such as `MATDENSE`, that is the default.
   `MAT_SHIFT_NONZERO` holds for `MATAIJCUSPARSE` too, and for ICC of all types; `PCILU` replaces it by
   `MAT_SHIFT_INBLOCKS`.

   With complex scalars ICC on the GPU is U^H D U, which `KSPCG` needs, or U^T D U if the matrix is known to be
   symmetric and neither Hermitian nor SPD. On the host it is PETSc's U^T D U; a matrix that is known to be Hermitian
   and SPD gets ILU there by default.

   -help lists the algorithms, docs/algorithms.md describes them.

.seealso: `PCILU`, `PCICC`, `PCCAPELLINI`, `PCSpTRSVGPUSetFactorType()`, `PCSpTRSVGPUSetOrdering()`,
   `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUSetSelection()`, `MatSpTRSVGPUSetFactorization()`
M*/
static PetscErrorCode CreateFromILU(PC pc, PetscBool thread_level)
{
  PC_SpTRSVGPU *p;
  PetscErrorCode (*create)(PC);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCILU, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "This PETSc has no PC of type %s", PCILU);
  PetscCall((*create)(pc));

  PetscCall(PetscNew(&p));
  PetscCall(PetscObjectContainerCompose((PetscObject)pc, SPTRSVGPU_PC_DATA, p, PetscCtxDestroyDefault));
  p->thread_level   = thread_level;
  p->setup          = pc->ops->setup;
  p->setfromoptions = pc->ops->setfromoptions;
  p->view           = pc->ops->view;
  p->reset          = pc->ops->reset;
  p->destroy        = pc->ops->destroy;
  pc->ops->setup          = PCSetUp_SpTRSVGPU;
  pc->ops->setuponblocks  = SPTRSVGPU_SETUP_ON_BLOCKS;
  pc->ops->setfromoptions = PCSetFromOptions_SpTRSVGPU;
  pc->ops->view           = PCView_SpTRSVGPU;
  pc->ops->reset          = PCReset_SpTRSVGPU;
  pc->ops->destroy        = PCDestroy_SpTRSVGPU;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", &p->setupsolvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C",
                                       PCFactorSetUpMatSolverType_SpTRSVGPU));
  PetscCall(SpTRSVGPUWrapPCFactor(pc, p));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSPTRSVGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SpTRSVGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(CreateFromILU(pc, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCCAPELLINI = "capellini" - `PCSPTRSVGPU` with the thread-level triangular solves of CapelliniSpTRSV (ICPP 2020)

   Notes:
   For a matrix on the host it is the same as `PCSPTRSVGPU`. An algorithm that -mat_sptrsvgpu_algorithm,
   -mat_sptrsvgpu_lower or -mat_sptrsvgpu_upper names is used instead.

   Level: beginner

.seealso: `PCSPTRSVGPU`
M*/
PetscErrorCode PCCreate_Capellini(PC pc)
{
  PetscFunctionBegin;
  PetscCall(CreateFromILU(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
