/*
   factor_cusparse.h: factorisation by cuSPARSE.
*/
#ifndef TRSV_FACTOR_CUSPARSE_H
#define TRSV_FACTOR_CUSPARSE_H

#include "factor/factor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same by cuSPARSE, for comparison: ILU in double precision, without shifts. The pattern is given again, and must
   live until the factor is destroyed. */
TrsvError TrsvFactorCusparse(TrsvFactor *, const int *offsets, const int *columns, const void *values, TrsvOutcome *,
                             TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
