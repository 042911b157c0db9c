static char help[] = "Time to solution, first set-up included, by sptrsvgpu and by others.\n\
  -f <file,file,...>      : matrices in Matrix Market's format; g2d5:N and g3d7:N are grids\n\
  -values <own,laplacian> : which values of a file (default: both); Laplacians only of symmetric patterns\n\
  -ways <way,way,...>     : default: jacobi,natural,multicolor,auto,ilu; also gamg, bjacobi, of rivals.c\n\
                            sliced_ell, sweeps_2, sweeps_5; in a build with HYPRE_DIR hypre_ilu, hypre_sweeps,\n\
                            hypre_ilu_multicolor; with GINKGO_DIR ginkgo_ilu, ginkgo_ilu_multicolor\n\
  -limit <seconds>        : that a solve may take (default: 20); a set-up has no limit\n\
  -runs <n>               : the result is their median (default: 5); short runs: as many as take 100 ms, 15 at most\n\
  -host                   : matrices on the host; then there may be several ranks\n\
  -o <file>               : a JSON object a line is added to it\n\n";

/*
   Systems: the file's own values, with zeros for missing diagonal entries; for symmetric matrices also a weighted
   Laplacian. b = ones, rtol 1e-8 of the preconditioned residual, CG for symmetric matrices whose diagonal has one sign,
   else GMRES(60); ILU(0) for all. A run is a new KSP: PCSetUp and KSPSolve, from an idle GPU to an idle GPU, on the
   host's clock. The ways take turns. The first run of a way includes work that is done once, such as loading code and
   copying the matrix: its time is "cold_ms", and does not count in the median. If it does not converge, or takes
   seconds, there is no other run: "runs" is 0, and the result is its time.

   "apply_ms" is the time of a PCApply after the solve: the mean of several, without a wait between them. Of several
   runs it is their median.

   The ways of rivals.c solve with the matrix in the multicolor order. Their set-up factors on the host, so only the
   times of KSPSolve and PCApply are comparable.
*/
#include <petsctime.h>
#include "systems.h"

static const struct {
  const char *name, *pc, *ordering;
  PetscBool   rival; /* solves the matrix in the multicolor order */
} ways[] = {
  {"jacobi", PCJACOBI, NULL, PETSC_FALSE},
  {"natural", "sptrsvgpu", "natural", PETSC_FALSE},
  {"multicolor", "sptrsvgpu", "multicolor", PETSC_FALSE},
  {"auto", "sptrsvgpu", "auto", PETSC_FALSE},
  {"ilu", PCILU, NULL, PETSC_FALSE}, /* last of the default ways: it may take minutes */
  {"gamg", PCGAMG, NULL, PETSC_FALSE},
  {"bjacobi", PCBJACOBI, NULL, PETSC_FALSE},
  {"sliced_ell", "sliced_ell", NULL, PETSC_TRUE},
  {"sweeps_2", "sweeps_2", NULL, PETSC_TRUE},
  {"sweeps_5", "sweeps_5", NULL, PETSC_TRUE},
  {"hypre_ilu", "hypre_ilu", NULL, PETSC_FALSE},
  {"hypre_sweeps", "hypre_sweeps", NULL, PETSC_FALSE},
  {"hypre_ilu_multicolor", "hypre_ilu", NULL, PETSC_TRUE},
  {"ginkgo_ilu", "ginkgo_ilu", NULL, PETSC_FALSE},
  {"ginkgo_ilu_multicolor", "ginkgo_ilu", NULL, PETSC_TRUE},
};

enum { WAYS = PETSC_STATIC_ARRAY_LENGTH(ways), USUAL_WAYS = 5, RUNS_MOST = 15 };

static const double long_run    = 3000; /* ms: a longer run is not repeated */
static const double repeat_time = 100;  /* ms: short runs are repeated for this time, because their times vary */

typedef struct {
  const char *name, *values;
  PetscInt    rows;
  double      nnz;
  PetscBool   cg;
} Problem;

typedef struct {
  double             cold, setup, solve, apply, residual; /* ms; the true residual over b */
  int                runs;
  PetscInt           iterations, levels;
  PetscBool          stopped; /* the limit stopped it */
  KSPConvergedReason reason;
  char               failure[SYSTEM_MESSAGE];          /* an error */
  char               lower[32], upper[32], order[192]; /* text of the factor's view */
} Result;

typedef struct {
  FILE       *out;
  PetscReal   limit;
  PetscInt    runs;
  PetscBool   host, silent, way[WAYS];
  PetscMPIInt ranks;
} Request;

typedef struct {
  void          *inner;
  PetscLogDouble end;
  PetscBool      stopped;
} Watch;

/* PETSc's default test, and the limit. */
static PetscErrorCode Converged(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *context)
{
  Watch         *w = (Watch *)context;
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCall(KSPConvergedDefault(ksp, it, norm, reason, w->inner));
  if (*reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  PetscCallMPI(MPI_Bcast(&now, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  if (now > w->end) {
    *reason    = KSP_DIVERGED_ITS;
    w->stopped = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The name after the n-th occurrence of `before` in the view of a factor. */
static void FindName(const char text[], const char before[], int n, char name[32])
{
  const char *at = strstr(text, before);

  for (*name = 0; at && n > 1; n--) at = strstr(at + 1, before);
  if (at) (void)sscanf(at + strlen(before), "%31[^:]", name);
}

static PetscErrorCode Describe(KSP ksp, Result *r)
{
  char        text[8192];
  const char *at;
  int         levels = 0;

  PetscFunctionBeginUser;
  PetscCall(SystemFactorView(ksp, text, sizeof(text)));
  FindName(text, "algorithm ", 1, r->lower);
  FindName(text, "algorithm ", 2, r->upper);
  at = strstr(text, " level sets of ");
  while (at && at > text && at[-1] >= '0' && at[-1] <= '9') at--;
  if (at) (void)sscanf(at, "%d", &levels);
  r->levels = levels;
  at        = strstr(text, " order: ");
  while (at && at > text && at[-1] > ' ') at--;
  if (at) (void)sscanf(at, "%191[^\n]", r->order);
  for (char *c = r->order; *c; c++)
    if (*c == '"' || *c == '\\') *c = '\'';
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One run. describe: also sets the residual and the view of the factor in r. */
static PetscErrorCode RunSolve(Mat A, Vec b, Vec x, const Problem *problem, int way, const Request *request,
                               PetscBool describe, Result *r)
{
  KSP    ksp;
  PC     pc;
  Watch  w = {NULL, 0, PETSC_FALSE};
  double start, between, end;

  PetscFunctionBeginUser;
  if (ways[way].ordering) PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", ways[way].ordering));
  PetscCall(VecSet(x, 0));
  PetscCall(SystemNow(&start));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, problem->cg ? KSPCG : KSPGMRES));
  PetscCall(KSPGMRESSetRestart(ksp, 60));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_CURRENT, PETSC_CURRENT, problem->cg ? 10000 : 2000));
  PetscCall(KSPConvergedDefaultCreate(&w.inner));
  PetscCall(KSPSetConvergenceTest(ksp, Converged, &w, NULL));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, ways[way].pc));
  if (ways[way].ordering) PetscCall(PCSetFromOptions(pc));
  PetscCall(PetscTime(&w.end));
  w.end += request->limit;
  PetscCallMPI(MPI_Bcast(&w.end, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(SystemNow(&between));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(SystemNow(&end));
  r->setup   = between - start;
  r->solve   = end - between;
  r->stopped = w.stopped;
  PetscCall(KSPGetIterationNumber(ksp, &r->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &r->reason));
  if (describe) {
    PetscCall(SystemResidual(A, b, x, &r->residual));
    if (ways[way].ordering && r->reason != KSP_DIVERGED_PC_FAILED) PetscCall(Describe(ksp, r));
  }
  if (r->reason != KSP_DIVERGED_PC_FAILED) PetscCall(SystemTimeApply(pc, b, x, &r->apply));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPConvergedDefaultDestroy(&w.inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All runs of a way, and its result: the first run, then the median of the others. */
typedef struct {
  Result    result, run[RUNS_MOST];
  PetscReal total[RUNS_MOST];
  double    spent; /* ms */
} Runs;

static PetscBool NeedsRun(const Runs *w, const Request *request)
{
  const Result *r = &w->result;

  return (PetscBool)(!r->failure[0] && r->reason > 0 && r->cold <= long_run && r->runs < RUNS_MOST &&
                     (r->runs < request->runs || w->spent < repeat_time) && w->spent < long_run);
}

/* Another run, with its own vectors, because a failure may leave them locked. */
static PetscErrorCode RunWay(Mat A, const Problem *problem, int way, const Request *request, PetscBool first, Runs *w)
{
  const int     n = w->result.runs;
  Result *const r = first ? &w->result : &w->run[n];
  Vec           b, x;

  PetscFunctionBeginUser;
  if (!first) *r = w->result;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(RunSolve(A, b, x, problem, way, request, first, r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  if (first) r->cold = r->setup + r->solve;
  else {
    w->total[n] = r->setup + r->solve;
    w->spent += w->total[n];
    w->result.runs++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeMedian(Runs *w)
{
  PetscInt  index[RUNS_MOST];
  PetscReal apply[RUNS_MOST];

  PetscFunctionBeginUser;
  if (!w->result.runs) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < w->result.runs; i++) index[i] = i, apply[i] = w->run[i].apply;
  PetscCall(PetscSortReal(w->result.runs, apply));
  w->result.apply = apply[w->result.runs / 2];
  PetscCall(PetscSortRealWithArrayInt(w->result.runs, w->total, index));
  w->result.setup = w->run[index[w->result.runs / 2]].setup;
  w->result.solve = w->run[index[w->result.runs / 2]].solve;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(const Request *request, const Problem *problem, int way, const Result *r)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(
    PETSC_COMM_WORLD,
    "%-32s %-9s %-8s %6" PetscInt_FMT " iterations, %-28s set-up %9.3f ms, solve %9.3f ms, apply %7.4f ms, residual "
    "%.1e %s %s %s%s\n",
    problem->name, problem->values, ways[way].name, r->iterations, KSPConvergedReasons[r->reason], r->setup, r->solve,
    r->apply, r->residual, r->lower, r->upper, r->failure, r->stopped ? "stopped by the limit" : ""));
  if (!request->out) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFPrintf(
    PETSC_COMM_WORLD, request->out,
    "{\"matrix\": \"%s\", \"rows\": %" PetscInt_FMT ", \"nnz\": %.0f, \"values\": \"%s\", \"ksp\": \"%s\", \"where\": "
    "\"%s\", \"ranks\": %d, \"way\": \"%s\", \"iterations\": %" PetscInt_FMT
    ", \"reason\": \"%s\", \"converged\": %s, \"stopped\": %s, \"runs\": %d, \"ms\": %.6g, \"setup_ms\": %.6g, "
    "\"solve_ms\": %.6g, \"apply_ms\": %.6g, \"cold_ms\": %.6g, ",
    problem->name, problem->rows, problem->nnz, problem->values, problem->cg ? "cg" : "gmres",
    request->host ? "host" : "GPU", request->ranks, ways[way].name, r->iterations, KSPConvergedReasons[r->reason],
    r->reason > 0 && !r->failure[0] ? "true" : "false", r->stopped ? "true" : "false", r->runs, r->setup + r->solve,
    r->setup, r->solve, r->apply, r->cold));
  PetscCall(PetscFPrintf(PETSC_COMM_WORLD, request->out,
                         "\"residual\": %.3g, \"levels\": %" PetscInt_FMT
                         ", \"lower\": \"%s\", \"upper\": \"%s\", \"order\": \"%s\", \"failure\": \"%s\"}\n",
                         PetscIsInfOrNanReal(r->residual) ? -1. : r->residual, r->levels, r->lower, r->upper, r->order,
                         r->failure));
  (void)fflush(request->out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures all ways for a matrix on the host. Runs take turns, so a slower machine affects all ways. A failure is
   printed, and the other ways continue. */
static PetscErrorCode MeasureSystem(const Request *request, Mat host, const char name[], const char values[],
                                    PetscBool cg)
{
  Problem   problem = {name, values, 0, 0, cg};
  Mat       A, permuted = NULL;
  MatInfo   info;
  Runs      runs[WAYS];
  PetscBool more = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(runs, sizeof(runs)));
  PetscCall(SystemPlace(host, request->host, &A));
  PetscCall(MatGetSize(host, &problem.rows, NULL));
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  problem.nnz = info.nz_used;
  for (PetscBool first = PETSC_TRUE; more; first = PETSC_FALSE) {
    more = PETSC_FALSE;
    for (int way = 0; way < (int)WAYS; way++) {
      Runs *const    w = &runs[way];
      PetscErrorCode ierr;

      if (!request->way[way] || (!first && !NeedsRun(w, request))) continue;
      if (ways[way].rival && !permuted) PetscCall(SystemPlacePermuted(host, request->host, &permuted));
      PetscCall(PetscPushErrorHandler(SystemKeepMessage, w->result.failure));
      ierr = RunWay(ways[way].rival ? permuted : A, &problem, way, request, first, w);
      PetscCall(PetscPopErrorHandler());
      if (ierr && !w->result.failure[0])
        PetscCall(PetscStrncpy(w->result.failure, "failed", sizeof(w->result.failure)));
      if (NeedsRun(w, request)) more = PETSC_TRUE;
    }
  }
  for (int way = 0; way < (int)WAYS; way++) {
    if (!request->way[way]) continue;
    PetscCall(TakeMedian(&runs[way]));
    if (!request->silent) PetscCall(Report(request, &problem, way, &runs[way].result));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&permuted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureFile(const Request *request, const char file[], PetscBool own, PetscBool laplacian)
{
  Mat       A;
  PetscBool pattern, symmetric, sign = PETSC_FALSE;
  char      name[64];

  PetscFunctionBeginUser;
  PetscCall(SystemName(file, name, sizeof(name)));
  PetscCall(SystemLoadOwn(file, &A, &pattern, &symmetric));
  if (!pattern && (own || SystemIsGrid(file))) {
    PetscCall(SystemHasOneSign(A, &sign));
    PetscCall(MeasureSystem(request, A, name, "own", (PetscBool)(symmetric && sign)));
  }
  if (symmetric && laplacian && !SystemIsGrid(file)) {
    PetscCall(SystemLaplacian(A, pattern));
    PetscCall(MeasureSystem(request, A, name, "laplacian", PETSC_TRUE));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ways that -ways names, or the default ones. */
static PetscErrorCode GetWays(PetscBool way[])
{
  char     *names[WAYS];
  PetscInt  count = WAYS;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-ways", names, &count, &set));
  for (int w = 0; w < (int)WAYS; w++) way[w] = (PetscBool)(!set && w < USUAL_WAYS);
  for (PetscInt i = 0; set && i < count; i++) {
    int w = 0;

    while (w < (int)WAYS && strcmp(ways[w].name, names[i])) w++;
    PetscCheck(w < (int)WAYS, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-ways: there is no way %s", names[i]);
    way[w] = PETSC_TRUE;
    PetscCall(PetscFree(names[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char     *files[256], values[16] = "", output[PETSC_MAX_PATH_LEN] = "";
  PetscInt  count = PETSC_STATIC_ARRAY_LENGTH(files);
  PetscBool own = PETSC_TRUE, laplacian = PETSC_TRUE, set;
  Request   request = {NULL, 20, 5, (PetscBool)!PetscDefined(HAVE_CUDA), PETSC_FALSE, {PETSC_FALSE}, 1}, warm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &count, &set));
  PetscCheck(set && count, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-f names matrices");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-values", values, sizeof(values), &set));
  if (set) {
    PetscCall(PetscStrcmp(values, "own", &own));
    PetscCall(PetscStrcmp(values, "laplacian", &laplacian));
    PetscCheck(own || laplacian, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-values own or laplacian, not %s", values);
  }
  PetscCall(GetWays(request.way));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-limit", &request.limit, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &request.runs, NULL));
  PetscCheck(request.runs > 0 && request.runs <= RUNS_MOST, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-runs 1 to 15");
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &request.host, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &request.ranks));
  PetscCheck(request.host || request.ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Several ranks need -host");
  PetscCall(SystemRegisterRivals());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", output, sizeof(output), &set));
  /* loads the GPU's code and libraries */
  warm        = request;
  warm.silent = PETSC_TRUE;
  PetscCall(MeasureFile(&warm, "g2d5:100", PETSC_TRUE, PETSC_FALSE));
  if (set) PetscCall(PetscFOpen(PETSC_COMM_WORLD, output, "a", &request.out));
  for (PetscInt i = 0; i < count; i++) {
    Result         r;
    PetscErrorCode ierr;

    r.failure[0] = 0; /* complex or not square */
    PetscCall(PetscPushErrorHandler(SystemKeepMessage, r.failure));
    ierr = MeasureFile(&request, files[i], own, laplacian);
    PetscCall(PetscPopErrorHandler());
    if (ierr) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: left out: %s\n", files[i], r.failure));
    PetscCall(PetscFree(files[i]));
  }
  if (request.out) PetscCall(PetscFClose(PETSC_COMM_WORLD, request.out));
  PetscCall(PetscFinalize());
  return 0;
}
