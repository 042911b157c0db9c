static char help[] = "Time to solution and applies: sptrsvgpu beside other preconditioners and triangular solves.\n\
  -f <file,file,...>  : matrices in Matrix Market's format; g2d5:N and g3d7:N are grids; laplacian:FILE is the\n\
                        weighted Laplacian of a file\n\
  -runs <n>           : of which the median counts, 3 if not given; of short ones as many as take 30 ms, 9 at most\n\
  -limit <seconds>    : that the applies of a solve may take, 5 if not given\n\
  -without <way,...>  : ways that are left out, by their names in the output\n\
  -cpu                : the ways of a CPU, on all ranks of mpiexec\n\
  -host               : matrices on the host, to try all this where there is no GPU\n\
  -o <file>           : a JSON object a line is added to it\n\n";

/*
   Systems as in solutions.c: b = ones, rtol 1e-8 of the preconditioned residual, CG for symmetric matrices, else
   GMRES(60). A run is a new KSP: KSPSetUp and KSPSolve, timed apart, from an idle GPU until it is idle again. The ways
   take turns; the first run is not counted. All ways with a factor have ILU(0), which is IC(0) for symmetric matrices.

   The ways of rival.h solve with the matrix that the ordering multicolor has permuted. The ordering, the permutation
   and the factorization on the host are not timed. The analysis of cuSPARSE is not in the set-up, but has its own
   times. An apply is timed as in setup.c. Its result is compared with that of PETSc's ILU(0) on the host in the same
   order. The plugin is loaded by -dll_append.
*/
#include <math.h>
#include "rivals.h"

const Way ways[WAYS] = {
  {"jacobi",      PCJACOBI,    NULL,         UNCHECKED,  0,                0, PETSC_FALSE, PETSC_FALSE},
  {"gamg",        PCGAMG,      NULL,         UNCHECKED,  0,                0, PETSC_FALSE, PETSC_FALSE},
  {"csr",         PCSHELL,     NULL,         MULTICOLOR, RIVAL_CSR,        0, PETSC_FALSE, PETSC_FALSE},
  {"sliced_ell",  PCSHELL,     NULL,         MULTICOLOR, RIVAL_SLICED_ELL, 0, PETSC_FALSE, PETSC_FALSE},
  {"sweeps_2",    PCSHELL,     NULL,         UNCHECKED,  RIVAL_SWEEPS,     2, PETSC_FALSE, PETSC_FALSE},
  {"sweeps_5",    PCSHELL,     NULL,         UNCHECKED,  RIVAL_SWEEPS,     5, PETSC_FALSE, PETSC_FALSE},
  {"natural",     "sptrsvgpu", "natural",    NATURAL,    0,                0, PETSC_FALSE, PETSC_FALSE},
  {"multicolor",  "sptrsvgpu", "multicolor", MULTICOLOR, 0,                0, PETSC_FALSE, PETSC_FALSE},
  {"auto",        "sptrsvgpu", "auto",       EITHER,     0,                0, PETSC_FALSE, PETSC_FALSE},
  {"cgdevice",    "sptrsvgpu", "multicolor", MULTICOLOR, 0,                0, PETSC_TRUE,  PETSC_FALSE},
  {"ilu",         PCILU,       NULL,         NATURAL,    0,                0, PETSC_FALSE, PETSC_FALSE},
  {"cpu_bjacobi", PCBJACOBI,   NULL,         UNCHECKED,  0,                0, PETSC_FALSE, PETSC_TRUE },
  {"cpu_gamg",    PCGAMG,      NULL,         UNCHECKED,  0,                0, PETSC_FALSE, PETSC_TRUE },
};

/* Keeps the message of an error where it arises. */
static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode n,
                           PetscErrorType type, const char *message, void *context)
{
  char *kept = (char *)context;

  (void)comm, (void)line, (void)function, (void)file;
  if (type != PETSC_ERROR_INITIAL || !message) return n;
  (void)PetscStrncpy(kept, message, sizeof(((Result *)0)->failure));
  for (; *kept; kept++)
    if (*kept == '"' || *kept == '\\' || *kept < ' ') *kept = '\'';
  return n;
}

/* Index of the run of the median time, 0 if there is but the first. */
static PetscErrorCode Median(const Result *r, int *run)
{
  PetscReal total[RUNS_MOST];
  PetscInt  index[RUNS_MOST];

  PetscFunctionBeginUser;
  for (int k = 0; k < r->runs; k++) total[k] = r->setup[k + 1] + r->solve[k + 1], index[k] = k + 1;
  PetscCall(PetscSortRealWithArrayInt(r->runs, total, index));
  *run = r->runs ? (int)index[r->runs / 2] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Tell(const System *s, int way, const Asked *asked)
{
  const Result *r = &s->r[way];
  int           run = 0;

  PetscFunctionBeginUser;
  PetscCall(Median(r, &run));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%-26s %-11s %5" PetscInt_FMT
                        " its, set-up %9.3f, solve %9.3f, apply %8.4f, residual %.1e %s%s%s\n",
                        s->name, ways[way].name, r->iterations, r->setup[run], r->solve[run], r->apply, r->residual,
                        r->reason > 0 ? "" : KSPConvergedReasons[r->reason], r->stopped ? " by the limit " : " ",
                        r->failure));
  if (!asked->out) PetscFunctionReturn(PETSC_SUCCESS);
  (void)fprintf(asked->out, /* PETSc's would write 3. for 3 */
                "{\"matrix\": \"%s\", \"rows\": %ld, \"nnz\": %.0f, \"ksp\": \"%s\", \"where\": \"%s\", \"ranks\": %d, "
                "\"way\": \"%s\", \"iterations\": %ld, \"reason\": \"%s\", \"stopped\": %s, \"runs\": %d, ",
                s->name, (long)s->rows, s->nnz, s->cg ? "cg" : "gmres", asked->cpu ? "CPU" : asked->host ? "host"
                                                                                                       : "GPU",
                asked->ranks, ways[way].name, (long)r->iterations, KSPConvergedReasons[r->reason],
                r->stopped ? "true" : "false", r->runs);
  (void)fprintf(asked->out,
                "\"setup_ms\": %.6g, \"solve_ms\": %.6g, \"cold_ms\": %.6g, \"residual\": %.3g, \"apply_ms\": %.6g, "
                "\"apply_error\": %.2g, \"analysis_ms\": %.6g, \"update_ms\": %.6g, \"diagonal\": \"%s\", "
                "\"failure\": \"%s\"}\n",
                r->setup[run], r->solve[run], r->setup[0] + r->solve[0],
                PetscIsInfOrNanReal(r->residual) ? -1. : r->residual, r->apply, r->error, r->analysis, r->update,
                r->apart ? "apart" : "inside", r->failure);
  (void)fflush(asked->out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of this rank; every rank has all of the matrix. */
static PetscErrorCode Distribute(Mat all, Mat *A)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n, from = 0, mine = PETSC_DECIDE, *offsets;
  PetscBool          done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(all, &a));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &mine, &n));
  PetscCallMPI(MPI_Exscan(&mine, &from, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc1(mine + 1, &offsets));
  for (PetscInt r = 0; r <= mine; r++) offsets[r] = i[from + r] - i[from];
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, mine, mine, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, offsets, j + i[from], a + i[from]));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, offsets, j + i[from], a + i[from]));
  PetscCall(PetscFree(offsets));
  PetscCall(MatSeqAIJRestoreArrayRead(all, &a));
  PetscCall(MatRestoreRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random b, and what PETSc's ILU(0) on the host makes of it in both orders; the permuted matrix. */
static PetscErrorCode Expect(System *s, Mat host, Mat permuted)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(host, NULL, &s->b));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VecSetRandom(s->b, random));
  PetscCall(PetscRandomDestroy(&random));
  for (int o = 0; o < 2; o++) {
    PC             pc;
    PetscErrorCode ierr;
    char           failure[256];

    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetOperators(pc, o ? permuted : host, o ? permuted : host));
    PetscCall(PCSetType(pc, PCILU));
    PetscCall(VecDuplicate(s->b, &s->x[o]));
    if (o) PetscCall(VecPermute(s->b, s->order, PETSC_FALSE));
    PetscCall(PetscPushErrorHandler(Keep, failure));
    ierr = PCApply(pc, s->b, s->x[o]); /* without a factor nothing is as expected */
    PetscCall(PetscPopErrorHandler());
    if (ierr) PetscCall(VecSet(s->x[o], NAN));
    if (o) {
      PetscCall(VecPermute(s->b, s->order, PETSC_TRUE));
      PetscCall(VecPermute(s->x[o], s->order, PETSC_TRUE));
    }
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of a file or grid where it is solved. */
static PetscErrorCode Place(const Asked *asked, Mat host, PetscBool cg, Mat *A)
{
  PetscFunctionBeginUser;
  if (asked->cpu) PetscCall(Distribute(host, A));
  else if (asked->host) PetscCall(MatDuplicate(host, MAT_COPY_VALUES, A));
  else PetscCall(MatConvert(host, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, A));
  if (cg) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FirstRun(System *s, int way, const Asked *asked, const RivalILU *ilu, PetscBool apart)
{
  Result *r = &s->r[way];

  PetscFunctionBeginUser;
  r->failure[0] = 0;
  if (!strcmp(ways[way].pc, PCSHELL)) {
    PetscCheck(ilu, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "zero pivot");
    PetscCall(RivalDestroy(&s->rival[way]));
    PetscCall(RivalCreate(ilu, ways[way].kind, ways[way].sweeps, apart, asked->host, &s->rival[way]));
    PetscCall(RivalTimes(s->rival[way], &r->analysis, &r->update));
    r->apart = (PetscBool)(apart && ways[way].kind == RIVAL_SLICED_ELL);
  }
  PetscCall(RivalsRun(s, way, asked, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of sliced ELL both ways to have the diagonal, if one does not solve. */
static PetscErrorCode Once(System *s, int way, const Asked *asked, const RivalILU *ilu, int run)
{
  Result        *r    = &s->r[way];
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(Keep, r->failure));
  if (run) ierr = RivalsRun(s, way, asked, run);
  else
    for (int apart = 1; apart >= (ways[way].kind != RIVAL_SLICED_ELL); apart--) {
      ierr = FirstRun(s, way, asked, ilu, (PetscBool)apart);
      if (!ierr) break;
    }
  PetscCall(PetscPopErrorHandler());
  if (ierr && !*r->failure) PetscCall(PetscStrncpy(r->failure, "failed", sizeof(r->failure)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Asks(const Asked *asked, const System *s, int way)
{
  if (ways[way].cpu != asked->cpu || (ways[way].device && !s->cg)) return PETSC_FALSE;
  return (PetscBool)!strstr(asked->without, ways[way].name);
}

static PetscErrorCode RunAll(System *s, const Asked *asked, const RivalILU *ilu)
{
  PetscBool again = PETSC_TRUE;

  PetscFunctionBeginUser;
  for (int run = 0; again; run++) {
    again = PETSC_FALSE;
    for (int way = 0; way < (int)WAYS; way++) {
      if (!Asks(asked, s, way) || (run && !RivalsAgain(&s->r[way], asked))) continue;
      PetscCall(Once(s, way, asked, ilu, run));
      if (RivalsAgain(&s->r[way], asked)) again = PETSC_TRUE;
    }
  }
  for (int way = 0; way < (int)WAYS && !asked->silent; way++)
    if (Asks(asked, s, way)) PetscCall(Tell(s, way, asked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Asked *asked, const char name[], Mat host, PetscBool cg)
{
  System    s = {.name = name, .cg = cg};
  RivalILU *ilu = NULL;
  Mat       permuted;
  IS        column;
  MatInfo   info;
  char      failure[256] = "";

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(host, &s.rows, NULL));
  PetscCall(MatGetInfo(host, MAT_LOCAL, &info));
  s.nnz = info.nz_used;
  PetscCall(Place(asked, host, cg, &s.A[0]));
  if (!asked->cpu) {
    PetscCall(MatGetOrdering(host, "multicolor", &s.order, &column));
    PetscCall(MatPermute(host, s.order, column, &permuted));
    PetscCall(ISDestroy(&column));
    PetscCall(Place(asked, permuted, cg, &s.A[1]));
    PetscCall(Expect(&s, host, permuted));
    PetscCall(PetscPushErrorHandler(Keep, failure));
    (void)RivalILUCreate(permuted, &ilu);
    PetscCall(PetscPopErrorHandler());
    PetscCall(MatDestroy(&permuted));
  }
  PetscCall(RunAll(&s, asked, *failure ? NULL : ilu));
  PetscCall(RivalILUDestroy(&ilu));
  for (int way = 0; way < (int)WAYS; way++) PetscCall(RivalDestroy(&s.rival[way]));
  for (int o = 0; o < 2; o++) {
    PetscCall(MatDestroy(&s.A[o]));
    PetscCall(VecDestroy(&s.x[o]));
  }
  PetscCall(VecDestroy(&s.b));
  PetscCall(ISDestroy(&s.order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode File(const Asked *asked, const char file[])
{
  const char *const prefix = "laplacian:";
  PetscBool         pattern, symmetric = PETSC_TRUE, laplacian;
  char              name[64];
  int               n;
  Mat               A;

  PetscFunctionBeginUser;
  if (sscanf(file, "g2d5:%d", &n) == 1 || sscanf(file, "g3d7:%d", &n) == 1) {
    PetscCall(SystemGrid(file[1] - '0', n, &A));
    PetscCall(PetscStrncpy(name, file, sizeof(name)));
  } else {
    PetscCall(PetscStrncmp(file, prefix, strlen(prefix), &laplacian));
    file += laplacian ? strlen(prefix) : 0;
    PetscCall(SystemName(file, name, sizeof(name)));
    PetscCall(SystemLoadOwn(file, &A, &pattern, &symmetric));
    if (laplacian) {
      PetscCall(SystemLaplacian(A, pattern));
      PetscCall(PetscStrlcat(name, ", Laplacian", sizeof(name)));
    }
  }
  PetscCall(Solve(asked, name, A, symmetric));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Options(Asked *asked)
{
  char      output[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-runs", &asked->runs, NULL));
  PetscCheck(asked->runs > 0 && asked->runs <= RUNS_MOST, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-runs 1 to %d",
             (int)RUNS_MOST);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-limit", &asked->limit, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-without", asked->without, sizeof(asked->without), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-host", &asked->host, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cpu", &asked->cpu, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &asked->ranks));
  PetscCheck(asked->cpu || asked->ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Several ranks need -cpu");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", output, sizeof(output), &set));
  if (set) PetscCall(PetscFOpen(PETSC_COMM_WORLD, output, "a", &asked->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char    *files[256];
  PetscInt count = PETSC_STATIC_ARRAY_LENGTH(files);
  Asked    asked = {.runs = 3, .limit = 5}, warm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(Options(&asked));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-f", files, &count, NULL));
  /* the GPU's code and libraries are loaded by one that is not told of */
  warm        = asked;
  warm.silent = PETSC_TRUE;
  PetscCall(File(&warm, "g2d5:60"));
  for (PetscInt i = 0; i < count; i++) {
    char           failure[256] = "";
    PetscErrorCode ierr;

    PetscCall(PetscPushErrorHandler(Keep, failure));
    ierr = File(&asked, files[i]);
    PetscCall(PetscPopErrorHandler());
    if (ierr) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: left out: %s\n", files[i], failure));
    PetscCall(PetscFree(files[i]));
  }
  if (asked.out) PetscCall(PetscFClose(PETSC_COMM_WORLD, asked.out));
  PetscCall(PetscFinalize());
  return 0;
}
