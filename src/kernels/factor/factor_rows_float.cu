/* factor_rows.cu in single precision. */
#define TRSV_REAL float
#include "factor/factor_rows.cu"
