/*
   What a factor takes from the pair of plans of its triangles: the plan for L, which may find pivots, and the vector
   between the solves.
*/
#include "ilu/ilu.h"

TrsvError TrsvFactorNumeric(TrsvFactor *f, TrsvPair *pair, const void *values, const TrsvPivots *p,
                            TrsvOutcome *outcome, TrsvStream stream)
{
  return TrsvFactorMake(f, pair ? pair->forward.plan : NULL, pair ? pair->work : NULL, values, p, outcome, stream);
}
