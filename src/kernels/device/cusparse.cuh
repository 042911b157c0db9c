/*
   cusparse.cuh: errors of cuSPARSE as a TrsvError.
*/
#ifndef TRSV_CUSPARSE_CUH
#define TRSV_CUSPARSE_CUH

#include <cusparse.h>
#include "base/base.h"

static inline TrsvError Check(cusparseStatus_t s, const char *what)
{
  if (s == CUSPARSE_STATUS_SUCCESS) return TRSV_SUCCESS;
  return TrsvFail(s == CUSPARSE_STATUS_ALLOC_FAILED || s == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? TRSV_ERR_MEMORY
                                                                                                   : TRSV_ERR_DEVICE,
                  "%s: %s", what, cusparseGetErrorString(s));
}

#endif
