/* factor_rows.cu for complex values in double precision. */
#define TRSV_REAL TrsvComplex<double>
#include "factor/factor_rows.cu"
