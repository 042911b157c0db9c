/* sell with complex values. */
#include "solve/rows/sell_solve.cuh"

template TrsvError SellLaunch<TrsvComplex<float>>(const Sell *, bool, const void *, void *, TrsvStream);
template TrsvError SellLaunch<TrsvComplex<double>>(const Sell *, bool, const void *, void *, TrsvStream);
