/*
   A triangular block of `recblock` by cuSPARSE SpSV.

   Source: Lu, Niu, Liu (ICPP 2020), "Adaptive Kernel Selection for SpTRSV": the fourth kernel, for nearly serial
     blocks. The paper uses csrsv2. */
#include <stdlib.h>
#include "papers/recblock/recblock.h"
#include "papers/spsv.cuh"

struct TrsvRecblockSpsv {
  Spsv spsv;
};

extern "C" TrsvError TrsvRecblockSpsvCreate(TrsvRecblockSpsv *shares, const TrsvRecblockSystem *A,
                                            TrsvRecblockSpsv **spsv)
{
  TrsvMatrix M = {};

  *spsv = (TrsvRecblockSpsv *)calloc(1, sizeof(**spsv));
  if (!*spsv) return TrsvFail(TRSV_ERR_MEMORY, "recblock: no memory for a block");
  M.rows      = A->rows;
  M.offsets   = A->offsets;
  M.columns   = A->columns;
  M.triangle  = TRSV_LOWER;
  M.diagonal  = A->stored ? TRSV_DIAGONAL_STORED : TRSV_DIAGONAL_UNIT;
  M.precision = A->precision;
  return SpsvCreate(&(*spsv)->spsv, shares ? shares->spsv.handle : NULL, &M, A->entries, A->values, A->right,
                    A->solution);
}

extern "C" TrsvError TrsvRecblockSpsvSetValues(TrsvRecblockSpsv *s, size_t *bytes, TrsvStream stream)
{
  return SpsvSetValues(&s->spsv, bytes, stream);
}

extern "C" TrsvError TrsvRecblockSpsvSolve(TrsvRecblockSpsv *s, TrsvStream stream)
{
  return SpsvSolve(&s->spsv, stream);
}

extern "C" void TrsvRecblockSpsvDestroy(TrsvRecblockSpsv *s)
{
  if (!s) return;
  SpsvDestroy(&s->spsv);
  free(s);
}
