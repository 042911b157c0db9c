static char help[] = "KSP types cgdevice and bcgsdevice beside PETSc's cg and bcgs: what options cannot ask for.\n\n";

/*
   Each case solves by both types and compares reason, iterations, residual history, the calls of monitors and tests,
   and the solution. It prints nothing if both agree.
*/
#include "cases.h"

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
static PetscErrorCode CheckView(KSP ksp, const char what[], const Case *c, Mat A)
{
  const PetscBool waits  = (PetscBool)(c->prepare == Monitor || c->prepare == OwnTest);
  const char     *reason = c->reason;
  char            text[8192], line[128];
  PetscBool       device, cg;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, "cgdevice", &cg));
  if (cg && c->prepare == RightGuess) reason = NULL; /* the preconditioner of CG is on the left */
  PetscCall(ViewText((PetscObject)ksp, text, sizeof(text)));
  if (!device || !PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX))
    PetscCall(PetscStrncpy(line, "solved by PETSc's own type: ", sizeof(line)));
  else if (reason)
    PetscCall(PetscSNPrintf(line, sizeof(line), "solved by PETSc's own type: %s\n", reason));
  else
    PetscCall(PetscSNPrintf(line, sizeof(line), "scalars on the GPU; the host is %s\n",
                            waits ? "not behind" : "one iteration behind"));
  if (!strstr(text, line))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: the view lacks \"%s\":\n%s", what, line, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves twice by one KSP; the second solve counts. */
static PetscErrorCode Solve(const char type[], const char what[], const Case *c, KSPNormType norm, Mat A, Mat P, Vec b,
                            Outcome *o)
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
    PetscCall(VecBindToCPU(o->x, PETSC_FALSE));
    PetscCall(VecSet(o->x, 0));
    PetscCall(VecCopy(b, o->b));
    if (!i) PetscCall(KSPSetResidualHistory(ksp, NULL, MOST + 2, PETSC_TRUE));
    PetscCall((*c->prepare)(ksp, o));
    PetscCall(KSPSolve(ksp, o->b, o->x));
  }
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(KSPGetResidualNorm(ksp, &o->norm));
  PetscCall(KSPGetResidualHistory(ksp, &history, &length));
  o->length = PetscMin(length, MOST + 2);
  PetscCall(PetscArraycpy(o->history, history, o->length));
  if (strstr(type, "device")) PetscCall(CheckView(ksp, what, c, A));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Differ(PetscReal a, PetscReal b, PetscReal scale)
{
  if (PetscIsNanReal(a) || PetscIsNanReal(b)) return (PetscBool)(PetscIsNanReal(a) != PetscIsNanReal(b));
  return (PetscBool) !(PetscAbsReal(a - b) <= 1e-6 * PetscAbsReal(b) + 1e-12 * scale || a == b);
}

/* Rounding errors grow fast in BiCGStab: only its first norms are the same, and it may take some iterations more or
   less. Once a norm consists of rounding errors, an exact zero ends one solve and not the other. */
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
  static Outcome ours, petsc, *const both[] = {&ours, &petsc};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  for (System s = SYSTEM_PLAIN; s < SYSTEMS; s++) {
    Mat A, P;
    Vec b;

    PetscCall(MakeSystem(s, &A, &P, &b));
    for (int i = 0; i < 2; i++) {
      PetscCall(VecDuplicate(b, &both[i]->x));
      PetscCall(VecDuplicate(b, &both[i]->b));
    }
    for (size_t c = 0; c < (s == SYSTEM_PLAIN ? PETSC_STATIC_ARRAY_LENGTH(cases) : 1); c++) {
      for (KSPNormType norm = KSP_NORM_PRECONDITIONED; norm <= KSP_NORM_NATURAL; norm++) {
        for (int cg = 1; cg >= 0; cg--) {
          char what[256];

          if (!cg && (norm != KSP_NORM_PRECONDITIONED || cases[c].cg)) continue;
          PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s %s", cg ? "cg" : "bcgs", KSPNormTypes[norm],
                                  cases[c].name, systems[s]));
          PetscCall(Solve(cg ? KSPCG : KSPBCGS, what, &cases[c], norm, A, P, b, &petsc));
          PetscCall(Solve(cg ? "cgdevice" : "bcgsdevice", what, &cases[c], norm, A, P, b, &ours));
          PetscCall(Compare(what, (PetscBool)cg, cg ? petsc.iterations + 1 : s == SYSTEM_PLAIN ? 5 : 4, &ours, &petsc));
        }
      }
    }
    for (int i = 0; i < 2; i++) {
      PetscCall(VecDestroy(&both[i]->x));
      PetscCall(VecDestroy(&both[i]->b));
    }
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
