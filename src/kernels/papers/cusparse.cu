/*
   cusparse: SpSV of NVIDIA's cuSPARSE, the baseline.

   The matrix is copied to the device in the caller's order. SpSV's analysis reads values, so it runs with the first set
   of values; cusparseSpSV_updateMatrix passes later ones.
*/
#include <stdlib.h>
#include <string.h>
#include "device/cusparse.cuh"
#include "device/sync.cuh"
#include "solve/plan/plan.h"

typedef struct {
  int                  rows, nnz;
  cudaDataType         type;
  int                 *offsets, *columns, *source; /* source: the index of each entry in the caller's values */
  void                *values, *buffer;
  cusparseHandle_t     handle;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t b, x;
  cusparseSpSVDescr_t  solve;
  bool                 analyzed;
} Cusparse;

static const double one[2]       = {1, 0}; /* alpha, in the type of the solve */
static const float  one_float[2] = {1, 0};

static cudaDataType TypeOf(TrsvPrecision p)
{
  const bool single = TrsvRealPrecision(p) == TRSV_FLOAT;

  return TrsvIsComplex(p) ? (single ? CUDA_C_32F : CUDA_C_64F) : single ? CUDA_R_32F : CUDA_R_64F;
}

/* One thread for each value. */
template <class T> static __global__ void cusparse_gather(int nnz, const int *source, const T *from, T *values)
{
  const int k = trsv_index();

  if (k < nnz) values[k] = from[source[k]];
}

static void CusparseDestroy(TrsvPlan *plan)
{
  Cusparse *c = (Cusparse *)plan->data;

  if (!c) return;
  if (c->solve) (void)cusparseSpSV_destroyDescr(c->solve);
  if (c->matrix) (void)cusparseDestroySpMat(c->matrix);
  if (c->b) (void)cusparseDestroyDnVec(c->b);
  if (c->x) (void)cusparseDestroyDnVec(c->x);
  if (c->handle) (void)cusparseDestroy(c->handle);
  TrsvDeviceFree(c->offsets);
  TrsvDeviceFree(c->columns);
  TrsvDeviceFree(c->source);
  TrsvDeviceFree(c->values);
  TrsvDeviceFree(c->buffer);
  free(c);
}

static TrsvError CusparseAnalyze(TrsvPlan *plan, const TrsvMatrix *A, const TrsvAnalysis *analysis, const int *source)
{
  const size_t        rows = (size_t)A->rows, size = TrsvValueSize(A->precision);
  cusparseFillMode_t  fill = A->triangle == TRSV_LOWER ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t  diagonal =
    A->diagonal == TRSV_DIAGONAL_UNIT ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
  Cusparse *c;
  int       entries;

  (void)analysis;
  TrsvCall(TrsvEntries(A, &entries));
  const size_t nnz = (size_t)entries;
  TrsvCall(TrsvAlloc(sizeof(*c), &plan->data));
  c       = (Cusparse *)memset(plan->data, 0, sizeof(*c));
  c->rows = A->rows;
  c->nnz  = entries;
  c->type = TypeOf(A->precision);
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * (rows + 1), &c->offsets));
  TrsvCall(TrsvDeviceAlloc(sizeof(int) * nnz, &c->columns));
  TrsvCall(TrsvDeviceAlloc(size * nnz, &c->values));
  plan->bytes = sizeof(int) * (rows + 1 + nnz) + size * nnz;
  if (!rows) return TRSV_SUCCESS;
  TrsvCall(TrsvDeviceCopy(c->offsets, A->offsets, sizeof(int) * (rows + 1), NULL));
  TrsvCall(TrsvDeviceCopy(c->columns, A->columns, sizeof(int) * nnz, NULL));
  if (source) {
    TrsvCall(TrsvDeviceAlloc(sizeof(int) * nnz, &c->source));
    TrsvCall(TrsvDeviceCopy(c->source, source, sizeof(int) * nnz, NULL));
    plan->bytes += sizeof(int) * nnz;
  }
  TrsvCall(Check(cusparseCreate(&c->handle), "cusparseCreate"));
  TrsvCall(
    Check(cusparseCreateCsr(&c->matrix, (int64_t)rows, (int64_t)rows, (int64_t)nnz, c->offsets, c->columns, c->values,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, c->type),
          "cusparseCreateCsr"));
  TrsvCall(Check(cusparseSpMatSetAttribute(c->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
                 "cusparseSpMatSetAttribute"));
  TrsvCall(Check(cusparseSpMatSetAttribute(c->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
                 "cusparseSpMatSetAttribute"));
  /* the analysis needs vectors, but does not read them */
  TrsvCall(Check(cusparseCreateDnVec(&c->b, (int64_t)rows, c->values, c->type), "cusparseCreateDnVec"));
  TrsvCall(Check(cusparseCreateDnVec(&c->x, (int64_t)rows, c->values, c->type), "cusparseCreateDnVec"));
  return Check(cusparseSpSV_createDescr(&c->solve), "cusparseSpSV_createDescr");
}

static const void *Alpha(const Cusparse *c)
{
  return c->type == CUDA_R_32F || c->type == CUDA_C_32F ? (const void *)one_float : (const void *)one;
}

template <class T>
static TrsvError GatherValues(const Cusparse *c, unsigned grid, const void *values, TrsvStream stream)
{
  TRSV_LAUNCH(cusparse_gather<T>, grid, 256, 0, stream, c->nnz, c->source, (const T *)values, (T *)c->values);
  return TrsvDeviceCheckLaunch("cusparse_gather");
}

static TrsvError CusparseSetValues(TrsvPlan *plan, const void *values, TrsvStream stream)
{
  Cusparse      *c    = (Cusparse *)plan->data;
  const unsigned grid = TrsvBlocks(c->nnz, 256);
  size_t         bytes;

  TrsvCall(Check(cusparseSetStream(c->handle, stream), "cusparseSetStream"));
  if (!c->source) {
    if (c->nnz && cudaMemcpyAsync(c->values, values, (size_t)c->nnz * TrsvValueSize(plan->precision),
                                  cudaMemcpyDeviceToDevice, stream) != cudaSuccess)
      return TrsvDeviceCheckLaunch("cusparse: copy of the values");
  } else if (grid) {
    TrsvCall(TRSV_BY_PRECISION(plan->precision, GatherValues)(c, grid, values, stream));
  }
  if (c->analyzed)
    return Check(cusparseSpSV_updateMatrix(c->handle, c->solve, c->values, CUSPARSE_SPSV_UPDATE_GENERAL),
                 "cusparseSpSV_updateMatrix");
  TrsvCall(Check(cusparseSpSV_bufferSize(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(c), c->matrix, c->b, c->x,
                                         c->type, CUSPARSE_SPSV_ALG_DEFAULT, c->solve, &bytes),
                 "cusparseSpSV_bufferSize"));
  TrsvDeviceFree(c->buffer); /* of an analysis that failed */
  c->buffer = NULL;
  TrsvCall(TrsvDeviceAlloc(bytes, &c->buffer));
  plan->bytes += bytes;
  TrsvCall(Check(cusparseSpSV_analysis(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(c), c->matrix, c->b, c->x,
                                       c->type, CUSPARSE_SPSV_ALG_DEFAULT, c->solve, c->buffer),
                 "cusparseSpSV_analysis"));
  c->analyzed = true;
  return TRSV_SUCCESS;
}

static TrsvError CusparseSolve(TrsvPlan *plan, const void *b, void *x, TrsvStream stream)
{
  Cusparse *c = (Cusparse *)plan->data;

  TrsvCall(Check(cusparseSetStream(c->handle, stream), "cusparseSetStream"));
  TrsvCall(Check(cusparseDnVecSetValues(c->b, (void *)b), "cusparseDnVecSetValues"));
  TrsvCall(Check(cusparseDnVecSetValues(c->x, x), "cusparseDnVecSetValues"));
  return Check(cusparseSpSV_solve(c->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(c), c->matrix, c->b, c->x, c->type,
                                  CUSPARSE_SPSV_ALG_DEFAULT, c->solve),
               "cusparseSpSV_solve");
}

TRSV_ALGORITHM(TrsvCusparse) = {
  .name       = "cusparse",
  .summary    = "SpSV of the cuSPARSE library",
  .source     = "NVIDIA",
  .memory     = TRSV_DEVICE,
  .pattern    = TRSV_DEVICE,
  .analyze    = CusparseAnalyze,
  .set_values = CusparseSetValues,
  .solve      = CusparseSolve,
  .destroy    = CusparseDestroy,
  .traits     = TRSV_TAKES_COMPLEX,
};
