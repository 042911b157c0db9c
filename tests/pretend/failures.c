static char help[] = "Fails the k-th call of one kind, for every k, in set-ups and solves of a preconditioner.\n\
  -kind <device,device_on,malloc,petsc_own,petsc> : a call of the device; all from that on; malloc() of src/kernels;\n\
                        PetscMalloc() of src; any PetscMalloc()\n\
  -k <first>          : from this one on\n\
  -every <n>          : each n-th\n\
  -alone              : the first alone, on the last rank alone, and an error ends the program\n\n";

/*
   A call that fails is made again, and must succeed then. All answers must be right. After the objects are destroyed no
   memory may be left. If a PetscMalloc() of PETSc itself fails, PETSc loses memory and its objects are incomplete: they
   are then only destroyed, and the memory of PETSc does not count.
*/
#include <petscksp.h>
#include <sptrsvgpu.h>
#include "executor.h"
#include "failures.h"

typedef enum {
  DEVICE,
  DEVICE_ON,
  MALLOC,
  PETSC_OWN,
  PETSC,
  KINDS
} Kind;

static const char *const Kinds[] = {"device", "device_on", "malloc", "petsc_own", "petsc", "Kind", "", NULL};

/* ---- PetscMalloc(), counted */

typedef struct {
  size_t      bytes;
  PetscBool   ours; /* of src */
  const char *file;
  int         line;
} Header; /* a multiple of 16 bytes */

static long live_ours, live_petsc, petsc_until;
static int  petsc_failed, petsc_all, petsc_line;
static const char *petsc_file;

static PetscErrorCode Malloc(size_t bytes, PetscBool clear, int line, const char function[], const char file[],
                             void **p)
{
  const PetscBool ours = (PetscBool)(file && !strncmp(file, "src/", 4));
  Header         *h    = NULL;

  (void)function;
  *p = NULL;
  if (!bytes) return PETSC_SUCCESS;
  if (petsc_until && (ours || petsc_all) && !--petsc_until) {
    petsc_failed = 1;
    petsc_file   = file;
    petsc_line   = line;
  } else h = (Header *)(clear ? calloc(1, sizeof(Header) + bytes) : malloc(sizeof(Header) + bytes));
  if (!h) return PetscError(PETSC_COMM_SELF, line, function, file, PETSC_ERR_MEM, PETSC_ERROR_INITIAL, "made to fail");
  *h = (Header){bytes, ours, file, line};
  if (ours) live_ours++;
  else live_petsc++;
  *p = h + 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode Free(void *p, int line, const char function[], const char file[])
{
  (void)line;
  (void)function;
  (void)file;
  if (!p) return PETSC_SUCCESS;
  if (((Header *)p)[-1].ours) live_ours--;
  else live_petsc--;
  free((Header *)p - 1);
  return PETSC_SUCCESS;
}

static PetscErrorCode Realloc(size_t bytes, int line, const char function[], const char file[], void **p)
{
  void *old = *p, *new;

  if (!bytes) {
    *p = NULL;
    return Free(old, line, function, file);
  }
  PetscCall(Malloc(bytes, PETSC_FALSE, line, function, file, &new));
  if (old) memcpy(new, old, PetscMin(bytes, ((Header *)old)[-1].bytes));
  *p = new;
  return Free(old, line, function, file);
}

/* ---- what fails */

static void FailAt(Kind kind, long k)
{
  SimtFailAt(kind == DEVICE || kind == DEVICE_ON ? k : 0, kind == DEVICE_ON);
  PretendFailMalloc(kind == MALLOC ? k : 0);
  petsc_until  = kind == PETSC || kind == PETSC_OWN ? k : 0;
  petsc_all    = kind == PETSC;
  petsc_failed = 0;
}

static PetscBool Failed(Kind kind)
{
  if (kind == DEVICE || kind == DEVICE_ON) return (PetscBool)SimtFailed();
  return (PetscBool)(kind == MALLOC ? PretendMallocFailed() : petsc_failed);
}

/* ---- the calls */

typedef struct {
  Kind        kind;
  long        k;        /* the kind of call that fails */
  const char *where;    /* the call that failed */
  PetscBool   alone, failed, broken;
  int         wrong;
} Run;

typedef struct {
  Mat A, B;    /* B has another pattern */
  Vec b, x, y; /* of the device; y of the host */
  PC  pc;
  PetscViewer viewer;
} Objects;

enum {
  ANSWERS = 6
};

typedef struct {
  PetscReal norm[2][ANSWERS]; /* of each answer in the natural and in the multicolor order */
} Reference;

static PetscErrorCode Complain(Run *run, const char what[], const char detail[])
{
  PetscFunctionBeginUser;
  run->wrong++;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s %ld: %s: %s%s%s:%d\n", Kinds[run->kind], run->k, what, detail,
                        petsc_failed ? ", failed: " : "", petsc_failed ? petsc_file : "",
                        petsc_failed ? petsc_line : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a call; if it fails, again. */
#define Try(run, ...) \
  do { \
    PetscErrorCode try_; \
    if ((run)->broken) break; \
    if ((run)->alone) { \
      PetscCall(__VA_ARGS__); \
      break; \
    } \
    try_ = __VA_ARGS__; \
    if (try_) { \
      (run)->where = #__VA_ARGS__; \
      if (Failed((run)->kind)) (run)->failed = PETSC_TRUE; \
      else PetscCall(Complain(run, #__VA_ARGS__, "an error without a failure")); \
      FailAt((run)->kind, 0); \
      if ((run)->kind == PETSC) (run)->broken = PETSC_TRUE; \
      else if ((try_ = __VA_ARGS__) != PETSC_SUCCESS) { \
        const char *message_; \
        (run)->broken = PETSC_TRUE; \
        PetscCall(PetscErrorMessage(try_, NULL, &message_)); \
        PetscCall(Complain(run, #__VA_ARGS__ " fails again", message_)); \
      } \
    } \
  } while (0)

static PetscErrorCode SetValues(Mat A, PetscReal s)
{
  PetscInt start, end, n, m;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  m = (PetscInt)PetscSqrtReal((PetscReal)n);
  for (PetscInt i = start; i < end; i++) {
    const PetscInt near[] = {i - m, i % m ? i - 1 : -1, i, i % m < m - 1 ? i + 1 : -1, i + m < n ? i + m : -1};

    for (int e = 0; e < 5; e++)
      if (near[e] >= 0) PetscCall(MatSetValue(A, i, near[e], e == 2 ? 4 + s : -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateBidiagonal(PetscInt n, Mat *B)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(*B));
  PetscCall(MatSetUp(*B));
  PetscCall(MatGetOwnershipRange(*B, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*B, i, i, 4, INSERT_VALUES));
    if (i) PetscCall(MatSetValue(*B, i, i - 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Objects *o)
{
  PetscInt     n = 100, start, end;
  PetscScalar *b;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &o->A));
  PetscCall(MatSetSizes(o->A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetFromOptions(o->A));
  PetscCall(MatSetUp(o->A));
  PetscCall(SetValues(o->A, 0));
  PetscCall(CreateBidiagonal(n, &o->B));
  PetscCall(MatCreateVecs(o->A, &o->x, &o->b));
  PetscCall(VecGetOwnershipRange(o->b, &start, &end));
  PetscCall(VecGetArrayWrite(o->b, &b));
  for (PetscInt i = start; i < end; i++) b[i - start] = PetscSinReal(37. * i + 0.5);
  PetscCall(VecRestoreArrayWrite(o->b, &b));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, end - start, n, &o->y));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &o->viewer));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &o->pc));
  PetscCall(PCSetOperators(o->pc, o->A, o->A));
  PetscCall(PCSetType(o->pc, "sptrsvgpu"));
  PetscCall(PCSetFromOptions(o->pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Objects *o)
{
  PetscFunctionBeginUser;
  PetscCall(PCDestroy(&o->pc));
  PetscCall(PetscViewerDestroy(&o->viewer));
  PetscCall(MatDestroy(&o->A));
  PetscCall(MatDestroy(&o->B));
  PetscCall(VecDestroy(&o->b));
  PetscCall(VecDestroy(&o->x));
  PetscCall(VecDestroy(&o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyOnHost(Objects *o)
{
  PetscFunctionBeginUser;
  PetscCall(PCApply(o->pc, o->b, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecNorm() would keep its lock after a failure. */
static PetscErrorCode GetNorm(Vec x, PetscReal *norm)
{
  const PetscScalar *a;
  PetscInt           n;
  PetscReal          sum = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < n; i++) sum += PetscRealPart(a[i] * PetscConj(a[i]));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPIU_Allreduce(&sum, norm, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm of an answer is one of the two. */
static PetscErrorCode Check(Run *run, Vec x, int answer, Reference *known, int write)
{
  const PetscReal natural = known->norm[0][answer], multicolor = known->norm[1][answer];
  PetscReal       norm, near;
  char            detail[128];

  PetscFunctionBeginUser;
  if (run->broken) PetscFunctionReturn(PETSC_SUCCESS);
  Try(run, GetNorm(x, &norm));
  if (run->broken) PetscFunctionReturn(PETSC_SUCCESS);
  if (write >= 0) known->norm[write][answer] = norm;
  near = PetscMin(PetscAbsReal(norm - natural) / natural, PetscAbsReal(norm - multicolor) / multicolor);
  if (write < 0 && !(near <= PetscMax(1e-12, 4e3 * PETSC_MACHINE_EPSILON))) {
    PetscCall(PetscSNPrintf(detail, sizeof(detail), "%.16g, should be %.16g or %.16g", (double)norm, (double)natural,
                            (double)multicolor));
    PetscCall(Complain(run, "a wrong answer", detail));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All calls in a row. write: the order whose answers are kept, or -1 */
static PetscErrorCode Calls(Run *run, Objects *o, Reference *known, int write)
{
  PetscFunctionBeginUser;
  Try(run, PCSetUp(o->pc));
  Try(run, PCApply(o->pc, o->b, o->x));
  PetscCall(Check(run, o->x, 0, known, write));
  Try(run, SetValues(o->A, 1));
  Try(run, PCSetUp(o->pc));
  Try(run, PCApply(o->pc, o->b, o->x));
  PetscCall(Check(run, o->x, 1, known, write));
  Try(run, PCApplyTranspose(o->pc, o->b, o->x));
  PetscCall(Check(run, o->x, 2, known, write));
  Try(run, ApplyOnHost(o));
  PetscCall(Check(run, o->y, 3, known, write));
  Try(run, SetValues(o->A, 2));
  Try(run, PCSetUp(o->pc)); /* with plans of the transpose */
  Try(run, PCApplyTranspose(o->pc, o->b, o->x));
  PetscCall(Check(run, o->x, 4, known, write));
  Try(run, PCView(o->pc, o->viewer)); /* reads the factor of the host */
  Try(run, PCSetOperators(o->pc, o->B, o->B));
  Try(run, PCSetUp(o->pc)); /* makes another factor */
  Try(run, PCApply(o->pc, o->b, o->x));
  PetscCall(Check(run, o->x, 5, known, write));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pass(Run *run, Reference *known, int write, long left[3])
{
  Objects o;

  PetscFunctionBeginUser;
  PetscCall(Create(&o));
  if (!run->alone) PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  FailAt(run->kind, run->k);
  PetscCall(Calls(run, &o, known, write));
  if (Failed(run->kind)) run->failed = PETSC_TRUE;
  FailAt(run->kind, 0);
  if (!run->alone) PetscCall(PetscPopErrorHandler());
  PetscCall(Destroy(&o));
  left[0] = (long)SimtLive() + PretendMallocLive();
  left[1] = live_ours;
  left[2] = live_petsc;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Everywhere(Kind kind, long first, long every, Reference *known)
{
  long clean[3], left[3], errors = 0, k = first;
  Run  run;

  PetscFunctionBeginUser;
  run = (Run){.kind = kind};
  PetscCall(Pass(&run, known, -1, clean));
  do {
    char detail[128];

    run = (Run){.kind = kind, .k = k, .wrong = run.wrong};
    PetscCall(Pass(&run, known, -1, left));
    errors += run.where != NULL;
    for (int i = 0; i < (kind == PETSC ? 2 : 3); i++)
      if (left[i] != clean[i]) {
        static const char *const of[] = {"src/kernels", "the rest of src", "PETSc"};

        PetscCall(PetscSNPrintf(detail, sizeof(detail), "%ld allocations of %s, after %s", left[i] - clean[i], of[i],
                                run.where ? run.where : "no error"));
        PetscCall(Complain(&run, "lost", detail));
        PetscCall(Pass(&(Run){.kind = kind}, known, -1, clean));
      }
    k += every;
  } while (run.failed && run.wrong < 20);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %ld places, %ld errors, %d wrong\n", Kinds[kind], k - first, errors,
                        run.wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  Reference   known = {{{0}}};
  Kind        kind = DEVICE;
  PetscInt    first = 1, every = 1;
  PetscBool   alone = PETSC_FALSE;
  PetscMPIInt rank, size;
  long        left[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMallocSet(Malloc, Free, Realloc));
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(SpTRSVGPURegister());
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-kind", Kinds, (PetscEnum *)&kind, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-alone", &alone, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int order = 0; order < 2; order++) {
    PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", order ? "multicolor" : "natural"));
    PetscCall(Pass(&(Run){.kind = kind, .alone = PETSC_TRUE}, &known, order, left));
  }
  PetscCall(PetscOptionsSetValue(NULL, "-pc_sptrsvgpu_ordering", "auto"));
  if (alone) {
    Run run = {.kind = kind, .k = rank == size - 1 ? first : 0, .alone = PETSC_TRUE};

    PetscCall(Pass(&run, &known, -1, left));
    if (rank == size - 1) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n", run.failed ? "no error" : "no failure"));
  } else PetscCall(Everywhere(kind, first, every, &known));
  PetscCall(PetscFinalize());
  return 0;
}
