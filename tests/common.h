/*
   Shared by the tests: matrices by option, and comparisons that print nothing if all is well. The saved output of a
   test is empty if possible, so that it is the same for every matrix and vector type.
*/
#pragma once

#include <petscksp.h>

#if PETSC_VERSION_LT(3, 22, 0)
  #define PETSC_CURRENT PETSC_DEFAULT
#endif

/* Tolerances of a comparison and of a KSP, adapted to the precision of this PETSc */
#define TOLERANCE(t)     PetscMax((PetscReal)(t), 4e3 * PETSC_MACHINE_EPSILON)
#define KSP_TOLERANCE(t) PetscMax((PetscReal)(t), 100 * PETSC_MACHINE_EPSILON)

/* 1 + y i where scalars are complex, otherwise 1 */
#if PetscDefined(USE_COMPLEX)
  #define PHASE(y) (1 + (PetscReal)(y)*PETSC_i)
#else
  #define PHASE(y) 1
#endif

typedef enum {
  PROBLEM_POISSON,    /* five points, symmetric positive definite and marked so */
  PROBLEM_CONVECTION, /* five points, upwind */
  PROBLEM_RANDOM,     /* a few entries a row anywhere, diagonally dominant, unsymmetric pattern */
  PROBLEM_SADDLE,     /* symmetric, zeros stored on part of the diagonal: zero pivots of ILU(0) */
  PROBLEM_CHAIN,      /* bidiagonal: as many level sets as rows */
  PROBLEM_DIAGONAL,
  PROBLEM_ARROW /* full first row, first column and last row */
} Problem;
PETSC_UNUSED static const char *const Problems[] = {"poisson",  "convection", "random",  "saddle",   "chain",
                                                    "diagonal", "arrow",      "Problem", "PROBLEM_", NULL};

/* Adds an entry to the row, unless it lies outside */
static inline void AddEntry(PetscInt n, PetscInt j, PetscScalar v, PetscInt *count, PetscInt cols[],
                            PetscScalar values[])
{
  if (j < 0 || j >= n) return;
  cols[*count]       = j;
  values[(*count)++] = v;
}

/* Row i of n of a problem; the values depend on s, the pattern does not. In complex numbers, values of problems that
   are not for ICC have imaginary parts, so that no two mirrored entries are conjugates. */
static PetscErrorCode ProblemRow(Problem problem, PetscInt n, PetscInt i, PetscReal s, PetscInt *count, PetscInt cols[],
                                 PetscScalar values[])
{
  const PetscInt m = (PetscInt)PetscSqrtReal((PetscReal)n), x = i % m;

  PetscFunctionBegin;
  *count = 0;
  switch (problem) {
  case PROBLEM_POISSON:
  case PROBLEM_CONVECTION: {
    const PetscReal c = problem == PROBLEM_CONVECTION ? 1.5 : 0;

    AddEntry(n, i - m, -1 - c, count, cols, values);
    if (x > 0) AddEntry(n, i - 1, -1 - c, count, cols, values);
    AddEntry(n, i, 4 + 2 * c + 0.1 * s, count, cols, values);
    if (x < m - 1) AddEntry(n, i + 1, -1, count, cols, values);
    AddEntry(n, i + m, -1, count, cols, values);
    break;
  }
  case PROBLEM_RANDOM:
    AddEntry(n, i, 4 + s, count, cols, values);
    for (PetscInt64 k = 1; k < 6; k++) {
      const PetscInt j     = (PetscInt)((((i + 7) * (PetscInt64)7919 + k * 104729) ^ ((i * k) << 3)) % n);
      PetscBool      there = PETSC_FALSE;

      for (PetscInt l = 0; l < *count; l++) there = (PetscBool)(there || cols[l] == j);
      if (!there) AddEntry(n, j, 0.1 * (PetscReal)((i + k) % 11) - 0.5, count, cols, values);
    }
    break;
  case PROBLEM_SADDLE: /* 2 x 2 blocks with a zero in the first place, weakly coupled */
    AddEntry(n, i - 2, -0.1, count, cols, values);
    if (i % 2) AddEntry(n, i - 1, 1, count, cols, values);
    AddEntry(n, i, i % 2 ? 3 + s : 0, count, cols, values);
    if (!(i % 2)) AddEntry(n, i + 1, 1, count, cols, values);
    AddEntry(n, i + 2, -0.1, count, cols, values);
    break;
  case PROBLEM_CHAIN:
    AddEntry(n, i - 1, -0.5, count, cols, values);
    AddEntry(n, i, 1 + s, count, cols, values);
    AddEntry(n, i + 1, -0.25, count, cols, values);
    break;
  case PROBLEM_DIAGONAL: AddEntry(n, i, 1 + (PetscReal)(i % 5) + s, count, cols, values); break;
  case PROBLEM_ARROW:
    if (i == 0 || i == n - 1) {
      for (PetscInt j = 0; j < n; j++) AddEntry(n, j, i == j ? 2 * n + s : 1, count, cols, values);
    } else {
      AddEntry(n, 0, 1, count, cols, values);
      AddEntry(n, i, 4 + s, count, cols, values);
    }
    break;
  }
  if (problem != PROBLEM_POISSON && problem != PROBLEM_SADDLE && problem != PROBLEM_DIAGONAL)
    for (PetscInt k = 0; k < *count; k++) values[k] *= PHASE(0.2 * ((i + 2 * cols[k]) % 5 - 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscErrorCode SetSPD(Mat A)
{
  PetscFunctionBegin;
#if PETSC_VERSION_LT(3, 23, 0) /* MATMPIBAIJ stores the option, and returns an error */
  PetscCall(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
  (void)MatSetOption(A, MAT_SPD, PETSC_TRUE);
  PetscCall(PetscPopErrorHandler());
#else
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ranks may fill their rows with different problems. */
PETSC_UNUSED static PetscErrorCode ProblemFill(Mat A, Problem problem, PetscReal s)
{
  PetscInt     n, start, end, count, *cols;
  PetscScalar *values;
  PetscMPIInt  definite = problem == PROBLEM_POISSON;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(PetscMalloc2(n + 8, &cols, n + 8, &values));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(ProblemRow(problem, n, i, s, &count, cols, values));
    PetscCall(MatSetValues(A, 1, &i, count, cols, values, INSERT_VALUES));
  }
  PetscCall(PetscFree2(cols, values));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &definite, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)A)));
  if (definite) PetscCall(SetSPD(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static PetscErrorCode ProblemCreate(MPI_Comm comm, Problem problem, PetscInt n, Mat *A)
{
  PetscInt bs = 1;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bs", &bs, NULL));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(ProblemFill(*A, problem, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix that -problem, -n and -bs (block size) ask for */
PETSC_UNUSED static PetscErrorCode ProblemFromOptions(MPI_Comm comm, Problem problem, PetscInt n, Problem *chosen,
                                                      Mat *A)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-problem", Problems, (PetscEnum *)&problem, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(ProblemCreate(comm, problem, n, A));
  if (chosen) *chosen = problem;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Irregular numbers, the same on every number of ranks and for every type of vector */
PETSC_UNUSED static PetscErrorCode FillVec(Vec v, PetscInt seed)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = start; i < end; i++)
    a[i - start] =
      PetscSinReal((PetscReal)(i * 37 + seed * 101) + 0.5) * PHASE(PetscSinReal((PetscReal)(i * 53 + seed * 7)));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints if x differs from reference by more than tolerance times its norm, or has NaN or Inf at other places */
PETSC_UNUSED static PetscErrorCode CheckVec(const char what[], Vec x, Vec reference, PetscReal tolerance)
{
  Vec       d;
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(reference, &d));
  PetscCall(VecCopy(x, d));
  PetscCall(VecAXPY(d, -1, reference));
  PetscCall(VecNorm(d, NORM_2, &difference));
  PetscCall(VecNorm(reference, NORM_2, &norm));
  PetscCall(VecDestroy(&d));
  if (!(difference <= TOLERANCE(tolerance) * norm))
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)x), "%s: differs by %.3e of %.3e\n", what, (double)difference,
                          (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The message of the last error, and the handler that keeps it */
PETSC_UNUSED static char           message[1024];
PETSC_UNUSED static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *function, const char *file,
                                               PetscErrorCode code, PetscErrorType type, const char *text,
                                               void *context)
{
  (void)comm, (void)line, (void)function, (void)file, (void)context;
  if (type == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message, text, sizeof(message));
  return code;
}

/* Prints unless the call fails with this error, or with ANY_ERROR unless it fails; the error returns instead of ending
   the program. PETSc's stack of functions is not corrected after it. */
#define ANY_ERROR (-1)
#define CheckError(code, ...) \
  do { \
    int error_; \
    message[0] = 0; \
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL)); \
    error_ = (int)(__VA_ARGS__); \
    PetscCall(PetscPopErrorHandler()); \
    if ((int)(code) == ANY_ERROR ? !error_ : error_ != (int)(code)) \
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: error %d, should be %d\n", #__VA_ARGS__, error_, (int)(code))); \
  } while (0)

/* The same for two matrices */
PETSC_UNUSED static PetscErrorCode CheckMat(const char what[], Mat X, Mat reference, PetscReal tolerance)
{
  Mat       D;
  PetscReal norm, difference;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(X, MAT_COPY_VALUES, &D));
  PetscCall(MatAXPY(D, -1, reference, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(D, NORM_FROBENIUS, &difference));
  PetscCall(MatNorm(reference, NORM_FROBENIUS, &norm));
  PetscCall(MatDestroy(&D));
  if (!(difference <= TOLERANCE(tolerance) * norm))
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)X), "%s: differs by %.3e of %.3e\n", what, (double)difference,
                          (double)norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The text that a view of a KSP or PC prints. */
PETSC_UNUSED static PetscErrorCode ViewText(PetscObject object, char text[], size_t size)
{
  FILE       *file = tmpfile();
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PetscObjectView(object, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  text[fread(text, 1, size - 1, file)] = 0;
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
