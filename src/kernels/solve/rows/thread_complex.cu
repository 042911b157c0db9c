/*
   thread with complex values. A separate file, because the first launch of a kernel loads all kernels of its file.
*/
#include "solve/rows/thread_solve.cuh"

#define INSTANCES(T) \
  template const void *ThreadKernel<T>(const TrsvLevelCSR *); \
  template TrsvError   ThreadLaunch<T>(const TrsvLevelCSR *, bool, const void *, void *, TrsvStream); \
  template TrsvError   ThreadPreparePair<T>(void); \
  template TrsvError   ThreadLaunchPair<T>(const TrsvThreadPair *, const void *, void *, TrsvStream);
INSTANCES(TrsvComplex<float>)
INSTANCES(TrsvComplex<double>)
