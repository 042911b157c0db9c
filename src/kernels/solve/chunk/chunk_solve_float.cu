/*
   chunk_solve.cu in single precision.
*/
#define TRSV_REAL float
#include "chunk_solve.cu"
