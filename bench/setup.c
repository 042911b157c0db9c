static char help[] = "Times of set-ups, of the solve after them, and of single applies.\n\
  -f <file> : a matrix in Matrix Market's format; or\n\
  -dim <2,3> -n <n> : the Laplacian of 5 or 7 points on n^dim points\n\
  -host : matrices on the host, to try all this where there is no GPU\n\
  -o <file> : a JSON object a line is added to it\n\n";

/*
   The ways are Jacobi, PETSc's ILU by cuSPARSE and on the host, and sptrsvgpu with the factorization on the host and on
   the GPU, in the natural and in the multicolor order. A set-up is the first one, or one with new values in the same
   pattern. Each way has two first set-ups in the process; the result is the second, because the first also loads the
   GPU's code ("cold_ms"). Times are those of the host's clock, from an idle GPU to an idle GPU.

   Applies are timed as a Krylov method calls them: a round launches many, one after the other, and waits once at the
   end. "apply_ms" is the median over rounds of the time over the number. The last apply of a round writes to poisoned
   memory, and is compared with PETSc's preconditioner on the host: "apply_error" is the largest difference over the
   norm. If it is too large, there is no time, and the exit status is 1.
*/
#include <math.h>
#include "systems.h"

typedef enum {
  JACOBI,
  NATURAL,    /* ILU(0) */
  MULTICOLOR, /* ILU(0) in that ordering */
  APPLIES
} Apply;

static const struct {
  const char *name, *pc, *factorization;
  Apply       apply;
  PetscBool   host; /* the matrix too */
} ways[] = {
  {"jacobi", PCJACOBI, NULL, JACOBI, PETSC_FALSE},
  {"ilu, cuSPARSE", PCILU, NULL, NATURAL, PETSC_FALSE},
  {"ilu, host", PCILU, NULL, NATURAL, PETSC_TRUE},
  {"sptrsvgpu, by host", "sptrsvgpu", "host", NATURAL, PETSC_FALSE},
  {"sptrsvgpu, by device", "sptrsvgpu", "device", NATURAL, PETSC_FALSE},
  {"sptrsvgpu, multicolor", "sptrsvgpu", "device", MULTICOLOR, PETSC_FALSE},
};

static const char *const phases[] = {"SpTRSVSymbolic", "SpTRSVFactorGPU", "SpTRSVFactorCPU", "SpTRSVAnalysis",
                                     "SpTRSVNumeric"};
enum { PHASES = 5, REPEAT = 7 };

static const double a_round  = 20;   /* least ms of a round of applies */
static const double rounding = 1e-8; /* the largest error of an apply */

/* Results of PETSc's preconditioners on the host for b */
typedef struct {
  Vec b, x[APPLIES];
} Expected;

typedef struct {
  double             cold, first, first_phase[PHASES], same, same_phase[PHASES], solve; /* ms */
  double             peak, ratio; /* the most device memory of the first set-up of sptrsvgpu: MB, and over the matrix */
  double             apply, error; /* ms; see above */
  PetscInt           iterations;
  KSPConvergedReason reason;
} Result;

/* Sets the time of each phase so far in the log, ms */
static PetscErrorCode ReadPhases(double ms[])
{
  PetscFunctionBeginUser;
  for (int p = 0; p < PHASES; p++) {
    PetscLogEvent      event;
    PetscEventPerfInfo info;

    ms[p] = 0;
    PetscCall(PetscLogEventGetId(phases[p], &event));
    if (event < 0) continue;
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    ms[p] = 1e3 * info.time;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(PetscBool host, Mat *A)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set, all = PETSC_FALSE;
  PetscInt  dim = 2, n = 100;
  MtxReport report;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &all, NULL));
  if (set) PetscCall(SystemLoad(file, MTX_VALUES_DOMINANT, A, &report));
  else PetscCall(SystemGrid(dim, n, A));
#if PetscDefined(HAVE_CUDA)
  if (!host && !all) PetscCall(MatConvert(*A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, A));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKSP(Mat A, int way, KSP *ksp)
{
  PC        pc;
  PetscBool set, symmetric;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-mat_sptrsvgpu_factorization"));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_sptrsvgpu_ordering"));
  if (ways[way].factorization)
    PetscCall(PetscOptionsSetValue(NULL, "-mat_sptrsvgpu_factorization", ways[way].factorization));
  if (ways[way].apply == MULTICOLOR) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", "multicolor"));
  PetscCall(MatIsSymmetricKnown(A, &set, &symmetric));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, set && symmetric ? KSPCG : KSPGMRES));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 3000));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, ways[way].pc));
  if (ways[way].apply == MULTICOLOR) PetscCall(PCSetFromOptions(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpFirst(Mat A, int way, KSP *ksp, double *ms, double phase[])
{
  double start, end, before[PHASES];

  PetscFunctionBeginUser;
  PetscCall(CreateKSP(A, way, ksp));
  PetscCall(ReadPhases(before));
  PetscCall(SystemNow(&start));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(SystemNow(&end));
  PetscCall(ReadPhases(phase));
  for (int p = 0; p < PHASES; p++) phase[p] -= before[p];
  *ms = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set-ups with new values in the same pattern, in the memory of the matrix, and then one with the first values. Sets
   their median, and the phases of the last with new values. */
static PetscErrorCode SetUpAgain(KSP ksp, Mat A, double *ms, double phase[])
{
  double    start, end, before[PHASES];
  PetscReal times[REPEAT];

  PetscFunctionBeginUser;
  for (int r = 0; r < REPEAT; r++) {
    PetscCall(MatScale(A, r % 2 ? 0.5 : 2));
    PetscCall(ReadPhases(before));
    PetscCall(SystemNow(&start));
    PetscCall(KSPSetUp(ksp));
    PetscCall(SystemNow(&end));
    PetscCall(ReadPhases(phase));
    for (int p = 0; p < PHASES; p++) phase[p] -= before[p];
    times[r] = end - start;
  }
  if (REPEAT % 2) PetscCall(MatScale(A, 0.5));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscSortReal(REPEAT, times));
  *ms = times[REPEAT / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the device memory of the set-up from the factor's view. */
static PetscErrorCode ReadMemory(KSP ksp, Result *r)
{
  char        text[4096];
  const char *at;

  PetscFunctionBeginUser;
  PetscCall(SystemFactorView(ksp, text, sizeof(text)));
  at = strstr(text, "at most ");
  if (at) (void)sscanf(at, "at most %lg MB, %lg times the matrix", &r->peak, &r->ratio);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KSP ksp, Mat A, Result *r)
{
  Vec    b, x;
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 5));
  PetscCall(KSPSolve(ksp, b, x)); /* loads code */
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 3000));
  PetscCall(SystemNow(&start));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(SystemNow(&end));
  r->solve = end - start;
  PetscCall(KSPGetIterationNumber(ksp, &r->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &r->reason));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectedCreate(Mat A, Expected *e)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, NULL, &e->b));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VecSetRandom(e->b, random));
  PetscCall(PetscRandomDestroy(&random));
  for (int a = 0; a < APPLIES; a++) {
    PC pc;

    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetType(pc, a == JACOBI ? PCJACOBI : PCILU));
    if (a == MULTICOLOR) PetscCall(PCFactorSetMatOrderingType(pc, "multicolor"));
    PetscCall(VecDuplicate(e->b, &e->x[a]));
    PetscCall(PCApply(pc, e->b, e->x[a]));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExpectedDestroy(Expected *e)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&e->b));
  for (int a = 0; a < APPLIES; a++) PetscCall(VecDestroy(&e->x[a]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies into poisoned memory; sets the ms of each, and the error of the last. */
static PetscErrorCode TimeApplies(PC pc, Vec b, Vec x, Vec expected, int applies, double *ms, double *error)
{
  double    start, end;
  PetscReal off, all;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, NAN));
  PetscCall(SystemNow(&start));
  for (int i = 0; i < applies; i++) PetscCall(PCApply(pc, b, x));
  PetscCall(SystemNow(&end));
  PetscCall(VecAXPY(x, -1, expected));
  PetscCall(VecNorm(x, NORM_INFINITY, &off));
  PetscCall(VecNorm(expected, NORM_INFINITY, &all));
  *ms    = (end - start) / applies;
  *error = off <= rounding * all ? PetscMax(*error, off / all) : PETSC_MAX_REAL; /* also for NaN */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureApplies(KSP ksp, Mat A, int way, const Expected *e, Result *r)
{
  PC        pc;
  Vec       b, x, expected;
  PetscReal times[REPEAT];
  double    ms;
  int       applies;

  PetscFunctionBeginUser;
  r->apply = r->error = 0;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &expected));
  PetscCall(VecCopy(e->b, b));
  PetscCall(VecCopy(e->x[ways[way].apply], expected));
  PetscCall(
    TimeApplies(pc, b, x, expected, 10, &ms, &r->error)); /* loads code, and finds how many applies a round needs */
  applies = 1 + (int)PetscMin(a_round / ms, 1e4);
  for (int i = 0; i < REPEAT; i++) {
    PetscCall(TimeApplies(pc, b, x, expected, applies, &ms, &r->error));
    times[i] = ms;
  }
  PetscCall(PetscSortReal(REPEAT, times));
  r->apply = times[REPEAT / 2];
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&expected));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureWay(int way, const Expected *e, Result *r)
{
  Mat    A;
  KSP    ksp;
  double phase[PHASES];

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(ways[way].host, &A));
  PetscCall(SetUpFirst(A, way, &ksp, &r->cold, phase));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SetUpFirst(A, way, &ksp, &r->first, r->first_phase));
  r->peak = r->ratio = 0;
  if (ways[way].factorization) PetscCall(ReadMemory(ksp, r));
  PetscCall(SetUpAgain(ksp, A, &r->same, r->same_phase));
  PetscCall(Solve(ksp, A, r));
  PetscCall(MeasureApplies(ksp, A, way, e, r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of Jacobi's iterations from which on set-up and iterations together take less time; 0: none. */
static double BreakEven(const Result *r, const Result *jacobi, double setup)
{
  const double each = jacobi->solve / (double)jacobi->iterations, gain = each - r->solve / (double)jacobi->iterations;

  return gain > 0 ? setup / gain : 0;
}

static PetscErrorCode WriteResult(FILE *f, const char matrix[], PetscInt rows, double nnz, int way, const Result *r,
                                  const Result *jacobi)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(
    PETSC_COMM_SELF, f,
    "{\"matrix\": \"%s\", \"rows\": %" PetscInt_FMT
    ", \"nnz\": %.0f, \"preconditioner\": \"%s\", \"cold_ms\": %.4g, \"first_ms\": %.4g, \"same_pattern_ms\": %.4g",
    matrix, rows, nnz, ways[way].name, r->cold, r->first, r->same));
  for (int p = 0; p < PHASES; p++) {
    if (r->first_phase[p] > 0)
      PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, ", \"first_%s_ms\": %.4g", phases[p], r->first_phase[p]));
    if (r->same_phase[p] > 0)
      PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, ", \"same_%s_ms\": %.4g", phases[p], r->same_phase[p]));
  }
  if (r->peak > 0)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, ", \"peak_mb\": %.4g, \"peak_over_matrix\": %.3g", r->peak, r->ratio));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, f,
                         ", \"iterations\": %" PetscInt_FMT ", \"reason\": \"%s\", \"solve_ms\": %.4g", r->iterations,
                         KSPConvergedReasons[r->reason], r->solve));
  if (r->error <= rounding)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, ", \"apply_ms\": %.4g, \"apply_error\": %.2g", r->apply, r->error));
  else PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, ", \"apply_ms\": null"));
  if (way) {
    const double first = BreakEven(r, jacobi, r->first), same = BreakEven(r, jacobi, r->same);

    PetscCall(PetscFPrintf(PETSC_COMM_SELF, f,
                           first > 0 ? ", \"break_even_first\": %.0f, \"break_even_same\": %.0f"
                                     : ", \"break_even_first\": null, \"break_even_same\": null",
                           first, same));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, f, "}\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char        out[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN] = "", matrix[64];
  FILE       *f = NULL;
  PetscBool   set;
  PetscInt    dim = 2, n = 100, rows;
  const char *slash;
  int         wrong = 0;
  Expected    e;
  Result      r[PETSC_STATIC_ARRAY_LENGTH(ways)];
  MatInfo     info;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-f", file, sizeof(file), &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  slash = strrchr(file, '/');
  if (set) PetscCall(PetscStrncpy(matrix, slash ? slash + 1 : file, sizeof(matrix)));
  else
    PetscCall(
      PetscSNPrintf(matrix, sizeof(matrix), "%" PetscInt_FMT "D %" PetscInt_FMT "^%" PetscInt_FMT, dim, n, dim));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", out, sizeof(out), &set));
  if (set) PetscCall(PetscFOpen(PETSC_COMM_SELF, out, "a", &f));
  PetscCall(CreateMatrix(PETSC_TRUE, &A));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(ExpectedCreate(A, &e));
  PetscCall(MatDestroy(&A));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
    PetscCall(MeasureWay((int)w, &e, &r[w]));
    wrong += r[w].error > rounding;
    PetscCall(WriteResult(stdout, matrix, rows, info.nz_used, (int)w, &r[w], &r[0]));
    if (f) PetscCall(WriteResult(f, matrix, rows, info.nz_used, (int)w, &r[w], &r[0]));
  }
  PetscCall(ExpectedDestroy(&e));
  if (f) PetscCall(PetscFClose(PETSC_COMM_SELF, f));
  PetscCall(PetscFinalize());
  return wrong > 0;
}
