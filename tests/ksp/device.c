static char help[] = "KSP types cgdevice and bcgsdevice beside PETSc's cg and bcgs: what options cannot ask for.\n\n";

/*
   Each case solves by both types and compares reason, iterations, residual history, the calls of monitors and tests,
   and the solution. It prints nothing if both agree.
*/
#include "../common.h"

enum { MOST = 400 };

/* The result of one solve */
typedef struct {
  KSPConvergedReason reason;
  PetscInt           iterations, seen; /* seen: by the monitor, or the test */
  PetscReal          norm, history[MOST + 2], solution_norm[MOST + 2];
  PetscInt           length;
  Vec                x;
} Outcome;

typedef struct {
  const char *name;
  PetscErrorCode (*prepare)(KSP, Outcome *); /* changes the KSP after its type is set */
  PetscBool cg;                              /* for cg alone */
} Case;

static PetscErrorCode SeeSolution(KSP ksp, PetscInt k, PetscReal norm, void *ctx)
{
  Outcome *o = (Outcome *)ctx;
  Vec      x;

  PetscFunctionBeginUser;
  (void)norm;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, &o->solution_norm[k]));
  o->seen = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stops by the norm of the solution, which the device does not compare. */
static PetscErrorCode TestSolution(KSP ksp, PetscInt k, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(SeeSolution(ksp, k, norm, ctx));
  *reason = k == 7 ? KSP_CONVERGED_HAPPY_BREAKDOWN : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)o;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP ksp, Outcome *o) { return KSPMonitorSet(ksp, SeeSolution, o, NULL); }
static PetscErrorCode OwnTest(KSP ksp, Outcome *o) { return KSPSetConvergenceTest(ksp, TestSolution, o, NULL); }

static PetscErrorCode FewIterations(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 3);
}
static PetscErrorCode OneIteration(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 1);
}
static PetscErrorCode Absolute(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-30, 1e-3, PETSC_CURRENT, MOST);
}
static PetscErrorCode Diverges(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, 0.9, MOST);
}
static PetscErrorCode NoNorm(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FewIterations(ksp, o));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MaximumConverges(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FewIterations(ksp, o));
  PetscCall(KSPSetConvergedNegativeCurvature(ksp, PETSC_FALSE));
  PetscCall(KSPConvergedDefaultSetConvergedMaxits(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Minimum(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetMinimumIterations(ksp, 25);
}
static PetscErrorCode Guess(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(FillVec(o->x, 5));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Right(KSP ksp, Outcome *o)
{
  PetscBool cg;

  PetscFunctionBeginUser;
  (void)o;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &cg, KSPCG, "cgdevice", ""));
  if (cg) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode RightGuess(KSP ksp, Outcome *o)
{
  PetscFunctionBeginUser;
  PetscCall(Right(ksp, o));
  PetscCall(Guess(ksp, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Eigenvalues(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetComputeEigenvalues(ksp, PETSC_TRUE);
}
static PetscErrorCode FewNorms(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPSetCheckNormIteration(ksp, 6);
}
static PetscErrorCode Radius(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPCGSetRadius(ksp, 0.5);
}

static PetscErrorCode Target(KSP ksp, Outcome *o)
{
  (void)o;
  return KSPCGSetObjectiveTarget(ksp, -0.1);
}

static const Case cases[] = {
  {"plain", Plain, PETSC_FALSE},
  {"monitor", Monitor, PETSC_FALSE},
  {"own test", OwnTest, PETSC_FALSE},
  {"few iterations", FewIterations, PETSC_FALSE},
  {"one iteration", OneIteration, PETSC_FALSE},
  {"absolute tolerance", Absolute, PETSC_FALSE},
  {"divergence", Diverges, PETSC_FALSE},
  {"no norm", NoNorm, PETSC_FALSE},
  {"converged at the limit", MaximumConverges, PETSC_FALSE},
  {"at least 25 iterations", Minimum, PETSC_FALSE},
  {"initial guess", Guess, PETSC_FALSE},
  {"right preconditioner", Right, PETSC_FALSE},
  {"right, and a guess", RightGuess, PETSC_FALSE},
  {"no norms before the sixth", FewNorms, PETSC_FALSE},
  {"eigenvalues", Eigenvalues, PETSC_TRUE},
  {"trust region", Radius, PETSC_TRUE},
  {"objective target", Target, PETSC_TRUE},
};

/* Changes of the system: A, the matrix of the preconditioner, and b */
typedef enum {
  SYSTEM_PLAIN,
  SYSTEM_INDEFINITE_MATRIX,
  SYSTEM_INDEFINITE_PC,
  SYSTEM_SINGULAR,
  SYSTEM_NAN_B,
  SYSTEM_NAN_A,
  SYSTEM_ZERO_B,
  SYSTEM_ZERO_A,
  SYSTEM_IDENTITY, /* times 2: the first iteration is exact */
  SYSTEMS
} System;
static const char *const systems[] = {
  "",         "indefinite matrix", "indefinite preconditioner", "null space", "NaN in b",
  "NaN in A", "b = 0",             "A = 0",                     "A = 2 I"};

static PetscErrorCode MakeSystem(System s, Mat *A, Mat *P, Vec *b)
{
  Problem  problem = PROBLEM_POISSON;
  PetscInt n;
  Vec      d;

  PetscFunctionBeginUser;
  PetscCall(ProblemFromOptions(PETSC_COMM_WORLD, problem, 400, &problem, A));
  PetscCall(MatDuplicate(*A, MAT_COPY_VALUES, P));
  PetscCall(MatCreateVecs(*A, &d, b));
  PetscCall(MatGetSize(*A, &n, NULL));
  PetscCall(FillVec(*b, 1));
  /* A condition number of at most 3: the iterations of BiCGStab do not depend on how the BLAS rounds */
  if (s == SYSTEM_INDEFINITE_PC) PetscCall(MatShift(*A, 4));
  if (s == SYSTEM_INDEFINITE_MATRIX || s == SYSTEM_INDEFINITE_PC || s == SYSTEM_NAN_A) {
    const Mat changed = s == SYSTEM_INDEFINITE_PC ? *P : *A;

    PetscCall(MatGetDiagonal(changed, d));
    for (PetscInt i = 0; i < n; i += 3) PetscCall(VecSetValue(d, i, s == SYSTEM_NAN_A ? NAN : -5, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(d));
    PetscCall(VecAssemblyEnd(d));
    PetscCall(MatDiagonalSet(changed, d, INSERT_VALUES));
  }
  if (s == SYSTEM_SINGULAR) {
    MatNullSpace constant;

    PetscCall(MatGetRowSum(*A, d));
    PetscCall(VecScale(d, -1));
    PetscCall(MatDiagonalSet(*A, d, ADD_VALUES));
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constant));
    PetscCall(MatSetNullSpace(*A, constant));
    PetscCall(MatNullSpaceRemove(constant, *b));
    PetscCall(MatNullSpaceDestroy(&constant));
  }
  if (s == SYSTEM_NAN_B) PetscCall(VecSetValue(*b, PetscMin(7, n - 1), NAN, INSERT_VALUES));
  if (s == SYSTEM_NAN_B) PetscCall(VecAssemblyBegin(*b));
  if (s == SYSTEM_NAN_B) PetscCall(VecAssemblyEnd(*b));
  if (s == SYSTEM_ZERO_B) PetscCall(VecSet(*b, 0));
  if (s == SYSTEM_ZERO_A || s == SYSTEM_IDENTITY) PetscCall(MatZeroEntries(*A));
  if (s == SYSTEM_IDENTITY) {
    PetscCall(VecSet(d, 2));
    PetscCall(MatDiagonalSet(*A, d, INSERT_VALUES));
    PetscCall(MatCopy(*A, *P, SAME_NONZERO_PATTERN));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view says where the scalars were, or why PETSc's own type solved. */
static PetscErrorCode CheckView(KSP ksp, const Case *c, Mat A)
{
  const char *what = "scalars on the GPU; ";
  char        text[8192];
  PetscBool   device;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(ViewText((PetscObject)ksp, text, sizeof(text)));
  if (!device || !PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX)) what = "solved by PETSc's own type: ";
  if (c->prepare != Plain) what = "solved by PETSc's own type: it has a trust region or a target\n";
  if (!strstr(text, what))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the view lacks \"%s\":\n%s", c->name, what, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves twice by one KSP; the second solve counts. */
static PetscErrorCode Solve(const char type[], const Case *c, KSPNormType norm, Mat A, Mat P, Vec b, Outcome *o)
{
  const PetscReal *history;
  PetscInt         length;
  KSP              ksp;
  PC               pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, offsetof(Outcome, x)));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetNormType(ksp, norm));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, MOST));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetFromOptions(ksp));
  for (int i = 0; i < 2; i++) {
    PetscCall(VecSet(o->x, 0));
    if (!i) PetscCall(KSPSetResidualHistory(ksp, NULL, MOST + 2, PETSC_TRUE));
    PetscCall((*c->prepare)(ksp, o));
    PetscCall(KSPSolve(ksp, b, o->x));
  }
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(KSPGetResidualNorm(ksp, &o->norm));
  PetscCall(KSPGetResidualHistory(ksp, &history, &length));
  o->length = PetscMin(length, MOST + 2);
  PetscCall(PetscArraycpy(o->history, history, o->length));
  if (strstr(type, "device") && (c->prepare == Plain || c->prepare == Radius || c->prepare == Target))
    PetscCall(CheckView(ksp, c, A));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Differ(PetscReal a, PetscReal b, PetscReal scale)
{
  if (PetscIsNanReal(a) || PetscIsNanReal(b)) return (PetscBool)(PetscIsNanReal(a) != PetscIsNanReal(b));
  return (PetscBool) !(PetscAbsReal(a - b) <= 1e-6 * PetscAbsReal(b) + 1e-12 * scale || a == b);
}

/* Rounding errors grow fast in BiCGStab: for a definite matrix only its first norms are the same, and it may take some
   iterations more or less. Once a norm consists of rounding errors, an exact zero ends one solve and not the other. */
static PetscErrorCode Compare(const char what[], PetscBool cg, PetscInt norms, const Outcome *ours,
                              const Outcome *petsc)
{
  const PetscReal scale = petsc->history[0];
  const PetscBool exact =
    (PetscBool)(ours->reason > 0 && petsc->reason > 0 && PetscMax(ours->norm, petsc->norm) <= 1e-13 * scale);
  const PetscInt most = cg ? exact : 2 + petsc->iterations / 8;

  PetscFunctionBeginUser;
  if ((ours->reason != petsc->reason && !exact) || PetscAbsInt(ours->iterations - petsc->iterations) > most ||
      ours->length - ours->iterations != petsc->length - petsc->iterations || (!most && ours->seen != petsc->seen)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%s: %s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " norms, %" PetscInt_FMT
                          " seen; should be %s, %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT "\n",
                          what, KSPConvergedReasons[ours->reason], ours->iterations, ours->length, ours->seen,
                          KSPConvergedReasons[petsc->reason], petsc->iterations, petsc->length, petsc->seen));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < norms; i++) {
    if (Differ(ours->history[i], petsc->history[i], scale) ||
        Differ(ours->solution_norm[i], petsc->solution_norm[i], 1)) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "%s: norm %" PetscInt_FMT " is %.10e, of the solution %.10e; should be %.10e, %.10e\n",
                            what, i, (double)ours->history[i], (double)ours->solution_norm[i],
                            (double)petsc->history[i], (double)petsc->solution_norm[i]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if ((!most || petsc->norm == 0) && Differ(ours->norm, petsc->norm, scale))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the last norm is %g, should be %g\n", what, (double)ours->norm,
                          (double)petsc->norm));
  if (petsc->reason > 0) PetscCall(CheckVec(what, ours->x, petsc->x, 1e-5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  static Outcome ours, petsc;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  for (System s = SYSTEM_PLAIN; s < SYSTEMS; s++) {
    Mat A, P;
    Vec b;

    PetscCall(MakeSystem(s, &A, &P, &b));
    PetscCall(VecDuplicate(b, &ours.x));
    PetscCall(VecDuplicate(b, &petsc.x));
    for (size_t c = 0; c < (s == SYSTEM_PLAIN ? PETSC_STATIC_ARRAY_LENGTH(cases) : 1); c++) {
      for (KSPNormType norm = KSP_NORM_PRECONDITIONED; norm <= KSP_NORM_NATURAL; norm++) {
        for (int cg = 1; cg >= 0; cg--) {
          char what[256];

          if (!cg && (norm != KSP_NORM_PRECONDITIONED || cases[c].cg)) continue;
          PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s %s", cg ? "cg" : "bcgs", KSPNormTypes[norm],
                                  cases[c].name, systems[s]));
          PetscCall(Solve(cg ? KSPCG : KSPBCGS, &cases[c], norm, A, P, b, &petsc));
          PetscCall(Solve(cg ? "cgdevice" : "bcgsdevice", &cases[c], norm, A, P, b, &ours));
          PetscCall(Compare(what, (PetscBool)cg, cg ? petsc.iterations + 1 : s == SYSTEM_PLAIN ? 5 : 0, &ours, &petsc));
        }
      }
    }
    PetscCall(VecDestroy(&ours.x));
    PetscCall(VecDestroy(&petsc.x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&P));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/empty.out
      test:
         suffix: cases
      test:
         suffix: sizes
         args: -n {{1 2 33 1025}}

TEST*/
