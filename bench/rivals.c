/*
   Triangular solves of other authors as types of PC; systems.h registers them. The host computes the ILU(0) of the
   matrix in its natural order; the types apply it differently:

     sliced_ell          cuSPARSE's SpSV in sliced ELL, 32 rows a slice, as NVIDIA's HPCG solves
     sweeps_2, sweeps_5  so many iterations x = D^-1 (b - N x) from x = D^-1 b, instead of a solve with D + N
*/
#include "systems.h"
#if PetscDefined(HAVE_CUDA) && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX)
  #define DISABLE_CUSPARSE_DEPRECATED
  #include <cusparse.h>
  #include <petscdevice_cuda.h>
  #define WITH_CUSPARSE 1
#endif

/* Eliminates in the arrays of a matrix, row by row. */
static PetscErrorCode Eliminate(PetscInt n, const PetscInt i[], const PetscInt j[], PetscScalar a[])
{
  PetscInt *place, *diagonal;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &place, n, &diagonal));
  for (PetscInt r = 0; r < n; r++) place[r] = -1;
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) place[j[k]] = k;
    diagonal[r] = place[r];
    for (PetscInt k = i[r]; k < diagonal[r]; k++) {
      const PetscInt c = j[k];

      a[k] /= a[diagonal[c]];
      for (PetscInt m = diagonal[c] + 1; m < i[c + 1]; m++)
        if (place[j[m]] >= 0) a[place[j[m]]] -= a[k] * a[m];
    }
    PetscCheck(diagonal[r] >= 0 && a[diagonal[r]] != 0., PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "Zero pivot row %" PetscInt_FMT, r);
    for (PetscInt k = i[r]; k < i[r + 1]; k++) place[j[k]] = -1;
  }
  PetscCall(PetscFree2(place, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ILU(0) on the host: L and U without their diagonals, and the pivots. */
static PetscErrorCode FactorMatrix(Mat A, Mat strict[2], Vec *pivots)
{
  const PetscInt *i, *j;
  PetscInt        n, *length;
  PetscScalar    *a;
  PetscBool       done;
  Mat             F;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &F));
  PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArray(F, &a));
  PetscCall(Eliminate(n, i, j, a));
  PetscCall(PetscMalloc1(n, &length));
  for (int u = 0; u < 2; u++) {
    for (PetscInt r = 0; r < n; r++) {
      length[r] = 0;
      for (PetscInt k = i[r]; k < i[r + 1]; k++) length[r] += u ? j[k] > r : j[k] < r;
    }
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, length, &strict[u]));
    for (PetscInt r = 0; r < n; r++) {
      const PetscInt from = u ? i[r + 1] - length[r] : i[r];

      PetscCall(MatSetValues(strict[u], 1, &r, length[r], j + from, a + from, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(strict[u], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(strict[u], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(PetscFree(length));
  PetscCall(MatSeqAIJRestoreArray(F, &a));
  PetscCall(MatRestoreRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatCreateVecs(F, NULL, pivots));
  PetscCall(MatGetDiagonal(F, *pivots));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemMakeShell(PC pc, void *context, PetscErrorCode (*set_up)(PC),
                               PetscErrorCode (*apply)(PC, Vec, Vec), PetscErrorCode (*destroy)(PC))
{
  PetscFunctionBeginUser;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, context));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  int sweeps;
  Mat strict[2]; /* -N of L, and of D^-1 U */
  Vec inverse, work[3];
} Sweeps;

static PetscErrorCode SweepsSetUp(PC pc)
{
  Sweeps *s;
  Mat     A;
  Vec     pivots;
  MatType type;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetType(A, &type));
  PetscCall(FactorMatrix(A, s->strict, &pivots));
  PetscCall(VecReciprocal(pivots));
  PetscCall(MatDiagonalScale(s->strict[1], pivots, NULL));
  for (int u = 0; u < 2; u++) {
    PetscCall(MatScale(s->strict[u], -1));
    PetscCall(MatConvert(s->strict[u], type, MAT_INPLACE_MATRIX, &s->strict[u]));
  }
  PetscCall(MatCreateVecs(A, NULL, &s->inverse));
  PetscCall(VecCopy(pivots, s->inverse));
  PetscCall(VecDestroy(&pivots));
  for (int k = 0; k < 3; k++) PetscCall(VecDuplicate(s->inverse, &s->work[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many iterations x = right - N x, from x = right */
static PetscErrorCode Sweep(const Sweeps *s, Mat N, Vec right, Vec other, Vec x)
{
  Vec from = right, to = s->sweeps % 2 ? x : other;

  PetscFunctionBeginUser;
  for (int k = 0; k < s->sweeps; k++) {
    PetscCall(VecCopy(right, to)); /* in place, PETSc has one kernel for product and sum */
    PetscCall(MatMultAdd(N, from, to, to));
    from = to;
    to   = from == x ? other : x;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsApply(PC pc, Vec b, Vec x)
{
  Sweeps *s;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(Sweep(s, s->strict[0], b, s->work[0], s->work[1]));
  PetscCall(VecPointwiseMult(s->work[2], s->inverse, s->work[1]));
  PetscCall(Sweep(s, s->strict[1], s->work[2], s->work[0], x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsDestroy(PC pc)
{
  Sweeps *s;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &s));
  for (int u = 0; u < 2; u++) PetscCall(MatDestroy(&s->strict[u]));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&s->work[k]));
  PetscCall(VecDestroy(&s->inverse));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsCreate(PC pc, int sweeps)
{
  Sweeps *s;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&s));
  s->sweeps = sweeps;
  PetscCall(SystemMakeShell(pc, s, SweepsSetUp, SweepsApply, SweepsDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create2(PC pc) { return SweepsCreate(pc, 2); }
static PetscErrorCode Create5(PC pc) { return SweepsCreate(pc, 5); }

#if WITH_CUSPARSE
enum {
  SLICE = 32 /* rows */
};

static const double one = 1;

typedef struct {
  int                 *offsets, *columns; /* on the GPU; padding has column -1 */
  double              *values;
  void                *buffer;
  cusparseSpMatDescr_t matrix;
  cusparseSpSVDescr_t  solve;
} Triangle;

typedef struct {
  Triangle             t[2];   /* L and U */
  double              *middle; /* the solution of L */
  cusparseHandle_t     handle;
  cusparseDnVecDescr_t b, x;
} SlicedEll;

static PetscErrorCode Upload(const void *from, size_t bytes, void *to)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc((void **)to, PetscMax(bytes, 1)));
  PetscCallCUDA(cudaMemcpy(*(void **)to, from, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores a triangle on the GPU. The diagonal is the first entry of a row of U and the last of a row of L. */
static PetscErrorCode StoreTriangle(Mat strict, const double diagonal[], PetscBool upper, Triangle *t)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          done;
  int               *offsets, *columns, slices, all;
  double            *values;
  cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t type = CUSPARSE_DIAG_TYPE_NON_UNIT;

  PetscFunctionBeginUser;
  PetscCall(MatGetRowIJ(strict, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(strict, &a));
  slices = (int)((n + SLICE - 1) / SLICE);
  PetscCall(PetscCalloc1(slices + 1, &offsets));
  for (PetscInt r = 0; r < n; r++)
    offsets[r / SLICE + 1] = PetscMax(offsets[r / SLICE + 1], SLICE * (int)(i[r + 1] - i[r] + 1));
  for (int s = 0; s < slices; s++) offsets[s + 1] += offsets[s];
  all = offsets[slices];
  PetscCall(PetscMalloc1(all, &columns));
  PetscCall(PetscCalloc1(all, &values));
  for (int k = 0; k < all; k++) columns[k] = -1;
  for (PetscInt r = 0; r < n; r++) {
    int       at = offsets[r / SLICE] + (int)r % SLICE + (upper ? SLICE : 0);
    const int d  = upper ? at - SLICE : at + SLICE * (int)(i[r + 1] - i[r]);

    columns[d] = (int)r, values[d] = diagonal[r];
    for (PetscInt k = i[r]; k < i[r + 1]; k++, at += SLICE) columns[at] = (int)j[k], values[at] = a[k];
  }
  PetscCall(Upload(offsets, sizeof(int) * (size_t)(slices + 1), &t->offsets));
  PetscCall(Upload(columns, sizeof(int) * (size_t)all, &t->columns));
  PetscCall(Upload(values, sizeof(double) * (size_t)all, &t->values));
  PetscCallCUSPARSE(cusparseCreateSlicedEll(&t->matrix, n, n, i[n] + n, all, SLICE, t->offsets, t->columns, t->values,
                                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                            CUDA_R_64F));
  PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
  PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &type, sizeof(type)));
  PetscCall(MatSeqAIJRestoreArrayRead(strict, &a));
  PetscCall(MatRestoreRowIJ(strict, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(PetscFree(offsets));
  PetscCall(PetscFree(columns));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Analyze(const SlicedEll *e, Triangle *t)
{
  size_t bytes;

  PetscFunctionBeginUser;
  PetscCallCUSPARSE(cusparseSpSV_createDescr(&t->solve));
  PetscCallCUSPARSE(cusparseSpSV_bufferSize(e->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, e->b, e->x,
                                            CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve, &bytes));
  PetscCallCUDA(cudaMalloc(&t->buffer, PetscMax(bytes, 1)));
  PetscCallCUSPARSE(cusparseSpSV_analysis(e->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, e->b, e->x,
                                          CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve, t->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicedEllSetUp(PC pc)
{
  SlicedEll         *e;
  Mat                A, strict[2];
  Vec                diagonal;
  PetscInt           n;
  const PetscScalar *d;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &e));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(FactorMatrix(A, strict, &diagonal));
  PetscCallCUSPARSE(cusparseCreate(&e->handle));
  PetscCallCUDA(cudaMalloc((void **)&e->middle, sizeof(double) * (size_t)n));
  PetscCallCUSPARSE(cusparseCreateDnVec(&e->b, n, e->middle, CUDA_R_64F));
  PetscCallCUSPARSE(cusparseCreateDnVec(&e->x, n, e->middle, CUDA_R_64F));
  for (int u = 1; u >= 0; u--) {
    if (!u) PetscCall(VecSet(diagonal, 1)); /* of L, after U has its pivots */
    PetscCall(VecGetArrayRead(diagonal, &d));
    PetscCall(StoreTriangle(strict[u], d, (PetscBool)u, &e->t[u]));
    PetscCall(VecRestoreArrayRead(diagonal, &d));
    PetscCall(Analyze(e, &e->t[u]));
    PetscCall(MatDestroy(&strict[u]));
  }
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveTriangle(const SlicedEll *e, const Triangle *t, const double *from, double *to)
{
  PetscFunctionBeginUser;
  PetscCallCUSPARSE(cusparseDnVecSetValues(e->b, (void *)from));
  PetscCallCUSPARSE(cusparseDnVecSetValues(e->x, to));
  PetscCallCUSPARSE(cusparseSpSV_solve(e->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, e->b, e->x,
                                       CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicedEllApply(PC pc, Vec b, Vec x)
{
  SlicedEll         *e;
  const PetscScalar *from;
  PetscScalar       *to;
  cudaStream_t       stream;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &e));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUSPARSE(cusparseSetStream(e->handle, stream));
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall(VecCUDAGetArrayWrite(x, &to));
  PetscCall(SolveTriangle(e, &e->t[0], from, e->middle));
  PetscCall(SolveTriangle(e, &e->t[1], e->middle, to));
  PetscCall(VecCUDARestoreArrayWrite(x, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicedEllDestroy(PC pc)
{
  SlicedEll *e;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &e));
  for (int u = 0; u < 2; u++) {
    void *const memory[] = {e->t[u].offsets, e->t[u].columns, e->t[u].values, e->t[u].buffer};

    if (e->t[u].solve) PetscCallCUSPARSE(cusparseSpSV_destroyDescr(e->t[u].solve));
    if (e->t[u].matrix) PetscCallCUSPARSE(cusparseDestroySpMat(e->t[u].matrix));
    for (int k = 0; k < 4; k++) PetscCallCUDA(cudaFree(memory[k]));
  }
  if (e->b) PetscCallCUSPARSE(cusparseDestroyDnVec(e->b));
  if (e->x) PetscCallCUSPARSE(cusparseDestroyDnVec(e->x));
  if (e->handle) PetscCallCUSPARSE(cusparseDestroy(e->handle));
  PetscCallCUDA(cudaFree(e->middle));
  PetscCall(PetscFree(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSlicedEll(PC pc)
{
  SlicedEll *e;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&e));
  PetscCall(SystemMakeShell(pc, e, SlicedEllSetUp, SlicedEllApply, SlicedEllDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode SystemRegisterRivals(void)
{
  PetscFunctionBeginUser;
  PetscCall(PCRegister("sweeps_2", Create2));
  PetscCall(PCRegister("sweeps_5", Create5));
#if WITH_CUSPARSE
  PetscCall(PCRegister("sliced_ell", CreateSlicedEll));
#endif
#ifdef WITH_HYPRE
  PetscCall(SystemRegisterHypre());
#endif
#ifdef WITH_GINKGO
  PetscCall(SystemRegisterGinkgo());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
