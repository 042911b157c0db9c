/*
   A triangular block of `recblock` by cuSPARSE SpSV.

   Source: Lu, Niu, Liu (ICPP 2020), "Adaptive Kernel Selection for SpTRSV": the fourth kernel, for nearly serial
     blocks. The paper uses csrsv2. */
#include <stdlib.h>
#include "device/cusparse.cuh"
#include "device/sync.cuh"
#include "papers/recblock/recblock.h"

struct TrsvRecblockSpsv {
  cusparseHandle_t     handle;
  bool                 owner; /* of the handle */
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t b, x;
  cusparseSpSVDescr_t  solve;
  cudaDataType         type;
  void                *values, *buffer;
  bool                 analyzed;
};

static const double one       = 1; /* alpha, in the type of the solve */
static const float  one_float = 1;

static const void *Alpha(const TrsvRecblockSpsv *s)
{
  return s->type == CUDA_R_32F ? (const void *)&one_float : (const void *)&one;
}

extern "C" TrsvError TrsvRecblockSpsvCreate(TrsvRecblockSpsv *shares, const TrsvRecblockSystem *A,
                                            TrsvRecblockSpsv **spsv)
{
  cusparseFillMode_t fill     = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = A->stored ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
  TrsvRecblockSpsv  *s        = (TrsvRecblockSpsv *)calloc(1, sizeof(*s));

  *spsv = s;
  if (!s) return TrsvFail(TRSV_ERR_MEMORY, "recblock: no memory for a block");
  s->type   = A->precision == TRSV_FLOAT ? CUDA_R_32F : CUDA_R_64F;
  s->values = A->values;
  s->owner  = !shares;
  if (shares) s->handle = shares->handle;
  else TrsvCall(Check(cusparseCreate(&s->handle), "cusparseCreate"));
  TrsvCall(Check(cusparseCreateCsr(&s->matrix, A->rows, A->rows, A->entries, A->offsets, A->columns, A->values,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type),
                 "cusparseCreateCsr"));
  TrsvCall(Check(cusparseSpMatSetAttribute(s->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
                 "cusparseSpMatSetAttribute"));
  TrsvCall(Check(cusparseSpMatSetAttribute(s->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
                 "cusparseSpMatSetAttribute"));
  TrsvCall(Check(cusparseCreateDnVec(&s->b, A->rows, A->right, s->type), "cusparseCreateDnVec"));
  TrsvCall(Check(cusparseCreateDnVec(&s->x, A->rows, A->solution, s->type), "cusparseCreateDnVec"));
  return Check(cusparseSpSV_createDescr(&s->solve), "cusparseSpSV_createDescr");
}

extern "C" TrsvError TrsvRecblockSpsvSetValues(TrsvRecblockSpsv *s, size_t *bytes, TrsvStream stream)
{
  size_t more;

  TrsvCall(Check(cusparseSetStream(s->handle, stream), "cusparseSetStream"));
  if (s->analyzed)
    return Check(cusparseSpSV_updateMatrix(s->handle, s->solve, s->values, CUSPARSE_SPSV_UPDATE_GENERAL),
                 "cusparseSpSV_updateMatrix");
  TrsvCall(Check(cusparseSpSV_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(s), s->matrix, s->b, s->x,
                                         s->type, CUSPARSE_SPSV_ALG_DEFAULT, s->solve, &more),
                 "cusparseSpSV_bufferSize"));
  TrsvDeviceFree(s->buffer); /* of an analysis that failed */
  s->buffer = NULL;
  TrsvCall(TrsvDeviceAlloc(more, &s->buffer));
  *bytes += more;
  TrsvCall(Check(cusparseSpSV_analysis(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(s), s->matrix, s->b, s->x,
                                       s->type, CUSPARSE_SPSV_ALG_DEFAULT, s->solve, s->buffer),
                 "cusparseSpSV_analysis"));
  s->analyzed = true;
  return TRSV_SUCCESS;
}

extern "C" TrsvError TrsvRecblockSpsvSolve(TrsvRecblockSpsv *s, TrsvStream stream)
{
  TrsvCall(Check(cusparseSetStream(s->handle, stream), "cusparseSetStream"));
  return Check(cusparseSpSV_solve(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, Alpha(s), s->matrix, s->b, s->x, s->type,
                                  CUSPARSE_SPSV_ALG_DEFAULT, s->solve),
               "cusparseSpSV_solve");
}

extern "C" void TrsvRecblockSpsvDestroy(TrsvRecblockSpsv *s)
{
  if (!s) return;
  if (s->solve) (void)cusparseSpSV_destroyDescr(s->solve);
  if (s->matrix) (void)cusparseDestroySpMat(s->matrix);
  if (s->b) (void)cusparseDestroyDnVec(s->b);
  if (s->x) (void)cusparseDestroyDnVec(s->x);
  if (s->handle && s->owner) (void)cusparseDestroy(s->handle);
  TrsvDeviceFree(s->buffer);
  free(s);
}
