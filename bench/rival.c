/*
   Triangular solves of others: see rival.h.

   A triangle has the storage of sliced ELL; CSR is the same with one row a slice. Padding has column -1. L has ones on
   its diagonal, and U has the pivots.
*/
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>
#include <petscdevice_cuda.h>
#include "rival.h"
#include "systems.h"

/* what a triangle has of its diagonal */
typedef enum {
  WITHOUT, /* ones, or known elsewhere */
  WITH
} Diagonal;

typedef struct {
  PetscBool            upper;
  int                  rows, slice, size; /* size: entries with padding */
  int                 *offsets, *columns;
  double              *values;
  int                 *d_offsets, *d_columns; /* the same on the GPU */
  double              *d_values;
  void                *buffer;
  cusparseSpMatDescr_t matrix;
  cusparseSpSVDescr_t  solve;
} Triangle;

struct Rival {
  RivalKind            kind;
  int                  sweeps;
  PetscBool            apart, host;
  Triangle             t[2]; /* L and U */
  double              *diagonal[2], *d_diagonal[2], *d_middle, analysis, update;
  cusparseHandle_t     handle;
  cusparseDnVecDescr_t b, x;
  Mat                  strict[2]; /* for sweeps: -N of L, and of D^-1 U */
  Vec                  inverse, work[3];
};

static const double one = 1;

/* The entries of a row that a triangle has: from, to */
static void Range(const RivalILU *f, PetscInt r, PetscBool upper, Diagonal d, PetscInt *from, PetscInt *to)
{
  *from = upper ? f->diagonal[r] + (d == WITHOUT) : f->i[r];
  *to   = upper ? f->i[r + 1] : f->diagonal[r] + (d == WITH);
}

/* On the host. */
static PetscErrorCode Store(const RivalILU *f, PetscBool upper, int slice, Diagonal d, Triangle *t)
{
  const int slices = ((int)f->rows + slice - 1) / slice;
  PetscInt  from, to;

  PetscFunctionBeginUser;
  t->upper = upper;
  t->rows  = (int)f->rows;
  t->slice = slice;
  PetscCall(PetscCalloc1(slices + 1, &t->offsets));
  for (PetscInt r = 0; r < f->rows; r++) {
    Range(f, r, upper, d, &from, &to);
    t->offsets[r / slice + 1] = PetscMax(t->offsets[r / slice + 1], slice * (int)(to - from));
  }
  for (int s = 0; s < slices; s++) t->offsets[s + 1] += t->offsets[s];
  t->size = t->offsets[slices];
  PetscCall(PetscMalloc1(t->size, &t->columns));
  PetscCall(PetscCalloc1(t->size, &t->values));
  for (int k = 0; k < t->size; k++) t->columns[k] = -1;
  for (PetscInt r = 0; r < f->rows; r++) {
    int at = t->offsets[r / slice] + (int)r % slice;

    Range(f, r, upper, d, &from, &to);
    for (PetscInt k = from; k < to; k++, at += slice) {
      t->columns[at] = (int)f->j[k];
      t->values[at]  = k == f->diagonal[r] && !upper ? 1 : (double)f->a[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Upload(const void *from, size_t bytes, void *to)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc((void **)to, PetscMax(bytes, 1)));
  PetscCallCUDA(cudaMemcpy(*(void **)to, from, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SpSV's descriptors of a triangle on the GPU. */
static PetscErrorCode Describe(const RivalILU *f, Rival *v, Triangle *t)
{
  const PetscBool    csr    = (PetscBool)(v->kind == RIVAL_CSR);
  const int          slices = (t->rows + t->slice - 1) / t->slice;
  cusparseFillMode_t fill   = t->upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t unit   = csr && !t->upper ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  int64_t            nnz    = 0;

  PetscFunctionBeginUser;
  PetscCall(Upload(t->offsets, sizeof(int) * (size_t)(slices + 1), &t->d_offsets));
  PetscCall(Upload(t->columns, sizeof(int) * (size_t)t->size, &t->d_columns));
  PetscCall(Upload(t->values, sizeof(double) * (size_t)t->size, &t->d_values));
  for (int k = 0; k < t->size; k++) nnz += t->columns[k] >= 0;
  if (csr)
    PetscCallCUSPARSE(cusparseCreateCsr(&t->matrix, f->rows, f->rows, nnz, t->d_offsets, t->d_columns, t->d_values,
                                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  else
    PetscCallCUSPARSE(cusparseCreateSlicedEll(&t->matrix, f->rows, f->rows, nnz, t->size, t->slice, t->d_offsets,
                                              t->d_columns, t->d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
  PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof(unit)));
  PetscCallCUSPARSE(cusparseSpSV_createDescr(&t->solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Analyze(Rival *v, Triangle *t)
{
  size_t bytes;

  PetscFunctionBeginUser;
  PetscCallCUSPARSE(cusparseSpSV_bufferSize(v->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, v->b, v->x,
                                            CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve, &bytes));
  PetscCallCUDA(cudaMalloc(&t->buffer, PetscMax(bytes, 1)));
  PetscCallCUSPARSE(cusparseSpSV_analysis(v->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, v->b, v->x,
                                          CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve, t->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal, if it is apart. */
static PetscErrorCode SetDiagonal(Rival *v, int upper)
{
  PetscFunctionBeginUser;
  if (v->apart)
    PetscCallCUSPARSE(
      cusparseSpSV_updateMatrix(v->handle, v->t[upper].solve, v->d_diagonal[upper], CUSPARSE_SPSV_UPDATE_DIAGONAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpSpSV(const RivalILU *f, Rival *v)
{
  const size_t bytes = sizeof(double) * (size_t)f->rows;
  double       start, between, end;
  PetscBool    can = PETSC_TRUE; /* cuSPARSE takes new values */

  PetscFunctionBeginUser;
  PetscCallCUSPARSE(cusparseCreate(&v->handle));
  PetscCallCUDA(cudaMalloc((void **)&v->d_middle, bytes));
  PetscCallCUDA(cudaMemset(v->d_middle, 0, bytes));
  PetscCallCUSPARSE(cusparseCreateDnVec(&v->b, f->rows, v->d_middle, CUDA_R_64F));
  PetscCallCUSPARSE(cusparseCreateDnVec(&v->x, f->rows, v->d_middle, CUDA_R_64F));
  for (int u = 0; u < 2; u++) {
    PetscCall(Upload(v->diagonal[u], bytes, &v->d_diagonal[u]));
    PetscCall(Describe(f, v, &v->t[u]));
  }
  PetscCall(SystemNow(&start));
  for (int u = 0; u < 2; u++) {
    PetscCall(Analyze(v, &v->t[u]));
    PetscCall(SetDiagonal(v, u));
  }
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(SystemNow(&between));
  for (int u = 0; u < 2; u++) {
    Triangle *t = &v->t[u];

    if (cusparseSpSV_updateMatrix(v->handle, t->solve, t->d_values, CUSPARSE_SPSV_UPDATE_GENERAL)) can = PETSC_FALSE;
    PetscCall(SetDiagonal(v, u));
  }
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(SystemNow(&end));
  v->analysis = between - start;
  v->update   = can ? end - between : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For sweeps: minus the strict triangle, of U with its rows over the pivots; its product is cuSPARSE's. */
static PetscErrorCode Strict(const RivalILU *f, PetscBool upper, PetscBool host, Mat *N)
{
  PetscInt *length, from, to;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(f->rows, &length));
  for (PetscInt r = 0; r < f->rows; r++) {
    Range(f, r, upper, WITHOUT, &from, &to);
    length[r] = to - from;
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, f->rows, f->rows, 0, length, N));
  for (PetscInt r = 0; r < f->rows; r++) {
    Range(f, r, upper, WITHOUT, &from, &to);
    for (PetscInt k = from; k < to; k++)
      PetscCall(MatSetValue(*N, r, f->j[k], -f->a[k] / (upper ? f->a[f->diagonal[r]] : 1), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*N, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*N, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(length));
  if (!host) PetscCall(MatConvert(*N, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpSweeps(const RivalILU *f, Rival *v)
{
  PetscScalar *inverse;

  PetscFunctionBeginUser;
  for (int u = 0; u < 2; u++) PetscCall(Strict(f, (PetscBool)u, v->host, &v->strict[u]));
  PetscCall(MatCreateVecs(v->strict[0], NULL, &v->inverse));
  PetscCall(VecGetArrayWrite(v->inverse, &inverse));
  for (PetscInt r = 0; r < f->rows; r++) inverse[r] = 1 / f->a[f->diagonal[r]];
  PetscCall(VecRestoreArrayWrite(v->inverse, &inverse));
  for (int k = 0; k < 3; k++) PetscCall(VecDuplicate(v->inverse, &v->work[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalCreate(const RivalILU *f, RivalKind kind, int sweeps, PetscBool apart, PetscBool host,
                           Rival **rival)
{
  Rival *v;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(rival));
  v         = *rival;
  v->kind   = kind;
  v->sweeps = sweeps;
  v->host   = host;
  v->apart  = (PetscBool)(kind == RIVAL_SLICED_ELL && apart);
  if (kind == RIVAL_SWEEPS) {
    PetscCall(SetUpSweeps(f, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int u = 0; u < 2; u++) {
    const PetscBool without = (PetscBool)(v->apart || (kind == RIVAL_CSR && !u));

    PetscCall(Store(f, (PetscBool)u, kind == RIVAL_CSR ? 1 : 32, without ? WITHOUT : WITH, &v->t[u]));
    PetscCall(PetscMalloc1(f->rows, &v->diagonal[u]));
    for (PetscInt r = 0; r < f->rows; r++) v->diagonal[u][r] = u ? (double)f->a[f->diagonal[r]] : 1;
  }
  if (!host) PetscCall(SetUpSpSV(f, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalDestroy(Rival **rival)
{
  Rival *v = *rival;

  PetscFunctionBeginUser;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  for (int u = 0; u < 2; u++) {
    Triangle *t = &v->t[u];

    if (t->solve) PetscCallCUSPARSE(cusparseSpSV_destroyDescr(t->solve));
    if (t->matrix) PetscCallCUSPARSE(cusparseDestroySpMat(t->matrix));
    if (!v->host) {
      void *const memory[] = {t->d_offsets, t->d_columns, t->d_values, t->buffer, v->d_diagonal[u]};

      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(memory); k++) PetscCallCUDA(cudaFree(memory[k]));
    }
    PetscCall(PetscFree(t->offsets));
    PetscCall(PetscFree(t->columns));
    PetscCall(PetscFree(t->values));
    PetscCall(PetscFree(v->diagonal[u]));
    PetscCall(MatDestroy(&v->strict[u]));
  }
  if (v->b) PetscCallCUSPARSE(cusparseDestroyDnVec(v->b));
  if (v->x) PetscCallCUSPARSE(cusparseDestroyDnVec(v->x));
  if (v->handle) PetscCallCUSPARSE(cusparseDestroy(v->handle));
  if (v->d_middle) PetscCallCUDA(cudaFree(v->d_middle));
  PetscCall(VecDestroy(&v->inverse));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&v->work[k]));
  PetscCall(PetscFree(*rival));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = T^-1 x on the host */
static void SolveOnHost(const Triangle *t, const double diagonal[], double x[])
{
  for (int n = 0; n < t->rows; n++) {
    const int r = t->upper ? t->rows - 1 - n : n, s = r / t->slice;

    for (int k = t->offsets[s] + r % t->slice; k < t->offsets[s + 1]; k += t->slice)
      if (t->columns[k] >= 0 && t->columns[k] != r) x[r] -= t->values[k] * x[t->columns[k]];
    x[r] /= diagonal[r];
  }
}

static PetscErrorCode ApplyOnHost(Rival *v, Vec b, Vec x)
{
  PetscScalar *to;

  PetscFunctionBeginUser;
  PetscCall(VecCopy(b, x));
  PetscCall(VecGetArray(x, &to));
  for (int u = 0; u < 2; u++) SolveOnHost(&v->t[u], v->diagonal[u], (double *)to);
  PetscCall(VecRestoreArray(x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveOnGPU(Rival *v, Triangle *t, const double *from, double *to)
{
  PetscFunctionBeginUser;
  PetscCallCUSPARSE(cusparseDnVecSetValues(v->b, (void *)from));
  PetscCallCUSPARSE(cusparseDnVecSetValues(v->x, to));
  PetscCallCUSPARSE(cusparseSpSV_solve(v->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, t->matrix, v->b, v->x,
                                       CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyOnGPU(Rival *v, Vec b, Vec x)
{
  const PetscScalar *from;
  PetscScalar       *to;
  cudaStream_t       stream;

  PetscFunctionBeginUser;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUSPARSE(cusparseSetStream(v->handle, stream));
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall(VecCUDAGetArrayWrite(x, &to));
  PetscCall(SolveOnGPU(v, &v->t[0], (const double *)from, v->d_middle));
  PetscCall(SolveOnGPU(v, &v->t[1], v->d_middle, (double *)to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscCall(VecCUDARestoreArrayWrite(x, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last of so many x = right - N x, from x = right */
static PetscErrorCode Sweep(Rival *v, Mat N, Vec right, Vec other, Vec x)
{
  Vec from = right, to = v->sweeps % 2 ? x : other;

  PetscFunctionBeginUser;
  for (int s = 0; s < v->sweeps; s++) {
    PetscCall(VecCopy(right, to)); /* in place, PETSc has one kernel for product and sum */
    PetscCall(MatMultAdd(N, from, to, to));
    from = to;
    to   = from == x ? other : x;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplySweeps(Rival *v, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  PetscCall(Sweep(v, v->strict[0], b, v->work[0], v->work[1]));
  PetscCall(VecPointwiseMult(v->work[2], v->inverse, v->work[1]));
  PetscCall(Sweep(v, v->strict[1], v->work[2], v->work[0], x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalApply(Rival *v, Vec b, Vec x)
{
  PetscFunctionBeginUser;
  if (v->kind == RIVAL_SWEEPS) PetscCall(ApplySweeps(v, b, x));
  else if (v->host) PetscCall(ApplyOnHost(v, b, x));
  else PetscCall(ApplyOnGPU(v, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RivalTimes(const Rival *v, double *analysis, double *update)
{
  PetscFunctionBeginUser;
  *analysis = v->analysis;
  *update   = v->update;
  PetscFunctionReturn(PETSC_SUCCESS);
}
