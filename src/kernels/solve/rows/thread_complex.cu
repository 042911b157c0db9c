/*
   thread with complex values. A separate file, because the first launch of a kernel loads all kernels of its file.
*/
#include "solve/rows/thread_solve.cuh"

THREAD_INSTANCES(, TrsvComplex<float>)
THREAD_INSTANCES(, TrsvComplex<double>)
