/*
   factor_pivots.cu for complex values.
*/
#define TRSV_COMPLEX_VALUES
#include "factor/factor_pivots.cu"
