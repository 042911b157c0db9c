/*
   chunk_values.cu in single precision.
*/
#define TRSV_REAL float
#include "solve/chunk/chunk_values.cu"
