static char help[] = "The time of KSPSolve by KSP types with scalars on the GPU and by PETSc's own, in one process.\n\
  -f <file,file,...>  : matrices in Matrix Market's format; g2d5:N and g3d7:N are grids\n\
  -runs <n>           : of which the median counts, 7 if not given\n\
  -gamg               : PETSc's GAMG with sptrsvgpu as its smoother, for CG, instead of the others\n\
  -host               : matrices on the host, to try all this where there is no GPU\n\
  -o <file>           : a JSON object a line is added to it\n\n";

/*
   Systems are those of solutions.c: b = ones, rtol 1e-8. CG for symmetric matrices (a file's weighted Laplacian),
   BiCGStab for others with their own values. For each preconditioner and norm both types have a KSP with the same
   settings, and take turns after a set-up and a solve that do not count. A time is that of the host's clock, from an
   idle GPU to an idle GPU. The result has the true residual. -dll_append loads the plugin.

   GAMG multiplies matrices on the host: cuSPARSE's product sometimes does not end (docs/known-issues.md).
*/
#include <petsctime.h>
#include "result_fields.h"
#include "systems.h"

static const struct {
  const char *name, *pc, *options;
} ways[] = {
  {"jacobi", PCJACOBI, NULL},
  {"natural", "sptrsvgpu", "-pc_sptrsvgpu_ordering natural"},
  {"multicolor", "sptrsvgpu", "-pc_sptrsvgpu_ordering multicolor"},
  {"gamg", PCGAMG, "-mg_levels_pc_type sptrsvgpu -mg_levels_pc_sptrsvgpu_ordering multicolor "
                   "-matptap_backend_cpu -matmatmult_backend_cpu"},
};

enum { GAMG = PETSC_STATIC_ARRAY_LENGTH(ways) - 1, RUNS_MOST = 31 };

typedef struct {
  FILE     *out;
  PetscInt  runs;
  PetscBool host, gamg;
} Request;

typedef struct {
  KSP                ksp;
  PetscReal          ms[RUNS_MOST], residual;
  PetscInt           iterations;
  KSPConvergedReason reason;
} Solver;

static PetscErrorCode Create(Mat A, const char type[], int way, KSPNormType norm, Solver *s)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  if (ways[way].options) PetscCall(PetscOptionsInsertString(NULL, ways[way].options));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(KSPSetOperators(s->ksp, A, A));
  PetscCall(KSPSetType(s->ksp, type));
  PetscCall(KSPSetNormType(s->ksp, norm));
  PetscCall(KSPSetTolerances(s->ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, 5000));
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PCSetType(pc, ways[way].pc));
  if (ways[way].options) PetscCall(PCSetFromOptions(pc));
  PetscCall(KSPSetUp(s->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Solver *s, Vec b, Vec x, PetscInt run)
{
  double start, end;

  PetscFunctionBeginUser;
  PetscCall(VecSet(x, 0));
  PetscCall(SystemNow(&start));
  PetscCall(KSPSolve(s->ksp, b, x));
  PetscCall(SystemNow(&end));
  if (run >= 0) s->ms[run] = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadResult(Solver *s, Mat A, Vec b, Vec x, PetscInt runs)
{
  PetscFunctionBeginUser;
  PetscCall(KSPGetIterationNumber(s->ksp, &s->iterations));
  PetscCall(KSPGetConvergedReason(s->ksp, &s->reason));
  PetscCall(SystemResidual(A, b, x, &s->residual));
  PetscCall(PetscSortReal(runs, s->ms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One preconditioner and norm, by both types. */
static PetscErrorCode Compare(const Request *request, Mat A, const char name[], PetscBool cg, int way, KSPNormType norm)
{
  const char *const types[] = {cg ? KSPCG : KSPBCGS, cg ? "cgdevice" : "bcgsdevice"};
  Solver            s[2];
  Vec               b, x[2];
  PetscInt          rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSet(b, 1));
  for (int i = 0; i < 2; i++) PetscCall(Create(A, types[i], way, norm, &s[i]));
  for (PetscInt run = -1; run < request->runs; run++)
    for (int i = 0; i < 2; i++) PetscCall(Solve(&s[i], b, x[i], run));
  for (int i = 0; i < 2; i++) {
    PetscCall(ReadResult(&s[i], A, b, x[i], request->runs));
    PetscCall(KSPDestroy(&s[i].ksp));
    PetscCall(VecDestroy(&x[i]));
  }
  PetscCall(VecDestroy(&b));
  const double petsc = (double)s[0].ms[request->runs / 2], ours = (double)s[1].ms[request->runs / 2];
  PetscCall(PetscPrintf(
    PETSC_COMM_SELF, "%-28s %-10s %-16s %5" PetscInt_FMT " its %9.3f ms, %5" PetscInt_FMT " its %9.3f ms: %.2f\n", name,
    ways[way].name, KSPNormTypes[norm], s[0].iterations, petsc, s[1].iterations, ours, petsc / ours));
  if (!request->out) PetscFunctionReturn(PETSC_SUCCESS);
  (void)fprintf(request->out, /* PETSc's function would write 3. for 3 */
                "{\"matrix\": \"%s\", \"rows\": %ld, \"method\": \"%s\", \"preconditioner\": \"%s\", \"norm\": \"%s\", "
                "\"runs\": %ld, "
                "\"petsc_iterations\": %ld, \"petsc_ms\": %.6g, \"petsc_residual\": %.3g, \"petsc_reason\": \"%s\", "
                "\"iterations\": %ld, \"ms\": %.6g, \"residual\": %.3g, \"reason\": \"%s\"",
                name, (long)rows, types[0], ways[way].name, KSPNormTypes[norm], (long)request->runs,
                (long)s[0].iterations, petsc, PetscIsNanReal(s[0].residual) ? -1. : (double)s[0].residual,
                KSPConvergedReasons[s[0].reason], (long)s[1].iterations, ours,
                PetscIsNanReal(s[1].residual) ? -1. : (double)s[1].residual, KSPConvergedReasons[s[1].reason]);
  EndResult(request->out);
  (void)fflush(request->out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureSystem(const Request *request, Mat host, const char name[], PetscBool cg)
{
  Mat A = host;

  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (!request->host) PetscCall(MatConvert(host, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &A));
#endif
  for (int way = request->gamg ? GAMG : 0; way < GAMG + (int)request->gamg; way++) {
    PetscCall(Compare(request, A, name, cg, way, KSP_NORM_PRECONDITIONED));
    if (cg) PetscCall(Compare(request, A, name, cg, way, KSP_NORM_NATURAL));
  }
  if (A != host) PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureFile(const Request *request, const char file[])
{
  Mat       A;
  PetscBool pattern, symmetric;
  char      name[64];

  PetscFunctionBeginUser;
  PetscCall(SystemName(file, name, sizeof(name)));
  PetscCall(SystemLoadOwn(file, &A, &pattern, &symmetric));
  PetscCheck(symmetric || !request->gamg, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-gamg: %s is not symmetric", file);
  if (symmetric && !SystemIsGrid(file)) PetscCall(SystemLaplacian(A, pattern));
  PetscCall(MeasureSystem(request, A, name, symmetric));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char    *files[256], output[PETSC_MAX_PATH_LEN] = "";
  PetscInt count   = PETSC_STATIC_ARRAY_LENGTH(files);
  Request  request = {NULL, 7, (PetscBool)!PetscDefined(HAVE_CUDA), PETSC_FALSE};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &request.runs, NULL));
  PetscCheck(request.runs > 0 && request.runs <= RUNS_MOST, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-runs: 1 to %d",
             RUNS_MOST);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &request.host, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gamg", &request.gamg, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", output, sizeof(output), NULL));
  if (*output) {
    request.out = fopen(output, "a");
    PetscCheck(request.out, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write to %s", output);
  }
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(MeasureFile(&request, files[i]));
    PetscCall(PetscFree(files[i]));
  }
  if (request.out) (void)fclose(request.out);
  PetscCall(PetscFinalize());
  return 0;
}
