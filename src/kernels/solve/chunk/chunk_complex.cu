/* chunk with complex values. */
#define TRSV_REAL TrsvComplex<double>
#include "solve/chunk/chunk_solve.cu"

template const ChunkKernels *ChunkKernelsOf<TrsvComplex<float>>(const TrsvChunkSettings *);
