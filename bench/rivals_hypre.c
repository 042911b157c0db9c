/*
   ILU(0) of hypre as types of PC, for a build with HYPRE_DIR; bench/get_hypre.sh builds hypre. A matrix on the GPU is
   factored and solved there.

     hypre_ilu     exact triangular solves: on the GPU, cuSPARSE's SpSV
     hypre_sweeps  5 Jacobi iterations from 0 for each triangle instead: 4 sweeps of rivals.c

   What the options mean is in HYPRE_parcsr_ls.h. hypre has no way to apply the factor alone: HYPRE_ILUSolve adds the
   solution of the residual b - A x to x. So x is 0 before, and each solve has a product with A, which hypre computes
   all the same. The GPU needs no synchronization: PETSc uses the legacy default stream, hypre the same or a blocking
   one, and each of them waits for the other.
*/
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include "systems.h"
#if PetscDefined(HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#if !PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX)
  #error "HYPRE_DIR needs a PETSc with real scalars of double precision"
#endif
_Static_assert(sizeof(HYPRE_Int) == sizeof(PetscInt) && sizeof(HYPRE_BigInt) == sizeof(PetscInt) &&
                 sizeof(HYPRE_Complex) == sizeof(PetscScalar),
               "HYPRE_DIR: indices and values have PETSc's sizes");

enum {
  NO_REORDERING = 0,
  ITERATIVE     = 0, /* triangular solves: by Jacobi iterations, or exact */
  EXACT         = 1,
  SWEEPS        = 5
};

typedef struct {
  HYPRE_Int          triangular_solves;
  HYPRE_IJMatrix     matrix;
  HYPRE_IJVector     b, x; /* without memory of their own */
  HYPRE_ParCSRMatrix A;
  HYPRE_ParVector    parts[2]; /* of b and x */
  HYPRE_Solver       ilu;
} Ilu;

static PetscErrorCode Check(HYPRE_Int code)
{
  char text[256] = "";

  PetscFunctionBeginUser;
  if (!code) PetscFunctionReturn(PETSC_SUCCESS);
  HYPRE_DescribeError(code, text);
  (void)HYPRE_ClearAllErrors();
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "hypre, error %d: %s", (int)code, text);
}

static PetscErrorCode Finalize(void)
{
  PetscFunctionBeginUser;
  PetscCall(Check(HYPRE_Finalize()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts hypre, once, and makes it compute where the matrix is. */
static PetscErrorCode Initialize(PetscBool gpu)
{
  PetscFunctionBeginUser;
  if (!HYPRE_Initialized()) {
    PetscCall(Check(HYPRE_Initialize()));
    if (gpu) PetscCall(Check(HYPRE_DeviceInitialize()));
    PetscCall(PetscRegisterFinalize(Finalize));
  }
  PetscCall(Check(HYPRE_SetMemoryLocation(gpu ? HYPRE_MEMORY_DEVICE : HYPRE_MEMORY_HOST)));
  PetscCall(Check(HYPRE_SetExecutionPolicy(gpu ? HYPRE_EXEC_DEVICE : HYPRE_EXEC_HOST)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lengths of the rows, then their numbers; released with FreeRows. */
static PetscErrorCode ListRows(Mat A, PetscBool gpu, PetscInt **list)
{
  const PetscInt *i, *j;
  PetscInt        n, *host;
  PetscBool       done;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix has no rows on the host");
  PetscCall(PetscMalloc1(2 * n, &host));
  for (PetscInt r = 0; r < n; r++) host[r] = i[r + 1] - i[r], host[n + r] = r;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  *list = host;
  if (!gpu) PetscFunctionReturn(PETSC_SUCCESS);
#if PetscDefined(HAVE_CUDA)
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCallCUDA(cudaMalloc((void **)list, 2 * sizeof(PetscInt) * (size_t)n));
  PetscCallCUDA(cudaMemcpy(*list, host, 2 * sizeof(PetscInt) * (size_t)n, cudaMemcpyHostToDevice));
  PetscCall(PetscFree(host));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeRows(PetscBool gpu, PetscInt *list)
{
  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (gpu) PetscCallCUDA(cudaFree(list));
#endif
  if (!gpu) PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyMatrix(Mat A, Ilu *s)
{
  const PetscInt *i, *j;
  PetscInt        n, *rows;
  PetscScalar    *a;
  PetscMemType    type;
  PetscBool       gpu;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &type));
  gpu = (PetscBool)PetscMemTypeDevice(type);
  PetscCall(Initialize(gpu));
  PetscCall(ListRows(A, gpu, &rows));
  PetscCall(Check(HYPRE_IJMatrixCreate(PETSC_COMM_SELF, 0, n - 1, 0, n - 1, &s->matrix)));
  PetscCall(Check(HYPRE_IJMatrixSetObjectType(s->matrix, HYPRE_PARCSR)));
  PetscCall(Check(HYPRE_IJMatrixInitialize(s->matrix)));
  PetscCall(Check(HYPRE_IJMatrixSetValues(s->matrix, n, rows, rows + n, j, a)));
  PetscCall(Check(HYPRE_IJMatrixAssemble(s->matrix)));
  PetscCall(Check(HYPRE_IJMatrixGetObject(s->matrix, (void **)&s->A)));
  PetscCall(FreeRows(gpu, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(PetscInt n, HYPRE_IJVector *vector, HYPRE_ParVector *part)
{
  PetscFunctionBeginUser;
  PetscCall(Check(HYPRE_IJVectorCreate(PETSC_COMM_SELF, 0, n - 1, vector)));
  PetscCall(Check(HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR)));
  PetscCall(Check(HYPRE_IJVectorInitializeShell(*vector)));
  PetscCall(Check(HYPRE_IJVectorGetObject(*vector, (void **)part)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply(PC pc, Vec b, Vec x)
{
  Ilu               *s;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VecSet(x, 0));
  PetscCall(VecGetArrayReadAndMemType(b, &from, NULL));
  PetscCall(VecGetArrayAndMemType(x, &to, NULL));
  PetscCall(Check(HYPRE_IJVectorSetData(s->b, (PetscScalar *)from)));
  PetscCall(Check(HYPRE_IJVectorSetData(s->x, to)));
  PetscCall(Check(HYPRE_ILUSolve(s->ilu, s->A, s->parts[0], s->parts[1])));
  PetscCall(VecRestoreArrayAndMemType(x, &to));
  PetscCall(VecRestoreArrayReadAndMemType(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first solve analyzes the triangles, so a solve belongs to the set-up. */
static PetscErrorCode AnalyzeTriangles(PC pc, Mat A)
{
  Vec b, x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 0));
  PetscCall(Apply(pc, b, x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Release(Ilu *s)
{
  PetscFunctionBeginUser;
  if (s->ilu) PetscCall(Check(HYPRE_ILUDestroy(s->ilu)));
  if (s->b) PetscCall(Check(HYPRE_IJVectorDestroy(s->b)));
  if (s->x) PetscCall(Check(HYPRE_IJVectorDestroy(s->x)));
  if (s->matrix) PetscCall(Check(HYPRE_IJMatrixDestroy(s->matrix)));
  *s = (Ilu){.triangular_solves = s->triangular_solves};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(PC pc)
{
  Ilu     *s;
  Mat      A;
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(Release(s));
  PetscCall(CopyMatrix(A, s));
  PetscCall(CreateVector(n, &s->b, &s->parts[0]));
  PetscCall(CreateVector(n, &s->x, &s->parts[1]));
  PetscCall(Check(HYPRE_ILUCreate(&s->ilu)));
  PetscCall(Check(HYPRE_ILUSetType(s->ilu, 0))); /* block Jacobi with ILU(k), and one block */
  PetscCall(Check(HYPRE_ILUSetLevelOfFill(s->ilu, 0)));
  PetscCall(Check(HYPRE_ILUSetMaxIter(s->ilu, 1)));
  PetscCall(Check(HYPRE_ILUSetTol(s->ilu, 0)));
  PetscCall(Check(HYPRE_ILUSetLocalReordering(s->ilu, NO_REORDERING)));
  PetscCall(Check(HYPRE_ILUSetTriSolve(s->ilu, s->triangular_solves)));
  PetscCall(Check(HYPRE_ILUSetLowerJacobiIters(s->ilu, SWEEPS)));
  PetscCall(Check(HYPRE_ILUSetUpperJacobiIters(s->ilu, SWEEPS)));
  PetscCall(Check(HYPRE_ILUSetup(s->ilu, s->A, s->parts[0], s->parts[1])));
  PetscCall(AnalyzeTriangles(pc, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(PC pc)
{
  Ilu *s;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(Release(s));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(PC pc, HYPRE_Int triangular_solves)
{
  Ilu *s;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&s));
  s->triangular_solves = triangular_solves;
  PetscCall(SystemMakeShell(pc, s, SetUp, Apply, Destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateExact(PC pc) { return Create(pc, EXACT); }
static PetscErrorCode CreateSweeps(PC pc) { return Create(pc, ITERATIVE); }

PetscErrorCode SystemRegisterHypre(void)
{
  PetscFunctionBeginUser;
  PetscCall(PCRegister("hypre_ilu", CreateExact));
  PetscCall(PCRegister("hypre_sweeps", CreateSweeps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
