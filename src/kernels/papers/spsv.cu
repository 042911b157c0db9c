/*
   SpSV's analysis reads values, so it runs with the first set of values; cusparseSpSV_updateMatrix passes later ones.
*/
#include <cusparse.h>
#include <stdlib.h>
#include "device/device.h"
#include "papers/spsv.h"

static TrsvError Check(cusparseStatus_t s, const char *what)
{
  if (s == CUSPARSE_STATUS_SUCCESS) return TRSV_SUCCESS;
  return TrsvFail(s == CUSPARSE_STATUS_ALLOC_FAILED || s == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? TRSV_ERR_MEMORY
                                                                                                   : TRSV_ERR_DEVICE,
                  "%s: %s", what, cusparseGetErrorString(s));
}

struct TrsvSpsv {
  cusparseHandle_t     handle;
  bool                 shares; /* the handle is that of another solve */
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t b, x;
  cusparseSpSVDescr_t  solve;
  cudaDataType         type;
  void                *values, *buffer;
  bool                 analyzed;
};

static cudaDataType TypeOf(TrsvPrecision p)
{
  const bool single = TrsvRealPrecision(p) == TRSV_FLOAT;

  return TrsvIsComplex(p) ? (single ? CUDA_C_32F : CUDA_C_64F) : single ? CUDA_R_32F : CUDA_R_64F;
}

/* 1, in the type of the solve */
static const void *One(const TrsvSpsv *s)
{
  static const double one[2]       = {1, 0};
  static const float  one_float[2] = {1, 0};

  return s->type == CUDA_R_32F || s->type == CUDA_C_32F ? (const void *)one_float : (const void *)one;
}

TrsvError TrsvSpsvCreate(TrsvSpsv *shares, const TrsvMatrix *A, int entries, void *values, void *b, void *x,
                         TrsvSpsv **spsv)
{
  cusparseFillMode_t fill = A->triangle == TRSV_LOWER ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  cusparseDiagType_t diagonal =
    A->diagonal == TRSV_DIAGONAL_UNIT ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;

  TrsvSpsv *s = *spsv = (TrsvSpsv *)calloc(1, sizeof(*s));
  if (!s) return TrsvFail(TRSV_ERR_MEMORY, "cusparse: no memory for a solve");
  s->type   = TypeOf(A->precision);
  s->values = values;
  s->shares = shares != NULL;
  if (shares) s->handle = shares->handle;
  else TrsvCall(Check(cusparseCreate(&s->handle), "cusparseCreate"));
  TrsvCall(Check(cusparseCreateCsr(&s->matrix, A->rows, A->rows, entries, (void *)A->offsets, (void *)A->columns,
                                   values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->type),
                 "cusparseCreateCsr"));
  TrsvCall(Check(cusparseSpMatSetAttribute(s->matrix, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
                 "cusparseSpMatSetAttribute"));
  TrsvCall(Check(cusparseSpMatSetAttribute(s->matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
                 "cusparseSpMatSetAttribute"));
  TrsvCall(Check(cusparseCreateDnVec(&s->b, A->rows, b, s->type), "cusparseCreateDnVec"));
  TrsvCall(Check(cusparseCreateDnVec(&s->x, A->rows, x, s->type), "cusparseCreateDnVec"));
  return Check(cusparseSpSV_createDescr(&s->solve), "cusparseSpSV_createDescr");
}

TrsvError TrsvSpsvSetVectors(TrsvSpsv *s, const void *b, void *x)
{
  TrsvCall(Check(cusparseDnVecSetValues(s->b, (void *)b), "cusparseDnVecSetValues"));
  return Check(cusparseDnVecSetValues(s->x, x), "cusparseDnVecSetValues");
}

TrsvError TrsvSpsvSetValues(TrsvSpsv *s, size_t *bytes, TrsvStream stream)
{
  size_t more;

  TrsvCall(Check(cusparseSetStream(s->handle, stream), "cusparseSetStream"));
  if (s->analyzed)
    return Check(cusparseSpSV_updateMatrix(s->handle, s->solve, s->values, CUSPARSE_SPSV_UPDATE_GENERAL),
                 "cusparseSpSV_updateMatrix");
  TrsvCall(Check(cusparseSpSV_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, One(s), s->matrix, s->b, s->x,
                                         s->type, CUSPARSE_SPSV_ALG_DEFAULT, s->solve, &more),
                 "cusparseSpSV_bufferSize"));
  TrsvDeviceFree(s->buffer); /* of an analysis that failed */
  s->buffer = NULL;
  TrsvCall(TrsvDeviceAlloc(more, &s->buffer));
  *bytes += more;
  TrsvCall(Check(cusparseSpSV_analysis(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, One(s), s->matrix, s->b, s->x,
                                       s->type, CUSPARSE_SPSV_ALG_DEFAULT, s->solve, s->buffer),
                 "cusparseSpSV_analysis"));
  s->analyzed = true;
  return TRSV_SUCCESS;
}

TrsvError TrsvSpsvSolve(TrsvSpsv *s, TrsvStream stream)
{
  TrsvCall(Check(cusparseSetStream(s->handle, stream), "cusparseSetStream"));
  return Check(cusparseSpSV_solve(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, One(s), s->matrix, s->b, s->x,
                                  s->type, CUSPARSE_SPSV_ALG_DEFAULT, s->solve),
               "cusparseSpSV_solve");
}

void TrsvSpsvDestroy(TrsvSpsv *s)
{
  if (!s) return;
  if (s->solve) (void)cusparseSpSV_destroyDescr(s->solve);
  if (s->matrix) (void)cusparseDestroySpMat(s->matrix);
  if (s->b) (void)cusparseDestroyDnVec(s->b);
  if (s->x) (void)cusparseDestroyDnVec(s->x);
  if (s->handle && !s->shares) (void)cusparseDestroy(s->handle);
  TrsvDeviceFree(s->buffer);
  free(s);
}
