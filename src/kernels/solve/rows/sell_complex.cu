/*
   sell with complex values. A separate file, because the first launch of a kernel loads all kernels of its file.
*/
#include "solve/rows/sell_solve.cuh"

template TrsvError SellLaunch<TrsvComplex<float>>(const Sell *, bool, const void *, void *, TrsvStream);
template TrsvError SellLaunch<TrsvComplex<double>>(const Sell *, bool, const void *, void *, TrsvStream);
