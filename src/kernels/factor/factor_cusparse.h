/*
   factor_cusparse.h: factorization by cuSPARSE.
*/
#ifndef TRSV_FACTOR_CUSPARSE_H
#define TRSV_FACTOR_CUSPARSE_H

#include "factor/factor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of L and U by cuSPARSE, for comparison: ILU in double precision, without shifts. A's pattern is given again
   and must live until the factor is destroyed. TRSV_ERR_UNSUPPORTED: another factorization. Waits for the stream. */
TrsvError TrsvFactorCusparse(TrsvFactor *, const TrsvCSR *A, TrsvOutcome *, TrsvStream);

#ifdef __cplusplus
}
#endif
#endif
