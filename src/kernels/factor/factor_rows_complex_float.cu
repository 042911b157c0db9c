/* factor_rows.cu for complex values in single precision. */
#define TRSV_REAL TrsvComplex<float>
#include "factor/factor_rows.cu"
