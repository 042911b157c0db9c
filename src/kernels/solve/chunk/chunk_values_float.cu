/*
   chunk_values.cu in single precision.
*/
#define TRSV_REAL float
#include "chunk_values.cu"
