/*
   The PC types sptrsvgpu and capellini: PETSc's own ILU preconditioner with our solver type preset.

   PETSc's creator makes the PC; a few of its operations and PCFactor functions are then wrapped here. Whether the factor is ILU or ICC
   is the factor Mat's business: PETSc's PCILU calls the same steps for both.
*/
#include "impl.h"
#include <petsc/private/pcimpl.h>

static const char key[] = "SpTRSVGPU"; /* of the object that a PC carries */

typedef struct {
  PetscBool          thread_level; /* capellini */
  MatFactorType      asked;     /* MAT_FACTOR_NONE until the user says which */
  MatFactorType      kind;      /* what the set-up makes of it */
  const char        *why;       /* it is that, where the user does not say */
  PetscBool          shiftset;  /* has the user chosen the shift? */
  MatFactorShiftType shift;
  PetscBool          reordered; /* has the user asked for nonzeros along the diagonal? */
  PetscBool          natural;   /* the set-up under way needs no index sets */
  PetscBool          failed;     /* did the last set-up end with an error? */
  PetscBool          reordering; /* it has another factor of the same pattern made, in another order: ILU or ICC as it was */
  Mat                factor;    /* PETSc's part's, a reference; NULL where there is none, or it is another solver type's */
  PetscBool          saved;     /* settings are those of a factor that another is to replace */
  SpTRSVGPUSettings  settings;
  PetscErrorCode (*setup)(PC); /* PETSc's own */
  PetscErrorCode (*setfromoptions)(PC, SpTRSVGPUOptionItems);
  PetscErrorCode (*view)(PC, PetscViewer);
  PetscErrorCode (*reset)(PC);
  PetscErrorCode (*destroy)(PC);
  PetscErrorCode (*setupsolvertype)(PC);
  PetscErrorCode (*setshifttype)(PC, MatFactorShiftType);
  PetscErrorCode (*setordering)(PC, MatOrderingType);
  PetscErrorCode (*reorder)(PC, PetscReal);
  char              given[64];   /* the MatOrderingType that the user has named, "" for none */
  SpTRSVGPUOrdering ordering;    /* what is asked of us */
  PetscBool         orderingset; /* by the user? */
} PC_SpTRSVGPU;

static PetscErrorCode GetData(PC pc, PC_SpTRSVGPU **data)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectContainerQuery((PetscObject)pc, key, (void *)data));
  PetscCheck(*data, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "Not a preconditioner of type %s", PCSPTRSVGPU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor Mat of the last set-up. PCFactorGetMatrix() would make one where there is none, which may fail: not on the way to a reset. */
static Mat Factor(PC pc, const PC_SpTRSVGPU *p) { return pc->setupcalled ? p->factor : NULL; }

/* Notes the factor that PETSc's part has made. */
static PetscErrorCode SetFactor(PC_SpTRSVGPU *p, Mat F)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)F));
  PetscCall(MatDestroy(&p->factor));
  p->factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What values have shown of a pattern says nothing of the next one. */
static void Forget(PC_SpTRSVGPU *p)
{
  if (p->factor) ((SpTRSVGPU *)p->factor->data)->settings.reason_natural[0] = 0;
}

/* Before the factor goes: the next one has its settings. */
static void Save(PC_SpTRSVGPU *p)
{
  if (!p->factor) return;
  p->settings = ((SpTRSVGPU *)p->factor->data)->settings;
  p->saved    = PETSC_TRUE;
}

/* Also that of PCFactorSetLevels() and the like, after a set-up. Whatever became of the matrix, this does not fail. */
static PetscErrorCode PCReset_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  Forget(p);
  Save(p);
  PetscCall(MatDestroy(&p->factor));
  PetscCall((*p->reset)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ICC if the matrix is known to be SPD, else ILU; or, where PETSc has but one of them for the matrix's type, that one. */
static PetscErrorCode KindByMatrix(Mat A, PetscBool ours, PC_SpTRSVGPU *p)
{
  static const MatFactorType kinds[] = {MAT_FACTOR_ILU, MAT_FACTOR_ICC};
  PetscBool                  set, spd, has[2] = {PETSC_TRUE, PETSC_TRUE};
  Mat                        local;

  PetscFunctionBegin;
  PetscCall(MatIsSPDKnown(A, &set, &spd));
  spd    = (PetscBool)(set && spd);
  p->why = spd ? "the matrix having been known to be SPD" : "the matrix not having been known to be SPD";
  if (ours) PetscCall(SpTRSVGPUGetLocal(A, &local));
  for (int i = 0; i < 2 && ours; i++) PetscCall(MatGetFactorAvailable(local, MATSOLVERPETSC, kinds[i], &has[i]));
  if (!has[spd] && has[!spd]) {
    spd    = (PetscBool)!spd;
    p->why = "the only one that PETSc has for matrices of this type";
  }
  p->kind = kinds[spd];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settles on ILU or ICC, and on the default shift that belongs to it. */
static PetscErrorCode ChooseKind(PC pc, PetscBool ours, PC_SpTRSVGPU *p)
{
  PetscFunctionBegin;
  p->kind = p->asked;
  if (p->kind == MAT_FACTOR_NONE) PetscCall(KindByMatrix(pc->pmat, ours, p));
  if (!p->shiftset) PetscCall((*p->setshifttype)(pc, p->kind == MAT_FACTOR_ICC ? MAT_SHIFT_POSITIVE_DEFINITE : MAT_SHIFT_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left for us to order, once PETSc's own option has been heeded. */
static PetscErrorCode GetOwnOrdering(PC pc, const PC_SpTRSVGPU *p, SpTRSVGPUOrdering *ordering)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  *ordering = p->given[0] ? SPTRSVGPU_ORDERING_NATURAL : p->ordering;
  if (!p->given[0] || !p->orderingset || p->ordering == SPTRSVGPU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(p->given, p->ordering == SPTRSVGPU_ORDERING_MULTICOLOR ? MATORDERINGMULTICOLOR : MATORDERINGNATURAL, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP, "-pc_sptrsvgpu_ordering %s and -pc_factor_mat_ordering_type %s contradict each other; give one of them", SpTRSVGPUOrderings[p->ordering], p->given);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called by PETSc's set-up, and by users before it, wherever a factor Mat is made. */
static PetscErrorCode PCFactorSetUpMatSolverType_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;
  Mat           F;
  PetscBool     ours;
  SpTRSVGPU    *s;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall((*p->setupsolvertype)(pc));
  PetscUseTypeMethod(pc, getfactoredmatrix, &F); /* PCFactorGetMatrix() itself would come back here */
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &ours));
  PetscCall(SetFactor(p, ours ? F : NULL));
  /* views and PCFactorGetMatrix() come here too: a factor in use stays what it is, whatever the matrix is known to be by now */
  if (ours && (((SpTRSVGPU *)F->data)->host || ((SpTRSVGPU *)F->data)->on_device)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!p->reordering) PetscCall(ChooseKind(pc, ours, p));
  if (!ours) {
    PetscCheck(p->kind != MAT_FACTOR_ICC, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "ICC by -pc_type %s needs its own solver type; for another one use -pc_type icc", ((PetscObject)pc)->type_name);
    PetscCheck(!p->orderingset || p->ordering == SPTRSVGPU_ORDERING_NATURAL, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_sptrsvgpu_ordering %s needs the solver type %s; for another one use -pc_factor_mat_ordering_type " MATORDERINGMULTICOLOR, SpTRSVGPUOrderings[p->ordering], MATSOLVERSPTRSVGPU);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s = (SpTRSVGPU *)F->data;
  if (p->saved) s->settings = p->settings;
  p->saved           = PETSC_FALSE;
  s->settings.thread_level = p->thread_level;
  PetscCall(GetOwnOrdering(pc, p, &s->settings.ordering));
  s->kind            = p->kind;
  s->nonzero_shift   = (PetscBool)(p->shiftset && p->shift == MAT_SHIFT_NONZERO);
  if (p->natural) {
    if (!pc->setupcalled) PetscCall((*p->setordering)(pc, MATORDERINGNATURAL)); /* for the view */
    F->canuseordering = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorReorderForNonzeroDiagonal_SpTRSVGPU(PC pc, PetscReal tolerance)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall((*p->reorder)(pc, tolerance));
  p->reordered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetShiftType_SpTRSVGPU(PC pc, MatFactorShiftType shift)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall((*p->setshifttype)(pc, shift));
  p->shiftset = PETSC_TRUE;
  p->shift    = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetMatOrderingType_SpTRSVGPU(PC pc, MatOrderingType type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall((*p->setordering)(pc, type));
  PetscCall(PetscStrncpy(p->given, type, sizeof(p->given)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetUseInPlace_SpTRSVGPU(PC pc, PetscBool flg)
{
  PetscFunctionBegin;
  PetscCheck(!flg, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_type %s does not factor in place: the matrix stays as it is, and the factor has a layout of its own", ((PetscObject)pc)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAXPY(), MatTranspose(), MatConvert() and others put another matrix in the place of ours, whose pattern PETSc then takes for the same where its state
   happens to be. After a set-up that failed there may be no pattern. */
static PetscErrorCode CheckPattern(PC pc, const PC_SpTRSVGPU *p)
{
  const SpTRSVGPU *s;
  PetscObjectId    id;
  PetscObjectState pattern;

  PetscFunctionBegin;
  if (!Factor(pc, p) || pc->flag != SAME_NONZERO_PATTERN) PetscFunctionReturn(PETSC_SUCCESS);
  s = (SpTRSVGPU *)p->factor->data;
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &id));
  PetscCall(MatGetNonzeroState(pc->pmat, &pattern));
  if (id != s->id || pattern != s->pattern || p->failed) pc->flag = DIFFERENT_NONZERO_PATTERN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do new values in the same pattern keep auto, which has taken the multicolor order, from it? Then another symbolic phase
   takes the natural order, for good: values that were far from symmetric once may be so again. */
static PetscErrorCode LeaveMulticolor(PC pc, Mat F, PetscBool *leave)
{
  SpTRSVGPU *s = (SpTRSVGPU *)F->data;

  PetscFunctionBegin;
  *leave = PETSC_FALSE;
  if (s->settings.ordering != SPTRSVGPU_ORDERING_AUTO || !s->any_multicolor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SpTRSVGPUDeviceCheckValues(F, pc->pmat, s->settings.reason_natural, sizeof(s->settings.reason_natural)));
  *leave = (PetscBool)!!s->settings.reason_natural[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU  *p;
  Mat            F;
  PetscBool      ours;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall(CheckPattern(pc, p));
  p->reordering = PETSC_FALSE;
  if (pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN) {
    if (Factor(pc, p)) PetscCall(LeaveMulticolor(pc, p->factor, &p->reordering));
    if (p->reordering) pc->flag = DIFFERENT_NONZERO_PATTERN;
  } else Forget(p);
  if (pc->setupcalled && pc->flag != SAME_NONZERO_PATTERN) Save(p); /* PETSc's part makes another */
  /* the natural ordering would be made as two lists of all rows, which takes 12 ms for 2e6 */
  PetscCall(PetscStrcmp(p->given, MATORDERINGNATURAL, &p->natural));
  p->natural = (PetscBool)((p->natural || !p->given[0]) && !p->reordered);
  /* PETSc's part does not factor where the factor tells of an error, and so would never get over one */
  F = Factor(pc, p);
  if (F) PetscCall(MatFactorClearError(F));
  ierr = (*p->setup)(pc);
  p->natural = p->reordering = PETSC_FALSE;
  p->failed  = (PetscBool)!!ierr;
  if (ierr) PetscCall(PetscObjectStateIncrease((PetscObject)pc->pmat)); /* or the next set-up would find nothing new */
  PetscCall(ierr);
  PetscUseTypeMethod(pc, getfactoredmatrix, &F);
  PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSOLVERSPTRSVGPU, &ours));
  if (ours) F->canuseordering = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_SpTRSVGPU(PC pc, SpTRSVGPUOptionItems PetscOptionsObject)
{
  static const char *const kinds[] = {"ilu", "icc"};
  PC_SpTRSVGPU            *p;
  PetscInt                 kind;
  PetscEnum                ordering;
  PetscBool                set;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscOptionsHeadBegin(PetscOptionsObject, "Incomplete factorization with sparse triangular solves on a GPU");
  PetscCall(PetscOptionsEList("-pc_sptrsvgpu_factor", "ilu or icc; where not given, icc if the matrix is known to be SPD", "PCSpTRSVGPUSetFactorType", kinds, 2, p->asked == MAT_FACTOR_NONE ? "by the matrix" : kinds[p->asked == MAT_FACTOR_ICC], &kind, &set));
  if (set) PetscCall(PCSpTRSVGPUSetFactorType(pc, kind ? MAT_FACTOR_ICC : MAT_FACTOR_ILU));
  PetscCall(PetscOptionsEnum("-pc_sptrsvgpu_ordering", "Order in which the matrix is factored", "PCSpTRSVGPUSetOrdering", SpTRSVGPUOrderings, (PetscEnum)p->ordering, &ordering, &set));
  if (set) PetscCall(PCSpTRSVGPUSetOrdering(pc, (SpTRSVGPUOrdering)ordering));
  PetscOptionsHeadEnd();
  PetscCall((*p->setfromoptions)(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's view prints the MatOrderingType that PETSc knows: for as long as that takes, it is the order made here. */
static PetscErrorCode ViewPetsc(PC pc, const PC_SpTRSVGPU *p, PetscViewer viewer)
{
  const Mat       F      = Factor(pc, p);
  const PetscBool colored = (PetscBool)(F && ((SpTRSVGPU *)F->data)->any_multicolor);
  const int       called = (int)pc->setupcalled;

  PetscFunctionBegin;
  pc->setupcalled = PETSC_FALSE; /* or PETSc would not change its name */
  if (colored) PetscCall((*p->setordering)(pc, MATORDERINGMULTICOLOR));
  pc->setupcalled = called;
  PetscCall((*p->view)(pc, viewer));
  pc->setupcalled = PETSC_FALSE;
  if (colored) PetscCall((*p->setordering)(pc, MATORDERINGNATURAL)); /* ours is made where PETSc's is natural */
  pc->setupcalled = called;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_SpTRSVGPU(PC pc, PetscViewer viewer)
{
  PC_SpTRSVGPU *p;
  Mat           F;
  PetscBool     ascii;
  PetscMPIInt   size;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  F = Factor(pc, p);
  if (ascii) {
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
    if (F)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s factorization%s%s\n",
                                       F->factortype == MAT_FACTOR_ICC ? "incomplete Cholesky" : "incomplete LU",
                                       p->asked == MAT_FACTOR_NONE ? ", " : "", p->asked == MAT_FACTOR_NONE ? p->why : ""));
    if (size > 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  block Jacobi: one block for each of %d ranks\n", size));
    if (F && p->thread_level) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s\n", ((SpTRSVGPU *)F->data)->memory == TRSV_DEVICE ? "thread-level kernels preferred" : "the matrix is not on a GPU: the same as " PCSPTRSVGPU));
  }
  PetscCall(ViewPetsc(pc, p, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next set-up starts anew; as PCFactorSetLevels() does it. */
static PetscErrorCode Restart(PC pc)
{
  PetscFunctionBegin;
  PetscUseTypeMethod(pc, reset);
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUSetFactorType_SpTRSVGPU(PC pc, MatFactorType type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCheck(type == MAT_FACTOR_ILU || type == MAT_FACTOR_ICC, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "MAT_FACTOR_ILU or MAT_FACTOR_ICC, not %s", MatFactorTypes[type]);
  if (pc->setupcalled && type != p->kind) PetscCall(Restart(pc));
  p->asked = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUSetOrdering_SpTRSVGPU(PC pc, SpTRSVGPUOrdering ordering)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  PetscCheck(ordering >= SPTRSVGPU_ORDERING_NATURAL && ordering <= SPTRSVGPU_ORDERING_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "No ordering of number %d", (int)ordering);
  if (pc->setupcalled && ordering != p->ordering) PetscCall(Restart(pc));
  p->ordering    = ordering;
  p->orderingset = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUGetOrdering_SpTRSVGPU(PC pc, SpTRSVGPUOrdering *ordering)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  *ordering = p->ordering;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUGetChosenOrdering_SpTRSVGPU(PC pc, SpTRSVGPUOrdering *ordering)
{
  PC_SpTRSVGPU *p;
  Mat           F;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  F         = Factor(pc, p);
  *ordering = F && ((SpTRSVGPU *)F->data)->any_multicolor ? SPTRSVGPU_ORDERING_MULTICOLOR : SPTRSVGPU_ORDERING_NATURAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUGetFactorType_SpTRSVGPU(PC pc, MatFactorType *type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  *type = p->asked;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSpTRSVGPUGetChosenFactorType_SpTRSVGPU(PC pc, MatFactorType *type)
{
  PC_SpTRSVGPU *p;

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  *type = pc->setupcalled ? p->kind : MAT_FACTOR_NONE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions that are composed: PETSc's, wrapped, and ours. */
static const struct {
  const char *name;
  void (*function)(void);
  PetscBool own; /* not taken away by PETSc's part when the PC is destroyed */
} methods[] = {
  {"PCFactorSetUpMatSolverType_C",        (void (*)(void))PCFactorSetUpMatSolverType_SpTRSVGPU,        PETSC_FALSE},
  {"PCFactorSetShiftType_C",              (void (*)(void))PCFactorSetShiftType_SpTRSVGPU,              PETSC_FALSE},
  {"PCFactorSetMatOrderingType_C",        (void (*)(void))PCFactorSetMatOrderingType_SpTRSVGPU,        PETSC_FALSE},
  {"PCFactorReorderForNonzeroDiagonal_C", (void (*)(void))PCFactorReorderForNonzeroDiagonal_SpTRSVGPU, PETSC_FALSE},
  {"PCFactorSetUseInPlace_C",             (void (*)(void))PCFactorSetUseInPlace_SpTRSVGPU,             PETSC_FALSE},
  {"PCSpTRSVGPUSetFactorType_C",          (void (*)(void))PCSpTRSVGPUSetFactorType_SpTRSVGPU,          PETSC_TRUE },
  {"PCSpTRSVGPUGetFactorType_C",          (void (*)(void))PCSpTRSVGPUGetFactorType_SpTRSVGPU,          PETSC_TRUE },
  {"PCSpTRSVGPUGetChosenFactorType_C",    (void (*)(void))PCSpTRSVGPUGetChosenFactorType_SpTRSVGPU,    PETSC_TRUE },
  {"PCSpTRSVGPUSetOrdering_C",            (void (*)(void))PCSpTRSVGPUSetOrdering_SpTRSVGPU,            PETSC_TRUE },
  {"PCSpTRSVGPUGetOrdering_C",            (void (*)(void))PCSpTRSVGPUGetOrdering_SpTRSVGPU,            PETSC_TRUE },
  {"PCSpTRSVGPUGetChosenOrdering_C",      (void (*)(void))PCSpTRSVGPUGetChosenOrdering_SpTRSVGPU,      PETSC_TRUE },
};

static PetscErrorCode PCDestroy_SpTRSVGPU(PC pc)
{
  PC_SpTRSVGPU *p;
  PetscErrorCode (*destroy)(PC);

  PetscFunctionBegin;
  PetscCall(GetData(pc, &p));
  destroy = p->destroy;
  PetscCall(MatDestroy(&p->factor));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(methods); i++)
    if (methods[i].own) PetscCall(PetscObjectComposeFunction((PetscObject)pc, methods[i].name, NULL));
  PetscCall((*destroy)(pc));
  PetscCall(PetscObjectCompose((PetscObject)pc, key, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCSPTRSVGPU = "sptrsvgpu" - Incomplete LU or Cholesky factorization whose triangular solves run on a GPU, each by a kernel that is
   chosen from the statistics of its factor; by PETSc's own on the host where the matrix is there.

   Options Database Keys:
+  -pc_sptrsvgpu_factor <ilu,icc>     - which; by default icc if the matrix is known to be SPD, else ilu
.  -pc_sptrsvgpu_ordering <natural,multicolor,auto> - the order in which the matrix is factored, natural by default; see `PCSpTRSVGPUSetOrdering()`
.  -mat_sptrsvgpu_algorithm <name>    - the triangular solve for both factors, auto by default; `-help` lists them, docs/algorithms.md describes them
.  -mat_sptrsvgpu_lower <name>        - for L
.  -mat_sptrsvgpu_upper <name>        - for U
.  -mat_sptrsvgpu_select <model,granularity,tune> - what chooses for auto
.  -mat_sptrsvgpu_tune_seconds <seconds> - how long tune may measure, 1 by default
.  -mat_sptrsvgpu_factorization <auto,device,host,cusparse> - where the matrix is factored if it lives on a GPU
.  -mat_sptrsvgpu_view                - show statistics, choice and memory
-  -pc_factor_...                     - all options of PCILU and PCICC but -pc_factor_in_place

   Level: beginner

   Notes:
   This is PETSc's own ILU preconditioner with the solver type `MATSOLVERSPTRSVGPU`, which `PCILU`, `PCICC` and `MatGetFactor()` take as well. On
   several ranks it is block Jacobi, with one block a rank; -pc_factor_mat_ordering_type must be natural there.

   Matrices of type `MATAIJCUSPARSE` are solved with on the GPU. Those of any type of the host that `PCILU` or `PCICC` take
   are factored and solved with by PETSc, as by these. Statistics, an algorithm that is named and the ordering multicolor need the
   type `MATAIJ`, or one derived from it. Where PETSc has ICC alone, as for `MATSBAIJ`, or ILU alone, as for `MATDENSE`,
   that is the default. `MAT_SHIFT_NONZERO` holds for `MATAIJCUSPARSE`, too, where `PCILU` turns it into
   `MAT_SHIFT_INBLOCKS`.

.seealso: `PCILU`, `PCICC`, `PCSpTRSVGPUSetFactorType()`, `PCSpTRSVGPUSetOrdering()`, `MatSpTRSVGPUSetAlgorithm()`, `MatSpTRSVGPUSetSelect()`, `PCCAPELLINI`
M*/
static PetscErrorCode Create(PC pc, PetscBool thread_level)
{
  PC_SpTRSVGPU *p;
  PetscErrorCode (*create)(PC);

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, PCILU, &create));
  PetscCheck(create, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "This PETSc has no PC of type %s", PCILU);
  PetscCall((*create)(pc));

  PetscCall(PetscNew(&p));
  PetscCall(PetscObjectContainerCompose((PetscObject)pc, key, p, PetscCtxDestroyDefault));
  p->thread_level   = thread_level;
  p->asked          = MAT_FACTOR_NONE;
  p->kind           = MAT_FACTOR_ILU;
  p->setup          = pc->ops->setup;
  p->setfromoptions = pc->ops->setfromoptions;
  p->view           = pc->ops->view;
  p->reset          = pc->ops->reset;
  p->destroy        = pc->ops->destroy;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", &p->setupsolvertype));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetShiftType_C", &p->setshifttype));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetMatOrderingType_C", &p->setordering));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorReorderForNonzeroDiagonal_C", &p->reorder));

  pc->ops->setup          = PCSetUp_SpTRSVGPU;
  pc->ops->setuponblocks  = SPTRSVGPU_SETUP_ON_BLOCKS;
  pc->ops->setfromoptions = PCSetFromOptions_SpTRSVGPU;
  pc->ops->view           = PCView_SpTRSVGPU;
  pc->ops->reset          = PCReset_SpTRSVGPU;
  pc->ops->destroy        = PCDestroy_SpTRSVGPU;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(methods); i++)
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, methods[i].name, methods[i].function));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSPTRSVGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCreate_SpTRSVGPU(PC pc)
{
  PetscFunctionBegin;
  PetscCall(Create(pc, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCCAPELLINI = "capellini" - `PCSPTRSVGPU` with the thread-level kernels of CapelliniSpTRSV (ICPP 2020) for both factors, where the matrix is
   on a GPU; the same as `PCSPTRSVGPU` where it is not. -mat_sptrsvgpu_algorithm, _lower and _upper overrule it.

   Level: beginner

.seealso: `PCSPTRSVGPU`
M*/
PetscErrorCode PCCreate_Capellini(PC pc)
{
  PetscFunctionBegin;
  PetscCall(Create(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
