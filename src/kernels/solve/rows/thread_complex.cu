/* thread with complex values. */
#include "solve/rows/thread_solve.cuh"

THREAD_INSTANCES(, TrsvComplex<float>)
THREAD_INSTANCES(, TrsvComplex<double>)
