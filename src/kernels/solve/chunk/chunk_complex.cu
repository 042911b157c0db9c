/*
   chunk with complex values.
*/
#define TRSV_REAL TrsvComplex<double>
#include "solve/chunk/chunk_solve.cu"
#include "solve/chunk/chunk_values.cu"

CHUNK_SOLVE_INSTANCES(TrsvComplex<float>)
CHUNK_VALUES_INSTANCES(TrsvComplex<float>)
