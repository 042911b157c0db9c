/*
   The values of ILU(0) by cuSPARSE's csrilu02, for comparison: no shifts, and a pivot is zero if it is 0.

   csrilu02 is deprecated, without a successor, and still there in CUDA 13. It works in a copy of A's values, in A's own
   order; rows of that are rows of L and of U one behind the other, a thread each.
*/
#define DISABLE_CUSPARSE_DEPRECATED
#include <stdlib.h>
#include "device/cusparse.cuh"
#include "device/sync.cuh"
#include "factor/factor_cusparse.h"

struct FactorCusparse {
  cusparseHandle_t   handle;
  cusparseMatDescr_t matrix;
  csrilu02Info_t     info;
  double            *values;
  void              *buffer;
};

static const cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

static __global__ void cusparse_split(int rows, const int *l_offsets, const int *u_offsets, const double *a, double *l,
                                      double *u)
{
  const int i = trsv_index();

  if (i >= rows) return;
  const int u_first = u_offsets[i], l_end = l_offsets[i + 1];

  for (int k = l_offsets[i]; k < l_end; k++) l[k] = a[k + u_first];
  for (int k = u_first; k < u_offsets[i + 1]; k++) u[k] = a[k + l_end];
}

static TrsvError Analyze(TrsvFactor *f, FactorCusparse *c, const int *offsets, const int *columns)
{
  const int nnz = f->lower + f->upper;
  int       bytes;

  TrsvCall(Check(cusparseCreate(&c->handle), "cusparseCreate"));
  TrsvCall(Check(cusparseCreateMatDescr(&c->matrix), "cusparseCreateMatDescr"));
  TrsvCall(Check(cusparseCreateCsrilu02Info(&c->info), "cusparseCreateCsrilu02Info"));
  TrsvCall(TrsvDeviceAlloc(sizeof(double) * (size_t)nnz, &c->values));
  TrsvCall(Check(
    cusparseDcsrilu02_bufferSize(c->handle, f->rows, nnz, c->matrix, c->values, offsets, columns, c->info, &bytes),
    "cusparseDcsrilu02_bufferSize"));
  TrsvCall(TrsvDeviceAlloc((size_t)bytes, &c->buffer));
  TrsvCall(Check(cusparseDcsrilu02_analysis(c->handle, f->rows, nnz, c->matrix, c->values, offsets, columns, c->info,
                                            policy, c->buffer),
                 "cusparseDcsrilu02_analysis"));
  f->bytes += sizeof(double) * (size_t)nnz + (size_t)bytes;
  return TrsvDeviceSynchronize();
}

static void Release(TrsvFactor *f)
{
  FactorCusparse *c = f->cusparse;

  if (!c) return;
  if (c->info) (void)cusparseDestroyCsrilu02Info(c->info);
  if (c->matrix) (void)cusparseDestroyMatDescr(c->matrix);
  if (c->handle) (void)cusparseDestroy(c->handle);
  TrsvDeviceFree(c->values);
  TrsvDeviceFree(c->buffer);
  free(c);
  f->cusparse = NULL;
}

extern "C" TrsvError TrsvFactorCusparse(TrsvFactor *f, const TrsvCSR *A, TrsvOutcome *outcome, TrsvStream stream)
{
  const int        nnz = f->lower + f->upper;
  cusparseStatus_t zero;
  int              row;

  if (f->kind != TRSV_ILU || f->precision != TRSV_DOUBLE)
    return TrsvFail(TRSV_ERR_UNSUPPORTED, "cuSPARSE's factorization is for ILU in double precision here");
  if (!f->cusparse) {
    f->release_cusparse = Release;
    f->cusparse         = (FactorCusparse *)calloc(1, sizeof(*f->cusparse));
    if (!f->cusparse) return TrsvFail(TRSV_ERR_MEMORY, "no memory for a factor");
    const TrsvError error = Analyze(f, f->cusparse, A->offsets, A->columns);
    if (error) {
      Release(f);
      return error;
    }
  }
  const FactorCusparse *c = f->cusparse;
  TrsvCall(TrsvFactorRoom(f, NULL, NULL));
  TrsvCall(TrsvDeviceCopy(c->values, A->values, sizeof(double) * (size_t)nnz, stream));
  TrsvCall(Check(cusparseSetStream(c->handle, stream), "cusparseSetStream"));
  TrsvCall(Check(cusparseDcsrilu02(c->handle, f->rows, nnz, c->matrix, c->values, A->offsets, A->columns, c->info,
                                   policy, c->buffer),
                 "cusparseDcsrilu02"));
  TRSV_LAUNCH(cusparse_split, TrsvBlocks(f->rows, 256), 256, 0, stream, f->rows, (const int *)f->l_offsets,
              (const int *)f->u_offsets, (const double *)c->values, (double *)f->l, (double *)f->u);
  TrsvCall(TrsvDeviceCheckLaunch("cusparse_split"));
  zero     = cusparseXcsrilu02_zeroPivot(c->handle, c->info, &row); /* waits */
  *outcome = TrsvOutcome{-1, 0, 1, 0};
  if (zero == CUSPARSE_STATUS_ZERO_PIVOT) outcome->row = row;
  else TrsvCall(Check(zero, "cusparseXcsrilu02_zeroPivot"));
  return TRSV_SUCCESS;
}
