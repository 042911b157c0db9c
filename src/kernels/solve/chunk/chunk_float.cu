/* chunk in single precision. */
#define TRSV_REAL float
#include "solve/chunk/chunk_solve.cu"
